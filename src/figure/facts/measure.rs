//! Numbers per step, each on a scale that is fixed for the episode.

use crate::figure::facts::heads::{entropy, expected_shift};
use crate::figure::facts::numbers;
use crate::model::{Array, ArraySpec, HeadTrace, Range, array};

/// A number per step that a head emits, or that follows from others.
#[derive(Debug, PartialEq)]
pub struct Measure {
    /// Symbol in the equations.
    pub symbol: &'static str,
    /// Name as text.
    pub words: &'static str,
    /// Its array.
    pub array: Array,
    /// The array of a head that it is computed from, if it is not recorded itself.
    pub from: Option<Array>,
    /// The ends of its axis.
    pub ends: Ends,
}

/// The ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// 0 to 1.
    Share,
    /// The largest shift back and on.
    Shift,
    /// 1 to the largest value.
    FromOne,
    /// 0 to the entropy of a weighting that is the same on all rows.
    Bits,
    /// All rows.
    Rows,
    /// The smallest value, or 0, to the largest one.
    All,
    /// 0 to the largest value.
    FromZero,
}

/// An array that is computed from recorded ones and is in no trace.
pub(crate) const fn derived(name: &'static str) -> ArraySpec {
    ArraySpec::new(name, &[], "", Range::Any, "")
}

impl Measure {
    /// A number that is recorded as an array.
    pub(crate) const fn recorded(
        symbol: &'static str,
        words: &'static str,
        array: Array,
        ends: Ends,
    ) -> Self {
        let from = None;
        Self {
            symbol,
            words,
            array,
            from,
            ends,
        }
    }

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
    pub(crate) fn scalar(&'static self, head: &HeadTrace, steps: usize) -> Option<Scalar> {
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
        let scale = match self.ends {
            Ends::Share => (0.0, 1.0),
            Ends::Shift => (-reach, reach),
            Ends::FromOne => (1.0, most.max(2.0)),
            Ends::Bits => (0.0, rows.log2()),
            Ends::Rows => (0.0, rows),
            Ends::All => (finite.fold(0.0, f32::min), most),
            Ends::FromZero => (0.0, most),
        };
        let of = self;
        Some(Scalar { of, values, scale })
    }
}

/// A number per step on a scale that is fixed for the episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The parameter.
    pub of: &'static Measure,
    /// One number per step.
    pub values: Vec<f32>,
    /// The ends of its axis.
    pub scale: (f32, f32),
}

impl Scalar {
    /// Creates a line on a scale from 0 to the largest of these numbers.
    pub(crate) fn up(of: &'static Measure, values: Vec<f32>) -> Self {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let most = numbers::round_up(finite.fold(0.0, f32::max));
        let scale = (0.0, most);
        Self { of, values, scale }
    }
}
