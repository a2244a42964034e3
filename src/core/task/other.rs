//! The task of another program: known from its recordings alone.

use std::ops::RangeInclusive;

use super::{Episode, Generate, Phase, Random};
use crate::keys::{Keys, Table};

/// A task by its name and its channels, which have numbers instead of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// What the other program calls it.
    pub name: String,
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Steps of an episode.
    pub steps: RangeInclusive<usize>,
}

impl Keys for Other {
    fn keys(&mut self, _: &mut Table<'_>) {}
}

impl Generate for Other {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn size(&self) -> &RangeInclusive<usize> {
        &self.steps
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.steps
    }

    fn longest(&self) -> usize {
        *self.steps.end()
    }

    /// Silence: only its own program can make episodes of such a task.
    fn episode(&self, _: &mut Random) -> Episode {
        let steps = self.longest();
        Episode {
            phases: Phase::in_a_row(&[("input", steps)]),
            size: steps,
            ..Episode::silent(steps, self)
        }
    }
}
