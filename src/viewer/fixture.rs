//! Fixtures of the tests: a task of copying two bits, and a machine of 8 rows.
#![cfg(test)]

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::command::{Command, Replacement};
use super::state::{
    Effect, EpisodeRequest, Machine, NoFiles, Open, RecordedEpisode, RecordingInputs, State,
};
use super::worker::Worker;
use crate::io::Experiment;
use crate::model::{Model, NtmConfig};
use crate::task::{Copy, Task};
use crate::train::Recording;

/// Copying two bits at a time.
pub fn copying(length: RangeInclusive<usize>) -> Task {
    Task::Copy(Copy { bits: 2, length })
}

/// A machine for that.
pub fn config() -> NtmConfig {
    let task = copying(1..=1);
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns, config.controller.size) = (8, 3, 4);
    config
}

/// Returns an episode of it with this number of vectors.
pub fn recording(config: NtmConfig, length: usize, seed: u64) -> Recording {
    Recording::new(&Model::new(config, seed), &copying(length..=length), 1, 0)
}

/// Returns such an episode as if it came from a file.
pub fn opened(config: NtmConfig, length: usize, seed: u64) -> Open {
    let recording = recording(config.clone(), length, seed);
    Open::new(
        RecordedEpisode::of_file(String::new(), recording, Some(config.into())),
        None,
    )
}

/// A machine to choose.
pub fn machine(config: NtmConfig, task: Task) -> Machine {
    Machine {
        name: "tiny".to_owned(),
        title: "Tiny".to_owned(),
        other_way: None,
        away: false,
        ntm: Model::new(config, 1),
        task,
    }
}

/// Two vectors of this seed.
pub fn inputs(seed: u64) -> RecordingInputs {
    let machine = Arc::new(machine(config(), copying(2..=2)));
    let request = EpisodeRequest::of(0, &machine, seed);
    RecordingInputs {
        machine,
        request,
        gradients: None,
    }
}

/// Starts training, with its job done at once.
pub fn begin(state: &mut State, experiment: Experiment) {
    perform(state, Replacement::Begin(vec![(None, experiment)]).into());
}

/// Applies a command, with its jobs done at once.
pub fn perform(state: &mut State, command: Command) {
    let effects = state.apply(command);
    work(state, effects);
}

/// Does the jobs among these effects, and those that follow from them.
pub fn work(state: &mut State, mut effects: Vec<Effect>) {
    let mut worker = Worker::here(Arc::new(NoFiles));
    while !effects.is_empty() {
        for effect in effects.drain(..) {
            if let Effect::Start(job) = effect {
                worker.start(job);
            }
        }
        for outcome in worker.outcomes() {
            effects.extend(state.receive(outcome));
        }
    }
}
