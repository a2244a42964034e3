//! Which episode: what `trace`, `render` and `view` have in common.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{from_zero, machine, note, refuse, rows, up_to};
use crate::io::{Experiment, Trained, bits, label, trace};
use crate::model::{Draw, ModelConfig, Sampling};
use crate::task::{Episode, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Task};
use crate::train::{Part, Recording, UNSEEN_SEED, Work};

/// An episode that was asked for.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The task it is of.
    pub(super) task: Task,
    pub(super) episode: Episode,
    /// The seed and the index that draw it; `None` when its bits were given by hand.
    pub(super) origin: Option<Draw>,
}

/// The options that say which episode of a machine is recorded.
#[derive(Debug, Default, Args)]
pub(super) struct EpisodeArgs {
    /// Take the task from PRESET, and the machine from this weights file.
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// Length of the sequence, in vectors [default: drawn as in training].
    #[arg(long, value_name = "L", value_parser = up_to(MAX_LENGTH), allow_negative_numbers = true, conflicts_with = "input")]
    length: Option<usize>,
    /// Number of items, for tasks that have them [default: drawn as in training].
    #[arg(long, value_name = "N", value_parser = up_to(MAX_ITEMS), allow_negative_numbers = true, conflicts_with = "input")]
    items: Option<usize>,
    /// Number of repeats [default: drawn as in training].
    #[arg(long, value_name = "R", value_parser = up_to(MAX_REPEATS), allow_negative_numbers = true)]
    repeats: Option<usize>,
    /// Seed of the episode [default: 1000000; of the episodes of a file: 0].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    seed: Option<u64>,
    /// Which episode of that seed [default: 0].
    #[arg(long, value_name = "I", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    episode: Option<u64>,
    /// Draw with this sample of the episode's noise, where heads draw [default: no noise: a hard head takes
    /// its most likely row, a Bayesian one the means of its weights].
    #[arg(long, value_name = "K", value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    sample: Option<u64>,
    /// Show these bits instead of random ones.
    #[arg(long, value_name = "BITS.JSON")]
    input: Option<PathBuf>,
    /// What stands in that file, where it is held in memory.
    #[arg(skip)]
    pub(super) bits: Option<String>,
    /// Run on this many memory rows instead of those of the training.
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    pub(super) rows: Option<usize>,
}

impl EpisodeArgs {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        self.all_given().next()
    }

    /// That nothing is asked of a recorded trace, which is `done` as it is: drawn, shown.
    pub(super) fn check_none(&self, source: &str, done: &str) -> anyhow::Result<()> {
        self.given()
            .map_or(Ok(()), |option| as_it_is(option, source, done))
    }

    fn all_given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--weights", self.weights.is_some()),
            ("--length", self.length.is_some()),
            ("--items", self.items.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--seed", self.seed.is_some()),
            ("--episode", self.episode.is_some()),
            ("--sample", self.sample.is_some()),
            ("--input", self.input.is_some()),
            ("--rows", self.rows.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(option, _)| option)
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
        if (task.inputs(), task.outputs()) != (config.inputs(), config.outputs()) {
            return refuse(format!(
                "{label}: the machine has {} inputs and {} outputs; the task of {} has {} and {}",
                config.inputs(),
                config.outputs(),
                experiment.name,
                task.inputs(),
                task.outputs()
            ));
        }
        trained.experiment = experiment;
        Ok(trained)
    }

    /// True where one of several episodes is asked for.
    #[cfg(feature = "gui")]
    pub(super) fn is_chosen(&self) -> bool {
        let others = ["--weights", "--rows"];
        self.all_given().any(|option| !others.contains(&option))
    }

    /// The episode, with its task, and the seed and index that draw it; `name` is what was typed for the machine.
    pub(super) fn choose(&self, name: &str, trained: &Trained) -> anyhow::Result<Chosen> {
        let mut task = trained.experiment.task.clone();
        if self.repeats.is_some() && task.repeats().is_none() {
            return machine::no_repeats(&task);
        }
        let config = &trained.machine.config;
        if let Some(path) = &self.input {
            if task.held_out().is_some() {
                return refuse(
                    "--input: the episodes of this task are in a file; --episode shows one of those that are held out",
                );
            }
            let by_hand = match &self.bits {
                Some(json) => bits::from_json(json, &label(path), &task, self.repeats)?,
                None => bits::read(path, &task, self.repeats)?,
            };
            check_size(name, config, &by_hand.task)?;
            return Ok(Chosen {
                episode: by_hand.episode(),
                task: by_hand.task,
                origin: None,
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
        check_size(name, config, &task)?;
        // Of a file, those that are held out are counted from the first.
        let unseen = task.held_out().map_or(UNSEEN_SEED, |_| 0);
        let (seed, index) = (self.seed.unwrap_or(unseen), self.episode.unwrap_or(0));
        let origin = self.draw(name, config, Draw::of(seed, index))?;
        Ok(Chosen {
            episode: task.episode(seed, index),
            task,
            origin: Some(origin),
        })
    }

    /// What becomes of the noise of an episode.
    fn draw(&self, name: &str, config: &ModelConfig, of: Draw) -> anyhow::Result<Draw> {
        let Some(sample) = self.sample else {
            return Ok(of);
        };
        machine::check_random("--sample", name, config)?;
        let sampling = Sampling::Drawn;
        Ok(Draw {
            sample,
            sampling,
            ..of
        })
    }

    /// What the machine does in the episode; `name` is what was typed for the machine.
    pub(super) fn record(&self, name: &str, trained: &Trained) -> anyhow::Result<Recording> {
        let recording = self.recording(name, trained)?;
        note_overrun(name, &recording);
        Ok(recording)
    }

    /// [`EpisodeArgs::record`], without a word.
    pub(super) fn recording(&self, name: &str, trained: &Trained) -> anyhow::Result<Recording> {
        let Chosen {
            task,
            episode,
            origin,
        } = self.choose(name, trained)?;
        Ok(Recording::of(&trained.machine, &task, episode, origin))
    }
}

/// A recorded trace is `done` as it is: an option that asks something else of it is refused.
pub(super) fn as_it_is<T>(option: &str, source: &str, done: &str) -> anyhow::Result<T> {
    refuse(format!(
        "{option}: {source} is a recorded trace and is {done} as it is; {option} needs a preset or weights"
    ))
}

/// Says so where writes reach rows already written; `name` is what was typed for the episode.
pub(super) fn note_overrun(name: &str, recording: &Recording) {
    if let Some(overrun) = recording.trace.overrun() {
        note(&format!("note: {name}: {overrun}"));
    }
}

/// True for a source that is a recorded trace, by its name.
pub(super) fn is_trace(source: &str) -> bool {
    let path = Path::new(source);
    let is_one = |end: &OsStr| ["json", "gz", "npz"].iter().any(|trace| end == *trace);
    trace::is_named_so(path) || path.is_file() && path.extension().is_some_and(is_one)
}

fn check_size(name: &str, config: &ModelConfig, task: &Task) -> anyhow::Result<()> {
    let steps = format!("--{}", task.measure().name());
    let parts = [(Part::Rows, "--rows"), (Part::Steps, &steps)];
    machine::check_size(config, task, Work::Recording, name, &parts)
}
