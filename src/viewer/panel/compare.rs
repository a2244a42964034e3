//! Two episodes on one clock: their pictures, and in words how they differ.

use egui::{Align, Layout, Rect, RichText, ScrollArea, Ui, UiBuilder, vec2};

use super::page::page_ui;
use super::{View, within};
use crate::figure::page::debug::geometry::Columns;
use crate::figure::scene::axes;
use crate::figure::{Picture, PlacedPanel, Surface};
use crate::viewer::command::Compare;
use crate::viewer::narration::comparison;
use crate::viewer::state::{Differences, Pair, TOLERANCES};
use crate::viewer::theme;
use crate::viewer::widget::{Canvas, area, choice, key_button, note, one_line, text_button, words};

/// Height below which the text has few lines.
const LOW: f32 = 220.0;
/// Height above the first picture of memory: its name.
const NAME: f32 = 26.0;

/// Everything about two episodes.
pub fn compare_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let Some(pair) = view.state.pair() else {
        return;
    };
    let found = match pair.found {
        None => return message_ui(ui, "Comparing …", &[]),
        Some(Err(sizes)) => return message_ui(ui, "A and B cannot be compared.", sizes),
        Some(Ok(found)) => found,
    };
    let Some(picture) = view.state.comparison_figure(&view.figure(ui)) else {
        return;
    };
    let rect = ui.max_rect().shrink2(vec2(2.0, 4.0));
    let canvas = Canvas::new(ui.painter(), view.textures, pair.serial());
    let mut canvas = canvas.of_page(area(rect));
    let places = picture.figure().paint(&mut canvas, area(rect));
    let x = columns.step(view.step(), view.steps()).center();
    let (page, step) = (view.page(ui.pixels_per_point()), view.step().to_string());
    let mut canvas = view.canvas(ui);
    let on = &mut Surface::new(&mut canvas, &page);
    axes::pill(on, &step, [x, rect.top() + 5.0]);
    page_ui(ui, &places, None, view);
    let is_memory = |place: &&PlacedPanel<'_>| place.panel.id.picture == Picture::Memory;
    let memory = places.iter().find(is_memory);
    let bottom = memory.map_or(rect.bottom(), |memory| memory.area.top - NAME);
    let x = columns.memory.min - 36.0..=columns.memory.max;
    let room = Rect::from_x_y_ranges(x, rect.top() + 6.0..=bottom);
    within(ui, room, |ui| outcome_ui(ui, found, &pair, view));
}

/// Words where there are no pictures.
fn message_ui(ui: &mut Ui, title: &str, lines: &[String]) {
    let whole = ui.max_rect();
    let rect = Rect::from_center_size(whole.center(), vec2(whole.width() - 80.0, 120.0));
    let layout = Layout::top_down(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    ui.label(RichText::new(title).font(theme::heading(14.0)));
    for line in lines {
        note(&mut ui, line);
    }
    if !lines.is_empty() {
        let next = "Choose a machine of the same task, or press Esc to end the comparison.";
        note(&mut ui, next);
    }
}

/// Shows the differences as text, and the commands. In little space a line ends in dots.
fn outcome_ui(ui: &mut Ui, found: &Differences, pair: &Pair<'_>, view: &mut View<'_>) {
    let is_low = ui.max_rect().height() < LOW;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = if is_low { 2.0 } else { 4.0 };
        let [ink, quiet] = [view.palette.text, view.palette.subdued];
        let (first, values) = (
            comparison::first_difference(pair, &found.values),
            &found.values,
        );
        let told = if let Some(why) = found.common.why_unlike() {
            let unlike = format!("{why}: each has its own axis, and only answers are compared.");
            [comparison::verdicts(pair), unlike, String::new()]
        } else {
            [
                comparison::verdicts(pair),
                comparison::largest(values),
                first,
            ]
        };
        for told in told {
            if !told.is_empty() {
                words(ui, told, theme::text(12.0), ink);
            }
        }
        controls_ui(ui, found, pair);
        for line in found.values.not_compared() {
            let say = if is_low { one_line } else { words };
            say(ui, line, theme::text(11.5), quiet);
        }
    });
}

fn controls_ui(ui: &mut Ui, found: &Differences, pair: &Pair<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let first = Compare::FirstDifference;
        ui.add_enabled_ui(found.values.first.is_some(), |ui| {
            key_button(ui, "Go to first difference", first);
        });
        let verb = if pair.difference { "Hide" } else { "Show" };
        let toggle = Compare::ToggleDifference;
        key_button(ui, &format!("{verb} B − A"), toggle);
        if pair.can_have_same_input() {
            text_button(ui, "Use same input for B", Compare::SameInput);
        }
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        note(ui, "tolerance");
        for (tolerance, name) in TOLERANCES {
            let (is_on, command) = (tolerance == pair.tolerance, Compare::Tolerance(tolerance));
            let button = choice(ui, is_on, name, command);
            button.on_hover_text("Differences up to this are ignored; relative for values above 1");
        }
    });
}
