//! The table of measurements, of `eval` and of its suite.

use super::table::{Cell, Column};
use crate::io::Experiment;
use crate::math::Answer;
use crate::task::{Measure, Task};
use crate::train::{AlignmentScore, Measurement, Redundancy, Sampled};

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
    /// The number of episodes requested; a file may have fewer of a size.
    pub(super) episodes: usize,
    /// The chance level, in the suite.
    pub(super) chance: Option<f64>,
    /// The statement of the paper, if any.
    pub(super) paper: Option<&'static str>,
}

impl CaseResult {
    /// A loss, or the spread of one.
    fn loss(&self, value: Option<f64>) -> Cell {
        Cell::loss(value, self.task.answer())
    }
}

/// Returns the columns of a measurement without samples.
pub(super) fn errors(answer: Answer) -> [Column<CaseResult>; 5] {
    [
        Column::numbers(answer.heading(), 8, bits),
        Column::numbers("±", 8, |case| case.loss(case.measured.half_width)),
        Column::numbers("median", 8, |case| case.loss(Some(case.measured.median))),
        Column::numbers("wrong", 7, |case| {
            Cell::Decimals(Some(case.measured.mean.wrong_bits), 2)
        }),
        Column::numbers("perfect", 0, |case| {
            Cell::Percent(case.measured.mean.perfect, 1)
        }),
    ]
}

/// Returns the columns of the auxiliary losses that any of these experiments has, with the cells of each.
pub(super) fn aux_losses<'a, R>(
    mut experiments: impl Iterator<Item = &'a Experiment> + Clone,
    redundancy: fn(&R) -> Cell,
    apart: fn(&R) -> Cell,
    divergence: fn(&R) -> Cell,
) -> impl Iterator<Item = Column<R>> {
    let has_penalty = |of: &Experiment| of.training.redundancy != Redundancy::Off;
    let has_penalty = experiments.clone().any(has_penalty);
    let is_apart = |of: &Experiment| of.training.head_divergence != Redundancy::Off;
    let is_apart = experiments.clone().any(is_apart);
    let is_bayesian = experiments.any(|of| of.model.is_bayesian());
    let redundancy = has_penalty.then(|| Column::numbers("redundancy", 0, redundancy));
    let apart = is_apart.then(|| Column::numbers("head divergence", 0, apart));
    let divergence = is_bayesian.then(|| Column::numbers("divergence", 0, divergence));
    redundancy.into_iter().chain(apart).chain(divergence)
}

/// Returns the columns of the auxiliary losses of measurements: those that any of these experiments has.
pub(super) fn measured_aux_losses(
    experiments: &[Experiment],
) -> impl Iterator<Item = Column<CaseResult>> {
    aux_losses(
        experiments.iter(),
        |case: &CaseResult| aux_loss(case.measured.mean.aux.redundancy),
        |case| aux_loss(case.measured.mean.aux.head_divergence),
        |case| aux_loss(case.measured.mean.aux.divergence),
    )
}

/// Returns the columns of a measurement with samples. `AUC`: area under the ROC curve of wrong bits against an
/// uncertainty.
pub(super) fn samples(answer: Answer) -> Vec<Column<CaseResult>> {
    /// Defines a column by a value of the samples.
    macro_rules! column {
        ($name:literal, $value:expr) => {
            Column::numbers($name, 8, |case: &CaseResult| {
                let value: fn(&Sampled) -> Option<f64> = $value;
                case.loss(case.sampled.as_ref().and_then(value))
            })
        };
    }
    let mut columns = vec![
        Column::numbers(answer.heading(), 8, bits),
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
        column!("ECE", |all| all.calibration_error),
    ];
    // Real values have no probability: their error is known, and the spread of the samples.
    if answer.is_real() {
        columns.truncate(5);
    }
    columns
}

/// Returns the columns of the agreement of weights and alignment.
pub(super) fn alignment() -> [Column<CaseResult>; 12] {
    /// Defines a column by a value of the score.
    macro_rules! column {
        ($name:literal, $width:literal, $value:expr) => {
            Column::numbers($name, $width, |case: &CaseResult| {
                let value: fn(&AlignmentScore) -> f64 = $value;
                number(case.measured.alignment.as_ref().map(value))
            })
        };
    }
    [
        column!("AER", 6, AlignmentScore::error_rate),
        column!("mass -2", 0, |score| score.mass()[0]),
        column!("mass -1", 0, |score| score.mass()[1]),
        column!("mass 0", 0, |score| score.mass()[2]),
        column!("mass +1", 0, |score| score.mass()[3]),
        column!("mass +2", 0, |score| score.mass()[4]),
        column!("max -2", 0, |score| score.arg_max()[0]),
        column!("max -1", 0, |score| score.arg_max()[1]),
        column!("max 0", 0, |score| score.arg_max()[2]),
        column!("max +1", 0, |score| score.arg_max()[3]),
        column!("max +2", 0, |score| score.arg_max()[4]),
        Column::numbers("off by one", 0, |case| {
            let score = case.measured.alignment.as_ref();
            let offset = score.and_then(AlignmentScore::off_by_one);
            Cell::Words(offset.map_or_else(|| "no".to_owned(), |offset| format!("{offset:+}")))
        }),
    ]
}

fn bits(case: &CaseResult) -> Cell {
    case.loss(Some(case.measured.mean.bits_per_sequence))
}

fn aux_loss(mean: Option<f64>) -> Cell {
    Cell::Decimals(mean, 4)
}

/// Returns a number that people see with three decimals.
pub(super) fn number(value: Option<f64>) -> Cell {
    Cell::Decimals(value, 3)
}

/// Returns the sizes at which a machine is measured, as text.
pub(super) fn size(task: &Task) -> String {
    let size = Cell::from(task.size()).rounded();
    let size = match task.measure() {
        Measure::Length => format!("length {size}"),
        Measure::Items => format!("{size} items"),
    };
    match task.repeats() {
        Some(repeats) => format!("{size}, {} repeats", Cell::from(repeats).rounded()),
        None => size,
    }
}
