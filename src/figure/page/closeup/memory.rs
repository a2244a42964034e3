//! The memory at the rows in view, and the vectors that touch it.

use super::{CloseUp, Pane, fitting};
use crate::figure::facts::rows::Span;
use crate::figure::facts::scores::score_text;
use crate::figure::facts::stages::Stage;
use crate::figure::scene::motion::{
    self, CHANGE, COME, FILL, SWEEP, TRAVEL, between, in_turn, within,
};
use crate::figure::scene::paint::{Draw, Paint};
use crate::figure::scene::panel::PlacedPanel;
use crate::figure::{Area, Ink, PanelId, Picture, Scale};

/// Width from which cells have a gap between them.
const APART: f32 = 7.0;
/// Rows of this weight or more travel to the read vector.
const TRAVELS: f32 = 0.03;

/// Outlines of rows with this weight or more move with a shift.
const SLIDES: f32 = 0.15;

/// A vector of a head.
pub(super) struct Vector {
    /// The label, and a shorter one.
    words: [&'static str; 2],
    pub(super) picture: Picture,
    pub(super) area: Area,
    scale: Scale,
}

impl<'a> CloseUp<'a, '_> {
    /// Returns the vectors of a head and their positions: its key above the memory, the others below it.
    pub(super) fn vectors(&self, of: &Pane<'a, '_>) -> Vec<Vector> {
        let scales = self.seen.scales;
        let key = of.area.key.map(|area| Vector {
            words: ["key k", "key"],
            picture: Picture::Keys,
            area,
            scale: scales.vector,
        });
        let head = of.head;
        let below = [
            (
                head.read.width(),
                ["reads", "read"],
                Picture::Reads,
                scales.memory,
            ),
            (
                head.erase.width(),
                ["erases", "erase"],
                Picture::Erases,
                Scale::Bits,
            ),
            (
                head.add.width(),
                ["adds", "add"],
                Picture::Adds,
                scales.vector,
            ),
        ];
        let below = below.into_iter().filter(|(width, ..)| *width > 0);
        let below = below.zip(&of.area.vectors);
        let below = below.map(|((_, words, picture, scale), &area)| Vector {
            words,
            picture,
            area,
            scale,
        });
        key.into_iter().chain(below).collect()
    }

    /// Returns the number of values of a vector.
    fn width(&self, of: &Pane<'a, '_>, vector: &Vector) -> usize {
        match vector.picture {
            Picture::Keys => of.head.key.width(),
            _ => self.trace().memory_size()[1],
        }
    }

    /// Returns a value of a vector at this instant, and its opacity.
    fn value(&self, of: &Pane<'a, '_>, vector: &Vector, column: usize) -> (f32, f32) {
        let head = of.head;
        let series = match vector.picture {
            Picture::Keys => &head.key,
            Picture::Erases => &head.erase,
            Picture::Adds => &head.add,
            _ => return (self.now.read(head, column), 1.0),
        };
        let (gone, emitted) = (self.now.gone(), self.now.emitted());
        match self.step().checked_sub(1) {
            Some(before) if gone < 1.0 && self.now.glide().is_none() => {
                (series.row(before)[column], 1.0 - gone)
            }
            _ => (series.row(self.step())[column], emitted),
        }
    }

    pub(super) fn memory(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        places: &mut Vec<PlacedPanel<'a>>,
    ) {
        let (colours, area) = (self.page.colours, of.area.memory);
        let y = area.top - self.size(49.0).max(34.0);
        let style = self.letters(13.5, colours.text).bold().middle();
        let room = area.width();
        let texts = ["memory, row by row", "memory"];
        fitting(on, &texts, ([area.middle(), y], style, room));
        on.rect(area, colours.well);
        let columns = self.trace().memory_size()[1];
        let shift = self.now.progress(Stage::Shift, Some(of.head));
        let slides = shift > 0.0 && shift < 1.0;
        for slot in of.view.slots() {
            let looked_at = self.now.attention(of.head, slot.row);
            let value = |column| (self.now.memory(slot.row, column), slot.seen());
            let scale = self.seen.scales.memory;
            self.cells(on, (area, slot.place), columns, scale, value);
            if looked_at >= 0.02 && !slides {
                lit(on, of, slot.place, looked_at);
            }
        }
        let moving = self.now.shifted(of.head).into_iter();
        for moving in moving.filter(|moving| slides && moving.link.weight >= SLIDES) {
            let row = moving.link.from as f32 + moving.by;
            if let Some(place) = of.view.clip(of.view.span(row)) {
                lit(on, of, place, moving.link.weight);
            }
        }
        on.frame(area, colours.line);
        if let Some(mut panel) = self.seen.panel(PanelId::new(Picture::Memory)) {
            // With two heads, each has a memory of its own.
            panel.id.of = Some(of.area.head);
            places.push(panel.along(area, of.view.axis()));
        }
        self.strips(on, of, places);
    }

    /// Cells side by side in a row.
    pub(super) fn cells(
        &self,
        on: &mut dyn Paint,
        (area, place): (Area, Span),
        columns: usize,
        scale: Scale,
        value: impl Fn(usize) -> (f32, f32),
    ) {
        // Never finer than can be seen.
        let shown = columns.min((area.width() / 2.0) as usize).max(1);
        let width = area.width() / shown as f32;
        let apart = if width >= APART { 1.0 } else { 0.0 };
        for index in 0..shown {
            let (value, seen) = value(index * columns / shown);
            if seen <= 0.0 {
                continue;
            }
            let left = area.left + index as f32 * width;
            let cell = Area {
                left: left + 0.5 * apart,
                right: left + width - 0.5 * apart,
                top: place.min + 0.5 * apart,
                bottom: place.max - 0.5 * apart,
            };
            let ink = self.page.colours.of(scale, value);
            on.rect(cell, Ink::from(ink).faded(seen));
        }
    }

    fn strips(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, places: &mut Vec<PlacedPanel<'a>>) {
        let colours = self.page.colours;
        let stage = self.stage().filter(|at| at.has(of.head));
        for vector in self.vectors(of) {
            let area = vector.area;
            let columns = self.width(of, &vector);
            on.rect(area, colours.well);
            let place = Span::new(area.top, area.bottom);
            let value = |column| self.value(of, &vector, column);
            self.cells(on, (area, place), columns, vector.scale, value);
            let acts = matches!(
                (stage.map(|at| at.stage), vector.picture),
                (Some(Stage::Content), Picture::Keys)
                    | (Some(Stage::Read), Picture::Reads)
                    | (Some(Stage::Erase), Picture::Erases)
                    | (Some(Stage::Add), Picture::Adds)
            );
            if acts {
                edge(on, area, of.hue.into(), 1.6);
            } else {
                on.frame(area, colours.line);
            }
            let ink = if acts {
                colours.strong
            } else {
                colours.subdued
            };
            let style = self.letters(12.0, ink).end();
            let apart = self.size(8.0).max(4.0);
            let at = [area.left - apart, area.centre()];
            let room = of.area.spine.width() - apart - 2.0;
            fitting(on, &vector.words, (at, style, room));
            let id = PanelId::of(vector.picture, of.area.head).now();
            places.extend(self.seen.panel(id).map(|panel| panel.at(area)));
        }
    }

    /// Paints the values that move between rows and vectors.
    pub(super) fn travelling(&self, on: &mut dyn Paint, of: &Pane<'a, '_>) {
        let Some(at) = self.stage().filter(|at| at.has(of.head)) else {
            return;
        };
        let through = match at.stage {
            Stage::Controller | Stage::Output => self.now.progress(at.stage, None),
            stage => self.now.progress(stage, Some(of.head)),
        };
        if through <= 0.0 || through >= 1.0 {
            return;
        }
        let vectors = self.vectors(of);
        let vector = |picture| vectors.iter().find(|vector| vector.picture == picture);
        match at.stage {
            Stage::Controller => self.go_back(on, of, vector(Picture::Reads), through),
            Stage::Content if score_text(of.head.mechanism.score).reads_rows => {
                self.sweep(on, of, vector(Picture::Keys), through);
            }
            Stage::Read => self.gather(on, of, vector(Picture::Reads), through),
            Stage::Erase => self.bring(on, of, vector(Picture::Erases), through),
            Stage::Add => self.bring(on, of, vector(Picture::Adds), through),
            _ => {}
        }
    }

    /// Paints a copy of a vector at another place.
    fn copy(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        vector: &Vector,
        (place, seen): (Span, f32),
    ) {
        let columns = self.width(of, vector);
        let value = |column| (self.value(of, vector, column).0, 0.9 * seen);
        self.cells(on, (vector.area, place), columns, vector.scale, value);
        let area = vector.area.down(place.min, place.max);
        edge(on, area, Ink::from(of.hue).faded(seen), 1.6);
    }

    /// Paints the read vector of the last step as it returns to the controller.
    fn go_back(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, read: Option<&Vector>, through: f32) {
        let to = self.plan.controller;
        let (Some(read), Some(before), Some(to)) = (read, self.step().checked_sub(1), to) else {
            return;
        };
        let come = within(through, [0.0, 0.6]);
        let rows = self.plan.rows();
        let way = |from: f32, to: f32| between(from, to, come);
        let area = Area {
            left: way(read.area.left, to.left + 3.0),
            right: way(read.area.right, to.right - 3.0),
            top: way(read.area.top, rows.bottom - read.area.height()),
            bottom: way(read.area.bottom, rows.bottom),
        };
        let seen = 1.0 - within(through, [0.5, 0.7]);
        let values = of.head.read.row(before);
        let place = Span::new(area.top, area.bottom);
        let value = |column: usize| (values[column], seen);
        self.cells(on, (area, place), values.len(), read.scale, value);
        edge(on, area, Ink::from(of.hue).faded(seen), 1.4);
    }

    /// Paints the key as it moves down the rows.
    fn sweep(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, key: Option<&Vector>, through: f32) {
        let Some(key) = key else { return };
        let (rows, half) = (of.area.memory, 0.5 * key.area.height());
        // It is where a score has grown by half.
        let share = (through - SWEEP[0]) / (SWEEP[1] - SWEEP[0]);
        let at = (share - 0.175) / 0.65;
        let y = if at < 0.0 {
            between(
                key.area.centre(),
                rows.top + half,
                within(share, [0.0, 0.175]),
            )
        } else {
            rows.top + half + at.min(1.0) * (rows.height() - 2.0 * half)
        };
        let seen = 1.0 - within(share, [0.9, 1.05]);
        if seen > 0.0 {
            self.copy(on, of, key, (Span::new(y - half, y + half), seen));
            let columns = of.area.columns;
            let line = [[columns.left, y], [rows.left, y]];
            on.dashed(&line, Ink::from(of.hue).faded(0.5 * seen), 1.0, &[2.0, 4.0]);
        }
    }

    /// Draws the rows moving to the read vector, each in proportion to its weight.
    fn gather(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, read: Option<&Vector>, through: f32) {
        let Some(read) = read else { return };
        let weighting = of.head.weighting.row(self.step());
        let come = within(through, TRAVEL);
        let columns = self.trace().memory_size()[1];
        let gone = 1.0 - within(through, FILL);
        for slot in of.view.slots() {
            let weight = weighting[slot.row];
            if !(weight.is_finite() && weight >= TRAVELS) {
                continue;
            }
            let [top, bottom] = [
                (slot.whole.min, read.area.top),
                (slot.whole.max, read.area.bottom),
            ]
            .map(|(from, to)| between(from, to, come));
            let seen = weight * (0.35 + 0.65 * gone);
            let value = |column| (self.now.memory(slot.row, column), seen);
            let place = Span::new(top, bottom);
            let scale = self.seen.scales.memory;
            self.cells(on, (read.area, place), columns, scale, value);
            edge(
                on,
                read.area.down(top, bottom),
                Ink::from(of.hue).faded(seen),
                1.6,
            );
        }
    }

    /// Paints the erase or add vector as it moves to the visible rows and fills them from left to right.
    fn bring(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, vector: Option<&Vector>, through: f32) {
        let Some(vector) = vector else { return };
        let weighting = of.head.weighting.row(self.step());
        let come = within(through, COME);
        let columns = self.trace().memory_size()[1];
        for slot in of.view.slots() {
            let weight = weighting[slot.row];
            if !(weight.is_finite() && weight >= 0.1) {
                continue;
            }
            // A little above the row, for the row is seen to change.
            let half = 0.5 * vector.area.height().min(0.45 * of.view.height());
            let to = slot.whole.max - half;
            let y = between(vector.area.centre(), to, come);
            let gone = |column| match vector.picture {
                Picture::Adds => in_turn(through, CHANGE, motion::turn(column, columns)),
                _ => within(through, CHANGE),
            };
            let value = |column| {
                let value = self.value(of, vector, column).0;
                (value, weight * (1.0 - gone(column)))
            };
            let area = vector.area.down(y - half, y + half);
            let place = Span::new(area.top, area.bottom);
            self.cells(on, (area, place), columns, vector.scale, value);
            let seen = weight * (1.0 - within(through, [0.85, 1.0]));
            edge(on, area, Ink::from(of.hue).faded(seen), 1.4);
        }
    }
}

/// A line round something.
pub(super) fn edge(on: &mut dyn Paint, area: Area, ink: Ink, width: f32) {
    let half = 0.5 * width;
    let [left, top, right, bottom] = [
        area.left - half,
        area.top + half,
        area.right + half,
        area.bottom - half,
    ];
    let corners = [
        [left, top],
        [right, top],
        [right, bottom],
        [left, bottom],
        [left, top],
    ];
    on.line(&corners, ink, width);
}

/// Draws the outline of an attended row.
fn lit(on: &mut dyn Paint, of: &Pane<'_, '_>, place: Span, weight: f32) {
    let ink = Ink::from(of.hue).faded(0.15 + 0.85 * weight.min(1.0));
    let row = of.area.memory.down(place.min, place.max);
    edge(on, row, ink, 1.0 + 1.2 * weight.min(1.0));
}
