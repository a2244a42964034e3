//! The opening: how it begins, goes on and ends.

use crate::viewer::state::State;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::messages::Kind;
use crate::viewer::state::opening::Opening;

impl State {
    /// The first episode of a session that is played by itself is played with an opening, to whoever has arranged
    /// nothing yet.
    pub(super) fn begin_opening(&mut self) {
        let is_first = std::mem::take(&mut self.is_first);
        let Some(open) = &self.session.open else {
            return;
        };
        let alone =
            self.tour.is_none() && self.failing.is_none() && self.comparing.waiting.is_none();
        let near = self.arrangement() == Arrangement::CloseUp;
        let unarranged = self.settings.arrangement.is_none() && !self.presenting;
        if is_first && near && unarranged && alone && !open.is_of_a_file() {
            self.opening = Some(Opening::of(&open.shown.recording));
            self.direct(0.0);
        }
    }

    /// The opening says how the present step is seen; it has lasted for so many seconds more.
    pub(super) fn direct(&mut self, seconds: f32) {
        let Some(opening) = &mut self.opening else {
            return;
        };
        let scene = opening.scene(self.player.step(), self.player.stages());
        if scene.arrangement != Arrangement::CloseUp {
            if self.suits == Arrangement::CloseUp {
                let text = "The same episode, all at once: every stage, the whole memory, all steps. V changes the layout.";
                self.toasts.add(Kind::Notice, text);
            }
            opening.draw_back(seconds);
        }
        self.suits = scene.arrangement;
        self.player.set_speed(scene.speed);
        match (self.player.stage_by_stage(), self.player.whole_steps()) {
            (true, true) => {
                // A step that is to be walked through begins with its first stage.
                self.player.seek_stage(0);
                self.player.seek_through(0.0);
            }
            (false, false) => self.player.whole(),
            (true, false) | (false, true) => {}
        }
        if self.player.at_end() && opening.drawn_back() >= 1.0 {
            self.take_over();
        }
    }

    /// The person goes on from here.
    pub(super) fn take_over(&mut self) {
        if self.opening.take().is_some() {
            self.player.set_speed(self.usual_speed());
        }
    }
}
