//! Flows from one column of the addressing to the next: streams, arrows, weight that slides along them.

use super::Pane;
use super::columns::{HOME, PlacedColumn};
use crate::figure::facts::column::BEFORE;
use crate::figure::facts::heads::is_mixed;
use crate::figure::facts::links;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::addressing::Bars;
use crate::figure::scene::motion::{self, OVER, between, lighter, within};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::Content;
use crate::figure::{Area, Ink};
use crate::model::dnc::ALLOCATION;
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{Array, NoiseMode, array, peak};

/// The width of a stream from one column to the next.
const STREAM: f32 = 0.26;

impl Pane<'_, '_> {
    /// Paints the values of the last step as they leave the columns.
    pub(super) fn leaving(&self, on: &mut Surface<'_>) {
        let all = self.placed_columns();
        for (index, placed) in all.iter().enumerate() {
            let panel = self.panel(placed);
            if let Some(Content::Bars(bars)) = panel.map(|panel| panel.content) {
                self.column(on, placed, &bars);
                self.arrows(on, &all, index);
            }
        }
    }

    /// Draws the move of the last step's weighting to the first column, that of the previous weighting.
    pub(super) fn home(&self, on: &mut Surface<'_>, all: &[PlacedColumn]) {
        let come = self.now.progress(Stage::Controller, None);
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return;
        };
        let on_its_way = come > 0.0 && come < 1.0 && self.now.step > 0;
        if !on_its_way || first.column.array != BEFORE || self.now.glide().is_some() {
            return;
        }
        let weighting = self.head.previous_weighting(self.now.step);
        let left = between(last.area.left, first.area.left, within(come, HOME));
        let ink = Ink::from(self.previous_hue())
            .faded(0.8 * within(come, [0.0, 0.1]) * (1.0 - within(come, [0.9, 1.0])));
        for slot in self.view.slots() {
            let long = self.seen.shades[1].bar(weighting[slot.row], first.area.width())[1];
            if weighting[slot.row] >= 0.01 {
                let place = slot.place;
                let bar = Area::new(left, place.min, long, place.span());
                on.rect(bar.inset(0.0, (place.span() * 0.12).min(3.0)), ink);
            }
        }
    }

    /// The weight of each row slides to the row that the shift takes it to, and round the end comes in again.
    pub(super) fn sliding(&self, on: &mut Surface<'_>, placed: &PlacedColumn, bars: &Bars<'_>) {
        let arrives = within(placed.through, OVER) * lighter(placed.through);
        let total = self.head.weighting.width() as f32;
        for moving in self.now.shifted(self.head) {
            let row = moving.link.from as f32 + moving.moved;
            let mut spans = vec![self.view.span(row)];
            if self.view.is_whole() {
                // Both ends are in view: what leaves at the one comes in at the other.
                spans.extend([row - total, row + total].map(|row| self.view.span(row)));
            }
            let values = [moving.before, moving.before + moving.link.weight];
            for place in spans.into_iter().filter_map(|span| self.view.clip(span)) {
                let bar = Self::bar_at(placed, bars, place, values);
                on.rect(bar, Ink::from(self.hue).faded(arrives));
                if bar.width() >= 3.0 && moving.link.shift != 0 {
                    // The edge that goes first.
                    let ahead = moving.link.shift > 0;
                    let y = if ahead { bar.bottom } else { bar.top };
                    let ink = Ink::from(self.page.colours.strong).faded(arrives);
                    on.line(&bar.level(y), ink, 2.0);
                }
            }
        }
    }

    /// Draws arrows for the move of each row's weight by the shift.
    pub(super) fn arrows(&self, on: &mut Surface<'_>, all: &[PlacedColumn], index: usize) {
        let to = &all[index];
        let Some(from) = index.checked_sub(1).map(|before| &all[before]) else {
            return;
        };
        if to.column.array != array::SHIFTED || to.through <= 0.0 || self.now.glide().is_some() {
            return;
        }
        let height = self.view.height;
        let seen = within(to.through, [0.0, 0.15]) * self.fade;
        let [left, right] = [from.area.right + 1.0, to.area.left - 1.0];
        let ring = self.head.weighting.width() as f32 * height;
        let moved = self.now.weighting_before(self.head, to.column);
        for link in links::shifted(self.head, self.now.step, moved) {
            let y = self.view.span(link.from as f32).center();
            let by = link.shift as f32 * height;
            let ink = Ink::from(self.hue).faded((0.3 + 0.6 * link.weight.min(1.0)) * seen);
            // With the whole memory on the page, both ends are in view.
            let rings = if self.view.is_whole() { 3 } else { 1 };
            for y in [0.0, -ring, ring].iter().take(rings).map(|ring| y + ring) {
                let ends = [[left, y], [right, y + by]];
                if let Some(ends) = clipped(ends, &self.area.memory) {
                    on.line(&ends, ink, 1.0 + 1.2 * link.weight.min(1.0));
                }
            }
        }
    }

    /// Paints the streams from the previous columns.
    pub(super) fn streams(&self, on: &mut Surface<'_>, all: &[PlacedColumn], index: usize) {
        let placed = &all[index];
        let through = placed.through;
        if through <= 0.0 || through >= 1.0 || !self.now.moves() {
            return;
        }
        let from = |array: Array| all.iter().find(|other| other.column.array == array);
        let before = index.checked_sub(1).map(|before| &all[before]);
        let lasts = |[start, end]: motion::Interval| {
            within(through, [start, start + 0.15]) * (1.0 - within(through, [end - 0.15, end]))
        };
        let mut stream =
            |from, strength, share| self.stream(on, [from, Some(placed)], (strength, share));
        let soon = lasts([0.0, 0.45]);
        match placed.column.array {
            array::CONTENT => stream(before, lasts(motion::SOFTMAX), 1.0),
            array::GATED => {
                let gate = self.head.gate[self.now.step];
                let [first, then] = motion::pouring(gate);
                stream(from(array::CONTENT), lasts(first), gate);
                stream(from(BEFORE), lasts(then), 1.0 - gate);
            }
            array::WEIGHTING if is_mixed(self.head) => {
                for (part, share) in links::mixed(self.head, self.now.step) {
                    stream(from(part), soon, share);
                }
            }
            array::SIMILARITY | PRIOR => {}
            _ => stream(before, soon, 1.0),
        }
    }

    /// The weight of every row, on its way from the end of its bar to another column.
    fn stream(
        &self,
        on: &mut Surface<'_>,
        ends: [Option<&PlacedColumn>; 2],
        (strength, share): (f32, f32),
    ) {
        let [Some(from), Some(to)] = ends else { return };
        let Some(Content::Bars(bars)) = self.panel(from).map(|panel| panel.content) else {
            return;
        };
        let values = from.column.values(self.head, self.now.step);
        let is_free = to.column.array == ALLOCATION;
        let ends = |value| bars.cells.scale.bar(value, from.area.width());
        let [_, zero] = ends(0.0);
        for slot in self.view.slots() {
            let [_, end] = ends(values[slot.row]);
            let mut weight = (end - zero) / (from.area.width() - zero);
            // What a row has free is allocated.
            if is_free {
                weight = 1.0 - weight;
            }
            if strength <= 0.0 || !weight.is_finite() || weight * share < 0.02 {
                continue;
            }
            let apart = (0.5 - 0.38 * share) * slot.place.span();
            let band = self.area.columns.down(slot.place.min, slot.place.max);
            let band = band.across(from.area.left + end, to.area.left);
            let band = band.inset(0.0, apart);
            if band.width() > 0.0 {
                on.rect(band, Ink::from(self.hue).faded(STREAM * strength));
            }
        }
    }

    /// Draws the random number that moves along the probabilities to the sampled row.
    pub(super) fn drawing(&self, on: &mut Surface<'_>, placed: &PlacedColumn, bars: &Bars<'_>) {
        let through = self.now.progress(Stage::Draw, Some(self.head));
        let drawn = peak(self.head.weighting.row(self.now.step)).map(|(row, _)| row);
        let expected = self.now.trace().sampling == NoiseMode::Expected;
        let Some(row) = drawn.filter(|_| through > 0.0 && !expected && !bars.computed) else {
            return;
        };
        let come = within(through, motion::POINT);
        let Some(to) = self.view.clip(self.view.span(row as f32)) else {
            return;
        };
        let (area, ink) = (placed.area, self.page.colours.strong);
        let y = between(area.top, to.center(), come);
        if come < 1.0 {
            on.line(&area.level(y), ink, 1.5);
        }
        let tip = self.size(6.0).max(4.0);
        let x = area.right + 1.0;
        let corners = [[x, y], [x + tip, y - tip * 0.7], [x + tip, y + tip * 0.7]];
        on.shape(&corners, ink);
        if come >= 1.0 {
            on.frame(area.down(to.min, to.max), ink);
        }
    }
}

/// Returns the part of a line between the upper and the lower edge of an area.
fn clipped([a, b]: [[f32; 2]; 2], area: &Area) -> Option<[[f32; 2]; 2]> {
    let inside = |y: f32| (area.top..=area.bottom).contains(&y);
    let end = |point: [f32; 2]| {
        if inside(point[1]) {
            return point;
        }
        // Only a line that is not level has an end outside and one inside.
        let y = point[1].clamp(area.top, area.bottom);
        let share = ((y - a[1]) / (b[1] - a[1])).clamp(0.0, 1.0);
        [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]
    };
    (inside(a[1]) || inside(b[1])).then(|| [end(a), end(b)])
}
