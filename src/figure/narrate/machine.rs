//! The machine as a whole: its input, its output, and the units of a network without heads.

use super::failure::shown_in;
use crate::figure::facts::family::columns_of;
use crate::figure::facts::moment::Moment;
use crate::figure::facts::numbers;
use crate::figure::facts::source::{answered, fed_back, received, right};
use crate::figure::head_label;
use crate::math::Answer;
use crate::model::Trace;
use crate::train::{Recording, is_absent, is_unrecorded};

/// Describes the input of a step; in the first one, the task.
pub(super) fn input(recording: &Recording, step: usize) -> String {
    let (input, episode) = (&recording.trace.input, &recording.episode);
    if let (0, Some(task)) = (step, recording.task.introduction(episode)) {
        return task;
    }
    if let Some(name) = fed_back(recording, step) {
        return format!("The answer continues: {name} is fed back");
    }
    let symbol = received(recording, step).filter(|_| episode.answer == Answer::Symbols);
    if let Some(name) = symbol {
        return format!("New input: {name}");
    }
    let set = input.row(step).iter().filter(|bit| **bit >= 0.5).count();
    let continues = step > 0 && episode.is_scored(step - 1);
    match (set, episode.is_scored(step)) {
        (0, true) if continues => "The answer continues".to_owned(),
        (0, true) => "The answer begins: no input bit is set".to_owned(),
        (0, false) => "No input bit is set".to_owned(),
        _ => format!("New input: {set} of {} set", counted(input.width(), "bits")),
    }
}

/// Describes a statement of a machine file by what it reads; the detail is its line with numbers.
pub(super) fn statement(moment: &Moment<'_>, index: usize) -> [String; 2] {
    let all = &moment.stages.statements;
    let Some(own) = all.get(index) else {
        return Default::default();
    };
    let mut sources: Vec<String> = Vec::new();
    for read in &own.reads {
        let before = if read.is_before {
            " of the step before"
        } else {
            ""
        };
        let source = all[read.statement].title() + before;
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    // Those of the step before come last, so that the words belong to no other.
    sources.sort_by_key(|source| source.ends_with("before"));
    let from = match &sources[..] {
        [] => "the input".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    };
    let made = own.title();
    let (first, rest) = made.split_at(made.chars().next().map_or(0, char::len_utf8));
    let what = format!("{}{rest} comes from {from}", first.to_uppercase());
    let numbers = own.with_most_changed(moment.trace(), moment.step);
    let detail = numbers.map_or_else(String::new, |numbers| format!(": {numbers}"));
    [what, detail]
}

/// Names the parameters that the controller emits for a head, with their values.
pub(super) fn emitted(trace: &Trace, head: usize, step: usize) -> Option<String> {
    let of = trace.heads.get(head)?;
    if is_unrecorded(of.key.row(step)) {
        return None;
    }
    let parameters = columns_of(of).filter_map(|column| {
        let emitted = column.emits(of)?;
        let value = of.series(emitted.array)?[step];
        let value = (!is_absent(value)).then(|| numbers::short(value, 2))?;
        Some(format!(", {} {value}", emitted.symbol))
    });
    let (label, all) = (head_label(trace, head), parameters.collect::<String>());
    Some(format!("The controller emits for {label}: key k{all}."))
}

/// Describes the output of a step, and in the detail the vector that it answers.
pub(super) fn output(recording: &Recording, step: usize) -> [String; 2] {
    if !recording.episode.is_scored(step) {
        return ["This step is not scored".to_owned(), String::new()];
    }
    let answer = recording.episode.answer;
    if let (Answer::Symbols, Some(said)) = (answer, answered(recording, step)) {
        let wrong = right(recording, step).filter(|_| recording.wrong_bits(step) > 0);
        let verdict = match wrong {
            _ if recording.lacks_target() => "the right answer is not known".to_owned(),
            Some(right) if recording.is_missing(step) => {
                return [
                    format!("The run had ended; {right} is missing"),
                    String::new(),
                ];
            }
            Some(right) => format!("wrong; {right} is right"),
            None => "right".to_owned(),
        };
        return [format!("Answer: {said}, {verdict}"), String::new()];
    }
    if let Some(words) = largest_error(recording, step).filter(|_| answer.is_real()) {
        return [words, String::new()];
    }
    let scored = answer.scored(recording.trace.output.width());
    let right = scored - recording.wrong_bits(step);
    let scored = counted(scored, answer.unit());
    let shown = shown_in(recording, step);
    let shown = shown.map(|shown| format!(" (the vector shown in step {shown})"));
    [
        format!("Output: {right} of {scored} right"),
        shown.unwrap_or_default(),
    ]
}

/// Describes the output value that is furthest from its target in a step.
fn largest_error(recording: &Recording, step: usize) -> Option<String> {
    let (output, target) = (
        recording.trace.output.row(step),
        recording.episode.target.row(step),
    );
    let error = |channel: &usize| (output[*channel] - target[*channel]).abs();
    let furthest = (0..output.len()).max_by(|a, b| error(a).total_cmp(&error(b)))?;
    let [y, wanted] = [output[furthest], target[furthest]].map(|value| numbers::short(value, 3));
    let name = match output.len() {
        1 => "Output".to_owned(),
        _ => format!(
            "Output, largest error: {}",
            recording.task.output_name(furthest)
        ),
    };
    Some(format!("{name} {y}, target {wanted}"))
}

/// Describes the unit that changes most in a step of a network without heads; of a machine file the input and the output.
pub(super) fn units(recording: &Recording, step: usize) -> [String; 2] {
    if recording.trace.is_file() {
        let [said, detail] = output(recording, step);
        return [input(recording, step), format!(". {said}{detail}")];
    }
    let changed = most_changed(recording, step);
    let changed = changed.map(|(layer, unit, values)| {
        let [from, to] = values.map(|value| numbers::short(value, 2));
        format!("Unit {unit} of layer {layer} changes most: {from} to {to}")
    });
    let mut detail = vec![". The units are the only memory".to_owned()];
    if recording.episode.is_scored(step) {
        detail.push(output(recording, step).concat());
    }
    let first = || "The network sees its first input".to_owned();
    [changed.unwrap_or_else(first), detail.join(". ")]
}

/// The layer and the unit whose memory changes most in a step, with the value before and after.
fn most_changed(recording: &Recording, step: usize) -> Option<(usize, usize, [f32; 2])> {
    let before = step.checked_sub(1)?;
    let layers = recording.trace.layers.iter().enumerate();
    let changes = layers.flat_map(|(index, layer)| {
        let is_lstm = layer.cell.width() > 0;
        let of = if is_lstm { &layer.cell } else { &layer.hidden };
        let pairs = of.row(before).iter().zip(of.row(step)).enumerate();
        pairs.map(move |(unit, (from, to))| (index, unit, [*from, *to]))
    });
    let size = |(.., [from, to]): &(usize, usize, [f32; 2])| (to - from).abs();
    let larger = |most, next| {
        if size(&next) > size(&most) {
            next
        } else {
            most
        }
    };
    changes.reduce(larger)
}

/// A number of things, in the singular where it is 1.
fn counted(count: usize, things: &str) -> String {
    let thing = things.strip_suffix('s').filter(|_| count == 1);
    format!("{count} {}", thing.unwrap_or(things))
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
    if recording.lacks_target() {
        return "loss not known".to_owned();
    }
    if is_unrecorded(&recording.loss) {
        return "loss not recorded".to_owned();
    }
    let (answer, loss) = (recording.episode.answer, recording.score.bits);
    if let Answer::Values(tolerance) = answer {
        let error = answer.number(loss, 3);
        return format!("{} {error}, tolerance {tolerance}", answer.measure());
    }
    format!("loss {} bits", numbers::short(loss as f32, 3))
}
