//! The output layer: y_t = σ(z_t), with z_t = W·u_t + b of its input u_t. Computes all steps at once.

use crate::math::kernel::kernel;
use crate::math::pack::map_packs;
use crate::math::{Linear, Matrix, Real, Series, matrix, sigmoid};

/// Logits and outputs of every step.
pub(super) fn forward<R: Real>(
    linear: &Linear<R>,
    seen: &Series<R>,
    logit: &mut Series<R>,
    output: &mut Series<R>,
) {
    linear.forward_series(seen, logit);
    outputs(logit.as_slice(), output.as_mut_slice());
}

kernel! {
    /// y = σ(z).
    pub fn outputs<'a, R>(simd; z: &'a [R], y: &'a mut [R]) {
        map_packs!(simd, y = [z] => sigmoid(z));
    }
}

/// The gradient w.r.t. the input of the output layer, of every step.
#[derive(Debug)]
pub(super) struct Seen<R> {
    /// Gradient w.r.t. u_t, [T, width].
    pub(super) gradient: Series<R>,
    /// The weights turned round, [Y, width]: the few outputs then fill whole vectors.
    turned: Matrix<R>,
}

impl<R: Real> Seen<R> {
    pub(super) fn new(width: usize, outputs: usize) -> Self {
        Self {
            gradient: Series::new(width),
            turned: Matrix::zeros(outputs, width),
        }
    }

    /// Computes the gradient w.r.t. the input from that w.r.t. the logits.
    pub(super) fn backward(&mut self, linear: &Linear<R>, logit: &Series<R>) {
        self.gradient.resize(logit.steps());
        self.turned.view_mut().assign(&linear.weight.view().t());
        self.gradient.as_mut_slice().fill(R::ZERO);
        matrix::add_series_product(logit, self.turned.rows_from(0), &mut self.gradient);
    }
}
