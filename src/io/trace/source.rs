//! Location of the arrays of a trace: in its JSON, or next to it in an npz ([`super::npz`]).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::{fmt, io};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::table::Described;
use crate::io::error::{json_words, path, short};

/// The type of all values.
const DTYPE: &str = "float32";

fn dtype() -> String {
    DTYPE.to_owned()
}

/// Arrays by name, from a file that anyone may have written.
pub(super) trait ArraySource {
    fn has(&self, array: &str) -> bool;

    /// The names of all arrays.
    fn names(&self) -> Vec<String>;

    /// Returns the shape of an array, as far as it is given.
    fn shape(&mut self, array: &str) -> Option<Vec<usize>>;

    /// The values of an array that is there and must be as described.
    fn values(&mut self, expected: &Described) -> Result<Vec<f32>, Fault>;
}

/// An error in an array.
pub(super) struct Fault {
    /// Path within it, with its separator: `.shape[0]`; empty for the whole.
    pub(super) within: String,
    pub(super) problem: String,
}

impl From<String> for Fault {
    fn from(problem: String) -> Self {
        let within = String::new();
        Self { within, problem }
    }
}

/// A shape is the one that was expected.
pub(super) fn check_shape(shape: &[usize], expected: &[usize]) -> Result<(), String> {
    if shape == expected {
        return Ok(());
    }
    Err(format!("has the shape {shape:?}; expected {expected:?}"))
}

/// Arrays by name, as in the text of a file; no name twice. Additions of later versions may have any form.
#[derive(Default)]
pub(super) struct Inline<'a> {
    arrays: BTreeMap<String, &'a RawValue>,
    /// The whole file.
    pub(super) text: &'a str,
    /// The receiver of reading progress.
    pub(super) watch: Option<ReadProgress<'a>>,
}

/// The callback for reading progress: bytes read and bytes in all; it may cancel.
pub type ReadProgress<'a> = &'a dyn Fn(usize, usize) -> ControlFlow<()>;

/// A reader that reports its progress, in bytes.
pub(super) struct ProgressReader<'a, R> {
    pub(super) from: R,
    pub(super) read: usize,
    pub(super) all: usize,
    pub(super) watch: ReadProgress<'a>,
}

impl<R: io::Read> io::Read for ProgressReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.read += read;
        match (self.watch)(self.read.min(self.all), self.all) {
            ControlFlow::Continue(()) => Ok(read),
            ControlFlow::Break(()) => Err(io::Error::other("the reading was given up")),
        }
    }
}

/// The number of values between two progress reports.
const REPORT_EVERY: usize = 1 << 14;

impl<'de: 'a, 'a> Deserialize<'de> for Inline<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Self::default())
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Inline<'a> {
    type Value = Self;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of arrays by name")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let array = map.next_value()?;
            if self.arrays.contains_key(&name) {
                let message = format!("duplicate array `{name}`");
                return Err(serde::de::Error::custom(message));
            }
            self.arrays.insert(name, array);
        }
        Ok(self)
    }
}

/// An array that is known, once it is asked for; its numbers wait until its shape is the right one.
#[derive(Deserialize)]
pub(super) struct ArrayForm<'a> {
    /// Empty where the file does not name them.
    #[serde(default)]
    dims: Vec<String>,
    #[serde(default = "dtype")]
    dtype: String,
    shape: Vec<usize>,
    /// Elsewhere in an npz.
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl ArraySource for Inline<'_> {
    fn has(&self, array: &str) -> bool {
        self.arrays.contains_key(array)
    }

    fn names(&self) -> Vec<String> {
        self.arrays.keys().cloned().collect()
    }

    fn shape(&mut self, array: &str) -> Option<Vec<usize>> {
        let form: ArrayForm = serde_json::from_str(self.arrays.get(array)?.get()).ok()?;
        Some(form.shape)
    }

    fn values(&mut self, expected: &Described) -> Result<Vec<f32>, Fault> {
        let missing = || "is missing".to_owned();
        let ArrayForm { shape, data, .. } = self.said(expected)?.ok_or_else(missing)?;
        let no_data = || "has no `data`; expected a flat list of numbers".to_owned();
        let data = data.ok_or_else(no_data)?;
        let expected = shape.iter().copied().fold(1, usize::saturating_mul);
        // No number has less than two characters with its comma: a shape alone makes no room.
        let room = expected.min(data.get().len() / 2 + 1);
        let mut kept = Vec::new();
        kept.try_reserve_exact(room)
            .map_err(|error| error.to_string())?;
        let reader = |text: &str| {
            let read = (text.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
            self.watch.map_or(ControlFlow::Continue(()), |watch| {
                watch(read, self.text.len())
            })
        };
        let numbers = Numbers {
            kept,
            expected,
            reader: &reader,
        };
        let read = serde_json::Deserializer::from_str(data.get()).deserialize_seq(numbers);
        let (values, count) =
            read.map_err(|error| self.misread(".data".to_owned(), data, &error))?;
        if expected == count {
            return Ok(values);
        }
        let problem = format!("has {count} values; expected {expected} for the shape {shape:?}");
        Err(problem.into())
    }
}

impl Inline<'_> {
    /// Compares the metadata of an array, if given, with the expected ones.
    pub(super) fn said(&self, expected: &Described) -> Result<Option<ArrayForm<'_>>, Fault> {
        let Some(raw) = self.arrays.get(&expected.name).copied() else {
            return Ok(None);
        };
        let mut json = serde_json::Deserializer::from_str(raw.get());
        let form: ArrayForm = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = path(error.path());
            let dot = if path.is_empty() { "" } else { "." };
            self.misread(format!("{dot}{path}"), raw, error.inner())
        })?;
        check_shape(&form.shape, &expected.shape)?;
        let (dims, dtype) = (&form.dims, short(&form.dtype));
        if !dims.is_empty() && *dims != expected.dims {
            let expected = &expected.dims;
            return Err(format!("has the dims {dims:?}; expected {expected:?}").into());
        }
        if form.dtype != DTYPE {
            return Err(format!("has the dtype `{dtype}`; expected `{DTYPE}`").into());
        }
        Ok(Some(form))
    }

    /// An error of a part of the file, with its line and column in the whole.
    fn misread(&self, within: String, part: &RawValue, error: &serde_json::Error) -> Fault {
        let said = json_words(error);
        let (line, column) = (error.line(), error.column());
        let here = format!(" at line {line} column {column}");
        let said = said.strip_suffix(&here).unwrap_or(&said);
        let (lines, columns) = start(self.text, part);
        let column = if line == 1 { column + columns } else { column };
        let line = line + lines;
        let problem = format!("{said} at line {line} column {column}");
        Fault { within, problem }
    }
}

/// Returns the numbers of lines and of columns in a text before a part of it.
pub(super) fn start(text: &str, part: &RawValue) -> (usize, usize) {
    // The part is a piece of the text, so its address says where it begins.
    let start = (part.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..start).unwrap_or_default();
    let last_line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
    (before.matches('\n').count(), last_line.len())
}

/// Numbers, parsed as f32 from their text: a detour through f64 could round twice. As many as expected are
/// kept, the others counted.
struct Numbers<'a> {
    kept: Vec<f32>,
    expected: usize,
    /// Told at which of them it is.
    reader: &'a dyn Fn(&str) -> ControlFlow<()>,
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = (Vec<f32>, usize);
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a flat list of numbers")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Self::Value, A::Error> {
        while self.kept.len() < self.expected
            && let Some(text) = seq.next_element::<&RawValue>()?
        {
            if self.kept.len().is_multiple_of(REPORT_EVERY) && (self.reader)(text.get()).is_break()
            {
                return Err(serde::de::Error::custom("was given up"));
            }
            self.kept
                .push(value(text.get()).map_err(serde::de::Error::custom)?);
        }
        let mut count = self.kept.len();
        while seq.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((self.kept, count))
    }
}

fn value(text: &str) -> Result<f32, String> {
    match text {
        "\"NaN\"" => Ok(f32::NAN),
        "\"Infinity\"" => Ok(f32::INFINITY),
        "\"-Infinity\"" => Ok(f32::NEG_INFINITY),
        _ => text.parse().ok().filter(|value: &f32| value.is_finite()).ok_or_else(|| {
            let shown: String = text.chars().take(20).collect();
            format!("`{shown}` is not a 32-bit number; allowed: numbers, \"NaN\", \"Infinity\" and \"-Infinity\"")
        }),
    }
}
