//! The table of measurements, of `eval` and of its suite.

use std::ops::RangeInclusive;

use super::message::decimals;
use super::table::Column;
use crate::io::Experiment;
use crate::task::{Measure, Task};
use crate::train::{Measurement, Redundancy, Sampled};

/// The results of a machine on episodes of one size.
pub(super) struct CaseResult {
    /// The machine as typed.
    pub(super) name: String,
    /// Its memory rows.
    pub(super) rows: usize,
    pub(super) task: Task,
    pub(super) measured: Measurement,
    pub(super) sampled: Option<Sampled>,
    pub(super) optimum: Option<f64>,
}

impl AsRef<Self> for CaseResult {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Returns the columns of a measurement without samples.
pub(super) fn errors<R: AsRef<CaseResult>>() -> Vec<Column<R>> {
    vec![
        Column::numbers("bits", 8, |row: &R| bits(row.as_ref())),
        Column::numbers("±", 8, |row| number(row.as_ref().measured.half_width)),
        Column::numbers("median", 8, |row| {
            number(Some(row.as_ref().measured.median))
        }),
        Column::numbers("wrong", 7, |row| {
            format!("{:.2}", row.as_ref().measured.mean.wrong_bits)
        }),
        Column::numbers("perfect", 0, |row| {
            format!("{:.1}%", 100.0 * row.as_ref().measured.mean.perfect)
        }),
    ]
}

/// Returns the columns of auxiliary losses: those that any of these experiments has.
pub(super) fn aux_losses<R: AsRef<CaseResult>>(experiments: &[Experiment]) -> Vec<Column<R>> {
    let mut columns = Vec::new();
    let mut each = experiments.iter();
    if each
        .clone()
        .any(|of| of.training.redundancy != Redundancy::Off)
    {
        columns.push(Column::numbers("redundancy", 0, |row: &R| {
            aux_loss(row.as_ref().measured.mean.aux.redundancy)
        }));
    }
    if each.any(|of| of.model.is_bayesian()) {
        columns.push(Column::numbers("divergence", 0, |row| {
            aux_loss(row.as_ref().measured.mean.aux.divergence)
        }));
    }
    columns
}

/// Returns the columns of a measurement with samples. `AUC`: area under the ROC curve of wrong bits against an
/// uncertainty.
pub(super) fn samples() -> Vec<Column<CaseResult>> {
    /// Defines a column by a value of the samples.
    macro_rules! column {
        ($name:literal, $value:expr) => {
            Column::numbers($name, 8, |case: &CaseResult| {
                let value: fn(&Sampled) -> Option<f64> = $value;
                number(case.sampled.as_ref().and_then(value))
            })
        };
    }
    vec![
        Column::numbers("bits", 8, bits),
        column!("of mean", |all| Some(all.bits_of_mean)),
        column!("of one", |all| Some(all.bits)),
        column!("spread", |all| all.spread),
        column!("wrong", |all| Some(all.wrong_bits)),
        column!("total", |all| Some(all.uncertainty.total)),
        column!("aleatoric", |all| Some(all.uncertainty.noise)),
        column!("epistemic", |all| Some(all.uncertainty.model)),
        column!("AUC total", |all| all.areas.total),
        column!("AUC aleatoric", |all| all.areas.noise),
        column!("AUC epistemic", |all| all.areas.model),
    ]
}

fn bits(case: &CaseResult) -> String {
    number(Some(case.measured.mean.bits_per_sequence))
}

fn aux_loss(mean: Option<f64>) -> String {
    mean.map_or_else(|| "-".to_owned(), |mean| decimals(mean, 4))
}

/// Formats a number with three decimals.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// Returns the sizes at which a machine is measured, as text.
pub(super) fn size(task: &Task) -> String {
    let size = span(&task.size());
    let size = match task.measure() {
        Measure::Length => format!("length {size}"),
        Measure::Items => format!("{size} items"),
    };
    match task.repeats() {
        Some(repeats) => format!("{size}, {} repeats", span(&repeats)),
        None => size,
    }
}

/// A range in few characters.
pub(super) fn span(range: &RangeInclusive<usize>) -> String {
    if range.start() == range.end() {
        range.start().to_string()
    } else {
        format!("{}-{}", range.start(), range.end())
    }
}
