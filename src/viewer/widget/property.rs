//! Rows of a panel: a label at the left, a value at the right, all of one height.

use egui::{Align, Color32, Context, FontId, Layout, Response, RichText, Ui, vec2};

use super::super::glossary;
use super::super::theme::{self, Palette};
use super::line::Line;

/// Width of the labels.
const LABEL: f32 = 74.0;

/// The heading of a section.
pub fn section(ui: &mut Ui, title: &str) {
    let palette = Palette::of(ui);
    let text = RichText::new(title.to_uppercase())
        .font(theme::heading(10.5))
        .extra_letter_spacing(0.6)
        .color(palette.subdued);
    match glossary::find(title) {
        None => ui.label(text),
        Some(term) => ui.label(text.underline()).on_hover_text(term.meaning),
    };
}

/// A labelled control.
pub fn control<R>(ui: &mut Ui, label: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    let row = ui.spacing().interact_size.y;
    let (size, layout) = (
        vec2(ui.available_width(), row),
        Layout::left_to_right(Align::Center),
    );
    let line = ui.allocate_ui_with_layout(size, layout, |ui| {
        let label = RichText::new(label).color(Palette::of(ui).subdued);
        ui.allocate_ui(vec2(LABEL, row), |ui| {
            ui.set_width(LABEL);
            ui.label(label);
        });
        ui.spacing_mut().item_spacing.x = 2.0;
        from_right(ui, add)
    });
    line.inner
}

/// A labelled number in the fixed-width face, right-aligned.
pub fn number(ui: &mut Ui, symbol: &str, words: &str, value: &str) {
    let palette = Palette::of(ui);
    let name = format!("{words} {symbol} {}", value.trim());
    let line = Line::to_read(ui, 20.0, &name);
    line.left(0.0, symbol, theme::text(13.0), palette.text);
    let place = line.left(34.0, words, theme::text(12.0), palette.subdued);
    line.right(0.0, value, theme::mono(12.5), palette.strong);
    if let Some(term) = glossary::find(words) {
        let stroke = (1.0, palette.subdued);
        line.ui
            .painter()
            .hline(place.x_range(), place.bottom(), stroke);
        line.response.on_hover_text(term.meaning);
    }
}

/// A line from its right end.
pub fn from_right<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    let layout = Layout::right_to_left(Align::Center);
    ui.with_layout(layout, add).inner
}

/// A line from its left end.
pub fn from_left<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    let layout = Layout::left_to_right(Align::Center);
    ui.with_layout(layout, add).inner
}

/// Words on one line, cut with dots where they are too long.
pub fn one_line(ui: &mut Ui, text: impl Into<String>, font: FontId, ink: Color32) -> Response {
    let text = RichText::new(text).font(font).color(ink);
    ui.add(egui::Label::new(text).truncate())
}

/// The same words with a capital letter.
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Words in a font and a colour of their own.
pub fn words(ui: &mut Ui, text: impl Into<String>, font: FontId, ink: Color32) -> Response {
    ui.label(RichText::new(text).font(font).color(ink))
}

/// A paragraph of explanation.
pub fn note(ui: &mut Ui, text: &str) {
    words(ui, text, small(ui), Palette::of(ui).subdued);
}

/// The same about something that is not as it should be.
pub fn warning(ui: &mut Ui, text: &str) {
    words(ui, text, small(ui), Palette::of(ui).warning);
}

fn small(ui: &Ui) -> FontId {
    theme::text(or_pointer(ui.ctx(), 13.0, 11.5))
}

/// Returns the size for a finger, or the one for a pointer.
pub fn or_pointer(ctx: &Context, finger: f32, pointer: f32) -> f32 {
    let by_finger = theme::is_by_finger(ctx);
    if by_finger { finger } else { pointer }
}
