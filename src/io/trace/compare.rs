//! Two traces, value by value, in the order of the computation, so that the first difference is the cause, and
//! what comes after it perhaps only the consequence.

use std::fmt::Display;

use super::format::OF_MACHINES;
use super::imported::{Derivatives, Imported};
use super::machine::declared;
use super::table::width;
use crate::io::error::bounded;
use crate::keys::Choice;
use crate::math::Series;
use crate::model::config::Order;
use crate::model::sam::RECORDED_ROWS;
use crate::model::{Array, Axis, ModelConfig, Place, Trace, Turns, array};
use crate::task::Episode;
use crate::train::Recording;

/// Largest number of characters shown from a file.
const MOST_SAID: usize = 160;
/// The label of the number of random numbers per step.
const NOISE: &str = "noise";
/// The smallest magnitude that a value counts as: a share of 1e-5 of it is the smallest normal number of 32 bits.
pub(super) const LEAST: f64 = f32::MIN_POSITIVE as f64 / 1e-5;

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Number of pairs of values compared.
    pub values: u64,
    /// Number of pairs that differ by more than the tolerance.
    pub differing: u64,
    /// The largest difference; infinite where only one of two values is finite.
    pub largest: f64,
    /// Place of the largest difference, if anything differs at all.
    pub worst: Option<Difference>,
    /// The first difference, in the order of the computation.
    pub first: Option<Difference>,
    /// The largest difference of every step.
    pub steps: Vec<f64>,
    /// Arrays that were not compared, because one of the two does not have them, or in another size.
    pub skipped: Vec<String>,
    /// The sizes that differ, a line for each.
    pub sizes: Vec<String>,
    /// The metadata that differ between the two files, a line for each.
    pub declared: Vec<String>,
    /// The arrays and metadata that only the first or only the second file has.
    pub only: [Vec<String>; 2],
}

/// Two values that are not the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The step in which they were computed; `None` before the first one.
    pub step: Option<usize>,
    /// The array, by its name in the file.
    pub array: String,
    /// The place in that array.
    pub index: Vec<usize>,
    /// The recorded value; that of the first of two traces.
    pub first: f32,
    /// The recomputed value; that of the second of two traces.
    pub second: f32,
}

/// An episode to be compared, with the known facts of it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The episode.
    pub recording: &'a Recording,
    /// The order of events within a step, where it is known.
    pub order: Option<Order>,
    /// True where M_t was recorded, [T+1]; empty where all are to be compared.
    pub memories: &'a [bool],
    /// `memory.initial` as in a file, where it was recorded in addition to M_0.
    pub initial: Option<&'a [f32]>,
}

impl<'a> Side<'a> {
    /// An episode all of whose memories are to be compared, and its machine where that is known.
    pub fn of(recording: &'a Recording, config: Option<&ModelConfig>) -> Self {
        let is_known = recording.conventions.turns == Turns::Together;
        Self {
            recording,
            order: config.filter(|_| is_known).map(|config| config.order()),
            memories: &[],
            initial: None,
        }
    }

    /// True where M_t was recorded.
    pub(super) fn has_memory(&self, t: usize) -> bool {
        let is_recorded = self.memories.get(t).copied();
        is_recorded.unwrap_or(self.memories.is_empty())
    }
}

impl<'a> From<&'a Imported> for Side<'a> {
    fn from(trace: &'a Imported) -> Self {
        Self {
            memories: &trace.memories,
            initial: trace.initial.as_deref(),
            ..Self::of(&trace.recording, Some(&trace.config))
        }
    }
}

/// A piece of an array: the values of one step.
pub(super) struct Piece<'a> {
    pub(super) array: String,
    /// True when the first of its axes is that of the memory rows.
    of_rows: bool,
    /// True when it has all steps: the first of its axes is that of time.
    of_steps: bool,
    step: Option<usize>,
    /// The first indices of every value.
    place: Vec<usize>,
    /// The sizes of the axes behind them.
    shape: Vec<usize>,
    pub(super) values: Box<dyn Iterator<Item = f32> + 'a>,
}

/// Compares two traces of the same shape: their values, and the metadata of episode and machine.
/// `Err`: why they cannot be compared, a line for each size that differs.
///
/// # Errors
/// The shapes differ.
pub fn diff(a: &Imported, b: &Imported, tolerance: f64) -> Result<Comparison, Vec<String>> {
    // Who wrote a file makes no difference.
    let said = a.declared.iter().filter(|(key, _)| key != "generator");
    let there = said.clone().map(|(key, _)| (key, b.says(key).to_owned()));
    let mut declared = unlike(said.map(|(key, said)| (key, said.clone())), there);
    // A trace of sparse access memory shows some of them.
    let rows = |file: &Imported| [("model.memory.rows", file.config.rows().to_string())];
    declared.extend(unlike(rows(a), rows(b)));
    let (files, only) = ((a, b), [a.only(b), b.only(a)]);
    let gradients = a.gradient.as_ref().zip(b.gradient.as_ref());
    let (a, b) = (Side::from(a), Side::from(b));
    let lines = unlike(sizes(a), sizes(b));
    if !lines.is_empty() {
        return Err(with_heads(lines, files.0, &files.1.config));
    }
    let mut found = Comparison {
        declared,
        only,
        ..compare(a, b, tolerance)?
    };
    if let Some(((_, a), (_, b))) = gradients {
        found.gradient(a, b, tolerance);
    }
    Ok(found)
}

impl Imported {
    /// Returns the arrays and metadata that only this file has.
    fn only(&self, other: &Self) -> Vec<String> {
        let names = |file: &Self| -> Vec<String> {
            let said = file.declared.iter().filter(|(_, said)| !said.is_empty());
            let said = said.map(|(key, _)| key.clone());
            let derivatives = file.gradient.iter().flat_map(|(_, all)| all);
            let derivatives = derivatives.map(|(array, _)| array.name.clone());
            let ignored = file.ignored.iter().cloned();
            said.chain(ignored).chain(derivatives).collect()
        };
        let (others, absent) = (names(other), &self.recording.absent);
        let lacks = other.recording.absent.iter();
        let lacks = lacks.filter(|name| !absent.contains(name)).cloned();
        let own = names(self).into_iter();
        own.filter(|name| !others.contains(name))
            .chain(lacks)
            .collect()
    }
}

/// Compares the common parts of two episodes: the steps, the memory rows, and the arrays of the same size in both.
/// `Err`: see [`obstacles`].
///
/// # Errors
/// The two are of different tasks: nothing in them corresponds.
pub fn compare(a: Side<'_>, b: Side<'_>, tolerance: f64) -> Result<Comparison, Vec<String>> {
    let lines = obstacles(a.recording, b.recording);
    if !lines.is_empty() {
        return Err(lines);
    }
    let mut found = Comparison {
        sizes: unlike(sizes(a), sizes(b)),
        skipped: [a, b].map(|side| side.recording.absent.clone()).concat(),
        ..Comparison::default()
    };
    if let (Some(_), Some(_)) = (a.initial, b.initial) {
        found.pairs(initial(a), initial(b), tolerance);
    }
    found.pairs(before(a), before(b), tolerance);
    let steps = |side: Side<'_>| side.recording.episode.steps();
    let [of_a, of_b] = [a, b].map(|side| side.recording.trace.of_steps());
    for t in 0..steps(a).min(steps(b)) {
        found.steps.push(0.0);
        found.pairs(of_a_step(a, &of_a, t), of_a_step(b, &of_b, t), tolerance);
    }
    found.skipped.sort();
    found.skipped.dedup();
    Ok(found)
}

/// Names of arrays; of a head with many, its name and their number.
fn grouped(arrays: &[String]) -> Vec<String> {
    let head = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let groups = arrays.chunk_by(|a, b| head(a) == head(b));
    groups
        .flat_map(|group| match group {
            [first, _, _, _, ..] => vec![format!("{} ({} arrays)", head(first), group.len())],
            few => few.to_vec(),
        })
        .collect()
}

/// Returns the sizes that prevent a comparison of two episodes, a line for each.
pub fn obstacles(a: &Recording, b: &Recording) -> Vec<String> {
    let channels = |recording: &Recording| widths(&recording.trace).into_iter().take(2);
    unlike(channels(a), channels(b))
}

pub(super) fn unlike<K: Display>(
    a: impl IntoIterator<Item = (K, String)>,
    b: impl IntoIterator<Item = (K, String)>,
) -> Vec<String> {
    let pairs = a.into_iter().zip(b);
    pairs
        .filter(|((_, a), (_, b))| a != b && !a.is_empty() && !b.is_empty())
        .map(|((what, a), (_, b))| {
            let [a, b] = [a, b].map(|said| bounded(&said, MOST_SAID));
            format!("{what}: {a} and {b}")
        })
        .collect()
}

/// Returns the sizes that differ between the traces of two machines, with the differing attention that makes their
/// noise differ in size.
pub(super) fn with_heads(mut lines: Vec<String>, a: &Imported, b: &ModelConfig) -> Vec<String> {
    let is_it = |key: &str| key.starts_with("model.heads.attention.") || OF_MACHINES.contains(&key);
    let b: Vec<_> = declared(b).filter(|(key, _)| is_it(key)).collect();
    let said = |(key, _): &(String, String)| (key.clone(), a.says(key).to_owned());
    let heads = unlike(b.iter().map(said).collect::<Vec<_>>(), b);
    lines.retain(|line| heads.is_empty() || !line.starts_with(NOISE));
    lines.extend(heads);
    lines
}

impl Comparison {
    /// Compares the pieces that both have.
    fn pairs<'a>(
        &mut self,
        a: impl IntoIterator<Item = Piece<'a>>,
        b: impl IntoIterator<Item = Piece<'a>>,
        tolerance: f64,
    ) {
        let mut b = Vec::from_iter(b);
        for a in a {
            let Some(index) = b.iter().position(|b| b.array == a.array) else {
                self.skip(a.array);
                continue;
            };
            let b = b.remove(index);
            let rows = a.of_rows && b.of_rows;
            let same = a.shape == b.shape || rows && a.shape[1..] == b.shape[1..];
            if !same {
                self.skip(a.array);
            } else if !self.skipped.contains(&a.array) {
                match a.step {
                    Some(_) => drop(self.walk(a, b.values, |_, size| tolerance * size.max(1.0))),
                    // Learned constants, and the state before the first step.
                    None => self.by_largest(a, b, tolerance),
                }
            }
        }
        for b in b {
            self.skip(b.array);
        }
    }

    /// Compares derivatives, array by array, as far as both have them.
    pub(super) fn gradient(&mut self, a: &Derivatives, b: &Derivatives, tolerance: f64) {
        self.pairs(of_gradient(a), of_gradient(b), tolerance);
    }

    /// Compares two pieces whose values may differ by a share of the largest of them, or of those of their step.
    fn by_largest(&mut self, mut a: Piece, b: Piece, tolerance: f64) {
        let width: usize = a.shape[usize::from(a.of_steps)..].iter().product();
        let [first, second] = [a.values, b.values].map(Vec::from_iter);
        let largest = |(a, b): (&[f32], &[f32])| {
            let sizes = a.iter().chain(b).map(|value| f64::from(value.abs()));
            sizes.filter(|size| size.is_finite()).fold(LEAST, f64::max)
        };
        let steps = first.chunks(width).zip(second.chunks(width));
        let largest: Vec<f64> = steps.map(largest).collect();
        a.values = Box::new(first.into_iter());
        self.walk(a, second, |flat, _| tolerance * largest[flat / width]);
    }

    /// Returns the parts that were not compared, a line for each reason.
    pub fn not_compared(&self) -> Vec<String> {
        let sizes = self.sizes.join("; ");
        let arrays = grouped(&self.skipped).join(", ");
        let lines = [
            (
                &sizes,
                format!("Sizes differ: {sizes}. Only the common part is compared."),
            ),
            (&arrays, format!("Not compared: {arrays}.")),
        ];
        let lines = lines.into_iter().filter(|(parts, _)| !parts.is_empty());
        lines.map(|(_, line)| line).collect()
    }

    fn skip(&mut self, array: String) {
        if !self.skipped.contains(&array) {
            self.skipped.push(array);
        }
    }

    /// Compares a piece with the values `b`; `allowed` returns the tolerance of value `flat` from the larger of the two
    /// sizes. Returns the number of values that are NaN in both.
    pub(super) fn walk(
        &mut self,
        a: Piece,
        b: impl IntoIterator<Item = f32>,
        allowed: impl Fn(usize, f64) -> f64,
    ) -> u64 {
        let mut neither = 0;
        let (place, shape) = (&a.place, &a.shape);
        let here = |flat, first, second| Difference {
            step: a.step,
            array: a.array.clone(),
            index: index(place, shape, flat),
            first,
            second,
        };
        for (flat, (first, second)) in a.values.zip(b).enumerate() {
            self.values += 1;
            neither += u64::from(first.is_nan() && second.is_nan());
            let difference = distance(first, second);
            if difference == 0.0 {
                continue;
            }
            if difference > self.largest {
                self.largest = difference;
                self.worst = Some(here(flat, first, second));
            }
            if let (Some(_), Some(most)) = (a.step, self.steps.last_mut()) {
                *most = most.max(difference);
            }
            let size = f64::from(first.abs()).max(f64::from(second.abs()));
            if difference <= allowed(flat, size) && difference.is_finite() {
                continue;
            }
            self.differing += 1;
            self.first.get_or_insert_with(|| here(flat, first, second));
        }
        neither
    }
}

/// Returns gradients as a file has them.
fn of_gradient(all: &Derivatives) -> impl Iterator<Item = Piece<'_>> {
    all.iter().map(|(array, values)| Piece {
        // They grow or vanish over the steps.
        of_steps: array.spec.is_of_steps(),
        step: None,
        place: Vec::new(),
        ..piece(array.name.clone(), 0, array.shape.clone(), values)
    })
}

/// Distance of two values: 0 for equal ones, also for NaN and NaN; infinite where only one is finite.
fn distance(a: f32, b: f32) -> f64 {
    let same = a == b || a.is_nan() && b.is_nan();
    if same {
        0.0
    } else if a.is_finite() && b.is_finite() {
        (f64::from(a) - f64::from(b)).abs()
    } else {
        f64::INFINITY
    }
}

/// The place of value `flat` behind `place` on axes of these sizes.
fn index(place: &[usize], shape: &[usize], flat: usize) -> Vec<usize> {
    let mut index = place.to_vec();
    for (axis, size) in shape.iter().enumerate() {
        let behind: usize = shape[axis + 1..].iter().product();
        index.push(flat / behind % size);
    }
    index
}

/// Everything of a machine that fixes the shapes of arrays, in words.
pub(super) fn widths(trace: &Trace) -> Vec<(&'static str, String)> {
    let heads: Vec<String> = (0..trace.heads.len())
        .map(|head| trace.head_name(head))
        .collect();
    let width = |axis| width(trace, axis).to_string();
    let meaning = |axis| Axis::named(axis).map_or("", |known| known.meaning);
    let named = |axis| (meaning(axis), width(axis));
    let is_part = trace.series(Place::Machine, RECORDED_ROWS).is_some();
    let rows = [meaning("n"), "recorded rows"][usize::from(is_part)];
    let kind = match trace.layers.first() {
        Some(layer) if layer.cell.width() > 0 => "lstm",
        _ => "feedforward",
    };
    let drawn: usize = trace.noise().map(|(.., series)| series.width()).sum();
    let none = if heads.is_empty() { "none" } else { "" };
    vec![
        named("x"),
        named("y"),
        (rows, width("n")),
        named("m"),
        ("heads", heads.join(" ") + none),
        named("s"),
        ("controller", kind.to_owned()),
        (meaning("l"), trace.layers.len().to_string()),
        named("c"),
        (NOISE, drawn.to_string()),
    ]
}

/// Everything that is not of one size in two episodes that could be.
fn sizes(side: Side<'_>) -> impl Iterator<Item = (&'static str, String)> {
    let order = side.order.map(|order| order.word().to_owned());
    let order = ("first in a step", order.unwrap_or_default());
    let steps = ("steps", side.recording.episode.steps().to_string());
    [steps, order]
        .into_iter()
        .chain(widths(&side.recording.trace))
}

pub(super) fn piece<'a>(
    array: impl Into<String>,
    t: usize,
    shape: impl Into<Vec<usize>>,
    values: impl IntoIterator<Item = &'a f32, IntoIter: 'a>,
) -> Piece<'a> {
    Piece {
        array: array.into(),
        of_rows: false,
        of_steps: false,
        step: Some(t),
        place: vec![t],
        shape: shape.into(),
        values: Box::new(values.into_iter().copied()),
    }
}

/// An array of the machine: its place and its values.
pub(super) type OfSteps<'a> = (Place, Array, &'a Series<f32>);

/// Returns the part of an array of the machine in one step.
pub(super) fn of_step<'a>(
    trace: &Trace,
    (place, spec, series): OfSteps<'a>,
    t: usize,
) -> Piece<'a> {
    let is_vector = spec.dims != ["t"];
    let shape = Vec::from_iter(is_vector.then_some(series.width()));
    let values = series.row(spec.row(t));
    let mut piece = piece(trace.array_name(place, spec), t, shape, values);
    piece.of_rows = spec.dims.contains(&"n");
    match place {
        Place::Layer(layer) if trace.layers.len() > 1 => piece.place.push(layer),
        _ => {}
    }
    piece
}

/// Returns the initial state, before the first step.
pub(super) fn before(side: Side<'_>) -> impl Iterator<Item = Piece<'_>> {
    let trace = &side.recording.trace;
    let once = trace.everything().filter(|(_, spec, series)| {
        spec.is_in_files() && !spec.is_of_steps() && series.width() > 0
    });
    let once = once.map(|array| Piece {
        step: None,
        place: Vec::new(),
        ..of_step(trace, array, 0)
    });
    memory(side, trace, 0, None).into_iter().chain(once)
}

/// `memory.initial`.
pub(super) fn initial(side: Side<'_>) -> Option<Piece<'_>> {
    let mut piece = Piece {
        array: "memory.initial".to_owned(),
        place: Vec::new(),
        ..memory(side, &side.recording.trace, 0, None)?
    };
    if let Some(initial) = side.initial {
        piece.values = Box::new(initial.iter().copied());
    }
    Some(piece)
}

/// Returns M_t, written by step `step`; without values where it is not in the file, `None` where it does not exist.
pub(super) fn memory<'a>(
    side: Side<'a>,
    trace: &'a Trace,
    t: usize,
    step: Option<usize>,
) -> Option<Piece<'a>> {
    if trace.memory_columns.width() == 0 {
        return None;
    }
    let memory = trace.memory(t);
    let values = memory.into_iter();
    let values = values.take(if side.has_memory(t) { usize::MAX } else { 0 });
    Some(Piece {
        of_rows: true,
        step,
        ..piece("memory", t, memory.shape(), values)
    })
}

/// Returns the input and target of an episode, before any machine sees them.
pub(super) fn asked(episode: &Episode, t: usize) -> [Piece<'_>; 3] {
    let (input, target) = (episode.input.row(t), episode.target.row(t));
    [
        piece("input", t, input.shape(), input),
        piece("target", t, target.shape(), target),
        piece("mask", t, [], &episode.mask[t..=t]),
    ]
}

/// Returns the input and target of a step, the computed arrays in order of computation, and the loss.
fn of_a_step<'a>(side: Side<'a>, arrays: &[OfSteps<'a>], t: usize) -> Vec<Piece<'a>> {
    let Recording { trace, loss, .. } = side.recording;
    let mut pieces = Vec::from(asked(&side.recording.episode, t));
    for &array in arrays {
        match array.1 {
            array::INPUT => {}
            array::MEMORY => pieces.extend(memory(side, trace, t + 1, Some(t))),
            _ => pieces.push(of_step(trace, array, t)),
        }
    }
    pieces.push(piece("loss", t, [], &loss[t..=t]));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_parts_are_named_by_head() {
        let arrays = [
            "memory",
            "read0.add",
            "read0.erase",
            "read0.gate",
            "read0.key",
        ];
        let found = Comparison {
            sizes: vec!["steps: 5 and 7".to_owned()],
            skipped: arrays.map(str::to_owned).to_vec(),
            ..Comparison::default()
        };
        let lines = [
            "Sizes differ: steps: 5 and 7. Only the common part is compared.",
            "Not compared: memory, read0 (4 arrays).",
        ];
        assert_eq!(found.not_compared(), lines);
        assert!(Comparison::default().not_compared().is_empty());
    }
}
