//! Softmax of a scaled vector, p_i = e^(β·x_i) / Σ_j e^(β·x_j), and the reductions it is made of.

use super::pack::{MOST_LANES, each_pack, filled, map_packs};
use super::simd::Simd;
use super::{Pack, Real};

/// Writes the softmax of `scale`·`x` to `p`, with `scale` ≥ 0. The maximum is taken off first: nothing
/// overflows.
#[inline(always)]
pub fn softmax<R: Real, S: Simd>(simd: S, scale: R, x: &[R], p: &mut [R]) {
    let (most, mut total) = (largest(simd, x), Pack::splat(simd, R::ZERO));
    each_pack!(simd, at in x => {
        let power = ((at.load(x) - most) * scale).exp();
        total += at.new_or(power, R::ZERO);
        at.store(p, power);
    });
    multiply(simd, R::ONE / total.sum(), p);
}

/// [`softmax`] of the values in `p`, in place.
#[inline(always)]
pub fn softmax_in_place<R: Real, S: Simd>(simd: S, scale: R, p: &mut [R]) {
    let (most, mut total) = (largest(simd, p), Pack::splat(simd, R::ZERO));
    each_pack!(simd, at in p => {
        let power = ((at.load(p) - most) * scale).exp();
        total += at.new_or(power, R::ZERO);
        at.store(p, power);
    });
    multiply(simd, R::ONE / total.sum(), p);
}

/// The softmax of a few numbers, in one pack where it has room.
#[inline(always)]
pub fn softmax_of_few<R: Real, S: Simd, const K: usize>(simd: S, x: [R; K]) -> [R; K] {
    const { assert!(K <= MOST_LANES) };
    let most = x[1..].iter().fold(x[0], |most, &x| most.max(x));
    let mut powers = [R::ZERO; MOST_LANES];
    powers.iter_mut().zip(x).for_each(|(p, x)| *p = x - most);
    let used = &mut powers[..K.next_multiple_of(Pack::<R, S>::LANES)];
    each_pack!(simd, at in used => { at.store(used, at.load(used).exp()) });
    let factor = R::ONE / powers[..K].iter().copied().sum();
    filled(|i| powers[i] * factor)
}

/// x_i ← factor·x_i.
#[inline(always)]
fn multiply<R: Real, S: Simd>(simd: S, factor: R, x: &mut [R]) {
    each_pack!(simd, at in x => { at.store(x, at.load(x) * factor) });
}

/// Turns the gradient w.r.t. `p` into that w.r.t. `scale`·`x`: dz_i = p_i·(dp_i − Σ_j p_j·dp_j).
#[inline(always)]
pub fn softmax_backward<R: Real, S: Simd>(simd: S, p: &[R], dp: &[R], dz: &mut [R]) {
    let mean = dot(simd, p, dp);
    map_packs!(simd, dz = [p, dp] => p * (dp - mean));
}

/// Σ x_i·y_i over the length of `x`.
#[inline(always)]
pub fn dot<R: Real, S: Simd>(simd: S, x: &[R], y: &[R]) -> R {
    let y = &y[..x.len()];
    let (x_packs, y_packs) = (R::packs::<S>(x), R::packs::<S>(y));
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
    let start = x_packs.len() * Pack::<R, S>::LANES;
    if start < x.len() {
        let (x, y) = (&x[start..], &y[start..]);
        odd = R::mul_add(simd, R::load_part(simd, x), R::load_part(simd, y), odd);
    }
    R::reduce(simd, R::pack_add(simd, even, odd))
}

/// The largest value.
#[inline(always)]
pub fn largest<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let mut most = Pack::splat(simd, x[0]);
    each_pack!(simd, at in x => { most = at.new_or(at.load(x), x[0]).max(most) });
    most.largest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::simd::PLAIN as SIMD;

    #[test]
    fn softmax_sums_to_one_and_does_not_overflow() {
        let mut p = [0.0_f32; 3];
        softmax(SIMD, 1e4, &[1.0, -1.0, 0.999], &mut p);
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-6 && p[0] > 0.99);
    }

    #[test]
    fn softmax_of_few_equals_softmax_of_many() {
        let check = |x: [f64; 5]| {
            let mut wanted = [0.0; 5];
            softmax(SIMD, 1.0, &x, &mut wanted);
            let found = softmax_of_few(SIMD, x);
            assert!(found.iter().zip(wanted).all(|(p, q)| (p - q).abs() < 1e-15));
        };
        check([0.3, -1.0, 2.0, 2.0, 0.0]);
        check([1e3, -1e3, 999.0, 0.0, 1.0]);
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
