//! Functions of rows: of what stands along the last loops.

use super::exec::{Act, Exec, MOST_AXES};
use super::memory::{Memory, Real, Room, Walk, gather, scatter};
use crate::math::simd::{Kernel, Simd, dispatch};

impl Act {
    /// Whether the result lacks the axes of the function.
    fn reduces(&self) -> bool {
        matches!(self, Self::Product(_) | Self::Maximum(_) | Self::Argmax(_))
    }
}

/// A function of rows, compiled for every instruction set: of x, and of a factor that may stand behind it, it makes y, and
/// of these and dy it makes dx.
pub(super) trait Rows<R: Real>: Copy {
    fn run<S: Simd>(self, simd: S, room: &mut Room<R>);
}

struct EachRow<'a, R, F> {
    exec: &'a Exec,
    memory: &'a mut Memory<R>,
    function: F,
    is_reverse: bool,
}

impl<R: Real, F: Rows<R>> Kernel for EachRow<'_, R, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            exec,
            memory,
            function,
            is_reverse,
        } = self;
        let (outer, inner) = exec.dims.split_at(exec.dims.len() - exec.inner);
        let (x, y, n) = (&exec.arguments[0], &exec.out, outer.len());
        let kept = if exec.act.reduces() { &[] } else { inner };
        let Memory {
            arena,
            room,
            gradients,
            ..
        } = memory;
        let [x_slope, y_slope] = [x, y].map(|place| place.to_slope(*gradients as isize));
        // Where there is no factor, it is the 1 at the beginning of the arena.
        let factor = exec.arguments.get(1);
        let of_factor = factor.map_or(&[0; MOST_AXES][..n], |own| &own.strides[..n]);
        let mut walk = Walk::new(
            outer,
            [&x.strides[..n], &y.strides[..n], of_factor],
            [x.at, y.at, factor.map_or(0, |own| own.at)],
        );
        while let Some([x_at, y_at, factor_at]) = walk.step() {
            let [of_x, of_y] = [&x.strides[n..], &y.strides[n..]];
            gather(arena, inner, (x_at, of_x), &mut room.x);
            room.factor = arena[factor_at as usize];
            if is_reverse {
                gather(arena, kept, (y_at, of_y), &mut room.y);
                gather(arena, kept, (y_at + y_slope, of_y), &mut room.dy);
                room.dx.clear();
                room.dx.resize(room.x.len(), R::ZERO);
            } else {
                room.y.clear();
                room.y
                    .resize(if exec.act.reduces() { 1 } else { room.x.len() }, R::ZERO);
            }
            function.run(simd, room);
            if is_reverse {
                if x.slope {
                    scatter(arena, inner, (x_at + x_slope, of_x), &room.dx, true);
                }
                if let Some(factor) = factor.filter(|own| own.slope) {
                    let at = factor_at + factor.to_slope(*gradients as isize);
                    arena[at as usize] += room.d_factor;
                }
            } else {
                scatter(arena, kept, (y_at, of_y), &room.y, false);
            }
        }
    }
}

/// Runs a function of rows.
pub(super) fn rows<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: impl Rows<R>) {
    dispatch(EachRow {
        exec,
        memory,
        function,
        is_reverse: false,
    });
}

/// Runs the derivative of a function of rows.
pub(super) fn rows_back<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: impl Rows<R>) {
    if exec.arguments.iter().any(|place| place.slope) {
        dispatch(EachRow {
            exec,
            memory,
            function,
            is_reverse: true,
        });
    }
}

/// Runs a function of rows, one number after another.
pub(super) fn each_row<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: fn(&mut Room<R>)) {
    rows(exec, memory, function);
}

/// Runs the derivative of a function of rows, one number after another.
pub(super) fn each_row_back<R: Real>(
    exec: &Exec,
    memory: &mut Memory<R>,
    function: fn(&mut Room<R>),
) {
    rows_back(exec, memory, function);
}

/// A function on numbers one by one.
impl<R: Real> Rows<R> for fn(&mut Room<R>) {
    #[inline(always)]
    fn run<S: Simd>(self, _: S, room: &mut Room<R>) {
        self(room);
    }
}
