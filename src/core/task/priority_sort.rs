//! Priority sort (paper §4.5): see random bit vectors with a priority each, emit those of highest priority,
//! the highest first.
//!
//! The priority is one scalar on a channel of its own, uniform between −1 and 1. The paper's text names no
//! delimiter before the answer; its parameter counts have room for one: with 10 inputs (8 bits, the
//! priority, one more) and 8 outputs the baseline of table 3 has 348,424 parameters, which the table prints
//! as 384,424, and no widths at all give that number. A flag is needed where the number of vectors varies,
//! as copy and repeat copy have one, so there is one here.
//!
//! One episode with 3 bits and 4 vectors, of which the 3 highest are asked for; channels down, time to the
//! right (`.` is 0):
//!
//! ```text
//!             input   | answer
//! input  bit0 1 . 1 . . . . .
//!        bit1 . 1 1 . . . . .
//!        bit2 1 1 . . . . . .
//!        delim. . . . 1 . . .
//!        prio.a b c d . . . .     a = 0.2, b = −0.9, c = 0.7, d = −0.1
//! target bit0 . . . . . 1 1 .
//!        bit1 . . . . . 1 . .
//!        bit2 . . . . . . 1 .
//! mask        . . . . . 1 1 1
//! ```

use std::ops::RangeInclusive;

use ndarray::{Array2, s};
use rand::RngExt;

use super::generate::{BITS, Generate, MAX_ITEMS, Measure, random_bits};
use super::{Episode, Fault, Manual};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::Random;

/// Parameters of priority sort; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrioritySort {
    /// Bits per vector, ≥ 1; default 8.
    pub bits: usize,
    /// Vectors in the input, sampled uniformly; ≥ 1; default 20.
    pub items: RangeInclusive<usize>,
    /// Vectors in the answer, ≥ 1; all of them if fewer are shown; default 16.
    pub sorted: usize,
}

impl PrioritySort {
    /// The parameters of the paper.
    pub const PAPER: Self = Self {
        bits: 8,
        items: 20..=20,
        sorted: 16,
    };

    /// The episode with these vectors, [items, bits] of 0 and 1, and their priorities, [items] in −1 to 1.
    ///
    /// Equal priorities keep the order in which they were shown.
    pub fn episode_of(&self, bits: &Array2<f32>, priorities: &[f32]) -> Episode {
        let items = bits.nrows();
        let mut episode = self.showing(bits, self.sorted.min(items));
        for (step, &priority) in priorities.iter().enumerate().take(items) {
            episode.input[[step, self.bits + 1]] = priority;
        }
        let mut order: Vec<usize> = (0..items.min(priorities.len())).collect();
        order.sort_by(|&a, &b| priorities[b].total_cmp(&priorities[a]));
        for (place, &item) in order.iter().take(self.sorted).enumerate() {
            episode
                .target
                .row_mut(items + 1 + place)
                .assign(&bits.row(item));
        }
        episode
    }
}

impl Keys for PrioritySort {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("bits", Integer(&mut self.bits, BITS), "bits per vector");
        let most = *self.items.end();
        to.key("items", Range(&mut self.items, 1..=MAX_ITEMS), "vectors per sequence");
        to.depends("sorted", Integer(&mut self.sorted, 1..=most), "16, or all if there are fewer", "vectors in the answer, at most the highest `items`; all of them in an episode with fewer");
    }
}

impl Generate for PrioritySort {
    fn bits(&self) -> usize {
        self.bits
    }

    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&["delimiter", "priority"], &[]]
    }

    fn measure(&self) -> Measure {
        Measure::Items
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.items
    }

    fn longest(&self) -> usize {
        self.items.end() + 1 + self.sorted.min(*self.items.end())
    }

    fn longest_source(&self) -> usize {
        self.items.end() + 1
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let items = random.random_range(self.items.clone());
        let bits = random_bits(random, items, self.bits);
        let priorities: Vec<f32> = (0..items)
            .map(|_| random.random_range(-1.0..=1.0))
            .collect();
        self.episode_of(&bits, &priorities)
    }

    fn is_of_the_paper(&self) -> bool {
        *self == Self::PAPER
    }

    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let priorities = episode.input.slice(s![..episode.size, self.bits + 1]);
        let mut shown = Manual::of(episode, self.bits, 0)?;
        shown.priorities = priorities.to_vec();
        Some((shown, step))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["bits", "priorities"]
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (rows, found) = (given.bits.nrows(), given.priorities.len());
        if rows > MAX_ITEMS {
            let problem = format!("has {rows} rows; allowed: 1 to {MAX_ITEMS}");
            return Err(Fault::new("bits", problem));
        }
        if found != rows {
            let problem =
                format!("has {found} values; expected {rows}, one for every row of `bits`");
            return Err(Fault::new("priorities", problem));
        }
        let mut each = given.priorities.iter().enumerate();
        if let Some((index, priority)) = each.find(|(_, it)| !(-1.0..=1.0).contains(*it)) {
            let problem = format!("is {priority}; allowed: -1 to 1");
            return Err(Fault::new(format!("priorities[{index}]"), problem));
        }
        self.set_size(rows);
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.bits, &given.priorities))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;
    use ndarray::array;

    fn small() -> PrioritySort {
        PrioritySort {
            bits: 3,
            items: 4..=4,
            sorted: 3,
        }
    }

    #[test]
    fn docs_example_is_reproduced() {
        let bits = array![[1., 0., 1.], [0., 1., 1.], [1., 1., 0.], [0., 0., 0.]];
        let priorities = [0.2, -0.9, 0.7, -0.1];
        let episode = small().episode_of(&bits, &priorities);
        let letters: Vec<_> = "abcd".chars().zip(priorities).collect();
        let (input, target, mask) = picture(include_str!("priority_sort.rs"), &letters);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        assert_eq!(
            phases.collect::<Vec<_>>(),
            [("input", 0, 4), ("delimiter", 4, 5), ("answer", 5, 8)]
        );
        assert_eq!((episode.size, episode.scored_bits()), (4, 9));
    }

    #[test]
    fn equal_priorities_keep_order_and_short_lists_are_complete() {
        let bits = array![[1., 0., 0.], [0., 1., 0.]];
        let episode = small().episode_of(&bits, &[0.5, 0.5]);
        assert_eq!(episode.steps(), 5);
        assert_eq!(episode.target.slice(s![3.., ..]), bits);
    }

    #[test]
    fn the_target_falls_in_priority_and_priorities_are_uniform() {
        let task = Task::PrioritySort(PrioritySort::PAPER);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        let (mut bins, mut ones) = ([0; 10], 0.0);
        for index in 0..2000 {
            let episode = task.episode(5, index);
            assert_eq!((episode.steps(), episode.scored_bits()), (37, 128));
            let priorities = episode.input.slice(s![..20, 9]);
            // The k-th vector of the answer is one that exactly k others outrank.
            for item in 0..20_usize {
                let rank = priorities.iter().filter(|p| **p > priorities[item]).count();
                if rank < 16 {
                    let shown = episode.input.slice(s![item, ..8]);
                    assert_eq!(episode.target.row(21 + rank), shown);
                }
            }
            for &priority in priorities {
                assert!((-1.0..=1.0).contains(&priority));
                sum += priority;
                squares += priority * priority;
                count += 1.0;
                bins[(((priority + 1.0) * 5.0) as usize).min(9)] += 1;
            }
            ones += episode.input.slice(s![..20, ..8]).sum();
        }
        // Of 40,000 values: standard deviations 0.003, 0.0015, and 60 of the 4000 in every bin.
        assert!((sum / count).abs() < 0.012);
        assert!((squares / count - 1.0 / 3.0).abs() < 0.006);
        assert!(bins.iter().all(|n| (3760..4240).contains(n)), "{bins:?}");
        assert!((ones / (8.0 * count) - 0.5).abs() < 0.004);
    }
}
