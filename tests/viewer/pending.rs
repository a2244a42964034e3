//! What is under way: an episode is asked for, and something else happens before it comes.

use super::*;

/// An associative recall machine with two read heads, and a copy machine with one.
fn with_two_machines() -> Screen {
    let task = Task::AssociativeRecall(AssociativeRecall {
        bits: 3,
        item_length: 2,
        items: 2..=3,
        ..AssociativeRecall::PAPER
    });
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns, config.read_heads) = (16, 6, 2);
    let many = Machine {
        other_way: None,
        away: false,
        name: "many".to_owned(),
        title: "Many heads".to_owned(),
        ntm: Model::new(config, 1),
        task,
    };
    window_of_machines(LARGE, vec![many, machine("few", 2)])
}

fn heads(harness: &Screen) -> usize {
    recording(harness).trace.heads.len()
}

fn seed_on_screen(harness: &Screen) -> Option<u64> {
    let open = harness.state().session.open.as_ref().unwrap();
    open.request.as_ref().map(|request| request.seed)
}

fn let_in(harness: &mut Screen) {
    harness.state_mut().held = false;
    harness.run_steps(3);
}

#[test]
fn undo_to_a_machine_with_more_heads_waits_for_them() {
    let mut harness = with_two_machines();
    act(&mut harness, ViewCommand::Focus(2));
    act(&mut harness, ViewCommand::Pin(1));
    act(&mut harness, Episode::Machine(1));
    assert_eq!(heads(&harness), 2);
    harness.state_mut().held = true;
    act(&mut harness, Edit::Undo);
    // The old episode is drawn meanwhile, and can be saved as a figure.
    harness.run_steps(5);
    act(&mut harness, File::Save("meanwhile.svg".into(), false));
    assert_eq!(heads(&harness), 2);
    assert!(harness.state().view.focus < 2);
    let_in(&mut harness);
    assert_eq!(heads(&harness), 3);
    assert_eq!(
        (harness.state().view.focus, harness.state().view.pinned),
        (2, Some(1))
    );
}

#[test]
fn outdated_episode_is_discarded() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    act(&mut harness, Episode::NextSeed);
    let asked = seed_on_screen(&harness);
    assert!(asked.is_some());
    harness.state_mut().held = true;
    act(&mut harness, Episode::NextSeed);
    // Back to the trace: nobody asks for that episode any more.
    act(&mut harness, Edit::Undo);
    act(&mut harness, Edit::Undo);
    assert_eq!(seed_on_screen(&harness), None, "the trace");
    let_in(&mut harness);
    assert_eq!(seed_on_screen(&harness), None, "still the trace");
    act(&mut harness, Edit::Redo);
    assert_eq!(seed_on_screen(&harness), asked);
}

#[test]
fn opening_a_file_is_one_undo_step() {
    let mut harness = paused();
    let touched = harness.state().view.touched_only;
    act(&mut harness, Rows::ToggleTouched);
    open(&mut harness, "theirs.ntmtrace.json");
    act(&mut harness, Edit::Undo);
    assert!(seed_on_screen(&harness).is_some(), "the trace is gone");
    assert_ne!(harness.state().view.touched_only, touched, "the rows stay");
    act(&mut harness, Edit::Undo);
    assert_eq!(harness.state().view.touched_only, touched);
}

#[test]
fn opening_weights_is_one_undo_step() {
    let mut harness = paused();
    act(&mut harness, Rows::ToggleTouched);
    open(&mut harness, "other.safetensors");
    assert_eq!(harness.state().session.request.machine, 2);
    act(&mut harness, Edit::Undo);
    assert_eq!(harness.state().session.request.machine, 0);
    assert!(!harness.state().view.touched_only);
}

#[test]
fn figure_has_every_head_and_layout_in_name() {
    let shelf = Arc::<Shelf>::default();
    let mut harness = paused_with(shelf.clone());
    act(&mut harness, File::Save("all.svg".into(), false));
    let drawn = shelf.figures.lock().unwrap().pop().unwrap();
    let drawn = String::from_utf8(drawn).unwrap();
    for words in ["W0  ADDRESSING", "MEMORY", "reads", ">R0<"] {
        assert!(drawn.contains(words), "{words}");
    }
    act(
        &mut harness,
        Subject::File(FilePurpose::Figure(Format::Svg)),
    );
    harness.get_by_label("Path").focus();
    harness.run_steps(1);
    press_with(&mut harness, Modifiers::COMMAND, Key::A);
    type_into(&mut harness, "Path", "figure.pdf");
    click(&mut harness, "Save file");
    harness.get_by_label_contains(
        "figure.pdf: unknown figure format. Use a name ending in .svg, .png, .gif or .html.",
    );
    assert_eq!(*shelf.saved.lock().unwrap(), [PathBuf::from("all.svg")]);
}

#[test]
fn selection_moves_to_same_head_of_other_machine() {
    let mut harness = with_two_machines();
    let looked_at = |harness: &Screen| (harness.state().view.focus, harness.state().view.pinned);
    act(&mut harness, Episode::Machine(1));
    act(&mut harness, ViewCommand::Focus(1));
    act(&mut harness, ViewCommand::Pin(0));
    // W0 is the third of the heads there.
    act(&mut harness, Episode::Machine(0));
    assert_eq!(looked_at(&harness), (2, Some(0)));
    act(&mut harness, Episode::Machine(1));
    assert_eq!(looked_at(&harness), (1, Some(0)));
}

#[test]
fn dialog_results_are_commands() {
    let mut harness = window_with(
        LARGE,
        Options {
            settings: Settings {
                stop: 2,
                ..Settings::default()
            },
            ..options(Arc::<Shelf>::default())
        },
    );
    act(&mut harness, Tour::Start);
    harness.get_by_label_contains("3 of 13");
    let told = "This is its weighting";
    assert!(!says(&harness, told));
    act(&mut harness, Subject::Step);
    type_into(&mut harness, "Step", "4");
    click(&mut harness, "Go");
    assert_eq!(step(&harness), 4);
    // The tour hears of it.
    harness.get_by_label_contains(told);
}

#[test]
fn recent_files_store_absolute_paths() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = folder.path().join("kept.ntmtrace.json");
    let relative = path
        .strip_prefix(std::env::current_dir().unwrap())
        .unwrap_or(&path);
    let mut harness = paused_with(Arc::new(Disk));
    act(&mut harness, File::Save(path.clone(), false));
    act(&mut harness, File::Open(relative.to_owned()));
    let recent = &harness.state().settings.recent;
    assert_eq!(recent.len(), 1);
    assert!(recent[0].is_absolute() && recent[0].ends_with(relative.file_name().unwrap()));
    // Weights, too.
    let mut harness = paused();
    act(&mut harness, Compare::With("other.safetensors".into()));
    let recent = &harness.state().settings.recent;
    assert_eq!(*recent, [PathBuf::from("other.safetensors")]);
}

#[test]
fn click_with_two_commands_is_one_undo_step() {
    let mut harness = paused();
    let looked_at = |harness: &Screen| {
        let view = &harness.state().view;
        (view.focus, view.selected.is_some())
    };
    assert_eq!(looked_at(&harness), (1, false));
    click(&mut harness, "weighting of R0: memory rows over time");
    assert_eq!(looked_at(&harness), (0, true));
    act(&mut harness, Edit::Undo);
    assert_eq!(looked_at(&harness), (1, false));
    // Two keys are two changes, even in one frame.
    harness.key_press(Key::U);
    harness.key_press(Key::N);
    harness.run_steps(2);
    act(&mut harness, Edit::Undo);
    let view = &harness.state().view;
    assert!(!view.log_scale && !view.touched_only);
}

#[test]
fn drawing_changes_nothing() {
    let mut harness = paused_on(big());
    press(&mut harness, Key::Z);
    press(&mut harness, Key::F);
    for step in [9, 2] {
        act(&mut harness, Play::Seek(step));
        let seen = |harness: &Screen| {
            let state = harness.state();
            (state.undo_state(), state.view.row_zoom.first, step)
        };
        let before = seen(&harness);
        harness.run_steps(5);
        assert_eq!(seen(&harness), before);
    }
}

#[test]
fn undo_before_an_episode_arrives_ends_the_wait() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    harness.state_mut().held = true;
    act(&mut harness, Episode::NextSeed);
    assert!(harness.state().pending.waits);
    act(&mut harness, Edit::Undo);
    assert!(!harness.state().pending.waits);
    let_in(&mut harness);
    assert_eq!(seed_on_screen(&harness), None);
}

#[test]
fn dropped_episode_ends_the_wait() {
    let mut harness = paused();
    harness.state_mut().held = true;
    act(&mut harness, Episode::NextSeed);
    let context = harness.ctx.clone();
    let given_up = harness.state().session.request.clone();
    // Another request follows before the outcome of the first one.
    act(&mut harness, Episode::NextSeed);
    assert_ne!(harness.state().session.request, given_up);
    harness.state_mut().held = false;
    harness.state_mut().apply(&context, Vec::new());
    assert!(!harness.state().pending.waits);
    let request = harness.state().session.request.seed;
    assert_eq!(seed_on_screen(&harness), Some(request));
}
