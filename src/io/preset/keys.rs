//! The keys of a preset as a tree: unknown ones are found, the nearest known one is suggested, and a
//! dotted path sets one.

use serde_json::{Map, Value};

use super::form::Form;
use crate::io::Error;
use crate::io::error::{choices, nearest};

/// Objects whose fields belong to their `kind`: another kind starts from its own defaults.
const DEFAULTS_BY_KIND: [&str; 2] = ["training.optimizer.kind", "training.clip.kind"];

/// Checks that every key is known and that an object stands wherever one belongs.
pub(super) fn check(value: &Value, file: &str) -> Result<(), Error> {
    check_object(value, &Form::every_key(), "", file)
}

fn check_object(
    value: &Value,
    known: &Map<String, Value>,
    path: &str,
    file: &str,
) -> Result<(), Error> {
    let Value::Object(object) = value else {
        let problem = format!(
            "is {}; expected an object with the keys {}",
            kind(value),
            list(known)
        );
        return Err(Error::content(file, path, problem));
    };
    for (key, value) in object {
        let path = join(path, key);
        match known.get(key) {
            None => return Err(Error::content(file, path, unknown(key, known))),
            Some(Value::Object(known)) => check_object(value, known, &path, file)?,
            Some(_) => {}
        }
    }
    Ok(())
}

/// Sets the value at a dotted path.
pub(super) fn set(root: &mut Value, path: &str, value: &Value) -> Result<(), Error> {
    let mut known = &Value::Object(Form::every_key());
    for key in path.split('.') {
        known = match known {
            Value::Object(keys) if keys.contains_key(key) => &keys[key],
            _ => return Err(unknown_path(path)),
        };
    }
    if let Value::Object(known) = known {
        check_object(value, known, path, "--set")?;
    }
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut object = root;
    for key in parent.split('.').filter(|key| !key.is_empty()) {
        object = &mut object[key];
        if object.is_null() {
            *object = Value::Object(Map::new());
        }
    }
    if DEFAULTS_BY_KIND.contains(&path) && object[key] != *value {
        *object = Value::Object(Map::new());
    }
    object[key] = value.clone();
    Ok(())
}

fn unknown_path(path: &str) -> Error {
    let mut paths = Vec::new();
    collect_paths(&Form::every_key(), "", &mut paths);
    // What ends as the typed path does is meant more often than what is spelt like it: `training.rate` is
    // `training.optimizer.rate`, and `rows` alone is `model.memory.rows`.
    let last = path.rsplit('.').next().unwrap_or(path);
    let ends = |known: &&str| known.rsplit('.').next() == Some(last);
    let all = || paths.iter().map(String::as_str);
    let mut meant: Vec<&str> = all().filter(ends).collect();
    if meant.is_empty() {
        meant.extend(nearest(path, all()));
    }
    let help = if meant.is_empty() {
        "; `tapescope tasks copy` prints a preset with every key".to_owned()
    } else {
        let meant: Vec<_> = meant.iter().map(|known| format!("`{known}`")).collect();
        format!("; did you mean {}?", meant.join(" or "))
    };
    Error::content("--set", path, format!("there is no such key{help}"))
}

fn collect_paths(known: &Map<String, Value>, path: &str, paths: &mut Vec<String>) {
    for (key, value) in known {
        let path = join(path, key);
        match value {
            Value::Object(known) => collect_paths(known, &path, paths),
            _ => paths.push(path),
        }
    }
}

fn unknown(key: &str, known: &Map<String, Value>) -> String {
    let keys: Vec<&String> = known.keys().collect();
    let suggestion = nearest(key, keys.iter().map(|key| key.as_str()));
    format!("unknown key{}", choices(suggestion, "allowed", &keys))
}

fn list(known: &Map<String, Value>) -> String {
    known
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

fn join(path: &str, key: &str) -> String {
    // A key of no characters, or of spaces, is seen by its quotes.
    let quoted = format!("\"{key}\"");
    let key = if key.trim().is_empty() { &quoted } else { key };
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
