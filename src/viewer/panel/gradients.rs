//! The bar over the pictures while they show gradients, with the way back.

use egui::Ui;

use super::View;
use crate::figure::Gradients;
use crate::train::Quantity;
use crate::viewer::command::{Episode, Play};
use crate::viewer::widget::{capitalised, from_left, from_right, one_line, text_button, words};
use crate::viewer::{keys, theme};

/// Height of the line.
pub const HEIGHT: f32 = 32.0;

/// Shows the number whose gradients are on screen, the most influential write, and a button to leave.
pub fn gradients_ui(ui: &mut Ui, by: &Gradients, view: &mut View<'_>) {
    let description = capitalised(&by.describe());
    from_right(ui, |ui| {
        let leave = Episode::Gradients(Quantity::Loss);
        let hint = keys::with_key("Show values instead of gradients", &leave.into());
        text_button(ui, "Show values", leave).on_hover_text(hint);
        if let Some(write) = by.heaviest {
            let there = format!("Go to step {}", write.step);
            text_button(ui, &there, Play::Seek(write.step))
                .on_hover_text("The write with the largest gradient");
        }
        from_left(ui, |ui| {
            let (ink, quiet) = (view.palette.strong, view.palette.text);
            words(ui, description, theme::heading(12.5), ink);
            let trace = view.trace();
            let write = by.heaviest.map(|write| by.write_in_words(&write, trace));
            let write = write.map(|write| format!("Largest gradient of a write: {write}"));
            let write = write.unwrap_or_else(|| by.heaviest_in_words(trace));
            one_line(ui, write, theme::text(12.5), quiet);
        });
    });
}
