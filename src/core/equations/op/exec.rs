//! An operation with its loops, and where its arrays stand at a step.

use std::ops::Range;

use super::order::Order;
use crate::equations::tree::{Axis, Function, Operator};

/// The most loops of an operation.
pub const MOST_AXES: usize = 18;

/// The operation on the arguments.
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
    /// e^(s x) / Σ e^(s x) over axes; the second argument, a factor, may be missing.
    Softmax(Vec<Axis>),
    /// x^s / Σ x^s over axes.
    Sharpen(Vec<Axis>),
    /// Cosine over axes.
    Cosine(Vec<Axis>),
    /// The cell of an LSTM. Of its arguments the gates are activated in place, and the last two, c and tanh c, are made.
    Lstm,
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
    Update(Form),
}

impl Default for Act {
    fn default() -> Self {
        Self::Map(vec![])
    }
}

/// A node of an expression; values are named by their index in the list of nodes, the last one is the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// An argument of the operation.
    Argument(usize),
    /// A number.
    Number(f64),
    /// A constant of the preset.
    Constant(usize),
    /// The length of an axis; a number once the operation has its loops.
    Length(usize),
    /// The index along an axis; of a bound operation, along a loop.
    Index(usize),
    /// The step of a block around the statement.
    Step(usize),
    /// The number of steps so far: of a block, from this step on, and 1 if the step at hand is among them.
    Steps(usize, usize, usize),
    /// −x.
    Negative(usize),
    /// x ∘ y.
    Binary(Operator, usize, usize),
    /// f(x).
    Unary(Function, usize),
    /// max(x, y) or min(x, y).
    Extreme(Function, usize, usize),
    /// The second where the first is not 0, else the third.
    Where(usize, usize, usize),
    /// x, or the smallest normal number where x is below it; the gradient is that of x.
    AtLeastTiny(usize),
}

/// What is taken from x, and what is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Whether w + e is taken off 1, not w e.
    pub is_sum: bool,
    /// Whether the entries on the diagonal of the last two loops are 0.
    pub is_hollow: bool,
}

/// An array as an operation sees it.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its first entry at the step at hand.
    pub at: isize,
    /// A stride for each loop.
    pub strides: Vec<isize>,
    /// Whether its gradient is wanted.
    pub slope: bool,
    /// Its first entry in the first step.
    pub(crate) begin: isize,
    /// Blocks around the statement whose steps move it.
    pub(crate) moves: Vec<Move>,
    /// Where its gradient stands, if that is not as far behind it as all others.
    pub(crate) ring: Option<Ring>,
    /// How far that is at the step at hand.
    pub(crate) shift: isize,
}

/// The place of a gradient that is kept for two steps alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub(crate) begin: isize,
    pub(crate) frame: Option<usize>,
    /// The offset of the step.
    pub(crate) step: isize,
    /// From one step to the next.
    pub(crate) stride: isize,
}

impl Place {
    /// How far its gradient is behind it.
    #[inline(always)]
    pub fn to_slope(&self, gradients: isize) -> isize {
        if self.ring.is_some() {
            self.shift
        } else {
            gradients
        }
    }
}

/// How a step of a block moves an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// The place of the block around the statement.
    pub(crate) frame: usize,
    /// How far a step moves.
    pub(crate) stride: isize,
    /// The offset of the step.
    pub(crate) shift: usize,
    /// How many steps the array has; then it begins again.
    pub(crate) ring: usize,
}

impl Move {
    fn step(&self, step: usize) -> isize {
        (if self.ring == usize::MAX {
            step
        } else {
            (step + self.shift) % self.ring
        }) as isize
    }
}

/// Loops whose lengths differ from part to part of a run: along the steps of the outermost block, and along episodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ragged {
    pub(crate) steps: Option<usize>,
    pub(crate) episodes: Option<usize>,
}

impl Ragged {
    fn loops(&mut self) -> impl Iterator<Item = &mut usize> {
        self.steps.iter_mut().chain(&mut self.episodes)
    }
}

/// An operation with its loops.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    /// The operation.
    pub act: Act,
    /// Lengths of its loops.
    pub dims: Vec<usize>,
    /// How many of the last loops the result lacks, or are those of the function.
    pub inner: usize,
    /// Result.
    pub out: Place,
    /// Arguments.
    pub arguments: Vec<Place>,
    /// Orders of the loops of a sum of products, and nodes of an expression: see there.
    pub(crate) orders: Vec<Order>,
    pub(crate) steady: u128,
    pub(crate) wanted: u128,
    pub(crate) needed: u128,
    pub(crate) is_guarded: bool,
    /// Of episodes of different lengths that run side by side, the loops that get shorter.
    pub(crate) ragged: Option<Ragged>,
    /// Loops along the steps so far: the loop, the block, its first step, and 1 if this step is among them.
    pub(crate) pasts: Vec<(usize, usize, usize, usize)>,
}

impl Exec {
    /// Whether a loop has one length at all steps.
    pub fn is_fixed(&self, dim: usize) -> bool {
        let mut ragged = self.ragged;
        let mut ragged = ragged.iter_mut().flat_map(Ragged::loops);
        self.pasts.iter().all(|past| past.0 != dim) && ragged.all(|own| *own != dim)
    }

    /// Whether it runs through the steps of ragged episodes at once.
    pub(crate) fn runs_through_steps(&self) -> bool {
        self.ragged.is_some_and(|ragged| ragged.steps.is_some())
    }

    /// Leaves these of all steps and episodes, after [`Self::go_to`].
    pub(crate) fn narrow(&mut self, steps: &Range<usize>, episodes: usize) {
        let Some(ragged) = self.ragged else {
            return;
        };
        if let Some(dim) = ragged.steps {
            self.dims[dim] = steps.len();
            for place in self.places() {
                place.at += steps.start.cast_signed() * place.strides[dim];
            }
        }
        if let Some(dim) = ragged.episodes {
            self.dims[dim] = episodes;
        }
    }

    /// Moves its arrays to a step.
    pub fn go_to(&mut self, steps: &[usize]) {
        for place in self.places() {
            let moved = |at, own: &Move| at + own.step(steps[own.frame]) * own.stride;
            place.at = place.moves.iter().fold(place.begin, moved);
            if let Some(ring) = place.ring {
                let step = ring.frame.map_or(0, |frame| steps[frame] as isize) + ring.step;
                let others = place.moves.iter();
                let others = others.filter(|own| Some(own.frame) != ring.frame);
                let inner = others.fold(0, moved);
                place.shift = ring.begin + inner + (step & 1) * ring.stride - place.at;
            }
        }
        for (dim, frame, first, now) in &self.pasts {
            self.dims[*dim] = steps[*frame].abs_diff(*first) + now;
        }
    }

    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        self.arguments.iter_mut().chain([&mut self.out])
    }

    fn nodes(&mut self) -> &mut [Node] {
        match &mut self.act {
            Act::Map(nodes) => nodes,
            _ => &mut [],
        }
    }

    /// Whether it can run over all steps of these blocks at once: no loop is as long as the steps so far.
    pub fn can_lift(&self, frames: &[usize]) -> bool {
        let mut pasts = self.pasts.iter();
        let counts = |node: &Node| matches!(node, Node::Steps(frame, ..) if frames.contains(frame));
        self.dims.len() + frames.len() <= MOST_AXES
            && pasts.all(|past| !frames.contains(&past.1))
            && !matches!(&self.act, Act::Map(nodes) if nodes.iter().any(counts))
    }

    /// Makes the steps of a block around the statement a loop of the operation, unless nothing depends on them.
    pub fn lift(&mut self, frame: usize, length: usize) {
        let is_moved = |place: &mut Place| place.moves.iter().any(|own| own.frame == frame);
        let step = Node::Step(frame);
        if !self.nodes().contains(&step) && !self.places().any(is_moved) {
            return;
        }
        self.dims.insert(0, length);
        self.pasts.iter_mut().for_each(|past| past.0 += 1);
        if let Some(ragged) = &mut self.ragged {
            ragged.loops().for_each(|own| *own += 1);
            ragged.steps = if frame == 0 { Some(0) } else { ragged.steps };
        }
        for place in self.places() {
            let own = place.moves.extract_if(.., |own| own.frame == frame);
            let stride = own.map(|own| own.stride).sum();
            place.strides.insert(0, stride);
        }
        for node in self.nodes() {
            match node {
                Node::Index(dim) => *dim += 1,
                node if *node == step => *node = Node::Index(0),
                _ => {}
            }
        }
    }

    /// Makes one loop of two that run through all arrays as one would, and leaves out loops of one entry.
    pub fn join_loops(&mut self) {
        let is_plain = |exec: &mut Self, dim: usize| {
            exec.is_fixed(dim) && !exec.nodes().contains(&Node::Index(dim))
        };
        for dim in (0..self.dims.len()).rev() {
            let (next, outer) = (dim + 1, self.dims.len() - self.inner);
            let is_own = match self.act {
                Act::Update(form) => form.is_hollow,
                Act::Pick(_)
                | Act::Onehot(_)
                | Act::Draw(_)
                | Act::Shift(..)
                | Act::Window(..)
                | Act::Cosine(_) => dim >= outer,
                _ => false,
            };
            if is_own || !is_plain(self, dim) {
                continue;
            }
            let length = self.dims.get(next).copied().unwrap_or(0) as isize;
            let is_joint = |own: &mut Place| own.strides[dim] == own.strides[next] * length;
            let joins =
                length > 0 && next != outer && is_plain(self, next) && self.places().all(is_joint);
            if self.dims[dim] != 1 && !joins {
                continue;
            }
            let gone = self.dims.remove(dim);
            self.inner -= usize::from(dim >= outer);
            if gone != 1 {
                self.dims[dim] *= gone;
            }
            self.places()
                .for_each(|place| _ = place.strides.remove(dim));
            for past in &mut self.pasts {
                past.0 -= usize::from(past.0 > dim);
            }
            let ragged = self.ragged.iter_mut().flat_map(Ragged::loops);
            ragged.for_each(|own| *own -= usize::from(*own > dim));
            for node in self.nodes() {
                if let Node::Index(own) = node {
                    *own -= usize::from(*own > dim);
                }
            }
        }
    }
}
