//! The quantities that the line of an array reads, each with its words and with the entries that an entry of the result is
//! made of.

use super::interned;
use super::parts::{Outline, Part};
use super::quantities::{Held, Quantity, Same, equation_of, line_of};
use crate::equations::program::{Axis, Op, Value, When};
use crate::equations::text::Place as TextPlace;
use crate::equations::tree::{Function, Operator};
use crate::model::spec::{ArraySpec, Place, ReadSpec, SumSpec, TakenEntry};

/// Adds to the arrays of the machine what their lines read.
pub(super) fn add(outline: &Outline, text: &str, all: &mut [Quantity]) {
    for index in 0..all.len() {
        if let Some(reads) = LineReads::new(outline, text, all, &all[index]) {
            all[index].array = interned::array(ArraySpec {
                reads: interned::reads(&reads.found),
                sum: match reads.sums[..] {
                    [only] => only,
                    _ => None,
                },
                ..*all[index].array
            });
        }
    }
}

/// The entry taken of each of these axes; of other axes several are taken.
type Along = [(Axis, TakenEntry)];

/// Where a value is named in the line.
#[derive(Clone, Copy)]
struct Named {
    start: usize,
    /// Whether it is this value alone, and not a larger one around it.
    is_exact: bool,
}

/// The reads of a line, as far as it was walked through.
struct LineReads<'a> {
    outline: &'a Outline,
    all: &'a [Quantity],
    /// The quantity that the line makes.
    made: &'a Quantity,
    line: &'a str,
    /// The place of its statement.
    statement: &'a TextPlace,
    /// Where the line begins in that of the file.
    line_start: usize,
    found: Vec<ReadSpec>,
    /// The sums over one axis, each if its terms are known.
    sums: Vec<Option<SumSpec>>,
}

impl<'a> LineReads<'a> {
    /// Walks through the equation of a quantity; none for an array that other machines have, too, with an equation of its own.
    fn new(
        outline: &'a Outline,
        text: &'a str,
        all: &'a [Quantity],
        made: &'a Quantity,
    ) -> Option<Self> {
        let (Place::Machine, Held::Values(series), Same::No) = (made.place, made.held, made.same)
        else {
            return None;
        };
        let equation = equation_of(&outline.program, series, &made.entries)?;
        let line = line_of(outline, text, equation);
        let statement = &outline.page.statements[equation.statement].place;
        let whole = text.lines().nth(statement.line as usize - 1)?;
        let line_start = whole.find(line).filter(|_| made.array.equation == line)?;
        let mut reads = Self {
            outline,
            all,
            made,
            line,
            statement,
            line_start,
            found: Vec::new(),
            sums: Vec::new(),
        };
        let axes = made.axes.iter().enumerate();
        let axes = axes.map(|(index, axis)| (*axis, TakenEntry::Same(index)));
        let entries = made.entries.iter();
        let entries = entries.map(|(axis, entry)| (*axis, TakenEntry::At(*entry)));
        let step = made.time.map(|(axis, _)| (axis, TakenEntry::Step));
        let along: Vec<_> = axes.chain(entries).chain(step).collect();
        reads.walk(&equation.value, &along, None, true);
        Some(reads)
    }

    /// Adds what a value reads; `is_whole` outside of functions over axes.
    fn walk(&mut self, value: &Value, along: &Along, around: Option<Named>, is_whole: bool) {
        let named = self.named(&value.named).or(around);
        let inside = named.map(|named| Named {
            is_exact: named.is_exact && value.is_view(),
            ..named
        });
        let without = |axes: &[Axis]| -> Vec<_> {
            let others = along.iter().filter(|(axis, _)| !axes.contains(axis));
            others.copied().collect()
        };
        let with =
            |axis: Axis, entry: TakenEntry| [&[(axis, entry)], &without(&[axis])[..]].concat();
        let mut each = |is_whole: bool, along: &dyn Fn(usize) -> Vec<(Axis, TakenEntry)>| {
            for (index, part) in value.parts.iter().enumerate() {
                self.walk(part, &along(index), inside, is_whole);
            }
        };
        match &value.op {
            Op::Read(series, steps) => self.read(*series, steps, along, named),
            Op::Past(series, ..) => self.read(*series, &[], &[], named),
            Op::Rename(old, new) => each(is_whole, &|_| with(*old, entry_of(along, *new))),
            Op::Entry(axis, entry) => {
                let entry = entry.map_or(TakenEntry::Other, TakenEntry::At);
                each(is_whole, &|_| with(*axis, entry));
            }
            Op::Pick(axis) => each(false, &|index| match index {
                0 => with(*axis, TakenEntry::Other),
                _ => along.to_vec(),
            }),
            Op::Over(Function::Sum | Function::Dot, axes) if axes.len() == 1 => {
                let first = self.found.len();
                for part in &value.parts {
                    self.walk(part, &with(axes[0], TakenEntry::Each), inside, false);
                }
                let sum = is_whole.then(|| self.sum(&value.parts, axes[0], first));
                self.sums.push(sum.flatten());
            }
            Op::Over(_, axes) => each(false, &|_| without(axes)),
            Op::Linear(learned) => each(false, &|index| without(&learned.inputs[index])),
            Op::Join(_, lists) => each(false, &|index| without(&lists[index])),
            Op::Append(axis, _) | Op::Window(axis, _) => each(false, &|_| without(&[*axis])),
            Op::Cell(..) => each(false, &|_| Vec::new()),
            _ => each(is_whole, &|_| along.to_vec()),
        }
    }

    /// Adds a series that is read in these steps.
    fn read(&mut self, series: usize, steps: &[(Axis, When)], along: &Along, named: Option<Named>) {
        let is_of_head = |quantity: &&Quantity| {
            let mut entries = quantity.entries.iter();
            entries.all(|(axis, entry)| entry_of(along, *axis) == TakenEntry::At(*entry))
        };
        let holds = |quantity: &&Quantity| quantity.place == Place::Machine && quantity.has(series);
        let all = || self.all.iter().filter(holds);
        let of_head = all().find(is_of_head);
        let Some(read) = of_head.or_else(|| all().next()) else {
            return;
        };
        // A statement may go on in the next line of its file.
        let Named { start, is_exact } = named.unwrap_or(Named {
            start: self.line.len(),
            is_exact: false,
        });
        let program = &self.outline.program;
        let is_backwards = |axis: Axis| {
            let blocks = program.series[series].blocks.iter();
            let blocks = &mut blocks.map(|block| &self.outline.page.blocks[*block]);
            blocks.any(|block| block.backwards && block.axis == Some(axis))
        };
        let time = read.time.map(|time| time.0);
        let is_step_before = |(axis, when): &(Axis, When)| {
            matches!(when, When::Before(_)) && time == Some(*axis) && !is_backwards(*axis)
        };
        let is_known =
            |step: &(Axis, When)| matches!(step.1, When::Step(_)) || is_step_before(step);
        let is_before = steps.iter().any(is_step_before);
        // The first question step is not known to figures.
        let has_start = !matches!(read.time, Some((_, Part::Question)));
        let end = end_of_words(self.line, start);
        let is_at_step = time.is_none_or(|time| {
            let is_cut = steps.iter().any(|step| step.0 == time);
            read.time == self.made.time && (is_cut || entry_of(along, time) == TakenEntry::Step)
        });
        let is_recorded = is_exact
            && of_head.is_some()
            && read.held == Held::Values(series)
            && read.pieces.is_empty()
            && read.columns.is_none()
            && is_at_step
            && steps.iter().all(is_known)
            && (has_start || !is_before)
            // Its brackets may go on in the next line.
            && !self.line[end..].starts_with('[');
        let entries = read.axes.iter().map(|axis| entry_of(along, *axis));
        self.found.push(ReadSpec {
            array: read.array.name,
            bytes: [start, end],
            is_before,
            entries: is_recorded.then(|| interned::entries(&entries.collect::<Vec<_>>())),
        });
    }

    /// The sum of these products along an axis, of the reads from this one on; none where a factor is another value.
    fn sum(&self, products: &[Value], axis: Axis, first: usize) -> Option<SumSpec> {
        let reads = &self.found[first..];
        let count: Option<usize> = products.iter().map(factors_of).sum();
        let are_known = reads.iter().all(|read| read.entries.is_some());
        (count == Some(reads.len()) && are_known).then(|| SumSpec {
            axis: interned::text(&self.outline.program.axes[axis].name.replace('.', "_")),
            factors: [first, self.found.len()],
        })
    }

    /// Where in the line a place of the file is.
    fn named(&self, place: &TextPlace) -> Option<Named> {
        let is_here = (&place.file, place.line) == (&self.statement.file, self.statement.line);
        let start = (place.column as usize).checked_sub(1 + self.line_start)?;
        (is_here && start < self.line.len()).then_some(Named {
            start,
            is_exact: true,
        })
    }
}

/// The entry that is taken of an axis.
fn entry_of(along: &Along, axis: Axis) -> TakenEntry {
    let own = along.iter().find(|own| own.0 == axis);
    own.map_or(TakenEntry::Other, |own| own.1)
}

/// The number of factors of a product of what is read; none of another value.
fn factors_of(value: &Value) -> Option<usize> {
    match value.op {
        Op::Binary(Operator::Multiply) => value.parts.iter().map(factors_of).sum(),
        _ => value.is_view().then_some(1),
    }
}

/// The end of a name in a line, with the brackets behind it.
fn end_of_words(line: &str, start: usize) -> usize {
    let is_of_name = |c: &char| c.is_ascii_alphanumeric() || "_.".contains(*c);
    let mut end = start + line[start..].chars().take_while(is_of_name).count();
    while line[end..].starts_with('[') {
        let mut open = 0;
        let close = line[end..].find(|c| {
            open += i32::from(c == '[') - i32::from(c == ']');
            open == 0
        });
        let Some(close) = close else {
            break;
        };
        end += close + 1;
    }
    end
}
