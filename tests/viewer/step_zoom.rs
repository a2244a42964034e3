//! A part of the steps on screen, and where an answer comes from.

use egui::{Event, MouseWheelSource, MouseWheelUnit, TouchPhase, Vec2};

use tapescope::figure::facts::signal_path::{self, SignalPath};
use tapescope::viewer::command::Steps;

use super::*;

fn output(harness: &Screen) -> egui::Rect {
    harness.get_by_label_contains("output: ").rect()
}

/// The middle of a step of 11.
fn at(rect: egui::Rect, step: usize) -> egui::Pos2 {
    let x = rect.left() + rect.width() * (step as f32 + 0.5) / 11.0;
    egui::pos2(x, rect.center().y)
}

fn pointed(harness: &Screen) -> String {
    harness.state().readout().unwrap().place.clone()
}

/// Turns the mouse wheel.
pub fn turn(harness: &mut Screen, by: f32) {
    harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: Vec2::new(0.0, by),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(30);
}

#[test]
fn wheel_zooms_steps_at_pointer_and_strip_shows_all() {
    let mut harness = paused();
    let whole = output(&harness);
    let here = at(whole, 5);
    harness.hover_at(here);
    harness.run_steps(2);
    assert!(pointed(&harness).contains("step 5 "));
    assert!(
        harness
            .query_by_label_contains("The pictures show")
            .is_none()
    );
    turn(&mut harness, 150.0);
    assert!(output(&harness).width() > 1.5 * whole.width());
    assert!(
        pointed(&harness).contains("step 5 "),
        "{}",
        pointed(&harness)
    );
    harness.get_by_label_contains("The pictures show steps ");
    // What is played stays on screen.
    for wanted in [10, 0] {
        act(&mut harness, Play::Seek(wanted));
        harness.run_steps(2);
        let x = at(output(&harness), wanted).x;
        assert!(whole.x_range().contains(x), "step {wanted} is at {x}");
    }
    press_with(&mut harness, Modifiers::SHIFT, Key::Z);
    assert_eq!(output(&harness), whole);
    // Two fingers do the same; narrower than all there is nothing.
    harness.event(Event::Zoom(2.0));
    harness.run_steps(2);
    assert!(output(&harness).width() > 1.9 * whole.width());
    turn(&mut harness, -2000.0);
    assert_eq!(output(&harness), whole);
}

#[test]
fn answer_shows_its_signal_path() {
    let mut harness = paused();
    let told = |harness: &mut Screen, step: usize| {
        harness.hover_at(at(output(harness), step));
        harness.run_steps(2);
        harness.state().readout().unwrap().meaning.clone()
    };
    let recording = recording(&harness).clone();
    let asked = recording.episode.mask.iter().rposition(|&mask| mask > 0.0);
    let meaning = told(&mut harness, asked.unwrap());
    let read = asked.unwrap() - signal_path::steps_ahead(&recording, false);
    let found = SignalPath::read_in(&recording.trace, false, read).unwrap();
    assert!(
        meaning.contains(&format!("read from row {} by R0", found.row)),
        "{meaning}"
    );
    if let Some(origin) = found.origin {
        assert!(
            meaning.contains(&format!(",\nwritten by W0 in step {} (", origin.step)),
            "{meaning}"
        );
    }
    assert!(
        !told(&mut harness, 0).contains("read from row"),
        "not scored"
    );
}

#[test]
fn shorter_episode_is_on_screen() {
    let mut harness = paused();
    let whole = output(&harness);
    let widen = Steps::Widen { at: 10.0, by: 2.5 };
    act(&mut harness, widen);
    harness.run_steps(3);
    assert!(output(&harness).width() > 2.0 * whole.width());
    act(&mut harness, Episode::Size(1));
    harness.run_steps(30);
    assert_eq!(harness.state().player.steps(), 3);
    assert!((output(&harness).x_range().min - whole.left()).abs() < 1.0);
    assert!((output(&harness).x_range().max - whole.right()).abs() < 1.0);
}
