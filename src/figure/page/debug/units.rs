//! A machine without heads: a plain recurrent network. Its units are its only memory, so they take the place of the
//! memory: cell and hidden state over time, and beside them the gates of the step.

use super::geometry::Bands;
use super::legends::legend;
use super::{NAME, Painting, SMALL, area};
use crate::figure::facts::rows::Span;
use crate::figure::scene::paint::Draw;
use crate::figure::scene::panel::PlacedPanel;
use crate::figure::scene::units::{Lane, STRIPS, WITHIN_ONE};
use crate::figure::{Area, Scale, Slot, Style};

/// Height of the symbols over the strips of the step.
const SYMBOLS: f32 = 18.0;
/// Room for the legends.
const LEGENDS: f32 = 34.0;

impl<'a> Painting<'_, 'a> {
    /// Every layer, from the one that sees the input to the one that makes the output.
    pub(super) fn units(&mut self, bands: &Bands) {
        let right = Span::new(self.columns.stages.min, self.columns.memory.max);
        self.network_heading(right, bands);
        let seen = &self.of.seen;
        let lanes: Vec<_> = (0..self.trace().layers.len())
            .flat_map(|layer| seen.lanes(layer))
            .collect();
        let room = Span::new(bands.rows.min, bands.reads.max - LEGENDS);
        let each = room.span() / lanes.len().max(1) as f32;
        let symbols = if each >= 44.0 { SYMBOLS } else { 0.0 };
        for (index, lane) in lanes.into_iter().enumerate() {
            let top = room.min + index as f32 * each;
            let y = Span::new(top + symbols, top + each - 5.0);
            if y.span() >= 4.0 {
                self.layer_lane(y, symbols > 0.0, lane);
            }
        }
        let scales = [
            ("gate, bit", Scale::Bits),
            ("cell c", self.of.seen.facts.scales.state),
            ("g, tanh c, hidden h", WITHIN_ONE),
        ];
        let width = (right.span() - 32.0) / 3.0;
        for (index, (name, scale)) in scales.into_iter().enumerate() {
            let left = right.min + index as f32 * (width + 16.0);
            legend(
                &mut self.on,
                [left, room.max + 20.0],
                width,
                (name, &[scale]),
            );
        }
    }

    fn network_heading(&mut self, x: Span, bands: &Bands) {
        let mut layers = self.trace().layers.iter();
        let kind = if layers.all(|layer| layer.cell.width() > 0) {
            "LSTM"
        } else {
            "FEEDFORWARD NETWORK"
        };
        let text = format!("{kind} WITHOUT EXTERNAL MEMORY");
        let at = [x.min, bands.ruler.min + 8.0];
        self.text(Slot::Text("network"), &text, at, self.quiet(NAME).bold());
        let y = Span::new(bands.ruler.min + 18.0, bands.output.max);
        self.sentence(area(x, y));
    }

    fn layer_lane(&mut self, y: Span, symbols: bool, lane: Lane<'a>) {
        let own = lane.id.of.unwrap_or(0);
        self.over_time(lane.id, y);
        // The strips show how values come about.
        let strips = match self.of.seen.layer {
            None => lane.strips,
            Some(_) => Vec::new(),
        };
        let x = Span::new(self.columns.stages.min, self.columns.memory.max);
        let each = (x.span() - 6.0 * (STRIPS - 1) as f32) / STRIPS as f32;
        let first = STRIPS - strips.len();
        let units = self.trace().layers[own].hidden.width();
        self.layer_name(y, (own, lane.words), units);
        for (index, strip) in strips.into_iter().enumerate() {
            let left = x.min + (first + index) as f32 * (each + 6.0);
            let place = strip.at(Area::new(left, y.min, each, y.span()));
            if symbols {
                self.symbol(&place);
            }
            self.picture(place);
        }
    }

    /// The label over a strip.
    fn symbol(&mut self, place: &PlacedPanel<'_>) {
        let (panel, area) = (&place.panel, &place.area);
        let text = if area.width() > 84.0 && panel.note != panel.title {
            format!("{} {}", panel.note, panel.title)
        } else {
            panel.title.clone()
        };
        let style = Style::new(NAME, self.on.page.colours.text).middle();
        self.on.text(text, [area.middle(), area.top - 9.0], style);
    }

    /// Layer and quantity beside the picture, and the numbers of its first and last unit.
    fn layer_name(&mut self, y: Span, (layer, quantity): (usize, &str), units: usize) {
        let (left, colours) = (self.columns.gutter.min, self.on.page.colours);
        if y.span() >= 26.0 {
            let style = Style::new(NAME, colours.text).bold();
            self.on
                .text(format!("layer {layer}"), [left, y.min + 6.0], style);
            self.on
                .text(quantity, [left, y.min + 20.0], self.quiet(SMALL));
        } else {
            let text = format!("{layer} {quantity}");
            self.on.text(text, [left, y.center()], self.quiet(10.0));
        }
        if y.span() >= 48.0 {
            let (right, style) = (self.columns.time.min - 6.0, self.quiet(10.0).mono().end());
            let last = units.saturating_sub(1);
            for (unit, y) in [(0, y.min + 6.0), (last, y.max - 6.0)] {
                self.on.text(unit.to_string(), [right, y], style);
            }
        }
    }
}
