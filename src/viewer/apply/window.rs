//! The window itself: its panels, its looks, its start page.

use std::sync::Arc;

use super::record::thumbnail;
use crate::io::preset::{FAMILY, FIRST, UNCERTAINTY};
use crate::platform::HAS_FILES;
use crate::viewer::command::{Command, DialogCommand, Play, Subject, Window};
use crate::viewer::narration;
use crate::viewer::precondition::Precondition;
use crate::viewer::state::{Dialog, Effect, FAILURES, FilePurpose, Machine, State, Theme};

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
                let is_open = self.session.open.is_some();
                self.presenting = self.embedded || (!self.presenting && is_open);
                (self.welcome.shown, self.drawer) = (false, false);
            }
            Window::ToggleWelcome | Window::ToggleFamily
                if self.welcome.shown && self.welcome.family =>
            {
                self.welcome.family = false;
            }
            Window::ToggleWelcome if self.welcome.shown && self.session.open.is_some() => {
                self.welcome.shown = false;
            }
            // Its pictures are recorded meanwhile.
            Window::ToggleWelcome | Window::ToggleFamily => {
                self.player.pause();
                (self.welcome.shown, self.presenting) = (true, false);
                self.welcome.family = window == Window::ToggleFamily;
                self.look_for_recent();
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
            Window::ThemeChanged { dark, system } => {
                (self.frame.dark, self.frame.system) = (dark, system);
            }
        }
    }

    /// Records the missing pictures of the start page. Machines that are not loaded are fetched one after the other, so
    /// that other requests do not wait for them.
    pub(super) fn record_cards(&mut self) {
        let groups = FAMILY.iter().chain([&UNCERTAINTY]);
        let links = groups.flat_map(|group| group.mechanisms);
        // The start page shows the first one in its picture of the loop.
        let links = links.filter(|of| self.welcome.family || of.link == FIRST.link);
        // A look at the episode of a link copies the session.
        let missing = links.filter(|of| !self.welcome.pictures.contains_key(of.link));
        let links = missing.filter_map(|of| {
            let inputs = self.inputs_of_link(of.link)?;
            // The card of its machine fetches it.
            (!inputs.machine.away).then(|| (of.link.to_owned(), inputs))
        });
        let links: Vec<_> = links.collect();
        let (session, welcome) = (&self.session, &mut self.welcome);
        let comes =
            |machine: &Arc<Machine>| machine.away && welcome.pictures.contains_key(&machine.name);
        let mut is_fetching = session.machines.iter().any(comes);
        let machines = session.machines.iter().enumerate();
        let machines = machines.filter_map(|(index, machine)| {
            let inputs = session.inputs_for(session.first_request(index)?)?;
            Some((machine.name.clone(), inputs))
        });
        let failures = FAILURES.iter().filter_map(|failure| {
            let inputs = session.inputs_for(failure.request(session)?)?;
            Some((failure.key(), inputs))
        });
        for (name, inputs) in machines.chain(failures).chain(links) {
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
            let job = thumbnail(inputs, move |state, picture| {
                state.welcome.pictures.insert(name.clone(), picture);
            });
            self.effects.push(Effect::Start(job));
        }
    }

    /// A machine was fetched, or cannot be: then its cards stay without a picture.
    pub(in crate::viewer) fn fetched(&mut self, name: String, machine: Option<Arc<Machine>>) {
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

impl State {
    /// Commands about dialogs.
    pub(super) fn change_dialog(&mut self, command: DialogCommand) {
        let open = self.dialog.take();
        self.dialog = match command {
            DialogCommand::For(next) => self.dialog_about(next, open.map(|open| open.subject)),
            DialogCommand::Typed(text) => open.map(|open| Dialog::about(open.subject, text)),
            DialogCommand::Chosen(chosen) => open.map(|open| Dialog { chosen, ..open }),
            DialogCommand::GoTo(text) => self.go_to(text),
            DialogCommand::Condition(text) => self.search_for(&text),
            DialogCommand::Measure(text) => self.measure(Some(text)),
            DialogCommand::RemoveParts => self.measure(None),
            DialogCommand::Explain => self.explain(),
            DialogCommand::Sort(by) => {
                self.report.iter_mut().for_each(|report| report.sort(by));
                open
            }
            DialogCommand::Leave | DialogCommand::Escape => {
                self.ending = None;
                if command == DialogCommand::Escape && open.is_none() {
                    self.escape();
                }
                None
            }
        };
    }

    /// The dialog about this, after the one that was open.
    fn dialog_about(&mut self, subject: Subject, open: Option<Subject>) -> Option<Dialog> {
        let no_episode = self.session.open.is_none();
        let needs_episode = subject != Subject::File(FilePurpose::Open);
        let text = match subject {
            Subject::Commands if open == Some(subject) => return None,
            Subject::Keys if open.is_some() => return None,
            Subject::Step | Subject::Condition | Subject::Report | Subject::File(_)
                if needs_episode && no_episode =>
            {
                return None;
            }
            Subject::File(FilePurpose::Run) if self.learning.is_none() => return None,
            Subject::File(FilePurpose::Report) if self.report.is_none() => return None,
            // Where a path says nothing the file is chosen at once.
            Subject::File(purpose) if !HAS_FILES && !purpose.is_to_save() => {
                self.browse(purpose);
                return None;
            }
            Subject::Value if self.lacks(Precondition::Recording).is_some() => return None,
            Subject::Value => {
                self.player.pause();
                self.value_text()
            }
            Subject::Condition => self.search.condition.clone(),
            Subject::Report => self
                .report
                .as_ref()
                .map_or_else(String::new, |it| it.quantity.clone()),
            Subject::Recovery if self.recoverable.is_empty() => return None,
            Subject::EndRun if self.ending.is_none() => return None,
            Subject::EndRun => self.suggest(FilePurpose::Run),
            Subject::File(purpose) => self.suggest(purpose),
            Subject::Messages => {
                self.toasts.problems = 0;
                String::new()
            }
            Subject::Commands
            | Subject::Keys
            | Subject::Settings
            | Subject::About
            | Subject::Glossary
            | Subject::Step
            | Subject::Episode
            | Subject::More
            | Subject::Recovery => String::new(),
        };
        Some(Dialog::about(subject, text))
    }

    /// Goes to the step that is meant; the dialog stays where it is unclear which that is.
    fn go_to(&mut self, text: String) -> Option<Dialog> {
        match narration::step_meant(self.recording()?, self.player.step(), &text) {
            Some(step) => {
                self.player.pause();
                self.act(Command::Play(Play::Seek(step)));
                None
            }
            None => Some(Dialog::with_error(Subject::Step, text)),
        }
    }

    /// Leaves the topmost overlay, mode or selection, one at a time.
    fn escape(&mut self) {
        if self.is_narrow() && self.drawer {
            self.drawer = false;
        } else if self.welcome.shown {
            self.window(Window::ToggleWelcome);
        } else if self.presenting && !self.embedded {
            // It is left before what stands in it.
            self.presenting = false;
        } else if !self.leave_guide()
            && self.view.selected.take().is_none()
            && !self.hide_gradients()
        {
            if self.pending.busy {
                self.effects.push(Effect::GiveUp);
            } else if !self.leave_comparison() {
                self.toasts.shown.clear();
            }
        }
    }
}
