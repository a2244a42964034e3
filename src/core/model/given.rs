//! What a machine is given to run an episode, and what its trace keeps of that.

use ndarray::Array2;

use super::spec::Range::Within;
use super::spec::{Array, ArraySpec, Place};
use super::trace::Trace;
use crate::math::{Answer, Real};

/// An episode as a machine sees it.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Input x_t, [T, X].
    pub input: &'a Array2<f32>,
    /// Steps before the answer.
    pub source: usize,
    /// Targets [T, Y] that are fed back in place of the machine's own answer (teacher forcing); used in training.
    pub forced: Option<&'a Array2<f32>>,
    /// The form of the answer.
    pub answer: Answer,
}

/// How an episode is run: [`Given`], without its arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Steps before the answer: an encoder reads their inputs.
    pub source: usize,
    /// True where targets are fed back, false where the machine's own answer is.
    pub is_forced: bool,
    /// The form of the answer.
    pub answer: Answer,
}

/// An input alone: all of it is the source.
impl<'a> From<&'a Array2<f32>> for Given<'a> {
    fn from(input: &'a Array2<f32>) -> Self {
        Self {
            input,
            source: input.nrows(),
            forced: None,
            answer: Answer::Bits,
        }
    }
}

/// y_{t−1} as it is fed back, [T, Y].
pub const FEEDBACK: Array = &ArraySpec::new(
    "feedback",
    &["t", "y"],
    "y_{t−1}",
    Within(0.0, 1.0),
    "0 in the first step of the answer; then what the step before answered, 0 or 1: a logit above 0, or the symbol with the largest",
);

/// Sets the feedback of step `t` from the logits of the step before.
pub(super) fn feed_back<R: Real>(trace: &mut Trace<R>, t: usize) {
    let Setting { source, answer, .. } = trace.setting;
    let before = (t > source).then(|| trace.logit.row(t - 1).to_vec());
    if let Some(feedback) = trace.series_mut(Place::Machine, FEEDBACK) {
        match before {
            Some(z) => answer.decide(&z, feedback.row_mut(t)),
            None => feedback.row_mut(t).fill(R::ZERO),
        }
    }
}
