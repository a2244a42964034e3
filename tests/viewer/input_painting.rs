//! Bits of the input are painted by dragging; symbols are chosen by a click.

use super::source::{BAHDANAU, CAPTION, DESCRIBES, TRANSDUCE, reader};
use super::*;
use tapescope::io::{Experiment, Trained};
use tapescope::model::EquationsConfig;
use tapescope::task::{HeldOut, Pair, Pairs, TARGET_NOT_KNOWN, Tokens};

const INPUT: &str = ": click to ";

fn input(harness: &Screen, step: usize, channel: usize) -> bool {
    let open = harness.state().session.open.as_ref().unwrap();
    open.shown.recording.episode.input[[step, channel]] > 0.5
}

/// The middle of a bit on screen.
fn place(harness: &Screen, step: usize, channel: usize) -> egui::Pos2 {
    let open = harness.state().session.open.as_ref().unwrap();
    let (steps, channels) = open.shown.recording.episode.input.dim();
    let rect = harness.get_by_label_contains(INPUT).rect();
    let share = |index: usize, count: usize| (index as f32 + 0.5) / count as f32;
    rect.min + rect.size() * egui::vec2(share(step, steps), share(channel, channels))
}

fn stroke(harness: &mut Screen, cells: &[(usize, usize)]) {
    for (index, &(step, channel)) in cells.iter().enumerate() {
        let at = place(harness, step, channel);
        harness.hover_at(at);
        if index == 0 {
            harness.drag_at(at);
        }
        harness.run_steps(2);
    }
    let &(step, channel) = cells.last().unwrap();
    harness.drop_at(place(harness, step, channel));
    harness.run_steps(3);
}

#[test]
fn stroke_paints_bits_as_one_change() {
    for first in [0, 1, 2, 3] {
        let mut harness = paused();
        press(&mut harness, Key::E);
        let before: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        let rest = (0..5).map(|t| input(&harness, t, (first + 1) % 4));
        let rest: Vec<_> = rest.collect();
        // A fast pointer: from the first bit to the last in one frame; on beyond the bits of the task.
        stroke(&mut harness, &[(0, first), (4, first), (8, first)]);
        let after: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        assert_eq!(after, [!before[0]; 5]);
        for (t, bit) in rest.iter().enumerate() {
            assert_eq!(input(&harness, t, (first + 1) % 4), *bit);
        }
        assert!(!has(&harness, "Note"));
        assert_eq!(harness.state().mark(), Some((8, first)));
        press_with(&mut harness, Modifiers::COMMAND, Key::Z);
        let undone: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        assert_eq!(undone, before);
        assert!(harness.state().session.request.flipped.is_empty());
    }
}

#[test]
fn strokes_leave_no_gaps() {
    let mut harness = paused();
    press(&mut harness, Key::E);
    let on = !input(&harness, 1, 0);
    stroke(&mut harness, &[(1, 0), (4, 3), (1, 3), (4, 3)]);
    for (step, channel) in [(1, 0), (2, 1), (3, 2), (4, 3), (3, 3), (2, 3), (1, 3)] {
        assert_eq!(input(&harness, step, channel), on, "{step} {channel}");
    }
    // A click alone flips once.
    let before = input(&harness, 0, 1);
    stroke(&mut harness, &[(0, 1)]);
    assert_eq!(input(&harness, 0, 1), !before);
}

/// A window on a machine that reads a source, with everything on screen.
fn reading(machine: Machine) -> Screen {
    let mut screen = paused_on(machine);
    while screen.state().layout() != WindowLayout::Debug {
        act(&mut screen, ViewCommand::NextLayout);
    }
    screen
}

/// The symbols of the source, where every step has one.
fn source(screen: &Screen) -> Vec<usize> {
    let episode = &shown(screen).recording.episode;
    let rows = episode.input.rows().into_iter().take(episode.size);
    let symbols = rows.map(|row| {
        assert_eq!(row.sum(), 1.0);
        row.iter().position(|value| *value == 1.0).unwrap()
    });
    symbols.collect()
}

#[test]
fn a_click_chooses_a_symbol_and_the_answer_follows() {
    let mut screen = reading(reader("any", TRANSDUCE, BAHDANAU));
    let before = source(&screen);
    let drawn = shown(&screen).recording.episode.clone();
    let Task::Transduce(task) = shown(&screen).recording.task.clone() else {
        panic!();
    };
    screen.get_by_label("Edit input").click();
    screen.run_steps(3);
    let (mut wanted, other) = (before.clone(), (before[2] + 5) % 12);
    wanted[2] = other;
    stroke(&mut screen, &[(2, other)]);
    assert_eq!(source(&screen), wanted);
    let recording = &shown(&screen).recording;
    assert_eq!(
        recording.episode.clone().with_steps(0),
        task.episode_of(&wanted)
    );
    assert!(recording.episode.alignment.iter().flatten().count() > 0);
    screen.get_by_label("1 symbol differs from the seed's input");
    // The same symbol once more changes nothing; another one of the step takes its place.
    stroke(&mut screen, &[(2, other)]);
    assert_eq!(source(&screen), wanted);
    press(&mut screen, Key::ArrowDown);
    press(&mut screen, Key::Space);
    wanted[2] = (other + 1).min(11);
    assert_eq!(source(&screen), wanted);
    // A drag chooses where it begins; the delimiter stays.
    stroke(&mut screen, &[(0, 3), (before.len(), 3)]);
    wanted[0] = 3;
    assert_eq!(source(&screen), wanted);
    assert!(input(&screen, before.len(), 12));
    stroke(&mut screen, &[(before.len(), 3)]);
    screen.get_by_label("Only source symbols of the task can be changed.");
    for (step, symbol) in before.iter().enumerate() {
        act(&mut screen, Edit::Flip(step, *symbol));
    }
    assert!(screen.state().session.request.flipped.is_empty());
    assert_eq!(shown(&screen).recording.episode.input, drawn.input);
}

/// An untrained machine for pairs of words, the last of which are held out.
fn pairs() -> Machine {
    let line = |line: &str| Pair::parse(line, Tokens::Words).unwrap();
    let lines = ["b a\tB A", "a a\tA A", "c\tC", "a b\tA B"].map(line);
    let mut task = Pairs::NONE;
    task.held_out = HeldOut::Last(1);
    let task = Task::Pairs(task.with(Arc::new(lines.to_vec())).unwrap());
    let config = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
    Machine {
        other_way: None,
        away: false,
        name: "pairs".to_owned(),
        title: "Words".to_owned(),
        ntm: Model::new(config.unwrap(), 3),
        task,
    }
}

#[test]
fn a_source_that_no_line_has_is_not_counted() {
    let mut screen = reading(pairs());
    let counts = |screen: &Screen| says(screen, "symbols wrong") || says(screen, "wrong symbols:");
    assert_eq!(source(&screen), [0, 1]);
    assert!(counts(&screen));
    press(&mut screen, Key::E);
    stroke(&mut screen, &[(1, 0)]);
    assert!(counts(&screen), "`a a` is a line of the file");
    stroke(&mut screen, &[(0, 3)]);
    assert_eq!(source(&screen), [3, 0]);
    screen.get_by_label(TARGET_NOT_KNOWN);
    screen.get_by_label("not in the vocabulary of the source: step 0");
    screen.get_by_label("2 symbols differ from the held-out input");
    for layout in 0..3 {
        assert!(says(&screen, "right answer not known"), "{layout}");
        assert!(!counts(&screen), "{layout}");
        let step = shown(&screen).recording.episode.source() + 1;
        act(&mut screen, Play::Seek(step));
        for words in ["wrong", "is right"] {
            let all = clipping::texts(&screen);
            let mut all = all.filter(|(found, _)| found.galley.text().contains(words));
            let found = all.next().map(|(found, _)| found.galley.text().to_owned());
            assert!(
                found.as_ref().is_none_or(|text| text == TARGET_NOT_KNOWN),
                "{layout}: {found:?}"
            );
        }
        clipping::is_whole(&screen, &format!("an unknown answer, layout {layout}"));
        act(&mut screen, ViewCommand::NextLayout);
    }
    act(&mut screen, Edit::Undo);
    act(&mut screen, Edit::Undo);
    assert!(!has(&screen, TARGET_NOT_KNOWN) && counts(&screen));
}

#[test]
fn a_machine_says_what_is_wrong_with_its_file_and_runs_without_it() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str| place.path().join(name);
    let preset = r#"{"task": {"kind": "pairs", "file": "p.tsv", "held_out": {"kind": "last", "count": 1}},
        "model": {"kind": "equations", "file": "bahdanau.machine"}}"#;
    std::fs::write(file("p.json"), preset).unwrap();
    std::fs::write(file("p.tsv"), "b a\tB A\nb\tB\nb a\tB A\n").unwrap();
    let experiment = Experiment::read(&file("p.json"), &[]).unwrap();
    let weights = file("weights.safetensors");
    let trained = Trained {
        machine: Model::new(experiment.model.clone(), 3),
        experiment: experiment.clone(),
        evaluation: None,
        history: Vec::new(),
        changes: Vec::new(),
        command: String::new(),
    };
    tapescope::io::weights::write(&weights, &trained).unwrap();
    let warns = |screen: &Screen| {
        screen.get_by_label("2 source symbols");
        screen.get_by_label("1 of 1 held-out episodes are also training episodes");
    };
    let mut screen = paused_with(Arc::new(Disk));
    act(&mut screen, File::Open(weights.clone()));
    warns(&screen);
    begin_training(&mut screen, experiment);
    warns(&screen);
    std::fs::remove_file(file("p.tsv")).unwrap();
    let mut screen = paused_with(Arc::new(Disk));
    act(&mut screen, File::Open(weights));
    screen.get_by_label_contains("the file of its episodes is missing");
    assert_eq!(source(&screen), [0, 1]);
    screen.get_by_label(TARGET_NOT_KNOWN);
    act(&mut screen, Edit::Flip(0, 1));
    assert_eq!(source(&screen), [1, 1]);
    act(&mut screen, DialogCommand::Measure("loss".into()));
    assert!(says(&screen, "the file of its episodes is missing"));
}

#[test]
fn an_input_that_cannot_be_changed_says_why() {
    for (machine, why) in [
        (
            reader("any", CAPTION, DESCRIBES),
            "its input is drawn with noise",
        ),
        (
            custom_task::machine(),
            "the episodes of this task come from a file",
        ),
    ] {
        let mut screen = paused_on(machine);
        let button = screen.get_by_label("Edit input");
        assert!(button.accesskit_node().is_disabled());
        screen.hover_at(button.rect().center());
        screen.run_steps(40);
        assert!(says(&screen, &format!("Not available: {why}")));
        press(&mut screen, Key::E);
        assert_eq!(screen.state().mark(), None);
        assert!(says(
            &screen,
            &format!("The input cannot be changed: {why}")
        ));
    }
}
