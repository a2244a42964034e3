//! What the line of an array reads: each quantity with its words, and the entries that an entry of the result is made of.

use super::interned;
use super::parts::Outline;
use super::quantities::{Held, Quantity, equation_of, line_of};
use crate::equations::program::{Axis, Op, Value, When};
use crate::equations::text::Place as TextPlace;
use crate::equations::tree::{Function, Operator};
use crate::model::spec::{ArraySpec, Place, Read, Sum, Taken};

/// Says what the lines of the arrays of the machine read.
pub(super) fn add(outline: &Outline, text: &str, all: &mut [Quantity]) {
    for index in 0..all.len() {
        let (place, held) = (all[index].place, all[index].held);
        let (Place::Machine, Held::Values(series)) = (place, held) else {
            continue;
        };
        let own = &all[index];
        let Some(equation) = equation_of(&outline.program, series, &own.entries) else {
            continue;
        };
        let line = line_of(outline, text, equation);
        let raw = |at: &TextPlace| text.lines().nth(at.line as usize - 1);
        let at = &outline.page.statements[equation.statement].place;
        let first = raw(at).and_then(|raw| raw.find(line));
        // Arrays that other machines have, too, have equations of their own.
        let (Some(first), true) = (first, own.array.equation == line) else {
            continue;
        };
        let mut reads = Reads {
            outline,
            all,
            own,
            line,
            at,
            first,
            found: Vec::new(),
            sums: Vec::new(),
        };
        let axes = own.axes.iter().enumerate();
        let axes = axes.map(|(at, axis)| (*axis, Taken::Same(at)));
        let entries = own.entries.iter();
        let entries = entries.map(|(axis, entry)| (*axis, Taken::At(*entry)));
        let taken: Vec<_> = axes.chain(entries).collect();
        reads.walk(&equation.value, &taken, None, true);
        let only = match reads.sums[..] {
            [sum] => sum,
            _ => None,
        };
        let spec = ArraySpec {
            reads: interned::reads(&reads.found),
            sum: only,
            ..*own.array
        };
        all[index].array = interned::array(spec);
    }
}

/// The entries that are taken along axes; of all others several.
type Along = [(Axis, Taken)];

/// The words of a value in the line; whether they are its own, not those of a larger value around it.
type Words = Option<(usize, bool)>;

/// What a line reads, as far as it was walked through.
struct Reads<'a> {
    outline: &'a Outline,
    all: &'a [Quantity],
    own: &'a Quantity,
    line: &'a str,
    /// The place of its statement.
    at: &'a TextPlace,
    /// Where the line begins in that of the file.
    first: usize,
    found: Vec<Read>,
    /// A sum over one axis each, if its terms are known.
    sums: Vec<Option<Sum>>,
}

impl Reads<'_> {
    /// Adds what a value reads; `is_whole` outside of functions over axes.
    fn walk(&mut self, value: &Value, along: &Along, around: Words, is_whole: bool) {
        let words = self.words(&value.named).map(|at| (at, true)).or(around);
        let inside = words.map(|(at, is_own)| (at, is_own && value.is_view()));
        let without = |axes: &[Axis]| -> Vec<_> {
            let others = along.iter().filter(|(axis, _)| !axes.contains(axis));
            others.copied().collect()
        };
        let with = |axis: Axis, taken: Taken| [&[(axis, taken)], &without(&[axis])[..]].concat();
        let mut each = |is_whole: bool, along: &dyn Fn(usize) -> Vec<(Axis, Taken)>| {
            for (index, part) in value.parts.iter().enumerate() {
                self.walk(part, &along(index), inside, is_whole);
            }
        };
        match &value.op {
            Op::Read(series, steps) => self.read(*series, steps, along, words),
            Op::Past(series, ..) => {
                self.read(*series, &[], along, words.map(|(at, _)| (at, false)));
            }
            Op::Rename(old, new) => each(is_whole, &|_| with(*old, taken(along, *new))),
            Op::Entry(axis, entry) => {
                let entry = entry.map_or(Taken::Other, Taken::At);
                each(is_whole, &|_| with(*axis, entry));
            }
            Op::Pick(axis) => each(false, &|index| match index {
                0 => with(*axis, Taken::Other),
                _ => along.to_vec(),
            }),
            Op::Over(Function::Sum | Function::Dot, axes) if axes.len() == 1 => {
                let first = self.found.len();
                for part in &value.parts {
                    self.walk(part, &with(axes[0], Taken::Each), inside, false);
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
    fn read(&mut self, series: usize, steps: &[(Axis, When)], along: &Along, words: Words) {
        let is_of_head = |own: &&Quantity| {
            let mut entries = own.entries.iter();
            entries.all(|(axis, entry)| taken(along, *axis) == Taken::At(*entry))
        };
        let holds = |own: &&Quantity| own.place == Place::Machine && own.has(series);
        let all = || self.all.iter().filter(holds);
        let own = all().find(is_of_head);
        let Some(of) = own.or_else(|| all().next()) else {
            return;
        };
        // A statement may go on in the next line of its file.
        let (first, is_exact) = words.unwrap_or((self.line.len(), false));
        let program = &self.outline.program;
        let is_backwards = |axis: Axis| {
            let blocks = program.series[series].blocks.iter();
            let blocks = &mut blocks.map(|block| &self.outline.page.blocks[*block]);
            blocks.any(|block| block.backwards && block.axis == Some(axis))
        };
        let time = of.time.map(|time| time.0);
        let is_step_before = |(axis, when): &(Axis, When)| {
            matches!(when, When::Before(_)) && time == Some(*axis) && !is_backwards(*axis)
        };
        let is_now = |step: &(Axis, When)| matches!(step.1, When::Step(_));
        let has_time = of.time == self.own.time || steps.iter().any(|step| time == Some(step.0));
        let is_recorded = is_exact
            && own.is_some()
            && of.held == Held::Values(series)
            && of.pieces.is_empty()
            && of.columns.is_none()
            && (time.is_none() || has_time)
            && steps
                .iter()
                .all(|step| is_now(step) || is_step_before(step));
        let entries: Vec<_> = of.axes.iter().map(|axis| taken(along, *axis)).collect();
        self.found.push(Read {
            array: of.array.name,
            words: [first, end_of_words(self.line, first)],
            is_before: steps.iter().any(is_step_before),
            entries: is_recorded.then(|| interned::taken(&entries)),
        });
    }

    /// The sum of these products along an axis, of the reads from this one on; none where a factor is another value.
    fn sum(&self, products: &[Value], axis: Axis, first: usize) -> Option<Sum> {
        let factors = [first, self.found.len()];
        let reads = &self.found[first..];
        let count: Option<usize> = products.iter().map(factors_of).sum();
        let is_one = |own: &Taken| *own != Taken::Other;
        let are_known = reads.iter().all(|own| {
            own.entries
                .is_some_and(|entries| entries.iter().all(is_one))
        });
        (count == Some(reads.len()) && are_known).then(|| Sum {
            axis: interned::text(&self.outline.program.axes[axis].name.replace('.', "_")),
            factors,
        })
    }

    /// Where in the line a place of the file is.
    fn words(&self, place: &TextPlace) -> Option<usize> {
        let is_here = (&place.file, place.line) == (&self.at.file, self.at.line);
        let at = (place.column as usize).checked_sub(1 + self.first);
        at.filter(|at| is_here && *at < self.line.len())
    }
}

/// The entries that are taken along an axis.
fn taken(along: &Along, axis: Axis) -> Taken {
    let own = along.iter().find(|own| own.0 == axis);
    own.map_or(Taken::Other, |own| own.1)
}

/// The number of factors of a product of what is read; none of another value.
fn factors_of(value: &Value) -> Option<usize> {
    match value.op {
        Op::Binary(Operator::Multiply) => value.parts.iter().map(factors_of).sum(),
        _ => value.is_view().then_some(1),
    }
}

/// The end of a name in a line, with the brackets behind it.
fn end_of_words(line: &str, first: usize) -> usize {
    let is_of_name = |c: &char| c.is_ascii_alphanumeric() || "_.".contains(*c);
    let mut end = first + line[first..].chars().take_while(is_of_name).count();
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
