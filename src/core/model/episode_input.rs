//! The inputs of an episode, and the settings that its trace keeps.

use ndarray::Array2;

use crate::math::Answer;

/// An episode as a machine sees it.
#[derive(Clone, Copy, Debug)]
pub struct EpisodeInput<'a> {
    /// Input x_t, [T, X].
    pub input: &'a Array2<f32>,
    /// Steps before the answer.
    pub source: usize,
    /// Targets [T, Y] that are fed back in place of the machine's own answer (teacher forcing); used in training.
    pub forced: Option<&'a Array2<f32>>,
    /// The form of the answer.
    pub answer: Answer,
}

/// How an episode is run: [`EpisodeInput`], without its arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting {
    /// Steps before the answer, or all where a machine says so: an encoder reads their inputs.
    pub source: usize,
    /// True where targets are fed back, false where the machine's own answer is.
    pub is_forced: bool,
    /// The form of the answer.
    pub answer: Answer,
}

/// An input alone: all of it is the source.
impl<'a> From<&'a Array2<f32>> for EpisodeInput<'a> {
    fn from(input: &'a Array2<f32>) -> Self {
        Self {
            input,
            source: input.nrows(),
            forced: None,
            answer: Answer::Bits,
        }
    }
}
