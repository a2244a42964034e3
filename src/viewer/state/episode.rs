//! An episode: the one that is asked for, and the one on screen with what its pictures need to know.

use std::sync::Arc;

use super::events::{self, Event, Stretch};
use crate::figure::facts::{Scales, Telling, Written};
use crate::figure::overlap::Redundancies;
use crate::figure::rows::addressed;
use crate::figure::spread::Spread;
use crate::figure::{Derivatives, EMITTED, Layer, Scalar, Stages, scalars, touched, trip};
use crate::math::Series;
use crate::model::{Draw, HeadTrace, Overrun, Sampling};
use crate::task::{Episode, Task};
use crate::train::{LARGEST_RECORDING, Quantity, Recording, is_absent, recording_bytes};
use crate::viewer::files::{Machine, Shown};
use crate::viewer::rows::Rows;

/// The longest sequence, or the most items, that can be asked for. Memory sets a limit of its own: see the worker.
pub const LONGEST: usize = 2000;
/// A vector of fewer bits is easily blank or full.
const LEAST_BITS: usize = 4;
/// So many seeds are tried for an episode worth looking at.
const MOST_SEEDS: u64 = 2000;
/// The most repeats that can be asked for.
pub const MOST_REPEATS: usize = 200;

/// The episode that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Which of [`Session::machines`].
    pub machine: usize,
    /// The length of the sequence, or the number of items.
    pub size: usize,
    /// Repeats, where the task has them.
    pub repeats: usize,
    /// The seed.
    pub seed: u64,
    /// Memory rows.
    pub rows: usize,
    /// What becomes of the noise, where heads draw.
    pub sampling: Sampling,
    /// Which draw it is.
    pub sample: u64,
    /// Bits of the input that are the other way round than the seed draws them: step and channel.
    pub flipped: Vec<(usize, usize)>,
    /// The episode to run on, where that is not drawn from the seed.
    pub given: Option<Given>,
}

/// An episode that is asked for from outside.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The task it is of.
    pub task: Task,
    /// The episode.
    pub episode: Episode,
    /// The seed and the index that draw it; `None` when its bits were given by hand.
    pub origin: Option<Draw>,
}

/// An episode that cannot be drawn again, and the task that it is of.
#[derive(Clone, Debug)]
pub struct Given(pub Arc<(Task, Episode)>);

/// True where every vector that is shown has a quarter to three quarters of its bits set, others than the one before.
fn is_lively(task: &Task, episode: &Episode) -> bool {
    let bits = task.bits();
    let inputs = episode.phases.iter().filter(|phase| phase.name == "input");
    let steps = inputs.flat_map(|phase| phase.start..phase.end);
    // The channel behind the bits says where an item begins.
    let is_shown = |step: &usize| {
        episode
            .input
            .get([*step, bits])
            .is_none_or(|flag| *flag <= 0.5)
    };
    let shown = steps.filter(is_shown).map(|step| {
        let row = episode.input.row(step);
        row.iter()
            .take(bits)
            .map(|bit| *bit > 0.5)
            .collect::<Vec<_>>()
    });
    let shown: Vec<_> = shown.collect();
    let is_mixed = |vector: &Vec<bool>| {
        let set = vector.iter().filter(|bit| **bit).count();
        (bits..=3 * bits).contains(&(4 * set))
    };
    let is_like = |pair: &[Vec<bool>]| pair[0] == pair[1];
    !shown.is_empty() && shown.iter().all(is_mixed) && !shown.windows(2).any(is_like)
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Given {}

impl Wish {
    /// The longest episode that the machine was trained on, as far as it can be asked for and recorded.
    pub fn of(index: usize, machine: &Machine, seed: u64) -> Self {
        let mut wish = Self {
            machine: index,
            size: (*machine.task.size().end()).min(LONGEST),
            repeats: machine.task.repeats().map_or(1, |range| {
                // Enough to see a pattern, few enough to see it at a glance.
                (*range.end()).min(4).max(*range.start()).min(MOST_REPEATS)
            }),
            seed,
            rows: machine.ntm.config.rows(),
            sampling: Sampling::Mean,
            sample: 0,
            flipped: Vec::new(),
            given: None,
        };
        let fits = |wish: &Self| {
            let steps = wish.task(machine).longest();
            recording_bytes(&machine.ntm.config, steps) <= LARGEST_RECORDING
        };
        let least = machine.task.least_size();
        while wish.size > least && !fits(&wish) {
            wish.size = (wish.size / 2).max(least);
        }
        wish
    }

    /// The same of the first seed, from this one on, whose input is worth looking at: no vector that is shown is nearly
    /// blank or nearly full, and none is like the one before. Where a task has too few bits for that, of this seed.
    #[must_use]
    pub fn lively(self, machine: &Machine) -> Self {
        let task = self.task(machine);
        let is_lively = |seed: &u64| is_lively(&task, &task.episode(*seed, 0));
        let mut seeds = self.seed..self.seed.saturating_add(MOST_SEEDS);
        let seed = seeds.find(|seed| task.bits() >= LEAST_BITS && is_lively(seed));
        Self {
            seed: seed.unwrap_or(self.seed),
            ..self
        }
    }

    /// True where both ask for one episode, though it may be drawn otherwise.
    pub fn is_alike(&self, other: &Self) -> bool {
        let (sampling, sample) = (self.sampling, self.sample);
        let other = Self {
            sampling,
            sample,
            ..other.clone()
        };
        *self == other
    }

    /// The task that draws just the episodes wished for.
    pub fn task(&self, machine: &Machine) -> Task {
        if let Some(given) = &self.given {
            return given.0.0.clone();
        }
        let task = machine.task.clone();
        // The episodes of a file have the sizes that they have.
        if task.held_out().is_some() {
            return task;
        }
        let task = task.with_size(self.size);
        if task.repeats().is_some() {
            task.with_repeats(self.repeats)
        } else {
            task
        }
    }

    /// The steps to record.
    pub fn steps(&self, task: &Task) -> usize {
        match &self.given {
            Some(given) => given.0.1.steps(),
            None if task.held_out().is_some() => task.episode(self.seed, 0).steps(),
            None => task.longest(),
        }
    }

    /// The episode: drawn, or given, with the bits that were changed by hand.
    pub fn episode(&self, task: &Task) -> Episode {
        let mut episode = match &self.given {
            Some(given) => given.0.1.clone(),
            None => task.episode(self.seed, 0),
        };
        for &(step, channel) in &self.flipped {
            if let Some(other) = task.flipped(&episode, step, channel) {
                episode = other;
            }
        }
        episode
    }

    /// True when the machine's task draws this episode of `of`.
    pub fn draws(&self, machine: &Machine, of: &Task, episode: &Episode) -> bool {
        let task = self.task(machine);
        // What a file says of its size need not be so.
        task.name() == of.name()
            && self.steps(&task) == episode.steps()
            && self.episode(&task) == *episode
    }
}

/// An episode on screen with what the pictures need to know about it, worked out once.
#[derive(Clone, Debug)]
pub struct Open {
    /// Distinguishes this episode from all others of the session.
    pub serial: u64,
    /// The episode and its origin.
    pub shown: Arc<Shown>,
    /// The rows that some head touches.
    pub touched: Arc<Rows>,
    /// All rows.
    pub all: Arc<Rows>,
    /// What the colours of signed values mean.
    pub scales: Scales,
    /// When its rows were first written.
    pub written: Arc<Written>,
    /// Which head has something to say.
    pub telling: Telling,
    /// Which heads get into each other's way.
    pub redundancies: Arc<Redundancies>,
    /// Where something changes, in order.
    pub events: Arc<Vec<Event>>,
    /// What every head does over time.
    pub heads: Arc<Vec<HeadLines>>,
    /// How many recorded values are not finite.
    pub non_finite: usize,
    /// That its writes reach rows already written.
    pub overrun: Option<Overrun>,
    /// What was asked for; `None` for a trace that was opened.
    pub wish: Option<Wish>,
    /// What a step consists of.
    pub stages: Stages,
    /// How many steps before its answers the machine reads them.
    pub ahead: usize,
    /// What many samples of it say, once they were asked.
    pub spread: Option<Arc<Spread>>,
    /// How much everything in it mattered, where that is shown.
    pub mattered: Option<Arc<Derivatives>>,
}

/// Every recording is another.
impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shown, &other.shown)
    }
}

impl Open {
    /// Works out what the pictures need: a pass over everything recorded, so not for the thread that draws.
    pub fn new(shown: Shown, wish: Option<Wish>) -> Self {
        let trace = &shown.recording.trace;
        let heads = trace.heads.iter();
        let heads = heads.map(|head| HeadLines::of(head, trace.steps()));
        let total = addressed(trace);
        Self {
            serial: 0,
            touched: Arc::new(Rows::of(touched(&shown.recording), total)),
            all: Arc::new(Rows::all(total)),
            scales: Scales::of(trace),
            written: Arc::new(Written::of(trace)),
            telling: Telling::of(&shown.recording),
            redundancies: Arc::new(Redundancies::of(trace)),
            events: Arc::new(events::events(&shown.recording)),
            heads: Arc::new(heads.collect()),
            non_finite: not_finite(&shown.recording),
            overrun: trace.overrun(),
            stages: Stages::of(trace, shown.writes_first()),
            ahead: trip::ahead(&shown.recording, shown.writes_first()),
            wish,
            spread: None,
            mattered: None,
            shown: Arc::new(shown),
        }
    }

    /// What its pictures show.
    pub fn layer(&self) -> Layer<'_> {
        let mattered = self.mattered.as_deref();
        mattered.map_or(Layer::Values, Layer::Derivative)
    }

    /// Lines of numbers over time that there may be of a head; none of a machine without heads.
    pub fn lines(&self) -> usize {
        let redundancy = usize::from(!self.redundancies.0.is_empty());
        let unknown = usize::from(self.spread.is_some());
        if self.heads.is_empty() {
            0
        } else {
            EMITTED.len() + redundancy + unknown
        }
    }

    /// True when the read heads see what was written in the same step.
    pub fn writes_first(&self) -> bool {
        self.shown.writes_first()
    }

    /// What it is called: its file, or its machine, length and seed.
    pub fn name(&self) -> String {
        let recording = &self.shown.recording;
        match (&self.shown.file, &self.shown.machine) {
            (Some(file), _) => file.clone(),
            (None, Some(machine)) if let Some(count) = machine.task.held_out() => {
                let place = |drawn: Draw| drawn.seed.wrapping_add(drawn.episode);
                let place = recording.origin.map_or(0, place) % count.max(1) as u64;
                format!("{}, held out {place} of {count}", machine.title)
            }
            (None, Some(machine)) => format!(
                "{}, {} {}, {}",
                machine.title,
                machine.task.measure().name(),
                recording.episode.size,
                drawn(recording, "seed ", self.by_hand())
            ),
            (None, None) => task_name(&recording.task).to_owned(),
        }
    }

    /// What is said instead of a seed.
    fn by_hand(&self) -> &'static str {
        let given = self.wish.as_ref().is_some_and(|wish| wish.given.is_some());
        if given { "given input" } else { "bits by hand" }
    }

    /// True when both are one episode of one machine, or of one file, though it may have been recorded twice.
    pub fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.shown, &other.shown);
        let same_machine = match (&a.machine, &b.machine) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let same_wish = self.wish.is_some() && self.wish == other.wish;
        Arc::ptr_eq(a, b) || (same_machine && same_wish)
    }

    /// True for a trace that was opened: it is shown as it was recorded.
    pub fn is_of_a_file(&self) -> bool {
        self.shown.machine.is_none()
    }
}

/// What a head does over time, worked out from its weightings.
#[derive(Clone, Debug)]
pub struct HeadLines {
    /// β, g, the rows it moves by on average, γ and the entropy of its weighting in bits, in every step.
    pub scalars: Vec<Scalar>,
    /// How it moves, stretch by stretch.
    pub stretches: Vec<Stretch>,
}

impl HeadLines {
    fn of(head: &HeadTrace<f32>, steps: usize) -> Self {
        Self {
            scalars: scalars(head, steps),
            stretches: events::stretches(head, steps),
        }
    }
}

/// Which episode to record, and with what: the first one of the run with the seed of the wish.
#[derive(Clone, Debug)]
pub struct Request {
    /// The machine.
    pub machine: Arc<Machine>,
    /// The task with the parameters of this episode.
    pub task: Task,
    /// What was asked for.
    pub wish: Wish,
    /// The derivatives of what are shown in the place of values, and so are to come with it.
    pub mattered: Option<Quantity>,
}

/// Where the bits of an episode come from.
pub fn drawn(recording: &Recording, seed: &str, by_hand: &str) -> String {
    let of_seed = recording
        .origin
        .map(|drawn| format!("{seed}{}", drawn.seed));
    let drawn = match (recording.trace.sampling, recording.origin) {
        (Sampling::Drawn, Some(draw)) if recording.trace.noise().next().is_some() => {
            let separator = if seed.starts_with('-') {
                "-draw"
            } else {
                ", draw "
            };
            format!("{separator}{}", draw.sample)
        }
        _ => String::new(),
    };
    of_seed.unwrap_or_else(|| by_hand.to_owned()) + &drawn
}

/// How many values of a recording, of all the arrays that a trace file holds, are not finite.
fn not_finite(recording: &Recording) -> usize {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let layers = trace
        .layers
        .iter()
        .flat_map(|layer| [&layer.hidden, &layer.cell]);
    let series = [&trace.input, &trace.output, &trace.memory_columns].into_iter();
    let values = series.chain(layers).flat_map(Series::as_slice);
    let lists = recording
        .loss
        .iter()
        .chain(&episode.mask)
        .chain(&episode.target);
    let heads = trace.heads.iter().flat_map(HeadTrace::values);
    let values = values.chain(lists).copied().chain(heads);
    let broken = |value: &f32| !value.is_finite() && !is_absent(*value);
    values.filter(broken).count()
}

/// A task as people call it.
pub fn task_name(task: &Task) -> &str {
    match task {
        Task::Copy(_) => "Copy",
        Task::RepeatCopy(_) => "Repeat copy",
        Task::AssociativeRecall(_) => "Associative recall",
        Task::Ngrams(_) => "Dynamic N-grams",
        Task::PrioritySort(_) => "Priority sort",
        Task::Episodes(_) => "Episodes of a file",
        Task::Other(task) => &task.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::fixture::{config, copying, machine, recording};

    #[test]
    fn the_first_wish_can_be_fulfilled() {
        let wish = |length: usize, rows: usize| {
            let mut config = config();
            (config.rows, config.columns) = (rows, 20);
            Wish::of(0, &machine(config, copying(1..=length)), 1).size
        };
        assert_eq!(wish(20, 128), 20);
        assert_eq!(wish(100_000, 128), LONGEST);
        assert_eq!(wish(100_000, 8192), LONGEST / 2);
        assert_eq!(wish(20, 1 << 20), 5);
    }

    #[test]
    fn every_recorded_array_is_looked_at() {
        let mut recording = recording(config(), 3, 1);
        assert_eq!(not_finite(&recording), 0);
        recording.loss[1] = f32::NAN;
        recording.trace.heads[0].strength[2] = f32::INFINITY;
        recording.trace.heads[1].shift.row_mut(0)[1] = f32::NAN;
        recording.trace.layers[0].cell.row_mut(3)[2] = f32::NAN;
        assert_eq!(not_finite(&recording), 4);
        // Of an output of exactly 1, as a file may have it, the logit is not finite; no one recorded that.
        recording.trace.logit.row_mut(2)[0] = f32::INFINITY;
        assert_eq!(not_finite(&recording), 4);
    }
}
