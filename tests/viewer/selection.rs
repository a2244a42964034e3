//! Several rows together, and the bits of a value.

use super::*;

fn title(harness: &Screen) -> String {
    harness.state().card().unwrap().title
}

#[test]
fn shift_and_the_arrows_select_several_rows() {
    let mut harness = paused();
    act(&mut harness, Rows::ToggleTouched);
    act(&mut harness, ViewCommand::Select(Target::Row(4)));
    for _ in 0..2 {
        press_with(&mut harness, Modifiers::SHIFT, Key::ArrowDown);
    }
    assert_eq!(title(&harness), "W0 rows 4 to 6");
    harness.get_by_label("W0 rows 4 to 6");
    let card = harness.state().card().unwrap();
    assert_eq!(card.table.rows.len(), 3);
    let open = harness.state().session.open.clone().unwrap();
    let weighting = open.shown.recording.trace.heads[1].weighting.row(0);
    let together: f32 = card.lines[5].value.replace('−', "-").parse().unwrap();
    assert!((together - weighting[4..=6].iter().sum::<f32>()).abs() < 1e-6);
    // Back over the first one, and to the other side.
    for expected in ["W0 rows 4 to 5", "W0 row 4", "W0 rows 3 to 4"] {
        press_with(&mut harness, Modifiers::SHIFT, Key::ArrowUp);
        assert_eq!(title(&harness), expected);
    }
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(title(&harness), "W0 row 4");
    press_with(&mut harness, Modifiers::COMMAND, Key::Y);
    press(&mut harness, Key::ArrowDown);
    assert_eq!(title(&harness), "W0 row 4");
    for _ in 0..20 {
        press_with(&mut harness, Modifiers::SHIFT, Key::ArrowUp);
    }
    assert_eq!(title(&harness), "W0 rows 0 to 4");
}

#[test]
fn alt_shows_the_bits_of_the_value_under_the_pointer() {
    let mut harness = paused();
    let memory = harness.get_by_label("memory: rows down, columns across");
    harness.hover_at(memory.rect().center());
    harness.run_steps(3);
    assert!(!says(&harness, "f32 bits"));
    harness.event(egui::Event::ModifiersChanged(Modifiers::ALT));
    harness.run_steps(2);
    let value = &harness.state().readout().unwrap().value;
    let value: f32 = value.replace('−', "-").parse().unwrap();
    harness.get_by_label(&format!("f32 bits 0x{:08X}", value.to_bits()));
    let name = harness.state().readout().unwrap().name.clone().unwrap();
    assert!(name.starts_with("memory["), "{name}");
    assert!(says(&harness, &name));
}
