//! Rows of a panel: a label at the left, a value at the right, all of one height.

use egui::accesskit::Action;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align, Align2, Color32, Context, FontId, Layout, Rangef, Rect, Response, RichText, Role, Sense,
    Slider, Ui, WidgetInfo, pos2, vec2,
};

use super::super::glossary;
use super::super::keys::{ARROWS, leave_to_widget};
use super::super::theme::{self, Palette};
use super::button::focus_ring;
use super::text::paint_text;

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

/// A labelled number in the fixed-width face, right-aligned; its place comes back.
pub fn number(ui: &mut Ui, symbol: &str, words: &str, value: &str) -> Rect {
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
    line.rect
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

/// Returns the words with a capital letter.
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

/// A paragraph of warning.
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

/// A line on screen.
pub struct Line<'a> {
    /// The place.
    pub rect: Rect,
    /// The response to pointer and keyboard.
    pub response: Response,
    /// The rectangle.
    pub ui: &'a Ui,
}

impl<'a> Line<'a> {
    /// Shows a line to be read, in the full width; `name` is the text for screen readers.
    pub fn to_read(ui: &'a mut Ui, height: f32, name: &str) -> Self {
        let line = Self::new(ui, height, Sense::hover());
        let info = || WidgetInfo::labeled(Role::Label, true, name);
        line.response.widget_info(info);
        line
    }

    /// A line to press, with a ground of its own while it is chosen or under the pointer.
    pub fn to_press(ui: &'a mut Ui, height: f32, info: &WidgetInfo) -> Self {
        let size = vec2(ui.available_width(), height);
        let (_, response) = ui.allocate_exact_size(size, Sense::click());
        Self::pressed(ui, response, info)
    }

    /// A line to press around an existing response.
    pub fn pressed(ui: &'a Ui, response: Response, info: &WidgetInfo) -> Self {
        let (rect, palette) = (response.rect, Palette::of(ui));
        response.widget_info(|| info.clone());
        if info.selected == Some(true) || response.hovered() {
            let fills = [palette.raised, palette.hovered];
            let fill = fills[usize::from(info.selected == Some(true))];
            ui.painter().rect_filled(rect, theme::RADIUS, fill);
        }
        focus_ring(ui, &response);
        Self { rect, response, ui }
    }

    /// A line to be read or pressed, with nothing on it.
    pub fn new(ui: &'a mut Ui, height: f32, sense: Sense) -> Self {
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, sense);
        focus_ring(ui, &response);
        Self { rect, response, ui }
    }

    /// Words in this part of it, cut with dots where they are too long; true if they are.
    pub fn within(&self, x: impl Into<Rangef>, text: &str, font: FontId, ink: Color32) -> bool {
        let (x, painter) = (x.into(), self.ui.painter());
        let mut job = LayoutJob::simple_singleline(text.to_owned(), font, ink);
        job.wrap = TextWrapping::truncate_at_width(x.span().max(0.0));
        let galley = painter.layout_job(job);
        let (top, is_cut) = (self.rect.center().y - galley.size().y / 2.0, galley.elided);
        painter.galley(pos2(x.min, top), galley, ink);
        is_cut
    }

    /// Words so far from its left end; the place they take comes back.
    pub fn left(&self, x: f32, text: impl Into<String>, font: FontId, ink: Color32) -> Rect {
        let at = pos2(self.rect.left() + x, self.rect.center().y);
        let (painter, text) = (self.ui.painter(), text.into());
        paint_text(painter, at, Align2::LEFT_CENTER, &text, font, ink)
    }

    /// Words that end so far from its right end; the place they take comes back.
    pub fn right(&self, x: f32, text: impl Into<String>, font: FontId, ink: Color32) -> Rect {
        let at = pos2(self.rect.right() - x, self.rect.center().y);
        let (painter, text) = (self.ui.painter(), text.into());
        paint_text(painter, at, Align2::RIGHT_CENTER, &text, font, ink)
    }
}

/// Height of the slider under a pointer, in points.
const HEIGHT: f32 = 12.0;

/// Shows the slider and sets `value` where it is moved to. `stops` are in order and not empty.
pub fn track_ui(ui: &mut Ui, name: &str, value: &mut usize, stops: &[usize]) -> Response {
    let last = stops.len().saturating_sub(1);
    let here = stops.partition_point(|&stop| stop < *value).min(last);
    let mut place = here;
    let slide = |ui: &mut Ui| {
        ui.spacing_mut().slider_width = ui.available_width();
        ui.spacing_mut().interact_size.y = or_pointer(ui.ctx(), theme::FINGER, HEIGHT);
        let slider = Slider::new(&mut place, 0..=last).show_value(false);
        let circle = egui::style::HandleShape::Circle;
        ui.add(slider.trailing_fill(true).handle_shape(circle))
    };
    let response = ui.scope(slide).inner;
    // It is said and shown as its number, not as the place among the stops.
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::slider(enabled, *value as f64, name));
    if let [least, .., most] = stops {
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_min_numeric_value(*least as f64);
            node.set_max_numeric_value(*most as f64);
            node.clear_numeric_value_step();
            node.remove_action(Action::SetValue);
        });
    }
    focus_ring(ui, &response);
    if response.has_focus() {
        leave_to_widget(ui.ctx(), &ARROWS[..2]);
    }
    if place != here {
        *value = stops[place];
    }
    response
}
