//! How a run stands, in a word: which of ten diverge, stand still, or have learned.

use super::findings::{Lately, OPEN};
use super::run::{Account, End};
use crate::train::after;

/// A validation with fewer of its episodes answered without a wrong bit is of a machine that has lost what it knew.
const KNOWS: f64 = 0.5;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Its loss comes down, or has only begun to.
    Learning,
    /// Its loss stands still, far from nothing.
    Plateau,
    /// All episodes of a validation were answered without a wrong bit, and it has not lost that since.
    Learned,
    /// It has seen all its sequences and has not learned.
    Ended,
    /// A value is no longer finite.
    Diverged,
    /// Training broke off by an error.
    Broken,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Learning,
        Self::Plateau,
        Self::Learned,
        Self::Ended,
        Self::Diverged,
        Self::Broken,
    ];

    /// That of a run.
    pub fn of(account: &Account) -> Self {
        let of_the_task = after(&account.history, account.task_since).iter();
        let validations = || of_the_task.clone().map(|point| point.validation.perfect);
        let knows = validations().next_back().is_some_and(|last| last >= KNOWS);
        match account.end {
            Some(End::Diverged(_)) => Self::Diverged,
            Some(End::Broken { .. }) => Self::Broken,
            _ if knows && validations().any(|perfect| perfect >= 1.0) => Self::Learned,
            Some(End::Finished) => Self::Ended,
            None if stands_still(account) => Self::Plateau,
            None => Self::Learning,
        }
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Learning => "learning",
            Self::Plateau => "plateau",
            Self::Learned => "learned",
            Self::Ended => "not learned",
            Self::Diverged => "diverged",
            Self::Broken => "broken off",
        }
    }
}

fn stands_still(account: &Account) -> bool {
    let since = account.task_since;
    let lately = Lately::of(account, since);
    let mut points = account.curve.points().iter();
    let first = points.find(|point| point.sequences > since);
    first.is_some_and(|first| lately.is_flat && lately.now > OPEN * first.bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Beside, Evaluation, HistoryPoint, Update};

    fn account(losses: impl Iterator<Item = f64>) -> Account {
        let mut account = Account::empty();
        for bits in losses {
            account.sequences += 1;
            let update = Update {
                bits,
                wrong: 0.0,
                beside: Beside::default(),
                norm: 1.0,
                validated: None,
            };
            account.curve.push(account.sequences, &update);
        }
        account
    }

    #[test]
    fn what_stands_still_is_told_from_what_comes_down() {
        let flat = account((0..4000).map(|_| 80.0));
        assert_eq!(Standing::of(&flat), Standing::Plateau);
        let down = account((0..4000).map(|done| 80.0 * (-f64::from(done) / 2000.0).exp()));
        assert_eq!(Standing::of(&down), Standing::Learning);
        assert_eq!(Standing::of(&Account::empty()), Standing::Learning);
    }

    #[test]
    fn what_was_learned_can_be_lost() {
        let mut run = account((0..4000).map(|_| 80.0));
        let mut validated = |perfect| {
            run.history.push(HistoryPoint {
                sequences: 1,
                validation: Evaluation {
                    perfect,
                    ..Evaluation::default()
                },
                ..HistoryPoint::default()
            });
            Standing::of(&run)
        };
        assert_eq!(validated(0.9), Standing::Plateau);
        assert_eq!(validated(1.0), Standing::Learned);
        assert_eq!(validated(0.9), Standing::Learned);
        assert_eq!(validated(0.0), Standing::Plateau);
    }

    #[test]
    fn what_was_learned_of_another_task_does_not_count() {
        let mut run = account((0..4000).map(|_| 80.0));
        let validation = Evaluation {
            perfect: 1.0,
            ..Evaluation::default()
        };
        run.history.push(HistoryPoint {
            sequences: 3000,
            validation,
            ..HistoryPoint::default()
        });
        assert_eq!(Standing::of(&run), Standing::Learned);
        run.task_since = 3000;
        assert_eq!(Standing::of(&run), Standing::Learning);
    }
}
