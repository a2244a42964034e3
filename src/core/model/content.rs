//! The content weighting (paper §3.3.1, equation 5).

use super::trace::HeadTrace;
use crate::math::pack::each_pack;
use crate::math::simd::Simd;
use crate::math::softmax::{dot, softmax};
use crate::math::{Pack, Real};

/// Equation 5: w^c = softmax(β·K), K being the score, of the paper the cosine of equation 6.
#[inline(always)]
pub fn content<R: Real, S: Simd>(simd: S, beta: R, similarity: &[R], w_c: &mut [R]) {
    softmax(simd, beta, similarity, w_c);
}

/// Turns the gradient w.r.t. w^c into that w.r.t. K, in place; returns the gradient w.r.t. β.
#[inline(always)]
pub fn content_backward<R: Real, S: Simd>(
    simd: S,
    beta: R,
    similarity: &[R],
    w_c: &[R],
    gradient: &mut [R],
) -> R {
    let mean = dot(simd, w_c, gradient);
    let mut d_beta = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in w_c => {
        let dz = at.load(w_c) * (at.load(gradient) - mean);
        d_beta += at.new_or(dz * at.load(similarity), R::ZERO);
        at.store(gradient, dz * beta);
    });
    d_beta.sum()
}

/// β, or 1.
#[inline(always)]
pub(super) fn strength<R: Real>(head: &HeadTrace<R>, t: usize) -> R {
    if head.strength.width() > 0 {
        head.strength[t]
    } else {
        R::ONE
    }
}
