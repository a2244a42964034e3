//! The figure of the paper in the place of the pictures: what is on screen is what is exported.

use egui::{Rangef, Ui};

use super::parts::pointer;
use super::sheet::place_menu;
use super::{Columns, View, interact, play_head, scrub};
use crate::figure::{Figure, Options, Place, head_named, numbers};
use crate::viewer::command::{Command, Look};
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::target::{Target, Vector};
use crate::viewer::theme::Scale;
use crate::viewer::widget::figure::{Page, rect};
use crate::viewer::widget::readout::Readout;

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
        ..arrangement.options(dark, view.touched_only, view.focus)
    };
    let version = (
        view.open.serial,
        arrangement,
        (
            dark,
            view.touched_only,
            view.focus,
            (log_scale, view.palette.map),
        ),
        [size.x, size.y, density].map(f32::to_bits),
    );
    let recording = view.recording();
    page.draw(ui.ctx(), version, || Figure::new(recording, options).draw());
    page.paint(ui.painter(), area.min);
    let places = page.drawing().map_or(&[][..], |drawing| &drawing.places);
    for place in places {
        let place_on_screen = rect(&place.area, area.min);
        let columns = Columns {
            time: place_on_screen.x_range(),
            ..*columns
        };
        let y = place_on_screen.y_range();
        let (from, to) = (y.min - 2.0, y.max + 2.0);
        play_head(ui, &columns, Rangef::new(from, to), view);
        let response = interact(ui, place_on_screen, &place.name, &place.note);
        scrub(&response, &columns, view);
        let at = pointer(&response).map(|position| position - area.min);
        let cell = at.and_then(|at| place.cell_at(at.x, at.y));
        let here = cell.map(|(step, row, _)| (step, row));
        place_menu(place, &response, here, view.commands);
        let Some((step, row, value)) = cell else {
            continue;
        };
        let row_name = place.row_name;
        *view.readout = Some(Readout {
            place: format!("{}  step {step}  {row_name} {row}", place.name),
            value: numbers::exact(value),
            meaning: place.note.clone(),
        });
        if row_name == "row" {
            *view.row = Some(row);
        }
        if response.clicked() {
            view.commands.extend(keep(place, row, view));
        }
    }
}

/// What a click on a row of a picture keeps in view, with the head that the picture is of.
fn keep(place: &Place, row: usize, view: &View<'_>) -> Vec<Command> {
    let label = place.note.rsplit(' ').next().unwrap_or_default();
    let head = head_named(view.trace(), label);
    let of_head = |vector| Target::Value {
        head: head.unwrap_or(view.focus),
        vector,
        column: row,
    };
    let target = match place.name.as_str() {
        "Inputs" => of_head(Vector::Input),
        "Outputs" => of_head(Vector::Output),
        "Adds" => of_head(Vector::Add),
        "Reads" => of_head(Vector::Read),
        _ if place.row_name == "row" => Target::Row(row),
        _ => return Vec::new(),
    };
    let focus = head.filter(|&head| head != view.focus && matches!(target, Target::Row(_)));
    let focus = focus
        .map(|head| Command::Look(Look::Focus(head)))
        .into_iter();
    focus.chain([Command::Look(Look::Select(target))]).collect()
}
