//! Exponential, logarithm and hyperbolic tangent of an f32, without branches, so that a loop over them
//! becomes vector code.
//!
//! Coefficients are those of the Cephes library (S. Moshier), which fits each function on one small
//! interval; the tests below measure the error over the whole range.

/// 1.5 · 2^23: adding it rounds a small f32 to an integer that stands in its lowest bits.
const ROUNDER: f32 = 12_582_912.0;
/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// The bits of sqrt(1/2).
const SQRT_HALF: u32 = 0x3F35_04F3;

/// e^x. At most 2 units in the last place off for −87.3 ≤ x ≤ 88.3; 0 below that, infinity above.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // e^x = 2^n · e^r with n = round(x / ln 2) and |r| ≤ ln 2 / 2.
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    for c in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ] {
        p = p * r + c;
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let y = (p * r * r + r + 1.0) * power;
    let y = if x < -87.33 { 0.0 } else { y };
    let y = if x > 88.37 { f32::INFINITY } else { y };
    if x.is_nan() { x } else { y }
}

/// ln x for a positive normal x, at most 2 units in the last place off; −87.3 for 0 and what lies below
/// the smallest normal number, so that a logarithm of a weighting never is infinite. NaN stays NaN.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let clamped = if x < f32::MIN_POSITIVE {
        f32::MIN_POSITIVE
    } else {
        x
    };
    // x = 2^e · m with sqrt(1/2) ≤ m < sqrt(2).
    let bits = clamped.to_bits().wrapping_sub(SQRT_HALF);
    let e = (bits.cast_signed() >> 23) as f32;
    let m = f32::from_bits((bits & 0x007F_FFFF).wrapping_add(SQRT_HALF)) - 1.0;
    let z = m * m;
    let mut p = 7.037_683_6e-2;
    for c in [
        -1.151_461e-1,
        1.167_699_9e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_5e-1,
        -2.499_999_4e-1,
        0.333_333_3,
    ] {
        p = p * m + c;
    }
    let y = m + (p * m * z + e * LN_2_LOW - 0.5 * z) + e * LN_2_HIGH;
    if x.is_nan() { x } else { y }
}

/// ln(1 + x) for 0 ≤ x ≤ 1, at most 3 units in the last place off.
#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let u = 1.0 + x;
    // What rounding took from u is given back, to first order.
    ln(u) - ((u - 1.0) - x) / u
}

/// tanh x, at most 3 units in the last place off.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let magnitude = x.abs();
    let z = x * x;
    let mut p = -5.704_988_7e-3;
    for c in [
        2.063_908_8e-2,
        -5.373_971_6e-2,
        1.333_144_2e-1,
        -0.333_332_8,
    ] {
        p = p * z + c;
    }
    let near = p * z * x + x;
    let far = (1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0)).copysign(x);
    if magnitude < 0.625 { near } else { far }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error in units in the last place, with the place where it occurs.
    fn worst(f: fn(f32) -> f32, exact: fn(f64) -> f64, low: f32, high: f32) -> (f64, f32) {
        let samples = 2_000_000;
        let at = |i: u32| low + (high - low) * (i as f32 / samples as f32);
        (0..=samples).map(at).fold((0.0, 0.0), |worst, x| {
            let wanted = exact(f64::from(x));
            let rounded = (wanted as f32).abs().max(f32::MIN_POSITIVE);
            let unit = f64::from(f32::from_bits(rounded.to_bits() + 1)) - f64::from(rounded);
            let error = (f64::from(f(x)) - wanted).abs() / unit;
            if error > worst.0 { (error, x) } else { worst }
        })
    }

    #[test]
    fn errors_are_as_documented() {
        for (low, high) in [(-87.32, 88.36), (-1.0, 1.0), (-1e-3, 1e-3)] {
            let (error, at) = worst(exp, f64::exp, low, high);
            assert!(error <= 2.0, "exp is {error} units off at {at}");
        }
        for (low, high) in [
            (1.2e-38, 1e-30),
            (1e-30, 1e-3),
            (1e-3, 0.9),
            (0.9, 1.1),
            (1.1, 1e6),
        ] {
            let (error, at) = worst(ln, f64::ln, low, high);
            assert!(error <= 2.0, "ln is {error} units off at {at}");
        }
        for (low, high) in [(0.0, 1.0), (0.0, 1e-3), (0.0, 1e-7)] {
            let (error, at) = worst(ln_1p, f64::ln_1p, low, high);
            assert!(error <= 3.0, "ln_1p is {error} units off at {at}");
        }
        for (low, high) in [(-10.0, 10.0), (-1.0, 1.0), (-1e-3, 1e-3)] {
            let (error, at) = worst(tanh, f64::tanh, low, high);
            assert!(error <= 3.0, "tanh is {error} units off at {at}");
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-200.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(100.0), f32::INFINITY);
        assert!(exp(f32::NAN).is_nan() && ln(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
        assert_eq!(ln(1.0), 0.0);
        assert!(ln(0.0).is_finite());
        assert_eq!((tanh(100.0), tanh(-100.0), tanh(0.0)), (1.0, -1.0, 0.0));
    }
}
