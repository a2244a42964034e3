//! The one table of commands that have a name: in lists, on buttons, and on the keyboard.

use egui::{Context, Key, KeyboardShortcut, Modifiers};

use super::command::{
    Ask, Command, Compare, Edit, Episode, File, Instead, Learn, Look, Play, Rows, Steps, Subject,
    Tour, Window,
};
use super::files::Aim;
use super::inspect::Form;
use super::need::Need;
use crate::figure::Format;
use crate::model::Sampling;
use crate::platform::HAS_FILES;
use crate::train::Quantity;

/// A command with its name, its keys and what it does, in one line.
#[derive(Debug)]
pub struct Entry {
    /// Where it stands in the list of keys.
    pub group: Group,
    /// What it takes to do it.
    pub need: Need,
    /// The command.
    pub command: Command,
    /// As buttons and lists call it.
    pub name: &'static str,
    /// The keys: [`Entry::keys`].
    keys: &'static [KeyboardShortcut],
    /// What it does.
    pub help: &'static str,
}

impl Entry {
    /// The keys; the first one is shown. In a browser without those that are the browser's own.
    pub fn keys(&self) -> impl Iterator<Item = KeyboardShortcut> {
        let keys = self.keys.iter().copied();
        keys.filter(|key| HAS_FILES || !is_the_browsers(*key))
    }

    /// Other words that people look for it by.
    pub fn other_words(&self) -> &'static str {
        let found = OTHER_WORDS.iter().find(|(name, _)| *name == self.name);
        found.map_or("", |(_, words)| words)
    }
}

/// True of what every browser has for itself, whatever the page wants: size, tabs, bookmarks, tools; and of what
/// people miss there, printing and the line to search in.
fn is_the_browsers(key: KeyboardShortcut) -> bool {
    let with_shift = [Key::T, Key::B, Key::C, Key::D];
    let without = [
        Key::Plus,
        Key::Equals,
        Key::Minus,
        Key::Num0,
        Key::D,
        Key::E,
        Key::P,
    ];
    let modifiers = key.modifiers;
    modifiers.command
        && !modifiers.alt
        && if modifiers.shift {
            with_shift.contains(&key.logical_key)
        } else {
            without.contains(&key.logical_key)
        }
}

/// True of a key, as browsers call it, that does something here, and so nothing else: with Ctrl or a number of its own.
#[cfg(target_arch = "wasm32")]
pub fn keeps(name: &str, held: [bool; 3]) -> bool {
    let Some(pressed) = pressed(name, held) else {
        return false;
    };
    let (control, key) = (pressed.modifiers.command, pressed.logical_key);
    // What is copied, cut and pasted comes from the browser.
    let is_text = matches!(key, Key::C | Key::X | Key::V);
    (control || key == Key::F1)
        && !(control && is_text)
        && TABLE.iter().flat_map(Entry::keys).any(|key| key == pressed)
}

/// True of a key, as browsers call it, that is the browser's own: nobody here sees it.
#[cfg(target_arch = "wasm32")]
pub fn leaves(name: &str, held: [bool; 3]) -> bool {
    pressed(name, held).is_some_and(is_the_browsers)
}

#[cfg(target_arch = "wasm32")]
fn pressed(name: &str, [control, shift, alt]: [bool; 3]) -> Option<KeyboardShortcut> {
    let key = Key::from_name(&name.to_uppercase()).or_else(|| Key::from_name(name))?;
    let held = [
        (control, Modifiers::COMMAND),
        (shift, Modifiers::SHIFT),
        (alt, Modifiers::ALT),
    ];
    let held = held.into_iter().filter(|(is_held, _)| *is_held);
    let modifiers = held.fold(Modifiers::NONE, |all, (_, one)| all | one);
    Some(KeyboardShortcut::new(modifiers, key))
}

/// A part of the list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Time passes, or not.
    Play,
    /// To other steps and stages.
    Time,
    /// What is looked at, and how.
    Look,
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
    /// As the list calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Play => "Play",
            Self::Time => "Move in time",
            Self::Look => "Look",
            Self::Episode => "Episode and files",
            Self::Window => "Window",
            Self::Compare => "Compare",
            Self::Learn => "Learn",
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

/// Number keys that choose a head.
const HEAD_KEYS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

const fn entry(
    group: Group,
    need: Need,
    command: Command,
    name: &'static str,
    keys: &'static [KeyboardShortcut],
    help: &'static str,
) -> Entry {
    Entry {
        group,
        need,
        command,
        name,
        keys,
        help,
    }
}

/// Where there is no page to link to, a command stands for it.
const COPY: &str = if HAS_FILES {
    "Copy link as a command"
} else {
    "Copy link"
};

/// By which other words a command is found, by its name.
#[rustfmt::skip]
const OTHER_WORDS: [(&str, &str); 26] = [
    ("Go to step", "jump seek"),
    ("Layout", "view paper close-up arrangement"),
    ("Present", "fullscreen projector slides"),
    ("Fit all rows", "zoom reset"),
    ("Taller rows", "zoom"),
    ("Scale of weightings", "log logarithm"),
    ("Restart, same seed", "rewind reset"),
    ("Next seed", "random new"),
    ("Spread of samples", "uncertainty variance"),
    ("What mattered", "gradients derivatives saliency backpropagation"),
    ("Edit the input", "flip bits change"),
    ("Open", "load import file"),
    ("Save trace", "export download json"),
    ("Save figure as PNG", "export image picture screenshot"),
    ("Save figure as SVG", "export image picture vector"),
    ("Save animation", "export gif movie video"),
    ("Give up", "cancel abort stop"),
    ("Compare with", "diff"),
    ("Learn", "train training"),
    ("Learn ten seeds", "train sweep"),
    ("Learn without each stage", "ablations lesion train"),
    ("Earlier moment of training", "snapshot checkpoint"),
    ("Save run", "checkpoint weights export"),
    (COPY, "link url share address"),
    ("Tour", "help introduction tutorial"),
    ("Keys", "shortcuts help"),
];

/// What a run becomes where there are folders, and where there are none.
const SAVE: &str = if HAS_FILES {
    "into a folder from which it can go on"
} else {
    "the weights, with their curve"
};

/// The table, in the order of the list of all commands.
#[rustfmt::skip]
pub static TABLE: [Entry; 91] = [
    entry(Group::Play, Need::Episode, Command::Play(Play::Toggle), "Play or pause", &[key(Key::Space)], "at the end, from the beginning"),
    entry(Group::Time, Need::StepAfter, Command::Play(Play::Step(1)), "Next step", &[key(Key::ArrowRight)], "one step forward"),
    entry(Group::Time, Need::StepBefore, Command::Play(Play::Step(-1)), "Previous step", &[key(Key::ArrowLeft)], "one step back"),
    entry(Group::Time, Need::StepAfter, Command::Play(Play::Step(10)), "Ten steps forward", &[shift(Key::ArrowRight)], ""),
    entry(Group::Time, Need::StepBefore, Command::Play(Play::Step(-10)), "Ten steps back", &[shift(Key::ArrowLeft)], ""),
    entry(Group::Time, Need::Episode, Command::Play(Play::Stage(1)), "Next stage", &[key(Key::Period)], "controller, content, gate and so on"),
    entry(Group::Time, Need::Episode, Command::Play(Play::Stage(-1)), "Previous stage", &[key(Key::Comma)], ""),
    entry(Group::Time, Need::StepBefore, Command::Play(Play::First), "First step", &[key(Key::Home)], ""),
    entry(Group::Time, Need::StepAfter, Command::Play(Play::Last), "Last step", &[key(Key::End)], ""),
    entry(Group::Time, Need::Episode, Command::Ask(Ask::For(Subject::Step)), "Go to step", &[key(Key::G)], "a number, +5, −1 or a phase"),
    entry(Group::Play, Need::Episode, Command::Play(Play::Faster(-1)), "Slower", &[key(Key::OpenBracket)], "half the speed; when slow enough stage by stage"),
    entry(Group::Play, Need::Episode, Command::Play(Play::Faster(1)), "Faster", &[key(Key::CloseBracket)], "twice the speed"),
    entry(Group::Play, Need::Episode, Command::Play(Play::NormalSpeed), "Normal speed", &[key(Key::Backslash)], "4 steps per second; in the close-up slow enough to read"),
    entry(Group::Play, Need::Episode, Command::Play(Play::ToggleLoop), "Loop", &[key(Key::L)], "off, all, the marked part"),
    entry(Group::Play, Need::Episode, Command::Play(Play::LoopIn), "Loop from here", &[key(Key::I)], "or drag over the phases above the pictures"),
    entry(Group::Play, Need::Episode, Command::Play(Play::LoopOut), "Loop to here", &[key(Key::O)], ""),
    entry(Group::Time, Need::EventAfter, Command::Play(Play::Event(1)), "Next event", &[key(Key::PageDown)], "a phase, a jump of a head, a wrong bit"),
    entry(Group::Time, Need::EventBefore, Command::Play(Play::Event(-1)), "Previous event", &[key(Key::PageUp)], ""),
    entry(Group::Look, Need::Episode, Command::Look(Look::NextLayout), "Layout", &[key(Key::V)], "close-up, all stages, figure of the paper"),
    entry(Group::Look, Need::Episode, Command::Window(Window::TogglePresent), "Present", &[key(Key::P)], "the pictures alone and large; Esc leaves"),
    entry(Group::Look, Need::Memory, Command::Look(Look::AllHeads), "All heads", &[key(Key::Num0)], "side by side; Shift+click pins a second"),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::ToggleTouched), "Touched rows only", &[key(Key::U)], "hide what no head touches"),
    entry(Group::Look, Need::RowsLeftOut, Command::Rows(Rows::Fit), "Fit all rows", &[key(Key::Z)], ""),
    entry(Group::Look, Need::StepsLeftOut, Command::Steps(Steps::All), "Fit all steps", &[shift(Key::Z)], "the wheel over the pictures shows a part of them"),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::Taller(1)), "Taller rows", &[key(Key::Plus), key(Key::Equals)], "the wheel moves them"),
    entry(Group::Look, Need::SomeRows, Command::Rows(Rows::Taller(-1)), "Lower rows", &[key(Key::Minus)], ""),
    entry(Group::Look, Need::LowRows, Command::Rows(Rows::ToggleFollow), "Follow the head", &[key(Key::F)], "it stays on screen"),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::Select(1)), "Next row", &[key(Key::ArrowDown)], "selects it"),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::Select(-1)), "Previous row", &[key(Key::ArrowUp)], ""),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::Extend(1)), "Extend to the next row", &[shift(Key::ArrowDown)], "several rows together"),
    entry(Group::Look, Need::Memory, Command::Rows(Rows::Extend(-1)), "Extend to the row before", &[shift(Key::ArrowUp)], ""),
    entry(Group::Look, Need::Memory, Command::Look(Look::NextScale), "Scale of weightings", &[key(Key::N)], "linear or logarithmic"),
    entry(Group::Episode, Need::StepBefore, Command::Episode(Episode::Restart), "Restart, same seed", &[key(Key::R)], "from its first step"),
    entry(Group::Episode, Need::Machine, Command::Episode(Episode::NextSeed), "Next seed", &[shift(Key::R)], "another episode of this machine"),
    entry(Group::Look, Need::Draws, Command::Episode(Episode::AnotherDraw), "Another draw", &[key(Key::A)], "the same episode, other rows by chance"),
    entry(Group::Look, Need::Draws, Command::Episode(Episode::Spread), "Spread of samples", &[key(Key::S)], "many draws: mean, band, what is uncertain"),
    entry(Group::Look, Need::Recording, Command::Episode(Episode::Mattered(Quantity::Loss)), "What mattered", &[key(Key::Y)], "derivatives of the loss in the place of values; of a bit by a right click on it"),
    entry(Group::Look, Need::Draws, Command::Episode(Episode::Sampling(Sampling::Mean)), "Most likely rows", &[shift(Key::A)], "nothing is drawn; of random weights the mean"),
    entry(Group::Look, Need::Draws, Command::Episode(Episode::Sampling(Sampling::Expected)), "Expected rows", &[], "a hard head attends to all, as likely as they are"),
    entry(Group::Episode, Need::Recording, Command::Edit(Edit::Toggle), "Edit the input", &[key(Key::E)], "Space or a click flips, dragging paints"),
    entry(Group::Episode, Need::Nothing, Command::Window(Window::ToggleWelcome), "Start page", &[key(Key::W)], "all machines, recent files"),
    entry(Group::Episode, Need::Nothing, Command::Ask(Ask::For(Subject::File(Aim::Open))), "Open", &[control(Key::O)], "a trace (.json, .json.gz, .npz) or weights; or drop a file"),
    entry(Group::Episode, Need::Episode, Command::Ask(Ask::For(Subject::File(Aim::Save))), "Save trace", &[control(Key::S)], "the episode on screen, as .json, .json.gz or .npz"),
    entry(Group::Episode, Need::Episode, Command::Ask(Ask::For(Subject::File(Aim::Figure(Format::Png)))), "Save figure as PNG", &[control_shift(Key::E), control(Key::E)], "or as .svg, or as .gif with every step"),
    entry(Group::Episode, Need::Episode, Command::Ask(Ask::For(Subject::File(Aim::Figure(Format::Svg)))), "Save figure as SVG", &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::ALT), Key::E)], "axes and text as vectors"),
    entry(Group::Episode, Need::Episode, Command::Ask(Ask::For(Subject::File(Aim::Motion))), "Save animation", &[key(Key::M)], "the close-up in motion: the marked part, or eight steps"),
    entry(Group::Episode, Need::UnderWay, Command::File(File::GiveUp), "Give up", &[control(Key::Period)], "or Esc: what is recorded, read or drawn"),
    entry(Group::Compare, Need::Episode, Command::Ask(Ask::For(Subject::File(Aim::Compare))), "Compare with", &[control(Key::D)], "another trace or weights, on one clock"),
    entry(Group::Compare, Need::Another, Command::Compare(Compare::KeepAsA), "Keep as A", &[key(Key::K)], "another machine, seed or bit is B"),
    entry(Group::Compare, Need::Pair, Command::Compare(Compare::Swap), "Swap A and B", &[key(Key::X)], "all layouts show the other one"),
    entry(Group::Compare, Need::Pair, Command::Compare(Compare::ToggleDifference), "Difference", &[key(Key::D)], "what B has more than A, or not"),
    entry(Group::Compare, Need::Difference, Command::Compare(Compare::FirstDifference), "First difference", &[shift(Key::D)], "its step, stage and head"),
    entry(Group::Compare, Need::Kept, Command::Compare(Compare::End), "End the comparison", &[control_shift(Key::D)], "or Esc in its layout"),
    entry(Group::Learn, Need::Nothing, Command::Learn(Learn::Toggle), "Learn", &[key(Key::T)], "train from nothing and watch; then go on, or wait"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Once), "One update", &[shift(Key::T)], "then wait"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::SlowOrFull), "Slow or full speed", &[], "so slow that single updates can be followed, or all it can"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Faster(-1)), "Train slower", &[shift(Key::OpenBracket)], "half as many updates per second"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Faster(1)), "Train faster", &[shift(Key::CloseBracket)], "twice as many; in the end full speed"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Instead(Instead::Again)), "Learn again, same seed", &[], "from nothing"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Instead(Instead::NextSeed)), "Learn from the next seed", &[], "other weights to begin with, other episodes"),
    entry(Group::Learn, Need::Nothing, Command::Learn(Learn::Instead(Instead::Seeds(10))), "Learn ten seeds", &[], "side by side: which of them learn it?"),
    entry(Group::Learn, Need::Nothing, Command::Learn(Learn::Instead(Instead::Ablate)), "Learn without each stage", &[], "side by side, from one seed: what is each stage good for?"),
    entry(Group::Learn, Need::Runs, Command::Learn(Learn::MoveRun(1)), "Next run", &[], "of those that learn side by side: its machine comes on screen"),
    entry(Group::Learn, Need::Runs, Command::Learn(Learn::MoveRun(-1)), "Previous run", &[], ""),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::MoveMoment(-1)), "Earlier moment of training", &[shift(Key::Comma)], "the same episode by what the machine was"),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::MoveMoment(1)), "Later moment of training", &[shift(Key::Period)], "in the end what it is now"),
    entry(Group::Learn, Need::Finding, Command::Learn(Learn::MoveFinding(-1)), "What was noticed before", &[shift(Key::PageUp)], "in words, with what the machine was then"),
    entry(Group::Learn, Need::Finding, Command::Learn(Learn::MoveFinding(1)), "What was noticed next", &[shift(Key::PageDown)], ""),
    entry(Group::Learn, Need::Learning, Command::Ask(Ask::For(Subject::File(Aim::Run))), "Save run", &[], SAVE),
    entry(Group::Learn, Need::Learning, Command::Learn(Learn::Instead(Instead::Nothing)), "Stop learning", &[], "the machine stays as it is"),
    entry(Group::Episode, Need::Value, Command::File(File::CopyTable(Form::Tsv)), "Copy as TSV", &[control(Key::C)], "what is kept in view, or all rows"),
    entry(Group::Episode, Need::Value, Command::File(File::CopyTable(Form::NumPy)), "Copy as NumPy", &[control_shift(Key::C)], ""),
    entry(Group::Episode, Need::Value, Command::File(File::CopyTable(Form::Json)), "Copy as JSON", &[], "or a right click on a picture: any part of it"),
    entry(Group::Episode, Need::Episode, Command::File(File::CopyLink), COPY, &[], "to this machine, episode, step and head, for others"),
    entry(Group::Episode, Need::Undo, Command::Edit(Edit::Undo), "Undo", &[control(Key::Z)], "what is asked for, looked at, how it looks"),
    entry(Group::Episode, Need::Redo, Command::Edit(Edit::Redo), "Redo", &[control_shift(Key::Z), control(Key::Y)], ""),
    entry(Group::Window, Need::Episode, Command::Window(Window::ToggleLeft), "Episode panel", &[control_shift(Key::B)], ""),
    entry(Group::Window, Need::Episode, Command::Window(Window::ToggleNumbers), "Numbers panel", &[control_shift(Key::S)], ""),
    entry(Group::Window, Need::Episode, Command::Window(Window::ToggleTimeline), "Timeline panel", &[control_shift(Key::T)], ""),
    entry(Group::Window, Need::Nothing, Command::Window(Window::NextTheme), "Theme", &[], "as the system, dark, light"),
    entry(Group::Window, Need::Smaller, Command::Window(Window::Larger(1)), "Larger", &[control(Key::Plus), control(Key::Equals)], ""),
    entry(Group::Window, Need::Larger, Command::Window(Window::Larger(-1)), "Smaller", &[control(Key::Minus)], ""),
    entry(Group::Window, Need::Resized, Command::Window(Window::NormalSize), "Normal size", &[control(Key::Num0)], ""),
    entry(Group::Look, Need::Nothing, Command::Window(Window::ToggleMotion), "Reduced motion", &[], "nothing glides or plays by itself"),
    entry(Group::Window, Need::Nothing, Command::Ask(Ask::For(Subject::Settings)), "Settings", &[control(Key::Comma)], "theme, colours, size, motion"),
    entry(Group::Look, Need::Nothing, Command::Ask(Ask::For(Subject::Messages)), "Messages", &[], "what was said so far, to be copied"),
    entry(Group::Look, Need::Heads, Command::Tour(Tour::Start), "Tour", &[], "two machines in small steps, from where it was left"),
    entry(Group::Look, Need::Nothing, Command::Ask(Ask::For(Subject::About)), "About", &[], "version and licences"),
    entry(Group::Window, Need::Nothing, Command::Ask(Ask::For(Subject::Commands)), "Find a command", &[control(Key::K), control(Key::P)], "every command, by its name"),
    entry(Group::Window, Need::Nothing, Command::Ask(Ask::For(Subject::Keys)), "Keys", &[key(Key::Questionmark), key(Key::F1)], "this list"),
    entry(Group::Window, Need::Clutter, Command::Ask(Ask::Escape), "Close", &[key(Key::Escape)], "dialog, what is kept in view, messages"),
];

/// The entry of a command, if it has one.
pub fn entry_of(command: &Command) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.command == *command)
}

/// A key as people write it.
pub fn key_text(shortcut: KeyboardShortcut) -> String {
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
    HEAD_KEYS.get(head).map(|head| key_text(key(*head)))
}

/// The tooltip of a button: its name and its first key.
pub fn tooltip(command: &Command) -> String {
    entry_of(command).map_or_else(String::new, |entry| match entry.keys().next() {
        Some(key) => format!("{}  ({})", entry.name, key_text(key)),
        None => entry.name.to_owned(),
    })
}

/// The arrows that the widget with the keyboard has for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrows {
    /// None.
    #[default]
    None,
    /// ← and →: a track.
    Sideways,
    /// All: cards.
    All,
}

/// Who has the keyboard, besides text that is being typed: while that is, only Esc counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// A dialog: Esc, the list of keys and that of commands count.
    pub dialog: bool,
    /// The input, edited by hand: it has keys of its own.
    pub editing: bool,
    /// Which arrows a widget has for itself.
    pub arrows: Arrows,
}

/// Takes the keys of the frame before any widget sees them.
pub fn take_keys(ctx: &Context, held: Held) -> Vec<Command> {
    let typing = ctx.text_edit_focused();
    // An open menu has Esc to itself.
    let menu_open = egui::Popup::is_any_open(ctx);
    let free = !typing && !held.dialog;
    let counts = |command: &Command| match command {
        Command::Ask(Ask::Escape | Ask::For(Subject::Commands)) => !menu_open,
        Command::Ask(Ask::For(Subject::Keys)) => !typing,
        _ => free,
    };
    let mut commands = Vec::new();
    ctx.input_mut(|input| {
        if free {
            // The window system makes an event of its own of Ctrl+C.
            let form = if input.modifiers.shift {
                Form::NumPy
            } else {
                Form::Tsv
            };
            let copies = input.events.iter();
            let copies = copies.filter(|event| **event == egui::Event::Copy);
            commands.extend(copies.map(|_| Command::File(File::CopyTable(form))));
        }
        for (key, command) in bound(held) {
            if counts(&command) {
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
    let heads = HEAD_KEYS.iter().enumerate();
    let heads = heads.map(|(head, number)| (key(*number), Look::Focus(head).into()));
    let editing = edit_keys().into_iter().filter(|_| held.editing);
    let mut bound: Vec<_> = keys.chain(heads).chain(editing).collect();
    let arrows = [
        Key::ArrowLeft,
        Key::ArrowRight,
        Key::ArrowUp,
        Key::ArrowDown,
    ]
    .map(key);
    let taken = match held.arrows {
        Arrows::None => &[],
        Arrows::Sideways => &arrows[..2],
        Arrows::All => &arrows[..],
    };
    bound.retain(|(key, _)| !taken.contains(key));
    bound.sort_by_key(|(key, _)| std::cmp::Reverse(modifier_count(key.modifiers)));
    bound
}

/// True for what gives way while the input is edited: whatever moves the play-head, and what has a key then.
fn waits(entry: &Entry) -> bool {
    let own = edit_keys();
    matches!(entry.group, Group::Play | Group::Time)
        || entry.keys.iter().any(|key| {
            own.iter()
                .any(|(other, _)| other.logical_key == key.logical_key)
        })
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
    fn other_words_are_those_of_commands() {
        for (name, words) in OTHER_WORDS {
            assert!(TABLE.iter().any(|entry| entry.name == name), "{name}");
            assert_eq!(words, words.to_lowercase());
        }
    }

    #[test]
    fn no_two_commands_share_a_key() {
        let mut keys: Vec<_> = TABLE
            .iter()
            .flat_map(|entry| entry.keys.iter().copied())
            .chain(HEAD_KEYS.map(key))
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
            "Ten steps forward  (Shift+→)"
        );
        assert_eq!(
            tooltip(&Command::Ask(Ask::For(Subject::File(Aim::Open)))),
            "Open  (Ctrl+O)"
        );
        assert_eq!(tooltip(&Command::Play(Play::Stage(1))), "Next stage  (.)");
    }
}
