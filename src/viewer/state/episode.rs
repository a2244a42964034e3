//! An episode: the requested one, and the one on screen with the facts that its pictures need.

use std::sync::Arc;

use super::{LoadedRun, Machine, RecordedEpisode, SameArc};
use crate::figure::facts::rows::{Rows, addressed};
use crate::figure::facts::spread::Spread;
use crate::figure::narrate::Moment;
use crate::figure::page::debug::timeline::line_count;
use crate::figure::scene::catalogue::Facts;
use crate::figure::{Gradients, Layer, facts::signal_path, touched};
use crate::math::Series;
use crate::model::{Draw, HeadTrace, ModelConfig, NoiseMode, WrapAround};
use crate::player::Player;
use crate::task::{Episode, Task};
use crate::train::{Demand, LARGEST_RECORDING, Quantity, Recording, is_absent};

/// The longest sequence, or the most items, that can be asked for. Memory sets a limit of its own: see the worker.
pub const LONGEST: usize = 2000;
/// A vector of fewer bits is easily blank or full.
const LEAST_BITS: usize = 4;
/// Number of seeds tried to find a varied episode.
const MOST_SEEDS: u64 = 2000;
/// The most repeats that can be asked for.
pub const MOST_REPEATS: usize = 200;

/// An intervention of a request, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedChange {
    /// The text, such as `12:read0.gate=1`.
    pub text: String,
    /// False while it is left out.
    pub is_on: bool,
}

/// The episode that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRequest {
    /// Index into [`Session::machines`].
    pub machine: usize,
    /// The length of the sequence, or the number of items.
    pub size: usize,
    /// Repeats, where the task has them.
    pub repeats: usize,
    /// The seed.
    pub seed: u64,
    /// Memory rows.
    pub rows: usize,
    /// The treatment of noise, where heads sample.
    pub sampling: NoiseMode,
    /// The number of the sample.
    pub sample: u64,
    /// Changes of the input, in order: the step, and the channel of a bit that is flipped or of a symbol that is chosen.
    pub flipped: Vec<(usize, usize)>,
    /// The episode to run on, where the seed does not determine it.
    pub given: Option<SameArc<ExternalEpisode>>,
    /// Interventions, in order: the last one wins.
    pub changes: Vec<RequestedChange>,
}

/// An episode that is asked for from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalEpisode {
    /// The task it is of.
    pub task: Task,
    /// The episode.
    pub episode: Episode,
    /// The seed and the index that draw it; `None` when its bits were given by hand.
    pub origin: Option<Draw>,
}

/// True where every vector that is shown has a quarter to three quarters of its bits set, others than the one before.
fn has_varied_input(task: &Task, episode: &Episode) -> bool {
    let bits = task.bits();
    let inputs = episode.phases.iter().filter(|phase| phase.name == "input");
    let steps = inputs.flat_map(|phase| phase.start..phase.end);
    let rows = steps.map(|step| episode.input.row(step).mapv(|bit| bit > 0.5).to_vec());
    // The channel behind the bits says where an item begins.
    let shown = rows.filter(|row| row.get(bits) != Some(&true));
    let shown: Vec<_> = shown.map(|row| row[..bits].to_vec()).collect();
    let is_mixed = |vector: &Vec<bool>| {
        let set = vector.iter().filter(|bit| **bit).count();
        (bits..=3 * bits).contains(&(4 * set))
    };
    let is_like = |pair: &[Vec<bool>]| pair[0] == pair[1];
    !shown.is_empty() && shown.iter().all(is_mixed) && !shown.windows(2).any(is_like)
}

impl EpisodeRequest {
    /// The longest episode that the machine was trained on, as far as it can be asked for and recorded.
    pub fn of(index: usize, machine: &Machine, seed: u64) -> Self {
        let mut request = Self {
            machine: index,
            size: (*machine.task.size().end()).min(LONGEST),
            repeats: machine.task.repeats().map_or(1, |range| {
                // Enough to see a pattern, few enough to see it at a glance.
                (*range.end()).min(4).max(*range.start()).min(MOST_REPEATS)
            }),
            seed,
            rows: machine.ntm.config.rows(),
            ..Self::default()
        };
        let fits = |request: &Self| {
            let task = request.task(machine);
            Demand::Recording.of_task(&machine.ntm.config, &task) <= LARGEST_RECORDING
        };
        let least = machine.task.least_size();
        while request.size > least && !fits(&request) {
            request.size = (request.size / 2).max(least);
        }
        request
    }

    /// Moves to the first seed, from this one on, with a varied input: no shown vector is nearly blank or nearly
    /// full, and none equals the one before. Where a task has too few bits for that, the seed stays.
    #[must_use]
    pub fn with_varied_seed(self, machine: &Machine) -> Self {
        let task = self.task(machine);
        let has_varied_input = |seed: &u64| has_varied_input(&task, &task.episode(*seed, 0));
        let mut seeds = self.seed..self.seed.saturating_add(MOST_SEEDS);
        let seed = seeds.find(|seed| task.bits() >= LEAST_BITS && has_varied_input(seed));
        Self {
            seed: seed.unwrap_or(self.seed),
            ..self
        }
    }

    /// True if both request the same episode, possibly with another sample.
    pub fn is_same_episode(&self, other: &Self) -> bool {
        let mut other = other.clone();
        (other.sampling, other.sample) = (self.sampling, self.sample);
        *self == other
    }

    /// Returns the task that generates only the requested episodes.
    pub fn task(&self, machine: &Machine) -> Task {
        if let Some(given) = &self.given {
            return given.0.task.clone();
        }
        let task = machine.task.clone();
        // The episodes of a file have the sizes that they have.
        if task.held_out().is_some() {
            return task;
        }
        let task = task.with_size(self.size);
        match task.repeats() {
            Some(_) => task.with_repeats(self.repeats),
            None => task,
        }
    }

    /// The steps to record.
    pub fn steps(&self, task: &Task) -> usize {
        if self.given.is_some() || task.held_out().is_some() {
            return self.episode(task).steps();
        }
        task.longest()
    }

    /// The most steps to record, and those of the source: a machine that answers after it may go on after the target.
    pub fn longest(&self, config: &ModelConfig, task: &Task) -> [usize; 2] {
        let of = |episode: &Episode| [episode.most_steps(), episode.source()];
        match &self.given {
            _ if !config.has_feedback() => [self.steps(task); 2],
            Some(given) => of(&given.0.episode),
            None if task.held_out().is_some() => of(&task.episode(self.seed, 0)),
            None => Demand::Recording.longest(config, task),
        }
    }

    /// Returns the episode: from the seed, or given, with edited bits.
    pub fn episode(&self, task: &Task) -> Episode {
        let mut episode = match &self.given {
            Some(given) => given.0.episode.clone(),
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
        // The size that a file declares may be wrong.
        task.name() == of.name()
            && self.steps(&task) == episode.steps()
            && self.episode(&task) == *episode
    }
}

/// Steps, array and part of an intervention: everything before its value.
fn left_side(text: &str) -> &str {
    text.split_once('=').map_or(text, |(left, _)| left)
}

impl EpisodeRequest {
    /// Returns the same without interventions.
    pub fn plain(&self) -> Self {
        Self {
            changes: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the interventions that are on.
    pub fn interventions(&self) -> Vec<&str> {
        let on = self.changes.iter().filter(|change| change.is_on);
        on.map(|change| change.text.as_str()).collect()
    }

    /// Adds an intervention after all others, in place of one on the same steps and values.
    pub fn set_value(&mut self, text: String) {
        let is_other = |change: &RequestedChange| left_side(&change.text) != left_side(&text);
        self.changes.retain(is_other);
        self.changes.push(RequestedChange { text, is_on: true });
    }

    /// Returns the number that is set by an intervention on these steps and values.
    pub fn value_set(&self, left: &str) -> Option<f32> {
        let mut changes = self.changes.iter().filter(|change| change.is_on);
        let found = changes.find(|change| left_side(&change.text) == left)?;
        found.text.get(left.len() + 1..)?.parse().ok()
    }
}

/// An episode on screen with the facts that its pictures need, computed once.
#[derive(Clone, Debug)]
pub struct Open {
    /// Distinguishes this episode from all others of the session.
    pub serial: u64,
    /// The episode and its origin.
    pub shown: Arc<RecordedEpisode>,
    /// The rows that some head touches.
    pub touched: Arc<Rows>,
    /// All rows.
    pub all: Arc<Rows>,
    /// The facts that its pictures need.
    pub facts: Arc<Facts>,
    /// Number of recorded values that are not finite.
    pub non_finite: usize,
    /// The report that memory wrapped around, if it did.
    pub wrap_around: Option<WrapAround>,
    /// The request; `None` for an opened trace.
    pub request: Option<EpisodeRequest>,
    /// Number of steps by which reads precede their answers.
    pub ahead: usize,
    /// The spread of many samples, once requested.
    pub spread: Option<Arc<Spread>>,
    /// The gradients, where they are shown.
    pub gradients: Option<Arc<Gradients>>,
}

/// Every recording is another.
impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shown, &other.shown)
    }
}

impl Open {
    /// Computes the facts that the pictures need: a pass over everything recorded, so not for the thread that draws.
    pub fn new(shown: RecordedEpisode, request: Option<EpisodeRequest>) -> Self {
        let trace = &shown.recording.trace;
        let total = addressed(trace);
        Self {
            serial: 0,
            touched: Arc::new(Rows::of(touched(&shown.recording), total)),
            all: Arc::new(Rows::all(total)),
            facts: Arc::new(Facts::of(&shown.recording, shown.writes_first())),
            non_finite: not_finite(&shown.recording),
            wrap_around: trace.wrap_around(),
            ahead: signal_path::steps_ahead(&shown.recording, shown.writes_first()),
            request,
            spread: None,
            gradients: None,
            shown: Arc::new(shown),
        }
    }

    /// Returns the content of its pictures.
    pub fn layer(&self) -> Layer<'_> {
        self.gradients.as_deref()
    }

    /// Returns the quantity whose gradients are shown.
    pub fn quantity(&self) -> Option<Quantity> {
        Some(self.gradients.as_ref()?.of)
    }

    /// Lines of numbers over time that there may be of a head; none of a machine without heads.
    pub fn lines(&self) -> usize {
        line_count(&self.facts, self.spread.is_some())
    }

    /// True when the read heads see the writes of the same step.
    pub fn writes_first(&self) -> bool {
        self.shown.writes_first()
    }

    /// Returns the current moment: a stage, or the whole step while whole steps are shown.
    pub fn moment(&self, player: &Player) -> Moment<'_> {
        Moment {
            recording: &self.shown.recording,
            stages: &self.facts.stages,
            step: player.step(),
            place: if player.whole_steps() {
                usize::MAX
            } else {
                player.stage()
            },
            through: player.through(),
        }
    }

    /// Returns its name: its file, or its machine, length, seed and interventions.
    pub fn name(&self) -> String {
        let changes = self.request.as_ref().map(EpisodeRequest::interventions);
        let with = match &changes.unwrap_or_default()[..] {
            [] => String::new(),
            [one] => format!(", with {one}"),
            [first, others @ ..] => format!(", with {first} and {} more", others.len()),
        };
        self.plain_name() + &with
    }

    fn plain_name(&self) -> String {
        let recording = &self.shown.recording;
        let Some(machine) = &self.shown.machine else {
            let task = || recording.task.title().to_owned();
            return self.shown.file.clone().unwrap_or_else(task);
        };
        let title = &machine.title;
        let is_given = matches!(&self.request, Some(request) if request.given.is_some());
        if let (Some(count), Some(drawn)) = (machine.task.held_out(), recording.origin) {
            let place = drawn.seed.wrapping_add(drawn.episode) % count.max(1) as u64;
            return format!("{title}, held-out {place} of {count}");
        }
        let manual = match (is_given, recording.task.chooses_symbols()) {
            (true, _) => "given input",
            (false, true) => "edited symbols",
            (false, false) => "edited bits",
        };
        let (measure, size) = (machine.task.measure().name(), recording.episode.size);
        let seed = drawn(recording, ["seed ", ", sample "], manual);
        format!("{title}, {measure} {size}, {seed}")
    }

    /// True when both are one episode of one machine, or of one file, though it may have been recorded twice.
    pub fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.shown, &other.shown);
        let mut machines = a.machine.iter().zip(&b.machine);
        let same_machine = machines.any(|(a, b)| Arc::ptr_eq(a, b));
        let same_request = self.request.is_some() && self.request == other.request;
        Arc::ptr_eq(a, b) || (same_machine && same_request)
    }

    /// True for a trace that was opened: it is shown as it was recorded.
    pub fn is_of_a_file(&self) -> bool {
        self.shown.machine.is_none()
    }
}

/// The contents of an opened file.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenedFile {
    /// Weights: the window records an episode with them.
    Machine(Box<Machine>),
    /// A trace: the window shows it as recorded and computes nothing anew.
    Trace(Box<Open>),
    /// A run with its training snapshots, for browsing.
    Run(Box<LoadedRun>),
}

impl From<RecordedEpisode> for OpenedFile {
    fn from(shown: RecordedEpisode) -> Self {
        Self::Trace(Box::new(Open::new(shown, None)))
    }
}

/// A recording job: the first episode with the requested seed.
#[derive(Clone, Debug)]
pub struct RecordingInputs {
    /// The machine.
    pub machine: Arc<Machine>,
    /// The request.
    pub request: EpisodeRequest,
    /// The number whose gradients are shown in place of values, and are requested with the episode.
    pub gradients: Option<Quantity>,
}

impl RecordingInputs {
    /// Returns the task of the episode.
    pub fn task(&self) -> Task {
        self.request.task(&self.machine)
    }

    /// Returns the inputs for the episode of the seed, without changes by hand.
    pub fn without_edits(&self) -> Self {
        let mut plain = self.clone();
        plain.request.flipped.clear();
        plain.request.given = None;
        plain.request.changes.clear();
        plain
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.request.steps(&self.task())
    }
}

/// Describes the origin of the bits of an episode: its seed and its sample behind these words, or `manual`.
pub fn drawn(recording: &Recording, [seed, sample]: [&str; 2], manual: &str) -> String {
    let Some(origin) = recording.origin else {
        return manual.to_owned();
    };
    let of_seed = match origin.episode {
        0 => format!("{seed}{}", origin.seed),
        index => format!("{seed}{}, episode {index}", origin.seed),
    };
    let trace = &recording.trace;
    if trace.sampling == NoiseMode::Sampled && trace.noise().next().is_some() {
        format!("{of_seed}{sample}{}", origin.sample)
    } else {
        of_seed
    }
}

/// Counts values that are not finite, in all arrays that a trace file holds.
fn not_finite(recording: &Recording) -> usize {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let layers = trace.layers.iter();
    let layers = layers.flat_map(|layer| [&layer.hidden, &layer.cell]);
    let heads = trace.heads.iter().flat_map(HeadTrace::arrays);
    let series = [&trace.input, &trace.output, &trace.memory_columns].into_iter();
    let series = series.chain(layers).chain(heads.map(|(_, series)| series));
    let values = series.flat_map(Series::as_slice);
    let values = values.chain(&recording.loss).chain(&episode.mask);
    let broken = |value: &&f32| !value.is_finite() && !is_absent(**value);
    values.chain(&episode.target).filter(broken).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::fixture::{config, copying, machine, recording};

    #[test]
    fn first_request_can_be_recorded() {
        let request = |length: usize, rows: usize| {
            let mut config = config();
            (config.rows, config.columns) = (rows, 20);
            EpisodeRequest::of(0, &machine(config, copying(1..=length)), 1).size
        };
        assert_eq!(request(20, 128), 20);
        assert_eq!(request(100_000, 128), LONGEST);
        assert_eq!(request(100_000, 8192), LONGEST / 2);
        assert_eq!(request(20, 1 << 20), 5);
    }

    #[test]
    fn every_recorded_array_is_checked() {
        let mut recording = recording(config(), 3, 1);
        assert_eq!(not_finite(&recording), 0);
        recording.loss[1] = f32::NAN;
        recording.trace.heads[0].strength[2] = f32::INFINITY;
        recording.trace.heads[1].shift.row_mut(0)[1] = f32::NAN;
        recording.trace.layers[0].cell.row_mut(3)[2] = f32::NAN;
        assert_eq!(not_finite(&recording), 4);
        // An output of exactly 1, which a file may have, has a logit that is not finite and not recorded.
        recording.trace.logit.row_mut(2)[0] = f32::INFINITY;
        assert_eq!(not_finite(&recording), 4);
    }
}
