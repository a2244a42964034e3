//! The folder of a training run: the preset, the best weights so far and the learning curve.
//!
//! Everything is on disk as soon as it is known, so a run that is stopped at any moment loses nothing
//! but the sequences since its last validation.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::history::PointForm;
use super::preset::form::Form;
use super::weights::{self, Trained};
use super::{Error, Experiment, file};
use crate::train::HistoryPoint;

const WEIGHTS: &str = "weights.safetensors";
pub(super) const LOG: &str = "history.ntmlog.jsonl";
pub(super) const PRESET: &str = "preset.json";

/// A run folder, open for writing.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    log: File,
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

    /// Creates the folder, writes `preset.json`, and starts `history.ntmlog.jsonl` with its header.
    ///
    /// The weights of an earlier run are removed first: what is in the folder belongs together, also when
    /// this run is stopped before it has weights of its own.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn create(folder: &Path, experiment: &Experiment, command: &str) -> Result<Self, Error> {
        file::create_folder(folder)?;
        file::remove(&folder.join(WEIGHTS))?;
        experiment.write(&folder.join(PRESET))?;
        let path = folder.join(LOG);
        let log = File::create(&path).map_err(|source| Error::Write {
            file: file::label(&path),
            source,
        })?;
        let mut run = Self {
            folder: folder.to_owned(),
            log,
        };
        run.line(&Header {
            format: "ntm-log",
            version: "1.0",
            generator: super::trace::Generator::default(),
            command,
            experiment: Form::from(experiment),
        })?;
        Ok(run)
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
