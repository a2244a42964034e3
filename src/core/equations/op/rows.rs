//! Functions of rows: of what stands along the last loops.

use super::exec::{Act, Exec, MOST_AXES};
use super::memory::{Memory, Operand, Real, Room, Walk, gather, scatter};
use super::{allocation, log_softmax, maximum, product, rank, softmax};
use crate::math::pack::{MOST_LANES, each_pack};
use crate::math::simd::{Kernel, Simd, dispatch};

impl Act {
    /// Whether the result lacks the axes of the function.
    fn reduces(&self) -> bool {
        matches!(self, Self::Product(_) | Self::Maximum(_) | Self::Argmax(_))
    }

    /// Whether it runs on several rows side by side.
    fn has_many(&self) -> bool {
        matches!(self, Self::Product(_) | Self::Maximum(_))
    }
}

/// Runs the function of an operation: of x, and of a factor that may stand behind it, it makes y, and of these and dy it
/// makes dx. The room has W rows side by side: entry i of row j is the number i W + j.
#[inline(always)]
fn run<R: Real, S: Simd, const W: usize>(act: &Act, is_reverse: bool, simd: S, room: &mut Room<R>) {
    let is_power = matches!(act, Act::Sharpen(_));
    match (act, is_reverse) {
        (Act::Product(_), false) => product::forward::<R, S, W>(simd, room),
        (Act::Product(_), true) => product::reverse::<R, S, W>(simd, room),
        (Act::Maximum(_), false) => maximum::forward::<R, S, W>(simd, room),
        (Act::Maximum(_), true) => maximum::reverse(room),
        // The others run on one row at a time.
        _ if W > 1 => {}
        (Act::Softmax(_) | Act::Sharpen(_), false) => softmax::forward(simd, is_power, room),
        (Act::Softmax(_) | Act::Sharpen(_), true) => softmax::reverse(simd, is_power, room),
        (Act::LogSoftmax(_), false) => log_softmax::forward(simd, room),
        (Act::LogSoftmax(_), true) => log_softmax::reverse(simd, room),
        (Act::Argmax(_), _) => maximum::argmax(&room.x, &mut room.y),
        (Act::Rank(_), _) => rank::forward(&room.x, &mut room.y, &mut room.order),
        (Act::Allocation(_), false) => {
            allocation::forward(&room.x, &mut room.y, &mut room.order);
        }
        (Act::Allocation(_), true) => {
            allocation::reverse(&room.x, &room.dy, &mut room.dx, &mut room.order);
        }
        _ => {}
    }
}

struct EachRow<'a, R> {
    exec: &'a Exec,
    memory: &'a mut Memory<R>,
    is_reverse: bool,
}

impl<R: Real> Kernel for EachRow<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (exec, outer) = (self.exec, self.exec.dims.len() - self.exec.inner);
        let count: usize = exec.dims[outer..].iter().product();
        let is_smooth =
            |dim: usize| [&exec.arguments[0], &exec.out].map(|place| place.strides[dim]) == [1; 2];
        // Rows stand side by side where memory has them so, or where they are short.
        let fits = |dim: &usize| exec.dims[*dim] > 2 && (is_smooth(*dim) || count < MOST_LANES);
        let side = (0..outer).filter(|dim| exec.act.has_many() && fits(dim));
        match side.max_by_key(|dim| (is_smooth(*dim), exec.dims[*dim])) {
            Some(side) => self.blocks::<S, MOST_LANES>(simd, Some(side)),
            None => self.blocks::<S, 1>(simd, None),
        }
    }
}

impl<R: Real> EachRow<'_, R> {
    /// Runs on W rows along a loop at a time.
    #[inline(always)]
    fn blocks<S: Simd, const W: usize>(self, simd: S, side: Option<usize>) {
        let Self {
            exec,
            memory,
            is_reverse,
        } = self;
        let (outer, inner) = exec.dims.split_at(exec.dims.len() - exec.inner);
        let (n, places, factor) = (
            outer.len(),
            [&exec.arguments[0], &exec.out],
            exec.arguments.get(1),
        );
        let loops = [inner, if exec.act.reduces() { &[] } else { inner }];
        let Memory {
            arena,
            room,
            gradients,
            ..
        } = memory;
        let slopes = places.map(|place| place.to_slope(*gradients as isize));
        let mut dims = [1; MOST_AXES];
        dims[..n].copy_from_slice(outer);
        let (length, steps) = side.map_or((1, [0; 2]), |side| {
            dims[side] = 1;
            (outer[side], places.map(|place| place.strides[side]))
        });
        let [of_x, of_y] = loops.map(|dims| W * dims.iter().product::<usize>());
        let sized = [
            (&mut room.x, of_x),
            (&mut room.dx, of_x),
            (&mut room.y, of_y),
        ];
        for (row, length) in sized.into_iter().chain([(&mut room.dy, of_y)]) {
            row.resize(length, R::ZERO);
        }
        // Where there is no factor, it is the 1 at the beginning of the arena.
        let of_factor = factor.map_or(&[0; MOST_AXES][..n], |own| &own.strides[..n]);
        let strides = [&places[0].strides[..n], &places[1].strides[..n], of_factor];
        let first_factor = factor.map_or(0, |own| own.at);
        let begin = [places[0].at, places[1].at, first_factor];
        let mut walk = Walk::new(&dims[..n], strides, begin);
        while let Some(at) = walk.step() {
            room.factor = arena[at[2] as usize];
            for first in (0..length).step_by(W) {
                let lines = |own: usize, slope: isize| {
                    let at = at[own] + first as isize * steps[own] + slope;
                    let operand = (at, &places[own].strides[n..]);
                    (loops[own], operand, W.min(length - first), steps[own])
                };
                pass::<R, S, W>(simd, arena, lines(0, 0), &mut room.x, Way::Load);
                if is_reverse {
                    pass::<R, S, W>(simd, arena, lines(1, 0), &mut room.y, Way::Load);
                    pass::<R, S, W>(simd, arena, lines(1, slopes[1]), &mut room.dy, Way::Load);
                }
                run::<R, S, W>(&exec.act, is_reverse, simd, room);
                if is_reverse {
                    if places[0].slope {
                        pass::<R, S, W>(simd, arena, lines(0, slopes[0]), &mut room.dx, Way::Add);
                    }
                    if let Some(factor) = factor.filter(|own| own.slope) {
                        let to = at[2] + factor.to_slope(*gradients as isize);
                        arena[to as usize] += room.d_factor;
                    }
                } else {
                    pass::<R, S, W>(simd, arena, lines(1, 0), &mut room.y, Way::Set);
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Load,
    Set,
    Add,
}

/// The loops of a row, its place, the number of rows, and the step from one to the next.
type Lines<'a> = (&'a [usize], Operand<'a>, usize, isize);

/// Gathers rows, puts them where they belong, or adds them there.
#[inline(always)]
fn pass<R: Real, S: Simd, const W: usize>(
    simd: S,
    arena: &mut [R],
    (dims, (at, strides), width, step): Lines,
    rows: &mut Vec<R>,
    way: Way,
) {
    if W == 1 && way == Way::Load {
        return gather(arena, dims, (at, strides), rows);
    } else if W == 1 {
        return scatter(arena, dims, (at, strides), rows, way == Way::Add);
    }
    let mut walk = Walk::new(dims, [strides], [at]);
    for own in rows.as_chunks_mut::<W>().0 {
        let Some([at]) = walk.step() else { return };
        if (width, step) == (W, 1) {
            let (own, there) = (&mut own[..], &mut arena[at as usize..at as usize + W]);
            each_pack!(simd, at in there => {
                let (value, sum) = (at.load(own), at.load(there));
                match way {
                    Way::Load => at.store(own, sum),
                    Way::Set => at.store(there, value),
                    Way::Add => at.store(there, sum + value),
                }
            });
        } else {
            for (j, own) in own[..width].iter_mut().enumerate() {
                let there = &mut arena[(at + j as isize * step) as usize];
                match way {
                    Way::Load => *own = *there,
                    Way::Set => *there = *own,
                    Way::Add => *there += *own,
                }
            }
        }
    }
}

/// Runs a function of rows, or its derivative.
pub(super) fn rows<R: Real>(exec: &Exec, memory: &mut Memory<R>, is_reverse: bool) {
    dispatch::<R, _>(EachRow {
        exec,
        memory,
        is_reverse,
    });
}
