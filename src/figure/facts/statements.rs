//! The statements of a machine file in a step: what each makes, and of which quantities.

use std::ops::Range;

use crate::figure::facts::in_step::{added_as, n};
use crate::figure::facts::numbers;
use crate::figure::facts::quantities::{axes_of, of_steps, start_of};
use crate::math::Series;
use crate::model::{Array, Place, Trace, split_head};

/// A statement of a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name of what it makes, without that of a head.
    pub name: &'static str,
    /// The kind of the heads of which each makes an array of its own; empty where there are none.
    pub head: &'static str,
    /// Its line of the file.
    pub equation: &'static str,
    /// What it makes: an array of each head, or its only ones, by their places among the arrays of the machine.
    pub parts: Vec<usize>,
    /// What it reads, in the order of the line.
    pub reads: Vec<Read>,
    /// How many other statements of the step come before it at least.
    pub layer: usize,
}

/// A quantity that a statement reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The place of its words in the line.
    pub words: Range<usize>,
    /// The statement that makes it.
    pub statement: usize,
    /// True for its values of the step before.
    pub is_before: bool,
    /// True where it stands for the entry of the result, not for another one of its axes.
    is_at_entry: bool,
    /// Axes of the functions around it: it takes all of their entries.
    around: Vec<String>,
}

/// An entry of what a statement makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The array, by its place among those that the statement makes.
    pub part: usize,
    /// The place of the value in it.
    pub index: usize,
    /// Its values in the step before and in this one.
    pub values: [f32; 2],
}

impl Statement {
    /// The entry that changes most in a step.
    pub fn most_changed(&self, trace: &Trace, step: usize) -> Option<Entry> {
        let entries = self.parts.iter().enumerate().flat_map(|(part, place)| {
            let array = array(trace, *place);
            let array = array.filter(|(_, series)| step < series.steps());
            let rows = array.map(|(array, now)| (before(trace, array, step), now.row(step)));
            let (before, now) = rows.unwrap_or_default();
            let pairs = now.iter().enumerate();
            pairs.map(move |(index, now)| Entry {
                part,
                index,
                values: [before.get(index).copied().unwrap_or(0.0), *now],
            })
        });
        let change = |entry: &Entry| (entry.values[1] - entry.values[0]).abs();
        let known = entries.filter(|entry| change(entry).is_finite());
        known.reduce(|most, next| {
            if change(&next) > change(&most) {
                next
            } else {
                most
            }
        })
    }

    /// Its line with the numbers of the entry that changes most in the step.
    pub fn with_most_changed(&self, all: &[Self], trace: &Trace, step: usize) -> Option<String> {
        let Entry { part, index, .. } = self.most_changed(trace, step)?;
        let (line, _) = self.line(all, trace, step, [part, index])?;
        Some(line)
    }

    /// Its line with the numbers of an entry, by its part and its place there; none where all names stay.
    pub fn with_numbers(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        entry: [usize; 2],
    ) -> Option<String> {
        let (line, has_numbers) = self.line(all, trace, step, entry)?;
        has_numbers.then_some(line)
    }

    /// Its line with the numbers of an entry, and whether there are any but that of the result; a name stays where the entry
    /// takes several of its values, or one that is not recorded as such.
    fn line(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<(String, bool)> {
        let (made, series) = array(trace, *self.parts.get(part)?)?;
        let entries = entries(trace, made, index)?;
        let mut last = self.equation.find('=')? + 1;
        let mut text = String::new();
        for read in &self.reads {
            let is_one = |(axis, _): &&(&str, usize)| !read.around.iter().any(|own| own == axis);
            let single: Vec<_> = entries.iter().filter(is_one).copied().collect();
            let values = self.values(all, trace, step, (read, made));
            let known = values.filter(|values| {
                // A component may call an axis by a name of its own.
                let is_known = |axis: &String| {
                    let own = entries.iter().chain(&values.axes).map(|own| own.0);
                    values.axes.is_empty() || own.into_iter().any(|own| own == axis)
                };
                read.around.iter().all(is_known)
            });
            let Some(value) = known.and_then(|values| values.at(&single)) else {
                continue;
            };
            text += &self.equation[last..read.words.start];
            let number = numbers::short(value, 2);
            text += &match value {
                0.0.. => number,
                _ => ["(", &number, ")"].concat(),
            };
            last = read.words.end;
        }
        let has_numbers = !text.is_empty();
        text += &self.equation[last..];
        let words: Vec<_> = text.split_whitespace().collect();
        let value = numbers::short(*series.row(step).get(index)?, 2);
        let places: Vec<_> = entries.iter().map(|(_, entry)| entry.to_string()).collect();
        let place = if places.is_empty() {
            String::new()
        } else {
            format!("[{}]", places.join(","))
        };
        let symbol = last_name(made.symbol);
        let head = split_head(made.name).map(|[kind, number, _]| format!("{kind}{number}."));
        let head = head.unwrap_or_default();
        let line = format!("{head}{symbol}{place} = {} = {value}", words.join(" "));
        Some((line, has_numbers))
    }

    /// The values of a quantity that this array is made of, in the step that its line says; of a head, those of the same
    /// one. None where the line takes other values than those that are recorded as such.
    fn values<'a>(
        &'a self,
        all: &[Self],
        trace: &'a Trace,
        step: usize,
        (read, made): (&Read, Array),
    ) -> Option<Values<'a>> {
        let words = &self.equation[read.words.clone()];
        let name = last_name(words.split('[').next()?.trim());
        let head = |array: Array| split_head(array.name).map(|[kind, number, _]| (kind, number));
        let mut parts = all.get(read.statement)?.parts.iter();
        let (of, series) = parts.find_map(|part| {
            let (of, series) = array(trace, *part)?;
            let is_it = last_name(of.symbol) == name;
            let is_of_head = head(of).is_none() || head(of) == head(made);
            (is_it && is_of_head).then_some((of, series))
        })?;
        if !read.is_at_entry || (read.is_before && !of.follows_steps) {
            return None;
        }
        let values = if read.is_before {
            before(trace, of, step)
        } else {
            series.row(step)
        };
        let axes = axes_of(trace, of)?.into_iter();
        let axes = axes.map(|(axis, size)| (axis_in_line(words, axis), size));
        Some(Values {
            axes: axes.collect(),
            values,
        })
    }

    /// The largest terms of the sum in its line for an entry; none where there is no such sum.
    pub fn terms(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        entry: [usize; 2],
    ) -> Option<String> {
        let (axis, factors, size) = self.sum(all, trace, step, entry)?;
        let terms = (0..size).map(|at| (at, product(&factors, at))).collect();
        let sum = added_as(terms, |at| {
            let words: Vec<_> = factors.iter().map(|own| n(own.at(at))).collect();
            format!("{axis} {at}: {}", words.join(" · "))
        });
        Some(format!("sum of {size} terms:\n{sum}"))
    }

    /// The only sum of products in its line for an entry, of `sum` or `dot` over one axis: the axis, the factors of its terms,
    /// and how many terms there are.
    fn sum<'a>(
        &'a self,
        all: &[Self],
        trace: &'a Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<(&'a str, Vec<Factor<'a>>, usize)> {
        let (made, _) = array(trace, *self.parts.get(part)?)?;
        let mut own = entries(trace, made, index)?;
        let (axis, inside) = sum_in(self.equation)?;
        own.retain(|(name, _)| *name != axis);
        let is_inside =
            |read: &&Read| inside.start <= read.words.start && read.words.end <= inside.end;
        let reads: Vec<_> = self.reads.iter().filter(is_inside).collect();
        let mut rest = self.equation[inside.clone()].to_owned();
        for read in reads.iter().rev() {
            let words = read.words.start - inside.start..read.words.end - inside.start;
            rest.replace_range(words, "");
        }
        let signs: Vec<_> = rest.split_whitespace().collect();
        let are_factors = signs.iter().all(|sign| ["*", ","].contains(sign));
        // Nor may the sum stand in another function over axes.
        let are_alone = reads.iter().all(|read| read.around == [axis]);
        if reads.len() != signs.len() + 1 || !are_factors || !are_alone {
            return None;
        }
        let values = reads
            .iter()
            .map(|read| self.values(all, trace, step, (read, made)));
        let values: Vec<_> = values.collect::<Option<_>>()?;
        let size = values.iter().find_map(|values| values.size(axis))?;
        let factors = values.into_iter().map(|values| values.along(axis, &own));
        Some((axis, factors.collect::<Option<_>>()?, size))
    }

    /// The statements of a machine file, in the order of the computation.
    pub fn of_all(trace: &Trace) -> Vec<Self> {
        let mut all: Vec<(Self, Vec<Array>)> = Vec::new();
        let made = of_steps(trace).filter(|(_, array, _)| !array.equation.is_empty());
        for (part, array, _) in made {
            let is_it = |(own, arrays): &&mut (Self, Vec<Array>)| {
                own.equation == array.equation && kind(arrays[0]) == kind(array)
            };
            if let Some((own, arrays)) = all.iter_mut().find(is_it) {
                own.parts.push(part);
                arrays.push(array);
                continue;
            }
            let [head, _, name] = of_head(array);
            let own = Self {
                name,
                head,
                equation: array.equation,
                parts: vec![part],
                reads: Vec::new(),
                layer: 0,
            };
            all.push((own, vec![array]));
        }
        for index in 0..all.len() {
            let (own, arrays) = &all[index];
            let made = arrays[0];
            let reads = words(own.equation).filter_map(|(words, name)| {
                let statement = named(&all, name, made)?;
                let [is_before, is_same] = entry_of(&own.equation[words.clone()]);
                let is_at_entry = is_same && !is_past(own.equation, words.start);
                // Without a sign of the step before, a later statement is not what is meant.
                let is_there = is_before || statement < index;
                is_there.then(|| Read {
                    around: around(own.equation, words.start),
                    words,
                    statement,
                    is_before,
                    is_at_entry,
                })
            });
            let reads: Vec<Read> = reads.collect();
            let now = reads.iter().filter(|read| !read.is_before);
            let layer = now.map(|read| 1 + all[read.statement].0.layer).max();
            (all[index].0.reads, all[index].0.layer) = (reads, layer.unwrap_or(0));
        }
        all.into_iter().map(|(own, _)| own).collect()
    }
}

/// The values of a quantity in a step, and its axes as a line calls them.
struct Values<'a> {
    axes: Vec<(&'a str, usize)>,
    values: &'a [f32],
}

impl<'a> Values<'a> {
    /// The value at these entries of its axes, if they say all of them.
    fn at(&self, entries: &[(&str, usize)]) -> Option<f32> {
        let factor = self.along("", entries)?;
        factor.values.get(factor.first).copied()
    }

    /// Number of entries of an axis.
    fn size(&self, axis: &str) -> Option<usize> {
        let mut axes = self.axes.iter();
        axes.find(|own| own.0 == axis).map(|own| own.1)
    }

    /// The values along an axis, at these entries of the others.
    fn along(&self, axis: &str, entries: &[(&str, usize)]) -> Option<Factor<'a>> {
        let (mut first, mut stride, mut width) = (0, 0, 1);
        for (own, size) in self.axes.iter().rev() {
            if *own == axis {
                stride = width;
            } else {
                let (_, entry) = entries.iter().find(|entry| entry.0 == *own)?;
                first += width * entry;
            }
            width *= size;
        }
        let values = self.values;
        (values.len() == width).then_some(Factor {
            values,
            first,
            stride,
        })
    }
}

/// A factor of the terms of a sum: values from the first one on, with this stride.
struct Factor<'a> {
    values: &'a [f32],
    first: usize,
    stride: usize,
}

impl Factor<'_> {
    fn at(&self, term: usize) -> f32 {
        self.values[self.first + self.stride * term]
    }
}

/// The product of these factors of a term.
fn product(factors: &[Factor<'_>], term: usize) -> f32 {
    factors.iter().map(|factor| factor.at(term)).product()
}

/// The part of a name behind its last point.
fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// What a line calls an axis of a quantity: another name, behind `as`.
fn axis_in_line<'a>(words: &'a str, axis: &'a str) -> &'a str {
    let mut pairs = words
        .split(['[', ']', ','])
        .filter_map(|item| item.split_once(" as "));
    let other = pairs.find(|(own, _)| own.trim() == axis);
    other.map_or(axis, |(_, other)| other.trim())
}

/// Whether a quantity with its brackets is that of the step before; whether it is the same entry of its axes.
fn entry_of(words: &str) -> [bool; 2] {
    let items = words.split_once('[').map_or("", |(_, items)| items);
    let items = || items.trim_end_matches(']').split(',').map(str::trim);
    let is_step = |item: &str| item == "-1" || item == "steps: -1";
    let is_same = |item: &str| item.is_empty() || item.contains(" as ") || is_step(item);
    [items().any(is_step), items().all(is_same)]
}

/// True inside `past`, which takes the values of all steps.
fn is_past(equation: &str, place: usize) -> bool {
    let calls = equation[..place].rsplit("past(");
    let inside = calls.take(equation[..place].matches("past(").count());
    let is_open = |text: &str| text.matches('(').count() >= text.matches(')').count();
    inside.into_iter().any(is_open)
}

/// The axes of the functions around a place of a line: `sum[rows](…)`.
fn around(equation: &str, place: usize) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, c) in equation[..place].char_indices() {
        let before = &equation[..at];
        match c {
            '(' if before.ends_with(']') => {
                open.push(before.rsplit_once('[').map_or("", |(_, axes)| axes));
            }
            '(' => open.push(""),
            ')' => {
                open.pop();
            }
            _ => {}
        }
    }
    let axes = open
        .iter()
        .flat_map(|axes| axes.trim_end_matches(']').split([',', ';']));
    let axes = axes.map(str::trim).filter(|axis| !axis.is_empty());
    axes.map(str::to_owned).collect()
}

/// An array of a machine by its place among all.
fn array(trace: &Trace, part: usize) -> Option<(Array, &Series<f32>)> {
    trace.kind_arrays.arrays().nth(part)
}

/// The axes of an array in a step, each with the entry of a value by its place.
fn entries(trace: &Trace, array: Array, mut index: usize) -> Option<Vec<(&'static str, usize)>> {
    let mut entries = axes_of(trace, array)?;
    for (_, size) in entries.iter_mut().rev() {
        (*size, index) = (index % *size, index / *size);
    }
    Some(entries)
}

/// The axis of the only sum over one axis in a line, and where its terms stand.
fn sum_in(equation: &str) -> Option<(&str, Range<usize>)> {
    let is_whole = |at: usize| !equation[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let starts = ["sum[", "dot["].map(|name| (name, equation.match_indices(name)));
    let mut starts = starts.into_iter().flat_map(|(name, all)| {
        all.filter(|(at, _)| is_whole(*at))
            .map(move |(at, _)| at + name.len())
    });
    let (start, None) = (starts.next()?, starts.next()) else {
        return None;
    };
    let (axes, _) = equation[start..].split_once("](")?;
    let inside = start + axes.len() + 2;
    let mut open = 1;
    let end = equation[inside..].find(|c| {
        open += i32::from(c == '(');
        open -= i32::from(c == ')');
        open == 0
    })?;
    let is_one = axes.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_one.then_some((axes, inside..inside + end))
}

/// The values of an array in the step before, or before the first one; none where it has none there.
pub fn before(trace: &Trace, array: Array, step: usize) -> &[f32] {
    let rows = match step.checked_sub(1) {
        Some(step) => trace.series(Place::Machine, array).map(|own| own.row(step)),
        None => start_of(trace, array).map(|own| own.row(0)),
    };
    rows.unwrap_or_default()
}

/// The statement that makes the quantity of this name, as the line of another one names it.
fn named(all: &[(Statement, Vec<Array>)], name: &str, made: Array) -> Option<usize> {
    let last = |symbol: &str| last_name(symbol) == last_name(name);
    let rank = |own: &&Array| {
        let is_whole = own.symbol == name;
        let is_near = kind(own) == kind(made) || kind(own) == ("", "");
        (is_whole, is_near)
    };
    let arrays = all.iter().enumerate();
    let arrays = arrays.flat_map(|(index, (_, arrays))| arrays.iter().map(move |own| (index, own)));
    let fitting = arrays.filter(|(_, own)| own.symbol == name || last(own.symbol));
    let best = fitting.max_by_key(|(index, own)| (rank(own), std::cmp::Reverse(*index)));
    best.map(|(index, _)| index)
}

/// What stands before the last point of a name, without the number of a head.
fn kind(array: Array) -> (&'static str, &'static str) {
    let [head, _, name] = of_head(array);
    (head, name.rsplit_once('.').map_or("", |(owner, _)| owner))
}

/// The kind and the number of the head in the name of an array, and the rest of the name.
fn of_head(array: Array) -> [&'static str; 3] {
    split_head(array.name).unwrap_or(["", "", array.name])
}

/// The names right of the sign `=` that are no functions, and their places with the brackets behind them.
fn words(equation: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let bytes = equation.as_bytes();
    let is_letter = |at: usize| {
        let letter = bytes.get(at);
        letter.is_some_and(|c| c.is_ascii_alphanumeric() || b"_.".contains(c))
    };
    let is_sign = |at: &usize| {
        let beside = [at.wrapping_sub(1), at + 1].map(|at| bytes.get(at));
        let is_part = beside.into_iter().flatten().any(|c| b"=<>!".contains(c));
        bytes[*at] == b'=' && !is_part
    };
    let mut at = (0..bytes.len())
        .find(is_sign)
        .map_or(bytes.len(), |at| at + 1);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            if !is_letter(at) {
                at += 1;
                continue;
            }
            while is_letter(at) {
                at += 1;
            }
            let end = at;
            let mut open = 0;
            while at < bytes.len() && (open > 0 || bytes[at] == b'[') {
                open += usize::from(bytes[at] == b'[');
                open -= usize::from(bytes[at] == b']');
                at += 1;
            }
            let is_function = bytes.get(at) == Some(&b'(');
            if !is_function && !bytes[start].is_ascii_digit() {
                return Some((start..at, &equation[start..end]));
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model, ModelConfig};
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    /// An episode of a machine file that copies vectors.
    fn recorded(name: &str, text: Option<&str>) -> Recording {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let channels = [task.inputs(), task.outputs()];
        let config = match text {
            Some(text) => EquationsConfig::of_file(name, text),
            None => EquationsConfig::included(name, channels, &[]),
        };
        let mut config = ModelConfig::from(config.unwrap());
        config.set_channels(channels[0], channels[1]);
        Recording::new(&Model::new(config, 3), &task, 5, 0)
    }

    #[test]
    fn terms_of_a_sum_add_up_to_the_recorded_value() {
        let names = [
            "delta_rule",
            "gated_delta",
            "titans",
            "mlstm",
            "fast_weights",
        ];
        let mut sums = Vec::new();
        for name in names {
            let recording = recorded(name, None);
            let (trace, step) = (&recording.trace, 2);
            let all = Statement::of_all(trace);
            for own in &all {
                let (_, value) = array(trace, own.parts[0]).unwrap();
                for index in [0, value.width() - 1] {
                    let right = own.equation.split_once('=').unwrap().1.trim();
                    let sum = sum_in(own.equation);
                    let is_whole = sum.is_some_and(|(axis, inside)| {
                        right.len() == inside.len() + axis.len() + "sum[](".len() + 1
                    });
                    let sum = own.sum(&all, trace, step, [0, index]);
                    let Some((_, factors, size)) = sum.filter(|_| is_whole) else {
                        continue;
                    };
                    let sum: f32 = (0..size).map(|at| product(&factors, at)).sum();
                    let value = value.row(step)[index];
                    assert!(
                        (sum - value).abs() < 1e-4,
                        "{name}: {sum} and {value} of {right}"
                    );
                    let terms = own.terms(&all, trace, step, [0, index]).unwrap();
                    assert!(terms.contains(" · "), "{terms}");
                    sums.push(right);
                }
            }
        }
        sums.dedup();
        assert!(sums.len() >= 3, "{sums:?}");
    }

    /// The line of the quantity of this name with the numbers of its second value, and its terms.
    fn said(recording: &Recording, name: &str) -> [Option<String>; 2] {
        let (trace, step) = (&recording.trace, 2);
        let all = Statement::of_all(trace);
        let mut found = all.iter().filter_map(|own| {
            let is_it = |part: &usize| array(trace, *part).is_some_and(|own| own.0.name == name);
            Some((own, own.parts.iter().position(is_it)?))
        });
        let (own, part) = found.next().unwrap_or_else(|| panic!("{name}"));
        let entry = [part, 1];
        let line = own.with_numbers(&all, trace, step, entry);
        [line, own.terms(&all, trace, step, entry)]
    }

    #[test]
    fn numbers_stand_only_for_names_that_mean_them() {
        let stack = recorded(
            "stack.machine",
            Some(include_str!("../../../examples/stack.machine")),
        );
        // Another entry of an axis is not the same entry.
        assert_eq!(said(&stack, "popped"), [None, None]);
        let [memory, _] = said(&stack, "memory");
        let memory = memory.unwrap();
        assert!(
            memory.contains("a[action: push] * ")
                && !memory.contains("pushed")
                && !memory.contains("S[-1]"),
            "{memory}"
        );
        // A sum over heads takes those of all heads; the memory before is one value.
        let pointer = include_str!("../../../examples/pointer.machine");
        let pointer = recorded("pointer.machine", Some(pointer));
        let [memory, terms] = said(&pointer, "memory");
        let memory = memory.unwrap();
        assert!(
            memory.contains("product[write](1 - w * e)") && !memory.contains("M[-1]"),
            "{memory}"
        );
        assert_eq!(terms, None);
        let [read, terms] = said(&pointer, "read0.read");
        assert_eq!(read, None);
        assert!(terms.unwrap().starts_with("sum of 32 terms:\nrows "));
        // A function of all units takes no single one; the value before of an inner block is not that of the step before.
        let fast = recorded("fast_weights", None);
        for own in Statement::of_all(&fast.trace) {
            let trace = &fast.trace;
            let all = Statement::of_all(trace);
            let line = own.with_numbers(&all, trace, 2, [0, 1]).unwrap_or_default();
            assert!(
                !own.equation.contains("s[-1") || line.contains("s[-1"),
                "{line}"
            );
            assert!(
                !own.equation.contains("mean[units](a)") || line.contains("mean[units](a)"),
                "{line}"
            );
        }
        let reader = recorded("tape_reader", None);
        let all = Statement::of_all(&reader.trace);
        let states = all.iter().filter(|own| own.equation.contains("c[-1]"));
        for own in states {
            assert_eq!(own.with_numbers(&all, &reader.trace, 2, [1, 0]), None);
        }
    }

    #[test]
    fn axes_around_a_name_are_those_of_the_calls_it_stands_in() {
        let line = "a = f[rows](x) + sum[rows, columns](2 * (b + c)) * exp(d)";
        let of = |name: &str| around(line, line.find(name).unwrap());
        assert_eq!(of("x)"), ["rows"]);
        assert_eq!(of("c)"), ["rows", "columns"]);
        assert_eq!(of("d)"), [""; 0]);
        assert_eq!(entry_of("S[-1, rows as from]"), [true, true]);
        assert_eq!(entry_of("S[rows: index[rows]-1]"), [false, false]);
        let past = "w = softmax[past](dot[units](k, past(h))) + b";
        assert!(is_past(past, past.find("h)").unwrap()));
        assert!(!is_past(past, past.find('b').unwrap()));
    }

    #[test]
    fn the_sum_of_a_line_is_found() {
        let line = "r = sum[rows](w * M[-1])";
        let (axis, inside) = sum_in(line).unwrap();
        assert_eq!((axis, &line[inside]), ("rows", "w * M[-1]"));
        for line in [
            "r = consum[rows](w)",
            "r = sum[rows](w) + sum[rows](v)",
            "r = sum[rows, columns](w)",
            "r = sum[rows",
        ] {
            assert_eq!(sum_in(line), None, "{line}");
        }
    }

    #[test]
    fn words_of_a_line_are_its_quantities() {
        let of = |line| {
            let all = words(line).map(|(at, name)| (line[at].to_owned(), name));
            all.collect::<Vec<_>>()
        };
        let line = "S[values, keys] = eta * S[-1] - theta * 2 * dot[keys; no bias](error, k[key as columns])";
        let found = of(line);
        let names: Vec<_> = found.iter().map(|(_, name)| *name).collect();
        assert_eq!(names, ["eta", "S", "theta", "error", "k"]);
        assert_eq!(found[1], ("S[-1]".to_owned(), "S"));
        assert_eq!(found[4], ("k[key as columns]".to_owned(), "k"));
        assert_eq!(of("near = rank[rows](-s) <= K").len(), 2);
        assert!(of("").is_empty());
    }
}
