//! A layer of units over every row of a memory, and what they say together:
//!
//! ```text
//! e(i) = v · f(c + Wᵀ·M(i))
//! ```
//!
//! With f = tanh and c = W_qᵀ·q this is the additive score (Bahdanau et al. 2015, appendix A.1.2), with ReLU the
//! contextual prior of Fan et al. 2020 as their code has it, with the identity as their text has it.
//!
//! The memory stands column after column, `columns[m·N + i]` is M(i)[m]; W is [M, A] row after row.
//! It is walked through in parts of a fixed number of rows: the units of a part are computed in a
//! scratch, once more on the way back, so nothing is kept of them.

use super::matrix::{Blocks, Columns, by_held_blocks, has_many};
use super::pack::each_pack;
use super::simd::{Kernel, Simd, dispatch};
use super::{Pack, Real};

/// Rows that are taken together: the scratch of their units stays in the cache. The same on every processor, for
/// each part is summed by itself.
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

/// One head of [`Units::backward`].
pub struct UnitsHead<'a, R> {
    /// c [A].
    pub start: &'a [R],
    /// The gradient by e [N].
    pub by_energies: &'a [R],
    /// The gradient by c [A], to be set.
    pub by_start: &'a mut [R],
}

/// The gradients by what all heads share, to be added to.
pub struct UnitsGradient<'a, R> {
    /// By W [M, A].
    pub by_weight: &'a mut [R],
    /// By v [A].
    pub by_vector: &'a mut [R],
    /// By the memory.
    pub by_memory: &'a mut [R],
}

/// How much scratch `units` units over `rows` rows take, there and back, for however many heads.
pub fn scratch(units: usize, rows: usize) -> usize {
    units * rows.min(PART)
}

impl<R: Real> Units<'_, R> {
    /// Writes e(i) for every row and every pair (c, e): Wᵀ·M(i) is the same for all. `scratch` has
    /// [`scratch`] values.
    pub fn forward<const H: usize>(
        &self,
        heads: [(&[R], &mut [R]); H],
        columns: &[R],
        scratch: &mut [R],
    ) {
        dispatch(Forward {
            units: *self,
            heads,
            columns,
            scratch,
        });
    }

    /// From the gradients by e to those by all that makes it. `scratch` has [`scratch`] values.
    pub fn backward<const H: usize>(
        &self,
        heads: [UnitsHead<'_, R>; H],
        columns: &[R],
        scratch: &mut [R],
        by: UnitsGradient<'_, R>,
    ) {
        dispatch(Backward {
            units: *self,
            heads,
            columns,
            scratch,
            by,
        });
    }

    /// Wᵀ·M(i) of some rows, unit after unit.
    #[inline(always)]
    fn products<S: Simd>(&self, simd: S, memory: Lines<&[R]>, scratch: &mut [R]) {
        scratch.fill(R::ZERO);
        let outputs = self.vector.len();
        let weight = Weights {
            values: self.weight,
            by_input: outputs,
            by_output: 1,
        };
        let inputs = self.weight.len() / outputs;
        let y = Lines::all(scratch, memory.width);
        add_products(simd, weight, (inputs, outputs), memory, y);
    }
}

struct Forward<'a, R, const H: usize> {
    units: Units<'a, R>,
    heads: [(&'a [R], &'a mut [R]); H],
    columns: &'a [R],
    scratch: &'a mut [R],
}

impl<R: Real, const H: usize> Kernel for Forward<'_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Units {
            vector, activation, ..
        } = self.units;
        let mut heads = self.heads;
        let rows = heads.first().map_or(0, |(_, energies)| energies.len());
        for first in (0..rows).step_by(PART) {
            let width = PART.min(rows - first);
            let memory = Lines::part(self.columns, rows, first, width);
            let scratch = &mut self.scratch[..vector.len() * width];
            self.units.products(simd, memory, scratch);
            for (start, energies) in &mut heads {
                let energies = &mut energies[first..first + width];
                each_pack!(simd, at in energies => {
                    let mut e = Pack::splat(simd, R::ZERO);
                    let units = scratch.chunks_exact(width);
                    for (unit, (&c, &v)) in units.zip(start.iter().zip(vector)) {
                        e = activation.of(at.load(unit) + c).mul_add(v, e);
                    }
                    at.store(energies, e);
                });
            }
        }
    }
}

struct Backward<'a, R, const H: usize> {
    units: Units<'a, R>,
    heads: [UnitsHead<'a, R>; H],
    columns: &'a [R],
    scratch: &'a mut [R],
    by: UnitsGradient<'a, R>,
}

impl<R: Real, const H: usize> Kernel for Backward<'_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (weight, units) = (self.units.weight, self.units.vector.len());
        let rows = self.heads.first().map_or(0, |head| head.by_energies.len());
        let inputs = weight.len() / units;
        for head in &mut self.heads {
            head.by_start.fill(R::ZERO);
        }
        for first in (0..rows).step_by(PART) {
            let width = PART.min(rows - first);
            let memory = Lines::part(self.columns, rows, first, width);
            let scratch = &mut self.scratch[..units * width];
            self.units.products(simd, memory, scratch);
            for (a, unit) in scratch.chunks_exact_mut(width).enumerate() {
                let by_v = activation_backward(simd, self.units, a, first, &mut self.heads, unit);
                self.by.by_vector[a] += by_v;
            }
            // What comes back to Wᵀ·M is the sum over the heads.
            let by_units = Lines::all(&*scratch, width);
            add_sums_over_rows(simd, (inputs, memory), (units, by_units), self.by.by_weight);
            let transposed = Weights {
                values: weight,
                by_input: 1,
                by_output: units,
            };
            let by_memory = Lines::part(&mut *self.by.by_memory, rows, first, width);
            add_products(simd, transposed, (units, inputs), by_units, by_memory);
        }
    }
}

/// Turns what unit `a` has of the rows from `first` on, before its activation and without c, into the gradient
/// by it, the sum over the heads; adds to those by c and returns that by the unit's v.
#[inline(always)]
fn activation_backward<R: Real, S: Simd, const H: usize>(
    simd: S,
    units: Units<'_, R>,
    a: usize,
    first: usize,
    heads: &mut [UnitsHead<'_, R>; H],
    unit: &mut [R],
) -> R {
    let (v, zero) = (units.vector[a], Pack::splat(simd, R::ZERO));
    let (mut by_start, mut by_v) = ([zero; H], zero);
    each_pack!(simd, at in unit => {
        let (x, mut by_unit) = (at.load(unit), zero);
        for (head, by_start) in heads.iter().zip(&mut by_start) {
            let d = at.load(&head.by_energies[first..first + unit.len()]);
            let y = units.activation.of(x + head.start[a]);
            by_v += at.new_or(d * y, R::ZERO);
            let by_x = units.activation.backward(y, d * v);
            *by_start += at.new_or(by_x, R::ZERO);
            by_unit += by_x;
        }
        at.store(unit, by_unit);
    });
    for (head, by_start) in heads.iter_mut().zip(by_start) {
        head.by_start[a] += by_start.sum();
    }
    by_v.sum()
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
    #[inline(always)]
    fn all(data: D, width: usize) -> Self {
        Self {
            data,
            stride: width,
            start: 0,
            width,
        }
    }

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

    /// Where line `line` stands.
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

/// A matrix of weights, either way round.
#[derive(Clone, Copy)]
struct Weights<'a, R> {
    values: &'a [R],
    /// From one input to the next.
    by_input: usize,
    /// From one output to the next.
    by_output: usize,
}

/// y_o += Σ_k W[k, o]·x_k, where x_k and y_o are lines: for every input k and output o.
#[inline(always)]
fn add_products<R: Real, S: Simd>(
    simd: S,
    weight: Weights<'_, R>,
    (inputs, outputs): (usize, usize),
    x: Lines<&[R]>,
    y: Lines<&mut [R]>,
) {
    let mut pass = AddProducts {
        weight,
        inputs,
        outputs,
        x,
        y,
    };
    by_held_blocks::<R, S>(simd, 2, &mut pass);
}

struct AddProducts<'a, R> {
    weight: Weights<'a, R>,
    inputs: usize,
    outputs: usize,
    x: Lines<&'a [R]>,
    y: Lines<&'a mut [R]>,
}

impl<R: Real> Blocks for AddProducts<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.x.width
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let mut output = 0;
        if has_many::<S>() {
            while self.outputs - output >= 8 {
                self.tile::<S, V, 8>(simd, at, output);
                output += 8;
            }
            if self.outputs - output >= 4 {
                self.tile::<S, V, 4>(simd, at, output);
                output += 4;
            }
        }
        while self.outputs - output >= 2 {
            self.tile::<S, V, 2>(simd, at, output);
            output += 2;
        }
        if output < self.outputs {
            self.tile::<S, V, 1>(simd, at, output);
        }
    }
}

impl<R: Real> AddProducts<'_, R> {
    /// `V` packs of `U` outputs stay in registers while the inputs go by.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const U: usize>(
        &mut self,
        simd: S,
        at: impl Columns<S>,
        first: usize,
    ) {
        let (weight, zero) = (self.weight, R::splat(simd, R::ZERO));
        let mut sums = [[zero; V]; U];
        for (u, sums) in sums.iter_mut().enumerate() {
            let line = at.of(&self.y.data[self.y.range(first + u)]);
            for (v, sum) in sums.iter_mut().enumerate() {
                *sum = at.load(line, v);
            }
        }
        let weights = &weight.values[first * weight.by_output..];
        for k in 0..self.inputs {
            let line = at.of(self.x.line(k));
            let mut x = [zero; V];
            for (v, x) in x.iter_mut().enumerate() {
                *x = at.load(line, v);
            }
            for (u, sums) in sums.iter_mut().enumerate() {
                let w = R::splat(simd, weights[k * weight.by_input + u * weight.by_output]);
                for (sum, &x) in sums.iter_mut().zip(&x) {
                    *sum = R::mul_add(simd, w, x, *sum);
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

/// sums[k, o] += Σ_i x_k(i)·y_o(i), where x_k and y_o are lines.
#[inline(always)]
fn add_sums_over_rows<R: Real, S: Simd>(
    simd: S,
    (inputs, x): (usize, Lines<&[R]>),
    (outputs, y): (usize, Lines<&[R]>),
    sums: &mut [R],
) {
    let mut k = 0;
    if has_many::<S>() {
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
    sums: &mut [R],
) {
    let mut o = 0;
    if has_many::<S>() {
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
    sums: &mut [R],
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
    for (sums, found) in sums[k * outputs..].chunks_exact_mut(outputs).zip(&found) {
        for (sum, &found) in sums[o..].iter_mut().zip(found) {
            *sum += R::reduce(simd, found);
        }
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
        units.forward([(start, &mut energies[..])], columns, scratch);
        energies
    }

    /// By c, W, v and the memory, one behind the other.
    fn gradient<R: Real>(
        activation: UnitActivation,
        point: &[R],
        size: (usize, usize, usize),
        upstream: &[R],
    ) -> Vec<R> {
        let [start, weight, vector, columns] = parts(point, size);
        let units = Units {
            weight,
            vector,
            activation,
        };
        let (mut by_start, mut by_weight) =
            (vec![R::ONE; start.len()], vec![R::ZERO; weight.len()]);
        let (mut by_vector, mut by_memory) =
            (vec![R::ZERO; vector.len()], vec![R::ZERO; columns.len()]);
        let by = UnitsGradient {
            by_weight: &mut by_weight,
            by_vector: &mut by_vector,
            by_memory: &mut by_memory,
        };
        let scratch = &mut vec![R::ONE; scratch(size.2, size.0)];
        let head = UnitsHead {
            start,
            by_energies: upstream,
            by_start: &mut by_start,
        };
        units.backward([head], columns, scratch, by);
        [by_start, by_weight, by_vector, by_memory].concat()
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
    fn forward_is_the_definition_and_backward_its_gradient() {
        for (size, activation) in SIZES
            .into_iter()
            .flat_map(|size| [Tanh, Relu, Identity].map(|activation| (size, activation)))
        {
            let (point, upstream) = (random_point(size), random_vector(2, size.0));
            let wanted = plain(activation, &point, size);
            let found = energies(activation, &point, size);
            assert!(found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-12));
            let gradient = gradient(activation, &point, size, &upstream);
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
                gradient(activation, &point, size, &upstream),
            ]
            .concat();
            let short = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
            let (point, upstream) = (short(&point), short(&upstream));
            let everywhere = Choice::all().map(|choice| {
                with(choice, || {
                    [
                        energies(activation, &point, size),
                        gradient(activation, &point, size, &upstream),
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
    fn two_heads_in_one_pass_are_the_same_as_one_by_one() {
        let (size, activation) = ((PART + 70, 3, 7), Tanh);
        let (point, upstream) = (random_point(size), random_vector(2, size.0));
        let (other_start, other_upstream) = (random_vector(3, size.2), random_vector(4, size.0));
        let other = [&other_start[..], &point[size.2..]].concat();
        let [start, weight, vector, columns] = parts(&point, size);
        let units = Units {
            weight,
            vector,
            activation,
        };
        let (mut e, mut f) = (vec![0.0; size.0], vec![0.0; size.0]);
        let scratch = &mut vec![1.0; scratch(size.2, size.0)];
        let heads = [(start, &mut e[..]), (&other_start[..], &mut f[..])];
        units.forward(heads, columns, scratch);
        assert_eq!(e, energies(activation, &point, size));
        assert_eq!(f, energies(activation, &other, size));
        let (mut by_starts, mut by_rest) = (vec![1.0; 2 * size.2], vec![0.0; point.len()]);
        let (by_start, by_other_start) = by_starts.split_at_mut(size.2);
        let (by_weight, rest) = by_rest.split_at_mut(weight.len());
        let (by_vector, rest) = rest.split_at_mut(vector.len());
        let by = UnitsGradient {
            by_weight,
            by_vector,
            by_memory: &mut rest[..columns.len()],
        };
        let head = |start, by_energies, by_start| UnitsHead {
            start,
            by_energies,
            by_start,
        };
        let heads = [
            head(start, &upstream, by_start),
            head(&other_start, &other_upstream, by_other_start),
        ];
        units.backward(heads, columns, scratch, by);
        let one = gradient(activation, &point, size, &upstream);
        let two = gradient(activation, &other, size, &other_upstream);
        let (one_start, one) = one.split_at(size.2);
        let (two_start, two) = two.split_at(size.2);
        assert_eq!(by_starts, [one_start, two_start].concat());
        for (found, (one, two)) in by_rest.iter().zip(one.iter().zip(two)) {
            assert!((found - one - two).abs() < 1e-11);
        }
    }

    #[test]
    fn what_is_not_set_is_added_to_and_a_unit_at_rest_has_no_slope() {
        let activation = Relu;
        let units = Units {
            weight: &[1.0_f32, -1.0],
            vector: &[2.0, 3.0],
            activation,
        };
        let (mut by_start, mut by_weight) = ([7.0; 2], [1.0; 2]);
        let (mut by_vector, mut by_memory) = ([1.0; 2], [1.0; 3]);
        let by = UnitsGradient {
            by_weight: &mut by_weight,
            by_vector: &mut by_vector,
            by_memory: &mut by_memory,
        };
        // The first row is at the corner of both units, the others are within one of them.
        let memory = [0.0, 1e30, -1e-30];
        let head = UnitsHead {
            start: &[0.0; 2],
            by_energies: &[1.0; 3],
            by_start: &mut by_start,
        };
        units.backward([head], &memory, &mut [0.0; 6], by);
        assert_eq!((by_start, by_weight), ([2.0, 3.0], [2e30, 1.0]));
        assert_eq!((by_vector, by_memory), ([1e30, 1.0], [1.0, 3.0, -2.0]));
    }

    #[test]
    fn the_additive_score_is_the_golden_values() {
        let case = Case::load("score_additive");
        let (q, keys) = (case.numbers("inputs", "q"), case.transposed("inputs", "K"));
        let (a, d_q) = (case.size("A"), case.size("d_q"));
        let all = case.transposed("parameters", "score.W");
        let (by_query, weight) = all.split_at(d_q * a);
        let vector = case.numbers("parameters", "score.v");
        let units = Units {
            weight,
            vector: &vector,
            activation: Tanh,
        };
        let (n, mut start) = (case.size("n"), vec![0.0; a]);
        vector_product(&q, by_query, &mut start);
        let (mut energies, mut scratch) = (vec![0.0; n], vec![0.0; scratch(a, n)]);
        units.forward([(&start[..], &mut energies[..])], &keys, &mut scratch);
        let by_energies = case.gradient_by_energies(&energies);
        let (mut by_start, mut by_all) = (vec![0.0; a], vec![0.0; all.len()]);
        let (mut by_vector, mut by_keys) = (vec![0.0; a], vec![0.0; keys.len()]);
        let (to_query, to_keys) = by_all.split_at_mut(d_q * a);
        let by = UnitsGradient {
            by_weight: to_keys,
            by_vector: &mut by_vector,
            by_memory: &mut by_keys,
        };
        let head = UnitsHead {
            start: &start,
            by_energies: &by_energies,
            by_start: &mut by_start,
        };
        units.backward([head], &keys, &mut scratch, by);
        let mut by_q = vec![0.0; d_q];
        vector_product_backward((&q, by_query), &by_start, &mut by_q, to_query);
        case.assert_close("gradients", "q", &by_q);
        case.assert_transposed_close("gradients", "K", &by_keys);
        case.assert_close("gradients", "score.v", &by_vector);
        case.assert_transposed_close("gradients", "score.W", &by_all);
    }

    #[test]
    fn the_contextual_priors_are_the_golden_values() {
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
            units.forward([(&bias[..], &mut energies[..])], &keys, scratch);
            case.assert_close("outputs", "z", &energies);
        }
    }
}
