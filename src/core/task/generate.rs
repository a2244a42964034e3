//! What every task implements, and the ranges of its sizes.

use std::ops::RangeInclusive;

use ndarray::{Array2, s};
use rand::RngExt;

use super::episode::{Episode, Phase};
use crate::keys::Keys;
use crate::math::{Answer, Random};

/// The unit of the size of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Steps of a sequence.
    Length,
    /// Things that are shown, of one or more vectors each.
    Items,
}

impl Measure {
    /// The largest size there is.
    pub fn most(self) -> usize {
        match self {
            Self::Length => MAX_LENGTH,
            Self::Items => MAX_ITEMS,
        }
    }

    /// The name that presets, traces and options use: `length` or `items`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Items => "items",
        }
    }

    /// The name of several sizes: `lengths` or `items`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Length => "lengths",
            Self::Items => "items",
        }
    }
}

/// The largest length of a sequence, in vectors.
pub const MAX_LENGTH: usize = 100_000;
/// The most items in an episode.
pub const MAX_ITEMS: usize = 10_000;
/// The largest number of repeats.
pub const MAX_REPEATS: usize = 10_000;
/// Numbers of bits per vector.
pub(super) const BITS: RangeInclusive<usize> = 1..=1024;
/// Lengths of a sequence, in vectors.
pub(super) const LENGTHS: RangeInclusive<usize> = 1..=MAX_LENGTH;

/// A task: generates episodes, and describes them.
pub trait Generate: Keys {
    /// Bits per vector; they are the first channels of input and output. 0 if its vectors are not sampled here.
    fn bits(&self) -> usize {
        0
    }

    /// The names of the channels behind the bits, of the input and of the output.
    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&[], &[]]
    }

    /// The name of a channel of the input (side 0) or of the output (side 1).
    fn channel_name(&self, side: usize, channel: usize) -> String {
        let Some(other) = channel.checked_sub(self.bits()) else {
            return format!("bit {channel}");
        };
        let name = self.channels()[side].get(other);
        name.map_or_else(|| format!("channel {channel}"), ToString::to_string)
    }

    /// Input channels, X.
    fn inputs(&self) -> usize {
        self.bits() + self.channels()[0].len()
    }

    /// Output channels, Y.
    fn outputs(&self) -> usize {
        self.bits() + self.channels()[1].len()
    }

    /// The form of the answers.
    fn answer(&self) -> Answer {
        Answer::Bits
    }

    /// True if the whole input of every episode comes before its answer, as a machine with an encoder needs it.
    fn answers_last(&self) -> bool {
        true
    }

    /// Returns the unit of the size of an episode.
    fn measure(&self) -> Measure {
        Measure::Length
    }

    /// Returns the range from which the size of an episode is sampled uniformly, to write.
    fn size_mut(&mut self) -> &mut RangeInclusive<usize>;

    /// The least size that an episode can have: 1, or 2 items for associative recall.
    fn least_size(&self) -> usize {
        1
    }

    /// The steps of the longest episode.
    fn longest(&self) -> usize;

    /// Samples an episode.
    fn sample(&self, random: &mut Random) -> Episode;

    /// Chance level of an episode in bits: the cost of knowing the form of the answer, but guessing
    /// every random bit in it with probability ½ (paper §4).
    fn chance(&self, episode: &Episode) -> f64 {
        let of_one = match self.answer() {
            Answer::Bits => 1.0,
            Answer::Symbols => (self.outputs() as f64).log2(),
        };
        episode.scored_bits() as f64 * of_one
    }

    /// Returns the loss of the best possible predictor, in bits; `None` if the input determines the answer, so that the
    /// optimum is 0.
    fn optimum(&self, _: &Episode) -> Option<f64> {
        None
    }

    /// The source step that the answer of each step comes from, [T]; `None` in steps without one. Empty where the task
    /// does not say it.
    fn alignment(&self, _: &Episode) -> Vec<Option<usize>> {
        Vec::new()
    }

    /// An episode without input and answer, to be filled in.
    fn silent(&self, steps: usize) -> Episode {
        Episode {
            input: Array2::zeros((steps, self.inputs())),
            target: Array2::zeros((steps, self.outputs())),
            answer: self.answer(),
            mask: vec![0.0; steps],
            phases: Vec::new(),
            size: 0,
            repeats: 1,
        }
    }

    /// An episode that begins with the input `bits` and a flag on the channel behind them; its answer has `answer`
    /// steps, all scored.
    fn showing(&self, bits: &Array2<f32>, answer: usize) -> Episode {
        let (length, width) = bits.dim();
        let mut episode = self.silent(length + 1 + answer);
        episode.input.slice_mut(s![..length, ..width]).assign(bits);
        episode.input[[length, width]] = 1.0;
        episode.mask[length + 1..].fill(1.0);
        episode.phases =
            Phase::in_a_row(&[("input", length), ("delimiter", 1), ("answer", answer)]);
        episode.size = length;
        episode
    }
}

/// The alignment of an answer that repeats the sequence from step 0 on.
pub(super) fn repeated(episode: &Episode) -> Vec<Option<usize>> {
    let (source, size) = (episode.source(), episode.size);
    let of_step = |t: usize| {
        let copied = t.checked_sub(source)?;
        (copied < size * episode.repeats).then(|| copied % size)
    };
    (0..episode.steps()).map(of_step).collect()
}

/// Fair coin flips, [length, bits].
pub(super) fn random_bits(random: &mut Random, length: usize, bits: usize) -> Array2<f32> {
    Array2::from_shape_simple_fn((length, bits), || {
        f32::from(u8::from(random.random::<bool>()))
    })
}
