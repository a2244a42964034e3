//! The source of an episode: the part of a machine that makes a memory row of every step before the answer.

use std::fmt::Debug;

use super::dependency::Dependency;
use super::machine::{GradientRecorder, Terms};
use super::shape::Shape;
use super::spec::Array;
use super::trace::Trace;
use crate::keys::Table;
use crate::math::{Linear, Matrix, Real, Series};

/// The weights of a part of a machine.
#[derive(Clone, Copy)]
pub struct Weights<'a, R> {
    /// The linear maps.
    pub linears: &'a [Linear<R>],
    /// The other tensors.
    pub tensors: &'a [Matrix<R>],
}

/// The configuration of a source, both directions included.
///
/// Every weight of it multiplies the rows of a series; a weight is an index into linear maps, then tensors.
pub trait Source: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// Its arrays, the first ones of its machine.
    const ARRAYS: &'static [Array];

    /// Enters its keys.
    fn keys(&mut self, to: &mut Table<'_>);

    /// Its tensors, for inputs of this size.
    fn shape(&self, inputs: usize) -> Shape;

    /// Values of a row.
    fn columns(&self, inputs: usize) -> usize;

    /// Values per step of one of its arrays.
    fn width(&self, inputs: usize, array: Array) -> usize;

    /// The size of an axis of its arrays.
    fn axis(&self, axis: &str) -> Option<usize>;

    /// Computes what the rows are made of, at the beginning of episodes side by side.
    fn run<R: Real>(&self, weights: Weights<'_, R>, traces: &mut [Trace<R>]);

    /// The arrays that the rows are made of.
    fn made_of(&self) -> &'static [Array];

    /// The parts of row `t` of the memory.
    fn row<'a, R: Real>(&self, trace: &'a Trace<R>, t: usize) -> [&'a [R]; 2];

    /// Its arrays in a step: see [`super::Machine::step`].
    fn step<'a, R: Real>(&'a self, weights: Weights<'a, R>) -> Vec<Dependency<'a, R>>;

    /// Backpropagates through episodes side by side.
    fn backward<R: Real>(&self, weights: Weights<'_, R>, episodes: &mut [SourceBack<'_, R>]);

    /// The series that a weight multiplies.
    fn multiplied<'a, R: Real>(&self, trace: &'a Trace<R>, weight: usize) -> &'a Series<R>;
}

/// The backward pass of an episode through its source: from the first gradients to the last two.
pub struct SourceBack<'a, R> {
    /// The episode.
    pub(super) trace: &'a Trace<R>,
    /// w.r.t. the rows, [S, M].
    pub(super) rows: &'a mut Series<R>,
    /// w.r.t. the last cells.
    pub(super) cell: &'a [R],
    /// The terms of the source itself.
    pub(super) terms: &'a Terms<R>,
    /// w.r.t. the products with every weight.
    pub(super) products: &'a mut [Series<R>],
    /// w.r.t. the arrays, and w.r.t. the input [T, X].
    pub(super) recorder: GradientRecorder<'a, R>,
}
