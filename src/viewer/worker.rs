//! The thread that records episodes and touches files, so that the window never waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::files::{Export, Files, Machine, Opened};
use crate::io::trace::recording_bytes;
use crate::model::{ModelConfig, Ntm};
use crate::task::Task;
use crate::train::Recording;

/// Something to do that may take a while.
#[derive(Clone, Debug)]
pub enum Job {
    /// Record an episode.
    Record(Request),
    /// Read a file.
    Open(PathBuf),
    /// Write the episode.
    Save(PathBuf, Arc<Shown>),
    /// Ask the desktop for a file to open, or for a place to save to.
    Browse {
        /// For saving.
        save: bool,
        /// What the file may be called.
        suggestion: String,
    },
}

/// Which episode to record, and with what.
#[derive(Clone, Debug)]
pub struct Request {
    /// The machine.
    pub machine: Arc<Machine>,
    /// Memory rows, N.
    pub rows: usize,
    /// The task with the parameters of this episode.
    pub task: Task,
    /// The seed of the run.
    pub seed: u64,
    /// The episode of that run.
    pub index: u64,
}

/// An episode that can be shown, and where it came from.
#[derive(Debug)]
pub struct Shown {
    /// The episode.
    pub recording: Recording,
    /// The configuration of the machine, where known.
    pub config: Option<ModelConfig>,
    /// The machine that recorded it; `None` for a trace from a file.
    pub machine: Option<Arc<Machine>>,
    /// The title of the file it came from.
    pub file: Option<String>,
    /// The hash of the weights, where a file says so.
    pub sha256: Option<String>,
}

/// What came of a job.
#[derive(Debug)]
pub enum Outcome {
    /// An episode was recorded.
    Recorded(Arc<Shown>),
    /// A file was read.
    Opened(PathBuf, Box<Opened>),
    /// A file was written; the sentence says what.
    Saved(String),
    /// The person chose a file in the desktop's dialog.
    Chosen {
        /// For saving.
        save: bool,
        /// The file.
        path: PathBuf,
    },
    /// The dialog was left without choosing, or the desktop has none.
    NotChosen,
    /// A sentence that says what went wrong.
    Failed(String),
}

/// Does jobs in order.
#[derive(Debug)]
pub struct Worker {
    work: Work,
    waiting: usize,
}

enum Work {
    Thread {
        jobs: Sender<Job>,
        outcomes: Receiver<Outcome>,
    },
    /// At once, in the calling thread: for tests.
    Here {
        files: Arc<dyn Files>,
        outcomes: Vec<Outcome>,
    },
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Thread { .. } => "Thread",
            Self::Here { .. } => "Here",
        })
    }
}

impl Worker {
    /// A worker with a thread of its own, which calls `wake` after each job.
    pub fn new(files: Arc<dyn Files>, wake: impl Fn() + Send + 'static) -> Self {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, outcomes) = channel();
        std::thread::spawn(move || {
            for job in inbox {
                if outbox.send(perform(job, files.as_ref())).is_err() {
                    return;
                }
                wake();
            }
        });
        Self {
            work: Work::Thread { jobs, outcomes },
            waiting: 0,
        }
    }

    /// A worker that does every job at once.
    pub fn here(files: Arc<dyn Files>) -> Self {
        Self {
            work: Work::Here {
                files,
                outcomes: Vec::new(),
            },
            waiting: 0,
        }
    }

    /// Hands over a job.
    pub fn start(&mut self, job: Job) {
        self.waiting += 1;
        match &mut self.work {
            Work::Thread { jobs, .. } => {
                // The thread lives as long as this sender and survives what its jobs do.
                let _ = jobs.send(job);
            }
            Work::Here { files, outcomes } => {
                let outcome = perform(job, files.as_ref());
                outcomes.push(outcome);
            }
        }
    }

    /// What has come of the jobs so far, oldest first.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let outcomes: Vec<_> = match &mut self.work {
            Work::Thread { outcomes, .. } => outcomes.try_iter().collect(),
            Work::Here { outcomes, .. } => std::mem::take(outcomes),
        };
        self.waiting -= outcomes.len();
        outcomes
    }

    /// True while a job is under way.
    pub fn busy(&self) -> bool {
        self.waiting > 0
    }
}

fn perform(job: Job, files: &dyn Files) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| attempt(job, files))).unwrap_or_else(|_| {
        Outcome::Failed(
            "That could not be done: an internal error. The session is unchanged.".into(),
        )
    })
}

fn attempt(job: Job, files: &dyn Files) -> Outcome {
    match job {
        Job::Record(request) => match too_large(&request) {
            Some(sentence) => Outcome::Failed(sentence),
            None => Outcome::Recorded(Arc::new(record(request))),
        },
        Job::Open(path) => match files.open(&path) {
            Ok(opened) => Outcome::Opened(path, Box::new(opened)),
            Err(sentence) => Outcome::Failed(sentence),
        },
        Job::Save(path, shown) => {
            let export = Export {
                recording: &shown.recording,
                config: shown.config.as_ref(),
                machine: shown.machine.as_deref(),
                sha256: shown.sha256.as_deref(),
            };
            match files.save_trace(&path, &export) {
                Ok(sentence) => Outcome::Saved(sentence),
                Err(sentence) => Outcome::Failed(sentence),
            }
        }
        Job::Browse { save, suggestion } => browse(save, &suggestion),
    }
}

/// The largest recording that is made, in bytes.
const LARGEST: u64 = 2 << 30;

/// Why this episode is not recorded, if it is too large.
fn too_large(request: &Request) -> Option<String> {
    let mut config = request.machine.ntm.config.clone();
    config.rows = request.rows;
    let steps = request.task.episode(request.seed, request.index).steps();
    let bytes = recording_bytes(&config, steps);
    (bytes > LARGEST).then(|| {
        format!(
            "{steps} steps of a memory of {} rows take {} GB to record; ask for a shorter episode or fewer rows.",
            config.rows,
            bytes >> 30
        )
    })
}

fn record(request: Request) -> Shown {
    let Request {
        machine,
        rows,
        task,
        seed,
        index,
    } = request;
    let recording = if rows == machine.ntm.config.rows {
        Recording::new(&machine.ntm, &task, seed, index)
    } else {
        Recording::new(&with_rows(&machine.ntm, rows), &task, seed, index)
    };
    let mut config = machine.ntm.config.clone();
    config.rows = rows;
    Shown {
        recording,
        config: Some(config),
        machine: Some(machine),
        file: None,
        sha256: None,
    }
}

/// The same weights over another number of rows.
fn with_rows(ntm: &Ntm<f32>, rows: usize) -> Ntm<f32> {
    let mut ntm = ntm.clone();
    ntm.config.rows = rows;
    ntm
}

fn browse(save: bool, suggestion: &str) -> Outcome {
    let dialog = rfd::FileDialog::new();
    let path = if save {
        dialog.set_file_name(suggestion).save_file()
    } else {
        dialog
            .add_filter("Traces and weights", &["json", "safetensors"])
            .add_filter("All files", &["*"])
            .pick_file()
    };
    path.map_or(Outcome::NotChosen, |path| Outcome::Chosen { save, path })
}
