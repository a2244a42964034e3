//! Pictures along the address axis: the memory with the signs of the heads, and below it the vectors of
//! the moment.

use egui::{Align2, Rangef, Rect, Sense, Stroke, Ui, pos2, vec2};

use super::heads;
use super::parts::{Bands, dashed, frame, gaps, pointer, quiet_text, rows_range, veil};
use super::pipeline::as_bars;
use super::sheet::Sheet;
use super::time::source;
use super::{Columns, View, interact};
use crate::figure::catalogue::Source;
use crate::figure::facts::{MemoryAt, head_mark};
use crate::figure::{PanelId, Picture, numbers};
use crate::viewer::command::{Command, Look};
use crate::viewer::inspect;
use crate::viewer::rows::Axis;
use crate::viewer::state::target::Target;
use crate::viewer::story;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::picture::{self, Grid};
use crate::viewer::widget::readout::Readout;

/// The memory at the stage of the step that is on screen.
fn memory_now<'a>(view: &View<'a>) -> MemoryAt<'a> {
    let (trace, stages) = (view.trace(), &view.open.stages);
    MemoryAt::new(trace, stages, view.step(), view.player.stage())
}

/// Which memory is on screen, and how large it is.
fn memory_heading(ui: &Ui, columns: &Columns, bands: &Bands, view: &View<'_>) {
    let (painter, top) = (ui.painter(), bands.ruler.min + 8.0);
    let font = theme::heading(11.0);
    let (memory, words) = (memory_now(view).name(), memory_now(view).words());
    let left = columns.memory.min;
    let used = painter.text(
        pos2(left, top),
        Align2::LEFT_CENTER,
        "MEMORY",
        font,
        view.palette.subdued,
    );
    let galley = painter.layout_no_wrap(memory, theme::mono(11.0), view.palette.text);
    // Where both do not fit beside each other, which memory it is goes to the line below.
    let fits = used.right() + 8.0 + galley.size().x <= columns.marks.max;
    let corner = if fits {
        pos2(used.right() + 8.0, top - galley.size().y / 2.0)
    } else {
        pos2(left, top + 16.0 - galley.size().y / 2.0)
    };
    painter.galley(corner, galley, view.palette.text);
    let words = if fits { words } else { "" };
    let at = pos2(left, top + 16.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        words,
        theme::text(11.0),
        view.palette.subdued,
    );
    let [n, m] = view.trace().memory_size();
    let shown = view.rows.numbers();
    let size = match (shown.first(), shown.last()) {
        (Some(first), Some(last)) if columns.minimap.is_some() => {
            let follow = if view.state.sight.zoom.follow {
                ", follows"
            } else {
                ""
            };
            format!("rows {first} to {last} of {n}{follow}")
        }
        _ => format!("{n} rows × {m} columns"),
    };
    let at = pos2(left, top + 32.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        size,
        theme::text(11.0),
        view.palette.subdued,
    );
}

/// The memory matrix, with the signs of the heads beside it.
pub fn memory_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    memory_heading(ui, columns, bands, view);
    let now = memory_now(view);
    let memory = |row: usize, column: usize| now.value(row, column);
    let (rows, width) = (view.rows.numbers(), now.columns());
    let version = (view.open.serial, now.id(), view.rows.id());
    let scale = view.open.scales.memory;
    let size = [columns.memory.span(), rows_range(axis).span()];
    let mut textures = std::mem::take(view.textures);
    let grid = Grid {
        columns: width,
        rows: rows.len(),
        scale,
        value: &|column, index| memory(rows[index], column),
    };
    let texture = textures.get(ui.ctx(), "memory", version, size, view.palette, &grid);
    *view.textures = textures;
    picture::paint_rows(ui.painter(), columns.memory, axis, texture, 1.0);
    memory_numbers(ui, columns, axis, width, view);
    gaps(ui, columns.memory, axis, false, view);
    let rect = Rect::from_x_y_ranges(columns.memory, rows_range(axis));
    frame(ui, rect, view);
    veil(ui, rect, memory(0, 0), view);
    let response = interact(ui, rect, "memory", "rows down, columns across");
    let cell = pointer(&response).and_then(|at| {
        let share = (at.x - rect.left()) / rect.width().max(1.0);
        let column = ((share * width as f32).max(0.0) as usize).min(width.checked_sub(1)?);
        Some((axis.row_at(at.y)?, column))
    });
    let (name, words, total) = (now.name(), now.words(), view.rows.total());
    let mut commands = std::mem::take(view.commands);
    let sheet = Sheet {
        name: &name,
        lines: ("row", total),
        columns: ("column", width),
        names: &[],
        value: &memory,
    };
    sheet.menu(&response, cell, &mut commands);
    *view.commands = commands;
    if let Some((row, column)) = cell {
        *view.row = Some(row);
        if response.clicked() {
            view.commands
                .push(Command::Look(Look::Select(Target::Cell { row, column })));
        }
        *view.readout = Some(Readout {
            place: format!("{name}  row {row}  column {column}"),
            value: numbers::exact(memory(row, column)),
            meaning: words.to_owned(),
        });
    }
    marks(ui, columns, axis, view);
}

/// The numbers in the cells of the memory, where they have room.
fn memory_numbers(ui: &Ui, columns: &Columns, axis: &Axis, width: usize, view: &View<'_>) {
    let each = columns.memory.span() / width.max(1) as f32;
    if axis.height < 16.0 || each < 34.0 {
        return;
    }
    let memory = memory_now(view);
    for &row in view.rows.numbers() {
        let Some(place) = axis.place_of(row) else {
            continue;
        };
        for column in 0..width {
            let value = memory.value(row, column);
            let ink = Palette::text_on(view.palette.color(view.open.scales.memory, value));
            let at = pos2(
                columns.memory.min + (column + 1) as f32 * each - 4.0,
                place.center(),
            );
            let (text, font) = (numbers::cell(value), theme::mono(10.0));
            ui.painter().text(at, Align2::RIGHT_CENTER, text, font, ink);
        }
    }
}

/// Where each head has its peak: a sign and a label beside the memory.
fn marks(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let now = (view.step(), view.player.stage());
    let heads = 0..view.trace().heads.len();
    let marks = heads.filter_map(|head| head_mark(view.trace(), &view.open.stages, now, head));
    let peaks = marks.filter_map(|mark| Some((axis.place_of(mark.row)?.center(), mark)));
    let mut peaks: Vec<_> = peaks.collect();
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Labels of neighbouring rows make room for each other, within the height of the picture; a line
    // leads to the row.
    let rows = rows_range(axis);
    let pitch = (rows.span() / peaks.len().max(1) as f32).clamp(6.0, 13.0);
    let mut free = f32::NEG_INFINITY;
    for (place, (height, mark)) in peaks.iter().enumerate() {
        let below = (peaks.len() - 1 - place) as f32 * pitch;
        let middle = height.min(rows.max - below).max(free);
        free = middle + pitch;
        let left = columns.marks.min + 8.0;
        let strength = 0.35 + 0.65 * mark.weight.clamp(0.0, 1.0);
        let color = view.palette.head(mark.name).gamma_multiply(strength);
        let painter = ui.painter();
        let line = [pos2(columns.memory.max + 1.0, *height), pos2(left, middle)];
        painter.extend(dashed(&line, Stroke::new(1.0, color), mark.name));
        let sign = pos2(left + 7.0, middle);
        head_sign(painter, sign, 11.0, mark.name.is_write, color);
        let (font, ink) = (theme::heading(10.5), view.palette.text);
        let at = pos2(left + 15.0, middle);
        painter.text(at, Align2::LEFT_CENTER, mark.name, font, ink);
    }
}

/// The vectors of the moment under the memory, column under column, and the legends.
pub fn moment_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let Some(head) = view.head() else { return };
    let label = story::head_label(view.recording(), view.focus);
    let mut top = if bands.others.span() > 0.0 {
        bands.others.min
    } else {
        bands.adds.min
    };
    let start = top;
    let of_head = |picture| PanelId::of(picture, view.focus);
    let own = if head.is_write() {
        vec![Picture::Keys, Picture::Erases, Picture::Adds]
    } else {
        vec![Picture::Keys, Picture::Reads]
    };
    let of_all = [Picture::Input, Picture::Output, Picture::Target];
    let now = |id| source(id, view);
    let lines: Vec<_> = own.into_iter().map(of_head).filter_map(now).collect();
    let of_the_step: Vec<_> = of_all
        .into_iter()
        .map(PanelId::new)
        .filter_map(now)
        .collect();
    let bottom = bands.reads.max;
    // In a low window the lines move together before they give way.
    let count = (lines.len() + of_the_step.len()) as f32;
    let pitch = ((bottom - top - 6.0) / count).clamp(11.0, 22.0);
    let (height, between) = (
        (pitch * 0.66).min(14.0),
        if pitch < 22.0 { 6.0 } else { 12.0 },
    );
    for (label, group) in [(label.as_str(), &lines[..]), ("machine", &of_the_step[..])] {
        if top + group.len() as f32 * pitch > bottom + 8.0 {
            break;
        }
        for now in group {
            let y = Rangef::new(top, top + height);
            vector_now(ui, columns, y, label, now, view);
            top += pitch;
        }
        top += between;
    }
    let strips = if as_bars(axis, view) { 6.0 } else { 20.0 };
    let room = Rangef::new(top + 4.0, bottom);
    below_stages(ui, columns, Rangef::new(start + strips, bottom), room, view);
}

/// What all heads emit, and what the colours mean in the room that is left.
fn below_stages(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    below_vectors: Rangef,
    view: &mut View<'_>,
) {
    // The names of the vectors stand left of them.
    let x = Rangef::new(columns.stages.min, columns.memory.min - 58.0);
    let height = heads::table_height(view.trace().heads.len(), y.span());
    let table = Rangef::new(y.min, (y.min + height).min(y.max));
    heads::table_ui(ui, x, table, view);
    let left = Rangef::new(table.max + 10.0, y.max);
    for (x, y, across) in [(x, left, 2), (columns.memory, below_vectors, 1)] {
        if legends(ui, x, y, across, view) {
            return;
        }
    }
    let corner = if left.span() >= 18.0 {
        pos2(x.min, left.max)
    } else {
        pos2(columns.memory.min, y.max)
    };
    legends_on_demand(ui, corner, view);
}

/// A quantity at the step.
fn vector_now(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    label: &str,
    source: &Source<'_>,
    view: &mut View<'_>,
) {
    let (rect, step) = (Rect::from_x_y_ranges(columns.memory, y), view.step());
    let grid = Grid {
        columns: source.rows,
        rows: 1,
        scale: source.scale,
        value: &|column, _| source.value(step, column),
    };
    let version = (view.open.serial, step, view.focus);
    let name = source.told();
    let (size, slot) = (rect.size().into(), format!("now {name}"));
    let texture = view
        .textures
        .get(ui.ctx(), &slot, version, size, view.palette, &grid);
    picture::paint(ui.painter(), rect, texture);
    frame(ui, rect, view);
    veil(ui, rect, source.value(step, 0), view);
    let at = pos2(rect.left() - 8.0, y.center());
    let (font, ink) = (theme::text(11.0), view.palette.subdued);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, &name, font, ink);
    let response = interact(ui, rect, &format!("{label} {name}"), "at this step");
    let cell = pointer(&response).and_then(|at| grid.cell_at(rect, at));
    let column = cell.map(|(column, _)| column);
    let sheet = Sheet {
        name: &format!("{label} {name}"),
        lines: ("step", view.steps()),
        columns: ("column", source.rows),
        names: &[],
        value: &|t, column| source.value(t, column),
    };
    sheet.menu(
        &response,
        column.map(|column| (step, column)),
        view.commands,
    );
    let Some(column) = column else { return };
    let target = Target::Value {
        id: source.id,
        column,
    };
    if response.clicked() {
        view.commands.push(Command::Look(Look::Select(target)));
    }
    let card = target.card(view.open, view.focus, step);
    *view.readout = Some(Readout {
        place: format!("{label}  step {step}  {name}  column {column}"),
        value: numbers::exact(source.value(step, column)),
        meaning: card.map_or(String::new(), |card| inspect::vector::told(&card)),
    });
}

/// What the colours mean, so many legends beside each other; false where there is no room for them.
fn legends(ui: &Ui, x: Rangef, y: Rangef, across: usize, view: &View<'_>) -> bool {
    const FOOTNOTE: f32 = 14.0;
    let entries = [
        ("weighting", view.weighting_scale),
        ("bit, erase", Scale::Bits),
        ("memory, read", view.open.scales.memory),
        ("key, add", view.open.scales.vector),
    ];
    let lines = entries.len().div_ceil(across);
    let width = (x.span() + 16.0) / across as f32 - 16.0;
    let with_footnote = (y.span() - FOOTNOTE) / lines as f32;
    let each = if with_footnote >= 22.0 {
        with_footnote.min(32.0)
    } else {
        y.span() / lines as f32
    };
    if each < 22.0 || width < 60.0 {
        return false;
    }
    for (index, (name, scale)) in entries.into_iter().enumerate() {
        let left = x.min + (index % across) as f32 * (width + 16.0);
        let at = pos2(left, y.min + 12.0 + (index / across) as f32 * each);
        legend(ui, at, width, name, scale, view);
    }
    if with_footnote >= 22.0 {
        let at = pos2(x.min, y.min + 8.0 + lines as f32 * each);
        let words = if across > 1 {
            "± scales: largest value, fixed for this episode"
        } else {
            "± fixed for this episode"
        };
        quiet_text(ui, at, Align2::LEFT_CENTER, words, theme::text(10.0), view);
    }
    true
}

/// A word that shows the legends when it is pointed at or clicked, its lower left corner here.
fn legends_on_demand(ui: &mut Ui, at: egui::Pos2, view: &View<'_>) {
    let rect = Rect::from_min_max(at - vec2(0.0, 16.0), at + vec2(70.0, 0.0));
    let response = ui.interact(rect, ui.scope_id().with("legends"), Sense::click());
    let name = "What the colours mean";
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    let (font, ink) = (theme::text(10.5), view.palette.accent);
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        "colours …",
        font,
        ink,
    );
    focus_ring(ui, &response);
    let show = |ui: &mut Ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(300.0, 78.0), Sense::hover());
        legends(ui, rect.x_range(), rect.y_range(), 2, view);
    };
    egui::Popup::from_toggle_button_response(&response).show(show);
    response.on_hover_ui(show);
}

/// What the colours of one scale mean.
pub fn legend(ui: &Ui, at: egui::Pos2, width: f32, name: &str, scale: Scale, view: &View<'_>) {
    let painter = ui.painter();
    let (low, high) = scale.ends();
    let font = theme::mono(10.0);
    let ink = view.palette.subdued;
    let text = |value: f32| numbers::exact((value * 1000.0).round() / 1000.0);
    painter.text(at, Align2::LEFT_BOTTOM, name, theme::text(10.5), ink);
    let ends = match scale {
        Scale::LogWeighting => "1e−6 … 1".to_owned(),
        Scale::Signed(_) => format!("±{}", text(high)),
        _ => format!("{} to {}", text(low), text(high)),
    };
    let right = pos2(at.x + width, at.y);
    painter.text(right, Align2::RIGHT_BOTTOM, ends, font, ink);
    let bar = Rect::from_min_size(at + vec2(0.0, 2.0), vec2(width, 8.0));
    let parts = 64;
    let part = bar.width() / parts as f32;
    for index in 0..parts {
        let value = scale.at((index as f32 + 0.5) / parts as f32);
        let left = bar.left() + index as f32 * part;
        let cell = Rect::from_min_size(pos2(left, bar.top()), vec2(part + 0.5, bar.height()));
        painter.rect_filled(cell, 0.0, view.palette.color(scale, value));
    }
    painter.rect_stroke(bar, 0.0, view.palette.hairline(), egui::StrokeKind::Outside);
}

/// A faint line through all pictures at the row under the pointer and at the one kept in view: one address, one height.
pub fn row_cursor(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let x = Rangef::new(columns.time.min, columns.memory.max);
    for (row, strength) in view.rows_lit() {
        let Some(place) = axis.place_of(row) else {
            continue;
        };
        let ink = view.palette.strong.gamma_multiply(strength);
        let place = Rangef::new(place.min, place.max.max(place.min + 1.0));
        ui.painter()
            .rect_filled(Rect::from_x_y_ranges(x, place), 0.0, ink);
    }
}
