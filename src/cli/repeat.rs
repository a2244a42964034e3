//! `tapescope train --repeat`: a run once more, from its log.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use super::arguments::Resize;
use super::arguments::is_same;
use super::error::CliError;
use super::machine::{alone, check_training, is_file};
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
    /// The machine, if its weights are next to the log.
    machine: Option<Trained>,
    /// True for a machine without a log: its learning curve ends with the best validation.
    is_alone: bool,
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
    /// Reads the run in a folder, or a log; or the run that made a weights file or an included machine.
    pub(super) fn read(path: &Path, threads: usize) -> anyhow::Result<Self> {
        let (machine, name) = (machine_at(path)?, label(path));
        let mut log = match machine.clone() {
            Some(made) => Log {
                experiment: made.experiment,
                command: made.command,
                points: made.history,
                changes: made.changes,
            },
            None => log_at(path)?,
        };
        let folder = RunFolder::of(path);
        log.experiment = log.experiment.with_episodes(&folder.join("log"))?;
        let all = log.experiment.training.sequences;
        let mut changed_after = log.changes.iter().map(|change| change.sequences);
        if let Some(late) = changed_after.find(|sequences| *sequences > all) {
            bail!(
                "--repeat {name}: the log has a change after {late} sequences, but the run has only {all}; it was edited or is damaged: repeat from another copy of the log, or from weights.safetensors"
            );
        }
        let mut changed = log.experiment.clone();
        for change in &log.changes {
            changed = changed.changed_by(change)?;
            check_training(&changed, &name, threads)?;
        }
        let is_alone = machine.is_some();
        let there = |file| {
            let path = Some(RunFolder::part(folder, file));
            path.filter(|path| !is_alone && path.is_file())
        };
        let beside = there(RunFolder::WEIGHTS).map(|path| weights::read(&path));
        Ok(Self {
            name,
            log,
            start: there(RunFolder::START),
            machine: machine.or(beside.transpose()?),
            is_alone,
        })
    }

    /// Checks that the new run starts from the same weights as this one, which the log does not contain.
    pub(super) fn check_from(&self, from: Option<&str>) -> anyhow::Result<()> {
        let (name, command) = (&self.name, &self.log.command);
        let had_from = has_option(command, "--from");
        // A machine alone does not say with which weights the run began that its own run repeated.
        let is_unknown = self.is_alone && has_option(command, "--repeat");
        ensure!(
            from.is_some() || self.start.is_some() || !had_from,
            "--repeat {name}: the run started from the weights of another run ({command}); name them with --from"
        );
        ensure!(
            from.is_none() || self.start.is_some() || had_from || is_unknown,
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

    /// True where a run that repeats a machine alone has its weights: later validations may be better, and are not known.
    pub(super) fn is_reached(&self, trainer: &Trainer) -> bool {
        let last = self.log.points.last().filter(|_| self.is_alone);
        let ends_best = self
            .machine
            .as_ref()
            .is_some_and(|machine| machine.evaluation.is_some());
        ends_best && last.is_some_and(|last| trainer.state.sequences >= last.sequences)
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
            "--repeat {name}: the log has a change after {due} sequences, but the batches of this run step over it to {done}; it was edited or is damaged: repeat from another copy of the log"
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
        if count == 0 && !self.is_alone {
            return Ok(writeln!(
                out,
                "{name} was stopped before its first validation, so there is nothing to compare"
            )?);
        }
        let is_whole = count == all || self.is_alone;
        let there = self.machine.as_ref().filter(|_| is_whole);
        let differs = match (points_differ(history, points), there) {
            (_, Some(there)) if self.is_alone => machines_differ(&weights::read(weights)?, there),
            (None, _) if count > all => Some(format!("{all} validations here, {count} there")),
            (None, Some(there)) => machines_differ(&weights::read(weights)?, there),
            (differs, _) => differs,
        };
        if let Some(differs) = differs {
            writeln!(out, "differs from {name}: {differs}")?;
            return Err(CliError::Differs.into());
        }
        let rest = match there {
            _ if self.is_alone => return Ok(writeln!(out, "identical to {name}, bit for bit")?),
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

/// The machine of a path that is a weights file, or the name of an included machine.
fn machine_at(path: &Path) -> anyhow::Result<Option<Trained>> {
    let is_name = !path.exists() && !is_file(path);
    let is_weights = path.is_file() && path.extension().is_some_and(|end| end == "safetensors");
    let machine =
        (is_name || is_weights).then(|| alone(&path.to_string_lossy(), &Resize::default()));
    machine.transpose()
}

/// The first difference between two learning curves, as far as both go.
fn points_differ(here: &[HistoryPoint], there: &[HistoryPoint]) -> Option<String> {
    let mut pairs = here.iter().zip(there);
    pairs.find_map(|(here, there)| measurement::unlike(here, there))
}

/// The first difference between two machines: in their tensors, or in their training metadata.
fn machines_differ(here: &Trained, there: &Trained) -> Option<String> {
    let evaluation = |trained: &Trained| trained.evaluation.as_ref().map(evaluation_json);
    let file = RunFolder::WEIGHTS;
    let part = if let Some(tensor) = weights::unlike(&here.machine, &there.machine) {
        return Some(format!("tensor {tensor}, in {file}"));
    } else if here.experiment != there.experiment {
        "experiment"
    } else if here.changes != there.changes {
        "changes"
    } else if evaluation(here) != evaluation(there) {
        "evaluation"
    } else if here.history.len() != there.history.len() {
        "number of validations"
    } else {
        let why = points_differ(&here.history, &there.history);
        return why.map(|why| format!("in {file}, {why}"));
    };
    Some(format!("{part} in {file}"))
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
