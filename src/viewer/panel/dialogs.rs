//! Dialogs: a step to go to, a file to open, a place to save to, the glossary, messages, and about the program.

use std::path::{Path, PathBuf};

use egui::{Context, Ui};

use super::branch::value_dialog_ui;
use super::command_palette::command_palette_ui;
use super::condition::condition_ui;
use super::keys::keys_ui;
use super::phone;
use super::report::report_ui;
use super::settings::settings_ui;
use super::tour::start_text;
use crate::io::shell;
use crate::platform::HAS_FILES;
use crate::viewer::command::{
    Command, DialogCommand, Edit, Episode, File, Learn, Replacement, Subject,
};
use crate::viewer::glossary::terms;
use crate::viewer::state::{Dialog, FilePurpose, Kind, LiveTraining, State, Toasts};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    dialog_ui, field_ui, is_sent, note, primary_button, scrolled_ui, section, send, text_button,
    words,
};

/// Shows the open dialog, if there is one.
pub fn dialogs_ui(ctx: &Context, state: &State) {
    let Some(dialog) = &state.dialog else { return };
    let settings = &state.settings;
    let show = |title: &str, width, add: &dyn Fn(&mut Ui)| dialog_ui(ctx, title, width, add);
    let left = match dialog.subject {
        Subject::Commands => return command_palette_ui(ctx, dialog, &state.choices()),
        Subject::Keys => show("Keys", 860.0, &|ui| {
            keys_ui(ui, &start_text(state));
        }),
        Subject::Settings => show("Settings", 420.0, &|ui| settings_ui(ui, settings)),
        Subject::Glossary => show("Glossary", 560.0, &|ui| glossary_ui(ui, dialog)),
        Subject::About => show("About Tapescope", 560.0, &about_ui),
        Subject::Messages => show("Messages", 520.0, &|ui| messages_ui(ui, &state.toasts)),
        Subject::Condition => show("Find step", 560.0, &|ui| condition_ui(ui, dialog, state)),
        Subject::Report => show("Many episodes", 620.0, &|ui| report_ui(ui, dialog, state)),
        Subject::Step => show("Go to step", 300.0, &|ui| step_ui(ui, dialog)),
        Subject::Value => show("Set value", 520.0, &|ui| value_dialog_ui(ui, dialog, state)),
        Subject::Episode => show("Change episode", 300.0, &|ui| phone::episode_ui(ui, state)),
        Subject::More => show("More", 300.0, &|ui| phone::more_ui(ui, state)),
        Subject::File(purpose) => {
            let title = file_words(purpose).0;
            show(title, 520.0, &|ui| path_ui(ui, (dialog, purpose), state))
        }
        Subject::Recovery => show("Recover runs", 560.0, &|ui| recovery_ui(ui, state)),
        Subject::EndRun => {
            let title = "Training is not saved";
            show(title, 520.0, &|ui| ending_ui(ui, dialog, state))
        }
    };
    // An answer leaves it open where it is unclear.
    let is_answer = |command: &Command| {
        let chosen = matches!(command, Command::File(File::Chosen(..) | File::Replace(..)));
        let is_typed = matches!(
            command,
            Command::Dialog(DialogCommand::GoTo(_) | DialogCommand::Condition(_))
        );
        chosen || is_typed || matches!(command, Command::Edit(Edit::Intervene(_)))
    };
    if left && !is_sent(ctx, is_answer) {
        send(ctx, DialogCommand::Leave);
    }
}

fn step_ui(ui: &mut Ui, dialog: &Dialog) {
    let line = ("12, +5, −1 or answer", "Step");
    let (text, mut entered) = field_ui(ui, dialog, line);
    if dialog.doubted {
        let words =
            "This episode has no such step or phase. Type a step number, +5, −1 or a phase.";
        error_ui(ui, words);
    }
    ui.add_space(8.0);
    entered |= primary_button(ui, "Go").clicked();
    if entered {
        send(ui.ctx(), DialogCommand::GoTo(text));
    }
}

/// The folder of a file to be saved.
fn folder_ui(ui: &mut Ui, state: &State, path: &str) {
    let path = state.folder.join(path.trim());
    if let Some(folder) = path.parent().filter(|folder| folder.is_absolute()) {
        note(ui, &format!("Folder: {}", folder.display()));
    }
}

/// Shows why the typed text is rejected.
fn error_ui(ui: &mut Ui, sentence: &str) {
    words(ui, sentence, theme::text(13.0), Palette::of(ui).warning);
}

/// Returns the title of a dialog, its question, and its button.
fn file_words(purpose: FilePurpose) -> (&'static str, &'static str, &'static str) {
    match purpose {
        FilePurpose::Open => ("Open file", OPEN, "Open"),
        FilePurpose::Compare => ("Compare with file", COMPARE, "Open"),
        FilePurpose::Save => ("Save trace", SAVE, "Save file"),
        FilePurpose::Motion => ("Save animation", MOTION, "Save file"),
        FilePurpose::Report => ("Export table", TABLE, "Save file"),
        FilePurpose::Run if HAS_FILES => ("Save run", RUN, "Save run"),
        FilePurpose::Run => ("Save run", MACHINE, "Save run"),
        FilePurpose::Figure(_) => ("Save figure", FIGURE, "Save file"),
    }
}

/// The questions.
const OPEN: &str = "A trace (.json, .json.gz or .npz), attention of another program (.npy, text), weights (.safetensors) or a run folder. You can also drop it on the window.";
const COMPARE: &str =
    "The episode on screen is A, the trace becomes B. Weights record the same episode again as B.";
const SAVE: &str =
    "The episode on screen with every stage of every step, as .json, .json.gz or .npz.";
const MOTION: &str = "The close-up in motion, for the marked part or about eight steps around this one: .gif, or .png for an animated PNG.";
const RUN: &str = "A run folder: weights, learning curve and checkpoint. `tapescope train --resume` with it continues to the same bits.";
const MACHINE: &str =
    "The current weights with the learning curve (.safetensors), to open here or with the program.";
const TABLE: &str = "The table as .csv, or with its charts as .svg or .png.";
const FIGURE: &str =
    "The pictures in the centre: .svg, .png, .gif with every step, or .html with a player.";

/// Shows the dialog that ends training.
fn ending_ui(ui: &mut Ui, dialog: &Dialog, state: &State) {
    let (Some(learning), Some(ending)) = (&state.learning, &state.ending) else {
        return;
    };
    let (lost, hint, name) = if HAS_FILES {
        let lost = "it into a folder, with all training snapshots";
        (lost, "run folder", "Folder")
    } else {
        let lost = "the weights, with the learning curve (.safetensors)";
        (lost, "file name", "Path")
    };
    let run = learning.run();
    let others = one_of_several(learning).map_or_else(String::new, |text| format!(" {text}"));
    let then = match run.is_active() {
        _ if !HAS_FILES => "",
        true => " Resume it from there, to the same bits:",
        false => " Open it again from there:",
    };
    let lost = format!("The run is lost unless you save {lost}.{others}{then}");
    note(ui, &lost);
    let (text, entered) = field_ui(ui, dialog, (hint, name));
    folder_ui(ui, state, &text);
    let folder = text.trim();
    if HAS_FILES {
        let go_on = if run.is_active() {
            shell::resume(Path::new(folder))
        } else {
            shell::on("view", Path::new(folder))
        };
        words(ui, go_on, theme::mono(12.0), Palette::of(ui).text);
    }
    ui.add_space(8.0);
    let (save, without) = match ending.replacement {
        Replacement::Close => ("Save and close", "Close without saving"),
        Replacement::Nothing => ("Save and stop", "Stop without saving"),
        Replacement::LookBack(..) => ("Save and open", "Open without saving"),
        _ => ("Save and restart", "Restart without saving"),
    };
    let stay = ["Go back", "Continue training"][usize::from(learning.expects_news())];
    ui.horizontal_wrapped(|ui| {
        let (all, folder) = (all_runs(learning), PathBuf::from(folder));
        // Several runs are all saved, unless another button says so.
        let saves = primary_button(ui, all.as_deref().unwrap_or(save)).clicked() || entered;
        if saves && !text.trim().is_empty() {
            let save = [Learn::SaveAndEnd, Learn::SaveAll][usize::from(all.is_some())];
            send(ui.ctx(), save(folder.clone()));
        }
        if all.is_some() {
            text_button(ui, save, Learn::SaveAndEnd(folder));
        }
        text_button(ui, without, Learn::EndUnsaved);
        text_button(ui, stay, DialogCommand::Leave);
    });
}

/// Shows the runs that a killed program left.
fn recovery_ui(ui: &mut Ui, state: &State) {
    note(ui, "The program ended before these runs were saved.");
    ui.add_space(8.0);
    scrolled_ui(ui, 240.0, |ui| {
        for (place, run) in state.recoverable.iter().enumerate() {
            ui.label(&run.label);
            ui.horizontal(|ui| {
                let folders = vec![run.folder.clone()];
                text_button(ui, "Recover run", Replacement::Recover(folders));
                text_button(ui, "Discard", Learn::Discard(place));
            });
            ui.add_space(6.0);
        }
    });
    ui.horizontal(|ui| {
        if state.recoverable.len() > 1 {
            let folders = state.recoverable.iter().map(|run| run.folder.clone());
            text_button(ui, "Recover all", Replacement::Recover(folders.collect()));
        }
        text_button(ui, "Decide later", DialogCommand::Leave);
    });
}

/// Which of several runs is saved, and where the others go.
fn one_of_several(learning: &LiveTraining) -> Option<String> {
    let (label, all) = (learning.run().label(), all_runs(learning)?);
    let count = learning.runs.len();
    Some(format!(
        "Of the {count} runs this saves the one on screen, {label}. “{all}” writes each into a folder of its own beside it."
    ))
}

/// The button that saves all of several runs.
fn all_runs(learning: &LiveTraining) -> Option<String> {
    let count = learning.runs.len();
    (count > 1).then(|| format!("Save all {count} runs"))
}

fn path_ui(ui: &mut Ui, (dialog, purpose): (&Dialog, FilePurpose), state: &State) {
    let (_, what, action) = file_words(purpose);
    note(ui, what);
    let learning = state.learning.as_ref();
    let learning = learning.filter(|_| purpose == FilePurpose::Run);
    if let Some(text) = learning.and_then(one_of_several) {
        note(ui, &text);
    }
    ui.add_space(4.0);
    let hint = if HAS_FILES { "file path" } else { "file name" };
    let (text, entered) = field_ui(ui, dialog, (hint, "Path"));
    if purpose.is_to_save() {
        folder_ui(ui, state, &text);
    }
    let is_folder = HAS_FILES && purpose == FilePurpose::Run;
    let path = PathBuf::from(text.trim());
    let mut entered = entered;
    ui.add_space(8.0);
    ui.horizontal_wrapped(|ui| {
        entered |= primary_button(ui, action).clicked();
        if let Some(all) = learning.and_then(all_runs) {
            text_button(ui, &all, Learn::SaveAll(path.clone()));
        }
        // Only this button replaces an existing file.
        if let Some(taken) = &dialog.taken {
            let replace = ["Replace file", "Replace folder"][usize::from(is_folder)];
            text_button(ui, replace, File::Replace(purpose, taken.clone()));
        }
        if HAS_FILES {
            text_button(ui, "Browse …", File::Browse(purpose));
        }
    });
    if entered && !text.trim().is_empty() {
        send(ui.ctx(), File::Chosen(purpose, path));
    }
    if let Some(taken) = &dialog.taken {
        error_ui(ui, &format!("{} already exists.", taken.display()));
    }
}

const LICENCES: [(&str, &str); 5] = [
    ("MIT licence", include_str!("../../../LICENSE-MIT")),
    (
        "Apache licence 2.0",
        include_str!("../../../LICENSE-APACHE"),
    ),
    (
        "Inter",
        include_str!("../../../assets/fonts/Inter-LICENSE.txt"),
    ),
    (
        "JetBrains Mono",
        include_str!("../../../assets/fonts/JetBrainsMono-LICENSE.txt"),
    ),
    (
        "Lucide",
        include_str!("../../../assets/fonts/Lucide-LICENSE.txt"),
    ),
];

/// Version, origins and all licences in full.
pub fn about_ui(ui: &mut Ui) {
    let palette = Palette::of(ui);
    let version = concat!("Version ", env!("CARGO_PKG_VERSION"));
    words(ui, version, theme::text(13.0), palette.text);
    ui.label(
        "A simulator and viewer for Neural Turing Machines (Graves, Wayne and Danihelka 2014). Licensed under MIT or \
         Apache-2.0, at your choice.",
    );
    note(
        ui,
        "The fonts are Inter and JetBrains Mono, under the SIL Open Font Licence 1.1, with icons of Lucide (ISC). The colour maps are \
         magma and viridis of Matplotlib and cividis of Nuñez, Anderton and Renslow, all CC0. The window is \
         made with egui and eframe (MIT or Apache-2.0); Cargo.lock names every other crate.",
    );
    ui.add_space(8.0);
    scrolled_ui(ui, 290.0, |ui| {
        for (name, text) in LICENCES {
            section(ui, name);
            words(ui, text, theme::mono(10.5), palette.subdued);
            ui.add_space(theme::SECTION);
        }
    });
}

/// All messages, the newest first.
pub fn messages_ui(ui: &mut Ui, toasts: &Toasts) {
    let palette = Palette::of(ui);
    let said: Vec<_> = toasts.history().collect();
    if said.is_empty() {
        return note(ui, "No messages.");
    }
    scrolled_ui(ui, 180.0, |ui| {
        for (kind, text) in &said {
            let ink = match kind {
                Kind::Done => palette.subdued,
                Kind::Notice | Kind::Problem => palette.warning,
            };
            words(ui, kind.mark(), theme::heading(12.0), ink);
            words(ui, text, theme::text(13.0), palette.text);
            ui.add_space(6.0);
        }
    });
    ui.add_space(8.0);
    let lines = said
        .iter()
        .map(|(kind, text)| format!("{}: {text}", kind.mark()));
    let (text, said) = (lines.collect::<Vec<_>>().join("\n"), None);
    text_button(ui, "Copy messages", File::Copy { text, said });
}

/// Shows the terms that contain what is typed.
pub fn glossary_ui(ui: &mut Ui, dialog: &Dialog) {
    let (text, _) = field_ui(ui, dialog, ("type a term", "Term"));
    ui.add_space(8.0);
    let typed = text.to_lowercase();
    scrolled_ui(ui, 200.0, |ui| {
        let found = terms().filter(|term| term.title().to_lowercase().contains(&typed));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            note(ui, "No such term.");
        }
        for term in found {
            ui.horizontal(|ui| {
                let ink = Palette::of(ui).strong;
                words(ui, term.title(), theme::heading(13.0), ink);
                if let Some(link) = term.link {
                    let name = format!("Show {}", term.name);
                    text_button(ui, "Show", Episode::Link(link))
                        .on_hover_text(format!("{name} in an episode"));
                }
            });
            ui.label(term.meaning);
            note(ui, term.source);
            ui.add_space(8.0);
        }
    });
}
