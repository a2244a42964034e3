//! The current step as text: for the status line, the alternative text of the pictures, and tests.

pub mod comparison;
pub mod failure;
mod mechanism;
pub mod training_charts;

use super::state::episode::Open;
pub use mechanism::{UNCERTAIN, about, attends_otherwise, mechanism, otherwise, sampling};

use crate::figure::facts::equations::InStep;
use crate::figure::facts::events::SPREAD;
use crate::figure::facts::stages::{Stage, StageRef, columns_of};
pub use crate::figure::facts::stages::{main_shift, moved, moves};
pub use crate::figure::signed;
use crate::figure::{self, facts::numbers};
pub use crate::figure::{entropy, offset, peak};
use crate::math::Series;
use crate::model::{HeadTrace, LayerTrace, NoiseMode};
use crate::player::Player;
use crate::train::{Recording, is_absent, is_unrecorded};

/// `R0`, `R1`, …, `W0`, …: the label of a head on screen.
pub fn head_label(recording: &Recording, head: usize) -> String {
    figure::head_label(&recording.trace, head)
}

/// The name of the phase at a step.
pub fn phase_at(recording: &Recording, step: usize) -> &str {
    let mut phases = recording.episode.phases.iter();
    let phase = phases.find(|phase| (phase.start..phase.end).contains(&step));
    phase.map_or("", |phase| &phase.name)
}

/// Returns one line on the current step and the action of the heads.
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
        format!("step {step} of 0–{last}")
    }];
    let phase = phase_at(recording, step);
    if !phase.is_empty() {
        place.push(format!("{phase} phase"));
    }
    if stage + 1 < player.stages() {
        let (count, name) = (player.stages(), open.stages.at(stage).name());
        place.push(format!("stage {} of {count}: {name}", stage + 1));
    }
    let heads = recording.trace.heads.len();
    let description = in_order(open).into_iter();
    let description = description.filter(|&head| head == focus || heads <= 4);
    let parts: Vec<_> = std::iter::once(place.join(", "))
        .chain(description.filter_map(|head| narrate_head(recording, step, head)))
        .chain((heads == 0).then(|| narrate_state(recording, step)))
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

/// Returns the memory of a layer: its cells, or its hidden state without cells.
fn remembered(layer: &LayerTrace<f32>) -> (&'static str, &Series<f32>) {
    if layer.cell.width() > 0 {
        ("c", &layer.cell)
    } else {
        ("h", &layer.hidden)
    }
}

/// The most excited unit of every layer of a machine without heads.
fn narrate_state(recording: &Recording, step: usize) -> String {
    let layers = recording.trace.layers.iter().enumerate();
    let most = layers.filter_map(|(index, layer)| {
        let (symbol, values) = remembered(layer);
        let strong = values.row(step).iter().map(|value| value.abs());
        let (unit, _) = peak(&strong.collect::<Vec<_>>())?;
        let value = numbers::short(values.row(step)[unit], 2);
        Some(format!(
            "layer {index}: strongest {symbol} {value} in unit {unit}"
        ))
    });
    most.collect::<Vec<_>>().join("; ")
}

/// The layer and the unit whose memory changed most in a step, with the value before and after.
fn most_changed(recording: &Recording, step: usize) -> Option<(usize, usize, [f32; 2])> {
    let before = step.checked_sub(1)?;
    let layers = recording.trace.layers.iter().enumerate();
    let changes = layers.flat_map(|(index, layer)| {
        let (_, values) = remembered(layer);
        let pairs = values.row(before).iter().zip(values.row(step)).enumerate();
        pairs.map(move |(unit, (&from, &to))| (index, unit, [from, to]))
    });
    let size = |(_, _, [from, to]): &(usize, usize, [f32; 2])| (to - from).abs();
    changes.reduce(|most, next| {
        if size(&next) > size(&most) {
            next
        } else {
            most
        }
    })
}

/// Describes a step of a machine without heads.
fn narrate_units(recording: &Recording, step: usize) -> String {
    let changed = match most_changed(recording, step) {
        None => "The network sees its first input. Its units are its only memory.".to_owned(),
        Some((layer, unit, values)) => {
            let [from, to] = values.map(|value| numbers::short(value, 2));
            format!(
                "The units are the only memory. Unit {unit} of layer {layer} changes most: {from} to {to}."
            )
        }
    };
    if recording.episode.is_scored(step) {
        format!("{changed} {}", output_caption(recording, step))
    } else {
        changed
    }
}

/// Describes a step of one head.
fn narrate_head(recording: &Recording, step: usize, index: usize) -> Option<String> {
    let head = &recording.trace.heads[index];
    let label = head_label(recording, index);
    let verb = if head.is_write() { "writes" } else { "reads" };
    let (row, weight) = peak(head.weighting.row(step))?;
    let weight = numbers::short(weight, 2);
    let shift =
        main_shift(head, step).map_or(String::new(), |(by, _)| format!(", shift {}", signed(by)));
    Some(format!("{label} {verb} at {row}, weight {weight}{shift}"))
}

/// Describes a step of the heads, with reasons for the selected head: that one first, unless others write
/// what it then reads.
pub fn narrate_step(open: &Open, step: usize, focus: usize) -> String {
    let recording = &open.shown.recording;
    if recording.trace.heads.is_empty() {
        return narrate_units(recording, step);
    }
    let order = in_order(open);
    let others = order.iter().copied().filter(|&head| head != focus).take(2);
    let mut description: Vec<_> = std::iter::once(focus).chain(others).collect();
    if open.writes_first() {
        description.sort_by_key(|head| order.iter().position(|other| other == head));
    }
    let sentences = description.into_iter().filter_map(|index| {
        let head = recording.trace.heads.get(index)?;
        let label = head_label(recording, index);
        let what = narrate_change(recording, step, head)?;
        let why = (index == focus).then(|| reason(head, step)).flatten();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        Some(format!("{label} {what}{why}."))
    });
    let head = recording.trace.heads.get(focus);
    let random = head.is_some_and(|head| head.mechanism.weighting.is_random());
    let said = sampling(&recording.trace).filter(|_| random);
    let said = said.map(|said| {
        let draw = recording
            .origin
            .filter(|_| recording.trace.sampling == NoiseMode::Sampled);
        let draw = draw.map_or_else(String::new, |draw| format!(", sample {}", draw.sample));
        format!("Episode: {said}{draw}.")
    });
    sentences.chain(said).collect::<Vec<_>>().join(" ")
}

/// A row whose values change by less than this is as good as unchanged.
const HARDLY: f32 = 0.05;

fn narrate_change(recording: &Recording, step: usize, head: &HeadTrace<f32>) -> Option<String> {
    let weighting = head.weighting.row(step);
    if is_absent(*weighting.first()?) {
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
    let memory = |t: usize| recording.trace.memory_columns.row(t);
    let (before, after) = (memory(step), memory(step + 1));
    let of_row = (row..before.len()).step_by(rows);
    if is_absent(after[row]) || is_absent(before[row]) {
        return Some(format!("writes to row {row}"));
    }
    let change = of_row.map(|at| (after[at] - before[at]).abs());
    Some(if change.fold(0.0, f32::max) < HARDLY {
        format!("is on row {row}; the write is negligible")
    } else {
        format!("writes to row {row}")
    })
}

/// A source with less than this share of the weight of a row does not explain it.
const MOST: f32 = 0.6;

/// Returns the weight that the shift brings from a weighting to a row; where most of it comes from: the weight of that
/// row, the row, and the offset to it.
fn brought(
    head: &HeadTrace<f32>,
    step: usize,
    from: &[f32],
    row: usize,
) -> (f32, f32, usize, isize) {
    let shift = match head.shift.row(step) {
        [] => &[1.0],
        shift => shift,
    };
    let terms = shift.iter().enumerate().map(|(index, share)| {
        let by = offset(index, shift.len() / 2);
        let start = (row.cast_signed() - by)
            .rem_euclid(from.len().cast_signed())
            .cast_unsigned();
        (share * from[start], from[start], start, by)
    });
    let sum = terms.clone().map(|term| term.0).sum();
    let most = terms.max_by(|a, b| a.0.total_cmp(&b.0));
    most.map_or((sum, 0.0, row, 0), |(_, held, start, by)| {
        (sum, held, start, by)
    })
}

/// Explains the row of a head from gate, shift and the heaviest rows of its stages.
fn reason(head: &HeadTrace<f32>, step: usize) -> Option<String> {
    let weighting = head.weighting.row(step);
    let (row, weight) = peak(weighting)?;
    let has_gate = head.gate.width() > 0;
    let gate = if has_gate {
        *head.gate.as_slice().get(step)?
    } else {
        1.0
    };
    if weight < SPREAD || !gate.is_finite() || head.content.width() == 0 {
        return None;
    }
    let brought = [head.content.row(step), head.previous_weighting(step)]
        .map(|from| brought(head, step, from, row));
    let kept = if has_gate {
        (1.0 - gate) * brought[1].0
    } else {
        0.0
    };
    let parts = [gate * brought[0].0, kept];
    let by_content = parts[0] >= parts[1];
    let share = parts[usize::from(!by_content)] / (parts[0] + parts[1]);
    let (_, held, start, by) = brought[usize::from(!by_content)];
    if !share.is_finite() {
        return None;
    }
    if head.distribution.width() > 0 && held < SPREAD {
        let chance = percent(head.distribution.row(step)[row]);
        return Some(format!("probability {chance}"));
    }
    if !has_gate && held < SPREAD {
        return Some("most content weight is there".to_owned());
    }
    if share < MOST {
        let content = percent(parts[0] / (parts[0] + parts[1]));
        return Some(format!(
            "content ({content}) and previous weighting, shifted and sharpened, peak there"
        ));
    }
    let share = percent(share);
    Some(match (by_content, by != 0) {
        (true, false) if !has_gate => format!("found by content ({})", percent(held)),
        (true, true) if !has_gate => format!("content, row {start} → {row}"),
        (true, false) => format!("{share} content"),
        (true, true) => format!("{share} content, row {start} → {row}"),
        (false, false) => format!("{share} previous weighting"),
        (false, true) => format!("{share} previous weighting, row {start} → {row}"),
    })
}

fn percent(share: f32) -> String {
    if share > 0.0 && share < 0.005 {
        return "less than 1 %".to_owned();
    }
    format!("{:.0} %", share * 100.0)
}

/// Describes a stage of the selected head in one or two sentences.
pub fn narrate_stage(open: &Open, step: usize, at: StageRef, focus: usize) -> String {
    let recording = &open.shown.recording;
    match at.stage {
        Stage::Controller if recording.trace.heads.is_empty() => {
            "The network sees the input and its own last state.".to_owned()
        }
        Stage::Read => narrate_all_heads(recording, step, at, "reads row"),
        Stage::Erase => narrate_all_heads(recording, step, at, "erases from row"),
        Stage::Add => narrate_all_heads(recording, step, at, "adds to row"),
        Stage::Output => output_caption(recording, step),
        stage => {
            let heads = 0..recording.trace.heads.len();
            let mut heads = std::iter::once(focus).chain(heads);
            let of_all = &recording.trace.heads;
            let acts = |&head: &usize| of_all.get(head).is_some_and(|head| at.has(head));
            // What the other heads do comes at another time.
            let description = heads.find(acts).and_then(|head| {
                let words = narrate_head_stage(open, step, stage, head)?;
                let apart = open.writes_first() && stage != Stage::Controller;
                let label = apart.then(|| head_label(recording, head) + ": ");
                Some(label.unwrap_or_default() + &words)
            });
            description.unwrap_or_default()
        }
    }
}

/// Describes one head, while it receives its parameters and addresses the memory.
fn narrate_head_stage(open: &Open, step: usize, stage: Stage, head: usize) -> Option<String> {
    let recording = &open.shown.recording;
    let label = head_label(recording, head);
    let of = InStep::of(&recording.trace, open.writes_first(), head, step)?;
    let head = of.head;
    if is_absent(made_in(head, step, stage)) {
        return Some(format!("This stage of {label} was not recorded."));
    }
    let n = |value: f32| numbers::short(value, 2);
    let at = |weighting: &[f32]| {
        peak(weighting).map_or_else(String::new, |(row, weight)| {
            format!("{} on row {row}", n(weight))
        })
    };
    Some(match stage {
        Stage::Controller => {
            let emitted = columns_of(head).filter_map(|column| column.emits(head));
            let description = emitted.filter_map(|emitted| {
                let value = emitted.series(head)?[step];
                Some(format!(", {} {}", emitted.symbol, n(value)))
            });
            let sees = "The controller sees the input and the last reads.";
            format!(
                "{sees} It emits for {label}: key k{}.",
                description.collect::<String>()
            )
        }
        Stage::Content => mechanism::content(&of, &at(head.content.row(step))),
        Stage::Draw => mechanism::draw(&of)?,
        Stage::Gate => format!(
            "{} content, {} previous weighting: {}.",
            n(head.gate[step]),
            n(1.0 - head.gate[step]),
            at(head.gated.row(step))
        ),
        Stage::Weigh => format!("The largest weight is {}.", at(head.weighting.row(step))),
        Stage::Shift => {
            let moves = moves(moved(head, step)?.by);
            format!("The focus {moves}: {}.", at(head.shifted.row(step)))
        }
        _ => {
            let (gamma, made) = (head.sharpening[step], columns_of(head));
            let mut made = made.filter(|column| column.stage == Stage::Sharpen);
            let made = at(made.next()?.values(head, step));
            format!("γ {} sharpens the focus: {made}.", n(gamma))
        }
    })
}

/// A value that a head makes in this stage; any number where it makes none.
fn made_in(head: &HeadTrace<f32>, step: usize, stage: Stage) -> f32 {
    let made = columns_of(head).filter_map(|column| match stage {
        Stage::Controller => Some(column.emits(head)?.series(head)?[step]),
        _ if column.stage == stage => column.values(head, step).first().copied(),
        _ => None,
    });
    made.last().unwrap_or(0.0)
}

fn narrate_all_heads(recording: &Recording, step: usize, at: StageRef, verb: &str) -> String {
    let heads = recording.trace.heads.iter().enumerate();
    let sentences = heads
        .filter(|(_, head)| at.has(head))
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
        "controller and reads"
    };
    if !recording.episode.is_scored(step) {
        return format!("Output from {from}; not scored here.");
    }
    let answer = recording.episode.answer;
    let (scored, unit) = (answer.scored(recording.trace.output.width()), answer.unit());
    let wrong = recording.wrong_bits(step);
    format!("Output from {from}: {wrong} of {scored} {unit} wrong.")
}

/// Describes the number of values that are not finite.
pub fn not_finite(count: usize) -> String {
    match count {
        1 => "1 value is not finite".to_owned(),
        n => format!("{n} values are not finite"),
    }
}

/// Describes the answer of the episode: wrong bits.
pub fn verdict(recording: &Recording) -> String {
    if recording.score.scored == 0 {
        return "no output is scored".to_owned();
    }
    recording.wrong_of_scored()
}

/// Describes the loss of the answer.
pub fn loss(recording: &Recording) -> String {
    if is_unrecorded(&recording.loss) {
        return "loss not recorded".to_owned();
    }
    let bits = numbers::short(recording.score.bits as f32, 3);
    format!("loss {bits} bits")
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
    use crate::io::weights;

    #[test]
    fn the_larger_contribution_explains_the_row() {
        let trained = weights::included("recall_four_heads").unwrap().unwrap();
        let machine = crate::viewer::files::Machine::from(trained);
        let recording = Recording::new(&machine.ntm, &machine.task.with_size(5), 1_000_000, 0);
        let because = reason(&recording.trace.heads[0], 28).unwrap();
        assert!(because.contains(" % previous weighting, row "), "{because}");
    }
}
