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
            Self::Tanh => (-d * y).mul_add(y, d),
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

/// The gradients by what makes e.
pub struct UnitsGradient<'a, R> {
    /// By c [A], to be set.
    pub by_start: &'a mut [R],
    /// By W [M, A], to be added to.
    pub by_weight: &'a mut [R],
    /// By v [A], to be added to.
    pub by_vector: &'a mut [R],
    /// By the memory, to be added to.
    pub by_memory: &'a mut [R],
}

/// How much scratch `units` units over `rows` rows take, there and back.
pub fn scratch(units: usize, rows: usize) -> usize {
    units * rows.min(PART)
}

impl<R: Real> Units<'_, R> {
    /// Writes e(i) for every row, with `start` = c. `scratch` has [`scratch`] values.
    pub fn forward(&self, start: &[R], columns: &[R], scratch: &mut [R], energies: &mut [R]) {
        dispatch(Forward {
            units: *self,
            start,
            columns,
            scratch,
            energies,
        });
    }

    /// From the gradient by e to those by all that makes it. `scratch` has [`scratch`] values.
    pub fn backward(
        &self,
        start: &[R],
        columns: &[R],
        by_energies: &[R],
        scratch: &mut [R],
        by: UnitsGradient<'_, R>,
    ) {
        dispatch(Backward {
            units: *self,
            start,
            columns,
            by_energies,
            scratch,
            by,
        });
    }

    /// c + Wᵀ·M(i) of some rows, unit after unit.
    #[inline(always)]
    fn before_activation<S: Simd>(
        &self,
        simd: S,
        start: &[R],
        memory: Lines<&[R]>,
        scratch: &mut [R],
    ) {
        for (unit, &start) in scratch.chunks_exact_mut(memory.width).zip(start) {
            unit.fill(start);
        }
        let weight = Weights {
            values: self.weight,
            by_input: self.vector.len(),
            by_output: 1,
        };
        let outputs = self.vector.len();
        let inputs = self.weight.len() / outputs;
        let y = Lines::all(&mut *scratch, memory.width);
        add_products(simd, weight, (inputs, outputs), memory, y);
    }
}

struct Forward<'a, R> {
    units: Units<'a, R>,
    start: &'a [R],
    columns: &'a [R],
    scratch: &'a mut [R],
    energies: &'a mut [R],
}

impl<R: Real> Kernel for Forward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Units {
            vector, activation, ..
        } = self.units;
        let rows = self.energies.len();
        for (part, energies) in self.energies.chunks_mut(PART).enumerate() {
            let width = energies.len();
            let memory = Lines::part(self.columns, rows, part, width);
            let scratch = &mut self.scratch[..vector.len() * width];
            self.units
                .before_activation(simd, self.start, memory, scratch);
            each_pack!(simd, at in energies => {
                let mut e = Pack::splat(simd, R::ZERO);
                for (unit, &v) in scratch.chunks_exact(width).zip(vector) {
                    e = activation.of(at.load(unit)).mul_add(v, e);
                }
                at.store(energies, e);
            });
        }
    }
}

struct Backward<'a, R> {
    units: Units<'a, R>,
    start: &'a [R],
    columns: &'a [R],
    by_energies: &'a [R],
    scratch: &'a mut [R],
    by: UnitsGradient<'a, R>,
}

impl<R: Real> Kernel for Backward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Units {
            weight,
            vector,
            activation,
        } = self.units;
        let (rows, units) = (self.by_energies.len(), vector.len());
        let inputs = weight.len() / units;
        self.by.by_start.fill(R::ZERO);
        for (part, upstream) in self.by_energies.chunks(PART).enumerate() {
            let width = upstream.len();
            let memory = Lines::part(self.columns, rows, part, width);
            let scratch = &mut self.scratch[..units * width];
            self.units
                .before_activation(simd, self.start, memory, scratch);
            for (a, unit) in scratch.chunks_exact_mut(width).enumerate() {
                let (by_start, by_v) =
                    activation_backward(simd, activation, vector[a], upstream, unit);
                self.by.by_start[a] += by_start;
                self.by.by_vector[a] += by_v;
            }
            let by_units = Lines::all(&*scratch, width);
            add_sums_over_rows(simd, (inputs, memory), (units, by_units), self.by.by_weight);
            let transposed = Weights {
                values: weight,
                by_input: 1,
                by_output: units,
            };
            let by_memory = Lines::part(&mut *self.by.by_memory, rows, part, width);
            add_products(simd, transposed, (units, inputs), by_units, by_memory);
        }
    }
}

/// Turns what a unit has before its activation into the gradient by it; returns the sum of that, and the gradient
/// by the unit's v.
#[inline(always)]
fn activation_backward<R: Real, S: Simd>(
    simd: S,
    activation: UnitActivation,
    v: R,
    upstream: &[R],
    unit: &mut [R],
) -> (R, R) {
    let zero = Pack::splat(simd, R::ZERO);
    let (mut by_start, mut by_v) = (zero, zero);
    each_pack!(simd, at in upstream => {
        let (d, y) = (at.load(upstream), activation.of(at.load(unit)));
        by_v += at.new_or(d * y, R::ZERO);
        let by_unit = activation.backward(y, d * v);
        by_start += at.new_or(by_unit, R::ZERO);
        at.store(unit, by_unit);
    });
    (by_start.sum(), by_v.sum())
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

    /// Part `part` of the rows of a memory.
    #[inline(always)]
    fn part(data: D, stride: usize, part: usize, width: usize) -> Self {
        Self {
            data,
            stride,
            start: part * PART,
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
    by_held_blocks::<R, S>(simd, if has_many::<S>() { 4 } else { 2 }, &mut pass);
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
            while self.outputs - output >= 4 {
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
        let weight = self.weight;
        let mut sums: [[R::Pack<S>; V]; U] = std::array::from_fn(|u| {
            let line = at.of(&self.y.data[self.y.range(first + u)]);
            std::array::from_fn(|v| at.load(line, v))
        });
        for k in 0..self.inputs {
            let line = at.of(self.x.line(k));
            let x: [R::Pack<S>; V] = std::array::from_fn(|v| at.load(line, v));
            for (u, sums) in sums.iter_mut().enumerate() {
                let w = weight.values[k * weight.by_input + (first + u) * weight.by_output];
                let w = R::splat(simd, w);
                for (sum, &x) in sums.iter_mut().zip(&x) {
                    *sum = R::mul_add(simd, w, x, *sum);
                }
            }
        }
        for (u, sums) in sums.into_iter().enumerate() {
            let range = self.y.range(first + u);
            let line = at.of_mut(&mut self.y.data[range]);
            for (v, sum) in sums.into_iter().enumerate() {
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
    let (lanes, width) = (Pack::<R, S>::LANES, x.width);
    let xs: [&[R]; K] = std::array::from_fn(|i| x.line(k + i));
    let ys: [&[R]; U] = std::array::from_fn(|u| y.line(o + u));
    let mut found = [[R::splat(simd, R::ZERO); U]; K];
    for start in (0..width - width % lanes).step_by(lanes) {
        let y: [R::Pack<S>; U] =
            std::array::from_fn(|u| Pack::load(simd, &ys[u][start..start + lanes]).values());
        for i in 0..K {
            let x = Pack::load(simd, &xs[i][start..start + lanes]).values();
            for u in 0..U {
                found[i][u] = R::mul_add(simd, x, y[u], found[i][u]);
            }
        }
    }
    let start = width - width % lanes;
    if start < width {
        let y: [R::Pack<S>; U] = std::array::from_fn(|u| R::load_part(simd, &ys[u][start..width]));
        for i in 0..K {
            let x = R::load_part(simd, &xs[i][start..width]);
            for u in 0..U {
                found[i][u] = R::mul_add(simd, x, y[u], found[i][u]);
            }
        }
    }
    for (i, found) in found.into_iter().enumerate() {
        for (u, found) in found.into_iter().enumerate() {
            sums[(k + i) * outputs + o + u] += R::reduce(simd, found);
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
        units.forward(start, columns, scratch, &mut energies);
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
            by_start: &mut by_start,
            by_weight: &mut by_weight,
            by_vector: &mut by_vector,
            by_memory: &mut by_memory,
        };
        let scratch = &mut vec![R::ONE; scratch(size.2, size.0)];
        units.backward(start, columns, upstream, scratch, by);
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
            by_start: &mut by_start,
            by_weight: &mut by_weight,
            by_vector: &mut by_vector,
            by_memory: &mut by_memory,
        };
        // The first row is at the corner of both units, the others are within one of them.
        let memory = [0.0, 1e30, -1e-30];
        units.backward(&[0.0; 2], &memory, &[1.0; 3], &mut [0.0; 6], by);
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
        units.forward(&start, &keys, &mut scratch, &mut energies);
        let by_energies = case.gradient_by_energies(&energies);
        let (mut by_start, mut by_all) = (vec![0.0; a], vec![0.0; all.len()]);
        let (mut by_vector, mut by_keys) = (vec![0.0; a], vec![0.0; keys.len()]);
        let (to_query, to_keys) = by_all.split_at_mut(d_q * a);
        let by = UnitsGradient {
            by_start: &mut by_start,
            by_weight: to_keys,
            by_vector: &mut by_vector,
            by_memory: &mut by_keys,
        };
        units.backward(&start, &keys, &by_energies, &mut scratch, by);
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
            units.forward(&bias, &keys, scratch, &mut energies);
            case.assert_close("outputs", "z", &energies);
        }
    }
}
