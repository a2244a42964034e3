//! Measurements and learning curves as JSON.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::preset::flatten;
use super::preset::written::Written;
use super::{Trained, file};
use crate::analysis::provenance::Part;
use crate::task::{Measure, Task};
use crate::train::{
    AuxLosses, Change, Evaluation, HistoryPoint, Measurement, OFFSETS, Sampled, SinceValidation,
};

/// A measurement by its keys, in order: one line of JSON.
#[derive(Debug)]
pub struct MeasurementLine(Vec<(&'static str, Value)>);

/// The summary of the file of a task.
pub(super) fn data_json(task: &Task) -> Option<Value> {
    let data = task.summary()?;
    let vocabularies = data.vocabularies.iter().map(|part| {
        json!({"side": part.side, "symbols": part.known, "cut": part.cut, "held_out_unknown": part.unknown})
    });
    Some(json!({
        "training": data.training,
        "held_out": data.held_out,
        "held_out_in_training": data.repeated,
        "vocabularies": vocabularies.collect::<Vec<_>>(),
    }))
}

impl MeasurementLine {
    /// A measurement of the machine called `name`, and the optimum over the same episodes.
    pub fn new(
        name: &str,
        trained: &Trained,
        task: &Task,
        seed: u64,
        measured: &Measurement,
        optimum: Option<f64>,
    ) -> Self {
        let ends = |range: RangeInclusive<usize>| [*range.start(), *range.end()];
        let size = |measure| (task.measure() == measure).then(|| ends(task.size()));
        let config = &trained.machine.config;
        let rows = Some(config.rows()).filter(|&rows| rows > 0 && !config.has_row_per_step());
        let needed = (measured.wrapped > 0).then_some(measured.rows_needed);
        let mean = &measured.mean;
        let mut line = vec![
            ("machine", json!(name)),
            ("rows", json!(rows)),
            ("task", json!(task.name())),
            ("length", json!(size(Measure::Length))),
            ("items", json!(size(Measure::Items))),
            ("repeats", json!(task.repeats().map(ends))),
            ("seed", json!(seed.to_string())),
            ("episodes", json!(mean.episodes)),
            ("bits_per_sequence", json!(Number(mean.bits_per_sequence))),
            ("wrong_bits", json!(Number(mean.wrong_bits))),
            ("scored_bits", json!(Number(mean.scored_bits))),
            ("perfect", json!(Number(mean.perfect))),
        ];
        let answer = task.answer();
        line.extend(answer.is_real().then(|| ("loss", json!(answer.measure()))));
        line.extend(data_json(task).map(|data| ("data", data)));
        let aux = AuxLosses::NAMES.into_iter().zip(mean.aux.each());
        line.extend(aux.filter_map(|(name, loss)| Some((name, json!(Number(loss?))))));
        line.extend([
            ("bits_half_width", json!(measured.half_width.map(Number))),
            ("bits_median", json!(Number(measured.median))),
            ("wrapped_episodes", json!(measured.wrapped)),
            ("rows_needed", json!(needed)),
            ("optimum", json!(optimum)),
            ("calibration_error", json!(measured.calibration.error())),
        ]);
        if let Some(score) = &measured.alignment {
            line.extend([
                ("alignment.steps", json!(score.steps)),
                ("alignment.error_rate", json!(score.error_rate())),
                ("alignment.offsets", json!(OFFSETS)),
                ("alignment.mass", json!(score.mass())),
                ("alignment.arg_max", json!(score.arg_max())),
                ("alignment.off_by_one", json!(score.off_by_one())),
            ]);
        }
        Self(line)
    }

    /// Adds the results of samples. Uncertainty: `entropy` of the mean, `noise` in every sample, `mutual` for the
    /// disagreement between samples; `areas` under the curve of a wrong bit against each.
    pub fn add_samples(&mut self, sampled: &Sampled) {
        let (of, areas) = (sampled.uncertainty, sampled.areas);
        self.0.extend([
            ("sampled.samples", json!(sampled.samples)),
            ("sampled.bits_of_mean", json!(Number(sampled.bits_of_mean))),
            ("sampled.bits_per_sequence", json!(Number(sampled.bits))),
            ("sampled.bits_spread", json!(sampled.spread.map(Number))),
            ("sampled.wrong_bits", json!(Number(sampled.wrong_bits))),
        ]);
        // Real values have no probability.
        if of.total.is_nan() && sampled.calibration_error.is_none() {
            return;
        }
        self.0.extend([
            ("sampled.uncertainty.entropy", json!(Number(of.total))),
            ("sampled.uncertainty.noise", json!(Number(of.noise))),
            ("sampled.uncertainty.mutual", json!(Number(of.model))),
            ("sampled.areas.entropy", json!(areas.total.map(Number))),
            ("sampled.areas.noise", json!(areas.noise.map(Number))),
            ("sampled.areas.mutual", json!(areas.model.map(Number))),
            (
                "sampled.calibration_error",
                json!(sampled.calibration_error),
            ),
        ]);
    }

    /// Adds the references: the chance level, and the statement of the paper.
    pub fn add_references(&mut self, chance: f64, paper: Option<&str>) {
        let references = [("chance", json!(chance)), ("paper", json!(paper))];
        self.0.extend(references);
    }

    /// The line.
    pub fn to_json(self) -> String {
        file::json(&Written::new(self.0))
    }
}

/// A value of a table as programs read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Exact {
    /// Words.
    Words(String),
    /// A count.
    Whole(u64),
    /// A number; none where there is nothing to say.
    Number(Option<Number>),
}

impl Exact {
    /// The shortest text that reads back to the value, as in CSV: empty where there is none.
    pub fn text(self) -> String {
        match json!(self) {
            Value::Null => String::new(),
            Value::String(words) => words,
            number => number.to_string(),
        }
    }
}

/// The cells of a row of a table, by their columns, as a line of JSON.
pub fn row_json<'a>(cells: impl Iterator<Item = (&'a str, Exact)>) -> String {
    let cells = cells.map(|(name, cell)| (name, json!(cell)));
    file::json(&Written::new(cells.collect()))
}

/// A learning curve: a list of its points, as the lines of a log have them.
pub fn history_json(history: &[HistoryPoint]) -> String {
    let points: Vec<PointForm> = history.iter().copied().map(PointForm).collect();
    file::json(&points)
}

/// Parts of a value, or of the reads of a write, each with its name, called `key`, and its share; and their total.
pub fn parts_json(key: &str, parts: &[(String, f64, &Part)], total: Option<f64>) -> String {
    let parts = parts.iter().map(|(name, share, part)| {
        json!({key: name, "share": share, "amount": part.amount, "row": part.number.map(|row| row.0)})
    });
    json!({"total": total, "parts": parts.collect::<Vec<_>>()}).to_string()
}

/// The first number by which two points of a learning curve differ, but for the time that they took.
pub fn unlike(here: &HistoryPoint, there: &HistoryPoint) -> Option<String> {
    let numbers = |point: &HistoryPoint| {
        let (seconds, mut all) = (0.0, BTreeMap::new());
        let point = json!(PointForm(HistoryPoint { seconds, ..*point }));
        flatten(String::new(), &point, &mut all);
        all
    };
    let (here, there, sequences) = (numbers(here), numbers(there), there.sequences);
    let mut keys = here.keys().chain(there.keys());
    let key = keys.find(|key| here.get(*key) != there.get(*key))?;
    let [here, there] = [&here, &there].map(|all| all.get(key).map_or("nothing", String::as_str));
    Some(format!(
        "{key} is {here} after {sequences} sequences, {there} there"
    ))
}

/// A validation, as weights files have it.
pub fn evaluation_json(evaluation: &Evaluation) -> String {
    file::json(&EvaluationForm(*evaluation))
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
    #[serde(flatten, with = "AuxKeys::<false>")]
    aux: AuxLosses,
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
    #[serde(flatten, with = "AuxKeys::<true>")]
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
    #[serde(flatten, with = "AuxKeys::<false>")]
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
    pub(super) change: ChangeForm,
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

/// Reads and writes [`AuxLosses`] under their names, those of the training behind `training_`, each only where it is
/// there.
struct AuxKeys<const OF_TRAINING: bool>;

impl<const OF_TRAINING: bool> AuxKeys<OF_TRAINING> {
    fn names() -> [String; AuxLosses::NAMES.len()] {
        let prefix = if OF_TRAINING { "training_" } else { "" };
        AuxLosses::NAMES.map(|name| [prefix, name].concat())
    }

    fn serialize<S: Serializer>(of: &AuxLosses, to: S) -> Result<S::Ok, S::Error> {
        let named = Self::names().into_iter().zip(of.each());
        to.collect_map(named.filter_map(|(name, loss)| Some((name, Number(loss?)))))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<AuxLosses, D::Error> {
        let mut all = BTreeMap::<String, Value>::deserialize(from)?;
        let mut of = AuxLosses::default();
        for (name, loss) in Self::names().iter().zip(of.each_mut()) {
            let found = all.remove(name).map(serde_json::from_value::<Number>);
            let found = found.transpose().map_err(D::Error::custom)?;
            *loss = found.map(|number| number.0);
        }
        Ok(of)
    }
}

/// Numbers as in traces: numbers that JSON lacks are strings.
mod number {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        match *value {
            f64::INFINITY => to.serialize_str("Infinity"),
            f64::NEG_INFINITY => to.serialize_str("-Infinity"),
            value if value.is_nan() => to.serialize_str("NaN"),
            value => to.serialize_f64(value),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        let value = Value::deserialize(from)?;
        let number = match value.as_str() {
            Some("NaN") => Some(f64::NAN),
            Some("Infinity") => Some(f64::INFINITY),
            Some("-Infinity") => Some(f64::NEG_INFINITY),
            _ => value.as_f64(),
        };
        let problem = "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"";
        number.ok_or_else(|| D::Error::custom(problem))
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
        assert!(read(&line.replace("\"NaN\"", "null")).is_err());
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
