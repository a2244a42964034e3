//! From an answer under the pointer to the row it was read from, and on to the input of the step that wrote that row.

use egui::{Color32, Pos2, Rangef, Stroke, Ui, pos2};

use super::parts::{Bands, rows_range};
use super::{Columns, View};
use crate::figure::trip::{Origin, Trip};
use crate::figure::{HeadName, Picture};
use crate::viewer::rows::{Axis, Span};
use crate::viewer::state::target::Target;
use crate::viewer::story;

/// How round the corners are.
const CORNER: f32 = 9.0;

/// The trip of the answer of a step, where one is asked for.
pub fn trip(step: usize, view: &View<'_>) -> Option<Trip> {
    let is_asked = story::is_asked(view.recording(), step);
    let first = view.open.writes_first();
    is_asked.then(|| Trip::of(view.recording(), first, step))?
}

/// It in words.
pub fn told(step: usize, trip: Trip, view: &View<'_>) -> String {
    let name = |head| HeadName::of(view.trace(), head);
    let Trip {
        reader,
        at,
        row,
        weight,
        origin,
    } = trip;
    let when = if at < step {
        format!(" in step {at}")
    } else {
        String::new()
    };
    let read = format!(
        "read from row {row} by {}{when} (weight {weight:.2})",
        name(reader)
    );
    match origin {
        Some(Origin {
            writer,
            step,
            share,
        }) => {
            let share = 100.0 * share;
            format!(
                "{read},\nwhich {} wrote in step {step} ({share:.0} % of what stands there)",
                name(writer)
            )
        }
        None => format!("{read}, which nobody has written"),
    }
}

/// The step and the trip that are shown: those of the answer under the pointer, or of the one kept in view.
fn shown(view: &View<'_>) -> Option<(usize, Trip)> {
    let (step, trip) = match (view.answer, view.state.sight.selected) {
        (Some(answer), _) => answer,
        (None, Some(Target::Value { id, .. })) if id.picture == Picture::Output => {
            (view.step(), trip(view.step(), view))
        }
        _ => return None,
    };
    Some((step, trip?))
}

/// The trip as a line through the pictures over time.
pub fn trip_ui(ui: &Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &View<'_>) {
    let Some((step, trip)) = shown(view) else {
        return;
    };
    let rows = rows_range(axis);
    let place = axis.place_of(trip.row);
    // A row that is not on screen is at the lower end.
    let y = place.map_or(rows.max, Span::center);
    let x = |step| columns.step(step, view.steps()).center();
    let answer = pos2(x(step), bands.output.max);
    let read = pos2(x(trip.at), y);
    dotted(ui, &[answer, read], view.head_color(trip.reader));
    arrow(ui, answer, view.head_color(trip.reader));
    let Some(Origin {
        writer, step: from, ..
    }) = trip.origin
    else {
        return;
    };
    let input = pos2(x(from), bands.input.max);
    let color = view.head_color(writer);
    dotted(ui, &rounded(input, pos2(x(from), y), read), color);
    for at in [input, read] {
        ui.painter().circle_filled(at, 3.5, color);
    }
    let label = format!("row {}", trip.row);
    let between = Rangef::new(x(from).min(x(trip.at)), x(from).max(x(trip.at)));
    if between.span() > 60.0 {
        name(ui, pos2(between.center(), y - 9.0), &label, view);
    }
}

/// Down, round a corner, and on to the end.
fn rounded(from: Pos2, corner: Pos2, to: Pos2) -> Vec<Pos2> {
    let along = (to.x - corner.x).abs().min(CORNER) * (to.x - corner.x).signum();
    let before = pos2(corner.x, corner.y - CORNER.min((corner.y - from.y).abs()));
    let after = pos2(corner.x + along, corner.y);
    let bend = (0..=6).map(|part| {
        let t = part as f32 / 6.0;
        let [a, b] = [before.lerp(corner, t), corner.lerp(after, t)];
        a.lerp(b, t)
    });
    std::iter::once(from).chain(bend).chain([to]).collect()
}

/// A line that is seen on every ground.
fn dotted(ui: &Ui, points: &[Pos2], color: Color32) {
    let ground = ui.visuals().panel_fill;
    for (width, ink) in [(4.0, ground), (2.0, color)] {
        let stroke = Stroke::new(width, ink);
        ui.painter().add(egui::Shape::line(points.to_vec(), stroke));
    }
}

/// The tip of the line at the answer.
fn arrow(ui: &Ui, tip: Pos2, color: Color32) {
    let [left, right] = [-4.5, 4.5].map(|by| pos2(tip.x + by, tip.y + 8.0));
    let shape = egui::Shape::convex_polygon(vec![tip, right, left], color, Stroke::NONE);
    ui.painter().add(shape);
}

fn name(ui: &Ui, at: Pos2, text: &str, view: &View<'_>) {
    let font = crate::viewer::theme::text(10.5);
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font, view.palette.strong);
    let rect = egui::Rect::from_center_size(at, galley.size() + egui::vec2(6.0, 0.0));
    ui.painter().rect_filled(rect, 3.0, view.palette.panel);
    ui.painter()
        .galley(rect.min + egui::vec2(3.0, 0.0), galley, view.palette.strong);
}
