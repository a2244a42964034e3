//! Cards that explain the figure. They take the place of the left panel, so that they cover no data.

use egui::{Area, Color32, Context, Id, Order, Rect, Response, Stroke, StrokeKind, Ui, pos2};

use super::{TOP, left_width};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::words;

const MARGIN: f32 = 10.0;

/// A card about a part of the window.
pub fn card_ui(ctx: &Context, name: &str, add: impl FnOnce(&mut Ui)) {
    let window = ctx.content_rect();
    let width = left_width(window.width()) - 2.0 * MARGIN - 6.0;
    Area::new(Id::unique(name))
        .order(Order::Foreground)
        .fixed_pos(pos2(2.0, TOP + 2.0))
        .constrain_to(window)
        .show(ctx, |ui| {
            let frame = egui::Frame::popup(ui.style()).inner_margin(MARGIN);
            frame.show(ui, |ui| {
                ui.set_width(width);
                add(ui);
            });
        });
}

/// The ground of a card to click, with a strong edge while it is the chosen one.
pub fn ground_ui(ui: &Ui, response: &Response, is_chosen: bool) {
    let (palette, rect) = (Palette::of(ui), response.rect);
    let fills = [palette.panel, palette.hovered];
    let edges = [palette.hairline(), Stroke::new(2.0, palette.accent)];
    let (fill, radius) = (fills[usize::from(response.hovered())], theme::CARD_RADIUS);
    ui.painter().rect_filled(rect, radius, fill);
    let (edge, inside) = (edges[usize::from(is_chosen)], StrokeKind::Inside);
    ui.painter().rect_stroke(rect, radius, edge, inside);
}

/// The words of a card: how far one is, a title, and what it tells.
pub fn words_ui(ui: &mut Ui, count: String, title: &str, size: f32, told: &[(&str, Color32)]) {
    let palette = Palette::of(ui);
    words(ui, count, theme::mono(11.0), palette.subdued);
    words(ui, title, theme::heading(size + 2.0), palette.strong);
    for (text, ink) in told {
        words(ui, *text, theme::text(size), *ink);
    }
    ui.add_space(6.0);
}

/// Dims everything outside the spot; the pointer passes through.
pub fn veil(ctx: &Context, spot: Rect, share: f32) {
    let (palette, window) = (Palette::on(ctx), ctx.content_rect());
    let layer = egui::LayerId::new(Order::Middle, Id::unique("veil"));
    let painter = ctx.layer_painter(layer);
    let spot = spot.intersect(window);
    let (above, rest) = window.split_top_bottom_at_y(spot.top());
    let (beside, below) = rest.split_top_bottom_at_y(spot.bottom());
    let left = beside.with_max_x(spot.left());
    for part in [above, below, left, beside.with_min_x(spot.right())] {
        painter.rect_filled(part, 0.0, palette.veil.gamma_multiply(share));
    }
    let ring = egui::Stroke::new(2.0, palette.accent);
    painter.rect_stroke(spot, theme::RADIUS, ring, egui::StrokeKind::Outside);
}
