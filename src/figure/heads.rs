//! Heads as figures and the window call them, and the numbers of a head over time.

use super::numbers;
use crate::model::{HeadTrace, Trace};
use crate::train::{ABSENT, is_unrecorded};

/// `R0`, `R1`, …, `W0`, …: the label of a head.
pub fn head_label(trace: &Trace<f32>, head: usize) -> String {
    let heads = &trace.heads;
    let before = |write: bool| {
        let same = heads[..head].iter().filter(|h| h.is_write() == write);
        same.count()
    };
    match heads.get(head) {
        Some(head) if head.is_write() => format!("W{}", before(true)),
        Some(_) => format!("R{}", before(false)),
        None => String::new(),
    }
}

/// The head with this label.
pub fn head_named(trace: &Trace<f32>, label: &str) -> Option<usize> {
    let heads = 0..trace.heads.len();
    heads
        .into_iter()
        .find(|&head| head_label(trace, head).eq_ignore_ascii_case(label))
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
            0 => "the machine has no heads".to_owned(),
            _ => format!("the heads are {}", known.join(", ")),
        }
    })
}

/// How spread out a weighting is, in bits: 0 when all of it is on one row.
pub fn entropy(weighting: &[f32]) -> f32 {
    if is_unrecorded(weighting) {
        return ABSENT;
    }
    let terms = weighting.iter().filter(|w| **w > 0.0 || w.is_nan());
    // All weight on one row makes −0, which is 0.
    terms.map(|w| -w * w.log2()).sum::<f32>() + 0.0
}

/// The rows by which entry `index` of a shift weighting of this range moves the focus.
pub fn offset(index: usize, range: usize) -> isize {
    index.cast_signed() - range.cast_signed()
}

/// A number per step on a scale that is fixed for the episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// As in the equations.
    pub symbol: &'static str,
    /// In words.
    pub words: &'static str,
    /// One number per step.
    pub values: Vec<f32>,
    /// The ends of its axis.
    pub scale: (f32, f32),
}

/// By how many rows a head moves on average in a step.
pub fn expected_shift(head: &HeadTrace<f32>, step: usize) -> f32 {
    let range = head.shift.width() / 2;
    if is_unrecorded(head.shift.row(step)) {
        return ABSENT;
    }
    let terms = head.shift.row(step).iter().enumerate();
    let terms = terms.map(|(index, &s)| s * offset(index, range) as f32);
    terms.sum()
}

/// What a head emitted, over time: β, g, expected shift, γ and the entropy of its weighting. Shift and
/// entropy, with a number per step, take a pass over the weightings: who has them hands them over.
pub fn scalars(head: &HeadTrace<f32>, shift: Vec<f32>, entropy: Vec<f32>) -> [Scalar; 5] {
    let most = |values: &[f32]| {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        numbers::round_up(finite.fold(0.0, f32::max))
    };
    let (steps, range) = (shift.len(), head.shift.width() / 2);
    let rows = head.initial.width().max(2) as f32;
    let scalar = |symbol, words, values, scale| Scalar {
        symbol,
        words,
        values,
        scale,
    };
    let (strength, sharpening) = (
        &head.strength.as_slice()[..steps],
        &head.sharpening.as_slice()[..steps],
    );
    let reach = (range as f32).max(1.0);
    [
        scalar(
            "β",
            "key strength",
            strength.to_vec(),
            (0.0, most(strength)),
        ),
        scalar(
            "g",
            "gate",
            head.gate.as_slice()[..steps].to_vec(),
            (0.0, 1.0),
        ),
        scalar("s", "expected shift", shift, (-reach, reach)),
        scalar(
            "γ",
            "sharpening",
            sharpening.to_vec(),
            (1.0, most(sharpening).max(2.0)),
        ),
        scalar("H", "entropy of w, bits", entropy, (0.0, rows.log2())),
    ]
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
