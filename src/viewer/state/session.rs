//! What is open: machines, the episode on screen and the one that is asked for.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::episode::{Asked, Given, LONGEST, MOST_REPEATS, Open, Request, Wish, drawn};
use crate::model::{Draw, ModelConfig, NtmConfig, Sampling};
use crate::task::{Episode, Task};
use crate::train::{LARGEST_RECORDING, Recording, UNSEEN_SEED, recording_bytes};
use crate::viewer::files::Machine;

/// The least and the most memory rows on the track, where a machine runs on any number of them.
const ROWS: [usize; 2] = [32, 4096];

/// How many samples of an episode can be asked for.
pub const SAMPLES: RangeInclusive<usize> = 2..=200;

/// Everything that is open.
#[derive(Clone, Debug)]
pub struct Session {
    /// The machines to choose from.
    pub machines: Vec<Arc<Machine>>,
    /// The episode asked for last.
    pub wish: Wish,
    /// The episode on screen.
    pub open: Option<Open>,
    /// How many samples are drawn where their spread is asked for.
    pub samples: usize,
    /// The wish that was last fulfilled.
    granted: Option<Wish>,
    serial: u64,
}

impl Session {
    /// A session with these machines, nothing on screen yet; without a seed each begins with a lively episode.
    pub fn new(machines: Vec<Machine>, seed: Option<u64>) -> Self {
        let machines: Vec<_> = machines.into_iter().map(Arc::new).collect();
        let wish = machines.first().map_or(
            Wish {
                size: 1,
                repeats: 1,
                seed: seed.unwrap_or(UNSEEN_SEED),
                rows: 1,
                ..Wish::default()
            },
            |machine| {
                let lively = || own_wish(0, machine);
                seed.map_or_else(lively, |seed| Wish::of(0, machine, seed))
            },
        );
        Self {
            machines,
            wish,
            open: None,
            samples: 20,
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
        self.request_for(self.wish.clone())
    }

    /// What to record to show what a machine does.
    pub fn first_request(&self, index: usize) -> Option<Request> {
        self.request_for(self.first_wish(index)?)
    }

    /// What to ask a machine for first: the seed that a person has chosen stays, another machine has another lively one.
    fn first_wish(&self, index: usize) -> Option<Wish> {
        let machine = self.machines.get(index)?;
        let (now, seed) = (self.wish.machine, self.wish.seed);
        let by_itself = self
            .machines
            .get(now)
            .is_some_and(|machine| own_wish(now, machine).seed == seed);
        Some(if by_itself {
            own_wish(index, machine)
        } else {
            Wish::of(index, machine, seed)
        })
    }

    /// What to record for this wish.
    pub fn request_for(&self, wish: Wish) -> Option<Request> {
        let machine = self.machines.get(wish.machine)?.clone();
        let task = wish.task(&machine);
        let open = self.open.as_ref();
        let same = |open: &&Open| open.wish.as_ref().map(|own| own.machine) == Some(wish.machine);
        let mattered = open.filter(same).and_then(|open| open.mattered.as_ref());
        Some(Request {
            machine,
            task,
            mattered: mattered.map(|by| by.of),
            wish,
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
        if let Some(wish) = self.first_wish(index) {
            self.wish = wish;
        }
    }

    /// Asks for a length or a number of items, brought into range; says so when it was not.
    pub fn set_size(&mut self, size: usize) -> Option<String> {
        let task = &self.machine()?.task;
        if task.held_out().is_some() {
            let words =
                "The episodes of a file have the lengths they have; choose another one instead.";
            return Some(words.to_owned());
        }
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
        let Recording { task, episode, .. } = &open.shown.recording;
        let is_bit = task.flipped(episode, step, channel).is_some();
        if is_bit {
            let bits = &mut self.wish.flipped;
            let before = bits.len();
            bits.retain(|bit| *bit != (step, channel));
            if bits.len() == before {
                bits.push((step, channel));
            }
        }
        is_bit
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
        let mut stops = stops(least, ROWS[1].max(own));
        if machine.ntm.config.runs_on_any_rows() {
            stops.retain(|rows| fits(rows) || *rows == least);
        }
        stops
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

    /// Asks for the same episode, drawn: for the first time, or once more.
    pub fn draw_again(&mut self) {
        if self.wish.sampling == Sampling::Drawn {
            self.wish.sample = self.wish.sample.wrapping_add(1);
        }
        self.wish.sampling = Sampling::Drawn;
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
        match self.open.clone() {
            Some(open) => self.choose_like(index, &open),
            None => self.choose(index),
        }
    }

    /// The same of another episode.
    pub fn choose_like(&mut self, index: usize, open: &Open) {
        let wish = open.wish.as_ref();
        let same_bits = wish.map_or_else(Vec::new, |wish| wish.flipped.clone());
        self.choose(index);
        let Some(machine) = self.machines.get(index).cloned() else {
            return;
        };
        let recording = &open.shown.recording;
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
            // Of a file, seed and index count together.
            let is_of_a_file = machine.task.held_out().is_some();
            if let Some(drawn) = origin.filter(|drawn| drawn.episode == 0 || is_of_a_file) {
                self.wish.seed = drawn.seed.wrapping_add(drawn.episode);
                (self.wish.sampling, self.wish.sample) = (drawn.sampling, drawn.sample);
            }
        }
        if fits && !self.wish.draws(machine, task, episode) {
            self.wish.flipped.clear();
            self.wish.given = Some(Given(Arc::new((task.clone(), episode.clone()))));
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
        let Some(open) = &self.open else {
            return "episode.ntmtrace.json".to_owned();
        };
        let recording = &open.shown.recording;
        // Of a file without a seed nobody knows where its bits come from.
        let by_hand = if open.is_of_a_file() { "" } else { "-edited" };
        let seed = drawn(recording, "-seed", by_hand);
        let (measure, size) = (recording.task.size_name(), recording.episode.size);
        // Somebody else's task may be called like a folder.
        let plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let task: String = recording.task.name().chars().filter(plain).collect();
        format!("{task}-{measure}{size}{seed}.ntmtrace.json")
    }
}

/// What a machine is asked for where nobody says: an episode that is worth looking at.
pub fn own_wish(index: usize, machine: &Machine) -> Wish {
    // Of a file, those that are held out are counted from the first.
    let seed = machine.task.held_out().map_or(UNSEEN_SEED, |_| 0);
    Wish::of(index, machine, seed).lively(machine)
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

/// Numbers to stop at: four in every doubling, and the ends.
pub fn stops(least: usize, most: usize) -> Vec<usize> {
    let mut stops = vec![least];
    let mut octave = 1;
    while octave <= most {
        let quarters = (0..4).map(|quarter| octave + octave * quarter / 4);
        stops.extend(quarters.filter(|&stop| (least..=most).contains(&stop)));
        octave *= 2;
    }
    stops.push(most);
    stops.sort_unstable();
    stops.dedup();
    stops
}

/// The least number of rows that the shifts of a machine fit on.
fn least_rows(config: &ModelConfig) -> usize {
    config.ntm().map_or(1, NtmConfig::offsets)
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
