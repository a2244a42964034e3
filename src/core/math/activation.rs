//! Elementwise activations.

use super::simd::Simd;
use super::{Pack, Real};

/// 1 / (1 + e^−x).
#[inline(always)]
pub fn sigmoid<R: Real, S: Simd>(x: Pack<R, S>) -> Pack<R, S> {
    let one = Pack::splat(x.simd(), R::ONE);
    one / (one + (-x).exp())
}

/// ln(1 + e^x) = max(x, 0) + ln1p(e^−|x|), which does not overflow.
#[inline(always)]
pub fn softplus<R: Real, S: Simd>(x: Pack<R, S>) -> Pack<R, S> {
    x.max(R::ZERO) + (-x.abs()).exp().ln_1p()
}
