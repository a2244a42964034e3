//! Memory demand of a recording, an evaluation or a training run, before it starts.

use super::evaluate::TAPE_LIMIT;
use super::trainer::group_size;
use crate::math::matrix::padded;
use crate::model::{Extent, ModelConfig, Trace};

/// The largest recording that is held to be looked at, in bytes.
pub const LARGEST_RECORDING: u64 = 2 << 30;

/// Copies of the weights that a training run holds in addition to the gradients of its groups: the machine, the best
/// one so far, the gradient, up to three moments of the optimizer, and two on their way to the disk.
const COPIES: u64 = 8;

/// Work that is about to take memory.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The machine.
    pub config: ModelConfig,
    /// Steps of the longest episode.
    pub steps: usize,
    /// The work that it does.
    pub work: Work,
}

/// The work of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One episode is recorded with every stage.
    Recording,
    /// Episodes are measured, one on each thread.
    Measuring {
        /// Episodes at a time.
        threads: usize,
        /// Additional samples of each episode; their answers are kept until the end.
        samples: usize,
    },
    /// A machine learns.
    Training {
        /// Episodes in an update.
        batch: usize,
        /// Threads for them.
        threads: usize,
        /// Heads with a penalty on their weightings.
        penalised: usize,
    },
}

/// The parts that make a demand large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Steps of an episode.
    Steps,
    /// Rows of the memory.
    Rows,
    /// Columns of the memory.
    Columns,
    /// Units in a layer of the controller.
    Units,
    /// Layers of the controller.
    Layers,
    /// Episodes in an update.
    Batch,
    /// Episodes at a time.
    Threads,
    /// Draws of an episode.
    Samples,
}

impl Demand {
    /// Bytes that the work takes.
    pub fn bytes(&self) -> u64 {
        let (config, steps) = (&self.config, self.steps);
        match self.work {
            Work::Recording => recording_bytes(config, steps),
            Work::Measuring { threads, samples } => {
                let answer =
                    of_f32(padded(config.outputs()) as u64).saturating_mul(2 * steps as u64);
                let answers = answer.saturating_mul((threads * samples) as u64);
                evaluation_bytes(config, steps, threads).saturating_add(answers)
            }
            Work::Training {
                batch,
                threads,
                penalised,
            } => {
                let by_rows = (penalised * config.rows()) as u64;
                let penalty = of_f32(by_rows.saturating_mul(steps as u64));
                let tapes = threads.min(batch) * group_size(batch);
                training_bytes(config, steps, batch, threads)
                    .saturating_add(penalty.saturating_mul(tapes as u64))
            }
        }
    }

    /// Threads that the work starts.
    pub fn threads(&self) -> usize {
        match self.work {
            Work::Recording => 0,
            Work::Measuring { threads, .. } => threads,
            Work::Training { batch, threads, .. } => threads.min(batch),
        }
    }

    /// Returns the part that contributes most: the one that would save most if it had ordinary size. The first of
    /// several that would save as much; `None` if no part is larger than ordinary.
    pub fn largest<T>(&self, parts: impl IntoIterator<Item = (Part, T)>) -> Option<(Part, T)> {
        let with = |part| self.with_ordinary(part).bytes();
        let least = parts.into_iter().min_by_key(|(part, _)| with(*part));
        least.filter(|(part, _)| with(*part) < self.bytes())
    }

    /// Returns the work with one part no larger than in the included presets.
    fn with_ordinary(&self, part: Part) -> Self {
        let mut less = self.clone();
        let config = &mut less.config;
        let (size, most) = match part {
            Part::Rows => (config.extent_mut(Extent::Rows), 128),
            Part::Columns => (config.extent_mut(Extent::Columns), 20),
            Part::Units => (config.extent_mut(Extent::Units), 100),
            Part::Layers => (config.extent_mut(Extent::Layers), 1),
            Part::Steps => (Some(&mut less.steps), 128),
            Part::Batch => match &mut less.work {
                Work::Training { batch, .. } => (Some(batch), 16),
                Work::Recording | Work::Measuring { .. } => return less,
            },
            Part::Samples => match &mut less.work {
                Work::Measuring { samples, .. } => (Some(samples), 20),
                Work::Recording | Work::Training { .. } => return less,
            },
            Part::Threads => match &mut less.work {
                Work::Training { threads, .. } | Work::Measuring { threads, .. } => {
                    (Some(threads), 4)
                }
                Work::Recording => return less,
            },
        };
        if let Some(size) = size {
            *size = most.min(*size);
        }
        less
    }
}

/// Bytes of a recorded episode of `steps` steps.
pub fn recording_bytes(config: &ModelConfig, steps: usize) -> u64 {
    Trace::<f32>::bytes(config, steps, usize::MAX).saturating_add(episode_bytes(config, steps))
}

/// Bytes that [`super::Evaluator::measure`] takes for episodes of `steps` steps, as many at a time.
fn evaluation_bytes(config: &ModelConfig, steps: usize, at_a_time: usize) -> u64 {
    tape_bytes(config, steps)
        .saturating_mul(at_a_time as u64)
        .saturating_add(of_f32(config.shape().count()))
}

/// Bytes that a [`super::Trainer`] takes for episodes of `steps` steps, on `threads` threads.
fn training_bytes(config: &ModelConfig, steps: usize, batch: usize, threads: usize) -> u64 {
    let (weights, size) = (of_f32(config.shape().count()), group_size(batch));
    let threads = threads.min(batch);
    let tape = tape_bytes(config, steps).saturating_add(workspace_bytes(config, steps));
    let tapes = tape.saturating_mul((threads * size) as u64);
    let gradients = weights.saturating_mul(batch.div_ceil(size) as u64);
    tapes
        .saturating_add(gradients)
        .saturating_add(evaluation_bytes(config, steps, threads))
        .saturating_add(weights.saturating_mul(COPIES))
}

/// Bytes of an episode for its logits only, or for its gradient.
fn tape_bytes(config: &ModelConfig, steps: usize) -> u64 {
    Trace::<f32>::bytes(config, steps, TAPE_LIMIT).saturating_add(episode_bytes(config, steps))
}

/// Input, target, mask and loss.
fn episode_bytes(config: &ModelConfig, steps: usize) -> u64 {
    let per_step = config.inputs() + config.outputs() + 2;
    of_f32((per_step as u64).saturating_mul(steps as u64))
}

/// Returns the memory that back-propagation needs besides the tape.
fn workspace_bytes(config: &ModelConfig, steps: usize) -> u64 {
    let logit = (padded(config.outputs()) as u64).saturating_mul(steps as u64);
    of_f32(logit.saturating_add(config.scratch_values(steps, TAPE_LIMIT)))
}

fn of_f32(values: u64) -> u64 {
    values.saturating_mul(size_of::<f32>() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NtmConfig;
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    #[test]
    fn recording_takes_the_predicted_memory() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 7..=7,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.controller.layers) = (30, 2);
        let recording = Recording::new(&crate::model::Model::new(config.clone(), 1), &task, 1, 0);
        let episode = &recording.episode;
        let held = recording.trace.values().count()
            + episode.input.len()
            + episode.target.len()
            + episode.mask.len()
            + recording.loss.len();
        assert_eq!(
            recording_bytes(&config.clone().into(), episode.steps()),
            4 * held as u64
        );
    }

    #[test]
    fn largest_part_is_the_one_far_from_ordinary() {
        let parts = [
            Part::Steps,
            Part::Rows,
            Part::Columns,
            Part::Units,
            Part::Layers,
            Part::Batch,
            Part::Threads,
            Part::Samples,
        ];
        let training = |batch, threads| Work::Training {
            batch,
            threads,
            penalised: 0,
        };
        let blamed = |change: &dyn Fn(&mut Demand)| {
            let (batch, threads) = (1, 1);
            let mut demand = Demand {
                config: NtmConfig::new(9, 8).into(),
                steps: 41,
                work: training(batch, threads),
            };
            change(&mut demand);
            demand
                .largest(parts.map(|part| (part, ())))
                .map(|(part, ())| part)
        };
        assert_eq!(blamed(&|_| ()), None);
        assert_eq!(
            blamed(&|demand| demand.steps = 1_000_000),
            Some(Part::Steps)
        );
        let with = |change: fn(&mut NtmConfig)| -> ModelConfig {
            let mut config = NtmConfig::new(9, 8);
            change(&mut config);
            config.into()
        };
        let large = with(|config| config.rows = 1 << 18);
        assert_eq!(
            blamed(&|demand| demand.config = large.clone()),
            Some(Part::Rows)
        );
        let wide = with(|config| config.columns = 4096);
        assert_eq!(
            blamed(&|demand| demand.config = wide.clone()),
            Some(Part::Columns)
        );
        let large_controller = with(|config| {
            (config.controller.size, config.controller.layers) = (16_384, 16);
        });
        let found = blamed(&|demand| demand.config = large_controller.clone());
        assert_eq!(found, Some(Part::Units));
        let many_layers = with(|config| config.controller.layers = 4096);
        let found = blamed(&|demand| demand.config = many_layers.clone());
        assert_eq!(found, Some(Part::Layers));
        let many = |demand: &mut Demand| {
            let (batch, threads) = (4096, 2);
            demand.work = training(batch, threads);
        };
        assert_eq!(blamed(&many), Some(Part::Batch));
        let at_once = |demand: &mut Demand| {
            let (threads, samples) = (1000, 0);
            demand.work = Work::Measuring { threads, samples };
        };
        assert_eq!(blamed(&at_once), Some(Part::Threads));
        let drawn = |demand: &mut Demand| {
            let (threads, samples) = (1, 100_000);
            demand.work = Work::Measuring { threads, samples };
        };
        assert_eq!(blamed(&drawn), Some(Part::Samples));
    }

    #[test]
    fn batch_memory_is_tapes_plus_group_gradients() {
        let config = ModelConfig::from(NtmConfig::new(9, 8));
        let bytes = |batch, threads| training_bytes(&config, 2001, batch, threads);
        assert!(bytes(1, 1) > evaluation_bytes(&config, 2001, 1));
        assert_eq!(bytes(1, 1), bytes(1, 8));
        assert!(bytes(16, 4) > 10 * bytes(1, 1));
        let with = |penalised| {
            let (batch, threads) = (16, 4);
            let work = Work::Training {
                batch,
                threads,
                penalised,
            };
            let (config, steps) = (config.clone(), 2001);
            let demand = Demand {
                config,
                steps,
                work,
            };
            demand.bytes()
        };
        // A series [T, N] for each of sixteen episodes at a time.
        assert_eq!(with(0), bytes(16, 4));
        assert_eq!(with(2) - with(0), 16 * 2 * 2001 * 128 * 4);
        let gradients = bytes(4096, 4) - bytes(16, 4);
        assert_eq!(gradients, 1020 * 4 * config.shape().count());
    }

    #[test]
    fn a_large_memory_is_not_kept_at_every_step() {
        let mut config = NtmConfig::new(9, 8);
        (config.rows, config.columns) = (1 << 16, 64);
        let config = config.into();
        let all = recording_bytes(&config, 2000);
        assert!(training_bytes(&config, 2000, 1, 1) < all / 3);
        assert!(evaluation_bytes(&config, 2000, 1) < all / 5);
    }
}
