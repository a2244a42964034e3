//! The list of events around the current step, next to the lines over time.

use egui::{Align2, Rangef, Rect, Role, Sense, Ui, WidgetInfo, pos2};

use super::View;
use super::parts::quiet_text;
use crate::viewer::command::Play;
use crate::viewer::keys;
use crate::viewer::theme;
use crate::viewer::widget::{Line, on_click};

/// Room for the numbers and words of the lines over time, left of the list, in points.
pub const BESIDE: f32 = 240.0;
/// The list is not worth less room than this, in points.
const LEAST: [f32; 2] = [220.0, 50.0];
/// Height of a line, in points.
const LINE: f32 = 17.0;
/// Room for the number of a step, in points.
const STEP: f32 = 38.0;

/// The list; a click goes to the step of a line.
pub fn events_ui(ui: &Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    let (open, step) = (view.open, view.step());
    let count = open.events.len();
    if x.span() < LEAST[0] || y.span() < LEAST[1] || count == 0 {
        return;
    }
    let passed = open.events.partition_point(|event| event.step <= step);
    let title = format!("EVENTS  {passed} of {count}");
    let (at, font) = (pos2(x.min + 6.0, y.min + 6.0), theme::heading(11.0));
    quiet_text(ui, at, Align2::LEFT_CENTER, &title, font, view);
    let [back, on] = [-1, 1].map(|by| keys::key_of(&Play::Event(by).into()).unwrap_or_default());
    let hint = format!("{back} and {on} go to the previous and next event");
    if x.span() > 420.0 {
        let at = pos2(x.max, y.min + 6.0);
        quiet_text(ui, at, Align2::RIGHT_CENTER, &hint, theme::text(11.0), view);
    }
    let fits = ((y.span() - LINE) / LINE) as usize;
    let first = passed.saturating_sub(fits.div_ceil(2));
    let first = first.min(count.saturating_sub(fits));
    for index in first..(first + fits).min(count) {
        let top = y.min + LINE * (1 + index - first) as f32;
        let rect = Rect::from_x_y_ranges(x, Rangef::new(top, top + LINE));
        event_ui(ui, rect, index, index + 1 == passed, view);
    }
}

/// A line of it; `last` is the one that happened last.
fn event_ui(ui: &Ui, rect: Rect, index: usize, last: bool, view: &mut View<'_>) {
    let event = &view.open.events[index];
    let response = ui.interact(rect, ui.scope_id().with(("event", index)), Sense::click());
    let name = format!("Go to step {}: {}", event.step, event.words);
    let info = WidgetInfo::selected(Role::Button, true, last, name);
    let line = Line::pressed(ui, response, &info);
    let palette = view.palette;
    let number = rect.width() - STEP;
    line.right(number, event.step, theme::mono(11.0), palette.subdued);
    let has_come = event.step <= view.step();
    let ink = [palette.subdued, palette.text][usize::from(has_come)];
    let x = rect.left() + STEP + 10.0..=rect.right() - 6.0;
    let elided = line.within(x, &event.words, theme::text(11.5), ink);
    on_click(&line.response, Play::Seek(event.step));
    if elided {
        line.response.on_hover_text(&event.words);
    }
}
