//! What is to be done outside of the window, and what came of it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::compare::{Found, Picture, Sides};
use super::episode::{Open, Request, Wish};
use crate::figure::charts::Charts;
use crate::figure::spread::Spread;
use crate::figure::{self, Derivatives, Format};
use crate::io::Experiment;
use crate::learn::{Handed, Order};
use crate::train::Quantity;
use crate::viewer::files::{Aim, Kept, Machine, Opened, Shown, file_name};

/// What follows from a command, outside.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are few at a time, and they do not last"
)]
pub enum Effect {
    /// The worker has something to do.
    Start(Job),
    /// The person is asked for a file; this is what it may be called.
    Choose(Aim, String),
    /// What is under way is given up.
    GiveUp,
    /// These words come to the clipboard.
    Copy(String),
    /// Machines learn, or do so otherwise.
    Teach(Teach),
    /// The window is closed.
    Close,
}

/// What to do with the threads that train.
#[derive(Clone, Debug)]
pub enum Teach {
    /// Begin these, and end what was there.
    Begin(Vec<Experiment>),
    /// An order for all, with its number.
    Tell(u64, Order),
    /// Write a run into a folder, to be gone on with from there.
    Save(Box<Saving>),
    /// The run with this place is the one that is looked at.
    Choose(usize),
    /// End all.
    End,
}

/// Where a file is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Its path.
    pub path: PathBuf,
    /// True where it replaces what is there.
    pub replaces: bool,
    /// What it was chosen for.
    pub aim: Aim,
}

/// A run that is to be written.
#[derive(Clone, Debug)]
pub struct Saving {
    /// Its place among the runs.
    pub place: usize,
    /// Its number.
    pub number: u64,
    /// What it began with.
    pub experiment: Experiment,
    /// Where to.
    pub to: Destination,
}

/// What is on the disk of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saved {
    /// So many sequences of it.
    pub sequences: u64,
    /// So many seconds of training.
    pub seconds: f64,
}

/// Something to do that may take a while.
#[derive(Clone, Debug)]
pub enum Job {
    /// Record an episode.
    Record(Request),
    /// Record an episode to show what a machine does, in this place.
    Picture(Place, Request),
    /// Record so many samples of an episode, and keep what they say together.
    Sample(Request, usize),
    /// Work out how much everything in an episode mattered.
    Derive(Arc<Shown>, Quantity),
    /// Read a file.
    Open(PathBuf),
    /// Read a file to compare with what is on screen.
    OpenOther(PathBuf),
    /// Compare two episodes.
    Compare(Sides),
    /// Write a figure.
    Draw(Destination, Format, Page),
    /// Write the episode.
    Save(Destination, Arc<Shown>),
    /// Write a run that learns into a folder.
    SaveRun(Box<(Saving, Handed)>),
    /// See which of these files are there.
    Recent(Vec<PathBuf>),
}

/// Where an episode is shown small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the card of the start page that is called so.
    Card(String),
    /// With the run that has this number.
    Run(u64),
}

/// What is known of an episode beside what was recorded.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// What many samples say.
    pub spread: Option<Arc<Spread>>,
    /// How much everything mattered, where that is shown.
    pub mattered: Option<Arc<Derivatives>>,
}

/// What is on a figure.
#[derive(Clone, Debug)]
pub enum Page {
    /// An episode.
    One(Arc<Shown>, Seen, Box<figure::Options>),
    /// Two of them.
    Two(Box<Picture>),
    /// How a machine learns.
    Charts(Box<Charts>),
}

impl Job {
    /// What it does, for the person who waits.
    fn words(&self) -> String {
        match self {
            Self::Record(request) | Self::Picture(_, request) => {
                let steps = request.wish.steps(&request.task);
                match request.wish.rows {
                    0 => format!("Recording {steps} steps"),
                    rows => format!("Recording {steps} steps × {rows} rows"),
                }
            }
            Self::Sample(_, count) => format!("Drawing {count} samples"),
            Self::Derive(..) => "Working out what mattered".to_owned(),
            Self::Open(path) | Self::OpenOther(path) => format!("Reading {}", file_name(path)),
            Self::Compare(_) => "Comparing two episodes".to_owned(),
            Self::Draw(to, ..) => format!("Drawing {}", file_name(&to.path)),
            Self::Save(to, _) => format!("Writing {}", file_name(&to.path)),
            Self::SaveRun(run) => format!("Saving {}", file_name(&run.0.to.path)),
            Self::Recent(_) => "Looking for files".to_owned(),
        }
    }

    /// What comes of it where it cannot be done, and why.
    pub fn fails(&self) -> Box<dyn FnOnce(String) -> Outcome> {
        match self {
            Self::Record(request) => {
                let wish = request.wish.clone();
                Box::new(|why| Outcome::Refused(wish, why))
            }
            Self::Picture(place, _) => {
                let place = place.clone();
                Box::new(|_| Outcome::Picture(place, None))
            }
            Self::SaveRun(run) => {
                let number = run.0.number;
                Box::new(move |why| Outcome::RunNotSaved(number, why))
            }
            _ => Box::new(Outcome::Failed),
        }
    }

    /// Where it is to write.
    pub fn destination(&self) -> Option<&Destination> {
        match self {
            Self::Draw(to, ..) | Self::Save(to, _) => Some(to),
            Self::SaveRun(run) => Some(&run.0.to),
            _ => None,
        }
    }

    /// The name of the machine whose weights are still to be fetched for it.
    pub fn away(&self) -> Option<String> {
        match self {
            Self::Record(request) | Self::Picture(_, request) | Self::Sample(request, _) => {
                (request.machine.away).then(|| request.machine.name.clone())
            }
            _ => None,
        }
    }

    /// The same with this machine, which was away.
    #[must_use]
    pub fn with_machine(mut self, machine: &Arc<Machine>) -> Self {
        if let Self::Record(request) | Self::Picture(_, request) | Self::Sample(request, _) =
            &mut self
        {
            request.machine = machine.clone();
        }
        self
    }

    fn can_be_given_up(&self) -> bool {
        let reads = matches!(self, Self::Open(_) | Self::OpenOther(_));
        reads || matches!(self, Self::Record(_) | Self::Sample(..) | Self::Draw(..))
    }
}

/// A job that is not done yet: how far it is, and whether it is still wanted.
#[derive(Debug)]
pub struct UnderWay {
    /// What it does.
    pub words: String,
    /// True where it can be told to end.
    pub can_be_given_up: bool,
    /// True of a recording that is to be shown.
    pub is_recording: bool,
    /// True of what becomes a file: whoever leaves now does not get it.
    pub writes: bool,
    done: AtomicUsize,
    all: AtomicUsize,
    /// True once a newer one is asked for.
    pub outdated: AtomicBool,
    /// True once the person gave it up.
    pub given_up: AtomicBool,
}

impl UnderWay {
    /// Of a job that has not begun.
    pub fn new(job: &Job) -> Self {
        Self {
            words: job.words(),
            can_be_given_up: job.can_be_given_up(),
            is_recording: matches!(job, Job::Record(_)),
            writes: job.destination().is_some(),
            done: AtomicUsize::new(0),
            all: AtomicUsize::new(0),
            outdated: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        }
    }

    /// How much of it is done, 0 to 1, where that is known.
    pub fn share(&self) -> Option<f32> {
        let all = self.all.load(Ordering::Relaxed);
        (all > 0).then(|| self.done.load(Ordering::Relaxed) as f32 / all as f32)
    }

    /// So much is done, of so much; says whether to go on.
    pub fn told(&self, done: usize, all: usize) -> ControlFlow<()> {
        self.done.store(done, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
        if self.is_wanted() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// True until it is given up, by the person or for a newer one.
    pub fn is_wanted(&self) -> bool {
        !self.outdated.load(Ordering::Relaxed) && !self.given_up.load(Ordering::Relaxed)
    }
}

/// What many samples say; each asking is another.
#[derive(Clone, Debug)]
pub struct Sampled(pub Arc<Spread>);

impl PartialEq for Sampled {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What is the same only where it is the very same.
#[derive(Clone, Debug)]
pub struct Same<T>(pub Arc<T>);

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An episode was recorded.
    Recorded(Box<Open>),
    /// An episode was not recorded, and why.
    Refused(Wish, String),
    /// An episode was not recorded, because another one was asked for since.
    Outdated,
    /// The person did not want to wait: for the episode of this wish, or for what the words say.
    GivenUp(Option<Wish>, String),
    /// An episode to show in this place, if it could be recorded.
    Picture(Place, Option<Box<Open>>),
    /// What many samples of the episode of this wish say.
    Sampled(Wish, Sampled),
    /// How much everything in an episode mattered.
    Derived(Same<Shown>, Same<Derivatives>),
    /// A file with weights was read.
    Weights(PathBuf, Box<Machine>),
    /// A run was read, with what its machine was.
    Run(PathBuf, Box<Kept>),
    /// A file with a trace was read.
    Trace(PathBuf, Box<Open>),
    /// A file to compare with was read: weights or a trace.
    Other(Box<Outcome>),
    /// Files, and whether they are there.
    Recent(Vec<(PathBuf, bool)>),
    /// Two episodes were compared.
    Compared(Found),
    /// There is a file where one was to be written; it was left alone.
    IsThere(Destination),
    /// The same of the run with this number.
    RunIsThere(u64, Destination),
    /// A file was written; the sentence says what.
    Saved(String),
    /// Of the run with this number so much was written; the sentence says where.
    RunSaved(u64, Saved, String),
    /// The run with this number was not written, and why.
    RunNotSaved(u64, String),
    /// A sentence that says what went wrong with a file.
    Failed(String),
    /// The person chose a file in the desktop's dialog.
    Chosen {
        /// What for.
        aim: Aim,
        /// The file.
        path: PathBuf,
    },
    /// The dialog was left without choosing, or the desktop has none.
    NotChosen,
    /// The machine of this name was fetched, or why not.
    Fetched(String, Result<Arc<Machine>, String>),
}

impl Outcome {
    /// True for what a file brings that changes what is on screen.
    pub fn is_of_a_file(&self) -> bool {
        matches!(
            self,
            Self::Weights(..) | Self::Run(..) | Self::Trace(..) | Self::Other(_)
        )
    }

    /// What a file turned out to hold.
    pub fn opened(path: PathBuf, opened: Opened) -> Self {
        match opened {
            Opened::Machine(machine) => Self::Weights(path, machine),
            Opened::Run(run) => Self::Run(path, run),
            Opened::Trace(trace) => Self::Trace(path, Box::new(Open::new(*trace, None))),
        }
    }
}
