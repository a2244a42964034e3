//! The layout of the pictures of an episode.

use super::Open;

/// The steps of the longest episode that opens in the close-up.
const SHORT: usize = 60;

/// The layout of the pictures of an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowLayout {
    /// One head, or two, at a few rows about where it looks.
    CloseUp,
    /// Every stage of the step, next to all pictures over time.
    #[default]
    Debug,
    /// Figure 6 of the paper, locations upwards.
    Paper,
    /// Figure 6 of the paper, with row 0 at the top.
    PaperDown,
    /// Two episodes on one clock, while there are two.
    Compare,
    /// The course of training, next to the current episode.
    Train,
    /// Chosen pictures, one below the other, in a frame inside another page.
    Parts,
}

impl WindowLayout {
    /// Returns the layout in which an episode opens: the close-up for short ones whose memory is recorded.
    pub fn that_suits(open: &Open) -> Self {
        let trace = &open.shown.recording.trace;
        let mut absent = open.shown.recording.absent.iter();
        let lacks_memory = absent.any(|name| name == "memory");
        match trace.steps() {
            _ if trace.is_file() || lacks_memory => Self::Debug,
            1..=SHORT => Self::CloseUp,
            _ => Self::Debug,
        }
    }

    /// True where the stages of a step are on screen.
    pub fn has_stages(self) -> bool {
        matches!(self, Self::CloseUp | Self::Debug | Self::Parts)
    }

    /// True where derivatives can be shown in place of values: where pictures show the arrays of a trace. The close-up
    /// shows values on their way from one stage to the next, of which there are no derivatives; of two episodes side by
    /// side each has its own.
    pub fn has_layers(self) -> bool {
        !matches!(self, Self::CloseUp | Self::Compare)
    }

    /// Returns the key in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::CloseUp => "close-up",
            Self::Debug => "debug",
            Self::Paper => "paper",
            Self::PaperDown => "paper, row 0 at the top",
            Self::Compare => "compare",
            Self::Train => "train",
            Self::Parts => "parts",
        }
    }

    /// Layouts that are remembered; comparison, training and chosen parts are not.
    pub const KEPT: [Self; 4] = [Self::CloseUp, Self::Debug, Self::Paper, Self::PaperDown];

    /// The one of this name that is remembered.
    pub fn named(name: &str) -> Option<Self> {
        Self::KEPT.into_iter().find(|one| one.name() == name)
    }
}
