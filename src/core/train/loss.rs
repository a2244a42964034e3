//! Cross-entropy of the answer, from logits, in bits per sequence (paper §4).

use std::f64::consts::LN_2;

use super::aux_losses::{AuxLosses, weight_losses};
use super::ending::{Ending, is_wrong};
use crate::math::kernel::kernel;
use crate::math::{Real, Series};
use crate::model::Trace;
use crate::task::Episode;

/// The score of one episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed cross-entropy over the answer, in bits: the paper's metric.
    pub bits: f64,
    /// Output bits on the wrong side of one half, or wrong symbols.
    pub wrong: usize,
    /// Output bits, or symbols, that were scored.
    pub scored: usize,
    /// The auxiliary losses.
    pub aux: AuxLosses,
}

impl Score {
    /// ln p(y|x), or ln p(y|x, s) where rows were sampled: the log-probability of the answer, in nats.
    pub fn log_probability(&self) -> f64 {
        -self.bits * LN_2
    }
}

/// Scores a recorded episode and writes the loss of every step, in bits, to `loss` ([T]).
pub fn score<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    Score {
        aux: weight_losses(trace),
        ..answers(episode, trace, loss)
    }
}

/// [`score`] of the answers alone.
pub(super) fn answers<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    let mut total = Score {
        scored: episode.scored_bits(),
        ..Score::default()
    };
    cross_entropy(episode, trace, loss);
    let stop = Ending::step(episode, trace);
    for (t, loss) in loss.iter_mut().enumerate() {
        if episode.mask[t] > 0.0 {
            let z = trace.logit.row(t);
            let channels = 0..episode.target.ncols();
            let wrong = channels.filter(|&channel| is_wrong(episode, z, (t, channel), stop));
            total.wrong += wrong.count();
        }
        *loss *= R::from_f64(1.0 / LN_2);
        total.bits += loss.to_f64();
    }
    total
}

kernel! {
    /// The loss of every step, in nats: summed over the outputs where the step is scored, else 0.
    fn cross_entropy<'a, R>(simd; episode: &'a Episode, trace: &'a Trace<R>, loss: &'a mut [R]) {
        for (t, loss) in loss.iter_mut().enumerate() {
            *loss = R::ZERO;
            if episode.mask[t] > 0.0 {
                *loss = episode.answer.nats(simd, trace.logit.row(t), episode.target.row(t).into_iter());
            }
        }
    }
}

/// Writes the gradient of `scale` × (summed cross-entropy in nats) by the logits, [T, Y].
pub fn logit_gradient<R: Real>(
    episode: &Episode,
    trace: &Trace<R>,
    scale: R,
    gradient: &mut Series<R>,
) {
    gradient.resize(trace.steps());
    for t in 0..trace.steps() {
        let scale = scale * R::from_f64(f64::from(episode.mask[t]));
        let rows = trace.output.row(t).iter().zip(episode.target.row(t));
        for (gradient, (&y, &target)) in gradient.row_mut(t).iter_mut().zip(rows) {
            *gradient = scale * (y - R::from_f64(f64::from(target)));
        }
    }
}
