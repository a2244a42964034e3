//! Undo and redo.

use crate::viewer::state::{State, ViewState};

impl State {
    /// Undoes, or does again.
    pub(super) fn travel(&mut self, redo: bool) {
        let now = self.undo_state();
        let Some(undo_state) = self.history.travel(now.clone(), redo) else {
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
        }
        self.compare_now();
    }

    fn restore_view(&mut self, view: ViewState) {
        let before = std::mem::replace(&mut self.view, view).row_zoom;
        self.view.row_zoom.first = before.first;
        if before.height.is_none() {
            self.open_window();
        }
    }
}
