//! Tokens: the parts of a text that are symbols, and the vocabulary of the lines of a file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::fault::Fault;
use super::split::HeldOut;
use crate::keys::Words;

/// The largest vocabulary; with an unknown symbol and one more it has 1024 channels.
pub(super) const MOST_SYMBOLS: usize = 1022;

/// The parts of a text that are symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Words, separated by spaces.
    Words,
    /// Unicode characters (scalar values), spaces too.
    Characters,
}

impl Words for Tokens {
    const WORDS: &'static [(&'static str, Self)] =
        &[("words", Self::Words), ("characters", Self::Characters)];
}

/// A line of the first symbols of a vocabulary, each once, of no more than these lengths.
pub(super) fn first_symbols<'a>(
    known: impl Iterator<Item = &'a str>,
    length: &RangeInclusive<usize>,
) -> Vec<usize> {
    (0..known.count().min(*length.end())).collect()
}

/// The note on a token that is not in the vocabulary.
pub(super) fn unknown_token(token: &str) -> String {
    format!("note: `{token}` is not in the vocabulary")
}

impl Tokens {
    /// The tokens of a text, in order.
    pub fn of(self, text: &str) -> impl Iterator<Item = &str> {
        let are_words = self == Self::Words;
        let parts = text.split_inclusive(move |next| !are_words || next == ' ');
        let space = if are_words { " " } else { "" };
        let tokens = parts.map(move |part| part.strip_suffix(space).unwrap_or(part));
        tokens.filter(|token| !token.is_empty())
    }

    /// The text between two tokens.
    pub(super) fn between(self) -> &'static str {
        match self {
            Self::Words => " ",
            Self::Characters => "",
        }
    }

    /// The numbers of the tokens of a text in a vocabulary; the one after the last for a token that is not there.
    pub(super) fn codes(self, text: &str, symbols: &str) -> Vec<usize> {
        let unknown = self.of(symbols).count();
        // Frequent symbols come first, so the search is short.
        let code = |token| self.of(symbols).position(|known| known == token);
        let tokens = self.of(text);
        tokens.map(|token| code(token).unwrap_or(unknown)).collect()
    }

    /// The tokens of a text that a vocabulary lacks.
    pub(super) fn unknown<'a>(self, text: &'a str, symbols: &str) -> Vec<&'a str> {
        let known: BTreeSet<_> = self.of(symbols).collect();
        let tokens = self.of(text);
        tokens.filter(|token| !known.contains(token)).collect()
    }

    /// The name of a channel: a symbol of the vocabulary, the unknown symbol, or the `last` one.
    pub(super) fn name(self, channel: usize, symbols: &str, last: &str) -> String {
        let name = self
            .of(symbols)
            .chain(["unknown symbol", last])
            .nth(channel);
        let name = name.map(|name| if name == " " { "space" } else { name });
        name.map_or_else(|| format!("channel {channel}"), str::to_owned)
    }

    /// Checks the vocabulary in a key.
    ///
    /// # Errors
    /// It is too large, or has a token twice.
    pub(super) fn check(self, symbols: &str, key: &'static str) -> Result<(), Fault> {
        let known: BTreeSet<_> = self.of(symbols).collect();
        let (count, known) = (self.of(symbols).count(), known.len());
        if count > MOST_SYMBOLS || count != known {
            let problem = format!(
                "has {count} symbols, {known} of them different; expected at most {MOST_SYMBOLS}, each once"
            );
            return Err(Fault::new(key, problem));
        }
        Ok(())
    }

    /// The vocabulary of those of these lines that are not held out, written as one: the most frequent tokens first, of equally
    /// frequent ones the first; at most this many.
    pub(super) fn vocabulary<'a>(
        self,
        lines: impl ExactSizeIterator<Item = &'a str>,
        held_out: HeldOut,
        most: usize,
    ) -> String {
        let (count, mut counts) = (lines.len(), BTreeMap::<&str, (usize, usize)>::new());
        let learned = lines.enumerate();
        let learned = learned.filter(|(number, _)| !held_out.holds(*number, count));
        for (place, token) in learned.flat_map(|(_, line)| self.of(line)).enumerate() {
            counts.entry(token).or_insert((0, place)).0 += 1;
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_unstable_by_key(|(_, (count, place))| (Reverse(*count), *place));
        let all = all.into_iter().take(most).map(|(token, _)| token);
        all.collect::<Vec<_>>().join(self.between())
    }
}
