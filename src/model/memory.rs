//! Reading and writing (paper §3.1 and §3.2).
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m]. A read is then one product of
//! the memory with the weighting, and a write one pass over N neighbours for each column.

use crate::math::simd::vectorize;
use crate::math::{Real, matrix};

/// Equation 2: r = Σ_i w(i)·M(i).
pub fn read<R: Real>(columns: &[R], w: &[R], r: &mut [R]) {
    matrix::product_with_vector(columns, w, r);
}

/// From the gradient by r: adds to the gradients by w and by the memory.
pub fn read_backward<R: Real>(columns: &[R], w: &[R], dr: &[R], dw: &mut [R], d_memory: &mut [R]) {
    matrix::add_vector_product(dr, columns, dw);
    vectorize(|| {
        for (column, &dr) in d_memory.chunks_exact_mut(w.len()).zip(dr) {
            for (d_memory, &w) in column.iter_mut().zip(w) {
                *d_memory += dr * w;
            }
        }
    });
}

/// What one write head does in one step.
#[derive(Clone, Copy)]
pub struct Write<'a, R> {
    /// w, [N].
    pub weighting: &'a [R],
    /// e, [M].
    pub erase: &'a [R],
    /// a, [M].
    pub add: &'a [R],
}

/// Equations 3 and 4, all erases before all adds:
/// M_t(i) = M_{t−1}(i) ∘ Π_q (1 − w_q(i)·e_q) + Σ_q w_q(i)·a_q.
///
/// `head` gives each of the `heads` writes; the result does not depend on their order.
pub fn write<'a, R: Real>(
    heads: usize,
    head: impl Fn(usize) -> Write<'a, R>,
    before: &[R],
    after: &mut [R],
) {
    vectorize(|| {
        let n = head(0).weighting.len();
        for (m, (before, after)) in before
            .chunks_exact(n)
            .zip(after.chunks_exact_mut(n))
            .enumerate()
        {
            if heads == 1 {
                let Write {
                    weighting,
                    erase,
                    add,
                } = head(0);
                let (e, a) = (erase[m], add[m]);
                for (after, (&before, &w)) in after.iter_mut().zip(before.iter().zip(weighting)) {
                    *after = before * (R::ONE - w * e) + w * a;
                }
                continue;
            }
            after.copy_from_slice(before);
            for Write {
                weighting, erase, ..
            } in (0..heads).map(&head)
            {
                let e = erase[m];
                after
                    .iter_mut()
                    .zip(weighting)
                    .for_each(|(after, &w)| *after *= R::ONE - w * e);
            }
            for Write { weighting, add, .. } in (0..heads).map(&head) {
                let a = add[m];
                after
                    .iter_mut()
                    .zip(weighting)
                    .for_each(|(after, &w)| *after += w * a);
            }
        }
    });
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

/// Scratch of [`write_backward`].
#[derive(Clone, Debug)]
pub struct WriteScratch<R> {
    /// Σ over the other heads' erases, [N·M].
    others: Vec<R>,
    /// −e of one head, [M].
    minus_erase: Vec<R>,
}

impl<R: Real> WriteScratch<R> {
    /// For a memory of this size.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            others: vec![R::ZERO; rows * columns],
            minus_erase: vec![R::ZERO; columns],
        }
    }
}

/// One write head backwards, from the gradient by M_t. Call it for every head, then
/// [`write_backward_memory`] once.
///
/// The product of the other heads' factors is multiplied out again, never divided: (1 − w·e) may be 0.
pub fn write_backward<'a, R: Real>(
    (this, heads): (usize, usize),
    head: impl Fn(usize) -> Write<'a, R>,
    before: &[R],
    d_after: &[R],
    gradient: WriteGradient<'_, R>,
    scratch: &mut WriteScratch<R>,
) {
    let Write {
        weighting,
        erase,
        add,
    } = head(this);
    let WriteScratch {
        others,
        minus_erase,
    } = scratch;
    vectorize(|| {
        others
            .iter_mut()
            .zip(before.iter().zip(d_after))
            .for_each(|(o, (&m, &d))| *o = m * d);
        for Write {
            weighting, erase, ..
        } in (0..heads).filter(|&q| q != this).map(&head)
        {
            for (others, &e) in others.chunks_exact_mut(weighting.len()).zip(erase) {
                others
                    .iter_mut()
                    .zip(weighting)
                    .for_each(|(o, &w)| *o *= R::ONE - w * e);
            }
        }
        minus_erase
            .iter_mut()
            .zip(erase)
            .for_each(|(minus, &e)| *minus = -e);
    });
    gradient.weighting.fill(R::ZERO);
    matrix::add_vector_product(add, d_after, gradient.weighting);
    matrix::add_vector_product(minus_erase, others, gradient.weighting);
    matrix::product_with_vector(d_after, weighting, gradient.add);
    matrix::product_with_vector(others, weighting, gradient.erase);
    gradient.erase.iter_mut().for_each(|e| *e = -*e);
}

/// Turns the gradient by M_t into the gradient by M_{t−1}, in place.
pub fn write_backward_memory<'a, R: Real>(
    heads: usize,
    head: impl Fn(usize) -> Write<'a, R>,
    gradient: &mut [R],
) {
    vectorize(|| {
        for Write {
            weighting, erase, ..
        } in (0..heads).map(head)
        {
            for (gradient, &e) in gradient.chunks_exact_mut(weighting.len()).zip(erase) {
                gradient
                    .iter_mut()
                    .zip(weighting)
                    .for_each(|(gradient, &w)| *gradient *= R::ONE - w * e);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::softmax::dot;

    const N: usize = 19;
    const M: usize = 5;

    fn written(heads: usize, w: &[f64], e: &[f64], a: &[f64], before: &[f64]) -> Vec<f64> {
        let mut after = vec![0.0; N * M];
        write(heads, |q| at(q, w, e, a), before, &mut after);
        after
    }

    fn at<'a>(q: usize, w: &'a [f64], e: &'a [f64], a: &'a [f64]) -> Write<'a, f64> {
        Write {
            weighting: &w[q * N..][..N],
            erase: &e[q * M..][..M],
            add: &a[q * M..][..M],
        }
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
            dot(&r, &upstream)
        };
        let (mut dw, mut dm) = (vec![0.0; N], vec![0.0; N * M]);
        read_backward(&columns, &w, &upstream, &mut dw, &mut dm);
        assert_gradient("w", &w, &dw, |w| loss(&columns, w));
        assert_gradient("memory", &columns, &dm, |columns| loss(columns, &w));
    }

    #[test]
    fn write_gradients_also_where_a_row_is_erased_wholly() {
        for heads in [1, 2, 3] {
            let upstream = random_vector(1, N * M);
            let (mut w, mut e) = (random_vector(2, heads * N), random_vector(3, heads * M));
            (w[3], e[2]) = (1.0, 1.0);
            let (a, before) = (random_vector(4, heads * M), random_vector(5, N * M));
            let loss = |w: &[f64], e: &[f64], a: &[f64], before: &[f64]| {
                dot(&written(heads, w, e, a, before), &upstream)
            };
            let (mut dw, mut de, mut da) = (
                vec![0.0; heads * N],
                vec![0.0; heads * M],
                vec![0.0; heads * M],
            );
            let mut scratch = WriteScratch::new(N, M);
            for q in 0..heads {
                let gradient = WriteGradient {
                    weighting: &mut dw[q * N..][..N],
                    erase: &mut de[q * M..][..M],
                    add: &mut da[q * M..][..M],
                };
                write_backward(
                    (q, heads),
                    |q| at(q, &w, &e, &a),
                    &before,
                    &upstream,
                    gradient,
                    &mut scratch,
                );
            }
            let mut dm = upstream.clone();
            write_backward_memory(heads, |q| at(q, &w, &e, &a), &mut dm);
            assert_gradient("w", &w, &dw, |w| loss(w, &e, &a, &before));
            assert_gradient("e", &e, &de, |e| loss(&w, e, &a, &before));
            assert_gradient("a", &a, &da, |a| loss(&w, &e, a, &before));
            assert_gradient("memory", &before, &dm, |before| loss(&w, &e, &a, before));
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
        let one = written(2, &w, &e, &a, &before);
        let other = written(2, &swap(&w), &swap(&e), &swap(&a), &before);
        assert!(one.iter().zip(&other).all(|(x, y)| (x - y).abs() < 1e-12));
        for (m, i) in [(0, 0), (2, 7), (4, 18)] {
            let kept = before[m * N + i] * (1.0 - w[i] * e[m]) * (1.0 - w[N + i] * e[M + m]);
            let wanted = kept + w[i] * a[m] + w[N + i] * a[M + m];
            assert!((one[m * N + i] - wanted).abs() < 1e-12);
        }
    }
}
