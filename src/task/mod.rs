//! Episode generators. They know nothing of the machine that will run their episodes.
//!
//! Episode `i` of a run is a function of (seed, i) alone: a run resumes exactly, a batch can be spread
//! over threads, and anyone can recreate an episode from two numbers.

mod copy;
mod repeat_copy;

pub use copy::Copy;
pub use repeat_copy::RepeatCopy;

use std::ops::RangeInclusive;

use ndarray::{Array2, s};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The generator behind every episode: xoshiro256++, whose stream is the same in every release.
pub type Random = Xoshiro256PlusPlus;

/// One episode: what the machine sees, what it should answer, and when it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Input x_t, [T, X].
    pub input: Array2<f32>,
    /// Target of the output, 0 or 1, [T, Y]; zero where the mask is zero.
    pub target: Array2<f32>,
    /// 1 in the steps whose output is scored, else 0, [T].
    pub mask: Vec<f32>,
    /// The parts of the episode, in order, covering every step.
    pub phases: Vec<Phase>,
    /// The length of the sequence in this episode (vectors).
    pub length: usize,
    /// How often it is to be repeated; 1 for plain copy.
    pub repeats: usize,
}

/// A named part of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// `input`, `delimiter`, `answer`, ….
    pub name: &'static str,
    /// First step.
    pub start: usize,
    /// One past the last step.
    pub end: usize,
}

impl Phase {
    /// Phases with these names and numbers of steps, one after the other.
    fn in_a_row(parts: &[(&'static str, usize)]) -> Vec<Self> {
        let mut start = 0;
        let phase = |&(name, steps): &(&'static str, usize)| {
            let phase = Self {
                name,
                start,
                end: start + steps,
            };
            start = phase.end;
            phase
        };
        parts.iter().map(phase).collect()
    }
}

impl Episode {
    /// An episode of silence, to be filled in.
    fn silent(steps: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            input: Array2::zeros((steps, inputs)),
            target: Array2::zeros((steps, outputs)),
            mask: vec![0.0; steps],
            phases: Vec::new(),
            length: 0,
            repeats: 1,
        }
    }

    /// An episode that opens by showing `bits` and then a flag on the channel behind them; its answer has
    /// `answer` steps, all scored.
    fn showing(bits: &Array2<f32>, inputs: usize, outputs: usize, answer: usize) -> Self {
        let (length, width) = bits.dim();
        let mut episode = Self::silent(length + 1 + answer, inputs, outputs);
        episode.input.slice_mut(s![..length, ..width]).assign(bits);
        episode.input[[length, width]] = 1.0;
        episode.mask[length + 1..].fill(1.0);
        episode.phases =
            Phase::in_a_row(&[("input", length), ("delimiter", 1), ("answer", answer)]);
        episode.length = length;
        episode
    }

    /// Number of steps, T.
    pub fn steps(&self) -> usize {
        self.mask.len()
    }

    /// Scored output bits: steps in the mask times output channels.
    pub fn scored_bits(&self) -> usize {
        self.mask.iter().filter(|&&m| m > 0.0).count() * self.target.ncols()
    }
}

/// A task and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Emit the sequence that was shown.
    Copy(Copy),
    /// Emit it a given number of times, then an end marker.
    RepeatCopy(RepeatCopy),
}

impl Task {
    /// The name that presets and traces use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Copy(_) => "copy",
            Self::RepeatCopy(_) => "repeat_copy",
        }
    }

    /// Input channels, X.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Copy(task) => task.inputs(),
            Self::RepeatCopy(task) => task.inputs(),
        }
    }

    /// Output channels, Y.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Copy(task) => task.outputs(),
            Self::RepeatCopy(task) => task.outputs(),
        }
    }

    /// Bits per vector.
    pub fn bits(&self) -> usize {
        match self {
            Self::Copy(task) => task.bits,
            Self::RepeatCopy(task) => task.bits,
        }
    }

    /// The range from which the length of a sequence is drawn.
    pub fn length(&self) -> RangeInclusive<usize> {
        match self {
            Self::Copy(task) => task.length.clone(),
            Self::RepeatCopy(task) => task.length.clone(),
        }
    }

    /// The range from which the number of repeats is drawn; `None` where the task has none.
    pub fn repeats(&self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::Copy(_) => None,
            Self::RepeatCopy(task) => Some(task.repeats.clone()),
        }
    }

    /// The same task with every sequence of exactly `length` vectors.
    #[must_use]
    pub fn with_length(mut self, length: usize) -> Self {
        match &mut self {
            Self::Copy(task) => task.length = length..=length,
            Self::RepeatCopy(task) => task.length = length..=length,
        }
        self
    }

    /// The same task with exactly `repeats` repeats; no change where the task has none.
    #[must_use]
    pub fn with_repeats(mut self, repeats: usize) -> Self {
        if let Self::RepeatCopy(task) = &mut self {
            task.repeats = repeats..=repeats;
        }
        self
    }

    /// Episode `index` of the run with this seed: always the same for the same two numbers.
    pub fn episode(&self, seed: u64, index: u64) -> Episode {
        let random = &mut random(seed, index);
        match self {
            Self::Copy(task) => task.episode(random),
            Self::RepeatCopy(task) => task.episode(random),
        }
    }

    /// The episode with these bits, [length, bits] of 0 and 1, instead of random ones.
    ///
    /// `repeats` is ignored by tasks that have none.
    pub fn episode_of(&self, bits: &Array2<f32>, repeats: usize) -> Episode {
        match self {
            Self::Copy(task) => task.episode_of(bits),
            Self::RepeatCopy(task) => task.episode_of(bits, repeats),
        }
    }
}

/// The random stream of episode `index` of the run with this seed.
///
/// The index is spread over all 64 bits first (an odd multiplier, the golden ratio in fixed point), so
/// that neighbouring seeds and neighbouring indices share no stream.
fn random(seed: u64, index: u64) -> Random {
    let stream = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = Random::seed_from_u64(seed).random::<u64>();
    Random::seed_from_u64(mixed ^ stream)
}

/// Fair coin flips, [length, bits].
fn random_bits(random: &mut Random, length: usize, bits: usize) -> Array2<f32> {
    Array2::from_shape_simple_fn((length, bits), || {
        f32::from(u8::from(random.random::<bool>()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_a_function_of_seed_and_index() {
        let task = Task::Copy(Copy {
            bits: 8,
            length: 1..=20,
        });
        assert_eq!(task.episode(7, 3), task.episode(7, 3));
        assert_ne!(task.episode(7, 3), task.episode(7, 4));
        assert_ne!(task.episode(7, 3), task.episode(8, 3));
    }

    #[test]
    fn lengths_repeats_and_bits_are_uniform() {
        let task = Task::RepeatCopy(RepeatCopy {
            bits: 8,
            length: 1..=10,
            repeats: 1..=10,
        });
        let (mut lengths, mut repeats, mut ones, mut all) = ([0; 11], [0; 11], 0.0, 0.0);
        for index in 0..5000 {
            let episode = task.episode(1, index);
            lengths[episode.length] += 1;
            repeats[episode.repeats] += 1;
            let shown = episode.input.slice(ndarray::s![..episode.length, ..8]);
            ones += shown.sum();
            all += shown.len() as f32;
        }
        // 500 expected per value, standard deviation 21.
        assert!(
            lengths[1..]
                .iter()
                .chain(&repeats[1..])
                .all(|&n| (400..600).contains(&n))
        );
        assert!((ones / all - 0.5).abs() < 0.01);
    }
}
