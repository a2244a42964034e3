//! The numbers of the selected head over time, one line each, under the loss.

use egui::{Align2, Painter, Rangef, Rect, Response, Stroke, Ui, pos2};

use super::copy_menu::Sheet;
use super::parts::pointer;
use super::{Columns, LANE, RIBBON, View, interact, overlap, scrub};
use crate::figure::{EMITTED, HeadName, Scalar, facts::numbers, scene::lanes};
use crate::model::HeadTrace;
use crate::viewer::narration;
use crate::viewer::theme;
use crate::viewer::widget::canvas::{Canvas, area};
use crate::viewer::widget::readout::Readout;

/// No words fit into less, in points.
const LEAST_WORDS: f32 = 12.0;

/// All lines, from this height down.
pub fn scalars_ui(ui: &mut Ui, columns: &Columns, top: f32, view: &mut View<'_>) {
    let Some(head) = view.head() else { return };
    let heads = &view.trace().heads;
    let other = |index: &usize| heads[*index].is_write() != head.is_write();
    let beside = view
        .state
        .view
        .pinned
        .or_else(|| (0..heads.len()).find(other));
    let description = std::iter::once(view.focus).chain(beside);
    for (index, head) in description.enumerate() {
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
    let label = narration::head_label(view.recording(), view.focus);
    let open = view.open;
    let scalars = &open.heads[view.focus].scalars;
    // A head that has more than the usual five has them in the same room.
    let lane = LANE * 5.0 / scalars.len().max(5) as f32;
    for index in 0..scalars.len() {
        let top = top + index as f32 * lane;
        let y = Rangef::new(top, top + lane - 3.0);
        let head = Some(HeadName::of(view.trace(), view.focus));
        let place = scalar_ui(ui, columns, y, (&label, head), &scalars[index], view);
        let names: Vec<_> = scalars.iter().map(|scalar| scalar.of.array.name).collect();
        let sheet = Sheet {
            name: &format!("{label} over time"),
            lines: ("step", view.steps()),
            columns: ("quantity", scalars.len()),
            names: &names,
            value: &|t, index| scalars[index].values[t],
        };
        let cell = place.1.map(|step| (step, index));
        sheet.menu(&place.0, cell, view.commands);
    }
    let top = top + EMITTED.len() as f32 * LANE;
    redundancy_ui(ui, columns, Rangef::new(top, top + LANE - 3.0), view);
    let top = top
        + LANE
            * if view.open.redundancies.0.is_empty() {
                0.0
            } else {
                1.0
            };
    unknown_ui(ui, columns, Rangef::new(top, top + LANE - 3.0), view);
}

/// Shows the epistemic uncertainty of many samples over time.
fn unknown_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let Some(spread) = view.open.spread.as_deref() else {
        return;
    };
    let lines = spread.lines();
    let label = format!("K={}", spread.samples);
    let (response, step) = scalar_ui(ui, columns, y, (&label, None), &lines[2], view);
    let names = lines.each_ref().map(|line| line.of.array.name);
    let sheet = Sheet {
        name: &format!("uncertainty of {} samples over time", spread.samples),
        lines: ("step", view.steps()),
        columns: ("quantity", names.len()),
        names: &names,
        value: &|t, index| lines[index].values[t],
    };
    sheet.menu(&response, step.map(|step| (step, 2)), view.commands);
    let Some(step) = step.filter(|_| response.hover_pos().is_some()) else {
        return;
    };
    let description = lines.each_ref().map(|line| {
        let value = numbers::exact(line.values[step]);
        format!("{} {value}  {}", line.of.symbol, line.of.words)
    });
    *view.readout = Some(Readout {
        place: format!("{} samples  step {step}  I", spread.samples),
        value: numbers::exact(lines[2].values[step]),
        meaning: match spread.step(step) {
            Some(_) => format!("{}\n{}", description.join("\n"), narration::UNCERTAIN),
            None => "no output is scored in this step".to_owned(),
        },
    });
}

/// Shows the penalty over time of the heads of the selected head's kind.
fn redundancy_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let all = &view.open.redundancies;
    let is_write = view.head().is_some_and(HeadTrace::is_write);
    let Some(of) = all.like(is_write) else {
        return;
    };
    let (response, step) = scalar_ui(ui, columns, y, (of.who, of.head), &of.line, view);
    let names: Vec<_> = all.0.iter().map(|of| of.line.of.array.name).collect();
    let own = all.0.iter().position(|other| other.who == of.who);
    let sheet = Sheet {
        name: "redundancy over time",
        lines: ("step", view.steps()),
        columns: ("heads", names.len()),
        names: &names,
        value: &|t, kind| all.0[kind].line.values[t],
    };
    sheet.menu(&response, step.zip(own), view.commands);
    if let Some(step) = step.filter(|_| response.hover_pos().is_some()) {
        *view.readout = Some(overlap::penalty(of, view.trace(), step));
    }
}

/// Returns the steps to draw from left to right, no finer than pixels.
#[derive(Default)]
struct Pixels(Option<f32>);

impl Pixels {
    /// True for a step that ends in another pixel than the one drawn before it.
    fn is_next(&mut self, end: f32) -> bool {
        let next = self.0.is_none_or(|before| end >= before + 1.0);
        if next {
            self.0 = Some(end);
        }
        next
    }
}

/// The stretches themselves: of those that share a pixel the first.
fn stretches_ui(painter: &Painter, columns: &Columns, y: Rangef, head: usize, view: &View<'_>) {
    let (palette, steps) = (view.palette, view.steps());
    let range = narration::reach(&view.trace().heads[head]);
    let (mut filled, mut marked) = (Pixels::default(), Pixels::default());
    for (index, stretch) in view.open.heads[head].stretches.iter().enumerate() {
        let first = columns.step(stretch.start, steps).min;
        let last = columns.step(stretch.end, steps).min;
        let x = Rangef::new(first + 0.5, (last - 0.5).max(first + 1.0));
        let rect = Rect::from_x_y_ranges(x, y);
        if filled.is_next(last) {
            painter.rect_filled(rect, 2.0, palette.phases[index % 2]);
        }
        if rect.width() >= LEAST_WORDS {
            let words = stretch.words(range);
            let galley = painter.layout_no_wrap(words, theme::text(10.0), palette.text);
            if galley.size().x + 4.0 <= rect.width() {
                let at = rect.center() - galley.size() / 2.0;
                painter.galley(at, galley, palette.text);
                continue;
            }
        }
        // A jump is worth a mark where its words do not fit.
        let jumps = stretch.by.is_some_and(|by| by.unsigned_abs() > range);
        if jumps && marked.is_next(rect.center().x) {
            let stroke = Stroke::new(2.0, view.head_color(head));
            painter.vline(rect.center().x, y, stroke);
        }
    }
}

/// Shows the movement of a head, stretch by stretch: `+1 ×20`.
fn ribbon_ui(ui: &mut Ui, columns: &Columns, y: Rangef, head: usize, view: &mut View<'_>) {
    let (trace, steps) = (&view.trace().heads[head], view.steps());
    let (palette, painter, range) = (view.palette, ui.painter().clone(), narration::reach(trace));
    let open = view.open;
    let stretches = &open.heads[head].stretches;
    stretches_ui(&painter, columns, y, head, view);
    let label = narration::head_label(view.recording(), head);
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
    scrub(&response, columns.time, view);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, steps);
        let here = stretches
            .iter()
            .find(|stretch| (stretch.start..stretch.end).contains(&step));
        *view.readout = here.map(|stretch| Readout {
            place: format!("{label}  steps {} to {}", stretch.start, stretch.end - 1),
            value: stretch.words(range),
            meaning: "rows by which its peak moves per step".to_owned(),
        });
    }
}

/// A line over time, and the step under the pointer.
fn scalar_ui(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    (label, head): (&str, Option<HeadName>),
    scalar: &Scalar,
    view: &mut View<'_>,
) -> (Response, Option<usize>) {
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let (palette, painter) = (view.palette, ui.painter().clone());
    let (low, high) = scalar.scale;
    let page = view.page(ui.pixels_per_point());
    let mut canvas = Canvas::new(&painter, view.textures, view.open.serial);
    lanes::one(&mut canvas, scalar, head, &area(rect), &page);
    let now = scalar.values[view.step()];
    let (middle, ink) = (y.center(), palette.subdued);
    let at = pos2(columns.time.min - 8.0, middle);
    let name = format!("{} {}", label, scalar.of.symbol);
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
        scalar.of.words,
        numbers::short(low, 0),
        end(high)
    );
    let at = pos2(used.right() + 10.0, middle);
    painter.text(at, Align2::LEFT_CENTER, &scale, theme::text(10.5), ink);
    let response = interact(ui, rect, &format!("{label} {scale}"), "over time");
    scrub(&response, columns.time, view);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, view.steps());
        *view.readout = Some(Readout {
            place: format!("{label}  step {step}  {}", scalar.of.symbol),
            value: numbers::exact(scalar.values[step]),
            meaning: scale,
        });
    }
    let step = pointer(&response).map(|at| columns.step_at(at.x, view.steps()));
    (response, step)
}

/// The upper end of a scale.
fn end(high: f32) -> String {
    if high >= 1.0 {
        return numbers::short(high, 1);
    }
    numbers::short(high, 3).trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_ribbon_has_no_more_parts_than_pixels() {
        let columns = Columns::new(1440.0, (true, true), (2, false), false);
        let mut drawn = Pixels::default();
        let ends = (0..4001).map(|step| columns.step(step, 4001).max);
        let count = ends.filter(|&end| drawn.is_next(end)).count();
        assert!(count <= columns.time.span() as usize + 1, "{count}");
    }
}
