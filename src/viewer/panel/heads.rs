//! Several heads at once: the final weighting of each as a column, and its parameters as a line of a table.

use egui::{Align2, Pos2, Rangef, Rect, Sense, Ui, pos2, vec2};

use super::View;
use super::copy_menu::Sheet;
use super::page::picture_ui;
use super::parts::{choose, dash_ui, pointer, rows_range};
use super::pipeline::ColumnSpans;
use crate::figure::facts::events::HeadLines;
use crate::figure::facts::heads::Emitted;
use crate::figure::facts::stages::columns_of;
use crate::figure::scene::panel::Content;
use crate::figure::{EMITTED, PanelId, Picture, facts::numbers};
use crate::model::HeadTrace;
use crate::train::{ABSENT, is_absent};
use crate::viewer::narration;
use crate::viewer::row_zoom::Axis;
use crate::viewer::theme;
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::canvas::area;
use crate::viewer::widget::icon::head_sign;

/// Height of a line of the table, in points.
const LINE: f32 = 15.0;
/// The least height of a line that can be read.
const LEAST_LINE: f32 = 11.5;
/// Least distance between labels, in points.
const LABEL: f32 = 17.0;

/// The final weighting of every head that is not expanded, a column each.
pub fn final_weightings_ui(ui: &mut Ui, places: &ColumnSpans, axis: &Axis, view: &mut View<'_>) {
    let pitch = match places.thin[..] {
        [(_, first), (_, second), ..] => second.min - first.min,
        _ => LABEL,
    };
    for (index, (head, x)) in places.thin.iter().enumerate() {
        let top = rows_range(axis).min;
        // Where columns are thin, every other label stands higher.
        let up = if pitch < LABEL && index % 2 == 1 {
            24.0
        } else {
            0.0
        };
        let at = pos2(x.center(), top - 10.0 - up);
        column_sign(ui, at, *head, view);
        final_weighting_ui(ui, *x, axis, *head, view);
    }
}

/// The final weighting of a head; a click selects it, Shift+click adds it as the second.
fn final_weighting_ui(ui: &mut Ui, x: Rangef, axis: &Axis, head: usize, view: &mut View<'_>) {
    let last = columns_of(&view.trace().heads[head]).last();
    let id = last.map(|last| PanelId::of(Picture::Stages, head).part(last.place()));
    let Some(mut panel) = id.and_then(|id| view.catalogue().panel(id)) else {
        return;
    };
    if let Content::Bars(bars) = &mut panel.content {
        (bars.to_come, bars.spread) = (false, None);
    }
    panel.name = format!("{} now", panel.whose);
    "the final weighting of this head".clone_into(&mut panel.alt);
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    picture_ui(ui, &panel.along(area(rect), axis.clone()), view);
}

/// Sign and label over the thin column of a head; they can be clicked, too.
fn column_sign(ui: &Ui, at: Pos2, head: usize, view: &mut View<'_>) {
    let write = view.trace().heads[head].is_write();
    let (color, painter) = (view.head_color(head), ui.painter());
    head_sign(painter, at - vec2(0.0, 13.0), 12.0, write, color);
    let label = narration::head_label(view.recording(), head);
    let (font, ink) = (theme::heading(10.0), view.palette.subdued);
    painter.text(at, Align2::CENTER_CENTER, &label, font, ink);
    dash_ui(
        ui,
        Rangef::new(at.x - 5.0, at.x + 5.0),
        at.y + 6.5,
        head,
        view,
    );
    let rect = Rect::from_center_size(at - vec2(0.0, 7.0), vec2(16.0, 26.0));
    let id = ui.scope_id().with(("sign", head));
    let response = ui.interact(rect, id, Sense::click());
    let name = format!("Mark of {label}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    focus_ring(ui, &response);
    choose(ui, &response, head, view);
    response.on_hover_text(format!(
        "Select head {label}; Shift+click adds it as the second"
    ));
}

/// Height of the table of all heads in this much room.
pub fn table_height(heads: usize, room: f32) -> f32 {
    (heads + 1) as f32 * (room / (heads + 1) as f32).clamp(LEAST_LINE, LINE)
}

/// Shows a table of every head's parameters at this step: β, g, s, γ, and its entropy.
pub fn table_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    let count = view.trace().heads.len();
    let line = (y.span() / (count + 1) as f32).clamp(LEAST_LINE, LINE);
    let fits = ((y.span() / line) as usize).saturating_sub(1).min(count);
    let (font, ink) = (theme::text(10.5), view.palette.subdued);
    for (cell, emitted) in cells(x).into_iter().zip(&EMITTED) {
        let at = pos2(cell.max, y.min + line / 2.0);
        let title = match emitted.symbol {
            "H" => "H bits",
            symbol => symbol,
        };
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, title, font.clone(), ink);
    }
    // Where there is no room for all, the head looked at is among those shown.
    let first = (view.focus + 1).saturating_sub(fits).min(count - fits);
    for index in 0..fits {
        let top = y.min + (index + 1) as f32 * line;
        let rect = Rect::from_x_y_ranges(x, Rangef::new(top, top + line));
        line_ui(ui, rect, first + index, view);
    }
}

/// The right half of every cell of the table; the left of it belongs to the head.
fn cells(x: Rangef) -> [Rangef; 5] {
    let start = x.min + 36.0;
    let each = (x.max - start).max(1.0) / 5.2;
    let mut left = start;
    [1.0, 0.8, 1.4, 1.0, 1.0].map(|share| {
        let cell = Rangef::new(left, left + share * each);
        left = cell.max;
        cell
    })
}

fn line_ui(ui: &mut Ui, rect: Rect, head: usize, view: &mut View<'_>) {
    let (trace, t) = (&view.trace().heads[head], view.step());
    let label = narration::head_label(view.recording(), head);
    let values = EMITTED.each_ref().map(|emitted| {
        let value = number_of(&view.open.heads[head], emitted, t);
        match emitted.symbol {
            "g" => numbers::cell(value),
            "s" => String::new(),
            "H" => numbers::plain(value, 2, 5),
            _ => numbers::fit(value, 2, 5),
        }
    });
    let response = ui.interact(rect, ui.scope_id().with(("chip", head)), Sense::click());
    let shift =
        narration::main_shift(trace, t).map_or(String::new(), |(by, _)| narration::signed(by));
    let name = format!(
        "{label} emits β {}, g {}, shift {shift}, γ {}; entropy {} bits",
        values[0].trim(),
        values[1],
        values[3].trim(),
        values[4].trim()
    );
    let focused = head == view.focus || view.state.view.pinned == Some(head);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, focused, &name));
    let (palette, painter, middle) = (view.palette, ui.painter().clone(), rect.center().y);
    if focused || response.hovered() {
        let fill = if focused {
            palette.hovered
        } else {
            palette.raised
        };
        painter.rect_filled(rect, 2.0, fill);
    }
    let at = pos2(rect.left() + 6.0, middle);
    head_sign(&painter, at, 11.0, trace.is_write(), view.head_color(head));
    let (font, at) = (theme::heading(10.5), pos2(rect.left() + 14.0, middle));
    painter.text(at, Align2::LEFT_CENTER, &label, font, palette.text);
    let x = Rangef::new(rect.left() + 14.0, rect.left() + 28.0);
    dash_ui(ui, x, rect.bottom() - 1.0, head, view);
    for (cell, value) in cells(rect.x_range()).into_iter().zip(&values) {
        let at = pos2(cell.max, middle);
        painter.text(
            at,
            Align2::RIGHT_CENTER,
            value,
            theme::mono(10.5),
            palette.strong,
        );
    }
    let cell = cells(rect.x_range())[2];
    shift_sign(
        ui,
        Rect::from_x_y_ranges(cell, rect.y_range()),
        head,
        trace,
        view,
    );
    focus_ring(ui, &response);
    choose(ui, &response, head, view);
    emitted_menu(&response, rect, head, view);
    response.on_hover_text("Click to select this head; Shift+click adds it as the second");
}

/// Returns an emitted value of a head at a step; `None` where it has none.
fn number_of(lines: &HeadLines, emitted: &Emitted, step: usize) -> f32 {
    let mut scalars = lines.scalars.iter();
    let scalar = scalars.find(|scalar| scalar.of == emitted);
    scalar.map_or(ABSENT, |scalar| scalar.values[step])
}

/// Shows the menu of a line of the table: the parameters of all heads at this step.
fn emitted_menu(response: &egui::Response, rect: Rect, head: usize, view: &mut View<'_>) {
    let (heads, step) = (&view.open.heads, view.step());
    let value = |head: usize, column: usize| number_of(&heads[head], &EMITTED[column], step);
    let cell = pointer(response).map(|at| {
        let cells = cells(rect.x_range());
        let column = cells.iter().position(|cell| at.x <= cell.max);
        (head, column.unwrap_or(0))
    });
    let names = EMITTED.each_ref().map(|emitted| emitted.array.name);
    let sheet = Sheet {
        name: &format!("all heads at step {step}"),
        lines: ("head", heads.len()),
        columns: ("quantity", names.len()),
        names: &names,
        value: &value,
    };
    sheet.menu(response, cell, view.commands);
}

/// A bar for every offset of the shift, and the heaviest offset in numbers.
fn shift_sign(ui: &Ui, cell: Rect, head: usize, trace: &HeadTrace<f32>, view: &View<'_>) {
    let (shift, painter) = (trace.shift.row(view.step()), ui.painter());
    let text = narration::main_shift(trace, view.step());
    let text = text.map_or(String::new(), |(by, _)| narration::signed(by));
    let at = pos2(cell.right(), cell.center().y);
    let ink = view.palette.strong;
    painter.text(at, Align2::RIGHT_CENTER, text, theme::mono(10.5), ink);
    let width = (4.0 * shift.len() as f32).min(cell.width() - 34.0);
    let each = width / shift.len().max(1) as f32;
    let (left, bottom) = (cell.right() - 22.0 - width, cell.bottom() - 2.0);
    for (index, s) in shift.iter().enumerate() {
        if is_absent(*s) {
            continue;
        }
        let share = if s.is_finite() {
            s.clamp(0.0, 1.0)
        } else {
            1.0
        };
        let x = left + index as f32 * each;
        let height = 1.0 + share * (cell.height() - 5.0);
        let bar = Rect::from_min_max(
            pos2(x, bottom - height),
            pos2(x + (each - 1.0).max(0.5), bottom),
        );
        let fill = if s.is_finite() {
            view.head_color(head)
        } else {
            view.palette.non_finite
        };
        painter.rect_filled(bar, 0.0, fill);
    }
}
