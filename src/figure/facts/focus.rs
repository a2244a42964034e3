//! The rows that a weighting is on.

use crate::figure::facts::numbers::percent;
use crate::figure::facts::thresholds::{DECIDES, IS_PEAK, ON_ROW};

/// The rows with the peaks of a weighting.
#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    /// The peaks, by row; without any, the heaviest row. Empty where there are no rows.
    pub rows: Vec<(usize, f32)>,
    /// The sum of all weights.
    pub total: f32,
}

impl Focus {
    /// Finds the peaks of a weighting.
    pub fn of(weights: &[f32]) -> Self {
        let heaviest = crate::model::peak(weights).map(|(row, _)| row);
        let rows = weights.iter().copied().enumerate();
        let rows = rows.filter(|&(row, weight)| Some(row) == heaviest || weight >= IS_PEAK);
        Self {
            rows: rows.collect(),
            total: weights.iter().sum(),
        }
    }

    /// True for a head with almost no weight on any row.
    pub fn is_idle(&self) -> bool {
        self.total < 1.0 - DECIDES
    }

    /// True where the peaks have half of all weight or more.
    pub fn is_clear(&self) -> bool {
        let peaks = self.rows.iter().map(|(_, weight)| weight);
        peaks.sum::<f32>() >= ON_ROW * self.total.min(1.0)
    }

    /// Joins the words about each peak.
    pub fn each(&self, say: impl Fn(usize, f32) -> String) -> String {
        let said = self.rows.iter().map(|&(row, weight)| say(row, weight));
        let mut said: Vec<_> = said.collect();
        let last = said.pop().unwrap_or_default();
        match said.as_slice() {
            [] => last,
            first => format!("{} and {last}", first.join(", ")),
        }
    }

    /// Returns the shares of the peaks: `69 % and 31 %`.
    pub fn shares(&self) -> String {
        self.each(|_, weight| percent(weight))
    }
}
