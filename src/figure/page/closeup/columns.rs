//! The columns of the addressing at the rows in view: scores, and the steps from one weighting to the next.

use super::view::Slot;
use super::{Pane, fitting};
use crate::figure::facts::column::{BEFORE, Column};
use crate::figure::facts::family::score::score_text;
use crate::figure::facts::rows::Span;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::addressing::{Addressing, Bars};
use crate::figure::scene::annotations::{text_on, unrecorded};
use crate::figure::scene::fonts::{text_width, width_of};
use crate::figure::scene::motion::{self, OVER, lighter, within};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Content, Panel, PlacedPanel};
use crate::figure::{Area, Ink, PanelId, Picture, Rgb, Style, mix};
use crate::model::array;
use crate::train::is_absent;

/// The hue of the previous weighting relative to that of the content weighting.
const KEPT: f32 = 0.55;
/// Interval in which the result of the last step moves to the column of the previous weighting.
pub(super) const HOME: motion::Interval = [0.1, 0.85];
/// Weight below this has no number.
const PRINTED: f32 = 0.045;

/// A column at its place.
pub(super) struct PlacedColumn {
    pub(super) column: &'static Column,
    pub(super) area: Area,
    /// Progress of its stage.
    pub(super) through: f32,
    /// True while its stage is on.
    pub(super) now: bool,
}

impl<'a> Pane<'a, '_> {
    /// Returns the columns of a head at their positions.
    pub(super) fn placed_columns(&self) -> Vec<PlacedColumn> {
        let kinds: Vec<_> = self.now.stages.columns(self.head).collect();
        let areas = Addressing::areas(&self.area.columns, &kinds);
        let stage = self.now.stage().filter(|at| at.has(self.head));
        let all = kinds.into_iter().zip(areas);
        let all = all.map(|(column, area)| PlacedColumn {
            column,
            area,
            through: match column.stage {
                Stage::Controller => 1.0,
                _ if self.now.glide().is_some() => 1.0,
                stage => self.now.progress(stage, Some(self.head)),
            },
            now: stage.is_some_and(|at| at.stage == column.stage),
        });
        all.collect()
    }

    pub(super) fn columns(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let all = self.placed_columns();
        self.groups(on, &all);
        let size = self.size_of_words(&all);
        for placed in &all {
            self.ground(on, placed);
        }
        if let Some(past) = self.past() {
            Pane {
                close: &past,
                ..*self
            }
            .leaving(on);
        }
        for (index, placed) in all.iter().enumerate() {
            let panel = self.panel(placed);
            if let Some(Content::Bars(bars)) = panel.as_ref().map(|panel| &panel.content) {
                self.words(on, (placed, bars), size);
                self.streams(on, &all, index);
                self.column(on, placed, bars);
                self.arrows(on, &all, index);
            }
            places.extend(panel.map(|panel| panel.along(placed.area, self.view.axis())));
        }
        self.home(on, &all);
    }

    pub(super) fn panel(&self, placed: &PlacedColumn) -> Option<Panel<'a>> {
        let id = PanelId::of(Picture::Stages, self.area.head);
        self.seen.panel(id.part(placed.column.place()))
    }

    /// Returns the hue of the part kept from the previous weighting.
    pub(super) fn previous_hue(&self) -> Rgb {
        let colours = self.page.colours;
        let white = [colours.well, colours.strong][usize::from(colours.is_dark)];
        mix(white, self.hue, KEPT)
    }

    /// Paints the plain-language title of each group of columns above it.
    fn groups(&self, on: &mut Surface<'_>, all: &[PlacedColumn]) {
        // Location scores ignore the contents of rows: nothing matches.
        let by_place = !score_text(self.head.mechanism.score).reads_rows;
        let what = |placed: &PlacedColumn| match placed.column.stage {
            Stage::Controller => ["previous weighting", "prev."],
            Stage::Content if by_place => ["row scores", "scores"],
            Stage::Content => ["content match", "content"],
            Stage::Draw => ["sampled row", "sampled"],
            Stage::Usage | Stage::Allocate => ["free rows", "free"],
            Stage::Age => ["longest not accessed", "oldest"],
            Stage::Links => ["order of writing", "links"],
            Stage::Weigh => ["weighting", "weights"],
            _ => ["where it goes", "goes"],
        };
        let mut free = f32::NEG_INFINITY;
        for run in all.chunk_by(|a, b| what(a) == what(b)) {
            let (first, last) = (&run[0], &run[run.len() - 1]);
            let area = first.area.across(first.area.left, last.area.right);
            let is_now = run.iter().any(|placed| placed.now);
            let colours = self.page.colours;
            let ink = if is_now { colours.strong } else { colours.text };
            let y = area.top - self.size(49.0).max(34.0);
            let style = self.letters(13.5, ink).bold().middle();
            let room = 2.0 * (area.middle() - free).min(0.5 * area.width() + self.size(14.0));
            let [mut long, short] = what(first).map(|text| width_of(text, &style));
            let style = Style {
                size: (style.size * (room / short).min(1.0)).max(8.5),
                ..style
            };
            if long > room {
                long = short.min(room);
            }
            fitting(on, &what(first), ([area.middle(), y], style, room + 1.0));
            free = area.middle() + 0.5 * long + self.size(5.0);
            if run.len() > 1 {
                let y = y + self.size(10.5).max(7.5);
                on.line(&area.level(y), colours.line, 1.0);
            }
        }
    }

    /// The ground of a column, and the rows on it.
    fn ground(&self, on: &mut Surface<'_>, placed: &PlacedColumn) {
        let (colours, area) = (self.page.colours, placed.area);
        on.rect(area, colours.well);
        if placed.now {
            on.rect(area, Ink::from(self.hue).faded(0.07));
            let top = self.size(3.0).max(2.0);
            on.rect(area.down(area.top - top, area.top), self.hue);
        }
        let edges = self.view.slots().map(|slot| slot.whole.min);
        for y in edges.filter(|y| *y > area.top + 1.0) {
            on.line(&area.level(y), Ink::from(colours.line).faded(0.45), 1.0);
        }
        if placed.column.is_signed() {
            on.line(&area.upright(area.middle()), colours.line, 1.0);
        }
    }

    /// Room for the words over a column.
    fn room(&self, placed: &PlacedColumn) -> f32 {
        placed.area.width() + self.size(6.0).max(3.0)
    }

    /// The letters of the words over all columns: as large as the longest of them allows.
    fn size_of_words(&self, all: &[PlacedColumn]) -> f32 {
        let size = self.letters(12.5, self.page.colours.text).size;
        let wide = |placed: &PlacedColumn| text_width(placed.column.word, size).max(1.0);
        let fits = all.iter().map(|placed| self.room(placed) / wide(placed));
        (size * fits.fold(1.0, f32::min)).max(8.0)
    }

    /// Draws the word over a column, and in small letters its symbol and the parameter of the head.
    fn words(&self, on: &mut Surface<'_>, (placed, bars): (&PlacedColumn, &Bars<'_>), size: f32) {
        let (colours, area) = (self.page.colours, placed.area);
        let has_come = placed.through > 0.0 || placed.now;
        let ink = colours.emphasis(placed.now);
        let y = |up: f32, least: f32| area.top - self.size(up).max(least);
        let style = self.letters(12.5, ink).middle();
        let style = Style { size, ..style };
        let at = [area.middle(), y(29.0, 21.5)];
        let room = self.room(placed);
        // A word that is wider than its column comes near to the next one.
        let word = if width_of(placed.column.word, &style) <= area.width() + 1.0 {
            placed.column.word
        } else {
            placed.column.short_word()
        };
        fitting(on, &[word], (at, style, room + 1.0));
        let number = match bars.parameter.as_str() {
            key if !has_come || key == "key k" => String::new(),
            // Two numbers: the shift in rows, and its weight.
            shift if placed.column.array == array::SHIFTED => shift.replacen(' ', ": ", 1),
            number => number.to_owned(),
        };
        let both = match placed.column.stage {
            Stage::Weigh if !number.is_empty() => number.clone(),
            _ => format!("{} {number}", placed.column.symbol),
        };
        let style = self.letters(10.5, colours.subdued).middle();
        let texts = [both.trim_end(), &number, placed.column.symbol];
        fitting(on, &texts, ([area.middle(), y(13.5, 9.0)], style, room));
    }

    /// The bars of a column.
    pub(super) fn column(&self, on: &mut Surface<'_>, placed: &PlacedColumn, bars: &Bars<'_>) {
        if bars.cells.value(0, 0).is_some_and(is_absent) {
            return unrecorded(on, &placed.area);
        }
        let (array, through) = (placed.column.array, placed.through);
        if array == array::SHIFTED && through > 0.0 && through < 1.0 {
            self.sliding(on, placed, bars);
        } else if through > 0.0 {
            for slot in self.view.slots() {
                self.bar(on, placed, (bars, slot));
            }
        }
        if array == array::DISTRIBUTION {
            self.drawing(on, placed, bars);
        }
        on.frame(placed.area, self.page.colours.line);
    }

    /// The place of a bar in a row.
    pub(super) fn bar_at(
        placed: &PlacedColumn,
        bars: &Bars<'_>,
        place: Span,
        [from, to]: [f32; 2],
    ) -> Area {
        let (area, scale) = (placed.area, bars.cells.scale);
        let [left, right] = if placed.column.is_signed() {
            scale.bar(to, area.width())
        } else {
            [from, to].map(|value| scale.bar(value, area.width())[1])
        };
        area.across(area.left + left, area.left + right)
            .down(place.min, place.max)
            .inset(0.0, (place.span() * 0.12).min(3.0))
    }

    fn bar(&self, on: &mut Surface<'_>, placed: &PlacedColumn, (bars, slot): (&Bars<'_>, Slot)) {
        let (column, through) = (placed.column, placed.through);
        let share = self.view.share(&slot);
        let value = self.now.column(self.head, column, slot.row, share);
        let bar = |from, to| Self::bar_at(placed, bars, slot.place, [from, to]);
        if !value.is_finite() {
            return on.rect(bar(0.0, 1.0), self.page.colours.non_finite);
        }
        let unwritten = bars.is_unwritten(slot.row);
        let faint = if unwritten { 0.3 } else { 1.0 };
        let quiet = if column.is_signed() { 0.62 } else { 1.0 };
        let arrives = match column.stage {
            Stage::Sharpen | Stage::Draw => within(through, OVER),
            Stage::Controller => self.arrived(),
            _ => 1.0,
        };
        let seen = slot.seen() * arrives * lighter(through) * self.fade;
        let hue = match column.array {
            BEFORE => self.previous_hue(),
            _ => self.hue,
        };
        let mut ink = Ink::from(hue).faded(quiet * faint * seen);
        let linear = !bars.cells.scale.is_log();
        if column.array == array::GATED && self.now.glide().is_none() && linear {
            // The content weighting, and the previous weighting on top of it, in two shades.
            let [content, kept] = self.now.poured(self.head, slot.row);
            let colour = self.previous_hue();
            if content > 0.0 {
                on.rect(bar(0.0, content), ink);
            }
            if content + kept > content {
                on.rect(bar(content, content + kept), Ink { colour, ..ink });
            }
            self.tip(on, placed, (&bar(0.0, content + kept), 1.0));
            if self.head.gate[self.now.step] < 0.5 {
                ink.colour = colour;
            }
        } else {
            let bar = bar(0.0, value);
            on.rect(bar, ink);
            let end = column.values(self.head, self.now.step)[slot.row];
            if (end - value).abs() > 0.01 {
                self.tip(on, placed, (&bar, value));
            }
        }
        if through < 1.0 && matches!(column.stage, Stage::Sharpen | Stage::Draw) {
            // Where it comes from.
            let from = self.now.weighting_before(self.head, column)[slot.row];
            if from > 0.01 {
                let bar = bar(0.0, from);
                let ink = Ink::from(self.hue).faded(0.8);
                on.dashed(&bar.upright(bar.right), ink, 1.0, &[3.0, 2.0]);
            }
        }
        let rests = through >= 1.0 && self.now.glide().is_none() && arrives >= 1.0;
        if rests && self.fade >= 1.0 {
            self.number(on, placed, bars, (value, slot, ink));
        }
    }

    /// Share of the previous weighting that has arrived in its column.
    fn arrived(&self) -> f32 {
        if self.now.step == 0 {
            return 1.0;
        }
        let come = self.now.progress(Stage::Controller, None);
        within(come, [HOME[1] - 0.1, HOME[1]])
    }

    /// The moving end of a bar that is on its way.
    fn tip(&self, on: &mut Surface<'_>, placed: &PlacedColumn, (bar, value): (&Area, f32)) {
        let moves = placed.through > 0.0 && placed.through < 1.0;
        if !moves || bar.width() < 3.0 || placed.column.stage == Stage::Controller {
            return;
        }
        let x = if value < 0.0 { bar.left } else { bar.right };
        on.line(&bar.upright(x), self.page.colours.strong, 2.0);
    }

    /// Draws a number at the end of a column, on its bar or next to it.
    fn number(
        &self,
        on: &mut Surface<'_>,
        placed: &PlacedColumn,
        bars: &Bars<'_>,
        (value, slot, ink): (f32, Slot, Ink),
    ) {
        let (colours, area) = (self.page.colours, placed.area);
        let signed = placed.column.is_signed();
        let size = self.size(11.0).max(8.5);
        let (least, wide) = if signed { (0.15, 5.5) } else { (PRINTED, 3.3) };
        let is_seen = slot.seen() >= 0.9 && ink.opacity >= 0.4;
        if !is_seen || area.width() < wide * size || value.abs() < least {
            return;
        }
        let long = bars.cells.scale.bar(value, area.width())[1];
        let over = !signed && long > 3.0 * size;
        if !signed && !over && area.width() - long < 2.6 * size {
            return;
        }
        let colour = if over {
            text_on(mix(colours.well, ink.colour, ink.opacity))
        } else {
            colours.subdued
        };
        let (style, y) = (Style::new(size, colour).mono(), slot.whole.center());
        let text = placed.column.in_bar(value);
        // It is in the half without the bar.
        if signed && text_width(&text, size) + 5.0 > 0.5 * area.width() {
            return;
        }
        if signed && value > 0.0 {
            on.text(text, [area.left + 4.0, y], style);
        } else {
            let end = if over { area.left + long } else { area.right };
            on.text(text, [end - 4.0, y], style.end());
        }
    }
}
