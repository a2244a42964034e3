//! Captions that describe the current stage to someone who sees such a machine for the first time.

use crate::figure::facts::scores::score_text;
use crate::figure::facts::stages::{Moved, Stage, StageRef, moved, moves};
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::{HeadName, facts::numbers};
use crate::model::{HeadTrace, NoiseMode, Trace, peak};
use crate::task::Task;
use crate::train::is_unrecorded;

/// A head is on a row from this share of its weight.
const THERE: f32 = 0.5;
/// A gate this close to 0 or 1 ignores one of its two inputs.
const NEARLY: f32 = 0.85;
/// A head is on no row below this share of its weight.
const CLEAR: f32 = 0.2;
/// The largest change that is called negligible.
const HARDLY: f32 = 0.05;

/// A sentence, and the head that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The head, by its place among all.
    pub head: Option<usize>,
    /// The text.
    pub text: String,
}

/// Returns the caption of a stage for the selected head: what it does, or why it does nothing.
pub fn sentence(seen: &Catalogue<'_>, head: Option<usize>) -> Sentence {
    let (step, place) = seen.moment;
    let trace = &seen.recording.trace;
    let at = (place < seen.stages.len()).then(|| seen.stages.at(place));
    let of = |head: usize| Some((head, trace.heads.get(head)?));
    // Without a selected head, the caption is about the first head that takes part.
    let takes_part = |(_, head): &(usize, &HeadTrace)| at.is_none_or(|at| at.has(head));
    let acts = !matches!(
        at.map(|at| at.stage),
        Some(Stage::Controller | Stage::Output)
    );
    let mut heads = trace.heads.iter().enumerate();
    let head = head.and_then(of).or_else(|| heads.find(takes_part));
    let head = head.filter(|_| acts);
    let text = match (at, head) {
        (Some(at), Some((index, head))) if at.has(head) => of_head(seen, at, (index, head)),
        (Some(_), Some((index, head))) if is_pending(seen, head) => {
            let others = if head.is_write() {
                "reading"
            } else {
                "writing"
            };
            format!("{} waits: {others} comes first.", called(trace, index))
        }
        (
            Some(StageRef {
                stage: Stage::Controller,
                ..
            }),
            _,
        ) => input_caption(seen),
        (_, Some((index, head))) => whole_step(seen, (index, head)),
        _ => output_caption(seen),
    };
    Sentence {
        head: head.map(|(index, _)| index),
        text: if step < trace.steps() {
            text
        } else {
            String::new()
        },
    }
}

/// True where a head still takes part in a later stage of the step.
fn is_pending(seen: &Catalogue<'_>, head: &HeadTrace) -> bool {
    let later = seen.stages.iter().skip(seen.moment.1 + 1);
    let mut later = later.filter(|at| !matches!(at.stage, Stage::Controller | Stage::Output));
    later.any(|at| at.has(head))
}

/// Returns the name of a head at the start of a caption: `The read head`, `Write head W1`.
fn called(trace: &Trace, index: usize) -> String {
    let name = HeadName::of(trace, index);
    let kind = if name.is_write {
        "write head"
    } else {
        "read head"
    };
    let alike = trace
        .heads
        .iter()
        .filter(|head| head.is_write() == name.is_write);
    if alike.count() == 1 {
        return format!("The {kind}");
    }
    let mut kind = kind.to_owned();
    kind[..1].make_ascii_uppercase();
    format!("{kind} {name}")
}

fn percent(share: f32) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn bits(count: usize) -> String {
    match count {
        0 => "nothing".to_owned(),
        1 => "1 bit".to_owned(),
        count => format!("{count} bits"),
    }
}

fn input_caption(seen: &Catalogue<'_>) -> String {
    let (input, step) = (&seen.recording.trace.input, seen.moment.0);
    let on = input
        .row(step)
        .iter()
        .filter(|value| **value >= 0.5)
        .count();
    let asked = seen.recording.episode.is_scored(step);
    let was_asked = step
        .checked_sub(1)
        .is_some_and(|before| seen.recording.episode.is_scored(before));
    if let (0, Some(task)) = (step, of_task(seen)) {
        return task;
    }
    match (on, asked) {
        (0, true) if was_asked => "The answer continues.".to_owned(),
        (0, true) => "The answer begins: no input bit is set.".to_owned(),
        (0, false) => "No input bit is set.".to_owned(),
        (on, _) => format!("New input: {} of {} set.", on, bits(input.width())),
    }
}

/// Returns the task of the episode, if it is known.
fn of_task(seen: &Catalogue<'_>) -> Option<String> {
    let episode = &seen.recording.episode;
    let (size, repeats) = (episode.size, episode.repeats);
    Some(match &seen.recording.task {
        Task::Copy(_) => {
            format!(
                "Input: {size} vectors, one per step. Then the machine outputs them from memory."
            )
        }
        Task::RepeatCopy(_) => {
            format!("Input: {size} vectors. Then the machine outputs them {repeats} times.")
        }
        Task::AssociativeRecall(_) => {
            format!("Input: {size} items. Then one is shown again; the machine outputs the next.")
        }
        Task::Ngrams(_) => {
            "Input: one bit per step. The machine predicts each from the bits before.".to_owned()
        }
        Task::PrioritySort(_) => {
            "Input: vectors with priorities. Then the machine outputs the highest, in order."
                .to_owned()
        }
        Task::Episodes(_) | Task::External(_) => return None,
    })
}

fn output_caption(seen: &Catalogue<'_>) -> String {
    let (recording, step) = (seen.recording, seen.moment.0);
    if !recording.episode.is_scored(step) {
        return "This step is not scored.".to_owned();
    }
    let channels = recording.trace.output.width();
    let wrong = recording.wrong_bits(step);
    format!("Output: {} of {} right.", channels - wrong, bits(channels))
}

/// Returns the caption of a head in a stage.
fn of_head(seen: &Catalogue<'_>, at: StageRef, (index, head): (usize, &HeadTrace)) -> String {
    let (step, trace) = (seen.moment.0, &seen.recording.trace);
    let who = called(trace, index);
    let row = |weighting: &[f32]| peak(weighting).filter(|(_, weight)| weight.is_finite());
    let now = row(head.weighting.row(step));
    let (to, weight) = now.unwrap_or((0, 0.0));
    match at.stage {
        Stage::Content => content(&who, head, step),
        Stage::Gate => gate(&who, head, step),
        Stage::Shift => shift(&who, head, step),
        Stage::Sharpen => {
            let made = if head.distribution.width() > 0 {
                &head.distribution
            } else {
                &head.weighting
            };
            let (to, weight) = row(made.row(step)).unwrap_or((to, weight));
            if weight >= THERE {
                let share = percent(weight);
                format!("{who} sharpens its focus: {share} on row {to}.")
            } else {
                format!("{who} sharpens its focus, but still covers many rows.")
            }
        }
        Stage::Draw => match trace.sampling {
            NoiseMode::Sampled => format!("{who} samples row {to}."),
            NoiseMode::Mean => format!("{who} takes the most likely row: row {to}."),
            NoiseMode::Expected => {
                format!("{who} attends to all rows by probability, most to row {to}.")
            }
        },
        Stage::Weigh if weight >= THERE => format!("{who} focuses on row {to}."),
        Stage::Weigh => format!("{who} focuses on many rows."),
        Stage::Read if weight >= THERE => format!("{who} reads row {to}."),
        Stage::Read => format!(
            "{who} reads a mixture of many rows, mostly row {to} ({}).",
            percent(weight)
        ),
        Stage::Erase if fades(trace, head, step) => {
            format!("{who} erases the content of row {to}.")
        }
        Stage::Erase => format!("{who} erases almost nothing."),
        Stage::Add if weight < THERE => format!("{who} writes a little into many rows."),
        Stage::Add if adds(head, step, weight) => format!("{who} writes into row {to}."),
        Stage::Add => format!("{who} stays on row {to}; the write is negligible."),
        Stage::Controller | Stage::Output => String::new(),
    }
}

/// Returns true if a head erases a part of the content of its row.
fn fades(trace: &Trace, head: &HeadTrace, step: usize) -> bool {
    let Some((row, weight)) = peak(head.weighting.row(step)) else {
        return false;
    };
    let (memory, rows) = (trace.memory_columns.row(step), trace.memory_size()[0]);
    let erase = head.erase.row(step).iter().enumerate();
    let taken = erase.map(|(column, erase)| (memory[column * rows + row] * erase).abs());
    weight * taken.fold(0.0, f32::max) >= HARDLY
}

fn adds(head: &HeadTrace, step: usize, weight: f32) -> bool {
    let most = head
        .add
        .row(step)
        .iter()
        .fold(0.0, |a: f32, b| a.max(b.abs()));
    weight * most >= HARDLY
}

fn content(who: &str, head: &HeadTrace, step: usize) -> String {
    let found = peak(head.content.row(step));
    if !score_text(head.mechanism.score).reads_rows {
        let scores = "scores every row by position, ignoring contents";
        return match found {
            Some((row, weight)) if weight >= THERE => format!("{who} {scores}; best: row {row}."),
            _ => format!("{who} {scores}."),
        };
    }
    let compares = "compares its key with every row";
    match found {
        _ if is_unrecorded(head.content.row(step)) => format!("{who} {compares}."),
        Some((row, weight)) if weight >= THERE => {
            format!("{who} {compares}: row {row} matches.")
        }
        _ => format!("{who} {compares}: no row stands out."),
    }
}

fn gate(who: &str, head: &HeadTrace, step: usize) -> String {
    let gate = head.gate[step];
    if !gate.is_finite() {
        return format!("{who} mixes content and previous weighting.");
    }
    let kept = 1.0 - gate;
    if gate >= NEARLY {
        format!("{who} uses the content weighting ({}).", percent(gate))
    } else if kept >= NEARLY {
        format!(
            "{who} ignores content, keeps its previous weighting ({}).",
            percent(kept)
        )
    } else {
        format!(
            "{who} mixes: {} content, {} previous weighting.",
            percent(gate),
            percent(kept)
        )
    }
}

fn shift(who: &str, head: &HeadTrace, step: usize) -> String {
    let Some(Moved { by, to, weight, .. }) = moved(head, step) else {
        return format!("{who} moves.");
    };
    let moves = if weight < CLEAR {
        "moves, but still covers many rows".to_owned()
    } else {
        moves(by)
    };
    format!("{who} {moves}: {} on row {to}.", percent(weight))
}

/// Returns the caption of a head for a whole step.
fn whole_step(seen: &Catalogue<'_>, (index, head): (usize, &HeadTrace)) -> String {
    let (step, trace) = (seen.moment.0, &seen.recording.trace);
    let who = called(trace, index);
    let Some((row, weight)) =
        peak(head.weighting.row(step)).filter(|(_, weight)| weight.is_finite())
    else {
        return format!("{who} attends to the memory.");
    };
    let many = weight < THERE;
    let most = numbers::cell(weight);
    match (head.is_write(), many) {
        (true, true) => {
            format!("{who} writes a little into many rows, mostly row {row} ({most}).")
        }
        (false, true) => format!("{who} reads a mixture of many rows, mostly row {row} ({most})."),
        (true, false) if adds(head, step, weight) || fades(trace, head, step) => {
            format!("{who} writes into row {row}.")
        }
        (true, false) => format!("{who} stays on row {row}; the write is negligible."),
        (false, false) => format!("{who} reads row {row}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;
    use crate::figure::{Figure, Layout, Options};
    use crate::model::attention::Score;
    use crate::train::Recording;

    /// Returns the caption of a write head at a stage of step 4.
    fn describe(recording: &Recording, stage: Stage) -> String {
        let trace = &recording.trace;
        let head = trace.heads.iter().position(HeadTrace::is_write);
        let stages = crate::figure::Stages::of(trace, false);
        let options = Options {
            step: Some(4),
            stage: stages.place(stage, None),
            ..Options::new(Layout::CloseUp)
        };
        let figure = Figure::new(recording, options);
        sentence(&figure.catalogue(), head).text
    }

    #[test]
    fn erase_caption_requires_content() {
        let mut recording = recording();
        let write = recording.trace.heads.iter().position(HeadTrace::is_write);
        let head = &mut recording.trace.heads[write.unwrap()];
        head.weighting.row_mut(4).fill(0.0);
        head.weighting.row_mut(4)[7] = 1.0;
        head.erase.row_mut(4).fill(1.0);
        recording.trace.memory_columns.row_mut(4).fill(1e-6);
        assert!(describe(&recording, Stage::Erase).ends_with("erases almost nothing."));
        recording.trace.memory_columns.row_mut(4).fill(0.5);
        assert!(describe(&recording, Stage::Erase).ends_with("erases the content of row 7."));
    }

    #[test]
    fn location_scores_have_no_comparison_caption() {
        let mut recording = recording();
        assert!(describe(&recording, Stage::Content).contains("compares its key"));
        for head in &mut recording.trace.heads {
            head.mechanism.score = Score::Location;
        }
        let description = describe(&recording, Stage::Content);
        assert!(
            description.contains("by position, ignoring contents"),
            "{description}"
        );
    }
}
