//! The page on attention mechanisms: what they have in common, a card for each, and where uncertainty comes from.

use egui::Ui;

use super::welcome::{Card, GAP, page_ui, section_ui};
use crate::io::preset::{FAMILY, FAMILY_ABOUT, MechanismGroup, UNCERTAINTY};
use crate::viewer::command::{Subject, Window};
use crate::viewer::state::State;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Textures, named_button, note, on_click, primary_button, section, words,
};

/// What the pictures show.
const PICTURES: &str = "Each picture is the episode that a click opens: time to the right, rows down, weights in the colour of their head \
     (strong: large). Without attention: hidden units.";

/// The randomness that no card shows.
const SEEDS: &str = "The parameters are uncertain too: training from another seed finds others. Train ten seeds (Ctrl+K) shows it.";

/// The page on attention mechanisms.
pub fn family_ui(ui: &mut Ui, state: &State, textures: &mut Textures) {
    page_ui(ui, "attention", |ui| {
        let palette = Palette::of(ui);
        let title = "Attention mechanisms";
        words(ui, title, theme::heading(22.0), palette.strong);
        ui.add_space(2.0);
        words(ui, FAMILY_ABOUT, theme::text(14.0), palette.text);
        ui.add_space(6.0);
        ui.horizontal_wrapped(|ui| {
            on_click(
                &primary_button(ui, "Return to start page"),
                Window::ToggleFamily,
            );
            named_button(ui, Subject::Glossary);
        });
        ui.add_space(GAP);
        note(ui, PICTURES);
        ui.add_space(8.0);
        for group in &FAMILY {
            group_ui(ui, group, state, textures);
        }
        group_ui(ui, &UNCERTAINTY, state, textures);
        note(ui, SEEDS);
    });
}

/// Shows the mechanisms that attend to the same kind of rows.
fn group_ui(ui: &mut Ui, group: &MechanismGroup, state: &State, textures: &mut Textures) {
    section(ui, group.title);
    note(ui, group.about);
    ui.add_space(2.0);
    let cards = group.mechanisms.iter().map(|of| Card::of(state, of));
    section_ui(ui, &cards.collect::<Vec<_>>(), 0.0, state, textures);
}
