//! Which rows are on screen: all, or a window of them that scrolls, follows a head and keeps the selection
//! in view.

use std::sync::Arc;

use super::App;
use crate::viewer::command::Command;
use crate::viewer::panel::{self, centre};
use crate::viewer::rows::Rows;
use crate::viewer::state::episode::Open;
use crate::viewer::state::target::Target;
use crate::viewer::story;

/// By how much a key makes rows taller or lower.
const FACTOR: f32 = 1.5;

impl App {
    /// All rows that can be scrolled to.
    fn whole(&self, open: &Open) -> Arc<Rows> {
        if self.touched_only {
            open.touched.clone()
        } else {
            open.all.clone()
        }
    }

    /// How many of them are on screen, if not all.
    pub(super) fn part(&self) -> Option<usize> {
        let open = self.session.open.as_ref()?;
        self.zoom.count(&self.whole(open), self.room)
    }

    /// True when all rows are on screen and can be read.
    pub(super) fn fits(&self) -> bool {
        let open = self.session.open.as_ref();
        open.is_none_or(|open| self.zoom.fits(&self.whole(open), self.room))
    }

    /// All rows that can be scrolled to, and those on screen in a window of this height.
    pub(super) fn rows_of(&mut self, open: &Open, window: f32) -> (Arc<Rows>, Arc<Rows>) {
        let recording = &open.shown.recording;
        let heads = !recording.trace.heads.is_empty();
        let transport = panel::transport_height(window, heads, self.settings.panels);
        self.room = centre::rows_room(window, transport, recording);
        let whole = self.whole(open);
        if let (true, Some(index)) = (self.zoom.follow, self.peak(open, &whole)) {
            self.zoom.keep(index, &whole, self.room);
        }
        // The rows may have become fewer.
        let count = self.zoom.count(&whole, self.room);
        let last = whole.shown() - count.unwrap_or(whole.shown());
        self.zoom.first = self.zoom.first.min(last);
        let part = count.map(|count| Arc::new(whole.part(self.zoom.first, count)));
        let rows = part.unwrap_or_else(|| whole.clone());
        (whole, rows)
    }

    /// The place among those shown of the row where the head looked at has its peak.
    fn peak(&self, open: &Open, rows: &Rows) -> Option<usize> {
        let head = open.shown.recording.trace.heads.get(self.focus)?;
        let (row, _) = story::peak(head.weighting.row(self.player.step()))?;
        rows.index_of(row)
    }

    /// Commands about the rows on screen.
    pub(super) fn move_rows(&mut self, command: &Command) {
        let Some(open) = self.session.open.clone() else {
            return;
        };
        let (rows, room) = (self.whole(&open), self.room);
        if rows.shown() == 0 {
            return;
        }
        match *command {
            Command::RowsTaller => self.scale_rows(&rows, FACTOR),
            Command::RowsLower => self.scale_rows(&rows, 1.0 / FACTOR),
            Command::ToggleFollow => self.zoom.toggle_follow(&rows, room),
            Command::ExtendDown => self.extend(&open, &rows, true),
            Command::ExtendUp => self.extend(&open, &rows, false),
            Command::NextRow => self.select_row(&open, &rows, 1),
            Command::PreviousRow => self.select_row(&open, &rows, rows.shown() - 1),
            Command::ScrollRows(by) => {
                self.zoom.follow = false;
                let by = by.signum() * by.abs().ceil();
                self.zoom.first = (self.zoom.first as f32 + by).max(0.0) as usize;
            }
            Command::CentreRow(index) => {
                self.zoom.follow = false;
                self.zoom.centre(index, &rows, room);
            }
            _ => {}
        }
    }

    fn scale_rows(&mut self, rows: &Rows, factor: f32) {
        let began = self.zoom.height.is_none();
        self.zoom.scale(factor, rows, self.room);
        if began {
            self.open_window();
        }
    }

    /// A window of rows opens where the head looked at is.
    pub(super) fn open_window(&mut self) {
        let Some(open) = &self.session.open else {
            return;
        };
        let rows = self.whole(open);
        if let Some(index) = self.peak(open, &rows) {
            self.zoom.centre(index, &rows, self.room);
        }
    }

    /// Selects the row so many places on, round the end, and brings it on screen.
    fn select_row(&mut self, open: &Open, rows: &Rows, by: usize) {
        let selected = match self.selected {
            Some(Target::Rows { to, .. }) => rows.index_of(to),
            selected => selected.and_then(|target| rows.index_of(*target.rows()?.start())),
        };
        let index = match selected {
            Some(index) => (index + by) % rows.shown(),
            None => self.peak(open, rows).unwrap_or(0),
        };
        let row = rows.numbers()[index];
        self.selected = Some(match self.selected {
            Some(Target::Cell { column, .. }) => Target::Cell { row, column },
            _ => Target::Row(row),
        });
        self.bring_on_screen(index, rows);
    }

    /// Selects the next row, or the one before, as well; back over the first one it becomes fewer again.
    fn extend(&mut self, open: &Open, rows: &Rows, down: bool) {
        let (from, to) = match self.selected {
            Some(Target::Rows { from, to }) => (from, to),
            Some(Target::Row(row) | Target::Cell { row, .. }) => (row, row),
            _ => return self.select_row(open, rows, 0),
        };
        let Some(index) = rows.index_of(to) else {
            return;
        };
        let index = if down {
            (index + 1).min(rows.shown() - 1)
        } else {
            index.saturating_sub(1)
        };
        let to = rows.numbers()[index];
        self.selected = Some(if from == to {
            Target::Row(from)
        } else {
            Target::Rows { from, to }
        });
        self.bring_on_screen(index, rows);
    }

    /// The row at this place of those shown comes on screen, unless it is there.
    fn bring_on_screen(&mut self, index: usize, rows: &Rows) {
        if let Some(count) = self.part()
            && !(self.zoom.first..self.zoom.first + count).contains(&index)
        {
            self.zoom.follow = false;
            self.zoom.centre(index, rows, self.room);
        }
    }
}
