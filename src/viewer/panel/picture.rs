//! Pictures on screen, whatever they show and wherever they are.
//!
//! The value under the pointer is read out, can be copied, and is pinned by a click; dragging over time moves the
//! play-head. The kind of a picture follows from its identity, never from its name.

use std::sync::Arc;

use egui::{Response, Ui};

use super::copy_menu::{COUNTED, NO_CHOICES, Sheet, copy_name};
use super::{View, part, pointer, scrub, signal_path};
use crate::figure::facts::column::Column;
use crate::figure::facts::datum::Datum;
use crate::figure::facts::family::{columns_of, dnc};
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::links::MODES;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::source::name_of;
use crate::figure::page::compare::SIDES;
use crate::figure::scene::catalogue::{Catalogue, learned_axes, learned_of};
use crate::figure::scene::panel::{Content, Hit};
use crate::figure::scene::units::QUANTITIES;
use crate::figure::{PanelId, Picture, PlacedPanel, Surface, facts::numbers, head_label, narrate};
use crate::model::sam::row_number;
use crate::model::{Array, Place, array};
use crate::train::{ABSENT, Quantity};
use crate::viewer::command::{Episode, Play, ViewCommand};
use crate::viewer::inspect::{self, Card};
use crate::viewer::narration;
use crate::viewer::narration::comparison::value_text;
use crate::viewer::state::{Pair, Target, WindowLayout};
use crate::viewer::widget::{Readout, rect, send};

/// True for pictures whose rows are the units of a layer.
pub fn is_of_units(id: PanelId) -> bool {
    let of_units = [Picture::Cells, Picture::Hidden, Picture::Units];
    of_units.contains(&id.picture)
}

/// True for pictures whose rows are those of the memory.
pub fn has_rows(id: PanelId) -> bool {
    let of_rows = [
        Picture::Arrows,
        Picture::Usage,
        Picture::Weightings,
        Picture::Memory,
        Picture::Stages,
        Picture::Patches,
    ];
    of_rows.contains(&id.picture)
}

/// The place in a vector: at one step it lies or stands.
fn channel(id: PanelId, at: Hit, view: &View<'_>) -> usize {
    if let (true, Some(own)) = (id.now, view.catalogue().quantity(id)) {
        return at.row * own.shape()[1] + at.column;
    }
    let length = at.row.max(at.column);
    if id.now { length } else { at.row }
}

/// Paints a picture at its place in the window, and lets it be pointed at.
pub fn picture_ui(ui: &mut Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    paint_ui(ui, place, view);
    point_ui(ui, place, &[], view);
}

/// Paints a picture at its place in the window.
pub fn paint_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let page = view.page(ui.pixels_per_point());
    place.paint(&mut Surface::new(&mut view.canvas(ui), &page));
}

/// Handles interaction with a picture; `all` are the parts of its page.
pub fn point_ui(
    ui: &mut Ui,
    place: &PlacedPanel<'_>,
    all: &[PlacedPanel<'_>],
    view: &mut View<'_>,
) {
    let (response, hit) = hover_ui(ui, place, all, view);
    if place.steps() == Some(view.steps()) {
        scrub(&response, rect(&place.area).x_range(), view);
    }
    if let (true, Some(at)) = (response.clicked(), hit) {
        let id = place.panel.id;
        if matches!(place.panel.content, Content::Patches(_)) {
            send(ui.ctx(), Play::Seek(at.column));
        }
        let pins = ui.input(|input| input.modifiers.shift);
        match head_of(id).filter(|_| pins) {
            Some(head) => send(ui.ctx(), ViewCommand::Pin(head)),
            None => keep(ui, id, at, view),
        }
    }
}

/// Reads out the value under the pointer and offers to copy it.
pub fn hover_ui(
    ui: &Ui,
    place: &PlacedPanel<'_>,
    all: &[PlacedPanel<'_>],
    view: &mut View<'_>,
) -> (Response, Option<Hit>) {
    let id = place.panel.id;
    let response = part(ui, place);
    let at = pointer(&response);
    let hit = at.and_then(|at| place.hit(at.x, at.y));
    menu(&response, place, hit, all, view);
    let Some(at) = hit else {
        return (response, None);
    };
    if has_rows(id) {
        view.pointed.row = Some(at.row);
    }
    if let (true, Some(layer)) = (is_of_units(id), id.of) {
        view.pointed.unit = Some((layer, at.row));
    }
    let answers = [Picture::Output, Picture::Target, Picture::Error];
    if answers.contains(&id.picture) && id.side.is_none() {
        let step = if id.now { view.step() } else { at.column };
        let path = signal_path::signal_path(step, view);
        view.answer = Some(((step, channel(id, at, view)), path));
    }
    view.pointed.readout = Some(readout(place, at, all, view));
    (response, hit)
}

/// Returns the values of a cell on both sides of a comparison.
fn values_of(places: &[PlacedPanel<'_>], id: PanelId, at: Hit) -> Option<[f32; 2]> {
    id.side?;
    let value = |side| {
        let place = places.iter().find(|place| place.panel.id == id.on(side));
        place?.cells()?.value(at.column, at.row)
    };
    Some([value(0)?, value(1)?])
}

/// The value by which a picture shows a derivative.
fn value_of(place: &PlacedPanel<'_>, at: Hit, view: &View<'_>) -> Option<f32> {
    let id = place.panel.id;
    let gradients = view.state.layer()?;
    if !gradients.shows(id, view.step()) {
        return None;
    }
    let seen = Catalogue {
        layer: None,
        ..view.catalogue()
    };
    let values = seen.panel(id).filter(|_| id.side.is_none())?;
    match &values.content {
        Content::Cells(cells) | Content::Line(cells) => cells.value(at.column, at.row),
        Content::Bars(bars) => bars.cells.value(at.column, at.row),
        _ => None,
    }
}

/// Returns the text about a value under the pointer.
fn readout(place: &PlacedPanel<'_>, at: Hit, all: &[PlacedPanel<'_>], view: &View<'_>) -> Readout {
    let (panel, step) = (&place.panel, view.step());
    let (id, whose, row_name) = (panel.id, &panel.whose, panel.down.label);
    let Hit { column, row, value } = at;
    let source = view.open.facts.source.as_ref();
    let source = source.filter(|_| has_rows(id) && id.side.is_none_or(|side| side == 2));
    let numbered = source.filter(|source| source.are_numbers);
    let number = numbered.and_then(|source| source.names[row].parse().ok());
    let source = source.filter(|source| !source.are_numbers);
    let source = source.and_then(|source| name_of(&source.names, row));
    let row = number.unwrap_or(row);
    let source = source.map_or_else(String::new, |name| format!("  {name}"));
    let channel = channel(id, at, view);
    let which = match id.picture {
        Picture::Input => view.recording().task.input_name(channel),
        Picture::Target | Picture::Output | Picture::Error | Picture::Feedback => {
            view.recording().task.output_name(channel)
        }
        _ => format!("{row_name} {row}{source}"),
    };
    let said = match (&panel.content, id.picture) {
        (_, Picture::Arrows) => format!("{whose}  row {column} → row {row}"),
        (_, Picture::Modes) => {
            let step = if id.now { step } else { column };
            let mode = MODES[1].get(channel).copied().unwrap_or_default();
            format!("{whose}  step {step}  {mode}")
        }
        (_, Picture::Usage) if id.now => format!("{}  row {row}", panel.note),
        (_, Picture::Quantities | Picture::Norms) => {
            let step = if id.now { step } else { column };
            let own = view.catalogue().quantity(id);
            let entry = own.map_or_else(String::new, |own| match id.picture {
                Picture::Norms => format!("{} {row}", own.axis()),
                _ => own.place(channel),
            });
            format!("{}  step {step}  {entry}", panel.name)
                .trim_end()
                .to_owned()
        }
        (_, Picture::Differences) => format!("{whose}  step {column}"),
        (Content::Bars(bars), _) => {
            let symbol = bars.column.symbol;
            format!("{whose}  step {step}  row {row}{source}  {symbol}")
        }
        (_, Picture::Units) => format!("{whose}  step {step}  unit {row}  {}", panel.title),
        (Content::Overlap(overlap), _) => {
            let [a, b] = [row, column].map(|head| overlap.names[head]);
            format!("{a} with {b}  step {step}")
        }
        (Content::Patches(_), _) => format!("{whose}  step {column}  patch {row}{source}"),
        (_, Picture::Memory) if id.side.is_none() => {
            format!("{whose}  row {row}{source}  column {column}")
        }
        (_, Picture::Learned) => {
            let head = id.of.map(|head| &view.trace().heads[head]);
            let learned = head.zip(id.part);
            let learned = learned.and_then(|(head, part)| learned_of(head, part));
            let [down, across] = learned.map_or(["", "column"], |(spec, _)| learned_axes(spec));
            let row = format!("  {down} {row}");
            let down = if down.is_empty() { "" } else { &row };
            format!("{} {}{down}  {across} {column}", panel.name, panel.title)
        }
        _ if id.now && id.of.is_none() => format!("{whose}  step {step}  {which}"),
        _ if id.now => format!("{whose}  step {step}  {}  column {column}", panel.title),
        _ if place.steps().is_some() => format!("{whose}  step {column}  {which}"),
        _ => format!("{whose}  step {step}  {row_name} {row}  column {column}"),
    };
    let shown = place.steps().map_or(step, |_| column);
    let hides = view.player.playing() || view.state.layout() == WindowLayout::CloseUp;
    let (value, meaning) = if hides && id.side.is_none() && shown >= panel.done {
        ("not yet".to_owned(), panel.note.clone())
    } else if let Some([a, b]) = values_of(all, id, at) {
        let difference = format!("{} {}", SIDES[2], numbers::exact(b - a));
        (difference, value_text([a, b]))
    } else if let Some(of) = value_of(place, at, view) {
        let of = format!("{}\nof the value {}", panel.note, numbers::exact(of));
        (numbers::exact(value), of)
    } else {
        (numbers::exact(value), meaning(place, at, view))
    };
    Readout {
        place: said,
        value,
        meaning,
        name: datum(place, at, view).map(|datum| datum.name(view.trace())),
    }
}

/// The recorded value under the pointer, if it is one.
fn datum(place: &PlacedPanel<'_>, at: Hit, view: &View<'_>) -> Option<Datum> {
    let id = place.panel.id;
    match &place.panel.content {
        Content::Bars(bars) => recorded(Place::Head(bars.head), bars.column.array, at.row, view),
        _ if id.picture == Picture::Memory => {
            entry(id, at.row * place.cells()?.columns + at.column, view)
        }
        _ => entry(id, channel(id, at, view), view),
    }
}

/// The entry with this index of what a picture shows, if that is recorded in the episode on screen.
fn entry(id: PanelId, index: usize, view: &View<'_>) -> Option<Datum> {
    let (place, array) = match id.picture {
        Picture::Memory => (Place::Machine, array::MEMORY),
        _ => id.recorded(view.trace())?,
    };
    recorded(place, array, index, view).filter(|_| id.side.is_none())
}

/// An entry of an array, unless derivatives are shown in its place.
fn recorded(place: Place, array: Array, index: usize, view: &View<'_>) -> Option<Datum> {
    let is_value = view.state.layer().is_none() && view.trace().series(place, array).is_some();
    is_value.then_some(Datum {
        place,
        array,
        index,
    })
}

/// Returns the meaning of a value, as text or as an equation.
fn meaning(place: &PlacedPanel<'_>, at: Hit, view: &View<'_>) -> String {
    let (panel, id, step) = (&place.panel, place.panel.id, view.step());
    match &panel.content {
        Content::Bars(bars) => {
            let of = view.in_step(bars.head);
            let sum = of.map_or_else(String::new, |of| (bars.column.sum)(&of, at.row));
            let unwritten = ["", "\nno head has written this row yet"];
            let unwritten = unwritten[usize::from(bars.is_unwritten(at.row))];
            let spread = bars.spread.as_ref().map_or_else(String::new, |band| {
                let [mean, low, high] = [band.mean, band.low, band.high]
                    .map(|values| numbers::short(values.get(at.row).copied().unwrap_or(0.0), 4));
                let count = band.samples;
                format!("\n{count} samples: mean {mean}, 5–95 %: {low} to {high}")
            });
            format!("{}\n{sum}{unwritten}{spread}", panel.alt)
        }
        Content::Overlap(_) => {
            inspect::vector::overlap_told(view.trace(), step, [at.row, at.column])
        }
        _ if id.picture == Picture::Usage && id.now => {
            let after = steps_done(id, &view.open.moment(view.player)).checked_sub(1);
            let of = id.of.zip(after).and_then(|(head, step)| {
                InStep::of(view.trace(), view.open.writes_first(), head, step)
            });
            of.map_or_else(String::new, |of| dnc::usage(&of, at.row))
        }
        _ if id.picture == Picture::Arrows => {
            let Hit { column, row, .. } = at;
            format!("L({row}, {column}): row {row} was written right after row {column}")
        }
        _ if id.picture == Picture::Memory && id.side.is_none() => {
            view.catalogue().now.memory().words().to_owned()
        }
        _ if id.picture == Picture::Units => {
            let card = view.card_of(target(id, at, view), None);
            let mut lines = card.iter().flat_map(|card| &card.lines);
            let symbol = id.part.and_then(|part| QUANTITIES.get(part));
            let line = lines.find(|line| Some(&line.symbol.as_str()) == symbol);
            let sum = line.map(|line| format!("{} = {}", line.symbol, line.sum));
            sum.unwrap_or_else(|| panel.note.clone())
        }
        _ if id.now && id.of.is_some() => {
            let card = view.card_of(target(id, at, view), None);
            card.map_or(String::new(), |card| inspect::vector::describe(&card))
        }
        _ => match view.answer {
            Some(((step, _), Some(path))) => {
                let path = narrate::signal_path(view.trace(), step, path);
                format!("{}\n{path}", panel.note)
            }
            _ => panel.note.clone(),
        },
    }
}

impl View<'_> {
    /// Returns the card of the pinned value, if one is pinned.
    pub fn card(&self) -> Option<Arc<Card>> {
        let pair = self.state.pair_on_screen();
        self.card_of(self.state.view.selected?, pair.as_ref())
    }

    /// Returns the card of a target at the current step: of both sides in a comparison.
    fn card_of(&self, target: Target, pair: Option<&Pair<'_>>) -> Option<Arc<Card>> {
        let (open, focus, step) = (self.open, self.focus, self.step());
        let serials = pair.map_or([open.serial; 2], |pair| [pair.a.serial, pair.b.serial]);
        let samples = open.spread.as_ref().map_or(0, |spread| spread.samples);
        let key = (target, serials, focus, step, samples);
        let card = || narration::card(target, pair, open, focus, step).map(Arc::new);
        self.memos.cards.get(key, card)
    }
}

/// The head of the machine on screen that a weighting is of. Those of a comparison may be of the other machine.
fn head_of(id: PanelId) -> Option<usize> {
    let is_one = matches!(id.picture, Picture::Weightings | Picture::Stages);
    id.of.filter(|_| is_one && id.side.is_none())
}

/// Returns the target that a click on a cell pins.
fn target(id: PanelId, at: Hit, view: &View<'_>) -> Target {
    let value = |id, column| Target::Value { id, column };
    let (row, column) = (at.row, at.column);
    match id.picture {
        Picture::Weightings | Picture::Stages | Picture::Patches | Picture::Arrows => {
            Target::Row(row)
        }
        Picture::Memory => Target::Cell { row, column },
        Picture::Hidden | Picture::Cells | Picture::Units => Target::Unit {
            layer: id.of.unwrap_or(0),
            unit: row,
        },
        Picture::Scalars | Picture::Differences => Target::Step,
        Picture::Error => value(PanelId::new(Picture::Output), row),
        Picture::Overlap => value(PanelId::of(id.picture, row), column),
        _ => {
            let (side, now) = (None, false);
            value(PanelId { side, now, ..id }, channel(id, at, view))
        }
    }
}

/// Pins a cell; on the weighting of a head, also that head.
fn keep(ui: &Ui, id: PanelId, at: Hit, view: &View<'_>) {
    let other = |head: &usize| *head != view.focus || view.state.view.all_heads;
    if let Some(head) = head_of(id).filter(other) {
        send(ui.ctx(), ViewCommand::Focus(head));
    }
    send(ui.ctx(), ViewCommand::Select(target(id, at, view)));
}

/// The menu of a picture: over time a line is a step, as in the trace files; at one step it is a row.
fn menu(
    response: &Response,
    place: &PlacedPanel<'_>,
    hit: Option<Hit>,
    all: &[PlacedPanel<'_>],
    view: &mut View<'_>,
) {
    let (panel, Some(cells)) = (&place.panel, place.cells()) else {
        return;
    };
    // Part of an episode is not numbered from its first step.
    let is_asked = response.secondary_clicked() || response.context_menu_opened();
    if !is_asked || panel.first > 0 {
        return;
    }
    if let Content::Bars(bars) = &panel.content {
        let row = hit.map(|hit| hit.row);
        return weightings_menu(response, bars.head, Some(bars.column), row, view);
    }
    let trace = view.trace();
    let value = |column, row| cells.value(column, row).unwrap_or(ABSENT);
    let by_row = |row, column| value(column, row);
    let (id, row) = (panel.id, panel.down.label);
    let row = if row.is_empty() { "line" } else { row };
    let is_named =
        id.side.is_some() || matches!(id.picture, Picture::Learned | Picture::Quantities);
    let (name, whose) = (&panel.name, &panel.whose);
    let of_a_step = Sheet {
        name: if is_named { name } else { whose },
        lines: (row, cells.rows),
        columns: ("column", cells.columns),
        names: &[],
        value: &by_row,
        row_number: &|row| row_number(trace, row).0,
    };
    let cell = hit.map(|hit| (hit.row, hit.column));
    let named = |index| {
        let value = entry(id, index, view);
        value.map(|value| copy_name(view.trace(), value))
    };
    if id.picture == Picture::Units {
        let names = all.iter().map(|place| place.panel.note.as_str());
        let names: Vec<_> = names.collect();
        let value = |unit, of: usize| all[of].cells().and_then(|cells| cells.value(0, unit));
        let sheet = Sheet {
            name: &format!("{} at step {}", panel.whose, view.step()),
            lines: ("unit", cells.rows),
            columns: ("quantity", names.len()),
            names: &names,
            value: &|unit, of| value(unit, of).unwrap_or(ABSENT),
            row_number: COUNTED,
        };
        let place = all.iter().position(|other| other.panel.id == id);
        let cell = hit.map(|hit| hit.row).zip(place);
        sheet.menu(response, cell, NO_CHOICES);
    } else if place.steps().is_some() {
        let sheet = Sheet {
            name,
            lines: ("step", cells.columns),
            columns: (row, cells.rows),
            value: &value,
            ..of_a_step
        };
        let is_known =
            id.picture == Picture::Output && id.side.is_none() && view.open.shown.machine.is_some();
        let more = |step, channel| {
            let gradients = Episode::Gradients(Quantity::Bit { step, channel }).into();
            let gradients = ("Show gradients of this bit".to_owned(), gradients);
            let gradients = is_known.then_some(gradients);
            named(channel).into_iter().chain(gradients).collect()
        };
        let cell = hit.map(|hit| (hit.column, hit.row));
        sheet.menu(response, cell, &more);
    } else if id.now && id.picture != Picture::Quantities {
        let all = view.catalogue().panel(PanelId { now: false, ..id });
        let Some(Content::Cells(all)) = all.map(|panel| panel.content) else {
            return;
        };
        let sheet = Sheet {
            name,
            lines: ("step", view.steps()),
            columns: ("column", cells.columns.max(cells.rows)),
            value: &|t, column| all.value(t, column).unwrap_or(ABSENT),
            ..of_a_step
        };
        let cell = hit.map(|hit| (view.step(), channel(id, hit, view)));
        sheet.menu(response, cell, &|_, index| {
            named(index).into_iter().collect()
        });
    } else if let Content::Overlap(overlap) = &panel.content {
        let names: Vec<_> = overlap.names.iter().map(ToString::to_string).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let sheet = Sheet {
            columns: (row, cells.columns),
            names: &names,
            ..of_a_step
        };
        sheet.menu(response, cell, NO_CHOICES);
    } else {
        let columns = match view.catalogue().quantity(id) {
            Some(own) => own.shape()[1],
            None => cells.columns,
        };
        of_a_step.menu(response, cell, &|row, column| {
            named(row * columns + column).into_iter().collect()
        });
    }
}

/// The menu of the weightings of a head at this step, stage beside stage.
pub fn weightings_menu(
    response: &Response,
    of_head: usize,
    column: Option<&Column>,
    row: Option<usize>,
    view: &mut View<'_>,
) {
    let (trace, step) = (view.trace(), view.step());
    let head = &trace.heads[of_head];
    let columns: Vec<_> = columns_of(head).collect();
    let is_it = |other: &&Column| column.is_some_and(|column| std::ptr::eq(*other, column));
    let place = columns.iter().position(is_it);
    let place = place.or(columns.len().checked_sub(1));
    let names: Vec<_> = columns.iter().map(|column| column.array.name).collect();
    let label = head_label(trace, of_head);
    let gradients = view.state.layer();
    let whose = gradients.map_or_else(|| label.clone(), |gradients| gradients.wrt(&label));
    let value = |row: usize, stage: usize| match gradients {
        None => columns[stage].values(head, step)[row],
        Some(by) => {
            let values = by.column(of_head, columns[stage], step);
            values.map_or(ABSENT, |values| values[row])
        }
    };
    let sheet = Sheet {
        name: &format!("{whose} at step {step}"),
        lines: ("row", view.rows.total()),
        columns: ("stage", names.len()),
        names: &names,
        value: &value,
        row_number: &|row| row_number(trace, row).0,
    };
    let name = |index: usize, stage: usize| {
        let value = recorded(Place::Head(of_head), columns[stage].array, index, view);
        let named = value.map(|value| copy_name(trace, value));
        named.into_iter().collect()
    };
    sheet.menu(response, row.zip(place), &name);
}
