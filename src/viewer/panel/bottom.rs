//! The bottom: transport, the scrub timeline, the stages of the step, and the status line.

use egui::{Align2, Button, Rangef, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::lists::list_ui;
use super::page::part_ui;
use super::parts::{child, quiet_text};
use super::{BUTTONS, View};
use crate::figure::facts::numbers;
use crate::figure::page::debug::geometry::Columns;
use crate::figure::page::debug::timeline::TIMELINE;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::{Area, Ink};
use crate::player::{Loop, Player};
use crate::viewer::command::{Learn, Play, Subject};
use crate::viewer::state::State;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Icon, announce, area, focus_ring, from_left, from_right, hit_area, icon_button, label, lay_out,
    named_icon_button, on_click, one_line, paint_text, send,
};
use crate::viewer::{keys, narration};

/// Width of the speed.
pub const PACE: f32 = 60.0;
/// Width of the speed with its buttons.
const SPEED: f32 = 118.0;

/// Transport at the left, timeline under the pictures over time, stages and speed at the right.
pub fn transport_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let mut whole = ui.max_rect();
    let (above, columns) = (columns, &columns.of_all());
    if !view.state.panels().timeline {
        let row = whole.shrink2(vec2(12.0, 0.0));
        buttons_ui(ui, row, view);
        return speed_ui(ui, row, view);
    }
    let mut buttons = whole.with_min_x(12.0);
    // The buttons stand beside the timeline where the left panel is over them.
    if columns.gutter.min > 100.0 {
        buttons.max = pos2(columns.gutter.min + 40.0, whole.top() + TIMELINE);
    } else {
        whole.max.y -= BUTTONS;
        buttons.min.y = whole.max.y;
    }
    buttons_ui(ui, buttons, view);
    let line = whole.with_max_y(whole.top() + TIMELINE);
    let page = view.page(ui.pixels_per_point());
    let of = view.debug_page();
    let y = whole.y_range().into();
    let mut canvas = view.page_canvas(ui, whole);
    let places = of.timeline(&mut Surface::new(&mut canvas, &page), *above, y);
    for place in &places {
        part_ui(ui, place, &places, view);
    }
    loop_part(ui, columns, line.y_range().shrink(12.0), view);
    matches_ui(ui, columns, line.bottom() - 11.0, view);
    let right = whole.right() - 12.0;
    if whole.height() > TIMELINE {
        let x = Rangef::new(columns.time.max + BESIDE, right);
        let y = Rangef::new(line.bottom() - 2.0, whole.bottom() - 6.0);
        list_ui(ui, x, y, view);
    }
    let x = Rangef::new(columns.stages.min, columns.marks.max.min(right));
    stages_ui(ui, Rect::from_x_y_ranges(x, line.y_range()), view);
}

fn buttons_ui(ui: &mut Ui, rect: Rect, view: &mut View<'_>) {
    child(ui, rect, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        keys_ui(ui, view.player);
        ui.add_space(4.0);
        let looping = view.player.looping() != Loop::Off;
        icon_button(ui, Icon::Loop, Play::ToggleLoop, looping);
    });
}

/// Shows the transport buttons: to the ends, by a step, play and pause.
pub fn keys_ui(ui: &mut Ui, player: &Player) {
    icon_button(ui, Icon::First, Play::First, false);
    icon_button(ui, Icon::Previous, Play::Step(-1), false);
    let (icon, name) = if player.playing() {
        (Icon::Pause, "Pause")
    } else {
        (Icon::Play, "Play")
    };
    let play = named_icon_button(ui, icon, name, false, true);
    on_click(&play, Play::Toggle);
    play.on_hover_text(keys::with_key(name, &Play::Toggle.into()));
    icon_button(ui, Icon::Next, Play::Step(1), false);
    icon_button(ui, Icon::Last, Play::Last, false);
}

/// The steps in which the condition holds, in a line below this height.
fn matches_ui(ui: &Ui, columns: &Columns, top: f32, view: &mut View<'_>) {
    let Some(found) = view.state.found().filter(|found| !found.steps.is_empty()) else {
        return;
    };
    let steps = view.steps();
    let at = |first, last| {
        let x = columns.span(first, last, steps);
        Rect::from_x_y_ranges(Rangef::new(x.min, x.max), Rangef::new(top, top + 4.0))
    };
    let name = format!("Steps in which the condition holds: {}", found.steps.len());
    label(ui, at(0, steps - 1), "matches", &name);
    let accent = view.palette.data.accent;
    let mut canvas = view.canvas(ui);
    for stretch in found.steps.chunk_by(|step, next| step + 1 == *next) {
        canvas.rect(area(at(stretch[0], stretch[stretch.len() - 1])), accent);
    }
}

/// The part to loop, in brackets, with its steps as text.
fn loop_part(ui: &Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let Some((first, last)) = view.player.range() else {
        return;
    };
    let x = columns.span(first, last, view.steps());
    let accent = view.palette.data.accent;
    let on = view.player.looping() == Loop::Range;
    let wash = Ink::from(accent).faded(if on { 0.22 } else { 0.08 });
    let mut canvas = view.canvas(ui);
    canvas.rect(area(Rect::from_x_y_ranges(x, y)), wash);
    for (edge, inside) in [(x.min, x.min + 5.0), (x.max, x.max - 5.0)] {
        let [from, to] = [y.min, y.max];
        let bracket = [[inside, from], [edge, from], [edge, to], [inside, to]];
        canvas.line(&bracket, accent, 2.0);
    }
    let words = format!("loop from step {first} to step {last}");
    let band = Rect::from_x_y_ranges(x, Rangef::new(y.min - 8.0, y.min - 1.0));
    label(ui, band, "loop part", &words);
}

/// The stages of this machine as a row of places to click, and the speed.
fn stages_ui(ui: &mut Ui, rect: Rect, view: &mut View<'_>) {
    let (stages, middle) = (view.player.stages(), rect.center().y);
    let width = (rect.width() - SPEED - 20.0).max(60.0);
    let row = Rect::from_min_size(rect.min, vec2(width, rect.height()));
    scrub_stages(ui, row.x_range(), row.y_range(), view);
    for place in 0..stages {
        let [left, right] = [place, place + 1].map(|end| end as f32 * width / stages as f32);
        let x = Rangef::new(row.left() + left, row.left() + right);
        stage_ui(ui, x, row.y_range(), place, view);
    }
    let name = view
        .stage()
        .map(|stage| view.open.facts.stages.at(stage).name());
    let name = name.unwrap_or_else(|| "whole step".to_owned());
    let mut right = row.left() - 6.0;
    for (words, font, ink) in [
        ("stage", theme::text(11.0), view.palette.subdued),
        (&name, theme::heading(11.0), view.palette.text),
    ] {
        let (at, align) = (pos2(right + 6.0, middle - 9.0), Align2::LEFT_BOTTOM);
        right = paint_text(ui.painter(), at, align, words, font, ink).right();
    }
    stage_hint(ui, row.x_range(), middle + 6.0, view);
    speed_ui(ui, rect, view);
}

/// A place to click for one stage.
fn stage_ui(ui: &Ui, x: Rangef, y: Rangef, place: usize, view: &mut View<'_>) {
    let (current, whole) = (view.player.stage(), view.player.whole_steps());
    let rect = Rect::from_x_y_ranges(x, y.expand(-8.0));
    let stage = view.open.facts.stages.at(place).name();
    let (name, selected) = (format!("Go to stage {stage}"), view.stage() == Some(place));
    let info = WidgetInfo::selected(Role::Button, true, selected, name);
    let response = hit_area(ui, rect, ("stage", place), Sense::click(), &info);
    let bar = Area::new(x.min + 1.0, y.center() - 4.0, x.span() - 2.0, 8.0);
    let (through, colours) = (view.player.through(), view.palette.data);
    let fill = if selected && through >= 1.0 {
        colours.accent.into()
    } else if place < current || whole {
        Ink::from(colours.accent).faded(0.45)
    } else if response.hovered() {
        colours.subdued.into()
    } else {
        colours.chosen.into()
    };
    let mut canvas = view.canvas(ui);
    canvas.rect(bar, fill);
    if selected && through < 1.0 {
        let come = bar.left + bar.width() * through;
        canvas.rect(bar.across(bar.left, come), colours.accent);
    }
    on_click(&response, Play::SeekStage(place));
    let (number, count) = (place + 1, view.player.stages());
    let [back, on] = stage_keys();
    response.on_hover_text(format!(
        "{stage}: stage {number} of {count}  ({on} and {back})"
    ));
}

/// Dragging along the row of stages goes to any moment of them.
fn scrub_stages(ui: &Ui, x: Rangef, y: Rangef, view: &mut View<'_>) {
    let rect = Rect::from_x_y_ranges(x, y.shrink(8.0));
    let info = WidgetInfo::labeled(Role::Label, true, "Stages: drag to any point");
    let response = hit_area(ui, rect, "stages", Sense::DRAG, &info);
    if let (Some(at), true) = (response.interact_pointer_pos(), response.dragged()) {
        let stages = view.player.stages();
        let along = ((at.x - x.min) / x.span()).clamp(0.0, 1.0) * stages as f32;
        let stage = (along as usize).min(stages - 1);
        send(ui.ctx(), Play::SeekStage(stage));
        send(ui.ctx(), Play::Through(along - stage as f32));
    }
}

/// The keys that go to the stage before and to the next one.
fn stage_keys() -> [String; 2] {
    [-1, 1].map(|by| keys::key_of(&Play::Stage(by).into()).unwrap_or_default())
}

/// The keys of the stages, under their row: they tell a user who watches whole steps that there is more.
fn stage_hint(ui: &Ui, room: Rangef, below: f32, view: &View<'_>) {
    let [back, on] = stage_keys();
    let text = format!("Press {back} and {on} to step through the stages");
    let font = theme::text(10.5);
    let galley = lay_out(ui.painter(), &text, font.clone());
    if galley.size().x <= room.span() {
        let at = pos2(room.max, below + 1.0);
        quiet_text(ui, at, Align2::RIGHT_TOP, &text, font, view);
    }
}

/// The speed, at the right end.
fn speed_ui(ui: &mut Ui, rect: Rect, view: &mut View<'_>) {
    let rect = rect.with_min_x(rect.right() - SPEED);
    child(ui, rect, |ui| paces_ui(ui, view.state));
}

/// The speed, and buttons that change it.
pub fn paces_ui(ui: &mut Ui, state: &State) {
    ui.spacing_mut().item_spacing.x = 0.0;
    let row = ui.spacing().interact_size.y;
    icon_button(ui, Icon::Minus, Play::Faster(-1), false);
    let (rect, response) = ui.allocate_exact_size(vec2(PACE, row), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Reset speed"));
    let text = numbers::speed(state.player.speed());
    let (align, font) = (Align2::CENTER_CENTER, theme::text(12.0));
    let ink = Palette::of(ui).text;
    paint_text(ui.painter(), rect.center(), align, &text, font, ink);
    focus_ring(ui, &response);
    on_click(&response, Play::NormalSpeed);
    let usual = numbers::speed(state.usual_speed());
    let walks = [", stage by stage", ""][usize::from(!state.player.stage_by_stage())];
    let hint = format!("Playback speed{walks}; click to reset to {usual}");
    response.on_hover_text(keys::with_key(&hint, &Play::NormalSpeed.into()));
    icon_button(ui, Icon::Plus, Play::Faster(1), false);
}

/// Shows the number of unread errors; a click lists them.
pub fn problems_ui(ui: &mut Ui, state: &State) {
    let problems = state.toasts.problems;
    if problems > 0 {
        let plural = if problems == 1 { "" } else { "s" };
        let words = RichText::new(format!("{problems} problem{plural}"));
        let words = words.color(Palette::of(ui).warning).size(11.5);
        let button = ui.add(Button::new(words).small());
        on_click(&button, Subject::Messages);
    }
}

/// Shows in how many steps the condition holds; a click shows it.
fn condition_button(ui: &mut Ui, state: &State) {
    let text = &state.search.condition;
    let found = state.matches(text).filter(|_| !text.is_empty());
    let words = match found {
        None => return,
        Some(Err(_)) => "Condition: not for this machine".to_owned(),
        Some(Ok(found)) => format!(
            "Condition: {} of {} steps",
            found.steps.len(),
            state.player.steps()
        ),
    };
    let button = ui.add(Button::new(RichText::new(words).size(11.5)).small());
    on_click(&button, Subject::Condition);
    button.on_hover_text(text);
}

/// Shows the current step as one line of text.
pub fn status_ui(ui: &mut Ui, view: &mut View<'_>) {
    let text = match view.state.mark() {
        Some(_) => view.state.status(),
        None => narration::status(view.open, view.player, view.focus),
    };
    from_right(ui, |ui| {
        problems_ui(ui, view.state);
        condition_button(ui, view.state);
        if view.state.learning.is_some() && !view.state.shows_learner() {
            let words = RichText::new("Show live training").size(11.5);
            let button = ui.add(Button::new(words).small());
            on_click(&button, Learn::Toggle);
        }
        from_left(ui, |ui| {
            let line = one_line(ui, text, theme::mono(11.5), view.palette.text);
            // A screen reader says where the step leads, but does not follow what plays.
            if !view.player.playing() {
                announce(&line);
            }
        });
    });
}

/// Room for the numbers and words of the lines over time, left of the list, in points.
const BESIDE: f32 = 240.0;
