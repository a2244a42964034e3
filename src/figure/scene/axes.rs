//! Marks on the axes of pictures, the same in the window and in files.

use crate::figure::scene::fonts::area_of;
use crate::figure::scene::paint::{Draw, Page, Paint};
use crate::figure::{Area, Ink, Rgb, Style};

/// A step of at least this width is a column between two lines; a narrower one is a single line.
const COLUMN: f32 = 5.0;

/// The play-head: the current step of `steps` on a time axis as wide as `area`, in the accent colour.
pub fn play_head(paint: &mut dyn Paint, area: &Area, step: usize, steps: usize, page: &Page<'_>) {
    let accent = page.colours.accent;
    let width = area.width() / steps.max(1) as f32;
    let left = area.left + step as f32 * width;
    let edges = if width >= COLUMN {
        let column = area.across(left, left + width);
        paint.rect(column, Ink::from(accent).faded(0.10));
        vec![left, left + width]
    } else {
        vec![left + width / 2.0]
    };
    for x in edges.into_iter().map(|x| x.round() + 0.5) {
        paint.line(&[[x, area.top], [x, area.bottom]], accent, 1.0);
    }
}

/// A number on the play-head.
pub fn pill(paint: &mut dyn Paint, text: &str, at: [f32; 2], page: &Page<'_>) {
    let style = Style::new(11.0, page.colours.on_accent).mono().middle();
    paint.rect(plate_of(text, at, &style), page.colours.accent);
    paint.text(text, at, style);
}

/// A filled circle.
pub fn dot(paint: &mut dyn Paint, [x, y]: [f32; 2], radius: f32, fill: Rgb) {
    let corner = |index: usize| {
        let (sin, cos) = (index as f32 / 12.0 * std::f32::consts::TAU).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    let corners: [_; 12] = std::array::from_fn(corner);
    paint.shape(&corners, fill);
}

/// A text on a plate.
pub fn label(paint: &mut dyn Paint, text: &str, at: [f32; 2], style: Style, page: &Page<'_>) {
    paint.rect(plate_of(text, at, &style), page.colours.panel);
    paint.text(text, at, style);
}

/// A text on a plate with an edge in its colour; returns the plate.
pub fn plate(
    paint: &mut dyn Paint,
    text: &str,
    at: [f32; 2],
    style: Style,
    page: &Page<'_>,
) -> Area {
    let plate = plate_of(text, at, &style);
    label(paint, text, at, style, page);
    paint.outline(plate, style.ink.colour);
    plate
}

fn plate_of(text: &str, at: [f32; 2], style: &Style) -> Area {
    let area = area_of(text, at, style);
    area.across(area.left - 4.0, area.right + 4.0)
}
