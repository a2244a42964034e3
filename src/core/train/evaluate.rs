//! Measuring a machine on episodes it has not seen.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use std::ops::Range;

use super::alignment::{AlignmentScore, has_single_reader};
use super::aux_losses::{AuxLosses, WeightLosses};
use super::calibration::Calibration;
use super::config::Redundancy;
use super::ending::Ending;
use super::loss::{Score, answers};
use super::redundancy::{PairSums, apart, pair};
use super::uncertainty;
use crate::math::median;
use crate::model::{Draw, Model, Trace, WrapAround, WriteLedger};
use crate::pool::Pool;
use crate::task::{Episode, Task};

/// About the values that an evaluation keeps of an array that later steps do not need (256 KiB of f32), but at least
/// those of two steps.
pub(super) const KEPT_VALUES: usize = 1 << 16;

/// The means over a set of episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Episodes measured.
    pub episodes: usize,
    /// Mean summed cross-entropy of the answer, bits per sequence.
    pub bits_per_sequence: f64,
    /// Mean number of output bits on the wrong side of one half, per sequence.
    pub wrong_bits: f64,
    /// Mean number of output bits scored, per sequence.
    pub scored_bits: f64,
    /// Share of episodes without a wrong bit, 0 to 1.
    pub perfect: f64,
    /// Means of the auxiliary losses.
    pub aux: AuxLosses,
}

impl Evaluation {
    /// Bits per sequence; infinite where they are no number.
    pub fn cost(&self) -> f64 {
        let bits = self.bits_per_sequence;
        if bits.is_nan() { f64::INFINITY } else { bits }
    }

    /// True when this validation is finite and below the best so far: the one definition of "best".
    pub fn is_better_than(&self, best: Option<&Self>) -> bool {
        self.cost() < best.map_or(f64::INFINITY, Self::cost)
    }

    /// The means of these scores, summed in their order.
    pub fn of(scores: &[Score]) -> Self {
        let mean = |value: fn(&Score) -> f64| {
            scores.iter().map(value).sum::<f64>() / scores.len().max(1) as f64
        };
        Self {
            episodes: scores.len(),
            bits_per_sequence: mean(|score| score.bits),
            wrong_bits: mean(|score| score.wrong as f64),
            scored_bits: mean(|score| score.scored as f64),
            perfect: mean(|score| f64::from(u8::from(score.wrong == 0))),
            aux: AuxLosses::sum(scores.iter().map(|score| score.aux)).over(scores.len() as f64),
        }
    }
}

/// An [`Evaluation`], how far it can be trusted, and whether the memory was large enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// The means.
    pub mean: Evaluation,
    /// Half the width of the 95 % interval about the mean of the bits: 1.96 standard errors. `None` for fewer than
    /// two episodes.
    pub half_width: Option<f64>,
    /// Median of the bits per sequence: a few bad episodes make a mean, not a median. 0 of no episodes.
    pub median: f64,
    /// The number of episodes in which memory wrapped around; see [`WrapAround`].
    pub wrapped: usize,
    /// The number of rows that avoids it in all of them; 0 without wrap-around.
    pub rows_needed: usize,
    /// Agreement with the true alignment, where it is known and the machine attends to the source.
    pub alignment: Option<AlignmentScore>,
    /// Whether answers, up to the end of a free run, are right as often as the machine is confident.
    pub calibration: Calibration,
}

/// What is known of an episode besides its score.
#[derive(Default)]
struct Known {
    wrap_around: Option<WrapAround>,
    alignment: Option<AlignmentScore>,
    calibration: Calibration,
}

impl Measurement {
    /// Bytes that are kept of an episode until the last one is measured, twice while they are collected.
    pub const BYTES_OF_EPISODE: u64 = 2 * size_of::<(Score, Known)>() as u64;

    fn of(measured: &[(Score, Known)]) -> Self {
        let scores: Vec<Score> = measured.iter().map(|(score, _)| *score).collect();
        let bits: Vec<f64> = scores.iter().map(|score| score.bits).collect();
        let wraps = || measured.iter().filter_map(|(_, known)| known.wrap_around);
        let alignments = measured.iter().map(|(_, known)| known.alignment);
        let mean = Evaluation::of(&scores);
        let squares = bits
            .iter()
            .map(|bits| (bits - mean.bits_per_sequence).powi(2));
        let degrees = bits.len().saturating_sub(1);
        let error = || (squares.sum::<f64>() / (degrees * bits.len()) as f64).sqrt();
        Self {
            mean,
            half_width: (degrees > 0).then(|| 1.96 * error()),
            median: median(&bits).unwrap_or_default(),
            wrapped: wraps().count(),
            rows_needed: wraps().map(|found| found.rows_needed).max().unwrap_or(0),
            alignment: alignments
                .collect::<Option<Vec<_>>>()
                .filter(|all| !all.is_empty())
                .map(AlignmentScore::sum)
                .filter(|score| score.steps > 0),
            calibration: Calibration::sum(measured.iter().map(|(_, known)| known.calibration)),
        }
    }
}

/// An evaluator of a machine on the episodes 0 .. `episodes` of `seed`.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a> {
    /// The machine.
    pub machine: &'a Model<f32>,
    /// The task.
    pub task: &'a Task,
    /// The penalty to measure in addition to the answers.
    pub redundancy: Redundancy,
    /// The divergence of heads to measure.
    pub head_divergence: Redundancy,
    /// Seed of the episodes.
    pub seed: u64,
    /// The number of episodes.
    pub episodes: usize,
}

impl Evaluator<'_> {
    /// Runs the episodes; the result does not depend on `threads`.
    pub fn measure(&self, threads: usize) -> Measurement {
        let never = AtomicBool::new(false);
        self.measure_until(threads, &never).unwrap_or_default()
    }

    /// [`Evaluator::measure`]; `None` where `stop` is set before its last episode.
    pub fn measure_until(&self, threads: usize, stop: &AtomicBool) -> Option<Measurement> {
        self.measure_within(KEPT_VALUES, &Pool::new(threads.min(self.episodes)), stop)
    }

    /// [`Evaluator::measure_until`] on existing threads, with about this number of values of each array that later steps do
    /// not need.
    fn measure_within(
        &self,
        values: usize,
        threads: &Pool,
        stop: &AtomicBool,
    ) -> Option<Measurement> {
        let attends = has_single_reader(&self.machine.config);
        let measured = self.each(threads, stop, |trace, index| {
            let episode = self.task.episode(self.seed, index as u64);
            let alignment = self.task.alignment(&episode);
            let (mut agreement, mut writes) = (AlignmentScore::default(), None);
            let score = self.run(&episode, index, values, trace, |trace, steps| {
                if steps.start == 0 {
                    writes = WriteLedger::of(trace);
                }
                if let Some(writes) = &mut writes {
                    writes.add_steps(trace, steps.clone());
                }
                if let Some(weighting) = trace.reader().filter(|_| attends) {
                    agreement.add_steps(|t| weighting.row(t), &alignment, &episode.links, steps);
                }
            });
            let is_known = attends && trace.reader().is_some() && !alignment.is_empty();
            let known = Known {
                wrap_around: writes.and_then(|writes| writes.wrap_around(trace.steps())),
                alignment: is_known.then_some(agreement),
                calibration: calibration(&episode, trace),
            };
            (score, known)
        });
        measured.map(|measured| Measurement::of(&measured))
    }

    /// Returns only the means of [`Evaluator::measure`], on existing threads.
    pub(super) fn means(&self, threads: &Pool) -> Evaluation {
        let never = AtomicBool::new(false);
        let scores = self.each(threads, &never, |trace, index| {
            let episode = self.task.episode(self.seed, index as u64);
            self.run(&episode, index, KEPT_VALUES, trace, |_, _| ())
        });
        Evaluation::of(&scores.unwrap_or_default())
    }

    /// Runs an episode and scores it; `visit` as in [`Model::run_to_answer`].
    fn run(
        &self,
        episode: &Episode,
        index: usize,
        values: usize,
        trace: &mut Trace<f32>,
        mut visit: impl FnMut(&Trace<f32>, Range<usize>),
    ) -> Score {
        let draw = Draw::of(self.seed, index as u64);
        let mut weights = WeightLosses::default();
        let mut redundancy = PairSums::new(self.redundancy, pair);
        let mut divergence = PairSums::new(self.head_divergence, apart);
        let machine = self.machine;
        machine.run_to_answer(episode, draw, values, trace, |trace, steps| {
            weights.add_steps(trace, steps.clone());
            redundancy.add_steps(trace, steps.clone());
            divergence.add_steps(trace, steps.clone());
            visit(trace, steps);
        });
        let aux = AuxLosses {
            redundancy: redundancy.mean(trace),
            head_divergence: divergence.mean(trace),
            ..weights.losses(trace)
        };
        let loss = &mut vec![0.0; episode.steps()];
        Score {
            aux,
            ..answers(episode, trace, loss)
        }
    }

    /// Something of every episode, in their order; `None` where `stop` is set before the last one.
    pub(super) fn each<T: Send>(
        &self,
        threads: &Pool,
        stop: &AtomicBool,
        of: impl Fn(&mut Trace<f32>, usize) -> T + Sync,
    ) -> Option<Vec<T>> {
        let new = || Trace::new(&self.machine.config);
        let one = |trace: &mut Trace<f32>, index: usize| {
            (!stop.load(Ordering::Relaxed)).then(|| of(trace, index))
        };
        threads.install(|| {
            let episodes = (0..self.episodes).into_par_iter();
            episodes.map_init(new, one).collect()
        })
    }
}

/// The mean of [`Task::optimum`] over the same episodes: the `bits_per_sequence` that no machine can be
/// expected to beat. `None` where the input determines the answer, so that it is 0.
pub fn optimum(task: &Task, seed: u64, episodes: usize) -> Option<f64> {
    let of = |index: usize| task.optimum(&task.episode(seed, index as u64));
    let optima: Option<Vec<f64>> = (0..episodes).map(of).collect();
    optima.map(|bits| bits.iter().sum::<f64>() / episodes.max(1) as f64)
}

/// The mean of [`Task::chance`] over the same episodes: the chance level.
pub fn chance(task: &Task, seed: u64, episodes: usize) -> f64 {
    let of = |index: usize| task.chance(&task.episode(seed, index as u64));
    (0..episodes).map(of).sum::<f64>() / episodes.max(1) as f64
}

/// Whether the answers, up to the end of a free run, are right as often as the machine is confident.
fn calibration(episode: &Episode, trace: &Trace<f32>) -> Calibration {
    let mut said = trace.output.clone();
    if let Some(stop) = Ending::step(episode, trace) {
        said.resize(stop + 1);
    }
    uncertainty::calibration(&uncertainty::bits(&[&said], episode))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::model::{EquationsConfig, ModelConfig, NtmConfig};
    use crate::task::{AskedFor, Copy, Span, Transduce};
    use crate::train::score;

    /// The measurement from whole traces.
    fn from_traces(evaluator: &Evaluator<'_>) -> Measurement {
        let attends = has_single_reader(&evaluator.machine.config);
        let of = |index: u64| {
            let episode = evaluator.task.episode(evaluator.seed, index);
            let mut trace = Trace::new(&evaluator.machine.config);
            let draw = Draw::of(evaluator.seed, index);
            evaluator.machine.run(&episode, draw, &mut trace);
            let mut score = score(&episode, &trace, &mut vec![0.0; episode.steps()]);
            let mut divergence = PairSums::new(evaluator.head_divergence, apart);
            divergence.add_steps(&trace, 0..trace.steps());
            score.aux.redundancy = evaluator.redundancy.mean(&trace);
            score.aux.head_divergence = divergence.mean(&trace);
            let alignment = evaluator.task.alignment(&episode);
            let is_known = attends && !alignment.is_empty();
            let agreement = is_known.then(|| {
                let (mut agreement, head) = (AlignmentScore::default(), &trace.heads[0]);
                agreement.add_steps(
                    |t| head.weighting.row(t),
                    &alignment,
                    &episode.links,
                    0..trace.steps(),
                );
                agreement
            });
            let known = Known {
                wrap_around: trace.wrap_around(),
                alignment: agreement,
                calibration: super::calibration(&episode, &trace),
            };
            (score, known)
        };
        let measured = (0..evaluator.episodes as u64).map(of);
        Measurement::of(&measured.collect::<Vec<_>>())
    }

    /// Returns true if memory wrapped around.
    fn check_without_trace(mut config: ModelConfig, task: &Task) -> bool {
        config.set_channels(task.inputs(), task.outputs());
        let penalty = match config.heads() {
            0 => Redundancy::Off,
            _ => Redundancy::Both(0.1),
        };
        let mut machine = Model::new(config, 4);
        let weights = machine.params.slices_mut().flatten();
        weights.for_each(|weight| *weight *= 3.0);
        let evaluator = Evaluator {
            machine: &machine,
            task,
            redundancy: penalty,
            head_divergence: penalty,
            seed: 1,
            episodes: 3,
        };
        let (whole, pool, never) = (
            from_traces(&evaluator),
            Pool::new(1),
            AtomicBool::new(false),
        );
        assert!(whole.mean.bits_per_sequence > 0.0);
        for values in [0, 9000, KEPT_VALUES] {
            let found = evaluator.measure_within(values, &pool, &never);
            assert_eq!(
                found,
                Some(whole),
                "{values} values of {:?}",
                machine.config
            );
        }
        assert_eq!(evaluator.means(&pool), whole.mean);
        whole.wrapped > 0
    }

    #[test]
    fn evaluating_without_a_trace_gives_identical_bits_for_every_machine() {
        // Long enough for several blocks of steps, where memory does not grow with them.
        let [long, short] = [64..=70, 1..=20].map(|length| Task::Copy(Copy { bits: 3, length }));
        let pairs = Task::Transduce(Transduce {
            length: 1..=20,
            ..Transduce::DEFAULT
        });
        let wrapped = ModelConfig::with_every_array()
            .into_iter()
            .filter(|config| {
                let task = match () {
                    () if config.has_source() => &pairs,
                    () if config.has_row_per_step() => &short,
                    () => &long,
                };
                check_without_trace(config.clone(), task)
            });
        assert!(wrapped.count() > 0);
        for (file, asked_for) in [
            ("coattention", AskedFor::Ends),
            ("attention_over_attention", AskedFor::Symbol),
        ] {
            let mut config = EquationsConfig::included(file, [1, 1], &[]).unwrap();
            config.question = Span::DEFAULT.question;
            let task = Task::Span(Span {
                asked_for,
                ..Span::DEFAULT
            });
            check_without_trace(config.into(), &task);
        }
    }

    #[test]
    fn stopping_ends_a_measurement_before_the_next_episode() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 1..=4,
        });
        let config = NtmConfig::new(task.inputs(), task.outputs());
        let evaluator = Evaluator {
            machine: &Model::new(config, 4),
            task: &task,
            redundancy: Redundancy::Off,
            head_divergence: Redundancy::Off,
            seed: 1,
            episodes: 20,
        };
        let (stop, begun) = (AtomicBool::new(false), AtomicUsize::new(0));
        let stopping = |_: &mut Trace<f32>, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
        };
        assert_eq!(evaluator.each(&Pool::new(1), &stop, stopping), None);
        assert_eq!(begun.into_inner(), 1);
        assert_eq!(evaluator.measure_until(2, &stop), None);
        assert_eq!(evaluator.sample_until(3, 2, &stop), None);
        let never = AtomicBool::new(false);
        assert_eq!(
            evaluator.measure_until(2, &never),
            Some(evaluator.measure(1))
        );
    }

    #[test]
    fn measurement_has_mean_interval_and_median() {
        let score = |bits: f64| Score {
            bits,
            ..Score::default()
        };
        let wrap_around = |rows_needed| {
            let step = 3;
            let wrap_around = Some(WrapAround { step, rows_needed });
            Known {
                wrap_around,
                ..Known::default()
            }
        };
        let measured = [
            (score(1.0), wrap_around(20)),
            (score(2.0), Known::default()),
            (score(3.0), wrap_around(30)),
            (score(10.0), Known::default()),
        ];
        let found = Measurement::of(&measured);
        assert_eq!(found.mean.bits_per_sequence, 4.0);
        // The squares are 9, 4, 1 and 36: 50 / 3 degrees of freedom / 4 episodes.
        let wanted = 1.96 * (50.0_f64 / 12.0).sqrt();
        assert!((found.half_width.unwrap() - wanted).abs() < 1e-12);
        assert_eq!(
            (found.median, found.wrapped, found.rows_needed),
            (2.5, 2, 30)
        );
        let one = Measurement::of(&measured[..1]);
        assert_eq!((one.half_width, one.median), (None, 1.0));
        assert_eq!(Measurement::of(&[]), Measurement::default());
    }
}
