//! Shares of a whole over time, one above the other: the read modes of a head.

use crate::figure::scene::annotations::unrecorded;
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::text_width;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::{Area, Colours, Rgb, Scale, Style};
use crate::train::is_absent;

/// The colours of the modes: back, in place, and ahead.
pub(crate) fn inks(colours: &Colours) -> [Rgb; 3] {
    let end = |end| colours.of(Scale::Signed(1.0), end);
    [end(-1.0), colours.subdued, end(1.0)]
}

/// Paints the shares of every step, the first one at the bottom.
pub(crate) fn paint(on: &mut Surface<'_>, cells: &Cells<'_>, area: &Area) {
    if cells.value(0, 0).is_some_and(is_absent) {
        return unrecorded(on, area);
    }
    on.rect(*area, on.page.colours.well);
    // No finer than pixels.
    let shown = cells.columns.min(area.width() as usize).max(1);
    let x = |index: usize| area.left + area.width() * index as f32 / shown as f32;
    for index in 0..shown {
        // Under the next one a little, so that nothing shines through between them.
        let step = area.across(x(index), (x(index + 1) + 0.7).min(area.right));
        let mut bottom = area.bottom;
        for (mode, ink) in inks(on.page.colours).into_iter().enumerate() {
            let share = cells.value(index * cells.columns / shown, mode);
            let top = bottom - area.height() * share.filter(|share| *share > 0.0).unwrap_or(0.0);
            on.rect(step.down(top, bottom), ink);
            bottom = top;
        }
    }
    on.frame(*area, on.page.colours.line);
}

/// The mode at this height of a step, from the bottom 0 to the top 1.
pub(crate) fn mode_at(cells: &Cells<'_>, column: usize, height: f32) -> Option<usize> {
    let mut below = 0.0;
    let reaches = |mode: &usize| {
        below += cells.value(column, *mode).unwrap_or(0.0);
        below >= height
    };
    (0..cells.rows).find(reaches).or(cells.rows.checked_sub(1))
}

/// A square of every colour with its name, before `right`; returns where they begin.
pub(crate) fn key(on: &mut Surface<'_>, [mut right, y]: [f32; 2], names: [&str; 3]) -> f32 {
    const SIDE: f32 = 6.0;
    let style = Style::new(10.0, on.page.colours.subdued).end();
    for (name, ink) in names.into_iter().zip(inks(on.page.colours)).rev() {
        on.text(name, [right, y], style);
        right -= text_width(name, style.size) + SIDE + 2.0;
        on.rect(Area::new(right, y - 0.5 * SIDE, SIDE, SIDE), ink);
        right -= 5.0;
    }
    right
}
