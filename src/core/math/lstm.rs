//! Long short-term memory, four blocks of C pre-activations in the order input, forget, cell, output:
//!
//! ```text
//! i = σ(z_i)   f = σ(z_f)   g = tanh(z_g)   o = σ(z_o)
//! c_t = f ∘ c_{t−1} + i ∘ g          h_t = o ∘ tanh(c_t)
//! ```

use super::kernel::kernel;
use super::pack::each_pack;
use super::simd::Simd;
use super::{Pack, Real, sigmoid};

/// i, f, g, o; c, tanh c and h, from the four z and the cell before.
#[inline(always)]
pub(crate) fn cell<R: Real, S: Simd>(z: [Pack<R, S>; 4], before: Pack<R, S>) -> [Pack<R, S>; 7] {
    let [i, f, g, o] = [sigmoid(z[0]), sigmoid(z[1]), z[2].tanh(), sigmoid(z[3])];
    let c = f.mul_add(before, i * g);
    let tanh = c.tanh();
    [i, f, g, o, c, tanh, o * tanh]
}

/// The gradients w.r.t. the four z, c and the cell before; `dc`: that w.r.t. c without its part through h.
#[inline(always)]
pub(crate) fn cell_back<R: Real, S: Simd>(
    [i, f, g, o]: [Pack<R, S>; 4],
    before: Pack<R, S>,
    tanh: Pack<R, S>,
    dh: Pack<R, S>,
    dc: Pack<R, S>,
) -> [Pack<R, S>; 6] {
    let (one, dc) = (
        Pack::splat(i.simd(), R::ONE),
        through_hidden(o, tanh, dh, dc),
    );
    [
        dc * g * i * (one - i),
        dc * before * f * (one - f),
        dc * i * g.mul_add(-g, one),
        dh * tanh * o * (one - o),
        dc,
        dc * f,
    ]
}

/// The gradient w.r.t. c with its part through h: dc + dh o (1 − tanh²(c)).
#[inline(always)]
fn through_hidden<R: Real, S: Simd>(
    o: Pack<R, S>,
    tanh: Pack<R, S>,
    dh: Pack<R, S>,
    dc: Pack<R, S>,
) -> Pack<R, S> {
    let one = Pack::splat(o.simd(), R::ONE);
    (dh * o).mul_add(tanh.mul_add(-tanh, one), dc)
}

kernel! {
    /// Activates `gates` (z on entry; i, f, g, o afterwards) and sets cell, tanh(cell) and hidden state.
    pub fn forward<'a, R>(
        simd; gates: &'a mut [R],
        previous_cell: &'a [R],
        cell: &'a mut [R],
        cell_tanh: &'a mut [R],
        hidden: &'a mut [R],
    ) {
        let [z_i, z_f, z_g, z_o] = blocks_mut(gates, cell.len());
        each_pack!(simd, at in cell => {
            let z = [at.load(z_i), at.load(z_f), at.load(z_g), at.load(z_o)];
            let [i, f, g, o, c, tanh, h] = self::cell(z, at.load(previous_cell));
            at.store(z_i, i);
            at.store(z_f, f);
            at.store(z_g, g);
            at.store(z_o, o);
            at.store(cell, c);
            at.store(cell_tanh, tanh);
            at.store(hidden, h);
        });
    }
}

kernel! {
    /// Sets tanh(cell) and hidden state from the activated gates and the cell.
    pub fn set_hidden<'a, R>(
        simd; gates: &'a [R], cell: &'a [R], cell_tanh: &'a mut [R], hidden: &'a mut [R],
    ) {
        let o = &gates[3 * cell.len()..][..cell.len()];
        each_pack!(simd, at in cell => {
            let tanh = at.load(cell).tanh();
            at.store(cell_tanh, tanh);
            at.store(hidden, at.load(o) * tanh);
        });
    }
}

kernel! {
    /// Sets the gradient w.r.t. z from those w.r.t. h_t and c_t, and turns `d_cell` into the gradient w.r.t. c_{t−1}.
    pub fn backward<'a, R>(
        simd; gates: &'a [R],
        previous_cell: &'a [R],
        cell_tanh: &'a [R],
        d_hidden: &'a [R],
        d_cell: &'a mut [R],
        dz: &'a mut [R],
    ) {
        let size = d_cell.len();
        let [i, f, g, o] = [0, 1, 2, 3].map(|block| &gates[block * size..(block + 1) * size]);
        let [dz_i, dz_f, dz_g, dz_o] = blocks_mut(dz, size);
        each_pack!(simd, at in d_cell => {
            let gates = [at.load(i), at.load(f), at.load(g), at.load(o)];
            let (dh, tanh) = (at.load(d_hidden), at.load(cell_tanh));
            let [i, f, g, o, _, before] =
                cell_back(gates, at.load(previous_cell), tanh, dh, at.load(d_cell));
            at.store(dz_i, i);
            at.store(dz_f, f);
            at.store(dz_g, g);
            at.store(dz_o, o);
            at.store(d_cell, before);
        });
    }
}

kernel! {
    /// Adds the part through h_t to the gradient w.r.t. c_t: o·(1 − tanh²(c_t)).
    pub fn add_cell_gradient<'a, R>(
        simd; gates: &'a [R], cell_tanh: &'a [R], d_hidden: &'a [R], d_cell: &'a mut [R],
    ) {
        let o = &gates[3 * d_cell.len()..][..d_cell.len()];
        each_pack!(simd, at in d_cell => {
            let (dh, tanh) = (at.load(d_hidden), at.load(cell_tanh));
            at.store(d_cell, through_hidden(at.load(o), tanh, dh, at.load(d_cell)));
        });
    }
}

/// The four blocks of `size` values.
#[inline(always)]
fn blocks_mut<R>(values: &mut [R], size: usize) -> [&mut [R]; 4] {
    let (input, rest) = values.split_at_mut(size);
    let (forget, rest) = rest.split_at_mut(size);
    let (cell, rest) = rest.split_at_mut(size);
    [input, forget, cell, &mut rest[..size]]
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
