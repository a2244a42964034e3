//! Failures: reasons why the training of a run stopped early.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::io::{Error, file};

const FORMAT: &str = "tapescope-failure";
const LIMIT: u64 = 1 << 20;

/// The reason why a run stopped early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "problem")]
pub enum Failure {
    /// The run diverged to non-finite numbers: a result, which the same seed reproduces.
    Diverged(String),
    /// Anything else, which another try may not meet.
    Failed(String),
}

impl Failure {
    /// The file that records it.
    pub(in crate::io) const FILE: &str = "failure.json";

    /// Returns the text of the failure.
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
        file::write_json(&folder.join(Self::FILE), FORMAT, self)
    }

    /// Reads the failure recorded in a folder.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = file::if_exists(folder.join(Self::FILE));
        path.map(|path| file::read_json(&path, LIMIT, FORMAT))
            .transpose()
    }

    /// Removes the record: the run starts again, or resumes.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(in crate::io) fn forget(folder: &Path) -> Result<(), Error> {
        file::remove(&folder.join(Self::FILE))
    }
}
