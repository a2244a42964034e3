//! Dialogs: the list of keys, a step to go to, a file to open, a place to save to.

use egui::{Context, RichText, Ui};

use super::about::about_ui;
use super::finder::{Choice, Search, finder_ui};
use super::keys::keys_ui;
use super::messages::messages_ui;
use super::settings::settings_ui;
use crate::viewer::command::Command;
use crate::viewer::files::Aim;
use crate::viewer::state::messages::Toasts;
use crate::viewer::state::settings::Settings;
use crate::viewer::theme::Palette;
use crate::viewer::widget::button::{primary_button, text_button};
use crate::viewer::widget::dialog::{dialog_ui, field_ui};
use crate::viewer::widget::property::note;

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Every command by its name.
    Commands(Search),
    /// The list of keys.
    Shortcuts,
    /// How everything looks.
    Settings,
    /// What this is, and whose.
    About,
    /// What was said so far.
    Messages,
    /// Which step to go to.
    Step {
        /// What has been typed.
        text: String,
        /// True when it could not be understood.
        unclear: bool,
    },
    /// Which file to open.
    Open {
        /// The path typed so far.
        text: String,
        /// True when it is to be compared with what is on screen.
        compare: bool,
    },
    /// Where to save the trace or the figure.
    Save {
        /// The path typed so far.
        text: String,
        /// True for the figure on screen.
        figure: bool,
    },
}

/// What dialogs show.
#[derive(Debug)]
pub struct Known<'a> {
    /// All commands.
    pub choices: &'a [Choice],
    /// How everything looks.
    pub settings: &'a Settings,
    /// What was said.
    pub toasts: &'a Toasts,
}

/// What the dialog asks of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet.
    None,
    /// Leave it.
    Leave,
    /// Go to the step that was typed.
    Step(String),
    /// Open the file that was typed, for this.
    Open(String, Aim),
    /// Save to the path that was typed; true for the figure on screen.
    Save(String, bool),
}

/// Shows the open dialog.
pub fn dialog_panel_ui(
    ctx: &Context,
    dialog: &mut Dialog,
    known: &Known<'_>,
    commands: &mut Vec<Command>,
) -> Answer {
    let mut answer = Answer::None;
    let left = match dialog {
        Dialog::Commands(search) => finder_ui(ctx, search, known.choices, commands),
        Dialog::Shortcuts => dialog_ui(ctx, "Keys", 860.0, |ui| {
            keys_ui(ui, known.settings.stop, commands);
        }),
        Dialog::Settings => dialog_ui(ctx, "Settings", 420.0, |ui| {
            settings_ui(ui, known.settings, commands);
        }),
        Dialog::About => dialog_ui(ctx, "About Tapescope", 560.0, about_ui),
        Dialog::Messages => dialog_ui(ctx, "Messages", 520.0, |ui| {
            messages_ui(ui, known.toasts, commands);
        }),
        Dialog::Step { text, unclear } => dialog_ui(ctx, "Go to step", 300.0, |ui| {
            if field_ui(ui, text, "12, +5, −1 or answer", "Step") {
                answer = Answer::Step(text.clone());
            }
            if *unclear {
                let palette = Palette::of(ui);
                let sentence = "There is no such step or phase in this episode.";
                ui.label(RichText::new(sentence).color(palette.warning));
            }
            ui.add_space(8.0);
            if primary_button(ui, "Go").clicked() {
                answer = Answer::Step(text.clone());
            }
        }),
        Dialog::Open { text, compare } => {
            let (title, words) = open_words(*compare);
            let aim = if *compare { Aim::Compare } else { Aim::Open };
            dialog_ui(ctx, title, 520.0, |ui| {
                note(ui, words);
                ui.add_space(4.0);
                if path_ui(ui, text, "Open file", aim, commands) {
                    answer = Answer::Open(text.clone(), aim);
                }
            })
        }
        Dialog::Save { text, figure } => dialog_ui(ctx, save_title(*figure), 520.0, |ui| {
            note(
                ui,
                if *figure {
                    "The pictures in the centre: .svg, .png, or .gif with every step. An existing file is replaced."
                } else {
                    "The episode on screen with every stage of every step, as JSON (.ntmtrace.json). An existing file is replaced."
                },
            );
            ui.add_space(4.0);
            let aim = if *figure { Aim::Figure } else { Aim::Save };
            if path_ui(ui, text, "Save file", aim, commands) {
                answer = Answer::Save(text.clone(), *figure);
            }
        }),
    };
    if left && answer == Answer::None {
        answer = Answer::Leave;
    }
    answer
}

fn open_words(compare: bool) -> (&'static str, &'static str) {
    if compare {
        (
            "Compare with",
            "A trace becomes B, beside the episode on screen, which is A. Weights record the same episode once more.",
        )
    } else {
        (
            "Open",
            "A trace (.ntmtrace.json) or weights (.safetensors). Dropping a file on the window does the same.",
        )
    }
}

fn save_title(figure: bool) -> &'static str {
    if figure { "Save figure" } else { "Save trace" }
}

fn path_ui(
    ui: &mut Ui,
    text: &mut String,
    action: &str,
    aim: Aim,
    commands: &mut Vec<Command>,
) -> bool {
    let mut entered = field_ui(ui, text, "path of the file", "Path");
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        entered |= primary_button(ui, action).clicked();
        text_button(ui, "Browse …", &Command::Browse(aim), commands);
    });
    entered && !text.trim().is_empty()
}
