//! The tables of a family of machines.

use crate::figure::facts::action::Action;
use crate::figure::facts::column::Column;
use crate::figure::facts::in_step::{Fact, InStep};
use crate::figure::facts::measure::Measure;
use crate::figure::facts::over_time::OverTime;

/// The tables of a family.
pub(super) struct Tables {
    /// Its columns of the addressing; those of one stage stand in their order.
    pub(super) columns: &'static [Column],
    /// Its numbers per step.
    pub(super) measures: &'static [Measure],
    /// Its vectors over time.
    pub(super) vectors: &'static [OverTime],
    /// Further results of a head in a step.
    pub(super) facts: fn(&InStep<'_>) -> Vec<Fact>,
    /// What one of its heads does in a stage of its own, without the name of the head, and the detail.
    pub(super) sentence: fn(&Action<'_>) -> Option<[String; 2]>,
    /// Why one of its heads is where it is.
    pub(super) reason: fn(&InStep<'_>) -> Option<String>,
}

impl Tables {
    /// Empty tables.
    pub(super) const EMPTY: Self = Self {
        columns: &[],
        measures: &[],
        vectors: &[],
        facts: |_| Vec::new(),
        sentence: |_| None,
        reason: |_| None,
    };
}
