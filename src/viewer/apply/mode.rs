//! The modes: how one is left for another, the opening of the window, and episodes with wrong bits.

use crate::figure::narrate::failure::{Cause, first_wrong};
use crate::player::NORMAL;
use crate::viewer::state::{
    FAILURES, Failing, Kind, Mode, Opening, RowZoom, State, StepZoom, Tour, WindowLayout,
};

impl State {
    /// Leaves the mode for another. What lies over the pictures gives way to a guided one.
    pub fn enter(&mut self, mode: Mode) {
        match std::mem::replace(&mut self.mode, mode) {
            Mode::Starting | Mode::Free | Mode::Editing(..) => {}
            // The next stop looks at the same head.
            Mode::Tour(_) if self.tour().is_some() => {}
            Mode::Opening(_) => self.player.set_speed(self.usual_speed()),
            Mode::Tour(_) | Mode::Failure(_) => self.view.chosen = false,
        }
        if matches!(self.mode, Mode::Tour(_) | Mode::Failure(_)) {
            (self.dialog, self.welcome.shown, self.presenting) = (None, false, false);
            // Their card is there.
            self.settings.panels.left = true;
        }
    }

    /// True while the opening is played.
    pub fn is_opening(&self) -> bool {
        matches!(self.mode, Mode::Opening(_))
    }

    /// The tour, while it is taken.
    pub fn tour(&self) -> Option<&Tour> {
        if let Mode::Tour(tour) = &self.mode {
            Some(tour)
        } else {
            None
        }
    }

    /// The failure on screen.
    pub fn failing(&self) -> Option<Failing> {
        if let Mode::Failure(failing) = self.mode {
            Some(failing)
        } else {
            None
        }
    }

    /// The mark in the edited input: step and channel.
    pub fn mark(&self) -> Option<(usize, usize)> {
        match &self.mode {
            Mode::Editing(step, channel) => Some((*step, *channel)),
            Mode::Tour(tour) => tour.mark,
            Mode::Starting | Mode::Free | Mode::Opening(_) | Mode::Failure(_) => None,
        }
    }

    /// Moves the mark, or ends editing; the tour has a mark of its own.
    pub fn set_mark(&mut self, mark: Option<(usize, usize)>) {
        match (&mut self.mode, mark) {
            (Mode::Tour(tour), _) => tour.mark = mark,
            (Mode::Editing(..), None) => self.mode = Mode::Free,
            (_, Some((step, channel))) => self.enter(Mode::Editing(step, channel)),
            (_, None) => {}
        }
    }

    /// The first episode of a session that is played by itself is played with an opening, if the user has arranged
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
            self.player.set_speed(self.usual_speed());
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

    /// Asks for the episode of a failure, or leaves it at that.
    pub(super) fn show_failure(&mut self, which: Option<usize>) {
        let request = |which: usize| FAILURES.get(which)?.request(&self.session);
        let found = which.and_then(|which| Some((which, request(which)?)));
        let Some((which, request)) = found else {
            return self.enter(Mode::Free);
        };
        self.session.request = request;
        self.enter(Mode::Failure(Failing {
            which,
            wrong: None,
            met: false,
        }));
        self.record();
    }

    /// Switches to all pictures over time next to the stages of the step.
    pub(super) fn see_all(&mut self) {
        self.suits = WindowLayout::Debug;
        if self.settings.layout.is_some() {
            self.settings.layout = Some(self.suits);
        }
    }

    /// An episode has come on screen: that of a failure is played up to its first wrong bit, another one ends it.
    pub(super) fn begin_failure(&mut self) {
        let Some(failing) = self.failing() else {
            return;
        };
        let request = failing.of().request(&self.session);
        let is_it = self.session.open.is_some() && self.request_on_screen() == request.as_ref();
        let recording = self.recording().filter(|_| is_it);
        let wrong = recording.and_then(|recording| Some((recording, first_wrong(recording)?)));
        let Some((recording, wrong)) = wrong else {
            return self.enter(Mode::Free);
        };
        let step = wrong.0;
        let head = Cause::of(recording, step).and_then(Cause::head);
        self.mode = Mode::Failure(Failing {
            wrong: Some(wrong),
            ..failing
        });
        self.see_all();
        // The whole of it, however low its rows are.
        (self.view.step_zoom, self.view.row_zoom) = (StepZoom::default(), RowZoom::ALL);
        head.into_iter().for_each(|head| self.select_head(head));
        self.player.show_whole_steps();
        if self.settings.look.still {
            self.player.pause();
            self.player.seek(step);
        } else {
            self.player.set_range(None);
            self.player.set_speed(Failing::speed(step, NORMAL));
            self.player.seek(0);
            self.player.play();
        }
    }

    /// Playback stops at the first wrong bit.
    pub(super) fn watch_failure(&mut self) {
        let Mode::Failure(failing) = &mut self.mode else {
            return;
        };
        let wrong = failing.wrong.filter(|_| !failing.met);
        let Some((step, _)) = wrong.filter(|wrong| self.player.step() >= wrong.0) else {
            return;
        };
        failing.met = true;
        if self.player.playing() {
            self.player.pause();
            self.player.seek(step);
            self.player.show_whole_steps();
            self.player.set_speed(NORMAL);
        }
    }
}
