//! Gives the arrays of a program their places and its operations their loops, for the lengths of an episode.
//!
//! All arrays stand in one arena: a 1 and a 0, tensors, series and scratch, and behind them the gradients of all of them in the same order.

use std::collections::HashMap;

use super::flatten::{Base, Cut, Flat, Operation, Packed, View, Work, entry_of};
use super::lower::{Axis, Length, Program, Source, When};
use super::op::{
    Act, MOST_AXES, Node,
    contract::{self, Order},
    map,
    update::Form,
};
use super::page::Page;

/// The axis of all values that a weight meets, and that of the blocks of a cell.
pub const IN: Axis = usize::MAX;
/// The axis of the blocks of a cell.
pub const GATES: Axis = usize::MAX - 1;

/// The place of a 0, which stands for entries that an array does not have.
const ZERO: isize = 1;

/// The most numbers of an engine: with gradients in f32 they take 128 GiB. Whoever has less looks at [`Bound::size`] first.
pub const MOST_NUMBERS: usize = 1 << 34;

/// Why a program has no places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its arrays have this many numbers, more than [`MOST_NUMBERS`].
    TooLarge(usize),
    /// An operation over more than [`MOST_AXES`] axes.
    TooManyAxes,
    /// An operation names an axis that its array does not have: the program is not one that was lowered.
    NoAxis,
}

/// Where an array stands in the arena.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Its entry with all indices 0.
    pub offset: isize,
    /// Its axes with their lengths and strides.
    pub dims: Vec<(Axis, usize, isize)>,
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
    begin: isize,
    /// Blocks around the statement whose steps move it.
    moves: Vec<Move>,
    /// Where its gradient stands, if that is not as far behind it as all others.
    ring: Option<Ring>,
    /// How far that is at the step at hand.
    shift: isize,
}

/// The place of a gradient that is kept for two steps alone.
#[derive(Clone, Copy, Debug)]
struct Ring {
    begin: isize,
    frame: Option<usize>,
    /// What is added to the step.
    step: isize,
    /// From one step to the next.
    stride: isize,
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
struct Move {
    /// The place of the block around the statement.
    frame: usize,
    /// How far a step moves.
    stride: isize,
    /// What is added to the step.
    shift: usize,
    /// How many steps the array has; then it begins again.
    ring: usize,
}

impl Move {
    fn new(frame: usize, stride: isize) -> Self {
        Self {
            frame,
            stride,
            shift: 0,
            ring: usize::MAX,
        }
    }

    fn step(&self, step: usize) -> isize {
        (if self.ring == usize::MAX {
            step
        } else {
            (step + self.shift) % self.ring
        }) as isize
    }
}

/// An operation with its loops.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    /// What it does.
    pub act: Act,
    /// Lengths of its loops.
    pub dims: Vec<usize>,
    /// How many of the last loops the result lacks, or are those of the function.
    pub inner: usize,
    /// Result.
    pub out: Place,
    /// Arguments.
    pub arguments: Vec<Place>,
    /// Further results of an expression, with the nodes that they are.
    pub more: Vec<(usize, Place)>,
    /// Orders of the loops of a sum of products, and nodes of an expression: see there.
    pub(super) orders: Vec<Order>,
    pub(super) steady: u128,
    pub(super) wanted: u128,
    pub(super) is_guarded: bool,
    /// Loops along the steps so far: the loop, the block, its first step, and 1 if this step is among them.
    pasts: Vec<(usize, usize, usize, usize)>,
}

impl Exec {
    /// An operation outside of blocks: its loops, how many are those of the function, and where its arrays are.
    #[cfg(test)]
    pub fn alone(act: Act, dims: &[usize], inner: usize, places: &[(isize, &[isize])]) -> Self {
        let mut places = places.iter().map(|(at, strides)| Place {
            at: *at,
            begin: *at,
            strides: strides.to_vec(),
            slope: true,
            ..Place::default()
        });
        let out = places.next().unwrap_or_default();
        Self {
            act,
            dims: dims.to_vec(),
            inner,
            out,
            arguments: places.collect(),
            ..Self::default()
        }
        .prepared()
    }

    /// Finds out, once for all steps, how it runs.
    pub fn prepared(mut self) -> Self {
        if matches!(self.act, Act::Contract { .. }) {
            self.orders = contract::orders(&self);
        }
        self.is_guarded |= map::is_guarded(&self);
        (self.steady, self.wanted) = (map::steady(&self), map::wanted(&self));
        self
    }

    /// Whether a loop has one length at all steps.
    pub fn is_fixed(&self, dim: usize) -> bool {
        self.pasts.iter().all(|past| past.0 != dim)
    }

    /// Moves its arrays to a step.
    pub fn go_to(&mut self, steps: &[usize]) {
        for place in self
            .arguments
            .iter_mut()
            .chain([&mut self.out])
            .chain(self.more.iter_mut().map(|own| &mut own.1))
        {
            place.at = place.moves.iter().fold(place.begin, |at, own| {
                at + own.step(steps[own.frame]) * own.stride
            });
            if let Some(ring) = place.ring {
                let step = ring.frame.map_or(0, |frame| steps[frame] as isize) + ring.step;
                let others = place
                    .moves
                    .iter()
                    .filter(|own| Some(own.frame) != ring.frame);
                let inner = others.fold(0, |at, own| at + own.step(steps[own.frame]) * own.stride);
                place.shift = ring.begin + inner + (step & 1) * ring.stride - place.at;
            }
        }
        for (dim, frame, first, now) in &self.pasts {
            self.dims[*dim] = steps[*frame].abs_diff(*first) + now;
        }
    }

    /// Whether it can run over all steps of a block at once: no loop is as long as the steps so far.
    pub fn can_lift(&self, frame: usize) -> bool {
        self.dims.len() < MOST_AXES && self.pasts.iter().all(|past| past.1 != frame)
    }

    /// Whether it can run over all steps of several blocks at once.
    pub fn can_lift_all(&self, frames: &[(usize, usize)]) -> bool {
        self.dims.len() + frames.len() <= MOST_AXES
            && frames.iter().all(|(frame, _)| self.can_lift(*frame))
    }

    /// Makes the steps of a block around the statement a loop of the operation, unless nothing depends on them.
    pub fn lift(&mut self, frame: usize, length: usize) {
        let is_step = |node: &Node| *node == Node::Step(frame);
        let has_step = matches!(&self.act, Act::Map(nodes) if nodes.iter().any(is_step));
        if !has_step
            && self
                .arguments
                .iter()
                .chain([&self.out])
                .all(|place| place.moves.iter().all(|own| own.frame != frame))
        {
            return;
        }
        self.dims.insert(0, length);
        self.pasts.iter_mut().for_each(|past| past.0 += 1);
        for place in self.arguments.iter_mut().chain([&mut self.out]) {
            place.strides.insert(
                0,
                place
                    .moves
                    .iter()
                    .filter(|own| own.frame == frame)
                    .map(|own| own.stride)
                    .sum(),
            );
            place.moves.retain(|own| own.frame != frame);
        }
        if let Act::Map(nodes) = &mut self.act {
            for node in nodes {
                match node {
                    Node::Index(dim) => *dim += 1,
                    node if is_step(node) => *node = Node::Index(0),
                    _ => {}
                }
            }
        }
    }

    /// Makes one loop of two that run through all arrays as one would, and leaves out loops of one entry.
    pub fn join_loops(&mut self) {
        let is_fixed = |exec: &Self, dim: usize| {
            exec.pasts.iter().all(|past| past.0 != dim)
                && !matches!(&exec.act, Act::Map(nodes) if nodes.contains(&Node::Index(dim)))
        };
        let places = |exec: &Self, fits: &dyn Fn(&Place) -> bool| {
            exec.arguments.iter().chain([&exec.out]).all(fits)
        };
        for dim in (0..self.dims.len()).rev() {
            let outer = self.dims.len() - self.inner;
            let is_hollow = matches!(
                self.act,
                Act::Update(Form {
                    is_hollow: true,
                    ..
                })
            );
            let is_own = is_hollow
                || dim >= outer
                    && matches!(
                        self.act,
                        Act::Pick(_)
                            | Act::Onehot(_)
                            | Act::Draw(_)
                            | Act::Shift(..)
                            | Act::Window(..)
                    );
            if is_own || !is_fixed(self, dim) {
                continue;
            }
            let next = dim + 1;
            let length = self.dims.get(next).copied().unwrap_or(0) as isize;
            let joins = next < self.dims.len()
                && next != outer
                && is_fixed(self, next)
                && length > 0
                && places(self, &|place| {
                    place.strides[dim] == place.strides[next] * length
                });
            if self.dims[dim] != 1 && !joins {
                continue;
            }
            let gone = self.dims.remove(dim);
            self.inner -= usize::from(dim >= outer);
            if gone != 1 {
                self.dims[dim] *= gone;
            }
            self.arguments
                .iter_mut()
                .chain([&mut self.out])
                .for_each(|place| _ = place.strides.remove(dim));
            self.pasts
                .iter_mut()
                .filter(|past| past.0 > dim)
                .for_each(|past| past.0 -= 1);
            if let Act::Map(nodes) = &mut self.act {
                nodes.iter_mut().for_each(|node| {
                    if let Node::Index(own) = node
                        && *own > dim
                    {
                        *own -= 1;
                    }
                });
            }
        }
    }
}

/// A program with the lengths of an episode.
pub struct Bound<'a> {
    pub(super) page: &'a Page,
    pub(super) program: &'a Program,
    /// Lengths of the axes.
    pub lengths: Vec<usize>,
    /// Layouts of series; those of parameters are their tensors'.
    pub series: Vec<Layout>,
    /// Layouts of tensors.
    pub tensors: Vec<Layout>,
    /// Layouts of scratch arrays.
    pub scratch: Vec<Layout>,
    /// All operations.
    pub execs: Vec<Exec>,
    /// Those of each statement, then those of each start.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// Copies of what each statement makes to itself: where it stands at a step.
    pub probes: Vec<Vec<Exec>>,
    /// The memory demand: numbers of all arrays; as many again for their gradients. Too many to count are the largest number.
    pub size: usize,
    tensor_end: usize,
    /// Arrays of which only the last steps of a block are kept, with the number of steps.
    pub(super) rings: HashMap<(Base, usize), usize>,
    /// Arrays of whose gradients two steps of a block are kept, with the place among these, and the numbers of a step.
    pub(super) slope_rings: HashMap<Base, (usize, usize)>,
    pub(super) slope_ring_size: usize,
    /// The part of each loop of these.
    pub(super) slope_parts: HashMap<usize, std::ops::Range<usize>>,
    /// Blocks around each scratch array.
    around: Vec<Vec<usize>>,
    /// The block along whose steps an array has the axis `past`, and whether this step is among them: of series, then of scratch.
    pasts: [Vec<Option<(usize, bool)>>; 2],
}

impl<'a> Bound<'a> {
    /// Gives all arrays their places. `given`: lengths of the sequences and widths of the data by axis.
    ///
    /// # Errors
    /// Arrays that no memory has: see [`Self::demand`].
    pub fn new(
        page: &'a Page,
        program: &'a Program,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Self, Fault> {
        Self::with_rings(page, program, flat, given, HashMap::new(), &HashMap::new())
    }

    /// As [`Self::new`], for training: of gradients that only one loop needs, two steps alone are kept.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn for_training(
        page: &'a Page,
        program: &'a Program,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Self, Fault> {
        let mut whole = Self::new(page, program, flat, given)?;
        let plan = super::plan::plan(&mut whole, flat);
        let slopes = super::plan::slope_rings(&whole, flat, &plan);
        Self::with_rings(page, program, flat, given, HashMap::new(), &slopes)
    }

    /// Places of the gradients of which two steps are kept.
    fn place_slopes(&mut self, rings: &HashMap<Base, (usize, usize)>) {
        let mut all: Vec<(Base, (usize, usize))> =
            rings.iter().map(|(base, own)| (*base, *own)).collect();
        let place = |own: &Self, base: &Base| match base {
            Base::Series(series) => own.series[*series].clone(),
            Base::Result(result) => own.scratch[*result].clone(),
            Base::Tensor(_) => Layout::default(),
        };
        all.sort_by_key(|(base, own)| (own.1, place(self, base).offset));
        for (base, (block, of_loop)) in all {
            let layout = place(self, &base);
            let size: usize = layout
                .dims
                .iter()
                .filter(|dim| Some(dim.0) != self.axis_of(block))
                .map(|dim| dim.1)
                .product();
            self.slope_rings.insert(base, (block, self.slope_ring_size));
            let begin = self.slope_ring_size;
            self.slope_ring_size += size.next_multiple_of(16);
            self.slope_parts.entry(of_loop).or_insert(begin..begin).end = self.slope_ring_size;
        }
    }

    /// Tensors in the arena.
    pub fn tensor_range(&self) -> std::ops::Range<usize> {
        2..self.tensor_end
    }

    /// As [`Self::new`], for an evaluation: of what only its own loop needs, the last steps alone are kept. `wanted`: series
    /// that are kept in full.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn for_evaluation(
        page: &'a Page,
        program: &'a Program,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
        wanted: &[usize],
    ) -> Result<Self, Fault> {
        let mut whole = Self::new(page, program, flat, given)?;
        let plan = super::plan::plan(&mut whole, flat);
        let rings = super::plan::rings(&whole, flat, &plan, wanted);
        Self::with_rings(page, program, flat, given, rings, &HashMap::new())
    }

    #[expect(clippy::too_many_lines, reason = "one step after another")]
    fn with_rings(
        page: &'a Page,
        program: &'a Program,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
        rings: HashMap<(Base, usize), usize>,
        slopes: &HashMap<Base, (usize, usize)>,
    ) -> Result<Self, Fault> {
        let pasts = [
            vec![None; program.series.len()],
            vec![None; flat.scratch.len()],
        ];
        let mut bound = Self {
            page,
            program,
            lengths: vec![],
            series: vec![],
            tensors: vec![],
            scratch: vec![],
            execs: vec![],
            ranges: vec![],
            probes: vec![],
            size: 2,
            tensor_end: 2,
            rings,
            slope_rings: HashMap::new(),
            slope_ring_size: 0,
            slope_parts: HashMap::new(),
            around: vec![],
            pasts,
        };
        bound.measure(given);
        bound.around = bound.blocks_around(flat);
        bound.tensors = (0..program.tensors.len())
            .map(|tensor| {
                if Self::is_packed(flat, tensor) {
                    Layout::default()
                } else {
                    bound.place_tensor(tensor)
                }
            })
            .collect();
        flat.packs
            .iter()
            .for_each(|pack| bound.place_packed_tensors(pack));
        bound.tensor_end = bound.size;
        bound.series = (0..program.series.len())
            .map(|series| bound.place_series(series))
            .collect();
        for (index, (scratch, blocks)) in flat.scratch.iter().zip(bound.around.clone()).enumerate()
        {
            let ring = |block: &usize| bound.rings.get(&(Base::Result(index), *block)).copied();
            let along = blocks.iter().filter_map(|block| {
                let axis = bound.axis_of(*block)?;
                Some((axis, ring(block).unwrap_or(bound.lengths[axis])))
            });
            let dims = along
                .chain(
                    bound
                        .in_memory(scratch.axes.iter())
                        .iter()
                        .map(|axis| (*axis, bound.lengths[*axis])),
                )
                .collect();
            let layout = bound.place(dims);
            bound.scratch.push(layout);
        }
        flat.packs
            .iter()
            .for_each(|pack| bound.place_packed_results(pack));
        if bound.size > MOST_NUMBERS {
            return Err(Fault::TooLarge(bound.size));
        }
        bound.place_slopes(slopes);
        // Starts have no tapes; what statements make of one has its length.
        let works = bound.works(flat);
        for (work, frames) in &works {
            work.operations
                .iter()
                .for_each(|operation| bound.remember_past(operation, frames));
        }
        for (index, (work, frames)) in works.iter().enumerate() {
            let start = index
                .checked_sub(program.equations.len())
                .map(|first| program.firsts[first].block);
            let begin = bound.execs.len();
            for operation in &work.operations {
                let exec = bound.bind_one(operation, frames, start)?;
                bound.execs.push(exec);
            }
            bound.ranges.push(begin..bound.execs.len());
        }
        for equation in &program.equations {
            let frames = page.blocks_around(page.statements[equation.statement].block);
            let probes = equation.makes.iter().map(|series| {
                let out = entry_of(*series, &program.series[*series].axes, equation.head);
                bound.bind_one(
                    &Operation {
                        act: Act::Map(vec![Node::Argument(0)]),
                        arguments: vec![out.clone()],
                        out,
                    },
                    &frames,
                    None,
                )
            });
            let probes: Result<Vec<Exec>, Fault> = probes.collect();
            bound.probes.push(probes?);
        }
        Ok(bound)
    }

    /// Leaves out the gradients of the inputs.
    pub fn ignore_inputs(&mut self, flat: &Flat) {
        let works = self.works(flat);
        let operations = works.iter().flat_map(|(work, _)| &work.operations);
        for (exec, operation) in self.execs.iter_mut().zip(operations) {
            for (place, view) in exec.arguments.iter_mut().zip(&operation.arguments) {
                let is_input = matches!(view.base, Base::Series(series) if matches!(self.program.series[series].source, Source::Input(_)));
                place.slope &= !is_input;
            }
        }
    }

    /// The blocks along whose steps an array differs.
    pub(super) fn blocks_of(&self, base: Base) -> &[usize] {
        match base {
            Base::Series(series) => &self.program.series[series].blocks,
            Base::Result(result) => &self.around[result],
            Base::Tensor(_) => &[],
        }
    }

    /// The axis that a block runs along.
    pub fn axis_of(&self, block: usize) -> Option<Axis> {
        self.page.blocks[block].axis
    }

    /// An axis by its name.
    pub fn axis(&self, name: &str) -> Option<Axis> {
        self.program
            .axes
            .iter()
            .position(|info| *info.name == *name)
    }

    fn is_past(&self, axis: Axis) -> bool {
        self.program.axes[self.program.axes[axis].origin].length == Length::Past
    }

    fn count(&self, axes: &[Axis]) -> usize {
        axes.iter().fold(1, |count: usize, axis| {
            count.saturating_mul(self.lengths[*axis])
        })
    }

    fn measure(&mut self, given: &dyn Fn(&str) -> Option<usize>) {
        let axes = &self.program.axes;
        self.lengths = vec![0; axes.len()];
        // An axis that a function makes may be made of others of its kind.
        for _ in 0..=axes.len() {
            let before = self.lengths.clone();
            for (axis, info) in axes.iter().enumerate() {
                self.lengths[axis] = match &info.length {
                    Length::Fixed(length) => *length,
                    Length::Episode => given(&info.name).unwrap_or(0),
                    Length::Origin => self.lengths[info.origin],
                    Length::Join(parts) => parts
                        .iter()
                        .fold(0, |sum: usize, axes| sum.saturating_add(self.count(axes))),
                    Length::Packed(parts) => {
                        parts
                            .iter()
                            .fold(0, |sum: usize, axes| sum.saturating_add(self.count(axes)))
                            .saturating_add(15)
                            / 16
                            * 16
                    }
                    Length::Append(old) => self.lengths[*old].saturating_add(1),
                    Length::Past => self
                        .page
                        .blocks
                        .iter()
                        .filter_map(|block| Some(self.lengths[block.axis?]))
                        .max()
                        .unwrap_or(0),
                };
            }
            if before == self.lengths {
                break;
            }
        }
    }

    /// Blocks along whose steps scratch arrays differ.
    fn blocks_around(&self, flat: &Flat) -> Vec<Vec<usize>> {
        let mut around = vec![vec![]; flat.scratch.len()];
        for (scratch, equation) in &flat.draws {
            around[*scratch] = self.page.blocks_around(
                self.page.statements[self.program.equations[*equation].statement].block,
            );
        }
        let mut is_known = false;
        while !is_known {
            let before = around.clone();
            self.find_blocks(flat, &mut around);
            for pack in &flat.packs {
                for member in &pack.members {
                    if let Base::Result(result) = member.2 {
                        let of_pack = around[pack.scratch].clone();
                        around[result] = of_pack;
                    }
                }
            }
            is_known = before == around;
        }
        around
    }

    fn find_blocks(&self, flat: &Flat, around: &mut [Vec<usize>]) {
        for (work, frames) in self.works(flat) {
            // What is added to an array counts as well, so an array may get blocks after it was read.
            let mut is_stable = false;
            while !is_stable {
                is_stable = true;
                for operation in &work.operations {
                    let Base::Result(result) = operation.out.base else {
                        continue;
                    };
                    let differs = |frame: usize| {
                        let has_step = matches!(&operation.act, Act::Map(nodes) if nodes.contains(&Node::Step(frame)));
                        has_step
                            || operation
                                .arguments
                                .iter()
                                .any(|view| self.differs(view, frame, &frames, around))
                    };
                    let blocks: Vec<usize> = (0..frames.len())
                        .filter(|frame| around[result].contains(&frames[*frame]) || differs(*frame))
                        .map(|frame| frames[frame])
                        .collect();
                    is_stable &= blocks == around[result];
                    around[result] = blocks;
                }
            }
        }
    }

    /// Whether a view differs along the steps of a block around its statement.
    fn differs(&self, view: &View, frame: usize, frames: &[usize], around: &[Vec<usize>]) -> bool {
        let is_cut = view.cuts.iter().any(|cut| match cut {
            Cut::Step(axis, When::Step(usize::MAX)) => self.axis_of(frames[frame]) == Some(*axis),
            Cut::Step(_, When::Step(own) | When::Before(own)) | Cut::Past(_, own, _) => {
                *own == frame
            }
            _ => false,
        });
        is_cut
            || match view.base {
                Base::Series(series) => self.program.series[series].blocks.contains(&frames[frame]),
                Base::Result(result) => around[result].contains(&frames[frame]),
                Base::Tensor(_) => false,
            }
    }

    /// The operations of all statements and starts, with the blocks around each.
    pub fn works<'f>(&self, flat: &'f Flat) -> Vec<(&'f Work, Vec<usize>)> {
        let page = self.page;
        let equations =
            flat.equations
                .iter()
                .zip(&self.program.equations)
                .map(|(work, equation)| {
                    (
                        work,
                        page.blocks_around(page.statements[equation.statement].block),
                    )
                });
        let firsts = flat
            .firsts
            .iter()
            .zip(&self.program.firsts)
            .map(|(work, first)| {
                let mut frames = page.blocks_around(first.block);
                frames.pop();
                (work, frames)
            });
        equations.chain(firsts).collect()
    }

    // Places.

    /// Gives an array with these axes, the outermost first, its place.
    fn place(&mut self, axes: Vec<(Axis, usize)>) -> Layout {
        let mut layout = Layout {
            offset: self.size as isize,
            dims: vec![],
        };
        let mut stride = axes
            .iter()
            .fold(1, |size: usize, (_, length)| size.saturating_mul(*length));
        self.size = self.size.saturating_add(stride);
        for (axis, length) in axes {
            stride = stride.checked_div(length).unwrap_or(0);
            layout.dims.push((axis, length, stride as isize));
        }
        layout
    }

    /// Of `in` and the axes of the result, the longer stands last in a weight: its products run along memory.
    fn place_tensor(&mut self, tensor: usize) -> Layout {
        let tensor = &self.program.tensors[tensor];
        let own: Vec<(Axis, usize)> = tensor
            .axes
            .iter()
            .map(|axis| (*axis, self.lengths[*axis]))
            .collect();
        let (before, behind) = own.split_at(tensor.before_gates);
        let input = (!tensor.inputs.is_empty()).then(|| {
            (
                IN,
                tensor
                    .inputs
                    .iter()
                    .fold(0, |sum: usize, axes| sum.saturating_add(self.count(axes))),
            )
        });
        let gates = (tensor.gates > 0).then_some((GATES, tensor.gates));
        let out = gates.into_iter().chain(behind.iter().copied());
        let count = out
            .clone()
            .fold(1, |count: usize, (_, length)| count.saturating_mul(length));
        let is_wide = input.is_some_and(|(_, length)| length > count);
        let (first, last) = if is_wide {
            (None, input)
        } else {
            (input, None)
        };
        self.place(
            before
                .iter()
                .copied()
                .chain(first)
                .chain(out)
                .chain(last)
                .collect(),
        )
    }

    fn is_packed(flat: &Flat, tensor: usize) -> bool {
        flat.packs
            .iter()
            .flat_map(|pack| &pack.members)
            .any(|member| member.0 == tensor || member.1 == tensor)
    }

    /// Weights and biases that stand side by side.
    fn place_packed_tensors(&mut self, pack: &Packed) {
        let whole = self.lengths[pack.axis];
        let inputs = self.program.tensors[pack.members[0].0]
            .inputs
            .iter()
            .fold(0, |sum: usize, axes| sum.saturating_add(self.count(axes)));
        let [weights, biases] = [
            [(IN, inputs), (pack.axis, whole)].to_vec(),
            vec![(pack.axis, whole)],
        ]
        .map(|dims| self.place(dims));
        let mut begin = 0;
        for (weight, bias, ..) in &pack.members {
            let axes = &self.program.tensors[*bias].axes;
            let own = self.part_of(&biases, begin, axes);
            let mut dims = self.part_of(&weights, begin, axes);
            dims.dims.push((IN, inputs, whole as isize));
            self.tensors[*weight] = dims;
            begin += self.count(axes) as isize;
            self.tensors[*bias] = own;
        }
    }

    /// The results of linear maps that are one product.
    fn place_packed_results(&mut self, pack: &Packed) {
        let (whole, mut begin) = (self.scratch[pack.scratch].clone(), 0);
        for (.., base, axes) in &pack.members {
            let mut layout = self.part_of(&whole, begin, axes);
            layout.dims.splice(
                0..0,
                whole.dims.iter().filter(|dim| dim.0 != pack.axis).copied(),
            );
            begin += self.count(axes) as isize;
            match base {
                Base::Series(series) => self.series[*series] = layout,
                Base::Result(result) => {
                    self.scratch[*result] = layout;
                    let of_pack = self.around[pack.scratch].clone();
                    self.around[*result] = of_pack;
                }
                Base::Tensor(_) => {}
            }
        }
    }

    /// The part of a packed array from an entry on, with these axes.
    fn part_of(&self, whole: &Layout, begin: isize, axes: &[Axis]) -> Layout {
        let (mut stride, mut dims) = (self.count(axes), vec![]);
        for axis in axes {
            stride = stride.checked_div(self.lengths[*axis]).unwrap_or(0);
            dims.push((*axis, self.lengths[*axis], stride as isize));
        }
        Layout {
            offset: whole.offset + begin,
            dims,
        }
    }

    /// Axes of an array in the order of memory: the last is that of the file, or one that is twice as long.
    fn in_memory<'n>(&self, axes: impl Iterator<Item = &'n Axis>) -> Vec<Axis> {
        let mut axes: Vec<Axis> = axes.copied().collect();
        let length = |dim: usize| self.lengths[axes[dim]];
        if let Some(last) = (0..axes.len())
            .max_by_key(|dim| length(*dim))
            .filter(|longest| length(*longest) >= 2 * length(axes.len() - 1))
        {
            let last = axes.remove(last);
            axes.push(last);
        }
        axes
    }

    /// A series with a start has one entry more along the block: before its first step.
    fn place_series(&mut self, index: usize) -> Layout {
        let (page, program) = (self.page, self.program);
        let series = &program.series[index];
        if let Source::Parameter(_) = series.source {
            return Layout::default();
        }
        let (mut axes, mut starts) = (vec![], vec![]);
        for block in &series.blocks {
            let Some(axis) = self.axis_of(*block) else {
                continue;
            };
            if let Some(ring) = self.rings.get(&(Base::Series(index), *block)) {
                axes.push((axis, *ring));
                continue;
            }
            let has_start = program
                .firsts
                .iter()
                .any(|first| first.series == index && first.block == *block);
            axes.push((axis, self.lengths[axis] + usize::from(has_start)));
            starts.extend((has_start && !page.blocks[*block].backwards).then_some(axis));
        }
        for axis in &self.in_memory(series.axes.iter()) {
            // Of the target, what was answered before the first step is 0.
            let has_start = series.source == Source::Target && page.is_sequence(*axis);
            axes.push((*axis, self.lengths[*axis] + usize::from(has_start)));
            starts.extend(has_start.then_some(*axis));
        }
        let mut layout = self.place(axes);
        for (axis, length, stride) in &mut layout.dims {
            *length = (*length).min(self.lengths[*axis]);
            layout.offset += if starts.contains(axis) { *stride } else { 0 };
        }
        layout
    }

    // Operations.

    fn past_of(&self, view: &View, frames: &[usize]) -> Option<(usize, bool)> {
        let of_base = match view.base {
            Base::Series(series) => self.pasts[0][series],
            Base::Result(result) => self.pasts[1][result],
            Base::Tensor(_) => None,
        };
        let cut = view.cuts.iter().find_map(|cut| {
            if let Cut::Past(_, frame, now) = cut {
                Some((frames[*frame], *now))
            } else {
                None
            }
        });
        cut.or(of_base)
            .filter(|_| view.axes.iter().any(|axis| self.is_past(*axis)))
    }

    fn remember_past(&mut self, operation: &Operation, frames: &[usize]) {
        if let Some(past) = operation
            .arguments
            .iter()
            .find_map(|view| self.past_of(view, frames))
        {
            match operation.out.base {
                Base::Series(series) => self.pasts[0][series] = Some(past),
                Base::Result(result) => self.pasts[1][result] = Some(past),
                Base::Tensor(_) => {}
            }
        }
    }

    fn bind_one(
        &self,
        operation: &Operation,
        frames: &[usize],
        start: Option<usize>,
    ) -> Result<Exec, Fault> {
        let Operation {
            act,
            out,
            arguments,
        } = operation;
        let mut own: Vec<Axis> = match act {
            Act::Softmax(axes)
            | Act::LogSoftmax(axes)
            | Act::Product(axes)
            | Act::Maximum(axes) => axes.clone(),
            Act::Argmax(axis)
            | Act::Rank(axis)
            | Act::Allocation(axis)
            | Act::Pick(axis)
            | Act::Onehot(axis)
            | Act::Draw(axis) => vec![*axis],
            Act::Shift(axis, new) | Act::Window(axis, new) => vec![*axis, *new],
            Act::Contract { .. } => arguments
                .iter()
                .flat_map(|view| &view.axes)
                .copied()
                .filter(|axis| !out.axes.contains(axis))
                .collect(),
            Act::Map(_) | Act::Update(_) => vec![],
        };
        let mut seen = Vec::new();
        own.retain(|axis| {
            !seen.contains(axis) && {
                seen.push(*axis);
                true
            }
        });
        let mut loops: Vec<Axis> = out
            .axes
            .iter()
            .copied()
            .filter(|axis| !own.contains(axis))
            .collect();
        loops.extend(&own);
        if let Act::Map(_) | Act::Update(_) = act {
            // The last loop runs along the memory of the result.
            let place = self.resolve(out, &loops, frames, start)?;
            let mut order: Vec<usize> = (0..loops.len()).collect();
            order.sort_by_key(|dim| std::cmp::Reverse(place.strides[*dim]));
            loops = order.into_iter().map(|dim| loops[dim]).collect();
        }
        if loops.len() > MOST_AXES {
            return Err(Fault::TooManyAxes);
        }
        let past = arguments.iter().find_map(|view| self.past_of(view, frames));
        let (mut pasts, mut dims) = (vec![], vec![]);
        for (dim, axis) in loops.iter().enumerate() {
            let mut length = self.lengths[*axis];
            if let Some((block, now)) = past.filter(|_| self.is_past(*axis)) {
                let whole = self.axis_of(block).map_or(0, |axis| self.lengths[axis]);
                length = (whole + usize::from(now)).saturating_sub(1);
                if let Some(frame) = frames.iter().position(|frame| *frame == block) {
                    pasts.push((
                        dim,
                        frame,
                        if self.page.blocks[block].backwards {
                            whole - 1
                        } else {
                            0
                        },
                        usize::from(now),
                    ));
                }
            }
            dims.push(length);
        }
        let act = match act {
            Act::Map(nodes) => Act::Map(
                nodes
                    .iter()
                    .map(|node| match node {
                        Node::Length(axis) => Node::Number(self.lengths[*axis] as f64),
                        Node::Index(axis) => Node::Index(
                            loops.iter().position(|own| own == axis).unwrap_or_default(),
                        ),
                        other => *other,
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        let place = |view: &View, start: Option<usize>| self.resolve(view, &loops, frames, start);
        let arguments: Result<Vec<Place>, Fault> =
            arguments.iter().map(|view| place(view, None)).collect();
        Ok(Exec {
            act,
            dims,
            inner: own.len(),
            out: place(out, start)?,
            arguments: arguments?,
            pasts,
            ..Exec::default()
        })
    }

    /// Where a view stands; `start`: the block whose first value it is.
    #[expect(clippy::too_many_lines, reason = "an arm for each cut")]
    fn resolve(
        &self,
        view: &View,
        loops: &[Axis],
        frames: &[usize],
        start: Option<usize>,
    ) -> Result<Place, Fault> {
        let (layout, blocks) = match view.base {
            Base::Series(series) => match self.program.series[series].source {
                Source::Parameter(tensor) => (&self.tensors[tensor], &[][..]),
                _ => (
                    &self.series[series],
                    &self.program.series[series].blocks[..],
                ),
            },
            Base::Tensor(tensor) => (&self.tensors[tensor], &[][..]),
            Base::Result(result) => (&self.scratch[result], &self.around[result][..]),
        };
        let mut strides: Vec<(Axis, isize)> = layout
            .dims
            .iter()
            .map(|(axis, _, stride)| (*axis, *stride))
            .collect();
        if let Base::Series(series) = view.base {
            self.name_parameter(series, &mut strides);
        }
        let (mut begin, mut moves) = (layout.offset, vec![]);
        let ring = |frame: usize| self.rings.get(&(view.base, frames[frame])).copied();
        let is_backwards = |frame: usize| self.page.blocks[frames[frame]].backwards;
        // Where its gradient stands among those of two steps.
        let slope_ring = self.slope_rings.get(&view.base);
        let is_ring = |block: Option<&usize>| slope_ring.is_some_and(|ring| Some(&ring.0) == block);
        let mut ring_at = None;
        for cut in &view.cuts {
            match cut {
                Cut::Step(axis, When::Step(frame)) => {
                    let own = frames
                        .iter()
                        .position(|frame| self.axis_of(*frame) == Some(*axis));
                    let frame = if *frame == usize::MAX {
                        own.ok_or(Fault::NoAxis)?
                    } else {
                        *frame
                    };
                    if is_ring(frames.get(frame)) {
                        ring_at = Some((Some(frame), 0, 0));
                    }
                    moves.push(Move {
                        ring: ring(frame).unwrap_or(usize::MAX),
                        ..Move::new(frame, take(&mut strides, *axis)?)
                    });
                }
                Cut::Step(axis, When::Before(frame)) => {
                    let stride = take(&mut strides, *axis)?;
                    if is_ring(frames.get(*frame)) {
                        ring_at = Some((
                            Some(*frame),
                            if is_backwards(*frame) { 1 } else { -1 },
                            stride,
                        ));
                    }
                    if let Some(ring) = ring(*frame) {
                        moves.push(Move {
                            frame: *frame,
                            stride,
                            shift: if is_backwards(*frame) { 1 } else { ring - 1 },
                            ring,
                        });
                    } else {
                        moves.push(Move::new(*frame, stride));
                        begin += if is_backwards(*frame) {
                            stride
                        } else {
                            -stride
                        };
                    }
                }
                Cut::Past(axis, frame, _) => {
                    let (stride, past) = (
                        take(&mut strides, *axis)?,
                        self.axis("past").unwrap_or(*axis),
                    );
                    if is_backwards(*frame) {
                        begin += stride * (self.lengths[*axis] as isize - 1);
                        strides.push((past, -stride));
                    } else {
                        strides.push((past, stride));
                    }
                }
                Cut::Rename(from, to) => {
                    let stride = take(&mut strides, *from)?;
                    strides.push((*to, stride));
                }
                Cut::Entry(axis, entry) => {
                    let length = self.lengths[*axis];
                    let first = self.first_along(view, *axis);
                    let is_outside = if length == 0 {
                        first.is_none() || entry.is_some()
                    } else {
                        entry.is_some_and(|entry| entry >= length)
                    };
                    if is_outside {
                        return Ok(Place {
                            at: ZERO,
                            begin: ZERO,
                            strides: vec![0; loops.len()],
                            ..Place::default()
                        });
                    }
                    let last = if length == 0 && first == Some(true) {
                        0
                    } else {
                        length as isize - 1
                    };
                    begin +=
                        take(&mut strides, *axis)? * entry.map_or(last, |entry| entry as isize);
                }
                Cut::Part(axis, first, name) => {
                    let stride = take(&mut strides, *axis)?;
                    begin += stride * *first as isize;
                    strides.push((*name, stride));
                }
                Cut::Joined(axis, before, axes) => {
                    begin += self.part(&mut strides, *axis, before, axes)?;
                }
                Cut::Packed(axis) => {
                    strides.retain(|own| own.0 == IN);
                    strides.push((*axis, 1));
                }
                Cut::Input(index, axes) => {
                    let Base::Tensor(tensor) = view.base else {
                        continue;
                    };
                    begin += self.part(
                        &mut strides,
                        IN,
                        &self.program.tensors[tensor].inputs[..*index],
                        axes,
                    )?;
                }
            }
        }
        // A cell's gates have a name of their own in its statement.
        if strides.iter().any(|(axis, _)| *axis == GATES) {
            let stride = take(&mut strides, GATES)?;
            let gates = view
                .axes
                .iter()
                .find(|axis| strides.iter().all(|(own, _)| own != *axis))
                .ok_or(Fault::NoAxis)?;
            strides.push((*gates, stride));
        }
        // Blocks that both the array and the statement stand in: the step at hand, or what is before the first one.
        for (axis, stride) in &strides {
            let block = blocks
                .iter()
                .find(|block| self.axis_of(**block) == Some(*axis));
            if let (Some(block), true) = (block, block == start.as_ref()) {
                let is_backwards = self.page.blocks[*block].backwards;
                let before = if is_backwards {
                    self.lengths[*axis] as isize
                } else {
                    -1
                };
                if is_ring(Some(block)) {
                    ring_at = Some((None, before, *stride));
                }
                begin += stride
                    * self
                        .rings
                        .get(&(view.base, *block))
                        .map_or(before, |ring| before.rem_euclid(*ring as isize));
            } else if !view.axes.contains(axis) {
                let frame = block.and_then(|block| frames.iter().position(|frame| frame == block));
                let frame = frame.ok_or(Fault::NoAxis)?;
                if is_ring(frames.get(frame)) {
                    ring_at = Some((Some(frame), 0, 0));
                }
                moves.push(Move {
                    ring: ring(frame).unwrap_or(usize::MAX),
                    ..Move::new(frame, *stride)
                });
            }
        }
        let strides = loops
            .iter()
            .map(|axis| {
                strides
                    .iter()
                    .find(|(own, _)| own == axis)
                    .filter(|_| view.axes.contains(axis))
                    .map_or(0, |(_, stride)| *stride)
            })
            .collect();
        let slope = !matches!(view.base, Base::Series(series) if matches!(self.program.series[series].source, Source::Target | Source::Noise(_)));
        let ring = ring_at
            .zip(slope_ring)
            .map(|((frame, step, stride), (_, offset))| {
                let inside = begin - layout.offset - step * stride;
                Ring {
                    begin: 2 * self.size as isize + *offset as isize + inside,
                    frame,
                    step,
                    stride: self.slope_ring_size as isize,
                }
            });
        Ok(Place {
            at: begin,
            begin,
            strides,
            moves,
            slope,
            ring,
            shift: 0,
        })
    }

    /// Whether the block along an axis of an array begins at its last entry; none if the array has no value before the first.
    fn first_along(&self, view: &View, axis: Axis) -> Option<bool> {
        let Base::Series(series) = view.base else {
            return None;
        };
        let is_along = |block: usize| {
            self.axis_of(block)
                .is_some_and(|own| self.program.axes[own].origin == self.program.axes[axis].origin)
        };
        let first = self
            .program
            .firsts
            .iter()
            .find(|first| first.series == series && is_along(first.block))?;
        Some(self.page.blocks[first.block].backwards)
    }

    /// A parameter whose tensor is that of another use has its axes under other names.
    fn name_parameter(&self, series: usize, strides: &mut [(Axis, isize)]) {
        let (page, series) = (self.page, &self.program.series[series]);
        let mut all = page.parameters.iter().filter(|own| {
            own.names[0] == series.name && own.kind == series.kind && page.keeps(own)
        });
        if let (Source::Parameter(_), Some(parameter)) = (series.source, all.next()) {
            let axes = series.kind.iter().chain(parameter.given()).copied();
            strides
                .iter_mut()
                .zip(axes)
                .for_each(|((own, _), axis)| *own = axis);
        }
    }

    /// The part of an axis that holds the values of one of several arguments, under their axes. Returns where it begins.
    fn part(
        &self,
        strides: &mut Vec<(Axis, isize)>,
        axis: Axis,
        before: &[Vec<Axis>],
        axes: &[Axis],
    ) -> Result<isize, Fault> {
        let stride = take(strides, axis)?;
        let mut inner = stride * self.count(axes) as isize;
        for axis in axes {
            inner = inner.checked_div(self.lengths[*axis] as isize).unwrap_or(0);
            strides.push((*axis, inner));
        }
        Ok(stride
            * before
                .iter()
                .map(|axes| self.count(axes) as isize)
                .sum::<isize>())
    }
}

/// Takes the stride of an axis out of a list.
fn take(strides: &mut Vec<(Axis, isize)>, axis: Axis) -> Result<isize, Fault> {
    let index = strides
        .iter()
        .position(|(own, _)| *own == axis)
        .ok_or(Fault::NoAxis)?;
    Ok(strides.remove(index).1)
}
