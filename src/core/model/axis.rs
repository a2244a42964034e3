//! The axes of arrays in files: their names, what they count, and their lengths by the sizes of a machine.

/// The sizes of a machine; 0 for what it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Layers of the controller.
    pub layers: usize,
    /// Units in a layer of the controller.
    pub units: usize,
    /// Heads that read.
    pub read_heads: usize,
    /// Heads that write.
    pub write_heads: usize,
    /// Memory rows.
    pub rows: usize,
    /// Memory columns.
    pub columns: usize,
    /// The largest shift in either direction.
    pub shift_range: usize,
    /// Rows that a head with sparse reads finds.
    pub found_rows: usize,
    /// Units of the additive score.
    pub additive_units: usize,
    /// Units of the layer that predicts the window centre.
    pub position_units: usize,
    /// Units of the layer that computes the prior.
    pub prior_units: usize,
}

impl Sizes {
    /// Values of all reads of a step.
    pub(super) fn reads(&self) -> usize {
        self.read_heads * self.columns
    }

    /// Inputs of the first layer of a controller that receives them: [x; reads].
    pub(super) fn first_inputs(&self) -> usize {
        self.inputs + self.reads()
    }

    /// Inputs of an output layer that receives them: [h; reads].
    pub(super) fn features(&self) -> usize {
        self.units + self.reads()
    }
}

/// An axis of arrays in files. Those of a machine file are its own.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The name in `dims` of an array.
    pub name: &'static str,
    /// The word for one entry.
    pub word: &'static str,
    /// The things that it counts.
    pub meaning: &'static str,
    /// The key of a `model` that sets the length; empty without one.
    pub key: &'static str,
    /// The length in a machine; 1 where it depends on the episode or the layer.
    pub(super) length: fn(&Sizes) -> usize,
}

/// The axes, in the order of a file.
#[rustfmt::skip] // A row for every axis.
pub static AXES: [Axis; 18] = [
    Axis { name: "t", word: "step", meaning: "steps", key: "", length: |_| 1 },
    Axis { name: "n", word: "row", meaning: "memory rows", key: "memory.rows", length: |own| own.rows },
    Axis { name: "m", word: "memory column", meaning: "memory columns", key: "memory.columns", length: |own| own.columns },
    Axis { name: "x", word: "channel", meaning: "input channels", key: "", length: |own| own.inputs },
    Axis { name: "y", word: "channel", meaning: "output channels", key: "", length: |own| own.outputs },
    Axis { name: "c", word: "unit", meaning: "controller units", key: "controller.size", length: |own| own.units },
    Axis { name: "l", word: "layer", meaning: "controller layers", key: "controller.layers", length: |_| 1 },
    Axis { name: "k", word: "key column", meaning: "key columns (named m if a key is as long as a row)", key: "", length: |own| own.columns },
    Axis { name: "r", word: "column", meaning: "values of a read (named m if a read is as long as a row)", key: "", length: |own| own.columns },
    Axis { name: "u", word: "unit", meaning: "encoder units", key: "", length: |_| 1 },
    Axis { name: "s", word: "column", meaning: "shifts", key: "heads.shift.range", length: |own| 2 * own.shift_range + 1 },
    Axis { name: "a", word: "unit", meaning: "units of the additive score", key: "heads.attention.units", length: |own| own.additive_units },
    Axis { name: "p", word: "unit", meaning: "units of the layer that predicts the window centre", key: "heads.attention.position_units", length: |own| own.position_units },
    Axis { name: "h", word: "unit", meaning: "units of the layer that computes the prior", key: "heads.attention.prior_units", length: |own| own.prior_units },
    Axis { name: "i", word: "mode", meaning: "read modes", key: "", length: |_| 3 },
    Axis { name: "q", word: "row", meaning: "rows that a head with sparse reads finds", key: "heads.rows", length: |own| own.found_rows },
    Axis { name: "j", word: "row", meaning: "all memory rows, where an episode shows some of them", key: "", length: |_| 1 },
    Axis { name: "f", word: "keyframe", meaning: "keyframes of the memory", key: "", length: |_| 1 },
];

impl Axis {
    /// Returns the axis with this name; `t+1` is that of steps, with the memory before the first.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix("+1").unwrap_or(name);
        AXES.iter().find(|axis| axis.name == name)
    }

    /// Returns the axis whose length a key of a `model` sets.
    pub fn of_key(key: &str) -> Option<&'static Self> {
        AXES.iter().find(|axis| axis.key == key && !key.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::keys::{Field, Keys, Table};
    use crate::model::ModelConfig;

    #[test]
    fn a_key_sets_the_length_of_its_axis() {
        let mut seen = BTreeSet::from(["l"]);
        for mut config in ModelConfig::with_every_array() {
            let mut axes = Vec::new();
            config.keys(&mut Table::new(&mut |key| {
                if let (Field::Integer(size, _), Some(axis)) = (key.field, Axis::of_key(key.path)) {
                    *size = 5 + axes.len();
                    axes.push((axis, *size));
                }
            }));
            for (axis, size) in axes.into_iter().filter(|(axis, _)| axis.name != "l") {
                let length = if axis.name == "s" { 2 * size + 1 } else { size };
                assert_eq!((axis.length)(&config.sizes()), length, "{}", axis.name);
                seen.insert(axis.name);
            }
        }
        let keyed = AXES.iter().filter(|axis| !axis.key.is_empty());
        assert_eq!(seen, keyed.map(|axis| axis.name).collect());
    }
}
