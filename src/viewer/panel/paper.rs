//! The close-up or the figure of the paper in place of the pictures: the same figures on screen and in exports.

use egui::{ScrollArea, Ui, UiBuilder, vec2};

use super::View;
use super::page::page_ui;
use super::phone::strip_ui;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::{Figure, Options, Pages};
use crate::viewer::widget::area;

/// One head, or two, at the rows about where it looks.
pub fn close_up_ui(ui: &mut Ui, view: &mut View<'_>) {
    let options = Options {
        hides_future: false,
        ..view.figure(ui)
    };
    figure_ui(ui, view.as_figure(), options, view);
}

/// The figure of the paper, with the play-head through it.
pub fn paper_ui(ui: &mut Ui, view: &mut View<'_>) {
    let seen = Catalogue {
        rows: view.whole,
        ..view.catalogue()
    };
    figure_ui(ui, seen, view.figure(ui), view);
}

/// The chosen pictures of a frame inside another page; they scroll where the frame is too low for them.
pub fn parts_ui(ui: &mut Ui, view: &mut View<'_>) {
    let seen = Catalogue {
        rows: view.whole,
        ..view.as_figure()
    };
    let options = view.figure(ui);
    let least = Figure::of(seen, options.clone()).least_size().1;
    ScrollArea::vertical().show(ui, |ui| {
        let size = vec2(ui.available_width(), ui.available_height().max(least));
        let (_, rect) = ui.allocate_space(size);
        let part = UiBuilder::new().max_rect(rect);
        ui.scope_builder(part, |ui| figure_ui(ui, seen, options, view));
    });
}

fn figure_ui(ui: &mut Ui, seen: Catalogue<'_>, options: Options, view: &mut View<'_>) {
    let rect = ui.max_rect().shrink2(vec2(2.0, 4.0));
    let figure = Figure::of(seen, options);
    let places = figure.paint(&mut view.page_canvas(ui, rect), area(rect));
    page_ui(ui, &places, None, view);
    if view.state.is_on_phone() {
        strip_ui(ui, &places, view);
    }
}
