//! A page on screen: each of its parts responds to the pointer by its slot.

use egui::{Rangef, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::parts::{self, button, choose, row_line};
use super::picture::{has_rows, hover_ui, is_of_units, point_ui};
use super::{View, part, scrub, signal_path, step_at};
use crate::figure::facts::rows::Span;
use crate::figure::narrate::Moment;
use crate::figure::page::debug::geometry::{Columns, PHASES};
use crate::figure::scene::paint::Draw;
use crate::figure::{Ink, PlacedPanel, Slot, narrate};
use crate::viewer::command::{Play, ViewCommand};
use crate::viewer::state::Target;
use crate::viewer::widget::{area, hit_area, on_click, rect, send};

/// All parts of a page: where the pointer is, and what a click does. Pictures over time are clipped to these edges.
pub fn page_ui(ui: &mut Ui, places: &[PlacedPanel<'_>], clip: Option<Rangef>, view: &mut View<'_>) {
    let lit = view.rows_lit();
    let before = ui.clip_rect();
    let clipped = clip.map_or(before, |clip| {
        Rect::from_x_y_ranges(clip, before.y_range()).intersect(before)
    });
    for place in places {
        if place.steps().is_some() {
            ui.set_clip_rect(clipped);
        }
        // A faint line at the row under the pointer and at the pinned row.
        for &(row, strength) in lit.iter().filter(|_| has_rows(place.panel.id)) {
            if let Some(span) = place.axis.place_of(row) {
                row_line(ui, &place.area, span, strength, view);
            }
        }
        unit_lines(ui, place, view);
        part_ui(ui, place, places, view);
        ui.set_clip_rect(before);
    }
    ui.set_clip_rect(clipped);
    signal_path::on_page_ui(ui, places, view);
    ui.set_clip_rect(before);
}

/// Lines at the unit under the pointer and at the pinned one, in the pictures of their layer.
fn unit_lines(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let id = place.panel.id;
    let (Some(own), true) = (id.of, is_of_units(id)) else {
        return;
    };
    let pinned = match view.state.view.selected {
        Some(Target::Unit { layer, unit }) => Some((layer, unit, 0.25)),
        _ => None,
    };
    let pointed = view.before.unit.map(|(layer, unit)| (layer, unit, 0.12));
    for (layer, unit, strength) in pinned.into_iter().chain(pointed) {
        if let (true, Some(span)) = (layer == own, place.axis.place_of(unit)) {
            row_line(ui, &place.area, span, strength, view);
        }
    }
}

/// Lets a part of a page be pointed at.
pub fn part_ui(ui: &mut Ui, place: &PlacedPanel<'_>, all: &[PlacedPanel<'_>], view: &mut View<'_>) {
    match place.slot() {
        Slot::Picture(id) if id.is_thumbnail() => thumbnail_ui(ui, place, view),
        Slot::Picture(_) => point_ui(ui, place, all, view),
        _ if view.state.is_on_phone() => {}
        Slot::Head { head, .. } => sign_ui(ui, place, Sign::Head(head), view),
        Slot::Stage(stage) => sign_ui(ui, place, Sign::Stage(stage), view),
        Slot::Controller => sign_ui(ui, place, Sign::Stage(0), view),
        Slot::Ruler => {
            let input = all.iter().find(|place| place.steps().is_some());
            let time = rect(&input.unwrap_or(place).area).x_range();
            ruler_ui(ui, place, time, view);
        }
        Slot::Timeline => parts::timeline_ui(ui, place, view),
        Slot::Ribbon(head) => parts::ribbon_ui(ui, place, head, view),
        Slot::Line(id) => parts::line_ui(ui, place, id, view),
        Slot::LaneName(head) => parts::lane_name_ui(ui, place, head, view),
        Slot::Title(head) => parts::title_ui(ui, place, head),
        Slot::ColumnName(head) => parts::column_name_ui(ui, place, head, view),
        Slot::ColumnWord(id) => parts::column_word_ui(ui, place, id, view),
        Slot::Moves(head) => parts::moves_ui(ui, place, head, view),
        Slot::TableLine(head) => parts::table_line_ui(ui, place, head, view),
        Slot::Penalty(who) => parts::penalty_ui(ui, place, who, view),
        Slot::Spectrum => parts::spectrum_ui(ui, place, view),
        Slot::Minimap => parts::minimap_ui(ui, place, view),
        Slot::Legends => parts::legends_ui(ui, place, view),
        Slot::NoOverlap => parts::no_overlap_ui(ui, place, view),
        Slot::Largest(_) | Slot::TitleText(_) | Slot::Sentence | Slot::Text(_) => {
            parts::text_ui(ui, place);
        }
    }
}

/// A weighting that is small beside others: a click selects its head.
fn thumbnail_ui(ui: &mut Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let (response, _) = hover_ui(ui, place, &[], view);
    if let Some(head) = place.panel.id.of {
        choose(&response, head);
    }
    if response.hovered() {
        let accent = view.palette.data.accent;
        view.canvas(ui).frame(place.area, accent);
    }
}

/// The target of a click on a part of a page without values.
#[derive(Clone, Copy)]
enum Sign {
    Stage(usize),
    Head(usize),
}

/// A stage or a head: a click goes there.
fn sign_ui(ui: &Ui, place: &PlacedPanel<'_>, sign: Sign, view: &mut View<'_>) {
    let response = button(ui, place);
    match sign {
        Sign::Head(head) => choose(&response, head),
        Sign::Stage(stage) => on_click(&response, Play::SeekStage(stage)),
    }
    if !response.hovered() {
        return;
    }
    let meaning = match sign {
        Sign::Head(_) => "Click to select this head; Shift+click adds it as the second.".to_owned(),
        Sign::Stage(stage) => {
            let has_come = stage <= view.player.stage() || view.player.whole_steps();
            let moment = Moment {
                place: stage,
                ..view.open.moment(view.player)
            };
            let description = || moment.long(view.focus);
            has_come.then(description).unwrap_or_default()
        }
    };
    view.set_readout(place.panel.name.clone(), "", meaning);
}

/// The ruler: a click or a drag moves the play-head; from the phases, or with Shift, a drag marks the part to loop.
pub fn ruler_ui(ui: &Ui, place: &PlacedPanel<'_>, time: Rangef, view: &mut View<'_>) {
    let response = part(ui, place);
    let pressed = ui.input(|input| (input.modifiers.shift, input.pointer.press_origin()));
    let on_phases = pressed.1.is_some_and(|at| at.y <= place.area.top + PHASES);
    if response.dragged() && (pressed.0 || on_phases) {
        let at = |x: f32| step_at(time.into(), x, view.steps());
        if let Some((from, to)) = pressed.1.zip(response.interact_pointer_pos()) {
            let range = Some((at(from.x), at(to.x)));
            send(ui.ctx(), Play::LoopRange(range));
        }
    } else if !on_phases || response.clicked() {
        scrub(&response, time, view);
    }
    if let Some(position) = response.hover_pos() {
        let step = step_at(time.into(), position.x, view.steps());
        on_click(&response, ViewCommand::Select(Target::Step));
        let phase = narrate::phase_at(view.recording(), step);
        view.set_readout(format!("step {step}"), phase, "");
    }
}

/// The part to loop on the ruler, with a handle at each end to drag.
pub fn loop_handles(ui: &Ui, columns: &Columns, y: Span, view: &mut View<'_>) {
    let Some((first, last)) = view.player.range() else {
        return;
    };
    let steps = view.steps();
    let x = columns.span(first, last, steps);
    let colours = view.palette.data;
    let part = area(Rect::from_x_y_ranges(x, y));
    let wash = Ink::from(colours.accent).faded(0.25);
    view.canvas(ui).rect(part, wash);
    for (is_start, name, edge) in [(true, "Loop start", x.min), (false, "Loop end", x.max)] {
        let grip = Rect::from_center_size(pos2(edge, y.center()), vec2(7.0, y.span()));
        let mut canvas = view.canvas(ui);
        canvas.rect(area(grip), colours.accent);
        let line = [[edge, y.min + 5.0], [edge, y.max - 5.0]];
        canvas.line(&line, colours.on_accent, 1.0);
        let info = WidgetInfo::labeled(Role::Slider, true, name);
        let response = hit_area(ui, grip.expand(3.0), name, Sense::drag(), &info);
        if let (true, Some(at)) = (response.dragged(), response.interact_pointer_pos()) {
            let step = columns.step_at(at.x, steps);
            let range = if is_start {
                (step.min(last), last)
            } else {
                (first, step.max(first))
            };
            send(ui.ctx(), Play::LoopRange(Some(range)));
        }
        response.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
    }
}
