//! Element-wise expressions, computed for some entries of the last loop at a time.

use std::cell::Cell;

use super::exec::{Act, Exec, MOST_AXES, Node, Place};
use super::memory::{LANES, Memory, Room, sum};
use crate::equations::tree::{Function, Operator};
use crate::math::gamma::{digamma, ln_gamma};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Pack, Real, pack::each_pack, sigmoid, softplus};

/// A function of packs. (No closure: nothing makes the compiler inline it where the vectors are.)
macro_rules! packs {
    ($simd:ident, $lane:expr, |$x:ident in $from:ident, $y:ident in $other:ident| $value:expr) => {{
        let (to, x, y) = (
            R::packs_mut::<S>($lane),
            R::packs::<S>($from),
            R::packs::<S>($other),
        );
        for ((to, x), y) in to.iter_mut().zip(x).zip(y) {
            let ($x, $y) = (Pack::<R, S>::new($simd, *x), Pack::<R, S>::new($simd, *y));
            *to = $value.values();
        }
    }};
    ($simd:ident, $lane:expr, |$x:ident in $from:ident| $value:expr) => {
        for (to, x) in R::packs_mut::<S>($lane)
            .iter_mut()
            .zip(R::packs::<S>($from))
        {
            let $x = Pack::<R, S>::new($simd, *x);
            *to = $value.values();
        }
    };
}

/// Entries that are computed together: whole rows of the last loop, or a part of one.
struct Tile {
    /// The index of the first row in all loops but the last, and how many these are.
    index: [usize; MOST_AXES],
    outer: usize,
    rows: usize,
    begin: usize,
    width: usize,
}

/// A node that has no place in the arena.
const NOWHERE: usize = usize::MAX;

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, nodes: &[Node], memory: &mut Memory<R>, steps: &[usize]) {
    dispatch::<R, _>(Map {
        exec,
        nodes,
        memory,
        steps,
        is_reverse: false,
    });
}

/// Adds what follows from the gradient of the result to those of the arguments.
pub fn reverse<R: Real>(exec: &Exec, nodes: &[Node], memory: &mut Memory<R>, steps: &[usize]) {
    dispatch::<R, _>(Map {
        exec,
        nodes,
        memory,
        steps,
        is_reverse: true,
    });
}

struct Map<'a, R> {
    exec: &'a Exec,
    nodes: &'a [Node],
    memory: &'a mut Memory<R>,
    steps: &'a [usize],
    is_reverse: bool,
}

impl<R: Real> Kernel for Map<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            exec,
            nodes,
            memory,
            steps,
            is_reverse,
        } = self;
        let mut done = 0;
        let mut tiles = Tile::first(exec);
        while let Some(tile) = &tiles {
            compute(simd, exec, nodes, memory, steps, tile, done, is_reverse);
            done = exec.steady;
            if is_reverse {
                back(simd, exec, nodes, memory, tile);
            } else {
                store(nodes.len() - 1, &exec.out, memory, tile);
            }
            tiles = tile.next(exec);
        }
    }
}

/// Puts the values of a node where they belong.
#[inline(always)]
fn store<R: Real>(node: usize, place: &Place, memory: &mut Memory<R>, tile: &Tile) {
    let Memory { arena, room, .. } = memory;
    let (count, length, stride, next, mut at) = tile.pieces(place);
    let from = room.places[node];
    for piece in 0..count {
        let range = piece * length..(piece + 1) * length;
        if from != NOWHERE && stride == 1 {
            arena.copy_within(from + range.start..from + range.end, at as usize);
        } else if stride == 1 {
            arena[at as usize..at as usize + length].copy_from_slice(&room.values[node][range]);
        } else {
            (0..length).for_each(|i| {
                let own = range.start + i;
                arena[(at + i as isize * stride) as usize] = if from == NOWHERE {
                    room.values[node][own]
                } else {
                    arena[from + own]
                };
            });
        }
        at += next;
    }
}

/// Where the slope is 0 the gradient is 0, even if the derivative is no number.
#[inline(always)]
fn zero_where<R: Real>(slope: &[R], part: &mut [R]) {
    let zeros = part.iter_mut().zip(slope);
    zeros
        .filter(|(_, slope)| **slope == R::ZERO)
        .for_each(|(part, _)| *part = R::ZERO);
}

/// Where gradients of nodes go.
struct Flow<'a, R> {
    wanted: u128,
    seen: &'a mut u128,
    lanes: &'a mut [[R; LANES]],
    slopes: &'a mut [R],
    places: &'a [usize],
    nodes: &'a [Node],
    exact: usize,
    exec: &'a Exec,
    gradients: isize,
}

/// Hands the gradients of a tile on.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "an arm for each node")]
fn back<R: Real, S: Simd>(
    simd: S,
    exec: &Exec,
    nodes: &[Node],
    memory: &mut Memory<R>,
    tile: &Tile,
) {
    let exact = tile.rows * tile.width;
    let count = exact.next_multiple_of(16);
    let Memory {
        arena,
        room,
        gradients,
        ..
    } = memory;
    let Room {
        values: lanes,
        slopes: all,
        factors,
        places,
        x: part,
        ..
    } = room;
    part.resize(LANES, R::ZERO);
    let (low, high) = arena.split_at_mut(*gradients);
    let mut seen = 0;
    if nodes.len() > 127 {
        all[127..nodes.len()]
            .iter_mut()
            .for_each(|lane| lane[..count].fill(R::ZERO));
    }
    for (at, node) in nodes.iter().enumerate().rev() {
        let (before, here) = all.split_at_mut(at);
        if at + 1 == nodes.len() {
            let offset = exec.out.to_slope(*gradients as isize) - *gradients as isize;
            load(high, &exec.out, offset, tile, &mut here[0]);
        } else if at < 127 && !bit(seen, at) {
            continue;
        }
        let slope = &here[0][..count];
        let values = |node: usize| match places[node] {
            NOWHERE => &lanes[node][..count],
            place => &low[place..place + count],
        };
        let own = values(at);
        let mut flow = Flow {
            exec,
            wanted: exec.wanted,
            seen: &mut seen,
            lanes: before,
            slopes: &mut *high,
            places,
            nodes,
            exact,
            gradients: *gradients as isize,
        };
        let (one, is_guarded) = (Pack::<R, S>::splat(simd, R::ONE), exec.is_guarded);
        // Adds a part of the gradient of a node, of the slope and two values.
        macro_rules! add {
            (each $node:expr, $a:expr, $b:expr, |$s:ident, $x:tt, $y:tt| $part:expr) => {
                if bit(flow.wanted, $node) {
                    let (a, b, part) = (&$a[..count], &$b[..count], &mut part[..count]);
                    for i in 0..count {
                        let ($s, $x, $y) = (slope[i], a[i], b[i]);
                        part[i] = $part;
                    }
                    zero_where(slope, part);
                    flow.add(simd, $node, part);
                }
            };
            ($node:expr, $a:expr, $b:expr, |$s:ident, $x:ident, $y:ident| $part:expr) => {
                if bit(flow.wanted, $node) {
                    let part = &mut part[..count];
                    let mut check = Pack::<R, S>::splat(simd, R::ZERO);
                    let (s, a, b) = (
                        R::packs::<S>(slope),
                        R::packs::<S>(&$a[..count]),
                        R::packs::<S>(&$b[..count]),
                    );
                    for (((to, s), a), b) in R::packs_mut::<S>(part).iter_mut().zip(s).zip(a).zip(b)
                    {
                        let ($s, $x, $y) = (
                            Pack::<R, S>::new(simd, *s),
                            Pack::<R, S>::new(simd, *a),
                            Pack::<R, S>::new(simd, *b),
                        );
                        let _ = ($x, $y);
                        let own = $part;
                        if is_guarded {
                            check = own.mul_add(R::ZERO, check);
                        }
                        *to = own.values();
                    }
                    if is_guarded && check.sum() != R::ZERO {
                        zero_where(slope, part);
                    }
                    flow.add(simd, $node, part);
                }
            };
        }
        match *node {
            Node::Argument(argument) => {
                let place = &exec.arguments[argument];
                if place.slope {
                    let (count, length, stride, next, at) = tile.pieces(place);
                    let mut at = at + place.to_slope(*gradients as isize) - *gradients as isize;
                    for piece in 0..count {
                        add_row(
                            simd,
                            flow.slopes,
                            at,
                            stride,
                            &slope[piece * length..(piece + 1) * length],
                        );
                        at += next;
                    }
                }
            }
            Node::Negative(x) => add!(x, own, own, |s, a, b| -s),
            Node::AtLeastTiny(x) => flow.add(simd, x, slope),
            Node::Binary(operator, x, y) => {
                let (a, b) = (values(x), values(y));
                match operator {
                    Operator::Add => {
                        flow.add(simd, x, slope);
                        flow.add(simd, y, slope);
                    }
                    Operator::Subtract => {
                        flow.add(simd, x, slope);
                        add!(y, a, b, |s, a, b| -s);
                    }
                    Operator::Multiply => {
                        add!(x, a, b, |s, a, b| s * b);
                        add!(y, a, b, |s, a, b| s * a);
                    }
                    Operator::Divide => {
                        add!(x, a, b, |s, a, b| s / b);
                        add!(y, own, b, |s, a, b| -(s * a / b));
                    }
                    Operator::Power => {
                        add!(each x, a, b, |slope, a, b| slope * b * power(a, b - R::ONE));
                        if !matches!(nodes[y], Node::Number(_) | Node::Constant(_)) {
                            add!(each y, own, a, |slope, own, a| slope * own * log(a));
                        }
                    }
                    _ => {}
                }
            }
            Node::Unary(function, x) => {
                let of = values(x);
                match function {
                    Function::Exp => add!(x, of, own, |s, a, b| s * b),
                    Function::Expm1 => add!(x, of, own, |s, a, b| s * (b + one)),
                    Function::Log => add!(x, of, own, |s, a, b| s / a),
                    Function::Sqrt => add!(x, of, own, |s, a, b| s * R::from_f64(0.5) / b),
                    Function::Abs => {
                        add!(each x, of, own, |slope, x, _| if x < R::ZERO { -slope } else { slope });
                    }
                    Function::Sin => {
                        add!(each x, of, own, |slope, x, _| slope * R::from_f64(x.to_f64().cos()));
                    }
                    Function::Cos => {
                        add!(each x, of, own, |slope, x, _| -slope * R::from_f64(x.to_f64().sin()));
                    }
                    Function::Sigmoid => add!(x, of, own, |s, a, b| s * (b * (one - b))),
                    Function::Tanh => add!(x, of, own, |s, a, b| s * (one - b * b)),
                    Function::Relu => {
                        add!(each x, of, own, |slope, x, _| if x > R::ZERO { slope } else { R::ZERO });
                    }
                    Function::Softplus | Function::Lgamma => {
                        let factors = &mut factors[..count];
                        if function == Function::Softplus {
                            packs!(simd, factors, |x in of| sigmoid(x));
                        } else {
                            packs!(simd, factors, |x in of| digamma(x));
                        }
                        add!(x, factors, own, |s, a, b| s * a);
                    }
                    _ => {}
                }
            }
            Node::Extreme(function, x, y) => {
                // Equal values have half each.
                let (a, b, half) = (values(x), values(y), R::from_f64(0.5));
                let share = |a: R, b: R| {
                    if a == b {
                        half
                    } else {
                        R::from_f64(f64::from((a > b) == (function == Function::Max)))
                    }
                };
                add!(each x, a, b, |slope, a, b| slope * share(a, b));
                add!(each y, a, b, |slope, a, b| slope * share(b, a));
            }
            Node::Where(condition, x, y) => {
                let (condition, zero) = (values(condition), R::ZERO);
                add!(each x, condition, own, |slope, condition, _| if condition == zero { zero } else { slope });
                add!(each y, condition, own, |slope, condition, _| if condition == zero { slope } else { zero });
            }
            _ => {}
        }
    }
}

impl<R: Real> Flow<'_, R> {
    /// Adds a part of the gradient of a node.
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, node: usize, part: &[R]) {
        if !bit(self.wanted, node) {
            return;
        }
        if let (Node::Argument(argument), place @ 0..NOWHERE) =
            (self.nodes[node], self.places[node])
        {
            let place = (place as isize + self.exec.arguments[argument].to_slope(self.gradients)
                - self.gradients) as usize;
            let to = &mut self.slopes[place..place + self.exact];
            each_pack!(simd, at in to => { at.store(to, at.load(to) + at.load(part)) });
        } else if node >= 127 || bit(*self.seen, node) {
            let to = &mut self.lanes[node][..part.len()];
            each_pack!(simd, at in to => { at.store(to, at.load(to) + at.load(part)) });
        } else {
            self.lanes[node][..part.len()].copy_from_slice(part);
        }
        *self.seen |= if matches!(
            (self.nodes[node], self.places[node]),
            (Node::Argument(_), 0..NOWHERE)
        ) {
            0
        } else {
            1 << node.min(127)
        };
    }
}

impl Node {
    /// Whether the values, or some of them, that it is computed from are of a kind; none if it is computed from no values.
    fn of_parts(self, is: impl Fn(usize) -> bool) -> Option<[bool; 3]> {
        match self {
            Self::Negative(x) | Self::Unary(_, x) | Self::AtLeastTiny(x) => Some([is(x); 3]),
            Self::Binary(_, x, y) | Self::Extreme(_, x, y) => Some([is(x), is(x), is(y)]),
            Self::Where(x, y, z) => Some([is(x), is(y), is(z)]),
            _ => None,
        }
    }
}

/// Nodes whose gradients are wanted, as bits.
pub fn wanted(exec: &Exec) -> u128 {
    let Act::Map(nodes) = &exec.act else { return 0 };
    let mut wanted = 0;
    for (at, node) in nodes.iter().enumerate() {
        let is_wanted = match *node {
            Node::Argument(argument) => exec.arguments[argument].slope,
            Node::Unary(Function::Stop | Function::Floor, _) => false,
            // The condition of a choice has no gradient.
            node => node
                .of_parts(|part| bit(wanted, part))
                .is_some_and(|own| own[1] || own[2]),
        };
        wanted |= u128::from(is_wanted) << at.min(127);
    }
    wanted
}

/// Nodes whose values derivatives need, as bits. For the last one, which is recorded, no others are.
pub fn needed(exec: &Exec) -> u128 {
    let Act::Map(nodes) = &exec.act else { return 0 };
    let mut needed = 0;
    for (at, node) in nodes.iter().enumerate().rev() {
        let part = |node: usize| 1 << node.min(127);
        let of = |node: usize, for_that_of: usize| {
            part(node) * u128::from(bit(exec.wanted, for_that_of))
        };
        let all = Cell::new(0);
        node.of_parts(|own| {
            all.set(all.get() | part(own));
            true
        });
        needed |= match *node {
            _ if !bit(exec.wanted, at) => 0,
            Node::Negative(_)
            | Node::AtLeastTiny(_)
            | Node::Binary(Operator::Add | Operator::Subtract, ..) => 0,
            Node::Binary(Operator::Multiply, x, y) => of(x, y) | of(y, x),
            Node::Binary(Operator::Divide, _, y) => part(y) | of(at, y),
            Node::Binary(..) => all.get() | part(at),
            Node::Unary(
                Function::Exp
                | Function::Expm1
                | Function::Sqrt
                | Function::Sigmoid
                | Function::Tanh,
                _,
            ) => part(at),
            Node::Where(condition, ..) => part(condition),
            _ => all.get(),
        };
        if bit(needed, at) && at + 1 < nodes.len() {
            needed |= all.get();
        }
    }
    needed
}

/// Whether a derivative may be no number where all values are.
pub fn is_guarded(exec: &Exec) -> bool {
    let is = |node: &Node| {
        matches!(
            node,
            Node::Binary(Operator::Divide | Operator::Power, ..)
                | Node::Where(..)
                | Node::Extreme(..)
        ) || matches!(
            node,
            Node::Unary(
                Function::Log | Function::Sqrt | Function::Exp | Function::Expm1 | Function::Lgamma,
                _
            )
        )
    };
    matches!(&exec.act, Act::Map(nodes) if nodes.iter().any(is))
}

/// Whether a node is among those of a list; nodes behind the 127th share a bit.
#[inline(always)]
fn bit(list: u128, node: usize) -> bool {
    list >> node.min(127) & 1 == 1
}

impl Tile {
    /// The first tile of the result.
    #[inline(always)]
    fn first(exec: &Exec) -> Option<Self> {
        (!exec.dims.contains(&0)).then(|| {
            Self {
                index: [0; MOST_AXES],
                outer: exec.dims.len().saturating_sub(1),
                rows: 0,
                begin: 0,
                width: 0,
            }
            .sized(exec)
        })
    }

    #[inline(always)]
    fn sized(self, exec: &Exec) -> Self {
        let whole = exec.dims.last().copied().unwrap_or(1);
        let left = self
            .outer
            .checked_sub(1)
            .map_or(1, |last| exec.dims[last] - self.index[last]);
        Self {
            rows: left.min((LANES / whole).max(1)),
            width: (whole - self.begin).min(LANES),
            ..self
        }
    }

    /// The tile after this one.
    #[inline(always)]
    fn next(&self, exec: &Exec) -> Option<Self> {
        let mut index = self.index;
        let begin = self.begin + self.width;
        if begin < exec.dims.last().copied().unwrap_or(1) {
            return Some(
                Self {
                    index,
                    begin,
                    ..*self
                }
                .sized(exec),
            );
        }
        let last = self.outer.checked_sub(1)?;
        index[last] += self.rows;
        for dim in (0..self.outer).rev() {
            if index[dim] < exec.dims[dim] {
                return Some(
                    Self {
                        begin: 0,
                        index,
                        ..*self
                    }
                    .sized(exec),
                );
            }
            index[dim] = 0;
            index[dim.checked_sub(1)?] += 1;
        }
        None
    }

    /// How an array stands in the tile: a number of pieces, their length, the stride along them and between them, and the
    /// place of the first.
    #[inline(always)]
    fn pieces(&self, place: &Place) -> (usize, usize, isize, isize, isize) {
        let stride = place.strides.last().copied().unwrap_or(0);
        let mut at = place.at + self.begin as isize * stride;
        for dim in 0..self.outer {
            at += self.index[dim] as isize * place.strides[dim];
        }
        let next = self
            .outer
            .checked_sub(1)
            .map_or(0, |last| place.strides[last]);
        if next == stride * self.width as isize {
            (1, self.rows * self.width, stride, next, at)
        } else {
            (self.rows, self.width, stride, next, at)
        }
    }
}

#[inline(always)]
fn load<R: Real>(arena: &[R], place: &Place, offset: isize, tile: &Tile, lane: &mut [R]) {
    let (count, length, stride, next, at) = tile.pieces(place);
    let mut at = at + offset;
    for piece in 0..count {
        let lane = &mut lane[piece * length..(piece + 1) * length];
        match stride {
            0 => lane.fill(arena[at as usize]),
            1 => lane.copy_from_slice(&arena[at as usize..at as usize + length]),
            _ => (0..length).for_each(|i| lane[i] = arena[(at + i as isize * stride) as usize]),
        }
        at += next;
    }
}

#[inline(always)]
fn add_row<R: Real, S: Simd>(simd: S, arena: &mut [R], at: isize, stride: isize, lane: &[R]) {
    match stride {
        0 => arena[at as usize] += sum(simd, lane),
        1 => arena[at as usize..at as usize + lane.len()]
            .iter_mut()
            .zip(lane)
            .for_each(|(to, value)| *to += *value),
        _ => lane
            .iter()
            .enumerate()
            .for_each(|(i, value)| arena[(at + i as isize * stride) as usize] += *value),
    }
}

/// Nodes that have the same values in every tile, as bits.
pub fn steady(exec: &Exec) -> u128 {
    let Act::Map(nodes) = &exec.act else { return 0 };
    let outer = exec.dims.len().saturating_sub(1);
    if exec.dims.last().is_some_and(|width| *width > LANES) {
        return 0;
    }
    let mut out = 0;
    for (at, node) in nodes.iter().enumerate().take(127) {
        let is_steady = match *node {
            Node::Argument(argument) => {
                let mut strides = exec.arguments[argument].strides.iter().take(outer);
                strides.all(|stride| *stride == 0)
            }
            Node::Index(dim) => dim == outer,
            node => node
                .of_parts(|part| bit(out, part))
                .is_none_or(|own| own == [true; 3]),
        };
        out |= u128::from(is_steady) << at;
    }
    out
}

/// Computes all nodes for a tile but those that are `done`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what a tile is computed from")]
fn compute<R: Real, S: Simd>(
    simd: S,
    exec: &Exec,
    nodes: &[Node],
    memory: &mut Memory<R>,
    steps: &[usize],
    tile: &Tile,
    done: u128,
    is_reverse: bool,
) {
    let Memory {
        arena,
        room,
        constants,
        gradients,
    } = memory;
    let (exact, outer) = (tile.rows * tile.width, tile.outer);
    // Whole packs; what stands behind the end is not stored.
    let count = exact.next_multiple_of(16);
    for (at, node) in nodes.iter().enumerate() {
        if at < 127 && bit(done, at) {
            continue;
        }
        let (before, rest) = room.values.split_at_mut(at);
        room.places[at] = NOWHERE;
        // A contiguous array is used in place: an argument, or in reverse a value computed before.
        let place = match node {
            Node::Argument(argument) => Some(&exec.arguments[*argument]),
            _ if is_reverse && at + 1 == nodes.len() => Some(&exec.out),
            _ => None,
        };
        if let Some((1, length, 1, _, from)) = place.map(|place| tile.pieces(place))
            && length > 1
            && from as usize + count <= *gradients
        {
            room.places[at] = from as usize;
            continue;
        }
        if is_reverse && !bit(exec.needed, at) {
            continue;
        }
        if let Some(place) = place {
            load(arena, place, 0, tile, &mut rest[0]);
            continue;
        }
        let places = &room.places;
        let values = |node: usize| match places[node] {
            NOWHERE => &before[node][..count],
            place => &arena[place..place + count],
        };
        let lane = &mut rest[0][..count];
        match *node {
            Node::Number(number) => lane.fill(R::from_f64(number)),
            Node::Constant(constant) => lane.fill(constants[constant]),
            Node::Index(dim) if dim + 1 >= outer => {
                for (row, lane) in lane[..exact].chunks_mut(tile.width).enumerate() {
                    match outer.checked_sub(dim + 1) {
                        Some(_) => lane.fill(R::from_f64((tile.index[dim] + row) as f64)),
                        None => lane
                            .iter_mut()
                            .zip(tile.begin as u32..)
                            .for_each(|(to, index)| *to = R::from_f64(f64::from(index))),
                    }
                }
            }
            Node::Index(dim) => lane.fill(R::from_f64(tile.index[dim] as f64)),
            Node::Step(frame) => lane.fill(R::from_f64(steps[frame] as f64)),
            Node::Steps(frame, first, now) => {
                lane.fill(R::from_f64((steps[frame].abs_diff(first) + now) as f64));
            }
            Node::Negative(x) => each(lane, values(x), values(x), |a, _| -a),
            Node::AtLeastTiny(x) => each(lane, values(x), values(x), |a, _| {
                if a < R::TINY { R::TINY } else { a }
            }),
            Node::Unary(function, x) => unary(simd, function, values(x), lane),
            Node::Binary(operator, x, y) => binary(simd, operator, values(x), values(y), lane),
            Node::Extreme(Function::Max, x, y) => {
                each(lane, values(x), values(y), |a, b| if a > b { a } else { b });
            }
            Node::Extreme(_, x, y) => {
                each(lane, values(x), values(y), |a, b| if a < b { a } else { b });
            }
            Node::Where(condition, x, y) => {
                lane.copy_from_slice(values(x));
                lane.iter_mut()
                    .zip(values(condition))
                    .zip(values(y))
                    .for_each(|((to, condition), b)| {
                        if *condition == R::ZERO {
                            *to = *b;
                        }
                    });
            }
            Node::Argument(_) | Node::Length(_) => lane.fill(R::ZERO),
        }
    }
}

#[inline(always)]
fn each<R: Real>(lane: &mut [R], a: &[R], b: &[R], value: impl Fn(R, R) -> R) {
    lane.iter_mut()
        .zip(a)
        .zip(b)
        .for_each(|((to, a), b)| *to = value(*a, *b));
}

#[inline(always)]
fn unary<R: Real, S: Simd>(simd: S, function: Function, x: &[R], lane: &mut [R]) {
    let plain = |lane: &mut [R], value: fn(f64) -> f64| {
        each(lane, x, x, |x, _| R::from_f64(value(x.to_f64())));
    };
    match function {
        Function::Exp => packs!(simd, lane, |x in x| x.exp()),
        Function::Sigmoid => packs!(simd, lane, |x in x| sigmoid(x)),
        Function::Tanh => packs!(simd, lane, |x in x| x.tanh()),
        Function::Softplus => packs!(simd, lane, |x in x| softplus(x)),
        Function::Lgamma => packs!(simd, lane, |x in x| ln_gamma(x)),
        Function::Log => {
            packs!(simd, lane, |x in x| x.ln());
            // Where the fast logarithm does not know better.
            for (y, x) in lane
                .iter_mut()
                .zip(x)
                .filter(|(_, x)| **x < R::TINY || !x.is_finite())
            {
                *y = log(*x);
            }
        }
        Function::Sqrt => each(lane, x, x, |x, _| x.sqrt()),
        Function::Abs => each(lane, x, x, |x, _| x.abs()),
        Function::Floor => each(lane, x, x, |x, _| x.floor()),
        Function::Relu => each(lane, x, x, |x, _| if x > R::ZERO { x } else { R::ZERO }),
        Function::Expm1 => plain(lane, f64::exp_m1),
        Function::Sin => plain(lane, f64::sin),
        Function::Cos => plain(lane, f64::cos),
        _ => lane.copy_from_slice(x),
    }
}

fn log<R: Real>(x: R) -> R {
    R::from_f64(x.to_f64().ln())
}

/// xⁿ.
fn power<R: Real>(x: R, n: R) -> R {
    let (x, n) = (x.to_f64(), n.to_f64());
    R::from_f64(if n.fract() == 0.0 && n.abs() < 64.0 {
        x.powi(n as i32)
    } else {
        x.powf(n)
    })
}

#[inline(always)]
fn binary<R: Real, S: Simd>(simd: S, operator: Operator, a: &[R], b: &[R], lane: &mut [R]) {
    let truth = |is: bool| if is { R::from_f64(1.0) } else { R::ZERO };
    match operator {
        Operator::Add => packs!(simd, lane, |x in a, y in b| x + y),
        Operator::Subtract => packs!(simd, lane, |x in a, y in b| x - y),
        Operator::Multiply => packs!(simd, lane, |x in a, y in b| x * y),
        Operator::Divide => packs!(simd, lane, |x in a, y in b| x / y),
        Operator::Power => each(lane, a, b, power),
        Operator::Less => each(lane, a, b, |a, b| truth(a < b)),
        Operator::More => each(lane, a, b, |a, b| truth(a > b)),
        Operator::AtMost => each(lane, a, b, |a, b| truth(a <= b)),
        Operator::AtLeast => each(lane, a, b, |a, b| truth(a >= b)),
        Operator::Equal => each(lane, a, b, |a, b| truth(a == b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{
        Act,
        tests::{check, memory},
    };

    fn one(node: Node) -> Act {
        Act::Map(vec![
            Node::Argument(0),
            Node::Argument(1),
            Node::Argument(2),
            node,
        ])
    }

    fn check_one(node: Node, value: impl Fn(usize, f64) -> f64) {
        // Rows longer than what is computed at a time; arguments that lack an axis.
        check(
            one(node),
            &[2, LANES + 9],
            0,
            &[&[0, 1], &[1, 0], &[0], &[1]],
            value,
        );
    }

    #[test]
    fn gradients_of_operators() {
        for operator in [
            Operator::Add,
            Operator::Subtract,
            Operator::Multiply,
            Operator::Divide,
            Operator::Less,
        ] {
            check_one(Node::Binary(operator, 0, 1), |_, x| x + 2.0 * x.signum());
        }
        check_one(Node::Binary(Operator::Power, 0, 1), |_, x| x + 2.0);
        check_one(Node::Negative(2), |_, x| x);
        check_one(Node::Where(0, 1, 2), |argument, x| {
            if argument == 0 { f64::from(x > 0.0) } else { x }
        });
        check_one(Node::Extreme(Function::Max, 0, 1), |_, x| x);
        check_one(Node::Extreme(Function::Min, 0, 2), |_, x| x);
        check_one(Node::Number(2.0), |_, x| x);
        check(
            Act::Map(vec![
                Node::Argument(0),
                Node::Index(0),
                Node::Index(1),
                Node::Step(0),
                Node::Constant(0),
                Node::Binary(Operator::Add, 1, 2),
                Node::Binary(Operator::Multiply, 0, 5),
            ]),
            &[2, 3],
            0,
            &[&[0, 1], &[0, 1]],
            |_, x| x,
        );
        check(
            Act::Map(vec![Node::Argument(0)]),
            &[],
            0,
            &[&[], &[]],
            |_, x| x,
        );
    }

    #[test]
    fn gradients_of_functions() {
        use Function::*;
        for function in [
            Exp, Expm1, Log, Sqrt, Abs, Sin, Cos, Sigmoid, Tanh, Softplus, Relu, Lgamma,
        ] {
            check_one(Node::Unary(function, 0), |_, x| {
                if matches!(function, Log | Sqrt | Lgamma) {
                    1.5 + x
                } else {
                    2.0 * x + 0.01
                }
            });
        }
        // Known values of the logarithm of the gamma function.
        for (x, wanted) in [
            (0.25, 1.288_022_524_698_077_5),
            (1.0, 0.0),
            (4.0, 6f64.ln()),
            (40.0, 106.631_760_260_643_46),
        ] {
            let mut memory = memory(&[0.0, x]);
            let nodes = [Node::Argument(0), Node::Unary(Lgamma, 0)];
            let exec = Exec::alone(Act::Map(nodes.to_vec()), &[], 0, &[(1, &[]), (2, &[])]);
            forward(&exec, &nodes, &mut memory, &[]);
            assert!((memory.arena[1] - wanted).abs() < 1e-13 * (1.0 + wanted));
        }
    }

    /// The value and the gradients of a, b and c for a gradient 1 of the result.
    fn limit(nodes: &[Node], values: [f32; 3]) -> (f32, [f32; 3]) {
        let mut memory = memory(&[0.0, values[0], values[1], values[2]]);
        let exec = Exec::alone(
            Act::Map(nodes.to_vec()),
            &[],
            0,
            &[(1, &[]), (2, &[]), (3, &[]), (4, &[])],
        );
        forward(&exec, nodes, &mut memory, &[]);
        let at = memory.gradients;
        memory.arena[at + 1] = 1.0;
        reverse(&exec, nodes, &mut memory, &[]);
        (
            memory.arena[1],
            [
                memory.arena[at + 2],
                memory.arena[at + 3],
                memory.arena[at + 4],
            ],
        )
    }

    #[test]
    fn limits() {
        use Node::*;
        // A side that is not taken is no number, nor is its derivative.
        let nodes = [
            Argument(0),
            Argument(1),
            Unary(Function::Log, 1),
            Argument(2),
            Where(0, 2, 3),
        ];
        assert_eq!(limit(&nodes, [0.0, -1.0, 5.0]), (5.0, [0.0, 0.0, 1.0]));
        let nodes = [
            Argument(0),
            Argument(1),
            Unary(Function::Sqrt, 1),
            Argument(2),
            Where(0, 2, 3),
        ];
        assert_eq!(limit(&nodes, [0.0, 0.0, 5.0]), (5.0, [0.0, 0.0, 1.0]));
        // Softplus and sigmoid far out.
        let softplus = [Argument(0), Unary(Function::Softplus, 0)];
        assert_eq!(
            limit(&softplus, [200.0, 0.0, 0.0]),
            (200.0, [1.0, 0.0, 0.0])
        );
        assert_eq!(limit(&softplus, [-200.0, 0.0, 0.0]), (0.0, [0.0, 0.0, 0.0]));
        let sigmoid = [Argument(0), Unary(Function::Sigmoid, 0)];
        assert_eq!(limit(&sigmoid, [-200.0, 0.0, 0.0]), (0.0, [0.0, 0.0, 0.0]));
        // Sharpening a weight that is 0: its power is 0, and so is its gradient.
        let power = [
            Argument(0),
            AtLeastTiny(0),
            Unary(Function::Log, 1),
            Argument(1),
            Binary(Operator::Multiply, 2, 3),
            Unary(Function::Exp, 4),
        ];
        assert_eq!(limit(&power, [0.0, 2.0, 0.0]), (0.0, [0.0, 0.0, 0.0]));
        let stop = [
            Argument(0),
            Unary(Function::Stop, 0),
            Binary(Operator::Multiply, 0, 1),
        ];
        assert_eq!(limit(&stop, [3.0, 0.0, 0.0]), (9.0, [3.0, 0.0, 0.0]));
    }
}
