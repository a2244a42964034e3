//! Status of a run in a word: diverged, on a plateau, or learned.

use super::findings::RecentLoss;
use super::progress::{End, RunProgress};
use crate::train::after;

/// Share of perfect episodes in a validation below which the machine has forgotten the task.
const KNOWS: f64 = 0.5;
/// Ratio of the recent loss to the chance level above which the machine has forgotten the task between validations.
const FORGOTTEN: f64 = 0.25;
/// Ratio of the recent loss to the chance level from which a run has diverged.
const LOST: f64 = 10.0;

/// True for a loss far above the chance level, both in bits per sequence; a chance level of 0 is unknown.
pub fn is_lost(bits: f64, chance: f64) -> bool {
    chance > 0.0 && bits > LOST * chance
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrainingStatus {
    /// The loss decreases, or has just begun to.
    Learning,
    /// The loss is on a plateau, far from 0.
    Plateau,
    /// All episodes of a validation were answered without a wrong bit, and it has not lost that since.
    Learned,
    /// The run has seen all its sequences and has not learned.
    Ended,
    /// A value is no longer finite, or the loss is far above the chance level.
    Diverged,
    /// Training broke off by an error.
    Broken,
}

impl TrainingStatus {
    /// Returns the status of a run with this chance level, in bits per sequence; 0 if it is unknown.
    pub fn of(progress: &RunProgress, chance: f64) -> Self {
        let of_the_task = after(&progress.history, progress.task_since).iter();
        let validations = || of_the_task.clone().map(|point| point.validation.perfect);
        let knows = validations().next_back().is_some_and(|last| last >= KNOWS);
        let recent = RecentLoss::of(progress, progress.task_since);
        let is_lost = is_lost(recent.now, chance);
        let knows = knows && !(chance > 0.0 && recent.now > FORGOTTEN * chance);
        match progress.end {
            Some(End::Diverged(_)) => Self::Diverged,
            Some(End::Broken { .. }) => Self::Broken,
            _ if knows && validations().any(|perfect| perfect >= 1.0) => Self::Learned,
            _ if is_lost => Self::Diverged,
            Some(End::Finished) => Self::Ended,
            None if recent.is_plateau() => Self::Plateau,
            None => Self::Learning,
        }
    }

    /// Returns the name in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Learning => "training",
            Self::Plateau => "plateau",
            Self::Learned => "learned",
            Self::Ended => "ended",
            Self::Diverged => "diverged",
            Self::Broken => "error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{AuxLosses, Evaluation, HistoryPoint, Update};

    fn progress(losses: impl Iterator<Item = f64>) -> RunProgress {
        let mut progress = RunProgress::default();
        for bits in losses {
            progress.sequences += 1;
            let update = Update {
                bits,
                wrong: 0.0,
                aux: AuxLosses::default(),
                norm: 1.0,
                validated: None,
            };
            progress.curve.push(progress.sequences, &update);
        }
        progress
    }

    #[test]
    fn flat_loss_is_distinguished_from_falling_loss() {
        let flat = progress((0..4000).map(|_| 80.0));
        assert_eq!(TrainingStatus::of(&flat, 0.0), TrainingStatus::Plateau);
        let with_chance = |bits| TrainingStatus::of(&flat, bits);
        assert_eq!(with_chance(9.0), TrainingStatus::Plateau);
        assert_eq!(with_chance(7.0), TrainingStatus::Diverged);
        let down = progress((0..4000).map(|done| 80.0 * (-f64::from(done) / 2000.0).exp()));
        assert_eq!(TrainingStatus::of(&down, 0.0), TrainingStatus::Learning);
        assert_eq!(
            TrainingStatus::of(&RunProgress::default(), 0.0),
            TrainingStatus::Learning
        );
    }

    #[test]
    fn learned_status_can_be_lost() {
        let mut run = progress((0..4000).map(|_| 80.0));
        let mut validated = |perfect| {
            run.history.push(HistoryPoint {
                sequences: 1,
                validation: Evaluation {
                    perfect,
                    ..Evaluation::default()
                },
                ..HistoryPoint::default()
            });
            TrainingStatus::of(&run, 0.0)
        };
        assert_eq!(validated(0.9), TrainingStatus::Plateau);
        assert_eq!(validated(1.0), TrainingStatus::Learned);
        assert_eq!(validated(0.9), TrainingStatus::Learned);
        assert_eq!(validated(0.0), TrainingStatus::Plateau);
    }

    #[test]
    fn learned_status_ends_where_the_recent_loss_is_high() {
        let mut run = progress((0..4000).map(|_| 19.7));
        run.history.push(HistoryPoint {
            sequences: 3000,
            validation: Evaluation {
                perfect: 1.0,
                ..Evaluation::default()
            },
            ..HistoryPoint::default()
        });
        assert_eq!(TrainingStatus::of(&run, 40.0), TrainingStatus::Plateau);
        assert_eq!(TrainingStatus::of(&run, 400.0), TrainingStatus::Learned);
    }

    #[test]
    fn learned_status_resets_on_task_change() {
        let mut run = progress((0..4000).map(|_| 80.0));
        let validation = Evaluation {
            perfect: 1.0,
            ..Evaluation::default()
        };
        run.history.push(HistoryPoint {
            sequences: 3000,
            validation,
            ..HistoryPoint::default()
        });
        assert_eq!(TrainingStatus::of(&run, 0.0), TrainingStatus::Learned);
        run.task_since = 3000;
        assert_eq!(TrainingStatus::of(&run, 0.0), TrainingStatus::Learning);
    }
}
