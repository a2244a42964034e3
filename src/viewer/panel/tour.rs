//! The tour and the failures on screen: everything is veiled except the subject, and a card explains it.

use egui::{Area, Color32, Context, Id, Key, Order, Rect, Ui, pos2, vec2};

use super::{TOP, left_width};
use crate::figure::narrate::failure::describe;
use crate::figure::page::debug::geometry::Columns;
use crate::figure::{Stage, head_label};
use crate::viewer::command::{Command, Edit, Episode, Play, Tour as About, Window};
use crate::viewer::keys;
use crate::viewer::state::{FAILURES, NARROW, State, Tour, TourTarget, Wait, numbered};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{named_rects, on_click, primary_button, send, text_button, words};

/// Returns the names of the widgets that a tour step points at.
fn names(tour: &Tour, head: &str, on_phone: bool) -> Vec<String> {
    let about = tour.at().about().unwrap_or(Stage::Content);
    let (of, names): (&str, &[&str]) = match tour.at().place {
        TourTarget::Play => ("", &["Play", "Pause"]),
        TourTarget::Step => ("", &["Go to next step"]),
        TourTarget::Memory => ("", &["memory"]),
        TourTarget::Input if tour.met && tour.at().wait == Wait::Flip => ("", &["output"]),
        TourTarget::Input => ("", &["input"]),
        TourTarget::Output => ("", &["output"]),
        // On a phone there is no picture of it over time.
        TourTarget::Weighting if on_phone => (head, &["sharpen"]),
        TourTarget::Weighting => ("weighting of", &[head]),
        TourTarget::Stage if about == Stage::Content => (head, &["match", about.word()]),
        TourTarget::Stage if about == Stage::Links => (head, &["backward", "forward"]),
        TourTarget::Stage if about == Stage::Weigh => (head, &["mix", "write", "softmax"]),
        TourTarget::Stage => (head, &[about.word()]),
    };
    let named = names.iter().map(|name| format!("{of} {name}"));
    named.map(|name| name.trim_start().to_owned()).collect()
}

/// Returns the rectangle that a tour step points at.
fn target_rect(ctx: &Context, tour: &Tour, head: &str) -> Option<Rect> {
    let names = names(tour, head, theme::is_by_finger(ctx)).into_iter();
    let found = names.filter_map(|name| named_rects::find(ctx, &name));
    let mut found = found.reduce(Rect::union)?;
    if tour.at().place == TourTarget::Stage {
        // The name and the parameter over the column and the number below it belong to it.
        let top = found.top() - 60.0;
        found = found.expand2(vec2(6.0, 14.0)).with_min_y(top);
    }
    Some(found.expand(5.0))
}

/// The tour at its present stop; a phone has its text in a panel.
pub fn tour_ui(ctx: &Context, state: &State, tour: &Tour) {
    let on_phone = state.is_on_phone();
    let head = state.trace();
    let head = head.map_or(String::new(), |trace| head_label(trace, state.view.focus));
    if let Some(target) = target_rect(ctx, tour, &head) {
        // Once it is done there is something to see all over.
        let share = if tour.met { 0.25 } else { 0.6 };
        veil(ctx, target, if on_phone { 0.0 } else { share });
    }
    if !on_phone {
        card_ui(ctx, "tour", |ui| stop_ui(ui, state, tour));
    }
}

/// Returns the touch command of a tour step that waits for a key without a button.
fn touched(wait: Wait) -> Option<Command> {
    match wait {
        Wait::Stage(_) => Some(Play::Stage(1).into()),
        Wait::Flip => Some(Edit::FlipMarked.into()),
        Wait::Start => Some(Window::ToggleWelcome.into()),
        Wait::Play | Wait::Step | Wait::Click | Wait::First | Wait::Answer | Wait::Asked => None,
    }
}

/// Shows the text of a tour step, and its buttons.
pub fn stop_ui(ui: &mut Ui, state: &State, tour: &Tour) {
    let (palette, by_finger) = (Palette::of(ui), theme::is_by_finger(ui.ctx()));
    let size = if by_finger { 15.0 } else { 13.0 };
    let (stop, [number, all]) = (tour.at(), numbered(tour.stop, tour.of));
    let count = format!("{number} of {all}");
    let (told, ink) = if tour.met {
        (state.describe(tour), palette.strong)
    } else {
        let how = if by_finger { stop.touch } else { stop.keys };
        (format!("{} {how}", stop.why), palette.text)
    };
    words_ui(ui, count, stop.title, size, &[(&told, ink)]);
    // Nothing else waits for these keys then.
    let pressed = |ui: &Ui, key| {
        ui.input(|input| input.key_pressed(key)) && ui.memory(|memory| memory.focused().is_none())
    };
    let touched = touched(stop.wait).filter(|_| by_finger && !tour.met);
    if let Some(command) = touched {
        let name = keys::entry_of(&command).map_or("Flip bit", |entry| entry.name);
        on_click(&primary_button(ui, name), command);
    }
    ui.horizontal_wrapped(|ui| {
        if tour.met {
            let last = number == all;
            let next = if last { "Finish" } else { "Next" };
            if primary_button(ui, next).clicked() || pressed(ui, Key::Enter) {
                send(ui.ctx(), About::Next);
            }
        } else {
            text_button(ui, "Skip step", About::Next);
        }
        if tour.stop > 0 {
            let back = text_button(ui, "Back", About::Back);
            back.on_hover_text("Go back one tour step  (Backspace)");
            if pressed(ui, Key::Backspace) {
                send(ui.ctx(), About::Back);
            }
        }
        // A tour that is continued has no stops behind it.
        if tour.stop > 0 && tour.trail.is_empty() {
            text_button(ui, "Start again", About::Again);
        }
        text_button(ui, "Leave tour", About::Leave);
    });
}

/// True while the tour is offered to someone who is here for the first time.
pub fn invites(state: &State) -> bool {
    let pictures = state.session.open.is_some() && !state.welcome.shown;
    let guided = state.is_opening() || state.tour().is_some() || state.failing().is_some();
    let alone = state.comparing.baseline.is_none() && state.learning.is_none();
    pictures && alone && !guided && !state.embedded && !state.settings.greeted
}

/// The name of the button that takes the tour, or continues it.
pub fn start_text(state: &State) -> String {
    let [number, all] = numbered(state.settings.stop, state.toured());
    match state.settings.stop {
        0 => "Start tour".to_owned(),
        _ => format!("Continue tour ({number} of {all})"),
    }
}

/// The topic of the tour.
pub const ABOUT: &str = "Learn in small steps how a machine finds a row of its memory";

/// The offer, in a line: nothing that is to be seen is covered by it.
pub fn invitation_ui(ui: &mut Ui) {
    let about = format!("{ABOUT}, by location and by content.");
    let palette = Palette::of(ui);
    ui.add_space(8.0);
    words(ui, "New here?", theme::heading(13.0), palette.strong).on_hover_text(&about);
    let take = primary_button(ui, "Start tour").on_hover_text(about);
    on_click(&take, About::Start);
    text_button(ui, "Not now", About::Greet);
}

/// The card of the failure that is shown.
pub fn failure_ui(ctx: &Context, state: &State, columns: &Columns) {
    let wrong = state
        .failing()
        .and_then(|failing| failing.wrong.zip(Some(failing.met)));
    let Some(((step, _), is_met)) = wrong else {
        return;
    };
    let answers = ["target", "output"].map(|name| named_rects::find(ctx, name));
    let answers = answers.into_iter().flatten().reduce(Rect::union);
    if let (Some(answers), true) = (answers, is_met) {
        let step = columns.step(step, state.player.steps());
        let target = Rect::from_x_y_ranges(step, answers.y_range()).expand(4.0);
        veil(ctx, target, 0.0);
    }
    card_ui(ctx, "failure", |ui| failure_text_ui(ui, state));
}

/// Shows the task; after the first wrong bit, where and why it is wrong; and the next commands.
pub fn failure_text_ui(ui: &mut Ui, state: &State) {
    let (Some(open), Some(failing)) = (&state.session.open, state.failing()) else {
        return;
    };
    let palette = Palette::of(ui);
    let is_narrow = state.frame.width < NARROW && !state.is_on_phone();
    let size = if is_narrow { 12.0 } else { 13.0 };
    let title = if is_narrow {
        ""
    } else {
        "Where machines fail: "
    };
    let count = format!("{title}{} of {}", failing.which + 1, FAILURES.len());
    let wrong = failing.wrong.filter(|_| failing.met);
    let why = wrong.map(|wrong| describe(&open.shown.recording, wrong));
    let mut told = vec![(failing.of().about, palette.text)];
    told.extend(why.as_deref().map(|why| (why, palette.strong)));
    words_ui(ui, count, failing.of().title, size, &told);
    ui.horizontal_wrapped(|ui| {
        if failing.met {
            let next = Episode::Failure(Some((failing.which + 1) % FAILURES.len()));
            on_click(&primary_button(ui, "Go to next failure"), next);
            text_button(ui, "Open start page", Window::ToggleWelcome);
        }
        text_button(ui, "Close", Episode::Failure(None));
    });
}

const MARGIN: f32 = 10.0;

/// A card about a part of the window.
pub fn card_ui(ctx: &Context, name: &str, add: impl FnOnce(&mut Ui)) {
    let window = ctx.content_rect();
    let width = left_width(window.width()) - 2.0 * MARGIN - 6.0;
    Area::new(Id::unique(name))
        .order(Order::Foreground)
        .fixed_pos(pos2(2.0, TOP + 2.0))
        .constrain_to(window)
        .show(ctx, |ui| {
            let frame = egui::Frame::popup(ui.style()).inner_margin(MARGIN);
            frame.show(ui, |ui| {
                ui.set_width(width);
                add(ui);
            });
        });
}

/// The words of a card: how far one is, a title, and what it tells.
pub fn words_ui(ui: &mut Ui, count: String, title: &str, size: f32, told: &[(&str, Color32)]) {
    let palette = Palette::of(ui);
    words(ui, count, theme::mono(11.0), palette.subdued);
    words(ui, title, theme::heading(size + 2.0), palette.strong);
    for (text, ink) in told {
        words(ui, *text, theme::text(size), *ink);
    }
    ui.add_space(6.0);
}

/// Dims everything outside the spot; the pointer passes through.
pub fn veil(ctx: &Context, target: Rect, share: f32) {
    let (palette, window) = (Palette::on(ctx), ctx.content_rect());
    let layer = egui::LayerId::new(Order::Middle, Id::unique("veil"));
    let painter = ctx.layer_painter(layer);
    let target = target.intersect(window);
    let (above, rest) = window.split_top_bottom_at_y(target.top());
    let (beside, below) = rest.split_top_bottom_at_y(target.bottom());
    let left = beside.with_max_x(target.left());
    for part in [above, below, left, beside.with_min_x(target.right())] {
        painter.rect_filled(part, 0.0, palette.veil.gamma_multiply(share));
    }
    let ring = egui::Stroke::new(2.0, palette.accent);
    painter.rect_stroke(target, theme::RADIUS, ring, egui::StrokeKind::Outside);
}
