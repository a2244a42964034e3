//! Trained machines as safetensors files: every tensor under its name, and the experiment that made them.
//!
//! The bytes are a function of the content: tensors and metadata stand in the order of their names. The
//! safetensors crate reads the files; its writer keeps the metadata in a hash map, whose order changes
//! from run to run, so the header is written here.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use ndarray::{Axis, CowArray, Ix2, IxDyn};
use safetensors::tensor::{TensorInfo, TensorView};
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::{bounded, choices, parse, short};
use super::measurement::{ChangeForm, EvaluationForm, PointForm, evaluation_json, history_json};
use super::{Error, Experiment, Trained, file, memory_files, memory_limit};
use crate::model::{Model, ModelConfig, Params, Shape};
use crate::task::Task;
use crate::train::{Change, Evaluator};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 4 << 30;
/// The largest header that is read, in bytes.
const HEADER_LIMIT: u64 = 64 << 20;
const FORMAT: &str = "tapescope-weights";
const VERSION: &str = "1.0";
pub(super) const GENERATOR: &str = concat!("tapescope ", env!("CARGO_PKG_VERSION"));
const METADATA: &str = "__metadata__";
const CHECKSUM: &str = "checksum";

/// Embeds weights by their names in `assets/`; a page fetches them when they are asked for.
macro_rules! included {
    ($($name:literal)*) => {
        [$(($name, if cfg!(target_arch = "wasm32") {
            &[]
        } else {
            include_bytes!(concat!("../../assets/", $name, ".safetensors"))
        })),*]
    };
}

/// The weights inside the binary: name and file.
static INCLUDED: [(&str, &[u8]); 28] = included! {
    "copy" "copy_feedforward" "copy_lstm" "repeat_copy" "associative_recall" "ngrams" "priority_sort"
    "copy_additive" "copy_location" "ngrams_location" "copy_hard" "recall_bayesian_weibull" "recall_four_heads"
    "transduce" "transduce_luong" "transduce_fixed_context" "caption" "frames_local_predictive"
    "copy_lstmn" "copy_multi_head" "copy_self_attention" "aspects_structured"
    "span_coattention" "span_attention_over_attention" "copy_dnc" "graph_dnc" "copy_sam" "recall_sam"
};

impl Trained {
    /// The experiment after all changes.
    pub fn now(&self) -> Experiment {
        // Those of a run can be made, and those of a file are checked.
        let now = self.experiment.after(&self.changes);
        now.unwrap_or_else(|_| self.experiment.clone())
    }

    /// This machine on episodes 0 .. `episodes` of a seed, or on as many as a file holds out.
    pub fn evaluator<'a>(&'a self, task: &'a Task, seed: u64, episodes: usize) -> Evaluator<'a> {
        Evaluator {
            machine: &self.machine,
            task,
            redundancy: self.now().training.redundancy,
            head_divergence: self.now().training.head_divergence,
            seed,
            episodes: task.at_most(episodes),
        }
    }

    /// SHA-256 of the weights; see [`sha256`].
    pub fn sha256(&self) -> String {
        sha256(&self.machine)
    }
}

/// SHA-256, in hexadecimal, over every tensor's values (f32, little-endian, row-major) in the order of
/// the tensors' names: equal weights have equal hashes, whatever else their files say.
pub fn sha256(machine: &Model<f32>) -> String {
    let none = BTreeMap::<&str, &str>::new();
    checksum(sorted_tensors(machine).values().map(bytes), none)
}

/// Returns a hash in hexadecimal.
pub(super) fn hexadecimal(hasher: Sha256) -> String {
    let digits = hasher.finalize();
    let digits = digits.iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// The name of the first tensor that two machines do not have alike, to the bit, and its first such value in both, by its
/// place in row-major order, where the shapes agree.
pub fn unlike(a: &Model<f32>, b: &Model<f32>) -> Option<String> {
    let (a, b) = (sorted_tensors(a), sorted_tensors(b));
    let mut names = a.keys().chain(b.keys());
    let name = names.find(|name| a.get(*name).map(bytes) != b.get(*name).map(bytes))?;
    let both = a.get(name).zip(b.get(name));
    let of_a_shape = both.filter(|(a, b)| a.shape() == b.shape());
    let value = of_a_shape.and_then(|(a, b)| {
        let mut pairs = a.iter().zip(b).enumerate();
        pairs.find(|(_, (a, b))| a.to_bits() != b.to_bits())
    });
    let value = value.map(|(index, (a, b))| format!(", value {index}: {a} here, {b} there"));
    Some(format!("{name}{}", value.unwrap_or_default()))
}

/// Returns the included machines; on a page those that were fetched.
///
/// # Errors
/// As for [`read`]; or there is not enough memory.
pub fn all_included() -> Result<Vec<Trained>, Error> {
    included_names().filter_map(included).collect()
}

/// Returns the included machine of this name, or the fetched one on a page; `None` if there is none.
pub fn included(name: &str) -> Option<Result<Trained, Error>> {
    let (_, bytes) = INCLUDED.into_iter().find(|(known, _)| *known == name)?;
    let fetched = memory_files::get(Path::new(&address(name)));
    let bytes = fetched.as_deref().unwrap_or(bytes);
    let label = format!("assets/{name}.safetensors");
    (!bytes.is_empty()).then(|| from_bytes(bytes, &label))
}

/// Returns the address of the weights of a machine, next to the page.
pub fn address(name: &str) -> String {
    format!("machines/{name}.safetensors")
}

/// Returns the names of the included machines, or of those next to the page.
pub fn included_names() -> impl Iterator<Item = &'static str> {
    INCLUDED.into_iter().map(|(name, _)| name)
}

/// Reads a weights file.
///
/// # Errors
/// The file, the tensor or metadata entry, what was found and what was expected.
pub fn read(path: &Path) -> Result<Trained, Error> {
    from_bytes(&file::read(path, LIMIT, begins)?, &file::label(path))
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: &[u8], label: &str) -> Result<Trained, Error> {
    let file = Opened::new(bytes, label)?;
    file.check_format(FORMAT)?;
    let experiment = file.experiment()?;
    let machine = file.machine("", &experiment.model)?;
    file.check_names(&experiment.model.shape())?;
    let history: Option<Vec<PointForm>> = file.json("history")?;
    let history = history.unwrap_or_default();
    let evaluation: Option<EvaluationForm> = file.json("evaluation")?;
    if let Some((index, (key, problem))) = PointForm::wrong_of(&history) {
        let place = format!("{METADATA}.history[{index}].{key}");
        return Err(Error::content(label, place, problem));
    }
    if let Some((key, problem)) = evaluation.as_ref().and_then(EvaluationForm::wrong) {
        let place = format!("{METADATA}.evaluation.{key}");
        return Err(Error::content(label, place, problem));
    }
    let changes: Option<Vec<ChangeForm>> = file.json("changes")?;
    let changes = changes.unwrap_or_default().into_iter();
    let changes: Vec<Change> = changes.map(|change| change.0).collect();
    let place = format!("{METADATA}.changes");
    let after = experiment.after(&changes);
    after.map_err(|error| error.in_file(label).within(&place))?;
    file.check_sum()?;
    Ok(Trained {
        machine,
        experiment,
        changes,
        history: history.into_iter().map(|point| point.0).collect(),
        evaluation: evaluation.map(|form| form.0),
        command: file.get("command").cloned().unwrap_or_default(),
    })
}

/// SHA-256, in hexadecimal, over the bytes of tensors, and then over the entries of their metadata in the order of their keys.
fn checksum<K: AsRef<str> + Ord, V: AsRef<str>>(
    tensors: impl IntoIterator<Item = impl AsRef<[u8]>>,
    entries: impl IntoIterator<Item = (K, V)>,
) -> String {
    let mut hasher = Sha256::new();
    tensors.into_iter().for_each(|bytes| hasher.update(bytes));
    let mut entries: BTreeMap<K, V> = entries.into_iter().collect();
    entries.retain(|key, _| key.as_ref() != CHECKSUM);
    for (key, value) in &entries {
        hasher.update([key.as_ref(), value.as_ref(), ""].join("\0"));
    }
    hexadecimal(hasher)
}

/// Refuses bytes that cannot start a safetensors file: the length of a header, and the header.
pub(super) fn begins(bytes: &[u8]) -> Result<(), String> {
    let length = bytes.first_chunk().map(|first| u64::from_le_bytes(*first));
    let is_plausible = length.is_some_and(|length| (2..=HEADER_LIMIT).contains(&length));
    if is_plausible && bytes.get(8).is_none_or(|&byte| byte == b'{') {
        return Ok(());
    }
    Err("is not a safetensors file: it does not begin with the length of its header".to_owned())
}

/// A safetensors file.
pub(super) struct Opened<'a> {
    /// The bytes of all tensors.
    data: &'a [u8],
    /// The name of the file in messages.
    label: &'a str,
    pub(super) tensors: SafeTensors<'a>,
    header: safetensors::tensor::Metadata,
}

impl<'a> Opened<'a> {
    pub(super) fn new(bytes: &'a [u8], label: &'a str) -> Result<Self, Error> {
        let fail = |problem| Error::content(label, "", problem);
        begins(bytes).map_err(fail)?;
        let broken = |error: SafeTensorError| {
            let said = bounded(&error.to_string(), 300);
            fail(format!("is not a complete safetensors file: {said}"))
        };
        let (length, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        Ok(Self {
            data: bytes.get(8 + length..).unwrap_or_default(),
            label,
            tensors,
            header,
        })
    }

    fn get(&self, key: &str) -> Option<&String> {
        self.header.metadata().as_ref()?.get(key)
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<Option<T>, Error> {
        let read = self.get(key).map(|text| parse(text, self.label));
        let read = read.transpose();
        read.map_err(|error| error.within(&format!("{METADATA}.{key}")))
    }

    fn experiment(&self) -> Result<Experiment, Error> {
        let label = self.label;
        let source = self.get("experiment").ok_or_else(|| {
            let problem = "the entry `experiment` is missing: it holds the preset the weights belong to, as JSON (see docs/formats/weights.md)";
            Error::content(label, METADATA, problem)
        })?;
        Experiment::from_json(source, label, &[])
            .map_err(|error| error.within(&format!("{METADATA}.experiment")))
    }

    /// Reads the metadata of a file of a run in this format: the experiment at its start, and the entry of such a file.
    pub(super) fn of_run<T: serde::de::DeserializeOwned>(
        &self,
        format: &'static str,
        key: &str,
    ) -> Result<(Experiment, T), Error> {
        self.check_format(format)?;
        let experiment = self.experiment()?;
        let missing = || Error::content(self.label, key, "is missing from the metadata");
        Ok((experiment, self.json(key)?.ok_or_else(missing)?))
    }

    /// Checks `format` and `version`, which may be missing but must not differ.
    fn check_format(&self, expected: &'static str) -> Result<(), Error> {
        let said = |key, right| self.get(key).map_or(right, String::as_str);
        let said = [said("format", expected), said("version", VERSION)];
        file::foreign(said, [expected, VERSION]).map_or(Ok(()), |(key, problem)| {
            let place = format!("{METADATA}.{key}");
            Err(Error::content(self.label, place, problem))
        })
    }

    /// Compares the file with the checksum in its metadata, if it has one.
    pub(super) fn check_sum(&self) -> Result<(), Error> {
        let Some(expected) = self.get(CHECKSUM) else {
            return Ok(());
        };
        let found = checksum([self.data], self.header.metadata().iter().flatten());
        if found == *expected {
            return Ok(());
        }
        let problem = format!(
            "is {}; the SHA-256 of the contents is {found}: the file is damaged or was changed",
            short(expected)
        );
        let place = format!("{METADATA}.{CHECKSUM}");
        Err(Error::content(self.label, place, problem))
    }

    /// A machine, whose tensors are called `prefix` and their name.
    pub(super) fn machine(&self, prefix: &str, config: &ModelConfig) -> Result<Model<f32>, Error> {
        let params = self.params(prefix, config)?;
        for (name, tensor) in params.named() {
            let mut values = tensor.iter().enumerate();
            if let Some((index, value)) = values.find(|(_, value)| !value.is_finite()) {
                let problem = format!("value {index} is {value}; every value must be finite");
                let place = format!("{prefix}{name}");
                return Err(Error::content(self.label, place, problem));
            }
        }
        let config = config.clone();
        Ok(Model { params, config })
    }

    /// The tensors of [`Opened::machine`], which need not be finite.
    pub(super) fn params(&self, prefix: &str, config: &ModelConfig) -> Result<Params, Error> {
        let of = |(name, shape)| self.tensor(&format!("{prefix}{name}"), shape);
        let shape = config.shape();
        let views = shape.named().map(of);
        let views: Vec<_> = views.collect::<Result<_, _>>()?;
        // Every tensor is in the file with these shapes, so the machine is no larger than the file.
        memory_limit::claim(shape.count() * size_of::<f32>() as u64, 0)
            .map_err(|short| Error::content(self.label, "", format!("the machine {short}")))?;
        let mut params = Params::zeros(config);
        let mut views = views.into_iter();
        params.change(|_, mut tensor| {
            let Some(view) = views.next() else { return };
            let (values, _) = view.data().as_chunks();
            for (to, bytes) in tensor.iter_mut().zip(values) {
                *to = f32::from_le_bytes(*bytes);
            }
        });
        Ok(params)
    }

    /// A tensor that has the shape it must have.
    fn tensor(&self, name: &str, shape: [usize; 2]) -> Result<TensorView<'a>, Error> {
        let expected = file_shape(name, shape);
        let fail = |found: String| {
            let problem = format!("is {found}; expected F32 {expected:?}");
            Err(Error::content(self.label, name, problem))
        };
        let Ok(tensor) = self.tensors.tensor(name) else {
            return fail("missing".to_owned());
        };
        let (dtype, found) = (tensor.dtype(), tensor.shape());
        if dtype == Dtype::F32 && (found == expected || found == shape) {
            return Ok(tensor);
        }
        fail(format!("{dtype:?} {found:?}"))
    }

    /// Refuses a tensor that the preset in its file has no place for.
    fn check_names(&self, expected: &Shape) -> Result<(), Error> {
        let known: Vec<String> = expected.named().map(|(name, _)| name).collect();
        let is_known = |name: &&str| known.iter().any(|known| known == name);
        let names = self.tensors.names().into_iter();
        let Some(name) = names.filter(|name| !is_known(name)).min() else {
            return Ok(());
        };
        let choices = choices(name, "the preset in the file expects", &known);
        let problem = format!("does not belong to this machine{choices}");
        Err(Error::content(self.label, name, problem))
    }
}

/// Every tensor of a machine by its name, with the shape that it has in a file: of the `bias` of a linear map [outputs], of
/// every other [rows, columns].
pub fn tensors(machine: &Model<f32>) -> Vec<(String, CowArray<'_, f32, IxDyn>)> {
    let tensors = machine.params.named().into_iter();
    let in_file = tensors.map(|(name, tensor)| {
        let tensor = match file_shape(&name, [tensor.nrows(), tensor.ncols()])[..] {
            [_] => tensor.index_axis_move(Axis(0), 0).into_dyn(),
            _ => tensor.into_dyn(),
        };
        (name, tensor)
    });
    in_file.collect()
}

/// Name and shape of every tensor of such a machine, without allocating any.
pub fn shapes(config: &ModelConfig) -> Vec<(String, [usize; 2])> {
    config.shape().named().collect()
}

/// The metadata of a file of a run in this format, with its entry next to the experiment.
pub(super) fn metadata_of_run(
    format: &str,
    experiment: &Experiment,
    (key, entry): (&'static str, String),
) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("format", format.to_owned()),
        ("version", VERSION.to_owned()),
        ("generator", GENERATOR.to_owned()),
        ("experiment", experiment.to_json()),
        (key, entry),
    ])
}

/// The `bias` of a linear map has one axis in the file, every other tensor two.
fn file_shape(name: &str, [rows, columns]: [usize; 2]) -> Vec<usize> {
    if name.rsplit('.').next() == Some("bias") {
        vec![columns]
    } else {
        vec![rows, columns]
    }
}

/// Writes a weights file.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, trained: &Trained) -> Result<(), Error> {
    contents(trained).write(path)
}

/// [`write()`] to memory.
pub fn to_bytes(trained: &Trained) -> Vec<u8> {
    contents(trained).into_bytes()
}

fn contents(trained: &Trained) -> Contents<'_> {
    let experiment = Experiment {
        model: trained.machine.config.clone(),
        ..trained.experiment.clone()
    };
    let history = ("history", history_json(&trained.history));
    let mut metadata = metadata_of_run(FORMAT, &experiment, history);
    metadata.insert("command", trained.command.clone());
    if let Some(evaluation) = &trained.evaluation {
        metadata.insert("evaluation", evaluation_json(evaluation));
    }
    if !trained.changes.is_empty() {
        let changes = trained.changes.iter().cloned().map(ChangeForm);
        metadata.insert("changes", file::json(&changes.collect::<Vec<_>>()));
    }
    let tensors = sorted_tensors(&trained.machine);
    Contents { metadata, tensors }
}

/// The contents of a safetensors file; the tensors are written in the order of their names.
pub(super) struct Contents<'a> {
    pub(super) metadata: BTreeMap<&'static str, String>,
    pub(super) tensors: BTreeMap<String, CowArray<'a, f32, Ix2>>,
}

impl Contents<'_> {
    pub(super) fn write(self, path: &Path) -> Result<(), Error> {
        file::write_atomically(path, |to| self.write_to(to))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A vector takes every byte.
        let _ = self.write_to(&mut bytes);
        bytes
    }

    fn write_to(mut self, to: &mut dyn Write) -> io::Result<()> {
        let sum = checksum(self.tensors.values().map(bytes), &self.metadata);
        self.metadata.insert(CHECKSUM, sum);
        let metadata = Entry::Metadata(self.metadata);
        let mut header = BTreeMap::from([(METADATA.to_owned(), metadata)]);
        let mut end = 0;
        for (name, tensor) in &self.tensors {
            let start = end;
            end += 4 * tensor.len();
            let info = TensorInfo {
                dtype: Dtype::F32,
                shape: file_shape(name, [tensor.nrows(), tensor.ncols()]),
                data_offsets: (start, end),
            };
            header.insert(name.clone(), Entry::Tensor(info));
        }
        let mut json = file::json(&header).into_bytes();
        json.resize(json.len().next_multiple_of(8), b' ');
        to.write_all(&(json.len() as u64).to_le_bytes())?;
        to.write_all(&json)?;
        let mut tensors = self.tensors.values();
        tensors.try_for_each(|tensor| to.write_all(&bytes(tensor)))
    }
}

/// Little-endian, row-major.
fn bytes(tensor: &CowArray<'_, f32, Ix2>) -> Vec<u8> {
    tensor
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry {
    Metadata(BTreeMap<&'static str, String>),
    Tensor(TensorInfo),
}

fn sorted_tensors(machine: &Model<f32>) -> BTreeMap<String, CowArray<'_, f32, Ix2>> {
    machine.params.named().into_iter().collect()
}
