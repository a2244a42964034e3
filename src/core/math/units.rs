//! A layer of units over every row of a memory, and its output:
//!
//! ```text
//! e(i) = v · f(c + Wᵀ·M(i))
//! ```
//!
//! With f = tanh and c = W_qᵀ·q this is the additive score (Bahdanau et al. 2015, appendix A.1.2), with ReLU the
//! contextual prior of Fan et al. 2020 as their code has it, with the identity as their text has it.
//!
//! The memory stands column after column, `columns[m·N + i]` is M(i)[m]; W is [M, A] row after row. It is walked
//! through in parts of a fixed number of rows. What the units say can be kept for the way back, which spares it a
//! product and the activation; else they are computed again. The gradients by W and v are summed over an episode as
//! packs, and those added up at its end: a step is too short to pay for it.

use super::kernel::kernel;
use super::matrix::{Blocks, Columns, by_held_blocks, has_many};
use super::pack::each_pack;
use super::simd::{Kernel, LINE, Simd, dispatch};
use super::{Pack, Real};

/// Rows that are taken together: their units stay in the cache. The same on every processor, for each part is summed
/// by itself.
const PART: usize = 512;

/// f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitActivation {
    /// tanh x.
    Tanh,
    /// max(x, 0).
    Relu,
    /// x.
    Identity,
}

impl UnitActivation {
    /// f(x).
    #[inline(always)]
    fn of<R: Real, S: Simd>(self, x: Pack<R, S>) -> Pack<R, S> {
        match self {
            Self::Tanh => x.tanh(),
            Self::Relu => x.max(R::ZERO),
            Self::Identity => x,
        }
    }

    /// d·f′(x), where y = f(x).
    #[inline(always)]
    fn backward<R: Real, S: Simd>(self, y: Pack<R, S>, d: Pack<R, S>) -> Pack<R, S> {
        match self {
            Self::Tanh => d * (Pack::splat(d.simd(), R::ONE) - y * y),
            // 1 where y is a positive number: there a product with the largest power of 2 is at least 1.
            Self::Relu => d * (y * (R::ONE / R::TINY)).min(R::ONE),
            Self::Identity => d,
        }
    }
}

/// The layer.
#[derive(Clone, Copy, Debug)]
pub struct Units<'a, R> {
    /// W [M, A].
    pub weight: &'a [R],
    /// v [A].
    pub vector: &'a [R],
    /// f.
    pub activation: UnitActivation,
}

/// The backward pass from the gradient w.r.t. e to those w.r.t. its inputs.
pub struct UnitsGradient<'a, R> {
    /// c [A].
    pub start: &'a [R],
    /// The gradient w.r.t. e [N].
    pub d_energies: &'a [R],
    /// The gradient w.r.t. c [A], to be set.
    pub d_start: &'a mut [R],
    /// The gradients w.r.t. W and v, to be added to: see [`sums`].
    pub sums: &'a mut [R],
    /// The gradient w.r.t. the memory, to be added to.
    pub d_memory: &'a mut [R],
}

/// Returns the scratch size for `units` units over `rows` rows, in either pass.
pub fn scratch(units: usize, rows: usize) -> usize {
    (units + 1) * rows.min(PART)
}

/// Returns the number of values for the gradients w.r.t. W [M, A] and v [A], which [`add_up`] sums: a pack for each.
pub fn sums<R>(inputs: usize, units: usize) -> usize {
    (inputs + 1) * units * (LINE / size_of::<R>())
}

kernel! {
    /// Adds the sums to the gradients w.r.t. W [M, A] and v [A].
    pub fn add_up<'a, R>(simd; sums: &'a [R], d_weight: &'a mut [R], d_vector: &'a mut [R]) {
        let by = d_weight.iter_mut().chain(d_vector);
        for (by, &sum) in by.zip(R::packs::<S>(sums)) {
            *by += Pack::new(simd, sum).sum();
        }
    }
}

impl<R: Real> Units<'_, R> {
    /// Writes e(i) for every row. `values` has [`scratch`] values; or A·N, in which the units are kept.
    pub fn forward(&self, start: &[R], columns: &[R], values: &mut [R], energies: &mut [R]) {
        let (units, rows) = (self.vector.len(), energies.len());
        let is_kept = values.len() == units * rows;
        for first in (0..rows).step_by(PART) {
            let width = PART.min(rows - first);
            let at = if is_kept { units * first } else { 0 };
            let values = &mut values[at..at + units * width];
            let memory = Lines::part(columns, rows, first, width);
            self.say(start, memory, values, &mut energies[first..first + width]);
        }
    }

    /// Computes the units of some rows, and e.
    fn say(&self, start: &[R], memory: Lines<&[R]>, values: &mut [R], energies: &mut [R]) {
        let width = memory.width;
        dispatch::<R, _>(Products {
            weight: self.weight,
            start,
            x: memory,
            y: Lines::part(&mut *values, width, 0, width),
        });
        activate(*self, values, energies);
    }

    /// Computes the gradients w.r.t. all inputs from that w.r.t. e. `kept` holds the values of [`Units::forward`], if
    /// it kept any; `scratch` has [`scratch`] values.
    pub fn backward(
        &self,
        by: UnitsGradient<'_, R>,
        columns: &[R],
        kept: Option<&[R]>,
        scratch: &mut [R],
    ) {
        let UnitsGradient {
            start,
            d_energies,
            d_start,
            sums,
            d_memory,
        } = by;
        let (units, rows) = (self.vector.len(), d_energies.len());
        d_start.fill(R::ZERO);
        for first in (0..rows).step_by(PART) {
            let width = PART.min(rows - first);
            let memory = Lines::part(columns, rows, first, width);
            let (values, energies) = scratch.split_at_mut(units * width);
            let kept = kept.map(|kept| &kept[units * first..units * (first + width)]);
            if kept.is_none() {
                self.say(start, memory, values, &mut energies[..width]);
            }
            let d_energies = &d_energies[first..first + width];
            activate_backward(*self, d_energies, d_start, memory, kept, values, sums);
            dispatch::<R, _>(ProductsBackward {
                weight: self.weight,
                units,
                x: Lines::part(&mut *d_memory, rows, first, width),
                y: Lines::part(&*values, width, 0, width),
            });
        }
    }
}

/// Names an activation that is known when a kernel is compiled: a loop over rows would ask every time which it is.
macro_rules! with_activation {
    ($activation:expr, |$name:ident| $work:expr) => {
        with_activation!(@ $activation, $name, $work, Tanh Relu Identity)
    };
    (@ $activation:expr, $name:ident, $work:expr, $($each:ident)*) => {
        match $activation {
            $(UnitActivation::$each => {
                let $name = UnitActivation::$each;
                $work
            })*
        }
    };
}

kernel! {
    /// Turns the inputs of the units of some rows into their outputs, and writes e.
    fn activate<'a, R>(simd; units: Units<'a, R>, values: &'a mut [R], energies: &'a mut [R]) {
        with_activation!(units.activation, |activation| {
            activate_in(simd, activation, units.vector, values, energies);
        });
    }
}

#[inline(always)]
fn activate_in<R: Real, S: Simd>(
    simd: S,
    activation: UnitActivation,
    vector: &[R],
    values: &mut [R],
    energies: &mut [R],
) {
    let width = energies.len();
    each_pack!(simd, at in energies => {
        let mut e = Pack::splat(simd, R::ZERO);
        for (unit, &v) in values.chunks_exact_mut(width).zip(vector) {
            let y = activation.of(at.load(unit));
            at.store(unit, y);
            e = y.mul_add(v, e);
        }
        at.store(energies, e);
    });
}

kernel! {
    /// Writes the gradient w.r.t. the inputs of the units to `values` and adds those w.r.t. c, W and v. The activations
    /// of some rows are in `kept` or in `values`.
    fn activate_backward<'a, R>(
        simd; units: Units<'a, R>, d_energies: &'a [R], d_start: &'a mut [R], memory: Lines<&'a [R]>,
        kept: Option<&'a [R]>, values: &'a mut [R], sums: &'a mut [R],
    ) {
        let (width, outputs) = (memory.width, units.vector.len());
        let inputs = units.weight.len() / outputs;
        let sums = R::packs_mut::<S>(sums);
        let (d_weight, d_vector) = sums.split_at_mut(units.weight.len());
        for (a, unit) in values.chunks_exact_mut(width).enumerate() {
            let kept = kept.map(|kept| &kept[a * width..(a + 1) * width]);
            let (d_c, d_v) = with_activation!(units.activation, |activation| {
                unit_backward(simd, activation, units.vector[a], d_energies, kept, unit)
            });
            d_start[a] += d_c.sum();
            d_vector[a] = R::pack_add(simd, d_vector[a], d_v.values());
        }
        let by_units = Lines::part(&*values, width, 0, width);
        add_sums_over_rows(simd, (inputs, memory), (outputs, by_units), d_weight);
    }
}

/// Turns the gradient w.r.t. the output of a unit into that w.r.t. its inputs; returns the sums of those w.r.t. c and
/// w.r.t. v.
#[inline(always)]
fn unit_backward<R: Real, S: Simd>(
    simd: S,
    activation: UnitActivation,
    v: R,
    d_energies: &[R],
    kept: Option<&[R]>,
    unit: &mut [R],
) -> (Pack<R, S>, Pack<R, S>) {
    let zero = Pack::splat(simd, R::ZERO);
    let (mut d_c, mut d_v) = (zero, zero);
    each_pack!(simd, at in d_energies => {
        let (y, d) = (at.load(kept.unwrap_or(unit)), at.load(d_energies));
        d_v += at.new_or(d * y, R::ZERO);
        let d_x = activation.backward(y, d * v);
        d_c += at.new_or(d_x, R::ZERO);
        at.store(unit, d_x);
    });
    (d_c, d_v)
}

/// Some columns of a matrix whose lines are `stride` long.
#[derive(Clone, Copy)]
struct Lines<D> {
    data: D,
    stride: usize,
    start: usize,
    width: usize,
}

impl<D> Lines<D> {
    /// `width` rows of a memory of `stride` rows, from `start` on.
    #[inline(always)]
    fn part(data: D, stride: usize, start: usize, width: usize) -> Self {
        Self {
            data,
            stride,
            start,
            width,
        }
    }

    /// Returns the start of line `line`.
    #[inline(always)]
    fn range(&self, line: usize) -> std::ops::Range<usize> {
        let start = line * self.stride + self.start;
        start..start + self.width
    }
}

impl<'a, R> Lines<&'a [R]> {
    #[inline(always)]
    fn line(&self, line: usize) -> &'a [R] {
        &self.data[self.range(line)]
    }
}

/// Walks through `$count` lines in tiles of as many as the registers hold, which are known when a kernel is compiled.
macro_rules! in_tiles {
    ($simd:ident, $count:expr, |$size:ident, $first:ident| $tile:expr) => {{
        let (mut $first, count) = (0, $count);
        in_tiles!(@ const { has_many::<$simd>() }, count, $size, $first, $tile, 8 4);
        in_tiles!(@ true, count, $size, $first, $tile, 2 1);
    }};
    (@ $when:expr, $count:ident, $size:ident, $first:ident, $tile:expr, $($sizes:literal)*) => {$(
        if $when {
            const $size: usize = $sizes;
            while $count - $first >= $size {
                $tile;
                $first += $size;
            }
        }
    )*};
}

/// y_a = c_a + Σ_m W[m, a]·x_m, where x_m and y_a are lines.
struct Products<'a, R> {
    /// W [M, A].
    weight: &'a [R],
    /// c [A].
    start: &'a [R],
    x: Lines<&'a [R]>,
    y: Lines<&'a mut [R]>,
}

impl<R: Real> Kernel for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        by_held_blocks::<R, S, 2>(simd, &mut self);
    }
}

impl<R: Real> Blocks for Products<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.x.width
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let outputs = self.start.len();
        in_tiles!(S, outputs, |U, first| self.tile::<S, V, U>(simd, at, first));
    }
}

impl<R: Real> Products<'_, R> {
    /// `V` packs of `U` outputs stay in registers while the inputs go by.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const U: usize>(
        &mut self,
        simd: S,
        at: impl Columns<S>,
        first: usize,
    ) {
        let mut sums = [[R::splat(simd, R::ZERO); V]; U];
        for (sums, &c) in sums.iter_mut().zip(&self.start[first..]) {
            *sums = [R::splat(simd, c); V];
        }
        let weights = self.weight.chunks_exact(self.start.len());
        for (line, weights) in self.x.data.chunks_exact(self.x.stride).zip(weights) {
            let line = at.of(&line[self.x.range(0)]);
            let weights = &weights[first..first + U];
            for v in 0..V {
                let x = at.load(line, v);
                for (sums, &w) in sums.iter_mut().zip(weights) {
                    sums[v] = R::mul_add(simd, R::splat(simd, w), x, sums[v]);
                }
            }
        }
        for (u, sums) in sums.iter().enumerate() {
            let range = self.y.range(first + u);
            let line = at.of_mut(&mut self.y.data[range]);
            for (v, &sum) in sums.iter().enumerate() {
                at.store(line, v, sum);
            }
        }
    }
}

/// x_m += Σ_a W[m, a]·y_a, where x_m and y_a are lines.
struct ProductsBackward<'a, R> {
    /// W [M, A].
    weight: &'a [R],
    /// A.
    units: usize,
    x: Lines<&'a mut [R]>,
    y: Lines<&'a [R]>,
}

impl<R: Real> Kernel for ProductsBackward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        by_held_blocks::<R, S, 2>(simd, &mut self);
    }
}

impl<R: Real> Blocks for ProductsBackward<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.x.width
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let units = self.units;
        in_tiles!(S, units, |U, first| self.tile::<S, V, U>(simd, at, first));
    }
}

impl<R: Real> ProductsBackward<'_, R> {
    /// `V` packs of `U` units stay in registers while the columns of the memory go by.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const U: usize>(
        &mut self,
        simd: S,
        at: impl Columns<S>,
        first: usize,
    ) {
        let mut y = [[R::splat(simd, R::ZERO); V]; U];
        for (u, y) in y.iter_mut().enumerate() {
            let line = at.of(self.y.line(first + u));
            for (v, y) in y.iter_mut().enumerate() {
                *y = at.load(line, v);
            }
        }
        let (range, weights) = (self.x.range(0), self.weight.chunks_exact(self.units));
        for (line, weights) in self.x.data.chunks_exact_mut(self.x.stride).zip(weights) {
            let line = at.of_mut(&mut line[range.clone()]);
            let weights = &weights[first..first + U];
            for v in 0..V {
                let mut sum = at.load(line, v);
                for (y, &w) in y.iter().zip(weights) {
                    sum = R::mul_add(simd, R::splat(simd, w), y[v], sum);
                }
                at.store(line, v, sum);
            }
        }
    }
}

/// sums[k, o] += Σ_i x_k(i)·y_o(i) in packs, where x_k and y_o are lines.
#[inline(always)]
fn add_sums_over_rows<R: Real, S: Simd>(
    simd: S,
    (inputs, x): (usize, Lines<&[R]>),
    (outputs, y): (usize, Lines<&[R]>),
    sums: &mut [R::Pack<S>],
) {
    let mut k = 0;
    if const { has_many::<S>() } {
        while inputs - k >= 4 {
            add_sums_of::<R, S, 4>(simd, (k, x), (outputs, y), sums);
            k += 4;
        }
    }
    while inputs - k >= 2 {
        add_sums_of::<R, S, 2>(simd, (k, x), (outputs, y), sums);
        k += 2;
    }
    if k < inputs {
        add_sums_of::<R, S, 1>(simd, (k, x), (outputs, y), sums);
    }
}

/// [`add_sums_over_rows`] for `K` inputs.
#[inline(always)]
fn add_sums_of<R: Real, S: Simd, const K: usize>(
    simd: S,
    x: (usize, Lines<&[R]>),
    (outputs, y): (usize, Lines<&[R]>),
    sums: &mut [R::Pack<S>],
) {
    let mut o = 0;
    if const { has_many::<S>() } {
        while outputs - o >= 4 {
            add_tile_of_sums::<R, S, K, 4>(simd, x, (o, y), outputs, sums);
            o += 4;
        }
    }
    while outputs - o >= 2 {
        add_tile_of_sums::<R, S, K, 2>(simd, x, (o, y), outputs, sums);
        o += 2;
    }
    if o < outputs {
        add_tile_of_sums::<R, S, K, 1>(simd, x, (o, y), outputs, sums);
    }
}

/// The sums of `K` inputs with `U` outputs stay in registers while the rows go by.
#[inline(always)]
fn add_tile_of_sums<R: Real, S: Simd, const K: usize, const U: usize>(
    simd: S,
    (k, x): (usize, Lines<&[R]>),
    (o, y): (usize, Lines<&[R]>),
    outputs: usize,
    sums: &mut [R::Pack<S>],
) {
    let whole = x.width / Pack::<R, S>::LANES;
    let (mut xs, mut ys) = ([&x.data[..0]; K], [&y.data[..0]; U]);
    for (i, line) in xs.iter_mut().enumerate() {
        *line = x.line(k + i);
    }
    for (u, line) in ys.iter_mut().enumerate() {
        *line = y.line(o + u);
    }
    let (mut x_packs, mut y_packs) = ([R::packs::<S>(xs[0]); K], [R::packs::<S>(ys[0]); U]);
    for (packs, line) in x_packs.iter_mut().zip(&xs) {
        *packs = &R::packs::<S>(line)[..whole];
    }
    for (packs, line) in y_packs.iter_mut().zip(&ys) {
        *packs = &R::packs::<S>(line)[..whole];
    }
    let mut found = [[R::splat(simd, R::ZERO); U]; K];
    for (i, found) in found.iter_mut().enumerate() {
        found.copy_from_slice(&sums[(k + i) * outputs + o..][..U]);
    }
    for p in 0..whole {
        let mut y = [R::splat(simd, R::ZERO); U];
        for (y, packs) in y.iter_mut().zip(&y_packs) {
            *y = packs[p];
        }
        for (found, x) in found.iter_mut().zip(&x_packs) {
            for (found, &y) in found.iter_mut().zip(&y) {
                *found = R::mul_add(simd, x[p], y, *found);
            }
        }
    }
    let start = whole * Pack::<R, S>::LANES;
    if start < x.width {
        for (found, x) in found.iter_mut().zip(&xs) {
            let x = R::load_part(simd, &x[start..]);
            for (found, y) in found.iter_mut().zip(&ys) {
                *found = R::mul_add(simd, x, R::load_part(simd, &y[start..]), *found);
            }
        }
    }
    for (i, found) in found.iter().enumerate() {
        sums[(k + i) * outputs + o..][..U].copy_from_slice(found);
    }
}

#[cfg(test)]
mod tests {
    use super::UnitActivation::{Identity, Relu, Tanh};
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::{Choice, PLAIN, with};
    use crate::math::softmax::dot;
    use crate::math::vectors::{vector_product, vector_product_backward};

    const SIZES: [(usize, usize, usize); 6] = [
        (1, 1, 1),
        (5, 3, 7),
        (37, 5, 16),
        (37, 6, 20),
        (130, 3, 7),
        (PART + 70, 2, 3),
    ];

    /// c, W, v and the memory, one behind the other.
    fn parts<R>(point: &[R], (rows, inputs, units): (usize, usize, usize)) -> [&[R]; 4] {
        let (start, rest) = point.split_at(units);
        let (weight, rest) = rest.split_at(inputs * units);
        let (vector, columns) = rest.split_at(units);
        assert_eq!(columns.len(), rows * inputs);
        [start, weight, vector, columns]
    }

    fn random_point(size: (usize, usize, usize)) -> Vec<f64> {
        let (rows, inputs, units) = size;
        random_vector(1, units + inputs * units + units + rows * inputs)
    }

    fn energies<R: Real>(
        activation: UnitActivation,
        point: &[R],
        size: (usize, usize, usize),
    ) -> Vec<R> {
        let [start, weight, vector, columns] = parts(point, size);
        let units = Units {
            weight,
            vector,
            activation,
        };
        let mut energies = vec![R::ONE; size.0];
        let scratch = &mut vec![R::ONE; scratch(size.2, size.0)];
        units.forward(start, columns, scratch, &mut energies);
        energies
    }

    /// Gradients w.r.t. c, W, v and the memory, one after the other; the units kept, or computed again.
    fn gradient<R: Real>(
        activation: UnitActivation,
        point: &[R],
        size: (usize, usize, usize),
        upstream: &[R],
        is_kept: bool,
    ) -> Vec<R> {
        let [start, weight, vector, columns] = parts(point, size);
        let units = Units {
            weight,
            vector,
            activation,
        };
        let zeros = |slice: &[R]| vec![R::ZERO; slice.len()];
        let (mut d_start, mut d_weight) = (vec![R::ONE; start.len()], zeros(weight));
        let (mut d_vector, mut d_memory) = (zeros(vector), zeros(columns));
        let mut sums = vec![R::ZERO; sums::<R>(size.1, size.2)];
        let by = UnitsGradient {
            start,
            d_energies: upstream,
            d_start: &mut d_start,
            sums: &mut sums,
            d_memory: &mut d_memory,
        };
        let mut kept = vec![R::ONE; size.0 * size.2];
        units.forward(start, columns, &mut kept, &mut vec![R::ONE; size.0]);
        let scratch = &mut vec![R::ONE; scratch(size.2, size.0)];
        units.backward(by, columns, is_kept.then_some(&kept[..]), scratch);
        add_up(&sums, &mut d_weight, &mut d_vector);
        [d_start, d_weight, d_vector, d_memory].concat()
    }

    /// The definition, one number at a time.
    fn plain(activation: UnitActivation, point: &[f64], size: (usize, usize, usize)) -> Vec<f64> {
        let ([start, weight, vector, columns], (rows, inputs, units)) = (parts(point, size), size);
        let unit = |i: usize, a: usize| {
            let sum = (0..inputs).map(|m| weight[m * units + a] * columns[m * rows + i]);
            let x = start[a] + sum.sum::<f64>();
            match activation {
                Tanh => x.tanh(),
                Relu => x.max(0.0),
                Identity => x,
            }
        };
        (0..rows)
            .map(|i| (0..units).map(|a| vector[a] * unit(i, a)).sum())
            .collect()
    }

    #[test]
    fn forward_matches_the_definition_and_backward_its_gradient() {
        for (size, activation) in SIZES
            .into_iter()
            .flat_map(|size| [Tanh, Relu, Identity].map(|activation| (size, activation)))
        {
            let (point, upstream) = (random_point(size), random_vector(2, size.0));
            let wanted = plain(activation, &point, size);
            let found = energies(activation, &point, size);
            assert!(found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-12));
            let again = gradient(activation, &point, size, &upstream, false);
            let gradient = gradient(activation, &point, size, &upstream, true);
            assert_eq!(gradient, again);
            let name = format!("{activation:?} {size:?}");
            assert_gradient(&name, &point, &gradient, |point| {
                dot(PLAIN, &energies(activation, point, size), &upstream)
            });
        }
    }

    #[test]
    fn the_same_bits_on_every_instruction_set_and_near_those_of_f64() {
        for (size, activation) in SIZES
            .into_iter()
            .chain([(128, 20, 20)])
            .flat_map(|size| [Tanh, Relu, Identity].map(|activation| (size, activation)))
        {
            let (point, upstream) = (random_point(size), random_vector(2, size.0));
            let wanted = [
                energies(activation, &point, size),
                gradient(activation, &point, size, &upstream, true),
            ]
            .concat();
            let short = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
            let (point, upstream) = (short(&point), short(&upstream));
            let everywhere = Choice::all().map(|choice| {
                with(choice, || {
                    [
                        energies(activation, &point, size),
                        gradient(activation, &point, size, &upstream, true),
                    ]
                    .concat()
                })
            });
            assert!(everywhere.iter().all(|found| *found == everywhere[0]));
            for (found, wanted) in everywhere[0].iter().zip(wanted) {
                let close = (f64::from(*found) - wanted).abs() < 1e-5 * wanted.abs().max(1.0);
                assert!(close, "{activation:?} {size:?}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn backward_adds_to_shared_gradients_and_relu_at_zero_has_none() {
        let activation = Relu;
        let units = Units {
            weight: &[1.0_f32, -1.0],
            vector: &[2.0, 3.0],
            activation,
        };
        let (mut d_start, mut sums) = ([7.0; 2], vec![0.0; sums::<f32>(1, 2)]);
        let (mut d_weight, mut d_vector, mut d_memory) = ([1.0; 2], [1.0; 2], [1.0; 3]);
        // The first row is at the corner of both units, the others are within one of them.
        let memory = [0.0, 1e30, -1e-30];
        let by = UnitsGradient {
            start: &[0.0; 2],
            d_energies: &[1.0; 3],
            d_start: &mut d_start,
            sums: &mut sums,
            d_memory: &mut d_memory,
        };
        units.backward(by, &memory, None, &mut [0.0; 9]);
        add_up(&sums, &mut d_weight, &mut d_vector);
        assert_eq!((d_start, d_weight), ([2.0, 3.0], [2e30, 1.0]));
        assert_eq!((d_vector, d_memory), ([1e30, 1.0], [1.0, 3.0, -2.0]));
    }

    #[test]
    fn additive_score_matches_golden_values() {
        let case = Case::load("score_additive");
        let (q, keys) = (case.numbers("inputs", "q"), case.transposed("inputs", "K"));
        let (a, d_q) = (case.size("A"), case.size("d_q"));
        let all = case.transposed("parameters", "score.W");
        let (query_weight, weight) = all.split_at(d_q * a);
        let vector = case.numbers("parameters", "score.v");
        let units = Units {
            weight,
            vector: &vector,
            activation: Tanh,
        };
        let (n, mut start) = (case.size("n"), vec![0.0; a]);
        vector_product(&q, query_weight, &mut start);
        let (mut energies, mut scratch) = (vec![0.0; n], vec![0.0; scratch(a, n)]);
        units.forward(&start, &keys, &mut scratch, &mut energies);
        let d_energies = case.energies_gradient(&energies);
        let (mut d_start, mut d_all) = (vec![0.0; a], vec![0.0; all.len()]);
        let (mut d_vector, mut d_keys) = (vec![0.0; a], vec![0.0; keys.len()]);
        let (to_query, to_keys) = d_all.split_at_mut(d_q * a);
        let mut sums = vec![0.0; sums::<f64>(weight.len() / a, a)];
        let by = UnitsGradient {
            start: &start,
            d_energies: &d_energies,
            d_start: &mut d_start,
            sums: &mut sums,
            d_memory: &mut d_keys,
        };
        units.backward(by, &keys, None, &mut scratch);
        add_up(&sums, to_keys, &mut d_vector);
        let mut d_query = vec![0.0; d_q];
        vector_product_backward((&q, query_weight), &d_start, &mut d_query, to_query);
        case.assert_close("gradients", "q", &d_query);
        case.assert_transposed_close("gradients", "K", &d_keys);
        case.assert_close("gradients", "score.v", &d_vector);
        case.assert_transposed_close("gradients", "score.W", &d_all);
    }

    #[test]
    fn contextual_priors_match_golden_values() {
        for (name, activation) in [
            ("weibull_text", Identity),
            ("weibull_code", Relu),
            ("lognormal_text", Identity),
            ("lognormal_code", Relu),
        ] {
            let case = Case::load(name);
            let (hidden, inputs) = case.shape("parameters", "prior.W");
            assert_eq!(inputs, case.size("d_k"));
            let weight = case.transposed("parameters", "prior.W");
            let vector = case.numbers("parameters", "prior.h");
            let units = Units {
                weight: &weight,
                vector: &vector,
                activation,
            };
            let (n, bias) = (case.size("n"), case.numbers("parameters", "prior.b"));
            let (mut energies, scratch) = (vec![0.0; n], &mut vec![0.0; scratch(hidden, n)]);
            let keys = case.transposed("inputs", "K");
            units.forward(&bias, &keys, scratch, &mut energies);
            case.assert_close("outputs", "z", &energies);
        }
    }
}
