//! Recording to JSON, streamed, or to npz.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ndarray::{ArrayD, ArrayView3, ArrayViewD, CowArray, IxDyn, s};
use serde_json::json;
use zip::ZipWriter;

use super::follows::is_recorded;
use super::format::{Encoding, FORMAT, Generator, KEYFRAME, SMALL_MEMORY, VERSION};
use super::imported::{Derivatives, Source};
use super::intervention;
use super::table::{self, Described, KEYFRAMES, LAST_MEMORY, LOSS, MASK, TARGET};
use super::{form, machine, npz};
use crate::io::preset::written::Written;
use crate::io::{Error, file};
use crate::math::{Answer, Series};
use crate::model::{ModelConfig, Trace, array};
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
    // Sizes stand behind the members: nothing is held back until they are known.
    let mut archive = ZipWriter::new_stream(to);
    archive.start_file(npz::META, npz::options(meta.len() as u64))?;
    archive.write_all(&meta)?;
    for array in listed(recording, source) {
        npz::start_array(&mut archive, &array.described)?;
        let mut line = Vec::new();
        for values in array.values().rows() {
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
    write_json(&mut meta, recording, source, |_, _| Ok(()))?;
    Ok(meta)
}

/// The arrays of a trace by their names, as they lie in memory: [T, …] as in a file, not in its order of values. Only
/// what several layers have is put together anew.
pub fn views<'a>(
    recording: &'a Recording,
    source: &Source<'a>,
) -> Vec<(String, CowArray<'a, f32, IxDyn>)> {
    let arrays = listed(recording, source).into_iter();
    let named = |array: Listed<'a>| {
        let values = array.values();
        (array.described.name, values)
    };
    arrays.map(named).collect()
}

/// Writes a trace. The same recording gives the same bytes.
///
/// # Errors
/// Those of `to`.
pub fn write_to(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    write_json(to, recording, source, data)
}

/// Writes everything but the values of the arrays, which `data` writes behind the description of each.
fn write_json(
    to: &mut dyn Write,
    recording: &Recording,
    source: &Source,
    data: fn(&mut dyn Write, &Listed) -> io::Result<()>,
) -> io::Result<()> {
    let conventions = machine::conventions(source.config, &recording.conventions);
    let weights = source.sha256.map(|sha256| json!({ "sha256": sha256 }));
    let axes = form::axes(recording, &possible(recording, source));
    let gradient = source
        .gradient
        .map(|(of, _)| gradient(of, recording.episode.answer));
    let changes = recording.conventions.interventions.iter();
    let changes: Vec<_> = changes
        .map(|one| intervention::text(one, source.config))
        .collect();
    let entries = [
        ("generator", Some(file::json(&Generator::default()))),
        ("task", Some(file::json(&form::asked(recording)))),
        ("model", Some(file::json(&Written::of(source.config)))),
        ("conventions", conventions.as_ref().map(file::json)),
        ("weights", weights.as_ref().map(file::json)),
        ("numeric", Some(NUMERIC.to_owned())),
        ("axes", Some(file::json(&axes))),
        ("gradient", gradient.as_ref().map(file::json)),
        (
            "interventions",
            (!changes.is_empty()).then(|| file::json(&changes)),
        ),
    ];
    write!(
        to,
        "{{\n\"format\": \"{FORMAT}\", \"version\": \"{VERSION}\""
    )?;
    for (key, json) in entries {
        json.map_or(Ok(()), |json| write!(to, ",\n\"{key}\": {json}"))?;
    }
    to.write_all(b",\n\"arrays\": {")?;
    for (index, array) in listed(recording, source).iter().enumerate() {
        let Described {
            name, dims, shape, ..
        } = &array.described;
        let (dims, shape) = (file::json(dims), file::json(shape));
        let comma = if index == 0 { "" } else { "," };
        write!(
            to,
            "{comma}\n\"{name}\": {{\"dims\": {dims}, \"dtype\": \"float32\", \"shape\": {shape}"
        )?;
        data(to, array)?;
        to.write_all(b"}")?;
    }
    to.write_all(b"\n}\n}\n")
}

/// `gradient`: the number whose derivatives are in a file.
pub(super) fn gradient(of: Quantity, answer: Answer) -> Written {
    let unit = ("unit", of.unit(answer).into());
    Written::new(match of {
        Quantity::Loss => vec![("of", "loss".into()), unit],
        Quantity::Bit { step, channel } => vec![
            ("of", "logit".into()),
            ("step", step.into()),
            ("channel", channel.into()),
            unit,
        ],
    })
}

/// Writes the values of an array.
fn data(to: &mut dyn Write, array: &Listed) -> io::Result<()> {
    to.write_all(b", \"data\": [")?;
    // One line per row of the last axis, so that a diff points to a step.
    let mut line = Vec::new();
    for (index, values) in array.values().rows().into_iter().enumerate() {
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
    to.write_all(b"]")
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
    // A memory that was changed does not follow from the writes.
    let changes = &recording.conventions.interventions;
    let is_changed = changes.iter().any(|one| one.array == array::MEMORY);
    let full_memory = writes_full_memory(&recording.trace, steps, source.full_memory || is_changed);
    table::written(&recording.trace, steps, full_memory)
}

/// An array of a file, and the trace with its values, unless they are of the episode.
struct Listed<'a> {
    described: Described,
    recording: &'a Recording,
    trace: &'a Trace,
}

/// Every array that was recorded; arrays that were not are not in the file. `memory` names both of its forms.
fn listed<'a>(recording: &'a Recording, source: &Source<'a>) -> Vec<Listed<'a>> {
    let of_memory = |name: &str| matches!(name, "memory.last" | "memory.keyframes");
    let mut all = possible(recording, source);
    all.retain(|Described { name, .. }| {
        is_recorded(recording, name) && (!of_memory(name) || is_recorded(recording, "memory"))
    });
    let list = |described, trace| Listed {
        described,
        recording,
        trace,
    };
    let derivatives = source.gradient.into_iter().flat_map(|(_, derivatives)| {
        let all = all.iter().filter_map(|of| derivative(derivatives, of));
        all.map(move |described| list(described, derivatives))
    });
    let derivatives: Vec<_> = derivatives.collect();
    let all = all.into_iter();
    all.map(|described| list(described, &recording.trace))
        .chain(derivatives)
        .collect()
}

/// The derivatives of a source by the arrays of a file, each with its name and shape.
pub(super) fn derivatives(recording: &Recording, source: &Source) -> Derivatives {
    let mut all = listed(recording, source);
    all.retain(|array| array.described.name.starts_with(GRADIENT));
    let filed = |array: Listed<'_>| {
        let values = array.values().iter().copied().collect();
        (array.described, values)
    };
    all.into_iter().map(filed).collect()
}

/// The derivative w.r.t. an array, if any.
fn derivative(derivatives: &Trace, of: &Described) -> Option<Described> {
    let array = match of.spec {
        array::INITIAL_MEMORY | LAST_MEMORY | KEYFRAMES => array::MEMORY,
        array => array,
    };
    let series = derivatives.series(of.place, array)?;
    let mut described = of.clone();
    described.name = format!("{GRADIENT}{}", of.name);
    (!is_unrecorded(series.as_slice())).then_some(described)
}

impl<'a> Listed<'a> {
    /// The values as they lie in memory; those of several layers are put together.
    fn values(&self) -> CowArray<'a, f32, IxDyn> {
        let (episode, trace) = (&self.recording.episode, self.trace);
        let Described { shape, spec, .. } = &self.described;
        let flat = |values: &'a [f32]| ArrayViewD::from_shape(shape.as_slice(), values);
        let view = match *spec {
            TARGET => Ok(episode.target.view().into_dyn()),
            MASK => flat(&episode.mask),
            LOSS => flat(&self.recording.loss),
            array::INITIAL_MEMORY => Ok(trace.memory(0).into_dyn()),
            LAST_MEMORY => Ok(trace.memory(trace.steps()).into_dyn()),
            array::MEMORY => Ok(memories(trace).into_dyn()),
            KEYFRAMES => {
                let (first, end) = (KEYFRAME.min(trace.steps()), trace.steps());
                let keyframes = s![first..end; KEYFRAME.cast_signed(), .., ..];
                Ok(memories(trace).slice_move(keyframes).into_dyn())
            }
            _ => match &*self.series() {
                [one] => flat(one.as_slice()),
                layers => {
                    let of_step = |t| layers.iter().flat_map(move |layer| layer.row(t));
                    let values = (0..trace.steps()).flat_map(of_step).copied().collect();
                    let array = ArrayD::from_shape_vec(shape.as_slice(), values);
                    return array.expect(SIZED).into();
                }
            },
        };
        view.expect(SIZED).into()
    }

    /// The series that make up an array of the machine.
    fn series(&self) -> Vec<&'a Series<f32>> {
        let Described { place, spec, .. } = self.described;
        let places = table::places(self.trace, place).into_iter();
        places
            .filter_map(|place| self.trace.series(place, spec))
            .collect()
    }
}

/// The reason why the values of an array have its shape.
const SIZED: &str = "an array is described by the sizes of its series";

/// Every M_t, [T+1, N, M].
fn memories(trace: &Trace) -> ArrayView3<'_, f32> {
    let [rows, columns] = trace.memory_size();
    let shape = (trace.steps() + 1, columns, rows);
    let all = ArrayView3::from_shape(shape, trace.memory_columns.as_slice());
    all.expect(SIZED).permuted_axes([0, 2, 1])
}

/// True when the whole memory of such an episode is written: it is small, or asked for.
fn writes_full_memory(trace: &Trace, steps: usize, asked: bool) -> bool {
    let [rows, columns] = trace.memory_size();
    let values = rows.saturating_mul(columns);
    asked || values.saturating_mul(steps.saturating_add(1)) <= SMALL_MEMORY
}

/// The size of the file of such an episode in bytes, to within a factor of two; an npz may be far smaller.
pub fn estimated_bytes(
    config: &ModelConfig,
    steps: usize,
    full_memory: bool,
    encoding: Encoding,
) -> u64 {
    let trace = Trace::of_recording(config, [steps, 1], None);
    let full_memory = writes_full_memory(&trace, steps, full_memory);
    let arrays = table::written(&trace, steps, full_memory);
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
