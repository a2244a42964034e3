//! A machine that learns in the window: begun, paced, looked back at. Without a window the school makes one update per
//! frame, and no clock runs.

use egui::accesskit::Role;
use egui::{ViewportCommand, ViewportEvent, ViewportId};
use tapescope::io::{Experiment, ResumedRun, RunFolder};
use tapescope::learn::{End, Finding, Pace, RunUpdate};
use tapescope::train::Trainer;
use tapescope::viewer::{LiveTraining, RunUpdates};

use super::*;

/// A task so small that an update takes no time.
const SMALL_COPY: [&str; 8] = [
    "task.bits=4",
    "task.length=[1,5]",
    "model.memory.rows=16",
    "model.memory.columns=6",
    "model.controller.size=12",
    "training.sequences=4000",
    "training.validation_every=40",
    "training.validation_episodes=4",
];

pub fn experiment(more: &[&str]) -> Experiment {
    let overrides = SMALL_COPY.iter().chain(more);
    let overrides: Vec<_> = overrides.map(|text| text.parse().unwrap()).collect();
    Experiment::find("copy", &overrides).unwrap()
}

/// A window in which that has begun.
fn learning() -> Screen {
    learning_in(LARGE, &[])
}

pub fn learning_in(size: Vec2, more: &[&str]) -> Screen {
    let mut screen = window_of(size, Arc::default());
    begin_training(&mut screen, experiment(more));
    screen
}

fn state(screen: &Screen) -> &LiveTraining {
    screen.state().learning.as_ref().unwrap()
}

fn sequences(screen: &Screen) -> u64 {
    let progress = state(screen).run().progress.as_ref();
    progress.map_or(0, |progress| progress.sequences)
}

fn batch(screen: &Screen) -> u64 {
    state(screen).run().experiment.training.batch as u64
}

/// The bits of every update, by sequences.
fn bits(screen: &Screen) -> Vec<(u64, f64)> {
    let progress = state(screen).run().progress.as_ref().unwrap();
    let points = progress.curve.points().iter();
    points.map(|point| (point.sequences, point.bits)).collect()
}

#[test]
fn t_starts_preset_and_updates_probe() {
    let mut screen = paused();
    assert!(screen.state().learning.is_none());
    press(&mut screen, Key::T);
    assert_eq!(screen.state().layout(), WindowLayout::Train);
    assert!(says(&screen, "Loss per sequence (bits)") && says(&screen, "Pause training"));
    let (before, done) = (answers(&screen), sequences(&screen));
    screen.run_steps(3);
    assert!(sequences(&screen) > done);
    assert_ne!(answers(&screen), before);
}

#[test]
fn t_pauses_and_shift_t_runs_one_update() {
    let mut screen = learning();
    press(&mut screen, Key::T);
    assert!(!state(&screen).is_training);
    let done = sequences(&screen);
    screen.run_steps(5);
    assert_eq!(sequences(&screen), done);
    assert!(says(&screen, "paused"));
    for more in 1..=2 {
        press_with(&mut screen, Modifiers::SHIFT, Key::T);
        screen.run_steps(5);
        assert_eq!(sequences(&screen), done + more * batch(&screen));
    }
    press(&mut screen, Key::T);
    screen.run_steps(3);
    assert!(sequences(&screen) > done + 2 * batch(&screen));
}

#[test]
fn repeated_single_updates_each_run_once() {
    let mut screen = learning();
    press(&mut screen, Key::T);
    let done = sequences(&screen);
    // All before the first of them could be heard.
    screen.state_mut().held = true;
    for _ in 0..7 {
        press_with(&mut screen, Modifiers::SHIFT, Key::T);
    }
    screen.state_mut().held = false;
    screen.run_steps(20);
    assert_eq!(sequences(&screen), done + 7 * batch(&screen));
    assert!(!state(&screen).expects_news());
}

#[test]
fn the_pace_is_halved_and_doubled_and_full_again() {
    let mut screen = learning();
    let pace = |screen: &Screen| state(screen).pace;
    press_with(&mut screen, Modifiers::SHIFT, Key::OpenBracket);
    assert_eq!(pace(&screen), Pace::Updates(1024.0));
    press_with(&mut screen, Modifiers::SHIFT, Key::OpenBracket);
    assert_eq!(pace(&screen), Pace::Updates(512.0));
    for _ in 0..2 {
        press_with(&mut screen, Modifiers::SHIFT, Key::CloseBracket);
    }
    assert_eq!(pace(&screen), Pace::Full);
    click(&mut screen, "full speed");
    assert_eq!(pace(&screen), Pace::Updates(4.0));
    assert!(says(&screen, "4 updates/s"));
}

#[test]
fn same_seed_repeats_numbers_next_seed_differs() {
    let mut screen = learning();
    screen.run_steps(20);
    let (first, seed) = (bits(&screen), state(&screen).run().begun.training.seed);
    act(&mut screen, Replacement::Again);
    screen.run_steps(20);
    let again = bits(&screen);
    let same = first.len().min(again.len());
    assert!(same > 10);
    assert_eq!(again[..same], first[..same]);
    act(&mut screen, Replacement::NextSeed);
    screen.run_steps(20);
    assert_ne!(bits(&screen)[..10], first[..10]);
    assert_eq!(state(&screen).run().begun.training.seed, seed + 1);
}

#[test]
fn timeline_shows_same_step_of_snapshot() {
    let mut screen = learning();
    screen.run_steps(60);
    press(&mut screen, Key::T);
    act(&mut screen, Play::Seek(4));
    let now = answers(&screen);
    let lane = screen.get_by_label_contains("Training snapshots").rect();
    let y = lane.center().y;
    drag(
        &mut screen,
        egui::pos2(lane.right() - 90.0, y),
        egui::pos2(lane.left() + 70.0, y),
    );
    let moment = state(&screen).place().unwrap();
    assert!(moment < 3, "{moment}");
    let then = answers(&screen);
    assert_ne!(then, now);
    assert_eq!(screen.state().player.step(), 4);
    press_with(&mut screen, Modifiers::SHIFT, Key::Period);
    assert_eq!(state(&screen).place(), Some(moment + 1));
    assert_ne!(answers(&screen), then);
    press_with(&mut screen, Modifiers::SHIFT, Key::Comma);
    assert_eq!(answers(&screen), then);
    act(&mut screen, Learn::Snapshot(None));
    assert_eq!(answers(&screen), now);
    assert_eq!(screen.state().player.step(), 4);
}

#[test]
fn two_snapshots_can_be_compared() {
    let mut screen = learning();
    screen.run_steps(40);
    press(&mut screen, Key::T);
    act(&mut screen, Learn::Snapshot(Some(0)));
    press(&mut screen, Key::K);
    act(&mut screen, Learn::Snapshot(None));
    assert_eq!(screen.state().layout(), WindowLayout::Compare);
    assert!(says(&screen, "after 0 sequences"));
    assert!(says(&screen, "B − A: outputs"));
    let pair = screen.state().pair().unwrap();
    let outputs = [pair.a, pair.b].map(|open| &open.shown.recording.trace.output);
    assert_ne!(outputs[0], outputs[1]);
}

#[test]
fn leaving_training_keeps_current_machine() {
    let mut screen = learning();
    screen.run_steps(10);
    let machine = state(&screen).machine;
    click(&mut screen, "Stop training");
    assert!(screen.state().learning.is_none());
    assert_ne!(screen.state().layout(), WindowLayout::Train);
    assert_eq!(screen.state().session.request.machine, machine);
    let before = answers(&screen);
    screen.run_steps(5);
    assert_eq!(answers(&screen), before);
}

#[test]
fn curves_are_exported_as_figure() {
    let shelf = Arc::<Shelf>::default();
    let mut screen = window_of(LARGE, shelf.clone());
    begin_training(&mut screen, experiment(&[]));
    screen.run_steps(60);
    act(&mut screen, File::Save("curves.svg".into(), false));
    let figures = shelf.figures.lock().unwrap();
    let svg = String::from_utf8(figures[0].clone()).unwrap();
    for words in [
        "Copy, seed",
        "Loss per sequence (bits)",
        "chance level",
        "Gradient",
        "Wrong bits",
        "Rows used",
    ] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn paper_result_is_a_level_of_the_loss_chart() {
    let shelf = Arc::<Shelf>::default();
    let mut screen = window_of(LARGE, shelf.clone());
    let small = ["rows=16", "columns=6"].map(|size| format!("model.memory.{size}"));
    let overrides = small.map(|text| text.parse().unwrap());
    let ngrams = Experiment::find("ngrams", &overrides).unwrap();
    begin_training(&mut screen, ngrams);
    act(&mut screen, File::Save("curves.svg".into(), false));
    let figures = shelf.figures.lock().unwrap();
    let svg = String::from_utf8(figures[0].clone()).unwrap();
    assert!(svg.contains("paper: 133.5 (Fig. 13)"), "{svg}");
}

#[test]
fn divergence_is_reported_and_last_good_machine_stays() {
    let mut screen = learning_in(LARGE, &["training.optimizer.learning_rate=3e38"]);
    screen.run_steps(30);
    assert!(!state(&screen).run().is_active());
    assert!(says(&screen, "is no longer finite") && says(&screen, "last good"));
    assert!(screen.state().toasts.shown.is_empty());
    assert!(answers(&screen).iter().all(|value| value.is_finite()));
    let last = state(&screen).findings().len() - 1;
    press_with(&mut screen, Modifiers::SHIFT, Key::PageUp);
    assert_eq!(state(&screen).finding_shown(), Some(last.saturating_sub(1)));
    let moment = state(&screen).place().unwrap();
    let snapshot = &state(&screen).snapshots()[moment];
    assert!(snapshot.sequences <= state(&screen).findings()[last].sequences);
}

#[test]
fn last_good_weights_of_diverged_run_are_saved() {
    let folder = folder("diverged");
    let mut screen = on_disk(&["training.validation_every=10"]);
    screen.run_steps(20);
    act(
        &mut screen,
        Learn::Change(vec!["training.optimizer.learning_rate=3e38".into()]),
    );
    screen.run_steps(30);
    let run = state(&screen).run();
    assert!(!run.keeps_weights() && run.can_be_saved());
    // A change by hand is nothing that a seed brings back.
    act(&mut screen, Replacement::Again);
    assert!(says(&screen, "Training is not saved"));
    click(&mut screen, "Go back");
    act(&mut screen, Learn::Save(folder.clone(), false));
    assert!(says(&screen, "in its state before the failure"));
    let best = tapescope::io::weights::read(&folder.join("weights.safetensors")).unwrap();
    assert!(
        best.machine
            .params
            .slices()
            .flatten()
            .all(|w| w.is_finite())
    );
    assert!(best.evaluation.is_some());
    let (_, snapshots) = RunFolder::snapshots_at(&folder).unwrap().unwrap();
    assert!(snapshots.all().len() > 3);
    assert!(!folder.join("checkpoint.safetensors").exists());
    let resumed = RunFolder::resume(&folder, "test");
    assert!(resumed.is_err() || resumed.unwrap().is_none());
}

/// A folder of its own for a test; it is not there yet.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("learn-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn on_disk(more: &[&str]) -> Screen {
    let mut screen = window_with(LARGE, options(Arc::new(Disk)));
    begin_training(&mut screen, experiment(more));
    screen.run_steps(20);
    screen
}

#[test]
fn run_saved_during_training_resumes_identically() {
    let folder = folder("saved");
    let mut screen = on_disk(&["training.sequences=160"]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    assert!(says(&screen, "tapescope train --resume"));
    let resumed = RunFolder::resume(&folder, "test").unwrap();
    let ResumedRun {
        experiment,
        state: saved,
        ..
    } = resumed.unwrap();
    assert!((1..160).contains(&saved.sequences));
    let mut trainer = Trainer::resume(experiment.task, experiment.training, saved, 2);
    while !trainer.finished() {
        trainer.update().unwrap();
    }
    for _ in 0..200 {
        screen.run_steps(1);
    }
    assert!(!state(&screen).run().is_active());
    let own = &state(&screen).run().machine;
    assert!(
        own.params
            .slices()
            .eq(trainer.state.machines[0].params.slices())
    );
}

#[test]
fn saved_run_continues_in_the_window_identically() {
    let folder = folder("continued");
    let mut screen = on_disk(&["training.sequences=160"]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    drop(screen);
    let mut screen = window_with(LARGE, options(Arc::new(Disk)));
    let path = folder.display().to_string();
    open(&mut screen, &path);
    screen.run_steps(3);
    assert!(state(&screen).read_only.is_some() && !state(&screen).is_training);
    let before = sequences(&screen);
    click(&mut screen, "Continue training");
    screen.run_steps(3);
    assert!(state(&screen).read_only.is_none() && sequences(&screen) > before);
    assert!(!state(&screen).snapshots().is_empty());
    for _ in 0..200 {
        screen.run_steps(1);
    }
    assert!(!state(&screen).run().is_active());
    let resumed = RunFolder::resume(&folder, "test").unwrap().unwrap();
    let experiment = resumed.experiment;
    let mut trainer = Trainer::resume(experiment.task, experiment.training, resumed.state, 2);
    while !trainer.finished() {
        trainer.update().unwrap();
    }
    drop(resumed.folder);
    let own = &state(&screen).run().machine;
    assert!(
        own.params
            .slices()
            .eq(trainer.state.machines[0].params.slices())
    );
    // It is saved where it was, and is then finished.
    assert_eq!(state(&screen).folder(), path);
    act(&mut screen, Learn::Save(folder.clone(), true));
    open(&mut screen, &path);
    screen.run_steps(3);
    let button = screen.get_by_label("Continue training");
    assert!(button.accesskit_node().is_disabled());
}

#[test]
fn run_folder_is_replaced_only_after_confirmation() {
    let folder = folder("replaced");
    let mut screen = on_disk(&[]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    let first = sequences(&screen);
    screen.run_steps(10);
    act(&mut screen, Learn::Save(folder.clone(), false));
    assert!(says(&screen, "Save run"));
    click(&mut screen, "Replace folder");
    let resumed = RunFolder::resume(&folder, "test").unwrap().unwrap();
    assert!(resumed.state.sequences > first);
}

/// The person closes the window.
fn close(screen: &mut Screen) {
    let input = screen.input_mut();
    let root = input.viewports.entry(ViewportId::ROOT).or_default();
    root.events.push(ViewportEvent::Close);
    screen.run_steps(1);
    let input = screen.input_mut();
    input
        .viewports
        .entry(ViewportId::ROOT)
        .or_default()
        .events
        .clear();
}

fn told_the_system(screen: &Screen, command: &ViewportCommand) -> bool {
    let output = &screen.output().viewport_output[&ViewportId::ROOT];
    output.commands.contains(command)
}

/// A window in which something was changed by hand: no seed brings that back.
fn changed(screen: &mut Screen) {
    let set = vec!["training.optimizer.learning_rate=2e-3".to_owned()];
    act(screen, Learn::Change(set));
    screen.run_steps(3);
}

#[test]
fn closing_during_training_asks_first() {
    let mut screen = learning();
    changed(&mut screen);
    close(&mut screen);
    assert!(told_the_system(&screen, &ViewportCommand::CancelClose));
    screen.run_steps(2);
    assert!(says(&screen, "tapescope train --resume runs/copy-1"));
    click(&mut screen, "Continue training");
    assert!(screen.state().dialog.is_none() && state(&screen).is_training);
    close(&mut screen);
    screen.run_steps(2);
    screen.get_by_label("Close without saving").click();
    screen.run_steps(2);
    assert!(told_the_system(&screen, &ViewportCommand::Close));
    assert!(screen.state().learning.is_none());
}

#[test]
fn snapshot_is_compared_with_live_training_on_either_side() {
    let mut screen = learning();
    screen.run_steps(10);
    press(&mut screen, Key::K);
    let kept = screen.state().comparing.baseline.as_ref().unwrap();
    let kept = kept.open.name();
    // Every comparison comes to its end, however soon there is a newer machine.
    for is_a in [true, false, true] {
        screen.run_steps(12);
        assert_eq!(screen.state().layout(), WindowLayout::Compare);
        let pair = screen.state().pair().unwrap();
        assert!(pair.differences().is_some());
        let sides = [pair.a.name(), pair.b.name()];
        let is_kept = sides.each_ref().map(|side| *side == kept);
        assert_eq!(is_kept, [is_a, !is_a], "{sides:?}");
        press(&mut screen, Key::X);
    }
}

/// What ends a run, and what the button says that does it in spite of all.
fn endings() -> [(Replacement, &'static str); 6] {
    let anew = "Restart without saving";
    [
        (Replacement::Again, anew),
        (Replacement::NextSeed, anew),
        (
            Replacement::Begin(vec![(None, experiment(&["training.seed=9"]))]),
            anew,
        ),
        (Replacement::Seeds(3), anew),
        (Replacement::Ablate, anew),
        (Replacement::Nothing, "Stop without saving"),
    ]
}

#[test]
fn every_command_that_ends_a_run_asks_first() {
    for (ends, without) in endings() {
        let mut screen = learning();
        changed(&mut screen);
        let number = state(&screen).run().number;
        act(&mut screen, ends.clone());
        assert!(says(&screen, "Training is not saved"), "{ends:?}");
        assert_eq!(state(&screen).run().number, number, "{ends:?}");
        click(&mut screen, "Continue training");
        assert!(state(&screen).is_training && screen.state().ending.is_none());
        act(&mut screen, ends.clone());
        click(&mut screen, without);
        let learning = screen.state().learning.as_ref();
        let now = learning.map(|learning| learning.run().number);
        assert_ne!(now, Some(number), "{ends:?}");
        assert_eq!(now.is_none(), ends == Replacement::Nothing, "{ends:?}");
    }
}

/// News of the run on screen, as if it had taken so many seconds to come here.
fn trained_for(screen: &Screen, seconds: f64) -> RunUpdates {
    let run = state(screen).run();
    let (mut progress, machine) = (
        run.progress.as_deref().unwrap().clone(),
        run.machine.clone(),
    );
    progress.seconds = seconds;
    let news = RunUpdate {
        progress: Arc::new(progress),
        machine,
        rate: None,
        followed: 1,
    };
    RunUpdates::new(vec![(0, news)])
}

#[test]
fn only_runs_with_progress_need_confirmation() {
    let mut screen = learning();
    screen.run_steps(30);
    act(&mut screen, Replacement::Again);
    assert!(screen.state().dialog.is_none());
    screen.run_steps(5);
    let news = trained_for(&screen, 5.0);
    screen.state_mut().held = true;
    act(&mut screen, Learn::Updates(news));
    act(&mut screen, Replacement::Again);
    assert!(says(&screen, "Training is not saved"));
}

#[test]
fn save_then_close_does_both() {
    let folder = folder("closing");
    let mut screen = on_disk(&[]);
    changed(&mut screen);
    act(&mut screen, Replacement::Close);
    act(&mut screen, Learn::SaveAndEnd(folder.clone()));
    assert!(told_the_system(&screen, &ViewportCommand::Close));
    assert!(RunFolder::resume(&folder, "test").unwrap().is_some());
}

#[test]
fn window_closes_after_existing_run_is_replaced() {
    let folder = folder("closing-twice");
    let mut screen = on_disk(&[]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    let first = sequences(&screen);
    changed(&mut screen);
    act(&mut screen, Replacement::Close);
    let path = folder.display().to_string();
    act(&mut screen, DialogCommand::Typed(path));
    press(&mut screen, Key::Enter);
    screen.run_steps(3);
    assert!(says(&screen, "Replace folder"));
    assert!(!told_the_system(&screen, &ViewportCommand::Close));
    click(&mut screen, "Replace folder");
    screen.run_steps(1);
    assert!(told_the_system(&screen, &ViewportCommand::Close));
    let resumed = RunFolder::resume(&folder, "test").unwrap().unwrap();
    assert!(resumed.state.sequences > first);
}

#[test]
fn other_failure_does_not_block_closing_after_save() {
    let folder = folder("closing-after");
    let mut screen = on_disk(&[]);
    changed(&mut screen);
    act(&mut screen, Replacement::Close);
    screen.state_mut().held = true;
    // It is told of this before the run is written.
    act(&mut screen, File::Open("no such file.safetensors".into()));
    act(&mut screen, Learn::SaveAndEnd(folder.clone()));
    screen.state_mut().held = false;
    screen.run_steps(1);
    assert!(told_the_system(&screen, &ViewportCommand::Close));
    assert!(RunFolder::resume(&folder, "test").unwrap().is_some());
}

#[test]
fn save_and_restart_replaces_existing_run_after_confirmation() {
    let folder = folder("anew");
    let mut screen = on_disk(&[]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    changed(&mut screen);
    let (number, done) = (state(&screen).run().number, sequences(&screen));
    act(&mut screen, Replacement::NextSeed);
    act(&mut screen, Learn::SaveAndEnd(folder.clone()));
    assert!(says(&screen, "already exists."));
    assert_eq!(state(&screen).run().number, number);
    click(&mut screen, "Replace folder");
    screen.run_steps(2);
    assert_ne!(state(&screen).run().number, number);
    let resumed = RunFolder::resume(&folder, "test").unwrap().unwrap();
    assert!(resumed.state.sequences >= done);
    // What is on the disk is of the run before, not of the one that learns now.
    assert_eq!(state(&screen).run().saved.sequences, 0);
}

#[test]
fn saved_run_keeps_snapshots_and_finished_state() {
    let folder = folder("moments");
    let mut screen = on_disk(&["training.sequences=160"]);
    act(&mut screen, Learn::Save(folder.clone(), false));
    let (_, snapshots) = RunFolder::snapshots_at(&folder).unwrap().unwrap();
    assert!(snapshots.all().len() > 3);
    screen.run_steps(200);
    act(&mut screen, Learn::Save(folder.clone(), true));
    assert!(says(&screen, "To evaluate it"));
    let begun = RunFolder::contents(&folder).unwrap().unwrap();
    assert!(begun.is_finished);
    assert!(RunFolder::resume(&folder, "test").unwrap().is_none());
}

#[test]
fn training_error_is_one_message_with_what_is_kept() {
    let mut screen = learning();
    screen.run_steps(10);
    let run = state(&screen).run();
    let (mut progress, machine) = (
        run.progress.as_deref().unwrap().clone(),
        run.machine.clone(),
    );
    let words = "an index that was too large".to_owned();
    progress
        .findings
        .push(Finding::broken(progress.sequences, &words, true));
    progress.end = Some(End::Broken {
        words,
        is_whole: true,
    });
    let news = RunUpdate {
        progress: Arc::new(progress),
        machine,
        rate: None,
        followed: 1,
    };
    screen.state_mut().held = true;
    act(
        &mut screen,
        Learn::Updates(RunUpdates::new(vec![(0, news)])),
    );
    assert!(says(
        &screen,
        "Training stopped with an error: an index that was too large"
    ));
    assert!(says(&screen, "Save the run") && says(&screen, "stopped by an error"));
    assert_eq!(screen.state().toasts.problems, 1);
    assert!(!state(&screen).expects_news());
}

#[test]
fn untrainable_machine_states_reason() {
    let mut screen = window();
    let large = experiment(&["model.controller.layers=16", "model.controller.size=16384"]);
    begin_training(&mut screen, large);
    assert!(screen.state().learning.is_none());
    assert!(says(&screen, "cannot be trained here"));
}

#[test]
fn hyperparameter_change_applies_next_update_and_is_marked() {
    let mut screen = learning();
    screen.run_steps(10);
    press(&mut screen, Key::T);
    let at = sequences(&screen);
    let rate = |screen: &Screen| state(screen).run().experiment.training.optimizer;
    let before = rate(&screen);
    click(&mut screen, "Change settings");
    click(&mut screen, "Double the learning rate");
    click(&mut screen, "Halve the largest length");
    assert_ne!(rate(&screen), before);
    assert_eq!(state(&screen).run().experiment.task.size(), 1..=2);
    assert_ne!(state(&screen).run().begun, state(&screen).run().experiment);
    let changes = state(&screen)
        .run()
        .progress
        .as_ref()
        .unwrap()
        .changes
        .clone();
    assert!(changes.iter().all(|change| change.sequences == at));
    assert_eq!(changes[1].set, ["task.length=[1,2]"]);
    act(
        &mut screen,
        Learn::Change(vec!["model.memory.rows=64".into()]),
    );
    assert!(says(&screen, "cannot change during training"));
}

/// Types a value over the one that stands behind this name in the menu of what may be changed.
fn type_over(screen: &mut Screen, name: &str, text: &str) {
    let by_name = |node: &egui_kittest::Node<'_>| {
        let labelled = node.accesskit_node().labelled_by().next();
        labelled.is_some_and(|label| label.value().as_deref() == Some(name))
    };
    screen
        .get_all_by_role(Role::SpinButton)
        .find(by_name)
        .unwrap()
        .click();
    screen.run_steps(2);
    screen.event(egui::Event::Text(text.to_owned()));
    screen.run_steps(1);
    press(screen, Key::Enter);
    screen.run_steps(1);
}

#[test]
fn run_with_typed_changes_repeats_from_log_identically() {
    let folder = folder("repeated");
    let mut screen = on_disk(&["training.sequences=160"]);
    press(&mut screen, Key::T);
    click(&mut screen, "Change settings");
    for (name, text) in [
        ("Learning rate", "3e-3"),
        ("Batch", "5"),
        ("Largest length", "3"),
        ("Smallest length", "2"),
        ("Clipping", "0.75"),
    ] {
        type_over(&mut screen, name, text);
    }
    type_over(&mut screen, "Batch", "0");
    assert!(says(&screen, "training.batch"));
    let run = state(&screen).run();
    let set = |change: &tapescope::train::Change| change.set[0].clone();
    let changes: Vec<_> = run
        .progress
        .as_ref()
        .unwrap()
        .changes
        .iter()
        .map(set)
        .collect();
    let expected = [
        "training.optimizer.learning_rate=3e-3",
        "training.batch=5",
        "task.length=[1,3]",
        "task.length=[2,3]",
        "training.clip.limit=7.5e-1",
    ];
    assert_eq!(changes, expected);
    press(&mut screen, Key::T);
    screen.run_steps(60);
    assert!(!state(&screen).run().is_active());
    act(&mut screen, Learn::Save(folder.clone(), false));
    let again = folder.with_file_name("learn-repeated-again");
    let _ = std::fs::remove_dir_all(&again);
    let repeated = std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(["train", "--snapshots", "--repeat"])
        .args([&folder, Path::new("--out"), &again])
        .output()
        .unwrap();
    assert!(repeated.status.success(), "{repeated:?}");
    let last = |folder: &Path| {
        let (_, snapshots) = RunFolder::snapshots_at(folder).unwrap().unwrap();
        snapshots.all().last().unwrap().machine.clone()
    };
    assert_eq!(last(&again), last(&folder));
    assert_eq!(last(&again), state(&screen).run().machine);
}

#[test]
fn reopened_run_keeps_findings_and_legend() {
    let folder = folder("reopened");
    let mut screen = on_disk(&["training.validation_every=10"]);
    let set = vec!["training.optimizer.learning_rate=3e38".to_owned()];
    act(&mut screen, Learn::Change(set));
    screen.run_steps(30);
    let found = state(&screen).findings().to_vec();
    assert!(!found.is_empty());
    act(&mut screen, Learn::Save(folder.clone(), false));
    drop(screen);
    let mut screen = window_with(LARGE, options(Arc::new(Disk)));
    open(&mut screen, &folder.display().to_string());
    screen.run_steps(3);
    assert_eq!(state(&screen).findings(), found);
    let path = folder.join("curves.svg");
    act(&mut screen, File::Save(path.clone(), false));
    let svg = std::fs::read_to_string(path).unwrap();
    for name in [">mean<", ">validation<"] {
        assert!(svg.contains(name), "{name}");
    }
}

/// Files that are taken, and the runs that are written.
#[derive(Default)]
struct Taken {
    runs: Mutex<Vec<(PathBuf, bool)>>,
}

impl Files for Taken {
    fn exists(&self, path: &Path) -> bool {
        let written = self.runs.lock().unwrap();
        let is_it = |(other, _): &(PathBuf, bool)| other == path;
        path == Path::new("runs/copy-1") || written.iter().any(is_it)
    }

    fn save_run(
        &self,
        folder: &Path,
        _: &Experiment,
        _: &tapescope::learn::RunState,
        replaces: bool,
    ) -> Result<String, String> {
        self.runs
            .lock()
            .unwrap()
            .push((folder.to_owned(), replaces));
        Ok(format!("Run saved in {}.", folder.display()))
    }
}

/// A window that trains the copy task from these seeds, where `runs/copy-1` is taken.
fn with_taken(seeds: std::ops::RangeInclusive<u64>) -> (Screen, Arc<Taken>) {
    let files = Arc::<Taken>::default();
    let mut screen = window_with(LARGE, options(files.clone()));
    let of = |seed: u64| (None, experiment(&[&format!("training.seed={seed}")]));
    act(&mut screen, Replacement::Begin(seeds.map(of).collect()));
    screen.run_steps(5);
    (screen, files)
}

fn dialog_text(screen: &Screen) -> String {
    screen.state().dialog.as_ref().unwrap().text.clone()
}

#[test]
fn saving_offers_a_free_name_and_replaces_only_by_its_own_button() {
    let (mut screen, files) = with_taken(1..=1);
    let runs = || files.runs.lock().unwrap().clone();
    let ask = DialogCommand::For(Subject::File(FilePurpose::Run));
    act(&mut screen, ask.clone());
    assert_eq!(dialog_text(&screen), "runs/copy-1-2");
    press(&mut screen, Key::Enter);
    screen.run_steps(3);
    assert_eq!(runs(), [("runs/copy-1-2".into(), false)]);
    act(&mut screen, ask);
    assert_eq!(dialog_text(&screen), "runs/copy-1-3");
    // A typed name that is taken gives way to a free one; Enter saves under that.
    act(&mut screen, DialogCommand::Typed("runs/copy-1".into()));
    press(&mut screen, Key::Enter);
    screen.run_steps(3);
    assert!(says(&screen, "runs/copy-1 already exists."));
    assert_eq!(dialog_text(&screen), "runs/copy-1-3");
    press(&mut screen, Key::Enter);
    screen.run_steps(3);
    assert_eq!(runs()[1..], [("runs/copy-1-3".into(), false)]);
    act(&mut screen, Learn::Save("runs/copy-1".into(), false));
    click(&mut screen, "Replace folder");
    assert_eq!(runs()[2..], [("runs/copy-1".into(), true)]);
}

#[test]
fn ending_training_offers_a_free_name() {
    let (mut screen, _) = with_taken(1..=1);
    changed(&mut screen);
    act(&mut screen, Replacement::Close);
    assert_eq!(dialog_text(&screen), "runs/copy-1-2");
}

#[test]
fn saving_one_of_several_runs_names_it_and_offers_all() {
    let (mut screen, files) = with_taken(1..=3);
    act(&mut screen, Learn::Run(1));
    act(&mut screen, Subject::File(FilePurpose::Run));
    assert!(says(
        &screen,
        "Of the 3 runs this saves the one on screen, seed 2."
    ));
    click(&mut screen, "Save all 3 runs");
    screen.run_steps(3);
    let saved = files.runs.lock().unwrap().clone();
    let names = ["runs/copy-1-2", "runs/copy-2", "runs/copy-3"];
    assert_eq!(saved, names.map(|name| (PathBuf::from(name), false)));
    assert!(
        state(&screen)
            .runs
            .iter()
            .all(|run| run.saved.sequences > 0)
    );
}

#[test]
fn closing_can_save_all_runs_first() {
    let (mut screen, files) = with_taken(1..=2);
    press(&mut screen, Key::T);
    for place in 0..2 {
        let mut news = trained_for(&screen, 9.0);
        news = RunUpdates::new(vec![(place, news.0[0].1.clone())]);
        screen.state_mut().held = true;
        act(&mut screen, Learn::Updates(news));
        screen.state_mut().held = false;
    }
    act(&mut screen, Replacement::Close);
    click(&mut screen, "Save all 2 runs");
    screen.run_steps(2);
    assert_eq!(files.runs.lock().unwrap().len(), 2);
    assert!(told_the_system(&screen, &ViewportCommand::Close));
}

#[test]
fn saving_all_says_where_no_run_has_usable_weights() {
    let (mut screen, files) = with_taken(1..=2);
    let news = state(&screen).runs.iter().enumerate().map(|(place, _)| {
        let mut update = trained_for(&screen, 9.0).0[0].1.clone();
        let mut progress = update.progress.as_ref().clone();
        let words = "The weights are no numbers.".to_owned();
        progress.history.clear();
        progress.end = Some(End::Broken {
            words,
            is_whole: false,
        });
        update.progress = Arc::new(progress);
        (place, update)
    });
    let news = RunUpdates::new(news.collect());
    screen.state_mut().held = true;
    act(&mut screen, Learn::Updates(news));
    screen.state_mut().held = false;
    act(&mut screen, Learn::SaveAll("runs/copy".into()));
    assert!(says(
        &screen,
        "Nothing was saved: no run has usable weights."
    ));
    assert!(files.runs.lock().unwrap().is_empty());
}

/// Writes figures only when it is let to.
struct Slow(Mutex<std::sync::mpsc::Receiver<Result<String, String>>>);

impl Files for Slow {
    fn exists(&self, _: &Path) -> bool {
        false
    }

    fn save_figure(&self, _: &Path, _: &[u8]) -> Result<String, String> {
        self.0.lock().unwrap().recv().unwrap()
    }
}

/// A window that writes a figure and is asked to close meanwhile; and what ends the figure.
fn closing_while_writing() -> (Screen, std::sync::mpsc::Sender<Result<String, String>>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let options = options(Arc::new(Slow(Mutex::new(receiver))));
    let mut screen = Harness::builder()
        .with_size(LARGE)
        .with_step_dt(0.05)
        .with_context_setup(tapescope::viewer::apply_theme)
        .build_ui_state(frame_ui, App::new(&egui::Context::default(), options));
    while screen.state().session.open.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
        screen.run_steps(1);
    }
    act(&mut screen, File::Save("slow.svg".into(), false));
    close(&mut screen);
    assert!(told_the_system(&screen, &ViewportCommand::CancelClose));
    screen.run_steps(2);
    assert!(says(
        &screen,
        "slow.svg: the window closes when the file is written"
    ));
    assert!(!told_the_system(&screen, &ViewportCommand::Close));
    (screen, sender)
}

/// True where such a window closes once the figure ends like this.
fn closes_after_writing(end: Result<String, String>) -> bool {
    let (mut screen, sender) = closing_while_writing();
    let fails = end.is_err();
    sender.send(end).unwrap();
    loop {
        screen.run_steps(1);
        let is_closed = told_the_system(&screen, &ViewportCommand::Close);
        if is_closed || (fails && says(&screen, "no room")) {
            return is_closed;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn closing_waits_for_a_file_being_written() {
    assert!(closes_after_writing(Ok("Saved.".to_owned())));
}

#[test]
fn training_that_begins_while_closing_waits_keeps_the_window_open() {
    let (mut screen, sender) = closing_while_writing();
    begin_training(&mut screen, experiment(&[]));
    let step_until = |screen: &mut Screen, is_done: &dyn Fn(&Screen) -> bool| {
        while !is_done(screen) {
            assert!(!told_the_system(screen, &ViewportCommand::Close));
            std::thread::sleep(std::time::Duration::from_millis(1));
            screen.run_steps(1);
        }
    };
    step_until(&mut screen, &|screen| screen.state().learning.is_some());
    changed(&mut screen);
    step_until(&mut screen, &|screen| screen.state().is_unsaved());
    sender.send(Ok("Saved.".to_owned())).unwrap();
    step_until(&mut screen, &|screen| says(screen, "Saved."));
    // It is not closed later either, when nothing is unsaved any more.
    act(&mut screen, Replacement::Nothing);
    click(&mut screen, "Stop without saving");
    screen.run_steps(3);
    assert!(screen.state().learning.is_none());
    assert!(!told_the_system(&screen, &ViewportCommand::Close));
}

#[test]
fn window_stays_open_where_a_file_cannot_be_written() {
    assert!(!closes_after_writing(Err("There is no room.".to_owned())));
}
