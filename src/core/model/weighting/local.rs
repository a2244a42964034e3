//! Local attention (Luong, Pham, Manning 2015, §3.2): the position of a head's window, and the weighting of the rows
//! in it; each derivative is below its equation.

use std::ops::Range;

use super::{Stages, WeightingFunction};
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::simd::Simd;
use crate::math::softmax::{dot, largest};
use crate::math::{Pack, Real, sigmoid};
use crate::model::array;
use crate::model::attention::Weighting;
use crate::model::content::{content, content_backward, strength};
use crate::model::head::HeadGradient;
use crate::model::machine::Terms;
use crate::model::slots::Arrays;
use crate::model::spec::Range::AtLeast;
use crate::model::spec::{Array, ArraySpec, LEARNED};
use crate::model::stage::Stage;
use crate::model::trace::{HeadTrace, NoiseMode};
use crate::model::window::BackwardStep;

/// p_t = min(t, n − 1) of local-m: step t looks at row t, later steps stay on the last row.
#[inline(always)]
pub fn monotonic<R: Real>(t: usize, n: usize) -> R {
    R::from_f64(t.min(n - 1) as f64)
}

/// The inputs from which local-p predicts the centre of the window.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a, R> {
    /// The key k, [m].
    pub key: &'a [R],
    /// W, [m, p], row after row.
    pub weight: &'a [R],
    /// v, [p], p ≥ 1.
    pub vector: &'a [R],
    /// The number of rows, n.
    pub rows: usize,
}

impl<R: Real> Position<'_, R> {
    /// Equation 9: p = n·sigmoid(vᵀ tanh(Wᵀ k)), in [0, n].
    #[inline(always)]
    pub fn predict<S: Simd>(&self, simd: S) -> R {
        let mut sum = Pack::splat(simd, R::ZERO);
        each_pack!(simd, at in self.vector => {
            let mut unit = Pack::splat(simd, R::ZERO);
            for (&k, w) in self.inputs() {
                unit = at.load(w).mul_add(k, unit);
            }
            sum += at.new_or(unit.tanh() * at.load(self.vector), R::ZERO);
        });
        sigmoid(Pack::splat(simd, sum.sum())).first() * R::from_f64(self.rows as f64)
    }

    /// Adds to the gradients w.r.t. k, W and v, from the gradient w.r.t. `p` of [`Position::predict`].
    #[inline(always)]
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        p: R,
        gradient: R,
        [d_key, d_weight, d_vector]: [&mut [R]; 3],
    ) {
        let d_sum = gradient * p * (R::ONE - p / R::from_f64(self.rows as f64));
        each_pack!(simd, at in self.vector => {
            let mut unit = Pack::splat(simd, R::ZERO);
            for (&k, w) in self.inputs() {
                unit = at.load(w).mul_add(k, unit);
            }
            let unit = unit.tanh();
            let d_unit = (-unit).mul_add(unit, R::ONE) * at.load(self.vector) * d_sum;
            at.store(d_vector, unit.mul_add(d_sum, at.load(d_vector)));
            let d_inputs = d_key.iter_mut().zip(d_weight.chunks_exact_mut(self.vector.len()));
            for ((&k, w), (d_k, d_w)) in self.inputs().zip(d_inputs) {
                *d_k += at.new_or(d_unit * at.load(w), R::ZERO).sum();
                at.store(d_w, d_unit.mul_add(k, at.load(d_w)));
            }
        });
    }

    /// Each component of the key with its row of W.
    #[inline(always)]
    fn inputs(&self) -> impl Iterator<Item = (&R, &[R])> {
        let rows = self.weight.chunks_exact(self.vector.len());
        self.key.iter().zip(rows)
    }
}

/// The rows that a head attends to.
#[derive(Clone, Copy, Debug)]
pub struct Window<R> {
    /// p, in [0, n], n being the number of rows.
    pub centre: R,
    /// D ≥ 1: how far it reaches to either side.
    pub half: R,
    /// True if rows weigh less with their distance from the centre: local-p.
    pub is_gaussian: bool,
}

impl<R: Real> Window<R> {
    /// The rows i of `n` with p − D ≤ i ≤ p + D; at least one, whatever p is.
    #[inline(always)]
    pub fn rows(self, n: usize) -> Range<usize> {
        let first = -(self.half - self.centre).floor();
        let last = (self.centre + self.half).floor();
        // A negative number and NaN become 0.
        let last = (last.to_f64() as usize).min(n - 1);
        (first.to_f64() as usize).min(last)..last + 1
    }

    /// w^c = softmax of β·K over the rows of the window, 0 elsewhere; in local-p times exp(−(i − p)² / 2σ²), σ = D/2
    /// (equation 10), which is e^−2 or more. The sum of w^c is then less than 1.
    #[inline(always)]
    pub fn content<S: Simd>(self, simd: S, beta: R, scores: &[R], w_c: &mut [R]) {
        let rows = self.rows(scores.len());
        w_c.fill(R::ZERO);
        let (scores, w_c) = (&scores[rows.clone()], &mut w_c[rows.clone()]);
        if !self.is_gaussian {
            return content(simd, beta, scores, w_c);
        }
        let (most, mut total) = (largest(simd, scores), Pack::splat(simd, R::ZERO));
        let (start, inverse_square) = self.gaussian(rows.start);
        each_pack!(simd, at in scores => {
            let power = ((at.load(scores) - most) * beta).exp();
            total += at.new_or(power, R::ZERO);
            let distance = at.indices() + start;
            at.store(w_c, (distance * distance * inverse_square).exp() * power);
        });
        let factor = R::ONE / total.sum();
        each_pack!(simd, at in w_c => { at.store(w_c, at.load(w_c) * factor) });
    }

    /// Turns the gradient w.r.t. w^c into that w.r.t. K, in place; returns the gradients w.r.t. β and w.r.t. p. No
    /// gradient passes through the ends of the window.
    ///
    /// With a_i the softmax and g_i the Gaussian, w_i = a_i·g_i: dz_i = a_i·(g_i·dw_i − Σ_j w_j·dw_j) is the gradient
    /// by β·K_i, dp = Σ_i dw_i·w_i·(i − p) / σ².
    #[inline(always)]
    pub fn content_backward<S: Simd>(
        self,
        simd: S,
        beta: R,
        scores: &[R],
        w_c: &[R],
        gradient: &mut [R],
    ) -> (R, R) {
        let rows = self.rows(scores.len());
        gradient[..rows.start].fill(R::ZERO);
        gradient[rows.end..].fill(R::ZERO);
        let (scores, w_c) = (&scores[rows.clone()], &w_c[rows.clone()]);
        let gradient = &mut gradient[rows.clone()];
        if !self.is_gaussian {
            let d_beta = content_backward(simd, beta, scores, w_c, gradient);
            return (d_beta, R::ZERO);
        }
        let (mut d_beta, mut d_p) = (Pack::splat(simd, R::ZERO), Pack::splat(simd, R::ZERO));
        let mean = dot(simd, w_c, gradient);
        let (start, inverse_square) = self.gaussian(rows.start);
        each_pack!(simd, at in scores => {
            let (distance, w_c) = (at.indices() + start, at.load(w_c));
            let inverse_gaussian = (distance * distance * -inverse_square).exp();
            let both = w_c * at.load(gradient);
            let dz = both - w_c * inverse_gaussian * mean;
            d_p += at.new_or(both * distance, R::ZERO);
            d_beta += at.new_or(dz * at.load(scores), R::ZERO);
            at.store(gradient, dz * beta);
        });
        (d_beta.sum(), d_p.sum() * (-inverse_square - inverse_square))
    }

    /// i − p of the first row of the window, and −1/(2σ²) = −2/D².
    #[inline(always)]
    fn gaussian(self, first: usize) -> (R, R) {
        let inverse_square = R::from_f64(-2.0) / (self.half * self.half);
        (R::from_f64(first as f64) - self.centre, inverse_square)
    }
}

/// Centre p of the window, in rows, [T, 1].
#[rustfmt::skip] // A row for every array.
pub const CENTRE: Array = &ArraySpec::new("centre", &["t"], "p", AtLeast(0.0), "min(t, N − 1), or N·σ(v_pᵀ·tanh(W_pᵀ·k)) (Luong 2015)");
/// W of the centre, [M, P].
#[rustfmt::skip]
pub const POSITION_WEIGHT: Array = &ArraySpec::new("position_weight", &["k", "p"], "W_p", LEARNED, "learned; window centre N·σ(v_pᵀ·tanh(W_pᵀ·k)) (Luong 2015)");
/// v of the centre, [P].
#[rustfmt::skip]
pub const POSITION_VECTOR: Array = &ArraySpec::new("position_vector", &["p"], "v_p", LEARNED, "learned; window centre");

/// The forms of a head that sees a window: it moves by a row in each step, or its centre is predicted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Local {
    LocalMonotonic,
    LocalPredictive,
}

pub(super) use Local::{LocalMonotonic, LocalPredictive};

impl Arrays for Local {
    fn arrays(&self) -> &'static [Array] {
        match self {
            Self::LocalMonotonic => &[CENTRE],
            Self::LocalPredictive => &[POSITION_WEIGHT, POSITION_VECTOR, CENTRE],
        }
    }
}

impl Stages for Local {
    fn stage(&self, stage: Stage) -> Option<(Array, &'static [Array])> {
        let needs: &[_] = match self {
            Self::LocalMonotonic => &[],
            Self::LocalPredictive => &[array::KEY, POSITION_WEIGHT, POSITION_VECTOR],
        };
        (stage == Stage::Centre).then_some((CENTRE, needs))
    }

    fn content_needs(&self) -> &'static [Array] {
        &[CENTRE]
    }
}

impl<R: Real> WeightingFunction<R> for Local {
    fn centre(&self, head: &mut HeadTrace<R>, t: usize) {
        let centre = match self {
            Self::LocalMonotonic => monotonic(t - head.first_step, head.similarity.width()),
            Self::LocalPredictive => predict(head, t),
        };
        if let Some((_, to)) = head.of_weighting.arrays_mut().last() {
            to[t] = centre;
        }
    }

    fn content(&self, head: &mut HeadTrace<R>, t: usize, _: NoiseMode) {
        local_content(head, t);
    }

    fn content_backward(
        &self,
        head: &HeadTrace<R>,
        t: usize,
        _: &Terms<R>,
        d: &mut HeadGradient<R>,
    ) {
        local_content_backward(head, t, d);
    }

    fn row_array_backward(
        &self,
        head: &HeadTrace<R>,
        d: &mut HeadGradient<R>,
        to: &mut BackwardStep<'_, R>,
    ) {
        if *self == Self::LocalPredictive {
            predict_backward(head, to.t, d);
        }
    }
}

fn position<R: Real>(head: &HeadTrace<R>, t: usize) -> Position<'_, R> {
    let [weight, vector, _] = head.of_weighting.all();
    Position {
        key: head.key.row(t),
        weight: weight.row(0),
        vector: vector.row(0),
        rows: head.similarity.width(),
    }
}

kernel! {
    /// The predicted centre.
    fn predict<'a, R>(simd; head: &'a HeadTrace<R>, t: usize) -> R {
        position(head, t).predict(simd)
    }
}

kernel! {
    /// Adds to the gradients w.r.t. the key and the weights, from that w.r.t. a predicted centre.
    fn predict_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, d: &'a mut HeadGradient<R>,
    ) {
        let [_, _, centre] = head.of_weighting.all();
        let ([d_weight, d_vector], []) = d.of_weighting.all_mut();
        let to = [&mut d.key[..], d_weight, d_vector];
        position(head, t).backward(simd, centre[t], d.centre, to);
    }
}

impl<R: Real> HeadTrace<R> {
    /// The window of a local head at step `t`; `None` for another head.
    pub fn window(&self, t: usize) -> Option<Window<R>> {
        let is_gaussian = match self.mechanism.weighting {
            Weighting::LocalMonotonic => false,
            Weighting::LocalPredictive => true,
            _ => return None,
        };
        let centre = self.series(CENTRE)?;
        Some(Window {
            centre: centre[t],
            half: R::from_f64(self.mechanism.parameters.window as f64),
            is_gaussian,
        })
    }

    fn own_window(&self, t: usize) -> Window<R> {
        let window = self.window(t);
        window.unwrap_or_else(|| unreachable!("the head is local"))
    }
}

kernel! {
    /// w^c of a local head.
    fn local_content<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        let (window, beta) = (head.own_window(t), strength(head, t));
        window.content(simd, beta, head.similarity.row(t), head.content.row_mut(t));
    }
}

kernel! {
    /// Sets the gradients w.r.t. the score, β and the centre, from that w.r.t. w^c.
    fn local_content_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, d: &'a mut HeadGradient<R>,
    ) {
        let (window, beta) = (head.own_window(t), strength(head, t));
        let (similarity, w_c) = (head.similarity.row(t), head.content.row(t));
        (d.strength, d.centre) =
            window.content_backward(simd, beta, similarity, w_c, &mut d.weighting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::{Kernel, PLAIN as SIMD, on_every_instruction_set};

    #[test]
    fn monotonic_stays_on_the_last_row() {
        let centres: Vec<f64> = (0..5).map(|t| monotonic(t, 3)).collect();
        assert_eq!(centres, [0.0, 1.0, 2.0, 2.0, 2.0]);
    }

    /// n·sigmoid(vᵀ tanh(Wᵀ k)) as it is written.
    fn predicted(key: &[f64], weight: &[f64], vector: &[f64], n: usize) -> f64 {
        let unit = |j: usize| {
            let sum = |(i, k): (usize, &f64)| k * weight[i * vector.len() + j];
            key.iter().enumerate().map(sum).sum::<f64>().tanh()
        };
        let sum: f64 = (0..vector.len()).map(|j| unit(j) * vector[j]).sum();
        n as f64 / (1.0 + (-sum).exp())
    }

    #[test]
    fn gradients_of_the_position() {
        for (inputs, units, rows) in [(1, 1, 1), (5, 3, 6), (20, 33, 128)] {
            let key = random_vector(1, inputs);
            let (weight, vector) = (random_vector(2, inputs * units), random_vector(3, units));
            let of = Position {
                key: &key,
                weight: &weight,
                vector: &vector,
                rows,
            };
            let p = of.predict(SIMD);
            let wanted = predicted(&key, &weight, &vector, rows);
            assert!((p - wanted).abs() < 1e-12 * rows as f64, "{p}, {wanted}");
            let mut to = [inputs, inputs * units, units].map(|len| vec![1.0; len]);
            of.backward(SIMD, p, -0.7, to.each_mut().map(|to| &mut to[..]));
            let [d_key, d_weight, d_vector] =
                to.map(|d| d.iter().map(|d| d - 1.0).collect::<Vec<_>>());
            let loss = |key: &[f64], weight: &[f64], vector: &[f64]| {
                -0.7 * predicted(key, weight, vector, rows)
            };
            assert_gradient("key", &key, &d_key, |x| loss(x, &weight, &vector));
            assert_gradient("weight", &weight, &d_weight, |x| loss(&key, x, &vector));
            assert_gradient("vector", &vector, &d_vector, |x| loss(&key, &weight, x));
        }
    }

    /// Centres far from where the window loses or gains a row, for D = 1.25.
    const CENTRES: [f64; 4] = [0.02, 0.4, 0.6, 0.97];

    #[test]
    fn gradients_of_the_window() {
        for (n, half) in [(1, 1.25), (5, 1.25), (70, 1.25), (70, 20.25)] {
            let (beta, scores, upstream) = (1.3, random_vector(1, n), random_vector(2, n));
            for centre in CENTRES.map(|part| (part * n as f64).floor() + 0.47) {
                for is_gaussian in [false, true] {
                    let window = Window {
                        centre,
                        half,
                        is_gaussian,
                    };
                    let loss = |window: Window<f64>, beta: f64, scores: &[f64]| {
                        let mut w_c = vec![7.0; n];
                        window.content(SIMD, beta, scores, &mut w_c);
                        dot(SIMD, &w_c, &upstream)
                    };
                    let (mut w_c, mut gradient) = (vec![0.0; n], upstream.clone());
                    window.content(SIMD, beta, &scores, &mut w_c);
                    let (d_beta, d_p) =
                        window.content_backward(SIMD, beta, &scores, &w_c, &mut gradient);
                    assert_gradient("beta", &[beta], &[d_beta], |x| loss(window, x[0], &scores));
                    assert_gradient("K", &scores, &gradient, |k| loss(window, beta, k));
                    assert_gradient("p", &[centre], &[d_p], |x| {
                        loss(
                            Window {
                                centre: x[0],
                                ..window
                            },
                            beta,
                            &scores,
                        )
                    });
                }
            }
        }
    }

    /// w^c as it is written.
    fn as_written<R: Real>(window: Window<R>, beta: R, scores: &[R]) -> Vec<f64> {
        let [p, half, beta] = [window.centre, window.half, beta].map(R::to_f64);
        let inside = |i: usize| p - half <= i as f64 && i as f64 <= p + half;
        let power = |i: usize| (beta * scores[i].to_f64()).exp();
        let total: f64 = (0..scores.len()).filter(|i| inside(*i)).map(power).sum();
        let gaussian = |i: usize| {
            let sigma = half / 2.0;
            (-(i as f64 - p).powi(2) / (2.0 * sigma * sigma)).exp()
        };
        let factor = |i: usize| if window.is_gaussian { gaussian(i) } else { 1.0 };
        let weight = |i: usize| {
            if inside(i) {
                power(i) / total * factor(i)
            } else {
                0.0
            }
        };
        (0..scores.len()).map(weight).collect()
    }

    /// Content of a window and its gradients by K, β and p.
    #[derive(Clone, Copy)]
    struct Both<'a, R>(Window<R>, &'a [R]);

    impl<R: Real> Kernel for Both<'_, R> {
        type Output = [Vec<R>; 2];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let (window, scores, beta) = (self.0, self.1, R::from_f64(1.7));
            let (mut w_c, mut gradient) = (scores.to_vec(), scores.to_vec());
            window.content(simd, beta, scores, &mut w_c);
            let (d_beta, d_p) = window.content_backward(simd, beta, scores, &w_c, &mut gradient);
            gradient.extend([d_beta, d_p]);
            [w_c, gradient]
        }
    }

    fn assert_same_everywhere<R: Real>(window: Window<R>, scores: &[R]) {
        let everywhere = on_every_instruction_set(Both(window, scores));
        assert!(
            everywhere.iter().all(|other| *other == everywhere[0]),
            "{window:?}"
        );
        let [w_c, gradient] = &everywhere[0];
        assert!(gradient.iter().all(|d| d.is_finite()), "{window:?}");
        let written = as_written(window, R::from_f64(1.7), scores);
        for (found, wanted) in w_c.iter().zip(written) {
            let off = (found.to_f64() - wanted).abs();
            assert!(
                off < 40.0 * R::EPSILON.to_f64(),
                "{window:?}: {found}, {wanted}"
            );
        }
    }

    #[test]
    fn every_instruction_set_agrees_with_the_equation() {
        for n in 1..=70 {
            let scores = random_vector(1, n);
            let short: Vec<f32> = scores.iter().map(|k| *k as f32).collect();
            for part in [0.0, 0.13, 0.52, 0.99, 1.0] {
                for (half, is_gaussian) in [(1.0, true), (2.5, false), (9.0, true), (200.0, true)] {
                    // Exact in f32, edges too.
                    let centre = (part * n as f64 * 8.0).floor() / 8.0;
                    let window = Window {
                        centre,
                        half,
                        is_gaussian,
                    };
                    assert_same_everywhere(window, &scores);
                    let (centre, half) = (centre as f32, half as f32);
                    assert_same_everywhere(
                        Window {
                            centre,
                            half,
                            is_gaussian,
                        },
                        &short,
                    );
                }
            }
        }
    }

    #[test]
    fn no_window_is_empty_and_nothing_is_infinite_in_f32() {
        for n in (1..70).chain([1000, 100_000, 16_777_216]) {
            for row in [0, 1, n / 2, n - 1, n] {
                let row = row as f32;
                for centre in [row, row.next_down(), row.next_up(), row + 0.5] {
                    let centre = centre.clamp(0.0, n as f32);
                    for half in [1.0_f32, 1.0_f32.next_up(), 1.5, 7.0, 1e9] {
                        let rows = Window {
                            centre,
                            half,
                            is_gaussian: true,
                        }
                        .rows(n);
                        assert!(
                            rows.start < rows.end && rows.end <= n,
                            "{centre}, {half}, {n}"
                        );
                    }
                }
            }
        }
        let scores: Vec<f32> = (0..40)
            .map(|i| if i % 3 == 0 { 80.0 } else { -80.0 })
            .collect();
        for n in 1..=40 {
            for centre in [0.0, n as f32, (n as f32).next_down(), 0.5] {
                for (half, is_gaussian) in [(1.0, true), (1.0, false), (30.0, true)] {
                    let window = Window {
                        centre,
                        half,
                        is_gaussian,
                    };
                    for [w_c, gradient] in on_every_instruction_set(Both(window, &scores[..n])) {
                        let sum: f32 = w_c.iter().sum();
                        assert!(sum > 0.13 && sum < 1.0 + 1e-6, "{window:?}: {sum}");
                        assert!(gradient.iter().all(|d| d.is_finite()), "{window:?}");
                    }
                }
            }
        }
        let window = Window {
            centre: f32::NAN,
            half: 2.0,
            is_gaussian: true,
        };
        assert_eq!(window.rows(5), 0..1);
    }

    #[test]
    fn a_position_that_saturates_stays_inside() {
        for vector in [-500.0_f32, 500.0] {
            let of = Position {
                key: &[9.0],
                weight: &[1.0],
                vector: &[vector],
                rows: 7,
            };
            let p = of.predict(SIMD);
            assert!((0.0..=7.0).contains(&p), "{p}");
            let mut to = [[0.0_f32]; 3];
            of.backward(SIMD, p, 1.0, to.each_mut().map(|to| &mut to[..]));
            assert!(to.iter().all(|d| d[0].is_finite()), "{to:?}");
        }
    }

    /// M x, M row after row.
    fn times(m: &[f64], x: &[f64]) -> Vec<f64> {
        let row = |m: &[f64]| m.iter().zip(x).map(|(m, x)| m * x).sum();
        m.chunks(x.len()).map(row).collect()
    }

    fn add(to: &mut [f64], factor: f64, from: &[f64]) {
        to.iter_mut()
            .zip(from)
            .for_each(|(to, from)| *to += factor * from);
    }

    /// W and v of the position; of no account where the centre is not predicted.
    fn position_of(case: &Case, is_predictive: bool) -> [Vec<f64>; 2] {
        if !is_predictive {
            return [vec![0.0; case.size("d_q")], vec![0.0]];
        }
        let weight = case.transposed("parameters", "position.W");
        [weight, case.numbers("parameters", "position.v")]
    }

    struct Step {
        window: Window<f64>,
        energies: Vec<f64>,
        w_c: Vec<f64>,
        context: Vec<f64>,
    }

    /// The steps of a case, with the general score qᵀ W k_i.
    fn golden_steps(case: &Case, is_predictive: bool) -> Vec<Step> {
        let [n, d_q, d_k, d_v] = ["n", "d_q", "d_k", "d_v"].map(|size| case.size(size));
        let [q, k, v] = ["Q", "K", "V"].map(|array| case.numbers("inputs", array));
        let w = case.numbers("parameters", "score.W");
        let [weight, vector] = position_of(case, is_predictive);
        let step = |(t, key)| {
            let position = Position {
                key,
                weight: &weight,
                vector: &vector,
                rows: n,
            };
            let centre = if is_predictive {
                position.predict(SIMD)
            } else {
                monotonic(t, n)
            };
            let window = Window {
                centre,
                half: case.constant("D"),
                is_gaussian: is_predictive,
            };
            let energies: Vec<f64> = k
                .chunks(d_k)
                .map(|k| dot(SIMD, key, &times(&w, k)))
                .collect();
            let (mut w_c, mut context) = (vec![0.0; n], vec![0.0; d_v]);
            window.content(SIMD, 1.0, &energies, &mut w_c);
            for (w_c, v) in w_c.iter().zip(v.chunks(d_v)) {
                add(&mut context, *w_c, v);
            }
            Step {
                window,
                energies,
                w_c,
                context,
            }
        };
        q.chunks(d_q).enumerate().map(step).collect()
    }

    fn assert_golden_outputs(case: &Case, steps: &[Step]) {
        let centres: Vec<f64> = steps.iter().map(|step| step.window.centre).collect();
        case.assert_close("outputs", "p", &centres);
        let all =
            |of: fn(&Step) -> &[f64]| steps.iter().flat_map(of).copied().collect::<Vec<f64>>();
        case.assert_close("outputs", "energies", &all(|step| &step.energies));
        case.assert_close("outputs", "weighting", &all(|step| &step.w_c));
        case.assert_close("outputs", "context", &all(|step| &step.context));
    }

    fn assert_golden(name: &str, is_predictive: bool) {
        let case = Case::load(name);
        let steps = golden_steps(&case, is_predictive);
        assert_golden_outputs(&case, &steps);
        let [n, width, d_k, d_v] = ["n", "d_q", "d_k", "d_v"].map(|size| case.size(size));
        let [q, k, v] = ["Q", "K", "V"].map(|array| case.numbers("inputs", array));
        let w = case.numbers("parameters", "score.W");
        let w_transposed = case.transposed("parameters", "score.W");
        let [weight, vector] = position_of(&case, is_predictive);
        let [of_weighting, of_context] =
            ["weighting", "context"].map(|x| case.numbers("upstream", x));
        let zeros = [&q, &k, &v, &w, &weight, &vector].map(|x| vec![0.0; x.len()]);
        let [
            mut d_q,
            mut d_keys,
            mut d_values,
            mut d_w,
            mut d_weight,
            mut d_vector,
        ] = zeros;
        for (t, (step, key)) in steps.iter().zip(q.chunks(width)).enumerate() {
            let of_context = &of_context[t * d_v..][..d_v];
            let mut gradient = times(&v, of_context);
            add(&mut gradient, 1.0, &of_weighting[t * n..][..n]);
            let (e, w_c) = (&step.energies, &step.w_c);
            let (_, d_p) = step
                .window
                .content_backward(SIMD, 1.0, e, w_c, &mut gradient);
            let d_q = &mut d_q[t * width..][..width];
            for (i, (&d_e, k)) in gradient.iter().zip(k.chunks(d_k)).enumerate() {
                add(d_q, d_e, &times(&w, k));
                add(
                    &mut d_keys[i * d_k..][..d_k],
                    d_e,
                    &times(&w_transposed, key),
                );
                add(&mut d_values[i * d_v..][..d_v], w_c[i], of_context);
                for (d_w, q) in d_w.chunks_mut(d_k).zip(key) {
                    add(d_w, d_e * q, k);
                }
            }
            let position = Position {
                key,
                weight: &weight,
                vector: &vector,
                rows: n,
            };
            let to = [d_q, &mut d_weight, &mut d_vector];
            position.backward(SIMD, step.window.centre, d_p, to);
        }
        for (array, found) in [("Q", d_q), ("K", d_keys), ("V", d_values), ("score.W", d_w)] {
            case.assert_close("gradients", array, &found);
        }
        if is_predictive {
            case.assert_transposed_close("gradients", "position.W", &d_weight);
            case.assert_close("gradients", "position.v", &d_vector);
        }
    }

    #[test]
    fn golden_values() {
        assert_golden("local_monotonic", false);
        assert_golden("local_predictive", true);
    }
}
