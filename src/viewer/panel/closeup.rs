//! The close-up in place of the pictures: the same figure on screen and in exports.

use egui::Ui;

use super::View;
use super::page::page_ui;
use super::phone;
use crate::figure::{Figure, Options};
use crate::viewer::widget::canvas::area;

/// One head, or two, at the rows about where it looks.
pub fn close_up_ui(ui: &mut Ui, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let options = Options {
        density: ui.pixels_per_point(),
        ..view.state.figure()
    };
    let figure = Figure::of(view.as_figure(), options);
    let places = figure.paint(&mut view.page_canvas(ui, rect), area(rect));
    page_ui(ui, &places, None, view);
    if view.state.is_on_phone() {
        phone::strip_ui(ui, &places, view);
    }
}
