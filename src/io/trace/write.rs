//! Recording to JSON, streamed, or to npz.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;

use super::form::{AskedForm, AxesForm, MachineForm, NUMERIC};
use super::{Encoding, FORMAT, Generator, KEYFRAME, Source, VERSION, npz, writes_full_memory};
use crate::io::{Error, file};
use crate::math::Series;
use crate::model::{HeadTrace, LayerTrace, ModelConfig};
use crate::train::Recording;

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
    let arrays = arrays(recording, source);
    let mut meta = Vec::new();
    write_head(&mut meta, recording, source)?;
    let described: Vec<String> = arrays.iter().map(|array| array.described() + "}").collect();
    write!(meta, "{}\n}}\n}}\n", described.join(",\n"))?;
    // Sizes stand behind the members: nothing is held back until they are known.
    let mut archive = ZipWriter::new_stream(to);
    archive.start_file(npz::META, npz::options(meta.len() as u64))?;
    archive.write_all(&meta)?;
    for array in arrays {
        npz::start_array(&mut archive, &array.name, &array.shape)?;
        let mut line = Vec::new();
        for values in array.rows {
            line.clear();
            line.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            archive.write_all(&line)?;
        }
    }
    archive.finish().map(drop).map_err(io::Error::from)
}

/// Writes a trace. The same recording gives the same bytes.
///
/// # Errors
/// Those of `to`.
pub fn write_to(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    write_head(to, recording, source)?;
    for (index, array) in arrays(recording, source).into_iter().enumerate() {
        if index > 0 {
            to.write_all(b",\n")?;
        }
        array.write(to)?;
    }
    to.write_all(b"\n}\n}\n")
}

/// Everything before the first array.
fn write_head(to: &mut dyn Write, recording: &Recording, source: &Source) -> io::Result<()> {
    write!(
        to,
        "{{\n\"format\": \"{FORMAT}\", \"version\": \"{VERSION}\""
    )?;
    entry(to, "generator", &Generator::default())?;
    entry(to, "task", &AskedForm::new(recording))?;
    entry(
        to,
        "model",
        &MachineForm::new(source, &recording.conventions),
    )?;
    entry(to, "numeric", &NUMERIC)?;
    entry(to, "axes", &AxesForm::new(recording, source))?;
    to.write_all(b",\n\"arrays\": {\n")
}

fn entry(to: &mut dyn Write, key: &str, value: &impl serde::Serialize) -> io::Result<()> {
    write!(to, ",\n\"{key}\": ")?;
    Ok(serde_json::to_writer(to, value)?)
}

/// One array on its way to the file.
struct Array<'a> {
    name: String,
    dims: &'static [&'static str],
    shape: Vec<usize>,
    /// The rows of the last axis.
    rows: Box<dyn Iterator<Item = Cow<'a, [f32]>> + 'a>,
}

impl<'a> Array<'a> {
    /// An array that is in memory as it will be in the file.
    fn new(
        name: impl Into<String>,
        dims: &'static [&'static str],
        shape: impl Into<Vec<usize>>,
        data: &'a [f32],
    ) -> Self {
        let shape = shape.into();
        let width = shape.last().copied().unwrap_or(1).max(1);
        Self::of_rows(name, dims, shape, data.chunks(width).map(Cow::Borrowed))
    }

    fn of_rows(
        name: impl Into<String>,
        dims: &'static [&'static str],
        shape: impl Into<Vec<usize>>,
        rows: impl Iterator<Item = Cow<'a, [f32]>> + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            dims,
            shape: shape.into(),
            rows: Box::new(rows),
        }
    }

    /// Everything but the data, without the closing brace.
    fn described(&self) -> String {
        let (name, dims, shape) = (&self.name, file::json(&self.dims), file::json(&self.shape));
        format!("\"{name}\": {{\"dims\": {dims}, \"dtype\": \"float32\", \"shape\": {shape}")
    }

    fn write(self, to: &mut dyn Write) -> io::Result<()> {
        write!(to, "{}, \"data\": [", self.described())?;
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
    if value.is_nan() {
        line.extend_from_slice(b"\"NaN\"");
    } else if value.is_infinite() {
        let text = if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        };
        line.extend_from_slice(text.as_bytes());
    } else {
        serde_json::to_writer(&mut *line, &value)?;
        // Not of "-0.0": as a whole number it would lose its sign.
        if line.ends_with(b".0") && value != 0.0 || value.to_bits() == 0 {
            line.truncate(line.len() - 2);
        }
    }
    Ok(())
}

/// The names of all arrays that were recorded, with all of the memory as one.
pub(super) fn names(recording: &Recording, config: &ModelConfig) -> Vec<String> {
    let source = Source {
        config,
        sha256: None,
        full_memory: true,
    };
    let arrays = arrays(recording, &source).into_iter();
    arrays.map(|array| array.name).collect()
}

/// Every array, in the order of the file.
fn arrays<'a>(recording: &'a Recording, source: &Source) -> Vec<Array<'a>> {
    let (trace, episode, config) = (&recording.trace, &recording.episode, source.config);
    let t = episode.steps();
    let target = episode
        .target
        .rows()
        .into_iter()
        .map(|row| row.to_vec().into());
    let mut arrays = vec![
        Array::new(
            "input",
            &["t", "x"],
            [t, config.inputs],
            trace.input.as_slice(),
        ),
        Array::of_rows("target", &["t", "y"], [t, config.outputs], target),
        Array::new("mask", &["t"], [t], episode.mask.as_slice()),
        Array::new(
            "logit",
            &["t", "y"],
            [t, config.outputs],
            trace.logit.as_slice(),
        ),
        Array::new(
            "output",
            &["t", "y"],
            [t, config.outputs],
            trace.output.as_slice(),
        ),
        Array::new("loss", &["t"], [t], recording.loss.as_slice()),
    ];
    arrays.push(controller(
        recording,
        source,
        "controller.hidden",
        |layer| &layer.hidden,
    ));
    if trace.layers.iter().any(|layer| layer.cell.width() > 0) {
        arrays.push(controller(recording, source, "controller.cell", |layer| {
            &layer.cell
        }));
    }
    arrays.extend(memory(recording, source));
    for (index, head) in trace.heads.iter().enumerate() {
        arrays.extend(head_arrays(&config.head_name(index), head));
    }
    // What nobody recorded is not in the file either; `memory` stands for both of its forms.
    let is_absent = |name: &str| recording.absent.iter().any(|absent| absent == name);
    arrays.retain(|Array { name, .. }| {
        let of_memory = matches!(name.as_str(), "memory.last" | "memory.keyframes");
        !(is_absent(name) || of_memory && is_absent("memory"))
    });
    arrays
}

/// [t, c] of one layer, [t, l, c] of several.
fn controller<'a>(
    recording: &'a Recording,
    source: &Source,
    name: &str,
    series: fn(&'a LayerTrace<f32>) -> &'a Series<f32>,
) -> Array<'a> {
    let (layers, c) = (&recording.trace.layers, source.config.controller.size);
    let t = recording.episode.steps();
    if let [layer] = layers.as_slice() {
        return Array::new(name, &["t", "c"], [t, c], series(layer).as_slice());
    }
    let rows =
        (0..t).flat_map(move |t| layers.iter().map(move |layer| series(layer).row(t).into()));
    Array::of_rows(name, &["t", "l", "c"], [t, layers.len(), c], rows)
}

/// All of the memory when it is small or asked for; else the first, the last and every 64th.
fn memory<'a>(recording: &'a Recording, source: &Source) -> Vec<Array<'a>> {
    let (config, t) = (source.config, recording.episode.steps());
    let (n, m) = (config.rows, config.columns);
    let rows_of = move |t: usize| {
        let memory = recording.trace.memory(t);
        (0..n).map(move |row| memory.row(row).to_vec().into())
    };
    let one = |name, t| Array::of_rows(name, &["n", "m"], [n, m], rows_of(t));
    if writes_full_memory(config, t, source.full_memory) {
        let rows = (0..=t).flat_map(rows_of);
        let full = Array::of_rows("memory", &["t+1", "n", "m"], [t + 1, n, m], rows);
        return vec![one("memory.initial", 0), full];
    }
    let steps = (KEYFRAME..t).step_by(KEYFRAME);
    let shape = [steps.len(), n, m];
    let keyframes = Array::of_rows(
        "memory.keyframes",
        &["f", "n", "m"],
        shape,
        steps.flat_map(rows_of),
    );
    vec![one("memory.initial", 0), one("memory.last", t), keyframes]
}

/// What there is of a head, under its name.
fn head_arrays<'a>(head: &str, trace: &'a HeadTrace<f32>) -> impl Iterator<Item = Array<'a>> {
    let there = trace.arrays().filter(|(_, series)| series.width() > 0);
    there.map(move |(spec, series)| {
        let (values, name) = (series.as_slice(), format!("{head}.{}", spec.name));
        let shape = match spec.dims {
            [_] => vec![values.len()],
            _ => vec![series.steps(), series.width()],
        };
        Array::new(name, spec.dims, shape, values)
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
