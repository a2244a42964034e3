//! Undo and redo.

use crate::viewer::rows::Zoom;
use crate::viewer::state::State;
use crate::viewer::state::sight::Sight;

impl State {
    /// Undoes, or does again.
    pub(super) fn travel(&mut self, redo: bool) {
        let now = self.moment();
        let Some(moment) = self.history.travel(now.clone(), redo) else {
            return;
        };
        let on_screen = (self.sight.focus, self.sight.pinned);
        self.look_as(moment.sight);
        self.comparing.take_back(moment.kept);
        let other_wish = moment.wish != now.wish;
        self.session.wish = moment.wish;
        let comes = match (&moment.file, &now.file) {
            (Some(file), on) => !on.as_ref().is_some_and(|on| on.is_same(file)),
            (None, on) => other_wish || on.is_some(),
        };
        if comes {
            // The heads are those of the episode that comes, not of the one still on screen.
            self.pending.coming = Some((self.sight.focus, self.sight.pinned));
            (self.sight.focus, self.sight.pinned) = on_screen;
            match moment.file {
                Some(file) => self.show(file),
                None => self.record(),
            }
        }
        self.compare_now();
    }

    fn look_as(&mut self, sight: Sight) {
        let before = std::mem::replace(&mut self.sight, sight).zoom;
        self.sight.zoom = Zoom {
            first: before.first,
            ..self.sight.zoom
        };
        if before.height.is_none() {
            self.open_window();
        }
    }
}
