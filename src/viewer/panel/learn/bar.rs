//! The bar of what learns: what to do with it, how far it is, and the lane of its moments.

use egui::{Direction, Layout, RichText, Ui, vec2};

use super::knobs::knobs_ui;
use super::lane::lane_ui;
use crate::figure::numbers::time;
use crate::learn::{End, Pace};
use crate::viewer::command::{Ask, Command, Instead, Learn, Subject};
use crate::viewer::files::Aim;
use crate::viewer::keys::tooltip;
use crate::viewer::state::learning::{Learning, Taught};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{icon_button, on_click, primary_button, text_button};
use crate::viewer::widget::icon::Icon;

/// Height of the bar, in points.
pub const HEIGHT: f32 = 66.0;
/// Width of the button that trains or waits, whatever it says.
const TOGGLE: f32 = 116.0;
/// Height of its upper half.
const LINE: f32 = 30.0;

/// The bar.
pub fn bar_ui(ui: &mut Ui, learning: &Learning, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let run = learning.run();
    ui.spacing_mut().item_spacing = egui::vec2(3.0, 0.0);
    ui.horizontal(|ui| {
        ui.set_height(LINE);
        buttons_ui(ui, learning, commands);
        ui.add_space(10.0);
        let name = RichText::new(format!("{}, {}", run.experiment.title, run.label));
        ui.label(name.font(theme::heading(13.0)).color(palette.strong));
        ui.add_space(10.0);
        let far = RichText::new(far(learning, run)).font(theme::text(12.0));
        ui.add(egui::Label::new(far.color(palette.text)).truncate());
    });
    lane_ui(ui, learning, commands);
}

fn buttons_ui(ui: &mut Ui, learning: &Learning, commands: &mut Vec<Command>) {
    if learning.kept.is_none() {
        pace_ui(ui, learning, commands);
    }
    icon_button(ui, Icon::Again, Instead::Again, false, commands);
    text_button(ui, "Next seed", Instead::NextSeed, commands)
        .on_hover_text(tooltip(&Instead::NextSeed.into()));
    if learning.kept.is_none() {
        if learning.runs.len() == 1 && learning.run().goes_on() {
            knobs_ui(ui, learning, commands);
        }
        let save = Ask::For(Subject::File(Aim::Run));
        icon_button(ui, Icon::Save, save, false, commands);
    }
    text_button(ui, "Stop", Instead::Nothing, commands)
        .on_hover_text(tooltip(&Instead::Nothing.into()));
}

/// Training goes on, waits, does one update, and how fast.
fn pace_ui(ui: &mut Ui, learning: &Learning, commands: &mut Vec<Command>) {
    let goes = learning.goes && learning.run().goes_on();
    let name = if goes { "Pause training" } else { "Train" };
    // As wide whatever it says: what stands beside it stays in its place.
    let size = vec2(TOGGLE, ui.spacing().interact_size.y);
    let fill = Layout::centered_and_justified(Direction::LeftToRight);
    ui.allocate_ui_with_layout(size, fill, |ui| {
        let toggle = primary_button(ui, name);
        on_click(&toggle, Learn::Toggle, commands);
        toggle.on_hover_text(tooltip(&Learn::Toggle.into()));
    });
    icon_button(ui, Icon::Next, Learn::Once, false, commands);
    icon_button(ui, Icon::Minus, Learn::Faster(-1), false, commands);
    let pace = match learning.pace {
        Pace::Full => "full speed".to_owned(),
        Pace::Updates(per_second) => format!("{per_second} updates/s"),
    };
    text_button(ui, &pace, Learn::SlowOrFull, commands)
        .on_hover_text(tooltip(&Learn::SlowOrFull.into()));
    icon_button(ui, Icon::Plus, Learn::Faster(1), false, commands);
}

/// How far it is, and how long it takes.
fn far(learning: &Learning, run: &Taught) -> String {
    let Some(account) = run.account.as_deref() else {
        return "begins".to_owned();
    };
    let (done, all, seconds) = (account.sequences, account.of, account.seconds);
    let so_far = format!("{done} of {all} sequences in {seconds:.1} s");
    if learning.saving == Some(run.number) {
        return format!("{so_far} · saving …");
    }
    match (&account.end, run.rate) {
        (Some(End::Finished), _) => format!("{so_far}: finished"),
        (Some(End::Diverged(diverged)), _) => format!("{so_far}: {diverged}"),
        (Some(End::Broken { .. }), _) => format!("{so_far}: broken off"),
        (None, Some(rate)) if learning.goes && rate > 0.0 => {
            let left = all.saturating_sub(done) as f64 / rate;
            let left = time(left);
            format!("{done} of {all} in {seconds:.1} s · {left} left · {rate:.0} sequences/s")
        }
        (None, _) if learning.goes => so_far,
        (None, _) => format!("{so_far}: it waits"),
    }
}
