//! The figure of the paper in the place of the pictures: what is on screen is what is exported.

use egui::Ui;

use super::page::page_ui;
use super::{Columns, View};
use crate::figure::layout::kept;
use crate::figure::{Figure, Options};
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::theme::Scale;
use crate::viewer::widget::canvas::Page;

/// The figure, with the play-head through it.
pub fn paper_ui(
    ui: &mut Ui,
    columns: &Columns,
    arrangement: Arrangement,
    page: &mut Page,
    view: &mut View<'_>,
) {
    let area = ui.max_rect().shrink2(egui::vec2(2.0, 4.0));
    let (size, dark) = (area.size().round(), ui.visuals().dark_mode);
    let density = ui.ctx().pixels_per_point();
    let log_scale = view.weighting_scale == Scale::LogWeighting;
    let options = Options {
        size: Some((size.x, size.y)),
        density,
        map: view.palette.map,
        log_scale,
        ..arrangement.options(dark, view.state.sight.touched_only, view.focus)
    };
    let version = (
        view.open.serial,
        arrangement,
        (
            dark,
            view.state.sight.touched_only,
            view.focus,
            (log_scale, view.palette.map),
        ),
        [size.x, size.y, density].map(f32::to_bits),
    );
    let recording = view.recording();
    page.draw(ui.ctx(), version, || {
        Some(kept(Figure::new(recording, options).scene()))
    });
    page.paint(ui.painter(), area.min);
    let places: Vec<_> = page.places().iter().collect();
    page_ui(ui, area.min, &places, columns, view);
}
