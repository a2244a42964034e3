//! The findings of live training: one at a time, the newest until another is selected.

use egui::{Align, Layout, RichText, Ui};

use crate::viewer::command::{Command, Learn};
use crate::viewer::state::learning::LiveTraining;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::icon_button;
use crate::viewer::widget::icon::Icon;

/// Height of the words, in points: two lines of a wide window, four of a phone.
pub const HEIGHT: f32 = 84.0;
pub const HEIGHT_ON_PHONE: f32 = theme::FINGER + 84.0;

/// The selected finding.
pub fn finding_ui(ui: &mut Ui, learning: &LiveTraining, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let findings = learning.findings();
    let shown = learning.finding_shown();
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.horizontal(|ui| {
        ui.set_height(ui.spacing().interact_size.y);
        let found = shown.and_then(|index| findings.get(index));
        let (name, ink) = match found {
            Some(finding) if finding.kind.is_good() => (finding.kind.name(), palette.accent),
            Some(finding) => (finding.kind.name(), palette.warning),
            None => ("Findings", palette.strong),
        };
        let mut name = name.to_owned();
        name[..1].make_ascii_uppercase();
        ui.label(RichText::new(name).font(theme::heading(13.0)).color(ink));
        if let Some(finding) = found {
            let at = format!("after {} sequences", finding.sequences);
            ui.label(
                RichText::new(at)
                    .font(theme::text(11.0))
                    .color(palette.subdued),
            );
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            if let Some(index) = shown.filter(|_| findings.len() > 1) {
                icon_button(ui, Icon::Next, Learn::MoveFinding(1), false, commands);
                icon_button(ui, Icon::Previous, Learn::MoveFinding(-1), false, commands);
                let count = format!("{} of {}", index + 1, findings.len());
                ui.label(
                    RichText::new(count)
                        .font(theme::mono(11.0))
                        .color(palette.subdued),
                );
            }
        });
    });
    let words = shown.and_then(|index| findings.get(index)).map_or(
        if learning.read_only.is_some() {
            "A run from a file has validations and training snapshots: drag along the training timeline below. Gradient and head statistics exist only for live training."
        } else {
            "No findings yet. Findings about heads, gradient and loss appear here and as marks on the training timeline below."
        },
        |finding| finding.words.as_str(),
    );
    ui.label(
        RichText::new(words)
            .font(theme::text(if theme::is_by_finger(ui.ctx()) {
                14.0
            } else {
                12.0
            }))
            .color(palette.text),
    );
}
