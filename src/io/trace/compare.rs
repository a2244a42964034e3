//! Two traces, value by value, in the order of the computation, so that the first difference is the cause, and
//! what comes after it perhaps only the consequence.

use super::Imported;
use crate::io::error::bounded;
use crate::model::config::Order;
use crate::model::{HeadTrace, ModelConfig, Place, Trace, Turns};
use crate::task::Episode;
use crate::train::Recording;

/// The most characters that are shown of what a file says.
const MOST_SAID: usize = 160;

/// What came out of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// How many pairs of values were compared.
    pub values: u64,
    /// How many of them differ by more than the tolerance.
    pub differing: u64,
    /// The largest difference; infinite where only one of two values is finite.
    pub largest: f64,
    /// Where that is, if anything differs at all.
    pub worst: Option<Difference>,
    /// The first difference, in the order of the computation.
    pub first: Option<Difference>,
    /// The largest difference of every step.
    pub steps: Vec<f64>,
    /// Arrays that were not compared, because one of the two does not have them, or in another size.
    pub skipped: Vec<String>,
    /// What is not of one size, a line for each.
    pub sizes: Vec<String>,
    /// What the two files say differently, a line for each.
    pub declared: Vec<String>,
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

/// An episode to be compared, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The episode.
    pub recording: &'a Recording,
    /// The order of events within a step, where it is known.
    pub order: Option<Order>,
    /// Whether M_t was recorded, [T+1]; empty where all are to be compared.
    pub memories: &'a [bool],
    /// `memory.initial`, where it was recorded beside M_0.
    pub initial: Option<&'a [f32]>,
}

impl<'a> Side<'a> {
    /// An episode all of whose memories are to be compared, and its machine where that is known.
    pub fn of(recording: &'a Recording, config: Option<&ModelConfig>) -> Self {
        let is_known = recording.conventions.turns == Turns::Together;
        Self {
            recording,
            order: config.filter(|_| is_known).map(ModelConfig::order),
            memories: &[],
            initial: None,
        }
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

/// A piece of an array: what one step has of it.
pub(super) struct Piece<'a> {
    pub(super) array: String,
    /// True when the first of its axes is that of the memory rows.
    of_rows: bool,
    step: Option<usize>,
    /// The first indices of every value.
    place: Vec<usize>,
    /// The sizes of the axes behind them.
    shape: Vec<usize>,
    pub(super) values: Box<dyn Iterator<Item = f32> + 'a>,
}

/// Compares two traces of one shape, the first with the second: their values, and what the files say of episode
/// and machine. `Err`: what keeps them from being compared, a line for each size that is not the same.
///
/// # Errors
/// The shapes differ.
pub fn diff(a: &Imported, b: &Imported, tolerance: f64) -> Result<Comparison, Vec<String>> {
    let declared = unlike(a.declared.iter().cloned(), b.declared.iter().cloned());
    let (a, b) = (Side::from(a), Side::from(b));
    let lines = unlike(sizes(a), sizes(b));
    if !lines.is_empty() {
        return Err(lines);
    }
    Ok(Comparison {
        declared,
        ..compare(a, b, tolerance)?
    })
}

/// Compares what two episodes have in common: the steps both have, the memory rows both have, and of the
/// arrays those that both have in one size. `Err`: see [`obstacles`].
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
    for t in 0..steps(a).min(steps(b)) {
        found.steps.push(0.0);
        let parts: [fn(Side<'_>, usize) -> Vec<Piece<'_>>; 4] = [
            |side, t| asked(&side.recording.episode, t),
            emitted,
            followed,
            answered,
        ];
        for part in parts {
            found.pairs(part(a, t), part(b, t), tolerance);
        }
    }
    found.skipped.sort();
    found.skipped.dedup();
    Ok(found)
}

/// What keeps two episodes from being compared at all, a line for each size that is not the same.
pub fn obstacles(a: &Recording, b: &Recording) -> Vec<String> {
    unlike(channels(a), channels(b))
}

pub(super) fn unlike(
    a: impl IntoIterator<Item = (&'static str, String)>,
    b: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<String> {
    let pairs = a.into_iter().zip(b);
    pairs
        // What is not known of one of them is no difference.
        .filter(|((_, a), (_, b))| a != b && !a.is_empty() && !b.is_empty())
        .map(|((what, a), (_, b))| {
            let [a, b] = [a, b].map(|said| bounded(&said, MOST_SAID));
            format!("{what}: {a} and {b}")
        })
        .collect()
}

impl Comparison {
    /// Compares the pieces that both have.
    fn pairs(&mut self, a: Vec<Piece>, mut b: Vec<Piece>, tolerance: f64) {
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
                self.compare(a, b, tolerance);
            }
        }
        for b in b {
            self.skip(b.array);
        }
    }

    fn skip(&mut self, array: String) {
        if !self.skipped.contains(&array) {
            self.skipped.push(array);
        }
    }

    fn compare(&mut self, a: Piece, b: Piece, tolerance: f64) {
        self.walk(a, b, |_, size| tolerance * size.max(1.0));
    }

    /// Compares two pieces; `allowed` says how much value `flat` may differ, the larger of the two being of a
    /// size. Returns how many are NaN in both.
    pub(super) fn walk(&mut self, a: Piece, b: Piece, allowed: impl Fn(usize, f64) -> f64) -> u64 {
        let mut neither = 0;
        let (place, shape) = (&a.place, &a.shape);
        let here = |flat, first, second| Difference {
            step: a.step,
            array: a.array.clone(),
            index: index(place, shape, flat),
            first,
            second,
        };
        for (flat, (first, second)) in a.values.zip(b.values).enumerate() {
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

/// 0 of what is the same, also of NaN and NaN; infinite where only one is finite.
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
fn index(place: &[usize], shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut behind: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let at = flat % size;
            flat /= size;
            at
        })
        .collect();
    behind.extend(place.iter().rev());
    behind.reverse();
    behind
}

/// What a task fixes.
fn channels(recording: &Recording) -> [(&'static str, String); 2] {
    let trace = &recording.trace;
    [
        ("input channels", trace.input.width().to_string()),
        ("output channels", trace.output.width().to_string()),
    ]
}

/// Everything that fixes the shapes of arrays, in words.
fn sizes(side: Side<'_>) -> Vec<(&'static str, String)> {
    let trace = &side.recording.trace;
    let (head, layer) = (trace.heads.first(), trace.layers.first());
    let names: Vec<String> = heads(trace).into_iter().map(|(name, _)| name).collect();
    let of_head = |count: fn(&HeadTrace) -> usize| head.map_or(0, count).to_string();
    let kind = match layer {
        Some(layer) if layer.cell.width() > 0 => "lstm",
        _ => "feedforward",
    };
    let order = side.order.map(|order| format!("{order:?}"));
    let mut sizes = vec![("steps", side.recording.episode.steps().to_string())];
    sizes.extend(channels(side.recording));
    sizes.extend([
        ("memory rows", of_head(|head| head.initial.width())),
        ("memory columns", of_head(|head| head.key.width())),
        (
            "heads",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(" ")
            },
        ),
        ("shifts", of_head(|head| head.shift.width())),
        ("first in a step", order.unwrap_or_default()),
        ("controller", kind.to_owned()),
        ("controller layers", trace.layers.len().to_string()),
        (
            "controller units",
            layer.map_or(0, |layer| layer.hidden.width()).to_string(),
        ),
    ]);
    sizes
}

pub(super) fn piece(
    array: impl Into<String>,
    t: usize,
    shape: impl Into<Vec<usize>>,
    values: &[f32],
) -> Piece<'_> {
    Piece {
        array: array.into(),
        of_rows: false,
        step: Some(t),
        place: vec![t],
        shape: shape.into(),
        values: Box::new(values.iter().copied()),
    }
}

/// Heads by name.
pub(super) fn heads(trace: &Trace) -> Vec<(String, &HeadTrace<f32>)> {
    let heads = trace.heads.iter().enumerate();
    heads
        .map(|(index, head)| (trace.head_name(index), head))
        .collect()
}

/// What is there before the first step.
fn before(side: Side<'_>) -> Vec<Piece<'_>> {
    let trace = &side.recording.trace;
    let mut pieces = memory(side, trace, 0, None);
    for (name, head) in heads(trace) {
        pieces.push(Piece {
            of_rows: true,
            step: None,
            place: Vec::new(),
            ..piece(
                format!("{name}.initial"),
                0,
                [head.initial.width()],
                head.initial.row(0),
            )
        });
    }
    pieces
}

/// `memory.initial`.
pub(super) fn initial(side: Side<'_>) -> Vec<Piece<'_>> {
    let mut pieces = memory(side, &side.recording.trace, 0, None);
    for piece in &mut pieces {
        "memory.initial".clone_into(&mut piece.array);
        piece.place.clear();
        let (rows, columns) = (piece.shape[0], piece.shape[1]);
        if let Some(initial) = side.initial {
            let at = move |flat| initial[flat % columns * rows + flat / columns];
            piece.values = Box::new((0..rows * columns).map(at));
        }
    }
    pieces
}

/// M_t, which step `step` wrote; without values where it is not in the file, nothing where there is none.
pub(super) fn memory<'a>(
    side: Side<'a>,
    trace: &'a Trace,
    t: usize,
    step: Option<usize>,
) -> Vec<Piece<'a>> {
    if trace.memory_columns.width() == 0 {
        return Vec::new();
    }
    let is_recorded = side.memories.get(t).copied();
    let is_recorded = is_recorded.unwrap_or(side.memories.is_empty());
    let memory = trace.memory(t);
    let shape = vec![memory.nrows(), memory.ncols()];
    let values = memory.into_iter().copied();
    let values = values.take(if is_recorded { usize::MAX } else { 0 });
    vec![Piece {
        array: "memory".to_owned(),
        of_rows: true,
        step,
        place: vec![t],
        shape,
        values: Box::new(values),
    }]
}

/// What an episode was before any machine saw it.
pub(super) fn asked(episode: &Episode, t: usize) -> Vec<Piece<'_>> {
    let rows = [("input", &episode.input), ("target", &episode.target)];
    let mut pieces: Vec<_> = rows
        .into_iter()
        .map(|(name, rows)| Piece {
            values: Box::new(rows.row(t).into_iter().copied()),
            ..piece(name, t, [rows.ncols()], &[])
        })
        .collect();
    pieces.push(piece("mask", t, [], &episode.mask[t..=t]));
    pieces
}

/// The controller's state and what the heads emitted.
fn emitted(side: Side<'_>, t: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let trace = &side.recording.trace;
    let layers = &trace.layers;
    for (index, layer) in layers.iter().enumerate() {
        for (name, series) in [("cell", &layer.cell), ("hidden", &layer.hidden)] {
            if series.width() == 0 {
                continue;
            }
            let mut piece = piece(
                format!("controller.{name}"),
                t,
                [series.width()],
                series.row(t),
            );
            if layers.len() > 1 {
                piece.place.push(index);
            }
            pieces.push(piece);
        }
    }
    for (name, head) in heads(trace) {
        let name = |part: &str| format!("{name}.{part}");
        pieces.extend([
            piece(name("key"), t, [head.key.width()], head.key.row(t)),
            piece(name("strength"), t, [], head.strength.row(t)),
            piece(name("gate"), t, [], head.gate.row(t)),
            piece(name("shift"), t, [head.shift.width()], head.shift.row(t)),
            piece(name("sharpening"), t, [], head.sharpening.row(t)),
        ]);
        for (part, series) in [("erase", &head.erase), ("add", &head.add)] {
            if series.width() > 0 {
                pieces.push(piece(name(part), t, [series.width()], series.row(t)));
            }
        }
    }
    pieces
}

/// A step of a series of a trace, if there is one.
pub(super) fn part<'a>(trace: &'a Trace, place: Place, array: &str, t: usize) -> Option<Piece<'a>> {
    let series = trace.series(place, array)?;
    let name = match place {
        Place::Head(head) => format!("{}.{array}", trace.head_name(head)),
        Place::Machine | Place::Layer(_) => array.to_owned(),
    };
    Some(Piece {
        of_rows: array != "read",
        ..piece(name, t, [series.width()], series.row(t))
    })
}

/// What follows from what the heads emitted: the stages of every head, the reads, the memory.
fn stages<'a>(side: Side<'a>, trace: &'a Trace, t: usize) -> Vec<Piece<'a>> {
    const STAGES: [&str; 5] = ["similarity", "content", "gated", "shifted", "weighting"];
    let heads = || (0..trace.heads.len()).map(Place::Head);
    let of = |place, array| part(trace, place, array, t);
    let stages = heads().flat_map(|place| STAGES.map(|array| of(place, array)));
    let reads = heads().map(|place| of(place, "read"));
    let memory = memory(side, trace, t + 1, Some(t));
    stages.chain(reads).flatten().chain(memory).collect()
}

/// The same of the recording itself.
fn followed(side: Side<'_>, t: usize) -> Vec<Piece<'_>> {
    stages(side, &side.recording.trace, t)
}

fn answered(side: Side<'_>, t: usize) -> Vec<Piece<'_>> {
    let Recording { trace, loss, .. } = side.recording;
    vec![
        piece("logit", t, [trace.logit.width()], trace.logit.row(t)),
        piece("output", t, [trace.output.width()], trace.output.row(t)),
        piece("loss", t, [], &loss[t..=t]),
    ]
}
