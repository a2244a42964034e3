//! Parameters of a head (paper §3.3): from the controller's numbers to their ranges, and back.
//!
//! | parameter | activation | range |
//! |---|---|---|
//! | key k, add a | tanh or identity | (−1, 1) or all |
//! | strength β | softplus | > 0 |
//! | gate g, erase e | sigmoid | (0, 1) |
//! | shift s | softmax over offsets, or one scalar | a distribution |
//! | sharpening γ | 1 + softplus | ≥ 1 |

use super::array;
use super::attention::{AttentionConfig, HeadColumns, Mechanism, ShiftForm, Strength, Switch};
use super::config::{NtmConfig, VectorActivation};
use super::kind::Kind;
use super::slots::SlotsGradient;
use super::spec::Array;
use super::trace::{HeadTrace, Trace};
use crate::math::kernel::kernel;
use crate::math::pack::{MOST_LANES, each_pack, map_packs};
use crate::math::simd::Simd;
use crate::math::softmax::{softmax, softmax_of_few};
use crate::math::{Aligned, Pack, Real, Series, sigmoid, softplus};

kernel! {
    /// Activates step `t` of all heads from the row of their pre-activations.
    pub fn activate<'a, R>(simd; config: &'a NtmConfig, raw: &'a [R], heads: &'a mut [HeadTrace<R>], t: usize) {
        for head in heads.iter_mut() {
            let columns = &head.mechanism.columns;
            let mut positive = scalars(columns, raw);
            let mut gate = positive;
            let (x, y) = (used(simd, &mut positive), used(simd, &mut gate));
            each_pack!(simd, at in x => {
                at.store(x, softplus(at.load(x)));
                at.store(y, sigmoid(at.load(y)));
            });
            set(&mut head.strength, t, positive[0]);
            set(&mut head.sharpening, t, R::ONE + positive[1]);
            set(&mut head.gate, t, gate[2]);
            shift(simd, &head.mechanism, raw, head.shift.row_mut(t));
        }
        for head in heads {
            let columns = &head.mechanism.columns;
            let raw_key = &raw[columns.key.clone()];
            activate_vector(simd, config.key_activation, raw_key, head.key.row_mut(t));
            if head.add.width() > 0 {
                let (e, raw_e) = (head.erase.row_mut(t), &raw[columns.erase.clone()]);
                map_packs!(simd, e = [raw_e] => sigmoid(raw_e));
                let raw_add = &raw[columns.add.clone()];
                activate_vector(simd, config.add_activation, raw_add, head.add.row_mut(t));
            }
        }
    }
}

/// The arrays that a head emits.
pub(super) const EMITTED: [Array; 7] = [
    array::KEY,
    array::STRENGTH,
    array::GATE,
    array::SHIFT,
    array::SHARPENING,
    array::ERASE,
    array::ADD,
];

/// [`Kind::width`] of an array of a head: 0 of one that it lacks, by its role and the stages that are on.
pub(super) fn width(
    kind: &dyn Kind,
    (of, shift_form): (&AttentionConfig, ShiftForm),
    head: usize,
    array: Array,
) -> usize {
    let is_write = head >= kind.read_heads();
    let (score, weighting) = (of.score.of(head).arrays(), of.weighting.of(head).stages());
    let has = match array {
        array::STRENGTH => of.strength.of(head) == Strength::Emitted,
        array::GATE | array::GATED => of.gate.of(head) == Switch::On,
        array::SHIFT | array::SHIFTED => shift_form != ShiftForm::None,
        array::SHARPENING => of.sharpening.of(head) == Switch::On,
        array::DISTRIBUTION => weighting.is_sampled(),
        array::READ => !is_write,
        array::ERASE => is_write && of.erase.of(head) == Switch::On,
        array::ADD => is_write,
        _ => true,
    };
    if !has {
        0
    } else if array.is_in_files() {
        kind.values(array)
    } else if score.arrays().contains(&array) {
        score.scratch(array, kind)
    } else {
        weighting.scratch(array, kind)
    }
}

/// Calls `activate`, which sets all of these arrays of all these heads in step `t`, and leaves all but one array of one head as
/// they were: the others may have been changed.
pub(super) fn set_one<R: Real>(
    heads: &mut [HeadTrace<R>],
    all: &[Array],
    one: (usize, Array),
    t: usize,
    activate: impl FnOnce(&mut [HeadTrace<R>]),
) {
    let every = (0..heads.len()).flat_map(|head| all.iter().map(move |&array| (head, array)));
    let others = every.filter(|&other| other != one);
    let kept = others.filter_map(|(head, array)| {
        let row = heads[head].series(array)?.row(t).to_vec();
        Some((head, array, row))
    });
    let kept: Vec<_> = kept.collect();
    activate(heads);
    for (head, array, row) in kept {
        if let Some(to) = heads[head].series_mut(array) {
            to.row_mut(t).copy_from_slice(&row);
        }
    }
}

/// The shift weighting of either form.
#[inline(always)]
fn shift<R: Real, S: Simd>(simd: S, mechanism: &Mechanism, raw: &[R], shift: &mut [R]) {
    let raw = &raw[mechanism.columns.shift.clone()];
    match mechanism.shift_form {
        ShiftForm::Softmax => softmax_shift(simd, raw, shift),
        ShiftForm::Scalar => scalar_shift(tanh(simd, raw[0]), shift),
        ShiftForm::None => {}
    }
}

/// 1 + softplus of a pre-activation: a strength of 1 or more.
#[inline(always)]
pub(super) fn one_plus<R: Real, S: Simd>(simd: S, z: R) -> R {
    R::ONE + softplus(Pack::splat(simd, z)).first()
}

/// From the gradient w.r.t. 1 + softplus of z to that w.r.t. z: the slope is σ(z).
#[inline(always)]
pub(super) fn one_plus_backward<R: Real, S: Simd>(simd: S, z: R, d: R) -> R {
    d * gate(simd, z)
}

/// σ of a pre-activation.
#[inline(always)]
pub(super) fn gate<R: Real, S: Simd>(simd: S, z: R) -> R {
    sigmoid(Pack::splat(simd, z)).first()
}

/// From the gradient w.r.t. a gate to that w.r.t. its pre-activation: σ' = σ·(1 − σ).
#[inline(always)]
pub(super) fn gate_backward<R: Real>(gate: R, d: R) -> R {
    d * gate * (R::ONE - gate)
}

/// Sets the value of a step, if the series has one.
#[inline(always)]
fn set<R: Real>(series: &mut Series<R>, t: usize, value: R) {
    if let [to] = series.row_mut(t) {
        *to = value;
    }
}

/// The gradients of one head in one step, and that which goes on to the step before.
#[derive(Clone, Debug)]
pub struct HeadGradient<R> {
    /// Gradient w.r.t. the output of the stage that is backpropagated, [N]: w, w̃, w^g, w^c, K in turn.
    pub weighting: Aligned<R>,
    /// Gradient w.r.t. the weighting of the step before, [N]; scratch within a step.
    pub previous: Aligned<R>,
    /// Gradient w.r.t. k, [M].
    pub key: Vec<R>,
    /// Gradient w.r.t. β.
    pub strength: R,
    /// Gradient w.r.t. g.
    pub gate: R,
    /// Gradient w.r.t. s, [2k+1].
    pub shift: Vec<R>,
    /// Gradient w.r.t. γ.
    pub sharpening: R,
    /// Gradient w.r.t. the centre p of a local head.
    pub centre: R,
    /// Gradients and scratch of the score.
    pub(super) of_score: SlotsGradient<R>,
    /// Gradients and scratch of the form in which scores become a weighting.
    pub(super) of_weighting: SlotsGradient<R>,
    /// Gradient w.r.t. e, [M]; empty for a head that erases nothing.
    pub erase: Vec<R>,
    /// Gradient w.r.t. a, [M]; empty for a read head.
    pub add: Vec<R>,
}

impl<R: Real> HeadGradient<R> {
    /// All zero, for a head of such a machine.
    pub fn of(kind: &dyn Kind, head: &HeadTrace<R>) -> Self {
        let (score, weighting) = (head.mechanism.score, head.mechanism.weighting);
        let score = score.function::<R>().gradient_scratch(kind);
        let weighting = weighting.function::<R>().gradient_scratch(kind);
        let (rows, zeros) = (head.weighting.width(), |len: usize| vec![R::ZERO; len]);
        Self {
            weighting: Aligned::zeros(rows),
            previous: Aligned::zeros(rows),
            key: zeros(head.key.width()),
            strength: R::ZERO,
            gate: R::ZERO,
            shift: zeros(head.shift.width()),
            sharpening: R::ZERO,
            centre: R::ZERO,
            of_score: SlotsGradient::new(&head.of_score, &score),
            of_weighting: SlotsGradient::new(&head.of_weighting, &weighting),
            erase: zeros(head.erase.width()),
            add: zeros(head.add.width()),
        }
    }

    /// Those of all heads of an episode, whose memory may have other rows.
    pub(super) fn of_all(kind: &dyn Kind, trace: &Trace<R>) -> Vec<Self> {
        let of_rows = kind.of_rows(trace.memory_size()[0]);
        let kind = of_rows.as_deref().unwrap_or(kind);
        trace
            .heads
            .iter()
            .map(|head| Self::of(kind, head))
            .collect()
    }

    /// Empties what is summed over an episode.
    pub(super) fn reset(&mut self) {
        self.previous.fill(R::ZERO);
        self.of_score.reset();
        self.of_weighting.reset();
    }

    /// Completes the gradients w.r.t. the learned arrays of the mechanism, at the end of an episode.
    pub(super) fn add_up(&mut self, head: &HeadTrace<R>) {
        let (score, weighting) = (head.mechanism.score, head.mechanism.weighting);
        score.function().add_up(&mut self.of_score);
        weighting.function().add_up(&mut self.of_weighting);
    }

    /// The gradients w.r.t. the learned arrays of the mechanism, each flat.
    pub(super) fn learned(&self) -> impl Iterator<Item = &[R]> {
        let learned = self
            .of_score
            .learned
            .iter()
            .chain(&self.of_weighting.learned);
        let learned = learned.filter(|values| !values.is_empty());
        learned.map(|values| &values[..])
    }
}

kernel! {
    /// Writes the gradient w.r.t. the pre-activations of one head at step `t` into the row of all heads.
    pub fn activate_backward<'a, R>(
        simd; config: &'a NtmConfig,
        head: &'a HeadTrace<R>,
        t: usize,
        gradient: &'a HeadGradient<R>,
        raw: &'a [R],
        raw_gradient: &'a mut [R],
    ) {
        let columns = &head.mechanism.columns;
        let (key, key_range) = (head.key.row(t), columns.key.clone());
        vector_backward(simd, config.key_activation, key, &gradient.key, &mut raw_gradient[key_range]);
        // The derivative of softplus is the sigmoid.
        let mut slope = scalars(columns, raw);
        let x = used(simd, &mut slope);
        each_pack!(simd, at in x => { at.store(x, sigmoid(at.load(x))) });
        raw_gradient[columns.strength.clone()].fill(gradient.strength * slope[0]);
        raw_gradient[columns.sharpening.clone()].fill(gradient.sharpening * slope[1]);
        // σ' = σ·(1 − σ).
        raw_gradient[columns.gate.clone()].fill(gradient.gate * slope[2] * (R::ONE - slope[2]));
        let d_shift = &mut raw_gradient[columns.shift.clone()];
        match head.mechanism.shift_form {
            ShiftForm::Softmax => softmax_shift_backward(head.shift.row(t), &gradient.shift, d_shift),
            ShiftForm::Scalar => {
                d_shift[0] = scalar_shift_backward(tanh(simd, raw[columns.shift.start]), &gradient.shift);
            }
            ShiftForm::None => {}
        }
        if head.is_write() {
            let (e, d_erase) = (head.erase.row(t), &gradient.erase);
            let d_raw = &mut raw_gradient[columns.erase.clone()];
            map_packs!(simd, d_raw = [e, d_erase] => d_erase * e * (-e + R::ONE));
            let d_raw = &mut raw_gradient[columns.add.clone()];
            vector_backward(simd, config.add_activation, head.add.row(t), &gradient.add, d_raw);
        }
    }
}

/// Combines the inputs of β, γ and g in one pack, as they are few. 0 for an absent one.
#[inline(always)]
fn scalars<R: Real>(columns: &HeadColumns, raw: &[R]) -> [R; MOST_LANES] {
    let mut scalars = [R::ZERO; MOST_LANES];
    let all = [&columns.strength, &columns.sharpening, &columns.gate];
    for (to, at) in scalars.iter_mut().zip(all) {
        if !at.is_empty() {
            *to = raw[at.start];
        }
    }
    scalars
}

/// The packs that hold [`scalars`].
#[inline(always)]
fn used<R: Real, S: Simd>(_simd: S, scalars: &mut [R; MOST_LANES]) -> &mut [R] {
    &mut scalars[..3_usize.next_multiple_of(Pack::<R, S>::LANES)]
}

/// s = softmax(z).
#[inline(always)]
fn softmax_shift<R: Real, S: Simd>(simd: S, z: &[R], s: &mut [R]) {
    match *z {
        [z0, z1, z2] => s.copy_from_slice(&softmax_of_few(simd, [z0, z1, z2])),
        [z0, z1, z2, z3, z4] => s.copy_from_slice(&softmax_of_few(simd, [z0, z1, z2, z3, z4])),
        _ => softmax(simd, R::ONE, z, s),
    }
}

/// [`crate::math::softmax::softmax_backward`] for few numbers, mostly three.
#[inline(always)]
fn softmax_shift_backward<R: Real>(s: &[R], ds: &[R], dz: &mut [R]) {
    let mean: R = s.iter().zip(ds).map(|(&s, &ds)| s * ds).sum();
    for (dz, (&s, &ds)) in dz.iter_mut().zip(s.iter().zip(ds)) {
        *dz = s * (ds - mean);
    }
}

#[inline(always)]
fn activate_vector<R: Real, S: Simd>(
    simd: S,
    activation: VectorActivation,
    raw: &[R],
    vector: &mut [R],
) {
    match activation {
        VectorActivation::Identity => vector.copy_from_slice(raw),
        VectorActivation::Tanh => map_packs!(simd, vector = [raw] => raw.tanh()),
    }
}

#[inline(always)]
fn vector_backward<R: Real, S: Simd>(
    simd: S,
    activation: VectorActivation,
    vector: &[R],
    gradient: &[R],
    raw_gradient: &mut [R],
) {
    match activation {
        VectorActivation::Identity => raw_gradient.copy_from_slice(gradient),
        VectorActivation::Tanh => {
            map_packs!(simd, raw_gradient = [gradient, vector] => gradient * (-vector).mul_add(vector, R::ONE));
        }
    }
}

#[inline(always)]
fn tanh<R: Real, S: Simd>(simd: S, raw: R) -> R {
    Pack::splat(simd, raw).tanh().first()
}

/// The scalar form of the shift: x = k·tanh(raw) in [−k, k] is the lower bound of a uniform distribution
/// of width one, so x = 0.7 means s(0) = 0.3 and s(1) = 0.7.
#[inline(always)]
fn scalar_shift<R: Real>(tanh: R, shift: &mut [R]) {
    let (low, fraction) = lower_bound(tanh, shift.len() / 2);
    shift.fill(R::ZERO);
    shift[low] = R::ONE - fraction;
    shift[low + 1] = fraction;
}

#[inline(always)]
fn scalar_shift_backward<R: Real>(tanh: R, gradient: &[R]) -> R {
    let range = gradient.len() / 2;
    let (low, _) = lower_bound(tanh, range);
    (gradient[low + 1] - gradient[low]) * R::from_f64(range as f64) * (R::ONE - tanh * tanh)
}

/// The index of the lower offset and the share of the upper one.
#[inline(always)]
fn lower_bound<R: Real>(tanh: R, range: usize) -> (usize, R) {
    let range_real = R::from_f64(range as f64);
    let position = range_real * tanh + range_real;
    let low = (position.floor().to_f64() as usize).min(2 * range - 1);
    (low, position - R::from_f64(low as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::model::Trace;

    fn config(form: ShiftForm, activation: VectorActivation) -> NtmConfig {
        let mut config = NtmConfig::new(3, 2);
        (config.rows, config.columns, config.shift_range) = (7, 4, 2);
        (
            config.shift_form,
            config.key_activation,
            config.add_activation,
        ) = (form.into(), activation, activation);
        config
    }

    #[test]
    fn gradients_of_both_forms_and_roles() {
        for form in [ShiftForm::Softmax, ShiftForm::Scalar] {
            for activation in [VectorActivation::Identity, VectorActivation::Tanh] {
                let config = config(form, activation);
                for head in 0..2 {
                    let raw = random_vector(head as u64 + 1, config.head_outputs());
                    let empty = Trace::<f64>::new(&config);
                    let mut gradient = HeadGradient::of(&config, &empty.heads[head]);
                    gradient.key = random_vector(11, 4);
                    gradient.shift = random_vector(12, 5);
                    if head == 1 {
                        gradient.erase = random_vector(13, 4);
                        gradient.add = random_vector(14, 4);
                    }
                    (gradient.strength, gradient.gate, gradient.sharpening) = (0.7, -1.3, 0.4);
                    let dot =
                        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                    let record = |raw: &[f64]| {
                        let mut trace = Trace::new(&config);
                        trace.resize(1);
                        activate(&config, raw, &mut trace.heads, 0);
                        trace.heads.swap_remove(head)
                    };
                    let loss = |raw: &[f64]| {
                        let head = record(raw);
                        let vectors = if head.is_write() {
                            dot(head.erase.row(0), &gradient.erase)
                                + dot(head.add.row(0), &gradient.add)
                        } else {
                            0.0
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
        scalar_shift(0.35, &mut shift);
        for (s, wanted) in shift.iter().zip([0.0, 0.0, 0.3, 0.7, 0.0]) {
            assert!((s - wanted).abs() < 1e-12);
        }
        scalar_shift(1.0, &mut shift);
        assert_eq!(shift, [0.0, 0.0, 0.0, 0.0, 1.0]);
        scalar_shift(-1.0, &mut shift);
        assert_eq!(shift, [1.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
