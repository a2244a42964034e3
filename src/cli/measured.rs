//! Measurements as texts in tables.

use std::ops::RangeInclusive;

use super::message::decimals;
use crate::task::{Measure, Task};
use crate::train::Measurement;

/// Formats an auxiliary loss for a table.
pub(super) fn aux_loss(mean: Option<f64>) -> String {
    mean.map_or_else(|| "-".to_owned(), |mean| decimals(mean, 4))
}

/// Half the interval about the mean of the bits, in a table.
pub(super) fn half_width(measured: &Measurement) -> String {
    let width = measured.half_width;
    width.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.3}"))
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
