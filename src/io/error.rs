//! Errors about files, and their texts.

use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::spelling::did_you_mean;

/// A file that could not be read, written or understood.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read: which, and why.
    #[error("{0}: cannot be read: {1}")]
    Read(String, #[source] io::Error),
    /// The file could not be written: which, and why.
    #[error("{0}: cannot be written: {1}")]
    Write(String, #[source] io::Error),
    /// The file was read, but has invalid content.
    #[error("{file}: {}{problem}", prefix(place))]
    Content {
        /// The file.
        file: String,
        /// The key, tensor or array inside it; empty for the file as a whole.
        place: String,
        /// The value found, and the allowed values.
        problem: String,
    },
    /// A mistake in a machine file: file, line and column, what was found, and what is allowed.
    #[error("{0}")]
    Machine(String),
    /// Neither a file nor a name that is known.
    #[error("there is no {what} `{name}`; {meant}known: {}", known.join(", "))]
    Unknown {
        /// The kind of thing: `preset`, ….
        what: &'static str,
        /// The name as typed.
        name: String,
        /// The question whether a known name is meant; empty where none is near.
        meant: String,
        /// The known names, or the first of very many.
        known: Vec<String>,
    },
}

/// The name of a file, as people read it: none of its characters acts on a terminal, and of a very long one
/// both ends are shown.
pub fn label(path: &Path) -> String {
    const MOST: usize = 400;
    bounded(&path.display().to_string(), MOST)
}

impl Error {
    /// Returns the error of the system for a file to be read.
    pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self {
        |error| Self::Read(label(path), error)
    }

    /// Returns the error of the system for a file to be written.
    pub(super) fn unwritable(path: &Path) -> impl Fn(io::Error) -> Self {
        |error| Self::Write(label(path), error)
    }

    /// Returns an error about a whole file or folder.
    pub(super) fn about(path: &Path, problem: impl Into<String>) -> Self {
        Self::content(&label(path), "", problem)
    }

    pub(super) fn content(
        file: &str,
        place: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Content {
            file: file.to_owned(),
            place: bounded(&place.into(), MOST_OF_NAME),
            problem: bounded(&problem.into(), MOST_OF_SENTENCE),
        }
    }

    /// Returns an error about a machine file, with its place.
    pub(super) fn machine(mistake: &impl std::fmt::Display) -> Self {
        Self::Machine(bounded(&mistake.to_string(), MOST_OF_SENTENCE))
    }

    /// Returns an error about JSON.
    pub(super) fn json(file: &str, place: impl Into<String>, error: &serde_json::Error) -> Self {
        Self::content(file, place, json_words(error))
    }

    /// Returns the same error about the contents of a file.
    pub(super) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Content { place, problem, .. } => Self::content(file, place, problem),
            other => other,
        }
    }

    /// Moves the error to a larger file, in which its part is at `outer`.
    pub(super) fn within(self, outer: &str) -> Self {
        match self {
            Self::Content {
                file,
                place,
                problem,
            } => {
                let is_key = !place.is_empty() && !place.starts_with('[');
                let dot = if is_key { "." } else { "" };
                Self::content(&file, format!("{outer}{dot}{place}"), problem)
            }
            other => other,
        }
    }

    /// Returns problem and place, for contexts in which the file is known.
    pub fn without_file(&self) -> String {
        match self {
            Self::Content { place, problem, .. } => format!("`{place}`: {problem}"),
            other => other.to_string(),
        }
    }

    /// The error for a `name` that is none of `known`.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        const MOST: usize = 5;
        let mut known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let meant = did_you_mean(name, known.iter().map(String::as_str));
        if known.len() > MOST {
            let all = known.len();
            known.truncate(MOST);
            known.push(format!("… (`tapescope tasks` lists all {all})"));
        }
        Self::Unknown {
            what,
            name: short(name),
            meant,
            known,
        }
    }
}

/// The most characters of a name, or of a value, that someone else wrote.
const MOST_OF_NAME: usize = 80;
/// The largest number of characters of its text.
const MOST_OF_SENTENCE: usize = 1000;

/// The largest number of characters of an error of serde.
const MOST_OF_JSON: usize = 300;

/// An error about JSON in the words of serde, but without the names of types; text that it quotes may be long.
pub(super) fn json_words(error: &serde_json::Error) -> String {
    let said = bounded(&error.to_string(), MOST_OF_JSON);
    let Some((found, expected)) = said.rsplit_once(", expected ") else {
        return said;
    };
    let (expected, place) = expected.split_at(expected.find(" at line ").unwrap_or(expected.len()));
    let expected = match expected {
        "u32" | "usize" => "a whole number, 0 or more",
        "u64" => "a whole number, 0 or more and less than 2^64",
        "f32" | "f64" => "a number",
        "a string" => "text",
        "a sequence" => "a list",
        word if word == "a map" || word.starts_with("struct ") => "an object",
        word => word,
    };
    let found = found.replace("type: map", "type: object");
    let found = found.replace("type: sequence", "type: list");
    format!("{found}, expected {expected}{place}")
}

/// Parses JSON; an error names the place inside it, with line and column.
pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str, label: &str) -> Result<T, Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| Error::json(label, path(error.path()), error.inner()))?;
    let end = json.end();
    end.map_err(|error| Error::json(label, "", &error))?;
    Ok(parsed)
}

/// Returns the path of an error; empty for the whole.
pub(super) fn path(path: &serde_path_to_error::Path) -> String {
    match path.to_string() {
        whole if whole == "." => String::new(),
        path => path,
    }
}

/// At most 80 characters of a text that someone else wrote, none of which acts on a terminal.
pub(super) fn short(text: &str) -> String {
    bounded(text, MOST_OF_NAME)
}

/// Returns at most `most` characters of a text, without control characters for terminals. A longer text is cut in
/// its middle, because names differ at their ends.
pub fn bounded(text: &str, most: usize) -> String {
    let text = harmless(text);
    let count = text.chars().count();
    if count <= most {
        return text;
    }
    let first = text.chars().take(most / 2);
    let last = text.chars().skip(count + most / 2 + 1 - most);
    first.chain(['…']).chain(last).collect()
}

/// Replaces every character that acts on a terminal by a sign: controls, and characters that change the writing
/// direction or break the line.
pub fn harmless(text: &str) -> String {
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let shown = |c: char| if acts(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

fn prefix(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!("`{place}`: ")
    }
}

/// Lists the known names behind the one of them that `name` may stand for.
pub(super) fn choices(name: &str, word: &str, all: &[impl AsRef<str>]) -> String {
    let all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
    let meant = did_you_mean(name, all.iter().copied());
    format!("; {meant}{word}: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Error, bounded, harmless, parse};

    #[test]
    fn messages_contain_no_terminal_control_characters() {
        let error = Error::content("f", "a\u{1b}[2J", "is `\r\u{7f}`");
        assert_eq!(
            error.to_string(),
            "f: `a\u{fffd}[2J`: is `\u{fffd}\u{fffd}`"
        );
        assert_eq!(
            harmless("\u{202e}gnp.\u{2066}a\u{9b}31m\u{2028}\u{e9}e\u{301}"),
            "\u{fffd}gnp.\u{fffd}a\u{fffd}31m\u{fffd}\u{e9}e\u{301}"
        );
    }

    #[test]
    fn messages_are_short() {
        let long = "x".repeat(30_000) + "end";
        let error = Error::content("f", long.as_str(), long.as_str()).to_string();
        assert!(
            error.chars().count() < 1100 && error.ends_with("end"),
            "{error}"
        );
        assert_eq!(bounded("abcdefgh", 8), "abcdefgh");
        assert_eq!(bounded("abcdefghi", 8), "abcd…ghi");
    }

    #[test]
    fn json_errors_name_file_place_and_position() {
        let error = |text: &str| parse::<[Option<usize>; 2]>(text, "f").unwrap_err();
        assert_eq!(
            error(r#"[1, "x"]"#).within("entry").to_string(),
            "f: `entry[1]`: invalid type: string \"x\", expected a whole number, 0 or more at line 1 column 7"
        );
        assert_eq!(
            error("[1, 2] 3").to_string(),
            "f: trailing characters at line 1 column 8"
        );
        let of = |text: &str| parse::<BTreeMap<String, f64>>(text, "f").unwrap_err();
        assert_eq!(
            of(r#"{"a": {}}"#).to_string(),
            "f: `a`: invalid type: object, expected a number at line 1 column 6"
        );
        assert_eq!(
            of("[]").to_string(),
            "f: invalid type: list, expected an object at line 1 column 0"
        );
        let long = error(&format!("[1, \"{}\"]", "x".repeat(30_000))).to_string();
        assert!(long.chars().count() < 340, "{long}");
        assert!(long.contains("column 30006"), "{long}");
    }
}
