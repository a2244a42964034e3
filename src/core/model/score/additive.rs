//! The additive score: K(i) = vᵀ·tanh(W_kᵀ·k + W_Mᵀ·M(i)) (Bahdanau 2015, appendix A.1.2), and structural biases inside its
//! tanh (Cohn 2016, §3):
//!
//! ```text
//! position     W_pᵀ·[ln(1 + t), ln(1 + i), ln(1 + N)]       t from the first step of the head
//! Markov       W_mᵀ·[w_{t−1}(i − k) … w_{t−1}(i + k)]       0 beyond the rows and before that step
//! fertility    W_fᵀ·[s_t(i − k) … s_t(i + k)]               s_t = Σ_{t'<t} w_{t'}
//! ```
//!
//! Their numbers stand as further columns behind those of the memory.

use super::ScoreFunction;
use crate::math::matrix::{self, Rows, TOGETHER};
use crate::math::projected::{self, ProjectedGradient};
use crate::math::units::{self, UnitActivation, Units, UnitsGradient};
use crate::math::vectors::{add, gather, vector_product, vector_product_backward};
use crate::math::{Matrix, Real, Series};
use crate::model::head::HeadGradient;
use crate::model::kind::Kind;
use crate::model::memory::row_by_row;
use crate::model::slots::{Arrays, SlotsGradient};
use crate::model::spec::{Array, ArraySpec, Kept, LEARNED};
use crate::model::trace::HeadTrace;
use crate::model::window::Back;

/// W_k, [K, A].
#[rustfmt::skip] // A row for every array.
pub const ADDITIVE_KEY: Array = &ArraySpec::new("additive_key", &["k", "a"], "W_k", LEARNED, "learned; additive score vᵀ·tanh(W_kᵀ·k + W_Mᵀ·M(i)) (Bahdanau 2015)");
/// W_M, [M, A].
#[rustfmt::skip]
pub const ADDITIVE_ROW: Array = &ArraySpec::new("additive_row", &["m", "a"], "W_M", LEARNED, "learned; additive score");
/// v, [A].
#[rustfmt::skip]
pub const ADDITIVE_VECTOR: Array = &ArraySpec::new("additive_vector", &["a"], "v", LEARNED, "learned; additive score");
/// v in the steps of a source that has its own, [A].
#[rustfmt::skip]
pub const ENCODER_VECTOR: Array = &ArraySpec::new("encoder_vector", &["a"], "v", LEARNED, "learned; `additive_vector` in the steps of the source");
/// W_p, [3, A].
#[rustfmt::skip]
pub const ADDITIVE_POSITION: Array = &ArraySpec::new("additive_position", &["b", "a"], "W_p", LEARNED, "learned; position bias W_pᵀ·[ln(1 + t), ln(1 + i), ln(1 + N)] inside the tanh of the additive score, t from the first step of the head (Cohn 2016)");
/// W_m, [V, A].
#[rustfmt::skip]
pub const ADDITIVE_MARKOV: Array = &ArraySpec::new("additive_markov", &["v", "a"], "W_m", LEARNED, "learned; Markov bias W_mᵀ·[w_{t−1}(i − k) … w_{t−1}(i + k)] inside the tanh of the additive score (Cohn 2016)");
/// W_f, [W, A].
#[rustfmt::skip]
pub const ADDITIVE_FERTILITY: Array = &ArraySpec::new("additive_fertility", &["w", "a"], "W_f", LEARNED, "learned; fertility bias W_fᵀ·[s_t(i − k) … s_t(i + k)] inside the tanh of the additive score, s_t = Σ w over earlier steps (Cohn 2016)");

/// W_kᵀ·k, [T, A].
const QUERY: Array = &ArraySpec::scratch("additive_query");
/// The units for every row, for the backward pass, [T, A·N], or [T, N·A] of a memory that does not change; where they
/// are no more than the memory itself.
const UNITS: Array = &ArraySpec::scratch("additive_units").kept(Kept::WithMemory);
/// Scratch of the layer.
const LAYER: Array = &ArraySpec::scratch("additive_layer").kept(Kept::Once);
/// W_Mᵀ·M(i) of a memory of which no row changes, [N·A]; only without biases.
const PROJECTED: Array = &ArraySpec::scratch("additive_projected").kept(Kept::Once);
/// W_M and the weights of the biases, one after the other; empty without biases.
const WEIGHTS: Array = &ArraySpec::scratch("additive_weights").kept(Kept::Once);
/// The columns that they multiply.
const COLUMNS: Array = &ArraySpec::scratch("additive_columns").kept(Kept::Once);
/// s_t of the fertility bias, and 1 once it is known, [T, N + 1].
const SUMS: Array = &ArraySpec::scratch("additive_sums");

pub(super) struct Additive;

impl Arrays for Additive {
    fn arrays(&self) -> &'static [Array] {
        &[
            ADDITIVE_KEY,
            ADDITIVE_ROW,
            ADDITIVE_VECTOR,
            ADDITIVE_POSITION,
            ADDITIVE_MARKOV,
            ADDITIVE_FERTILITY,
            QUERY,
            UNITS,
            LAYER,
            WEIGHTS,
            COLUMNS,
            PROJECTED,
            SUMS,
        ]
    }

    fn scratch(&self, array: Array, of: &dyn Kind) -> usize {
        let units = of.size("a");
        let is_projected = projected(of) > 0;
        match array {
            QUERY => units,
            UNITS if units <= of.size("m") => units.saturating_mul(of.size("n")),
            LAYER if !is_projected => units::scratch(units, of.size("n")),
            WEIGHTS => units * extended(of),
            COLUMNS => of.size("n").saturating_mul(extended(of)),
            PROJECTED => projected(of),
            SUMS if of.size("w") > 0 => of.size("n") + 1,
            _ => 0,
        }
    }
}

/// Columns of the memory and of the biases; 0 without biases.
fn extended(of: &dyn Kind) -> usize {
    match ["b", "v", "w"].map(|axis| of.size(axis)).iter().sum() {
        0 => 0,
        biases => of.size("m") + biases,
    }
}

/// Values of [`PROJECTED`].
fn projected(of: &dyn Kind) -> usize {
    let is_fixed = of.has_row_per_step() && extended(of) == 0;
    usize::from(is_fixed) * of.size("a").saturating_mul(of.size("n"))
}

impl<R: Real> ScoreFunction<R> for Additive {
    fn gradient_scratch(&self, of: &dyn Kind) -> Vec<usize> {
        let (units, all) = (of.size("a"), extended(of));
        let (rows, d_projected) = (of.size("n"), projected(of));
        if d_projected > 0 {
            return vec![0, 0, 0, 0, 0, 0, 0, d_projected, d_projected];
        }
        let sums = units::sums::<R>(of.size("m").max(all), units);
        let layer = units::scratch(units, rows);
        let total = if all > 0 { rows } else { 0 };
        vec![units, sums, layer, all * units, all * rows, all * rows, total, 0, 0]
    }

    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut super::Rows<'_, R>) {
        let [of_key, of_row, vector, position, markov, fertility, query, kept, layer, weights, columns, projected, sums] =
            head.of_score.all_mut();
        let query = query.row_mut(t);
        vector_product(head.key.row(t), of_key.row(0), query);
        if projected.width() > 0 {
            let (projected, width) = (projected.row_mut(0), vector.width());
            let (sees, all) = (head.mechanism.sees, projected.len() / width);
            let is_known = rows.is_fixed && t > head.first_step;
            let known = if is_known { sees.count(t - 1, all) } else { 0 };
            // Of a memory that grows row after row: in a group, a row would be summed in another order.
            let group = if sees.grows() { 1 } else { all };
            for start in (known..sees.count(t, all)).step_by(group.max(1)) {
                let end = start + group;
                let rows = row_by_row(&head.rows, &head.read).part(start..end);
                let projected = &mut projected[start * width..end * width];
                projected.fill(R::ZERO);
                matrix::add_products_of_rows(rows, flat(of_row, width), projected, width);
            }
            let seen = sees.count(t, all);
            let kept = (kept.steps() > t).then(|| &mut kept.row_mut(t)[..seen * width]);
            let similarity = &mut head.similarity.row_mut(t)[..seen];
            let projected = &projected[..seen * width];
            return projected::forward(query, vector.row(0), projected, kept, similarity);
        }
        let values = if kept.steps() > t {
            kept.row_mut(t)
        } else {
            layer.row_mut(0)
        };
        let similarity = head.similarity.row_mut(t);
        if weights.width() == 0 {
            return units(of_row.row(0), vector).forward(query, rows.columns, values, similarity);
        }
        let (weights, columns) = (weights.row_mut(0), columns.row_mut(0));
        sum_weights(&head.weighting, sums, head.first_step, t);
        let biases = Biases {
            weights: [of_row, position, markov, fertility],
            weighting: &head.weighting,
            sums,
            first: head.first_step,
        };
        biases.extend(t, rows.columns, weights, columns);
        units(weights, vector).forward(query, columns, values, similarity);
    }

    fn backward(&self, head: &HeadTrace<R>, by: &mut HeadGradient<R>, to: &mut Back<'_, R>) {
        let [of_key, of_row, vector, position, markov, fertility, query, kept, .., projected, earlier] =
            head.of_score.all::<13>();
        let ([d_of_key, _, d_vector, ..], [d_query, sums, scratch, weights, columns, d_columns, d_total, d_projected, d_step]) =
            by.of_score.all_mut::<6, 9>();
        let kept = (kept.steps() > to.t).then(|| kept.row(to.t));
        if !d_projected.is_empty() {
            // The queries of all steps: their products with the keys are made at the end.
            let (step, width) = (to.t - head.first_step, vector.width());
            d_query.resize(d_query.len().max((step + 1) * width));
            let d_query = &mut d_query[step * width..][..width];
            let gradient = ProjectedGradient {
                d_energies: &by.weighting,
                d_start: &mut *d_query,
                d_vector,
                d_projected: if to.is_fixed { d_projected } else { d_step },
            };
            let seen = head.mechanism.sees.count(to.t, by.weighting.len()) * width;
            let (query, projected) = (query.row(to.t), &projected.row(0)[..seen]);
            projected::backward(query, vector.row(0), projected, kept, gradient);
            if !to.is_fixed {
                add(&mut d_projected[..], &d_step[..]);
                projected::by_projected(vector.row(0), d_step);
                let rows = d_step.len() / width;
                by_rows(of_row, d_step, width, |i, d_row| {
                    add(to.d_memory.iter_mut().skip(i).step_by(rows), d_row);
                });
                d_step.fill(R::ZERO);
            }
            matrix::product_with_vector(flat(of_key, width), d_query, &mut by.key);
            return;
        }
        let biases = Biases {
            weights: [of_row, position, markov, fertility],
            weighting: &head.weighting,
            sums: earlier,
            first: head.first_step,
        };
        let is_biased = !weights.is_empty();
        if is_biased {
            biases.extend(to.t, to.seen.columns, weights, columns);
            d_columns.fill(R::ZERO);
        }
        let (weights, columns, d_memory) = if is_biased {
            (&weights[..], &columns[..], &mut d_columns[..])
        } else {
            (of_row.row(0), to.seen.columns, &mut *to.d_memory)
        };
        let gradient = UnitsGradient {
            start: query.row(to.t),
            d_energies: &by.weighting,
            d_start: d_query,
            sums,
            d_memory,
        };
        units(weights, vector).backward(gradient, columns, kept, scratch);
        if is_biased {
            biases.backward(to, d_columns, d_total, &mut by.previous);
        }
        let product = (head.key.row(to.t), of_key.row(0));
        vector_product_backward(product, d_query, &mut by.key, d_of_key);
    }

    fn finish(
        &self,
        head: &HeadTrace<R>,
        by: &mut SlotsGradient<R>,
        d_rows: Option<&mut Series<R>>,
    ) {
        let [_, of_row, vector] = head.of_score.all();
        let ([d_of_key, d_of_row, ..], [d_query, .., d_projected, _]) = by.all_mut::<6, 9>();
        if d_projected.is_empty() {
            return;
        }
        let width = vector.width();
        projected::by_projected(vector.row(0), d_projected);
        let rows_of = |data| Rows { data, stride: width };
        let products = [
            (rows_of(&d_query[..]), head.key.rows_from(head.first_step), d_of_key),
            (rows_of(&d_projected[..]), row_by_row(&head.rows, &head.read), d_of_row),
        ];
        for (by, of, to) in products {
            let mut product = Matrix::zeros(to.len() / width, width);
            matrix::set_product_of_series([(of, by)].into_iter(), &mut product);
            let rows = to.chunks_exact_mut(width).enumerate();
            rows.for_each(|(row, to)| add(to, product.row(row)));
        }
        if let Some(d_rows) = d_rows {
            by_rows(of_row, d_projected, width, |i, d_row| add(d_rows.row_mut(i), d_row));
        }
    }

    fn add_up(&self, by: &mut SlotsGradient<R>) {
        let ([_, d_of_row, d_vector, biases @ ..], [_, sums, ..]) = by.all_mut::<6, 2>();
        if sums.is_empty() {
            return;
        }
        let others = biases.iter().map(|bias| bias.len()).sum::<usize>();
        if others == 0 {
            return units::add_up(sums, d_of_row, d_vector);
        }
        let mut d_weights = vec![R::ZERO; d_of_row.len() + others];
        units::add_up(sums, &mut d_weights, d_vector);
        let all = std::iter::once(d_of_row).chain(biases);
        all.flat_map(|d| d.iter_mut()).zip(d_weights).for_each(|(to, d)| *to += d);
    }
}

/// A learned tensor with rows of this width.
fn flat<R: Real>(of: &Series<R>, width: usize) -> Rows<'_, R> {
    Rows {
        data: of.row(0),
        stride: width,
    }
}

/// Passes on the gradients w.r.t. the rows of a memory from those w.r.t. W_Mᵀ·M(i).
fn by_rows<R: Real>(
    of_row: &Series<R>,
    d_projected: &[R],
    width: usize,
    mut each: impl FnMut(usize, &[R]),
) {
    let (columns, weights) = (of_row.width() / width, flat(of_row, width));
    let mut d_rows = vec![R::ZERO; TOGETHER * columns];
    for (group, d) in d_projected.chunks(TOGETHER * width).enumerate() {
        let mut pairs = d.chunks_exact(width).zip(d_rows.chunks_exact_mut(columns));
        let count = pairs.len();
        let mut next = || pairs.next().unwrap_or((&[], &mut []));
        if count == TOGETHER {
            let pairs: [_; TOGETHER] = std::array::from_fn(|_| next());
            matrix::products_with_vectors(weights, pairs);
        } else {
            pairs.for_each(|(d, d_row)| matrix::product_with_vector(weights, d, d_row));
        }
        let d_rows = d_rows.chunks_exact(columns).take(count).enumerate();
        d_rows.for_each(|(i, d_row)| each(group * TOGETHER + i, d_row));
    }
}

/// The structural biases of a head.
struct Biases<'a, R> {
    /// W_M, W_p, W_m and W_f, of which the last three may be empty.
    weights: [&'a Series<R>; 4],
    weighting: &'a Series<R>,
    /// [`SUMS`].
    sums: &'a Series<R>,
    /// The first step of the head.
    first: usize,
}

impl<R: Real> Biases<'_, R> {
    /// Sets weights and columns of memory and biases, in step `t`.
    fn extend(&self, t: usize, memory: &[R], weights: &mut [R], columns: &mut [R]) {
        gather(weights, self.weights.map(|weights| weights.row(0)));
        let (copy, mut columns) = columns.split_at_mut(memory.len());
        copy.copy_from_slice(memory);
        let (rows, units) = (self.weighting.width(), self.units(memory.len()));
        let mut take = |weights: &Series<R>| {
            let (taken, rest) = std::mem::take(&mut columns)
                .split_at_mut(weights.width() / units * rows);
            columns = rest;
            taken
        };
        let [_, position, markov, fertility] = self.weights;
        let log = |x: usize| R::from_f64((1.0 + x as f64).ln());
        for (which, column) in take(position).chunks_exact_mut(rows).enumerate() {
            for (i, to) in column.iter_mut().enumerate() {
                *to = log([t - self.first, i, rows][which]);
            }
        }
        let (markov, fertility) = (take(markov), take(fertility));
        if t > self.first {
            windows(markov, rows, |column, from| {
                column.copy_from_slice(&self.weighting.row(t - 1)[from]);
            });
        } else {
            markov.fill(R::ZERO);
        }
        let sums = self.sums.row(t);
        windows(fertility, rows, |column, from| column.copy_from_slice(&sums[from]));
    }

    /// Units A, of a memory with this number of values.
    fn units(&self, memory: usize) -> usize {
        self.weights[0].width() * self.weighting.width() / memory
    }

    /// Adds the gradients w.r.t. the columns to those w.r.t. the memory and w.r.t. the weighting of the step before; `total`
    /// collects those w.r.t. s over the steps.
    fn backward(
        &self,
        to: &mut Back<'_, R>,
        d_columns: &mut [R],
        total: &mut [R],
        previous: &mut [R],
    ) {
        let (d_memory, d_biases) = d_columns.split_at_mut(to.d_memory.len());
        add(&mut *to.d_memory, &*d_memory);
        if to.t == self.first {
            return;
        }
        let rows = self.weighting.width();
        let units = self.units(d_memory.len());
        let [_, position, markov, _] = self.weights.map(|weights| weights.width() / units * rows);
        let (markov, fertility) = d_biases[position..].split_at_mut(markov);
        windows(markov, rows, |column, from| add(&mut previous[from], &*column));
        windows(fertility, rows, |column, from| add(&mut total[from], &*column));
        add(previous, &*total);
    }
}

/// Sets [`SUMS`] in step `t`, from those of the last step before it that are known: in a run, the one before.
fn sum_weights<R: Real>(weighting: &Series<R>, sums: &mut Series<R>, first: usize, t: usize) {
    let Some(rows) = sums.width().checked_sub(1) else {
        return;
    };
    let known = (first + 1..t).rev().find(|&t| sums.row(t)[rows] == R::ONE);
    if known.is_none() {
        let (start, is_known) = sums.row_mut(first).split_at_mut(rows);
        start.fill(R::ZERO);
        is_known.fill(R::ONE);
    }
    for t in known.unwrap_or(first) + 1..=t {
        let (before, now) = sums.previous_and_row_mut(t);
        now.copy_from_slice(before);
        add(&mut now[..rows], weighting.row(t - 1));
    }
}

/// Walks through the columns of a window about every row: `each` gets the part of a column that there are rows for, and
/// these rows. The rest is 0.
fn windows<R: Real>(
    columns: &mut [R],
    rows: usize,
    mut each: impl FnMut(&mut [R], std::ops::Range<usize>),
) {
    let half = columns.len() / rows / 2;
    for (index, column) in columns.chunks_exact_mut(rows).enumerate() {
        // Row i sees row i + index − half.
        let (skipped, ahead) = (half.saturating_sub(index).min(rows), index.saturating_sub(half));
        let end = rows.saturating_sub(ahead).max(skipped);
        column[..skipped].fill(R::ZERO);
        column[end..].fill(R::ZERO);
        let count = end - skipped;
        let first = (skipped + index).saturating_sub(half).min(rows - count);
        each(&mut column[skipped..end], first..first + count);
    }
}

fn units<'a, R: Real>(weight: &'a [R], vector: &'a Series<R>) -> Units<'a, R> {
    Units {
        weight,
        vector: vector.row(0),
        activation: UnitActivation::Tanh,
    }
}
