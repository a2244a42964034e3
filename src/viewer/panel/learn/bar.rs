//! The training bar: commands, progress, and the training timeline.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, Direction, DragValue, Grid, Layout, PopupCloseBehavior, RichText, Ui, vec2};

use super::timeline::{self, timeline_ui};
use crate::figure::facts::numbers::time;
use crate::io::Experiment;
use crate::learn::{End, Pace};
use crate::train::Change;
use crate::viewer::command::{DialogCommand, Learn, Replacement, Subject};
use crate::viewer::keys::tooltip;
use crate::viewer::state::{FilePurpose, Hyperparameter, LiveTraining, RunView, SavedRun};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Icon, icon_button, key_button, note, on_click, one_line, or_short, primary_button, send, words,
};

/// Room for the speed on a phone.
const SPEED: f32 = 104.0;
/// Width of the button that trains or pauses, for any label.
const TOGGLE: f32 = 116.0;
/// Height of the line with the buttons.
const LINE: f32 = 30.0;
/// Height of the words under them on a phone.
const WORDS: f32 = 20.0;
/// Around all, in points.
const AROUND: f32 = 6.0;

/// Height of the bar, in points.
pub fn height(on_phone: bool) -> f32 {
    let by_finger = theme::FINGER + WORDS + timeline::HEIGHT_BY_FINGER;
    let height = LINE + timeline::HEIGHT;
    AROUND + if on_phone { by_finger } else { height }
}

/// The bar.
pub fn bar_ui(ui: &mut Ui, learning: &LiveTraining) {
    if theme::is_by_finger(ui.ctx()) {
        return phone_ui(ui, learning);
    }
    let palette = Palette::of(ui);
    let run = learning.run();
    ui.spacing_mut().item_spacing = egui::vec2(3.0, 0.0);
    ui.horizontal(|ui| {
        ui.set_height(LINE);
        buttons_ui(ui, learning);
        ui.add_space(10.0);
        let name = format!("{}, {}", run.experiment.title, run.label());
        words(ui, name, theme::heading(13.0), palette.strong);
        ui.add_space(10.0);
        let far = far(learning, run);
        one_line(ui, far, theme::text(12.0), palette.text);
    });
    timeline_ui(ui, learning);
}

/// Shows the most frequent commands on a phone, in finger size; the others are in the list of commands.
fn phone_ui(ui: &mut Ui, learning: &LiveTraining) {
    ui.spacing_mut().item_spacing = vec2(4.0, 0.0);
    ui.horizontal(|ui| {
        if learning.read_only.is_none() {
            let rest = 2.0 * (theme::FINGER + 4.0) + SPEED + 4.0;
            toggle_ui(ui, learning, ui.available_width() - rest);
            icon_button(ui, Icon::Next, Learn::Once, false);
        }
        icon_button(ui, Icon::Again, Replacement::Again, false);
        if learning.read_only.is_none() {
            speed_ui(ui, learning);
        }
    });
    let far = RichText::new(far(learning, learning.run())).font(theme::text(13.0));
    let far = egui::Label::new(far.color(Palette::of(ui).text)).truncate();
    ui.add_sized(vec2(ui.available_width(), WORDS), far);
    timeline_ui(ui, learning);
}

fn buttons_ui(ui: &mut Ui, learning: &LiveTraining) {
    if let Some(saved) = &learning.read_only {
        continue_ui(ui, saved);
    } else {
        toggle_ui(ui, learning, TOGGLE);
        icon_button(ui, Icon::Next, Learn::Once, false);
        icon_button(ui, Icon::Minus, Learn::Faster(-1), false);
        speed_ui(ui, learning);
        icon_button(ui, Icon::Plus, Learn::Faster(1), false);
    }
    icon_button(ui, Icon::Again, Replacement::Again, false);
    let text = or_short(ui, ["Train next seed", "Next seed"]);
    key_button(ui, text, Replacement::NextSeed);
    if learning.read_only.is_none() {
        if learning.runs.len() == 1 && learning.run().is_active() {
            hyperparameters_ui(ui, learning);
        }
        let save = DialogCommand::For(Subject::File(FilePurpose::Run));
        icon_button(ui, Icon::Save, save, false);
    }
    let text = or_short(ui, ["Stop training", "Stop"]);
    key_button(ui, text, Replacement::Nothing).accessible_name("Stop training");
}

/// Shows the button that continues a saved run.
fn continue_ui(ui: &mut Ui, saved: &SavedRun) {
    ui.add_enabled_ui(!saved.is_finished, |ui| {
        let button = primary_button(ui, "Continue training");
        on_click(&button, Learn::Continue);
        button
            .on_hover_text(tooltip(&Learn::Continue.into()))
            .on_disabled_hover_text("this run is finished");
    });
}

fn toggle_ui(ui: &mut Ui, learning: &LiveTraining, width: f32) {
    let name = match (learning.run().is_active(), learning.is_training) {
        (true, true) => "Pause training",
        (true, false) => "Resume training",
        (false, _) => "Train live",
    };
    // As wide whatever it says: what stands beside it stays in its place.
    let size = vec2(width, ui.spacing().interact_size.y);
    let fill = Layout::centered_and_justified(Direction::LeftToRight);
    ui.allocate_ui_with_layout(size, fill, |ui| {
        let toggle = primary_button(ui, name);
        on_click(&toggle, Learn::Toggle);
        toggle.on_hover_text(tooltip(&Learn::Toggle.into()));
    });
}

fn speed_ui(ui: &mut Ui, learning: &LiveTraining) {
    let pace = match learning.pace {
        Pace::Full => "full speed".to_owned(),
        Pace::Updates(per_second) => format!("{per_second} updates/s"),
    };
    key_button(ui, &pace, Learn::SlowOrFull);
}

/// Returns the progress and the time, as text.
fn far(learning: &LiveTraining, run: &RunView) -> String {
    let Some(progress) = run.progress.as_deref() else {
        return "starting".to_owned();
    };
    let (done, all, seconds) = (progress.sequences, progress.of, progress.seconds);
    let so_far = format!("{done} of {all} sequences in {seconds:.1} s");
    if learning.saving == Some(run.number) {
        return format!("{so_far} · saving …");
    }
    match (&progress.end, run.rate) {
        (Some(End::Finished), _) => format!("{so_far}: finished"),
        (Some(End::Diverged(diverged)), _) => format!("{so_far}: {diverged}"),
        (Some(End::Broken { .. }), _) => format!("{so_far}: stopped by an error"),
        (None, Some(rate)) if learning.is_training && rate > 0.0 => {
            let left = all.saturating_sub(done) as f64 / rate;
            let left = time(left);
            format!("{done} of {all} in {seconds:.1} s · {left} left · {rate:.0} sequences/s")
        }
        (None, _) if learning.is_training => so_far,
        (None, _) => format!("{so_far}: paused"),
    }
}

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
