//! A training run with all that is observed of it.

use std::any::Any;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::driver::advance;
use super::finding::Finding;
use super::findings::Watcher;
use super::progress::{DiagnosticsHistory, End, ErrorsBySize, RunProgress};
use super::snapshots::Snapshots;
use crate::task::Task;
use crate::train::{Change, Diagnostics, Diverged, State, Trainer, TrainingConfig};

/// The number of updates between two closer measurements; one costs a tenth of an update, at most.
const BETWEEN_LOOKS: i32 = 16;

/// A run in progress.
#[derive(Debug)]
pub struct Run {
    trainer: Trainer,
    progress: RunProgress,
    watcher: Watcher,
    diagnostics: Diagnostics,
    /// False where no clock runs.
    pub(super) timed: bool,
    keeper: Option<Box<dyn Keeper>>,
}

/// Keeps the state of a run for the case that the program is killed.
pub trait Keeper: Debug + Send {
    /// Is called after each update; `now` after a change and at the end, where the state is to be kept at once.
    fn keep(&self, state: &State, progress: &RunProgress, now: bool);
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

/// Returns the message of a panic.
pub(super) fn panic_text(why: &(dyn Any + Send)) -> String {
    let text = why.downcast_ref::<String>().map(String::as_str);
    let text = text.or(why.downcast_ref::<&str>().copied());
    text.unwrap_or("an error without a message").to_owned()
}

impl Run {
    /// Starts or resumes a run from a state, with its earlier snapshots.
    pub fn new(
        task: Task,
        config: TrainingConfig,
        state: State,
        threads: usize,
        snapshots: Snapshots,
    ) -> Self {
        let named = state.machines[0].params.shape().named();
        let tensors = named.map(|(name, _)| name).collect();
        let model = &state.machines[0].config;
        let heads = (0..model.heads())
            .map(|head| model.head_name(head))
            .collect();
        let trainer = Trainer::resume(task, config, state, threads);
        let mut run = Self {
            progress: RunProgress {
                sequences: trainer.state.sequences,
                of: trainer.config.sequences,
                seconds: trainer.seconds(),
                history: trainer.state.history.clone(),
                diagnostics: DiagnosticsHistory {
                    looks: Vec::new(),
                    tensors: Arc::new(tensors),
                },
                findings: snapshots.findings.clone(),
                snapshots,
                // Which change was of the task is not known; after the last one it is the same.
                task_since: trainer
                    .state
                    .changes
                    .last()
                    .map_or(0, |last| last.sequences),
                changes: trainer.state.changes.clone(),
                heads,
                end: trainer.finished().then_some(End::Finished),
                ..RunProgress::default()
            },
            watcher: Watcher::since(trainer.state.sequences, trainer.task.answer()),
            diagnostics: Diagnostics::default(),
            timed: true,
            keeper: None,
            trainer,
        };
        run.progress.snapshots.keep(&run.trainer, None, None);
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

    /// Returns the run with a keeper of its state.
    #[must_use]
    pub fn kept_by(self, keeper: Option<Box<dyn Keeper>>) -> Self {
        Self { keeper, ..self }
    }

    fn call_keeper(&self, now: bool) {
        let (state, keeper) = (&self.trainer.state, self.keeper.iter());
        keeper.for_each(|keeper| keeper.keep(state, &self.progress, now));
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
        let looks = self.trainer.state.optimizers[0].updates % BETWEEN_LOOKS == 0;
        let diagnostics = looks.then_some(&mut self.diagnostics);
        let progress = &mut self.progress;
        let history = Some((&mut progress.curve, &mut progress.snapshots));
        let update = match advance(&mut self.trainer, diagnostics, history) {
            Ok(Some(update)) => update,
            Ok(None) => return,
            Err(diverged) => return self.diverged(diverged),
        };
        progress.sequences = self.trainer.state.sequences;
        if self.timed {
            progress.seconds = self.trainer.seconds();
        }
        for (size, score) in self.trainer.answered() {
            progress.errors_by_size.add(size, score);
        }
        if looks {
            progress
                .diagnostics
                .push(progress.sequences, &self.diagnostics);
        }
        progress.history.extend(update.validated);
        let seen = looks.then_some(&self.diagnostics);
        let found = self.watcher.observe(progress, &update, seen);
        self.progress.findings.extend(found);
        if self.trainer.finished() {
            self.progress.end = Some(End::Finished);
        }
        self.call_keeper(!self.is_active());
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
            self.watcher = Watcher::since(state.sequences, self.trainer.task.answer());
        }
        self.call_keeper(true);
    }

    /// Calls `act` with the run; a panic ends the run with a message.
    pub(super) fn guarded(&mut self, act: impl FnOnce(&mut Self)) {
        let at = |run: &Self| {
            let state = &run.trainer.state;
            (state.sequences, state.optimizers[0].updates)
        };
        let before = at(self);
        let Err(why) = catch_unwind(AssertUnwindSafe(|| act(self))) else {
            return;
        };
        let words = panic_text(why.as_ref());
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
}
