//! Undo and redo of what a person has changed: what is asked for, and what is looked at. Time
//! is not part of it, nor speed and loop: to go back in time there is the timeline. Nor are theme, panels and
//! layout, and places that are merely visited, the start page, a dialog, rows scrolled to.

use std::sync::Arc;

use super::compare::Kept;
use super::episode::{Open, Wish};
use super::sight::Sight;
use crate::viewer::files::Shown;

/// Changes remembered.
const MOST: usize = 200;
/// Bytes of recordings that are held for nothing but undo.
const MOST_BYTES: usize = 1 << 30;

/// All that can be undone, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The episode asked for.
    pub wish: Wish,
    /// The trace from a file, when one was on screen.
    pub file: Option<Open>,
    /// The episode that it was compared with.
    pub kept: Option<Kept>,
    /// What was looked at, and how.
    pub sight: Sight,
}

impl Moment {
    fn kept_open(&self) -> Option<&Open> {
        self.kept.as_ref().map(|kept| &kept.open)
    }

    /// The recordings that it holds.
    fn recordings(&self) -> impl Iterator<Item = &Arc<Shown>> {
        let both = self.file.iter().chain(self.kept_open());
        both.map(|open| &open.shown)
    }
}

/// What has been, and what has been undone.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<Moment>,
    future: Vec<Moment>,
    /// True once something was changed by the gesture that is under way: what else it changes is the same change.
    changing: bool,
}

impl History {
    /// Something may have changed.
    pub fn note(&mut self, before: Moment, after: &Moment) {
        if before == *after {
            return;
        }
        self.future.clear();
        if !std::mem::replace(&mut self.changing, true) {
            self.past.push(before);
            let over = self.past.len().saturating_sub(MOST);
            self.past.drain(..over);
            self.let_go(after, MOST_BYTES);
        }
    }

    /// Lets go of the oldest moments while recordings that are not in use now take more than this.
    fn let_go(&mut self, now: &Moment, most: usize) {
        let mut seen: Vec<_> = now.recordings().map(Arc::as_ptr).collect();
        let mut bytes = 0;
        let fits = |moment: &Moment| {
            for shown in moment.recordings() {
                if !seen.contains(&Arc::as_ptr(shown)) {
                    seen.push(Arc::as_ptr(shown));
                    bytes += shown.bytes();
                }
            }
            bytes <= most
        };
        let kept = self.past.iter().rev().map(fits).take_while(|fits| *fits);
        let over = self.past.len() - kept.count();
        self.past.drain(..over);
    }

    /// Another gesture begins: a click, a drag, a key.
    pub fn begin_gesture(&mut self) {
        self.changing = false;
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
    use crate::viewer::fixture::{config, opened};

    fn at(size: usize) -> Moment {
        Moment {
            wish: Wish {
                size,
                ..Wish::default()
            },
            file: None,
            kept: None,
            sight: Sight::default(),
        }
    }

    /// With a trace from a file that takes some bytes.
    fn with_file(size: usize) -> Moment {
        Moment {
            file: Some(opened(config(), 1, 1)),
            ..at(size)
        }
    }

    #[test]
    fn the_oldest_episodes_are_let_go_when_they_take_much() {
        let moments: Vec<_> = (0..4).map(with_file).collect();
        let each = moments[0].file.as_ref().unwrap().shown.bytes();
        assert!(each > 1000, "{each}");
        let sizes = |history: &History| {
            let sizes = history.past.iter().map(|moment| moment.wish.size);
            sizes.collect::<Vec<_>>()
        };
        let mut history = History {
            past: moments.clone(),
            ..History::default()
        };
        // That of now is held anyway, and the same one twice takes no more than once.
        history.past.extend([moments[3].clone(), at(9)]);
        history.let_go(&moments[2], 3 * each);
        assert_eq!(sizes(&history), [0, 1, 2, 3, 3, 9]);
        history.let_go(&moments[2], 2 * each);
        assert_eq!(sizes(&history), [1, 2, 3, 3, 9]);
        history.let_go(&at(0), 2 * each - 1);
        assert_eq!(sizes(&history), [3, 3, 9]);
        history.let_go(&at(0), 0);
        assert_eq!(sizes(&history), [9]);
    }

    #[test]
    fn a_drag_is_one_change_and_a_change_ends_the_future() {
        let mut history = History::default();
        for size in 1..5 {
            history.note(at(size), &at(size + 1));
        }
        history.begin_gesture();
        history.note(at(5), &at(6));
        history.begin_gesture();
        history.note(at(6), &at(6));
        let size = |moment: Option<Moment>| moment.map(|moment| moment.wish.size);
        assert_eq!(size(history.travel(at(6), false)), Some(5));
        assert_eq!(size(history.travel(at(5), false)), Some(1));
        assert_eq!(size(history.travel(at(1), false)), None);
        assert_eq!(size(history.travel(at(1), true)), Some(5));
        assert!(history.can(true));
        history.begin_gesture();
        history.note(at(5), &at(9));
        assert!(!history.can(true) && history.can(false));
    }
}
