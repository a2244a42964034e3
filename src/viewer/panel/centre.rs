//! The data: time at the left, addresses from left to right, everything on two shared axes.

use egui::{Rangef, Rect, Ui};

use super::parts::{Bands, clipped};
use super::{
    Columns, View, address, heads, minimap, pipeline, play_head, signal_path, step_pill, time,
    units,
};
use crate::train::Recording;
use crate::viewer::command::{Command, Rows, Steps};
use crate::viewer::row_zoom::Axis;
use crate::viewer::row_zoom::ON_SCREEN;

/// Height of the rows where the pictures have this height.
pub fn rows_room(height: f32, recording: &Recording) -> f32 {
    let trace = &recording.trace;
    let y = Rangef::new(8.0, height - 10.0);
    let others = trace.heads.len().saturating_sub(1);
    let bands = Bands::new(y, trace.input.width(), trace.output.width(), others);
    bands.rows.span().max(0.0)
}

/// The wheel over the pictures over time makes steps wider or narrower about the pointer, with Shift it moves them; so do
/// two fingers. Where it moves rows, it does so with Ctrl.
fn wheel_in_time(ui: &Ui, columns: &Columns, y: Rangef, rows: Rangef, view: &mut View<'_>) {
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let Some(at) = ui
        .ctx()
        .pointer_hover_pos()
        .filter(|_| ui.rect_contains_pointer(rect))
    else {
        return;
    };
    let width = columns.whole.span() / view.steps().max(1) as f32;
    let (scrolled, zoomed) = ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta()));
    let moves_rows = columns.minimap.is_some() && rows.contains(at.y);
    let turned = if moves_rows { 0.0 } else { scrolled.y };
    let by = zoomed * (turned / 200.0).exp();
    if by != 1.0 {
        let at = (at.x - columns.whole.min) / width.max(f32::MIN_POSITIVE);
        view.commands.push(Command::Steps(Steps::Widen { at, by }));
    }
    if scrolled.x != 0.0 && columns.is_part() {
        let steps = -scrolled.x / width;
        view.commands.push(Command::Steps(Steps::Pan(steps)));
    }
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
        view.commands.push(Command::Rows(Rows::Scroll(rows)));
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
        let axis = view.rows.place(bands.rows.into(), ON_SCREEN);
        time::lanes_ui(ui, columns, &bands, &axis, view);
        time::vectors_ui(ui, columns, &bands, view);
        let places = pipeline::stages_ui(ui, columns, &bands, &axis, view);
        heads::final_weightings_ui(ui, &places, &axis, view);
        address::memory_ui(ui, columns, &bands, &axis, view);
        address::vectors_at_step_ui(ui, columns, &bands, &axis, view);
        address::row_cursor(ui, columns, &axis, view);
        clipped(ui, columns, |ui| {
            signal_path::signal_path_ui(ui, columns, &bands, &axis, view);
        });
        minimap::minimap_ui(ui, columns, bands.rows, view);
        wheel(ui, columns, &bands, &axis, view);
    } else {
        units::units_ui(ui, columns, &bands, view);
    }
    wheel_in_time(ui, columns, y, bands.rows, view);
    let mut all = Rangef::new(bands.ruler.min + 14.0, y.max + 10.0);
    if view.has_heads() && time::as_thumbnails(others, &bands) {
        // Thumbnails have a time axis of their own.
        let below = Rangef::new(bands.others.max + 4.0, all.max);
        clipped(ui, columns, |ui| play_head(ui, columns, below, view));
        all.max = bands.others.min - 4.0;
    }
    let numbers = f32::midpoint(bands.ruler.min + 17.0, bands.ruler.max);
    clipped(ui, columns, |ui| {
        play_head(ui, columns, all, view);
        step_pill(ui, columns, numbers, view);
    });
}
