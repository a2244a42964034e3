//! The list of messages so far: no error is lost with its notification.

use egui::Ui;

use crate::viewer::command::File;
use crate::viewer::state::{Kind, Toasts};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{note, scrolled_ui, text_button, words};

/// All messages, the newest first.
pub fn messages_ui(ui: &mut Ui, toasts: &Toasts) {
    let palette = Palette::of(ui);
    let said: Vec<_> = toasts.history().collect();
    if said.is_empty() {
        return note(ui, "No messages.");
    }
    scrolled_ui(ui, 180.0, |ui| {
        for (kind, text) in &said {
            let ink = match kind {
                Kind::Done => palette.subdued,
                Kind::Notice | Kind::Problem => palette.warning,
            };
            words(ui, kind.mark(), theme::heading(12.0), ink);
            words(ui, text, theme::text(13.0), palette.text);
            ui.add_space(6.0);
        }
    });
    ui.add_space(8.0);
    let lines = said
        .iter()
        .map(|(kind, text)| format!("{}: {text}", kind.mark()));
    let (text, said) = (lines.collect::<Vec<_>>().join("\n"), None);
    text_button(ui, "Copy messages", File::Copy { text, said });
}
