//! h = tanh(z), with z = W·u + b.

use crate::math::simd::kernel;

kernel! {
    /// Turns the pre-activations `h` holds into the hidden state.
    pub fn forward<'a, R>(_simd; h: &'a mut [R]) {
        h.iter_mut().for_each(|h| *h = h.tanh());
    }
}

kernel! {
    /// From the gradient by h: sets the gradient by z.
    pub fn backward<'a, R>(_simd; h: &'a [R], dh: &'a [R], dz: &'a mut [R]) {
        for (dz, (&h, &dh)) in dz.iter_mut().zip(h.iter().zip(dh)) {
            *dz = dh * (R::ONE - h * h);
        }
    }
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
