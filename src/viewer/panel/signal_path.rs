//! Signal path from the output bit under the pointer to the row it was read from, and to the input of its write.

use egui::{Color32, Pos2, Rangef, Stroke, Ui, pos2};

use super::parts::{Bands, rows_range};
use super::{Columns, View};
use crate::figure::facts::signal_path::{Origin, SignalPath};
use crate::figure::{HeadName, PanelId, Picture, PlacedPanel};
use crate::viewer::row_zoom::{Axis, Span};
use crate::viewer::state::target::Target;

/// Radius of the corners.
const CORNER: f32 = 9.0;

/// The trip of the answer of a step, where one is asked for.
pub fn signal_path(step: usize, view: &View<'_>) -> Option<SignalPath> {
    let read = step.checked_sub(view.open.ahead)?;
    let (key, is_asked) = (
        (view.open.serial, step),
        view.recording().episode.is_scored(step),
    );
    if let Some((_, path)) = view.last_path.get().filter(|last| last.0 == key) {
        return path;
    }
    let find = || SignalPath::read_in(view.trace(), view.open.writes_first(), read);
    let path = is_asked.then(find).flatten();
    view.last_path.set(Some((key, path)));
    path
}

/// Describes the signal path as text.
pub fn describe(step: usize, path: SignalPath, view: &View<'_>) -> String {
    let name = |head| HeadName::of(view.trace(), head);
    let SignalPath {
        reader,
        at,
        row,
        weight,
        origin,
    } = path;
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
                "{read},\nwritten by {} in step {step} ({share:.0} % of its contents)",
                name(writer)
            )
        }
        None => format!("{read}, which no head has written"),
    }
}

/// The step and the signal path that are shown: of the output bit under the pointer, or of the pinned one.
fn shown(view: &View<'_>) -> Option<((usize, usize), SignalPath)> {
    let (bit, path) = match (view.answer, view.state.view.selected) {
        (Some(answer), _) => answer,
        (None, Some(Target::Value { id, column })) if id.picture == Picture::Output => {
            ((view.step(), column), signal_path(view.step(), view))
        }
        _ => return None,
    };
    Some((bit, path?))
}

/// The trip as a line through the pictures over time.
pub fn signal_path_ui(ui: &Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &View<'_>) {
    let Some(((step, _), path)) = shown(view) else {
        return;
    };
    let x = |step| columns.step(step, view.steps()).center();
    let answer = pos2(x(step), bands.output.max);
    let read = pos2(x(path.at), row_y(axis, path.row));
    let input = |step| pos2(x(step), bands.input.max);
    line_ui(ui, path, [answer, read], input, view);
}

/// The height of a row; one that is not on screen is at the lower end.
fn row_y(axis: &Axis, row: usize) -> f32 {
    let place = axis.place_of(row);
    place.map_or(rows_range(axis).max, Span::center)
}

/// The trip as a line through the pictures of a page: at a step the row is in the memory, else in the weightings.
pub fn on_page_ui(ui: &Ui, places: &[PlacedPanel<'_>], view: &View<'_>) {
    let Some(((step, channel), path)) = shown(view) else {
        return;
    };
    let share = |step: usize| (step as f32 + 0.5) / view.steps() as f32;
    let x = |place: &PlacedPanel<'_>, step| place.area.left + share(step) * place.area.width();
    let find = |id: PanelId| places.iter().find(|place| place.panel.id == id);
    let output = PanelId::new(Picture::Output);
    let memories = (places.iter()).filter(|place| place.panel.id.picture == Picture::Memory);
    let memory = memories.max_by_key(|place| place.panel.id.of == Some(path.reader));
    let read = find(PanelId::of(Picture::Weightings, path.reader));
    let ends = match (find(output.now()).zip(memory), find(output).zip(read)) {
        (Some((now, memory)), _) => {
            let row = pos2(memory.area.right, row_y(&memory.axis, path.row));
            // The bits stand one below the other.
            let share = (channel as f32 + 0.5) / view.trace().output.width().max(1) as f32;
            [
                pos2(now.area.left, now.area.top + share * now.area.height()),
                row,
            ]
        }
        (None, Some((output, read))) => {
            let row = pos2(x(read, path.at), row_y(&read.axis, path.row));
            [pos2(x(output, step), output.area.bottom), row]
        }
        (None, None) => return,
    };
    if let Some(input) = find(PanelId::new(Picture::Input)) {
        let input = |step| pos2(x(input, step), input.area.bottom);
        line_ui(ui, path, ends, input, view);
    }
}

/// The line of a trip: to the answer from where the row is read, and to there from the input of a step.
fn line_ui(
    ui: &Ui,
    path: SignalPath,
    [answer, read]: [Pos2; 2],
    input: impl Fn(usize) -> Pos2,
    view: &View<'_>,
) {
    dotted(ui, &[answer, read], view.head_color(path.reader));
    arrow(ui, [read, answer], view.head_color(path.reader));
    let Some(Origin { writer, step, .. }) = path.origin else {
        return;
    };
    let (input, color) = (input(step), view.head_color(writer));
    dotted(ui, &rounded(input, pos2(input.x, read.y), read), color);
    ui.painter().circle_filled(input, 3.5, color);
    ui.painter().circle_filled(read, 3.5, color);
    let between = Rangef::new(input.x.min(read.x), input.x.max(read.x));
    if between.span() > 60.0 {
        let at = pos2(between.center(), read.y - 9.0);
        name(ui, at, &format!("row {}", path.row), view);
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
