//! Texts about what the window shows: the status line, the tour, comparisons, and training.

pub mod comparison;
pub mod training_charts;

use super::inspect::Card;
use super::state::{Act, Open, Pair, RecordedEpisode, State, Target, Tour, Wait};
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::narrate::{Moment, mechanism};
use crate::figure::{Stage, head_label, peak};
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
        let (count, name) = (player.stages(), open.facts.stages.at(stage).name());
        place.push(format!("stage {} of {count}: {name}", stage + 1));
    } else {
        // At its end the step is described as a whole.
        moment.place = usize::MAX;
    }
    format!("{}. {}", place.join(", "), moment.short(focus))
}

/// A task whose file is missing.
pub const NO_FILE: &str = "the file of its episodes is missing: only your own input can be shown";

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

/// Returns the card of a target at a step: of both sides in a comparison.
pub fn card(
    target: Target,
    pair: Option<&Pair<'_>>,
    open: &Open,
    focus: usize,
    step: usize,
) -> Option<Card> {
    let both = pair.and_then(|pair| pair.card(target, focus, step));
    both.or_else(|| target.card(open, focus, step))
}

impl State {
    /// The line at the bottom: the current step in words, or how the input is edited.
    pub fn status(&self) -> String {
        if let Some((step, channel)) = self.mark() {
            let symbols = self.recording().is_some_and(|it| it.task.chooses_symbols());
            let how = if symbols {
                "Space chooses"
            } else {
                "Space flips, dragging paints"
            };
            return format!(
                "editing input: step {step}, channel {channel}; arrows move, {how}, Esc leaves; playback keys disabled"
            );
        }
        let told = |open: &Open| status(open, &self.player, self.view.focus);
        self.session.open.as_ref().map(told).unwrap_or_default()
    }

    /// Returns the card of the pinned value, if one is pinned.
    pub fn card(&self) -> Option<Card> {
        let (open, pair) = (self.session.open.as_ref()?, self.pair_on_screen());
        let (focus, step) = (self.view.focus, self.player.step());
        card(self.view.selected?, pair.as_ref(), open, focus, step)
    }

    /// Returns the text of a tour step after the user has done it.
    pub fn describe(&self, tour: &Tour) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (moment, focus) = (open.moment(&self.player), self.view.focus);
        let at = |place| Moment { place, ..moment };
        let answer = at(open.facts.stages.len() - 1).long(focus);
        if tour.lacks(&open.facts.stages) {
            return "The heads of this machine do not have this stage.".to_owned();
        }
        match tour.at().wait {
            Wait::Play if self.is_on_phone() => "The blue mark in the strip at the bottom is the current step; drag along it.".to_owned(),
            Wait::Play => "The blue line through all pictures is the current step. Space pauses.".to_owned(),
            Wait::Step => "Nothing is recomputed: going back is as exact as going forward.".to_owned(),
            Wait::Click => format!(
                "This is its weighting: how much it attends to each row. No weight is below 0, and their sum is 1. {}",
                at(usize::MAX).caption(Some(focus)).text
            ),
            Wait::First => "The initial memory: every episode starts from it, and nothing written before is left. Only \
                            training changes what persists, the weights."
                .to_owned(),
            Wait::Answer => answer,
            Wait::Asked => format!("{answer} That is the item after the one in the query."),
            Wait::Flip => tour.before.as_ref().map_or_else(String::new, |before| self.narrate_flip(&before.0)),
            Wait::Start => {
                let head = recording.trace.heads.get(focus);
                let own = head.and_then(mechanism::otherwise);
                own.unwrap_or_else(|| {
                    "Choose one of them: its stages show the difference. Each score has its own equation, and disabled \
                     stages are not shown."
                        .to_owned()
                })
            }
            Wait::Stage(about) => {
                let hint = match (tour.at().act, about) {
                    (Act::Content, _) => narrate_source(recording, focus, moment.step),
                    (_, Stage::Age) => open.request.as_ref().map(|request| {
                        let (rows, recorded) = (request.rows, open.all.total());
                        format!(" This episode reads or writes {recorded} of {rows} rows.")
                    }),
                    (_, Stage::Add) if !self.is_on_phone() => {
                        Some(" Press , to see the row as it was before.".to_owned())
                    }
                    _ => None,
                };
                moment.long(focus) + &hint.unwrap_or_default()
            }
        }
    }

    /// Describes the effect of a flipped input bit on the answer.
    fn narrate_flip(&self, before: &RecordedEpisode) -> String {
        let flipped = self.session.request.flipped.last();
        let (Some(&(step, bit)), Some(open)) = (flipped, &self.session.open) else {
            return String::new();
        };
        let (now, was) = (&open.shown.recording, &before.recording);
        let value = |recording: &Recording, step: usize, bit: usize| {
            u8::from(recording.trace.output.row(step)[bit] > 0.5)
        };
        let asked = (0..now.trace.steps()).filter(|&step| now.episode.is_scored(step));
        let bits = asked.flat_map(|step| (0..now.trace.output.width()).map(move |bit| (step, bit)));
        let other = bits.filter(|&(step, bit)| value(now, step, bit) != value(was, step, bit));
        let other: Vec<_> = other.collect();
        let shown = u8::from(now.episode.input[[step, bit]] > 0.5);
        let start = format!("Bit {bit} of step {step} is now {shown}.");
        let Some(answer) = self.answer_of(step) else {
            let count = other.len();
            return format!(
                "{start} It is not part of the answer: {count} bits of the answer have changed."
            );
        };
        let [from, to] = [was, now].map(|recording| value(recording, answer, bit));
        let rest = other.iter().filter(|&&at| at != (answer, bit)).count();
        let others = match rest {
            0 => "no other bit of the answer has".to_owned(),
            1 => "1 other bit of the answer has".to_owned(),
            count => format!("{count} other bits of the answer have"),
        };
        let followed = if from == to {
            "it does not follow"
        } else {
            "the answer follows"
        };
        format!(
            "{start} In step {answer} that bit of the answer was {from} and is {to}, and {others} changed: {followed}."
        )
    }
}

/// Describes the write to the row that a head finds by content.
fn narrate_source(recording: &Recording, head: usize, step: usize) -> Option<String> {
    let (trace, input) = (&recording.trace, &recording.episode.input);
    let (row, _) = peak(trace.heads.get(head)?.content.row(step))?;
    let origin = SignalPath::origin(trace, row, step)?;
    let (writer, at) = (head_label(trace, origin.writer), origin.step);
    let is_same = input.row(at) == input.row(step);
    let same = if is_same {
        ": the same vector as shown now"
    } else {
        ""
    };
    Some(format!(" {writer} wrote there in step {at}{same}."))
}
