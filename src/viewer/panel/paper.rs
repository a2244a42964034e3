//! The figure of the paper in the place of the pictures: what is on screen is what is exported.

use egui::Ui;

use super::page::page_ui;
use super::{Columns, View};
use crate::figure::catalogue::Catalogue;
use crate::figure::{Figure, Options};
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::theme::Scale;
use crate::viewer::widget::canvas::{Canvas, area};

/// The figure, with the play-head through it.
pub fn paper_ui(ui: &mut Ui, columns: &Columns, arrangement: Arrangement, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let density = ui.ctx().pixels_per_point();
    let options = Options {
        density,
        map: view.palette.map,
        log_scale: view.weighting_scale == Scale::LogWeighting,
        ..arrangement.options(
            ui.visuals().dark_mode,
            view.state.sight.touched_only,
            view.focus,
        )
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
