//! A page of pictures on screen, as it is exported: what is pointed at is read out, a click keeps it in view, dragging
//! over time moves the play-head. What a picture is follows from its identity, never from its name.

use egui::{Pos2, Rect, Ui};

use super::parts::pointer;
use super::sheet::place_menu;
use super::{Columns, View, interact, play_head, scrub};
use crate::figure::compare::SIDES;
use crate::figure::{PanelId, Picture, Place, numbers};
use crate::viewer::command::{Command, Look};
use crate::viewer::state::target::Target;
use crate::viewer::story::two::words_of;
use crate::viewer::widget::figure::rect;
use crate::viewer::widget::readout::Readout;

/// All pictures of a page whose upper left corner is here.
pub fn page_ui(
    ui: &mut Ui,
    origin: Pos2,
    places: &[&Place],
    columns: &Columns,
    view: &mut View<'_>,
) {
    row_cursor(ui, origin, places, view);
    for place in places {
        place_ui(ui, origin, place, places, columns, view);
    }
}

/// A faint line through all pictures at the row under the pointer and at the one kept in view.
fn row_cursor(ui: &Ui, origin: Pos2, places: &[&Place], view: &View<'_>) {
    let lit = view.rows_lit();
    for place in places.iter().filter(|place| has_rows(place.id)) {
        for &(row, strength) in &lit {
            let Some(span) = place.row_span(row) else {
                continue;
            };
            let ink = view.palette.strong.gamma_multiply(strength);
            let y = origin.y + span.min..=origin.y + span.max.max(span.min + 1.0);
            let x = rect(&place.area, origin).x_range();
            let line = Rect::from_x_y_ranges(x, y);
            ui.painter().rect_filled(line, 0.0, ink);
        }
    }
}

/// True for pictures whose rows are those of the memory.
fn has_rows(id: PanelId) -> bool {
    matches!(id.picture, Picture::Weightings | Picture::Memory)
}

fn place_ui(
    ui: &mut Ui,
    origin: Pos2,
    place: &Place,
    places: &[&Place],
    columns: &Columns,
    view: &mut View<'_>,
) {
    let rect = rect(&place.area, origin);
    let response = interact(ui, rect, &place.name, &place.note);
    if place.steps.is_some() {
        let time = rect.x_range();
        let columns = Columns { time, ..*columns };
        play_head(ui, &columns, rect.y_range().expand(2.0), view);
        scrub(&response, &columns, view);
    }
    let at = pointer(&response).map(|at| at - origin);
    let cell = at.and_then(|at| place.cell_at(at.x, at.y));
    let here = cell.map(|(column, row, _)| (column, row));
    place_menu(place, &response, here, view.commands);
    let Some((column, row, value)) = cell else {
        return;
    };
    if has_rows(place.id) {
        *view.row = Some(row);
    }
    let both = values_of(places, place.id, (column, row));
    *view.readout = Some(readout(place, (column, row), value, both, view.step()));
    if response.clicked() {
        view.commands.extend(keep(place.id, (column, row), view));
    }
}

/// The same cell on both sides of a comparison.
fn values_of(places: &[&Place], id: PanelId, (column, row): (usize, usize)) -> Option<[f32; 2]> {
    id.side?;
    let value = |side: usize| {
        let mut places = places.iter();
        let place = places.find(|place| place.id == id.on(side))?;
        place.value(column, row)
    };
    Some([value(0)?, value(1)?])
}

fn readout(
    place: &Place,
    (column, row): (usize, usize),
    value: f32,
    both: Option<[f32; 2]>,
    step: usize,
) -> Readout {
    let (what, row_name) = (&place.what, place.row_name);
    let (value, meaning) = match both {
        Some([a, b]) => {
            let difference = numbers::exact(b - a);
            (format!("{} {difference}", SIDES[2]), words_of([a, b]))
        }
        None => (numbers::exact(value), place.note.clone()),
    };
    Readout {
        place: match place.steps {
            _ if place.id.picture == Picture::Differences => format!("{what}  step {column}"),
            Some(_) => format!("{what}  step {column}  {row_name} {row}"),
            None => format!("{what}  step {step}  {row_name} {row}  column {column}"),
        },
        value,
        meaning,
    }
}

/// What a click on a cell keeps in view; on the weighting of a head, with that head.
pub fn keep(id: PanelId, (column, row): (usize, usize), view: &View<'_>) -> Vec<Command> {
    let value = |id| Target::Value { id, column: row };
    let target = match id.picture {
        Picture::Weightings => Target::Row(row),
        Picture::Memory => Target::Cell { row, column },
        Picture::Hidden | Picture::Cells => Target::Unit {
            layer: id.of.unwrap_or(0),
            unit: row,
        },
        Picture::Stages | Picture::Scalars | Picture::Differences => Target::Step,
        Picture::Error => value(PanelId::new(Picture::Output)),
        _ => value(PanelId { side: None, ..id }),
    };
    let other = |head: &usize| *head != view.focus || view.state.sight.all_heads;
    let of_weighting = id.of.filter(|_| id.picture == Picture::Weightings);
    let head = of_weighting.filter(other);
    let focus = head.map(Look::Focus).into_iter();
    let looks = focus.chain([Look::Select(target)]);
    looks.map(Command::Look).collect()
}
