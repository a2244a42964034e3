//! The memory with its heading, and the vectors of the step below it, column under column.

use std::ops::Range;

use super::geometry::Bands;
use super::{NAME, Painting, area, ends};
use crate::figure::facts::links::LINKED;
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::scene::axes;
use crate::figure::scene::catalogue::beside_memory;
use crate::figure::scene::fonts::{cut, width_of};
use crate::figure::scene::paint::Draw;
use crate::figure::scene::panel::{Panel, shades};
use crate::figure::{Area, PanelId, Picture, Scale, Slot, Style};
use crate::model::Place;
use crate::model::sam::{RECORDED_ROWS, row_number};

/// Widths of the order of writing and of the usage left of the memory, with the room after each.
const BESIDE: [f32; 2] = [34.0, 20.0];
/// The room after each of them.
const APART: f32 = 3.0;
/// The room between two quantities over the rows.
const OVER_ROWS: f32 = 8.0;

impl<'a> Painting<'_, 'a> {
    /// The memory, the vectors of the step, the table of the heads, and the legends.
    pub(super) fn memory(&mut self, bands: &Bands, axis: &Axis) {
        let ([links, usage, x], y) = (self.memory_spans(), ends(axis));
        if !self.over_rows(bands, axis) {
            self.memory_heading(bands.ruler.min + 8.0);
            let memory = self.of.seen.panel(PanelId::new(Picture::Memory));
            if let Some(memory) = memory {
                self.picture(memory.along(area(x, y), axis.clone()));
            }
        }
        for (id, x) in beside_memory(self.trace()).into_iter().zip([links, usage]) {
            if let Some(panel) = id.and_then(|id| self.of.seen.panel(id)) {
                self.picture(panel.along(area(x, y), axis.clone()));
            }
        }
        let has_others = bands.others.span() > 0.0;
        let start = [bands.adds, bands.others][usize::from(has_others)].min;
        let bottom = bands.reads.max;
        let free = self.vectors_at_step(Span::new(start, bottom));
        let has_note = self.bars_note(axis).is_some();
        let words = if has_note { 20.0 } else { 6.0 };
        let below_stages = Span::new(start + words, bottom);
        self.below_stages(below_stages, Span::new(free + 4.0, bottom), axis);
    }

    /// The quantities over its rows, over time in place of a memory that was not recorded; false where there are none.
    fn over_rows(&mut self, bands: &Bands, axis: &Axis) -> bool {
        let seen = &self.of.seen;
        let all = seen.over_rows();
        if all.is_empty() {
            return false;
        }
        let (x, y) = (self.columns.memory, ends(axis));
        let [heading, middle] = [8.0, 24.0].map(|below| bands.ruler.min + below);
        let title = self.quiet(NAME).bold();
        self.on.text("ALL HEADS", [x.min, heading], title);
        // Before the answer no step has a weighting.
        let Range { start, end } = self.of.span;
        let source = seen.now.recording.episode.source();
        let start = if source < end {
            start.max(source)
        } else {
            start
        };
        let steps = format!("steps {start} to {}", end - 1);
        self.on.text(steps, [x.min, middle], self.quiet(NAME));
        let width = (x.span() + OVER_ROWS) / all.len() as f32;
        for (index, own) in all.into_iter().enumerate() {
            let id = PanelId::new(Picture::Quantities).part(own.part);
            let Some(panel) = seen.panel(id) else {
                continue;
            };
            let left = x.min + index as f32 * width;
            let place = area(Span::new(left, left + width - OVER_ROWS), y);
            let style = self.quiet(NAME);
            let name = cut(own.array.name, &style, place.width());
            self.on.text(name, [left, y.min - 9.0], style);
            self.picture(panel.during(start..end).along(place, axis.clone()));
            if (start..end).contains(&self.step()) {
                let step = self.step() - start;
                axes::play_head(&mut self.on, &place, step, end - start);
            }
        }
        true
    }

    /// The order of writing, the usage, and the memory right of them; each of the first two may be empty.
    fn memory_spans(&self) -> [Span; 3] {
        let Span { min, max } = self.columns.memory;
        let beside = beside_memory(self.trace());
        let widths =
            [0, 1].map(|index| BESIDE[index] * f32::from(u8::from(beside[index].is_some())));
        let squeeze = (0.4 * (max - min) / widths.iter().sum::<f32>()).min(1.0);
        let mut left = min;
        let [links, usage] = widths.map(|width| {
            let start = left;
            left += width * if width > 0.0 { squeeze } else { 0.0 };
            Span::new(start, (left - APART).max(start))
        });
        [links, usage, Span::new(left, max)]
    }

    /// Which memory is shown, and its size.
    fn memory_heading(&mut self, top: f32) {
        let (left, memory) = (self.columns.memory.min, self.of.seen.now.memory());
        let (heading, quiet) = (self.quiet(NAME).bold(), self.quiet(NAME));
        self.on.text("MEMORY", [left, top], heading);
        let style = Style::new(NAME, self.on.page.colours.text).mono();
        let right = left + width_of("MEMORY", &heading) + 8.0;
        // Where both do not fit beside each other, which memory it is goes to the line below.
        let name = memory.name();
        if right + width_of(&name, &style) <= self.columns.marks.max {
            self.on.text(name, [right, top], style);
            self.on.text(memory.words(), [left, top + 16.0], quiet);
        } else {
            self.on.text(name, [left, top + 16.0], style);
        }
        let [n, m] = self.trace().memory_size();
        let shown = self.of.seen.rows.numbers();
        let size = match (shown.first(), shown.last()) {
            (Some(first), Some(last)) if self.columns.minimap.is_some() => {
                let [first, last] = [*first, *last].map(|row| row_number(self.trace(), row));
                let follows = if self.of.follows { " (following)" } else { "" };
                format!("rows {first} to {last} of {n}{follows}")
            }
            _ => {
                let is_part = self.trace().series(Place::Machine, RECORDED_ROWS).is_some();
                let which = if is_part { "recorded " } else { "" };
                format!("{n} {which}rows × {m} columns")
            }
        };
        self.on.text(size, [left, top + 32.0], quiet);
        self.beside_legend([left, top + 48.0]);
    }

    /// The meaning of what stands beside the memory, in as many words as there is room for.
    fn beside_legend(&mut self, [left, mut y]: [f32; 2]) {
        let (quiet, room) = (self.quiet(NAME), self.columns.marks.max - left);
        let fit = |words: &str, more: &str, apart: f32| {
            let all = format!("{words}{more}");
            let fits = apart + width_of(&all, &quiet) <= room;
            if fits { all } else { words.to_owned() }
        };
        let [links, usage] = beside_memory(self.trace());
        if links.is_some() {
            let words = format!("arrows: links of {LINKED} or more");
            let words = fit(&words, ", to the row written next", 0.0);
            self.text(Slot::Text("links"), &words, [left, y], quiet);
            y += 16.0;
        }
        if usage.is_some_and(|_| self.of.seen.layer.is_none()) {
            let swatch = Area::new(left, y - 4.0, 20.0, 8.0);
            shades(&mut self.on, swatch, &[Scale::Bits]);
            let words = fit("usage 0 to 1", "; numbers: order of allocation", 25.0);
            self.text(Slot::Text("usage"), &words, [left + 25.0, y], quiet);
        }
    }

    /// The vectors of the selected head and of the machine at the step; returns where they end.
    fn vectors_at_step(&mut self, y: Span) -> f32 {
        let Some(head) = self.of.head() else {
            return y.min;
        };
        let (seen, focus) = (&self.of.seen, self.of.focus);
        let own = if head.is_write() {
            vec![Picture::Keys, Picture::Erases, Picture::Adds]
        } else {
            vec![Picture::Keys, Picture::Reads, Picture::Modes]
        };
        let now = |id: PanelId| seen.panel(id.now());
        let own = own.into_iter().map(|picture| PanelId::of(picture, focus));
        let all = [Picture::Input, Picture::Output, Picture::Target].map(PanelId::new);
        let groups: [Vec<Panel<'a>>; 2] = [
            own.filter_map(now).collect(),
            all.into_iter().filter_map(now).collect(),
        ];
        // On a low page the lines move together before they give way.
        let count = groups.iter().map(Vec::len).sum::<usize>() as f32;
        let pitch = ((y.span() - 6.0) / count).clamp(11.0, 22.0);
        let height = (pitch * 0.66).min(14.0);
        let between = if pitch < 22.0 { 6.0 } else { 12.0 };
        let mut top = y.min;
        for group in groups {
            if top + group.len() as f32 * pitch > y.max + 8.0 {
                break;
            }
            for vector in group {
                self.vector(vector, Span::new(top, top + height));
                top += pitch;
            }
            top += between;
        }
        top
    }

    /// A quantity at the step, its name left of it.
    fn vector(&mut self, panel: Panel<'a>, y: Span) {
        let [.., x] = self.memory_spans();
        let place = panel.at(area(x, y));
        let at = [place.area.left - 8.0, y.center()];
        self.on
            .text(place.panel.title.as_str(), at, self.quiet(NAME).end());
        self.picture(place);
    }
}
