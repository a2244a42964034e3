//! Which pictures there are.

/// One picture of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// The input.
    Input,
    /// The target.
    Target,
    /// The output.
    Output,
    /// How far its answer is off, where one is asked for.
    Error,
    /// The add vectors of every write head.
    Adds,
    /// The erase vectors of every write head.
    Erases,
    /// The read vectors of every read head.
    Reads,
    /// Where every head looks.
    Weightings,
    /// The memory at the stage that a step has come to.
    Memory,
    /// The stages of the addressing of a head in a step.
    Stages,
    /// The scalars of a head: β, g, expected shift, γ, and the entropy of its weighting.
    Scalars,
    /// The hidden state of the controller.
    Hidden,
    /// The cells of an LSTM.
    Cells,
    /// The largest difference of two episodes, step by step.
    Differences,
    /// The keys of every head.
    Keys,
    /// How every head moves.
    Shifts,
    /// The gates, cells and hidden state of a controller layer in a step.
    Units,
    /// The learned parameters of the mechanism of a head.
    Learned,
    /// How much every two heads look at the same rows in a step.
    Overlap,
    /// The penalty on that over time.
    Redundancy,
    /// The uncertainty over many samples of the episode, over time.
    Uncertainty,
}

impl Picture {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 16] = [
        ("input", Self::Input),
        ("target", Self::Target),
        ("output", Self::Output),
        ("error", Self::Error),
        ("adds", Self::Adds),
        ("erases", Self::Erases),
        ("reads", Self::Reads),
        ("weightings", Self::Weightings),
        ("memory", Self::Memory),
        ("stages", Self::Stages),
        ("scalars", Self::Scalars),
        ("overlap", Self::Overlap),
        ("redundancy", Self::Redundancy),
        ("uncertainty", Self::Uncertainty),
        ("hidden", Self::Hidden),
        ("cells", Self::Cells),
    ];

    /// True for what is shown of one step, not over time.
    pub(super) fn is_of_a_step(self) -> bool {
        matches!(self, Self::Memory | Self::Stages | Self::Overlap)
    }
}

/// The identity of a picture, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId {
    /// The kind of picture.
    pub picture: Picture,
    /// Of two episodes: A, B, or B − A.
    pub side: Option<usize>,
    /// The head or the layer that it is of, where it is of one.
    pub of: Option<usize>,
    /// Which of several it is: a stage of the addressing, a quantity of the units of a layer.
    pub part: Option<usize>,
    /// True where it is of a step only, of what can be seen over time.
    pub now: bool,
}

impl PanelId {
    /// A picture of the whole machine.
    pub fn new(picture: Picture) -> Self {
        Self {
            picture,
            side: None,
            of: None,
            part: None,
            now: false,
        }
    }

    /// A picture of a head, or of a layer.
    pub fn of(picture: Picture, of: usize) -> Self {
        let of = Some(of);
        Self {
            of,
            ..Self::new(picture)
        }
    }

    /// The same at a step only.
    pub fn now(self) -> Self {
        Self { now: true, ..self }
    }

    /// One of several of its kind.
    pub fn part(self, part: usize) -> Self {
        Self {
            part: Some(part),
            ..self
        }
    }

    /// The same on another side.
    pub fn on(self, side: usize) -> Self {
        Self {
            side: Some(side),
            ..self
        }
    }
}
