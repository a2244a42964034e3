//! The additive score: K(i) = vᵀ·tanh(W_kᵀ·k + W_Mᵀ·M(i)) (Bahdanau 2015, appendix A.1.2).

use super::ScoreFunction;
use crate::math::Real;
use crate::math::Series;
use crate::math::units::{self, UnitActivation, Units, UnitsGradient};
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::model::head::HeadGradient;
use crate::model::kind::Kind;
use crate::model::slots::{Arrays, SlotsGradient};
use crate::model::spec::{Array, ArraySpec, Retention, LEARNED};
use crate::model::trace::HeadTrace;
use crate::model::window::BackwardStep;

/// W_k, [K, A].
#[rustfmt::skip] // A row for every array.
pub const ADDITIVE_KEY: Array = &ArraySpec::new("additive_key", &["k", "a"], "W_k", LEARNED, "learned; additive score vᵀ·tanh(W_kᵀ·k + W_Mᵀ·M(i)) (Bahdanau 2015)");
/// W_M, [M, A].
#[rustfmt::skip]
pub const ADDITIVE_ROW: Array = &ArraySpec::new("additive_row", &["m", "a"], "W_M", LEARNED, "learned; additive score");
/// v, [A].
#[rustfmt::skip]
pub const ADDITIVE_VECTOR: Array = &ArraySpec::new("additive_vector", &["a"], "v", LEARNED, "learned; additive score");
/// W_kᵀ·k, [T, A].
const QUERY: Array = &ArraySpec::scratch("additive_query");
/// The units for every row, for the backward pass, [T, A·N], where they are no more than the memory itself.
const UNITS: Array = &ArraySpec::scratch("additive_units").retention(Retention::WithMemory);
/// Scratch of the layer.
const LAYER: Array = &ArraySpec::scratch("additive_layer").retention(Retention::Once);

pub(super) struct Additive;

impl Arrays for Additive {
    fn arrays(&self) -> &'static [Array] {
        &[
            ADDITIVE_KEY,
            ADDITIVE_ROW,
            ADDITIVE_VECTOR,
            QUERY,
            UNITS,
            LAYER,
        ]
    }

    fn scratch(&self, array: Array, of: &dyn Kind) -> usize {
        let units = of.size("a");
        match array {
            QUERY => units,
            UNITS if units <= of.size("m") => units.saturating_mul(of.size("n")),
            LAYER => units::scratch(units, of.size("n")),
            _ => 0,
        }
    }
}

impl<R: Real> ScoreFunction<R> for Additive {
    fn gradient_scratch(&self, of: &dyn Kind) -> Vec<usize> {
        let units = of.size("a");
        let sums = units::sums::<R>(of.size("m"), units);
        vec![units, sums, units::scratch(units, of.size("n"))]
    }

    fn forward(&self, head: &mut HeadTrace<R>, t: usize, rows: &mut super::Rows<'_, R>) {
        let [of_key, of_row, vector, query, kept, layer] = head.of_score.all_mut();
        let query = query.row_mut(t);
        vector_product(head.key.row(t), of_key.row(0), query);
        let values = if kept.steps() > t {
            kept.row_mut(t)
        } else {
            layer.row_mut(0)
        };
        let similarity = head.similarity.row_mut(t);
        units(of_row.row(0), vector).forward(query, rows.columns, values, similarity);
    }

    fn backward(&self, head: &HeadTrace<R>, d: &mut HeadGradient<R>, to: &mut BackwardStep<'_, R>) {
        let [of_key, of_row, vector, query, kept, _] = head.of_score.all::<6>();
        let ([d_of_key, ..], [d_query, sums, scratch]) = d.of_score.all_mut::<3, 3>();
        let kept = (kept.steps() > to.t).then(|| kept.row(to.t));
        let gradient = UnitsGradient {
            start: query.row(to.t),
            d_energies: &d.weighting,
            d_start: &mut *d_query,
            sums,
            d_memory: &mut *to.d_memory,
        };
        units(of_row.row(0), vector).backward(gradient, to.visible_rows.columns, kept, scratch);
        let product = (head.key.row(to.t), of_key.row(0));
        vector_product_backward(product, d_query, &mut d.key, d_of_key);
    }

    fn add_up(&self, gradient: &mut SlotsGradient<R>) {
        let ([_, d_of_row, d_vector], [_, sums, _]) = gradient.all_mut::<3, 3>();
        if !sums.is_empty() {
            units::add_up(sums, d_of_row, d_vector);
        }
    }
}

fn units<'a, R: Real>(weight: &'a [R], vector: &'a Series<R>) -> Units<'a, R> {
    Units {
        weight,
        vector: vector.row(0),
        activation: UnitActivation::Tanh,
    }
}
