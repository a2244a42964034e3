//! Frames: see numbers over time, in which every symbol lasts for several steps, then a delimiter, then name the symbols,
//! and emit the end symbol. A long monotone source, as in speech (Chan 2015).
//!
//! A symbol has a fixed prototype: normal numbers, a function of the key `dictionary`. A frame is the prototype of its symbol
//! with normal noise. No symbol follows itself: a repetition would be one symbol that lasts longer.
//!
//! One episode without noise with 2 numbers in a frame, 2 symbols, length 2: symbol 1 lasts 3 frames and symbol 0 lasts 2;
//! channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input     | answer
//! input  num0 c c c a a . . . .     a, b: prototype of symbol 0
//!        num1 d d d b b . . . .     c, d: prototype of symbol 1
//!        delim. . . . . 1 . . .
//! target sym0 . . . . . . . 1 .
//!        sym1 . . . . . . 1 . .
//!        end  . . . . . . . . 1
//! mask        . . . . . . 1 1 1
//! ```

use std::ops::RangeInclusive;

use ndarray::Array2;
use rand::RngExt;

use super::generate::{Alphabet, Generate, LENGTHS, NOISE, fixed, normal};
use super::{Episode, Manual};
use crate::keys::Field::{Integer, Integer64, Number, Range};
use crate::keys::{Keys, Table};
use crate::math::{Random, random};

/// Parameters of frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// Symbols, ≥ 2; default 8.
    pub symbols: usize,
    /// Symbols in a sequence, sampled uniformly; ≥ 1; default 1 to 8.
    pub length: RangeInclusive<usize>,
    /// Frames of a symbol, sampled uniformly for each; ≥ 1; default 3 to 8.
    pub duration: RangeInclusive<usize>,
    /// Numbers in a frame, ≥ 1; default 6.
    pub channels: usize,
    /// Standard deviation of the noise of every number; default 0.3.
    pub noise: f64,
    /// Seed of the prototypes; default 1.
    pub dictionary: u64,
}

impl Frames {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        symbols: 8,
        length: 1..=8,
        duration: 3..=8,
        channels: 6,
        noise: 0.3,
        dictionary: 1,
    };

    /// The prototypes, [symbols, channels].
    fn prototypes(&self) -> Array2<f64> {
        let random = &mut fixed(self.dictionary);
        Array2::from_shape_simple_fn((self.symbols, self.channels), || normal(random))
    }

    /// The episode that shows these symbols, with durations and noise.
    pub fn episode_of(&self, symbols: &[usize], random: &mut Random) -> Episode {
        let (mut named, mut of_frame) = (Vec::new(), Vec::new());
        for &symbol in symbols {
            let (start, frames) = (of_frame.len(), random.random_range(self.duration.clone()));
            of_frame.resize(start + frames, symbol);
            named.push((symbol, start..start + frames));
        }
        let prototypes = self.prototypes();
        let source = Array2::from_shape_fn((of_frame.len(), self.channels), |(frame, channel)| {
            (prototypes[[of_frame[frame], channel]] + self.noise * normal(random)) as f32
        });
        Episode {
            size: symbols.len(),
            ..self.naming(&source, &named)
        }
    }
}

impl Keys for Frames {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("symbols", Integer(&mut self.symbols, 2..=1023), "symbols, each with its prototype");
        to.key("length", Range(&mut self.length, LENGTHS), "symbols per sequence");
        to.key("duration", Range(&mut self.duration, 1..=100), "frames of a symbol");
        to.key("channels", Integer(&mut self.channels, 1..=1023), "numbers in a frame");
        to.key("noise", Number(&mut self.noise, &NOISE), "standard deviation of the noise of every number; that of the prototypes is 1");
        to.key("dictionary", Integer64(&mut self.dictionary, 0..=u64::MAX), "seed of the prototypes; the same in every episode");
    }
}

impl Generate for Frames {
    fn alphabet(&self) -> Option<Alphabet> {
        Some(Alphabet {
            value: "number",
            values: self.channels,
            symbols: self.symbols,
        })
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        self.length.end() * (self.duration.end() + 1) + 2
    }

    fn longest_source(&self) -> usize {
        self.length.end() * self.duration.end() + 1
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let mut symbols = vec![random.random_range(0..self.symbols)];
        while symbols.len() < length {
            let (last, next) = (
                symbols[symbols.len() - 1],
                random.random_range(1..self.symbols),
            );
            symbols.push((last + next) % self.symbols);
        }
        self.episode_of(&symbols, random)
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.numbers(0), &mut random(0, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;
    use crate::task::Task;
    use crate::task::tests::picture;

    #[test]
    fn docs_example_is_reproduced() {
        let task = Frames {
            symbols: 2,
            length: 1..=2,
            duration: 2..=3,
            channels: 2,
            noise: 0.0,
            dictionary: 1,
        };
        let of = task.prototypes();
        let letter = |letter, symbol, channel| (letter, of[[symbol, channel]] as f32);
        let letters = [
            letter('a', 0, 0),
            letter('b', 0, 1),
            letter('c', 1, 0),
            letter('d', 1, 1),
        ];
        let (input, target, mask) = picture(include_str!("frames.rs"), &letters);
        let drawn = (0..1000).map(|index| task.episode_of(&[1, 0], &mut random(1, index)));
        let mut as_shown = drawn.filter(|episode| episode.alignment[6] == Some(0..3));
        let episode = as_shown.find(|episode| episode.steps() == 9).unwrap();
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(
            task.alignment(&episode)[6..],
            [Some(0..3), Some(3..5), None]
        );
        assert_eq!((episode.size, task.longest()), (2, 10));
        assert_eq!(task.channel_name(0, 1), "number 1");
    }

    #[test]
    fn frames_of_a_symbol_are_near_its_prototype() {
        let frames = Frames::DEFAULT;
        let (task, prototypes) = (Task::Frames(frames.clone()), frames.prototypes());
        let (mut off, mut durations) = (Vec::new(), [0; 9]);
        for index in 0..500 {
            let episode = task.episode(3, index);
            assert!(episode.steps() <= task.longest());
            let mut last = None;
            for (t, from) in task.alignment(&episode).into_iter().enumerate() {
                let Some(from) = from else { continue };
                durations[from.len()] += 1;
                let symbol = (0..8).find(|&symbol| episode.target[[t, symbol]] == 1.0);
                assert_ne!(symbol, last, "no symbol follows itself");
                last = symbol;
                for frame in from {
                    let values = episode.input.row(frame).to_vec();
                    let pairs = values.iter().zip(prototypes.row(symbol.unwrap()));
                    off.extend(pairs.map(|(value, wanted)| f64::from(*value) - wanted));
                }
            }
        }
        let deviation = (off.iter().map(|x| x * x).sum::<f64>() / off.len() as f64).sqrt();
        assert!((deviation - 0.3).abs() < 0.005, "{deviation}");
        assert_eq!(durations[..3], [0; 3]);
        // 375 expected, standard deviation 18.
        assert!(
            durations[3..].iter().all(|n| (290..460).contains(n)),
            "{durations:?}"
        );
    }
}
