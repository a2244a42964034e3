//! The general, or bilinear, score: K(i) = kᵀ·W·M(i) (Luong 2015, equation 8).

use super::{Rows, ScoreFunction};
use crate::math::Real;
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::model::head::HeadGradient;
use crate::model::kind::Kind;
use crate::model::slots::Arrays;
use crate::model::spec::{Array, ArraySpec, LEARNED};
use crate::model::trace::HeadTrace;
use crate::model::window::BackwardStep;

/// W, [K, M].
#[rustfmt::skip] // A row for every array.
pub const BILINEAR: Array = &ArraySpec::new("bilinear", &["k", "m"], "W", LEARNED, "learned; general score kᵀ·W·M(i) (Luong 2015)");

/// kᵀ·W, [T, M].
const QUERY: Array = &ArraySpec::scratch("general_query");

pub(super) struct General;

impl Arrays for General {
    fn arrays(&self) -> &'static [Array] {
        &[BILINEAR, QUERY]
    }

    fn scratch(&self, _: Array, of: &dyn Kind) -> usize {
        of.size("m")
    }
}

impl<R: Real> ScoreFunction<R> for General {
    fn gradient_scratch(&self, of: &dyn Kind) -> Vec<usize> {
        vec![of.size("m")]
    }

    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut Rows<'_, R>) {
        let [weight, query] = head.of_score.all_mut();
        vector_product(head.key.row(t), weight.row(0), query.row_mut(t));
        vector_product(query.row(t), rows.columns, head.similarity.row_mut(t));
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        let [weight, query] = head.of_score.all();
        let ([d_weight], [d_query]) = d.of_score.all_mut();
        let product = (query.row(to.t), to.visible_rows.columns);
        vector_product_backward(product, &d.weighting, d_query, to.d_memory);
        let product = (head.key.row(to.t), weight.row(0));
        vector_product_backward(product, d_query, &mut d.key, d_weight);
    }
}
