//! An episode in which a machine fails: it plays up to its first wrong bit.

use crate::figure::narrate::failure::{Cause, first_wrong};
use crate::player::NORMAL;
use crate::viewer::state::{FAILURES, Failing, Mode, RowZoom, State, StepZoom, WindowLayout};

impl State {
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
        (self.view.step_zoom, self.view.row_zoom) = (StepZoom::default(), RowZoom::default());
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
