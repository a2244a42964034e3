//! The figure of the paper in place of the pictures: the same figure on screen and in exports.

use egui::Ui;

use super::View;
use super::page::page_ui;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::{Figure, Options};
use crate::viewer::widget::canvas::area;

/// The figure, with the play-head through it.
pub fn paper_ui(ui: &mut Ui, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let options = Options {
        density: ui.pixels_per_point(),
        step: Some(view.step()),
        hides_future: view.player.playing(),
        ..view.state.figure()
    };
    let seen = Catalogue {
        rows: view.whole,
        ..view.catalogue()
    };
    let figure = Figure::of(seen, options);
    let places = figure.paint(&mut view.page_canvas(ui, rect), area(rect));
    page_ui(ui, &places, None, view);
}
