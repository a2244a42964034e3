//! What every task implements, and the ranges of its sizes.

use std::ops::{Range, RangeInclusive};

use ndarray::{Array2, s};
use rand::RngExt;

use super::episode::{Episode, Phase};
use super::fault::Fault;
use super::links::Links;
use super::manual::Manual;
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

/// Lengths that are evaluated beside those of training: what is copied may be longer.
pub(super) const LONGER: [usize; 5] = [10, 20, 30, 50, 120];

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

    /// Makes every episode exactly this size, or the nearest possible one.
    fn set_size(&mut self, size: usize) {
        let size = size.clamp(self.least_size(), self.most_size());
        *self.size_mut() = size..=size;
    }

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
    /// every random bit in it with probability ½ (paper §4). Of real values the mean squared error of
    /// the guesses [`Generate::target_means`].
    fn chance(&self, episode: &Episode) -> f64 {
        let of_one = match self.answer() {
            Answer::Bits => 1.0,
            Answer::Symbols => (self.outputs() as f64).log2(),
            Answer::Values(_) => return episode.squared_error(&self.target_means(episode)),
        };
        episode.scored_bits() as f64 * of_one
    }

    /// The mean target of each channel, [Y], which is the best constant guess of real values.
    fn target_means(&self, episode: &Episode) -> Vec<f64> {
        episode.target_means()
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

    /// The step that shows the vector that is asked for in a step; `None` where another thing is asked for.
    fn shown_in(&self, _: &Episode, _: usize) -> Option<usize> {
        None
    }

    /// True for the parameters of the paper, apart from the sizes.
    fn is_of_the_paper(&self) -> bool {
        false
    }

    /// Sizes that are evaluated if a preset names none.
    fn evaluated_sizes(&mut self) -> Vec<usize> {
        vec![*self.size_mut().end()]
    }

    /// Input channels that can be changed by hand, those of bits or of symbols; 0 if there are none.
    fn editable(&self) -> usize {
        self.bits()
    }

    /// What an episode shows, and the index of the row of bits or of the symbol that it shows in a step.
    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        Some((Manual::of(episode, self.bits(), 0)?, step))
    }

    /// The keys of an episode given by hand; none if it comes from a file.
    fn manual_keys(&self) -> &'static [&'static str] {
        match (self.symbols(), self.bits()) {
            (Some(_), _) => &["symbols"],
            (None, 0) => &[],
            _ => &["bits"],
        }
    }

    /// The values of an episode given by hand, with an example.
    fn manual_example(&self) -> &'static str {
        match self.symbols() {
            Some(_) => r#"symbols such as [3,1,4], or {"symbols": [3,1,4]}"#,
            None => {
                r#"rows of 0 and 1 such as [[0,1],[1,1]], or {"bits": [[0,1],[1,1]], "repeats": 2}"#
            }
        }
    }

    /// Checks an episode given by hand, and makes its sizes those of the task.
    ///
    /// # Errors
    /// The key, the value and what is allowed.
    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        if let Some(known) = self.symbols() {
            check_symbols(given, known, false, None)?;
        }
        self.set_size(given.bits.nrows().max(given.symbols.len()));
        Ok(())
    }

    /// The episode that shows this; `None` if there is none such.
    fn episode_showing(&self, _: &Manual) -> Option<Episode> {
        None
    }

    /// Notes on an episode given by hand.
    fn notes(&self, _: &Manual) -> Vec<String> {
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
            alignment: Vec::new(),
            links: Links::default(),
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

/// Checks the symbols of an episode given by hand, of which `known` have a number, and their count; `allowed` says which
/// counts are allowed where this one is not.
///
/// # Errors
/// The symbol or the count, and what is allowed.
pub(super) fn check_symbols(
    given: &Manual,
    known: usize,
    are_blanks_allowed: bool,
    allowed: Option<String>,
) -> Result<(), Fault> {
    let (symbols, count) = (&given.symbols, given.symbols.len());
    let any = (!(1..=MAX_LENGTH).contains(&count)).then(|| format!("1 to {MAX_LENGTH}"));
    if let Some(allowed) = allowed.or(any) {
        let problem = format!("has {count} values; allowed: {allowed}");
        return Err(Fault::new("symbols", problem));
    }
    let is_right =
        |symbol: &Option<usize>| symbol.map_or(are_blanks_allowed, |symbol| symbol < known);
    let Some(wrong) = symbols.iter().position(|symbol| !is_right(symbol)) else {
        return Ok(());
    };
    let found = symbols[wrong].map_or("null".to_owned(), |symbol| symbol.to_string());
    let problem = format!("is {found}; allowed: 0 to {}", known - 1);
    Err(Fault::new(format!("symbols[{wrong}]"), problem))
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

/// The step that is repeated in a step of an answer, which repeats the sequence from step 0 on.
pub(super) fn repeated_in(episode: &Episode, step: usize) -> Option<usize> {
    let copied = step.checked_sub(episode.source())?;
    (copied < episode.size * episode.repeats.max(1)).then(|| copied % episode.size)
}

/// The alignment of an answer that repeats the sequence from step 0 on.
pub(super) fn repeated(episode: &Episode) -> Vec<Option<Range<usize>>> {
    let of_step = |t: usize| repeated_in(episode, t).map(|row| row..row + 1);
    (0..episode.steps()).map(of_step).collect()
}

/// Fair coin flips, [length, bits].
pub(super) fn random_bits(random: &mut Random, length: usize, bits: usize) -> Array2<f32> {
    Array2::from_shape_simple_fn((length, bits), || {
        f32::from(u8::from(random.random::<bool>()))
    })
}
