//! Heads of a machine file that read and write a memory which the machine changes: their arrays stand in the places of those of
//! the Neural Turing Machine.

use super::labels::{SHIFT_FORMS, array_of_head, attention, choice, chosen, head_of};
use super::parts::{Outline, Part};
use super::quantities::{Held, Quantity, equation_of};
use crate::equations::program::{Axis, Op, Value};
use crate::equations::tree::Operator;
use crate::model::array;
use crate::model::attention::{Mechanism, Score, ShiftForm};
use crate::model::config::Order;
use crate::model::dnc;
use crate::model::spec::Place;

/// A memory that heads read and write.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The axis of its rows.
    pub rows: Axis,
    /// The axis of the numbers of a row.
    pub columns: Axis,
    /// The axis of the rows that a focus can move by.
    pub offsets: Option<Axis>,
    /// Heads that read; the others write.
    pub read_heads: usize,
    /// The order of reads and writes.
    pub order: Order,
}

/// The memory and its heads by their names, before they have places.
struct Found<'a> {
    /// The value before the first step: its series and its block.
    first: (usize, usize),
    /// The weighting of each head, reading heads first.
    weightings: Vec<&'a Quantity>,
    read_heads: usize,
    /// Rows and columns.
    axes: [Axis; 2],
}

impl<'a> Found<'a> {
    fn of(outline: &Outline, all: &'a [Quantity]) -> Option<Self> {
        let named = |name: &str| all.iter().find(|own| own.array.name == name);
        let has_steps = |own: &&Quantity| own.time.is_some_and(|(_, part)| part == Part::Steps);
        let memory = named("memory").filter(has_steps)?;
        let Held::First(series, block) = named("memory.initial")?.held else {
            return None;
        };
        let heads = |kind: &'static str| {
            (0..).map_while(move |head| named(&format!("{kind}{head}.weighting")))
        };
        let weightings: Vec<&Quantity> = heads("read").chain(heads("write")).collect();
        let &[rows] = &weightings.first()?.axes[..] else {
            return None;
        };
        let &[first, last] = &memory.axes[..] else {
            return None;
        };
        let columns = if first == rows { last } else { first };
        let is_over_rows = |own: &&Quantity| own.axes == [rows] && has_steps(own);
        let is_own = |axis: &Axis| outline.program.axes[*axis].origin == *axis;
        let are_axes = [first, last].contains(&rows) && [rows, columns].iter().all(is_own);
        (are_axes && weightings.iter().all(is_over_rows)).then(|| Self {
            first: (series, block),
            read_heads: heads("read").count(),
            weightings,
            axes: [rows, columns],
        })
    }
}

impl Written {
    /// Finds the memory and its heads, gives their arrays their places, and says the mechanism of each head; none where there
    /// is no such memory.
    pub(super) fn place(
        outline: &Outline,
        all: &mut Vec<Quantity>,
    ) -> Option<(Self, Vec<Mechanism>)> {
        let found = Found::of(outline, all)?;
        let [rows, columns] = found.axes;
        let mut placed = Vec::new();
        for own in &*all {
            let name = own.array.name;
            let read = head_of(name, "read");
            let write = head_of(name, "write").map(|(head, end)| (found.read_heads + head, end));
            match (read.or(write), name) {
                (_, "memory") => placed.push(Quantity {
                    array: array::MEMORY,
                    held: Held::WithFirst(found.first.0, found.first.1),
                    axes: vec![columns, rows],
                    ..own.clone()
                }),
                (_, "memory.initial") => {}
                (Some((head, end)), _) if !own.array.is_penalty() => {
                    match found.weightings.get(head) {
                        Some(weighting) if !is_left_out(outline, own, weighting) => {
                            placed.push(of_head(own, head, end));
                        }
                        Some(_) => {}
                        None => placed.push(own.clone()),
                    }
                }
                _ => placed.push(own.clone()),
            }
        }
        let heads = found.weightings.iter().map(|own| mechanism(outline, own));
        let heads = heads.collect();
        let shift = placed.iter().find(|own| own.array == array::SHIFT);
        let written = Self {
            rows,
            columns,
            offsets: shift.map(|own| own.axes[0]),
            read_heads: found.read_heads,
            order: chosen(outline, "order", None).unwrap_or(Order::ReadFirst),
        };
        *all = placed;
        Some((written, heads))
    }
}

/// The quantity in its place in a head.
fn of_head(own: &Quantity, head: usize, end: &str) -> Quantity {
    // Noise has the names of all uses.
    let end = if own.is_noise() && own.time.is_some() {
        end.rsplit('.').next().unwrap_or(end)
    } else {
        end
    };
    let array = match end {
        "weighting.initial" => Some(array::INITIAL),
        "content.weighting" => array_of_head(own, array::CONTENT.name),
        "usage.initial" => Some(dnc::INITIAL_USAGE),
        "sharpened" => array_of_head(own, array::DISTRIBUTION.name),
        _ => array_of_head(own, end),
    };
    array.map_or_else(
        || own.clone(),
        |array| Quantity {
            place: Place::Head(head),
            array,
            ..own.clone()
        },
    )
}

/// Whether its head does not make it, another array of the head has the same values, or all of them are one number.
fn is_left_out(outline: &Outline, own: &Quantity, weighting: &Quantity) -> bool {
    let is_weighting = own.array == weighting.array;
    let is_last = || {
        let last = value(outline, weighting).map(|value| &value.op);
        let is_it = |series: &usize| own.held == Held::Values(*series);
        let mut contents = [".content", ".content.weighting"].into_iter();
        let stays = contents.any(|end| own.array.name.ends_with(end));
        !stays && matches!(last, Some(Op::Read(series, _)) if is_it(series))
    };
    let is_value = matches!(own.held, Held::Values(_)) && !own.is_noise();
    let is_made = !is_value || value(outline, own).is_some();
    let is_repeated = || value(outline, own).is_some_and(is_repeated);
    !is_made || !is_weighting && (is_last() || is_repeated())
}

/// The value of a quantity in its head.
fn value<'a>(outline: &'a Outline, own: &Quantity) -> Option<&'a Value> {
    let Held::Values(series) = own.held else {
        return None;
    };
    equation_of(&outline.program, series, &own.entries).map(|one| &one.value)
}

/// Whether a value is another quantity as it is, or one number.
fn is_repeated(value: &Value) -> bool {
    match value.op {
        Op::Read(..) | Op::Number(_) => true,
        // The entry of a head in a table of all heads.
        Op::Entry(..) => value.parts.iter().all(is_repeated),
        Op::Binary(Operator::Multiply) => {
            let is_nothing = |part: &Value| matches!(part.op, Op::Number(0.0));
            value.parts.iter().any(is_nothing)
        }
        _ => false,
    }
}

/// The mechanism of a head, by the switches of the file.
fn mechanism(outline: &Outline, weighting: &Quantity) -> Mechanism {
    let head = weighting.entries.first().copied();
    let score = chosen(outline, "score", head).unwrap_or(Score::Cosine);
    let attention = attention(outline, score, head);
    let shift = choice(outline, "shift", head);
    let form = SHIFT_FORMS.iter().find(|form| Some(form.0) == shift);
    Mechanism {
        shift_form: form.map_or(ShiftForm::None, |form| form.1),
        ..attention.of(0)
    }
}
