//! Gives the arrays of a program their places and its operations their loops, for the lengths of an episode.
//!
//! All arrays stand in one arena: a 1 and a 0, tensors, series and scratch, and behind them the gradients of all of them in the same order.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use super::flatten::{Base, Cut, Flat, Operation, Packed, View, entry_of};
pub use super::flatten::{GATES, IN};
use super::lower::{Axis, Length, Program, Source, When};
use super::op::exec::{Act, Exec, MOST_AXES, Move, Node, Place, Ragged, Ring};
use super::page::Page;

/// The place of a 0, which stands for entries that an array does not have.
const ZERO: usize = 1;

/// The most numbers of an engine: with gradients in f32 they take 128 GiB, in a browser 2. Whoever has less looks at [`Bound::size`] first.
pub const MOST_NUMBERS: usize = usize::MAX >> if usize::BITS == 64 { 30 } else { 4 };

/// Why a program has no places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its arrays have this many numbers, more than [`MOST_NUMBERS`].
    TooLarge(usize),
    /// An operation over more than [`MOST_AXES`] axes.
    TooManyAxes,
    /// An operation names an axis that its array does not have: the program is not one that was lowered.
    NoAxis,
    /// An entry of `past`, whose length differs from step to step.
    EntryOfPast,
    /// An operation along steps so far that are not equally many in all of its values.
    PastsDiffer,
}

/// The steps that an axis `past` has: along an axis, forward or backwards, and the one at hand, if it is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    axis: Axis,
    backwards: bool,
    now: bool,
    /// The step at hand where it is a fixed one.
    step: Option<usize>,
}

/// Where an array stands in the arena.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Its entry with all indices 0.
    pub offset: isize,
    /// Its axes with their lengths and strides.
    pub dims: Vec<(Axis, usize, isize)>,
}

impl Layout {
    /// An array of this size, the outermost axis first.
    fn new(offset: isize, size: usize, axes: Vec<(Axis, usize)>) -> Self {
        let (mut stride, mut dims) = (size, vec![]);
        for (axis, length) in axes {
            stride = stride.checked_div(length).unwrap_or(0);
            dims.push((axis, length, stride as isize));
        }
        Self { offset, dims }
    }
}

/// A program with the lengths of an episode.
pub struct Bound {
    pub(super) page: Arc<Page>,
    pub(super) program: Arc<Program>,
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
    /// Whether these episodes have different lengths.
    pub(super) is_ragged: bool,
    /// The axis of episodes that run side by side, if there are several.
    pub episodes: Option<Axis>,
    /// Arrays of which only the last steps of a block are kept, with the number of steps.
    pub(super) rings: HashMap<(Base, usize), usize>,
    /// Arrays of whose gradients two steps of a block are kept, with the place among these, and the numbers of a step.
    pub(super) slope_rings: HashMap<Base, (usize, usize)>,
    pub(super) slope_ring_size: usize,
    /// The part of each loop of these.
    pub(super) slope_parts: HashMap<usize, std::ops::Range<usize>>,
    /// Blocks around each scratch array.
    around: Vec<Vec<usize>>,
    /// The steps that an axis `past` of an array has; of a result without this axis, that a length in it counts.
    pasts: HashMap<(Base, Axis), Past>,
}

/// The lengths of all axes of a program. `given`: those of the sequences and widths of the data.
pub fn lengths(
    page: &Page,
    program: &Program,
    given: &dyn Fn(&str) -> Option<usize>,
) -> Vec<usize> {
    let axes = &program.axes;
    let mut lengths = vec![0; axes.len()];
    // An axis that a function makes may be made of others of its kind.
    for _ in 0..=axes.len() {
        let before = lengths.clone();
        for (axis, info) in axes.iter().enumerate() {
            lengths[axis] = match &info.length {
                Length::Fixed(length) => *length,
                Length::Episode => given(&info.name).unwrap_or(0),
                Length::Origin => lengths[info.origin],
                Length::Join(parts) => joined(&lengths, parts),
                Length::Packed(parts) => next_multiple(joined(&lengths, parts), 16),
                Length::Append(old) => lengths[*old].saturating_add(1),
                Length::Past => {
                    let along = page.blocks.iter().filter_map(|block| block.axis);
                    along.map(|axis| lengths[axis]).max().unwrap_or(0)
                }
            };
        }
        if before == lengths {
            break;
        }
    }
    lengths
}

/// The number of values with these axes.
pub fn count(lengths: &[usize], axes: &[Axis]) -> usize {
    let lengths = axes.iter().map(|axis| lengths[*axis]);
    lengths.fold(1, usize::saturating_mul)
}

/// The number of values that several arguments have together.
pub fn joined(lengths: &[usize], parts: &[Vec<Axis>]) -> usize {
    let counts = parts.iter().map(|axes| count(lengths, axes));
    counts.fold(0, usize::saturating_add)
}

/// The operations of a statement or a start, the blocks around it, and the block whose first value a start is.
pub type Work<'f> = (&'f [Operation], Vec<usize>, Option<usize>);

impl Bound {
    /// Gives all arrays their places. `given`: lengths of the sequences and widths of the data by axis.
    ///
    /// # Errors
    /// A [`Fault`]: arrays that no memory has ([`MOST_NUMBERS`]), more axes than an operation takes, an entry of `past`, and
    /// steps so far that differ in one operation.
    pub fn new(
        page: &Arc<Page>,
        program: &Arc<Program>,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Self, Fault> {
        let (rings, slopes) = (HashMap::new(), HashMap::new());
        Self::with_rings(page, program, flat, given, (1, false), rings, &slopes)
    }

    /// Places of the gradients of which two steps are kept.
    fn place_slopes(&mut self, rings: &HashMap<Base, (usize, usize)>) {
        let mut all: Vec<_> = rings.iter().map(|(base, own)| (*base, *own)).collect();
        all.sort_by_key(|(base, own)| (own.1, self.layout(*base).offset));
        for (base, (block, of_loop)) in all {
            let dims = self.layout(base).dims.iter();
            let inside = dims.filter(|dim| Some(dim.0) != self.axis_of(block));
            let size: usize = inside.map(|dim| dim.1).product();
            self.slope_rings.insert(base, (block, self.slope_ring_size));
            let begin = self.slope_ring_size;
            self.slope_ring_size += size.next_multiple_of(16);
            self.slope_parts.entry(of_loop).or_insert(begin..begin).end = self.slope_ring_size;
        }
    }

    /// Where an array stands.
    pub fn layout(&self, base: Base) -> &Layout {
        match base {
            Base::Series(series) => &self.series[series],
            Base::Tensor(tensor) => &self.tensors[tensor],
            Base::Result(result) => &self.scratch[result],
        }
    }

    /// Whether an array is learned.
    pub(super) fn is_tensor(&self, base: Base) -> bool {
        match base {
            Base::Series(series) => {
                matches!(self.program.series[series].source, Source::Parameter(_))
            }
            _ => matches!(base, Base::Tensor(_)),
        }
    }

    /// A layout for one of the episodes that run side by side.
    pub fn in_episode(&self, layout: &Layout, episode: usize) -> Layout {
        let mut layout = layout.clone();
        let mut dims = layout.dims.iter();
        if let Some(at) = dims.position(|dim| Some(dim.0) == self.episodes) {
            layout.offset += episode.cast_signed() * layout.dims.remove(at).2;
        }
        layout
    }

    /// Tensors in the arena.
    pub fn tensor_range(&self) -> std::ops::Range<usize> {
        2..self.tensor_end
    }

    /// Places for the tensors alone: those that they have whatever the lengths of an episode.
    pub fn of_tensors(
        page: &Arc<Page>,
        program: &Arc<Program>,
        flat: &Flat,
        lengths: Vec<usize>,
    ) -> Self {
        let mut bound = Self {
            page: Arc::clone(page),
            program: Arc::clone(program),
            lengths,
            series: vec![],
            tensors: vec![],
            scratch: vec![],
            execs: vec![],
            ranges: vec![],
            probes: vec![],
            size: 2,
            tensor_end: 2,
            is_ragged: false,
            episodes: None,
            rings: HashMap::new(),
            slope_rings: HashMap::new(),
            slope_ring_size: 0,
            slope_parts: HashMap::new(),
            around: vec![],
            pasts: HashMap::new(),
        };
        let members = || flat.packs.iter().flat_map(|pack| &pack.members);
        for tensor in 0..program.tensors.len() {
            let is_packed = members().any(|own| own.weight == tensor || own.bias == tensor);
            let layout = (!is_packed).then(|| bound.place_tensor(tensor));
            bound.tensors.push(layout.unwrap_or_default());
        }
        for pack in &flat.packs {
            bound.place_packed_tensors(pack);
        }
        bound.tensor_end = bound.size;
        bound
    }

    /// As [`Self::new`], with arrays and gradients of which only some steps are kept.
    pub(super) fn with_rings(
        page: &Arc<Page>,
        program: &Arc<Program>,
        flat: &Flat,
        given: &dyn Fn(&str) -> Option<usize>,
        (episodes, is_ragged): (usize, bool),
        rings: HashMap<(Base, usize), usize>,
        slopes: &HashMap<Base, (usize, usize)>,
    ) -> Result<Self, Fault> {
        let mut bound = Self::of_tensors(page, program, flat, lengths(page, program, given));
        (bound.is_ragged, bound.rings) = (is_ragged, rings);
        bound.episodes = (episodes > 1).then_some(flat.episodes);
        bound.lengths[flat.episodes] = episodes;
        bound.find_pasts(flat)?;
        bound.around = bound.blocks_around(flat);
        for series in 0..program.series.len() {
            let layout = bound.place_series(series);
            bound.series.push(layout);
        }
        for (index, axes) in flat.scratch.iter().enumerate() {
            let mut dims = vec![];
            for block in &bound.around[index] {
                let ring = bound.rings.get(&(Base::Result(index), *block));
                let axis = bound.axis_of(*block);
                dims.extend(axis.map(|axis| (axis, *ring.unwrap_or(&bound.lengths[axis]))));
            }
            dims.extend(bound.with_lengths(bound.episodes.as_slice()));
            dims.extend(bound.with_lengths(&bound.in_memory(axes)));
            let layout = bound.place(dims);
            bound.scratch.push(layout);
        }
        for pack in &flat.packs {
            bound.place_packed_results(pack);
        }
        bound.size = next_multiple(bound.size, 16);
        if bound.size > MOST_NUMBERS {
            return Err(Fault::TooLarge(bound.size));
        }
        bound.place_slopes(slopes);
        let works = bound.works(flat);
        for (operations, frames, start) in &works {
            let begin = bound.execs.len();
            for operation in *operations {
                let exec = bound.bind_one(operation, frames, *start)?;
                bound.execs.push(exec);
            }
            bound.ranges.push(begin..bound.execs.len());
        }
        for (equation, (_, frames, _)) in program.equations.iter().zip(&works) {
            let probe = |series: &usize| {
                let axes = &program.series[*series].axes;
                let out = entry_of(*series, axes, equation.head);
                let probe = Operation {
                    act: Act::Map(vec![Node::Argument(0)]),
                    arguments: vec![out.clone()],
                    out,
                };
                bound.bind_one(&probe, frames, None)
            };
            let probes: Result<Vec<Exec>, Fault> = equation.makes.iter().map(probe).collect();
            bound.probes.push(probes?);
        }
        Ok(bound)
    }

    /// Leaves out the gradients of the inputs.
    pub fn ignore_inputs(&mut self, flat: &Flat) {
        let is_input =
            |series: usize| matches!(self.program.series[series].source, Source::Input(_));
        let operations = flat.equations.iter().chain(&flat.firsts).flatten();
        for (exec, operation) in self.execs.iter_mut().zip(operations) {
            for (place, view) in exec.arguments.iter_mut().zip(&operation.arguments) {
                place.slope &= !matches!(view.base, Base::Series(series) if is_input(series));
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

    /// Whether an axis is `past`, or has one entry more.
    fn is_longer(&self, axis: Axis) -> bool {
        match self.program.axes[self.program.axes[axis].origin].length {
            Length::Append(old) => self.is_longer(old),
            _ => self.is_past(axis),
        }
    }

    fn count(&self, axes: &[Axis]) -> usize {
        count(&self.lengths, axes)
    }

    /// The number of values that several arguments have together.
    fn joined(&self, parts: &[Vec<Axis>]) -> usize {
        joined(&self.lengths, parts)
    }

    fn with_lengths(&self, axes: &[Axis]) -> Vec<(Axis, usize)> {
        let length = |axis: &Axis| (*axis, self.lengths[*axis]);
        axes.iter().map(length).collect()
    }

    /// Blocks along whose steps scratch arrays differ.
    fn blocks_around(&self, flat: &Flat) -> Vec<Vec<usize>> {
        let (works, mut around) = (self.works(flat), vec![vec![]; flat.scratch.len()]);
        for (scratch, equation) in &flat.draws {
            around[*scratch].clone_from(&works[*equation].1);
        }
        // Terms added to an array count as well, so an array may get blocks after it was read.
        loop {
            let before = around.clone();
            for (operations, frames, _) in &works {
                let all = operations.iter();
                let outs = all.flat_map(|own| own.outs().map(move |out| (own, out.base)));
                for (operation, out) in outs {
                    let Base::Result(result) = out else {
                        continue;
                    };
                    let pasts = self.past_axes(operation);
                    let pasts = pasts.filter_map(|axis| self.past_of(operation, axis, frames));
                    let pasts: Vec<Past> = pasts.collect();
                    let differs = |frame: usize| {
                        let step = Node::Step(frame);
                        let views = &operation.arguments;
                        let is_own = |own: &Past| self.frame_of(own, frames) == Some(frame);
                        pasts.iter().any(is_own)
                            || around[result].contains(&frames[frame])
                            || matches!(&operation.act, Act::Map(nodes) if nodes.contains(&step))
                            || views
                                .iter()
                                .any(|view| self.differs(view, frame, frames, &around))
                    };
                    let own = (0..frames.len()).filter(|frame| differs(*frame));
                    around[result] = own.map(|frame| frames[frame]).collect();
                }
            }
            for pack in &flat.packs {
                for member in &pack.members {
                    if let Base::Result(result) = member.out {
                        let of_pack = around[pack.scratch].clone();
                        around[result] = of_pack;
                    }
                }
            }
            if before == around {
                return around;
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

    /// All statements, then all starts.
    pub fn works<'f>(&self, flat: &'f Flat) -> Vec<Work<'f>> {
        let (page, program) = (Arc::clone(&self.page), Arc::clone(&self.program));
        let mut works: Vec<Work> = vec![];
        for (operations, equation) in flat.equations.iter().zip(&program.equations) {
            let frames = page.blocks_around(page.statements[equation.statement].block);
            works.push((operations, frames, None));
        }
        for (operations, first) in flat.firsts.iter().zip(&program.firsts) {
            let mut frames = page.blocks_around(first.block);
            frames.pop();
            works.push((operations, frames, Some(first.block)));
        }
        works
    }

    // Places.

    /// Gives an array with these axes, the outermost first, its place.
    fn place(&mut self, dims: Vec<(Axis, usize)>) -> Layout {
        let lengths = dims.iter().map(|dim| dim.1);
        let size = lengths.fold(1, usize::saturating_mul);
        // Arrays of more than a cache line begin at one.
        let line = if size < 16 { 1 } else { 16 };
        let begin = next_multiple(self.size, line);
        let layout = Layout::new(begin as isize, size, dims);
        self.size = begin.saturating_add(size);
        layout
    }

    /// Of `in` and the axes of the result, the longer stands last in a weight: its products run along memory.
    fn place_tensor(&mut self, tensor: usize) -> Layout {
        let tensor = &self.program.tensors[tensor];
        let mut dims = self.with_lengths(&tensor.axes);
        let mut out = dims.split_off(tensor.before_gates);
        if tensor.gates > 0 {
            out.insert(0, (GATES, tensor.gates));
        }
        let lengths = out.iter().map(|dim| dim.1);
        let (count, length) = (
            lengths.fold(1, usize::saturating_mul),
            self.joined(&tensor.inputs),
        );
        if !tensor.inputs.is_empty() {
            let at = if length > count { out.len() } else { 0 };
            out.insert(at, (IN, length));
        }
        dims.extend(out);
        self.place(dims)
    }

    /// Weights and biases that stand side by side.
    fn place_packed_tensors(&mut self, pack: &Packed) {
        let whole = self.lengths[pack.axis];
        let inputs = self.joined(&self.program.tensors[pack.members[0].weight].inputs);
        let weights = self.place(vec![(IN, inputs), (pack.axis, whole)]);
        let biases = self.place(vec![(pack.axis, whole)]);
        let mut begin = 0;
        for member in &pack.members {
            let axes = &self.program.tensors[member.bias].axes;
            self.tensors[member.bias] = self.part_of(&biases, begin, axes);
            let mut weight = self.part_of(&weights, begin, axes);
            weight.dims.push((IN, inputs, whole as isize));
            self.tensors[member.weight] = weight;
            begin += self.count(axes) as isize;
        }
    }

    /// The results of linear maps that are one product.
    fn place_packed_results(&mut self, pack: &Packed) {
        let (whole, mut begin) = (self.scratch[pack.scratch].clone(), 0);
        for member in &pack.members {
            let mut layout = self.part_of(&whole, begin, &member.axes);
            let steps = whole.dims.iter().filter(|dim| dim.0 != pack.axis);
            layout.dims.splice(0..0, steps.copied());
            begin += self.count(&member.axes) as isize;
            match member.out {
                Base::Series(series) => self.series[series] = layout,
                Base::Result(result) => self.scratch[result] = layout,
                Base::Tensor(_) => {}
            }
        }
    }

    /// The part of a packed array from an entry on, with these axes.
    fn part_of(&self, whole: &Layout, begin: isize, axes: &[Axis]) -> Layout {
        let dims = self.with_lengths(axes);
        Layout::new(whole.offset + begin, self.count(axes), dims)
    }

    /// Axes of an array in the order of memory: the last is that of the file, or one that is twice as long.
    fn in_memory(&self, axes: &[Axis]) -> Vec<Axis> {
        let mut axes = axes.to_vec();
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
        let (page, program) = (Arc::clone(&self.page), Arc::clone(&self.program));
        let series = &program.series[index];
        if let Source::Parameter(tensor) = series.source {
            return self.parameter(index, tensor);
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
        axes.extend(self.with_lengths(self.episodes.as_slice()));
        for axis in &self.in_memory(&series.axes) {
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

    /// The axes `past` of an operation, and those whose lengths it counts.
    fn past_axes(&self, operation: &Operation) -> impl Iterator<Item = Axis> {
        let views = operation.views();
        let mut axes: Vec<Axis> = views.flat_map(|view| view.axes.clone()).collect();
        if let Act::Map(nodes) = &operation.act {
            axes.extend(nodes.iter().filter_map(|node| match node {
                Node::Length(axis) => Some(*axis),
                _ => None,
            }));
        }
        axes.retain(|axis| self.is_past(*axis));
        axes.sort_unstable();
        axes.dedup();
        axes.into_iter()
    }

    /// The axis of an array that an axis of a view is, or the steps so far that a view takes.
    fn source(&self, view: &View, mut axis: Axis, frames: &[usize]) -> Result<Axis, Past> {
        for cut in view.cuts.iter().rev() {
            match cut {
                Cut::Part(from, _, to) if to[..] == [axis] => axis = *from,
                Cut::Past(_, frame, now) if self.axis("past") == Some(axis) => {
                    return self.past(frames[*frame], *now).map_or(Ok(axis), Err);
                }
                _ => {}
            }
        }
        Ok(axis)
    }

    fn past(&self, block: usize, now: bool) -> Option<Past> {
        let backwards = self.page.blocks[block].backwards;
        self.axis_of(block).map(|axis| Past {
            axis,
            backwards,
            now,
            step: None,
        })
    }

    /// The steps that an axis `past` of a view has, if they are known.
    fn past_in(&self, view: &View, axis: Axis, frames: &[usize]) -> Option<Past> {
        let own = match self.source(view, axis, frames) {
            Ok(own) => own,
            Err(past) => return Some(past),
        };
        let mut past = *self.pasts.get(&(view.base, own))?;
        let last = self.lengths[past.axis].saturating_sub(1);
        for cut in &view.cuts {
            match cut {
                Cut::Entry(axis, step) if *axis == past.axis => {
                    past.step = Some(step.unwrap_or(last));
                }
                Cut::Part(axis, ..) if *axis == past.axis => {
                    past.step = Some(if past.backwards { 0 } else { last });
                }
                _ => {}
            }
        }
        Some(past)
    }

    /// Those that it has in an operation.
    fn past_of(&self, operation: &Operation, axis: Axis, frames: &[usize]) -> Option<Past> {
        let mut views = operation.views().filter(|view| view.axes.contains(&axis));
        let own = views.find_map(|view| self.past_in(view, axis, frames));
        own.or_else(|| self.pasts.get(&(operation.out.base, axis)).copied())
    }

    /// Those that every axis `past` of an operation has.
    fn pasts_of(
        &self,
        operation: &Operation,
        frames: &[usize],
    ) -> Result<HashMap<Axis, Past>, Fault> {
        let mut known = HashMap::new();
        for axis in self.past_axes(operation) {
            let views = operation.views().filter(|view| view.axes.contains(&axis));
            let mut own = views.filter_map(|view| self.past_in(view, axis, frames));
            if let Some(past) = self.past_of(operation, axis, frames) {
                if own.any(|other| other != past) {
                    return Err(Fault::PastsDiffer);
                }
                known.insert(axis, past);
            }
        }
        Ok(known)
    }

    /// Finds the steps that every axis `past` has: those that other values of an operation have, or else of its statement,
    /// or else those before this one along the innermost block.
    fn find_pasts(&mut self, flat: &Flat) -> Result<(), Fault> {
        let (works, mut all) = (self.works(flat), vec![]);
        for (work, (operations, frames, _)) in works.iter().enumerate() {
            for operation in *operations {
                for axis in self.past_axes(operation) {
                    // The arrays that have it; of a length, the result.
                    let own = operation.views().filter(|view| view.axes.contains(&axis));
                    let own: Vec<&View> = own.collect();
                    let key =
                        |view: &&View| Some((view.base, self.source(view, axis, frames).ok()?));
                    let mut keys: Vec<_> = own.iter().filter_map(key).collect();
                    keys.extend(own.is_empty().then_some((operation.out.base, axis)));
                    all.push((work, operation, axis, frames, keys));
                }
            }
        }
        loop {
            let count = self.pasts.len();
            for (_, operation, axis, frames, keys) in &all {
                if let Some(past) = self.past_of(operation, *axis, frames) {
                    for key in keys {
                        self.pasts.entry(*key).or_insert(past);
                    }
                }
            }
            if self.pasts.len() > count {
                continue;
            }
            let is_open = |key: &(Base, Axis)| !self.pasts.contains_key(key);
            let innermost = |frames: &[usize]| {
                let mut blocks = frames.iter().rev();
                blocks.find_map(|block| self.past(*block, false))
            };
            let mut open = all.iter().filter(|own| own.4.iter().any(is_open));
            let found = open.find_map(|own| Some((own, innermost(own.3)?)));
            let Some(((work, _, axis, _, keys), innermost)) = found else {
                return Ok(());
            };
            let of_work = all.iter().filter(|own| (own.0, own.2) == (*work, *axis));
            let mut told = of_work.filter_map(|own| self.past_of(own.1, own.2, own.3));
            let past = told.next().unwrap_or(innermost);
            if told.any(|other| other != past) {
                return Err(Fault::PastsDiffer);
            }
            self.pasts.extend(keys.iter().map(|key| (*key, past)));
        }
    }

    /// The block around a statement along whose steps an axis `past` gets longer.
    fn frame_of(&self, past: &Past, frames: &[usize]) -> Option<usize> {
        let mut axes = frames.iter().map(|block| self.axis_of(*block));
        axes.position(|axis| axis == Some(past.axis) && past.step.is_none())
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
        let own = own_axes(operation);
        let outer = out.axes.iter().filter(|axis| !own.contains(axis));
        let mut loops: Vec<Axis> = self.episodes.iter().chain(outer).copied().collect();
        loops.extend(&own);
        if let Act::Map(_) | Act::Update(_) | Act::Cosine(_) | Act::Lstm = act {
            // The last loop runs along the memory of the result.
            let place = self.resolve(out, &loops, frames, start)?;
            let mut order: Vec<usize> = (0..loops.len()).collect();
            // The two with a diagonal are the last ones.
            let is_hollow = matches!(act, Act::Update(form) if form.is_hollow);
            let rest = loops.len() - if is_hollow { 2 } else { 0 };
            order.sort_by_key(|dim| (*dim >= rest, std::cmp::Reverse(place.strides[*dim])));
            loops = order.into_iter().map(|dim| loops[dim]).collect();
        }
        if loops.len() > MOST_AXES {
            return Err(Fault::TooManyAxes);
        }
        let known = self.pasts_of(operation, frames)?;
        // The longest that an axis is, and what it follows: a block, its first step, and 1 if this step is among them.
        let length = |axis: Axis| {
            let Some(past) = known.get(&axis) else {
                return (self.lengths[axis], None);
            };
            let (last, now) = (
                self.lengths[past.axis].saturating_sub(1),
                usize::from(past.now),
            );
            let first = if past.backwards { last } else { 0 };
            let count = past.step.map_or(last, |step| step.abs_diff(first)) + now;
            let count = count.min(self.lengths[past.axis]);
            let frame = self.frame_of(past, frames);
            (count, frame.map(|frame| (frame, first, now)))
        };
        let (mut pasts, mut dims) = (vec![], vec![]);
        for (dim, axis) in loops.iter().enumerate() {
            let (count, follows) = length(*axis);
            pasts.extend(follows.map(|(frame, first, now)| (dim, frame, first, now)));
            dims.push(count);
        }
        let mut act = act.clone();
        if let Act::Cosine(axes) = &mut act {
            axes.clone_from(&own);
        }
        if let Act::Map(nodes) = &mut act {
            for node in nodes {
                match node {
                    Node::Length(axis) => {
                        *node = match length(*axis) {
                            (_, Some((frame, first, now))) => Node::Steps(frame, first, now),
                            (count, None) => Node::Number(count as f64),
                        };
                    }
                    Node::Index(axis) => {
                        let dim = loops.iter().position(|own| own == axis);
                        *axis = dim.unwrap_or_default();
                    }
                    _ => {}
                }
            }
        }
        let has_rows = usize::from(matches!(act, Act::Cosine(_)) && loops.len() > own.len());
        let place = |view: &View, start: Option<usize>| self.resolve(view, &loops, frames, start);
        let arguments: Result<Vec<Place>, Fault> =
            arguments.iter().map(|view| place(view, None)).collect();
        let ragged = self.is_ragged.then(|| Ragged {
            steps: None,
            episodes: loops.iter().position(|axis| Some(*axis) == self.episodes),
        });
        Ok(Exec {
            act,
            dims,
            ragged,
            inner: own.len() + has_rows,
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
        let layout = self.layout(view.base);
        let dims = layout.dims.iter();
        let mut strides: Vec<(Axis, isize)> = dims.map(|dim| (dim.0, dim.2)).collect();
        let (mut begin, mut moves) = (layout.offset, vec![]);
        let ring = |block: usize| self.rings.get(&(view.base, block)).copied();
        let is_backwards = |frame: usize| self.page.blocks[frames[frame]].backwards;
        // Where its gradient stands among those of two steps.
        let slope_ring = self.slope_rings.get(&view.base);
        let is_ring = |block: Option<&usize>| slope_ring.is_some_and(|ring| Some(&ring.0) == block);
        let ring_at = Cell::new(None);
        // Moves with the steps of a block, this far behind them.
        let mut follow = |begin: &mut isize, frame: usize, behind: isize, stride: isize| {
            if is_ring(frames.get(frame)) {
                ring_at.set(Some((Some(frame), behind, stride)));
            }
            let ring = ring(frames[frame]);
            *begin += if ring.is_none() { behind * stride } else { 0 };
            moves.push(Move {
                frame,
                stride,
                shift: ring.map_or(0, |ring| behind.rem_euclid(ring as isize) as usize),
                ring: ring.unwrap_or(usize::MAX),
            });
        };
        for cut in &view.cuts {
            match cut {
                Cut::Step(axis, When::Step(usize::MAX)) => {
                    let mut own = frames.iter().map(|block| self.axis_of(*block));
                    let frame = own.position(|own| own == Some(*axis));
                    let frame = frame.ok_or(Fault::NoAxis)?;
                    follow(&mut begin, frame, 0, take(&mut strides, *axis)?);
                }
                Cut::Step(axis, When::Step(frame)) => {
                    follow(&mut begin, *frame, 0, take(&mut strides, *axis)?);
                }
                Cut::Step(axis, When::Before(frame)) => {
                    let behind = if is_backwards(*frame) { 1 } else { -1 };
                    follow(&mut begin, *frame, behind, take(&mut strides, *axis)?);
                }
                Cut::Past(axis, frame, _) => {
                    let mut stride = take(&mut strides, *axis)?;
                    if is_backwards(*frame) {
                        begin += stride * (self.lengths[*axis] as isize - 1);
                        stride = -stride;
                    }
                    let past = self.axis("past").unwrap_or(*axis);
                    if strides.iter().any(|own| own.0 == past) {
                        return Err(Fault::PastsDiffer);
                    }
                    strides.push((past, stride));
                }
                Cut::Entry(axis, _) if self.is_longer(*axis) => return Err(Fault::EntryOfPast),
                Cut::Entry(axis, entry) => {
                    let length = self.lengths[*axis];
                    let index = match (*entry, self.first_along(view, *axis)) {
                        (Some(entry), _) if entry < length => entry as isize,
                        (None, Some(true)) if length == 0 => 0,
                        (None, first) if length > 0 || first.is_some() => length as isize - 1,
                        _ => {
                            return Ok(Place {
                                at: ZERO.cast_signed(),
                                begin: ZERO.cast_signed(),
                                strides: vec![0; loops.len()],
                                ..Place::default()
                            });
                        }
                    };
                    begin += take(&mut strides, *axis)? * index;
                }
                Cut::Part(axis, before, axes) => {
                    let stride = take(&mut strides, *axis)?;
                    let mut inner = stride * self.count(axes) as isize;
                    for axis in axes {
                        inner = inner.checked_div(self.lengths[*axis] as isize).unwrap_or(0);
                        strides.push((*axis, inner));
                    }
                    begin += stride * self.joined(before) as isize;
                }
                Cut::Packed(axis) => {
                    strides.retain(|own| own.0 == IN);
                    strides.push((*axis, 1));
                }
            }
        }
        // Blocks that both the array and the statement stand in: the step at hand, or what is before the first one.
        for (axis, stride) in &strides {
            let mut blocks = self.blocks_of(view.base).iter();
            let block = blocks.find(|block| self.axis_of(**block) == Some(*axis));
            if let (Some(block), true) = (block, block == start.as_ref()) {
                let before = if self.page.blocks[*block].backwards {
                    self.lengths[*axis] as isize
                } else {
                    -1
                };
                if is_ring(Some(block)) {
                    ring_at.set(Some((None, before, *stride)));
                }
                let ring = ring(*block).map(|ring| before.rem_euclid(ring as isize));
                begin += stride * ring.unwrap_or(before);
            } else if !view.axes.contains(axis) && Some(*axis) != self.episodes {
                let frame = block.and_then(|block| frames.iter().position(|frame| frame == block));
                follow(&mut begin, frame.ok_or(Fault::NoAxis)?, 0, *stride);
            }
        }
        let stride = |axis: &Axis| {
            let own = strides.iter().find(|(own, _)| own == axis);
            own.filter(|_| view.axes.contains(axis) || Some(*axis) == self.episodes)
                .map_or(0, |own| own.1)
        };
        let is_data = |series: usize| {
            let source = self.program.series[series].source;
            matches!(source, Source::Target | Source::Noise(_))
        };
        let ring = ring_at.get().zip(slope_ring);
        let ring = ring.map(|((frame, step, stride), (_, offset))| Ring {
            begin: 2 * self.size as isize + *offset as isize + begin
                - layout.offset
                - step * stride,
            frame,
            step,
            stride: self.slope_ring_size as isize,
        });
        Ok(Place {
            at: begin,
            begin,
            strides: loops.iter().map(stride).collect(),
            moves,
            slope: !matches!(view.base, Base::Series(series) if is_data(series)),
            ring,
            shift: 0,
        })
    }

    /// Whether the block along an axis of an array begins at its last entry; none if the array has no value before the first.
    fn first_along(&self, view: &View, axis: Axis) -> Option<bool> {
        let Base::Series(series) = view.base else {
            return None;
        };
        let (axes, mut firsts) = (&self.program.axes, self.program.firsts.iter());
        let first = firsts.find(|first| {
            let own = self.axis_of(first.block).filter(|_| first.series == series);
            own.is_some_and(|own| axes[own].origin == axes[axis].origin)
        })?;
        Some(self.page.blocks[first.block].backwards)
    }

    /// The tensor of a parameter; where it is that of another use, its axes have other names here.
    fn parameter(&self, series: usize, tensor: usize) -> Layout {
        let (page, series) = (&self.page, &self.program.series[series]);
        let mut layout = self.tensors[tensor].clone();
        let mut all = page.parameters.iter().filter(|own| {
            own.names[0] == series.name && own.kind == series.kind && page.keeps(own)
        });
        if let Some(parameter) = all.next() {
            let axes = series.kind.iter().chain(parameter.given());
            layout
                .dims
                .iter_mut()
                .zip(axes)
                .for_each(|(dim, axis)| dim.0 = *axis);
        }
        layout
    }
}

/// The axes that an operation normalises or sums over, or that are those of its function.
fn own_axes(operation: &Operation) -> Vec<Axis> {
    let Operation {
        act,
        out,
        arguments,
    } = operation;
    let all: Vec<Axis> = match act {
        Act::Softmax(axes)
        | Act::Sharpen(axes)
        | Act::Cosine(axes)
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
        Act::Map(_) | Act::Update(_) | Act::Lstm => vec![],
    };
    let mut own = vec![];
    for axis in all {
        if !own.contains(&axis) {
            own.push(axis);
        }
    }
    own
}

/// The next multiple, or the largest number.
fn next_multiple(count: usize, of: usize) -> usize {
    count.checked_next_multiple_of(of).unwrap_or(usize::MAX)
}

/// Takes the stride of an axis out of a list.
fn take(strides: &mut Vec<(Axis, isize)>, axis: Axis) -> Result<isize, Fault> {
    let index = strides
        .iter()
        .position(|(own, _)| *own == axis)
        .ok_or(Fault::NoAxis)?;
    Ok(strides.remove(index).1)
}
