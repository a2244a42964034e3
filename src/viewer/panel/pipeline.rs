//! The addressing of a head, stage by stage, on the address axis, and what leads from one stage to the
//! next. One head is expanded, a second one can be pinned beside it; the others are a column each.

use egui::text::LayoutJob;
use egui::{Align2, Color32, Pos2, Rangef, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};

use super::parts::{Bands, computed, frame, gaps, pointer, quiet_text, rows_range, veil};
use super::sheet::Sheet;
use super::{Columns, View, interact};
use crate::figure::numbers;
use crate::model::HeadTrace;
use crate::player::Stage;
use crate::train::is_absent;
use crate::viewer::command::Command;
use crate::viewer::inspect;
use crate::viewer::links::{self, Link};
use crate::viewer::rows::Axis;
use crate::viewer::state::target::Target;
use crate::viewer::story;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::picture::{self, Grid};
use crate::viewer::widget::readout::Readout;

/// Opacity of what has not happened yet.
const TO_COME: f32 = 0.25;
/// Room under the rows for the largest value of each column, in points.
pub const FOOT: f32 = 12.0;
/// Rows at least this tall are drawn as bars, in points.
const BAR_ROW: f32 = 3.0;
/// Height of the names and numbers over a column, in points.
const COLUMN_HEAD: f32 = 50.0;
/// Height of a line of the sentence, in points.
const LINE: f32 = 15.5;
/// Most rows drawn as bars.
const MOST_BARS: usize = 200;
/// Room between the columns, in points: wide where lines lead across.
const GAPS: [f32; 5] = [4.0, 8.0, 10.0, 16.0, 8.0];
/// A head whose columns would be thinner than this is not expanded beside another, in points.
const THINNEST: f32 = 15.0;
/// Columns this wide have their names over them, in points.
const LEGIBLE: f32 = 26.0;
/// Room between two expanded heads, in points.
const APART: f32 = 18.0;

/// One column of the addressing.
pub struct Column<'a> {
    /// The head it belongs to.
    pub head: usize,
    /// As in the equations.
    pub symbol: &'static str,
    /// In a word.
    pub words: &'static str,
    /// What the head emitted for it.
    pub parameter: String,
    /// When it has been worked out.
    pub stage: Stage,
    /// A value for every row.
    pub values: &'a [f32],
    /// True when values can be negative.
    pub signed: bool,
    /// How it is worked out.
    pub equation: &'static str,
    /// True when it was not recorded, but computed from what was.
    pub computed: bool,
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

fn columns_of<'a>(index: usize, view: &View<'a>) -> Option<[Column<'a>; 6]> {
    let (head, step): (&HeadTrace<f32>, _) = (view.trace().heads.get(index)?, view.step());
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
    let (recording, name) = (view.recording(), view.trace().head_name(index));
    Some(std::array::from_fn(|column| {
        let (symbol, words, stage, equation) = COLUMNS[column];
        let stage = view.open.stage_of(index, stage);
        Column {
            head: index,
            symbol,
            words,
            parameter: std::mem::take(&mut parameters[column]),
            stage,
            values: values[column],
            signed: symbol == "cos",
            equation,
            computed: recording.computed.iter().any(|array| {
                let part = array
                    .strip_prefix(&*name)
                    .and_then(|rest| rest.strip_prefix('.'));
                part == Some(inspect::STAGES[column])
            }),
        }
    }))
}

/// Where the columns of the heads stand: those of one or two expanded heads, then the final weighting of
/// every other head.
pub struct Places {
    /// Heads with all their stages.
    pub expanded: Vec<(usize, [Rangef; 6])>,
    /// Heads with their final weighting only.
    pub thin: Vec<(usize, Rangef)>,
}

impl Places {
    /// The places for the heads of this view.
    pub fn of(columns: &Columns, view: &View<'_>) -> Self {
        let (x, count) = (columns.stages, view.trace().heads.len());
        if view.all_heads {
            let each = x.span() / count.max(1) as f32;
            let width = (each - 4.0).max(each * 0.7).min(44.0);
            let place = |head: usize| {
                let left = x.min + head as f32 * each;
                (head, Rangef::new(left, left + width))
            };
            let (expanded, thin) = (Vec::new(), (0..count).map(place).collect());
            return Self { expanded, thin };
        }
        let both = Self::around(x, count, &[Some(view.focus), view.pinned]);
        if both.fit() {
            return both;
        }
        Self::around(x, count, &[Some(view.focus)])
    }

    /// These heads expanded, and the others as thin columns right of them.
    fn around(x: Rangef, count: usize, expanded: &[Option<usize>]) -> Self {
        let shown: Vec<usize> = expanded.iter().copied().flatten().collect();
        let others = (0..count).filter(|head| !shown.contains(head));
        let others: Vec<_> = others.collect();
        let pitch = (x.span() * 0.36 / others.len().max(1) as f32).min(20.0);
        // Their labels reach a little beyond them.
        let beyond = if pitch < 17.0 && !others.is_empty() {
            8.0
        } else {
            0.0
        };
        let room = x.span() - others.len() as f32 * pitch - beyond;
        let each = (room - (shown.len() - 1) as f32 * APART) / shown.len() as f32;
        let expanded = shown.iter().enumerate().map(|(index, &head)| {
            let left = x.min + index as f32 * (each + APART);
            (head, split(Rangef::new(left, left + each)))
        });
        let thin = others.iter().enumerate().map(|(index, &head)| {
            let left = x.min + room + beyond + index as f32 * pitch + pitch * 0.25;
            (head, Rangef::new(left, left + pitch * 0.75))
        });
        Self {
            expanded: expanded.collect(),
            thin: thin.collect(),
        }
    }

    /// True while a second head can be read beside the first.
    fn fit(&self) -> bool {
        let thinnest = |columns: &[Rangef; 6]| columns[0].span();
        self.expanded.iter().all(|(_, x)| thinnest(x) >= THINNEST)
    }
}

/// Six columns with room for the lines between them.
fn split(x: Rangef) -> [Rangef; 6] {
    let squeeze = (x.span() / 240.0).clamp(0.4, 1.0);
    let gaps = GAPS.map(|gap| gap * squeeze);
    let each = ((x.span() - gaps.iter().sum::<f32>()) / 6.0).max(1.0);
    let mut left = x.min;
    std::array::from_fn(|index| {
        let column = Rangef::new(left, left + each);
        left = column.max + gaps.get(index).unwrap_or(&0.0);
        column
    })
}

/// The stages of the head looked at and of the one pinned beside it; where the others are to stand.
pub fn stages_ui(
    ui: &mut Ui,
    columns: &Columns,
    bands: &Bands,
    axis: &Axis,
    view: &mut View<'_>,
) -> Places {
    let places = Places::of(columns, view);
    for (head, x) in &places.expanded {
        expanded_ui(ui, x, bands, axis, *head, view);
    }
    if !view.all_heads {
        let at = pos2(columns.stages.min - 6.0, rows_range(axis).max + 2.0);
        quiet_text(ui, at, Align2::RIGHT_TOP, "max", theme::text(9.5), view);
    }
    if !as_bars(axis, view) {
        let at = pos2(columns.stages.min, rows_range(axis).max + FOOT + 4.0);
        let words = "colour strips: too many rows for bars";
        quiet_text(ui, at, Align2::LEFT_TOP, words, theme::text(10.5), view);
    }
    heading(ui, columns, bands, &places, view);
    places
}

/// All stages of one head, with the lines between them.
fn expanded_ui(
    ui: &mut Ui,
    x: &[Rangef; 6],
    bands: &Bands,
    axis: &Axis,
    head: usize,
    view: &mut View<'_>,
) {
    let Some(columns) = columns_of(head, view) else {
        return;
    };
    for (column, &x) in columns.iter().zip(x) {
        column_head(ui, x, bands, column, view);
        column_ui(ui, x, axis, column, view);
    }
    links_ui(ui, x, axis, head, view);
}

/// Lines from column to column: the mass that content brings, what is kept of the step before, where the
/// shift moves it, what sharpening makes of it.
fn links_ui(ui: &Ui, x: &[Rangef; 6], axis: &Axis, head: usize, view: &mut View<'_>) {
    let Some(trace) = view.trace().heads.get(head) else {
        return;
    };
    let (step, gate) = (view.step(), trace.gate[view.step()]);
    let between = |column: usize| Rangef::new(x[column].max, x[column + 1].min);
    let content = trace.content.row(step);
    let kept = links::straight(trace.previous_weighting(step), 1.0 - gate);
    let gated = [kept.clone(), links::straight(content, gate)].concat();
    let shifted = links::shifted(trace, step);
    let drawn = [
        (0, Stage::Gate, kept),
        (1, Stage::Content, links::straight(content, 1.0)),
        (2, Stage::Gate, gated),
        (3, Stage::Shift, shifted.clone()),
        (
            4,
            Stage::Sharpen,
            links::straight(trace.weighting.row(step), 1.0),
        ),
    ];
    for (gap, stage, links) in &drawn {
        let stage = view.open.stage_of(head, *stage);
        for link in links {
            link_ui(ui, between(*gap), axis, (head, stage), link, view);
        }
    }
    let rect = Rect::from_x_y_ranges(between(3), rows_range(axis));
    let label = story::head_label(view.recording(), head);
    let moves = links::told(&shifted, view.rows.total());
    let response = interact(
        ui,
        rect,
        &format!("{label} moves"),
        &moves.replace('\n', "; "),
    );
    if pointer(&response).is_some() {
        *view.readout = Some(Readout {
            place: format!("{label}  step {step}"),
            value: "wᵍ → w\u{303}".to_owned(),
            meaning: moves,
        });
    }
}

/// One line. What goes round the end leaves at the one edge and comes in at the other.
fn link_ui(
    ui: &Ui,
    x: Rangef,
    axis: &Axis,
    (head, stage): (usize, Stage),
    link: &Link,
    view: &View<'_>,
) {
    let (Some(from), Some(to)) = (axis.place_of(link.from), axis.place_of(link.to)) else {
        return;
    };
    let (from, to) = (pos2(x.min, from.center()), pos2(x.max, to.center()));
    let fade = if view.player.reached(stage) {
        1.0
    } else {
        TO_COME
    };
    let weight = link.weight.min(1.0);
    let ink = view
        .palette
        .head(head)
        .gamma_multiply((0.25 + 0.6 * weight) * fade);
    let stroke = Stroke::new(0.8 + 1.2 * weight, ink);
    let painter = ui.painter();
    let far = (to.y - from.y).signum() != (link.by as f32).signum();
    if !(link.wraps(view.rows.total()) && far) {
        painter.line_segment([from, to], stroke);
        return;
    }
    let (rows, middle) = (rows_range(axis), x.center());
    let (out, back, tip) = if link.by > 0 {
        (rows.max, rows.min, 4.0)
    } else {
        (rows.min, rows.max, -4.0)
    };
    for (start, end) in [(from, pos2(middle, out)), (pos2(middle, back), to)] {
        painter.line_segment([start, end], stroke);
    }
    // It leaves downwards and comes in from above, or the other way round.
    for at in [pos2(middle, out), pos2(middle, back)] {
        let corners = [vec2(-3.0, -tip), vec2(3.0, -tip), vec2(0.0, tip * 0.5)];
        let corners = corners.map(|corner| at + corner).to_vec();
        painter.add(Shape::convex_polygon(corners, ink, Stroke::NONE));
    }
}

/// `Addressing of W0 at step 12`, and what is beside it.
fn heading(ui: &Ui, columns: &Columns, bands: &Bands, places: &Places, view: &mut View<'_>) {
    let top = bands.ruler.min + 8.0;
    let font = theme::heading(11.0);
    for (head, x) in &places.expanded {
        let label = story::head_label(view.recording(), *head);
        let lost = view.pinned.filter(|_| places.expanded.len() == 1);
        let text = match lost.map(|head| story::head_label(view.recording(), head)) {
            _ if places.expanded.len() > 1 => label,
            Some(other) => format!("{label}  NO ROOM FOR {other} BESIDE IT"),
            None => format!("{label}  ADDRESSING"),
        };
        head_title(ui, pos2(x[0].min, top), *head, &text, view);
    }
    if view.all_heads {
        let text = format!("FINAL WEIGHTING OF ALL {} HEADS", places.thin.len());
        let at = pos2(columns.stages.min, top);
        quiet_text(ui, at, Align2::LEFT_CENTER, &text, font, view);
    }
    let room = Rangef::new(top + 10.0, bands.rows.min - COLUMN_HEAD - 8.0);
    caption(ui, columns.stages, room, view);
}

/// The sign of a head and what stands beside it.
fn head_title(ui: &Ui, at: Pos2, head: usize, text: &str, view: &mut View<'_>) {
    let write = view.trace().heads[head].is_write();
    let color = view.palette.head(head);
    head_sign(ui.painter(), at + vec2(6.0, 0.0), 13.0, write, color);
    let (font, at) = (theme::heading(11.0), at + vec2(18.0, 0.0));
    quiet_text(ui, at, Align2::LEFT_CENTER, text, font, view);
    let rect = Rect::from_min_size(at - vec2(18.0, 9.0), vec2(100.0, 18.0));
    let id = ui.scope_id().with(("title", head));
    let response = ui.interact(rect, id, Sense::click());
    let name = format!("Keep {} in view", story::head_label(view.recording(), head));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands.push(Command::Select(Target::Head(head)));
    }
    focus_ring(ui, &response);
    response.on_hover_text(name);
}

/// The step or its current stage in words, in as many lines as there is room for; at least one.
pub fn caption(ui: &Ui, x: Rangef, y: Rangef, view: &View<'_>) {
    let (step, stage, painter) = (view.step(), view.player.stage(), ui.painter());
    let (title, text) = if view.player.whole_steps() {
        (
            format!("step {step}  {}", story::phase_at(view.recording(), step)),
            story::whole_step(view.open, step, view.focus),
        )
    } else {
        (
            format!(
                "{} of {}  {}",
                view.player.stage_number(),
                view.player.stages().len(),
                stage.name()
            ),
            story::caption(view.open, step, stage, view.focus),
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
    let done = view.player.reached(column.stage);
    let current = column.stage == view.player.stage();
    let fade = if done { 1.0 } else { 0.45 };
    let painter = ui.painter().clone();
    let middle = x.center();
    let line = |up: f32, text: &str, font, ink: Color32| {
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
        Some((by, _)) if narrow && column.words == "shift" => by,
        Some((_, number)) if narrow => number,
        _ => &column.parameter,
    };
    line(0.0, parameter, number, view.palette.strong);
    // Beside a pinned head there is no room for words: the symbol says it.
    let legible = x.span() >= LEGIBLE;
    let symbol = theme::text(if legible { 14.0 } else { 11.5 });
    line(16.0, column.symbol, symbol, view.palette.text);
    if legible {
        let font = theme::text((x.span() * 0.3).clamp(8.0, 11.0));
        line(35.0, column.words, font, words);
    }
    let rect = Rect::from_x_y_ranges(x, Rangef::new(bottom - COLUMN_HEAD, bottom));
    let response = ui.interact(
        rect,
        ui.scope_id().with(("stage", column.head, column.symbol)),
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
pub fn as_bars(axis: &Axis, view: &View<'_>) -> bool {
    axis.height >= BAR_ROW && view.rows.shown() <= MOST_BARS
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
        ui.scope_id().with(("foot", column.head, column.words)),
        Sense::hover(),
    );
    let label = story::head_label(view.recording(), column.head);
    let words = format!("{label}, largest value of {}: {number}", column.words);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    response.on_hover_text(words);
}

fn column_ui(ui: &mut Ui, x: Rangef, axis: &Axis, column: &Column<'_>, view: &mut View<'_>) {
    let opacity = if view.player.reached(column.stage) {
        1.0
    } else {
        TO_COME
    };
    let color = view.palette.head(column.head);
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    ui.painter().rect_filled(rect, 0.0, view.palette.well);
    if as_bars(axis, view) {
        bars(ui, x, axis, column, color.gamma_multiply(opacity), view);
    } else {
        let slot = format!("{} of {}", column.symbol, column.head);
        strip(ui, x, axis, column, opacity, &slot, view);
    }
    gaps(ui, x, axis, false, view);
    frame(ui, rect, view);
    veil(ui, rect, column.values[0], view);
    foot(ui, x, axis, column, view);
    let label = story::head_label(view.recording(), column.head);
    let name = format!("{label} {}", column.words);
    let source = if column.computed && !is_absent(column.values[0]) {
        computed(ui, rect, view);
        "\ncomputed from what was recorded"
    } else {
        ""
    };
    let response = interact(ui, rect, &name, &format!("{}{source}", column.equation));
    let row = pointer(&response).and_then(|at| axis.row_at(at.y));
    stages_menu(&response, column.head, column.symbol, row, view);
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
    {
        if response.clicked() {
            // The equations are those of the head looked at.
            if column.head != view.focus {
                view.commands.push(Command::Focus(column.head));
            }
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
            meaning: format!("{}\n{}{source}", column.equation, sum(view, column, row)),
        });
    }
}

/// The menu of a column: the weightings of its head at this step, stage beside stage.
pub fn stages_menu(
    response: &egui::Response,
    head: usize,
    symbol: &str,
    row: Option<usize>,
    view: &mut View<'_>,
) {
    let Some(trace) = view.trace().heads.get(head) else {
        return;
    };
    let stages = inspect::stages(trace, view.step());
    let label = story::head_label(view.recording(), head);
    let place = COLUMNS.iter().position(|(other, ..)| *other == symbol);
    let sheet = Sheet {
        name: &format!("{label} at step {}", view.step()),
        lines: ("row", view.rows.total()),
        columns: ("stage", stages.len()),
        names: &inspect::STAGES,
        value: &|row, stage| stages[stage][row],
    };
    sheet.menu(response, row.zip(place), view.commands);
}

/// The equation of a stage with the numbers of this row.
fn sum(view: &View<'_>, column: &Column<'_>, row: usize) -> String {
    let (Some(head), t) = (view.trace().heads.get(column.head), view.step()) else {
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

/// A bar per row: its length is the value.
pub fn bars(ui: &Ui, x: Rangef, axis: &Axis, column: &Column<'_>, color: Color32, view: &View<'_>) {
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
        if is_absent(value) {
            continue;
        }
        let gap = if axis.height >= 6.0 { 1.0 } else { 0.0 };
        let y = Rangef::new(place.min + gap / 2.0, place.max - gap / 2.0);
        if !value.is_finite() {
            let rect = Rect::from_x_y_ranges(x, y);
            painter.rect_filled(rect, 0.0, view.palette.non_finite);
            continue;
        }
        // What is not nothing is at least a hairline.
        let least = if value.abs() >= 0.001 { 1.0 } else { 0.0 };
        let share = if column.signed {
            value.abs().min(1.0)
        } else {
            view.weighting_scale.length(value)
        };
        let length = (share * full).max(least);
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
    color: Color32,
    view: &View<'_>,
) {
    let covered = !signed && bar.width() > x.span() - 24.0;
    let ink = if covered {
        Palette::text_on(color)
    } else {
        view.palette.subdued
    };
    // A bar that can go both ways leaves the other side free.
    let (side, align) = if signed && value > 0.0 {
        (x.min + 2.0, Align2::LEFT_CENTER)
    } else {
        (x.max - 3.0, Align2::RIGHT_CENTER)
    };
    let (at, text) = (pos2(side, place.center()), numbers::cell(value));
    ui.painter().text(at, align, text, theme::mono(9.5), ink);
}

/// A strip of colour: for rows too thin for bars. `slot` is the name of its picture.
pub fn strip(
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
        view.weighting_scale
    };
    let grid = Grid {
        columns: 1,
        rows: rows.len(),
        scale,
        value: &|_, index| column.values[rows[index]],
    };
    let version = (
        view.open.serial,
        view.step(),
        view.rows.id(),
        scale == Scale::LogWeighting,
    );
    let size = [1.0, rows_range(axis).span()];
    let texture = view
        .textures
        .get(ui.ctx(), slot, version, size, view.palette, &grid);
    picture::paint_rows(ui.painter(), x, axis, texture, opacity);
}
