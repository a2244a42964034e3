//! What was said so far: nothing that went wrong is lost with its message.

use egui::{RichText, ScrollArea, Ui};

use crate::viewer::command::{Command, File};
use crate::viewer::state::messages::{Kind, Toasts};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::text_button;
use crate::viewer::widget::property::note;

/// All messages, the newest first.
pub fn messages_ui(ui: &mut Ui, toasts: &Toasts, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let said: Vec<_> = toasts.said().collect();
    if said.is_empty() {
        note(ui, "Nothing was said so far.");
        return;
    }
    let most = (ui.ctx().content_rect().height() - 180.0).max(60.0);
    ScrollArea::vertical()
        .auto_shrink([false, true])
        .max_height(most)
        .show(ui, |ui| {
            for (kind, text) in &said {
                let ink = match kind {
                    Kind::Done => palette.subdued,
                    Kind::Notice | Kind::Problem => palette.warning,
                };
                let mark = RichText::new(kind.mark()).font(theme::heading(12.0));
                ui.label(mark.color(ink));
                ui.label(RichText::new(text).color(palette.text));
                ui.add_space(6.0);
            }
        });
    ui.add_space(8.0);
    let lines: Vec<_> = said
        .iter()
        .map(|(kind, text)| format!("{}: {text}", kind.mark()))
        .collect();
    text_button(
        ui,
        "Copy all",
        &Command::File(File::Copy {
            text: lines.join("\n"),
            said: None,
        }),
        commands,
    );
}
