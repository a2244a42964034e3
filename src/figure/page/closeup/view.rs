//! Visible rows of the memory: they follow the head.

use super::plan::PaneArea;
use crate::figure::Area;
use crate::figure::facts::column::Column;
use crate::figure::facts::moment::Moment;
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::facts::stage::Stage;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::motion::{between, ease};
use crate::model::{HeadTrace, peak};

/// A head is on a row from this share of its weight.
const CLEAR: f32 = 0.2;
/// The number of steps searched backwards for a row that a head visited.
const BACK: usize = 64;

/// The rows in view, at their places: a part of a ring, for row 0 follows the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Number of rows above the upper edge, counted from row 0.
    top: f32,
    total: usize,
    area: Area,
    /// Height of a row.
    pub(super) height: f32,
}

/// A row in view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The row.
    pub(super) row: usize,
    /// The span of the whole row, visible or not.
    pub(super) whole: Span,
    /// The visible part of it.
    pub(super) place: Span,
}

impl Slot {
    /// Visible share, 0 to 1.
    pub(super) fn seen(&self) -> f32 {
        self.place.span() / self.whole.span()
    }
}

impl View {
    /// Creates the view of a head at an instant.
    pub(super) fn new(seen: &Catalogue<'_>, head: &HeadTrace, pane: &PaneArea) -> Self {
        let total = head.weighting.width();
        let area = pane.memory;
        let middle = || {
            let (centre, rows) = (centre(seen, head, pane.rows), pane.rows as f32);
            if seen.facts.source.is_none() {
                return centre + 0.5 - 0.5 * rows;
            }
            // A source has a beginning and an end.
            let (centre, total) = (centre.rem_euclid(total as f32), total as f32);
            (centre + 0.5 - 0.5 * rows).clamp(0.0, total - rows)
        };
        let top = if total <= pane.rows { 0.0 } else { middle() };
        Self {
            top,
            total,
            height: area.height() / pane.rows as f32,
            area,
        }
    }

    /// True where all rows are in view.
    pub(super) fn is_whole(&self) -> bool {
        self.height * self.total as f32 <= self.area.height() + 0.5
    }

    /// The rows in view from the top.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let first = self.top.floor();
        let count = (self.area.height() / self.height).round() as usize + 1;
        (0..count).filter_map(move |index| {
            let row = first + index as f32;
            let top = self.area.top + (row - self.top) * self.height;
            let whole = Span::new(top, top + self.height);
            let row = (row as isize).rem_euclid(self.total.cast_signed());
            let row = row.cast_unsigned();
            let place = self.clip(whole).filter(|place| place.span() > 0.5)?;
            Some(Slot { row, whole, place })
        })
    }

    /// Span of a row, in view or next to it: the nearest of its places on the ring.
    pub(super) fn span(&self, row: f32) -> Span {
        let total = self.total as f32;
        let middle = self.top + 0.5 * self.area.height() / self.height - 0.5;
        let rounds = if self.is_whole() {
            0.0
        } else {
            (middle - row) / total
        };
        let row = row + rounds.round() * total;
        let top = self.area.top + (row - self.top) * self.height;
        Span::new(top, top + self.height)
    }

    /// Returns the visible part of a span.
    pub(super) fn clip(&self, span: Span) -> Option<Span> {
        let clipped = Span::new(span.min.max(self.area.top), span.max.min(self.area.bottom));
        (clipped.span() > 0.2).then_some(clipped)
    }

    /// Position of a row among those in view, 0 to 1.
    pub(super) fn share(&self, slot: &Slot) -> f32 {
        ((slot.whole.center() - self.area.top) / self.area.height()).clamp(0.0, 1.0)
    }

    /// The axis of the rows that are wholly in view.
    pub(super) fn axis(&self) -> Axis {
        let mut runs: Vec<(std::ops::Range<usize>, Span)> = Vec::new();
        for slot in self.slots().filter(|slot| slot.seen() > 0.99) {
            match runs.last_mut() {
                Some((rows, place)) if rows.end == slot.row => {
                    (rows.end, place.max) = (slot.row + 1, slot.whole.max);
                }
                _ => runs.push((slot.row..slot.row + 1, slot.whole)),
            }
        }
        Axis {
            runs,
            gaps: Vec::new(),
            height: self.height,
            upwards: false,
        }
    }
}

/// The way from one row to another round the ring, the shorter one.
fn way(from: f32, to: f32, total: f32) -> f32 {
    (to - from + 0.5 * total).rem_euclid(total) - 0.5 * total
}

/// Row of a head after a step: its heaviest row, or its previous row while the weighting is uniform.
fn row_after(head: &HeadTrace, step: Option<usize>) -> f32 {
    let last = step.unwrap_or(0);
    let steps = step.map(|step| step.saturating_sub(BACK)..step + 1);
    let weightings = steps.into_iter().flatten().rev();
    let weightings = weightings.map(|step| head.weighting.row(step));
    let weightings = weightings.chain([head.previous_weighting(0)]);
    let mut peaks = weightings.filter_map(peak);
    let clear = peaks.find(|(_, weight)| *weight >= CLEAR);
    let any = || peak(head.weighting.row(last));
    clear.or_else(any).map_or(0.0, |(row, _)| row as f32)
}

/// Returns the rows in the middle of the view at the beginning and end of a step.
///
/// They are the same unless the head moves too far for one view.
fn middles(head: &HeadTrace, step: usize, rows: usize) -> [f32; 2] {
    let total = head.weighting.width() as f32;
    let from = row_after(head, step.checked_sub(1));
    let to = row_after(head, Some(step));
    let way = way(from, to, total);
    // Both have a row beside them.
    let is_near = way.abs() <= rows as f32 - 3.0;
    let [start, end] = if is_near { [0.5, 0.5] } else { [0.0, 1.0] };
    [from + start * way, from + end * way]
}

/// Returns the row in the middle of the view. At the beginning of a step the view moves to contain the old and the new
/// row of the head; if they are too far apart, the view follows the head.
fn centre(seen: &Catalogue<'_>, head: &HeadTrace, rows: usize) -> f32 {
    let Moment { step, place, .. } = seen.now;
    let total = head.weighting.width() as f32;
    let [start, end] = middles(head, step, rows);
    let before = step.checked_sub(1);
    let before = before.map_or(start, |before| middles(head, before, rows)[1]);
    let start = before + way(before, start, total);
    let end = start + way(start, end, total);
    let through = ease(seen.now.through);
    if place >= seen.now.stages.len() {
        return before + (end - before) * through;
    }
    let gated = head.gate.width() > 0;
    let is_way =
        |column: &&Column| column.is_weighting() && !(gated && column.stage == Stage::Content);
    let goes = seen.now.stages.columns(head).find(is_way);
    let goes = goes.and_then(|column| seen.now.stages.place(column.stage, Some(head)));
    match (place, goes) {
        (0, _) => between(before, start, through),
        (place, Some(goes)) if place < goes => start,
        (place, Some(goes)) if place == goes => between(start, end, through),
        _ => end,
    }
}
