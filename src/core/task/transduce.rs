//! Transduce: see a sequence of symbols, then a delimiter, then emit its translation by a fixed dictionary, and the end
//! symbol. Copy, reversal and translation in one.
//!
//! The dictionary is a function of its own seed. It maps every symbol to a word. The first symbols of the words are a
//! permutation; the length of a word is the fertility of its symbol. Silent symbols have empty words. An ambiguous symbol
//! has two words of equal length that begin differently, each equally likely in every place: the best predictor pays one bit
//! for it.
//!
//! One episode with 4 symbols, length 3, in the order `reverse`, and a dictionary with the words 0 → 2 0, 1 → 1, 2 → 3,
//! 3 → 0; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input | answer
//! input  sym0 . 1 . . . . . . .
//!        sym1 1 . . . . . . . .
//!        sym2 . . . . . . . . .
//!        sym3 . . 1 . . . . . .
//!        delim. . . 1 . . . . .
//! target sym0 . . . . 1 . 1 . .
//!        sym1 . . . . . . . 1 .
//!        sym2 . . . . . 1 . . .
//!        sym3 . . . . . . . . .
//!        end  . . . . . . . . 1
//! mask        . . . . 1 1 1 1 1
//! ```

use std::iter::once;
use std::ops::RangeInclusive;

use ndarray::Array2;
use rand::RngExt;

use super::generate::{Alphabet, Generate, LENGTHS, fixed, shuffled};
use super::{Episode, Manual};
use crate::keys::Field::{Choice, Integer, Integer64, Number, Range};
use crate::keys::{Keys, Rule, Table, Words};
use crate::math::Random;

/// The order in which the words of a translation follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That of the source.
    Same,
    /// From the last source symbol to the first.
    Reverse,
    /// Source symbols 1, 0, 3, 2, …; the last of an odd number stays.
    SwapPairs,
}

impl Words for Order {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("same", Self::Same),
        ("reverse", Self::Reverse),
        ("swap_pairs", Self::SwapPairs),
    ];
}

/// Parameters of transduce.
#[derive(Clone, Debug, PartialEq)]
pub struct Transduce {
    /// Symbols of the source, and of the answer, ≥ 2; default 16.
    pub symbols: usize,
    /// Source symbols, sampled uniformly; ≥ 1; default 1 to 10.
    pub length: RangeInclusive<usize>,
    /// The order of the answer; default `same`.
    pub order: Order,
    /// Most symbols of a word, 1 to 3; default 1.
    pub fertility: usize,
    /// Share of the symbols with an empty word, 0 to 1; default 0.
    pub silent: f64,
    /// Share of the symbols with two words, 0 to 1; at most those that are not silent; default 0.
    pub ambiguous: f64,
    /// Seed of the dictionary; default 1.
    pub dictionary: u64,
}

impl Transduce {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        symbols: 16,
        length: 1..=10,
        order: Order::Same,
        fertility: 1,
        silent: 0.0,
        ambiguous: 0.0,
        dictionary: 1,
    };

    /// The words of every symbol, [symbols]: one, or two for an ambiguous symbol.
    fn words(&self) -> Vec<Vec<Vec<usize>>> {
        let (random, count) = (&mut fixed(self.dictionary), self.symbols);
        let (first, rank) = (shuffled(random, count), shuffled(random, count));
        let those = |share: f64| (share * count as f64).round() as usize;
        let (silent, ambiguous) = (those(self.silent), those(self.ambiguous));
        let of_symbol = |symbol: usize| {
            let more = 1..random.random_range(1..=self.fertility);
            let rest: Vec<usize> = more.map(|_| random.random_range(0..count)).collect();
            let word = |symbol: usize| {
                let first = first[symbol % count];
                once(first).chain(rest.iter().copied()).collect()
            };
            match rank[symbol] {
                rank if rank < silent => vec![Vec::new()],
                rank if rank < silent + ambiguous => vec![word(symbol), word(symbol + 1)],
                _ => vec![word(symbol)],
            }
        };
        (0..count).map(of_symbol).collect()
    }

    /// The episode that shows these symbols, with the first word of every ambiguous one.
    pub fn episode_of(&self, symbols: &[usize]) -> Episode {
        self.translated(symbols, |_| 0)
    }

    /// The episode that shows these symbols; `choose` picks one of its number of words.
    fn translated(&self, symbols: &[usize], mut choose: impl FnMut(usize) -> usize) -> Episode {
        let words = self.words();
        let mut source = Array2::zeros((symbols.len(), self.symbols));
        let mut order: Vec<usize> = (0..symbols.len()).collect();
        match self.order {
            Order::Same => {}
            Order::Reverse => order.reverse(),
            Order::SwapPairs => order.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1)),
        }
        let mut named = Vec::new();
        for step in order {
            let of = &words[symbols[step]];
            source[[step, symbols[step]]] = 1.0;
            let word = &of[choose(of.len())];
            named.extend(word.iter().map(|&symbol| (symbol, step..step + 1)));
        }
        self.naming(&source, &named)
    }
}

impl Keys for Transduce {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("symbols", Integer(&mut self.symbols, 2..=1023), "symbols of the source, and of the answer without its end symbol");
        to.key("length", Range(&mut self.length, LENGTHS), "source symbols per sequence");
        to.key("order", Choice(&mut self.order), "order of the words in the answer; `swap_pairs`: of source symbols 1, 0, 3, 2, …");
        to.key("fertility", Integer(&mut self.fertility, 1..=3), "most symbols of a word; every source symbol has a word of 1 to this many");
        to.key("silent", Number(&mut self.silent, &Rule::FRACTION), "share of the symbols that have no word");
        to.key("ambiguous", Number(&mut self.ambiguous, &Rule::FRACTION), "share of the symbols that have two words, each equally likely; at most those that are not silent");
        to.key("dictionary", Integer64(&mut self.dictionary, 0..=u64::MAX), "seed of the dictionary; the same in every episode");
    }
}

impl Generate for Transduce {
    fn alphabet(&self) -> Option<Alphabet> {
        Some(Alphabet {
            value: "symbol",
            values: self.symbols,
            symbols: self.symbols,
        })
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        self.length.end() * (1 + self.fertility) + 2
    }

    fn longest_source(&self) -> usize {
        self.length.end() + 1
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let symbol = |_| random.random_range(0..self.symbols);
        let symbols: Vec<usize> = (0..length).map(symbol).collect();
        self.translated(&symbols, |words| random.random_range(0..words))
    }

    /// One bit for every ambiguous symbol of the source; `None` without ambiguous symbols in the dictionary.
    fn optimum(&self, episode: &Episode) -> Option<f64> {
        let words = self.words();
        let is_ambiguous = |symbol: usize| words[symbol].len() > 1;
        let shown = episode.input.indexed_iter().filter(|((_, symbol), value)| {
            *symbol < self.symbols && **value > 0.5 && is_ambiguous(*symbol)
        });
        let bits = shown.count() as f64;
        (0..self.symbols).any(is_ambiguous).then_some(bits)
    }

    fn editable(&self) -> usize {
        self.symbols
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.numbers(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;

    /// The dictionary of the docs: 0 → 2 0, 1 → 1, 2 → 3, 3 → 0.
    fn docs() -> Transduce {
        let task = |dictionary| Transduce {
            symbols: 4,
            order: Order::Reverse,
            fertility: 2,
            dictionary,
            ..Transduce::DEFAULT
        };
        let wanted: [&[usize]; 4] = [&[2, 0], &[1], &[3], &[0]];
        let is_of_the_docs = |task: &Transduce| {
            let words = task.words();
            (0..4).all(|symbol| words[symbol] == [wanted[symbol]])
        };
        (0..100_000).map(task).find(is_of_the_docs).unwrap()
    }

    #[test]
    fn docs_example_is_reproduced() {
        let task = docs();
        let episode = task.episode_of(&[1, 0, 3]);
        let (input, target, mask) = picture(include_str!("transduce.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        let of = |row: usize| Some(row..row + 1);
        assert_eq!(
            task.alignment(&episode)[4..],
            [of(2), of(1), of(1), of(0), None]
        );
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        let wanted = [
            ("input", 0, 3),
            ("delimiter", 3, 4),
            ("answer", 4, 8),
            ("end", 8, 9),
        ];
        assert_eq!(phases.collect::<Vec<_>>(), wanted);
        assert_eq!((episode.size, episode.scored_bits()), (3, 5));
        assert!((task.chance(&episode) - 5.0 * 5.0_f64.log2()).abs() < 1e-12);
        assert_eq!(task.optimum(&episode), None);
        let names = [4, 0].map(|channel| task.channel_name(0, channel));
        assert_eq!(names, ["delimiter", "symbol 0"]);
        assert_eq!(task.channel_name(1, 4), "end symbol");
    }

    #[test]
    fn words_are_a_permutation_and_orders_say_where_they_come_from() {
        let mut task = Transduce::DEFAULT;
        let mut words: Vec<usize> = task.words().into_iter().flatten().flatten().collect();
        words.sort_unstable();
        assert_eq!(words, (0..16).collect::<Vec<_>>());
        let other = Transduce {
            dictionary: 2,
            ..task.clone()
        };
        assert_ne!(task.words(), other.words());
        for (order, wanted) in [
            (Order::Same, [0, 1, 2, 3, 4]),
            (Order::Reverse, [4, 3, 2, 1, 0]),
            (Order::SwapPairs, [1, 0, 3, 2, 4]),
        ] {
            task.order = order;
            let alignment = task.alignment(&task.episode_of(&[3, 1, 4, 1, 5]));
            let starts = alignment.into_iter().flatten().map(|steps| steps.start);
            assert_eq!(starts.collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn silent_symbols_say_nothing_and_ambiguous_ones_cost_a_bit() {
        let task = Transduce {
            fertility: 3,
            silent: 0.25,
            ambiguous: 0.5,
            ..Transduce::DEFAULT
        };
        let words = task.words();
        let of = |count: usize| words.iter().filter(|words| words.len() == count).count();
        let silent = words.iter().filter(|words| words[0].is_empty()).count();
        assert_eq!((of(1), of(2), silent), (8, 8, 4));
        let is_right = |words: &&Vec<Vec<usize>>| {
            words[0][0] != words[1][0] && words[0].len() == words[1].len()
        };
        assert!(
            words
                .iter()
                .filter(|words| words.len() == 2)
                .all(|words| is_right(&words))
        );
        let mut first = [0; 2];
        let whole = Task::Transduce(task.clone());
        for index in 0..1000 {
            let episode = whole.episode(1, index);
            let count = |t: usize| {
                let symbol = (0..16).find(|&symbol| episode.input[[t, symbol]] == 1.0);
                words[symbol.unwrap()].len() - 1
            };
            let ambiguous: usize = (0..episode.size).map(count).sum();
            assert_eq!(task.optimum(&episode), Some(ambiguous as f64));
            assert!(episode.steps() <= task.longest());
            for (t, from) in task.alignment(&episode).into_iter().enumerate() {
                let Some(from) = from else { continue };
                let symbol = (0..16).find(|&symbol| episode.input[[from.start, symbol]] == 1.0);
                let words = &words[symbol.unwrap()];
                let said = (0..16)
                    .find(|&symbol| episode.target[[t, symbol]] == 1.0)
                    .unwrap();
                assert!(words.iter().any(|word| word.contains(&said)));
                if words.len() == 2 {
                    let is_first = words.iter().position(|word| word[0] == said);
                    first[is_first.unwrap_or(0)] += 1;
                }
            }
        }
        assert!(first[1] > 500, "{first:?}");
        // Nothing at all may be said.
        let silent = Transduce {
            silent: 1.0,
            ambiguous: 1.0,
            ..task
        };
        let episode = silent.episode_of(&[3, 1]);
        assert_eq!((episode.steps(), episode.scored_bits()), (4, 1));
        assert_eq!(silent.optimum(&episode), None);
    }
}
