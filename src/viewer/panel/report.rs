//! The dialog about many episodes: wrong bits, a quantity in every step, and what the parts of the machine contribute.

use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::condition::completion_ui;
use crate::analysis::expression::Expression;
use crate::figure::Area;
use crate::figure::chart::plot::{self, Plot};
use crate::viewer::command::{Command, DialogCommand, Edit, Episode, Subject};
use crate::viewer::state::{Dialog, EPISODES, FilePurpose, REMOVALS, Report, State};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Canvas, Line, Textures, field_ui, hit_area, label, note, on_click, paint_text, primary_button,
    scrolled_ui, section, send, text_button, warning,
};

/// The name of the line.
const NAME: &str = "Quantity";
/// Height of a chart with its heading, in points.
const CHART: f32 = 200.0;
/// Height of a row, in points.
const ROW: f32 = 20.0;
/// Width of the bar of a row, of which a narrow dialog has none, and of a column.
const BAR: f32 = 90.0;
const COLUMN: f32 = 84.0;
/// Width of a dialog with room for bars.
const WIDE: f32 = 480.0;

/// Shows the dialog.
pub fn report_ui(ui: &mut Ui, dialog: &Dialog, state: &State) {
    let Some(trace) = state.trace() else { return };
    let (text, entered) = field_ui(ui, dialog, ("entropy(read0.weighting), or nothing", NAME));
    completion_ui(ui, NAME, &text, trace);
    let checked = Expression::parse(&text).and_then(|parsed| parsed.quantity(trace));
    let error = checked.err().filter(|_| !text.is_empty());
    if let Some(error) = &error {
        warning(ui, &error.message);
    }
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled_ui(error.is_none(), |ui| {
            let measure = primary_button(ui, &format!("Measure {EPISODES} episodes"));
            if (measure.clicked() || entered) && error.is_none() {
                send(ui.ctx(), DialogCommand::Measure(text.clone()));
            }
        });
        let remove = text_button(ui, "Remove each part", DialogCommand::RemoveParts);
        let hint = format!("In {REMOVALS} episodes, without training again; a click shows it");
        remove.on_hover_text(hint);
        if state.has_wrong() {
            explain_button(ui);
        }
    });
    let request = &state.session.request;
    let report = state.report.as_ref().filter(|it| it.is_of(request));
    let Some(report) = report else {
        return note(
            ui,
            "Of the next seeds: wrong bits, and the quantity in every step if one is named.",
        );
    };
    ui.add_space(8.0);
    section(ui, &report.title);
    text_button(ui, "Export table", Subject::File(FilePurpose::Report));
    scrolled_ui(ui, 330.0, |ui| result_ui(ui, report));
}

/// The button that finds out which part repairs the episode.
pub fn explain_button(ui: &mut Ui) {
    let explain = text_button(ui, "Explain wrong bits", DialogCommand::Explain);
    explain.on_hover_text("Run this episode without each part, and with each gate at its mean");
}

fn result_ui(ui: &mut Ui, report: &Report) {
    let palette = Palette::of(ui);
    ui.label(&report.summary);
    for chart in &report.charts {
        let size = vec2(ui.available_width(), CHART);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        label(ui, rect, &chart.name, &chart.name);
        let textures = &mut Textures::default();
        let mut canvas = Canvas::new(ui.painter(), textures, 0);
        let (corner, data) = ([rect.left(), rect.top()], palette.data);
        let top = plot::heading(&mut canvas, chart, corner, rect.width(), data);
        let (left, right) = (rect.left() + plot::LEFT, rect.right() - plot::RIGHT);
        let inside = Area::new(left, top, right - left, rect.bottom() - plot::BELOW - top);
        Plot::new(chart, inside, data).draw(&mut canvas);
    }
    note(ui, "A click shows the episode.");
    let bar = if ui.available_width() < WIDE {
        0.0
    } else {
        BAR
    };
    // The distance of a column's right edge from that of the table.
    let from_right = |at: usize| bar + 8.0 + COLUMN * (report.columns.len() - 1 - at) as f32;
    head_ui(ui, report, from_right);
    for row in &report.rows {
        let cells = report.cells(row);
        let name = format!("{}: {}", row.name, cells.join(", "));
        let is_shown = row.seed.is_some() || !row.changes.is_empty();
        let info = WidgetInfo::labeled(Role::Button, true, &name);
        let line = if is_shown {
            Line::to_press(ui, ROW, &info)
        } else {
            Line::to_read(ui, ROW, &name)
        };
        let first = line.rect.left() + 6.0..=line.rect.right() - from_right(0);
        line.within(first, &row.name, theme::text(12.0), palette.text);
        for (at, cell) in (1..).zip(cells) {
            line.right(from_right(at), cell, theme::mono(11.0), palette.text);
        }
        let size = vec2(bar * report.share(row) as f32, ROW);
        let strip = Rect::from_min_size(pos2(line.rect.right() - bar, line.rect.top()), size);
        line.ui
            .painter()
            .rect_filled(strip.shrink2(vec2(0.0, 4.0)), 0.0, palette.warning);
        let seed = row.seed.map(|seed| Episode::Seed(seed).into());
        let changes = row.changes.iter().cloned();
        let changes = changes.map(|text| Edit::Intervene(text).into());
        let commands: Vec<Command> = seed.into_iter().chain(changes).collect();
        if line.response.clicked() && is_shown {
            send(line.ui.ctx(), DialogCommand::Leave);
            send(line.ui.ctx(), Edit::EndBranch);
            commands.into_iter().for_each(|it| send(line.ui.ctx(), it));
        }
    }
}

/// The names of the columns: a click sorts by one, a second click the other way round.
fn head_ui(ui: &mut Ui, report: &Report, from_right: impl Fn(usize) -> f32) {
    let palette = Palette::of(ui);
    let size = vec2(ui.available_width(), ROW);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    for (at, column) in report.columns.iter().enumerate() {
        let right = rect.right() - from_right(at);
        let cell = match at {
            0 => rect.with_max_x(right),
            _ => Rect::from_x_y_ranges(right - COLUMN..=right, rect.y_range()),
        };
        let name = format!("Sort by {}", column.name);
        let info = WidgetInfo::labeled(Role::Button, true, &name);
        let response = hit_area(ui, cell, &name, Sense::click(), &info);
        on_click(&response, DialogCommand::Sort(at));
        let arrow = match report.sorted {
            (by, rises) if by == at => [" ↓", " ↑"][usize::from(rises)],
            _ => "",
        };
        let ink = if response.hovered() {
            palette.strong
        } else {
            palette.subdued
        };
        let (at, align) = match at {
            0 => (cell.left_center() + vec2(6.0, 0.0), Align2::LEFT_CENTER),
            _ => (cell.right_center(), Align2::RIGHT_CENTER),
        };
        let text = format!("{}{arrow}", column.name);
        paint_text(ui.painter(), at, align, &text, theme::heading(11.0), ink);
        response.on_hover_text(name);
    }
}
