//! Parts of a page beside its pictures: names of heads and stages, the table, words in place of what has no room, and
//! lines over time.

use egui::{
    Align2, FontId, Popup, Pos2, Rect, Response, Role, Sense, Ui, UiBuilder, WidgetInfo, vec2,
};

use super::copy_menu::{COUNTED, NO_CHOICES, Sheet};
use super::picture::{picture_ui, weightings_menu};
use super::{View, part, part_told, pointer, scrub, step_at};
use crate::figure::facts::events::reach;
use crate::figure::facts::family::{column, columns_of};
use crate::figure::facts::links;
use crate::figure::facts::measure::Scalar;
use crate::figure::facts::rows::Span;
use crate::figure::narrate::mechanism;
use crate::figure::page::debug::legends::{LEGENDS_SIZE, legends, overlap_size};
use crate::figure::page::debug::table::{measured_value, table_cells};
use crate::figure::scene::overlap::{Redundant, SPECTRUM};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::Content;
use crate::figure::{
    ADDRESSING_MEASURES, Area, Ink, PanelId, Picture, PlacedPanel, Stage, facts::numbers,
    head_label, narrate,
};
use crate::model::{HeadTrace, Trace};
use crate::train::is_absent;
use crate::viewer::command::{Play, Rows, ViewCommand};
use crate::viewer::state::Target;
use crate::viewer::widget::{Readout, area, hit_area, label, on_click, paint_text, rect, send};

/// A quiet text, also for screen readers.
pub fn quiet_text(ui: &Ui, at: Pos2, align: Align2, text: &str, font: FontId, view: &View<'_>) {
    let ink = view.palette.subdued;
    let rect = paint_text(ui.painter(), at, align, text, font, ink);
    label(ui, rect, text, text);
}

/// A line of the bar, from its left end.
pub fn child(ui: &mut Ui, rect: Rect, add: impl FnOnce(&mut Ui)) {
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    add(&mut child);
}

/// A click looks at a head, with Shift it is pinned.
pub fn choose(response: &Response, head: usize) {
    use ViewCommand::{Focus, Pin};
    if response.clicked() {
        let pin = response.ctx.input(|input| input.modifiers.shift);
        let command = if pin { Pin } else { Focus };
        send(&response.ctx, command(head));
    }
}

/// A faint line at a row; at least a point high.
pub fn row_line(ui: &Ui, across: &Area, row: Span, strength: f32, view: &mut View<'_>) {
    let ink = Ink::from(view.palette.data.strong).faded(strength);
    let line = across.down(row.min, row.max.max(row.min + 1.0));
    view.canvas(ui).rect(line, ink);
}

/// A part to click, with its name.
pub fn button(ui: &Ui, place: &PlacedPanel<'_>) -> Response {
    let info = WidgetInfo::labeled(Role::Button, true, &place.panel.name);
    hit_area(ui, rect(&place.area), place.slot(), Sense::click(), &info)
}

/// A part to click, one of several to choose from.
fn choice(ui: &Ui, place: &PlacedPanel<'_>, is_on: bool) -> Response {
    let info = WidgetInfo::selected(Role::Button, true, is_on, &place.panel.name);
    hit_area(ui, rect(&place.area), place.slot(), Sense::click(), &info)
}

const CHOOSE: &str = "Shift+click adds it as the second";

/// The name of a head beside its weighting.
pub fn lane_name_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let response = choice(ui, place, head == view.focus);
    on_click(&response, ViewCommand::Focus(head));
}

/// The name of a head over its column.
pub fn column_name_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let response = button(ui, place);
    choose(&response, head);
    let label = head_label(view.trace(), head);
    response.on_hover_text(format!("Select head {label}; {CHOOSE}"));
}

/// The name of a head over its addressing.
pub fn title_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize) {
    let response = button(ui, place);
    on_click(&response, ViewCommand::Select(Target::Head(head)));
    response.on_hover_text(place.panel.name.as_str());
}

/// The words over a column: a click goes to its stage.
pub fn column_word_ui(ui: &Ui, place: &PlacedPanel<'_>, id: PanelId, view: &mut View<'_>) {
    let column = id.part.and_then(column);
    let (Some(column), Some(head)) = (column, id.of) else {
        return;
    };
    let response = button(ui, place);
    let trace = &view.trace().heads[head];
    if let Some(stage) = view.open.facts.stages.place(column.stage, Some(trace)) {
        on_click(&response, Play::SeekStage(stage));
    }
    if response.hovered() {
        let panel = view.catalogue().panel(id);
        response.on_hover_text(panel.map_or_else(String::new, |panel| panel.note));
    }
}

/// Words that are read aloud, in full where they are cut.
pub fn text_ui(ui: &Ui, place: &PlacedPanel<'_>) {
    let panel = &place.panel;
    let response = label(ui, rect(&place.area), place.slot(), &panel.name);
    if !panel.note.is_empty() {
        response.on_hover_text(panel.note.as_str());
    }
}

/// The lines of a shift: which row moves to which.
pub fn moves_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let (trace, step) = (&view.trace().heads[head], view.step());
    let columns: Vec<_> = columns_of(trace).collect();
    let mut pairs = columns.windows(2);
    let Some([before, _]) = pairs.find(|pair| pair[1].stage == Stage::Shift) else {
        return;
    };
    let moves = links::shifted(trace, step, before.values(trace, step));
    let moves = links::describe(&moves, view.rows.total());
    let response = part_told(ui, place, &moves.replace('\n', "; "));
    if pointer(&response).is_some() {
        let place = format!("{}  step {step}", head_label(view.trace(), head));
        view.set_readout(place, format!("{} → w\u{303}", before.symbol), moves);
    }
}

/// The parameters of a head: a click selects it.
pub fn table_line_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let is_on = head == view.focus || view.state.view.pinned == Some(head);
    let response = choice(ui, place, is_on);
    if response.hovered() && !is_on {
        let line = view.palette.data.line;
        view.canvas(ui).outline(place.area, line);
    }
    choose(&response, head);
    let (heads, step) = (&view.open.facts.heads, view.step());
    let value = |head: usize, column: usize| {
        measured_value(&heads[head], &ADDRESSING_MEASURES[column], step)
    };
    let cells = table_cells(Span::new(place.area.left, place.area.right));
    let cell = pointer(&response).map(|at| {
        let column = cells.iter().position(|cell| at.x <= cell.max);
        (head, column.unwrap_or(0))
    });
    let names = ADDRESSING_MEASURES
        .each_ref()
        .map(|measure| measure.array.name);
    let sheet = Sheet {
        name: &format!("all heads at step {step}"),
        lines: ("head", heads.len()),
        columns: ("quantity", names.len()),
        names: &names,
        value: &value,
        row_number: COUNTED,
    };
    sheet.menu(&response, cell, NO_CHOICES);
    response.on_hover_text(format!("Click to select this head; {CHOOSE}"));
}

/// The redundancy of some heads: how it comes about.
pub fn penalty_ui(ui: &Ui, place: &PlacedPanel<'_>, who: &str, view: &mut View<'_>) {
    let mut all = view.open.facts.redundancies.0.iter();
    let Some(of) = all.find(|of| of.who == who) else {
        return;
    };
    let readout = penalty(of, view.trace(), view.step());
    let name = format!("redundancy of heads, {who}: {}", readout.value);
    let response = label(ui, rect(&place.area), place.slot(), &name);
    if response.hovered() {
        view.pointed.readout = Some(readout);
    }
}

/// The singular values of the overlap of heads.
pub fn spectrum_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let panel = view.catalogue().panel(PanelId::new(Picture::Overlap));
    let Some(Content::Overlap(overlap)) = panel.map(|panel| panel.content) else {
        return;
    };
    let values = overlap.spectrum().into_iter();
    let values = values.map(|value| numbers::short(value, 4));
    let values = values.collect::<Vec<_>>().join(", ");
    let name = format!("singular values of the overlap of heads: {values}");
    let response = label(ui, rect(&place.area), place.slot(), &name);
    if response.hovered() {
        let step = view.step();
        view.set_readout(format!("step {step}  σ"), values, SPECTRUM);
    }
}

/// A penalty with its equation in the numbers of a step.
pub fn penalty(of: &Redundant, trace: &Trace, step: usize) -> Readout {
    let [spread, shared, total] = of.at(step);
    let meaning = if is_absent(total) {
        "weightings not recorded".to_owned()
    } else {
        let [own, pairs] = of.terms(trace, step);
        let [spread, shared, mean] =
            [spread, shared, of.mean].map(|value| numbers::short(value, 4));
        format!(
            "redundancy P = ‖A·A′ − I‖², 0 when each head is on a separate row\nspread {spread} = {own}\nshared \
             {shared} = {pairs}\ntraining adds the mean over the steps, {mean}"
        )
    };
    Readout {
        place: format!("{}  step {step}  P", of.who),
        value: numbers::exact(total),
        meaning,
        name: None,
    }
}

/// Shows the contents of a picture that a word replaces.
fn on_demand(
    ui: &Ui,
    place: &PlacedPanel<'_>,
    [width, height]: [f32; 2],
    mut show: impl FnMut(&mut Ui, Rect),
) {
    let response = button(ui, place);
    let mut popup = |ui: &mut Ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
        show(ui, rect);
    };
    Popup::from_toggle_button_response(&response).show(&mut popup);
    response.on_hover_ui(popup);
}

/// The legends, where they have no room: pointed at or clicked they are shown.
pub fn legends_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    on_demand(ui, place, LEGENDS_SIZE, |ui, rect| {
        let (page, seen) = (view.page(ui.pixels_per_point()), view.catalogue());
        let (focus, room) = (Some(view.focus), (area(rect), 2));
        legends(
            &mut Surface::new(&mut view.canvas(ui), &page),
            &seen,
            focus,
            room,
        );
    });
}

/// The overlap of heads, where it has no room: pointed at or clicked it is shown.
pub fn no_overlap_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let heads = view.trace().heads.len();
    on_demand(ui, place, overlap_size(heads), |ui, rect| {
        let panel = view.catalogue().panel(PanelId::new(Picture::Overlap));
        if let Some(panel) = panel {
            let corner = rect.min + vec2(32.0, 16.0);
            let room = Rect::from_min_max(corner, rect.max - vec2(4.0, 2.0));
            picture_ui(ui, &panel.at(area(room)), view);
        }
    });
}

/// All rows in little: dragging moves the rows on screen.
pub fn minimap_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let response = part(ui, place);
    let (all, numbers) = (rect(&place.area), view.whole.numbers());
    let share = |y: f32| ((y - all.top()) / all.height().max(1.0)).clamp(0.0, 1.0);
    let index = |y: f32| (share(y) * numbers.len() as f32) as usize;
    let at = pointer(&response).and_then(|at| numbers.get(index(at.y)));
    weightings_menu(&response, view.focus, None, at.copied(), view);
    let down = response.dragged() || response.clicked();
    if let (true, Some(at)) = (down, response.interact_pointer_pos()) {
        send(ui.ctx(), Rows::Centre(index(at.y)));
    }
}

/// A part of the page with a time axis: dragging moves the play-head; returns the step under the pointer.
fn over_time(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) -> (Response, Option<usize>) {
    let time = rect(&place.area).x_range();
    let response = part(ui, place);
    scrub(&response, time, view);
    let step = pointer(&response).map(|at| step_at(time.into(), at.x, view.steps()));
    (response, step)
}

/// The loss of every step: a place to scrub that marks errors.
pub fn timeline_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let (response, step) = over_time(ui, place, view);
    let (loss, answer) = (&view.recording().loss, view.recording().episode.answer);
    let sheet = Sheet {
        name: answer.loss_name(),
        lines: ("step", view.steps()),
        columns: ("quantity", 1),
        names: &["loss"],
        value: &|t, _| loss[t],
        row_number: COUNTED,
    };
    let cell = step.map(|step| (step, 0));
    sheet.menu(&response, cell, NO_CHOICES);
    if let Some(step) = step {
        let (loss, phase) = (loss[step], narrate::phase_at(view.recording(), step));
        let found = view.state.found();
        let mut events = found.iter().flat_map(|found| found.events.iter());
        let here = events.find(|event| event.step == step);
        let here = here.map_or("", |event| &event.words);
        let number = numbers::exact(loss);
        let number = if is_absent(loss) {
            number
        } else {
            answer.amount(&number)
        };
        let meaning = format!("{phase}: {} of this step\n{here}", answer.step_loss());
        view.set_readout(format!("step {step}"), number, meaning);
    }
}

/// The movement of a head.
pub fn ribbon_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let (_, step) = over_time(ui, place, view);
    let Some(step) = step else { return };
    let mut stretches = view.open.facts.heads[head].stretches.iter();
    let here = stretches.find(|stretch| (stretch.start..stretch.end).contains(&step));
    let (trace, label) = (view.trace(), head_label(view.trace(), head));
    let range = reach(&trace.heads[head]);
    if let Some(stretch) = here {
        let place = format!("{label}  steps {} to {}", stretch.start, stretch.end - 1);
        let meaning = "rows by which its peak moves per step";
        view.set_readout(place, stretch.words(range), meaning);
    }
}

/// A number over time, with those beside it in the menu.
pub fn line_ui(ui: &Ui, place: &PlacedPanel<'_>, id: PanelId, view: &mut View<'_>) {
    let (response, step) = over_time(ui, place, view);
    // The numbers are copied only for a readout or a menu.
    if step.is_none() && !response.context_menu_opened() {
        return;
    }
    match id.picture {
        Picture::Redundancy => redundancy_ui(&response, step, view),
        Picture::Uncertainty => uncertainty_ui(&response, step, view),
        _ => {
            let page = view.debug_page();
            let scalars = page.scalars(view.focus);
            let index = id.part.unwrap_or(0);
            let name = format!("{} over time", head_label(view.trace(), view.focus));
            menu(&response, &name, step.zip(Some(index)), &scalars, view);
            if let (Some(step), Some(scalar)) = (step, scalars.get(index)) {
                let (panel, value) = (&place.panel, numbers::exact(scalar.values[step]));
                let place = format!("{}  step {step}  {}", panel.whose, scalar.of.symbol);
                view.set_readout(place, value, &panel.note);
            }
        }
    }
}

/// The numbers over time, a column each, to copy.
fn menu(
    response: &Response,
    name: &str,
    cell: Option<(usize, usize)>,
    lines: &[Scalar],
    view: &mut View<'_>,
) {
    let names: Vec<_> = lines.iter().map(|line| line.of.array.name).collect();
    let sheet = Sheet {
        name,
        lines: ("step", view.steps()),
        columns: ("quantity", lines.len()),
        names: &names,
        value: &|t, index| lines[index].values[t],
        row_number: COUNTED,
    };
    sheet.menu(response, cell, NO_CHOICES);
}

/// The penalty over time of the heads of the selected head's kind.
fn redundancy_ui(response: &Response, step: Option<usize>, view: &mut View<'_>) {
    let all = &view.open.facts.redundancies;
    let is_write = view.head().is_some_and(HeadTrace::is_write);
    let Some(of) = all.like(is_write) else { return };
    let own = all.0.iter().position(|other| other.who == of.who);
    let lines: Vec<_> = all.0.iter().map(|of| of.line.clone()).collect();
    let name = "redundancy over time";
    menu(response, name, step.zip(own), &lines, view);
    if let Some(step) = step {
        view.pointed.readout = Some(penalty(of, view.trace(), step));
    }
}

/// The epistemic uncertainty of many samples over time.
fn uncertainty_ui(response: &Response, step: Option<usize>, view: &mut View<'_>) {
    let Some(spread) = view.open.spread.as_deref() else {
        return;
    };
    let lines = spread.lines(view.trace().steps());
    let name = format!("uncertainty of {} samples over time", spread.samples);
    menu(response, &name, step.zip(Some(2)), &lines, view);
    let Some(step) = step else { return };
    let description = lines.each_ref().map(|line| {
        let value = numbers::exact(line.values[step]);
        format!("{} {value}  {}", line.of.symbol, line.of.words)
    });
    let place = format!("{} samples  step {step}  I", spread.samples);
    let meaning = match spread.step(step) {
        Some(_) => format!("{}\n{}", description.join("\n"), mechanism::UNCERTAIN),
        None => "no output is scored in this step".to_owned(),
    };
    view.set_readout(place, numbers::exact(lines[2].values[step]), meaning);
}
