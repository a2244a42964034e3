//! Pictures over time: ruler, input, target and output, the weightings of every head, adds and reads.

use egui::{Align2, FontId, Rangef, Rect, Sense, Ui, pos2};

use super::centre::Bands;
use super::{Columns, View, interact, scrub};
use crate::math::Series;
use crate::model::{HeadTrace, Role};
use crate::viewer::command::Command;
use crate::viewer::inspect::Target;
use crate::viewer::numbers;
use crate::viewer::rows::Axis;
use crate::viewer::story;
use crate::viewer::theme::{self, Scale};
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::picture::{self, Grid};
use crate::viewer::widget::readout::Readout;

/// Phases and step numbers: the top of the time axis, to click and drag on.
pub fn ruler_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let steps = view.steps();
    let names = Rangef::new(y.min, y.min + 17.0);
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
    if response.dragged() && ui.input(|input| input.modifiers.shift) {
        mark_part(&response, columns, view);
    } else {
        scrub(&response, columns, view);
    }
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, steps);
        let phase = story::phase_at(view.recording(), step);
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
        view.commands.push(Command::LoopRange(range));
    }
}

fn step_numbers(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let steps = view.steps();
    let width = columns.time.span() / steps.max(1) as f32;
    let every = [1, 2, 5, 10, 20, 50, 100, 200]
        .into_iter()
        .find(|&every| every as f32 * width >= 26.0)
        .unwrap_or(500);
    let font = theme::mono(10.0);
    let current = view.step();
    let place = columns.step(current, steps).center();
    for step in (0..steps).step_by(every) {
        let x = columns.step(step, steps).center();
        // The current number has the room to itself.
        if step != current && (x - place).abs() > 22.0 {
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
    gutter_text(ui, columns, y.center(), "step", view);
}

/// Input, target and output.
pub fn strips_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let recording = view.recording();
    let (episode, trace) = (&recording.episode, &recording.trace);
    let inputs = trace.input.width();
    let outputs = trace.output.width();
    let input = |t: usize, channel: usize| trace.input.row(t)[channel];
    strip_ui(ui, columns, bands.input, "input", inputs, &input, view);
    let target = |t: usize, channel: usize| episode.target[[t, channel]];
    strip_ui(ui, columns, bands.target, "target", outputs, &target, view);
    let output = |t: usize, channel: usize| trace.output.row(t)[channel];
    strip_ui(ui, columns, bands.output, "output", outputs, &output, view);
    for y in [bands.target, bands.output] {
        unscored(ui, columns, y, view);
    }
    wrong_bits(ui, columns, bands.output, view);
}

/// A picture whose columns are the steps of the episode.
pub struct TimePicture<'a> {
    /// What it shows.
    pub name: &'a str,
    /// Where it stands.
    pub rect: Rect,
    /// A column per step.
    pub grid: Grid<'a>,
    /// What is said about a step and a row of the picture.
    pub readout: &'a dyn Fn(usize, usize) -> Readout,
}

impl TimePicture<'_> {
    /// Draws it, scrubs with it and reads it out; a click keeps the `target` of its row in view. Returns
    /// the row under the pointer.
    pub fn ui(
        &self,
        ui: &mut Ui,
        columns: &Columns,
        view: &mut View<'_>,
        target: &dyn Fn(usize) -> Target,
    ) -> Option<usize> {
        let size = self.rect.size().into();
        let (palette, serial) = (view.palette, view.open.serial);
        let texture = view
            .textures
            .get(ui.ctx(), self.name, serial, size, palette, &self.grid);
        picture::paint(ui.painter(), self.rect, texture);
        frame(ui, self.rect, view);
        let response = interact(ui, self.rect, self.name, "over time");
        scrub(&response, columns, view);
        if let Some(position) = pointer(&response)
            && let Some((step, row)) = self.grid.cell_at(self.rect, position)
        {
            *view.readout = Some((self.readout)(step, row));
            if response.clicked() {
                view.commands.push(Command::Select(target(row)));
            }
            return Some(row);
        }
        None
    }
}

/// The pointer, when it is over this picture and nothing is in between.
pub fn pointer(response: &egui::Response) -> Option<egui::Pos2> {
    if response.contains_pointer() || response.dragged() {
        response.ctx.pointer_latest_pos()
    } else {
        None
    }
}

/// A hairline about a picture.
pub fn frame(ui: &Ui, rect: Rect, view: &View<'_>) {
    let (stroke, kind) = (view.palette.hairline(), egui::StrokeKind::Outside);
    ui.painter().rect_stroke(rect, 0.0, stroke, kind);
}

fn strip_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    name: &str,
    channels: usize,
    value: &dyn Fn(usize, usize) -> f32,
    view: &mut View<'_>,
) {
    let task = view.recording().task.clone();
    let channel_name = |channel: usize| match name {
        "input" => task.input_name(channel),
        _ => task.output_name(channel),
    };
    let meaning = match name {
        "input" => "what the machine sees",
        "target" => "what it should answer",
        _ => "what it answers: the probability of a 1",
    };
    let readout = |t: usize, channel: usize| Readout {
        place: format!("{name}  step {t}  {}", channel_name(channel)),
        value: numbers::exact(value(t, channel)),
        meaning: meaning.to_owned(),
    };
    let picture = TimePicture {
        name,
        rect: Rect::from_x_y_ranges(columns.time, y),
        grid: Grid {
            columns: view.steps(),
            rows: channels,
            scale: Scale::Bits,
            value,
        },
        readout: &readout,
    };
    picture.ui(ui, columns, view, &|_| Target::Step);
    gutter_text(ui, columns, y.center(), name, view);
}

/// A veil over the steps in which nothing is asked.
fn unscored(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let mask = &view.recording().episode.mask;
    let mut start = 0;
    for run in mask.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0)) {
        let end = start + run.len();
        if run[0] <= 0.0 {
            let x = Rangef::new(
                columns.step(start, mask.len()).min,
                columns.step(end, mask.len()).min,
            );
            let veil = view.palette.background.gamma_multiply(0.55);
            let rect = Rect::from_x_y_ranges(x, y);
            ui.painter().rect_filled(rect, 0.0, veil);
        }
        start = end;
    }
}

/// Marks the output bits on the wrong side of one half.
fn wrong_bits(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let recording = view.recording();
    let (episode, trace) = (&recording.episode, &recording.trace);
    let channels = trace.output.width();
    let height = y.span() / channels.max(1) as f32;
    let stroke = egui::Stroke::new(1.0, view.palette.warning);
    // Where several steps share a pixel, one mark stands for them: a long episode costs no more.
    let mut marked = vec![f32::NEG_INFINITY; channels];
    for t in (0..trace.steps()).filter(|&t| episode.mask[t] > 0.0) {
        let wrong = trace.logit.row(t).iter().zip(episode.target.row(t));
        for (channel, _) in wrong
            .enumerate()
            .filter(|(_, (z, target))| (**z > 0.0) != (**target > 0.5))
        {
            let top = y.min + channel as f32 * height;
            let x = columns.step(t, trace.steps());
            if x.max - marked[channel] < 1.0 {
                continue;
            }
            marked[channel] = x.max;
            let cell = Rect::from_x_y_ranges(
                Rangef::new(x.min, x.max.max(x.min + 1.0)),
                Rangef::new(top, top + height),
            );
            let kind = egui::StrokeKind::Inside;
            ui.painter().rect_stroke(cell, 0.0, stroke, kind);
        }
    }
}

/// The weightings of every head over time: the one looked at on the address axis, the others below.
pub fn lanes_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    lane_ui(ui, columns, axis, view.focus, true, view);
    row_numbers(ui, columns, axis, view);
    let others: Vec<usize> = (0..view.trace().heads.len())
        .filter(|&head| head != view.focus)
        .collect();
    if others.is_empty() {
        return;
    }
    let most = ((bands.others.span() / 30.0) as usize).max(1);
    let shown = others.len().min(most);
    let height = bands.others.span() / shown as f32;
    for (index, &head) in others.iter().take(shown).enumerate() {
        let top = bands.others.min + index as f32 * height;
        let gap = if index + 1 < shown { 5.0 } else { 0.0 };
        let axis = view.rows.place(Rangef::new(top, top + height - gap));
        lane_ui(ui, columns, &axis, head, false, view);
    }
}

fn lane_ui(
    ui: &mut Ui,
    columns: &Columns,
    axis: &Axis,
    head: usize,
    focused: bool,
    view: &mut View<'_>,
) {
    let recording = view.recording();
    let trace = &recording.trace.heads[head];
    let label = story::head_label(recording, head);
    let rows = view.rows.numbers();
    let value = |t: usize, index: usize| trace.weighting.row(t)[rows[index]];
    let grid = Grid {
        columns: view.steps(),
        rows: rows.len(),
        scale: Scale::Weighting,
        value: &value,
    };
    let y = Rangef::new(
        axis.runs.first().map_or(0.0, |(_, place)| place.min),
        axis.runs.last().map_or(0.0, |(_, place)| place.max),
    );
    let name = format!("weighting of {label}");
    let key = (view.open.serial, head, view.touched_only);
    let slot = format!("lane {focused} {head}");
    let size = [columns.time.span(), y.span()];
    let texture = view
        .textures
        .get(ui.ctx(), &slot, key, size, view.palette, &grid);
    picture::paint_rows(ui.painter(), columns.time, axis, texture, 1.0);
    gaps(ui, columns.time, axis, focused, view);
    let rect = Rect::from_x_y_ranges(columns.time, Rangef::new(y.min, axis.bottom().max(y.max)));
    frame(ui, rect, view);
    let response = interact(ui, rect, &name, "memory rows over time");
    scrub(&response, columns, view);
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
    {
        if response.clicked() {
            view.commands.push(Command::Focus(head));
            view.commands.push(Command::Select(Target::Row(row)));
        }
        let t = columns.step_at(position.x, view.steps());
        *view.row = Some(row);
        *view.readout = Some(Readout {
            place: format!("{label}  step {t}  row {row}"),
            value: numbers::exact(trace.weighting.row(t)[row]),
            meaning: "weighting w".to_owned(),
        });
    }
    lane_name(ui, columns, rect.y_range(), head, focused, trace, view);
}

/// The sign and the label of a head in the gutter; a click looks at it.
fn lane_name(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    head: usize,
    focused: bool,
    trace: &HeadTrace<f32>,
    view: &mut View<'_>,
) {
    let label = story::head_label(view.recording(), head);
    let color = view.palette.head(head);
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
    let name = format!("Look at {label}");
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, focused, &name));
    focus_ring(ui, &response);
    if response.clicked() {
        view.commands.push(Command::Focus(head));
    }
}

/// Marks for the rows left out.
pub fn gaps(ui: &Ui, x: Rangef, axis: &Axis, words: bool, view: &View<'_>) {
    for (rows, place) in &axis.gaps {
        if place.span() < 4.0 {
            continue;
        }
        let rect = Rect::from_x_y_ranges(x, *place);
        let painter = ui.painter();
        painter.rect_filled(rect, 0.0, view.palette.raised);
        if words && rect.width() > 120.0 {
            let text = match rows {
                1 => "1 untouched row".to_owned(),
                n => format!("{n} untouched rows"),
            };
            let (font, ink) = (theme::text(10.0), view.palette.subdued);
            painter.text(rect.center(), Align2::CENTER_CENTER, text, font, ink);
        }
    }
}

/// True row numbers beside the address axis.
fn row_numbers(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let every = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
        .into_iter()
        .find(|&every| every as f32 * axis.height >= 13.0)
        .unwrap_or(2048);
    let font: FontId = theme::mono(10.0);
    for x in [columns.time.min, columns.stages.min, columns.memory.min] {
        for (rows, _) in &axis.runs {
            for row in (rows.start.next_multiple_of(every)..rows.end).step_by(every) {
                let Some(place) = axis.place_of(row) else {
                    continue;
                };
                let ink = if view.row_before == Some(row) {
                    view.palette.strong
                } else {
                    view.palette.subdued
                };
                let at = pos2(x - 6.0, place.center());
                ui.painter()
                    .text(at, Align2::RIGHT_CENTER, row, font.clone(), ink);
            }
        }
    }
}

/// What is added to the memory and what is read from it, over time.
pub fn vectors_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, view: &mut View<'_>) {
    let recording = view.recording();
    let heads = &recording.trace.heads;
    let chosen = |write: bool| {
        let fits = |head: &usize| heads[*head].is_write() == write;
        Some(view.focus)
            .filter(|head| *head < heads.len() && fits(head))
            .or_else(|| (0..heads.len()).find(fits))
    };
    let (write, read) = (chosen(true), chosen(false));
    if let Some(head) = write
        && let Role::Write { add, .. } = &heads[head].role
    {
        let label = story::head_label(recording, head);
        vector_ui(
            ui,
            columns,
            bands.adds,
            ("adds", &label, "add a"),
            add,
            view.open.vector_scale,
            view,
        );
    }
    if let Some(head) = read
        && let Role::Read { read } = &heads[head].role
    {
        let label = story::head_label(recording, head);
        vector_ui(
            ui,
            columns,
            bands.reads,
            ("reads", &label, "read r"),
            read,
            view.open.memory_scale,
            view,
        );
    }
}

fn vector_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    (name, label, meaning): (&str, &str, &str),
    series: &Series<f32>,
    scale: Scale,
    view: &mut View<'_>,
) {
    let value = |t: usize, column: usize| series.row(t)[column];
    let readout = |t: usize, column: usize| Readout {
        place: format!("{label}  step {t}  column {column}"),
        value: numbers::exact(value(t, column)),
        meaning: meaning.to_owned(),
    };
    // The focus may change which head this is: the name carries the label.
    let picture_name = format!("{name} of {label}");
    let picture = TimePicture {
        name: &picture_name,
        rect: Rect::from_x_y_ranges(columns.time, y),
        grid: Grid {
            columns: view.steps(),
            rows: series.width(),
            scale,
            value: &value,
        },
        readout: &readout,
    };
    picture.ui(ui, columns, view, &|_| Target::Step);
    gutter_text(ui, columns, y.center() - 6.0, name, view);
    gutter_text(ui, columns, y.center() + 7.0, label, view);
}

/// A word in the gutter, beside a picture.
fn gutter_text(ui: &Ui, columns: &Columns, y: f32, text: &str, view: &View<'_>) {
    let at = pos2(columns.time.min - 8.0, y);
    let (font, ink) = (theme::text(11.0), view.palette.subdued);
    ui.painter().text(at, Align2::RIGHT_CENTER, text, font, ink);
}
