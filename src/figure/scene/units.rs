//! The units of a layer of the controller: cell and hidden state over time, and their inputs in a step.

use std::borrow::Cow;

use ndarray::{ArrayView2, Axis};

use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::cells::Cells;
use crate::figure::scene::panel::{Content, Down, Panel};
use crate::figure::{PanelId, Picture, Scale};
use crate::model::{LayerTrace, Trace};

/// Largest number of quantities side by side.
pub const STRIPS: usize = 5;

/// Symbols of the quantities of a unit. The part of an identity is a place in this list.
pub const QUANTITIES: [&str; 8] = ["cₜ₋₁", "f", "i", "g", "c", "tanh c", "o", "h"];

/// The gates and the hidden state stay within ±1.
pub const WITHIN_ONE: Scale = Scale::Signed(1.0);

/// The values of a layer at a step: previous cell, forget, input, candidate, cell, output gate, hidden. Values that
/// were not recorded are absent.
pub struct Units<'a> {
    /// c of the step before.
    pub before: Option<&'a [f32]>,
    /// The activated gates i, f, g, o.
    pub gates: Option<[&'a [f32]; 4]>,
    /// c of this step; a feedforward layer has none.
    pub cell: Option<&'a [f32]>,
    /// h of this step.
    pub hidden: &'a [f32],
}

impl<'a> Units<'a> {
    /// Creates the units of a layer at a step; with the initial cells, where they are known.
    pub fn of(
        trace: &'a Trace,
        initial: Option<ArrayView2<'a, f32>>,
        index: usize,
        step: usize,
    ) -> Option<Self> {
        let layer: &LayerTrace<f32> = trace.layers.get(index)?;
        let size = layer.cell.width();
        let before = if let Some(before) = step.checked_sub(1) {
            Some(layer.cell.row(before))
        } else {
            let known = initial.filter(|initial| index < initial.nrows());
            known.and_then(|initial| initial.index_axis_move(Axis(0), index).to_slice())
        };
        let gates = (size > 0 && layer.gates.steps() > step).then(|| {
            let row = layer.gates.row(step);
            std::array::from_fn(|block| &row[block * size..(block + 1) * size])
        });
        Some(Self {
            before: before.filter(|_| size > 0),
            gates,
            cell: (size > 0).then(|| layer.cell.row(step)),
            hidden: layer.hidden.row(step),
        })
    }
}

/// A quantity over time with its inputs at the step, unit under unit.
#[derive(Debug)]
pub struct Lane<'a> {
    /// The quantity.
    pub id: PanelId,
    /// Name as text.
    pub words: &'static str,
    /// The inputs of the layer, and its values.
    pub strips: Vec<Panel<'a>>,
}

/// A quantity of all units: symbol, words, values.
type Quantity<'a> = (&'static str, &'static str, Cow<'a, [f32]>, Scale);

impl<'a> Catalogue<'a> {
    /// Returns both quantities of a layer over time, with their inputs.
    pub fn lanes(&self, layer: usize) -> Vec<Lane<'a>> {
        let (trace, state) = (self.now.trace(), self.facts.scales.state);
        let Some(units) = Units::of(trace, self.initial, layer, self.now.step) else {
            return Vec::new();
        };
        let mut made: [Vec<Quantity<'a>>; 2] = Default::default();
        if let Some(cell) = units.cell {
            let before = units.before.map(|c| ("cₜ₋₁", "before", c.into(), state));
            made[0].extend(before);
            if let Some([i, f, g, _]) = units.gates {
                made[0].push(("f", "forget gate", f.into(), Scale::Bits));
                made[0].push(("i", "input gate", i.into(), Scale::Bits));
                made[0].push(("g", "candidate", g.into(), WITHIN_ONE));
            }
            made[0].push(("c", "cell", cell.into(), state));
            let tanh: Vec<_> = cell.iter().map(|c| c.tanh()).collect();
            made[1].push(("tanh c", "tanh c", tanh.into(), WITHIN_ONE));
        }
        if let Some([.., o]) = units.gates {
            made[1].push(("o", "output gate", o.into(), Scale::Bits));
        }
        made[1].push(("h", "hidden", units.hidden.into(), WITHIN_ONE));
        let pictures = [(Picture::Cells, "cell c"), (Picture::Hidden, "hidden h")];
        let lanes = pictures.into_iter().zip(made);
        let lanes = lanes.filter(|(_, made)| !made.is_empty());
        let lanes = lanes.map(|((picture, words), made)| {
            let strips = made.into_iter().map(|of| self.strip(layer, of)).collect();
            let id = PanelId::of(picture, layer);
            Lane { id, words, strips }
        });
        lanes.collect()
    }

    /// Returns one quantity of all units of a layer at the step.
    fn strip(&self, layer: usize, (symbol, words, values, scale): Quantity<'a>) -> Panel<'a> {
        let (units, id) = (values.len(), PanelId::of(Picture::Units, layer));
        let part = QUANTITIES.iter().position(|quantity| *quantity == symbol);
        let mut cells = Cells::new([1, units], scale, move |_, unit| values[unit]);
        cells.version = (self.now.step, 0);
        Panel {
            title: symbol.to_owned(),
            name: format!("layer {layer} {words} {symbol}"),
            whose: format!("layer {layer}"),
            note: words.to_owned(),
            alt: "all units at this step".to_owned(),
            down: Down::all("unit", units),
            natural: (units as f32 * 5.0).clamp(30.0, 120.0),
            ..Panel::new(PanelId { part, ..id }, Content::Cells(cells))
        }
    }
}
