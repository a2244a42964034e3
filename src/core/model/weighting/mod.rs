//! How scores become a weighting: by a softmax over all rows, or otherwise; a file for each.
//!
//! A new form is a file with its arrays and tensors and both directions, and a line of the list of weightings.

pub mod bayesian;
pub mod hard;
pub mod local;
pub mod soft;

use super::attention::{Weighting, weightings};
use super::head::HeadGradient;
use super::kind::Kind;
use super::machine::Terms;
use super::slots::{Arrays, SlotsGradient};
use super::spec::Array;
use super::stage::Stage;
use super::trace::{HeadTrace, NoiseMode};
use super::window::BackwardStep;
use crate::math::Real;

/// The stages of a weighting, beside those of the paper.
pub(super) trait Stages: Arrays {
    /// The array that a stage makes, and the arrays of the head that it is made of; `None` where there is no such
    /// stage. Only of [`Stage::Centre`], [`Stage::Divergence`] and [`Stage::Draw`].
    fn stage(&self, _stage: Stage) -> Option<(Array, &'static [Array])> {
        None
    }

    /// The array that is made of the rows of the memory and of learned arrays.
    fn row_array(&self) -> Option<Array> {
        None
    }

    /// The arrays that the content stage is made of, beside score and strength; none where it is that of the paper.
    fn content_needs(&self) -> &'static [Array] {
        &[]
    }

    /// True where the row is sampled from the result of the last stage.
    fn is_sampled(&self) -> bool {
        false
    }
}

/// A weighting in both directions; what it leaves out is as in the paper.
pub(super) trait WeightingFunction<R: Real>: Stages {
    /// Sizes of the scratch of the backward pass.
    fn gradient_scratch(&self, _of: &dyn Kind) -> Vec<usize> {
        Vec::new()
    }

    /// Sets what it makes of the rows of the memory, column after column.
    fn set_row_array(&self, _head: &mut HeadTrace<R>, _t: usize, _columns: &[R]) {}

    /// Adds to the gradients w.r.t. key and memory that through [`WeightingFunction::set_row_array`] and the centre.
    fn row_array_backward(
        &self,
        _head: &HeadTrace<R>,
        _d: &mut HeadGradient<R>,
        _to: &mut BackwardStep<'_, R>,
    ) {
    }

    /// [`Stage::Centre`].
    fn centre(&self, _head: &mut HeadTrace<R>, _t: usize) {}

    /// [`Stage::Content`]: w^c, where [`Stages::content_needs`] names something.
    fn content(&self, _head: &mut HeadTrace<R>, _t: usize, _sampling: NoiseMode) {}

    /// Sets the gradients w.r.t. the score and β, from that w.r.t. w^c in [`HeadGradient::weighting`].
    fn content_backward(
        &self,
        _head: &HeadTrace<R>,
        _t: usize,
        _terms: &Terms<R>,
        _d: &mut HeadGradient<R>,
    ) {
    }

    /// [`Stage::Divergence`].
    fn divergence(&self, _head: &mut HeadTrace<R>, _t: usize) {}

    /// [`Stage::Draw`].
    fn draw(&self, _head: &mut HeadTrace<R>, _t: usize, _sampling: NoiseMode) {}

    /// Turns the gradient w.r.t. the weighting into that w.r.t. α.
    fn draw_backward(
        &self,
        _head: &HeadTrace<R>,
        _t: usize,
        _sampling: NoiseMode,
        _terms: &Terms<R>,
        _gradient: &mut [R],
    ) {
    }

    /// Adds what the scratch has summed over an episode to the gradients w.r.t. the learned arrays.
    fn add_up(&self, _d: &mut SlotsGradient<R>) {}
}

macro_rules! functions {
    ($($(#[$doc:meta])* $word:literal: $name:ident in $file:ident,)*) => {
        impl Weighting {
            /// Its arrays and stages, and both directions.
            pub(super) fn function<R: Real>(self) -> &'static dyn WeightingFunction<R> {
                match self {
                    $(Self::$name => &$file::$name,)*
                }
            }
        }
    };
}

weightings!(functions);

impl Weighting {
    /// Its arrays and stages.
    // Not inlined, as the arrays of a score.
    #[inline(never)]
    pub(super) fn stages(self) -> &'static dyn Stages {
        self.function::<f32>()
    }
}
