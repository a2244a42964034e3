//! Pictures over time: ruler, input, target and output, the weightings of every head, adds and reads.

use egui::{Align2, FontId, Rangef, Rect, Sense, Ui, pos2};

use super::page::{self, hover_ui, picture_ui};
use super::parts::{Bands, choose, clipped, rows_range};
use super::{Columns, View, interact, scrub};
use crate::figure::facts::rows::numbered_every;
use crate::figure::{PanelId, Picture};
use crate::viewer::command::{Command, Edit, Look, Play};
use crate::viewer::narration;
use crate::viewer::row_zoom::{Axis, ON_SCREEN, Span};
use crate::viewer::state::target::Target;
use crate::viewer::theme;
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::canvas::{area, rect};
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::readout::Readout;

/// Phases and step numbers: the top of the time axis, to click and drag on.
pub fn ruler_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let names = Rangef::new(y.min, y.min + 17.0);
    gutter_text(ui, columns, f32::midpoint(names.max, y.max), "step", view);
    clipped(ui, columns, |ui| on_ruler_ui(ui, columns, y, names, view));
}

fn on_ruler_ui(ui: &mut Ui, columns: &Columns, y: Rangef, names: Rangef, view: &mut View<'_>) {
    let steps = view.steps();
    let painter = ui.painter();
    for (index, phase) in view.recording().episode.phases.iter().enumerate() {
        let x = Rangef::new(
            columns.step(phase.start, steps).min,
            columns.step(phase.end, steps).min,
        );
        let rect = Rect::from_x_y_ranges(x, names).shrink2(egui::vec2(0.5, 0.0));
        painter.rect_filled(rect, 2.0, view.palette.phases[index % 2]);
        let font = theme::text(11.0);
        let galley = painter.layout_no_wrap(phase.name.to_string(), font, view.palette.text);
        if galley.size().x + 6.0 < rect.width() {
            let position = rect.center() - galley.size() / 2.0;
            painter.galley(position, galley, view.palette.text);
        }
    }
    step_numbers(ui, columns, Rangef::new(names.max, y.max), view);
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let response = interact(ui, rect, "Ruler", "phases and steps of the episode");
    let pressed = ui.input(|input| (input.modifiers.shift, input.pointer.press_origin()));
    let on_phases = pressed.1.is_some_and(|at| at.y <= names.max);
    if response.dragged() && (pressed.0 || on_phases) {
        mark_part(&response, columns, view);
    } else if !on_phases || response.clicked() {
        scrub(&response, columns.whole, view);
    }
    loop_handles(ui, columns, names, view);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, steps);
        let phase = narration::phase_at(view.recording(), step);
        if response.clicked() {
            view.commands
                .push(Command::Look(Look::Select(Target::Step)));
        }
        *view.readout = Some(Readout {
            place: format!("step {step}"),
            value: phase.to_owned(),
            meaning: String::new(),
        });
    }
}

/// Dragging with Shift marks the part to loop, from where the pointer went down.
fn mark_part(response: &egui::Response, columns: &Columns, view: &mut View<'_>) {
    let down = response.ctx.input(|input| input.pointer.press_origin());
    if let (Some(from), Some(to)) = (down, response.interact_pointer_pos()) {
        let at = |x: f32| columns.step_at(x, view.steps());
        let range = Some((at(from.x), at(to.x)));
        view.commands.push(Command::Play(Play::LoopRange(range)));
    }
}

/// The part to loop on the ruler, with a handle at each end to drag.
fn loop_handles(ui: &Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let Some((first, last)) = view.player.range() else {
        return;
    };
    let steps = view.steps();
    let x = columns.span(first, last, steps);
    let (painter, accent) = (ui.painter(), view.palette.accent);
    let part = Rect::from_x_y_ranges(x, y);
    painter.rect_filled(part, 0.0, accent.gamma_multiply(0.25));
    for (name, edge) in [("Loop start", x.min), ("Loop end", x.max)] {
        let grip = Rect::from_center_size(pos2(edge, y.center()), egui::vec2(7.0, y.span()));
        painter.rect_filled(grip, 2.0, accent);
        painter.vline(
            edge,
            y.shrink(5.0),
            egui::Stroke::new(1.0, view.palette.on_accent),
        );
        let id = ui.scope_id().with(name);
        let response = ui.interact(grip.expand(3.0), id, Sense::drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, name));
        if let (true, Some(at)) = (response.dragged(), response.interact_pointer_pos()) {
            let step = columns.step_at(at.x, steps);
            let range = match name {
                "Loop start" => (step.min(last), last),
                _ => (first, step.max(first)),
            };
            view.commands
                .push(Command::Play(Play::LoopRange(Some(range))));
        }
        focus_ring(ui, &response);
        response.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
    }
}

fn step_numbers(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let steps = view.steps();
    let width = columns.whole.span() / steps.max(1) as f32;
    let every = numbered_every(width);
    let font = theme::mono(10.0);
    let current = view.step();
    let place = columns.step(current, steps).center();
    for step in (0..steps).step_by(every) {
        let x = columns.step(step, steps).center();
        // The current number has the room to itself.
        if step != current && (x - place).abs() > 22.0 && columns.time.contains(x) {
            let at = pos2(x, y.center());
            ui.painter().text(
                at,
                Align2::CENTER_CENTER,
                step,
                font.clone(),
                view.palette.subdued,
            );
        }
    }
}

/// Input, target and output.
pub fn strips_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    for (picture, y) in [
        (Picture::Input, bands.input),
        (Picture::Target, bands.target),
        (Picture::Output, bands.output),
    ] {
        let Some(name) = over_time_ui(ui, columns, y, PanelId::new(picture), view) else {
            continue;
        };
        if picture == Picture::Input {
            let channels = view.trace().input.width();
            clipped(ui, columns, |ui| edit_ui(ui, columns, y, channels, view));
        }
        gutter_text(ui, columns, y.center(), &name, view);
    }
}

/// A picture over time at this height of the window, if the machine has it. Returns its name.
pub fn over_time_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    id: PanelId,
    view: &mut View<'_>,
) -> Option<String> {
    let rect = Rect::from_x_y_ranges(columns.whole, y);
    let place = view.catalogue().panel(id)?.at(area(rect));
    clipped(ui, columns, |ui| picture_ui(ui, &place, view));
    Some(place.panel.name)
}

/// The mark in the input while it is edited; a click on a bit flips it, dragging paints.
fn edit_ui(ui: &Ui, columns: &Columns, y: Rangef, channels: usize, view: &mut View<'_>) {
    let Some((step, channel)) = view.state.mark() else {
        return;
    };
    let (steps, height) = (view.steps(), y.span() / channels.max(1) as f32);
    let top = y.min + channel as f32 * height;
    let cell = Rect::from_x_y_ranges(columns.step(step, steps), Rangef::new(top, top + height));
    let (painter, accent) = (ui.painter(), view.palette.accent);
    let whole = Rect::from_x_y_ranges(columns.time, y);
    let kind = egui::StrokeKind::Outside;
    painter.rect_stroke(whole, 0.0, egui::Stroke::new(1.5, accent), kind);
    painter.rect_stroke(cell, 0.0, egui::Stroke::new(2.0, accent), kind);
    let id = ui.scope_id().with("edit input");
    let response = ui.interact(whole, id, Sense::click_and_drag());
    let name = "Input bits: click to flip one, drag to paint";
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    focus_ring(ui, &response);
    let here = response.interact_pointer_pos().map(|at| {
        let channel = ((at.y - y.min).max(0.0) / height.max(1.0)) as usize;
        (columns.step_at(at.x, steps), channel.min(channels - 1))
    });
    paint_ui(&response, here, view);
    response.on_hover_cursor(egui::CursorIcon::Crosshair);
}

/// Flips the bit under the pointer on press; bits that the pointer is dragged over get the same value.
fn paint_ui(response: &egui::Response, here: Option<(usize, usize)>, view: &mut View<'_>) {
    let down = response.ctx.input(|input| input.pointer.primary_down());
    let down = down && response.is_pointer_button_down_on();
    let edit = match (view.state.stroke.map(|(_, at)| at), here) {
        (None, Some((step, channel))) if down => Edit::Paint(step, channel),
        (None, Some((step, channel))) if response.clicked() => Edit::Flip(step, channel),
        (Some(from), Some(to)) if down && from != to => Edit::Paint(to.0, to.1),
        (Some(_), _) if !down => Edit::EndStroke,
        _ => return,
    };
    view.commands.push(Command::Edit(edit));
}

/// The weightings of every head over time: the selected one on the address axis, the others below.
pub fn lanes_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let weighs = |head: &usize| view.trace().heads[*head].weighting.width() > 0;
    let others = (0..view.trace().heads.len()).filter(|&head| head != view.focus);
    let others: Vec<usize> = others.filter(weighs).collect();
    if weighs(&view.focus) {
        lane_ui(ui, columns, axis, view.focus, view);
    }
    row_numbers(ui, columns, axis, view);
    if others.is_empty() {
        return;
    }
    if as_thumbnails(others.len(), bands) {
        thumbnails_ui(ui, columns, bands, &others, view);
        return;
    }
    let height = bands.others.span() / others.len() as f32;
    let shown = others.len();
    for (index, &head) in others.iter().enumerate() {
        let top = bands.others.min + index as f32 * height;
        let gap = if index + 1 < shown { 5.0 } else { 0.0 };
        let axis = view
            .whole
            .place(Span::new(top, top + height - gap), ON_SCREEN);
        lane_ui(ui, columns, &axis, head, view);
    }
}

/// True when there are more heads than lanes that can be read: then each is a thumbnail.
pub fn as_thumbnails(others: usize, bands: &Bands) -> bool {
    others as f32 * 30.0 > bands.others.span() && others > 1
}

/// The weightings of the other heads over time as a grid of small pictures; a click looks at one.
fn thumbnails_ui(
    ui: &mut Ui,
    columns: &Columns,
    bands: &Bands,
    others: &[usize],
    view: &mut View<'_>,
) {
    let area = Rect::from_x_y_ranges(columns.time, bands.others);
    let lines = ((area.height() / 46.0) as usize).clamp(1, 4);
    let across = others.len().div_ceil(lines);
    let (width, height) = (
        (area.width() + 6.0) / across as f32,
        (area.height() + 5.0) / others.len().div_ceil(across) as f32,
    );
    for (index, &head) in others.iter().enumerate() {
        let corner = egui::vec2(
            (index % across) as f32 * width,
            (index / across) as f32 * height,
        );
        let size = egui::vec2(width - 6.0, height - 5.0);
        thumbnail_ui(ui, Rect::from_min_size(area.min + corner, size), head, view);
    }
    gutter_text(ui, columns, area.top() + 8.0, "other", view);
    gutter_text(ui, columns, area.top() + 21.0, "heads", view);
}

fn thumbnail_ui(ui: &mut Ui, rect: Rect, head: usize, view: &mut View<'_>) {
    let (trace, steps) = (&view.trace().heads[head], view.steps());
    let label = narration::head_label(view.recording(), head);
    let name = Rangef::new(rect.top(), rect.top() + 13.0);
    let axis = view
        .whole
        .place(Span::new(name.max, rect.bottom()), ON_SCREEN);
    let Some(mut panel) = view
        .catalogue()
        .panel(PanelId::of(Picture::Weightings, head))
    else {
        return;
    };
    panel.name = format!("thumbnail of {label}");
    "click to select this head, Shift+click adds it as the second".clone_into(&mut panel.note);
    let place = panel.along(area(rect), axis);
    page::paint_ui(ui, &place, view);
    let (response, _) = hover_ui(ui, &place, &[], view);
    let picture = self::rect(&place.area);
    let x = picture.left() + (view.step() as f32 + 0.5) / steps.max(1) as f32 * picture.width();
    let line = egui::Stroke::new(1.0, view.palette.accent);
    ui.painter().vline(x, picture.y_range(), line);
    let color = view.head_color(head);
    let (at, middle) = (rect.left() + 5.0, name.center() - 1.0);
    head_sign(
        ui.painter(),
        pos2(at, middle),
        10.0,
        trace.is_write(),
        color,
    );
    let (font, ink) = (theme::heading(10.5), view.palette.text);
    ui.painter().text(
        pos2(at + 8.0, middle),
        Align2::LEFT_CENTER,
        &label,
        font,
        ink,
    );
    choose(ui, &response, head, view);
    if response.hovered() {
        let (stroke, kind) = (
            egui::Stroke::new(1.5, view.palette.accent),
            egui::StrokeKind::Outside,
        );
        ui.painter().rect_stroke(picture, 0.0, stroke, kind);
    }
}

fn lane_ui(ui: &mut Ui, columns: &Columns, axis: &Axis, head: usize, view: &mut View<'_>) {
    let Some(panel) = view
        .catalogue()
        .panel(PanelId::of(Picture::Weightings, head))
    else {
        return;
    };
    let rect = Rect::from_x_y_ranges(columns.whole, rows_range(axis));
    let place = panel.along(area(rect), axis.clone());
    clipped(ui, columns, |ui| picture_ui(ui, &place, view));
    let focused = head == view.focus;
    lane_name(ui, columns, rect.y_range(), head, focused, view);
    if focused && view.weighting_scale.is_log() {
        let rect = Rect::from_x_y_ranges(columns.time, rect.y_range());
        log_badge(ui, rect, view);
    }
}

/// Marks a picture with a logarithmic scale.
fn log_badge(ui: &Ui, rect: Rect, view: &View<'_>) {
    let (painter, ink) = (ui.painter(), view.palette.warning);
    let words = "log scale, 1e−6 to 1";
    let galley = painter.layout_no_wrap(words.to_owned(), theme::text(10.5), ink);
    let corner = pos2(rect.right() - galley.size().x - 12.0, rect.top() + 5.0);
    let badge = Rect::from_min_size(corner, galley.size() + egui::vec2(8.0, 2.0));
    painter.rect_filled(badge, 3.0, view.palette.panel);
    let kind = egui::StrokeKind::Inside;
    painter.rect_stroke(badge, 3.0, egui::Stroke::new(1.0, ink), kind);
    painter.galley(corner + egui::vec2(4.0, 1.0), galley, ink);
    let response = ui.interact(badge, ui.scope_id().with("log badge"), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, words));
}

/// The sign and the label of a head in the gutter; a click looks at it.
fn lane_name(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    head: usize,
    focused: bool,
    view: &mut View<'_>,
) {
    let (label, trace) = (
        narration::head_label(view.recording(), head),
        &view.trace().heads[head],
    );
    let color = view.head_color(head);
    let left = columns.gutter.min;
    let top = y.min;
    let painter = ui.painter();
    head_sign(
        painter,
        pos2(left + 7.0, top + 8.0),
        13.0,
        trace.is_write(),
        color,
    );
    let ink = if focused {
        view.palette.strong
    } else {
        view.palette.text
    };
    let font = theme::heading(12.0);
    painter.text(
        pos2(left + 17.0, top + 8.0),
        Align2::LEFT_CENTER,
        &label,
        font,
        ink,
    );
    let small = theme::text(10.5);
    let verb = if trace.is_write() { "writes" } else { "reads" };
    if y.span() > 24.0 {
        painter.text(
            pos2(left, top + 22.0),
            Align2::LEFT_CENTER,
            verb,
            small,
            view.palette.subdued,
        );
    }
    let rect = Rect::from_x_y_ranges(
        Rangef::new(left, left + 40.0),
        Rangef::new(top, (top + 30.0).min(y.max)),
    );
    let response = ui.interact(rect, ui.scope_id().with(("lane", head)), Sense::click());
    let name = format!("Select head {label}");
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, focused, &name));
    focus_ring(ui, &response);
    if response.clicked() {
        view.commands.push(Command::Look(Look::Focus(head)));
    }
}

/// True row numbers beside the address axis.
fn row_numbers(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let font: FontId = theme::mono(10.0);
    // In the gutter the name of the head comes first: beside it there is room for five letters in all.
    let name = narration::head_label(view.recording(), view.focus);
    let free = rows_range(axis).min + 20.0;
    for x in [columns.time.min, columns.stages.min, columns.memory.min] {
        let has_room = |(row, place): &(usize, Span)| {
            let letters = name.len() + row.to_string().len();
            x > columns.time.min || letters <= 5 || place.center() > free
        };
        for (row, place) in axis.numbered().filter(has_room) {
            let ink = if view.row_before == Some(row) {
                view.palette.strong
            } else {
                view.palette.subdued
            };
            let at = pos2(x - 6.0, place.center());
            let painter = ui.painter();
            painter.text(at, Align2::RIGHT_CENTER, row, font.clone(), ink);
        }
    }
}

/// Shows the vectors added and read, over time.
pub fn vectors_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let recording = view.recording();
    let heads = &recording.trace.heads;
    let chosen = |write: bool| {
        let fits = |head: &usize| heads[*head].is_write() == write;
        Some(view.focus)
            .filter(|head| *head < heads.len() && fits(head))
            .or_else(|| (0..heads.len()).find(fits))
    };
    for (head, picture, y) in [
        (chosen(true), Picture::Adds, bands.adds),
        (chosen(false), Picture::Reads, bands.reads),
    ] {
        let Some(head) = head else { continue };
        if over_time_ui(ui, columns, y, PanelId::of(picture, head), view).is_some() {
            let what = if picture == Picture::Adds {
                "adds"
            } else {
                "reads"
            };
            let label = narration::head_label(recording, head);
            gutter_text(ui, columns, y.center() - 6.0, what, view);
            gutter_text(ui, columns, y.center() + 7.0, &label, view);
        }
    }
}

/// A word in the gutter, beside a picture.
fn gutter_text(ui: &Ui, columns: &Columns, y: f32, text: &str, view: &View<'_>) {
    let at = pos2(columns.time.min - 8.0, y);
    let (font, ink) = (theme::text(11.0), view.palette.subdued);
    ui.painter().text(at, Align2::RIGHT_CENTER, text, font, ink);
}
