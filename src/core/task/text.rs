//! Text: see the tokens of a sentence, one in each step, and predict the next one in every step.
//!
//! The sentences are the lines of a text file. The vocabulary has the most frequent tokens of the training lines, of equally
//! frequent ones the first in the file; after them comes the unknown symbol: every other token. The first input is the start
//! symbol, the last target is the end symbol.
//!
//! The line `b a c`, where the vocabulary is `a c`; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             prediction
//! input  a    . . 1 .
//!        c    . . . 1
//!        unk. . 1 . .
//!        start1 . . .
//! target a    . 1 . .
//!        c    . . 1 .
//!        unk. 1 . . .
//!        end  . . . 1
//! mask        1 1 1 1
//! ```

use std::iter::once;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::fault::Fault;
use super::generate::{Alphabet, Generate, LENGTHS, MAX_LENGTH};
use super::split::{HeldOut, Loaded, Split};
use super::tokens::{MOST_SYMBOLS, Tokens, first_symbols, unknown_token};
use super::{Episode, Manual, Phase};
use crate::keys::Field::{Choice, Integer, Range as Ends, Text as Written};
use crate::keys::{Keys, Table, Words as _};
use crate::math::Random;

/// A task whose episodes are the lines of a text file. Equal if its description is, loaded or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The file, for who reads it; empty for lines that come from elsewhere.
    pub file: String,
    /// The file with the held-out ones; empty where `held_out` chooses them.
    pub test_file: String,
    /// The SHA-256 that identifies these lines in files; empty if not given.
    pub sha256: String,
    /// The parts of a line that are symbols; default `words`.
    pub tokens: Tokens,
    /// Tokens of a line; other lines are ignored.
    pub length: RangeInclusive<usize>,
    /// The held-out lines.
    pub held_out: HeldOut,
    /// Most symbols of a vocabulary that is not given; default 256.
    pub vocabulary: usize,
    /// The vocabulary: its tokens in order, written as in a line.
    pub symbols: String,
    pub(super) lines: Loaded<Vec<String>>,
}

impl Text {
    /// The defaults of a preset, without lines.
    pub const NONE: Self = Self {
        file: String::new(),
        test_file: String::new(),
        sha256: String::new(),
        tokens: Tokens::Words,
        length: LENGTHS,
        held_out: HeldOut::WORDS[0].1,
        vocabulary: 256,
        symbols: String::new(),
        lines: Loaded::NONE,
    };

    /// Returns the task with its lines. A vocabulary that is not given is that of the training lines, and the length that of
    /// all lines.
    ///
    /// # Errors
    /// As for [`super::Episodes::with`] and [`Text::check`].
    pub fn with(mut self, lines: Arc<Vec<String>>) -> Result<Self, Fault> {
        let lengths = lines.iter().map(|line| self.tokens.of(line).count());
        let split = Split::new(lengths.collect(), self.held_out, &mut self.length)?;
        if self.symbols.is_empty() {
            let texts = lines.iter().map(|line| &**line);
            self.symbols = self
                .tokens
                .vocabulary(texts, self.held_out, self.vocabulary);
        }
        self.check()?;
        self.lines = Loaded::new(lines, split);
        Ok(self)
    }

    /// Checks the vocabulary.
    ///
    /// # Errors
    /// The vocabulary is too large, or has a token twice.
    pub fn check(&self) -> Result<(), Fault> {
        self.tokens.check(&self.symbols, "text_symbols")
    }

    /// The lines, if they are loaded.
    pub fn lines(&self) -> Option<&Arc<Vec<String>>> {
        self.lines.get().map(|(lines, _)| lines)
    }

    /// The number of known symbols.
    pub fn known(&self) -> usize {
        self.tokens.of(&self.symbols).count()
    }

    /// The tokens of a line that the vocabulary lacks.
    pub fn unknown<'a>(&self, line: &'a str) -> Vec<&'a str> {
        self.tokens.unknown(line, &self.symbols)
    }

    /// The episode of a line.
    ///
    /// # Errors
    /// The line has no tokens, or too many.
    pub fn episode_of(&self, line: &str) -> Result<Episode, String> {
        let symbols = self.tokens.codes(line, &self.symbols);
        let count = symbols.len();
        let problem = || format!("has {count} tokens; expected 1 to {MAX_LENGTH}");
        let is_right = LENGTHS.contains(&count);
        let episode = is_right.then(|| self.episode_of_symbols(&symbols));
        episode.ok_or_else(problem)
    }

    /// The episode of a line given by its symbols.
    pub(super) fn episode_of_symbols(&self, symbols: &[usize]) -> Episode {
        let (steps, last) = (symbols.len() + 1, self.inputs() - 1);
        let mut episode = self.silent(steps);
        for (step, &symbol) in once(&last).chain(symbols).enumerate() {
            episode.input[[step, symbol]] = 1.0;
        }
        for (step, &symbol) in symbols.iter().chain([&last]).enumerate() {
            episode.target[[step, symbol]] = 1.0;
        }
        episode.mask.fill(1.0);
        episode.phases = Phase::in_a_row(&[("prediction", steps)]);
        episode.size = symbols.len();
        episode
    }

    /// Line `number` of the file; without one the first symbols of the vocabulary.
    pub(super) fn numbered(&self, number: Option<usize>) -> Episode {
        let line = self.lines().zip(number);
        let episode = line.and_then(|(all, number)| self.episode_of(&all[number]).ok());
        let known = self.tokens.of(&self.symbols);
        episode.unwrap_or_else(|| self.episode_of_symbols(&first_symbols(known, &self.length)))
    }
}

impl Keys for Text {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("file", Written(&mut self.file), "text file with a sentence in each line, relative to the folder of the preset");
        to.depends("sha256", Written(&mut self.sha256), "that of the file", "SHA-256 of the lines; if given, other lines are refused");
        to.key("tokens", Choice(&mut self.tokens), "symbols of a line: `words`, separated by spaces, or `characters`");
        to.depends("length", Ends(&mut self.length, LENGTHS), "all lengths in the file", "tokens per line; lines of other lengths are ignored");
        to.added("test_file", Written(&mut self.test_file), "file with the held-out sentences, such as that of a benchmark; they count as the last of `file`, whatever `held_out` says");
        self.held_out.keys(to);
        to.key("vocabulary", Integer(&mut self.vocabulary, 1..=MOST_SYMBOLS), "most known symbols: the most frequent tokens of the training lines; all others are the unknown symbol");
        to.depends("text_symbols", Written(&mut self.symbols), "those of the training lines", "vocabulary, written as in a line; at most 1022 symbols, the most frequent first");
    }
}

impl Generate for Text {
    fn alphabet(&self) -> Option<Alphabet> {
        let known = self.known() + 1;
        Some(Alphabet {
            value: "symbol",
            values: known,
            symbols: known,
        })
    }

    fn channel_name(&self, side: usize, channel: usize) -> String {
        let last = ["start symbol", "end symbol"][side];
        self.tokens.name(channel, &self.symbols, last)
    }

    fn answers_last(&self) -> bool {
        false
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        self.length.end() + 1
    }

    fn longest_run(&self) -> usize {
        self.longest()
    }

    /// A training line of these lengths, or of any length without them; silence if there is none.
    fn sample(&self, random: &mut Random) -> Episode {
        self.numbered(self.lines.sample(&self.length, random))
    }

    fn editable(&self) -> usize {
        self.known() + 1
    }

    /// The start symbol stays.
    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        Some((Manual::of(episode, 0, 1)?, step.checked_sub(1)?))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["line"]
    }

    fn manual_example(&self) -> &'static str {
        r#"a line such as "the cat sat""#
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let made = self.episode_of(&given.line);
        made.map(|_| ()).map_err(|problem| Fault::new("", problem))
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        if !given.symbols.is_empty() {
            return Some(self.episode_of_symbols(&given.numbers(0)));
        }
        self.episode_of(&given.line).ok()
    }

    fn notes(&self, given: &Manual) -> Vec<String> {
        let unknown = self.unknown(&given.line).into_iter();
        unknown.map(unknown_token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;

    fn task(lines: &[&str], tokens: Tokens, vocabulary: usize) -> Text {
        let none = Text {
            tokens,
            vocabulary,
            held_out: HeldOut::Last(1),
            ..Text::NONE
        };
        let lines = lines.iter().map(ToString::to_string).collect();
        none.with(Arc::new(lines)).unwrap()
    }

    #[test]
    fn docs_example_is_reproduced() {
        let task = task(&["a c a", "b a c"], Tokens::Words, 256);
        let whole = Task::Text(task.clone());
        let episode = whole.episode(0, 0);
        let (input, target, mask) = picture(include_str!("text.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        assert_eq!(phases.collect::<Vec<_>>(), [("prediction", 0, 4)]);
        assert_eq!((episode.size, episode.scored_bits()), (3, 4));
        assert_eq!((whole.longest(), whole.longest_run()), (4, 4));
        assert_eq!((episode.end_symbol(), episode.most_steps()), (None, 4));
        assert_eq!(whole.chance(&episode), 8.0);
        assert_eq!(whole.alignment(&episode), []);
        assert!(!whole.answers_last() && whole.is_loaded());
        assert_eq!(whole.unknown_steps(&episode), [1]);
        assert_eq!(task.unknown("b a c"), ["b"]);
        let split = Some((1, 1, HeldOut::Last(1)));
        assert_eq!((whole.split(), whole.number(0, 7)), (split, Some(1)));
        let names = |side: usize| [0, 1, 2, 3, 4].map(|channel| whole.channel_name(side, channel));
        assert_eq!(
            names(0),
            ["a", "c", "unknown symbol", "start symbol", "channel 4"]
        );
        assert_eq!(names(1)[3], "end symbol");
        // A training line comes from the other ones.
        assert_eq!(
            whole.training_episode(1, 0),
            task.episode_of("a c a").unwrap()
        );
    }

    #[test]
    fn every_target_is_the_next_input() {
        let task = task(
            &["the cat", "a cat sat", "the end"],
            Tokens::Characters,
            256,
        );
        assert_eq!(task.channel_name(0, 1), "a");
        for line in ["the cat", "q"] {
            let episode = task.episode_of(line).unwrap();
            let (last, steps) = (task.inputs() - 1, episode.steps());
            assert_eq!(steps, line.len() + 1);
            assert_eq!(episode.input[[0, last]], 1.0);
            assert_eq!(episode.target[[steps - 1, last]], 1.0);
            for step in 1..steps {
                assert_eq!(episode.input.row(step), episode.target.row(step - 1));
                assert_eq!(episode.input.row(step).sum(), 1.0);
            }
        }
        assert_eq!(
            task.episode_of("").unwrap_err(),
            "has 0 tokens; expected 1 to 100000"
        );
    }

    #[test]
    fn vocabulary_has_the_most_frequent_tokens_of_the_training_lines() {
        let lines = ["c b a", "b a", "a", "d d d d"];
        let all = task(&lines, Tokens::Words, 256);
        assert_eq!((&*all.symbols, all.length.clone()), ("a b c", 1..=4));
        let two = task(&lines, Tokens::Words, 2);
        assert_eq!((&*two.symbols, two.inputs(), two.outputs()), ("a b", 4, 4));
        // A vocabulary that is given stays.
        let given = Text {
            symbols: "d".to_owned(),
            ..two
        };
        let given = given.with(all.lines().unwrap().clone()).unwrap();
        assert_eq!(&*given.symbols, "d");
        assert_eq!(given.numbered(Some(3)).target.column(0).sum(), 4.0);
        let twice = Text {
            symbols: "d a d".to_owned(),
            ..given
        };
        assert_eq!(
            twice.check().unwrap_err().to_string(),
            "`text_symbols`: has 3 symbols, 2 of them different; expected at most 1022, each once"
        );
        // A task without its file knows its symbols.
        let alone = Text {
            lines: Loaded::NONE,
            ..all.clone()
        };
        assert_eq!(
            (&alone, alone.episode_of("b x")),
            (&all, all.episode_of("b x"))
        );
        // Without a line it shows one of its first symbols.
        assert_eq!(alone.numbered(None).steps(), 4);
    }
}
