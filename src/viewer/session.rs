//! What is open: machines, the episode on screen and the one that is asked for.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::files::{Machine, OpenedTrace};
use super::inspect::vector::expected_shift;
use super::rows::Rows;
use super::story::{self, Event, Stretch};
use super::theme::Scale;
use super::widget::track;
use super::worker::{Request, Shown};
use crate::figure::{Scalar, scalars};
use crate::math::Series;
use crate::model::config::Order;
use crate::model::{Draw, HeadTrace, ModelConfig, NtmConfig, Overrun};
use crate::player::Stage;
use crate::task::{Episode, Task};
use crate::train::{LARGEST_RECORDING, Recording, is_absent, recording_bytes};

/// The longest sequence, or the most items, that can be asked for. Memory sets a limit of its own: see the worker.
pub const LONGEST: usize = 2000;
/// The most repeats that can be asked for.
pub const MOST_REPEATS: usize = 200;
/// The least and the most memory rows on the track, where a machine runs on any number of them.
const ROWS: [usize; 2] = [32, 4096];

/// The episode that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub struct Given(Arc<(Task, Episode)>);

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Given {}

impl Wish {
    /// The longest episode that the machine was trained on, as far as it can be asked for and recorded.
    fn of(index: usize, machine: &Machine, seed: u64) -> Self {
        let mut wish = Self {
            machine: index,
            size: (*machine.task.size().end()).min(LONGEST),
            repeats: machine.task.repeats().map_or(1, |range| {
                // Enough to see a pattern, few enough to see it at a glance.
                (*range.end()).min(4).max(*range.start()).min(MOST_REPEATS)
            }),
            seed,
            rows: machine.ntm.config.rows(),
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

    /// True when only the number of memory rows is another.
    pub fn is_only_on_other_rows(&self, before: &Self) -> bool {
        let alike = Self {
            rows: self.rows,
            ..before.clone()
        };
        self.rows != before.rows && *self == alike
    }

    /// The task that draws just the episodes wished for.
    fn task(&self, machine: &Machine) -> Task {
        if let Some(given) = &self.given {
            return given.0.0.clone();
        }
        let task = machine.task.clone().with_size(self.size);
        if task.repeats().is_some() {
            task.with_repeats(self.repeats)
        } else {
            task
        }
    }

    /// The steps to record.
    pub fn steps(&self, task: &Task) -> usize {
        let given = self.given.as_ref();
        given.map_or_else(|| task.longest(), |given| given.0.1.steps())
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
    fn draws(&self, machine: &Machine, of: &Task, episode: &Episode) -> bool {
        let task = self.task(machine);
        // What a file says of its size need not be so.
        task.name() == of.name()
            && task.longest() == episode.steps()
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
    /// The scale of memory and reads.
    pub memory_scale: Scale,
    /// The scale of keys and adds.
    pub vector_scale: Scale,
    /// The scale of the controller's cells.
    pub state_scale: Scale,
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
}

impl Open {
    /// Works out what the pictures need: a pass over everything recorded, so not for the thread that draws.
    pub fn new(shown: Shown, wish: Option<Wish>) -> Self {
        let trace = &shown.recording.trace;
        let heads = &trace.heads;
        let total = heads.first().map_or(0, |head| head.initial.width());
        let vectors = heads
            .iter()
            .flat_map(|head| head.key.as_slice().iter().chain(head.add.as_slice()));
        Self {
            serial: 0,
            touched: Arc::new(Rows::touched(&shown.recording)),
            all: Arc::new(Rows::all(total)),
            memory_scale: Scale::signed(trace.memory_columns.as_slice().iter()),
            vector_scale: Scale::signed(vectors),
            state_scale: Scale::signed(trace.layers.iter().flat_map(|layer| layer.cell.as_slice())),
            events: Arc::new(story::events(&shown.recording)),
            heads: Arc::new(
                heads
                    .iter()
                    .map(|head| HeadLines::of(head, trace.steps()))
                    .collect(),
            ),
            non_finite: not_finite(&shown.recording),
            overrun: trace.overrun(),
            wish,
            shown: Arc::new(shown),
        }
    }

    /// A recorded trace, as it is.
    pub fn of_file(trace: OpenedTrace) -> Self {
        let shown = Shown {
            recording: trace.recording,
            config: trace.config,
            machine: None,
            file: Some(trace.title),
            sha256: trace.sha256,
        };
        Self::new(shown, None)
    }

    /// True when the read heads see what was written in the same step.
    pub fn writes_first(&self) -> bool {
        let config = self.shown.config.as_ref();
        config.is_some_and(|config| config.order() == Order::WriteFirst)
    }

    /// What a step consists of, in the order in which this machine works.
    pub fn stages(&self) -> &'static [Stage] {
        if self.shown.recording.trace.heads.is_empty() {
            &Stage::WITHOUT_HEADS
        } else if self.writes_first() {
            &Stage::WRITE_FIRST
        } else {
            &Stage::ALL
        }
    }

    /// When this machine does for this head what others do in `stage`.
    pub fn stage_of(&self, head: usize, stage: Stage) -> Stage {
        let reads = |head: &HeadTrace<f32>| !head.is_write();
        if self.writes_first()
            && self
                .shown
                .recording
                .trace
                .heads
                .get(head)
                .is_some_and(reads)
        {
            stage.after_writing()
        } else {
            stage
        }
    }

    /// What it is called: its file, or its machine, length and seed.
    pub fn name(&self) -> String {
        let recording = &self.shown.recording;
        match (&self.shown.file, &self.shown.machine) {
            (Some(file), _) => file.clone(),
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
    pub scalars: [Scalar; 5],
    /// How it moves, stretch by stretch.
    pub stretches: Vec<Stretch>,
}

impl HeadLines {
    fn of(head: &HeadTrace<f32>, steps: usize) -> Self {
        let entropy = (0..steps).map(|t| story::entropy(head.weighting.row(t)));
        let shift = (0..steps).map(|t| expected_shift(head, t));
        Self {
            scalars: scalars(head, shift.collect(), entropy.collect()),
            stretches: story::stretches(head, steps),
        }
    }
}

/// Everything that is open.
#[derive(Clone, Debug)]
pub struct Session {
    /// The machines to choose from.
    pub machines: Vec<Arc<Machine>>,
    /// The episode asked for last.
    pub wish: Wish,
    /// The episode on screen.
    pub open: Option<Open>,
    /// The wish that was last fulfilled.
    granted: Option<Wish>,
    serial: u64,
}

impl Session {
    /// A session with these machines, nothing on screen yet.
    pub fn new(machines: Vec<Machine>, seed: u64) -> Self {
        let machines: Vec<_> = machines.into_iter().map(Arc::new).collect();
        let wish = machines.first().map_or(
            Wish {
                machine: 0,
                size: 1,
                repeats: 1,
                seed,
                rows: 1,
                flipped: Vec::new(),
                given: None,
            },
            |machine| Wish::of(0, machine, seed),
        );
        Self {
            machines,
            wish,
            open: None,
            granted: None,
            serial: 0,
        }
    }

    /// The machine asked for.
    pub fn machine(&self) -> Option<&Arc<Machine>> {
        self.machines.get(self.wish.machine)
    }

    /// What to record for the present wish.
    pub fn request(&self) -> Option<Request> {
        let machine = self.machine()?.clone();
        Some(Request {
            task: self.wish.task(&machine),
            wish: self.wish.clone(),
            machine,
        })
    }

    /// What to record to show what a machine does.
    pub fn first_request(&self, index: usize) -> Option<Request> {
        let machine = self.machines.get(index)?.clone();
        let wish = Wish::of(index, &machine, self.wish.seed);
        Some(Request {
            task: wish.task(&machine),
            wish,
            machine,
        })
    }

    /// The first machine that has something to address memory with.
    pub fn first_with_heads(&self) -> Option<usize> {
        let mut machines = self.machines.iter();
        machines.position(|machine| machine.ntm.config.heads() > 0)
    }

    /// A wish could not be fulfilled: what is asked for is again what is on screen, unless something else
    /// was asked for since.
    pub fn refuse(&mut self, wish: &Wish) {
        if let (true, Some(granted)) = (self.wish == *wish, &self.granted) {
            self.wish = granted.clone();
        }
    }

    /// Asks for another machine, at its own sizes.
    pub fn choose(&mut self, index: usize) {
        if let Some(machine) = self.machines.get(index) {
            self.wish = Wish::of(index, machine, self.wish.seed);
        }
    }

    /// Asks for a length or a number of items, brought into range; says so when it was not.
    pub fn set_size(&mut self, size: usize) -> Option<String> {
        let task = &self.machine()?.task;
        let (label, sizes) = (size_label(task), sizes(task));
        self.wish.size = size.clamp(*sizes.start(), *sizes.end());
        limit(label, size, &sizes)
    }

    /// Asks for a number of repeats, brought into range; says so when it was not.
    pub fn set_repeats(&mut self, repeats: usize) -> Option<String> {
        self.wish.repeats = repeats.clamp(1, MOST_REPEATS);
        limit("Repeats", repeats, &(1..=MOST_REPEATS))
    }

    /// The bit of the input that is asked for: the episode on screen may be an older one.
    pub fn bit(&self, step: usize, channel: usize) -> Option<bool> {
        let open = self.open.as_ref()?;
        let bit = *open.shown.recording.episode.input.get([step, channel])? > 0.5;
        let flipped = |wish: &Wish| wish.flipped.contains(&(step, channel));
        Some(bit != (flipped(&self.wish) != open.wish.as_ref().is_some_and(flipped)))
    }

    /// Asks for another value of a bit of the input; false where it is no bit of a recorded machine.
    pub fn flip(&mut self, step: usize, channel: usize) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| !open.is_of_a_file()) else {
            return false;
        };
        let recording = &open.shown.recording;
        if recording
            .task
            .flipped(&recording.episode, step, channel)
            .is_none()
        {
            return false;
        }
        let bits = &mut self.wish.flipped;
        match bits.iter().position(|bit| *bit == (step, channel)) {
            Some(index) => {
                bits.remove(index);
            }
            None => bits.push((step, channel)),
        }
        true
    }

    /// Asks for a number of memory rows, brought into range where the machine runs on any; says so when it
    /// was not.
    pub fn set_rows(&mut self, rows: usize) -> Option<String> {
        let config = &self.machine()?.ntm.config;
        if !config.runs_on_any_rows() {
            return None;
        }
        let allowed = least_rows(config)..=NtmConfig::MAX_ROWS;
        self.wish.rows = rows.clamp(*allowed.start(), *allowed.end());
        limit("Memory rows", rows, &allowed)
    }

    /// The numbers of memory rows to slide along: as many as can be recorded at the length asked for.
    pub fn rows_on_offer(&self) -> Vec<usize> {
        let Some(machine) = self.machine() else {
            return vec![self.wish.rows];
        };
        let own = machine.ntm.config.rows();
        let least = ROWS[0].max(least_rows(&machine.ntm.config)).min(own);
        let steps = self.wish.steps(&self.wish.task(machine));
        let fits = |rows: &usize| {
            let config = machine.ntm.config.with_rows(*rows);
            config.is_ok_and(|config| recording_bytes(&config, steps) <= LARGEST_RECORDING)
        };
        let mut stops = track::stops(least, ROWS[1].max(own));
        if machine.ntm.config.runs_on_any_rows() {
            stops.retain(|rows| fits(rows) || *rows == least);
        }
        stops
    }

    /// Adds a machine, or replaces the one of the same name, and asks for it; returns which it is.
    pub fn add(&mut self, machine: Machine) -> usize {
        let place = self.machines.iter().position(|m| m.name == machine.name);
        let index = place.unwrap_or(self.machines.len());
        if place.is_some() {
            self.machines[index] = Arc::new(machine);
        } else {
            self.machines.push(Arc::new(machine));
        }
        self.choose(index);
        index
    }

    /// Puts an episode on screen.
    pub fn show(&mut self, open: Open) {
        if open.wish.is_some() {
            self.granted.clone_from(&open.wish);
        }
        self.open = Some(self.numbered(open));
    }

    /// An episode that can be told from all others.
    pub fn numbered(&mut self, open: Open) -> Open {
        self.serial += 1;
        Open {
            serial: self.serial,
            ..open
        }
    }

    /// Puts an episode on screen that has been there before, and hands back the one that was there.
    pub fn exchange(&mut self, open: Open) -> Option<Open> {
        if let Some(wish) = &open.wish {
            self.wish.clone_from(wish);
            self.granted = Some(wish.clone());
        }
        self.open.replace(open)
    }

    /// Asks another machine for the episode on screen: drawn again where that can be, or as it was. A machine
    /// with other channels gets one of its own.
    pub fn choose_alike(&mut self, index: usize) {
        let same_bits = match &self.open {
            Some(Open {
                wish: Some(wish), ..
            }) => wish.flipped.clone(),
            _ => Vec::new(),
        };
        self.choose(index);
        let (Some(open), Some(machine)) = (&self.open, self.machines.get(index)) else {
            return;
        };
        let (machine, shown) = (machine.clone(), open.shown.clone());
        let recording = &shown.recording;
        if machine.task.name() == recording.task.name() {
            self.wish.flipped = same_bits;
        }
        let (trace, config) = (&recording.trace, &machine.ntm.config);
        let fits =
            (trace.input.width(), trace.output.width()) == (config.inputs(), config.outputs());
        let (task, episode) = (&recording.task, &recording.episode);
        self.ask_for(&machine, task, episode, recording.origin, fits);
    }

    /// Asks the machine for an episode of the same size, and if it `fits` for that very one: drawn again where
    /// that can be, or as it is.
    fn ask_for(
        &mut self,
        machine: &Machine,
        task: &Task,
        episode: &Episode,
        origin: Option<Draw>,
        fits: bool,
    ) {
        if machine.task.name() == task.name() {
            (self.wish.size, self.wish.repeats) = (episode.size, episode.repeats.max(1));
            if let Some(Draw {
                seed, episode: 0, ..
            }) = origin
            {
                self.wish.seed = seed;
            }
        }
        if fits && !self.wish.draws(machine, task, episode) {
            self.wish.flipped.clear();
            let own = (task.clone(), episode.clone());
            self.wish.given = Some(Given(Arc::new(own)));
        }
    }

    /// Asks for what the window is to begin with.
    pub fn begin(&mut self, rows: Option<usize>, asked: Option<Asked>) {
        let Some(machine) = self.machine().cloned() else {
            return;
        };
        self.wish.rows = rows.unwrap_or(self.wish.rows);
        if let Some(asked) = asked {
            self.ask_for(&machine, &asked.task, &asked.episode, asked.origin, true);
        }
    }

    /// The title of what is on screen.
    pub fn title(&self) -> String {
        match &self.open {
            None => "Tapescope".to_owned(),
            Some(open) => format!("{} – Tapescope", open.name()),
        }
    }

    /// A good name for the file of the episode on screen.
    pub fn file_name(&self) -> String {
        self.open.as_ref().map_or_else(
            || "episode.ntmtrace.json".to_owned(),
            |open| {
                let recording = &open.shown.recording;
                // Of a file without a seed nobody knows where its bits come from.
                let by_hand = if open.is_of_a_file() { "" } else { "-edited" };
                let seed = drawn(recording, "-seed", by_hand);
                let measure = recording.task.size_name();
                // Somebody else's task may be called like a folder.
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
                let task = recording.task.name();
                let task: String = task.chars().filter(|&c| plain(c)).collect();
                let size = recording.episode.size;
                format!("{task}-{measure}{size}{seed}.ntmtrace.json")
            },
        )
    }
}

/// Where the bits of an episode come from.
fn drawn(recording: &Recording, seed: &str, by_hand: &str) -> String {
    let of_seed = recording
        .origin
        .map(|drawn| format!("{seed}{}", drawn.seed));
    of_seed.unwrap_or_else(|| by_hand.to_owned())
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

/// Why a number was not taken as it was typed.
fn limit(what: &str, typed: usize, allowed: &RangeInclusive<usize>) -> Option<String> {
    let (least, most) = (*allowed.start(), *allowed.end());
    let taken = typed.clamp(least, most);
    let sentence = || format!("{what} {typed} became {taken}: here it can be {least} to {most}.");
    (typed != taken).then(sentence)
}

/// The sizes that can be asked for.
pub fn sizes(task: &Task) -> RangeInclusive<usize> {
    task.least_size()..=LONGEST
}

/// What the size of an episode is called.
pub fn size_label(task: &Task) -> &'static str {
    match task.size_name() {
        "length" => "Length",
        "items" => "Items",
        _ => "Steps",
    }
}

/// A task as people call it.
pub fn task_name(task: &Task) -> &str {
    match task {
        Task::Copy(_) => "Copy",
        Task::RepeatCopy(_) => "Repeat copy",
        Task::AssociativeRecall(_) => "Associative recall",
        Task::Ngrams(_) => "Dynamic N-grams",
        Task::PrioritySort(_) => "Priority sort",
        Task::Other(task) => &task.name,
    }
}

/// The least number of rows that the shifts of a machine fit on.
fn least_rows(config: &ModelConfig) -> usize {
    config.ntm().map_or(1, NtmConfig::offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::task::Copy;

    #[test]
    fn the_first_wish_can_be_fulfilled() {
        let wish = |length: usize, rows: usize| {
            let task = Task::Copy(Copy {
                bits: 2,
                length: 1..=length,
            });
            let mut config = NtmConfig::new(task.inputs(), task.outputs());
            (config.rows, config.controller.size) = (rows, 4);
            let machine = Machine {
                name: String::new(),
                title: String::new(),
                ntm: Model::new(config, 1),
                task,
            };
            Wish::of(0, &machine, 1).size
        };
        assert_eq!(wish(20, 128), 20);
        assert_eq!(wish(100_000, 128), LONGEST);
        assert_eq!(wish(100_000, 8192), LONGEST / 2);
        assert_eq!(wish(20, 1 << 20), 5);
    }

    #[test]
    fn every_recorded_array_is_looked_at() {
        let task = Task::Copy(Copy {
            bits: 2,
            length: 3..=3,
        });
        let machine = Model::new(NtmConfig::new(task.inputs(), task.outputs()), 1);
        let mut recording = Recording::new(&machine, &task, 1, 0);
        assert_eq!(not_finite(&recording), 0);
        recording.loss[1] = f32::NAN;
        recording.trace.heads[0].strength[2] = f32::INFINITY;
        recording.trace.heads[1].shift.row_mut(0)[1] = f32::NAN;
        recording.trace.layers[0].cell.row_mut(3)[4] = f32::NAN;
        assert_eq!(not_finite(&recording), 4);
        // Of an output of exactly 1, as a file may have it, the logit is not finite; no one recorded that.
        recording.trace.logit.row_mut(2)[0] = f32::INFINITY;
        assert_eq!(not_finite(&recording), 4);
    }
}
