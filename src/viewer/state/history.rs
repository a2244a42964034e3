//! Undo and redo of the user's changes: the request and the view. Time
//! is not part of it, nor speed and loop: to go back in time there is the timeline. Nor are theme, panels and
//! layout, and places that are merely visited, the start page, a dialog, rows scrolled to.

use super::{Baseline, EpisodeRequest, Open, ViewState};

/// Changes remembered: each may hold a trace from a file.
const MOST: usize = 50;

/// A state to undo to.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoState {
    /// The episode asked for.
    pub request: EpisodeRequest,
    /// The trace from a file, when one was on screen.
    pub file: Option<Open>,
    /// The episode that it was compared with.
    pub baseline: Option<Baseline>,
    /// The view.
    pub view: ViewState,
}

/// The states to undo and to redo.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<UndoState>,
    future: Vec<UndoState>,
    /// True once the current gesture has changed something: its other changes belong to the same undo step.
    changing: bool,
}

impl History {
    /// Something may have changed.
    pub fn record(&mut self, before: UndoState, after: &UndoState) {
        if before == *after {
            return;
        }
        self.future.clear();
        if !std::mem::replace(&mut self.changing, true) {
            self.past.push(before);
            let over = self.past.len().saturating_sub(MOST);
            self.past.drain(..over);
        }
    }

    /// Another gesture begins: a click, a drag, a key.
    pub fn begin_gesture(&mut self) {
        self.changing = false;
    }

    /// True when there is something to undo, or to redo.
    pub fn can(&self, redo: bool) -> bool {
        !if redo { &self.future } else { &self.past }.is_empty()
    }

    /// Returns the state to undo or redo to; `now` is the current one.
    pub fn undo_or_redo(&mut self, now: UndoState, redo: bool) -> Option<UndoState> {
        let (mut from, mut to) = (&mut self.past, &mut self.future);
        if redo {
            (from, to) = (to, from);
        }
        // Refused changes have left states equal to this one.
        let state = std::iter::from_fn(|| from.pop()).find(|state| *state != now)?;
        to.push(now);
        Some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(size: usize) -> UndoState {
        UndoState {
            request: EpisodeRequest {
                size,
                ..EpisodeRequest::default()
            },
            file: None,
            baseline: None,
            view: ViewState::default(),
        }
    }

    #[test]
    fn a_drag_is_one_change_and_a_change_ends_the_future() {
        let mut history = History::default();
        for size in 1..5 {
            history.record(at(size), &at(size + 1));
        }
        history.begin_gesture();
        history.record(at(5), &at(6));
        history.begin_gesture();
        history.record(at(6), &at(6));
        let size = |state: Option<UndoState>| state.map(|state| state.request.size);
        assert_eq!(size(history.undo_or_redo(at(6), false)), Some(5));
        assert_eq!(size(history.undo_or_redo(at(5), false)), Some(1));
        assert_eq!(size(history.undo_or_redo(at(1), false)), None);
        assert_eq!(size(history.undo_or_redo(at(1), true)), Some(5));
        assert!(history.can(true));
        history.begin_gesture();
        history.record(at(5), &at(9));
        assert!(!history.can(true) && history.can(false));
    }
}
