//! Circular convolution: y_i = Σ_j s_j w_{i − j + middle}. The last loops are those of the rows and of the shifts.

use super::exec::Exec;
use super::memory::{Memory, Room, Walk, gather, scatter};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Real, pack::each_pack, softmax as core};

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    dispatch::<R, _>(Shift {
        exec,
        memory,
        is_reverse: false,
    });
}

/// dw = s dy, shifted back; ds_j = Σ_i dy_i w_{i − j + middle}.
pub fn reverse<R: Real>(exec: &Exec, memory: &mut Memory<R>) {
    dispatch::<R, _>(Shift {
        exec,
        memory,
        is_reverse: true,
    });
}

struct Shift<'a, R> {
    exec: &'a Exec,
    memory: &'a mut Memory<R>,
    is_reverse: bool,
}

impl<R: Real> Kernel for Shift<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            exec,
            memory,
            is_reverse,
        } = self;
        let outer = exec.dims.len() - 2;
        let [rows, shifts] = [exec.dims[outer], exec.dims[outer + 1]];
        if rows == 0 {
            return;
        }
        let places = [&exec.out, &exec.arguments[0], &exec.arguments[1]];
        let along = [
            places[0].strides[outer],
            places[1].strides[outer],
            places[2].strides[outer + 1],
        ];
        let Memory {
            arena,
            room,
            gradients,
            ..
        } = memory;
        let [to_y, to_w, to_s] = places.map(|place| place.to_slope(*gradients as isize));
        let behind = (shifts - shifts / 2).saturating_sub(1);
        let mut walk = Walk::new(
            &exec.dims[..outer],
            places.map(|place| &place.strides[..outer]),
            places.map(|place| place.at),
        );
        while let Some([y, w, s]) = walk.step() {
            // The rows, with those behind the last and before the first that the shifts reach: x_i = w_{i − behind}.
            gather(arena, &[rows], (w, &along[1..2]), &mut room.dx);
            let Room {
                x,
                dx,
                y: shift,
                dy,
                ..
            } = &mut *room;
            x.clear();
            let first = (rows * shifts - behind) % rows;
            x.extend_from_slice(&dx[first..]);
            while x.len() < rows + shifts {
                x.extend_from_slice(&dx[..(rows + shifts - x.len()).min(rows)]);
            }
            gather(arena, &[shifts], (s, &along[2..3]), shift);
            dy.clear();
            dy.resize(rows, R::ZERO);
            if is_reverse {
                gather(arena, &[rows], (y + to_y, &along[..1]), dy);
                dx.clear();
                dx.resize(rows + shifts, R::ZERO);
                for (j, shift) in shift.iter_mut().enumerate() {
                    let from = behind + shifts / 2 - j;
                    add(simd, *shift, dy, &mut dx[from..from + rows]);
                    *shift = core::dot(simd, dy, &x[from..from + rows]);
                }
                scatter(arena, &[shifts], (s + to_s, &along[2..3]), shift, true);
                let mut i = 0;
                while i < dx.len() {
                    let row = (first + i) % rows;
                    let part = &dx[i..dx.len().min(i + rows - row)];
                    scatter(
                        arena,
                        &[part.len()],
                        (w + to_w + row as isize * along[1], &along[1..2]),
                        part,
                        true,
                    );
                    i += part.len();
                }
            } else {
                for (j, shift) in shift.iter().enumerate() {
                    let from = behind + shifts / 2 - j;
                    add(simd, *shift, &x[from..from + rows], dy);
                }
                scatter(arena, &[rows], (y, &along[..1]), dy, false);
            }
        }
    }
}

/// y += a x.
#[inline(always)]
fn add<R: Real, S: Simd>(simd: S, a: R, x: &[R], y: &mut [R]) {
    each_pack!(simd, at in y => { at.store(y, at.load(x).mul_add(a, at.load(y))) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{
        Act,
        tests::{check, memory},
    };

    #[test]
    fn gradient() {
        check(
            Act::Shift(0, 1),
            &[2, 5, 3],
            2,
            &[&[0, 1], &[1, 0], &[0, 2]],
            |_, x| x,
        );
        // More shifts than rows, and an even number of them.
        check(Act::Shift(0, 1), &[3, 8], 2, &[&[0], &[0], &[1]], |_, x| x);
    }

    #[test]
    fn the_middle_stays() {
        let mut memory = memory(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0]);
        forward(
            &Exec::alone(
                Act::Shift(0, 1),
                &[3, 3],
                2,
                &[(1, &[1, 0]), (4, &[1, 0]), (7, &[0, 1])],
            ),
            &mut memory,
        );
        assert_eq!(memory.arena[1..4], [3.0, 1.0, 2.0]);
    }
}
