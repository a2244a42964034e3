//! The state of the window as data: no picture, no file, no key. It changes in one place,
//! [`State::apply`].

mod compare;
mod dialog;
mod episode;
mod file_access;
mod files;
mod history;
mod jobs;
mod layout;
mod learning;
mod lists;
mod messages;
mod mode;
mod parts;
mod report;
mod row_zoom;
mod same;
mod search;
mod session;
mod settings;
mod start;
mod step_zoom;
mod tour;
mod view_state;

pub use compare::{
    Baseline, CompareResult, ComparedFigure, Comparing, Differences, Pair, shown_at, stage_of,
};
pub use dialog::{Dialog, Subject};
pub use episode::{
    EpisodeRequest, ExternalEpisode, LONGEST, MOST_REPEATS, Open, OpenedFile, RecordingInputs,
    RequestedChange, drawn,
};
pub use file_access::{Answer, FetchCallback, Files, NoFiles, ProgressCallback};
pub use files::{FilePurpose, LoadedRun, Machine, RecordedEpisode, Verdict, file_name};
pub use history::{History, UndoState};
pub use jobs::{Context, Destination, PendingJob, Priority, Saved, Saving, TrainingAction};
pub use layout::WindowLayout;
pub use learning::{
    EndRequest, Hyperparameter, LiveTraining, NamedExperiment, Replacement, RunUpdates, RunView,
    SavedRun, ablated, landmarks,
};
pub use lists::Lists;
pub use messages::{Kind, Toast, Toasts};
pub use mode::{FAILURES, Failing, Failure, Mode, Opening};
pub use parts::Parts;
pub use report::{EPISODES, REMOVALS, Report, ReportFigure, ReportRow};
pub use row_zoom::RowZoom;
pub use same::SameArc;
pub use search::{Found, SEEDS, Search, condition};
pub use session::{SAMPLES, Session, own_request, size_label, sizes, stops};
pub use settings::{Appearance, Panels, SCALES, Settings, Theme};
pub use start::{InvalidStart, StartOptions, pinned};
pub use step_zoom::StepZoom;
pub use tour::{
    Act, TOUR_STEPS, Tour, TourState, TourTarget, Wait, best_link, best_query, numbered,
};
pub use view_state::{List, TOLERANCES, Target, ViewState};

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::expression::ExpressionError;
use crate::figure::Picture;
use crate::figure::facts::datum::Datum;
use crate::figure::facts::events::Event;
use crate::figure::facts::rows::Rows;
use crate::figure::narrate::failure::all_wrong;
use crate::figure::{Layer, peak};
use crate::io::recovery::RecoverableRun;
use crate::model::Trace;
use crate::player::{NORMAL, Player};
use crate::train::Recording;

/// An effect of a command outside the window.
pub type Effect = jobs::Effect<State>;
/// Something to do that may take a while.
pub type Job = jobs::Job<State>;
/// The outcome of a job.
pub type Outcome = jobs::Outcome<State>;

/// All that the window knows.
pub struct State {
    /// The open session.
    pub session: Session,
    /// Playback.
    pub player: Player,
    /// The selection and how it is shown.
    pub view: ViewState,
    /// The settings stored between sessions.
    pub settings: Settings,
    /// The other episode.
    pub comparing: Comparing,
    /// The arrangement that suits the episode on screen.
    pub suits: WindowLayout,
    /// The undo history.
    pub history: History,
    /// The mode: one at a time.
    pub mode: Mode,
    /// The value that a stroke in the input paints, and its last bit.
    pub stroke: Option<(bool, (usize, usize))>,
    /// The start page.
    pub welcome: Welcome,
    /// True while the pictures have the whole window, large, to be shown to others.
    pub presenting: bool,
    /// True inside another page: pictures and player only.
    pub embedded: bool,
    /// The chosen parts, inside another page.
    pub parts: Option<Parts>,
    /// The live training.
    pub learning: Option<LiveTraining>,
    /// Number of runs started.
    pub runs: u64,
    /// The pending end of training, while the user is asked whether to save.
    pub ending: Option<EndRequest>,
    /// Runs that a killed program left.
    pub recoverable: Vec<RecoverableRun>,
    /// The notifications.
    pub toasts: Toasts,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// The search for steps.
    pub search: Search,
    /// The last report on many episodes.
    pub report: Option<Report>,
    /// The lists of the episode.
    pub lists: Lists,
    /// The pending work.
    pub pending: Pending,
    /// The window as drawn.
    pub frame: Frame,
    /// True while the right panel lies over the pictures, in a window too narrow for it.
    pub drawer: bool,
    /// The folder of relative paths; empty where it is not known.
    pub folder: PathBuf,
    /// The effects to carry out, oldest first.
    pub effects: Vec<Effect>,
}

/// The pending work.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    /// True while the episode of [`Session::request`] is recorded to come on screen; its outcome ends the wait, whatever
    /// that is.
    pub waits: bool,
    /// True while a job that can be cancelled is in progress.
    pub busy: bool,
    /// The selected and the pinned head of that episode.
    pub coming: Option<(usize, Option<usize>)>,
    /// True when it plays as soon as it is there.
    pub play: bool,
    /// The part of the initial state that is not yet applied.
    pub begin: StartOptions,
}

/// The window as drawn.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The width, in points.
    pub width: f32,
    /// The height, in points.
    pub height: f32,
    /// The height of the rows, in points.
    pub room: f32,
    /// True while it is light on dark.
    pub dark: bool,
    /// True while the system is light on dark, where that is known.
    pub system: Option<bool>,
    /// True where it is to be closed as soon as no file is being written.
    pub closes: bool,
}

/// The state of the start page.
#[derive(Debug, Default)]
pub struct Welcome {
    /// True while it is on screen.
    pub shown: bool,
    /// True while it shows the attention mechanisms instead of all machines.
    pub family: bool,
    /// An episode of every machine, by its name, and of every failure, by its key, once it is recorded.
    pub pictures: HashMap<String, Option<Open>>,
    /// Machines that could not be fetched for their pictures, by name.
    pub out_of_reach: Vec<String>,
    /// Files opened in earlier runs, and whether they are still there.
    pub recent: Vec<(PathBuf, bool)>,
}

/// Below this width of the window, or this height, there is room for one picture and the transport alone, in points: a
/// phone, upright or turned.
const PHONE: [f32; 2] = [600.0, 480.0];
/// Below this width of the window the right panel makes room, in points.
pub const NARROW: f32 = 1100.0;
/// A close-up has room for numbers beside it from this width.
const WIDE: f32 = 1300.0;

impl State {
    /// Creates the initial state. `compare` is the file that the first episode is compared with.
    pub fn new(
        machines: Vec<Machine>,
        seed: Option<u64>,
        settings: Settings,
        begin: StartOptions,
        compare: Option<(PathBuf, OpenedFile)>,
    ) -> Self {
        Self {
            session: Session::new(machines, seed),
            player: Player::new(0, 1),
            view: ViewState::default(),
            comparing: Comparing::new(compare),
            suits: WindowLayout::default(),
            history: History::default(),
            mode: Mode::default(),
            stroke: None,
            welcome: Welcome::default(),
            presenting: begin.embed,
            embedded: begin.embed,
            parts: None,
            learning: None,
            runs: 0,
            ending: None,
            recoverable: Vec::new(),
            toasts: Toasts::default(),
            dialog: None,
            search: Search::default(),
            report: None,
            lists: Lists::default(),
            pending: Pending {
                play: !settings.look.still && begin.step.is_none() && !begin.family && !begin.embed,
                begin,
                ..Pending::default()
            },
            frame: Frame {
                width: f32::INFINITY,
                height: f32::INFINITY,
                room: 400.0,
                dark: true,
                system: None,
                closes: false,
            },
            settings,
            drawer: false,
            folder: PathBuf::new(),
            effects: Vec::new(),
        }
    }

    /// Returns the recorded episode on screen.
    pub fn recording(&self) -> Option<&Recording> {
        Some(&self.session.open.as_ref()?.shown.recording)
    }

    /// The pinned recorded value.
    pub fn pinned_value(&self) -> Option<Datum> {
        let (target, trace) = (self.view.selected?, self.trace()?);
        let is_it = |own: &Datum| Target::showing(*own, trace).is_some_and(|own| own.0 == target);
        let named = self.view.named.filter(is_it);
        named.or_else(|| target.datum(trace, self.view.focus))
    }

    /// The channel of the pinned output bit.
    pub fn pinned_bit(&self) -> Option<usize> {
        match self.view.selected {
            Some(Target::Value { id, column }) if id.picture == Picture::Output => Some(column),
            _ => None,
        }
    }

    /// True for an episode of a machine with wrong bits.
    pub fn has_wrong(&self) -> bool {
        let recording = self.recording().filter(|_| !self.shows_file());
        recording.is_some_and(|it| it.score.wrong > 0 && !it.lacks_target())
    }

    /// The wrong bit after the pinned one of this step, or else the first: its step and channel.
    pub fn next_wrong(&self) -> Option<(usize, usize)> {
        let recording = self.recording()?;
        let pinned = self.pinned_bit().map(|bit| (self.player.step(), bit));
        let mut later = all_wrong(recording).filter(|wrong| Some(*wrong) > pinned);
        let next = pinned.and_then(|_| later.next());
        next.or_else(|| all_wrong(recording).next())
    }

    /// The list that is shown, of the selected head in this step.
    pub fn list(&self) -> Arc<Vec<Event>> {
        let open = self.session.open.as_ref();
        let Some(open) = open.filter(|_| self.view.list != List::Events) else {
            return self
                .found()
                .map_or_else(Arc::default, |found| found.events.clone());
        };
        let (list, mut at) = (self.view.list, [self.view.focus, self.player.step()]);
        if at[0] >= self.heads() {
            return Arc::default();
        }
        let mut bit = self.pinned_bit();
        if list == List::Instructions {
            (at[1], bit) = (0, None);
        }
        let key = (open.serial, list, at, bit);
        self.lists.get(key, || Arc::new(open.listed(list, at, bit)))
    }

    /// Returns the trace of the machine on screen.
    pub fn trace(&self) -> Option<&Trace<f32>> {
        Some(&self.recording()?.trace)
    }

    /// Returns the request of the episode on screen; `None` for an opened trace.
    pub fn request_on_screen(&self) -> Option<&EpisodeRequest> {
        self.session.open.as_ref()?.request.as_ref()
    }

    /// True while a trace from a file is on screen.
    pub fn shows_file(&self) -> bool {
        self.session.open.as_ref().is_some_and(Open::is_of_a_file)
    }

    /// True while there is more to come from training.
    pub fn expects_news(&self) -> bool {
        let learning = self.learning.as_ref();
        learning.is_some_and(LiveTraining::expects_news)
    }

    /// True where more than a little training would be lost if it ended now.
    pub fn is_unsaved(&self) -> bool {
        self.learning.as_ref().is_some_and(LiveTraining::is_unsaved)
    }

    /// Number of heads of the machine on screen.
    pub fn heads(&self) -> usize {
        self.trace().map_or(0, |trace| trace.heads.len())
    }

    /// Lines of numbers over time of a head of it; from near, beside curves, and until numbers are asked for there are
    /// none.
    pub fn lines(&self) -> usize {
        let open = self.session.open.as_ref();
        let there = !matches!(self.layout(), WindowLayout::CloseUp | WindowLayout::Train);
        let asked = self.settings.panels.numbers;
        open.filter(|_| there && asked).map_or(0, Open::lines)
    }

    /// Both episodes, while there are two.
    pub fn pair(&self) -> Option<Pair<'_>> {
        self.comparing.pair(self.session.open.as_ref()?, &self.view)
    }

    /// The pair of episodes, while the comparison is on screen.
    pub fn pair_on_screen(&self) -> Option<Pair<'_>> {
        let here = self.layout() == WindowLayout::Compare;
        self.pair().filter(|_| here)
    }

    /// Returns the layer of the pictures: gradients where requested, and where values do not have to be seen in motion
    /// or side by side.
    pub fn layer(&self) -> Layer<'_> {
        match &self.session.open {
            Some(open) if self.layout().has_layers() => open.layer(),
            _ => None,
        }
    }

    /// The step, the stage and the head in which two episodes differ first, or a trace from its equations.
    pub fn first_difference(&self) -> Option<(usize, usize, Option<usize>)> {
        let (pair, open) = (self.pair(), self.session.open.as_ref()?);
        let first = match &pair {
            Some(pair) => pair.differences()?.values.first.as_ref()?,
            None => open.shown.verdict.get()?.first.as_ref()?,
        };
        let screen = pair.as_ref().map_or(open, |pair| pair.screen);
        let (stage, head) = stage_of(screen, &first.array);
        // A difference before the first step is shown as the first step begins.
        let (step, stage) = first.step.map_or((0, 0), |step| (step, stage));
        Some((step, stage, head))
    }

    /// Returns the current layout: a phone has room for one picture at a time.
    pub fn layout(&self) -> WindowLayout {
        let chosen = match self.settings.layout {
            Some(WindowLayout::Compare) if self.pair().is_none() => self.view.before,
            Some(WindowLayout::Train) if !self.shows_learner() => self.view.before,
            chosen => chosen,
        };
        match chosen.unwrap_or(self.suits) {
            WindowLayout::Train => WindowLayout::Train,
            _ if self.parts.is_some() => WindowLayout::Parts,
            _ if self.is_on_phone() => WindowLayout::CloseUp,
            chosen => chosen,
        }
    }

    /// The one after it.
    pub fn next_layout(&self) -> WindowLayout {
        let (learns, on_phone) = (self.shows_learner(), self.is_on_phone());
        match self.layout() {
            WindowLayout::CloseUp if on_phone && learns => WindowLayout::Train,
            WindowLayout::CloseUp => WindowLayout::Debug,
            WindowLayout::Debug => WindowLayout::Paper,
            WindowLayout::Paper => WindowLayout::PaperDown,
            WindowLayout::PaperDown if self.pair().is_some() => WindowLayout::Compare,
            WindowLayout::PaperDown | WindowLayout::Compare if learns => WindowLayout::Train,
            WindowLayout::PaperDown
            | WindowLayout::Compare
            | WindowLayout::Train
            | WindowLayout::Parts => WindowLayout::CloseUp,
        }
    }

    /// The speed at which this arrangement is usually played, in steps per second: from near every stage is followed.
    pub fn usual_speed(&self) -> f64 {
        match self.layout() {
            WindowLayout::CloseUp => self.player.followed(),
            _ => NORMAL,
        }
    }

    /// True while the stages of a step move on screen.
    pub fn moves(&self) -> bool {
        !self.settings.look.still && self.layout().has_stages()
    }

    /// True while the pictures have the whole window.
    pub fn is_folded(&self) -> bool {
        let near = self.layout() == WindowLayout::CloseUp && !self.is_on_phone();
        let there = self.session.open.is_some() && !self.welcome.shown;
        there && (self.presenting || (self.is_opening() && near))
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
            Panels::default()
        } else if self.layout() == WindowLayout::Train && self.frame.width < NARROW {
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
        self.frame.width < NARROW
            || matches!(self.layout(), WindowLayout::CloseUp | WindowLayout::Train)
    }

    /// True where numbers that are asked for stand beside a close-up, not over it.
    pub fn has_room_beside(&self) -> bool {
        self.layout() == WindowLayout::CloseUp && self.frame.width >= WIDE
    }

    /// Returns the step of the event a number of events away, if it exists.
    pub fn event(&self, by: isize) -> Option<usize> {
        let found = self.found()?;
        let events = found.events.iter().map(|event| event.step);
        self.step_of(events, by)
    }

    /// Returns where a condition holds in the episode on screen.
    ///
    /// # Errors
    /// The condition is wrong, or wrong for this machine.
    pub fn matches(&self, text: &str) -> Option<Result<Arc<Found>, ExpressionError>> {
        let open = self.session.open.as_ref()?;
        Some(self.search.matches(text, open))
    }

    /// Returns where the condition of the search holds; nowhere if it is wrong for this machine.
    pub fn found(&self) -> Option<Arc<Found>> {
        let found = self.matches(&self.search.condition)?;
        found.ok().or_else(|| self.matches("")?.ok())
    }

    /// Returns the step of the match a number of matches away; after the last comes the first.
    pub fn next_match(&self, by: isize) -> Option<usize> {
        let found = self.found()?;
        let steps = || found.steps.iter().copied();
        let end = if by > 0 {
            steps().next()
        } else {
            steps().next_back()
        };
        self.step_of(steps(), by).or(end)
    }

    /// Returns one of these steps, which ascend: a number of them after the current step, or before it.
    fn step_of(&self, steps: impl DoubleEndedIterator<Item = usize>, by: isize) -> Option<usize> {
        let (now, others) = (self.player.step(), by.unsigned_abs().checked_sub(1)?);
        if by > 0 {
            steps.filter(|&step| step > now).nth(others)
        } else {
            steps.rev().filter(|&step| step < now).nth(others)
        }
    }

    /// All rows that can be scrolled to.
    pub fn whole(&self) -> Option<Arc<Rows>> {
        let open = self.session.open.as_ref()?;
        let touched = self.view.touched_only;
        Some(if touched { &open.touched } else { &open.all }.clone())
    }

    /// Number of rows on screen, if not all.
    pub fn part(&self) -> Option<usize> {
        let (whole, room) = (self.whole()?, self.frame.room);
        self.view.row_zoom.count(&whole, room)
    }

    /// All rows that can be scrolled to, and those on screen.
    pub fn rows(&self) -> Option<(Arc<Rows>, Arc<Rows>)> {
        let whole = self.whole()?;
        Some(match self.part() {
            Some(count) => (
                whole.clone(),
                Arc::new(whole.part(self.view.row_zoom.first, count)),
            ),
            None => (whole.clone(), whole),
        })
    }

    /// True while the episode on screen is that of a machine that learns.
    pub fn shows_learner(&self) -> bool {
        let (learning, machine) = (self.learning.as_ref(), self.session.request.machine);
        learning.is_some_and(|learning| learning.machine == machine) && !self.shows_file()
    }

    /// True when all rows are on screen and can be read.
    pub fn fits(&self) -> bool {
        let fits = |whole: Arc<Rows>| self.view.row_zoom.fits(&whole, self.frame.room);
        self.whole().is_none_or(fits)
    }

    /// True while the rows on screen follow the selected head.
    pub fn follows(&self) -> bool {
        let follows = |whole: Arc<Rows>| self.view.row_zoom.follows(&whole, self.frame.room);
        self.whole().is_some_and(follows)
    }

    /// Returns the position among these rows of the selected head's peak.
    pub fn peak(&self, rows: &Rows) -> Option<usize> {
        let head = self.trace()?.heads.get(self.view.focus)?;
        let (row, _) = peak(head.weighting.row(self.player.step()))?;
        rows.index_of(row)
    }

    /// All that can be undone, as it is now.
    pub fn undo_state(&self) -> UndoState {
        let open = self.session.open.as_ref();
        UndoState {
            request: self.session.request.clone(),
            file: open.filter(|open| open.is_of_a_file()).cloned(),
            baseline: self.comparing.baseline.clone(),
            view: self.view.unscrolled(),
        }
    }
}
