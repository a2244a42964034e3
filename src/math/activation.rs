//! Elementwise activations.

use super::Real;

/// 1 / (1 + e^−x).
#[inline(always)]
pub fn sigmoid<R: Real>(x: R) -> R {
    R::ONE / (R::ONE + (-x).exp())
}

/// ln(1 + e^x) = max(x, 0) + ln1p(e^−|x|), which does not overflow.
#[inline(always)]
pub fn softplus<R: Real>(x: R) -> R {
    x.max(R::ZERO) + (-x.abs()).exp().ln_1p()
}

/// tanh(x).
#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    x.tanh()
}
