//! The opening: how it begins, goes on and ends.

use crate::viewer::state::{Kind, Mode, Opening, State, WindowLayout};

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
            self.apply_opening();
        } else {
            self.enter(Mode::Free);
        }
    }

    /// Plays the current step of the opening at its speed; the opening ends with the episode, in the same layout.
    pub(super) fn apply_opening(&mut self) {
        let Mode::Opening(opening) = &self.mode else {
            return;
        };
        let speed = opening.speed(self.player.step(), self.player.stages());
        self.player.set_speed(speed);
        match (self.player.stage_by_stage(), self.player.whole_steps()) {
            (true, true) => {
                // A step that is to be walked through begins with its first stage.
                self.player.seek_stage(0);
                self.player.seek_through(0.0);
            }
            (false, false) => self.player.show_whole_steps(),
            (true, false) | (false, true) => {}
        }
        if self.player.at_end() {
            self.take_over();
            if !self.is_on_phone() {
                let text = "Space plays the episode again. V shows it in all stages: whole memory, all steps.";
                self.toasts.add(Kind::Notice, text);
            }
        }
    }

    /// The person goes on from here.
    pub(super) fn take_over(&mut self) {
        if let Mode::Starting | Mode::Opening(_) = self.mode {
            self.enter(Mode::Free);
        }
    }
}
