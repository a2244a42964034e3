//! The targets that a user can select.

use std::ops::RangeInclusive;

use crate::figure::PanelId;

/// Something that can be pointed out, and stays pointed out while time moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A row of the memory, as the selected head sees it.
    Row(usize),
    /// Several rows.
    Rows {
        /// The row at which the selection started.
        from: usize,
        /// The row to which it was extended, before or after.
        to: usize,
    },
    /// A number in the memory.
    Cell {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A unit of the controller.
    Unit {
        /// The layer, 0 at the bottom.
        layer: usize,
        /// The place in the layer.
        unit: usize,
    },
    /// A head.
    Head(usize),
    /// A number of a head's parameters or read vector, or of the machine's input or output.
    Value {
        /// The picture.
        id: PanelId,
        /// The place among those of a step.
        column: usize,
    },
    /// The input and output of the whole machine in a step.
    Step,
}

impl Target {
    /// The rows of the memory that it is about.
    pub fn rows(self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::Row(row) | Self::Cell { row, .. } => Some(row..=row),
            Self::Rows { from, to } => Some(from.min(to)..=from.max(to)),
            _ => None,
        }
    }
}
