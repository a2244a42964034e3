//! Causes of wrong answers, measured from the first wrong bit of a recording, for tasks that output the vectors that
//! they were shown.

use std::ops::Range;

use crate::analysis::lesion::Lesion;
use crate::analysis::repair::Repair;
use crate::figure::facts::numbers::percent;
use crate::figure::facts::thresholds::{LOST, ON_ROW};
use crate::figure::head_label;
use crate::math::Answer;
use crate::model::sam::{RECORDED_ROWS, row_number};
use crate::model::{HeadTrace, Place, Trace, array, peak};
use crate::train::Recording;

/// The number of repairs that are described.
const DESCRIBED: usize = 3;

/// The wrong bits of an answer, by step and channel.
pub fn all_wrong(recording: &Recording) -> impl Iterator<Item = (usize, usize)> {
    let channels = recording.trace.output.width();
    let steps = 0..recording.trace.steps();
    let bits = steps.flat_map(move |step| (0..channels).map(move |channel| (step, channel)));
    bits.filter(|&(step, channel)| recording.is_wrong(step, channel))
}

/// The first wrong bit of an answer.
pub fn first_wrong(recording: &Recording) -> Option<(usize, usize)> {
    all_wrong(recording).next()
}

/// The step in which the vector was shown that is asked for in a step; nothing where another thing is asked for.
pub fn shown_in(recording: &Recording, step: usize) -> Option<usize> {
    recording.task.shown_in(&recording.episode, step)
}

/// The cause of a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// The machine has no memory to read it from.
    Carried {
        /// Number of values that the network carries from step to step.
        units: usize,
        /// Number of vectors that it output right before.
        right: usize,
    },
    /// The row is read a step too late, and so are all others.
    Late {
        /// The read head that comes there then, by its place among all.
        head: usize,
        /// The row.
        row: usize,
        /// Number of wrong bits of the answer, as recorded and moved by a step.
        wrong: [usize; 2],
    },
    /// Another vector was written to the row.
    WrittenOver {
        /// The write head.
        head: usize,
        /// The row.
        row: usize,
        /// The step in which it was there once more.
        again: usize,
        /// The share of the previous content left at that time, 0 to 1.
        left: f32,
    },
    /// Many small writes to all rows have worn the row away.
    WornAway {
        /// The write head.
        head: usize,
        /// The row.
        row: usize,
        /// The largest weight that it had there since.
        most: f32,
        /// All its weights there since, added up.
        sum: f32,
        /// The share of the write that is left, 0 to 1.
        left: f32,
    },
}

impl Cause {
    /// Returns the cause of a wrong answer in a step, where the recording shows one.
    pub fn of(recording: &Recording, step: usize) -> Option<Self> {
        let (trace, shown) = (&recording.trace, shown_in(recording, step)?);
        if trace.heads.is_empty() {
            let units = trace.layers.iter().map(|layer| layer.hidden.width());
            let right = step - recording.episode.first_scored()?;
            // A machine file may keep its vectors in a memory or in quantities of its own.
            let has_memory = trace.array_sizes(array::MEMORY).is_some();
            let units = Some(units.sum()).filter(|units| *units > 0 && !has_memory);
            return units.map(|units| Self::Carried { units, right });
        }
        let writers = trace.heads.iter().enumerate();
        let (head, writer) = writers.clone().find(|(_, head)| head.is_write())?;
        let (row, _) = peak(writer.weighting.row(shown)).filter(|&(_, weight)| weight > ON_ROW)?;
        let since = shown + 1..step;
        if let Some(late) = late(recording, step, row) {
            return Some(late);
        }
        let mut returns = since.clone();
        if let Some(again) = returns.find(|&step| writer.weighting.row(step)[row] > ON_ROW) {
            return Some(Self::WrittenOver {
                head,
                row,
                again,
                left: share_left(writer, again..again + 1, row),
            });
        }
        worn_away(writer, since, (head, row))
    }

    /// The head that it is about.
    pub fn head(self) -> Option<usize> {
        match self {
            Self::Carried { .. } => None,
            Self::Late { head, .. }
            | Self::WrittenOver { head, .. }
            | Self::WornAway { head, .. } => Some(head),
        }
    }
}

fn late(recording: &Recording, step: usize, row: usize) -> Option<Cause> {
    let trace = &recording.trace;
    let is_on = |step: usize| {
        let mut readers = trace.heads.iter().enumerate();
        let there = |head: &HeadTrace| !head.is_write() && head.weighting.row(step)[row] > ON_ROW;
        readers.find(|(_, head)| there(head)).map(|(head, _)| head)
    };
    if step + 1 >= trace.steps() || is_on(step).is_some() {
        return None;
    }
    let head = is_on(step + 1)?;
    let wrong = [0, 1].map(|by| wrong_moved(recording, by));
    (2 * wrong[1] < wrong[0]).then_some(Cause::Late { head, row, wrong })
}

/// Counts bits of the answer that differ from the target a number of steps before.
fn wrong_moved(recording: &Recording, by: usize) -> usize {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let is_scored = |step| episode.is_scored(step);
    let asked = (by..trace.steps()).filter(|&step| is_scored(step) && is_scored(step - by));
    let differ = |step: usize| {
        let bits = trace.output.row(step).iter().map(|bit| *bit > 0.5);
        let target = episode.target.row(step - by);
        let differ = bits.zip(target).map(|(bit, target)| bit != (*target > 0.5));
        differ.filter(|differ| *differ).count()
    };
    asked.map(differ).sum()
}

/// The share of a row's content that a head leaves in these steps, 0 to 1: on average over its columns
/// Π(1 − w·e) (Graves et al. 2014, equation 3); all of it where the head erases nothing.
fn share_left(writer: &HeadTrace, steps: Range<usize>, row: usize) -> f32 {
    let columns = writer.erase.width();
    if columns == 0 {
        return 1.0;
    }
    let kept = |column: usize| {
        let kept = |step| 1.0 - writer.weighting.row(step)[row] * writer.erase.row(step)[column];
        steps.clone().map(kept).product::<f32>()
    };
    (0..columns).map(kept).sum::<f32>() / columns as f32
}

fn worn_away(writer: &HeadTrace, since: Range<usize>, at: (usize, usize)) -> Option<Cause> {
    let (head, row) = at;
    let weights = since.clone().map(|step| writer.weighting.row(step)[row]);
    let (most, sum) = (weights.clone().fold(0.0, f32::max), weights.sum());
    let left = share_left(writer, since, row);
    (left < LOST).then_some(Cause::WornAway {
        head,
        row,
        most,
        sum,
        left,
    })
}

/// Explains why a bit is wrong; the pair is its step and channel.
pub fn describe(recording: &Recording, (step, channel): (usize, usize)) -> String {
    let is = recording.trace.output.row(step)[channel];
    let asked = recording.episode.target[[step, channel]];
    let bit = format!(
        "The first wrong bit is bit {channel} of step {step}: {is:.2} instead of {asked:.0}."
    );
    match Cause::of(recording, step).zip(shown_in(recording, step)) {
        Some((cause, from)) => format!("{bit} {}", because(cause, recording, [from, step])),
        None => bit,
    }
}

/// The name of a lesion; heads have the names that they have in pictures.
pub fn lesion_name(lesion: &Lesion, trace: &Trace<f32>) -> String {
    let mut heads = 0..trace.heads.len();
    let head = heads.find(|&head| trace.head_name(head) == lesion.part);
    let part = head.map_or_else(|| lesion.part.clone(), |head| head_label(trace, head));
    format!("{part} {}", lesion.what).trim().to_owned()
}

/// Explains a failing episode: its first wrong bit, and the best repairs, which come first.
pub fn explain(recording: &Recording, repairs: &[Repair]) -> Vec<String> {
    let (before, unit) = (recording.score.wrong, recording.episode.answer.unit());
    let are_bits = recording.episode.answer == Answer::Bits;
    let first = first_wrong(recording).filter(|_| are_bits);
    let mut lines: Vec<String> = first
        .into_iter()
        .map(|at| describe(recording, at))
        .collect();
    let best = repairs
        .iter()
        .take(DESCRIBED)
        .filter(|repair| repair.explains());
    lines.extend(best.map(|repair| {
        let (name, left) = (lesion_name(&repair.lesion, &recording.trace), repair.wrong);
        format!("{name}: {left} of {before} wrong {unit} are left.")
    }));
    if !repairs.first().is_some_and(Repair::explains) {
        lines.push("No single part explains it.".to_owned());
    }
    lines
}

fn because(cause: Cause, recording: &Recording, [from, step]: [usize; 2]) -> String {
    let (trace, size) = (&recording.trace, recording.episode.size);
    let name = |head| head_label(trace, head);
    let number = |row| row_number(trace, row);
    let vector = format!("The target vector was shown in step {from}");
    match cause {
        Cause::Carried { units, right } => format!(
            "{vector}. There is no memory row to read: the network keeps all {size} vectors in {units} units, and \
             every step changes them. {right} vectors came out right, this one does not."
        ),
        Cause::Late { head, row, wrong } => format!(
            "The target vector is in row {}. {} reaches it in step {}, one step late, and stays late: moved \
             back by one step, {} bits would be wrong instead of {}.",
            number(row),
            name(head),
            step + 1,
            wrong[1],
            wrong[0]
        ),
        Cause::WrittenOver {
            head,
            row,
            again,
            left,
        } => {
            let rows = trace.memory_size()[0];
            let is_whole = trace.series(Place::Machine, RECORDED_ROWS).is_none();
            let why = || format!(": {rows} rows cannot hold {size} vectors");
            let why = (is_whole && size > rows).then(why).unwrap_or_default();
            let over = if left < ON_ROW {
                "overwrote it"
            } else {
                "added another vector, so the row holds a mixture of both"
            };
            let (head, row) = (name(head), number(row));
            format!(
                "{vector}, and {head} wrote it to row {row}. In step {again} it returned to row {row} and {over}{why}."
            )
        }
        Cause::WornAway {
            head,
            row,
            most,
            sum,
            left,
        } => format!(
            "{vector}, and {head} wrote it to row {row}. {head} never returned to that row, but writes a little to all \
             rows in every step of the answer: to this row at most {} of a write at a time, {sum:.1} writes in \
             total. {} of the vector is left.",
            percent(most),
            percent(left),
            head = name(head),
            row = number(row)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Switch;
    use crate::model::{EquationsConfig, Model, NtmConfig, Trace};
    use crate::task::{Copy, Task};

    #[test]
    fn a_file_with_a_memory_or_without_layers_has_no_cause() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        for file in ["mlstm", "titans", "hopfield", "fast_weights"] {
            let channels = [task.inputs(), task.outputs()];
            let config = EquationsConfig::included(file, channels, &[]).unwrap();
            let recording = Recording::new(&Model::new(config, 1), &task, 1, 0);
            let steps = 0..recording.trace.steps();
            let causes = steps.filter_map(|step| Cause::of(&recording, step));
            assert_eq!(causes.count(), 0, "{file}");
        }
    }

    #[test]
    fn head_without_erase_keeps_row() {
        for (erase, expected) in [(Switch::On, 0.125), (Switch::Off, 1.0)] {
            let mut config = NtmConfig::new(1, 1);
            config.attention.erase = erase.into();
            let mut trace = Trace::new(&config);
            trace.resize(4);
            let writer = &mut trace.heads[1];
            writer.weighting.as_mut_slice().fill(0.5);
            writer.erase.as_mut_slice().fill(1.0);
            assert_eq!(share_left(writer, 1..4, 3), expected);
            let is_worn = worn_away(writer, 1..4, (1, 3)).is_some();
            assert_eq!(is_worn, expected < LOST);
        }
    }
}
