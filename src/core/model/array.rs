//! The arrays of every machine, by name.

use super::spec::Range::{Any, Within};
use super::spec::{Array, ArraySpec};

pub(in crate::model) use super::trace::of_heads::ALL as ALL_OF_HEADS;
pub use super::trace::of_heads::*;
pub use super::trace::of_layers::{CELL, GATES, HIDDEN};
pub use super::trace::of_machines::MEMORY_COLUMNS as MEMORY;
pub use super::trace::of_machines::{FEATURES, INPUT, LOGIT, NORMS, OUTPUT, RAW};

/// M_0, [N, M], which stands in a file even where all of the memory does.
#[rustfmt::skip]
pub const INITIAL_MEMORY: Array = &ArraySpec::new("memory.initial", &["n", "m"], "M_0", Any, "constant, or learned");
/// K_t, [T, d].
#[rustfmt::skip]
pub const ROW_KEY: Array = &ArraySpec::new("row_key", &["t", "k"], "K", Any, "W_Kᵀ·X of this step, with which k is compared (Vaswani 2017)");
/// V_t, [T, d].
#[rustfmt::skip]
pub const ROW_VALUE: Array = &ArraySpec::new("row_value", &["t", "r"], "V", Any, "W_Vᵀ·X of this step, which is read (Vaswani 2017)");
/// y_{t−1} as it is fed back, [T, Y].
#[rustfmt::skip]
pub const FEEDBACK: Array = &ArraySpec::new("feedback", &["t", "y"], "y_{t−1}", Within(0.0, 1.0), "0 in the first step of the answer; then what the step before answered: 1 where a logit is above 0, or for the symbol of the largest; the value itself where answers are values, any number");

/// The arrays of the component `encoder` of machine files.
#[rustfmt::skip] // A row for every array.
pub(super) const OF_ENCODERS: [Array; 4] = [
    &ArraySpec::new("encoder.forward.cell", &["t", "u"], "c→", Any, "cell of an LSTM on x_t and h→_{t−1}; 0 after the source"),
    &ArraySpec::new("encoder.forward.hidden", &["t", "u"], "h→", Within(-1.0, 1.0), "state of an LSTM or a GRU on x_t and h→_{t−1}; 0 after the source (Bahdanau 2015)"),
    &ArraySpec::new("encoder.backward.cell", &["t", "u"], "c←", Any, "cell of an LSTM on x_t and h←_{t+1}; 0 after the source"),
    &ArraySpec::new("encoder.backward.hidden", &["t", "u"], "h←", Within(-1.0, 1.0), "state of an LSTM or a GRU on x_t and h←_{t+1}; 0 after the source (Bahdanau 2015)"),
];
