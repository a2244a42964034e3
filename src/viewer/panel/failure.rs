//! A failure on screen: the task of the machine, and the place and cause of the error.

use egui::{Context, Rect, Ui};

use super::card::{card_ui, veil, words_ui};
use crate::figure::narrate::failure::describe;
use crate::figure::page::debug::geometry::Columns;
use crate::viewer::command::{Episode, Window};
use crate::viewer::state::{FAILURES, NARROW, State};
use crate::viewer::theme::Palette;
use crate::viewer::widget::{named_rects, on_click, primary_button, text_button};

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
        let spot = Rect::from_x_y_ranges(step, answers.y_range()).expand(4.0);
        veil(ctx, spot, 0.0);
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
