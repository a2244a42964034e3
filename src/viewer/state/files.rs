//! The contents of files: machines, episodes and runs.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use ndarray::ArrayView2;

use crate::figure::Format;
use crate::figure::facts::numbers;
use crate::io::Experiment;
use crate::io::trace::{self, Difference, Verified};
use crate::learn::RunProgress;
use crate::model::config::Order;
use crate::model::{Model, ModelConfig};
use crate::task::Task;
use crate::train::Recording;

/// A trained machine and the task it was trained on.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Short and unique, as a preset or file is called.
    pub name: String,
    /// One line that describes it.
    pub title: String,
    /// A section of the start page and one sentence, where it differs from the paper.
    pub other_way: Option<(&'static str, String)>,
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
    /// The result of verifying the file, once it is known.
    pub verdict: OnceLock<Verdict>,
}

/// The result of verifying a trace from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// A few words.
    pub words: String,
    /// The details.
    pub details: String,
    /// True where the file contradicts its own equations or metadata.
    pub differs: bool,
    /// The first difference.
    pub first: Option<Difference>,
}

impl Verdict {
    /// The verdict on a trace that could not be verified, for this reason.
    pub fn not_verified(why: &str) -> Self {
        Self {
            words: "not verified".to_owned(),
            details: why.to_owned(),
            differs: false,
            first: None,
        }
    }
}

impl From<Verified> for Verdict {
    fn from(found: Verified) -> Self {
        let (values, first) = (found.comparison.values, found.comparison.first.clone());
        let outcome = found.outcome();
        let (words, details) = match (outcome, &first) {
            (trace::Outcome::Nothing, _) => {
                return Self::not_verified("The file contains nothing that can be recomputed.");
            }
            (trace::Outcome::Holds, _) => {
                let details = format!("{values} values recomputed: none differs.");
                ("verified".to_owned(), details)
            }
            (trace::Outcome::InPart, _) => {
                let mut arrays: Vec<&str> = found.unchecked.iter().map(|it| &*it.0).collect();
                arrays.dedup();
                let (all, whole, unchecked) = (found.following(), found.whole(), arrays.join(", "));
                let details = format!(
                    "{values} values recomputed: none differs. {whole} of {all} dependent arrays were checked \
                     completely. Not checkable: {unchecked}."
                );
                ("verified in part".to_owned(), details)
            }
            (trace::Outcome::Differs, None) => ("contradicts itself".to_owned(), String::new()),
            (trace::Outcome::Differs, Some(first)) => {
                let place = first
                    .step
                    .map_or("the start".to_owned(), |step| format!("step {step}"));
                let [recorded, mut expected] = [first.first, first.second].map(numbers::exact);
                if !first.first.is_finite() && !first.second.is_finite() {
                    "a finite number".clone_into(&mut expected);
                }
                let (array, index) = (&first.array, &first.index);
                let details = format!("{array}{index:?}: recorded {recorded}, expected {expected}");
                (format!("differs at {place}"), details)
            }
        };
        let contradictions = found.contradictions.into_iter();
        let lines = Some(details).filter(|it| !it.is_empty());
        let lines: Vec<String> = lines.into_iter().chain(contradictions).collect();
        let differs = outcome == trace::Outcome::Differs;
        Self {
            words,
            details: lines.join("\n"),
            differs,
            first,
        }
    }
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
            verdict: OnceLock::new(),
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
    pub fn initial_cells(&self) -> Option<ArrayView2<'_, f32>> {
        let machine = &self.machine.as_ref()?.ntm;
        let tensor = match &machine.config {
            ModelConfig::Equations(config) if config.is_controller() => "c.start",
            _ => "initial.cell",
        };
        machine.params.tensor(tensor)
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
    /// For the report on many episodes.
    Report,
}

impl FilePurpose {
    /// True when the file is written.
    pub fn is_to_save(self) -> bool {
        !matches!(self, Self::Open | Self::Compare)
    }
}

/// A file as messages name it.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
