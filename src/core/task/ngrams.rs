//! Dynamic N-grams (paper §4.4): predict the next bit of a sequence whose statistics are sampled anew for
//! every episode.
//!
//! The probability that a bit is 1 depends on the `context` bits before it: a table of 2^context numbers,
//! each drawn from Beta(½, ½) at the start of the episode and shown to no one. The first `context` bits
//! have no context yet and are fair coins.
//!
//! Every bit is predicted before it is seen, the first one too: the target of a step is a bit of the
//! sequence, its input is the bit before, and the first input is silence. So there is one input and one
//! output, as the paper's parameter counts say (331,905 in table 3), as many steps as bits, and every step
//! is scored. Nothing marks the start: the machine knows it by its initial state. Chance is 1 bit per step,
//! 200 bits with the paper's length; the optimal predictor ([`Ngrams::optimal`]) needs 133.2 on average, the
//! coins at the start included (±0.03 over two million sequences; one sequence is easily 35 bits off).
//!
//! One episode with a context of 2 bits, length 8, time to the right (`.` is 0):
//!
//! ```text
//!             con|prediction
//! input  bit0 . 1 . . 1 1 . 1
//! target bit0 1 . . 1 1 . 1 .
//! mask        1 1 1 1 1 1 1 1
//! ```

use std::ops::RangeInclusive;

use ndarray::s;
use rand::RngExt;

use super::generate::{Generate, LENGTHS};
use super::{Episode, Manual, Phase};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::Random;

/// Parameters of dynamic N-grams; the defaults are the paper's 6-grams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ngrams {
    /// Bits that the next one depends on, 1 to 16; default 5. N-grams have N − 1.
    pub context: usize,
    /// Bits per sequence, sampled uniformly; ≥ 1; default 200.
    pub length: RangeInclusive<usize>,
}

/// The predictions of a predictor for an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Probability that the bit of a step is 1, before it is seen, [T].
    pub probability: Vec<f64>,
    /// −log₂ of the probability given to the bit that came, [T].
    pub loss: Vec<f64>,
}

impl Prediction {
    /// The summed loss in bits.
    pub fn bits(&self) -> f64 {
        self.loss.iter().sum()
    }
}

impl Ngrams {
    /// The parameters of the paper.
    pub const PAPER: Self = Self {
        context: 5,
        length: 200..=200,
    };

    /// The episode with this sequence.
    pub fn episode_of(&self, bits: &[bool]) -> Episode {
        let length = bits.len();
        let mut episode = self.silent(length);
        for (step, &bit) in bits.iter().enumerate() {
            let bit = f32::from(u8::from(bit));
            episode.target[[step, 0]] = bit;
            if step + 1 < length {
                episode.input[[step + 1, 0]] = bit;
            }
        }
        episode.mask.fill(1.0);
        let coins = length.min(self.context);
        episode.phases = Phase::in_a_row(&[("context", coins), ("prediction", length - coins)]);
        episode.size = length;
        episode
    }

    /// The optimal predictor (paper §4.4, after Murphy 2012): P(1 | N₁, N₀, c) = (N₁ + ½) / (N₁ + N₀ + 1),
    /// where N₁ and N₀ count the ones and zeros that followed the context c so far; ½ for the coins.
    ///
    /// It is the mean of the posterior of the table's entry, so no predictor that does not know the table
    /// has a lower expected loss.
    pub fn optimal(&self, episode: &Episode) -> Prediction {
        let mut seen = vec![[0.0_f64; 2]; 1 << self.context];
        let mut context = 0;
        let mut prediction = Prediction {
            probability: Vec::with_capacity(episode.steps()),
            loss: Vec::with_capacity(episode.steps()),
        };
        for (step, &target) in episode.target.column(0).iter().enumerate() {
            let bit = target > 0.5;
            let mut one = 0.5;
            if step >= self.context {
                let [zeros, ones] = &mut seen[context];
                one = (*ones + 0.5) / (*ones + *zeros + 1.0);
                *(if bit { ones } else { zeros }) += 1.0;
            }
            prediction.probability.push(one);
            prediction
                .loss
                .push(-(if bit { one } else { 1.0 - one }).log2());
            context = self.after(context, bit);
        }
        prediction
    }

    /// The context after one more bit, as an index into the table: the oldest bit is the highest.
    fn after(&self, context: usize, bit: bool) -> usize {
        (context << 1 | usize::from(bit)) & ((1 << self.context) - 1)
    }

    /// The probability of a 1 after every context, [2^context].
    fn table(&self, random: &mut Random) -> Vec<f64> {
        (0..1 << self.context).map(|_| beta_half(random)).collect()
    }

    /// `length` bits: coins first, then bits with the probabilities of the table.
    fn sequence(&self, random: &mut Random, table: &[f64], length: usize) -> Vec<bool> {
        let mut context = 0;
        let bit = |step: usize| {
            let one = if step < self.context {
                0.5
            } else {
                table[context]
            };
            let bit = random.random::<f64>() < one;
            context = self.after(context, bit);
            bit
        };
        (0..length).map(bit).collect()
    }
}

/// Beta(½, ½), the arcsine distribution: cos² of a uniform angle, by a point in the disc (von Neumann), so
/// that no processor's cosine has a say in what an episode is.
fn beta_half(random: &mut Random) -> f64 {
    loop {
        let (x, y) = (random.random::<f64>(), random.random::<f64>());
        let square = x * x + y * y;
        if square > 0.0 && square <= 1.0 {
            return x * x / square;
        }
    }
}

impl Keys for Ngrams {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("context", Integer(&mut self.context, 1..=16), "number of preceding bits that the next bit depends on; 5 gives 6-grams");
        to.key("length", Range(&mut self.length, LENGTHS), "bits per sequence");
    }
}

impl Generate for Ngrams {
    fn answers_last(&self) -> bool {
        false
    }

    fn bits(&self) -> usize {
        1
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        *self.length.end()
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let table = self.table(random);
        self.episode_of(&self.sequence(random, &table, length))
    }

    fn optimum(&self, episode: &Episode) -> Option<f64> {
        Some(self.optimal(episode).bits())
    }

    fn is_of_the_paper(&self) -> bool {
        self.context == Self::PAPER.context
    }

    /// Every bit is seen in the step after the one that predicts it.
    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let bits = episode.target.slice(s![.., ..1]).to_owned();
        let shown = Manual {
            bits,
            ..Manual::default()
        };
        Some((shown, step.checked_sub(1)?))
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        let bits: Vec<bool> = given.bits.iter().map(|&bit| bit > 0.5).collect();
        Some(self.episode_of(&bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::tests::picture;
    use crate::task::{Task, random};

    /// 1 0 0 1 1 0 1 0, as in the docs.
    const BITS: [bool; 8] = [true, false, false, true, true, false, true, false];

    fn small() -> Ngrams {
        Ngrams {
            context: 2,
            length: 8..=8,
        }
    }

    #[test]
    fn docs_example_is_reproduced() {
        let episode = small().episode_of(&BITS);
        let (input, target, mask) = picture(include_str!("ngrams.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        assert_eq!(
            phases.collect::<Vec<_>>(),
            [("context", 0, 2), ("prediction", 2, 8)]
        );
        assert_eq!((episode.size, episode.scored_bits()), (8, 8));
        let short = small().episode_of(&BITS[..1]);
        assert_eq!((short.steps(), short.phases.len()), (1, 1));
    }

    #[test]
    fn the_context_is_the_bits_before_with_the_oldest_first() {
        // After 00 and 11 a 1, after 01 and 10 a 0; the first two are whatever the coins say.
        let table = [1.0, 0.0, 0.0, 1.0];
        for seed in 0..20 {
            let bits = small().sequence(&mut random(seed, 0), &table, 50);
            for three in bits.windows(3) {
                assert_eq!(three[2], three[0] == three[1]);
            }
        }
        // After 01 a 1, after everything else a 0: one 1 at most follows, and only a 01 makes one.
        let table = [0.0, 1.0, 0.0, 0.0];
        for seed in 0..20 {
            let bits = small().sequence(&mut random(seed, 0), &table, 50);
            for three in bits.windows(3) {
                assert_eq!(three[2], !three[0] && three[1]);
            }
        }
    }

    #[test]
    fn the_table_is_beta_one_half_one_half() {
        let task = Ngrams::PAPER;
        let mut values = Vec::new();
        for index in 0..5000 {
            let table = task.table(&mut random(1, index));
            assert_eq!(table.len(), 32);
            values.extend(table);
        }
        let count = values.len() as f64;
        let moment = |power: i32| values.iter().map(|p| (p - 0.5).powi(power)).sum::<f64>() / count;
        let mean = values.iter().sum::<f64>() / count;
        // Standard deviations of these estimates with 160,000 values: 0.0009, 0.0002 and 0.00006.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!((moment(2) - 1.0 / 8.0).abs() < 0.001, "{}", moment(2));
        assert!((moment(4) - 3.0 / 128.0).abs() < 0.0003, "{}", moment(4));
        // The arcsine law: a tenth of the mass below sin²(π/20).
        let edge = (std::f64::consts::PI / 20.0).sin().powi(2);
        let below = values.iter().filter(|p| **p < edge).count() as f64 / count;
        assert!((below - 0.1).abs() < 0.004, "{below}");
    }

    #[test]
    fn the_first_bits_are_fair_and_the_others_follow_the_table() {
        let task = Ngrams::PAPER;
        let mut coins = [0.0; 5];
        let (mut off, mut spread) = (0.0, 0.0);
        for index in 0..2000 {
            let random = &mut random(2, index);
            let table = task.table(random);
            let bits = task.sequence(random, &table, 200);
            for (count, &bit) in coins.iter_mut().zip(&bits) {
                *count += f64::from(u8::from(bit));
            }
            for six in bits.windows(6) {
                let context = six[..5].iter().fold(0, |c, &bit| c << 1 | usize::from(bit));
                let one = table[context];
                off += f64::from(u8::from(six[5])) - one;
                spread += one * (1.0 - one);
            }
        }
        assert!(coins.iter().all(|n| (n - 1000.0).abs() < 90.0), "{coins:?}");
        assert!(
            off.abs() < 4.0 * spread.sqrt(),
            "{off} of ±{}",
            spread.sqrt()
        );
    }

    #[test]
    fn the_optimal_predictor_by_hand() {
        let task = small();
        let prediction = task.optimal(&task.episode_of(&BITS));
        // Contexts from the third bit: 10, 00, 01, 11, 10, 01; bits 0, 1, 1, 0, 1, 0.
        assert_eq!(
            prediction.probability,
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.75]
        );
        assert_eq!(prediction.loss, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
        assert_eq!(prediction.bits(), 10.0);
        let ones = task.optimal(&task.episode_of(&[true; 5]));
        assert_eq!(ones.probability, [0.5, 0.5, 0.5, 0.75, 2.5 / 3.0]);
    }

    #[test]
    fn the_optimum_of_the_paper() {
        let task = Task::Ngrams(Ngrams::PAPER);
        let episodes = 100_000;
        let bits: Vec<f64> = (0..episodes)
            .filter_map(|index| task.optimum(&task.episode(1, index)))
            .collect();
        let count = bits.len() as f64;
        let mean = bits.iter().sum::<f64>() / count;
        let variance = bits.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / count;
        let deviation = (variance / count).sqrt();
        assert!((mean - 133.4).abs() < 0.4, "{mean} ± {deviation}");
        assert!(deviation < 0.15, "{deviation}");
    }
}
