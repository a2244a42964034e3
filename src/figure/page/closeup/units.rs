//! The close-up of a machine without heads: its units are its only memory.

use std::cmp::Reverse;

use super::CloseUp;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::motion::{between, within};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::PlacedPanel;
use crate::figure::{Area, PanelId, Picture, Scale};
use crate::math::Series;

/// Share of the largest possible cell size that is large enough.
const NEARLY: f32 = 0.8;

impl<'a> CloseUp<'a, '_> {
    /// Paints the cells of every layer, a square per unit, and the hidden state below them.
    pub(super) fn units(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let rows = self.plan.rows();
        let middle = self.plan.middle.down(rows.top, rows.bottom);
        let layers = &self.now.trace().layers;
        let mut grids = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            let of = |picture, words, values: &'a Series<f32>, scale| {
                let words = format!("{words}: {} units of layer {index}", values.width());
                (PanelId::of(picture, index), words, values, scale)
            };
            if layer.cell.width() > 0 {
                let scale = self.seen.facts.scales.state;
                grids.push(of(Picture::Cells, "cell state c", &layer.cell, scale));
            }
            let scale = Scale::Signed(1.0);
            grids.push(of(Picture::Hidden, "hidden state h", &layer.hidden, scale));
        }
        let words = self.size(30.0).max(20.0);
        let below = self.size(10.0);
        let apart = match grids.len() {
            0..=2 => 0.0,
            count => below * count as f32,
        };
        let free = middle.height() - words * grids.len() as f32 - apart;
        let widths = grids.iter().map(|(_, _, values, _)| values.width());
        let side = |across: usize| {
            let lines = widths.clone().map(|width| width.div_ceil(across));
            let high = free / lines.sum::<usize>().max(1) as f32;
            let wide = middle.width() / across as f32;
            high.min(wide).min(self.size(30.0))
        };
        let all = || (4..=160).step_by(4);
        let largest = all().map(side).fold(0.0, f32::max);
        // Nearly the largest cells, preferably in complete lines.
        let ragged = |across: usize| widths.clone().filter(|width| width % across > 0).count();
        let across = all().filter(|&across| side(across) >= NEARLY * largest);
        let across = across.min_by_key(|&across| (ragged(across), Reverse(across)));
        let across = across.unwrap_or(32);
        let each = side(across);
        let left = middle.middle() - 0.5 * each * across as f32;
        let mut top = middle.top;
        for (id, description, values, scale) in grids {
            let across = across.min(values.width().max(1));
            let colours = self.page.colours;
            let lines = values.width().div_ceil(across);
            let style = self.letters(13.5, colours.text).bold();
            on.text(description, [left, top + 0.4 * words], style);
            top += words;
            let area = Area::new(left, top, each * across as f32, each * lines as f32);
            on.rect(area, colours.well);
            let come = within(self.now.progress(Stage::Controller, None), [0.3, 1.0]);
            for line in 0..lines {
                let first = line * across;
                let count = (values.width() - first).min(across);
                let value = |unit: usize| {
                    let now = values.row(self.now.step)[first + unit];
                    let before = self.now.step.checked_sub(1);
                    let before = before.map_or(0.0, |step| values.row(step)[first + unit]);
                    let come = self.now.glide().unwrap_or(come);
                    (between(before, now, come), 1.0)
                };
                let y = top + line as f32 * each;
                let row = area.across(area.left, area.left + each * count as f32);
                self.cells(on, row.down(y, y + each), count, scale, value);
            }
            on.frame(area, colours.line);
            let panel = self.seen.panel(id.now());
            places.extend(panel.map(|panel| panel.at(area)));
            top += area.height() + below;
        }
    }
}
