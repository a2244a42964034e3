//! Reading and writing (paper §3.1 and §3.2).
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m]. A read is then one product of
//! the memory with the weighting, and a write one pass over N neighbours for each column.

use super::head::HeadGradient;
use super::trace::HeadTrace;
use crate::math::Real;
use crate::math::kernel::kernel;
use crate::math::matrix::{self, Blocks, Columns, Rows, by_blocks, has_many, held};
use crate::math::pack::filled;
use crate::math::simd::{Kernel, Simd, dispatch};

/// Equations 2 to 4 for all heads of step `t`, read heads first: reads of M_{t−1}, then M_t.
pub fn read_and_write<R: Real>(
    heads: &mut [HeadTrace<R>],
    t: usize,
    before: &[R],
    after: &mut [R],
) {
    let (readers, writers) = heads.split_at_mut(heads.partition_point(|head| !head.is_write()));
    if let ([reader], [writer]) = (&mut *readers, &*writers) {
        return dispatch::<R, _>(ReadAndWrite {
            reading: reader.weighting.row(t),
            read: reader.read.row_mut(t),
            write: Write::of(writer, t),
            before,
            after,
        });
    }
    read(readers, t, before);
    write(writers, t, before, after);
}

/// Equation 2 for all read heads of step `t`.
pub fn read<R: Real>(readers: &mut [HeadTrace<R>], t: usize, columns: &[R]) {
    for head in readers {
        let (weighting, read) = (head.weighting.row(t), head.read.row_mut(t));
        matrix::product_with_vector(rows(columns, weighting), weighting, read);
    }
}

/// Sets a memory, column after column, to its first `visible_rows` rows, each with the values that `row` has, and the others to 0.
pub(super) fn set_rows<R: Real, I: Iterator<Item = R>>(
    memory: &mut [R],
    rows: usize,
    visible_rows: usize,
    row: impl Fn(usize) -> I,
) {
    memory.fill(R::ZERO);
    for i in 0..visible_rows {
        let columns = memory.chunks_exact_mut(rows);
        columns
            .zip(row(i))
            .for_each(|(column, value)| column[i] = value);
    }
}

/// The columns of a memory as the rows of a matrix, one for each of the M columns.
fn rows<'a, R>(columns: &'a [R], weighting: &[R]) -> Rows<'a, R> {
    Rows {
        data: columns,
        stride: weighting.len(),
    }
}

/// One head of each kind, both computed in one pass over the memory.
struct ReadAndWrite<'a, R> {
    /// w of the read head, [N].
    reading: &'a [R],
    /// r, [M].
    read: &'a mut [R],
    write: Write<'a, R>,
    before: &'a [R],
    after: &'a mut [R],
}

impl<R: Real> Kernel for ReadAndWrite<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.read.fill(R::ZERO);
        by_blocks::<R, S, 8>(simd, &mut self);
    }
}

impl<R: Real> Blocks for ReadAndWrite<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.reading.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (n, one) = (self.reading.len(), R::splat(simd, R::ONE));
        let (reading, writing) = (at.of(self.reading), at.of(self.write.weighting));
        // Where the registers hold them, these are loaded once.
        let held_reading: [_; V] = filled(|v| held(simd, at, reading, v));
        let held_writing: [_; V] = filled(|v| held(simd, at, writing, v));
        let columns = self.before.chunks_exact(n);
        for (m, (before, after)) in columns.zip(self.after.chunks_exact_mut(n)).enumerate() {
            let (before, after) = (at.of(before), at.of_mut(after));
            let e = R::splat(simd, self.write.erase(m));
            let a = R::splat(simd, self.write.add[m]);
            let mut sum = R::splat(simd, R::ZERO);
            for v in 0..at.packs() {
                let (reading, writing) = if const { has_many::<S>() } {
                    (held_reading[v], held_writing[v])
                } else {
                    (at.load(reading, v), at.load(writing, v))
                };
                let before = at.load(before, v);
                sum = R::mul_add(simd, reading, before, sum);
                // The arithmetic of `written`, to the same bits.
                let kept = R::pack_sub(simd, one, R::pack_mul(simd, writing, e));
                let kept = R::pack_mul(simd, before, kept);
                at.store(
                    after,
                    v,
                    R::pack_add(simd, kept, R::pack_mul(simd, writing, a)),
                );
            }
            self.read[m] += R::reduce(simd, sum);
        }
    }
}

/// Returns one value of M_t from that of M_{t−1}, for a single write head.
#[inline(always)]
fn written<R: Real>(before: R, w: R, e: R, a: R) -> R {
    before * (R::ONE - w * e) + w * a
}

/// The write of one head in one step.
#[derive(Clone, Copy)]
struct Write<'a, R> {
    /// w, [N].
    weighting: &'a [R],
    /// e, [M]; empty where it erases nothing.
    erase: &'a [R],
    /// a, [M].
    add: &'a [R],
}

impl<'a, R: Real> Write<'a, R> {
    /// The step `t` of a write head.
    #[inline(always)]
    fn of(head: &'a HeadTrace<R>, t: usize) -> Self {
        Self {
            weighting: head.weighting.row(t),
            erase: head.erase.row(t),
            add: head.add.row(t),
        }
    }
}

impl<R: Real> Write<'_, R> {
    /// e in a column: 0 where the head erases nothing. Then 1 − w·e is 1, and the product keeps all bits.
    #[inline(always)]
    fn erase(&self, m: usize) -> R {
        self.erase.get(m).copied().unwrap_or(R::ZERO)
    }
}

kernel! {
    /// Equations 3 and 4, all erases before all adds:
    /// M_t(i) = M_{t−1}(i) ∘ Π_q (1 − w_q(i)·e_q) + Σ_q w_q(i)·a_q, the product over those heads that erase.
    ///
    /// `heads` are write heads at step `t`; the result does not depend on their order. The arithmetic is
    /// the same on every processor: a memory written again has the same bits.
    pub fn write<'a, R>(_simd; heads: &'a [HeadTrace<R>], t: usize, before: &'a [R], after: &'a mut [R]) {
        let [first, rest @ ..] = heads else { return after.copy_from_slice(before) };
        let first = Write::of(first, t);
        let n = first.weighting.len();
        for (m, (before, after)) in before.chunks_exact(n).zip(after.chunks_exact_mut(n)).enumerate() {
            // The first head's add is part of the first pass when there is no other erase to come.
            let (e, a) = (first.erase(m), if rest.is_empty() { first.add[m] } else { R::ZERO });
            for (after, (&before, &w)) in after.iter_mut().zip(before.iter().zip(first.weighting)) {
                *after = written(before, w, e, a);
            }
            if rest.is_empty() {
                continue;
            }
            for head in rest {
                let Write { weighting, erase, .. } = Write::of(head, t);
                let Some(&e) = erase.get(m) else { continue };
                after.iter_mut().zip(weighting).for_each(|(after, &w)| *after *= R::ONE - w * e);
            }
            for head in heads {
                let Write { weighting, add, .. } = Write::of(head, t);
                let a = add[m];
                after.iter_mut().zip(weighting).for_each(|(after, &w)| *after += w * a);
            }
        }
    }
}

/// The gradients of one write head, to be set.
pub struct WriteGradient<'a, R> {
    /// Gradient w.r.t. w, [N].
    pub weighting: &'a mut [R],
    /// Gradient w.r.t. e, [M]; empty for a head that erases nothing.
    pub erase: &'a mut [R],
    /// Gradient w.r.t. a, [M].
    pub add: &'a mut [R],
}

impl<'a, R> WriteGradient<'a, R> {
    /// The gradients of a head.
    pub(super) fn of(head: &'a mut HeadGradient<R>) -> Self {
        Self {
            weighting: &mut head.weighting,
            erase: &mut head.erase,
            add: &mut head.add,
        }
    }
}

/// Read heads backwards: sets the gradients by their weightings, adds to that by the memory. `d_reads` are those by
/// what they read, one after the other.
pub(super) fn reads_backward<R: Real>(
    readers: &[HeadTrace<R>],
    t: usize,
    columns: &[R],
    gradients: &mut [HeadGradient<R>],
    d_reads: &[R],
    d_memory: &mut [R],
) {
    for (index, (reader, by)) in readers.iter().zip(gradients).enumerate() {
        let (w, columns_of_read) = (reader.weighting.row(t), reader.read.width());
        let d_read = &d_reads[index * columns_of_read..][..columns_of_read];
        read_backward(columns, w, d_read, &mut by.weighting, d_memory);
    }
}

/// Backpropagates through the write heads: sets their gradients, and turns the gradient w.r.t. M_t into that w.r.t.
/// M_{t−1}, in place. `scratch` has M·N values.
pub(super) fn writes_backward<R: Real>(
    writers: &[HeadTrace<R>],
    t: usize,
    before: &[R],
    gradients: &mut [HeadGradient<R>],
    d_memory: &mut [R],
    scratch: &mut [R],
) {
    for (q, by) in gradients.iter_mut().enumerate() {
        write_backward(
            writers,
            q,
            t,
            before,
            d_memory,
            WriteGradient::of(by),
            scratch,
        );
    }
    write_backward_memory(writers, t, d_memory);
}

/// Backpropagates through one head of each kind in one pass over the memory: sets their gradients and turns the
/// gradient w.r.t. M_t into that w.r.t. M_{t−1}, in place. `d_read` and `d_reading` are the gradients w.r.t. the read, and
/// w.r.t. the weighting of the read head.
///
/// [`write_backward`], [`write_backward_memory`] and [`read_backward`] do the same for any number of
/// heads.
pub fn read_and_write_backward<R: Real>(
    reader: &HeadTrace<R>,
    writer: &HeadTrace<R>,
    t: usize,
    before: &[R],
    d_memory: &mut [R],
    (d_read, d_reading): (&[R], &mut [R]),
    write_gradient: WriteGradient<'_, R>,
) {
    dispatch::<R, _>(ReadAndWriteBackward {
        reading: reader.weighting.row(t),
        write: Write::of(writer, t),
        before,
        d_memory,
        d_read,
        d_reading,
        write_gradient,
    });
}

struct ReadAndWriteBackward<'a, R> {
    /// w of the read head, [N].
    reading: &'a [R],
    write: Write<'a, R>,
    before: &'a [R],
    d_memory: &'a mut [R],
    /// Gradient w.r.t. r, [M].
    d_read: &'a [R],
    /// Gradient w.r.t. w of the read head, [N], to be set.
    d_reading: &'a mut [R],
    write_gradient: WriteGradient<'a, R>,
}

impl<R: Real> Kernel for ReadAndWriteBackward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.write_gradient.erase.fill(R::ZERO);
        self.write_gradient.add.fill(R::ZERO);
        by_blocks::<R, S, 4>(simd, &mut self);
    }
}

impl<R: Real> Blocks for ReadAndWriteBackward<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.reading.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (n, zero) = (self.reading.len(), R::splat(simd, R::ZERO));
        let (reading, writing) = (at.of(self.reading), at.of(self.write.weighting));
        let (mut d_reading, mut d_writing) = ([zero; V], [zero; V]);
        let columns = self.before.chunks_exact(n);
        for (m, (before, d)) in columns.zip(self.d_memory.chunks_exact_mut(n)).enumerate() {
            let (before, d) = (at.of(before), at.of_mut(d));
            let a = R::splat(simd, self.write.add[m]);
            let minus_e = R::splat(simd, -self.write.erase(m));
            let d_read = R::splat(simd, self.d_read[m]);
            let (mut da, mut minus_de) = (zero, zero);
            for v in 0..at.packs() {
                let (before, dm) = (at.load(before, v), at.load(d, v));
                let written = R::pack_mul(simd, dm, at.load(writing, v));
                da = R::pack_add(simd, da, written);
                minus_de = R::mul_add(simd, written, before, minus_de);
                // dw = Σ_m dM·(a − e·M)
                let change = R::mul_add(simd, minus_e, before, a);
                d_writing[v] = R::mul_add(simd, dm, change, d_writing[v]);
                // dM ← dM·(1 − w·e) + w_r·dr
                let kept = R::mul_add(simd, minus_e, written, dm);
                at.store(d, v, R::mul_add(simd, d_read, at.load(reading, v), kept));
                d_reading[v] = R::mul_add(simd, d_read, before, d_reading[v]);
            }
            self.write_gradient.add[m] += R::reduce(simd, da);
            if let Some(de) = self.write_gradient.erase.get_mut(m) {
                *de += -R::reduce(simd, minus_de);
            }
        }
        let gradient = at.of_mut(self.d_reading);
        (0..at.packs()).for_each(|v| at.store(gradient, v, d_reading[v]));
        let gradient = at.of_mut(self.write_gradient.weighting);
        (0..at.packs()).for_each(|v| at.store(gradient, v, d_writing[v]));
    }
}

/// Backpropagates through a read head, from the gradient w.r.t. r, [M]: sets that w.r.t. w, [N], adds to that w.r.t. the
/// memory.
pub fn read_backward<R: Real>(
    columns: &[R],
    w: &[R],
    d_read: &[R],
    d_w: &mut [R],
    d_memory: &mut [R],
) {
    d_w.fill(R::ZERO);
    matrix::add_vector_product(d_read, rows(columns, w), d_w);
    add_outer_product(d_read, w, d_memory);
}

kernel! {
    fn add_outer_product<'a, R>(_simd; dr: &'a [R], w: &'a [R], d_memory: &'a mut [R]) {
        for (column, &dr) in d_memory.chunks_exact_mut(w.len()).zip(dr) {
            for (d_memory, &w) in column.iter_mut().zip(w) {
                *d_memory += dr * w;
            }
        }
    }
}

/// Backpropagates through write head `this`, from the gradient w.r.t. M_t. Call it for every head, then
/// [`write_backward_memory`] once. `scratch` has M·N values.
///
/// The product of the other heads' factors is multiplied out again, never divided: (1 − w·e) may be 0.
pub fn write_backward<R: Real>(
    heads: &[HeadTrace<R>],
    this: usize,
    t: usize,
    before: &[R],
    d_after: &[R],
    gradient: WriteGradient<'_, R>,
    scratch: &mut [R],
) {
    let WriteGradient {
        weighting: d_weighting,
        erase: d_erase,
        add: d_add,
    } = gradient;
    let Write {
        weighting,
        erase,
        add,
    } = Write::of(&heads[this], t);
    // dw = Σ_m dM·a − Σ_m dM·M·others·e: the erase half first, so that its sign can be turned.
    d_weighting.fill(R::ZERO);
    if !erase.is_empty() {
        kept_by_others(heads, this, t, before, d_after, scratch);
        matrix::add_vector_product(erase, rows(scratch, weighting), d_weighting);
        d_weighting.iter_mut().for_each(|w| *w = -*w);
        matrix::product_with_vector(rows(scratch, weighting), weighting, d_erase);
        d_erase.iter_mut().for_each(|e| *e = -*e);
    }
    matrix::add_vector_product(add, rows(d_after, weighting), d_weighting);
    matrix::product_with_vector(rows(d_after, weighting), weighting, d_add);
}

kernel! {
    /// dM_t ∘ M_{t−1} ∘ Π (1 − w_q·e_q) over the heads other than `this`.
    fn kept_by_others<'a, R>(
        _simd; heads: &'a [HeadTrace<R>], this: usize, t: usize, before: &'a [R], d_after: &'a [R], kept: &'a mut [R],
    ) {
        kept.iter_mut().zip(before.iter().zip(d_after)).for_each(|(kept, (&m, &d))| *kept = m * d);
        for (q, head) in heads.iter().enumerate() {
            if q != this {
                erase_by(Write::of(head, t), kept);
            }
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. M_t into that w.r.t. M_{t−1}, in place.
    pub fn write_backward_memory<'a, R>(_simd; heads: &'a [HeadTrace<R>], t: usize, gradient: &'a mut [R]) {
        for head in heads {
            erase_by(Write::of(head, t), gradient);
        }
    }
}

/// x(i) ← x(i) ∘ (1 − w(i)·e), for the memory or anything of its shape.
#[inline(always)]
fn erase_by<R: Real>(write: Write<'_, R>, x: &mut [R]) {
    let Write {
        weighting, erase, ..
    } = write;
    for (column, &e) in x.chunks_exact_mut(weighting.len()).zip(erase) {
        column
            .iter_mut()
            .zip(weighting)
            .for_each(|(x, &w)| *x *= R::ONE - w * e);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Series;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::softmax::dot;
    use crate::model::{NtmConfig, Trace};

    const N: usize = 83;
    const M: usize = 5;

    fn series(values: &[f64]) -> Series<f64> {
        let mut series = Series::new(values.len());
        series.resize(1);
        series.row_mut(0).copy_from_slice(values);
        series
    }

    /// One step of write heads with these weightings, erase and add vectors.
    fn heads(w: &[f64], e: &[f64], a: &[f64]) -> Vec<HeadTrace<f64>> {
        let mut config = NtmConfig::new(1, 1);
        (config.rows, config.columns, config.write_heads) = (N, M, w.len() / N);
        let mut heads = Trace::new(&config).heads.split_off(1);
        for (q, head) in heads.iter_mut().enumerate() {
            head.weighting = series(&w[q * N..][..N]);
            head.erase = series(&e[q * M..][..M]);
            head.add = series(&a[q * M..][..M]);
        }
        heads
    }

    fn written(w: &[f64], e: &[f64], a: &[f64], before: &[f64]) -> Vec<f64> {
        let mut after = vec![0.0; N * M];
        write(&heads(w, e, a), 0, before, &mut after);
        after
    }

    /// A read head and the write heads of [`heads`], at one step.
    fn all_heads(reading: &[f64], w: &[f64], e: &[f64], a: &[f64]) -> Vec<HeadTrace<f64>> {
        let mut config = NtmConfig::new(1, 1);
        (config.rows, config.columns) = (N, M);
        let mut reader = Trace::new(&config).heads.swap_remove(0);
        reader.weighting = series(reading);
        reader.read = series(&[0.0; M]);
        let mut all = vec![reader];
        all.extend(heads(w, e, a));
        all
    }

    fn read_of(head: &HeadTrace<f64>) -> &[f64] {
        head.read.row(0)
    }

    #[test]
    fn read_gradients() {
        let (columns, w, upstream) = (
            random_vector(1, N * M),
            random_vector(2, N),
            random_vector(3, M),
        );
        let loss = |columns: &[f64], w: &[f64]| {
            let mut r = [0.0; M];
            matrix::product_with_vector(rows(columns, w), w, &mut r);
            dot(crate::math::simd::PLAIN, &r, &upstream)
        };
        let (mut dw, mut dm) = (vec![9.0; N], vec![0.0; N * M]);
        read_backward(&columns, &w, &upstream, &mut dw, &mut dm);
        assert_gradient("w", &w, &dw, |w| loss(&columns, w));
        assert_gradient("memory", &columns, &dm, |columns| loss(columns, &w));
    }

    #[test]
    fn write_gradients_also_where_a_row_is_erased_wholly() {
        for count in [1, 2, 3] {
            let upstream = random_vector(1, N * M);
            let (mut w, mut e) = (random_vector(2, count * N), random_vector(3, count * M));
            (w[3], e[2]) = (1.0, 1.0);
            let (a, before) = (random_vector(4, count * M), random_vector(5, N * M));
            let loss = |w: &[f64], e: &[f64], a: &[f64], before: &[f64]| {
                dot(
                    crate::math::simd::PLAIN,
                    &written(w, e, a, before),
                    &upstream,
                )
            };
            let (mut dw, mut de, mut da) = (
                vec![0.0; count * N],
                vec![0.0; count * M],
                vec![0.0; count * M],
            );
            let heads = heads(&w, &e, &a);
            for q in 0..count {
                let gradient = WriteGradient {
                    weighting: &mut dw[q * N..][..N],
                    erase: &mut de[q * M..][..M],
                    add: &mut da[q * M..][..M],
                };
                write_backward(
                    &heads,
                    q,
                    0,
                    &before,
                    &upstream,
                    gradient,
                    &mut [0.0; N * M],
                );
            }
            let mut dm = upstream.clone();
            write_backward_memory(&heads, 0, &mut dm);
            assert_gradient("w", &w, &dw, |w| loss(w, &e, &a, &before));
            assert_gradient("e", &e, &de, |e| loss(&w, e, &a, &before));
            assert_gradient("a", &a, &da, |a| loss(&w, &e, a, &before));
            assert_gradient("memory", &before, &dm, |before| loss(&w, &e, &a, before));
        }
    }

    #[test]
    fn one_head_of_each_kind_in_one_pass_is_the_same_as_any_number_of_heads() {
        let (reading, w, e, a) = (
            random_vector(9, N),
            random_vector(1, N),
            random_vector(2, M),
            random_vector(3, M),
        );
        let (before, upstream) = (random_vector(4, N * M), random_vector(5, N * M));
        let mut pair = all_heads(&reading, &w, &e, &a);
        let mut after = vec![0.0; N * M];
        read_and_write(&mut pair, 0, &before, &mut after);
        assert_eq!(after, written(&w, &e, &a, &before), "to the same bits");
        let mut more = all_heads(
            &reading,
            &[&w[..], &[0.0; N]].concat(),
            &[&e[..], &e].concat(),
            &[&a[..], &a].concat(),
        );
        let mut after = vec![0.0; N * M];
        read_and_write(&mut more, 0, &before, &mut after);
        let close = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12);
        assert!(close(read_of(&pair[0]), read_of(&more[0])));
        assert!(close(&after, &written(&w, &e, &a, &before)));

        let d_read_vector = random_vector(6, M);
        let run = |together: bool| {
            let (mut d_reading, mut dw) = (vec![9.0; N], vec![9.0; N]);
            let (mut de, mut da, mut dm) = (vec![9.0; M], vec![9.0; M], upstream.clone());
            let write_gradient = WriteGradient {
                weighting: &mut dw,
                erase: &mut de,
                add: &mut da,
            };
            if together {
                read_and_write_backward(
                    &pair[0],
                    &pair[1],
                    0,
                    &before,
                    &mut dm,
                    (&d_read_vector, &mut d_reading),
                    write_gradient,
                );
            } else {
                write_backward(
                    &pair[1..],
                    0,
                    0,
                    &before,
                    &dm,
                    write_gradient,
                    &mut [0.0; N * M],
                );
                write_backward_memory(&pair[1..], 0, &mut dm);
                read_backward(&before, &reading, &d_read_vector, &mut d_reading, &mut dm);
            }
            [d_reading, dw, de, da, dm].concat()
        };
        assert!(close(&run(true), &run(false)));
    }

    /// Forwards and backwards, alone and beside others, in one pass and in many.
    #[test]
    fn a_head_that_erases_nothing_is_one_whose_erase_is_0() {
        for count in [1, 2, 3] {
            let (reading, w, a) = (
                random_vector(9, N),
                random_vector(1, count * N),
                random_vector(3, count * M),
            );
            let (before, upstream) = (random_vector(4, N * M), random_vector(5, N * M));
            let mut e = random_vector(2, count * M);
            e[..M].fill(0.0);
            let with = all_heads(&reading, &w, &e, &a);
            let mut without = with.clone();
            without[1].erase = Series::new(0);
            let run = |mut heads: Vec<HeadTrace<f64>>| {
                let mut after = vec![0.0; N * M];
                read_and_write(&mut heads, 0, &before, &mut after);
                let (mut de, mut da) = (vec![9.0; heads[1].erase.width()], vec![9.0; M]);
                let (mut dw, mut dr, mut dm) = (vec![9.0; N], vec![9.0; N], upstream.clone());
                let write_gradient = WriteGradient {
                    weighting: &mut dw,
                    erase: &mut de,
                    add: &mut da,
                };
                if let [reader, writer] = &heads[..] {
                    read_and_write_backward(
                        reader,
                        writer,
                        0,
                        &before,
                        &mut dm,
                        (&a[..M], &mut dr),
                        write_gradient,
                    );
                } else {
                    let scratch = &mut [0.0; N * M];
                    write_backward(&heads[1..], 0, 0, &before, &dm, write_gradient, scratch);
                    write_backward_memory(&heads[1..], 0, &mut dm);
                }
                [after, dw, da, dm].concat()
            };
            assert_eq!(run(without), run(with), "to the same bits");
        }
    }

    #[test]
    fn all_erases_come_before_all_adds_in_any_order_of_heads() {
        let (w, e, a) = (
            random_vector(1, 2 * N),
            random_vector(2, 2 * M),
            random_vector(3, 2 * M),
        );
        let before = random_vector(4, N * M);
        let swap = |v: &[f64]| [&v[v.len() / 2..], &v[..v.len() / 2]].concat();
        let one = written(&w, &e, &a, &before);
        let other = written(&swap(&w), &swap(&e), &swap(&a), &before);
        assert!(one.iter().zip(&other).all(|(x, y)| (x - y).abs() < 1e-12));
        for (m, i) in [(0, 0), (2, 7), (4, 18)] {
            let kept = before[m * N + i] * (1.0 - w[i] * e[m]) * (1.0 - w[N + i] * e[M + m]);
            let wanted = kept + w[i] * a[m] + w[N + i] * a[M + m];
            assert!((one[m * N + i] - wanted).abs() < 1e-12);
        }
    }
}
