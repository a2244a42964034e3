//! Memory rows, length and repeats are slid along a track.

use egui_kittest::kittest::NodeT;
use tapescope::model::config::InitialMemory;

use super::*;

fn rows(harness: &Screen) -> usize {
    recording(harness).trace.heads[0].initial.width()
}

#[test]
fn row_slider_is_one_undo_step() {
    let mut harness = paused();
    assert_eq!(rows(&harness), 16);
    let track = harness.get_by_label("Slide memory rows").rect();
    for share in [0.1, 0.5, 1.0] {
        let at = track.left_center() + egui::vec2(track.width() * share, 0.0);
        harness.hover_at(at);
        if share < 0.2 {
            harness.drag_at(at);
        }
        harness.run_steps(2);
    }
    harness.drop_at(track.right_center());
    harness.run_steps(2);
    assert_eq!(rows(&harness), 4096);
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(rows(&harness), 16);
    harness.get_by_label("Slide memory rows").click();
    harness.run_steps(3);
    assert_eq!(rows(&harness), 256, "the middle of 16 and 4096");
    // The moment stays: that is what other rows change.
    act(&mut harness, Play::Seek(4));
    act(&mut harness, Episode::Rows(64));
    assert_eq!((rows(&harness), step(&harness)), (64, 4));
}

#[test]
fn slider_uses_its_arrow_keys_only() {
    let mut harness = paused();
    harness.get_by_label("Slide memory rows").focus();
    harness.run_steps(2);
    for expected in [20, 24, 28, 32] {
        press(&mut harness, Key::ArrowRight);
        assert_eq!(rows(&harness), expected);
    }
    press(&mut harness, Key::ArrowLeft);
    assert_eq!((rows(&harness), step(&harness)), (28, 0));
    let node = harness.get_by_label("Slide memory rows");
    assert_eq!(node.accesskit_node().numeric_value(), Some(28.0));
    press(&mut harness, Key::End);
    assert_eq!(step(&harness), 10);
    press(&mut harness, Key::Tab);
    press(&mut harness, Key::ArrowLeft);
    assert_eq!((rows(&harness), step(&harness)), (28, 9));
    harness.get_by_label("Slide length").focus();
    harness.run_steps(2);
    press(&mut harness, Key::ArrowRight);
    assert_eq!(harness.state().player.steps(), 13);
}

#[test]
fn learned_rows_are_fixed_and_reported() {
    let mut fixed = machine("fixed", 1);
    let mut config = fixed.ntm.config.ntm().unwrap().clone();
    config.initial_memory = InitialMemory::Learned;
    fixed.ntm = Model::new(config, 1);
    let mut options = options(Arc::<Shelf>::default());
    options.machines = vec![fixed];
    let mut harness = window_with(LARGE, options);
    let track = harness.get_by_label("Slide memory rows");
    assert!(track.accesskit_node().is_disabled());
    track.click();
    harness.run_steps(2);
    act(&mut harness, Episode::Rows(64));
    assert_eq!(rows(&harness), 16);
    harness.get_by_label("rows fixed: initial memory is learned");
}

#[test]
fn wrap_around_is_reported_until_rows_suffice() {
    let mut harness = window_with(LARGE, Options::included(None));
    let said = |harness: &Screen, words: &str| {
        let nodes = harness.query_all_by_label_contains(words);
        nodes.count()
    };
    assert_eq!(said(&harness, "writes reach rows"), 0);
    act(&mut harness, Episode::Size(70));
    let words = "memory wrapped around (use 143 rows or more to avoid it); first at step 128";
    assert_eq!(said(&harness, words), 1);
    act(&mut harness, Episode::Rows(143));
    assert_eq!(
        (rows(&harness), said(&harness, "writes reach rows")),
        (143, 0)
    );
}
