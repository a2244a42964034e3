//! Learning and measuring: loss, optimizer, trainer, evaluation.

mod config;
mod evaluate;
mod loss;
mod optimizer;
mod recording;
mod trainer;

pub use config::{Clip, OptimizerConfig, TrainingConfig};
pub use evaluate::{Evaluation, evaluate, optimum};
pub use loss::{Score, logit_gradient, score};
pub use optimizer::{Optimizer, clip, global_norm};
pub use recording::Recording;
pub use trainer::{Diverged, HistoryPoint, Trainer, Update};

/// A pool of this many threads (at least one).
fn threads(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .expect("the system starts the threads of a small pool")
}
