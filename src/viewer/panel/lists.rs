//! The list beside the timeline: events, instructions of the selected head, or provenance; a click goes to a step.

use egui::{Align2, Rangef, Rect, Role, Sense, Ui, WidgetInfo, pos2};

use super::View;
use super::parts::{child, quiet_text};
use crate::figure::facts::events::Event;
use crate::figure::head_label;
use crate::viewer::command::{Play, ViewCommand};
use crate::viewer::keys;
use crate::viewer::state::List;
use crate::viewer::theme;
use crate::viewer::widget::{Line, choice, on_click};

/// The list is not worth less room than this, in points.
const LEAST: [f32; 2] = [220.0, 50.0];
/// Height of a line, and of the choice of the list, in points.
const LINE: f32 = 17.0;
const CHOICE: f32 = 22.0;
/// Room for the number of a step, in points.
const STEP: f32 = 38.0;

/// The list, with a choice of it above.
pub fn list_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    if x.span() < LEAST[0] || y.span() < LEAST[1] {
        return;
    }
    let (entries, step, shown) = (view.state.list(), view.step(), view.state.view.list);
    let title = Rect::from_x_y_ranges(x, y.min - 6.0..=y.min - 6.0 + CHOICE);
    child(ui, title, |ui| {
        ui.style_mut().override_font_id = Some(theme::text(11.5));
        for list in List::ALL {
            choice(ui, list == shown, list.name(), ViewCommand::List(list));
        }
    });
    let is_in_order = shown != List::Provenance;
    let passed = entries.partition_point(|event| event.step <= step);
    let [back, on] = [-1, 1].map(|by| keys::key_of(&Play::Event(by).into()).unwrap_or_default());
    let head = || head_label(view.trace(), view.focus);
    let bit = view.state.pinned_bit();
    let what = bit.map_or_else(head, |bit| format!("output {bit}"));
    let top = title.bottom() + 2.0;
    let fits = ((y.max - top) / LINE) as usize;
    let mut hint = match shown {
        List::Events => format!("{passed} of {}; {back}, {on}", entries.len()),
        List::Instructions if view.has_heads() => format!("of {}", head()),
        List::Provenance if view.has_heads() => format!("of {what} in step {step}"),
        _ if view.trace().is_file() => "a machine file has no heads".to_owned(),
        _ => "this machine has no heads".to_owned(),
    };
    if entries.is_empty() && view.has_heads() {
        hint = format!("nothing {hint}");
    } else if entries.len() > fits && !is_in_order {
        hint = format!("{hint}: {fits} of {}", entries.len());
    }
    if x.span() > 330.0 {
        let at = pos2(x.max, title.center().y);
        quiet_text(ui, at, Align2::RIGHT_CENTER, &hint, theme::text(11.0), view);
    }
    let first = passed.saturating_sub(fits.div_ceil(2));
    let first = first.min(entries.len().saturating_sub(fits)) * usize::from(is_in_order);
    for (index, event) in entries.iter().enumerate().skip(first).take(fits) {
        let top = top + LINE * (index - first) as f32;
        let rect = Rect::from_x_y_ranges(x, Rangef::new(top, top + LINE));
        let is_last = is_in_order && index + 1 == passed;
        event_ui(ui, rect, (index, event), is_last, view);
    }
}

/// A line; `last` is the one that happened last.
fn event_ui(ui: &Ui, rect: Rect, (index, event): (usize, &Event), last: bool, view: &mut View<'_>) {
    let response = ui.interact(rect, ui.scope_id().with(("event", index)), Sense::click());
    let name = format!("Go to step {}: {}", event.step, event.words);
    let info = WidgetInfo::selected(Role::Button, true, last, name);
    let line = Line::pressed(ui, response, &info);
    let palette = view.palette;
    let number = rect.width() - STEP;
    line.right(
        number,
        event.step.to_string(),
        theme::mono(11.0),
        palette.subdued,
    );
    let has_come = event.step <= view.step();
    let ink = [palette.subdued, palette.text][usize::from(has_come)];
    let x = rect.left() + STEP + 10.0..=rect.right() - 6.0;
    let elided = line.within(x, &event.words, theme::text(11.5), ink);
    on_click(&line.response, Play::Seek(event.step));
    if elided {
        line.response.on_hover_text(&event.words);
    }
}
