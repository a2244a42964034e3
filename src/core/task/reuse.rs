//! Reuse: items arrive in groups, and each group is asked for before the next one comes. There are many more items in an
//! episode than memory rows, so rows whose items have been asked for must be used again.
//!
//! One episode with 3 bits, 5 items, 2 of them together; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             inp.|q|ans|inp.|q|ans|i|q|a
//! input  bit0 1 . . . . . 1 . . . 1 . .
//!        bit1 . 1 . . . 1 1 . . . . . .
//!        bit2 1 1 . . . . 1 . . . 1 . .
//!        query. . 1 . . . . 1 . . . 1 .
//! target bit0 . . . 1 . . . . . 1 . . 1
//!        bit1 . . . . 1 . . . 1 1 . . .
//!        bit2 . . . 1 1 . . . . 1 . . 1
//! mask        . . . 1 1 . . . 1 1 . . 1
//! ```

use std::ops::{Range as Steps, RangeInclusive};

use ndarray::{Array2, Axis, s};
use rand::RngExt;

use super::generate::{BITS, Generate, MAX_ITEMS, Measure, random_bits};
use super::{Episode, Manual, Phase};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::Random;

/// Parameters of reuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// Bits per item, ≥ 1; default 6.
    pub bits: usize,
    /// Items that arrive before they are asked for, ≥ 1; default 3. The last group may have fewer.
    pub together: usize,
    /// Items of an episode, sampled uniformly; default 3 to 30.
    pub items: RangeInclusive<usize>,
}

impl Reuse {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        bits: 6,
        together: 3,
        items: 3..=30,
    };

    /// Steps of an episode with this many items.
    fn steps(&self, items: usize) -> usize {
        2 * items + items.div_ceil(self.together)
    }

    /// The first step and the first item of every group, and the number of its items.
    fn groups(&self, items: usize) -> impl Iterator<Item = [usize; 3]> {
        let together = self.together;
        let firsts = (0..items).step_by(together).enumerate();
        firsts.map(move |(group, first)| {
            let start = group * (2 * together + 1);
            [start, first, together.min(items - first)]
        })
    }

    /// The episode with these items, [items, bits] of 0 and 1.
    pub fn episode_of(&self, bits: &Array2<f32>) -> Episode {
        let (items, width) = bits.dim();
        let mut episode = self.silent(self.steps(items));
        let mut phases = Vec::new();
        for [start, first, count] in self.groups(items) {
            let (query, shown) = (start + count, bits.slice(s![first..first + count, ..]));
            let mut input = episode.input.slice_mut(s![start..query, ..width]);
            input.assign(&shown);
            episode.input[[query, width]] = 1.0;
            let answer = query + 1..query + 1 + count;
            let mut target = episode.target.slice_mut(s![answer.clone(), ..]);
            target.assign(&shown);
            episode.mask[answer].fill(1.0);
            phases.extend([("input", count), ("query", 1), ("answer", count)]);
        }
        episode.phases = Phase::in_a_row(&phases);
        episode.size = items;
        episode
    }
}

impl Keys for Reuse {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("bits", Integer(&mut self.bits, BITS), "bits per item");
        to.key("together", Integer(&mut self.together, 1..=1000), "items that arrive before they are asked for");
        to.key("items", Range(&mut self.items, 1..=MAX_ITEMS), "items per sequence");
    }
}

impl Generate for Reuse {
    fn bits(&self) -> usize {
        self.bits
    }

    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&["query"], &[]]
    }

    fn answers_last(&self) -> bool {
        false
    }

    fn measure(&self) -> Measure {
        Measure::Items
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.items
    }

    fn longest(&self) -> usize {
        self.steps(*self.items.end())
    }

    fn alignment(&self, episode: &Episode) -> Vec<Option<Steps<usize>>> {
        let mut from = vec![None; episode.steps()];
        for [start, _, count] in self.groups(episode.size) {
            for item in 0..count {
                from[start + count + 1 + item] = Some(start + item..start + item + 1);
            }
        }
        from
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let items = random.random_range(self.items.clone());
        self.episode_of(&random_bits(random, items, self.bits))
    }

    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let groups = self.groups(episode.size);
        let steps: Vec<_> = groups
            .flat_map(|[start, _, count]| start..start + count)
            .collect();
        let item = steps.iter().position(|known| *known == step)?;
        let shown = episode.input.slice(s![.., ..self.bits]);
        let shown = Manual {
            bits: shown.select(Axis(0), &steps),
            ..Manual::default()
        };
        Some((shown, item))
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::tests::picture;
    use ndarray::array;

    #[test]
    fn docs_example_is_reproduced() {
        let task = Reuse {
            bits: 3,
            together: 2,
            items: 1..=5,
        };
        let bits = array![
            [1., 0., 1.],
            [0., 1., 1.],
            [0., 1., 0.],
            [1., 1., 1.],
            [1., 0., 1.]
        ];
        let episode = task.episode_of(&bits);
        let (input, target, mask) = picture(include_str!("reuse.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!((episode.steps(), task.longest()), (13, 13));
        assert_eq!(task.chance(&episode), 15.0);
        let from = task.alignment(&episode);
        assert_eq!((from[3].clone(), from[4].clone()), (Some(0..1), Some(1..2)));
        let again = crate::task::Task::Reuse(task)
            .flipped(&episode, 6, 0)
            .unwrap();
        assert_eq!((again.input[[6, 0]], again.target[[9, 0]]), (0.0, 0.0));
        assert_eq!(again.input.sum(), episode.input.sum() - 1.0);
        assert_eq!(
            (from[8].clone(), from[12].clone()),
            (Some(5..6), Some(10..11))
        );
    }
}
