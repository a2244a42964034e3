//! From an answer under the pointer to the row it was read from, and on to the input of the step that wrote that row.

use egui::{Color32, Pos2, Rangef, Stroke, Ui, pos2};

use super::parts::{Bands, rows_range};
use super::{Columns, View};
use crate::figure::trip::{Origin, Trip};
use crate::figure::{HeadName, PanelId, Picture, Place};
use crate::viewer::rows::{Axis, Span};
use crate::viewer::state::target::Target;
use crate::viewer::story;
use crate::viewer::widget::canvas::rect;

/// How round the corners are.
const CORNER: f32 = 9.0;

/// The trip of the answer of a step, where one is asked for.
pub fn trip(step: usize, view: &View<'_>) -> Option<Trip> {
    let read = step.checked_sub(view.open.ahead)?;
    let is_asked = story::is_asked(view.recording(), step);
    is_asked.then(|| Trip::read_in(view.trace(), view.open.writes_first(), read))?
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
    let x = |step| columns.step(step, view.steps()).center();
    let answer = pos2(x(step), bands.output.max);
    let read = pos2(x(trip.at), row_y(axis, trip.row));
    let input = |step| pos2(x(step), bands.input.max);
    line_ui(ui, trip, [answer, read], input, view);
}

/// The height of a row; one that is not on screen is at the lower end.
fn row_y(axis: &Axis, row: usize) -> f32 {
    let place = axis.place_of(row);
    place.map_or(rows_range(axis).max, Span::center)
}

/// The trip as a line through the pictures of a page: at a step the row is in the memory, else in the weightings.
pub fn trip_on_page(ui: &Ui, places: &[Place<'_>], view: &View<'_>) {
    let Some((step, trip)) = shown(view) else {
        return;
    };
    let share = |step: usize| (step as f32 + 0.5) / view.steps() as f32;
    let x = |place: &Place<'_>, step| place.area.left + share(step) * place.area.width();
    let find = |id: PanelId| places.iter().find(|place| place.panel.id == id);
    let output = PanelId::new(Picture::Output);
    let memories = (places.iter()).filter(|place| place.panel.id.picture == Picture::Memory);
    let memory = memories.max_by_key(|place| place.panel.id.of == Some(trip.reader));
    let read = find(PanelId::of(Picture::Weightings, trip.reader));
    let ends = match (find(output.now()).zip(memory), find(output).zip(read)) {
        (Some((now, memory)), _) => {
            let row = pos2(memory.area.right, row_y(&memory.axis, trip.row));
            [rect(&now.area).left_center(), row]
        }
        (None, Some((output, read))) => {
            let row = pos2(x(read, trip.at), row_y(&read.axis, trip.row));
            [pos2(x(output, step), output.area.bottom), row]
        }
        (None, None) => return,
    };
    if let Some(input) = find(PanelId::new(Picture::Input)) {
        let input = |step| pos2(x(input, step), input.area.bottom);
        line_ui(ui, trip, ends, input, view);
    }
}

/// The line of a trip: to the answer from where the row is read, and to there from the input of a step.
fn line_ui(
    ui: &Ui,
    trip: Trip,
    [answer, read]: [Pos2; 2],
    input: impl Fn(usize) -> Pos2,
    view: &View<'_>,
) {
    dotted(ui, &[answer, read], view.head_color(trip.reader));
    arrow(ui, [read, answer], view.head_color(trip.reader));
    let Some(Origin { writer, step, .. }) = trip.origin else {
        return;
    };
    let (input, color) = (input(step), view.head_color(writer));
    dotted(ui, &rounded(input, pos2(input.x, read.y), read), color);
    ui.painter().circle_filled(input, 3.5, color);
    ui.painter().circle_filled(read, 3.5, color);
    let between = Rangef::new(input.x.min(read.x), input.x.max(read.x));
    if between.span() > 60.0 {
        let at = pos2(between.center(), read.y - 9.0);
        name(ui, at, &format!("row {}", trip.row), view);
    }
}

/// Down or up, round a corner, and on to the end.
fn rounded(from: Pos2, corner: Pos2, to: Pos2) -> Vec<Pos2> {
    let along = (to.x - corner.x).abs().min(CORNER) * (to.x - corner.x).signum();
    let down = (corner.y - from.y).abs().min(CORNER) * (corner.y - from.y).signum();
    let before = pos2(corner.x, corner.y - down);
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
fn arrow(ui: &Ui, [from, tip]: [Pos2; 2], color: Color32) {
    let back = (from - tip).normalized();
    let [left, right] = [-4.5, 4.5].map(|by| tip + 8.0 * back + by * back.rot90());
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
