//! The program, its version and licences.

use egui::Ui;

use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{note, scrolled_ui, section, words};

const LICENCES: [(&str, &str); 5] = [
    ("MIT licence", include_str!("../../../LICENSE-MIT")),
    (
        "Apache licence 2.0",
        include_str!("../../../LICENSE-APACHE"),
    ),
    (
        "Inter",
        include_str!("../../../assets/fonts/Inter-LICENSE.txt"),
    ),
    (
        "JetBrains Mono",
        include_str!("../../../assets/fonts/JetBrainsMono-LICENSE.txt"),
    ),
    (
        "Lucide",
        include_str!("../../../assets/fonts/Lucide-LICENSE.txt"),
    ),
];

/// Version, origins and all licences in full.
pub fn about_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    let version = concat!("Version ", env!("CARGO_PKG_VERSION"));
    words(ui, version, theme::text(13.0), palette.text);
    ui.label(
        "A simulator and viewer for Neural Turing Machines (Graves, Wayne and Danihelka 2014). Licensed under MIT or \
         Apache-2.0, at your choice.",
    );
    note(
        ui,
        "The fonts are Inter and JetBrains Mono, under the SIL Open Font Licence 1.1, with icons of Lucide (ISC). The colour maps are \
         magma and viridis of Matplotlib and cividis of Nuñez, Anderton and Renslow, all CC0. The window is \
         made with egui and eframe (MIT or Apache-2.0); Cargo.lock names every other crate.",
    );
    ui.add_space(8.0);
    scrolled_ui(ui, 290.0, |ui| {
        for (name, text) in LICENCES {
            section(ui, name);
            words(ui, text, theme::mono(10.5), palette.subdued);
            ui.add_space(theme::SECTION);
        }
    });
}
