//! Flows from one column of the addressing to the next: streams, arrows, weight that slides along them.

use super::columns::{HOME, PlacedColumn, lighter};
use super::{CloseUp, Pane};
use crate::figure::facts::links;
use crate::figure::facts::stages::{BEFORE, Stage};
use crate::figure::scene::addressing::Bars;
use crate::figure::scene::motion::{self, OVER, between, within};
use crate::figure::scene::paint::{Draw, Paint};
use crate::figure::scene::panel::Content;
use crate::figure::{Area, Ink, PanelId, Picture};
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{Array, NoiseMode, array, peak};

/// The width of a stream from one column to the next.
const STREAM: f32 = 0.26;

impl<'a> CloseUp<'a, '_> {
    /// Paints the values of the last step as they leave the columns.
    pub(super) fn leaving(&self, on: &mut dyn Paint, of: &Pane<'a, '_>) {
        let all = self.placed_columns(of);
        for (index, placed) in all.iter().enumerate() {
            let id = PanelId::of(Picture::Stages, of.area.head).part(placed.column.place());
            let panel = self.seen.panel(id);
            if let Some(Content::Bars(bars)) = panel.map(|panel| panel.content) {
                self.column(on, of, placed, &bars);
                self.arrows(on, of, &all, index);
            }
        }
    }

    /// Draws the move of the last step's weighting to the first column, that of the previous weighting.
    pub(super) fn home(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, all: &[PlacedColumn]) {
        let come = self.now.progress(Stage::Controller, None);
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return;
        };
        let on_its_way = come > 0.0 && come < 1.0 && self.step() > 0;
        if !on_its_way || first.column.array != BEFORE || self.now.glide().is_some() {
            return;
        }
        let weighting = of.head.previous_weighting(self.step());
        let left = between(last.area.left, first.area.left, within(come, HOME));
        let ink = Ink::from(self.previous_hue(of.hue))
            .faded(0.8 * within(come, [0.0, 0.1]) * (1.0 - within(come, [0.9, 1.0])));
        for slot in of.view.slots() {
            let long = self.seen.shades[1].bar(weighting[slot.row], first.area.width())[1];
            if weighting[slot.row] >= 0.01 {
                let apart = (slot.place.span() * 0.12).min(3.0);
                let bar = Area::new(
                    left,
                    slot.place.min + apart,
                    long,
                    slot.place.span() - 2.0 * apart,
                );
                on.rect(bar, ink);
            }
        }
    }

    /// The weight of each row slides to the row that the shift takes it to, and round the end comes in again.
    pub(super) fn sliding(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        placed: &PlacedColumn,
        bars: &Bars<'_>,
    ) {
        let arrives = within(placed.through, OVER) * lighter(placed.through);
        let total = of.head.weighting.width() as f32;
        for moving in self.now.shifted(of.head) {
            let row = moving.link.from as f32 + moving.by;
            let mut spans = vec![of.view.span(row)];
            if of.view.is_whole() {
                // Both ends are in view: what leaves at the one comes in at the other.
                spans.extend([row - total, row + total].map(|row| of.view.span(row)));
            }
            let values = [moving.before, moving.before + moving.link.weight];
            for place in spans.into_iter().filter_map(|span| of.view.clip(span)) {
                let bar = Self::bar_at(placed, bars, place, values);
                on.rect(bar, Ink::from(of.hue).faded(arrives));
                if bar.width() >= 3.0 && moving.link.by != 0 {
                    // The edge that goes first.
                    let y = if moving.link.by > 0 {
                        bar.bottom
                    } else {
                        bar.top
                    };
                    let ink = Ink::from(self.page.colours.strong).faded(arrives);
                    on.line(&[[bar.left, y], [bar.right, y]], ink, 2.0);
                }
            }
        }
    }

    /// Draws arrows for the move of each row's weight by the shift.
    pub(super) fn arrows(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        all: &[PlacedColumn],
        index: usize,
    ) {
        let to = &all[index];
        let Some(from) = index.checked_sub(1).map(|before| &all[before]) else {
            return;
        };
        if to.column.array != array::SHIFTED || to.through <= 0.0 || self.now.glide().is_some() {
            return;
        }
        let (height, view) = (of.view.height(), &of.area.memory);
        let seen = within(to.through, [0.0, 0.15]) * self.fade;
        let [left, right] = [from.area.right + 1.0, to.area.left - 1.0];
        let ring = of.head.weighting.width() as f32 * height;
        let moved = motion::before(of.head, to.column, self.step());
        for link in links::shifted(of.head, self.step(), moved) {
            let y = of.view.span(link.from as f32).center();
            let by = link.by as f32 * height;
            let ink = Ink::from(of.hue).faded((0.3 + 0.6 * link.weight.min(1.0)) * seen);
            let rings: &[f32] = if of.view.is_whole() {
                &[0.0, -1.0, 1.0]
            } else {
                &[0.0]
            };
            for y in rings.iter().map(|rings| y + rings * ring) {
                let ends = [[left, y], [right, y + by]];
                if let Some(ends) = clipped(ends, view) {
                    on.line(&ends, ink, 1.0 + 1.2 * link.weight.min(1.0));
                }
            }
        }
    }

    /// Paints the streams from the previous columns.
    pub(super) fn streams(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        all: &[PlacedColumn],
        index: usize,
    ) {
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
        let gate = || of.head.gate[self.step()];
        match placed.column.array {
            array::CONTENT => self.stream(
                on,
                of,
                [before, Some(placed)],
                (lasts(motion::SOFTMAX), 1.0),
            ),
            array::GATED => {
                let [first, then] = motion::pouring(gate());
                let content = (lasts(first), gate());
                self.stream(on, of, [from(array::CONTENT), Some(placed)], content);
                let kept = (lasts(then), 1.0 - gate());
                self.stream(on, of, [from(BEFORE), Some(placed)], kept);
            }
            array::SIMILARITY | PRIOR => {}
            _ => self.stream(on, of, [before, Some(placed)], (lasts([0.0, 0.45]), 1.0)),
        }
    }

    /// The weight of every row, on its way from a column to another.
    fn stream(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        ends: [Option<&PlacedColumn>; 2],
        (strength, share): (f32, f32),
    ) {
        let [Some(from), Some(to)] = ends else { return };
        if strength <= 0.0 {
            return;
        }
        let values = from.column.values(of.head, self.step());
        for slot in of.view.slots() {
            let value = values[slot.row];
            let weight = if from.column.is_signed() {
                0.5 * value
            } else {
                value
            };
            if !weight.is_finite() || weight * share < 0.02 {
                continue;
            }
            let long = weight.min(1.0) * from.area.width();
            let left = if from.column.is_signed() {
                from.area.middle()
            } else {
                from.area.left
            };
            let apart = 0.5 - 0.38 * share;
            let place = slot.place;
            let band = Area {
                left: left + long,
                right: to.area.left,
                top: place.min + apart * place.span(),
                bottom: place.max - apart * place.span(),
            };
            if band.width() > 0.0 {
                on.rect(band, Ink::from(of.hue).faded(STREAM * strength));
            }
        }
    }

    /// Draws the random number that moves along the probabilities to the sampled row.
    pub(super) fn drawing(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        placed: &PlacedColumn,
        bars: &Bars<'_>,
    ) {
        let through = self.now.progress(Stage::Draw, Some(of.head));
        let drawn = peak(of.head.weighting.row(self.step())).map(|(row, _)| row);
        let expected = self.trace().sampling == NoiseMode::Expected;
        let Some(row) = drawn.filter(|_| through > 0.0 && !expected && !bars.computed) else {
            return;
        };
        let come = within(through, motion::POINT);
        let Some(to) = of.view.clip(of.view.span(row as f32)) else {
            return;
        };
        let top = placed.area.top;
        let y = between(top, to.center(), come);
        let (area, ink) = (placed.area, self.page.colours.strong);
        if come < 1.0 {
            on.line(&[[area.left, y], [area.right, y]], ink, 1.5);
        }
        let tip = self.size(6.0).max(4.0);
        let x = area.right + 1.0;
        on.shape(
            &[[x, y], [x + tip, y - tip * 0.7], [x + tip, y + tip * 0.7]],
            ink,
        );
        if come >= 1.0 {
            on.frame(area.down(to.min, to.max), ink);
        }
    }
}

/// Returns the part of a line between the upper and the lower edge of an area.
fn clipped([a, b]: [[f32; 2]; 2], area: &Area) -> Option<[[f32; 2]; 2]> {
    let at = |y: f32| {
        let share = if b[1] == a[1] {
            0.0
        } else {
            ((y - a[1]) / (b[1] - a[1])).clamp(0.0, 1.0)
        };
        [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]
    };
    let inside = |y: f32| (area.top..=area.bottom).contains(&y);
    let crosses = inside(a[1]) || inside(b[1]);
    crosses.then(|| {
        let end = |point: [f32; 2]| {
            let y = point[1].clamp(area.top, area.bottom);
            if y == point[1] { point } else { at(y) }
        };
        [end(a), end(b)]
    })
}
