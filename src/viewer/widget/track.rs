//! A thin track to slide a number along, under the number itself. Its scale is logarithmic: doubling is as
//! far everywhere.

use egui::accesskit::Action;
use egui::{
    Context, EventFilter, Id, Key, Modifiers, Rangef, Rect, Response, Sense, Ui, WidgetInfo,
};
use egui::{pos2, vec2};

use super::super::theme::{self, Palette};
use super::button::focus_ring;

/// Room for the knob, in points.
const HEIGHT: f32 = 12.0;
/// Radius of the knob, in points.
const KNOB: f32 = 4.5;

/// Shows the track; returns the number that it was dragged to. `stops` are in order and not empty.
pub fn track_ui(
    ui: &mut Ui,
    name: &str,
    value: usize,
    stops: &[usize],
) -> (Response, Option<usize>) {
    // Where a finger hits it, as tall as everything else that is hit.
    let by_finger = theme::is_by_finger(ui.ctx());
    let (height, knob) = if by_finger {
        (theme::FINGER, 2.0 * KNOB)
    } else {
        (HEIGHT, KNOB)
    };
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::slider(enabled, value as f64, name));
    let rail = Rangef::new(rect.left() + knob, rect.right() - knob);
    let place = |number: usize| rail.min + rail.span() * share(number, stops);
    paint(ui, rail, (place(value), knob), &response);
    if !enabled {
        return (response, None);
    }
    let steps = steps_asked(ui, &response);
    let here = stops.partition_point(|&stop| stop < value);
    let slid = match response.interact_pointer_pos() {
        Some(at) if response.clicked() || response.drag_delta().x != 0.0 => {
            let far = |stop: usize| (place(stop) - at.x).abs();
            stops
                .iter()
                .copied()
                .min_by(|&a, &b| far(a).total_cmp(&far(b)))
        }
        _ if steps > 0 => {
            let on_stop = stops.get(here) == Some(&value);
            let next = here + steps.unsigned_abs() - usize::from(!on_stop);
            Some(stops[next.min(stops.len() - 1)])
        }
        _ if steps < 0 => Some(stops[here.saturating_sub(steps.unsigned_abs())]),
        _ => None,
    };
    (response, slid.filter(|&stop| stop != value))
}

/// Returns the position of a number on the track, 0 to 1.
fn share(number: usize, stops: &[usize]) -> f32 {
    let (Some(&least), Some(&most)) = (stops.first(), stops.last()) else {
        return 0.0;
    };
    // What is counted from 0 is one place further on than its number.
    let further = usize::from(least == 0);
    let log = |number: usize| ((number + further).max(1) as f32).ln();
    let span = log(most) - log(least);
    if span <= 0.0 {
        return 0.0;
    }
    ((log(number) - log(least)) / span).clamp(0.0, 1.0)
}

fn paint(ui: &Ui, rail: Rangef, (knob, radius): (f32, f32), response: &Response) {
    let (palette, painter) = (Palette::of(ui), ui.painter());
    let middle = response.rect.center().y;
    let line = |from: f32, to: f32, ink| {
        let rail = Rect::from_x_y_ranges(from..=to, middle - 1.5..=middle + 1.5);
        painter.rect_filled(rail, 1.5, ink);
    };
    line(rail.min, rail.max, palette.hovered);
    let ink = if ui.is_enabled() {
        palette.accent
    } else {
        palette.subdued
    };
    line(rail.min, knob, ink.gamma_multiply(0.6));
    let active = response.hovered() || response.dragged();
    let radius = if active { radius + 1.0 } else { radius };
    painter.circle_filled(pos2(knob, middle), radius, ink);
    focus_ring(ui, response);
}

/// Number of stops by which the keys, or a screen reader, move.
fn steps_asked(ui: &Ui, response: &Response) -> isize {
    let id = response.id;
    if response.has_focus() {
        let pass = ui.ctx().cumulative_pass_nr();
        ui.data_mut(|data| data.insert_temp(arrows(), pass));
        let filter = EventFilter {
            horizontal_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    }
    let asked = |key: Key, action: Action| {
        let by_key =
            |input: &mut egui::InputState| input.count_and_consume_key(Modifiers::NONE, key);
        let keys = if response.has_focus() {
            ui.input_mut(by_key)
        } else {
            0
        };
        keys + ui.input(|input| input.num_accesskit_action_requests(id, action))
    };
    let more = asked(Key::ArrowRight, Action::Increment);
    more.cast_signed() - asked(Key::ArrowLeft, Action::Decrement).cast_signed()
}

fn arrows() -> Id {
    Id::unique("arrows of a track")
}

/// True while a track has the keyboard: then ← and → are its own.
pub fn has_arrows(ctx: &Context) -> bool {
    let pass = ctx.data(|data| data.get_temp::<u64>(arrows()));
    pass.is_some_and(|pass| ctx.cumulative_pass_nr() <= pass + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_is_as_far_everywhere() {
        let stops: Vec<_> = (5..13).map(|power| 1 << power).collect();
        let at = |number| share(number, &stops);
        assert!((at(64) - at(32) - (at(4096) - at(2048))).abs() < 1e-5);
        assert!(at(32).abs() < 1e-6 && (at(4096) - 1.0).abs() < 1e-6);
        assert!((at(1) - 0.0).abs() < 1e-6 && share(7, &[5]).abs() < 1e-6);
    }
}
