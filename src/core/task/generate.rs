//! What every task implements, and the ranges of its sizes.

use std::ops::{Range, RangeInclusive};

use ndarray::{Array2, s};
use rand::RngExt;

use super::episode::{Episode, Phase};
use crate::keys::{Keys, Rule};
use crate::math::{Answer, Random, random};

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

/// Standard deviations of noise.
pub(super) const NOISE: Rule = Rule {
    allowed: "0 to 100",
    holds: |value| (0.0..=100.0).contains(&value),
    ends: [0.0, 100.0],
};

/// The channels of a task that names what it is shown: values and a delimiter, symbols and the end symbol.
#[derive(Clone, Copy, Debug)]
pub struct Alphabet {
    /// The name of an input value.
    pub value: &'static str,
    /// Values of a source step.
    pub values: usize,
    /// Symbols, without the end symbol.
    pub symbols: usize,
}

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

    /// The alphabet of a task that names what it is shown, and ends with the end symbol.
    fn alphabet(&self) -> Option<Alphabet> {
        None
    }

    /// The name of a channel of the input (side 0) or of the output (side 1).
    fn channel_name(&self, side: usize, channel: usize) -> String {
        self.named_channel(side, channel)
    }

    /// [`Generate::channel_name`] by the alphabet, or by the bits and the channels.
    fn named_channel(&self, side: usize, channel: usize) -> String {
        if let Some(all) = self.alphabet() {
            let input = ((all.value, all.values), "delimiter");
            let (first, last) = [input, (("symbol", all.symbols), "end symbol")][side];
            return named(channel, first, &[last]);
        }
        named(channel, ("bit", self.bits()), self.channels()[side])
    }

    /// Symbols of an input given by hand as a list of symbols; `None` for other inputs.
    fn symbols(&self) -> Option<usize> {
        self.alphabet().map(|all| all.symbols)
    }

    /// Input channels, X.
    fn inputs(&self) -> usize {
        let named = self.alphabet().map(|all| all.values + 1);
        named.unwrap_or_else(|| self.bits() + self.channels()[0].len())
    }

    /// Output channels, Y.
    fn outputs(&self) -> usize {
        let named = self.alphabet().map(|all| all.symbols + 1);
        named.unwrap_or_else(|| self.bits() + self.channels()[1].len())
    }

    /// The form of the answers.
    fn answer(&self) -> Answer {
        self.alphabet().map_or(Answer::Bits, |_| Answer::Symbols)
    }

    /// True if the whole input of every episode comes before its answer, as a machine with an encoder needs it.
    fn answers_last(&self) -> bool {
        true
    }

    /// True if source and answer are symbols, which can change places: see [`Episode::reversed`].
    fn is_reversible(&self) -> bool {
        false
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

    /// The largest size that an episode can have.
    fn most_size(&self) -> usize {
        self.measure().most()
    }

    /// The steps of the longest episode.
    fn longest(&self) -> usize;

    /// An upper bound of the steps before the answer.
    fn longest_source(&self) -> usize {
        self.longest()
    }

    /// The steps of the longest free run, whose answer may be twice as long as its target.
    fn longest_run(&self) -> usize {
        let answer = self.longest().saturating_sub(self.longest_source());
        self.longest() + self.alphabet().map_or(0, |_| answer)
    }

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

    /// The source steps that the answer of each step comes from, [T]; `None` in steps without one. Empty where the task
    /// does not say it.
    fn alignment(&self, episode: &Episode) -> Vec<Option<Range<usize>>> {
        episode.alignment.clone()
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
            alignment: Vec::new(),
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

    /// An episode that begins with the input `source`, [S, values], and a delimiter; its answer has the symbols of `named`,
    /// each with its source steps, then the end symbol.
    fn naming(&self, source: &Array2<f32>, named: &[(usize, Range<usize>)]) -> Episode {
        let (steps, count) = (source.nrows(), named.len());
        let mut episode = self.showing(source, count + 1);
        episode.phases = Phase::in_a_row(&[
            ("input", steps),
            ("delimiter", 1),
            ("answer", count),
            ("end", 1),
        ]);
        episode.alignment = vec![None; episode.steps()];
        for (t, (symbol, from)) in (steps + 1..).zip(named) {
            episode.target[[t, *symbol]] = 1.0;
            episode.alignment[t] = Some(from.clone());
        }
        episode.target[[steps + 1 + count, self.outputs() - 1]] = 1.0;
        episode
    }
}

/// The name of a channel: one of several with a name and a number, or one of `more` behind them.
pub(super) fn named(channel: usize, (name, count): (&str, usize), more: &[&str]) -> String {
    let Some(other) = channel.checked_sub(count) else {
        return format!("{name} {channel}");
    };
    let name = more.get(other).copied();
    name.map_or_else(|| format!("channel {channel}"), str::to_owned)
}

/// Shuffles the numbers 0 .. `count`.
pub(super) fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        all.swap(last, random.random_range(0..=last));
    }
    all
}

/// The stream that fixes dictionaries, patterns and prototypes: apart from those of episodes.
pub(super) fn fixed(dictionary: u64) -> Random {
    random(dictionary, u64::MAX)
}

/// Returns a number with mean 0 and variance 1 whose density is normal to 1 %: 64 coins and a part of one. No processor's
/// logarithm decides what an episode is.
pub(super) fn normal(random: &mut Random) -> f64 {
    let coins = f64::from(random.random::<u64>().count_ones());
    (coins - 32.5 + random.random::<f64>()) / (16.0_f64 + 1.0 / 12.0).sqrt()
}

/// The alignment of an answer that repeats the sequence from step 0 on.
pub(super) fn repeated(episode: &Episode) -> Vec<Option<Range<usize>>> {
    let (source, size) = (episode.source(), episode.size);
    let of_step = |t: usize| {
        let copied = t.checked_sub(source)?;
        let row = (copied < size * episode.repeats).then(|| copied % size)?;
        Some(row..row + 1)
    };
    (0..episode.steps()).map(of_step).collect()
}

/// Fair coin flips, [length, bits].
pub(super) fn random_bits(random: &mut Random, length: usize, bits: usize) -> Array2<f32> {
    Array2::from_shape_simple_fn((length, bits), || {
        f32::from(u8::from(random.random::<bool>()))
    })
}
