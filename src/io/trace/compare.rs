//! A trace against what must follow from it, and against another one.
//!
//! Both walk through two recordings in the order of the computation, so that the first difference is the
//! cause, and what comes after it perhaps only the consequence.

use super::Imported;
use crate::model::{HeadTrace, ModelConfig, Role, Trace, recompute};
use crate::train::Recording;

/// What came out of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// How many pairs of values were compared.
    pub values: u64,
    /// How many of them differ by more than the tolerance.
    pub differing: u64,
    /// The largest difference; infinite where only one of two values is finite.
    pub largest: f64,
    /// The first difference, in the order of the computation.
    pub first: Option<Difference>,
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

/// A piece of an array: what one step has of it.
struct Piece<'a> {
    array: String,
    step: Option<usize>,
    /// The first indices of every value.
    place: Vec<usize>,
    /// The sizes of the axes behind them.
    shape: Vec<usize>,
    values: Box<dyn Iterator<Item = f32> + 'a>,
}

/// Recomputes every stage from the recorded parameters of the heads, and compares.
///
/// Values may differ by `tolerance`, those above 1 by this share of them.
pub fn verify(trace: &Imported, tolerance: f64) -> Comparison {
    let again = recompute(&trace.config, &trace.recording.trace);
    let unknown = unknown(trace);
    let mut found = Comparison::default();
    for t in 0..trace.recording.episode.steps() {
        let recorded = stages(trace, &trace.recording.trace, t);
        for (recorded, again) in recorded.into_iter().zip(stages(trace, &again, t)) {
            if !unknown.contains(&recorded.array) {
                found.compare(recorded, again, tolerance);
            }
        }
    }
    found
}

/// The stages that cannot be recomputed, or compared, because something they need is absent.
pub fn unknown(trace: &Imported) -> Vec<String> {
    let is_absent = |name: &str| trace.recording.absent.iter().any(|absent| absent == name);
    let no_memory = is_absent("memory") || is_absent("memory.initial");
    let (mut unknown, mut no_write) = (Vec::new(), no_memory);
    for (head, parts) in heads(&trace.config, &trace.recording.trace) {
        let name = |part: &str| format!("{head}.{part}");
        let mut is_lost = no_memory;
        for (stage, needs) in [
            ("similarity", &["key"][..]),
            ("content", &["strength"]),
            ("gated", &["gate", "initial"]),
            ("shifted", &["shift"]),
            ("weighting", &["sharpening"]),
        ] {
            is_lost |= needs.iter().any(|part| is_absent(&name(part)));
            if is_lost || is_absent(&name(stage)) {
                unknown.push(name(stage));
            }
        }
        match parts.role {
            Role::Read { .. } if no_memory || is_absent(&name("read")) => {
                unknown.push(name("read"));
            }
            Role::Read { .. } => {}
            Role::Write { .. } => no_write |= is_absent(&name("erase")) || is_absent(&name("add")),
        }
    }
    if no_write {
        unknown.push("memory".to_owned());
    }
    unknown
}

/// Compares two traces, the first with the second. `Err`: what keeps them from being compared, a line for
/// each size that is not the same.
///
/// # Errors
/// The shapes differ.
pub fn diff(a: &Imported, b: &Imported, tolerance: f64) -> Result<Comparison, Vec<String>> {
    let differences = sizes(a).into_iter().zip(sizes(b));
    let differences = differences.filter(|((_, a), (_, b))| a != b);
    let lines: Vec<String> = differences
        .map(|((what, a), (_, b))| format!("{what}: {a} and {b}"))
        .collect();
    if !lines.is_empty() {
        return Err(lines);
    }
    let absent: Vec<&String> = [a, b]
        .iter()
        .flat_map(|trace| &trace.recording.absent)
        .collect();
    let mut found = Comparison::default();
    let mut compare = |a: Vec<Piece>, b: Vec<Piece>| {
        for (a, b) in a.into_iter().zip(b) {
            if !absent.contains(&&a.array) {
                found.compare(a, b, tolerance);
            }
        }
    };
    compare(before(a), before(b));
    for t in 0..a.recording.episode.steps() {
        compare(asked(a, t), asked(b, t));
        compare(emitted(a, t), emitted(b, t));
        compare(
            stages(a, &a.recording.trace, t),
            stages(b, &b.recording.trace, t),
        );
        compare(answered(a, t), answered(b, t));
    }
    Ok(found)
}

impl Comparison {
    fn compare(&mut self, a: Piece, b: Piece, tolerance: f64) {
        let (place, shape) = (&a.place, &a.shape);
        for (flat, (first, second)) in a.values.zip(b.values).enumerate() {
            self.values += 1;
            let difference = distance(first, second);
            self.largest = self.largest.max(difference);
            let size = f64::from(first.abs()).max(f64::from(second.abs())).max(1.0);
            if difference == 0.0 || difference <= tolerance * size && difference.is_finite() {
                continue;
            }
            self.differing += 1;
            self.first.get_or_insert_with(|| Difference {
                step: a.step,
                array: a.array.clone(),
                index: index(place, shape, flat),
                first,
                second,
            });
        }
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

/// Everything that fixes the shapes of arrays, in words.
fn sizes(trace: &Imported) -> Vec<(&'static str, String)> {
    let config = &trace.config;
    let heads: Vec<String> = (0..config.heads())
        .map(|head| config.head_name(head))
        .collect();
    vec![
        ("steps", trace.recording.episode.steps().to_string()),
        ("input channels", config.inputs.to_string()),
        ("output channels", config.outputs.to_string()),
        ("memory rows", config.rows.to_string()),
        ("memory columns", config.columns.to_string()),
        ("heads", heads.join(" ")),
        ("shifts", config.offsets().to_string()),
        ("first in a step", format!("{:?}", config.order)),
        (
            "controller",
            format!("{:?}", config.controller.kind).to_lowercase(),
        ),
        ("controller layers", config.controller.layers.to_string()),
        ("controller units", config.controller.size.to_string()),
    ]
}

fn piece(
    array: impl Into<String>,
    t: usize,
    shape: impl Into<Vec<usize>>,
    values: &[f32],
) -> Piece<'_> {
    Piece {
        array: array.into(),
        step: Some(t),
        place: vec![t],
        shape: shape.into(),
        values: Box::new(values.iter().copied()),
    }
}

/// Heads by name.
fn heads<'a>(config: &ModelConfig, trace: &'a Trace) -> Vec<(String, &'a HeadTrace<f32>)> {
    let heads = trace.heads.iter().enumerate();
    heads
        .map(|(index, head)| (config.head_name(index), head))
        .collect()
}

/// What is there before the first step.
fn before(trace: &Imported) -> Vec<Piece<'_>> {
    let mut pieces = vec![memory(trace, &trace.recording.trace, 0, None)];
    for (name, head) in heads(&trace.config, &trace.recording.trace) {
        pieces.push(Piece {
            step: None,
            place: Vec::new(),
            ..piece(
                format!("{name}.initial"),
                0,
                [head.initial.len()],
                &head.initial,
            )
        });
    }
    pieces
}

/// M_t, which step `step` wrote; without values where it is not in the file.
fn memory<'a>(imported: &Imported, trace: &'a Trace, t: usize, step: Option<usize>) -> Piece<'a> {
    let is_recorded = imported
        .memories
        .get(t)
        .is_some_and(|&is_recorded| is_recorded);
    let memory = trace.memory(t);
    let shape = vec![memory.nrows(), memory.ncols()];
    let values = memory.into_iter().copied();
    let values = values.take(if is_recorded { usize::MAX } else { 0 });
    Piece {
        array: "memory".to_owned(),
        step,
        place: vec![t],
        shape,
        values: Box::new(values),
    }
}

fn asked(trace: &Imported, t: usize) -> Vec<Piece<'_>> {
    let Recording { trace, episode, .. } = &trace.recording;
    let target = episode.target.row(t);
    let target = Piece {
        values: Box::new(target.into_iter().copied()),
        ..piece("target", t, [target.len()], &[])
    };
    vec![
        piece("input", t, [trace.input.width()], trace.input.row(t)),
        target,
        piece("mask", t, [], &episode.mask[t..=t]),
    ]
}

/// The controller's state and what the heads emitted.
fn emitted(trace: &Imported, t: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let layers = &trace.recording.trace.layers;
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
    for (name, head) in heads(&trace.config, &trace.recording.trace) {
        let name = |part: &str| format!("{name}.{part}");
        pieces.extend([
            piece(name("key"), t, [head.key.width()], head.key.row(t)),
            piece(name("strength"), t, [], &head.strength[t..=t]),
            piece(name("gate"), t, [], &head.gate[t..=t]),
            piece(name("shift"), t, [head.shift.width()], head.shift.row(t)),
            piece(name("sharpening"), t, [], &head.sharpening[t..=t]),
        ]);
        if let Role::Write { erase, add } = &head.role {
            pieces.extend([
                piece(name("erase"), t, [erase.width()], erase.row(t)),
                piece(name("add"), t, [add.width()], add.row(t)),
            ]);
        }
    }
    pieces
}

/// What follows from what the heads emitted: the stages of every head, the reads, the memory.
fn stages<'a>(imported: &Imported, trace: &'a Trace, t: usize) -> Vec<Piece<'a>> {
    let heads = heads(&imported.config, trace);
    let mut pieces = Vec::new();
    for (name, head) in &heads {
        for (part, series) in [
            ("similarity", &head.similarity),
            ("content", &head.content),
            ("gated", &head.gated),
            ("shifted", &head.shifted),
            ("weighting", &head.weighting),
        ] {
            pieces.push(piece(
                format!("{name}.{part}"),
                t,
                [series.width()],
                series.row(t),
            ));
        }
    }
    for (name, head) in &heads {
        if let Role::Read { read } = &head.role {
            pieces.push(piece(
                format!("{name}.read"),
                t,
                [read.width()],
                read.row(t),
            ));
        }
    }
    pieces.push(memory(imported, trace, t + 1, Some(t)));
    pieces
}

fn answered(trace: &Imported, t: usize) -> Vec<Piece<'_>> {
    let Recording { trace, loss, .. } = &trace.recording;
    vec![
        piece("output", t, [trace.output.width()], trace.output.row(t)),
        piece("loss", t, [], &loss[t..=t]),
    ]
}
