//! Which memory rows are on screen and where: the address axis that all pictures of rows share.

use std::ops::Range;

use egui::Rangef;

use crate::train::Recording;

/// A row counts as touched when some head puts at least this much weight on it in some step.
pub const TOUCHED: f32 = 0.01;
/// Height of the mark that stands for rows left out, in points.
const GAP: f32 = 15.0;

/// Runs of rows that are shown, in address order (row 0 follows the last row), with their true numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    runs: Vec<Range<usize>>,
    /// The true numbers of the rows shown, from the top.
    shown: Vec<usize>,
    total: usize,
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
        }
    }

    /// The rows that some head touches in some step; every row if that would be none.
    pub fn touched(recording: &Recording) -> Self {
        let heads = &recording.trace.heads;
        let total = heads.first().map_or(0, |head| head.initial.len());
        let mut touched = vec![false; total];
        let steps = recording.trace.steps();
        for weighting in heads
            .iter()
            .flat_map(|head| (0..steps).map(|t| head.weighting.row(t)))
        {
            for (touched, &weight) in touched.iter_mut().zip(weighting) {
                *touched |= !weight.is_finite() || weight >= TOUCHED;
            }
        }
        let runs: Vec<_> = touched
            .chunk_by(|a, b| a == b)
            .scan(0, |start, run| {
                let range = *start..*start + run.len();
                *start = range.end;
                Some((range, run[0]))
            })
            .filter_map(|(range, touched)| touched.then_some(range))
            .collect();
        if runs.is_empty() {
            return Self::all(total);
        }
        Self::of(runs, total).with_the_circle_closed()
    }

    /// Row 0 follows the last row: the longest stretch left out goes to the end, so that a head that
    /// walks round the end is seen to walk on.
    fn with_the_circle_closed(mut self) -> Self {
        let runs = 0..self.runs.len();
        if let Some(widest) = runs.rev().max_by_key(|&run| self.left_out_after(run)) {
            let count = self.runs.len();
            self.runs.rotate_left((widest + 1) % count);
        }
        Self::of(self.runs, self.total)
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
        let rows = Rows::of([0..5, 84..128], 128).with_the_circle_closed();
        assert_eq!(rows.runs, [84..128, 0..5]);
        assert_eq!((rows.numbers()[0], rows.numbers()[44]), (84, 0));
        let axis = rows.place(Rangef::new(0.0, 505.0));
        assert_eq!(axis.gaps.len(), 1);
        assert_eq!(axis.gaps[0].0, 79);
        let (last, first) = (axis.place_of(127).unwrap(), axis.place_of(0).unwrap());
        assert!((last.max - first.min).abs() < 1e-3);
        let one = Rows::of([0..21, 60..61], 128).with_the_circle_closed();
        assert_eq!(one.runs, [0..21, 60..61]);
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
