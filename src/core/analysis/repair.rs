//! Repairs of a failing episode: a part of the machine without which, or a gate at whose mean, fewer answers are wrong.

use super::lesion::{Lesion, lesions};
use crate::model::{Array, Change, Intervention, Model, Place};
use crate::train::Recording;

/// The share of the wrong answers, 0 to 1, from which on a repair explains them.
pub const EXPLAINS: f64 = 0.1;

/// A change of the machine, and what it leaves of the wrong answers of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The change.
    pub lesion: Lesion,
    /// Wrong bits or symbols with it.
    pub wrong: usize,
    /// The share of the wrong answers that it repairs: 1 for all, below 0 where more are wrong.
    pub share: f64,
}

impl Repair {
    /// Runs the episode with a change.
    pub fn of(lesion: Lesion, machine: &Model<f32>, whole: &Recording) -> Self {
        let other = lesion.record(machine, whole);
        let before = whole.score.wrong;
        let wrong = other.map_or(before, |other| other.score.wrong);
        Self {
            lesion,
            wrong,
            share: 1.0 - wrong as f64 / before.max(1) as f64,
        }
    }

    /// True where it explains the wrong answers: see [`EXPLAINS`].
    pub fn explains(&self) -> bool {
        // As it is shown, in whole percent.
        (100.0 * self.share).round() >= 100.0 * EXPLAINS
    }
}

/// Sorts repairs, the best first.
pub fn best_first(repairs: &mut [Repair]) {
    repairs.sort_by_key(|repair| repair.wrong);
}

/// The changes that may repair an episode: each lesion of the machine, and each gate at its mean over the episode. Noise and
/// other weights are no repair.
pub fn attempts(machine: &Model<f32>, whole: &Recording) -> Vec<Lesion> {
    let parts = lesions(machine).into_iter();
    let parts = parts.filter(|lesion| !lesion.changes.is_empty());
    parts.chain(gates_at_mean(machine, whole)).collect()
}

/// Each gate at its mean, in each entry of its own: arrays of this name, and numbers of 0 to 1 of a machine file.
fn gates_at_mean(machine: &Model<f32>, whole: &Recording) -> impl Iterator<Item = Lesion> {
    let is_file = machine.config.is_recorded_apart();
    let is_share = |array: Array| array.dims == ["t"] && array.range.ends() == (0.0, 1.0);
    let gates = machine.changeable().into_iter();
    let gates = gates
        .filter(move |(_, array)| array.name.ends_with("gate") || (is_file && is_share(array)));
    gates.filter_map(|(place, array)| {
        let series = whole.trace.series(place, array)?;
        let steps = series.steps().max(1) as f32;
        let mean_of = |entry| {
            (0..series.steps())
                .map(|t| series.row(t)[entry])
                .sum::<f32>()
                / steps
        };
        let means: Vec<f32> = (0..series.width()).map(mean_of).collect();
        let value = match means[..] {
            [mean] => format!(" {mean:.2}"),
            _ => String::new(),
        };
        let (part, gate) = match place {
            Place::Head(head) => (whole.trace.head_name(head), array.name.replace('_', " ")),
            _ => (array.name.to_owned(), String::new()),
        };
        let what = format!("{gate} at its mean{value}");
        let is_finite = means.iter().all(|mean| mean.is_finite());
        let change = Intervention {
            steps: (0, None),
            place,
            array,
            part: Vec::new(),
            change: Change::Set(means),
        };
        is_finite.then(|| Lesion::new(part, what.trim_start(), [change]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model};
    use crate::task::{Copy, Task};

    #[test]
    fn gates_of_a_machine_file_are_set_to_their_means() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let of = |file: &str| {
            let channels = [task.inputs(), task.outputs()];
            let sizes = [("keys", "4"), ("values", "4")];
            let config = EquationsConfig::included(file, channels, &sizes).unwrap();
            let machine = Model::new(config, 3);
            let whole = Recording::new(&machine, &task, 7, 0);
            let attempts = attempts(&machine, &whole);
            let is_mean = |lesion: &&Lesion| lesion.what.starts_with("at its mean");
            let gates: Vec<Lesion> = attempts.iter().filter(is_mean).cloned().collect();
            for gate in &gates {
                let other = gate.record(&machine, &whole).unwrap();
                let Change::Set(means) = &gate.changes[0].change else {
                    panic!("{gate:?}");
                };
                let series = other
                    .trace
                    .series(gate.changes[0].place, gate.changes[0].array);
                assert_eq!(series.unwrap().row(2), means, "{file}: {gate:?}");
            }
            gates.into_iter().map(|gate| gate.part).collect::<Vec<_>>()
        };
        assert_eq!(of("titans"), ["learning_rate", "momentum", "decay"]);
        let mlstm = of("mlstm");
        let has = |name: &str| mlstm.iter().any(|part| part == name);
        assert!(
            has("head0.output_gate") && has("head1.input_gate"),
            "{mlstm:?}"
        );
    }
}
