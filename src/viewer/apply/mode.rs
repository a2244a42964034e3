//! The mode: how one is left for another.

use crate::viewer::state::{Failing, Mode, State, Tour};

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

    /// True while the opening is played.
    pub fn is_opening(&self) -> bool {
        matches!(self.mode, Mode::Opening(_))
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
            Mode::Starting | Mode::Free | Mode::Opening(_) | Mode::Failure(_) => None,
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
