//! Undo and redo of what a person has changed: what is asked for and what is looked at. Time is not part
//! of it: to go back in time there is the timeline.

use std::sync::Arc;

use super::inspect::Target;
use super::session::{Open, Wish};
use super::settings::Panels;

/// Changes remembered.
const MOST: usize = 200;

/// All that can be undone, at one moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The episode asked for.
    pub wish: Wish,
    /// The trace from a file, when one was on screen.
    pub file: Option<Open>,
    /// The head looked at.
    pub focus: usize,
    /// True while only touched rows were shown.
    pub touched_only: bool,
    /// What was kept in view.
    pub selected: Option<Target>,
    /// The panels.
    pub panels: Panels,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        let file = match (&self.file, &other.file) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a.shown, &b.shown),
            (a, b) => a.is_none() && b.is_none(),
        };
        file && self.wish == other.wish
            && self.focus == other.focus
            && self.touched_only == other.touched_only
            && self.selected == other.selected
            && self.panels == other.panels
    }
}

/// What has been, and what has been undone.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<Moment>,
    future: Vec<Moment>,
    /// True while the changes of one drag are one change.
    dragging: bool,
}

impl History {
    /// Something may have changed; `pressed` while the pointer is down.
    pub fn note(&mut self, before: Moment, after: &Moment, pressed: bool) {
        if before == *after {
            return;
        }
        self.future.clear();
        if !(pressed && self.dragging) {
            self.past.push(before);
            if self.past.len() > MOST {
                self.past.remove(0);
            }
        }
        self.dragging = pressed;
    }

    /// The pointer was let go.
    pub fn released(&mut self) {
        self.dragging = false;
    }

    /// True when there is something to undo, or to redo.
    pub fn can(&self, redo: bool) -> bool {
        !if redo { &self.future } else { &self.past }.is_empty()
    }

    /// The moment to go back to, or on to; `now` is where from.
    pub fn travel(&mut self, now: Moment, redo: bool) -> Option<Moment> {
        let (from, to) = if redo {
            (&mut self.future, &mut self.past)
        } else {
            (&mut self.past, &mut self.future)
        };
        // What was refused since has left moments that are like this one.
        let moment = loop {
            let moment = from.pop()?;
            if moment != now {
                break moment;
            }
        };
        to.push(now);
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(size: usize) -> Moment {
        Moment {
            wish: Wish {
                machine: 0,
                size,
                repeats: 1,
                seed: 1,
                rows: 8,
                flipped: Vec::new(),
            },
            file: None,
            focus: 0,
            touched_only: true,
            selected: None,
            panels: Panels::default(),
        }
    }

    #[test]
    fn a_drag_is_one_change_and_a_change_ends_the_future() {
        let mut history = History::default();
        for size in 1..5 {
            history.note(at(size), &at(size + 1), true);
        }
        history.released();
        history.note(at(5), &at(6), false);
        history.note(at(6), &at(6), false);
        let size = |moment: Option<Moment>| moment.map(|moment| moment.wish.size);
        assert_eq!(size(history.travel(at(6), false)), Some(5));
        assert_eq!(size(history.travel(at(5), false)), Some(1));
        assert_eq!(size(history.travel(at(1), false)), None);
        assert_eq!(size(history.travel(at(1), true)), Some(5));
        assert!(history.can(true));
        history.note(at(5), &at(9), false);
        assert!(!history.can(true) && history.can(false));
    }
}
