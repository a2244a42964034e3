//! The arrays of every machine, by name.

use super::spec::Range::{Any, Within};
use super::spec::{Array, ArraySpec};

pub(in crate::model) use super::trace::of_heads::ALL as ALL_OF_HEADS;
pub use super::trace::of_heads::*;
pub use super::trace::of_layers::{CELL, HIDDEN};
pub use super::trace::of_machines::MEMORY_COLUMNS as MEMORY;
pub use super::trace::of_machines::{FEATURES, INPUT, LOGIT, NORMS, OUTPUT, RAW};

/// M_0, [N, M], which stands in a file even where all of the memory does.
#[rustfmt::skip]
pub const INITIAL_MEMORY: Array = &ArraySpec::new("memory.initial", &["n", "m"], "M_0", Any, "constant, or learned");
/// y_{t−1} as it is fed back, [T, Y].
#[rustfmt::skip]
pub const FEEDBACK: Array = &ArraySpec::new("feedback", &["t", "y"], "y_{t−1}", Within(0.0, 1.0), "0 in the first step of the answer; then what the step before answered: 1 where a logit is above 0, or for the symbol of the largest");
