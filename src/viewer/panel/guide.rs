//! The tour on screen: everything is veiled but what a stop is about, with a card beside it.

use egui::{Align2, Area, Context, Id, Key, Order, Pos2, Rect, Ui, Vec2, vec2};

use crate::viewer::command::{Command, Tour as About};
use crate::viewer::state::tour::{Place, STOPS, Tour};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{on_click, primary_button, text_button};
use crate::viewer::widget::place;
use crate::viewer::widget::property::words;

const WIDTH: f32 = 300.0;

/// Where the thing that a stop is about stands.
fn spot(ctx: &Context, place: Place, head: &str) -> Option<Rect> {
    let names = match place {
        Place::Play => vec!["Play".to_owned(), "Pause".to_owned()],
        Place::Step => vec!["Next step".to_owned()],
        Place::Weighting => vec![format!("weighting of {head}")],
        Place::Content => vec![format!("{head} match"), format!("{head} content")],
        Place::Column(column) => vec![format!("{head} {column}")],
        Place::Memory => vec!["memory".to_owned()],
    };
    let found = names.iter().filter_map(|name| place::find(ctx, name));
    let found = found.reduce(Rect::union)?;
    let room = match place {
        // The name and the parameter over the column belong to it.
        Place::Content | Place::Column(_) => {
            let head = vec2(0.0, 60.0);
            Rect::from_min_max(found.min - head, found.max)
        }
        _ => found,
    };
    Some(room.expand(5.0))
}

/// The tour at its present stop; `told` is what to say once it is done.
pub fn tour_ui(ctx: &Context, tour: Tour, head: &str, told: &str, commands: &mut Vec<Command>) {
    let palette = Palette::on(ctx);
    let window = ctx.content_rect();
    let spot = spot(ctx, tour.at().place, head);
    if let Some(spot) = spot {
        // Once it is done there is something to see all over.
        let share = if tour.met { 0.25 } else { 0.6 };
        veil(ctx, window, spot, share, palette);
    }
    let id = Id::unique("tour");
    let size = ctx.memory(|memory| memory.area_rect(id));
    let size = size.map_or(vec2(WIDTH + 28.0, 190.0), |rect| rect.size());
    Area::new(id)
        .order(Order::Foreground)
        .fixed_pos(beside(window, spot, size))
        .constrain_to(window)
        .show(ctx, |ui| {
            egui::Frame::popup(ui.style())
                .inner_margin(14.0)
                .show(ui, |ui| {
                    ui.set_width(WIDTH);
                    card_ui(ui, tour, told, palette, commands);
                });
        });
}

/// Dims what is not lit; the pointer goes through.
fn veil(ctx: &Context, window: Rect, spot: Rect, share: f32, palette: &Palette) {
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

/// A place for the card that leaves the lit part free, as far as there is one.
fn beside(window: Rect, spot: Option<Rect>, size: Vec2) -> Pos2 {
    let room = window.shrink(12.0);
    let last = room.right_bottom() - size;
    let Some(spot) = spot else { return last };
    let gap = 14.0;
    let middle = spot.center() - size / 2.0;
    let places = [
        Pos2::new(spot.right() + gap, middle.y),
        Pos2::new(spot.left() - gap - size.x, middle.y),
        Pos2::new(middle.x, spot.top() - gap - size.y),
        Pos2::new(middle.x, spot.bottom() + gap),
    ];
    let kept = places.map(|place| place.clamp(room.min, last.max(room.min)));
    let free = |place: &&Pos2| !Rect::from_min_size(**place, size).intersects(spot);
    kept.iter().find(free).copied().unwrap_or(last)
}

fn card_ui(ui: &mut Ui, tour: Tour, told: &str, palette: &Palette, commands: &mut Vec<Command>) {
    let (stop, number) = (tour.at(), tour.stop + 1);
    let count = format!("{number} of {}", STOPS.len());
    words(ui, count, theme::mono(11.0), palette.subdued);
    words(ui, stop.title, theme::heading(15.0), palette.strong);
    if tour.met {
        words(ui, told, theme::text(13.0), palette.strong);
    } else {
        words(ui, stop.ask, theme::text(13.0), palette.text);
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let last = number == STOPS.len();
        let next = if last { "Finish" } else { "Next" };
        if tour.met {
            // Nothing else waits for Enter then.
            let entered = ui.input(|input| input.key_pressed(Key::Enter))
                && ui.memory(|memory| memory.focused().is_none());
            if primary_button(ui, next).clicked() || entered {
                commands.push(About::Next.into());
            }
        } else {
            text_button(ui, "Skip", About::Next, commands);
        }
        text_button(ui, "Leave the tour", About::Leave, commands);
    });
}

/// Offers the tour to someone who is here for the first time.
pub fn invitation_ui(ctx: &Context, corner: Pos2, palette: &Palette, commands: &mut Vec<Command>) {
    Area::new(Id::unique("invitation"))
        .order(Order::Foreground)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .constrain_to(ctx.content_rect())
        .show(ctx, |ui| {
            egui::Frame::popup(ui.style())
                .inner_margin(12.0)
                .show(ui, |ui| {
                    ui.set_width(220.0);
                    words(ui, "New here?", theme::heading(13.0), palette.strong);
                    let text = "Ten small steps show how a head finds its row.";
                    words(ui, text, theme::text(13.0), palette.text);
                    ui.add_space(4.0);
                    ui.horizontal(|ui| {
                        let take = primary_button(ui, "Take the tour");
                        on_click(&take, About::Start, commands);
                        text_button(ui, "Not now", About::Greet, commands);
                    });
                });
        });
}
