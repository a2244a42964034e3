//! A run that was trained elsewhere, looked back at.

use tapescope::io::Experiment;
use tapescope::learn::{Account, Run, Snapshots};
use tapescope::train::State;
use tapescope::viewer::command::Learn;
use tapescope::viewer::{Arrangement, Kept};

use super::*;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"memory": {"rows": 8, "columns": 4}, "controller": {"size": 8}},
    "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

/// A folder of a run with snapshots.
#[derive(Debug)]
struct Folder;

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
            Vec::new(),
            account.snapshots.clone(),
        ),
        resume: None,
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
    assert!(!learning(&harness).expects_news());
    assert_eq!(
        on_screen(&harness),
        *snapshots.all().last().unwrap().machine
    );
}
