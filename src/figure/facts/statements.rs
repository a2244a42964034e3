//! The statements of a machine file in a step: what each makes, and of which quantities.

use std::ops::Range;

use crate::figure::facts::numbers;
use crate::figure::facts::quantities::{axes_of, of_steps, start_of};
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
            let array = trace.kind_arrays.arrays().nth(*place);
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

    /// Its line with the numbers of the entry that changes most in the step; a name stays where the entry
    /// takes several of its values.
    pub fn with_numbers(&self, all: &[Self], trace: &Trace, step: usize) -> Option<String> {
        let entry = self.most_changed(trace, step)?;
        let array = |part: usize| trace.kind_arrays.arrays().nth(part);
        let (made, _) = array(self.parts[entry.part])?;
        let mut rest = entry.index;
        let mut entries = axes_of(trace, made)?;
        for (_, size) in entries.iter_mut().rev() {
            (*size, rest) = (rest % *size, rest / *size);
        }
        let value = |read: &Read| {
            let parts = &all.get(read.statement)?.parts;
            let (of, series) = array(*parts.get(entry.part).or(parts.first())?)?;
            let mut place = 0;
            for (axis, size) in axes_of(trace, of)? {
                let (_, entry) = entries.iter().find(|own| own.0 == axis)?;
                place = place * size + entry;
            }
            let values = if read.is_before {
                before(trace, of, step)
            } else {
                series.row(step)
            };
            values.get(place).copied()
        };
        let mut last = self.equation.find('=')? + 1;
        let mut text = String::new();
        for (read, value) in self
            .reads
            .iter()
            .filter_map(|read| Some((read, value(read)?)))
        {
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
        let value = numbers::short(entry.values[1], 2);
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
