//! The stages of a step.

/// A stage: a part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The controller has seen the input and the last reads, and emits the parameters of the heads.
    Controller,
    /// The usage of the rows: what was read is freed, what was written is used.
    Usage,
    /// The age of the rows: that which was accessed longest ago.
    Age,
    /// The least used rows are allocated.
    Allocate,
    /// The key is compared with every row, sharpened by the key strength, as a distribution.
    Content,
    /// The content weighting is blended with the previous weighting.
    Gate,
    /// The weighting moves along the rows.
    Shift,
    /// The weighting is sharpened.
    Sharpen,
    /// A hard head samples one row.
    Draw,
    /// The read heads follow the links, backward and forward.
    Links,
    /// The weighting of a head without other recorded weightings, or the mixture of several.
    Weigh,
    /// The read heads read.
    Read,
    /// The write heads erase.
    Erase,
    /// The write heads add.
    Add,
    /// A statement of a machine file, by its place among all.
    Statement(usize),
    /// The answer of the step.
    Output,
}

impl Stage {
    /// Returns the word on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Usage => "usage",
            Self::Age => "age",
            Self::Allocate => "allocate",
            Self::Content => "content",
            Self::Gate => "gate",
            Self::Shift => "shift",
            Self::Sharpen => "sharpen",
            Self::Draw => "sample",
            Self::Links => "links",
            Self::Weigh => "weigh",
            Self::Read => "read",
            Self::Erase => "erase",
            Self::Add => "add",
            Self::Statement(_) => "statement",
            Self::Output => "output",
        }
    }
}
