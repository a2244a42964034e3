//! Dialogs: the list of keys, a step to go to, a file to open, a place to save to.

use egui::{Context, Key, RichText, TextEdit, Ui, vec2};

use super::finder::{Choice, Search, finder_ui};
use super::keys::keys_ui;
use crate::viewer::command::Command;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{primary_button, text_button};
use crate::viewer::widget::dialog::dialog_ui;
use crate::viewer::widget::property::note;

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Every command by its name.
    Commands(Search),
    /// The list of keys.
    Shortcuts,
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
    },
    /// Where to save the trace.
    Save {
        /// The path typed so far.
        text: String,
    },
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
    /// Open the file that was typed.
    Open(String),
    /// Save to the path that was typed.
    Save(String),
}

/// Shows the open dialog.
pub fn dialog_panel_ui(
    ctx: &Context,
    dialog: &mut Dialog,
    choices: &[Choice],
    commands: &mut Vec<Command>,
) -> Answer {
    let mut answer = Answer::None;
    let left = match dialog {
        Dialog::Commands(search) => finder_ui(ctx, search, choices, commands),
        Dialog::Shortcuts => dialog_ui(ctx, "Keys", 860.0, keys_ui),
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
        Dialog::Open { text } => dialog_ui(ctx, "Open", 520.0, |ui| {
            note(
                ui,
                "A trace (.ntmtrace.json) or weights (.safetensors). Dropping a file on the window does the same.",
            );
            ui.add_space(4.0);
            if path_ui(ui, text, "Open file", false, commands) {
                answer = Answer::Open(text.clone());
            }
        }),
        Dialog::Save { text } => dialog_ui(ctx, "Save trace", 520.0, |ui| {
            note(
                ui,
                "The episode on screen with every stage of every step, as JSON (.ntmtrace.json). An existing file is replaced.",
            );
            ui.add_space(4.0);
            if path_ui(ui, text, "Save file", true, commands) {
                answer = Answer::Save(text.clone());
            }
        }),
    };
    if left && answer == Answer::None {
        answer = Answer::Leave;
    }
    answer
}

/// A line of text that has the keyboard; true when Enter is pressed.
pub fn field_ui(ui: &mut Ui, text: &mut String, hint: &'static str, name: &str) -> bool {
    let field = TextEdit::singleline(text)
        .hint_text(hint)
        .font(theme::mono(13.0))
        .margin(vec2(8.0, 6.0))
        .desired_width(f32::INFINITY);
    let response = ui.add(field).accessible_name(name);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if !entered && !response.has_focus() && ui.memory(|memory| memory.focused().is_none()) {
        response.request_focus();
    }
    entered
}

fn path_ui(
    ui: &mut Ui,
    text: &mut String,
    action: &str,
    save: bool,
    commands: &mut Vec<Command>,
) -> bool {
    let mut entered = field_ui(ui, text, "path of the file", "Path");
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        entered |= primary_button(ui, action).clicked();
        text_button(ui, "Browse …", &Command::Browse { save }, commands);
    });
    entered && !text.trim().is_empty()
}
