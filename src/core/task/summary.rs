//! The facts about the file of a task that decide how far its measurements can be trusted.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use super::split::{DataSummary, Loaded, VocabularySummary};
use super::tokens::Tokens;

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

    /// The sizes of the vocabularies.
    pub fn vocabulary(&self) -> Vec<String> {
        let sizes = self.vocabularies.iter().map(|part| {
            let symbols = format!("{} {} symbols", part.known, part.side).replace("line ", "");
            match part.cut {
                0 => symbols,
                cut => format!("{symbols} ({cut} more in the training lines are unknown)"),
            }
        });
        sizes.collect()
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
        let vocabulary = Some(self.vocabulary().join(", ")).filter(|text| !text.is_empty());
        let mut parts = vocabulary.into_iter().chain(self.warnings());
        parts.try_for_each(|part| write!(f, "; {part}"))
    }
}

impl<T> Loaded<T> {
    /// The summary of a vocabulary of the texts of these lengths.
    pub(super) fn vocabulary(
        &self,
        length: &RangeInclusive<usize>,
        (side, tokens, symbols): (&'static str, Tokens, &str),
        text: impl for<'a> Fn(&'a T, usize) -> &'a str,
    ) -> VocabularySummary {
        let known: BTreeSet<&str> = tokens.of(symbols).collect();
        let is_unknown = |token: &&str| !known.contains(token);
        let (mut cut, mut unknown) = (BTreeSet::new(), 0);
        if let Some((all, split)) = self.get() {
            for &number in split.learned_of(length) {
                cut.extend(tokens.of(text(all, number)).filter(is_unknown));
            }
            let lacks = |number: &usize| {
                tokens
                    .of(text(all, *number))
                    .any(|token| is_unknown(&token))
            };
            unknown = split.held_out_of(length).filter(lacks).count();
        }
        VocabularySummary {
            side,
            known: known.len(),
            cut: cut.len(),
            unknown,
        }
    }
}
