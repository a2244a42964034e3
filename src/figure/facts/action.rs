//! What a head does in a stage, as its sentence says it.

use crate::figure::facts::focus::Focus;
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::stage::Stage;

/// A write without an effect.
pub const WRITES_NOTHING: &str = "writes almost nothing";

/// What a sentence about a head in a stage is made of.
pub struct Action<'a> {
    /// The head in the step.
    pub at: &'a InStep<'a>,
    /// The stage; none for the whole step.
    pub stage: Option<Stage>,
    /// The row with the largest value, and this value.
    pub peak: (usize, f32),
    /// The rows that the values are on.
    pub focus: &'a Focus,
    /// These rows in words, with their shares.
    pub most: &'a str,
}
