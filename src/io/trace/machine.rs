//! The machine of a trace: its `model`, which is that of a preset, and its `conventions`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::source::ArraySource;
use super::table;
use crate::io::Error;
use crate::io::preset::written::Written;
use crate::io::preset::{at, form, visit};
use crate::keys::{Choice as _, Field, brief};
use crate::model::{AXES, Axis, Conventions, ModelConfig, Scoring, Turns};
use crate::task::Task;

/// Keys of a `model` that count heads, and the kind of these.
const COUNTS: [(&str, &str); 3] = [
    ("heads.read", "read"),
    ("heads.write", "write"),
    ("heads.count", "read"),
];

/// True for a key of a `model` that the arrays of a trace determine.
fn is_shown(path: &str) -> bool {
    let is_count = COUNTS.iter().any(|(key, _)| *key == path);
    is_count || ["kind", "controller.kind"].contains(&path) || Axis::of_key(path).is_some()
}

/// Returns the values of a `model` by path, as text, but for the sizes that are compared as such.
pub(super) fn declared(config: &ModelConfig) -> impl Iterator<Item = (String, String)> {
    let values = Written::of(config).into_values().into_iter();
    let is_size = |path: &str| is_shown(path) && !path.starts_with("heads.attention");
    let values = values.filter(move |(path, _)| !is_size(path));
    values.map(|(path, value)| (format!("model.{path}"), text(value)))
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(word) => word,
        Value::Number(number) => number.as_f64().map(brief).unwrap_or_default(),
        value => value.to_string(),
    }
}

/// A machine that was read.
pub(super) struct Machine {
    pub(super) config: ModelConfig,
    pub(super) conventions: Conventions,
    /// The place of every column of a shift among -k to k.
    pub(super) shift_places: Vec<usize>,
    /// The given values that the arrays do not show, as text.
    pub(super) declared: Vec<(String, String)>,
}

/// Reads the text of `model`. A size that is not given is that of the axis or of the arrays, otherwise 1. Activations
/// and the initial state, if not given, may be any: `identity` and `learned`.
pub(super) fn read(
    model: &str,
    conventions: &ConventionsForm,
    axes: &Map<String, Value>,
    task: &Task,
    from: &mut dyn ArraySource,
    label: &str,
) -> Result<Machine, Error> {
    let (mut config, given) = form::model(model, label)?;
    let is_feedforward = from.has("controller.hidden") && !from.has("controller.cell");
    // In other kinds, where the memory cannot be learned, the default stands for an unknown one.
    let may_be_learned = config.ntm().is_some();
    let mut sizes = None;
    visit(&mut config, &mut |key| match (key.field, key.path) {
        (_, path) if at(&given, path).is_some() => {}
        (Field::Integer(size, _), path) if is_shown(path) => {
            *size = sizes.get_or_insert_with(|| shown(from, axes, conventions))[path];
        }
        (Field::Choice(choice), "heads.key_activation" | "heads.add_activation") => {
            choice.choose("identity");
        }
        (Field::Choice(choice), "heads.initial_weighting") => {
            choice.choose("learned");
        }
        (Field::Choice(choice), "controller.kind") if is_feedforward => {
            choice.choose("feedforward");
        }
        (Field::Constant(constant, _), "memory.initial") if may_be_learned => *constant = None,
        _ => {}
    });
    let mut config = form::recorded_model(&config, task, label);
    if let Err(Error::Content { place, .. }) = &mut config {
        // An unknown task has the channels of its arrays.
        match place.as_str() {
            "model.inputs" => "arrays.input.shape[1]".clone_into(place),
            "model.outputs" => "arrays.output|target.shape[1]".clone_into(place),
            _ => {}
        }
    }
    let config = config?;
    let range = config.sizes().shift_range;
    let shift_places = conventions.shift_places(range, label)?;
    let shifts = conventions.shifts.as_ref();
    let shifts = shifts.filter(|_| !shift_places.iter().copied().eq(0..=2 * range));
    let shifts = ("shifts", json!(shifts));
    let conventions = conventions.of(&config, label)?;
    let is_known = |path: &str| is_shown(path) || at(&given, path).is_some();
    let all = declared(&config).filter(|(path, _)| is_known(&path["model.".len()..]));
    let others = values(&config, &conventions).into_iter().chain([shifts]);
    let others = others.map(|(key, value)| (format!("conventions.{key}"), text(value)));
    let declared = all.chain(others).collect();
    Ok(Machine {
        config,
        conventions,
        shift_places,
        declared,
    })
}

/// Returns the sizes that arrays show, by key: the lengths of axes, 1 without arrays, and the numbers of heads.
fn shown(
    from: &mut dyn ArraySource,
    axes: &Map<String, Value>,
    conventions: &ConventionsForm,
) -> BTreeMap<&'static str, usize> {
    let given = AXES.iter().filter_map(|axis| {
        let size = axes.get(axis.name)?.get("size")?.as_u64()?;
        Some((axis.name, usize::try_from(size).ok()?))
    });
    let (mut sizes, mut heads): (BTreeMap<_, _>, _) = (given.collect(), BTreeSet::new());
    let (known, mut names) = (table::arrays(), from.names());
    names.sort();
    for name in &names {
        let Some(listed) = table::named(&known, name) else {
            continue;
        };
        heads.extend(table::head_of(name).map(|(head, _)| head));
        let shape = from.shape(name).unwrap_or_default();
        let dims = listed.spec.dims.iter();
        let has_layers = shape.len() == dims.len();
        for (axis, size) in dims.filter(|axis| has_layers || **axis != "l").zip(shape) {
            sizes.entry(*axis).or_insert(size);
        }
    }
    let count = |kind: &str| heads.iter().filter(|head| head.starts_with(kind)).count();
    let range = match &conventions.shifts {
        Some(shifts) => shifts.iter().map(|shift| shift.unsigned_abs()).max(),
        None => sizes.get("s").map(|&width| width as u64 / 2),
    };
    let range = usize::try_from(range.unwrap_or(0)).unwrap_or(usize::MAX);
    sizes.insert("s", range);
    let length = |axis: &Axis| (axis.key, sizes.get(axis.name).copied().unwrap_or(1));
    let counts = COUNTS.map(|(key, kind)| (key, count(kind)));
    AXES.iter().map(length).chain(counts).collect()
}

/// The values of `conventions`; null for those of this program.
fn values(config: &ModelConfig, conventions: &Conventions) -> [(&'static str, Value); 3] {
    let name = |&head: &usize| json!(config.head_name(head));
    let order = match &conventions.turns {
        Turns::Together => Value::Null,
        Turns::InTurn(heads) => heads.iter().map(name).collect(),
        Turns::Unknown(words) => json!(words),
    };
    let similarity = match &conventions.scoring {
        Scoring::Cosine => Value::Null,
        Scoring::Unknown(words) => json!(words),
        known => json!(known.word()),
    };
    let epsilon = Some(conventions.sharpening_epsilon).filter(|&epsilon| epsilon > 0.0);
    [
        ("order", order),
        ("similarity", similarity),
        ("sharpening_epsilon", json!(epsilon)),
    ]
}

/// `conventions`, as it is written; `None` for those of this program.
pub(super) fn conventions(config: &ModelConfig, conventions: &Conventions) -> Option<Written> {
    let mut all = values(config, conventions).to_vec();
    all.retain(|(_, value)| !value.is_null());
    (!all.is_empty()).then(|| Written::new(all))
}

/// `conventions`, as it is read.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConventionsForm {
    order: Option<OrderForm>,
    similarity: Option<String>,
    /// Added to the sum of the sharpening.
    sharpening_epsilon: f64,
    /// The offset of every column of a shift.
    shifts: Option<Vec<i64>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of heads, or text")]
enum OrderForm {
    InTurn(Vec<String>),
    Words(String),
}

impl ConventionsForm {
    /// Returns the conventions of a machine.
    fn of(&self, config: &ModelConfig, label: &str) -> Result<Conventions, Error> {
        let turns = match &self.order {
            None => Turns::Together,
            Some(OrderForm::Words(words)) => Turns::Unknown(words.clone()),
            Some(OrderForm::InTurn(heads)) => in_turn(heads, config, label)?,
        };
        let mut scoring = Scoring::Cosine;
        if let Some(word) = &self.similarity
            && !scoring.choose(word)
        {
            scoring = Scoring::Unknown(word.clone());
        }
        let epsilon = self.sharpening_epsilon;
        if epsilon.is_sign_negative() {
            let problem = format!("is {epsilon}; expected a number, 0 or more");
            let place = "conventions.sharpening_epsilon";
            return Err(Error::content(label, place, problem));
        }
        Ok(Conventions {
            turns,
            scoring,
            sharpening_epsilon: epsilon,
            interventions: Vec::new(),
        })
    }

    /// Returns the place of every column of a shift among the offsets -k to k.
    fn shift_places(&self, k: usize, label: &str) -> Result<Vec<usize>, Error> {
        let Some(shifts) = &self.shifts else {
            return Ok((0..=2 * k).collect());
        };
        let most = i64::try_from(k).unwrap_or(0);
        let places = distinct(shifts, &(-most..=most)).filter(|places| !places.is_empty());
        places.ok_or_else(|| {
            let problem = format!("expected offsets from -{k} to {k}, no offset twice");
            Error::content(label, "conventions.shifts", problem)
        })
    }
}

/// Heads that act in this order, each once.
fn in_turn(heads: &[String], config: &ModelConfig, label: &str) -> Result<Turns, Error> {
    let names = (0..config.heads()).map(|head| config.head_name(head));
    let names: Vec<_> = names.collect();
    let order = distinct(heads, &names.iter().cloned());
    let order = order.filter(|order| order.len() == names.len());
    order.map(Turns::InTurn).ok_or_else(|| {
        let problem = format!("expected every head once: {}", names.join(", "));
        Error::content(label, "conventions.order", problem)
    })
}

/// The places of values among all; `None` where one is none of them, or stands twice.
fn distinct<T: PartialEq>(
    values: &[T],
    all: &(impl Iterator<Item = T> + Clone),
) -> Option<Vec<usize>> {
    let place = |value: &T| all.clone().position(|other| other == *value);
    let places: Vec<usize> = values.iter().map(place).collect::<Option<_>>()?;
    (BTreeSet::from_iter(&places).len() == places.len()).then_some(places)
}
