//! Files: what opening, choosing and saving them means for the window.

use std::path::{Path, PathBuf};

use super::{App, file_name};
use crate::figure::{self, Format};
use crate::viewer::command::Command;
use crate::viewer::files::{Aim, Machine};
use crate::viewer::panel::dialogs::Dialog;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::episode::Open;
use crate::viewer::state::messages::Kind;
use crate::viewer::story;
use crate::viewer::worker::Job;

impl App {
    /// A file was chosen, or its path typed.
    pub(super) fn chosen(&mut self, aim: Aim, path: PathBuf) -> Option<Command> {
        let command = match aim {
            Aim::Figure if Format::of(&path).is_none() => {
                let name = file_name(&path);
                let text = format!("{name}: the name of a figure ends in .svg, .png or .gif.");
                self.toasts.add(Kind::Problem, text);
                return None;
            }
            Aim::Save | Aim::Figure => Command::Save(path),
            Aim::Compare => Command::Compare(path),
            Aim::Open => Command::Open(path),
        };
        self.dialog = None;
        Some(command)
    }

    /// A file was opened: it will be among the recent ones.
    pub(super) fn remember(&mut self, path: PathBuf) {
        self.settings.opened(self.worker.absolute(path));
    }

    /// A recorded trace has no machine to record another episode: says which one does.
    pub(super) fn say_who_records(&mut self) {
        let of_a_file = self.session.open.as_ref().is_some_and(Open::is_of_a_file);
        if let (true, Some(machine)) = (of_a_file, self.session.machine()) {
            let title = &machine.title;
            let text =
                format!("A new episode of the machine {title}. Ctrl+Z brings the trace back.");
            self.toasts.add(Kind::Notice, text);
        }
    }

    /// A machine from a file.
    pub(super) fn add(&mut self, path: &Path, machine: Machine) {
        self.welcome.pictures.remove(&machine.name);
        self.session.add(machine);
        self.record_first();
        let text = format!("{} is open: weights.", file_name(path));
        self.toasts.add(Kind::Done, text);
    }

    /// An episode from a file.
    pub(super) fn show_file(&mut self, path: &Path, open: Open) {
        let (name, broken) = (file_name(path), open.non_finite);
        self.show(open);
        if broken > 0 {
            let count = story::not_finite(broken);
            let text = format!("{name} is open, but {count}.");
            self.toasts.add(Kind::Notice, text);
        } else {
            let text = format!("{name} is open: a trace.");
            self.toasts.add(Kind::Done, text);
        }
    }

    pub(super) fn save(&mut self, path: PathBuf) {
        let Some(open) = &self.session.open else {
            return;
        };
        let shown = open.shown.clone();
        let dark = self.theme == egui::Theme::Dark;
        let job = match Format::of(&path) {
            None => Job::Save(path, shown),
            Some(format) => {
                let arrangement = self.arrangement();
                let usual = arrangement.options(dark, self.touched_only, self.focus);
                let options = figure::Options {
                    heads: match arrangement {
                        // All, the one looked at first.
                        Arrangement::Debug => {
                            let all = 0..shown.recording.trace.heads.len();
                            let others = all.filter(|&head| head != self.focus);
                            usual.heads.iter().copied().chain(others).collect()
                        }
                        _ => usual.heads.clone(),
                    },
                    map: self.settings.look.map,
                    log_scale: self.log_scale,
                    step: (arrangement == Arrangement::Debug).then(|| self.player.step()),
                    ..usual
                };
                match self.two(&options) {
                    Some(two) => Job::FigureOfTwo(path, format, Box::new(two)),
                    None => Job::Figure(path, format, shown, Box::new(options)),
                }
            }
        };
        self.worker.start(job);
    }

    /// A name for what is to be saved: a trace, or a figure with this end.
    pub(super) fn suggestion(&self, end: Option<&str>) -> String {
        let name = self.session.file_name();
        match end {
            None => name,
            Some(end) => name.replace(".ntmtrace.json", end),
        }
    }

    pub(super) fn browse(&mut self, aim: Aim) {
        let suggestion = match &self.dialog {
            Some(Dialog::Save { text, figure: true }) => text.clone(),
            _ => self.suggestion(None),
        };
        self.worker.choose(aim, suggestion);
    }
}
