//! The close-up in place of the pictures: the same figure on screen and in exports.

use egui::Ui;

use super::address::legends_on_demand;
use super::page::page_ui;
use super::phone;
use super::{Columns, View};
use crate::figure::{Figure, Options};
use crate::viewer::widget::canvas::{Canvas, area};

/// One head, or two, at the rows about where it looks.
pub fn close_up_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let options = Options {
        density: ui.pixels_per_point(),
        ..view.state.figure()
    };
    let figure = Figure::of(view.as_figure(), options);
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    let places = figure.paint(&mut canvas, area(rect));
    page_ui(ui, &places, columns, view);
    if view.state.is_on_phone() {
        phone::strip_ui(ui, &places, view);
    } else if let Some(stage) = places.last() {
        // At the end of the line with the names of the stages.
        let corner = egui::pos2(rect.right() - 76.0, stage.area.bottom);
        legends_on_demand(ui, corner, view);
    }
}
