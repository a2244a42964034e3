//! The training loop: episodes in, better weights out, one update at a time.

use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::config::TrainingConfig;
use super::evaluate::{Evaluation, evaluate_on};
use super::loss::{Score, logit_gradient, score};
use super::optimizer::{Optimizer, clip};
use crate::math::matrix::padded;
use crate::math::{Real, Series};
use crate::model::{ModelConfig, Ntm, Params, Role, Trace, Workspace};
use crate::task::{Episode, Task};

/// Validation episodes come from this seed plus the run's: never the episodes trained on.
const VALIDATION_SEED: u64 = 0x7A11_DA7E_0000_0000;

/// Values of memory that the tape of one episode keeps whole (64 MiB of f32); beyond it keeps some and
/// writes the others again.
const TAPE_LIMIT: usize = 1 << 24;

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
    optimizer: Optimizer<f32>,
    gradient: Params<f32>,
    workers: Vec<Worker>,
    threads: ThreadPool,
    training: Duration,
    since_validation: Vec<Score>,
}

/// The state of learning at one validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Sequences trained on.
    pub sequences: u64,
    /// Seconds spent in updates since the run began.
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
            write!(f, " at step {step} of an episode")?;
        }
        write!(f, ", after {} sequences", self.sequences)
    }
}

impl std::error::Error for Diverged {}

/// What the work on one episode of a batch needs, allocated once.
#[derive(Debug)]
struct Worker {
    trace: Trace<f32>,
    logit_gradient: Series<f32>,
    workspace: Workspace<f32>,
    gradient: Params<f32>,
    loss: Vec<f32>,
    score: Score,
}

impl Worker {
    fn new(model: &ModelConfig) -> Self {
        Self {
            trace: Trace::new(model),
            logit_gradient: Series::new(padded(model.outputs)),
            workspace: Workspace::new(model),
            gradient: Params::zeros(model),
            loss: Vec::new(),
            score: Score::default(),
        }
    }

    /// Forward, loss and backward of one episode; the gradient is left in `self`.
    fn learn(&mut self, machine: &Ntm<f32>, episode: &Episode, scale: f32) {
        machine.run_for_training(&episode.input, TAPE_LIMIT, &mut self.trace);
        self.loss.resize(episode.steps(), 0.0);
        self.score = score(episode, &self.trace, &mut self.loss);
        logit_gradient(episode, &self.trace, scale, &mut self.logit_gradient);
        machine.backward(
            &self.trace,
            &self.logit_gradient,
            &mut self.workspace,
            &mut self.gradient,
        );
    }
}

impl Trainer {
    /// A fresh run: weights from the seed of `config`, nothing learned.
    pub fn new(task: Task, model: ModelConfig, config: TrainingConfig, threads: usize) -> Self {
        Self {
            optimizer: Optimizer::new(config.optimizer, &model),
            gradient: Params::zeros(&model),
            workers: (0..config.batch).map(|_| Worker::new(&model)).collect(),
            threads: super::threads(threads.min(config.batch)),
            machine: Ntm::new(model, config.seed),
            best: None,
            history: Vec::new(),
            sequences: 0,
            training: Duration::ZERO,
            since_validation: Vec::new(),
            task,
            config,
        }
    }

    /// True when the run has seen all its sequences.
    pub fn finished(&self) -> bool {
        self.sequences >= self.config.sequences
    }

    /// Seconds spent in updates so far, without validations.
    pub fn seconds(&self) -> f64 {
        self.training.as_secs_f64()
    }

    /// Trains on the next batch, and validates when it is time.
    ///
    /// The gradient is the mean over the batch of the derivative of the summed cross-entropy in nats. It
    /// is summed in the order of the episodes: the result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Diverged`] names the tensor and the step; the weights stay as they were before this update.
    pub fn update(&mut self) -> Result<Update, Diverged> {
        let start = Instant::now();
        self.learn_batch();
        let finite = clip(&mut self.gradient, self.config.clip);
        if !finite
            || self
                .workers
                .iter()
                .any(|worker| !worker.score.bits.is_finite())
        {
            return Err(self.divergence());
        }
        let rate_factor = self.rate_factor();
        self.optimizer
            .update(&mut self.machine.params, &self.gradient, rate_factor);
        self.training += start.elapsed();

        let before = self.sequences / self.config.validation_every;
        self.sequences += self.config.batch as u64;
        let batch: Vec<Score> = self.workers.iter().map(|worker| worker.score).collect();
        let Evaluation {
            bits_per_sequence: bits,
            wrong_bits: wrong,
            ..
        } = Evaluation::of(&batch);
        self.since_validation.extend(batch);
        let due = self.sequences / self.config.validation_every > before || self.finished();
        let validated = due.then(|| self.validate());
        Ok(Update {
            bits,
            wrong,
            validated,
        })
    }

    /// Fills `self.gradient` from the next episodes.
    fn learn_batch(&mut self) {
        let Self {
            task,
            config,
            machine,
            workers,
            threads,
            sequences,
            ..
        } = self;
        let scale = 1.0 / config.batch as f32;
        let learn = |(index, worker): (usize, &mut Worker)| {
            let episode = task.episode(config.seed, *sequences + index as u64);
            worker.learn(machine, &episode, scale);
        };
        if config.batch == 1 {
            workers.iter_mut().enumerate().for_each(learn);
        } else {
            threads.install(|| workers.par_iter_mut().enumerate().for_each(learn));
        }
        for (index, worker) in self.workers.iter_mut().enumerate() {
            if index == 0 {
                std::mem::swap(&mut self.gradient, &mut worker.gradient);
            } else {
                self.gradient.add(&worker.gradient);
            }
        }
    }

    /// Half a cosine from 1 to `final_rate` over the run.
    fn rate_factor(&self) -> f64 {
        let progress = (self.sequences as f64 / self.config.sequences as f64).min(1.0);
        let last = self.config.final_rate;
        last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
    }

    fn validate(&mut self) -> HistoryPoint {
        let seed = self.config.seed.wrapping_add(VALIDATION_SEED);
        let validation = evaluate_on(
            &self.threads,
            &self.machine,
            &self.task,
            seed,
            self.config.validation_episodes,
        );
        let is_best =
            |best: &(Ntm<f32>, Evaluation)| validation.bits_per_sequence < best.1.bits_per_sequence;
        // Weights whose validation is not finite are never the best, not even as the first.
        if validation.bits_per_sequence.is_finite() && self.best.as_ref().is_none_or(is_best) {
            self.best = Some((self.machine.clone(), validation));
        }
        let training_bits = Evaluation::of(&self.since_validation).bits_per_sequence;
        self.since_validation.clear();
        let seconds = self.seconds();
        let point = HistoryPoint {
            sequences: self.sequences,
            seconds,
            training_bits,
            validation,
        };
        self.history.push(point);
        point
    }

    /// Names the first thing that is not finite.
    fn divergence(&self) -> Diverged {
        let in_trace = self
            .workers
            .iter()
            .find_map(|worker| first_not_finite(&worker.trace, &self.machine.config));
        let (tensor, step) = in_trace.map_or_else(
            || {
                let named = self.gradient.named(&self.machine.config);
                let bad = named
                    .iter()
                    .find(|(_, tensor)| tensor.iter().any(|g| !g.is_finite()));
                (
                    bad.map_or("gradient".into(), |(name, _)| format!("gradient of {name}")),
                    None,
                )
            },
            |(tensor, step)| (tensor, Some(step)),
        );
        Diverged {
            tensor,
            step,
            sequences: self.sequences,
        }
    }
}

/// The first tensor of an episode, in the order it was computed, with a value that is not finite.
fn first_not_finite<R: Real>(trace: &Trace<R>, config: &ModelConfig) -> Option<(String, usize)> {
    let bad = |values: &[R]| values.iter().any(|value| !value.is_finite());
    (0..trace.steps()).find_map(|t| {
        if trace.layers.iter().any(|layer| bad(layer.hidden.row(t))) {
            return Some(("controller.hidden".to_string(), t));
        }
        for (index, head) in trace.heads.iter().enumerate() {
            let scalars = [
                ("strength", &head.strength),
                ("gate", &head.gate),
                ("sharpening", &head.sharpening),
            ];
            let rows = [
                ("key", &head.key),
                ("shift", &head.shift),
                ("similarity", &head.similarity),
                ("content", &head.content),
                ("gated", &head.gated),
                ("shifted", &head.shifted),
                ("weighting", &head.weighting),
            ];
            let scalar = scalars
                .iter()
                .find(|(_, values)| !values[t].is_finite())
                .map(|(name, _)| *name);
            let vectors = match &head.role {
                Role::Read { read } => vec![("read", read)],
                Role::Write { erase, add } => vec![("erase", erase), ("add", add)],
            };
            let row = rows
                .iter()
                .chain(&vectors)
                .find(|(_, series)| bad(series.row(t)))
                .map(|(name, _)| *name);
            if let Some(name) = scalar.or(row) {
                return Some((format!("{}.{name}", config.head_name(index)), t));
            }
        }
        if trace.memory_every == 1 && bad(trace.memory_columns.row(t + 1)) {
            return Some(("memory".to_string(), t));
        }
        bad(trace.logit.row(t)).then(|| ("output".to_string(), t))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Copy;
    use crate::train::{Clip, OptimizerConfig};

    /// A machine that learns within a second or two.
    fn small(batch: usize, sequences: u64, threads: usize) -> Trainer {
        let task = Task::Copy(Copy {
            bits: 2,
            length: 1..=3,
        });
        let mut model = ModelConfig::new(task.inputs(), task.outputs());
        (model.rows, model.columns, model.controller.size) = (8, 6, 20);
        let config = TrainingConfig {
            optimizer: OptimizerConfig::Adam {
                rate: 5e-3,
                beta1: 0.9,
                beta2: 0.999,
                epsilon: 1e-8,
            },
            final_rate: 0.1,
            clip: Clip::GlobalNorm(10.0),
            batch,
            sequences,
            seed: 3,
            validation_every: 1000,
            validation_episodes: 50,
        };
        Trainer::new(task, model, config, threads)
    }

    #[test]
    fn a_small_machine_learns_to_copy() {
        let mut trainer = small(4, 16_000, 2);
        while !trainer.finished() {
            trainer.update().unwrap();
        }
        let (first, best) = (trainer.history[0].validation, trainer.best.unwrap().1);
        assert!(first.bits_per_sequence > 1.0, "{first:?}");
        assert!(
            best.bits_per_sequence < 0.1 && best.perfect == 1.0,
            "{best:?}"
        );
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads() {
        let weights = |threads| {
            let mut trainer = small(5, 100, threads);
            while !trainer.finished() {
                trainer.update().unwrap();
            }
            trainer.machine.params
        };
        let one = weights(1);
        assert_eq!(one, weights(2));
        assert_eq!(one, weights(3));
    }

    #[test]
    fn a_value_that_is_not_finite_stops_the_run_and_spares_the_weights() {
        let mut trainer = small(2, 100, 1);
        trainer.machine.params.heads.bias.view_mut().fill(f32::NAN);
        let before = format!("{:?}", trainer.machine.params);
        let diverged = trainer.update().unwrap_err();
        assert_eq!(
            (diverged.tensor.as_str(), diverged.step),
            ("read0.strength", Some(0))
        );
        assert_eq!(before, format!("{:?}", trainer.machine.params));
    }
}
