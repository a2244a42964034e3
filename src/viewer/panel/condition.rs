//! The dialog in which a condition is typed: completion, errors, and the number of steps in which it holds.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Button, RichText, Ui, vec2};

use crate::analysis::expression::{FUNCTIONS, complete};
use crate::model::Trace;
use crate::viewer::command::{DialogCommand, Episode, Play};
use crate::viewer::state::{Dialog, SEEDS, State};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    field_id, field_ui, note, primary_button, send, text_button, warning, words,
};

/// The name of the line.
const NAME: &str = "Condition";
/// The most names to complete a word with.
const MOST: usize = 12;

/// Shows the dialog.
pub fn condition_ui(ui: &mut Ui, dialog: &Dialog, state: &State) {
    let Some(trace) = state.trace() else { return };
    let hint = "read0.gate > 0.5 and changes(argmax(read0.weighting))";
    let (text, entered) = field_ui(ui, dialog, (hint, NAME));
    ui.add_space(4.0);
    completion_ui(ui, NAME, &text, trace);
    ui.add_space(4.0);
    let typed = text.trim();
    let found = state.matches(typed).filter(|_| !typed.is_empty());
    match &found {
        None => note(
            ui,
            "Playback pauses in each step in which the condition holds.",
        ),
        Some(Ok(found)) => {
            let (count, steps) = (found.steps.len(), state.player.steps());
            note(
                ui,
                &format!("The condition holds in {count} of {steps} steps."),
            );
        }
        Some(Err(error)) => {
            let told = error.in_text(typed);
            let (message, marked) = told.split_once('\n').unwrap_or((&told, ""));
            warning(ui, message);
            words(ui, marked, theme::mono(12.0), Palette::of(ui).warning);
        }
    }
    ui.add_space(8.0);
    let is_right = matches!(found, Some(Ok(_)));
    if entered && typed.is_empty() {
        send(ui.ctx(), DialogCommand::Condition(String::new()));
    }
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled_ui(is_right, |ui| {
            let goes = primary_button(ui, "Go to next match").clicked() || entered;
            if goes && is_right {
                send(ui.ctx(), DialogCommand::Condition(text.clone()));
                send(ui.ctx(), Play::Match(1));
            }
            let next = ui.button("Find next episode");
            if next.clicked() {
                send(ui.ctx(), DialogCommand::Condition(text.clone()));
                send(ui.ctx(), Episode::NextMatch);
            }
            next.on_hover_text(format!("Search the next {SEEDS} seeds"));
        });
        if !state.search.condition.is_empty() {
            let clear = DialogCommand::Condition(String::new());
            text_button(ui, "Clear condition", clear);
        }
    });
}

/// Names that continue the word before the cursor; a click inserts one.
pub fn completion_ui(ui: &mut Ui, name: &str, text: &str, trace: &Trace) {
    let (ctx, id) = (ui.ctx().clone(), field_id(name));
    let mut edit = TextEditState::load(&ctx, id).unwrap_or_default();
    let cursor = edit.cursor.char_range().map(|range| range.primary.index.0);
    let mut places = text.char_indices().map(|(at, _)| at);
    let at = cursor
        .and_then(|cursor| places.nth(cursor))
        .unwrap_or(text.len());
    let (word, mut names) = complete(text, at, trace);
    names.retain(|name| *name != text[word.clone()]);
    let more = names.len().saturating_sub(MOST);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for name in names.iter().take(MOST) {
            let label = RichText::new(name).font(theme::mono(11.5));
            if ui.add(Button::new(label).small()).clicked() {
                let mut functions = FUNCTIONS.iter();
                let takes = functions.any(|of| of.name == name && !of.argument.is_empty());
                let start = format!(
                    "{}{name}{}",
                    &text[..word.start],
                    ["", "("][usize::from(takes)]
                );
                let end = CCursor::new(start.chars().count());
                edit.cursor.set_char_range(Some(CCursorRange::one(end)));
                edit.clone().store(&ctx, id);
                ctx.memory_mut(|memory| memory.request_focus(id));
                send(&ctx, DialogCommand::Typed(start + &text[at..]));
            }
        }
        if more > 0 {
            note(ui, &format!("and {more} more"));
        }
    });
}
