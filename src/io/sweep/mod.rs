//! Many training runs in one folder: their names, what is planned, how far they are, and what they say
//! together.

mod collect;
mod failure;
mod plan;
mod state;

pub use collect::{Found, Pair, Setting, Summary, by_setting, find, to_json};
pub use failure::Failure;
pub use plan::{run_name, write_plan};
pub use state::{Progress, Run, State, progress};

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Experiment;
use super::preset::form::Written;

/// What experiments have at the paths, other than those `but`, at which not all are alike: by path, as JSON or as bare
/// text.
fn changes(experiments: &[&Experiment], but: &[&str]) -> Vec<BTreeMap<String, String>> {
    let values = |experiment: &&Experiment| {
        let mut values = BTreeMap::new();
        for (path, value) in Written::of(*experiment).into_values() {
            flatten(path, &value, &mut values);
        }
        values
    };
    let mut all: Vec<_> = experiments.iter().map(values).collect();
    let is_under = |path: &str, other: &str| {
        let rest = path.strip_prefix(other);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let paths: BTreeSet<String> = all.iter().flat_map(BTreeMap::keys).cloned().collect();
    for path in paths {
        let is_alike = all.iter().all(|one| one.get(&path) == all[0].get(&path));
        if is_alike || but.iter().any(|other| is_under(&path, other)) {
            all.iter_mut().for_each(|one| drop(one.remove(&path)));
        }
    }
    all
}

fn flatten(path: String, value: &Value, to: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flatten(format!("{path}.{key}"), value, to);
            }
        }
        Value::String(text) => drop(to.insert(path, text.clone())),
        other => drop(to.insert(path, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::io::{RunFolder, Trained};
    use crate::model::Model;
    use crate::train::{Evaluation, HistoryPoint, State};

    pub(super) fn experiment(seed: u64, changed: &[&str]) -> Experiment {
        let changed: Vec<_> = changed.iter().map(|text| text.parse().unwrap()).collect();
        let mut experiment = Experiment::find("copy", &changed).unwrap();
        experiment.training.seed = seed;
        experiment.training.sequences = 20;
        experiment
    }

    pub(super) fn points(bits: &[f64]) -> Vec<HistoryPoint> {
        let point = |(index, &bits_per_sequence): (usize, &f64)| HistoryPoint {
            sequences: 10 * (index as u64 + 1),
            seconds: index as f64,
            training_bits: 1.0,
            validation: Evaluation {
                bits_per_sequence,
                ..Evaluation::default()
            },
            ..HistoryPoint::default()
        };
        bits.iter().enumerate().map(point).collect()
    }

    /// Writes the folder of a run as `train` does.
    pub(super) fn write_run(folder: &Path, experiment: &Experiment, bits: &[f64]) {
        let mut run = RunFolder::create(folder, experiment, "tapescope train", true).unwrap();
        let mut state = State::new(experiment.model.clone(), &experiment.training);
        let mut least = f64::INFINITY;
        for point in points(bits) {
            state.history.push(point);
            if point.validation.bits_per_sequence < least {
                least = point.validation.bits_per_sequence;
                state.best = Some((state.machine.clone(), point.validation));
            }
            run.validated(&state).unwrap();
        }
    }

    pub(super) fn write_weights(
        folder: &Path,
        experiment: &Experiment,
        history: Vec<HistoryPoint>,
    ) {
        let last = history.last().map(|point| point.validation);
        let trained = Trained {
            experiment: experiment.clone(),
            machine: Model::new(experiment.model.clone(), 1),
            evaluation: last.filter(|best| best.bits_per_sequence.is_finite()),
            history,
            command: String::new(),
        };
        crate::io::weights::write(&folder.join("weights.safetensors"), &trained).unwrap();
    }
}
