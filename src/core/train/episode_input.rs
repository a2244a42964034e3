//! Episodes as machines see them.

use crate::model::EpisodeInput;
use crate::model::equations::{Document, Offer};
use crate::task::{AskedFor, Episode, Task};

/// An episode in which a machine with feedback is given its own answers.
impl<'a> From<&'a Episode> for EpisodeInput<'a> {
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
pub fn forced(episode: &Episode) -> EpisodeInput<'_> {
    EpisodeInput {
        forced: Some(&episode.target),
        ..episode.into()
    }
}

/// What a task offers to a machine file.
pub fn offer(task: &Task) -> Offer {
    Offer {
        inputs: task.inputs(),
        outputs: task.outputs(),
        answers_last: task.answers_last(),
        document: match task {
            Task::Span(span) => Some(Document {
                question: span.question,
                pointers: match span.asked_for {
                    AskedFor::Ends => 2 * span.rounds,
                    AskedFor::Symbol => 0,
                },
            }),
            _ => None,
        },
        has_one_answer: matches!(task, Task::Aspects(_)),
    }
}
