//! y = eˣ / Σ eˣ. −∞ gives 0.

use super::{memory::Room, rows::Rows};
use crate::math::{Real, simd::Simd, softmax as core};

/// Computes the result.
#[derive(Clone, Copy)]
pub struct Forward;

impl<R: Real> Rows<R> for Forward {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S, room: &mut Room<R>) {
        if !room.x.is_empty() {
            core::softmax(simd, R::ONE, &room.x, &mut room.y);
        }
    }
}

/// dx = y (dy − Σ y dy).
#[derive(Clone, Copy)]
pub struct Reverse;

impl<R: Real> Rows<R> for Reverse {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S, room: &mut Room<R>) {
        core::softmax_backward(simd, &room.y, &room.dy, &mut room.dx);
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{
        Act,
        tests::{check, row},
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
    }
}
