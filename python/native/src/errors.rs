//! Errors of the library as the exceptions of `tapescope.errors`.

use std::io;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tapescope::cli::in_process::CommandError;
use tapescope::io::Error;

/// Returns the Python exception for an error.
pub fn raised(py: Python<'_>, why: CommandError) -> PyErr {
    let (class, problem, file, place) = match why {
        CommandError::InvalidArgument(words) => ("ArgumentError", in_python(&words), None, None),
        CommandError::Failed(words) => ("TrainingError", words, None, None),
        CommandError::File(Error::Content {
            file,
            place,
            problem,
        }) => {
            let place = (!place.is_empty()).then(|| format!("`{place}`"));
            // The value of an option is in no file; the option's name takes its place.
            let file = if file == "--set" {
                in_python(&file)
            } else {
                file
            };
            ("FormatError", in_python(&problem), Some(file), place)
        }
        // It begins with the file, the line and the column.
        CommandError::File(Error::Machine(words)) => ("FormatError", words, None, None),
        CommandError::File(error @ Error::Unknown { .. }) => {
            ("ArgumentError", error.to_string(), None, None)
        }
        CommandError::File(Error::Read(file, why)) => {
            return of_system(py, "cannot be read", file, why);
        }
        CommandError::File(Error::Write(file, why)) => {
            return of_system(py, "cannot be written", file, why);
        }
    };
    let build = || {
        let class = py.import("tapescope.errors")?.getattr(class)?;
        let named = PyDict::new(py);
        named.set_item("file", file)?;
        named.set_item("place", place)?;
        class.call((problem,), Some(&named))
    };
    build().map_or_else(|error| error, PyErr::from_value)
}

/// Returns the exception for an error of the system. `problem`: for example "cannot be read".
fn of_system(py: Python<'_>, problem: &str, file: String, why: io::Error) -> PyErr {
    let build = || {
        let class = py.import("tapescope.errors")?.getattr("FileError")?;
        let why = match why.raw_os_error() {
            Some(number) => {
                let words = py.import("os")?.call_method1("strerror", (number,))?;
                py.import("builtins")?
                    .getattr("OSError")?
                    .call1((number, words))?
            }
            None => PyErr::from(why).into_value(py).into_bound(py).into_any(),
        };
        class.call_method1("of", (why, file, problem))
    };
    build().map_or_else(|error| error, PyErr::from_value)
}

/// Replaces options of the command line by the Python arguments of the same name: `--lengths <L,L,…>` becomes `lengths`.
fn in_python(words: &str) -> String {
    let mut parts = words.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Inside a word, `--` is part of a name.
        let is_option = !text.ends_with(|c: char| c.is_alphanumeric() || "-_./\\".contains(c))
            && part.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_option {
            text += "--";
            text += part;
            continue;
        }
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let end = part.find(|c| !is_of_name(c)).unwrap_or(part.len());
        let (name, mut rest) = part.split_at(end);
        // The placeholder that clap prints for its value.
        if let Some((_, behind)) = rest
            .strip_prefix(" <")
            .and_then(|rest| rest.split_once('>'))
        {
            rest = behind;
        }
        text += &match name {
            "force" => "force=True".to_owned(),
            "from" => "start".to_owned(),
            // Only the program can resume a run, and list keys.
            "resume" => "`tapescope train --resume`".to_owned(),
            "keys" => "--keys".to_owned(),
            name => name.replace('-', "_"),
        };
        text += rest;
    }
    text
}
