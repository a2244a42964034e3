//! Presets and other objects as JSON, keys in their order.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::keys::{Field, Keys, Table};

/// A configuration as JSON has it.
pub(in crate::io) struct Written(Vec<(String, Value)>);

impl Written {
    /// These paths with their values; those that begin alike stand side by side.
    pub(in crate::io) fn new<P: Into<String>>(values: Vec<(P, Value)>) -> Self {
        let values = values.into_iter();
        Self(values.map(|(path, value)| (path.into(), value)).collect())
    }

    pub(in crate::io) fn of(config: &(impl Keys + Clone)) -> Self {
        let mut values = Vec::new();
        config.clone().keys(&mut Table::new(&mut |key| {
            let written = value(&key.field).filter(|_| key.is_written());
            values.extend(written.map(|value| (key.path.to_owned(), value)));
        }));
        Self(values)
    }

    /// Every path with its value, in order.
    pub(in crate::io) fn into_values(self) -> Vec<(String, Value)> {
        self.0
    }

    /// Indented, with lists of numbers on one line.
    pub(super) fn to_json(&self) -> String {
        let values = self.0.iter();
        let values: Vec<_> = values
            .map(|(path, value)| (path.clone(), Inline::of(value)))
            .collect();
        let json = serde_json::to_string_pretty(&Part(&values, 0));
        json.expect("a preset is an object of plain values") + "\n"
    }
}

/// A value; a list as its text.
#[derive(Serialize)]
#[serde(untagged)]
enum Inline<'a> {
    List(Box<RawValue>),
    Value(&'a Value),
}

impl<'a> Inline<'a> {
    fn of(value: &'a Value) -> Self {
        let Value::Array(all) = value else {
            return Self::Value(value);
        };
        let all: Vec<String> = all.iter().map(Value::to_string).collect();
        let list = RawValue::from_string(format!("[{}]", all.join(", ")));
        Self::List(list.expect("a list of JSON values is one"))
    }
}

/// The first part of a path.
pub(super) fn first(path: &str) -> &str {
    path.split_once('.').map_or(path, |(first, _)| first)
}

/// Returns the value of a field; `None` for an empty list.
pub(super) fn value(field: &Field<'_>) -> Option<Value> {
    Some(match field {
        Field::Integer(value, _) => Value::from(**value),
        Field::Integer64(value, _) => Value::from(**value),
        Field::Number(value, _) | Field::Within(value, _) => Value::from(**value),
        Field::Constant(value, _) => json!(Initial(**value)),
        Field::Choice(choice) => Value::from(choice.word()),
        Field::ChoicePerHead(choices) => match choices.chosen()[..] {
            [one] => Value::from(one),
            ref each => json!(each),
        },
        Field::Text(value) => Value::from(value.as_str()),
        Field::Range(value, _) => json!([value.start(), value.end()]),
        Field::IntegerList(values, _) if values.is_empty() => return None,
        Field::IntegerList(values, _) => Value::from(values.as_slice()),
    })
}

impl Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Part(&self.0, 0).serialize(to)
    }
}

/// The values under one key, and the offset in their paths of the part below it.
struct Part<'a, T>(&'a [(String, T)], usize);

impl<T: Serialize> Serialize for Part<'_, T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(values, start) = *self;
        let mut map = to.serialize_map(None)?;
        for values in values.chunk_by(|a, b| first(&a.0[start..]) == first(&b.0[start..])) {
            let key = first(&values[0].0[start..]);
            let end = start + key.len();
            match values {
                [(path, value)] if path.len() == end => map.serialize_entry(key, value)?,
                _ => map.serialize_entry(key, &Part(values, end + 1))?,
            }
        }
        map.end()
    }
}

/// A constant, or `None`: learned.
pub(in crate::io) struct Initial(pub(in crate::io) Option<f64>);

impl<'de> Deserialize<'de> for Initial {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let constant = value.as_object().filter(|object| object.len() == 1);
        match constant.and_then(|object| object.get("constant")?.as_f64()) {
            None if value == "learned" => Ok(Self(None)),
            None => Err(D::Error::custom(
                "expected \"learned\" or {\"constant\": number}",
            )),
            constant => Ok(Self(constant)),
        }
    }
}

impl Serialize for Initial {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(constant) => json!({ "constant": constant }).serialize(to),
            None => to.serialize_str("learned"),
        }
    }
}
