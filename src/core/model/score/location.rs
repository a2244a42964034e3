//! The location-based score: K(i) = (kᵀ·W)(i), of the position of a row alone (Luong 2015, equation 8).

use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::model::head::HeadGradient;
use crate::model::slots::Arrays;
use crate::model::spec::{Array, ArraySpec, LEARNED};
use crate::model::trace::HeadTrace;
use crate::model::window::BackwardStep;

/// W, [K, N].
#[rustfmt::skip] // A row for every array.
pub const LOCATION: Array = &ArraySpec::new("location", &["k", "n"], "W", LEARNED, "learned; location-based score (kᵀ·W)(i) (Luong 2015)");

pub(super) struct Location;

impl Arrays for Location {
    fn arrays(&self) -> &'static [Array] {
        &[LOCATION]
    }
}

impl<R: Real> ScoreFunction<R> for Location {
    fn forward(&self, head: &mut HeadTrace<R>, t: usize, _: &mut Rows<'_, R>) {
        let [weight] = head.of_score.all();
        let similarity = head.similarity.row_mut(t);
        vector_product(head.key.row(t), weight.row(0), similarity);
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        let ([weight], ([d_weight], [])) = (head.of_score.all(), d.of_score.all_mut());
        let product = (head.key.row(to.t), weight.row(0));
        vector_product_backward(product, &d.weighting, &mut d.key, d_weight);
    }
}
