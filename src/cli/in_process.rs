//! Commands for a host program such as Python: machines, episodes and runs as values instead of files. Options are
//! those of the command line, with the same ranges, defaults and errors.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::arguments::{Resize, threads};
use super::compare::Verify;
use super::error::{INVALID, exit_code};
use super::eval::Eval;
use super::render::Render;
use super::trace::Trace;
use super::train::{Train, hint_of};
use super::{compare, machine};
use crate::figure::Pages;
use crate::figure::chart::curves::{Curve, learning_curves};
use crate::figure::scene::fonts;
use crate::io::fonts::with_letters;
use crate::io::trace::{self, Imported, Outcome, Source};
use crate::io::{self, Experiment, RunFolder, Trained, intervention, shell};
use crate::learn;
use crate::math::Answer;
use crate::model::config::Order;
use crate::model::{self, ModelConfig};
use crate::train::{HistoryPoint, Quantity, Recording, State, Trainer, Update, spread, spread_aux};

/// The bits per sequence below which a run counts as successful: a line in learning curves.
const THRESHOLD: f64 = 0.1;

/// Reasons why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The request is invalid. Options are named as on the command line.
    #[error("{0}")]
    InvalidArgument(String),
    /// An error about a file, or about data given in its place.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The command failed while it ran.
    #[error("{0}")]
    Failed(String),
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<io::Error>() {
            Ok(error) => Self::File(error),
            Err(error) if exit_code(&error) == INVALID => Self::InvalidArgument(error.to_string()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

impl From<clap::Error> for CommandError {
    /// Takes the first sentence: the rest is about the command line.
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let sentence = text.split("\n\n").next().unwrap_or_default();
        Self::InvalidArgument(sentence.trim_start_matches("error: ").trim().to_owned())
    }
}

/// Parses the options of a command, followed by its subject.
fn parsed<A: Args>(about: &str, options: &[String]) -> Result<A, CommandError> {
    let command = A::augment_args(clap::Command::new(super::process::NAME).no_binary_name(true));
    let typed = options.iter().map(String::as_str).chain(["--", about]);
    Ok(A::from_arg_matches(&command.try_get_matches_from(typed)?)?)
}

/// The machine of a preset whose weights are included, of a weights file, or of the folder of a run. The file of a text
/// may be missing.
///
/// # Errors
/// There is none of this name, or the file is not one.
pub fn machine(name: &str) -> Result<Trained, CommandError> {
    Ok(machine::find_for_input(name, &Resize::default())?)
}

/// A recorded episode with the metadata of its file.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The episode.
    pub recording: Recording,
    /// The machine.
    pub config: ModelConfig,
    /// The hash of its weights, where they are known.
    pub sha256: Option<String>,
    /// The derivatives of a number by everything, where they were asked for.
    pub derivatives: Option<(Quantity, model::Trace)>,
}

impl Episode {
    /// Returns the content of a trace file: the episode with all of its memory.
    pub fn source(&self) -> Source<'_> {
        Source {
            config: &self.config,
            sha256: self.sha256.as_deref(),
            full_memory: true,
            gradient: self.derivatives.as_ref().map(|(of, by)| (*of, by)),
        }
    }
}

impl From<Imported> for Episode {
    fn from(read: Imported) -> Self {
        Self {
            recording: read.recording,
            config: read.config,
            sha256: read.sha256,
            derivatives: None,
        }
    }
}

/// `tapescope trace` of a machine that is called `name`; `input` is the content of the file of `--input`.
///
/// # Errors
/// As the command.
pub fn record(
    name: &str,
    trained: &Trained,
    input: Option<String>,
    options: &[String],
) -> Result<Episode, CommandError> {
    let mut options = options.to_vec();
    options.extend(["--out=trace.npz".to_owned()]);
    options.extend(input.iter().map(|_| "--input=input".to_owned()));
    let mut asked: Trace = parsed(name, &options)?;
    asked.episode.bits = input;
    let mut trained = machine::resized(trained.clone(), name, &asked.episode.sizes)?;
    if asked.episode.bits.is_none() {
        trained = machine::with_episodes(trained, name)?;
    }
    let recording = asked.episode.recording(name, &trained)?;
    Ok(Episode {
        derivatives: asked.derivatives(&trained, &recording)?,
        sha256: Some(trained.sha256()),
        config: trained.machine.config,
        recording,
    })
}

/// An episode that `record` has made, with further interventions in step `step`, up to the step behind it.
///
/// # Errors
/// What is wrong with the interventions.
pub fn advance(
    trained: &Trained,
    episode: &Episode,
    changes: &[String],
    step: usize,
) -> Result<Episode, CommandError> {
    // It may have other sizes than the machine.
    let machine = &trained.machine.with_config(episode.config.clone());
    let recording = &episode.recording;
    let new = intervention::parse(changes, "--intervene", machine, &recording.trace)?;
    let all = [&recording.conventions.interventions[..], &new].concat();
    Ok(Episode {
        recording: recording.advanced(machine, all, step),
        config: episode.config.clone(),
        sha256: episode.sha256.clone(),
        derivatives: episode.derivatives.clone(),
    })
}

/// `tapescope eval --json` of a machine that is called `name`: a line for every size, until `stop` is set, which is heard
/// between two episodes.
///
/// # Errors
/// As the command.
pub fn evaluate(
    name: &str,
    trained: &Trained,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Vec<String>, CommandError> {
    let mut options = options.to_vec();
    options.push("--json".to_owned());
    let asked: Eval = parsed(name, &options)?;
    let trained = machine::with_episodes(trained.clone(), name)?;
    Ok(asked.lines(name, &trained, stop)?)
}

/// `tapescope render` of an episode that is called `name`. The end of `out` says which kind of file this makes.
///
/// # Errors
/// As the command.
pub fn render(
    name: &str,
    recording: &Recording,
    order: Order,
    options: &[String],
) -> Result<Vec<u8>, CommandError> {
    fonts::look_in(with_letters);
    let asked = parsed::<Render>(name, options)?.with_page();
    Ok(asked.file_of(recording, order)?)
}

/// `tapescope verify` of the bytes of a trace named `name`: the outcome, and the report.
///
/// # Errors
/// As the command.
pub fn verify(
    name: &str,
    bytes: Vec<u8>,
    options: &[String],
) -> Result<(Outcome, String), CommandError> {
    let asked: Verify = parsed(name, options)?;
    let trace = trace::from_bytes(bytes, name)?;
    let mut told = Vec::new();
    let found = compare::verified(&mut told, name, &trace, asked.tolerance)?;
    compare::details(&mut told, &trace, &found, false)?;
    Ok((found.outcome(), String::from_utf8_lossy(&told).into_owned()))
}

/// The learning curve of a run with answers of this form, an SVG; `name` is in its title.
pub fn curve(name: &str, answer: Answer, history: &[HistoryPoint], dark: bool) -> String {
    let curve = Curve {
        label: name.to_owned(),
        points: spread(&[history]),
        aux: spread_aux(&[history]),
    };
    learning_curves(&[curve], answer, THRESHOLD, dark)
        .draw()
        .to_svg()
}

/// The start of a run, in memory.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The name.
    pub name: &'a str,
    /// The machine.
    pub trained: &'a Trained,
    /// True if `--from` finds it under its name.
    pub is_found: bool,
}

/// `tapescope train`, an update at a time.
#[derive(Debug)]
pub struct Run {
    experiment: Experiment,
    command: String,
    trainer: Trainer,
    folder: Option<RunFolder>,
}

impl Run {
    /// Begins a run of the preset called `name`, or of the preset `json` if given; with the weights of `start`, or as
    /// given by `options`. Only with `--out` it has a folder.
    ///
    /// Its command can be typed: what is in memory alone is named as a file, `preset.json` and `start.safetensors`, and
    /// lies under that name in the folder.
    ///
    /// # Errors
    /// As the command.
    pub fn begin(
        name: &str,
        json: Option<&str>,
        start: Option<Start<'_>>,
        options: &[String],
    ) -> Result<Self, CommandError> {
        let asked: Train = parsed(name, options)?;
        let experiment = match json {
            // The machine file of a dictionary is in the current folder.
            Some(json) => {
                Experiment::from_json_in(json, name, &asked.overrides, Some(Path::new("")))?
                    .with_episodes(Path::new(name))?
            }
            None => Experiment::find(name, &asked.overrides)?,
        };
        let experiment = asked.asked(experiment);
        let named = match start {
            Some(start) => Some((start.name.to_owned(), start.trained.clone())),
            None => asked.from()?,
        };
        let state = asked.first(&experiment, name, named.as_ref())?;
        let out = asked.out.as_deref();
        let file = |name: &str| out.unwrap_or(Path::new("")).join(name).into_os_string();
        let preset = json.map_or(name.into(), |_| file(RunFolder::PRESET));
        let mut typed = vec!["train".into(), preset];
        typed.extend(options.iter().map(Into::into));
        let kept = start.filter(|start| !start.is_found);
        let kept = kept.map(|start| start.trained);
        if let Some(Start { name, .. }) = start {
            let from = kept.map_or_else(|| name.into(), |_| file(RunFolder::START));
            typed.push(OsString::from_iter(["--from=".into(), from]));
        }
        let command = shell::command(&typed);
        let create = |folder: &Path| {
            RunFolder::create_from(folder, &experiment, &command, &state, kept, asked.force)
        };
        let folder = out.map(create).transpose()?;
        let (task, training) = (experiment.task.clone(), experiment.training.clone());
        Ok(Self {
            trainer: Trainer::resume(task, training, state, threads(asked.threads)),
            experiment,
            command,
            folder,
        })
    }

    /// Runs one update; `None` where the run has seen all its sequences.
    ///
    /// # Errors
    /// Its numbers are no longer finite ([`CommandError::Failed`]), or a file of its folder cannot be written.
    pub fn update(&mut self) -> Result<Option<Update>, CommandError> {
        let update = learn::advance(&mut self.trainer, None, None).map_err(|why| {
            CommandError::Failed(format!("{why}; {}", hint_of(&why, &self.trainer.config)))
        })?;
        if let (Some(folder), Some(update)) = (&mut self.folder, &update) {
            folder.advanced(&self.trainer, update, None)?;
        }
        Ok(update)
    }

    /// Returns the current state of training.
    pub fn state(&self) -> &State {
        &self.trainer.state
    }

    /// Returns the sequences seen and the sequences of the whole run.
    pub fn sequences(&self) -> (u64, u64) {
        (self.trainer.state.sequences, self.trainer.config.sequences)
    }

    /// Returns the experiment: task, model and training.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The best machine so far, or, before the first validation, the one it is now.
    pub fn trained(&self) -> Trained {
        io::run::best_or_last(&self.experiment, &self.trainer.state, &self.command)
    }

    /// Ends the run; an unfinished run keeps a checkpoint in its folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn end(mut self) -> Result<(), CommandError> {
        match self.folder.take() {
            Some(folder) if self.trainer.finished() => Ok(folder.finish()?),
            Some(mut folder) => Ok(folder.checkpoint(&self.trainer.state)?),
            None => Ok(()),
        }
    }
}
