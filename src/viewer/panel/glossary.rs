//! The glossary, as a dialog: typing narrows it, a button shows the term in an episode.

use egui::Ui;

use crate::viewer::command::Episode;
use crate::viewer::glossary::terms;
use crate::viewer::state::Dialog;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{field_ui, note, scrolled_ui, text_button, words};

/// Shows the terms that contain what is typed.
pub fn glossary_ui(ui: &mut Ui, dialog: &Dialog) {
    let (text, _) = field_ui(ui, dialog, ("type a term", "Term"));
    ui.add_space(8.0);
    let typed = text.to_lowercase();
    scrolled_ui(ui, 200.0, |ui| {
        let found = terms().filter(|term| term.title().to_lowercase().contains(&typed));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            note(ui, "No such term.");
        }
        for term in found {
            ui.horizontal(|ui| {
                let ink = Palette::of(ui).strong;
                words(ui, term.title(), theme::heading(13.0), ink);
                if let Some(link) = term.link {
                    let name = format!("Show {}", term.name);
                    text_button(ui, "Show", Episode::Link(link))
                        .on_hover_text(format!("{name} in an episode"));
                }
            });
            ui.label(term.meaning);
            note(ui, term.source);
            ui.add_space(8.0);
        }
    });
}
