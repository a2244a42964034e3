//! The two number types: f32 in use, f64 in tests.

use pastey::paste;

use super::pack::MOST_LANES;
use super::simd::Simd;
use super::{Pack, Real, elementary};

/// Applies a function of one value to every value of a pack.
#[inline(always)]
fn one_by_one<S: Simd>(x: Pack<f64, S>, f: fn(f64) -> f64) -> Pack<f64, S> {
    let mut values = [0.0; MOST_LANES];
    x.store(&mut values);
    values[..Pack::<f64, S>::LANES]
        .iter_mut()
        .for_each(|x| *x = f(*x));
    Pack::load(x.simd(), &values)
}

/// Calls a function. Where numbers are processed one by one, a call costs no registers: what is long is compiled once,
/// not in every kernel.
#[inline(never)]
fn called<A, B>(a: A, f: impl FnOnce(A) -> B) -> B {
    f(a)
}

macro_rules! real {
    ($type:ident, $pack:ident, |$x:ident| $exp:expr, $ln:expr, $ln_1p:expr, $tanh:expr) => {
        paste! {
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
                fn floor(self) -> Self {
                    $type::floor(self)
                }
                #[inline(always)]
                fn is_finite(self) -> bool {
                    $type::is_finite(self)
                }
                #[inline(always)]
                fn packs<S: Simd>(slice: &[Self]) -> &[Self::Pack<S>] {
                    S::[<as_simd_ $type s>](slice)
                }
                #[inline(always)]
                fn packs_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Pack<S>] {
                    S::[<as_mut_simd_ $type s>](slice)
                }
                #[inline(always)]
                fn load_part<S: Simd>(simd: S, slice: &[Self]) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called(slice, |slice| simd.[<partial_load_ $type s>](slice));
                    }
                    simd.[<partial_load_ $type s>](slice)
                }
                #[inline(always)]
                fn store_part<S: Simd>(simd: S, slice: &mut [Self], pack: Self::Pack<S>) {
                    if S::ONE_BY_ONE {
                        return called((slice, pack), |(slice, pack)| simd.[<partial_store_ $type s>](slice, pack));
                    }
                    simd.[<partial_store_ $type s>](slice, pack);
                }
                #[inline(always)]
                fn splat<S: Simd>(simd: S, value: Self) -> Self::Pack<S> {
                    simd.[<splat_ $type s>](value)
                }
                #[inline(always)]
                fn pack_add<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<add_ $type s>](a, b)
                }
                #[inline(always)]
                fn pack_sub<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<sub_ $type s>](a, b)
                }
                #[inline(always)]
                fn pack_mul<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<mul_ $type s>](a, b)
                }
                #[inline(always)]
                fn pack_div<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<div_ $type s>](a, b)
                }
                #[inline(always)]
                fn pack_neg<S: Simd>(simd: S, a: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<neg_ $type s>](a)
                }
                #[inline(always)]
                fn pack_abs<S: Simd>(simd: S, a: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<abs_ $type s>](a)
                }
                #[inline(always)]
                fn mul_add<S: Simd>(
                    simd: S,
                    a: Self::Pack<S>,
                    b: Self::Pack<S>,
                    c: Self::Pack<S>,
                ) -> Self::Pack<S> {
                    simd.[<mul_add_ $type s>](a, b, c)
                }
                #[inline(always)]
                fn pack_max<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<max_ $type s>](a, b)
                }
                #[inline(always)]
                fn pack_min<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<min_ $type s>](a, b)
                }
                #[inline(always)]
                fn select_first<S: Simd>(
                    simd: S,
                    count: usize,
                    a: Self::Pack<S>,
                    b: Self::Pack<S>,
                ) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called((count, a, b), |(count, a, b)| simd.[<select_first_ $type s>](count, a, b));
                    }
                    simd.[<select_first_ $type s>](count, a, b)
                }
                #[inline(always)]
                fn pack_exp<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called(x, |x| {
                            let $x = Pack::new(simd, x);
                            $exp.values()
                        });
                    }
                    let $x = Pack::new(simd, x);
                    $exp.values()
                }
                #[inline(always)]
                fn pack_ln<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called(x, |x| {
                            let $x = Pack::new(simd, x);
                            $ln.values()
                        });
                    }
                    let $x = Pack::new(simd, x);
                    $ln.values()
                }
                #[inline(always)]
                fn pack_ln_1p<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called(x, |x| {
                            let $x = Pack::new(simd, x);
                            $ln_1p.values()
                        });
                    }
                    let $x = Pack::new(simd, x);
                    $ln_1p.values()
                }
                #[inline(always)]
                fn pack_tanh<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S> {
                    if S::ONE_BY_ONE {
                        return called(x, |x| {
                            let $x = Pack::new(simd, x);
                            $tanh.values()
                        });
                    }
                    let $x = Pack::new(simd, x);
                    $tanh.values()
                }
                #[inline(always)]
                fn reduce<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                    if S::ONE_BY_ONE {
                        return called(pack, |pack| simd.[<reduce_sum_ $type s>](pack));
                    }
                    simd.[<reduce_sum_ $type s>](pack)
                }
                #[inline(always)]
                fn reduce_max<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                    if S::ONE_BY_ONE {
                        return called(pack, |pack| simd.[<reduce_max_ $type s>](pack));
                    }
                    simd.[<reduce_max_ $type s>](pack)
                }
            }
        }
    };
}

real!(
    f32,
    F32s,
    |x| elementary::exp(x),
    elementary::ln(x),
    elementary::ln_1p(x),
    elementary::tanh(x)
);
real!(
    f64,
    F64s,
    |x| one_by_one(x, f64::exp),
    one_by_one(x, f64::ln),
    one_by_one(x, f64::ln_1p),
    one_by_one(x, f64::tanh)
);
