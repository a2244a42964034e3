//! Everything that can be asked of the window. Keys, buttons and tests speak the same commands; one
//! place applies them ([`super::App::apply`]).

use std::path::PathBuf;

use super::files::Aim;
use super::inspect::Form;
use super::state::settings::Theme;
use super::state::target::Target;
use crate::figure::Map;

/// A wish of the person in front of the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Play or pause; play at the end starts over.
    TogglePlay,
    /// One step forward.
    NextStep,
    /// One step back.
    PreviousStep,
    /// Ten steps forward.
    JumpForward,
    /// Ten steps back.
    JumpBack,
    /// The next stage.
    NextStage,
    /// The stage before.
    PreviousStage,
    /// The first step.
    FirstStep,
    /// The last step.
    LastStep,
    /// Twice the speed.
    Faster,
    /// Half the speed.
    Slower,
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
    /// Go to where something changes next.
    NextEvent,
    /// Go to where something changed before.
    PreviousEvent,
    /// Look at this head.
    Focus(usize),
    /// Expand this head beside the one looked at, or let go of it.
    Pin(usize),
    /// The final weightings of all heads, or one head with its stages.
    AllHeads,
    /// The touched rows only, or all.
    ToggleTouched,
    /// All rows, fitted to the window.
    Fit,
    /// Taller rows.
    RowsTaller,
    /// Lower rows.
    RowsLower,
    /// The rows on screen keep to the head looked at.
    ToggleFollow,
    /// Select the next row.
    NextRow,
    /// Select the row before.
    PreviousRow,
    /// Select the next row as well.
    ExtendDown,
    /// Select the row before as well.
    ExtendUp,
    /// Move the rows on screen by so many.
    ScrollRows(f32),
    /// Bring this row, by its place among those shown, to the middle.
    CentreRow(usize),
    /// Weightings by their value, or by its logarithm.
    NextScale,
    /// The same episode again, from its first step.
    Restart,
    /// The episode of the next seed.
    NextSeed,
    /// Ask which command, by its name.
    AskCommand,
    /// Ask for a step to go to.
    AskStep,
    /// Ask for a file to open.
    AskOpen,
    /// Ask for a place to save the trace.
    AskSave,
    /// Ask for a place to save the figure on screen.
    AskFigure {
        /// As SVG instead of PNG.
        svg: bool,
    },
    /// Another arrangement of the pictures.
    NextLayout,
    /// Ask for a file to compare the episode on screen with.
    AskCompare,
    /// Compare the episode on screen with this file.
    Compare(PathBuf),
    /// Keep the episode on screen as A: what is recorded next is B.
    KeepAsA,
    /// A becomes B, and B becomes A.
    SwapSides,
    /// Show or hide what B has more than A.
    ToggleDifference,
    /// Go to where A and B differ first: step, stage and head.
    FirstDifference,
    /// The difference that counts as none.
    Tolerance(f64),
    /// Let go of the other episode.
    EndComparison,
    /// Show or hide the list of keys.
    ToggleShortcuts,
    /// Show or hide the numbers.
    ToggleNumbers,
    /// Show or leave the start page.
    ToggleWelcome,
    /// Take the tour, from where it was left.
    StartTour,
    /// Go to its next stop.
    NextStop,
    /// Leave it.
    LeaveTour,
    /// The window has introduced itself.
    Greet,
    /// Show or hide the episode.
    ToggleLeft,
    /// Show or hide transport and timeline.
    ToggleTimeline,
    /// Dark, light or as the system has it.
    NextTheme,
    /// One of them.
    Theme(Theme),
    /// Other colours for weightings.
    Colors(Map),
    /// Everything larger.
    Larger,
    /// Everything smaller.
    Smaller,
    /// Everything as large as it was made to be.
    NormalSize,
    /// Everything this large, in percent.
    Scale(u16),
    /// Nothing glides or starts by itself, or things do.
    ToggleMotion,
    /// Forget the files that were opened.
    ForgetFiles,
    /// Show the settings.
    AskSettings,
    /// Say what this is and whose.
    AskAbout,
    /// List what was said so far.
    AskMessages,
    /// Copy these words.
    CopyText(String),
    /// Take back the last change.
    Undo,
    /// Make it again.
    Redo,
    /// Leave the dialog, or what is kept in view, or dismiss the messages.
    Escape,
    /// Go to a step.
    Seek(usize),
    /// Keep this in view, in numbers.
    Select(Target),
    /// Keep nothing in view.
    Deselect,
    /// Go to a stage of the current step.
    SeekStage(usize),
    /// Another machine.
    Machine(usize),
    /// Another length, or number of items.
    Size(usize),
    /// Another number of repeats.
    Repeats(usize),
    /// Another seed.
    Seed(u64),
    /// Change the bits of the input by hand, or stop it.
    ToggleEdit,
    /// Move the mark in the input by steps and channels.
    MoveMark(isize, isize),
    /// The bit under the mark the other way round.
    FlipMarked,
    /// A bit of the input, by step and channel, the other way round.
    Flip(usize, usize),
    /// These bits of the input, by step and channel, all 1 or all 0.
    Paint {
        /// Which.
        cells: Vec<(usize, usize)>,
        /// As 1.
        on: bool,
    },
    /// Another number of memory rows.
    MemoryRows(usize),
    /// Open this file.
    Open(PathBuf),
    /// Save the trace here; or the figure on screen, when the name ends as that of a picture.
    Save(PathBuf),
    /// Show the desktop's own dialog.
    Browse(Aim),
    /// Dismiss this message.
    Dismiss(u64),
    /// Copy these values.
    CopyCells {
        /// The text.
        text: String,
        /// What is said about it.
        said: String,
    },
    /// Copy what is kept in view, or the rows of the head looked at.
    CopyTable {
        /// As what.
        form: Form,
    },
}
