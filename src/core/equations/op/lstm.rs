//! The cell of an LSTM in one pass, see [`crate::math::lstm`]. The result is h; arguments: i, f, g and o, z before and
//! activated afterwards, the cell before, c and tanh c. Of the arguments all but the cell before are results as well.

use super::exec::{Exec, Place};
use super::memory::{Memory, Walk};
use crate::math::lstm::{cell, cell_back};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Real, pack::each_pack};

/// Computes the results.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    dispatch(Lstm {
        exec,
        memory,
        is_reverse: false,
    });
}

/// Adds what follows from the gradients of h and c to those of z, the cell before, and c itself.
pub fn reverse<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    dispatch(Lstm {
        exec,
        memory,
        is_reverse: true,
    });
}

struct Lstm<'a, R> {
    exec: &'a Exec,
    memory: &'a mut Memory<R>,
    is_reverse: bool,
}

impl<R: Real> Kernel for Lstm<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            exec,
            memory,
            is_reverse,
        } = self;
        let [i, f, g, o, before, c, tanh] = &exec.arguments[..] else {
            return;
        };
        let places = [i, f, g, o, before, c, tanh, &exec.out];
        // Where the units do not stand side by side, they are taken one by one.
        let last = exec.dims.len().saturating_sub(1);
        let along = |place: &Place| place.strides.get(last) == Some(&1);
        let (outer, length) = if places.into_iter().all(along) {
            (last, exec.dims[last])
        } else {
            (exec.dims.len(), 1)
        };
        let Memory {
            arena,
            room,
            gradients,
            ..
        } = memory;
        room.x.resize(length, R::ZERO);
        let to_slopes = places.map(|place| place.to_slope(*gradients as isize));
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
            each_pack!(simd, here in room.x => {
                let of = |own: usize| here.load(&arena[value[own].clone()]);
                let (gates, before) = ([of(0), of(1), of(2), of(3)], of(4));
                if is_reverse {
                    let [dc, dh] = [5, 7].map(|own: usize| here.load(&arena[slope[own].clone()]));
                    let parts = cell_back(gates, before, of(6), dh, dc);
                    for own in 0..6 {
                        let to = &mut arena[slope[own].clone()];
                        // What is known of the gradient of c is in it.
                        let part = if own == 5 { parts[own] } else { here.load(to) + parts[own] };
                        if places[own].slope {
                            here.store(to, part);
                        }
                    }
                } else {
                    let parts = cell(gates, before);
                    for (own, part) in [0, 1, 2, 3, 5, 6, 7].into_iter().zip(parts) {
                        here.store(&mut arena[value[own].clone()], part);
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

    /// Holds the gradients of the four z and of the cell before to differences, for random gradients of h and c.
    fn check(dims: &[usize], strides: &[isize]) {
        let n: usize = dims.iter().product();
        let places: Vec<_> = (0..8)
            .map(|own| (1 + (own * n) as isize, strides))
            .collect();
        let exec = Exec::alone(Act::Lstm, dims, 0, &places);
        // h; i, f, g, o, the cell before; c, tanh c.
        let (values, slopes) = (numbers(8 * n, 3), numbers(8 * n, 5));
        let run = |values: &[f64]| {
            let mut memory = memory(values);
            forward(&exec, &mut memory, &[]);
            let made = |own: usize| {
                let values = memory.arena[1 + own * n..].iter().zip(&slopes[own * n..]);
                values.take(n).map(|(y, slope)| y * slope).sum::<f64>()
            };
            (made(0) + made(6), memory)
        };
        let (_, mut memory) = run(&values);
        let at = memory.gradients + 1;
        for own in [0, 6] {
            let range = own * n..own * n + n;
            memory.arena[at + range.start..at + range.end].copy_from_slice(&slopes[range]);
        }
        reverse(&exec, &mut memory, &[]);
        for index in n..6 * n {
            let loss = |change: f64| {
                let mut values = values.clone();
                values[index] += change;
                run(&values).0
            };
            let (wanted, found) = ((loss(1e-5) - loss(-1e-5)) / 2e-5, memory.arena[at + index]);
            assert!((wanted - found).abs() < 1e-8, "{index}: {wanted} {found}");
        }
    }

    #[test]
    fn gradients() {
        check(&[2, 19], &[19, 1]);
        check(&[19, 2], &[1, 19]);
        check(&[3, 0], &[0, 1]);
        check(&[], &[]);
    }

    #[test]
    fn limits() {
        // A gate that is shut, and cells that are full.
        let mut memory = memory::<f32>(&[0.0, 200.0, -200.0, 200.0, 200.0, 7.0, 0.0, 0.0]);
        let places: Vec<(isize, &[isize])> = (1..9).map(|at| (at, &[][..])).collect();
        let exec = Exec::alone(Act::Lstm, &[], 0, &places);
        forward(&exec, &mut memory, &[]);
        assert_eq!(
            memory.arena[2..9],
            [1.0, 0.0, 1.0, 1.0, 7.0, 1.0, 1f32.tanh()]
        );
        reverse(&exec, &mut memory, &[]);
        assert!(memory.arena[10..].iter().all(|slope| *slope == 0.0));
    }
}
