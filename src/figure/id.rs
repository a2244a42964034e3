//! Which pictures there are.

/// One picture of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// What the machine sees.
    Input,
    /// What it should answer.
    Target,
    /// What it answers.
    Output,
    /// How far its answer is off, where one is asked for.
    Error,
    /// What every write head adds to the memory.
    Adds,
    /// What every write head erases.
    Erases,
    /// What every read head reads.
    Reads,
    /// Where every head looks.
    Weightings,
    /// The memory at the stage that a step has come to.
    Memory,
    /// The stages of the addressing of a head in a step.
    Stages,
    /// What a head emits: β, g, expected shift, γ; and how spread out its weighting is.
    Scalars,
    /// The hidden state of the controller.
    Hidden,
    /// The cells of an LSTM.
    Cells,
    /// The largest difference of two episodes, step by step.
    Differences,
    /// What every head looks for.
    Keys,
    /// How every head moves.
    Shifts,
    /// What makes the units of a layer of the controller in a step.
    Units,
    /// What the mechanism of a head has learned.
    Learned,
    /// How much every two heads look at the same rows in a step.
    Overlap,
    /// The penalty on that over time.
    Redundancy,
    /// What many samples of the episode are unsure of, over time.
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

/// What a picture is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId {
    /// What it shows.
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
