//! The statements of a machine file in a step: what each makes, and of which quantities.

use std::ops::Range;

use crate::figure::facts::in_step::{Term, added, n};
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
        self.with_numbers(all, trace, step, [part, index])
    }

    /// Its line with the numbers of an entry, by its part and its place there; a name stays where the entry takes several
    /// of its values.
    pub fn with_numbers(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<String> {
        let (made, series) = array(trace, *self.parts.get(part)?)?;
        let entries = entries(trace, made, index)?;
        let mut last = self.equation.find('=')? + 1;
        let mut text = String::new();
        for read in &self.reads {
            let Some(value) = self.value(all, trace, step, (read, part, &entries)) else {
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
        text += &self.equation[last..];
        let words: Vec<_> = text.split_whitespace().collect();
        let value = numbers::short(*series.row(step).get(index)?, 2);
        let places: Vec<_> = entries.iter().map(|(_, entry)| entry.to_string()).collect();
        let place = if places.is_empty() {
            String::new()
        } else {
            format!("[{}]", places.join(","))
        };
        let symbol = made.symbol.rsplit('.').next().unwrap_or_default();
        let head = split_head(made.name).map(|[kind, number, _]| format!("{kind}{number}."));
        let head = head.unwrap_or_default();
        Some(format!(
            "{head}{symbol}{place} = {} = {value}",
            words.join(" ")
        ))
    }

    /// The value of a quantity that an entry of a part takes: the one at the same entries of its axes.
    fn value(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        (read, part, entries): (&Read, usize, &[(&str, usize)]),
    ) -> Option<f32> {
        let parts = &all.get(read.statement)?.parts;
        let (of, series) = array(trace, *parts.get(part).or(parts.first())?)?;
        let mut place = 0;
        for (axis, size) in axes_of(trace, of)? {
            let axis = self.axis_in_line(read, axis);
            let (_, entry) = entries.iter().find(|own| own.0 == axis)?;
            place = place * size + entry;
        }
        let values = if read.is_before {
            before(trace, of, step)
        } else {
            series.row(step)
        };
        values.get(place).copied()
    }

    /// What the line calls an axis of a quantity that it reads: another name, behind `as`.
    fn axis_in_line<'a>(&'a self, read: &Read, axis: &'a str) -> &'a str {
        let words = &self.equation[read.words.clone()];
        let mut pairs = words
            .split(['[', ']', ','])
            .filter_map(|item| item.split_once(" as "));
        let other = pairs.find(|(own, _)| own.trim() == axis);
        other.map_or(axis, |(_, other)| other.trim())
    }

    /// The largest terms of the sum in its line for an entry; none where there is no such sum.
    pub fn terms(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        entry: [usize; 2],
    ) -> Option<String> {
        let (axis, terms) = self.products(all, trace, step, entry)?;
        let count = terms.len();
        let terms = terms.into_iter().enumerate().map(|(at, values)| {
            let words: Vec<_> = values.iter().map(|value| n(*value)).collect();
            let text = format!("{axis} {at}: {}", words.join(" · "));
            (text, values.iter().product())
        });
        let terms: Vec<Term> = terms.collect();
        Some(format!("sum of {count} terms:\n{}", added(terms)))
    }

    /// The factors of each term of the only sum in its line for an entry, and the axis of the sum: of `sum` and `dot` of
    /// quantities.
    fn products(
        &self,
        all: &[Self],
        trace: &Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<(&str, Vec<Vec<f32>>)> {
        let (made, _) = array(trace, *self.parts.get(part)?)?;
        let own = entries(trace, made, index)?;
        let (axis, inside) = sum_in(self.equation)?;
        let is_inside =
            |read: &&Read| inside.start <= read.words.start && read.words.end <= inside.end;
        let factors: Vec<_> = self.reads.iter().filter(is_inside).collect();
        let mut rest = self.equation[inside.clone()].to_owned();
        for read in factors.iter().rev() {
            let words = read.words.start - inside.start..read.words.end - inside.start;
            rest.replace_range(words, "");
        }
        let signs: Vec<_> = rest.split_whitespace().collect();
        let are_factors = signs.iter().all(|sign| ["*", ","].contains(sign));
        if factors.len() != signs.len() + 1 || !are_factors {
            return None;
        }
        let sizes = factors.iter().filter_map(|read| {
            let parts = &all.get(read.statement)?.parts;
            let (of, _) = array(trace, *parts.get(part).or(parts.first())?)?;
            let mut axes = axes_of(trace, of)?.into_iter();
            axes.find(|(own, _)| self.axis_in_line(read, own) == axis)
        });
        let size = sizes.map(|(_, size)| size).next()?;
        let terms = (0..size).map(|at| {
            let mut entries = own.clone();
            entries.retain(|(name, _)| *name != axis);
            entries.push((axis, at));
            let values = factors.iter();
            values
                .map(|read| self.value(all, trace, step, (read, part, &entries)))
                .collect()
        });
        let terms: Option<Vec<Vec<f32>>> = terms.collect();
        Some((axis, terms?))
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
            let reads = words(own.equation).filter_map(|(words, name, is_before)| {
                let statement = named(&all, name, made)?;
                // Without a sign of the step before, a later statement is not what is meant.
                let is_there = is_before || statement < index;
                is_there.then_some(Read {
                    words,
                    statement,
                    is_before,
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
    let last = |symbol: &'static str| symbol.rsplit('.').next() == name.rsplit('.').next();
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

/// The names right of the sign `=` that are no functions: their places, with the brackets behind them; whether these ask for
/// the step before.
fn words(equation: &str) -> impl Iterator<Item = (Range<usize>, &str, bool)> {
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
                return Some((
                    start..at,
                    &equation[start..end],
                    equation[end..at].contains("-1"),
                ));
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model};
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    #[test]
    fn terms_of_a_sum_add_up_to_the_recorded_value() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let names = [
            "fast_weights",
            "delta_rule",
            "gated_delta",
            "titans",
            "mlstm",
            "hopfield",
        ];
        let mut sums = Vec::new();
        for name in names {
            let channels = [task.inputs(), task.outputs()];
            let config = EquationsConfig::included(name, channels, &[]).unwrap();
            let recording = Recording::new(&Model::new(config, 3), &task, 5, 0);
            let (trace, step) = (&recording.trace, 2);
            let all = Statement::of_all(trace);
            for own in &all {
                let (_, value) = array(trace, own.parts[0]).unwrap();
                for index in [0, value.width() - 1] {
                    let Some((_, terms)) = own.products(&all, trace, step, [0, index]) else {
                        continue;
                    };
                    let right = own.equation.split_once('=').unwrap().1.trim();
                    if !(right.starts_with("sum[") || right.starts_with("dot["))
                        || !right.ends_with(')')
                    {
                        continue;
                    }
                    let sum: f32 = terms.iter().map(|term| term.iter().product::<f32>()).sum();
                    let value = value.row(step)[index];
                    assert!(
                        (sum - value).abs() < 1e-4,
                        "{name}: {sum} and {value} of {right}"
                    );
                    assert!(
                        own.terms(&all, trace, step, [0, index])
                            .unwrap()
                            .contains(" · ")
                    );
                    sums.push(right);
                }
            }
        }
        sums.dedup();
        assert!(sums.len() >= 3, "{sums:?}");
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
            let all =
                words(line).map(|(at, name, is_before)| (line[at].to_owned(), name, is_before));
            all.collect::<Vec<_>>()
        };
        let line = "S[values, keys] = eta * S[-1] - theta * 2 * dot[keys; no bias](error, k[key as columns])";
        let found = of(line);
        let names: Vec<_> = found.iter().map(|(_, name, _)| *name).collect();
        assert_eq!(names, ["eta", "S", "theta", "error", "k"]);
        assert_eq!(found[1], ("S[-1]".to_owned(), "S", true));
        assert_eq!(found[4], ("k[key as columns]".to_owned(), "k", false));
        assert_eq!(of("near = rank[rows](-s) <= K").len(), 2);
        assert!(of("").is_empty());
    }
}
