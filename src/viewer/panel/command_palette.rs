//! Every command by its name: typing narrows the list, the arrow keys choose, Enter does it.

use egui::{
    Align2, Context, Key, Margin, Modifiers, Response, Role, ScrollArea, Ui, WidgetInfo, vec2,
};

use crate::viewer::choices::Choice;
use crate::viewer::command::DialogCommand;
use crate::viewer::state::Dialog;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{Line, field_ui, modal, note, send};

const WIDTH: f32 = 600.0;
const LINE: f32 = 28.0;
const PAGE: usize = 8;

/// Returns the distance of a name from the typed text: 0 is best; `None` without a match.
fn distance(choice: &Choice, word: &str) -> Option<usize> {
    let (name, help) = (choice.name.to_lowercase(), choice.help.to_lowercase());
    let starts = |text: &str| text.starts_with(word);
    let mut letters = name.chars();
    let in_letters = word.chars().all(|typed| letters.any(|c| c == typed));
    let fits = [
        starts(&name),
        name.split_whitespace().any(starts),
        name.contains(word) || choice.also.split(' ').any(starts),
        help.contains(word) && !in_letters,
        in_letters,
    ];
    fits.iter().position(|&fits| fits)
}

/// The lines that fit every word typed, the nearest first.
pub fn matching<'a>(choices: &'a [Choice], typed: &str) -> Vec<&'a Choice> {
    let typed = typed.to_lowercase();
    let near = |choice: &'a Choice| {
        let words = typed.split_whitespace();
        let distances: Option<Vec<_>> = words.map(|word| distance(choice, word)).collect();
        Some((distances?.iter().sum::<usize>(), choice))
    };
    let mut found: Vec<_> = choices.iter().filter_map(near).collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().map(|(_, choice)| choice).collect()
}

/// Shows the list; the chosen command runs once it is closed.
pub fn command_palette_ui(ctx: &Context, search: &Dialog, choices: &[Choice]) {
    let window = ctx.content_rect();
    let width = WIDTH.min(window.width() - 64.0).max(0.0);
    let (moved, entered) = take_moves(ctx);
    // It stays where it is while the list gets shorter.
    let top = vec2(0.0, (window.height() * 0.1).round());
    let modal = modal(ctx, "commands", (Align2::CENTER_TOP, top), Margin::same(12));
    let shown = modal.show(ctx, |ui| {
        ui.set_width(width);
        let (text, _) = field_ui(ui, search, ("type a command", "Command"));
        ui.add_space(6.0);
        let found = matching(choices, &text);
        let last = found.len().saturating_sub(1);
        let is_same = text == search.text;
        let chosen = if is_same { search.chosen } else { 0 };
        let line = chosen.saturating_add_signed(moved).min(last);
        if line != chosen {
            send(ui.ctx(), DialogCommand::Chosen(line));
        }
        let most = (window.height() * 0.8 - 120.0).clamp(LINE, 13.0 * LINE);
        list_ui(ui, most, &found, (line, moved != 0), entered);
    });
    if shown.should_close() {
        send(ctx, DialogCommand::Leave);
    }
}

/// Returns the movement by arrow keys, and whether Enter was pressed.
fn take_moves(ctx: &Context) -> (isize, bool) {
    ctx.input_mut(|input| {
        let mut take = |key| {
            input
                .count_and_consume_key(Modifiers::NONE, key)
                .cast_signed()
        };
        let lines = take(Key::ArrowDown) - take(Key::ArrowUp);
        let pages = take(Key::PageDown) - take(Key::PageUp);
        (lines + pages * PAGE.cast_signed(), take(Key::Enter) > 0)
    })
}

/// The lines; the command of the one that was clicked or entered.
fn list_ui(
    ui: &mut Ui,
    height: f32,
    found: &[&Choice],
    (chosen, moved): (usize, bool),
    entered: bool,
) {
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if found.is_empty() {
                note(ui, "No command matches. Try other words.");
            }
            for (index, choice) in found.iter().enumerate() {
                let response = line_ui(ui, choice, index == chosen);
                if index == chosen && moved {
                    response.scroll_to_me(None);
                }
                let wanted = response.clicked() || (index == chosen && entered);
                if wanted && choice.blocked.is_none() {
                    send(ui.ctx(), DialogCommand::Leave);
                    send(ui.ctx(), choice.command.clone());
                }
            }
        });
}

fn line_ui(ui: &mut Ui, choice: &Choice, chosen: bool) -> Response {
    let (palette, free) = (Palette::of(ui), choice.blocked.is_none());
    let info = WidgetInfo::selected(Role::ListBoxOption, free, chosen, &choice.name);
    let line = Line::to_press(ui, LINE, &info);
    let ink = |ink| if free { ink } else { palette.subdued };
    let name = line.left(10.0, &choice.name, theme::text(13.0), ink(palette.strong));
    let key = line.right(10.0, &choice.key, theme::mono(12.0), ink(palette.accent));
    let not_now = choice.blocked.map(|why| format!("unavailable: {why}"));
    let words = not_now.as_ref().unwrap_or(&choice.help);
    let x = name.right() + 12.0..=key.left() - 12.0;
    line.within(x, words, theme::text(11.5), palette.subdued);
    line.response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(names: &[&str]) -> Vec<Choice> {
        let choice = |name: &&str| Choice {
            name: (*name).to_owned(),
            help: "inside the step".to_owned(),
            also: "phase",
            key: String::new(),
            command: DialogCommand::Leave.into(),
            blocked: None,
        };
        names.iter().map(choice).collect()
    }

    fn names(choices: &[Choice], typed: &str) -> Vec<String> {
        let found = matching(choices, typed).into_iter();
        found.map(|choice| choice.name.clone()).collect()
    }

    #[test]
    fn search_sorts_commands_by_match() {
        let choices = choices(&["Go to step", "Save trace", "Go to next stage", "Stop"]);
        assert_eq!(
            names(&choices, ""),
            ["Go to step", "Save trace", "Go to next stage", "Stop"]
        );
        assert_eq!(names(&choices, "st")[..2], ["Stop", "Go to step"]);
        assert_eq!(names(&choices, "STAGE next"), ["Go to next stage"]);
        // Letters in order are enough, after whole pieces.
        assert_eq!(names(&choices, "svtr"), ["Save trace"]);
        assert_eq!(names(&choices, "inside").len(), 4);
        assert_eq!(names(&choices, "pha st").len(), 4);
        assert!(names(&choices, "xyz").is_empty());
    }
}
