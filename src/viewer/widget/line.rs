//! A line of a panel or a list: words from its ends, perhaps something to press.

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, FontId, Rangef, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2,
};

use super::super::theme::{self, Palette};
use super::button::focus_ring;
use super::text::paint_text;

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

    /// The same where there is something to press already.
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
    pub fn left(&self, x: f32, text: impl ToString, font: FontId, ink: Color32) -> Rect {
        let at = pos2(self.rect.left() + x, self.rect.center().y);
        let (painter, text) = (self.ui.painter(), text.to_string());
        paint_text(painter, at, Align2::LEFT_CENTER, &text, font, ink)
    }

    /// Words that end so far from its right end; the place they take comes back.
    pub fn right(&self, x: f32, text: impl ToString, font: FontId, ink: Color32) -> Rect {
        let at = pos2(self.rect.right() - x, self.rect.center().y);
        let (painter, text) = (self.ui.painter(), text.to_string());
        paint_text(painter, at, Align2::RIGHT_CENTER, &text, font, ink)
    }
}
