//! Where the heads are: their signs at the edge of a picture of the memory.

use super::drawing::{Mark, Style};
use super::facts::HeadMark;
use super::panel::Page;
use super::rows::Axis;
use super::{Area, Drawing, mix};

/// Room for the signs at the right of the rows.
pub(super) const ROOM: f32 = 38.0;
/// Signs are at least this far apart.
const PITCH: f32 = 11.0;
/// Half the side of a sign.
const HALF: f32 = 4.0;

/// The signs right of `area`, each with a line to its row; fainter where the weight is on many rows.
pub(super) fn draw(
    drawing: &mut Drawing,
    marks: &[HeadMark],
    area: &Area,
    placed: &Axis,
    page: &Page<'_>,
) {
    let height = |mark: &HeadMark| Some(placed.place_of(mark.row)?.center());
    let mut shown: Vec<_> = marks
        .iter()
        .filter_map(|mark| Some((height(mark)?, mark)))
        .collect();
    shown.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let last = area.bottom - PITCH * (shown.len() as f32 - 0.5);
    let mut above = f32::NEG_INFINITY;
    for (index, (y, mark)) in shown.into_iter().enumerate() {
        let at = (above + PITCH).max(y.min(last + PITCH * index as f32));
        above = at;
        let colours = page.colours;
        let share = mark.weight.clamp(0.25, 1.0);
        let ink = mix(colours.panel, colours.head(mark.name), share);
        let left = area.right + 10.0;
        drawing.line(&[[area.right + 1.0, y], [left - 1.0, at]], ink, 1.0);
        sign(drawing, [left + HALF, at], mark.name.is_write, ink);
        let style = Style::new(10.0, colours.text);
        drawing.text(mark.name.to_string(), [left + 2.0 * HALF + 3.0, at], style);
    }
}

/// A filled triangle that points up for a write head, a hollow one that points down for a read head.
fn sign(drawing: &mut Drawing, [x, y]: [f32; 2], is_write: bool, ink: super::Rgb) {
    let tip = if is_write { -HALF } else { HALF };
    let corners = [[x - HALF, y - tip], [x + HALF, y - tip], [x, y + tip]];
    if is_write {
        drawing.marks.push(Mark::Shape {
            points: corners.to_vec(),
            fill: ink,
            opacity: 1.0,
        });
    } else {
        let closed = [corners[0], corners[1], corners[2], corners[0]];
        drawing.line(&closed, ink, 1.2);
    }
}
