//! Signal path from the output bit under the pointer to the row it was read from, and to the input of its write.

use egui::{Pos2, Ui, pos2};

use super::View;
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::scene::axes;
use crate::figure::scene::paint::{Draw, Page, Surface};
use crate::figure::{HeadName, PanelId, Picture, PlacedPanel, Rgb, Style};
use crate::model::sam::row_number;
use crate::viewer::state::Target;
use crate::viewer::widget::Canvas;

/// Radius of the corners.
const CORNER: f32 = 9.0;

/// The trip of the answer of a step, where one is asked for.
pub fn signal_path(step: usize, view: &View<'_>) -> Option<SignalPath> {
    let read = step.checked_sub(view.open.ahead)?;
    let is_asked = view.recording().episode.is_scored(step);
    let find = || SignalPath::read_in(view.trace(), view.open.writes_first(), read);
    let path = || is_asked.then(find).flatten();
    view.memos.paths.get((view.open.serial, step), path)
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

/// The height of a row; one that is not on screen is at the lower end.
fn row_y(axis: &Axis, row: usize) -> f32 {
    let place = axis.place_of(row);
    place.map_or_else(|| axis.bottom(), Span::center)
}

/// The trip as a line through the pictures of a page: at a step the row is in the memory, else in the weightings.
pub fn on_page_ui(ui: &Ui, places: &[PlacedPanel<'_>], view: &mut View<'_>) {
    let Some(((step, channel), path)) = shown(view) else {
        return;
    };
    let steps = view.steps() as f32;
    let share = |step: usize| (step as f32 + 0.5) / steps;
    let x = |place: &PlacedPanel<'_>, step| place.area.left + share(step) * place.area.width();
    let find = |id: PanelId| places.iter().find(|place| place.panel.id == id);
    let output = PanelId::new(Picture::Output);
    let memories = (places.iter()).filter(|place| place.panel.id.picture == Picture::Memory);
    let memory = memories.max_by_key(|place| place.panel.id.of == Some(path.reader));
    let read = find(PanelId::of(Picture::Weightings, path.reader));
    let ends = match (find(output).zip(read), find(output.now()).zip(memory)) {
        (None, Some((now, memory))) => {
            let row = pos2(memory.area.right, row_y(&memory.axis, path.row));
            // The bits stand one below the other.
            let share = (channel as f32 + 0.5) / view.trace().output.width().max(1) as f32;
            let bit = now.area.top + share * now.area.height();
            [pos2(now.area.left, bit), row]
        }
        (Some((output, read)), _) => {
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
    view: &mut View<'_>,
) {
    let page = view.page(ui.pixels_per_point());
    let hue = |head| page.colours.head(HeadName::of(view.trace(), head));
    let reader = hue(path.reader);
    let origin = path.origin;
    let origin = origin.map(|origin| (input(origin.step), hue(origin.writer)));
    let row = row_number(view.trace(), path.row);
    let mut canvas = view.canvas(ui);
    dotted(&mut canvas, &[answer, read], reader, &page);
    // The tip of the line at the answer.
    let back = (read - answer).normalized();
    let [left, right] = [-4.5, 4.5].map(|by| answer + 8.0 * back + by * back.rot90());
    canvas.shape(&[answer, right, left].map(<[f32; 2]>::from), reader);
    let Some((input, writer)) = origin else {
        return;
    };
    let bent = rounded(input, pos2(input.x, read.y), read);
    dotted(&mut canvas, &bent, writer, &page);
    for end in [input, read] {
        axes::dot(&mut canvas, end.into(), 3.5, writer);
    }
    if (input.x - read.x).abs() > 60.0 {
        let style = Style::new(10.5, page.colours.strong).middle();
        let at = [f32::midpoint(input.x, read.x), read.y - 9.0];
        let on = &mut Surface::new(&mut canvas, &page);
        axes::label(on, &format!("row {row}"), at, style);
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
fn dotted(canvas: &mut Canvas<'_>, points: &[Pos2], hue: Rgb, page: &Page) {
    let points: Vec<_> = points.iter().map(|&point| point.into()).collect();
    for (width, ink) in [(4.0, page.colours.panel), (2.0, hue)] {
        canvas.line(&points, ink, width);
    }
}
