//! Hyperparameters that can change during training: typed, halved or doubled, from the next update.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, DragValue, Grid, PopupCloseBehavior, RichText, Ui};

use crate::io::Experiment;
use crate::train::Change;
use crate::viewer::command::Learn;
use crate::viewer::state::{Hyperparameter, LiveTraining};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{note, on_click, or_short, send};

/// Width of the menu and of a value in it, in points.
const WIDTH: f32 = 320.0;
const VALUE: f32 = 84.0;

const ABOUT: &str = "Changes apply from the next update. Click a value to type another. The curves and the run's log mark the change.";

/// A button, and behind it all that may be changed.
pub fn hyperparameters_ui(ui: &mut Ui, learning: &LiveTraining) {
    let stays = PopupCloseBehavior::CloseOnClickOutside;
    let menu = MenuButton::from_button(Button::new(or_short(ui, ["Change settings", "Change"])));
    let menu = menu.config(MenuConfig::new().close_behavior(stays));
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_width(WIDTH);
        note(ui, ABOUT);
        ui.add_space(6.0);
        let experiment = &learning.run().experiment;
        Grid::new("knobs").num_columns(4).show(ui, |ui| {
            for knob in Hyperparameter::all(experiment) {
                value_ui(ui, &knob);
                for (text, words, times) in [("½", "Halve", 0.5), ("2×", "Double", 2.0)] {
                    let set = knob.set(knob.value * times);
                    let name = format!("{words} the {}", knob.name.to_lowercase());
                    set_ui(ui, [text, &name], set, experiment);
                }
                ui.end_row();
            }
        });
    });
    let button = button.accessible_name("Change settings");
    button.on_hover_text("Change learning rate, batch, sizes and clipping during training");
}

/// The name of a value, and the value, to be typed over.
fn value_ui(ui: &mut Ui, knob: &Hyperparameter) {
    let ink = Palette::of(ui).text;
    let name = ui.label(RichText::new(&knob.name).color(ink));
    let mut value = knob.value;
    // Typed, never dragged: every change enters the log.
    let entry = DragValue::new(&mut value)
        .speed(0.0)
        .update_while_editing(false)
        .custom_formatter(|value, _| knob.describe(value));
    let entry = ui.add_sized([VALUE, theme::ROW], entry);
    if entry.labelled_by(name.id).changed() && value != knob.value {
        send(ui.ctx(), Learn::Change(vec![knob.set(value)]));
    }
}

/// Shows a button that sets a value; if that is refused it is disabled, with the reason.
fn set_ui(ui: &mut Ui, [text, name]: [&str; 2], set: String, experiment: &Experiment) {
    let (sequences, set) = (0, vec![set]);
    let change = Change { sequences, set };
    let refused = experiment.changed_by(&change).err();
    let button = ui.add_enabled(refused.is_none(), Button::new(text));
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, refused.is_none(), name));
    on_click(&button, Learn::Change(change.set));
    if let Some(refused) = refused {
        button.on_disabled_hover_text(refused.to_string());
    }
}
