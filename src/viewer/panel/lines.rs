//! The numbers over time under the pictures: loss, movements of heads, parameters of the selected head.

use egui::{Response, Ui};

use super::copy_menu::Sheet;
use super::parts::penalty;
use super::{View, part, pointer, scrub, step_at};
use crate::figure::facts::events::reach;
use crate::figure::facts::heads::Scalar;
use crate::figure::narrate::mechanism;
use crate::figure::{PanelId, Picture, PlacedPanel, facts::numbers, head_label, narrate};
use crate::model::HeadTrace;
use crate::train::is_absent;
use crate::viewer::widget::rect;

/// A part of the page with a time axis: dragging moves the play-head; returns the step under the pointer.
fn over_time(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) -> (Response, Option<usize>) {
    let time = rect(&place.area).x_range();
    let response = part(ui, place);
    scrub(&response, time, view);
    let step = pointer(&response).map(|at| step_at(time.into(), at.x, view.steps()));
    (response, step)
}

/// The loss of every step: a place to scrub that marks errors.
pub fn timeline_ui(ui: &Ui, place: &PlacedPanel<'_>, view: &mut View<'_>) {
    let (response, step) = over_time(ui, place, view);
    let loss = &view.recording().loss;
    let sheet = Sheet {
        name: "loss in bits",
        lines: ("step", view.steps()),
        columns: ("quantity", 1),
        names: &["loss"],
        value: &|t, _| loss[t],
    };
    let cell = step.map(|step| (step, 0));
    sheet.menu(&response, cell, None);
    if let Some(step) = step {
        let (loss, phase) = (loss[step], narrate::phase_at(view.recording(), step));
        let mut events = view.open.events.iter();
        let here = events.find(|event| event.step == step);
        let here = here.map_or("", |event| &event.words);
        let unit = if is_absent(loss) { "" } else { " bits" };
        let meaning = format!("{phase}: cross-entropy of this step\n{here}");
        view.tell(format!("step {step}"), numbers::exact(loss) + unit, meaning);
    }
}

/// The movement of a head.
pub fn ribbon_ui(ui: &Ui, place: &PlacedPanel<'_>, head: usize, view: &mut View<'_>) {
    let (_, step) = over_time(ui, place, view);
    let Some(step) = step else { return };
    let mut stretches = view.open.heads[head].stretches.iter();
    let here = stretches.find(|stretch| (stretch.start..stretch.end).contains(&step));
    let (trace, label) = (view.trace(), head_label(view.trace(), head));
    let range = reach(&trace.heads[head]);
    if let Some(stretch) = here {
        let place = format!("{label}  steps {} to {}", stretch.start, stretch.end - 1);
        let meaning = "rows by which its peak moves per step";
        view.tell(place, stretch.words(range), meaning);
    }
}

/// A number over time, with those beside it in the menu.
pub fn line_ui(ui: &Ui, place: &PlacedPanel<'_>, id: PanelId, view: &mut View<'_>) {
    let (response, step) = over_time(ui, place, view);
    // The numbers are copied only for a readout or a menu.
    if step.is_none() && !response.context_menu_opened() {
        return;
    }
    match id.picture {
        Picture::Redundancy => redundancy_ui(&response, step, view),
        Picture::Uncertainty => uncertainty_ui(&response, step, view),
        _ => {
            let page = view.debug_page();
            let scalars = page.scalars(view.focus);
            let index = id.part.unwrap_or(0);
            let name = format!("{} over time", head_label(view.trace(), view.focus));
            menu(&response, &name, step.zip(Some(index)), &scalars, view);
            if let (Some(step), Some(scalar)) = (step, scalars.get(index)) {
                let (panel, value) = (&place.panel, numbers::exact(scalar.values[step]));
                let place = format!("{}  step {step}  {}", panel.whose, scalar.of.symbol);
                view.tell(place, value, &panel.note);
            }
        }
    }
}

/// The numbers over time, a column each, to copy.
fn menu(
    response: &Response,
    name: &str,
    cell: Option<(usize, usize)>,
    lines: &[Scalar],
    view: &mut View<'_>,
) {
    let names: Vec<_> = lines.iter().map(|line| line.of.array.name).collect();
    let sheet = Sheet {
        name,
        lines: ("step", view.steps()),
        columns: ("quantity", lines.len()),
        names: &names,
        value: &|t, index| lines[index].values[t],
    };
    sheet.menu(response, cell, None);
}

/// The penalty over time of the heads of the selected head's kind.
fn redundancy_ui(response: &Response, step: Option<usize>, view: &mut View<'_>) {
    let all = &view.open.redundancies;
    let is_write = view.head().is_some_and(HeadTrace::is_write);
    let Some(of) = all.like(is_write) else { return };
    let own = all.0.iter().position(|other| other.who == of.who);
    let lines: Vec<_> = all.0.iter().map(|of| of.line.clone()).collect();
    let name = "redundancy over time";
    menu(response, name, step.zip(own), &lines, view);
    if let Some(step) = step {
        view.pointed.readout = Some(penalty(of, view.trace(), step));
    }
}

/// The epistemic uncertainty of many samples over time.
fn uncertainty_ui(response: &Response, step: Option<usize>, view: &mut View<'_>) {
    let Some(spread) = view.open.spread.as_deref() else {
        return;
    };
    let lines = spread.lines();
    let name = format!("uncertainty of {} samples over time", spread.samples);
    menu(response, &name, step.zip(Some(2)), &lines, view);
    let Some(step) = step else { return };
    let description = lines.each_ref().map(|line| {
        let value = numbers::exact(line.values[step]);
        format!("{} {value}  {}", line.of.symbol, line.of.words)
    });
    let place = format!("{} samples  step {step}  I", spread.samples);
    let meaning = match spread.step(step) {
        Some(_) => format!("{}\n{}", description.join("\n"), mechanism::UNCERTAIN),
        None => "no output is scored in this step".to_owned(),
    };
    view.tell(place, numbers::exact(lines[2].values[step]), meaning);
}
