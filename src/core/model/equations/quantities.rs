//! The arrays that an episode of a machine file records, and what follows from what.

use super::interned;
use super::parts::{Outline, Part, block_axes};
use crate::equations::bind::Layout;
use crate::equations::flatten::Flat;
use crate::equations::page::Word;
use crate::equations::program::{Axis, Op, Source, Value};
use crate::equations::tree::Function;
use crate::model::array;
use crate::model::spec::{Array, ArraySpec, Kept, Place, Range};

/// What an array holds of the numbers of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The values of a series.
    Values(usize),
    /// The value before the first step of a series along this block.
    First(usize, usize),
    /// What is drawn in a statement, by the place of its scratch array among all draws.
    Draw(usize),
}

impl Held {
    /// The series whose values it is.
    pub(super) fn series(self) -> Option<usize> {
        match self {
            Self::Values(series) => Some(series),
            _ => None,
        }
    }
}

/// An array that an episode records.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    /// Where it stands in a trace.
    pub place: Place,
    /// Its description; [`array::LOGIT`] of the answer.
    pub array: Array,
    /// What it holds.
    pub held: Held,
    /// The entries of axes that it has alone: a head, a layer.
    pub entries: Vec<(Axis, usize)>,
    /// The axis of its steps, with the part of the episode.
    pub time: Option<(Axis, Part)>,
    /// Its other axes.
    pub axes: Vec<Axis>,
    /// The quantities that it follows from, its first value among them, and whether these are all.
    pub needs: Vec<usize>,
    /// Whether it follows from these without a tensor.
    pub follows: bool,
    /// Whether an episode that is not recorded keeps it as well.
    pub is_kept: bool,
    /// Whether it repeats another quantity, and cannot be set.
    pub is_copy: bool,
}

impl Quantity {
    /// Whether it is drawn and not computed.
    pub(super) fn is_noise(&self) -> bool {
        matches!(self.array.range, Range::Normal | Range::Uniform)
    }

    /// The first row and the number of rows of its array in an episode.
    pub(super) fn rows(&self, sizes: [usize; 2], question: usize) -> (usize, usize) {
        self.time
            .map_or((0, 1), |(_, part)| part.steps(sizes, question))
    }

    /// The sizes of its axes, without that of the steps.
    pub(super) fn sizes(&self, lengths: &[usize]) -> Vec<usize> {
        self.axes.iter().map(|axis| lengths[*axis]).collect()
    }

    /// Where it stands in an engine, with the axis of its steps first.
    pub(super) fn places(&self, layout: &Layout, block: Option<(Axis, bool, usize)>) -> Vec<usize> {
        let mut layout = layout.clone();
        for (axis, entry) in &self.entries {
            cut(&mut layout, *axis, entry.cast_signed());
        }
        if let Some((axis, backwards, length)) = block {
            cut(
                &mut layout,
                axis,
                if backwards { length.cast_signed() } else { -1 },
            );
        }
        let time = self.time.iter().map(|time| time.0);
        layout.places(&time.chain(self.axes.iter().copied()).collect::<Vec<_>>())
    }
}

/// Takes one entry of an axis, which may be the one before the first or behind the last.
fn cut(layout: &mut Layout, axis: Axis, entry: isize) {
    if let Some(at) = layout.dims.iter().position(|dim| dim.0 == axis) {
        layout.offset += entry * layout.dims.remove(at).2;
    }
}

/// Finds the arrays: noise, what is drawn, values before the first step, and values of statements.
pub(super) fn find(outline: &Outline, text: &str, flat: &Flat) -> Vec<Quantity> {
    let (page, program) = (&outline.page, &outline.program);
    let mut all = Vec::new();
    for (index, series) in program.series.iter().enumerate() {
        let range = match series.source {
            Source::Statement(..) => Range::Any,
            Source::Noise(noise) if page.noises[noise].is_normal => Range::Normal,
            Source::Noise(_) => Range::Uniform,
            _ => continue,
        };
        let axes = |without: Option<usize>| {
            let blocks = series.blocks.iter().copied();
            let blocks: Vec<usize> = blocks.filter(|block| Some(*block) != without).collect();
            let blocks: Vec<Axis> = block_axes(page, &blocks).collect();
            [&blocks, &series.axes[..]].concat()
        };
        let mut add = |end: &str, held: Held, range: Range, axes: &[Axis], line: &str| {
            let name = format!("{}{end}", series.trace);
            all.extend(of_heads(outline, (index, held), &name, range, axes, line));
        };
        let is_own = |work: usize| {
            let equation = program.equations.get(work);
            equation.is_some_and(|own| own.makes[0] == index)
        };
        for (draw, _) in flat
            .draws
            .iter()
            .enumerate()
            .filter(|(_, own)| is_own(own.1))
        {
            add(".noise", Held::Draw(draw), Range::Uniform, &axes(None), "");
        }
        let has_first = |block: &usize| {
            let mut firsts = program.firsts.iter();
            firsts.any(|first| (first.series, first.block) == (index, *block))
        };
        let blocks: Vec<usize> = series.blocks.iter().copied().filter(has_first).collect();
        for block in &blocks {
            let along = page.blocks[*block].axis.filter(|_| *block != blocks[0]);
            let along = along.map_or(String::new(), |axis| {
                format!(".{}", program.axes[axis].name)
            });
            let held = Held::First(index, *block);
            add(
                &format!(".initial{along}"),
                held,
                Range::Any,
                &axes(Some(*block)),
                "",
            );
        }
        let mut equations = program.equations.iter();
        let equation = equations.find(|own| own.makes.contains(&index));
        let value = equation.filter(|own| own.makes[0] == index);
        let range = value.map_or(range, |own| range_of(&own.value, &axes(None)));
        let line = equation.and_then(|own| {
            let place = &page.statements[own.statement].place;
            text.lines().nth(place.line as usize - 1)
        });
        let line = line.and_then(|line| line.split(['#', '"']).next());
        add(
            "",
            Held::Values(index),
            range,
            &axes(None),
            line.unwrap_or_default().trim(),
        );
    }
    all
}

/// Finds for each quantity the others that it is computed from.
pub(super) fn connect(outline: &Outline, flat: &Flat, all: &mut [Quantity]) {
    let needs: Vec<_> = (0..all.len())
        .map(|index| needs(outline, flat, all, index))
        .collect();
    for (quantity, (needs, follows)) in all.iter_mut().zip(needs) {
        (quantity.needs, quantity.follows) = (needs, follows);
    }
}

/// The array of each head of a series, or its only one.
fn of_heads(
    outline: &Outline,
    (series, held): (usize, Held),
    name: &str,
    range: Range,
    axes: &[Axis],
    line: &str,
) -> Vec<Quantity> {
    let program = &outline.program;
    let own = &program.series[series];
    // A table of all heads, made outside of their `for`, is a quantity of each as well.
    let is_kind = |axis: &&Axis| {
        let origin = program.axes[**axis].origin;
        let key = outline.page.key(&program.axes[origin].name);
        key.is_some_and(|key| key.word == Word::Heads)
    };
    let mut kinds = axes.iter().filter(is_kind);
    let only = kinds.next().filter(|_| kinds.next().is_none()).copied();
    let heads = own.kind.filter(|kind| axes.contains(kind)).or(only);
    let part_of = |axis: &Axis| {
        let origin = |axis: Axis| program.axes[axis].origin;
        let mut data = outline.data.iter();
        let own = data.find(|data| data.steps.map(origin) == Some(origin(*axis)));
        own.map(|data| (*axis, data.part))
    };
    let rest = || axes.iter().filter(|axis| Some(**axis) != heads);
    let is_answer = held == Held::Values(outline.answer.0) && outline.is_plain_answer();
    // An answer without steps of its own is the last step.
    let target = outline.target();
    let last = (target.steps.unwrap_or(Axis::MAX), target.part);
    let time = rest().find_map(part_of);
    // What heads and others make once, for an answer without steps of its own, belongs to its step.
    let is_once =
        block_axes(&outline.page, &own.blocks).next().is_none() && !own.name.contains('.');
    let is_last = target.part == Part::Last && is_once && matches!(held, Held::Values(_));
    let time = match time {
        _ if is_answer => Some(last),
        _ if is_last && (heads.is_some() || time.is_none()) => Some(last),
        time => time,
    };
    let inner = rest()
        .copied()
        .filter(|axis| time.is_none_or(|time| time.0 != *axis));
    let inner: Vec<Axis> = inner.collect();
    let name_of = |axis: &Axis| interned::text(&program.axes[*axis].name.replace('.', "_"));
    let mut dims: Vec<&'static str> = time.iter().map(|_| "t").collect();
    dims.extend(inner.iter().map(name_of));
    if dims.is_empty() {
        dims.push("one");
    }
    let is_noise = matches!(range, Range::Normal | Range::Uniform);
    let kept = match (time, is_noise) {
        (Some(_), true) => Kept::Steps,
        (Some(_), false) => Kept::WithMemory,
        (None, true) => Kept::Once,
        (None, false) => Kept::OnceWithMemory,
    };
    let of = |head: Option<usize>| {
        let head = heads.zip(head);
        let name = head.map_or(name.to_owned(), |(kind, head)| {
            format!("{}{head}.{name}", program.axes[kind].name)
        });
        let spec = ArraySpec::new(
            interned::text(&name),
            interned::texts(&dims),
            interned::text(&own.name),
            range,
            interned::text(line),
        );
        let own = interned::array(spec.kept(kept));
        Quantity {
            place: Place::Machine,
            array: if is_answer { array::LOGIT } else { own },
            held,
            entries: head.into_iter().collect(),
            time,
            axes: inner.clone(),
            needs: Vec::new(),
            follows: false,
            is_kept: false,
            is_copy: false,
        }
    };
    match heads {
        Some(kind) => {
            let count = outline.page.length(kind).unwrap_or(1);
            (0..count).map(|head| of(Some(head))).collect()
        }
        None => vec![of(None)],
    }
}

/// The quantities that one follows from, and whether it does so without a tensor.
fn needs(outline: &Outline, flat: &Flat, all: &[Quantity], index: usize) -> (Vec<usize>, bool) {
    let (program, Held::Values(series)) = (&outline.program, all[index].held) else {
        return (Vec::new(), false);
    };
    let (mut needs, mut follows, mut is_made) = (Vec::new(), true, false);
    let equations = program.equations.iter().enumerate();
    for (work, equation) in equations.filter(|(_, own)| own.makes.contains(&series)) {
        is_made = true;
        let is_drawn = |draw: usize| flat.draws[draw].1 == work;
        let mut reads = Vec::new();
        equation.value.each(&mut |value| match &value.op {
            Op::Read(read, _) | Op::Past(read, ..) => {
                follows &= !matches!(program.series[*read].source, Source::Parameter(_));
                reads.push(*read);
            }
            Op::Tensor(..) | Op::Linear(_) | Op::Cell(..) => follows = false,
            _ => {}
        });
        let is_needed = |(other, own): &(usize, &Quantity)| {
            *other != index
                && !own.is_copy
                && match own.held {
                    Held::Values(own) | Held::First(own, _) => reads.contains(&own),
                    Held::Draw(draw) => is_drawn(draw),
                }
        };
        let own = all.iter().enumerate().filter(is_needed);
        needs.extend(own.map(|(other, _)| other));
    }
    needs.sort_unstable();
    needs.dedup();
    (needs, follows && is_made)
}

/// The range of what a function makes.
fn range_of(value: &Value, axes: &[Axis]) -> Range {
    match &value.op {
        Op::Element(Function::Sigmoid) => Range::Within(0.0, 1.0),
        Op::Element(Function::Tanh) => Range::Within(-1.0, 1.0),
        Op::Element(Function::Softplus | Function::Exp | Function::Relu) => Range::AtLeast(0.0),
        Op::Over(Function::Softmax | Function::Sharpen, over) if axes.ends_with(over) => {
            Range::Within(0.0, 1.0)
        }
        _ => Range::Any,
    }
}
