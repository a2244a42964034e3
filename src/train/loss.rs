//! Cross-entropy of the answer, from logits, in bits per sequence (paper §4).

use std::f64::consts::LN_2;

use crate::math::{Real, Series, sigmoid, softplus};
use crate::model::Trace;
use crate::task::Episode;

/// How well one episode was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed cross-entropy over the answer, in bits: the paper's metric.
    pub bits: f64,
    /// Output bits on the wrong side of one half.
    pub wrong: usize,
    /// Output bits that were scored.
    pub scored: usize,
}

/// Scores a recorded episode and writes the loss of every step, in bits, to `loss` ([T]).
pub fn score<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    let mut total = Score {
        scored: episode.scored_bits(),
        ..Score::default()
    };
    for (t, loss) in loss.iter_mut().enumerate() {
        let mut nats = R::ZERO;
        if episode.mask[t] > 0.0 {
            for (&z, &target) in trace.logit.row(t).iter().zip(episode.target.row(t)) {
                // −log σ(z) = softplus(−z) and −log(1 − σ(z)) = softplus(z): no logarithm of zero.
                let wanted = target > 0.5;
                nats += softplus(if wanted { -z } else { z });
                total.wrong += usize::from((z > R::ZERO) != wanted);
            }
        }
        *loss = nats * R::from_f64(1.0 / LN_2);
        total.bits += loss.to_f64();
    }
    total
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
        let rows = trace.logit.row(t).iter().zip(episode.target.row(t));
        for (gradient, (&z, &target)) in gradient.row_mut(t).iter_mut().zip(rows) {
            *gradient = scale * (sigmoid(z) - R::from_f64(f64::from(target)));
        }
    }
}
