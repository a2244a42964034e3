//! Pairs: see the tokens of a source, then a delimiter, then emit the tokens of its target, and the end symbol.
//!
//! The pairs are the lines of a text file. Source and target have vocabularies of their own: the tokens of the training
//! lines, the most frequent first, of equally frequent ones the first in the file. After them comes the unknown symbol: every
//! other token.
//!
//! The pair `b a` → `B A`, aligned `0-0 1-1`, where `b` and `A` are not in the vocabularies `a c` and `B`; channels down,
//! time to the right (`.` is 0):
//!
//! ```text
//!             input | answer
//! input  a    . 1 . . . .
//!        c    . . . . . .
//!        unk. 1 . . . . .
//!        delim. . 1 . . .
//! target B    . . . 1 . .
//!        unk. . . . . 1 .
//!        end  . . . . . 1
//! mask        . . . 1 1 1
//! ```

use std::ops::RangeInclusive;
use std::sync::Arc;

use ndarray::Array2;

use super::fault::Fault;
use super::generate::{Alphabet, Generate, LENGTHS, MAX_LENGTH};
use super::links::{Link, Links, SIDES};
use super::split::{HeldOut, Loaded, Split};
use super::tokens::{MOST_SYMBOLS, Tokens, first_symbols, unknown_token};
use super::{Episode, Manual};
use crate::keys::Field::{Choice, Integer, Range as Ends, Text};
use crate::keys::{Keys, Table, Words};
use crate::math::Random;

/// A token that stands for an unknown target.
const UNKNOWN: &str = "\u{fffd}";
/// The note on a pair whose target is not known.
pub const TARGET_NOT_KNOWN: &str =
    "the right answer is not known: loss and wrong symbols mean nothing";

/// A pair of texts, as a line of a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Source and target.
    texts: [String; 2],
    /// Their numbers of tokens.
    lengths: [usize; 2],
    /// The links, where the line has them.
    links: Option<Vec<Link>>,
}

impl Pair {
    /// True for a pair given by hand whose target is not known.
    fn lacks_target(&self) -> bool {
        self.texts[1].contains(UNKNOWN)
    }

    /// Reads a line: source, tab, target; perhaps a tab and an alignment such as `0-0 1-2`; `1p2` is a possible link.
    ///
    /// # Errors
    /// The problem, and what is expected.
    pub fn parse(line: &str, form: impl Into<PairForm>) -> Result<Self, String> {
        let PairForm { tokens, first } = form.into();
        let fields: Vec<&str> = line.split('\t').collect();
        let problem = match fields.len() {
            1 if line.is_empty() => "is empty; expected source, tab, target",
            1 => "has no tab; expected source, tab, target",
            2 | 3 => "",
            _ => {
                "has more than two tabs; expected source, tab, target, or these, a tab and an alignment"
            }
        };
        if !problem.is_empty() {
            return Err(problem.to_owned());
        }
        let texts = [fields[0], fields[1]];
        let lengths = [0, 1].map(|side| tokens[side].of(texts[side]).count());
        for (side, length) in SIDES.into_iter().zip(lengths) {
            if !LENGTHS.contains(&length) {
                let problem = format!("expected 1 to {MAX_LENGTH}");
                return Err(format!("has a {side} of {length} tokens; {problem}"));
            }
        }
        let links = fields.get(2);
        let links = links.map(|links| Link::parse_all(Tokens::Words.of(links), lengths, first));
        Ok(Self {
            texts: texts.map(str::to_owned),
            lengths,
            links: links.transpose()?,
        })
    }

    /// The source (side 0) or the target (side 1).
    pub(super) fn text(&self, side: usize) -> &str {
        &self.texts[side]
    }

    /// True if the pair has an alignment.
    pub fn is_aligned(&self) -> bool {
        self.links.is_some()
    }
}

/// How the lines of a file have their pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairForm {
    /// The parts of a text that are symbols, of sources and of targets.
    pub tokens: [Tokens; 2],
    /// The number of the first token in alignments, 0 or 1.
    pub first: usize,
}

impl From<Tokens> for PairForm {
    fn from(tokens: Tokens) -> Self {
        Self {
            tokens: [tokens; 2],
            first: 0,
        }
    }
}

/// The parts of a target that are symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetTokens {
    /// Those of its source.
    Same,
    /// Words.
    Words,
    /// Characters.
    Characters,
}

impl Words for TargetTokens {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("same", Self::Same),
        ("words", Self::Words),
        ("characters", Self::Characters),
    ];
}

/// A task whose episodes are the lines of a text file. Equal if its description is, loaded or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    /// The file, for who reads it; empty for lines that come from elsewhere.
    pub file: String,
    /// The file with the held-out ones; empty where `held_out` chooses them.
    pub test_file: String,
    /// The SHA-256 that identifies these lines in files; empty if not given.
    pub sha256: String,
    /// The parts of a text that are symbols; default `words`.
    pub tokens: Tokens,
    /// Those of a target.
    pub target_tokens: TargetTokens,
    /// The number of the first token in alignments, 0 or 1.
    pub first_token: usize,
    /// Tokens of a source; lines with others are ignored.
    pub length: RangeInclusive<usize>,
    /// The held-out lines.
    pub held_out: HeldOut,
    /// The vocabularies of source and target: their tokens in order, written as in a line.
    pub symbols: [String; 2],
    pub(super) lines: Loaded<Vec<Pair>>,
}

impl Pairs {
    /// The defaults of a preset, without lines.
    pub const NONE: Self = Self {
        file: String::new(),
        test_file: String::new(),
        sha256: String::new(),
        tokens: Tokens::Words,
        target_tokens: TargetTokens::Same,
        first_token: 0,
        length: LENGTHS,
        held_out: HeldOut::WORDS[0].1,
        symbols: [String::new(), String::new()],
        lines: Loaded::NONE,
    };

    /// Returns the task with its lines. Vocabularies that are not given are those of the training lines, and the length that
    /// of all lines.
    ///
    /// # Errors
    /// As for [`super::Episodes::with`] and [`Pairs::check`].
    pub fn with(mut self, pairs: Arc<Vec<Pair>>) -> Result<Self, Fault> {
        let lengths = pairs.iter().map(|pair| pair.lengths[0]).collect();
        let split = Split::new(lengths, self.held_out, &mut self.length)?;
        let form = self.form();
        for (side, own) in self.symbols.iter_mut().enumerate() {
            if own.is_empty() {
                let texts = pairs.iter().map(|pair| &*pair.texts[side]);
                *own = form.tokens[side].vocabulary(texts, self.held_out, MOST_SYMBOLS);
            }
        }
        self.check()?;
        self.lines = Loaded::new(pairs, split);
        Ok(self)
    }

    /// Checks the vocabularies.
    ///
    /// # Errors
    /// A vocabulary is too large, or has a token twice.
    pub fn check(&self) -> Result<(), Fault> {
        let keys = ["source_symbols", "target_symbols"];
        let mut sides = self.symbols.iter().zip(keys).enumerate();
        sides.try_for_each(|(side, (symbols, key))| self.tokens(side).check(symbols, key))
    }

    /// The symbols of the source (side 0) or of the target (side 1).
    pub fn tokens(&self, side: usize) -> Tokens {
        match self.target_tokens {
            TargetTokens::Words if side == 1 => Tokens::Words,
            TargetTokens::Characters if side == 1 => Tokens::Characters,
            _ => self.tokens,
        }
    }

    /// How its lines are read.
    pub fn form(&self) -> PairForm {
        PairForm {
            tokens: [0, 1].map(|side| self.tokens(side)),
            first: self.first_token,
        }
    }

    /// The lines, if they are loaded.
    pub fn pairs(&self) -> Option<&Arc<Vec<Pair>>> {
        self.lines.get().map(|(pairs, _)| pairs)
    }

    /// The known symbols of the source (side 0) or of the target (side 1), in order.
    pub fn symbols(&self, side: usize) -> impl Iterator<Item = &str> {
        self.tokens(side).of(&self.symbols[side])
    }

    /// Reads a line given by hand. A source alone gets the target of the first line with this source, or else as many
    /// unknown symbols as the longest target has; without the lines, as the longest source has.
    ///
    /// # Errors
    /// As for [`Pair::parse`].
    pub fn parse(&self, line: &str) -> Result<Pair, String> {
        let all = self.pairs().map_or(&[][..], |pairs| pairs);
        if let Some(known) = all.iter().find(|pair| pair.texts[0] == line) {
            return Ok(known.clone());
        }
        if line.contains('\t') {
            return Pair::parse(line, self.form());
        }
        let longest = all.iter().map(|pair| pair.lengths[1]).max();
        let longest = longest.unwrap_or_else(|| {
            let own = self.tokens.of(line).count();
            own.max(*self.length.end()).min(MAX_LENGTH)
        });
        let target = vec![UNKNOWN; longest].join(self.tokens(1).between());
        Pair::parse(&format!("{line}\t{target}"), self.form())
    }

    /// The episode of a source given by its symbols; its target is that of [`Pairs::parse`].
    pub(super) fn episode_of_symbols(&self, source: &[usize]) -> Option<Episode> {
        let known: Vec<&str> = self.symbols(0).collect();
        let tokens = source
            .iter()
            .map(|&symbol| *known.get(symbol).unwrap_or(&UNKNOWN));
        let line = tokens.collect::<Vec<_>>().join(self.tokens.between());
        Some(self.episode_of(&self.parse(&line).ok()?))
    }

    /// True if all symbols of the answer are unknown, as for a source given by hand that no line has.
    pub fn lacks_target(&self, episode: &Episode) -> bool {
        let unknown = self.symbols(1).count();
        let answer = episode.source()..episode.target_end().saturating_sub(1);
        !answer.is_empty() && { answer }
            .all(|step| episode.target.get([step, unknown]) == Some(&1.0))
    }

    /// The episode of a pair.
    pub fn episode_of(&self, pair: &Pair) -> Episode {
        let codes = |side: usize| {
            self.tokens(side)
                .codes(&pair.texts[side], &self.symbols[side])
        };
        let [source, target] = [0, 1].map(codes);
        let mut shown = Array2::zeros((source.len(), self.inputs() - 1));
        for (step, &symbol) in source.iter().enumerate() {
            shown[[step, symbol]] = 1.0;
        }
        let named: Vec<_> = target.iter().map(|&symbol| (symbol, 0..0)).collect();
        let mut episode = self.naming(&shown, &named);
        episode.alignment.clear();
        if let Some(links) = &pair.links {
            let before = source.len() + 1;
            let tokens = before..before + target.len();
            episode.set_links(Links::between_tokens(links, tokens));
        }
        episode
    }

    /// The most steps of a line with an answer this many times as long as the target.
    fn longest_with(&self, times: usize) -> usize {
        let all = self.pairs().map_or(&[][..], |pairs| pairs);
        let some = all.iter().map(|pair| pair.lengths);
        let some = some.filter(|[source, _]| self.length.contains(source));
        let longest = some.map(|[source, target]| source + 1 + times * (target + 1));
        let unknown = (1 + times) * (self.length.end() + 1);
        longest.max().unwrap_or(unknown)
    }

    /// Line `number` of the file; without one the first symbols of the vocabulary, or silence.
    pub(super) fn numbered(&self, number: Option<usize>) -> Episode {
        let line = self.pairs().zip(number);
        let line = line.map(|(all, number)| self.episode_of(&all[number]));
        let first = || self.episode_of_symbols(&first_symbols(self.symbols(0), &self.length));
        line.or_else(first).unwrap_or_else(|| self.silent(1))
    }
}

impl Keys for Pairs {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("file", Text(&mut self.file), "text file with the pairs, relative to the folder of the preset");
        to.depends("sha256", Text(&mut self.sha256), "that of the file", "SHA-256 of the lines; if given, other lines are refused");
        to.key("tokens", Choice(&mut self.tokens), "symbols of a line: `words`, separated by spaces, or `characters`");
        to.added("target_tokens", Choice(&mut self.target_tokens), "symbols of a target: the `same` as of its source, or others");
        to.added("first_token", Integer(&mut self.first_token, 0..=1), "number of the first token in the alignments of the file");
        to.depends("length", Ends(&mut self.length, LENGTHS), "all lengths in the file", "source tokens per line; lines of other lengths are ignored");
        to.added("test_file", Text(&mut self.test_file), "file with the held-out pairs, such as that of a benchmark; they count as the last of `file`, whatever `held_out` says");
        self.held_out.keys(to);
        let [source, target] = &mut self.symbols;
        to.depends("source_symbols", Text(source), "those of the training lines", "vocabulary of the source, written as in a line; at most 1022 symbols, the most frequent first");
        to.depends("target_symbols", Text(target), "those of the training lines", "vocabulary of the target");
    }
}

impl Generate for Pairs {
    fn alphabet(&self) -> Option<Alphabet> {
        let [values, symbols] = [0, 1].map(|side| self.symbols(side).count() + 1);
        let value = "symbol";
        Some(Alphabet {
            value,
            values,
            symbols,
        })
    }

    fn channel_name(&self, side: usize, channel: usize) -> String {
        let last = ["delimiter", "end symbol"][side];
        self.tokens(side).name(channel, &self.symbols[side], last)
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn longest_source(&self) -> usize {
        self.length.end() + 1
    }

    fn longest(&self) -> usize {
        self.longest_with(1)
    }

    fn longest_run(&self) -> usize {
        self.longest_with(2)
    }

    /// A training line of these lengths, or of any length without them; silence if there is none.
    fn sample(&self, random: &mut Random) -> Episode {
        self.numbered(self.lines.sample(&self.length, random))
    }

    fn editable(&self) -> usize {
        self.symbols(0).count() + 1
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["line"]
    }

    fn manual_example(&self) -> &'static str {
        r#"a source such as "the cat", or with its target: "the cat\tle chat""#
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let parsed = self.parse(&given.line);
        parsed
            .map(|_| ())
            .map_err(|problem| Fault::new("", problem))
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        if !given.symbols.is_empty() {
            return self.episode_of_symbols(&given.numbers(0));
        }
        Some(self.episode_of(&self.parse(&given.line).ok()?))
    }

    fn notes(&self, given: &Manual) -> Vec<String> {
        let Ok(pair) = self.parse(&given.line) else {
            return Vec::new();
        };
        let unknown = self.tokens.unknown(&pair.texts[0], &self.symbols[0]);
        let notes = { unknown.into_iter() }.map(|token| unknown_token(token) + " of the source");
        let lacks = pair.lacks_target();
        let lacks = lacks.then(|| format!("note: {TARGET_NOT_KNOWN}"));
        notes.chain(lacks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;

    fn pairs(lines: &[&str], tokens: Tokens) -> Arc<Vec<Pair>> {
        let pairs = lines.iter().map(|line| Pair::parse(line, tokens).unwrap());
        Arc::new(pairs.collect())
    }

    fn task(lines: &[&str], tokens: Tokens) -> Result<Pairs, Fault> {
        let none = Pairs {
            tokens,
            held_out: HeldOut::Last(1),
            ..Pairs::NONE
        };
        none.with(pairs(lines, tokens))
    }

    #[test]
    fn docs_example_is_reproduced() {
        let lines = ["a a c\tB", "b a\tB A\t0-0 1-1"];
        let task = task(&lines, Tokens::Words).unwrap();
        let (input, target, mask) = picture(include_str!("pairs.rs"), &[]);
        let whole = Task::Pairs(task.clone());
        let episode = whole.episode(0, 0);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(episode.alignment[3..], [Some(0..1), Some(1..2), None]);
        assert_eq!(
            (episode.size, episode.scored_bits(), task.longest()),
            (2, 3, 6)
        );
        assert_eq!((task.longest_run(), episode.most_steps()), (9, 9));
        assert_eq!(
            (whole.split(), whole.number(0, 7)),
            (Some((1, 1, HeldOut::Last(1))), Some(1))
        );
        let names = |side: usize, count: usize| -> Vec<String> {
            (0..=count)
                .map(|channel| whole.channel_name(side, channel))
                .collect()
        };
        assert_eq!(
            names(0, whole.inputs()),
            ["a", "c", "unknown symbol", "delimiter", "channel 4"]
        );
        assert_eq!(
            names(1, whole.outputs()),
            ["B", "unknown symbol", "end symbol", "channel 3"]
        );
        // The training line has no alignment.
        assert_eq!(whole.training_episode(1, 0).alignment, []);
        assert_eq!(whole.training_episode(1, 0).input[[0, 0]], 1.0);
    }

    #[test]
    fn vocabulary_is_of_the_training_lines_the_most_frequent_first() {
        let lines = ["b b a\tx", "a c a\ty", "d d\tz"];
        let words = task(&lines, Tokens::Words).unwrap();
        assert_eq!(words.symbols.each_ref().map(|all| &**all), ["a b c", "x y"]);
        assert_eq!(words.length, 2..=3);
        let characters = task(&["é é\tab", "xy\tb", "z\tz"], Tokens::Characters).unwrap();
        assert_eq!(
            characters.symbols.each_ref().map(|all| &**all),
            ["é xy", "ba"]
        );
        assert_eq!(characters.channel_name(0, 1), "space");
        // Letters of a word become words.
        let mixed = Pairs {
            tokens: Tokens::Characters,
            target_tokens: TargetTokens::Words,
            held_out: HeldOut::Last(1),
            ..Pairs::NONE
        };
        let letters = ["cat\tK AE T", "at\tAE T", "z\tz"];
        let letters = letters.map(|line| Pair::parse(line, mixed.form()).unwrap());
        let mixed = mixed.with(Arc::new(letters.to_vec())).unwrap();
        assert_eq!(
            mixed.symbols.each_ref().map(|all| &**all),
            ["atc", "AE T K"]
        );
        let episode = mixed.episode_of(&mixed.parse("at").unwrap());
        assert_eq!((episode.source(), episode.steps()), (3, 6));
        // A vocabulary that is given stays, whatever the lines are.
        let given = Pairs {
            symbols: ["d a", "x"].map(str::to_owned),
            ..words.clone()
        };
        let given = given.with(pairs(&lines, Tokens::Words)).unwrap();
        assert_eq!((&*given.symbols[0], given.inputs()), ("d a", 4));
        assert_eq!(given.numbered(Some(2)).input[[1, 0]], 1.0);
        let many: Vec<String> = (0..1100).map(|n| format!("w{n} often\tx")).collect();
        let many: Vec<&str> = many.iter().map(|line| &**line).collect();
        let many = task(&many, Tokens::Words).unwrap();
        assert_eq!(
            (many.inputs(), many.symbols(0).next()),
            (1024, Some("often"))
        );
        assert_eq!(many.numbered(Some(1050)).input[[0, 1022]], 1.0);
        let wrong = |symbols: String| {
            let task = Pairs {
                symbols: [symbols, String::new()],
                ..words.clone()
            };
            task.check().unwrap_err().to_string()
        };
        assert_eq!(
            wrong("a b a".to_owned()),
            "`source_symbols`: has 3 symbols, 2 of them different; expected at most 1022, each once"
        );
        assert_eq!(
            wrong("a ".repeat(2000)),
            "`source_symbols`: has 2000 symbols, 1 of them different; expected at most 1022, each once"
        );
    }

    #[test]
    fn every_fault_of_a_line_is_named() {
        for (line, expected) in [
            ("", "is empty; expected source, tab, target"),
            ("a b", "has no tab; expected source, tab, target"),
            ("\tb", "has a source of 0 tokens; expected 1 to 100000"),
            ("  \tb", "has a source of 0 tokens"),
            ("a\t", "has a target of 0 tokens"),
            (
                "a\tb\t\tc",
                "has more than two tabs; expected source, tab, target, or these, a tab and an alignment",
            ),
            (
                "a\tb\t0:0",
                "has the link `0:0`; expected a source token, - or p, and a target token, such as 0-2",
            ),
            (
                "a\tb\t+0-0",
                "has the link `+0-0`; expected a source token, - or p, and a target token",
            ),
            (
                "a\tb\t0-+0",
                "has the link `0-+0`; expected a source token, - or p, and a target token",
            ),
            (
                "a\tb\t0-0 1-0",
                "has the link `1-0`; 1 is outside the source, which has the tokens 0 to 0",
            ),
            (
                "a\tb c\t0-2",
                "has the link `0-2`; 2 is outside the target, which has the tokens 0 to 1",
            ),
            ("a\tb\t-1-0", "has the link `-1-0`; expected a source token"),
        ] {
            let problem = Pair::parse(line, Tokens::Words).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}\n{expected}");
        }
        let long = "a".repeat(MAX_LENGTH + 1) + "\tb";
        let problem = Pair::parse(&long, Tokens::Characters).unwrap_err();
        assert_eq!(
            problem,
            "has a source of 100001 tokens; expected 1 to 100000"
        );
        let fault = task(&["a\tb"], Tokens::Words).unwrap_err();
        assert!(
            fault
                .problem
                .starts_with("is the last 1: none of 1 episodes is used for training"),
            "{fault}"
        );
    }

    #[test]
    fn tokens_of_targets_are_written_as_they_are_read() {
        for (word, tokens) in TargetTokens::WORDS {
            assert_eq!(crate::keys::Choice::word(tokens), *word);
        }
    }

    #[test]
    fn alignment_goes_from_the_first_to_the_last_source_token() {
        let pair = Pair::parse("a b c\tx y z\t2-0 0-0  1-2", Tokens::Words).unwrap();
        let aligned =
            |pair: &Pair| Link::by_target(pair.links.as_deref().unwrap(), pair.lengths[1]);
        assert_eq!(aligned(&pair)[0], [Some(0..3), None, Some(1..2)]);
        let from_one = PairForm {
            first: 1,
            ..Tokens::Words.into()
        };
        let same = Pair::parse("a b c\tx y z\t3-1 1-1  2-3", from_one);
        assert_eq!(same.unwrap(), pair);
        let possible = Pair::parse("a b c\tx y z\t3p1 1-1  2p3", from_one).unwrap();
        let [all, sure] = aligned(&possible);
        assert_eq!([all, Vec::new()], aligned(&pair));
        assert_eq!(sure, [Some(0..1), None, None]);
        let problem = Pair::parse("a\tx\t0-1", from_one).unwrap_err();
        let expected = "0 is outside the source, which has the tokens 1 to 1";
        assert!(problem.contains(expected), "{problem}");
        let nothing = Pair::parse("a\tx\t", Tokens::Words).unwrap();
        assert!(nothing.is_aligned() && aligned(&nothing)[0] == [None]);
    }

    #[test]
    fn a_source_given_by_hand_has_the_target_of_its_line_or_unknown_symbols() {
        let task = task(&["a b\tx y", "b\ty", "c\tz z z"], Tokens::Words).unwrap();
        let episode = |line: &str| task.episode_of(&task.parse(line).unwrap());
        assert_eq!(episode("a b"), task.numbered(Some(0)));
        let unknown = episode("b a b");
        assert_eq!((unknown.source(), unknown.scored_steps()), (4, 4));
        assert_eq!(unknown.target.column(2).sum(), 3.0);
        assert_eq!(episode("b a\tx").target[[3, 1]], 1.0);
        assert!(task.parse("").is_err() && task.parse("a\t").is_err());
        // A task without its file knows its symbols.
        let alone = Pairs {
            lines: Loaded::NONE,
            ..task.clone()
        };
        assert_eq!(alone, task);
        assert_eq!(
            alone.episode_of(&alone.parse("a\tx").unwrap()),
            episode("a\tx")
        );
        // Without a line it shows one of its first symbols.
        assert_eq!(alone.numbered(None).steps(), 6);
    }
}
