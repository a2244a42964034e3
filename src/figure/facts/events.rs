//! Movements of heads through an episode, and events.

use crate::figure::facts::family::scalars;
use crate::figure::facts::focus::Focus;
use crate::figure::facts::heads::{head_label, signed};
use crate::figure::facts::measure::Scalar;
use crate::figure::facts::stages::{moves, shorter_way};
use crate::figure::facts::thresholds::ON_ROW;
use crate::model::sam::row_number;
use crate::model::{HeadTrace, Trace, peak};
use crate::train::{Recording, is_absent};

/// The numbers of a head over time, computed from its weightings.
#[derive(Clone, Debug)]
pub struct HeadLines {
    /// β, g, the rows it moves by on average, γ and the entropy of its weighting in bits, in every step.
    pub scalars: Vec<Scalar>,
    /// The movement, stretch by stretch.
    pub stretches: Vec<Stretch>,
}

impl HeadLines {
    /// Computes the numbers of every head, in a pass over their weightings.
    pub fn of_all(trace: &Trace) -> Vec<Self> {
        let heads = trace.heads.iter().map(|head| Self {
            scalars: scalars(head, trace.steps()),
            stretches: stretches(head, trace.steps()),
        });
        heads.collect()
    }
}

/// A step in which something changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The step.
    pub step: usize,
    /// The description.
    pub words: String,
}

/// Returns the events: phases begin, values are set, heads change direction, bits are wrong.
pub fn events(recording: &Recording) -> Vec<Event> {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let mut events = Vec::new();
    for step in 0..trace.steps() {
        let mut words = Vec::new();
        if let Some(phase) = episode.phases.iter().find(|phase| phase.start == step) {
            words.push(format!("{} begins", phase.name));
        }
        let changes = recording.conventions.interventions.iter();
        let begin = changes.filter(|one| one.steps.0 == step);
        words.extend(begin.map(|one| format!("{} set", trace.array_name(one.place, one.array))));
        let heads = trace.heads.iter().enumerate();
        words.extend(heads.filter_map(|(index, head)| {
            let (before, now) = (move_in(head, step.checked_sub(1)?)?, move_in(head, step)?);
            if now == before {
                return None;
            }
            let how = if now.unsigned_abs() > reach(head) {
                let (row, _) = peak(head.weighting.row(step))?;
                format!("jumps to row {}", row_number(trace, row))
            } else {
                moves(now)
            };
            Some(format!("{} {how}", head_label(trace, index)))
        }));
        let wrong = recording.wrong_bits(step);
        if wrong > 0 {
            let unit = recording.episode.answer.unit();
            words.push(format!("wrong {unit}: {wrong}"));
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
    /// The first step.
    pub start: usize,
    /// The step after its last.
    pub end: usize,
    /// Number of rows that the peak moves in every step; `None` while the weight is on many rows.
    pub shift: Option<isize>,
}

impl Stretch {
    /// In words: `+1 ×20`, `stays ×3`, `jumps +27`, `many rows ×2`.
    pub fn words(&self, range: usize) -> String {
        let count = self.end - self.start;
        let what = match self.shift {
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

/// Returns the movement of a head through the episode.
fn stretches(head: &HeadTrace<f32>, steps: usize) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    // An idle head does not move.
    let is_there = |step: &usize| !Focus::of(head.weighting.row(*step)).is_idle();
    for step in (0..steps).filter(is_there) {
        let shift = move_in(head, step);
        match stretches.last_mut() {
            Some(last) if last.shift == shift && last.end == step => last.end = step + 1,
            _ => stretches.push(Stretch {
                start: step,
                end: step + 1,
                shift,
            }),
        }
    }
    stretches
}

/// Number of rows that the peak of a head moves in a step, the shorter way round.
fn move_in(head: &HeadTrace<f32>, step: usize) -> Option<isize> {
    let (from, held) = peak(head.previous_weighting(step))?;
    let (to, weight) = peak(head.weighting.row(step))?;
    if held < ON_ROW || weight < ON_ROW {
        return None;
    }
    Some(shorter_way([from, to], head.weighting.width()))
}

/// Largest number of rows that a shift can move the focus; no limit where no shift was recorded.
pub fn reach(head: &HeadTrace<f32>) -> usize {
    match head.shift.as_slice().first() {
        Some(&first) if is_absent(first) => usize::MAX,
        _ => head.shift.width() / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;
    use crate::train::ABSENT;

    /// Range of a move: without a shift it is unknown, and no move is a jump.
    #[test]
    fn jumps_require_known_shift_range() {
        let mut recording = recording();
        let (start, end, shift) = (0, 2, Some(5));
        let far = Stretch { start, end, shift };
        let head = &mut recording.trace.heads[0];
        assert_eq!(far.words(reach(head)), "jumps +5 ×2");
        head.shift.as_mut_slice().fill(ABSENT);
        assert_eq!(far.words(reach(head)), "+5 ×2");
    }
}
