//! The mode of the window: at most one guided activity at a time.
//!
//! Training and a comparison are not modes: both go on behind other episodes. Start page and dialogs lie over any mode.

use super::State;
use super::gallery::Failing;
use super::opening::Opening;
use super::tour::Tour;

/// The activity in the window; [`State::enter`] leaves one for another.
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

impl State {
    /// Leaves the mode for another. What lies over the pictures gives way to a guided one.
    pub fn enter(&mut self, mode: Mode) {
        match std::mem::replace(&mut self.mode, mode) {
            Mode::Starting | Mode::Free | Mode::Editing(..) => {}
            // The next stop looks at the same head.
            Mode::Tour(_) if self.tour().is_some() => {}
            Mode::Opening(_) => self.player.set_speed(self.usual_speed()),
            Mode::Tour(_) | Mode::Failure(_) => self.view.chosen = false,
        }
        if matches!(self.mode, Mode::Tour(_) | Mode::Failure(_)) {
            (self.dialog, self.welcome.shown, self.presenting) = (None, false, false);
            // Their card is there.
            self.settings.panels.left = true;
        }
    }

    /// The opening, while it is played.
    pub fn opening(&self) -> Option<&Opening> {
        if let Mode::Opening(opening) = &self.mode {
            Some(opening)
        } else {
            None
        }
    }

    /// The tour, while it is taken.
    pub fn tour(&self) -> Option<&Tour> {
        if let Mode::Tour(tour) = &self.mode {
            Some(tour)
        } else {
            None
        }
    }

    /// The failure on screen.
    pub fn failing(&self) -> Option<Failing> {
        if let Mode::Failure(failing) = self.mode {
            Some(failing)
        } else {
            None
        }
    }

    /// The mark in the edited input: step and channel.
    pub fn mark(&self) -> Option<(usize, usize)> {
        match &self.mode {
            Mode::Editing(step, channel) => Some((*step, *channel)),
            Mode::Tour(tour) => tour.mark,
            _ => None,
        }
    }

    /// Moves the mark, or ends editing; the tour has a mark of its own.
    pub fn set_mark(&mut self, mark: Option<(usize, usize)>) {
        match (&mut self.mode, mark) {
            (Mode::Tour(tour), _) => tour.mark = mark,
            (Mode::Editing(..), None) => self.mode = Mode::Free,
            (_, Some((step, channel))) => self.enter(Mode::Editing(step, channel)),
            (_, None) => {}
        }
    }
}
