//! Options that choose an episode, shared by `trace`, `render` and `view`.

use std::path::PathBuf;

use anyhow::{anyhow, bail, ensure};
use clap::Args;

use super::arguments::{Resize, from_zero, up_to};
use super::machine;
use super::message::note;
use crate::analysis::population::Population;
use crate::io::{Experiment, Trained, bits, intervention, label};
use crate::model::{Draw, Model, NoiseMode};
use crate::task::{Episode, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Task};
use crate::train::{Demand, Recording, UNSEEN_SEED};

/// An episode that was asked for.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The task it is of.
    pub(super) task: Task,
    pub(super) episode: Episode,
    /// The seed and the index that determine it; `None` if its bits were given by hand.
    pub(super) origin: Option<Draw>,
    /// What is changed while it runs, as typed.
    pub(super) intervene: Vec<String>,
}

impl Chosen {
    /// Runs a machine on the episode.
    pub(super) fn record(&self, model: &Model) -> anyhow::Result<Recording> {
        let recording = Recording::of(model, &self.task, self.episode.clone(), self.origin);
        if self.intervene.is_empty() {
            return Ok(recording);
        }
        let trace = &recording.trace;
        let bytes = Demand::Recording.bytes(&model.config, trace.steps());
        machine::claim(bytes, 0, "--intervene: recording the episode again")?;
        let changes = intervention::parse(&self.intervene, "--intervene", model, trace);
        let changes = changes.map_err(|error| anyhow!("{error}"))?;
        // The noise of an episode of this program is known.
        Ok(recording.with(model, &changes).unwrap_or(recording))
    }

    /// Prints a note for each intervention without which the episode is the same.
    fn note_effects(&self, model: &Model, recording: &Recording) {
        let changes = &recording.conventions.interventions;
        for (text, change) in self.intervene.iter().zip(changes) {
            let others: Vec<_> = changes
                .iter()
                .filter(|one| *one != change)
                .cloned()
                .collect();
            let without = recording.with(model, &others);
            if without.is_some_and(|without| !recording.has_effects(&without)) {
                let what = text.split('=').next().unwrap_or(text);
                note(&format!("note: --intervene {what}: no value depends on it"));
            }
        }
    }

    /// This many episodes of a machine from this one on, of those of a seed.
    pub(super) fn population<'a>(
        &'a self,
        machine: &'a Model,
        episodes: u64,
        threads: usize,
    ) -> Population<'a> {
        Population {
            machine,
            task: &self.task,
            first: self.origin.unwrap_or_default(),
            episodes,
            threads,
        }
    }

    /// Moves on to the episode with the next index; an episode made by hand has none.
    pub(super) fn advance(&mut self) {
        if let Some(origin) = &mut self.origin {
            origin.episode = origin.episode.wrapping_add(1);
            self.episode = self.task.episode(origin.seed, origin.episode);
        }
    }
}

/// The options that say which episode of a machine is recorded.
#[derive(Debug, Default, Args)]
pub(super) struct EpisodeArgs {
    /// Take the task from PRESET, and the machine from this weights file.
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// Length of the sequence, in vectors [default: sampled as in training].
    #[arg(long, value_name = "L", value_parser = up_to(MAX_LENGTH), allow_negative_numbers = true, conflicts_with = "input")]
    length: Option<usize>,
    /// Number of items, for tasks that have them [default: sampled as in training].
    #[arg(long, value_name = "N", value_parser = up_to(MAX_ITEMS), allow_negative_numbers = true, conflicts_with = "input")]
    items: Option<usize>,
    /// Number of repeats [default: sampled as in training].
    #[arg(long, value_name = "R", value_parser = up_to(MAX_REPEATS), allow_negative_numbers = true)]
    repeats: Option<usize>,
    /// Seed of the episode [default: 1000000; 0 for the episodes of a file].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    seed: Option<u64>,
    /// Index of the episode among those of the seed [default: 0].
    #[arg(long, value_name = "I", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    episode: Option<u64>,
    /// Use this sample of the noise of heads that sample [default: no noise: hard heads take their most
    /// likely row, Bayesian heads the means of their weights].
    #[arg(long, value_name = "K", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    sample: Option<u64>,
    /// Use these input bits instead of random ones.
    #[arg(long, value_name = "BITS.JSON")]
    input: Option<PathBuf>,
    /// The contents of that file, if they are in memory.
    #[arg(skip)]
    pub(super) bits: Option<String>,
    /// Change values while the episode runs: STEP, FROM-TO or FROM- (to the end), an array of the trace, and what it is
    /// set to: a number, a list, row(5) (1 in this row), swap(3,4), negate, or from(TRACE) (as there). The last one
    /// wins.
    #[arg(long, value_name = "STEPS:ARRAY=VALUE")]
    pub(super) intervene: Vec<String>,
    #[command(flatten)]
    pub(super) sizes: Resize,
}

impl EpisodeArgs {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        self.all_given().next()
    }

    pub(super) fn all_given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--weights", self.weights.is_some()),
            ("--length", self.length.is_some()),
            ("--items", self.items.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--seed", self.seed.is_some()),
            ("--episode", self.episode.is_some()),
            ("--sample", self.sample.is_some()),
            ("--input", self.input.is_some()),
            ("--intervene", !self.intervene.is_empty()),
            ("--rows", self.sizes.rows.is_some()),
            ("--size", !self.sizes.sizes.is_empty()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
    }

    /// Refuses options for other episodes than those of a seed.
    pub(super) fn check_of_seed(&self) -> anyhow::Result<()> {
        let mut given = self.all_given();
        if let Some(option) = given.find(|option| ["--input", "--intervene"].contains(option)) {
            bail!(
                "{option}: only unchanged episodes of a seed are used; choose them with --seed and --episode"
            );
        }
        Ok(())
    }

    /// The machine of this name or file, with the task to give it.
    pub(super) fn trained(&self, name: &str) -> anyhow::Result<Trained> {
        self.trained_for(name, self.input.is_some())
    }

    /// [`EpisodeArgs::trained`]; for your own input the file of a text may be missing.
    pub(super) fn trained_for(&self, name: &str, own_input: bool) -> anyhow::Result<Trained> {
        let Some(path) = &self.weights else {
            return if own_input {
                machine::find_for_input(name, &self.sizes)
            } else {
                machine::find(name, &self.sizes)
            };
        };
        let experiment = Experiment::find(name, &[])?;
        let mut trained = machine::read(path, &self.sizes)?;
        let (task, config) = (&experiment.task, &trained.machine.config);
        let (inputs, outputs) = (config.inputs(), config.outputs());
        ensure!(
            (inputs, outputs) == (task.inputs(), task.outputs()),
            "{}: the machine has {inputs} inputs and {outputs} outputs; the task of {} has {} and {}",
            label(path),
            experiment.name,
            task.inputs(),
            task.outputs()
        );
        (trained.experiment, trained.changes) = (experiment, Vec::new());
        Ok(trained)
    }

    /// True where one of several episodes is asked for.
    #[cfg(feature = "gui")]
    pub(super) fn is_chosen(&self) -> bool {
        let others = ["--weights", "--rows"];
        self.all_given().any(|option| !others.contains(&option))
    }

    /// Returns the episode, its task, seed and index; `name` is the machine as typed.
    pub(super) fn choose(&self, name: &str, trained: &Trained) -> anyhow::Result<Chosen> {
        let mut task = trained.now().task;
        machine::check_repeats(self.repeats.is_some(), &task)?;
        let config = &trained.machine.config;
        if let Some(path) = &self.input {
            ensure!(
                !task.manual_keys().is_empty(),
                "--input: the episodes of this task come from a file; choose a held-out episode with --episode"
            );
            let manual = match &self.bits {
                Some(json) => bits::from_json(json, &label(path), &task, self.repeats)?,
                None => bits::read(path, &task, self.repeats)?,
            };
            machine::check_size(config, &manual.task, Demand::Recording, name)?;
            let episode = manual.episode();
            let steps = [episode.steps(), episode.source()];
            machine::check_steps(config, steps, &label(path))?;
            manual.notes.iter().for_each(|text| note(text));
            return Ok(Chosen {
                episode,
                task: manual.task,
                origin: None,
                intervene: self.intervene.clone(),
            });
        }
        let lengths = ("--length", self.length.as_slice());
        let sizes = machine::sizes(&task, lengths, ("--items", self.items.as_slice()))?;
        if let Some(&size) = sizes.first() {
            task = task.with_size(size);
        }
        if let Some(repeats) = self.repeats {
            task = task.with_repeats(repeats);
        }
        machine::check_size(config, &task, Demand::Recording, name)?;
        // The held-out episodes of a file are counted from the first.
        let unseen = task.held_out().map_or(UNSEEN_SEED, |_| 0);
        let (seed, index) = (self.seed.unwrap_or(unseen), self.episode.unwrap_or(0));
        let mut origin = Draw::of(seed, index);
        if let Some(sample) = self.sample {
            machine::check_random("--sample", name, config)?;
            (origin.sample, origin.sampling) = (sample, NoiseMode::Sampled);
        }
        Ok(Chosen {
            episode: task.episode(seed, index),
            task,
            origin: Some(origin),
            intervene: self.intervene.clone(),
        })
    }

    /// Records the episode; `name` is the machine as typed.
    pub(super) fn record(&self, name: &str, trained: &Trained) -> anyhow::Result<Recording> {
        let chosen = self.choose(name, trained)?;
        let recording = chosen.record(&trained.machine)?;
        note_wrap_around(name, &recording);
        chosen.note_effects(&trained.machine, &recording);
        Ok(recording)
    }

    /// [`EpisodeArgs::record`], without a word.
    pub(super) fn recording(&self, name: &str, trained: &Trained) -> anyhow::Result<Recording> {
        self.choose(name, trained)?.record(&trained.machine)
    }
}

/// Refuses an option for a recorded trace, which is `done` unchanged: drawn, shown.
pub(super) fn as_it_is(option: Option<&str>, source: &str, done: &str) -> anyhow::Result<()> {
    if let Some(option) = option {
        bail!(
            "{option}: {source} is a recorded trace and is {done} unchanged; for {option}, name a preset or a weights file"
        );
    }
    Ok(())
}

/// Prints a note if memory wrapped around; `name` is the episode as typed.
pub(super) fn note_wrap_around(name: &str, recording: &Recording) {
    if let Some(wrap_around) = recording.trace.wrap_around() {
        note(&format!("note: {name}: {wrap_around}"));
    }
}
