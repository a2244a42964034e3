//! Buttons: flat, of one height, with a name for everyone who cannot see the icon.

use egui::{AsIdSalt, Rect, Response, Role, Sense, Ui, WidgetInfo};

use super::super::command::Command;
use super::super::keys;
use super::super::theme::{self, Palette};
use super::icon::Icon;
use super::named_rects;
use super::queue::send;

/// A button that shows an icon and carries a command.
pub fn icon_button(
    ui: &mut Ui,
    icon: Icon,
    command: impl Into<Command>,
    selected: bool,
) -> Response {
    let command = command.into();
    let response = named_icon_button(ui, icon, name_of(&command), selected, false);
    let tooltip = keys::tooltip(&command);
    on_click(&response, command);
    response.on_hover_text(tooltip)
}

/// Adds a command when the widget is clicked.
pub fn on_click(response: &Response, command: impl Into<Command>) {
    if response.clicked() {
        send(&response.ctx, command);
    }
}

/// A button that shows an icon; the name is for screen readers and tests.
pub fn named_icon_button(
    ui: &mut Ui,
    icon: Icon,
    name: &str,
    selected: bool,
    primary: bool,
) -> Response {
    let palette = Palette::of(ui);
    // As large as everything that can be hit there.
    let size = theme::ICON.max(ui.spacing().interact_size);
    let glyph = egui::RichText::new(icon.glyph()).font(theme::icons(0.57 * size.min_elem()));
    let button = match (primary, selected) {
        (true, _) => egui::Button::new(glyph.color(palette.on_accent)).fill(palette.accent),
        (_, true) => egui::Button::new(glyph.color(palette.accent)).fill(palette.hovered),
        _ => egui::Button::new(glyph).frame_when_inactive(false),
    };
    let padding = std::mem::take(&mut ui.spacing_mut().button_padding);
    let response = ui.add(button.min_size(size));
    ui.spacing_mut().button_padding = padding;
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, selected, name));
    focus_ring(ui, &response);
    named_rects::mark(ui.ctx(), name, response.rect);
    response
}

/// Returns the long text of a button, or the short one in a narrow window.
pub fn or_short(ui: &Ui, texts: [&'static str; 2]) -> &'static str {
    /// Width of the window from which there is room for long texts.
    const WIDE: f32 = 1200.0;
    let is_narrow = ui.ctx().content_rect().width() < WIDE;
    texts[usize::from(is_narrow)]
}

/// A text button that carries a command.
pub fn text_button(ui: &mut Ui, text: &str, command: impl Into<Command>) -> Response {
    let response = ui.button(text);
    on_click(&response, command);
    response
}

/// A text button with the keys of its command as a tooltip.
pub fn key_button(ui: &mut Ui, text: &str, command: impl Into<Command>) -> Response {
    let command = command.into();
    let tooltip = keys::tooltip(&command);
    text_button(ui, text, command).on_hover_text(tooltip)
}

/// A button with the name of its command, and its keys as a tooltip.
pub fn named_button(ui: &mut Ui, command: impl Into<Command>) {
    let command = command.into();
    key_button(ui, name_of(&command), command);
}

fn name_of(command: &Command) -> &'static str {
    keys::entry_of(command).map_or("", |entry| entry.name)
}

/// One of several choices, which carries a command.
pub fn choice(ui: &mut Ui, is_chosen: bool, text: &str, command: impl Into<Command>) -> Response {
    let response = ui.selectable_label(is_chosen, text);
    on_click(&response, command);
    response
}

/// A check box that carries a command.
pub fn check_box(
    ui: &mut Ui,
    mut is_on: bool,
    text: &str,
    command: impl Into<Command>,
) -> Response {
    // A box that is not ticked has to be seen, too.
    let edge = egui::Stroke::new(1.0, Palette::of(ui).subdued);
    let tick = |ui: &mut Ui| {
        ui.visuals_mut().widgets.inactive.bg_stroke = edge;
        ui.checkbox(&mut is_on, text)
    };
    let response = ui.scope(tick).inner;
    focus_ring(ui, &response);
    on_click(&response, command);
    response
}

/// A text button as wide as there is room.
pub fn wide_button(
    ui: &mut Ui,
    (text, height, hint): (&str, f32, &str),
    command: impl Into<Command>,
) {
    let (size, command) = (egui::vec2(ui.available_width(), height), command.into());
    let hint = keys::with_key(hint, &command);
    let response = ui.add_sized(size, egui::Button::new(text));
    on_click(&response, command);
    response.on_hover_text(hint);
}

/// The one button of a view that matters most.
pub fn primary_button(ui: &mut Ui, text: &str) -> Response {
    let palette = Palette::of(ui);
    let text = egui::RichText::new(text).color(palette.on_accent);
    let response = ui.add(egui::Button::new(text).fill(palette.accent));
    if response.has_focus() {
        // On the accent a ring of the accent is not seen.
        let ring = egui::Stroke::new(1.5, palette.on_accent);
        let (rect, inside) = (response.rect.shrink(2.0), egui::StrokeKind::Inside);
        ui.painter().rect_stroke(rect, theme::RADIUS, ring, inside);
    }
    response
}

/// A halo about the widget that has the keyboard.
pub fn focus_ring(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let ring = egui::Stroke::new(1.5, Palette::of(ui).accent);
        let (rect, outside) = (response.rect.expand(1.0), egui::StrokeKind::Outside);
        ui.painter().rect_stroke(rect, theme::RADIUS, ring, outside);
    }
}

/// A place that responds to the pointer and is read aloud, with a halo while it has the keyboard.
pub fn hit_area(
    ui: &Ui,
    rect: Rect,
    id: impl AsIdSalt,
    sense: Sense,
    info: &WidgetInfo,
) -> Response {
    let response = ui.interact(rect, ui.scope_id().with(id), sense);
    response.widget_info(|| info.clone());
    focus_ring(ui, &response);
    response
}

/// Painted words, for screen readers.
pub fn label(ui: &Ui, rect: Rect, id: impl AsIdSalt, text: &str) -> Response {
    let info = WidgetInfo::labeled(Role::Label, true, text);
    hit_area(ui, rect, id, Sense::hover(), &info)
}

/// Something to type into: while it has the keyboard its frame is the halo.
pub fn field(ui: &mut Ui, enabled: bool, widget: impl egui::Widget) -> Response {
    let halo = egui::Stroke::new(1.5, Palette::of(ui).accent);
    let before = std::mem::replace(&mut ui.visuals_mut().selection.stroke, halo);
    let response = ui.add_enabled(enabled, widget);
    ui.visuals_mut().selection.stroke = before;
    response
}
