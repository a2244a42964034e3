//! The start page.

use egui::{CentralPanel, Frame, Ui};

use super::App;
use crate::viewer::command::Command;
use crate::viewer::files::Machine;
use crate::viewer::panel::welcome::{Start, welcome_ui};
use crate::viewer::theme::Palette;
use crate::viewer::worker::Job;

impl App {
    /// Opens the start page, or leaves it.
    pub(super) fn toggle_welcome(&mut self) {
        if self.welcome.shown && self.session.open.is_some() {
            self.welcome.shown = false;
        } else {
            self.show_welcome();
        }
    }

    /// The start page comes on screen; what it needs is recorded meanwhile.
    pub(super) fn show_welcome(&mut self) {
        self.player.pause();
        self.welcome.shown = true;
        let recent = self.settings.recent.iter();
        let recent = recent.map(|path| (path.clone(), self.worker.exists(path)));
        self.welcome.recent = recent.collect();
        for (index, machine) in self.session.machines.iter().enumerate() {
            if self.welcome.pictures.contains_key(&machine.name) {
                continue;
            }
            if let Some(request) = self.session.first_request(index) {
                self.welcome.pictures.insert(machine.name.clone(), None);
                self.worker.start(Job::Picture(request));
            }
        }
    }

    /// The start page, over everything but the top bar.
    pub(super) fn welcome_ui(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        self.readout = None;
        let palette = Palette::with_map(ui.visuals().dark_mode, self.settings.look.map);
        let pictures = &self.welcome.pictures;
        let picture = |machine: &Machine| pictures.get(&machine.name)?.as_ref();
        let start = Start {
            pictures: &picture,
            recent: &self.welcome.recent,
            palette,
        };
        let (session, textures) = (&self.session, &mut self.textures);
        CentralPanel::default()
            .frame(Frame::new().fill(palette.background))
            .show(ui, |ui| welcome_ui(ui, session, &start, textures, commands));
    }
}
