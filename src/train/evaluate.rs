//! Measuring a machine on episodes it has not seen.

use crate::model::Ntm;
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

/// Runs episodes 0 .. `episodes` of `seed` and averages; the result does not depend on `threads`.
pub fn evaluate(
    machine: &Ntm<f32>,
    task: &Task,
    seed: u64,
    episodes: usize,
    threads: usize,
) -> Evaluation {
    todo!("{machine:?} {task:?} {seed} {episodes} {threads}")
}
