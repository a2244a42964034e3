//! A preset as it is typed. Types are checked here by serde, ranges on the way to an [`Experiment`].

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::ser::{Formatter, PrettyFormatter};
use serde_json::{Map, Serializer, Value};

use super::{
    EvaluationConfig, Experiment, MAX_CONTEXT, MAX_ITEM_LENGTH, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS,
    Override, keys, most_size,
};
use crate::io::Error;
use crate::io::error::short;
use crate::model::ModelConfig;
use crate::model::config::{
    ConfigError, ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, Order,
    ShiftForm, VectorActivation,
};
use crate::task::{AssociativeRecall, Copy, Measure, Ngrams, PrioritySort, RepeatCopy, Task};
use crate::train::{Clip, OptimizerConfig, TrainingConfig};

#[derive(Serialize, Deserialize)]
pub(in crate::io) struct Form {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default)]
    description: String,
    task: TaskForm,
    #[serde(default)]
    model: ModelForm,
    #[serde(default)]
    training: TrainingForm,
    #[serde(default)]
    evaluation: EvaluationForm,
}

#[derive(Serialize, Deserialize)]
pub(in crate::io) struct TaskForm {
    pub(in crate::io) kind: TaskKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) bits: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) context: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) item_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) length: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) items: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) sorted: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::io) repeats: Option<Ends>,
}

/// [lowest, highest].
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>")]
pub(in crate::io) struct Ends(pub(in crate::io) [usize; 2]);

impl TryFrom<Vec<usize>> for Ends {
    type Error = String;

    fn try_from(values: Vec<usize>) -> Result<Self, String> {
        let ends = values.try_into().map(Self);
        ends.map_err(|values: Vec<usize>| {
            format!("has {} values; expected [lowest, highest]", values.len())
        })
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::io) enum TaskKind {
    Copy,
    RepeatCopy,
    AssociativeRecall,
    Ngrams,
    PrioritySort,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io) struct ModelForm {
    pub(in crate::io) memory: MemoryForm,
    pub(in crate::io) controller: ControllerForm,
    pub(in crate::io) heads: HeadsForm,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io) struct MemoryForm {
    pub(in crate::io) rows: usize,
    pub(in crate::io) columns: usize,
    pub(in crate::io) initial: InitialMemoryForm,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected \"learned\" or {\"constant\": number}"
)]
pub(in crate::io) enum InitialMemoryForm {
    Constant { constant: f64 },
    Word(LearnedWord),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::io) enum LearnedWord {
    Learned,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io) struct ControllerForm {
    pub(in crate::io) kind: ControllerKindForm,
    pub(in crate::io) size: usize,
    pub(in crate::io) layers: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::io) enum ControllerKindForm {
    Lstm,
    Feedforward,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io) struct HeadsForm {
    pub(in crate::io) read: usize,
    pub(in crate::io) write: usize,
    pub(in crate::io) shift: ShiftFields,
    pub(in crate::io) key_activation: ActivationForm,
    pub(in crate::io) add_activation: ActivationForm,
    pub(in crate::io) similarity_epsilon: f64,
    pub(in crate::io) initial_weighting: InitialWeightingForm,
    pub(in crate::io) order: OrderForm,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io) struct ShiftFields {
    pub(in crate::io) form: ShiftFormForm,
    pub(in crate::io) range: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::io) enum ShiftFormForm {
    Softmax,
    Scalar,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::io) enum ActivationForm {
    Tanh,
    Identity,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::io) enum OrderForm {
    ReadFirst,
    WriteFirst,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::io) enum InitialWeightingForm {
    OneHot,
    Learned,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
struct TrainingForm {
    optimizer: OptimizerForm,
    final_rate: f64,
    settled_below: f64,
    settled_rate: f64,
    clip: ClipForm,
    batch: usize,
    sequences: u64,
    seed: u64,
    validation_every: u64,
    validation_episodes: usize,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OptimizerKind {
    Rmsprop,
    Adam,
}

#[derive(Serialize, Deserialize)]
struct OptimizerForm {
    kind: OptimizerKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClipKind {
    Elementwise,
    GlobalNorm,
    None,
}

#[derive(Serialize, Deserialize)]
struct ClipForm {
    kind: ClipKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(default)]
struct EvaluationForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    lengths: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<usize>,
    episodes: usize,
}

// ---------------------------------------------------------------------------------------------------
// Defaults. Those of the machine are written down once, in `ModelConfig::new`.

impl Default for ModelForm {
    fn default() -> Self {
        Self::from(&ModelConfig::new(1, 1))
    }
}

impl Default for MemoryForm {
    fn default() -> Self {
        ModelForm::default().memory
    }
}

impl Default for ControllerForm {
    fn default() -> Self {
        ModelForm::default().controller
    }
}

impl Default for HeadsForm {
    fn default() -> Self {
        ModelForm::default().heads
    }
}

impl Default for ShiftFields {
    fn default() -> Self {
        HeadsForm::default().shift
    }
}

impl Default for TrainingForm {
    fn default() -> Self {
        Self {
            optimizer: OptimizerForm::of_kind(OptimizerKind::Rmsprop),
            final_rate: 1.0,
            settled_below: 0.0,
            settled_rate: 0.1,
            clip: ClipForm {
                kind: ClipKind::Elementwise,
                limit: None,
            },
            batch: 1,
            sequences: 100_000,
            seed: 1,
            validation_every: 1000,
            validation_episodes: 100,
        }
    }
}

impl OptimizerForm {
    fn of_kind(kind: OptimizerKind) -> Self {
        Self {
            kind,
            rate: None,
            decay: None,
            momentum: None,
            beta1: None,
            beta2: None,
            epsilon: None,
        }
    }
}

impl Default for EvaluationForm {
    fn default() -> Self {
        Self {
            lengths: None,
            items: None,
            repeats: Vec::new(),
            episodes: 100,
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Text to form.

impl Form {
    /// Reads a form; an error names the path at which it was found.
    pub(super) fn read<'de>(
        source: impl Deserializer<'de, Error = serde_json::Error>,
        file: &str,
    ) -> Result<Self, Error> {
        serde_path_to_error::deserialize(source).map_err(|error| {
            let path = error.path().to_string();
            let place = if path == "." { String::new() } else { path };
            Error::content(file, place, plain(&error.inner().to_string()))
        })
    }

    /// The same form with some values changed; types are checked again.
    pub(super) fn with(&self, overrides: &[Override]) -> Result<Self, Error> {
        let mut value = serde_json::to_value(self).expect("a form is an object of plain values");
        for change in overrides {
            keys::set(&mut value, &change.path, &change.value)?;
        }
        Self::read(value, "--set")
    }

    /// A tree of every key that any preset may have.
    pub(super) fn every_key() -> Map<String, Value> {
        let any = Some(0.0);
        let form = Self {
            name: Some(String::new()),
            title: Some(String::new()),
            description: String::new(),
            task: TaskForm {
                kind: TaskKind::RepeatCopy,
                bits: Some(0),
                context: Some(0),
                item_length: Some(0),
                length: Some(Ends([0, 0])),
                items: Some(Ends([0, 0])),
                sorted: Some(0),
                repeats: Some(Ends([0, 0])),
            },
            model: ModelForm {
                memory: MemoryForm {
                    // A leaf: its object form is a value, not a set of keys.
                    initial: InitialMemoryForm::Word(LearnedWord::Learned),
                    ..MemoryForm::default()
                },
                ..ModelForm::default()
            },
            training: TrainingForm {
                optimizer: OptimizerForm {
                    kind: OptimizerKind::Adam,
                    rate: any,
                    decay: any,
                    momentum: any,
                    beta1: any,
                    beta2: any,
                    epsilon: any,
                },
                clip: ClipForm {
                    kind: ClipKind::Elementwise,
                    limit: any,
                },
                ..TrainingForm::default()
            },
            evaluation: EvaluationForm {
                lengths: Some(Vec::new()),
                items: Some(Vec::new()),
                repeats: vec![0],
                ..EvaluationForm::default()
            },
        };
        match serde_json::to_value(form) {
            Ok(Value::Object(keys)) => keys,
            _ => unreachable!("a form is an object of plain values"),
        }
    }

    /// Indented, with lists of numbers on one line.
    pub(super) fn to_json(&self) -> String {
        let mut json = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut json, Indented::default());
        self.serialize(&mut serializer)
            .expect("a form is an object of plain values");
        json.push(b'\n');
        String::from_utf8(json).expect("JSON is text")
    }
}

/// serde_json's indented form, but for lists, which stay on one line.
#[derive(Default)]
struct Indented {
    objects: PrettyFormatter<'static>,
}

impl Formatter for Indented {
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.objects.begin_object(to)
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.objects.end_object(to)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.objects.begin_object_key(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.objects.begin_object_value(to)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.objects.end_object_value(to)
    }
}

/// Serde's words for Rust's types, in the words of a preset. What is quoted from the file stays as it is,
/// but for a text that would fill the screen: that is cut.
pub(in crate::io) fn plain(message: &str) -> String {
    let mut parts = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(['`', '"']) {
        let quote = &rest[start..=start];
        let inside = &rest[start + 1..];
        let Some(end) = closing(inside, quote) else {
            break;
        };
        parts += &translated(&rest[..start]);
        parts += quote;
        parts += &short(&inside[..end]);
        parts += quote;
        rest = &inside[end + 1..];
    }
    parts + &translated(rest)
}

/// Where a quoted text ends: a quotation mark of JSON that belongs to the text has a backslash before it.
fn closing(text: &str, quote: &str) -> Option<usize> {
    let mut ends = text.match_indices(quote).map(|(at, _)| at);
    ends.find(|&at| {
        let slashes = text[..at].chars().rev().take_while(|&c| c == '\\').count();
        quote == "`" || slashes % 2 == 0
    })
}

fn translated(message: &str) -> String {
    const WORDS: [(&str, &str); 24] = [
        ("invalid type: string", "is the text"),
        ("invalid type: integer", "is the number"),
        ("invalid value: integer", "is the number"),
        ("invalid type: floating point", "is the number"),
        ("invalid type: boolean", "is"),
        ("invalid type: null", "is null"),
        ("invalid type: sequence", "is a list"),
        ("invalid type: map", "is an object"),
        ("invalid length", "has the wrong number of values:"),
        ("unknown variant", "is"),
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("duplicate field", "is there twice: the key"),
        ("EOF while parsing a value", "ends too early"),
        (
            "EOF while parsing an object",
            "ends in the middle of an object",
        ),
        ("EOF while parsing a list", "ends in the middle of a list"),
        ("EOF while parsing a string", "ends in the middle of a text"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected ident", "no JSON"),
        ("expected value", "no JSON"),
        ("expected a map", "expected an object"),
        (", expected", "; expected"),
    ];
    let mut message = WORDS
        .iter()
        .fold(message.to_owned(), |text, (from, to)| {
            text.replace(from, to)
        })
        .replace(
            "expected u64",
            &format!("expected a whole number, 0 to {}", u64::MAX),
        );
    // "struct TimeForm": the name is Rust's.
    while let Some(start) = message.find("expected struct ") {
        let name = start + "expected struct ".len();
        let end = message[name..]
            .find(|c: char| !c.is_alphanumeric())
            .map_or(message.len(), |length| name + length);
        message.replace_range(start..end, "expected an object");
    }
    message
}

// ---------------------------------------------------------------------------------------------------
// Form to experiment: every range is checked here.

/// Reports values out of range in one file.
pub(in crate::io) struct Check<'a> {
    pub(in crate::io) file: &'a str,
}

impl Check<'_> {
    fn fail<T>(&self, path: &str, problem: impl Into<String>) -> Result<T, Error> {
        Err(Error::content(self.file, path, problem))
    }

    fn within<T: PartialOrd + Display + std::marker::Copy>(
        &self,
        path: &str,
        value: T,
        allowed: RangeInclusive<T>,
    ) -> Result<T, Error> {
        if allowed.contains(&value) {
            return Ok(value);
        }
        let (low, high) = (allowed.start(), allowed.end());
        self.fail(path, format!("is {value}; allowed: {low} to {high}"))
    }

    /// The error of a configuration that says itself what it allows, in the words of a preset.
    fn valid(&self, section: &str, checked: Result<(), ConfigError>) -> Result<(), Error> {
        checked.or_else(|error| {
            let problem = format!("is {}; allowed: {}", error.found, error.allowed);
            self.fail(&format!("{section}.{}", error.field), problem)
        })
    }

    /// [low, high] as a range of whole numbers, all of them allowed.
    fn range(
        &self,
        path: &str,
        Ends([low, high]): Ends,
        allowed: RangeInclusive<usize>,
    ) -> Result<RangeInclusive<usize>, Error> {
        let (least, most) = (allowed.start(), allowed.end());
        if allowed.contains(&low) && (low..=*most).contains(&high) {
            return Ok(low..=high);
        }
        self.fail(
            path,
            format!(
                "is [{low}, {high}]; allowed: [lowest, highest] with {least} ≤ lowest ≤ highest ≤ {most}"
            ),
        )
    }

    /// A list of whole numbers, all of them allowed.
    fn list(
        &self,
        path: &str,
        values: Vec<usize>,
        allowed: &RangeInclusive<usize>,
    ) -> Result<Vec<usize>, Error> {
        for (index, &value) in values.iter().enumerate() {
            self.within(&format!("{path}[{index}]"), value, allowed.clone())?;
        }
        Ok(values)
    }

    fn bits(&self, bits: usize) -> Result<usize, Error> {
        self.within("task.bits", bits, 1..=1024)
    }

    /// A field that this kind of object does not have must not be given.
    fn absent<T>(
        &self,
        path: &str,
        value: Option<&T>,
        kind: &str,
        allowed: &str,
    ) -> Result<(), Error> {
        match value {
            None => Ok(()),
            Some(_) => self.fail(
                path,
                format!("is not a key of `{kind}`; allowed: {allowed}"),
            ),
        }
    }
}

impl Form {
    pub(super) fn experiment(self, file: &str, stem: &str) -> Result<Experiment, Error> {
        let check = Check { file };
        let name = self.name.unwrap_or_else(|| stem.to_owned());
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
            return check.fail(
                "name",
                "must be usable as the name of a folder: not empty, no slash, no dot in front",
            );
        }
        let task = self.task.task(&check)?;
        Ok(Experiment {
            title: self.title.unwrap_or_else(|| name.clone()),
            name,
            description: self.description,
            model: self.model.config(&task, &check)?,
            training: self.training.config(&check)?,
            evaluation: self.evaluation.config(&task, &check)?,
            task,
        })
    }
}

impl TaskForm {
    const NONE: Self = Self {
        kind: TaskKind::Copy,
        bits: None,
        context: None,
        item_length: None,
        length: None,
        items: None,
        sorted: None,
        repeats: None,
    };

    pub(in crate::io) fn task(&self, check: &Check) -> Result<Task, Error> {
        match self.kind {
            TaskKind::Copy => self.copy(check).map(Task::Copy),
            TaskKind::RepeatCopy => self.repeat_copy(check).map(Task::RepeatCopy),
            TaskKind::AssociativeRecall => {
                self.associative_recall(check).map(Task::AssociativeRecall)
            }
            TaskKind::Ngrams => self.ngrams(check).map(Task::Ngrams),
            TaskKind::PrioritySort => self.priority_sort(check).map(Task::PrioritySort),
        }
    }

    fn copy(&self, check: &Check) -> Result<Copy, Error> {
        self.only(check, "copy", &["bits", "length"])?;
        Ok(Copy {
            bits: self.needed_bits(check, "copy")?,
            length: self.needed_length(check, "copy")?,
        })
    }

    fn repeat_copy(&self, check: &Check) -> Result<RepeatCopy, Error> {
        self.only(check, "repeat_copy", &["bits", "length", "repeats"])?;
        let bits = self.needed_bits(check, "repeat_copy")?;
        let length = self.needed_length(check, "repeat_copy")?;
        let Some(repeats) = self.repeats else {
            return check.fail(
                "task.repeats",
                "is missing; `repeat_copy` needs [lowest, highest], for example [1, 10]",
            );
        };
        Ok(RepeatCopy {
            bits,
            length,
            repeats: check.range("task.repeats", repeats, 1..=MAX_REPEATS)?,
        })
    }

    fn associative_recall(&self, check: &Check) -> Result<AssociativeRecall, Error> {
        let keys = ["bits", "item_length", "items"];
        self.only(check, "associative_recall", &keys)?;
        let default = AssociativeRecall::default();
        let item_length = self.item_length.unwrap_or(default.item_length);
        Ok(AssociativeRecall {
            bits: check.bits(self.bits.unwrap_or(default.bits))?,
            item_length: check.within("task.item_length", item_length, 1..=MAX_ITEM_LENGTH)?,
            items: match self.items {
                Some(items) => check.range("task.items", items, 2..=MAX_ITEMS)?,
                None => default.items,
            },
        })
    }

    fn ngrams(&self, check: &Check) -> Result<Ngrams, Error> {
        self.only(check, "ngrams", &["context", "length"])?;
        let default = Ngrams::default();
        let context = self.context.unwrap_or(default.context);
        Ok(Ngrams {
            context: check.within("task.context", context, 1..=MAX_CONTEXT)?,
            length: match self.length {
                Some(length) => check.range("task.length", length, 1..=MAX_LENGTH)?,
                None => default.length,
            },
        })
    }

    fn priority_sort(&self, check: &Check) -> Result<PrioritySort, Error> {
        self.only(check, "priority_sort", &["bits", "items", "sorted"])?;
        let default = PrioritySort::default();
        let bits = check.bits(self.bits.unwrap_or(default.bits))?;
        let items = match self.items {
            Some(items) => check.range("task.items", items, 1..=MAX_ITEMS)?,
            None => default.items,
        };
        let sorted = self.sorted.unwrap_or(default.sorted.min(*items.end()));
        Ok(PrioritySort {
            bits,
            sorted: check.within("task.sorted", sorted, 1..=*items.end())?,
            items,
        })
    }

    fn needed_bits(&self, check: &Check, kind: &str) -> Result<usize, Error> {
        match self.bits {
            Some(bits) => check.bits(bits),
            None => check.fail(
                "task.bits",
                format!("is missing; `{kind}` needs a number of bits, for example 8"),
            ),
        }
    }

    fn needed_length(&self, check: &Check, kind: &str) -> Result<RangeInclusive<usize>, Error> {
        match self.length {
            Some(length) => check.range("task.length", length, 1..=MAX_LENGTH),
            None => check.fail(
                "task.length",
                format!("is missing; `{kind}` needs [lowest, highest], for example [1, 20]"),
            ),
        }
    }

    /// Keys of other kinds of tasks must not be given.
    fn only(&self, check: &Check, kind: &str, keys: &[&str]) -> Result<(), Error> {
        let given = [
            ("bits", self.bits.is_some()),
            ("context", self.context.is_some()),
            ("item_length", self.item_length.is_some()),
            ("length", self.length.is_some()),
            ("items", self.items.is_some()),
            ("sorted", self.sorted.is_some()),
            ("repeats", self.repeats.is_some()),
        ];
        for (key, given) in given {
            let stranger = (given && !keys.contains(&key)).then_some(&());
            let allowed = format!("kind, {}", keys.join(", "));
            check.absent(&format!("task.{key}"), stranger, kind, &allowed)?;
        }
        Ok(())
    }
}

impl ModelForm {
    pub(in crate::io) fn config(&self, task: &Task, check: &Check) -> Result<ModelConfig, Error> {
        let mut config = ModelConfig {
            inputs: task.inputs(),
            outputs: task.outputs(),
            rows: self.memory.rows,
            columns: self.memory.columns,
            controller: ControllerConfig {
                kind: match self.controller.kind {
                    ControllerKindForm::Lstm => ControllerKind::Lstm,
                    ControllerKindForm::Feedforward => ControllerKind::Feedforward,
                },
                size: self.controller.size,
                layers: self.controller.layers,
            },
            read_heads: self.heads.read,
            write_heads: self.heads.write,
            shift_range: self.heads.shift.range,
            shift_form: match self.heads.shift.form {
                ShiftFormForm::Softmax => ShiftForm::Softmax,
                ShiftFormForm::Scalar => ShiftForm::Scalar,
            },
            key_activation: (&self.heads.key_activation).into(),
            add_activation: (&self.heads.add_activation).into(),
            similarity_epsilon: self.heads.similarity_epsilon,
            initial_memory: match self.memory.initial {
                InitialMemoryForm::Constant { constant } => InitialMemory::Constant(constant),
                InitialMemoryForm::Word(LearnedWord::Learned) => InitialMemory::Learned,
            },
            initial_weighting: match self.heads.initial_weighting {
                InitialWeightingForm::OneHot => InitialWeighting::OneHot,
                InitialWeightingForm::Learned => InitialWeighting::Learned,
            },
            order: match self.heads.order {
                OrderForm::ReadFirst => Order::ReadFirst,
                OrderForm::WriteFirst => Order::WriteFirst,
            },
        };
        if config.heads() == 0 {
            config = config.without_memory();
        }
        check.valid("model", config.validate())?;
        Ok(config)
    }
}

impl TrainingForm {
    fn config(&self, check: &Check) -> Result<TrainingConfig, Error> {
        let config = TrainingConfig {
            optimizer: self.optimizer.config(check)?,
            final_rate: self.final_rate,
            settled_below: self.settled_below,
            settled_rate: self.settled_rate,
            clip: self.clip.config(check)?,
            batch: self.batch,
            sequences: self.sequences,
            seed: self.seed,
            validation_every: self.validation_every,
            validation_episodes: self.validation_episodes,
        };
        check.valid("training", config.validate())?;
        Ok(config)
    }
}

impl OptimizerForm {
    fn config(&self, check: &Check) -> Result<OptimizerConfig, Error> {
        let absent = |name: &str, value: Option<&f64>, kind, allowed| {
            check.absent(&format!("training.optimizer.{name}"), value, kind, allowed)
        };
        match self.kind {
            OptimizerKind::Rmsprop => {
                let allowed = "kind, rate, decay, momentum, epsilon";
                absent("beta1", self.beta1.as_ref(), "rmsprop", allowed)?;
                absent("beta2", self.beta2.as_ref(), "rmsprop", allowed)?;
                Ok(OptimizerConfig::RmsProp {
                    rate: self.rate.unwrap_or(1e-4),
                    decay: self.decay.unwrap_or(0.95),
                    momentum: self.momentum.unwrap_or(0.9),
                    epsilon: self.epsilon.unwrap_or(1e-4),
                })
            }
            OptimizerKind::Adam => {
                let allowed = "kind, rate, beta1, beta2, epsilon";
                absent("decay", self.decay.as_ref(), "adam", allowed)?;
                absent("momentum", self.momentum.as_ref(), "adam", allowed)?;
                Ok(OptimizerConfig::Adam {
                    rate: self.rate.unwrap_or(1e-3),
                    beta1: self.beta1.unwrap_or(0.9),
                    beta2: self.beta2.unwrap_or(0.999),
                    epsilon: self.epsilon.unwrap_or(1e-8),
                })
            }
        }
    }
}

impl ClipForm {
    fn config(&self, check: &Check) -> Result<Clip, Error> {
        match self.kind {
            ClipKind::Elementwise => Ok(Clip::Elementwise(self.limit.unwrap_or(10.0))),
            ClipKind::GlobalNorm => Ok(Clip::GlobalNorm(self.limit.unwrap_or(50.0))),
            ClipKind::None => {
                check.absent("training.clip.limit", self.limit.as_ref(), "none", "kind")?;
                Ok(Clip::None)
            }
        }
    }
}

impl EvaluationForm {
    fn config(self, task: &Task, check: &Check) -> Result<EvaluationConfig, Error> {
        let measure = task.measure();
        let (sizes, stranger) = match measure {
            Measure::Length => (self.lengths, self.items.map(|_| Measure::Items)),
            Measure::Items => (self.items, self.lengths.map(|_| Measure::Length)),
        };
        if let Some(stranger) = stranger {
            let repeats = task.repeats().map_or("", |_| ", repeats");
            let problem = format!(
                "does not belong to the task `{}`; allowed: {}{repeats}, episodes",
                task.name(),
                measure.plural()
            );
            return check.fail(&format!("evaluation.{}", stranger.plural()), problem);
        }
        let path = format!("evaluation.{}", measure.plural());
        let sizes = sizes.unwrap_or_else(|| match task {
            Task::Copy(_) | Task::RepeatCopy(_) => vec![10, 20, 30, 50, 120],
            _ => vec![*task.size().end()],
        });
        if sizes.is_empty() {
            let problem = match measure {
                Measure::Length => "is empty; expected at least one length",
                Measure::Items => "is empty; expected at least one number of items",
            };
            return check.fail(&path, problem);
        }
        if task.repeats().is_none() && !self.repeats.is_empty() {
            let problem = format!("is given, but the task `{}` has no repeats", task.name());
            return check.fail("evaluation.repeats", problem);
        }
        Ok(EvaluationConfig {
            sizes: check.list(&path, sizes, &(task.least_size()..=most_size(measure)))?,
            repeats: check.list("evaluation.repeats", self.repeats, &(1..=MAX_REPEATS))?,
            episodes: check.within("evaluation.episodes", self.episodes, 1..=10_000_000)?,
        })
    }
}

impl From<&ActivationForm> for VectorActivation {
    fn from(form: &ActivationForm) -> Self {
        match form {
            ActivationForm::Tanh => Self::Tanh,
            ActivationForm::Identity => Self::Identity,
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Experiment to form: every default is written out.

impl From<&Experiment> for Form {
    fn from(experiment: &Experiment) -> Self {
        let EvaluationConfig {
            sizes,
            repeats,
            episodes,
        } = experiment.evaluation.clone();
        let (lengths, items) = match experiment.task.measure() {
            Measure::Length => (Some(sizes), None),
            Measure::Items => (None, Some(sizes)),
        };
        Self {
            name: Some(experiment.name.clone()),
            title: Some(experiment.title.clone()),
            description: experiment.description.clone(),
            task: TaskForm::from(&experiment.task),
            model: ModelForm::from(&experiment.model),
            training: TrainingForm::from(&experiment.training),
            evaluation: EvaluationForm {
                lengths,
                items,
                repeats,
                episodes,
            },
        }
    }
}

impl From<&Task> for TaskForm {
    fn from(task: &Task) -> Self {
        let ends = |range: &RangeInclusive<usize>| Some(Ends([*range.start(), *range.end()]));
        match task {
            Task::Copy(task) => Self {
                kind: TaskKind::Copy,
                bits: Some(task.bits),
                length: ends(&task.length),
                ..Self::NONE
            },
            Task::RepeatCopy(task) => Self {
                kind: TaskKind::RepeatCopy,
                bits: Some(task.bits),
                length: ends(&task.length),
                repeats: ends(&task.repeats),
                ..Self::NONE
            },
            Task::AssociativeRecall(task) => Self {
                kind: TaskKind::AssociativeRecall,
                bits: Some(task.bits),
                item_length: Some(task.item_length),
                items: ends(&task.items),
                ..Self::NONE
            },
            Task::Ngrams(task) => Self {
                kind: TaskKind::Ngrams,
                context: Some(task.context),
                length: ends(&task.length),
                ..Self::NONE
            },
            Task::PrioritySort(task) => Self {
                kind: TaskKind::PrioritySort,
                bits: Some(task.bits),
                items: ends(&task.items),
                sorted: Some(task.sorted),
                ..Self::NONE
            },
            // No preset and no weights file has such a task.
            Task::Other(_) => Self::NONE,
        }
    }
}

impl From<&ModelConfig> for ModelForm {
    fn from(config: &ModelConfig) -> Self {
        Self {
            memory: MemoryForm {
                rows: config.rows,
                columns: config.columns,
                initial: match config.initial_memory {
                    InitialMemory::Constant(constant) => InitialMemoryForm::Constant { constant },
                    InitialMemory::Learned => InitialMemoryForm::Word(LearnedWord::Learned),
                },
            },
            controller: ControllerForm {
                kind: match config.controller.kind {
                    ControllerKind::Lstm => ControllerKindForm::Lstm,
                    ControllerKind::Feedforward => ControllerKindForm::Feedforward,
                },
                size: config.controller.size,
                layers: config.controller.layers,
            },
            heads: HeadsForm {
                read: config.read_heads,
                write: config.write_heads,
                shift: ShiftFields {
                    form: match config.shift_form {
                        ShiftForm::Softmax => ShiftFormForm::Softmax,
                        ShiftForm::Scalar => ShiftFormForm::Scalar,
                    },
                    range: config.shift_range,
                },
                key_activation: config.key_activation.into(),
                add_activation: config.add_activation.into(),
                similarity_epsilon: config.similarity_epsilon,
                initial_weighting: match config.initial_weighting {
                    InitialWeighting::OneHot => InitialWeightingForm::OneHot,
                    InitialWeighting::Learned => InitialWeightingForm::Learned,
                },
                order: match config.order {
                    Order::ReadFirst => OrderForm::ReadFirst,
                    Order::WriteFirst => OrderForm::WriteFirst,
                },
            },
        }
    }
}

impl From<VectorActivation> for ActivationForm {
    fn from(activation: VectorActivation) -> Self {
        match activation {
            VectorActivation::Tanh => Self::Tanh,
            VectorActivation::Identity => Self::Identity,
        }
    }
}

impl From<&TrainingConfig> for TrainingForm {
    fn from(config: &TrainingConfig) -> Self {
        Self {
            optimizer: OptimizerForm::from(&config.optimizer),
            final_rate: config.final_rate,
            settled_below: config.settled_below,
            settled_rate: config.settled_rate,
            clip: match config.clip {
                Clip::None => ClipForm {
                    kind: ClipKind::None,
                    limit: None,
                },
                Clip::Elementwise(limit) => ClipForm {
                    kind: ClipKind::Elementwise,
                    limit: Some(limit),
                },
                Clip::GlobalNorm(limit) => ClipForm {
                    kind: ClipKind::GlobalNorm,
                    limit: Some(limit),
                },
            },
            batch: config.batch,
            sequences: config.sequences,
            seed: config.seed,
            validation_every: config.validation_every,
            validation_episodes: config.validation_episodes,
        }
    }
}

impl From<&OptimizerConfig> for OptimizerForm {
    fn from(config: &OptimizerConfig) -> Self {
        match *config {
            OptimizerConfig::RmsProp {
                rate,
                decay,
                momentum,
                epsilon,
            } => Self {
                rate: Some(rate),
                decay: Some(decay),
                momentum: Some(momentum),
                epsilon: Some(epsilon),
                ..Self::of_kind(OptimizerKind::Rmsprop)
            },
            OptimizerConfig::Adam {
                rate,
                beta1,
                beta2,
                epsilon,
            } => Self {
                rate: Some(rate),
                beta1: Some(beta1),
                beta2: Some(beta2),
                epsilon: Some(epsilon),
                ..Self::of_kind(OptimizerKind::Adam)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_is_quoted_stays_as_it_was_typed() {
        assert_eq!(
            plain("invalid type: string \"expected usize, \\\"expected f64\\\"\", expected usize"),
            "is the text \"expected usize, \\\"expected f64\\\"\"; expected a whole number, 0 or more"
        );
        assert_eq!(
            plain("unknown variant `missing field`, expected `lstm` or `feedforward`"),
            "is `missing field`; expected `lstm` or `feedforward`"
        );
        assert_eq!(
            plain("invalid type: map, expected struct TimeForm at line 1 column 2"),
            "is an object; expected an object at line 1 column 2"
        );
        assert_eq!(plain("a ` alone, expected value"), "a ` alone, no JSON");
        let long = "x".repeat(500);
        let said = plain(&format!("unknown field `{long}`, expected `a`"));
        assert!(
            said.chars().count() < 130 && said.ends_with("x…`; expected `a`"),
            "{said}"
        );
    }
}
