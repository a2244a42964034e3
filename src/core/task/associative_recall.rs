//! Associative recall (paper §4.3): see a row of items, then one of them again; emit the item that
//! followed it.
//!
//! An item is a sequence of random bit vectors that is "bounded on the left and right by delimiter
//! symbols", each symbol on a channel of its own: neighbouring items share the delimiter between them, the
//! last item has one behind it as every other (the machine of figure 12 writes an item when the delimiter
//! behind it comes), and the query stands between query delimiters. Any item but the last may be queried,
//! each equally likely. That makes bits + 2 inputs, which is also what the paper's parameter counts say
//! (8 and 6 channels give the 1,344,518 of table 3). Items are independent, so two may be equal; with the
//! paper's 18 bits that happens in one of 37,000 episodes, but in most of those with 1,000 items. With `distinct` every
//! two items of an episode differ.
//!
//! One episode with 3 bits, 3 items of 2 vectors, the first of them queried; channels down, time to the
//! right (`.` is 0):
//!
//! ```text
//!             input              |query  |ans.
//! input  bit0 . 1 . . . 1 . 1 1 . . 1 . . . .
//!        bit1 . . 1 . 1 1 . . 1 . . . 1 . . .
//!        bit2 . 1 1 . . 1 . . . . . 1 1 . . .
//!        item 1 . . 1 . . 1 . . 1 . . . . . .
//!        query. . . . . . . . . . 1 . . 1 . .
//! target bit0 . . . . . . . . . . . . . . . 1
//!        bit1 . . . . . . . . . . . . . . 1 1
//!        bit2 . . . . . . . . . . . . . . . 1
//! mask        . . . . . . . . . . . . . . 1 1
//! ```

use std::collections::HashSet;
use std::ops::RangeInclusive;

use ndarray::{Array2, Axis, s};
use rand::RngExt;

use super::generate::{BITS, Generate, MAX_ITEMS, Measure, random_bits};
use super::{Episode, Fault, Manual, Phase};
use crate::keys::Field::{Choice, Integer, Range};
use crate::keys::{Keys, Switch, Table};
use crate::math::Random;

/// Parameters of associative recall; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssociativeRecall {
    /// Bits per vector, ≥ 1; default 6.
    pub bits: usize,
    /// Vectors per item, ≥ 1; default 3.
    pub item_length: usize,
    /// Items, sampled uniformly; ≥ 2, because the last one is never queried; default 2 to 6.
    pub items: RangeInclusive<usize>,
    /// On: every two items of an episode differ; default off.
    pub distinct: Switch,
}

impl AssociativeRecall {
    /// The parameters of the paper.
    pub const PAPER: Self = Self {
        bits: 6,
        item_length: 3,
        items: 2..=6,
        distinct: Switch::Off,
    };

    /// The first step of an item, which is behind a delimiter.
    fn first_step(&self, item: usize) -> usize {
        item * (self.item_length + 1) + 1
    }

    /// The bits of items, [items · item_length, bits].
    fn random_items(&self, random: &mut Random, items: usize) -> Array2<f32> {
        let mut bits = random_bits(random, items * self.item_length, self.bits);
        let mut known = HashSet::new();
        let items = bits.axis_chunks_iter_mut(Axis(0), self.item_length);
        for mut item in items.filter(|_| self.distinct == Switch::On) {
            while !known.insert(item.iter().map(|&bit| bit > 0.5).collect::<Vec<_>>()) {
                item.assign(&random_bits(random, self.item_length, self.bits));
            }
        }
        bits
    }

    /// The episode with these items, [items · item_length, bits] of 0 and 1, that asks for the one behind
    /// item `query`, counted from 0; `query` + 1 < items.
    pub fn episode_of(&self, bits: &Array2<f32>, query: usize) -> Episode {
        let (length, width) = (self.item_length, self.bits);
        let items = bits.nrows() / length;
        let item = |index: usize| bits.slice(s![index * length..(index + 1) * length, ..]);
        let (shown, asked) = (items * (length + 1) + 1, length + 2);
        let answer = shown + asked;
        let mut episode = self.silent(answer + length);
        episode.input[[0, width]] = 1.0;
        for index in 0..items {
            let start = self.first_step(index);
            let mut place = episode.input.slice_mut(s![start..start + length, ..width]);
            place.assign(&item(index));
            episode.input[[start + length, width]] = 1.0;
        }
        episode.input[[shown, width + 1]] = 1.0;
        let mut place = episode
            .input
            .slice_mut(s![shown + 1..shown + 1 + length, ..width]);
        place.assign(&item(query));
        episode.input[[answer - 1, width + 1]] = 1.0;
        let mut target = episode.target.slice_mut(s![answer.., ..]);
        target.assign(&item(query + 1));
        episode.mask[answer..].fill(1.0);
        episode.phases = Phase::in_a_row(&[("input", shown), ("query", asked), ("answer", length)]);
        episode.size = items;
        episode
    }
}

impl Keys for AssociativeRecall {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("bits", Integer(&mut self.bits, BITS), "bits per vector");
        to.key("item_length", Integer(&mut self.item_length, 1..=1000), "vectors per item");
        to.key("distinct", Choice(&mut self.distinct), "`on`: every two items of a sequence differ; there are 2^(bits · item_length)");
        let most = self.most_size();
        to.key("items", Range(&mut self.items, 2..=most), "items per sequence");
    }
}

impl Generate for AssociativeRecall {
    fn bits(&self) -> usize {
        self.bits
    }

    fn channels(&self) -> [&'static [&'static str]; 2] {
        [&["item delimiter", "query delimiter"], &[]]
    }

    fn measure(&self) -> Measure {
        Measure::Items
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.items
    }

    fn least_size(&self) -> usize {
        2
    }

    fn most_size(&self) -> usize {
        // More bits than this make more items than there may be.
        let bits = self.bits.saturating_mul(self.item_length).min(16);
        match self.distinct {
            Switch::On => MAX_ITEMS.min(1 << bits),
            Switch::Off => MAX_ITEMS,
        }
    }

    fn longest(&self) -> usize {
        self.items.end() * (self.item_length + 1) + 1 + 2 * (self.item_length + 1)
    }

    fn longest_source(&self) -> usize {
        self.longest() - self.item_length
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let items = random.random_range(self.items.clone());
        let query = random.random_range(0..items - 1);
        let bits = self.random_items(random, items);
        self.episode_of(&bits, query)
    }

    fn shown_in(&self, episode: &Episode, step: usize) -> Option<usize> {
        let (length, place) = (self.item_length, step.checked_sub(episode.first_scored()?)?);
        let mut items = (0..episode.size).map(|item| self.first_step(item));
        let query = episode.phases.iter().find(|phase| phase.name == "query")?;
        let bits = |start: usize| episode.input.slice(s![start..start + length, ..self.bits]);
        let asked = items.find(|&item| bits(item) == bits(query.start + 1))?;
        (place < length).then_some(asked + length + 1 + place)
    }

    fn is_of_the_paper(&self) -> bool {
        let items = self.items.clone();
        *self
            == Self {
                items,
                ..Self::PAPER
            }
    }

    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let (length, items) = (self.item_length, episode.size);
        let rows = (0..items * length).map(|row| self.first_step(row / length) + row % length);
        let rows: Vec<usize> = rows.collect();
        let changed = rows.iter().position(|row| *row == step)?;
        let shown = episode.input.slice(s![.., ..self.bits]);
        let bits = shown.select(Axis(0), &rows);
        let asked = items * (length + 1) + 2;
        let asked = shown.slice(s![asked..asked + length, ..]);
        let answer = episode.steps() - length;
        let answer = episode.target.slice(s![answer.., ..self.bits]);
        let item = |index: usize| bits.slice(s![index * length..(index + 1) * length, ..]);
        // Items may be equal: the answer tells which of them is asked for; where it does not, the change is
        // elsewhere.
        let is_asked = |index: &usize| item(*index) == asked && item(index + 1) == answer;
        let is_changed = |index: &usize| (*index..index + 2).contains(&(changed / length));
        let query = (0..items - 1).filter(is_asked).min_by_key(is_changed)?;
        let shown = Manual {
            bits,
            query,
            ..Manual::default()
        };
        Some((shown, changed))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["bits", "query"]
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (rows, each, query) = (given.bits.nrows(), self.item_length, given.query);
        let items = rows / each;
        if !rows.is_multiple_of(each) || !(2..=MAX_ITEMS).contains(&items) {
            let problem =
                format!("has {rows} rows; allowed: 2 to {MAX_ITEMS} items of {each} rows each");
            return Err(Fault::new("bits", problem));
        }
        if query > items - 2 {
            let last = items - 2;
            let problem = format!(
                "is {query}; allowed: 0 to {last}, one of the {items} items that has a successor"
            );
            return Err(Fault::new("query", problem));
        }
        self.set_size(items);
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.bits, given.query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;
    use ndarray::array;

    #[test]
    fn docs_example_is_reproduced() {
        let task = AssociativeRecall {
            bits: 3,
            item_length: 2,
            items: 2..=3,
            distinct: Switch::Off,
        };
        let bits = array![
            [1., 0., 1.],
            [0., 1., 1.],
            [0., 1., 0.],
            [1., 1., 1.],
            [1., 0., 0.],
            [1., 1., 0.]
        ];
        let episode = task.episode_of(&bits, 0);
        let (input, target, mask) = picture(include_str!("associative_recall.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        assert_eq!(
            phases.collect::<Vec<_>>(),
            [("input", 0, 10), ("query", 10, 14), ("answer", 14, 16)]
        );
        assert_eq!((episode.size, episode.scored_bits()), (3, 6));
        let last = task.episode_of(&bits, 1);
        assert_eq!(last.input.slice(s![11..13, ..3]), bits.slice(s![2..4, ..]));
        assert_eq!(last.target.slice(s![14.., ..]), bits.slice(s![4..6, ..]));
    }

    #[test]
    fn items_queries_and_bits_are_uniform() {
        let task = Task::AssociativeRecall(AssociativeRecall::PAPER);
        let mut counts = [0; 7];
        let mut queries = [[0; 6]; 7];
        let (mut ones, mut all) = (0.0, 0.0);
        for index in 0..10_000 {
            let episode = task.episode(3, index);
            let items = episode.size;
            let item = |index: usize| episode.input.slice(s![index * 4 + 1..index * 4 + 4, ..6]);
            let start = items * 4 + 2;
            let query = episode.input.slice(s![start..start + 3, ..6]);
            let same: Vec<_> = (0..items).filter(|&index| item(index) == query).collect();
            let answer = episode.target.slice(s![start + 4.., ..]);
            assert!(same.iter().any(|&i| i + 1 < items && item(i + 1) == answer));
            counts[items] += 1;
            queries[items][same[0]] += 1;
            let bits: f32 = (0..items).map(|index| item(index).sum()).sum();
            ones += bits;
            all += (items * 18) as f32;
        }
        // 2000 expected for every number of items, standard deviation 40.
        assert!(counts[2..].iter().all(|n| (1850..2150).contains(n)));
        for items in 2..=6 {
            let expected = counts[items] as f32 / (items - 1) as f32;
            for &n in &queries[items][..items - 1] {
                assert!((n as f32 - expected).abs() < 4.0 * expected.sqrt());
            }
            assert_eq!(queries[items][items - 1], 0, "the last item is not queried");
        }
        assert!((ones / all - 0.5).abs() < 0.002);
    }

    #[test]
    fn distinct_items_differ_and_leave_the_other_episodes_as_they_are() {
        let mut task = AssociativeRecall {
            bits: 2,
            item_length: 2,
            items: 16..=16,
            distinct: Switch::On,
        };
        for index in 0..20 {
            let episode = Task::AssociativeRecall(task.clone()).episode(1, index);
            let item = |index: usize| episode.input.slice(s![index * 3 + 1..index * 3 + 3, ..2]);
            let differ = |a: usize| (0..a).all(|b| item(a) != item(b));
            assert!((0..16).all(differ));
        }
        task.items = 16..=17;
        let error = Task::AssociativeRecall(task.clone())
            .validate()
            .unwrap_err();
        assert_eq!(
            error.allowed,
            "[lowest, highest] with 2 ≤ lowest ≤ highest ≤ 16"
        );
        task.distinct = Switch::Off;
        assert!(Task::AssociativeRecall(task).validate().is_ok());
        // Where items differ anyway, it is the same episode.
        let paper = AssociativeRecall::PAPER;
        let distinct = AssociativeRecall {
            distinct: Switch::On,
            ..paper.clone()
        };
        let of = |task| Task::AssociativeRecall(task).episode(1, 0);
        assert_eq!(of(paper), of(distinct));
    }
}
