//! The open session: machines, the episode on screen and the requested one.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{
    EpisodeRequest, ExternalEpisode, LONGEST, MOST_REPEATS, Machine, Open, RecordingInputs,
    SameArc, drawn,
};
use crate::figure::facts::memo::Memo;
use crate::model::{ModelConfig, NtmConfig};
use crate::task::Task;
use crate::train::{Demand, LARGEST_RECORDING, Recording, UNSEEN_SEED};

/// The least and the most memory rows on the track, where a machine runs on any number of them.
const ROWS: [usize; 2] = [32, 4096];

/// Allowed numbers of samples of an episode.
pub const SAMPLES: RangeInclusive<usize> = 2..=200;

/// Everything that is open.
#[derive(Clone, Debug)]
pub struct Session {
    /// The machines to choose from.
    pub machines: Vec<Arc<Machine>>,
    /// The episode asked for last.
    pub request: EpisodeRequest,
    /// The episode on screen.
    pub open: Option<Open>,
    /// Number of samples for the spread.
    pub samples: usize,
    /// The request that was last fulfilled.
    fulfilled: Option<EpisodeRequest>,
    serial: u64,
    /// [`Session::rows_on_offer`], by machine and steps.
    offers: Memo<(ModelConfig, usize), Vec<usize>, 1>,
}

impl Session {
    /// A session with these machines, nothing on screen yet; without a seed each begins with a varied episode.
    pub fn new(machines: Vec<Machine>, seed: Option<u64>) -> Self {
        let machines: Vec<_> = machines.into_iter().map(Arc::new).collect();
        let request = match (machines.first(), seed) {
            (Some(machine), Some(seed)) => EpisodeRequest::of(0, machine, seed),
            (Some(machine), None) => own_request(0, machine),
            (None, seed) => EpisodeRequest {
                size: 1,
                repeats: 1,
                seed: seed.unwrap_or(UNSEEN_SEED),
                rows: 1,
                ..EpisodeRequest::default()
            },
        };
        Self {
            machines,
            request,
            open: None,
            samples: 20,
            fulfilled: None,
            serial: 0,
            offers: Memo::default(),
        }
    }

    /// The machine asked for.
    pub fn machine(&self) -> Option<&Arc<Machine>> {
        self.machines.get(self.request.machine)
    }

    /// Returns the recording job of the current request.
    pub fn recording_inputs(&self) -> Option<RecordingInputs> {
        self.inputs_for(self.request.clone())
    }

    /// Returns the first request to a machine: a chosen seed stays, otherwise a varied one.
    pub fn first_request(&self, index: usize) -> Option<EpisodeRequest> {
        let machine = self.machines.get(index)?;
        let (now, seed) = (self.request.machine, self.request.seed);
        let is_own = |machine: &Arc<Machine>| own_request(now, machine).seed == seed;
        Some(if self.machine().is_some_and(is_own) {
            own_request(index, machine)
        } else {
            EpisodeRequest::of(index, machine, seed)
        })
    }

    /// Returns the recording job of this request.
    pub fn inputs_for(&self, request: EpisodeRequest) -> Option<RecordingInputs> {
        let machine = self.machines.get(request.machine)?.clone();
        let is_same = |own: &EpisodeRequest| own.machine == request.machine;
        let open = self.open.as_ref();
        let open = open.filter(|open| open.request.as_ref().is_some_and(is_same));
        Some(RecordingInputs {
            gradients: open.and_then(Open::quantity),
            machine,
            request,
        })
    }

    /// The first machine that has something to address memory with.
    pub fn first_with_heads(&self) -> Option<usize> {
        let mut machines = self.machines.iter();
        machines.position(|machine| machine.ntm.config.heads() > 0)
    }

    /// The Neural Turing Machine for the task on screen, to compare with a machine that reads a source.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn ntm_beside(&self) -> Result<usize, &'static str> {
        let open = self.open.as_ref().filter(|open| open.facts.reads_source());
        let Recording { task, trace, .. } = match open {
            Some(open) => &open.shown.recording,
            None => return Err("the machine on screen reads no source"),
        };
        let channels = (trace.input.width(), trace.output.width());
        let is_it = |machine: &Arc<Machine>| {
            let config = &machine.ntm.config;
            let fits = (config.inputs(), config.outputs()) == channels;
            fits && config.write_heads() > 0 && machine.task.name() == task.name()
        };
        let found = self.machines.iter().position(is_it);
        found.ok_or("no Neural Turing Machine is included for this task with these channels; one is for `copy` with 8 bits")
    }

    /// Resets the request to the episode on screen after a refusal, unless another request was made since.
    pub fn refuse(&mut self, request: &EpisodeRequest) {
        if let (true, Some(fulfilled)) = (self.request == *request, &self.fulfilled) {
            self.request = fulfilled.clone();
        }
    }

    /// The reason why the input of the episode on screen cannot be changed by hand, if so.
    pub fn lacks_editing(&self) -> Option<&'static str> {
        let task = &self.open.as_ref()?.shown.recording.task;
        (task.editable() == 0).then(|| match task.manual_keys() {
            ["symbols"] => {
                "its input is drawn with noise; `--input` on the command line chooses its symbols"
            }
            ["edges", ..] => {
                "its input is a graph; `--input` on the command line gives edges and a path"
            }
            _ => "the episodes of this task come from a file",
        })
    }

    /// Asks for another machine, at its own sizes.
    pub fn choose(&mut self, index: usize) {
        if let Some(request) = self.first_request(index) {
            self.request = request;
        }
    }

    /// Asks for a length or a number of items, brought into range; says so when it was not.
    pub fn set_size(&mut self, size: usize) -> Option<String> {
        let task = &self.machine()?.task;
        if task.held_out().is_some() {
            let words = "Episodes of a file have fixed lengths. Choose another episode instead.";
            return Some(words.to_owned());
        }
        let (label, sizes) = (size_label(task), sizes(task));
        set_within(&mut self.request.size, size, label, &sizes)
    }

    /// Asks for a number of repeats, brought into range; says so when it was not.
    pub fn set_repeats(&mut self, repeats: usize) -> Option<String> {
        let allowed = 1..=MOST_REPEATS;
        set_within(&mut self.request.repeats, repeats, "Repeats", &allowed)
    }

    /// The bit of the input that is asked for: the episode on screen may be an older one.
    pub fn bit(&self, step: usize, channel: usize) -> Option<bool> {
        let open = self.open.as_ref()?;
        if open.shown.recording.task.chooses_symbols() {
            let episode = self.request.episode(&self.request.task(self.machine()?));
            return Some(*episode.input.get([step, channel])? > 0.5);
        }
        let bit = *open.shown.recording.episode.input.get([step, channel])? > 0.5;
        let flipped = |request: &EpisodeRequest| request.flipped.contains(&(step, channel));
        Some(bit != (flipped(&self.request) != open.request.as_ref().is_some_and(flipped)))
    }

    /// Asks for another value of a bit of the input, or for this symbol in a step; false where it is no bit or symbol of
    /// a recorded machine.
    pub fn flip(&mut self, step: usize, channel: usize) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| !open.is_of_a_file()) else {
            return false;
        };
        let Recording { task, episode, .. } = &open.shown.recording;
        let is_bit = task.flipped(episode, step, channel).is_some();
        if is_bit && task.chooses_symbols() {
            self.request.flipped.retain(|(other, _)| *other != step);
            if self.bit(step, channel) == Some(false) {
                self.request.flipped.push((step, channel));
            }
            return true;
        }
        let bits = &mut self.request.flipped;
        match bits.iter().position(|bit| *bit == (step, channel)) {
            Some(place) if is_bit => drop(bits.remove(place)),
            None if is_bit => bits.push((step, channel)),
            _ => {}
        }
        is_bit
    }

    /// Asks for a number of memory rows, where the machine runs on any; says which it runs on when it is none of them.
    pub fn set_rows(&mut self, rows: usize) -> Option<String> {
        let config = &self.machine()?.ntm.config;
        if !config.runs_on_any_rows() {
            return None;
        }
        let Err(wrong) = config.with_rows(rows) else {
            self.request.rows = rows;
            return None;
        };
        let allowed = wrong.allowed;
        Some(format!(
            "Memory rows {rows} is out of range. Allowed: {allowed}."
        ))
    }

    /// The numbers of memory rows to slide along: as many as can be recorded at the length asked for.
    pub fn rows_on_offer(&self) -> Vec<usize> {
        let Some(machine) = self.machine() else {
            return vec![self.request.rows];
        };
        let config = &machine.ntm.config;
        let own = config.rows();
        let least = ROWS[0].max(least_rows(config)).min(own);
        let steps = self.request.steps(&self.request.task(machine));
        let fits =
            |config: ModelConfig| Demand::Recording.bytes(&config, steps) <= LARGEST_RECORDING;
        self.offers.get((config.clone(), steps), || {
            let mut stops = stops(least, ROWS[1].max(own));
            if config.runs_on_any_rows() {
                stops.retain(|&rows| rows == least || config.with_rows(rows).is_ok_and(fits));
            }
            stops
        })
    }

    /// Adds a machine, or replaces the one of the same name, and asks for it; returns which it is.
    pub fn add(&mut self, machine: Machine) -> usize {
        let place = self.machines.iter().position(|m| m.name == machine.name);
        let index = place.unwrap_or(self.machines.len());
        let replaced = index..self.machines.len().min(index + 1);
        self.machines.splice(replaced, [Arc::new(machine)]);
        self.choose(index);
        index
    }

    /// A machine that was away is here.
    pub fn fetched(&mut self, machine: Arc<Machine>) {
        let is_it = |other: &&mut Arc<Machine>| other.away && other.name == machine.name;
        if let Some(place) = self.machines.iter_mut().find(is_it) {
            *place = machine;
        }
    }

    /// True where the machine asked for has heads that draw.
    pub fn draws(&self) -> bool {
        let config = self.machine().map(|machine| &machine.ntm.config);
        config.is_some_and(|config| config.is_random())
    }

    /// Puts an episode on screen.
    pub fn show(&mut self, open: Open) {
        if open.request.is_some() {
            self.fulfilled.clone_from(&open.request);
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
        if let Some(request) = &open.request {
            self.request.clone_from(request);
            self.fulfilled.clone_from(&open.request);
        }
        self.open.replace(open)
    }

    /// Asks another machine for the episode on screen: drawn again where that can be, or as it was. A machine
    /// with other channels gets one of its own.
    pub fn choose_same_episode(&mut self, index: usize) {
        match self.open.clone() {
            Some(open) => self.choose_same_episode_as(index, &open),
            None => self.choose(index),
        }
    }

    /// Requests the episode of another one on screen.
    pub fn choose_same_episode_as(&mut self, index: usize, open: &Open) {
        self.choose(index);
        let Some(machine) = self.machines.get(index).cloned() else {
            return;
        };
        let recording = &open.shown.recording;
        let (task, trace) = (recording.task.clone(), &recording.trace);
        if machine.task.name() == task.name() {
            let request = open.request.as_ref();
            self.request.flipped = request.map_or_else(Vec::new, |own| own.flipped.clone());
        }
        let (inputs, outputs) = (machine.ntm.config.inputs(), machine.ntm.config.outputs());
        let fits = (trace.input.width(), trace.output.width()) == (inputs, outputs);
        let asked = ExternalEpisode {
            task,
            episode: recording.episode.clone(),
            origin: recording.origin,
        };
        self.ask_for(&machine, asked, fits);
    }

    /// Asks the machine for an episode of the same size, and if it `fits` for that very one: drawn again where
    /// that can be, or as it is.
    fn ask_for(&mut self, machine: &Machine, asked: ExternalEpisode, fits: bool) {
        let (task, episode) = (&asked.task, &asked.episode);
        if machine.task.name() == task.name() {
            (self.request.size, self.request.repeats) = (episode.size, episode.repeats.max(1));
            // For a file, seed and index count together.
            let is_of_a_file = machine.task.held_out().is_some();
            if let Some(drawn) = asked.origin {
                let place = if is_of_a_file { drawn.episode } else { 0 };
                self.request.seed = drawn.seed.wrapping_add(place);
                (self.request.sampling, self.request.sample) = (drawn.sampling, drawn.sample);
            }
        }
        if fits && !self.request.draws(machine, task, episode) {
            self.request.flipped.clear();
            self.request.given = Some(SameArc::new(asked));
        }
    }

    /// Requests the first episode of the window.
    pub fn begin(&mut self, rows: Option<usize>, asked: Option<ExternalEpisode>) {
        let Some(machine) = self.machine().cloned() else {
            return;
        };
        self.request.rows = rows.unwrap_or(self.request.rows);
        if let Some(asked) = asked {
            self.ask_for(&machine, asked, true);
        }
    }

    /// The title of the episode on screen.
    pub fn title(&self) -> String {
        let name = self.open.as_ref().map(|open| open.name() + " – ");
        name.unwrap_or_default() + "Tapescope"
    }

    /// A good name for the file of the episode on screen.
    pub fn file_name(&self) -> String {
        let Some(open) = &self.open else {
            return "episode.ntmtrace.json".to_owned();
        };
        let recording = &open.shown.recording;
        // In a file without a seed the source of the bits is unknown.
        let manual = if open.is_of_a_file() { "" } else { "-edited" };
        let seed = drawn(recording, ["-seed", "-sample"], manual);
        let (measure, size) = (recording.task.size_name(), recording.episode.size);
        // Somebody else's task may be called like a folder.
        let plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let task: String = recording.task.name().chars().filter(plain).collect();
        let changes = &recording.conventions.interventions;
        let branch = if changes.is_empty() { "" } else { "-branch" };
        format!("{task}-{measure}{size}{seed}{branch}.ntmtrace.json")
    }
}

/// Returns the default request to a machine: a varied episode.
pub fn own_request(index: usize, machine: &Machine) -> EpisodeRequest {
    // The held-out episodes of a file are counted from the first.
    let seed = machine.task.held_out().map_or(UNSEEN_SEED, |_| 0);
    EpisodeRequest::of(index, machine, seed).with_varied_seed(machine)
}

/// Sets a number as far as it is allowed; returns a sentence where it was not.
fn set_within(
    number: &mut usize,
    typed: usize,
    what: &str,
    allowed: &RangeInclusive<usize>,
) -> Option<String> {
    let (least, most) = (*allowed.start(), *allowed.end());
    *number = typed.clamp(least, most);
    (typed != *number).then(|| {
        format!("{what} {typed} is out of range; set to {number}. Allowed: {least} to {most}.")
    })
}

/// The sizes that can be asked for.
pub fn sizes(task: &Task) -> RangeInclusive<usize> {
    task.least_size()..=LONGEST
}

/// Returns the label of the size of an episode.
pub fn size_label(task: &Task) -> &'static str {
    match task.size_name() {
        "length" => "Length",
        "items" => "Items",
        _ => "Steps",
    }
}

/// Numbers to stop at: four in every doubling, and the ends.
pub fn stops(least: usize, most: usize) -> Vec<usize> {
    let octaves = std::iter::successors(Some(1), |octave| Some(octave * 2));
    let octaves = octaves.take_while(|&octave| octave <= most);
    let quarters = octaves.flat_map(|octave| (4..8).map(move |quarter| octave * quarter / 4));
    let inside = quarters.filter(|stop| (least..=most).contains(stop));
    let stops: BTreeSet<_> = inside.chain([least, most]).collect();
    stops.into_iter().collect()
}

/// The least number of rows that the shifts of a machine fit on.
fn least_rows(config: &ModelConfig) -> usize {
    let of_file = 2 * config.sizes().shift_range + 1;
    config.ntm().map_or(of_file, NtmConfig::offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_denser_where_numbers_are_small() {
        assert_eq!(stops(1, 16), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16]);
        assert_eq!(stops(30, 70), [30, 32, 40, 48, 56, 64, 70]);
        assert_eq!(stops(5, 5), [5]);
    }
}
