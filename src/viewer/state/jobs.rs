//! Jobs outside the window, and their outcomes.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use super::learning::Saved;
use super::{
    CompareResult, ComparedFigure, EpisodeRequest, FilePurpose, Machine, NamedExperiment, Open,
    OpenedFile, RecordedEpisode, RecordingInputs, Report, ReportFigure, RunView, SEEDS, SameArc,
    Sides, Verdict, file_name,
};
use crate::figure::chart::page::Charts;
use crate::figure::facts::spread::Spread;
use crate::figure::{self, Format, Gradients};
use crate::io::recovery::{RecoverableRun, Recovery};
use crate::io::{Experiment, RunStart};
use crate::learn::{RunCommand, RunState};
use crate::train::Quantity;

/// An effect of a command outside the window.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The worker has something to do.
    Start(Job),
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

/// Something to do that may take a while.
#[derive(Clone, Debug)]
pub enum Job {
    /// Record an episode.
    Record(RecordingInputs),
    /// Record an episode for the thumbnail in this place.
    Picture(ThumbnailSlot, RecordingInputs),
    /// Records a number of samples of an episode, and keeps their spread.
    Sample(RecordingInputs, usize),
    /// Compute the gradients of an episode.
    Derive(Arc<RecordedEpisode>, Quantity),
    /// Record the episodes of the following seeds until this condition holds in one.
    Search(RecordingInputs, String),
    /// Measure wrong bits in the episodes of the following seeds, and this quantity unless it is empty; without one,
    /// remove the parts of the machine.
    Report(RecordingInputs, Option<String>),
    /// Find the parts and gates that repair the wrong bits of an episode.
    Explain(RecordingInputs),
    /// Read a file.
    Open(PathBuf),
    /// Read a file to compare with the episode on screen.
    OpenOther(PathBuf),
    /// Verify the trace in this file.
    Verify(PathBuf, Arc<RecordedEpisode>),
    /// Compare two episodes.
    Compare(Sides),
    /// Write a figure.
    Draw(Destination, Format, Page),
    /// Write this table.
    Table(Destination, String),
    /// Write the episode.
    Save(Destination, Arc<RecordedEpisode>),
    /// Write a run that learns into a folder.
    SaveRun(Box<(Saving, RunState)>),
    /// See which of these files are there.
    Recent(Vec<PathBuf>),
    /// Find a path that is free, for a dialog that proposes this one.
    Suggest(FilePurpose, PathBuf),
    /// Prepare the training of these experiments, with their names.
    Prepare(Vec<NamedExperiment>),
    /// Read the run in this folder, to continue its training.
    Continue(PathBuf),
    /// Find the runs in the recovery folder that a killed program left.
    FindRecoverable(PathBuf),
    /// Read the runs in these folders, to continue their training.
    Recover(Vec<PathBuf>),
    /// Remove the run in this folder, with this label.
    Discard(RecoverableRun),
    /// Compute the reference levels of the run with this number.
    Levels(u64, Box<Experiment>),
}

/// When a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The user waits for it: in a queue that has no other jobs.
    Awaited,
    /// It may take long, and nothing waits for it: beside all others.
    Beside,
    /// A thumbnail: while nothing is awaited.
    Idle,
}

/// The place of a thumbnail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThumbnailSlot {
    /// On the card of the start page that is called so.
    Card(String),
    /// The thumbnail of the run with this number.
    Run(u64),
}

/// The content of a figure.
#[derive(Clone, Debug)]
pub enum Page {
    /// An episode, with what is shown of it.
    One(Box<Open>, Box<figure::Options>),
    /// Two of them.
    Two(Box<ComparedFigure>),
    /// The course of training.
    Charts(Box<Charts>),
    /// Many episodes.
    Report(Box<ReportFigure>),
}

impl Job {
    /// Describes the job for the user who waits.
    fn words(&self) -> String {
        match self {
            Self::Record(inputs) | Self::Picture(_, inputs) => {
                let steps = inputs.steps();
                match inputs.request.rows {
                    0 => format!("Recording {steps} steps"),
                    rows => format!("Recording {steps} steps × {rows} rows"),
                }
            }
            Self::Sample(_, count) => format!("Recording {count} samples"),
            Self::Search(..) => format!("Searching {SEEDS} seeds"),
            Self::Report(..) => "Measuring many episodes".to_owned(),
            Self::Explain(_) => "Removing each part".to_owned(),
            Self::Derive(..) => "Computing gradients".to_owned(),
            Self::Open(path) | Self::OpenOther(path) | Self::Continue(path) => {
                format!("Reading {}", file_name(path))
            }
            Self::Verify(path, _) => format!("Verifying {}", file_name(path)),
            Self::Compare(_) => "Comparing two episodes".to_owned(),
            Self::Draw(to, ..) => format!("Rendering {}", file_name(&to.path)),
            Self::Save(to, _) | Self::Table(to, _) => format!("Writing {}", file_name(&to.path)),
            Self::SaveRun(run) => format!("Saving {}", file_name(&run.0.to.path)),
            Self::Recent(_) | Self::Suggest(..) => "Looking for files".to_owned(),
            Self::FindRecoverable(_) | Self::Recover(_) => "Reading runs".to_owned(),
            Self::Discard(_) => "Removing a run".to_owned(),
            Self::Prepare(_) => "Preparing training".to_owned(),
            Self::Levels(..) => "Computing reference levels".to_owned(),
        }
    }

    /// Returns when it runs.
    pub fn priority(&self) -> Priority {
        match self {
            // Files are read and written in order.
            Self::Record(_)
            | Self::Derive(..)
            | Self::Compare(_)
            | Self::Open(_)
            | Self::OpenOther(_)
            | Self::Save(..)
            | Self::SaveRun(_)
            | Self::Discard(_) => Priority::Awaited,
            Self::Picture(..) => Priority::Idle,
            _ => Priority::Beside,
        }
    }

    /// Returns the outcome of a failed job, with the reason.
    pub fn failed(self, why: String) -> Outcome {
        match self {
            Self::Record(inputs) => Outcome::Refused(inputs.request, why),
            Self::Picture(place, _) => Outcome::Picture(place, None),
            Self::SaveRun(run) => Outcome::RunNotSaved(run.0.number, why),
            _ => Outcome::Failed(why),
        }
    }

    /// Returns the destination, if it writes a file.
    pub fn destination(&self) -> Option<&Destination> {
        match self {
            Self::Draw(to, ..) | Self::Save(to, _) | Self::Table(to, _) => Some(to),
            Self::SaveRun(run) => Some(&run.0.to),
            _ => None,
        }
    }

    /// Returns the episode to record, with the machine, which may have to be fetched.
    pub fn inputs(&mut self) -> Option<&mut RecordingInputs> {
        match self {
            Self::Record(inputs)
            | Self::Picture(_, inputs)
            | Self::Sample(inputs, _)
            | Self::Search(inputs, _)
            | Self::Report(inputs, _)
            | Self::Explain(inputs) => Some(inputs),
            _ => None,
        }
    }

    fn can_be_given_up(&self) -> bool {
        let reads = matches!(self, Self::Open(_) | Self::OpenOther(_));
        let records = matches!(self, Self::Record(_) | Self::Sample(..) | Self::Search(..));
        reads || records || matches!(self, Self::Draw(..) | Self::Report(..) | Self::Explain(_))
    }
}

/// A job that is not done yet: how far it is, and whether it is still wanted.
#[derive(Debug, Default)]
pub struct PendingJob {
    /// The effect.
    pub words: String,
    /// True where it can be cancelled.
    pub can_be_given_up: bool,
    /// True of a recording that is to be shown.
    pub is_recording: bool,
    /// The episode to record, or to search from, which is shown only as long as it is requested.
    requested: Option<EpisodeRequest>,
    /// True for a job that writes a file, which is lost if the window closes now.
    pub writes: bool,
    done: AtomicUsize,
    all: AtomicUsize,
    /// True once a newer one is asked for.
    pub outdated: AtomicBool,
    /// True once the person gave it up.
    pub given_up: AtomicBool,
}

impl PendingJob {
    /// Creates the record of a job that has not begun.
    pub fn new(job: &Job) -> Self {
        Self {
            words: job.words(),
            can_be_given_up: job.can_be_given_up(),
            is_recording: matches!(job, Job::Record(_)),
            requested: match job {
                Job::Record(inputs) | Job::Search(inputs, _) => Some(inputs.request.clone()),
                _ => None,
            },
            writes: job.destination().is_some(),
            ..Self::default()
        }
    }

    /// True where the result of this job would be ignored once `newer` is requested.
    pub fn is_replaced_by(&self, newer: &Self) -> bool {
        let is_alike = self.is_recording == newer.is_recording;
        let is_other = newer.is_recording && self.requested != newer.requested;
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

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An episode was recorded.
    Recorded(Box<Open>),
    /// An episode was not recorded, and why.
    Refused(EpisodeRequest, String),
    /// An episode was not recorded, because another one was asked for since.
    Outdated,
    /// The user cancelled: the episode of this request, or the job that the text names.
    GivenUp(Option<EpisodeRequest>, String),
    /// An episode to show in this place, if it could be recorded.
    Picture(ThumbnailSlot, Option<Box<Open>>),
    /// The spread of many samples of the requested episode.
    SampledSpread(EpisodeRequest, SameArc<Spread>),
    /// The gradients of an episode.
    Derived(SameArc<RecordedEpisode>, SameArc<Gradients>),
    /// The first episode after this request in which the condition holds, if there is one.
    Found(EpisodeRequest, Option<Box<Open>>),
    /// Many episodes were measured.
    Reported(Box<Report>),
    /// A file was read.
    Opened(PathBuf, OpenedFile),
    /// A file to compare with was read: weights or a trace.
    Other(PathBuf, OpenedFile),
    /// A trace was verified, where there is access to files.
    Verified(SameArc<RecordedEpisode>, Option<Verdict>),
    /// Runs that a killed program left.
    Recoverable(Vec<RecoverableRun>),
    /// Files, and whether they are there.
    Recent(Vec<(PathBuf, bool)>),
    /// Two episodes were compared.
    Compared(CompareResult),
    /// Runs are ready to begin: the view and the initial state of each; and the recoverable runs that cannot be read,
    /// with the reason as their label.
    Prepared(SameArc<Vec<(RunView, RunStart)>>, Vec<RecoverableRun>),
    /// The reference levels of the run with this number.
    Levels(u64, Vec<(f64, &'static str)>),
    /// There is a file where one was to be written, or the run with this number; it was left alone. The path is free.
    IsThere(Destination, PathBuf, Option<u64>),
    /// The free path in the place of the proposed one.
    Suggested(PathBuf, PathBuf),
    /// A file was written, as the sentence reports.
    Saved(String),
    /// The run with this number was written, to this extent; the sentence names the place.
    RunSaved(u64, Saved, String),
    /// The run with this number was not written, and why.
    RunNotSaved(u64, String),
    /// An error with a file, as a sentence.
    Failed(String),
    /// The person chose a file for this purpose in the desktop's dialog.
    Chosen(FilePurpose, PathBuf),
    /// The dialog was left without choosing.
    NotChosen,
    /// The desktop has no file dialog.
    NoDialog,
    /// A text is in the clipboard, as the sentence reports.
    Copied(String),
    /// The machine of this name was fetched, or why not.
    Fetched(String, Result<Arc<Machine>, String>),
}

impl Outcome {
    /// True where a file was not written, or may not have been.
    pub fn is_unwritten(&self) -> bool {
        let is_refused = matches!(self, Self::Failed(_) | Self::RunNotSaved(..));
        is_refused || matches!(self, Self::IsThere(..) | Self::GivenUp(..))
    }

    /// True where another episode replaces the one on screen: that of a file, or of a machine that begins to learn.
    pub fn replaces_episode(&self) -> bool {
        let is_file = matches!(self, Self::Opened(..) | Self::Other(..));
        is_file || matches!(self, Self::Prepared(..) | Self::Found(_, Some(_)))
    }
}
