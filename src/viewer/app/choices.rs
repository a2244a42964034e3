//! What can be chosen from the list of all commands, and what cannot be done now.

use super::App;
use crate::model::Trace;
use crate::viewer::command::Command;
use crate::viewer::keys::{self, TABLE};
use crate::viewer::panel::finder::Choice;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::episode::Open;
use crate::viewer::state::settings::{SCALES, Theme};
use crate::viewer::story;
use crate::viewer::theme::Map;

impl App {
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
            .filter(|entry| entry.command != Command::AskCommand);
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
            choice(Command::Machine(index), name, help, String::new())
        }));
        let heads = self.trace().map_or(0, |trace| trace.heads.len());
        choices.extend((0..heads).filter_map(|head| {
            let recording = &self.session.open.as_ref()?.shown.recording;
            let name = format!("Look at head {}", story::head_label(recording, head));
            let key = keys::head_key(head).unwrap_or_default();
            Some(choice(
                Command::Focus(head),
                name,
                "its stages, its numbers",
                key,
            ))
        }));
        for theme in Theme::ALL {
            let name = format!("Theme: {}", theme.name().to_lowercase());
            choices.push(choice(Command::Theme(theme), name, "", String::new()));
        }
        for map in Map::ALL {
            let name = format!("Colours: {}", map.name());
            choices.push(choice(
                Command::Colors(map),
                name,
                "of weightings",
                String::new(),
            ));
        }
        choices
    }

    pub(super) fn trace(&self) -> Option<&Trace<f32>> {
        let open = self.session.open.as_ref()?;
        Some(&open.shown.recording.trace)
    }

    /// Why this cannot be done now, if it cannot.
    fn blocked(&self, command: &Command) -> Option<&'static str> {
        use Command as C;
        let free = match command {
            C::AskOpen
            | C::NextTheme
            | C::ToggleShortcuts
            | C::Smaller
            | C::Larger
            | C::NormalSize
            | C::Theme(_)
            | C::Colors(_)
            | C::ToggleMotion
            | C::AskSettings
            | C::AskAbout
            | C::ToggleWelcome
            | C::AskMessages => return self.blocked_setting(command),
            C::Undo | C::Redo => {
                let free = self.history.can(*command == C::Redo);
                return (!free).then_some("nothing was changed");
            }
            C::NextSeed | C::Machine(_) => {
                return self
                    .session
                    .machine()
                    .is_none()
                    .then_some("no machine is loaded");
            }
            C::StartTour => {
                let none = self.session.first_with_heads().is_none();
                let here = self.trace().is_some_and(|trace| !trace.heads.is_empty());
                return (none && !here).then_some("no machine with heads is loaded");
            }
            C::Escape => {
                let compare = self.arrangement() == Arrangement::Compare;
                let open = self.selected.is_some() || self.welcome.shown || self.tour.is_some();
                let open = open || compare;
                let free = open || !self.toasts.is_empty();
                return (!free).then_some("nothing is open");
            }
            C::SwapSides | C::ToggleDifference | C::FirstDifference | C::EndComparison => {
                return self.blocked_comparison(command);
            }
            _ => self.trace(),
        };
        let Some(trace) = free else {
            return Some("no episode is on screen");
        };
        let (heads, step) = (!trace.heads.is_empty(), self.player.step());
        let why = match command {
            C::ToggleTouched
            | C::Fit
            | C::RowsTaller
            | C::RowsLower
            | C::ToggleFollow
            | C::NextRow
            | C::PreviousRow
            | C::ExtendDown
            | C::ExtendUp
            | C::NextScale
            | C::AllHeads
                if !heads =>
            {
                "this machine has no memory"
            }
            C::RowsLower if self.part().is_none() => "all rows are on screen",
            C::ToggleFollow if self.fits() => "all rows are on screen",
            C::ToggleEdit if self.session.open.as_ref().is_some_and(Open::is_of_a_file) => {
                "a recorded trace stays as it is"
            }
            C::Fit if !self.touched_only && self.part().is_none() => "all rows are on screen",
            C::CopyTable { .. } if !heads && self.card().is_none() => "click a value first",
            C::NextEvent if self.event(true).is_none() => "nothing changes after this step",
            C::PreviousEvent if self.event(false).is_none() => "nothing changes before this step",
            C::NextStep | C::JumpForward | C::LastStep if step + 1 >= self.player.steps() => {
                "this is the last step"
            }
            C::PreviousStep | C::JumpBack | C::FirstStep | C::Restart if step == 0 => {
                "this is the first step"
            }
            C::Focus(head) if *head == self.focus => "it is looked at",
            C::KeepAsA if self.comparing.kept.is_some() && self.pair().is_none() => {
                "nothing was recorded since"
            }
            _ => return None,
        };
        Some(why)
    }

    /// The same of two episodes.
    fn blocked_comparison(&self, command: &Command) -> Option<&'static str> {
        if *command == Command::EndComparison && self.comparing.kept.is_some() {
            return None;
        }
        let Some(pair) = self.pair() else {
            return Some("nothing is compared");
        };
        let first = pair
            .differences()
            .and_then(|found| found.values.first.as_ref());
        let none = *command == Command::FirstDifference && first.is_none();
        none.then_some("nothing differs")
    }

    /// The same of how everything looks.
    fn blocked_setting(&self, command: &Command) -> Option<&'static str> {
        let look = &self.settings.look;
        let (least, most) = (SCALES.first()?, SCALES.last()?);
        let as_is = match command {
            Command::Larger => look.scale == *most,
            Command::Smaller => look.scale == *least,
            Command::NormalSize => look.scale == 100,
            Command::Theme(theme) => look.theme == *theme,
            Command::Colors(map) => look.map == *map,
            _ => false,
        };
        as_is.then_some("nothing would change")
    }
}
