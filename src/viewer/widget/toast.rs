//! Messages at the lower right.

use egui::{Align2, Area, Context, Id, Order, Pos2, vec2};

use super::super::command::{File, Window};
use super::super::state::{Kind, Toast, Toasts};
use super::super::theme::{self, Palette};
use super::button::{named_icon_button, on_click, text_button};
use super::icon::Icon;
use super::property::{or_pointer, words};
use super::queue::send;

/// Width of a message: it fits into the right panel.
const WIDTH: f32 = 244.0;
/// Maximum width of a message on a phone.
const WIDE: f32 = 400.0;

/// Shows the messages, the newest at the bottom, with this corner of theirs at this place.
pub fn toasts_ui(toasts: &Toasts, ctx: &Context, (corner, at): (Align2, Pos2)) {
    if toasts.shown.is_empty() {
        return;
    }
    let area = Area::new(Id::unique("messages"))
        .order(Order::Foreground)
        .pivot(corner)
        .fixed_pos(at)
        .constrain_to(ctx.content_rect())
        .show(ctx, |ui| {
            let wide = (ctx.content_rect().width() - 16.0).min(WIDE);
            let width = or_pointer(ctx, wide, WIDTH);
            ui.set_max_width(width);
            for toast in &toasts.shown {
                toast_ui(ui, width, toast);
                ui.add_space(4.0);
            }
        });
    let place = area.response.rect;
    if ctx.pointer_hover_pos().is_some_and(|at| place.contains(at)) {
        send(ctx, Window::HoldMessages);
    }
}

fn toast_ui(ui: &mut egui::Ui, width: f32, toast: &Toast) {
    let palette = Palette::of(ui);
    let ink = match toast.kind {
        Kind::Done => palette.accent,
        Kind::Notice | Kind::Problem => palette.warning,
    };
    let frame = egui::Frame::popup(ui.style()).inner_margin(10.0);
    let shown = frame.show(ui, |ui| {
        ui.set_width(width - 22.0);
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(width - 36.0 - ui.spacing().interact_size.x.max(theme::ICON.x));
                words(ui, toast.kind.mark(), theme::heading(12.0), ink);
                words(ui, &toast.text, theme::text(13.0), palette.text);
                if toast.kind == Kind::Problem {
                    let (text, said) = (toast.text.clone(), None);
                    text_button(ui, "Copy", File::Copy { text, said });
                }
            });
            let close = named_icon_button(ui, Icon::Close, "Dismiss", false, false);
            on_click(&close, Window::Dismiss(toast.id));
        });
    });
    let rect = shown.response.rect;
    let edge = egui::Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
    ui.painter().rect_filled(edge, 2.0, ink);
}
