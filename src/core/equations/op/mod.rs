//! Operations over arrays, each in a file with its derivative.
//!
//! An operation runs over loops: first those of its result, then those that it sums or normalises over. Every array has a
//! stride for each loop, 0 where it does not vary.

pub mod allocation;
pub mod contract;
pub mod draw;
pub mod log_softmax;
pub mod map;
pub mod maximum;
pub mod onehot;
pub mod pick;
pub mod product;
pub mod rank;
pub mod shift;
pub mod softmax;
pub mod update;
pub mod window;

pub use crate::math::Real;
pub use map::Node;

use super::bind::Exec;
use super::lower::Axis;
use crate::math::pack::each_pack;
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Pack, softmax as core};

/// The most loops of an operation.
pub const MOST_AXES: usize = 18;
/// Entries that an element-wise expression computes at a time.
pub const LANES: usize = 1024;

/// What an operation does with its arguments.
#[derive(Clone, Debug)]
pub enum Act {
    /// Computes each entry by an expression.
    Map(Vec<Node>),
    /// Adds the products of two views over all axes that the result lacks; of one view if there is only one.
    Contract {
        /// Whether it adds to what the result has.
        adds: bool,
        /// Whether the sum is divided by the number of terms.
        is_mean: bool,
    },
    /// eˣ / Σ eˣ over axes.
    Softmax(Vec<Axis>),
    /// x − log Σ eˣ over axes.
    LogSoftmax(Vec<Axis>),
    /// Product over axes.
    Product(Vec<Axis>),
    /// Largest value over axes.
    Maximum(Vec<Axis>),
    /// Index of the largest value.
    Argmax(Axis),
    /// Rank of each entry.
    Rank(Axis),
    /// Allocation by usage.
    Allocation(Axis),
    /// The entries of an axis that the second argument names.
    Pick(Axis),
    /// 1 at the index that the argument names.
    Onehot(Axis),
    /// Circular convolution: the axis, and that of the shifts.
    Shift(Axis, Axis),
    /// A window along an axis: the axis, and that of its entries.
    Window(Axis, Axis),
    /// An index drawn from a distribution over an axis.
    Draw(Axis),
    /// The update of a memory.
    Update(update::Form),
}

impl Default for Act {
    fn default() -> Self {
        Self::Map(vec![])
    }
}

/// An offset and a stride for each loop.
pub type Operand<'a> = (isize, &'a [isize]);

/// All numbers of an engine.
#[derive(Clone, Debug)]
pub struct Memory<R> {
    /// A 1 and a 0, then the values of all arrays, then their gradients in the same order.
    pub arena: Vec<R>,
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
    pub(super) order: Vec<usize>,
    pub(super) values: Vec<[R; LANES]>,
    pub(super) slopes: Vec<[R; LANES]>,
    pub(super) factors: Vec<R>,
    /// Where the values of nodes stand in the arena.
    pub(super) places: Vec<usize>,
}

impl<R: Real> Room<R> {
    /// Room for rows of this length and expressions with this number of nodes.
    pub fn new(row: usize, nodes: usize) -> Self {
        let (rows, lanes) = (
            || Vec::with_capacity(2 * row + LANES),
            || vec![[R::ZERO; LANES]; nodes],
        );
        Self {
            x: rows(),
            y: rows(),
            dy: rows(),
            dx: rows(),
            order: Vec::with_capacity(row),
            values: lanes(),
            slopes: lanes(),
            factors: vec![R::ZERO; LANES],
            places: vec![0; nodes],
        }
    }
}

/// Runs an operation.
pub fn forward<R: Real>(exec: &Exec, memory: &mut Memory<R>, steps: &[usize]) {
    match &exec.act {
        Act::Map(nodes) => map::forward(exec, nodes, memory, steps),
        Act::Contract { adds, is_mean } => contract::forward(exec, *adds, *is_mean, memory),
        Act::Softmax(_) => rows(exec, memory, softmax::Forward),
        Act::LogSoftmax(_) => rows(exec, memory, log_softmax::Forward),
        Act::Product(_) => each_row(exec, memory, |room| product::forward(&room.x, &mut room.y)),
        Act::Maximum(_) => each_row(exec, memory, |room| maximum::forward(&room.x, &mut room.y)),
        Act::Argmax(_) => each_row(exec, memory, |room| maximum::argmax(&room.x, &mut room.y)),
        Act::Rank(_) => each_row(exec, memory, |room| {
            rank::forward(&room.x, &mut room.y, &mut room.order);
        }),
        Act::Allocation(_) => each_row(exec, memory, |room| {
            allocation::forward(&room.x, &mut room.y, &mut room.order);
        }),
        Act::Pick(_) => pick::forward(exec, memory),
        Act::Onehot(_) => onehot::forward(exec, memory),
        Act::Shift(..) => shift::forward(exec, memory),
        Act::Window(..) => window::forward(exec, memory),
        Act::Draw(_) => draw::forward(exec, memory),
        Act::Update(form) => update::forward(exec, *form, memory),
    }
}

/// Adds to the gradients of its arguments what follows from the gradient of its result.
pub fn reverse<R: Real>(exec: &Exec, memory: &mut Memory<R>, steps: &[usize]) {
    match &exec.act {
        Act::Map(nodes) => map::reverse(exec, nodes, memory, steps),
        Act::Contract { is_mean, .. } => contract::reverse(exec, *is_mean, memory),
        Act::Softmax(_) => rows_back(exec, memory, softmax::Reverse),
        Act::LogSoftmax(_) => rows_back(exec, memory, log_softmax::Reverse),
        Act::Product(_) => each_row_back(exec, memory, |room| {
            product::reverse(&room.x, &room.dy, &mut room.dx);
        }),
        Act::Maximum(_) => each_row_back(exec, memory, |room| {
            maximum::reverse(&room.x, &room.dy, &mut room.dx);
        }),
        Act::Allocation(_) => each_row_back(exec, memory, |room| {
            allocation::reverse(&room.x, &room.dy, &mut room.dx, &mut room.order);
        }),
        Act::Pick(_) => pick::reverse(exec, memory),
        Act::Shift(..) => shift::reverse(exec, memory),
        Act::Window(..) => window::reverse(exec, memory),
        Act::Update(form) => update::reverse(exec, *form, memory),
        Act::Argmax(_) | Act::Rank(_) | Act::Onehot(_) | Act::Draw(_) => {}
    }
}

impl Act {
    /// Whether the result lacks the axes of the function.
    fn reduces(&self) -> bool {
        matches!(self, Self::Product(_) | Self::Maximum(_) | Self::Argmax(_))
    }
}

/// Calls `see` with the places of all operands at every index.
pub fn each<const N: usize>(
    dims: &[usize],
    strides: [&[isize]; N],
    mut at: [isize; N],
    see: &mut impl FnMut([isize; N]),
) {
    let Some(length) = dims.first() else {
        return see(at);
    };
    for _ in 0..*length {
        each(&dims[1..], strides.map(|strides| &strides[1..]), at, see);
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

/// Takes an entry of y from x; where x has none it is 0.
fn set<R: Real>(arena: &mut [R], from: Option<usize>, y: usize) {
    arena[y] = from.map_or(R::ZERO, |from| arena[from]);
}

/// Adds the gradient of an entry of the result to that of the entry of the first argument that it is taken from.
fn add_slope<R: Real>(
    exec: &Exec,
    memory: &Memory<R>,
) -> impl Fn(&mut [R], Option<usize>, usize) + use<R> {
    let places = [&exec.out, &exec.arguments[0]];
    let [to_y, to_x] = places.map(|place| place.to_slope(memory.gradients as isize));
    move |arena, from, y| {
        if let Some(from) = from {
            let slope = arena[(y as isize + to_y) as usize];
            arena[(from as isize + to_x) as usize] += slope;
        }
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
fn gather<R: Real>(arena: &[R], dims: &[usize], (at, strides): Operand, row: &mut Vec<R>) {
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
fn scatter<R: Real>(
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

/// A function of rows, compiled for every instruction set: of x it makes y, and of x, y and dy it makes dx.
trait Rows<R: Real>: Copy {
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
        let mut walk = Walk::new(outer, [&x.strides[..n], &y.strides[..n]], [x.at, y.at]);
        while let Some([x_at, y_at]) = walk.step() {
            let [of_x, of_y] = [&x.strides[n..], &y.strides[n..]];
            gather(arena, inner, (x_at, of_x), &mut room.x);
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
                scatter(arena, inner, (x_at + x_slope, of_x), &room.dx, true);
            } else {
                scatter(arena, kept, (y_at, of_y), &room.y, false);
            }
        }
    }
}

/// Runs a function of rows.
fn rows<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: impl Rows<R>) {
    dispatch(EachRow {
        exec,
        memory,
        function,
        is_reverse: false,
    });
}

/// Runs the derivative of a function of rows.
fn rows_back<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: impl Rows<R>) {
    if exec.arguments[0].slope {
        dispatch(EachRow {
            exec,
            memory,
            function,
            is_reverse: true,
        });
    }
}

/// Runs a function of rows, one number after another.
fn each_row<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: fn(&mut Room<R>)) {
    rows(exec, memory, function);
}

/// Runs the derivative of a function of rows, one number after another.
fn each_row_back<R: Real>(exec: &Exec, memory: &mut Memory<R>, function: fn(&mut Room<R>)) {
    rows_back(exec, memory, function);
}

/// A function on numbers one by one.
impl<R: Real> Rows<R> for fn(&mut Room<R>) {
    #[inline(always)]
    fn run<S: Simd>(self, _: S, room: &mut Room<R>) {
        self(room);
    }
}

/// Σ x.
#[inline(always)]
fn sum<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let mut total = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in x => { total += at.new_or(at.load(x), R::ZERO) });
    total.sum()
}

/// What the tests of operations share.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// Numbers that look random, in −1..1.
    pub fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..count)
            .map(|_| {
                (state, _) = state.overflowing_mul(6_364_136_223_846_793_005);
                state = state.wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
            })
            .collect()
    }

    /// A memory with these values behind the 1.
    pub fn memory<R: Real>(values: &[R]) -> Memory<R> {
        let mut arena = vec![R::from_f64(1.0)];
        arena.extend(values);
        arena.resize(2 * arena.len(), R::ZERO);
        Memory {
            gradients: arena.len() / 2,
            arena,
            constants: vec![R::from_f64(0.5)],
            room: Room::new(64, 24),
        }
    }

    /// A function of one row: y, and dx for this dy.
    pub fn row<R: Real>(act: Act, x: &[R], dy: &[R]) -> (Vec<R>, Vec<R>) {
        let n = x.len();
        let mut memory = memory(&[x, &vec![R::ZERO; n]].concat());
        let exec = Exec::alone(act, &[n], 1, &[(1 + n as isize, &[1]), (1, &[1])]);
        forward(&exec, &mut memory, &[]);
        let y = memory.arena[(1 + n)..=(2 * n)].to_vec();
        let at = memory.gradients + 1;
        memory.arena[at + n..at + 2 * n].copy_from_slice(dy);
        reverse(&exec, &mut memory, &[]);
        (y, memory.arena[at..at + n].to_vec())
    }

    /// Strides of a whole array with the loops of `has`, and its number of entries.
    fn whole(dims: &[usize], has: &[usize]) -> (Vec<isize>, usize) {
        let (mut strides, mut size) = (vec![0; dims.len()], 1);
        for dim in has.iter().rev() {
            strides[*dim] = size as isize;
            size *= dims[*dim];
        }
        (strides, size)
    }

    /// Holds the derivative of an operation to differences, for a random gradient of its result. `has`: the loops that the
    /// result has and those that each argument has; `value`: what an argument has instead of a number in −1..1.
    ///
    /// # Panics
    /// Where they differ.
    pub fn check(
        act: Act,
        dims: &[usize],
        inner: usize,
        has: &[&[usize]],
        value: impl Fn(usize, f64) -> f64,
    ) {
        let (mut at, mut places, mut values) = (1, vec![], vec![]);
        for (index, has) in has.iter().enumerate() {
            let (strides, size) = whole(dims, has);
            values.extend(numbers(size, index as u64 + 3).into_iter().map(|number| {
                if index == 0 {
                    0.0
                } else {
                    value(index - 1, number)
                }
            }));
            places.push((at, strides, size));
            at += size as isize;
        }
        let list: Vec<Operand> = places
            .iter()
            .map(|(at, strides, _)| (*at, &strides[..]))
            .collect();
        let exec = Exec::alone(act, dims, inner, &list);
        let out = 1..1 + places[0].2;
        let slopes = numbers(places[0].2, 99);
        let run = |values: &[f64]| {
            let mut memory = memory(values);
            forward(&exec, &mut memory, &[7]);
            (
                memory.arena[out.clone()]
                    .iter()
                    .zip(&slopes)
                    .map(|(y, slope)| y * slope)
                    .sum::<f64>(),
                memory,
            )
        };
        let (_, mut memory) = run(&values);
        let gradients = memory.gradients;
        memory.arena[gradients + 1..gradients + 1 + places[0].2].copy_from_slice(&slopes);
        reverse(&exec, &mut memory, &[7]);
        for index in places[0].2..values.len() {
            let step = 1e-5;
            let at = |change: f64| {
                let mut values = values.clone();
                values[index] += change;
                run(&values).0
            };
            let wanted = (at(step) - at(-step)) / (2.0 * step);
            let found = memory.arena[gradients + 1 + index];
            assert!(
                (wanted - found).abs() < 1e-8 * (1.0 + wanted.abs()),
                "{:?}: argument entry {index}: {found} by the rule, {wanted} by differences",
                exec.act
            );
        }
    }
}
