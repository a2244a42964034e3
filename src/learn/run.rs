//! A training run with all that is observed of it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::curve::Curve;
use super::findings::{Finding, Watcher};
use super::snapshots::Snapshots;
use crate::task::Task;
use crate::train::{
    Change, Diagnostics, Diverged, HeadDiagnostics, HistoryPoint, Score, State, Trainer,
    TrainingConfig,
};

/// The number of updates between two closer measurements; one costs a tenth of an update, at most.
const BETWEEN_LOOKS: i32 = 16;
/// A point of a lane covers this share of the sequences before it.
const SHARE: f64 = 0.01;
/// Decay of an episode's weight with every later episode of the same size.
const FORGETS: f64 = 0.02;

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    trainer: Trainer,
    progress: RunProgress,
    watcher: Watcher,
    diagnostics: Diagnostics,
    /// False where no clock runs.
    timed: bool,
}

/// The progress of a run.
#[derive(Clone, Debug)]
pub struct RunProgress {
    /// Sequences trained on.
    pub sequences: u64,
    /// Sequences in the whole run.
    pub of: u64,
    /// Seconds spent in updates.
    pub seconds: f64,
    /// Every update.
    pub curve: Curve,
    /// Every validation.
    pub history: Vec<HistoryPoint>,
    /// Recent errors by size of the episodes.
    pub errors_by_size: ErrorsBySize,
    /// Diagnostics: heads and gradient norms.
    pub diagnostics: DiagnosticsHistory,
    /// The findings, in the order in which they were noticed.
    pub findings: Vec<Finding>,
    /// The training snapshots.
    pub snapshots: Snapshots,
    /// The changes during training.
    pub changes: Vec<Change>,
    /// The sequences before its current task: earlier ones belong to another task.
    pub task_since: u64,
    /// The names of the heads.
    pub heads: Vec<String>,
    /// The reason why the run ended, if it did.
    pub end: Option<End>,
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The run has seen all its sequences.
    Finished,
    /// A value was no longer finite.
    Diverged(Diverged),
    /// An error of the program, or of the system.
    Broken {
        /// The text of the error.
        words: String,
        /// True if the run is intact after its last update: it can be saved and resumed.
        is_whole: bool,
    },
}

impl End {
    /// False where the weights of the run are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        match self {
            Self::Finished => true,
            Self::Diverged(diverged) => !diverged.weights,
            Self::Broken { is_whole, .. } => *is_whole,
        }
    }
}

/// Errors by size of the episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorsBySize(BTreeMap<usize, [f64; 2]>);

impl ErrorsBySize {
    fn add(&mut self, size: usize, score: &Score) {
        let wrong = score.wrong as f64 / score.scored.max(1) as f64;
        let [mean, count] = self.0.entry(size).or_insert([0.0; 2]);
        // At first a mean, later what is forgotten bit by bit.
        let share = (1.0 / (*count + 1.0)).max(FORGETS);
        *mean += share * (wrong - *mean);
        *count += 1.0;
    }

    /// Every size that was seen, ascending, and the share of wrong bits, 0 to 1.
    pub fn each(&self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().map(|(&size, &[wrong, _])| (size, wrong))
    }
}

/// The diagnostics in order; as fine everywhere as a logarithmic axis can show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiagnosticsHistory {
    /// Sequences trained on, with the diagnostics at that time.
    pub looks: Vec<(u64, Diagnostics)>,
    /// The tensors whose gradients these are.
    pub tensors: Arc<Vec<String>>,
}

impl DiagnosticsHistory {
    fn push(&mut self, sequences: u64, diagnostics: &Diagnostics) {
        let last = self.looks.last().map_or(0, |(last, _)| *last);
        if self.looks.is_empty() || (sequences - last) as f64 >= sequences as f64 * SHARE {
            self.looks.push((sequences, diagnostics.clone()));
        }
    }

    /// Something of a head over the sequences, where it is known.
    pub fn of_head(
        &self,
        head: usize,
        what: impl Fn(&HeadDiagnostics) -> Option<f64>,
    ) -> Vec<(u64, f64)> {
        let of = |(sequences, diagnostics): &(u64, Diagnostics)| {
            let value = what(diagnostics.heads.get(head)?)?;
            Some((*sequences, value))
        };
        self.looks.iter().filter_map(of).collect()
    }
}

/// Trains with another task or configuration from the next update on; `set` lists the changes, each as
/// `path=value`. Another task resets the best validation, because losses of different tasks are not comparable.
pub fn change(trainer: &mut Trainer, task: Task, config: TrainingConfig, set: Vec<String>) {
    let is_other_task = task != trainer.task;
    trainer.change(task, config);
    let state = &mut trainer.state;
    state.changes.push(Change {
        sequences: state.sequences,
        set,
    });
    if is_other_task {
        state.best = None;
    }
}

#[cfg(test)]
impl RunProgress {
    /// Returns an empty one.
    pub(super) fn empty() -> Self {
        Self {
            sequences: 0,
            of: 1,
            seconds: 0.0,
            curve: Curve::default(),
            history: Vec::new(),
            errors_by_size: ErrorsBySize::default(),
            diagnostics: DiagnosticsHistory::default(),
            findings: Vec::new(),
            snapshots: Snapshots::new(0),
            changes: Vec::new(),
            task_since: 0,
            heads: Vec::new(),
            end: None,
        }
    }
}

impl RunProgress {
    /// False where the weights of the run are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        self.end.as_ref().is_none_or(End::keeps_weights)
    }

    /// True where there is something of it to be saved: its weights, or the best ones before they broke.
    pub fn can_be_saved(&self) -> bool {
        let mut validated = self.history.iter().map(|point| point.sequences);
        self.keeps_weights() || validated.any(|sequences| sequences > self.task_since)
    }

    /// Returns the progress of a run that is not trained here: its validations, its changes since the task last
    /// changed, and its training snapshots.
    pub fn of_file(
        of: u64,
        history: Vec<HistoryPoint>,
        (changes, task_since): (Vec<Change>, u64),
        snapshots: Snapshots,
    ) -> Self {
        let last = snapshots.all().last();
        let validated = history.last();
        let sequences = [last.map(|s| s.sequences), validated.map(|p| p.sequences)];
        let seconds = [last.map(|s| s.seconds), validated.map(|p| p.seconds)];
        let sequences = sequences.into_iter().flatten().max().unwrap_or(0);
        let model = last.map(|last| &last.machine.config);
        let heads = model.map(|model| (0..model.heads()).map(|head| model.head_name(head)));
        Self {
            sequences,
            of,
            seconds: seconds.into_iter().flatten().fold(0.0, f64::max),
            curve: Curve::default(),
            errors_by_size: ErrorsBySize::default(),
            diagnostics: DiagnosticsHistory::default(),
            findings: Vec::new(),
            heads: heads.into_iter().flatten().collect(),
            end: (sequences >= of).then_some(End::Finished),
            history,
            changes,
            task_since,
            snapshots,
        }
    }
}

impl Run {
    /// Starts or resumes a run from a state, with a limit on the bytes of its snapshots.
    pub fn new(
        task: Task,
        config: TrainingConfig,
        state: State,
        threads: usize,
        limit: usize,
    ) -> Self {
        let named = state.machine.params.named().into_iter();
        let tensors = named.map(|(name, _)| name).collect();
        let model = &state.machine.config;
        let heads = (0..model.heads())
            .map(|head| model.head_name(head))
            .collect();
        let trainer = Trainer::resume(task, config, state, threads);
        let mut run = Self {
            progress: RunProgress {
                sequences: trainer.state.sequences,
                of: trainer.config.sequences,
                seconds: trainer.seconds(),
                curve: Curve::default(),
                history: trainer.state.history.clone(),
                errors_by_size: ErrorsBySize::default(),
                diagnostics: DiagnosticsHistory {
                    looks: Vec::new(),
                    tensors: Arc::new(tensors),
                },
                findings: Vec::new(),
                snapshots: Snapshots::new(limit),
                // Which change was of the task is not known; after the last one it is the same.
                task_since: trainer
                    .state
                    .changes
                    .last()
                    .map_or(0, |last| last.sequences),
                changes: trainer.state.changes.clone(),
                heads,
                end: trainer.finished().then_some(End::Finished),
            },
            watcher: Watcher::since(trainer.state.sequences),
            diagnostics: Diagnostics::default(),
            timed: true,
            trainer,
        };
        run.keep(None);
        run
    }

    /// Returns the run without a clock, so that all diagnostics follow from the seed; for tests.
    #[must_use]
    pub fn untimed(self) -> Self {
        Self {
            timed: false,
            ..self
        }
    }

    /// Returns the progress.
    pub fn progress(&self) -> &RunProgress {
        &self.progress
    }

    /// The trainer as it is.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// True until it has ended.
    pub fn is_active(&self) -> bool {
        self.progress.end.is_none()
    }

    /// Runs one update, with its diagnostics. Does nothing once the run has ended.
    pub fn advance(&mut self) {
        if !self.is_active() {
            return;
        }
        let looks = self.trainer.state.optimizer.updates % BETWEEN_LOOKS == 0;
        let diagnostics = looks.then_some(&mut self.diagnostics);
        let update = match self.trainer.update_watched(diagnostics) {
            Ok(update) => update,
            Err(diverged) => return self.diverged(diverged),
        };
        let progress = &mut self.progress;
        progress.sequences = self.trainer.state.sequences;
        if self.timed {
            progress.seconds = self.trainer.seconds();
        }
        progress.curve.push(progress.sequences, &update);
        for (size, score) in self.trainer.answered() {
            progress.errors_by_size.add(size, score);
        }
        if looks {
            progress
                .diagnostics
                .push(progress.sequences, &self.diagnostics);
        }
        let validated = update.validated;
        if let Some(point) = validated {
            progress.history.push(point);
        }
        let seen = looks.then_some(&self.diagnostics);
        let found = self.watcher.look(progress, &update, seen);
        self.progress.findings.extend(found);
        self.keep(validated);
        if self.trainer.finished() {
            self.progress.end = Some(End::Finished);
        }
    }

    /// Changes the task or configuration from the next update on; `set` lists the changes, each as `path=value`. Does
    /// nothing once the run has ended. Findings about another task do not apply to this one.
    pub fn change(&mut self, task: Task, config: TrainingConfig, set: Vec<String>) {
        if !self.is_active() {
            return;
        }
        let is_other_task = task != self.trainer.task;
        self::change(&mut self.trainer, task, config, set);
        let (progress, state) = (&mut self.progress, &self.trainer.state);
        progress.changes.clone_from(&state.changes);
        if is_other_task {
            progress.task_since = state.sequences;
            progress.errors_by_size = ErrorsBySize::default();
            self.watcher = Watcher::since(state.sequences);
        }
    }

    /// Calls `act` with the run; a panic ends the run with a message.
    pub(super) fn guarded(&mut self, act: impl FnOnce(&mut Self)) {
        let at = |run: &Self| {
            let state = &run.trainer.state;
            (state.sequences, state.optimizer.updates)
        };
        let before = at(self);
        let Err(why) = catch_unwind(AssertUnwindSafe(|| act(self))) else {
            return;
        };
        let said = why.downcast_ref::<String>().map(String::as_str);
        let said = said.or(why.downcast_ref::<&str>().copied());
        let words = said.unwrap_or("an error without a message").to_owned();
        let is_whole = at(self) == before;
        let progress = &mut self.progress;
        let finding = Finding::broken(progress.sequences, &words, is_whole);
        progress.findings.push(finding);
        progress.end = Some(End::Broken { words, is_whole });
    }

    fn diverged(&mut self, diverged: Diverged) {
        self.progress.findings.push(Finding::diverged(&diverged));
        self.progress.end = Some(End::Diverged(diverged));
    }

    /// Stores a training snapshot when it is due, or when it is the best so far.
    fn keep(&mut self, validated: Option<HistoryPoint>) {
        let progress = &mut self.progress;
        let recent_mean = progress.curve.recent_mean();
        progress
            .snapshots
            .keep(&self.trainer, validated, recent_mean);
    }
}
