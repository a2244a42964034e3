//! The bottom: transport, the scrub timeline, the stages of the step, and the status line.

use egui::{Align2, Rangef, Rect, RichText, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::copy_menu::Sheet;
use super::parts::pointer;
use super::{BUTTONS, Columns, TRANSPORT, View, events, interact, play_head, scalars, scrub};
use crate::figure::facts::numbers;
use crate::figure::scene::annotations::unrecorded;
use crate::figure::scene::lanes;
use crate::player::{Loop, Player};
use crate::train::is_absent;
use crate::viewer::command::{Ask, Command, Learn, Play, Subject};
use crate::viewer::state::State;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{focus_ring, icon_button, named_icon_button, on_click};
use crate::viewer::widget::canvas::{Canvas, area};
use crate::viewer::widget::icon::Icon;
use crate::viewer::widget::property::{from_left, from_right, one_line};
use crate::viewer::widget::readout::Readout;
use crate::viewer::{keys, narration};

/// Width of the speed.
pub const PACE: f32 = 60.0;
/// The same with its buttons.
const SPEED: f32 = 118.0;

/// Transport at the left, timeline under the pictures over time, stages and speed at the right.
pub fn transport_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let mut whole = ui.max_rect();
    let (above, columns) = (columns, &columns.of_all());
    if !view.state.panels().timeline {
        let (left, right) = (12.0, whole.right() - 12.0);
        buttons_ui(ui, Rangef::new(left, right), whole.y_range(), view);
        return speed_ui(ui, Rangef::new(right - SPEED, right), whole.y_range(), view);
    }
    if columns.buttons_beside() {
        let y = Rangef::new(whole.top(), whole.top() + TRANSPORT);
        buttons_ui(ui, Rangef::new(12.0, columns.gutter.min + 40.0), y, view);
    } else {
        let y = Rangef::new(whole.bottom() - BUTTONS, whole.bottom());
        buttons_ui(ui, Rangef::new(12.0, whole.right()), y, view);
        whole.max.y = y.min;
    }
    let area = whole.with_max_y(whole.top() + TRANSPORT);
    let y = Rangef::new(area.top() + 12.0, area.bottom() - 12.0);
    timeline_ui(ui, columns, y, view);
    shown_part(ui, above, y, view);
    if whole.height() > TRANSPORT {
        scalars::scalars_ui(ui, columns, area.bottom() - 4.0, view);
        if view.player.playing() {
            // What has not happened yet is not shown.
            let next = columns.step(view.step(), view.steps()).max;
            let y = Rangef::new(area.bottom() - 4.0, whole.bottom());
            let to_come = Rect::from_x_y_ranges(next..=columns.time.max, y);
            ui.painter().rect_filled(to_come, 0.0, view.palette.panel);
        }
        let line = Rangef::new(y.max, whole.bottom() - 6.0);
        play_head(ui, columns, line, view);
        let x = Rangef::new(columns.time.max + events::BESIDE, whole.right() - 12.0);
        let y = Rangef::new(area.bottom() - 2.0, whole.bottom() - 6.0);
        events::events_ui(ui, x, y, view);
    }
    let right = Rangef::new(columns.stages.min, area.right() - 12.0);
    let x = Rangef::new(right.min, columns.marks.max.min(right.max));
    stages_ui(ui, x, area.y_range(), view);
}

/// A line of the bar, from its left end.
pub fn child(ui: &mut Ui, x: Rangef, y: Rangef, add: impl FnOnce(&mut Ui)) {
    let rect = Rect::from_x_y_ranges(x, y);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    add(&mut child);
}

fn buttons_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    child(ui, x, y, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        keys_ui(ui, view.player, view.commands);
        ui.add_space(4.0);
        let looping = view.player.looping() != Loop::Off;
        icon_button(ui, Icon::Loop, Play::ToggleLoop, looping, view.commands);
    });
}

/// Shows the transport buttons: to the ends, by a step, play and pause.
pub fn keys_ui(ui: &mut Ui, player: &Player, commands: &mut Vec<Command>) {
    icon_button(ui, Icon::First, Play::First, false, commands);
    icon_button(ui, Icon::Previous, Play::Step(-1), false, commands);
    let (icon, name) = if player.playing() {
        (Icon::Pause, "Pause")
    } else {
        (Icon::Play, "Play")
    };
    let play = named_icon_button(ui, icon, name, false, true);
    on_click(&play, Play::Toggle, commands);
    play.on_hover_text(keys::with_key(name, &Play::Toggle.into()));
    icon_button(ui, Icon::Next, Play::Step(1), false, commands);
    icon_button(ui, Icon::Last, Play::Last, false, commands);
}

/// Shows the loss of every step under the play-head: a place to scrub that marks errors.
fn timeline_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let steps = view.steps();
    let rect = Rect::from_x_y_ranges(columns.time, y);
    let painter = ui.painter().clone();
    painter.rect_filled(rect, 3.0, view.palette.background);
    for (index, phase) in view.recording().episode.phases.iter().enumerate() {
        let [start, end] = [phase.start, phase.end].map(|step| columns.step(step, steps).min);
        let band = Rect::from_x_y_ranges(start..=end, y.min..=y.min + 6.0);
        painter.rect_filled(band, 0.0, view.palette.phases[index % 2]);
    }
    loop_part(ui, columns, y, view);
    event_ticks(ui, columns, y, view);
    let most = loss_bars(ui, rect, view);
    if view
        .recording()
        .loss
        .first()
        .is_some_and(|&loss| is_absent(loss))
    {
        let page = view.page(ui.pixels_per_point());
        let mut canvas = Canvas::new(&painter, view.textures, view.open.serial);
        unrecorded(&mut canvas, &area(rect.with_min_y(y.min + 14.0)), &page);
    }
    let (edge, ink) = (view.palette.hairline(), view.palette.subdued);
    painter.rect_stroke(rect, 3.0, edge, egui::StrokeKind::Outside);
    let scale = format!("{} bits", numbers::short(most, 1));
    for (words, y, size) in [("loss", y.max - 8.0, 11.0), (&scale, y.min + 8.0, 10.0)] {
        let at = pos2(columns.time.min - 8.0, y);
        painter.text(at, Align2::RIGHT_CENTER, words, theme::text(size), ink);
    }
    let words = format!("phases and loss of every step, up to {scale}; drag to move in time");
    let response = interact(ui, rect, "Timeline", &words);
    scrub(&response, columns.time, view);
    let loss = &view.recording().loss;
    let cell = pointer(&response).map(|at| (columns.step_at(at.x, steps), 0));
    let sheet = Sheet {
        name: "loss in bits",
        lines: ("step", steps),
        columns: ("quantity", 1),
        names: &["loss"],
        value: &|t, _| loss[t],
    };
    sheet.menu(&response, cell, view.commands);
    if let Some(position) = response.hover_pos() {
        let step = columns.step_at(position.x, steps);
        let (loss, phase) = (loss[step], narration::phase_at(view.recording(), step));
        let mut events = view.open.events.iter();
        let here = events.find(|event| event.step == step);
        let here = here.map_or("", |event| &event.words);
        let unit = if is_absent(loss) { "" } else { " bits" };
        *view.readout = Some(Readout {
            place: format!("step {step}"),
            value: numbers::exact(loss) + unit,
            meaning: format!("{phase}: cross-entropy of this step\n{here}"),
        });
    }
    let line = Rangef::new(ui.max_rect().top(), y.max);
    play_head(ui, columns, line, view);
    let knob = pos2(columns.step(view.step(), steps).center(), y.min + 3.0);
    ui.painter().circle_filled(knob, 5.5, view.palette.accent);
}

/// Shows the part of the steps in the pictures above: the rest is veiled.
fn shown_part(ui: &Ui, above: &Columns, y: Rangef, view: &View<'_>) {
    let (time, whole) = (above.time, above.whole);
    if !above.is_part() {
        return;
    }
    let at = |x: f32| time.min + (x - whole.min) / whole.span() * time.span();
    let part = Rangef::new(at(time.min), at(time.max));
    let veil = view.palette.panel.gamma_multiply(0.6);
    for outside in [
        Rangef::new(time.min, part.min),
        Rangef::new(part.max, time.max),
    ] {
        let rect = Rect::from_x_y_ranges(outside, y);
        ui.painter().rect_filled(rect, 0.0, veil);
    }
    let (rect, kind) = (Rect::from_x_y_ranges(part, y), egui::StrokeKind::Outside);
    let stroke = egui::Stroke::new(1.5, view.palette.accent);
    ui.painter().rect_stroke(rect, 2.0, stroke, kind);
    let [first, last] = [time.min + 0.5, time.max - 0.5].map(|x| above.step_at(x, view.steps()));
    let words = format!("The pictures show steps {first} to {last}");
    let response = ui.interact(rect, ui.scope_id().with("shown part"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
}

/// Shows the marked part: the rest is veiled while it loops.
fn loop_part(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let Some((first, last)) = view.player.range() else {
        return;
    };
    let steps = view.steps();
    let x = columns.span(first, last, steps);
    let (painter, accent) = (ui.painter(), view.palette.accent);
    let on = view.player.looping() == Loop::Range;
    let wash = accent.gamma_multiply(if on { 0.22 } else { 0.08 });
    painter.rect_filled(Rect::from_x_y_ranges(x, y), 0.0, wash);
    for (edge, inside) in [(x.min, 5.0), (x.max, -5.0)] {
        painter.vline(edge, y, egui::Stroke::new(2.0, accent));
        for at in [y.min, y.max] {
            let bracket = Rangef::new(edge.min(edge + inside), edge.max(edge + inside));
            painter.hline(bracket, at, egui::Stroke::new(2.0, accent));
        }
    }
    let words = format!("loop from step {first} to step {last}");
    let band = Rect::from_x_y_ranges(x, Rangef::new(y.min - 8.0, y.min - 1.0));
    let response = ui.interact(band, ui.scope_id().with("loop part"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
}

/// Draws a tick at every event, the targets of Page Down.
fn event_ticks(ui: &Ui, columns: &Columns, y: Rangef, view: &View<'_>) {
    let mut drawn = f32::NEG_INFINITY;
    for event in view.open.events.iter() {
        let x = columns.step(event.step, view.steps()).center();
        // Ticks that would touch are one.
        if x - drawn < 2.0 {
            continue;
        }
        drawn = x;
        let tick = Rangef::new(y.min + 6.0, y.min + 11.0);
        let stroke = egui::Stroke::new(1.0, view.palette.text);
        ui.painter().vline(x, tick, stroke);
    }
}

/// A bar for the loss of every step; returns the loss of a full one.
fn loss_bars(ui: &Ui, rect: Rect, view: &mut View<'_>) -> f32 {
    let loss = &view.recording().loss;
    let finite = loss.iter().copied().filter(|loss| loss.is_finite());
    let most = finite.fold(1.0, f32::max);
    let page = view.page(ui.pixels_per_point());
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    let below = area(rect.with_min_y(rect.top() + 8.0));
    lanes::bars(&mut canvas, loss, &below, |loss| loss / most, &page);
    most
}

/// The stages of this machine as a row of places to click, and the speed.
fn stages_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    let width = (x.span() - SPEED - 20.0).max(60.0);
    let stages = view.player.stages();
    let each = width / stages as f32;
    let top = y.center() - 4.0;
    scrub_stages(ui, Rangef::new(x.min, x.min + width), y, view);
    for place in 0..stages {
        let left = x.min + place as f32 * each;
        stage_ui(ui, Rangef::new(left, left + each), y, place, view);
    }
    let name = if view.player.whole_steps() {
        "whole step".to_owned()
    } else {
        view.stage_ref().name()
    };
    let mut right = x.min - 6.0;
    for (words, font, ink) in [
        ("stage", theme::text(11.0), view.palette.subdued),
        (&name, theme::heading(11.0), view.palette.text),
    ] {
        let (at, align) = (pos2(right + 6.0, top - 5.0), Align2::LEFT_BOTTOM);
        right = ui.painter().text(at, align, words, font, ink).right();
    }
    let hint = Rangef::new(x.min, x.min + width);
    stage_hint(ui, hint, y.center() + 6.0, view);
    speed_ui(ui, Rangef::new(x.max - SPEED, x.max), y, view);
}

/// A place to click for one stage.
fn stage_ui(ui: &Ui, x: Rangef, y: Rangef, place: usize, view: &mut View<'_>) {
    let (current, whole) = (view.player.stage(), view.player.whole_steps());
    let rect = Rect::from_x_y_ranges(x, y.expand(-8.0));
    let response = ui.interact(rect, ui.scope_id().with(("stage", place)), Sense::click());
    let stage = view.open.stages.at(place).name();
    let name = format!("Go to stage {stage}");
    let selected = place == current && !whole;
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, &name));
    let corner = pos2(x.min + 1.0, y.center() - 4.0);
    let bar = Rect::from_min_size(corner, vec2(x.span() - 2.0, 8.0));
    let through = view.player.through();
    let fill = if selected && through >= 1.0 {
        view.palette.accent
    } else if place < current || whole {
        view.palette.accent.gamma_multiply(0.45)
    } else if response.hovered() {
        view.palette.subdued
    } else {
        view.palette.hovered
    };
    ui.painter().rect_filled(bar, 2.0, fill);
    if selected && through < 1.0 {
        let come = bar.with_max_x(bar.left() + bar.width() * through);
        ui.painter().rect_filled(come, 2.0, view.palette.accent);
    }
    focus_ring(ui, &response);
    on_click(&response, Play::SeekStage(place), view.commands);
    let (number, count) = (place + 1, view.player.stages());
    response.on_hover_text(format!("{stage}: stage {number} of {count}  (. and ,)"));
}

/// Dragging along the row of stages goes to any moment of them.
fn scrub_stages(ui: &Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    let rect = Rect::from_x_y_ranges(x, y.shrink(8.0));
    let response = ui.interact(rect, ui.scope_id().with("stages"), Sense::DRAG);
    let words = "Stages: drag to any point";
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    let Some(at) = response.interact_pointer_pos() else {
        return;
    };
    if response.dragged() {
        let stages = view.player.stages();
        let along = ((at.x - x.min) / x.span()).clamp(0.0, 1.0) * stages as f32;
        let stage = (along as usize).min(stages - 1);
        let moment = [Play::SeekStage(stage), Play::Through(along - stage as f32)];
        view.commands.extend(moment.map(Command::Play));
    }
}

/// The keys of the stages, under their row: whoever watches whole steps learns that there is more.
fn stage_hint(ui: &Ui, room: Rangef, below: f32, view: &View<'_>) {
    let [back, on] = [-1, 1].map(|by| keys::key_of(&Play::Stage(by).into()).unwrap_or_default());
    let text = format!("Press {back} and {on} to step through the stages");
    let (font, ink) = (theme::text(10.5), view.palette.subdued);
    let galley = ui.painter().layout_no_wrap(text.clone(), font, ink);
    if galley.size().x > room.span() {
        return;
    }
    let corner = pos2(room.max - galley.size().x, below + 1.0);
    let rect = Rect::from_min_size(corner, galley.size());
    ui.painter().galley(rect.min, galley, ink);
    let response = ui.interact(rect, ui.scope_id().with("stage hint"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
}

fn speed_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    child(ui, x, y, |ui| paces_ui(ui, view.state, view.commands));
}

/// The speed, and buttons that change it.
pub fn paces_ui(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = 0.0;
    let row = ui.spacing().interact_size.y;
    icon_button(ui, Icon::Minus, Play::Faster(-1), false, commands);
    let (rect, response) = ui.allocate_exact_size(vec2(PACE, row), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Reset speed"));
    let text = format!("{} steps/s", numbers::speed(state.player.speed()));
    let (align, font) = (Align2::CENTER_CENTER, theme::text(12.0));
    let ink = Palette::of(ui).text;
    ui.painter().text(rect.center(), align, text, font, ink);
    focus_ring(ui, &response);
    on_click(&response, Play::NormalSpeed, commands);
    let usual = numbers::speed(state.usual_speed());
    let walks = if state.player.stage_by_stage() {
        ", stage by stage"
    } else {
        ""
    };
    let hint = format!("Steps per second{walks}; click to reset to {usual}");
    response.on_hover_text(keys::with_key(&hint, &Play::NormalSpeed.into()));
    icon_button(ui, Icon::Plus, Play::Faster(1), false, commands);
}

/// Shows the number of unread errors; a click lists them.
pub fn problems_ui(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let problems = state.toasts.problems();
    if problems > 0 {
        let plural = if problems == 1 { "" } else { "s" };
        let words = RichText::new(format!("{problems} problem{plural}"));
        let words = words.color(Palette::of(ui).warning);
        small_button(ui, words, Ask::For(Subject::Messages), commands);
    }
}

/// A button on the status line.
fn small_button(
    ui: &mut Ui,
    words: RichText,
    command: impl Into<Command>,
    commands: &mut Vec<Command>,
) {
    let button = ui.add(egui::Button::new(words.size(11.5)).small());
    on_click(&button, command, commands);
}

/// Shows the current step as one line of text.
pub fn status_ui(ui: &mut Ui, view: &mut View<'_>) {
    let text = match view.state.mark() {
        Some((step, channel)) => format!(
            "editing input: step {step}, channel {channel}; arrows move, Space flips, dragging paints, Esc leaves; playback keys disabled"
        ),
        None => narration::status(view.open, view.player, view.focus),
    };
    from_right(ui, |ui| {
        problems_ui(ui, view.state, view.commands);
        if view.state.learning.is_some() && !view.state.shows_learner() {
            let words = RichText::new("Show live training");
            small_button(ui, words, Learn::Toggle, view.commands);
        }
        from_left(ui, |ui| {
            one_line(ui, text, theme::mono(11.5), view.palette.text)
        });
    });
}
