//! Pictures along the address axis: the stages of the addressing, the memory, and the vectors of the
//! moment below it.

use egui::text::LayoutJob;
use egui::{Align2, FontId, Pos2, Rangef, Rect, Sense, Stroke, Ui, pos2, vec2};

use super::centre::Bands;
use super::time::{frame, gaps, pointer};
use super::{Columns, View, interact};
use crate::model::{HeadTrace, Role};
use crate::player::Stage;
use crate::viewer::command::Command;
use crate::viewer::inspect::{self, Target};
use crate::viewer::numbers;
use crate::viewer::rows::Axis;
use crate::viewer::story;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::picture::{self, Grid};
use crate::viewer::widget::readout::Readout;

/// Opacity of what has not happened yet.
const TO_COME: f32 = 0.25;
/// Room under the rows for the largest value of each column, in points.
const FOOT: f32 = 12.0;
/// Rows at least this tall are drawn as bars, in points.
const BAR_ROW: f32 = 3.0;
/// Height of the names and numbers over a column, in points.
const COLUMN_HEAD: f32 = 50.0;
/// Height of a line of the sentence, in points.
const LINE: f32 = 15.5;
/// Most rows drawn as bars.
const MOST_BARS: usize = 200;

/// One column of the addressing.
struct Column<'a> {
    symbol: &'static str,
    words: &'static str,
    parameter: String,
    stage: Stage,
    values: &'a [f32],
    signed: bool,
    equation: &'static str,
}

/// Symbol, words, stage and equation of each column.
const COLUMNS: [(&str, &str, Stage, &str); 6] = [
    (
        "wₜ₋₁",
        "before",
        Stage::Controller,
        "the weighting of the step before",
    ),
    (
        "cos",
        "match",
        Stage::Content,
        "cosine of the key k with each row of M, −1 to 1  (6)",
    ),
    (
        "wᶜ",
        "content",
        Stage::Content,
        "wᶜ = softmax(β · cosine)  (5)",
    ),
    (
        "wᵍ",
        "gate",
        Stage::Gate,
        "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁  (7)",
    ),
    (
        "w\u{303}",
        "shift",
        Stage::Shift,
        "w\u{303}(i) = Σ wᵍ(j) · s(i − j), round the end  (8)",
    ),
    (
        "w",
        "sharpen",
        Stage::Sharpen,
        "w = w\u{303}^γ, made to sum to 1  (9)",
    ),
];

fn columns_of(head: &HeadTrace<f32>, step: usize) -> [Column<'_>; 6] {
    let (strength, gate, sharpening) = (
        numbers::fit(head.strength[step], 2, 4),
        numbers::cell(head.gate[step]),
        numbers::fit(head.sharpening[step], 2, 4),
    );
    let shift = story::main_shift(head, step).map_or(String::new(), |(by, mass)| {
        format!("{} {}", story::signed(by), numbers::cell(mass))
    });
    let mut parameters = [
        String::new(),
        "key k".to_owned(),
        format!("β {}", strength.trim_start()),
        format!("g {}", gate.trim_start()),
        shift,
        format!("γ {}", sharpening.trim_start()),
    ];
    let values = inspect::stages(head, step);
    std::array::from_fn(|index| {
        let (symbol, words, stage, equation) = COLUMNS[index];
        Column {
            symbol,
            words,
            parameter: std::mem::take(&mut parameters[index]),
            stage,
            values: values[index],
            signed: symbol == "cos",
            equation,
        }
    })
}

/// The stages of the head looked at, and the final weighting of each other head as a thin column.
pub fn stages_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let Some(head) = view.head() else { return };
    let step = view.step();
    let others: Vec<usize> = (0..view.trace().heads.len())
        .filter(|&other| other != view.focus)
        .take(4)
        .collect();
    let thin = 16.0;
    let width = columns.stages.span() - others.len() as f32 * (thin + 4.0);
    let (gap, count) = (6.0, 6.0);
    let each = ((width - (count - 1.0) * gap) / count).max(1.0);
    for (index, column) in columns_of(head, step).iter().enumerate() {
        let left = columns.stages.min + index as f32 * (each + gap);
        let x = Rangef::new(left, left + each);
        column_head(ui, x, bands, column, view);
        column_ui(ui, x, axis, column, view);
    }
    let at = pos2(columns.stages.min - 6.0, rows_range(axis).max + 2.0);
    quiet_text(ui, at, Align2::RIGHT_TOP, "max", theme::text(9.5), view);
    if !as_bars(axis, view) {
        let at = pos2(columns.stages.min, rows_range(axis).max + FOOT + 2.0);
        let words = "colour strips: too many rows for bars";
        quiet_text(ui, at, Align2::LEFT_TOP, words, theme::text(10.5), view);
    }
    for (index, &other) in others.iter().enumerate() {
        let left = columns.stages.min + width + index as f32 * (thin + 4.0) + 4.0;
        let x = Rangef::new(left, left + thin);
        other_head_ui(ui, x, axis, other, view);
    }
    heading(ui, columns, bands, view);
}

/// `Addressing of W0 at step 12`, and what is beside it.
fn heading(ui: &Ui, columns: &Columns, bands: &Bands, view: &View<'_>) {
    let painter = ui.painter();
    let top = bands.ruler.min + 8.0;
    let label = story::head_label(view.recording(), view.focus);
    let write = view.head().is_some_and(HeadTrace::is_write);
    let left = columns.stages.min;
    head_sign(
        painter,
        pos2(left + 6.0, top),
        13.0,
        write,
        view.palette.head(view.focus),
    );
    let text = format!("{label}  ADDRESSING");
    let font = theme::heading(11.0);
    painter.text(
        pos2(left + 18.0, top),
        Align2::LEFT_CENTER,
        text,
        font.clone(),
        view.palette.subdued,
    );
    let room = Rangef::new(top + 10.0, bands.rows.min - COLUMN_HEAD - 8.0);
    caption(ui, columns.stages, room, view);
    let (memory, words) = memory_shown(view);
    let left = columns.memory.min;
    let used = painter.text(
        pos2(left, top),
        Align2::LEFT_CENTER,
        "MEMORY",
        font,
        view.palette.subdued,
    );
    let at = pos2(used.right() + 8.0, top);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        memory,
        theme::mono(11.0),
        view.palette.text,
    );
    let at = pos2(left, top + 16.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        words,
        theme::text(11.0),
        view.palette.subdued,
    );
    let n = view.rows.total();
    let m = view.trace().memory_columns.width() / n.max(1);
    let size = format!("{n} rows × {m} columns");
    let at = pos2(left, top + 32.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        size,
        theme::text(11.0),
        view.palette.subdued,
    );
}

/// The step or its current stage in words, in as many lines as there is room for; at least one.
pub fn caption(ui: &Ui, x: Rangef, y: Rangef, view: &View<'_>) {
    let (step, stage, painter) = (view.step(), view.player.stage(), ui.painter());
    let (title, text) = if view.player.whole_steps() {
        (
            format!("step {step}  {}", story::phase_at(view.recording(), step)),
            story::whole_step(view.recording(), step, view.focus),
        )
    } else {
        (
            format!(
                "{} of {}  {}",
                view.player.stage_number(),
                view.player.stages().len(),
                stage.name()
            ),
            story::caption(view.recording(), step, stage, view.focus),
        )
    };
    let (left, mut top) = (x.min, y.min);
    let mut lines = (y.span() / LINE) as usize;
    if lines >= 2 {
        let (font, ink) = (theme::heading(12.0), view.palette.accent);
        painter.text(pos2(left, top), Align2::LEFT_TOP, title, font, ink);
        top += LINE;
        lines -= 1;
    }
    let ink = view.palette.text;
    let width = x.span().max(120.0);
    let mut job = LayoutJob::simple(text.clone(), theme::text(12.0), ink, width);
    job.wrap.max_rows = lines.clamp(1, 4);
    let galley = painter.layout_job(job);
    let rect = Rect::from_min_size(pos2(left, top), vec2(width, galley.size().y));
    let elided = galley.elided;
    painter.galley(rect.min, galley, ink);
    let response = ui.interact(rect, ui.scope_id().with("sentence"), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &text));
    if elided {
        response.on_hover_text(text);
    }
}

/// Name, symbol and parameter over a column.
fn column_head(ui: &mut Ui, x: Rangef, bands: &Bands, column: &Column<'_>, view: &mut View<'_>) {
    let bottom = bands.rows.min - 8.0;
    let done = column.stage <= view.player.stage();
    let current = column.stage == view.player.stage();
    let fade = if done { 1.0 } else { 0.45 };
    let painter = ui.painter().clone();
    let middle = x.center();
    let line = |up: f32, text: &str, font, ink: egui::Color32| {
        let at = pos2(middle, bottom - up);
        painter.text(
            at,
            Align2::CENTER_BOTTOM,
            text,
            font,
            ink.gamma_multiply(fade),
        );
    };
    let words = if current {
        view.palette.accent
    } else {
        view.palette.subdued
    };
    let narrow = x.span() < 37.0;
    let number = theme::mono(if x.span() < 46.0 { 10.0 } else { 11.0 });
    // Where there is little room the number matters, its symbol is in the equation.
    let parameter = match column.parameter.split_once(' ') {
        Some((by, _)) if narrow && column.stage == Stage::Shift => by,
        Some((_, number)) if narrow => number,
        _ => &column.parameter,
    };
    line(0.0, parameter, number, view.palette.strong);
    line(16.0, column.symbol, theme::text(14.0), view.palette.text);
    line(
        35.0,
        column.words,
        theme::text(if narrow { 9.5 } else { 11.0 }),
        words,
    );
    let rect = Rect::from_x_y_ranges(x, Rangef::new(bottom - COLUMN_HEAD, bottom));
    let response = ui.interact(
        rect,
        ui.scope_id().with(("stage", column.symbol)),
        Sense::click(),
    );
    let name = format!("Stage {} {}", column.words, column.symbol);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands.push(Command::SeekStage(column.stage));
    }
    focus_ring(ui, &response);
    response.on_hover_text(column.equation);
}

/// True while rows are tall enough to be bars.
fn as_bars(axis: &Axis, view: &View<'_>) -> bool {
    axis.height >= BAR_ROW && view.rows.shown() <= MOST_BARS
}

/// Words beside the pictures, for the eye and for everyone who has them read aloud.
pub fn quiet_text(ui: &Ui, at: Pos2, align: Align2, text: &str, font: FontId, view: &View<'_>) {
    let rect = ui
        .painter()
        .text(at, align, text, font, view.palette.subdued);
    let response = ui.interact(rect, ui.scope_id().with(text), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
}

/// The largest value of a column, under it: on a scale of 0 to 1 small ones are hard to see.
fn foot(ui: &Ui, x: Rangef, axis: &Axis, column: &Column<'_>, view: &View<'_>) {
    let finite = column
        .values
        .iter()
        .copied()
        .filter(|value| value.is_finite());
    let Some(most) = finite.reduce(f32::max) else {
        return;
    };
    let number = if most.abs() < 0.0995 {
        let text = format!("{most:.3}");
        text.replacen("0.", ".", 1).replace('-', "−")
    } else {
        numbers::cell(most)
    };
    let at = pos2(x.center(), rows_range(axis).max + 2.0);
    let (font, ink) = (theme::mono(9.5), view.palette.subdued);
    let rect = ui
        .painter()
        .text(at, Align2::CENTER_TOP, &number, font, ink);
    let response = ui.interact(
        rect,
        ui.scope_id().with(("foot", column.words)),
        Sense::hover(),
    );
    let words = format!("largest value of {}: {number}", column.words);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    response.on_hover_text(words);
}

fn column_ui(ui: &mut Ui, x: Rangef, axis: &Axis, column: &Column<'_>, view: &mut View<'_>) {
    let opacity = if column.stage <= view.player.stage() {
        1.0
    } else {
        TO_COME
    };
    let color = view.palette.head(view.focus);
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    ui.painter().rect_filled(rect, 0.0, view.palette.well);
    if as_bars(axis, view) {
        bars(ui, x, axis, column, color.gamma_multiply(opacity), view);
    } else {
        strip(ui, x, axis, column, opacity, column.symbol, view);
    }
    gaps(ui, x, axis, false, view);
    frame(ui, rect, view);
    foot(ui, x, axis, column, view);
    let label = story::head_label(view.recording(), view.focus);
    let name = format!("{label} {}", column.words);
    let response = interact(ui, rect, &name, column.equation);
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
    {
        if response.clicked() {
            view.commands.push(Command::Select(Target::Row(row)));
        }
        *view.row = Some(row);
        *view.readout = Some(Readout {
            place: format!(
                "{label}  step {}  row {row}  {}",
                view.step(),
                column.symbol
            ),
            value: numbers::exact(column.values[row]),
            meaning: format!("{}\n{}", column.equation, sum(view, column, row)),
        });
    }
}

/// The equation of a stage with the numbers of this row.
fn sum(view: &View<'_>, column: &Column<'_>, row: usize) -> String {
    let (Some(head), t) = (view.head(), view.step()) else {
        return String::new();
    };
    let n = |value: f32| numbers::short(value, 4);
    match column.symbol {
        "wᵍ" => inspect::gate_sum(
            head.gate[t],
            head.content.row(t)[row],
            head.previous_weighting(t)[row],
        ),
        "w\u{303}" => inspect::shift_sum(head, t, row),
        "w" => format!(
            "{}^{} over the sum of all rows",
            n(head.shifted.row(t)[row]),
            n(head.sharpening[t])
        ),
        _ => String::new(),
    }
}

fn rows_range(axis: &Axis) -> Rangef {
    let first = axis.runs.first().map_or(0.0, |(_, place)| place.min);
    let gap = axis.gaps.first().map_or(first, |(_, place)| place.min);
    Rangef::new(first.min(gap), axis.bottom().max(first))
}

/// A bar per row: its length is the value.
fn bars(
    ui: &Ui,
    x: Rangef,
    axis: &Axis,
    column: &Column<'_>,
    color: egui::Color32,
    view: &View<'_>,
) {
    let painter = ui.painter();
    let zero = if column.signed { x.center() } else { x.min };
    let full = if column.signed {
        x.span() / 2.0
    } else {
        x.span()
    };
    if column.signed {
        painter.vline(zero, rows_range(axis), view.palette.hairline());
    }
    let print = axis.height >= 13.0 && x.span() >= 38.0;
    for &row in view.rows.numbers() {
        let Some(place) = axis.place_of(row) else {
            continue;
        };
        let value = column.values[row];
        let gap = if axis.height >= 6.0 { 1.0 } else { 0.0 };
        let y = Rangef::new(place.min + gap / 2.0, place.max - gap / 2.0);
        if !value.is_finite() {
            let rect = Rect::from_x_y_ranges(x, y);
            painter.rect_filled(rect, 0.0, view.palette.non_finite);
            continue;
        }
        // What is not nothing is at least a hairline.
        let least = if value.abs() >= 0.001 { 1.0 } else { 0.0 };
        let length = (value.abs().min(1.0) * full).max(least);
        let end = zero + length.copysign(value);
        let bar = Rect::from_x_y_ranges(Rangef::new(zero.min(end), zero.max(end)), y);
        painter.rect_filled(bar, 0.0, color);
        if print && value.abs() >= 0.005 {
            cell_number(ui, x, place, value, column.signed, bar, color, view);
        }
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "each is one plain thing about one number"
)]
fn cell_number(
    ui: &Ui,
    x: Rangef,
    place: Rangef,
    value: f32,
    signed: bool,
    bar: Rect,
    color: egui::Color32,
    view: &View<'_>,
) {
    let covered = !signed && bar.width() > x.span() - 24.0;
    let ink = if covered {
        Palette::text_on(color)
    } else {
        view.palette.subdued
    };
    let at = pos2(x.max - 3.0, place.center());
    let text = numbers::cell(value);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, text, theme::mono(9.5), ink);
}

/// A strip of colour: for rows too thin for bars. `slot` is the name of its picture.
fn strip(
    ui: &Ui,
    x: Rangef,
    axis: &Axis,
    column: &Column<'_>,
    opacity: f32,
    slot: &str,
    view: &mut View<'_>,
) {
    let rows = view.rows.numbers();
    let scale = if column.signed {
        Scale::Signed(1.0)
    } else {
        Scale::Weighting
    };
    let grid = Grid {
        columns: 1,
        rows: rows.len(),
        scale,
        value: &|_, index| column.values[rows[index]],
    };
    let version = (view.open.serial, view.step(), view.focus, view.touched_only);
    let size = [1.0, rows_range(axis).span()];
    let texture = view
        .textures
        .get(ui.ctx(), slot, version, size, view.palette, &grid);
    picture::paint_rows(ui.painter(), x, axis, texture, opacity);
}

/// The final weighting of a head that is not looked at, as a thin column; a click looks at it.
fn other_head_ui(ui: &mut Ui, x: Rangef, axis: &Axis, other: usize, view: &mut View<'_>) {
    let head = &view.trace().heads[other];
    let label = story::head_label(view.recording(), other);
    let column = Column {
        symbol: "w",
        words: "final",
        parameter: String::new(),
        stage: Stage::Sharpen,
        values: head.weighting.row(view.step()),
        signed: false,
        equation: "the final weighting of this head",
    };
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    ui.painter().rect_filled(rect, 0.0, view.palette.well);
    if as_bars(axis, view) {
        bars(ui, x, axis, &column, view.palette.head(other), view);
    } else {
        let slot = format!("final {other}");
        strip(ui, x, axis, &column, 1.0, &slot, view);
    }
    gaps(ui, x, axis, false, view);
    frame(ui, rect, view);
    other_head_sign(ui, pos2(x.center(), rect.top() - 10.0), other, view);
    let response = interact(ui, rect, &format!("{label} now"), column.equation);
    if response.clicked() {
        view.commands.push(Command::Focus(other));
    }
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
    {
        *view.row = Some(row);
        *view.readout = Some(Readout {
            place: format!("{label}  step {}  row {row}  w", view.step()),
            value: numbers::exact(column.values[row]),
            meaning: "a click looks at this head".to_owned(),
        });
    }
}

/// Sign and label over the thin column of a head.
fn other_head_sign(ui: &Ui, at: Pos2, head: usize, view: &View<'_>) {
    let write = view.trace().heads[head].is_write();
    let (color, painter) = (view.palette.head(head), ui.painter());
    head_sign(painter, at - vec2(0.0, 13.0), 12.0, write, color);
    let label = story::head_label(view.recording(), head);
    let (font, ink) = (theme::heading(10.5), view.palette.subdued);
    painter.text(at, Align2::CENTER_CENTER, &label, font, ink);
}

/// Which memory is on screen at this stage, as a symbol and in words.
fn memory_shown(view: &View<'_>) -> (String, &'static str) {
    let t = view.step();
    match view.player.stage() {
        Stage::Erase => (format!("M of step {t}"), "after erasing"),
        Stage::Add | Stage::Output => (format!("M of step {t}"), "after writing"),
        _ if t == 0 => ("initial M".to_owned(), "as the heads find it"),
        _ => (format!("M of step {}", t - 1), "as the heads find it"),
    }
}

/// A value of the memory at the current stage.
fn memory_value(view: &View<'_>, row: usize, column: usize) -> f32 {
    let trace = view.trace();
    let t = view.step();
    let at = column * view.rows.total() + row;
    match view.player.stage() {
        Stage::Add | Stage::Output => trace.memory_columns.row(t + 1)[at],
        Stage::Erase => {
            let keep = trace.heads.iter().filter_map(|head| match &head.role {
                Role::Write { erase, .. } => {
                    Some(1.0 - head.weighting.row(t)[row] * erase.row(t)[column])
                }
                Role::Read { .. } => None,
            });
            trace.memory_columns.row(t)[at] * keep.product::<f32>()
        }
        _ => trace.memory_columns.row(t)[at],
    }
}

/// The memory matrix, with the signs of the heads beside it.
pub fn memory_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let _ = bands;
    let rows = view.rows.numbers();
    let width = view.trace().memory_columns.width() / view.rows.total().max(1);
    let after = match view.player.stage() {
        Stage::Erase => 1,
        Stage::Add | Stage::Output => 2,
        _ => 0,
    };
    let version = (view.open.serial, view.step(), after, view.touched_only);
    let scale = view.open.memory_scale;
    let size = [columns.memory.span(), rows_range(axis).span()];
    let mut textures = std::mem::take(view.textures);
    let grid = Grid {
        columns: width,
        rows: rows.len(),
        scale,
        value: &|column, index| memory_value(view, rows[index], column),
    };
    let texture = textures.get(ui.ctx(), "memory", version, size, view.palette, &grid);
    *view.textures = textures;
    picture::paint_rows(ui.painter(), columns.memory, axis, texture, 1.0);
    gaps(ui, columns.memory, axis, false, view);
    let rect = Rect::from_x_y_ranges(columns.memory, rows_range(axis));
    frame(ui, rect, view);
    let response = interact(ui, rect, "memory", "rows down, columns across");
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
        && width > 0
    {
        let share = (position.x - rect.left()) / rect.width().max(1.0);
        let column = ((share * width as f32).max(0.0) as usize).min(width - 1);
        let (memory, words) = memory_shown(view);
        *view.row = Some(row);
        if response.clicked() {
            view.commands
                .push(Command::Select(Target::Cell { row, column }));
        }
        *view.readout = Some(Readout {
            place: format!("{memory}  row {row}  column {column}"),
            value: numbers::exact(memory_value(view, row, column)),
            meaning: words.to_owned(),
        });
    }
    marks(ui, columns, axis, view);
}

/// Where each head has its peak: a sign and a label beside the memory.
fn marks(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let heads = view.trace().heads.iter().enumerate();
    let mut peaks: Vec<_> = heads
        .filter_map(|(index, head)| {
            let (row, weight) = story::peak(head.weighting.row(view.step()))?;
            Some((axis.place_of(row)?.center(), index, weight))
        })
        .collect();
    peaks.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Labels of neighbouring rows make room for each other; a line leads to the row.
    let mut free = f32::NEG_INFINITY;
    for (height, index, weight) in peaks.into_iter().take(8) {
        let middle = height.max(free);
        free = middle + 13.0;
        let left = columns.marks.min + 8.0;
        let color = view
            .palette
            .head(index)
            .gamma_multiply(0.35 + 0.65 * weight.clamp(0.0, 1.0));
        let painter = ui.painter();
        painter.line_segment(
            [pos2(columns.memory.max + 1.0, height), pos2(left, middle)],
            Stroke::new(1.0, color),
        );
        let write = view.trace().heads[index].is_write();
        head_sign(painter, pos2(left + 7.0, middle), 11.0, write, color);
        let label = story::head_label(view.recording(), index);
        let (font, ink) = (theme::heading(10.5), view.palette.text);
        let at = pos2(left + 15.0, middle);
        painter.text(at, Align2::LEFT_CENTER, label, font, ink);
    }
}

/// The vectors of the moment under the memory, column under column, and the legends.
pub fn moment_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    let Some(head) = view.head() else { return };
    let step = view.step();
    let label = story::head_label(view.recording(), view.focus);
    let mut top = if bands.others.span() > 0.0 {
        bands.others.min
    } else {
        bands.adds.min
    };
    let start = top;
    let mut lines: Vec<(&str, &[f32], Scale)> =
        vec![("key k", head.key.row(step), view.open.vector_scale)];
    match &head.role {
        Role::Read { read } => lines.push(("read r", read.row(step), view.open.memory_scale)),
        Role::Write { erase, add } => {
            lines.push(("erase e", erase.row(step), Scale::Bits));
            lines.push(("add a", add.row(step), view.open.vector_scale));
        }
    }
    let recording = view.recording();
    let target = recording.episode.target.row(step).to_vec();
    let (input, output) = (
        recording.trace.input.row(step),
        recording.trace.output.row(step),
    );
    let of_the_step: [(&str, &[f32], Scale); 3] = [
        ("input x", input, Scale::Bits),
        ("output y", output, Scale::Bits),
        ("target", &target, Scale::Bits),
    ];
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
        for &(name, values, scale) in group {
            let y = Rangef::new(top, top + height);
            vector_now(ui, columns, y, (label, name), values, scale, view);
            top += pitch;
        }
        top += between;
    }
    let strips = if as_bars(axis, view) { 6.0 } else { 18.0 };
    legends(
        ui,
        columns,
        Rangef::new(start + strips, bands.reads.max),
        view,
    );
}

fn vector_now(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    (label, name): (&str, &str),
    values: &[f32],
    scale: Scale,
    view: &mut View<'_>,
) {
    let rect = Rect::from_x_y_ranges(columns.memory, y);
    let grid = Grid {
        columns: values.len(),
        rows: 1,
        scale,
        value: &|column, _| values[column],
    };
    let version = (view.open.serial, view.step(), view.focus);
    let size = rect.size().into();
    let slot = format!("now {name}");
    let texture = view
        .textures
        .get(ui.ctx(), &slot, version, size, view.palette, &grid);
    picture::paint(ui.painter(), rect, texture);
    frame(ui, rect, view);
    let at = pos2(rect.left() - 8.0, y.center());
    let ink = view.palette.subdued;
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, name, theme::text(11.0), ink);
    let response = interact(ui, rect, &format!("{label} {name}"), "at this step");
    if let Some(position) = pointer(&response)
        && let Some((column, _)) = grid.cell_at(rect, position)
    {
        *view.readout = Some(Readout {
            place: format!("{label}  step {}  {name}  column {column}", view.step()),
            value: numbers::exact(values[column]),
            meaning: String::new(),
        });
    }
}

/// What the colours mean.
fn legends(ui: &mut Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let entries = [
        ("weighting", Scale::Weighting),
        ("bit, erase", Scale::Bits),
        ("memory, read", view.open.memory_scale),
        ("key, add", view.open.vector_scale),
    ];
    let width = (columns.stages.span() - 70.0).min(240.0);
    let each = ((y.span() - 14.0) / entries.len() as f32).min(40.0);
    if each < 20.0 || width < 60.0 {
        return;
    }
    for (index, (name, scale)) in entries.into_iter().enumerate() {
        let at = pos2(columns.stages.min, y.min + 12.0 + index as f32 * each);
        legend(ui, at, width, name, scale, view);
    }
    let at = pos2(
        columns.stages.min,
        y.min + 8.0 + entries.len() as f32 * each,
    );
    let words = "± scales: largest value, fixed for this episode";
    quiet_text(ui, at, Align2::LEFT_CENTER, words, theme::text(10.0), view);
}

/// What the colours of one scale mean.
pub fn legend(ui: &Ui, at: egui::Pos2, width: f32, name: &str, scale: Scale, view: &View<'_>) {
    let painter = ui.painter();
    let (low, high) = scale.ends();
    let font = theme::mono(10.0);
    let ink = view.palette.subdued;
    let text = |value: f32| numbers::exact((value * 1000.0).round() / 1000.0);
    painter.text(at, Align2::LEFT_BOTTOM, name, theme::text(10.5), ink);
    let ends = format!("{} to {}", text(low), text(high));
    let right = pos2(at.x + width, at.y);
    painter.text(right, Align2::RIGHT_BOTTOM, ends, font, ink);
    let bar = Rect::from_min_size(at + vec2(0.0, 2.0), vec2(width, 8.0));
    let parts = 64;
    let part = bar.width() / parts as f32;
    for index in 0..parts {
        let value = low + (high - low) * (index as f32 + 0.5) / parts as f32;
        let left = bar.left() + index as f32 * part;
        let cell = Rect::from_min_size(pos2(left, bar.top()), vec2(part + 0.5, bar.height()));
        painter.rect_filled(cell, 0.0, view.palette.color(scale, value));
    }
    painter.rect_stroke(bar, 0.0, view.palette.hairline(), egui::StrokeKind::Outside);
}

/// A faint line through all pictures at the row under the pointer and at the one kept in view: one address, one height.
pub fn row_cursor(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let x = Rangef::new(columns.time.min, columns.memory.max);
    let kept = match view.selected {
        Some(Target::Row(row) | Target::Cell { row, .. }) => Some(row),
        _ => None,
    };
    for (row, strength) in [(view.row_before, 0.10), (kept, 0.18)] {
        let Some(place) = row.and_then(|row| axis.place_of(row)) else {
            continue;
        };
        let ink = view.palette.strong.gamma_multiply(strength);
        let place = Rangef::new(place.min, place.max.max(place.min + 1.0));
        ui.painter()
            .rect_filled(Rect::from_x_y_ranges(x, place), 0.0, ink);
    }
}
