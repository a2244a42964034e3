//! y = x·W + b, with W as [inputs, outputs].

use ndarray::Array2;

use super::Real;

/// A linear map with bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear<R = f32> {
    /// [inputs, outputs].
    pub weight: Array2<R>,
    /// [1, outputs].
    pub bias: Array2<R>,
}

impl<R: Real> Linear<R> {
    /// All zero.
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self {
            weight: Array2::from_elem((inputs, outputs), R::ZERO),
            bias: Array2::from_elem((1, outputs), R::ZERO),
        }
    }
}
