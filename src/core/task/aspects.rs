//! Aspects: see a sequence of symbols, some of them marked, then a delimiter, then name all marked symbols in one step. Several
//! heads can divide them among themselves.
//!
//! The marked symbols stand in random places, no two are the same; the others are any symbols. The answer has a bit for every
//! symbol. It comes from several steps at once ([`Aspects::marked`]), so that it has no alignment of single steps.
//!
//! One episode with 4 symbols, length 5, 2 marked; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input     | answer
//! input  sym0 . . 1 . . . .
//!        sym1 1 . . . . . .
//!        sym2 . . . . 1 . .
//!        sym3 . 1 . 1 . . .
//!        mark . 1 . . 1 . .
//!        delim. . . . . 1 .
//! target sym0 . . . . . . .
//!        sym1 . . . . . . .
//!        sym2 . . . . . . 1
//!        sym3 . . . . . . 1
//! mask        . . . . . . 1
//! ```

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ndarray::Array2;
use rand::RngExt;

use super::generate::{Generate, LENGTHS, check_symbols, named, shuffled};
use super::{Episode, Fault, Manual};
use crate::keys::Field::{Integer, Range};
use crate::keys::{Keys, Table};
use crate::math::Random;

/// Parameters of aspects.
#[derive(Clone, Debug, PartialEq)]
pub struct Aspects {
    /// Symbols, ≥ 2; default 8.
    pub symbols: usize,
    /// Symbols in a sequence, sampled uniformly; default 10 to 20.
    pub length: RangeInclusive<usize>,
    /// Marked symbols, sampled uniformly; at most the symbols, and the lowest length; default 4.
    pub aspects: RangeInclusive<usize>,
}

impl Aspects {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        symbols: 8,
        length: 10..=20,
        aspects: 4..=4,
    };

    /// The episode that shows these symbols, with the symbols of these steps marked; `None` if two of those are the same.
    pub fn episode_of(&self, symbols: &[usize], marked: &[usize]) -> Option<Episode> {
        let asked: BTreeSet<usize> = marked.iter().map(|&step| symbols[step]).collect();
        let mut source = Array2::zeros((symbols.len(), self.symbols + 1));
        for (step, &symbol) in symbols.iter().enumerate() {
            source[[step, symbol]] = 1.0;
        }
        for &step in marked {
            source[[step, self.symbols]] = 1.0;
        }
        let mut episode = self.showing(&source, 1);
        for &symbol in &asked {
            episode.target[[symbols.len() + 1, symbol]] = 1.0;
        }
        (asked.len() == marked.len()).then_some(episode)
    }

    /// The steps of the marked symbols: all that the answer comes from.
    pub fn marked(&self, episode: &Episode) -> Vec<usize> {
        let marks = episode.input.column(self.symbols).into_iter();
        let marked = marks.enumerate().filter(|(_, mark)| **mark > 0.5);
        marked.map(|(step, _)| step).collect()
    }
}

impl Keys for Aspects {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("symbols", Integer(&mut self.symbols, 2..=1023), "symbols of the sequence; the answer has a bit for each");
        to.key("length", Range(&mut self.length, LENGTHS), "symbols per sequence");
        let most = self.symbols.min(*self.length.start());
        to.key("aspects", Range(&mut self.aspects, 1..=most), "marked symbols per sequence, all different; at most `symbols`, and the lowest `length`");
    }
}

impl Generate for Aspects {
    fn channel_name(&self, side: usize, channel: usize) -> String {
        let more = [&["mark", "delimiter"][..], &[]][side];
        named(channel, ("symbol", self.symbols), more)
    }

    fn inputs(&self) -> usize {
        self.symbols + 2
    }

    fn outputs(&self) -> usize {
        self.symbols
    }

    fn symbols(&self) -> Option<usize> {
        Some(self.symbols)
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn least_size(&self) -> usize {
        *self.aspects.end()
    }

    fn longest(&self) -> usize {
        self.length.end() + 2
    }

    fn longest_source(&self) -> usize {
        self.length.end() + 1
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let count = random.random_range(self.aspects.clone());
        let mut symbols: Vec<usize> = (0..length)
            .map(|_| random.random_range(0..self.symbols))
            .collect();
        let mut marked = shuffled(random, length);
        marked.truncate(count);
        for (step, symbol) in marked.iter().zip(shuffled(random, self.symbols)) {
            symbols[*step] = symbol;
        }
        let episode = self.episode_of(&symbols, &marked);
        episode.unwrap_or_else(|| self.silent(1))
    }

    /// The cost of the best constant guess: every bit is 1 with the mean share p of marked symbols.
    fn chance(&self, episode: &Episode) -> f64 {
        let (all, marked) = (self.symbols as f64, self.marked(episode).len() as f64);
        let share = (self.aspects.start() + self.aspects.end()) as f64 / 2.0 / all;
        let cost = |count: f64, share: f64| {
            if count > 0.0 {
                -count * share.log2()
            } else {
                0.0
            }
        };
        cost(marked, share) + cost(all - marked, 1.0 - share)
    }

    fn editable(&self) -> usize {
        self.symbols
    }

    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let mut shown = Manual::of(episode, 0, 0)?;
        shown.marked = self.marked(episode);
        Some((shown, step))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["symbols", "marked"]
    }

    fn manual_example(&self) -> &'static str {
        r#"symbols and marked steps such as {"symbols": [3,1,4], "marked": [0,2]}"#
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (count, marked) = (given.symbols.len(), &given.marked);
        check_symbols(given, self.symbols, false, None)?;
        self.aspects = marked.len()..=marked.len();
        let is_right = !marked.is_empty() && marked.iter().all(|step| *step < count);
        if !is_right || self.episode_showing(given).is_none() {
            let last = count - 1;
            let problem = format!(
                "is {marked:?}; allowed: one or more of the steps 0 to {last}, whose symbols differ"
            );
            return Err(Fault::new("marked", problem));
        }
        self.set_size(count);
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        self.episode_of(&given.numbers(0), &given.marked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Answer;
    use crate::task::Task;
    use crate::task::tests::picture;

    #[test]
    fn docs_example_is_reproduced() {
        let task = Aspects {
            symbols: 4,
            length: 5..=5,
            aspects: 2..=2,
        };
        let episode = task.episode_of(&[1, 3, 0, 3, 2], &[4, 1]).unwrap();
        let (input, target, mask) = picture(include_str!("aspects.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(task.marked(&episode), [1, 4]);
        assert_eq!(task.alignment(&episode), []);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        let wanted = [("input", 0, 5), ("delimiter", 5, 6), ("answer", 6, 7)];
        assert_eq!(phases.collect::<Vec<_>>(), wanted);
        assert_eq!((episode.size, episode.scored_bits()), (5, 4));
        assert_eq!((episode.answer, task.longest()), (Answer::Bits, 7));
        assert_eq!(task.chance(&episode), 4.0);
        let names = [0, 4, 5, 6].map(|channel| task.channel_name(0, channel));
        assert_eq!(names, ["symbol 0", "mark", "delimiter", "channel 6"]);
        let names = [3, 4].map(|channel| task.channel_name(1, channel));
        assert_eq!(names, ["symbol 3", "channel 4"]);
        // Steps 1 and 3 have the same symbol.
        assert_eq!(task.episode_of(&[1, 3, 0, 3, 2], &[3, 1]), None);
    }

    #[test]
    fn marked_symbols_differ_and_are_in_any_place() {
        let aspects = Aspects {
            symbols: 6,
            length: 4..=6,
            aspects: 2..=4,
        };
        let task = Task::Aspects(aspects.clone());
        let (mut counts, mut places, mut chance) = ([0; 5], [0; 6], 0.0);
        for index in 0..3000 {
            let episode = task.episode(3, index);
            let marked = aspects.marked(&episode);
            counts[marked.len()] += 1;
            let is_one = |symbol: &usize| {
                let shown = |step: &usize| episode.input[[*step, *symbol]] == 1.0;
                marked.iter().filter(|step| shown(step)).count() == 1
            };
            let answer = episode.steps() - 1;
            let named = (0..6).filter(|symbol| episode.target[[answer, *symbol]] == 1.0);
            let named: Vec<usize> = named.collect();
            assert_eq!(named.len(), marked.len());
            assert!(named.iter().all(is_one));
            assert_eq!((episode.steps(), episode.scored_steps()), (answer + 1, 1));
            if episode.size == 6 {
                marked.iter().for_each(|&step| places[step] += 1);
            }
            chance += task.chance(&episode) / 3000.0;
        }
        // 1000 expected each, standard deviation 26; of the places 500, 16.
        assert!(counts[2..].iter().all(|n| (880..1120).contains(n)));
        assert!(places.iter().all(|n| (420..580).contains(n)), "{places:?}");
        // Half of the symbols are marked, so that a bit costs a bit.
        assert!((chance - 6.0).abs() < 1e-9, "{chance}");
        assert_eq!(task.with_size(1).size(), 4..=4);
        let all = Aspects {
            aspects: 6..=6,
            length: 6..=6,
            ..aspects
        };
        assert_eq!(all.chance(&Task::Aspects(all.clone()).episode(1, 1)), 0.0);
    }

    #[test]
    fn errors_name_key_value_and_range() {
        let message = |change: fn(&mut Aspects)| {
            let mut task = Aspects::DEFAULT;
            change(&mut task);
            Task::Aspects(task).validate().unwrap_err().to_string()
        };
        assert_eq!(
            message(|task| task.length = 3..=20),
            "aspects is [4, 4]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 3"
        );
        assert_eq!(
            message(|task| (task.symbols, task.aspects) = (2, 1..=3)),
            "aspects is [1, 3]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 2"
        );
        assert_eq!(
            message(|task| task.symbols = 1),
            "symbols is 1; allowed: 2 to 1023"
        );
    }
}
