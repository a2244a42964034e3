//! Benchmarks of Tapescope: see README.md beside this file.

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
