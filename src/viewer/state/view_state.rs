//! The selection and how it is shown.

use std::ops::RangeInclusive;

use super::{RowZoom, StepZoom, WindowLayout};
use crate::figure::PanelId;
use crate::figure::facts::datum::Datum;
use crate::figure::facts::family::columns_of;
use crate::model::{Place, Trace, array};

/// Tolerances with their names; the usual one is the second.
pub const TOLERANCES: [(f64, &str); 4] =
    [(0.0, "0"), (1e-6, "1e−6"), (1e-4, "1e−4"), (1e-2, "1e−2")];

/// The contents of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum List {
    /// Where something changes.
    #[default]
    Events,
    /// What the selected head does.
    Instructions,
    /// The writes that made the read, or the pinned output bit, of this step; or the reads that this write reached.
    Provenance,
}

impl List {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Events, Self::Instructions, Self::Provenance];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "Events",
            Self::Instructions => "Instructions",
            Self::Provenance => "Provenance",
        }
    }
}

/// The selection and how it is shown.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the window"
)]
pub struct ViewState {
    /// The selected head.
    pub focus: usize,
    /// True once the user selected it. Until then the most active head is selected.
    pub chosen: bool,
    /// The second head, pinned next to it.
    pub pinned: Option<usize>,
    /// True while all heads are shown side by side.
    pub all_heads: bool,
    /// True while only touched rows are shown.
    pub touched_only: bool,
    /// True while weightings are shown by their logarithm.
    pub log_scale: bool,
    /// The part of the rows on screen.
    pub row_zoom: RowZoom,
    /// The part of the steps on screen.
    pub step_zoom: StepZoom,
    /// The pinned value.
    pub selected: Option<Target>,
    /// The recorded value by whose name it was pinned: a row, a unit or a head stands for several.
    pub named: Option<Datum>,
    /// The tolerance of a comparison; relative for values above 1.
    pub tolerance: f64,
    /// True while the difference B − A is shown.
    pub difference: bool,
    /// The list beside the timeline.
    pub list: List,
    /// The layout chosen before that of a comparison.
    pub before: Option<WindowLayout>,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            focus: usize::MAX,
            chosen: false,
            pinned: None,
            all_heads: false,
            touched_only: true,
            log_scale: false,
            row_zoom: RowZoom::default(),
            step_zoom: StepZoom::default(),
            selected: None,
            named: None,
            tolerance: TOLERANCES[1].0,
            difference: true,
            list: List::default(),
            before: None,
        }
    }
}

impl ViewState {
    /// True for the only head selected by the user: selecting it again unpins it.
    pub fn is_pinned(&self, head: usize) -> bool {
        self.chosen && self.focus == head && self.pinned.is_none() && !self.all_heads
    }

    /// Returns the view with rows scrolled to the first, all steps on screen, no layout, and only a chosen head selected:
    /// automatic selection, scrolling and layout are no changes to undo.
    pub fn unscrolled(&self) -> Self {
        let mut view = self.clone();
        (view.row_zoom.first, view.step_zoom) = (0, StepZoom::default());
        view.before = None;
        if !view.chosen {
            view.focus = usize::MAX;
        }
        view
    }
}

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
    /// Returns the target that shows a recorded value, and its head, which is to be selected; `None` for one that no
    /// picture shows.
    pub fn showing(datum: Datum, trace: &Trace) -> Option<(Self, Option<usize>)> {
        let Datum {
            place,
            array,
            index,
        } = datum;
        // It may be of another episode.
        trace
            .series(place, array)
            .filter(|own| index < own.width())?;
        let [_, columns] = trace.memory_size();
        let value = |id| Self::Value { id, column: index };
        Some(match place {
            Place::Machine if array == array::MEMORY => {
                let (row, column) = (index / columns, index % columns);
                (Self::Cell { row, column }, None)
            }
            Place::Layer(layer) => {
                let units = trace.layers[layer].hidden.width();
                let unit = index % units.max(1);
                (Self::Unit { layer, unit }, None)
            }
            Place::Head(head) if array.dims.len() == 1 => (Self::Head(head), Some(head)),
            Place::Head(head) if columns_of(&trace.heads[head]).any(|of| of.array == array) => {
                (Self::Row(index), Some(head))
            }
            Place::Head(head) => (value(PanelId::showing(trace, place, array)?), Some(head)),
            Place::Machine => (value(PanelId::showing(trace, place, array)?), None),
        })
    }

    /// Returns the recorded value that it shows, of this selected head where it is a row.
    pub fn datum(self, trace: &Trace, focus: usize) -> Option<Datum> {
        let ((place, array), index) = match self {
            Self::Row(row) => ((Place::Head(focus), array::WEIGHTING), row),
            Self::Cell { row, column } => {
                let [_, columns] = trace.memory_size();
                ((Place::Machine, array::MEMORY), row * columns + column)
            }
            Self::Unit { layer, unit } => ((Place::Layer(layer), array::HIDDEN), unit),
            Self::Value { id, column } => (id.recorded(trace)?, column),
            Self::Rows { .. } | Self::Head(_) | Self::Step => return None,
        };
        let series = trace.series(place, array)?;
        (index < series.width()).then_some(Datum {
            place,
            array,
            index,
        })
    }

    /// The rows of the memory that it is about.
    pub fn rows(self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::Row(row) | Self::Cell { row, .. } => Some(row..=row),
            Self::Rows { from, to } => Some(from.min(to)..=from.max(to)),
            _ => None,
        }
    }
}
