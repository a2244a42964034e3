//! The dot product: K(i) = k·M(i) (Luong 2015, equation 8).

use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::Back;

pub(super) struct Dot;

impl Arrays for Dot {}

impl<R: Real> ScoreFunction<R> for Dot {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        let (key, similarity) = head.key_and_similarity(t);
        vector_product(key, rows.columns, similarity);
    }

    fn backward(&self, head: &HeadTrace<R>, by: &mut HeadGradient<R>, to: &mut Back<'_, R>) {
        let product = (head.key.row(to.t), to.seen.columns);
        vector_product_backward(product, &by.weighting, &mut by.key, to.d_memory);
    }
}
