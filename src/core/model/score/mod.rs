//! The scores of a head's key with the rows of the memory that it sees, and their derivatives: a file for each.
//!
//! A new score is a file with its arrays and tensors and both directions, and a line of the list of scores.

use super::attention::{Score, scores};
use super::head::HeadGradient;
use super::kind::Kind;
use super::slots::{Arrays, SlotsGradient};
use super::trace::HeadTrace;
use super::window::BackwardStep;
use crate::math::Real;

/// What a head sees: the memory, column after column [M·N], ε under the roots of the norms of its rows, and these norms
/// [N], which a score may compute.
#[derive(Debug)]
pub struct Rows<'a, R> {
    pub(super) columns: &'a [R],
    pub(super) epsilon: R,
    pub(super) norms: &'a mut [R],
}

/// A score function in both directions.
pub(super) trait ScoreFunction<R: Real>: Arrays {
    /// Sizes of the scratch of the backward pass.
    fn gradient_scratch(&self, _of: &dyn Kind) -> Vec<usize> {
        Vec::new()
    }

    /// Sets the similarities of step `t`.
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>);

    /// Sets the gradient w.r.t. the key and adds to that w.r.t. the memory, from that w.r.t. the similarities in
    /// [`HeadGradient::weighting`].
    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>);

    /// [`ScoreFunction::forward`] of two heads, which may share a pass over the memory.
    fn forward_pair(
        &self,
        [first, second]: [&mut HeadTrace<R>; 2],
        t: usize,
        rows: &mut Rows<'_, R>,
    ) {
        self.forward(first, t, rows);
        self.forward(second, t, rows);
    }

    /// [`ScoreFunction::backward`] of two heads, which may share a pass over the memory.
    fn backward_pair(
        &self,
        heads: [&HeadTrace<R>; 2],
        gradients: [&mut HeadGradient<R>; 2],
        to: &mut BackwardStep<'_, R>,
    ) {
        for (head, d) in heads.into_iter().zip(gradients) {
            self.backward(head, d, to);
        }
    }

    /// Adds what the scratch has summed over an episode to the gradients w.r.t. the learned arrays.
    fn add_up(&self, _gradient: &mut SlotsGradient<R>) {}
}

macro_rules! functions {
    ($($(#[$doc:meta])* $word:literal: $name:ident in $file:ident,)*) => {
        $(pub mod $file;)*

        impl Score {
            /// Its arrays, and both directions.
            pub(super) fn function<R: Real>(self) -> &'static dyn ScoreFunction<R> {
                match self {
                    $(Self::$name => &$file::$name,)*
                }
            }
        }
    };
}

scores!(functions);

impl Score {
    /// Its arrays.
    // Not inlined: every crate that asks for the arrays would compile both directions again, with their kernels.
    #[inline(never)]
    pub(super) fn arrays(self) -> &'static dyn Arrays {
        self.function::<f32>()
    }
}

/// The similarities of heads at one step with the memory that they see, and what their weightings make of its rows.
pub(super) fn forward<R: Real>(heads: &mut [HeadTrace<R>], t: usize, rows: &mut Rows<'_, R>) {
    similarities(heads, t, rows);
    for head in heads
        .iter_mut()
        .filter(|head| !head.of_weighting.is_empty())
    {
        let weighting = head.mechanism.weighting.function();
        weighting.set_row_array(head, t, rows.columns);
    }
}

/// The similarities of heads at one step with the memory that they see, and the norms of its rows where a score needs
/// them.
pub(super) fn similarities<R: Real>(heads: &mut [HeadTrace<R>], t: usize, rows: &mut Rows<'_, R>) {
    for pair in heads.chunks_mut(2) {
        let score = pair[0].mechanism.score;
        match pair {
            [first, second] if second.mechanism.score == score => {
                score.function().forward_pair([first, second], t, rows);
            }
            heads => {
                for head in heads {
                    head.mechanism.score.function().forward(head, t, rows);
                }
            }
        }
    }
}

/// Sets the gradients w.r.t. the keys and adds to that w.r.t. the memory, from those w.r.t. the similarities.
pub(super) fn backward<R: Real>(
    heads: &[HeadTrace<R>],
    gradients: &mut [HeadGradient<R>],
    mut to: BackwardStep<'_, R>,
) {
    for (pair, gradients) in heads.chunks(2).zip(gradients.chunks_mut(2)) {
        let score = pair[0].mechanism.score;
        match (pair, gradients) {
            ([first, second], [d_first, d_second]) if second.mechanism.score == score => {
                let (heads, both) = ([first, second], [d_first, d_second]);
                score.function().backward_pair(heads, both, &mut to);
            }
            (heads, gradients) => {
                for (head, d) in heads.iter().zip(gradients) {
                    head.mechanism.score.function().backward(head, d, &mut to);
                }
            }
        }
    }
    let heads = heads.iter().zip(gradients);
    for (head, d) in heads.filter(|(head, _)| !head.of_weighting.is_empty()) {
        let weighting = head.mechanism.weighting.function();
        weighting.row_array_backward(head, d, &mut to);
    }
}
