//! What a training run is at one moment: all that its next update depends on.

use std::time::Duration;

use super::beside::Beside;
use super::config::TrainingConfig;
use super::evaluate::Evaluation;
use super::optimizer::Optimizer;
use crate::model::{Model, ModelConfig};

/// A training run between two updates. With its task and its configuration it says everything about the rest
/// of the run: what goes on from a copy of it ends in the same bits. Episodes are functions of the seed and
/// their index, so no generator is among it.
#[derive(Clone, Debug)]
pub struct State {
    /// The machine as it is now.
    pub machine: Model<f32>,
    /// The running moments of the gradient.
    pub optimizer: Optimizer<f32>,
    /// The best machine of all validations so far, with its measure.
    pub best: Option<(Model<f32>, Evaluation)>,
    /// One point per validation.
    pub history: Vec<HistoryPoint>,
    /// Sequences trained on so far.
    pub sequences: u64,
    /// Time spent in updates so far, without validations.
    pub time: Duration,
    /// Updates left out, one after the other, because their gradient was not finite.
    pub overflows: u32,
    /// What came out of training since the last validation.
    pub since_validation: Since,
    /// The moving baseline of ln p(y|s), by which hard heads are rewarded, nats.
    pub baseline: f64,
    /// What was changed while it ran, in order.
    pub changes: Vec<Change>,
}

/// A change of the task or the configuration of a run while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// What was set, each as `path=value`.
    pub set: Vec<String>,
}

/// Sums over the sequences trained on since the last validation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Since {
    /// How many.
    pub sequences: u64,
    /// Of their bits.
    pub bits: f64,
    /// Of what joins the loss; of no sequence nothing is known.
    pub beside: Beside,
}

/// The state of learning at one validation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistoryPoint {
    /// Sequences trained on.
    pub sequences: u64,
    /// Seconds spent in updates since the run began.
    pub seconds: f64,
    /// Mean training loss since the last point, bits per sequence (before the updates).
    pub training_bits: f64,
    /// Mean of what joins the loss, over the same sequences.
    pub training_beside: Beside,
    /// Validation.
    pub validation: Evaluation,
}

impl State {
    /// Nothing learned: weights from the seed of `config`.
    pub fn new(model: ModelConfig, config: &TrainingConfig) -> Self {
        Self {
            optimizer: Optimizer::new(config.optimizer, &model),
            machine: Model::new(model, config.seed),
            best: None,
            history: Vec::new(),
            sequences: 0,
            time: Duration::ZERO,
            overflows: 0,
            since_validation: Since::default(),
            baseline: 0.0,
            changes: Vec::new(),
        }
    }
}
