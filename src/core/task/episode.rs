//! An episode and its phases.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::Array2;

use crate::math::Answer;

/// One episode: inputs, targets, and the mask of the steps with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Input x_t, [T, X].
    pub input: Array2<f32>,
    /// Target of the output, 0 or 1, [T, Y]; zero where the mask is zero.
    pub target: Array2<f32>,
    /// The form of the answer.
    pub answer: Answer,
    /// 1 in the steps whose output is scored, else 0, [T].
    pub mask: Vec<f32>,
    /// The parts of the episode, in order, covering every step.
    pub phases: Vec<Phase>,
    /// The length of the sequence in this episode, or the number of its items: see [`super::Task::measure`].
    pub size: usize,
    /// The number of repeats of the sequence; 1 if the task has no repeats.
    pub repeats: usize,
    /// Source steps of every step, as [`super::Generate::alignment`] has them, where the input does not determine them; else
    /// empty.
    pub alignment: Vec<Option<Range<usize>>>,
}

/// A named part of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// One of [`Phase::NAMES`]; in a recording of another program any text.
    pub name: Cow<'static, str>,
    /// First step.
    pub start: usize,
    /// One past the last step.
    pub end: usize,
}

impl Phase {
    /// The phases that tasks have.
    pub const NAMES: [&str; 7] = [
        "input",
        "delimiter",
        "query",
        "answer",
        "end",
        "context",
        "prediction",
    ];

    /// Phases with these names and numbers of steps, one after the other; those without steps are left out.
    pub(super) fn in_a_row(parts: &[(&'static str, usize)]) -> Vec<Self> {
        let mut start = 0;
        let phase = |&(name, steps): &(&'static str, usize)| {
            let phase = Self {
                name: name.into(),
                start,
                end: start + steps,
            };
            start = phase.end;
            phase
        };
        let parts = parts.iter().filter(|(_, steps)| *steps > 0);
        parts.map(phase).collect()
    }
}

impl Episode {
    /// True for a step whose output is scored.
    pub fn is_scored(&self, step: usize) -> bool {
        self.mask.get(step).is_some_and(|&mask| mask > 0.0)
    }

    /// Returns the first step whose output is scored.
    pub fn first_scored(&self) -> Option<usize> {
        self.mask.iter().position(|&mask| mask > 0.0)
    }

    /// Number of steps, T.
    pub fn steps(&self) -> usize {
        self.mask.len()
    }

    /// Steps whose output is scored.
    pub fn scored_steps(&self) -> usize {
        self.mask.iter().filter(|&&m| m > 0.0).count()
    }

    /// Scored output bits, or symbols: steps in the mask times output channels, or times 1.
    pub fn scored_bits(&self) -> usize {
        self.scored_steps() * self.answer.scored(self.target.ncols())
    }

    /// Steps before the answer: what a machine with an encoder reads.
    pub fn source(&self) -> usize {
        let first = self.mask.iter().position(|&mask| mask > 0.0);
        first.unwrap_or(self.steps())
    }
}
