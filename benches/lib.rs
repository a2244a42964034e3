//! Benchmarks of Tapescope: see README.md beside this file.

use std::fmt::Debug;
use std::str::FromStr;

use tapescope::train::{Clip, OptimizerConfig, TrainingConfig};

/// The training that every implementation is measured on: RMSProp without an end and without validations.
pub fn training(batch: usize) -> TrainingConfig {
    TrainingConfig {
        optimizer: OptimizerConfig::RmsProp {
            learning_rate: 1e-4,
            decay: 0.95,
            momentum: 0.9,
            epsilon: 1e-4,
        },
        clip: Clip::Elementwise(10.0),
        batch,
        sequences: u64::MAX,
        validation_every: u64::MAX,
        validation_episodes: 1,
        ..TrainingConfig::default()
    }
}

/// The options on the command line, `--NAME` or `--NAME VALUE`.
pub struct Options(Vec<String>);

impl Options {
    /// Those that the program was started with.
    pub fn read() -> Self {
        Self(std::env::args().collect())
    }

    /// True if this one is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument == name)
    }

    /// Its value, or `default`.
    ///
    /// # Panics
    /// It is no such value.
    pub fn value<T: FromStr<Err: Debug>>(&self, name: &str, default: &str) -> T {
        let at = self.0.iter().position(|argument| argument == name);
        let given = at.and_then(|at| self.0.get(at + 1));
        given.map_or(default, |given| given).parse().expect(name)
    }
}
