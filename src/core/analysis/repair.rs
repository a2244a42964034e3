//! Repairs of a failing episode: a part of the machine without which, or a gate at whose mean, fewer answers are wrong.

use super::lesion::{Lesion, lesions};
use crate::model::{Change, Intervention, Model, Place};
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
        self.share >= EXPLAINS
    }
}

/// Sorts repairs, the best first.
pub fn best_first(repairs: &mut [Repair]) {
    repairs.sort_by_key(|repair| repair.wrong);
}

/// The changes that may repair an episode: each lesion of the machine, and each gate of its heads at its mean over the
/// episode. Noise and other weights are no repair.
pub fn attempts(machine: &Model<f32>, whole: &Recording) -> Vec<Lesion> {
    let parts = lesions(machine).into_iter();
    let parts = parts.filter(|lesion| !lesion.changes.is_empty());
    parts.chain(gates_at_mean(machine, whole)).collect()
}

fn gates_at_mean(machine: &Model<f32>, whole: &Recording) -> impl Iterator<Item = Lesion> {
    let gates = machine.changeable().into_iter();
    let gates = gates
        .filter(|(place, array)| matches!(place, Place::Head(_)) && array.name.ends_with("gate"));
    gates.filter_map(|(place, array)| {
        let values = whole.trace.series(place, array)?.as_slice();
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        let change = Intervention {
            steps: (0, None),
            place,
            array,
            part: Vec::new(),
            change: Change::Set(vec![mean]),
        };
        let Place::Head(head) = place else {
            return None;
        };
        let what = format!("{} at its mean {mean:.2}", array.name.replace('_', " "));
        let lesion = Lesion::new(whole.trace.head_name(head), what, [change]);
        mean.is_finite().then_some(lesion)
    })
}
