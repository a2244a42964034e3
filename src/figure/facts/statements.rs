//! The statements of a machine file in a step: what each makes, and of which quantities.

use crate::figure::facts::in_step::{added_as, n};
use crate::figure::facts::numbers;
use crate::figure::facts::quantities::{axes_of, of_steps, start_of};
use crate::math::Series;
use crate::model::{Array, Place, ReadSpec, TakenEntry, Trace, split_head};

/// A statement of a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name of what it makes, without that of a head.
    pub name: &'static str,
    /// The kind of the heads of which each makes an array of its own; empty where there are none.
    pub head: &'static str,
    /// True where heads of another kind have a statement of this name.
    pub has_namesake: bool,
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
    /// What it makes in words.
    pub fn title(&self) -> String {
        title(self.kind(), self.name)
    }

    /// The kind of its heads, where those of another kind have a statement of this name.
    pub fn kind(&self) -> &'static str {
        if self.has_namesake { self.head } else { "" }
    }

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
        known.min_by(|one, other| change(other).total_cmp(&change(one)))
    }

    /// Its line with the numbers of the entry that changes most in the step.
    pub fn with_most_changed(&self, trace: &Trace, step: usize) -> Option<String> {
        let Entry { part, index, .. } = self.most_changed(trace, step)?;
        let (line, _) = self.line(trace, step, [part, index])?;
        Some(line)
    }

    /// Its line with the numbers of an entry, by its part and its place there; none where all names stay.
    pub fn with_numbers(&self, trace: &Trace, step: usize, entry: [usize; 2]) -> Option<String> {
        let (line, has_numbers) = self.line(trace, step, entry)?;
        has_numbers.then_some(line)
    }

    /// Its line with the numbers of an entry, and whether there are any but that of the result.
    fn line(
        &self,
        trace: &Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<(String, bool)> {
        let (made, series) = array(trace, *self.parts.get(part)?)?;
        if step < first_step(trace, made) {
            return None;
        }
        let entries = entries(trace, made, index)?;
        let (right, has_numbers) = right_side(trace, step, (made, &entries), |value| {
            let number = numbers::short(value, 2);
            match value {
                0.0.. => number,
                _ => ["(", &number, ")"].concat(),
            }
        })?;
        let value = numbers::short(*series.row(step).get(index)?, 2);
        let sizes = axes_of(trace, made)?;
        let places = entries.iter().zip(made.dims.iter().skip(1));
        let places = places.filter(|(_, name)| sizes.iter().any(|(axis, _)| axis == *name));
        let mut places: Vec<_> = places.map(|(entry, _)| entry.to_string()).collect();
        let named = entries
            .last()
            .and_then(|entry| made.entry_names.get(*entry));
        if let (Some(place), Some(name)) = (places.last_mut(), named) {
            place.clone_from(name);
        }
        let place = Some(places.join(",")).filter(|place| !place.is_empty());
        let place = place.map_or_else(String::new, |place| format!("[{place}]"));
        let symbol = last_name(made.symbol);
        let head = split_head(made.name).map(|[kind, number, _]| format!("{kind}{number}."));
        let head = head.unwrap_or_default();
        let line = format!("{head}{symbol}{place} = {right} = {value}");
        Some((line, has_numbers))
    }

    /// The largest terms of the sum in its line for an entry; none where there is no such sum.
    pub fn terms(&self, trace: &Trace, step: usize, entry: [usize; 2]) -> Option<String> {
        let (axis, factors, size) = self.sum(trace, step, entry)?;
        let terms = (0..size).map(|at| (at, product(&factors, at))).collect();
        let sum = added_as(terms, |at| {
            let words: Vec<_> = factors.iter().map(|own| n(own.at(at))).collect();
            format!("{axis} {at}: {}", words.join(" · "))
        });
        Some(format!("sum of {size} terms:\n{sum}"))
    }

    /// The only sum of products in its line for an entry: the axis of its terms, their factors, and how many there are.
    fn sum<'a>(
        &self,
        trace: &'a Trace,
        step: usize,
        [part, index]: [usize; 2],
    ) -> Option<(&'static str, Vec<Factor<'a>>, usize)> {
        let (made, _) = array(trace, *self.parts.get(part)?)?;
        let sum = made.sum?;
        let entries = entries(trace, made, index)?;
        let reads = made.reads.get(sum.factors[0]..sum.factors[1])?.iter();
        let factors = reads.map(|read| Factor::of(trace, step, read, &entries));
        let factors: Vec<_> = factors.collect::<Option<_>>()?;
        let size = factors.iter().find_map(|own| own.size)?;
        Some((sum.axis, factors, size))
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
                has_namesake: false,
                equation: array.equation,
                parts: vec![part],
                reads: Vec::new(),
                layer: 0,
            };
            all.push((own, vec![array]));
        }
        for index in 0..all.len() {
            let Self { name, head, .. } = all[index].0;
            let is_namesake = |(other, _): &(Self, _)| other.name == name && other.head != head;
            all[index].0.has_namesake = all.iter().any(is_namesake);
            let makes = |name: &str| {
                let mut all = all.iter();
                all.position(|(_, arrays)| arrays.iter().any(|array| array.name == name))
            };
            let reads = all[index].1[0].reads.iter().filter_map(|read| {
                let statement = makes(read.array)?;
                // What comes later is not known yet: it is of a step before inside this one.
                let is_there = read.is_before || statement < index;
                is_there.then_some(Read {
                    statement,
                    is_before: read.is_before,
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

/// The right side of the line of an entry, with one blank between words, and whether it has numbers; a name stays where the
/// entry is not made of one recorded value of it.
fn right_side(
    trace: &Trace,
    step: usize,
    (made, entries): (Array, &[usize]),
    number: impl Fn(f32) -> String,
) -> Option<(String, bool)> {
    let (mut last, mut text) = (made.equation.find('=')? + 1, String::new());
    for read in made.reads {
        let value = Factor::of(trace, step, read, entries).and_then(|own| own.only());
        let [start, end] = read.bytes;
        let Some(value) = value.filter(|_| last <= start) else {
            continue;
        };
        text = text + &made.equation[last..start] + &number(value);
        last = end;
    }
    let has_numbers = !text.is_empty();
    text += &made.equation[last..];
    let words: Vec<_> = text.split_whitespace().collect();
    Some((words.join(" "), has_numbers))
}

/// The title of a statement, of heads of this kind where there is one: `write key`.
pub fn title(kind: &str, name: &str) -> String {
    let words = format!("{kind} {}", name.replace(['.', '_'], " "));
    words.trim_start().to_owned()
}

/// Values that an entry is made of: one, or one for each term of a sum.
struct Factor<'a> {
    values: &'a [f32],
    first: usize,
    stride: usize,
    /// How many terms there are.
    size: Option<usize>,
}

impl<'a> Factor<'a> {
    /// The values of what is read of which this entry is made, if they are recorded as such.
    fn of(trace: &'a Trace, step: usize, read: &ReadSpec, made: &[usize]) -> Option<Self> {
        let mut all = trace.kind_arrays.arrays();
        let (array, series) = all.find(|(array, _)| array.name == read.array)?;
        let values = if read.is_before {
            before(trace, array, step)
        } else {
            let row = array.row(step);
            (row < series.steps()).then(|| series.row(row))?
        };
        let sizes = trace.array_sizes(array)?;
        let (mut first, mut stride, mut width, mut count) = (0, 0, 1, None);
        for (taken, size) in read.entries?.iter().zip(sizes).rev() {
            let entry = match taken {
                TakenEntry::Same(axis) => *made.get(*axis)?,
                TakenEntry::At(entry) => *entry,
                TakenEntry::Each => {
                    (stride, count) = (width, Some(*size));
                    0
                }
                TakenEntry::Step | TakenEntry::Other => return None,
            };
            // An entry that an episode does not have is 0 in its line.
            first += width * Some(entry).filter(|entry| entry < size)?;
            width *= size;
        }
        (values.len() == width).then_some(Self {
            values,
            first,
            stride,
            size: count,
        })
    }

    /// Its only value, if it has one.
    fn only(&self) -> Option<f32> {
        self.size.is_none().then(|| self.values[self.first])
    }

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

/// An array of a machine by its place among all.
fn array(trace: &Trace, part: usize) -> Option<(Array, &Series<f32>)> {
    trace.kind_arrays.arrays().nth(part)
}

/// The entry of a value by its place, along each axis of its array without that of the steps.
fn entries(trace: &Trace, array: Array, mut index: usize) -> Option<Vec<usize>> {
    let mut entries = trace.array_sizes(array)?.to_vec();
    for size in entries.iter_mut().rev() {
        (*size, index) = (index % (*size).max(1), index / (*size).max(1));
    }
    Some(entries)
}

/// The first step in which an array has values.
fn first_step(trace: &Trace, array: Array) -> usize {
    if array.is_of_answer {
        trace.setting.source
    } else {
        0
    }
}

/// The values of an array in the step before, or before its first one; none where it has none there.
pub fn before(trace: &Trace, array: Array, step: usize) -> &[f32] {
    let rows = if step > first_step(trace, array) {
        trace
            .series(Place::Machine, array)
            .map(|own| own.row(step - 1))
    } else {
        start_of(trace, array).map(|own| own.row(0))
    };
    rows.unwrap_or_default()
}

/// What stands before the last point of a name, without the number of a head.
fn kind(array: Array) -> (&'static str, &'static str) {
    let [head, _, name] = of_head(array);
    (head, name.rsplit_once('.').map_or("", |(owner, _)| owner))
}

/// The kind and the number of the head in the name of an array, and the rest of the name.
pub fn of_head(array: Array) -> [&'static str; 3] {
    split_head(array.name).unwrap_or(["", "", array.name])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::analysis::expression::Expression;
    use crate::io::Experiment;
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

    /// Episodes of machine files with heads, components, inner blocks, sources and axes of all kinds.
    fn recordings() -> impl Iterator<Item = Recording> {
        let presets = ["transduce", "caption", "span_coattention", "copy_lstmn"];
        let presets = presets.map(|name| {
            let experiment = Experiment::included(name, &[]).unwrap().unwrap();
            Recording::new(&Model::new(experiment.model, 2), &experiment.task, 3, 0)
        });
        let files = [
            "delta_rule",
            "fast_weights",
            "gated_delta",
            "hopfield",
            "mlstm",
            "tape_reader",
            "titans",
        ];
        let files = files.map(|name| recorded(name, None));
        let stack = include_str!("../../../examples/stack.machine");
        let pointer = include_str!("../../../examples/pointer.machine");
        let own = [("stack.machine", stack), ("pointer.machine", pointer)];
        let own = own.map(|(name, text)| recorded(name, Some(text)));
        presets.into_iter().chain(files).chain(own)
    }

    /// Whether a line is nothing but one sum.
    fn is_sum(line: &str) -> bool {
        let is_one = ["sum[", "dot["].iter().any(|sum| line.starts_with(sum));
        is_one && line.ends_with(')') && line.matches('(').count() == 1
    }

    #[test]
    fn numbers_of_a_line_give_the_recorded_value() {
        let (mut products, mut sums) = (BTreeSet::new(), BTreeSet::new());
        for recording in recordings() {
            let (trace, step) = (&recording.trace, 2);
            for (own, part) in Statement::of_all(trace).iter().flat_map(|own| {
                let parts = 0..own.parts.len();
                parts.map(move |part| (own, part))
            }) {
                let (made, series) = array(trace, own.parts[part]).unwrap();
                if made.reads.is_empty() {
                    continue;
                }
                let right = made.equation.split_once('=').unwrap().1.trim();
                for index in [0, series.width() / 2, series.width() - 1] {
                    let value = series.row(step)[index];
                    let is_near = |found: f32| (found - value).abs() < 1e-4 * value.abs().max(1.0);
                    if let Some((_, factors, size)) = own.sum(trace, step, [part, index]) {
                        let sum: f32 = (0..size).map(|at| product(&factors, at)).sum();
                        assert!(!is_sum(right) || is_near(sum), "{right}: {sum}, {value}");
                        assert!(
                            own.terms(trace, step, [part, index])
                                .unwrap()
                                .contains(" · ")
                        );
                        sums.insert(right);
                    }
                    let entries = entries(trace, made, index).unwrap();
                    let number = |value: f32| format!("({value})");
                    let (line, has_numbers) =
                        right_side(trace, step, (made, &entries), number).unwrap();
                    // Where no name is left, it is an expression of numbers.
                    if has_numbers && !line.contains(char::is_alphabetic) {
                        let line = Expression::parse(&line).unwrap().quantity(trace).unwrap();
                        let found = line.values(&recording, step).unwrap()[0] as f32;
                        assert!(is_near(found), "{right}: {found}, {value}");
                        products.insert(right);
                    }
                }
            }
        }
        assert!(
            products.len() >= 8 && sums.len() >= 6,
            "{products:#?} {sums:#?}"
        );
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
        let line = own.with_numbers(trace, step, entry);
        [line, own.terms(trace, step, entry)]
    }

    #[test]
    fn a_component_may_have_names_of_its_own() {
        let text = "\
machine \"Fading\"
input  x[steps, inputs]
target y[steps, outputs]
size   units = 4 in 1..64

along steps
  u = tanh(linear[units](x))
  g = sigmoid(linear[units](x))
  use slow = fading[cells = units](u, 0.5)
  use own  = fading[cells = units](u, g)
  z = linear[outputs](slow.m, own.m)

component fading
input a[cells]
input share
start m[cells] = 0
along steps
  m = share * m[-1] + (1 - share) * a
";
        let recording = recorded("fading.machine", Some(text));
        let [slow, _] = said(&recording, "slow.m");
        let slow = slow.unwrap();
        assert!(
            slow.starts_with("m[1] = share * ") && slow.contains(" + (1 - share) * "),
            "{slow}"
        );
        assert!(!slow.contains("m[-1]") && !slow.contains("* a"), "{slow}");
        let [own, _] = said(&recording, "own.m");
        let own = own.unwrap();
        assert!(!own.contains("share") && !own.contains("* a"), "{own}");
    }

    #[test]
    fn an_answer_begins_with_its_own_start() {
        let experiment = Experiment::included("transduce", &[]).unwrap().unwrap();
        let text = "\
machine \"Start\"
input  x[source, symbols]
target y[answer, outputs]
size   units = 4 in 1..64
start  h[units] = 0.5
start  s[units] = 0.25

along source
  h = tanh(linear[units](x, h[-1]))
along answer
  s = 1 - s[-1]
  z = linear[outputs](s, h[source: last])
";
        let config = EquationsConfig::of_file("start.machine", text).unwrap();
        let mut config = ModelConfig::from(config);
        let task = experiment.task;
        config.set_channels(task.inputs(), task.outputs());
        let recording = Recording::new(&Model::new(config, 3), &task, 5, 0);
        let trace = &recording.trace;
        let all = Statement::of_all(trace);
        let own = all.iter().find(|own| own.name == "s").unwrap();
        let source = trace.setting.source;
        let line = |step: usize| own.with_numbers(trace, step, [0, 1]);
        assert_eq!(line(source - 1), None);
        assert_eq!(line(source).unwrap(), "s[1] = 1 - 0.25 = 0.75");
        assert_eq!(line(source + 1).unwrap(), "s[1] = 1 - 0.75 = 0.25");
        let entry = own.most_changed(trace, source).unwrap();
        assert_eq!(entry.values, [0.25, 0.75]);
    }

    #[test]
    fn steps_that_a_line_takes_together_keep_their_names() {
        let text = "\
machine \"Steps together\"
input  x[steps, inputs]
target y[steps, outputs]
size   units = 4 in 1..64
size   few   = 3 in 1..64
start  h[units] = 0.5

along steps
  h = tanh(linear[units](x, h[-1]))
  u[few, units] = sigmoid(linear[few, units](h))
once
  d = h - mean[steps](h)
  f = h - h[steps: 0]
  g = h[steps: index[steps] - 1] + h
  m = 2 * u[few: 2]
  e = dot[units](h, h[steps as from])
  z = linear[outputs](d, f, g, m)
";
        let recording = recorded("together.machine", Some(text));
        let line = |name: &str| said(&recording, name)[0].clone().unwrap_or_default();
        assert!(line("d").contains("mean[steps](h)"), "{}", line("d"));
        assert!(line("f").contains("h[steps: 0]"), "{}", line("f"));
        assert!(
            line("g").contains("h[steps: index[steps] - 1] + "),
            "{}",
            line("g")
        );
        assert!(!line("m").contains('u'), "{}", line("m"));
        assert_eq!(said(&recording, "e")[1], None);
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
            !["a[action", "pushed", "S[-1]"]
                .iter()
                .any(|name| memory.contains(name)),
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
            let line = own.with_numbers(&fast.trace, 2, [0, 1]).unwrap_or_default();
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
            assert_eq!(own.with_numbers(&reader.trace, 2, [1, 0]), None);
        }
    }
}
