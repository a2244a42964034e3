//! Presets as JSON. The keys and their ranges are in the tables of the configurations ([`Keys`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use serde_path_to_error::Track;

use super::keys::{
    OPEN, at, check as check_keys, every_key, flatten, is_of_equations, is_open, is_under, join,
    last, paths, section, visit,
};
use super::written::{Initial, value};
use super::{EvaluationConfig, Experiment};
use crate::io::error::{parse, path, short};
use crate::io::{Error, machine_file};
use crate::keys::Field::{Integer, IntegerList, Text};
use crate::keys::{Absent, Choice, Choices, ConfigError, Field, Key, Keys, Table, Words, check};
use crate::model::config::ControllerConfig;
use crate::model::{EquationsConfig, ModelConfig};
use crate::spelling::did_you_mean;
use crate::task::{MAX_REPEATS, Measure, Task};
use crate::train::TrainingConfig;

impl Keys for Experiment {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.depends("name", Text(&mut self.name), "the file's name without `.json`", "name on the command line; must be usable as a folder name");
        to.depends("title", Text(&mut self.title), "the name", "display name");
        to.key("description", Text(&mut self.description), "one sentence about the preset");
        self.task.keys(&mut to.section("task"));
        self.model.keys(&mut to.section("model"));
        self.training.keys(&mut to.section("training"));
        let is_file = self.model.is_recorded_apart();
        if self.model.is_hard() {
            let (hard, mut to) = (&mut self.training.hard, to.section("training.hard"));
            if is_file { hard.episode_keys(&mut to) } else { hard.keys(&mut to) }
        }
        if self.model.is_bayesian() || self.model.warms_up() {
            let (bayesian, mut to) = (&mut self.training.bayesian, to.section("training.bayesian"));
            if is_file { bayesian.episode_keys(&mut to) } else { bayesian.keys(&mut to) }
        }
        let (measure, sizes) = (
            self.task.measure(),
            self.task.least_size()..=self.task.most_size(),
        );
        let (highest, purpose) = match measure {
            Measure::Length => ("`length`", "lengths to evaluate, at least one"),
            Measure::Items => ("`items`, `glyphs` or `edges`", "numbers of items to evaluate, at least one"),
        };
        let default = match &self.task.evaluated_sizes()[..] {
            _ if self.task.file().is_some() => "all lengths".to_owned(),
            [_] => format!("the highest {highest}"),
            sizes => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        };
        let EvaluationConfig { sizes: list, repeats, episodes } = &mut self.evaluation;
        let mut to = to.section("evaluation");
        to.depends(measure.plural(), IntegerList(list, sizes), &default, purpose);
        if self.task.repeats().is_some() {
            to.depends("repeats", IntegerList(repeats, 1..=MAX_REPEATS), "sampled as in training", "numbers of repeats, each evaluated with every length");
        }
        to.key("episodes", Integer(episodes, 1..=10_000_000), "episodes per measurement");
    }
}

impl Experiment {
    /// Returns the experiment with all defaults.
    pub(super) fn called(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: String::new(),
            description: String::new(),
            task: Task::WORDS[0].1.clone(),
            model: ModelConfig::WORDS[0].1.clone(),
            training: TrainingConfig::default(),
            evaluation: EvaluationConfig {
                sizes: Vec::new(),
                repeats: Vec::new(),
                episodes: 100,
            },
        }
    }

    /// Completes the values that were read and checks their ranges.
    pub(super) fn complete(mut self, given: &Value, file: &str) -> Result<Self, Error> {
        let fail = |path: &str, problem: &str| Err(Error::content(file, path, problem));
        let name = &self.name;
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
            let problem = "must be a valid folder name: not empty, no slash, no leading dot";
            return fail("name", problem);
        }
        if at(given, "title").is_none() {
            self.title.clone_from(name);
        }
        self.belongs(given, file)?;
        complete_task(&mut self.task, given, file)?;
        self.model = complete_model(&self.model, &self.task, file)?;
        let measure = self.task.measure();
        let path = format!("evaluation.{}", measure.plural());
        let sizes = &mut self.evaluation.sizes;
        if at(given, &path).is_none() {
            *sizes = match self.task.file() {
                // All that are held out, whatever their lengths.
                Some(_) => Vec::new(),
                None => self.task.evaluated_sizes(),
            };
        }
        if sizes.is_empty() && self.task.held_out().is_none() {
            let one = match measure {
                Measure::Length => "length",
                Measure::Items => "number of items",
            };
            return fail(&path, &format!("is empty; expected at least one {one}"));
        }
        valid(check(&mut self), "", file)?;
        let training = &self.training;
        let penalty = training.redundancy.fits(&self.model, "redundancy.kind");
        valid(penalty, "training.", file)?;
        let apart = training
            .head_divergence
            .fits(&self.model, "head_divergence.kind");
        valid(apart, "training.", file)?;
        valid(self.training.fits_rows(&self.model), "training.", file)?;
        let samples = self.training.hard.fits(self.training.batch);
        valid(samples, "", file)?;
        let agreement = self.training.fits_agreement(&self.task, &self.model);
        valid(agreement, "", file)?;
        Ok(self)
    }

    /// Refuses keys that an experiment of this kind does not have, and reports missing ones.
    fn belongs(&mut self, given: &Value, file: &str) -> Result<(), Error> {
        self.has_no_foreign(given, file)?;
        self.has_required(given, file, |_| true)
    }

    /// Reports a missing key among those that must be given and that `is_needed`.
    fn has_required(
        &mut self,
        given: &Value,
        file: &str,
        is_needed: fn(&Field<'_>) -> bool,
    ) -> Result<(), Error> {
        let mut missing = None;
        visit(self, &mut |key| {
            let is_required = key.absent == Absent::Required && is_needed(&key.field);
            if is_required && at(given, key.path).is_none() {
                missing.get_or_insert_with(|| (key.path.to_owned(), example(&key)));
            }
        });
        missing.map_or(Ok(()), |(path, example)| {
            let problem = format!("is missing; expected {example}");
            Err(Error::content(file, path, problem))
        })
    }

    pub(super) fn has_no_foreign(&self, given: &Value, file: &str) -> Result<(), Error> {
        let foreign = self.foreign(given);
        // A wrong kind of task makes an evaluation wrong, not the other way round.
        let first = |path: &&String| path.starts_with("evaluation.");
        let Some(path) = foreign.iter().min_by_key(first) else {
            return Ok(());
        };
        let mut beside = self.own();
        beside.retain(|key| section(key) == section(path));
        let beside: Vec<_> = beside.iter().map(|key| last(key)).collect();
        let allowed = match beside.join(", ") {
            none if none.is_empty() => none,
            allowed => format!("; allowed here: {allowed}"),
        };
        let problem = "does not apply to this experiment (see `tapescope tasks --keys`)";
        Err(Error::content(file, path, format!("{problem}{allowed}")))
    }

    /// The keys that are given, and that an experiment of this kind does not have.
    pub(super) fn foreign(&self, given: &Value) -> Vec<String> {
        let (own, all) = (self.own(), paths().iter());
        let is_foreign = |path: &&String| at(given, path).is_some() && !own.contains(path);
        let mut foreign: Vec<String> = all.filter(is_foreign).cloned().collect();
        // The keys of a machine file.
        let mut open = BTreeMap::new();
        for section in OPEN.iter().filter(|_| is_of_equations(given)) {
            if let Some(values) = at(given, section) {
                flatten((*section).to_owned(), values, &mut open);
            }
        }
        let open = open.into_keys().filter(|path| !own.contains(path));
        foreign.extend(open.collect::<Vec<_>>());
        foreign.dedup();
        foreign
    }

    /// The keys of an experiment of this kind.
    fn own(&self) -> Vec<String> {
        let mut own = Vec::new();
        visit(&mut self.clone(), &mut |key| own.push(key.path.to_owned()));
        own
    }
}

/// True when some preset has this key in that section.
pub(in crate::io) fn is_key(section: &str, key: &str) -> bool {
    at(every_key(), section).is_some_and(|section| section.get(key).is_some())
}

/// True when that key is a range in some preset.
pub(in crate::io) fn is_range(section: &str, key: &str) -> bool {
    at(every_key(), section).is_some_and(|section| section[key] == true)
}

/// A task of this kind with these parameters, as presets have them.
pub(in crate::io) fn task(
    kind: &str,
    parameters: &Map<String, Value>,
    file: &str,
) -> Result<Task, Error> {
    let mut given = json!({ "task": parameters });
    given["task"]["kind"] = kind.into();
    let mut experiment = Experiment::called("");
    read(&mut experiment, &given, "", &given, file)?;
    experiment.belongs(&given, file)?;
    // A trace of an episode with fewer items than usual may still give the number to recall.
    if let Task::PrioritySort(task) = &mut experiment.task {
        task.sorted = task.sorted.min(*task.items.end());
    }
    complete_task(&mut experiment.task, &given, file)?;
    Ok(experiment.task)
}

/// Returns the numbers of inputs and outputs of the `task` of a preset, JSON. One number stands for a range whose ends are
/// equal, and ranges of the sizes of an episode may be missing. `file` is the name for messages.
///
/// # Errors
/// The key, its value and what is allowed; a task of a file whose channels are not given.
pub fn channels(text: &str, file: &str) -> Result<[usize; 2], Error> {
    let mut given = json!({ "task": parse::<Value>(text, file)? });
    check_keys(&given, file)?;
    for (key, value) in given["task"].as_object_mut().into_iter().flatten() {
        if value.is_number() && is_range("task", key) {
            *value = json!([value, value]);
        }
    }
    let mut experiment = Experiment::called("");
    read(&mut experiment, &given, "", &given, file)?;
    experiment.has_no_foreign(&given, file)?;
    experiment.has_required(&given, file, |field| !matches!(field, Field::Range(..)))?;
    complete_task(&mut experiment.task, &given, file)?;
    known_channels(&experiment.task, file)
}

/// Returns the numbers of inputs and outputs of a task.
///
/// # Errors
/// They depend on a file that was not read, and the preset does not give them.
pub fn known_channels(task: &Task, file: &str) -> Result<[usize; 2], Error> {
    if task.has_channels() {
        return Ok([task.inputs(), task.outputs()]);
    }
    let expected = match task {
        Task::Pairs(_) => "`source_symbols` and `target_symbols`",
        Task::Text(_) => "`text_symbols`",
        _ => "`inputs` and `outputs`",
    };
    let problem = format!("does not give the channels of its file; expected {expected} too");
    Err(Error::content(file, "task", problem))
}

/// Checks the text of the `model` of a preset or a trace, JSON. `file` is the name for messages.
///
/// # Errors
/// The key, its value and what is allowed.
pub fn check_model(text: &str, file: &str) -> Result<(), Error> {
    let mut given = json!({ "model": parse::<Value>(text, file)? });
    check_keys(&given, file)?;
    machine_file::fill(&mut given, None, file)?;
    let mut experiment = Experiment::called("");
    let read = read(&mut experiment, &given, "model", &given["model"], file);
    read.map_err(|error| error.within("model"))?;
    experiment.has_no_foreign(&given, file)
}

/// Reads the text of the `model` of a preset: the machine, but for the channels of its task, and the keys that are given.
pub(in crate::io) fn model(text: &str, file: &str) -> Result<(ModelConfig, Value), Error> {
    let keys: Value = parse(text, file).map_err(|error| error.within("model"))?;
    let mut given = json!({ "model": keys });
    check_keys(&given, file)?;
    machine_file::fill(&mut given, None, file)?;
    let mut experiment = Experiment::called("");
    let mut text = serde_json::Deserializer::from_str(text);
    let read = read(&mut experiment, &given, "model", &mut text, file);
    read.map_err(|error| error.within("model"))?;
    experiment.has_no_foreign(&given, file)?;
    Ok((experiment.model, keys))
}

fn complete_task(task: &mut Task, given: &Value, file: &str) -> Result<(), Error> {
    if let Task::PrioritySort(task) = task
        && at(given, "task.sorted").is_none()
    {
        task.sorted = task.sorted.min(*task.items.end());
    }
    if let Task::Episodes(task) = task {
        task.has_channels = ["task.inputs", "task.outputs"].map(|key| at(given, key).is_some());
    }
    if let Some([named, _]) = task.file()
        && named.is_empty()
    {
        let kind = match task {
            Task::Pairs(_) | Task::Text(_) => "a text file",
            _ => "an npz file",
        };
        let problem = format!("is empty; expected the name of {kind}");
        return Err(Error::content(file, "task.file", problem));
    }
    let checked = match task {
        Task::Pairs(task) => task.check(),
        Task::Text(task) => task.check(),
        _ => Ok(()),
    };
    if let Err(fault) = checked {
        let place = format!("task.{}", fault.array);
        return Err(Error::content(file, place, fault.problem));
    }
    valid(task.validate(), "task.", file)
}

/// The machine for a task, held to its ranges, which can be trained on it.
pub(in crate::io) fn complete_model(
    model: &ModelConfig,
    task: &Task,
    file: &str,
) -> Result<ModelConfig, Error> {
    let model = recorded_model(model, task, file)?;
    if model.reads_ahead() && !task.answers_last() {
        let task = task.name();
        let (key, own) = match &model {
            ModelConfig::Equations(own) => ("model.file", &*own.file),
            _ => ("model.kind", model.word()),
        };
        let problem = format!(
            "is {own}, which reads the whole input before it answers, but an answer of the task {task} is asked for before the input ends; use `ntm`, `plain.machine`, `lstmn.machine`, or `multi_head_layers.machine` with its mask causal"
        );
        return Err(Error::content(file, key, problem));
    }
    Ok(model)
}

/// The machine of a recording, held to its ranges.
pub(in crate::io) fn recorded_model(
    model: &ModelConfig,
    task: &Task,
    file: &str,
) -> Result<ModelConfig, Error> {
    let mut model = model.clone();
    // As a controller alone was written before it was a machine of its own.
    if let ModelConfig::Ntm(ntm) = &model
        && ntm.heads() == 0
    {
        let plain = controller_alone(&ntm.controller);
        model = plain.map_err(|problem| Error::content(file, "model", problem))?;
    }
    // First the ranges: what follows computes with the numbers.
    model.set_channels(task.inputs(), task.outputs());
    machine_file::check(&mut model, task, file)?;
    // Sizes that go together are checked when the channels are known.
    let checked = if task.has_channels() {
        model.validate()
    } else {
        check(&mut model)
    };
    valid(checked, "model.", file)?;
    if task.is_loaded() {
        let steps = [task.longest(), task.longest_source()];
        valid(model.fits_episode(steps), "model.", file)?;
    }
    // As many words as heads are one, where they are the same.
    visit(&mut model, &mut |key| {
        if let Field::ChoicePerHead(each) = key.field {
            let words = each.chosen();
            let is_one = words.iter().all(|word| *word == words[0]);
            is_one.then(|| each.choose(words[0]));
        }
    });
    Ok(model)
}

/// The machine file of a controller.
fn controller_alone(controller: &ControllerConfig) -> Result<ModelConfig, String> {
    let (units, upper) = (
        controller.size.to_string(),
        controller.layers.saturating_sub(1).to_string(),
    );
    let set = [
        ("units", &*units),
        ("upper", &*upper),
        ("controller", Choice::word(&controller.kind)),
    ];
    EquationsConfig::included("plain", [1, 1], &set).map(ModelConfig::from)
}

pub(in crate::io) fn valid(
    checked: Result<(), ConfigError>,
    section: &str,
    file: &str,
) -> Result<(), Error> {
    checked.map_err(|error| {
        let problem = format!("is {}; allowed: {}", error.found, error.allowed);
        Error::content(file, format!("{section}{}", error.field), problem)
    })
}

// ---------------------------------------------------------------------------------------------------
// Reading.

/// Sets every field whose key is given, from the text that the `section` of `given` was parsed from, or from that section
/// itself; an error names the path at which it was found. What is given is known to be objects with known keys.
pub(super) fn read<'de>(
    config: &mut dyn Keys,
    given: &Value,
    section: &str,
    from: impl Deserializer<'de, Error = serde_json::Error>,
    file: &str,
) -> Result<(), Error> {
    // Kinds first: they say which other keys there are; then the choices that the text of a machine file has.
    for _ in 0..2 {
        visit(config, &mut |key| {
            match (key.field, at(given, key.path)) {
                (Field::Choice(choice), Some(Value::String(word))) => drop(choice.choose(word)),
                // A wrong word is found when it is read.
                (Field::ChoicePerHead(choices), Some(given)) => drop(choose(choices, given)),
                (Field::Text(text), Some(Value::String(given))) if is_of_file(key.path) => {
                    text.clone_from(given);
                }
                _ => {}
            }
        });
    }
    let mut track = Track::new();
    let from = serde_path_to_error::Deserializer::new(from, &mut track);
    let known = at(every_key(), section).unwrap_or(every_key());
    let read = At(config, known, section).deserialize(from);
    read.map_err(|error| Error::json(file, path(&track.path()), &error))
}

/// An example of a task, for messages.
const TASK: &str = r#"{"kind": "copy", "bits": 8, "length": [1, 20]}"#;

/// True for the keys that say which keys a machine file has.
fn is_of_file(path: &str) -> bool {
    ["model.file", "model.text"].contains(&path)
}

/// The configuration given at a path: an object with keys, or a value, like the known one there.
struct At<'a>(&'a mut dyn Keys, &'a Value, &'a str);

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.1.is_object() {
            return from.deserialize_map(self);
        }
        let Self(config, _, path) = self;
        if is_open(path) {
            let mut keys = false;
            visit(config, &mut |key| {
                keys |= is_under(key.path, path) && key.path != path;
            });
            if keys {
                return from.deserialize_map(At(config, &Value::Null, path));
            }
        }
        let (mut from, mut done) = (Some(from), Ok(()));
        visit(config, &mut |key| {
            if key.path == path
                && let Some(from) = from.take()
            {
                done = set(key.field, from);
            }
        });
        // A key that an experiment of this kind does not have is refused later.
        from.map_or(done, |from| IgnoredAny::deserialize(from).map(drop))
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(config, known, path) = self;
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("duplicate key `{key}`")));
            }
            map.next_value_seed(At(config, &known[&key], &join(path, &key)))?;
            seen.insert(key);
        }
        let is_missing = |key: &str| !seen.contains(key);
        match path {
            "" if is_missing("task") => Err(A::Error::custom(format!(
                "has no `task`; expected an object such as {TASK}"
            ))),
            "task" if is_missing("kind") => Err(A::Error::custom(format!(
                "has no `kind`; expected an object such as {TASK}"
            ))),
            _ => Ok(()),
        }
    }
}

fn set<'de, D: Deserializer<'de>>(field: Field<'_>, from: D) -> Result<(), D::Error> {
    match field {
        Field::Integer(value, _) => *value = usize::deserialize(from)?,
        Field::Integer64(value, _) => *value = u64::deserialize(from)?,
        Field::Number(value, _) | Field::Within(value, _) => *value = f64::deserialize(from)?,
        Field::Constant(value, _) => *value = Initial::deserialize(from)?.0,
        Field::Choice(choice) => from.deserialize_str(Chosen(choice))?,
        Field::ChoicePerHead(choices) => {
            let chosen = choose(choices, &Value::deserialize(from)?);
            chosen.map_err(D::Error::custom)?;
        }
        Field::Text(value) => *value = String::deserialize(from)?,
        Field::Range(value, _) => match Vec::deserialize(from)?[..] {
            [low, high] => *value = low..=high,
            ref values => {
                let count = values.len();
                let problem = format!("has {count} values; expected [lowest, highest]");
                return Err(D::Error::custom(problem));
            }
        },
        Field::IntegerList(values, _) => *values = Vec::deserialize(from)?,
    }
    Ok(())
}

/// Reads a word into a choice.
struct Chosen<'a>(&'a mut dyn Choice);

impl Visitor<'_> for Chosen<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "one of `{}`", self.0.words().join("`, `"))
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<(), E> {
        if self.0.choose(word) {
            return Ok(());
        }
        let meant = did_you_mean(word, self.0.words());
        let expected = &self as &dyn serde::de::Expected;
        Err(E::custom(format!(
            "is `{word}`; {meant}expected {expected}"
        )))
    }
}

/// Chooses a word for all heads, or one for each. `Err`: what is wrong.
fn choose(choices: &mut dyn Choices, given: &Value) -> Result<(), String> {
    let words = choices.words();
    let all = words.join("`, `");
    let expected =
        format!("expected one of `{all}`, or a list with one for each head, each in quotes");
    let unknown = |word: &str| {
        let meant = did_you_mean(word, words.iter().copied());
        format!("is `{}`; {meant}{expected}", short(word))
    };
    let other = || format!("is {}; {expected}", short(&given.to_string()));
    match given {
        Value::String(word) if choices.choose(word) => Ok(()),
        Value::String(word) => Err(unknown(word)),
        Value::Array(words) if !words.is_empty() => {
            let word = |word: &Value| word.as_str().map(str::to_owned);
            let words: Option<Vec<String>> = words.iter().map(word).collect();
            let chosen = choices.choose_each(&words.ok_or_else(other)?);
            chosen.map_err(|word| unknown(&word))
        }
        _ => Err(other()),
    }
}

/// A choice as its word.
#[derive(Clone, Copy)]
pub(in crate::io) struct Word<T>(pub(in crate::io) T);

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut choice = T::WORDS[0].1.clone();
        from.deserialize_str(Chosen(&mut choice))?;
        Ok(Self(choice))
    }
}

fn example(key: &Key<'_>) -> String {
    match &key.field {
        Field::Range(ends, _) => {
            let (low, high) = (ends.start(), ends.end());
            format!("[lowest, highest], for example [{low}, {high}]")
        }
        Field::Text(_) => format!("a text for {}, in quotes", last(key.path)),
        field => {
            let name = last(key.path);
            let value = value(field).unwrap_or_default();
            format!("a number of {name}, for example {value}")
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Writing: every default is written out.
