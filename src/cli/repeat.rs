//! `tapescope train --repeat`: a run once more, from its log.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use super::arguments::is_same;
use super::error::CliError;
use super::machine::check_training;
use crate::io::log::Log;
use crate::io::measurement::{self, evaluation_json};
use crate::io::run::log_at;
use crate::io::{Experiment, RunFolder, Trained, label, shell, weights};
use crate::learn;
use crate::train::{HistoryPoint, State, Trainer};

/// A run that is repeated.
pub(super) struct Repeat {
    /// The folder or the log, as it is called in messages.
    pub(super) name: String,
    /// Its log: the experiment as it began, the validations and the changes.
    pub(super) log: Log,
    /// The file of its initial weights, if it is next to the log.
    pub(super) start: Option<PathBuf>,
    /// The weights, if they are next to the log.
    weights: Option<PathBuf>,
}

/// True for a command line with this option, which is no part of a quoted word.
fn has_option(command: &str, option: &str) -> bool {
    let unquoted = command.split('\'').step_by(2);
    let mut words = unquoted.flat_map(|part| part.split(' '));
    words.any(|word| {
        let rest = word.strip_prefix(option);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Returns the command line that resumes the run in a folder, which repeats another run.
pub(super) fn resume(repeated: &Path, folder: &Path) -> String {
    let [train, repeat, resume] = ["train", "--repeat", "--resume"].map(Path::new);
    shell::command(&[train, repeat, repeated, resume, folder])
}

/// Checks that the run in a folder, started by this command, can be resumed without the run that it repeats: only that
/// run has the changes to come.
pub(super) fn check_alone(folder: &Path, command: &str) -> anyhow::Result<()> {
    if !has_option(command, "--repeat") {
        return Ok(());
    }
    let (both, folder) = (resume(Path::new("RUN"), folder), label(folder));
    bail!("--resume {folder}: this run repeats another run ({command}); name that run too: {both}")
}

/// Checks that a run is not repeated into its own folder.
pub(super) fn check_apart(repeated: &Path, folder: &Path) -> anyhow::Result<()> {
    ensure!(
        !is_same(RunFolder::of(repeated), folder),
        "--out {}: is the folder of the repeated run; choose another folder",
        label(folder)
    );
    Ok(())
}

impl Repeat {
    /// Reads the run in a folder, or a log.
    pub(super) fn read(path: &Path, threads: usize) -> anyhow::Result<Self> {
        let (mut log, name) = (log_at(path)?, label(path));
        let folder = RunFolder::of(path);
        log.experiment = log.experiment.with_episodes(&folder.join("log"))?;
        let all = log.experiment.training.sequences;
        let mut changed_after = log.changes.iter().map(|change| change.sequences);
        if let Some(late) = changed_after.find(|sequences| *sequences > all) {
            bail!(
                "--repeat {name}: the log has a change after {late} sequences, but the run has only {all}"
            );
        }
        let mut changed = log.experiment.clone();
        for change in &log.changes {
            changed = changed.changed_by(change)?;
            check_training(&changed, &name, threads)?;
        }
        let there = |file| Some(RunFolder::part(folder, file)).filter(|path| path.is_file());
        Ok(Self {
            name,
            log,
            start: there(RunFolder::START),
            weights: there(RunFolder::WEIGHTS),
        })
    }

    /// Checks that the new run starts from the same weights as this one, which the log does not contain.
    pub(super) fn check_from(&self, from: Option<&str>) -> anyhow::Result<()> {
        let (name, command) = (&self.name, &self.log.command);
        let had_from = has_option(command, "--from");
        ensure!(
            from.is_some() || self.start.is_some() || !had_from,
            "--repeat {name}: the run started from the weights of another run ({command}); name them with --from"
        );
        ensure!(
            from.is_none() || self.start.is_some() || had_from,
            "--from: {name} started from the random weights of its seed; omit --from"
        );
        Ok(())
    }

    /// Checks that a resumed run began as this one did, and had no other changes.
    pub(super) fn check_resumed(
        &self,
        state: &State,
        experiment: &Experiment,
    ) -> anyhow::Result<()> {
        let (had, name) = (&state.changes, &self.name);
        ensure!(
            self.log.changes.starts_with(had),
            "--repeat {name}: the resumed run had other changes during training; name the run that it repeats"
        );
        ensure!(
            self.log.experiment.after(had)? == *experiment,
            "--repeat {name}: the resumed run has another preset; name the run that it repeats"
        );
        Ok(())
    }

    /// Makes the next change, if it is due; true where one was made.
    pub(super) fn change(&self, trainer: &mut Trainer) -> anyhow::Result<bool> {
        let (made, done) = (trainer.state.changes.len(), trainer.state.sequences);
        let (changes, name) = (&self.log.changes, &self.name);
        let next = changes.get(made);
        let Some(change) = next.filter(|change| change.sequences <= done) else {
            return Ok(false);
        };
        let due = change.sequences;
        ensure!(
            due == done,
            "--repeat {name}: the log has a change after {due} sequences, but the batches of this run step over it to {done}"
        );
        let Experiment { task, training, .. } = self.log.experiment.after(&changes[..=made])?;
        learn::change(trainer, task, training, change.set.clone());
        Ok(true)
    }

    /// Compares log and weights bit for bit and reports the result; `weights` are those of this run.
    pub(super) fn compare(
        &self,
        history: &[HistoryPoint],
        weights: &Path,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let (name, points) = (&self.name, &self.log.points);
        let (count, all) = (points.len(), history.len());
        if count == 0 {
            return Ok(writeln!(
                out,
                "{name} was stopped before its first validation, so there is nothing to compare"
            )?);
        }
        let is_whole = count == all;
        let there = self.weights.as_deref().filter(|_| is_whole);
        let differs = match (points_differ(history, points), there) {
            (None, _) if count > all => Some(format!("{all} validations here, {count} there")),
            (None, Some(there)) => weights_differ(weights, there)?,
            (differs, _) => differs,
        };
        if let Some(differs) = differs {
            writeln!(out, "differs from {name}: {differs}")?;
            return Err(CliError::Differs.into());
        }
        let rest = match there {
            Some(_) => ", and in its weights".to_owned(),
            None if is_whole => "; its weights are missing and were not compared".to_owned(),
            None => format!("; this run has {all}, and its weights were not compared"),
        };
        Ok(writeln!(
            out,
            "identical to {name}, bit for bit, in all {count} validations of its log{rest}"
        )?)
    }
}

/// The first difference between two learning curves, as far as both go.
fn points_differ(here: &[HistoryPoint], there: &[HistoryPoint]) -> Option<String> {
    let mut pairs = here.iter().zip(there);
    pairs.find_map(|(here, there)| measurement::unlike(here, there))
}

/// The first difference between two weights files: in their tensors, or in their training metadata.
fn weights_differ(here: &Path, there: &Path) -> anyhow::Result<Option<String>> {
    let [here, there] = [weights::read(here)?, weights::read(there)?];
    let evaluation = |trained: &Trained| trained.evaluation.as_ref().map(evaluation_json);
    let file = RunFolder::WEIGHTS;
    let part = if let Some(tensor) = weights::unlike(&here.machine, &there.machine) {
        return Ok(Some(format!("tensor {tensor} of {file}")));
    } else if here.experiment != there.experiment {
        "experiment"
    } else if here.changes != there.changes {
        "changes"
    } else if evaluation(&here) != evaluation(&there) {
        "evaluation"
    } else if here.history.len() != there.history.len() {
        "number of validations"
    } else {
        let why = points_differ(&here.history, &there.history);
        return Ok(why.map(|why| format!("in {file}, {why}")));
    };
    Ok(Some(format!("{part} in {file}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_separate_word() {
        for (command, is_there) in [
            ("tapescope train copy --from runs/a", true),
            ("tapescope train copy --from=runs/a", true),
            ("tapescope train copy --out 'x --from y'", false),
            ("tapescope train copy --from-nowhere", false),
            ("tapescope train copy", false),
        ] {
            assert_eq!(has_option(command, "--from"), is_there, "{command}");
        }
    }
}
