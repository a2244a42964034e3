//! The dialog about many episodes: a quantity in every step, wrong bits, and what the parts of the machine contribute.

use egui::{Rect, Role, Ui, WidgetInfo, vec2};

use super::condition::completion_ui;
use crate::analysis::expression::Expression;
use crate::figure::Area;
use crate::figure::chart::plot::{self, Plot};
use crate::viewer::command::{Command, DialogCommand, Edit, Episode};
use crate::viewer::state::{Dialog, EPISODES, REMOVALS, Report, State};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Canvas, Line, Textures, field_ui, label, note, primary_button, scrolled_ui, section, send,
    text_button, warning,
};

/// The name of the line.
const NAME: &str = "Quantity";
/// Height of a chart with its heading, in points.
const CHART: f32 = 200.0;
/// Width of the strip that shows how much a row lost, and height of a row, in points.
const ROW: [f32; 2] = [90.0, 20.0];

/// Shows the dialog.
pub fn report_ui(ui: &mut Ui, dialog: &Dialog, state: &State) {
    let Some(trace) = state.trace() else { return };
    let (text, entered) = field_ui(ui, dialog, ("entropy(read0.weighting)", NAME));
    completion_ui(ui, NAME, &text, trace);
    let checked = Expression::parse(&text).and_then(|parsed| parsed.quantity(trace));
    if let Err(error) = &checked
        && !text.is_empty()
    {
        warning(ui, &error.message);
    }
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled_ui(checked.is_ok(), |ui| {
            let measure = primary_button(ui, &format!("Measure {EPISODES} episodes"));
            if (measure.clicked() || entered) && checked.is_ok() {
                send(ui.ctx(), DialogCommand::Measure(text.clone()));
            }
        });
        let all = DialogCommand::Measure(String::new());
        let remove = text_button(ui, "Remove each part", all);
        let hint = format!("In {REMOVALS} episodes, without training again; a click shows it");
        remove.on_hover_text(hint);
    });
    let request = &state.session.request;
    let report = state.report.as_ref().filter(|it| it.is_of(request));
    let Some(report) = report else {
        return note(
            ui,
            "Of the next seeds: the quantity in every step, and wrong bits.",
        );
    };
    ui.add_space(8.0);
    section(ui, &report.title);
    scrolled_ui(ui, 290.0, |ui| result_ui(ui, report));
}

fn result_ui(ui: &mut Ui, report: &Report) {
    let palette = Palette::of(ui);
    for chart in &report.charts {
        let size = vec2(ui.available_width(), CHART);
        let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        label(ui, rect, &chart.name, &chart.name);
        let textures = &mut Textures::default();
        let mut canvas = Canvas::new(ui.painter(), textures, 0);
        let (corner, data) = ([rect.left(), rect.top()], palette.data);
        let top = plot::heading(&mut canvas, chart, corner, rect.width(), data);
        let (left, right) = (rect.left() + plot::LEFT, rect.right() - plot::RIGHT);
        let inside = Area::new(left, top, right - left, rect.bottom() - plot::BELOW - top);
        Plot::new(chart, inside, data).draw(&mut canvas);
    }
    if report.rows.is_empty() {
        note(ui, &format!("No {}.", report.unit));
    } else {
        note(
            ui,
            &format!("Bars: {}. A click shows the episode.", report.unit),
        );
    }
    for row in &report.rows {
        let [what, result] = &row.words;
        let name = format!("{what}: {result}");
        let is_shown = row.seed.is_some() || !row.changes.is_empty();
        let info = WidgetInfo::labeled(Role::Button, true, &name);
        let line = if is_shown {
            Line::to_press(ui, ROW[1], &info)
        } else {
            Line::to_read(ui, ROW[1], &name)
        };
        line.left(6.0, what, theme::text(12.0), palette.text);
        line.right(ROW[0] + 8.0, result, theme::mono(11.0), palette.text);
        let strip = Rect::from_min_size(line.rect.min, vec2(ROW[0] * row.heat as f32, ROW[1]));
        let strip = strip.translate(vec2(line.rect.width() - ROW[0], 0.0));
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
