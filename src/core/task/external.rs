//! External task: of another program, known only from its recordings.

use std::ops::RangeInclusive;

use super::generate::Generate;
use super::{Episode, Phase};
use crate::keys::{Keys, Table};
use crate::math::{Answer, Random};

/// An external task: its name and its channels, which have numbers instead of names.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// The name in the other program.
    pub name: String,
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// The form of the answers.
    pub answer: Answer,
    /// Steps of an episode.
    pub steps: RangeInclusive<usize>,
}

impl Keys for External {
    fn keys(&mut self, _: &mut Table<'_>) {}
}

impl Generate for External {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn answer(&self) -> Answer {
        self.answer
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.steps
    }

    fn longest(&self) -> usize {
        *self.steps.end()
    }

    /// Unknown.
    fn longest_source(&self) -> usize {
        0
    }

    /// Silence: only its own program can make episodes of such a task.
    fn sample(&self, _: &mut Random) -> Episode {
        let steps = self.longest();
        Episode {
            phases: Phase::in_a_row(&[("input", steps)]),
            size: steps,
            ..self.silent(steps)
        }
    }
}
