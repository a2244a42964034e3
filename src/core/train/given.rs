//! Episodes as machines see them.

use crate::model::Given;
use crate::task::Episode;

/// An episode in which a machine with feedback is given its own answers.
impl<'a> From<&'a Episode> for Given<'a> {
    fn from(episode: &'a Episode) -> Self {
        Self {
            input: &episode.input,
            source: episode.source(),
            forced: None,
            answer: episode.answer,
        }
    }
}

/// An episode in which a machine with feedback is given the targets instead (teacher forcing).
pub fn forced(episode: &Episode) -> Given<'_> {
    Given {
        forced: Some(&episode.target),
        ..episode.into()
    }
}
