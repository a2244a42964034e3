//! What is on its way: the numbers of a stage that has begun and is not over, made of recorded numbers alone.
//!
//! Of every quantity it is known what it was when a stage began and what it is when the stage is over; what lies between
//! is an interpolation from the one to the other, and never beyond. When in a stage what moves is said here once, for
//! the pictures that draw a number and for those that draw what travels.

use super::facts::MemoryAt;
use super::links::{self, Link};
use super::stages::{Column, Stage, Stages, columns_of};
use crate::model::{HeadTrace, Trace};

/// From where to where in a stage something moves.
pub type Part = [f32; 2];

/// The key goes over all rows, and their scores grow behind it.
pub const SWEEP: Part = [0.0, 0.6];
/// The scores become a weighting.
pub const SOFTMAX: Part = [0.55, 1.0];
/// What the content brings is poured in.
pub const CONTENT: Part = [0.0, 0.5];
/// What is kept of the step before is poured upon it.
pub const KEPT: Part = [0.45, 1.0];
/// A weighting comes over from the column before.
pub const OVER: Part = [0.0, 0.25];
/// Then it is moved, or sharpened.
pub const MOVE: Part = [0.2, 1.0];
/// A number walks along the rows until it comes to the one that is drawn.
pub const POINT: Part = [0.1, 0.65];
/// All other rows go out.
pub const GO_OUT: Part = [0.65, 1.0];
/// The rows travel to what is read.
pub const TRAVEL: Part = [0.0, 0.75];
/// What is read is filled.
pub const FILL: Part = [0.4, 1.0];
/// What is erased or added comes to its row.
pub const COME: Part = [0.0, 0.4];
/// The row changes.
pub const CHANGE: Part = [0.3, 1.0];
/// How much of that a cell takes for itself, where they change one after the other.
const OWN: f32 = 0.35;

/// Slow at both ends: how far something has come after this share of its time.
pub fn ease(share: f32) -> f32 {
    let x = share.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// How far something has come that moves in a part of a stage, when the stage has come this far.
pub fn within(through: f32, [from, to]: Part) -> f32 {
    ease((through - from) / (to - from))
}

/// The same of one of several that move one after the other; `at` is its place among them, 0 to 1.
pub fn in_turn(through: f32, [from, to]: Part, at: f32) -> f32 {
    let own = OWN * (to - from);
    let start = from + at * (to - from - own);
    within(through, [start, start + own])
}

/// What lies between two numbers, and never beyond them.
pub fn between(from: f32, to: f32, share: f32) -> f32 {
    if share >= 1.0 || !(from.is_finite() && to.is_finite()) {
        return to;
    }
    (from + (to - from) * share.max(0.0)).clamp(from.min(to), from.max(to))
}

/// An instant of a stage of a step.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    trace: &'a Trace,
    stages: &'a Stages,
    step: usize,
    /// The place of the stage among all of them; behind the last one for a step as a whole.
    place: usize,
    /// How far it has come, 0 to 1.
    through: f32,
}

/// Weight that goes from row to row, where it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// From where to where, and how much.
    pub link: Link,
    /// By how many rows it has moved.
    pub by: f32,
    /// How much weight lies before it in its row.
    pub before: f32,
}

impl<'a> Instant<'a> {
    /// Of a step and the place of its stage, when that has come this far.
    pub fn new(
        trace: &'a Trace,
        stages: &'a Stages,
        (step, place): (usize, usize),
        through: f32,
    ) -> Self {
        Self {
            trace,
            stages,
            step,
            place,
            through: if through.is_nan() {
                1.0
            } else {
                through.clamp(0.0, 1.0)
            },
        }
    }

    /// True while something may move.
    pub fn moves(&self) -> bool {
        self.through < 1.0
    }

    /// How far a step as a whole has come from the one before it, while it moves as a whole.
    pub fn glide(&self) -> Option<f32> {
        let whole = self.place >= self.stages.len();
        (whole && self.moves()).then(|| ease(self.through))
    }

    /// How far a stage has come: 0 before it and 1 behind it; of a head, where not all are in it at once.
    pub fn come(&self, stage: Stage, head: Option<&HeadTrace>) -> f32 {
        match self.stages.place(stage, head) {
            Some(at) if at < self.place => 1.0,
            Some(at) if at == self.place => self.through,
            _ => 0.0,
        }
    }

    /// A value of a column of the addressing; `at` is where its row stands among those that are seen, 0 to 1.
    pub fn column(&self, head: &HeadTrace, column: &Column, row: usize, at: f32) -> f32 {
        let value = column.values(head, self.step)[row];
        if let Some(share) = self.glide() {
            let before = self
                .step
                .checked_sub(1)
                .map_or(value, |step| column.values(head, step)[row]);
            return between(before, value, share);
        }
        let through = self.come(column.stage, Some(head));
        if through >= 1.0 || column.stage == Stage::Controller {
            return value;
        }
        let share = |part| within(through, part);
        match (column.stage, column.array) {
            (Stage::Content, "content") => between(0.0, value, share(SOFTMAX)),
            (Stage::Content, _) => between(0.0, value, in_turn(through, SWEEP, at)),
            (Stage::Gate, _) => {
                let [content, kept] = self.poured(head, row);
                between(0.0, content + kept, 1.0).min(value)
            }
            (Stage::Weigh, _) => between(0.0, value, share(MOVE)),
            (Stage::Draw, "weighting") => {
                between(before(head, column, self.step)[row], value, share(GO_OUT))
            }
            _ => between(before(head, column, self.step)[row], value, share(MOVE)),
        }
    }

    /// Of a row what content brings and what is kept of the step before, as far as it is in the gated weighting by now.
    pub fn poured(&self, head: &HeadTrace, row: usize) -> [f32; 2] {
        let through = self.come(Stage::Gate, Some(head));
        let gate = head.gate[self.step];
        let content = gate * head.content.row(self.step)[row];
        let kept = (1.0 - gate) * head.previous_weighting(self.step)[row];
        [
            content * within(through, CONTENT),
            kept * within(through, KEPT),
        ]
    }

    /// The weight that the shift moves, row by row, where it is by now: what comes to the same row lies side by side.
    pub fn shifted(&self, head: &HeadTrace) -> Vec<Moving> {
        let through = within(self.come(Stage::Shift, Some(head)), MOVE);
        let columns: Vec<_> = columns_of(head).collect();
        let Some(column) = columns.iter().find(|column| column.array == "shifted") else {
            return Vec::new();
        };
        let from = before(head, column, self.step);
        let mut links = links::moved(head, self.step, from);
        links.sort_by_key(|link| (link.to, link.from));
        let mut left = vec![[0.0; 2]; from.len()];
        let mut moving: Vec<_> = links
            .into_iter()
            .map(|link| {
                let arrives = left[link.to][1];
                left[link.to][1] += link.weight;
                (link, arrives)
            })
            .collect();
        moving.sort_by_key(|(link, _)| (link.from, link.by));
        moving
            .into_iter()
            .map(|(link, arrives)| {
                let leaves = left[link.from][0];
                left[link.from][0] += link.weight;
                Moving {
                    link,
                    by: link.by as f32 * through,
                    before: between(leaves, arrives, through),
                }
            })
            .collect()
    }

    /// How much a head looks at a row by now: where it was, until it has moved.
    pub fn attention(&self, head: &HeadTrace, row: usize) -> f32 {
        let now = head.weighting.row(self.step)[row];
        let mut weight = head.previous_weighting(self.step)[row];
        if let Some(share) = self.glide() {
            return between(weight, now, share);
        }
        let gated = head.gate.width() > 0;
        let columns = columns_of(head).filter(|column| column.is_weighting());
        for column in columns.filter(|column| !(gated && column.stage == Stage::Content)) {
            let share = match (column.stage, self.come(column.stage, Some(head))) {
                (Stage::Content, through) => within(through, SOFTMAX),
                (_, through) => ease(through),
            };
            if share > 0.0 {
                weight = between(weight, column.values(head, self.step)[row], share);
            }
        }
        weight
    }

    /// A number in the memory.
    pub fn memory(&self, row: usize, column: usize) -> f32 {
        let at = |step, place| MemoryAt::new(self.trace, self.stages, step, place);
        let now = at(self.step, self.place).value(row, column);
        if !self.moves() {
            return now;
        }
        if let Some(share) = self.glide() {
            return between(at(self.step, 0).value(row, column), now, share);
        }
        let share = match self.stages.at(self.place).stage {
            Stage::Erase => within(self.through, CHANGE),
            Stage::Add => in_turn(self.through, CHANGE, self.turn(column)),
            _ => return now,
        };
        let before = self.place.checked_sub(1).map(|place| at(self.step, place));
        before.map_or(now, |before| between(before.value(row, column), now, share))
    }

    /// The place of a column of the memory among all, 0 to 1.
    fn turn(&self, column: usize) -> f32 {
        turn(column, self.trace.memory_size()[1])
    }

    /// What a head reads.
    pub fn read(&self, head: &HeadTrace, column: usize) -> f32 {
        let value = |step| head.read.row(step)[column];
        let now = value(self.step);
        if let Some(share) = self.glide() {
            let before = self.step.checked_sub(1).map_or(now, value);
            return between(before, now, share);
        }
        let through = self.come(Stage::Read, Some(head));
        between(0.0, now, within(through, FILL))
    }

    /// What comes in.
    pub fn input(&self, channel: usize) -> f32 {
        let input = self.trace.input.row(self.step);
        let share = in_turn(
            self.come(Stage::Controller, None),
            [0.0, 0.7],
            turn(channel, input.len()),
        );
        match self.glide() {
            Some(share) => between(self.past(&self.trace.input, channel), input[channel], share),
            None => between(0.0, input[channel], share),
        }
    }

    /// What comes out.
    pub fn output(&self, channel: usize) -> f32 {
        let output = self.trace.output.row(self.step);
        let share = in_turn(
            self.come(Stage::Output, None),
            [0.0, 1.0],
            turn(channel, output.len()),
        );
        match self.glide() {
            Some(share) => between(
                self.past(&self.trace.output, channel),
                output[channel],
                share,
            ),
            None => between(0.0, output[channel], share),
        }
    }

    /// The same in the step before, or now.
    fn past(&self, series: &crate::math::Series<f32>, channel: usize) -> f32 {
        series.row(self.step.saturating_sub(1))[channel]
    }
}

/// The place of one among so many, 0 to 1.
pub fn turn(one: usize, of: usize) -> f32 {
    one as f32 / of.saturating_sub(1).max(1) as f32
}

/// The weighting that a stage of a head begins with.
pub fn before<'a>(head: &'a HeadTrace, column: &Column, step: usize) -> &'a [f32] {
    let weightings = columns_of(head).take_while(|other| !std::ptr::eq(*other, column));
    let last = weightings.filter(|other| other.is_weighting()).last();
    last.map_or_else(
        || head.previous_weighting(step),
        |last| last.values(head, step),
    )
}
