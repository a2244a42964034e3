//! Cross-entropy of the answer, from logits, in bits per sequence (paper §4).

use std::f64::consts::LN_2;

use super::aux_losses::{AuxLosses, divergence};
use crate::math::kernel::kernel;
use crate::math::pack::{MOST_LANES, each_pack};
use crate::math::{Pack, Real, Series, softplus};
use crate::model::Trace;
use crate::task::Episode;

/// The score of one episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed cross-entropy over the answer, in bits: the paper's metric.
    pub bits: f64,
    /// Output bits on the wrong side of one half.
    pub wrong: usize,
    /// Output bits that were scored.
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

/// True where an output is on the wrong side of one half: its logit and the target.
pub fn is_wrong<R: Real>(logit: R, target: f32) -> bool {
    (logit > R::ZERO) != (target > 0.5)
}

/// Scores a recorded episode and writes the loss of every step, in bits, to `loss` ([T]).
pub fn score<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    let mut total = Score {
        scored: episode.scored_bits(),
        ..Score::default()
    };
    total.aux.divergence = divergence(trace);
    cross_entropy(episode, trace, loss);
    for (t, loss) in loss.iter_mut().enumerate() {
        if episode.mask[t] > 0.0 {
            let bits = trace.logit.row(t).iter().zip(episode.target.row(t));
            total.wrong += bits.filter(|&(&z, &target)| is_wrong(z, target)).count();
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
            let mut nats = Pack::splat(simd, R::ZERO);
            if episode.mask[t] > 0.0 {
                let mut bits = trace.logit.row(t).iter().zip(episode.target.row(t));
                while bits.len() > 0 {
                    // −log σ(z) = softplus(−z) and −log(1 − σ(z)) = softplus(z): no logarithm of zero.
                    // Where there is no bit, softplus(−∞) = 0.
                    let mut against = [R::from_f64(f64::NEG_INFINITY); MOST_LANES];
                    for (x, (&z, &target)) in against.iter_mut().zip(&mut bits) {
                        *x = if target > 0.5 { -z } else { z };
                    }
                    each_pack!(simd, at in against => { nats += softplus(at.load(&against)) });
                }
            }
            *loss = nats.sum();
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
