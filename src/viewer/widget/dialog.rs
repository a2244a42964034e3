//! Dialogs: one at a time, over a veil, left with Esc or a click beside them; on a phone as a sheet that lies at the
//! bottom and is left with its cross, too.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align2, Context, CornerRadius, Frame, Id, Key, Margin, Modal, ScrollArea, TextEdit, Ui, Vec2,
    vec2,
};

use super::super::command::DialogCommand;
use super::super::keys::is_by_key;
use super::super::state::{Dialog, Subject};
use super::super::theme::{self, Palette};
use super::button::{field, named_icon_button};
use super::icon::Icon;
use super::property::{from_right, words};
use super::queue::send;

/// A dialog over a veil, so far from this edge of the window.
pub fn modal(ctx: &Context, name: &str, (edge, by): (Align2, Vec2), margin: Margin) -> Modal {
    let id = Id::unique(("dialog", name));
    let frame = Frame::window(&ctx.style_of(ctx.theme())).inner_margin(margin);
    Modal::new(id)
        .area(Modal::default_area(id).anchor(edge, by))
        .backdrop_color(Palette::on(ctx).veil)
        .frame(frame)
}

/// Width of the widest sheet.
const SHEET: f32 = 560.0;
/// Inside of a sheet, at its sides.
const SIDES: i8 = 16;
/// Height of the window above the tallest sheet: a tap there closes it.
const ABOVE: f32 = 32.0;

/// Shows a dialog; true when the person wants to leave it.
pub fn dialog_ui(ctx: &Context, name: &str, width: f32, add: impl FnOnce(&mut Ui)) -> bool {
    if theme::is_by_finger(ctx) {
        return sheet_ui(ctx, name, add);
    }
    let palette = Palette::on(ctx);
    let middle = (Align2::CENTER_CENTER, Vec2::ZERO);
    let modal = modal(ctx, name, middle, Margin::same(20));
    let response = modal.show(ctx, |ui| {
        ui.set_width(width.min(ctx.content_rect().width() - 64.0).max(0.0));
        words(ui, name, theme::heading(16.0), palette.strong);
        ui.add_space(8.0);
        add(ui);
    });
    response.should_close()
}

/// A dialog on a phone.
fn sheet_ui(ctx: &Context, name: &str, add: impl FnOnce(&mut Ui)) -> bool {
    let (palette, window) = (Palette::on(ctx), ctx.content_rect());
    let corners = CornerRadius {
        sw: 0,
        se: 0,
        ..CornerRadius::same(2 * theme::CARD_RADIUS)
    };
    let (bottom, margin) = (Align2::CENTER_BOTTOM, Margin::symmetric(SIDES, 8));
    let modal = modal(ctx, name, (bottom, Vec2::ZERO), margin);
    let frame = modal.frame.unwrap_or_default().corner_radius(corners);
    let modal = modal.frame(frame);
    let mut is_left = false;
    let response = modal.show(ctx, |ui| {
        ui.set_width(window.width().min(SHEET) - 2.0 * f32::from(SIDES) - 2.0);
        ui.horizontal(|ui| {
            ui.set_height(theme::FINGER);
            words(ui, name, theme::heading(17.0), palette.strong);
            from_right(ui, |ui| {
                is_left =
                    named_icon_button(ui, Icon::Close, "Close dialog", false, false).clicked();
            });
        });
        let most = (window.height() - ABOVE - theme::FINGER - 32.0).max(theme::FINGER);
        scroll_ui(ui, most, add);
    });
    is_left || response.should_close()
}

/// Scrolls content that may be too long for a dialog with so much else on it; a sheet scrolls as a whole.
pub fn scrolled_ui(ui: &mut Ui, rest: f32, add: impl FnOnce(&mut Ui)) {
    if theme::is_by_finger(ui.ctx()) {
        return add(ui);
    }
    let most = (ui.ctx().content_rect().height() - rest).max(60.0);
    scroll_ui(ui, most, add);
}

fn scroll_ui(ui: &mut Ui, most: f32, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical()
        .auto_shrink([false, true])
        .max_height(most)
        .min_scrolled_height(most)
        .show(ui, add);
}

/// The identity of the line of this name.
pub fn field_id(name: &str) -> Id {
    Id::unique(("field", name))
}

/// Selects the value of an intervention: what is typed replaces it.
fn select_value(ctx: &Context, dialog: &Dialog, id: Id) {
    let Some((before, _)) = dialog
        .text
        .split_once('=')
        .filter(|_| dialog.subject == Subject::Value)
    else {
        return;
    };
    let ends = [before.chars().count() + 1, dialog.text.chars().count()].map(CCursor::new);
    let mut state = TextEditState::load(ctx, id).unwrap_or_default();
    let range = CCursorRange::two(ends[0], ends[1]);
    state.cursor.set_char_range(Some(range));
    state.store(ctx, id);
}

/// The line of a dialog to type into, which has the keyboard; returns its text, and true when Enter is pressed.
pub fn field_ui(
    ui: &mut Ui,
    dialog: &Dialog,
    (hint, name): (&'static str, &str),
) -> (String, bool) {
    let mut text = dialog.text.clone();
    let line = TextEdit::singleline(&mut text)
        .id(field_id(name))
        .hint_text(hint)
        .font(theme::mono(13.0))
        .margin(vec2(8.0, 6.0))
        .desired_width(f32::INFINITY);
    let response = field(ui, true, line).accessible_name(name);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    // Where a keyboard would come on screen it waits until the line is touched; who opened it by a key has a keyboard.
    let waits = theme::is_by_finger(ui.ctx()) && !is_by_key(ui.ctx());
    if !waits && !entered && !response.has_focus() && ui.memory(|memory| memory.focused().is_none())
    {
        response.request_focus();
        select_value(ui.ctx(), dialog, response.id);
    }
    if text != dialog.text {
        send(ui.ctx(), DialogCommand::Typed(text.clone()));
    }
    (text, entered)
}
