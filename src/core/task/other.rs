//! The task of another program: known from its recordings alone.

use std::ops::RangeInclusive;

use ndarray::Array2;

use super::{Channels, Episode, Generate, Measure, Phase, Random};
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
    fn bits(&self) -> usize {
        0
    }

    fn channels(&self) -> Channels {
        Channels {
            input: &[],
            output: &[],
        }
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn measure(&self) -> Measure {
        Measure::Length
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
            input: Array2::zeros((steps, self.inputs)),
            target: Array2::zeros((steps, self.outputs)),
            mask: vec![0.0; steps],
            phases: Phase::in_a_row(&[("input", steps)]),
            size: steps,
            repeats: 1,
        }
    }
}
