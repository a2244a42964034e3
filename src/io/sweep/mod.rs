//! Many training runs in one folder: their names, plan, progress and joint results.

mod collect;
mod failure;
mod plan;
mod state;

pub use collect::{FoundRuns, MedianAndWorst, Setting, Summary, by_setting, find, to_json};
pub use failure::Failure;
pub use plan::{run_name, write_plan};
pub use state::{FolderState, Run, State, folder_state};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::io::{Experiment, RunFolder, Trained};
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
                state.best = Some((state.machines[0].clone(), point.validation));
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
            changes: Vec::new(),
            command: String::new(),
        };
        crate::io::weights::write(&folder.join("weights.safetensors"), &trained).unwrap();
    }
}
