//! The one table of commands that have a name: in lists, on buttons, and on the keyboard.

use egui::{
    Context, Event, Id, Key, KeyboardShortcut, LayerId, ModifierNames, Modifiers, WidgetRect,
};

use super::command::{
    Command, Compare, DialogCommand, Edit, Episode, File, Learn, Play, Replacement, Rows, Steps,
    Subject, Tour, ViewCommand, Window,
};
use super::inspect::Form;
use super::precondition::Precondition;
use super::state::{FilePurpose, List};
use crate::figure::Format;
use crate::model::NoiseMode;
use crate::platform::HAS_FILES;
use crate::train::Quantity;

/// A command with its name, its keys and a one-line description.
#[derive(Debug)]
pub struct Entry {
    /// The group in the list of keys.
    pub group: Group,
    /// The precondition.
    pub need: Precondition,
    /// The command.
    pub command: Command,
    /// The name on buttons and in lists.
    pub name: &'static str,
    /// The keys: [`Entry::keys`].
    keys: &'static [KeyboardShortcut],
    /// The effect.
    pub help: &'static str,
    /// Other words that people look for it by.
    pub also: &'static str,
}

impl Entry {
    /// The keys; the first one is shown. In a browser without those that are the browser's own.
    pub fn keys(&self) -> impl Iterator<Item = KeyboardShortcut> {
        let keys = self.keys.iter().copied();
        keys.filter(|key| HAS_FILES || !is_the_browsers(*key))
    }

    /// All keys, as people write them.
    pub fn keys_text(&self) -> String {
        self.keys().map(key_text).collect::<Vec<_>>().join("  ")
    }
}

/// True for a shortcut that every browser reserves, such as size, tabs, bookmarks and tools, or that users expect
/// there, such as printing and search.
fn is_the_browsers(key: KeyboardShortcut) -> bool {
    let (key, modifiers) = (key.logical_key, key.modifiers);
    let is_theirs = if modifiers.shift {
        matches!(key, Key::T | Key::B | Key::C | Key::D)
    } else {
        let is_letter = matches!(key, Key::D | Key::E | Key::F | Key::P);
        is_letter || matches!(key, Key::Plus | Key::Equals | Key::Minus | Key::Num0)
    };
    key == Key::F3 || modifiers.command && !modifiers.alt && is_theirs
}

/// True of a key, as browsers call it, that does something here, and so nothing else: with Ctrl or a number of its own.
#[cfg(target_arch = "wasm32")]
pub fn keeps(name: &str, held: [bool; 3]) -> bool {
    let Some(pressed) = pressed(name, held) else {
        return false;
    };
    let (control, key) = (pressed.modifiers.command, pressed.logical_key);
    // Copy, cut and paste come from the browser.
    let is_ours = if control {
        !matches!(key, Key::C | Key::X | Key::V)
    } else {
        key == Key::F1
    };
    is_ours && TABLE.iter().flat_map(Entry::keys).any(|key| key == pressed)
}

/// True for a key, by its name in browsers, that the browser reserves: it is not handled here.
#[cfg(target_arch = "wasm32")]
pub fn leaves(name: &str, held: [bool; 3]) -> bool {
    pressed(name, held).is_some_and(is_the_browsers)
}

#[cfg(target_arch = "wasm32")]
fn pressed(name: &str, [control, shift, alt]: [bool; 3]) -> Option<KeyboardShortcut> {
    let key = Key::from_name(&name.to_uppercase()).or_else(|| Key::from_name(name))?;
    let mut modifiers = Modifiers::NONE;
    (modifiers.command, modifiers.shift, modifiers.alt) = (control, shift, alt);
    Some(KeyboardShortcut::new(modifiers, key))
}

/// A part of the list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Time passes, or not.
    Play,
    /// To other steps and stages.
    Time,
    /// The selection and how it is shown.
    View,
    /// Another episode, and files.
    Episode,
    /// The window itself.
    Window,
    /// Two episodes.
    Compare,
    /// A machine that learns.
    Learn,
}

impl Group {
    /// Returns the heading in the list.
    pub fn name(self) -> &'static str {
        match self {
            Self::Play => "Play",
            Self::Time => "Move in time",
            Self::View => "View",
            Self::Episode => "Episode and files",
            Self::Window => "Window",
            Self::Compare => "Compare",
            Self::Learn => "Train",
        }
    }
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

/// The number keys, each of which chooses a head.
fn head_keys() -> impl Iterator<Item = KeyboardShortcut> {
    let digits = ('1'..='9').map(|digit| Key::from_name(&digit.to_string()));
    digits.flatten().map(key)
}

const fn entry(
    group: Group,
    need: Precondition,
    command: Command,
    name: &'static str,
    keys: &'static [KeyboardShortcut],
    help: &'static str,
    also: &'static str,
) -> Entry {
    Entry {
        group,
        need,
        command,
        name,
        keys,
        help,
        also,
    }
}

/// Name of the command that copies a link; without a page it copies a command.
const COPY: &str = if HAS_FILES {
    "Copy link as command"
} else {
    "Copy link"
};

/// The help of *Save run*, with folders and without.
const SAVE: &str = if HAS_FILES {
    "into a folder from which training can resume"
} else {
    "the weights, with their learning curve"
};

/// The table, in the order of the list of all commands.
#[rustfmt::skip]
pub static TABLE: [Entry; 109] = [
    entry(Group::Play, Precondition::Episode, Command::Play(Play::Toggle), "Play or pause", &[key(Key::Space)], "at the end, starts again", ""),
    entry(Group::Time, Precondition::StepAfter, Command::Play(Play::Step(1)), "Go to next step", &[key(Key::ArrowRight)], "one step forward", ""),
    entry(Group::Time, Precondition::StepBefore, Command::Play(Play::Step(-1)), "Go to previous step", &[key(Key::ArrowLeft)], "one step back", ""),
    entry(Group::Time, Precondition::StepAfter, Command::Play(Play::Step(10)), "Go 10 steps forward", &[shift(Key::ArrowRight)], "", ""),
    entry(Group::Time, Precondition::StepBefore, Command::Play(Play::Step(-10)), "Go 10 steps back", &[shift(Key::ArrowLeft)], "", ""),
    entry(Group::Time, Precondition::Episode, Command::Play(Play::Stage(1)), "Go to next stage", &[key(Key::Period)], "controller, content, gate and so on", ""),
    entry(Group::Time, Precondition::Episode, Command::Play(Play::Stage(-1)), "Go to previous stage", &[key(Key::Comma)], "", ""),
    entry(Group::Time, Precondition::StepBefore, Command::Play(Play::First), "Go to first step", &[key(Key::Home)], "", ""),
    entry(Group::Time, Precondition::StepAfter, Command::Play(Play::Last), "Go to last step", &[key(Key::End)], "", ""),
    entry(Group::Time, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::Step)), "Go to step", &[key(Key::G)], "a number, +5, −1 or a phase", "jump seek"),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::Faster(-1)), "Play slower", &[key(Key::OpenBracket)], "half the speed; at low speed stage by stage", ""),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::Faster(1)), "Play faster", &[key(Key::CloseBracket)], "twice the speed", ""),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::NormalSpeed), "Reset speed", &[key(Key::Backslash)], "4 steps per second; slower in the close-up", ""),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::ToggleLoop), "Toggle loop", &[key(Key::L)], "off, all, the marked part", ""),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::LoopIn), "Set loop start", &[key(Key::I)], "or drag over the phases above the pictures", ""),
    entry(Group::Play, Precondition::Episode, Command::Play(Play::LoopOut), "Set loop end", &[key(Key::O)], "", ""),
    entry(Group::Time, Precondition::EventAfter, Command::Play(Play::Event(1)), "Go to next event", &[key(Key::PageDown)], "a phase, a jump of a head, a wrong bit", ""),
    entry(Group::Time, Precondition::EventBefore, Command::Play(Play::Event(-1)), "Go to previous event", &[key(Key::PageUp)], "", ""),
    entry(Group::Time, Precondition::WrongBit, Command::Play(Play::WrongBit), "Go to next wrong bit", &[], "the first, then one after the other; pins it", "error mistake failure answer"),
    entry(Group::Time, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::Condition)), "Find step", &[control(Key::F), key(Key::Slash)], "the steps in which a condition holds; playback pauses there", "search condition breakpoint expression until"),
    entry(Group::Episode, Precondition::Machine, Command::Dialog(DialogCommand::For(Subject::Report)), "Measure many episodes", &[key(Key::Q)], "a quantity in every step, wrong bits, and what each part contributes", "population lesion evaluate statistics bands worst"),
    entry(Group::Episode, Precondition::Wrong, Command::Dialog(DialogCommand::Explain), "Explain wrong bits", &[], "runs the episode without each part, and with each gate at its mean", "why failure repair lesion cause"),
    entry(Group::Time, Precondition::Match, Command::Play(Play::Match(1)), "Go to next match", &[key(Key::F3), key(Key::J)], "the next step in which the condition holds; after the last comes the first", "search breakpoint"),
    entry(Group::Time, Precondition::Match, Command::Play(Play::Match(-1)), "Go to previous match", &[shift(Key::F3), shift(Key::J)], "", "search breakpoint"),
    entry(Group::Episode, Precondition::Search, Command::Episode(Episode::NextMatch), "Find next episode", &[], "the next of 100 seeds in which the condition holds", "search condition seed"),
    entry(Group::Time, Precondition::Condition, Command::Dialog(DialogCommand::Condition(String::new())), "Clear condition", &[], "no marks, and playback goes on", "search breakpoint remove"),
    entry(Group::View, Precondition::Episode, Command::View(ViewCommand::NextLayout), "Change layout", &[key(Key::V)], "close-up, all stages, paper (Figure 6)", "view paper close-up arrangement"),
    entry(Group::View, Precondition::Episode, Command::Window(Window::TogglePresent), "Toggle presentation", &[key(Key::P)], "large pictures without panels; Esc leaves", "fullscreen projector slides"),
    entry(Group::View, Precondition::Memory, Command::View(ViewCommand::List(List::Instructions)), "List instructions", &[], "what the selected head does, such as STAY, SHIFT or JUMP", "disassembly program loop"),
    entry(Group::View, Precondition::Memory, Command::View(ViewCommand::List(List::Provenance)), "List provenance", &[], "the writes that made a read or a pinned output bit, and the reads of a write", "origin source influence why"),
    entry(Group::View, Precondition::Memory, Command::View(ViewCommand::AllHeads), "Show all heads", &[key(Key::Num0)], "side by side; Shift+click adds a second head", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::ToggleTouched), "Show touched rows only", &[key(Key::U)], "hide rows that no head touches", ""),
    entry(Group::View, Precondition::RowsLeftOut, Command::Rows(Rows::Fit), "Fit all rows", &[key(Key::Z)], "", "zoom reset"),
    entry(Group::View, Precondition::StepsLeftOut, Command::Steps(Steps::All), "Fit all steps", &[shift(Key::Z)], "the mouse wheel zooms over the pictures", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::Taller(1)), "Make rows taller", &[key(Key::Plus), key(Key::Equals)], "the mouse wheel scrolls them", "zoom"),
    entry(Group::View, Precondition::SomeRows, Command::Rows(Rows::Taller(-1)), "Make rows shorter", &[key(Key::Minus)], "", ""),
    entry(Group::View, Precondition::LowRows, Command::Rows(Rows::ToggleFollow), "Follow head", &[key(Key::F)], "keep its rows on screen", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::Select(1)), "Select next row", &[key(Key::ArrowDown)], "after the last row comes the first", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::Select(-1)), "Select previous row", &[key(Key::ArrowUp)], "", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::Extend(1)), "Extend to next row", &[shift(Key::ArrowDown)], "select several rows", ""),
    entry(Group::View, Precondition::Memory, Command::Rows(Rows::Extend(-1)), "Extend to previous row", &[shift(Key::ArrowUp)], "", ""),
    entry(Group::View, Precondition::Weightings, Command::View(ViewCommand::NextScale), "Toggle log scale", &[key(Key::N)], "of weightings", "scale of weightings logarithm"),
    entry(Group::Episode, Precondition::StepBefore, Command::Episode(Episode::Restart), "Restart episode", &[key(Key::R)], "same seed, from its first step", "rewind reset same seed"),
    entry(Group::Episode, Precondition::Machine, Command::Episode(Episode::NextSeed), "Go to next seed", &[shift(Key::R)], "another episode of this machine", "random new"),
    entry(Group::View, Precondition::Draws, Command::Episode(Episode::AnotherDraw), "Sample again", &[key(Key::A)], "the same episode with other random numbers", ""),
    entry(Group::View, Precondition::Draws, Command::Episode(Episode::Spread), "Show spread of samples", &[key(Key::S)], "mean, 5–95 % band and uncertainty of many samples", "uncertainty variance epistemic aleatoric"),
    entry(Group::View, Precondition::Recording, Command::Episode(Episode::Gradients(Quantity::Loss)), "Toggle gradients", &[key(Key::Y)], "show gradients of the loss; right-click an output bit for its own", "derivatives saliency backpropagation influence importance"),
    entry(Group::View, Precondition::Draws, Command::Episode(Episode::Sampling(NoiseMode::Mean)), "Use most likely rows", &[shift(Key::A)], "nothing is sampled; random weights take their mean", ""),
    entry(Group::View, Precondition::Draws, Command::Episode(Episode::Sampling(NoiseMode::Expected)), "Use expected weighting", &[], "a hard head attends to all rows by their probability", ""),
    entry(Group::Episode, Precondition::Editable, Command::Edit(Edit::Toggle), "Edit input", &[key(Key::E)], "Space or a click flips a bit or chooses a symbol, dragging paints bits", "flip bits symbols change"),
    entry(Group::Episode, Precondition::Recording, Command::Dialog(DialogCommand::For(Subject::Value)), "Set value", &[key(Key::B)], "while the episode runs; its future is computed again, as B", "branch intervene intervention override counterfactual gate what if change"),
    entry(Group::Episode, Precondition::Branch, Command::Edit(Edit::EndBranch), "End branch", &[], "remove all values that were set", "interventions clear revert"),
    entry(Group::Episode, Precondition::Nothing, Command::Window(Window::ToggleWelcome), "Open start page", &[key(Key::W)], "all machines, recent files", ""),
    entry(Group::Episode, Precondition::Nothing, Command::Window(Window::ToggleFamily), "Show attention mechanisms", &[], "each with a picture, its equation, its paper and an episode", "family uncertainty papers lecture"),
    entry(Group::Episode, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Open))), "Open file", &[control(Key::O)], "a trace (.json, .json.gz, .npz) or weights; or drop a file", "load import file"),
    entry(Group::Episode, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Save))), "Save trace", &[control(Key::S)], "the episode on screen, as .json, .json.gz or .npz", "export download json"),
    entry(Group::Episode, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Figure(Format::Png)))), "Save figure as PNG", &[control_shift(Key::E), control(Key::E)], "or as .svg, as .gif with every step, or as .html with a player", "export image picture screenshot"),
    entry(Group::Episode, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Figure(Format::Svg)))), "Save figure as SVG", &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::ALT), Key::E)], "axes and text as vectors", "export image picture vector"),
    entry(Group::Episode, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Figure(Format::Html)))), "Save figure as page", &[], "a page with a player, which needs no network", "export html slides embed player animation"),
    entry(Group::Episode, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Motion))), "Save animation", &[key(Key::M)], "the close-up in motion: the marked part, or eight steps", "export gif movie video"),
    entry(Group::Episode, Precondition::UnderWay, Command::File(File::GiveUp), "Cancel", &[control(Key::Period)], "or Esc: stop recording, reading or drawing", "abort stop give up"),
    entry(Group::Compare, Precondition::Episode, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Compare))), "Compare with file", &[control(Key::D)], "another trace or weights, on one clock", "diff"),
    entry(Group::Compare, Precondition::Another, Command::Compare(Compare::KeepAsA), "Keep as A", &[key(Key::K)], "the next machine, seed or changed bit is B", ""),
    entry(Group::Compare, Precondition::NtmBeside, Command::Compare(Compare::WithNtm), "Compare with NTM", &[], "its weightings beside this alignment, on the same episode", "attention encoder decoder neural turing machine"),
    entry(Group::Compare, Precondition::Pair, Command::Compare(Compare::Swap), "Swap A and B", &[key(Key::X)], "all layouts show the other episode", ""),
    entry(Group::Compare, Precondition::Pair, Command::Compare(Compare::ToggleDifference), "Toggle B − A", &[key(Key::D)], "show or hide the difference", ""),
    entry(Group::Compare, Precondition::Difference, Command::Compare(Compare::FirstDifference), "Go to first difference", &[shift(Key::D)], "its step, stage and head", ""),
    entry(Group::Compare, Precondition::Baseline, Command::Compare(Compare::End), "End comparison", &[control_shift(Key::D)], "or Esc in its layout", ""),
    entry(Group::Learn, Precondition::Nothing, Command::Learn(Learn::Toggle), "Train live", &[key(Key::T)], "train from scratch and watch; then pause or resume", "learn training"),
    entry(Group::Learn, Precondition::Unfinished, Command::Learn(Learn::Continue), "Continue training", &[], "the saved run on screen, from its last checkpoint", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Once), "Run one update", &[shift(Key::T)], "then pause", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::SlowOrFull), "Toggle full speed", &[], "single updates can be followed, or as fast as possible", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Faster(-1)), "Train slower", &[shift(Key::OpenBracket)], "half as many updates per second", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Faster(1)), "Train faster", &[shift(Key::CloseBracket)], "twice as many, up to full speed", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Replace(Replacement::Again)), "Restart training, same seed", &[], "from scratch", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Replace(Replacement::NextSeed)), "Train the next seed", &[], "other initial weights, other episodes", ""),
    entry(Group::Learn, Precondition::Nothing, Command::Learn(Learn::Replace(Replacement::Seeds(10))), "Train ten seeds", &[], "side by side: which of them learn the task?", "learn sweep"),
    entry(Group::Learn, Precondition::Nothing, Command::Learn(Learn::Replace(Replacement::Ablate)), "Run ablations", &[], "side by side, one seed: what does each stage contribute?", "lesion learn train without each stage"),
    entry(Group::Learn, Precondition::Runs, Command::Learn(Learn::MoveRun(1)), "Go to next run", &[], "of those side by side; shows its machine", ""),
    entry(Group::Learn, Precondition::Runs, Command::Learn(Learn::MoveRun(-1)), "Go to previous run", &[], "", ""),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::MoveSnapshot(-1)), "Go to previous training snapshot", &[shift(Key::Comma)], "the same episode with earlier weights", "earlier moment checkpoint"),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::MoveSnapshot(1)), "Go to next training snapshot", &[shift(Key::Period)], "the last one is the machine now", ""),
    entry(Group::Learn, Precondition::Finding, Command::Learn(Learn::MoveFinding(-1)), "Go to previous finding", &[shift(Key::PageUp)], "with the training snapshot of that time", ""),
    entry(Group::Learn, Precondition::Finding, Command::Learn(Learn::MoveFinding(1)), "Go to next finding", &[shift(Key::PageDown)], "", ""),
    entry(Group::Learn, Precondition::Learning, Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Run))), "Save run", &[], SAVE, "checkpoint weights export"),
    entry(Group::Learn, Precondition::Recoverable, Command::Dialog(DialogCommand::For(Subject::Recovery)), "Recover runs", &[], "unsaved ones of a killed program", "crash unsaved"),
    entry(Group::Learn, Precondition::Learning, Command::Learn(Learn::Replace(Replacement::Nothing)), "Stop training", &[], "the machine stays on screen", ""),
    entry(Group::Episode, Precondition::Value, Command::File(File::CopyTable(Form::Tsv)), "Copy as TSV", &[control(Key::C)], "the pinned value, or all rows", ""),
    entry(Group::Episode, Precondition::Value, Command::File(File::CopyTable(Form::NumPy)), "Copy as NumPy", &[control_shift(Key::C)], "", ""),
    entry(Group::Episode, Precondition::Value, Command::File(File::CopyTable(Form::Json)), "Copy as JSON", &[], "or right-click a picture for any part of it", ""),
    entry(Group::Episode, Precondition::Episode, Command::File(File::CopyLink), COPY, &[], "to this machine, episode, step and head", "link url share address"),
    entry(Group::Episode, Precondition::Undo, Command::Edit(Edit::Undo), "Undo", &[control(Key::Z)], "episode, input, heads, rows, pinned values", ""),
    entry(Group::Episode, Precondition::Redo, Command::Edit(Edit::Redo), "Redo", &[control_shift(Key::Z), control(Key::Y)], "", ""),
    entry(Group::Window, Precondition::Episode, Command::Window(Window::ToggleLeft), "Toggle episode panel", &[control_shift(Key::B)], "", ""),
    entry(Group::Window, Precondition::Episode, Command::Window(Window::ToggleNumbers), "Toggle numbers panel", &[control_shift(Key::S)], "", ""),
    entry(Group::Window, Precondition::Episode, Command::Window(Window::ToggleTimeline), "Toggle timeline panel", &[control_shift(Key::T)], "", ""),
    entry(Group::Window, Precondition::Nothing, Command::Window(Window::NextTheme), "Change theme", &[], "system, dark or light", ""),
    entry(Group::Window, Precondition::Smaller, Command::Window(Window::Larger(1)), "Zoom in", &[control(Key::Plus), control(Key::Equals)], "", ""),
    entry(Group::Window, Precondition::Larger, Command::Window(Window::Larger(-1)), "Zoom out", &[control(Key::Minus)], "", ""),
    entry(Group::Window, Precondition::Resized, Command::Window(Window::NormalSize), "Reset zoom", &[control(Key::Num0)], "", ""),
    entry(Group::View, Precondition::Nothing, Command::Window(Window::ToggleMotion), "Toggle reduced motion", &[], "no animation, no automatic playback", ""),
    entry(Group::Window, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::Settings)), "Open settings", &[control(Key::Comma)], "theme, colours, size, motion", ""),
    entry(Group::View, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::Messages)), "Show messages", &[], "all messages so far, to copy", ""),
    entry(Group::View, Precondition::Heads, Command::Tour(Tour::Start), "Start tour", &[], "two machines in small steps; resumes where you left off", "help introduction tutorial"),
    entry(Group::View, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::Glossary)), "Show glossary", &[], "every term in one sentence, with an episode that shows it", ""),
    entry(Group::View, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::About)), "About Tapescope", &[], "version and licences", ""),
    entry(Group::Window, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::Commands)), "Find command", &[control(Key::K), control(Key::P)], "every command by name", ""),
    entry(Group::Window, Precondition::Nothing, Command::Dialog(DialogCommand::For(Subject::Keys)), "Show keys", &[key(Key::Questionmark), key(Key::F1)], "this list", "shortcuts help"),
    entry(Group::Window, Precondition::Clutter, Command::Dialog(DialogCommand::Escape), "Close", &[key(Key::Escape)], "dialog, pinned value, messages", ""),
];

/// The entry of a command, if it has one.
pub fn entry_of(command: &Command) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.command == *command)
}

/// A key as people write it.
pub fn key_text(shortcut: KeyboardShortcut) -> String {
    let mut text = ModifierNames::NAMES.format(&shortcut.modifiers, false);
    if !text.is_empty() {
        text.push('+');
    }
    text += match shortcut.logical_key {
        Key::ArrowRight => "→",
        Key::ArrowLeft => "←",
        Key::ArrowUp => "↑",
        Key::ArrowDown => "↓",
        Key::Escape => "Esc",
        Key::PageDown => "PgDn",
        Key::PageUp => "PgUp",
        // Signs that would run into the one before.
        Key::Plus => "Plus",
        Key::Minus => "Minus",
        other => other.symbol_or_name(),
    };
    text
}

/// The key that chooses a head, as people write it.
pub fn head_key(head: usize) -> Option<String> {
    head_keys().nth(head).map(key_text)
}

/// The tooltip of a button: its name and its first key.
pub fn tooltip(command: &Command) -> String {
    with_key(entry_of(command).map_or("", |entry| entry.name), command)
}

/// Words with the first key of a command.
pub fn with_key(words: &str, command: &Command) -> String {
    let key = key_of(command).map(|key| format!("  ({key})"));
    format!("{words}{}", key.unwrap_or_default())
}

/// The first key of a command, as people write it.
pub fn key_of(command: &Command) -> Option<String> {
    entry_of(command)?.keys().next().map(key_text)
}

/// Tells how a file is opened.
pub fn how_to_open() -> String {
    let open = DialogCommand::For(Subject::File(FilePurpose::Open));
    let key = key_of(&open.into()).unwrap_or_default();
    format!("Open a trace or weights with {key}, or drop a file here.")
}

/// The arrow keys, first those of a slider.
pub const ARROWS: [Key; 4] = [
    Key::ArrowLeft,
    Key::ArrowRight,
    Key::ArrowUp,
    Key::ArrowDown,
];

/// Leaves these keys to the widget that has the keyboard in this frame.
pub fn leave_to_widget(ctx: &Context, keys: &'static [Key]) {
    let left = (ctx.cumulative_pass_nr(), keys);
    ctx.data_mut(|data| data.insert_temp(Id::unique("keys of a widget"), left));
}

/// Returns the keys that a widget had in the frame before.
fn keys_of_widget(ctx: &Context) -> &'static [Key] {
    let id = Id::unique("keys of a widget");
    let left = ctx.data(|data| data.get_temp::<(u64, &'static [Key])>(id));
    let left = left.filter(|(pass, _)| ctx.cumulative_pass_nr() <= pass + 1);
    left.map_or(&[], |(_, keys)| keys)
}

/// True where the last press was that of a key, not of a pointer or a finger.
pub fn is_by_key(ctx: &Context) -> bool {
    let id = Id::unique("by key");
    ctx.data(|data| data.get_temp(id)).unwrap_or(false)
}

/// Remembers whether the last press of this frame was that of a key.
fn note_press(ctx: &Context) {
    let is_key = |event: &Event| match event {
        Event::Key { pressed: true, .. } => Some(true),
        Event::PointerButton { pressed: true, .. } | Event::Touch { .. } => Some(false),
        _ => None,
    };
    let last = ctx.input(|input| input.events.iter().rev().find_map(is_key));
    if let Some(by_key) = last {
        ctx.data_mut(|data| data.insert_temp(Id::unique("by key"), by_key));
    }
}

/// Returns the first and the last widget that Tab reaches.
pub fn tab_ends(ctx: &Context) -> Option<[Id; 2]> {
    let is_reached = |widget: &&WidgetRect| widget.enabled && widget.sense.is_focusable();
    let ends = ctx.viewport(|viewport| {
        let layers = viewport.prev_pass.widgets.layers();
        let ends = layers.filter_map(|(&layer, widgets)| {
            let mut reached = widgets.iter().filter(is_reached).map(|widget| widget.id);
            let first = reached.next()?;
            Some((layer, [first, reached.next_back().unwrap_or(first)]))
        });
        ends.collect::<Vec<_>>()
    });
    ctx.memory(|memory| {
        let place = |layer: LayerId| (layer.order, memory.layer_ids().position(|it| it == layer));
        let layers = ends.into_iter();
        let mut layers: Vec<_> = layers
            .filter(|(layer, _)| memory.allows_interaction(*layer))
            .collect();
        layers.sort_by_key(|(layer, _)| place(*layer));
        let (_, [first, _]) = layers.first()?;
        let (_, [_, last]) = layers.last()?;
        Some([*first, *last])
    })
}

/// Owners of the keyboard besides text fields, in which only Esc counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// A dialog: Esc, the list of keys and that of commands count.
    pub dialog: bool,
    /// The input, edited by hand: it has keys of its own.
    pub editing: bool,
}

/// Takes the keys of the frame before any widget sees them.
pub fn take_keys(ctx: &Context, held: Held) -> Vec<Command> {
    note_press(ctx);
    let typing = ctx.text_edit_focused();
    // An open menu has Esc to itself.
    let menu_open = egui::Popup::is_any_open(ctx);
    let (free, taken) = (!typing && !held.dialog, keys_of_widget(ctx));
    let counts = |command: &Command| match command {
        Command::Dialog(DialogCommand::Escape | DialogCommand::For(Subject::Commands)) => {
            !menu_open
        }
        Command::Dialog(DialogCommand::For(Subject::Keys)) => !typing,
        _ => free,
    };
    let mut commands = Vec::new();
    ctx.input_mut(|input| {
        if free {
            // The window system makes an event of its own of Ctrl+C.
            let forms = [Form::Tsv, Form::NumPy];
            let form = forms[usize::from(input.modifiers.shift)];
            let copies = input.events.iter();
            let copies = copies.filter(|event| **event == Event::Copy);
            commands.extend(copies.map(|_| Command::File(File::CopyTable(form))));
        }
        let is_key = |event: &Event| matches!(event, Event::Key { .. });
        let pressed = input.events.iter().any(is_key);
        let bound = if pressed { bound(held) } else { Vec::new() };
        for (key, command) in bound {
            let is_free = key.modifiers.any() || !taken.contains(&key.logical_key);
            if is_free && counts(&command) {
                let count = input.count_and_consume_key(key.modifiers, key.logical_key);
                commands.extend(std::iter::repeat_n(command, count));
            }
        }
    });
    commands
}

/// Every key with its command, the most modifiers first: Shift+R is not R.
fn bound(held: Held) -> Vec<(KeyboardShortcut, Command)> {
    let table = TABLE.iter().filter(|entry| !(held.editing && waits(entry)));
    let keys = table.flat_map(|entry| entry.keys().map(|key| (key, entry.command.clone())));
    let heads = head_keys().enumerate();
    let heads = heads.map(|(head, key)| (key, ViewCommand::Focus(head).into()));
    let editing = edit_keys().into_iter().filter(|_| held.editing);
    let mut bound: Vec<_> = keys.chain(heads).chain(editing).collect();
    bound.sort_by_key(|(KeyboardShortcut { modifiers, .. }, _)| {
        let held = [modifiers.alt, modifiers.command, modifiers.shift];
        std::cmp::Reverse(held.into_iter().filter(|&on| on).count())
    });
    bound
}

/// True for a command that is unavailable while the input is edited: it moves the play-head, or its key is taken.
fn waits(entry: &Entry) -> bool {
    let own = edit_keys().map(|(key, _)| key.logical_key);
    matches!(entry.group, Group::Play | Group::Time)
        || (entry.keys.iter()).any(|key| own.contains(&key.logical_key))
}

/// The keys while the input is edited.
fn edit_keys() -> [(KeyboardShortcut, Command); 6] {
    [
        (key(Key::ArrowRight), Command::Edit(Edit::MoveMark(1, 0))),
        (key(Key::ArrowLeft), Command::Edit(Edit::MoveMark(-1, 0))),
        (key(Key::ArrowDown), Command::Edit(Edit::MoveMark(0, 1))),
        (key(Key::ArrowUp), Command::Edit(Edit::MoveMark(0, -1))),
        (key(Key::Space), Command::Edit(Edit::FlipMarked)),
        (key(Key::Escape), Command::Edit(Edit::Toggle)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_are_in_lower_case() {
        for entry in &TABLE {
            assert_eq!(entry.also, entry.also.to_lowercase());
        }
    }

    #[test]
    fn no_two_commands_share_a_key() {
        let mut keys: Vec<_> = TABLE
            .iter()
            .flat_map(|entry| entry.keys.iter().copied())
            .chain(head_keys())
            .map(key_text)
            .collect();
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn no_key_belongs_to_the_browser() {
        for entry in &TABLE {
            for key in entry.keys {
                let text = key_text(*key);
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
        let mut names: Vec<_> = TABLE.iter().map(|entry| entry.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(
            tooltip(&Command::Play(Play::Step(10))),
            "Go 10 steps forward  (Shift+→)"
        );
        assert_eq!(
            tooltip(&Subject::File(FilePurpose::Open).into()),
            "Open file  (Ctrl+O)"
        );
        assert_eq!(
            tooltip(&Command::Play(Play::Stage(1))),
            "Go to next stage  (.)"
        );
    }
}
