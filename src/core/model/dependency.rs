//! Which array of a trace follows from which others, and the conventions under which it does.

use super::spec::Place;

/// Conventions of a recorded machine that may differ from those of this program, which are the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conventions {
    /// The order of events in a step.
    pub turns: Turns,
    /// The score of the content stage.
    pub scoring: Scoring,
}

/// Order of the heads in a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Turns {
    /// Every head of a kind at once, in the order of [`super::NtmConfig::order`].
    #[default]
    Together,
    /// One head after the other, by its index: it addresses the current memory, and reads it, or erases and adds.
    InTurn(Vec<usize>),
    /// Unknown words.
    Unknown(String),
}

/// The score of a key k and a memory row m; ε is [`super::NtmConfig::similarity_epsilon`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scoring {
    /// k·m / (sqrt(|k|² + ε) · sqrt(|m|² + ε)), as [`crate::math::similarity`].
    #[default]
    Cosine,
    /// k·m / (|k|·|m| + ε).
    CosineAdded,
    /// k·m / max(|k|·|m|, ε).
    CosineAtLeast,
    /// k·m / (max(|k|, ε) · max(|m|, ε)).
    CosineEachAtLeast,
    /// k·m.
    Dot,
    /// Unknown words.
    Unknown {
        /// The name of the score.
        similarity: String,
        /// The formula, where there is one.
        formula: Option<String>,
    },
}

/// An array that follows from others of its trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// The part of the machine that it belongs to.
    pub place: Place,
    /// The name.
    pub array: &'static str,
    /// The arrays that a step depends on, as far as the trace has them.
    pub needs: Vec<(Place, &'static str)>,
    /// The array that the first step also depends on, of the same place.
    pub start: Option<&'static str>,
    /// Words of the file without which it cannot be computed, and which are not known.
    pub unknown: Option<UnknownConvention>,
    /// Size below which its values count as this size.
    pub size: Size,
}

impl Dependency {
    /// Returns the dependencies that every machine has.
    pub fn new(
        place: Place,
        array: &'static str,
        needs: &[(Place, &'static str)],
        size: Size,
    ) -> Self {
        Self {
            place,
            array,
            needs: needs.to_vec(),
            start: None,
            unknown: None,
            size,
        }
    }

    /// The row of its series that is made in step `t`.
    pub fn row(&self, t: usize) -> usize {
        t + usize::from(self.array == "memory")
    }
}

/// A convention of [`Conventions`] that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownConvention {
    /// [`Conventions::turns`].
    Turns,
    /// [`Conventions::scoring`].
    Scoring,
}

/// Smallest size that the values of an array count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 1.
    One,
    /// An even share: 1 / the width of the array.
    Share,
    /// Each value as the sum of the magnitudes of its terms: [`super::magnitudes`].
    Terms,
}
