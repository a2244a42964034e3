//! Heads as figures and the window call them, and the numbers of a head over time.

use crate::figure::facts::numbers;
use crate::model::dnc::{ALLOCATION_GATE, FREE_GATE, WRITE_GATE};
use crate::model::sam::INTERPOLATION_GATE;
use crate::model::weighting::bayesian::DIVERGENCE;
use crate::model::weighting::local::CENTRE;
use crate::model::{Array, ArraySpec, HeadTrace, Range, Trace, array};
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

/// A number that a head emits in every step, or that follows from its weighting.
#[derive(Debug, PartialEq)]
pub struct Emitted {
    /// Symbol in the equations.
    pub symbol: &'static str,
    /// Name as text.
    pub words: &'static str,
    /// Its array.
    pub array: Array,
    /// The array of a head that it is computed from, if it is not recorded itself.
    from: Option<Array>,
}

/// An array that is computed from recorded ones and is in no trace.
pub(crate) const fn derived(name: &'static str) -> ArraySpec {
    ArraySpec::new(name, &[], "", Range::Any, "")
}

/// All of them, in the order of the addressing.
#[rustfmt::skip] // A line for each.
pub static EMITTED: [Emitted; 5] = [
    Emitted { symbol: "β", words: "key strength", array: array::STRENGTH, from: None },
    Emitted { symbol: "g", words: "gate", array: array::GATE, from: None },
    Emitted { symbol: "s", words: "expected shift", array: &derived("expected_shift"), from: Some(array::SHIFT) },
    Emitted { symbol: "γ", words: "sharpening", array: array::SHARPENING, from: None },
    Emitted { symbol: "H", words: "entropy of w, bits", array: &derived("entropy"), from: Some(array::WEIGHTING) },
];

/// The redundancy of heads: P of the read heads, of the write heads, of all.
#[rustfmt::skip] // A line for each.
pub static REDUNDANCY: [Emitted; 3] = [
    Emitted { symbol: "P", words: "redundancy of heads that read", array: &derived("redundancy_read"), from: None },
    Emitted { symbol: "P", words: "redundancy of heads that write", array: &derived("redundancy_write"), from: None },
    Emitted { symbol: "P", words: "redundancy of all heads", array: &derived("redundancy_both"), from: None },
];

/// Scalars derived for some heads: the entropy of a hard head is here, because all of its weight is on one row.
#[rustfmt::skip] // A line for each.
pub static FOLLOWING: [Emitted; 7] = [
    Emitted { symbol: "H", words: "entropy of α, bits", array: &derived("distribution_entropy"), from: Some(array::DISTRIBUTION) },
    Emitted { symbol: "p", words: "centre of the window", array: CENTRE, from: None },
    Emitted { symbol: "KL", words: "divergence from m, nats", array: DIVERGENCE, from: None },
    Emitted { symbol: "f", words: "free gate", array: FREE_GATE, from: None },
    Emitted { symbol: "gᵃ", words: "allocation gate", array: ALLOCATION_GATE, from: None },
    Emitted { symbol: "gʷ", words: "write gate", array: WRITE_GATE, from: None },
    Emitted { symbol: "γ", words: "interpolation gate", array: INTERPOLATION_GATE, from: None },
];

/// The uncertainty over the samples of an episode, as a mean over the bits of a step.
#[rustfmt::skip] // A line for each.
pub static UNCERTAINTY: [Emitted; 3] = [
    Emitted { symbol: "H", words: "entropy of the mean, bits", array: &derived("entropy_of_mean"), from: None },
    Emitted { symbol: "H", words: "mean entropy: noise, bits", array: &derived("mean_entropy"), from: None },
    Emitted { symbol: "I", words: "mutual information, bits", array: &derived("mutual_information"), from: None },
];

impl Emitted {
    /// True of a head that has it.
    pub fn is_of(&self, head: &HeadTrace) -> bool {
        head.series(self.from.unwrap_or(self.array)).is_some()
    }

    /// The title in a table.
    pub fn title(&self) -> &'static str {
        match self.from {
            Some(array::WEIGHTING) => "H bits",
            _ => self.symbol,
        }
    }

    /// A value in a table, in five letters; of a shift none, where its bars are drawn.
    pub fn in_table(&self, value: f32) -> String {
        match (self.array, self.from) {
            (array::GATE, _) => numbers::cell(value),
            (_, Some(array::SHIFT)) => String::new(),
            (_, Some(_)) => numbers::plain(value, 2, 5),
            _ => numbers::fit(value, 2, 5),
        }
    }

    /// The values on a scale that is fixed for the episode.
    fn scalar(&'static self, head: &HeadTrace, steps: usize) -> Option<Scalar> {
        let recorded = head.series(self.from.unwrap_or(self.array))?;
        if self.from == Some(array::WEIGHTING) && head.distribution.width() > 0 {
            return None;
        }
        let values: Vec<f32> = match self.from {
            Some(array::SHIFT) => (0..steps).map(|t| expected_shift(head, t)).collect(),
            Some(_) => (0..steps).map(|t| entropy(recorded.row(t))).collect(),
            None => recorded.as_slice()[..steps].to_vec(),
        };
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let most = numbers::round_up(finite.clone().fold(0.0, f32::max));
        let rows = head.weighting.width().max(2) as f32;
        let reach = ((head.shift.width() / 2) as f32).max(1.0);
        let scale = match self.from.unwrap_or(self.array) {
            array::GATE => (0.0, 1.0),
            array::SHIFT => (-reach, reach),
            array::SHARPENING => (1.0, most.max(2.0)),
            array::WEIGHTING | array::DISTRIBUTION => (0.0, rows.log2()),
            CENTRE => (0.0, rows),
            DIVERGENCE => (finite.fold(0.0, f32::min), most),
            _ => (0.0, most),
        };
        let of = self;
        Some(Scalar { of, values, scale })
    }
}

/// A number per step on a scale that is fixed for the episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The parameter.
    pub of: &'static Emitted,
    /// One number per step.
    pub values: Vec<f32>,
    /// The ends of its axis.
    pub scale: (f32, f32),
}

impl Scalar {
    /// Creates a line on a scale from 0 to the largest of these numbers.
    pub(crate) fn up(of: &'static Emitted, values: Vec<f32>) -> Self {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let most = numbers::round_up(finite.fold(0.0, f32::max));
        let scale = (0.0, most);
        Self { of, values, scale }
    }
}

/// Returns the scalars of a head over `steps` steps: β, g, expected shift, γ and the entropy of its weighting, centre
/// of its window, divergence from its prior, if it has them. A pass over its weightings.
pub fn scalars(head: &HeadTrace, steps: usize) -> Vec<Scalar> {
    let all = EMITTED.iter().chain(&FOLLOWING);
    let scalars = all.filter_map(|emitted| emitted.scalar(head, steps));
    scalars.collect()
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
