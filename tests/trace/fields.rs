//! What detects a change to every field and every array of the trace format: a table, tried out row by row.
//!
//! The fields are those of the schema, the arrays those of the table of arrays. One without a row fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tapescope::io::Experiment;
use tapescope::io::trace::{self, Source};
use tapescope::io::{Trained, weights};
use tapescope::model::{Draw, Model, NoiseMode};
use tapescope::train::{Quantity, Recording};

use super::sampled::EVERY;

/// What detects a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// The published schema does not allow it.
    Schema,
    /// No command reads the file: exit code 2.
    Refused,
    /// `tapescope verify` finds a difference: exit code 1.
    Verify,
    /// `tapescope verify` says that it checked in part, and names what it could not: exit code 3.
    InPart,
    /// `tapescope verify` names it among what it did not check.
    Named,
    /// `tapescope verify --weights` finds it, where `verify` alone does not.
    Weights,
    /// `tapescope diff` with the file as it was finds it.
    Diff,
}

use By::{Diff, InPart, Named, Refused, Schema, Verify, Weights};

/// The traces that are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// Copy, a read head and a write head.
    Plain,
    /// Repeat copy, two layers, learned memory, with the derivatives of one bit.
    Gradient,
    /// Associative recall.
    Items,
    /// Every score and weighting, drawn.
    Sampled,
    /// An encoder and a decoder with attention, in a machine file.
    Encoder,
    /// A Differentiable Neural Computer.
    Managed,
    /// Sparse access memory.
    Sparse,
    /// The same with learned memory before the first step.
    Learned,
    /// A machine file.
    OfFile,
    /// 81 steps, of whose memory the file has the first, the last and a keyframe.
    Long,
}

use Base::{Encoder, Gradient, Items, Learned, Long, Managed, OfFile, Plain, Sampled, Sparse};

const COPY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
const REPEAT: &str = r#"{"task": {"kind": "repeat_copy", "bits": 2, "length": [2, 4], "repeats": [1, 3]},
    "model": {"memory": {"rows": 7, "columns": 3, "initial": "learned"}, "controller": {"size": 4, "layers": 2},
              "heads": {"initial_weighting": "learned"}}}"#;
const RECALL: &str = r#"{"task": {"kind": "associative_recall", "bits": 2, "item_length": 2, "items": [2, 4]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

const ENCODER: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "bahdanau.machine",
              "sizes": {"encoder": {"units": 3}, "units": 4, "attention": {"units": 4}}}}"#;
pub(super) const PICTURES: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "caption.machine", "sizes": {"filters": 3, "units": 4, "embedding": 2, "attention": {"units": 2}},
              "switches": {"rows": "convolution", "gate": "yes"}}}"#;

pub(super) const EARLIER: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "lstmn.machine", "sizes": {"units": 4, "attention": {"units": 3}}}}"#;
pub(super) const LAYERS: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "multi_head_layers.machine", "sizes": {"embedding": 5, "depth": 3},
              "heads": {"read": 2}}}"#;
pub(super) const FIXED: &str = r#"{"task": {"kind": "aspects", "symbols": 4, "length": [5, 6], "aspects": [2, 2]},
    "model": {"kind": "equations", "file": "structured_self_attention.machine", "heads": {"read": 2},
              "sizes": {"depth": 4, "mlp": 5, "encoder": {"units": 3}}}}"#;

pub(super) const POINTING: &str = r#"{"task": {"kind": "span", "symbols": 4, "positions": 6, "length": [5, 6], "question": 1, "span": [1, 1], "rounds": 2},
    "model": {"kind": "equations", "file": "coattention.machine", "switches": {"stop": "repeats"},
              "sizes": {"units": 3, "fusion": {"units": 2}, "decoder": 3, "hidden": 2, "pool": 2, "rounds": 2}}}"#;
pub(super) const CLOZE: &str = r#"{"task": {"kind": "span", "symbols": 4, "positions": 6, "length": [5, 6], "question": 1, "asked_for": "symbol"},
    "model": {"kind": "equations", "file": "attention_over_attention.machine", "sizes": {"units": 3, "embedding": 2}}}"#;
pub(super) const BOTH: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "lstmn_fusion.machine", "sizes": {"units": 4, "hidden": 3}, "switches": {"fusion": "deep"}}}"#;

pub(super) const KEYS_OF_TWO_LENGTHS: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "lstmn_fusion.machine", "sizes": {"units": 4, "hidden": 3}}}"#;

pub(super) const MANAGED: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "dnc", "memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

pub(super) const SPARSE: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "sam", "memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

pub(super) const OF_FILE: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"kind": "equations", "file": "own.machine", "sizes": {"units": 4}, "constants": {"rate": 0.5},
              "switches": {"reads": "all"}, "text": "machine \"Own\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize units = 3 in 1..9\nsize rows = 3 in 1..9\nconstant rate = 1 in 0..1\nswitch reads = all | one\nstart h[units] = 0\nstart M[rows, units] = 0.1 * index[rows]\nalong steps\n  h = tanh(linear[units](x, h[-1]))\n  w = softmax[rows](dot[units](h, M[-1]))\n  M = M[-1] + rate * w * h\n  if reads is all r = sum[rows](w * M)\n  if reads is one r = M[rows: 0]\n  z = linear[outputs](h, r)\n"}}"#;

type Row = (&'static str, Base, &'static str, &'static [By]);

/// A field, the trace in which it is changed, to what, and all that detects it.
#[rustfmt::skip]
const FIELDS: &[Row] = &[
    ("format", Plain, r#""npy""#, &[Schema, Refused]),
    ("version", Plain, r#""1.1""#, &[Schema, Refused]),
    ("generator.name", Plain, r#""another""#, &[Named]),
    ("generator.version", Plain, r#""9.9""#, &[Named]),
    ("task.name", Plain, r#""theirs""#, &[Named, Diff]),
    ("task.params", Plain, "{}", &[Named, Diff]),
    ("task.seed", Plain, r#""8""#, &[Verify, Diff]),
    ("task.episode", Plain, r#""3""#, &[Verify, Diff]),
    ("task.sample", Sampled, r#""5""#, &[Verify, Diff]),
    ("task.sampling", Sampled, r#""mean""#, &[Verify, Diff]),
    ("task.answer", Plain, r#""symbols""#, &[Verify, Diff]),
    ("task.tolerance", Plain, "0.1", &[Refused]),
    ("task.links", Plain, r#""0-1""#, &[Refused]),
    ("task.ended", Encoder, r#""end_symbol""#, &[Verify, Diff]),
    ("task.length", Plain, "4", &[Verify, Diff]),
    ("task.items", Items, "7", &[Verify, Diff]),
    ("task.repeats", Gradient, "9", &[Verify, Diff]),
    ("weights.sha256", Plain, r#""00000000000000000000000000000000000000000000000000000000000000ff""#, &[Named, Weights, Diff]),
    ("model.kind", Plain, r#""dnc""#, &[Refused]),
    ("model.memory.rows", Plain, "6", &[Refused]),
    ("model.memory.columns", Plain, "2", &[Refused]),
    ("model.memory.initial", Plain, r#"{"constant": 0.5}"#, &[Verify, Diff]),
    ("model.controller.kind", Plain, r#""feedforward""#, &[Refused]),
    ("model.controller.size", Plain, "5", &[Refused]),
    ("model.controller.layers", Plain, "2", &[Refused]),
    ("model.heads.read", Plain, "0", &[Refused]),
    ("model.heads.write", Plain, "2", &[Refused]),
    ("model.heads.order", Plain, r#""write-first""#, &[Verify, Diff]),
    ("model.heads.similarity_epsilon", Plain, "0.01", &[Verify, Diff]),
    ("model.heads.shift.range", Plain, "2", &[Refused]),
    ("model.heads.shift.form", Plain, r#""scalar""#, &[Named, Weights, Diff]),
    ("model.heads.links", Managed, r#""off""#, &[Refused]),
    ("model.heads.allocation", Managed, r#""off""#, &[Refused]),
    ("model.heads.free_gates", Managed, r#""off""#, &[Refused]),
    ("model.memory.seed", Sparse, "2", &[Verify, Diff]),
    ("model.memory.index", Sparse, r#""hashed""#, &[Named, Weights, Diff]),
    ("model.heads.count", Sparse, "2", &[Refused]),
    ("model.heads.rows", Sparse, "3", &[Refused]),
    ("model.heads.threshold", Sparse, "1.5", &[Verify, Diff]),
    ("model.heads.attention.score", Plain, r#""dot""#, &[Verify, Diff]),
    ("model.heads.attention.strength", Plain, r#""one""#, &[Refused]),
    ("model.heads.attention.gate", Plain, r#""off""#, &[Refused]),
    ("model.heads.attention.sharpening", Plain, r#""off""#, &[Refused]),
    ("model.heads.attention.erase", Plain, r#""off""#, &[Refused]),
    ("model.heads.attention.weighting", Plain, r#""hard""#, &[InPart, Weights, Diff]),
    ("model.heads.attention.units", Sampled, "5", &[Refused]),
    ("model.heads.attention.window", Sampled, "1", &[Verify, Diff]),
    ("model.heads.attention.position_units", Sampled, "2", &[Refused]),
    ("model.heads.attention.weibull_shape", Sampled, "2", &[Verify, Diff]),
    ("model.heads.attention.gamma_rate", Sampled, "0.5", &[Verify, Diff]),
    ("model.heads.attention.lognormal_sigma", Sampled, "0.5", &[Verify, Diff]),
    ("model.heads.attention.prior_sigma", Sampled, "0.5", &[Verify, Diff]),
    ("model.heads.attention.prior", Sampled, r#""code""#, &[Verify, Diff]),
    ("model.heads.attention.prior_units", Sampled, "3", &[Refused]),
    ("model.file", OfFile, r#""other.machine""#, &[Named, Weights, Diff]),
    ("model.text", OfFile, r#""machine""#, &[Refused]),
    ("model.sizes", OfFile, r#"{"units": 5}"#, &[Refused]),
    ("model.switches", OfFile, r#"{"reads": "one"}"#, &[Verify, Diff]),
    ("model.constants", OfFile, r#"{"rate": 0.25}"#, &[Verify, Diff]),
    ("model.heads.key_activation", Plain, r#""identity""#, &[Named, Weights, Diff]),
    ("model.heads.add_activation", Plain, r#""identity""#, &[Named, Weights, Diff]),
    ("model.heads.initial_weighting", Plain, r#""learned""#, &[Named, Weights, Diff]),
    ("conventions.order", Plain, r#"["write0", "read0"]"#, &[Verify, Diff]),
    ("conventions.similarity", Plain, r#""cosine-plus-epsilon""#, &[Verify, Diff]),
    ("conventions.sharpening_epsilon", Plain, "0.5", &[Verify, Diff]),
    ("conventions.shifts", Plain, "[1, 0, -1]", &[Verify, Diff]),
    ("numeric.dtype", Plain, r#""float64""#, &[Schema, Refused]),
    ("numeric.decimal", Plain, r#""rounded""#, &[Schema, Refused]),
    ("numeric.nonfinite", Plain, r#""null""#, &[Schema, Refused]),
    ("numeric.layout", Plain, r#""column-major""#, &[Schema, Refused]),
    ("gradient.of", Gradient, r#""loss""#, &[Refused]),
    ("gradient.step", Gradient, "5", &[Named, Weights, Diff]),
    ("gradient.channel", Gradient, "0", &[Named, Weights, Diff]),
    ("gradient.unit", Gradient, r#""bits""#, &[Refused]),
    ("interventions", Plain, r#"["2:write0.gate=0.25"]"#, &[Verify, Diff]),
    ("axes.t.size", Plain, "8", &[Refused]),
    ("axes.t.phases", Plain, r#"[["all", 0, 7]]"#, &[Verify, Diff]),
    ("axes.*.size", Plain, "1000000000", &[Refused]),
    ("axes.*.every", Long, "32", &[Refused]),
    ("arrays.*.dims", Plain, r#"["m", "t"]"#, &[Refused]),
    ("arrays.*.dtype", Plain, r#""float64""#, &[Schema, Refused]),
    ("arrays.*.shape", Plain, "[3, 7]", &[Refused]),
    ("arrays.*.data", Plain, "[0, 1]", &[Refused]),
];

/// An array, the trace in which a value of it is changed, and all that detects it.
#[rustfmt::skip]
const ARRAYS: &[(&str, Base, &[By])] = &[
    ("input", Plain, &[Verify, Diff]),
    ("target", Plain, &[Verify, Diff]),
    ("mask", Plain, &[Verify, Diff]),
    ("logit", Plain, &[Verify, Diff]),
    ("output", Plain, &[Verify, Diff]),
    ("loss", Plain, &[Verify, Diff]),
    ("controller.hidden", Plain, &[Named, Weights, Diff]),
    ("controller.cell", Plain, &[Named, Weights, Diff]),
    ("memory.initial", Plain, &[Verify, Diff]),
    ("memory", Plain, &[Verify, Diff]),
    ("memory.last", Long, &[Verify, Diff]),
    ("memory.keyframes", Long, &[Verify, Diff]),
    ("HEAD.initial", Plain, &[Verify, Diff]),
    ("HEAD.key", Plain, &[Verify, Diff]),
    ("HEAD.strength", Plain, &[Verify, Diff]),
    ("HEAD.gate", Plain, &[Verify, Diff]),
    ("HEAD.shift", Plain, &[Verify, Diff]),
    ("HEAD.sharpening", Plain, &[Verify, Diff]),
    ("HEAD.similarity", Plain, &[Verify, Diff]),
    ("HEAD.content", Plain, &[Verify, Diff]),
    ("HEAD.gated", Plain, &[Verify, Diff]),
    ("HEAD.shifted", Plain, &[Verify, Diff]),
    ("HEAD.weighting", Plain, &[Verify, Diff]),
    ("HEAD.read", Plain, &[Verify, Diff]),
    ("HEAD.erase", Plain, &[Verify, Diff]),
    ("HEAD.add", Plain, &[Verify, Diff]),
    ("HEAD.draw", Sampled, &[Verify, Diff]),
    ("HEAD.additive_key", Sampled, &[Verify, Diff]),
    ("HEAD.additive_row", Sampled, &[Verify, Diff]),
    ("HEAD.additive_vector", Sampled, &[Verify, Diff]),
    ("HEAD.distribution", Sampled, &[Verify, Diff]),
    ("HEAD.bilinear", Sampled, &[Verify, Diff]),
    ("HEAD.position_weight", Sampled, &[Verify, Diff]),
    ("HEAD.position_vector", Sampled, &[Verify, Diff]),
    ("HEAD.centre", Sampled, &[Verify, Diff]),
    ("HEAD.noise", Sampled, &[Verify, Diff]),
    ("HEAD.location", Sampled, &[Verify, Diff]),
    ("HEAD.prior_weight", Sampled, &[Verify, Diff]),
    // In the form `text` it is the same for all rows and cancels.
    ("HEAD.prior_bias", Sampled, &[Named, Weights, Diff]),
    ("HEAD.prior_vector", Sampled, &[Verify, Diff]),
    ("HEAD.prior", Sampled, &[Verify, Diff]),
    ("HEAD.divergence", Sampled, &[Verify, Diff]),
    ("HEAD.normal", Sampled, &[Verify, Diff]),
    ("HEAD.free_gate", Managed, &[Verify, Diff]),
    ("HEAD.read_modes", Managed, &[Verify, Diff]),
    ("HEAD.backward", Managed, &[Verify, Diff]),
    ("HEAD.forward", Managed, &[Verify, Diff]),
    ("HEAD.initial_usage", Managed, &[Verify, Diff]),
    ("HEAD.usage", Managed, &[Verify, Diff]),
    ("HEAD.allocation", Managed, &[Verify, Diff]),
    ("HEAD.allocation_gate", Managed, &[Verify, Diff]),
    ("HEAD.write_gate", Managed, &[Verify, Diff]),
    ("HEAD.precedence", Managed, &[Verify, Diff]),
    ("recorded_rows", Sparse, &[Refused]),
    ("initial_rows", Learned, &[Verify, Diff]),
    ("HEAD.rows", Sparse, &[Refused]),
    ("HEAD.cosines", Sparse, &[Verify, Diff]),
    ("HEAD.weights", Sparse, &[Verify, Diff]),
    ("HEAD.interpolation_gate", Sparse, &[Verify, Diff]),
    ("HEAD.row", Sparse, &[Refused]),
    ("HEAD.age", Sparse, &[Verify, Diff]),
    ("gradient.*", Gradient, &[Named, Weights, Diff]),
];

/// A trace, and the weights that it is of.
struct Honest {
    trace: Value,
    weights: PathBuf,
}

impl Honest {
    fn new(base: Base, folder: &Path) -> Self {
        let preset = match base {
            Plain => COPY.to_owned(),
            Gradient => REPEAT.to_owned(),
            Items => RECALL.to_owned(),
            Sampled => EVERY.to_owned(),
            Encoder => ENCODER.to_owned(),
            Managed => MANAGED.to_owned(),
            Sparse => SPARSE.to_owned(),
            Learned => SPARSE.replace("3}", r#"3, "initial": "learned"}"#),
            OfFile => OF_FILE.to_owned(),
            Long => COPY.replace("[3, 3]", "[40, 40]"),
        };
        let experiment = Experiment::from_json(&preset, "tiny.json", &[]).unwrap();
        let mut machine = Model::new(experiment.model.clone(), 3);
        // So large that it matters what is attended to.
        let all = machine.params.slices_mut().flatten();
        all.for_each(|weight| *weight *= 2.0);
        let mut draw = Draw::of(7, 2);
        if base == Sampled {
            (draw.sampling, draw.sample) = (NoiseMode::Sampled, 4);
        }
        let (task, episode) = (&experiment.task, experiment.task.episode(7, 2));
        let recording = Recording::of(&machine, task, episode, Some(draw));
        let of = Quantity::Bit {
            step: 4,
            channel: 1,
        };
        let derivatives = recording.derivatives(&machine, of).unwrap();
        let sha256 = weights::sha256(&machine);
        let source = Source {
            gradient: (base == Gradient).then_some((of, &derivatives)),
            ..super::source(&machine, &sha256)
        };
        let mut text = Vec::new();
        trace::write_to(&mut text, &recording, &source).unwrap();
        let mut trace: Value = serde_json::from_slice(&text).unwrap();
        if base == Long {
            leave_out_memories(&mut trace);
        }
        let weights = folder.join(format!("{base:?}.safetensors"));
        let trained = Trained {
            experiment,
            machine,
            history: Vec::new(),
            evaluation: None,
            changes: Vec::new(),
            command: String::new(),
        };
        weights::write(&weights, &trained).unwrap();
        Self { trace, weights }
    }
}

/// As a file has a memory that is too large to be there whole.
fn leave_out_memories(trace: &mut Value) {
    let arrays = trace["arrays"].as_object_mut().unwrap();
    let all = arrays.remove("memory").unwrap()["data"].take();
    let of = |t: usize| all.as_array().unwrap()[t * 15..(t + 1) * 15].to_vec();
    let last = json!({"dims": ["n", "m"], "shape": [5, 3], "data": of(81)});
    let frames = json!({"dims": ["f", "n", "m"], "shape": [1, 5, 3], "data": of(64)});
    arrays.insert("memory.last".to_owned(), last);
    arrays.insert("memory.keyframes".to_owned(), frames);
    trace["axes"]["f"] = json!({"size": 1, "every": 64});
}

/// Where a field stands; of several the first.
fn place<'a>(trace: &'a mut Value, field: &str) -> &'a mut Value {
    let field = match field {
        "axes.*.size" => "axes.n.size",
        "axes.*.every" => "axes.f.every",
        other => other,
    };
    if let Some(key) = field.strip_prefix("arrays.*.") {
        return &mut trace["arrays"]["read0.key"][key];
    }
    field.split('.').fold(trace, |at, key| &mut at[key])
}

/// The name of an array in this trace: of the first head that has it.
fn name_of(trace: &Value, array: &str) -> String {
    let arrays = trace["arrays"].as_object().unwrap();
    let is_it = |name: &&String| match array.split_once('.') {
        Some(("HEAD", part)) => name.split_once('.').is_some_and(|(_, own)| own == part),
        Some(("gradient", _)) => *name == "gradient.read0.key",
        _ => *name == array,
    };
    arrays
        .keys()
        .find(is_it)
        .unwrap_or_else(|| panic!("{array}"))
        .clone()
}

/// Moves one value in the second half of an array.
fn move_a_value(trace: &mut Value, array: &str) {
    let name = name_of(trace, array);
    let data = trace["arrays"][&name]["data"].as_array_mut().unwrap();
    let at = data.len() / 2;
    let was = data[at].as_f64().unwrap();
    // Shares stay between 0 and 1.
    data[at] = json!((was + if was > 0.5 { -0.25 } else { 0.25 }) as f32);
}

struct Bench {
    folder: tempfile::TempDir,
    honest: BTreeMap<Base, Honest>,
    schema: jsonschema::Validator,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bases = [Plain, Gradient, Items, Sampled, Long];
        let bases = bases.into_iter();
        let bases = bases.chain([Encoder, Managed, Sparse, Learned, OfFile]);
        let honest = bases.map(|base| (base, Honest::new(base, folder.path())));
        let bench = Self {
            honest: honest.collect(),
            schema: jsonschema::validator_for(&schema()).unwrap(),
            folder,
        };
        for (base, honest) in &bench.honest {
            std::fs::write(bench.file(*base), honest.trace.to_string()).unwrap();
            let found: Vec<_> = bench.found(*base, &honest.trace, "no such field");
            assert_eq!(found, [], "{base:?} as it is");
        }
        bench
    }

    fn file(&self, base: Base) -> PathBuf {
        self.folder.path().join(format!("{base:?}.ntmtrace.json"))
    }

    /// Exit code and output of a command.
    fn run(arguments: &[&Path]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
        let done = command.args(arguments).output().unwrap();
        let text = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        (done.status.code().unwrap(), text)
    }

    /// All that detects that this is not the trace as it was, or names the field.
    fn found(&self, base: Base, trace: &Value, field: &str) -> Vec<By> {
        let path = self.folder.path().join("changed.ntmtrace.json");
        std::fs::write(&path, trace.to_string()).unwrap();
        let mut found = Vec::new();
        found.extend((!self.schema.is_valid(trace)).then_some(Schema));
        let (code, text) = Self::run(&["verify".as_ref(), &path]);
        match code {
            0 => {}
            1 => found.push(Verify),
            2 => found.push(Refused),
            3 => found.push(InPart),
            _ => panic!("exit code {code}: {text}"),
        }
        if code == 2 {
            return found;
        }
        let named = text.lines().filter(|line| line.contains("not checked"));
        let is_word = |c: char| !(c.is_alphanumeric() || "._".contains(c));
        let words: BTreeSet<&str> = named.flat_map(|line| line.split(is_word)).collect();
        let names = match field.split_once('.') {
            Some(("HEAD", part)) => vec![part],
            Some(("generator", _)) => vec!["generator"],
            Some(("gradient", _)) => vec!["gradient"],
            // The episode is taken as recorded.
            Some(("task", "name" | "params")) => vec!["input"],
            Some(("weights", _)) => vec!["weights"],
            _ => vec![field],
        };
        if code == 0 && names.iter().any(|name| words.contains(name)) {
            found.push(Named);
        }
        if code != 1 {
            let weights = &self.honest[&base].weights;
            let arguments = ["verify".as_ref(), &*path, "--weights".as_ref(), weights];
            let (with, text) = Self::run(&arguments);
            assert!((0..=3).contains(&with), "{text}");
            found.extend((with != code).then_some(Weights));
        }
        let (code, _) = Self::run(&["diff".as_ref(), &self.file(base), &path]);
        found.extend((code != 0).then_some(Diff));
        found
    }
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../docs/ntm-trace-2.0.schema.json")).unwrap()
}

/// The paths of all fields behind `at` of an object of the schema.
fn leaves(schema: &Value, at: &str, to: &mut BTreeSet<String>) {
    let rest = schema
        .get("additionalProperties")
        .filter(|rest| rest.is_object());
    let rest = rest.map(|rest| ("*", rest));
    let own = schema.get("properties").and_then(Value::as_object);
    let own = own
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value));
    let mut all = own
        .chain(rest)
        .filter(|(key, _)| (at, *key) != ("", "arrays"))
        .peekable();
    if all.peek().is_none() {
        to.insert(at.to_owned());
    }
    for (key, value) in all {
        let dot = if at.is_empty() { "" } else { "." };
        leaves(value, &format!("{at}{dot}{key}"), to);
    }
}

#[test]
fn every_field_has_a_row() {
    let schema = schema();
    let mut fields = BTreeSet::new();
    leaves(&schema, "", &mut fields);
    leaves(&schema["$defs"]["array"], "arrays.*", &mut fields);
    let rows: BTreeSet<_> = FIELDS.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(rows, fields);
    let arrays = &schema["properties"]["arrays"];
    let keys = |key: &str| arrays[key].as_object().unwrap().keys().cloned();
    let pattern = |pattern: String| match pattern.rsplit_once("\\.") {
        Some((_, ".+$")) => "gradient.*".to_owned(),
        Some((_, part)) => format!("HEAD.{}", part.trim_end_matches('$')),
        None => pattern,
    };
    let of_schema: BTreeSet<_> = keys("properties")
        .chain(keys("patternProperties").map(pattern))
        .collect();
    let listed = trace::arrays().into_iter().map(|array| array.name);
    let listed: BTreeSet<_> = listed.chain(["gradient.*".to_owned()]).collect();
    let rows: BTreeSet<_> = ARRAYS.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(rows, of_schema);
    assert_eq!(rows, listed);
}

#[test]
fn malformed_descriptions_are_refused_with_place_and_expected_value() {
    let folder = tempfile::tempdir().unwrap();
    let bases = [Plain, Gradient].map(|base| Honest::new(base, folder.path()).trace);
    let refused = |base: usize, path: &str, to: Option<Value>, place: &str, expected: &str| {
        let mut trace = bases[base].clone();
        if let Some(to) = to {
            *trace.pointer_mut(path).unwrap() = to;
        } else {
            let (owner, key) = path.rsplit_once('/').unwrap();
            let owner = trace.pointer_mut(owner).unwrap().as_object_mut().unwrap();
            assert!(owner.remove(key).is_some(), "{path}");
        }
        let said = super::error(trace.to_string());
        let start = format!("t: `{place}`: ");
        assert!(
            said.starts_with(&start) && said.contains(expected),
            "{path}: {said}"
        );
    };
    for axis in ["n", "m", "x", "y", "c", "l", "s"] {
        let size = &bases[0]["axes"][axis]["size"];
        assert!(size.is_u64(), "{axis}");
        let (path, expected) = (format!("/axes/{axis}"), format!("expected {size}"));
        for to in [
            json!(null),
            json!("x"),
            json!([]),
            json!({}),
            json!({"size": null}),
        ] {
            refused(0, &path, Some(to), &format!("axes.{axis}.size"), &expected);
        }
        // A trace of another program needs no axis but that of time.
        let mut trace = bases[0].clone();
        trace["axes"].as_object_mut().unwrap().remove(axis);
        let found = trace::verify(&super::opened(&trace.to_string()), 1e-5);
        assert!(
            found.declared.contains(&format!("axes.{axis}.size")),
            "{axis}"
        );
    }
    let key = |part: &str| format!("/arrays/read0.key/{part}");
    refused(
        0,
        &key("dims"),
        Some(Value::Null),
        "arrays.read0.key.dims",
        "expected a list",
    );
    refused(
        0,
        &key("dtype"),
        Some(Value::Null),
        "arrays.read0.key.dtype",
        "expected text",
    );
    for version in ["2.0x", "2.", "2", "2.0.1", "2.-1", "1.0", "1.1", "2.1"] {
        refused(
            0,
            "/version",
            Some(json!(version)),
            "version",
            "expected `2.0`",
        );
    }
    refused(
        1,
        "/gradient/of",
        None,
        "gradient.of",
        r#"expected "logit""#,
    );
    refused(
        1,
        "/gradient/unit",
        None,
        "gradient.unit",
        r#"expected "nats""#,
    );
}

/// The same trace as an npz, with an entry of its `meta.json` changed.
fn npz(change: impl Fn(&mut Value)) -> Vec<u8> {
    let (machine, recording) = super::record(COPY);
    let good = super::npz(&machine, &recording);
    super::write_and_read::with_member(&good, "meta.json", |meta| {
        let mut meta = serde_json::from_slice(&meta).unwrap();
        change(&mut meta);
        Some(meta.to_string().into_bytes())
    })
}

#[test]
fn the_description_of_an_array_in_an_npz_is_checked() {
    let rows = FIELDS.iter().map(|row| (row.0, row.2));
    let own = [
        ("arrays.*.dtype", "7"),
        ("arrays.*.shape", "7"),
        ("arrays.*.dims", "7"),
    ];
    for (field, to) in rows.chain(own) {
        // The values are not in this description.
        if field.starts_with("arrays.") && field != "arrays.*.data" {
            let changed = npz(|meta| {
                *place(meta, field) = serde_json::from_str(to).unwrap();
            });
            let said = super::error(changed);
            assert!(said.contains("`arrays.read0.key"), "{field}: {said}");
        }
    }
    let lost = npz(|meta| {
        let key = meta["arrays"]["read0.key"].as_object_mut().unwrap();
        key.remove("shape").unwrap();
    });
    let said = super::error(lost);
    assert!(said.contains("missing field `shape`"), "{said}");
    assert!(trace::from_bytes(npz(|_| ()), "t").is_ok());
}

#[test]
fn an_array_that_an_npz_lists_is_in_it() {
    let (machine, recording) = super::record(COPY);
    let good = super::npz(&machine, &recording);
    let lacking = super::write_and_read::with_member(&good, "memory.npy", |_| None);
    let said = super::error(lacking.clone());
    let expected = "`arrays.memory`: is in meta.json, but the file has no memory.npy";
    assert!(said.contains(expected), "{said}");
    let unlisted = super::write_and_read::with_member(&lacking, "meta.json", |meta| {
        let mut meta: Value = serde_json::from_slice(&meta).unwrap();
        meta["arrays"].as_object_mut().unwrap().remove("memory");
        Some(meta.to_string().into_bytes())
    });
    let imported = trace::from_bytes(unlisted, "t").unwrap();
    assert_eq!(imported.recording.computed, ["memory"]);
}

#[test]
fn a_change_to_any_field_is_detected_as_the_table_says() {
    let bench = Bench::new();
    let fields = FIELDS.iter().map(|&(field, base, change, by)| {
        let mut trace = bench.honest[&base].trace.clone();
        *place(&mut trace, field) = serde_json::from_str(change).unwrap();
        (field, base, trace, by)
    });
    let arrays = ARRAYS.iter().map(|&(array, base, by)| {
        let mut trace = bench.honest[&base].trace.clone();
        move_a_value(&mut trace, array);
        (array, base, trace, by)
    });
    let mut wrong = Vec::new();
    for (field, base, trace, by) in fields.chain(arrays) {
        assert!(!by.is_empty(), "{field}: nothing detects a change");
        assert_ne!(
            trace, bench.honest[&base].trace,
            "{field}: nothing is changed"
        );
        let found = bench.found(base, &trace, field);
        if found != by {
            wrong.push(format!("{field}: {found:?}, not {by:?}"));
        }
    }
    assert_eq!(wrong, [""; 0], "\n{}", wrong.join("\n"));
}
