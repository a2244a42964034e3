//! What can be chosen from the list of all commands, and what cannot be done now.

use super::command::{Ask, Command, Compare, Edit, Episode, File, Look, Play, Rows, Tour, Window};
use super::keys::{self, TABLE};
use super::state::State;
use super::state::arrangement::Arrangement;
use super::state::episode::Open;
use super::state::settings::{SCALES, Theme};
use super::story;
use crate::figure::Map;

/// A line of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub help: String,
    /// Its key, as people write it, or nothing.
    pub key: String,
    /// The command.
    pub command: Command,
    /// Why it cannot be done now, if it cannot.
    pub blocked: Option<&'static str>,
}

/// Why something cannot be done now.
type Why = Option<&'static str>;

/// The reason, where it holds.
fn when(holds: bool, why: &'static str) -> Why {
    holds.then_some(why)
}

const NO_EPISODE: &str = "no episode is on screen";
const NO_MEMORY: &str = "this machine has no memory";
const ALL_ROWS: &str = "all rows are on screen";

impl State {
    /// Every command by its name: the table, then the machines and the heads of this moment.
    pub fn choices(&self) -> Vec<Choice> {
        let choice = |command: Command, name: String, help: &str, key: String| Choice {
            blocked: self.blocked(&command),
            help: help.to_owned(),
            name,
            key,
            command,
        };
        // The list itself is not on the list.
        let table = TABLE
            .iter()
            .filter(|entry| entry.command != Command::Ask(Ask::Command));
        let mut choices: Vec<_> = table
            .map(|entry| {
                let keys: Vec<_> = entry.keys.iter().copied().map(keys::key_text).collect();
                let name = entry.name.to_owned();
                choice(entry.command.clone(), name, entry.help, keys.join("  "))
            })
            .collect();
        let machines = self.session.machines.iter().enumerate();
        choices.extend(machines.map(|(index, machine)| {
            let name = format!("Machine: {}", machine.title);
            let help = "an episode of its own size";
            choice(
                Command::Episode(Episode::Machine(index)),
                name,
                help,
                String::new(),
            )
        }));
        let heads = self.trace().map_or(0, |trace| trace.heads.len());
        choices.extend((0..heads).filter_map(|head| {
            let recording = &self.session.open.as_ref()?.shown.recording;
            let name = format!("Look at head {}", story::head_label(recording, head));
            let key = keys::head_key(head).unwrap_or_default();
            Some(choice(
                Command::Look(Look::Focus(head)),
                name,
                "its stages, its numbers",
                key,
            ))
        }));
        for theme in Theme::ALL {
            let name = format!("Theme: {}", theme.name().to_lowercase());
            choices.push(choice(
                Command::Window(Window::Theme(theme)),
                name,
                "",
                String::new(),
            ));
        }
        for map in Map::ALL {
            let name = format!("Colours: {}", map.name());
            choices.push(choice(
                Command::Window(Window::Colors(map)),
                name,
                "of weightings",
                String::new(),
            ));
        }
        choices
    }

    /// Why this cannot be done now, if it cannot.
    fn blocked(&self, command: &Command) -> Why {
        match command {
            Command::Play(play) => self.blocked_play(*play),
            Command::Look(look) => self.blocked_look(*look),
            Command::Rows(rows) => self.blocked_rows(*rows),
            Command::Episode(Episode::Restart) => self.blocked_play(Play::First),
            Command::Episode(_) => when(self.session.machine().is_none(), "no machine is loaded"),
            Command::Edit(edit) => self.blocked_edit(*edit),
            Command::Compare(compare) => self.blocked_comparison(compare),
            Command::File(File::CopyTable(_)) => self.without_episode().or_else(|| {
                let none = self.heads() == 0 && self.card().is_none();
                when(none, "click a value first")
            }),
            Command::Ask(ask) => self.blocked_dialog(ask),
            Command::Window(window) => self.blocked_window(*window),
            Command::Tour(Tour::Start) => {
                let none = self.session.first_with_heads().is_none() && self.heads() == 0;
                when(none, "no machine with heads is loaded")
            }
            Command::File(_) | Command::Tour(_) | Command::Done(_) => None,
        }
    }

    fn without_episode(&self) -> Why {
        when(self.session.open.is_none(), NO_EPISODE)
    }

    fn blocked_play(&self, play: Play) -> Why {
        let (step, steps) = (self.player.step(), self.player.steps());
        self.without_episode().or_else(|| match play {
            Play::NextEvent => when(
                self.event(true).is_none(),
                "nothing changes after this step",
            ),
            Play::PreviousEvent => when(
                self.event(false).is_none(),
                "nothing changes before this step",
            ),
            Play::NextStep | Play::JumpForward | Play::Last => {
                when(step + 1 >= steps, "this is the last step")
            }
            Play::PreviousStep | Play::JumpBack | Play::First => {
                when(step == 0, "this is the first step")
            }
            Play::Toggle
            | Play::NextStage
            | Play::PreviousStage
            | Play::Faster
            | Play::Slower
            | Play::NormalSpeed
            | Play::ToggleLoop
            | Play::LoopIn
            | Play::LoopOut
            | Play::LoopRange(_)
            | Play::Seek(_)
            | Play::SeekStage(_)
            | Play::Pass(_) => None,
        })
    }

    fn blocked_look(&self, look: Look) -> Why {
        self.without_episode().or_else(|| match look {
            Look::NextScale | Look::AllHeads => when(self.heads() == 0, NO_MEMORY),
            Look::Focus(head) => when(head == self.sight.focus, "it is looked at"),
            Look::Pin(_) | Look::NextLayout | Look::Select(_) | Look::Deselect => None,
        })
    }

    fn blocked_rows(&self, rows: Rows) -> Why {
        let all = self.part().is_none();
        let none = when(self.heads() == 0, NO_MEMORY);
        self.without_episode().or(none).or_else(|| match rows {
            Rows::Lower => when(all, ALL_ROWS),
            Rows::ToggleFollow => when(self.fits(), ALL_ROWS),
            Rows::Fit => when(!self.sight.touched_only && all, ALL_ROWS),
            Rows::ToggleTouched
            | Rows::Taller
            | Rows::Next
            | Rows::Previous
            | Rows::ExtendDown
            | Rows::ExtendUp
            | Rows::Scroll(_)
            | Rows::Centre(_) => None,
        })
    }

    fn blocked_edit(&self, edit: Edit) -> Why {
        match edit {
            Edit::Undo => when(!self.history.can(false), "nothing was changed"),
            Edit::Redo => when(!self.history.can(true), "nothing was changed"),
            Edit::Toggle
            | Edit::MoveMark(..)
            | Edit::FlipMarked
            | Edit::Flip(..)
            | Edit::Paint(..)
            | Edit::EndStroke => self.without_episode().or_else(|| {
                let of_a_file = self.session.open.as_ref().is_some_and(Open::is_of_a_file);
                when(of_a_file, "a recorded trace stays as it is")
            }),
        }
    }

    /// The same of two episodes.
    fn blocked_comparison(&self, compare: &Compare) -> Why {
        let (pair, kept) = (self.pair(), self.comparing.kept.is_some());
        let nothing = when(pair.is_none(), "nothing is compared");
        match compare {
            Compare::KeepAsA => self
                .without_episode()
                .or(when(kept && pair.is_none(), "nothing was recorded since")),
            Compare::End => nothing.filter(|_| !kept),
            Compare::FirstDifference => nothing.or_else(|| {
                let pair = pair.as_ref()?;
                let first = pair.differences().and_then(|d| d.values.first.as_ref());
                when(first.is_none(), "nothing differs")
            }),
            Compare::Swap | Compare::ToggleDifference => nothing,
            Compare::With(_) | Compare::Tolerance(_) => None,
        }
    }

    fn blocked_dialog(&self, ask: &Ask) -> Why {
        match ask {
            Ask::Escape => {
                let open = self.sight.selected.is_some()
                    || self.welcome.shown
                    || self.tour.is_some()
                    || self.arrangement() == Arrangement::Compare
                    || !self.toasts.is_empty();
                when(!open, "nothing is open")
            }
            Ask::Step | Ask::Save | Ask::Figure { .. } | Ask::Compare => self.without_episode(),
            Ask::Command
            | Ask::Open
            | Ask::Keys
            | Ask::Settings
            | Ask::About
            | Ask::Messages
            | Ask::Typed(_)
            | Ask::Chosen(_)
            | Ask::GoTo(_)
            | Ask::Leave => None,
        }
    }

    /// The same of how everything looks.
    fn blocked_window(&self, window: Window) -> Why {
        let look = &self.settings.look;
        let as_is = match window {
            Window::Larger => SCALES.last() == Some(&look.scale),
            Window::Smaller => SCALES.first() == Some(&look.scale),
            Window::NormalSize => look.scale == 100,
            Window::Theme(theme) => look.theme == theme,
            Window::Colors(map) => look.map == map,
            Window::ToggleNumbers | Window::ToggleLeft | Window::ToggleTimeline => {
                return self.without_episode();
            }
            Window::ToggleWelcome
            | Window::NextTheme
            | Window::Scale(_)
            | Window::ToggleMotion
            | Window::ForgetFiles
            | Window::Dismiss(_)
            | Window::Sized { .. }
            | Window::Lit { .. } => false,
        };
        when(as_is, "nothing would change")
    }
}
