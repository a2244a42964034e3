//! Texts about what the window shows: the status line, comparisons, and training.

pub mod comparison;
pub mod training_charts;

use super::state::Open;
use crate::player::Player;
use crate::train::Recording;

/// Returns one line on the current step and the action of the heads.
pub fn status(open: &Open, player: &Player, focus: usize) -> String {
    let (mut moment, stage) = (open.moment(player), player.stage());
    if moment.step >= player.steps() {
        return "no steps".to_owned();
    }
    let mut place = vec![moment.clock()];
    if !moment.phase().is_empty() {
        place.push(format!("{} phase", moment.phase()));
    }
    if stage + 1 < player.stages() {
        let (count, name) = (player.stages(), open.stages.at(stage).name());
        place.push(format!("stage {} of {count}: {name}", stage + 1));
    } else {
        // At its end the step is described as a whole.
        moment.place = usize::MAX;
    }
    format!("{}. {}", place.join(", "), moment.short(focus))
}

/// Describes the number of values that are not finite.
pub fn not_finite(count: usize) -> String {
    match count {
        1 => "1 value is not finite".to_owned(),
        n => format!("{n} values are not finite"),
    }
}

/// The step that a person means by `text`: a number, `+5`, `-1`, or the start of a phase.
pub fn step_meant(recording: &Recording, step: usize, text: &str) -> Option<usize> {
    let last = recording.trace.steps().checked_sub(1)?;
    let text = text.trim().replace('−', "-");
    if let Some(by) = text.strip_prefix('+') {
        return Some(step.saturating_add(by.trim().parse().ok()?).min(last));
    }
    if let Some(by) = text.strip_prefix('-') {
        return Some(step.saturating_sub(by.trim().parse().ok()?));
    }
    if let Ok(number) = text.parse::<usize>() {
        return (number <= last).then_some(number);
    }
    let text = text.to_lowercase();
    let mut phases = recording.episode.phases.iter();
    let named = phases.find(|phase| !text.is_empty() && phase.name.starts_with(&text));
    named.map(|phase| phase.start)
}
