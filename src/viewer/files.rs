//! The interface of the window to files: opening and saving. The window itself knows no file format.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state::Open;
use crate::figure::Format;
use crate::io::{Experiment, RunStart};
use crate::learn::{RunProgress, RunState};
use crate::math::Matrix;
use crate::model::config::Order;
use crate::model::{Model, ModelConfig};
use crate::platform::Chosen;
use crate::task::Task;
use crate::train::Recording;

/// A trained machine and the task it was trained on.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Short and unique, as a preset or file is called.
    pub name: String,
    /// One line that describes it.
    pub title: String,
    /// One sentence on its attention, where that differs from the paper.
    pub other_way: Option<String>,
    /// The task, with the ranges it was trained on.
    pub task: Task,
    /// Configuration and weights.
    pub ntm: Model<f32>,
    /// True as long as its weights are still to be fetched.
    pub away: bool,
}

impl Machine {
    /// A machine of an experiment, by its name.
    pub fn of(experiment: &Experiment, ntm: Model<f32>) -> Self {
        Self {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            other_way: None,
            task: experiment.task.clone(),
            ntm,
            away: false,
        }
    }

    /// The name of the machine that was never trained.
    pub const UNTRAINED: &str = "untrained";

    /// False for the one with random weights that the others are compared with.
    pub fn is_trained(&self) -> bool {
        self.name != Self::UNTRAINED
    }
}

/// The contents of an opened file.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenedFile {
    /// Weights: the window records an episode with them.
    Machine(Box<Machine>),
    /// A trace: the window shows it as recorded and computes nothing anew.
    Trace(Box<Open>),
    /// A run with its training snapshots, for browsing.
    Run(Box<LoadedRun>),
}

impl From<RecordedEpisode> for OpenedFile {
    fn from(shown: RecordedEpisode) -> Self {
        Self::Trace(Box::new(Open::new(shown, None)))
    }
}

/// A run that was trained elsewhere, with its training snapshots.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    /// The name.
    pub name: String,
    /// The experiment at its start.
    pub experiment: Experiment,
    /// The progress, with at least one snapshot.
    pub progress: RunProgress,
    /// True if all sequences are trained; otherwise it can be continued.
    pub is_finished: bool,
}

impl LoadedRun {
    /// The machine as it was at its best, or in the end. It is called as this folder is: another one may have the same
    /// name, and so may a included machine.
    pub fn machine(&self, folder: &Path) -> Machine {
        let all = self.progress.snapshots.all();
        let best = all.iter().rfind(|snapshot| snapshot.is_best);
        let (model, seed) = (&self.experiment.model, self.experiment.training.seed);
        let ntm = match best.or(all.last()) {
            Some(snapshot) => snapshot.machine.as_ref().clone(),
            None => Model::new(model.clone(), seed),
        };
        Machine {
            name: folder.display().to_string(),
            title: format!("{} ({})", self.experiment.title, self.name),
            ..Machine::of(&self.experiment, ntm)
        }
    }
}

impl PartialEq for LoadedRun {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.experiment) == (&other.name, &other.experiment)
    }
}

/// An episode that can be shown, and where it came from.
#[derive(Clone, Debug)]
pub struct RecordedEpisode {
    /// The episode.
    pub recording: Recording,
    /// The configuration of the machine that recorded it, where known.
    pub config: Option<ModelConfig>,
    /// The machine; `None` for a trace from a file.
    pub machine: Option<Arc<Machine>>,
    /// The title of the file it came from.
    pub file: Option<String>,
    /// The public address of the file, next to the page.
    pub address: Option<String>,
    /// The hash of the weights, if a file gives it.
    pub sha256: Option<String>,
}

impl RecordedEpisode {
    /// Returns the machine as stored in a file of this title.
    pub fn of_file(title: String, recording: Recording, config: Option<ModelConfig>) -> Self {
        Self {
            recording,
            config,
            machine: None,
            file: Some(title),
            address: None,
            sha256: None,
        }
    }

    /// True of the same episode by a machine of the same name and form: one that learns is another at every moment.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        let name = |of: &Self| of.machine.as_ref().map(|machine| machine.name.clone());
        name(self) == name(other)
            && self.config == other.config
            && self.recording.episode == other.recording.episode
    }

    /// True when the read heads see the writes of the same step.
    pub fn writes_first(&self) -> bool {
        let config = self.config.as_ref();
        config.is_some_and(|config| config.order() == Order::WriteFirst)
    }

    /// The cells that the first step finds, by layer, where the machine is known and has such.
    pub fn initial_cells(&self) -> Option<&Matrix<f32>> {
        let machine = self.machine.as_ref()?;
        machine.ntm.params.tensor("initial.cell")
    }
}

/// The purpose of a chosen file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    /// To be opened.
    Open,
    /// To be compared with the episode on screen.
    Compare,
    /// For the trace of the episode.
    Save,
    /// For the figure on screen, of this kind.
    Figure(Format),
    /// For the close-up in motion.
    Motion,
    /// For the folder of a run that learns.
    Run,
}

impl FilePurpose {
    /// True when the file is written.
    pub fn is_to_save(self) -> bool {
        !matches!(self, Self::Open | Self::Compare)
    }
}

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

    /// Writes a figure; returns a sentence that names its place.
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
    fn choose(&self, _save: bool, _suggestion: &str, _answer: Answer) {}

    /// Fetches the machine of this name, whose weights are away.
    fn fetch(&self, name: &str, answer: FetchCallback) {
        answer(Err(format!("{name} cannot be fetched{NO_ACCESS}")));
    }

    /// Stores the contents of a file that cannot be read by its path.
    fn keep(&self, _path: PathBuf, _bytes: Vec<u8>) {}
}

/// The receiver of a fetched machine.
pub type FetchCallback = Box<dyn FnOnce(Result<Machine, String>) + Send>;

/// The receiver of a chosen file: no answer means that none was chosen, or no dialog exists.
pub struct Answer(Option<Box<dyn FnOnce(Option<Chosen>) + Send>>);

impl Answer {
    /// Calls `then` once.
    pub fn new(then: impl FnOnce(Option<Chosen>) + Send + 'static) -> Self {
        Self(Some(Box::new(then)))
    }

    /// This file was chosen.
    pub fn chosen(mut self, chosen: Chosen) {
        self.give(Some(chosen));
    }

    fn give(&mut self, chosen: Option<Chosen>) {
        if let Some(then) = self.0.take() {
            then(chosen);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.give(None);
    }
}

/// A file as messages name it.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// No files at all: every request is refused with a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {}
