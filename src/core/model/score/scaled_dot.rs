//! The scaled dot product: K(i) = k·M(i) / √M (Vaswani 2017, equation 1).

use super::dot::Dot;
use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::Back;

pub(super) struct ScaledDot;

impl Arrays for ScaledDot {}

impl<R: Real> ScoreFunction<R> for ScaledDot {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        Dot.forward(head, t, rows);
        let scale = scale(head);
        let similarity = head.similarity.row_mut(t);
        similarity.iter_mut().for_each(|score| *score *= scale);
    }

    fn backward(&self, head: &HeadTrace<R>, by: &mut HeadGradient<R>, to: &mut Back<'_, R>) {
        let scale = scale(head);
        by.weighting.iter_mut().for_each(|by| *by *= scale);
        Dot.backward(head, by, to);
    }
}

/// 1 / √M.
fn scale<R: Real>(head: &HeadTrace<R>) -> R {
    R::ONE / R::from_f64(head.key.width() as f64).sqrt()
}
