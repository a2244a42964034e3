//! Changes by hand: a changed bit or symbol of the input is another episode of the same machine; undo and redo.

use crate::viewer::command::Edit;
use crate::viewer::precondition::Precondition;
use crate::viewer::state::{Kind, State, ViewState};

impl State {
    /// Commands about changes by hand.
    pub(super) fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Toggle => self.toggle_edit(),
            Edit::MoveMark(steps, channels) => self.move_mark(steps, channels),
            Edit::FlipMarked => {
                if let Some(mark) = self.mark() {
                    self.flip(mark);
                }
            }
            Edit::Flip(step, channel) => self.flip((step, channel)),
            Edit::Paint(step, channel) => self.paint((step, channel)),
            Edit::EndStroke => self.stroke = None,
            Edit::Intervene(text) => self.intervene(text),
            Edit::ToggleIntervention(at) => self.change_branch(|all| {
                let of = all.get_mut(at).into_iter();
                of.for_each(|change| change.is_on = !change.is_on);
            }),
            Edit::EndIntervention(at) => self.change_branch(|all| {
                if at < all.len() {
                    all.remove(at);
                }
            }),
            Edit::EndBranch => self.change_branch(Vec::clear),
            Edit::Undo => self.undo_or_redo(false),
            Edit::Redo => self.undo_or_redo(true),
        }
    }

    /// A stroke begins at a bit, which is flipped, or comes to another one. Where the task shows no bits there
    /// is nothing to paint.
    fn paint(&mut self, to: (usize, usize)) {
        let Some((on, from)) = self.stroke else {
            // On what is no bit it makes nothing but what it comes to.
            let on = self.session.bit(to.0, to.1).is_none_or(|bit| !bit);
            self.stroke = Some((on, to));
            return self.flip(to);
        };
        // Another symbol may change the number of steps, and so what is under the pointer.
        if self.chooses_symbols() {
            return;
        }
        self.stroke = Some((on, to));
        let mut changed = false;
        for (step, channel) in between(from, to) {
            if self.session.bit(step, channel) == Some(!on) {
                changed |= self.session.flip(step, channel);
            }
            self.move_mark_to((step, channel));
        }
        if changed {
            self.leave_branch();
            self.record();
        }
    }

    fn chooses_symbols(&self) -> bool {
        self.recording().is_some_and(|of| of.task.chooses_symbols())
    }

    fn toggle_edit(&mut self) {
        if self.mark().is_some() {
            return self.set_mark(None);
        }
        if self.shows_file() {
            let text =
                "A recorded trace cannot be changed. Choose a machine to record another episode.";
            self.toasts.add(Kind::Notice, text);
        } else if let Some(reason) = self.lacks(Precondition::Editable) {
            let text = format!("The input cannot be changed: {reason}.");
            self.toasts.add(Kind::Notice, text);
        } else if self.session.open.is_some() {
            self.player.pause();
            self.set_mark(Some((self.player.step(), 0)));
        }
    }

    fn move_mark(&mut self, steps: isize, channels: isize) {
        let (Some(mark), Some(recording)) = (self.mark(), self.recording()) else {
            return;
        };
        let moved = |at: usize, by: isize, count: usize| {
            at.saturating_add_signed(by).min(count.saturating_sub(1))
        };
        let step = moved(mark.0, steps, recording.trace.steps());
        let channel = moved(mark.1, channels, recording.task.editable());
        self.set_mark(Some((step, channel)));
        // The play-head goes with it: what the machine does with this bit is beside it.
        self.player.seek(step);
    }

    /// Moves the mark, if there is one.
    fn move_mark_to(&mut self, to: (usize, usize)) {
        self.set_mark(self.mark().map(|_| to));
    }

    fn flip(&mut self, (step, channel): (usize, usize)) {
        self.move_mark_to((step, channel));
        if self.session.flip(step, channel) {
            self.leave_branch();
            self.record();
        } else {
            let parts = if self.chooses_symbols() {
                "source symbols"
            } else {
                "input bits"
            };
            let text = format!("Only {parts} of the task can be changed.");
            self.toasts.add(Kind::Notice, text);
        }
    }

    /// Undoes, or does again.
    pub(super) fn undo_or_redo(&mut self, redo: bool) {
        let now = self.undo_state();
        let Some(undo_state) = self.history.undo_or_redo(now.clone(), redo) else {
            return;
        };
        let on_screen = (self.view.focus, self.view.pinned);
        self.restore_view(undo_state.view);
        self.comparing.take_back(undo_state.baseline);
        let other_request = undo_state.request != now.request;
        self.session.request = undo_state.request;
        let comes = match (&undo_state.file, &now.file) {
            (Some(file), on) => !on.as_ref().is_some_and(|on| on.is_same(file)),
            (None, on) => other_request || on.is_some(),
        };
        if comes {
            // The heads are those of the episode that comes, not of the one still on screen.
            self.pending.coming = Some((self.view.focus, self.view.pinned));
            (self.view.focus, self.view.pinned) = on_screen;
            match undo_state.file {
                Some(file) => self.show(file),
                None => self.record(),
            }
        } else if undo_state.file.is_some() {
            // The trace stays on screen: no episode comes in its place.
            (self.pending.waits, self.pending.coming) = (false, None);
        }
        self.compare_now();
    }

    fn restore_view(&mut self, view: ViewState) {
        let before = std::mem::replace(&mut self.view, view);
        self.view.row_zoom.first = before.row_zoom.first;
        self.view.before = before.before;
        if before.row_zoom.height.is_none() {
            self.open_window();
        }
    }
}

/// The cells on the way from one to another, without the first: a fast pointer leaves no gaps.
fn between(from: (usize, usize), to: (usize, usize)) -> Vec<(usize, usize)> {
    let count = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
    let at = |from: usize, to: usize, index: usize| {
        let share = index as f32 / count as f32;
        (from as f32 + (to as f32 - from as f32) * share).round() as usize
    };
    let cells = (1..=count).map(|index| (at(from.0, to.0, index), at(from.1, to.1, index)));
    cells.collect()
}
