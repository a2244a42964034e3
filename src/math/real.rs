//! The number type of a machine: f32 ships, f64 checks it.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::elementary;
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
    /// As many of these as one vector of the instruction set holds.
    type Pack<S: Simd>: Copy;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The same value in f64.
    fn to_f64(self) -> f64;
    /// e^x; for f32 see [`elementary::exp`].
    fn exp(self) -> Self;
    /// Natural logarithm of a positive number; for f32 see [`elementary::ln`].
    fn ln(self) -> Self;
    /// ln(1 + x); for f32 between 0 and 1 only, see [`elementary::ln_1p`].
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent; for f32 see [`elementary::tanh`].
    fn tanh(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The larger of two.
    fn max(self, other: Self) -> Self;
    /// The smaller of two.
    fn min(self, other: Self) -> Self;
    /// The largest integer not above x.
    fn floor(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;

    /// A slice as whole packs and a rest.
    fn packs<S: Simd>(slice: &[Self]) -> (&[Self::Pack<S>], &[Self]);
    /// [`Real::packs`], to write.
    fn packs_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::Pack<S>], &mut [Self]);
    /// The first values of a pack from a shorter slice, zeros behind them.
    fn load_part<S: Simd>(simd: S, slice: &[Self]) -> Self::Pack<S>;
    /// Writes the first values of a pack to a shorter slice.
    fn store_part<S: Simd>(simd: S, slice: &mut [Self], pack: Self::Pack<S>);
    /// The same value everywhere.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Pack<S>;
    /// a·b + c, rounded once where the machine can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Pack<S>,
        b: Self::Pack<S>,
        c: Self::Pack<S>,
    ) -> Self::Pack<S>;
    /// a + b.
    fn pack_add<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// a − b.
    fn pack_sub<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// a·b.
    fn pack_mul<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// The larger of two, value by value.
    fn pack_max<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S>;
    /// Sum over a pack.
    fn reduce<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self;
    /// The largest value of a pack.
    fn reduce_max<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self;
}

macro_rules! real {
    ($type:ident, $pack:ident, $packs:ident, $packs_mut:ident, $load:ident, $store:ident, $splat:ident, $mul_add:ident,
     $add:ident, $sub:ident, $mul:ident, $max:ident, $reduce:ident, $reduce_max:ident, $exp:path, $ln:path, $ln_1p:path, $tanh:path) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TINY: Self = $type::MIN_POSITIVE;
            const EPSILON: Self = $type::EPSILON;
            type Pack<S: Simd> = S::$pack;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $type::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $type::floor(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
            #[inline(always)]
            fn packs<S: Simd>(slice: &[Self]) -> (&[Self::Pack<S>], &[Self]) {
                S::$packs(slice)
            }
            #[inline(always)]
            fn packs_mut<S: Simd>(slice: &mut [Self]) -> (&mut [Self::Pack<S>], &mut [Self]) {
                S::$packs_mut(slice)
            }
            #[inline(always)]
            fn load_part<S: Simd>(simd: S, slice: &[Self]) -> Self::Pack<S> {
                simd.$load(slice)
            }
            #[inline(always)]
            fn store_part<S: Simd>(simd: S, slice: &mut [Self], pack: Self::Pack<S>) {
                simd.$store(slice, pack);
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Pack<S> {
                simd.$splat(value)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Pack<S>,
                b: Self::Pack<S>,
                c: Self::Pack<S>,
            ) -> Self::Pack<S> {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn pack_add<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn pack_sub<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn pack_mul<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn pack_max<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                simd.$max(a, b)
            }
            #[inline(always)]
            fn reduce<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                simd.$reduce(pack)
            }
            #[inline(always)]
            fn reduce_max<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                simd.$reduce_max(pack)
            }
        }
    };
}

real!(
    f32,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    partial_load_f32s,
    partial_store_f32s,
    splat_f32s,
    mul_add_e_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    max_f32s,
    reduce_sum_f32s,
    reduce_max_f32s,
    elementary::exp,
    elementary::ln,
    elementary::ln_1p,
    elementary::tanh
);
real!(
    f64,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    partial_load_f64s,
    partial_store_f64s,
    splat_f64s,
    mul_add_e_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    max_f64s,
    reduce_sum_f64s,
    reduce_max_f64s,
    f64::exp,
    f64::ln,
    f64::ln_1p,
    f64::tanh
);
