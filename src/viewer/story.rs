//! The current step in words: the status line, the alternative text of the pictures, what tests read.

use super::numbers;
use crate::model::HeadTrace;
use crate::player::Stage;
use crate::train::Recording;

/// `R0`, `R1`, …, `W0`, …: the label of a head on screen.
pub fn head_label(recording: &Recording, head: usize) -> String {
    let heads = &recording.trace.heads;
    let before = |write: bool| {
        heads[..head]
            .iter()
            .filter(|head| head.is_write() == write)
            .count()
    };
    match heads.get(head) {
        Some(trace) if trace.is_write() => format!("W{}", before(true)),
        Some(_) => format!("R{}", before(false)),
        None => String::new(),
    }
}

/// The name of the phase at a step.
pub fn phase_at(recording: &Recording, step: usize) -> &'static str {
    recording
        .episode
        .phases
        .iter()
        .find(|phase| (phase.start..phase.end).contains(&step))
        .map_or("", |phase| phase.name)
}

/// The row with the most weight, and the weight.
pub fn peak(weighting: &[f32]) -> Option<(usize, f32)> {
    weighting
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, weight)| weight.is_finite())
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Where the shift of a step mostly moves the focus, and with how much weight.
pub fn main_shift(head: &HeadTrace<f32>, step: usize) -> Option<(isize, f32)> {
    let shift = head.shift.row(step);
    let range = (shift.len() / 2) as isize;
    peak(shift).map(|(index, mass)| (index as isize - range, mass))
}

/// A shift with its sign: −1, 0, +1.
pub fn signed(shift: isize) -> String {
    match shift {
        0 => "0".to_owned(),
        1.. => format!("+{shift}"),
        _ => format!("−{}", shift.unsigned_abs()),
    }
}

/// One line: where the episode stands and what the heads do there.
pub fn status(recording: &Recording, step: usize, stage: Stage, focus: usize) -> String {
    let steps = recording.trace.steps();
    if step >= steps {
        return "no steps".to_owned();
    }
    let mut text = format!("step {step} of {steps}");
    let phase = phase_at(recording, step);
    if !phase.is_empty() {
        text += &format!(", {phase} phase");
    }
    if stage != Stage::Output {
        text += &format!(", stage {} of 9: {}", stage.index() + 1, stage.name());
    }
    for (index, head) in recording.trace.heads.iter().enumerate() {
        if index != focus && recording.trace.heads.len() > 4 {
            continue;
        }
        let verb = if head.is_write() { "writes" } else { "reads" };
        if let Some((row, weight)) = peak(head.weighting.row(step)) {
            let label = head_label(recording, index);
            let weight = numbers::fit(weight, 2, 4);
            text += &format!("; {label} {verb} at {row}, weight {weight}");
        }
        if let Some((shift, _)) = main_shift(head, step) {
            text += &format!(", shift {}", signed(shift));
        }
    }
    text
}

/// How the episode was answered.
pub fn verdict(recording: &Recording) -> String {
    let score = recording.score;
    if score.scored == 0 {
        return "nothing is scored".to_owned();
    }
    let wrong = match score.wrong {
        0 => "every bit right".to_owned(),
        1 => "1 bit wrong".to_owned(),
        n => format!("{n} bits wrong"),
    };
    format!("{wrong} of {}", score.scored)
}

/// The step that a person means by `text`: a number, `+5`, `-1`, or the start of a phase.
pub fn step_meant(recording: &Recording, step: usize, text: &str) -> Option<usize> {
    let last = recording.trace.steps().checked_sub(1)?;
    let text = text.trim().replace('−', "-");
    if let Some(by) = text.strip_prefix('+') {
        return Some((step + by.trim().parse::<usize>().ok()?).min(last));
    }
    if let Some(by) = text.strip_prefix('-') {
        return Some(step.saturating_sub(by.trim().parse().ok()?));
    }
    if let Ok(number) = text.parse::<usize>() {
        return (number <= last).then_some(number);
    }
    let text = text.to_lowercase();
    let phases = &recording.episode.phases;
    let named = phases
        .iter()
        .find(|phase| !text.is_empty() && phase.name.starts_with(&text));
    named.map(|phase| phase.start)
}
