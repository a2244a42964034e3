//! The main layout in the window: the page of the figures, with what the pointer does on its time axis.

use egui::{Rangef, Rect, Role, Sense, Ui, WidgetInfo};

use super::View;
use super::page::{loop_handles, page_ui};
use crate::figure::facts::rows::Span;
use crate::figure::page::debug::ROWS as ON_SCREEN;
use crate::figure::page::debug::geometry::{Bands, Columns, PHASES};
use crate::figure::scene::paint::{Draw, Surface};
use crate::train::Recording;
use crate::viewer::command::{Edit, Rows, Steps};
use crate::viewer::widget::{area, hit_area, send};

/// Height of the rows where the pictures have this height.
pub fn rows_room(height: f32, recording: &Recording) -> f32 {
    let bands = Bands::new(recording, Span::new(0.0, height));
    bands.rows.span().max(0.0)
}

/// All pictures of the episode.
pub fn centre_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let all = ui.max_rect();
    let y = all.y_range();
    let page = view.page(ui.pixels_per_point());
    let of = view.debug_page();
    let mut canvas = view.page_canvas(ui, all);
    let on = &mut Surface::new(&mut canvas, &page);
    let places = of.centre(on, *columns, y.into());
    let bands = Bands::new(view.recording(), y.into());
    let clip = columns.is_part().then_some(columns.time.into());
    page_ui(ui, &places, clip, view);
    let phases = Span::new(bands.ruler.min, bands.ruler.min + PHASES);
    let before = ui.clip_rect();
    if columns.is_part() {
        let x = Rangef::from(columns.time).expand(1.0);
        ui.shrink_clip_rect(Rect::from_x_y_ranges(x, before.y_range()));
    }
    loop_handles(ui, columns, phases, view);
    edit_ui(ui, columns, bands.input.into(), view);
    ui.set_clip_rect(before);
    if view.has_heads() {
        wheel(ui, columns, &bands, view);
    }
    if of.scrolled.is_some() && !view.open.facts.quantities.is_empty() {
        let right = Rangef::new(columns.stages.min, columns.marks.max);
        let below = Rangef::new(bands.rows.min, bands.reads.max);
        scroll_quantities(ui, Rect::from_x_y_ranges(right, below));
    }
    let pictures = Rangef::new(bands.ruler.min, bands.reads.max);
    wheel_in_time(ui, columns, pictures, bands.rows.into(), view);
}

/// The wheel over the pictures over time makes steps wider or narrower about the pointer, with Shift it moves them; so do
/// two fingers. Where it moves rows, it does so with Ctrl.
fn wheel_in_time(ui: &Ui, columns: &Columns, y: Rangef, rows: Rangef, view: &mut View<'_>) {
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let at = ui.ctx().pointer_hover_pos();
    let Some(at) = at.filter(|_| ui.rect_contains_pointer(rect)) else {
        return;
    };
    let width = columns.whole.span() / view.steps().max(1) as f32;
    let (scrolled, zoomed) = ui.input(|input| (input.smooth_scroll_delta, input.zoom_delta()));
    let moves_rows = columns.minimap.is_some() && rows.contains(at.y);
    let turned = if moves_rows { 0.0 } else { scrolled.y };
    let by = zoomed * (turned / 200.0).exp();
    if by != 1.0 {
        let at = (at.x - columns.whole.min) / width.max(f32::MIN_POSITIVE);
        send(ui.ctx(), Steps::Widen { at, by });
    }
    if scrolled.x != 0.0 && columns.is_part() {
        let steps = -scrolled.x / width;
        send(ui.ctx(), Steps::Pan(steps));
    }
}

/// The wheel beside the pictures over time moves the small quantities of a machine file.
fn scroll_quantities(ui: &Ui, rect: Rect) {
    let moved = ui.input(|input| input.smooth_scroll_delta.y);
    if moved != 0.0 && ui.rect_contains_pointer(rect) {
        send(ui.ctx(), Rows::Scroll(-moved / 40.0));
    }
}

/// The wheel over the rows moves them, while only some are on screen.
fn wheel(ui: &Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let x = Rangef::new(columns.time.min, columns.marks.max);
    let rect = Rect::from_x_y_ranges(x, bands.rows);
    if columns.minimap.is_none() || !ui.rect_contains_pointer(rect) {
        return;
    }
    let moved = ui.input(|input| input.smooth_scroll_delta.y);
    if moved != 0.0 {
        let height = view.rows.place(bands.rows, ON_SCREEN).height;
        let rows = -moved / height.max(1.0);
        send(ui.ctx(), Rows::Scroll(rows));
    }
}

/// The mark in the input while it is edited; a click flips a bit or chooses a symbol, dragging paints.
fn edit_ui(ui: &Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let Some((step, channel)) = view.state.mark() else {
        return;
    };
    let (steps, channels) = (view.steps(), view.trace().input.width());
    let height = y.span() / channels.max(1) as f32;
    let top = y.min + channel as f32 * height;
    let cell = Rect::from_x_y_ranges(columns.step(step, steps), Rangef::new(top, top + height));
    let whole = Rect::from_x_y_ranges(columns.time, y);
    let (accent, mut canvas) = (view.palette.data.accent, view.canvas(ui));
    for edge in [whole, cell, cell.expand(1.0)] {
        canvas.frame(area(edge), accent);
    }
    let name = if view.recording().task.chooses_symbols() {
        "Input symbols: click to choose one"
    } else {
        "Input bits: click to flip one, drag to paint"
    };
    let info = WidgetInfo::labeled(Role::Button, true, name);
    let response = hit_area(ui, whole, "edit input", Sense::click_and_drag(), &info);
    let here = response.interact_pointer_pos().map(|at| {
        let channel = ((at.y - y.min).max(0.0) / height.max(1.0)) as usize;
        (columns.step_at(at.x, steps), channel.min(channels - 1))
    });
    paint_bits(&response, here, view);
    response.on_hover_cursor(egui::CursorIcon::Crosshair);
}

/// Flips the bit under the pointer on press; bits that the pointer is dragged over get the same value.
fn paint_bits(response: &egui::Response, here: Option<(usize, usize)>, view: &mut View<'_>) {
    let down = response.ctx.input(|input| input.pointer.primary_down());
    let down = down && response.is_pointer_button_down_on();
    let edit = match (view.state.stroke.map(|(_, at)| at), here) {
        (None, Some((step, channel))) if down => Edit::Paint(step, channel),
        (None, Some((step, channel))) if response.clicked() => Edit::Flip(step, channel),
        (Some(from), Some(to)) if down && from != to => Edit::Paint(to.0, to.1),
        (Some(_), _) if !down => Edit::EndStroke,
        _ => return,
    };
    send(&response.ctx, edit);
}
