//! Everything in a trace except its arrays, as JSON: a form for reading, paths with values for writing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, iter};

use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::format::KEYFRAME;
use super::table::Described;
use crate::io::Error;
use crate::io::error::short;
use crate::io::preset::form::{self, Word};
use crate::io::preset::written::Written;
use crate::keys::{Choice, Words};
use crate::math::Answer;
use crate::model::{AXES, Axis, Draw, NoiseMode};
use crate::task::{Episode, Link, Links, Phase, TargetTokens, Task};
use crate::train::{Ending, Recording};

/// Writes `task`: the episode. Seed and index are strings, because JSON's numbers end at 2^53.
pub(super) fn asked(recording: &Recording) -> Written {
    let (task, episode) = (&recording.task, &recording.episode);
    let parameter = |(key, value): (String, Value)| match value.as_array().map(Vec::as_slice) {
        Some([low, high]) if low == high => (key, low.clone()),
        _ => (key, value),
    };
    let params = Written::of(task).into_values().into_iter();
    let params = match (task, recording.origin) {
        (Task::Episodes(_), Some(_)) | (Task::Pairs(_) | Task::Text(_), _) => {
            of_a_file(task, recording.origin)
        }
        _ => params
            .filter(|(key, _)| key != "kind")
            .map(parameter)
            .collect(),
    };
    let text = |of: fn(Draw) -> u64| json!(recording.origin.map(|drawn| of(drawn).to_string()));
    let mut values = vec![
        ("name", json!(task.name())),
        ("params", params),
        ("seed", text(|drawn| drawn.seed)),
        ("episode", text(|drawn| drawn.episode)),
    ];
    if recording.origin.is_some_and(|drawn| drawn.sample > 0) {
        values.push(("sample", text(|drawn| drawn.sample)));
    }
    let sampling = recording.trace.sampling;
    if episode.answer != Answer::Bits {
        values.push(("answer", json!(episode.answer.word())));
    }
    if let Answer::Values(tolerance) = episode.answer {
        values.push(("tolerance", json!(tolerance)));
    }
    // What no task can draw again.
    if recording.origin.is_none() && episode.links.are_known() {
        let links = episode.links.all.iter().map(Link::to_string);
        values.push(("links", json!(links.collect::<Vec<_>>().join(" "))));
    }
    if let Some(ending) = recording.ending() {
        values.push(("ended", json!(ending.word())));
    }
    // Where nothing is drawn, nothing becomes of it.
    if sampling != NoiseMode::Mean && recording.trace.noise().next().is_some() {
        values.push(("sampling", json!(sampling.word())));
    }
    if !matches!(task, Task::External(_)) {
        values.push((task.size_name(), json!(episode.size)));
    }
    // Traces of plain copy say `"repeats": 1`, and always have.
    if matches!(task, Task::Copy(_) | Task::RepeatCopy(_)) {
        values.push(("repeats", json!(episode.repeats)));
    }
    Written::new(values)
}

/// True of the tasks whose episodes are in a file.
pub(super) fn is_of_a_file(task: &str) -> bool {
    let mut all = Task::WORDS.iter().filter(|(word, _)| *word == task);
    all.any(|(_, task)| task.held_out().is_some())
}

/// Identity of an episode of a file: the file's name, its hash, and the episode's number; and the symbols of pairs or of a text.
fn of_a_file(task: &Task, drawn: Option<Draw>) -> Value {
    let number = drawn.and_then(|drawn| task.number(drawn.seed, drawn.episode));
    let [file, sha256] = task.file().unwrap_or_default();
    let name = Path::new(file).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let mut params = json!({ "file": name, "sha256": sha256, "number": number });
    let test_file = Path::new(task.test_file()).file_name();
    if let Some(name) = test_file {
        params["test_file"] = name.to_string_lossy().into();
    }
    if let Task::Pairs(task) = task {
        if task.first_token > 0 {
            params["first_token"] = task.first_token.into();
        }
        params["tokens"] = task.tokens.word().into();
        if task.target_tokens != TargetTokens::Same {
            params["target_tokens"] = task.target_tokens.word().into();
        }
        let [source, target] = &task.symbols;
        params["source_symbols"] = source.as_str().into();
        params["target_symbols"] = target.as_str().into();
    }
    if let Task::Text(task) = task {
        params["tokens"] = task.tokens.word().into();
        params["text_symbols"] = task.symbols.as_str().into();
    }
    params
}

/// `task`, as it is read.
#[derive(Deserialize)]
pub(super) struct AskedForm {
    pub(super) name: String,
    /// Parameters as in a preset.
    #[serde(default, deserialize_with = "parameters")]
    params: Map<String, Value>,
    pub(super) seed: Option<Count>,
    pub(super) episode: Option<Count>,
    pub(super) sample: Option<Count>,
    /// The noise mode.
    sampling: Option<Word<NoiseMode>>,
    /// The form of the answer.
    pub(super) answer: Option<Word<Answer>>,
    /// The links between source steps and answer steps.
    links: Option<String>,
    /// The tolerance of real values.
    tolerance: Option<f64>,
    /// The end of the run.
    pub(super) ended: Option<Word<Ending>>,
    /// Length of this episode; the next fields describe it too.
    length: Option<usize>,
    items: Option<usize>,
    pub(super) repeats: Option<usize>,
}

/// A whole number that is written as text.
#[derive(Clone, Copy)]
pub(super) struct Count(pub(super) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Digits)
    }
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a whole number as text, \"0\" to \"{}\"", u64::MAX)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Count, E> {
        let number = text.parse().ok().filter(|_| !text.starts_with('+'));
        let wrong = || E::invalid_type(Unexpected::Str(text), &self);
        number.map(Count).ok_or_else(wrong)
    }
}

/// Reads the parameters that a task of this program has, a single size as a range of two equal numbers. Other
/// entries are skipped: they may be as large as the file.
fn parameters<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
    // A vocabulary may be as large as this.
    const LONGEST: usize = 100_000;
    let all: BTreeMap<Cow<'de, str>, &'de RawValue> = Deserialize::deserialize(from)?;
    let ours = all.into_iter().filter(|(key, value)| {
        form::is_key("task", key) && value.get() != "null" && value.get().len() < LONGEST
    });
    let parsed = ours.map(|(key, value)| {
        let mut value: Value = serde_json::from_str(value.get()).map_err(D::Error::custom)?;
        if value.is_number() && form::is_range("task", &key) {
            value = json!([value, value]);
        }
        Ok((key.into_owned(), value))
    });
    parsed.collect()
}

impl AskedForm {
    /// The name of a task that is not ours, or of which too little is known: the name alone, or not the size of
    /// this episode.
    pub(super) fn other(&self) -> Option<String> {
        let is_ours = Task::WORDS.iter().any(|(word, _)| *word == self.name);
        // Some tasks that need a file declare their symbols.
        let mut symbols = ["source_symbols", "target_symbols"].into_iter();
        let has_symbols = symbols.all(|key| self.params.contains_key(key))
            || self.params.contains_key("text_symbols");
        let is_ours = is_ours && (!is_of_a_file(&self.name) || has_symbols);
        let is_known = is_ours && !self.params.is_empty() && self.size().is_some();
        (!is_known).then(|| short(&self.name))
    }

    /// The task, one of ours.
    pub(super) fn task(&self, label: &str) -> Result<Task, Error> {
        form::task(&self.name, &self.params, label)
    }

    /// The size of this episode, when the file gives it, directly or by parameters that allow no other.
    pub(super) fn size(&self) -> Option<usize> {
        let only = || {
            let mut sizes = ["length", "items", "glyphs"].into_iter();
            let range = sizes.find_map(|key| self.params.get(key))?;
            match range.as_array()?.as_slice() {
                [low, high] if low == high => usize::try_from(low.as_u64()?).ok(),
                _ => None,
            }
        };
        self.length.or(self.items).or_else(only)
    }

    /// Returns the form of the answer.
    pub(super) fn answer(&self) -> Answer {
        let answer = self.answer.map_or(Answer::Bits, |word| word.0);
        match (answer, self.tolerance) {
            (Answer::Values(_), Some(tolerance)) => Answer::Values(tolerance),
            (answer, _) => answer,
        }
    }

    /// Checks the tolerance of real values.
    ///
    /// # Errors
    /// It is not above 0, or the answers are no real values.
    pub(super) fn check_tolerance(&self, label: &str) -> Result<(), Error> {
        let problem = match self.tolerance {
            Some(_) if !self.answer().is_real() => "belongs to answers that are `values`",
            Some(tolerance) if !(tolerance.is_finite() && tolerance > 0.0) => "must be above 0",
            _ => return Ok(()),
        };
        Err(Error::content(label, "task.tolerance", problem.to_owned()))
    }

    /// Returns the links in an episode; none if not given.
    pub(super) fn links(&self, episode: &Episode, label: &str) -> Result<Option<Links>, Error> {
        let Some(text) = &self.links else {
            return Ok(None);
        };
        if self.seed.is_some() {
            let problem = "belongs to episodes without a seed: others have the links of their task";
            return Err(Error::content(label, "task.links", problem));
        }
        let all = Link::parse_all(text.split_whitespace(), [episode.steps(); 2], 0);
        let all = all.map_err(|problem| Error::content(label, "task.links", problem))?;
        let tokens = episode.source()..episode.target_end();
        Ok(Some(Links { all, tokens }))
    }

    /// Returns the noise mode.
    pub(super) fn sampling(&self) -> NoiseMode {
        self.sampling.map_or(NoiseMode::Mean, |word| word.0)
    }

    /// Parameters of the task and sizes of this episode, by key, as the file gives them.
    pub(super) fn sizes(&self) -> Vec<(&'static str, String)> {
        let params = (!self.params.is_empty()).then(|| json!(self.params));
        let sizes = [
            ("length", self.length),
            ("items", self.items),
            ("repeats", self.repeats),
        ];
        let sizes = sizes.into_iter().map(|(key, size)| (key, said(size)));
        iter::once(("params", said(params))).chain(sizes).collect()
    }

    /// Seed and index, when both are there, and the sample.
    pub(super) fn origin(&self) -> Option<Draw> {
        Some(Draw {
            sampling: self.sampling(),
            seed: self.seed?.0,
            episode: self.episode?.0,
            sample: self.sample.map_or(0, |sample| sample.0),
        })
    }
}

/// `axes`: the size of every axis that an array's `dims` names, and the phases of the episode. Frame i of
/// `memory.keyframes` is the memory after t steps, `t = (i + 1)·every`.
pub(super) fn axes(recording: &Recording, arrays: &[Described]) -> Written {
    let phase = |phase: &Phase| json!([phase.name, phase.start, phase.end]);
    let phases = recording.episode.phases.iter().map(phase).collect();
    let mut values = vec![
        ("t.size".to_owned(), json!(recording.episode.steps())),
        ("t.phases".to_owned(), phases),
    ];
    // The first array with an axis has its size; of one layer no array has the axis.
    let sizes = arrays.iter().rev();
    let sizes = sizes.flat_map(|array| array.dims.iter().copied().zip(&array.shape));
    let layers = recording.trace.layers.len();
    let layers = (layers > 0).then_some(("l", &layers));
    let sizes: BTreeMap<_, _> = layers.into_iter().chain(sizes).collect();
    let known = AXES.iter().map(|axis| axis.name).skip(1);
    let others = sizes.keys().copied();
    let others = others.filter(|axis| Axis::named(axis).is_none());
    for axis in known.chain(others) {
        if let Some(size) = sizes.get(axis) {
            values.push((format!("{axis}.size"), json!(size)));
            let every = (axis == "f").then_some(KEYFRAME);
            values.extend(every.map(|every| (format!("{axis}.every"), json!(every))));
        }
    }
    Written::new(values)
}

/// Returns the value under a key as it is compared: empty if absent.
pub(super) fn said(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Phases in words, as they are compared.
pub(super) fn in_words(phases: &[Phase]) -> String {
    let phases = phases.iter();
    let each = phases.map(|phase| format!("{} {} to {}", phase.name, phase.start, phase.end));
    each.collect::<Vec<_>>().join(", ")
}

/// Refuses a file whose value at one of these paths differs from the expected one; missing values are accepted.
pub(super) fn must_be(
    given: &Map<String, Value>,
    place: &str,
    expected: impl IntoIterator<Item = (String, Value)>,
    is_whole: bool,
    label: &str,
) -> Result<Vec<String>, Error> {
    let mut not_given = Vec::new();
    for (path, expected) in expected {
        let mut keys = path.split('.');
        let first = keys.next().and_then(|key| given.get(key));
        let found = keys.fold(first, |at, key| at?.get(key));
        let found = found.unwrap_or(&Value::Null);
        let place = format!("{place}.{path}");
        let is_optional =
            first.is_none() || found.is_null() && path.rsplit('.').next() == Some("every");
        if !is_whole && is_optional {
            not_given.push(place);
        } else if *found != expected {
            let problem = format!("is {}; expected {expected}", short(&found.to_string()));
            return Err(Error::content(label, place, problem));
        }
    }
    Ok(not_given)
}

/// The time axis and the phases of the episode: name, first step, one past the last step.
#[derive(Deserialize)]
pub(super) struct TimeForm<'a> {
    pub(super) size: usize,
    #[serde(borrow)]
    pub(super) phases: Vec<(Cow<'a, str>, usize, usize)>,
}

/// The title of a window that shows such an episode.
pub(super) fn title(task: &Task, episode: &Episode) -> String {
    let (size, unit, repeats) = (episode.size, task.unit(), episode.repeats);
    let plural = if size == 1 { "" } else { "s" };
    let times = task
        .repeats()
        .map_or_else(String::new, |_| format!(" × {repeats}"));
    format!("{}, {size} {unit}{plural}{times}", task.name())
}
