//! Learning and measuring: loss, optimizer, trainer, evaluation.

mod config;
mod evaluate;
mod loss;
mod recording;
mod trainer;

pub use config::{Clip, OptimizerConfig, TrainingConfig};
pub use evaluate::{Evaluation, evaluate};
pub use loss::{Score, logit_gradient, score};
pub use recording::Recording;
pub use trainer::{Diverged, HistoryPoint, Trainer, Update};
