//! State of a training run: everything on which its next update depends.

use std::time::Duration;

use super::aux_losses::AuxLosses;
use super::config::TrainingConfig;
use super::evaluate::Evaluation;
use super::optimizer::Optimizer;
use crate::model::{Model, ModelConfig};

/// A training run between two updates. With its task and its configuration it determines the rest of the
/// run: a run resumed from a copy ends with the same bits. Episodes are functions of the seed and
/// their index, so it contains no generator.
#[derive(Clone, Debug)]
pub struct State {
    /// The machine as it is now; with the agreement of two, also the machine in the opposite direction.
    pub machines: Vec<Model<f32>>,
    /// The running moments of the gradient of each machine.
    pub optimizers: Vec<Optimizer<f32>>,
    /// The best machine of all validations so far, with its measure.
    pub best: Option<(Model<f32>, Evaluation)>,
    /// One point per validation.
    pub history: Vec<HistoryPoint>,
    /// Sequences trained on so far.
    pub sequences: u64,
    /// Time spent in updates so far, without validations.
    pub time: Duration,
    /// Consecutive updates skipped because their gradient was not finite.
    pub overflows: u32,
    /// Sums over training since the last validation.
    pub since_validation: SinceValidation,
    /// The moving baseline of ln p(y|s), by which hard heads are rewarded, nats.
    pub baseline: f64,
    /// The changes made during training, in order.
    pub changes: Vec<Change>,
}

/// Separates the weights of the machine in the opposite direction from those of the first one.
const REVERSE: u64 = 0x02E5_E25E_0000_0000;

/// A change of the task or the configuration of a run while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// The new values, each as `path=value`.
    pub set: Vec<String>,
}

/// Sums over the sequences trained on since the last validation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinceValidation {
    /// The number of sequences.
    pub sequences: u64,
    /// The sum of their bits.
    pub bits: f64,
    /// The sums of the auxiliary losses; absent without sequences.
    pub aux: AuxLosses,
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
    /// Mean of the auxiliary losses, over the same sequences.
    pub training_aux: AuxLosses,
    /// Validation.
    pub validation: Evaluation,
}

impl State {
    /// Prefixes of the tensors of the machines: of the first one, and of that in the opposite direction.
    pub const PREFIXES: [&str; 2] = ["", "reverse."];

    /// Creates the state before training: weights from the seed of `config`.
    pub fn new(model: ModelConfig, config: &TrainingConfig) -> Self {
        Self {
            optimizers: vec![Optimizer::new(config.optimizer, &model)],
            machines: vec![Model::new(model, config.seed)],
            best: None,
            history: Vec::new(),
            sequences: 0,
            time: Duration::ZERO,
            overflows: 0,
            since_validation: SinceValidation::default(),
            baseline: 0.0,
            changes: Vec::new(),
        }
    }

    /// The configuration of the machine in the opposite direction.
    pub fn reverse_of(model: &ModelConfig) -> ModelConfig {
        let mut reverse = model.clone();
        reverse.set_channels(model.outputs(), model.inputs());
        reverse
    }

    /// Adds a new machine in the opposite direction where training has the agreement of two, and removes it elsewhere; sets the
    /// constants of the optimizers.
    pub(super) fn fit(&mut self, config: &TrainingConfig) {
        let count = config.machines();
        self.machines.truncate(count);
        self.optimizers.truncate(count);
        if self.machines.len() < count {
            let model = Self::reverse_of(&self.machines[0].config);
            self.optimizers
                .push(Optimizer::new(config.optimizer, &model));
            self.machines.push(Model::new(model, config.seed ^ REVERSE));
        }
        for optimizer in &mut self.optimizers {
            optimizer.config = config.optimizer;
        }
    }
}
