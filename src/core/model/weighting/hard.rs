//! Hard attention (Xu et al. 2015, §4.1): one row, sampled from the distribution α that the stages of a head compute,
//! and its score-function gradient. α has one value per row.

use super::{Stages, WeightingFunction};
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::simd::Simd;
use crate::math::{Pack, Real};
use crate::model::array;
use crate::model::machine::Terms;
use crate::model::slots::Arrays;
use crate::model::spec::{Array, ArraySpec, Range};
use crate::model::stage::Stage;
use crate::model::trace::{HeadTrace, NoiseMode};

/// The first row whose sum of α up to itself exceeds `u` of the whole sum, `u` in (0, 1): never a row of weight 0.
#[inline(always)]
pub fn drawn<R: Real>(distribution: &[R], u: R) -> usize {
    let total: f64 = distribution.iter().map(|a| a.to_f64()).sum();
    let (wanted, mut sum, mut last) = (u.to_f64() * total, 0.0, 0);
    for (row, a) in distribution.iter().enumerate() {
        sum += a.to_f64();
        if sum > wanted {
            return row;
        }
        if *a > R::ZERO {
            last = row;
        }
    }
    last
}

/// The row of the largest weight, the first of equals.
#[inline(always)]
pub fn most_likely<R: Real>(distribution: &[R]) -> usize {
    let mut most = 0;
    for (row, a) in distribution.iter().enumerate() {
        if *a > distribution[most] {
            most = row;
        }
    }
    most
}

/// Computes the gradient of −`reward`·ln α(row) − `entropy_weight`·H(α) with respect to α.
///
/// Where a `row` was sampled it replaces `gradient`, because no other gradient passes through the sampled row. Where
/// the head used α itself it is added to `gradient`, without the first term.
#[inline(always)]
pub fn backward<R: Real, S: Simd>(
    simd: S,
    distribution: &[R],
    row: Option<usize>,
    reward: R,
    entropy_weight: R,
    gradient: &mut [R],
) {
    if row.is_some() {
        gradient.fill(R::ZERO);
    }
    each_pack!(simd, at in distribution => {
        let d_entropy = logarithm(at.load(distribution)) + R::ONE;
        let sum = d_entropy.mul_add(entropy_weight, at.load(gradient));
        at.store(gradient, sum);
    });
    if let Some(row) = row {
        gradient[row] -= reward / distribution[row].max(least());
    }
}

/// ln α; a weight of no account counts as [`least`], so that 0·ln 0 is 0.
#[inline(always)]
fn logarithm<R: Real, S: Simd>(a: Pack<R, S>) -> Pack<R, S> {
    a.max(least::<R>()).ln()
}

/// The smallest weight: negligible, but large enough that a reward divided by it is finite.
#[inline(always)]
fn least<R: Real>() -> R {
    R::TINY / R::EPSILON
}

/// The moving baseline of log p(y|s): b_k = 0.9·b_(k−1) + 0.1·log p(y|s_k). The reward of episode k is
/// log p(y|s_k) − b_(k−1).
pub fn baseline(before: f64, log_p: f64) -> f64 {
    0.9 * before + 0.1 * log_p
}

/// Returns the baseline of log p(y|s): its mean over other samples of the same input, or without one the moving baseline.
pub fn baseline_of(others: impl Iterator<Item = f64>, moving: f64) -> f64 {
    let (count, sum) = others.fold((0, 0.0), |(count, sum), other| (count + 1, sum + other));
    match count {
        0 => moving,
        count => sum / f64::from(count),
    }
}

/// Uniform noise, [T, 1].
#[rustfmt::skip] // A row for every array.
pub const DRAW: Array = &ArraySpec::new("draw", &["t"], "u", Range::Uniform, "sampled from the stream of seed, episode and sample");

/// The form of a head that samples one row.
pub(super) struct Hard;

impl Arrays for Hard {
    fn arrays(&self) -> &'static [Array] {
        &[DRAW]
    }
}

impl Stages for Hard {
    fn stage(&self, stage: Stage) -> Option<(Array, &'static [Array])> {
        (stage == Stage::Draw).then_some((array::WEIGHTING, &[array::DISTRIBUTION, DRAW]))
    }

    fn is_sampled(&self) -> bool {
        true
    }
}

impl<R: Real> WeightingFunction<R> for Hard {
    /// Sets the weighting: all weight on one row, or in expected mode the distribution itself.
    fn draw(&self, head: &mut HeadTrace<R>, t: usize, sampling: NoiseMode) {
        let [noise] = head.of_weighting.all();
        let (alpha, w) = (head.distribution.row(t), head.weighting.row_mut(t));
        let row = match sampling {
            NoiseMode::Expected => return w.copy_from_slice(alpha),
            NoiseMode::Sampled => drawn(alpha, noise[t]),
            NoiseMode::Mean => most_likely(alpha),
        };
        w.fill(R::ZERO);
        w[row] = R::ONE;
    }

    /// Only the sampling terms pass through a sampled row, unless the estimator is straight-through.
    fn draw_backward(
        &self,
        head: &HeadTrace<R>,
        t: usize,
        sampling: NoiseMode,
        terms: &Terms<R>,
        gradient: &mut [R],
    ) {
        let (row, reward) = match sampling {
            NoiseMode::Expected => (None, R::ZERO),
            NoiseMode::Sampled if terms.straight_through => (None, R::ZERO),
            NoiseMode::Sampled => (Some(most_likely(head.weighting.row(t))), terms.reward),
            NoiseMode::Mean => (Some(0), R::ZERO),
        };
        backward_of(
            head.distribution.row(t),
            row,
            reward,
            terms.entropy,
            gradient,
        );
    }
}

kernel! {
    /// [`backward`].
    fn backward_of<'a, R>(
        simd; alpha: &'a [R], row: Option<usize>, reward: R, entropy: R, gradient: &'a mut [R],
    ) {
        backward(simd, alpha, row, reward, entropy, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::{Kernel, PLAIN as SIMD, on_every_instruction_set};
    use crate::math::softmax::{dot, softmax, softmax_backward};

    fn distribution(seed: u64, n: usize) -> Vec<f64> {
        let mut p = vec![0.0; n];
        softmax(SIMD, 3.0, &random_vector(seed, n), &mut p);
        p
    }

    /// ln α(row).
    #[inline(always)]
    fn log_probability<R: Real, S: Simd>(simd: S, distribution: &[R], row: usize) -> R {
        logarithm(Pack::splat(simd, distribution[row])).first()
    }

    /// H(α) = −Σ α·ln α, in nats.
    #[inline(always)]
    fn entropy<R: Real, S: Simd>(simd: S, distribution: &[R]) -> R {
        let mut sum = Pack::splat(simd, R::ZERO);
        each_pack!(simd, at in distribution => {
            let a = at.load(distribution);
            sum += at.new_or(a * logarithm(a), R::ZERO);
        });
        -sum.sum()
    }

    #[test]
    fn rows_are_drawn_as_often_as_their_weight_says() {
        let grid = 20_011;
        for n in [1, 5, 70, 128] {
            let mut a: Vec<f32> = distribution(n as u64, n)
                .iter()
                .map(|a| *a as f32)
                .collect();
            for i in (0..n).filter(|i| i % 4 == 2) {
                a[i] = 0.0;
            }
            let total: f64 = a.iter().map(|a| f64::from(*a)).sum();
            let mut counts = vec![0; n];
            for i in 0..grid {
                counts[drawn(&a, ((f64::from(i) + 0.5) / f64::from(grid)) as f32)] += 1;
            }
            for (a, count) in a.iter().zip(counts) {
                let off = f64::from(count) - f64::from(*a) / total * f64::from(grid);
                assert!(off.abs() <= 1.0, "{count} times a row of weight {a}");
                assert!(*a > 0.0 || count == 0);
            }
        }
    }

    #[test]
    fn the_ends_draw_a_row_that_has_weight() {
        let ends = [0.0, 0.5_f32 / 8_388_608.0, 1.0 - 0.5 / 8_388_608.0, 1.0];
        for (a, rows) in [
            (vec![1.0], [0, 0, 0, 0]),
            (vec![0.0, 0.3, 0.0, 0.7, 0.0], [1, 1, 3, 3]),
            (vec![0.0, 0.0, 1e-40], [2, 2, 2, 2]),
            (vec![0.0, 0.9, 0.05], [1, 1, 2, 2]),
            (vec![0.4, 0.9, 1e-12], [0, 0, 1, 2]),
            (vec![0.0; 3], [0, 0, 0, 0]),
            (vec![f32::NAN; 3], [0, 0, 0, 0]),
        ] {
            assert_eq!(ends.map(|u| drawn(&a, u)), rows, "{a:?}");
        }
    }

    #[test]
    fn the_first_of_the_largest_is_most_likely() {
        assert_eq!(most_likely(&[0.2, 0.4, 0.4, 0.0]), 1);
        assert_eq!(most_likely(&[0.25_f32; 4]), 0);
    }

    #[test]
    fn entropy_of_one_row_is_0_and_of_n_equal_rows_ln_n() {
        for n in [1, 4, 33] {
            let mut a = vec![0.0_f64; n];
            a[n / 2] = 1.0;
            assert_eq!(entropy(SIMD, &a), 0.0);
            let off = entropy(SIMD, &vec![1.0 / n as f64; n]) - (n as f64).ln();
            assert!(off.abs() < 1e-14, "{off}");
        }
    }

    /// The gradient w.r.t. the scores of which α is the softmax.
    fn softmax_gradient(a: &[f64], d_a: &[f64]) -> Vec<f64> {
        let mut softmax_gradient = vec![0.0; a.len()];
        softmax_backward(SIMD, a, d_a, &mut softmax_gradient);
        softmax_gradient
    }

    fn softmax_of(energies: &[f64]) -> Vec<f64> {
        let mut a = vec![0.0; energies.len()];
        softmax(SIMD, 1.0, energies, &mut a);
        a
    }

    #[test]
    fn gradients() {
        for n in [1, 5, 70] {
            let energies: Vec<f64> = random_vector(1, n).iter().map(|e| 3.0 * e).collect();
            let (a, row, reward, weight) = (softmax_of(&energies), n / 3, -1.3, 0.2);
            let upstream = random_vector(2, n);
            let mut gradient = upstream.clone();
            backward(SIMD, &a, Some(row), reward, weight, &mut gradient);
            assert_gradient(
                "drawn",
                &energies,
                &softmax_gradient(&a, &gradient),
                |energies| {
                    let a = &softmax_of(energies);
                    -reward * log_probability(SIMD, a, row) - weight * entropy(SIMD, a)
                },
            );
            gradient.copy_from_slice(&upstream);
            backward(SIMD, &a, None, reward, weight, &mut gradient);
            assert_gradient(
                "expected",
                &energies,
                &softmax_gradient(&a, &gradient),
                |energies| {
                    let a = &softmax_of(energies);
                    dot(SIMD, a, &upstream) - weight * entropy(SIMD, a)
                },
            );
        }
    }

    /// The surrogate loss of an episode: the terms that sampled rows add to the loss of the outputs.
    fn assert_golden(name: &str, log_p: f64, reward: f64) {
        let case = Case::load(name);
        let reward = case.constant("lambda_r") * (reward - case.constant("baseline"));
        let weight = case.constant("lambda_e");
        let energies = case.numbers("inputs", "energies");
        let (mut alpha, mut d_energies) = (vec![], vec![]);
        let (mut log_p_s, mut entropies) = (0.0, 0.0);
        for (energies, s) in energies
            .chunks(case.size("n"))
            .zip(case.indices("noise", "s"))
        {
            let a = softmax_of(energies);
            log_p_s += log_probability(SIMD, &a, s);
            entropies += entropy(SIMD, &a);
            let mut gradient = random_vector(1, a.len());
            backward(SIMD, &a, Some(s), reward, weight, &mut gradient);
            d_energies.extend(softmax_gradient(&a, &gradient));
            alpha.extend(a);
        }
        case.assert_close("outputs", "alpha", &alpha);
        case.assert_close("outputs", "log_p_s", &[log_p_s]);
        case.assert_close("outputs", "entropy", &[entropies]);
        let loss = -log_p - reward * log_p_s - weight * entropies;
        case.assert_close("outputs", "loss", &[loss]);
        case.assert_close("gradients", "energies", &d_energies);
    }

    #[test]
    fn golden_values() {
        let case = Case::load("hard");
        let log_p = case.constant("log_p");
        assert_golden("hard", log_p, log_p);
        let reward = Case::load("hard_episode").constant("reward");
        assert_golden("hard_episode", reward, reward);

        let (mut b, mut baselines, mut advantages) = (case.constant("b_0"), vec![], vec![]);
        for log_p in case.constants("rewards") {
            advantages.push(log_p - b);
            b = baseline(b, log_p);
            baselines.push(b);
        }
        case.assert_close("outputs", "baselines", &baselines);
        case.assert_close("outputs", "advantages", &advantages);
    }

    #[test]
    fn other_samples_replace_the_moving_baseline() {
        assert_eq!(baseline_of(std::iter::empty(), -5.0), -5.0);
        assert_eq!(baseline_of([-1.0, -2.0].into_iter(), -5.0), -1.5);
        // The advantages of all samples of an input sum to zero.
        let all = [-3.0, -1.0, -2.5];
        let of = |at: usize| {
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            all[at] - baseline_of(others.map(|(_, log_p)| *log_p), 7.0)
        };
        assert!((of(0) + of(1) + of(2)).abs() < 1e-12);
    }

    /// Logarithm, entropy and gradient.
    #[derive(Clone, Copy)]
    struct All<'a>(&'a [f32], f32);

    impl Kernel for All<'_> {
        type Output = Vec<f32>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
            let (row, mut all) = (self.0.len() / 2, vec![0.0; self.0.len()]);
            backward(simd, self.0, Some(row), self.1, 0.05, &mut all);
            all.extend([log_probability(simd, self.0, row), entropy(simd, self.0)]);
            all
        }
    }

    #[test]
    fn every_instruction_set_agrees_and_nothing_is_infinite_in_f32() {
        for n in 1..=70 {
            let usual: Vec<f32> = distribution(3, n).iter().map(|a| *a as f32).collect();
            for least in [0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1e-30, 1.0] {
                let mut a = usual.clone();
                a[n / 2] = least;
                for reward in [-1e6, -3.0, 1e6] {
                    let everywhere = on_every_instruction_set(All(&a, reward));
                    assert!(everywhere.iter().all(|other| *other == everywhere[0]));
                    assert!(
                        everywhere[0].iter().all(|x| x.is_finite()),
                        "{least}, {reward}"
                    );
                }
            }
        }
    }
}
