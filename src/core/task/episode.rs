//! An episode and its phases.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::Array2;

use super::links::Links;
use crate::math::Answer;

/// One episode: inputs, targets, and the mask of the steps with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Input x_t, [T, X].
    pub input: Array2<f32>,
    /// Target of the output, 0 or 1, or a real number, [T, Y]; zero where the mask is zero.
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
    /// The links of the answer, where they are known; [`Episode::alignment`] has those of a step from the first to the last.
    pub links: Links,
}

/// The mean target of each channel over the scored steps, [Y]; 0 without one.
pub(super) fn means(target: &Array2<f32>, mask: &[f32]) -> Vec<f64> {
    let mut sums = vec![0.0; target.ncols()];
    let rows = target.rows().into_iter().zip(mask);
    for (row, _) in rows.filter(|(_, mask)| **mask > 0.0) {
        let pairs = sums.iter_mut().zip(row);
        pairs.for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let count = mask.iter().filter(|mask| **mask > 0.0).count().max(1);
    sums.iter().map(|sum| sum / count as f64).collect()
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
    pub const NAMES: [&str; 9] = [
        "input",
        "count",
        "delimiter",
        "query",
        "answer",
        "end",
        "context",
        "prediction",
        Self::OVERRUN,
    ];

    /// The phase of steps after the target, in the recording of a run that did not stop there.
    const OVERRUN: &str = "overrun";

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

    /// Scored output bits or values, or symbols: steps in the mask times output channels, or times 1.
    pub fn scored_bits(&self) -> usize {
        self.scored_steps() * self.answer.scored(self.target.ncols())
    }

    /// The mean target of each channel over the scored steps, [Y]; 0 without one.
    pub fn target_means(&self) -> Vec<f64> {
        means(&self.target, &self.mask)
    }

    /// The mean squared error of an answer with these constants, [Y], over the scored steps.
    pub fn squared_error(&self, answer: &[f64]) -> f64 {
        let rows = self.target.rows().into_iter().zip(&self.mask);
        let scored = rows.filter(|(_, mask)| **mask > 0.0);
        let errors = scored.flat_map(|(row, _)| row.into_iter().zip(answer));
        let squares = errors.map(|(target, guess)| (f64::from(*target) - guess).powi(2));
        squares.sum::<f64>() / (self.scored_steps() * answer.len()).max(1) as f64
    }

    /// Steps before the answer: what a machine with an encoder reads.
    pub fn source(&self) -> usize {
        self.first_scored().unwrap_or(self.steps())
    }

    /// The symbol that ends the answer: the target of the phase `end`; `None` where bits are asked for, or without that
    /// phase.
    pub fn end_symbol(&self) -> Option<usize> {
        let mut phases = self.phases.iter();
        let end = phases.find(|phase| phase.name == "end" && self.is_scored(phase.start))?;
        let mut target = self.target.row(end.start).into_iter();
        let is_one = |target: &f32| *target > 0.5;
        target
            .position(is_one)
            .filter(|_| self.answer == Answer::Symbols)
    }

    /// Steps of the longest run in which a machine stops by itself: its answer is twice as long as the target.
    pub fn most_steps(&self) -> usize {
        let more = self.end_symbol().map_or(0, |_| self.scored_steps());
        self.target_end() + more
    }

    /// The episode in the opposite direction, without phases: the target becomes the source, its end symbol the delimiter,
    /// and the source becomes the target. Both have to be symbols.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let (steps, source) = (self.steps(), self.source());
        let moved = |from: &Array2<f32>| {
            let value = |(t, channel)| from[[(t + source) % steps, channel]];
            Array2::from_shape_fn(from.dim(), value)
        };
        let mut mask = vec![0.0; steps - source];
        mask.resize(steps, 1.0);
        Self {
            input: moved(&self.target),
            target: moved(&self.input),
            mask,
            phases: Vec::new(),
            alignment: Vec::new(),
            links: Links::default(),
            ..*self
        }
    }

    /// Sets the links of the answer, and its alignment to them.
    pub fn set_links(&mut self, links: Links) {
        [self.alignment, _] = links.by_step(self.steps());
        self.links = links;
    }

    /// The episode with the steps of a recording, which may go on after its target.
    #[must_use]
    pub fn as_long_as(self, recorded: &Self) -> Self {
        let most = self.most_steps();
        self.with_steps(recorded.steps().min(most))
    }

    /// Steps up to the end of the target.
    pub fn target_end(&self) -> usize {
        let mut phases = self.phases.iter();
        let overrun = phases.find(|phase| phase.name == Phase::OVERRUN);
        overrun.map_or(self.steps(), |phase| phase.start)
    }

    /// The episode with this many steps, but at least those up to the end of the target; later ones are empty.
    #[must_use]
    pub fn with_steps(mut self, steps: usize) -> Self {
        let start = self.target_end();
        let end = steps.max(start);
        for array in [&mut self.input, &mut self.target] {
            let value = |at| array.get(at).copied().unwrap_or(0.0);
            *array = Array2::from_shape_fn((end, array.ncols()), value);
        }
        self.mask.resize(end, 0.0);
        if !self.alignment.is_empty() {
            self.alignment.resize(end, None);
        }
        self.phases.retain(|phase| phase.name != Phase::OVERRUN);
        let name = Phase::OVERRUN.into();
        let overrun = (end > start).then_some(Phase { name, start, end });
        self.phases.extend(overrun);
        self
    }
}
