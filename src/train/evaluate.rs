//! Measuring a machine on episodes it has not seen.

use rayon::ThreadPool;
use rayon::prelude::*;

use super::loss::{Score, score};
use super::trainer::TAPE_LIMIT;
use crate::model::{Ntm, Trace};
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

/// Runs episodes 0 .. `episodes` of `seed` and averages; the result does not depend on `threads`.
pub fn evaluate(
    machine: &Ntm<f32>,
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
    machine: &Ntm<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
) -> Evaluation {
    evaluate_within(TAPE_LIMIT, threads, machine, task, seed, episodes)
}

/// [`evaluate_on`] with at most `limit` values of memory kept whole for each thread.
fn evaluate_within(
    limit: usize,
    threads: &ThreadPool,
    machine: &Ntm<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
) -> Evaluation {
    let measure = |trace: &mut Trace<f32>, index: usize| {
        let episode = task.episode(seed, index as u64);
        // Only the logits are looked at: a large memory need not be kept at every step.
        let input = std::iter::once(&episode.input);
        machine.run_for_training(input, limit, std::slice::from_mut(trace));
        score(&episode, trace, &mut vec![0.0; episode.steps()])
    };
    let scores: Vec<Score> = threads.install(|| {
        let episodes = (0..episodes).into_par_iter();
        episodes
            .map_init(|| Trace::new(&machine.config), measure)
            .collect()
    });
    Evaluation::of(&scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelConfig;
    use crate::task::Copy;

    #[test]
    fn a_memory_kept_in_part_is_measured_to_the_same_bits() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 1..=12,
        });
        let mut config = ModelConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.write_heads) = (20, 6, 2);
        let machine = Ntm::new(config, 4);
        let threads = super::super::threads(1);
        let measured = |limit| evaluate_within(limit, &threads, &machine, &task, 1, 20);
        assert_eq!(measured(usize::MAX), measured(0));
    }
}
