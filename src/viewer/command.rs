//! All commands of the window, by subject. Keys, buttons, dialogs and
//! tests speak the same commands; one place applies them ([`super::State::apply`]).

use std::path::PathBuf;

use super::inspect::Form;
use super::state::{FilePurpose, Parts, RunUpdates, Target, Theme};
pub use super::state::{List, Replacement, Subject};
use crate::figure::Map;
use crate::model::NoiseMode;
use crate::train::Quantity;

/// A request of the user, or news for the window. The outcomes of jobs come by themselves ([`super::State::receive`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// About time.
    Play(Play),
    /// About the selection and how it is shown.
    View(ViewCommand),
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
    /// Commands about files and the clipboard.
    File(File),
    /// About dialogs.
    Dialog(DialogCommand),
    /// About the window itself.
    Window(Window),
    /// About the tour.
    Tour(Tour),
    /// About machines that learn.
    Learn(Learn),
    /// The parts shown inside another page; all where none are chosen.
    Parts(Option<Parts>),
}

impl Command {
    /// True for commands that no user issued.
    pub fn is_update(&self) -> bool {
        matches!(
            self,
            Self::Play(Play::Pass(_))
                | Self::Learn(Learn::Updates(_))
                | Self::Window(
                    Window::Sized { .. }
                        | Window::ThemeChanged { .. }
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
    /// Steps by a number, back if negative.
    Step(isize),
    /// Steps by a number of stages, back if negative.
    Stage(isize),
    /// The first step.
    First,
    /// The last step.
    Last,
    /// Doubles or halves the speed a number of times.
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
    /// Moves by a number of events, back if negative.
    Event(isize),
    /// Moves by a number of steps in which the condition holds, back if negative; wraps around.
    Match(isize),
    /// Go to the wrong bit after the pinned one, or else to the first, and pin it.
    WrongBit,
    /// Go to a step.
    Seek(usize),
    /// Go to a stage of the current step.
    SeekStage(usize),
    /// Go to the end of the current step.
    StepEnd,
    /// Go to where so much of the current stage has come, 0 to 1.
    Through(f32),
    /// Advances time by a number of seconds.
    Pass(f32),
    /// Ends automatic playback: the user takes over.
    TakeOver,
}

/// The selection and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewCommand {
    /// Look at this head.
    Focus(usize),
    /// Expands this head next to the selected one, or unpins it.
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
    /// Show this list beside the timeline.
    List(List),
}

/// The rows on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    /// The touched rows only, or all.
    ToggleTouched,
    /// All rows, fitted to the window.
    Fit,
    /// Makes rows taller or shorter, a number of times.
    Taller(i32),
    /// Toggles following the selected head.
    ToggleFollow,
    /// Selects the row a number of rows away; wraps around.
    Select(isize),
    /// Extends the selection by a number of rows.
    Extend(isize),
    /// Scrolls by a number of rows.
    Scroll(f32),
    /// Bring this row, by its place among those shown, to the middle.
    Centre(usize),
}

/// The steps on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// Zooms by a factor around this place, in steps, which stays fixed.
    Widen {
        /// The place.
        at: f32,
        /// The factor.
        by: f32,
    },
    /// Scrolls by a number of steps.
    Pan(f32),
    /// All of them.
    All,
}

/// The episode on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Restart the episode from its first step.
    Restart,
    /// The episode of the next seed.
    NextSeed,
    /// The episode of the next seed in which the condition holds.
    NextMatch,
    /// Another machine.
    Machine(usize),
    /// The episode and place of a link of the glossary.
    Link(&'static str),
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
    /// Sample the episode again with other random numbers.
    AnotherDraw,
    /// This one of its draws.
    Sample(u64),
    /// Sets the number of samples for the spread.
    Samples(usize),
    /// The spread of many samples of the episode on screen.
    Spread,
    /// Shows gradients of this quantity instead of values; or the values again.
    Gradients(Quantity),
    /// Show the episode sampled, with expected weighting, or with most likely rows.
    Sampling(NoiseMode),
}

/// Changes by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Starts or ends editing of the input.
    Toggle,
    /// Move the mark in the input by steps and channels.
    MoveMark(isize, isize),
    /// The bit under the mark the other way round, or the symbol there chosen.
    FlipMarked,
    /// A bit of the input, by step and channel, the other way round, or a symbol chosen.
    Flip(usize, usize),
    /// Paint from the bit before to this one, by step and channel: all as the first one, which is flipped.
    Paint(usize, usize),
    /// The stroke has ended.
    EndStroke,
    /// Set values while the episode runs, as this text says: `12:read0.gate=1`. The episode without it stays as A.
    Intervene(String),
    /// Leave out an intervention, by its place in the list, or take it in again.
    ToggleIntervention(usize),
    /// Remove an intervention.
    EndIntervention(usize),
    /// Remove all interventions.
    EndBranch,
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
    /// Keep the episode on screen as A; the next recording is B.
    KeepAsA,
    /// Run the included Neural Turing Machine on the episode on screen, which becomes A.
    WithNtm,
    /// A becomes B, and B becomes A.
    Swap,
    /// Ask the machine of B for the episode of A.
    SameInput,
    /// Show or hide the difference B − A.
    ToggleDifference,
    /// Go to where A and B differ first: step, stage and head.
    FirstDifference,
    /// The difference that counts as none.
    Tolerance(f64),
    /// End the comparison.
    End,
}

/// Commands about files and the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// Cancels recording, reading or drawing.
    GiveUp,
    /// Open this file.
    Open(PathBuf),
    /// Save the trace here; or the figure on screen, when the name ends as that of a picture. True replaces an existing
    /// file; otherwise the person is asked.
    Save(PathBuf, bool),
    /// Save the close-up in motion as an animation; true replaces an existing file.
    Film(PathBuf, bool),
    /// Save the report here, as a table or a figure; true replaces an existing file.
    Export(PathBuf, bool),
    /// Show the desktop's own dialog.
    Browse(FilePurpose),
    /// This file was chosen, or its path typed.
    Chosen(FilePurpose, PathBuf),
    /// Replace this existing file.
    Replace(FilePurpose, PathBuf),
    /// Copy these words.
    Copy {
        /// The words.
        text: String,
        /// The notification about them, if any.
        said: Option<String>,
    },
    /// Copy a link to the episode on screen.
    CopyLink,
    /// Copies the pinned value, or the rows of the selected head.
    CopyTable(Form),
}

/// Dialogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogCommand {
    /// Show the dialog about this; that of all commands and that of the keys are hidden again.
    For(Subject),
    /// Set the text of the dialog's line.
    Typed(String),
    /// This line of the list of commands is chosen.
    Chosen(usize),
    /// Go to the step that these words mean.
    GoTo(String),
    /// Search for steps by this condition; empty for none.
    Condition(String),
    /// Measure wrong bits in many episodes, and this quantity unless it is empty.
    Measure(String),
    /// Measure what the parts of the machine contribute.
    RemoveParts,
    /// Find the parts and gates that repair the wrong bits of the episode.
    Explain,
    /// Sort the report by this column.
    Sort(usize),
    /// Leave the dialog.
    Leave,
    /// Closes the dialog, clears the selection, or dismisses the notifications.
    Escape,
}

/// The window itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// Show or hide the numbers.
    ToggleNumbers,
    /// Show or hide the episode.
    ToggleLeft,
    /// Show or hide the timeline; the transport stays.
    ToggleTimeline,
    /// Show the pictures alone and large, or with everything around them again.
    TogglePresent,
    /// Show or leave the start page.
    ToggleWelcome,
    /// Show the page on attention mechanisms, or return from it to the start page.
    ToggleFamily,
    /// Dark, light or as the system has it.
    NextTheme,
    /// One of them.
    Theme(Theme),
    /// Other colours for weightings.
    Colors(Map),
    /// Zooms in or out by a number of sizes.
    Larger(isize),
    /// Everything as large as it was made to be.
    NormalSize,
    /// Everything this large, in percent.
    Scale(u16),
    /// Toggles reduced motion.
    ToggleMotion,
    /// Forget the files that were opened.
    ForgetFiles,
    /// Dismiss this message.
    Dismiss(u64),
    /// The pointer is on a message: it stays.
    HoldMessages,
    /// True while a job that can be cancelled is in progress.
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
    ThemeChanged {
        /// Light on dark.
        dark: bool,
        /// The setting of the system.
        system: Option<bool>,
    },
}

/// The tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tour {
    /// Take it, from where it was left.
    Start,
    /// Take it from its first stop.
    Again,
    /// Go to its next stop.
    Next,
    /// Goes back to the previous tour step.
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
    /// Train the saved run on screen further.
    Continue,
    /// Run one update, then wait.
    Once,
    /// Doubles or halves the training speed a number of times.
    Faster(i32),
    /// Toggle between slow updates and full speed.
    SlowOrFull,
    /// End it, for this.
    Replace(Replacement),
    /// Show the machine at this training snapshot, or now.
    Snapshot(Option<usize>),
    /// Moves by a number of snapshots, back if negative.
    MoveSnapshot(isize),
    /// Look at this one of the runs.
    Run(usize),
    /// Show this one of the charts below the loss, where there is room for one.
    Below(usize),
    /// Move by this number of findings, to the machine at that time.
    MoveFinding(isize),
    /// Change this from the next update on, each `path=value`.
    Change(Vec<String>),
    /// Write the run on screen into this folder; true replaces an existing run.
    Save(PathBuf, bool),
    /// Report that training is impossible, for this reason.
    Refused(String),
    /// Moves by a number of runs, back if negative; wraps around.
    MoveRun(isize),
    /// Save each run into a folder of its own beside this one, then perform the command that ends them, if there is one.
    SaveAll(PathBuf),
    /// Save the run on screen into this folder, then perform the command that ends it.
    SaveAndEnd(PathBuf),
    /// Remove the recoverable run in this place of the list.
    Discard(usize),
    /// Perform the command, and discard the unsaved run.
    EndUnsaved,
    /// Updates of the runs.
    Updates(RunUpdates),
}

impl From<Replacement> for Command {
    fn from(replacement: Replacement) -> Self {
        Self::Learn(Learn::Replace(replacement))
    }
}

/// Opens the dialog about a subject.
impl From<Subject> for Command {
    fn from(subject: Subject) -> Self {
        Self::Dialog(DialogCommand::For(subject))
    }
}

/// Converts the parts of [`Command`] into it.
macro_rules! commands {
    ($($about:ident: $part:ident),*) => {$(
        impl From<$part> for Command {
            fn from(part: $part) -> Self {
                Self::$about(part)
            }
        }
    )*};
}

commands!(
    Play: Play, View: ViewCommand, Rows: Rows, Steps: Steps, Episode: Episode, Edit: Edit, Compare: Compare,
    File: File, Dialog: DialogCommand, Window: Window, Tour: Tour, Learn: Learn
);
