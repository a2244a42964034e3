//! JSON or npz to recording. The file may come from anyone: every shape is checked before anything is built.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::follows::complete;
use super::form::{AskedForm, MachineForm, TimeForm, title};
use super::npz::{META, Members};
use super::unpack::unpacked;
use super::{FORMAT, Imported, KEYFRAME};
use crate::io::error::{plain, short};
use crate::io::preset::form::complete_model;
use crate::io::{Error, file, room};
use crate::math::Series;
use crate::model::config::ControllerKind;
use crate::model::{Conventions, HeadTrace, LayerTrace, ModelConfig, Trace, Turns, recompute};
use crate::task::{Episode, Other, Phase, Task};
use crate::train::{ABSENT, LARGEST_RECORDING, Recording, Score, is_unrecorded, recording_bytes};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 2 << 30;

/// Reads a trace file.
///
/// # Errors
/// The file, the array or key, what was found and what was expected.
pub fn read(path: &Path) -> Result<Imported, Error> {
    from_bytes(file::read(path, LIMIT, begins)?, &file::label(path))
}

/// Refuses what can be neither JSON nor packed.
fn begins(bytes: &[u8]) -> Result<(), String> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'P' | 0x1f | b'{' | b'[') | None => Ok(()),
        Some(_) => Err("is not a trace: begins like neither JSON nor gzip nor npz".to_owned()),
    }
}

/// [`read`] from memory: JSON, gzipped JSON or npz, by its first bytes; `label` stands for the file in
/// messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: Vec<u8>, label: &str) -> Result<Imported, Error> {
    let fail = |problem: String| Error::content(label, "", problem);
    if bytes.starts_with(b"PK") {
        let mut members = Members::new(&bytes, LIMIT).map_err(fail)?;
        let meta = members
            .meta()
            .map_err(|problem| Error::content(label, META, problem))?;
        return with_arrays(&meta, label, Some(members));
    }
    let bytes = if bytes.starts_with(b"\x1f\x8b") {
        unpacked(&bytes, LIMIT).map_err(fail)?
    } else {
        bytes
    };
    let text = String::from_utf8(bytes);
    from_json(
        &text.map_err(|error| fail(format!("is not text: {error}")))?,
        label,
    )
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_json(source: &str, label: &str) -> Result<Imported, Error> {
    with_arrays(source, label, None)
}

/// A trace whose arrays are in the JSON, or in the members of an npz.
fn with_arrays(source: &str, label: &str, members: Option<Members>) -> Result<Imported, Error> {
    check_format(source, label)?;
    let mut json = serde_json::Deserializer::from_str(source);
    let form: TraceForm = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { path };
        Error::content(label, place, plain(&error.inner().to_string()))
    })?;
    json.end()
        .map_err(|error| Error::content(label, "", error.to_string()))?;
    build(form, source, label, members)
}

#[derive(Deserialize)]
struct HeadForm<'a> {
    #[serde(default)]
    format: Cow<'a, str>,
    #[serde(default)]
    version: Cow<'a, str>,
    task: Option<IgnoredAny>,
    arrays: Option<IgnoredAny>,
}

/// Format and version first: a file of another kind gets no errors about keys.
fn check_format(source: &str, label: &str) -> Result<(), Error> {
    let no_trace = |why: &str| Error::content(label, "", format!("is not a trace: {why}"));
    if source.trim_start().starts_with('[') {
        return Err(no_trace("is a list; expected an object"));
    }
    let head: HeadForm =
        serde_json::from_str(source).map_err(|error| no_trace(&plain(&error.to_string())))?;
    if head.format.is_empty() && head.task.is_some() && head.arrays.is_none() {
        let problem = format!("is a preset, not a trace; train it first: tapescope train {label}");
        return Err(Error::content(label, "", problem));
    }
    if head.format.is_empty() {
        let problem = format!("is missing; expected `{FORMAT}`");
        return Err(Error::content(label, "format", problem));
    }
    if head.format != FORMAT {
        let problem = format!("is `{}`; expected `{FORMAT}`", short(&head.format));
        return Err(Error::content(label, "format", problem));
    }
    if head.version.split('.').next() != Some("1") {
        let problem = format!(
            "is `{}`; this program reads 1.x: a newer one may be needed",
            short(&head.version)
        );
        return Err(Error::content(label, "version", problem));
    }
    Ok(())
}

/// What is needed of a trace; other keys are ignored.
#[derive(Deserialize)]
struct TraceForm<'a> {
    task: AskedForm,
    model: MachineForm,
    #[serde(borrow)]
    axes: AxesForm<'a>,
    #[serde(borrow, deserialize_with = "unique")]
    arrays: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct AxesForm<'a> {
    #[serde(borrow)]
    t: TimeForm<'a>,
}

/// An array that is known, once it is asked for; its numbers wait until its shape is the right one.
#[derive(Deserialize)]
struct ArrayForm<'a> {
    shape: Vec<usize>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// Arrays by name, as they stand; no name twice. What a later version adds may look as it likes.
fn unique<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, &'de RawValue>, D::Error> {
    struct Unique;
    impl<'de> Visitor<'de> for Unique {
        type Value = BTreeMap<String, &'de RawValue>;
        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("an object of arrays by name")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut arrays = BTreeMap::new();
            while let Some(name) = map.next_key::<String>()? {
                let array = map.next_value()?;
                if arrays.contains_key(&name) {
                    let message = format!("the array `{name}` is there twice");
                    return Err(serde::de::Error::custom(message));
                }
                arrays.insert(name, array);
            }
            Ok(arrays)
        }
    }
    from.deserialize_map(Unique)
}

/// Numbers, parsed as f32 from their text: a detour through f64 could round twice. As many as expected are
/// kept, the others counted.
struct Numbers {
    kept: Vec<f32>,
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = (Vec<f32>, usize);
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Numbers {
    type Value = (Vec<f32>, usize);
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a flat list of numbers")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Self::Value, A::Error> {
        while self.kept.len() < self.expected
            && let Some(text) = seq.next_element::<&RawValue>()?
        {
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

/// The arrays of a file, taken out one by one, each with the shape it must have.
struct Arrays<'a> {
    left: BTreeMap<String, &'a RawValue>,
    members: Option<Members<'a>>,
    source: &'a str,
    label: &'a str,
    /// What was asked for and is not there.
    absent: Vec<String>,
    /// What the whole recording takes, in bytes: what is absent takes room too.
    bytes: u64,
    /// Where the columns of a shift stand among -k ..= k.
    shift_places: Vec<usize>,
}

impl Arrays<'_> {
    fn has(&self, name: &str) -> bool {
        match &self.members {
            Some(members) => members.has(name),
            None => self.left.contains_key(name),
        }
    }

    /// The shape of an array, as far as it says so.
    fn shape(&mut self, name: &str) -> Option<Vec<usize>> {
        if let Some(members) = &mut self.members {
            return members.shape(name).ok();
        }
        let raw = self.left.get(name)?;
        let form: ArrayForm = serde_json::from_str(raw.get()).ok()?;
        Some(form.shape)
    }

    /// An array, or [`ABSENT`] for each of its values where it is not in the file.
    fn take_or_absent(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, Error> {
        if self.has(name) {
            return self.take(name, expected);
        }
        if self.bytes > LARGEST_RECORDING {
            let problem = "is missing, and the recording is too large to be shown without it";
            return self.fail(name, problem);
        }
        self.absent.push(name.to_owned());
        Ok(vec![ABSENT; expected.iter().product()])
    }

    fn take(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, Error> {
        if self
            .members
            .as_ref()
            .is_some_and(|members| members.has(name))
        {
            let read = self
                .members
                .as_mut()
                .map(|members| members.array(name, expected));
            return read
                .unwrap_or_else(|| Err(String::new()))
                .or_else(|problem| self.fail(name, problem));
        }
        self.take_json(name, expected)
    }

    fn take_json(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, Error> {
        let raw = if self.members.is_none() {
            self.left.remove(name)
        } else {
            None
        };
        let Some(raw) = raw else {
            return self.fail(name, format!("is missing; expected the shape {expected:?}"));
        };
        let mut json = serde_json::Deserializer::from_str(raw.get());
        let ArrayForm { shape, data } =
            serde_path_to_error::deserialize(&mut json).map_err(|error| {
                let path = error.path().to_string();
                let dot = if path == "." { "" } else { "." };
                let place = format!("{name}{dot}{}", path.trim_start_matches('.'));
                self.misread(&place, raw, &error.into_inner())
            })?;
        if shape != expected {
            return self.fail(
                name,
                format!("has the shape {shape:?}; expected {expected:?}"),
            );
        }
        let length = shape
            .iter()
            .try_fold(1_usize, |product, &size| product.checked_mul(size));
        let expected = length.unwrap_or(usize::MAX);
        // No number has less than two characters with its comma: a shape alone makes no room.
        let room = expected.min(data.get().len() / 2 + 1);
        let mut kept = Vec::new();
        if let Err(error) = kept.try_reserve_exact(room) {
            return self.fail(name, error.to_string());
        }
        let numbers = Numbers { kept, expected };
        let (values, count) = numbers
            .deserialize(&mut serde_json::Deserializer::from_str(data.get()))
            .map_err(|error| self.misread(&format!("{name}.data"), data, &error))?;
        if length == Some(count) {
            return Ok(values);
        }
        self.fail(
            name,
            format!("has {count} values, which is not the shape {shape:?}"),
        )
    }

    /// An error of a part of the file, with its line and column in the whole.
    fn misread(&self, place: &str, part: &RawValue, error: &serde_json::Error) -> Error {
        let said = error.to_string();
        let (line, column) = (error.line(), error.column());
        let within = format!(" at line {line} column {column}");
        let said = said.strip_suffix(&within).unwrap_or(&said);
        // The part is a piece of the source, so its address says where it begins.
        let start = (part.get().as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize);
        let before = self.source.get(..start).unwrap_or_default();
        let (first, lines) = (
            before.rfind('\n').map_or(0, |at| at + 1),
            before.matches('\n'),
        );
        let column = if line == 1 {
            column + before.len() - first
        } else {
            column
        };
        let line = line + lines.count();
        let problem = format!("{} at line {line} column {column}", plain(said));
        Error::content(self.label, format!("arrays.{place}"), problem)
    }

    fn series(&mut self, name: &str, steps: usize, width: usize) -> Result<Series<f32>, Error> {
        Ok(series_of(steps, width, &self.take(name, &[steps, width])?))
    }

    fn series_or_absent(
        &mut self,
        name: &str,
        steps: usize,
        width: usize,
    ) -> Result<Series<f32>, Error> {
        let values = self.take_or_absent(name, &[steps, width])?;
        Ok(series_of(steps, width, &values))
    }

    /// A shift with its columns from -k to k, whatever their order in the file; those that it does not have
    /// move nothing.
    fn shift(&mut self, name: &str, steps: usize, width: usize) -> Result<Series<f32>, Error> {
        let places = self.shift_places.clone();
        let values = self.take_or_absent(name, &[steps, places.len()])?;
        let mut shift = series_of(steps, width, &vec![0.0; steps * width]);
        for (t, values) in values.chunks(places.len().max(1)).enumerate() {
            let row = shift.row_mut(t);
            if is_unrecorded(values) {
                row.fill(ABSENT);
            }
            for (&place, &value) in places.iter().zip(values) {
                row[place] = value;
            }
        }
        Ok(shift)
    }

    fn fail<T>(&self, name: &str, problem: impl Into<String>) -> Result<T, Error> {
        Err(Error::content(
            self.label,
            format!("arrays.{name}"),
            problem,
        ))
    }
}

/// [rows, columns], of what was checked to have such a shape.
fn matrix(data: Vec<f32>, rows: usize) -> Array2<f32> {
    let columns = data.len().checked_div(rows).unwrap_or(0);
    Array2::from_shape_vec((rows, columns), data).unwrap_or_default()
}

fn series_of(steps: usize, width: usize, data: &[f32]) -> Series<f32> {
    let mut series = Series::new(width);
    series.resize(steps);
    series.as_mut_slice().copy_from_slice(data);
    series
}

/// A task of ours by its parameters; that of another program by its name and the shapes of its arrays.
fn task(form: &TraceForm, arrays: &mut Arrays) -> Result<Task, Error> {
    let Some(name) = form.task.other() else {
        return form.task.task(arrays.label);
    };
    let mut channels = |names: &[&str]| {
        let shape = names.iter().find_map(|name| arrays.shape(name));
        shape.and_then(|shape| shape.get(1).copied()).unwrap_or(1)
    };
    let (inputs, outputs) = (channels(&["input"]), channels(&["output", "target"]));
    let steps = form.axes.t.size;
    Ok(Task::Other(Other {
        name,
        inputs,
        outputs,
        steps: steps..=steps,
    }))
}

/// What the file says of the episode and its machine, in words.
fn declared(form: &TraceForm) -> Vec<(&'static str, String)> {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let phases = form.axes.t.phases.iter();
    let phases: Vec<_> = phases
        .map(|(name, start, end)| format!("{name} {start} to {end}"))
        .collect();
    let mut declared = vec![
        ("task", form.task.name.clone()),
        ("seed", said(&form.task.seed)),
        ("episode", said(&form.task.episode)),
        ("phases", phases.join(", ")),
        ("weights", said(&form.model.sha256)),
    ];
    declared.extend(form.model.config.declared());
    declared
}

fn build(
    form: TraceForm,
    source: &str,
    label: &str,
    members: Option<Members>,
) -> Result<Imported, Error> {
    let mut arrays = Arrays {
        left: BTreeMap::new(),
        members,
        source,
        label,
        absent: Vec::new(),
        bytes: u64::MAX,
        shift_places: Vec::new(),
    };
    arrays.left.clone_from(&form.arrays);
    let task = task(&form, &mut arrays)?;
    let (declared, sha256) = (declared(&form), form.model.sha256);
    let machine = form.model.config;
    let (conventions, places) = (machine.conventions(), machine.shift_places());
    let model = machine.model().ok_or_else(|| {
        let problem =
            "expected heads named read0, read1, …, write0, …, each once, and no shift twice";
        Error::content(label, "model.config", problem)
    })?;
    let config = complete_model(&model, &task, label)?;
    arrays.shift_places = places.map(|(_, places)| places).unwrap_or_default();
    let t = form.axes.t.size;
    arrays.bytes = recording_bytes(&config, t);
    let episode = episode(&form.task, &form.axes.t, &mut arrays, &config)?;
    let loss = arrays.take_or_absent("loss", &[t])?;
    let is_recorded = memories(&arrays);
    let initial = initial(&mut arrays, &config)?;
    let trace = trace(&mut arrays, &config, &conventions, t, &episode)?;
    let name = Path::new(label)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let title = format!("{name}: {}", title(&task, &episode));
    let mut recording = Recording {
        origin: form.task.origin(),
        task,
        episode,
        trace,
        loss,
        score: Score::default(),
        absent: arrays.absent,
        computed: Vec::new(),
        conventions,
    };
    complete(&config, &mut recording);
    recording.score = score(&recording);
    Ok(Imported {
        title,
        config,
        sha256,
        memories: (0..=t).map(|step| is_recorded(step, t)).collect(),
        initial,
        declared,
        recording,
    })
}

/// Whether M_t of an episode of so many steps is in the file.
fn memories(arrays: &Arrays) -> impl Fn(usize, usize) -> bool + use<> {
    let [full, initial, last, frames] = [
        "memory",
        "memory.initial",
        "memory.last",
        "memory.keyframes",
    ]
    .map(|name| arrays.has(name));
    move |step, steps| {
        full || step == 0 && initial
            || step == steps && last
            || frames && step > 0 && step < steps && step % KEYFRAME == 0
    }
}

fn episode(
    asked: &AskedForm,
    time: &TimeForm,
    arrays: &mut Arrays,
    config: &ModelConfig,
) -> Result<Episode, Error> {
    let t = time.size;
    let mut next = 0;
    let mut phases = Vec::new();
    for (name, start, end) in &time.phases {
        if *start != next || end < start || *end > t {
            let problem = format!(
                "`{}` is [{start}, {end}]; the phases must follow each other from 0 to {t}",
                short(name)
            );
            return Err(Error::content(arrays.label, "axes.t.phases", problem));
        }
        next = *end;
        phases.push(Phase {
            name: short(name).into(),
            start: *start,
            end: *end,
        });
    }
    if next != t || t == 0 {
        let problem =
            format!("end at {next}; the episode has {t} steps, and must have at least one");
        return Err(Error::content(arrays.label, "axes.t.phases", problem));
    }
    let input = arrays.take("input", &[t, config.inputs])?;
    // The steps are there: now the whole recording is made.
    room::check(arrays.bytes)
        .map_err(|short| Error::content(arrays.label, "", format!("to read it {short}")))?;
    Ok(Episode {
        input: matrix(input, t),
        target: matrix(arrays.take_or_absent("target", &[t, config.outputs])?, t),
        // Where nothing is known of what is scored, nothing is.
        mask: if arrays.has("mask") {
            arrays.take("mask", &[t])?
        } else {
            arrays.absent.push("mask".to_owned());
            vec![0.0; t]
        },
        phases,
        size: asked
            .size()
            .filter(|_| asked.other().is_none())
            .unwrap_or(t),
        repeats: asked.repeats.unwrap_or(1),
    })
}

fn trace(
    arrays: &mut Arrays,
    config: &ModelConfig,
    conventions: &Conventions,
    t: usize,
    episode: &Episode,
) -> Result<Trace, Error> {
    let logit = arrays.series_or_absent("logit", t, config.outputs)?;
    let output = arrays.series_or_absent("output", t, config.outputs)?;
    let input: Vec<f32> = episode.input.iter().copied().collect();
    let layers = layers(arrays, config, t)?;
    let heads = (0..config.heads())
        .map(|index| head(arrays, config, index, t))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Trace {
        input: series_of(t, config.inputs, &input),
        memory_columns: memory(arrays, config, conventions, t, &heads)?,
        memory_every: 1,
        logit,
        output,
        layers,
        heads,
        raw: Series::new(config.head_outputs()),
        features: Series::new(config.features()),
        norms: Series::new(config.rows),
    })
}

fn layers(arrays: &mut Arrays, config: &ModelConfig, t: usize) -> Result<Vec<LayerTrace>, Error> {
    let (c, count) = (config.controller.size, config.controller.layers);
    let lstm = config.controller.kind == ControllerKind::Lstm;
    let shape = if count == 1 {
        vec![t, c]
    } else {
        vec![t, count, c]
    };
    let hidden = arrays.take_or_absent("controller.hidden", &shape)?;
    let cell = if lstm {
        arrays.take_or_absent("controller.cell", &shape)?
    } else {
        Vec::new()
    };
    let layer_of = |data: &[f32], layer: usize| {
        let width = if data.is_empty() { 0 } else { c };
        let rows = data.chunks(c).skip(layer).step_by(count);
        series_of(t, width, &rows.flatten().copied().collect::<Vec<_>>())
    };
    let empty = |width| Series::new(if lstm { width } else { 0 });
    Ok((0..count)
        .map(|layer| LayerTrace {
            input: Series::new(config.layer_inputs(layer)),
            gates: empty(4 * c),
            cell: layer_of(&cell, layer),
            cell_tanh: empty(c),
            hidden: layer_of(&hidden, layer),
        })
        .collect())
}

fn head(
    arrays: &mut Arrays,
    config: &ModelConfig,
    index: usize,
    t: usize,
) -> Result<HeadTrace, Error> {
    let name = config.head_name(index);
    let mut head = Trace::new(config).heads.swap_remove(index);
    // First what must be there, before room is made for what is not.
    head.weighting = arrays.series(&format!("{name}.weighting"), t, config.rows)?;
    for (spec, series) in head.arrays_mut() {
        let (width, array) = (series.width(), format!("{name}.{}", spec.name));
        *series = match (spec.name, spec.dims) {
            ("weighting", _) => continue,
            _ if width == 0 => continue,
            ("shift", _) => arrays.shift(&array, t, width)?,
            (_, ["t"]) => series_of(t, 1, &arrays.take_or_absent(&array, &[t])?),
            (_, ["n"]) => series_of(1, width, &arrays.take_or_absent(&array, &[width])?),
            _ => arrays.series_or_absent(&array, t, width)?,
        };
    }
    Ok(head)
}

/// The memory of every step: as written, or rebuilt from what the write heads did, with the recorded memories in
/// their places; absent where neither is possible.
fn memory(
    arrays: &mut Arrays,
    config: &ModelConfig,
    conventions: &Conventions,
    t: usize,
    heads: &[HeadTrace],
) -> Result<Series<f32>, Error> {
    let (n, m) = (config.rows, config.columns);
    let mut memory = Series::new(m * n);
    if arrays.has("memory") {
        let full = arrays.take("memory", &[t + 1, n, m])?;
        memory.resize(t + 1);
        for (step, rows) in full.chunks(n * m).enumerate() {
            transpose(rows, m, memory.row_mut(step));
        }
        return Ok(memory);
    }
    if (n * m * size_of::<f32>()).saturating_mul(t + 1) as u64 > LARGEST_RECORDING {
        let problem = format!(
            "{} steps of {n} × {m} values are too many to rebuild",
            t + 1
        );
        return arrays.fail("memory", problem);
    }
    let initial = arrays.take_or_absent("memory.initial", &[n, m])?;
    let last = optional(arrays, "memory.last", &[n, m])?;
    let frames = t.saturating_sub(1) / KEYFRAME;
    let keyframes = optional(arrays, "memory.keyframes", &[frames, n, m])?;
    let is_absent = |arrays: &Arrays, name: &str| arrays.absent.iter().any(|absent| absent == name);
    let is_rebuilt = !is_absent(arrays, "memory.initial")
        && !matches!(conventions.turns, Turns::Unknown(_))
        && (config.read_heads..config.heads()).all(|head| {
            let head = config.head_name(head);
            ["erase", "add"]
                .iter()
                .all(|part| !is_absent(arrays, &format!("{head}.{part}")))
        });
    memory.resize(t + 1);
    transpose(&initial, m, memory.row_mut(0));
    for step in 1..=t {
        let (before, after) = memory.previous_and_row_mut(step);
        match (&last, &keyframes) {
            (Some(last), _) if step == t => transpose(last, m, after),
            (_, Some(keyframes)) if step < t && step % KEYFRAME == 0 => {
                let start = (step / KEYFRAME - 1) * n * m;
                transpose(&keyframes[start..start + n * m], m, after);
            }
            _ if is_rebuilt => {
                recompute::write(config, conventions, heads, step - 1, before, after);
            }
            _ => after.fill(ABSENT),
        }
    }
    if !is_rebuilt {
        arrays.absent.push("memory".to_owned());
    }
    Ok(memory)
}

/// `memory.initial`, where it stands beside all of `memory`.
fn initial(arrays: &mut Arrays, config: &ModelConfig) -> Result<Option<Vec<f32>>, Error> {
    if !(arrays.has("memory") && arrays.has("memory.initial")) {
        return Ok(None);
    }
    let (n, m) = (config.rows, config.columns);
    let rows = arrays.take("memory.initial", &[n, m])?;
    let mut columns = vec![0.0; n * m];
    transpose(&rows, m, &mut columns);
    Ok(Some(columns))
}

/// An array that may be missing, where something else says the same.
fn optional(arrays: &mut Arrays, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, Error> {
    let is_there = arrays.has(name);
    is_there.then(|| arrays.take(name, shape)).transpose()
}

/// [N, M] as in the file to column after column as in [`Trace::memory_columns`].
fn transpose(rows: &[f32], columns: usize, to: &mut [f32]) {
    let values = (0..columns).flat_map(|column| rows.iter().skip(column).step_by(columns));
    to.iter_mut().zip(values).for_each(|(to, &from)| *to = from);
}

/// Counts what was answered wrongly, where both the answer and what was asked for are known.
fn score(recording: &Recording) -> Score {
    let scored = if recording.knows("output") && recording.knows("target") {
        recording.episode.scored_bits()
    } else {
        0
    };
    let steps = 0..recording.episode.steps();
    Score {
        bits: recording.loss.iter().map(|&bits| f64::from(bits)).sum(),
        wrong: steps.map(|step| recording.wrong_bits(step)).sum(),
        scored,
    }
}
