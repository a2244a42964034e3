//! y = eˣ / Σ eˣ. −∞ gives 0.

use super::{memory::Room, rows::Rows};
use crate::math::{Pack, Real, pack::each_pack, simd::Simd, softmax as core};

/// Computes the result.
#[derive(Clone, Copy)]
pub struct Forward;

impl<R: Real> Rows<R> for Forward {
    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S, room: &mut Room<R>) {
        if room.x.is_empty() {
            return;
        }
        if W == 1 {
            return core::softmax(simd, R::ONE, &room.x, &mut room.y);
        }
        let (x, y) = (room.x.as_chunks::<W>().0, room.y.as_chunks_mut::<W>().0);
        let first = &x[0];
        each_pack!(simd, at in first => {
            let mut most = at.load(first);
            for x in x {
                most = at.load(x).max(most);
            }
            let mut total = Pack::splat(simd, R::ZERO);
            for (y, x) in y.iter_mut().zip(x) {
                let power = (at.load(x) - most).exp();
                total += power;
                at.store(y, power);
            }
            let factor = Pack::splat(simd, R::ONE) / total;
            for y in &mut *y {
                let p = at.load(y) * factor;
                at.store(y, p);
            }
        });
    }
}

/// dx = y (dy − Σ y dy).
#[derive(Clone, Copy)]
pub struct Reverse;

impl<R: Real> Rows<R> for Reverse {
    #[inline(always)]
    fn run<S: Simd, const W: usize>(self, simd: S, room: &mut Room<R>) {
        if W == 1 {
            return core::softmax_backward(simd, &room.y, &room.dy, &mut room.dx);
        }
        let [y, dy] = [&room.y, &room.dy].map(|row| row.as_chunks::<W>().0);
        let dx = room.dx.as_chunks_mut::<W>().0;
        let lanes = [R::ZERO; W];
        each_pack!(simd, at in lanes => {
            let mut mean = Pack::splat(simd, R::ZERO);
            for (y, dy) in y.iter().zip(dy) {
                mean = at.load(y).mul_add(at.load(dy), mean);
            }
            for (dx, (y, dy)) in dx.iter_mut().zip(y.iter().zip(dy)) {
                at.store(dx, at.load(y) * (at.load(dy) - mean));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{
        Act, Exec, forward,
        tests::{check, memory, row},
    };

    #[test]
    fn gradient() {
        check(
            Act::Softmax(vec![0]),
            &[2, 3, 5],
            1,
            &[&[0, 1, 2], &[0, 1, 2]],
            |_, x| 3.0 * x,
        );
        // Rows side by side, and short ones next to each other.
        for has in [[0, 1], [1, 0]] {
            check(Act::Softmax(vec![0]), &[19, 5], 1, &[&has, &has], |_, x| x);
        }
        check(
            Act::Softmax(vec![0, 1]),
            &[2, 3, 5],
            2,
            &[&[1, 0, 2], &[2, 0, 1]],
            |_, x| 3.0 * x,
        );
    }

    #[test]
    fn limits() {
        assert_eq!(
            row(
                Act::Softmax(vec![0]),
                &[f32::NEG_INFINITY, 1e30, 1e30],
                &[0.0; 3]
            )
            .0,
            [0.0, 0.5, 0.5]
        );
        let (y, dx) = row(
            Act::Softmax(vec![0]),
            &[-1e30, -200.0, -200.0],
            &[1e30, 1.0, 3.0],
        );
        assert_eq!(y, [0.0, 0.5, 0.5]);
        assert_eq!(dx, [0.0, -0.5, 0.5]);
        row::<f32>(Act::Softmax(vec![0]), &[], &[]);
        // Three rows side by side.
        let mut memory = memory(&[f32::NEG_INFINITY, -200.0, 1e30].map(|x| [x; 3]).concat());
        let strides: &[isize] = &[1, 3];
        let exec = Exec::alone(
            Act::Softmax(vec![0]),
            &[3, 3],
            1,
            &[(1, strides), (1, strides)],
        );
        forward(&exec, &mut memory, &[]);
        assert_eq!(
            memory.arena[1..10],
            [0.0, 0.0, 1.0].map(|p| [p; 3]).concat()
        );
    }
}
