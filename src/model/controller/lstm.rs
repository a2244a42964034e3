//! Long short-term memory, four blocks of C pre-activations in the order input, forget, cell, output:
//!
//! ```text
//! i = σ(z_i)   f = σ(z_f)   g = tanh(z_g)   o = σ(z_o)
//! c_t = f ∘ c_{t−1} + i ∘ g          h_t = o ∘ tanh(c_t)
//! ```

use crate::math::sigmoid;
use crate::math::simd::kernel;

kernel! {
    /// Activates `gates` (z on entry; i, f, g, o afterwards) and sets cell, tanh(cell) and hidden state.
    pub fn forward<'a, R>(
        _simd; gates: &'a mut [R],
        previous_cell: &'a [R],
        cell: &'a mut [R],
        cell_tanh: &'a mut [R],
        hidden: &'a mut [R],
    ) {
        let size = cell.len();
        let (input_forget, cell_output) = gates[..4 * size].split_at_mut(2 * size);
        let (g, o) = cell_output.split_at_mut(size);
        input_forget.iter_mut().for_each(|z| *z = sigmoid(*z));
        g.iter_mut().for_each(|z| *z = z.tanh());
        o.iter_mut().for_each(|z| *z = sigmoid(*z));
        let (i, f) = input_forget.split_at(size);
        let inputs = f.iter().zip(previous_cell).zip(i.iter().zip(&*g));
        for (cell, ((&f, &before), (&i, &g))) in cell.iter_mut().zip(inputs) {
            *cell = f * before + i * g;
        }
        cell_tanh
            .iter_mut()
            .zip(&*cell)
            .for_each(|(tanh, &cell)| *tanh = cell.tanh());
        for (hidden, (&o, &tanh)) in hidden.iter_mut().zip(o.iter().zip(&*cell_tanh)) {
            *hidden = o * tanh;
        }
    }
}

kernel! {
    /// From the gradient by h_t and c_t: sets the gradient by z, turns `d_cell` into the gradient by
    /// c_{t−1}.
    pub fn backward<'a, R>(
        _simd; gates: &'a [R],
        previous_cell: &'a [R],
        cell_tanh: &'a [R],
        d_hidden: &'a [R],
        d_cell: &'a mut [R],
        dz: &'a mut [R],
    ) {
        let size = d_cell.len();
        let (i, rest) = gates.split_at(size);
        let (f, rest) = rest.split_at(size);
        let (g, o) = rest.split_at(size);
        let (dz_i, rest) = dz.split_at_mut(size);
        let (dz_f, rest) = rest.split_at_mut(size);
        let (dz_g, dz_o) = rest.split_at_mut(size);
        let outputs = dz_o
            .iter_mut()
            .zip(d_cell.iter_mut())
            .zip(d_hidden.iter().zip(o.iter().zip(cell_tanh)));
        for ((dz_o, d_cell), (&dh, (&o, &tanh))) in outputs {
            *dz_o = dh * tanh * o * (R::ONE - o);
            *d_cell += dh * o * (R::ONE - tanh * tanh);
        }
        for (dz_i, (&d_cell, (&i, &g))) in dz_i.iter_mut().zip(d_cell.iter().zip(i.iter().zip(g))) {
            *dz_i = d_cell * g * i * (R::ONE - i);
        }
        for (dz_g, (&d_cell, (&i, &g))) in dz_g.iter_mut().zip(d_cell.iter().zip(i.iter().zip(g))) {
            *dz_g = d_cell * i * (R::ONE - g * g);
        }
        for ((dz_f, d_cell), (&f, &before)) in dz_f
            .iter_mut()
            .zip(d_cell.iter_mut())
            .zip(f.iter().zip(previous_cell))
        {
            *dz_f = *d_cell * before * f * (R::ONE - f);
            *d_cell *= f;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    const C: usize = 19;

    #[test]
    fn gradients() {
        let (z, before) = (random_vector(1, 4 * C), random_vector(2, C));
        let (upstream_h, upstream_c) = (random_vector(3, C), random_vector(4, C));
        let run = |z: &[f64], before: &[f64]| {
            let (mut gates, mut c, mut tanh, mut h) =
                (z.to_vec(), vec![0.0; C], vec![0.0; C], vec![0.0; C]);
            forward(&mut gates, before, &mut c, &mut tanh, &mut h);
            let loss: f64 = (0..C)
                .map(|j| h[j] * upstream_h[j] + c[j] * upstream_c[j])
                .sum();
            (gates, tanh, loss)
        };
        let (gates, tanh, _) = run(&z, &before);
        let (mut dc, mut dz) = (upstream_c.clone(), vec![0.0; 4 * C]);
        backward(&gates, &before, &tanh, &upstream_h, &mut dc, &mut dz);
        assert_gradient("z", &z, &dz, |z| run(z, &before).2);
        assert_gradient("cell", &before, &dc, |before| run(&z, before).2);
    }
}
