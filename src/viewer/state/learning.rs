//! Machines that learn while the window is open: what is known of them by now, and which moment of which one is looked
//! at.

use std::path::PathBuf;
use std::sync::Arc;

use crate::io::Experiment;
use crate::io::preset::{WHOLE, ablations};
use crate::learn::{Account, Finding, News, Order, Pace, Snapshot};
use crate::model::Model;
use crate::train::{Clip, OptimizerConfig, chance, optimum};
use crate::viewer::files::Kept;
use crate::viewer::state::episode::{Open, Wish};
use crate::viewer::state::work::{Effect, Saved, Teach};

/// Updates per second at which a person can follow, to begin with.
const SLOW: f64 = 4.0;
/// The fastest pace below full speed, in updates per second.
const FASTEST: f64 = 1024.0;
/// The slowest one.
const SLOWEST: f64 = 0.5;

/// Runs that are under way, or have ended.
#[derive(Clone, Debug)]
pub struct Learning {
    /// The runs side by side, at least one.
    pub runs: Vec<Taught>,
    /// The run whose machine is on screen.
    pub chosen: usize,
    /// Where the machine on screen stands among those of the session.
    pub machine: usize,
    /// True while they train.
    pub goes: bool,
    /// How fast.
    pub pace: Pace,
    /// What is on screen is the machine after so many sequences, or the last snapshot before that; `None` for the machine
    /// as it is now.
    pub moment: Option<u64>,
    /// What was noticed and is looked at; `None` for the newest.
    pub finding: Option<usize>,
    /// The chart below the loss, where there is room for one.
    pub below: usize,
    /// How many orders were given.
    pub ordered: u64,
    /// True where the episode on screen is older than what is known.
    pub stale: bool,
    /// The number of the run that is being written.
    pub saving: Option<u64>,
    /// Of a run that was trained elsewhere, why it does not train here.
    pub kept: Option<String>,
    /// The number of the run whose probe is being recorded beside the episode on screen.
    pub probing: Option<u64>,
}

/// So much training, in seconds, may be lost without asking: with the same seed it comes again.
const LITTLE: f64 = 5.0;

/// What comes in the place of whatever learns, which ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Instead {
    /// The same anew, from the same seed.
    Again,
    /// The same anew, from the next seed.
    NextSeed,
    /// This preset.
    Preset(String),
    /// These side by side, told apart by their seeds.
    Begin(Vec<Experiment>),
    /// These side by side, by these names.
    BeginNamed(Vec<(String, Experiment)>),
    /// The same preset side by side from so many seeds, the first of them its own.
    Seeds(usize),
    /// The same preset side by side, whole and without each of the stages of its heads, from one seed.
    Ablate,
    /// A run that was read from this folder is looked back at.
    LookBack(PathBuf, Box<Kept>),
    /// Nothing; the machine stays as it is.
    Nothing,
    /// Nothing; the window is closed.
    Close,
}

/// What would end what learns, while the person is asked what becomes of that.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What is to come in its place.
    pub instead: Instead,
    /// True where that comes once the run is written.
    pub saves: bool,
    /// Where the run is written once it is not being written any more as it was before.
    pub next: Option<PathBuf>,
}

/// What a run that is not chosen does with the episode on screen.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// The episode, if it could be recorded.
    pub open: Option<Open>,
    /// The machine and the wish that it was recorded for last.
    pub of: Option<(Arc<Model<f32>>, Wish)>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Taught {
    /// Its number: no other run of the session has it.
    pub number: u64,
    /// What is on the disk.
    pub saved: Saved,
    /// The last order that it has followed.
    pub followed: u64,
    /// What it is called among the others.
    pub label: String,
    /// What it began with.
    pub begun: Experiment,
    /// What it learns, and how, with all that was changed since.
    pub experiment: Experiment,
    /// Bits per sequence to measure it by, and what they are: guessing, the best there can be.
    pub landmarks: Vec<(f64, &'static str)>,
    /// What has been observed; nothing at the very first.
    pub account: Option<Arc<Account>>,
    /// The machine as it is.
    pub machine: Arc<Model<f32>>,
    /// Sequences per second, lately.
    pub rate: Option<f64>,
    /// What it does with the episode on screen, while another run is looked at.
    pub probe: Probe,
}

/// What has come of the runs, each with its place; each telling is another.
#[derive(Clone, Debug)]
pub struct Told(pub Arc<Vec<(usize, News)>>);

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Learning {
    /// Runs that are about to begin; the machine on screen stands at this place among those of the session.
    pub fn new(runs: Vec<Taught>, machine: usize) -> Self {
        Self {
            runs,
            chosen: 0,
            machine,
            goes: true,
            pace: Pace::Full,
            moment: None,
            finding: None,
            below: 0,
            ordered: 0,
            stale: false,
            saving: None,
            kept: None,
            probing: None,
        }
    }

    /// The run whose machine is on screen.
    pub fn run(&self) -> &Taught {
        &self.runs[self.chosen.min(self.runs.len() - 1)]
    }

    /// What is known of it.
    fn account(&self) -> Option<&Account> {
        self.run().account.as_deref()
    }

    /// What it was, in the order of the moments.
    pub fn snapshots(&self) -> &[Snapshot] {
        self.account()
            .map_or(&[], |account| account.snapshots.all())
    }

    /// The place of the snapshot on screen among them, while that is not the machine as it is now.
    pub fn place(&self) -> Option<usize> {
        self.account()?.snapshots.at(self.moment?)
    }

    /// The snapshot on screen.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshots().get(self.place()?)
    }

    /// What was noticed of it, in order.
    pub fn findings(&self) -> &[Finding] {
        self.account().map_or(&[], |account| &account.findings)
    }

    /// Which of it is looked at: where none was chosen, the newest that was known at the moment on screen.
    pub fn finding_shown(&self) -> Option<usize> {
        let known = self.snapshot().map_or(u64::MAX, |now| now.sequences);
        let findings = self.findings();
        let newest = || findings.iter().rposition(|found| found.sequences <= known);
        let chosen = self.finding.filter(|&chosen| chosen < findings.len());
        chosen.or_else(newest)
    }

    /// What was noticed so much later, or earlier, and what the machine was then.
    pub fn move_finding(&mut self, by: isize) {
        let Some(last) = self.findings().len().checked_sub(1) else {
            return;
        };
        let shown = self.finding_shown().unwrap_or(0);
        let next = shown.saturating_add_signed(by).min(last);
        self.moment = Some(self.findings()[next].sequences);
        self.finding = Some(next);
    }

    /// The machine that is to be on screen.
    pub fn shown(&self) -> &Arc<Model<f32>> {
        let snapshot = self.snapshot();
        snapshot.map_or(&self.run().machine, |snapshot| &snapshot.machine)
    }

    /// What it is called, with its moment.
    pub fn title(&self) -> String {
        let run = self.run();
        let sequences = self.snapshot().map_or_else(
            || self.account().map_or(0, |account| account.sequences),
            |snapshot| snapshot.sequences,
        );
        let name = match self.runs.len() {
            1 => run.experiment.title.clone(),
            _ => format!("{}, {}", run.experiment.title, run.label),
        };
        format!("{name}, after {sequences} sequences")
    }

    /// True where more than a little would be lost if this ended now: some seconds of training that are not saved, a
    /// change by hand that no seed brings back, or a run that is about to be written.
    pub fn is_unsaved(&self) -> bool {
        let runs = || self.runs.iter().filter_map(Taught::unsaved);
        self.kept.is_none()
            && (self.saving.is_some()
                || runs().map(|(seconds, _)| seconds).sum::<f64>() >= LITTLE
                || runs().any(|(_, changed)| changed))
    }

    /// An order for all runs, which from now on are waited for.
    pub fn order(&mut self, order: Order) -> Effect {
        self.ordered += 1;
        Effect::Teach(Teach::Tell(self.ordered, order))
    }

    /// True until all runs have followed the last order.
    pub fn waits(&self) -> bool {
        let followed = self.runs.iter().map(|run| run.followed);
        followed
            .min()
            .is_some_and(|followed| followed < self.ordered)
    }

    /// The folder that a run is saved into where nobody says otherwise: that of `tapescope train`, and behind it what the
    /// run is called among others of its seed.
    pub fn folder(&self) -> String {
        let run = self.run();
        let (name, seed) = (&run.begun.name, run.begun.training.seed);
        let mut folder = format!("runs/{name}-{seed}");
        if self.runs.len() > 1 && run.label != by_seed(&run.begun) {
            let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
            folder.push('-');
            folder.extend(run.label.chars().map(plain));
        }
        folder
    }

    /// The machine of a run at the moment that is looked at: after as many sequences as the one on screen.
    pub fn machine_of(&self, run: usize) -> Option<&Arc<Model<f32>>> {
        let taught = self.runs.get(run)?;
        let moment = self.moment.and_then(|moment| {
            let snapshots = &taught.account.as_deref()?.snapshots;
            snapshots.all().get(snapshots.at(moment)?)
        });
        Some(moment.map_or(&taught.machine, |snapshot| &snapshot.machine))
    }

    /// The run whose probe is the next to be recorded anew: those that are not chosen in turns, where there is
    /// something new of them.
    pub fn next_probe(&self, after: usize, wish: &Wish) -> Option<usize> {
        let count = self.runs.len();
        let turns = (1..=count).map(|by| (after + by) % count);
        let mut others = turns.filter(|&run| run != self.chosen);
        others.find(|&run| {
            let known = self.runs[run].probe.of.as_ref();
            let is_known = |(machine, of): &(Arc<Model<f32>>, Wish)| {
                let now = self.machine_of(run);
                now.is_some_and(|now| Arc::ptr_eq(machine, now)) && of == wish
            };
            !known.is_some_and(is_known)
        })
    }

    /// True while there is more to come.
    pub fn expects_news(&self) -> bool {
        self.waits() || (self.goes && self.runs.iter().any(Taught::goes_on))
    }

    /// How many seeds there are among the runs.
    pub fn seeds(&self) -> u64 {
        let seeds = self.runs.iter().map(|run| run.begun.training.seed);
        seeds.collect::<std::collections::BTreeSet<_>>().len() as u64
    }

    /// So many times twice the pace, or half of it; beyond the fastest it is full speed.
    pub fn faster(&mut self, times: i32) {
        let now = match self.pace {
            Pace::Updates(per_second) => per_second,
            Pace::Full if times < 0 => FASTEST * 2.0,
            Pace::Full => return,
        };
        let asked = now * 2_f64.powi(times);
        self.pace = if asked > FASTEST {
            Pace::Full
        } else {
            Pace::Updates(asked.max(SLOWEST))
        };
    }

    /// So slow that single updates can be followed, or as fast as it can.
    pub fn slow_or_full(&mut self) {
        self.pace = match self.pace {
            Pace::Full => Pace::Updates(SLOW),
            Pace::Updates(_) => Pace::Full,
        };
    }

    /// Looks at the snapshot of this place; where there is none, at the machine as it is.
    pub fn look_at(&mut self, place: Option<usize>) {
        let snapshot = place.and_then(|place| self.snapshots().get(place));
        self.moment = snapshot.map(|snapshot| snapshot.sequences);
        self.finding = None;
    }

    /// So many snapshots on, or back; beyond the last one it is the machine as it is.
    pub fn move_moment(&mut self, by: isize) {
        let here = self.place().unwrap_or(self.snapshots().len());
        self.look_at(Some(here.saturating_add_signed(by)));
    }
}

/// A number that may be changed while a machine learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// What it is.
    pub name: String,
    /// Its value now.
    pub value: f64,
    /// True of a count.
    pub is_whole: bool,
    /// What stands before and behind the value where it is set.
    around: [String; 2],
}

impl Knob {
    /// Learning rate, batch, sizes and clipping.
    pub fn all(experiment: &Experiment) -> Vec<Self> {
        let training = &experiment.training;
        let (OptimizerConfig::RmsProp { rate, .. } | OptimizerConfig::Adam { rate, .. }) =
            training.optimizer;
        let set = |path: &str| [format!("{path}="), String::new()];
        let real = |name: &str, value, path| Self {
            name: name.to_owned(),
            value,
            is_whole: false,
            around: set(path),
        };
        let count = |name: String, value: usize, around| Self {
            name,
            value: value as f64,
            is_whole: true,
            around,
        };
        let (name, sizes) = (experiment.task.measure().name(), experiment.task.size());
        let (least, most) = (*sizes.start(), *sizes.end());
        let before = format!("task.{name}=[");
        let least_of = [before.clone(), format!(",{most}]")];
        let most_of = [format!("{before}{least},"), "]".to_owned()];
        let clipping = match training.clip {
            Clip::Elementwise(limit) | Clip::GlobalNorm(limit) => Some(limit),
            Clip::None => None,
        };
        let mut all = vec![
            real("Learning rate", rate, "training.optimizer.rate"),
            count("Batch".to_owned(), training.batch, set("training.batch")),
            count(format!("Smallest {name}"), least, least_of),
            count(format!("Largest {name}"), most, most_of),
        ];
        all.extend(clipping.map(|limit| real("Clipping", limit, "training.clip.limit")));
        all
    }

    /// What is set for it to have this value, as `path=value`; a count loses its fraction.
    pub fn set(&self, value: f64) -> String {
        let [before, behind] = &self.around;
        format!("{before}{}{behind}", self.told(value))
    }

    /// A value of it in words.
    pub fn told(&self, value: f64) -> String {
        if self.is_whole {
            format!("{}", value.floor())
        } else {
            format!("{value:e}")
        }
    }
}

/// The same experiment whole, and without each of the stages of its heads, with what each is called; none where
/// it has no such stages.
pub fn ablated(whole: &Experiment) -> Vec<(String, Experiment)> {
    let variants = ablations(whole).variants;
    if variants.is_empty() {
        return Vec::new();
    }
    let without = variants.into_iter();
    let without = without.map(|one| (one.name.to_owned(), one.experiment));
    std::iter::once((WHOLE.to_owned(), whole.clone()))
        .chain(without)
        .collect()
}

/// What a run is called by its seed.
pub fn by_seed(experiment: &Experiment) -> String {
    format!("seed {}", experiment.training.seed)
}

/// Bits per sequence to measure what is learned by, and what they are.
pub fn landmarks(experiment: &Experiment) -> Vec<(f64, &'static str)> {
    /// Episodes of which the means are taken.
    const EPISODES: usize = 50;
    let (task, seed) = (&experiment.task, experiment.training.seed);
    let guessing = (chance(task, seed, EPISODES), "guessing");
    let best = optimum(task, seed, EPISODES);
    let best = best.map(|bits| (bits, "the best there can be"));
    std::iter::once(guessing).chain(best).collect()
}

impl Taught {
    /// It once more, so many seeds on.
    pub fn next(&self, by: u64) -> (String, Experiment) {
        let is_by_seed = self.label == by_seed(&self.begun);
        let mut next = self.begun.clone();
        next.training.seed = next.training.seed.wrapping_add(by);
        let label = if is_by_seed {
            by_seed(&next)
        } else {
            self.label.clone()
        };
        (label, next)
    }

    /// A run that is about to begin.
    pub fn new(number: u64, label: String, experiment: Experiment) -> Self {
        let seed = experiment.training.seed;
        Self {
            number,
            saved: Saved::default(),
            followed: 0,
            label,
            begun: experiment.clone(),
            landmarks: landmarks(&experiment),
            account: None,
            machine: Arc::new(Model::new(experiment.model.clone(), seed)),
            rate: None,
            probe: Probe::default(),
            experiment,
        }
    }

    /// Takes in what is new; false where it has not been trained since. Where the weights are no longer finite, the machine
    /// is what it was before.
    pub fn take_in(&mut self, news: &News) -> bool {
        let account = &news.account;
        let known = self.account.replace(account.clone());
        self.rate = news.rate;
        // What was ordered may be seen without an update: other sizes.
        let obeyed = std::mem::replace(&mut self.followed, news.followed) != news.followed;
        let is_same =
            |known: Arc<Account>| known.sequences == account.sequences && known.end == account.end;
        if known.is_some_and(is_same) && !obeyed {
            return false;
        }
        let before = account.snapshots.all().last();
        let before = before.filter(|_| !self.keeps_weights());
        self.machine =
            before.map_or_else(|| news.machine.clone(), |snapshot| snapshot.machine.clone());
        true
    }

    /// True where there is something of it to be saved.
    pub fn can_be_saved(&self) -> bool {
        self.account.as_deref().is_none_or(Account::can_be_saved)
    }

    /// False where its weights are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        self.account.as_deref().is_none_or(Account::keeps_weights)
    }

    /// Seconds of training that could be saved and are not, and whether something was changed by hand since.
    fn unsaved(&self) -> Option<(f64, bool)> {
        let account = self
            .account
            .as_deref()
            .filter(|account| account.can_be_saved())?;
        let Saved { sequences, seconds } = self.saved;
        let mut changes = account.changes.iter();
        let changed = changes.any(|change| change.sequences >= sequences);
        (account.sequences > sequences).then_some((account.seconds - seconds, changed))
    }

    /// True until it has ended.
    pub fn goes_on(&self) -> bool {
        let account = self.account.as_deref();
        account.is_none_or(|account| account.end.is_none())
    }
}
