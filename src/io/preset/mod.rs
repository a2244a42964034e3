//! Presets: one JSON file per experiment, with the task, the machine, its training and its evaluation.
//!
//! Reading is strict. A key that is unknown or given twice, a value of the wrong type or out of range is
//! an error that names the file, the path inside it and what is allowed.

mod ablation;
mod change;
mod difference;
mod experiment;
mod family;
pub(in crate::io) mod form;
mod keys;
pub(in crate::io) mod written;

pub use ablation::{Ablation, Ablations, WHOLE, ablations, stages};
pub use change::fixed;
pub(in crate::io) use difference::changes;
pub use experiment::{EvaluationConfig, Experiment, Override};
pub use family::{FAMILY, FAMILY_ABOUT, FIRST, FIRST_STEP, Mechanism, MechanismGroup, UNCERTAINTY};
pub use form::{channels, check_model, known_channels};
pub(in crate::io) use keys::{at, flatten, last, visit};
pub use keys::{of_every_kind, table, table_of};

use std::path::Path;

use serde_json::{Value, json};

use self::keys::is_under;
use self::written::{Written, first};
use super::{Error, file, machine_file, shell};
use crate::keys::check;
use crate::model::ModelConfig;
use crate::spelling::did_you_mean;

/// The largest preset that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// Embeds presets by their names in `tasks/`, in groups.
macro_rules! included {
    ($($group:expr => $($name:literal)*;)*) => {
        &[$(($group, &[$(($name, include_str!(concat!("../../../tasks/", $name, ".json")))),*])),*]
    };
}

/// Presets that belong together: name of the group, names and sources.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// The groups of presets whose machines differ from those of the paper: heads that attend otherwise, encoders and decoders.
pub const SECTIONS: [&str; 4] = [
    "Other attention mechanisms",
    "Encoder-decoder attention",
    "Self-attention",
    "Managed memory",
];

/// The presets inside the binary: for each task three learners (an NTM with an LSTM controller, one with a feedforward
/// controller, an LSTM without memory), with what converges soonest here, and one that counts further; what other
/// attentions make of copy, N-grams and recall; encoders and decoders; self-attention; memory that is managed; the learners as in the paper.
static INCLUDED: &[Group] = included! {
    "Fastest to converge" =>
        "copy" "copy_feedforward" "copy_lstm"
        "repeat_copy" "repeat_copy_feedforward" "repeat_copy_lstm" "repeat_copy_unary"
        "associative_recall" "associative_recall_feedforward" "associative_recall_lstm"
        "ngrams" "ngrams_feedforward" "ngrams_lstm"
        "priority_sort" "priority_sort_feedforward" "priority_sort_lstm";
    SECTIONS[0] =>
        "copy_additive" "copy_location" "ngrams_location" "copy_general" "copy_dot" "copy_scaled_dot"
        "copy_local_monotonic" "copy_local_predictive" "copy_hard" "copy_plain"
        "recall_bayesian_weibull" "recall_bayesian_lognormal" "recall_four_heads";
    SECTIONS[1] =>
        "transduce" "transduce_luong" "transduce_fixed_context" "transduce_off_by_one" "transduce_lstmn"
        "caption" "caption_hard" "caption_bayesian_weibull" "frames_local_predictive" "copy_bahdanau";
    SECTIONS[2] =>
        "copy_lstmn" "copy_multi_head" "copy_self_attention" "aspects_structured"
        "span_coattention" "span_attention_over_attention";
    SECTIONS[3] =>
        "copy_dnc" "repeat_copy_dnc" "recall_dnc" "reuse" "reuse_dnc" "graph" "graph_dnc" "copy_sam" "recall_sam";
    "As in the paper" =>
        "copy_paper" "copy_feedforward_paper" "copy_lstm_paper"
        "repeat_copy_paper" "repeat_copy_feedforward_paper" "repeat_copy_lstm_paper"
        "associative_recall_paper" "associative_recall_feedforward_paper" "associative_recall_lstm_paper"
        "ngrams_paper" "ngrams_feedforward_paper" "ngrams_lstm_paper"
        "priority_sort_paper" "priority_sort_feedforward_paper" "priority_sort_lstm_paper";
};

impl Experiment {
    /// Reads an experiment from JSON. `file` is the name for messages; its stem is the default name. A task whose episodes
    /// are in a file is without them: see [`Experiment::with_episodes`].
    ///
    /// # Errors
    /// The file, the path inside it and what is allowed there.
    pub fn from_json(source: &str, file: &str, overrides: &[Override]) -> Result<Self, Error> {
        Self::from_json_in(source, file, overrides, None)
    }

    /// [`Experiment::from_json`], of a preset in this folder, where its machine file is.
    ///
    /// # Errors
    /// As for [`Experiment::from_json`], and those of the machine file.
    pub fn from_json_in(
        source: &str,
        file: &str,
        overrides: &[Override],
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let source = file::without_mark(source);
        let syntax = |error: serde_json::Error| Error::json(file, "", &error);
        let mut given: Value = serde_json::from_str(source).map_err(syntax)?;
        keys::check(&given, file)?;
        let has_text = at(&given, "model.text").is_some();
        machine_file::fill(&mut given, folder, file)?;
        let stem = Path::new(file).file_stem().unwrap_or_default();
        let mut experiment = Self::called(&stem.to_string_lossy());
        let mut text = serde_json::Deserializer::from_str(source);
        form::read(&mut experiment, &given, "", &mut text, file)?;
        if overrides.is_empty() {
            return experiment.complete(&given, file);
        }
        let wrong = experiment.foreign(&given);
        if !has_text {
            keys::remove(&mut given, "model.text");
        }
        for change in overrides {
            keys::set(&mut given, &change.path, &change.value)?;
        }
        machine_file::fill(&mut given, folder, file)?;
        let mut experiment = Self::called(&stem.to_string_lossy());
        form::read(&mut experiment, &given, "", &given, "--set")?;
        // With another kind of machine goes what the file says of the old one, but nothing that was wrong there already.
        let is_set = |path: &str| overrides.iter().any(|set| is_under(path, &set.path));
        let is_of_task = |path: &str| ["task", "evaluation"].contains(&first(path));
        for path in experiment.foreign(&given) {
            if !is_of_task(&path) && !is_set(&path) && !wrong.contains(&path) {
                keys::remove(&mut given, &path);
            }
        }
        experiment.complete(&given, &format!("{file} with --set"))
    }

    /// The whole experiment as JSON, with every default written out.
    pub fn to_json(&self) -> String {
        Written::of(self).to_json()
    }

    /// The experiment inside the binary that has this name.
    pub fn included(name: &str, overrides: &[Override]) -> Option<Result<Self, Error>> {
        let mut all = INCLUDED.iter().flat_map(|(_, presets)| *presets);
        let (_, source) = all.find(|(known, _)| *known == name)?;
        let file = format!("tasks/{name}.json");
        Some(Self::from_json(source, &file, overrides))
    }

    /// The experiment in a file, with the episodes of its task.
    ///
    /// # Errors
    /// The file cannot be read, or is not an experiment; or as for [`Experiment::with_episodes`].
    pub fn read(path: &Path, overrides: &[Override]) -> Result<Self, Error> {
        Self::read_alone(path, overrides)?.with_episodes(path)
    }

    /// [`Experiment::read`], without the episodes of its task, where those are in another file.
    pub(super) fn read_alone(path: &Path, overrides: &[Override]) -> Result<Self, Error> {
        let label = file::label(path);
        let problem = if path.is_dir() {
            let inner = path.join("preset.json");
            let inner = Some(inner).filter(|inner| file::exists(inner));
            let help = inner.map(|inner| format!("; its preset is {}", file::label(&inner)));
            let help = help.unwrap_or_default();
            format!("is a folder; expected the JSON file of a preset{help}")
        } else if file::is_trace(path) {
            let view = shell::on("view", path);
            format!("is a trace, not a preset; open it with: {view}")
        } else if path.extension().is_some_and(|end| end == "safetensors") {
            let eval = shell::on("eval", path);
            format!("is a weights file, not a preset; evaluate it with: {eval}")
        } else if machine_file::is_machine(path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let model = format!(r#""model": {{"kind": "equations", "file": "{name}"}}"#);
            format!("is a machine file, not a preset; expected a JSON file beside it with {model}")
        } else {
            let text = file::read_text(path, LIMIT)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            return Self::from_json_in(&text, &label, overrides, Some(folder));
        };
        Err(Error::about(path, problem))
    }

    /// Finds an included preset by name, or a preset file by path.
    ///
    /// # Errors
    /// Neither exists (the nearest name is suggested), or the file is not an experiment.
    pub fn find(name: &str, overrides: &[Override]) -> Result<Self, Error> {
        let path = Path::new(name);
        if let Some(experiment) = Self::included(name, overrides) {
            return experiment?.with_episodes(path);
        }
        let is_included = machine_file::included_names().any(|known| known == name);
        if path.exists() || is_included || path.extension().is_some_and(|end| end == "json") {
            return Self::read(path, overrides);
        }
        if machine_file::is_machine(path) {
            let meant = did_you_mean(name, machine_file::included_names());
            let problem = format!("is no file, and no included machine has this name; {meant}");
            return Err(Error::about(path, problem.trim_end_matches([' ', ';'])));
        }
        Err(Error::unknown("preset", name, names()))
    }

    /// Writes the experiment with every default written out.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let json = self.to_json();
        file::write_atomically(path, |to| to.write_all(json.as_bytes()))
    }
}

/// Returns the machine in a machine file, or in an included one of this name, without a task. Overrides change its `model`.
///
/// # Errors
/// The file cannot be read, a mistake in it, or a key that it does not have.
pub fn of_machine_file(path: &Path, overrides: &[Override]) -> Result<ModelConfig, Error> {
    let label = file::label(path);
    let (name, folder) = match path.file_name().filter(|_| file::exists(path)) {
        Some(name) => (name.to_string_lossy(), path.parent()),
        None => (path.to_string_lossy(), None),
    };
    let mut given = json!({ "model": { "kind": "equations", "file": name } });
    machine_file::fill(&mut given, folder, &label)?;
    for change in overrides {
        keys::set(&mut given, &change.path, &change.value)?;
    }
    let mut experiment = Experiment::called("");
    form::read(&mut experiment, &given, "model", &given["model"], "--set")?;
    experiment.has_no_foreign(&given, "--set")?;
    form::valid(check(&mut experiment.model), "model.", "--set")?;
    let ModelConfig::Equations(config) = &experiment.model else {
        return Err(Error::content(
            &label,
            "model.kind",
            "is not equations".to_owned(),
        ));
    };
    config.check().map_err(|mistake| Error::machine(&mistake))?;
    Ok(experiment.model)
}

/// Returns the names of the included presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    groups().flat_map(|(_, names)| names)
}

/// The one of [`SECTIONS`] that an included preset belongs to.
pub fn section(name: &str) -> Option<&'static str> {
    let mut sections = groups().filter(|(group, _)| SECTIONS.contains(group));
    let found = sections.find(|(_, names)| names.clone().any(|other| other == name));
    found.map(|(group, _)| group)
}

/// Returns the names of the included presets by group, each with the name of the group.
pub fn groups() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str> + Clone)>
{
    let names = |(_, presets): &Group| presets.iter().map(|(name, _)| *name);
    INCLUDED.iter().map(move |group| (group.0, names(group)))
}
