//! h = tanh(z), with z = W·u + b.

use crate::math::kernel::kernel;
use crate::math::pack::{each_pack, map_packs};

kernel! {
    /// Turns the pre-activations `h` holds into the hidden state.
    pub fn forward<'a, R>(simd; h: &'a mut [R]) {
        each_pack!(simd, at in h => { at.store(h, at.load(h).tanh()) });
    }
}

kernel! {
    /// Sets the gradient w.r.t. z from the gradient w.r.t. h.
    pub fn backward<'a, R>(simd; h: &'a [R], dh: &'a [R], dz: &'a mut [R]) {
        let dz = &mut dz[..h.len()];
        map_packs!(simd, dz = [h, dh] => dh * (-h).mul_add(h, R::ONE));
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
