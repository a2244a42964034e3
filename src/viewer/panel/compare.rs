//! Two episodes on one clock: their pictures, and in words how they differ.

use egui::{Align, Layout, Rect, RichText, ScrollArea, Ui, UiBuilder, pos2};

use super::View;
use super::page::page_ui;
use crate::figure::page::debug::geometry::Columns;
use crate::figure::scene::axes;
use crate::figure::{Options, Picture, PlacedPanel};
use crate::viewer::command::{Command, Compare};
use crate::viewer::keys::tooltip;
use crate::viewer::narration::comparison;
use crate::viewer::state::compare::{Differences, Pair, TOLERANCES};
use crate::viewer::theme;
use crate::viewer::widget::button::text_button;
use crate::viewer::widget::canvas::{Canvas, area};
use crate::viewer::widget::property::note;

/// Height below which the text has few lines.
const LOW: f32 = 220.0;
/// Height above the first picture of memory: its name.
const NAME: f32 = 26.0;

/// Everything about two episodes.
pub fn compare_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let Some(pair) = view.pair else { return };
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    match pair.found {
        None => message_ui(ui, "Comparing …", &[]),
        Some(Err(sizes)) => message_ui(ui, "A and B cannot be compared.", sizes),
        Some(Ok(found)) => {
            let options = Options {
                density: ui.pixels_per_point(),
                step: Some(view.step()),
                hides_future: view.player.playing(),
                ..view.state.figure()
            };
            let Some(picture) = view.state.two(&options) else {
                return;
            };
            let canvas = Canvas::new(ui.painter(), view.textures, pair.serial());
            let mut canvas = canvas.of_page(area(rect));
            let places = picture.figure().paint(&mut canvas, area(rect));
            let at = [
                columns.step(view.step(), view.steps()).center(),
                rect.top() + 5.0,
            ];
            let page = view.page(ui.pixels_per_point());
            let step = view.step().to_string();
            axes::pill(&mut view.canvas(ui), &step, at, &page);
            page_ui(ui, &places, None, view);
            let is_memory = |place: &&PlacedPanel<'_>| place.panel.id.picture == Picture::Memory;
            let memory = places.iter().find(is_memory);
            let bottom = memory.map_or(rect.bottom(), |memory| memory.area.top - NAME);
            let left = columns.memory.min - 36.0;
            let room = Rect::from_min_max(
                pos2(left, rect.top() + 6.0),
                pos2(columns.memory.max, bottom),
            );
            outcome_ui(ui, room, found, &pair, view);
        }
    }
}

/// Words where there are no pictures.
fn message_ui(ui: &mut Ui, title: &str, lines: &[String]) {
    let middle = ui.max_rect().center();
    let size = egui::vec2(ui.max_rect().width() - 80.0, 120.0);
    let rect = Rect::from_center_size(middle, size);
    let layout = Layout::top_down(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    ui.label(RichText::new(title).font(theme::heading(14.0)));
    for line in lines {
        note(&mut ui, line);
    }
    if !lines.is_empty() {
        note(
            &mut ui,
            "Choose a machine of the same task, or press Esc to end the comparison.",
        );
    }
}

/// Shows the differences as text, and the commands.
fn outcome_ui(ui: &mut Ui, room: Rect, found: &Differences, pair: &Pair<'_>, view: &mut View<'_>) {
    let mut ui = ui.new_child(
        UiBuilder::new()
            .max_rect(room)
            .layout(Layout::top_down(Align::Min)),
    );
    ui.set_clip_rect(room.intersect(ui.clip_rect()));
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            ui.spacing_mut().item_spacing.y = if room.height() < LOW { 2.0 } else { 4.0 };
            let strong = |text: String| RichText::new(text).size(12.0).color(view.palette.text);
            ui.label(strong(comparison::verdicts(pair)));
            ui.label(strong(comparison::largest(&found.values)));
            let first = comparison::first_difference(pair, &found.values);
            if !first.is_empty() {
                ui.label(strong(first));
            }
            controls_ui(ui, found, pair, view);
            for line in found.values.not_compared() {
                let low = room.height() < LOW;
                note_ui(ui, &line, low, view);
            }
        });
}

/// Shows a line in small letters; in little space it ends in dots and is given in full in the tooltip.
fn note_ui(ui: &mut Ui, line: &str, low: bool, view: &View<'_>) {
    let text = RichText::new(line).size(11.5).color(view.palette.subdued);
    let label = egui::Label::new(text);
    if low {
        ui.add(label.truncate());
    } else {
        ui.add(label);
    }
}

fn controls_ui(ui: &mut Ui, found: &Differences, pair: &Pair<'_>, view: &mut View<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let command = Command::Compare(Compare::FirstDifference);
        ui.add_enabled_ui(found.values.first.is_some(), |ui| {
            text_button(ui, "Go to first difference", command.clone(), view.commands)
                .on_hover_text(tooltip(&command));
        });
        let words = if pair.difference {
            "Hide B − A"
        } else {
            "Show B − A"
        };
        let command = Command::Compare(Compare::ToggleDifference);
        text_button(ui, words, command.clone(), view.commands).on_hover_text(tooltip(&command));
        if pair.can_have_same_input() {
            text_button(
                ui,
                "Use same input for B",
                Compare::SameInput,
                view.commands,
            );
        }
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        note(ui, "tolerance");
        for (tolerance, name) in TOLERANCES {
            let button = ui.selectable_label(tolerance == pair.tolerance, name);
            if button.clicked() {
                view.commands
                    .push(Command::Compare(Compare::Tolerance(tolerance)));
            }
            button.on_hover_text("Differences up to this are ignored; relative for values above 1");
        }
    });
}
