//! Heads as figures and the window call them, and what kinds of them there are.

use crate::model::dnc::{READ_MODES, WRITE_GATE};
use crate::model::sam::{ROW, ROWS};
use crate::model::{Array, HeadTrace, Trace};
use crate::train::{self, ABSENT, is_unrecorded};

/// The name and colour of a head, in every machine: its kind, and its index among heads of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadName {
    /// True for a write head.
    pub is_write: bool,
    /// The index among the heads of its kind.
    pub place: usize,
}

impl HeadName {
    /// Returns the name of a head, by its index among all of them.
    pub fn of(trace: &Trace<f32>, head: usize) -> Self {
        let is_write = trace.heads.get(head).is_some_and(HeadTrace::is_write);
        let before = trace.heads.iter().take(head);
        let place = before.filter(|head| head.is_write() == is_write).count();
        Self { is_write, place }
    }
}

impl std::fmt::Display for HeadName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_write { 'W' } else { 'R' }, self.place)
    }
}

/// `R0`, `R1`, …, `W0`, …: the label of a head.
pub fn head_label(trace: &Trace<f32>, head: usize) -> String {
    let name = trace.heads.get(head).map(|_| HeadName::of(trace, head));
    name.map_or_else(String::new, |name| name.to_string())
}

/// The layer of a head in words, where the heads of a machine are in several: ` of layer 1`; else empty.
pub fn head_layer(trace: &Trace<f32>, head: usize) -> String {
    let own = trace.heads.get(head).map(|head| head.mechanism.layer);
    let is_own = |other: &HeadTrace| Some(other.mechanism.layer) == own;
    let own = own.filter(|_| !trace.heads.iter().all(is_own));
    own.map_or_else(String::new, |layer| format!(" of layer {layer}"))
}

/// The head with this label.
pub fn head_named(trace: &Trace<f32>, label: &str) -> Option<usize> {
    let is_it = |head: &usize| head_label(trace, *head).eq_ignore_ascii_case(label);
    (0..trace.heads.len()).find(is_it)
}

/// The head with this label.
///
/// # Errors
/// There is none: those there are, in words.
pub fn find_head(trace: &Trace<f32>, label: &str) -> Result<usize, String> {
    head_named(trace, label).ok_or_else(|| {
        let heads = 0..trace.heads.len();
        let known: Vec<_> = heads.map(|head| head_label(trace, head)).collect();
        match known.len() {
            0 if trace.is_file() => "heads of a machine file are not chosen by name; --layout quantities draws every quantity".to_owned(),
            0 => "the machine has no heads".to_owned(),
            1..=12 => format!("the heads are {}", known.join(", ")),
            count => format!("the {count} heads are {}, …, {}", known[..3].join(", "), known[count - 1]),
        }
    })
}

/// True of a head that has an array.
pub(crate) fn has(head: &HeadTrace, array: Array) -> bool {
    head.series(array).is_some()
}

/// True of a head that samples one row.
pub fn is_hard(head: &HeadTrace) -> bool {
    head.distribution.width() > 0
}

/// True of a head of sparse access memory.
pub fn is_sparse(head: &HeadTrace) -> bool {
    has(head, ROWS) || has(head, ROW)
}

/// True of a head whose weighting is a mixture of several.
pub fn is_mixed(head: &HeadTrace) -> bool {
    has(head, WRITE_GATE) || has(head, READ_MODES)
}

/// Entropy of a weighting, in bits: 0 when all of it is on one row.
pub fn entropy(weighting: &[f32]) -> f32 {
    if is_unrecorded(weighting) {
        return ABSENT;
    }
    let nats = train::entropy(weighting.iter().map(|&w| f64::from(w)));
    (nats / std::f64::consts::LN_2) as f32
}

/// The rows by which entry `index` of a shift weighting of this range moves the focus.
pub fn offset(index: usize, range: usize) -> isize {
    index.cast_signed() - range.cast_signed()
}

/// A shift with its sign: −1, 0, +1.
pub fn signed(shift: isize) -> String {
    match shift {
        0 => "0".to_owned(),
        1.. => format!("+{shift}"),
        _ => format!("−{}", shift.unsigned_abs()),
    }
}

/// Expected shift of a head in a step, in rows.
pub fn expected_shift(head: &HeadTrace<f32>, step: usize) -> f32 {
    let range = head.shift.width() / 2;
    if is_unrecorded(head.shift.row(step)) {
        return ABSENT;
    }
    let terms = head.shift.row(step).iter().enumerate();
    let terms = terms.map(|(index, &s)| s * offset(index, range) as f32);
    terms.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::is_absent;

    #[test]
    fn entropy_is_zero_on_one_row_two_bits_on_four_and_unknown_of_nothing_recorded() {
        let bits = |weighting: &[f32]| entropy(weighting).to_bits();
        assert_eq!(bits(&[0.0, 1.0, 0.0]), 0.0_f32.to_bits(), "and not −0");
        assert_eq!(entropy(&[0.25; 4]), 2.0);
        assert!(is_absent(entropy(&[ABSENT; 3])));
        assert!(entropy(&[0.5, f32::NAN]).is_nan());
    }
}
