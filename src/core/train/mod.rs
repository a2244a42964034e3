//! Learning and measuring: loss, optimizer, trainer, evaluation.

mod attribution;
mod beside;
mod bytes;
mod config;
mod curves;
#[cfg(test)]
mod enumeration;
mod evaluate;
mod loss;
mod optimizer;
mod pool;
mod recording;
mod redundancy;
#[cfg(test)]
mod same_bits;
mod samples;
mod state;
mod trainer;
pub mod uncertainty;
mod vitals;

pub use attribution::Quantity;
pub use beside::{BayesianConfig, Beside, HardConfig};
pub use bytes::{Demand, LARGEST_RECORDING, Part, Work, recording_bytes};
pub use config::{Clip, OptimizerConfig, Redundancy, TrainingConfig};
pub use curves::{
    Outcome, Spread, after, best, median, median_and_worst, spread, spread_beside, thin,
};
pub use evaluate::{Evaluation, Exam, Measurement, chance, optimum};
pub use loss::{Score, logit_gradient, score};
pub use optimizer::{Optimizer, clip, global_norm};
pub use recording::{ABSENT, Recorder, Recording, is_absent, is_unrecorded};
pub use redundancy::{Penalty, overlap};
pub use samples::Sampled;
pub use state::{Change, HistoryPoint, Since, State};
pub use trainer::{Diverged, Trainer, Update};
pub use vitals::{HeadVitals, Vitals, entropy};

/// The seed of evaluations and of single episodes, where none is given: far from the small seeds of training
/// runs (the presets' is 1), so that these are episodes that no machine was trained on.
pub const UNSEEN_SEED: u64 = 1_000_000;
