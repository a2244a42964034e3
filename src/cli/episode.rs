//! Which episode: what `trace`, `render` and `view` have in common.

use std::path::PathBuf;

use clap::Args;

use super::{Usage, from_zero, items, length, machine, note, repeats, rows};
use crate::io::{Experiment, Trained, bits, label};
use crate::model::ModelConfig;
use crate::task::Task;
use crate::train::{Demand, Part, Recording, UNSEEN_SEED, Work};

/// The options that say which episode of a machine is recorded.
#[derive(Debug, Args)]
pub(super) struct EpisodeArgs {
    /// Take the task from PRESET, and the machine from this weights file.
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// Length of the sequence, in vectors [default: drawn as in training].
    #[arg(long, value_name = "L", value_parser = length, allow_negative_numbers = true, conflicts_with = "input")]
    length: Option<usize>,
    /// Number of items, for tasks that have them [default: drawn as in training].
    #[arg(long, value_name = "N", value_parser = items, allow_negative_numbers = true, conflicts_with = "input")]
    items: Option<usize>,
    /// Number of repeats [default: drawn as in training].
    #[arg(long, value_name = "R", value_parser = repeats, allow_negative_numbers = true)]
    repeats: Option<usize>,
    /// Seed of the episode [default: 1000000].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    seed: Option<u64>,
    /// Which episode of that seed [default: 0].
    #[arg(long, value_name = "I", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    episode: Option<u64>,
    /// Show these bits instead of random ones.
    #[arg(long, value_name = "BITS.JSON")]
    input: Option<PathBuf>,
    /// Run on this many memory rows instead of those of the training.
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    rows: Option<usize>,
}

impl EpisodeArgs {
    /// The first option that was given, which a recorded trace has no use for.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--weights", self.weights.is_some()),
            ("--length", self.length.is_some()),
            ("--items", self.items.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--seed", self.seed.is_some()),
            ("--episode", self.episode.is_some()),
            ("--input", self.input.is_some()),
            ("--rows", self.rows.is_some()),
        ];
        let first = given.into_iter().find(|(_, is_given)| *is_given);
        first.map(|(option, _)| option)
    }

    /// The machine of this name or file, with the task to give it.
    pub(super) fn trained(&self, name: &str) -> anyhow::Result<Trained> {
        let Some(path) = &self.weights else {
            return machine::find(name, self.rows);
        };
        let experiment = Experiment::find(name, &[])?;
        let label = label(path);
        let mut trained = machine::read(path, self.rows)?;
        let (task, config) = (&experiment.task, &trained.machine.config);
        if (task.inputs(), task.outputs()) != (config.inputs, config.outputs) {
            let problem = format!(
                "{label}: the machine has {} inputs and {} outputs; the task of {} has {} and {}",
                config.inputs,
                config.outputs,
                experiment.name,
                task.inputs(),
                task.outputs()
            );
            return Err(Usage(problem).into());
        }
        trained.experiment = experiment;
        Ok(trained)
    }

    /// The episode; `name` is what was typed for the machine.
    pub(super) fn record(&self, name: &str, trained: &Trained) -> anyhow::Result<Recording> {
        let mut task = trained.experiment.task.clone();
        if self.repeats.is_some() && task.repeats().is_none() {
            let problem = format!("--repeats: the task `{}` has no repeats", task.name());
            return Err(Usage(problem).into());
        }
        let config = &trained.machine.config;
        if let Some(path) = &self.input {
            let by_hand = bits::read(path, &task, self.repeats)?;
            check_size(name, config, &by_hand.task)?;
            let episode = by_hand.episode();
            let recording = Recording::of(&trained.machine, &by_hand.task, episode);
            note_overrun(name, &recording);
            return Ok(recording);
        }
        let lengths = ("--length", self.length.as_slice());
        let sizes = machine::sizes(&task, lengths, ("--items", self.items.as_slice()))?;
        if let Some(&size) = sizes.first() {
            task = task.with_size(size);
        }
        if let Some(repeats) = self.repeats {
            task = task.with_repeats(repeats);
        }
        check_size(name, config, &task)?;
        let seed = self.seed.unwrap_or(UNSEEN_SEED);
        let episode = self.episode.unwrap_or(0);
        let recording = Recording::new(&trained.machine, &task, seed, episode);
        note_overrun(name, &recording);
        Ok(recording)
    }
}

/// Says so where writes reach rows already written; `name` is what was typed for the episode.
pub(super) fn note_overrun(name: &str, recording: &Recording) {
    if let Some(overrun) = recording.trace.overrun() {
        note(&format!("note: {name}: {overrun}"));
    }
}

fn check_size(name: &str, config: &ModelConfig, task: &Task) -> anyhow::Result<()> {
    let demand = Demand {
        config: config.clone(),
        steps: task.longest(),
        work: Work::Recording,
    };
    let steps = format!("--{}", task.measure().name());
    let parts = [(Part::Rows, "--rows"), (Part::Steps, &steps)];
    machine::check_size(&demand, name, &parts)
}
