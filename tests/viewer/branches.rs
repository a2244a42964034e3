//! Branches: values that are set while an episode runs.

use super::*;

const GATE: &str = "2:read0.gate=1";

fn set(text: &str) -> Edit {
    Edit::Intervene(text.to_owned())
}

/// The read head in step 2.
fn at_read_head() -> Screen {
    let mut harness = paused();
    act(&mut harness, ViewCommand::Focus(0));
    act(&mut harness, Play::Seek(2));
    harness
}

fn gate(harness: &Screen) -> f32 {
    recording(harness).trace.heads[0].gate[2]
}

#[test]
fn a_value_is_typed_and_listed() {
    let mut harness = at_read_head();
    assert!(!says(&harness, "BRANCH B"));
    press(&mut harness, Key::B);
    let text = harness.state().dialog.as_ref().unwrap().text.clone();
    assert_eq!(text, format!("2:read0.gate={}", gate(&harness)));
    // The text is chosen from parts, and an error is shown where it is.
    click(&mut harness, "From 2 on");
    click(&mut harness, "read0.strength");
    assert_eq!(
        harness.state().dialog.as_ref().unwrap().text,
        "2-:read0.strength="
    );
    click(&mut harness, "Set");
    assert!(says(&harness, "expected a number, a list"));
    click(&mut harness, "0");
    click(&mut harness, "Set");
    assert!(harness.state().dialog.is_none());
    assert!(says(&harness, "BRANCH B"));
    harness.get_by_label("2-:read0.strength=0");
    assert!(says(
        &harness,
        "B  Copy first, length 5, seed 1, with 2-:read0.strength=0"
    ));
    act(&mut harness, set(GATE));
    click(&mut harness, GATE);
    assert_eq!(
        harness.state().session.request.interventions(),
        ["2-:read0.strength=0"]
    );
    click(&mut harness, "Remove 2-:read0.strength=0");
    click(&mut harness, "End branch");
    assert!(!says(&harness, "BRANCH B") && harness.state().pair().is_none());
}

#[test]
fn a_gate_is_dragged_in_place() {
    let mut harness = at_read_head();
    let before = gate(&harness);
    let from = harness.get_by_label("Set read0.gate").rect().center();
    harness.drag_at(from);
    harness.run_steps(2);
    for by in [-20.0, -40.0, -60.0] {
        harness.hover_at(from + egui::vec2(by, 0.0));
        harness.run_steps(2);
    }
    harness.drop_at(from - egui::vec2(60.0, 0.0));
    harness.run_steps(3);
    let after = gate(&harness);
    assert!((before - after - 0.3).abs() < 0.02, "{before} {after}");
    assert_eq!(harness.state().session.request.changes.len(), 1);
    assert_eq!(step(&harness), 2);
    // All of it is one change.
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(gate(&harness), before);
    assert!(harness.state().session.request.changes.is_empty());
    // A click asks for the number.
    harness.get_by_label("Set read0.gate").click();
    harness.run_steps(3);
    assert!(
        harness
            .state()
            .dialog
            .as_ref()
            .unwrap()
            .text
            .starts_with("2:read0.gate=")
    );
}

#[test]
fn menus_offer_what_a_target_has() {
    let mut harness = at_read_head();
    click(&mut harness, "Set values of R0");
    click(&mut harness, "Gate 1: focus by content");
    assert_eq!(gate(&harness), 1.0);
    act(&mut harness, ViewCommand::Select(Target::Row(3)));
    click(&mut harness, "Set pinned value");
    click(&mut harness, "Set row 3 to 0");
    let memory = recording(&harness).trace.memory(3);
    assert!(memory.row(3).iter().all(|&value| value == 0.0));
    click(&mut harness, "Set pinned value");
    click(&mut harness, "Swap row 3 with …");
    assert_eq!(
        harness.state().dialog.as_ref().unwrap().text,
        "2:memory=swap(3,4)"
    );
    press(&mut harness, Key::Escape);
    for target in [
        Target::Cell { row: 1, column: 2 },
        Target::Unit { layer: 0, unit: 3 },
        Target::Head(1),
    ] {
        act(&mut harness, ViewCommand::Select(target));
        for choice in harness.state().value_choices(Some(target)) {
            for text in choice.changes {
                act(&mut harness, set(&format!("4:{text}")));
                let said = format!("{target:?} {text}");
                let known = harness.state().session.request.changes.last().unwrap();
                assert!(known.text.starts_with("4:"), "{said}");
            }
        }
        assert_eq!(harness.state().toasts.history().count(), 0, "{target:?}");
    }
}

#[test]
fn trace_with_interventions_shows_them() {
    let mut harness = paused();
    act(&mut harness, set(GATE));
    let branch = shown(&harness).as_ref().clone();
    let file = RecordedEpisode::of_file("branch.json".to_owned(), branch.recording, branch.config);
    let opened: OpenedFile = file.into();
    let options = Options {
        open: Some(("branch.json".into(), Some(opened))),
        ..options(Arc::<Shelf>::default())
    };
    let mut harness = window_with(LARGE, options);
    assert!(says(&harness, "VALUES SET, AS RECORDED"));
    harness.get_by_label(GATE);
    assert!(!has(&harness, "Set values of R0") && !says(&harness, "Remove"));
    press(&mut harness, Key::B);
    assert!(harness.state().dialog.is_none());
}
