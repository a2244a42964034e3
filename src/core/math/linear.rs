//! y = x·W + b, with W as [inputs, outputs].
//!
//! Backwards: dx = dy·Wᵀ, and over an episode of T steps dW = Σ_t x_tᵀ·dy_t, one product of two
//! matrices that stand time-major on the tape.

use std::ops::Range;

use super::kernel::kernel;
use super::matrix::{self, Matrix, Rows, TOGETHER};
use super::{Real, Series};

/// A linear map with bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear<R = f32> {
    /// [inputs, outputs].
    pub weight: Matrix<R>,
    /// [1, outputs].
    pub bias: Matrix<R>,
}

impl<R: Real> Linear<R> {
    /// All zero.
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self {
            weight: Matrix::zeros(inputs, outputs),
            bias: Matrix::zeros(1, outputs),
        }
    }

    /// y_t = b + x_t·W for every step of an episode, where `x` are the first inputs and the others are
    /// taken as zero.
    pub fn forward_series(&self, x: &Series<R>, y: &mut Series<R>) {
        self.forward_rows(x, y, 0..y.steps());
    }

    /// [`Linear::forward_series`] of these steps.
    pub fn forward_rows(&self, x: &Series<R>, y: &mut Series<R>, steps: Range<usize>) {
        for t in steps.clone() {
            self.start(y.row_mut(t));
        }
        matrix::add_rows_product(x, self.weight.rows_from(0), y, steps);
    }

    /// Row `t` of [`Linear::forward_series`] over `steps` steps, to the same bits.
    pub fn forward_row(&self, x: &[R], y: &mut [R], t: usize, steps: usize) {
        // Whole groups of steps are summed in another order than what is left.
        let group = t - t % TOGETHER..t - t % TOGETHER + TOGETHER;
        let rows = if group.end <= steps { TOGETHER } else { 1 };
        let (mut from, mut to) = (Series::new(x.len()), Series::new(y.len()));
        from.resize(rows);
        to.resize(rows);
        for row in 0..rows {
            from.row_mut(row).copy_from_slice(x);
        }
        self.forward_series(&from, &mut to);
        y.copy_from_slice(to.row(t % rows));
    }

    /// y = b.
    pub fn start(&self, y: &mut [R]) {
        y.copy_from_slice(&self.bias.as_slice()[..y.len()]);
    }

    /// y += x·W for the inputs from `first` on, for several pairs (x, y) at once.
    pub fn forward_from<const B: usize>(&self, first: usize, pairs: [(&[R], &mut [R]); B]) {
        matrix::add_vector_products(pairs, self.weight.rows_from(first));
    }

    /// b + x·W with the padding, for the inputs from `first` on.
    pub fn sums(&self, first: usize, x: &[R]) -> Vec<R> {
        let mut y = vec![R::ZERO; matrix::padded(self.weight.columns())];
        self.start(&mut y);
        self.forward_from(first, [(x, &mut y)]);
        y
    }

    /// dx = dy·Wᵀ for the inputs from `first` on, for several pairs (dy, dx) at once.
    pub fn backward_from<const B: usize>(&self, first: usize, pairs: [(&[R], &mut [R]); B]) {
        matrix::products_with_vectors(self.weight.rows_from(first), pairs);
    }

    /// Makes `self` the gradient over some episodes, each with its inputs x and its gradients dy:
    /// Σ_t x_tᵀ·dy_t for the weights, Σ_t dy_t for the bias.
    pub fn set_gradient<'a, X: Into<Rows<'a, R>>, Y: Into<Rows<'a, R>>>(
        &mut self,
        episodes: impl Iterator<Item = (X, Y)> + Clone,
    ) {
        let bias = self.bias.as_mut_slice();
        bias.fill(R::ZERO);
        for (_, dy) in episodes.clone() {
            add_steps(dy.into(), bias);
        }
        matrix::set_product_of_series(episodes, &mut self.weight);
    }
}

kernel! {
    fn add_steps<'a, R>(_simd; series: Rows<'a, R>, sum: &'a mut [R]) {
        for row in series.data.chunks_exact(series.stride) {
            for (sum, &value) in sum.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    fn random_linear(inputs: usize, outputs: usize) -> Linear<f64> {
        let mut linear = Linear::zeros(inputs, outputs);
        linear
            .weight
            .view_mut()
            .iter_mut()
            .zip(random_vector(1, inputs * outputs))
            .for_each(|(w, v)| *w = v);
        linear
            .bias
            .view_mut()
            .iter_mut()
            .zip(random_vector(2, outputs))
            .for_each(|(w, v)| *w = v);
        linear
    }

    fn flat(matrix: &Matrix<f64>) -> Vec<f64> {
        matrix.view().iter().copied().collect()
    }

    /// The definition, one sum at a time.
    fn plain(linear: &Linear<f64>, x: &[f64]) -> Vec<f64> {
        (0..linear.bias.columns())
            .map(|o| {
                linear.bias[[0, o]]
                    + x.iter()
                        .enumerate()
                        .map(|(i, x)| x * linear.weight[[i, o]])
                        .sum::<f64>()
            })
            .collect()
    }

    #[test]
    fn forward_matches_the_definition_at_every_width() {
        for (inputs, outputs) in [(1, 1), (3, 7), (9, 8), (5, 92), (13, 131), (2, 400)] {
            let linear = random_linear(inputs, outputs);
            let (mut x, mut y) = (Series::new(inputs), Series::new(outputs));
            x.resize(6);
            y.resize(6);
            x.as_mut_slice()
                .copy_from_slice(&random_vector(3, 6 * inputs));
            linear.forward_series(&x, &mut y);
            for t in 0..6 {
                for (y, wanted) in y.row(t).iter().zip(plain(&linear, x.row(t))) {
                    assert!((y - wanted).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn gradients() {
        for (inputs, outputs) in [(1, 1), (5, 3), (9, 70), (17, 33)] {
            let steps = 3;
            let linear = random_linear(inputs, outputs);
            let upstream = random_vector(4, steps * outputs);
            let x = random_vector(5, steps * inputs);
            let loss = |linear: &Linear<f64>, x: &[f64]| -> f64 {
                x.chunks(inputs)
                    .zip(upstream.chunks(outputs))
                    .map(|(x, u)| {
                        plain(linear, x)
                            .iter()
                            .zip(u)
                            .map(|(y, u)| y * u)
                            .sum::<f64>()
                    })
                    .sum()
            };
            let (mut xs, mut dys) = (Series::new(inputs), Series::new(outputs));
            xs.resize(steps);
            dys.resize(steps);
            xs.as_mut_slice().copy_from_slice(&x);
            dys.as_mut_slice().copy_from_slice(&upstream);

            let mut dx = vec![0.0; steps * inputs];
            for (dx, dy) in dx.chunks_mut(inputs).zip(upstream.chunks(outputs)) {
                linear.backward_from(0, [(dy, dx)]);
            }
            assert_gradient("x", &x, &dx, |x| loss(&linear, x));

            let mut gradient = Linear::zeros(inputs, outputs);
            gradient.set_gradient([(&xs, &dys)].into_iter());
            let weight: Vec<f64> = flat(&linear.weight);
            assert_gradient("weight", &weight, &flat(&gradient.weight), |w| {
                let mut changed = linear.clone();
                changed
                    .weight
                    .view_mut()
                    .iter_mut()
                    .zip(w)
                    .for_each(|(to, from)| *to = *from);
                loss(&changed, &x)
            });
            let bias: Vec<f64> = flat(&linear.bias);
            assert_gradient("bias", &bias, &flat(&gradient.bias), |b| {
                let mut changed = linear.clone();
                changed
                    .bias
                    .view_mut()
                    .iter_mut()
                    .zip(b)
                    .for_each(|(to, from)| *to = *from);
                loss(&changed, &x)
            });
        }
    }
}
