//! The window itself: its panels, its looks, its start page.

use std::sync::Arc;

use crate::viewer::command::Window;
use crate::viewer::state::{Effect, FAILURES, Job, Machine, State, Theme, ThumbnailSlot};

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
            Window::ToggleWelcome if self.welcome.shown && self.session.open.is_some() => {
                self.welcome.shown = false;
            }
            // Its pictures are recorded meanwhile.
            Window::ToggleWelcome => {
                self.player.pause();
                (self.welcome.shown, self.presenting) = (true, false);
                self.start(Job::Recent(self.settings.recent.clone()));
                self.record_cards();
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
            Window::Dismiss(id) => self.toasts.shown.retain(|toast| toast.id != id),
            Window::HoldMessages => self.toasts.held = true,
            Window::Busy(busy) => self.pending.busy = busy,
            Window::Sized {
                width,
                height,
                room,
            } => {
                (self.frame.width, self.frame.height) = (width, height);
                self.frame.room = room;
                self.scroll();
            }
            Window::Lit { dark, system } => {
                (self.frame.dark, self.frame.system) = (dark, system);
            }
        }
    }

    /// Records the missing pictures of the start page. Machines that are not loaded are fetched one after the other, so
    /// that other requests do not wait for them.
    pub(super) fn record_cards(&mut self) {
        let (session, welcome) = (&self.session, &mut self.welcome);
        let comes =
            |machine: &Arc<Machine>| machine.away && welcome.pictures.contains_key(&machine.name);
        let mut is_fetching = session.machines.iter().any(comes);
        let machines = session.machines.iter().enumerate();
        let machines = machines.filter_map(|(index, machine)| {
            Some((machine.name.clone(), session.first_inputs(index)?))
        });
        let failures = FAILURES.iter().filter_map(|failure| {
            let inputs = session.inputs_for(failure.request(session)?)?;
            Some((failure.key(), inputs))
        });
        for (name, inputs) in machines.chain(failures) {
            let machine = &inputs.machine;
            if welcome.pictures.contains_key(&name) {
                continue;
            }
            if machine.away {
                if is_fetching || welcome.out_of_reach.contains(&machine.name) {
                    continue;
                }
                is_fetching = true;
            }
            welcome.pictures.insert(name.clone(), None);
            let job = Job::Picture(ThumbnailSlot::Card(name), inputs);
            self.effects.push(Effect::Start(job));
        }
    }

    /// A machine was fetched, or cannot be: then its cards stay without a picture.
    pub(super) fn fetched(&mut self, name: String, machine: Option<Arc<Machine>>) {
        if let Some(machine) = machine {
            self.session.fetched(machine);
        } else {
            self.welcome.pictures.remove(&name);
            self.welcome.out_of_reach.push(name);
        }
        if self.welcome.shown {
            self.record_cards();
        }
    }
}
