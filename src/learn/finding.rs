//! A finding: something noticed in the numbers of a run.

/// Something that was noticed, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// The kind of finding.
    pub kind: Kind,
    /// The meaning and common remedies, in a sentence or two.
    pub words: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A value is no longer finite.
    Diverged,
    /// Training broke off.
    Broken,
    /// A head attends to all rows alike.
    Uniform,
    /// A head stays on one row.
    OneRow,
    /// The gradient of a tensor is tiny compared with the others.
    Vanishing,
    /// The gradient is many times its usual size.
    Exploding,
    /// The loss is much worse again.
    Relapse,
    /// The loss does not change.
    Plateau,
    /// The loss falls from where it stood.
    Moving,
    /// A validation was all right.
    Learned,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Diverged,
        Self::Broken,
        Self::Uniform,
        Self::OneRow,
        Self::Vanishing,
        Self::Exploding,
        Self::Relapse,
        Self::Plateau,
        Self::Moving,
        Self::Learned,
    ];

    /// Returns a name of one or two words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diverged => "diverged",
            Self::Broken => "error",
            Self::Uniform => "uniform addressing",
            Self::OneRow => "one row",
            Self::Vanishing => "vanishing gradient",
            Self::Exploding => "exploding gradient",
            Self::Relapse => "relapse",
            Self::Plateau => "plateau",
            Self::Moving => "off the plateau",
            Self::Learned => "learned",
        }
    }

    /// True for a desirable finding.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Moving | Self::Learned)
    }
}
