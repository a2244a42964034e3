//! Marks on the axes of pictures, the same in the window and in files.

use crate::figure::scene::paint::{Draw, Page, Paint};
use crate::figure::{Area, Ink};

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
