//! The window itself: its panels, its looks, its start page.

use crate::viewer::command::Window;
use crate::viewer::state::State;
use crate::viewer::state::gallery::FAILURES;
use crate::viewer::state::settings::Theme;
use crate::viewer::state::work::{Effect, Job, Place};

impl State {
    /// Commands about the window.
    pub(super) fn window(&mut self, window: Window) {
        let narrow = self.is_narrow();
        let (look, panels) = (&mut self.settings.look, &mut self.settings.panels);
        match window {
            Window::ToggleNumbers if narrow => self.drawer = !self.drawer,
            Window::ToggleNumbers => panels.numbers = !panels.numbers,
            Window::ToggleLeft => panels.left = !panels.left,
            Window::ToggleTimeline => panels.timeline = !panels.timeline,
            Window::TogglePresent => {
                self.presenting = !self.presenting && self.session.open.is_some();
                (self.welcome.shown, self.drawer) = (false, false);
            }
            Window::ToggleWelcome => {
                if self.welcome.shown && self.session.open.is_some() {
                    self.welcome.shown = false;
                } else {
                    self.show_welcome();
                }
            }
            Window::NextTheme => {
                let next = |dark| if dark { Theme::Light } else { Theme::Dark };
                let system = self.frame.system.map(|dark| next(!dark));
                let other = next(self.frame.dark);
                let back = look.theme != Theme::System && system == Some(other);
                look.theme = if back { Theme::System } else { other };
            }
            Window::Theme(theme) => look.theme = theme,
            Window::Colors(map) => look.map = map,
            Window::Larger(by) => look.resize(by),
            Window::NormalSize => look.scale = 100,
            Window::Scale(percent) => look.scale = percent,
            Window::ToggleMotion => look.still = !look.still,
            Window::ForgetFiles => self.settings.recent.clear(),
            Window::Dismiss(id) => self.toasts.dismiss(id),
            Window::Busy(busy) => self.pending.busy = busy,
            Window::Sized { width, room } => {
                (self.frame.width, self.frame.room) = (width, room);
                self.scroll();
            }
            Window::Lit { dark, system } => {
                (self.frame.dark, self.frame.system) = (dark, system);
            }
        }
    }

    /// The start page comes on screen; what it needs is recorded meanwhile.
    fn show_welcome(&mut self) {
        self.player.pause();
        (self.welcome.shown, self.presenting) = (true, false);
        let recent = self.settings.recent.clone();
        self.effects.push(Effect::Start(Job::Recent(recent)));
        self.record_cards();
    }

    /// Records what the cards of the start page still need, of the machines that are here.
    pub(super) fn record_cards(&mut self) {
        let session = &self.session;
        let machines = session.machines.iter().enumerate();
        let machines =
            machines.map(|(index, machine)| (machine.name.clone(), session.first_request(index)));
        let failures = FAILURES.iter().map(|failure| {
            let wish = failure.wish(session);
            (
                failure.key(),
                wish.and_then(|wish| session.request_for(wish)),
            )
        });
        for (name, request) in machines.chain(failures) {
            if self.welcome.pictures.contains_key(&name) {
                continue;
            }
            if let Some(request) = request.filter(|request| !request.machine.away) {
                self.welcome.pictures.insert(name.clone(), None);
                self.effects
                    .push(Effect::Start(Job::Picture(Place::Card(name), request)));
            }
        }
    }
}
