//! Dialogs: the list of keys, a step to go to, a file to open, a place to save to.

use std::path::{Path, PathBuf};

use egui::{Context, Ui};

use super::about::about_ui;
use super::finder::finder_ui;
use super::keys::keys_ui;
use super::messages::messages_ui;
use super::phone;
use super::settings::settings_ui;
use crate::io::shell;
use crate::platform::HAS_FILES;
use crate::viewer::command::{Ask, Command, File, Instead, Learn, Subject};
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
    let (title, width) = match dialog.subject {
        Subject::Commands => return finder_ui(ctx, dialog, &state.choices(), commands),
        Subject::Keys => ("Keys", 860.0),
        Subject::Settings => ("Settings", 420.0),
        Subject::About => ("About Tapescope", 560.0),
        Subject::Messages => ("Messages", 520.0),
        Subject::Step => ("Go to step", 300.0),
        Subject::Episode => ("Which episode", 300.0),
        Subject::More => ("More", 300.0),
        Subject::File(aim) => (file_words(aim).0, 520.0),
        Subject::Ending => ("What was learned is not saved", 520.0),
    };
    let left = dialog_ui(ctx, title, width, |ui| match dialog.subject {
        Subject::Commands => {}
        Subject::Keys => keys_ui(ui, settings.stop, commands),
        Subject::Settings => settings_ui(ui, settings, commands),
        Subject::About => about_ui(ui),
        Subject::Messages => messages_ui(ui, &state.toasts, commands),
        Subject::Step => step_ui(ui, dialog, commands),
        Subject::Episode => phone::episode_ui(ui, state, commands),
        Subject::More => phone::more_ui(ui, state, commands),
        Subject::File(aim) => path_ui(ui, (dialog, aim), state, commands),
        Subject::Ending => ending_ui(ui, dialog, state, commands),
    });
    // An answer leaves it open where it is unclear.
    let is_answer = |command: &Command| {
        let chosen = matches!(command, Command::File(File::Chosen(..)));
        chosen || matches!(command, Command::Ask(Ask::GoTo(_)))
    };
    if left && !commands.iter().any(is_answer) {
        commands.push(Ask::Leave.into());
    }
}

fn step_ui(ui: &mut Ui, dialog: &Dialog, commands: &mut Vec<Command>) {
    let line = ("12, +5, −1 or answer", "Step");
    let (text, mut entered) = line_ui(ui, &dialog.text, line, commands);
    if dialog.doubted {
        doubt(ui, "There is no such step or phase in this episode.");
    }
    ui.add_space(8.0);
    entered |= primary_button(ui, "Go").clicked();
    if entered {
        commands.push(Ask::GoTo(text).into());
    }
}

/// The folder of a file to be saved.
fn folder_ui(ui: &mut Ui, state: &State, path: &str) {
    let path = state.folder.join(path.trim());
    if let Some(folder) = path.parent().filter(|folder| folder.is_absolute()) {
        note(ui, &format!("Folder: {}", folder.display()));
    }
}

/// Why what was typed is not done.
fn doubt(ui: &mut Ui, sentence: &str) {
    words(ui, sentence, theme::text(13.0), Palette::of(ui).warning);
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
        Aim::Motion => (
            "Save animation",
            "The close-up in motion, over the marked part of the episode or some eight steps about this one: .gif, or .png for an animated PNG.",
            "Save file",
        ),
        Aim::Run => (
            "Save run",
            if HAS_FILES { RUN } else { MACHINE },
            "Save run",
        ),
        Aim::Figure(_) => (
            "Save figure",
            "The pictures in the centre: .svg, .png, or .gif with every step.",
            "Save file",
        ),
    }
}

/// What a run is saved as.
const RUN: &str = "A folder: the machine, its curve and all that it takes to go on, with `tapescope train --resume` and that folder, to the same bits.";
/// What is saved of it where there are no folders.
const MACHINE: &str = "The weights of the machine as it is now, with its curve (.safetensors), to be opened here or by the program.";

/// What becomes of a machine that learns.
fn ending_ui(ui: &mut Ui, dialog: &Dialog, state: &State, commands: &mut Vec<Command>) {
    let (Some(learning), Some(ending)) = (&state.learning, &state.ending) else {
        return;
    };
    let (lost, line) = if HAS_FILES {
        let lost = "It is lost unless the run is saved into a folder, with all its moments.";
        (lost, ("folder of the run", "Folder"))
    } else {
        let lost = "It is lost unless the weights are saved, with the curve (.safetensors).";
        (lost, ("name of the file", "Path"))
    };
    let run = learning.run();
    let others = match learning.runs.len() {
        1 => String::new(),
        count => format!(
            " Of the {count} side by side this saves the one on screen, {}.",
            run.label
        ),
    };
    let then = match run.goes_on() {
        _ if !HAS_FILES => "",
        true => " From there it goes on, and comes to the same bits:",
        false => " From there it is looked back at:",
    };
    note(ui, &format!("{lost}{others}{then}"));
    let (text, entered) = line_ui(ui, &dialog.text, line, commands);
    folder_ui(ui, state, &text);
    let folder = text.trim();
    if HAS_FILES {
        let go_on = if run.goes_on() {
            shell::resume(Path::new(folder))
        } else {
            shell::command(&["view", folder])
        };
        words(ui, go_on, theme::mono(12.0), Palette::of(ui).text);
    }
    ui.add_space(8.0);
    let (save, without) = match ending.instead {
        Instead::Close => ("Save and close", "Close without saving"),
        Instead::Nothing => ("Save and stop", "Stop without saving"),
        Instead::LookBack(..) => ("Save, then open the other", "Open it without saving"),
        _ => ("Save and begin anew", "Begin anew without saving"),
    };
    let stay = if learning.expects_news() {
        "Go on learning"
    } else {
        "Go back"
    };
    ui.horizontal_wrapped(|ui| {
        let saves = primary_button(ui, save).clicked() || entered;
        if saves && !folder.is_empty() {
            commands.push(Learn::SaveAndEnd(PathBuf::from(folder)).into());
        }
        text_button(ui, without, Learn::EndUnsaved, commands);
        text_button(ui, stay, Ask::Leave, commands);
    });
}

fn path_ui(ui: &mut Ui, (dialog, aim): (&Dialog, Aim), state: &State, commands: &mut Vec<Command>) {
    let (_, what, action) = file_words(aim);
    note(ui, what);
    ui.add_space(4.0);
    let hint = if HAS_FILES {
        "path of the file"
    } else {
        "name of the file"
    };
    let line = (hint, "Path");
    let (text, entered) = line_ui(ui, &dialog.text, line, commands);
    if aim.is_to_save() {
        folder_ui(ui, state, &text);
    }
    // What is there is replaced by whoever presses the button that says so.
    let mut entered = entered && !dialog.doubted;
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let action = if dialog.doubted { "Replace it" } else { action };
        entered |= primary_button(ui, action).clicked();
        if HAS_FILES {
            text_button(ui, "Browse …", File::Browse(aim), commands);
        }
    });
    if entered && !text.trim().is_empty() {
        let path = PathBuf::from(text.trim());
        commands.push(File::Chosen(aim, path).into());
    }
    if dialog.doubted {
        doubt(ui, "There is such a file.");
    }
}
