//! Products of vectors with the rows of a memory, q·M(i), in one pass over the memory.
//!
//! As they are the score "dot" (Luong et al. 2015, §3.1), with q/√d_k "scaled dot" (Vaswani et al. 2017,
//! equation 1), with qᵀ·W in place of q "general" (Luong et al. 2015, §3.1).
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m].

use super::Real;
use super::matrix::{Blocks, Columns, by_blocks, by_held_blocks, has_many, held};
use super::simd::{Kernel, Simd, dispatch};

/// Writes q·M(i) for every row and every pair (q, products).
pub fn products<R: Real, const H: usize>(pairs: [(&[R], &mut [R]); H], columns: &[R]) {
    dispatch(Products { pairs, columns });
}

struct Products<'a, R, const H: usize> {
    pairs: [(&'a [R], &'a mut [R]); H],
    columns: &'a [R],
}

impl<R: Real, const H: usize> Kernel for Products<'_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // No row is summed here, so a block is as large as the registers; some are left for what goes by.
        let room = if has_many::<S>() { 26 } else { 6 };
        by_held_blocks::<R, S>(simd, room / H.max(1), &mut self);
    }
}

impl<R: Real, const H: usize> Blocks for Products<'_, R, H> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.pairs.first().map_or(0, |(_, products)| products.len())
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let vectors: [&[R]; H] = std::array::from_fn(|h| self.pairs[h].0);
        let mut sums = [[R::splat(simd, R::ZERO); V]; H];
        for (m, column) in self.columns.chunks_exact(self.columns()).enumerate() {
            let column = at.of(column);
            let q: [R::Pack<S>; H] = std::array::from_fn(|h| R::splat(simd, vectors[h][m]));
            for v in 0..V {
                let x = at.load(column, v);
                for (sums, &q) in sums.iter_mut().zip(&q) {
                    sums[v] = R::mul_add(simd, q, x, sums[v]);
                }
            }
        }
        for ((_, products), sums) in self.pairs.iter_mut().zip(sums) {
            let products = at.of_mut(products);
            sums.into_iter()
                .enumerate()
                .for_each(|(v, pack)| at.store(products, v, pack));
        }
    }
}

/// One vector of [`products_backward`].
pub struct ProductGradient<'a, R> {
    /// q [M].
    pub vector: &'a [R],
    /// The gradient by q·M(i) [N].
    pub by_product: &'a [R],
    /// The gradient by q [M], to be set.
    pub by_vector: &'a mut [R],
}

/// From the gradients by the products: sets those by the vectors, Σ_i d(i)·M(i), adds to that by the memory
/// d(i)·q for every vector, in one pass over the memory.
pub fn products_backward<R: Real, const H: usize>(
    heads: [ProductGradient<'_, R>; H],
    columns: &[R],
    by_memory: &mut [R],
) {
    dispatch(ProductsBackward {
        heads,
        columns,
        by_memory,
    });
}

struct ProductsBackward<'a, R, const H: usize> {
    heads: [ProductGradient<'a, R>; H],
    columns: &'a [R],
    by_memory: &'a mut [R],
}

impl<R: Real, const H: usize> Kernel for ProductsBackward<'_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for head in &mut self.heads {
            head.by_vector.fill(R::ZERO);
        }
        by_blocks::<R, S, 8>(simd, &mut self);
    }
}

impl<R: Real, const H: usize> Blocks for ProductsBackward<'_, R, H> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.heads.first().map_or(0, |head| head.by_product.len())
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (n, zero) = (self.columns(), R::splat(simd, R::ZERO));
        let upstream: [&[R]; H] = std::array::from_fn(|h| at.of(self.heads[h].by_product));
        // Where the registers hold them, these are loaded once.
        let held_upstream: [[R::Pack<S>; V]; H] =
            std::array::from_fn(|h| std::array::from_fn(|v| held(simd, at, upstream[h], v)));
        let columns = self.columns.chunks_exact(n);
        let gradients = self.by_memory.chunks_exact_mut(n);
        for (m, (column, gradient)) in columns.zip(gradients).enumerate() {
            let (column, gradient) = (at.of(column), at.of_mut(gradient));
            let q: [R::Pack<S>; H] =
                std::array::from_fn(|h| R::splat(simd, self.heads[h].vector[m]));
            let mut sums = [zero; H];
            for v in 0..at.packs() {
                let (x, mut by_x) = (at.load(column, v), at.load(gradient, v));
                for h in 0..H {
                    let d = held_or_loaded(at, &held_upstream[h], upstream[h], v);
                    sums[h] = R::mul_add(simd, x, d, sums[h]);
                    by_x = R::mul_add(simd, q[h], d, by_x);
                }
                at.store(gradient, v, by_x);
            }
            for (head, sum) in self.heads.iter_mut().zip(sums) {
                head.by_vector[m] += R::reduce(simd, sum);
            }
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
        products([(q, &mut found[..])], columns);
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
        products_backward([head], columns, &mut by_memory);
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
    fn two_vectors_in_one_pass_are_the_same_as_one_by_one() {
        let (n, m) = (130, 7);
        let (q, columns) = (random_vector(1, 2 * m), random_vector(2, n * m));
        let upstream = random_vector(3, 2 * n);
        let (mut found, mut by_vector) = (vec![0.0; 2 * n], vec![0.0; 2 * m]);
        let mut by_memory = random_vector(4, n * m);
        let mut wanted_memory = by_memory.clone();
        let ((q0, q1), (d0, d1)) = (q.split_at(m), upstream.split_at(n));
        let (first, second) = found.split_at_mut(n);
        products([(q0, first), (q1, second)], &columns);
        let (by_0, by_1) = by_vector.split_at_mut(m);
        let head = |vector, by_product, by_vector| ProductGradient {
            vector,
            by_product,
            by_vector,
        };
        let heads = [head(q0, d0, by_0), head(q1, d1, by_1)];
        products_backward(heads, &columns, &mut by_memory);
        assert_eq!(found, [of(q0, &columns), of(q1, &columns)].concat());
        let (one, other) = (gradients(q0, &columns, d0), gradients(q1, &columns, d1));
        assert_eq!(by_vector, [one.0, other.0].concat());
        let more = one.1.iter().zip(&other.1);
        for (sum, (x, y)) in wanted_memory.iter_mut().zip(more) {
            *sum += x + y;
        }
        let pairs = by_memory.iter().zip(&wanted_memory);
        assert!(pairs.into_iter().all(|(x, y)| (x - y).abs() < 1e-12));
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
