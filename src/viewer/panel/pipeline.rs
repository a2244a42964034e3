//! The addressing of a head, stage by stage, on the address axis, and what leads from one stage to the
//! next. One head is expanded, a second one can be pinned beside it; the others are a column each.

use egui::text::LayoutJob;
use egui::{Align2, Color32, Pos2, Rangef, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};

use super::parts::{Bands, computed, frame, gaps, pointer, quiet_text, rows_range, veil};
use super::sheet::Sheet;
use super::{Columns, View, interact};
use crate::figure::numbers;
use crate::figure::stages::{self, Column, Stage};
use crate::train::is_absent;
use crate::viewer::command::{Command, Look, Play};
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

/// A column of the addressing of a head, at the step.
pub struct Shown<'a> {
    /// The head it belongs to.
    pub head: usize,
    /// What it is.
    pub column: &'static Column,
    /// When it has been worked out.
    pub place: usize,
    /// A value for every row.
    pub values: &'a [f32],
    /// True when it was not recorded, but computed from what was.
    pub computed: bool,
}

impl Shown<'_> {
    fn scale(&self, view: &View<'_>) -> Scale {
        if self.column.is_signed() {
            Scale::Signed(1.0)
        } else {
            view.weighting_scale
        }
    }
}

/// The columns that a head has, at the step.
pub fn columns_of<'a>(index: usize, view: &View<'a>) -> Vec<Shown<'a>> {
    let Some(head) = view.trace().heads.get(index) else {
        return Vec::new();
    };
    let (computed, name) = (&view.recording().computed, view.trace().head_name(index));
    let columns = stages::columns_of(head).map(|column| {
        let place = view.open.stages.place(column.stage, Some(head));
        let array = format!("{name}.{}", column.array);
        Shown {
            head: index,
            column,
            place: place.unwrap_or(0),
            values: column.values(head, view.step()),
            computed: computed.contains(&array),
        }
    });
    columns.collect()
}

/// Where the columns of the heads stand: those of one or two expanded heads, then the final weighting of
/// every other head.
pub struct Places {
    /// Heads with all their stages.
    pub expanded: Vec<(usize, Vec<Rangef>)>,
    /// Heads with their final weighting only.
    pub thin: Vec<(usize, Rangef)>,
}

impl Places {
    /// The places for the heads of this view.
    pub fn of(columns: &Columns, view: &View<'_>) -> Self {
        let (x, count) = (columns.stages, view.trace().heads.len());
        if view.state.sight.all_heads {
            let each = x.span() / count.max(1) as f32;
            let width = (each - 4.0).max(each * 0.7).min(44.0);
            let place = |head: usize| {
                let left = x.min + head as f32 * each;
                (head, Rangef::new(left, left + width))
            };
            let (expanded, thin) = (Vec::new(), (0..count).map(place).collect());
            return Self { expanded, thin };
        }
        let both = Self::around(x, view, &[Some(view.focus), view.state.sight.pinned]);
        if both.fit() {
            return both;
        }
        Self::around(x, view, &[Some(view.focus)])
    }

    /// These heads expanded, and the others as thin columns right of them.
    fn around(x: Rangef, view: &View<'_>, expanded: &[Option<usize>]) -> Self {
        let shown: Vec<usize> = expanded.iter().copied().flatten().collect();
        let heads = &view.trace().heads;
        let others = (0..heads.len()).filter(|head| !shown.contains(head));
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
            let count = stages::columns_of(&heads[head]).count();
            (head, split(Rangef::new(left, left + each), count))
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
        let mut columns = self.expanded.iter().flat_map(|(_, x)| x);
        columns.all(|x| x.span() >= THINNEST)
    }
}

/// So many columns with room for the lines between them.
fn split(x: Rangef, count: usize) -> Vec<Rangef> {
    let squeeze = (x.span() / 240.0).clamp(0.4, 1.0);
    let gap = |index: usize| GAPS.get(index).unwrap_or(&8.0) * squeeze;
    let gaps: f32 = (1..count).map(|index| gap(index - 1)).sum();
    let each = ((x.span() - gaps) / count.max(1) as f32).max(1.0);
    let mut left = x.min;
    let columns = (0..count).map(|index| {
        let column = Rangef::new(left, left + each);
        left = column.max + gap(index);
        column
    });
    columns.collect()
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
    if !view.state.sight.all_heads {
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
    x: &[Rangef],
    bands: &Bands,
    axis: &Axis,
    head: usize,
    view: &mut View<'_>,
) {
    let columns = columns_of(head, view);
    for (column, &x) in columns.iter().zip(x) {
        column_head(ui, x, bands, column, view);
        column_ui(ui, x, axis, column, view);
    }
    if columns
        .iter()
        .any(|shown| shown.column.stage == Stage::Shift)
    {
        links_ui(ui, x, axis, head, view);
    }
}

/// Lines from column to column: the mass that content brings, what is kept of the step before, where the
/// shift moves it, what sharpening makes of it.
fn links_ui(ui: &Ui, x: &[Rangef], axis: &Axis, head: usize, view: &mut View<'_>) {
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
        let stages = &view.open.stages;
        let done = stages.reached(view.player.stage(), *stage, Some(trace));
        for link in links {
            link_ui(ui, between(*gap), axis, (head, done), link, view);
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
    (head, done): (usize, bool),
    link: &Link,
    view: &View<'_>,
) {
    let (Some(from), Some(to)) = (axis.place_of(link.from), axis.place_of(link.to)) else {
        return;
    };
    let (from, to) = (pos2(x.min, from.center()), pos2(x.max, to.center()));
    let fade = if done { 1.0 } else { TO_COME };
    let weight = link.weight.min(1.0);
    let ink = view
        .head_color(head)
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
        let lost = view
            .state
            .sight
            .pinned
            .filter(|_| places.expanded.len() == 1);
        let text = match lost.map(|head| story::head_label(view.recording(), head)) {
            _ if places.expanded.len() > 1 => label,
            Some(other) => format!("{label}  NO ROOM FOR {other} BESIDE IT"),
            None => format!("{label}  ADDRESSING"),
        };
        let left = x.first().map_or(columns.stages.min, |x| x.min);
        head_title(ui, pos2(left, top), *head, &text, view);
    }
    if view.state.sight.all_heads {
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
    let color = view.head_color(head);
    head_sign(ui.painter(), at + vec2(6.0, 0.0), 13.0, write, color);
    let (font, at) = (theme::heading(11.0), at + vec2(18.0, 0.0));
    quiet_text(ui, at, Align2::LEFT_CENTER, text, font, view);
    let rect = Rect::from_min_size(at - vec2(18.0, 9.0), vec2(100.0, 18.0));
    let id = ui.scope_id().with(("title", head));
    let response = ui.interact(rect, id, Sense::click());
    let name = format!("Keep {} in view", story::head_label(view.recording(), head));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands
            .push(Command::Look(Look::Select(Target::Head(head))));
    }
    focus_ring(ui, &response);
    response.on_hover_text(name);
}

/// The step or its current stage in words, in as many lines as there is room for; at least one.
pub fn caption(ui: &Ui, x: Rangef, y: Rangef, view: &View<'_>) {
    let (step, moment, painter) = (view.step(), view.moment(), ui.painter());
    let (title, text) = if view.player.whole_steps() {
        (
            format!("step {step}  {}", story::phase_at(view.recording(), step)),
            story::whole_step(view.open, step, view.focus),
        )
    } else {
        (
            format!(
                "{} of {}  {}",
                view.player.stage() + 1,
                view.player.stages(),
                moment.name()
            ),
            story::caption(view.open, step, moment, view.focus),
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
fn column_head(ui: &mut Ui, x: Rangef, bands: &Bands, shown: &Shown<'_>, view: &mut View<'_>) {
    let (column, now) = (shown.column, view.player.stage());
    let bottom = bands.rows.min - 8.0;
    let (done, current) = (shown.place <= now, shown.place == now);
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
    let head = &view.trace().heads[shown.head];
    let parameter = column.parameter(head, view.step());
    let parameter = match parameter.split_once(' ') {
        Some((by, _)) if narrow && column.stage == Stage::Shift => by,
        Some((_, number)) if narrow => number,
        _ => &parameter,
    };
    line(0.0, parameter, number, view.palette.strong);
    // Beside a pinned head there is no room for words: the symbol says it.
    let legible = x.span() >= LEGIBLE;
    let symbol = theme::text(if legible { 14.0 } else { 11.5 });
    line(16.0, column.symbol, symbol, view.palette.text);
    if legible {
        let font = theme::text((x.span() * 0.3).clamp(8.0, 11.0));
        line(35.0, column.word, font, words);
    }
    let rect = Rect::from_x_y_ranges(x, Rangef::new(bottom - COLUMN_HEAD, bottom));
    let response = ui.interact(
        rect,
        ui.scope_id().with(("stage", shown.head, column.symbol)),
        Sense::click(),
    );
    let name = format!("Stage {} {}", column.word, column.symbol);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands
            .push(Command::Play(Play::SeekStage(shown.place)));
    }
    focus_ring(ui, &response);
    response.on_hover_text(column.told());
}

/// True while rows are tall enough to be bars.
pub fn as_bars(axis: &Axis, view: &View<'_>) -> bool {
    axis.height >= BAR_ROW && view.rows.shown() <= MOST_BARS
}

/// The largest value of a column, under it: on a scale of 0 to 1 small ones are hard to see.
fn foot(ui: &Ui, x: Rangef, axis: &Axis, shown: &Shown<'_>, view: &View<'_>) {
    let word = shown.column.word;
    let finite = shown.values.iter().copied();
    let finite = finite.filter(|value| value.is_finite());
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
        ui.scope_id().with(("foot", shown.head, word)),
        Sense::hover(),
    );
    let label = story::head_label(view.recording(), shown.head);
    let words = format!("{label}, largest value of {word}: {number}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    response.on_hover_text(words);
}

fn column_ui(ui: &mut Ui, x: Rangef, axis: &Axis, shown: &Shown<'_>, view: &mut View<'_>) {
    let (column, head, values) = (shown.column, shown.head, shown.values);
    let opacity = if shown.place <= view.player.stage() {
        1.0
    } else {
        TO_COME
    };
    let color = view.head_color(head);
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    ui.painter().rect_filled(rect, 0.0, view.palette.well);
    if as_bars(axis, view) {
        bars(ui, x, axis, shown, color.gamma_multiply(opacity), view);
    } else {
        let slot = format!("{} of {head}", column.symbol);
        strip(ui, x, axis, shown, opacity, &slot, view);
    }
    gaps(ui, x, axis, false, view);
    frame(ui, rect, view);
    veil(ui, rect, values[0], view);
    foot(ui, x, axis, shown, view);
    let label = story::head_label(view.recording(), head);
    let name = format!("{label} {}", column.word);
    let source = if shown.computed && !is_absent(values[0]) {
        computed(ui, rect, view);
        "\ncomputed from what was recorded"
    } else {
        ""
    };
    let response = interact(ui, rect, &name, &format!("{}{source}", column.told()));
    let row = pointer(&response).and_then(|at| axis.row_at(at.y));
    stages_menu(&response, shown, row, view);
    if let Some(position) = pointer(&response)
        && let Some(row) = axis.row_at(position.y)
    {
        if response.clicked() {
            // The equations are those of the head looked at.
            if head != view.focus {
                view.commands.push(Command::Look(Look::Focus(head)));
            }
            view.commands
                .push(Command::Look(Look::Select(Target::Row(row))));
        }
        *view.row = Some(row);
        let sum = column.sum(&view.trace().heads[head], view.step(), row);
        *view.readout = Some(Readout {
            place: format!(
                "{label}  step {}  row {row}  {}",
                view.step(),
                column.symbol
            ),
            value: numbers::exact(values[row]),
            meaning: format!("{}\n{sum}{source}", column.told()),
        });
    }
}

/// The menu of a column: the weightings of its head at this step, stage beside stage.
pub fn stages_menu(
    response: &egui::Response,
    shown: &Shown<'_>,
    row: Option<usize>,
    view: &mut View<'_>,
) {
    let all = columns_of(shown.head, view);
    let label = story::head_label(view.recording(), shown.head);
    let is_it = |other: &Shown<'_>| other.column.array == shown.column.array;
    let place = all.iter().position(is_it);
    let names: Vec<_> = all.iter().map(|other| other.column.array).collect();
    let sheet = Sheet {
        name: &format!("{label} at step {}", view.step()),
        lines: ("row", view.rows.total()),
        columns: ("stage", names.len()),
        names: &names,
        value: &|row, stage| all[stage].values[row],
    };
    sheet.menu(response, row.zip(place), view.commands);
}

/// A bar per row: its length is the value.
pub fn bars(ui: &Ui, x: Rangef, axis: &Axis, shown: &Shown<'_>, color: Color32, view: &View<'_>) {
    let painter = ui.painter();
    let (signed, scale) = (shown.column.is_signed(), shown.scale(view));
    if signed {
        painter.vline(x.center(), rows_range(axis), view.palette.hairline());
    }
    let print = axis.height >= 13.0 && x.span() >= 38.0;
    for &row in view.rows.numbers() {
        let Some(place) = axis.place_of(row) else {
            continue;
        };
        let value = shown.values[row];
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
        let [from, to] = scale.bar(value, x.span());
        let bar = Rect::from_x_y_ranges(Rangef::new(x.min + from, x.min + to), y);
        painter.rect_filled(bar, 0.0, color);
        if print && value.abs() >= 0.005 {
            cell_number(ui, x, y, value, signed, bar, color, view);
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
    shown: &Shown<'_>,
    opacity: f32,
    slot: &str,
    view: &mut View<'_>,
) {
    let rows = view.rows.numbers();
    let scale = shown.scale(view);
    let grid = Grid {
        columns: 1,
        rows: rows.len(),
        scale,
        value: &|_, index| shown.values[rows[index]],
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
