//! A failure on screen: what is asked of the machine, and where and why it goes wrong.

use egui::{Context, Rect};

use super::Columns;
use super::card::{card_ui, veil};
use crate::figure::head_label;
use crate::viewer::command::{Command, Episode, Window};
use crate::viewer::state::State;
use crate::viewer::state::gallery::{FAILURES, Failing};
use crate::viewer::story::failure::told;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::{on_click, primary_button, text_button};
use crate::viewer::widget::place;
use crate::viewer::widget::property::words;

/// The card of the failure that is shown.
pub fn failure_ui(
    ctx: &Context,
    state: &State,
    failing: Failing,
    columns: &Columns,
    commands: &mut Vec<Command>,
) {
    let (Some(open), Some(wrong)) = (&state.session.open, failing.wrong) else {
        return;
    };
    let answers = ["target", "output"].map(|name| place::find(ctx, name));
    let spot = answers.into_iter().flatten().reduce(Rect::union);
    let spot = spot.map(|answers| {
        let step = columns.step(wrong.0, open.shown.recording.trace.steps());
        Rect::from_x_y_ranges(step, answers.y_range()).expand(4.0)
    });
    if let (Some(spot), true) = (spot, failing.met) {
        veil(ctx, spot, 0.0);
    }
    // What it does in time is to be seen.
    let trace = &open.shown.recording.trace;
    let heads = (0..trace.heads.len()).map(|head| head_label(trace, head));
    let layers = (0..trace.layers.len())
        .flat_map(|layer| ["cell", "hidden"].map(|state| format!("{state} of layer {layer}")));
    let weightings = heads.map(|head| format!("weighting of {head}"));
    let answers = ["input", "target", "output"].map(str::to_owned);
    let over_time = weightings.chain(layers).chain(answers);
    let others: Vec<_> = over_time
        .filter_map(|name| place::find(ctx, &name))
        .collect();
    let palette = Palette::on(ctx);
    card_ui(ctx, "failure", (spot, &others), |ui| {
        let count = format!(
            "Where machines fail: {} of {}",
            failing.which + 1,
            FAILURES.len()
        );
        words(ui, count, theme::mono(11.0), palette.subdued);
        words(ui, failing.of().title, theme::heading(15.0), palette.strong);
        words(ui, failing.of().about, theme::text(13.0), palette.text);
        if failing.met {
            ui.add_space(2.0);
            words(
                ui,
                told(&open.shown.recording, wrong),
                theme::text(13.0),
                palette.strong,
            );
        }
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            if failing.met {
                let next = primary_button(ui, "Next failure");
                let following = (failing.which + 1) % FAILURES.len();
                on_click(&next, Episode::Failure(Some(following)), commands);
                text_button(ui, "Start page", Window::ToggleWelcome, commands);
            }
            text_button(ui, "Close", Episode::Failure(None), commands);
        });
    });
}
