//! Arrows between memory rows that were written one after the other.

use crate::figure::facts::links::TemporalLinks;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::{Area, Ink};

/// Points of a curve.
const POINTS: usize = 24;

/// Draws the strongest links as curves left of a memory, each with its point at the row that was written after the
/// other; `y` is the middle of a row, inside of the area or not.
pub(crate) fn arrows(
    on: &mut Surface<'_>,
    links: &TemporalLinks,
    area: &Area,
    y: impl Fn(usize) -> Option<f32>,
) {
    let tip = (0.16 * area.width()).clamp(3.0, 5.0);
    let left = area.right - tip;
    let inside = |y: f32| (area.top..=area.bottom).contains(&y);
    // The strongest are above the others.
    for link in links.strongest.iter().rev() {
        let (Some(from), Some(to)) = (y(link.from), y(link.to)) else {
            continue;
        };
        if !inside(from) && !inside(to) {
            continue;
        }
        let far = ((to - from).abs() / area.height()).sqrt().clamp(0.3, 1.0);
        let bend = 4.0 * far * (left - area.left - 1.0);
        let curve = (0..=POINTS).map(|index| {
            let t = index as f32 / POINTS as f32;
            [left - bend * t * (1.0 - t), from + (to - from) * t]
        });
        let start = std::iter::once([area.right, from]);
        let curve: Vec<_> = start.chain(curve).filter(|at| inside(at[1])).collect();
        let ink = Ink::from(on.page.colours.text).faded(link.weight.min(1.0));
        on.line(&curve, ink, 1.2);
        if inside(to) {
            let corners = [
                [left, to - 0.7 * tip],
                [left, to + 0.7 * tip],
                [area.right, to],
            ];
            on.shape(&corners, ink);
        }
    }
}
