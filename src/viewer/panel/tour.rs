//! The tour on screen: everything is veiled except the subject of a tour step and the card that explains it.

use egui::{Context, Key, Rect, Ui, vec2};

use super::card::{card_ui, veil, words_ui};
use crate::figure::{Stage, head_label};
use crate::viewer::command::{Command, Edit, Play, Tour as About, Window};
use crate::viewer::keys;
use crate::viewer::state::{State, TOUR_STEPS, Tour, TourTarget, Wait};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{named_rects, on_click, primary_button, send, text_button, words};

/// Returns the names of the widgets that a tour step points at.
fn names(tour: &Tour, head: &str, on_phone: bool) -> Vec<String> {
    let about = tour.at().about().unwrap_or(Stage::Content);
    let (of, names): (&str, &[&str]) = match tour.at().place {
        TourTarget::Play => ("", &["Play", "Pause"]),
        TourTarget::Step => ("", &["Go to next step"]),
        TourTarget::Memory => ("", &["memory"]),
        // What has become of it.
        TourTarget::Input if tour.met && tour.at().wait == Wait::Flip => ("", &["output"]),
        TourTarget::Input => ("", &["input"]),
        TourTarget::Output => ("", &["output"]),
        // On a phone there is no picture of it over time.
        TourTarget::Weighting if on_phone => (head, &["sharpen"]),
        TourTarget::Weighting => ("weighting of", &[head]),
        TourTarget::Stage if about == Stage::Content => (head, &["match", about.word()]),
        TourTarget::Stage => (head, &[about.word()]),
    };
    let named = names.iter().map(|name| format!("{of} {name}"));
    named.map(|name| name.trim_start().to_owned()).collect()
}

/// Returns the rectangle that a tour step points at.
fn spot(ctx: &Context, tour: &Tour, head: &str) -> Option<Rect> {
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
    if let Some(spot) = spot(ctx, tour, &head) {
        // Once it is done there is something to see all over.
        let share = if tour.met { 0.25 } else { 0.6 };
        veil(ctx, spot, if on_phone { 0.0 } else { share });
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
    let (stop, number) = (tour.at(), tour.stop + 1);
    let count = format!("{number} of {}", TOUR_STEPS.len());
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
            let last = number == TOUR_STEPS.len();
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
        text_button(ui, "Leave tour", About::Leave);
    });
}

/// True while the tour is offered to someone who is here for the first time.
pub fn invites(state: &State) -> bool {
    let pictures = state.session.open.is_some() && !state.welcome.shown;
    let guided = state.is_opening() || state.tour().is_some() || state.failing().is_some();
    let alone = state.comparing.baseline.is_none() && state.learning.is_none();
    pictures && alone && !guided && !state.settings.greeted
}

/// What the tour is about.
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
