//! Checkpoints of runs that train in a window, for the case that the program is killed.
//!
//! Each run has a run folder of its own in one recovery folder, and holds its lock until the run is saved or discarded,
//! which removes the folder. A folder that no process holds belongs to a program that ended before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use web_time::Instant;

use super::lock::Lock;
use super::run::{BETWEEN_CHECKPOINTS, CHECKPOINT_SHARE, LOCK, LOG};
use super::{Error, Experiment, RunFolder, RunStart, file};
use crate::learn::{Keeper, RunProgress, Snapshots};
use crate::train::State;

/// The command in the files of such a run.
const COMMAND: &str = "tapescope, in the window";
/// The largest number of runs in a recovery folder.
const MOST_RUNS: usize = 32;
/// The most bytes of the weights, and of the snapshots, that are written.
const MOST_BYTES: usize = 32 << 20;

/// The checkpoints of a run in training, shared with the thread that trains it.
#[derive(Clone, Debug)]
pub struct Recovery(Arc<Mutex<RunCheckpoints>>);

#[derive(Debug)]
struct RunCheckpoints {
    /// The recovery folder.
    root: PathBuf,
    experiment: Experiment,
    /// The folder of this run, once it is written.
    run: Option<RunFolder>,
    /// The time of the next checkpoint; `None` for none.
    due: Option<Instant>,
    /// The reason why there are no checkpoints.
    problem: Option<String>,
}

/// A run that was neither saved nor discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverableRun {
    /// The folder.
    pub folder: PathBuf,
    /// Its title, seed and progress, or why it cannot be read.
    pub label: String,
}

impl Recovery {
    /// Creates the checkpoints of a run that begins with this experiment; the first is due after ten seconds.
    pub fn new(root: &Path, experiment: &Experiment) -> Self {
        Self(Arc::new(Mutex::new(RunCheckpoints {
            root: root.to_owned(),
            experiment: experiment.clone(),
            run: None,
            due: Some(Instant::now() + BETWEEN_CHECKPOINTS),
            problem: None,
        })))
    }

    /// Locks a recoverable run, and reads the state from which it continues.
    ///
    /// # Errors
    /// Another process holds it, or it cannot be read.
    pub fn open(folder: &Path) -> Result<(Self, RunStart), Error> {
        let (run, _) = RunFolder::open(folder, COMMAND)?;
        let start = RunFolder::saved_state(folder)?;
        let recovery = Self::new(folder.parent().unwrap_or(folder), &start.begun);
        recovery.checkpoints().run = Some(run);
        Ok((recovery, start))
    }

    fn checkpoints(&self) -> MutexGuard<'_, RunCheckpoints> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason why there are no more checkpoints, once. Does not wait for one that is being written.
    pub fn problem(&self) -> Option<String> {
        self.0.try_lock().ok()?.problem.take()
    }

    /// Removes the checkpoints: the run is saved or discarded. With `ends` no others follow.
    pub fn discard(&self, ends: bool) {
        let mut checkpoints = self.checkpoints();
        checkpoints.due.take_if(|_| ends);
        if let Some(run) = checkpoints.run.take() {
            let folder = run.path().to_owned();
            // A run that cannot be removed is offered again.
            let _ = clear(&folder, run);
        }
    }
}

impl Keeper for Recovery {
    /// Writes a checkpoint of this run if one is due, or `now`. After an error there are no more.
    fn keep(&self, state: &State, progress: &RunProgress, now: bool) {
        let (mut checkpoints, begun) = (self.checkpoints(), Instant::now());
        if checkpoints.due.is_none_or(|due| begun < due && !now) {
            return;
        }
        checkpoints.due = match checkpoints.write(state, &progress.saved_snapshots()) {
            Ok(()) => {
                let rest = begun.elapsed() * CHECKPOINT_SHARE;
                Some(Instant::now() + BETWEEN_CHECKPOINTS.max(rest))
            }
            Err(error) => {
                checkpoints.problem = Some(error.to_string());
                None
            }
        };
    }
}

impl RunCheckpoints {
    fn write(&mut self, state: &State, snapshots: &Snapshots) -> Result<(), Error> {
        let values = state.machines[0].params.slices().map(<[f32]>::len);
        let bytes = size_of::<f32>() * values.sum::<usize>();
        if bytes > MOST_BYTES {
            let problem = "has no checkpoint of this run: its weights take more than 32 MiB";
            return Err(Error::about(&self.root, problem));
        }
        let run = match &mut self.run {
            Some(run) => run,
            None => self.run.insert(begin(&self.root, &self.experiment, state)?),
        };
        if snapshots.bytes() <= MOST_BYTES {
            run.keep_snapshots(snapshots)?;
        }
        run.checkpoint(state)
    }
}

/// Begins a run in a new folder.
fn begin(root: &Path, experiment: &Experiment, state: &State) -> Result<RunFolder, Error> {
    file::create_folder(root)?;
    if file::contents(root)?.len() >= MOST_RUNS {
        let problem = "has no checkpoint of this run: it holds 32 runs; recover or discard them at the next start";
        return Err(Error::about(root, problem));
    }
    let new = tempfile::Builder::new().prefix("run-").tempdir_in(root);
    let new = new.map_err(Error::unwritable(root))?;
    let run = RunFolder::create_from(new.path(), experiment, COMMAND, state, None, false)?;
    // Without an error it stays.
    let _ = new.keep();
    Ok(run)
}

/// Returns the runs in a recovery folder that no process holds, in the order of their labels.
pub fn recoverable(root: &Path) -> Vec<RecoverableRun> {
    let is_left = |folder: &PathBuf| {
        let is_run = file::exists(&folder.join(LOG));
        is_run && matches!(Lock::holder(&folder.join(LOCK)), Ok(None))
    };
    let label = |folder: &Path| match RunFolder::saved_state(folder) {
        Ok(RunStart { begun, state, .. }) => {
            let (title, done, of) = (&begun.title, state.sequences, &begun.training);
            let (seed, all) = (of.seed, of.sequences);
            format!("{title}, seed {seed}: {done} of {all} sequences")
        }
        Err(error) => error.to_string(),
    };
    let names = file::contents(root).unwrap_or_default().into_iter();
    let folders = names.map(|name| root.join(name)).filter(is_left);
    let runs = folders.map(|folder| (label(&folder), folder));
    let runs = runs.map(|(label, folder)| RecoverableRun { folder, label });
    let mut runs: Vec<_> = runs.collect();
    runs.sort_by(|a, b| a.label.cmp(&b.label));
    runs
}

/// Removes a recoverable run.
///
/// # Errors
/// Another process holds it, or a file cannot be removed.
pub fn discard(folder: &Path) -> Result<(), Error> {
    clear(folder, Lock::take(&folder.join(LOCK), COMMAND)?)
}

/// Removes the files of a folder, the log first, then releases its lock.
fn clear(folder: &Path, lock: impl Sized) -> Result<(), Error> {
    file::remove(&folder.join(LOG))?;
    let names = file::contents(folder)?.into_iter();
    let mut names = names.filter(|name| name != LOCK && !folder.join(name).is_dir());
    names.try_for_each(|name| file::remove(&folder.join(name)))?;
    drop(lock);
    file::remove_folder(folder);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> (Experiment, State, RunProgress) {
        let experiment = Experiment::included("copy", &[]).unwrap().unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        (experiment, state, RunProgress::default())
    }

    #[test]
    fn a_run_is_offered_until_it_is_held_or_discarded() {
        let root = tempfile::tempdir().unwrap();
        let (experiment, mut state, progress) = start();
        let recovery = Recovery::new(root.path(), &experiment);
        recovery.keep(&state, &progress, false);
        assert!(file::contents(root.path()).unwrap().is_empty(), "not due");
        recovery.keep(&state, &progress, true);
        state.sequences = 640;
        recovery.keep(&state, &progress, true);
        assert_eq!(recoverable(root.path()), [], "held");
        drop(recovery);
        let left = recoverable(root.path());
        let label = "Copy, seed 1: 640 of ";
        assert!(left[0].label.starts_with(label), "{left:?}");
        let (again, start) = Recovery::open(&left[0].folder).unwrap();
        assert_eq!((start.state.sequences, start.begun), (640, experiment));
        assert_eq!(recoverable(root.path()), []);
        let other = discard(&left[0].folder).unwrap_err().to_string();
        assert!(other.contains("is being written"), "{other}");
        again.discard(false);
        assert!(!left[0].folder.exists());
        again.keep(&state, &progress, true);
        drop(again);
        let left = recoverable(root.path());
        assert_eq!(left.len(), 1, "a saved run trains on");
        discard(&left[0].folder).unwrap();
        assert!(file::contents(root.path()).unwrap().is_empty());
    }

    #[test]
    fn an_ended_run_writes_no_more() {
        let root = tempfile::tempdir().unwrap();
        let (experiment, state, progress) = start();
        let recovery = Recovery::new(root.path(), &experiment);
        recovery.keep(&state, &progress, true);
        recovery.discard(true);
        recovery.keep(&state, &progress, true);
        assert!(file::contents(root.path()).unwrap().is_empty());
    }

    #[test]
    fn a_full_or_wrong_folder_is_said_once() {
        let root = tempfile::tempdir().unwrap();
        let (experiment, state, progress) = start();
        let said = |root: &Path| {
            let recovery = Recovery::new(root, &experiment);
            recovery.keep(&state, &progress, true);
            let problem = recovery.problem().unwrap();
            recovery.keep(&state, &progress, true);
            assert_eq!(recovery.problem(), None);
            problem
        };
        for number in 0..MOST_RUNS {
            std::fs::write(root.path().join(number.to_string()), "").unwrap();
        }
        assert!(said(root.path()).contains("it holds 32 runs"));
        said(&root.path().join("1"));
    }
}
