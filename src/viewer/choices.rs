//! The choices of the command palette, with the reason where one is unavailable.

use super::command::{Command, DialogCommand, Episode, Subject, ViewCommand, Window};
use super::glossary;
use super::keys::{self, TABLE};
use super::state::{FAILURES, State, Theme};
use crate::figure::{Map, head_label};

/// A line of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The name.
    pub name: String,
    /// The effect.
    pub help: String,
    /// Other words that people look for it by.
    pub also: &'static str,
    /// The key as displayed, or empty.
    pub key: String,
    /// The command.
    pub command: Command,
    /// The reason why it is unavailable, if it is.
    pub blocked: Option<&'static str>,
}

impl State {
    /// All commands by name: the table, then machines, failures and current heads.
    pub fn choices(&self) -> Vec<Choice> {
        let choice = |name: String, help: &str, command, blocked| Choice {
            name,
            help: help.to_owned(),
            also: "",
            key: String::new(),
            command,
            blocked,
        };
        // The list itself is not on the list.
        let list = Command::Dialog(DialogCommand::For(Subject::Commands));
        let table = TABLE.iter().filter(|entry| entry.command != list);
        let table = table.map(|entry| Choice {
            name: entry.name.to_owned(),
            help: entry.help.to_owned(),
            also: entry.also,
            key: entry.keys_text(),
            command: entry.command.clone(),
            blocked: self.lacks(entry.need),
        });
        let machines = self.session.machines.iter().enumerate();
        let machines = machines.map(|(index, machine)| {
            let name = format!("Machine: {}", machine.title);
            let command = Episode::Machine(index).into();
            choice(name, "opens an episode of its usual size", command, None)
        });
        let failures = FAILURES.iter().enumerate();
        let failures = failures.filter_map(|(which, failure)| {
            failure.request(&self.session)?;
            let name = format!("Where machines fail: {}", failure.title.to_lowercase());
            let command = Episode::Failure(Some(which)).into();
            Some(choice(name, failure.about, command, None))
        });
        let heads = (0..self.heads()).zip(self.trace().into_iter().cycle());
        let heads = heads.map(|(head, trace)| {
            let (does, help) = if self.view.is_pinned(head) {
                ("Unpin", "the most active head is selected instead")
            } else {
                ("Select", "its stages and numbers; stays selected")
            };
            let name = format!("{does} head {}", head_label(trace, head));
            Choice {
                key: keys::head_key(head).unwrap_or_default(),
                ..choice(name, help, ViewCommand::Focus(head).into(), None)
            }
        });
        let look = self.settings.look;
        let as_is = |on: bool| on.then_some("already in effect");
        let themes = Theme::ALL.map(|theme| {
            let name = format!("Theme: {}", theme.name().to_lowercase());
            let command = Command::Window(Window::Theme(theme));
            choice(name, "", command, as_is(look.theme == theme))
        });
        let maps = Map::ALL.map(|map| {
            let name = format!("Colours: {}", map.name());
            let command = Command::Window(Window::Colors(map));
            choice(name, "of weightings", command, as_is(look.map == map))
        });
        let terms = glossary::terms().map(|term| {
            let name = format!("Glossary: {}", term.title());
            let link = term.link.map(|link| Episode::Link(link).into());
            let command = link.unwrap_or(DialogCommand::For(Subject::Glossary).into());
            choice(name, term.meaning, command, None)
        });
        let all = table.chain(machines).chain(failures).chain(heads);
        all.chain(themes).chain(maps).chain(terms).collect()
    }
}
