//! Sentences about a moment of an episode: for the close-up, the window, the tour and screen readers.
//!
//! One function describes each fact. It returns a short form without the final period, and a detail with the numbers
//! behind it, which the long form appends. So both forms agree.

pub mod failure;
mod head;
mod machine;
pub mod mechanism;

use crate::figure::facts::focus::Focus;
use crate::figure::facts::heads::head_layer;
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::numbers::percent;
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::facts::source::SourceSteps;
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::StageRef;
use crate::figure::{HeadName, head_label};
use crate::model::sam::row_number;
use crate::model::{HeadTrace, Trace};
use crate::train::Recording;

pub use crate::figure::facts::moment::Moment;
pub use machine::{loss, verdict};

/// Of a machine with more heads than this, only the selected one is described.
const DESCRIBED: usize = 4;

/// A sentence, and the head that it is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    /// The head, by its place among all.
    pub head: Option<usize>,
    /// The text.
    pub text: String,
}

impl<'a> Moment<'a> {
    /// Returns the step and the last one: `step 5 of 40`.
    pub fn clock(&self) -> String {
        let last = self.trace().steps().saturating_sub(1);
        format!("step {} of {last}", self.step)
    }

    /// Returns the name of the phase; empty outside of all phases.
    pub fn phase(&self) -> &'a str {
        phase_at(self.recording, self.step)
    }

    /// Describes the heads or the machine, in short sentences.
    pub fn short(&self, focus: usize) -> String {
        self.sentences(focus, false)
    }

    /// Describes the heads or the machine, for the selected head with numbers and reasons.
    pub fn long(&self, focus: usize) -> String {
        self.sentences(focus, true)
    }

    /// Describes one head in words for newcomers; without a selected head, the first that takes part.
    pub fn caption(&self, head: Option<usize>) -> Sentence {
        let (trace, stage) = (self.trace(), self.stage());
        if self.step >= trace.steps() {
            return Sentence::default();
        }
        let takes_part = |head: &usize| stage.is_none_or(|at| at.has(&trace.heads[*head]));
        let mut heads = 0..trace.heads.len();
        let head = head.filter(|head| heads.contains(head));
        let head = head.or_else(|| heads.find(takes_part));
        let head = head.filter(|_| stage.is_none_or(is_of_heads));
        let text = match (head, stage) {
            (None, _) => self.of_machine()[0].clone(),
            (Some(head), Some(_)) if !takes_part(&head) && self.is_pending(&trace.heads[head]) => {
                let is_write = trace.heads[head].is_write();
                let others = if is_write { "reading" } else { "writing" };
                format!("{} waits: {others} comes first", called(trace, head))
            }
            (Some(head), _) => {
                let stage = stage.filter(|_| takes_part(&head));
                let [what, _] = self.action(head, stage);
                format!("{} {what}", called(trace, head))
            }
        };
        let text = text + ".";
        Sentence { head, text }
    }

    /// True while a later stage of the step has this head.
    fn is_pending(&self, head: &HeadTrace) -> bool {
        let mut later = self.stages.iter().skip(self.place + 1);
        later.any(|at| is_of_heads(at) && at.has(head))
    }

    fn sentences(&self, focus: usize, long: bool) -> String {
        let (trace, stage) = (self.trace(), self.stage());
        if self.step >= trace.steps() {
            return String::new();
        }
        let text = |parts: [String; 2], long| parts[..=usize::from(long)].concat() + ".";
        let mut sentences = Vec::new();
        if trace.heads.is_empty() || stage.is_some_and(|at| !is_of_heads(at)) {
            sentences.push(text(self.of_machine(), long));
            if stage.is_some_and(|at| at.stage == Stage::Controller) && long {
                sentences.extend(machine::emitted(trace, focus, self.step));
            }
        }
        for head in self.heads(focus) {
            let [what, detail] = self.action(head, stage);
            let what = format!("{} {what}", head_label(trace, head));
            sentences.push(text([what, detail], long && head == focus));
        }
        if long && stage.is_none() {
            sentences.extend(mechanism::of_episode(self.recording, focus));
        }
        sentences.join(" ")
    }

    /// The described heads, in the order in which they act: one in a stage of the addressing.
    fn heads(&self, focus: usize) -> Vec<usize> {
        let (heads, stage) = (&self.trace().heads, self.stage());
        let is_in = |at: StageRef, head: usize| is_of_heads(at) && at.has(&heads[head]);
        let takes_part = |head: &usize| stage.is_none_or(|at| is_in(at, *head));
        let others = (0..heads.len()).filter(|&head| head != focus);
        let focus = Some(focus).filter(|&head| head < heads.len());
        let acts = |at: StageRef| matches!(at.stage, Stage::Read | Stage::Erase | Stage::Add);
        let all = heads.len() <= DESCRIBED && stage.is_none_or(acts);
        let most = if all { DESCRIBED } else { 1 };
        let described = focus.into_iter().chain(others).filter(takes_part);
        let mut described: Vec<_> = described.take(most).collect();
        let writes_first = self.stages.writes_first();
        described.sort_by_key(|&head| (heads[head].is_write() != writes_first, head));
        described
    }

    /// The action of a head, without its name.
    fn action(&self, head: usize, stage: Option<StageRef>) -> [String; 2] {
        let at = InStep::of(self.trace(), self.stages.writes_first(), head, self.step);
        let action = at.map(|at| head::action(&at, stage.map(|at| at.stage)));
        let [what, detail] = action.unwrap_or_default();
        let head = self.trace().heads.get(head);
        let weighting = head.map(|of| of.weighting.row(self.step));
        let Some((source, weighting)) = SourceSteps::of(self.recording).zip(weighting) else {
            return [what, detail];
        };
        let rows = Focus::of(weighting).rows.into_iter();
        [
            rows.fold(what, |what, (row, _)| source.named(&what, row)),
            detail,
        ]
    }

    /// The input, the output, or what a machine without heads does in a step.
    fn of_machine(&self) -> [String; 2] {
        match self.stage().map(|at| at.stage) {
            Some(Stage::Controller) => [machine::input(self.recording, self.step), String::new()],
            Some(Stage::Statement(statement)) => machine::statement(self, statement),
            None if self.trace().heads.is_empty() => machine::units(self.recording, self.step),
            _ => machine::output(self.recording, self.step),
        }
    }
}

/// Describes the path by which the answer of a step came: the row that was read, and the write to it.
pub fn signal_path(trace: &Trace, step: usize, path: SignalPath) -> String {
    let name = |head| HeadName::of(trace, head);
    let when = (path.at < step).then(|| format!(" in step {}", path.at));
    let when = when.unwrap_or_default();
    let (reader, weight) = (name(path.reader), percent(path.weight));
    let row = row_number(trace, path.row);
    let read = format!("read from row {row} by {reader}{when} ({weight} of its weight)");
    let Some(write) = path.origin else {
        return format!("{read}, which no head has written");
    };
    let (writer, at, share) = (name(write.writer), write.step, percent(write.share));
    format!("{read},\nwritten by {writer} in step {at} ({share} of its contents)")
}

fn is_of_heads(at: StageRef) -> bool {
    !matches!(
        at.stage,
        Stage::Controller | Stage::Statement(_) | Stage::Output
    )
}

/// Returns the name of the phase at a step; empty outside of all phases.
pub fn phase_at(recording: &Recording, step: usize) -> &str {
    let mut phases = recording.episode.phases.iter();
    let phase = phases.find(|phase| (phase.start..phase.end).contains(&step));
    phase.map_or("", |phase| &phase.name)
}

/// Returns the name of a head at the start of a caption: `The read head`, `Write head W1`.
fn called(trace: &Trace, index: usize) -> String {
    let name = HeadName::of(trace, index);
    let mut heads = trace.heads.iter().enumerate();
    let is_only = !heads.any(|(other, head)| head.is_write() == name.is_write && other != index);
    match (is_only, name.is_write) {
        (true, true) => "The write head".to_owned(),
        (true, false) => "The read head".to_owned(),
        (false, true) => format!("Write head {name}{}", head_layer(trace, index)),
        (false, false) => format!("Read head {name}{}", head_layer(trace, index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::facts::stages::Stages;
    use crate::io::weights;
    use crate::model::peak;

    /// An episode of an included machine, where the binary has it.
    fn included(name: &str) -> Option<(Recording, Stages)> {
        let trained = weights::included(name)?.unwrap();
        let task = trained.now().task;
        let size = 6.clamp(*task.size().start(), *task.size().end());
        let task = task.with_size(size);
        let recording = Recording::new(&trained.machine, &task, 1_000_000, 0);
        let stages = Stages::of(&recording.trace, false);
        Some((recording, stages))
    }

    /// The rows that a sentence names.
    fn rows(text: &str) -> Vec<usize> {
        let named = text.split("row ").skip(1);
        let digits = named.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        digits.filter_map(|digits| digits.parse().ok()).collect()
    }

    #[test]
    fn short_and_long_forms_agree_for_every_included_machine() {
        let mut described = 0;
        for name in weights::included_names() {
            let Some((recording, stages)) = included(name) else {
                continue;
            };
            let heads = &recording.trace.heads;
            let steps = 0..recording.trace.steps();
            let places = (0..stages.len()).chain([usize::MAX]);
            for (step, place) in steps.flat_map(|step| places.clone().map(move |at| (step, at))) {
                let moment = Moment {
                    recording: &recording,
                    stages: &stages,
                    step,
                    place,
                    through: 1.0,
                };
                for head in 0..heads.len().max(1) {
                    let (short, long) = (moment.short(head), moment.long(head));
                    for text in [&short, &long, &moment.caption(Some(head)).text] {
                        let where_ = format!("{name}, step {step}, {place}: {text}");
                        assert!(text.ends_with('.') && !text.contains(".."), "{where_}");
                        assert!(!text.contains("NaN") && !text.contains("  "), "{where_}");
                    }
                    let stage = moment.stage();
                    if heads.is_empty()
                        || stage.is_some_and(|at| !is_of_heads(at) || !at.has(&heads[head]))
                    {
                        continue;
                    }
                    // The caption says the same of the head in other words.
                    let caption = moment.caption(Some(head)).text;
                    let said = caption
                        .strip_prefix(&called(&recording.trace, head))
                        .unwrap();
                    let said = said.strip_suffix('.').unwrap();
                    let own = format!("{}{said}", head_label(&recording.trace, head));
                    assert!(short.contains(&format!("{own}.")), "{short} and {caption}");
                    assert!(long.contains(&own), "{long} and {caption}");
                    let (heaviest, weight) = peak(heads[head].weighting.row(step)).unwrap();
                    if stage.is_none() && weight > 0.0 {
                        let is_named = rows(said).contains(&heaviest);
                        assert!(is_named || said == " writes almost nothing", "{caption}");
                        described += 1;
                    }
                }
            }
        }
        assert!(described > 100, "{described}");
    }

    #[test]
    fn sentences_of_copying_are_these() {
        let Some((recording, stages)) = included("copy") else {
            return;
        };
        #[rustfmt::skip] // A line for each.
        let table = [
            (0, Some(Stage::Controller), 1, "Input: 6 vectors, one per step. Then the machine outputs them from memory.", "Input: 6 vectors, one per step. Then the machine outputs them from memory. The controller emits for W0: key k, β 0.89, g 0.03, γ 4.93."),
            (3, Some(Stage::Content), 1, "The write head compares its key with every row: no row stands out.", "W0 compares its key with every row: no row stands out (1 % on row 1, β 0.78)."),
            (3, Some(Stage::Gate), 1, "The write head ignores content, keeps its previous weighting (97 %).", "W0 ignores content, keeps its previous weighting (97 %): g 0.03, 97 % on row 3."),
            (3, Some(Stage::Shift), 1, "The write head moves on by one row: 97 % on row 4.", "W0 moves on by one row: 97 % on row 4, before on row 3."),
            (3, Some(Stage::Sharpen), 1, "The write head sharpens its focus: 100 % on row 4.", "W0 sharpens its focus: 100 % on row 4, before 97 % (γ 5.56)."),
            (3, Some(Stage::Read), 0, "The read head reads row 0.", "R0 reads row 0 (100 % of its weight)."),
            (3, Some(Stage::Erase), 1, "The write head erases almost nothing.", "W0 erases almost nothing of row 4."),
            (3, Some(Stage::Add), 1, "The write head writes to row 4.", "W0 writes to row 4 (100 % of its weight)."),
            (3, None, 1, "The write head writes to row 4.", "R0 reads row 0. W0 writes to row 4: from previous weighting (g 0.03), row 3 → 4."),
            (9, None, 0, "The read head reads row 4.", "R0 reads row 4: from previous weighting (g 0.02), row 3 → 4. W0 writes to row 10."),
            (9, Some(Stage::Output), 0, "Output: 8 of 8 bits right.", "Output: 8 of 8 bits right (the vector shown in step 2)."),
        ];
        for (step, stage, head, caption, long) in table {
            let place = stage.and_then(|stage| stages.place(stage, None));
            let moment = Moment {
                recording: &recording,
                stages: &stages,
                step,
                place: place.unwrap_or(usize::MAX),
                through: 1.0,
            };
            assert_eq!(moment.caption(Some(head)).text, caption);
            assert_eq!(moment.long(head), long);
        }
    }
}
