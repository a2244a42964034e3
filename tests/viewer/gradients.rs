//! How much everything mattered, in the place of its values.

use tapescope::math::Series;
use tapescope::model::Trace;
use tapescope::train::Quantity;

use super::*;

/// What stands over the pictures while the derivative of the loss is shown.
const OF_LOSS: &str = "Gradient of the loss w.r.t. each value (bits per unit)";

/// Pictures of what the machine computes.
const PICTURES: [&str; 3] = [
    "memory: rows down, columns across",
    "input: over time",
    "output: over time",
];

/// The step that is looked at, and the rows of the memory.
const AT: usize = 2;
const ROWS: usize = 16;

/// Of what the derivatives on screen are.
fn on_screen(harness: &Screen) -> Option<Quantity> {
    harness.state().layer().map(|by| by.of)
}

pub fn lay_out(harness: &mut Screen, layout: WindowLayout) {
    for _ in 0..6 {
        if harness.state().layout() != layout {
            press(harness, Key::V);
        }
    }
    assert_eq!(harness.state().layout(), layout);
}

/// Where, what and with what meaning is read out in the middle of this picture.
fn read_out(harness: &mut Screen, picture: &str) -> (String, f32, String) {
    let rect = harness.get_by_label_contains(picture).rect();
    harness.hover_at(rect.center());
    harness.run_steps(3);
    let readout = harness.state().readout().unwrap();
    let place = readout.place.clone();
    (place, number(&readout.value), readout.meaning.clone())
}

fn number(text: &str) -> f32 {
    text.replace('−', "-").parse().unwrap()
}

/// What a trace has at the place that was read out of this picture; `output` is what it has for the outputs.
fn cell((trace, output): (&Trace, &Series<f32>), task: &Task, picture: &str, place: &str) -> f32 {
    let behind = |word: &str| -> usize {
        let mut words = place.split_whitespace().skip_while(|one| *one != word);
        words.nth(1).unwrap().parse().unwrap()
    };
    let channel = |name: &dyn Fn(usize) -> String, of: &Series<f32>| {
        let mut all = 0..of.width();
        let channel = all.find(|&channel| place.ends_with(&name(channel)));
        of.row(behind("step"))[channel.unwrap()]
    };
    match picture.split_once(':').unwrap().0 {
        "input" => channel(&|channel| task.input_name(channel), &trace.input),
        "output" => channel(&|channel| task.output_name(channel), output),
        _ => {
            let after = trace.memory_columns.row(AT + 1);
            after[behind("column") * ROWS + behind("row")]
        }
    }
}

#[test]
fn y_toggles_gradients_and_esc_or_button_ends_them() {
    let mut harness = paused();
    let leaves: [fn(&mut Screen); 3] = [
        |harness| press(harness, Key::Y),
        |harness| press(harness, Key::Escape),
        |harness| click(harness, "Show values"),
    ];
    for leave in leaves {
        assert!(!says(&harness, OF_LOSS));
        press(&mut harness, Key::Y);
        assert_eq!(on_screen(&harness), Some(Quantity::Loss));
        assert!(says(&harness, OF_LOSS));
        assert!(says(&harness, "Largest gradient of a write: step "));
        leave(&mut harness);
        assert_eq!(on_screen(&harness), None);
        assert!(!has(&harness, "Show values"));
    }
}

#[test]
fn readout_shows_value_and_gradient() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(AT));
    press(&mut harness, Key::Y);
    for picture in PICTURES {
        let (place, derivative, meaning) = read_out(&mut harness, picture);
        assert!(meaning.starts_with("d loss / d "), "{picture}: {meaning}");
        let (_, told) = meaning.split_once("\nof the value ").unwrap();
        let Recording { trace, task, .. } = recording(&harness);
        let by = &harness.state().layer().unwrap().trace;
        // Of an output it is the logit that derivatives are for.
        let both = [(trace, &trace.output), (by, &by.logit)];
        let [value, expected] = both.map(|of| cell(of, task, picture, &place));
        assert_eq!(number(told), value, "{picture}: {place}");
        assert_eq!(derivative, expected, "{picture}: {place}");
        assert_ne!(value, expected, "{picture}: {place}");
    }
    let (_, _, meaning) = read_out(&mut harness, "target: over time");
    assert!(!meaning.contains("of the value"), "{meaning}");
}

#[test]
fn right_click_on_output_bit_shows_its_gradients() {
    let mut harness = paused();
    harness
        .get_by_label_contains("output: over time")
        .click_secondary();
    harness.run_steps(3);
    click(&mut harness, "Show gradients of this bit");
    let Some(Quantity::Bit { step, channel }) = on_screen(&harness) else {
        panic!("no bit");
    };
    let words = format!("Gradient of the logit of output bit {channel} in step {step} ");
    assert!(says(&harness, &words));
    // The write that mattered most came before, and is a click away.
    let write = harness.state().layer().unwrap().heaviest.unwrap();
    assert!(write.step < step, "{write:?}");
    click(&mut harness, &format!("Go to step {}", write.step));
    assert_eq!(super::step(&harness), write.step);
    // The key leaves it, too.
    press(&mut harness, Key::Y);
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn gradients_stay_for_new_episode_not_new_machine() {
    let mut harness = paused();
    press(&mut harness, Key::Y);
    let before = harness.state().layer().unwrap().trace.clone();
    act(&mut harness, Episode::NextSeed);
    let by = harness.state().layer().unwrap();
    assert_eq!(by.of, Quantity::Loss);
    assert_ne!(by.trace.input, before.input);
    act(&mut harness, Episode::Machine(1));
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn close_up_shows_values_not_gradients() {
    let mut harness = paused();
    lay_out(&mut harness, WindowLayout::CloseUp);
    // Whoever asks for it there wants to see it.
    press(&mut harness, Key::Y);
    assert_eq!(harness.state().layout(), WindowLayout::Debug);
    assert_eq!(on_screen(&harness), Some(Quantity::Loss));
    lay_out(&mut harness, WindowLayout::CloseUp);
    assert_eq!(on_screen(&harness), None);
    assert!(!says(&harness, OF_LOSS));
}

#[test]
fn trace_file_has_no_gradients() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    press(&mut harness, Key::Y);
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn training_shows_gradients_of_newest_weights() {
    let mut screen = window_of(LARGE, Arc::default());
    begin_training(&mut screen, learn::experiment(&[]));
    screen.run_steps(5);
    press(&mut screen, Key::Y);
    screen.run_steps(2);
    assert_eq!(screen.state().layout(), WindowLayout::Train);
    assert_eq!(on_screen(&screen), Some(Quantity::Loss));
    assert!(says(&screen, OF_LOSS));
    let memory = |screen: &Screen| {
        let by = screen.state().layer().unwrap();
        by.trace.memory_columns.as_slice().to_vec()
    };
    let before = memory(&screen);
    screen.run_steps(10);
    assert_eq!(on_screen(&screen), Some(Quantity::Loss));
    assert_ne!(memory(&screen), before);
    press(&mut screen, Key::Y);
    assert_eq!(on_screen(&screen), None);
}

#[test]
fn column_menu_copies_shown_values() {
    let mut screen = paused();
    act(&mut screen, Play::Seek(4));
    press(&mut screen, Key::Y);
    screen.get_by_label_contains("W0 gate: ").click_secondary();
    screen.run_steps(3);
    let gated = "Copy gated: 16 values as JSON";
    let by = screen.state().layer().unwrap();
    let values = by.trace.heads[1].gated.row(4).iter().map(f32::to_string);
    let values: Vec<_> = values.collect();
    screen.get_by_label(gated).click();
    let copied = copied(&mut screen);
    let expected = format!(
        "\"d loss / d W0 at step 4 gated\": [{}]}}",
        values.join(", ")
    );
    assert!(copied.ends_with(&expected), "{copied} {expected}");
}
