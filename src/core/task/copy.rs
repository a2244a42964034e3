//! Copy (paper §4.1): see a sequence of random bit vectors, then a delimiter, then emit the sequence.
//!
//! One episode with 3 bits and length 4, channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input   | answer
//! input  bit0 1 . 1 . . . . . .
//!        bit1 . 1 1 . . . . . .
//!        bit2 1 1 . . . . . . .
//!        delim. . . . 1 . . . .
//! target bit0 . . . . . 1 . 1 .
//!        bit1 . . . . . . 1 1 .
//!        bit2 . . . . . 1 1 . .
//! mask        . . . . . 1 1 1 1
//! ```

use std::ops::{Range as Steps, RangeInclusive};

use ndarray::{Array2, s};
use rand::RngExt;

use super::generate::{BITS, Generate, LENGTHS, LONGER, random_bits, repeated, repeated_in};
use super::{Episode, Manual};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::Random;

/// Parameters of the copy task. The paper: 8 bits, lengths 1 to 20.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Bits per vector, ≥ 1.
    pub bits: usize,
    /// Vectors per sequence, sampled uniformly; ≥ 1.
    pub length: RangeInclusive<usize>,
}

impl Copy {
    /// An example for a preset; there is no default.
    pub const EXAMPLE: Self = Self {
        bits: 8,
        length: 1..=20,
    };

    /// The episode that shows these bits, [length, bits] of 0 and 1.
    pub fn episode_of(&self, bits: &Array2<f32>) -> Episode {
        let length = bits.nrows();
        let mut episode = self.showing(bits, length);
        episode.target.slice_mut(s![length + 1.., ..]).assign(bits);
        episode
    }
}

impl Keys for Copy {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("bits", Integer(&mut self.bits, BITS), "bits per vector");
        to.required("length", Range(&mut self.length, LENGTHS), "vectors per sequence");
    }
}

impl Generate for Copy {
    fn bits(&self) -> usize {
        self.bits
    }

    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&["delimiter"], &[]]
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        2 * self.length.end() + 1
    }

    fn longest_source(&self) -> usize {
        self.length.end() + 1
    }

    fn alignment(&self, episode: &Episode) -> Vec<Option<Steps<usize>>> {
        repeated(episode)
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        self.episode_of(&random_bits(random, length, self.bits))
    }

    fn shown_in(&self, episode: &Episode, step: usize) -> Option<usize> {
        repeated_in(episode, step)
    }

    fn is_of_the_paper(&self) -> bool {
        self.bits == 8
    }

    fn evaluated_sizes(&mut self) -> Vec<usize> {
        LONGER.to_vec()
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn docs_example_is_reproduced() {
        let task = Copy {
            bits: 3,
            length: 1..=4,
        };
        let bits = array![[1., 0., 1.], [0., 1., 1.], [1., 1., 0.], [0., 0., 0.]];
        let episode = task.episode_of(&bits);
        assert_eq!(episode.steps(), 9);
        assert_eq!(
            episode.input.column(3).to_vec(),
            [0., 0., 0., 0., 1., 0., 0., 0., 0.]
        );
        assert_eq!(episode.input.slice(s![..4, ..3]), bits);
        assert_eq!(episode.input.slice(s![5.., ..]).sum(), 0.0);
        assert_eq!(episode.target.slice(s![5.., ..]), bits);
        assert_eq!(episode.target.slice(s![..5, ..]).sum(), 0.0);
        assert_eq!(episode.mask, [0., 0., 0., 0., 0., 1., 1., 1., 1.]);
        assert_eq!(episode.scored_bits(), 12);
    }
}
