//! The facts about the file of a task that decide how far its measurements can be trusted.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use super::split::Loaded;
use super::{HeldOut, Task, Tokens};

/// A summary of the episodes of a file, of the lengths of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSummary {
    /// Training episodes.
    pub training: usize,
    /// Held-out episodes.
    pub held_out: usize,
    /// The rule that holds them out.
    pub rule: HeldOut,
    /// Held-out episodes that equal a training episode.
    pub repeated: usize,
    /// The vocabularies of a text file: of source and target, or of its lines.
    pub vocabularies: Vec<VocabularySummary>,
}

/// A summary of a vocabulary and of the held-out lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularySummary {
    /// `source`, `target` or `line`.
    pub side: &'static str,
    /// Known symbols.
    pub kept: usize,
    /// Different tokens of the training lines that are not known.
    pub cut: usize,
    /// Held-out lines with a token that is not known.
    pub unknown: usize,
}

impl DataSummary {
    /// What makes the measurements look better or worse than they are, a sentence each; often nothing.
    pub fn warnings(&self) -> Vec<String> {
        let (held_out, repeated) = (self.held_out, self.repeated);
        let repeated = (repeated > 0).then(|| {
            format!("{repeated} of {held_out} held-out episodes are also training episodes")
        });
        let parts = self.vocabularies.iter().filter(|part| part.unknown > 0);
        let unknown = parts.map(|part| {
            let (unknown, side) = (part.unknown, part.side);
            format!("unknown symbols in {unknown} of {held_out} held-out {side}s")
        });
        repeated.into_iter().chain(unknown).collect()
    }
}

/// Text form: `900 training episodes, 100 held out (one of every 10); 4 source symbols`, and the warnings.
impl fmt::Display for DataSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (training, held_out, rule) = (self.training, self.held_out, self.rule);
        write!(
            f,
            "{training} training episodes, {held_out} held out ({rule})"
        )?;
        for (index, part) in self.vocabularies.iter().enumerate() {
            let of = part.side.replace("line", "");
            let space = if of.is_empty() { "" } else { " " };
            let start = if index == 0 { "; " } else { ", " };
            write!(f, "{start}{} {of}{space}symbols", part.kept)?;
            if part.cut > 0 {
                write!(f, " ({} more in the training lines are unknown)", part.cut)?;
            }
        }
        let mut warnings = self.warnings().into_iter();
        warnings.try_for_each(|warning| write!(f, "; {warning}"))
    }
}

impl Task {
    /// The summary of the file of this task; `None` for other tasks, and without the file.
    pub fn summary(&self) -> Option<DataSummary> {
        let (training, held_out, rule) = self.split().filter(|(learned, ..)| *learned > 0)?;
        let (repeated, vocabularies) = match self {
            Self::Episodes(task) => (task.repeated(), Vec::new()),
            Self::Pairs(task) => {
                let (lines, tokens, length) = (&task.lines, task.tokens, &task.length);
                let side = |index: usize, side| {
                    let vocabulary = (tokens, &*task.symbols[index]);
                    let text = |pairs: &Vec<super::Pair>, number: usize| {
                        pairs[number].text(index).to_owned()
                    };
                    lines.vocabulary(side, length, vocabulary, text)
                };
                let key = |pairs: &Vec<super::Pair>, number: usize| {
                    hash([0, 1].map(|side| pairs[number].text(side)))
                };
                let sides = vec![side(0, "source"), side(1, "target")];
                (lines.repeated(length, key), sides)
            }
            Self::Text(task) => {
                let (lines, length) = (&task.lines, &task.length);
                let vocabulary = (task.tokens, &*task.symbols);
                let text = |lines: &Vec<String>, number: usize| lines[number].clone();
                let all = lines.vocabulary("line", length, vocabulary, text);
                let key = |lines: &Vec<String>, number: usize| hash(&lines[number]);
                (lines.repeated(length, key), vec![all])
            }
            _ => return None,
        };
        Some(DataSummary {
            training,
            held_out,
            rule,
            repeated,
            vocabularies,
        })
    }
}

/// A number that equal values share.
pub(super) fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl<T> Loaded<T> {
    /// The number of held-out episodes of these lengths that have the `key` of a training episode.
    pub(super) fn repeated(
        &self,
        length: &RangeInclusive<usize>,
        key: impl Fn(&T, usize) -> u64,
    ) -> usize {
        let Some((all, split)) = self.get() else {
            return 0;
        };
        let learned = split.learned_of(length).iter();
        let known: BTreeSet<u64> = learned.map(|number| key(all, *number)).collect();
        let held_out = split.held_out_of(length);
        held_out
            .filter(|number| known.contains(&key(all, *number)))
            .count()
    }

    fn vocabulary(
        &self,
        side: &'static str,
        length: &RangeInclusive<usize>,
        (tokens, symbols): (Tokens, &str),
        text: impl Fn(&T, usize) -> String,
    ) -> VocabularySummary {
        let known: BTreeSet<&str> = tokens.of(symbols).collect();
        let (mut cut, mut unknown) = (BTreeSet::new(), 0);
        if let Some((all, split)) = self.get() {
            for &number in split.learned_of(length) {
                let text = text(all, number);
                let others = tokens.of(&text).filter(|token| !known.contains(token));
                cut.extend(others.map(str::to_owned));
            }
            let lacks = |number: &usize| {
                let text = text(all, *number);
                tokens.of(&text).any(|token| !known.contains(token))
            };
            unknown = split.held_out_of(length).filter(lacks).count();
        }
        VocabularySummary {
            side,
            kept: known.len(),
            cut: cut.len(),
            unknown,
        }
    }
}
