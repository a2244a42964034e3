//! A machine without heads: a plain recurrent network. All it remembers is in its units, so they take the
//! place of the memory: cell and hidden state over time, and beside them the gates of this step.

use egui::{Align2, Rangef, Rect, Ui, pos2};

use super::parts::{Bands, frame, pointer, quiet_text, veil};
use super::sheet::Sheet;
use super::time::over_time_ui;
use super::{Columns, View, address, interact, pipeline};
use crate::figure::numbers;
use crate::figure::{PanelId, Picture};
use crate::viewer::command::{Command, Look};
use crate::viewer::inspect::Units;
use crate::viewer::state::target::Target;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::picture::{self, Grid};
use crate::viewer::widget::readout::Readout;

/// Height of the symbols over the strips of the step, in points.
const SYMBOLS: f32 = 18.0;
/// Room for the legends, in points.
const LEGENDS: f32 = 34.0;
/// Strips of the step side by side.
const STRIPS: usize = 5;
/// Cells at least this tall have their number printed, in points.
const PRINTED: f32 = 13.0;

/// The gates and the hidden state stay within ±1.
const WITHIN_ONE: Scale = Scale::Signed(1.0);

/// One quantity of all units of a layer at the step.
struct Strip {
    symbol: &'static str,
    words: &'static str,
    values: Vec<f32>,
    scale: Scale,
}

/// A quantity over time with what made it at this step.
struct Lane {
    layer: usize,
    symbol: &'static str,
    words: &'static str,
    strips: Vec<Strip>,
}

/// Every layer, from the one that sees the input to the one that makes the output.
pub fn units_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let right = Rangef::new(columns.stages.min, columns.memory.max);
    heading(ui, right, bands, view);
    let lanes: Vec<_> = (0..view.trace().layers.len())
        .flat_map(|layer| lanes_of(layer, view))
        .collect();
    let area = Rangef::new(bands.rows.min, bands.reads.max - LEGENDS);
    let each = area.span() / lanes.len().max(1) as f32;
    let symbols = if each >= 44.0 { SYMBOLS } else { 0.0 };
    for (index, lane) in lanes.iter().enumerate() {
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
    pipeline::caption(ui, x, y, view);
}

fn strip(symbol: &'static str, words: &'static str, values: &[f32], scale: Scale) -> Strip {
    let values = values.to_vec();
    Strip {
        symbol,
        words,
        values,
        scale,
    }
}

fn lanes_of(layer: usize, view: &View<'_>) -> Vec<Lane> {
    let Some(units) = Units::of(view.open, layer, view.step()) else {
        return Vec::new();
    };
    let state = view.open.scales.state;
    let mut lanes = Vec::new();
    let mut shown = Vec::new();
    if let Some(cell) = units.cell {
        let before = units.before.map(|c| strip("cₜ₋₁", "before", c, state));
        let mut strips: Vec<_> = before.into_iter().collect();
        if let Some([i, f, g, _]) = units.gates {
            strips.push(strip("f", "forget gate", f, Scale::Bits));
            strips.push(strip("i", "input gate", i, Scale::Bits));
            strips.push(strip("g", "candidate", g, WITHIN_ONE));
        }
        strips.push(strip("c", "cell", cell, state));
        let (symbol, words) = ("c", "cell");
        lanes.push(Lane {
            layer,
            symbol,
            words,
            strips,
        });
        let tanh: Vec<_> = cell.iter().map(|c| c.tanh()).collect();
        shown.push(strip("tanh c", "tanh c", &tanh, WITHIN_ONE));
    }
    if let Some([.., o]) = units.gates {
        shown.push(strip("o", "output gate", o, Scale::Bits));
    }
    shown.push(strip("h", "hidden", units.hidden, WITHIN_ONE));
    let (symbol, words) = ("h", "hidden");
    lanes.push(Lane {
        layer,
        symbol,
        words,
        strips: shown,
    });
    lanes
}

fn lane_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    symbols: bool,
    lane: &Lane,
    view: &mut View<'_>,
) {
    lane_over_time_ui(ui, columns, y, lane, view);
    let x = Rangef::new(columns.stages.min, columns.memory.max);
    let each = (x.span() - 6.0 * (STRIPS - 1) as f32) / STRIPS as f32;
    let first = STRIPS - lane.strips.len();
    for (index, strip) in lane.strips.iter().enumerate() {
        let left = x.min + (first + index) as f32 * (each + 6.0);
        let x = Rangef::new(left, left + each);
        strip_ui(
            ui,
            Rect::from_x_y_ranges(x, y),
            symbols,
            (lane, strip),
            view,
        );
    }
    let line = |unit: usize, strength: f32| {
        let units = lane.strips[0].values.len().max(1) as f32;
        let height = y.span() / units;
        let top = y.min + unit as f32 * height;
        let place = Rangef::new(top, top + height.max(1.0));
        let x = Rangef::new(columns.time.min, x.max);
        let ink = view.palette.strong.gamma_multiply(strength);
        let rect = Rect::from_x_y_ranges(x, place);
        ui.painter().rect_filled(rect, 0.0, ink);
    };
    match view.state.sight.selected {
        Some(Target::Unit { layer, unit }) if layer == lane.layer => line(unit, 0.25),
        _ => {}
    }
    if let Some((_, unit)) = view.unit_before.filter(|(layer, _)| *layer == lane.layer) {
        line(unit, 0.12);
    }
}

fn lane_over_time_ui(ui: &mut Ui, columns: &Columns, y: Rangef, lane: &Lane, view: &mut View<'_>) {
    let picture = if lane.symbol == "c" {
        Picture::Cells
    } else {
        Picture::Hidden
    };
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let drawn = over_time_ui(ui, columns, rect, PanelId::of(picture, lane.layer), view);
    if let Some((_, Some(unit))) = drawn {
        *view.unit = Some((lane.layer, unit));
    }
    let units = lane.strips.last().map_or(0, |strip| strip.values.len());
    lane_name(ui, columns, y, lane, units, view);
}

/// Layer and quantity beside the picture, and the numbers of its first and last unit.
fn lane_name(ui: &Ui, columns: &Columns, y: Rangef, lane: &Lane, units: usize, view: &View<'_>) {
    let (painter, palette) = (ui.painter(), view.palette);
    let left = columns.gutter.min;
    let name = |at: f32, text: &str, font, ink| {
        painter.text(pos2(left, at), Align2::LEFT_CENTER, text, font, ink);
    };
    let (layer, quantity) = (
        format!("layer {}", lane.layer),
        format!("{} {}", lane.words, lane.symbol),
    );
    if y.span() >= 26.0 {
        name(y.min + 6.0, &layer, theme::heading(11.0), palette.text);
        name(y.min + 20.0, &quantity, theme::text(10.5), palette.subdued);
    } else {
        let text = format!("{} {}", lane.layer, quantity);
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

/// One quantity of this step, unit under unit.
fn strip_ui(
    ui: &mut Ui,
    rect: Rect,
    symbols: bool,
    (lane, strip): (&Lane, &Strip),
    view: &mut View<'_>,
) {
    let units = strip.values.len();
    let grid = Grid {
        columns: 1,
        rows: units,
        scale: strip.scale,
        value: &|_, unit| strip.values[unit],
    };
    let slot = format!("units {} {} {}", lane.layer, lane.symbol, strip.symbol);
    let version = (view.open.serial, view.step());
    let size = rect.size().into();
    let texture = view
        .textures
        .get(ui.ctx(), &slot, version, size, view.palette, &grid);
    picture::paint(ui.painter(), rect, texture);
    frame(ui, rect, view);
    veil(ui, rect, strip.values.first().copied().unwrap_or(0.0), view);
    if symbols {
        let at = pos2(rect.center().x, rect.top() - 2.0);
        let room = rect.width() > 84.0;
        let text = if room && strip.words != strip.symbol {
            format!("{} {}", strip.words, strip.symbol)
        } else {
            strip.symbol.to_owned()
        };
        let (font, ink) = (theme::text(11.0), view.palette.text);
        ui.painter()
            .text(at, Align2::CENTER_BOTTOM, text, font, ink);
    }
    print(ui, rect, strip, view);
    let name = format!("layer {} {} {}", lane.layer, strip.words, strip.symbol);
    let response = interact(ui, rect, &name, "all units at this step");
    let unit = pointer(&response)
        .and_then(|position| grid.cell_at(rect, position))
        .map(|(_, unit)| unit);
    let place = lane.strips.iter().position(|s| s.symbol == strip.symbol);
    let names: Vec<_> = lane.strips.iter().map(|strip| strip.words).collect();
    let sheet = Sheet {
        name: &format!("layer {} at step {}", lane.layer, view.step()),
        lines: ("unit", units),
        columns: ("quantity", names.len()),
        names: &names,
        value: &|unit, strip| lane.strips[strip].values[unit],
    };
    sheet.menu(&response, unit.zip(place), view.commands);
    let Some(unit) = unit else { return };
    *view.unit = Some((lane.layer, unit));
    let target = Target::Unit {
        layer: lane.layer,
        unit,
    };
    if response.clicked() {
        view.commands.push(Command::Look(Look::Select(target)));
    }
    let card = target.card(view.open, view.focus, view.step());
    let sum = card.and_then(|card| {
        let line = card
            .lines
            .into_iter()
            .find(|line| line.symbol == strip.symbol);
        line.map(|line| format!("{} = {}", line.symbol, line.sum))
    });
    *view.readout = Some(Readout {
        place: format!(
            "layer {}  step {}  unit {unit}  {}",
            lane.layer,
            view.step(),
            strip.symbol
        ),
        value: numbers::exact(strip.values[unit]),
        meaning: sum.unwrap_or_else(|| strip.words.to_owned()),
    });
}

/// The numbers, where there is room for them.
fn print(ui: &Ui, rect: Rect, strip: &Strip, view: &View<'_>) {
    let height = rect.height() / strip.values.len().max(1) as f32;
    if height < PRINTED || rect.width() < 38.0 {
        return;
    }
    for (unit, &value) in strip.values.iter().enumerate() {
        let at = pos2(
            rect.right() - 4.0,
            rect.top() + (unit as f32 + 0.5) * height,
        );
        let ink = Palette::text_on(view.palette.color(strip.scale, value));
        let text = numbers::cell(value);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, text, theme::mono(9.5), ink);
    }
}
