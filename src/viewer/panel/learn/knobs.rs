//! What may be changed while a machine learns: halved, doubled, from the next update on.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, Grid, PopupCloseBehavior, RichText, Ui};

use crate::viewer::command::{Command, Learn};
use crate::viewer::state::learning::{Knob, Learning};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::on_click;
use crate::viewer::widget::property::note;

/// A button, and behind it all that may be changed.
pub fn knobs_ui(ui: &mut Ui, learning: &Learning, commands: &mut Vec<Command>) {
    let stays = PopupCloseBehavior::CloseOnClickOutside;
    let menu = MenuButton::from_button(Button::new("Change"));
    let menu = menu.config(MenuConfig::new().close_behavior(stays));
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_width(300.0);
        note(
            ui,
            "From the next update on. The curves mark where it happened, and the run's log has it.",
        );
        ui.add_space(6.0);
        Grid::new("knobs").num_columns(4).show(ui, |ui| {
            for knob in Knob::all(&learning.run().experiment) {
                knob_ui(ui, &knob, commands);
                ui.end_row();
            }
        });
    });
    button.on_hover_text("Learning rate, batch, sizes and clipping, while it learns");
}

fn knob_ui(ui: &mut Ui, knob: &Knob, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    ui.label(RichText::new(&knob.name).color(palette.text));
    let value = RichText::new(&knob.value).font(theme::mono(12.0));
    ui.label(value.color(palette.strong));
    let ways = [("½", "Half", &knob.half), ("2×", "Twice", &knob.twice)];
    for (text, words, set) in ways {
        let set = set.as_ref();
        let button = ui.add_enabled(set.is_some(), Button::new(text));
        button.widget_info(|| {
            let name = format!("{words} the {}", knob.name.to_lowercase());
            egui::WidgetInfo::labeled(egui::Role::Button, set.is_some(), name)
        });
        if let Some(set) = set {
            on_click(&button, Learn::Change(vec![set.clone()]), commands);
        }
    }
}
