//! Learning and measuring: loss, optimizer, trainer, evaluation.

mod agreement;
mod alignment;
mod attribution;
mod aux_losses;
mod calibration;
mod config;
mod curves;
mod diagnostics;
mod ending;
mod enumeration;
mod episode_input;
mod evaluate;
mod loss;
mod memory_demand;
mod optimizer;
mod recording;
mod redundancy;
mod reproducibility;
mod samples;
mod state;
mod trainer;
pub mod uncertainty;

pub use alignment::{AlignmentScore, OFFSETS, has_single_reader};
pub use attribution::Quantity;
pub use aux_losses::AuxLosses;
pub use calibration::Calibration;
pub use config::{
    BayesianConfig, Clip, HardConfig, HardEstimator, OptimizerConfig, Redundancy, TrainingConfig,
};
pub use curves::{Outcome, Spread, after, best, median_and_worst, spread, spread_aux, thin};
pub use diagnostics::{Diagnostics, HeadDiagnostics, entropy};
pub use ending::Ending;
pub use episode_input::offer;
pub use evaluate::{Evaluation, Evaluator, Measurement, chance, optimum};
pub use loss::{Score, logit_gradient, score};
pub use memory_demand::{Demand, LARGEST_RECORDING};
pub use optimizer::{Optimizer, clip, global_norm};
pub use recording::{ABSENT, Recorder, Recording, is_absent, is_unrecorded};
pub use redundancy::{Penalty, overlap};
pub use samples::Sampled;
pub use state::{Change, HistoryPoint, SinceValidation, State};
pub use trainer::{Diverged, Trainer, Update};

/// The seed of evaluations and of single episodes, where none is given: far from the small seeds of training
/// runs (the presets' is 1), so that these are episodes that no machine was trained on.
pub const UNSEEN_SEED: u64 = 1_000_000;
