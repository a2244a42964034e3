//! The dot product: K(i) = k·M(i) (Luong 2015, equation 8).

use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::trace::HeadTrace;
use crate::model::window::BackwardStep;

pub(super) struct Dot;

impl Arrays for Dot {}

impl<R: Real> ScoreFunction<R> for Dot {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        let (key, similarity) = head.key_and_similarity(t);
        vector_product(key, rows.columns, similarity);
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        let product = (head.key.row(to.t), to.visible_rows.columns);
        vector_product_backward(product, &d.weighting, &mut d.key, to.d_memory);
    }
}
