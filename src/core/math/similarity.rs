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
use super::kernel::kernel;
use super::matrix::{Blocks, Columns, by_blocks, by_held_blocks, has_many, held, held_pack};
use super::pack::filled;
use super::simd::{Kernel, Simd, dispatch};
use super::softmax::dot;

kernel! {
    /// sqrt(|M(i)|² + ε) for every row i.
    pub fn norms<'a, R>(simd; columns: &'a [R], epsilon: R, norms: &'a mut [R]) {
        cosines_in(simd, &mut [], columns, epsilon, norms);
    }
}

/// Returns the square root; 0 for a value too small for a precise one, whose vector has no direction either.
#[inline(always)]
pub(crate) fn root<R: Real>(square: R) -> R {
    let root = square.sqrt();
    if square < R::TINY { R::ZERO } else { root }
}

/// sqrt(|k|² + ε).
#[inline(always)]
fn key_norm<R: Real>(key: &[R], epsilon: R) -> R {
    root(key.iter().map(|&k| k * k).sum::<R>() + epsilon)
}

/// Returns x / y; 0 where y is not a normal number: a vector without direction (only with ε = 0) is similar to
/// no other.
#[inline(always)]
pub(crate) fn quotient<R: Real>(x: R, y: R) -> R {
    let quotient = x / y;
    if y < R::TINY { R::ZERO } else { quotient }
}

/// Writes K(i) for every row and every pair (key, K), and the [`norms`], in one pass over the memory.
pub fn cosines<'a, R: Real, const H: usize>(
    mut pairs: [(&'a [R], &'a mut [R]); H],
    columns: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    dispatch::<R, _>(Cosines {
        pairs: &mut pairs,
        columns,
        epsilon,
        norms,
    });
}

struct Cosines<'a, 'p, R, const H: usize> {
    pairs: &'a mut [(&'p [R], &'p mut [R]); H],
    columns: &'a [R],
    epsilon: R,
    norms: &'a mut [R],
}

impl<R: Real, const H: usize> Kernel for Cosines<'_, '_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        cosines_in(simd, self.pairs, self.columns, self.epsilon, self.norms);
    }
}

/// Packs of a block that the registers hold `vectors` times; some are left for what goes by.
const fn packs_of<S: Simd>(vectors: usize) -> usize {
    (if has_many::<S>() { 26 } else { 6 }) / vectors
}

#[inline(always)]
fn cosines_in<'a, R: Real, S: Simd, const H: usize>(
    simd: S,
    pairs: &mut [(&'a [R], &'a mut [R]); H],
    columns: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    let mut pass = Cosines {
        pairs,
        columns,
        epsilon,
        norms,
    };
    // No row is summed here, so a block is as large as the registers.
    if const { packs_of::<S>(H + 1) >= 8 } {
        by_held_blocks::<R, S, 8>(simd, &mut pass);
    } else if const { packs_of::<S>(H + 1) >= 4 } {
        by_held_blocks::<R, S, 4>(simd, &mut pass);
    } else if const { packs_of::<S>(H + 1) >= 2 } {
        by_held_blocks::<R, S, 2>(simd, &mut pass);
    } else {
        by_held_blocks::<R, S, 1>(simd, &mut pass);
    }
    let Cosines { pairs, norms, .. } = pass;
    for norm in norms.iter_mut() {
        *norm = root(*norm);
    }
    for (key, similarity) in pairs {
        let key_norm = key_norm(key, epsilon);
        for (similarity, &norm) in similarity.iter_mut().zip(&*norms) {
            *similarity = quotient(*similarity, key_norm * norm);
        }
    }
}

/// |M(i)|² + ε stands in `norms`, k·M(i) in every K.
impl<R: Real, const H: usize> Blocks for Cosines<'_, '_, R, H> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.norms.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let keys: [&[R]; H] = filled(|h| self.pairs[h].0);
        let mut squares = [R::splat(simd, self.epsilon); V];
        let mut dots = [[R::splat(simd, R::ZERO); V]; H];
        for (m, column) in self.columns.chunks_exact(self.norms.len()).enumerate() {
            let column = at.of(column);
            let k: [R::Pack<S>; H] = filled(|h| R::splat(simd, keys[h][m]));
            for v in 0..V {
                let x = at.load(column, v);
                squares[v] = R::mul_add(simd, x, x, squares[v]);
                for (dots, &k) in dots.iter_mut().zip(&k) {
                    dots[v] = R::mul_add(simd, k, x, dots[v]);
                }
            }
        }
        let norms = at.of_mut(self.norms);
        squares
            .into_iter()
            .enumerate()
            .for_each(|(v, pack)| at.store(norms, v, pack));
        for ((_, similarity), dots) in self.pairs.iter_mut().zip(dots) {
            let similarity = at.of_mut(similarity);
            dots.into_iter()
                .enumerate()
                .for_each(|(v, pack)| at.store(similarity, v, pack));
        }
    }
}

/// One head of [`cosines_backward`].
pub struct CosineGradient<'a, R> {
    /// k.
    pub key: &'a [R],
    /// K.
    pub similarity: &'a [R],
    /// The gradient w.r.t. K; overwritten: it holds scaled values afterwards.
    pub d_similarity: &'a mut [R],
    /// The gradient w.r.t. the key, to be set.
    pub d_key: &'a mut [R],
}

/// Backward pass of K: sets the gradients w.r.t. the keys and adds to the gradient w.r.t. the memory, in one pass over
/// the memory. `scratch` has N values.
pub fn cosines_backward<R: Real, const H: usize>(
    mut heads: [CosineGradient<'_, R>; H],
    columns: &[R],
    (norms, epsilon): (&[R], R),
    d_memory: &mut [R],
    scratch: &mut [R],
) {
    dispatch::<R, _>(CosinesBackward {
        heads: &mut heads,
        columns,
        norms,
        epsilon,
        d_memory,
        against_row: scratch,
    });
}

/// dk[m] = Σ_i along_key(i)·M(i)[m] − …·k[m] and dM(i)[m] += along_key(i)·k[m] − along_row(i)·M(i)[m],
/// where along_key(i) = dK(i) / (|k|·|M(i)|) and along_row(i) = dK(i)·K(i) / |M(i)|², summed over the
/// heads.
struct CosinesBackward<'a, 'h, R, const H: usize> {
    heads: &'a mut [CosineGradient<'h, R>; H],
    columns: &'a [R],
    norms: &'a [R],
    epsilon: R,
    d_memory: &'a mut [R],
    /// −along_row, to be set.
    against_row: &'a mut [R],
}

impl<R: Real, const H: usize> Kernel for CosinesBackward<'_, '_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.against_row.fill(R::ZERO);
        for head in &mut *self.heads {
            let key_norm = key_norm(head.key, self.epsilon);
            let along_key = quotient(
                dot(simd, head.d_similarity, head.similarity),
                key_norm * key_norm,
            );
            for (dk, &k) in head.d_key.iter_mut().zip(head.key) {
                *dk = -along_key * k;
            }
            let rows = head.d_similarity.iter_mut().zip(&mut *self.against_row);
            for ((d, against_row), (&norm, &similarity)) in
                rows.zip(self.norms.iter().zip(head.similarity))
            {
                *against_row -= quotient(*d * similarity, norm * norm);
                *d = quotient(*d, key_norm * norm);
            }
        }
        by_blocks::<R, S, 8>(simd, &mut self);
    }
}

impl<R: Real, const H: usize> Blocks for CosinesBackward<'_, '_, R, H> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.norms.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (n, zero) = (self.norms.len(), R::splat(simd, R::ZERO));
        let against_row = at.of(self.against_row);
        // Where the registers hold them, these are loaded once.
        let held_key: [[R::Pack<S>; V]; H] = filled(|h| {
            let along_key = at.of(self.heads[h].d_similarity);
            filled(|v| held(simd, at, along_key, v))
        });
        let held_row: [R::Pack<S>; V] = filled(|v| held(simd, at, against_row, v));
        let columns = self.columns.chunks_exact(n);
        let gradients = self.d_memory.chunks_exact_mut(n);
        for (m, (column, gradient)) in columns.zip(gradients).enumerate() {
            let (column, gradient) = (at.of(column), at.of_mut(gradient));
            let k: [R::Pack<S>; H] = filled(|h| R::splat(simd, self.heads[h].key[m]));
            let along_key: [&[R]; H] = filled(|h| at.of(self.heads[h].d_similarity));
            let mut sums = [zero; H];
            for v in 0..at.packs() {
                let (x, d) = (at.load(column, v), at.load(gradient, v));
                let against_row = held_pack(at, &held_row, against_row, v);
                let mut d = R::mul_add(simd, x, against_row, d);
                for h in 0..H {
                    let along_key = held_pack(at, &held_key[h], along_key[h], v);
                    sums[h] = R::mul_add(simd, x, along_key, sums[h]);
                    d = R::mul_add(simd, k[h], along_key, d);
                }
                at.store(gradient, v, d);
            }
            for (head, sum) in self.heads.iter_mut().zip(sums) {
                head.d_key[m] += R::reduce(simd, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;

    const N: usize = 37;
    const M: usize = 5;

    fn similarities<R: Real>(key: &[R], columns: &[R], epsilon: R) -> (Vec<R>, Vec<R>) {
        let (mut row_norms, mut k) = (vec![R::ZERO; N], vec![R::ZERO; N]);
        cosines([(key, &mut k[..])], columns, epsilon, &mut row_norms);
        (row_norms, k)
    }

    /// The gradients by the key and by the memory.
    fn gradients<R: Real>(
        key: &[R],
        columns: &[R],
        epsilon: R,
        upstream: &[R],
    ) -> (Vec<R>, Vec<R>) {
        let (norms, similarity) = similarities(key, columns, epsilon);
        let (mut dk, mut dm) = (vec![R::ZERO; M], vec![R::ZERO; N * M]);
        let head = CosineGradient {
            key,
            similarity: &similarity,
            d_similarity: &mut upstream.to_vec(),
            d_key: &mut dk,
        };
        let scratch = &mut [R::ZERO; N];
        cosines_backward([head], columns, (&norms, epsilon), &mut dm, scratch);
        (dk, dm)
    }

    #[test]
    fn gradients_also_at_a_zero_row() {
        for epsilon in [1e-2, 1.0] {
            let (key, upstream) = (random_vector(1, M), random_vector(3, N));
            let mut columns = random_vector(2, N * M);
            (0..M).for_each(|m| columns[m * N + 4] = 0.0);
            let loss = |key: &[f64], columns: &[f64]| {
                dot(
                    crate::math::simd::PLAIN,
                    &similarities(key, columns, epsilon).1,
                    &upstream,
                )
            };
            let (dk, dm) = gradients(&key, &columns, epsilon, &upstream);
            assert_gradient("key", &key, &dk, |key| loss(key, &columns));
            assert_gradient("memory", &columns, &dm, |columns| loss(&key, columns));
        }
    }

    #[test]
    fn several_heads_in_one_pass_are_the_same_as_one_by_one() {
        let columns = random_vector(2, N * M);
        let keys = [random_vector(1, M), random_vector(3, M)];
        let upstreams = [random_vector(4, N), random_vector(5, N)];
        let mut k = [vec![0.0; N], vec![0.0; N]];
        let mut norms = vec![0.0; N];
        let [first, second] = &mut k;
        let pairs = [
            (&keys[0][..], &mut first[..]),
            (&keys[1][..], &mut second[..]),
        ];
        cosines(pairs, &columns, 1e-3, &mut norms);
        let (mut dk, mut dm) = ([vec![0.0; M], vec![0.0; M]], vec![0.0; N * M]);
        let mut d_similarity = upstreams.clone();
        let mut parts = d_similarity.iter_mut().zip(&mut dk);
        let heads = std::array::from_fn::<_, 2, _>(|h| {
            let (d_similarity, d_key) = parts.next().unwrap();
            CosineGradient {
                key: &keys[h],
                similarity: &k[h],
                d_similarity,
                d_key,
            }
        });
        cosines_backward(heads, &columns, (&norms, 1e-3), &mut dm, &mut [0.0; N]);
        let mut wanted_dm = vec![0.0; N * M];
        for h in 0..2 {
            assert_eq!(
                similarities(&keys[h], &columns, 1e-3),
                (norms.clone(), k[h].clone())
            );
            let (wanted_dk, more) = gradients(&keys[h], &columns, 1e-3, &upstreams[h]);
            assert!(
                dk[h]
                    .iter()
                    .zip(&wanted_dk)
                    .all(|(x, y)| (x - y).abs() < 1e-12)
            );
            wanted_dm
                .iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        }
        assert!(
            dm.iter()
                .zip(&wanted_dm)
                .all(|(x, y)| (x - y).abs() < 1e-12)
        );
    }

    #[test]
    fn rows_and_keys_without_direction_are_neutral_and_finite() {
        let upstream: Vec<f32> = random_vector(7, N).iter().map(|&x| x as f32).collect();
        for epsilon in [0.0_f32, 1e-6] {
            for size in [0.0_f32, 1e-30, 1e-25, 1e-21, 1e-10] {
                for (key, columns) in [
                    ([size; M], [size; N * M]),
                    ([1.0; M], [size; N * M]),
                    ([size; M], [1.0; N * M]),
                ] {
                    let (_, k) = similarities(&key, &columns, epsilon);
                    let most = if size < 1e-20 { 1e-14 } else { 1.0 + 1e-6 };
                    assert!(k.iter().all(|k| k.abs() <= most), "{size} {epsilon} {k:?}");
                    let (dk, dm) = gradients(&key, &columns, epsilon, &upstream);
                    assert!(dk.iter().chain(&dm).all(|g| g.is_finite()));
                }
            }
        }
    }

    #[test]
    fn cosine_score_matches_golden_values() {
        let case = Case::load("score_cosine");
        let (key, columns) = (case.numbers("inputs", "q"), case.transposed("inputs", "K"));
        let (beta, n) = (case.numbers("parameters", "beta")[0], case.size("n"));
        let (mut norms, mut similarity) = (vec![0.0; n], vec![0.0; n]);
        cosines([(&key[..], &mut similarity[..])], &columns, 0.0, &mut norms);
        let times_beta = |x: &[f64]| x.iter().map(|x| beta * x).collect::<Vec<_>>();
        let d_energies = case.energies_gradient(&times_beta(&similarity));
        let d_beta = dot(crate::math::simd::PLAIN, &d_energies, &similarity);
        case.assert_close("gradients", "beta", &[d_beta]);
        let (mut d_key, mut d_memory) = (vec![0.0; key.len()], vec![0.0; columns.len()]);
        let head = CosineGradient {
            key: &key,
            similarity: &similarity,
            d_similarity: &mut times_beta(&d_energies),
            d_key: &mut d_key,
        };
        let scratch = &mut vec![0.0; n];
        cosines_backward([head], &columns, (&norms, 0.0), &mut d_memory, scratch);
        case.assert_close("gradients", "q", &d_key);
        case.assert_transposed_close("gradients", "K", &d_memory);
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
