//! The rows on screen: all, or a window of them that scrolls, follows a head and keeps the selection
//! in view; and which steps.

use crate::figure::facts::rows::Rows;
use crate::viewer::command::{Rows as About, Steps};
use crate::viewer::state::{RowZoom, State, StepZoom, Target};

/// Factor by which a key makes rows taller or shorter.
const FACTOR: f32 = 1.5;

impl State {
    /// Commands about the rows on screen.
    pub(super) fn move_rows(&mut self, about: About) {
        if about == About::ToggleTouched {
            self.view.touched_only = !self.view.touched_only;
        }
        if about == About::Fit {
            self.view.touched_only = false;
            self.view.row_zoom = RowZoom::default();
            if self.follows() {
                self.view.row_zoom = RowZoom::ALL;
            }
        }
        if let About::Scroll(by) = about
            && self.quantities() > 0
        {
            let zoom = &mut self.view.row_zoom;
            zoom.first = (zoom.first as f32 + by.signum() * by.abs().ceil()).max(0.0) as usize;
        }
        if let Some(rows) = self.whole().filter(|rows| rows.shown() > 0) {
            self.move_among(&rows, about);
        }
        self.scroll();
    }

    /// Commands about the steps on screen.
    pub(super) fn move_steps(&mut self, about: Steps) {
        let (part, steps) = (&mut self.view.step_zoom, self.player.steps());
        match about {
            Steps::Widen { at, by } => part.zoom(at, by, steps),
            Steps::Pan(by) => part.pan(by, steps),
            Steps::All => *part = StepZoom::default(),
        }
    }

    fn move_among(&mut self, rows: &Rows, about: About) {
        let (zoom, room) = (&mut self.view.row_zoom, self.frame.room);
        match about {
            About::Taller(by) => {
                let began = zoom.count(rows, room).is_none();
                zoom.scale(FACTOR.powi(by), rows, room);
                if began {
                    self.open_window();
                }
            }
            About::ToggleFollow => zoom.set_follow(!zoom.follows(rows, room), rows, room),
            About::Extend(by) => self.extend(rows, by),
            About::Select(by) => self.select_row(rows, by),
            About::Scroll(by) => {
                zoom.set_follow(false, rows, room);
                let by = by.signum() * by.abs().ceil();
                zoom.first = (zoom.first as f32 + by).max(0.0) as usize;
            }
            About::Centre(index) => {
                zoom.set_follow(false, rows, room);
                zoom.centre(index, rows, room);
            }
            About::ToggleTouched | About::Fit => {}
        }
    }

    /// The rows on screen keep to the head, where they follow it, and stay among those there are.
    pub(super) fn scroll(&mut self) {
        let Some(whole) = self.whole() else { return };
        let quantities = self.quantities();
        if quantities > 0 {
            // Without rows they scroll.
            let zoom = &mut self.view.row_zoom;
            zoom.first = zoom.first.min(quantities - 1);
            return;
        }
        let peak = self.peak(&whole);
        let (zoom, room) = (&mut self.view.row_zoom, self.frame.room);
        if let (true, Some(index)) = (zoom.follows(&whole, room), peak) {
            zoom.keep(index, &whole, room);
        }
        let count = zoom.count(&whole, room).unwrap_or(whole.shown());
        zoom.first = zoom.first.min(whole.shown() - count);
    }

    /// The number of quantities of the machine file on screen; none of another machine.
    pub(in crate::viewer) fn quantities(&self) -> usize {
        let open = self.session.open.as_ref();
        open.map_or(0, |open| open.facts.quantities.len())
    }

    /// Opens a window of rows around the selected head.
    pub(super) fn open_window(&mut self) {
        if let Some(rows) = self.whole()
            && let Some(index) = self.peak(&rows)
        {
            self.view.row_zoom.centre(index, &rows, self.frame.room);
        }
    }

    /// Selects the row a number of rows away, wraps around, and scrolls to it.
    fn select_row(&mut self, rows: &Rows, by: isize) {
        let selected = match self.view.selected {
            Some(Target::Rows { to, .. }) => rows.index_of(to),
            Some(target) => target.rows().and_then(|span| rows.index_of(*span.start())),
            None => None,
        };
        let count = rows.shown().cast_signed();
        let moved = |index: usize| (index.cast_signed() + by).rem_euclid(count);
        let index = match selected {
            Some(index) => moved(index).cast_unsigned(),
            None => self.peak(rows).unwrap_or(0),
        };
        let row = rows.numbers()[index];
        self.view.selected = Some(match self.view.selected {
            Some(Target::Cell { column, .. }) => Target::Cell { row, column },
            Some(_) | None => Target::Row(row),
        });
        self.bring_on_screen(index, rows);
    }

    /// Extends the selection by a number of rows; moving back shrinks it.
    fn extend(&mut self, rows: &Rows, by: isize) {
        let (from, to) = match self.view.selected {
            Some(Target::Rows { from, to }) => (from, to),
            Some(Target::Row(row) | Target::Cell { row, .. }) => (row, row),
            Some(_) | None => return self.select_row(rows, 0),
        };
        let Some(index) = rows.index_of(to) else {
            return;
        };
        let index = index.saturating_add_signed(by).min(rows.shown() - 1);
        let to = rows.numbers()[index];
        self.view.selected = Some(if from == to {
            Target::Row(from)
        } else {
            Target::Rows { from, to }
        });
        self.bring_on_screen(index, rows);
    }

    /// The row at this place of those shown comes on screen, unless it is there.
    fn bring_on_screen(&mut self, index: usize, rows: &Rows) {
        if let Some(count) = self.part()
            && !(self.view.row_zoom.first..self.view.row_zoom.first + count).contains(&index)
        {
            let (zoom, room) = (&mut self.view.row_zoom, self.frame.room);
            zoom.set_follow(false, rows, room);
            zoom.centre(index, rows, room);
        }
    }
}
