//! Everything that can be asked of the window, by what it concerns. Keys, buttons, dialogs, the worker and
//! tests speak the same commands; one place applies them ([`super::State::apply`]).

use std::path::PathBuf;

use super::files::Aim;
use super::inspect::Form;
pub use super::state::dialog::Subject;
pub use super::state::learning::Instead;
use super::state::learning::Told;
use super::state::settings::Theme;
use super::state::target::Target;
use super::state::work::Outcome;
use crate::figure::Map;
use crate::model::Sampling;
use crate::train::Quantity;

/// A wish of the person in front of the window, or news for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// About time.
    Play(Play),
    /// About what is looked at, and how.
    Look(Look),
    /// About the rows on screen.
    Rows(Rows),
    /// About the steps on screen.
    Steps(Steps),
    /// About which episode is on screen.
    Episode(Episode),
    /// About changes by hand.
    Edit(Edit),
    /// About two episodes.
    Compare(Compare),
    /// About files, and what is taken along.
    File(File),
    /// About dialogs.
    Ask(Ask),
    /// About the window itself.
    Window(Window),
    /// About the tour.
    Tour(Tour),
    /// About machines that learn.
    Learn(Learn),
    /// What the worker has done.
    Done(Outcome),
}

impl Command {
    /// True for what nobody in front of the window asked for.
    pub fn is_news(&self) -> bool {
        matches!(
            self,
            Self::Play(Play::Pass(_))
                | Self::Done(_)
                | Self::Learn(Learn::News(_))
                | Self::Window(
                    Window::Sized { .. }
                        | Window::Lit { .. }
                        | Window::Busy(_)
                        | Window::HoldMessages
                )
        )
    }
}

/// Time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Play {
    /// Play or pause; play at the end starts over.
    Toggle,
    /// So many steps on, or back.
    Step(isize),
    /// So many stages on, or back.
    Stage(isize),
    /// The first step.
    First,
    /// The last step.
    Last,
    /// Twice the speed so many times, or half of it.
    Faster(i32),
    /// Normal speed.
    NormalSpeed,
    /// Loop or not.
    ToggleLoop,
    /// Loop from this step.
    LoopIn,
    /// Loop to this step.
    LoopOut,
    /// Loop between these steps, or unmark them.
    LoopRange(Option<(usize, usize)>),
    /// So many changes on, or back.
    Event(isize),
    /// Go to a step.
    Seek(usize),
    /// Go to a stage of the current step.
    SeekStage(usize),
    /// Go to where so much of the current stage has come, 0 to 1.
    Through(f32),
    /// So many seconds have passed.
    Pass(f32),
    /// What plays by itself is left to the person.
    TakeOver,
}

/// What is looked at, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Look at this head.
    Focus(usize),
    /// Expand this head beside the one looked at, or let go of it.
    Pin(usize),
    /// The final weightings of all heads, or one head with its stages.
    AllHeads,
    /// Weightings by their value, or by its logarithm.
    NextScale,
    /// Another arrangement of the pictures.
    NextLayout,
    /// Keep this in view, in numbers.
    Select(Target),
    /// Keep nothing in view.
    Deselect,
}

/// The rows on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    /// The touched rows only, or all.
    ToggleTouched,
    /// All rows, fitted to the window.
    Fit,
    /// Rows so many times taller, or lower.
    Taller(i32),
    /// The rows on screen keep to the head looked at.
    ToggleFollow,
    /// Select the row so many places on, or back, round the end.
    Select(isize),
    /// Select those up to the row so many places on, or back, as well.
    Extend(isize),
    /// Move the rows on screen by so many.
    Scroll(f32),
    /// Bring this row, by its place among those shown, to the middle.
    Centre(usize),
}

/// The steps on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// So many times as wide about this place, in steps, which stays where it is.
    Widen {
        /// The place.
        at: f32,
        /// How many times.
        by: f32,
    },
    /// Move so many steps on, or back.
    Pan(f32),
    /// All of them.
    All,
}

/// Which episode is on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// The same episode again, from its first step.
    Restart,
    /// The episode of the next seed.
    NextSeed,
    /// Another machine.
    Machine(usize),
    /// The episode in which a machine fails, by its place among those; or leave it at that.
    Failure(Option<usize>),
    /// Another length, or number of items.
    Size(usize),
    /// Another number of repeats.
    Repeats(usize),
    /// Another seed.
    Seed(u64),
    /// Another number of memory rows.
    Rows(usize),
    /// The same episode with other random numbers, where heads draw.
    AnotherDraw,
    /// This one of its draws.
    Sample(u64),
    /// So many samples of the episode are drawn where their spread is asked for.
    Samples(usize),
    /// The spread of many samples of the episode on screen.
    Spread,
    /// How much everything mattered for this, in the place of its values; or the values again.
    Mattered(Quantity),
    /// The same episode drawn, expected, or as it most likely is.
    Sampling(Sampling),
}

/// Changes by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Change the bits of the input by hand, or stop it.
    Toggle,
    /// Move the mark in the input by steps and channels.
    MoveMark(isize, isize),
    /// The bit under the mark the other way round.
    FlipMarked,
    /// A bit of the input, by step and channel, the other way round.
    Flip(usize, usize),
    /// Paint from the bit before to this one, by step and channel: all as the first one, which is flipped.
    Paint(usize, usize),
    /// The stroke has ended.
    EndStroke,
    /// Take back the last change.
    Undo,
    /// Make it again.
    Redo,
}

/// Two episodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// Compare the episode on screen with this file.
    With(PathBuf),
    /// Keep the episode on screen as A: what is recorded next is B.
    KeepAsA,
    /// A becomes B, and B becomes A.
    Swap,
    /// Ask the machine of B for the episode of A.
    SameInput,
    /// Show or hide what B has more than A.
    ToggleDifference,
    /// Go to where A and B differ first: step, stage and head.
    FirstDifference,
    /// The difference that counts as none.
    Tolerance(f64),
    /// Let go of the other episode.
    End,
}

/// Files, and what is taken along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// Give up what is recorded, read or drawn.
    GiveUp,
    /// Open this file.
    Open(PathBuf),
    /// Save the trace here; or the figure on screen, when the name ends as that of a picture. Where there is such a
    /// file the person is asked.
    Save(PathBuf),
    /// The same, whatever is there.
    Replace(PathBuf),
    /// Save the close-up in motion here, as an animation; if told so, whatever is there.
    Film(PathBuf, bool),
    /// Show the desktop's own dialog.
    Browse(Aim),
    /// This file was chosen, or its path typed.
    Chosen(Aim, PathBuf),
    /// Copy these words.
    Copy {
        /// The words.
        text: String,
        /// What is said about them, if anything.
        said: Option<String>,
    },
    /// Copy what leads others to what is on screen.
    CopyLink,
    /// Copy what is kept in view, or the rows of the head looked at.
    CopyTable(Form),
}

/// Dialogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Show the dialog about this; that of all commands and that of the keys are hidden again.
    For(Subject),
    /// This is what stands in the dialog's line now.
    Typed(String),
    /// This line of the list of commands is chosen.
    Chosen(usize),
    /// Go to the step that these words mean.
    GoTo(String),
    /// Leave the dialog.
    Leave,
    /// Leave the dialog, or what is kept in view, or dismiss the messages.
    Escape,
}

/// The window itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// Show or hide the numbers.
    ToggleNumbers,
    /// Show or hide the episode.
    ToggleLeft,
    /// Show or hide the timeline; what plays stays.
    ToggleTimeline,
    /// Show the pictures alone and large, or with everything around them again.
    TogglePresent,
    /// Show or leave the start page.
    ToggleWelcome,
    /// Dark, light or as the system has it.
    NextTheme,
    /// One of them.
    Theme(Theme),
    /// Other colours for weightings.
    Colors(Map),
    /// Everything so many sizes larger, or smaller.
    Larger(isize),
    /// Everything as large as it was made to be.
    NormalSize,
    /// Everything this large, in percent.
    Scale(u16),
    /// Nothing glides or starts by itself, or things do.
    ToggleMotion,
    /// Forget the files that were opened.
    ForgetFiles,
    /// Dismiss this message.
    Dismiss(u64),
    /// The pointer is on a message: it stays.
    HoldMessages,
    /// Something is under way that can be given up, or nothing is.
    Busy(bool),
    /// The window is this wide and high, with so much room for rows, in points.
    Sized {
        /// Width of all of it.
        width: f32,
        /// Height of all of it.
        height: f32,
        /// Height of the rows.
        room: f32,
    },
    /// The colours that are on, and those of the system where they are known.
    Lit {
        /// Light on dark.
        dark: bool,
        /// The same of the system.
        system: Option<bool>,
    },
}

/// The tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tour {
    /// Take it, from where it was left.
    Start,
    /// Go to its next stop.
    Next,
    /// Go back to the stop before, as it was.
    Back,
    /// Leave it.
    Leave,
    /// The window has introduced itself.
    Greet,
}

/// Machines that learn.
#[derive(Clone, Debug, PartialEq)]
pub enum Learn {
    /// Train or wait; where nothing learns, the preset of the machine on screen begins.
    Toggle,
    /// One update, then wait.
    Once,
    /// Twice the pace so many times, or half of it.
    Faster(i32),
    /// So slow that updates can be followed, or as fast as it can.
    SlowOrFull,
    /// End it, for this.
    Instead(Instead),
    /// Look at what the machine was at this snapshot, or at what it is.
    Moment(Option<usize>),
    /// So many snapshots on, or back.
    MoveMoment(isize),
    /// Look at this one of the runs.
    Run(usize),
    /// Show this one of the charts below the loss, where there is room for one.
    Below(usize),
    /// Look at what was noticed so much later, or earlier, and at what the machine was then.
    MoveFinding(isize),
    /// Change this from the next update on, each `path=value`.
    Change(Vec<String>),
    /// Write the run on screen into this folder; if told so, whatever is there.
    Save(PathBuf, bool),
    /// Nothing can learn, for this reason.
    Refused(String),
    /// So many runs on, or back; after the last one comes the first.
    MoveRun(isize),
    /// Save the run on screen into this folder, then do what was asked for that ends it.
    SaveAndEnd(PathBuf),
    /// Do what was asked for, and lose what is not saved.
    EndUnsaved,
    /// What has come of it.
    News(Told),
}

impl From<Instead> for Command {
    fn from(instead: Instead) -> Self {
        Self::Learn(Learn::Instead(instead))
    }
}

/// Whatever is about something is a command.
macro_rules! commands {
    ($($about:ident),*) => {$(
        impl From<$about> for Command {
            fn from(about: $about) -> Self {
                Self::$about(about)
            }
        }
    )*};
}

commands!(
    Play, Look, Rows, Steps, Episode, Edit, Compare, File, Ask, Window, Tour, Learn
);
