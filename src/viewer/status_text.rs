//! Texts about the state of the window.

use super::files::RecordedEpisode;
use super::inspect::Card;
use super::narration;
use super::narration::failure::shown_in;
use super::state::State;
use super::state::compare::Pair;
use super::state::episode::Open;
use super::state::target::Target;
use super::state::tour::{Act, Tour, Wait};
use crate::figure::Stage;
use crate::figure::facts::events::SPREAD;
use crate::figure::facts::stages::Moved;
use crate::math::Answer;
use crate::model::HeadTrace;
use crate::train::Recording;

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
    /// The line at the bottom: the current step in words.
    pub fn status(&self) -> String {
        let open = self.session.open.as_ref();
        open.map_or_else(String::new, |open| {
            narration::status(open, &self.player, self.view.focus)
        })
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
        let (step, focus) = (self.player.step(), self.view.focus);
        if tour.lacks(&open.stages) {
            return "The heads of this machine do not have this stage.".to_owned();
        }
        match tour.at().wait {
            Wait::Play if self.is_on_phone() => "The blue mark in the strip at the bottom is the current step; drag along it.".to_owned(),
            Wait::Play => "The blue line through all pictures is the current step. Space pauses.".to_owned(),
            Wait::Step => "Nothing is recomputed: going back is as exact as going forward.".to_owned(),
            Wait::Click => {
                let weighting = recording.trace.heads.get(focus);
                let weighting = weighting.map(|head| head.weighting.row(step));
                let peak = weighting.and_then(narration::peak).map_or(String::new(), |(row, weight)| {
                    let head = narration::head_label(recording, focus);
                    format!(" In step {step} {head} has {weight:.2} of its weight on row {row}.")
                });
                format!(
                    "This is its weighting: how much it attends to each row. No weight is below 0, and their sum is 1.{peak}"
                )
            }
            Wait::First => "The initial memory: every episode starts from it, and nothing written before is left. Only \
                            training changes what persists, the weights."
                .to_owned(),
            Wait::Answer => self.narrate_answer(step),
            Wait::Asked => {
                let after = "That is the item after the one in the query.";
                format!("{} {after}", self.narrate_answer(step))
            }
            Wait::Flip => tour.before.as_ref().map_or_else(String::new, |before| self.narrate_flip(&before.0)),
            Wait::Start => {
                let head = recording.trace.heads.get(focus);
                let own = head.and_then(narration::otherwise);
                own.unwrap_or_else(|| {
                    "Choose one of them: its stages show the difference. Each score has its own equation, and disabled \
                     stages are not shown."
                        .to_owned()
                })
            }
            Wait::Stage if tour.at().act == Act::Content => self.narrate_query(),
            Wait::Stage => tour
                .about()
                .zip(recording.trace.heads.get(focus))
                .and_then(|(about, head)| self.narrate_tour_stage(about, head))
                .unwrap_or_else(|| {
                    narration::narrate_stage(open, step, open.stages.at(self.player.stage()), focus)
                }),
        }
    }

    /// Describes a stage of the selected head in plain words.
    fn narrate_tour_stage(&self, about: Stage, head: &HeadTrace) -> Option<String> {
        let step = self.player.step();
        let name = narration::head_label(
            &self.session.open.as_ref()?.shown.recording,
            self.view.focus,
        );
        let percent = |share: f32| format!("{:.0} %", 100.0 * share);
        let (row, weight) = narration::peak(head.weighting.row(step))?;
        Some(match about {
            Stage::Gate => {
                let gate = *head.gate.as_slice().get(step)?;
                let (from, _) = narration::peak(head.gated.row(step))?;
                let (way, share) = if gate < 0.5 {
                    ("its previous weighting", 1.0 - gate)
                } else {
                    ("the content weighting", gate)
                };
                format!(
                    "g is {gate:.2}: {} of {way}. {name} starts from row {from}.",
                    percent(share)
                )
            }
            Stage::Shift => {
                let Moved {
                    by,
                    from,
                    to,
                    weight,
                } = narration::moved(head, step)?;
                let (way, share) = (narration::moves(by), percent(weight));
                format!("It {way}, from row {from} to row {to}, with {share} of its weight.")
            }
            Stage::Sharpen => {
                let gamma = *head.sharpening.as_slice().get(step)?;
                let (_, before) = narration::peak(head.shifted.row(step))?;
                let [before, weight] = [before, weight].map(percent);
                let does = if head.is_write() { "writes" } else { "reads" };
                format!(
                    "γ is {gamma:.1}: now {weight} of the weight is on row {row}, before it was {before}. {name} \
                     {does} that row."
                )
            }
            Stage::Add => format!(
                "{name} has added its vector to row {row}, with {} of its weight.{}",
                percent(weight),
                if self.is_on_phone() {
                    ""
                } else {
                    " Press , to see the row as it was before."
                }
            ),
            _ => return None,
        })
    }

    /// Describes which vector a step answers, and when it was shown.
    fn narrate_answer(&self, step: usize) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (wrong, bits) = (recording.wrong_bits(step), recording.trace.output.width());
        let right = if recording.episode.answer == Answer::Symbols {
            let is = if wrong == 0 { "right" } else { "wrong" };
            format!("The symbol of step {step} is {is}")
        } else if wrong == 0 {
            format!("All {bits} bits of step {step} are right")
        } else {
            format!("Of the {bits} bits of step {step} {wrong} are wrong")
        };
        match shown_in(recording, step) {
            Some(shown) => format!("{right}: the vector shown in step {shown}."),
            None => format!("{right}."),
        }
    }

    /// Describes the row that a query found, and when it was written.
    fn narrate_query(&self) -> String {
        let (step, focus) = (self.player.step(), self.view.focus);
        let open = self.session.open.as_ref();
        let narrate_query = open.and_then(|open| {
            let recording = &open.shown.recording;
            let head = recording.trace.heads.get(focus)?;
            let (row, weight) = narration::peak(head.content.row(step))?;
            let written = written_in(recording, row, step).map_or(String::new(), |(writer, at)| {
                let same = recording.episode.input.row(at) == recording.episode.input.row(step);
                let same = if same {
                    ": the same vector as shown now"
                } else {
                    ""
                };
                format!(" {writer} wrote there in step {at}{same}.")
            });
            Some(format!(
                "{} gives {:.0} % of the weight to row {row}, of {} rows.{written}",
                narration::head_label(recording, focus),
                100.0 * weight,
                head.content.width()
            ))
        });
        narrate_query.unwrap_or_default()
    }

    /// Describes the effect of a flipped input bit on the answer.
    fn narrate_flip(&self, before: &RecordedEpisode) -> String {
        let flipped = self.session.request.flipped.last();
        let (Some(&(step, bit)), Some(open)) = (flipped, &self.session.open) else {
            return String::new();
        };
        let (now, was) = (&open.shown.recording, &before.recording);
        let value = |recording: &Recording, step: usize, bit: usize| {
            recording.trace.output.row(step)[bit] > 0.5
        };
        let number = |on: bool| u8::from(on);
        let asked = (0..now.trace.steps()).filter(|&step| now.episode.is_scored(step));
        let bits = asked.flat_map(|step| (0..now.trace.output.width()).map(move |bit| (step, bit)));
        let other = bits.filter(|&(step, bit)| value(now, step, bit) != value(was, step, bit));
        let other: Vec<_> = other.collect();
        let shown = number(now.episode.input[[step, bit]] > 0.5);
        let start = format!("Bit {bit} of step {step} is now {shown}.");
        let Some(answer) = self.answer_of(step) else {
            let count = other.len();
            return format!(
                "{start} It is not part of the answer: {count} bits of the answer have changed."
            );
        };
        let [from, to] = [was, now].map(|recording| number(value(recording, answer, bit)));
        let rest = other.iter().filter(|&&at| at != (answer, bit)).count();
        let rest = match rest {
            0 => "and no other bit of the answer has changed".to_owned(),
            1 => "and 1 other bit of the answer has changed".to_owned(),
            count => format!("and {count} other bits of the answer have changed"),
        };
        let followed = if from == to {
            "it does not follow"
        } else {
            "the answer follows"
        };
        format!(
            "{start} In step {answer} that bit of the answer was {from} and is {to}, {rest}: {followed}."
        )
    }
}

/// The last step before this one in which a write head was on a row, and its label.
fn written_in(recording: &Recording, row: usize, step: usize) -> Option<(String, usize)> {
    let heads = recording.trace.heads.iter().enumerate();
    let writers: Vec<_> = heads.filter(|(_, head)| head.is_write()).collect();
    (0..step).rev().find_map(|step| {
        let mut writers = writers.iter();
        let writer = writers.find(|(_, head)| head.weighting.row(step)[row] > SPREAD)?;
        Some((narration::head_label(recording, writer.0), step))
    })
}
