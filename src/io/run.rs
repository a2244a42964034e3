//! The folder of a training run: the preset, the best weights so far and the learning curve.
//!
//! Everything is on disk as soon as it is known, so a run that is stopped at any moment loses nothing
//! but the sequences since its last validation.
//!
//! A folder has one writer at a time ([`lock`](super::lock)), and nothing is written into one that is not a
//! run's: [`RunFolder::contents`] says which is.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::history::PointForm;
use super::lock::Lock;
use super::log::{self, Log};
use super::preset::form::Form;
use super::sweep::FAILURE;
use super::weights::{self, Trained};
use super::{Error, Experiment, file};
use crate::train::HistoryPoint;

const WEIGHTS: &str = "weights.safetensors";
pub(super) const LOG: &str = "history.ntmlog.jsonl";
pub(super) const PRESET: &str = "preset.json";
const LOCK: &str = "run.lock";

/// A run folder, open for writing; nobody else writes into it meanwhile.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    log: File,
    _lock: Lock,
}

/// What a folder holds that a run may be written into.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Nothing; there may be no such folder yet.
    Nothing,
    /// A run of ours.
    Run(Box<Log>),
}

#[derive(Serialize)]
struct Header<'a> {
    format: &'static str,
    version: &'static str,
    generator: super::trace::Generator,
    command: &'a str,
    experiment: Form,
}

impl RunFolder {
    /// True when a folder holds the weights of an earlier run.
    pub fn is_taken(folder: &Path) -> bool {
        file::exists(&folder.join(WEIGHTS))
    }

    /// The weights file that a path stands for: its own, or that of the run whose folder it is.
    ///
    /// # Errors
    /// A folder that holds no weights.
    pub fn weights_at(path: &Path) -> Result<PathBuf, Error> {
        if !path.is_dir() {
            return Ok(path.to_owned());
        }
        if Self::is_taken(path) {
            return Ok(path.join(WEIGHTS));
        }
        let problem = format!(
            "is a folder without {WEIGHTS}; expected a weights file or the folder of a run"
        );
        Err(Error::content(&file::label(path), "", problem))
    }

    /// What to call a weights file: one in the folder of a run by that folder, any other by its own name.
    pub fn name_of(weights: &Path) -> String {
        let folder = weights.parent().and_then(Path::file_name);
        let name = match (weights.file_name(), folder) {
            (Some(file), Some(folder)) if file == WEIGHTS => folder,
            (Some(file), _) => file,
            (None, _) => weights.as_os_str(),
        };
        name.to_string_lossy().into_owned()
    }

    /// What a folder holds, or why nothing may be written into it. The one rule about it, which changes
    /// nothing:
    ///
    /// A folder may be written into when it is new, or empty, or that of a run of ours: its log can be read,
    /// and the preset and the weights, where they are there, can be read and are of the experiment of the
    /// log. What else lies beside a log is not touched. Empty is also what holds nothing but hidden files,
    /// and what a run leaves that never came to its log.
    ///
    /// # Errors
    /// The folder, and what in it is not ours; or it cannot be read.
    pub fn contents(folder: &Path) -> Result<Contents, Error> {
        let log = folder.join(LOG);
        if !file::exists(&log) {
            return match file::names(folder)?
                .into_iter()
                .find(|name| !is_left(folder, name))
            {
                None => Ok(Contents::Nothing),
                Some(name) => Err(not_ours(folder, &format!("it holds {name}, and no {LOG}"))),
            };
        }
        let log = log::read(&log).map_err(|error| not_ours(folder, &error.to_string()))?;
        let of_another = |name| {
            not_ours(
                folder,
                &format!("{name} is of another experiment than {LOG}"),
            )
        };
        let preset = folder.join(PRESET);
        if file::exists(&preset) {
            let preset = Experiment::read(&preset, &[]);
            let preset = preset.map_err(|error| not_ours(folder, &error.to_string()))?;
            if preset != log.experiment {
                return Err(of_another(PRESET));
            }
        }
        if Self::is_taken(folder) {
            let trained = weights::read(&folder.join(WEIGHTS));
            let trained = trained.map_err(|error| not_ours(folder, &error.to_string()))?;
            if trained.experiment != log.experiment {
                return Err(of_another(WEIGHTS));
            }
        }
        Ok(Contents::Run(Box::new(log)))
    }

    /// Locks the folder, which is created where it is not there, and starts a run in it:
    /// `history.ntmlog.jsonl` with its header, then `preset.json`. `command` is what the run is called.
    ///
    /// With `replace` a run that is there is removed first: what is in the folder belongs together, also
    /// when this run is stopped before it has weights of its own.
    ///
    /// # Errors
    /// Somebody else writes into the folder, it is not ours ([`RunFolder::contents`]), or it holds a run that
    /// is not to be replaced; then nothing was changed. Or a file cannot be written.
    pub fn create(
        folder: &Path,
        experiment: &Experiment,
        command: &str,
        replace: bool,
    ) -> Result<Self, Error> {
        let lock = Self::lock(folder, command)?;
        if let Contents::Run(log) = Self::contents(folder)? {
            if !replace {
                return Err(taken(folder, &log));
            }
            // The log is the last to go, and makes the folder ours until then.
            file::remove(&folder.join(WEIGHTS))?;
            file::remove(&folder.join(PRESET))?;
        }
        let header = file::json(&Header {
            format: "ntm-log",
            version: "1.0",
            generator: super::trace::Generator::default(),
            command,
            experiment: Form::from(experiment),
        });
        let path = folder.join(LOG);
        file::write_atomically(&path, |to| writeln!(to, "{header}"))?;
        experiment.write(&folder.join(PRESET))?;
        let log = File::options().append(true).open(&path);
        Ok(Self {
            folder: folder.to_owned(),
            log: log.map_err(|source| Error::Write {
                file: file::label(&path),
                source,
            })?,
            _lock: lock,
        })
    }

    /// Locks a folder that may be written into. What it holds is to be asked again behind the lock.
    fn lock(folder: &Path, command: &str) -> Result<Lock, Error> {
        // Not even a lock is put into a folder that is not ours.
        Self::contents(folder)?;
        file::create_folder(folder)?;
        Lock::take(&folder.join(LOCK), command)
    }

    /// Adds a point to the learning curve.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn point(&mut self, point: &HistoryPoint) -> Result<(), Error> {
        self.line(&PointForm::from(point))
    }

    /// Replaces `weights.safetensors`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn weights(&self, trained: &Trained) -> Result<(), Error> {
        weights::write(&self.weights_path(), trained)
    }

    /// Where the weights are.
    pub fn weights_path(&self) -> PathBuf {
        self.folder.join(WEIGHTS)
    }

    /// One object per line, in the file before this returns.
    fn line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let line = file::json(value) + "\n";
        self.log
            .write_all(line.as_bytes())
            .map_err(|source| Error::Write {
                file: file::label(&self.folder.join(LOG)),
                source,
            })
    }
}

/// True for what may lie in a folder that holds no run: what a run leaves that never came to its log.
fn is_left(folder: &Path, name: &str) -> bool {
    name.starts_with('.') || name == FAILURE || name == LOCK && Lock::is_ours(&folder.join(name))
}

fn not_ours(folder: &Path, why: &str) -> Error {
    let problem =
        format!("is not the folder of a run, so it is left as it is: {why}; choose another one");
    Error::content(&file::label(folder), "", problem)
}

fn taken(folder: &Path, log: &Log) -> Error {
    let done = log.points.last().map_or(0, |point| point.sequences);
    let problem = format!(
        "holds a run of {done}/{} sequences; choose another --seed or --out, or replace it with --force",
        log.experiment.training.sequences
    );
    Error::content(&file::label(folder), "", problem)
}
