//! A quantity over time: one row per step of an episode, in one block of memory.
//!
//! The trace of an episode is made of these. `weighting.row(t)` is what a head looked at in step t,
//! `weighting.view()` is the whole picture, time by rows, without copying.

use std::ops::Range;

use ndarray::ArrayView2;

use super::aligned::Aligned;

/// A time-major array [steps, width] whose storage is kept when the next episode is shorter or
/// longer, so that recording does not allocate once the longest episode has been seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series<R> {
    data: Aligned<R>,
    width: usize,
    /// Bits of a step that do not count where only the last rows are held; 0 otherwise.
    ignored: usize,
}

impl<R: Copy + Default> Series<R> {
    /// An empty series whose rows will have `width` values.
    pub fn new(width: usize) -> Self {
        Self {
            data: Aligned::zeros(0),
            width,
            ignored: 0,
        }
    }

    /// Makes room for `steps` rows. Rows that were there keep their values, new ones are zero.
    pub fn resize(&mut self, steps: usize) {
        if self.is_ring() {
            self.data.resize(0);
            self.ignored = 0;
        }
        self.data.resize(steps * self.width);
    }

    /// Makes room for `steps` rows of zeros.
    pub fn clear(&mut self, steps: usize) {
        self.resize(steps);
        self.data.fill(R::default());
    }

    /// Makes room for the last `rows` rows of any number of steps, all zero: a ring buffer. `rows` is a power of two.
    pub fn resize_ring(&mut self, rows: usize) {
        self.data.resize(0);
        self.data.resize(rows * self.width);
        self.ignored = !(rows - 1);
    }

    /// True where only the last rows are held.
    pub fn is_ring(&self) -> bool {
        self.ignored > 0
    }

    /// The first value of step `t`.
    #[inline(always)]
    fn start(&self, t: usize) -> usize {
        (t & !self.ignored) * self.width
    }

    /// Makes room for `steps` rows of `width` values; the values themselves are unspecified.
    pub fn reshape(&mut self, steps: usize, width: usize) {
        self.width = width;
        self.resize(steps);
    }

    /// Values per step.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of steps held.
    pub fn steps(&self) -> usize {
        self.data.len().checked_div(self.width).unwrap_or(0)
    }

    /// The values of step `t`.
    #[inline]
    pub fn row(&self, t: usize) -> &[R] {
        self.rows(t..t + 1)
    }

    /// The values of these steps; of a ring buffer they must not pass its end.
    #[inline]
    pub fn rows(&self, steps: Range<usize>) -> &[R] {
        let start = self.start(steps.start);
        &self.data[start..start + steps.len() * self.width]
    }

    /// The values of the step before `t`, of `initial` before the first one.
    #[inline]
    pub fn row_before<'a>(&'a self, t: usize, initial: &'a Self) -> &'a [R] {
        t.checked_sub(1)
            .map_or_else(|| initial.row(0), |last| self.row(last))
    }

    /// [`Series::rows`], to write.
    #[inline]
    pub fn rows_mut(&mut self, steps: Range<usize>) -> &mut [R] {
        let start = self.start(steps.start);
        &mut self.data[start..start + steps.len() * self.width]
    }

    /// The values of step `t`, to write.
    #[inline]
    pub fn row_mut(&mut self, t: usize) -> &mut [R] {
        self.rows_mut(t..t + 1)
    }

    /// The rows of step `t - 1` (to read) and of step `t` (to write); `t` is at least 1.
    #[inline]
    pub fn previous_and_row_mut(&mut self, t: usize) -> (&[R], &mut [R]) {
        self.two_rows(t - 1, t)
    }

    /// One row to read and another one to write.
    #[inline]
    pub fn two_rows(&mut self, read: usize, write: usize) -> (&[R], &mut [R]) {
        let [read, write] = [read, write].map(|t| t & !self.ignored);
        let (width, later) = (self.width, read.max(write));
        let (before, after) = self.data.split_at_mut(later * width);
        if write == later {
            (
                &before[read * width..(read + 1) * width],
                &mut after[..width],
            )
        } else {
            (
                &after[..width],
                &mut before[write * width..(write + 1) * width],
            )
        }
    }

    /// All values, step after step.
    pub fn as_slice(&self) -> &[R] {
        &self.data
    }

    /// All values, step after step, to write.
    pub fn as_mut_slice(&mut self) -> &mut [R] {
        &mut self.data
    }

    /// The whole series as an array [steps, width].
    #[expect(
        clippy::missing_panics_doc,
        reason = "the lengths agree by construction"
    )]
    pub fn view(&self) -> ArrayView2<'_, R> {
        ArrayView2::from_shape((self.steps(), self.width), &self.data)
            .expect("a series holds steps * width values")
    }
}

/// A series with one value per step is indexed by the step; of a wider one this is the first value.
impl<R: Copy + Default> std::ops::Index<usize> for Series<R> {
    type Output = R;
    #[inline(always)]
    fn index(&self, t: usize) -> &R {
        self.data.value(self.start(t))
    }
}

impl<R: Copy + Default> std::ops::IndexMut<usize> for Series<R> {
    #[inline(always)]
    fn index_mut(&mut self, t: usize) -> &mut R {
        self.data.value_mut(self.start(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resize_keeps_storage_and_values() {
        let mut series = Series::<f32>::new(3);
        series.resize(4);
        series.row_mut(1).fill(2.0);
        let place = series.as_slice().as_ptr();
        series.resize(2);
        series.resize(4);
        assert_eq!(series.row(1), [2.0; 3]);
        assert_eq!(series.row(3), [0.0; 3]);
        assert_eq!(series.as_slice().as_ptr(), place);
        assert_eq!(series.view().dim(), (4, 3));
    }

    #[test]
    fn a_ring_buffer_holds_the_last_rows() {
        let mut series = Series::<f32>::new(2);
        series.resize_ring(4);
        for t in 0..9 {
            series.row_mut(t).fill(t as f32);
        }
        assert!((5..9).all(|t| series.row(t) == [t as f32; 2] && series[t] == t as f32));
        assert_eq!(series.rows(6..8), [6.0, 6.0, 7.0, 7.0]);
        let (before, after) = series.two_rows(7, 8);
        assert_eq!((before[0], after[0]), (7.0, 8.0));
        series.resize_ring(2);
        assert_eq!((series.steps(), series.as_slice()), (2, &[0.0; 4][..]));
        series.resize(9);
        assert!(!series.is_ring() && series.row(8) == [0.0; 2]);
    }
}
