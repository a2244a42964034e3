//! Writers that are stopped: before and behind each change of the disk, by a kill or by an error of the system.
#![cfg(test)]

use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};

/// The way in which a writer is stopped.
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
    /// The number of points passed.
    passed: usize,
    without_locks: bool,
    without_file_numbers: bool,
}

const NONE: Plan = Plan {
    stop: Stop::Never,
    at: 0,
    passed: 0,
    without_locks: false,
    without_file_numbers: false,
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

thread_local!(static READ: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) });

/// Remembers that a file is read.
pub(super) fn note_read(path: &Path) {
    READ.with_borrow_mut(|read| read.push(path.to_owned()));
}

/// Returns the files that this thread has read since the last call, in order.
pub(crate) fn take_reads() -> Vec<PathBuf> {
    READ.take()
}

pub(super) fn without_locks() -> bool {
    PLAN.get().without_locks
}

pub(super) fn without_file_numbers() -> bool {
    PLAN.get().without_file_numbers
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

    use super::{NONE, PLAN, Plan, READ, Stop, stopped};
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
    fn temp_folder() -> tempfile::TempDir {
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
    /// The folder begins as `prepare` makes it. Returns at how many points it was stopped, in all ways. At `swallowed` points at
    /// most an error may be passed over: what only tidies up.
    fn stop_everywhere(
        prepare: impl Fn(&Path),
        writer: impl Fn(&Path) -> Result<(), Error>,
        inspect: impl Fn(&Path, Plan),
        at_the_end: impl Fn(&Path),
        swallowed: usize,
    ) -> usize {
        let mut all = 0;
        for stop in [Stop::Killed, Stop::Failed] {
            let plan = Plan { stop, ..NONE };
            let begin = || {
                let temp_folder = temp_folder();
                let folder = temp_folder.path().join("run");
                prepare(&folder);
                (folder, temp_folder)
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
            let mut passed_over = Vec::new();
            for at in 0..points {
                all += 1;
                let (folder, _place) = begin();
                let plan = Plan { at, ..plan };
                let (done, _) = stopped(plan, || writer(&folder));
                passed_over.extend(done.is_ok().then_some(at));
                inspect(&folder, plan);
                writer(&folder).unwrap();
                at_the_end(&folder);
            }
            let count = passed_over.len();
            println!("{stop:?}: an error is passed over at {count} points");
            assert!(
                count <= swallowed,
                "{stop:?}: no error at {passed_over:?} of {points}"
            );
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
    fn interrupted_write_leaves_the_old_or_the_new_file() {
        let mut points = 0;
        for (name, write) in FILES {
            let reference = temp_folder();
            let complete_run = [1, 2].map(|seed| {
                let path = reference.path().join(name);
                write(&path, seed).unwrap();
                fs::read(path).unwrap()
            });
            for is_there in [false, true] {
                let prepare = |folder: &Path| {
                    fs::create_dir(folder).unwrap();
                    if is_there {
                        write(&folder.join(name), 1).unwrap();
                        fs::write(folder.join(".tapescope-dead"), "half").unwrap();
                    }
                };
                points += stop_everywhere(
                    prepare,
                    |folder| write(&folder.join(name), 2),
                    |folder, plan| {
                        match fs::read(folder.join(name)) {
                            Ok(found) => assert!(
                                complete_run[usize::from(!is_there)..].contains(&found),
                                "{name}: {plan:?}"
                            ),
                            Err(_) => assert!(!is_there, "{name}: {plan:?}"),
                        }
                        assert!(names(folder).iter().all(|found| found == name));
                    },
                    |folder| {
                        assert!(
                            fs::read(folder.join(name)).unwrap() == complete_run[1],
                            "{name}"
                        );
                        assert_eq!(names(folder), [name]);
                    },
                    2,
                );
            }
        }
        counted("file", points, FILE_POINTS);
    }

    #[test]
    fn an_interrupted_sweep_can_be_restarted() {
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
                let found = sweep::find(&[folder.to_owned()], false).unwrap();
                assert_eq!((found.planned.len(), found.damaged.len()), (2, 0));
            },
            0,
        );
        points += stop_everywhere(
            |folder| {
                fs::create_dir(folder).unwrap();
                Failure::Failed("x".into()).write(folder).unwrap();
            },
            Failure::forget,
            |_, _| {},
            |folder| assert_eq!(names(folder), [""; 0]),
            0,
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
            4,
        );
        counted("sweep", points, SWEEP_POINTS);
    }

    /// The state of a run when one of its files is written.
    struct WriteStep {
        state: State,
        snapshots: Snapshots,
        is_changed: bool,
        is_validated: bool,
    }

    /// A run, trained once: the states at its writes.
    struct RecordedRun {
        experiment: Experiment,
        start: Trained,
        steps: Vec<WriteStep>,
    }

    impl RecordedRun {
        fn new(seed: u64) -> Self {
            let (experiment, start) = (tiny(seed), trained(seed));
            let mut state = begun(seed);
            state.machines[0] = start.machine.clone();
            let (task, training) = (experiment.task.clone(), experiment.training.clone());
            let mut trainer = Trainer::resume(task, training, state, 1);
            let mut snapshots = Snapshots::new(Snapshots::LIMIT);
            snapshots.keep(&trainer, None, None);
            let mut steps = Vec::new();
            let mut keep = |trainer: &Trainer, snapshots: &Snapshots, is_changed, is_validated| {
                steps.push(WriteStep {
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
                steps,
            }
        }

        /// Trains the run to its end like `train`: from the start, or from its checkpoint.
        fn write_run(&self, folder: &Path, replace: bool) -> Result<(), Error> {
            let there = RunFolder::contents(&RunFolder::unfinished(folder))?;
            let is_begun = there.is_some_and(|there| there.log.experiment == self.experiment);
            let (mut run, at) = if is_begun {
                let Some(resumed) = RunFolder::resume(folder, "resumed")? else {
                    return Ok(());
                };
                let bytes = |state: &State| checkpoint::to_bytes(&self.experiment, state);
                let found = bytes(&resumed.state);
                let mut steps = self.steps.iter();
                let at = steps.rposition(|step| bytes(&step.state) == found);
                let at = at.expect("a state of the run");
                if let Some(kept) = resumed.snapshots {
                    assert_eq!(description(&kept), description(&self.steps[at].snapshots));
                }
                (resumed.folder, at)
            } else {
                let (state, start) = (&self.steps[0].state, Some(&self.start));
                let begin = RunFolder::create_from;
                (
                    begin(folder, &self.experiment, "begun", state, start, replace)?,
                    0,
                )
            };
            run.keep_snapshots(&self.steps[at].snapshots)?;
            for step in &self.steps[at + 1..] {
                let (state, snapshots) = (&step.state, &step.snapshots);
                if step.is_changed {
                    run.changed(state, Some(snapshots))?;
                    continue;
                }
                run.keep_snapshots(snapshots)?;
                if step.is_validated {
                    run.validated(state)?;
                } else {
                    run.checkpoint(state)?;
                }
            }
            run.finish()
        }

        /// A folder in which nothing stopped it.
        fn complete_run(&self, temp_folder: &Path) -> PathBuf {
            let folder = temp_folder.join(self.experiment.training.seed.to_string());
            self.write_run(&folder, false).unwrap();
            folder
        }
    }

    fn description(snapshots: &Snapshots) -> String {
        let of =
            |one: &learn::Snapshot| (one.sequences, one.is_best, weights::sha256(&one.machine));
        format!("{:?}", snapshots.all().iter().map(of).collect::<Vec<_>>())
    }

    /// All that a finished run left.
    fn end(folder: &Path) -> (log::Log, Trained, String, Vec<String>) {
        let log = log::read(&folder.join("history.ntmlog.jsonl")).unwrap();
        let trained = weights::read(&folder.join("weights.safetensors")).unwrap();
        let (_, snapshots) = RunFolder::snapshots_at(folder).unwrap().unwrap();
        (log, trained, description(&snapshots), names(folder))
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for name in names(from) {
            fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }

    #[test]
    fn an_interrupted_run_resumes_or_restarts_to_identical_files() {
        let reference = temp_folder();
        let recorded = RecordedRun::new(1);
        let wanted = end(&recorded.complete_run(reference.path()));
        assert_eq!(wanted.1.changes.len(), 1);
        let points = stop_everywhere(
            |_| {},
            |folder| recorded.write_run(folder, false),
            |folder, plan| {
                let contents = RunFolder::contents(folder);
                let begun = contents.unwrap_or_else(|error| panic!("{plan:?}: {error}"));
                let has_weights = RunFolder::is_taken(folder);
                if let Some(begun) = begun {
                    assert!(begun.log.points.is_empty() || has_weights, "{plan:?}");
                }
            },
            |folder| assert!(end(folder) == wanted, "{:?}", end(folder).3),
            4,
        );
        counted("run", points, RUN_POINTS);
    }

    #[test]
    fn a_run_is_complete_until_its_replacement_has_weights() {
        let reference = temp_folder();
        let courses = [1, 2].map(RecordedRun::new);
        let [old, new] = [0, 1].map(|index| courses[index].complete_run(reference.path()));
        let [was, wanted] = [&old, &new].map(|folder| end(folder));
        let points = stop_everywhere(
            |folder| copy(&old, folder),
            |folder| courses[1].write_run(folder, true),
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
            6,
        );
        counted("replace", points, REPLACE_POINTS);
    }

    #[test]
    fn an_error_at_a_replacement_says_that_the_earlier_run_is_unchanged() {
        let temp_folder = temp_folder();
        let folder = RecordedRun::new(1).complete_run(temp_folder.path());
        let plan = Plan {
            stop: Stop::Failed,
            at: 20,
            ..NONE
        };
        let (done, _) = stopped(plan, || RecordedRun::new(2).write_run(&folder, true));
        let said = done.unwrap_err().to_string();
        let label = file::label(&folder);
        let end = format!("; the earlier run in {label} is unchanged");
        assert!(said.ends_with(&end), "{said}");
    }

    #[test]
    fn a_line_that_fails_leaves_nothing_in_its_file() {
        let place = temp_folder();
        let path = place.path().join("log");
        for at in 0..4 {
            fs::write(&path, "one\n").unwrap();
            let plan = Plan {
                stop: Stop::Failed,
                at,
                ..NONE
            };
            let (done, _) = stopped(plan, || file::append(&path, "two\n"));
            assert!(done.is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), "one\n", "{at}");
        }
        file::append(&path, "two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }

    /// Returns the number of times that files with these names are read.
    fn reads<T>(names: [&str; 3], reader: impl FnOnce() -> T) -> (T, [usize; 3]) {
        READ.take();
        let done = reader();
        let read = READ.take();
        let count = |name: &str| read.iter().filter(|path| path.ends_with(name)).count();
        (done, names.map(count))
    }

    #[test]
    fn run_files_are_read_once() {
        let temp_folder = temp_folder();
        let recorded = RecordedRun::new(1);
        let folder = temp_folder.path().join("run");
        let begin = RunFolder::create(&folder, &recorded.experiment, "begun", false);
        let mut run = begin.unwrap();
        let validated = recorded.steps.iter().find(|step| step.is_validated);
        let state = &validated.unwrap().state;
        run.checkpoint(state).unwrap();
        run.validated(state).unwrap();
        drop(run);
        let names = [
            "history.ntmlog.jsonl",
            "weights.safetensors",
            "checkpoint.safetensors",
        ];
        let (state, read) = reads(names, || sweep::folder_state(&folder, &recorded.experiment));
        assert_eq!(state.unwrap(), sweep::FolderState::Resumable);
        assert_eq!(read, [1; 3]);
        let (resumed, read) = reads(names, || RunFolder::resume(&folder, "resumed"));
        assert!(resumed.unwrap().is_some());
        assert_eq!(read, [1; 3]);
        let (replaced, read) = reads(names, || {
            RunFolder::create(&folder, &recorded.experiment, "again", true)
        });
        assert!(replaced.is_ok());
        assert_eq!(read, [1; 3]);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_system_without_stable_file_numbers_is_refused() {
        let folder = temp_folder();
        PLAN.set(Plan {
            without_file_numbers: true,
            ..NONE
        });
        let taken = Lock::take(&folder.path().join("run.lock"), "x");
        PLAN.set(NONE);
        let message = taken.unwrap_err().to_string();
        assert!(message.contains("has no stable file numbers"), "{message}");
    }

    #[test]
    fn a_file_system_without_locks_is_detected() {
        let temp_folder = temp_folder();
        let folder = temp_folder.path().join("run");
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
        // Elsewhere folders are not synchronised.
        let is_enough = !cfg!(unix) || points >= least;
        assert!(is_enough, "{points} points; expected {least} or more");
    }

    /// The number of points, so that a writer that bypasses them is noticed.
    const FILE_POINTS: usize = 396;
    const SWEEP_POINTS: usize = 48;
    const RUN_POINTS: usize = 356;
    const REPLACE_POINTS: usize = 432;
}
