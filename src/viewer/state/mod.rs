//! The state of the window as data: no picture, no file, no key. It changes in one place,
//! [`State::apply`].

pub mod arrangement;
pub mod beginning;
pub mod compare;
pub mod dialog;
pub mod episode;
pub mod events;
pub mod gallery;
pub mod history;
pub mod learning;
pub mod messages;
pub mod opening;
pub mod session;
pub mod settings;
pub mod sight;
pub mod target;
pub mod tour;
pub mod welcome;
pub mod work;

use std::path::PathBuf;
use std::sync::Arc;

use self::arrangement::Arrangement;
use self::beginning::Beginning;
use self::compare::{Comparing, Pair};
use self::dialog::Dialog;
use self::episode::Open;
use self::gallery::Failing;
use self::history::{History, Moment};
use self::learning::{Ending, Learning};
use self::messages::Toasts;
use self::opening::Opening;
use self::session::Session;
use self::settings::{Panels, Settings};
use self::sight::Sight;
use self::tour::Tour;
use self::welcome::Welcome;
use self::work::Effect;
use super::files::{Machine, Opened};
use super::rows::Rows;
use crate::figure::{Layer, peak};
use crate::model::Trace;
use crate::player::{NORMAL, Player};

/// All that the window knows.
#[derive(Debug)]
pub struct State {
    /// What is open.
    pub session: Session,
    /// Playback.
    pub player: Player,
    /// What is looked at, and how.
    pub sight: Sight,
    /// What is remembered between runs.
    pub settings: Settings,
    /// The other episode.
    pub comparing: Comparing,
    /// The arrangement that suits the episode on screen.
    pub suits: Arrangement,
    /// What can be undone.
    pub history: History,
    /// The input, edited by hand.
    pub editing: Editing,
    /// The start page.
    pub welcome: Welcome,
    /// True until an opening was played, or could have been.
    pub is_first: bool,
    /// The opening, while it is played.
    pub opening: Option<Opening>,
    /// True while the pictures have the whole window, large, to be shown to others.
    pub presenting: bool,
    /// What learns.
    pub learning: Option<Learning>,
    /// How many runs have begun.
    pub runs: u64,
    /// What would end it, while the person is asked what becomes of it.
    pub ending: Option<Ending>,
    /// A failure that is shown.
    pub failing: Option<Failing>,
    /// The tour, while it is taken.
    pub tour: Option<Tour>,
    /// What is said.
    pub toasts: Toasts,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// What is under way.
    pub pending: Pending,
    /// The window as it is drawn.
    pub frame: Frame,
    /// True while the right panel lies over the pictures, in a window too narrow for it.
    pub drawer: bool,
    /// The folder of relative paths; empty where it is not known.
    pub folder: PathBuf,
    /// What is to be done outside, oldest first.
    pub effects: Vec<Effect>,
}

/// The input while it is edited by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Editing {
    /// The mark: step and channel.
    pub mark: Option<(usize, usize)>,
    /// What a stroke of the pointer paints, and the bit that it has come to.
    pub stroke: Option<(bool, (usize, usize))>,
}

/// What is under way.
#[derive(Clone, Debug)]
pub struct Pending {
    /// True while an episode is asked for that is not on screen yet.
    pub asked: bool,
    /// True while something is under way that can be given up.
    pub busy: bool,
    /// The head looked at and the one pinned, for that episode.
    pub coming: Option<(usize, Option<usize>)>,
    /// True when it plays as soon as it is there.
    pub play: bool,
    /// What the window is to begin with, as far as that has not happened yet.
    pub begin: Beginning,
}

/// The window as it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its width, in points.
    pub width: f32,
    /// Its height, in points.
    pub height: f32,
    /// The height of the rows, in points.
    pub room: f32,
    /// True while it is light on dark.
    pub dark: bool,
    /// The same of the system, where that is known.
    pub system: Option<bool>,
}

/// Below this width of the window, or this height, there is room for one picture and the transport alone, in points: a
/// phone, upright or turned.
const PHONE: [f32; 2] = [600.0, 480.0];
/// Below this width of the window the right panel makes room, in points.
pub const NARROW: f32 = 1100.0;

impl State {
    /// Before anything was done. `compare` is what the first episode is compared with.
    pub fn new(
        machines: Vec<Machine>,
        seed: Option<u64>,
        settings: Settings,
        begin: Beginning,
        compare: Option<(PathBuf, Opened)>,
    ) -> Self {
        Self {
            session: Session::new(machines, seed),
            player: Player::new(0, 1),
            sight: Sight::default(),
            comparing: Comparing::new(compare),
            suits: Arrangement::default(),
            history: History::default(),
            editing: Editing::default(),
            welcome: Welcome::default(),
            is_first: true,
            opening: None,
            presenting: false,
            learning: None,
            runs: 0,
            ending: None,
            failing: None,
            tour: None,
            toasts: Toasts::default(),
            dialog: None,
            pending: Pending {
                asked: false,
                busy: false,
                coming: None,
                play: !settings.look.still && begin.step.is_none(),
                begin,
            },
            frame: Frame {
                width: f32::INFINITY,
                height: f32::INFINITY,
                room: 400.0,
                dark: true,
                system: None,
            },
            settings,
            drawer: false,
            folder: PathBuf::new(),
            effects: Vec::new(),
        }
    }

    /// What the machine on screen computed.
    pub fn trace(&self) -> Option<&Trace<f32>> {
        let open = self.session.open.as_ref()?;
        Some(&open.shown.recording.trace)
    }

    /// Number of heads of the machine on screen.
    pub fn heads(&self) -> usize {
        self.trace().map_or(0, |trace| trace.heads.len())
    }

    /// Lines of numbers over time of a head of it; from near, beside curves, and until numbers are asked for there are
    /// none.
    pub fn lines(&self) -> usize {
        let open = self.session.open.as_ref();
        let there = !matches!(
            self.arrangement(),
            Arrangement::CloseUp | Arrangement::Train
        );
        let asked = self.settings.panels.numbers;
        open.filter(|_| there && asked).map_or(0, Open::lines)
    }

    /// Both episodes, while there are two.
    pub fn pair(&self) -> Option<Pair<'_>> {
        let open = self.session.open.as_ref()?;
        self.comparing
            .pair(open, self.sight.tolerance, self.sight.difference)
    }

    /// The same, while that is what is on screen.
    pub fn pair_on_screen(&self) -> Option<Pair<'_>> {
        let here = self.arrangement() == Arrangement::Compare;
        self.pair().filter(|_| here)
    }

    /// What the pictures show: derivatives where they were asked for, and where values do not have to be seen coming about
    /// or side by side.
    pub fn layer(&self) -> Layer<'_> {
        let open = self.session.open.as_ref();
        let open = open.filter(|_| self.arrangement().has_layers());
        open.map_or(Layer::Values, Open::layer)
    }

    /// The step, the stage and the head in which both differ first.
    pub fn first_difference(&self) -> Option<(usize, usize, Option<usize>)> {
        let pair = self.pair()?;
        let first = pair.differences()?.values.first.as_ref()?;
        let (stage, head) = compare::moment_of(&pair, &first.array);
        // What differs before the first step is there when that begins.
        let (step, stage) = first.step.map_or((0, 0), |step| (step, stage));
        Some((step, stage, head))
    }

    /// How the pictures are arranged now: on a phone one at a time has room.
    pub fn arrangement(&self) -> Arrangement {
        let chosen = match self.settings.arrangement {
            Some(Arrangement::Compare) if self.pair().is_none() => self.sight.before,
            Some(Arrangement::Train) if !self.shows_learner() => self.sight.before,
            chosen => chosen,
        };
        match chosen.unwrap_or(self.suits) {
            Arrangement::Train => Arrangement::Train,
            _ if self.is_on_phone() => Arrangement::CloseUp,
            chosen => chosen,
        }
    }

    /// The one after it.
    pub fn next_arrangement(&self) -> Arrangement {
        let learns = self.shows_learner();
        match self.arrangement() {
            Arrangement::CloseUp if self.is_on_phone() && learns => Arrangement::Train,
            now => now.next(self.pair().is_some(), learns),
        }
    }

    /// The speed at which this arrangement is usually played, in steps per second: from near every stage is followed.
    pub fn usual_speed(&self) -> f64 {
        if self.arrangement() == Arrangement::CloseUp {
            self.player.followed()
        } else {
            NORMAL
        }
    }

    /// True while the stages of a step move on screen.
    pub fn moves(&self) -> bool {
        !self.settings.look.still && self.arrangement().has_stages()
    }

    /// True while the pictures have the whole window.
    pub fn is_folded(&self) -> bool {
        let near = self.opening.is_some() && self.arrangement() == Arrangement::CloseUp;
        let near = near && !self.is_on_phone();
        let there = self.session.open.is_some() && !self.welcome.shown;
        there && (self.presenting || near)
    }

    /// True in a window as small as a phone.
    pub fn is_on_phone(&self) -> bool {
        let [width, height] = PHONE;
        self.frame.width < width || self.frame.height < height
    }

    /// The panels around the pictures.
    pub fn panels(&self) -> Panels {
        let panels = self.settings.panels;
        if self.is_folded() || self.is_on_phone() {
            Panels::NONE
        } else if self.arrangement() == Arrangement::Train && self.frame.width < NARROW {
            // Curves and episode need all there is.
            Panels {
                left: false,
                timeline: false,
                ..panels
            }
        } else {
            panels
        }
    }

    /// True while the numbers have no place of their own beside the pictures: in a narrow window, from near, or
    /// beside curves.
    pub fn is_narrow(&self) -> bool {
        let arrangement = self.arrangement();
        let full = matches!(arrangement, Arrangement::CloseUp | Arrangement::Train);
        self.frame.width < NARROW || full
    }

    /// The step of the event so many on, or back, if there is one.
    pub fn event(&self, by: isize) -> Option<usize> {
        let (open, step) = (self.session.open.as_ref()?, self.player.step());
        let events = open.events.iter().map(|event| event.step);
        let others = by.unsigned_abs().checked_sub(1)?;
        if by > 0 {
            events.filter(|&event| event > step).nth(others)
        } else {
            events.rev().filter(|&event| event < step).nth(others)
        }
    }

    /// All rows that can be scrolled to.
    pub fn whole(&self) -> Option<Arc<Rows>> {
        let open = self.session.open.as_ref()?;
        let touched = self.sight.touched_only;
        Some(if touched { &open.touched } else { &open.all }.clone())
    }

    /// How many of them are on screen, if not all.
    pub fn part(&self) -> Option<usize> {
        self.sight
            .zoom
            .count(self.whole()?.as_ref(), self.frame.room)
    }

    /// All rows that can be scrolled to, and those on screen.
    pub fn rows(&self) -> Option<(Arc<Rows>, Arc<Rows>)> {
        let whole = self.whole()?;
        let count = self.sight.zoom.count(&whole, self.frame.room);
        let part = count.map(|count| Arc::new(whole.part(self.sight.zoom.first, count)));
        Some((whole.clone(), part.unwrap_or(whole)))
    }

    /// True while the episode on screen is that of a machine that learns.
    pub fn shows_learner(&self) -> bool {
        let learning = self.learning.as_ref();
        let of_a_file = self.session.open.as_ref().is_some_and(Open::is_of_a_file);
        let machine = self.session.wish.machine;
        learning.is_some_and(|learning| learning.machine == machine) && !of_a_file
    }

    /// True when all rows are on screen and can be read.
    pub fn fits(&self) -> bool {
        let whole = self.whole();
        whole.is_none_or(|whole| self.sight.zoom.fits(&whole, self.frame.room))
    }

    /// The place among these rows of the one where the head looked at has its peak.
    pub fn peak(&self, rows: &Rows) -> Option<usize> {
        let head = self.trace()?.heads.get(self.sight.focus)?;
        let (row, _) = peak(head.weighting.row(self.player.step()))?;
        rows.index_of(row)
    }

    /// All that can be undone, as it is now.
    pub fn moment(&self) -> Moment {
        let open = self.session.open.as_ref();
        Moment {
            wish: self.session.wish.clone(),
            file: open.filter(|open| open.is_of_a_file()).cloned(),
            kept: self.comparing.kept.clone(),
            sight: self.sight.unscrolled(),
        }
    }
}
