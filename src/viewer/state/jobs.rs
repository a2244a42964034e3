//! Jobs outside the window. A job says when it runs, and its outcome what it changes. Both are general over the state
//! `S` that is changed, so that this file does not name it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub use super::learning::Saved;
use super::{EpisodeRequest, FilePurpose, Files, Machine, RecordingInputs};
use crate::figure::Progress;
use crate::io::recovery::Recovery;
use crate::io::{Experiment, RunStart};
use crate::learn::RunCommand;
use crate::platform::TimeSlice;

/// An effect of a command outside the window.
pub enum Effect<S> {
    /// The worker has something to do.
    Start(Job<S>),
    /// Ask the user for a file, with a proposed name.
    Choose(FilePurpose, String),
    /// Cancels the jobs in progress.
    GiveUp,
    /// Copy the first text to the clipboard; show the second one once it is there.
    Copy(String, Option<String>),
    /// Machines learn, or do so otherwise.
    Train(TrainingAction),
    /// The window is closed.
    Close,
}

/// An order to the training threads.
#[derive(Clone, Debug)]
pub enum TrainingAction {
    /// Begin these runs, and end the previous ones.
    Begin(Vec<(RunStart, Option<Recovery>)>),
    /// An order for all, with its number.
    Tell(u64, RunCommand),
    /// Write a run into a folder, to be gone on with from there.
    Save(Box<Saving>),
    /// The run in this place is saved: its checkpoints go.
    Saved(usize),
    /// Selects the run with this index.
    Choose(usize),
    /// End all.
    End,
}

/// The destination of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The path.
    pub path: PathBuf,
    /// True where it replaces an existing file.
    pub replaces: bool,
    /// The purpose.
    pub purpose: FilePurpose,
}

impl Destination {
    /// Creates the destination.
    pub fn new(path: PathBuf, replaces: bool, purpose: FilePurpose) -> Self {
        Self {
            path,
            replaces,
            purpose,
        }
    }
}

/// A run that is to be written.
#[derive(Clone, Debug)]
pub struct Saving {
    /// The place among the runs.
    pub place: usize,
    /// The number.
    pub number: u64,
    /// The experiment at its start.
    pub experiment: Experiment,
    /// The destination.
    pub to: Destination,
    /// True where an existing folder gives the run a number behind its name.
    pub renames: bool,
}

/// Changes the state as follows from a job.
pub type Outcome<S> = Box<dyn FnOnce(&mut S) + Send>;
/// A job in progress: it ends with its outcome, or with the reason why there is none.
type InProgress<'a, S> = Pin<Box<dyn Future<Output = Result<Outcome<S>, String>> + 'a>>;
/// Does a job.
type Work<S> = Box<dyn for<'a> FnOnce(Context<'a>) -> InProgress<'a, S> + Send>;
/// Handles the reason of a failure.
type Failed<S> = Box<dyn FnOnce(&mut S, String) + Send>;

/// Something to do that may take a while.
pub struct Job<S> {
    /// Its progress, and whether it is still wanted.
    pub pending: Arc<PendingJob>,
    /// Does it.
    pub work: Work<S>,
    /// Handles a failure; without it, the reason is a message.
    pub failed: Option<Failed<S>>,
}

/// When a job runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The user waits for it, or it has to be done in order: in a queue that has no other jobs.
    Awaited,
    /// It may take long, and nothing waits for it: beside all others.
    #[default]
    Beside,
    /// A thumbnail: while nothing is awaited.
    Idle,
}

impl<S: 'static> Job<S> {
    /// Creates a job that runs beside all others: `words` describe it for the user who waits, and `then` changes the
    /// state by the result of `work`.
    pub fn new<T: Send + 'static>(
        words: impl Into<String>,
        work: impl AsyncFnOnce(Context<'_>) -> Result<T, String> + Send + 'static,
        then: impl FnOnce(&mut S, T) + Send + 'static,
    ) -> Self {
        let work = async move |context: Context<'_>| {
            let done = work(context).await?;
            Ok(Box::new(|state: &mut S| then(state, done)) as Outcome<S>)
        };
        let job = Self {
            pending: Arc::default(),
            work: Box::new(|context| Box::pin(async move { work(context).await })),
            failed: None,
        };
        job.with(|pending| pending.words = words.into())
    }

    /// Creates a job that records and can be cancelled; its machine may have to be fetched.
    pub fn of_episode<T: Send + 'static>(
        words: impl Into<String>,
        inputs: RecordingInputs,
        work: impl AsyncFnOnce(RecordingInputs, Context<'_>) -> Result<T, String> + Send + 'static,
        then: impl FnOnce(&mut S, T) + Send + 'static,
    ) -> Self {
        let machine = &inputs.machine;
        let away = machine.away.then(|| machine.name.clone());
        let work = async move |context: Context<'_>| {
            let fetched = context.pending.fetched.get().cloned();
            let machine = fetched.unwrap_or_else(|| Ok(inputs.machine.clone()))?;
            work(RecordingInputs { machine, ..inputs }, context).await
        };
        let job = Self::new(words, work, then);
        job.with(|pending| (pending.away, pending.can_be_given_up) = (away, true))
    }

    /// The user waits for it, or it has to be done in order.
    pub fn awaited(self) -> Self {
        self.with(|pending| pending.priority = Priority::Awaited)
    }

    /// Sets more about it.
    pub fn with(mut self, set: impl FnOnce(&mut PendingJob)) -> Self {
        if let Some(pending) = Arc::get_mut(&mut self.pending) {
            set(pending);
        }
        self
    }

    /// Sets what handles a failure; a job that was cancelled, or is outdated, has none.
    pub fn or_else(mut self, failed: impl FnOnce(&mut S, String) + Send + 'static) -> Self {
        self.failed = Some(Box::new(failed));
        self
    }
}

/// The files and the progress of a job.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The files.
    pub files: &'a dyn Files,
    /// The progress.
    pub pending: &'a PendingJob,
}

impl<'a> Context<'a> {
    /// Returns the callback for the progress, which lets other work run.
    pub fn progress(self) -> impl Progress + 'a {
        let mut turns = TimeSlice::begin();
        async move |done, all| {
            turns.yield_now().await;
            self.pending.report(done, all)
        }
    }
}

/// A job that is not done yet: how far it is, and whether it is still wanted.
#[derive(Debug, Default)]
pub struct PendingJob {
    /// The description.
    pub words: String,
    /// When it runs.
    pub priority: Priority,
    /// True where it can be cancelled.
    pub can_be_given_up: bool,
    /// The episode to record, or to search from, which is shown only as long as it is requested.
    pub requested: Option<EpisodeRequest>,
    /// True for a job that writes a file, which is lost if the window closes now.
    pub writes: bool,
    /// The name of the machine that has to be fetched first.
    pub away: Option<String>,
    /// That machine, or why it is not there.
    pub fetched: OnceLock<Result<Arc<Machine>, String>>,
    done: AtomicUsize,
    all: AtomicUsize,
    /// True once a newer one is asked for.
    pub outdated: AtomicBool,
    /// True once the person gave it up.
    pub given_up: AtomicBool,
}

impl PendingJob {
    /// True of a recording that is to be shown.
    pub fn is_recording(&self) -> bool {
        self.priority == Priority::Awaited && self.requested.is_some()
    }

    /// True where the result of this job would be ignored once `newer` is requested.
    pub fn is_replaced_by(&self, newer: &Self) -> bool {
        let is_alike = self.is_recording() == newer.is_recording();
        let is_other = newer.is_recording() && self.requested != newer.requested;
        self.requested.is_some() && newer.requested.is_some() && (is_alike || is_other)
    }

    /// Returns the share that is done, 0 to 1, where known.
    pub fn share(&self) -> Option<f32> {
        let all = self.all.load(Ordering::Relaxed);
        (all > 0).then(|| self.done.load(Ordering::Relaxed) as f32 / all as f32)
    }

    /// Reports progress; returns whether to continue.
    pub fn report(&self, done: usize, all: usize) -> ControlFlow<()> {
        self.done.store(done, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
        if self.is_wanted() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// True until it is cancelled, by the user or for a newer one.
    pub fn is_wanted(&self) -> bool {
        !self.outdated.load(Ordering::Relaxed) && !self.given_up.load(Ordering::Relaxed)
    }
}
