//! Reading and writing (paper §3.1 and §3.2).
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m]. A read is then one product of
//! the memory with the weighting, and a write one pass over N neighbours for each column.

use super::trace::{HeadTrace, Role};
use crate::math::Real;
use crate::math::matrix::{self, Blocks, Rows, by_blocks, lanes};
use crate::math::simd::{Kernel, Simd, dispatch, kernel};

/// Equation 2: r = Σ_i w(i)·M(i).
pub fn read<R: Real>(columns: &[R], w: &[R], r: &mut [R]) {
    matrix::product_with_vector(rows(columns, w), w, r);
}

/// The columns of a memory as the rows of a matrix, one for each of the M columns.
fn rows<'a, R>(columns: &'a [R], weighting: &[R]) -> Rows<'a, R> {
    Rows {
        data: columns,
        stride: weighting.len(),
    }
}

/// From the gradient by r: adds to the gradients by w and by the memory.
pub fn read_backward<R: Real>(columns: &[R], w: &[R], dr: &[R], dw: &mut [R], d_memory: &mut [R]) {
    matrix::add_vector_product(dr, rows(columns, w), dw);
    add_outer_product(dr, w, d_memory);
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

/// What one write head did in one step.
#[derive(Clone, Copy)]
struct Write<'a, R> {
    /// w, [N].
    weighting: &'a [R],
    /// e, [M].
    erase: &'a [R],
    /// a, [M].
    add: &'a [R],
}

impl<'a, R: Real> Write<'a, R> {
    /// The step `t` of a write head; a read head writes nothing.
    #[inline(always)]
    fn of(head: &'a HeadTrace<R>, t: usize) -> Self {
        let weighting = head.weighting.row(t);
        match &head.role {
            Role::Write { erase, add } => Self {
                weighting,
                erase: erase.row(t),
                add: add.row(t),
            },
            Role::Read { .. } => Self {
                weighting,
                erase: &[],
                add: &[],
            },
        }
    }
}

kernel! {
    /// Equations 3 and 4, all erases before all adds:
    /// M_t(i) = M_{t−1}(i) ∘ Π_q (1 − w_q(i)·e_q) + Σ_q w_q(i)·a_q.
    ///
    /// `heads` are write heads at step `t`; the result does not depend on their order.
    pub fn write<'a, R>(_simd; heads: &'a [HeadTrace<R>], t: usize, before: &'a [R], after: &'a mut [R]) {
        let [first, rest @ ..] = heads else { return };
        let first = Write::of(first, t);
        let n = first.weighting.len();
        for (m, (before, after)) in before.chunks_exact(n).zip(after.chunks_exact_mut(n)).enumerate() {
            // The first head's add is part of the first pass when there is no other erase to come.
            let (e, a) = (first.erase[m], if rest.is_empty() { first.add[m] } else { R::ZERO });
            for (after, (&before, &w)) in after.iter_mut().zip(before.iter().zip(first.weighting)) {
                *after = before * (R::ONE - w * e) + w * a;
            }
            if rest.is_empty() {
                continue;
            }
            for head in rest {
                let Write { weighting, erase, .. } = Write::of(head, t);
                let e = erase[m];
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
    /// By w, [N].
    pub weighting: &'a mut [R],
    /// By e, [M].
    pub erase: &'a mut [R],
    /// By a, [M].
    pub add: &'a mut [R],
}

/// The only write head backwards, in one pass over the memory: sets its gradients and turns the gradient
/// by M_t into the gradient by M_{t−1}, in place.
///
/// [`write_backward`] and [`write_backward_memory`] say the same for any number of heads.
pub fn write_alone_backward<R: Real>(
    head: &HeadTrace<R>,
    t: usize,
    before: &[R],
    d_memory: &mut [R],
    gradient: WriteGradient<'_, R>,
) {
    dispatch(WriteAlone {
        write: Write::of(head, t),
        before,
        d_memory,
        gradient,
    });
}

struct WriteAlone<'a, R> {
    write: Write<'a, R>,
    before: &'a [R],
    d_memory: &'a mut [R],
    gradient: WriteGradient<'a, R>,
}

impl<R: Real> Kernel for WriteAlone<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.gradient.erase.fill(R::ZERO);
        self.gradient.add.fill(R::ZERO);
        by_blocks(simd, lanes::<R, S>(), &mut self);
    }
}

impl<R: Real> Blocks for WriteAlone<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.write.weighting.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, start: usize) {
        let (n, rows) = (
            self.write.weighting.len(),
            start..start + V * lanes::<R, S>(),
        );
        let zero = R::splat(simd, R::ZERO);
        let (w, _) = R::packs::<S>(&self.write.weighting[rows.clone()]);
        let w: [R::Pack<S>; V] = std::array::from_fn(|v| w[v]);
        let mut dw = [zero; V];
        let columns = self
            .before
            .chunks_exact(n)
            .zip(self.d_memory.chunks_exact_mut(n));
        for (m, (before, d)) in columns.enumerate() {
            let (before, _) = R::packs::<S>(&before[rows.clone()]);
            let (d, _) = R::packs_mut::<S>(&mut d[rows.clone()]);
            let (a, minus_e) = (
                R::splat(simd, self.write.add[m]),
                R::splat(simd, -self.write.erase[m]),
            );
            let (mut da, mut de) = (zero, zero);
            for v in 0..V {
                let (d_after, d_erased) = (d[v], R::mul_add(simd, d[v], before[v], zero));
                da = R::mul_add(simd, d_after, w[v], da);
                de = R::mul_add(simd, d_erased, w[v], de);
                dw[v] = R::mul_add(simd, a, d_after, R::mul_add(simd, minus_e, d_erased, dw[v]));
                // d·(1 − w·e)
                d[v] = R::mul_add(
                    simd,
                    R::mul_add(simd, minus_e, w[v], zero),
                    d_after,
                    d_after,
                );
            }
            self.gradient.add[m] += R::reduce(simd, da);
            self.gradient.erase[m] += -R::reduce(simd, de);
        }
        R::packs_mut::<S>(&mut self.gradient.weighting[rows])
            .0
            .copy_from_slice(&dw);
    }

    #[inline(always)]
    fn rest(&mut self, start: usize) {
        let Write {
            weighting,
            erase,
            add,
        } = self.write;
        let n = weighting.len();
        self.gradient.weighting[start..].fill(R::ZERO);
        let columns = self
            .before
            .chunks_exact(n)
            .zip(self.d_memory.chunks_exact_mut(n));
        for (m, (before, d)) in columns.enumerate() {
            for i in start..n {
                let d_erased = d[i] * before[i];
                self.gradient.add[m] += d[i] * weighting[i];
                self.gradient.erase[m] += -d_erased * weighting[i];
                self.gradient.weighting[i] += d[i] * add[m] - d_erased * erase[m];
                d[i] *= R::ONE - weighting[i] * erase[m];
            }
        }
    }
}

/// Head `this` of the write heads backwards, from the gradient by M_t. Call it for every head, then
/// [`write_backward_memory`] once. `scratch` has M·N values.
///
/// The product of the other heads' factors is multiplied out again, never divided: (1 − w·e) may be 0.
pub fn write_backward<R: Real>(
    (heads, this, t): (&[HeadTrace<R>], usize, usize),
    before: &[R],
    d_after: &[R],
    WriteGradient {
        weighting: d_weighting,
        erase: d_erase,
        add: d_add,
    }: WriteGradient<'_, R>,
    scratch: &mut [R],
) {
    let Write {
        weighting,
        erase,
        add,
    } = Write::of(&heads[this], t);
    kept_by_others(heads, this, t, before, d_after, scratch);
    // dw = Σ_m dM·a − Σ_m dM·M·others·e: the erase half first, so that its sign can be turned.
    d_weighting.fill(R::ZERO);
    matrix::add_vector_product(erase, rows(scratch, weighting), d_weighting);
    d_weighting.iter_mut().for_each(|w| *w = -*w);
    matrix::add_vector_product(add, rows(d_after, weighting), d_weighting);
    matrix::product_with_vector(rows(d_after, weighting), weighting, d_add);
    matrix::product_with_vector(rows(scratch, weighting), weighting, d_erase);
    d_erase.iter_mut().for_each(|e| *e = -*e);
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
    /// Turns the gradient by M_t into the gradient by M_{t−1}, in place.
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
    use crate::model::{ModelConfig, Trace};

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
        let mut config = ModelConfig::new(1, 1);
        (config.rows, config.columns, config.write_heads) = (N, M, w.len() / N);
        let mut heads = Trace::new(&config).heads.split_off(1);
        for (q, head) in heads.iter_mut().enumerate() {
            head.weighting = series(&w[q * N..][..N]);
            head.role = Role::Write {
                erase: series(&e[q * M..][..M]),
                add: series(&a[q * M..][..M]),
            };
        }
        heads
    }

    fn written(w: &[f64], e: &[f64], a: &[f64], before: &[f64]) -> Vec<f64> {
        let mut after = vec![0.0; N * M];
        write(&heads(w, e, a), 0, before, &mut after);
        after
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
            read(columns, w, &mut r);
            dot(pulp::Scalar, &r, &upstream)
        };
        let (mut dw, mut dm) = (vec![0.0; N], vec![0.0; N * M]);
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
                dot(pulp::Scalar, &written(w, e, a, before), &upstream)
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
                    (&heads, q, 0),
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
    fn one_head_in_one_pass_is_the_same_as_any_number_of_heads() {
        let (w, e, a) = (
            random_vector(1, N),
            random_vector(2, M),
            random_vector(3, M),
        );
        let (before, upstream) = (random_vector(4, N * M), random_vector(5, N * M));
        let heads = heads(&w, &e, &a);
        let run = |alone: bool| {
            let (mut dw, mut de, mut da, mut dm) =
                (vec![9.0; N], vec![9.0; M], vec![9.0; M], upstream.clone());
            let gradient = WriteGradient {
                weighting: &mut dw,
                erase: &mut de,
                add: &mut da,
            };
            if alone {
                write_alone_backward(&heads[0], 0, &before, &mut dm, gradient);
            } else {
                write_backward(
                    (&heads, 0, 0),
                    &before,
                    &upstream,
                    gradient,
                    &mut [0.0; N * M],
                );
                write_backward_memory(&heads, 0, &mut dm);
            }
            [dw, de, da, dm].concat()
        };
        assert!(
            run(true)
                .iter()
                .zip(run(false))
                .all(|(x, y)| (x - y).abs() < 1e-12)
        );
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
