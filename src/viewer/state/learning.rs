//! Live training: the known state of all runs, and the selected run and training snapshot.

use std::path::PathBuf;
use std::sync::Arc;

use super::LoadedRun;
use crate::figure::chart::data::Line;
use crate::figure::facts::memo::Memo;
use crate::io::Experiment;
use crate::io::preset::{WHOLE, ablations};
use crate::io::recovery::Recovery;
use crate::learn::{Finding, Pace, RunProgress, RunUpdate, Snapshot};
use crate::model::Model;
use crate::train::{Clip, OptimizerConfig, State, chance, optimum};
use crate::viewer::state::{EpisodeRequest, Open, SameArc};

/// Updates per second at which a person can follow, to begin with.
const SLOW: f64 = 4.0;
/// The fastest pace below full speed, in updates per second.
const FASTEST: f64 = 1024.0;
/// The slowest one.
const SLOWEST: f64 = 0.5;

/// Runs that are under way, or have ended.
#[derive(Clone, Debug)]
pub struct LiveTraining {
    /// The runs side by side, at least one.
    pub runs: Vec<RunView>,
    /// The run whose machine is on screen.
    pub chosen: usize,
    /// Index of the machine on screen in the session.
    pub machine: usize,
    /// True while they train.
    pub is_training: bool,
    /// The speed.
    pub pace: Pace,
    /// Number of sequences of the machine on screen, or of the last snapshot before that; `None` for the machine
    /// as it is now.
    pub snapshot_at: Option<u64>,
    /// The selected finding; `None` for the newest.
    pub finding: Option<usize>,
    /// The chart below the loss, where there is room for one.
    pub below: usize,
    /// Number of orders given.
    pub ordered: u64,
    /// True where the episode on screen is older than the known state.
    pub stale: bool,
    /// The number of the run that is being written.
    pub saving: Option<u64>,
    /// The runs that are written after it, the next one last: place and folder.
    pub queue: Vec<(usize, PathBuf)>,
    /// The saved run that is read-only until it is continued.
    pub read_only: Option<SavedRun>,
    /// Number of the run whose probe is being recorded.
    pub probing: Option<u64>,
}

/// A saved run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedRun {
    /// The folder.
    pub folder: PathBuf,
    /// True if all sequences are trained.
    pub is_finished: bool,
}

/// The saved progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saved {
    /// Number of sequences.
    pub sequences: u64,
    /// Training time, in seconds.
    pub seconds: f64,
}

impl Saved {
    /// Returns the progress of a state of training.
    pub fn of(state: &State) -> Self {
        Self {
            sequences: state.sequences,
            seconds: state.time.as_secs_f64(),
        }
    }
}

/// Training time, in seconds, that may be discarded without asking: the same seed reproduces it.
const LITTLE: f64 = 5.0;

/// The replacement of the training that ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Replacement {
    /// Restart the experiment, same seed.
    Again,
    /// Restart the experiment with the next seed.
    NextSeed,
    /// These side by side, told apart by their names or seeds.
    Begin(Vec<NamedExperiment>),
    /// One preset with several seeds, side by side, starting with its own.
    Seeds(usize),
    /// One preset side by side, whole and without each of the stages of its heads, from one seed.
    Ablate,
    /// The runs of this folder, read-only.
    LookBack(PathBuf, Box<LoadedRun>),
    /// The runs of these folders, which a killed program left.
    Recover(Vec<PathBuf>),
    /// Nothing; the machine stays as it is.
    Nothing,
    /// Nothing; the window is closed.
    Close,
}

/// An experiment and its name among those side by side, where that is not the seed.
pub type NamedExperiment = (Option<String>, Experiment);

/// A pending end of training, while the user is asked whether to save.
#[derive(Clone, Debug)]
pub struct EndRequest {
    /// The replacement.
    pub replacement: Replacement,
    /// True where that comes once the run is written.
    pub saves: bool,
    /// The folder for the next save, once the current save is finished.
    pub next: Option<PathBuf>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct RunView {
    /// The number of the run, unique in the session.
    pub number: u64,
    /// The saved progress.
    pub saved: Saved,
    /// The last order that it has followed.
    pub followed: u64,
    /// The name among the runs, where that is not the seed.
    pub name: Option<String>,
    /// The folder of a continued run.
    pub folder: Option<PathBuf>,
    /// The checkpoints of a recovered run.
    pub recovery: Option<Recovery>,
    /// The experiment at its start.
    pub begun: Experiment,
    /// The experiment, with all changes since.
    pub experiment: Experiment,
    /// Reference levels in bits per sequence, with their names: chance level and optimum.
    pub landmarks: Vec<(f64, &'static str)>,
    /// The observations; `None` at the start.
    pub progress: Option<Arc<RunProgress>>,
    /// The machine as it is.
    pub machine: Arc<Model<f32>>,
    /// Sequences per second, lately.
    pub rate: Option<f64>,
    /// The answer to the episode on screen, while another run is selected.
    pub probe: Option<Open>,
    /// The machine and the request of that episode.
    pub probed: Option<(Arc<Model<f32>>, EpisodeRequest)>,
    /// Lines of its charts, by name, progress and sequences.
    pub lines: Memo<(&'static str, usize, u64), Vec<Line>, 5>,
}

/// News of the runs, each with its index; every report differs.
pub type RunUpdates = SameArc<Vec<(usize, RunUpdate)>>;

impl LiveTraining {
    /// Runs that are about to begin; the machine on screen stands at this place among those of the session.
    pub fn new(runs: Vec<RunView>, machine: usize) -> Self {
        Self {
            runs,
            chosen: 0,
            machine,
            is_training: true,
            pace: Pace::Full,
            snapshot_at: None,
            finding: None,
            below: 0,
            ordered: 0,
            stale: false,
            saving: None,
            queue: Vec::new(),
            read_only: None,
            probing: None,
        }
    }

    /// The run whose machine is on screen.
    pub fn run(&self) -> &RunView {
        &self.runs[self.chosen.min(self.runs.len() - 1)]
    }

    /// Returns its progress.
    fn progress(&self) -> Option<&RunProgress> {
        self.run().progress.as_deref()
    }

    /// Returns its training snapshots, in order.
    pub fn snapshots(&self) -> &[Snapshot] {
        let progress = self.progress();
        progress.map_or(&[], |progress| progress.snapshots.all())
    }

    /// The place of the snapshot on screen among them, while that is not the machine as it is now.
    pub fn place(&self) -> Option<usize> {
        self.progress()?.snapshots.at(self.snapshot_at?)
    }

    /// The snapshot on screen.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.run().snapshot(self.snapshot_at)
    }

    /// Returns its findings, in order.
    pub fn findings(&self) -> &[Finding] {
        self.progress().map_or(&[], |progress| &progress.findings)
    }

    /// Returns the selected finding: by default the newest one at the snapshot on screen.
    pub fn finding_shown(&self) -> Option<usize> {
        let known = self.snapshot().map_or(u64::MAX, |now| now.sequences);
        let findings = self.findings();
        let newest = || findings.iter().rposition(|found| found.sequences <= known);
        let chosen = self.finding.filter(|&chosen| chosen < findings.len());
        chosen.or_else(newest)
    }

    /// Moves by a number of findings, and to the training snapshot of that time.
    pub fn move_finding(&mut self, by: isize) {
        let Some(last) = self.findings().len().checked_sub(1) else {
            return;
        };
        let shown = self.finding_shown().unwrap_or(0);
        let next = shown.saturating_add_signed(by).min(last);
        self.snapshot_at = Some(self.findings()[next].sequences);
        self.finding = Some(next);
    }

    /// The machine that is to be on screen.
    pub fn shown(&self) -> &Arc<Model<f32>> {
        self.machine_of(self.run())
    }

    /// Returns its name, with the training snapshot.
    pub fn title(&self) -> String {
        let run = self.run();
        let now = self.progress().map_or(0, |progress| progress.sequences);
        let sequences = self.snapshot().map_or(now, |snapshot| snapshot.sequences);
        let title = &run.experiment.title;
        match self.runs.len() {
            1 => format!("{title}, after {sequences} sequences"),
            _ => format!("{title}, {}, after {sequences} sequences", run.label()),
        }
    }

    /// True where more than a little would be lost if this ended now: some seconds of training that are not saved, a
    /// change by hand that no seed brings back, or a run that is about to be written.
    pub fn is_unsaved(&self) -> bool {
        let runs = || self.runs.iter().filter_map(RunView::unsaved);
        let seconds: f64 = runs().map(|(seconds, _)| seconds).sum();
        let is_long = seconds >= LITTLE || runs().any(|(_, changed)| changed);
        let mut runs = self.runs.iter();
        let is_recovered = runs.any(|run| run.recovery.is_some() && run.progress.is_none());
        self.read_only.is_none() && (self.saving.is_some() || is_long || is_recovered)
    }

    /// True until all runs have followed the last order.
    pub fn waits(&self) -> bool {
        self.runs.iter().any(|run| run.followed < self.ordered)
    }

    /// The default folder for saving the run on screen.
    pub fn folder(&self) -> String {
        self.folder_of(self.run())
    }

    /// The default folder for saving a run: its own, or that of `tapescope train`, and a suffix for runs with the same
    /// seed.
    pub fn folder_of(&self, run: &RunView) -> String {
        if let Some(folder) = &run.folder {
            return folder.display().to_string();
        }
        let folder = format!("runs/{}-{}", run.begun.name, run.begun.training.seed);
        match &run.name {
            Some(name) if self.runs.len() > 1 => {
                let plain = name.replace(|c: char| !c.is_alphanumeric(), "-");
                format!("{folder}-{plain}")
            }
            _ => folder,
        }
    }

    /// Returns the machine of a run after as many sequences as the one on screen.
    pub fn machine_of<'a>(&self, run: &'a RunView) -> &'a Arc<Model<f32>> {
        let snapshot = run.snapshot(self.snapshot_at);
        snapshot.map_or(&run.machine, |snapshot| &snapshot.machine)
    }

    /// The run whose probe is the next to be recorded anew: those that are not chosen in turns, where there is
    /// something new of them.
    pub fn next_probe(
        &self,
        after: usize,
        request: &EpisodeRequest,
    ) -> Option<(usize, &Arc<Model<f32>>)> {
        let count = self.runs.len();
        let turns = (1..=count).map(|by| (after + by) % count);
        let others = turns.filter(|&run| run != self.chosen);
        let mut machines = others.map(|run| (run, self.machine_of(&self.runs[run])));
        machines.find(|(run, now)| {
            let known = self.runs[*run].probed.as_ref();
            !known.is_some_and(|(machine, of)| Arc::ptr_eq(machine, now) && of == request)
        })
    }

    /// True while there is more to come.
    pub fn expects_news(&self) -> bool {
        self.waits() || (self.is_training && self.runs.iter().any(RunView::is_active))
    }

    /// Returns the number of seeds among the runs.
    pub fn seeds(&self) -> u64 {
        let seeds = self.runs.iter().map(|run| run.begun.training.seed);
        seeds.collect::<std::collections::BTreeSet<_>>().len() as u64
    }

    /// Doubles or halves the speed a number of times; beyond the fastest it is full speed.
    pub fn faster(&mut self, times: i32) {
        let now = match self.pace {
            Pace::Updates(per_second) => per_second,
            Pace::Full => FASTEST * 2.0,
        };
        let asked = now * 2_f64.powi(times);
        self.pace = if asked > FASTEST {
            Pace::Full
        } else {
            Pace::Updates(asked.max(SLOWEST))
        };
    }

    /// Toggles between slow updates and full speed.
    pub fn slow_or_full(&mut self) {
        self.pace = match self.pace {
            Pace::Full => Pace::Updates(SLOW),
            Pace::Updates(_) => Pace::Full,
        };
    }

    /// Looks at the snapshot of this place; where there is none, at the machine as it is.
    pub fn select_snapshot(&mut self, place: Option<usize>) {
        let snapshot = place.and_then(|place| self.snapshots().get(place));
        self.snapshot_at = snapshot.map(|snapshot| snapshot.sequences);
        self.finding = None;
    }

    /// Moves by a number of snapshots; after the last one comes the current machine.
    pub fn move_snapshot(&mut self, by: isize) {
        let here = self.place().unwrap_or(self.snapshots().len());
        self.select_snapshot(Some(here.saturating_add_signed(by)));
    }
}

/// A number that may be changed while a machine learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameter {
    /// The name.
    pub name: String,
    /// The value now.
    pub value: f64,
    /// True of a count.
    pub is_whole: bool,
    /// The change that sets it, with `{}` in the place of the value.
    template: String,
}

impl Hyperparameter {
    /// Learning rate, batch, sizes and clipping.
    pub fn all(experiment: &Experiment) -> Vec<Self> {
        let training = &experiment.training;
        let (OptimizerConfig::RmsProp { learning_rate, .. }
        | OptimizerConfig::Adam { learning_rate, .. }) = training.optimizer;
        let knob = |name: &str, value, is_whole, template: &str| Self {
            name: name.to_owned(),
            value,
            is_whole,
            template: template.to_owned(),
        };
        let (name, sizes) = (experiment.task.measure().name(), experiment.task.size());
        let (least, most) = (*sizes.start(), *sizes.end());
        let rate = "training.optimizer.learning_rate={}";
        let least_of = format!("task.{name}=[{{}},{most}]");
        let most_of = format!("task.{name}=[{least},{{}}]");
        let (smallest, largest) = (format!("Smallest {name}"), format!("Largest {name}"));
        let mut all = vec![
            knob("Learning rate", learning_rate, false, rate),
            knob("Batch", training.batch as f64, true, "training.batch={}"),
            knob(&smallest, least as f64, true, &least_of),
            knob(&largest, most as f64, true, &most_of),
        ];
        if let Clip::Elementwise(limit) | Clip::GlobalNorm(limit) = training.clip {
            all.push(knob("Clipping", limit, false, "training.clip.limit={}"));
        }
        all
    }

    /// Returns the assignment of this value, as `path=value`; a count loses its fraction.
    pub fn set(&self, value: f64) -> String {
        self.template.replace("{}", &self.describe(value))
    }

    /// A value of it in words.
    pub fn describe(&self, value: f64) -> String {
        if self.is_whole {
            format!("{}", value.floor())
        } else {
            format!("{value:e}")
        }
    }
}

/// Returns the complete experiment and its ablations, one per stage of its heads, with their names; none where
/// it has no such stages.
pub fn ablated(whole: &Experiment) -> Vec<NamedExperiment> {
    let variants = ablations(whole).variants;
    let complete = (!variants.is_empty()).then(|| (WHOLE.to_owned(), whole.clone()));
    let without = variants.into_iter().map(|one| (one.name, one.experiment));
    let all = complete.into_iter().chain(without);
    all.map(|(name, experiment)| (Some(name), experiment))
        .collect()
}

/// Returns reference levels in bits per sequence, with their names. Plays many episodes: not for the thread that draws.
pub fn landmarks(experiment: &Experiment) -> Vec<(f64, &'static str)> {
    /// Episodes of which the means are taken.
    const EPISODES: usize = 50;
    let (task, seed) = (&experiment.task, experiment.training.seed);
    // Computed here, behind the window.
    task.summary();
    let mut landmarks = vec![(chance(task, seed, EPISODES), "chance level")];
    landmarks.extend(optimum(task, seed, EPISODES).map(|bits| (bits, "optimum")));
    landmarks
}

impl RunView {
    /// Returns the name among the runs.
    pub fn label(&self) -> String {
        let by_seed = || format!("seed {}", self.begun.training.seed);
        self.name.clone().unwrap_or_else(by_seed)
    }

    /// A run of this machine, without a number and without reference levels.
    pub fn new(name: Option<String>, experiment: Experiment, machine: Model<f32>) -> Self {
        Self {
            number: 0,
            saved: Saved::default(),
            followed: 0,
            name,
            folder: None,
            recovery: None,
            begun: experiment.clone(),
            landmarks: Vec::new(),
            progress: None,
            machine: Arc::new(machine),
            rate: None,
            probe: None,
            probed: None,
            lines: Memo::default(),
            experiment,
        }
    }

    /// Applies an update; returns false without training since the last one. Where the weights are no longer finite,
    /// the machine is what it was before.
    pub fn apply_update(&mut self, news: &RunUpdate) -> bool {
        let progress = &news.progress;
        let known = self.progress.replace(progress.clone());
        self.rate = news.rate;
        // An obeyed command may be visible without an update: other sizes.
        let obeyed = std::mem::replace(&mut self.followed, news.followed) != news.followed;
        let state = |of: &RunProgress| (of.sequences, of.end.clone());
        if known.is_some_and(|known| state(&known) == state(progress)) && !obeyed {
            return false;
        }
        let before = progress.snapshots.all().last();
        let before = before.filter(|_| !self.keeps_weights());
        let machine = before.map_or(&news.machine, |snapshot| &snapshot.machine);
        self.machine = machine.clone();
        true
    }

    /// True where there is something of it to be saved.
    pub fn can_be_saved(&self) -> bool {
        let progress = self.progress.as_deref();
        progress.is_none_or(RunProgress::can_be_saved)
    }

    /// False where its weights are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        let progress = self.progress.as_deref();
        progress.is_none_or(RunProgress::keeps_weights)
    }

    /// Returns the snapshot after this number of sequences.
    fn snapshot(&self, at: Option<u64>) -> Option<&Snapshot> {
        let snapshots = &self.progress.as_deref()?.snapshots;
        snapshots.all().get(snapshots.at(at?)?)
    }

    /// Seconds of training that could be saved and are not, and whether something was changed by hand since.
    fn unsaved(&self) -> Option<(f64, bool)> {
        let progress = self.progress.as_deref();
        let progress = progress.filter(|progress| progress.can_be_saved())?;
        let Saved { sequences, seconds } = self.saved;
        let mut changes = progress.changes.iter();
        let changed = changes.any(|change| change.sequences >= sequences);
        (progress.sequences > sequences).then_some((progress.seconds - seconds, changed))
    }

    /// True until it has ended.
    pub fn is_active(&self) -> bool {
        let progress = self.progress.as_deref();
        progress.is_none_or(|progress| progress.end.is_none())
    }
}
