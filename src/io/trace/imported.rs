//! A trace that was read, and what a trace is written from.

use super::table::Described;
use crate::model::{ModelConfig, Trace};
use crate::train::{Quantity, Recording};

/// The contents of a trace file besides the recording.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The machine that was recorded.
    pub config: &'a ModelConfig,
    /// Hash of its weights ([`crate::io::weights::sha256`]), when known.
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
    pub(super) not_given: Vec<String>,
    /// The derivatives of a number.
    pub(super) gradient: Option<(Quantity, Derivatives)>,
    /// The metadata of episode and machine, as text; empty strings for absent ones.
    pub(super) declared: Vec<(String, String)>,
}

/// Gradients with respect to the arrays of a file, each with its description.
pub(super) type Derivatives = Vec<(Described, Vec<f32>)>;

impl Imported {
    /// True where the file has gradients.
    pub fn has_gradient(&self) -> bool {
        self.gradient.is_some()
    }

    /// Returns the metadata under a key; empty if absent.
    pub(super) fn says(&self, key: &str) -> &str {
        let found = self.declared.iter().find(|(known, _)| *known == key);
        found.map_or("", |(_, said)| said)
    }
}
