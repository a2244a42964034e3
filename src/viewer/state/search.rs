//! The search for steps in which a condition holds.

use std::sync::Arc;

use super::Open;
use crate::analysis::expression::{Checked, Expression, ExpressionError};
use crate::figure::facts::events::Event;
use crate::figure::facts::memo::Memo;
use crate::model::Trace;

/// The number of seeds that are searched for the next episode with a match.
pub const SEEDS: usize = 100;

/// The condition that is searched for, and where it holds.
#[derive(Debug, Default)]
pub struct Search {
    /// The condition; empty for none.
    pub condition: String,
    /// By condition and episode.
    found: Memo<(String, u64), Result<Arc<Found>, ExpressionError>, 4>,
}

/// The matches of a condition in an episode.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The steps in which it holds, ascending.
    pub steps: Vec<usize>,
    /// The events of the episode, with those steps among them.
    pub events: Arc<Vec<Event>>,
}

/// Parses a condition for a machine, by a trace of it.
///
/// # Errors
/// The first part that is wrong.
pub fn condition(text: &str, trace: &Trace) -> Result<Checked, ExpressionError> {
    Expression::parse(text)?.condition(trace)
}

impl Found {
    fn of(text: &str, open: &Open) -> Result<Self, ExpressionError> {
        let recording = &open.shown.recording;
        let mut events = open.facts.events.clone();
        let steps = match text {
            "" => Vec::new(),
            _ => condition(text, &recording.trace)?
                .matches(recording)
                .collect(),
        };
        for &step in &steps {
            match events.binary_search_by_key(&step, |event| event.step) {
                Ok(at) => events[at].words.insert_str(0, "match, "),
                Err(at) => {
                    let words = "match".to_owned();
                    events.insert(at, Event { step, words });
                }
            }
        }
        let events = Arc::new(events);
        Ok(Self { steps, events })
    }
}

impl Search {
    /// Returns where a condition holds in an episode; computed once for each.
    ///
    /// # Errors
    /// The condition is wrong, or wrong for this machine.
    pub fn matches(&self, text: &str, open: &Open) -> Result<Arc<Found>, ExpressionError> {
        let key = (text.trim().to_owned(), open.serial);
        let find = || Found::of(text.trim(), open).map(Arc::new);
        self.found.get(key, find)
    }
}
