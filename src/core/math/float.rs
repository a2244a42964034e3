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

/// The value of an expression in these variables, which is a function of its own where `S` processes numbers one by one:
/// see [`called`].
macro_rules! compiled_once {
    (|$variables:pat_param| $value:expr; $given:expr) => {
        if S::ONE_BY_ONE {
            called($given, |$variables| $value)
        } else {
            $value
        }
    };
}

/// Implements [`Real`]: functions of a number, of two packs and of one are those of the same names.
macro_rules! real {
    ($type:ident, $pack:ident, |$x:ident| { $($function:ident: $value:expr),* }$(, $four:item)?) => {
        real!(@ $type, $pack, |$x| { $($function: $value),* }, [$($four)?], [sqrt abs floor], [add sub mul div max min], [neg abs]);
    };
    (
        @ $type:ident, $pack:ident, |$x:ident| { $($function:ident: $value:expr),* },
        [$($four:item)?], [$($of_number:ident)*], [$($of_two:ident)*], [$($of_one:ident)*]
    ) => {
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
                $(#[inline(always)]
                fn $of_number(self) -> Self {
                    $type::$of_number(self)
                })*
                #[inline(always)]
                fn max(self, other: Self) -> Self {
                    if self > other { self } else { other }
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
                    compiled_once!(|slice| simd.[<partial_load_ $type s>](slice); slice)
                }
                #[inline(always)]
                fn store_part<S: Simd>(simd: S, slice: &mut [Self], pack: Self::Pack<S>) {
                    compiled_once!(|(slice, pack)| simd.[<partial_store_ $type s>](slice, pack); (slice, pack));
                }
                #[inline(always)]
                fn splat<S: Simd>(simd: S, value: Self) -> Self::Pack<S> {
                    simd.[<splat_ $type s>](value)
                }
                $(#[inline(always)]
                fn [<pack_ $of_two>]<S: Simd>(simd: S, a: Self::Pack<S>, b: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<$of_two _ $type s>](a, b)
                })*
                $(#[inline(always)]
                fn [<pack_ $of_one>]<S: Simd>(simd: S, a: Self::Pack<S>) -> Self::Pack<S> {
                    simd.[<$of_one _ $type s>](a)
                })*
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
                fn select_first<S: Simd>(
                    simd: S,
                    count: usize,
                    a: Self::Pack<S>,
                    b: Self::Pack<S>,
                ) -> Self::Pack<S> {
                    compiled_once!(|(count, a, b)| simd.[<select_first_ $type s>](count, a, b); (count, a, b))
                }
                $(#[inline(always)]
                fn [<pack_ $function>]<S: Simd>(simd: S, x: Self::Pack<S>) -> Self::Pack<S> {
                    compiled_once!(|x| {
                        let $x = Pack::new(simd, x);
                        $value.values()
                    }; x)
                })*
                $($four)?
                #[inline(always)]
                fn reduce<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                    compiled_once!(|pack| simd.[<reduce_sum_ $type s>](pack); pack)
                }
                #[inline(always)]
                fn reduce_max<S: Simd>(simd: S, pack: Self::Pack<S>) -> Self {
                    compiled_once!(|pack| simd.[<reduce_max_ $type s>](pack); pack)
                }
            }
        }
    };
}

real!(f32, F32s, |x| {
    exp: elementary::exp(x),
    ln: elementary::ln(x),
    ln_1p: elementary::ln_1p(x),
    tanh: elementary::tanh(x)
}, #[inline(always)]
fn reduce_four<S: Simd>(simd: S, packs: [S::F32s; 4]) -> [f32; 4] {
    simd.reduce_sums_f32s(packs)
});
real!(f64, F64s, |x| {
    exp: one_by_one(x, f64::exp),
    ln: one_by_one(x, f64::ln),
    ln_1p: one_by_one(x, f64::ln_1p),
    tanh: one_by_one(x, f64::tanh)
});
