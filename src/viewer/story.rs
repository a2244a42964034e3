//! The current step in words: the status line, the alternative text of the pictures, what tests read.

pub mod failure;
pub mod learning;
mod mechanism;
pub mod two;

use super::state::episode::Open;
pub use mechanism::{
    UNCERTAIN, about, about_score, attends_otherwise, mechanism, otherwise, sampling,
};

use super::state::events::SPREAD;
pub use super::state::events::reach;
pub use crate::figure::signed;
use crate::figure::stages::{Moment, Stage, columns_of};
pub use crate::figure::stages::{main_shift, moved};
use crate::figure::sums::InStep;
use crate::figure::{self, numbers};
pub use crate::figure::{entropy, offset, peak};
use crate::math::Series;
use crate::model::{HeadTrace, LayerTrace, Sampling};
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

/// True when an answer is asked for in a step.
pub fn is_asked(recording: &Recording, step: usize) -> bool {
    let mask = recording.episode.mask.get(step);
    mask.is_some_and(|&mask| mask > 0.0)
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
    if stage + 1 < player.stages() {
        let (count, name) = (player.stages(), open.stages.at(stage).name());
        place.push(format!("stage {} of {count}: {name}", stage + 1));
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

/// What a layer without heads remembers: its cells, or its hidden state where it has none.
fn remembered(layer: &LayerTrace<f32>) -> (&'static str, &Series<f32>) {
    if layer.cell.width() > 0 {
        ("c", &layer.cell)
    } else {
        ("h", &layer.hidden)
    }
}

/// The most excited unit of every layer of a machine without heads.
fn state(recording: &Recording, step: usize) -> String {
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

/// What a machine without heads does in a step.
fn without_heads(recording: &Recording, step: usize) -> String {
    let changed = match most_changed(recording, step) {
        None => {
            "The network sees its first input; all it will remember is in its units.".to_owned()
        }
        Some((layer, unit, values)) => {
            let [from, to] = values.map(|value| numbers::short(value, 2));
            format!(
                "All that is remembered is in the units. Unit {unit} of layer {layer} changes most: {from} to {to}."
            )
        }
    };
    if is_asked(recording, step) {
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
            .filter(|_| recording.trace.sampling == Sampling::Drawn);
        let draw = draw.map_or_else(String::new, |draw| format!(", sample {}", draw.sample));
        format!("The episode: {said}{draw}.")
    });
    sentences.chain(said).collect::<Vec<_>>().join(" ")
}

/// A row whose values change by less than this is as good as unchanged.
const HARDLY: f32 = 0.05;

fn doing(recording: &Recording, step: usize, head: &HeadTrace<f32>) -> Option<String> {
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
    let has_gate = head.gate.width() > 0;
    let gate = if has_gate {
        *head.gate.as_slice().get(step)?
    } else {
        1.0
    };
    if weight < SPREAD || !gate.is_finite() || head.content.width() == 0 {
        return None;
    }
    let by = main_shift(head, step).map_or(0, |(by, _)| by);
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
    if head.distribution.width() > 0 && (lands != Some(row) || held < SPREAD) {
        let chance = percent(head.distribution.row(step)[row]);
        return Some(format!("with a chance of {chance}"));
    }
    if !has_gate && (lands != Some(row) || held < SPREAD) {
        return Some("most of the content gathers there".to_owned());
    }
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
        (true, None) if !has_gate => format!("it is there by content ({})", percent(held)),
        (true, Some(moves)) if !has_gate => {
            format!("it jumps by content to row {start} and {moves}")
        }
        (true, None) => format!("it jumps by content to row {row} ({share})"),
        (true, Some(moves)) => format!("it jumps by content to row {start} ({share}) and {moves}"),
        (false, None) => format!("it stays on the row of the step before ({share})"),
        (false, Some(moves)) => {
            format!("it takes the row of the step before ({share}) and {moves}")
        }
    })
}

fn percent(share: f32) -> String {
    if share > 0.0 && share < 0.005 {
        return "less than 1 %".to_owned();
    }
    format!("{:.0} %", share * 100.0)
}

/// What happens in a stage, in one or two sentences, for the head looked at.
pub fn caption(open: &Open, step: usize, moment: Moment, focus: usize) -> String {
    let recording = &open.shown.recording;
    match moment.stage {
        Stage::Controller if recording.trace.heads.is_empty() => {
            "The network sees the input and its own last state.".to_owned()
        }
        Stage::Read => each_head(recording, step, moment, "reads row"),
        Stage::Erase => each_head(recording, step, moment, "erases from row"),
        Stage::Add => each_head(recording, step, moment, "adds to row"),
        Stage::Output => output_caption(recording, step),
        stage => {
            let heads = 0..recording.trace.heads.len();
            let mut heads = std::iter::once(focus).chain(heads);
            let of_all = &recording.trace.heads;
            let acts = |&head: &usize| of_all.get(head).is_some_and(|head| moment.has(head));
            // What the other heads do comes at another time.
            let told = heads.find(acts).and_then(|head| {
                let words = of_head(open, step, stage, head)?;
                let apart = open.writes_first() && stage != Stage::Controller;
                let label = apart.then(|| head_label(recording, head) + ": ");
                Some(label.unwrap_or_default() + &words)
            });
            told.unwrap_or_default()
        }
    }
}

/// The same of one head, while it is told what to do and addresses the memory.
fn of_head(open: &Open, step: usize, stage: Stage, head: usize) -> Option<String> {
    let recording = &open.shown.recording;
    let label = head_label(recording, head);
    let of = InStep::of(&recording.trace, open.writes_first(), head, step)?;
    let head = of.head;
    if is_absent(made_in(head, step, stage)) {
        return Some(format!("What {label} did in this stage was not recorded."));
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
            let told = emitted.filter_map(|emitted| {
                let value = emitted.series(head)?[step];
                Some(format!(", {} {}", emitted.symbol, n(value)))
            });
            let sees = "The controller sees the input and the last reads.";
            format!(
                "{sees} It tells {label}: key k{}.",
                told.collect::<String>()
            )
        }
        Stage::Content => mechanism::content(&of, &at(head.content.row(step))),
        Stage::Draw => mechanism::draw(&of)?,
        Stage::Gate => format!(
            "{} by content, {} from the step before: {}.",
            n(head.gate[step]),
            n(1.0 - head.gate[step]),
            at(head.gated.row(step))
        ),
        Stage::Weigh => format!("The most weight is {}.", at(head.weighting.row(step))),
        Stage::Shift => {
            let (by, ..) = moved(head, step)?;
            let moves = match by {
                0 => "The focus stays".to_owned(),
                by => format!("The focus moves by {}", signed(by)),
            };
            format!("{moves}: {}.", at(head.shifted.row(step)))
        }
        _ => {
            let (gamma, made) = (head.sharpening[step], columns_of(head));
            let mut made = made.filter(|column| column.stage == Stage::Sharpen);
            let made = at(made.next()?.values(head, step));
            format!("γ {} gathers the weight: {made}.", n(gamma))
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

fn each_head(recording: &Recording, step: usize, moment: Moment, verb: &str) -> String {
    let heads = recording.trace.heads.iter().enumerate();
    let sentences = heads
        .filter(|(_, head)| moment.has(head))
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
    if !is_asked(recording, step) {
        return format!("The output is made from {from}. Nothing is asked in this step.");
    }
    let bits = recording.trace.output.width();
    let right = bits - recording.wrong_bits(step);
    format!("The output is made from {from}: {right} of {bits} bits right.")
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
