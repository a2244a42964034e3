//! The output layer: the probabilities y_t of the logits z_t ([`crate::math::Answer`]), with z_t = W·u_t + b of its input u_t. Computes many steps at once.

use std::ops::Range;

use super::array;
use super::dependency::Dependency;
use super::spec::Place;
use super::trace::Trace;
use crate::math::{Linear, Matrix, Real, Series, matrix};

/// Sets the input of the output layer in step `t`: the hidden state of the top layer, and what the heads read.
pub(super) fn gather<R: Real>(trace: &mut Trace<R>, t: usize) {
    let hidden = trace.layers.last().map(|layer| layer.hidden.row(t));
    let reads = trace.heads.iter().map(|head| head.read.row(t));
    let mut features = trace.features.row_mut(t);
    for part in hidden.into_iter().chain(reads) {
        let (to, rest) = features.split_at_mut(part.len());
        to.copy_from_slice(part);
        features = rest;
    }
}

/// Logits and outputs of these steps: of all, or of whole groups of them and the last ones. `features` is the input of the
/// output layer.
pub(super) fn forward<R: Real>(
    linear: &Linear<R>,
    trace: &mut Trace<R>,
    steps: Range<usize>,
    features: impl FnOnce(&Trace<R>) -> &Series<R>,
) {
    let mut logit = std::mem::take(&mut trace.logit);
    linear.forward_rows(features(trace), &mut logit, steps.clone());
    let (answer, output) = (trace.setting.answer, &mut trace.output);
    let z = logit.rows(steps.clone());
    answer.outputs(z, logit.width(), output.rows_mut(steps));
    trace.logit = logit;
}

/// Logit and output of a step: see [`super::Machine::step`]. `features` is the input of the output layer.
pub(super) fn step<'a, R: Real>(
    linear: &'a Linear<R>,
    features: impl Fn(&mut Trace<R>, usize) -> Vec<R> + 'a,
) -> [Dependency<'a, R>; 2] {
    let logit = move |trace: &mut Trace<R>, t: usize| {
        let row = features(trace, t);
        let steps = trace.steps();
        linear.forward_row(&row, trace.logit.row_mut(t), t, steps);
    };
    [
        Dependency::with_weights(Place::Machine, array::LOGIT, logit),
        output(),
    ]
}

/// Sets the output of a step from its logit.
pub(super) fn answer<R: Real>(trace: &mut Trace<R>, t: usize) {
    let (answer, z) = (trace.setting.answer, trace.logit.row(t));
    answer.outputs(z, z.len(), trace.output.row_mut(t));
}

/// The output of a step, from its logit.
pub(super) fn output<'a, R: Real>() -> Dependency<'a, R> {
    Dependency::with_weights(Place::Machine, array::OUTPUT, answer)
}

/// The gradient w.r.t. the input of the output layer, of every step.
#[derive(Debug)]
pub(super) struct FeaturesGradient<R> {
    /// Gradient w.r.t. u_t, [T, width].
    pub(super) gradient: Series<R>,
    /// The weights turned round, [Y, width]: the few outputs then fill whole vectors.
    turned: Matrix<R>,
}

impl<R: Real> FeaturesGradient<R> {
    pub(super) fn new(width: usize, outputs: usize) -> Self {
        Self {
            gradient: Series::new(width),
            turned: Matrix::zeros(outputs, width),
        }
    }

    /// Computes the gradient w.r.t. the input from that w.r.t. the logits.
    pub(super) fn backward(&mut self, weight: &Matrix<R>, logit: &Series<R>) {
        self.gradient.clear(logit.steps());
        self.turned.view_mut().assign(&weight.view().t());
        matrix::add_series_product(logit, self.turned.rows_from(0), &mut self.gradient);
    }
}
