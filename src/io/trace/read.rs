//! JSON or npz to recording. The file may come from anyone: every shape is checked before anything is built.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::follows::{complete, memory_dependency};
use super::form::{AskedForm, Count, TimeForm, axes, in_words, must_be, said, title};
use super::format::{FORMAT, KEYFRAME, VERSION};
use super::imported::{Derivatives, Imported};
use super::intervention::parse_recorded;
use super::machine::{self, ConventionsForm};
use super::npz::{META, Members};
use super::source::{ArraySource, Inline, ReadProgress, check_shape, start};
use super::table::{self, Described, KEYFRAMES, LAST_MEMORY, LOSS, MASK, TARGET};
use super::write::{GRADIENT, NUMERIC, gradient};
use crate::io::error::{json_words, parse, short};
use crate::io::{Error, file, memory_limit};
use crate::keys::Choice;
use crate::math::Answer;
use crate::model::{
    Array, Conventions, Draw, ModelConfig, NoiseMode, Place, Range as Values, Trace, array,
};
use crate::task::{Episode, External, Links, Phase, Task};
use crate::train::{
    ABSENT, AuxLosses, Demand, Ending, LARGEST_RECORDING, Quantity, Recording, Score, is_unrecorded,
};

/// Reads a trace in JSON; `label` stands for the file in messages.
///
/// # Errors
/// The array or key, what was found and what was expected.
pub fn from_json(source: &str, label: &str) -> Result<Imported, Error> {
    with_arrays(source, label, None, &|_, _| ControlFlow::Continue(()))
}

/// A trace whose arrays are in the JSON, or in the members of an npz.
pub(super) fn with_arrays(
    source: &str,
    label: &str,
    members: Option<Members>,
    watch: ReadProgress<'_>,
) -> Result<Imported, Error> {
    let source = file::without_mark(source);
    check_format(source, label)?;
    let mut form: TraceForm = parse(source, label)?;
    let numeric: Map<_, _> = serde_json::from_str(NUMERIC).unwrap_or_default();
    must_be(&form.numeric, "numeric", numeric, false, label)?;
    let mut inline = std::mem::take(&mut form.arrays);
    (inline.text, inline.watch) = (source, Some(watch));
    match members {
        Some(mut members) => {
            let mut names = inline.names().into_iter();
            if let Some(name) = names.find(|name| !members.has(name)) {
                let problem = format!("is in {META}, but the file has no {name}.npy");
                return Err(Error::content(label, format!("arrays.{name}"), problem));
            }
            members.said = inline;
            build(form, source, label, &mut members)
        }
        None => build(form, source, label, &mut inline),
    }
}

/// A trace whose arrays are made here: `meta` is all else of it.
pub(super) fn with_source(
    meta: &str,
    label: &str,
    from: &mut dyn ArraySource,
) -> Result<Imported, Error> {
    build(parse(meta, label)?, meta, label, from)
}

/// The start of every file, which distinguishes a preset from a trace.
#[derive(Deserialize)]
struct Preamble<'a> {
    #[serde(default)]
    format: Cow<'a, str>,
    #[serde(default)]
    version: Cow<'a, str>,
    task: Option<IgnoredAny>,
    arrays: Option<IgnoredAny>,
}

/// Format and version first: a file of another kind gets no errors about keys.
fn check_format(source: &str, label: &str) -> Result<(), Error> {
    let fail = |place: &str, problem: String| Err(Error::content(label, place, problem));
    let no_trace = |why: &str| format!("is not a trace: {why}");
    if source.trim_start().starts_with('[') {
        return fail("", no_trace("is a list; expected an object"));
    }
    let found: Preamble = match serde_json::from_str(source) {
        Ok(found) => found,
        Err(error) => {
            let place = source.lines().nth(error.line().saturating_sub(1));
            let rest = place.and_then(|line| line.get(error.column().saturating_sub(2)..));
            let rest = rest
                .unwrap_or_default()
                .trim_start_matches([' ', ',', '[', ':']);
            let words = ["NaN", "Infinity", "-Infinity"];
            let Some(word) = words.into_iter().find(|word| rest.starts_with(word)) else {
                return fail("", no_trace(&json_words(&error)));
            };
            let how = format!("{word} is no JSON; write it as text, \"{word}\"");
            return fail("", no_trace(&format!("{}: {how}", json_words(&error))));
        }
    };
    let lacks_format = found.format.is_empty();
    if lacks_format && found.task.is_some() && found.arrays.is_none() {
        let problem = format!("is a preset, not a trace; train it first: tapescope train {label}");
        return fail("", problem);
    }
    if lacks_format {
        return fail("format", format!("is missing; expected `{FORMAT}`"));
    }
    let foreign = file::foreign([&found.format, &found.version], [FORMAT, VERSION]);
    foreign.map_or(Ok(()), |(key, problem)| fail(key, problem))
}

/// The needed parts of a trace; other keys are ignored.
#[derive(Deserialize)]
struct TraceForm<'a> {
    generator: Option<Value>,
    task: AskedForm,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(default)]
    conventions: ConventionsForm,
    #[serde(default)]
    weights: WeightsForm,
    #[serde(default)]
    numeric: Map<String, Value>,
    gradient: Option<Map<String, Value>>,
    #[serde(default)]
    interventions: Vec<String>,
    #[serde(borrow)]
    axes: AxesForm<'a>,
    #[serde(borrow)]
    arrays: Inline<'a>,
}

#[derive(Default, Deserialize)]
struct WeightsForm {
    sha256: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AxesForm<'a> {
    #[serde(borrow)]
    pub(super) t: TimeForm<'a>,
    /// The other axes, by their names.
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The arrays of a file, taken out one by one, each with the shape it must have.
struct Arrays<'a> {
    from: &'a mut dyn ArraySource,
    label: &'a str,
    /// The size of the whole recording, in bytes, including absent arrays.
    bytes: u64,
    /// Positions of the columns of a shift among -k ..= k.
    shift_places: Vec<usize>,
    /// The number whose derivatives are in the file, if given.
    derivatives_of: Option<Quantity>,
    found: Found,
}

/// The contents of the arrays that are not in the trace of the machine.
#[derive(Default)]
struct Found {
    target: Vec<f32>,
    mask: Vec<f32>,
    loss: Vec<f32>,
    derivatives: Derivatives,
    /// [`Imported::memories`].
    memories: Vec<bool>,
    /// [`Imported::initial`].
    initial: Option<Vec<f32>>,
    /// The requested arrays that are absent.
    absent: Vec<String>,
    /// Names of arrays that are not read.
    ignored: Vec<String>,
}

impl Arrays<'_> {
    /// Reads all arrays: those of the machine into its trace, the others into fields, if present. Required arrays
    /// come first, before memory is allocated for missing ones.
    fn take_all(&mut self, trace: &mut Trace, t: usize) -> Result<(), Error> {
        let mut all = table::described(trace, t);
        self.has_no_strays(&all)?;
        all.sort_by_key(|array| !table::is_needed(array.spec));
        // A wrong shape is an error before it costs memory.
        let needed = all.iter().filter(|array| table::is_needed(array.spec));
        for Described { name, shape, .. } in needed {
            if !self.from.has(name) {
                let problem = format!("is missing; expected the shape {shape:?}");
                return Err(self.error(name, problem));
            }
            let found = self.from.shape(name);
            check_shape(found.as_ref().unwrap_or(shape), shape)
                .map_err(|problem| self.error(name, problem))?;
        }
        for (index, array) in all.iter().enumerate() {
            // The steps are there: now the whole recording is made.
            if index == 1 {
                let there = all.iter().filter(|array| self.from.has(&array.name));
                let largest = there.map(Described::values).max().unwrap_or(0);
                // An array that is read stands there as bytes and as numbers before it is put in its place.
                let bytes = self.bytes.saturating_add(12 * largest as u64);
                memory_limit::claim(bytes, 0).map_err(|short| {
                    Error::content(self.label, "", format!("to read it {short}"))
                })?;
                self.found.memories = vec![false; t + 1];
            }
            match array.spec {
                TARGET => self.found.target = self.take_or_absent(array)?,
                LOSS => self.found.loss = self.take_or_absent(array)?,
                MASK => {
                    let mask = self.optional(array)?;
                    if mask.is_none() {
                        self.found.absent.push(array.name.clone());
                    }
                    // Where nothing is known of what is scored, nothing is.
                    self.found.mask = mask.unwrap_or_else(|| vec![0.0; t]);
                }
                array::MEMORY | array::INITIAL_MEMORY | LAST_MEMORY | KEYFRAMES => {
                    self.memory(trace, array, t)?;
                }
                _ => self.fill(trace, array)?,
            }
        }
        let has_derivatives = self.derivatives_of.is_some();
        for mut array in all.into_iter().filter(|_| has_derivatives) {
            array.name = format!("{GRADIENT}{}", array.name);
            if let Some(values) = self.optional(&array)? {
                self.found.derivatives.push((array, values));
            }
        }
        Ok(())
    }

    /// Refuses numbers that are no memory rows.
    fn have_rows(&self, trace: &Trace<f32>, rows: usize) -> Result<(), Error> {
        let is_it = |array: Array| matches!(array.range, Values::Row | Values::Rows);
        for (place, array, series) in trace.everything().filter(|(_, array, _)| is_it(array)) {
            let name = trace.array_name(place, array);
            if !self.from.has(&name) {
                continue;
            }
            for t in 0..series.steps() {
                if let Some(wrong) = array.range.wrong_rows(rows, series.row(t)) {
                    let step = if array.dims[0] == "t" {
                        format!("[{t}]")
                    } else {
                        String::new()
                    };
                    return Err(self.error(&format!("{name}{step}"), format!("has {wrong}")));
                }
            }
        }
        Ok(())
    }

    /// Refuses arrays that the machine of the file cannot have, and lists others that are not read.
    fn has_no_strays(&mut self, all: &[Described]) -> Result<(), Error> {
        let (known, whole_memory) = (table::arrays(), self.from.has("memory"));
        for name in self.from.names() {
            let derivative = name
                .strip_prefix(GRADIENT)
                .filter(|_| self.derivatives_of.is_some());
            let own = derivative.unwrap_or(&name);
            let is_double = whole_memory && matches!(own, "memory.last" | "memory.keyframes");
            if all.iter().any(|array| array.name == own) && !is_double {
                continue;
            }
            if !is_double && table::named(&known, &name).is_some() {
                let problem = "is given, but the machine in `model` has no such array";
                return Err(self.error(&name, problem));
            }
            self.found.ignored.push(name);
        }
        Ok(())
    }

    /// Reads the M_t that an array has into their rows.
    fn memory(&mut self, trace: &mut Trace, array: &Described, t: usize) -> Result<(), Error> {
        let is_whole = self.from.has("memory");
        let values = match array.spec {
            array::INITIAL_MEMORY if !is_whole => Some(self.take_or_absent(array)?),
            LAST_MEMORY | KEYFRAMES if is_whole => None,
            _ => self.optional(array)?,
        };
        let (first, every) = match array.spec {
            array::INITIAL_MEMORY if is_whole => {
                self.found.initial = values;
                return Ok(());
            }
            LAST_MEMORY => (t, 1),
            KEYFRAMES => (KEYFRAME, KEYFRAME),
            _ => (0, 1),
        };
        if !is_whole {
            self.can_be_rebuilt(trace, t)?;
        }
        let values = values.filter(|values| !is_unrecorded(values));
        let values = values.unwrap_or_default();
        let [_, m] = trace.memory_size();
        let memory = &mut trace.memory_columns;
        memory.resize(t + 1);
        for (index, rows) in values.chunks(memory.width()).enumerate() {
            let t = first + index * every;
            table::memory_columns(rows, m, memory.row_mut(t));
            self.found.memories[t] = true;
        }
        Ok(())
    }

    /// Refuses a memory that is too large to be rebuilt.
    fn can_be_rebuilt(&self, trace: &Trace, t: usize) -> Result<(), Error> {
        let ([n, m], steps) = (trace.memory_size(), t + 1);
        let sizes = [n, m, size_of::<f32>(), steps].map(|size| size as u64);
        if sizes.into_iter().fold(1, u64::saturating_mul) <= LARGEST_RECORDING {
            return Ok(());
        }
        let problem = format!("{steps} steps of {n} × {m} values are too many to rebuild");
        Err(self.error("memory", problem))
    }

    /// Reads an array that may be missing.
    fn optional(&mut self, array: &Described) -> Result<Option<Vec<f32>>, Error> {
        let name = &array.name;
        let values = self.from.has(name).then(|| self.from.values(array));
        let values = values.transpose();
        values.map_err(|fault| self.error(&format!("{name}{}", fault.within), fault.problem))
    }

    /// Reads an array, or [`ABSENT`] for each of its values where it is not in the file.
    fn take_or_absent(&mut self, array: &Described) -> Result<Vec<f32>, Error> {
        if let Some(values) = self.optional(array)? {
            return Ok(values);
        }
        if self.bytes > LARGEST_RECORDING {
            let problem = "is missing, and the recording is too large to be shown without it";
            return Err(self.error(&array.name, problem));
        }
        self.found.absent.push(array.name.clone());
        Ok(vec![ABSENT; array.values()])
    }

    /// An array of the machine into its series, those of the layers by turns.
    fn fill(&mut self, trace: &mut Trace, array: &Described) -> Result<(), Error> {
        let values = match array.spec {
            array::SHIFT => self.shifts(array)?,
            _ => self.take_or_absent(array)?,
        };
        let places = table::places(trace, array.place);
        for (index, &place) in places.iter().enumerate() {
            let Some(series) = trace.series_mut(place, array.spec) else {
                continue;
            };
            let width = series.width();
            series.resize(values.len() / (width * places.len()));
            let rows = values.chunks(width).skip(index).step_by(places.len());
            let own = series.as_mut_slice().chunks_mut(width);
            own.zip(rows)
                .for_each(|(own, row)| own.copy_from_slice(row));
        }
        Ok(())
    }

    /// A shift with its columns from -k to k, whatever their order in the file; those that it does not have
    /// move nothing.
    fn shifts(&mut self, array: &Described) -> Result<Vec<f32>, Error> {
        let (places, width) = (self.shift_places.clone(), array.shape[1]);
        let mut as_written = array.clone();
        as_written.shape[1] = places.len();
        let values = self.take_or_absent(&as_written)?;
        let mut shift = vec![0.0; array.values()];
        let rows = shift.chunks_mut(width);
        for (row, values) in rows.zip(values.chunks(places.len())) {
            if is_unrecorded(values) {
                row.fill(ABSENT);
            }
            for (&place, &value) in places.iter().zip(values) {
                row[place] = value;
            }
        }
        Ok(shift)
    }

    fn error(&self, array: &str, problem: impl Into<String>) -> Error {
        Error::content(self.label, format!("arrays.{array}"), problem)
    }
}

/// A task of ours by its parameters; that of another program by its name and the shapes of its arrays.
fn task(form: &TraceForm, label: &str, from: &mut dyn ArraySource) -> Result<Task, Error> {
    let Some(name) = form.task.other() else {
        return form.task.task(label);
    };
    let mut channels = |names: &[&str]| {
        let shape = names.iter().find_map(|name| from.shape(name));
        shape.and_then(|shape| shape.get(1).copied()).unwrap_or(1)
    };
    let (inputs, outputs) = (channels(&["input"]), channels(&["output", "target"]));
    let steps = form.axes.t.size;
    Ok(Task::External(External {
        name,
        inputs,
        outputs,
        answer: form.task.answer(),
        steps: steps..=steps,
    }))
}

/// Returns the metadata of the episode, as text.
fn declared(form: &TraceForm, phases: &[Phase], of: Option<Quantity>) -> Vec<(String, String)> {
    // Where noise has a seed, it is the first of it that was drawn.
    let count = |of: Option<Count>| said(of.map(|count| count.0));
    let sample = form.task.sample.or(form.task.seed.map(|_| Count(0)));
    let answer = form.task.answer.map(|answer| answer.0.word());
    let declared = [
        ("task", form.task.name.clone()),
        ("seed", count(form.task.seed)),
        ("episode", count(form.task.episode)),
        ("sample", count(sample)),
        ("sampling", form.task.sampling().word().to_owned()),
        ("answer", said(answer)),
        ("ended", said(form.task.ended.map(|ended| ended.0.word()))),
        ("phases", in_words(phases)),
        ("weights", said(form.weights.sha256.as_ref())),
        ("gradient", said(of.map(|of| format!("{of:?}")))),
        ("interventions", form.interventions.join("; ")),
        ("generator", said(form.generator.as_ref())),
    ];
    let declared = declared.into_iter().chain(form.task.sizes());
    let declared = declared.map(|(key, said)| (key.to_owned(), said));
    declared.collect()
}

/// The text of a model behind as many lines and columns as in the file: an error names its place there.
fn in_place(source: &str, model: &RawValue) -> String {
    let (lines, columns) = start(source, model);
    "\n".repeat(lines) + &" ".repeat(columns) + model.get()
}

/// The machine of a file.
fn machine(
    form: &TraceForm,
    source: &str,
    task: &Task,
    from: &mut dyn ArraySource,
    label: &str,
) -> Result<machine::Machine, Error> {
    let model = form.model.map(|model| in_place(source, model));
    let model = model.unwrap_or_else(|| "{}".to_owned());
    let (conventions, axes) = (&form.conventions, &form.axes.others);
    machine::read(&model, conventions, axes, task, from, label)
}

/// The recording in a file, before anything is computed.
fn recorded(
    form: &TraceForm,
    task: Task,
    phases: Vec<Phase>,
    found: &mut Found,
    trace: Trace,
) -> Recording {
    let t = form.axes.t.size;
    let all = [&mut found.target, &mut found.mask, &mut found.loss];
    let [target, mask, loss] = all.map(std::mem::take);
    let outputs = target.len() / t;
    let is_ours = form.task.other().is_none();
    let mut episode = Episode {
        input: trace.input.view().to_owned(),
        target: Array2::from_shape_vec((t, outputs), target).unwrap_or_default(),
        answer: task.answer(),
        mask,
        phases,
        size: form.task.size().filter(|_| is_ours).unwrap_or(t),
        repeats: form.task.repeats.unwrap_or(1),
        alignment: Vec::new(),
        links: Links::default(),
    };
    set_alignment(&task, &mut episode, form.task.origin());
    Recording {
        origin: form.task.origin(),
        task,
        episode,
        trace,
        loss,
        score: Score::default(),
        stop: None,
        absent: std::mem::take(&mut found.absent),
        computed: Vec::new(),
        conventions: Conventions::default(),
    }
}

/// Checks the sizes of the axes, with this many offsets of a shift; returns those that the file does not give.
fn check_axes(
    form: &AxesForm,
    recording: &Recording,
    shifts: usize,
    label: &str,
) -> Result<Vec<String>, Error> {
    let arrays = table::described(&recording.trace, form.t.size);
    let mut axes = axes(recording, &arrays).into_values();
    // Time has a form of its own; keyframes of the memory are optional.
    axes.retain(|(path, _)| {
        !path.starts_with("t.") && (!path.starts_with("f.") || form.others.contains_key("f"))
    });
    for (path, size) in &mut axes {
        // Offsets that the file leaves out have no column in it.
        if path == "s.size" {
            *size = shifts.into();
        }
    }
    must_be(&form.others, "axes", axes, false, label)
}

fn build(
    form: TraceForm,
    source: &str,
    label: &str,
    from: &mut dyn ArraySource,
) -> Result<Imported, Error> {
    let task = task(&form, label, from)?;
    let of = form.gradient.as_ref();
    let of = of
        .map(|form| quantity(form, task.answer(), label))
        .transpose()?;
    let phases = phases(&form.axes.t, label)?;
    let mut declared = declared(&form, &phases, of);
    let machine = machine(&form, source, &task, from, label)?;
    declared.extend(machine.declared);
    let config = machine.config;
    let (t, weighting) = (form.axes.t.size, from.shape("read0.weighting"));
    let sparse = || from.shape("recorded_rows")?.first().copied();
    let has_source_rows = weighting.is_some() && config.has_source_rows();
    let has_others = config.is_recorded_apart() && !has_source_rows;
    let mut source = weighting
        .filter(|_| !has_others)
        .and_then(|shape| shape.get(1).copied())
        .or_else(sparse);
    let has_rows = source == Some(t) && !config.has_source_rows();
    if config.has_source() && (has_others || has_rows) {
        // With a row for every step, or other rows, the scored steps say how many the source has.
        let mask = Described::new(&Trace::new(&config), t, Place::Machine, MASK);
        let mask = from.has("mask").then(|| from.values(&mask));
        // Errors are reported where all arrays are read.
        let mask = mask.and_then(Result::ok).unwrap_or_default();
        source = mask.iter().position(|&mask| mask > 0.0).or(source);
    }
    // A file that shows some of the memory rows has as many as its weightings.
    let shown = Some(source.unwrap_or(0));
    let mut trace = Trace::of_recording(&config, [t, source.unwrap_or(0).min(t)], shown);
    let mut arrays = Arrays {
        from,
        label,
        // The derivatives are as many values as what they are of.
        bytes: Demand::Recording
            .bytes(&config, t)
            .saturating_mul(1 + u64::from(of.is_some())),
        shift_places: machine.shift_places,
        derivatives_of: of,
        found: Found::default(),
    };
    trace.setting.answer = task.answer();
    trace.sampling = sampling(&form.task, &trace, label)?;
    arrays.take_all(&mut trace, t)?;
    arrays.have_rows(&trace, config.rows())?;
    let mut found = arrays.found;
    if source.is_none() && config.has_source() {
        // Without a memory row for each, the scored steps say how many there are.
        let first = found.mask.iter().position(|&mask| mask > 0.0);
        trace.setting.source = first.unwrap_or(t);
    }
    let mut recording = recorded(&form, task, phases, &mut found, trace);
    form.task.check_tolerance(label)?;
    if let Some(links) = form.task.links(&recording.episode, label)? {
        recording.episode.set_links(links);
    }
    recording.conventions = machine.conventions;
    let changes = parse_recorded(&form.interventions, label, &config, &recording.trace)?;
    recording.conventions.interventions = changes;
    let name = Path::new(label).file_name().unwrap_or_default();
    let title = title(&recording.task, &recording.episode);
    let title = format!("{}: {title}", name.to_string_lossy());
    let not_given = check_axes(&form.axes, &recording, arrays.shift_places.len(), label)?;
    let is_whole = arrays.from.has("memory");
    rebuild(&config, &mut recording, (&found.memories, is_whole));
    complete(&config, &mut recording);
    set_score(&mut recording);
    Ok(Imported {
        title,
        config,
        sha256: form.weights.sha256,
        recording,
        memories: found.memories,
        initial: found.initial,
        ignored: found.ignored,
        not_given,
        gradient: of.map(|of| (of, found.derivatives)),
        declared,
    })
}

/// Sets the step in which a free run stopped, and the score.
fn set_score(recording: &mut Recording) {
    let ending = recording.ending();
    recording.stop = ending.and_then(|_| Ending::step(&recording.episode, &recording.trace));
    recording.score = score(recording);
}

/// Sets the alignment to that of the episode that the seed of a file draws, if it is the episode of the file.
fn set_alignment(task: &Task, episode: &mut Episode, origin: Option<Draw>) {
    let is_small = task.longest() <= 100 * episode.steps().max(100);
    let drawn = origin.filter(|_| is_small && task.alphabet().is_some());
    let again = |drawn: Draw| task.episode(drawn.seed, drawn.episode).as_long_as(episode);
    if let Some(again) = drawn
        .map(again)
        .filter(|again| again.target == episode.target)
    {
        (episode.alignment, episode.links) = (again.alignment, again.links);
    }
}

/// Reads the number whose derivatives are in a file.
fn quantity(form: &Map<String, Value>, answer: Answer, label: &str) -> Result<Quantity, Error> {
    let number = |key| usize::try_from(form.get(key)?.as_u64()?).ok();
    let of = match number("step").zip(number("channel")) {
        Some((step, channel)) => Quantity::Bit { step, channel },
        None => Quantity::Loss,
    };
    must_be(
        form,
        "gradient",
        gradient(of, answer).into_values(),
        true,
        label,
    )?;
    Ok(of)
}

/// Returns the noise mode, if there is noise.
fn sampling(task: &AskedForm, trace: &Trace, label: &str) -> Result<NoiseMode, Error> {
    let (sampling, mean) = (task.sampling(), NoiseMode::Mean.word());
    if sampling == NoiseMode::Mean || trace.noise().next().is_some() {
        return Ok(sampling);
    }
    let word = sampling.word();
    let problem = format!("is `{word}`, but no head samples; allowed: `{mean}`");
    Err(Error::content(label, "task.sampling", problem))
}

fn phases(time: &TimeForm, label: &str) -> Result<Vec<Phase>, Error> {
    let t = time.size;
    let error = |problem| Err(Error::content(label, "axes.t.phases", problem));
    if time.phases.is_empty() {
        return error(format!(
            "is empty; expected [name, first step, one past the last] of every phase, from 0 to {t}"
        ));
    }
    let (mut phases, mut next) = (Vec::new(), 0);
    for &(ref name, start, end) in &time.phases {
        let name = short(name);
        if start != next || end < start || end > t {
            return error(format!(
                "`{name}` is [{start}, {end}]; the phases must follow each other from 0 to {t}"
            ));
        }
        next = end;
        let name = name.into();
        phases.push(Phase { name, start, end });
    }
    if next != t || t == 0 {
        return error(format!(
            "end at {next}; the episode has {t} steps, and must have at least one"
        ));
    }
    Ok(phases)
}

/// Fills in every M_t that was not recorded: rebuilt from the writes, or absent where that is not possible.
fn rebuild(
    config: &ModelConfig,
    recording: &mut Recording,
    (are_recorded, is_whole): (&[bool], bool),
) {
    let trace = &mut recording.trace;
    trace.memory_columns.resize(are_recorded.len());
    let initial = array::INITIAL_MEMORY.name;
    let starts_at_zero = !are_recorded[0] && config.has_row_per_step();
    if starts_at_zero {
        // Before the first step none of the rows is there.
        recording.absent.retain(|absent| absent != initial);
        recording.computed.push(initial.to_owned());
    }
    let conventions = recording.conventions.clone();
    let rule = memory_dependency(config, recording, &conventions);
    let trace = &mut recording.trace;
    let lost = || (0..are_recorded.len()).filter(|&t| !are_recorded[t]);
    lost().for_each(|t| trace.memory_columns.row_mut(t).fill(ABSENT));
    if starts_at_zero {
        trace.memory_columns.row_mut(0).fill(0.0);
    }
    if let Some(rule) = &rule {
        let later = lost().filter_map(|t| t.checked_sub(1));
        later.for_each(|t| rule.compute(trace, t));
    }
    let is_lost = rule.is_none();
    if is_lost && !is_whole && trace.memory_columns.width() > 0 {
        recording.absent.push("memory".to_owned());
    } else if !is_whole && are_recorded.last() == Some(&false) && !is_lost {
        recording.computed.push("memory".to_owned());
    }
}

/// Counts wrong output bits, or symbols, where both outputs and targets are known.
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
        aux: AuxLosses::default(),
    }
}
