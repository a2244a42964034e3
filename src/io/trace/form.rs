//! Everything in a trace but its arrays, as JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{IN_TURN, KEYFRAME, READ_FIRST, SCORES, Source, WRITE_FIRST, writes_full_memory};
use crate::io::error::short;
use crate::io::preset::form::{
    ActivationForm, ControllerForm, Ends, HeadsForm, InitialWeightingForm, MemoryForm, ModelForm,
    OrderForm, ShiftFields, ShiftFormForm, TaskForm, TaskKind,
};
use crate::model::config::Order;
use crate::model::config::brief;
use crate::model::{Conventions, ModelConfig, Scoring, Turns};
use crate::task::{Episode, Phase, Task};
use crate::train::Recording;

/// `task`: what was asked. Seed and index are strings, because JSON's numbers end at 2^53.
#[derive(Serialize, Deserialize)]
pub(super) struct AskedForm {
    pub(super) name: NameForm,
    #[serde(default)]
    pub(super) params: ParamsForm,
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

/// A task of ours, or whatever another program calls its own.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the name of a task")]
pub(super) enum NameForm {
    Ours(TaskKind),
    Other(String),
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct ParamsForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item_length: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<RangeForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<RangeForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sorted: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeats: Option<RangeForm>,
}

/// A number, or [lowest, highest].
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or [lowest, highest]")]
enum RangeForm {
    One(usize),
    Between([usize; 2]),
}

impl From<Ends> for RangeForm {
    fn from(Ends([low, high]): Ends) -> Self {
        if low == high {
            Self::One(low)
        } else {
            Self::Between([low, high])
        }
    }
}

impl From<RangeForm> for Ends {
    fn from(form: RangeForm) -> Self {
        match form {
            RangeForm::One(value) => Self([value, value]),
            RangeForm::Between(ends) => Self(ends),
        }
    }
}

impl ParamsForm {
    fn is_empty(&self) -> bool {
        let numbers = [self.bits, self.context, self.item_length, self.sorted];
        let ranges = [self.length, self.items, self.repeats];
        numbers.iter().all(Option::is_none) && ranges.iter().all(Option::is_none)
    }
}

impl AskedForm {
    pub(super) fn new(recording: &Recording) -> Self {
        let (form, episode) = (TaskForm::from(&recording.task), &recording.episode);
        let measure = recording.task.size_name();
        // Traces of plain copy say `"repeats": 1`, and always have.
        let has_repeats = matches!(&recording.task, Task::Copy(_) | Task::RepeatCopy(_));
        Self {
            name: match &recording.task {
                Task::Other(task) => NameForm::Other(task.name.clone()),
                _ => NameForm::Ours(form.kind),
            },
            params: ParamsForm {
                bits: form.bits,
                context: form.context,
                item_length: form.item_length,
                length: form.length.map(RangeForm::from),
                items: form.items.map(RangeForm::from),
                sorted: form.sorted,
                repeats: form.repeats.map(RangeForm::from),
            },
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
        match &self.name {
            NameForm::Ours(_) if !self.params.is_empty() && self.size().is_some() => None,
            _ => Some(short(&self.said())),
        }
    }

    pub(super) fn task_form(&self) -> TaskForm {
        let params = &self.params;
        TaskForm {
            kind: match self.name {
                NameForm::Ours(kind) => kind,
                NameForm::Other(_) => TaskKind::Copy,
            },
            bits: params.bits,
            context: params.context,
            item_length: params.item_length,
            length: params.length.map(Ends::from),
            items: params.items.map(Ends::from),
            sorted: params.sorted,
            repeats: params.repeats.map(Ends::from),
        }
    }

    /// The size of this episode, when the file says so: by itself, or by parameters that allow no other.
    pub(super) fn size(&self) -> Option<usize> {
        let only = || {
            let Ends([low, high]) = self.params.length.or(self.params.items)?.into();
            (low == high).then_some(low)
        };
        self.length.or(self.items).or_else(only)
    }

    /// What the task is called.
    pub(super) fn said(&self) -> String {
        match &self.name {
            NameForm::Other(name) => name.clone(),
            NameForm::Ours(kind) => word(Some(kind)),
        }
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

/// `model.config`. Of a foreign trace only sizes, heads, shifts and epsilon are required.
#[derive(Serialize, Deserialize)]
pub(super) struct ConfigForm {
    memory: MemoryForm,
    controller: ControllerForm,
    pub(super) heads: Vec<String>,
    pub(super) shifts: Vec<i64>,
    #[serde(default)]
    order: Option<String>,
    #[serde(default)]
    similarity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    similarity_formula: Option<String>,
    epsilon: f64,
    #[serde(default)]
    shift_form: Option<ShiftFormForm>,
    #[serde(default)]
    key_activation: Option<ActivationForm>,
    #[serde(default)]
    add_activation: Option<ActivationForm>,
    #[serde(default)]
    initial_weighting: Option<InitialWeightingForm>,
}

impl MachineForm {
    pub(super) fn new(source: &Source, conventions: &Conventions) -> Self {
        let config = source.config;
        let form = ModelForm::from(config);
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
        Self {
            sha256: source.sha256.map(str::to_owned),
            config: ConfigForm {
                memory: form.memory,
                controller: form.controller,
                heads: heads.iter().map(|&head| config.head_name(head)).collect(),
                shifts: shifts(config.shift_range).collect(),
                order: Some(order.to_owned()),
                similarity: Some(similarity),
                similarity_formula: formula,
                epsilon: form.heads.similarity_epsilon,
                shift_form: Some(form.heads.shift.form),
                key_activation: Some(form.heads.key_activation),
                add_activation: Some(form.heads.add_activation),
                initial_weighting: Some(form.heads.initial_weighting),
            },
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
        let read = self.heads.iter().filter(|name| name.starts_with("read"));
        let named = ModelConfig {
            read_heads: read.count(),
            ..ModelConfig::new(1, 1)
        };
        let known: Vec<_> = (0..self.heads.len())
            .map(|head| named.head_name(head))
            .collect();
        let place = |name: &String| known.iter().position(|known| known == name);
        let order: Vec<usize> = self.heads.iter().map(place).collect::<Option<_>>()?;
        let is_whole = (0..known.len()).all(|head| order.contains(&head));
        is_whole.then_some(order)
    }

    /// The largest offset of a shift, and the place of every column of the file among -k ..= k; `None` when
    /// two columns have one offset.
    pub(super) fn shift_places(&self) -> Option<(usize, Vec<usize>)> {
        let most = self.shifts.iter().map(|shift| shift.unsigned_abs()).max()?;
        let range = usize::try_from(most).ok()?;
        let place =
            |&shift: &i64| usize::try_from(i64::try_from(most).ok()?.checked_add(shift)?).ok();
        let places: Vec<usize> = self.shifts.iter().map(place).collect::<Option<_>>()?;
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
            Some(IN_TURN) => self.heads.join(" "),
            _ => String::new(),
        };
        vec![
            ("order", said(&self.order)),
            ("turns", turns),
            ("similarity", said(&self.similarity)),
            ("similarity_formula", said(&self.similarity_formula)),
            ("epsilon", brief(self.epsilon)),
            ("shift_form", word(self.shift_form.as_ref())),
            ("key_activation", word(self.key_activation.as_ref())),
            ("add_activation", word(self.add_activation.as_ref())),
            ("initial_weighting", word(self.initial_weighting.as_ref())),
        ]
    }

    /// The machine in the words of a preset; `None` when its heads or shifts are not those of any machine.
    pub(super) fn model_form(self) -> Option<ModelForm> {
        self.heads_in_turn()?;
        let (range, _) = self.shift_places()?;
        let read = self.heads.iter().filter(|name| name.starts_with("read"));
        let read = read.count();
        let default = HeadsForm::default();
        Some(ModelForm {
            memory: self.memory,
            controller: self.controller,
            heads: HeadsForm {
                read,
                write: self.heads.len() - read,
                shift: ShiftFields {
                    form: self.shift_form.unwrap_or(default.shift.form),
                    range,
                },
                key_activation: self.key_activation.unwrap_or(default.key_activation),
                add_activation: self.add_activation.unwrap_or(default.add_activation),
                similarity_epsilon: self.epsilon,
                initial_weighting: self.initial_weighting.unwrap_or(default.initial_weighting),
                order: match self.order.as_deref() {
                    Some(WRITE_FIRST) => OrderForm::WriteFirst,
                    _ => default.order,
                },
            },
        })
    }
}

/// The word that stands for a form in a file.
fn word(form: Option<&impl Serialize>) -> String {
    let value = form.and_then(|form| serde_json::to_value(form).ok());
    let text = value.as_ref().and_then(serde_json::Value::as_str);
    text.unwrap_or_default().to_owned()
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
#[derive(Serialize)]
pub(super) struct AxesForm {
    t: TimeForm<'static>,
    n: SizeForm,
    m: SizeForm,
    x: SizeForm,
    y: SizeForm,
    c: SizeForm,
    l: SizeForm,
    s: SizeForm,
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<FramesForm>,
}

/// Frame i of `memory.keyframes` is the memory after t steps, `t = (i + 1)·every`.
#[derive(Serialize)]
struct FramesForm {
    size: usize,
    every: usize,
}

#[derive(Serialize)]
struct SizeForm {
    size: usize,
}

/// The time axis and the phases of the episode: name, first step, one past the last step.
#[derive(Serialize, Deserialize)]
pub(super) struct TimeForm<'a> {
    pub(super) size: usize,
    #[serde(borrow)]
    pub(super) phases: Vec<(Cow<'a, str>, usize, usize)>,
}

impl AxesForm {
    pub(super) fn new(recording: &Recording, source: &Source) -> Self {
        let (config, t) = (source.config, recording.episode.steps());
        let frames = FramesForm {
            size: t.saturating_sub(1) / KEYFRAME,
            every: KEYFRAME,
        };
        let is_full = writes_full_memory(config, t, source.full_memory);
        let size = |size| SizeForm { size };
        let phase = |phase: &Phase| (phase.name.clone(), phase.start, phase.end);
        Self {
            t: TimeForm {
                size: t,
                phases: recording.episode.phases.iter().map(phase).collect(),
            },
            n: size(config.rows),
            m: size(config.columns),
            x: size(config.inputs),
            y: size(config.outputs),
            c: size(config.controller.size),
            l: size(config.controller.layers),
            s: size(config.offsets()),
            f: (!is_full).then_some(frames),
        }
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
