//! Dialogs: the list of keys, a step to go to, a file to open, a place to save to.

use std::path::PathBuf;

use egui::{Context, Ui};

use super::about::about_ui;
use super::finder::finder_ui;
use super::keys::keys_ui;
use super::messages::messages_ui;
use super::settings::settings_ui;
use crate::viewer::command::{Ask, Command, File};
use crate::viewer::files::Aim;
use crate::viewer::state::State;
use crate::viewer::state::dialog::Dialog;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{primary_button, text_button};
use crate::viewer::widget::dialog::{dialog_ui, field_ui};
use crate::viewer::widget::property::{note, words};

/// Shows the open dialog, if there is one.
pub fn dialogs_ui(ctx: &Context, state: &State, commands: &mut Vec<Command>) {
    let Some(dialog) = &state.dialog else { return };
    let settings = &state.settings;
    let left = match dialog {
        Dialog::Commands(search) => {
            return finder_ui(ctx, search, &state.choices(), commands);
        }
        Dialog::Keys => dialog_ui(ctx, "Keys", 860.0, |ui| {
            keys_ui(ui, settings.stop, commands);
        }),
        Dialog::Settings => dialog_ui(ctx, "Settings", 420.0, |ui| {
            settings_ui(ui, settings, commands);
        }),
        Dialog::About => dialog_ui(ctx, "About Tapescope", 560.0, about_ui),
        Dialog::Messages => dialog_ui(ctx, "Messages", 520.0, |ui| {
            messages_ui(ui, &state.toasts, commands);
        }),
        Dialog::Step { text, unclear } => dialog_ui(ctx, "Go to step", 300.0, |ui| {
            step_ui(ui, text, *unclear, commands);
        }),
        Dialog::File { aim, text, there } => {
            let (title, what, action) = file_words(*aim);
            dialog_ui(ctx, title, 520.0, |ui| {
                note(ui, what);
                ui.add_space(4.0);
                let action = if *there { "Replace it" } else { action };
                path_ui(ui, text, action, *aim, commands);
                if *there {
                    let ink = Palette::of(ui).warning;
                    words(ui, "There is such a file.", theme::text(13.0), ink);
                }
            })
        }
    };
    // An answer leaves it open where it is unclear.
    if left && !commands.iter().any(is_answer) {
        commands.push(Ask::Leave.into());
    }
}

fn is_answer(command: &Command) -> bool {
    matches!(
        command,
        Command::Ask(Ask::GoTo(_)) | Command::File(File::Chosen(..))
    )
}

fn step_ui(ui: &mut Ui, text: &str, unclear: bool, commands: &mut Vec<Command>) {
    let (text, mut entered) = line_ui(ui, text, ("12, +5, −1 or answer", "Step"), commands);
    if unclear {
        let sentence = "There is no such step or phase in this episode.";
        words(ui, sentence, theme::text(13.0), Palette::of(ui).warning);
    }
    ui.add_space(8.0);
    entered |= primary_button(ui, "Go").clicked();
    if entered {
        commands.push(Ask::GoTo(text).into());
    }
}

/// A line to type into; what stands in it now, and whether Enter was pressed.
fn line_ui(
    ui: &mut Ui,
    text: &str,
    (hint, name): (&'static str, &str),
    commands: &mut Vec<Command>,
) -> (String, bool) {
    let mut line = text.to_owned();
    let entered = field_ui(ui, &mut line, hint, name);
    if line != text {
        commands.push(Ask::Typed(line.clone()).into());
    }
    (line, entered)
}

/// The title of a dialog, what it asks for, and the button that does it.
fn file_words(aim: Aim) -> (&'static str, &'static str, &'static str) {
    match aim {
        Aim::Open => (
            "Open",
            "A trace (.json, .json.gz or .npz), weights (.safetensors) or the folder of a run. Dropping it on the window does the same.",
            "Open file",
        ),
        Aim::Compare => (
            "Compare with",
            "A trace becomes B, beside the episode on screen, which is A. Weights record the same episode once more.",
            "Open file",
        ),
        Aim::Save => (
            "Save trace",
            "The episode on screen with every stage of every step, as .json, .json.gz or .npz.",
            "Save file",
        ),
        Aim::Figure => (
            "Save figure",
            "The pictures in the centre: .svg, .png, or .gif with every step.",
            "Save file",
        ),
    }
}

fn path_ui(ui: &mut Ui, text: &str, action: &str, aim: Aim, commands: &mut Vec<Command>) {
    let (text, mut entered) = line_ui(ui, text, ("path of the file", "Path"), commands);
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        entered |= primary_button(ui, action).clicked();
        text_button(ui, "Browse …", File::Browse(aim), commands);
    });
    if entered && !text.trim().is_empty() {
        let path = PathBuf::from(text.trim());
        commands.push(File::Chosen(aim, path).into());
    }
}
