//! Two episodes on one clock.

use super::*;

/// An episode on screen and a trace beside it.
fn two() -> Screen {
    let mut harness = paused();
    open_other(&mut harness, "theirs.ntmtrace.json");
    harness
}

fn open_other(harness: &mut Screen, path: &str) {
    act(harness, Compare::With(path.into()));
}

fn layout(harness: &Screen) -> WindowLayout {
    harness.state().layout()
}

/// The episode on screen, and the one in the file.
fn recordings(harness: &Screen) -> [Recording; 2] {
    let open = harness.state().session.open.as_ref().unwrap();
    let machine = machine("theirs", 4);
    let theirs = Recording::new(&machine.ntm, &machine.task, 9, 0);
    [open.shown.recording.clone(), theirs]
}

#[test]
fn a_second_trace_is_opened_by_its_path_and_shown_beside_the_first() {
    let mut harness = paused();
    assert!(!says(&harness, "A: outputs"));
    press_with(&mut harness, Modifiers::COMMAND, Key::D);
    type_into(&mut harness, "Path", "theirs.ntmtrace.json");
    click(&mut harness, "Open");
    assert_eq!(layout(&harness), WindowLayout::Compare);
    for picture in [
        "Largest difference",
        "A: outputs: Copy first, length 5, seed 1",
        "B: outputs: theirs.ntmtrace.json",
        "B − A: outputs",
        "A: w of W0: Copy first",
        "B: w of W0",
        "B − A: w of W0",
        "A: memory: M of step 0",
        "B: memory: M of step 0",
        "B − A: memory: M of step 0",
        "A  Copy first, length 5, seed 1",
        "B  theirs.ntmtrace.json",
    ] {
        assert!(says(&harness, picture), "{picture}");
    }
    let [a, b] = recordings(&harness);
    let words = format!(
        "A: {} of {} bits wrong, B: {} of {}; heads ",
        a.score.wrong, a.score.scored, b.score.wrong, b.score.scored
    );
    assert!(says(&harness, &words));
    // The other layouts show A; the comparison is one of them while there is a B.
    for next in [
        WindowLayout::CloseUp,
        WindowLayout::Debug,
        WindowLayout::Paper,
        WindowLayout::PaperDown,
    ] {
        press(&mut harness, Key::V);
        assert_eq!(layout(&harness), next);
    }
    press(&mut harness, Key::V);
    assert_eq!(layout(&harness), WindowLayout::Compare);
}

#[test]
fn the_pointer_reads_both_values_and_their_difference() {
    let mut harness = two();
    let [a, b] = recordings(&harness);
    act(&mut harness, Play::Seek(3));
    let head = harness.state().view.focus;
    let place = |harness: &Screen, label: &str| {
        let found = harness.query_all_by_label_contains(label).next();
        found.unwrap().rect()
    };
    for side in ["A", "B", "B − A"] {
        let rect = place(&harness, &format!("{side}: w of W0"));
        // In the middle of step 5 of 11, in the first row shown.
        let at = egui::pos2(rect.left() + rect.width() * 5.5 / 11.0, rect.top() + 1.0);
        harness.hover_at(at);
        harness.run_steps(2);
        let readout = harness.state().readout().unwrap().clone();
        let row: usize = readout.place.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(readout.place.starts_with("w of W0  step 5  row"));
        let [ours, theirs] = [&a, &b].map(|r| r.trace.heads[head].weighting.row(5)[row]);
        let exact = |value: f32| value.to_string();
        let plain = |text: &str| text.replace('−', "-");
        let number = |text: &str| plain(text).parse::<f32>().unwrap();
        let lines: Vec<_> = readout.meaning.lines().collect();
        assert_eq!(number(&lines[0][3..]), ours, "{}", exact(ours));
        assert_eq!(number(&lines[1][3..]), theirs);
        let difference = readout.value.strip_prefix("B − A ").unwrap();
        assert_eq!(number(difference), theirs - ours);
    }
    // A click keeps the cell of the memory on both sides.
    let rect = place(&harness, "B: memory");
    harness.hover_at(rect.center());
    harness.run_steps(1);
    harness.drag_at(rect.center());
    harness.drop_at(rect.center());
    harness.run_steps(3);
    let card = harness.state().card().unwrap();
    let (row, column) = match card.title.split_whitespace().collect::<Vec<_>>()[..] {
        ["M", "row", row, "column", column] => (
            row.parse::<usize>().unwrap(),
            column.parse::<usize>().unwrap(),
        ),
        _ => panic!("{}", card.title),
    };
    let [ours, theirs] = [&a, &b].map(|r| r.trace.memory(step(&harness) + 1)[[row, column]]);
    let value = card.lines[0].value.replace('−', "-");
    assert_eq!(value.parse::<f32>().unwrap(), theirs - ours);
    assert_eq!(
        card.table.columns[1..],
        ["memory A", "memory B", "memory B − A"]
    );
    assert_eq!(card.table.rows.len(), 12);
}

#[test]
fn the_first_difference_is_one_key_away() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::Focus(0));
    open_other(&mut harness, "changed.json");
    let sentence = "First difference above 1e−6 at step 4, stage shift: write0.shifted[4, 7], A ";
    assert!(says(&harness, sentence));
    assert!(says(
        &harness,
        "Largest difference 0.5000 in array write0.shifted."
    ));
    press_with(&mut harness, Modifiers::SHIFT, Key::D);
    let player = &harness.state().player;
    assert_eq!((player.step(), stage(&harness).as_str()), (4, "shift"));
    assert_eq!(harness.state().view.focus, 1);
    // The weighting of that stage is shown, and at the end of the step the final one.
    assert!(says(&harness, "B − A: w\u{303} of W0"));
    to_stage(&mut harness, "output");
    assert!(says(&harness, "B − A: w of W0"));
    // With another tolerance nothing counts.
    act(&mut harness, Play::Seek(0));
    for (button, words) in [
        ("1e−2", "First difference above 1e−2 at step 4"),
        ("0", "First difference above 0 at step 4"),
    ] {
        click(&mut harness, button);
        assert!(says(&harness, words), "{button}");
    }
    click(&mut harness, "Go to first difference");
    assert_eq!(step(&harness), 4);
}

#[test]
fn difference_before_first_step_shows_at_its_beginning() {
    let mut harness = paused();
    open_other(&mut harness, "before.json");
    let sentence = "First difference above 1e−6 before the first step: memory[0, 3, 0]";
    assert!(says(&harness, sentence));
    act(&mut harness, Play::Seek(6));
    press_with(&mut harness, Modifiers::SHIFT, Key::D);
    let player = &harness.state().player;
    assert_eq!((player.step(), stage(&harness).as_str()), (0, "controller"));
}

#[test]
fn a_card_without_time_has_a_line_for_every_channel_or_row() {
    let mut harness = two();
    let [a, b] = recordings(&harness);
    let number = |text: &str| text.replace('−', "-").parse::<f32>().unwrap();
    act(&mut harness, ViewCommand::Select(Target::Step));
    // Also at a step for which there is no channel.
    for step in [2, 9] {
        act(&mut harness, Play::Seek(step));
        let card = harness.state().card().unwrap();
        let [ours, theirs] = [&a, &b].map(|r| r.trace.output.row(step).to_vec());
        assert_eq!(card.lines.len(), ours.len());
        for (channel, line) in card.lines.iter().enumerate() {
            assert_eq!(line.symbol, format!("y{channel}, B − A"));
            assert_eq!(number(&line.value), theirs[channel] - ours[channel]);
        }
    }
    let rows = Target::Rows { from: 4, to: 2 };
    act(&mut harness, ViewCommand::Select(rows));
    let card = harness.state().card().unwrap();
    let head = harness.state().view.focus;
    let [ours, theirs] = [&a, &b].map(|r| r.trace.heads[head].weighting.row(9).to_vec());
    assert_eq!(card.lines.len(), 3);
    assert_eq!(card.lines[1].symbol, "w row 3, B − A");
    assert_eq!(number(&card.lines[1].value), theirs[3] - ours[3]);
}

#[test]
fn undo_to_keep_as_a_does_not_compare_with_itself() {
    let mut harness = paused();
    press(&mut harness, Key::K);
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    assert_eq!(layout(&harness), WindowLayout::Compare);
    act(&mut harness, Edit::Undo);
    assert!(says(&harness, "B  the next episode"));
    assert!(!says(&harness, "A: outputs") && !says(&harness, "No difference in "));
    // The same where a trace was kept.
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    press(&mut harness, Key::K);
    act(&mut harness, Episode::Machine(0));
    assert!(says(&harness, "B − A: outputs"));
    act(&mut harness, Edit::Undo);
    assert!(says(&harness, "B  the next episode"));
}

#[test]
fn swap_and_flip_keep_play_head_and_loop() {
    let mut harness = two();
    let marked = |harness: &Screen| {
        let player = &harness.state().player;
        (player.step(), player.range(), player.looping())
    };
    act(&mut harness, Play::LoopRange(Some((2, 6))));
    act(&mut harness, Play::Seek(3));
    let before = (3, Some((2, 6)), Loop::Range);
    assert_eq!(marked(&harness), before);
    press(&mut harness, Key::X);
    assert_eq!(marked(&harness), before);
    press(&mut harness, Key::X);
    act(&mut harness, Edit::Toggle);
    act(&mut harness, Edit::Flip(1, 2));
    assert_eq!(marked(&harness), before);
    // A loop that the other one does not reach is forgotten, one that it reaches ends with it.
    for (range, kept) in [((8, 9), None), ((5, 9), Some((5, 6)))] {
        let mut harness = paused();
        open_other(&mut harness, "short.json");
        act(&mut harness, Play::LoopRange(Some(range)));
        press(&mut harness, Key::X);
        assert_eq!(harness.state().player.range(), kept);
        assert_eq!(
            harness.state().player.looping() == Loop::Range,
            kept.is_some()
        );
    }
}

#[test]
fn identical_traces_have_no_difference() {
    let mut harness = paused();
    open_other(&mut harness, "again.json");
    assert!(!says(&harness, "B − A: inputs"));
    assert!(says(&harness, "No difference in "));
    let choices = harness.state().choices();
    let first = choices.iter().find(|c| c.name == "Go to first difference");
    assert_eq!(first.unwrap().blocked, Some("A and B do not differ"));
}

#[test]
fn a_and_b_are_swapped_and_the_difference_is_hidden() {
    let mut harness = two();
    act(&mut harness, Play::Seek(6));
    let [a, b] = recordings(&harness);
    press(&mut harness, Key::X);
    assert!(says(&harness, "A: outputs: theirs.ntmtrace.json"));
    assert!(says(&harness, "B: outputs: Copy first"));
    let open = harness.state().session.open.as_ref().unwrap();
    assert_eq!(open.shown.recording.trace.output, b.trace.output);
    assert_eq!(step(&harness), 6);
    click(&mut harness, "B  Copy first, length 5, seed 1");
    let open = harness.state().session.open.as_ref().unwrap();
    assert_eq!(open.shown.recording.trace.output, a.trace.output);
    assert_eq!(layout(&harness), WindowLayout::Compare);
    press(&mut harness, Key::D);
    assert!(says(&harness, "A: outputs") && !says(&harness, "B − A: outputs"));
    press(&mut harness, Key::V);
    press(&mut harness, Key::D);
    assert_eq!(layout(&harness), WindowLayout::Compare);
    assert!(says(&harness, "B − A: outputs"));
}

#[test]
fn baseline_is_compared_with_next_recording() {
    let mut harness = paused();
    let [a, _] = recordings(&harness);
    press(&mut harness, Key::K);
    assert!(says(&harness, "B  the next episode"));
    assert_eq!(layout(&harness), WindowLayout::Debug);
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    assert_eq!(layout(&harness), WindowLayout::Compare);
    assert!(says(&harness, "A: outputs: Copy first, length 5, seed 1"));
    assert!(says(&harness, "B: outputs: Copy first, length 5, seed 2"));
    // An edited bit: what differs first is the input.
    act(&mut harness, Episode::Seed(1));
    let bit = a.trace.input.row(1)[2];
    act(&mut harness, Edit::Flip(1, 2));
    let words = format!(
        "at step 1, stage controller: input[1, 2], A {bit}, B {}.",
        1.0 - bit
    );
    assert!(says(&harness, "B − A: inputs"));
    assert!(says(&harness, &words));
    // Another machine of the task is shown the same episode.
    act(&mut harness, Episode::Seed(1));
    act(&mut harness, Episode::Size(3));
    press_with(&mut harness, Modifiers::SHIFT, Key::K);
    open_other(&mut harness, "other.safetensors");
    let [b, _] = recordings(&harness);
    assert_eq!(harness.state().session.machines.len(), 3);
    assert_eq!(b.episode.size, 3);
    assert!(says(&harness, "A: outputs: Copy first, length 3, seed 1"));
    assert!(says(&harness, "B: outputs: Copy other, length 3, seed 1"));
}

#[test]
fn weights_run_on_trace_episode_without_seed() {
    let mut harness = paused_with_file("third.json");
    let input = |harness: &Screen| {
        let open = harness.state().session.open.as_ref().unwrap();
        assert!(!open.is_of_a_file());
        open.shown.recording.episode.input.clone()
    };
    let first = machine("first", 1);
    let third = first.task.with_size(4).episode(7, 3);
    open_other(&mut harness, "other.safetensors");
    assert!(says(&harness, "A: outputs: third.json"));
    assert!(says(
        &harness,
        "B: outputs: Copy other, length 4, seed 7, episode 3"
    ));
    assert!(says(&harness, "episode 3 of this seed"));
    assert!(!says(&harness, "B − A: inputs"));
    assert_eq!(input(&harness), third.input);
    // Another machine, other bits, and back.
    act(&mut harness, Episode::Machine(0));
    assert_eq!(input(&harness), third.input);
    act(&mut harness, Edit::Flip(1, 2));
    assert_eq!(input(&harness)[[1, 2]], 1.0 - third.input[[1, 2]]);
    assert!(says(&harness, "B − A: inputs"));
    act(&mut harness, Episode::NextSeed);
    assert!(says(&harness, "B: outputs: Copy first, length 4, seed 8"));
    for _ in 0..2 {
        act(&mut harness, Edit::Undo);
    }
    assert_eq!(input(&harness), third.input);
    assert!(!says(&harness, "B − A: inputs"));
}

#[test]
fn comparison_settings_can_be_undone() {
    let mut harness = two();
    act(&mut harness, Compare::Tolerance(1e-2));
    assert!(says(&harness, "First difference above 1e−2"));
    act(&mut harness, Compare::ToggleDifference);
    assert!(!says(&harness, "B − A: outputs"));
    act(&mut harness, Edit::Undo);
    assert!(says(&harness, "B − A: outputs") && says(&harness, "First difference above 1e−2"));
    act(&mut harness, Edit::Undo);
    assert!(says(&harness, "First difference above 1e−6"));
    act(&mut harness, Edit::Redo);
    assert!(says(&harness, "First difference above 1e−2"));
}

#[test]
fn failed_comparison_changes_nothing() {
    let mut harness = paused();
    let before = harness.state().session.title();
    for (path, words) in [
        (
            "wide.json",
            "wide.json cannot be compared with the episode on screen: input channels: 5 and 6; output channels: 4 and 5. Choose a trace of the same task.",
        ),
        ("nothing.json", "nothing.json does not exist."),
    ] {
        open_other(&mut harness, path);
        assert!(says(&harness, words), "{path}");
        assert_eq!(layout(&harness), WindowLayout::Debug);
        assert_eq!(harness.state().session.title(), before);
        assert!(!says(&harness, "A  Copy first"));
    }
    // A machine of another task, while one is kept: no pictures, but words.
    let mut harness = two();
    act(&mut harness, Episode::Machine(1));
    assert!(says(&harness, "A and B cannot be compared."));
    assert!(says(&harness, "input channels: 6 and 5"));
    act(&mut harness, Episode::Machine(0));
    assert!(says(&harness, "B − A: outputs"));
}

#[test]
fn a_comparison_ends_with_escape_and_comes_back_with_undo() {
    let mut harness = two();
    act(&mut harness, ViewCommand::Select(Target::Row(3)));
    press(&mut harness, Key::Escape);
    assert_eq!(layout(&harness), WindowLayout::Compare);
    press(&mut harness, Key::Escape);
    assert_eq!(layout(&harness), WindowLayout::Debug);
    assert!(!says(&harness, "B  theirs"));
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert!(says(&harness, "B  theirs") && says(&harness, "B − A: outputs"));
    press_with(&mut harness, BOTH, Key::D);
    assert!(!says(&harness, "B  theirs"));
    for _ in 0..4 {
        press(&mut harness, Key::V);
    }
    assert_eq!(layout(&harness), WindowLayout::Debug);
}

#[test]
fn window_opens_on_comparison() {
    let compare = machine("second", 6);
    let options = Options {
        compare: Some((
            "second".into(),
            Some(OpenedFile::Machine(Box::new(compare))),
        )),
        ..options(Arc::<Shelf>::default())
    };
    for size in [LARGE, SMALL] {
        let mut harness = window_with(size, options.clone());
        harness.run_steps(3);
        assert!(says(&harness, "A: outputs: Copy first, length 5, seed 1"));
        assert!(says(&harness, "B: outputs: Copy second, length 5, seed 1"));
        assert!(says(&harness, "Go to first difference"));
    }
}

#[test]
fn comparison_reports_unmatched_heads_lengths_and_arrays() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::Focus(1));
    open_other(&mut harness, "partial.json");
    assert!(says(&harness, "A: memory: M of step 0"));
    assert!(says(&harness, "B: memory: not recorded in B"));
    assert!(says(&harness, "B − A: memory: not recorded in B"));
    assert!(says(&harness, "Not compared: memory, read0.key."));
    open_other(&mut harness, "short.json");
    assert!(says(&harness, "Sizes differ: steps: 11 and 7."));
    act(&mut harness, Play::Last);
    assert!(says(&harness, "B: memory: B has ended"));
    open_other(&mut harness, "3 reads 1 writes, read first");
    press(&mut harness, Key::X);
    // W0 stands in another place there.
    assert_eq!(harness.state().view.focus, 3);
    assert!(
        says(&harness, "B − A: w of W0") && says(&harness, "read1 (12 arrays), read2 (12 arrays)")
    );
    act(&mut harness, ViewCommand::Focus(2));
    assert!(says(&harness, "B: w of R2: B has no R2"));
    press(&mut harness, Key::X);
    open_other(&mut harness, "headless.json");
    assert!(says(&harness, "B − A: outputs") && !says(&harness, "w of W0"));
    assert!(says(&harness, "heads: read0 write0 and none"));
}

#[test]
fn every_picture_offers_its_numbers() {
    let mut harness = two();
    for (picture, all) in [
        ("Largest difference", "Copy all 11 × 1 as TSV"),
        ("B − A: w of W0", "Copy all 11 × 16 as TSV"),
        ("A: memory", "Copy all 16 × 6 as TSV"),
    ] {
        let found = harness.query_all_by_label_contains(picture).next();
        found.unwrap().click_secondary();
        harness.run_steps(3);
        assert!(says(&harness, all), "{picture}");
        press(&mut harness, Key::Escape);
    }
    assert_eq!(layout(&harness), WindowLayout::Compare);
}

#[test]
fn comparison_figure_can_be_saved() {
    let shelf = Arc::<Shelf>::default();
    let mut harness = window_of(LARGE, shelf.clone());
    open_other(&mut harness, "theirs.ntmtrace.json");
    act(&mut harness, File::Save("two.svg".into(), false));
    act(&mut harness, ViewCommand::NextScale);
    act(&mut harness, File::Save("log.svg".into(), false));
    let saved = ["two.svg", "log.svg"].map(PathBuf::from);
    assert_eq!(*shelf.saved.lock().unwrap(), saved);
    let figures = shelf.figures.lock().unwrap();
    let logarithmic = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("1e−6");
    assert!(!logarithmic(&figures[0]) && logarithmic(&figures[1]));
}
