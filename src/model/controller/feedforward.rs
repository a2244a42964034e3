//! h = tanh(z), with z = W·u + b.

use crate::math::Real;
use crate::math::simd::vectorize;

/// Turns the pre-activations `h` holds into the hidden state.
pub fn forward<R: Real>(h: &mut [R]) {
    vectorize(|| h.iter_mut().for_each(|h| *h = h.tanh()));
}

/// From the gradient by h: sets the gradient by z.
pub fn backward<R: Real>(h: &[R], dh: &[R], dz: &mut [R]) {
    vectorize(|| {
        for (dz, (&h, &dh)) in dz.iter_mut().zip(h.iter().zip(dh)) {
            *dz = dh * (R::ONE - h * h);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    #[test]
    fn gradient() {
        let (z, upstream) = (random_vector(1, 23), random_vector(2, 23));
        let hidden = |z: &[f64]| {
            let mut h = z.to_vec();
            forward(&mut h);
            h
        };
        let mut dz = vec![0.0; 23];
        backward(&hidden(&z), &upstream, &mut dz);
        assert_gradient("z", &z, &dz, |z| {
            hidden(z).iter().zip(&upstream).map(|(h, u)| h * u).sum()
        });
    }
}
