//! The findings of live training: one at a time, the newest until another is selected.

use egui::{Color32, Ui};

use crate::learn::Finding;
use crate::viewer::command::Learn;
use crate::viewer::state::LiveTraining;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{Icon, capitalised, from_right, icon_button, or_pointer, words};

/// Height of the words, in points: two lines of a wide window, four of a phone.
pub const HEIGHT: f32 = 84.0;
pub const HEIGHT_ON_PHONE: f32 = theme::FINGER + 84.0;

const NONE: &str = "No findings yet. Findings about heads, gradient and loss appear here and as marks on the training timeline below.";
/// [`NONE`] for a run from a file.
const NONE_IN_FILES: &str = "A run from a file has validations and training snapshots: drag along the training timeline below. Gradient and head statistics exist only for live training.";

/// The colour of a finding.
pub fn ink(finding: &Finding, palette: &Palette) -> Color32 {
    let inks = [palette.warning, palette.accent];
    inks[usize::from(finding.kind.is_good())]
}

/// The selected finding.
pub fn finding_ui(ui: &mut Ui, learning: &LiveTraining) {
    let (palette, findings) = (Palette::of(ui), learning.findings());
    let shown = learning.finding_shown();
    let found = shown.map(|index| &findings[index]);
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.horizontal(|ui| {
        ui.set_height(ui.spacing().interact_size.y);
        let (name, ink) = found.map_or(("Findings", palette.strong), |found| {
            (found.kind.name(), ink(found, palette))
        });
        words(ui, capitalised(name), theme::heading(13.0), ink);
        if let Some(found) = found {
            let at = format!("after {} sequences", found.sequences);
            words(ui, at, theme::text(11.0), palette.subdued);
        }
        from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            if let Some(index) = shown.filter(|_| findings.len() > 1) {
                icon_button(ui, Icon::Next, Learn::MoveFinding(1), false);
                icon_button(ui, Icon::Previous, Learn::MoveFinding(-1), false);
                let count = format!("{} of {}", index + 1, findings.len());
                words(ui, count, theme::mono(11.0), palette.subdued);
            }
        });
    });
    let is_of_file = learning.read_only.is_some();
    let none = if is_of_file { NONE_IN_FILES } else { NONE };
    let said = found.map_or(none, |found| &found.words);
    let font = theme::text(or_pointer(ui.ctx(), 14.0, 12.0));
    words(ui, said, font, palette.text);
}
