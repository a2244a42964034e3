//! A run that was trained elsewhere, looked back at.

use tapescope::io::Experiment;
use tapescope::learn::{Run, RunProgress, Snapshots};
use tapescope::train::{Change, State};
use tapescope::viewer::command::Learn;
use tapescope::viewer::{LoadedRun, WindowLayout};

use super::*;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"memory": {"rows": 8, "columns": 4}, "controller": {"size": 8}},
    "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

/// A folder of a run with snapshots.
#[derive(Debug)]
struct Folder;

/// A run, and what was changed in it.
fn kept() -> LoadedRun {
    let experiment = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let state = State::new(experiment.model.clone(), &experiment.training);
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let mut run = Run::new(task, training, state, 1, Snapshots::default());
    while run.is_active() {
        run.advance();
    }
    let progress = run.progress();
    LoadedRun {
        name: "tiny-1".to_owned(),
        experiment,
        progress: RunProgress::of_file(
            60,
            progress.history.clone(),
            (vec![longer()], 30),
            progress.snapshots.clone(),
        ),
        is_finished: true,
    }
}

/// Sequences twice as long as before, from the thirtieth on.
fn longer() -> Change {
    Change {
        sequences: 30,
        set: vec!["task.length=[1,6]".to_owned()],
    }
}

impl Files for Folder {
    fn open(&self, _: &Path, _: ProgressCallback<'_>) -> Result<OpenedFile, String> {
        Ok(OpenedFile::Run(Box::new(kept())))
    }
}

#[test]
fn loaded_run_shows_snapshots_without_training() {
    let mut harness = paused_with(Arc::new(Folder));
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert_eq!(harness.state().layout(), WindowLayout::Train);
    let learning = |harness: &Screen| harness.state().learning.clone().unwrap();
    let snapshots = kept().progress.snapshots;
    assert_eq!(learning(&harness).snapshots().len(), snapshots.all().len());
    // What it is measured by is that of the task it came to.
    let guessing = |harness: &Screen| learning(harness).run().landmarks[0].0;
    assert!(
        (guessing(&harness) - 7.0).abs() < 1.5,
        "{}",
        guessing(&harness)
    );
    let on_screen = |harness: &Screen| {
        let machine = shown(harness).machine.as_ref().unwrap();
        machine.ntm.clone()
    };
    for index in [0, 3, snapshots.all().len() - 1] {
        act(&mut harness, Learn::Snapshot(Some(index)));
        harness.run_steps(3);
        assert_eq!(on_screen(&harness), *snapshots.all()[index].machine);
    }
    press(&mut harness, Key::T);
    harness.run_steps(3);
    assert!(says(&harness, "This run is finished"));
    for refused in [
        Learn::Change(vec!["training.batch=2".into()]),
        Learn::Save("runs/other".into(), true),
    ] {
        act(&mut harness, refused);
        harness.run_steps(2);
        assert!(!learning(&harness).expects_news());
    }
    assert!(!learning(&harness).is_unsaved());
    assert!(!learning(&harness).expects_news());
    assert_eq!(
        on_screen(&harness),
        *snapshots.all().last().unwrap().machine
    );
}

#[test]
fn loaded_run_opens_from_start_page() {
    let mut harness = paused_with(Arc::new(Folder));
    press(&mut harness, Key::W);
    assert!(harness.state().welcome.shown);
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert!(!harness.state().welcome.shown);
    let machine = shown(&harness).machine.clone().unwrap();
    let last = kept()
        .progress
        .snapshots
        .all()
        .last()
        .unwrap()
        .machine
        .clone();
    assert_eq!(machine.name, "runs/tiny-1");
    assert_eq!(harness.state().learning.as_ref().unwrap().shown(), &last);
}

#[test]
fn runs_with_same_name_are_kept_apart() {
    let mut own = machine("tiny-1", 3);
    own.title = "Shipped".to_owned();
    let mut harness = paused_in(Options {
        machines: vec![own.clone()],
        ..options(Arc::new(Folder))
    });
    for folder in ["a/tiny-1", "b/tiny-1", "a/tiny-1"] {
        open(&mut harness, folder);
        harness.run_steps(3);
    }
    let machines = &harness.state().session.machines;
    let names: Vec<_> = machines.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["tiny-1", "a/tiny-1", "b/tiny-1"]);
    assert_eq!(*machines[0], own);
}

#[test]
fn training_updates_behind_start_page() {
    let mut harness = paused();
    press(&mut harness, Key::T);
    harness.run_steps(5);
    press(&mut harness, Key::W);
    harness.run_steps(5);
    assert!(harness.state().welcome.shown);
    act(&mut harness, Learn::Toggle);
    harness.run_steps(3);
    press(&mut harness, Key::W);
    harness.run_steps(3);
    assert!(!harness.state().welcome.shown);
    let on_screen = shown(&harness).machine.as_ref().unwrap().ntm.clone();
    assert_eq!(
        on_screen,
        *harness.state().learning.as_ref().unwrap().run().machine
    );
}

#[test]
fn loaded_run_replaces_training_only_after_confirmation() {
    let mut harness = paused_with(Arc::new(Folder));
    press(&mut harness, Key::T);
    harness.run_steps(5);
    let set = vec!["training.batch=2".to_owned()];
    act(&mut harness, Learn::Change(set));
    harness.run_steps(3);
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert!(says(&harness, "Training is not saved"));
    let learning = |harness: &Screen| harness.state().learning.clone().unwrap();
    assert!(learning(&harness).is_training && learning(&harness).read_only.is_none());
    click(&mut harness, "Open without saving");
    harness.run_steps(3);
    assert!(learning(&harness).read_only.is_some());
}
