//! Arrays that only some machines or heads have: those of a score, of a weighting, or of a kind of machine.

use super::kind::Kind;
use super::spec::{Array, position};
use crate::math::{Aligned, Real, Series};

/// The arrays of a mechanism.
pub(super) trait Arrays: Sync {
    /// Its arrays, in the order of the computation; those that are learned in the order of the tensors.
    fn arrays(&self) -> &'static [Array] {
        &[]
    }

    /// Values per step of an array that is in no file.
    fn scratch(&self, _array: Array, _of: &dyn Kind) -> usize {
        0
    }
}

/// The series of some arrays, in the order of their list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slots<R = f32> {
    arrays: &'static [Array],
    series: Vec<Series<R>>,
    /// The sizes of their axes behind that of the steps, where the machine says so.
    sizes: Vec<Option<Vec<usize>>>,
}

impl<R: Real> Slots<R> {
    /// Empty series of these widths.
    pub(super) fn new(arrays: &'static [Array], width: impl Fn(Array) -> usize) -> Self {
        let series = arrays.iter().map(|array| Series::new(width(array)));
        Self {
            arrays,
            series: series.collect(),
            sizes: Vec::new(),
        }
    }

    /// [`Slots::new`], where the machine says the sizes of axes.
    pub(super) fn of_sizes(
        arrays: &'static [Array],
        width: impl Fn(Array) -> usize,
        sizes: impl Fn(Array) -> Option<Vec<usize>>,
    ) -> Self {
        let sizes = arrays.iter().map(|array| sizes(array));
        Self {
            sizes: sizes.collect(),
            ..Self::new(arrays, width)
        }
    }

    /// The sizes of the axes of an array behind that of the steps, where the machine says so.
    pub(super) fn sizes(&self, array: Array) -> Option<&[usize]> {
        self.sizes.get(self.place(array)?)?.as_deref()
    }

    /// The place of an array in the list.
    pub(super) fn place(&self, array: Array) -> Option<usize> {
        position(self.arrays, array, |own| Some(*own))
    }

    /// True without any array.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Every array with its series.
    pub fn arrays(&self) -> impl Iterator<Item = (Array, &Series<R>)> {
        self.arrays.iter().copied().zip(&self.series)
    }

    /// [`Slots::arrays`], to write.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = (Array, &mut Series<R>)> {
        self.arrays.iter().copied().zip(&mut self.series)
    }

    /// The series of an array by its place in the list.
    pub(super) fn at(&self, index: usize) -> &Series<R> {
        &self.series[index]
    }

    /// [`Slots::at`], to write.
    pub(super) fn at_mut(&mut self, index: usize) -> &mut Series<R> {
        &mut self.series[index]
    }

    /// All series, for the one that knows the list.
    pub(super) fn all<const N: usize>(&self) -> &[Series<R>; N] {
        let all = self.series.first_chunk();
        all.unwrap_or_else(|| other_list())
    }

    /// [`Slots::all`], to write.
    pub(super) fn all_mut<const N: usize>(&mut self) -> &mut [Series<R>; N] {
        let all = self.series.first_chunk_mut();
        all.unwrap_or_else(|| other_list())
    }
}

/// The gradients and the scratch of the backward pass that belong to [`Slots`].
#[derive(Clone, Debug)]
pub struct SlotsGradient<R> {
    /// Gradients w.r.t. the learned arrays, summed over the steps, each flat.
    pub(super) learned: Vec<Aligned<R>>,
    /// What else a step needs.
    pub(super) scratch: Vec<Aligned<R>>,
}

impl<R: Real> SlotsGradient<R> {
    /// All zero.
    pub(super) fn new(of: &Slots<R>, scratch: &[usize]) -> Self {
        let zeros = Aligned::zeros;
        let learned = of.arrays().filter(|(array, _)| array.is_learned());
        Self {
            learned: learned.map(|(_, series)| zeros(series.width())).collect(),
            scratch: scratch.iter().map(|&len| zeros(len)).collect(),
        }
    }

    /// Sets everything to zero, for the next episode.
    pub(super) fn reset(&mut self) {
        for values in self.learned.iter_mut().chain(&mut self.scratch) {
            values.fill(R::ZERO);
        }
    }

    /// Gradients w.r.t. the learned arrays, and scratch, for the one that knows their lists.
    pub(super) fn all_mut<const L: usize, const S: usize>(
        &mut self,
    ) -> (&mut [Aligned<R>; L], &mut [Aligned<R>; S]) {
        let (learned, scratch) = (
            self.learned.first_chunk_mut(),
            self.scratch.first_chunk_mut(),
        );
        learned.zip(scratch).unwrap_or_else(|| other_list())
    }
}

fn other_list() -> ! {
    unreachable!("the arrays of another mechanism")
}
