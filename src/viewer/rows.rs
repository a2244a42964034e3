//! Which memory rows are on screen and where: the address axis that all pictures of rows share.

use std::ops::Range;

use egui::Rangef;

use crate::figure;
use crate::train::Recording;

/// Height of the mark that stands for rows left out, in points.
const GAP: f32 = 15.0;

/// Runs of rows that are shown, in address order (row 0 follows the last row), with their true numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    runs: Vec<Range<usize>>,
    /// The true numbers of the rows shown, from the top.
    shown: Vec<usize>,
    total: usize,
    /// True when more rows follow on both sides of what is on screen.
    cut: bool,
}

impl Rows {
    /// Every row of the memory.
    pub fn all(total: usize) -> Self {
        Self::of(Some(0..total).filter(|run| !run.is_empty()), total)
    }

    /// These runs, in the order in which they will be shown.
    fn of(runs: impl IntoIterator<Item = Range<usize>>, total: usize) -> Self {
        let runs: Vec<_> = runs.into_iter().collect();
        Self {
            shown: runs.iter().cloned().flatten().collect(),
            runs,
            total,
            cut: false,
        }
    }

    /// The rows that some head touches in some step, in the order of a walk round the end; every row if that
    /// would be none.
    pub fn touched(recording: &Recording) -> Self {
        Self::of(figure::touched(recording), recording.trace.memory_size()[0])
    }

    /// `count` of these rows from the `first` one down.
    pub fn part(&self, first: usize, count: usize) -> Self {
        let (mut before, mut runs) = (0, Vec::new());
        for run in &self.runs {
            let start = first.max(before) - before;
            let end = (first + count)
                .min(before + run.len())
                .saturating_sub(before);
            if start < end {
                runs.push(run.start + start..run.start + end);
            }
            before += run.len();
        }
        Self {
            cut: true,
            ..Self::of(runs, self.total)
        }
    }

    /// Distinguishes these rows from others of the same episode.
    pub fn id(&self) -> (Option<usize>, Option<usize>, usize) {
        let ends = (self.shown.first(), self.shown.last());
        (ends.0.copied(), ends.1.copied(), self.shown.len())
    }

    /// The place of a row among those shown.
    pub fn index_of(&self, row: usize) -> Option<usize> {
        self.shown.iter().position(|shown| *shown == row)
    }

    /// Number of rows shown.
    pub fn shown(&self) -> usize {
        self.shown.len()
    }

    /// Number of rows of the memory.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The true numbers of the rows shown, from the top.
    pub fn numbers(&self) -> &[usize] {
        &self.shown
    }

    /// The runs, placed in this vertical range.
    pub fn place(&self, y: Rangef) -> Axis {
        let gaps = self.gaps();
        let shown = self.shown().max(1) as f32;
        let full = (y.span() - gaps as f32 * GAP).max(0.0) / shown;
        // With hardly any room the rows matter more than the marks between them.
        let (gap, height) = if full >= 2.0 {
            (GAP, full.min(MAX_ROW_HEIGHT))
        } else {
            (0.0, y.span().max(0.0) / shown)
        };
        let mut axis = Axis {
            runs: Vec::with_capacity(self.runs.len()),
            gaps: Vec::with_capacity(gaps),
            height,
        };
        let mut top = y.min;
        for (index, run) in self.runs.iter().enumerate() {
            let bottom = top + run.len() as f32 * height;
            axis.runs.push((run.clone(), Rangef::new(top, bottom)));
            top = bottom;
            let left_out = self.left_out_after(index);
            if left_out > 0 {
                axis.gaps.push((left_out, Rangef::new(top, top + gap)));
                top += gap;
            }
        }
        axis
    }

    /// How many rows are left out between a run and the next one, round the end.
    fn left_out_after(&self, index: usize) -> usize {
        if self.cut && index + 1 == self.runs.len() {
            return 0;
        }
        let next = &self.runs[(index + 1) % self.runs.len()];
        (next.start + self.total - self.runs[index].end) % self.total
    }

    fn gaps(&self) -> usize {
        let runs = 0..self.runs.len();
        runs.filter(|&run| self.left_out_after(run) > 0).count()
    }
}

/// Rows never grow taller than this, in points.
const MAX_ROW_HEIGHT: f32 = 28.0;

/// Rows lower than this cannot be told apart, in points.
const LEAST_ROW_HEIGHT: f32 = 6.0;
/// The height at which following a head begins, in points.
const FOLLOWED: f32 = 14.0;

/// Which part of the rows is on screen: all of them, or a window of rows of a chosen height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Zoom {
    /// The height of a row, in points; none when all rows fit.
    pub height: Option<f32>,
    /// The first row on screen, by its place among those shown.
    pub first: usize,
    /// True while the window keeps to the head looked at.
    pub follow: bool,
}

impl Zoom {
    /// How many rows are on screen in so much room; none when all of them are.
    pub fn count(&self, rows: &Rows, room: f32) -> Option<usize> {
        let count = (room / self.height?) as usize;
        (count >= 1 && count < rows.shown()).then_some(count)
    }

    /// Taller rows, or lower ones; as low as all rows fit, all are on screen. The middle stays.
    pub fn scale(&mut self, factor: f32, rows: &Rows, room: f32) {
        if self.height.is_none() && factor < 1.0 {
            return;
        }
        let fitted = room / rows.shown().max(1) as f32;
        let now = self.height.unwrap_or(fitted.max(LEAST_ROW_HEIGHT / factor));
        let height = (now * factor).min(MAX_ROW_HEIGHT);
        let middle = self.first + self.count(rows, room).unwrap_or(rows.shown()) / 2;
        let keeps = height > fitted && height >= LEAST_ROW_HEIGHT * 0.99;
        self.height = keeps.then_some(height);
        self.centre(middle, rows, room);
    }

    /// Brings a row, by its place among those shown, to the middle.
    pub fn centre(&mut self, index: usize, rows: &Rows, room: f32) {
        let count = self.count(rows, room).unwrap_or(rows.shown());
        self.first = index
            .saturating_sub(count / 2)
            .min(rows.shown() - count.min(rows.shown()));
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
        let fitted = room / rows.shown().max(1) as f32;
        self.count(rows, room).is_none() && fitted >= FOLLOWED
    }

    /// Begins or ends to follow.
    pub fn toggle_follow(&mut self, rows: &Rows, room: f32) {
        self.follow = !self.follow;
        if self.follow && self.height.is_none() && !self.fits(rows, room) {
            self.height = Some(FOLLOWED);
        }
    }
}

/// Where the rows stand on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Runs of rows and their vertical places.
    pub runs: Vec<(Range<usize>, Rangef)>,
    /// Numbers of rows left out, and the places of their marks.
    pub gaps: Vec<(usize, Rangef)>,
    /// Height of a row, in points.
    pub height: f32,
}

impl Axis {
    /// The row at this height of the screen.
    pub fn row_at(&self, y: f32) -> Option<usize> {
        let (rows, place) = self.runs.iter().find(|(_, place)| place.contains(y))?;
        let index = ((y - place.min) / self.height.max(f32::MIN_POSITIVE)) as usize;
        Some((rows.start + index).min(rows.end - 1))
    }

    /// Where a row stands, if it is shown.
    pub fn place_of(&self, row: usize) -> Option<Rangef> {
        let (rows, place) = self.runs.iter().find(|(rows, _)| rows.contains(&row))?;
        let top = place.min + (row - rows.start) as f32 * self.height;
        Some(Rangef::new(top, top + self.height))
    }

    /// The lowest point of the last row or mark.
    pub fn bottom(&self) -> f32 {
        let runs = self.runs.iter().map(|(_, place)| place.max);
        let gaps = self.gaps.iter().map(|(_, place)| place.max);
        runs.chain(gaps).fold(f32::NEG_INFINITY, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_its_row_belong_together() {
        let rows = Rows::of([2..5, 7..10], 128);
        assert_eq!(rows.numbers(), [2, 3, 4, 7, 8, 9]);
        let axis = rows.place(Rangef::new(100.0, 190.0));
        assert_eq!(axis.gaps.len(), 2);
        assert_eq!((axis.gaps[0].0, axis.gaps[1].0), (2, 120));
        assert!((axis.height - 10.0).abs() < 1e-4);
        for &row in rows.numbers() {
            let place = axis.place_of(row).unwrap();
            assert_eq!(axis.row_at(place.center()), Some(row));
        }
        assert_eq!(axis.place_of(5), None);
        assert_eq!(axis.row_at(189.0), None);
        assert!(axis.bottom() <= 190.01);
    }

    #[test]
    fn a_walk_round_the_end_is_not_torn_apart() {
        let rows = Rows::of([84..128, 0..5], 128);
        assert_eq!((rows.numbers()[0], rows.numbers()[44]), (84, 0));
        let axis = rows.place(Rangef::new(0.0, 505.0));
        assert_eq!(axis.gaps.len(), 1);
        assert_eq!(axis.gaps[0].0, 79);
        let (last, first) = (axis.place_of(127).unwrap(), axis.place_of(0).unwrap());
        assert!((last.max - first.min).abs() < 1e-3);
    }

    #[test]
    fn a_part_is_cut_at_both_ends() {
        let rows = Rows::of([2..5, 7..10], 128);
        let part = rows.part(1, 3);
        assert_eq!(part.numbers(), [3, 4, 7]);
        assert_eq!(part.gaps(), 1);
        assert_eq!(rows.part(4, 2).numbers(), [8, 9]);
        assert_eq!(rows.part(9, 2).numbers(), [0; 0]);
        assert_eq!(
            rows.part(9, 2).place(Rangef::new(0.0, 50.0)).row_at(5.0),
            None
        );
        assert_ne!(rows.part(0, 3).id(), rows.part(1, 3).id());
    }

    #[test]
    fn a_head_is_followed_without_jitter() {
        let rows = Rows::all(4096);
        let mut zoom = Zoom::default();
        zoom.toggle_follow(&rows, 420.0);
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

    #[test]
    fn no_room_and_no_rows_do_no_harm() {
        let axis = Rows::all(128).place(Rangef::new(0.0, 0.0));
        assert_eq!(axis.row_at(5.0), None);
        let axis = Rows::all(0).place(Rangef::new(0.0, 50.0));
        assert_eq!(axis.row_at(5.0), None);
    }

    #[test]
    fn marks_give_way_when_rows_are_tiny() {
        let rows = Rows::of([0..100, 110..128], 128);
        assert_eq!(rows.gaps(), 1);
        let axis = rows.place(Rangef::new(0.0, 118.0));
        assert!((axis.height - 1.0).abs() < 1e-6);
    }
}
