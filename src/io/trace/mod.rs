//! One episode as JSON (also gzipped) or npz, complete enough to redraw every frame and recompute every stage.
//!
//! The format is described in `docs/formats.md`.
//!
//! # Writing
//!
//! [`write()`] chooses the form by the end of the file's name; [`write_to`] and [`write_npz`] write to anything.
//! They stream, and the same recording gives the same bytes. [`estimated_bytes`] says before how large a file
//! will be. Numbers are the shortest decimals that read back as the same f32. A memory of more than a million
//! values is left out but for the first, the last and every 64th; what the write heads did rebuilds the others
//! to the bit.
//!
//! # Reading
//!
//! [`read`] takes a trace of any program and shows it as it was recorded. What the file leaves out and what follows
//! from the rest is computed, memories and stages alike, and named in `recording.computed`; the values of other
//! arrays that are absent are [`crate::train::ABSENT`], a NaN. Both are named in `recording.absent`. A file cannot
//! make the program take memory that it has no values for, beyond what a recording may take at all.
//!
//! # Comparing
//!
//! [`verify`] recomputes what follows from the recorded numbers, as the file says that its machine works, and
//! names what it cannot; [`diff`] compares two traces of one shape, and [`compare()`] what two episodes have in
//! common. All walk in the order of the computation, so that the first difference is the cause.
//!
//! ```
//! use tapescope::{io::{trace, weights}, train::Recording};
//!
//! let copy = &weights::all_included().unwrap()[0];
//! let recording = Recording::new(&copy.machine, &copy.experiment.task, 7, 0);
//! let source = trace::Source { config: &copy.machine.config, sha256: None, full_memory: false, gradient: None };
//! let mut file = Vec::new();
//! trace::write_to(&mut file, &recording, &source)?;
//! let read = trace::from_bytes(file, "copy.ntmtrace.json")?;
//! assert_eq!(trace::verify(&read, 0.0).outcome(), trace::Outcome::Holds); // to the bit
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod follows;
mod form;
mod npz;
mod read;
mod source;
mod table;
mod unpack;
mod verify;
mod write;

pub use compare::{Comparison, Difference, Side, compare, diff, obstacles};
pub use read::{from_bytes, from_json, read, read_watched};
pub use source::ReadProgress;
pub use table::{AXES, Listed, arrays, is_needed, recomputed};
pub use verify::{Outcome, Verified, replay, verify};
pub use write::{meta, views, write, write_npz, write_to};

use std::path::Path;

use crate::io::{Error, file};
use crate::model::{ModelConfig, Scoring, Trace};
use crate::task::Episode;
use crate::train::{Quantity, Recording};

const FORMAT: &str = "ntm-trace";
const VERSION: &str = "1.1";
/// Number of steps between two copies of the memory, where it is not written in full.
const KEYFRAME: usize = 64;
/// The most values of `memory` that are written without being asked for.
const SMALL_MEMORY: usize = 1_000_000;
/// The order of events within a step, in words.
const READ_FIRST: &str = "address and read M[t-1]; erase all; add all";
const WRITE_FIRST: &str =
    "write heads address M[t-1]; erase all; add all; read heads address and read M[t]";
const IN_TURN: &str = "each head in turn, in the order of heads: address M as it then stands; read it, or erase and add";
/// The scores of the content stage that are known: word and formula, with the place of epsilon, which differs
/// between implementations. Ours is the first, and that of a file that gives no formula.
const SCORES: [(Scoring, &str, &str); 5] = [
    (
        Scoring::Cosine,
        "cosine",
        "k.m / (sqrt(|k|^2 + epsilon) * sqrt(|m|^2 + epsilon))",
    ),
    (
        Scoring::CosineAdded,
        "cosine",
        "k.m / (|k| * |m| + epsilon)",
    ),
    (
        Scoring::CosineAtLeast,
        "cosine",
        "k.m / max(|k| * |m|, epsilon)",
    ),
    (
        Scoring::CosineEachAtLeast,
        "cosine",
        "k.m / (max(|k|, epsilon) * max(|m|, epsilon))",
    ),
    (Scoring::Dot, "dot", "k.m"),
];

/// The contents of a trace file besides the recording.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The machine that was recorded.
    pub config: &'a ModelConfig,
    /// Hash of its weights ([`super::weights::sha256`]), when known.
    pub sha256: Option<&'a str>,
    /// Write all of the memory, however large.
    pub full_memory: bool,
    /// The number whose derivative w.r.t. each array is written next to it, and the derivatives under the names of the
    /// arrays.
    pub gradient: Option<(Quantity, &'a Trace)>,
}

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The name of the file and of the task, for a window's title.
    pub title: String,
    /// The machine that was recorded; its weights are not in the file.
    pub config: ModelConfig,
    /// The hash of its weights, if the file gives it.
    pub sha256: Option<String>,
    /// The episode. Series that are in no file (`raw`, `features`, `norms`, and a layer's `input`, `gates` and
    /// `cell_tanh`) are empty. What could be in the file and is not is named in `recording.absent`.
    pub recording: Recording,
    /// True where M_t is in the file, [T+1]; the others were rebuilt from the writes.
    pub memories: Vec<bool>,
    /// `memory.initial`, [N·M] as in the file, where the file has it in addition to all of `memory`, whose first should
    /// be the same.
    pub initial: Option<Vec<f32>>,
    /// Arrays of the file that were not read, because they are unknown, or repeat others.
    pub ignored: Vec<String>,
    /// Sizes of axes that the file does not give.
    not_given: Vec<String>,
    /// The derivatives of a number.
    gradient: Option<(Quantity, Derivatives)>,
    /// The metadata of episode and machine, as text; empty strings for absent ones.
    declared: Vec<(&'static str, String)>,
}

/// Gradients with respect to the arrays of a file, each with its description.
type Derivatives = Vec<(table::Described, Vec<f32>)>;

/// The metadata of a file that its arrays need not show, by key.
const OF_FILES: [&str; 3] = ["generator", "sample", "weights"];
/// Metadata of the machine.
const OF_MACHINES: [&str; 5] = [
    "shift_form",
    "key_activation",
    "add_activation",
    "initial_weighting",
    "memory.initial",
];
/// The metadata of an episode that its seed also determines.
const OF_EPISODES: [&str; 4] = ["phases", "length", "items", "repeats"];

impl Imported {
    /// True where the file has gradients.
    pub fn has_gradient(&self) -> bool {
        self.gradient.is_some()
    }

    /// Returns the metadata under a key; empty if absent.
    fn says(&self, key: &str) -> &str {
        let found = self.declared.iter().find(|(known, _)| *known == key);
        found.map_or("", |(_, said)| said)
    }

    /// Differences between the episode in the file and the one that its seed gives, one line each.
    fn unlike(&self, again: &Episode) -> Vec<String> {
        let size = self.recording.task.size_name();
        let expected = |key| match key {
            "phases" => form::in_words(&again.phases),
            "repeats" => again.repeats.to_string(),
            _ if key == size => again.size.to_string(),
            _ => "none".to_owned(),
        };
        let said = OF_EPISODES.map(|key| (key, self.says(key).to_owned()));
        compare::unlike(said, OF_EPISODES.map(|key| (key, expected(key))))
    }

    /// Returns the metadata that nothing was compared with: keys, and arrays that were not read.
    fn unchecked(&self) -> impl Iterator<Item = String> {
        let has_noise = self.recording.trace.noise().next().is_some();
        let is_open = move |key: &str| match (key, self.says(key)) {
            (_, "") => false,
            ("sample", said) => said != "0" && !has_noise,
            // A constant, and weightings on one row, are compared with the arrays.
            ("memory.initial" | "initial_weighting", said) => said == "learned",
            _ => true,
        };
        let keys = OF_FILES.into_iter().chain(OF_MACHINES);
        let keys = keys.filter(move |key| is_open(key));
        let others = self.ignored.iter().chain(&self.not_given);
        keys.map(str::to_owned).chain(others.cloned())
    }
}

/// The program that wrote a file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Generator {
    name: &'static str,
    version: &'static str,
}

impl Default for Generator {
    fn default() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// File form of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Readable.
    Json,
    /// JSON, gzipped.
    Gzip,
    /// Arrays as NumPy has them, and the rest as JSON.
    Npz,
}

impl Encoding {
    /// Returns the encoding for a file's extension; JSON without one.
    ///
    /// # Errors
    /// The end is that of another format.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let end = |path: &Path| {
            let end = path.extension().unwrap_or_default();
            end.to_string_lossy().to_lowercase()
        };
        let end = match end(path).as_str() {
            "gz" => format!(".{}.gz", end(&path.with_extension(""))),
            end => format!(".{end}"),
        };
        match end.as_str() {
            "." | ".json" => Ok(Self::Json),
            "..gz" | ".json.gz" => Ok(Self::Gzip),
            ".npz" => Ok(Self::Npz),
            _ => {
                let allowed = ".json, .json.gz and .npz";
                let problem = format!("a trace is not written as `{end}`; allowed: {allowed}");
                Err(Error::content(&file::label(path), "", problem))
            }
        }
    }

    /// Bytes per value, as measured on an episode of a trained machine. Gzipped, 1 to 5, the more the memory
    /// changes; npz before it is compressed.
    fn bytes_per_value(self) -> u64 {
        match self {
            Self::Json => 12,
            Self::Gzip => 2,
            Self::Npz => 4,
        }
    }
}

/// True for a path that ends as the paths of traces do.
pub fn is_named_so(path: &Path) -> bool {
    let path = path.to_string_lossy();
    let ends = [".ntmtrace.json", ".ntmtrace.json.gz", ".npz"];
    ends.iter().any(|end| path.ends_with(end))
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
