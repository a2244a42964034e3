//! The keys of all presets: unknown ones are found, the nearest known one is suggested, a dotted path sets one, and a
//! table says what each is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::Experiment;
use super::written::value;
use crate::io::Error;
use crate::io::error::{choices, short};
use crate::keys::{Absent, Field, Key, Keys, Table};
use crate::spelling::nearest;

/// Objects whose fields belong to their `kind`: another kind starts from its own defaults.
const DEFAULTS_BY_KIND: [&str; 3] = [
    "training.optimizer.kind",
    "training.clip.kind",
    "task.held_out.kind",
];

/// Hands every key of a configuration to `each`.
pub(in crate::io) fn visit(config: &mut dyn Keys, each: &mut dyn FnMut(Key<'_>)) {
    config.keys(&mut Table::new(each));
}

/// A tree of every key that any preset may have; its leaves are true for ranges, null for others.
pub(super) fn every_key() -> &'static Value {
    static KEYS: LazyLock<Value> = LazyLock::new(|| {
        let mut root = Value::Null;
        for mut preset in of_every_kind() {
            visit(&mut preset, &mut |key| {
                let mut place = &mut root;
                for key in key.path.split('.') {
                    place = &mut place[key];
                }
                if matches!(key.field, Field::Range(..)) {
                    *place = true.into();
                }
            });
        }
        root
    });
    &KEYS
}

/// Returns the default preset, and presets with every other word of each choice, also of nested choices: each key that
/// any preset may have is in one of them.
pub fn of_every_kind() -> Vec<Experiment> {
    let (mut presets, mut chosen) = (vec![Experiment::called("")], BTreeSet::new());
    let mut next = 0;
    while let Some(preset) = presets.get(next).cloned() {
        let mut words = Vec::new();
        visit(&mut preset.clone(), &mut |key| {
            let choices = match &key.field {
                Field::Choice(choice) => choice.words(),
                Field::ChoicePerHead(choices) => choices.words(),
                _ => return,
            };
            let path = key.path.to_owned();
            words.extend(choices.into_iter().map(|word| (path.clone(), word)));
        });
        for (path, word) in words.into_iter().filter(|word| chosen.insert(word.clone())) {
            let mut other = preset.clone();
            visit(&mut other, &mut |key| match key.field {
                Field::Choice(choice) if key.path == path => drop(choice.choose(word)),
                Field::ChoicePerHead(choices) if key.path == path => drop(choices.choose(word)),
                _ => {}
            });
            presets.push(other);
        }
        next += 1;
    }
    presets
}

/// The section of the nearest kind above a path, and the kind: of `task.bits` the section `task` and `copy`. `keys` are
/// paths with what they choose.
fn kind_of<'a>(path: &'a str, keys: &[(String, &'static str)]) -> Option<(&'a str, &'static str)> {
    let mut sections = path.rmatch_indices('.').map(|(end, _)| &path[..end]);
    sections.find_map(|section| {
        let kind = keys.iter().find(|(path, _)| *path == join(section, "kind"));
        kind.map(|(_, word)| (section, *word))
    })
}

/// A row of the [`table`].
struct Row {
    path: String,
    /// The section of the choice that it depends on, and the words of it that have this row.
    choice: String,
    kinds: Vec<&'static str>,
    rest: String,
}

/// Returns a Markdown table of all preset keys, with default, allowed values and description. A key that not every
/// kind has, or not with the same default, names its kinds.
pub fn table() -> String {
    let (mut rows, mut usual) = (Vec::<Row>::new(), BTreeSet::new());
    for (index, mut preset) in of_every_kind().into_iter().enumerate() {
        let mut keys: Vec<(String, &'static str)> = Vec::new();
        let mut heads: Option<(String, &'static str)> = None;
        visit(&mut preset, &mut |key| {
            keys.push((key.path.to_owned(), key.word()));
            let comes_with_heads = index > 0 && !usual.contains(key.path);
            let of_heads = heads.as_ref().filter(|_| comes_with_heads);
            let of_heads = of_heads.map(|(section, word)| (section.as_str(), *word));
            let kind = of_heads.or_else(|| kind_of(key.path, &keys));
            enter(
                &mut rows,
                &key,
                kind.or_else(|| kind_of("task.kind", &keys)),
            );
            let choice = match &key.field {
                Field::ChoicePerHead(choices) => {
                    Some((section(key.path), choices.words()[0], choices.chosen()[0]))
                }
                // A machine with one head has one weighting.
                Field::Choice(choice) if last(key.path) == "weighting" => {
                    Some(("model.heads.attention", choice.words()[0], choice.word()))
                }
                _ => None,
            };
            if let Some((section, _, word)) = choice.filter(|(_, usual, word)| usual != word) {
                heads = Some((section.to_owned(), word));
            }
            if index == 0 {
                usual.insert(key.path.to_owned());
            }
        });
    }
    let head = "| key | of | default | allowed | |\n|---|---|---|---|---|\n";
    let line = |row: &Row| {
        let beside = rows.iter().filter(|other| other.choice == row.choice);
        let all: BTreeSet<_> = beside.flat_map(|row| &row.kinds).collect();
        let is_of_all = row.kinds.len() == all.len();
        let kinds: &[&str] = if is_of_all { &[] } else { &row.kinds };
        let kinds = kinds.join(", ");
        format!("| `{}` | {kinds} | {} |\n", row.path, row.rest)
    };
    let lines = rows.iter().map(line);
    std::iter::once(head.to_owned()).chain(lines).collect()
}

/// Returns a Markdown table of the keys of one experiment.
pub fn table_of(experiment: &Experiment) -> String {
    let mut rows = Vec::new();
    visit(&mut experiment.clone(), &mut |key| {
        enter(&mut rows, &key, None);
    });
    let line = |row: &Row| format!("| `{}` | {} |\n", row.path, row.rest);
    let head = "| key | value | allowed | |\n|---|---|---|---|\n".to_owned();
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}

/// Enters a key of a preset of some kind: a row of its own, unless another kind has the same.
fn enter(rows: &mut Vec<Row>, key: &Key<'_>, kind: Option<(&str, &'static str)>) {
    let (choice, kind) = kind.unzip();
    let default = match (key.absent, value(&key.field)) {
        (Absent::Required, _) => "required".to_owned(),
        (Absent::Depends(words), _) => words.to_owned(),
        (Absent::Default | Absent::First, None) => "empty".to_owned(),
        _ if key.path == "model.text" => "that of the file".to_owned(),
        (Absent::Default | Absent::First, Some(value)) => format!("`{value}`"),
    };
    let allowed = key.allowed();
    let allowed = match &key.field {
        Field::Text(_) => "text".to_owned(),
        Field::Choice(choice) => format!("`{}`", choice.words().join("`, `")),
        Field::ChoicePerHead(choices) => format!(
            "`{}`; or a list, one for each head, read heads first",
            choices.words().join("`, `")
        ),
        Field::IntegerList(..) => format!("a list, each {allowed}"),
        Field::Constant(..) => {
            format!("`\"learned\"`, or `{{\"constant\": number}}` from {allowed}")
        }
        _ => allowed,
    };
    let rest = format!("{default} | {allowed} | {}", key.purpose);
    // The default of a choice is what was chosen first.
    let is_choice = matches!(key.field, Field::Choice(_) | Field::ChoicePerHead(_));
    let is_same = |row: &&mut Row| row.path == key.path && (is_choice || row.rest == rest);
    if let Some(row) = rows.iter_mut().find(is_same) {
        let other = kind.filter(|kind| !row.kinds.contains(kind));
        return row.kinds.extend(other);
    }
    let same_path = rows.iter().rposition(|row| row.path == key.path);
    let is_beside = |row: &Row| section(&row.path) == section(key.path);
    let near = same_path.or_else(|| rows.iter().rposition(is_beside));
    let row = Row {
        path: key.path.to_owned(),
        choice: choice.unwrap_or_default().to_owned(),
        kinds: kind.into_iter().collect(),
        rest,
    };
    rows.insert(near.map_or(rows.len(), |near| near + 1), row);
}

/// The sections whose keys are those of a machine file.
pub(super) const OPEN: [&str; 4] = [
    "model.sizes",
    "model.heads",
    "model.switches",
    "model.constants",
];

/// True for such a section and what is below it.
pub(super) fn is_open(path: &str) -> bool {
    OPEN.iter().any(|section| is_under(path, section))
}

/// True for a preset whose machine stands in a file.
pub(super) fn is_of_equations(given: &Value) -> bool {
    at(given, "model.kind").is_some_and(|kind| kind == "equations")
}

/// Checks that every key is known and that an object stands wherever one belongs.
pub(super) fn check(value: &Value, file: &str) -> Result<(), Error> {
    check_part(value, every_key(), "", file, is_of_equations(value))
}

fn check_part(
    value: &Value,
    known: &Value,
    path: &str,
    file: &str,
    has_open: bool,
) -> Result<(), Error> {
    let Value::Object(known) = known else {
        return Ok(());
    };
    let Value::Object(object) = value else {
        let keys: Vec<&str> = known.keys().map(String::as_str).collect();
        let (found, keys) = (short(&value.to_string()), keys.join(", "));
        let problem = format!("is {found}; expected an object with the keys {keys}");
        return Err(Error::content(file, path, problem));
    };
    object.iter().try_for_each(|(key, value)| {
        let path = join(path, key);
        match known.get(key) {
            _ if has_open && is_open(&path) => {
                let is_section = OPEN.contains(&path.as_str()) && !value.is_object();
                let found = short(&value.to_string());
                let problem =
                    format!("is {found}; expected an object with keys of the machine file");
                let wrong = Err(Error::content(file, path, problem));
                if is_section { wrong } else { Ok(()) }
            }
            None => Err(Error::content(file, &path, unknown(&path, known, has_open))),
            Some(known) => check_part(value, known, &path, file, has_open),
        }
    })
}

/// Sets the value at a dotted path.
pub(super) fn set(root: &mut Value, path: &str, value: &Value) -> Result<(), Error> {
    if !(is_of_equations(root) && is_open(path)) {
        let known = at(every_key(), path).ok_or_else(|| unknown_path(path))?;
        check_part(value, known, path, "--set", is_of_equations(root))?;
    }
    let (sections, key) = (section(path).split('.'), last(path));
    let sections = sections.filter(|key| !key.is_empty());
    let object = sections.fold(root, |object, key| &mut object[key]);
    if DEFAULTS_BY_KIND.contains(&path) && object[key] != *value {
        *object = Value::Null;
    }
    object[key] = value.clone();
    Ok(())
}

/// Removes the value at a dotted path.
pub(super) fn remove(root: &mut Value, path: &str) {
    let mut sections = section(path).split('.');
    let object = sections.try_fold(root, |object, key| object.get_mut(key));
    if let Some(object) = object.and_then(Value::as_object_mut) {
        object.remove(last(path));
    }
}

fn unknown_path(path: &str) -> Error {
    let paths = paths();
    // What ends as the typed path does is meant more often than what is spelt like it: `training.learning_rate` is
    // `training.optimizer.learning_rate`, and `rows` alone is `model.memory.rows`.
    let all = || paths.iter().map(String::as_str);
    let whole = format!(".{path}");
    let mut meant: Vec<&str> = all().filter(|known| known.ends_with(&whole)).collect();
    if meant.is_empty() {
        meant.extend(all().filter(|known| last(known) == last(path)));
    }
    if meant.is_empty() {
        meant.extend(nearest(path, all()));
    }
    let help = if meant.is_empty() {
        "; `tapescope tasks --keys` lists every key".to_owned()
    } else {
        let meant: Vec<_> = meant.iter().map(|known| format!("`{known}`")).collect();
        format!("; did you mean {}?", meant.join(" or "))
    };
    Error::content("--set", path, format!("unknown key{help}"))
}

/// The last part of a path.
pub(in crate::io) fn last(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, last)| last)
}

/// True for the path of a section, and for those of its keys.
pub(super) fn is_under(path: &str, section: &str) -> bool {
    let rest = path.strip_prefix(section);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the path without its last part.
pub(super) fn section(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(section, _)| section)
}

/// The path of every key.
pub(super) fn paths() -> &'static [String] {
    static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut all = BTreeMap::new();
        flatten(String::new(), every_key(), &mut all);
        all.into_keys().collect()
    });
    &PATHS
}

/// Collects the values below a path, by path, as JSON or as bare text.
pub(in crate::io) fn flatten(path: String, value: &Value, to: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flatten(join(&path, key), value, to);
            }
        }
        Value::String(text) => drop(to.insert(path, text.clone())),
        other => drop(to.insert(path, other.to_string())),
    }
}

/// Returns the value at a path.
pub(in crate::io) fn at<'a>(given: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(given, |value, key| value.get(key))
}

fn unknown(path: &str, known: &Map<String, Value>, has_open: bool) -> String {
    let mut keys: Vec<&str> = known.keys().map(String::as_str).collect();
    if OPEN.contains(&path) {
        return "is a section of machine files; expected beside it `\"kind\": \"equations\"` and `file`".to_owned();
    }
    if has_open {
        let open = OPEN.iter().filter(|open| section(open) == section(path));
        keys.extend(open.map(|open| last(open)));
        keys.sort_unstable();
        keys.dedup();
    }
    format!("unknown key{}", choices(last(path), "allowed", &keys))
}

pub(super) fn join(path: &str, key: &str) -> String {
    // A key of no characters, or of spaces, is seen by its quotes.
    let quoted = format!("\"{key}\"");
    let key = if key.trim().is_empty() { &quoted } else { key };
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
