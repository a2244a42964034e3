//! What was refused, as the exceptions of `tapescope.errors`.

use std::io;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tapescope::cli::call::Refused;
use tapescope::io::Error;

/// The exception that says why something was not done.
pub fn raised(py: Python<'_>, why: Refused) -> PyErr {
    let (class, problem, file, place) = match why {
        Refused::Asked(words) => ("ArgumentError", in_python(&words), None, None),
        Refused::Failed(words) => ("TrainingError", words, None, None),
        Refused::File(Error::Content {
            file,
            place,
            problem,
        }) => {
            let place = (!place.is_empty()).then(|| format!("`{place}`"));
            // What was typed behind an option is in no file, but has its name.
            let file = if file == "--set" {
                in_python(&file)
            } else {
                file
            };
            ("FormatError", in_python(&problem), Some(file), place)
        }
        Refused::File(error @ Error::Unknown { .. }) => {
            ("ArgumentError", error.to_string(), None, None)
        }
        Refused::File(Error::Read(file, why)) => return of_system(py, "cannot be read", file, why),
        Refused::File(Error::Write(file, why)) => {
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

/// What the system says of a file that `problem`.
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

/// An option of the command line is an argument of the same name here: `--lengths <L,L,…>` is `lengths`.
fn in_python(words: &str) -> String {
    let mut parts = words.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Inside of a word it is part of a name.
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
        // What clap says that its value is.
        if let Some((_, behind)) = rest
            .strip_prefix(" <")
            .and_then(|rest| rest.split_once('>'))
        {
            rest = behind;
        }
        text += &match name {
            "force" => "force=True".to_owned(),
            "from" => "start".to_owned(),
            // It goes on with what the program alone goes on with.
            "resume" => "`tapescope train --resume`".to_owned(),
            name => name.replace('-', "_"),
        };
        text += rest;
    }
    text
}
