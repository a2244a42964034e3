//! The interface of the window to files.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::{Machine, OpenedFile, RecordedEpisode, Verdict};
use crate::io::{Experiment, RunStart};
use crate::learn::RunState;
use crate::platform::Chosen;

/// Told how much is done by now, of how much; may give the rest up.
pub type ProgressCallback<'a> = &'a dyn Fn(usize, usize) -> ControlFlow<()>;

/// The error of the default implementation.
const NO_ACCESS: &str = ": this window has no access to files.";

/// Opens and saves for the window. Errors are sentences for the user: what is wrong,
/// where, and what to do.
pub trait Files: Send + Sync {
    /// Reads weights or a trace; a file that the callback cancels may end as an error.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    fn open(&self, path: &Path, _watch: ProgressCallback<'_>) -> Result<OpenedFile, String> {
        Err(format!("{} cannot be opened{NO_ACCESS}", path.display()))
    }

    /// Reads a trace again and verifies it, as `tapescope verify` does; `None` without access to files.
    fn verify(&self, _path: &Path, _watch: ProgressCallback<'_>) -> Option<Verdict> {
        None
    }

    /// Writes the episode on screen; returns a sentence that names its place.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    fn save_trace(&self, path: &Path, _shown: &RecordedEpisode) -> Result<String, String> {
        Err(format!("{} cannot be written{NO_ACCESS}", path.display()))
    }

    /// The path from wherever the window is started next.
    fn absolute(&self, path: PathBuf) -> PathBuf {
        path
    }

    /// True if there is such a file.
    fn exists(&self, _path: &Path) -> bool {
        true
    }

    /// Writes a figure or a table; returns a sentence that names its place.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    fn save_figure(&self, path: &Path, _bytes: &[u8]) -> Result<String, String> {
        Err(format!("{} cannot be written{NO_ACCESS}", path.display()))
    }

    /// Writes a live run with its training snapshots into a folder from which it can be resumed; returns a sentence on
    /// place and state. An existing run is replaced only if `_replaces`.
    ///
    /// # Errors
    /// A sentence that names the folder and what is wrong with it.
    fn save_run(
        &self,
        folder: &Path,
        _experiment: &Experiment,
        _run_state: &RunState,
        _replaces: bool,
    ) -> Result<String, String> {
        Err(format!("{} cannot be written{NO_ACCESS}", folder.display()))
    }

    /// Reads the state from which the run in a folder continues.
    ///
    /// # Errors
    /// A sentence that names the folder and what is wrong with it.
    fn saved_state(&self, folder: &Path) -> Result<RunStart, String> {
        Err(format!("{} cannot be opened{NO_ACCESS}", folder.display()))
    }

    /// Asks the user for a file to open, or for a place to save to; `_suggestion` is the proposed name. The
    /// answer may arrive after the call returns.
    fn choose(&self, _save: bool, _suggestion: &str, answer: Answer) {
        answer(None);
    }

    /// Fetches the machine of this name, whose weights are away.
    fn fetch(&self, name: &str, answer: FetchCallback) {
        answer(Err(format!("{name} cannot be fetched{NO_ACCESS}")));
    }

    /// Stores the contents of a file that cannot be read by its path.
    fn keep(&self, _path: PathBuf, _bytes: Vec<u8>) {}
}

/// The receiver of a fetched machine.
pub type FetchCallback = Box<dyn FnOnce(Result<Machine, String>) + Send>;

/// The receiver of a chosen file: `None` when none was chosen, or no dialog exists.
pub type Answer = Box<dyn FnOnce(Option<Chosen>) + Send>;

/// No files at all: every request is refused with a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {}
