//! The trace of a machine file opens in a layout that follows from the axes of its quantities.

use super::gradients::lay_out;
use super::machine_kinds::{of_kind, of_task, walked_from};
use super::tour::rect_of;
use serde_json::json;

use super::*;
use tapescope::figure::facts::quantities::by_rank;
use tapescope::figure::{PanelId, Picture};
use tapescope::model::equations::included;

/// A small machine from a file whose memory has a label of its own, so that its heads are none that pictures know.
fn one_page() -> Machine {
    let text = included("ntm_one_page.machine").unwrap();
    let text = text.replace("\"memory\" ", "\"sheet\" ");
    let sizes = json!({"rows": 9, "columns": 5, "units": 6});
    let model = json!({"kind": "equations", "file": "own.machine", "text": text, "sizes": sizes});
    of_kind(&model.to_string())
}

fn opened_at(size: Vec2) -> Screen {
    let mut screen = window_of_machines(size, vec![one_page()]);
    press(&mut screen, Key::Space);
    act(&mut screen, Play::Seek(3));
    screen
}

#[test]
fn machine_files_open_in_every_layout() {
    for (file, sizes) in [
        ("sam", r#""rows": 9, "columns": 5, "units": 6"#),
        ("mlstm", r#""keys": 4, "values": 5"#),
        ("hopfield", r#""state": 8"#),
        ("fast_weights", r#""units": 6, "updates": 2"#),
    ] {
        let model =
            format!(r#"{{"kind": "equations", "file": "{file}.machine", "sizes": {{{sizes}}}}}"#);
        let stages = walked_from(of_kind(&model), 2);
        // A stage for each statement between the input and the output.
        assert_eq!(
            (&*stages[0], &*stages[stages.len() - 1]),
            ("input", "output")
        );
        assert!(stages.len() > 6, "{file}: {stages:?}");
    }
    for (file, step, expected) in [
        ("ntm_one_page", 2, ["content", "gate", "shift", "sharpen"]),
        // In the first steps rows are allocated so little that bars have no width.
        ("dnc", 7, ["usage", "allocate", "content", "weigh"]),
    ] {
        let sizes = r#""rows": 9, "columns": 5, "units": 6"#;
        let model =
            format!(r#"{{"kind": "equations", "file": "{file}.machine", "sizes": {{{sizes}}}}}"#);
        // Their heads are those of the machines by hand.
        let stages = walked_from(of_kind(&model), step);
        assert_eq!(stages[1..5], expected, "{file}");
    }
    let task = r#""kind": "transduce", "symbols": 4, "length": [3, 5]"#;
    for (file, sizes) in [
        (
            "bahdanau",
            r#""sizes": {"units": 6, "encoder": {"units": 3}}"#,
        ),
        (
            "multi_head_layers",
            r#""sizes": {"embedding": 6, "depth": 3}, "heads": {"read": 2}"#,
        ),
    ] {
        let model = format!(r#"{{"kind": "equations", "file": "{file}.machine", {sizes}}}"#);
        // Their heads are those of other machines.
        let stages = walked_from(of_task(&format!("{{{task}}}"), &model), 5);
        assert_eq!(stages[1..], ["content", "read", "output"], "{file}");
    }
}

#[test]
fn numbers_that_are_asked_for_stand_beside_the_close_up_of_a_wide_window() {
    for (mut screen, is_wide) in [
        (Box::new(opened_at(LARGE)), true),
        (Box::new(window()), true),
        (Box::new(opened_at(SMALL)), false),
    ] {
        lay_out(&mut screen, WindowLayout::CloseUp);
        let width = |screen: &Screen| rect_of(screen, "input: over time").width();
        let alone = width(&screen);
        act(&mut screen, Window::ToggleNumbers);
        screen.run_steps(2);
        assert_eq!(width(&screen) < alone, is_wide);
        act(&mut screen, Window::ToggleNumbers);
        screen.run_steps(2);
        assert_eq!(width(&screen), alone);
    }
}

#[test]
fn every_command_runs_on_a_machine_file() {
    let choices = opened_at(SMALL).state().choices();
    let blocked = |name: &str| {
        let choice = choices.iter().find(|choice| choice.name == name);
        choice.and_then(|choice| choice.blocked)
    };
    assert_eq!(
        blocked("Show all heads"),
        Some("a machine file has no heads or memory rows")
    );
    assert_eq!(blocked("Toggle log scale"), None);
    for choice in choices {
        let mut screen = opened_at(SMALL);
        act(&mut screen, choice.command);
        screen.run_steps(2);
        act(&mut screen, ViewCommand::NextLayout);
        screen.run_steps(1);
    }
}

#[test]
fn a_machine_file_is_compared_and_opens_on_a_phone() {
    let mut screen = opened_at(LARGE);
    act(&mut screen, Compare::KeepAsA);
    act(&mut screen, Episode::NextSeed);
    for _ in 0..5 {
        screen.run_steps(2);
        act(&mut screen, ViewCommand::NextLayout);
    }
    let mut screen = opened_at(phone::PHONE);
    for _ in 0..5 {
        press(&mut screen, Key::Period);
        act(&mut screen, ViewCommand::NextLayout);
    }
}

#[test]
fn small_quantities_scroll_where_not_all_have_room() {
    let mut screen = opened_at(SMALL);
    for (by, words) in [
        (0.0, "1 to 19 of 23: scroll"),
        (3.0, "4 to 22 of 23: scroll"),
        (9.0, "5 to 23 of 23: scroll"),
        (-30.0, "1 to 19 of 23: scroll"),
    ] {
        act(&mut screen, Rows::Scroll(by));
        screen.get_by_label(words);
    }
}

#[test]
fn weightings_and_memories_of_a_machine_file_stand_large() {
    let screen = opened_at(LARGE);
    let open = screen.state().session.open.clone().unwrap();
    let [large, small] = by_rank(&open.facts.quantities);
    let large: Vec<_> = large.iter().map(|own| own.array.name).collect();
    assert_eq!(large, ["read0.weighting", "write0.weighting", "sheet"]);
    assert!(small.iter().all(|own| !own.array.name.contains("initial")));
}

#[test]
fn quantities_of_a_machine_file_are_named_and_read_out() {
    for size in [LARGE, SMALL] {
        let mut screen = opened_at(size);
        assert_eq!(screen.state().layout(), WindowLayout::Debug);
        let open = screen.state().session.open.clone().unwrap();
        let trace = &open.shown.recording.trace;
        for name in [
            "read0.weighting w[rows]: over time",
            "norm of sheet M[rows, columns]: over time",
            "read0.gate g: over time",
            "sheet M[rows, columns]: rows down, the other axes across, at this step",
        ] {
            let picture = screen.get_by_label(name).rect();
            screen.hover_at(picture.center());
            screen.run_steps(3);
            let readout = screen.state().readout().unwrap();
            let words = name.split(':').next().unwrap();
            assert!(readout.place.starts_with(words), "{readout:?}");
            assert!(readout.place.contains("  step "), "{readout:?}");
            assert!(!readout.value.is_empty());
        }
        let memory = open
            .facts
            .quantities
            .iter()
            .find(|own| own.array.name == "sheet");
        let part = memory.unwrap().part;
        let (_, series) = trace.kind_arrays.arrays().nth(part).unwrap();
        // The entry in the middle: row 4, column 2.
        let value = screen.state().readout().unwrap().value.replace('−', "-");
        assert_eq!(value.parse::<f32>().unwrap(), series.row(3)[4 * 5 + 2]);
    }
}

#[test]
fn a_click_pins_a_value_of_a_machine_file_with_its_equation() {
    let mut screen = opened_at(LARGE);
    let open = screen.state().session.open.clone().unwrap();
    for own in &open.facts.quantities {
        for picture in [Picture::Quantities, Picture::Norms] {
            let id = PanelId::new(picture).part(own.part);
            let value = Target::Value { id, column: 0 };
            act(&mut screen, ViewCommand::Select(value));
            let card = screen.state().card().unwrap();
            assert!(card.title.contains(own.array.name), "{}", card.title);
            let symbol = &card.lines[0].symbol;
            assert!(symbol.contains(own.array.symbol), "{symbol}");
        }
    }
}

#[test]
fn a_value_of_a_machine_file_can_be_set() {
    let mut screen = opened_at(LARGE);
    let open = screen.state().session.open.clone().unwrap();
    let memory = open
        .facts
        .quantities
        .iter()
        .find(|own| own.is_memory())
        .unwrap();
    let id = PanelId::new(Picture::Quantities).part(memory.part);
    let value = Target::Value { id, column: 7 };
    act(&mut screen, ViewCommand::Select(value));
    let choices = screen.state().value_choices(screen.state().view.selected);
    assert_eq!(choices[0].changes, ["sheet[1,2]=0"]);
}
