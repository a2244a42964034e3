//! The memory rows on screen: the part of the address axis that all pictures share.

use crate::figure::facts::rows::Rows;
use crate::figure::page::debug::MAX_ROW_HEIGHT;

/// Rows lower than this cannot be told apart, in points.
const LEAST_ROW_HEIGHT: f32 = 6.0;
/// Rows lower than this follow the head unless that was switched off, in points.
const LOST: f32 = 3.0;
/// The height of rows that follow a head and have no other height, in points.
const FOLLOWED: f32 = 14.0;

/// The part of the rows on screen: all, or a window of rows of a chosen height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowZoom {
    /// The chosen height of a row, in points.
    pub height: Option<f32>,
    /// The first row on screen, by its place among those shown.
    pub first: usize,
    /// Whether the window follows the selected head, where that was chosen.
    pub follow: Option<bool>,
}

impl RowZoom {
    /// All rows, however low they are.
    pub const ALL: Self = Self {
        height: None,
        first: 0,
        follow: Some(false),
    };

    /// True while the window follows the selected head: by choice, or where rows are too low to distinguish.
    pub fn follows(&self, rows: &Rows, room: f32) -> bool {
        let is_lost = self.height.is_none() && fitted(rows, room) < LOST;
        self.follow.unwrap_or(is_lost)
    }

    /// The height of a row, in points; none when all rows fit.
    fn height(&self, rows: &Rows, room: f32) -> Option<f32> {
        let follows = || self.follows(rows, room) && fitted(rows, room) < FOLLOWED;
        self.height.or_else(|| follows().then_some(FOLLOWED))
    }

    /// Returns the number of rows that fit in this room; `None` when all rows do.
    pub fn count(&self, rows: &Rows, room: f32) -> Option<usize> {
        let count = (room / self.height(rows, room)?) as usize;
        (count >= 1 && count < rows.shown()).then_some(count)
    }

    /// Taller rows, or lower ones; as low as all rows fit, all are on screen. The middle stays.
    pub fn scale(&mut self, factor: f32, rows: &Rows, room: f32) {
        let height = self.height(rows, room);
        if height.is_none() && factor < 1.0 {
            return;
        }
        let fitted = fitted(rows, room);
        let now = height.unwrap_or(fitted.max(LEAST_ROW_HEIGHT / factor));
        let height = (now * factor).min(MAX_ROW_HEIGHT);
        let middle = self.first + self.count(rows, room).unwrap_or(rows.shown()) / 2;
        let keeps = height > fitted && height >= LEAST_ROW_HEIGHT * 0.99;
        self.follow = Some(keeps && self.follows(rows, room));
        self.height = keeps.then_some(height);
        self.centre(middle, rows, room);
    }

    /// Brings a row, by its place among those shown, to the middle.
    pub fn centre(&mut self, index: usize, rows: &Rows, room: f32) {
        let count = self.count(rows, room).unwrap_or(rows.shown());
        let last = rows.shown().saturating_sub(count);
        self.first = index.saturating_sub(count / 2).min(last);
    }

    /// Brings a row into the middle if it has left the middle third.
    pub fn keep(&mut self, index: usize, rows: &Rows, room: f32) {
        let third = self.count(rows, room).unwrap_or(rows.shown()) / 3;
        if !(self.first + third..self.first + 2 * third + 1).contains(&index) {
            self.centre(index, rows, room);
        }
    }

    /// True when all rows are on screen and can be read.
    pub fn fits(&self, rows: &Rows, room: f32) -> bool {
        self.count(rows, room).is_none() && fitted(rows, room) >= FOLLOWED
    }

    /// Follows the head, or stays where the window is.
    pub fn set_follow(&mut self, follow: bool, rows: &Rows, room: f32) {
        self.follow = Some(follow || self.follows(rows, room));
        self.height = self.height(rows, room);
        self.follow = Some(follow);
    }
}

/// The height of rows that are all on screen.
fn fitted(rows: &Rows, room: f32) -> f32 {
    room / rows.shown().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_followed_without_jitter() {
        let rows = Rows::all(4096);
        let mut zoom = RowZoom::default();
        zoom.set_follow(true, &rows, 420.0);
        assert_eq!(zoom.count(&rows, 420.0), Some(30));
        zoom.keep(2000, &rows, 420.0);
        assert_eq!(zoom.first, 1985);
        for index in 1996..2004 {
            zoom.keep(index, &rows, 420.0);
            assert_eq!(zoom.first, 1985);
        }
        zoom.keep(2006, &rows, 420.0);
        assert_eq!(zoom.first, 1991);
        zoom.keep(4095, &rows, 420.0);
        assert_eq!(zoom.first, 4066);
        for _ in 0..20 {
            zoom.scale(1.0 / 1.5, &rows, 420.0);
        }
        assert_eq!((zoom.height, zoom.count(&rows, 420.0)), (None, None));
        zoom.scale(1.5, &rows, 420.0);
        assert!(zoom.height.is_some());
    }
}
