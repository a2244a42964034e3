//! Settings and what can be undone: commands that change no episode.

use super::App;
use crate::viewer::command::Command;
use crate::viewer::rows::Zoom;
use crate::viewer::state::history::{Moment, Sight};

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
            kept: self.comparing.kept.clone(),
            sight: self.sight(),
        }
    }

    fn sight(&self) -> Sight {
        Sight {
            focus: self.focus,
            pinned: self.pinned,
            all_heads: self.all_heads,
            touched_only: self.touched_only,
            log_scale: self.log_scale,
            zoom: Zoom {
                first: 0,
                ..self.zoom
            },
            selected: self.selected,
            panels: self.settings.panels,
            arrangement: self.settings.arrangement,
            look: self.settings.look,
            tolerance: self.comparing.tolerance,
            difference: self.comparing.difference,
            before: self.comparing.before,
        }
    }

    fn look_as(&mut self, sight: &Sight) {
        (self.focus, self.pinned) = (sight.focus, sight.pinned);
        self.all_heads = sight.all_heads;
        self.touched_only = sight.touched_only;
        self.log_scale = sight.log_scale;
        self.selected = sight.selected;
        self.settings.panels = sight.panels;
        self.settings.arrangement = sight.arrangement;
        self.settings.look = sight.look;
        self.comparing.tolerance = sight.tolerance;
        self.comparing.difference = sight.difference;
        self.comparing.before = sight.before;
        let all_before = self.zoom.height.is_none();
        self.zoom = Zoom {
            first: self.zoom.first,
            ..sight.zoom
        };
        if all_before {
            self.open_window();
        }
    }

    /// Undoes, or does again.
    pub(super) fn travel(&mut self, redo: bool) {
        let now = self.moment();
        let Some(moment) = self.history.travel(now.clone(), redo) else {
            return;
        };
        let on_screen = (self.focus, self.pinned);
        self.look_as(&moment.sight);
        self.comparing.take_back(moment.kept);
        let other_wish = moment.wish != now.wish;
        self.session.wish = moment.wish;
        match moment.file {
            Some(file) => {
                let is_on = now.file.is_some_and(|on| on.is_same(&file));
                if !is_on {
                    self.show(file);
                }
            }
            None if other_wish || now.file.is_some() => {
                // The heads are those of the episode that comes, not of the one still on screen.
                self.coming = Some((self.focus, self.pinned));
                (self.focus, self.pinned) = on_screen;
                self.record();
            }
            None => {}
        }
        self.compare_now();
    }
}
