//! Weightings from scores other than by a softmax over all rows: the window of a local head, the noise of a Bayesian
//! one, the sampled row of a hard one; each derivative is below its equation.

use super::attention::{Mechanism, Weighting};
use super::bayesian::{self, Divergence, Family};
use super::content::strength;
use super::hard;
use super::head::HeadGradient;
use super::local::{self, Position, Window};
use super::machine::Terms;
use super::trace::{HeadTrace, NoiseMode};
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::softmax::{dot, softmax, softmax_in_place};
use crate::math::{Pack, Real};

kernel! {
    /// Sets the centre of the window of a local head.
    pub(super) fn centre<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        head.centre[t] = match head.mechanism.weighting {
            Weighting::LocalPredictive => position(head, t).predict(simd),
            _ => local::monotonic(t, head.similarity.width()),
        };
    }
}

fn position<R: Real>(head: &HeadTrace<R>, t: usize) -> Position<'_, R> {
    Position {
        key: head.key.row(t),
        weight: head.position_weight.row(0),
        vector: head.position_vector.row(0),
        rows: head.similarity.width(),
    }
}

kernel! {
    /// Adds to the gradients w.r.t. the key and the weights, from that w.r.t. a predicted centre.
    pub(super) fn centre_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, by: &'a mut HeadGradient<R>,
    ) {
        let learned = &mut by.learned;
        let to = [&mut by.key[..], &mut learned.position_weight, &mut learned.position_vector];
        position(head, t).backward(simd, head.centre[t], by.centre, to);
    }
}

impl<R: Real> HeadTrace<R> {
    /// The window of a local head at step `t`.
    pub fn window(&self, t: usize) -> Window<R> {
        let of = &self.mechanism;
        Window {
            centre: self.centre[t],
            half: R::from_f64(of.parameters.window as f64),
            is_gaussian: of.weighting == Weighting::LocalPredictive,
        }
    }
}

kernel! {
    /// w^c of a local head.
    pub(super) fn local_content<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        let (window, beta) = (head.window(t), strength(head, t));
        window.content(simd, beta, head.similarity.row(t), head.content.row_mut(t));
    }
}

kernel! {
    /// Sets the gradients w.r.t. the score, β and the centre, from that w.r.t. w^c.
    pub(super) fn local_content_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, by: &'a mut HeadGradient<R>,
    ) {
        let (window, beta) = (head.window(t), strength(head, t));
        let (similarity, w_c) = (head.similarity.row(t), head.content.row(t));
        (by.strength, by.centre) =
            window.content_backward(simd, beta, similarity, w_c, &mut by.weighting);
    }
}

kernel! {
    /// w^c of a Bayesian head: of the sampled weights, or of their means.
    pub(super) fn bayesian_content<'a, R>(
        simd; head: &'a mut HeadTrace<R>, t: usize, sampling: NoiseMode,
    ) {
        let (beta, of) = (strength(head, t), head.mechanism.parameters);
        let (similarity, w_c) = (head.similarity.row(t), head.content.row_mut(t));
        match head.mechanism.weighting {
            _ if sampling == NoiseMode::Mean => return softmax(simd, beta, similarity, w_c),
            Weighting::Weibull => {
                let (u, shape) = (head.noise.row(t), R::from_f64(of.weibull_shape));
                bayesian::perturb_weibull(simd, beta, similarity, u, shape, w_c);
            }
            _ => {
                let (epsilon, sigma) = (head.normal.row(t), R::from_f64(of.lognormal_sigma));
                bayesian::perturb_lognormal(simd, beta, similarity, epsilon, sigma, w_c);
            }
        }
        softmax_in_place(simd, R::ONE, w_c);
    }
}

kernel! {
    /// Sets the gradients w.r.t. the score, β and the prior, from that w.r.t. w^c plus `weight` times the divergence.
    pub(super) fn bayesian_content_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, weight: R, by: &'a mut HeadGradient<R>,
    ) {
        let (similarity, beta) = (head.similarity.row(t), strength(head, t));
        let d_logits = &mut by.logits;
        divergence_from(head, t).backward(simd, weight, d_logits, &mut by.prior);
        let (w_c, d_w) = (head.content.row(t), &mut by.weighting);
        let mean = dot(simd, w_c, d_w);
        let mut d_beta = Pack::splat(simd, R::ZERO);
        each_pack!(simd, at in w_c => {
            let through = at.load(w_c) * (at.load(d_w) - mean);
            let sum = through + at.load(d_logits);
            d_beta += at.new_or(sum * at.load(similarity), R::ZERO);
            at.store(d_w, sum * beta);
        });
        by.strength = d_beta.sum();
    }
}

kernel! {
    /// Sets how far the weights of a Bayesian head are from their prior, summed over the rows.
    pub(super) fn divergence<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        head.divergence[t] = divergence_from(head, t).sum(simd);
    }
}

fn divergence_from<R: Real>(head: &HeadTrace<R>, t: usize) -> Divergence<'_, R> {
    let of = head.mechanism.parameters;
    Divergence {
        family: family(&head.mechanism),
        form: of.prior,
        beta: strength(head, t),
        scores: head.similarity.row(t),
        m: head.prior.row(t),
    }
}

fn family<R: Real>(mechanism: &Mechanism) -> Family<R> {
    let of = mechanism.parameters;
    match mechanism.weighting {
        Weighting::Weibull => Family::Weibull {
            k: R::from_f64(of.weibull_shape),
            rate: R::from_f64(of.gamma_rate),
        },
        _ => Family::Lognormal {
            sigma: R::from_f64(of.lognormal_sigma),
            sigma_p: R::from_f64(of.prior_sigma),
        },
    }
}

kernel! {
    /// The means of the prior, from the z in their place.
    pub(super) fn prior_means<'a, R>(simd; mechanism: &'a Mechanism, z: &'a mut [R]) {
        mechanism.parameters.prior.prior(simd, z);
    }
}

/// Sets the weighting of a hard head: all weight on one row, or in expected mode the distribution itself.
pub(super) fn draw<R: Real>(head: &mut HeadTrace<R>, t: usize, sampling: NoiseMode) {
    let (alpha, w) = (head.distribution.row(t), head.weighting.row_mut(t));
    let row = match sampling {
        NoiseMode::Expected => return w.copy_from_slice(alpha),
        NoiseMode::Sampled => hard::drawn(alpha, head.draw[t]),
        NoiseMode::Mean => hard::most_likely(alpha),
    };
    w.fill(R::ZERO);
    w[row] = R::ONE;
}

kernel! {
    /// Turns the gradient w.r.t. the weighting into that w.r.t. α; only the sampling terms pass through a sampled row.
    pub(super) fn draw_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, sampling: NoiseMode, terms: &'a Terms<R>, gradient: &'a mut [R],
    ) {
        let (row, reward) = match sampling {
            NoiseMode::Expected => (None, R::ZERO),
            NoiseMode::Sampled => (Some(hard::most_likely(head.weighting.row(t))), terms.reward),
            NoiseMode::Mean => (Some(0), R::ZERO),
        };
        hard::backward(simd, head.distribution.row(t), row, reward, terms.entropy, gradient);
    }
}
