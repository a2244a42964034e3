//! The tour: how it goes on.

use crate::figure::Stage;
use crate::viewer::command::{Command, Look, Play, Tour as About};
use crate::viewer::state::State;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::tour::{STOPS, Tour};
use crate::viewer::story;

/// The stop at which the episode begins anew.
const LASTS: usize = 8;

/// What a person did, as far as the tour asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A step on or back.
    Step,
    /// A click in a picture.
    Click,
    /// Anything else.
    Other,
}

impl Deed {
    /// None while the tour waits for nothing.
    pub(super) fn of(tour: Tour, command: &Command) -> Option<Self> {
        let deed = match command {
            Command::Play(Play::Step(_)) => Self::Step,
            Command::Play(Play::Seek(_)) | Command::Look(Look::Select(_)) => Self::Click,
            // Nobody did that, or it changes nothing.
            Command::File(_) | Command::Ask(_) | Command::Play(Play::TakeOver) => return None,
            news if news.is_news() => return None,
            _ => Self::Other,
        };
        (!tour.met).then_some(deed)
    }
}

impl State {
    /// Commands of the tour.
    pub(super) fn guide(&mut self, about: About) {
        self.settings.greeted = true;
        match about {
            About::Start => self.start_tour(),
            About::Next => {
                let next = self.tour.map_or(0, |tour| tour.stop + 1);
                self.settings.stop = next % STOPS.len();
                self.tour = None;
                if next < STOPS.len() {
                    self.go_to_stop();
                }
            }
            About::Leave => self.tour = None,
            About::Greet => {}
        }
    }

    fn start_tour(&mut self) {
        (self.dialog, self.welcome.shown, self.sight.selected) = (None, false, None);
        self.presenting = false;
        // Its stops point at what this arrangement shows.
        self.settings.arrangement = Some(Arrangement::Debug);
        self.settings.panels.left = true;
        self.settings.panels.timeline = true;
        let with_heads = self.trace().is_some_and(|trace| !trace.heads.is_empty());
        if !with_heads && let Some(index) = self.session.first_with_heads() {
            self.session.choose(index);
            self.record();
        }
        self.go_to_stop();
    }

    /// The stop that is remembered.
    fn go_to_stop(&mut self) {
        let tour = Tour {
            stop: self.settings.stop.min(STOPS.len() - 1),
            met: false,
        };
        self.tour = Some(tour);
        self.pending.play = false;
        if let Some(open) = &self.session.open {
            tour.prepare(&mut self.player, &open.stages);
        }
    }

    /// Something was done: it may be what the tour waits for.
    pub(super) fn tell_tour(&mut self, deed: Deed) {
        let (Some(tour), Some(open)) = (&mut self.tour, &self.session.open) else {
            return;
        };
        let player = &mut self.player;
        let reached = |wanted| open.stages.reached(player.stage(), wanted, None);
        // What the machine leaves out nobody can wait for.
        let lacks = |wanted| open.stages.place(wanted, None).is_none();
        let stage = |wanted| lacks(wanted) || (!player.whole_steps() && reached(wanted));
        tour.met |= match tour.stop {
            0 => player.playing(),
            1 => deed == Deed::Step,
            2 => deed == Deed::Click,
            3 => stage(Stage::Content),
            4 => stage(Stage::Gate),
            5 => stage(Stage::Shift),
            6 => stage(Stage::Sharpen),
            7 => stage(Stage::Add),
            LASTS => player.step() == 0,
            _ => self.welcome.shown || story::attends_otherwise(&open.shown.recording.trace),
        };
        if tour.met && tour.stop == LASTS {
            // The memory as the first step finds it.
            player.seek(0);
            player.seek_stage(0);
        }
    }
}
