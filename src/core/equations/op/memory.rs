//! The numbers of an engine, and the ways through them.

use super::exec::{Exec, MOST_AXES};
pub use crate::math::Real;
use crate::math::{Aligned, Pack, pack::each_pack, simd::Simd};

/// Entries that an element-wise expression computes at a time.
pub const LANES: usize = 1024;

/// An offset and a stride for each loop.
pub type Operand<'a> = (isize, &'a [isize]);

/// All numbers of an engine.
#[derive(Clone, Debug)]
pub struct Memory<R> {
    /// A 1 and a 0, then the values of all arrays, then their gradients in the same order.
    pub arena: Aligned<R>,
    /// Where the gradients begin.
    pub gradients: usize,
    /// Constants of the preset.
    pub constants: Vec<R>,
    /// Room for what operations compute on the way.
    pub room: Room<R>,
}

/// Room for rows and for entries of expressions.
#[derive(Clone, Debug, Default)]
pub struct Room<R> {
    pub(super) x: Vec<R>,
    pub(super) y: Vec<R>,
    pub(super) dy: Vec<R>,
    pub(super) dx: Vec<R>,
    pub(super) factor: R,
    pub(super) d_factor: R,
    pub(super) order: Vec<usize>,
    pub(super) values: Vec<[R; LANES]>,
    pub(super) slopes: Vec<[R; LANES]>,
    pub(super) factors: Vec<R>,
    /// Where the values of nodes stand in the arena.
    pub(super) places: Vec<usize>,
}

impl<R: Real> Room<R> {
    /// Room for this many numbers of rows, and for expressions with this number of nodes.
    pub fn new(row: usize, nodes: usize) -> Self {
        let (rows, lanes) = (
            || Vec::with_capacity(row + LANES),
            || vec![[R::ZERO; LANES]; nodes],
        );
        Self {
            x: rows(),
            y: rows(),
            dy: rows(),
            dx: rows(),
            factor: R::ONE,
            d_factor: R::ZERO,
            order: Vec::with_capacity(row),
            values: lanes(),
            slopes: lanes(),
            factors: vec![R::ZERO; LANES],
            places: vec![0; nodes],
        }
    }
}

/// Calls `visit` with the places of all operands at every index.
pub fn each<const N: usize>(
    dims: &[usize],
    strides: [&[isize]; N],
    mut at: [isize; N],
    visit: &mut impl FnMut([isize; N]),
) {
    let Some(length) = dims.first() else {
        return visit(at);
    };
    for _ in 0..*length {
        each(&dims[1..], strides.map(|strides| &strides[1..]), at, visit);
        at.iter_mut()
            .zip(strides)
            .for_each(|(at, strides)| *at += strides[0]);
    }
}

/// Fills the entries at all indices with 0.
pub fn clear<R: Real>(arena: &mut [R], dims: &[usize], (at, strides): Operand) {
    if let (Some((length, outer)), Some((1, around))) = (dims.split_last(), strides.split_last()) {
        each(outer, [around], [at], &mut |[at]| {
            arena[at as usize..at as usize + length].fill(R::ZERO);
        });
    } else {
        each(dims, [strides], [at], &mut |[at]| {
            arena[at as usize] = R::ZERO;
        });
    }
}

/// Takes entries of y from x; where x has none they are 0.
pub fn set<R: Real>(arena: &mut [R], from: Option<usize>, y: usize, count: usize) {
    match from {
        Some(from) => arena.copy_within(from..from + count, y),
        None => arena[y..y + count].fill(R::ZERO),
    }
}

/// Adds the gradient of entries of the result to that of the entries of the first argument that they are taken from.
pub fn add_slope<R: Real>(
    exec: &Exec,
    memory: &Memory<R>,
) -> impl Fn(&mut [R], Option<usize>, usize, usize) + use<R> {
    let places = [&exec.out, &exec.arguments[0]];
    let [to_y, to_x] = places.map(|place| place.to_slope(memory.gradients as isize));
    move |arena, from, y, count| {
        let Some(from) = from else { return };
        let [y, x] = [
            (y as isize + to_y) as usize,
            (from as isize + to_x) as usize,
        ];
        let (low, high) = arena.split_at_mut(y.max(x));
        let (y, x) = if x < y {
            (&high[..count], &mut low[x..x + count])
        } else {
            (&low[y..y + count], &mut high[..count])
        };
        x.iter_mut().zip(y).for_each(|(x, y)| *x += *y);
    }
}

/// The places of all operands at every index, for kernels: what a closure does is not compiled for their vectors.
pub struct Walk<'a, const N: usize> {
    dims: &'a [usize],
    strides: [&'a [isize]; N],
    at: [isize; N],
    index: [usize; MOST_AXES],
    is_done: bool,
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Begins at the first index.
    #[inline(always)]
    pub fn new(dims: &'a [usize], strides: [&'a [isize]; N], at: [isize; N]) -> Self {
        Self {
            dims,
            strides,
            at,
            index: [0; MOST_AXES],
            is_done: dims.contains(&0),
        }
    }

    /// The next places.
    #[inline(always)]
    pub fn step(&mut self) -> Option<[isize; N]> {
        if self.is_done {
            return None;
        }
        let here = self.at;
        self.is_done = true;
        for dim in (0..self.dims.len()).rev() {
            self.index[dim] += 1;
            if self.index[dim] < self.dims[dim] {
                (0..N).for_each(|own| self.at[own] += self.strides[own][dim]);
                self.is_done = false;
                break;
            }
            self.index[dim] = 0;
            (0..N).for_each(|own| {
                self.at[own] -= self.strides[own][dim] * (self.dims[dim] as isize - 1);
            });
        }
        Some(here)
    }
}

#[inline(always)]
pub(super) fn gather<R: Real>(
    arena: &[R],
    dims: &[usize],
    (at, strides): Operand,
    row: &mut Vec<R>,
) {
    row.clear();
    match (dims, strides) {
        ([length], [1]) => row.extend_from_slice(&arena[at as usize..at as usize + length]),
        ([length], [stride]) => {
            row.extend((0..*length as isize).map(|i| arena[(at + i * stride) as usize]));
        }
        _ => {
            let mut walk = Walk::new(dims, [strides], [at]);
            while let Some([at]) = walk.step() {
                row.push(arena[at as usize]);
            }
        }
    }
}

/// Puts a row where it belongs, or adds it.
#[inline(always)]
pub fn scatter<R: Real>(
    arena: &mut [R],
    dims: &[usize],
    (at, strides): Operand,
    row: &[R],
    adds: bool,
) {
    if let ([length], [1]) = (dims, strides) {
        let to = &mut arena[at as usize..at as usize + length];
        if adds {
            to.iter_mut().zip(row).for_each(|(to, value)| *to += *value);
        } else {
            to.copy_from_slice(row);
        }
        return;
    }
    let mut walk = Walk::new(dims, [strides], [at]);
    for value in row {
        let Some([at]) = walk.step() else { return };
        arena[at as usize] = if adds {
            arena[at as usize] + *value
        } else {
            *value
        };
    }
}

/// Σ x.
#[inline(always)]
pub fn sum<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let mut total = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in x => { total += at.new_or(at.load(x), R::ZERO) });
    total.sum()
}
