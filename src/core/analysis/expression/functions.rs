//! The functions of expressions, and what they take and return.

use std::f64::consts::LN_2;

use crate::model::peak;
use crate::train::{Recording, entropy, is_absent};

/// The change of a memory value above which a write counts.
pub const WRITE_TOLERANCE: f32 = 0.05;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Number,
    /// The values of an array in a step.
    Array {
        /// The number of entries, where every episode has the same.
        entries: Option<usize>,
        /// Values of an entry: 1, or those of a memory row or of a layer.
        size: usize,
    },
    /// True or false.
    Condition,
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries = match *self {
            Self::Array {
                entries: Some(entries),
                size: 1,
            } => format!(" of {entries}"),
            Self::Array {
                entries: Some(entries),
                size,
            } => format!(" of {entries} × {size}"),
            _ => String::new(),
        };
        write!(f, "{}{entries}", self.kind())
    }
}

impl Type {
    /// The number of entries of an array, where every episode has the same.
    pub(super) fn entries(self) -> Option<usize> {
        match self {
            Self::Array { entries, .. } => entries,
            _ => None,
        }
    }

    /// The type without its size.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Array { .. } => "an array",
            Self::Condition => "a condition",
        }
    }
}

/// A function of the language.
#[derive(Debug)]
pub struct Function {
    /// The name.
    pub name: &'static str,
    /// The argument: `x` of any type, `a` an array, `row i` a memory row; empty without one.
    pub argument: &'static str,
    /// The type of the result.
    pub result: Type,
    /// The result in words.
    pub about: &'static str,
    pub(super) meaning: Meaning,
}

impl Function {
    /// The function with its argument.
    pub fn call(&self) -> String {
        match self.argument {
            "" => self.name.to_owned(),
            argument => format!("{}({argument})", self.name),
        }
    }
}

/// How a function is computed. A condition is 1 or 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// From the step alone.
    Step(fn(&Recording, usize) -> f64),
    /// From the values of an array, at least one.
    Array(fn(&[f64]) -> f64),
    /// Whether a value differs from that of the step before.
    Changes,
    /// Whether a memory row is written.
    Writes,
}

use Meaning::{Array, Changes, Step, Writes};
use Type::{Condition, Number};

/// Every function.
#[rustfmt::skip] // A row for each.
pub static FUNCTIONS: [Function; 13] = [
    Function { name: "entropy", argument: "a", result: Number, about: "entropy in bits, −Σ a·log2(a): 0 with all weight on one entry", meaning: Array(|a| entropy(a.iter().copied()) / LN_2) },
    Function { name: "argmax", argument: "a", result: Number, about: "index of the largest value, from 0; the first of equals", meaning: Array(argmax) },
    Function { name: "max", argument: "a", result: Number, about: "largest value", meaning: Array(|a| a.iter().copied().fold(f64::NEG_INFINITY, f64::max)) },
    Function { name: "min", argument: "a", result: Number, about: "smallest value", meaning: Array(|a| a.iter().copied().fold(f64::INFINITY, f64::min)) },
    Function { name: "sum", argument: "a", result: Number, about: "sum of the values", meaning: Array(|a| a.iter().sum()) },
    Function { name: "mean", argument: "a", result: Number, about: "mean of the values", meaning: Array(|a| a.iter().sum::<f64>() / a.len() as f64) },
    Function { name: "norm", argument: "a", result: Number, about: "Euclidean norm, the root of the sum of squares", meaning: Array(|a| a.iter().map(|a| a * a).sum::<f64>().sqrt()) },
    Function { name: "changes", argument: "x", result: Condition, about: "x differs from its value in the step before; false in the first step", meaning: Changes },
    Function { name: "writes", argument: "row i", result: Condition, about: "a write head has its largest weight on memory row i, and a value of the row changes by more than 0.05", meaning: Writes },
    Function { name: "wrong", argument: "", result: Number, about: "number of wrong bits of the answer, or of wrong symbols; as a condition, true if there is one", meaning: Step(|recording, step| recording.wrong_bits(step) as f64) },
    Function { name: "answer", argument: "", result: Condition, about: "the output of the step is scored", meaning: Step(|recording, step| f64::from(u8::from(recording.episode.is_scored(step)))) },
    Function { name: "step", argument: "", result: Number, about: "index of the step, from 0", meaning: Step(|_, step| step as f64) },
    Function { name: "phase_step", argument: "", result: Number, about: "index of the step in its phase (input, delimiter, answer, …), from 0", meaning: Step(phase_step) },
];

fn argmax(values: &[f64]) -> f64 {
    let better = |most: usize, next: usize| {
        if values[next] > values[most] {
            next
        } else {
            most
        }
    };
    let known = (0..values.len()).filter(|index| !values[*index].is_nan());
    known.reduce(better).map_or(f64::NAN, |index| index as f64)
}

fn phase_step(recording: &Recording, step: usize) -> f64 {
    let starts = recording.episode.phases.iter().map(|phase| phase.start);
    let start = starts.filter(|start| *start <= step).max();
    (step - start.unwrap_or(0)) as f64
}

/// True where a write head has its largest weight on a memory row and the row changes; `None` without such a row, and
/// where it was not recorded.
pub(super) fn writes(recording: &Recording, step: usize, row: usize) -> Option<bool> {
    let trace = &recording.trace;
    let [before, after] = [step, step + 1].map(|step| trace.memory(step));
    if row >= before.nrows() {
        return None;
    }
    let (before, after) = (before.row(row), after.row(row));
    let is_on = |weighting: &[f32]| peak(weighting).is_some_and(|(peak, _)| peak == row);
    let mut heads = trace.heads.iter();
    let is_written = heads.any(|head| head.is_write() && is_on(head.weighting.row(step)));
    let mut pairs = before.iter().zip(after);
    let changes = pairs.any(|(before, after)| (after - before).abs() > WRITE_TOLERANCE);
    let is_known = !before.iter().chain(after).copied().any(is_absent);
    is_known.then_some(is_written && changes)
}
