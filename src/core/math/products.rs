//! Products of vectors with the rows of a memory, q·M(i), in one pass over the memory.
//!
//! As they are the score "dot" (Luong et al. 2015, §3.1), with q/√d_k "scaled dot" (Vaswani et al. 2017,
//! equation 1), with qᵀ·W in place of q "general" (Luong et al. 2015, §3.1).
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m].

use super::Real;
use super::matrix::{Blocks, Columns, by_blocks, by_held_blocks, has_many, held};
use super::simd::{Kernel, Simd, dispatch};

/// Writes q·M(i) for every row.
pub fn products<R: Real>(vector: &[R], columns: &[R], products: &mut [R]) {
    dispatch(Products {
        vector,
        columns,
        to: products,
    });
}

struct Products<'a, R> {
    vector: &'a [R],
    columns: &'a [R],
    to: &'a mut [R],
}

impl<R: Real> Kernel for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // No row is summed here, so a block is as large as the registers allow.
        by_held_blocks::<R, S>(simd, if has_many::<S>() { 8 } else { 4 }, &mut self);
    }
}

impl<R: Real> Blocks for Products<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.to.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let mut sums = [R::splat(simd, R::ZERO); V];
        let columns = self.columns.chunks_exact(self.to.len());
        for (column, &q) in columns.zip(self.vector) {
            let (column, q) = (at.of(column), R::splat(simd, q));
            for (v, sum) in sums.iter_mut().enumerate() {
                *sum = R::mul_add(simd, q, at.load(column, v), *sum);
            }
        }
        let products = at.of_mut(self.to);
        for (v, &sum) in sums.iter().enumerate() {
            at.store(products, v, sum);
        }
    }
}

/// The vector of [`products_backward`].
pub struct ProductGradient<'a, R> {
    /// q [M].
    pub vector: &'a [R],
    /// The gradient by q·M(i) [N].
    pub by_product: &'a [R],
    /// The gradient by q [M], to be set.
    pub by_vector: &'a mut [R],
}

/// From the gradient by the products: sets that by the vector, Σ_i d(i)·M(i), adds to that by the memory d(i)·q, in
/// one pass over the memory.
pub fn products_backward<R: Real>(of: ProductGradient<'_, R>, columns: &[R], by_memory: &mut [R]) {
    dispatch(ProductsBackward {
        of,
        columns,
        by_memory,
    });
}

struct ProductsBackward<'a, R> {
    of: ProductGradient<'a, R>,
    columns: &'a [R],
    by_memory: &'a mut [R],
}

impl<R: Real> Kernel for ProductsBackward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.of.by_vector.fill(R::ZERO);
        by_blocks::<R, S, 8>(simd, &mut self);
    }
}

impl<R: Real> Blocks for ProductsBackward<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.of.by_product.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let upstream = at.of(self.of.by_product);
        // Where the registers hold them, these are loaded once.
        let held_upstream: [R::Pack<S>; V] = std::array::from_fn(|v| held(simd, at, upstream, v));
        let n = self.of.by_product.len();
        let columns = self.columns.chunks_exact(n);
        let gradients = self.by_memory.chunks_exact_mut(n);
        let vectors = self.of.vector.iter().zip(&mut *self.of.by_vector);
        for ((column, gradient), (&q, by_q)) in columns.zip(gradients).zip(vectors) {
            let (column, gradient) = (at.of(column), at.of_mut(gradient));
            let (q, mut sum) = (R::splat(simd, q), R::splat(simd, R::ZERO));
            for v in 0..at.packs() {
                let d = held_or_loaded(at, &held_upstream, upstream, v);
                sum = R::mul_add(simd, at.load(column, v), d, sum);
                at.store(gradient, v, R::mul_add(simd, q, d, at.load(gradient, v)));
            }
            *by_q += R::reduce(simd, sum);
        }
    }
}

/// Pack `v` of what [`held`] holds.
#[inline(always)]
fn held_or_loaded<R: Real, S: Simd, const V: usize>(
    at: impl Columns<S>,
    held: &[R::Pack<S>; V],
    part: &[R],
    v: usize,
) -> R::Pack<S> {
    if has_many::<S>() {
        held[v]
    } else {
        at.load(part, v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::{Choice, PLAIN, with};
    use crate::math::softmax::dot;

    /// q·M(i).
    fn of<R: Real>(q: &[R], columns: &[R]) -> Vec<R> {
        let mut found = vec![R::ONE; columns.len() / q.len()];
        products(q, columns, &mut found);
        found
    }

    /// The gradients by the vector and by the memory.
    fn gradients<R: Real>(q: &[R], columns: &[R], upstream: &[R]) -> (Vec<R>, Vec<R>) {
        let (mut by_vector, mut by_memory) = (vec![R::ONE; q.len()], vec![R::ZERO; columns.len()]);
        let head = ProductGradient {
            vector: q,
            by_product: upstream,
            by_vector: &mut by_vector,
        };
        products_backward(head, columns, &mut by_memory);
        (by_vector, by_memory)
    }

    #[test]
    fn gradients_at_every_length() {
        for (n, m) in [(1, 1), (5, 3), (37, 5), (130, 20)] {
            let (q, columns) = (random_vector(1, m), random_vector(2, n * m));
            let upstream = random_vector(3, n);
            let loss = |q: &[f64], columns: &[f64]| dot(PLAIN, &of(q, columns), &upstream);
            let (dq, dm) = gradients(&q, &columns, &upstream);
            assert_gradient("vector", &q, &dq, |q| loss(q, &columns));
            assert_gradient("memory", &columns, &dm, |columns| loss(&q, columns));
        }
    }

    #[test]
    fn the_same_bits_on_every_instruction_set_and_near_those_of_f64() {
        for (n, m) in [(1, 1), (5, 3), (37, 5), (130, 20), (700, 9)] {
            let (q, columns) = (random_vector(1, m), random_vector(2, n * m));
            let upstream = random_vector(3, n);
            let wanted = gradients(&q, &columns, &upstream);
            let wanted = [of(&q, &columns), wanted.0, wanted.1].concat();
            let short = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
            let (q, columns, upstream) = (short(&q), short(&columns), short(&upstream));
            let everywhere = Choice::all().map(|choice| {
                with(choice, || {
                    let found = gradients(&q, &columns, &upstream);
                    [of(&q, &columns), found.0, found.1].concat()
                })
            });
            assert!(everywhere.iter().all(|found| *found == everywhere[0]));
            for (found, wanted) in everywhere[0].iter().zip(wanted) {
                assert!((f64::from(*found) - wanted).abs() < 1e-5 * wanted.abs().max(1.0));
            }
        }
    }

    #[test]
    fn dot_and_scaled_dot_are_the_golden_values() {
        for (name, scale) in [("score_dot", 1.0), ("score_scaled_dot", 0.2_f64.sqrt())] {
            let case = Case::load(name);
            let scaled = |x: Vec<f64>| x.iter().map(|x| x * scale).collect::<Vec<_>>();
            let (q, keys) = (
                scaled(case.numbers("inputs", "q")),
                case.transposed("inputs", "K"),
            );
            let by_energies = case.gradient_by_energies(&of(&q, &keys));
            let (by_q, by_keys) = gradients(&q, &keys, &by_energies);
            case.assert_close("gradients", "q", &scaled(by_q));
            case.assert_transposed_close("gradients", "K", &by_keys);
        }
    }
}
