//! The data: time at the left, addresses from left to right, everything on two shared axes.

use egui::{Rangef, Rect, Ui};

use super::{Columns, View, address, minimap, pipeline, play_head, step_pill, time, units};
use crate::train::Recording;
use crate::viewer::command::Command;
use crate::viewer::rows::Axis;

/// Where the pictures stand from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// Phases and step numbers; the names of the stages.
    pub ruler: Rangef,
    /// Input strip.
    pub input: Rangef,
    /// Target strip.
    pub target: Rangef,
    /// Output strip.
    pub output: Rangef,
    /// The rows: weighting of the head looked at, stages, memory.
    pub rows: Rangef,
    /// The weightings of the other heads, together.
    pub others: Rangef,
    /// Add vectors.
    pub adds: Rangef,
    /// Read vectors.
    pub reads: Rangef,
}

const RULER: f32 = 34.0;
const GAP: f32 = 5.0;
const SECTION: f32 = 14.0;

impl Bands {
    fn new(y: Rangef, inputs: usize, outputs: usize, other_heads: usize) -> Self {
        let free = (y.span() - RULER - 4.0 * SECTION - 3.0 * GAP).max(0.0);
        let channel = (free * 0.20 / (inputs + 2 * outputs).max(1) as f32).min(8.0);
        let vector = (free * 0.07).min(84.0);
        let strips = channel * (inputs + 2 * outputs) as f32;
        let rest = (free - strips - 2.0 * vector).max(0.0);
        let others = match other_heads {
            0 => 0.0,
            1 => rest * 0.20,
            2 => rest * 0.34,
            _ => rest * 0.42,
        };
        let mut top = y.min;
        let mut band = |height: f32, after: f32| {
            let band = Rangef::new(top, top + height);
            top = band.max + after;
            band
        };
        Self {
            ruler: band(RULER, 2.0),
            input: band(channel * inputs as f32, GAP),
            target: band(channel * outputs as f32, GAP),
            output: band(channel * outputs as f32, SECTION),
            rows: band(rest - others, SECTION),
            others: band(others, if other_heads > 0 { SECTION } else { 0.0 }),
            adds: band(vector, GAP),
            reads: band(vector, 0.0),
        }
    }
}

/// Height of the rows in a window of this height.
pub fn rows_room(window: f32, transport: f32, recording: &Recording) -> f32 {
    let trace = &recording.trace;
    let height = window - super::TOP - super::STATUS - transport;
    let y = Rangef::new(8.0, height - 10.0);
    let others = trace.heads.len().saturating_sub(1);
    let bands = Bands::new(y, trace.input.width(), trace.output.width(), others);
    bands.rows.span().max(0.0)
}

/// The wheel over the rows moves them, while only some are on screen.
fn wheel(ui: &Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let x = Rangef::new(columns.time.min, columns.marks.max);
    let rect = Rect::from_x_y_ranges(x, bands.rows);
    if columns.minimap.is_none() || !ui.rect_contains_pointer(rect) {
        return;
    }
    let moved = ui.input(|input| input.smooth_scroll_delta.y);
    if moved != 0.0 {
        let rows = -moved / axis.height.max(1.0);
        view.commands.push(Command::ScrollRows(rows));
    }
}

/// All pictures of the episode.
pub fn centre_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let area = ui.max_rect();
    let y = Rangef::new(area.top() + 8.0, area.bottom() - 10.0);
    let recording = view.recording();
    let (inputs, outputs) = (
        recording.trace.input.width(),
        recording.trace.output.width(),
    );
    let others = recording.trace.heads.len().saturating_sub(1);
    let bands = Bands::new(y, inputs, outputs, others);
    if bands.rows.span() < 8.0 || columns.time.span() < 8.0 {
        return;
    }
    time::ruler_ui(ui, columns, bands.ruler, view);
    time::strips_ui(ui, columns, &bands, view);
    if view.has_heads() {
        let axis = view.rows.place(bands.rows);
        time::lanes_ui(ui, columns, &bands, &axis, view);
        time::vectors_ui(ui, columns, &bands, view);
        pipeline::stages_ui(ui, columns, &bands, &axis, view);
        address::memory_ui(ui, columns, &bands, &axis, view);
        address::moment_ui(ui, columns, &bands, &axis, view);
        address::row_cursor(ui, columns, &axis, view);
        minimap::minimap_ui(ui, columns, bands.rows, view);
        wheel(ui, columns, &bands, &axis, view);
    } else {
        units::units_ui(ui, columns, &bands, view);
    }
    let mut all = Rangef::new(bands.ruler.min + 14.0, y.max + 10.0);
    if view.has_heads() && time::as_thumbnails(others, &bands) {
        // Thumbnails have a time axis of their own.
        play_head(
            ui,
            columns,
            Rangef::new(bands.others.max + 4.0, all.max),
            view,
        );
        all.max = bands.others.min - 4.0;
    }
    play_head(ui, columns, all, view);
    let numbers = f32::midpoint(bands.ruler.min + 17.0, bands.ruler.max);
    step_pill(ui, columns, numbers, view);
}
