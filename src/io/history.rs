//! Measurements and learning curves as JSON.

use serde::{Deserialize, Serialize};

use super::{Trained, file};
use crate::task::{Measure, Task};
use crate::train::{Evaluation, HistoryPoint};

/// One measurement of a machine as one line of JSON, beside the optimum over the same episodes.
pub fn measurement_json(
    trained: &Trained,
    task: &Task,
    seed: u64,
    evaluation: &Evaluation,
    optimum: Option<f64>,
) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        machine: &'a str,
        rows: usize,
        task: &'static str,
        length: Option<[usize; 2]>,
        items: Option<[usize; 2]>,
        repeats: Option<[usize; 2]>,
        seed: String,
        #[serde(flatten)]
        evaluation: EvaluationForm,
        optimum: Option<f64>,
    }
    let ends = |range: std::ops::RangeInclusive<usize>| [*range.start(), *range.end()];
    let line = Line {
        machine: &trained.experiment.name,
        rows: trained.machine.config.rows,
        task: task.name(),
        length: (task.measure() == Measure::Length).then(|| ends(task.size())),
        items: (task.measure() == Measure::Items).then(|| ends(task.size())),
        repeats: task.repeats().map(ends),
        seed: seed.to_string(),
        evaluation: evaluation.into(),
        optimum,
    };
    file::json(&line)
}

/// [`Evaluation`] in JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct EvaluationForm {
    episodes: usize,
    #[serde(deserialize_with = "null_is_nan")]
    bits_per_sequence: f64,
    #[serde(deserialize_with = "null_is_nan")]
    wrong_bits: f64,
    #[serde(deserialize_with = "null_is_nan")]
    scored_bits: f64,
    #[serde(deserialize_with = "null_is_nan")]
    perfect: f64,
}

/// [`HistoryPoint`] in JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct PointForm {
    sequences: u64,
    #[serde(deserialize_with = "null_is_nan")]
    seconds: f64,
    #[serde(deserialize_with = "null_is_nan")]
    training_bits: f64,
    validation: EvaluationForm,
}

/// JSON has no NaN: it is written as null.
fn null_is_nan<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl From<&Evaluation> for EvaluationForm {
    fn from(evaluation: &Evaluation) -> Self {
        Self {
            episodes: evaluation.episodes,
            bits_per_sequence: evaluation.bits_per_sequence,
            wrong_bits: evaluation.wrong_bits,
            scored_bits: evaluation.scored_bits,
            perfect: evaluation.perfect,
        }
    }
}

impl From<EvaluationForm> for Evaluation {
    fn from(form: EvaluationForm) -> Self {
        Self {
            episodes: form.episodes,
            bits_per_sequence: form.bits_per_sequence,
            wrong_bits: form.wrong_bits,
            scored_bits: form.scored_bits,
            perfect: form.perfect,
        }
    }
}

impl From<&HistoryPoint> for PointForm {
    fn from(point: &HistoryPoint) -> Self {
        Self {
            sequences: point.sequences,
            seconds: point.seconds,
            training_bits: point.training_bits,
            validation: EvaluationForm::from(&point.validation),
        }
    }
}

impl From<PointForm> for HistoryPoint {
    fn from(form: PointForm) -> Self {
        Self {
            sequences: form.sequences,
            seconds: form.seconds,
            training_bits: form.training_bits,
            validation: form.validation.into(),
        }
    }
}
