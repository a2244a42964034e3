//! Measurements and learning curves as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Trained, file, paper};
use crate::task::{Measure, Task};
use crate::train::{
    AuxLosses, Change, Evaluation, HistoryPoint, Measurement, Sampled, SinceValidation,
};

/// Writes one measurement of the machine called `name` as one line of JSON, with the results of its samples, if any,
/// and the optimum over the same episodes.
pub fn measurement_json(
    name: &str,
    trained: &Trained,
    task: &Task,
    seed: u64,
    (measured, sampled): (&Measurement, Option<&Sampled>),
    optimum: Option<f64>,
) -> String {
    let line = Line::new(name, trained, task, seed, measured, optimum);
    let sampled = sampled.map(SampledForm::of);
    file::json(&Line { sampled, ..line })
}

/// [`measurement_json`] with the references: the chance level, and the statement of the paper.
pub fn comparison_json(
    name: &str,
    trained: &Trained,
    task: &Task,
    seed: u64,
    measured: &Measurement,
    optimum: Option<f64>,
    chance: f64,
) -> String {
    #[derive(Serialize)]
    struct Comparison<'a> {
        #[serde(flatten)]
        line: Line<'a>,
        chance: f64,
        paper: Option<&'static str>,
    }
    file::json(&Comparison {
        line: Line::new(name, trained, task, seed, measured, optimum),
        chance,
        paper: paper::figure(&trained.machine.config, task).map(|paper| paper.words),
    })
}

/// A learning curve: a list of its points, as the lines of a log have them.
pub fn history_json(history: &[HistoryPoint]) -> String {
    let points: Vec<PointForm> = history.iter().copied().map(PointForm).collect();
    file::json(&points)
}

/// The first number by which two points of a learning curve differ, but for the time that they took.
pub fn unlike(here: &HistoryPoint, there: &HistoryPoint) -> Option<String> {
    let numbers = |point: &HistoryPoint| {
        let seconds = 0.0;
        let mut all = json!(PointForm(HistoryPoint { seconds, ..*point }));
        let inner = all["validation"].take();
        let flat = |(key, value): (&String, &Value)| (format!("validation.{key}"), value.clone());
        let inner: Vec<_> = inner.as_object().into_iter().flatten().map(flat).collect();
        let all = all.as_object().cloned().unwrap_or_default();
        all.into_iter().chain(inner).collect::<BTreeMap<_, _>>()
    };
    let (here, there, sequences) = (numbers(here), numbers(there), there.sequences);
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    let mut keys = here.keys().chain(there.keys());
    let key = keys.find(|key| here.get(*key) != there.get(*key))?;
    let [here, there] = [here.get(key), there.get(key)].map(text);
    Some(format!(
        "{key} is {here} after {sequences} sequences, {there} there"
    ))
}

/// A validation, as weights files have it.
pub fn evaluation_json(evaluation: &Evaluation) -> String {
    file::json(&EvaluationForm(*evaluation))
}

#[derive(Serialize)]
struct Line<'a> {
    machine: &'a str,
    rows: Option<usize>,
    task: &'a str,
    length: Option<[usize; 2]>,
    items: Option<[usize; 2]>,
    repeats: Option<[usize; 2]>,
    seed: String,
    #[serde(flatten)]
    evaluation: EvaluationForm,
    bits_half_width: Option<Number>,
    bits_median: Number,
    wrapped_episodes: usize,
    rows_needed: Option<usize>,
    optimum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<SampledForm>,
}

/// [`Sampled`] in JSON.
#[derive(Serialize)]
struct SampledForm {
    samples: u64,
    bits_of_mean: Number,
    bits_per_sequence: Number,
    bits_spread: Option<Number>,
    wrong_bits: Number,
    /// Total: of the mean; aleatoric: the rest in every sample; epistemic: disagreement between samples.
    uncertainty: Parts<Number>,
    /// Under the curve of a wrong bit against each.
    areas: Parts<Option<Number>>,
}

#[derive(Serialize)]
struct Parts<T> {
    entropy: T,
    noise: T,
    mutual: T,
}

impl SampledForm {
    fn of(sampled: &Sampled) -> Self {
        let (of, areas) = (sampled.uncertainty, sampled.areas);
        Self {
            samples: sampled.samples,
            bits_of_mean: Number(sampled.bits_of_mean),
            bits_per_sequence: Number(sampled.bits),
            bits_spread: sampled.spread.map(Number),
            wrong_bits: Number(sampled.wrong_bits),
            uncertainty: Parts {
                entropy: Number(of.total),
                noise: Number(of.noise),
                mutual: Number(of.model),
            },
            areas: Parts {
                entropy: areas.total.map(Number),
                noise: areas.noise.map(Number),
                mutual: areas.model.map(Number),
            },
        }
    }
}

impl<'a> Line<'a> {
    fn new(
        name: &'a str,
        trained: &'a Trained,
        task: &'a Task,
        seed: u64,
        measured: &Measurement,
        optimum: Option<f64>,
    ) -> Self {
        let ends = |range: std::ops::RangeInclusive<usize>| [*range.start(), *range.end()];
        Self {
            machine: name,
            rows: Some(trained.machine.config.rows()).filter(|&rows| rows > 0),
            task: task.name(),
            length: (task.measure() == Measure::Length).then(|| ends(task.size())),
            items: (task.measure() == Measure::Items).then(|| ends(task.size())),
            repeats: task.repeats().map(ends),
            seed: seed.to_string(),
            evaluation: EvaluationForm(measured.mean),
            bits_half_width: measured.half_width.map(Number),
            bits_median: Number(measured.median),
            wrapped_episodes: measured.wrapped,
            rows_needed: (measured.wrapped > 0).then_some(measured.rows_needed),
            optimum,
            sampled: None,
        }
    }
}

/// [`Evaluation`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct EvaluationForm(#[serde(with = "EvaluationKeys")] pub(super) Evaluation);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Evaluation")]
struct EvaluationKeys {
    episodes: usize,
    #[serde(with = "number")]
    bits_per_sequence: f64,
    #[serde(with = "number")]
    wrong_bits: f64,
    #[serde(with = "number")]
    scored_bits: f64,
    #[serde(with = "number")]
    perfect: f64,
    #[serde(flatten, with = "AuxLossKeys")]
    aux: AuxLosses,
}

/// [`AuxLosses`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "AuxLosses")]
struct AuxLossKeys {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    redundancy: Option<f64>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    divergence: Option<f64>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    reward: Option<f64>,
}

/// [`AuxLosses`] of training in JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "AuxLosses")]
struct TrainingAuxLossKeys {
    #[serde(
        rename = "training_redundancy",
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    redundancy: Option<f64>,
    #[serde(
        rename = "training_divergence",
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    divergence: Option<f64>,
    #[serde(
        rename = "training_reward",
        default,
        skip_serializing_if = "Option::is_none",
        with = "number::optional"
    )]
    reward: Option<f64>,
}

/// [`HistoryPoint`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PointForm(#[serde(with = "PointKeys")] pub(super) HistoryPoint);

#[derive(Serialize, Deserialize)]
#[serde(remote = "HistoryPoint")]
struct PointKeys {
    sequences: u64,
    #[serde(with = "number")]
    seconds: f64,
    #[serde(with = "number")]
    training_bits: f64,
    #[serde(flatten, with = "TrainingAuxLossKeys")]
    training_aux: AuxLosses,
    #[serde(with = "EvaluationKeys")]
    validation: Evaluation,
}

/// A number in a file that no run can produce: its key, and the problem.
pub(super) type WrongNumber = (&'static str, String);

/// Returns the error in the training seconds of a run, if any: they are at most three hundred years.
pub(super) fn wrong_seconds(key: &'static str, seconds: f64) -> Option<WrongNumber> {
    const MOST: f64 = 1e10;
    let is_right = (0.0..=MOST).contains(&seconds);
    (!is_right).then(|| (key, format!("is {seconds}; expected 0 to {MOST} seconds")))
}

/// Returns the error in a number of bits, if any: a loss is 0 or more, and far below the largest f64. NaN and infinity
/// are valid: a diverged run has them.
pub(super) fn wrong_bits(key: &'static str, bits: f64) -> Option<WrongNumber> {
    const MOST: f64 = 1e50;
    let is_right = bits.is_nan() || bits == f64::INFINITY || (0.0..=MOST).contains(&bits);
    (!is_right).then(|| {
        (
            key,
            format!("is {bits}; expected 0 or more bits, less than {MOST:e}"),
        )
    })
}

impl EvaluationForm {
    /// The first of its numbers that is wrong.
    pub(super) fn wrong(&self) -> Option<WrongNumber> {
        let of = &self.0;
        let share = of.perfect;
        let is_right = share.is_nan() || (0.0..=1.0).contains(&share);
        let perfect = || (!is_right).then(|| ("perfect", format!("is {share}; expected 0 to 1")));
        wrong_bits("bits_per_sequence", of.bits_per_sequence)
            .or_else(|| wrong_bits("wrong_bits", of.wrong_bits))
            .or_else(|| wrong_bits("scored_bits", of.scored_bits))
            .or_else(perfect)
    }
}

impl PointForm {
    /// The first of its numbers that is wrong.
    pub(super) fn wrong(&self) -> Option<WrongNumber> {
        let of = &self.0;
        wrong_seconds("seconds", of.seconds)
            .or_else(|| wrong_bits("training_bits", of.training_bits))
            .or_else(|| EvaluationForm(of.validation).wrong())
    }

    /// [`PointForm::wrong`] of a learning curve, with the index of the point.
    pub(super) fn wrong_of(all: &[Self]) -> Option<(usize, WrongNumber)> {
        let mut all = all.iter().enumerate();
        all.find_map(|(index, point)| Some((index, point.wrong()?)))
    }
}

/// [`SinceValidation`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SinceForm(#[serde(with = "SinceKeys")] pub(super) SinceValidation);

#[derive(Serialize, Deserialize)]
#[serde(remote = "SinceValidation")]
struct SinceKeys {
    sequences: u64,
    #[serde(with = "number")]
    bits: f64,
    #[serde(flatten, with = "AuxLossKeys")]
    aux: AuxLosses,
}

/// [`Change`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ChangeForm(#[serde(with = "ChangeKeys")] pub(super) Change);

/// [`Change`] as a line of a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeLine {
    change: ChangeForm,
}

impl ChangeLine {
    pub(super) fn of(change: Change) -> Self {
        let change = ChangeForm(change);
        Self { change }
    }

    pub(super) fn into_change(self) -> Change {
        self.change.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Change", deny_unknown_fields)]
struct ChangeKeys {
    sequences: u64,
    set: Vec<String>,
}

/// A number as logs have it, NaN and infinities too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(#[serde(with = "number")] pub f64);

/// Numbers as in traces: numbers that JSON lacks are strings. Older files have null.
mod number {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        if value.is_nan() {
            to.serialize_str("NaN")
        } else if value.is_infinite() {
            to.serialize_str(if *value > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            })
        } else {
            to.serialize_f64(*value)
        }
    }

    /// A number that may be missing.
    pub(super) mod optional {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        use super::super::Number;

        #[expect(clippy::ref_option, reason = "serde asks for it")]
        pub(in super::super) fn serialize<S: Serializer>(
            value: &Option<f64>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            value.map(Number).serialize(to)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<f64>, D::Error> {
            Ok(Option::<Number>::deserialize(from)?.map(|number| number.0))
        }
    }

    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\""
    )]
    enum Form {
        Number(f64),
        Word(String),
        Null(()),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Form::deserialize(from)? {
            Form::Number(value) => Ok(value),
            Form::Null(()) => Ok(f64::NAN),
            Form::Word(word) => match word.as_str() {
                "NaN" => Ok(f64::NAN),
                "Infinity" => Ok(f64::INFINITY),
                "-Infinity" => Ok(f64::NEG_INFINITY),
                _ => Err(D::Error::custom(
                    "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"",
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonfinite_numbers_are_strings() {
        let point = HistoryPoint {
            sequences: 10,
            seconds: 0.5,
            training_bits: f64::NAN,
            training_aux: AuxLosses {
                redundancy: Some(0.25),
                ..AuxLosses::default()
            },
            validation: Evaluation {
                episodes: 2,
                bits_per_sequence: f64::INFINITY,
                wrong_bits: 1.5,
                scored_bits: 8.0,
                perfect: 0.0,
                aux: AuxLosses {
                    redundancy: Some(f64::INFINITY),
                    ..AuxLosses::default()
                },
            },
        };
        let line = file::json(&PointForm(point));
        assert!(
            line.contains(r#""training_bits":"NaN","training_redundancy":0.25,"validation":{"episodes":2,"bits_per_sequence":"Infinity","wrong_bits":1.5,"#),
            "{line}"
        );
        let read = |line: &str| serde_json::from_str(line).map(|form: PointForm| form.0);
        let again = read(&line).unwrap();
        assert!(again.training_bits.is_nan());
        assert_eq!(again.validation, point.validation);
        // Version 0.1.0 wrote null.
        let older = line.replace("\"NaN\"", "null");
        assert!(read(&older).unwrap().training_bits.is_nan());
        assert!(read(&line.replace("NaN", "nan")).is_err());
    }

    #[test]
    fn impossible_numbers_differ_from_those_of_diverged_runs() {
        for seconds in [f64::NAN, f64::INFINITY, -1.0, 1e11] {
            assert!(wrong_seconds("seconds", seconds).is_some(), "{seconds}");
        }
        for bits in [f64::NEG_INFINITY, -1e-9, 1e51] {
            assert!(wrong_bits("bits", bits).is_some(), "{bits}");
        }
        for value in [0.0, 0.25, 1e9] {
            assert_eq!(wrong_seconds("seconds", value), None);
            assert_eq!(wrong_bits("bits", value), None);
        }
        for bits in [f64::NAN, f64::INFINITY, f64::from(f32::MAX)] {
            assert_eq!(wrong_bits("bits", bits), None);
        }
    }
}
