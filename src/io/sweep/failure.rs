//! Why the training of a run ended before its end.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::io::{Error, file};

/// Where that is written down.
const FILE: &str = "failure.json";
/// Where version 0.1.0 wrote it, in words alone.
const OLDER: &str = "error.txt";
/// The words by which a divergence can be told from all else in such a file.
const OLDER_DIVERGENCE: &str = "is no longer finite";
const FORMAT: &str = "tapescope-failure";
const LIMIT: u64 = 1 << 20;

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "problem")]
pub enum Failure {
    /// Its numbers are no longer finite: a result, which the same seed gives again.
    Diverged(String),
    /// Anything else, which another try may not meet.
    Failed(String),
}

impl Failure {
    /// The names of the files that may hold one.
    pub(in crate::io) const FILES: [&str; 2] = [FILE, OLDER];

    /// What happened, in words.
    pub fn words(&self) -> &str {
        match self {
            Self::Diverged(words) | Self::Failed(words) => words,
        }
    }

    /// Writes it down in the folder of the run.
    ///
    /// # Errors
    /// The file cannot be written; there may be no such folder.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        file::write_json(&folder.join(FILE), FORMAT, self)
    }

    /// What is written down in a folder.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let (path, older) = (folder.join(FILE), folder.join(OLDER));
        if file::exists(&path) {
            return file::read_json(&path, LIMIT, FORMAT).map(Some);
        }
        if !file::exists(&older) {
            return Ok(None);
        }
        let words = file::read_text(&older, LIMIT)?.trim_end().to_owned();
        Ok(Some(if words.contains(OLDER_DIVERGENCE) {
            Self::Diverged(words)
        } else {
            Self::Failed(words)
        }))
    }

    /// Removes what is written down: the run begins again, or goes on.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(in crate::io) fn forget(folder: &Path) -> Result<(), Error> {
        let mut files = Self::FILES.iter();
        files.try_for_each(|name| file::remove(&folder.join(name)))
    }
}
