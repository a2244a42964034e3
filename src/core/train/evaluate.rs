//! Measuring a machine on episodes it has not seen.

use rayon::ThreadPool;
use rayon::prelude::*;

use super::curves::median;
use super::loss::{Score, score};
use super::trainer::TAPE_LIMIT;
use crate::model::{Model, Overrun, Trace};
use crate::task::Task;

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
}

impl Evaluation {
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
    /// Episodes in which writes reach rows already written; see [`Overrun`].
    pub overrun: usize,
    /// The number of rows on which they would in none; 0 where there are none.
    pub enough: usize,
}

impl Measurement {
    fn of(measured: &[(Score, Option<Overrun>)]) -> Self {
        let scores: Vec<Score> = measured.iter().map(|(score, _)| *score).collect();
        let bits: Vec<f64> = scores.iter().map(|score| score.bits).collect();
        let overruns = || measured.iter().filter_map(|(_, overrun)| *overrun);
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
            overrun: overruns().count(),
            enough: overruns().map(|found| found.enough).max().unwrap_or(0),
        }
    }
}

/// Runs episodes 0 .. `episodes` of `seed`; the result does not depend on `threads`.
pub fn measure(
    machine: &Model<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
    threads: usize,
) -> Measurement {
    let threads = super::threads(threads);
    let overrun = |trace: &Trace<f32>| trace.overrun();
    let measured = each_within(
        TAPE_LIMIT,
        &threads,
        machine,
        task,
        (seed, episodes),
        overrun,
    );
    Measurement::of(&measured)
}

/// The means of [`measure`] alone.
pub fn evaluate(
    machine: &Model<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
    threads: usize,
) -> Evaluation {
    evaluate_on(&super::threads(threads), machine, task, seed, episodes)
}

/// The mean of [`Task::optimum`] over the same episodes: the `bits_per_sequence` that no machine can be
/// expected to beat. `None` where it is 0.
pub fn optimum(task: &Task, seed: u64, episodes: usize) -> Option<f64> {
    let of = |index: usize| task.optimum(&task.episode(seed, index as u64));
    let optima: Option<Vec<f64>> = (0..episodes).map(of).collect();
    optima.map(|bits| bits.iter().sum::<f64>() / episodes.max(1) as f64)
}

/// The mean of [`Task::chance`] over the same episodes: what guessing costs.
pub fn chance(task: &Task, seed: u64, episodes: usize) -> f64 {
    let of = |index: usize| task.chance(&task.episode(seed, index as u64));
    (0..episodes).map(of).sum::<f64>() / episodes.max(1) as f64
}

/// [`evaluate`] on threads that are there already.
pub(super) fn evaluate_on(
    threads: &ThreadPool,
    machine: &Model<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
) -> Evaluation {
    let measured = each_within(TAPE_LIMIT, threads, machine, task, (seed, episodes), |_| ());
    let scores: Vec<Score> = measured.into_iter().map(|(score, ())| score).collect();
    Evaluation::of(&scores)
}

/// The scores of episodes 0 .. `episodes` of `seed`, in their order, and what else is to be known of each, with at
/// most `limit` values of memory kept whole for each thread.
fn each_within<T: Send>(
    limit: usize,
    threads: &ThreadPool,
    machine: &Model<f32>,
    task: &Task,
    (seed, episodes): (u64, usize),
    known: impl Fn(&Trace<f32>) -> T + Sync,
) -> Vec<(Score, T)> {
    let measure = |trace: &mut Trace<f32>, index: usize| {
        let episode = task.episode(seed, index as u64);
        // Only logits and weightings are looked at: a large memory need not be kept at every step.
        let input = std::iter::once(&episode.input);
        machine.run_together(input, limit, std::slice::from_mut(trace));
        let score = score(&episode, trace, &mut vec![0.0; episode.steps()]);
        (score, known(trace))
    };
    threads.install(|| {
        let episodes = (0..episodes).into_par_iter();
        episodes
            .map_init(|| Trace::new(&machine.config), measure)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NtmConfig;
    use crate::task::Copy;

    #[test]
    fn a_memory_kept_in_part_is_measured_to_the_same_bits() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 1..=12,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.write_heads) = (20, 6, 2);
        let machine = Model::new(config, 4);
        let threads = super::super::threads(1);
        let overrun = |trace: &Trace<f32>| trace.overrun();
        let measured = |limit| {
            let each = each_within(limit, &threads, &machine, &task, (1, 20), overrun);
            Measurement::of(&each)
        };
        assert_eq!(measured(usize::MAX), measured(0));
        let mean = evaluate(&machine, &task, 1, 20, 2);
        assert_eq!(measured(0).mean, mean);
    }

    #[test]
    fn a_mean_has_its_interval_and_its_median() {
        let score = |bits: f64| Score {
            bits,
            ..Score::default()
        };
        let overrun = |enough| Some(Overrun { step: 3, enough });
        let measured = [
            (score(1.0), overrun(20)),
            (score(2.0), None),
            (score(3.0), overrun(30)),
            (score(10.0), None),
        ];
        let found = Measurement::of(&measured);
        assert_eq!(found.mean.bits_per_sequence, 4.0);
        // The squares are 9, 4, 1 and 36: 50 / 3 degrees of freedom / 4 episodes.
        let wanted = 1.96 * (50.0_f64 / 12.0).sqrt();
        assert!((found.half_width.unwrap() - wanted).abs() < 1e-12);
        assert_eq!((found.median, found.overrun, found.enough), (2.5, 2, 30));
        let one = Measurement::of(&measured[..1]);
        assert_eq!((one.half_width, one.median), (None, 1.0));
        assert_eq!(Measurement::of(&[]), Measurement::default());
    }
}
