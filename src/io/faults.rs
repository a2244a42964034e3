//! Writers that are stopped: before and behind each change of the disk, by a kill or by an error of the system.
#![cfg(test)]

use std::cell::Cell;
use std::io;

/// How a writer is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Never: the points are counted.
    Never,
    /// The process ends: nothing behind the point reaches the disk.
    Killed,
    /// The system reports an error, as of a full disk, once.
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    stop: Stop,
    /// The point at which it stops.
    at: usize,
    /// How many points there were.
    passed: usize,
    without_locks: bool,
}

const NONE: Plan = Plan {
    stop: Stop::Never,
    at: 0,
    passed: 0,
    without_locks: false,
};

thread_local!(static PLAN: Cell<Plan> = const { Cell::new(NONE) });

/// A change of the disk, with a point before and one behind it.
pub(super) fn change<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    point()?;
    let done = act()?;
    point()?;
    Ok(done)
}

fn point() -> io::Result<()> {
    let mut plan = PLAN.get();
    let (at, passed) = (plan.at, plan.passed);
    plan.passed += 1;
    PLAN.set(plan);
    match plan.stop {
        Stop::Killed if passed >= at => Err(io::Error::other("killed")),
        Stop::Failed if passed == at => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}

pub(super) fn is_killed() -> bool {
    PLAN.get().stop == Stop::Killed
}

pub(super) fn without_locks() -> bool {
    PLAN.get().without_locks
}

/// Runs a writer that is stopped at a point; how many points it passed.
fn stopped<T>(plan: Plan, writer: impl FnOnce() -> T) -> (T, usize) {
    PLAN.set(plan);
    let done = writer();
    let passed = PLAN.replace(NONE).passed;
    (done, passed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{NONE, PLAN, Plan, Stop, stopped};
    use crate::io::lock::Lock;
    use crate::io::sweep::{self, Failure, write_plan};
    use crate::io::{
        Error, Experiment, RunFolder, Trained, checkpoint, file, log, picture, snapshots, trace,
        weights,
    };
    use crate::learn::{self, Snapshots};
    use crate::model::Model;
    use crate::train::{Recording, State, Trainer};

    const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
        "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
        "training": {"sequences": 20, "validation_every": 10, "validation_episodes": 2}}"#;

    fn tiny(seed: u64) -> Experiment {
        let set = format!("training.seed={seed}").parse().unwrap();
        Experiment::from_json(TINY, "tiny.json", &[set]).unwrap()
    }

    /// A folder in memory where there is one: thousands of writes wait for the disk else.
    fn place() -> tempfile::TempDir {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        }
    }

    /// The names in a folder, without those of temporary files.
    fn names(folder: &Path) -> Vec<String> {
        let mut names = file::contents(folder).unwrap();
        names.retain(|name| !name.starts_with(".tapescope-") || folder.join(name).is_dir());
        names
    }

    /// Stops a writer at every point, which `inspect` sees the folder after, and lets the same writer succeed behind that.
    /// The folder begins as `prepare` makes it. Returns at how many points it was stopped, in all ways.
    fn stop_everywhere(
        prepare: impl Fn(&Path),
        writer: impl Fn(&Path) -> Result<(), Error>,
        inspect: impl Fn(&Path, Plan),
        at_the_end: impl Fn(&Path),
    ) -> usize {
        let mut all = 0;
        for stop in [Stop::Killed, Stop::Failed] {
            let plan = Plan { stop, ..NONE };
            let begin = || {
                let place = place();
                let folder = place.path().join("run");
                prepare(&folder);
                (folder, place)
            };
            let (folder, _place) = begin();
            let count = Plan {
                stop: Stop::Never,
                ..plan
            };
            let (done, points) = stopped(count, || writer(&folder));
            done.unwrap();
            at_the_end(&folder);
            assert!(points > 0);
            for at in 0..points {
                all += 1;
                let (folder, _place) = begin();
                let plan = Plan { at, ..plan };
                let (done, _) = stopped(plan, || writer(&folder));
                // What only tidies up may fail without a word.
                let is_tidy = done.is_ok();
                assert!(
                    !is_tidy || plan.stop == Stop::Failed || at + 4 >= points,
                    "{at} of {points}"
                );
                inspect(&folder, plan);
                writer(&folder).unwrap();
                at_the_end(&folder);
            }
        }
        all
    }

    fn recording(seed: u64) -> (Model<f32>, Recording) {
        let experiment = tiny(seed);
        let machine = Model::new(experiment.model.clone(), seed);
        let episode = experiment.task.episode(seed, 0);
        let recording = Recording::of(&machine, &experiment.task, episode, None);
        (machine, recording)
    }

    fn write_trace(path: &Path, seed: u64) -> Result<(), Error> {
        let (machine, recording) = recording(seed);
        let source = trace::Source {
            config: &machine.config,
            sha256: None,
            full_memory: false,
            gradient: None,
        };
        trace::write(path, &recording, &source)
    }

    fn trained(seed: u64) -> Trained {
        Trained {
            experiment: tiny(seed),
            machine: Model::new(tiny(seed).model, seed),
            history: Vec::new(),
            evaluation: None,
            changes: Vec::new(),
            command: String::new(),
        }
    }

    fn begun(seed: u64) -> State {
        State::new(tiny(seed).model, &tiny(seed).training)
    }

    fn write_snapshots(path: &Path, seed: u64) -> Result<(), Error> {
        let tiny = tiny(seed);
        let trainer = Trainer::new(
            tiny.task.clone(),
            tiny.model.clone(),
            tiny.training.clone(),
            1,
        );
        let mut all = Snapshots::new(Snapshots::LIMIT);
        all.keep(&trainer, None, None);
        snapshots::write(path, &tiny, &all)
    }

    type Write = fn(&Path, u64) -> Result<(), Error>;

    /// Every file that is written as a whole.
    const FILES: [(&str, Write); 9] = [
        ("weights.safetensors", |path, seed| {
            weights::write(path, &trained(seed))
        }),
        ("checkpoint.safetensors", |path, seed| {
            checkpoint::write(path, &tiny(seed), &begun(seed))
        }),
        ("snapshots.safetensors", write_snapshots),
        ("preset.json", |path, seed| tiny(seed).write(path)),
        ("figure.svg", |path, seed| {
            picture::write(path, seed.to_string().as_bytes())
        }),
        ("t.ntmtrace.json", write_trace),
        ("t.ntmtrace.json.gz", write_trace),
        ("t.npz", write_trace),
        ("failure.json", |path, seed| {
            Failure::Failed(seed.to_string()).write(path.parent().unwrap())
        }),
    ];

    #[test]
    fn every_file_is_the_old_one_or_the_new_one_wherever_its_writer_stops() {
        let mut points = 0;
        for (name, write) in FILES {
            let reference = place();
            let whole = [1, 2].map(|seed| {
                let path = reference.path().join(name);
                write(&path, seed).unwrap();
                fs::read(path).unwrap()
            });
            for is_there in [false, true] {
                let prepare = |folder: &Path| {
                    fs::create_dir(folder).unwrap();
                    if is_there {
                        write(&folder.join(name), 1).unwrap();
                    }
                };
                points += stop_everywhere(
                    prepare,
                    |folder| write(&folder.join(name), 2),
                    |folder, plan| {
                        match fs::read(folder.join(name)) {
                            Ok(found) => assert!(
                                whole[usize::from(!is_there)..].contains(&found),
                                "{name}: {plan:?}"
                            ),
                            Err(_) => assert!(!is_there, "{name}: {plan:?}"),
                        }
                        assert!(names(folder).iter().all(|found| found == name));
                    },
                    |folder| {
                        assert!(fs::read(folder.join(name)).unwrap() == whole[1], "{name}");
                        assert_eq!(names(folder), [name]);
                    },
                );
            }
        }
        counted("file", points, FILE_POINTS);
    }

    #[test]
    fn a_sweep_that_stops_can_be_begun_again() {
        let runs = || BTreeSet::from(["seed=1".to_owned(), "seed=2".to_owned()]);
        let mut points = stop_everywhere(
            |_| {},
            |folder| write_plan(folder, runs()),
            |folder, _| {
                for name in names(folder) {
                    assert!(name.starts_with("plan-"), "{name}");
                }
            },
            |folder| {
                let found = sweep::find(&[folder.to_owned()]).unwrap();
                assert_eq!((found.planned.len(), found.damaged.len()), (2, 0));
            },
        );
        points += stop_everywhere(
            |folder| {
                fs::create_dir(folder).unwrap();
                Failure::Failed("x".into()).write(folder).unwrap();
                fs::write(folder.join("error.txt"), "x").unwrap();
            },
            Failure::forget,
            |_, _| {},
            |folder| assert_eq!(names(folder), [""; 0]),
        );
        points += stop_everywhere(
            |folder| fs::create_dir(folder).unwrap(),
            |folder| Lock::take(&folder.join("run.lock"), "x").map(drop),
            |folder, _| {
                for name in names(folder) {
                    assert!(Lock::is_ours(&folder.join(name)));
                }
            },
            |folder| assert_eq!(names(folder), [""; 0]),
        );
        counted("sweep", points, SWEEP_POINTS);
    }

    /// What a run is at a moment at which something of it is written.
    struct Moment {
        state: State,
        snapshots: Snapshots,
        is_changed: bool,
        is_validated: bool,
    }

    /// A run, trained once: its moments.
    struct Course {
        experiment: Experiment,
        start: Trained,
        moments: Vec<Moment>,
    }

    impl Course {
        fn new(seed: u64) -> Self {
            let (experiment, start) = (tiny(seed), trained(seed));
            let mut state = begun(seed);
            state.machine = start.machine.clone();
            let (task, training) = (experiment.task.clone(), experiment.training.clone());
            let mut trainer = Trainer::resume(task, training, state, 1);
            let mut snapshots = Snapshots::new(Snapshots::LIMIT);
            snapshots.keep(&trainer, None, None);
            let mut moments = Vec::new();
            let mut keep = |trainer: &Trainer, snapshots: &Snapshots, is_changed, is_validated| {
                moments.push(Moment {
                    state: trainer.state.clone(),
                    snapshots: snapshots.clone(),
                    is_changed,
                    is_validated,
                });
            };
            keep(&trainer, &snapshots, false, false);
            while !trainer.finished() {
                let update = trainer.update().unwrap();
                snapshots.keep(&trainer, update.validated, None);
                let done = trainer.state.sequences;
                if update.validated.is_some() || [5, 16].contains(&done) {
                    keep(&trainer, &snapshots, false, update.validated.is_some());
                }
                if done == 13 {
                    let set = vec!["task.length=[2,3]".to_owned()];
                    let now = experiment.changed(&[set[0].parse().unwrap()]).unwrap();
                    learn::change(&mut trainer, now.task, now.training, set);
                    keep(&trainer, &snapshots, true, false);
                }
            }
            Self {
                experiment,
                start,
                moments,
            }
        }

        /// Writes the run to its end, as `train` does: from its beginning, or where there is one from its checkpoint.
        fn live(&self, folder: &Path, replace: bool) -> Result<(), Error> {
            let there = RunFolder::contents(&RunFolder::unfinished(folder))?;
            let is_begun = there.is_some_and(|there| there.log.experiment == self.experiment);
            let (mut run, at) = if is_begun {
                let Some(resumed) = RunFolder::resume(folder, "resumed")? else {
                    return Ok(());
                };
                let bytes = |state: &State| checkpoint::to_bytes(&self.experiment, state);
                let found = bytes(&resumed.state);
                let mut moments = self.moments.iter();
                let at = moments.rposition(|moment| bytes(&moment.state) == found);
                let at = at.expect("a state of the run");
                if let Some(kept) = resumed.snapshots {
                    assert_eq!(told(&kept), told(&self.moments[at].snapshots));
                }
                (resumed.folder, at)
            } else {
                let (state, start) = (&self.moments[0].state, Some(&self.start));
                let begin = RunFolder::create_from;
                (
                    begin(folder, &self.experiment, "begun", state, start, replace)?,
                    0,
                )
            };
            run.keep_snapshots(&self.moments[at].snapshots)?;
            for moment in &self.moments[at + 1..] {
                let (state, snapshots) = (&moment.state, &moment.snapshots);
                if moment.is_changed {
                    run.changed(state, Some(snapshots))?;
                    continue;
                }
                run.keep_snapshots(snapshots)?;
                if moment.is_validated {
                    run.validated(state)?;
                } else {
                    run.checkpoint(state)?;
                }
            }
            run.finish()
        }

        /// A folder in which nothing stopped it.
        fn whole(&self, place: &Path) -> PathBuf {
            let folder = place.join(self.experiment.training.seed.to_string());
            self.live(&folder, false).unwrap();
            folder
        }
    }

    fn told(snapshots: &Snapshots) -> String {
        let of =
            |one: &learn::Snapshot| (one.sequences, one.is_best, weights::sha256(&one.machine));
        format!("{:?}", snapshots.all().iter().map(of).collect::<Vec<_>>())
    }

    /// All that a finished run left.
    fn end(folder: &Path) -> (log::Log, Trained, String, Vec<String>) {
        let log = log::read(&folder.join("history.ntmlog.jsonl")).unwrap();
        let trained = weights::read(&folder.join("weights.safetensors")).unwrap();
        let (_, snapshots) = RunFolder::snapshots_at(folder).unwrap().unwrap();
        (log, trained, told(&snapshots), names(folder))
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for name in names(from) {
            fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }

    #[test]
    fn a_run_that_stops_anywhere_goes_on_or_begins_again_and_ends_in_the_same_bits() {
        let reference = place();
        let course = Course::new(1);
        let wanted = end(&course.whole(reference.path()));
        assert_eq!(wanted.1.changes.len(), 1);
        let points = stop_everywhere(
            |_| {},
            |folder| course.live(folder, false),
            |folder, plan| {
                let contents = RunFolder::contents(folder);
                let begun = contents.unwrap_or_else(|error| panic!("{plan:?}: {error}"));
                let has_weights = RunFolder::is_taken(folder);
                if let Some(begun) = begun {
                    // What the log tells of is there.
                    assert!(begun.log.points.is_empty() || has_weights, "{plan:?}");
                }
            },
            |folder| assert!(end(folder) == wanted, "{:?}", end(folder).3),
        );
        counted("run", points, RUN_POINTS);
    }

    #[test]
    fn a_run_is_whole_until_the_one_that_replaces_it_has_weights() {
        let reference = place();
        let courses = [1, 2].map(Course::new);
        let [old, new] = [0, 1].map(|index| courses[index].whole(reference.path()));
        let [was, wanted] = [&old, &new].map(|folder| end(folder));
        let points = stop_everywhere(
            |folder| copy(&old, folder),
            |folder| courses[1].live(folder, true),
            |folder, plan| {
                let begun = RunFolder::contents(folder);
                let begun = begun.unwrap_or_else(|error| panic!("{plan:?}: {error}"));
                let begun = begun.unwrap();
                let path = RunFolder::weights_at(folder).unwrap();
                let there = weights::read(&path).unwrap();
                let (kept, _) = RunFolder::snapshots_at(folder).unwrap().unwrap();
                assert_eq!(there.experiment, begun.log.experiment, "{plan:?}");
                assert_eq!(kept, begun.log.experiment, "{plan:?}");
                let start = RunFolder::part(folder, RunFolder::START);
                assert_eq!(weights::read(&start).unwrap().experiment, kept);
                let preset = RunFolder::part(folder, RunFolder::PRESET);
                assert_eq!(Experiment::read(&preset, &[]).unwrap(), kept);
                if kept == tiny(1) {
                    assert!(begun.is_finished, "{plan:?}");
                    assert_eq!(there.machine, was.1.machine, "{plan:?}");
                } else {
                    assert!(there.evaluation.is_some(), "{plan:?}");
                }
            },
            |folder| assert!(end(folder) == wanted, "{:?}", end(folder).3),
        );
        counted("replace", points, REPLACE_POINTS);
    }

    #[test]
    fn an_error_at_a_replacement_says_that_the_earlier_run_is_unchanged() {
        let place = place();
        let folder = Course::new(1).whole(place.path());
        let plan = Plan {
            stop: Stop::Failed,
            at: 20,
            ..NONE
        };
        let (done, _) = stopped(plan, || Course::new(2).live(&folder, true));
        let said = done.unwrap_err().to_string();
        let label = file::label(&folder);
        let end = format!("; the earlier run in {label} is unchanged");
        assert!(said.ends_with(&end), "{said}");
    }

    #[test]
    fn a_file_system_without_locks_is_told_apart() {
        let place = place();
        let folder = place.path().join("run");
        let create = || RunFolder::create(&folder, &tiny(1), "begun", true).unwrap();
        assert!(create().is_exclusive());
        PLAN.set(Plan {
            without_locks: true,
            ..NONE
        });
        assert!(!create().is_exclusive());
        PLAN.set(NONE);
    }

    /// Prints the number of stop points, and checks that there are at least `least`.
    fn counted(what: &str, points: usize, least: usize) {
        println!("{what}: stopped at {points} points");
        assert!(points >= least, "{points} points; expected {least} or more");
    }

    /// How many points there are, so that a writer that goes around them is noticed.
    const FILE_POINTS: usize = 360;
    const SWEEP_POINTS: usize = 56;
    const RUN_POINTS: usize = 356;
    const REPLACE_POINTS: usize = 432;
}
