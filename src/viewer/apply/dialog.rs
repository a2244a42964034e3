//! Dialogs: one at a time.

use crate::platform::HAS_FILES;
use crate::viewer::command::{Ask, Command, Play, Subject, Window};
use crate::viewer::narration;
use crate::viewer::state::{Dialog, Effect, FilePurpose, State};

impl State {
    /// Commands about dialogs.
    pub(super) fn ask(&mut self, ask: Ask) {
        let open = self.dialog.take();
        self.dialog = match ask {
            Ask::For(subject) => self.dialog_about(subject, open.map(|open| open.subject)),
            Ask::Typed(text) => open.map(|open| Dialog::about(open.subject, text)),
            Ask::Chosen(chosen) => open.map(|open| Dialog { chosen, ..open }),
            Ask::GoTo(text) => self.go_to(text),
            Ask::Leave | Ask::Escape => {
                self.ending = None;
                if ask == Ask::Escape && open.is_none() {
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
            Subject::Step | Subject::File(_) if needs_episode && no_episode => return None,
            Subject::File(FilePurpose::Run) if self.learning.is_none() => return None,
            // Where a path says nothing the file is chosen at once.
            Subject::File(purpose) if !HAS_FILES && !purpose.is_to_save() => {
                self.browse(purpose);
                return None;
            }
            Subject::EndRun if self.ending.is_none() => return None,
            Subject::EndRun => self.suggestion(FilePurpose::Run),
            Subject::File(purpose) => self.suggestion(purpose),
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
            | Subject::More => String::new(),
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
        } else if std::mem::take(&mut self.presenting) {
            // It is left before what stands in it.
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
