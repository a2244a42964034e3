//! State of a run: its log, as far as its weights back it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::io::lock::Lock;
use crate::io::log::Log;
use crate::io::preset::changes;
use crate::io::run::{CHECKPOINT, LOCK, is_finished, log_at};
use crate::io::{Error, ExistingRun, Experiment, RunFolder, Trained, file, weights};
use crate::train::{HistoryPoint, Measurement, after};

/// The keys that do not change a run: texts, and its evaluation.
const IMMATERIAL: [&str; 3] = ["title", "description", "evaluation"];

/// The state of a run that has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All sequences are seen, and weights exist.
    Finished,
    /// The named process is training it.
    Running(String),
    /// The run ended early with a failure.
    Failed(Failure),
    /// The run was stopped or killed.
    Interrupted,
}

impl State {
    /// Returns the state as one word.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running(_) => "running",
            Self::Failed(Failure::Diverged(_)) => "diverged",
            Self::Failed(Failure::Failed(_)) => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the reason why the run stopped early, if it is known.
    pub(super) fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(failure) => Some(failure.words()),
            _ => None,
        }
    }
}

/// The state of a run folder, which decides how a sweep continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// Skipped: the run is finished, or diverged, which would repeat.
    Finished,
    /// Skipped: the named process trains it.
    Running(String),
    /// The sweep starts the run.
    New,
    /// The sweep resumes a run that was stopped, was killed or has failed, from its checkpoint.
    Resumable,
    /// The sweep restarts such a run, which has no checkpoint.
    Incomplete,
    /// The sweep refuses, because the folder contains another experiment; with the differences as text.
    OtherExperiment(String),
}

/// Returns the state of the run of an experiment in this folder.
///
/// # Errors
/// The folder is none that may be written into ([`RunFolder::contents`]), or a file of it cannot be read.
pub fn folder_state(folder: &Path, experiment: &Experiment) -> Result<FolderState, Error> {
    let holder = || Lock::holder(&folder.join(LOCK));
    if let Some(holder) = holder()? {
        return Ok(FolderState::Running(holder));
    }
    unlocked_folder_state(folder, experiment).or_else(|error| match holder()? {
        // Somebody has begun to write into it meanwhile.
        Some(holder) => Ok(FolderState::Running(holder)),
        None => Err(error),
    })
}

fn unlocked_folder_state(folder: &Path, experiment: &Experiment) -> Result<FolderState, Error> {
    let Some(ExistingRun { log, weights, .. }) = RunFolder::contents(folder)? else {
        return Ok(FolderState::New);
    };
    let differs = changes(&[&log.experiment, experiment], &IMMATERIAL);
    if let Some(path) = differs.iter().flat_map(BTreeMap::keys).min() {
        let value = |index: usize| differs[index].get(path).map_or("absent", String::as_str);
        let (there, here) = (value(0), value(1));
        let difference = format!("`{path}` is {there} there, and {here} here");
        return Ok(FolderState::OtherExperiment(difference));
    }
    Ok(match Run::of(folder, log, weights)?.state {
        State::Finished | State::Failed(Failure::Diverged(_)) => FolderState::Finished,
        State::Running(holder) => FolderState::Running(holder),
        _ if file::exists(&folder.join(CHECKPOINT)) => FolderState::Resumable,
        _ => FolderState::Incomplete,
    })
}

/// A training run as it lies in its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The folder.
    pub folder: PathBuf,
    /// The experiment now, after all changes.
    pub experiment: Experiment,
    /// The values changed during training, joined by commas; empty without changes.
    pub changed: String,
    /// Sequences after which its task last changed; 0 where it never did.
    pub task_since: u64,
    /// The validations, as far as the weights bear them out.
    pub points: Vec<HistoryPoint>,
    /// The number of validations in its log that are ignored: their weights were not saved.
    pub unbacked: usize,
    /// The state.
    pub state: State,
    /// The best weights, if there are any and they are kept.
    pub trained: Option<Trained>,
    /// The result of its best weights on fresh episodes, if measured.
    pub fresh: Option<Measurement>,
}

impl Run {
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        // Weights are written before the line of the log that tells of them, so they are read after it.
        let log = log_at(folder)?;
        let path = file::if_exists(RunFolder::part(folder, RunFolder::WEIGHTS));
        let weights = path.map(|path| weights::read(&path));
        Self::of(folder, log, weights.transpose()?)
    }

    /// The run of a folder, from its log and its weights.
    fn of(folder: &Path, mut log: Log, weights: Option<Trained>) -> Result<Self, Error> {
        let is_finished = is_finished(&log, weights.as_ref());
        let history = weights.as_ref().map(|weights| &weights.history[..]);
        let backed = backed(&log.points, history.unwrap_or_default());
        let unbacked = log.points.len() - backed;
        log.points.truncate(backed);
        let state = if is_finished && unbacked == 0 {
            State::Finished
        } else if let Some(holder) = Lock::holder(&folder.join(LOCK))? {
            State::Running(holder)
        } else {
            Failure::read(folder)?.map_or(State::Interrupted, State::Failed)
        };
        let changes = log.changes.iter();
        let set: Vec<String> = changes.flat_map(|change| change.set.clone()).collect();
        Ok(Self {
            folder: folder.to_owned(),
            experiment: log.experiment.after(&log.changes)?,
            changed: set.join(", "),
            task_since: log.experiment.task_since(&log.changes),
            points: log.points,
            unbacked,
            state,
            trained: weights,
            fresh: None,
        })
    }

    /// Bits per sequence of its best weights on fresh episodes, where they were measured.
    pub fn fresh_bits(&self) -> Option<f64> {
        Some(self.fresh?.mean.bits_per_sequence)
    }

    /// The validations on its current task.
    pub fn validations(&self) -> &[HistoryPoint] {
        after(&self.points, self.task_since)
    }
}

/// Returns the number of validations of a log that are backed by saved weights. The weights, which are the best ones,
/// hold the history up to them; better or differing validations belong to lost weights.
fn backed(points: &[HistoryPoint], history: &[HistoryPoint]) -> usize {
    let key = |point: &HistoryPoint| {
        let bits = point.validation.bits_per_sequence;
        (point.sequences, bits.to_bits())
    };
    if points.iter().zip(history).any(|(a, b)| key(a) != key(b)) {
        return 0;
    }
    // The best since the task last changed is the last there is: weights keep the history until then.
    let best = history.last().map(|point| &point.validation);
    let is_better = |point: &HistoryPoint| point.validation.is_better_than(best);
    let behind = points.get(history.len()..).unwrap_or_default();
    let lost = behind.iter().position(is_better);
    lost.map_or(points.len(), |place| history.len() + place)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{experiment, points, write_run, write_weights};
    use super::*;
    use std::fs;

    #[test]
    fn a_run_is_finished_when_log_and_weights_agree() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("seed=1");
        let wanted = experiment(1, &[]);
        let folder_state = |experiment: &Experiment| folder_state(&folder, experiment).unwrap();
        assert_eq!(folder_state(&wanted), FolderState::New);
        write_run(&folder, &wanted, &[1.0]);
        assert_eq!(folder_state(&wanted), FolderState::Resumable);
        fs::remove_dir_all(&folder).unwrap();
        write_run(&folder, &wanted, &[1.0, 0.5]);
        assert_eq!(folder_state(&wanted), FolderState::Finished);
        assert_eq!(
            folder_state(&experiment(2, &[])),
            FolderState::OtherExperiment("`training.seed` is 1 there, and 2 here".into())
        );
        fs::remove_file(folder.join("weights.safetensors")).unwrap();
        assert_eq!(folder_state(&wanted), FolderState::Resumable, "no weights");
        let checkpoint = folder.join("checkpoint.safetensors");
        fs::remove_file(checkpoint).unwrap();
        assert_eq!(folder_state(&wanted), FolderState::Incomplete);
        for (failure, then) in [
            (
                Failure::Failed("no space left".into()),
                FolderState::Incomplete,
            ),
            (
                Failure::Diverged("not finite".into()),
                FolderState::Finished,
            ),
        ] {
            failure.write(&folder).unwrap();
            assert_eq!(folder_state(&wanted), then);
        }
    }

    /// The validations of the log, those of the weights (which end with the best), and the number of backed ones.
    type Case = (&'static [f64], Option<&'static [f64]>, usize);

    #[test]
    fn validations_not_backed_by_weights_are_ignored() {
        let place = tempfile::tempdir().unwrap();
        let wanted = experiment(1, &[]);
        let cases: [Case; 9] = [
            (&[1.0, 0.5], Some(&[1.0, 0.5]), 2),
            (&[1.0, 0.5], Some(&[1.0]), 1),
            (&[0.5, 1.0], Some(&[0.5]), 2),
            (&[0.5, 1.0], Some(&[0.7]), 0),
            (&[0.5, 1.0], None, 0),
            (&[0.5], Some(&[0.5, 0.3]), 1),
            (
                &[f64::NAN, f64::INFINITY],
                Some(&[f64::NAN, f64::INFINITY]),
                2,
            ),
            (&[f64::NAN, 0.5], Some(&[f64::NAN]), 1),
            (&[f64::NAN], None, 1),
        ];
        for (index, (log, history, stands)) in cases.into_iter().enumerate() {
            let folder = place.path().join(index.to_string());
            write_run(&folder, &wanted, log);
            match history {
                None => fs::remove_file(folder.join("weights.safetensors")).unwrap_or_default(),
                Some(history) => write_weights(&folder, &wanted, points(history)),
            }
            let run = Run::read(&folder).unwrap();
            assert_eq!(run.points.len(), stands, "case {index}");
            assert_eq!(run.unbacked, log.len() - stands, "case {index}");
            let is_finished = run.state == State::Finished;
            assert_eq!(is_finished, stands == 2, "case {index}");
        }
    }
}
