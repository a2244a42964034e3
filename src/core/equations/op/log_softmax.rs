//! y = x − log Σ eˣ: finite where the softmax is too small for a number.

use super::memory::{Room, sum};
use crate::math::{Pack, Real, pack::each_pack, simd::Simd, softmax as core};

/// Computes the result.
#[inline(always)]
pub fn forward<R: Real, S: Simd>(simd: S, room: &mut Room<R>) {
    let (x, y) = (&room.x[..], &mut room.y[..]);
    if x.is_empty() {
        return;
    }
    let (most, mut total) = (core::largest(simd, x), Pack::splat(simd, R::ZERO));
    each_pack!(simd, at in x => { total += at.new_or((at.load(x) - most).exp(), R::ZERO) });
    let log = Pack::splat(simd, total.sum()).ln();
    each_pack!(simd, at in y => { at.store(y, at.load(x) - most - log) });
}

/// dx = dy − e^y Σ dy.
#[inline(always)]
pub fn reverse<R: Real, S: Simd>(simd: S, room: &mut Room<R>) {
    let (y, dy, dx) = (&room.y[..], &room.dy[..], &mut room.dx[..]);
    let total = sum(simd, dy);
    each_pack!(simd, at in dx => { at.store(dx, at.load(dy) - at.load(y).exp() * total) });
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
            Act::LogSoftmax(vec![0]),
            &[2, 5],
            1,
            &[&[0, 1], &[1, 0]],
            |_, x| 3.0 * x,
        );
    }

    #[test]
    fn limits() {
        // The softmax of the first is 0 in f32; its logarithm is not.
        let (y, dx) = row(Act::LogSoftmax(vec![0]), &[-300.0, 300.0], &[1.0, 0.0]);
        assert_eq!((&y[..], &dx[..]), (&[-600.0, 0.0][..], &[1.0, -1.0][..]));
    }
}
