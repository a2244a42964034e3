//! A highway maxout network, which scores every row of a document (Xiong 2016, §2.3), in the order of its equations:
//!
//! ```text
//! v = tanh(W_vᵀ·s)    m_1 = maxout(W_1ᵀ·[U_i; v] + b_1)    m_2 = maxout(W_2ᵀ·m_1 + b_2)
//! K(i) = maxout(W_3ᵀ·[m_1; m_2] + b_3)
//! ```
//!
//! s is the state of a decoder and what it sees. Each unit of maxout is the largest of some sums, which stand unit by unit
//! in as many blocks.

use super::controller::feedforward;
use crate::math::matrix::{Rows, add_vector_product, padded, product_with_vector};
use crate::math::vectors::add;
use crate::math::{Linear, Matrix, Real, Series};

/// The weights of a network.
pub(super) struct Pointer<'a, R> {
    /// The three maps to maxout units.
    pub(super) linears: &'a [Linear<R>],
    /// W_v.
    pub(super) seen: &'a Matrix<R>,
    /// Units of a layer.
    pub(super) hidden: usize,
}

/// Maps to maxout units.
pub(super) const MAPS: usize = 3;

/// Name, inputs and outputs of these maps.
pub(super) fn maps(row: usize, hidden: usize, pool: usize) -> [(&'static str, usize, usize); MAPS] {
    [
        ("first", row + hidden, pool * hidden),
        ("second", hidden, pool * hidden),
        ("third", 2 * hidden, pool),
    ]
}

/// Units, each with the sum that it is.
struct Units<R> {
    values: Vec<R>,
    sums: Vec<usize>,
}

/// The largest sum for each of some units.
fn maxout<R: Real>(linear: &Linear<R>, z: &[R], units: usize) -> Units<R> {
    let sums = linear.weight.columns();
    let best = |unit: usize| {
        let of_unit = (unit..sums).step_by(units);
        of_unit.fold(unit, |best, at| if z[at] > z[best] { at } else { best })
    };
    let sums: Vec<usize> = (0..units).map(best).collect();
    Units {
        values: sums.iter().map(|&at| z[at]).collect(),
        sums,
    }
}

impl<R: Real> Pointer<'_, R> {
    fn highway(&self, seen: &[R]) -> Vec<R> {
        let mut v = vec![R::ZERO; self.hidden];
        add_vector_product(seen, self.seen.rows_from(0), &mut v);
        feedforward::forward(&mut v);
        v
    }

    /// The score of every row, [m, U].
    pub(super) fn forward(&self, seen: &[R], rows: &Series<R>) -> Vec<R> {
        let of_v = self.linears[0].sums(rows.width(), &self.highway(seen));
        let all = (0..rows.steps()).map(|i| self.layers(rows.row(i), &of_v)[2].values[0]);
        all.collect()
    }

    /// The units of all layers, with b_1 + W_1ᵀ·v of the first one.
    fn layers(&self, row: &[R], of_v: &[R]) -> [Units<R>; MAPS] {
        let [one, two, three] = [0, 1, 2].map(|at| &self.linears[at]);
        let mut z = of_v.to_vec();
        add_vector_product(row, one.weight.rows_from(0).part(0..row.len()), &mut z);
        let first = maxout(one, &z, self.hidden);
        let second = maxout(two, &two.sums(0, &first.values), self.hidden);
        let both = [&first.values[..], &second.values].concat();
        let third = maxout(three, &three.sums(0, &both), 1);
        [first, second, third]
    }

    /// Backpropagates from the gradients w.r.t. the scores: adds to that w.r.t. the rows, and returns that w.r.t. s.
    pub(super) fn backward(
        &self,
        d_scores: &[R],
        (seen, rows): (&[R], &Series<R>),
        d_rows: &mut Series<R>,
        by: &mut PointerGradient<R>,
    ) -> Vec<R> {
        let (v, hidden) = (self.highway(seen), self.hidden);
        let mut d_v = vec![R::ZERO; hidden];
        let of_v = self.linears[0].sums(rows.width(), &v);
        by.make_room(rows.steps());
        for (i, &d_score) in d_scores.iter().enumerate() {
            let row = rows.row(i);
            let [first, second, third] = self.layers(row, &of_v);
            let both = [&first.values[..], &second.values].concat();
            let d_both = by.push(self.linears, 2, (&both, &third), &[d_score]);
            let (d_first, d_second) = d_both.split_at(hidden);
            let mut d_first = d_first.to_vec();
            let through = by.push(self.linears, 1, (&first.values, &second), d_second);
            add(&mut d_first, &through);
            let seen = [row, &v].concat();
            let d_seen = by.push(self.linears, 0, (&seen, &first), &d_first);
            add(d_rows.row_mut(i), &d_seen[..row.len()]);
            add(&mut d_v, &d_seen[row.len()..]);
        }
        let mut dz = vec![R::ZERO; padded(hidden)];
        feedforward::backward(&v, &d_v, &mut dz[..hidden]);
        let mut d_seen = vec![R::ZERO; seen.len()];
        product_with_vector(self.seen.rows_from(0), &dz[..hidden], &mut d_seen);
        by.seen.push(seen, &dz);
        d_seen
    }
}

/// The inputs of a weight, each with the gradient w.r.t. its product.
struct Pairs<R> {
    count: usize,
    x: Series<R>,
    dz: Series<R>,
}

impl<R: Real> Pairs<R> {
    fn new(inputs: usize, outputs: usize) -> Self {
        let (x, dz) = (Series::new(inputs), Series::new(padded(outputs)));
        Self { count: 0, x, dz }
    }

    fn resize(&mut self, count: usize) {
        self.x.resize(count);
        self.dz.resize(count);
    }

    fn push(&mut self, x: &[R], dz: &[R]) {
        for (series, values) in [(&mut self.x, x), (&mut self.dz, dz)] {
            series.row_mut(self.count).copy_from_slice(values);
        }
        self.count += 1;
    }

    fn rows(&self) -> (Rows<'_, R>, Rows<'_, R>) {
        (self.x.rows_from(0), self.dz.rows_from(0))
    }
}

/// What the gradients of the weights are made of.
pub(super) struct PointerGradient<R> {
    maps: [Pairs<R>; MAPS],
    seen: Pairs<R>,
}

impl<R: Real> PointerGradient<R> {
    /// For rows and an s of these sizes.
    pub(super) fn new(row: usize, seen: usize, hidden: usize, pool: usize) -> Self {
        Self {
            maps: maps(row, hidden, pool).map(|(_, inputs, outputs)| Pairs::new(inputs, outputs)),
            seen: Pairs::new(seen, hidden),
        }
    }

    /// Empties it for an episode.
    pub(super) fn reset(&mut self) {
        for pairs in self.maps.iter_mut().chain([&mut self.seen]) {
            pairs.count = 0;
            pairs.resize(0);
        }
    }

    /// Makes room for another step.
    fn make_room(&mut self, rows: usize) {
        let maps = self.maps.iter_mut().map(|pairs| (pairs, rows));
        for (pairs, more) in maps.chain([(&mut self.seen, 1)]) {
            pairs.resize(pairs.count + more);
        }
    }

    /// Inputs and gradients of a map.
    pub(super) fn of_map(&self, map: usize) -> (Rows<'_, R>, Rows<'_, R>) {
        self.maps[map].rows()
    }

    /// Those of W_v.
    pub(super) fn of_seen(&self) -> (Rows<'_, R>, Rows<'_, R>) {
        self.seen.rows()
    }

    /// Keeps input and gradient of a map, from that w.r.t. its units; returns that w.r.t. its input.
    fn push(
        &mut self,
        linears: &[Linear<R>],
        map: usize,
        (x, units): (&[R], &Units<R>),
        d_units: &[R],
    ) -> Vec<R> {
        let linear = &linears[map];
        let mut dz = vec![R::ZERO; padded(linear.weight.columns())];
        let pairs = units.sums.iter().zip(d_units);
        pairs.for_each(|(&at, &d)| dz[at] += d);
        let mut d_x = vec![R::ZERO; x.len()];
        linear.backward_from(0, [(&dz[..linear.weight.columns()], &mut d_x)]);
        self.maps[map].push(x, &dz);
        d_x
    }
}
