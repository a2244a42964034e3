//! `tapescope train --repeat`: a run once more, from its log.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::arguments::is_same;
use super::error::{CliError, refuse};
use super::machine::check_training;
use crate::io::measurement::{self, evaluation_json};
use crate::io::run::log_at;
use crate::io::{Experiment, RunFolder, Trained, label, shell, weights};
use crate::learn;
use crate::train::{Change, HistoryPoint, State, Trainer};

/// A run that is repeated.
pub(super) struct Repeat {
    /// The folder or the log, as it is called in messages.
    name: String,
    command: String,
    /// The file of its initial weights, if it is next to the log.
    start: Option<PathBuf>,
    /// The weights, if they are next to the log.
    weights: Option<PathBuf>,
    /// The experiment as it was at the start of the run.
    pub(super) experiment: Experiment,
    points: Vec<HistoryPoint>,
    changes: Vec<Change>,
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

/// Checks that the run in a folder, started by this command, can be resumed without the run that it repeats: only that
/// run has the changes to come.
pub(super) fn check_alone(folder: &Path, command: &str) -> anyhow::Result<()> {
    if !has_option(command, "--repeat") {
        return Ok(());
    }
    let both = ["train", "--repeat", "RUN", "--resume"].map(OsStr::new);
    let both = shell::command(&[&both[..], &[folder.as_os_str()]].concat());
    let folder = label(folder);
    refuse(format!(
        "--resume {folder}: this run repeats another run ({command}); name that run too: {both}"
    ))
}

/// Checks that a run is not repeated into its own folder.
pub(super) fn check_apart(repeated: &Path, folder: &Path) -> anyhow::Result<()> {
    if is_same(RunFolder::of(repeated), folder) {
        let name = label(folder);
        return refuse(format!(
            "--out {name}: is the folder of the repeated run; choose another folder"
        ));
    }
    Ok(())
}

impl Repeat {
    /// Reads the run in a folder, or a log.
    pub(super) fn read(path: &Path, threads: usize) -> anyhow::Result<Self> {
        let (mut log, name) = (log_at(path)?, label(path));
        let folder = RunFolder::of(path);
        let experiment = log.experiment.with_episodes(&folder.join("log"));
        log.experiment = experiment?;
        let [start, weights] =
            [RunFolder::START, RunFolder::WEIGHTS].map(|name| RunFolder::part(folder, name));
        let all = log.experiment.training.sequences;
        if let Some(late) = log.changes.iter().find(|change| change.sequences > all) {
            let sequences = late.sequences;
            return refuse(format!(
                "--repeat {name}: the log has a change after {sequences} sequences, but the run has only {all}"
            ));
        }
        let mut changed = log.experiment.clone();
        for change in &log.changes {
            changed = changed.changed_by(change)?;
            check_training(&changed, &name, threads)?;
        }
        Ok(Self {
            name,
            command: log.command,
            start: Some(start).filter(|start| start.is_file()),
            weights: Some(weights).filter(|weights| weights.is_file()),
            experiment: log.experiment,
            points: log.points,
            changes: log.changes,
        })
    }

    /// The name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file of its initial weights, if it is next to the log.
    pub(super) fn start(&self) -> Option<&Path> {
        self.start.as_deref()
    }

    /// Checks that the new run starts from the same weights as this one, which the log does not contain.
    pub(super) fn check_from(&self, from: Option<&str>) -> anyhow::Result<()> {
        let had = self.start.is_some() || has_option(&self.command, "--from");
        let name = &self.name;
        match from {
            None if had && self.start.is_none() => refuse(format!(
                "--repeat {name}: the run started from the weights of another run ({}); name them with --from",
                self.command
            )),
            Some(_) if !had => refuse(format!(
                "--from: {name} started from the random weights of its seed; omit --from"
            )),
            _ => Ok(()),
        }
    }

    /// Checks that a resumed run began as this one did, and had no other changes.
    pub(super) fn check_resumed(
        &self,
        state: &State,
        experiment: &Experiment,
    ) -> anyhow::Result<()> {
        let (had, name) = (&state.changes, &self.name);
        if self.changes.get(..had.len()) != Some(had) {
            return refuse(format!(
                "--repeat {name}: the resumed run had other changes during training; name the run that it repeats"
            ));
        }
        if self.experiment.after(had)? != *experiment {
            return refuse(format!(
                "--repeat {name}: the resumed run has another preset; name the run that it repeats"
            ));
        }
        Ok(())
    }

    /// Makes the next change, if it is due; true where one was made.
    pub(super) fn change(&self, trainer: &mut Trainer) -> anyhow::Result<bool> {
        let (made, done) = (trainer.state.changes.len(), trainer.state.sequences);
        let next = self.changes.get(made);
        let Some(change) = next.filter(|change| change.sequences <= done) else {
            return Ok(false);
        };
        let due = change.sequences;
        if due != done {
            let name = &self.name;
            return refuse(format!(
                "--repeat {name}: the log has a change after {due} sequences, but the batches of this run step over it to {done}"
            ));
        }
        let Experiment { task, training, .. } = self.experiment.after(&self.changes[..=made])?;
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
        let (name, count, all) = (&self.name, self.points.len(), history.len());
        if count == 0 {
            return Ok(writeln!(
                out,
                "{name} was stopped before its first validation, so there is nothing to compare"
            )?);
        }
        let is_whole = count == all;
        let there = self.weights.as_deref().filter(|_| is_whole);
        let differs = match (points_differ(history, &self.points), there) {
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
    Ok(
        if let Some(tensor) = weights::unlike(&here.machine, &there.machine) {
            Some(format!("tensor {tensor} of {file}"))
        } else if here.experiment != there.experiment {
            Some(format!("experiment in {file}"))
        } else if here.changes != there.changes {
            Some(format!("changes in {file}"))
        } else if evaluation(&here) != evaluation(&there) {
            Some(format!("evaluation in {file}"))
        } else if here.history.len() != there.history.len() {
            Some(format!("number of validations in {file}"))
        } else {
            points_differ(&here.history, &there.history).map(|why| format!("in {file}, {why}"))
        },
    )
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
