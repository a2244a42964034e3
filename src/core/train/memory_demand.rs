//! Memory demand of a recording, an evaluation or a training run, before it starts.

use super::evaluate::KEPT_VALUES;
use super::trainer::group_size;
use crate::math::matrix::padded;
use crate::math::units;
use crate::model::{HeadTrace, Keep, ModelConfig, TAPE_LIMIT, Trace};
use crate::task::Task;

/// The largest recording that is held to be looked at, in bytes.
pub const LARGEST_RECORDING: u64 = 2 << 30;

/// Copies of the weights that a training run holds in addition to the gradients of its groups: the machine, the best
/// one so far, the one that is measured, up to three moments of the optimizer, and two on their way to the disk.
const COPIES: usize = 8;

/// Bytes of a value.
const BYTES: f64 = size_of::<f32>() as f64;

/// Work that is about to take memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
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
        /// Episodes of the same input, which are together in a group.
        samples: usize,
        /// Threads for them, not more than there are episodes.
        threads: usize,
        /// Machines that learn together.
        machines: usize,
    },
}

impl Demand {
    /// Bytes that the work takes in episodes of at most `steps` steps.
    pub fn bytes(self, config: &ModelConfig, steps: usize) -> u64 {
        self.with_source(config, [steps; 2])
    }

    /// Bytes that the work takes in the longest episodes of a task.
    pub fn of_task(self, config: &ModelConfig, task: &Task) -> u64 {
        self.with_source(config, self.longest(config, task))
    }

    /// The most steps of an episode of a task, and of its source: what is recorded may go on after the target.
    pub fn longest(self, config: &ModelConfig, task: &Task) -> [usize; 2] {
        let mut steps = task.longest();
        if self == Self::Recording && config.has_feedback() {
            steps = task.longest_run();
        }
        let source = task.longest_source().min(steps);
        [steps, config.episode_rows(steps, source)]
    }

    /// [`Demand::bytes`] with sources of at most this many steps; counted as `f64`, which do not overflow.
    pub fn with_source(self, config: &ModelConfig, [steps, source]: [usize; 2]) -> u64 {
        // Input, target, mask and loss stand beside what is recorded.
        let beside = BYTES * ((config.inputs() + config.outputs() + 2) as f64 * steps as f64);
        let episode = |keep| Trace::<f32>::bytes(config, [steps, source], keep) as f64 + beside;
        let evaluated = || episode(Keep::Answers(KEPT_VALUES));
        let weights = BYTES * config.shape().count() as f64;
        let bytes = match self {
            Self::Recording => match config.showing(steps, None) {
                Some(shown) => {
                    let bytes = Trace::<f32>::bytes(&shown, [steps, source], Keep::All);
                    bytes as f64 + beside
                }
                None => episode(Keep::All),
            },
            Self::Measuring { threads, samples } => {
                let answers = 2.0 * padded(config.outputs()) as f64 * samples as f64 * steps as f64;
                weights + threads as f64 * (evaluated() + BYTES * answers)
            }
            Self::Training {
                batch,
                samples,
                threads,
                machines,
            } => {
                let size = group_size(batch, samples);
                let tape =
                    episode(Keep::Tape(TAPE_LIMIT)) + backward_bytes(config, [steps, source]);
                // Between updates each thread measures an episode.
                let of_thread = size as f64 * tape + evaluated();
                let copies = COPIES + batch.div_ceil(size);
                machines as f64 * (threads as f64 * of_thread + copies as f64 * weights)
            }
        };
        bytes as u64
    }
}

/// Bytes that back-propagation takes besides a tape: what lies between two memories that were kept, as a tape of so
/// many steps; a gradient w.r.t. every linear map and weighting of every step; the weights of the output layer once
/// more; and sums for the units of the heads.
fn backward_bytes(config: &ModelConfig, [steps, source]: [usize; 2]) -> f64 {
    let rows = config.rows_of([steps, source]);
    let trace = Trace::<f32>::new(config);
    let is_kept = trace.memory_columns.width() > 0;
    let values = if is_kept {
        rows.saturating_mul(config.columns())
    } else {
        0
    };
    let every = Trace::<f32>::memory_every_for(values, steps, TAPE_LIMIT);
    let linears = config.shape().linears;
    let ends = linears.iter().map(|map| map.inputs + padded(map.outputs()));
    let weightings = trace.heads.iter().filter(|head| head.weighting.width() > 0);
    let per_step = ends.sum::<usize>() + weightings.count() * rows;
    let output = linears
        .last()
        .map_or(0, |map| padded(map.inputs) * map.outputs());
    // The learned vectors show the number of units over the memory rows.
    let arrays = trace.heads.iter().flat_map(HeadTrace::arrays);
    let vectors = arrays.filter(|(array, _)| array.is_learned() && array.dims.len() == 1);
    let units = vectors.map(|(_, series)| series.width()).sum();
    let sums = units::sums::<f32>(config.columns(), units);
    let [_, outside] = config.bytes_outside_trace(steps, size_of::<f32>());
    let [again, _] = config.bytes_outside_trace(every + 2, size_of::<f32>());
    let between = Trace::<f32>::bytes(config, [every + 2, source], Keep::All);
    let between = between.saturating_sub(again).saturating_add(outside);
    between as f64 + BYTES * (per_step as f64 * steps as f64 + (output + sums) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::InitialMemory;
    use crate::model::{EquationsConfig, Model, NtmConfig, SamConfig};
    use crate::task::{Copy, Transduce};
    use crate::train::Recording;

    fn training(batch: usize, threads: usize) -> Demand {
        let machines = 1;
        Demand::Training {
            batch,
            samples: 1,
            threads,
            machines,
        }
    }

    fn held(recording: &Recording) -> u64 {
        let episode = &recording.episode;
        let values = recording.trace.values().count()
            + episode.input.len()
            + episode.target.len()
            + episode.mask.len()
            + recording.loss.len();
        4 * values as u64
    }

    #[test]
    fn a_run_to_twice_the_length_of_the_target_takes_the_predicted_memory() {
        let task = Task::Transduce(Transduce {
            length: 5..=5,
            ..Transduce::DEFAULT
        });
        let channels = [task.inputs(), task.outputs()];
        for name in ["fixed_context", "bahdanau"] {
            let config = EquationsConfig::included(name, channels, &[]).unwrap();
            let config = ModelConfig::from(config);
            let mut machine = Model::new(config.clone(), 1);
            let params = machine.params.slices_mut().flatten();
            params.for_each(|weight| *weight = 0.0);
            let recording = Recording::new(&machine, &task, 1, 0);
            assert_eq!(recording.episode.steps(), 6 + 2 * 6);
            let predicted = Demand::Recording.of_task(&config, &task);
            // Its engine is counted with it.
            let held = held(&recording);
            assert!(
                (held..2 * held).contains(&predicted),
                "{predicted} and {held}"
            );
        }
    }

    #[test]
    fn training_counts_every_memory_row_of_a_source_and_both_machines() {
        let config = EquationsConfig::included("bahdanau", [9, 8], &[]).unwrap();
        let config = ModelConfig::from(config);
        let [few, many] = [1, 1000].map(|source| backward_bytes(&config, [3000, source]));
        let (columns, rows) = (config.columns() as f64, 999.0);
        assert!(many - few > BYTES * rows * (2.0 * columns + 3000.0));
        let both = Demand::Training {
            batch: 8,
            samples: 1,
            threads: 2,
            machines: 2,
        };
        let alone = training(8, 2).bytes(&config, 50);
        assert_eq!(both.bytes(&config, 50), 2 * alone);
    }

    #[test]
    fn recording_takes_the_predicted_memory() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 7..=7,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.controller.layers) = (30, 2);
        let recording = Recording::new(&crate::model::Model::new(config.clone(), 1), &task, 1, 0);
        assert_eq!(
            Demand::Recording.bytes(&config.into(), recording.episode.steps()),
            held(&recording)
        );
    }

    #[test]
    fn sizes_whose_product_overflows_are_not_taken_for_small() {
        let (rows, columns, most) = (1 << (usize::BITS / 2), 1 << (usize::BITS / 2), 1 << 40);
        let mut ntm = NtmConfig::new(3, 2);
        (ntm.rows, ntm.columns) = (rows, columns);
        let mut learned = ntm.clone();
        learned.initial_memory = InitialMemory::Learned;
        let mut sam = SamConfig::new(3, 2);
        (sam.rows, sam.columns) = (rows, columns);
        let names = ModelConfig::from(learned.clone()).shape();
        assert!(names.named().any(|(_, size)| size == [rows, columns]));
        for config in [ntm.into(), learned.into(), ModelConfig::from(sam)] {
            for demand in [Demand::Recording, training(8, 2)] {
                let bytes = demand.with_source(&config, [rows, rows]);
                assert!(bytes > most, "{demand:?} {bytes} of {config:?}");
            }
        }
    }

    #[test]
    fn batch_memory_is_tapes_plus_group_gradients() {
        let config = ModelConfig::from(NtmConfig::new(9, 8));
        let bytes = |batch, threads| training(batch, threads).bytes(&config, 2001);
        let (threads, samples) = (1, 0);
        let measuring = Demand::Measuring { threads, samples };
        assert!(bytes(1, 1) > measuring.bytes(&config, 2001));
        assert!(bytes(16, 4) > 10 * bytes(1, 1));
        let gradients = bytes(4096, 4) - bytes(16, 4);
        assert_eq!(gradients, 1020 * 4 * config.shape().count());
    }

    #[test]
    fn answers_of_samples_are_kept() {
        let config = ModelConfig::from(NtmConfig::new(9, 8));
        let bytes = |samples| {
            let threads = 3;
            Demand::Measuring { threads, samples }.bytes(&config, 50)
        };
        let answer = 2 * 50 * padded(8) as u64 * 4;
        assert_eq!(bytes(7) - bytes(0), 3 * 7 * answer);
    }

    #[test]
    fn measuring_keeps_no_weightings_of_earlier_steps() {
        let mut config = NtmConfig::new(10, 8);
        config.rows = 131_072;
        let (threads, samples) = (1, 0);
        let measuring = Demand::Measuring { threads, samples };
        let [short, long] =
            [50_001, 100_001].map(|steps| measuring.bytes(&config.clone().into(), steps));
        // Input, target, mask, loss, logit and output.
        assert_eq!(long - short, 4 * 50_000 * (10 + 8 + 2 + 10 + 8 + 8));
        assert!(long < 100 << 20, "{long}");
    }

    #[test]
    fn a_demand_beyond_all_numbers_is_the_largest() {
        let mut config = NtmConfig::new(9, 8);
        (config.rows, config.columns) = (1 << 20, 4096);
        let demand = training(1 << 30, 1 << 30);
        assert_eq!(demand.bytes(&config.into(), 1 << 40), u64::MAX);
    }

    #[test]
    fn a_large_memory_is_not_kept_at_every_step() {
        let mut config = NtmConfig::new(9, 8);
        (config.rows, config.columns) = (1 << 16, 256);
        let config = config.into();
        let all = Demand::Recording.bytes(&config, 2000);
        let (threads, samples) = (1, 0);
        let training = training(1, threads);
        let measuring = Demand::Measuring { threads, samples };
        assert!(training.bytes(&config, 2000) < all / 3);
        assert!(measuring.bytes(&config, 2000) < all / 5);
    }
}
