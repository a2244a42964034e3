//! The memory at the rows in view, and the vectors that touch it.

use super::{Pane, edge, fitting};
use crate::figure::facts::family::score::score_text;
use crate::figure::facts::rows::Span;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::arrows::arrows;
use crate::figure::scene::motion::{
    self, CHANGE, COME, FILL, SWEEP, TRAVEL, between, in_turn, within,
};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Content, PlacedPanel};
use crate::figure::{Area, Ink, PanelId, Picture, Scale};
use crate::math::Series;
use crate::model::array;

/// Rows of this weight or more travel to the read vector.
const TRAVELS: f32 = 0.03;

/// Outlines of rows with this weight or more move with a shift.
const SLIDES: f32 = 0.15;

/// A vector of a head.
struct Vector<'a> {
    /// Its values.
    series: &'a Series<f32>,
    picture: Picture,
    /// The label, and a shorter one.
    words: [&'static str; 2],
    scale: Scale,
    area: Area,
}

/// The vector that acts in a stage of a head.
fn acting(stage: Stage) -> Option<Picture> {
    match stage {
        Stage::Content => Some(Picture::Keys),
        Stage::Read => Some(Picture::Reads),
        Stage::Erase => Some(Picture::Erases),
        Stage::Add => Some(Picture::Adds),
        _ => None,
    }
}

impl<'a> Pane<'a, '_> {
    /// Returns the vectors of a head and their positions: its key above the memory, the others below it.
    fn vectors(&self) -> Vec<Vector<'a>> {
        let (head, scales) = (self.head, &self.seen.facts.scales);
        // Where each row has a key of its own, that of the head is the query.
        let key = match head.series(array::ROW_KEY) {
            Some(_) => ["query k", "query"],
            None => ["key k", "key"],
        };
        let kinds = [
            (&head.key, Picture::Keys, key),
            (&head.read, Picture::Reads, ["reads", "read"]),
            (&head.erase, Picture::Erases, ["erases", "erase"]),
            (&head.add, Picture::Adds, ["adds", "add"]),
        ];
        let there = kinds.into_iter().filter(|kind| kind.0.width() > 0);
        let areas = self.area.key.iter().chain(&self.area.vectors);
        let vectors = there.zip(areas);
        let vectors = vectors.map(|((series, picture, words), &area)| Vector {
            series,
            picture,
            words,
            scale: match picture {
                Picture::Reads => scales.memory,
                Picture::Erases => Scale::Bits,
                _ => scales.vector,
            },
            area,
        });
        vectors.collect()
    }

    /// Returns a value of a vector at this instant, and its opacity.
    fn value(&self, vector: &Vector<'_>, column: usize) -> (f32, f32) {
        if vector.picture == Picture::Reads {
            return (self.now.read(self.head, column), 1.0);
        }
        let gone = self.now.gone();
        match self.now.step.checked_sub(1) {
            Some(before) if gone < 1.0 && self.now.glide().is_none() => {
                (vector.series.row(before)[column], 1.0 - gone)
            }
            _ => (vector.series.row(self.now.step)[column], self.now.emitted()),
        }
    }

    pub(super) fn memory(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, area) = (self.page.colours, self.area.memory);
        let words = ["memory, row by row", "memory"];
        self.heading(on, &words, area, (colours.text, area.width()));
        on.rect(area, colours.well);
        let columns = self.now.trace().memory_size()[1];
        let shift = self.now.progress(Stage::Shift, Some(self.head));
        let slides = shift > 0.0 && shift < 1.0;
        for slot in self.view.slots() {
            let looked_at = self.now.attention(self.head, slot.row);
            let value = |column| (self.now.memory_value(slot.row, column), slot.seen());
            let scale = self.seen.facts.scales.memory;
            let row = area.down(slot.place.min, slot.place.max);
            self.cells(on, row, columns, scale, value);
            if looked_at >= 0.02 && !slides {
                self.lit(on, slot.place, looked_at);
            }
        }
        let moving = self.now.shifted(self.head).into_iter();
        for moving in moving.filter(|moving| slides && moving.link.weight >= SLIDES) {
            let row = moving.link.from as f32 + moving.moved;
            if let Some(place) = self.view.clip(self.view.span(row)) {
                self.lit(on, place, moving.link.weight);
            }
        }
        on.frame(area, colours.line);
        if let Some(mut panel) = self.seen.panel(PanelId::new(Picture::Memory)) {
            // With two heads, each has a memory of its own.
            panel.id.of = Some(self.area.head);
            places.push(panel.along(area, self.view.axis()));
        }
        self.links_and_usage(on, places);
        self.strips(on, places);
    }

    /// Paints the order of writing and the usage of the rows left of the memory.
    fn links_and_usage(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        for (id, area) in self.area.links_and_usage.iter().flatten() {
            let Some(mut panel) = self.seen.panel(*id) else {
                continue;
            };
            // With two heads, each has a memory of its own.
            panel.id.part = Some(self.area.head);
            let place = panel.along(*area, self.view.axis());
            if let Content::Arrows(links) = &place.panel.content {
                // Those from and to rows out of view, too.
                let y = |row| Some(self.view.span(row as f32).center());
                arrows(on, links, area, y);
            } else {
                place.paint(on);
            }
            places.push(place);
        }
    }

    fn strips(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let stage = self.now.stage().filter(|at| at.has(self.head));
        let acts = stage.and_then(|at| acting(at.stage));
        for vector in self.vectors() {
            let area = vector.area;
            on.rect(area, self.page.colours.well);
            let value = |column| self.value(&vector, column);
            self.cells(on, area, vector.series.width(), vector.scale, value);
            let acts = acts == Some(vector.picture);
            self.outline(on, area, acts.then_some(self.hue));
            let style = self.letters(12.0, self.page.colours.emphasis(acts)).end();
            let apart = self.size(8.0).max(4.0);
            let at = [area.left - apart, area.centre()];
            let room = self.area.row_labels.width() - apart - 2.0;
            fitting(on, &vector.words, (at, style, room));
            let id = PanelId::of(vector.picture, self.area.head).now();
            places.extend(self.seen.panel(id).map(|panel| panel.at(area)));
        }
    }

    /// Draws the outline of an attended row.
    fn lit(&self, on: &mut Surface<'_>, place: Span, weight: f32) {
        let ink = Ink::from(self.hue).faded(0.15 + 0.85 * weight.min(1.0));
        let row = self.area.memory.down(place.min, place.max);
        edge(on, row, ink, 1.0 + 1.2 * weight.min(1.0));
    }

    /// Paints the values that move between rows and vectors.
    pub(super) fn travelling(&self, on: &mut Surface<'_>) {
        let Some(at) = self.now.stage().filter(|at| at.has(self.head)) else {
            return;
        };
        let (picture, through) = match at.stage {
            Stage::Controller => (Some(Picture::Reads), self.now.progress(at.stage, None)),
            stage => (acting(stage), self.now.progress(stage, Some(self.head))),
        };
        let vectors = self.vectors();
        let is_it = |vector: &&Vector<'_>| Some(vector.picture) == picture;
        let vector = vectors.iter().find(is_it);
        let Some(vector) = vector.filter(|_| through > 0.0 && through < 1.0) else {
            return;
        };
        match at.stage {
            Stage::Controller => self.go_back(on, vector, through),
            Stage::Content if score_text(self.head.mechanism.score).reads_rows => {
                self.sweep(on, vector, through);
            }
            Stage::Read => self.gather(on, vector, through),
            Stage::Erase | Stage::Add => self.bring(on, vector, through),
            _ => {}
        }
    }

    /// Paints the read vector of the last step as it returns to the controller.
    fn go_back(&self, on: &mut Surface<'_>, read: &Vector<'_>, through: f32) {
        let (Some(before), Some(to)) = (self.now.step.checked_sub(1), self.plan.controller) else {
            return;
        };
        let come = within(through, [0.0, 0.6]);
        let (from, bottom) = (read.area, self.plan.rows().bottom);
        let way = |from: f32, to: f32| between(from, to, come);
        let top = way(from.top, bottom - from.height());
        let area = from.down(top, way(from.bottom, bottom));
        let left = way(from.left, to.left + 3.0);
        let area = area.across(left, way(from.right, to.right - 3.0));
        let seen = 1.0 - within(through, [0.5, 0.7]);
        let values = read.series.row(before);
        let value = |column: usize| (values[column], seen);
        self.cells(on, area, values.len(), read.scale, value);
        edge(on, area, Ink::from(self.hue).faded(seen), 1.4);
    }

    /// Paints the key as it moves down the rows.
    fn sweep(&self, on: &mut Surface<'_>, key: &Vector<'_>, through: f32) {
        let (rows, half) = (self.area.memory, 0.5 * key.area.height());
        // It is where a score has grown by half.
        let share = (through - SWEEP[0]) / (SWEEP[1] - SWEEP[0]);
        let at = (share - 0.175) / 0.65;
        let y = if at < 0.0 {
            let come = within(share, [0.0, 0.175]);
            between(key.area.centre(), rows.top + half, come)
        } else {
            rows.top + half + at.min(1.0) * (rows.height() - 2.0 * half)
        };
        let seen = 1.0 - within(share, [0.9, 1.05]);
        if seen > 0.0 {
            let value = |column| (self.value(key, column).0, 0.9 * seen);
            let area = key.area.down(y - half, y + half);
            self.cells(on, area, key.series.width(), key.scale, value);
            edge(on, area, Ink::from(self.hue).faded(seen), 1.6);
            let line = [[self.area.columns.left, y], [rows.left, y]];
            let ink = Ink::from(self.hue).faded(0.5 * seen);
            on.dashed(&line, ink, 1.0, &[2.0, 4.0]);
        }
    }

    /// Draws the rows moving to the read vector, each in proportion to its weight.
    fn gather(&self, on: &mut Surface<'_>, read: &Vector<'_>, through: f32) {
        let weighting = self.head.weighting.row(self.now.step);
        let come = within(through, TRAVEL);
        let gone = 1.0 - within(through, FILL);
        for slot in self.view.slots() {
            let weight = weighting[slot.row];
            if !(weight.is_finite() && weight >= TRAVELS) {
                continue;
            }
            let top = between(slot.whole.min, read.area.top, come);
            let bottom = between(slot.whole.max, read.area.bottom, come);
            let seen = weight * (0.35 + 0.65 * gone);
            let value = |column| (self.now.memory_value(slot.row, column), seen);
            let to = read.area.down(top, bottom);
            self.cells(on, to, read.series.width(), read.scale, value);
            edge(on, to, Ink::from(self.hue).faded(seen), 1.6);
        }
    }

    /// Paints the erase or add vector as it moves to the visible rows and fills them from left to right.
    fn bring(&self, on: &mut Surface<'_>, vector: &Vector<'_>, through: f32) {
        let weighting = self.head.weighting.row(self.now.step);
        let come = within(through, COME);
        let columns = vector.series.width();
        for slot in self.view.slots() {
            let weight = weighting[slot.row];
            if !(weight.is_finite() && weight >= 0.1) {
                continue;
            }
            // A little above the row, for the row is seen to change.
            let half = 0.5 * vector.area.height().min(0.45 * self.view.height);
            let y = between(vector.area.centre(), slot.whole.max - half, come);
            let gone = |column| match vector.picture {
                Picture::Adds => in_turn(through, CHANGE, motion::turn(column, columns)),
                _ => within(through, CHANGE),
            };
            let value = |column| {
                let value = self.value(vector, column).0;
                (value, weight * (1.0 - gone(column)))
            };
            let area = vector.area.down(y - half, y + half);
            self.cells(on, area, columns, vector.scale, value);
            let seen = weight * (1.0 - within(through, [0.85, 1.0]));
            edge(on, area, Ink::from(self.hue).faded(seen), 1.4);
        }
    }
}
