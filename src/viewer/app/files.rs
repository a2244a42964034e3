//! Files: what opening, choosing and saving them means for the window.

use std::path::{Path, PathBuf};

use super::{App, file_name};
use crate::figure::{self, Format};
use crate::viewer::command::Command;
use crate::viewer::files::Machine;
use crate::viewer::panel::dialogs::Dialog;
use crate::viewer::panel::paper::Arrangement;
use crate::viewer::session::Open;
use crate::viewer::story;
use crate::viewer::widget::toast::Kind;
use crate::viewer::worker::Job;

impl App {
    pub(super) fn chosen(&mut self, save: bool, path: PathBuf) {
        let compare = matches!(self.dialog, Some(Dialog::Open { compare: true, .. }));
        let command = match (save, compare) {
            (true, _) => Command::Save(path),
            (false, true) => Command::Compare(path),
            (false, false) => Command::Open(path),
        };
        self.dialog = None;
        self.act(command);
    }

    /// A machine from a file.
    pub(super) fn add(&mut self, path: &Path, machine: Machine) {
        self.welcome.pictures.remove(&machine.name);
        self.session.add(machine);
        self.record();
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
                let options = figure::Options {
                    map: self.settings.look.map,
                    log_scale: self.log_scale,
                    step: (arrangement == Arrangement::Debug).then(|| self.player.step()),
                    ..arrangement.options(dark, self.touched_only, self.focus)
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

    pub(super) fn browse(&mut self, save: bool) {
        let suggestion = match &self.dialog {
            Some(Dialog::Save { text, figure: true }) => text.clone(),
            _ => self.suggestion(None),
        };
        self.worker.choose(save, suggestion);
    }
}
