//! The number type of a machine: f32 in use, f64 in tests.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::simd::Simd;

/// f32 or f64. The same source runs in both; gradients are checked in f64.
pub trait Real:
    Copy
    + Debug
    + Default
    + Display
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The smallest positive normal number.
    const TINY: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// A pack of these numbers, which fills a cache line.
    type Pack<S: Simd>: Copy;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// Returns the value in f64.
    fn to_f64(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The larger of two.
    fn max(self, other: Self) -> Self;
    /// The largest integer not above x.
    fn floor(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;

    /// The whole packs of a slice.
    fn packs<S: Simd>(slice: &[Self]) -> &[Self::Pack<S>];
    /// [`Real::packs`], to write.
    fn packs_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Pack<S>];
    /// The first values of a pack from a shorter slice, zeros behind them.
    fn load_part<S: Simd>(simd: S, slice: &[Self]) -> Self::Pack<S>;
    /// Writes the first values of a pack to a shorter slice.
    fn store_part<S: Simd>(simd: S, slice: &mut [Self], pack: Self::Pack<S>);
    /// A pack of equal values.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Pack<S>;
    /// a + b.
    fn pack_add<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// a − b.
    fn pack_sub<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// a·b.
    fn pack_mul<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// a/b.
    fn pack_div<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// −a.
    fn pack_neg<S: Simd>(simd: S, a: Self::Pack<S>) -> Self::Pack<S>;
    /// |a|.
    fn pack_abs<S: Simd>(simd: S, a: Self::Pack<S>) -> Self::Pack<S>;
    /// a·b + c, rounded once (but see [`super::simd`]).
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Pack<S>,
        b: Self::Pack<S>,
        c: Self::Pack<S>,
    ) -> Self::Pack<S>;
    /// The larger of two, value by value; `b` where it is NaN.
    fn pack_max<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// The smaller of two, value by value; `b` where it is NaN.
    fn pack_min<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// The first `count` values of `a`, then those of `b`.
    fn select_first<S: Simd>(
        simd: S,
        count: usize,
        a: Self::Pack<S>,
        b: Self::Pack<S>,
    ) -> Self::Pack<S>;
    /// e^x, value by value; for f32 see [`super::elementary::exp`].
    fn pack_exp<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S>;
    /// Natural logarithm of positive numbers, value by value; for f32 see [`super::elementary::ln`].
    fn pack_ln<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S>;
    /// ln(1 + x), value by value; for f32 between 0 and 1 only, see [`super::elementary::ln_1p`].
    fn pack_ln_1p<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S>;
    /// Hyperbolic tangent, value by value; for f32 see [`super::elementary::tanh`].
    fn pack_tanh<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S>;
    /// Sum over a pack.
    fn reduce<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self;
    /// [`Real::reduce`] of four packs.
    #[inline(always)]
    fn reduce_four<S: Simd>(simd: S, packs: [Self::Pack<S>; 4]) -> [Self; 4] {
        packs.map(|pack| Self::reduce(simd, pack))
    }
    /// The largest value of a pack.
    fn reduce_max<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self;
}
