//! How much everything mattered, in the place of its values.

use tapescope::math::Series;
use tapescope::model::Trace;
use tapescope::train::Quantity;
use tapescope::viewer::command::Instead;

use super::*;

/// What stands over the pictures while the derivative of the loss is shown.
const OF_LOSS: &str = "Derivative of the loss, in bits for each unit of a value";

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
    harness.state().layer().derivatives().map(|by| by.of)
}

pub fn lay_out(harness: &mut Screen, arrangement: Arrangement) {
    for _ in 0..6 {
        if harness.state().arrangement() != arrangement {
            press(harness, Key::V);
        }
    }
    assert_eq!(harness.state().arrangement(), arrangement);
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
fn y_shows_what_mattered_and_y_esc_or_the_button_the_values_again() {
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
        assert!(says(&harness, "Write that mattered most: step "));
        leave(&mut harness);
        assert_eq!(on_screen(&harness), None);
        assert!(!has(&harness, "Show values"));
    }
}

#[test]
fn the_value_is_read_out_beside_its_derivative() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(AT));
    press(&mut harness, Key::Y);
    for picture in PICTURES {
        let (place, derivative, meaning) = read_out(&mut harness, picture);
        assert!(meaning.starts_with("d loss / d "), "{picture}: {meaning}");
        let (_, told) = meaning.split_once("\nof the value ").unwrap();
        let Recording { trace, task, .. } = recording(&harness);
        let by = &harness.state().layer().derivatives().unwrap().trace;
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
fn a_right_click_on_an_output_bit_shows_what_mattered_for_it() {
    let mut harness = paused();
    harness
        .get_by_label_contains("output: over time")
        .click_secondary();
    harness.run_steps(3);
    click(&mut harness, "What mattered for this bit");
    let Some(Quantity::Bit { step, channel }) = on_screen(&harness) else {
        panic!("no bit");
    };
    let words = format!("Derivative of the logit of output bit {channel} in step {step}, ");
    assert!(says(&harness, &words));
    // The write that mattered most came before, and is a click away.
    let write = harness
        .state()
        .layer()
        .derivatives()
        .unwrap()
        .heaviest
        .unwrap();
    assert!(write.step < step, "{write:?}");
    click(&mut harness, &format!("Go to step {}", write.step));
    assert_eq!(super::step(&harness), write.step);
    // The key leaves it, too.
    press(&mut harness, Key::Y);
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn another_episode_of_the_machine_keeps_it_and_another_machine_does_not() {
    let mut harness = paused();
    press(&mut harness, Key::Y);
    let before = harness.state().layer().derivatives().unwrap().trace.clone();
    act(&mut harness, Episode::NextSeed);
    let by = harness.state().layer().derivatives().unwrap();
    assert_eq!(by.of, Quantity::Loss);
    assert_ne!(by.trace.input, before.input);
    act(&mut harness, Episode::Machine(1));
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn where_values_are_seen_coming_about_there_are_values() {
    let mut harness = paused();
    lay_out(&mut harness, Arrangement::CloseUp);
    // Whoever asks for it there wants to see it.
    press(&mut harness, Key::Y);
    assert_eq!(harness.state().arrangement(), Arrangement::Debug);
    assert_eq!(on_screen(&harness), Some(Quantity::Loss));
    lay_out(&mut harness, Arrangement::CloseUp);
    assert_eq!(on_screen(&harness), None);
    assert!(!says(&harness, OF_LOSS));
}

#[test]
fn a_recorded_trace_has_no_derivatives() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    press(&mut harness, Key::Y);
    assert_eq!(on_screen(&harness), None);
}

#[test]
fn what_learns_shows_what_mattered_to_its_newest_weights() {
    let mut screen = window_of(LARGE, Arc::default());
    act(&mut screen, Instead::Begin(vec![learn::experiment(&[])]));
    screen.run_steps(5);
    press(&mut screen, Key::Y);
    screen.run_steps(2);
    assert_eq!(screen.state().arrangement(), Arrangement::Train);
    assert_eq!(on_screen(&screen), Some(Quantity::Loss));
    assert!(says(&screen, OF_LOSS));
    let memory = |screen: &Screen| {
        let by = screen.state().layer().derivatives().unwrap();
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
fn the_menu_of_a_column_copies_what_is_shown() {
    let mut screen = paused();
    act(&mut screen, Play::Seek(4));
    press(&mut screen, Key::Y);
    screen.get_by_label_contains("W0 gate: ").click_secondary();
    screen.run_steps(3);
    let gated = "Copy gated: 16 values as JSON";
    let by = screen.state().layer().derivatives().unwrap();
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
