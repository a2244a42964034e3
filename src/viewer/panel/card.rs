//! Cards over the pictures: beside what they speak of, never on it.

use egui::{Area, Context, Id, Order, Pos2, Rect, Ui, Vec2, pos2, vec2};

use crate::viewer::theme::{self, Palette};

/// Width of what is said.
pub const WIDTH: f32 = 300.0;
const MARGIN: f32 = 14.0;
/// The margin where there is little room.
const CLOSE: f32 = 10.0;
const GAP: f32 = 14.0;

/// Where a card stands.
#[derive(Clone, Copy, Debug)]
pub enum Stand<'a> {
    /// Beside the spot that it is about; as far as there is room it leaves free what else is to be seen.
    Beside(Option<Rect>, &'a [Rect]),
    /// In this place, as wide as it is.
    In(Rect),
}

/// A card about a part of the window.
pub fn card_ui(ctx: &Context, name: &str, stand: Stand<'_>, add: impl FnOnce(&mut Ui)) {
    let window = ctx.content_rect();
    let id = Id::unique(name);
    let size = ctx.memory(|memory| memory.area_rect(id));
    let size = size.map_or(vec2(WIDTH + 2.0 * MARGIN, 190.0), |rect| rect.size());
    let (corner, width, margin) = match stand {
        Stand::Beside(spot, others) => (beside(window, spot, others, size), WIDTH, MARGIN),
        Stand::In(place) => (place.min, place.width() - 2.0 * CLOSE - 2.0, CLOSE),
    };
    Area::new(id)
        .order(Order::Foreground)
        .fixed_pos(corner)
        .constrain_to(window)
        .show(ctx, |ui| {
            egui::Frame::popup(ui.style())
                .inner_margin(margin)
                .show(ui, |ui| {
                    ui.set_width(width);
                    add(ui);
                });
        });
}

/// Dims what is not lit; the pointer goes through.
pub fn veil(ctx: &Context, spot: Rect, share: f32) {
    let (palette, window) = (Palette::on(ctx), ctx.content_rect());
    let layer = egui::LayerId::new(Order::Middle, Id::unique("veil"));
    let painter = ctx.layer_painter(layer);
    let spot = spot.intersect(window);
    let (above, below) = (
        window.with_max_y(spot.top()),
        window.with_min_y(spot.bottom()),
    );
    let beside = Rect::from_x_y_ranges(window.x_range(), spot.y_range());
    let (left, right) = (
        beside.with_max_x(spot.left()),
        beside.with_min_x(spot.right()),
    );
    for part in [above, below, left, right] {
        painter.rect_filled(part, 0.0, palette.veil.gamma_multiply(share));
    }
    let ring = egui::Stroke::new(2.0, palette.accent);
    painter.rect_stroke(spot, theme::RADIUS, ring, egui::StrokeKind::Outside);
}

/// How much of a place is covered.
fn covered(place: Rect, of: Rect) -> f32 {
    let both = place.intersect(of);
    both.width().max(0.0) * both.height().max(0.0)
}

/// A place for a card of this size: off its spot; of such places the one that covers least of the others, and of those
/// the nearest.
fn beside(window: Rect, spot: Option<Rect>, others: &[Rect], size: Vec2) -> Pos2 {
    let room = window.shrink(12.0);
    let last = (room.right_bottom() - size).max(room.min);
    let Some(spot) = spot else { return last };
    let middle = spot.center() - size / 2.0;
    let left = [
        spot.left(),
        middle.x,
        spot.right() - size.x,
        room.left(),
        last.x,
    ];
    let top = [
        spot.top(),
        middle.y,
        spot.bottom() - size.y,
        room.top(),
        last.y,
    ];
    let sides = [spot.right() + GAP, spot.left() - GAP - size.x];
    let ends = [spot.bottom() + GAP, spot.top() - GAP - size.y];
    let beside = sides.into_iter().flat_map(|x| top.map(|y| pos2(x, y)));
    let over = ends.into_iter().flat_map(|y| left.map(|x| pos2(x, y)));
    let edges = [room.left(), last.x].into_iter();
    let edges = edges.flat_map(|x| [room.top(), middle.y, last.y].map(|y| pos2(x, y)));
    let places = beside.chain(over).chain(edges);
    let cost = |place: Pos2| {
        let card = Rect::from_min_size(place, size).expand(4.0);
        let others: f32 = others.iter().map(|other| covered(card, *other)).sum();
        let far = (card.center() - spot.center()).length();
        1000.0 * covered(card, spot) + others + 8.0 * far
    };
    let places = places.map(|place| place.clamp(room.min, last));
    let best = places.min_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    best.unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_never_on_its_spot_where_there_is_room() {
        let window = Rect::from_min_size(Pos2::ZERO, vec2(960.0, 600.0));
        let size = vec2(328.0, 190.0);
        for (x, y) in (0..9).flat_map(|x| (0..9).map(move |y| (x, y))) {
            let spot =
                Rect::from_min_size(pos2(x as f32 * 100.0, y as f32 * 60.0), vec2(200.0, 180.0));
            let spot = spot.intersect(window);
            let place = beside(window, Some(spot), &[], size);
            let card = Rect::from_min_size(place, size);
            assert!(!card.intersects(spot), "{spot:?}: {card:?}");
            assert!(window.contains_rect(card), "{card:?}");
            // Nor on what else is to be seen, where it can be elsewhere.
            let other = Rect::from_min_size(place, vec2(10.0, 10.0));
            let elsewhere =
                Rect::from_min_size(beside(window, Some(spot), &[other; 400], size), size);
            assert!(!elsewhere.intersects(spot) && !elsewhere.intersects(other));
        }
    }
}
