//! What an array of a trace is: its name, axes, range and equation, and the part of the machine that it belongs to.

use super::shape::Start;
use crate::math::Answer;

/// The description of an array, before any episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArraySpec {
    /// The name in files, behind the head it belongs to (`read0.key`).
    pub name: &'static str,
    /// The names of its axes in files, as in [`super::AXES`]; empty for an array that is in no file.
    pub dims: &'static [&'static str],
    /// The symbol in the paper.
    pub symbol: &'static str,
    /// The range of its values.
    pub range: Range,
    /// The equation, with the number in Graves et al. 2014 in brackets.
    pub equation: &'static str,
    /// True where its first step is that of the answer.
    pub is_of_answer: bool,
    /// The names of the entries of its last axis, where a machine file gives them names.
    pub entry_names: &'static [String],
    /// The quantities that this line of a machine file reads, in its order.
    pub reads: &'static [ReadSpec],
    /// The only sum over one axis in the line, if its terms are products of what it reads.
    pub sum: Option<SumSpec>,
    /// The rows that are kept.
    pub(super) retention: Retention,
}

/// A quantity in the line of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadSpec {
    /// The name of its array; of several heads that of the first one.
    pub array: &'static str,
    /// Where its name begins in the line and where it ends with its brackets, in bytes.
    pub bytes: [usize; 2],
    /// True for its values of the step before.
    pub is_before: bool,
    /// For each axis but that of the steps, the entry that is taken; none where the line takes values of several heads, of
    /// other steps, or that are not recorded as such.
    pub entries: Option<&'static [TakenEntry]>,
}

/// The entry of an axis that an entry of the result is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TakenEntry {
    /// The entry of the result along one of its axes, counted without that of the steps.
    Same(usize),
    /// That of the step.
    Step,
    /// This one.
    At(usize),
    /// One for each term of a sum.
    Each,
    /// Another one, or several.
    Other,
}

/// A sum of products over one axis in the line of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumSpec {
    /// The name of the axis of its terms.
    pub axis: &'static str,
    /// The first of the reads that are the factors of a term, and the one behind the last.
    pub factors: [usize; 2],
}

/// An array by its description: the one of its kind, compared by name.
pub type Array = &'static ArraySpec;

/// The place of an array in a list: of the same description first, so that equal texts are rarely compared.
pub(super) fn position<T>(
    list: &[T],
    array: Array,
    of: impl Fn(&T) -> Option<Array>,
) -> Option<usize> {
    let find = |is: fn(Array, Array) -> bool| {
        let is_it = |one: &T| of(one).is_some_and(|own| is(own, array));
        list.iter().position(is_it)
    };
    find(|own, other| std::ptr::eq(own, other)).or_else(|| find(|own, other| own == other))
}

/// The rows of an array that are kept of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retention {
    /// One for each step.
    Steps,
    /// One for each step and one before; only some of them in the training of a large memory.
    Memory,
    /// One for each step, or only the last one where not every memory is kept.
    LastWithMemory,
    /// One for each step, or none where not every memory is kept.
    WithMemory,
    /// One: the same in all steps, or scratch within a step.
    Once,
    /// One, or none where not every memory is kept.
    OnceWithMemory,
    /// One for about √T steps, as [`super::trace::between_checkpoints`] says; one where no tape is kept.
    Checkpoints,
}

/// Weights: all that is learned but biases.
pub(super) const LEARNED: Range = Range::Learned(Start::Glorot);

/// The range of the values of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Any number.
    Any,
    /// At least this number.
    AtLeast(f32),
    /// Between two numbers.
    Within(f32, f32),
    /// The values of the last axis are shares of 1.
    Distribution,
    /// The number of a memory row: whole, 0 to N − 1.
    Row,
    /// The values of the last axis are numbers of memory rows, in ascending order.
    Rows,
    /// Any number, learned: the same in all episodes; with its values before training.
    Learned(Start),
    /// Noise: sampled, normally distributed with mean 0 and variance 1; see [`super::Draw`].
    Normal,
    /// Noise: sampled, uniformly distributed between 0 and 1; see [`super::Draw`].
    Uniform,
}

impl Range {
    /// The least and the most of a value.
    pub fn ends(self) -> (f32, f32) {
        match self {
            Self::Any | Self::Learned(_) | Self::Normal => (f32::NEG_INFINITY, f32::INFINITY),
            Self::AtLeast(least) => (least, f32::INFINITY),
            Self::Row | Self::Rows => (0.0, f32::INFINITY),
            Self::Within(least, most) => (least, most),
            Self::Distribution | Self::Uniform => (0.0, 1.0),
        }
    }

    /// What is wrong with values that are numbers of rows, in one step, of a memory with this many; nothing for other ranges.
    pub fn wrong_rows(self, rows: usize, values: &[f32]) -> Option<String> {
        let (is_list, last) = (self == Self::Rows, rows.saturating_sub(1));
        (is_list || self == Self::Row).then_some(())?;
        let is_row = |value: &&f32| value.fract() == 0.0 && (0.0..=last as f32).contains(*value);
        let outside = values.iter().find(|value| !is_row(value));
        let pairs = &mut values.windows(2).filter(|_| is_list);
        let found =
            outside.or_else(|| pairs.find(|pair| pair[0] >= pair[1]).map(|pair| &pair[1]))?;
        let order = if is_list { ", in ascending order" } else { "" };
        Some(format!(
            "{found}; allowed: whole numbers 0 to {last}{order}"
        ))
    }
}

impl ArraySpec {
    /// Creates an array's entry from its row of the table: see the fields.
    pub const fn new(
        name: &'static str,
        dims: &'static [&'static str],
        symbol: &'static str,
        range: Range,
        equation: &'static str,
    ) -> Self {
        let retention = match dims {
            [] => Retention::Steps,
            [first, ..] => match first.as_bytes() {
                b"t" => Retention::Steps,
                b"t+1" => Retention::Memory,
                _ => Retention::Once,
            },
        };
        Self {
            name,
            dims,
            symbol,
            range,
            equation,
            is_of_answer: false,
            entry_names: &[],
            reads: &[],
            sum: None,
            retention,
        }
    }

    /// The least and the most of a value where answers have this form: of real values any.
    pub fn ends(&self, answer: Answer) -> (f32, f32) {
        if answer.is_real() && self.dims.last() == Some(&"y") {
            return Range::Any.ends();
        }
        self.range.ends()
    }

    /// Returns the array with another retention.
    pub(super) const fn retention(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// Returns the array with another name.
    pub(super) const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// An array that back-propagation needs and no file has.
    pub(super) const fn scratch(name: &'static str) -> Self {
        Self::new(name, &[], "", Range::Any, "")
    }

    /// True for a learned array, which is the same in every step of every episode.
    pub fn is_learned(&self) -> bool {
        self.start().is_some()
    }

    /// Returns its initial values, if it is learned.
    pub(super) fn start(&self) -> Option<Start> {
        match self.range {
            Range::Learned(start) => Some(start),
            _ => None,
        }
    }

    /// The row of its series that step `t` makes.
    pub fn row(&self, t: usize) -> usize {
        match self.retention {
            Retention::Memory => t + 1,
            Retention::Once | Retention::OnceWithMemory => 0,
            _ => t,
        }
    }

    /// True for an array that is the same in all steps.
    pub fn is_once(&self) -> bool {
        matches!(self.retention, Retention::Once | Retention::OnceWithMemory)
    }

    /// True for an array with values for every step.
    pub fn is_of_steps(&self) -> bool {
        self.dims
            .first()
            .is_some_and(|first| ["t", "t+1"].contains(first))
    }

    /// True for a quantity of a machine file that is added to the loss.
    pub fn is_penalty(&self) -> bool {
        self.symbol.rsplit('.').next() == Some("penalty")
    }

    /// True for an array that is in files.
    pub fn is_in_files(&self) -> bool {
        !self.dims.is_empty()
    }
}

/// The part of a machine that a series belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The machine as a whole.
    Machine,
    /// A layer of the controller.
    Layer(usize),
    /// A head.
    Head(usize),
}

/// Returns the name of an array in files, in a machine with these read heads.
pub(super) fn array_name(read_heads: usize, place: Place, array: Array) -> String {
    match place {
        Place::Head(head) => format!("{}.{}", head_name(read_heads, head), array.name),
        Place::Machine | Place::Layer(_) => array.name.to_owned(),
    }
}

/// Returns the name of a head: `read0`, `read1`, …, `write0`, …, read heads first.
pub fn head_name(read_heads: usize, head: usize) -> String {
    match head.checked_sub(read_heads) {
        None => format!("read{head}"),
        Some(write) => format!("write{write}"),
    }
}

/// Splits the name of an array of a head, such as `read0.weighting`, into the kind and the number of the head and the rest.
pub fn split_head(name: &str) -> Option<[&str; 3]> {
    let (head, rest) = name.split_once('.')?;
    let kind = head.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = &head[kind.len()..];
    (!number.is_empty()).then_some([kind, number, rest])
}
