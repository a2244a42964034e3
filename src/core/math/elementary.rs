//! Exponential, logarithm and hyperbolic tangent of packs of f32, without branches.
//!
//! The reductions to one small interval are those of the Cephes library (S. Moshier); the polynomials on
//! it are our own, shorter by a term: of their degree the smallest relative error, 0.05 units in the last
//! place for e^x and 0.1 for ln x. The tests below measure the error over the whole range, for every
//! instruction set.

use super::Pack;
use super::simd::Simd;

/// 1.5 · 2^23: adding it rounds a small f32 to an integer that stands in its lowest bits.
const ROUNDER: f32 = 12_582_912.0;
/// [`ROUNDER`] and what an f32 adds to its exponent: the lowest 8 bits are those of 2^n.
const EXPONENT_ROUNDER: f32 = ROUNDER + 127.0;
/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// The bits of sqrt(1/2).
const SQRT_HALF: u32 = 0x3F35_04F3;
/// Bits of the fraction of an f32.
const FRACTION: u32 = 0x007F_FFFF;
/// 2^23, and its bits: with a small integer in its lowest bits it is larger by that integer.
const TWO_23: f32 = 8_388_608.0;

/// e^x. At most 2 units in the last place off for −87.3 ≤ x ≤ 88.3; 0 below −87.7, infinity above 88.4.
#[inline(always)]
pub fn exp<S: Simd>(x: Pack<f32, S>) -> Pack<f32, S> {
    // At −88 the power below is 0, at 88.8 infinity.
    let (power, t) = power_and_rest(x.max(-88.0).min(88.8));
    (t + 1.0) * power
}

/// tanh x, at most 3 units in the last place off.
#[inline(always)]
pub fn tanh<S: Simd>(x: Pack<f32, S>) -> Pack<f32, S> {
    // With m = e^2x − 1 = 2^n·t + (2^n − 1), exact also near 0, it is m / (m + 2); ±1 from 10 on.
    let x = x.max(-10.0).min(10.0);
    let (power, t) = power_and_rest(x + x);
    let m = t.mul_add(power, power - 1.0);
    m / (m + 2.0)
}

/// e^x = 2^n · (1 + t) with n = round(x / ln 2), as the pair 2^n, t.
#[inline(always)]
fn power_and_rest<S: Simd>(x: Pack<f32, S>) -> (Pack<f32, S>, Pack<f32, S>) {
    let shifted = x.mul_add(std::f32::consts::LOG2_E, EXPONENT_ROUNDER);
    let n = shifted - EXPONENT_ROUNDER;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let p = polynomial(
        r,
        [
            1.381_453_9e-3,
            8.368_745e-3,
            4.166_839e-2,
            1.666_652_1e-1,
            4.999_999_4e-1,
        ],
    );
    let simd = x.simd();
    let power = simd.wrapping_dyn_shl_u32s(shifted.bits(), simd.splat_u32s(23));
    let power = Pack::from_bits(simd, power);
    (power, p.mul_add(r * r, r))
}

/// ln x for a positive normal x, at most 2 units in the last place off; −87.3 for 0 and what lies below
/// the smallest normal number, so that a logarithm of a weighting never is infinite. NaN stays NaN.
#[inline(always)]
pub fn ln<S: Simd>(x: Pack<f32, S>) -> Pack<f32, S> {
    // x = 2^e · (1 + m) with sqrt(1/2) ≤ 1 + m < sqrt(2).
    let (simd, clamped) = (x.simd(), x.max(f32::MIN_POSITIVE));
    let bits = simd.sub_u32s(clamped.bits(), simd.splat_u32s(SQRT_HALF));
    let fraction = simd.and_u32s(bits, simd.splat_u32s(FRACTION));
    let m = Pack::from_bits(simd, simd.add_u32s(fraction, simd.splat_u32s(SQRT_HALF))) - 1.0;
    let raised = simd.add_u32s(bits, simd.splat_u32s(128 << 23));
    let exponent = simd.wrapping_dyn_shr_u32s(raised, simd.splat_u32s(23));
    let e = Pack::from_bits(
        simd,
        simd.or_u32s(exponent, simd.splat_u32s(TWO_23.to_bits())),
    ) - (TWO_23 + 128.0);
    let p = polynomial(
        m,
        [
            -7.634_497e-2,
            1.276_158_2e-1,
            -1.316_018_4e-1,
            1.420_175_7e-1,
            -1.662_335_7e-1,
            2.000_122_7e-1,
            -2.500_082e-1,
            0.333_333_3,
        ],
    );
    let z = m * m;
    let tail = (p * m).mul_add(z, e * LN_2_LOW);
    let y = e.mul_add(LN_2_HIGH, m + z.mul_add(-0.5, tail));
    // 0 is added, or NaN.
    x.mul_add(0.0, y)
}

/// ln(1 + x) for 0 ≤ x ≤ 1, at most 3 units in the last place off.
#[inline(always)]
pub fn ln_1p<S: Simd>(x: Pack<f32, S>) -> Pack<f32, S> {
    let u = x + 1.0;
    // Corrects the rounding of u to first order.
    ln(u) - ((u - 1.0) - x) / u
}

/// c_0·x^k + … + c_k, the highest power first.
#[inline(always)]
fn polynomial<S: Simd, const K: usize>(x: Pack<f32, S>, coefficients: [f32; K]) -> Pack<f32, S> {
    let mut p = Pack::splat(x.simd(), coefficients[0]);
    for &c in &coefficients[1..] {
        p = p.mul_add(x, c);
    }
    p
}

impl<S: Simd> Pack<f32, S> {
    #[inline(always)]
    fn bits(self) -> S::U32s {
        self.simd().transmute_u32s_f32s(self.values())
    }

    #[inline(always)]
    fn from_bits(simd: S, bits: S::U32s) -> Self {
        Self::new(simd, simd.transmute_f32s_u32s(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::pack::map_packs;
    use crate::math::simd::{Kernel, on_every_instruction_set};

    /// A function, to be applied to every value of a slice.
    #[derive(Clone, Copy)]
    enum Function {
        Exp,
        Ln,
        Ln1p,
        Tanh,
    }
    use Function::{Exp, Ln, Ln1p, Tanh};

    #[derive(Clone, Copy)]
    struct Apply<'a>(Function, &'a [f32]);

    impl Kernel for Apply<'_> {
        type Output = Vec<f32>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
            let (mut y, x) = (vec![0.0; self.1.len()], self.1);
            match self.0 {
                Exp => map_packs!(simd, y = [x] => exp(x)),
                Ln => map_packs!(simd, y = [x] => ln(x)),
                Ln1p => map_packs!(simd, y = [x] => ln_1p(x)),
                Tanh => map_packs!(simd, y = [x] => tanh(x)),
            }
            y
        }
    }

    /// Largest error in units in the last place on any instruction set, with the place where it occurs.
    fn worst(f: Function, exact: fn(f64) -> f64, low: f32, high: f32) -> (f64, f32) {
        let samples = 2_000_000;
        let at = |i: u32| low + (high - low) * (i as f32 / samples as f32);
        let x: Vec<f32> = (0..=samples).map(at).collect();
        let mut worst = (0.0, 0.0);
        for y in on_every_instruction_set(Apply(f, &x)) {
            for (&x, &y) in x.iter().zip(&y) {
                let wanted = exact(f64::from(x));
                let rounded = (wanted as f32).abs().max(f32::MIN_POSITIVE);
                let unit = f64::from(f32::from_bits(rounded.to_bits() + 1)) - f64::from(rounded);
                let error = (f64::from(y) - wanted).abs() / unit;
                assert!(error.is_finite(), "{y} at {x}");
                if error > worst.0 {
                    worst = (error, x);
                }
            }
        }
        worst
    }

    #[test]
    fn errors_are_as_documented() {
        for (low, high) in [(-87.32, 88.36), (-1.0, 1.0), (-1e-3, 1e-3)] {
            let (error, at) = worst(Exp, f64::exp, low, high);
            assert!(error <= 2.0, "exp is {error} units off at {at}");
        }
        for (low, high) in [
            (1.2e-38, 1e-30),
            (1e-30, 1e-3),
            (1e-3, 0.9),
            (0.9, 1.1),
            (1.1, 1e6),
        ] {
            let (error, at) = worst(Ln, f64::ln, low, high);
            assert!(error <= 2.0, "ln is {error} units off at {at}");
        }
        for (low, high) in [(0.0, 1.0), (0.0, 1e-3), (0.0, 1e-7)] {
            let (error, at) = worst(Ln1p, f64::ln_1p, low, high);
            assert!(error <= 3.0, "ln_1p is {error} units off at {at}");
        }
        for (low, high) in [(-10.0, 10.0), (-1.0, 1.0), (-1e-3, 1e-3)] {
            let (error, at) = worst(Tanh, f64::tanh, low, high);
            assert!(error <= 3.0, "tanh is {error} units off at {at}");
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        let at = |f, x| {
            let everywhere = on_every_instruction_set(Apply(f, &[x]));
            let values = || everywhere.iter().map(|y| y[0]);
            assert!(values().all(|y| y == everywhere[0][0]) || values().all(f32::is_nan));
            everywhere[0][0]
        };
        assert_eq!(at(Exp, 0.0), 1.0);
        assert_eq!(at(Exp, -200.0), 0.0);
        assert_eq!(at(Exp, f32::NEG_INFINITY), 0.0);
        assert_eq!(at(Exp, 88.5), f32::INFINITY);
        assert_eq!(at(Exp, 100.0), f32::INFINITY);
        assert_eq!(at(Exp, f32::INFINITY), f32::INFINITY);
        for f in [Exp, Ln, Tanh] {
            assert!(at(f, f32::NAN).is_nan());
        }
        assert_eq!(at(Ln, 1.0), 0.0);
        assert!(at(Ln, 0.0).is_finite());
        assert_eq!(
            (at(Tanh, 100.0), at(Tanh, -100.0), at(Tanh, 0.0)),
            (1.0, -1.0, 0.0)
        );
        assert_eq!(at(Tanh, f32::NEG_INFINITY), -1.0);
    }
}
