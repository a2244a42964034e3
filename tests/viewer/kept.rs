//! A run that was trained elsewhere, looked back at.

use tapescope::io::Experiment;
use tapescope::learn::{Account, Run, Snapshots};
use tapescope::train::{Change, State};
use tapescope::viewer::command::Learn;
use tapescope::viewer::{Arrangement, Kept};

use super::*;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"memory": {"rows": 8, "columns": 4}, "controller": {"size": 8}},
    "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

/// A folder of a run with snapshots.
#[derive(Debug)]
struct Folder;

/// A run, and what was changed in it.
fn kept() -> Kept {
    let experiment = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let state = State::new(experiment.model.clone(), &experiment.training);
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let mut run = Run::new(task, training, state, 1, Snapshots::LIMIT);
    while run.goes_on() {
        run.advance();
    }
    let account = run.account();
    Kept {
        name: "tiny-1".to_owned(),
        experiment,
        account: Account::of_file(
            60,
            account.history.clone(),
            (vec![longer()], 30),
            account.snapshots.clone(),
        ),
        resume: None,
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
    fn open(&self, _: &Path) -> Result<Opened, String> {
        Ok(Opened::Run(Box::new(kept())))
    }
}

#[test]
fn its_life_is_looked_through_moment_by_moment_and_nothing_trains() {
    let mut harness = paused_with(Arc::new(Folder));
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert_eq!(harness.state().arrangement(), Arrangement::Train);
    let learning = |harness: &Screen| harness.state().learning.clone().unwrap();
    let snapshots = kept().account.snapshots;
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
        act(&mut harness, Learn::Moment(Some(index)));
        harness.run_steps(3);
        assert_eq!(on_screen(&harness), *snapshots.all()[index].machine);
    }
    press(&mut harness, Key::T);
    harness.run_steps(3);
    assert!(says(&harness, "This run is finished"));
    for refused in [
        Learn::Change(vec!["training.batch=2".to_owned()]),
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
fn it_comes_on_screen_from_the_start_page_too() {
    let mut harness = paused_with(Arc::new(Folder));
    press(&mut harness, Key::W);
    assert!(harness.state().welcome.shown);
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert!(!harness.state().welcome.shown);
    let machine = shown(&harness).machine.clone().unwrap();
    let last = kept()
        .account
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
fn runs_of_the_same_name_stand_beside_each_other_and_beside_a_shipped_machine() {
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
fn what_learns_behind_the_start_page_is_as_new_as_ever_when_that_is_left() {
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
fn it_takes_the_place_of_what_learns_only_where_that_is_said() {
    let mut harness = paused_with(Arc::new(Folder));
    press(&mut harness, Key::T);
    harness.run_steps(5);
    let set = vec!["training.batch=2".to_owned()];
    act(&mut harness, Learn::Change(set));
    harness.run_steps(3);
    open(&mut harness, "runs/tiny-1");
    harness.run_steps(3);
    assert!(says(&harness, "What was learned is not saved"));
    let learning = |harness: &Screen| harness.state().learning.clone().unwrap();
    assert!(learning(&harness).goes && learning(&harness).kept.is_none());
    click(&mut harness, "Open it without saving");
    harness.run_steps(3);
    assert!(learning(&harness).kept.is_some());
}
