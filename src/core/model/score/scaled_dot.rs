//! The scaled dot product: K(i) = k·M(i) / √M (Vaswani 2017, equation 1).

use super::dot::Dot;
use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::BackwardStep;

pub(super) struct ScaledDot;

impl Arrays for ScaledDot {}

impl<R: Real> ScoreFunction<R> for ScaledDot {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        Dot.forward(head, t, rows);
        let scale = scale(head);
        let similarity = head.similarity.row_mut(t);
        similarity.iter_mut().for_each(|score| *score *= scale);
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        let scale = scale(head);
        d.weighting.iter_mut().for_each(|value| *value *= scale);
        Dot.backward(head, d, to);
    }
}

/// 1 / √M.
fn scale<R: Real>(head: &HeadTrace<R>) -> R {
    R::ONE / R::from_f64(head.key.width() as f64).sqrt()
}
