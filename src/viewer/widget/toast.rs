//! Messages at the lower right.

use egui::{Align2, Area, Context, Id, Order, Pos2, vec2};

use super::super::command::{Command, File, Window};
use super::super::state::messages::{Kind, Toast, Toasts};
use super::super::theme::{self, Palette};
use super::button::{named_icon_button, on_click, text_button};
use super::icon::Icon;
use super::property::words;

/// Width of a message: it fits into the right panel.
const WIDTH: f32 = 244.0;

/// Shows the messages, the newest at the bottom, their lower right corner at `corner`.
pub fn toasts_ui(toasts: &Toasts, ctx: &Context, corner: Pos2, commands: &mut Vec<Command>) {
    if toasts.is_empty() {
        return;
    }
    Area::new(Id::unique("messages"))
        .order(Order::Foreground)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .constrain_to(ctx.content_rect())
        .show(ctx, |ui| {
            ui.set_max_width(WIDTH);
            for toast in toasts.shown() {
                toast_ui(ui, toast, commands);
                ui.add_space(4.0);
            }
        });
}

fn toast_ui(ui: &mut egui::Ui, toast: &Toast, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let ink = match toast.kind {
        Kind::Done => palette.accent,
        Kind::Notice | Kind::Problem => palette.warning,
    };
    let frame = egui::Frame::popup(ui.style()).inner_margin(10.0);
    let shown = frame.show(ui, |ui| {
        ui.set_width(WIDTH - 22.0);
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(WIDTH - 64.0);
                words(ui, toast.kind.mark(), theme::heading(12.0), ink);
                words(ui, &toast.text, theme::text(13.0), palette.text);
                if toast.kind == Kind::Problem {
                    let (text, said) = (toast.text.clone(), None);
                    text_button(ui, "Copy", File::Copy { text, said }, commands);
                }
            });
            let close = named_icon_button(ui, Icon::Close, "Dismiss", false, false);
            on_click(&close, Window::Dismiss(toast.id), commands);
        });
    });
    let rect = shown.response.rect;
    let edge = egui::Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
    ui.painter().rect_filled(edge, 2.0, ink);
}
