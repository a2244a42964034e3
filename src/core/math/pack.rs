//! A pack: numbers that fill a cache line, with the arithmetic of one number; and loops over slices of packs.
//!
//! Rust keeps a·b + c as two roundings and leaves the end of a slice to slow scalar loops. What runs in
//! every step of an episode is therefore written on packs, with `map_packs!` where a slice is filled from
//! others and `each_pack!` where more happens.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use super::Real;
use super::simd::Simd;

/// The numbers of one cache line, x_0 … x_(lanes−1); every operation is done number by number.
#[derive(Clone, Copy)]
pub struct Pack<R: Real, S: Simd> {
    simd: S,
    values: R::Pack<S>,
}

impl<R: Real, S: Simd> Pack<R, S> {
    /// Number of values in a pack.
    pub const LANES: usize = size_of::<R::Pack<S>>() / size_of::<R>();

    /// The numbers in a vector of the instruction set.
    #[inline(always)]
    pub fn new(simd: S, values: R::Pack<S>) -> Self {
        Self { simd, values }
    }

    /// The vector of the instruction set.
    #[inline(always)]
    pub fn values(self) -> R::Pack<S> {
        self.values
    }

    /// The instruction set.
    #[inline(always)]
    pub fn simd(self) -> S {
        self.simd
    }

    /// Returns a pack with the same number everywhere.
    #[inline(always)]
    pub fn splat(simd: S, value: R) -> Self {
        Self::new(simd, R::splat(simd, value))
    }

    /// The first numbers of a slice that has as many.
    #[inline(always)]
    pub fn load(simd: S, slice: &[R]) -> Self {
        Self::new(simd, R::packs::<S>(slice)[0])
    }

    /// Writes to the beginning of a slice that has room for it.
    #[inline(always)]
    pub fn store(self, slice: &mut [R]) {
        R::packs_mut::<S>(slice)[0] = self.values;
    }

    /// x_0.
    #[inline(always)]
    pub fn first(self) -> R {
        let mut values = [R::ZERO; MOST_LANES];
        self.store(&mut values);
        values[0]
    }

    /// self·b + c, rounded once (but see [`super::simd`]).
    #[inline(always)]
    pub fn mul_add(self, b: impl Operand<R, S>, c: impl Operand<R, S>) -> Self {
        let (b, c) = (b.values(self.simd), c.values(self.simd));
        self.with(R::mul_add(self.simd, self.values, b, c))
    }

    /// The larger of two; a NaN of this one stays, one of `other` is ignored.
    #[inline(always)]
    pub fn max(self, other: impl Operand<R, S>) -> Self {
        let other = other.values(self.simd);
        self.with(R::pack_max(self.simd, other, self.values))
    }

    /// The smaller of two; a NaN of this one stays, one of `other` is ignored.
    #[inline(always)]
    pub fn min(self, other: impl Operand<R, S>) -> Self {
        let other = other.values(self.simd);
        self.with(R::pack_min(self.simd, other, self.values))
    }

    /// |x|.
    #[inline(always)]
    pub fn abs(self) -> Self {
        self.with(R::pack_abs(self.simd, self.values))
    }

    /// e^x.
    #[inline(always)]
    pub fn exp(self) -> Self {
        self.with(R::pack_exp(self.simd, self.values))
    }

    /// Natural logarithm, as [`super::elementary::ln`].
    #[inline(always)]
    pub fn ln(self) -> Self {
        self.with(R::pack_ln(self.simd, self.values))
    }

    /// ln(1 + x) for 0 ≤ x ≤ 1.
    #[inline(always)]
    pub fn ln_1p(self) -> Self {
        self.with(R::pack_ln_1p(self.simd, self.values))
    }

    /// Hyperbolic tangent.
    #[inline(always)]
    pub fn tanh(self) -> Self {
        self.with(R::pack_tanh(self.simd, self.values))
    }

    /// The first `count` numbers of this pack, then those of the other.
    #[inline(always)]
    pub fn but_from(self, count: usize, other: Self) -> Self {
        self.with(R::select_first(self.simd, count, self.values, other.values))
    }

    /// Σ x_i.
    #[inline(always)]
    pub fn sum(self) -> R {
        R::reduce(self.simd, self.values)
    }

    /// The largest of them.
    #[inline(always)]
    pub fn largest(self) -> R {
        R::reduce_max(self.simd, self.values)
    }

    #[inline(always)]
    fn with(self, values: R::Pack<S>) -> Self {
        Self { values, ..self }
    }
}

/// An operand for a pack: another pack, or one number for all of its values.
pub trait Operand<R: Real, S: Simd> {
    /// Returns it as a vector of the instruction set.
    fn values(self, simd: S) -> R::Pack<S>;
}

impl<R: Real, S: Simd> Operand<R, S> for Pack<R, S> {
    #[inline(always)]
    fn values(self, _: S) -> R::Pack<S> {
        self.values
    }
}

impl<R: Real, S: Simd> Operand<R, S> for R {
    #[inline(always)]
    fn values(self, simd: S) -> R::Pack<S> {
        R::splat(simd, self)
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident $function:ident)*) => {$(
        impl<R: Real, S: Simd, O: Operand<R, S>> $trait<O> for Pack<R, S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: O) -> Self {
                self.with(R::$function(self.simd, self.values, other.values(self.simd)))
            }
        }
    )*};
}

operator!(Add add pack_add Sub sub pack_sub Mul mul pack_mul Div div pack_div);

impl<R: Real, S: Simd> Neg for Pack<R, S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.with(R::pack_neg(self.simd, self.values))
    }
}

impl<R: Real, S: Simd, O: Operand<R, S>> AddAssign<O> for Pack<R, S> {
    #[inline(always)]
    fn add_assign(&mut self, other: O) {
        *self = *self + other;
    }
}

/// No pack holds more numbers: 16 of f32.
pub const MOST_LANES: usize = 16;

/// A whole pack of every slice in [`each_pack`].
#[derive(Clone, Copy)]
pub struct Whole<S> {
    pub(crate) simd: S,
    pub(crate) index: usize,
}

/// What is left of every slice behind the whole packs, less than a pack. A whole pack that overlaps the one before would
/// wait until what was just stored there is in the cache.
#[derive(Clone, Copy)]
pub struct Rest<S> {
    pub(crate) simd: S,
    /// The first index.
    pub(crate) start: usize,
    /// The index behind the last.
    pub(crate) end: usize,
}

/// An array of these values: [`std::array::from_fn`] in about a third of the lines that are compiled.
#[inline(always)]
pub(crate) fn filled<T: Copy, const N: usize>(mut value: impl FnMut(usize) -> T) -> [T; N] {
    if const { N == 0 } {
        return std::array::from_fn(value);
    }
    let mut all = [value(0); N];
    let mut index = 1;
    while index < N {
        all[index] = value(index);
        index += 1;
    }
    all
}

/// The numbers from `first` on: `first`, `first` + 1, …
#[inline(always)]
fn counted<R: Real, S: Simd>(simd: S, first: usize) -> Pack<R, S> {
    let count: [R; MOST_LANES] = filled(|lane| R::from_f64(lane as f64));
    Pack::load(simd, &count) + R::from_f64(first as f64)
}

impl<S: Simd> Whole<S> {
    /// These numbers of a slice.
    #[inline(always)]
    pub fn load<R: Real>(self, slice: &[R]) -> Pack<R, S> {
        Pack::new(self.simd, R::packs::<S>(slice)[self.index])
    }

    /// Writes these numbers of a slice.
    #[inline(always)]
    pub fn store<R: Real>(self, slice: &mut [R], pack: Pack<R, S>) {
        R::packs_mut::<S>(slice)[self.index] = pack.values;
    }

    /// The pack, with `other` where it stands for no number: for sums.
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "all of a whole pack is new")]
    pub fn new_or<R: Real>(self, pack: Pack<R, S>, _other: R) -> Pack<R, S> {
        pack
    }

    /// The indices of these numbers in a slice.
    #[inline(always)]
    pub fn indices<R: Real>(self) -> Pack<R, S> {
        counted(self.simd, self.index * Pack::<R, S>::LANES)
    }
}

impl<S: Simd> Rest<S> {
    /// [`Whole::load`]
    #[inline(always)]
    pub fn load<R: Real>(self, slice: &[R]) -> Pack<R, S> {
        Pack::new(
            self.simd,
            R::load_part(self.simd, &slice[self.start..self.end]),
        )
    }

    /// [`Whole::store`]
    #[inline(always)]
    pub fn store<R: Real>(self, slice: &mut [R], pack: Pack<R, S>) {
        R::store_part(self.simd, &mut slice[self.start..self.end], pack.values);
    }

    /// [`Whole::new_or`]. Behind whole packs these numbers are the last of the pack: a sum depends on their place.
    #[inline(always)]
    pub fn new_or<R: Real>(self, pack: Pack<R, S>, other: R) -> Pack<R, S> {
        let count = self.end - self.start;
        let pack = pack.but_from(count, Pack::splat(self.simd, other));
        if self.start == 0 {
            return pack;
        }
        let mut values = [other; 2 * MOST_LANES];
        pack.store(&mut values[Pack::<R, S>::LANES - count..]);
        Pack::load(self.simd, &values)
    }

    /// [`Whole::indices`]
    #[inline(always)]
    pub fn indices<R: Real>(self) -> Pack<R, S> {
        counted(self.simd, self.start)
    }
}

/// Number of values of this slice in a pack.
#[inline(always)]
pub fn lanes_of<R: Real, S: Simd>(_simd: S, _slice: &[R]) -> usize {
    Pack::<R, S>::LANES
}

/// `each_pack!(simd, at in slice => block)` runs the block for all numbers of the slice, a pack at a time.
/// `at` loads and stores these numbers of any slice as long, see [`Whole`]; a sum takes `at.new_or(x, 0)`,
/// for the last pack may be filled in part.
macro_rules! each_pack {
    ($simd:expr, $at:ident in $slice:expr => $body:block) => {{
        let (simd, end) = ($simd, $slice.len());
        let lanes = $crate::math::pack::lanes_of(simd, &$slice[..]);
        for index in 0..end / lanes {
            let $at = $crate::math::pack::Whole { simd, index };
            $body
        }
        let start = end - end % lanes;
        if start < end {
            let $at = $crate::math::pack::Rest { simd, start, end };
            $body
        }
    }};
}

/// `map_packs!(simd, z = [x, y] => x + y)` fills the slice z from slices as long.
macro_rules! map_packs {
    ($simd:expr, $z:ident = [$($x:ident),+] => $value:expr) => {{
        let z = &mut $z[..];
        $(let $x = &$x[..z.len()];)+
        $crate::math::pack::each_pack!($simd, at in z => {
            $(let $x = at.load($x);)+
            at.store(z, $value);
        });
    }};
}
pub(crate) use {each_pack, map_packs};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::random_vector;
    use crate::math::simd::{Kernel, on_every_instruction_set};

    /// 2·y in place, x + y, the index of every number, and Σ x.
    #[derive(Clone, Copy)]
    struct Passes<'a>(&'a [f64], &'a [f64]);

    impl Kernel for Passes<'_> {
        type Output = (Vec<f64>, Vec<f64>, Vec<f64>, f64);
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let (x, mut y) = (self.0, self.1.to_vec());
            let (mut z, mut sum) = (vec![0.0; y.len()], Pack::splat(simd, 0.0));
            let mut indices = z.clone();
            map_packs!(simd, z = [x, y] => x + y);
            each_pack!(simd, at in x => {
                sum += at.new_or(at.load(x), 0.0);
                let two = at.load(&y) * 2.0;
                at.store(&mut y, two);
                at.store(&mut indices, at.indices());
            });
            (y, z, indices, sum.sum())
        }
    }

    #[test]
    fn every_value_is_visited_once_at_every_length() {
        for len in 0..=70 {
            let (x, y) = (random_vector(1, len), random_vector(2, len));
            for (twice, both, indices, sum) in on_every_instruction_set(Passes(&x, &y)) {
                assert!(
                    twice.iter().zip(&y).all(|(twice, y)| *twice == 2.0 * y),
                    "{len}"
                );
                let wanted = x.iter().zip(&y).map(|(x, y)| x + y);
                assert!(
                    both.iter()
                        .zip(wanted)
                        .all(|(found, wanted)| *found == wanted),
                    "{len}"
                );
                let wanted = (0..len).map(|index| index as f64);
                assert!(wanted.eq(indices), "{len}");
                assert!((sum - x.iter().sum::<f64>()).abs() < 1e-12, "{len}");
            }
        }
    }
}
