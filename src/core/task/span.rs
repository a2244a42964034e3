//! Span: see a document of symbols and a question, then say where in the document the answer begins and where it ends.
//!
//! A document is a row of statements: a key, as long as the question, a value, and the symbol *end of span*; before the
//! first one there may be symbols that say nothing. The question is the key of one statement and occurs once in the document, the answer
//! is its value. The ends of the other statements look the same, so that the question has to be read. With values of one
//! symbol this is a cloze, and the symbol itself can be asked for. Both ends can be asked for several times.
//!
//! One episode with 4 symbols, 7 positions, length 7, questions of 1 symbol and answers of 1 or 2; channels down, time to the
//! right (`.` is 0):
//!
//! ```text
//!             input         |d|q|d|ans.
//! input  sym0 . 1 . . . 1 . . . . . .
//!        sym1 . . . 1 . . . . 1 . . .
//!        sym2 1 . . . . . . . . . . .
//!        sym3 . . . . 1 . . . . . . .
//!        end  . . 1 . . . 1 . . . . .
//!        ques.. . . . . . . 1 . . . .
//!        delim. . . . . . . . . 1 . .
//! target pos0 . . . . . . . . . . . .
//!        pos1 . . . . . . . . . . . .
//!        pos2 . . . . . . . . . . . .
//!        pos3 . . . . . . . . . . . .
//!        pos4 . . . . . . . . . . 1 .
//!        pos5 . . . . . . . . . . . 1
//!        pos6 . . . . . . . . . . . .
//! mask        . . . . . . . . . . 1 1
//! ```

use std::ops::{Range, RangeInclusive};

use rand::RngExt;

use super::generate::{Generate, check_symbols, named};
use super::{Episode, Fault, Manual, Phase};
use crate::keys::Field::{Choice, Integer, Range as Ends};
use crate::keys::{Keys, Table, Words};
use crate::math::{Answer, Random};

/// The most symbols of a question.
const MAX_QUESTION: usize = 16;

/// Documents that are drawn until the question occurs once; the one after them is made so that it does.
const ATTEMPTS: usize = 100;

/// Parameters of span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Symbols, ≥ 2; default 16.
    pub symbols: usize,
    /// Outputs: steps of the longest document; default 20.
    pub positions: usize,
    /// Steps of a document, sampled uniformly; at most the positions; default 10 to 20.
    pub length: RangeInclusive<usize>,
    /// Symbols of a question; default 2.
    pub question: usize,
    /// Symbols of an answer, sampled uniformly where there is room; default 1 to 3.
    pub span: RangeInclusive<usize>,
    /// What the answer is; default its two ends.
    pub asked_for: AskedFor,
    /// How often the answer is asked for; default once.
    pub rounds: usize,
}

/// The form of an answer about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedFor {
    /// The first and the last step of the answer.
    Ends,
    /// The answer itself, one symbol.
    Symbol,
}

impl Words for AskedFor {
    const WORDS: &'static [(&'static str, Self)] =
        &[("ends", Self::Ends), ("symbol", Self::Symbol)];
}

impl Span {
    /// Symbols of an answer.
    fn spans(&self) -> RangeInclusive<usize> {
        match self.asked_for {
            AskedFor::Ends => self.span.clone(),
            AskedFor::Symbol => 1..=1,
        }
    }

    /// The defaults.
    pub const DEFAULT: Self = Self {
        symbols: 16,
        positions: 20,
        length: 10..=20,
        question: 2,
        span: 1..=3,
        asked_for: AskedFor::Ends,
        rounds: 1,
    };

    /// The episode of this document and this question; `None` if the question does not occur just once, or no answer and end
    /// of span follow it. In the document, the number after those of the symbols is an end of span.
    pub fn episode_of(&self, document: &[usize], question: &[usize]) -> Option<Episode> {
        let answer = self.answer(document, question)?;
        let (length, asked) = (document.len(), question.len());
        let targets = match self.asked_for {
            AskedFor::Ends => [answer.start, answer.end - 1].repeat(self.rounds),
            AskedFor::Symbol => vec![document[answer.start]],
        };
        let mut episode = self.silent(length + asked + 2 + targets.len());
        let delimiters = [[self.symbols + 1], [self.symbols + 2]];
        let input = [document, &delimiters[0], question, &delimiters[1]].concat();
        for (step, channel) in input.into_iter().enumerate() {
            episode.input[[step, channel]] = 1.0;
        }
        for (step, target) in (length + asked + 2..).zip(&targets) {
            episode.target[[step, *target]] = 1.0;
            episode.mask[step] = 1.0;
        }
        episode.phases = Phase::in_a_row(&[
            ("input", length),
            ("delimiter", 1),
            ("query", asked),
            ("delimiter", 1),
            ("answer", targets.len()),
        ]);
        episode.size = length;
        Some(episode)
    }

    /// The steps of the answer; `None` without one, as for [`Span::episode_of`].
    pub fn answer(&self, document: &[usize], question: &[usize]) -> Option<Range<usize>> {
        let mut places = document.windows(question.len().max(1)).enumerate();
        let mut found = places.by_ref().filter(|(_, symbols)| *symbols == question);
        let start = found.next()?.0 + question.len();
        let end = document[start..]
            .iter()
            .position(|symbol| *symbol == self.symbols)?;
        let is_one = question.iter().all(|symbol| *symbol < self.symbols) && found.next().is_none();
        let is_right = match self.asked_for {
            AskedFor::Ends => end > 0,
            AskedFor::Symbol => end == 1,
        };
        (is_one && is_right).then_some(start..start + end)
    }

    /// The question of an episode.
    pub fn question(&self, episode: &Episode) -> Vec<usize> {
        let rows = episode.input.rows().into_iter().skip(episode.size + 1);
        let symbol = rows.map(|row| row.iter().position(|value| *value > 0.5));
        symbol.take(self.question).flatten().collect()
    }

    /// A document of this length, of symbols from `least` on, and the steps of a key in it.
    fn document(
        &self,
        random: &mut Random,
        length: usize,
        least: usize,
    ) -> (Vec<usize>, Range<usize>) {
        let (mut document, mut keys) = (Vec::new(), Vec::new());
        let fill = |document: &mut Vec<usize>, count: usize, random: &mut Random| {
            document.extend((0..count).map(|_| random.random_range(least..self.symbols)));
        };
        while document.len() + self.question + self.spans().start() < length {
            let room = length - document.len() - self.question - 1;
            let value = random.random_range(*self.spans().start()..=room.min(*self.spans().end()));
            keys.push(document.len()..document.len() + self.question);
            fill(&mut document, self.question + value, random);
            document.push(self.symbols);
        }
        let rest = length - document.len();
        fill(&mut document, rest, random);
        // Filler comes first: the length of a document does not reveal where keys are.
        document.rotate_right(rest);
        let asked = &keys[random.random_range(0..keys.len())];
        (document, asked.start + rest..asked.end + rest)
    }
}

impl Keys for Span {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("symbols", Integer(&mut self.symbols, 2..=1021), "symbols of the document, without the end of a span");
        to.key("positions", Integer(&mut self.positions, 3..=1024), "number of outputs, one for each step of the longest document");
        let most = self.positions;
        to.key("length", Ends(&mut self.length, 3..=most), "steps of the document; at most `positions`");
        to.key("asked_for", Choice(&mut self.asked_for), "what is asked for: `ends`, the first and the last step of the answer, or `symbol`, the answer itself, which then has one symbol");
        let room = self.length.start().saturating_sub(1);
        to.key("question", Integer(&mut self.question, 1..=room.saturating_sub(1).min(MAX_QUESTION)), "symbols of the question, which occur in the document once");
        if self.asked_for == AskedFor::Ends {
            let most = room.saturating_sub(self.question);
            to.key("span", Ends(&mut self.span, 1..=most), "symbols of an answer with `ends` (with `symbol` one); question, answer and end of span have room in the shortest document");
            to.key("rounds", Integer(&mut self.rounds, 1..=4), "with `ends`: how often both are asked for, one after the other, so that a machine can think again");
        }
    }
}

impl Generate for Span {
    fn channel_name(&self, side: usize, channel: usize) -> String {
        match side {
            0 => named(
                channel,
                ("symbol", self.symbols),
                &["end of span", "question delimiter", "delimiter"],
            ),
            _ if self.asked_for == AskedFor::Symbol => {
                named(channel, ("symbol", self.symbols), &[])
            }
            _ => named(channel, ("position", self.positions), &[]),
        }
    }

    fn inputs(&self) -> usize {
        self.symbols + 3
    }

    fn outputs(&self) -> usize {
        match self.asked_for {
            AskedFor::Ends => self.positions,
            AskedFor::Symbol => self.symbols,
        }
    }

    fn answer(&self) -> Answer {
        Answer::Symbols
    }

    fn symbols(&self) -> Option<usize> {
        Some(self.symbols)
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn least_size(&self) -> usize {
        self.question + self.spans().end() + 1
    }

    fn most_size(&self) -> usize {
        self.positions
    }

    fn longest(&self) -> usize {
        self.longest_source()
            + match self.asked_for {
                AskedFor::Ends => 2 * self.rounds,
                AskedFor::Symbol => 1,
            }
    }

    fn longest_source(&self) -> usize {
        self.length.end() + self.question + 2
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let length = random.random_range(self.length.clone());
        let drawn = (0..ATTEMPTS).find_map(|_| {
            let (document, asked) = self.document(random, length, 0);
            self.episode_of(&document, &document[asked])
        });
        drawn.unwrap_or_else(|| {
            // No other place begins like this question.
            let (mut document, asked) = self.document(random, length, 1);
            document[asked.clone()].fill(0);
            let episode = self.episode_of(&document, &document[asked]);
            episode.unwrap_or_else(|| self.silent(1))
        })
    }

    /// The first and the last step of the answer.
    fn alignment(&self, episode: &Episode) -> Vec<Option<Range<usize>>> {
        let shown = |row: ndarray::ArrayView1<'_, f32>| row.iter().position(|value| *value > 0.5);
        let all = episode.input.rows().into_iter().take(episode.size);
        let document: Option<Vec<usize>> = all.map(shown).collect();
        let symbol = (self.asked_for == AskedFor::Symbol)
            .then(|| self.answer(&document?, &self.question(episode)))
            .flatten();
        let targets = episode.target.rows().into_iter();
        let position = targets.map(|row| {
            let target = shown(row)?;
            Some(symbol.as_ref().map_or(target, |answer| answer.start))
        });
        position.map(|row| row.map(|row| row..row + 1)).collect()
    }

    fn editable(&self) -> usize {
        self.symbols + 1
    }

    fn shown(&self, episode: &Episode, step: usize) -> Option<(Manual, usize)> {
        let mut shown = Manual::of(episode, 0, 0)?;
        shown.question = self.question(episode);
        Some((shown, step))
    }

    fn manual_keys(&self) -> &'static [&'static str] {
        &["symbols", "question"]
    }

    fn manual_example(&self) -> &'static str {
        r#"a document with null for each end of a span, and a question such as {"symbols": [3,1,null], "question": [3]}"#
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (count, positions, question) = (given.symbols.len(), self.positions, &given.question);
        let is_long = count > positions;
        let allowed = is_long.then(|| format!("1 to {positions}, one for each position"));
        check_symbols(given, self.symbols, true, allowed)?;
        let answer = self.answer(&given.numbers(self.symbols), question);
        let Some(answer) = answer.filter(|_| question.len() <= MAX_QUESTION) else {
            let form = match self.asked_for {
                AskedFor::Ends => "an answer",
                AskedFor::Symbol => "an answer of one symbol",
            };
            let problem = format!(
                "does not occur once, with {form} and then null behind it, or has more than 16 symbols"
            );
            return Err(Fault::new("question", problem));
        };
        (self.question, self.span) = (question.len(), answer.len()..=answer.len());
        self.set_size(count);
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        self.episode_of(&given.numbers(self.symbols), &given.question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::tests::picture;

    /// The answer by its rule: the only place of the question, and the first end after it.
    fn found(episode: &Episode, task: &Span) -> [usize; 2] {
        let shown = |row: usize| {
            episode
                .input
                .row(row)
                .iter()
                .position(|value| *value == 1.0)
        };
        let all: Vec<usize> = (0..episode.source())
            .map(|row| shown(row).unwrap())
            .collect();
        let (document, rest) = all.split_at(episode.size);
        let (question, last) = rest[1..].split_at(task.question);
        assert_eq!((rest[0], last), (task.symbols + 1, &[task.symbols + 2][..]));
        let places = (0..episode.size).filter(|place| document[*place..].starts_with(question));
        let places: Vec<usize> = places.collect();
        assert_eq!(places.len(), 1, "{document:?} {question:?}");
        let start = places[0] + task.question;
        let ends = document.iter().enumerate().skip(start);
        let mut ends = ends.filter(|(_, symbol)| **symbol == task.symbols);
        [start, ends.next().unwrap().0 - 1]
    }

    #[test]
    fn docs_example_is_reproduced() {
        let task = Span {
            symbols: 4,
            positions: 7,
            length: 7..=7,
            question: 1,
            span: 1..=2,
            ..Span::DEFAULT
        };
        let document = [2, 0, 4, 1, 3, 0, 4];
        let episode = task.episode_of(&document, &[1]).unwrap();
        let (input, target, mask) = picture(include_str!("span.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(task.alignment(&episode)[10..], [Some(4..5), Some(5..6)]);
        assert_eq!(task.alignment(&episode)[..10], [const { None }; 10]);
        let phases = episode.phases.iter().map(|p| (&*p.name, p.start, p.end));
        let wanted = [
            ("input", 0, 7),
            ("delimiter", 7, 8),
            ("query", 8, 9),
            ("delimiter", 9, 10),
            ("answer", 10, 12),
        ];
        assert_eq!(phases.collect::<Vec<_>>(), wanted);
        assert_eq!((episode.size, episode.scored_bits()), (7, 2));
        assert_eq!((task.longest(), task.longest_run()), (12, 12));
        assert_eq!((episode.end_symbol(), episode.most_steps()), (None, 12));
        assert!((task.chance(&episode) - 2.0 * 7.0_f64.log2()).abs() < 1e-12);
        assert_eq!((task.question(&episode), episode.source()), (vec![1], 10));
        let names = [3, 4, 5, 6, 7].map(|channel| task.channel_name(0, channel));
        let wanted = [
            "symbol 3",
            "end of span",
            "question delimiter",
            "delimiter",
            "channel 7",
        ];
        assert_eq!(names, wanted);
        assert_eq!(task.channel_name(1, 6), "position 6");
        // The question is not there, occurs twice, has no answer, or none with an end.
        for (document, question) in [
            (&document[..], &[3, 1][..]),
            (&document, &[0]),
            (&[1, 4, 0, 4], &[1]),
            (&document[..6], &[1]),
            (&document, &[]),
            (&[2, 4, 0, 4][1..], &[4]),
        ] {
            assert_eq!(task.episode_of(document, question), None);
        }
    }

    #[test]
    fn document_and_question_determine_start_and_end() {
        let cloze = Span {
            symbols: 6,
            positions: 12,
            length: 6..=12,
            question: 1,
            span: 1..=1,
            ..Span::DEFAULT
        };
        // With so few symbols, no key of such a long document is there just once.
        let repeated = Span {
            symbols: 2,
            positions: 60,
            length: 60..=60,
            ..cloze.clone()
        };
        let long = Span {
            length: 14..=20,
            question: 3,
            span: 2..=4,
            ..Span::DEFAULT
        };
        for span in [Span::DEFAULT, cloze, repeated, long] {
            let task = Task::Span(span.clone());
            task.validate().unwrap();
            let (mut lengths, mut starts, mut ends) = ([0; 9], [0; 61], 0);
            for index in 0..2000 {
                let episode = task.episode(3, index);
                assert!(task.size().contains(&episode.size));
                let [start, end] = found(&episode, &span);
                let steps = episode.steps();
                let wanted = [(start, steps - 2), (end, steps - 1)];
                let alignment = task.alignment(&episode);
                for (position, step) in wanted {
                    assert_eq!(episode.target[[step, position]], 1.0);
                    assert_eq!(alignment[step], Some(position..position + 1));
                }
                assert_eq!((episode.scored_steps(), episode.target.sum()), (2, 2.0));
                assert!(steps <= task.longest());
                lengths[end + 1 - start] += 1;
                starts[start] += 1;
                ends += usize::from(episode.input.column(span.symbols).sum() > 1.0);
            }
            // Every length occurs, the answer is in many places, and nearly always other spans have ends too.
            let (least, most) = (*span.span.start(), *span.span.end());
            assert!(
                lengths[least..=most].iter().all(|n| *n > 200),
                "{lengths:?}"
            );
            assert_eq!(lengths.iter().sum::<usize>(), 2000);
            assert!(starts.iter().filter(|n| **n > 50).count() > 4, "{starts:?}");
            assert!(ends > 1500, "{ends}");
            assert_eq!(task.size_name(), "length");
            let longest = task.with_size(99);
            assert_eq!(longest.size(), span.positions..=span.positions);
            assert_eq!(longest.episode(1, 1).steps(), longest.longest());
        }
    }

    #[test]
    fn the_symbol_or_the_ends_again_can_be_asked_for() {
        let document = [2, 0, 4, 1, 3, 4];
        let plain = Span {
            symbols: 4,
            question: 1,
            ..Span::DEFAULT
        };
        let again = Span {
            rounds: 3,
            ..plain.clone()
        };
        let episode = again.episode_of(&document, &[1]).unwrap();
        assert_eq!((episode.steps(), episode.source()), (15, 9));
        let task = Task::Span(again);
        assert_eq!(task.alignment(&episode)[9..], vec![Some(4..5); 6]);
        let cloze = Span {
            asked_for: AskedFor::Symbol,
            ..plain
        };
        let episode = cloze.episode_of(&document, &[1]).unwrap();
        assert_eq!((episode.steps(), episode.target[[9, 3]]), (10, 1.0));
        let task = Task::Span(cloze.clone());
        task.validate().unwrap();
        assert_eq!(task.alignment(&episode)[9..], [Some(4..5)]);
        assert_eq!(
            (task.outputs(), task.channel_name(1, 3)),
            (4, "symbol 3".to_owned())
        );
        assert!((task.chance(&episode) - 2.0).abs() < 1e-12);
        // Two symbols are no answer of one symbol.
        assert_eq!(cloze.episode_of(&[1, 2, 3, 4], &[1]), None);
        for index in 0..500 {
            let episode = task.episode(2, index);
            assert!(episode.steps() <= task.longest());
            let position = task.alignment(&episode).pop().unwrap().unwrap().start;
            assert_eq!(
                episode.input.row(position).iter().position(|x| *x > 0.5),
                episode
                    .target
                    .row(episode.steps() - 1)
                    .iter()
                    .position(|x| *x > 0.5)
            );
        }
    }

    #[test]
    fn errors_name_key_value_and_range() {
        let message = |change: fn(&mut Span)| {
            let mut task = Span::DEFAULT;
            change(&mut task);
            Task::Span(task).validate().unwrap_err().to_string()
        };
        for (change, expected) in [
            (
                (|task| task.length = 10..=21) as fn(&mut Span),
                "length is [10, 21]; allowed: [lowest, highest] with 3 ≤ lowest ≤ highest ≤ 20",
            ),
            (|task| task.length = 2..=9, "length is [2, 9]; allowed: "),
            (|task| task.question = 9, "question is 9; allowed: 1 to 8"),
            (
                |task| task.span = 1..=8,
                "span is [1, 8]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 7",
            ),
            (
                |task| task.positions = 1025,
                "positions is 1025; allowed: 3 to 1024",
            ),
            (|task| task.symbols = 1, "symbols is 1; allowed: 2 to 1021"),
        ] {
            let said = message(change);
            assert!(said.starts_with(expected), "{said}\n{expected}");
        }
    }
}
