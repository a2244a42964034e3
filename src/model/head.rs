//! What a head emits (paper §3.3): from the controller's numbers to parameters in their ranges, and back.
//!
//! | parameter | activation | range |
//! |---|---|---|
//! | key k, add a | tanh or identity | (−1, 1) or all |
//! | strength β | softplus | > 0 |
//! | gate g, erase e | sigmoid | (0, 1) |
//! | shift s | softmax over offsets, or one scalar | a distribution |
//! | sharpening γ | 1 + softplus | ≥ 1 |

use super::config::{HeadColumns, ModelConfig, ShiftForm, VectorActivation};
use super::trace::{HeadTrace, Role};
use crate::math::simd::kernel;
use crate::math::softmax::{softmax, softmax_backward};
use crate::math::{Real, sigmoid, softplus};

kernel! {
    /// Activates step `t` of one head from the row of all heads' pre-activations.
    pub fn activate<'a, R>(
        simd; config: &'a ModelConfig, columns: &'a HeadColumns, raw: &'a [R], head: &'a mut HeadTrace<R>, t: usize,
    ) {
        activate_vector(
            config.key_activation,
            &raw[columns.key.clone()],
            head.key.row_mut(t),
        );
        head.strength[t] = softplus(raw[columns.strength]);
        head.gate[t] = sigmoid(raw[columns.gate]);
        head.sharpening[t] = R::ONE + softplus(raw[columns.sharpening]);
        let (shift, raw_shift) = (head.shift.row_mut(t), &raw[columns.shift.clone()]);
        match config.shift_form {
            ShiftForm::Softmax => softmax(simd, R::ONE, raw_shift, shift),
            ShiftForm::Scalar => scalar_shift(raw_shift[0], shift),
        }
        if let Role::Write { erase, add } = &mut head.role {
            for (e, &raw) in erase.row_mut(t).iter_mut().zip(&raw[columns.erase.clone()]) {
                *e = sigmoid(raw);
            }
            activate_vector(
                config.add_activation,
                &raw[columns.add.clone()],
                add.row_mut(t),
            );
        }
    }
}

/// The gradient by the parameters of one head in one step.
#[derive(Clone, Debug)]
pub struct HeadGradient<R> {
    /// By k, [M].
    pub key: Vec<R>,
    /// By β.
    pub strength: R,
    /// By g.
    pub gate: R,
    /// By s, [2k+1].
    pub shift: Vec<R>,
    /// By γ.
    pub sharpening: R,
    /// By e, [M].
    pub erase: Vec<R>,
    /// By a, [M].
    pub add: Vec<R>,
}

impl<R: Real> HeadGradient<R> {
    /// All zero.
    pub fn new(config: &ModelConfig) -> Self {
        Self {
            key: vec![R::ZERO; config.columns],
            strength: R::ZERO,
            gate: R::ZERO,
            shift: vec![R::ZERO; config.offsets()],
            sharpening: R::ZERO,
            erase: vec![R::ZERO; config.columns],
            add: vec![R::ZERO; config.columns],
        }
    }
}

kernel! {
    /// Writes the gradient by the pre-activations of one head at step `t` into the row of all heads.
    pub fn activate_backward<'a, R>(
        simd; config: &'a ModelConfig,
        columns: &'a HeadColumns,
        head: &'a HeadTrace<R>,
        t: usize,
        gradient: &'a HeadGradient<R>,
        raw: &'a [R],
        raw_gradient: &'a mut [R],
    ) {
        let (key, key_range) = (head.key.row(t), columns.key.clone());
        vector_backward(
            config.key_activation,
            key,
            &gradient.key,
            &mut raw_gradient[key_range],
        );
        // The derivative of softplus is the sigmoid.
        raw_gradient[columns.strength] = gradient.strength * sigmoid(raw[columns.strength]);
        raw_gradient[columns.sharpening] = gradient.sharpening * sigmoid(raw[columns.sharpening]);
        raw_gradient[columns.gate] = gradient.gate * head.gate[t] * (R::ONE - head.gate[t]);
        let d_shift = &mut raw_gradient[columns.shift.clone()];
        match config.shift_form {
            ShiftForm::Softmax => softmax_backward(simd, head.shift.row(t), &gradient.shift, d_shift),
            ShiftForm::Scalar => {
                d_shift[0] = scalar_shift_backward(raw[columns.shift.start], &gradient.shift);
            }
        }
        if let Role::Write { erase, add } = &head.role {
            let d_erase = raw_gradient[columns.erase.clone()].iter_mut();
            for (d_raw, (&e, &d)) in d_erase.zip(erase.row(t).iter().zip(&gradient.erase)) {
                *d_raw = d * e * (R::ONE - e);
            }
            vector_backward(
                config.add_activation,
                add.row(t),
                &gradient.add,
                &mut raw_gradient[columns.add.clone()],
            );
        }
    }
}

#[inline(always)]
fn activate_vector<R: Real>(activation: VectorActivation, raw: &[R], vector: &mut [R]) {
    match activation {
        VectorActivation::Identity => vector.copy_from_slice(raw),
        VectorActivation::Tanh => vector
            .iter_mut()
            .zip(raw)
            .for_each(|(v, &raw)| *v = raw.tanh()),
    }
}

#[inline(always)]
fn vector_backward<R: Real>(
    activation: VectorActivation,
    vector: &[R],
    gradient: &[R],
    raw_gradient: &mut [R],
) {
    match activation {
        VectorActivation::Identity => raw_gradient.copy_from_slice(gradient),
        VectorActivation::Tanh => {
            for (raw, (&d, &v)) in raw_gradient.iter_mut().zip(gradient.iter().zip(vector)) {
                *raw = d * (R::ONE - v * v);
            }
        }
    }
}

/// The scalar form of the shift: x = k·tanh(raw) in [−k, k] is the lower bound of a uniform distribution
/// of width one, so x = 0.7 means s(0) = 0.3 and s(1) = 0.7.
#[inline(always)]
fn scalar_shift<R: Real>(raw: R, shift: &mut [R]) {
    let (low, fraction) = lower_bound(raw, shift.len() / 2);
    shift.fill(R::ZERO);
    shift[low] = R::ONE - fraction;
    shift[low + 1] = fraction;
}

#[inline(always)]
fn scalar_shift_backward<R: Real>(raw: R, gradient: &[R]) -> R {
    let range = gradient.len() / 2;
    let (low, _) = lower_bound(raw, range);
    let tanh = raw.tanh();
    (gradient[low + 1] - gradient[low]) * R::from_f64(range as f64) * (R::ONE - tanh * tanh)
}

/// The index of the lower offset and the share of the upper one.
#[inline(always)]
fn lower_bound<R: Real>(raw: R, range: usize) -> (usize, R) {
    let range_real = R::from_f64(range as f64);
    let position = range_real * raw.tanh() + range_real;
    let low = (position.floor().to_f64() as usize).min(2 * range - 1);
    (low, position - R::from_f64(low as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::model::Trace;

    fn config(form: ShiftForm, activation: VectorActivation) -> ModelConfig {
        let mut config = ModelConfig::new(3, 2);
        (config.rows, config.columns, config.shift_range) = (7, 4, 2);
        (
            config.shift_form,
            config.key_activation,
            config.add_activation,
        ) = (form, activation, activation);
        config
    }

    #[test]
    fn gradients_of_both_forms_and_roles() {
        for form in [ShiftForm::Softmax, ShiftForm::Scalar] {
            for activation in [VectorActivation::Identity, VectorActivation::Tanh] {
                let config = config(form, activation);
                for head in 0..2 {
                    let columns = config.head_columns(head);
                    let raw = random_vector(head as u64 + 1, config.head_outputs());
                    let mut gradient = HeadGradient::new(&config);
                    gradient.key = random_vector(11, 4);
                    gradient.shift = random_vector(12, 5);
                    gradient.erase = random_vector(13, 4);
                    gradient.add = random_vector(14, 4);
                    (gradient.strength, gradient.gate, gradient.sharpening) = (0.7, -1.3, 0.4);
                    let dot =
                        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                    let record = |raw: &[f64]| {
                        let mut trace = Trace::new(&config);
                        trace.resize(1);
                        let mut head = trace.heads.swap_remove(head);
                        activate(&config, &columns, raw, &mut head, 0);
                        head
                    };
                    let loss = |raw: &[f64]| {
                        let head = record(raw);
                        let vectors = match &head.role {
                            Role::Read { .. } => 0.0,
                            Role::Write { erase, add } => {
                                dot(erase.row(0), &gradient.erase) + dot(add.row(0), &gradient.add)
                            }
                        };
                        dot(head.key.row(0), &gradient.key)
                            + dot(head.shift.row(0), &gradient.shift)
                            + head.strength[0] * gradient.strength
                            + head.gate[0] * gradient.gate
                            + head.sharpening[0] * gradient.sharpening
                            + vectors
                    };
                    let mut raw_gradient = vec![0.0; raw.len()];
                    activate_backward(
                        &config,
                        &columns,
                        &record(&raw),
                        0,
                        &gradient,
                        &raw,
                        &mut raw_gradient,
                    );
                    assert_gradient("raw", &raw, &raw_gradient, loss);
                }
            }
        }
    }

    #[test]
    fn the_scalar_form_is_the_lower_bound_of_a_uniform_distribution() {
        let mut shift = [0.0_f64; 5];
        // x = 2·tanh(raw) = 0.7, so offset 0 has 0.3 and offset +1 has 0.7.
        scalar_shift((0.35_f64).atanh(), &mut shift);
        for (s, wanted) in shift.iter().zip([0.0, 0.0, 0.3, 0.7, 0.0]) {
            assert!((s - wanted).abs() < 1e-12);
        }
        scalar_shift(1e3, &mut shift);
        assert_eq!(shift, [0.0, 0.0, 0.0, 0.0, 1.0]);
        scalar_shift(-1e3, &mut shift);
        assert_eq!(shift, [1.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
