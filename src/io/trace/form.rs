//! Everything in a trace but its arrays, as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::table::{AXES, Described};
use super::{IN_TURN, KEYFRAME, READ_FIRST, SCORES, Source, WRITE_FIRST};
use crate::io::Error;
use crate::io::error::short;
use crate::io::preset::form::{self, Initial, Word, Written};
use crate::keys::{Choice, Words, brief};
use crate::model::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, Order, ShiftForm,
    VectorActivation,
};
use crate::model::{Conventions, ModelConfig, NtmConfig, Scoring, Turns, head_name};
use crate::task::{Episode, Phase, Task};
use crate::train::Recording;

/// `task`: what was asked. Seed and index are strings, because JSON's numbers end at 2^53.
#[derive(Serialize, Deserialize)]
pub(super) struct AskedForm {
    pub(super) name: String,
    /// As in a preset, but for a range that is one number.
    #[serde(default, deserialize_with = "parameters")]
    params: Map<String, Value>,
    #[serde(default)]
    pub(super) seed: Option<String>,
    #[serde(default)]
    pub(super) episode: Option<String>,
    /// Of this episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<usize>,
    /// Of this episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items: Option<usize>,
    /// Of this episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repeats: Option<usize>,
}

/// Those parameters that some task of ours has; what else stands there may be as large as the file.
fn parameters<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
    const LONGEST: usize = 1000;
    let all: BTreeMap<Cow<'de, str>, &'de RawValue> = Deserialize::deserialize(from)?;
    let ours = all.into_iter().filter(|(key, value)| {
        form::is_key("task", key) && value.get() != "null" && value.get().len() < LONGEST
    });
    let parsed =
        ours.map(|(key, value)| Ok((key.into_owned(), serde_json::from_str(value.get())?)));
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error: serde_json::Error| D::Error::custom(error))
}

impl AskedForm {
    pub(super) fn new(recording: &Recording) -> Self {
        let (task, episode) = (&recording.task, &recording.episode);
        let measure = task.size_name();
        // Traces of plain copy say `"repeats": 1`, and always have.
        let has_repeats = matches!(task, Task::Copy(_) | Task::RepeatCopy(_));
        let parameter = |(key, value): (String, Value)| match value.as_array().map(Vec::as_slice) {
            Some([low, high]) if low == high => (key, low.clone()),
            _ => (key, value),
        };
        let params = Written::of(task)
            .into_values()
            .into_iter()
            .filter(|(key, _)| key != "kind");
        Self {
            name: task.name().to_owned(),
            params: params.map(parameter).collect(),
            seed: recording.origin.map(|(seed, _)| seed.to_string()),
            episode: recording.origin.map(|(_, index)| index.to_string()),
            length: (measure == "length").then_some(episode.size),
            items: (measure == "items").then_some(episode.size),
            repeats: has_repeats.then_some(episode.repeats),
        }
    }

    /// The name of a task that is not ours, or of which too little is known: the name alone, or not the size of
    /// this episode.
    pub(super) fn other(&self) -> Option<String> {
        let is_ours = Task::WORDS.iter().any(|(word, _)| *word == self.name);
        let is_known = is_ours && !self.known().is_empty() && self.size().is_some();
        (!is_known).then(|| short(&self.name))
    }

    /// The parameters that a task of ours has, as presets have them.
    fn known(&self) -> Map<String, Value> {
        let known = self
            .params
            .iter()
            .filter(|(key, _)| form::is_key("task", key));
        known
            .map(|(key, value)| {
                let is_range = ["length", "items", "repeats"].contains(&&**key);
                let value = if is_range && value.is_number() {
                    json!([value, value])
                } else {
                    value.clone()
                };
                (key.clone(), value)
            })
            .collect()
    }

    /// The task, one of ours.
    pub(super) fn task(&self, label: &str) -> Result<Task, Error> {
        form::task(&self.name, &self.known(), label)
    }

    /// The size of this episode, when the file says so: by itself, or by parameters that allow no other.
    pub(super) fn size(&self) -> Option<usize> {
        let only = || {
            let range = self.params.get("length").or(self.params.get("items"))?;
            let size = match range.as_array().map(Vec::as_slice) {
                Some([low, high]) if low == high => low,
                _ => range,
            };
            usize::try_from(size.as_u64()?).ok()
        };
        self.length.or(self.items).or_else(only)
    }

    /// Seed and index, when both are there and are numbers.
    pub(super) fn origin(&self) -> Option<(u64, u64)> {
        let number = |text: &Option<String>| text.as_ref()?.parse().ok();
        Some((number(&self.seed)?, number(&self.episode)?))
    }
}

/// `model`: who answered.
#[derive(Serialize, Deserialize)]
pub(super) struct MachineForm {
    #[serde(default)]
    pub(super) sha256: Option<String>,
    pub(super) config: ConfigForm,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
struct MemoryForm {
    rows: usize,
    columns: usize,
    initial: Initial,
}

impl From<&NtmConfig> for MemoryForm {
    fn from(config: &NtmConfig) -> Self {
        Self {
            rows: config.rows,
            columns: config.columns,
            initial: match config.initial_memory {
                InitialMemory::Constant(value) => Initial(Some(value)),
                InitialMemory::Learned => Initial(None),
            },
        }
    }
}

impl Default for MemoryForm {
    fn default() -> Self {
        Self::from(&NtmConfig::new(1, 1))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
struct ControllerForm {
    kind: Word<ControllerKind>,
    size: usize,
    layers: usize,
}

impl From<&NtmConfig> for ControllerForm {
    fn from(config: &NtmConfig) -> Self {
        let ControllerConfig { kind, size, layers } = config.controller;
        Self {
            kind: Word(kind),
            size,
            layers,
        }
    }
}

impl Default for ControllerForm {
    fn default() -> Self {
        Self::from(&NtmConfig::new(1, 1))
    }
}

/// `model.config`: of a Neural Turing Machine in words that those of other programs can be told in too; of a foreign
/// one only sizes, heads, shifts and epsilon are required. Of another kind as in a preset.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ConfigForm {
    /// Left out of a Neural Turing Machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    controller: Option<ControllerForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heads: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shifts: Option<Vec<i64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    similarity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    similarity_formula: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift_form: Option<Word<ShiftForm>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_activation: Option<Word<VectorActivation>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    add_activation: Option<Word<VectorActivation>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initial_weighting: Option<Word<InitialWeighting>>,
}

impl MachineForm {
    pub(super) fn new(source: &Source, conventions: &Conventions) -> Self {
        let config = match source.config.ntm() {
            Some(ntm) => ConfigForm::new(ntm, conventions),
            None => ConfigForm::other(source.config),
        };
        Self {
            sha256: source.sha256.map(str::to_owned),
            config,
        }
    }
}

impl ConfigForm {
    /// Another kind: what it has of the sections of a preset.
    fn other(config: &ModelConfig) -> Self {
        let sections = json!(Written::of(config));
        serde_json::from_value(sections).unwrap_or_default()
    }

    fn new(config: &NtmConfig, conventions: &Conventions) -> Self {
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
            } => (similarity.clone(), formula.clone()),
            known => {
                let score = SCORES.iter().find(|(score, ..)| score == known);
                let (_, word, formula) = score.unwrap_or(&SCORES[0]);
                ((*word).to_owned(), Some((*formula).to_owned()))
            }
        };
        let name = |&head: &usize| head_name(config.read_heads, head);
        Self {
            kind: None,
            memory: Some(config.into()),
            controller: Some(config.into()),
            heads: Some(heads.iter().map(name).collect()),
            shifts: Some(shifts(config.shift_range).collect()),
            order: Some(order.to_owned()),
            similarity: Some(similarity),
            similarity_formula: formula,
            epsilon: Some(config.similarity_epsilon),
            shift_form: Some(Word(config.shift_form)),
            key_activation: Some(Word(config.key_activation)),
            add_activation: Some(Word(config.add_activation)),
            initial_weighting: Some(Word(config.initial_weighting)),
        }
    }
}

/// -range ..= range.
fn shifts(range: usize) -> std::ops::RangeInclusive<i64> {
    let range = i64::try_from(range).unwrap_or(i64::MAX);
    -range..=range
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

    /// How many of the heads read.
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
        let mut apart = places.clone();
        apart.sort_unstable();
        apart.dedup();
        (apart.len() == places.len()).then_some((range, places))
    }

    /// How the machine works, as far as it says so in known words.
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

    /// What is said in words or numbers, and is neither a size nor an array; empty where it is not said.
    pub(super) fn declared(&self) -> Vec<(&'static str, String)> {
        let said = |text: &Option<String>| text.clone().unwrap_or_default();
        let turns = match self.order.as_deref() {
            Some(IN_TURN) => self.heads.as_deref().unwrap_or_default().join(" "),
            _ => String::new(),
        };
        vec![
            ("order", said(&self.order)),
            ("turns", turns),
            ("similarity", said(&self.similarity)),
            ("similarity_formula", said(&self.similarity_formula)),
            ("epsilon", self.epsilon.map_or_else(String::new, brief)),
            ("shift_form", word(self.shift_form.as_ref())),
            ("key_activation", word(self.key_activation.as_ref())),
            ("add_activation", word(self.add_activation.as_ref())),
            ("initial_weighting", word(self.initial_weighting.as_ref())),
        ]
    }

    /// The machine, but for the channels of its task.
    pub(super) fn model(self, label: &str) -> Result<ModelConfig, Error> {
        let fail = |problem: &str| Error::content(label, "model.config", problem);
        let other = |kind: &&String| {
            let known = ModelConfig::WORDS.iter().skip(1);
            known.into_iter().any(|(word, _)| word == kind)
        };
        if let Some(kind) = self.kind.as_ref().filter(other) {
            let mut sections = json!({ "kind": kind });
            if let Some(memory) = &self.memory {
                sections["memory"] = json!(memory);
            }
            if let Some(controller) = &self.controller {
                sections["controller"] = json!(controller);
            }
            return form::model(&sections, label);
        }
        let missing = |key| move || fail(&format!("missing field `{key}`"));
        let epsilon = self.epsilon.ok_or_else(missing("epsilon"))?;
        let heads = self.heads.as_ref().ok_or_else(missing("heads"))?.len();
        self.shifts.as_ref().ok_or_else(missing("shifts"))?;
        let known = self.heads_in_turn().and_then(|_| self.shift_places());
        let (range, _) = known.ok_or_else(|| {
            fail("expected heads named read0, read1, …, write0, …, each once, and no shift twice")
        })?;
        let (default, read) = (NtmConfig::new(1, 1), self.reads());
        let memory = self.memory.ok_or_else(missing("memory"))?;
        let ControllerForm { kind, size, layers } =
            self.controller.ok_or_else(missing("controller"))?;
        let ntm = NtmConfig {
            rows: memory.rows,
            columns: memory.columns,
            controller: ControllerConfig {
                kind: kind.0,
                size,
                layers,
            },
            read_heads: read,
            write_heads: heads - read,
            shift_range: range,
            shift_form: self.shift_form.map_or(default.shift_form, |word| word.0),
            key_activation: self
                .key_activation
                .map_or(default.key_activation, |word| word.0),
            add_activation: self
                .add_activation
                .map_or(default.add_activation, |word| word.0),
            similarity_epsilon: epsilon,
            initial_memory: memory
                .initial
                .0
                .map_or(InitialMemory::Learned, InitialMemory::Constant),
            initial_weighting: self
                .initial_weighting
                .map_or(default.initial_weighting, |word| word.0),
            order: match self.order.as_deref() {
                Some(WRITE_FIRST) => Order::WriteFirst,
                _ => default.order,
            },
            ..default
        };
        Ok(ntm.into())
    }
}

/// The word of a choice; empty where nothing is said.
fn word<T: Words>(choice: Option<&Word<T>>) -> String {
    choice.map_or("", |choice| choice.0.word()).to_owned()
}

/// `numeric`: how numbers are written.
#[derive(Serialize)]
pub(super) struct NumericForm {
    dtype: &'static str,
    decimal: &'static str,
    nonfinite: &'static str,
    layout: &'static str,
}

pub(super) const NUMERIC: NumericForm = NumericForm {
    dtype: "float32",
    decimal: "shortest-roundtrip",
    nonfinite: "string",
    layout: "row-major",
};

/// `axes`: the size of every axis that an array's `dims` names.
pub(super) struct AxesForm {
    t: TimeForm<'static>,
    sizes: Vec<(&'static str, SizeForm)>,
}

/// Frame i of `memory.keyframes` is the memory after t steps, `t = (i + 1)·every`.
#[derive(Serialize)]
struct SizeForm {
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<usize>,
}

/// The time axis and the phases of the episode: name, first step, one past the last step.
#[derive(Serialize, Deserialize)]
pub(super) struct TimeForm<'a> {
    pub(super) size: usize,
    #[serde(borrow)]
    pub(super) phases: Vec<(Cow<'a, str>, usize, usize)>,
}

impl AxesForm {
    pub(super) fn new(recording: &Recording, arrays: &[Described]) -> Self {
        let phase = |phase: &Phase| (phase.name.clone(), phase.start, phase.end);
        let size = |&(axis, _): &(&'static str, _)| {
            let axes = arrays
                .iter()
                .flat_map(|array| array.dims.iter().zip(&array.shape));
            let one = axes
                .filter(|(other, _)| **other == axis)
                .map(|(_, &size)| size)
                .next();
            let layers = (axis == "l").then_some(recording.trace.layers.len());
            let every = (axis == "f").then_some(KEYFRAME);
            one.or(layers).map(|size| (axis, SizeForm { size, every }))
        };
        Self {
            t: TimeForm {
                size: recording.episode.steps(),
                phases: recording.episode.phases.iter().map(phase).collect(),
            },
            sizes: AXES[1..].iter().filter_map(size).collect(),
        }
    }
}

impl Serialize for AxesForm {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("t", &self.t)?;
        for (axis, size) in &self.sizes {
            map.serialize_entry(axis, size)?;
        }
        map.end()
    }
}

/// The title of a window that shows such an episode.
pub(super) fn title(task: &Task, episode: &Episode) -> String {
    let (size, repeats) = (episode.size, episode.repeats);
    let thing = match task {
        Task::Copy(_) | Task::RepeatCopy(_) | Task::PrioritySort(_) => "vector",
        Task::AssociativeRecall(_) => "item",
        Task::Ngrams(_) => "bit",
        Task::Other(_) => "step",
    };
    let plural = if size == 1 { "" } else { "s" };
    let times = task
        .repeats()
        .map_or_else(String::new, |_| format!(" × {repeats}"));
    format!("{}, {size} {thing}{plural}{times}", task.name())
}
