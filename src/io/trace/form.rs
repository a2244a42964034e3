//! Everything in a trace except its arrays, as JSON: a form for reading, paths with values for writing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fmt, iter};

use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::format::{IN_TURN, KEYFRAME, OF_MACHINES, READ_FIRST, SCORES, WRITE_FIRST};
use super::imported::Imported;
use super::table::{AXES, Described};
use crate::io::Error;
use crate::io::error::short;
use crate::io::preset::form::{self, Word, complete_model};
use crate::io::preset::written::{Initial, Written};
use crate::keys::{Choice, Words, brief};
use crate::model::config::{InitialWeighting, Order, VectorActivation};
use crate::model::{
    Conventions, Draw, ModelConfig, NoiseMode, NtmConfig, Scoring, Turns, head_name,
};
use crate::task::{Episode, Episodes, Phase, Task};
use crate::train::Recording;

/// Writes `task`: the episode. Seed and index are strings, because JSON's numbers end at 2^53.
pub(super) fn asked(recording: &Recording) -> Written {
    let (task, episode) = (&recording.task, &recording.episode);
    let parameter = |(key, value): (String, Value)| match value.as_array().map(Vec::as_slice) {
        Some([low, high]) if low == high => (key, low.clone()),
        _ => (key, value),
    };
    let params = Written::of(task).into_values().into_iter();
    let params: Map<_, _> = match (task, recording.origin) {
        (Task::Episodes(task), Some(drawn)) => of_a_file(task, drawn),
        _ => params
            .filter(|(key, _)| key != "kind")
            .map(parameter)
            .collect(),
    };
    let text = |of: fn(Draw) -> u64| json!(recording.origin.map(|drawn| of(drawn).to_string()));
    let mut values = vec![
        ("name", json!(task.name())),
        ("params", params.into()),
        ("seed", text(|drawn| drawn.seed)),
        ("episode", text(|drawn| drawn.episode)),
    ];
    if recording.origin.is_some_and(|drawn| drawn.sample > 0) {
        values.push(("sample", text(|drawn| drawn.sample)));
    }
    let sampling = recording.trace.sampling;
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

/// True of the task whose episodes are in a file.
pub(super) fn is_of_a_file(task: &str) -> bool {
    task == Task::Episodes(Episodes::NONE).name()
}

/// Identity of an episode of a file: the file's name, its hash, and the episode's number.
fn of_a_file(task: &Episodes, drawn: Draw) -> Map<String, Value> {
    let name = Path::new(&task.file).file_name().unwrap_or_default();
    let number = task.number(drawn.seed, drawn.episode);
    let params = [
        ("file", json!(name.to_string_lossy())),
        ("sha256", json!(task.sha256)),
        ("number", json!(number)),
    ];
    params
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
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
    const LONGEST: usize = 1000;
    let all: BTreeMap<Cow<'de, str>, &'de RawValue> = Deserialize::deserialize(from)?;
    let ours = all.into_iter().filter(|(key, value)| {
        form::is_key("task", key) && value.get() != "null" && value.get().len() < LONGEST
    });
    let parsed = ours.map(|(key, value)| {
        let mut value: Value = serde_json::from_str(value.get()).map_err(D::Error::custom)?;
        if value.is_number() && ["length", "items", "repeats"].contains(&&*key) {
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
        // An episode of a file cannot be generated again without that file.
        let is_ours = is_ours && !is_of_a_file(&self.name);
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
            let range = self.params.get("length").or(self.params.get("items"))?;
            match range.as_array()?.as_slice() {
                [low, high] if low == high => usize::try_from(low.as_u64()?).ok(),
                _ => None,
            }
        };
        self.length.or(self.items).or_else(only)
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

/// `model`: who answered. The `config` of a Neural Turing Machine is in words that those of other programs can be
/// told in too; that of another kind is as in a preset.
pub(super) fn machine(
    config: &ModelConfig,
    sha256: Option<&str>,
    conventions: &Conventions,
) -> Written {
    let preset = Written::of(config).into_values();
    let mut values = vec![("sha256".to_owned(), json!(sha256))];
    let mut keep = |key: &str, value: Value| values.push((format!("config.{key}"), value));
    let ntm = config.ntm();
    let is_alike = |path: &str| path.starts_with("memory.") || path.starts_with("controller.");
    for (path, value) in &preset {
        if ntm.is_none() || is_alike(path) {
            keep(path, value.clone());
        }
    }
    let Some(ntm) = ntm else {
        return Written::new(values);
    };
    for (key, value) in words(ntm, conventions) {
        keep(key, value);
    }
    for (path, value) in &preset {
        if let Some(key) = path.strip_prefix("heads.attention.") {
            keep(&format!("attention.{key}"), value.clone());
        }
    }
    for (key, path, _) in ALIKE {
        if let Some((_, value)) = preset.iter().find(|(known, _)| known == path) {
            keep(key, value.clone());
        }
    }
    Written::new(values)
}

/// Heads, shifts and conventions.
fn words(config: &NtmConfig, conventions: &Conventions) -> Vec<(&'static str, Value)> {
    let mut heads: Vec<usize> = (0..config.heads()).collect();
    let order = match (&conventions.turns, config.order) {
        (Turns::Together, Order::ReadFirst) => READ_FIRST,
        (Turns::Together, Order::WriteFirst) => WRITE_FIRST,
        (Turns::InTurn(order), _) => {
            heads.clone_from(order);
            IN_TURN
        }
        (Turns::Unknown(words), _) => words,
    };
    let (similarity, formula) = match &conventions.scoring {
        Scoring::Unknown {
            similarity,
            formula,
        } => (similarity.as_str(), formula.as_deref()),
        known => {
            let score = SCORES.iter().find(|(score, ..)| score == known);
            let (_, word, formula) = score.unwrap_or(&SCORES[0]);
            (*word, Some(*formula))
        }
    };
    let name = |&head: &usize| head_name(config.read_heads, head);
    let range = i64::try_from(config.shift_range).unwrap_or(i64::MAX);
    let mut words = vec![
        ("heads", heads.iter().map(name).collect()),
        ("shifts", (-range..=range).collect()),
        ("order", json!(order)),
        ("similarity", json!(similarity)),
    ];
    words.extend(formula.map(|formula| ("similarity_formula", json!(formula))));
    words
}

/// A key that a trace and a preset share: the key, the path in a preset, and the value if it is given.
type Alike = (&'static str, &'static str, fn(&ConfigForm) -> Value);
const ALIKE: &[Alike] = &[
    ("epsilon", "heads.similarity_epsilon", |c| json!(c.epsilon)),
    ("shift_form", "heads.shift.form", |c| json!(c.shift_form)),
    ("key_activation", "heads.key_activation", |c| {
        json!(c.key_activation)
    }),
    ("add_activation", "heads.add_activation", |c| {
        json!(c.add_activation)
    }),
    ("initial_weighting", "heads.initial_weighting", |c| {
        json!(c.initial_weighting)
    }),
];

/// The defaults of a trace, by path in a preset.
const UNSAID: [(&str, &str); 4] = [
    ("heads.key_activation", "identity"),
    ("heads.add_activation", "identity"),
    ("heads.initial_weighting", "learned"),
    ("memory.initial", "learned"),
];

/// Returns the error in the `model` of a preset as one of a trace, whose keys of heads stand beside the others.
fn in_a_trace(error: Error) -> Error {
    let Error::Content {
        file,
        place,
        problem,
    } = error
    else {
        return error;
    };
    let path = place.trim_start_matches("model.");
    let alike = ALIKE.iter().find(|(_, known, _)| *known == path);
    let key = alike.map_or(path.trim_start_matches("heads."), |(key, ..)| *key);
    let place = match path {
        "heads.shift.range" => "model.config.shifts".to_owned(),
        "heads.read" | "heads.write" => "model.config.heads".to_owned(),
        // An unknown task has the channels of its arrays.
        "inputs" => "arrays.input.shape[1]".to_owned(),
        "outputs" => "arrays.output|target.shape[1]".to_owned(),
        _ => format!("model.config.{key}"),
    };
    Error::content(&file, place, problem)
}

/// Returns the metadata of the heads of a machine besides their sizes, by key; one word for a list of equal ones.
fn attention(config: &ModelConfig) -> BTreeMap<String, Value> {
    let said = machine(config, None, &Conventions::default()).into_values();
    let is_it = |key: &str| {
        key.starts_with("config.attention.") || OF_MACHINES.iter().any(|known| key.ends_with(known))
    };
    let said = said.into_iter().filter(|(key, _)| is_it(key));
    let one = |value: Value| match value.as_array().map(Vec::as_slice) {
        Some([first, others @ ..]) if others.iter().all(|other| other == first) => first.clone(),
        _ => value,
    };
    said.map(|(key, value)| (key, one(value))).collect()
}

/// Differences between the heads of two machines, a line for every key that both have and that the file contains.
pub(super) fn unlike_heads(file: &Imported, b: &ModelConfig) -> Vec<String> {
    let (a, b) = (attention(&file.config), attention(b));
    let is_said = |key: &str| {
        let mut left_out = file.declared.iter().filter(|(_, said)| said.is_empty());
        left_out.all(|(known, _)| key.strip_prefix("config.") != Some(*known))
    };
    let pairs = a
        .iter()
        .filter(|(key, _)| is_said(key))
        .filter_map(|(key, value)| Some((key, value, b.get(key)?)));
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    pairs
        .filter(|(_, a, b)| a != b)
        .map(|(key, a, b)| format!("model.{key}: {} and {}", text(a), text(b)))
        .collect()
}

/// `model`, as it is read.
#[derive(Deserialize)]
pub(super) struct MachineForm {
    pub(super) sha256: Option<String>,
    pub(super) config: ConfigForm,
}

/// `model.config`: a foreign machine needs only sizes, heads, shifts and epsilon.
#[derive(Deserialize)]
pub(super) struct ConfigForm {
    /// Left out of a Neural Turing Machine.
    kind: Option<String>,
    /// `memory` and `controller` as in a preset.
    memory: Option<Map<String, Value>>,
    controller: Option<Map<String, Value>>,
    heads: Option<Vec<String>>,
    shifts: Option<Vec<i64>>,
    order: Option<String>,
    similarity: Option<String>,
    similarity_formula: Option<String>,
    epsilon: Option<f64>,
    shift_form: Option<Value>,
    key_activation: Option<Word<VectorActivation>>,
    add_activation: Option<Word<VectorActivation>>,
    initial_weighting: Option<Word<InitialWeighting>>,
    /// `heads.attention` as in a preset.
    attention: Option<Value>,
}

/// Reads an optional value that must not be null.
pub(super) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl ConfigForm {
    /// The index of every head, in the order of the file; `None` when the heads are not `read0`, `read1`, …,
    /// `write0`, …, each once.
    fn heads_in_turn(&self) -> Option<Vec<usize>> {
        let heads = self.heads.as_deref().unwrap_or_default();
        let read = self.reads();
        let known: Vec<_> = (0..heads.len()).map(|head| head_name(read, head)).collect();
        let place = |name: &String| known.iter().position(|known| known == name);
        let order: Vec<usize> = heads.iter().map(place).collect::<Option<_>>()?;
        let is_whole = (0..known.len()).all(|head| order.contains(&head));
        is_whole.then_some(order)
    }

    /// Number of read heads.
    fn reads(&self) -> usize {
        let heads = self.heads.iter().flatten();
        heads.filter(|name| name.starts_with("read")).count()
    }

    /// The largest offset of a shift, and the place of every column of the file among -k ..= k; `None` when
    /// two columns have one offset.
    pub(super) fn shift_places(&self) -> Option<(usize, Vec<usize>)> {
        let shifts = self.shifts.as_deref().unwrap_or_default();
        let most = shifts.iter().map(|shift| shift.unsigned_abs()).max()?;
        let range = usize::try_from(most).ok()?;
        let place =
            |&shift: &i64| usize::try_from(i64::try_from(most).ok()?.checked_add(shift)?).ok();
        let places: Vec<usize> = shifts.iter().map(place).collect::<Option<_>>()?;
        let apart: BTreeSet<_> = places.iter().collect();
        (apart.len() == places.len()).then_some((range, places))
    }

    /// Returns the conventions of the machine, as far as they are given in known words.
    pub(super) fn conventions(&self) -> Conventions {
        let turns = match self.order.as_deref().unwrap_or_default() {
            "" | READ_FIRST | WRITE_FIRST => Turns::Together,
            IN_TURN => Turns::InTurn(self.heads_in_turn().unwrap_or_default()),
            other => Turns::Unknown(other.to_owned()),
        };
        let word = self.similarity.as_deref().unwrap_or("cosine");
        let formula = self.similarity_formula.as_deref();
        let is_meant = |(_, known, by): &&(Scoring, &str, &str)| {
            *known == word && formula.is_none_or(|formula| formula == *by)
        };
        let score = SCORES.iter().find(is_meant);
        let scoring = score.map_or_else(
            || Scoring::Unknown {
                similarity: word.to_owned(),
                formula: formula.map(str::to_owned),
            },
            |(score, ..)| score.clone(),
        );
        Conventions { turns, scoring }
    }

    /// Returns the metadata other than sizes and arrays; empty strings for absent ones.
    pub(super) fn declared(&self) -> Vec<(&'static str, String)> {
        let turns = match self.order.as_deref() {
            Some(IN_TURN) => self.heads.as_deref().unwrap_or_default().join(" "),
            _ => String::new(),
        };
        let text = |value: Value| match value {
            Value::String(word) => word,
            list @ Value::Array(_) => list.to_string(),
            value => said(value.as_f64().map(brief)),
        };
        let mut declared = vec![
            ("order", said(self.order.as_ref())),
            ("turns", turns),
            ("similarity", said(self.similarity.as_ref())),
            ("similarity_formula", said(self.similarity_formula.as_ref())),
        ];
        declared.extend(ALIKE.iter().map(|(key, _, get)| (*key, text(get(self)))));
        let initial = self
            .memory
            .as_ref()
            .and_then(|memory| memory.get("initial"));
        let initial = initial.and_then(|initial| Initial::deserialize(initial).ok());
        let constant = |initial: Initial| initial.0.map_or_else(|| "learned".to_owned(), brief);
        declared.push(("memory.initial", said(initial.map(constant))));
        declared.push(("attention", said(self.attention.as_ref())));
        declared
    }

    /// The machine for a task, held to its ranges.
    pub(super) fn model(&self, task: &Task, label: &str) -> Result<ModelConfig, Error> {
        let preset = self.preset(label)?;
        let model = form::model(&preset, label);
        let model = model.and_then(|model| complete_model(&model, task, label));
        model.map_err(in_a_trace)
    }

    /// The `model` of a preset of it.
    fn preset(&self, label: &str) -> Result<Value, Error> {
        let fail = |problem: &str| Error::content(label, "model.config", problem);
        let mut others = ModelConfig::WORDS.iter().skip(1).map(|(word, _)| *word);
        let kind = others.find(|&word| self.kind.as_deref() == Some(word));
        let mut keys = vec![("kind", json!(kind))];
        if kind.is_none() {
            keys.extend(UNSAID.map(|(path, word)| (path, json!(word))));
            for (key, is_there) in [
                ("epsilon", self.epsilon.is_some()),
                ("heads", self.heads.is_some()),
                ("shifts", self.shifts.is_some()),
                ("memory", self.memory.is_some()),
                ("controller", self.controller.is_some()),
            ] {
                if !is_there {
                    return Err(fail(&format!("missing field `{key}`")));
                }
            }
            let known = self.heads_in_turn().zip(self.shift_places());
            let (heads, (range, _)) = known.ok_or_else(|| {
                fail("expected heads named read0, read1, …, write0, …, each once, and no shift twice")
            })?;
            let is_other = self.order.as_deref() == Some(WRITE_FIRST);
            let order = is_other.then_some(Word(Order::WriteFirst));
            keys.extend([
                ("heads.read", json!(self.reads())),
                ("heads.write", json!(heads.len() - self.reads())),
                ("heads.shift.range", json!(range)),
                ("heads.order", json!(order)),
            ]);
            keys.extend(ALIKE.iter().map(|(_, path, get)| (*path, get(self))));
            keys.push(("heads.attention", json!(self.attention)));
        }
        let mut preset = json!({});
        for (path, value) in keys.into_iter().filter(|(_, value)| !value.is_null()) {
            let place = path
                .split('.')
                .fold(&mut preset, |place, key| &mut place[key]);
            *place = value;
        }
        for (section, given) in [("memory", &self.memory), ("controller", &self.controller)] {
            let path = format!("model.{section}");
            let known = given.iter().flatten();
            for (key, value) in known.filter(|(key, _)| form::is_key(&path, key)) {
                preset[section][key] = value.clone();
            }
        }
        Ok(preset)
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
    for (axis, _) in &AXES[1..] {
        let mut sizes = arrays
            .iter()
            .flat_map(|array| array.dims.iter().zip(&array.shape));
        let one = sizes.find_map(|(other, &size)| (other == axis).then_some(size));
        // Of one layer no array has the axis.
        let layers = (*axis == "l").then_some(recording.trace.layers.len());
        let every = (*axis == "f").then_some(KEYFRAME);
        if let Some(size) = one.or(layers) {
            values.push((format!("{axis}.size"), json!(size)));
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
    let (size, repeats) = (episode.size, episode.repeats);
    let thing = match task {
        Task::Copy(_) | Task::RepeatCopy(_) | Task::PrioritySort(_) => "vector",
        Task::AssociativeRecall(_) => "item",
        Task::Ngrams(_) => "bit",
        Task::Episodes(_) | Task::External(_) => "step",
    };
    let plural = if size == 1 { "" } else { "s" };
    let times = task
        .repeats()
        .map_or_else(String::new, |_| format!(" × {repeats}"));
    format!("{}, {size} {thing}{plural}{times}", task.name())
}
