//! The ruler of the time axis: clicks and drags move the play-head, or mark the part to loop.

use egui::{Rangef, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{View, part, scrub, step_at};
use crate::figure::facts::rows::Span;
use crate::figure::page::debug::geometry::{Columns, PHASES};
use crate::figure::scene::paint::Draw;
use crate::figure::{Ink, PlacedPanel, narrate};
use crate::viewer::command::{Look, Play};
use crate::viewer::state::Target;
use crate::viewer::widget::{area, on_click, send, spot};

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
        on_click(&response, Look::Select(Target::Step));
        let phase = narrate::phase_at(view.recording(), step);
        view.tell(format!("step {step}"), phase, "");
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
        let response = spot(ui, grip.expand(3.0), name, Sense::drag(), &info);
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
