//! The episodes of a file: which are learned from, and which are held out.
//!
//! The number of an episode alone decides whether it is held out ([`HeldOut`]): no measured or shown episode was trained on.
//! Training episodes are drawn uniformly, each with its seed and index. Held-out episodes come in the order of the file:
//! episode `index` of `seed` is number (seed + index) mod H of all H.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use rand::RngExt;

use super::fault::Fault;
use super::generate::LENGTHS;
use crate::keys::Field::{Choice, Integer};
use crate::keys::{Keys, Table, Words};
use crate::math::Random;

/// Numbers of episodes in a rule.
const COUNTS: RangeInclusive<usize> = 1..=100_000_000;

/// The held-out episodes, by their numbers in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldOut {
    /// The last of every n episodes: for n = 10 the episodes 9, 19, 29, … The default, with n = 10.
    Every(usize),
    /// The last n episodes of the file: in a recording they come after all training episodes.
    Last(usize),
}

impl Words for HeldOut {
    const WORDS: &'static [(&'static str, Self)] =
        &[("every", Self::Every(10)), ("last", Self::Last(100))];
}

impl HeldOut {
    /// True if episode `number` of `count` is held out.
    pub fn holds(self, number: usize, count: usize) -> bool {
        match self {
            Self::Every(step) => number % step.max(1) + 1 == step,
            Self::Last(last) => number + last >= count,
        }
    }
}

/// Text form: `one of every 10`, `the last 100`.
impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(step) => write!(f, "one of every {step}"),
            Self::Last(last) => write!(f, "the last {last}"),
        }
    }
}

impl Keys for HeldOut {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("held_out.kind", Choice(self), "which episodes are held out: used for evaluation, never for training");
        match self {
            Self::Every(step) => to.key("held_out.step", Integer(step, 2..=*COUNTS.end()), "one episode in this many is held out, the last of each group; with 10, episodes 9, 19, 29, … of the file"),
            Self::Last(count) => to.key("held_out.count", Integer(count, COUNTS), "number of episodes held out at the end of the file"),
        }
    }
}

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
    pub known: usize,
    /// Different tokens of the training lines that are not known.
    pub cut: usize,
    /// Held-out lines with a token that is not known.
    pub unknown: usize,
}

/// A summary, and the lengths of its episodes.
pub(super) type LastSummary = Mutex<Option<(RangeInclusive<usize>, DataSummary)>>;

/// Episodes of a file by their numbers.
#[derive(Debug)]
pub(super) struct Split {
    /// The length of every episode.
    lengths: Vec<usize>,
    /// Training episodes, from the shortest to the longest.
    learned: Vec<usize>,
    /// The held-out episodes in the order of the file.
    held_out: Vec<usize>,
    summary: LastSummary,
}

impl Split {
    /// Splits episodes by a rule; the range `length` becomes theirs, where it was not narrowed down.
    ///
    /// # Errors
    /// The rule leaves none to learn from, or holds none out; or none of either kind has such a length.
    pub(super) fn new(
        lengths: Vec<usize>,
        rule: HeldOut,
        length: &mut RangeInclusive<usize>,
    ) -> Result<Self, Fault> {
        let count = lengths.len();
        let (held_out, mut learned): (Vec<_>, Vec<_>) =
            (0..count).partition(|number| rule.holds(*number, count));
        learned.sort_by_key(|number| lengths[*number]);
        if *length == LENGTHS {
            let (least, most) = (lengths.iter().min(), lengths.iter().max());
            *length = least.map_or(1, |least| *least)..=most.map_or(1, |most| *most);
        }
        for (numbers, what) in [(&learned, "used for training"), (&held_out, "held out")] {
            if numbers.is_empty() {
                let problem = format!(
                    r#"is {rule}: none of {count} episodes is {what}; {{"kind": "last", "count": 1}} holds out the last"#
                );
                return Err(Fault::new("held_out", problem));
            }
            let fits = |number: &usize| length.contains(&lengths[*number]);
            if !numbers.iter().any(fits) {
                let (low, high) = (length.start(), length.end());
                let problem = format!(
                    "is [{low}, {high}]: none of the {} episodes that are {what} has such a length",
                    numbers.len()
                );
                return Err(Fault::new("length", problem));
            }
        }
        Ok(Self {
            lengths,
            learned,
            held_out,
            summary: LastSummary::default(),
        })
    }

    /// Returns the training episodes with these lengths.
    pub(super) fn learned_of(&self, length: &RangeInclusive<usize>) -> &[usize] {
        let (all, lengths) = (&self.learned, &self.lengths);
        let start = all.partition_point(|number| lengths[*number] < *length.start());
        let end = all.partition_point(|number| lengths[*number] <= *length.end());
        all.get(start..end).unwrap_or_default()
    }

    pub(super) fn held_out_of(
        &self,
        length: &RangeInclusive<usize>,
    ) -> impl Iterator<Item = usize> {
        let is_one = |number: &usize| length.contains(&self.lengths[*number]);
        self.held_out.iter().copied().filter(is_one)
    }
}

/// A number that equal values share.
pub(super) fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The contents of a file with their split, if they are loaded; for comparisons this makes no difference.
#[derive(Debug)]
pub(super) struct Loaded<T>(Option<(Arc<T>, Arc<Split>)>);

impl<T> Clone for Loaded<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Loaded<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Loaded<T> {
    pub(super) const NONE: Self = Self(None);

    pub(super) fn new(contents: Arc<T>, split: Split) -> Self {
        Self(Some((contents, Arc::new(split))))
    }

    pub(super) fn get(&self) -> Option<&(Arc<T>, Arc<Split>)> {
        self.0.as_ref()
    }

    /// The numbers of training and held-out episodes with these lengths. 0 if they are not loaded.
    pub(super) fn counts(&self, length: &RangeInclusive<usize>) -> (usize, usize) {
        let counts = |split: &Split| {
            let held_out = split.held_out_of(length).count();
            (split.learned_of(length).len(), held_out)
        };
        self.get().map_or((0, 0), |(_, split)| counts(split))
    }

    /// The number of held-out episode `index` of `seed` with these lengths, or of any length without them.
    pub(super) fn number(
        &self,
        length: &RangeInclusive<usize>,
        seed: u64,
        index: u64,
    ) -> Option<usize> {
        let (_, split) = self.get()?;
        let turn = |count: usize| (seed.wrapping_add(index) % count.max(1) as u64) as usize;
        let count = split.held_out_of(length).count();
        let some = split.held_out_of(length).nth(turn(count));
        some.or_else(|| split.held_out.get(turn(split.held_out.len())).copied())
    }

    /// The summary that was computed last; `None` if they are not loaded.
    pub(super) fn last_summary(&self) -> Option<&LastSummary> {
        Some(&self.get()?.1.summary)
    }

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

    /// The number of a training episode with these lengths, or of any length without them.
    pub(super) fn sample(
        &self,
        length: &RangeInclusive<usize>,
        random: &mut Random,
    ) -> Option<usize> {
        let (_, split) = self.get()?;
        let some = Some(split.learned_of(length)).filter(|some| !some.is_empty());
        let numbers = some.unwrap_or(&split.learned);
        Some(numbers[random.random_range(0..numbers.len())])
    }
}
