//! Settings and what can be undone: commands that change no episode.

use super::App;
use crate::viewer::command::Command;
use crate::viewer::history::Moment;

impl App {
    /// Commands that change what is remembered between runs.
    pub(super) fn set(&mut self, command: &Command) {
        let (look, panels) = (&mut self.settings.look, &mut self.settings.panels);
        match *command {
            Command::ToggleLeft => panels.left = !panels.left,
            Command::ToggleNumbers => panels.numbers = !panels.numbers,
            Command::ToggleTimeline => panels.timeline = !panels.timeline,
            Command::Theme(theme) => look.theme = theme,
            Command::Colors(map) => look.map = map,
            Command::Larger => look.resize(true),
            Command::Smaller => look.resize(false),
            Command::NormalSize => look.scale = 100,
            Command::Scale(percent) => look.scale = percent,
            Command::ToggleMotion => look.still = !look.still,
            Command::ForgetFiles => self.settings.recent.clear(),
            _ => {}
        }
    }

    /// All that can be undone, as it is now.
    pub(super) fn moment(&self) -> Moment {
        let open = self.session.open.as_ref();
        Moment {
            wish: self.session.wish.clone(),
            file: open.filter(|open| open.is_of_a_file()).cloned(),
            focus: self.focus,
            touched_only: self.touched_only,
            selected: self.selected,
            panels: self.settings.panels,
        }
    }

    /// Undoes, or does again.
    pub(super) fn travel(&mut self, redo: bool) {
        let now = self.moment();
        let Some(moment) = self.history.travel(now.clone(), redo) else {
            return;
        };
        self.focus = moment.focus;
        self.touched_only = moment.touched_only;
        self.selected = moment.selected;
        self.settings.panels = moment.panels;
        let other_wish = moment.wish != now.wish;
        self.session.wish = moment.wish;
        match moment.file {
            Some(file) => {
                let is_on = now.file.is_some_and(|on| on.serial == file.serial);
                if !is_on {
                    self.show(file);
                }
            }
            None if other_wish || now.file.is_some() => self.record(),
            None => {}
        }
    }
}
