//! Recording to JSON, streamed, or to npz.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ndarray::{ArrayD, ArrayView3, ArrayViewD, CowArray, IxDyn};
use serde::Serialize;
use zip::ZipWriter;

use super::follows::is_recorded;
use super::format::{Encoding, FORMAT, Generator, KEYFRAME, SMALL_MEMORY, VERSION};
use super::imported::{Derivatives, Source};
use super::table::{self, Described, KEYFRAMES, LAST_MEMORY, LOSS, MASK, TARGET};
use super::{form, machine, npz};
use crate::io::preset::written::Written;
use crate::io::{Error, file};
use crate::math::Series;
use crate::model::{self, ModelConfig, Place, Trace, array};
use crate::train::{Quantity, Recording, is_unrecorded};

/// The prefix of the name of a gradient array.
pub(super) const GRADIENT: &str = "gradient.";

/// Description of the number format.
pub(super) const NUMERIC: &str = r#"{"dtype":"float32","decimal":"shortest-roundtrip","nonfinite":"string","layout":"row-major"}"#;

/// Writes a trace file, all or nothing.
///
/// # Errors
/// The end of the name is that of another format ([`Encoding::of`]), or the file cannot be written.
pub fn write(path: &Path, recording: &Recording, source: &Source) -> Result<(), Error> {
    let encoding = Encoding::of(path)?;
    file::write_atomically(path, |to| match encoding {
        Encoding::Json => write_to(to, recording, source),
        Encoding::Gzip => {
            let mut to = GzEncoder::new(to, Compression::default());
            write_to(&mut to, recording, source)?;
            to.finish().map(|_| ())
        }
        Encoding::Npz => write_npz(to, recording, source),
    })
}

/// Writes a trace as npz. The same recording gives the same bytes.
///
/// # Errors
/// Those of `to`.
pub fn write_npz(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    let meta = meta(recording, source)?;
    let arrays = arrays(recording, source);
    // Sizes stand behind the members: nothing is held back until they are known.
    let mut archive = ZipWriter::new_stream(to);
    archive.start_file(npz::META, npz::options(meta.len() as u64))?;
    archive.write_all(&meta)?;
    for array in arrays {
        npz::start_array(&mut archive, &array.described)?;
        let mut line = Vec::new();
        for values in array.rows {
            line.clear();
            line.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            archive.write_all(&line)?;
        }
    }
    archive.finish().map(drop).map_err(io::Error::from)
}

/// Everything of a trace but the values, JSON: the member `meta.json` of an npz.
///
/// # Errors
/// None that a vector could have.
pub fn meta(recording: &Recording, source: &Source) -> io::Result<Vec<u8>> {
    let mut meta = Vec::new();
    write_preamble(&mut meta, recording, source)?;
    let arrays = listed(recording, source).into_iter();
    let described: Vec<String> = arrays
        .map(|array| in_words(&array.described) + "}")
        .collect();
    write!(meta, "{}\n}}\n}}\n", described.join(",\n"))?;
    Ok(meta)
}

/// The arrays of a trace by their names, as they lie in memory: [T, …] as in a file, not in its order of values. Only
/// what several layers have is put together anew.
pub fn views<'a>(
    recording: &'a Recording,
    source: &Source<'a>,
) -> Vec<(String, CowArray<'a, f32, IxDyn>)> {
    let view = |array: Listed<'a>| {
        let view = view(&array, recording)?;
        Some((array.described.name, view))
    };
    let arrays = listed(recording, source).into_iter();
    arrays.filter_map(view).collect()
}

/// Writes a trace. The same recording gives the same bytes.
///
/// # Errors
/// Those of `to`.
pub fn write_to(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    write_preamble(to, recording, source)?;
    for (index, array) in arrays(recording, source).into_iter().enumerate() {
        if index > 0 {
            to.write_all(b",\n")?;
        }
        array.write(to)?;
    }
    to.write_all(b"\n}\n}\n")
}

/// Everything before the first array.
fn write_preamble(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    write!(
        to,
        "{{\n\"format\": \"{FORMAT}\", \"version\": \"{VERSION}\""
    )?;
    entry(to, "generator", &Generator::default())?;
    entry(to, "task", &form::asked(recording))?;
    entry(to, "model", &Written::of(source.config))?;
    if let Some(conventions) = machine::conventions(source.config, &recording.conventions) {
        entry(to, "conventions", &conventions)?;
    }
    if let Some(sha256) = source.sha256 {
        entry(
            to,
            "weights",
            &Written::new(vec![("sha256", sha256.into())]),
        )?;
    }
    write!(to, ",\n\"numeric\": {NUMERIC}")?;
    entry(
        to,
        "axes",
        &form::axes(recording, &possible(recording, source)),
    )?;
    if let Some((of, _)) = source.gradient {
        entry(to, "gradient", &Gradient::from(of))?;
    }
    to.write_all(b",\n\"arrays\": {\n")
}

/// The number whose derivatives are in a file.
#[derive(Serialize)]
pub(super) struct Gradient {
    of: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<usize>,
    unit: &'static str,
}

impl From<Quantity> for Gradient {
    fn from(of: Quantity) -> Self {
        let (of, bit, unit) = match of {
            Quantity::Loss => ("loss", None, "bits"),
            Quantity::Bit { step, channel } => ("logit", Some((step, channel)), "nats"),
        };
        let (step, channel) = bit.unzip();
        Self {
            of,
            step,
            channel,
            unit,
        }
    }
}

fn entry(to: &mut dyn Write, key: &str, value: &impl serde::Serialize) -> io::Result<()> {
    write!(to, ",\n\"{key}\": ")?;
    Ok(serde_json::to_writer(to, value)?)
}

/// The rows of the last axis of an array.
type Rows<'a> = Box<dyn Iterator<Item = Cow<'a, [f32]>> + 'a>;

/// One array on its way to the file.
struct Array<'a> {
    described: Described,
    rows: Rows<'a>,
}

/// Everything but the data, without the closing brace.
fn in_words(described: &Described) -> String {
    let Described {
        name, dims, shape, ..
    } = described;
    let (dims, shape) = (file::json(dims), file::json(shape));
    format!("\"{name}\": {{\"dims\": {dims}, \"dtype\": \"float32\", \"shape\": {shape}")
}

impl Array<'_> {
    fn write(self, to: &mut dyn Write) -> io::Result<()> {
        write!(to, "{}, \"data\": [", in_words(&self.described))?;
        // One line per row of the last axis, so that a diff points to a step.
        let mut line = Vec::new();
        for (index, values) in self.rows.enumerate() {
            line.clear();
            line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
            for (index, &value) in values.iter().enumerate() {
                if index > 0 {
                    line.push(b',');
                }
                number(&mut line, value)?;
            }
            to.write_all(&line)?;
        }
        to.write_all(b"]}")
    }
}

/// The shortest decimal that reads back as the same f32; whole numbers without a point; values that
/// JSON does not have as strings.
fn number(line: &mut Vec<u8>, value: f32) -> io::Result<()> {
    match value {
        f32::INFINITY => line.extend_from_slice(b"\"Infinity\""),
        f32::NEG_INFINITY => line.extend_from_slice(b"\"-Infinity\""),
        _ if value.is_nan() => line.extend_from_slice(b"\"NaN\""),
        _ => {
            serde_json::to_writer(&mut *line, &value)?;
            // Not of "-0.0": as a whole number it would lose its sign.
            if line.ends_with(b".0") && value != 0.0 || value.to_bits() == 0 {
                line.truncate(line.len() - 2);
            }
        }
    }
    Ok(())
}

/// The names of all arrays that were recorded, with all of the memory as one.
pub(super) fn names(recording: &Recording) -> Vec<String> {
    let all = table::written(&recording.trace, recording.episode.steps(), true);
    let names = all.into_iter().map(|array| array.name);
    names.filter(|name| is_recorded(recording, name)).collect()
}

/// Every array of such an episode, recorded or not, in the order of the file.
fn possible(recording: &Recording, source: &Source) -> Vec<Described> {
    let steps = recording.episode.steps();
    let full_memory = writes_full_memory(source.config, steps, source.full_memory);
    table::written(&recording.trace, steps, full_memory)
}

/// An array of a file, and the trace of derivatives it is from, if any.
struct Listed<'a> {
    described: Described,
    derivatives: Option<&'a Trace>,
}

/// Every array that was recorded; arrays that were not are not in the file. `memory` names both of its forms.
fn listed<'a>(recording: &'a Recording, source: &Source<'a>) -> Vec<Listed<'a>> {
    let of_memory = |name: &str| matches!(name, "memory.last" | "memory.keyframes");
    let mut all = possible(recording, source);
    all.retain(|Described { name, .. }| {
        is_recorded(recording, name) && (!of_memory(name) || is_recorded(recording, "memory"))
    });
    let derivatives = source.gradient.map_or_else(Vec::new, |(_, derivatives)| {
        all.iter()
            .filter_map(|described| derivative(derivatives, described))
            .collect()
    });
    let all = all.into_iter().map(|described| Listed {
        described,
        derivatives: None,
    });
    all.chain(derivatives).collect()
}

/// Every array of a file with its values.
fn arrays<'a>(recording: &'a Recording, source: &Source<'a>) -> Vec<Array<'a>> {
    let steps = recording.episode.steps();
    let array = |listed: Listed<'a>| {
        let described = listed.described;
        let rows = match listed.derivatives {
            Some(derivatives) => of_trace(derivatives, steps, &described),
            None => rows(recording, &described),
        };
        Array { described, rows }
    };
    let all = listed(recording, source).into_iter();
    all.map(array).collect()
}

/// The derivatives of a source by the arrays of a file, each with its name and shape.
pub(super) fn derivatives(recording: &Recording, source: &Source) -> Derivatives {
    let mut all = arrays(recording, source);
    all.retain(|array| array.described.name.starts_with(GRADIENT));
    let values = |rows: Rows<'_>| rows.flat_map(Cow::into_owned).collect();
    let all = all.into_iter();
    all.map(|array| (array.described, values(array.rows)))
        .collect()
}

/// The derivative w.r.t. an array, if any.
fn derivative<'a>(derivatives: &'a Trace, of: &Described) -> Option<Listed<'a>> {
    let array = match of.spec {
        array::INITIAL_MEMORY | LAST_MEMORY | KEYFRAMES => array::MEMORY,
        array => array,
    };
    let series = derivatives.series(of.place, array)?;
    let mut described = of.clone();
    described.name = format!("{GRADIENT}{}", of.name);
    let is_there = !is_unrecorded(series.as_slice());
    is_there.then_some(Listed {
        described,
        derivatives: Some(derivatives),
    })
}

/// An array as it lies in memory.
fn view<'a>(array: &Listed<'a>, recording: &'a Recording) -> Option<CowArray<'a, f32, IxDyn>> {
    let (described, trace) = (&array.described, array.derivatives);
    let flat = |values: &'a [f32]| ArrayViewD::from_shape(IxDyn(&described.shape), values).ok();
    let view = match (trace, described.spec) {
        (None, TARGET) => recording.episode.target.view().into_dyn(),
        (None, MASK) => flat(&recording.episode.mask)?,
        (None, LOSS) => flat(&recording.loss)?,
        _ => {
            let trace = trace.unwrap_or(&recording.trace);
            match described.spec {
                array::INITIAL_MEMORY => trace.memory(0).into_dyn(),
                array::MEMORY => memories(trace)?.into_dyn(),
                LAST_MEMORY => trace.memory(trace.steps()).into_dyn(),
                _ => match &*series(trace, described.place, described.spec) {
                    [one] => flat(one.as_slice())?,
                    // The keyframes of a memory, and layers of a controller.
                    _ => return copied(described, of_trace(trace, trace.steps(), described)),
                },
            }
        }
    };
    Some(view.into())
}

/// The values of an array, put together.
fn copied<'a>(described: &Described, rows: Rows<'_>) -> Option<CowArray<'a, f32, IxDyn>> {
    let values = rows.flat_map(Cow::into_owned).collect();
    let array = ArrayD::from_shape_vec(IxDyn(&described.shape), values);
    Some(array.ok()?.into())
}

/// Every M_t, [T+1, N, M].
fn memories(trace: &Trace) -> Option<ArrayView3<'_, f32>> {
    let [rows, columns] = trace.memory_size();
    let shape = (trace.steps() + 1, columns, rows);
    let all = ArrayView3::from_shape(shape, trace.memory_columns.as_slice());
    Some(all.ok()?.permuted_axes([0, 2, 1]))
}

/// The series that make up an array.
fn series(trace: &Trace, place: Place, array: model::Array) -> Vec<&Series<f32>> {
    let places = table::places(trace, place).into_iter();
    places
        .filter_map(|place| trace.series(place, array))
        .collect()
}

/// The rows of an array as they are in the file.
fn rows<'a>(recording: &'a Recording, described: &Described) -> Rows<'a> {
    let episode = &recording.episode;
    let width = described.shape.last().copied().unwrap_or(1).max(1);
    let lines = |data: &'a [f32]| -> Rows<'a> { Box::new(data.chunks(width).map(Cow::Borrowed)) };
    match described.spec {
        TARGET => Box::new(episode.target.outer_iter().map(|row| row.to_vec().into())),
        MASK => lines(&episode.mask),
        LOSS => lines(&recording.loss),
        _ => of_trace(&recording.trace, episode.steps(), described),
    }
}

/// The rows of an array that the machine computed, or of the derivatives w.r.t. it.
fn of_trace<'a>(trace: &'a Trace, steps: usize, described: &Described) -> Rows<'a> {
    let width = described.shape.last().copied().unwrap_or(1).max(1);
    let lines = |data: &'a [f32]| -> Rows<'a> { Box::new(data.chunks(width).map(Cow::Borrowed)) };
    let memories = |from: usize, to: usize, every: usize| -> Rows<'a> {
        let rows = (from..to).step_by(every);
        Box::new(
            rows.flat_map(|t| table::memory_rows(trace, t))
                .map(Cow::Owned),
        )
    };
    match described.spec {
        array::INITIAL_MEMORY => memories(0, 1, 1),
        array::MEMORY => memories(0, steps + 1, 1),
        LAST_MEMORY => memories(steps, steps + 1, 1),
        KEYFRAMES => memories(KEYFRAME, steps, KEYFRAME),
        _ => {
            let all = series(trace, described.place, described.spec);
            if let [one] = all.as_slice() {
                return lines(one.as_slice());
            }
            let of_step = move |t| all.clone().into_iter().map(move |layer| layer.row(t));
            Box::new((0..steps).flat_map(of_step).map(Cow::Borrowed))
        }
    }
}

/// True when the whole memory of such an episode is written: it is small, or asked for.
fn writes_full_memory(config: &ModelConfig, steps: usize, asked: bool) -> bool {
    let values = config.rows().saturating_mul(config.columns());
    asked || values.saturating_mul(steps.saturating_add(1)) <= SMALL_MEMORY
}

/// The size of the file of such an episode in bytes, to within a factor of two; an npz may be far smaller.
pub fn estimated_bytes(
    config: &ModelConfig,
    steps: usize,
    full_memory: bool,
    encoding: Encoding,
) -> u64 {
    let full_memory = writes_full_memory(config, steps, full_memory);
    let arrays = table::written(&Trace::new(config), steps, full_memory);
    arrays.iter().fold(0, |bytes: u64, array| {
        let values = array.values() as u64;
        bytes.saturating_add(values.saturating_mul(encoding.bytes_per_value()))
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short_and_exact() {
        let text = |value: f32| {
            let mut line = Vec::new();
            number(&mut line, value).unwrap();
            String::from_utf8(line).unwrap()
        };
        assert_eq!(text(0.0), "0");
        assert_eq!(text(-0.0), "-0.0");
        assert_eq!(text(1.0), "1");
        assert_eq!(text(-3.0), "-3");
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(1e-6).parse(), Ok(1e-6_f32));
        assert_eq!(text(f32::MAX).parse(), Ok(f32::MAX));
        assert_eq!(text(f32::NAN), "\"NaN\"");
        assert_eq!(text(f32::NEG_INFINITY), "\"-Infinity\"");
    }
}
