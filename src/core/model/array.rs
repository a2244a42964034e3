//! The arrays of every machine, by name.

use super::spec::Range::Any;
use super::spec::{Array, ArraySpec};

pub use super::given::FEEDBACK;
pub use super::trace::of_heads::*;
pub use super::trace::of_layers::{CELL, HIDDEN};
pub use super::trace::of_machines::MEMORY_COLUMNS as MEMORY;
pub use super::trace::of_machines::{FEATURES, INPUT, LOGIT, NORMS, OUTPUT, RAW};

/// M_0, [N, M], which stands in a file even where all of the memory does.
#[rustfmt::skip]
pub const INITIAL_MEMORY: Array = &ArraySpec::new("memory.initial", &["n", "m"], "M_0", Any, "constant, or learned");
