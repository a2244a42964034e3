//! Repeat copy (paper §4.2): see a sequence and a count, emit the sequence that many times, then an end marker.
//!
//! The count is one scalar on its own channel, normalised to mean 0 and variance 1 over the counts 1 to
//! 10: (r − 5.5) / 2.8723. A flag on the delimiter channel says when it is given, because a count of 5
//! or 6 is close to silence.
//!
//! One episode with 3 bits, length 2 and 3 repeats, channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input| answer
//! input  bit0 1 . . . . . . . . .
//!        bit1 . 1 . . . . . . . .
//!        bit2 1 1 . . . . . . . .
//!        delim. . 1 . . . . . . .
//!        count. . c . . . . . . .     c = (3 − 5.5) / 2.8723 = −0.8704
//! target bit0 . . . 1 . 1 . 1 . .
//!        bit1 . . . . 1 . 1 . 1 .
//!        bit2 . . . 1 1 1 1 1 1 .
//!        end  . . . . . . . . . 1
//! mask        . . . 1 1 1 1 1 1 1
//! ```
//!
//! With the count in unary, it has a step for each repeat: 1 on the count channel. The delimiter follows and is the
//! last step before the answer. A machine can write a mark for each repeat and walk along the marks. The same episode:
//!
//! ```text
//!             input|count| | answer
//! input  bit0 1 . . . . . . . . . . . .
//!        bit1 . 1 . . . . . . . . . . .
//!        bit2 1 1 . . . . . . . . . . .
//!        delim. . . . . 1 . . . . . . .
//!        count. . 1 1 1 . . . . . . . .
//! mask        . . . . . . 1 1 1 1 1 1 1
//! ```

use std::ops::{Range as Steps, RangeInclusive};

use ndarray::{Array2, s};
use rand::RngExt;

use super::generate::{
    BITS, Generate, LENGTHS, LONGER, MAX_REPEATS, random_bits, repeated, repeated_in,
};
use super::{Episode, Fault, Manual, Phase};
use crate::keys::Field::{Choice, Integer, Range};
use crate::keys::{Keys, Table, Words};
use crate::math::Random;

/// Mean of the counts 1 to 10.
const COUNT_MEAN: f32 = 5.5;
/// Standard deviation of the counts 1 to 10, sqrt(99 / 12).
const COUNT_DEVIATION: f32 = 2.872_281_3;

/// The form in which the machine is given the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One normalised number, in the step of the delimiter.
    Scalar,
    /// A step for each repeat.
    Unary,
}

impl Words for Count {
    const WORDS: &'static [(&'static str, Self)] =
        &[("scalar", Self::Scalar), ("unary", Self::Unary)];
}

impl Count {
    /// Number of steps that the count takes, apart from the delimiter.
    fn steps(self, repeats: usize) -> usize {
        match self {
            Self::Scalar => 0,
            Self::Unary => repeats,
        }
    }
}

/// Parameters of the repeat-copy task. The paper: lengths 1 to 10, repeats 1 to 10; its text says 8
/// bits, its parameter counts 6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatCopy {
    /// Bits per vector, ≥ 1.
    pub bits: usize,
    /// Vectors per sequence, sampled uniformly; ≥ 1.
    pub length: RangeInclusive<usize>,
    /// Repeats, sampled uniformly; ≥ 1.
    pub repeats: RangeInclusive<usize>,
    /// The form of the count; default `scalar`, as in the paper.
    pub count: Count,
}

impl RepeatCopy {
    /// An example for a preset; there is no default.
    pub const EXAMPLE: Self = Self {
        bits: 8,
        length: 1..=20,
        repeats: 1..=10,
        count: Count::Scalar,
    };

    /// A count as the machine sees it: mean 0 and variance 1 over 1 to 10.
    pub fn normalised_count(repeats: usize) -> f32 {
        (repeats as f32 - COUNT_MEAN) / COUNT_DEVIATION
    }

    /// The episode that shows these bits, [length, bits] of 0 and 1, and asks for them `repeats` times.
    pub fn episode_of(&self, bits: &Array2<f32>, repeats: usize) -> Episode {
        let (length, copies) = (bits.nrows(), bits.nrows() * repeats);
        let delimiter = length + self.count.steps(repeats);
        let answer = delimiter + 1;
        let mut episode = self.silent(answer + copies + 1);
        let mut shown = episode.input.slice_mut(s![..length, ..self.bits]);
        shown.assign(bits);
        episode.input[[delimiter, self.bits]] = 1.0;
        let mut count = episode.input.column_mut(self.bits + 1);
        match self.count {
            Count::Scalar => count[delimiter] = Self::normalised_count(repeats),
            Count::Unary => count.slice_mut(s![length..delimiter]).fill(1.0),
        }
        episode.mask[answer..].fill(1.0);
        let phases = [
            ("input", length),
            ("count", delimiter - length),
            ("delimiter", 1),
            ("answer", copies),
            ("end", 1),
        ];
        episode.phases = Phase::in_a_row(&phases);
        episode.size = length;
        for start in (answer..answer + copies).step_by(length) {
            let mut copy = episode
                .target
                .slice_mut(s![start..start + length, ..self.bits]);
            copy.assign(bits);
        }
        episode.target[[answer + copies, self.bits]] = 1.0;
        episode.repeats = repeats;
        episode
    }
}

impl Keys for RepeatCopy {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("bits", Integer(&mut self.bits, BITS), "bits per vector");
        to.required("length", Range(&mut self.length, LENGTHS), "vectors per sequence");
        to.required("repeats", Range(&mut self.repeats, 1..=MAX_REPEATS), "number of copies in the answer");
        to.added("count", Choice(&mut self.count), "form of the count: one normalised number with the delimiter, as in the paper; or a step for each repeat before the delimiter");
    }
}

impl Generate for RepeatCopy {
    fn bits(&self) -> usize {
        self.bits
    }

    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&["delimiter", "count"], &["end marker"]]
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        self.longest_source() + self.length.end() * self.repeats.end() + 1
    }

    fn longest_source(&self) -> usize {
        self.length.end() + self.count.steps(*self.repeats.end()) + 1
    }

    fn alignment(&self, episode: &Episode) -> Vec<Option<Steps<usize>>> {
        repeated(episode)
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let repeats = random.random_range(self.repeats.clone());
        self.episode_of(&random_bits(random, length, self.bits), repeats)
    }

    /// The end marker is no random bit: it stands where the count says.
    fn chance(&self, episode: &Episode) -> f64 {
        (episode.scored_steps().saturating_sub(1) * self.bits) as f64
    }

    fn shown_in(&self, episode: &Episode, step: usize) -> Option<usize> {
        repeated_in(episode, step)
    }

    /// Of repeat copy the paper gives two widths.
    fn is_of_the_paper(&self) -> bool {
        [6, 8].contains(&self.bits) && self.count == Count::Scalar
    }

    fn evaluated_sizes(&mut self) -> Vec<usize> {
        LONGER.to_vec()
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["bits", "repeats"]
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        if !(1..=MAX_REPEATS).contains(&given.repeats) {
            let problem = format!("is out of range; allowed: 1 to {MAX_REPEATS}");
            return Err(Fault::new("repeats", problem));
        }
        self.repeats = given.repeats..=given.repeats;
        self.set_size(given.bits.nrows());
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.bits, given.repeats))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn docs_example_is_reproduced() {
        let task = RepeatCopy {
            bits: 3,
            length: 1..=2,
            repeats: 1..=3,
            count: Count::Scalar,
        };
        let bits = array![[1., 0., 1.], [0., 1., 1.]];
        let episode = task.episode_of(&bits, 3);
        assert_eq!(episode.steps(), 10);
        assert_eq!(episode.input.slice(s![..2, ..3]), bits);
        assert_eq!(
            episode.input.row(2).to_vec(),
            [0., 0., 0., 1., RepeatCopy::normalised_count(3)]
        );
        assert_eq!(episode.input.slice(s![3.., ..]).sum(), 0.0);
        for start in [3, 5, 7] {
            assert_eq!(episode.target.slice(s![start..start + 2, ..3]), bits);
        }
        assert_eq!(episode.target.row(9).to_vec(), [0., 0., 0., 1.]);
        assert_eq!(episode.target.column(3).sum(), 1.0);
        assert_eq!(episode.mask, [0., 0., 0., 1., 1., 1., 1., 1., 1., 1.]);
        // The end marker copies nothing.
        let alignment = task.alignment(&episode);
        assert_eq!(alignment[..3], [None, None, None]);
        let copied = [0, 1, 0, 1, 0, 1].map(|row| Some(row..row + 1));
        assert_eq!((&alignment[3..9], &alignment[9]), (&copied[..], &None));
    }

    #[test]
    fn a_count_in_unary_has_a_step_for_each_repeat() {
        let task = RepeatCopy {
            bits: 3,
            length: 1..=2,
            repeats: 1..=3,
            count: Count::Unary,
        };
        let bits = array![[1., 0., 1.], [0., 1., 1.]];
        let scalar = RepeatCopy {
            count: Count::Scalar,
            ..task.clone()
        };
        let scalar = scalar.episode_of(&bits, 3);
        let episode = task.episode_of(&bits, 3);
        assert_eq!(episode.input.slice(s![..2, ..3]), bits);
        assert_eq!(
            episode.input.column(3).to_vec()[..6],
            [0., 0., 0., 0., 0., 1.]
        );
        assert_eq!(
            episode.input.column(4).to_vec()[..6],
            [0., 0., 1., 1., 1., 0.]
        );
        assert_eq!(episode.input.slice(s![6.., ..]).sum(), 0.0);
        // Answer, mask and alignment are those of a scalar, three steps later.
        assert_eq!(
            episode.target.slice(s![6.., ..]),
            scalar.target.slice(s![3.., ..])
        );
        assert_eq!(episode.target.slice(s![..6, ..]).sum(), 0.0);
        assert_eq!(episode.mask[6..], scalar.mask[3..]);
        assert_eq!(episode.mask[..6], [0.0; 6]);
        assert_eq!(task.alignment(&episode)[6..], repeated(&scalar)[3..]);
        let phases = |episode: &Episode| -> Vec<(String, usize)> {
            let phases = episode.phases.iter();
            phases
                .map(|p| (p.name.to_string(), p.end - p.start))
                .collect()
        };
        let counted = [
            ("input", 2),
            ("count", 3),
            ("delimiter", 1),
            ("answer", 6),
            ("end", 1),
        ];
        let counted = counted.map(|(name, steps)| (name.to_owned(), steps));
        assert_eq!(phases(&episode), counted);
        assert!(!phases(&scalar).iter().any(|(name, _)| name == "count"));
        assert_eq!(task.longest(), episode.steps());
        assert_eq!((task.longest_source(), episode.source()), (6, 6));
        assert_eq!(task.chance(&episode), 18.0);
    }

    #[test]
    fn counts_have_mean_zero_and_variance_one() {
        let counts: Vec<f32> = (1..=10).map(RepeatCopy::normalised_count).collect();
        let mean = counts.iter().sum::<f32>() / 10.0;
        let variance = counts.iter().map(|c| c * c).sum::<f32>() / 10.0;
        assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6);
    }
}
