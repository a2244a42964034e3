//! Everything that can be asked of the window. Keys, buttons and tests speak the same commands; one
//! place applies them ([`super::App::apply`]).

use std::path::PathBuf;

use egui::{Context, Key, KeyboardShortcut, Modifiers};

use super::inspect::{Form, Target};
use super::theme::Map;
use crate::player::Stage;

/// What a file is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// To be opened.
    Open,
    /// To be compared with what is on screen.
    Compare,
    /// For the trace of the episode.
    Save,
    /// For the figure on screen.
    Figure,
}

impl Aim {
    /// True when the file is written.
    pub fn is_to_save(self) -> bool {
        matches!(self, Self::Save | Self::Figure)
    }
}

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
    Theme(egui::ThemePreference),
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
    SeekStage(Stage),
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

/// A command with its name, its keys and what it does, in one line.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The command.
    pub command: Command,
    /// As buttons and lists call it.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// The keys; the first one is shown.
    pub keys: Vec<KeyboardShortcut>,
}

const fn key(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn control(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn control_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// Number keys that choose a head.
const HEAD_KEYS: [KeyboardShortcut; 9] = [
    key(Key::Num1),
    key(Key::Num2),
    key(Key::Num3),
    key(Key::Num4),
    key(Key::Num5),
    key(Key::Num6),
    key(Key::Num7),
    key(Key::Num8),
    key(Key::Num9),
];

/// The one table of commands with keys, in the order of the list of keys.
#[rustfmt::skip]
pub fn table() -> Vec<Entry> {
    let entry = |command, name, keys: &[KeyboardShortcut], help| Entry { command, name, help, keys: keys.to_vec() };
    vec![
        entry(Command::TogglePlay, "Play or pause", &[key(Key::Space)], "at the end, from the beginning"),
        entry(Command::NextStep, "Next step", &[key(Key::ArrowRight)], "one step forward"),
        entry(Command::PreviousStep, "Previous step", &[key(Key::ArrowLeft)], "one step back"),
        entry(Command::JumpForward, "Ten steps forward", &[shift(Key::ArrowRight)], ""),
        entry(Command::JumpBack, "Ten steps back", &[shift(Key::ArrowLeft)], ""),
        entry(Command::NextStage, "Next stage", &[key(Key::Period)], "controller, content, gate and so on"),
        entry(Command::PreviousStage, "Previous stage", &[key(Key::Comma)], ""),
        entry(Command::FirstStep, "First step", &[key(Key::Home)], ""),
        entry(Command::LastStep, "Last step", &[key(Key::End)], ""),
        entry(Command::AskStep, "Go to step", &[key(Key::G)], "a number, +5, −1 or a phase"),
        entry(Command::Slower, "Slower", &[key(Key::OpenBracket)], "half the speed; below 1 step/s stage by stage"),
        entry(Command::Faster, "Faster", &[key(Key::CloseBracket)], "twice the speed"),
        entry(Command::NormalSpeed, "Normal speed", &[key(Key::Backslash)], "4 steps per second"),
        entry(Command::ToggleLoop, "Loop", &[key(Key::L)], "off, all, the marked part"),
        entry(Command::LoopIn, "Loop from here", &[key(Key::I)], "or drag over the phases above the pictures"),
        entry(Command::LoopOut, "Loop to here", &[key(Key::O)], ""),
        entry(Command::NextEvent, "Next event", &[key(Key::PageDown)], "a phase, a jump of a head, a wrong bit"),
        entry(Command::PreviousEvent, "Previous event", &[key(Key::PageUp)], ""),
        entry(Command::NextLayout, "Layout", &[key(Key::V)], "all stages, figure of the paper, row 0 on top"),
        entry(Command::AllHeads, "All heads", &[key(Key::Num0)], "side by side; Shift+click pins a second"),
        entry(Command::ToggleTouched, "Touched rows only", &[key(Key::U)], "hide what no head touches"),
        entry(Command::Fit, "Fit all rows", &[key(Key::Z)], ""),
        entry(Command::RowsTaller, "Taller rows", &[key(Key::Plus), key(Key::Equals)], "the wheel moves them"),
        entry(Command::RowsLower, "Lower rows", &[key(Key::Minus)], ""),
        entry(Command::ToggleFollow, "Follow the head", &[key(Key::F)], "it stays on screen"),
        entry(Command::NextRow, "Next row", &[key(Key::ArrowDown)], "selects it"),
        entry(Command::PreviousRow, "Previous row", &[key(Key::ArrowUp)], ""),
        entry(Command::ExtendDown, "Extend to the next row", &[shift(Key::ArrowDown)], "several rows together"),
        entry(Command::ExtendUp, "Extend to the row before", &[shift(Key::ArrowUp)], ""),
        entry(Command::NextScale, "Scale of weightings", &[key(Key::N)], "linear or logarithmic"),
        entry(Command::Restart, "Restart, same seed", &[key(Key::R)], "from its first step"),
        entry(Command::NextSeed, "New episode, next seed", &[shift(Key::R)], ""),
        entry(Command::ToggleEdit, "Edit the input", &[key(Key::E)], "Space or a click flips, dragging paints"),
        entry(Command::ToggleWelcome, "Start page", &[key(Key::W)], "all machines, recent files"),
        entry(Command::AskOpen, "Open", &[control(Key::O)], "a trace or weights, or drop a file"),
        entry(Command::AskSave, "Save trace", &[control(Key::S)], "the episode on screen, as a file"),
        entry(Command::AskFigure { svg: false }, "Save figure as PNG", &[control_shift(Key::E), control(Key::E)], "or .gif: every step"),
        entry(Command::AskFigure { svg: true }, "Save figure as SVG", &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::ALT), Key::E)], "axes and text as vectors"),
        entry(Command::AskCompare, "Compare with", &[control(Key::D)], "another trace or weights, on one clock"),
        entry(Command::KeepAsA, "Keep as A", &[key(Key::K)], "another machine, seed or bit is B"),
        entry(Command::SwapSides, "Swap A and B", &[key(Key::X)], "all layouts show the other one"),
        entry(Command::ToggleDifference, "Difference", &[key(Key::D)], "what B has more than A, or not"),
        entry(Command::FirstDifference, "First difference", &[shift(Key::D)], "its step, stage and head"),
        entry(Command::EndComparison, "End the comparison", &[control_shift(Key::D)], "or Esc in its layout"),
        entry(Command::CopyTable { form: Form::Tsv }, "Copy as TSV", &[control(Key::C)], "what is kept in view, or all rows"),
        entry(Command::CopyTable { form: Form::NumPy }, "Copy as NumPy", &[control_shift(Key::C)], ""),
        entry(Command::CopyTable { form: Form::Json }, "Copy as JSON", &[], "or a right click on a picture: any part of it"),
        entry(Command::Undo, "Undo", &[control(Key::Z)], "what is asked for, looked at, how it looks"),
        entry(Command::Redo, "Redo", &[control_shift(Key::Z), control(Key::Y)], ""),
        entry(Command::ToggleLeft, "Episode panel", &[control_shift(Key::B)], ""),
        entry(Command::ToggleNumbers, "Numbers panel", &[control_shift(Key::S)], ""),
        entry(Command::ToggleTimeline, "Timeline panel", &[control_shift(Key::T)], ""),
        entry(Command::NextTheme, "Theme", &[], "as the system, dark, light"),
        entry(Command::Larger, "Larger", &[control(Key::Plus), control(Key::Equals)], ""),
        entry(Command::Smaller, "Smaller", &[control(Key::Minus)], ""),
        entry(Command::NormalSize, "Normal size", &[control(Key::Num0)], ""),
        entry(Command::ToggleMotion, "Reduced motion", &[], "nothing glides or plays by itself"),
        entry(Command::AskSettings, "Settings", &[control(Key::Comma)], "theme, colours, size, motion"),
        entry(Command::AskMessages, "Messages", &[], "what was said so far, to be copied"),
        entry(Command::StartTour, "Tour", &[], "nine stops, from where it was left"),
        entry(Command::AskAbout, "About", &[], "version and licences"),
        entry(Command::AskCommand, "Find a command", &[control(Key::K), control(Key::P)], "every command, by its name"),
        entry(Command::ToggleShortcuts, "Keys", &[key(Key::Questionmark), key(Key::F1)], "this list"),
        entry(Command::Escape, "Close", &[key(Key::Escape)], "dialog, what is kept in view, messages"),
    ]
}

/// The groups of the list of keys, in order.
pub const GROUPS: [&str; 6] = [
    "Play",
    "Move in time",
    "Look",
    "Episode and files",
    "Window",
    "Compare",
];

/// The group of a command in the list of keys: one of [`GROUPS`].
pub fn group(command: &Command) -> &'static str {
    let index = match command {
        Command::TogglePlay
        | Command::Slower
        | Command::Faster
        | Command::NormalSpeed
        | Command::ToggleLoop
        | Command::LoopIn
        | Command::LoopOut => 0,
        Command::NextStep
        | Command::PreviousStep
        | Command::JumpForward
        | Command::JumpBack
        | Command::NextStage
        | Command::PreviousStage
        | Command::FirstStep
        | Command::LastStep
        | Command::AskStep
        | Command::NextEvent
        | Command::PreviousEvent => 1,
        Command::Restart
        | Command::NextSeed
        | Command::ToggleWelcome
        | Command::ToggleEdit
        | Command::AskOpen
        | Command::AskSave
        | Command::Undo
        | Command::Redo
        | Command::AskFigure { .. }
        | Command::CopyTable { .. } => 3,
        Command::AskCommand
        | Command::ToggleLeft
        | Command::ToggleNumbers
        | Command::ToggleTimeline
        | Command::Larger
        | Command::Smaller
        | Command::NormalSize
        | Command::AskSettings
        | Command::NextTheme
        | Command::ToggleShortcuts
        | Command::Escape => 4,
        Command::AskCompare
        | Command::KeepAsA
        | Command::SwapSides
        | Command::ToggleDifference
        | Command::FirstDifference
        | Command::EndComparison => 5,
        _ => 2,
    };
    GROUPS[index]
}

/// The entry of a command, if it has one.
pub fn entry_of(command: &Command) -> Option<Entry> {
    table().into_iter().find(|entry| entry.command == *command)
}

/// A key as people write it.
pub fn key_text(shortcut: &KeyboardShortcut) -> String {
    let mut text = String::new();
    if shortcut.modifiers.command || shortcut.modifiers.ctrl {
        text += "Ctrl+";
    }
    if shortcut.modifiers.alt {
        text += "Alt+";
    }
    if shortcut.modifiers.shift {
        text += "Shift+";
    }
    text += match shortcut.logical_key {
        Key::ArrowRight => "→",
        Key::ArrowLeft => "←",
        Key::ArrowUp => "↑",
        Key::ArrowDown => "↓",
        Key::Escape => "Esc",
        other => match other.symbol_or_name() {
            "Questionmark" => "?",
            "Period" => ".",
            "Plus" => "+",
            "Equals" => "=",
            "Minus" => "−",
            "Comma" => ",",
            "OpenBracket" => "[",
            "CloseBracket" => "]",
            "Backslash" => "\\",
            // Signs that would run into the one before.
            "+" => "Plus",
            "-" | "−" => "Minus",
            "PageDown" => "PgDn",
            "PageUp" => "PgUp",
            name => name,
        },
    };
    text
}

/// The key that chooses a head, as people write it.
pub fn head_key(head: usize) -> Option<String> {
    HEAD_KEYS.get(head).map(key_text)
}

/// The tooltip of a button: its name and its first key.
pub fn tooltip(command: &Command) -> String {
    match entry_of(command) {
        Some(entry) => match entry.keys.first() {
            Some(key) => format!("{}  ({})", entry.name, key_text(key)),
            None => entry.name.to_owned(),
        },
        None => String::new(),
    }
}

/// Takes the keys of the frame before any widget sees them.
///
/// While text is being typed only Esc counts; while a dialog is open, Esc and the list of keys.
pub fn take_keys(ctx: &Context, dialog_open: bool, editing: bool, commands: &mut Vec<Command>) {
    let typing = ctx.text_edit_focused();
    // An open menu has Esc to itself.
    let menu_open = egui::Popup::is_any_open(ctx);
    let mut entries: Vec<_> = table()
        .into_iter()
        .flat_map(|entry| {
            entry
                .keys
                .into_iter()
                .map(move |key| (key, entry.command.clone()))
        })
        .collect();
    let heads = HEAD_KEYS.iter().enumerate();
    entries.extend(heads.map(|(head, key)| (*key, Command::Focus(head))));
    if editing {
        // In front of the others: while the input is edited these keys are not those of playback.
        entries.retain(|(_, command)| !plays(command));
        entries.extend(edit_keys());
    }
    if super::widget::track::has_arrows(ctx) {
        let sideways = [key(Key::ArrowLeft), key(Key::ArrowRight)];
        entries.retain(|(key, _)| !sideways.contains(key));
    }
    // The most modifiers first: Shift+R is not R.
    entries.sort_by_key(|(key, _)| std::cmp::Reverse(modifier_count(key.modifiers)));
    ctx.input_mut(|input| {
        if !typing && !dialog_open {
            // The window system makes an event of its own of Ctrl+C.
            let form = if input.modifiers.shift {
                Form::NumPy
            } else {
                Form::Tsv
            };
            let copies = input.events.iter();
            let copies = copies.filter(|event| **event == egui::Event::Copy);
            commands.extend(copies.map(|_| Command::CopyTable { form }));
        }
        for (key, command) in entries {
            let stays = match command {
                Command::Escape | Command::AskCommand => !menu_open,
                Command::ToggleShortcuts => !typing,
                _ => !typing && !dialog_open,
            };
            if stays {
                let count = input.count_and_consume_key(key.modifiers, key.logical_key);
                commands.extend(std::iter::repeat_n(command, count));
            }
        }
    });
}

/// True for what moves the play-head: suspended while the input is edited.
fn plays(command: &Command) -> bool {
    matches!(group(command), "Play" | "Move in time")
        || matches!(
            command,
            Command::NextRow
                | Command::PreviousRow
                | Command::ExtendDown
                | Command::ExtendUp
                | Command::Escape
        )
}

/// The keys while the input is edited.
fn edit_keys() -> [(KeyboardShortcut, Command); 6] {
    [
        (key(Key::ArrowRight), Command::MoveMark(1, 0)),
        (key(Key::ArrowLeft), Command::MoveMark(-1, 0)),
        (key(Key::ArrowDown), Command::MoveMark(0, 1)),
        (key(Key::ArrowUp), Command::MoveMark(0, -1)),
        (key(Key::Space), Command::FlipMarked),
        (key(Key::Escape), Command::ToggleEdit),
    ]
}

fn modifier_count(modifiers: Modifiers) -> usize {
    [
        modifiers.alt,
        modifiers.ctrl || modifiers.command,
        modifiers.shift,
    ]
    .into_iter()
    .filter(|&on| on)
    .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        let mut keys: Vec<_> = table()
            .iter()
            .flat_map(|entry| entry.keys.clone())
            .chain(HEAD_KEYS)
            .map(|key| key_text(&key))
            .collect();
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn no_key_belongs_to_the_browser() {
        for entry in table() {
            for key in entry.keys {
                let text = key_text(&key);
                let reserved = [
                    "Ctrl+T", "Ctrl+W", "Ctrl+N", "Ctrl+L", "Ctrl+R", "Ctrl+Q", "F5", "F11",
                ];
                let tab = text
                    .strip_prefix("Ctrl+")
                    .is_some_and(|key| ("1"..="9").contains(&key) && key.len() == 1);
                assert!(!tab && !reserved.contains(&text.as_str()), "{text}");
            }
        }
    }

    #[test]
    fn names_are_unique_and_keys_are_written_as_people_write_them() {
        let mut names: Vec<_> = table().iter().map(|entry| entry.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(
            tooltip(&Command::JumpForward),
            "Ten steps forward  (Shift+→)"
        );
        assert_eq!(tooltip(&Command::AskOpen), "Open  (Ctrl+O)");
        assert_eq!(tooltip(&Command::NextStage), "Next stage  (.)");
    }
}
