//! The bar over the pictures while they show gradients, with the way back.

use egui::{Align, Label, Layout, RichText, Ui};

use super::View;
use crate::figure::Gradients;
use crate::train::Quantity;
use crate::viewer::command::{Episode, Play};
use crate::viewer::theme;
use crate::viewer::widget::button::text_button;

/// Height of the line.
pub const HEIGHT: f32 = 32.0;

/// Shows the number whose gradients are on screen, the most influential write, and a button to leave.
pub fn gradients_ui(ui: &mut Ui, by: &Gradients, view: &mut View<'_>) {
    let description = by.describe().replacen('g', "G", 1);
    let layout = Layout::right_to_left(Align::Center);
    ui.with_layout(layout, |ui| {
        let leave = Episode::Gradients(Quantity::Loss);
        let values = text_button(ui, "Show values", leave, view.commands);
        values.on_hover_text("Show values instead of gradients  (Y or Esc)");
        if let Some(write) = by.heaviest {
            let there = format!("Go to step {}", write.step);
            text_button(ui, &there, Play::Seek(write.step), view.commands)
                .on_hover_text("The write with the largest gradient");
        }
        let layout = Layout::left_to_right(Align::Center);
        ui.with_layout(layout, |ui| {
            let (ink, quiet) = (view.palette.strong, view.palette.text);
            let name = RichText::new(description).font(theme::heading(12.5));
            ui.label(name.color(ink));
            let trace = view.trace();
            let write = by.heaviest.map(|write| by.write_in_words(&write, trace));
            let write = write.map_or_else(
                || by.heaviest_in_words(trace),
                |write| format!("Largest gradient of a write: {write}"),
            );
            let write = RichText::new(write).font(theme::text(12.5));
            ui.add(Label::new(write.color(quiet)).truncate());
        });
    });
}
