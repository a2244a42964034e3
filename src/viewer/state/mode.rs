//! The mode of the window: at most one guided activity at a time.
//!
//! Training and a comparison are not modes: both go on behind other episodes. Start page and dialogs lie over any mode.

use super::{Failing, Opening, Tour};

/// The activity in the window; [`super::State::enter`] leaves one for another.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The window before its first episode.
    #[default]
    Starting,
    /// None: the user looks around.
    Free,
    /// The first episode, played by itself.
    Opening(Opening),
    /// The tour.
    Tour(Tour),
    /// An episode in which a machine fails.
    Failure(Failing),
    /// The input, edited at this step and channel.
    Editing(usize, usize),
}
