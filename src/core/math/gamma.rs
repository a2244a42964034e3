//! The logarithm of the gamma function and its derivative, of positive numbers, without branches.
//!
//! Stirling's series (Abramowitz and Stegun, 6.1.40 and 6.3.18) at z = x + k, and back to x by
//! Γ(x + 1) = x·Γ(x): k and the terms are as many as the number type can use.

use super::simd::Simd;
use super::{Pack, Real};

/// B_2i / (2i·(2i − 1)), i = 1, 2, …: ln Γ(z) is (z − ½)·ln z − z + ½·ln 2π and these by z^(2i − 1).
const LN_GAMMA: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];
/// −B_2i / 2i, i = 1, 2, …: the digamma function of z is ln z − 1/2z and these by z^2i.
const DIGAMMA: [f64; 8] = [
    -1.0 / 12.0,
    1.0 / 120.0,
    -1.0 / 252.0,
    1.0 / 240.0,
    -1.0 / 132.0,
    691.0 / 32_760.0,
    -1.0 / 12.0,
    3617.0 / 8160.0,
];
/// ½·ln 2π.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_7;

/// k, and how many terms of the series count from k on: the next is below a tenth of a unit in the last place of 1
/// in f64, below half of one in f32.
#[inline(always)]
fn steps_and_terms<R: Real>() -> (usize, usize) {
    if R::EPSILON.to_f64() < 1e-10 {
        (8, 8)
    } else {
        (4, 4)
    }
}

/// ln Γ(x) for positive normal x, in f32 up to 10^9. Off by at most 1e-14 in f64 and 1e-6 in f32, of |ln Γ(x)| where
/// that is above 1.
#[inline(always)]
pub fn ln_gamma<R: Real, S: Simd>(x: Pack<R, S>) -> Pack<R, S> {
    let (steps, terms) = steps_and_terms::<R>();
    let mut product = x;
    for i in 1..steps {
        product = product * (x + R::from_f64(i as f64));
    }
    let z = x + R::from_f64(steps as f64);
    let series = series(z, &LN_GAMMA[..terms]) / z - z + R::from_f64(HALF_LN_2_PI);
    (z - R::from_f64(0.5)).mul_add(z.ln(), series) - product.ln()
}

/// The digamma function, the derivative of ln Γ(x), for positive normal x; as exact as [`ln_gamma`].
#[inline(always)]
pub fn digamma<R: Real, S: Simd>(x: Pack<R, S>) -> Pack<R, S> {
    let (steps, terms) = steps_and_terms::<R>();
    let one = Pack::splat(x.simd(), R::ONE);
    let mut sum = one / x;
    for i in 1..steps {
        sum += one / (x + R::from_f64(i as f64));
    }
    let z = x + R::from_f64(steps as f64);
    let inverse_z = one / z;
    let series = series(z, &DIGAMMA[..terms]) * inverse_z * inverse_z;
    z.ln() + inverse_z.mul_add(R::from_f64(-0.5), series) - sum
}

/// c_0 + c_1·z^−2 + c_2·z^−4 + …
#[inline(always)]
fn series<R: Real, S: Simd>(z: Pack<R, S>, coefficients: &[f64]) -> Pack<R, S> {
    let inverse_z = Pack::splat(z.simd(), R::ONE) / z;
    let y = inverse_z * inverse_z;
    let mut sum = Pack::splat(z.simd(), R::ZERO);
    for &c in coefficients.iter().rev() {
        sum = sum.mul_add(y, R::from_f64(c));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::assert_gradient;
    use crate::math::simd::{Kernel, PLAIN as SIMD, on_every_instruction_set};

    /// x, ln Γ(x), digamma(x), by mpmath with 30 digits.
    const KNOWN: [(f64, f64, f64); 14] = [
        (0.001, 6.907_178_885_383_853, -1_000.575_571_931_810_3),
        (0.007_812_5, 4.847_570_775_881_665, -128.564_437_472_976_72),
        (0.1, 2.252_712_651_734_206, -10.423_754_940_411_076),
        (0.25, 1.288_022_524_698_077_4, -4.227_453_533_376_265_5),
        (0.5, 0.572_364_942_924_700_1, -1.963_510_026_021_423_5),
        (0.9, 0.066_376_239_734_742_95, -0.754_926_949_947_051_3),
        (1.5, -0.120_782_237_635_245_22, 0.036_489_973_978_576_52),
        (2.5, 0.284_682_870_472_919_2, 0.703_156_640_645_243_2),
        (3.7, 1.428_072_326_665_388, 1.167_153_539_361_511_3),
        (7.25, 7.052_185_450_738_539_5, 1.910_453_526_883_736),
        (10.0, 12.801_827_480_081_47, 2.251_752_589_066_721),
        (33.3, 82.603_723_581_654_95, 3.490_467_238_520_243),
        (250.0, 1_128.523_770_872_990_8, 5.519_459_584_531_046),
        (10_000.0, 82_099.717_496_442_38, 9.210_290_371_142_849),
    ];

    /// Both functions of every value.
    #[derive(Clone, Copy)]
    struct Both<'a, R>(&'a [R]);

    impl<R: Real> Kernel for Both<'_, R> {
        type Output = Vec<(R, R)>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let both = |&x: &R| {
                let x = Pack::splat(simd, x);
                (ln_gamma(x).first(), digamma(x).first())
            };
            self.0.iter().map(both).collect()
        }
    }

    fn assert_known<R: Real>(tolerance: f64) {
        let x = KNOWN.map(|(x, ..)| R::from_f64(x));
        let everywhere = on_every_instruction_set(Both(&x));
        assert!(everywhere.iter().all(|values| *values == everywhere[0]));
        for (&(x, ln_gamma, digamma), found) in KNOWN.iter().zip(&everywhere[0]) {
            let off = (found.0.to_f64() - ln_gamma).abs() / ln_gamma.abs().max(1.0);
            assert!(off < tolerance, "ln Γ({x}) is {}, {off} off", found.0);
            let off = (found.1.to_f64() - digamma).abs() / digamma.abs().max(1.0);
            assert!(off < tolerance, "digamma({x}) is {}, {off} off", found.1);
        }
    }

    #[test]
    fn known_values() {
        assert_known::<f64>(1e-14);
        assert_known::<f32>(1e-6);
    }

    #[test]
    fn digamma_is_the_derivative_of_ln_gamma() {
        for (x, ..) in KNOWN.into_iter().filter(|(x, ..)| *x > 0.05) {
            let of = |x: f64| Pack::splat(SIMD, x);
            let gradient = digamma(of(x)).first();
            assert_gradient("x", &[x], &[gradient], |x| ln_gamma(of(x[0])).first());
        }
    }

    #[test]
    fn the_ends_of_the_range_are_finite_in_f32() {
        for (ln_gamma, digamma) in
            on_every_instruction_set(Both(&[f32::MIN_POSITIVE, 1e9])).concat()
        {
            assert!(
                ln_gamma.is_finite() && digamma.is_finite(),
                "{ln_gamma}, {digamma}"
            );
        }
    }
}
