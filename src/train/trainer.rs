//! The training loop: episodes in, better weights out, one update at a time.

use super::config::TrainingConfig;
use super::evaluate::Evaluation;
use crate::model::{ModelConfig, Ntm};
use crate::task::Task;

/// A training run in progress. Create it, call [`Trainer::update`] until [`Trainer::finished`].
#[derive(Debug)]
pub struct Trainer {
    /// What is learned.
    pub task: Task,
    /// How.
    pub config: TrainingConfig,
    /// The machine as it is now.
    pub machine: Ntm<f32>,
    /// The best machine of all validations so far, with its measure.
    pub best: Option<(Ntm<f32>, Evaluation)>,
    /// One point per validation.
    pub history: Vec<HistoryPoint>,
    /// Sequences trained on so far.
    pub sequences: u64,
}

/// The state of learning at one validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Sequences trained on.
    pub sequences: u64,
    /// Seconds since the run began.
    pub seconds: f64,
    /// Mean training loss since the last point, bits per sequence (before the updates).
    pub training_bits: f64,
    /// Validation.
    pub validation: Evaluation,
}

/// What one update did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Mean loss of the batch before the update, bits per sequence.
    pub bits: f64,
    /// Mean wrong bits of the batch before the update, per sequence.
    pub wrong: f64,
    /// Set when this update ended with a validation.
    pub validated: Option<HistoryPoint>,
}

/// A value that is not a number, or infinite, turned up. The last good weights are still in the trainer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The tensor, by its name in weight files or traces.
    pub tensor: String,
    /// The step of the episode, where the tensor belongs to one.
    pub step: Option<usize>,
    /// Sequences trained on before.
    pub sequences: u64,
}

impl std::fmt::Display for Diverged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is no longer finite", self.tensor)?;
        if let Some(step) = self.step {
            write!(f, " at step {step}")?;
        }
        write!(f, " after {} sequences", self.sequences)
    }
}

impl std::error::Error for Diverged {}

impl Trainer {
    /// A fresh run: weights from the seed of `config`, nothing learned.
    pub fn new(task: Task, model: ModelConfig, config: TrainingConfig, threads: usize) -> Self {
        todo!("{task:?} {model:?} {config:?} {threads}")
    }

    /// True when the run has seen all its sequences.
    pub fn finished(&self) -> bool {
        self.sequences >= self.config.sequences
    }

    /// Trains on the next batch.
    ///
    /// # Errors
    /// [`Diverged`] names the tensor and the step; the weights stay as they were before this update.
    pub fn update(&mut self) -> Result<Update, Diverged> {
        todo!()
    }
}
