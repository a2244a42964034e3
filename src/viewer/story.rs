//! The current step in words: the status line, the alternative text of the pictures, what tests read.

use super::numbers;
use super::session::Open;
use crate::figure;
pub use crate::figure::{entropy, offset, peak};
use crate::model::HeadTrace;
use crate::player::{Player, Stage};
use crate::train::{Recording, is_absent, is_unrecorded};

/// `R0`, `R1`, …, `W0`, …: the label of a head on screen.
pub fn head_label(recording: &Recording, head: usize) -> String {
    figure::head_label(&recording.trace, head)
}

/// The name of the phase at a step.
pub fn phase_at(recording: &Recording, step: usize) -> &str {
    recording
        .episode
        .phases
        .iter()
        .find(|phase| (phase.start..phase.end).contains(&step))
        .map_or("", |phase| &phase.name)
}

/// Where the shift of a step mostly moves the focus, and with how much weight.
pub fn main_shift(head: &HeadTrace<f32>, step: usize) -> Option<(isize, f32)> {
    let shift = head.shift.row(step);
    let range = shift.len() / 2;
    peak(shift).map(|(index, mass)| (offset(index, range), mass))
}

/// By how many rows a shift can move the focus; without limit where no shift was recorded.
pub fn reach(head: &HeadTrace<f32>) -> usize {
    match head.shift.as_slice().first() {
        Some(&first) if is_absent(first) => usize::MAX,
        _ => head.shift.width() / 2,
    }
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
pub fn status(open: &Open, player: &Player, focus: usize) -> String {
    let recording = &open.shown.recording;
    let (step, stage) = (player.step(), player.stage());
    let steps = recording.trace.steps();
    if step >= steps {
        return "no steps".to_owned();
    }
    let last = steps - 1;
    let mut place = vec![if step == last {
        format!("step {step} (last)")
    } else {
        format!("step {step}, last {last}")
    }];
    let phase = phase_at(recording, step);
    if !phase.is_empty() {
        place.push(format!("{phase} phase"));
    }
    if stage != Stage::Output {
        place.push(format!(
            "stage {} of {}: {}",
            player.stage_number(),
            player.stages().len(),
            stage.name()
        ));
    }
    let heads = recording.trace.heads.len();
    let told = in_order(open).into_iter();
    let told = told.filter(|&head| head == focus || heads <= 4);
    let parts: Vec<_> = std::iter::once(place.join(", "))
        .chain(told.filter_map(|head| deed(recording, step, head)))
        .chain((heads == 0).then(|| state(recording, step)))
        .collect();
    parts.join("; ")
}

/// The heads in the order in which they get at the memory.
fn in_order(open: &Open) -> Vec<usize> {
    let heads = &open.shown.recording.trace.heads;
    let first = |write: bool| (0..heads.len()).filter(move |&head| heads[head].is_write() == write);
    let writes_first = open.writes_first();
    first(writes_first).chain(first(!writes_first)).collect()
}

/// The most excited unit of every layer of a machine without heads.
fn state(recording: &Recording, step: usize) -> String {
    let layers = recording.trace.layers.iter().enumerate();
    let most = layers.filter_map(|(index, layer)| {
        let (symbol, values) = if layer.cell.width() > 0 {
            ("c", &layer.cell)
        } else {
            ("h", &layer.hidden)
        };
        let strong = values.row(step).iter().map(|value| value.abs());
        let (unit, _) = peak(&strong.collect::<Vec<_>>())?;
        let value = numbers::short(values.row(step)[unit], 2);
        Some(format!(
            "layer {index}: strongest {symbol} {value} in unit {unit}"
        ))
    });
    most.collect::<Vec<_>>().join("; ")
}

/// The unit of a layer whose memory changed most in a step, with the value before and after.
fn most_changed(recording: &Recording, step: usize) -> Option<(usize, usize, f32, f32)> {
    let before = step.checked_sub(1)?;
    let layers = recording.trace.layers.iter().enumerate();
    let changes = layers.flat_map(|(index, layer)| {
        let cell = if layer.cell.width() > 0 {
            &layer.cell
        } else {
            &layer.hidden
        };
        let pairs = cell.row(before).iter().zip(cell.row(step)).enumerate();
        pairs.map(move |(unit, (&from, &to))| (index, unit, from, to))
    });
    let size = |change: &(usize, usize, f32, f32)| (change.3 - change.2).abs();
    changes.reduce(|most, next| {
        if size(&next) > size(&most) {
            next
        } else {
            most
        }
    })
}

/// What a machine without heads does in a step.
fn without_heads(recording: &Recording, step: usize) -> String {
    let changed = match most_changed(recording, step) {
        None => {
            "The network sees its first input; all it will remember is in its units.".to_owned()
        }
        Some((layer, unit, from, to)) => format!(
            "All that is remembered is in the units. Unit {unit} of layer {layer} changes most: {} to {}.",
            numbers::short(from, 2),
            numbers::short(to, 2)
        ),
    };
    if recording
        .episode
        .mask
        .get(step)
        .is_some_and(|&mask| mask > 0.0)
    {
        format!("{changed} {}", output_caption(recording, step))
    } else {
        changed
    }
}

/// What one head does in a step.
fn deed(recording: &Recording, step: usize, index: usize) -> Option<String> {
    let head = &recording.trace.heads[index];
    let label = head_label(recording, index);
    let verb = if head.is_write() { "writes" } else { "reads" };
    let (row, weight) = peak(head.weighting.row(step))?;
    let weight = numbers::short(weight, 2);
    let shift =
        main_shift(head, step).map_or(String::new(), |(by, _)| format!(", shift {}", signed(by)));
    Some(format!("{label} {verb} at {row}, weight {weight}{shift}"))
}

/// What the heads do in a step, the one looked at with its reasons: that one first, unless others write
/// what it then reads.
pub fn whole_step(open: &Open, step: usize, focus: usize) -> String {
    let recording = &open.shown.recording;
    if recording.trace.heads.is_empty() {
        return without_heads(recording, step);
    }
    let order = in_order(open);
    let others = order.iter().copied().filter(|&head| head != focus).take(2);
    let mut told: Vec<_> = std::iter::once(focus).chain(others).collect();
    if open.writes_first() {
        told.sort_by_key(|head| order.iter().position(|other| other == head));
    }
    let sentences = told.into_iter().filter_map(|index| {
        let head = recording.trace.heads.get(index)?;
        let label = head_label(recording, index);
        let what = doing(recording, step, head)?;
        Some(
            match (index == focus).then(|| reason(head, step)).flatten() {
                Some(why) => format!("{label} {what}: {why}."),
                None => format!("{label} {what}."),
            },
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Below this weight of its heaviest row a weighting is not on any one row.
const SPREAD: f32 = 0.5;
/// A row whose values change by less than this is as good as unchanged.
const HARDLY: f32 = 0.05;

fn doing(recording: &Recording, step: usize, head: &HeadTrace<f32>) -> Option<String> {
    let weighting = head.weighting.row(step);
    if is_absent(weighting[0]) {
        return None;
    }
    if weighting.iter().any(|weight| !weight.is_finite()) {
        return Some("has weights that are not finite".to_owned());
    }
    let (row, weight) = peak(weighting)?;
    let write = head.is_write();
    if weight < SPREAD {
        let verb = if write { "writes to" } else { "reads from" };
        let share = percent(weight);
        return Some(format!(
            "{verb} many rows at once, most ({share}) at row {row}"
        ));
    }
    if !write {
        return Some(format!("reads row {row}"));
    }
    let rows = weighting.len();
    let (before, after) = (
        recording.trace.memory_columns.row(step),
        recording.trace.memory_columns.row(step + 1),
    );
    let of_row = (row..before.len()).step_by(rows);
    if is_absent(after[row]) || is_absent(before[row]) {
        return Some(format!("writes at row {row}"));
    }
    let change = of_row.map(|at| (after[at] - before[at]).abs());
    Some(if change.fold(0.0, f32::max) < HARDLY {
        format!("stands on row {row} and changes next to nothing")
    } else {
        format!("writes to row {row}")
    })
}

/// How a head came to its row, from gate, shift and the heaviest rows of its stages.
fn reason(head: &HeadTrace<f32>, step: usize) -> Option<String> {
    let weighting = head.weighting.row(step);
    let (row, weight) = peak(weighting)?;
    let gate = head.gate[step];
    if weight < SPREAD || !gate.is_finite() {
        return None;
    }
    let (by, _) = main_shift(head, step)?;
    let by_content = gate >= 0.5;
    let from = if by_content {
        head.content.row(step)
    } else {
        head.previous_weighting(step)
    };
    let (start, held) = peak(from)?;
    let share = percent(if by_content { gate } else { 1.0 - gate });
    let rows = weighting.len();
    let lands = (start + rows).checked_add_signed(by).map(|to| to % rows);
    if lands != Some(row) || held < SPREAD {
        let content = percent(gate);
        return Some(format!(
            "content ({content}) and the step before, shifted and sharpened, gather there"
        ));
    }
    let moves = match by {
        0 => None,
        1 => Some("moves on by one".to_owned()),
        -1 => Some("moves back by one".to_owned()),
        by => Some(format!("moves by {}", signed(by))),
    };
    Some(match (by_content, moves) {
        (true, None) => format!("it jumps by content to row {row} ({share})"),
        (true, Some(moves)) => format!("it jumps by content to row {start} ({share}) and {moves}"),
        (false, None) => format!("it stays on the row of the step before ({share})"),
        (false, Some(moves)) => {
            format!("it takes the row of the step before ({share}) and {moves}")
        }
    })
}

fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}

/// What happens in a stage, in one or two sentences, for the head looked at.
pub fn caption(open: &Open, step: usize, stage: Stage, focus: usize) -> String {
    let recording = &open.shown.recording;
    match stage {
        Stage::Controller if recording.trace.heads.is_empty() => {
            "The network sees the input and its own last state.".to_owned()
        }
        Stage::Read => each_head(recording, step, false, "reads row"),
        Stage::Erase => each_head(recording, step, true, "erases from row"),
        Stage::Add => each_head(recording, step, true, "adds to row"),
        Stage::Output => output_caption(recording, step),
        stage => {
            let heads = 0..recording.trace.heads.len();
            let mut heads = std::iter::once(focus).chain(heads);
            let acts = |&head: &usize| open.stage_of(head, stage.of_any_head()) == stage;
            // What the other heads do comes at another time.
            let told = heads.find(acts).and_then(|head| {
                let words = of_head(recording, step, stage.of_any_head(), head)?;
                let apart = open.writes_first() && stage != Stage::Controller;
                let label = head_label(recording, head);
                Some(if apart {
                    format!("{label}: {words}")
                } else {
                    words
                })
            });
            told.unwrap_or_default()
        }
    }
}

/// The same of one head, while it is told what to do and addresses the memory.
fn of_head(recording: &Recording, step: usize, stage: Stage, head: usize) -> Option<String> {
    let label = head_label(recording, head);
    let head = recording.trace.heads.get(head)?;
    if is_absent(made_in(head, step, stage)) {
        return Some(format!("What {label} did in this stage was not recorded."));
    }
    let n = |value: f32| numbers::short(value, 2);
    let (beta, gate, gamma) = (
        n(head.strength[step]),
        head.gate[step],
        n(head.sharpening[step]),
    );
    let at = |weighting: &[f32]| {
        peak(weighting).map_or_else(String::new, |(row, weight)| {
            format!("{} on row {row}", n(weight))
        })
    };
    Some(match stage {
        Stage::Controller => format!(
            "The controller sees the input and the last reads. It tells {label}: key k, β {beta}, g {}, γ {gamma}.",
            n(gate)
        ),
        Stage::Content => format!(
            "The key is compared with every row. With β {beta} the most weight is {}.",
            at(head.content.row(step))
        ),
        Stage::Gate => format!(
            "{} by content, {} from the step before: {}.",
            n(gate),
            n(1.0 - gate),
            at(head.gated.row(step))
        ),
        Stage::Shift => {
            let (by, mass) = main_shift(head, step)?;
            let moves = match by {
                0 => "The focus stays".to_owned(),
                by => format!("The focus moves by {}", signed(by)),
            };
            format!(
                "{moves}, with {} of the shift: {}.",
                n(mass),
                at(head.shifted.row(step))
            )
        }
        _ => format!(
            "γ {gamma} gathers the weight: {}.",
            at(head.weighting.row(step))
        ),
    })
}

/// A value that a head makes in this stage; any number where it makes none.
fn made_in(head: &HeadTrace<f32>, step: usize, stage: Stage) -> f32 {
    match stage.of_any_head() {
        Stage::Controller => head.strength[step],
        Stage::Content => head.content.row(step)[0],
        Stage::Gate => head.gated.row(step)[0],
        Stage::Shift => head.shifted.row(step)[0],
        Stage::Sharpen => head.weighting.row(step)[0],
        _ => 0.0,
    }
}

fn each_head(recording: &Recording, step: usize, write: bool, verb: &str) -> String {
    let heads = recording.trace.heads.iter().enumerate();
    let sentences = heads
        .filter(|(_, head)| head.is_write() == write)
        .filter_map(|(index, head)| {
            let (row, weight) = peak(head.weighting.row(step))?;
            let (label, weight) = (head_label(recording, index), numbers::short(weight, 2));
            Some(format!("{label} {verb} {row}, weight {weight}."))
        });
    sentences.take(3).collect::<Vec<_>>().join(" ")
}

fn output_caption(recording: &Recording, step: usize) -> String {
    let from = if recording.trace.heads.is_empty() {
        "the hidden state"
    } else {
        "the controller and the reads"
    };
    if recording
        .episode
        .mask
        .get(step)
        .is_none_or(|&mask| mask <= 0.0)
    {
        return format!("The output is made from {from}. Nothing is asked in this step.");
    }
    let bits = recording.trace.output.width();
    let right = bits - recording.wrong_bits(step);
    format!("The output is made from {from}: {right} of {bits} bits right.")
}

/// A step in which something changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The step.
    pub step: usize,
    /// What happens there.
    pub words: String,
}

/// Where phases begin, where a head goes another way than in the step before, where bits are wrong.
pub fn events(recording: &Recording) -> Vec<Event> {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let mut events = Vec::new();
    for step in 0..trace.steps() {
        let mut words = Vec::new();
        if let Some(phase) = episode.phases.iter().find(|phase| phase.start == step) {
            words.push(format!("{} begins", phase.name));
        }
        let heads = trace.heads.iter().enumerate();
        words.extend(heads.filter_map(|(index, head)| {
            let (before, now) = (move_in(head, step.checked_sub(1)?)?, move_in(head, step)?);
            let label = head_label(recording, index);
            (now != before).then(|| match now {
                0 => format!("{label} stays"),
                now => format!("{label} moves by {}", signed(now)),
            })
        }));
        let wrong = recording.wrong_bits(step);
        if wrong > 0 {
            words.push(format!("wrong bits: {wrong}"));
        }
        if !words.is_empty() {
            let words = words.join(", ");
            events.push(Event { step, words });
        }
    }
    events
}

/// A stretch of steps in which a head moves alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first step.
    pub start: usize,
    /// The step after its last.
    pub end: usize,
    /// By how many rows the peak moves in every step; nothing while the weight is on many rows.
    pub by: Option<isize>,
}

impl Stretch {
    /// In words: `+1 ×20`, `stays ×3`, `jumps +27`, `many rows ×2`.
    pub fn words(&self, range: usize) -> String {
        let count = self.end - self.start;
        let what = match self.by {
            None => "many rows".to_owned(),
            Some(0) => "stays".to_owned(),
            Some(by) if by.unsigned_abs() > range => format!("jumps {}", signed(by)),
            Some(by) => signed(by),
        };
        match count {
            1 => what,
            n => format!("{what} ×{n}"),
        }
    }
}

/// How a head moves through the episode.
pub fn stretches(head: &HeadTrace<f32>, steps: usize) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for step in 0..steps {
        let by = move_in(head, step);
        match stretches.last_mut() {
            Some(last) if last.by == by => last.end = step + 1,
            _ => stretches.push(Stretch {
                start: step,
                end: step + 1,
                by,
            }),
        }
    }
    stretches
}

/// By how many rows the peak of a head moves in a step, the shorter way round.
fn move_in(head: &HeadTrace<f32>, step: usize) -> Option<isize> {
    let (from, held) = peak(head.previous_weighting(step))?;
    let (to, weight) = peak(head.weighting.row(step))?;
    if held < SPREAD || weight < SPREAD {
        return None;
    }
    let rows = head.initial.width();
    let ahead = (to + rows - from) % rows;
    Some(if 2 * ahead <= rows {
        ahead.cast_signed()
    } else {
        ahead.cast_signed() - rows.cast_signed()
    })
}

/// How many values are not finite.
pub fn not_finite(count: usize) -> String {
    match count {
        1 => "1 value is not finite".to_owned(),
        n => format!("{n} values are not finite"),
    }
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

/// How much of the answer was unexpected.
pub fn loss(recording: &Recording) -> String {
    if is_unrecorded(&recording.loss) {
        return "cross-entropy not recorded".to_owned();
    }
    let bits = numbers::short(recording.score.bits as f32, 3);
    format!("cross-entropy {bits} bits")
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
    let phases = &recording.episode.phases;
    let named = phases
        .iter()
        .find(|phase| !text.is_empty() && phase.name.starts_with(&text));
    named.map(|phase| phase.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, NtmConfig};
    use crate::task::Task;
    use crate::train::{ABSENT, Recording};

    /// Without a shift nobody knows how far a move could reach: none is called a jump.
    #[test]
    fn moves_are_jumps_only_where_the_reach_of_a_shift_is_known() {
        let task = Task::Copy(crate::task::Copy {
            bits: 2,
            length: 3..=3,
        });
        let config = NtmConfig::new(task.inputs(), task.outputs());
        let mut recording = Recording::new(&Model::new(config, 1), &task, 1, 0);
        let far = Stretch {
            start: 0,
            end: 2,
            by: Some(5),
        };
        let head = &mut recording.trace.heads[0];
        assert_eq!(far.words(reach(head)), "jumps +5 ×2");
        head.shift.as_mut_slice().fill(ABSENT);
        assert_eq!(far.words(reach(head)), "+5 ×2");
    }
}
