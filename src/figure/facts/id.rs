//! Identities of the pictures.

/// One picture of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picture {
    /// The input.
    Input,
    /// The answer that is fed back, where the machine is fed its answers.
    Feedback,
    /// The target.
    Target,
    /// The output.
    Output,
    /// The error of the output, in steps with a target.
    Error,
    /// The add vectors of every write head.
    Adds,
    /// The erase vectors of every write head.
    Erases,
    /// The read vectors of every read head.
    Reads,
    /// The weightings of all heads.
    Weightings,
    /// The usage of every memory row, of the write head of a Differentiable Neural Computer.
    Usage,
    /// Its precedence: how recently every row was written.
    Precedence,
    /// The steps since every row was last accessed, of sparse access memory.
    Age,
    /// The read modes of all read heads: backward, content, forward.
    Modes,
    /// The link matrix in a step.
    Links,
    /// The strongest links at a moment, as arrows beside the memory.
    Arrows,
    /// The memory at the current stage of a step.
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
    /// The shifts of all heads.
    Shifts,
    /// The gates, cells and hidden state of a controller layer in a step.
    Units,
    /// The learned parameters of the mechanism of a head.
    Learned,
    /// The overlap of every two heads in a step.
    Overlap,
    /// The penalty on that over time.
    Redundancy,
    /// The uncertainty over many samples of the episode, over time.
    Uncertainty,
    /// The picture that is described, for every answer.
    Patches,
    /// The quantities of a machine file; each is a part.
    Quantities,
    /// The norms of the rows of such a quantity with several axes.
    Norms,
}

impl Picture {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 23] = [
        ("input", Self::Input),
        ("target", Self::Target),
        ("output", Self::Output),
        ("error", Self::Error),
        ("adds", Self::Adds),
        ("erases", Self::Erases),
        ("reads", Self::Reads),
        ("weightings", Self::Weightings),
        ("usage", Self::Usage),
        ("precedence", Self::Precedence),
        ("age", Self::Age),
        ("modes", Self::Modes),
        ("links", Self::Links),
        ("patches", Self::Patches),
        ("memory", Self::Memory),
        ("stages", Self::Stages),
        ("scalars", Self::Scalars),
        ("overlap", Self::Overlap),
        ("redundancy", Self::Redundancy),
        ("uncertainty", Self::Uncertainty),
        ("hidden", Self::Hidden),
        ("cells", Self::Cells),
        ("quantities", Self::Quantities),
    ];

    /// True for a picture of one step, not over time.
    pub(crate) fn is_of_a_step(self) -> bool {
        matches!(
            self,
            Self::Memory | Self::Stages | Self::Overlap | Self::Links
        )
    }
}

/// The identity of a picture, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId {
    /// The kind of picture.
    pub picture: Picture,
    /// The side in a comparison: A, B, or B − A.
    pub side: Option<usize>,
    /// The head or the layer that is shown, if any.
    pub of: Option<usize>,
    /// The part: a stage of the addressing, or a quantity of the units of a layer.
    pub part: Option<usize>,
    /// True for one step of a quantity that can be shown over time.
    pub now: bool,
}

/// The identity of a part of a page: a picture, or something to point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A picture with values.
    Picture(PanelId),
    /// The name of a stage of the step, by its place among all.
    Stage(usize),
    /// The controller of the close-up.
    Controller,
    /// The sign of a head at its row of the memory.
    Head {
        /// The head, by its place among all.
        head: usize,
        /// The head of the pane in which the sign stands.
        pane: usize,
    },
    /// Phases and step numbers.
    Ruler,
    /// The loss of every step.
    Timeline,
    /// The movement of a head over time.
    Ribbon(usize),
    /// A number over time: of the selected head by its part, the redundancy of heads, or the uncertainty.
    Line(PanelId),
    /// The name of a head beside its weighting over time.
    LaneName(usize),
    /// The name of a head over its addressing.
    Title(usize),
    /// The text of that name, which is read aloud.
    TitleText(usize),
    /// The name of a head over its final weighting.
    ColumnName(usize),
    /// The word and the symbol over a column of the addressing.
    ColumnWord(PanelId),
    /// The largest value under a column of the addressing.
    Largest(PanelId),
    /// The lines by which the shift moves a weighting.
    Moves(usize),
    /// The parameters of a head at the step.
    TableLine(usize),
    /// The redundancy of some heads at the step.
    Penalty(&'static str),
    /// The singular values of the overlap of heads.
    Spectrum,
    /// All rows in little, while only some are shown.
    Minimap,
    /// The description of the step or of its stage.
    Sentence,
    /// The place of the legends where they have no room.
    Legends,
    /// The place of the overlap of heads where it has no room.
    NoOverlap,
    /// A text, by its topic.
    Text(&'static str),
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
        let mut id = Self::new(picture);
        id.of = Some(of);
        id
    }

    /// Returns the identity of the picture at one step.
    pub fn now(self) -> Self {
        Self { now: true, ..self }
    }

    /// A weighting over time, small beside others.
    pub fn thumbnail(head: usize) -> Self {
        Self::of(Picture::Weightings, head).part(0)
    }

    /// True for a weighting over time that is small beside others.
    pub fn is_thumbnail(self) -> bool {
        self.picture == Picture::Weightings && self.part.is_some()
    }

    /// Returns the identity of one part.
    pub fn part(mut self, part: usize) -> Self {
        self.part = Some(part);
        self
    }

    /// Returns the identity of the picture on another side.
    pub fn on(mut self, side: usize) -> Self {
        self.side = Some(side);
        self
    }
}
