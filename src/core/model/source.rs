//! The source of an episode: the part of a machine that makes a memory row of every step before the answer.

use std::fmt::Debug;

use super::array;
use super::dependency::Dependency;
use super::kind::Kind;
use super::machine::{Batch, GradientRecorder, Terms};
use super::memory;
use super::params::Params;
use super::shape::{LinearSpec, Shape};
use super::spec::{Array, Place};
use super::trace::Trace;
use crate::keys::Table;
use crate::math::matrix::{padded, set_product_of_series};
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

/// The gradients of an episode through its source.
pub(super) struct SourceGradient<R> {
    /// w.r.t. the rows, [S, M].
    pub(super) rows: Series<R>,
    /// w.r.t. the last cells; 0 in a machine that does not start from them.
    pub(super) cell: Vec<R>,
    /// w.r.t. the products with every weight.
    products: Vec<Series<R>>,
}

impl<R: Real> SourceGradient<R> {
    pub(super) fn new(source: &impl Source, inputs: usize) -> Self {
        let columns = source.columns(inputs);
        Self {
            rows: Series::new(columns),
            cell: vec![R::ZERO; columns],
            products: products(&source.shape(inputs)),
        }
    }

    /// Empties the gradients for an episode.
    pub(super) fn reset(&mut self, source: &impl Source, trace: &Trace<R>) {
        let steps = trace.setting.source;
        self.rows.clear(steps);
        self.cell.fill(R::ZERO);
        for (weight, series) in self.products.iter_mut().enumerate() {
            // Every row is set; the padding stays 0.
            series.resize(steps.min(source.multiplied(trace, weight).steps()));
        }
    }
}

/// Series for the products with every weight: the linear maps, then the other tensors.
pub(super) fn products<R: Real>(shape: &Shape) -> Vec<Series<R>> {
    let linears = shape.linears.iter().map(LinearSpec::outputs);
    let all = linears.chain(shape.tensors.iter().map(|tensor| tensor.columns));
    all.map(|columns| Series::new(padded(columns))).collect()
}

/// Says where the scratch of a machine has the gradients of its source: in the field `source`.
macro_rules! with_source {
    ($scratch:ident) => {
        impl<R> AsRef<SourceGradient<R>> for $scratch<R> {
            fn as_ref(&self) -> &SourceGradient<R> {
                &self.source
            }
        }

        impl<R> AsMut<SourceGradient<R>> for $scratch<R> {
            fn as_mut(&mut self) -> &mut SourceGradient<R> {
                &mut self.source
            }
        }
    };
}
pub(super) use with_source;

/// The weights of a source, the first ones of its machine.
pub(super) fn weights<'a, R>(
    source: &impl Source,
    inputs: usize,
    params: &'a Params<R>,
) -> Weights<'a, R> {
    let shape = source.shape(inputs);
    Weights {
        linears: &params.linears[..shape.linears.len()],
        tensors: &params.tensors[..shape.tensors.len()],
    }
}

/// [`Kind::width`] of an array of the source, of one of these other arrays in files, or of one of the memory.
pub(super) fn width<S: Source>(
    kind: &dyn Kind,
    source: &S,
    has: &[Array],
    (place, array): (Place, Array),
) -> usize {
    match (place, array) {
        (Place::Head(_), array::ROWS) => kind.rows().saturating_mul(padded(kind.columns())),
        (Place::Machine, array::NORMS) => kind.rows(),
        _ if has.contains(&array) => kind.values(array),
        (Place::Machine, _) if S::ARRAYS.contains(&array) => source.width(kind.inputs(), array),
        _ => 0,
    }
}

/// The arrays that the rows of a source are made of.
pub(super) fn made_of(source: &impl Source) -> impl Iterator<Item = (Place, Array)> {
    let arrays = source.made_of().iter();
    arrays.map(|array| (Place::Machine, *array))
}

/// M_{t+1}: M_t with row `t` of the source.
pub(super) fn append<R: Real>(source: &impl Source, trace: &mut Trace<R>, t: usize) {
    let row = (t < trace.setting.source).then(|| source.row(trace, t).concat());
    memory::append(&mut trace.memory_columns, t, row);
}

/// The memory to which each step of the source appends its row.
pub(super) fn appended<R: Real>(source: &impl Source) -> Dependency<'_, R> {
    let needs = made_of(source).chain([(Place::Machine, array::INITIAL_MEMORY)]);
    Dependency::of_memory(needs, |trace, t| append(source, trace, t))
}

/// Backpropagates from the gradients w.r.t. the rows, which are in the scratch `T` of a machine, to the weights of the
/// source.
pub(super) fn backward<
    R: Real,
    T: AsRef<SourceGradient<R>> + AsMut<SourceGradient<R>> + 'static,
>(
    source: &impl Source,
    weights: Weights<'_, R>,
    batch: &mut Batch<'_, R>,
    gradient: &mut Params<R>,
) {
    for mut group in batch.groups() {
        let episodes = group.each::<T>().map(|(trace, by, scratch, recorder)| {
            let SourceGradient {
                rows,
                cell,
                products,
            } = scratch.as_mut();
            SourceBack {
                trace,
                rows,
                cell,
                terms: &by.terms,
                products,
                recorder,
            }
        });
        source.backward(weights, &mut episodes.collect::<Vec<_>>());
    }
    let (linears, all) = (weights.linears.len(), batch.done::<T>());
    for weight in 0..linears + weights.tensors.len() {
        let pairs = all.clone().map(|(trace, _, scratch)| {
            (
                source.multiplied(trace, weight),
                &scratch.as_ref().products[weight],
            )
        });
        match weight.checked_sub(linears) {
            None => gradient.linears[weight].set_gradient(pairs),
            Some(tensor) => set_product_of_series(pairs, &mut gradient.tensors[tensor]),
        }
    }
}
