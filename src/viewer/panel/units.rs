//! A machine without heads: a plain recurrent network. All it remembers is in its units, so they take the
//! place of the memory: cell and hidden state over time, and beside them the gates of this step.

use egui::{Align2, Rangef, Ui, pos2};

use super::page::{paint_ui, point_ui};
use super::parts::{Bands, quiet_text, row_line};
use super::time::over_time_ui;
use super::{Columns, View, address, pipeline};
use crate::figure::scene::units::{Lane, STRIPS, WITHIN_ONE};
use crate::figure::{Area, PlacedPanel};
use crate::viewer::state::target::Target;
use crate::viewer::theme::{self, Scale};

/// Height of the symbols over the strips of the step, in points.
const SYMBOLS: f32 = 18.0;
/// Room for the legends, in points.
const LEGENDS: f32 = 34.0;

/// Every layer, from the one that sees the input to the one that makes the output.
pub fn units_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let right = Rangef::new(columns.stages.min, columns.memory.max);
    heading(ui, right, bands, view);
    let lanes: Vec<_> = (0..view.trace().layers.len())
        .flat_map(|layer| view.catalogue().lanes(layer))
        .collect();
    let area = Rangef::new(bands.rows.min, bands.reads.max - LEGENDS);
    let each = area.span() / lanes.len().max(1) as f32;
    let symbols = if each >= 44.0 { SYMBOLS } else { 0.0 };
    for (index, lane) in lanes.into_iter().enumerate() {
        let top = area.min + index as f32 * each;
        let y = Rangef::new(top + symbols, top + each - 5.0);
        if y.span() >= 4.0 {
            lane_ui(ui, columns, y, symbols > 0.0, lane, view);
        }
    }
    let legends = [
        ("gate, bit", Scale::Bits),
        ("cell c", view.open.scales.state),
        ("g, tanh c, hidden h", WITHIN_ONE),
    ];
    let width = (right.span() - 32.0) / 3.0;
    for (index, (name, scale)) in legends.into_iter().enumerate() {
        let left = right.min + index as f32 * (width + 16.0);
        let at = pos2(left, area.max + 20.0);
        address::legend(ui, at, width, name, scale, view);
    }
}

fn heading(ui: &Ui, x: Rangef, bands: &Bands, view: &View<'_>) {
    let trace = view.trace();
    let lstm = trace.layers.iter().all(|layer| layer.cell.width() > 0);
    let kind = if lstm { "LSTM" } else { "FEEDFORWARD NETWORK" };
    let text = format!("{kind} WITHOUT EXTERNAL MEMORY");
    let at = pos2(x.min, bands.ruler.min + 8.0);
    quiet_text(
        ui,
        at,
        Align2::LEFT_CENTER,
        &text,
        theme::heading(11.0),
        view,
    );
    let y = Rangef::new(bands.ruler.min + 18.0, bands.output.max);
    pipeline::caption_ui(ui, x, y, view);
}

fn lane_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    symbols: bool,
    lane: Lane<'_>,
    view: &mut View<'_>,
) {
    let own = lane.id.of.unwrap_or(0);
    over_time_ui(ui, columns, y, lane.id, view);
    let x = Rangef::new(columns.stages.min, columns.memory.max);
    let each = (x.span() - 6.0 * (STRIPS - 1) as f32) / STRIPS as f32;
    let first = STRIPS - lane.strips.len();
    let places = lane.strips.into_iter().enumerate().map(|(index, strip)| {
        let left = x.min + (first + index) as f32 * (each + 6.0);
        strip.at(Area::new(left, y.min, each, y.span()))
    });
    let places: Vec<_> = places.collect();
    let units = places[0].axis.count();
    lane_name(ui, columns, y, (own, lane.words), units, view);
    for place in &places {
        if symbols {
            symbol_ui(ui, place, view);
        }
        paint_ui(ui, place, view);
        point_ui(ui, place, &places, view);
    }
    let line = |unit: usize, strength: f32| {
        if let Some(place) = places[0].axis.place_of(unit) {
            let x = Rangef::new(columns.time.min, x.max);
            row_line(ui, x, place, strength, view);
        }
    };
    match view.state.view.selected {
        Some(Target::Unit { layer, unit }) if layer == own => line(unit, 0.25),
        _ => {}
    }
    if let Some((_, unit)) = view.unit_before.filter(|(layer, _)| *layer == own) {
        line(unit, 0.12);
    }
}

/// Shows the label over a strip.
fn symbol_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &View<'_>) {
    let (panel, area) = (&place.panel, &place.area);
    let text = if area.width() > 84.0 && panel.note != panel.title {
        format!("{} {}", panel.note, panel.title)
    } else {
        panel.title.clone()
    };
    let at = pos2(area.middle(), area.top - 2.0);
    let (font, ink) = (theme::text(11.0), view.palette.text);
    ui.painter()
        .text(at, Align2::CENTER_BOTTOM, text, font, ink);
}

/// Layer and quantity beside the picture, and the numbers of its first and last unit.
fn lane_name(
    ui: &Ui,
    columns: &Columns,
    y: Rangef,
    (layer, quantity): (usize, &str),
    units: usize,
    view: &View<'_>,
) {
    let (painter, palette) = (ui.painter(), view.palette);
    let left = columns.gutter.min;
    let name = |at: f32, text: &str, font, ink| {
        painter.text(pos2(left, at), Align2::LEFT_CENTER, text, font, ink);
    };
    if y.span() >= 26.0 {
        let layer = format!("layer {layer}");
        name(y.min + 6.0, &layer, theme::heading(11.0), palette.text);
        name(y.min + 20.0, quantity, theme::text(10.5), palette.subdued);
    } else {
        let text = format!("{layer} {quantity}");
        name(y.center(), &text, theme::text(10.0), palette.subdued);
    }
    if y.span() >= 48.0 {
        let right = columns.time.min - 6.0;
        for (unit, at, align) in [
            (0, y.min, Align2::RIGHT_TOP),
            (units.saturating_sub(1), y.max, Align2::RIGHT_BOTTOM),
        ] {
            let (font, ink) = (theme::mono(10.0), palette.subdued);
            painter.text(pos2(right, at), align, unit, font, ink);
        }
    }
}
