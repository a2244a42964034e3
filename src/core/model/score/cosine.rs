//! The cosine: K(i) = k·M(i) / (√(|k|² + ε)·√(|M(i)|² + ε)) (Graves 2014, equation 6).

use super::{Rows, ScoreFunction};
use crate::math::similarity::{CosineGradient, cosines, cosines_backward};
use crate::math::Real;
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::{BackwardStep, VisibleRows};

pub(super) struct Cosine;

impl Arrays for Cosine {}

impl<R: Real> ScoreFunction<R> for Cosine {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        let head = [head.key_and_similarity(t)];
        cosines(head, rows.columns, rows.epsilon, rows.norms);
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        backward([of(head, to.t, d)], to);
    }

    fn forward_pair(&self, heads: [&mut HeadTrace<R>; 2], t: usize, rows: &mut Rows<'_, R>) {
        let heads = heads.map(|head| head.key_and_similarity(t));
        cosines(heads, rows.columns, rows.epsilon, rows.norms);
    }

    fn backward_pair(
        &self,
        [first, second]: [&HeadTrace<R>; 2],
        [d_first, d_second]: [&mut HeadGradient<R>; 2],
        to: &mut BackwardStep<'_, R>,
    ) {
        backward([of(first, to.t, d_first), of(second, to.t, d_second)], to);
    }
}

fn backward<R: Real, const H: usize>(heads: [CosineGradient<'_, R>; H], to: &mut BackwardStep<'_, R>) {
    let VisibleRows { columns, norms, epsilon } = to.visible_rows;
    cosines_backward(heads, columns, (norms, epsilon), to.d_memory, to.scratch);
}

fn of<'a, R: Real>(
    head: &'a HeadTrace<R>,
    t: usize,
    d: &'a mut HeadGradient<R>,
) -> CosineGradient<'a, R> {
    CosineGradient {
        key: head.key.row(t),
        similarity: head.similarity.row(t),
        d_similarity: &mut d.weighting,
        d_key: &mut d.key,
    }
}
