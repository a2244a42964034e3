//! Optimizers, from gradient to update: clipping, Graves' centred RMSProp, Adam.

use super::config::{Clip, OptimizerConfig};
use crate::math::Real;
use crate::math::kernel::kernel;
use crate::model::{ModelConfig, Params};

/// An update rule with its running moments.
#[derive(Clone, Debug)]
pub struct Optimizer<R = f32> {
    /// The rule. Its constants may change between updates, its kind may not: the moments are of that kind.
    pub config: OptimizerConfig,
    /// RMSProp: running mean of ε². Adam: second moment.
    pub square: Params<R>,
    /// RMSProp: running mean of ε. Adam: first moment.
    pub mean: Params<R>,
    /// RMSProp: the last step Δ. Adam has no third moment.
    pub momentum: Option<Params<R>>,
    /// Steps taken so far.
    pub updates: i32,
}

impl<R: Real> Optimizer<R> {
    /// Moments at zero.
    pub fn new(config: OptimizerConfig, model: &ModelConfig) -> Self {
        let zeros = || Params::zeros(model);
        Self {
            config,
            square: zeros(),
            mean: zeros(),
            momentum: matches!(config, OptimizerConfig::RmsProp { .. }).then(zeros),
            updates: 0,
        }
    }

    /// Moves `params` against `gradient`; `rate_factor` scales the configured rate.
    pub fn update(&mut self, params: &mut Params<R>, gradient: &Params<R>, rate_factor: f64) {
        self.updates = self.updates.saturating_add(1);
        let moments = self.square.slices_mut().zip(self.mean.slices_mut());
        let all = params.slices_mut().zip(gradient.slices()).zip(moments);
        match self.config {
            OptimizerConfig::RmsProp {
                learning_rate,
                decay,
                momentum: friction,
                epsilon,
            } => {
                let constants = [learning_rate * rate_factor, decay, friction, epsilon];
                let constants = constants.map(R::from_f64);
                let last = self.momentum.iter_mut().flat_map(Params::slices_mut);
                for (((params, gradient), (square, mean)), last) in all.zip(last) {
                    rms_prop(constants, params, gradient, square, mean, last);
                }
            }
            OptimizerConfig::Adam {
                learning_rate,
                beta1,
                beta2,
                epsilon,
            } => {
                let [bias1, bias2] = [beta1, beta2].map(|beta| 1.0 - beta.powi(self.updates));
                let rate = learning_rate * rate_factor / bias1;
                let constants = [rate, beta1, beta2, epsilon, 1.0 / bias2.sqrt()];
                let constants = constants.map(R::from_f64);
                for ((params, gradient), (square, mean)) in all {
                    adam(constants, params, gradient, square, mean);
                }
            }
        }
    }
}

kernel! {
    /// Graves 2013, equations 38 to 41.
    fn rms_prop<'a, R>(
        _simd; constants: [R; 4],
        params: &'a mut [R],
        gradient: &'a [R],
        square: &'a mut [R],
        mean: &'a mut [R],
        last: &'a mut [R],
    ) {
        let [learning_rate, decay, friction, epsilon] = constants;
        let moments = square.iter_mut().zip(mean).zip(last);
        for ((param, &d), ((n, g), delta)) in params.iter_mut().zip(gradient).zip(moments) {
            *n = decay * *n + (R::ONE - decay) * d * d;
            *g = decay * *g + (R::ONE - decay) * d;
            let variance = (*n - *g * *g).max(R::ZERO);
            *delta = friction * *delta - learning_rate * d / (variance + epsilon).sqrt();
            *param += *delta;
        }
    }
}

kernel! {
    /// Kingma and Ba 2015, algorithm 1.
    fn adam<'a, R>(
        _simd; constants: [R; 5],
        params: &'a mut [R],
        gradient: &'a [R],
        square: &'a mut [R],
        mean: &'a mut [R],
    ) {
        let [learning_rate, beta1, beta2, epsilon, root_correction] = constants;
        let moments = square.iter_mut().zip(mean);
        for ((param, &d), (v, m)) in params.iter_mut().zip(gradient).zip(moments) {
            *m = beta1 * *m + (R::ONE - beta1) * d;
            *v = beta2 * *v + (R::ONE - beta2) * d * d;
            *param -= learning_rate * *m / ((*v).sqrt() * root_correction + epsilon);
        }
    }
}

/// Clips a gradient in place; returns its Euclidean norm before that, over all tensors. A gradient with an element that
/// is not finite has no finite norm, and is not to be used. Beside an elementwise limit the norm is a by-product in the
/// precision of the elements: where its square is too large for them it is said to be that of the largest of `f32`, 1.8e19,
/// and is at least so much.
pub fn clip<R: Real>(gradient: &mut Params<R>, clip: Clip) -> f64 {
    if let Clip::Elementwise(limit) = clip {
        let limit = R::from_f64(limit);
        let squares: f64 = gradient
            .slices_mut()
            .map(|slice| limit_to(limit, slice))
            .sum();
        return if squares.is_infinite() {
            f64::from(f32::MAX).sqrt()
        } else {
            squares.sqrt()
        };
    }
    let norm = global_norm(gradient);
    if let Clip::GlobalNorm(limit) = clip
        && norm.is_finite()
        && norm > limit
    {
        let factor = R::from_f64(limit / norm);
        gradient.slices_mut().flatten().for_each(|g| *g *= factor);
    }
    norm
}

/// Returns whether every element is finite.
pub fn all_finite<R: Real>(params: &Params<R>) -> bool {
    params.slices().map(are_finite).min().unwrap_or(true)
}

kernel! {
    fn are_finite<'a, R>(_simd; values: &'a [R]) -> bool {
        let mut zeros = [R::ZERO; 32];
        let (chunks, rest) = values.as_chunks::<32>();
        for chunk in chunks {
            zeros.iter_mut().zip(chunk).for_each(|(zero, &value)| *zero += value * R::ZERO);
        }
        zeros.iter_mut().zip(rest).for_each(|(zero, &value)| *zero += value * R::ZERO);
        // A finite number times zero is zero; infinity and not-a-number are not, nor is any sum with them. (To compare all
        // 32 with zero is more than LLVM 22 can translate for WebAssembly.)
        zeros.into_iter().fold(R::ZERO, |sum, zero| sum + zero) == R::ZERO
    }
}

kernel! {
    /// Limits every value to ± `limit`; returns the sum of their squares before that, not-a-number where one was not finite.
    fn limit_to<'a, R>(_simd; limit: R, values: &'a mut [R]) -> f64 {
        let (mut squares, mut zeros) = ([R::ZERO; 32], [R::ZERO; 32]);
        let (chunks, rest) = values.as_chunks_mut::<32>();
        for chunk in chunks {
            for ((square, zero), value) in squares.iter_mut().zip(&mut zeros).zip(chunk) {
                *square += *value * *value;
                *zero += *value * R::ZERO;
                *value = limited(*value, limit);
            }
        }
        for value in rest {
            squares[0] += *value * *value;
            zeros[0] += *value * R::ZERO;
            *value = limited(*value, limit);
        }
        // A finite number times zero is zero; infinity and not-a-number are not.
        let finite: R = zeros.iter().copied().sum();
        squares.iter().map(|square| square.to_f64()).sum::<f64>() + finite.to_f64()
    }
}

#[inline(always)]
fn limited<R: Real>(value: R, limit: R) -> R {
    let below = if value > limit { limit } else { value };
    if below < -limit { -limit } else { below }
}

/// The Euclidean norm over all tensors.
pub fn global_norm<R: Real>(gradient: &Params<R>) -> f64 {
    gradient.slices().map(square_norm).sum::<f64>().sqrt()
}

kernel! {
    /// Returns the squared norm in f64, because the square of a large f32 is no f32.
    fn square_norm<'a, R>(_simd; values: &'a [R]) -> f64 {
        let mut sums = [0.0; 16];
        let (chunks, rest) = values.as_chunks::<16>();
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value.to_f64() * value.to_f64());
        }
        sums.iter_mut().zip(rest).for_each(|(sum, value)| *sum += value.to_f64() * value.to_f64());
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NtmConfig;

    /// A machine small enough to count by hand; only the first parameter is looked at.
    fn first_after(config: OptimizerConfig, gradients: &[f64]) -> Vec<f64> {
        let model = NtmConfig::new(1, 1);
        let mut optimizer = Optimizer::<f64>::new(config, &model.clone().into());
        let (mut params, mut gradient) = (Params::zeros(&model), Params::zeros(&model));
        let step = |&g: &f64| {
            gradient.linears[0].weight[[0, 0]] = g;
            optimizer.update(&mut params, &gradient, 1.0);
            params.linears[0].weight[[0, 0]]
        };
        gradients.iter().map(step).collect()
    }

    #[test]
    fn rms_prop_is_graves_centred_form() {
        let config = OptimizerConfig::RmsProp {
            learning_rate: 0.1,
            decay: 0.95,
            momentum: 0.9,
            epsilon: 1e-4,
        };
        let moved = first_after(config, &[2.0, -1.0]);
        // By hand: n = .05·4 = .2, g = .05·2 = .1, Δ = −.1·2/√(.2 − .01 + .0001).
        let first = -0.2 / 0.1901_f64.sqrt();
        assert!((moved[0] - first).abs() < 1e-12);
        // n = .95·.2 + .05 = .24, g = .95·.1 − .05 = .045, Δ = .9·Δ + .1/√(.24 − .002025 + .0001).
        let second = 0.9 * first + 0.1 / 0.238_075_f64.sqrt();
        assert!((moved[1] - first - second).abs() < 1e-12);
    }

    #[test]
    fn adam_is_bias_corrected() {
        let config = OptimizerConfig::Adam {
            learning_rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        };
        let moved = first_after(config, &[2.0, -1.0]);
        assert!(
            (moved[0] + 0.01).abs() < 1e-9,
            "the first step has the length of the rate"
        );
        // m = .9·.2 − .1 = .08, m̂ = .08/.19; v = .999·.004 + .001 = .004996, v̂ = .004996/.001999.
        let second = -0.01 * (0.08 / 0.19) / (0.004_996_f64 / 0.001_999).sqrt();
        assert!((moved[1] - moved[0] - second).abs() < 1e-9);
    }

    #[test]
    fn large_gradients_are_clipped_and_only_nonfinite_ones_refused() {
        let model = NtmConfig::new(1, 1);
        let with = |values: [f32; 2]| {
            let mut gradient = Params::<f32>::zeros(&model);
            [
                gradient.linears[2].bias[[0, 0]],
                gradient.linears[1].bias[[0, 1]],
            ] = values;
            gradient
        };
        let mut large = with([3e30, -4e30]);
        assert!((global_norm(&large) / 5e30 - 1.0).abs() < 1e-6);
        assert!(clip(&mut large, Clip::GlobalNorm(10.0)).is_finite());
        assert!((large.linears[2].bias[[0, 0]] - 6.0).abs() < 1e-5);
        assert!((global_norm(&large) - 10.0).abs() < 1e-5);
        for kind in [Clip::None, Clip::Elementwise(1.0), Clip::GlobalNorm(1.0)] {
            assert!(
                clip(&mut with([f32::MAX, 0.0]), kind).is_finite(),
                "{kind:?}"
            );
            for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                assert!(
                    !clip(&mut with([1.0, broken]), kind).is_finite(),
                    "{kind:?}, {broken}"
                );
            }
        }
    }

    #[test]
    fn clipping() {
        let model = NtmConfig::new(1, 1);
        let mut gradient = Params::<f64>::zeros(&model);
        (
            gradient.linears[2].bias[[0, 0]],
            gradient.linears[0].bias[[0, 3]],
        ) = (30.0, -40.0);
        let mut scaled = gradient.clone();
        clip(&mut scaled, Clip::GlobalNorm(5.0));
        assert!((scaled.linears[2].bias[[0, 0]] - 3.0).abs() < 1e-12);
        assert!((global_norm(&scaled) - 5.0).abs() < 1e-12);
        assert_eq!(clip(&mut gradient, Clip::Elementwise(10.0)), 50.0);
        assert_eq!(
            (
                gradient.linears[2].bias[[0, 0]],
                gradient.linears[0].bias[[0, 3]]
            ),
            (10.0, -10.0)
        );
    }
}
