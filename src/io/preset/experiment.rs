//! An experiment, and values that override those of a preset.

use serde_json::Value;

use crate::model::ModelConfig;
use crate::task::Task;
use crate::train::TrainingConfig;

/// An experiment, complete and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The name that the command line and run folders use; default: the stem of the file's name.
    pub name: String,
    /// The name that people read; default: `name`.
    pub title: String,
    /// A sentence about it; default: empty.
    pub description: String,
    /// The task.
    pub task: Task,
    /// The machine that learns it.
    pub model: ModelConfig,
    /// The training configuration.
    pub training: TrainingConfig,
    /// The evaluation configuration.
    pub evaluation: EvaluationConfig,
}

/// The evaluation of a trained machine: every size with every number of repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationConfig {
    /// Lengths of the sequences, or numbers of items, one measurement each: see [`Task::measure`]. Empty, of the
    /// episodes of a file: one of all lengths together.
    pub sizes: Vec<usize>,
    /// Numbers of repeats; empty: sampled as in training.
    pub repeats: Vec<usize>,
    /// Episodes per measurement.
    pub episodes: usize,
}

impl EvaluationConfig {
    /// The task of every measurement: `task` at each size, with each number of repeats.
    pub fn cases(&self, task: &Task) -> Vec<Task> {
        let with_repeats = |task: Task| {
            let repeated = self.repeats.iter();
            repeated.map(move |&repeats| task.clone().with_repeats(repeats))
        };
        let sizes = self.sizes.iter().map(|&size| task.clone().with_size(size));
        if self.sizes.is_empty() {
            vec![task.clone()]
        } else if self.repeats.is_empty() {
            sizes.collect()
        } else {
            sizes.flat_map(with_repeats).collect()
        }
    }
}

/// `model.memory.rows=64`: a value to use instead of the one in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The dotted path.
    pub path: String,
    pub(super) value: Value,
}

/// Writes it as typed: it reads back as the same override.
impl std::fmt::Display for Override {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.value {
            // Quoted only where it would be read as something else.
            Value::String(text) if serde_json::from_str::<Value>(text).is_err() => {
                write!(f, "{}={text}", self.path)
            }
            value => write!(f, "{}={value}", self.path),
        }
    }
}

impl std::str::FromStr for Override {
    type Err = String;

    /// `path=value`; the value is JSON, or else a string as it stands.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text
            .split_once('=')
            .filter(|(path, _)| !path.is_empty())
            .ok_or("expected path=value, for example model.memory.rows=64")?;
        Ok(Self {
            path: path.to_owned(),
            value: serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())),
        })
    }
}
