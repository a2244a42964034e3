//! Cosine similarity of a key with every row of a memory (paper equation 6).
//!
//! ```text
//! K(i) = k·M(i) / ( sqrt(|k|² + ε) · sqrt(|M(i)|² + ε) )
//! ```
//!
//! The ε keeps value and gradient finite where a row or the key is zero; with ε = 0 this is the paper's
//! cosine. It decides how loud a row must be to be heard: a row much shorter than sqrt(ε) has a
//! similarity near 0 with every key. The default, 1e-6, makes a fresh memory of 1e-6 neutral.
//!
//! The memory stands column after column: `columns[m·N + i]` is M(i)[m].

use super::Real;
use super::matrix::{self, Blocks, Rows, by_blocks, lanes};
use super::simd::{Kernel, Simd, dispatch, kernel};
use super::softmax::dot;

kernel! {
    /// sqrt(|M(i)|² + ε) for every row i.
    pub fn norms<'a, R>(_simd; columns: &'a [R], epsilon: R, norms: &'a mut [R]) {
        norms.fill(epsilon);
        for column in columns.chunks_exact(norms.len()) {
            for (norm, &value) in norms.iter_mut().zip(column) {
                *norm += value * value;
            }
        }
        for norm in norms.iter_mut() {
            *norm = norm.sqrt();
        }
    }
}

/// sqrt(|k|² + ε).
#[inline(always)]
fn key_norm<R: Real>(key: &[R], epsilon: R) -> R {
    (key.iter().map(|&k| k * k).sum::<R>() + epsilon).sqrt()
}

/// With ε = 0 a zero row has no direction; its similarity is 0, not 0/0.
#[inline(always)]
fn divisor<R: Real>(norms: R) -> R {
    norms.max(R::TINY)
}

/// Writes K(i) for every row.
pub fn cosine<R: Real>(key: &[R], columns: &[R], norms: &[R], epsilon: R, similarity: &mut [R]) {
    similarity.fill(R::ZERO);
    let rows = Rows {
        data: columns,
        stride: norms.len(),
    };
    matrix::add_vector_product(key, rows, similarity);
    divide_by_norms(key_norm(key, epsilon), norms, similarity);
}

kernel! {
    fn divide_by_norms<'a, R>(_simd; key_norm: R, norms: &'a [R], similarity: &'a mut [R]) {
        for (similarity, &norm) in similarity.iter_mut().zip(norms) {
            *similarity = *similarity / divisor(key_norm * norm);
        }
    }
}

/// What [`cosine_backward`] reads.
pub struct CosineBackward<'a, R> {
    /// k.
    pub key: &'a [R],
    /// The memory that was addressed.
    pub columns: &'a [R],
    /// From [`norms`].
    pub norms: &'a [R],
    /// ε.
    pub epsilon: R,
    /// K.
    pub similarity: &'a [R],
}

/// From the gradient by K: sets the gradient by the key, adds to the gradient by the memory.
///
/// `similarity_gradient` is used up: it holds scaled values afterwards. `scratch` has N values.
pub fn cosine_backward<R: Real>(
    forward: &CosineBackward<'_, R>,
    similarity_gradient: &mut [R],
    key_gradient: &mut [R],
    memory_gradient: &mut [R],
    scratch: &mut [R],
) {
    let CosineBackward {
        key,
        columns,
        norms,
        epsilon,
        similarity,
    } = *forward;
    let key_norm = key_norm(key, epsilon);
    let along_key = scale_gradient(key_norm, norms, similarity, similarity_gradient, scratch);
    dispatch(AlongKeyAndRow {
        key,
        columns,
        along_key: similarity_gradient,
        along_row: scratch,
        key_gradient,
        memory_gradient,
    });
    for (gradient, &k) in key_gradient.iter_mut().zip(key) {
        *gradient -= along_key * k;
    }
}

kernel! {
    /// Turns dK(i) into its share along the key, dK(i) / (|k|·|M(i)|); sets its share along the row,
    /// dK(i)·K(i) / |M(i)|²; returns the sum of what goes along −k.
    fn scale_gradient<'a, R>(
        simd; key_norm: R, norms: &'a [R], similarity: &'a [R], gradient: &'a mut [R], along_row: &'a mut [R],
    ) -> R {
        let along_key = dot(simd, gradient, similarity);
        let rows = gradient.iter_mut().zip(along_row).zip(norms.iter().zip(similarity));
        for ((gradient, along_row), (&norm, &similarity)) in rows {
            *along_row = *gradient * similarity / divisor(norm * norm);
            *gradient = *gradient / divisor(key_norm * norm);
        }
        along_key / divisor(key_norm * key_norm)
    }
}

/// One pass over the memory for both gradients: dk[m] = Σ_i along_key(i)·M(i)[m] and
/// dM(i)[m] += along_key(i)·k[m] − along_row(i)·M(i)[m].
struct AlongKeyAndRow<'a, R> {
    key: &'a [R],
    columns: &'a [R],
    along_key: &'a [R],
    along_row: &'a [R],
    key_gradient: &'a mut [R],
    memory_gradient: &'a mut [R],
}

impl<R: Real> Kernel for AlongKeyAndRow<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.key_gradient.fill(R::ZERO);
        by_blocks(simd, lanes::<R, S>(), &mut self);
    }
}

impl<R: Real> Blocks for AlongKeyAndRow<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.along_key.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, start: usize) {
        let (n, rows) = (self.along_key.len(), start..start + V * lanes::<R, S>());
        let zero = R::splat(simd, R::ZERO);
        let minus = R::splat(simd, -R::ONE);
        let (along_key, _) = R::packs::<S>(&self.along_key[rows.clone()]);
        let (along_row, _) = R::packs::<S>(&self.along_row[rows.clone()]);
        let along_key: [R::Pack<S>; V] = std::array::from_fn(|v| along_key[v]);
        let against_row: [R::Pack<S>; V] =
            std::array::from_fn(|v| R::mul_add(simd, minus, along_row[v], zero));
        let columns = self
            .columns
            .chunks_exact(n)
            .zip(self.memory_gradient.chunks_exact_mut(n));
        for ((&k, dk), (column, gradient)) in
            self.key.iter().zip(&mut *self.key_gradient).zip(columns)
        {
            let (column, _) = R::packs::<S>(&column[rows.clone()]);
            let (gradient, _) = R::packs_mut::<S>(&mut gradient[rows.clone()]);
            let (k, mut sum) = (R::splat(simd, k), zero);
            for v in 0..V {
                sum = R::mul_add(simd, column[v], along_key[v], sum);
                let along = R::mul_add(simd, k, along_key[v], gradient[v]);
                gradient[v] = R::mul_add(simd, column[v], against_row[v], along);
            }
            *dk += R::reduce(simd, sum);
        }
    }

    #[inline(always)]
    fn rest(&mut self, start: usize) {
        let n = self.along_key.len();
        let columns = self
            .columns
            .chunks_exact(n)
            .zip(self.memory_gradient.chunks_exact_mut(n));
        for ((&k, dk), (column, gradient)) in
            self.key.iter().zip(&mut *self.key_gradient).zip(columns)
        {
            for i in start..n {
                *dk += column[i] * self.along_key[i];
                gradient[i] += self.along_key[i] * k - self.along_row[i] * column[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    const N: usize = 37;
    const M: usize = 5;

    fn similarities(key: &[f64], columns: &[f64], epsilon: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut row_norms, mut k) = (vec![0.0; N], vec![0.0; N]);
        norms(columns, epsilon, &mut row_norms);
        cosine(key, columns, &row_norms, epsilon, &mut k);
        (row_norms, k)
    }

    #[test]
    fn gradients_also_at_a_zero_row() {
        for epsilon in [1e-2, 1.0] {
            let (key, upstream) = (random_vector(1, M), random_vector(3, N));
            let mut columns = random_vector(2, N * M);
            (0..M).for_each(|m| columns[m * N + 4] = 0.0);
            let loss = |key: &[f64], columns: &[f64]| {
                dot(
                    pulp::Scalar,
                    &similarities(key, columns, epsilon).1,
                    &upstream,
                )
            };
            let (norms, similarity) = similarities(&key, &columns, epsilon);
            let (mut dk, mut dm) = (vec![0.0; M], vec![0.0; N * M]);
            let forward = CosineBackward {
                key: &key,
                columns: &columns,
                norms: &norms,
                epsilon,
                similarity: &similarity,
            };
            cosine_backward(
                &forward,
                &mut upstream.clone(),
                &mut dk,
                &mut dm,
                &mut [0.0; N],
            );
            assert_gradient("key", &key, &dk, |key| loss(key, &columns));
            assert_gradient("memory", &columns, &dm, |columns| loss(&key, columns));
        }
    }

    #[test]
    fn a_zero_row_and_a_zero_key_are_neutral_and_finite() {
        for epsilon in [0.0, 1e-6] {
            let (_, similarity) = similarities(&[0.0; M], &[0.0; N * M], epsilon);
            assert!(similarity.iter().all(|&k| k == 0.0));
            let (norms, _) = similarities(&random_vector(1, M), &[0.0; N * M], epsilon);
            let (mut dk, mut dm) = ([0.0; M], [0.0; N * M]);
            let forward = CosineBackward {
                key: &random_vector(1, M),
                columns: &[0.0; N * M],
                norms: &norms,
                epsilon,
                similarity: &similarity,
            };
            cosine_backward(&forward, &mut [0.0; N], &mut dk, &mut dm, &mut [0.0; N]);
            assert!(dk.iter().chain(&dm).all(|g| g.is_finite()));
        }
    }

    #[test]
    fn a_row_along_the_key_has_similarity_one() {
        let key = random_vector(1, M);
        let mut columns = random_vector(2, N * M);
        (0..M).for_each(|m| columns[m * N + 7] = 3.0 * key[m]);
        let (_, similarity) = similarities(&key, &columns, 0.0);
        assert!((similarity[7] - 1.0).abs() < 1e-12);
        assert!(similarity.iter().all(|k| k.abs() <= 1.0 + 1e-12));
    }
}
