//! A table of every head's parameters at the step: β, g, s, γ, and the entropy of its weighting.

use super::{Painting, SMALL, area};
use crate::figure::facts::events::HeadLines;
use crate::figure::facts::family::addressing::main_shift;
use crate::figure::facts::measure::Measure;
use crate::figure::facts::rows::Span;
use crate::figure::scene::paint::Draw;
use crate::figure::{ADDRESSING_MEASURES, Area, Ink, Slot, Style, signed};
use crate::train::{ABSENT, is_absent};

/// Height of a line.
const LINE: f32 = 15.0;
/// The least height of a line that can be read.
const LEAST_LINE: f32 = 11.5;

/// Returns the value of a head at a step; absent where it has none.
pub fn measured_value(lines: &HeadLines, measure: &Measure, step: usize) -> f32 {
    let mut scalars = lines.scalars.iter();
    let scalar = scalars.find(|scalar| scalar.of == measure);
    scalar.map_or(ABSENT, |scalar| scalar.values[step])
}

/// Returns the cells of the numbers in a line of the table; left of them stands the head.
pub fn table_cells(x: Span) -> [Span; ADDRESSING_MEASURES.len()] {
    let start = x.min + 36.0;
    let each = (x.max - start).max(1.0) / 5.2;
    let mut left = start;
    [1.0, 0.8, 1.4, 1.0, 1.0].map(|share| {
        let cell = Span::new(left, left + share * each);
        left = cell.max;
        cell
    })
}

impl Painting<'_, '_> {
    /// The height of the table in this much room.
    pub(super) fn table_height(&self, room: f32) -> f32 {
        let lines = (self.trace().heads.len() + 1) as f32;
        lines * (room / lines).clamp(LEAST_LINE, LINE)
    }

    pub(super) fn table(&mut self, x: Span, y: Span) {
        let count = self.trace().heads.len();
        let line = (y.span() / (count + 1) as f32).clamp(LEAST_LINE, LINE);
        let mut fits = ((y.span() / line) as usize).saturating_sub(1).min(count);
        // The last line says what is left out.
        if fits < count {
            fits = fits.saturating_sub(1);
            let at = [x.min + 14.0, y.min + (fits as f32 + 1.5) * line];
            let words = format!("{} more heads", count - fits);
            self.on.text(words, at, self.quiet(SMALL));
        }
        let style = self.quiet(SMALL).end();
        for (cell, measure) in table_cells(x).into_iter().zip(&ADDRESSING_MEASURES) {
            let at = [cell.max, y.min + line / 2.0];
            if self.emits(measure) {
                self.on.text(measure.title(), at, style);
            }
        }
        // Where there is no room for all, the selected head is among those shown.
        let first = (self.of.focus + 1).saturating_sub(fits).min(count - fits);
        for index in 0..fits {
            let top = y.min + (index + 1) as f32 * line;
            let line = area(x, Span::new(top, top + line));
            self.table_line(line, first + index);
        }
    }

    /// True where some head has this number.
    fn emits(&self, measure: &Measure) -> bool {
        let mut heads = self.trace().heads.iter();
        heads.any(|head| measure.is_of(head))
    }

    fn table_line(&mut self, line: Area, head: usize) {
        let (colours, middle) = (self.on.page.colours, line.centre());
        let (label, step) = (self.label(head), self.step());
        if head == self.of.focus || self.of.pinned == Some(head) {
            self.on.rect(line, colours.chosen);
        }
        self.head_sign([line.left + 6.0, middle], 11.0, head);
        let style = Style::new(SMALL, colours.text).bold();
        self.on
            .text(label.as_str(), [line.left + 14.0, middle], style);
        let ends = [line.left + 14.0, line.left + 28.0];
        self.head_dash(head, ends, line.bottom - 1.0);
        let lines = &self.of.seen.facts.heads[head];
        let cells = table_cells(Span::new(line.left, line.right));
        let style = Style::new(SMALL, colours.strong).mono().end();
        let values = ADDRESSING_MEASURES.each_ref().map(|measure| {
            let value = measured_value(lines, measure, step);
            measure.in_table(value)
        });
        for ((cell, value), measure) in cells.into_iter().zip(&values).zip(&ADDRESSING_MEASURES) {
            if self.emits(measure) {
                self.on.text(value.as_str(), [cell.max, middle], style);
            }
        }
        let shift = main_shift(&self.trace().heads[head], step);
        let shift = shift.map_or_else(String::new, |(by, _)| signed(by));
        self.on.text(shift.as_str(), [cells[2].max, middle], style);
        self.shift_bars(head, line.across(cells[2].min, cells[2].max));
        let [beta, gate, _, gamma, entropy] = values.each_ref().map(|value| value.trim());
        let name = if ADDRESSING_MEASURES[..4]
            .iter()
            .any(|measure| self.emits(measure))
        {
            format!(
                "{label} emits β {beta}, g {gate}, shift {shift}, γ {gamma}; entropy {entropy} bits"
            )
        } else {
            format!("{label} has an entropy of {entropy} bits")
        };
        self.part(Slot::TableLine(head), name, line);
    }

    /// A bar for every offset of the shift.
    fn shift_bars(&mut self, head: usize, cell: Area) {
        let shift = self.trace().heads[head].shift.row(self.step());
        let width = (4.0 * shift.len() as f32).min(cell.width() - 34.0);
        let each = width / shift.len().max(1) as f32;
        let (left, bottom) = (cell.right - 22.0 - width, cell.bottom - 2.0);
        for (index, &s) in shift.iter().enumerate().filter(|(_, s)| !is_absent(**s)) {
            let (share, fill): (f32, Ink) = if s.is_finite() {
                (s.clamp(0.0, 1.0), self.hue(head).into())
            } else {
                (1.0, self.on.page.colours.non_finite.into())
            };
            let x = left + index as f32 * each;
            let height = 1.0 + share * (cell.height() - 5.0);
            let bar = Area::new(x, bottom - height, (each - 1.0).max(0.5), height);
            self.on.rect(bar, fill);
        }
    }
}
