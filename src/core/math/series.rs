//! A quantity over time: one row per step of an episode, in one block of memory.
//!
//! The trace of an episode is made of these. `weighting.row(t)` is what a head looked at in step t,
//! `weighting.view()` is the whole picture, time by rows, without copying.

use ndarray::ArrayView2;

use super::aligned::Aligned;

/// A time-major array [steps, width] whose storage is kept when the next episode is shorter or
/// longer, so that recording does not allocate once the longest episode has been seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series<R> {
    data: Aligned<R>,
    width: usize,
}

impl<R: Copy + Default> Series<R> {
    /// An empty series whose rows will have `width` values.
    pub fn new(width: usize) -> Self {
        Self {
            data: Aligned::zeros(0),
            width,
        }
    }

    /// Makes room for `steps` rows. Rows that were there keep their values, new ones are zero.
    pub fn resize(&mut self, steps: usize) {
        self.data.resize(steps * self.width);
    }

    /// Makes room for `steps` rows of zeros.
    pub fn clear(&mut self, steps: usize) {
        self.resize(steps);
        self.data.fill(R::default());
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
        &self.data[t * self.width..(t + 1) * self.width]
    }

    /// The values of step `t`, to write.
    #[inline]
    pub fn row_mut(&mut self, t: usize) -> &mut [R] {
        &mut self.data[t * self.width..(t + 1) * self.width]
    }

    /// The rows of step `t - 1` (to read) and of step `t` (to write); `t` is at least 1.
    #[inline]
    pub fn previous_and_row_mut(&mut self, t: usize) -> (&[R], &mut [R]) {
        self.two_rows(t - 1, t)
    }

    /// One row to read and another one to write.
    #[inline]
    pub fn two_rows(&mut self, read: usize, write: usize) -> (&[R], &mut [R]) {
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
        self.data.value(t * self.width)
    }
}

impl<R: Copy + Default> std::ops::IndexMut<usize> for Series<R> {
    #[inline(always)]
    fn index_mut(&mut self, t: usize) -> &mut R {
        self.data.value_mut(t * self.width)
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
}
