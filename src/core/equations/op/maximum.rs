//! y = max x, and the index of the first largest value.

use super::memory::Room;
use crate::math::{Real, pack::each_pack, simd::Simd};

/// NaN has no order.
#[inline(always)]
fn is_none<R: Real>(value: R) -> bool {
    value.partial_cmp(&value).is_none()
}

/// Index of the largest value, the first of equal ones; a value that is no number is the largest.
pub fn index<R: Real>(x: &[R]) -> usize {
    (1..x.len()).fold(0, |best, index| {
        if x[index] > x[best] || is_none(x[index]) && !is_none(x[best]) {
            index
        } else {
            best
        }
    })
}

/// Computes the results of W rows.
#[inline(always)]
pub fn forward<R: Real, S: Simd, const W: usize>(simd: S, room: &mut Room<R>) {
    let (x, y) = (room.x.as_chunks::<W>().0, &mut room.y[..]);
    each_pack!(simd, at in y => {
        let mut most = at.load(x.first().unwrap_or(&[R::ZERO; W]));
        for x in x {
            let x = at.load(x);
            // 0, or no number: then the sum is none.
            most = most.max(x) + x.min(R::ZERO).max(R::ZERO);
        }
        at.store(y, most);
    });
}

/// The largest value has the gradient.
#[inline(always)]
pub fn reverse<R: Real>(room: &mut Room<R>) {
    let Room {
        x, y, dy: left, dx, ..
    } = room;
    // The length of a line is not known here: then loops over it run on vectors.
    for (dx, x) in dx.chunks_exact_mut(y.len()).zip(x.chunks_exact(y.len())) {
        for (((dx, left), x), y) in dx.iter_mut().zip(&mut left[..]).zip(x).zip(&y[..]) {
            let is_it = *x == *y || is_none(*x);
            *dx = if is_it { *left } else { R::ZERO };
            *left = if is_it { R::ZERO } else { *left };
        }
    }
}

/// The index of the largest value.
pub fn argmax<R: Real>(x: &[R], y: &mut [R]) {
    y[0] = R::from_f64(index(x) as f64);
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{
        Act, Exec, forward, reverse,
        tests::{check, memory},
    };

    #[test]
    fn gradient() {
        // Rows one by one, side by side in memory, and short ones next to each other.
        for (dims, has) in [(&[2, 20], [0, 1]), (&[19, 20], [1, 0]), (&[19, 5], [0, 1])] {
            check(Act::Maximum(vec![0]), dims, 1, &[&[0], &has], |_, x| x);
        }
    }

    #[test]
    fn the_first_of_the_largest_has_the_gradient() {
        let (x, nan) = ([1.0, 3.0, 3.0, f32::NAN, 2.0, f32::NAN], f32::NAN);
        for (rows, strides) in [(1, [0, 1]), (3, [1, 3]), (3, [6, 1])] {
            let places: [(_, &[isize]); 2] = [(1, &[1, 0]), (20, &strides)];
            let exec = |n| Exec::alone(Act::Maximum(vec![0]), &[rows, n], 1, &places);
            for (n, most, first) in [(3, 3.0, 1), (6, nan, 3)] {
                let mut memory = memory(&[0.0; 60]);
                let last = rows - 1;
                let place = |i: usize| 20 + last * strides[0] as usize + i * strides[1] as usize;
                (0..n).for_each(|i| memory.arena[place(i)] = x[i]);
                forward(&exec(n), &mut memory, &[]);
                assert_eq!(memory.arena[1 + last].to_bits(), most.to_bits());
                let to = memory.gradients;
                memory.arena[to + 1 + last] = 1.0;
                reverse(&exec(n), &mut memory, &[]);
                for i in 0..n {
                    assert_eq!(memory.arena[to + place(i)] == 1.0, i == first);
                }
            }
        }
    }

    #[test]
    fn limits() {
        assert_eq!(super::index(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(super::index(&[f32::NEG_INFINITY; 2]), 0);
        assert_eq!(super::index(&[1.0, f32::NAN, 3.0]), 1);
        assert_eq!(super::index::<f32>(&[]), 0);
    }
}
