//! The weightings of the addressing as columns: a number for every row of the memory.

use crate::figure::facts::in_step::InStep;
use crate::figure::facts::measure::{Measure, derived};
use crate::figure::facts::numbers;
use crate::figure::facts::stage::Stage;
use crate::math::Series;
use crate::model::{Array, HeadTrace, array};

/// A weighting of the addressing, or the match that it begins with: a number for every row of the memory.
#[derive(Debug)]
pub struct Column {
    /// Symbol in the equations.
    pub symbol: &'static str,
    /// Name in one word.
    pub word: &'static str,
    /// The word where a column is narrow, if the other is long.
    pub(super) short: &'static str,
    /// Its array.
    pub array: Array,
    /// The stage that computes it.
    pub stage: Stage,
    /// The kind of its values.
    pub values: ValueKind,
    /// The number of the equation in the paper, or another source.
    pub source: &'static str,
    /// The head parameter of the column, if it has one.
    pub(super) emits: Option<&'static Measure>,
    /// True if a head has this column.
    pub(super) has: fn(&HeadTrace) -> bool,
    /// The equation by which a head computes it.
    pub equation: fn(&HeadTrace) -> String,
    /// The head parameter for it, as short as possible: `g .98`.
    pub parameter: fn(&InStep<'_>) -> String,
    /// The equation with the numbers of a row at a step, several terms on lines of their own.
    pub sum: fn(&InStep<'_>, usize) -> String,
}

/// The weighting of the step before, which is in no trace as an array of its own.
pub const BEFORE: Array = &derived("before");

/// The kinds of values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Weights made in the step.
    Weights,
    /// Weights of the step before.
    Before,
    /// Scores of the rows, of both signs.
    Scores,
    /// The prior of a Bayesian head.
    Prior,
    /// Shares of rows in use.
    Usage,
    /// Steps since rows were accessed.
    Ages,
}

/// Defaults of columns: no parameter, and an equation without numbers.
pub(super) const COLUMN: Column = Column {
    symbol: "w",
    word: "weigh",
    short: "",
    array: array::WEIGHTING,
    stage: Stage::Weigh,
    values: ValueKind::Weights,
    source: "",
    emits: None,
    has: |_| false,
    equation: |_| String::new(),
    parameter: |_| String::new(),
    sum: |_, _| String::new(),
};

impl Column {
    /// The values in all steps; `None` for a column that a head lacks, and for the weighting of the step before.
    pub fn series<'a>(&self, head: &'a HeadTrace) -> Option<&'a Series<f32>> {
        head.series(self.array)
    }

    /// The word where a column is narrow.
    pub fn short_word(&self) -> &'static str {
        if self.short.is_empty() {
            self.word
        } else {
            self.short
        }
    }

    /// A value for every row at a step.
    pub fn values<'a>(&self, head: &'a HeadTrace, step: usize) -> &'a [f32] {
        match self.series(head) {
            Some(series) => series.row(step),
            None => head.previous_weighting(step),
        }
    }

    /// True for the match, which can be negative.
    pub fn is_signed(&self) -> bool {
        self.values == ValueKind::Scores
    }

    /// A value as it stands beside its bar.
    pub fn in_bar(&self, value: f32) -> String {
        if self.values == ValueKind::Ages {
            value.to_string()
        } else {
            numbers::in_bar(value)
        }
    }

    /// True for a score without a known upper bound.
    pub fn is_unbounded(&self) -> bool {
        self.is_signed() && self.symbol == "K"
    }

    /// True for a weighting that is made in the step.
    pub fn is_weighting(&self) -> bool {
        self.values == ValueKind::Weights
    }

    /// Returns the parameter that this head emits for it, if any.
    pub fn emits(&self, head: &HeadTrace) -> Option<&'static Measure> {
        self.emits.filter(|measure| measure.is_of(head))
    }

    /// The equation and its number in the paper.
    pub fn describe(&self, head: &HeadTrace) -> String {
        let description = format!("{}  {}", (self.equation)(head), self.source);
        description.trim_end().to_owned()
    }
}
