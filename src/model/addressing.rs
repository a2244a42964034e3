//! From what a head emits to where it attends (paper §3.3, Figure 2): content, interpolation, shift,
//! sharpening, in the order of the equations; each derivative stands under its equation.
//!
//! Everything here has one value per memory row. A weighting is a distribution over rows; indices are
//! modulo N.

use crate::math::Real;
use crate::math::simd::Simd;
use crate::math::softmax::{dot, largest, normalize, softmax, softmax_backward};

/// Equation 5: w^c = softmax(β·K), K being the cosine similarity of equation 6.
#[inline(always)]
pub fn content<R: Real, S: Simd>(simd: S, beta: R, similarity: &[R], w_c: &mut [R]) {
    softmax(simd, beta, similarity, w_c);
}

/// Turns the gradient by w^c into the gradient by K, in place; returns the gradient by β.
#[inline(always)]
pub fn content_backward<R: Real, S: Simd>(
    simd: S,
    beta: R,
    similarity: &[R],
    w_c: &[R],
    gradient: &mut [R],
    scratch: &mut [R],
) -> R {
    softmax_backward(simd, w_c, gradient, scratch);
    let d_beta = dot(simd, scratch, similarity);
    for (gradient, &dz) in gradient.iter_mut().zip(&*scratch) {
        *gradient = beta * dz;
    }
    d_beta
}

/// Equation 7: w^g = g·w^c + (1 − g)·w_{t−1}.
#[inline(always)]
pub fn interpolate<R: Real>(g: R, w_c: &[R], w_previous: &[R], w_g: &mut [R]) {
    for (w_g, (&w_c, &w)) in w_g.iter_mut().zip(w_c.iter().zip(w_previous)) {
        *w_g = g * w_c + (R::ONE - g) * w;
    }
}

/// Turns the gradient by w^g into the gradient by w^c, in place; sets the gradient by w_{t−1}; returns
/// the gradient by g.
#[inline(always)]
pub fn interpolate_backward<R: Real, S: Simd>(
    simd: S,
    g: R,
    w_c: &[R],
    w_previous: &[R],
    gradient: &mut [R],
    previous_gradient: &mut [R],
) -> R {
    let d_g = dot(simd, gradient, w_c) - dot(simd, gradient, w_previous);
    for (gradient, previous) in gradient.iter_mut().zip(previous_gradient) {
        *previous = (R::ONE - g) * *gradient;
        *gradient *= g;
    }
    d_g
}

/// Equation 8: w̃(i) = Σ_j s(j)·w^g(i − j) over the offsets j = −k ..= k; `s[j + k]` is s(j).
#[inline(always)]
pub fn shift<R: Real>(s: &[R], w_g: &[R], w_s: &mut [R]) {
    w_s.fill(R::ZERO);
    let n = w_g.len();
    for (index, &weight) in s.iter().enumerate() {
        let by = rows_moved(index, s.len(), n);
        let (wrapped, moved) = w_s.split_at_mut(by);
        let (stay, wrap) = w_g.split_at(n - by);
        moved
            .iter_mut()
            .zip(stay)
            .for_each(|(to, &from)| *to += weight * from);
        wrapped
            .iter_mut()
            .zip(wrap)
            .for_each(|(to, &from)| *to += weight * from);
    }
}

/// From the gradient by w̃: sets the gradients by w^g and by s.
#[inline(always)]
pub fn shift_backward<R: Real, S: Simd>(
    simd: S,
    s: &[R],
    w_g: &[R],
    gradient: &[R],
    w_g_gradient: &mut [R],
    s_gradient: &mut [R],
) {
    w_g_gradient.fill(R::ZERO);
    let n = w_g.len();
    for (index, (&weight, s_gradient)) in s.iter().zip(s_gradient).enumerate() {
        let by = rows_moved(index, s.len(), n);
        let (wrapped, moved) = gradient.split_at(by);
        let (stay, wrap) = w_g.split_at(n - by);
        *s_gradient = dot(simd, moved, stay) + dot(simd, wrapped, wrap);
        let (stay, wrap) = w_g_gradient.split_at_mut(n - by);
        stay.iter_mut()
            .zip(moved)
            .for_each(|(to, &from)| *to += weight * from);
        wrap.iter_mut()
            .zip(wrapped)
            .for_each(|(to, &from)| *to += weight * from);
    }
}

/// How many rows, 0 .. N, the offset at `index` moves the focus forward.
#[inline(always)]
fn rows_moved(index: usize, offsets: usize, n: usize) -> usize {
    let range = offsets / 2;
    if index >= range {
        (index - range) % n
    } else {
        n - (range - index) % n
    }
}

/// Equation 9: w(i) = w̃(i)^γ / Σ_j w̃(j)^γ, through logarithms: e^(γ·(ln w̃(i) − max ln w̃)).
///
/// A row below the smallest normal number counts as that number, so neither logarithm nor gradient is
/// infinite.
#[inline(always)]
pub fn sharpen<R: Real, S: Simd>(simd: S, gamma: R, w_s: &[R], w: &mut [R]) {
    let most = largest(simd, w_s).max(R::TINY).ln();
    for (w, &w_s) in w.iter_mut().zip(w_s) {
        *w = (gamma * (w_s.max(R::TINY).ln() - most)).exp();
    }
    normalize(simd, w);
}

/// From the gradient by w: sets the gradient by w̃; returns the gradient by γ.
///
/// dw̃(i) = γ·(w(i)/w̃(i))·(dw(i) − Σ_j w(j)·dw(j)), where w/w̃ = w̃^(γ−1)/Σ stays finite at w̃ = 0.
#[inline(always)]
pub fn sharpen_backward<R: Real, S: Simd>(
    simd: S,
    gamma: R,
    w_s: &[R],
    w: &[R],
    gradient: &[R],
    w_s_gradient: &mut [R],
    scratch: &mut [R],
) -> R {
    let mean = dot(simd, w, gradient);
    // First w(i)·(dw(i) − mean) stands in for the result: dγ is its product with the logarithms.
    for (centred, (&w, &gradient)) in w_s_gradient.iter_mut().zip(w.iter().zip(gradient)) {
        *centred = w * (gradient - mean);
    }
    for (log, &w_s) in scratch.iter_mut().zip(w_s) {
        *log = w_s.max(R::TINY).ln();
    }
    let d_gamma = dot(simd, w_s_gradient, scratch);
    for (result, &w_s) in w_s_gradient.iter_mut().zip(w_s) {
        *result = gamma * *result / w_s.max(R::TINY);
    }
    d_gamma
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use pulp::Scalar;

    const SIMD: Scalar = Scalar;

    /// A random distribution over `n` rows.
    fn distribution(seed: u64, n: usize) -> Vec<f64> {
        let mut p = vec![0.0; n];
        softmax(SIMD, 2.0, &random_vector(seed, n), &mut p);
        p
    }

    #[test]
    fn shift_moves_the_focus_and_wraps() {
        let mut w_s = [0.0; 5];
        shift(&[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0], &mut w_s);
        assert_eq!(w_s, [0.0, 0.0, 0.0, 0.0, 1.0], "+1 moves row 3 to row 4");
        shift(&[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 0.0, 1.0], &mut w_s);
        assert_eq!(
            w_s,
            [1.0, 0.0, 0.0, 0.0, 0.0],
            "the last row moves to row 0"
        );
        shift(&[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0], &mut w_s);
        assert_eq!(
            w_s,
            [0.0, 0.0, 0.0, 0.0, 1.0],
            "row 0 moves back to the last row"
        );
        shift(
            &[1.0, 0.0, 0.0, 0.0, 0.0],
            &[1.0, 0.0, 0.0, 0.0, 0.0],
            &mut w_s,
        );
        assert_eq!(w_s, [0.0, 0.0, 0.0, 1.0, 0.0], "−2");
    }

    #[test]
    fn sharpening_by_one_changes_nothing_and_zeros_stay_harmless() {
        let w_s = [0.5, 0.25, 0.25, 0.0];
        let (mut w, mut gradient) = ([0.0; 4], [0.0; 4]);
        sharpen(SIMD, 1.0, &w_s, &mut w);
        assert!(
            w.iter()
                .zip(&w_s)
                .all(|(w, w_s): (&f64, _)| (w - w_s).abs() < 1e-12)
        );
        sharpen(SIMD, 50.0, &w_s, &mut w);
        assert!(w[0] > 1.0 - 1e-12);
        let d_gamma = sharpen_backward(
            SIMD,
            50.0,
            &w_s,
            &w,
            &[0.3, -0.7, 0.1, 0.9],
            &mut gradient,
            &mut [0.0; 4],
        );
        assert!(d_gamma.is_finite() && gradient.iter().all(|g| g.is_finite()));
        sharpen(SIMD, 3.0, &[0.0; 4], &mut w);
        assert!(
            w.iter().all(|&w| (w - 0.25).abs() < 1e-12),
            "all zero becomes uniform, not NaN"
        );
    }

    #[test]
    fn gradients() {
        for (n, range) in [(1, 0), (5, 1), (6, 2), (67, 3)] {
            let upstream = random_vector(9, n);
            let loss = |w: &[f64]| dot(SIMD, w, &upstream);
            let mut out = vec![0.0; n];
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);

            let (beta, k) = (1.3, random_vector(1, n));
            let content_loss = |beta: f64, k: &[f64]| {
                let mut out = vec![0.0; n];
                content(SIMD, beta, k, &mut out);
                loss(&out)
            };
            content(SIMD, beta, &k, &mut out);
            a.copy_from_slice(&upstream);
            let d_beta = content_backward(SIMD, beta, &k, &out, &mut a, &mut b);
            assert_gradient("beta", &[beta], &[d_beta], |x| content_loss(x[0], &k));
            assert_gradient("K", &k, &a, |k| content_loss(beta, k));

            let (g, w_c, w_previous) = (0.3, distribution(2, n), distribution(3, n));
            let gate_loss = |g: f64, w_c: &[f64], w_previous: &[f64]| {
                let mut out = vec![0.0; n];
                interpolate(g, w_c, w_previous, &mut out);
                loss(&out)
            };
            a.copy_from_slice(&upstream);
            let d_g = interpolate_backward(SIMD, g, &w_c, &w_previous, &mut a, &mut b);
            assert_gradient("g", &[g], &[d_g], |x| gate_loss(x[0], &w_c, &w_previous));
            assert_gradient("w_c", &w_c, &a, |w_c| gate_loss(g, w_c, &w_previous));
            assert_gradient("w previous", &w_previous, &b, |w| gate_loss(g, &w_c, w));

            let (s, w_g) = (distribution(4, 2 * range + 1), distribution(5, n));
            let shift_loss = |s: &[f64], w_g: &[f64]| {
                let mut out = vec![0.0; n];
                shift(s, w_g, &mut out);
                loss(&out)
            };
            let mut d_s = vec![0.0; s.len()];
            shift_backward(SIMD, &s, &w_g, &upstream, &mut a, &mut d_s);
            assert_gradient("s", &s, &d_s, |s| shift_loss(s, &w_g));
            assert_gradient("w_g", &w_g, &a, |w_g| shift_loss(&s, w_g));

            let (gamma, w_s) = (2.6, distribution(6, n));
            let sharpen_loss = |gamma: f64, w_s: &[f64]| {
                let mut out = vec![0.0; n];
                sharpen(SIMD, gamma, w_s, &mut out);
                loss(&out)
            };
            sharpen(SIMD, gamma, &w_s, &mut out);
            let d_gamma = sharpen_backward(SIMD, gamma, &w_s, &out, &upstream, &mut a, &mut b);
            assert_gradient("gamma", &[gamma], &[d_gamma], |x| sharpen_loss(x[0], &w_s));
            assert_gradient("w_s", &w_s, &a, |w_s| sharpen_loss(gamma, w_s));
        }
    }
}
