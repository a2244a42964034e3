//! Values in motion: the numbers of a stage in progress, interpolated between recorded numbers alone.
//!
//! Each quantity has a recorded value at the start and at the end of a stage. Values between them are interpolated and
//! never exceed either end. The intervals below time every motion within a stage, for moving numbers and moving shapes.

use crate::figure::facts::column::Column;
use crate::figure::facts::heads::is_mixed;
use crate::figure::facts::links::{self, WeightFlow};
use crate::figure::facts::moment::Moment;
use crate::figure::facts::stage::Stage;
use crate::math::Series;
use crate::model::{HeadTrace, array};

/// Start and end of a motion within a stage.
pub type Interval = [f32; 2];

/// Interval in which the key moves over all rows, and their scores grow behind it.
pub const SWEEP: Interval = [0.0, 0.6];
/// Interval in which the scores become a weighting.
pub const SOFTMAX: Interval = [0.55, 1.0];
/// The interval in which the values of the last step leave.
pub const GO: Interval = [0.0, 0.4];
/// The interval in which the parameters from the controller enter.
pub const EMIT: Interval = [0.55, 1.0];
/// Interval in which a weighting enters from the previous column.
pub const OVER: Interval = [0.0, 0.25];
/// Interval in which it is then shifted or sharpened.
pub const MOVE: Interval = [0.2, 1.0];
/// Interval in which the random number moves along the rows to the sampled one.
pub const POINT: Interval = [0.1, 0.65];
/// Interval in which all other rows fade out.
pub const GO_OUT: Interval = [0.65, 1.0];
/// Interval in which the rows travel to the read vector.
pub const TRAVEL: Interval = [0.0, 0.75];
/// The interval in which the read vector fills.
pub const FILL: Interval = [0.4, 1.0];
/// The interval in which the erase or add vector moves to its row.
pub const COME: Interval = [0.0, 0.4];
/// Interval in which the row changes.
pub const CHANGE: Interval = [0.3, 1.0];
/// Opacity of a moving bar.
const LIGHTER: f32 = 0.78;
/// Share of the interval that one cell takes, if cells change in turn.
const OWN: f32 = 0.35;

/// Eases in and out: returns the progress after this share of the time.
pub fn ease(share: f32) -> f32 {
    let x = share.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Returns the progress of a motion in an interval of a stage, from the progress of the stage.
pub fn within(through: f32, [from, to]: Interval) -> f32 {
    ease((through - from) / (to - from))
}

/// Returns the progress of one of several parts that move in turn; `at` is its position among them, 0 to 1.
pub fn in_turn(through: f32, [from, to]: Interval, at: f32) -> f32 {
    let own = OWN * (to - from);
    let start = from + at * (to - from - own);
    within(through, [start, start + own])
}

/// Returns the intervals in which the content and then the previous weighting are filled in, proportional to their share.
pub fn pouring(gate: f32) -> [Interval; 2] {
    let share = if gate.is_finite() { gate } else { 0.5 };
    let split = 0.15 + 0.7 * share.clamp(0.0, 1.0);
    [[0.0, split], [split - 0.05, 1.0]]
}

/// Returns an interpolated number, never beyond the two ends.
pub fn between(from: f32, to: f32, share: f32) -> f32 {
    if share >= 1.0 || !(from.is_finite() && to.is_finite()) {
        return to;
    }
    (from + (to - from) * share.max(0.0)).clamp(from.min(to), from.max(to))
}

/// Returns the opacity of a bar at this progress of its stage.
pub fn lighter(through: f32) -> f32 {
    between(LIGHTER, 1.0, within(through, [0.85, 1.0]))
}

/// Weight on its way from row to row, with its current position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// Source, target and amount.
    pub link: WeightFlow,
    /// The number of rows that it has moved.
    pub moved: f32,
    /// The weight that lies before it in its row.
    pub before: f32,
}

impl Moment<'_> {
    /// True while the stage is in progress.
    pub fn moves(&self) -> bool {
        self.through < 1.0
    }

    /// Returns the progress from the previous step, if whole steps move.
    pub fn glide(&self) -> Option<f32> {
        let whole = self.place >= self.stages.len();
        (whole && self.moves()).then(|| ease(self.through))
    }

    /// Returns the progress of a stage, 0 before it and 1 after it; `head` matters if the heads do not share the stage.
    pub fn progress(&self, stage: Stage, head: Option<&HeadTrace>) -> f32 {
        match self.stages.place(stage, head) {
            Some(at) if at < self.place => 1.0,
            Some(at) if at == self.place => self.through,
            _ => 0.0,
        }
    }

    /// Returns a value of a column; `at` is the position of its row among the visible ones, 0 to 1.
    pub fn column(&self, head: &HeadTrace, column: &Column, row: usize, at: f32) -> f32 {
        let value = column.values(head, self.step)[row];
        if let Some(share) = self.glide() {
            let before = self.step.checked_sub(1);
            let before = before.map_or(value, |step| column.values(head, step)[row]);
            return between(before, value, share);
        }
        let through = self.progress(column.stage, Some(head));
        if through >= 1.0 || column.stage == Stage::Controller {
            return value;
        }
        let share = |part| within(through, part);
        let before = || self.weighting_before(head, column)[row];
        match (column.stage, column.array) {
            (Stage::Content, array::CONTENT) => between(0.0, value, share(SOFTMAX)),
            (Stage::Content, _) => between(0.0, value, in_turn(through, SWEEP, at)),
            (Stage::Gate, _) => self.poured(head, row).iter().sum::<f32>().min(value),
            (Stage::Usage | Stage::Age | Stage::Allocate | Stage::Links | Stage::Weigh, _) => {
                between(0.0, value, share(MOVE))
            }
            (Stage::Draw, array::WEIGHTING) => between(before(), value, share(GO_OUT)),
            _ => between(before(), value, share(MOVE)),
        }
    }

    /// Returns how much of a row has entered the gated weighting: from the content, and from the previous weighting.
    pub fn poured(&self, head: &HeadTrace, row: usize) -> [f32; 2] {
        let through = self.progress(Stage::Gate, Some(head));
        let gate = head.gate[self.step];
        let content = gate * head.content.row(self.step)[row];
        let kept = (1.0 - gate) * head.previous_weighting(self.step)[row];
        let [first, then] = pouring(gate).map(|part| within(through, part));
        [content * first, kept * then]
    }

    /// Returns the shifted weights at their current positions; those for the same row are side by side.
    pub fn shifted(&self, head: &HeadTrace) -> Vec<Moving> {
        let through = within(self.progress(Stage::Shift, Some(head)), MOVE);
        let mut columns = self.stages.columns(head);
        let Some(column) = columns.find(|column| column.array == array::SHIFTED) else {
            return Vec::new();
        };
        let from = self.weighting_before(head, column);
        let links = links::moved(head, self.step, from).into_iter();
        let mut moving: Vec<_> = links
            .map(|link| Moving {
                link,
                moved: link.shift as f32 * through,
                before: 0.0,
            })
            .collect();
        // The weight before it in the target row, then that between the two rows.
        moving.sort_by_key(|Moving { link, .. }| (link.to, link.from));
        let mut arrived = vec![0.0; from.len()];
        for Moving { link, before, .. } in &mut moving {
            *before = arrived[link.to];
            arrived[link.to] += link.weight;
        }
        moving.sort_by_key(|Moving { link, .. }| (link.from, link.shift));
        let mut left = vec![0.0; from.len()];
        for Moving { link, before, .. } in &mut moving {
            *before = between(left[link.from], *before, through);
            left[link.from] += link.weight;
        }
        moving
    }

    /// Returns the weighting at the start of the stage of a column.
    pub fn weighting_before<'a>(&self, head: &'a HeadTrace, column: &Column) -> &'a [f32] {
        let columns = self.stages.columns(head);
        let before = columns.take_while(|other| !std::ptr::eq(*other, column));
        let last = before.filter(|other| other.is_weighting()).last();
        let last = last.map(|last| last.values(head, self.step));
        last.unwrap_or_else(|| head.previous_weighting(self.step))
    }

    /// Returns the current weight of a row: the previous weighting until the head has moved.
    pub fn attention(&self, head: &HeadTrace, row: usize) -> f32 {
        let now = head.weighting.row(self.step)[row];
        let mut weight = head.previous_weighting(self.step)[row];
        if let Some(share) = self.glide() {
            return between(weight, now, share);
        }
        let mixed: &[Stage] = if is_mixed(head) {
            &[Stage::Content, Stage::Allocate, Stage::Links]
        } else if head.gate.width() > 0 {
            &[Stage::Content]
        } else {
            &[]
        };
        let columns = self.stages.columns(head);
        let columns = columns.filter(|column| column.is_weighting());
        for column in columns.filter(|column| !mixed.contains(&column.stage)) {
            let part = match column.stage {
                Stage::Content => SOFTMAX,
                Stage::Gate => [0.0, 1.0],
                Stage::Draw => GO_OUT,
                _ => MOVE,
            };
            let share = within(self.progress(column.stage, Some(head)), part);
            if share > 0.0 {
                weight = between(weight, column.values(head, self.step)[row], share);
            }
        }
        weight
    }

    /// Returns a value of the memory.
    pub fn memory_value(&self, row: usize, column: usize) -> f32 {
        let at = |place| Self { place, ..*self }.memory().value(row, column);
        let now = at(self.place);
        if !self.moves() {
            return now;
        }
        if let Some(share) = self.glide() {
            return between(at(0), now, share);
        }
        let share = match self.stages.at(self.place).stage {
            Stage::Erase => within(self.through, CHANGE),
            Stage::Add => {
                let turn = turn(column, self.trace().memory_size()[1]);
                in_turn(self.through, CHANGE, turn)
            }
            _ => return now,
        };
        let before = self.place.checked_sub(1);
        before.map_or(now, |place| between(at(place), now, share))
    }

    /// Returns the read vector of a head.
    pub fn read(&self, head: &HeadTrace, column: usize) -> f32 {
        let now = head.read.row(self.step)[column];
        let before = self.before(&head.read, column);
        if let Some(share) = self.glide() {
            return between(if self.step > 0 { before } else { now }, now, share);
        }
        match self.progress(Stage::Read, Some(head)) {
            come if come > 0.0 => between(0.0, now, within(come, FILL)),
            _ => between(before, 0.0, self.gone()),
        }
    }

    /// Returns a value of the step before, 0 in the first step.
    fn before(&self, series: &Series<f32>, index: usize) -> f32 {
        let before = self.step.checked_sub(1);
        before.map_or(0.0, |before| series.row(before)[index])
    }

    /// Returns an input bit, between the previous step and this step.
    pub fn input(&self, channel: usize) -> f32 {
        let input = &self.trace().input;
        let turn = turn(channel, input.width());
        let come = in_turn(self.progress(Stage::Controller, None), [0.0, 0.7], turn);
        let (before, now) = (self.before(input, channel), input.row(self.step)[channel]);
        between(before, now, self.glide().unwrap_or(come))
    }

    /// Returns an output bit; that of the previous step fades out as the input arrives.
    pub fn output(&self, channel: usize) -> f32 {
        let output = &self.trace().output;
        let turn = turn(channel, output.width());
        let (before, now) = (self.before(output, channel), output.row(self.step)[channel]);
        if let Some(share) = self.glide() {
            return between(before, now, share);
        }
        match self.progress(Stage::Output, None) {
            come if come > 0.0 => between(0.0, now, in_turn(come, [0.0, 1.0], turn)),
            _ => between(before, 0.0, self.gone()),
        }
    }

    /// Returns the progress of the fade-out of the previous step.
    pub fn gone(&self) -> f32 {
        within(self.progress(Stage::Controller, None), GO)
    }

    /// Returns the progress of the controller's output.
    pub fn emitted(&self) -> f32 {
        let come = within(self.progress(Stage::Controller, None), EMIT);
        self.glide().unwrap_or(come)
    }
}

/// Returns the position of item `one` among `of` items, 0 to 1.
pub fn turn(one: usize, of: usize) -> f32 {
    one as f32 / of.saturating_sub(1).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::facts::episode::MemoryAt;
    use crate::figure::facts::family::columns_of;
    use crate::figure::facts::stages::Stages;
    use crate::figure::fixture::recording;
    use crate::model::{Model, NtmConfig};
    use crate::task::Task;
    use crate::train::Recording;

    /// A machine of every kind, with heads and without, reading first and writing first.
    fn machines() -> Vec<(Recording, bool)> {
        let usual = recording();
        let task: Task = usual.task.clone();
        let mut config = NtmConfig::with_every_mechanism();
        (config.inputs, config.outputs) = (task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (12, 5, 4);
        let every = Recording::new(&Model::new(config, 5), &task, 7, 0);
        let mut without = usual.clone();
        without.trace.heads.clear();
        vec![
            (usual.clone(), false),
            (usual, true),
            (every, false),
            (without, false),
        ]
    }

    const SHARES: [f32; 9] = [0.0, 0.07, 0.2, 0.33, 0.5, 0.61, 0.8, 0.97, 1.0];

    /// Returns all instants of an episode, with step, stage and progress.
    fn instants<'a>(
        recording: &'a Recording,
        stages: &'a Stages,
        mut check: impl FnMut(&dyn Fn(f32) -> Moment<'a>, (usize, usize)),
    ) {
        let places = (0..stages.len()).chain([usize::MAX]);
        for step in 0..recording.trace.steps() {
            for place in places.clone() {
                check(
                    &|through| Moment {
                        recording,
                        stages,
                        step,
                        place,
                        through,
                    },
                    (step, place),
                );
            }
        }
    }

    /// Asserts that a quantity goes from one number to another and never beyond.
    fn lies_between(of: impl Fn(f32) -> f32, ends: [f32; 2], what: &str) {
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let mut last = of(0.0);
        for share in SHARES {
            let value = of(share);
            assert!(
                (low..=high).contains(&value),
                "{what}: {value} at {share} of {ends:?}"
            );
            let onwards = (ends[1] - ends[0]) * (value - last);
            assert!(onwards >= -1e-6, "{what}: back from {last} to {value}");
            last = value;
        }
        assert_eq!(
            of(1.0).to_bits(),
            ends[1].to_bits(),
            "{what}: all of it in the end"
        );
    }

    #[test]
    fn interpolation_stays_between_recorded_values() {
        for (recording, writes_first) in machines() {
            let trace = &recording.trace;
            let stages = Stages::of(trace, writes_first);
            instants(&recording, &stages, |at, (step, place)| {
                let whole = place >= stages.len();
                let now = (place < stages.len()).then(|| stages.at(place));
                for (head, column) in trace
                    .heads
                    .iter()
                    .flat_map(|head| columns_of(head).map(move |column| (head, column)))
                {
                    let values = column.values(head, step);
                    for (row, &value) in values.iter().enumerate() {
                        let from = if whole {
                            step.checked_sub(1)
                                .map_or(value, |step| column.values(head, step)[row])
                        } else if column.stage == Stage::Controller {
                            value
                        } else if now.is_some_and(|now| now.stage == column.stage && now.has(head))
                        {
                            match column.stage {
                                Stage::Content
                                | Stage::Gate
                                | Stage::Usage
                                | Stage::Age
                                | Stage::Allocate
                                | Stage::Links
                                | Stage::Weigh => 0.0,
                                _ => at(1.0).weighting_before(head, column)[row],
                            }
                        } else {
                            continue;
                        };
                        let share = turn(row, values.len());
                        lies_between(
                            |through| at(through).column(head, column, row, share),
                            [from, value],
                            column.word,
                        );
                    }
                }
            });
        }
    }

    #[test]
    fn animation_starts_and_ends_at_recorded_values() {
        for (recording, writes_first) in machines() {
            let trace = &recording.trace;
            let stages = Stages::of(trace, writes_first);
            let [rows, columns] = trace.memory_size();
            instants(&recording, &stages, |at, (step, place)| {
                let memory = |place, row, column| {
                    MemoryAt::new(trace, &stages, step, place).value(row, column)
                };
                let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                for (row, column) in cells.filter(|_| !trace.heads.is_empty()) {
                    let before = if place >= stages.len() {
                        0
                    } else {
                        place.saturating_sub(1)
                    };
                    let ends = [before, place].map(|place| memory(place, row, column));
                    lies_between(
                        |through| at(through).memory_value(row, column),
                        ends,
                        "memory",
                    );
                }
                let ends =
                    |of: &dyn Fn(&Moment<'_>) -> f32| [0.0, 1.0].map(|through| of(&at(through)));
                for channel in 0..trace.input.width() {
                    let of = |at: &Moment<'_>| at.input(channel);
                    lies_between(|through| of(&at(through)), ends(&of), "input");
                }
                for channel in 0..trace.output.width() {
                    let of = |at: &Moment<'_>| at.output(channel);
                    lies_between(|through| of(&at(through)), ends(&of), "output");
                }
                for head in &trace.heads {
                    for column in 0..head.read.width() {
                        let of = |at: &Moment<'_>| at.read(head, column);
                        lies_between(|through| of(&at(through)), ends(&of), "read");
                    }
                    for row in 0..rows {
                        let of = |at: &Moment<'_>| at.attention(head, row);
                        lies_between(|through| of(&at(through)), ends(&of), "attention");
                    }
                }
            });
        }
    }

    #[test]
    fn stage_starts_where_previous_ended() {
        for (recording, writes_first) in machines() {
            let trace = &recording.trace;
            let stages = Stages::of(trace, writes_first);
            let all = (0..trace.steps())
                .flat_map(|step| (0..stages.len()).map(move |place| (step, place)));
            let all: Vec<_> = all.collect();
            for pair in all.windows(2) {
                let [left, begins] =
                    [(pair[0], 1.0), (pair[1], 0.0)].map(|((step, place), through)| Moment {
                        recording: &recording,
                        stages: &stages,
                        step,
                        place,
                        through,
                    });
                let same =
                    |a: f32, b: f32, what| assert_eq!(a.to_bits(), b.to_bits(), "{what} {pair:?}");
                for head in &trace.heads {
                    for row in 0..head.weighting.width() {
                        same(
                            left.attention(head, row),
                            begins.attention(head, row),
                            "attention",
                        );
                    }
                    for column in 0..head.read.width() {
                        same(left.read(head, column), begins.read(head, column), "read");
                    }
                }
                let [rows, columns] = trace.memory_size();
                let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                for (row, column) in cells.filter(|_| !trace.heads.is_empty()) {
                    same(
                        left.memory_value(row, column),
                        begins.memory_value(row, column),
                        "memory",
                    );
                }
                for channel in 0..trace.input.width() {
                    same(left.input(channel), begins.input(channel), "input");
                }
            }
        }
    }

    #[test]
    fn sliding_weight_tiles_source_and_target_rows() {
        let (recording, _) = machines().swap_remove(0);
        let trace = &recording.trace;
        let stages = Stages::of(trace, false);
        for (head, step) in trace
            .heads
            .iter()
            .flat_map(|head| (0..trace.steps()).map(move |step| (head, step)))
        {
            let place = stages.place(Stage::Shift, Some(head)).unwrap();
            for through in [0.0, 1.0] {
                let instant = Moment {
                    recording: &recording,
                    stages: &stages,
                    step,
                    place,
                    through,
                };
                let mut lengths = [0.0; 12];
                let mut moving = instant.shifted(head);
                moving.sort_by(|a, b| a.before.total_cmp(&b.before));
                for moving in moving {
                    let row = if through > 0.5 {
                        moving.link.to
                    } else {
                        moving.link.from
                    };
                    assert!((moving.before - lengths[row]).abs() < 1e-6, "side by side");
                    lengths[row] += moving.link.weight;
                }
                let values = if through > 0.5 {
                    head.shifted.row(step)
                } else {
                    head.gated.row(step)
                };
                for (length, value) in lengths.into_iter().zip(values) {
                    assert!((length - value).abs() < 0.05, "{length} of {value}");
                }
            }
        }
    }
}
