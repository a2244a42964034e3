//! Rows of a panel: a label at the left, a value at the right, all of one height.

use egui::{Align, Layout, Response, RichText, Ui, vec2};

use super::super::theme::{self, Palette};

/// Width of the labels.
const LABEL: f32 = 74.0;

/// The heading of a section.
pub fn section(ui: &mut Ui, title: &str) {
    let palette = Palette::of(ui);
    let text = RichText::new(title.to_uppercase())
        .font(theme::heading(10.5))
        .extra_letter_spacing(0.6)
        .color(palette.subdued);
    ui.label(text);
}

/// A labelled control.
pub fn control<R>(ui: &mut Ui, label: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    let size = vec2(ui.available_width(), theme::ROW);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        let palette = Palette::of(ui);
        let label = RichText::new(label).color(palette.subdued);
        ui.add_sized(vec2(LABEL, theme::ROW), |ui: &mut Ui| -> Response {
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.label(label))
                .response
        });
        ui.with_layout(Layout::right_to_left(Align::Center), add)
            .inner
    })
    .inner
}

/// A labelled number in the fixed-width face, right-aligned.
pub fn number(ui: &mut Ui, symbol: &str, words: &str, value: &str) {
    let palette = Palette::of(ui);
    let size = vec2(ui.available_width(), 20.0);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let info = format!("{words} {} {}", symbol, value.trim());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &info));
    let painter = ui.painter();
    let middle = rect.center().y;
    let left = egui::Align2::LEFT_CENTER;
    painter.text(
        egui::pos2(rect.left(), middle),
        left,
        symbol,
        theme::text(13.0),
        palette.text,
    );
    painter.text(
        egui::pos2(rect.left() + 34.0, middle),
        left,
        words,
        theme::text(12.0),
        palette.subdued,
    );
    painter.text(
        egui::pos2(rect.right(), middle),
        egui::Align2::RIGHT_CENTER,
        value,
        theme::mono(12.5),
        palette.strong,
    );
}

/// A paragraph of explanation.
pub fn note(ui: &mut Ui, text: &str) {
    let palette = Palette::of(ui);
    ui.label(RichText::new(text).size(11.5).color(palette.subdued));
}
