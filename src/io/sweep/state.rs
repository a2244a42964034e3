//! How far a run is: what its log says, as far as its weights bear it out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::io::lock::Lock;
use crate::io::preset::changes;
use crate::io::run::{CHECKPOINT, LOCK, is_finished, log_at};
use crate::io::{Error, Experiment, RunFolder, file, weights};
use crate::train::{HistoryPoint, after};

/// What does not change a run: words for people, and how the result is measured.
const IMMATERIAL: [&str; 3] = ["title", "description", "evaluation"];

/// What has become of a run that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has seen all its sequences, and its weights are there.
    Finished,
    /// It is being trained, by the process that this names.
    Running(String),
    /// It ended before its end.
    Failed(Failure),
    /// It was stopped or killed.
    Interrupted,
}

impl State {
    /// In one word.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running(_) => "running",
            Self::Failed(Failure::Diverged(_)) => "diverged",
            Self::Failed(Failure::Failed(_)) => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Why the run ended before its end, where that is known.
    pub(super) fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(failure) => Some(failure.words()),
            _ => None,
        }
    }
}

/// What a sweep does with the folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing: the run is finished, or diverged, as it would again.
    Finished,
    /// Nothing: somebody trains it, who is named.
    Running(String),
    /// It begins the run.
    New,
    /// It goes on with a run that was stopped, was killed or has failed: from its checkpoint.
    Begun,
    /// It begins such a run again, which has no checkpoint.
    Broken,
    /// It refuses: the folder is taken by another experiment; what is different, in words.
    Other(String),
}

/// How far the run of an experiment in this folder is.
///
/// # Errors
/// The folder is none that may be written into ([`RunFolder::contents`]), or a file of it cannot be read.
pub fn progress(folder: &Path, experiment: &Experiment) -> Result<Progress, Error> {
    let holder = || Lock::holder(&folder.join(LOCK));
    if let Some(holder) = holder()? {
        return Ok(Progress::Running(holder));
    }
    progress_of_free(folder, experiment).or_else(|error| match holder()? {
        // Somebody has begun to write into it meanwhile.
        Some(holder) => Ok(Progress::Running(holder)),
        None => Err(error),
    })
}

fn progress_of_free(folder: &Path, experiment: &Experiment) -> Result<Progress, Error> {
    let Some(begun) = RunFolder::contents(folder)? else {
        return Ok(Progress::New);
    };
    let differs = changes(&[&begun.log.experiment, experiment], &IMMATERIAL);
    if let Some(path) = differs.iter().flat_map(BTreeMap::keys).min() {
        let value = |index: usize| differs[index].get(path).map_or("absent", String::as_str);
        let (there, here) = (value(0), value(1));
        let difference = format!("`{path}` is {there} there, and {here} here");
        return Ok(Progress::Other(difference));
    }
    Ok(match Run::read(folder)?.state {
        State::Finished | State::Failed(Failure::Diverged(_)) => Progress::Finished,
        State::Running(holder) => Progress::Running(holder),
        _ if file::exists(&folder.join(CHECKPOINT)) => Progress::Begun,
        _ => Progress::Broken,
    })
}

/// A training run as it lies in its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// What it learns now, after all changes.
    pub experiment: Experiment,
    /// What was set while it ran, joined by commas; empty where nothing was.
    pub changed: String,
    /// Sequences after which its task last changed; 0 where it never did.
    pub task_since: u64,
    /// The validations, as far as the weights bear them out.
    pub points: Vec<HistoryPoint>,
    /// How many validations of its log are left out: they speak of weights that are not there.
    pub unfounded: usize,
    /// What has become of it.
    pub state: State,
    /// Bits per sequence of its best weights on fresh episodes, where they were measured.
    pub fresh: Option<f64>,
}

impl Run {
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        // Weights are written before the line of the log that tells of them, so they are read after it.
        let mut log = log_at(folder)?;
        let (mut is_finished, mut history) = (false, Vec::new());
        if RunFolder::is_taken(folder) {
            let trained = weights::read(&RunFolder::weights_at(folder)?)?;
            is_finished = self::is_finished(&log, &trained);
            history = trained.history;
        }
        let founded = founded(&log.points, &history);
        let unfounded = log.points.len() - founded;
        log.points.truncate(founded);
        let state = if is_finished && unfounded == 0 {
            State::Finished
        } else if let Some(holder) = Lock::holder(&folder.join(LOCK))? {
            State::Running(holder)
        } else {
            Failure::read(folder)?.map_or(State::Interrupted, State::Failed)
        };
        let set: Vec<&str> = log
            .changes
            .iter()
            .flat_map(|change| &change.set)
            .map(String::as_str)
            .collect();
        Ok(Self {
            folder: folder.to_owned(),
            experiment: log.experiment.after(&log.changes)?,
            changed: set.join(", "),
            task_since: log.experiment.task_since(&log.changes),
            points: log.points,
            unfounded,
            state,
            fresh: None,
        })
    }

    /// The validations on its current task.
    pub fn validations(&self) -> &[HistoryPoint] {
        after(&self.points, self.task_since)
    }
}

/// How many of the validations of a log may be believed. The weights, which are those of the best one, hold
/// the history until then; what is better than they are, or other than they say, is of weights that are lost.
fn founded(points: &[HistoryPoint], history: &[HistoryPoint]) -> usize {
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
    fn a_run_is_finished_when_its_log_and_its_weights_say_so() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("seed=1");
        let wanted = experiment(1, &[]);
        let progress = |experiment: &Experiment| progress(&folder, experiment).unwrap();
        assert_eq!(progress(&wanted), Progress::New);
        write_run(&folder, &wanted, &[1.0]);
        assert_eq!(progress(&wanted), Progress::Begun);
        fs::remove_dir_all(&folder).unwrap();
        write_run(&folder, &wanted, &[1.0, 0.5]);
        assert_eq!(progress(&wanted), Progress::Finished);
        assert_eq!(
            progress(&experiment(2, &[])),
            Progress::Other("`training.seed` is 1 there, and 2 here".into())
        );
        fs::remove_file(folder.join("weights.safetensors")).unwrap();
        assert_eq!(progress(&wanted), Progress::Begun, "no weights");
        let checkpoint = folder.join("checkpoint.safetensors");
        fs::remove_file(checkpoint).unwrap();
        assert_eq!(progress(&wanted), Progress::Broken);
        for (failure, then) in [
            (Failure::Failed("no space left".into()), Progress::Broken),
            (Failure::Diverged("not finite".into()), Progress::Finished),
        ] {
            failure.write(&folder).unwrap();
            assert_eq!(progress(&wanted), then);
        }
    }

    /// What the log says, what the weights say (they end with the best), and how much of the log stands.
    type Case = (&'static [f64], Option<&'static [f64]>, usize);

    #[test]
    fn a_log_that_is_ahead_of_its_weights_is_not_believed() {
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
            assert_eq!(run.unfounded, log.len() - stands, "case {index}");
            let is_finished = run.state == State::Finished;
            assert_eq!(is_finished, stands == 2, "case {index}");
        }
    }

    #[test]
    fn what_version_0_1_0_wrote_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.txt");
        fs::write(&path, "`output` is no longer finite, after 7 sequences\n").unwrap();
        let words = "`output` is no longer finite, after 7 sequences".to_owned();
        let read = || Failure::read(folder.path()).unwrap();
        assert_eq!(read(), Some(Failure::Diverged(words)));
        fs::write(&path, "no space left\n").unwrap();
        assert_eq!(read(), Some(Failure::Failed("no space left".into())));
        Failure::forget(folder.path()).unwrap();
        assert_eq!(read(), None);
    }
}
