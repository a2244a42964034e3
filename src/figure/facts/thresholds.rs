//! Thresholds of the sentences: the values from which a fact holds.

/// Share of its weight from which a head is on a row.
pub const ON_ROW: f32 = 0.5;
/// Share of its weight from which a row is a peak of a head, beside others.
pub(crate) const IS_PEAK: f32 = 0.25;
/// Share of the heaviest row below which a shifted weighting still covers many rows.
pub(crate) const PEAK: f32 = 0.2;
/// Share from which a gate uses one of its two inputs and ignores the other.
pub(crate) const DECIDES: f32 = 0.85;
/// Change of a memory value below which a write or an erase is negligible.
pub(crate) const NEGLIGIBLE: f32 = 0.05;
/// Share of the weight of a row from which one source explains it.
pub(crate) const EXPLAINS: f32 = 0.6;
/// Share of a written vector below which it counts as lost.
pub(crate) const LOST: f32 = 0.75;
