//! Annotations on a picture: numbers in its cells, rows left out, errors, values not recorded, positions of heads.

use std::ops::Range;

use crate::figure::facts::episode::HeadMark;
use crate::figure::facts::rows::{Axis, Span, untouched};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::text_width;
use crate::figure::scene::paint::{At, Draw, Surface};
use crate::figure::{Anchor, Area, HeadName, Ink, Rgb, Style, TOLD_APART, facts::numbers};
use crate::model::Trace;
use crate::train::is_absent;

/// The least width and height of cells whose numbers are printed, and where in them.
pub(crate) type Printed = ([f32; 2], Anchor);
/// The numbers of the cells of a step.
pub(crate) const PRINTED: Printed = ([34.0, 14.5], Anchor::End);
/// Distance between the hatches over values that were not recorded.
const HATCHES: f32 = 7.0;
/// The least side of a cell whose true alignment is outlined.
const LEAST_ALIGNED: f32 = 4.0;
/// Least size of the letters of a place in an order.
const LEAST_PLACE: f32 = 7.0;
/// Size of letters next to pictures.
const SMALL: f32 = 10.0;

impl Cells<'_> {
    /// Paints the cells with all annotations: colours, numbers, omitted parts, wrong bits, positions of the heads.
    pub(crate) fn paint(&self, on: &mut Surface<'_>, at: At<'_>) {
        let At { area, axis, .. } = at;
        on.paint.cells(self, at, on.page, 1.0);
        gaps(on, area, axis);
        on.frame(*area, on.page.colours.line);
        let width = area.width() / self.columns.max(1) as f32;
        for veiled in &self.veiled {
            let [left, right] = [veiled.start, veiled.end].map(|at| area.left + at as f32 * width);
            let veil = area.across(left, right);
            on.rect(veil, Ink::from(on.page.colours.background).faded(0.55));
        }
        if self.value(0, 0).is_some_and(is_absent) {
            unrecorded(on, area);
        }
        for (column, row) in on.paint.outlined(self, at.id, width) {
            if let Some(row) = axis.place_of(row) {
                let left = area.left + column as f32 * width;
                let cell = area.across(left, left + width.max(1.0));
                on.outline(cell.down(row.min, row.max), on.page.colours.warning);
            }
        }
        heads(on, &self.marks, area, axis);
        for (row, place) in axis.all() {
            self.print_place(on, row, area.down(place.min, place.max));
        }
    }

    /// Prints the place of a row in its cell, if it has room.
    pub(crate) fn print_place(&self, on: &mut Surface<'_>, row: usize, cell: Area) {
        let Some(place) = self.places.get(row) else {
            return;
        };
        // All of them have one size: that of the largest number.
        let widest = text_width(&self.places.len().to_string(), 1.0);
        let size = (0.7 * cell.height()).min(9.0).min(cell.width() / widest);
        if let Some(value) = self.value(0, row).filter(|_| size >= LEAST_PLACE) {
            let ink = Ink::from(text_on(on.page.colours.of(self.scale, value)));
            let style = Style::new(size, ink.faded(0.8)).middle();
            on.text(place.to_string(), [cell.middle(), cell.centre()], style);
        }
    }

    /// Outlines the true alignment in two inks, one of which is seen on any weight, where its cells are large enough; links
    /// that are only possible in one ink.
    pub(crate) fn outline_aligned(&self, on: &mut Surface<'_>, at: At<'_>) {
        let (At { area, axis, .. }, colours) = (at, on.page.colours);
        let width = area.width() / self.columns.max(1) as f32;
        if width.min(axis.height) < LEAST_ALIGNED {
            return;
        }
        let grounds = [0.0, 1.0].map(|weight| colours.of(self.scale, weight));
        let mut outline = |links: &[(usize, Range<usize>)], is_sure: bool| {
            for (column, rows) in links {
                let left = area.left + *column as f32 * width;
                for place in axis.spans(|row| rows.contains(&row)) {
                    let cell = area.across(left, left + width).down(place.min, place.max);
                    if is_sure {
                        outline_twice(on, cell, grounds);
                    } else {
                        on.outline(cell, text_on(grounds[0]));
                    }
                }
            }
        };
        if let Some(sure) = &self.sure {
            outline(&self.aligned, false);
            outline(sure, true);
        } else {
            outline(&self.aligned, true);
        }
    }

    /// The numbers in the cells, where they are at least so wide and high; at their end, or in their middle.
    pub(crate) fn print(&self, on: &mut Surface<'_>, at: At<'_>, of: Printed) {
        let (At { area, axis, .. }, ([least_width, least_height], anchor)) = (at, of);
        let width = area.width() / self.columns.max(1) as f32;
        if width < least_width || axis.height < least_height {
            return;
        }
        let apart = if anchor == Anchor::End { 4.0 } else { 0.0 };
        for (row, place) in axis.all() {
            for column in 0..self.columns {
                if let Some(value) = self.value(column, row) {
                    let ink = text_on(on.page.colours.of(self.scale, value));
                    let x = area.left + (column as f32 + anchor.share()) * width - apart;
                    let mut style = Style::new(SMALL, ink).mono();
                    style.anchor = anchor;
                    on.text(numbers::cell(value), [x, place.center()], style);
                }
            }
        }
    }
}

/// Outlines an area in the inks for two grounds, one inside the other.
pub(crate) fn outline_twice(on: &mut Surface<'_>, area: Area, grounds: [Rgb; 2]) {
    let [outer, inner] = grounds.map(text_on);
    on.outline(area, outer);
    on.outline(area.inset(1.0, 1.0), inner);
}

/// Text that can be read on this colour.
pub fn text_on([r, g, b]: Rgb) -> Rgb {
    let brightness = 0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b);
    [if brightness > 140.0 { 16 } else { 240 }; 3]
}

/// Marks for the rows left out, with words over time.
pub(crate) fn gaps(on: &mut Surface<'_>, area: &Area, axis: &Axis) {
    for (rows, place) in axis.gaps.iter().filter(|(_, place)| place.span() >= 4.0) {
        let band = area.down(place.min, place.max);
        on.rect(band, on.page.colours.raised);
        let fits =
            |text: &String| text_width(text, SMALL) + 4.0 < area.width() && band.height() >= SMALL;
        if let Some(text) = untouched(*rows).into_iter().rfind(|text| fits(text)) {
            let style = Style::new(SMALL, on.page.colours.subdued).middle();
            on.text(text, [area.middle(), band.centre()], style);
        }
    }
}

/// Draws hatches in place of values that were not recorded; the label runs upwards where it is too long.
pub fn unrecorded(on: &mut Surface<'_>, area: &Area) {
    let (colours, height) = (on.page.colours, area.height());
    on.rect(*area, colours.panel);
    for line in 0..=((area.width() + height) / HATCHES) as usize {
        // From the upper edge to the lower left, as far as it stays inside.
        let x = area.left + line as f32 * HATCHES;
        let [from, to] = [(x - area.right).max(0.0), (x - area.left).min(height)];
        let ends = [[x - from, area.top + from], [x - to, area.top + to]];
        on.line(&ends, colours.line, 1.0);
    }
    let middle = [area.middle(), area.centre()];
    plate(on, area, middle, (on.page.lacking, 10.5));
    on.frame(*area, colours.line);
}

/// A word over a picture, where it has room.
pub(crate) fn plate(
    on: &mut Surface<'_>,
    area: &Area,
    [x, y]: [f32; 2],
    (word, size): (&str, f32),
) {
    let (width, height) = (text_width(word, size) + 10.0, 1.25 * size);
    let style = Style::new(size, on.page.colours.subdued);
    let ([width, height], style) = if width - 10.0 < area.width() && height <= area.height() + 2.0 {
        ([width, height], style.middle())
    } else if width < area.height() && height <= area.width() + 2.0 {
        ([height, width], style.upwards())
    } else {
        return;
    };
    let plate = Area::new(x - width / 2.0, y - height / 2.0, width, height);
    let inside = plate.across(plate.left.max(area.left), plate.right.min(area.right));
    on.rect(inside, on.page.colours.panel);
    on.text(word, [x, y], style);
}

/// Room for the signs of the heads at the right of the rows of a memory.
pub(crate) const ROOM_FOR_HEADS: f32 = 38.0;

/// Where there are more heads than these, all shown ones stand at least so far apart.
const FEW: usize = 8;
const APART: f32 = 11.0;

/// The signs of the heads right of a memory, each with a line to its row; fainter where the weight is on many rows.
/// Those of neighbouring rows make room for each other, within the height of the picture.
fn heads(on: &mut Surface<'_>, marks: &[HeadMark], area: &Area, axis: &Axis) {
    let y = |mark: &HeadMark| axis.place_of(mark.row).map(Span::center);
    let shown = marks.iter().filter_map(|mark| Some((y(mark)?, mark)));
    let mut shown: Vec<_> = shown.collect();
    let bottom = axis.bottom();
    // Of very many heads those with the heaviest rows.
    shown.sort_by(|(_, a), (_, b)| b.weight.total_cmp(&a.weight));
    shown.truncate((((bottom - area.top) / APART) as usize).max(FEW));
    shown.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let pitch = ((bottom - area.top) / shown.len().max(1) as f32).clamp(6.0, 13.0);
    let mut free = f32::NEG_INFINITY;
    for (index, (y, mark)) in shown.iter().enumerate() {
        let below = (shown.len() - 1 - index) as f32 * pitch;
        let at = y.min(bottom - below).max(free);
        free = at + pitch;
        let strength = 0.35 + 0.65 * mark.weight.clamp(0.0, 1.0);
        let ink = Ink::from(on.page.colours.head(mark.name)).faded(strength);
        let left = area.right + 8.0;
        let line = [[area.right + 1.0, *y], [left, at]];
        on.dashed(&line, ink, 1.0, dashes(mark.name));
        sign(on, [left + 7.0, at], 4.0, mark.name.is_write, ink);
        let style = Style::new(10.5, on.page.colours.text).bold();
        on.text(mark.name.to_string(), [left + 15.0, at], style);
    }
}

/// A filled triangle that points up for a write head, a hollow one that points down for a read head.
pub(crate) fn sign(on: &mut Surface<'_>, at: [f32; 2], half: f32, is_write: bool, ink: Ink) {
    let ([x, y], tip) = (at, if is_write { -half } else { half });
    let corners = [[x - half, y - tip], [x + half, y - tip], [x, y + tip]];
    if is_write {
        on.shape(&corners, ink);
    } else {
        on.line(&[corners[0], corners[1], corners[2], corners[0]], ink, 1.2);
    }
}

/// A short line with the dashes of a head, where hues are many.
pub fn head_dash(on: &mut Surface<'_>, trace: &Trace, head: usize, ends: [[f32; 2]; 2]) {
    let name = |head| HeadName::of(trace, head);
    if (0..trace.heads.len()).any(|head| name(head).place >= TOLD_APART) {
        let name = name(head);
        on.dashed(&ends, on.page.colours.head(name), 1.5, dashes(name));
    }
}

/// The dashes and gaps of a head: none for the first, then dashed, dotted, dash and dot.
pub fn dashes(head: HeadName) -> &'static [f32] {
    match head.place / TOLD_APART % 4 {
        0 => &[],
        1 => &[4.0, 2.0],
        2 => &[1.5, 2.0],
        _ => &[4.0, 2.0, 1.5, 2.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Colours, Drawing, Figure, Layout, Mark, Options, Pages, Picture, Scale};
    use crate::model::{EquationsConfig, Model};
    use crate::task::{Link, Task, Transduce};
    use crate::train::Recording;

    #[test]
    fn every_answer_has_the_outline_of_its_true_source() {
        let task = Task::Transduce(Transduce::DEFAULT).with_size(6);
        let machine = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
        let recording = Recording::new(&Model::new(machine.unwrap(), 1), &task, 3, 0);
        let known = task.alignment(&recording.episode).iter().flatten().count();
        for (steps, hides_future, is_all) in [
            (None, false, true),
            (None, true, true),
            (Some(0..9), false, false),
        ] {
            let options = Options {
                steps,
                hides_future,
                step: Some(7),
                ..Options::new(Layout::Pictures(vec![Picture::Weightings]))
            };
            let drawing = Figure::new(&recording, options).draw();
            let scale = Scale::weighting(false).of_head(HeadName::of(&recording.trace, 0));
            for count in outlines(&drawing, scale) {
                assert_eq!(count == known, is_all, "{count} of {known}");
                assert!(count >= 1);
            }
        }
        // In the paper's colours too, on weights of 0 and of 1.
        for dark in [false, true] {
            let options = Options {
                dark,
                ..Options::new(Layout::Paper)
            };
            let drawing = Figure::new(&recording, options).draw();
            assert_eq!(outlines(&drawing, Scale::Gray), [known; 2]);
        }
        // A link that is only possible has one line.
        let mut unsure = recording.clone();
        let steps = unsure.episode.alignment.iter().enumerate();
        let links = steps.filter_map(|(step, from)| Some([from.as_ref()?.start, step]));
        let links = links.map(|ends| Link {
            ends,
            is_sure: true,
        });
        unsure.episode.links.all = links.collect();
        unsure.episode.links.all.last_mut().unwrap().is_sure = false;
        let options = Options::new(Layout::Pictures(vec![Picture::Weightings]));
        let drawing = Figure::new(&unsure, options).draw();
        let scale = Scale::weighting(false).of_head(HeadName::of(&unsure.trace, 0));
        assert_eq!(outlines(&drawing, scale)[1], known - 1);
    }

    /// How many outlines can be seen on a weight of 0, and on one of 1.
    fn outlines(drawing: &Drawing, scale: Scale) -> [usize; 2] {
        [0.0, 1.0].map(|weight| {
            let ink = text_on(Colours::for_theme(false).of(scale, weight));
            let outlines = drawing.marks.iter().filter(
                |mark| matches!(mark, Mark::Edge { ink: own, inside: true, .. } if own.colour == ink),
            );
            outlines.count()
        })
    }
}
