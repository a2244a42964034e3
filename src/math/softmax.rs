//! Softmax of a scaled vector, p_i = e^(β·x_i) / Σ_j e^(β·x_j), and the reductions it is made of.

use super::Real;
use super::simd::Simd;

/// Writes the softmax of `scale`·`x` to `p`, with `scale` ≥ 0. The maximum is taken off first: nothing
/// overflows.
#[inline(always)]
pub fn softmax<R: Real, S: Simd>(simd: S, scale: R, x: &[R], p: &mut [R]) {
    let most = scale * largest(simd, x);
    for (p, &x) in p.iter_mut().zip(x) {
        *p = (scale * x - most).exp();
    }
    normalize(simd, p);
}

/// Divides by the sum.
#[inline(always)]
pub fn normalize<R: Real, S: Simd>(simd: S, p: &mut [R]) {
    let factor = R::ONE / sum(simd, p);
    for p in p.iter_mut() {
        *p *= factor;
    }
}

/// Turns the gradient by `p` into the gradient by `scale`·`x`: dz_i = p_i·(dp_i − Σ_j p_j·dp_j).
#[inline(always)]
pub fn softmax_backward<R: Real, S: Simd>(simd: S, p: &[R], dp: &[R], dz: &mut [R]) {
    let mean = dot(simd, p, dp);
    for (dz, (&p, &dp)) in dz.iter_mut().zip(p.iter().zip(dp)) {
        *dz = p * (dp - mean);
    }
}

/// Σ x_i.
#[inline(always)]
pub fn sum<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let (packs, rest) = R::packs::<S>(x);
    let one = R::splat(simd, R::ONE);
    let mut sum = R::splat(simd, R::ZERO);
    for &x in packs {
        sum = R::mul_add(simd, one, x, sum);
    }
    R::reduce(simd, sum) + rest.iter().copied().sum::<R>()
}

/// Σ x_i·y_i over the length of `x`.
#[inline(always)]
pub fn dot<R: Real, S: Simd>(simd: S, x: &[R], y: &[R]) -> R {
    let ((x_packs, x_rest), (y_packs, y_rest)) = (R::packs::<S>(x), R::packs::<S>(&y[..x.len()]));
    let zero = R::splat(simd, R::ZERO);
    // Two sums, so that no addition waits for the one before it.
    let (mut even, mut odd) = (zero, zero);
    let ((x_pairs, x_last), (y_pairs, y_last)) =
        (x_packs.as_chunks::<2>(), y_packs.as_chunks::<2>());
    for ([x0, x1], [y0, y1]) in x_pairs.iter().zip(y_pairs) {
        even = R::mul_add(simd, *x0, *y0, even);
        odd = R::mul_add(simd, *x1, *y1, odd);
    }
    for (x, y) in x_last.iter().zip(y_last) {
        even = R::mul_add(simd, *x, *y, even);
    }
    let sum = R::mul_add(simd, R::splat(simd, R::ONE), odd, even);
    R::reduce(simd, sum) + x_rest.iter().zip(y_rest).map(|(&x, &y)| x * y).sum::<R>()
}

/// The largest value.
#[inline(always)]
pub fn largest<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let (packs, rest) = R::packs::<S>(x);
    let most = packs
        .iter()
        .fold(R::splat(simd, x[0]), |most, &x| R::pack_max(simd, most, x));
    rest.iter()
        .fold(R::reduce_max(simd, most), |most, &x| most.max(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use pulp::Scalar;

    // One instruction set is as good as another here.
    const SIMD: Scalar = Scalar;

    #[test]
    fn softmax_sums_to_one_and_does_not_overflow() {
        let mut p = [0.0_f32; 3];
        softmax(SIMD, 1e4, &[1.0, -1.0, 0.999], &mut p);
        assert!((sum(SIMD, &p) - 1.0).abs() < 1e-6 && p[0] > 0.99);
    }

    #[test]
    fn gradient() {
        for len in [1, 5, 70] {
            let (x, upstream, beta) = (random_vector(1, len), random_vector(2, len), 1.7);
            let loss = |beta: f64, x: &[f64]| {
                let mut p = vec![0.0; x.len()];
                softmax(SIMD, beta, x, &mut p);
                dot(SIMD, &p, &upstream)
            };
            let (mut p, mut dz) = (vec![0.0; len], vec![0.0; len]);
            softmax(SIMD, beta, &x, &mut p);
            softmax_backward(SIMD, &p, &upstream, &mut dz);
            let dx: Vec<f64> = dz.iter().map(|dz| beta * dz).collect();
            assert_gradient("x", &x, &dx, |x| loss(beta, x));
            assert_gradient("beta", &[beta], &[dot(SIMD, &dz, &x)], |beta| {
                loss(beta[0], &x)
            });
        }
    }
}
