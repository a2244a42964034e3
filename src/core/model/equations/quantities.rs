//! The arrays that an episode of a machine file records, and what follows from what.

use super::interned;
use super::parts::{Outline, Part, block_axes};
use crate::equations::bind::{Layout, count};
use crate::equations::flatten::{Base, Cut, Flat};
use crate::equations::op::exec::Act;
use crate::equations::page::Word;
use crate::equations::program::{Axis, Equation, Op, Program, Source, Value};
use crate::equations::tree::Function;
use crate::model::array;
use crate::model::spec::{Array, ArraySpec, Place, Range, Retention};

/// What an array holds of the numbers of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The values of a series.
    Values(usize),
    /// The value before the first step of a series along this block.
    First(usize, usize),
    /// The values of a series, behind the value before the first step along this block.
    WithFirst(usize, usize),
    /// What is drawn in a statement, by the place of its scratch array among all draws.
    Draw(usize),
    /// The activated gates of the cell that a statement computes.
    Gates(usize),
}

impl Held {
    /// The series whose values it is.
    pub(super) fn series(self) -> Option<usize> {
        match self {
            Self::Values(series) | Self::WithFirst(series, _) => Some(series),
            _ => None,
        }
    }
}

/// Whether another quantity is the same array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    No,
    /// It repeats another one, and cannot be set.
    Here,
    /// Another one has its values in the other part of the episode.
    InOtherPart,
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
    /// Whether another quantity is the same array.
    pub same: Same,
    /// The part of the episode that its last axis counts, of an array with a column for each step.
    pub columns: Option<Part>,
    /// What several series give to it, each in its part of the episode; empty for what one series holds.
    pub pieces: Vec<Piece>,
}

impl Quantity {
    /// Whether it repeats another quantity, and cannot be set.
    pub(super) fn is_copy(&self) -> bool {
        self.same == Same::Here
    }

    /// Whether another quantity is the same array in the other part of the episode.
    pub(super) fn is_shared(&self) -> bool {
        self.same == Same::InOtherPart
    }

    /// Whether it is drawn and not computed.
    pub(super) fn is_noise(&self) -> bool {
        matches!(self.array.range, Range::Normal | Range::Uniform)
    }

    /// The first row and the number of rows of its array in an episode.
    pub(super) fn rows(&self, sizes: [usize; 2], question: usize) -> (usize, usize) {
        let more = usize::from(self.has_first());
        self.time.map_or((0, 1), |(_, part)| {
            let (first, count) = part.steps(sizes, question);
            (first, count + more)
        })
    }

    /// Whether its first row is the value before the first step.
    pub(super) fn has_first(&self) -> bool {
        matches!(self.held, Held::WithFirst(..))
    }

    /// Whether some of its steps are those of the answer.
    pub(super) fn is_of_answer(&self) -> bool {
        let of_pieces = self.pieces.iter().map(|piece| piece.part);
        let mut parts = of_pieces.chain(self.time.map(|time| time.1));
        parts.any(|part| part == Part::Answer)
    }

    /// Whether its steps are those before the answer.
    pub(super) fn is_of_source(&self) -> bool {
        self.time.is_some_and(|(_, part)| part == Part::Source)
    }

    /// The values of a step, in an episode with these steps and source steps.
    pub(super) fn width(&self, lengths: &[usize], sizes: [usize; 2]) -> usize {
        let own = || self.sizes(lengths, sizes[1]).into_iter();
        let all = || own().fold(1, usize::saturating_mul);
        self.columns.map_or_else(all, |_| sizes[0])
    }

    /// Its places with a column for each step of the episode; [`NO_PLACE`] for those that its last axis does not count.
    pub(super) fn in_columns(
        &self,
        places: Vec<usize>,
        sizes: [usize; 2],
        question: usize,
    ) -> Vec<usize> {
        let (Some(part), (_, count)) = (self.columns, self.rows(sizes, question)) else {
            return places;
        };
        let (first, seen) = part.steps(sizes, question);
        let width = places.len().checked_div(count).unwrap_or(0);
        let row = |row: &[usize]| {
            let mut columns = vec![NO_PLACE; sizes[0]];
            let seen = columns.iter_mut().skip(first).take(seen);
            seen.zip(row).for_each(|(to, place)| *to = *place);
            columns
        };
        places.chunks(width.max(1)).flat_map(row).collect()
    }

    /// Whether each step has a value for each memory row of a document and a question.
    fn is_map(&self) -> bool {
        self.pieces.iter().any(|piece| piece.rows.is_some())
    }

    /// Whether each number of a table stands in the steps of a document and again in those of a question.
    pub(super) fn shows_twice(&self) -> bool {
        let mut pieces = self.pieces.iter().enumerate();
        pieces.any(|(at, piece)| {
            self.pieces[..at]
                .iter()
                .any(|own| own.series == piece.series)
        })
    }

    /// The sizes of its axes, without that of the steps, in an episode with this number of source steps.
    pub(super) fn sizes(&self, lengths: &[usize], source: usize) -> Vec<usize> {
        if self.is_map() {
            return vec![source];
        }
        self.axes.iter().map(|axis| lengths[*axis]).collect()
    }

    /// Whether it has values of a series.
    pub(super) fn has(&self, series: usize) -> bool {
        self.series().any(|own| own == series)
    }

    /// The series whose values it has.
    pub(super) fn series(&self) -> impl Iterator<Item = usize> {
        let pieces = self.pieces.iter().map(|piece| piece.series);
        let own = self.held.series().filter(|_| self.pieces.is_empty());
        pieces.chain(own)
    }

    /// Where it stands in an engine, with the axis of its steps first.
    pub(super) fn places(&self, layout: &Layout, block: Option<(Axis, bool, usize)>) -> Vec<usize> {
        let mut layout = layout.clone();
        for (axis, entry) in &self.entries {
            cut(&mut layout, *axis, entry.cast_signed());
        }
        if let (true, Some((axis, ..))) = (self.has_first(), block) {
            for (_, length, stride) in layout.dims.iter_mut().filter(|dim| dim.0 == axis) {
                *length += 1;
                layout.offset -= *stride;
            }
        } else if let Some((axis, backwards, length)) = block {
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

/// The place of a number that no series has: it is 0, and nothing sets it.
pub(super) const NO_PLACE: usize = usize::MAX / 2;

/// What a series gives to an array.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub series: usize,
    /// The part of the episode that its steps are, and their axes.
    pub part: Part,
    pub steps: Vec<Axis>,
    pub columns: Vec<Axis>,
    /// The part whose steps its columns are, if they are steps.
    pub rows: Option<Part>,
}

impl Piece {
    /// Whether it has a value in a step, in an episode with this many source steps.
    pub(super) fn has_step(&self, t: usize, source: usize, question: usize) -> bool {
        let (first, count) = self.part.steps([usize::MAX, source], question);
        // The step behind a document or a question may be one of its own.
        (first..=first.saturating_add(count)).contains(&t)
    }

    /// Puts the places of its values in, in an array of all steps with this many columns.
    pub(super) fn put(
        &self,
        mut layout: Layout,
        lengths: &[usize],
        (sizes, question): ([usize; 2], usize),
        (all, width): (&mut [usize], usize),
    ) {
        // Along an axis that it does not have, its values repeat.
        for axis in &self.steps {
            if layout.dims.iter().all(|dim| dim.0 != *axis) {
                layout.dims.push((*axis, lengths[*axis], 0));
            }
        }
        let columns = count(lengths, &self.columns).max(1);
        let places = layout.places(&[&self.steps[..], &self.columns].concat());
        let steps = places.len() / columns;
        let first = self.rows.map_or(0, |part| part.steps(sizes, question).0);
        for (step, places) in places.chunks(columns).enumerate() {
            let t = match self.part {
                Part::Answer => (sizes[0] + step).checked_sub(steps),
                part => Some(part.steps(sizes, question).0 + step),
            };
            let t = t.filter(|t| self.part != Part::Answer || *t >= sizes[1]);
            let row = t.and_then(|t| all.get_mut(t * width..(t + 1) * width));
            let row = row.unwrap_or_default().iter_mut().skip(first);
            row.zip(places).for_each(|(to, place)| *to = *place);
        }
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
    let mut ranges = vec![Range::Any; program.series.len()];
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
            let mut own = series.axes.clone();
            if let Source::Noise(noise) = series.source {
                // The axis of its steps is the one that the file names first.
                let named = page.noises[noise].axes.iter().flatten().flatten();
                let named: Vec<Axis> = named.copied().collect();
                own.sort_by_key(|axis| named.iter().position(|named| named == axis));
            }
            [&blocks, &own[..]].concat()
        };
        let mut add = |end: &str, held: Held, range: Range, axes: &[Axis]| {
            let name = format!("{}{end}", series.trace);
            all.extend(of_heads(outline, text, (index, held), &name, range, axes));
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
            add(".noise", Held::Draw(draw), Range::Uniform, &axes(None));
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
            let name = format!(".initial{along}");
            add(&name, held, Range::Any, &axes(Some(*block)));
        }
        let mut equations = program.equations.iter();
        let value = equations.find(|own| own.makes[0] == index);
        let range = value.map_or(range, |own| range_of(&own.value, &axes(None), &ranges));
        // Values before the first step may be any.
        if blocks.is_empty() {
            ranges[index] = range;
        }
        add("", Held::Values(index), range, &axes(None));
    }
    all
}

/// The equation that makes a series, for the head among these entries.
pub(super) fn equation_of<'a>(
    program: &'a Program,
    series: usize,
    entries: &[(Axis, usize)],
) -> Option<&'a Equation> {
    let is_own = |head: (Axis, usize)| entries.contains(&head);
    let makes = |one: &&Equation| one.makes.contains(&series) && one.head.is_none_or(is_own);
    program.equations.iter().find(makes)
}

/// The line of an equation, without choices and sentences.
pub(super) fn line_of<'a>(outline: &Outline, text: &'a str, equation: &Equation) -> &'a str {
    let place = &outline.page.statements[equation.statement].place;
    let line = text.lines().nth(place.line as usize - 1);
    let line = line.and_then(|line| line.split(['#', '"']).next());
    without_condition(line.unwrap_or_default()).trim()
}

/// A line without the choices under which it holds: `if order is read_first or write_first`.
fn without_condition(line: &str) -> &str {
    let after = |rest: &'_ str| {
        let after = rest.trim_start().split_once(' ');
        after.map_or(rest.len(), |(_, after)| rest.len() - after.len())
    };
    let Some(mut rest) = line.trim_start().strip_prefix("if ") else {
        return line;
    };
    // The switch, `is`, and its first word.
    for _ in 0..3 {
        rest = &rest[after(rest)..];
    }
    while rest.trim_start().starts_with("or ") {
        for _ in 0..2 {
            rest = &rest[after(rest)..];
        }
    }
    rest.trim_start()
}

/// Adds the gates of the layers of a controller, which are in no file.
pub(super) fn add_gates(outline: &Outline, flat: &Flat, all: &mut Vec<Quantity>) {
    let gates = |own: &Quantity| {
        let series = own.held.series().filter(|_| own.array == array::HIDDEN)?;
        let mut equations = outline.program.equations.iter();
        let equation = equations.position(|own| own.makes.contains(&series))?;
        let (_, axis) = gates_of(flat, equation)?;
        Some(Quantity {
            array: array::GATES,
            held: Held::Gates(equation),
            axes: [&[axis], &own.axes[..]].concat(),
            ..own.clone()
        })
    };
    let found: Vec<Quantity> = all.iter().filter_map(gates).collect();
    all.extend(found);
}

/// The scratch array of the gates of an LSTM that a statement computes, and the axis of the four.
pub(super) fn gates_of(flat: &Flat, equation: usize) -> Option<(usize, Axis)> {
    let mut operations = flat.equations[equation].iter();
    let cell = operations.find(|own| matches!(own.act, Act::Lstm))?;
    match (cell.arguments[0].base, cell.arguments[0].cuts.last()?) {
        (Base::Result(gates), Cut::Entry(axis, _)) => Some((gates, *axis)),
        _ => None,
    }
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

/// Whether an axis counts heads.
fn is_kind(outline: &Outline, axis: Axis) -> bool {
    let axes = &outline.program.axes;
    let key = outline.page.key(&axes[axes[axis].origin].name);
    key.is_some_and(|key| key.word == Word::Heads)
}

/// The array of each head of a series, or its only one.
fn of_heads(
    outline: &Outline,
    text: &str,
    (series, held): (usize, Held),
    name: &str,
    range: Range,
    axes: &[Axis],
) -> Vec<Quantity> {
    let program = &outline.program;
    let own = &program.series[series];
    // A table of all heads, made outside of their `for`, is a quantity of each as well.
    let mut kinds = axes.iter().filter(|axis| is_kind(outline, **axis));
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
    let last = inner.last().map(|axis| &program.axes[*axis].name);
    let key = last.and_then(|name| outline.page.key(name));
    let names = key.filter(|key| key.word == Word::Entries);
    let names = names.map_or(&[][..], |key| &key.choices);
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let entry_names = interned::names(&names);
    let is_noise = matches!(range, Range::Normal | Range::Uniform);
    let retention = match (time, is_noise) {
        (Some(_), true) => Retention::Steps,
        (Some(_), false) => Retention::WithMemory,
        (None, true) => Retention::Once,
        (None, false) => Retention::OnceWithMemory,
    };
    let of = |head: Option<usize>| {
        let head = heads.zip(head);
        let name = head.map_or(name.to_owned(), |(kind, head)| {
            format!("{}{head}.{name}", program.axes[kind].name)
        });
        let entries: Vec<_> = head.into_iter().collect();
        let equation = matches!(held, Held::Values(_))
            .then(|| equation_of(program, series, &entries))
            .flatten();
        let line = equation.map_or("", |own| line_of(outline, text, own));
        let spec = ArraySpec::new(
            interned::text(&name),
            interned::texts(&dims),
            interned::text(&own.name),
            range,
            interned::text(line),
        );
        let spec = ArraySpec {
            is_of_answer: time.is_some_and(|(_, part)| part == Part::Answer),
            entry_names,
            ..spec.retention(retention)
        };
        Quantity {
            place: Place::Machine,
            array: if is_answer {
                array::LOGIT
            } else {
                interned::array(spec)
            },
            held,
            entries,
            time,
            axes: inner.clone(),
            needs: Vec::new(),
            follows: false,
            is_kept: false,
            same: Same::No,
            columns: None,
            pieces: Vec::new(),
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
    let (program, own) = (&outline.program, &all[index]);
    let mut sources = Sources::default();
    let equations = program.equations.iter().enumerate();
    for (work, equation) in equations.filter(|(_, one)| one.makes.iter().any(|made| own.has(*made)))
    {
        if equation.head.is_none_or(|head| own.entries.contains(&head)) {
            sources.add(program, work);
        }
    }
    let is_made = !sources.equations.is_empty();
    let mut next = 0;
    while let Some(read) = sources.reads.get(next).copied() {
        next += 1;
        let equations = program.equations.iter().enumerate();
        let made = equations.filter(|(_, one)| one.makes.contains(&read));
        if !all.iter().any(|own| own.has(read)) {
            made.for_each(|(work, _)| sources.add(program, work));
        }
    }
    let is_of_head = |other: &Quantity| {
        let differs = |(kind, head): &(Axis, usize)| {
            let same = other.entries.iter().find(|own| own.0 == *kind);
            let is_joined = !is_kind(outline, *kind) || sources.joined.contains(kind);
            !is_joined && same.is_some_and(|own| own.1 != *head)
        };
        !own.entries.iter().any(differs)
    };
    let is_needed = |(other, own): &(usize, &Quantity)| {
        *other != index
            && !own.is_copy()
            && is_of_head(own)
            && match own.held {
                Held::Values(_) | Held::WithFirst(..) => {
                    own.series().any(|own| sources.reads.contains(&own))
                }
                Held::First(own, _) => sources.reads.contains(&own),
                Held::Draw(draw) => sources.equations.contains(&flat.draws[draw].1),
                Held::Gates(_) => false,
            }
    };
    let needs = all.iter().enumerate().filter(is_needed);
    let needs = needs.map(|(other, _)| other).collect();
    (needs, is_made && !sources.has_tensors)
}

/// What equations read.
#[derive(Default)]
struct Sources {
    equations: Vec<usize>,
    /// Series.
    reads: Vec<usize>,
    /// Whether a learned tensor is among it.
    has_tensors: bool,
    /// Axes along which entries are joined, or have another name.
    joined: Vec<Axis>,
}

impl Sources {
    fn add(&mut self, program: &Program, equation: usize) {
        self.equations.push(equation);
        let Equation { value, head, .. } = &program.equations[equation];
        let is_own =
            |axis, entry: Option<usize>| entry.is_some_and(|entry| *head == Some((axis, entry)));
        value.each(&mut |value| match &value.op {
            Op::Read(read, _) | Op::Past(read, ..) => {
                let source = program.series[*read].source;
                self.has_tensors |= matches!(source, Source::Parameter(_));
                if !self.reads.contains(read) {
                    self.reads.push(*read);
                }
            }
            Op::Tensor(..) | Op::Linear(_) | Op::Cell(..) => self.has_tensors = true,
            Op::Over(_, axes) => self.joined.extend(axes),
            Op::Entry(axis, entry) if is_own(*axis, *entry) => {}
            Op::Rename(axis, _) | Op::Pick(axis) | Op::Entry(axis, _) => self.joined.push(*axis),
            _ => {}
        });
    }
}

/// The range of what a function makes of series with these ranges.
fn range_of(value: &Value, axes: &[Axis], ranges: &[Range]) -> Range {
    match &value.op {
        Op::Read(series, _) => ranges[*series],
        Op::Over(Function::Mean | Function::Maximum, _) => range_of(&value.parts[0], axes, ranges),
        Op::Element(Function::Sigmoid) => Range::Within(0.0, 1.0),
        Op::Element(Function::Tanh) => Range::Within(-1.0, 1.0),
        Op::Element(Function::Softplus | Function::Exp | Function::Relu) => Range::AtLeast(0.0),
        Op::Over(Function::Softmax | Function::Sharpen, over) if axes.ends_with(over) => {
            Range::Within(0.0, 1.0)
        }
        _ => Range::Any,
    }
}
