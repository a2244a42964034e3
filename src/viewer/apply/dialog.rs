//! Dialogs: one at a time.

use crate::viewer::command::{Ask, Command, Play, Window};
use crate::viewer::files::Aim;
use crate::viewer::state::State;
use crate::viewer::state::dialog::{Dialog, Search};
use crate::viewer::state::work::Effect;
use crate::viewer::story;

impl State {
    /// Commands about dialogs.
    pub(super) fn ask(&mut self, ask: Ask) {
        let file = |aim, text| {
            let there = false;
            Some(Dialog::File { aim, text, there })
        };
        let has_episode = self.session.open.is_some();
        let open = self.dialog.take();
        self.dialog = match ask {
            Ask::Command => match open {
                Some(Dialog::Commands(_)) => None,
                _ => Some(Dialog::Commands(Search::default())),
            },
            Ask::Step => has_episode.then(|| Dialog::Step {
                text: String::new(),
                unclear: false,
            }),
            Ask::Open => file(Aim::Open, String::new()),
            Ask::Compare => file(Aim::Compare, String::new()).filter(|_| has_episode),
            Ask::Save => file(Aim::Save, self.suggestion(None)).filter(|_| has_episode),
            Ask::Figure { svg } => {
                let end = if svg { ".svg" } else { ".png" };
                file(Aim::Figure, self.suggestion(Some(end))).filter(|_| has_episode)
            }
            Ask::Keys => open.is_none().then_some(Dialog::Keys),
            Ask::Settings => Some(Dialog::Settings),
            Ask::About => Some(Dialog::About),
            Ask::Messages => {
                self.toasts.look_up();
                Some(Dialog::Messages)
            }
            Ask::Typed(words) => open.map(|dialog| typed(dialog, words)),
            Ask::Chosen(line) => open.map(|dialog| match dialog {
                Dialog::Commands(search) => Dialog::Commands(Search {
                    chosen: line,
                    ..search
                }),
                other => other,
            }),
            Ask::GoTo(text) => self.go_to(text),
            Ask::Leave => None,
            Ask::Escape => {
                if open.is_none() {
                    self.escape();
                }
                None
            }
        };
    }

    /// Goes to the step that is meant; the dialog stays where it is unclear which that is.
    fn go_to(&mut self, text: String) -> Option<Dialog> {
        let recording = &self.session.open.as_ref()?.shown.recording;
        match story::step_meant(recording, self.player.step(), &text) {
            Some(step) => {
                self.player.pause();
                self.act(Command::Play(Play::Seek(step)));
                None
            }
            None => Some(Dialog::Step {
                text,
                unclear: true,
            }),
        }
    }

    /// Leaves what lies over the rest, one thing after the other.
    fn escape(&mut self) {
        if self.is_narrow() && self.drawer {
            self.drawer = false;
        } else if self.welcome.shown {
            self.window(Window::ToggleWelcome);
        } else if self.tour.take().is_none() && self.sight.selected.take().is_none() {
            if self.pending.busy {
                self.effects.push(Effect::GiveUp);
            } else if !self.leave_comparison() {
                self.toasts.clear();
            }
        }
    }
}

/// The dialog with these words in its line.
fn typed(dialog: Dialog, words: String) -> Dialog {
    match dialog {
        Dialog::Commands(_) => Dialog::Commands(Search {
            text: words,
            chosen: 0,
        }),
        Dialog::Step { unclear, .. } => Dialog::Step {
            text: words,
            unclear,
        },
        Dialog::File { aim, .. } => Dialog::File {
            aim,
            text: words,
            there: false,
        },
        Dialog::Keys | Dialog::Settings | Dialog::About | Dialog::Messages => dialog,
    }
}
