//! The pictures alone and large, to be shown to others.

use super::*;

/// What stands around the pictures otherwise.
const AROUND: [&str; 3] = ["Go to next seed", "Machine", "Timeline: phases"];

fn is_alone(harness: &Screen) -> bool {
    !AROUND.iter().any(|label| says(harness, label))
}

#[test]
fn presentation_toggles_by_key_and_ends_by_escape() {
    let mut harness = paused();
    for leave in [Key::P, Key::Escape] {
        assert!(!is_alone(&harness));
        press(&mut harness, Key::P);
        harness.run_steps(3);
        assert!(harness.state().presenting && is_alone(&harness));
        let size = 13.0 * harness.ctx.zoom_factor();
        assert!((size - 20.0).abs() < 0.2, "text of {size} pixels");
        press(&mut harness, leave);
        harness.run_steps(3);
        assert!(!harness.state().presenting);
        assert!((harness.ctx.zoom_factor() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn every_head_has_a_line() {
    let mut harness = paused();
    press(&mut harness, Key::P);
    for words in ["The write head", "The read head"] {
        assert!(says(&harness, words), "{words}");
    }
    // All keys are as ever.
    press(&mut harness, Key::ArrowRight);
    assert_eq!(step(&harness), 1);
    for _ in 0..5 {
        press(&mut harness, Key::V);
        assert!(harness.state().presenting && is_alone(&harness));
    }
}

#[test]
fn the_transport_fades_when_the_pointer_rests_and_then_nothing_is_drawn() {
    let mut harness = paused();
    press(&mut harness, Key::P);
    let delay = |harness: &Screen| {
        let root = &harness.output().viewport_output[&egui::ViewportId::ROOT];
        root.repaint_delay.as_secs_f64()
    };
    assert!(delay(&harness) < 2.1);
    for x in [300.0, 400.0] {
        click(&mut harness, "Go to next step");
        harness.hover_at(egui::pos2(x, 200.0));
        harness.run_steps(2);
        assert!(delay(&harness) < 2.1);
        harness.run_steps(60);
        assert!(delay(&harness) > 1e6);
    }
    assert_eq!(step(&harness), 2);
    click(&mut harness, "Toggle presentation");
    assert!(!harness.state().presenting);
}

#[test]
fn the_start_page_and_the_tour_end_it() {
    let mut harness = paused();
    press(&mut harness, Key::P);
    press(&mut harness, Key::W);
    assert!(!harness.state().presenting && harness.state().welcome.shown);
    press(&mut harness, Key::P);
    assert!(harness.state().presenting && !harness.state().welcome.shown);
    act(&mut harness, Tour::Start);
    assert!(!harness.state().presenting);
}
