//! What the head looked at emitted, over time: a line for each number, under the loss.

use egui::{Align2, Pos2, Rangef, Rect, Stroke, Ui, pos2};

use super::sheet::Sheet;
use super::time::pointer;
use super::time::veil;
use super::{Columns, View, heads, interact, scrub};
use crate::figure::{self, Scalar};
use crate::train::is_absent;
use crate::viewer::numbers;
use crate::viewer::story;
use crate::viewer::theme;
use crate::viewer::widget::readout::Readout;

/// Height of a line with its room, in points.
const LANE: f32 = 16.5;
/// Height of a ribbon with its room, in points.
const RIBBON: f32 = 16.0;
/// Height of all ribbons and lines.
pub const HEIGHT: f32 = 2.0 * RIBBON + 5.0 * LANE + 6.0;

/// All lines, from this height down.
pub fn scalars_ui(ui: &mut Ui, columns: &Columns, top: f32, view: &mut View<'_>) {
    let Some(head) = view.head() else { return };
    let heads = &view.trace().heads;
    let other = |index: &usize| heads[*index].is_write() != head.is_write();
    let beside = view.pinned.or_else(|| (0..heads.len()).find(other));
    let told = std::iter::once(view.focus).chain(beside);
    for (index, head) in told.enumerate() {
        let top = top + index as f32 * RIBBON;
        ribbon_ui(
            ui,
            columns,
            Rangef::new(top, top + RIBBON - 3.0),
            head,
            view,
        );
    }
    let top = top + 2.0 * RIBBON + 2.0;
    let label = story::head_label(view.recording(), view.focus);
    let lines = &view.open.heads[view.focus];
    let (shift, entropy) = (lines.shift.clone(), lines.entropy.clone());
    let scalars = figure::scalars(head, shift, entropy);
    for index in 0..scalars.len() {
        let top = top + index as f32 * LANE;
        let y = Rangef::new(top, top + LANE - 3.0);
        scalar_ui(ui, columns, y, &label, (&scalars, index), view);
    }
}

/// How a head moves, stretch by stretch: `+1 ×20`.
fn ribbon_ui(ui: &mut Ui, columns: &Columns, y: Rangef, head: usize, view: &mut View<'_>) {
    let (trace, steps) = (&view.trace().heads[head], view.steps());
    let (palette, painter, range) = (view.palette, ui.painter().clone(), story::reach(trace));
    let open = view.open;
    let stretches = &open.heads[head].stretches;
    for (index, stretch) in stretches.iter().enumerate() {
        let first = columns.step(stretch.start, steps).min;
        let last = columns.step(stretch.end, steps).min;
        let rect = Rect::from_x_y_ranges(Rangef::new(first + 0.5, last - 0.5), y);
        painter.rect_filled(rect, 2.0, palette.phases[index % 2]);
        let words = stretch.words(range);
        let galley = painter.layout_no_wrap(words, theme::text(10.0), palette.text);
        if galley.size().x + 4.0 <= rect.width() {
            let at = rect.center() - galley.size() / 2.0;
            painter.galley(at, galley, palette.text);
        } else if stretch.by.is_some_and(|by| by.unsigned_abs() > range) {
            // A jump is worth a mark where its words do not fit.
            let stroke = Stroke::new(2.0, palette.head(head));
            painter.vline(rect.center().x, y, stroke);
        }
    }
    let label = story::head_label(view.recording(), head);
    let ink = palette.subdued;
    let at = pos2(columns.time.min - 8.0, y.center());
    let name = format!("{label} moves");
    painter.text(at, Align2::RIGHT_CENTER, name, theme::text(11.0), ink);
    let now = stretches
        .iter()
        .find(|stretch| (stretch.start..stretch.end).contains(&view.step()));
    let now = now.map_or(String::new(), |stretch| stretch.words(range));
    let at = pos2(columns.time.max + 8.0, y.center());
    painter.text(
        at,
        Align2::LEFT_CENTER,
        &now,
        theme::mono(11.0),
        palette.text,
    );
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let response = interact(ui, rect, &format!("Movement of {label}"), "over time");
    scrub(&response, columns, view);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, steps);
        let here = stretches
            .iter()
            .find(|stretch| (stretch.start..stretch.end).contains(&step));
        *view.readout = here.map(|stretch| Readout {
            place: format!("{label}  steps {} to {}", stretch.start, stretch.end - 1),
            value: stretch.words(range),
            meaning: "by how many rows its peak moves in every step".to_owned(),
        });
    }
}

fn scalar_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    label: &str,
    (scalars, index): (&[Scalar], usize),
    view: &mut View<'_>,
) {
    let scalar = &scalars[index];
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let (palette, painter) = (view.palette, ui.painter().clone());
    painter.rect_filled(rect, 0.0, palette.background);
    let (low, high) = scalar.scale;
    let height = |value: f32| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        y.max - share * y.span()
    };
    if low < 0.0 {
        painter.hline(columns.time, height(0.0), palette.hairline());
    }
    let mut points: Vec<Pos2> = Vec::with_capacity(2 * scalar.values.len());
    for (step, &value) in scalar.values.iter().enumerate() {
        let x = columns.step(step, scalar.values.len());
        if value.is_finite() {
            points.extend([pos2(x.min, height(value)), pos2(x.max, height(value))]);
        } else if !is_absent(value) {
            let gap = Rect::from_x_y_ranges(x, y);
            painter.rect_filled(gap, 0.0, palette.non_finite);
        }
    }
    veil(ui, rect, scalar.values[0], view);
    let stroke = Stroke::new(1.2, palette.head(view.focus));
    painter.extend(heads::dashed(&points, stroke, view.focus));
    let now = scalar.values[view.step()];
    let (middle, ink) = (y.center(), palette.subdued);
    let at = pos2(columns.time.min - 8.0, middle);
    let name = format!("{} {}", label, scalar.symbol);
    painter.text(at, Align2::RIGHT_CENTER, name, theme::text(11.0), ink);
    let at = pos2(columns.time.max + 8.0, middle);
    let used = painter.text(
        at,
        Align2::LEFT_CENTER,
        numbers::plain(now, 2, 6),
        theme::mono(11.0),
        palette.text,
    );
    let scale = format!(
        "{}, {} to {}",
        scalar.words,
        numbers::short(low, 0),
        numbers::short(high, 1)
    );
    let at = pos2(used.right() + 10.0, middle);
    painter.text(at, Align2::LEFT_CENTER, &scale, theme::text(10.5), ink);
    let response = interact(ui, rect, &format!("{label} {scale}"), "over time");
    scrub(&response, columns, view);
    let cell = pointer(&response).map(|at| (columns.step_at(at.x, view.steps()), index));
    let sheet = Sheet {
        name: &format!("{label} over time"),
        lines: ("step", view.steps()),
        columns: ("quantity", scalars.len()),
        names: &heads::EMITTED,
        value: &|t, index| scalars[index].values[t],
    };
    sheet.menu(&response, cell, view.commands);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, view.steps());
        *view.readout = Some(Readout {
            place: format!("{label}  step {step}  {}", scalar.symbol),
            value: numbers::exact(scalar.values[step]),
            meaning: scale,
        });
    }
}
