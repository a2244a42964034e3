//! What is said about the state of the window.

use super::files::Shown;
use super::inspect::Card;
use super::state::State;
use super::state::compare::Pair;
use super::state::episode::Open;
use super::state::events::SPREAD;
use super::state::target::Target;
use super::state::tour::{Act, Tour, Wait};
use super::story;
use super::story::failure::shown_in;
use crate::figure::Stage;
use crate::model::HeadTrace;
use crate::train::Recording;

/// What is said about a target at a step: on both sides, while two episodes are on screen.
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
            story::status(open, &self.player, self.sight.focus)
        })
    }

    /// What is said about the thing kept in view, if there is one.
    pub fn card(&self) -> Option<Card> {
        let (open, pair) = (self.session.open.as_ref()?, self.pair_on_screen());
        let (focus, step) = (self.sight.focus, self.player.step());
        card(self.sight.selected?, pair.as_ref(), open, focus, step)
    }

    /// What there is to see once a stop is done.
    pub fn told(&self, tour: &Tour) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (step, focus) = (self.player.step(), self.sight.focus);
        if tour.lacks(&open.stages) {
            return "The heads of this machine leave this stage out.".to_owned();
        }
        match tour.at().wait {
            Wait::Play if self.is_on_phone() => "The blue mark in the strip at the bottom is now; drag along it.".to_owned(),
            Wait::Play => "The blue line through all pictures is now. Space stops it.".to_owned(),
            Wait::Step => "Nothing is computed anew: back is as exact as forward.".to_owned(),
            Wait::Click => {
                let weighting = recording.trace.heads.get(focus);
                let weighting = weighting.map(|head| head.weighting.row(step));
                let peak = weighting.and_then(story::peak).map_or(String::new(), |(row, weight)| {
                    let head = story::head_label(recording, focus);
                    format!(" In step {step} {head} has {weight:.2} of its weight on row {row}.")
                });
                format!(
                    "This is its weighting: how much it attends to each row. No weight is below 0, and all of them make 1.{peak}"
                )
            }
            Wait::First => "The initial memory: every episode starts from it, and nothing written before is left. \
                            Only training changes what lasts, the weights."
                .to_owned(),
            Wait::Answer => self.answered(step),
            Wait::Asked => {
                let after = "That is the item behind the one that was asked for.";
                format!("{} {after}", self.answered(step))
            }
            Wait::Flip => tour.before.as_ref().map_or_else(String::new, |before| self.changed(&before.0)),
            Wait::Start => {
                let head = recording.trace.heads.get(focus);
                let own = head.and_then(story::otherwise);
                own.unwrap_or_else(|| {
                    "Choose one of those, and its stages show what it does otherwise: each score has its own equation, \
                     what is left out is not there."
                        .to_owned()
                })
            }
            Wait::Stage if tour.at().act == Act::Content => self.found(),
            Wait::Stage => tour
                .about()
                .zip(recording.trace.heads.get(focus))
                .and_then(|(about, head)| self.happened(about, head))
                .unwrap_or_else(|| {
                    story::caption(open, step, open.stages.at(self.player.stage()), focus)
                }),
        }
    }

    /// What happened in a stage of the head looked at, plainly.
    fn happened(&self, about: Stage, head: &HeadTrace) -> Option<String> {
        let step = self.player.step();
        let name = story::head_label(
            &self.session.open.as_ref()?.shown.recording,
            self.sight.focus,
        );
        let percent = |share: f32| format!("{:.0} %", 100.0 * share);
        let (row, weight) = story::peak(head.weighting.row(step))?;
        Some(match about {
            Stage::Gate => {
                let gate = *head.gate.as_slice().get(step)?;
                let (from, _) = story::peak(head.gated.row(step))?;
                let (way, share) = if gate < 0.5 {
                    ("where it was", 1.0 - gate)
                } else {
                    ("what it found by content", gate)
                };
                format!(
                    "g is {gate:.2}: {} of {way}. {name} starts from row {from}.",
                    percent(share)
                )
            }
            Stage::Shift => {
                let (by, to, weight) = story::moved(head, step)?;
                let (from, _) = story::peak(head.gated.row(step))?;
                let way = match by {
                    0 => "stays".to_owned(),
                    1 => "moves on by a row".to_owned(),
                    -1 => "moves back by a row".to_owned(),
                    by => format!("moves by {} rows", story::signed(by)),
                };
                let share = percent(weight);
                format!("It {way}, from row {from} to row {to}: {share} of its weight is there.")
            }
            Stage::Sharpen => {
                let gamma = *head.sharpening.as_slice().get(step)?;
                let (_, before) = story::peak(head.shifted.row(step))?;
                let [before, weight] = [before, weight].map(percent);
                let does = if head.is_write() { "writes" } else { "reads" };
                format!(
                    "γ is {gamma:.1}: of the weight {weight} is on row {row} now, before it was {before}. That row {name} \
                     {does}."
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

    /// Which vector is the answer of a step, and when it was shown.
    fn answered(&self, step: usize) -> String {
        let Some(open) = &self.session.open else {
            return String::new();
        };
        let recording = &open.shown.recording;
        let (wrong, bits) = (recording.wrong_bits(step), recording.trace.output.width());
        let right = if wrong == 0 {
            format!("All {bits} bits of step {step} are right")
        } else {
            format!("Of the {bits} bits of step {step} {wrong} are wrong")
        };
        match shown_in(recording, step) {
            Some(shown) => format!("{right}: the vector that was shown in step {shown}."),
            None => format!("{right}."),
        }
    }

    /// What a query has found, and when that was written.
    fn found(&self) -> String {
        let (step, focus) = (self.player.step(), self.sight.focus);
        let open = self.session.open.as_ref();
        let found = open.and_then(|open| {
            let recording = &open.shown.recording;
            let head = recording.trace.heads.get(focus)?;
            let (row, weight) = story::peak(head.content.row(step))?;
            let written = written_in(recording, row, step).map_or(String::new(), |(writer, at)| {
                let same = recording.episode.input.row(at) == recording.episode.input.row(step);
                let same = if same {
                    ": the very vector that is shown again now"
                } else {
                    ""
                };
                format!(" {writer} wrote there in step {at}{same}.")
            });
            Some(format!(
                "{} gives {:.0} % of the weight to row {row}, of {} rows.{written}",
                story::head_label(recording, focus),
                100.0 * weight,
                head.content.width()
            ))
        });
        found.unwrap_or_default()
    }

    /// What a bit of the input that was changed has changed in the answer.
    fn changed(&self, before: &Shown) -> String {
        let flipped = self.session.wish.flipped.last();
        let (Some(&(step, bit)), Some(open)) = (flipped, &self.session.open) else {
            return String::new();
        };
        let (now, was) = (&open.shown.recording, &before.recording);
        let value = |recording: &Recording, step: usize, bit: usize| {
            recording.trace.output.row(step)[bit] > 0.5
        };
        let number = |on: bool| u8::from(on);
        let asked = (0..now.trace.steps()).filter(|&step| story::is_asked(now, step));
        let bits = asked.flat_map(|step| (0..now.trace.output.width()).map(move |bit| (step, bit)));
        let other = bits.filter(|&(step, bit)| value(now, step, bit) != value(was, step, bit));
        let other: Vec<_> = other.collect();
        let shown = number(now.episode.input[[step, bit]] > 0.5);
        let start = format!("Bit {bit} of step {step} is now {shown}.");
        let Some(answer) = self.answer_of(step) else {
            let count = other.len();
            return format!(
                "{start} It is none of those asked for: {count} bits of the answer have changed."
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
            "it stays"
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
        Some((story::head_label(recording, writer.0), step))
    })
}
