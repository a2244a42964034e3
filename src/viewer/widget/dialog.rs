//! Dialogs: one at a time, over a veil, left with Esc or a click beside them.

use egui::{Context, Frame, Id, Key, Margin, Modal, TextEdit, Ui, vec2};

use super::super::theme::{self, Palette};
use super::button::field;
use super::property::words;

/// The card of a dialog.
pub fn dialog_frame(ctx: &Context) -> Frame {
    Frame::window(&ctx.style_of(ctx.theme())).inner_margin(Margin::same(20))
}

/// Shows a dialog; true when the person wants to leave it.
pub fn dialog_ui(ctx: &Context, name: &str, width: f32, add: impl FnOnce(&mut Ui)) -> bool {
    let palette = Palette::on(ctx);
    let response = Modal::new(Id::unique(("dialog", name)))
        .backdrop_color(palette.veil)
        .frame(dialog_frame(ctx))
        .show(ctx, |ui| {
            ui.set_width(width.min(ctx.content_rect().width() - 64.0).max(0.0));
            words(ui, name, theme::heading(16.0), palette.strong);
            ui.add_space(8.0);
            add(ui);
        });
    response.should_close()
}

/// A line of text that has the keyboard; true when Enter is pressed.
pub fn field_ui(ui: &mut Ui, text: &mut String, hint: &'static str, name: &str) -> bool {
    let line = TextEdit::singleline(text)
        .hint_text(hint)
        .font(theme::mono(13.0))
        .margin(vec2(8.0, 6.0))
        .desired_width(f32::INFINITY);
    let response = field(ui, true, line).accessible_name(name);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if !entered && !response.has_focus() && ui.memory(|memory| memory.focused().is_none()) {
        response.request_focus();
    }
    entered
}
