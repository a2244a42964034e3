//! The figure of the paper in place of the pictures: the same figure on screen and in exports.

use egui::Ui;

use super::page::page_ui;
use super::{Columns, View};
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::{Figure, Options};
use crate::viewer::widget::canvas::{Canvas, area};

/// The figure, with the play-head through it.
pub fn paper_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let options = Options {
        density: ui.pixels_per_point(),
        ..view.state.figure()
    };
    let seen = Catalogue {
        rows: view.whole,
        ..view.catalogue()
    };
    let figure = Figure::of(seen, options);
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    let places = figure.paint(&mut canvas, area(rect));
    page_ui(ui, &places, columns, view);
}
