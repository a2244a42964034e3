//! Runs a program: forward, and the reverse sweep from the recorded values.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use super::bind::{Bound, Layout};
use super::flatten::Flat;
use super::lower::Axis;
use super::op::{self, Act, Exec, Memory, Real, Room};
use super::plan::{Item, Plan, plan};
use crate::math::{Aligned, pack::MOST_LANES};

/// A program that runs, with all its numbers.
pub struct Engine<R> {
    /// Operations and the places of arrays.
    pub bound: Bound,
    /// Numbers.
    pub memory: Memory<R>,
    /// Numbers of the arena.
    size: usize,
    plan: Plan,
    draws: Vec<(usize, usize)>,
    steps: Vec<usize>,
    /// The part of the plan that runs.
    part: usize,
    /// Of episodes of different lengths: steps, and the number of episodes that have them.
    running: Vec<ActiveSteps>,
    /// The first operation of a start.
    first_start: usize,
    /// Where gradients stand.
    cleared: Vec<std::ops::Range<usize>>,
    /// Whether a block runs step by step, by its place around a statement.
    is_inside: Vec<bool>,
    /// Values that statements take instead of what they compute: of each statement places in the arena and values.
    set: Vec<Vec<(usize, R)>>,
}

/// What a statement has made, at a step or at all steps.
pub struct Made<'e, R> {
    /// Index of the statement in the program.
    pub equation: usize,
    /// The step of each block around it.
    pub steps: &'e [usize],
    /// Whether it is this step alone, of each block.
    pub is_inside: &'e [bool],
    /// All numbers.
    pub arena: &'e mut [R],
    probes: &'e mut [Exec],
}

impl<R> Made<'_, R> {
    /// Calls `visit` with all numbers and the place of every entry that was made.
    pub fn each(&mut self, mut visit: impl FnMut(&mut [R], usize)) {
        for probe in &mut *self.probes {
            probe.go_to(self.steps);
            let (strides, at) = ([&probe.out.strides[..]], [probe.out.at]);
            let mut visit = |[at]: [isize; 1]| visit(self.arena, at as usize);
            op::each(&probe.dims, strides, at, &mut visit);
        }
    }
}

/// Sees what each statement has made, and may change it.
type Visit<'s, R> = Option<&'s mut dyn FnMut(Made<'_, R>)>;

/// The direction of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    /// Forward, without the starts.
    Statements,
    Reverse,
}

impl<R: Real> Engine<R> {
    /// Prepares a program whose arrays have their places. `learns`: whether gradients are wanted.
    pub fn new(bound: Bound, flat: &Flat, learns: bool) -> Self {
        let mut engine = Self::without_arena(bound, flat, learns);
        engine.set_arena(Aligned::default());
        engine
    }

    /// As [`Self::new`], for an arena that is set before it runs.
    pub fn without_arena(mut bound: Bound, flat: &Flat, learns: bool) -> Self {
        let (page, program) = (Arc::clone(&bound.page), Arc::clone(&bound.program));
        let row = |exec: &Exec| {
            let own = exec.dims[exec.dims.len() - exec.inner..].iter();
            match exec.act {
                Act::Map(_) | Act::Contract { .. } | Act::Update(_) | Act::Lstm => 0,
                Act::Cosine(_) => 2 * own.sum::<usize>(),
                Act::Maximum(_) | Act::Product(_) => MOST_LANES * own.product::<usize>(),
                _ => own.product(),
            }
        };
        let rows = bound.execs.iter().map(row);
        let nodes = bound.execs.iter().map(|exec| match &exec.act {
            Act::Map(nodes) => nodes.len(),
            _ => 0,
        });
        let room = Room::new(rows.max().unwrap_or(0), nodes.max().unwrap_or(0));
        let plan = plan(&mut bound, flat);
        let constants = page.keys.iter().map(|key| R::from_f64(key.value)).collect();
        let size = bound.size * (1 + usize::from(learns)) + 2 * bound.slope_ring_size + 16;
        let memory = Memory {
            arena: Aligned::default(),
            gradients: bound.size,
            constants,
            room,
        };
        let set = vec![vec![]; program.equations.len()];
        let cleared = cleared(&bound, learns);
        let starts = bound.ranges.get(program.equations.len());
        let first_start = starts.map_or(usize::MAX, |range| range.start);
        Self {
            part: 0,
            size,
            running: vec![],
            cleared,
            bound,
            memory,
            plan,
            draws: flat.draws.clone(),
            steps: vec![0; page.blocks.len()],
            is_inside: vec![false; page.blocks.len()],
            first_start,
            set,
        }
    }

    /// Runs in this arena from now on, whatever it holds, once the weights stand in it.
    pub fn set_arena(&mut self, mut arena: Aligned<R>) {
        arena.resize(self.size);
        arena[0] = R::from_f64(1.0);
        arena[1] = R::ZERO;
        // Numbers that no operation writes are 0.
        let (size, values) = (self.bound.size, self.bound.tensor_range().end);
        arena[values..size].fill(R::ZERO);
        let learns = !self.cleared.is_empty();
        arena[size * (1 + usize::from(learns))..].fill(R::ZERO);
        for (scratch, _) in &self.draws {
            self.bound.scratch[*scratch].each_entry(|at| arena[at] = R::from_f64(f64::NAN));
        }
        self.memory.arena = arena;
    }

    /// Gives its arena away, for another engine.
    pub fn take_arena(&mut self) -> Aligned<R> {
        std::mem::take(&mut self.memory.arena)
    }

    /// Sets the lengths of the episodes, of which the first is the longest and as long as the engine at most.
    pub fn set_lengths(&mut self, lengths: &[usize]) {
        debug_assert!(lengths.is_sorted_by(|a, b| a >= b), "{lengths:?}");
        self.running.clear();
        let mut first = 0;
        for (index, length) in lengths.iter().enumerate().rev() {
            if *length > first {
                self.running.push((first..*length, index + 1));
            }
            first = *length;
        }
    }

    /// Runs all statements.
    pub fn forward(&mut self) {
        self.go(Way::Forward, None);
    }

    /// As [`Self::forward`]; what each statement has made goes to `visit` before anything reads it.
    pub fn forward_with(&mut self, visit: &mut dyn FnMut(Made<'_, R>)) {
        self.go(Way::Forward, Some(visit));
    }

    /// As [`Self::forward_with`], of the statements alone: first values stay as they are.
    pub fn statements_with(&mut self, visit: &mut dyn FnMut(Made<'_, R>)) {
        self.go(Way::Statements, Some(visit));
    }

    /// Runs the reverse sweep: the gradients of the answers and penalties stand in the arena.
    pub fn backward(&mut self) {
        self.go(Way::Reverse, None);
        for exec in &mut self.plan.late {
            let running = parts_of(exec, &self.running, (&self.steps, &self.is_inside));
            each_part(exec, running, &self.steps, |exec, steps| {
                op::reverse(exec, &mut self.memory, steps);
            });
        }
    }

    /// Runs every statement once more on recorded values alone: the largest difference of each to what is recorded.
    pub fn verify(&mut self) -> Vec<f64> {
        let (recorded, mut all) = (self.memory.arena.clone(), vec![0.0; self.set.len()]);
        self.forward_with(&mut |mut made| {
            let most = &mut all[made.equation];
            made.each(|arena, at| {
                let (found, kept) = (arena[at].to_f64(), recorded[at].to_f64());
                let is_same = found == kept || found.is_nan() && kept.is_nan();
                let difference = if is_same { 0.0 } else { (found - kept).abs() };
                if difference > *most || difference.is_nan() {
                    *most = difference;
                }
                arena[at] = recorded[at];
            });
        });
        all
    }

    /// Sets all gradients to 0.
    pub fn clear_gradients(&mut self) {
        for range in &self.cleared {
            self.memory.arena[range.clone()].fill(R::ZERO);
        }
    }

    /// Makes room for the gradients of the step before, or behind.
    fn clear_step(&mut self, step: usize) {
        if let Some(part) = self.bound.slope_parts.get(&self.part) {
            let begin = 2 * self.bound.size + ((step + 1) & 1) * self.bound.slope_ring_size;
            self.memory.arena[begin + part.start..begin + part.end].fill(R::ZERO);
        }
    }

    /// From now on a statement takes this value for one entry of a series instead of what it computes.
    pub fn set(&mut self, series: usize, place: usize, value: R) {
        for (set, equation) in self.set.iter_mut().zip(&self.bound.program.equations) {
            if equation.makes.contains(&series) {
                set.push((place, value));
            }
        }
    }

    fn go(&mut self, way: Way, mut visit: Visit<'_, R>) {
        let items = std::mem::take(&mut self.plan.items);
        for index in 0..items.len() {
            self.part = if way == Way::Reverse {
                items.len() - 1 - index
            } else {
                index
            };
            self.item(&items[self.part], way, &mut visit);
        }
        self.plan.items = items;
    }

    fn items(&mut self, items: &[Item], way: Way, visit: &mut Visit<'_, R>) {
        match way {
            Way::Reverse => items
                .iter()
                .rev()
                .for_each(|item| self.item(item, way, visit)),
            _ => items.iter().for_each(|item| self.item(item, way, visit)),
        }
    }

    fn item(&mut self, item: &Item, way: Way, visit: &mut Visit<'_, R>) {
        match item {
            Item::Loop {
                frame,
                length,
                backwards,
                items,
            } => {
                self.is_inside[*frame] = true;
                let longest = self.running.last().filter(|_| *frame == 0);
                let length = longest.map_or(*length, |own| own.0.end);
                for step in 0..length {
                    self.steps[*frame] = if *backwards == (way != Way::Reverse) {
                        length - 1 - step
                    } else {
                        step
                    };
                    if way == Way::Reverse && *frame == 0 {
                        self.clear_step(self.steps[0]);
                    }
                    self.items(items, way, visit);
                }
                self.steps[*frame] = 0;
                self.is_inside[*frame] = false;
            }
            Item::Operation(index) => {
                if way == Way::Statements && *index >= self.first_start {
                    return;
                }
                let exec = &mut self.bound.execs[*index];
                let running = parts_of(exec, &self.running, (&self.steps, &self.is_inside));
                if way == Way::Reverse {
                    let ends = self.plan.ends[*index].iter();
                    for (place, _) in ends.flat_map(|equation| &self.set[*equation]) {
                        self.memory.arena[*place + self.memory.gradients] = R::ZERO;
                    }
                    each_part(exec, running, &self.steps, |exec, steps| {
                        op::reverse(exec, &mut self.memory, steps);
                    });
                } else {
                    each_part(exec, running, &self.steps, |exec, steps| {
                        op::forward(exec, &mut self.memory, steps);
                    });
                    for end in 0..self.plan.ends[*index].len() {
                        self.end(self.plan.ends[*index][end], visit);
                    }
                }
            }
        }
    }

    /// Puts values in the place of what a statement has computed, and shows what it has made.
    fn end(&mut self, equation: usize, visit: &mut Visit<'_, R>) {
        for (place, value) in &self.set[equation] {
            self.memory.arena[*place] = *value;
        }
        if let Some(visit) = visit {
            visit(Made {
                equation,
                steps: &self.steps,
                is_inside: &self.is_inside,
                arena: &mut self.memory.arena,
                probes: &mut self.bound.probes[equation],
            });
        }
    }

    /// Times of all operations, forward and reverse, in microseconds of a step: a line for each, in the order of the plan.
    pub fn report(&mut self, steps: usize) -> String {
        let (mut lines, mut list) = (String::new(), vec![]);
        operations(&self.plan.items, 0, &mut list);
        let program = Arc::clone(&self.bound.program);
        for (index, depth) in list {
            let mut ranges = self.bound.ranges.iter();
            let range = ranges.position(|range| range.contains(&index)).unwrap_or(0);
            let first = range.checked_sub(program.equations.len());
            let series = first.map(|first| program.firsts[first].series);
            let series = series.unwrap_or_else(|| program.equations[range].makes[0]);
            let start = if first.is_some() { " (start)" } else { "" };
            let name = format!("{}{start}", program.series[series].name);
            let exec = &mut self.bound.execs[index];
            let (count, share) = if depth > 0 { (200, 1) } else { (5, steps) };
            let mut time = |run: fn(&Exec, &mut Memory<R>, &[usize])| {
                let times = (0..count).map(|_| {
                    let begin = web_time::Instant::now();
                    exec.go_to(&self.steps);
                    run(exec, &mut self.memory, &self.steps);
                    begin.elapsed().as_secs_f64() * 1e6 / share as f64
                });
                times.fold(f64::INFINITY, f64::min)
            };
            let (forward, reverse) = (time(op::forward), time(op::reverse));
            let (indent, act) = (2 * depth, format!("{:?}", exec.act));
            let (dims, act) = (&exec.dims, &act[..act.len().min(70)]);
            let times = format!("{forward:8.2} {reverse:8.2}");
            let _ = writeln!(lines, "{:indent$}{name:20} {times}  {dims:?} {act}", "");
        }
        for late in &mut self.plan.late {
            let begin = web_time::Instant::now();
            (0..5).for_each(|_| op::reverse(late, &mut self.memory, &self.steps));
            let time = begin.elapsed().as_secs_f64() * 1e6 / 5.0 / steps as f64;
            let _ = writeln!(lines, "late {time:31.2}  {:?}", late.dims);
        }
        lines
    }

    // Arrays.

    /// The layout of a series: that of the tensor of a parameter.
    pub fn layout(&self, series: usize) -> &Layout {
        &self.bound.series[series]
    }

    /// The layout of a series for one of the episodes that run side by side.
    pub fn layout_in(&self, series: usize, episode: usize) -> Layout {
        self.bound.in_episode(&self.bound.series[series], episode)
    }

    /// Arrays that say what a statement or a start draws, by the name of what it makes.
    pub fn draws(&self) -> impl Iterator<Item = (&str, &Layout)> {
        let program = &self.bound.program;
        self.draws.iter().map(|(scratch, work)| {
            let equation = program.equations.get(*work);
            let first = || program.firsts[work - program.equations.len()].series;
            let made = equation.map_or_else(first, |equation| equation.makes[0]);
            (&*program.series[made].name, &self.bound.scratch[*scratch])
        })
    }
}

/// Steps, and the number of episodes that have them.
type ActiveSteps = (Range<usize>, usize);

/// The parts of the steps that an operation runs through in which other episodes run; none where all of them always do.
fn parts_of<'r>(
    exec: &Exec,
    running: &'r [ActiveSteps],
    (steps, is_inside): (&[usize], &[bool]),
) -> &'r [ActiveSteps] {
    if exec.runs_through_steps() {
        return running;
    }
    let has_step = |own: &ActiveSteps| is_inside[0] && own.0.contains(&steps[0]);
    let part = running.iter().position(has_step);
    part.map_or(&[], |part| &running[part..=part])
}

/// Moves an operation to a step, and runs it for each of these parts.
#[inline(always)]
fn each_part(
    exec: &mut Exec,
    running: &[ActiveSteps],
    steps: &[usize],
    mut run: impl FnMut(&Exec, &[usize]),
) {
    for (own, episodes) in running {
        exec.go_to(steps);
        exec.narrow(own, *episodes);
        run(exec, steps);
    }
    if running.is_empty() {
        exec.go_to(steps);
        run(exec, steps);
    }
}

/// The parts of an arena where gradients are added.
fn cleared(bound: &Bound, learns: bool) -> Vec<std::ops::Range<usize>> {
    let (size, mut out, mut from) = (bound.size, vec![], bound.size);
    if !learns {
        return out;
    }
    let layouts = bound.slope_rings.keys().map(|base| bound.layout(*base));
    let range = |layout: &Layout| {
        let far = |dim: &(Axis, usize, isize)| (dim.1 as isize - 1) * dim.2;
        let last = layout.offset + layout.dims.iter().map(far).sum::<isize>();
        (layout.offset as usize, last as usize + 1)
    };
    let whole = layouts.filter(|layout| layout.dims.iter().all(|dim| dim.1 > 0));
    let mut gone: Vec<(usize, usize)> = whole.map(range).collect();
    gone.sort_unstable();
    for (begin, end) in gone {
        out.push(from..size + begin);
        from = size + end;
    }
    out.push(from..2 * size);
    out.push(2 * size..2 * size + 2 * bound.slope_ring_size);
    out
}

/// The operations of a plan, each with the number of loops around it.
fn operations(items: &[Item], depth: usize, list: &mut Vec<(usize, usize)>) {
    for item in items {
        match item {
            Item::Operation(index) => list.push((*index, depth)),
            Item::Loop { items, .. } => operations(items, depth + 1, list),
        }
    }
}

impl Layout {
    /// Lengths and strides along these axes: along one that it does not have, an array has one entry.
    pub fn along(&self, axes: &[Axis]) -> (Vec<usize>, Vec<isize>) {
        let of = |axis: &Axis| {
            let own = self.dims.iter().find(|dim| dim.0 == *axis);
            own.map_or((1, 0), |dim| (dim.1, dim.2))
        };
        axes.iter().map(of).unzip()
    }

    /// Places in the arena of all entries, in the order of these axes.
    pub fn places(&self, axes: &[Axis]) -> Vec<usize> {
        let (lengths, strides) = self.along(axes);
        let mut places = Vec::new();
        op::each(&lengths, [&strides], [self.offset], &mut |[at]| {
            places.push(at as usize);
        });
        places
    }

    /// Calls `visit` with the place of every entry.
    pub(crate) fn each_entry(&self, visit: impl FnMut(usize)) {
        let axes: Vec<Axis> = self.dims.iter().map(|dim| dim.0).collect();
        self.places(&axes).into_iter().for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::flatten::{Feedback, flatten};
    use crate::equations::lower::lower;
    use crate::equations::op::tests::numbers;
    use crate::equations::page::{Given, Page};
    use crate::math::simd::{Choice, with};

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let library = |name: &str| {
            let text = match name {
                "attention" => include_str!("../machines/attention.component"),
                "coverage" => include_str!("../machines/coverage.component"),
                "encoder" => include_str!("../machines/encoder.component"),
                _ => include_str!("../machines/head.component"),
            };
            Some((name.to_owned(), text.into()))
        };
        let files = [
            include_str!("../machines/ntm.machine"),
            include_str!("../machines/dnc.machine"),
            include_str!("../machines/bahdanau.machine"),
            include_str!("../machines/coattention.machine"),
            include_str!("../machines/mlstm.machine"),
        ];
        for text in files {
            let page = Page::read(text.as_bytes(), "m", &Given::default(), &library).unwrap();
            let mut program = lower(&page).unwrap();
            let flat = flatten(&mut program, Feedback::Target);
            let (page, program) = (Arc::new(page), Arc::new(program));
            let run = |choice| {
                with(choice, || {
                    let bound = Bound::new(&page, &program, &flat, &|_| Some(5)).unwrap();
                    let mut engine = Engine::<f32>::new(bound, &flat, true);
                    let size = engine.bound.size;
                    let values = numbers(size - 2, 9);
                    engine.memory.arena[2..size]
                        .iter_mut()
                        .zip(values)
                        .for_each(|(to, value)| *to = 0.3 * value as f32);
                    engine.forward();
                    engine.clear_gradients();
                    let layout = engine.layout(program.answer().unwrap()).clone();
                    layout.each_entry(|place| engine.memory.arena[place + size] = 0.1);
                    engine.backward();
                    engine
                        .memory
                        .arena
                        .iter()
                        .map(|value| value.to_bits())
                        .collect::<Vec<u32>>()
                })
            };
            let [best, others @ ..] = Choice::all().map(run);
            assert!(
                others.iter().all(|other| *other == best),
                "{}",
                page.whole()
            );
        }
    }
}
