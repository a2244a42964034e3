//! The cosine: K(i) = k·M(i) / (√(|k|² + ε)·√(|M(i)|² + ε)) (Graves 2014, equation 6).

use super::{Rows, ScoreFunction};
use crate::math::similarity::{CosineGradient, cosines, cosines_backward};
use crate::math::Real;
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::Seen;

pub(super) struct Cosine;

impl Arrays for Cosine {}

impl<R: Real> ScoreFunction<R> for Cosine {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        let head = [head.key_and_similarity(t)];
        cosines(head, rows.columns, rows.epsilon, rows.norms);
    }

    fn backward(
        &self,
        head: &HeadTrace<R>,
        t: usize,
        by: &mut HeadGradient<R>,
        seen: Seen<'_, R>,
        d_memory: &mut [R],
        scratch: &mut [R],
    ) {
        let norms = (seen.norms, seen.epsilon);
        cosines_backward([of(head, t, by)], seen.columns, norms, d_memory, scratch);
    }

    fn forward_pair(&self, heads: [&mut HeadTrace<R>; 2], t: usize, rows: &mut Rows<'_, R>) {
        let heads = heads.map(|head| head.key_and_similarity(t));
        cosines(heads, rows.columns, rows.epsilon, rows.norms);
    }

    fn backward_pair(
        &self,
        [first, second]: [&HeadTrace<R>; 2],
        t: usize,
        [by_first, by_second]: [&mut HeadGradient<R>; 2],
        seen: Seen<'_, R>,
        d_memory: &mut [R],
        scratch: &mut [R],
    ) {
        let (heads, norms) = ([of(first, t, by_first), of(second, t, by_second)], (seen.norms, seen.epsilon));
        cosines_backward(heads, seen.columns, norms, d_memory, scratch);
    }
}

fn of<'a, R: Real>(
    head: &'a HeadTrace<R>,
    t: usize,
    by: &'a mut HeadGradient<R>,
) -> CosineGradient<'a, R> {
    CosineGradient {
        key: head.key.row(t),
        similarity: head.similarity.row(t),
        d_similarity: &mut by.weighting,
        d_key: &mut by.key,
    }
}
