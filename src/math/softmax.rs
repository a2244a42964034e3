//! Softmax of a scaled vector: p_i = e^(β·x_i) / Σ_j e^(β·x_j).

use super::Real;

/// Writes the softmax of `scale`·`x` to `p`, with `scale` ≥ 0. The maximum is taken off first: nothing
/// overflows.
#[inline(always)]
pub fn softmax<R: Real>(scale: R, x: &[R], p: &mut [R]) {
    let most = scale * largest(x);
    for (p, &x) in p.iter_mut().zip(x) {
        *p = (scale * x - most).exp();
    }
    normalize(p);
}

/// Divides by the sum.
#[inline(always)]
pub fn normalize<R: Real>(p: &mut [R]) {
    let factor = R::ONE / sum(p);
    for p in p.iter_mut() {
        *p *= factor;
    }
}

/// Turns the gradient by `p` into the gradient by `scale`·`x`: dz_i = p_i·(dp_i − Σ_j p_j·dp_j).
#[inline(always)]
pub fn softmax_backward<R: Real>(p: &[R], dp: &[R], dz: &mut [R]) {
    let mean = dot(p, dp);
    for (dz, (&p, &dp)) in dz.iter_mut().zip(p.iter().zip(dp)) {
        *dz = p * (dp - mean);
    }
}

/// Independent sums of a reduction: as many as two of the widest vectors hold.
const LANES: usize = 32;

/// The largest value.
#[inline(always)]
pub fn largest<R: Real>(x: &[R]) -> R {
    let mut lanes = [x[0]; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = lane.max(x);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = lanes[i].max(lanes[i + width]);
        }
        width /= 2;
    }
    rest.iter().fold(lanes[0], |most, &x| most.max(x))
}

/// Σ x_i, in a fixed order that leaves room for vectors.
#[inline(always)]
pub fn sum<R: Real>(x: &[R]) -> R {
    let mut lanes = [R::ZERO; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += x;
        }
    }
    fold(lanes) + rest.iter().copied().sum::<R>()
}

/// Σ x_i·y_i, in a fixed order that leaves room for vectors.
#[inline(always)]
pub fn dot<R: Real>(x: &[R], y: &[R]) -> R {
    let mut lanes = [R::ZERO; LANES];
    let ((x_chunks, x_rest), (y_chunks, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for (lane, (&x, &y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane += x * y;
        }
    }
    fold(lanes) + x_rest.iter().zip(y_rest).map(|(&x, &y)| x * y).sum::<R>()
}

/// Σ x_i·y_i·z_i, in a fixed order that leaves room for vectors.
#[inline(always)]
pub fn dot3<R: Real>(x: &[R], y: &[R], z: &[R]) -> R {
    let mut lanes = [R::ZERO; LANES];
    let ((x_chunks, x_rest), (y_chunks, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let (z_chunks, z_rest) = z.as_chunks::<LANES>();
    for ((x, y), z) in x_chunks.iter().zip(y_chunks).zip(z_chunks) {
        for (lane, ((&x, &y), &z)) in lanes.iter_mut().zip(x.iter().zip(y).zip(z)) {
            *lane += x * y * z;
        }
    }
    let rest = x_rest.iter().zip(y_rest).zip(z_rest);
    fold(lanes) + rest.map(|((&x, &y), &z)| x * y * z).sum::<R>()
}

#[inline(always)]
fn fold<R: Real>(mut lanes: [R; LANES]) -> R {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    #[test]
    fn softmax_sums_to_one_and_does_not_overflow() {
        let mut p = [0.0_f32; 3];
        softmax(1e4, &[1.0, -1.0, 0.999], &mut p);
        assert!((sum(&p) - 1.0).abs() < 1e-6 && p[0] > 0.99);
    }

    #[test]
    fn gradient() {
        for len in [1, 5, 70] {
            let (x, upstream, beta) = (random_vector(1, len), random_vector(2, len), 1.7);
            let loss = |beta: f64, x: &[f64]| {
                let mut p = vec![0.0; x.len()];
                softmax(beta, x, &mut p);
                dot(&p, &upstream)
            };
            let (mut p, mut dz) = (vec![0.0; len], vec![0.0; len]);
            softmax(beta, &x, &mut p);
            softmax_backward(&p, &upstream, &mut dz);
            let dx: Vec<f64> = dz.iter().map(|dz| beta * dz).collect();
            assert_gradient("x", &x, &dx, |x| loss(beta, x));
            assert_gradient("beta", &[beta], &[dot(&dz, &x)], |beta| loss(beta[0], &x));
        }
    }
}
