//! The opening: how it begins, goes on and ends.

use crate::viewer::state::State;
use crate::viewer::state::layout::WindowLayout;
use crate::viewer::state::messages::Kind;
use crate::viewer::state::mode::Mode;
use crate::viewer::state::opening::Opening;

impl State {
    /// The first episode of a session that is played by itself is played with an opening, to whoever has arranged
    /// nothing yet.
    pub(super) fn begin_opening(&mut self) {
        let (Mode::Starting, Some(open)) = (&self.mode, &self.session.open) else {
            return;
        };
        let alone = self.comparing.waiting.is_none();
        let near = self.layout() == WindowLayout::CloseUp;
        let unarranged = self.settings.layout.is_none() && !self.presenting;
        if near && unarranged && alone && !open.is_of_a_file() {
            let opening = Opening::of(&open.shown.recording);
            self.enter(Mode::Opening(opening));
            self.apply_opening(0.0);
        } else {
            self.enter(Mode::Free);
        }
    }

    /// Advances the opening by a number of seconds and applies its view.
    pub(super) fn apply_opening(&mut self, seconds: f32) {
        let Mode::Opening(opening) = &mut self.mode else {
            return;
        };
        let scene = opening.scene(self.player.step(), self.player.stages());
        if scene.layout != WindowLayout::CloseUp {
            if self.suits == WindowLayout::CloseUp {
                let text = "The same episode in all stages: whole memory, all steps. V changes the layout.";
                self.toasts.add(Kind::Notice, text);
            }
            opening.draw_back(seconds);
        }
        self.suits = scene.layout;
        self.player.set_speed(scene.speed);
        match (self.player.stage_by_stage(), self.player.whole_steps()) {
            (true, true) => {
                // A step that is to be walked through begins with its first stage.
                self.player.seek_stage(0);
                self.player.seek_through(0.0);
            }
            (false, false) => self.player.show_whole_steps(),
            (true, false) | (false, true) => {}
        }
        let has_drawn_back = opening.drawn_back() >= 1.0;
        if self.player.at_end() && has_drawn_back {
            self.take_over();
        }
    }

    /// The person goes on from here.
    pub(super) fn take_over(&mut self) {
        if let Mode::Starting | Mode::Opening(_) = self.mode {
            self.enter(Mode::Free);
        }
    }
}
