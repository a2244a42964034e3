//! The cell of an LSTM in one pass, see [`crate::math::lstm`]. The result is h; arguments: i, f, g and o, z before and
//! activated afterwards, the cell before, c and tanh c. Of the arguments all but the cell before are results as well.

use super::exec::{Exec, Place};
use super::memory::{Memory, Walk};
use crate::math::lstm::{cell, cell_back};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Real, pack::each_pack};

/// Computes the results; in reverse, adds what follows from the gradients of h and c to those of z, the cell before, and c.
pub fn run<R: Real>(exec: &Exec, memory: &mut Memory<R>, is_reverse: bool) {
    dispatch::<R, _>(Lstm(exec, memory, is_reverse));
}

struct Lstm<'a, R>(&'a Exec, &'a mut Memory<R>, bool);

impl<R: Real> Kernel for Lstm<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(exec, memory, is_reverse) = self;
        let [i, f, g, o, before, c, tanh] = &exec.arguments[..] else {
            return;
        };
        let places = [i, f, g, o, c, tanh, &exec.out, before];
        // Where the units do not stand side by side, they are taken one by one.
        let last = exec.dims.len().saturating_sub(1);
        let along = |place: &Place| place.strides.get(last) == Some(&1);
        let (outer, length) = if places.into_iter().all(along) {
            (last, exec.dims[last])
        } else {
            (exec.dims.len(), 1)
        };
        let (arena, gradients) = (&mut memory.arena[..], memory.gradients as isize);
        let to_slopes = places.map(|place| place.to_slope(gradients));
        let mut walk = Walk::new(
            &exec.dims[..outer],
            places.map(|place| &place.strides[..outer]),
            places.map(|place| place.at),
        );
        while let Some(at) = walk.step() {
            let value = at.map(|at| at as usize..at as usize + length);
            let slope: [_; 8] = std::array::from_fn(|own| {
                let at = (at[own] + to_slopes[own]) as usize;
                at..at + length
            });
            each_pack!(simd, here in arena[value[0].clone()] => {
                let of = |own: usize| here.load(&arena[value[own].clone()]);
                let (gates, before) = ([of(0), of(1), of(2), of(3)], of(7));
                if is_reverse {
                    let [dc, dh] = [4, 6].map(|own: usize| here.load(&arena[slope[own].clone()]));
                    let parts = cell_back(gates, before, of(5), dh, dc);
                    for own in [0, 1, 2, 3, 4, 7] {
                        let to = &mut arena[slope[own].clone()];
                        let part = match own {
                            4 => parts[4],
                            _ => here.load(to) + parts[own.min(5)],
                        };
                        if places[own].slope {
                            here.store(to, part);
                        }
                    }
                } else {
                    let parts = cell(gates, before);
                    for own in 0..parts.len() {
                        here.store(&mut arena[value[own].clone()], parts[own]);
                    }
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::tests::{memory, numbers};
    use crate::equations::op::{Act, Exec, forward, reverse};
    use crate::math::lstm;

    #[test]
    fn is_the_cell_of_the_kernels() {
        // h; i, f, g, o, the cell before; c, tanh c.
        let n = 38;
        let (values, slopes) = (numbers(8 * n, 3), numbers(8 * n, 5));
        let (mut made, mut d_cell) = (values.clone(), slopes[6 * n..7 * n].to_vec());
        let [h, z, before, c, tanh] = made
            .get_disjoint_mut([0..n, n..5 * n, 5 * n..6 * n, 6 * n..7 * n, 7 * n..8 * n])
            .unwrap();
        lstm::forward(z, before, c, tanh, h);
        let mut dz = vec![0.0; 4 * n];
        lstm::backward(z, before, tanh, &slopes[..n], &mut d_cell, &mut dz);
        let wanted = [dz, d_cell].concat();
        // Units side by side, and apart.
        for (dims, strides) in [
            (&[2, 19][..], &[19, 1][..]),
            (&[19, 2], &[1, 19]),
            (&[0], &[1]),
        ] {
            let places: Vec<_> = (0..8).map(|own| (1 + own * n as isize, strides)).collect();
            let exec = Exec::alone(Act::Lstm, dims, 0, &places);
            let mut memory = memory(&values);
            forward(&exec, &mut memory, &[]);
            let at = memory.gradients + 1;
            memory.arena[at..at + n].copy_from_slice(&slopes[..n]);
            memory.arena[at + 6 * n..at + 7 * n].copy_from_slice(&slopes[6 * n..7 * n]);
            reverse(&exec, &mut memory, &[]);
            if dims[0] > 0 {
                assert_eq!(memory.arena[1..=8 * n], made);
                assert_eq!(memory.arena[at + n..at + 6 * n], wanted);
            }
        }
    }
}
