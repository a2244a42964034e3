//! Bayesian attention (Fan, Zhang, Chen, Zhou 2020): the score of a row is a positive random variable S_i with mean
//! e^ψ_i, the weighting is S / ΣS; a prior of the rows alone, and how far the scores are from it.
//!
//! e^(β·K_i) and the noise are multiplied in S, so S / ΣS is the softmax of β·K and the logarithm of the noise:
//! whatever is common to all rows cancels.

use super::{Stages, WeightingFunction};
use crate::math::gamma::{digamma, ln_gamma};
use crate::math::kernel::kernel;
use crate::math::pack::{each_pack, map_packs};
use crate::math::simd::Simd;
use crate::math::softmax::{dot, largest, softmax, softmax_in_place};
use crate::math::units::{self, UnitActivation, Units, UnitsGradient};
use crate::math::vectors::add;
use crate::math::{Pack, Real, Series};
use crate::model::array;
use crate::model::attention::{Parameters, PriorForm};
use crate::model::content::strength;
use crate::model::head::HeadGradient;
use crate::model::kind::Kind;
use crate::model::machine::Terms;
use crate::model::shape::Start;
use crate::model::slots::{Arrays, SlotsGradient};
use crate::model::spec::{Array, ArraySpec, LEARNED, Range, Retention};
use crate::model::stage::Stage;
use crate::model::trace::{HeadTrace, NoiseMode};
use crate::model::window::BackwardStep;

/// Euler's γ.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Weibull scores: β·K + ln(−ln(1 − u)) / k, of which the softmax is the weighting; `u` between 0 and 1.
#[inline(always)]
pub fn perturb_weibull<R: Real, S: Simd>(
    simd: S,
    beta: R,
    scores: &[R],
    u: &[R],
    k: R,
    logits: &mut [R],
) {
    let (one, inverse_k) = (Pack::splat(simd, R::ONE), R::ONE / k);
    map_packs!(simd, logits = [scores, u] => {
        (-(one - u).ln()).ln().mul_add(inverse_k, scores * beta)
    });
}

/// Lognormal scores: β·K + σ·ε, of which the softmax is the weighting; `eps` is standard normal.
#[inline(always)]
pub fn perturb_lognormal<R: Real, S: Simd>(
    simd: S,
    beta: R,
    scores: &[R],
    eps: &[R],
    sigma: R,
    logits: &mut [R],
) {
    map_packs!(simd, logits = [scores, eps] => eps.mul_add(sigma, scores * beta));
}

impl PriorForm {
    /// Turns z, one value per row, into the mean m of the prior of each row, in place.
    #[inline(always)]
    pub fn prior<R: Real, S: Simd>(self, simd: S, m: &mut [R]) {
        softmax_in_place(simd, R::ONE, m);
        if self == Self::Text {
            each_pack!(simd, at in m => { at.store(m, at.load(m).exp()) });
        }
    }
}

/// The distribution of the scores S_i of mean e^ψ_i, and that of the prior of mean m_i.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family<R> {
    /// Weibull of shape `k` > 0; the prior is a gamma distribution of shape α_i = β·m_i and this `rate` β > 0.
    Weibull {
        /// k: the larger, the less noise.
        k: R,
        /// β.
        rate: R,
    },
    /// Lognormal with σ > 0 and μ = ψ − σ²/2; the prior is lognormal with `sigma_p` > 0 and μ_p = ln m − σ_p²/2, so that
    /// m is its mean, as it is that of the gamma distribution; in both forms. In the authors' program (`zhougroup/BAM`,
    /// `modeling_albert.py`) − σ_p²/2 is commented out: there μ_p = ln m, and m is the median.
    Lognormal {
        /// σ.
        sigma: R,
        /// σ_p.
        sigma_p: R,
    },
}

/// The Kullback-Leibler divergence of the scores of all rows from their prior.
#[derive(Clone, Copy, Debug)]
pub struct Divergence<'a, R> {
    /// Family of posterior and prior.
    pub family: Family<R>,
    /// The form of ψ.
    pub form: PriorForm,
    /// β, which multiplies the scores.
    pub beta: R,
    /// K, [n].
    pub scores: &'a [R],
    /// The means of the prior, [n].
    pub m: &'a [R],
}

impl<R: Real> Divergence<'_, R> {
    /// Summed over rows.
    #[inline(always)]
    pub fn sum<S: Simd>(&self, simd: S) -> R {
        let (row, psi, mut sum) = (
            self.family.row(simd),
            self.psi(simd),
            Pack::splat(simd, R::ZERO),
        );
        each_pack!(simd, at in self.scores => {
            let kl = row.kl(psi.of(at.load(self.scores)), at.load(self.m));
            sum += at.new_or(kl, R::ZERO);
        });
        sum.sum()
    }

    /// `weight` times the gradient of the sum: sets those by β·K and by z, of which [`PriorForm::prior`] made m.
    /// Without weight they are 0, however large the scores are.
    ///
    /// With D = dKL/dψ, E = m·dKL/dm and p = softmax(z): in the form of the code, where ψ and m are results of a
    /// softmax, they are D_i − e^ψ_i·Σ_j D_j and E_i − p_i·Σ_j E_j; in that of the text D_i and F_i − p_i·Σ_j F_j
    /// with F = p·E.
    #[inline(always)]
    pub fn backward<S: Simd>(&self, simd: S, weight: R, d_logits: &mut [R], d_z: &mut [R]) {
        if weight == R::ZERO {
            d_logits.fill(R::ZERO);
            return d_z.fill(R::ZERO);
        }
        let is_text = self.form == PriorForm::Text;
        let (row, psi) = (self.family.row(simd), self.psi(simd));
        let (mut d, mut f) = (Pack::splat(simd, R::ZERO), Pack::splat(simd, R::ZERO));
        each_pack!(simd, at in self.scores => {
            let (psi, m) = (psi.of(at.load(self.scores)), at.load(self.m));
            let d_psi = row.d_psi(psi, m) * weight;
            let d_log_m = row.d_log_m(psi, m) * weight;
            let d_p = if is_text { m.ln() * d_log_m } else { d_log_m };
            d += at.new_or(d_psi, R::ZERO);
            f += at.new_or(d_p, R::ZERO);
            at.store(d_logits, d_psi);
            at.store(d_z, d_p);
        });
        let (d, f) = (d.sum(), f.sum());
        each_pack!(simd, at in self.scores => {
            let m = at.load(self.m);
            let p = if is_text { m.ln() } else { m };
            at.store(d_z, at.load(d_z) - p * f);
            if !is_text {
                let power = psi.of(at.load(self.scores)).exp();
                at.store(d_logits, at.load(d_logits) - power * d);
            }
        });
    }

    #[inline(always)]
    fn psi<S: Simd>(&self, simd: S) -> Psi<R> {
        let (beta, zero) = (self.beta, R::ZERO);
        if self.form == PriorForm::Text {
            return Psi {
                beta,
                most: zero,
                log_sum: zero,
            };
        }
        let (most, mut sum) = (largest(simd, self.scores), Pack::splat(simd, zero));
        each_pack!(simd, at in self.scores => {
            sum += at.new_or(((at.load(self.scores) - most) * beta).exp(), zero);
        });
        let log_sum = Pack::splat(simd, sum.sum()).ln().first();
        Psi {
            beta,
            most,
            log_sum,
        }
    }
}

/// ψ = β·(K − most) − log_sum.
#[derive(Clone, Copy)]
struct Psi<R> {
    beta: R,
    most: R,
    log_sum: R,
}

impl<R: Real> Psi<R> {
    #[inline(always)]
    fn of<S: Simd>(self, score: Pack<R, S>) -> Pack<R, S> {
        (score - self.most) * self.beta - self.log_sum
    }
}

/// The divergence of one row, with everything that does not depend on the row.
#[derive(Clone, Copy)]
enum Row<R> {
    /// KL = α·(slope − ψ) + β·e^ψ + ln Γ(α) + constant, α = β·m, slope = γ/k + ln Γ(1 + 1/k) − ln β,
    /// constant = ln k − γ − 1.
    Weibull { rate: R, slope: R, constant: R },
    /// KL = d²·precision/2 + constant, d = ψ − ln m + (σ_p² − σ²)/2 = μ − μ_p, precision = 1/σ_p²,
    /// constant = ln(σ_p/σ) + σ²/2σ_p² − ½.
    Lognormal { shift: R, precision: R, constant: R },
}

impl<R: Real> Family<R> {
    #[inline(always)]
    fn row<S: Simd>(self, simd: S) -> Row<R> {
        let (half, euler) = (R::from_f64(0.5), R::from_f64(EULER));
        let ln = |x: R| Pack::splat(simd, x).ln().first();
        match self {
            Self::Weibull { k, rate } => {
                let mean = ln_gamma(Pack::splat(simd, R::ONE + R::ONE / k)).first();
                Row::Weibull {
                    rate,
                    slope: euler / k + mean - ln(rate),
                    constant: ln(k) - euler - R::ONE,
                }
            }
            Self::Lognormal { sigma, sigma_p } => {
                let ratio = sigma / sigma_p;
                Row::Lognormal {
                    shift: (sigma_p * sigma_p - sigma * sigma) * half,
                    precision: R::ONE / (sigma_p * sigma_p),
                    constant: ratio * ratio * half - ln(ratio) - half,
                }
            }
        }
    }
}

impl<R: Real> Row<R> {
    /// KL of a row.
    #[inline(always)]
    fn kl<S: Simd>(self, psi: Pack<R, S>, m: Pack<R, S>) -> Pack<R, S> {
        match self {
            Self::Weibull {
                rate,
                slope,
                constant,
            } => {
                let alpha = shape(m, rate);
                let constant = ln_gamma(alpha) + constant;
                alpha.mul_add(-psi + slope, psi.exp().mul_add(rate, constant))
            }
            Self::Lognormal {
                shift,
                precision,
                constant,
            } => {
                let d = psi - logarithm(m) + shift;
                (d * d).mul_add(
                    precision * R::from_f64(0.5),
                    Pack::splat(d.simd(), constant),
                )
            }
        }
    }

    /// The derivative with respect to ψ.
    #[inline(always)]
    fn d_psi<S: Simd>(self, psi: Pack<R, S>, m: Pack<R, S>) -> Pack<R, S> {
        match self {
            Self::Weibull { rate, .. } => psi.exp() * rate - shape(m, rate),
            Self::Lognormal {
                shift, precision, ..
            } => (psi - logarithm(m) + shift) * precision,
        }
    }

    /// The derivative with respect to ln m, which is finite where m is close to 0.
    #[inline(always)]
    fn d_log_m<S: Simd>(self, psi: Pack<R, S>, m: Pack<R, S>) -> Pack<R, S> {
        match self {
            Self::Weibull { rate, slope, .. } => {
                let alpha = shape(m, rate);
                alpha * (digamma(alpha) - psi + slope)
            }
            Self::Lognormal { .. } => -self.d_psi(psi, m),
        }
    }
}

/// α = β·m; below the smallest normal number it counts as that number.
#[inline(always)]
fn shape<R: Real, S: Simd>(m: Pack<R, S>, rate: R) -> Pack<R, S> {
    (m * rate).max(R::TINY)
}

/// ln m; below the smallest normal number m counts as that number.
#[inline(always)]
fn logarithm<R: Real, S: Simd>(m: Pack<R, S>) -> Pack<R, S> {
    m.max(R::TINY).ln()
}

/// Uniform noise of a Weibull head, [T, N].
#[rustfmt::skip] // A row for every array.
pub const NOISE: Array = &ArraySpec::new("noise", &["t", "n"], "u", Range::Uniform, "sampled from the stream of seed, episode and sample; the paper's heads use no noise");
/// Normal noise of a lognormal head, [T, N].
#[rustfmt::skip]
pub const NORMAL: Array = &ArraySpec::new("normal", &["t", "n"], "ε", Range::Normal, "sampled from the stream of seed, episode and sample");
/// W of the prior, [M, H].
#[rustfmt::skip]
pub const PRIOR_WEIGHT: Array = &ArraySpec::new("prior_weight", &["m", "h"], "W_π", LEARNED, "learned; prior: z = h_π·f(W_πᵀ·M(i) + b_π), where f is the identity, or a ReLU in the form `code` (Fan et al. 2020)");
/// b of the prior, [H].
#[rustfmt::skip]
pub const PRIOR_BIAS: Array = &ArraySpec::new("prior_bias", &["h"], "b_π", Range::Learned(Start::Zero), "learned; prior");
/// h of the prior, [H].
#[rustfmt::skip]
pub const PRIOR_VECTOR: Array = &ArraySpec::new("prior_vector", &["h"], "h_π", LEARNED, "learned; prior");
/// Mean m of the prior, [T, N].
#[rustfmt::skip]
pub const PRIOR: Array = &ArraySpec::new("prior", &["t", "n"], "m", Range::AtLeast(0.0), "exp(softmax(z)), or softmax(z) in the form `code`; softmax over the rows (Fan et al. 2020)");
/// Kullback-Leibler divergence from the prior, nats, summed over the rows, [T, 1].
#[rustfmt::skip]
pub const DIVERGENCE: Array = &ArraySpec::new("divergence", &["t"], "KL", Range::Any, "Σ_i KL divergence of the weight of row i from its prior, nats (Fan et al. 2020)");
/// Scratch of the layer of the prior.
const LAYER: Array = &ArraySpec::scratch("prior_layer").retention(Retention::Once);

/// The forms of a head whose weights are random variables with a prior.
#[derive(Clone, Copy)]
pub(super) enum Bayesian {
    Weibull,
    Lognormal,
}

pub(super) use Bayesian::{Lognormal, Weibull};

/// The arrays of either form, with those of its noise.
const fn with(noise: Array) -> [Array; 7] {
    [
        noise,
        PRIOR_WEIGHT,
        PRIOR_BIAS,
        PRIOR_VECTOR,
        LAYER,
        PRIOR,
        DIVERGENCE,
    ]
}

impl Arrays for Bayesian {
    fn arrays(&self) -> &'static [Array] {
        match self {
            Self::Weibull => &const { with(NOISE) },
            Self::Lognormal => &const { with(NORMAL) },
        }
    }

    fn scratch(&self, _: Array, of: &dyn Kind) -> usize {
        units::scratch(of.size("h"), of.size("n"))
    }
}

impl Stages for Bayesian {
    fn stage(&self, stage: Stage) -> Option<(Array, &'static [Array])> {
        let needs: &[_] = &[array::STRENGTH, array::SIMILARITY, PRIOR];
        (stage == Stage::Divergence).then_some((DIVERGENCE, needs))
    }

    fn row_array(&self) -> Option<Array> {
        Some(PRIOR)
    }

    fn content_needs(&self) -> &'static [Array] {
        &self.arrays()[..1]
    }
}

impl<R: Real> WeightingFunction<R> for Bayesian {
    fn gradient_scratch(&self, of: &dyn Kind) -> Vec<usize> {
        let (rows, inner) = (of.size("n"), of.size("h"));
        let sums = units::sums::<R>(of.size("m"), inner);
        vec![rows, rows, inner, sums, units::scratch(inner, rows)]
    }

    /// The mean of the prior for every row of the memory.
    fn set_row_array(&self, head: &mut HeadTrace<R>, t: usize, columns: &[R]) {
        let form = head.mechanism.parameters.prior;
        let [_, weight, bias, vector, layer, prior, _] = head.of_weighting.all_mut();
        let (scratch, prior) = (layer.row_mut(0), prior.row_mut(t));
        form.units(weight, vector)
            .forward(bias.row(0), columns, scratch, prior);
        prior_means(form, prior);
    }

    /// From the gradient w.r.t. z, from which the prior is computed.
    fn row_array_backward(
        &self,
        head: &HeadTrace<R>,
        d: &mut HeadGradient<R>,
        to: &mut BackwardStep<'_, R>,
    ) {
        let [_, weight, bias, vector, ..]: &[_; 7] = head.of_weighting.all();
        let ([_, d_bias, _], [_, d_z, d_start, sums, scratch]) = d.of_weighting.all_mut();
        let gradient = UnitsGradient {
            start: bias.row(0),
            d_energies: d_z,
            d_start,
            sums,
            d_memory: to.d_memory,
        };
        let units = head.mechanism.parameters.prior.units(weight, vector);
        units.backward(gradient, to.visible_rows.columns, None, scratch);
        add(&mut d_bias[..], &d_start[..]);
    }

    fn content(&self, head: &mut HeadTrace<R>, t: usize, sampling: NoiseMode) {
        bayesian_content(*self, head, t, sampling);
    }

    fn content_backward(
        &self,
        head: &HeadTrace<R>,
        t: usize,
        terms: &Terms<R>,
        d: &mut HeadGradient<R>,
    ) {
        bayesian_content_backward(*self, head, t, terms.divergence, d);
    }

    fn divergence(&self, head: &mut HeadTrace<R>, t: usize) {
        let divergence = divergence(*self, head, t);
        let [.., to]: &mut [_; 7] = head.of_weighting.all_mut();
        to[t] = divergence;
    }

    fn add_up(&self, gradient: &mut SlotsGradient<R>) {
        let ([d_weight, _, d_vector], [_, _, _, sums, _]) = gradient.all_mut();
        units::add_up(sums, d_weight, d_vector);
    }
}

impl PriorForm {
    /// The layer that the prior comes from.
    fn units<'a, R: Real>(self, weight: &'a Series<R>, vector: &'a Series<R>) -> Units<'a, R> {
        Units {
            weight: weight.row(0),
            vector: vector.row(0),
            activation: match self {
                Self::Text => UnitActivation::Identity,
                Self::Code => UnitActivation::Relu,
            },
        }
    }
}

kernel! {
    /// The means of the prior, from the z in their place.
    fn prior_means<'a, R>(simd; form: PriorForm, z: &'a mut [R]) {
        form.prior(simd, z);
    }
}

kernel! {
    /// w^c: of the sampled weights, or of their means.
    fn bayesian_content<'a, R>(
        simd; of: Bayesian, head: &'a mut HeadTrace<R>, t: usize, sampling: NoiseMode,
    ) {
        let (beta, parameters) = (strength(head, t), head.mechanism.parameters);
        let [noise, ..]: &[_; 7] = head.of_weighting.all();
        let (similarity, w_c) = (head.similarity.row(t), head.content.row_mut(t));
        match of {
            _ if sampling == NoiseMode::Mean => return softmax(simd, beta, similarity, w_c),
            Bayesian::Weibull => {
                let shape = R::from_f64(parameters.weibull_shape);
                perturb_weibull(simd, beta, similarity, noise.row(t), shape, w_c);
            }
            Bayesian::Lognormal => {
                let sigma = R::from_f64(parameters.lognormal_sigma);
                perturb_lognormal(simd, beta, similarity, noise.row(t), sigma, w_c);
            }
        }
        softmax_in_place(simd, R::ONE, w_c);
    }
}

kernel! {
    /// Sets the gradients w.r.t. the score, β and the prior, from that w.r.t. w^c plus `weight` times the divergence.
    fn bayesian_content_backward<'a, R>(
        simd; of: Bayesian, head: &'a HeadTrace<R>, t: usize, weight: R, d: &'a mut HeadGradient<R>,
    ) {
        let (similarity, beta) = (head.similarity.row(t), strength(head, t));
        let ([_, _, _], [d_logits, d_z, ..]) = d.of_weighting.all_mut::<3, 5>();
        of.divergence_from(head, t).backward(simd, weight, d_logits, d_z);
        let (w_c, d_w) = (head.content.row(t), &mut d.weighting);
        let mean = dot(simd, w_c, d_w);
        let mut d_beta = Pack::splat(simd, R::ZERO);
        each_pack!(simd, at in w_c => {
            let through = at.load(w_c) * (at.load(d_w) - mean);
            let sum = through + at.load(d_logits);
            d_beta += at.new_or(sum * at.load(similarity), R::ZERO);
            at.store(d_w, sum * beta);
        });
        d.strength = d_beta.sum();
    }
}

kernel! {
    /// How far the weights are from their prior, summed over the rows.
    fn divergence<'a, R>(simd; of: Bayesian, head: &'a HeadTrace<R>, t: usize) -> R {
        of.divergence_from(head, t).sum(simd)
    }
}

impl Bayesian {
    fn divergence_from<R: Real>(self, head: &HeadTrace<R>, t: usize) -> Divergence<'_, R> {
        let [_, _, _, _, _, prior, _] = head.of_weighting.all();
        Divergence {
            family: self.family(&head.mechanism.parameters),
            form: head.mechanism.parameters.prior,
            beta: strength(head, t),
            scores: head.similarity.row(t),
            m: prior.row(t),
        }
    }

    fn family<R: Real>(self, of: &Parameters) -> Family<R> {
        match self {
            Self::Weibull => Family::Weibull {
                k: R::from_f64(of.weibull_shape),
                rate: R::from_f64(of.gamma_rate),
            },
            Self::Lognormal => Family::Lognormal {
                sigma: R::from_f64(of.lognormal_sigma),
                sigma_p: R::from_f64(of.prior_sigma),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PriorForm::{Code, Text};
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::{Kernel, PLAIN as SIMD, on_every_instruction_set};
    use crate::math::softmax::{dot, softmax, softmax_backward};
    use crate::math::{Random, random};
    use rand::RngExt;

    /// Parameters of the golden cases.
    const WEIBULL: Family<f64> = Family::Weibull { k: 10.0, rate: 2.5 };
    /// Parameters of the golden cases.
    const LOGNORMAL: Family<f64> = Family::Lognormal {
        sigma: 0.4,
        sigma_p: 0.9,
    };

    fn prior(form: PriorForm, z: &[f64]) -> Vec<f64> {
        let mut m = z.to_vec();
        form.prior(SIMD, &mut m);
        m
    }

    fn ln_gamma_of(x: f64) -> f64 {
        ln_gamma(Pack::splat(SIMD, x)).first()
    }

    #[test]
    fn gradients() {
        for n in [1, 5, 70] {
            let (beta, scores, z) = (1.7, random_vector(1, n), random_vector(2, n));
            for (family, form) in [WEIBULL, LOGNORMAL]
                .map(|f| [(f, Text), (f, Code)])
                .concat()
            {
                let weight = 0.3;
                let loss = |beta: f64, scores: &[f64], z: &[f64]| {
                    let m = &prior(form, z);
                    let kl = Divergence {
                        family,
                        form,
                        beta,
                        scores,
                        m,
                    };
                    weight * kl.sum(SIMD)
                };
                let m = &prior(form, &z);
                let kl = Divergence {
                    family,
                    form,
                    beta,
                    scores: &scores,
                    m,
                };
                let (mut d_logits, mut d_z) = (vec![7.0; n], vec![7.0; n]);
                kl.backward(SIMD, weight, &mut d_logits, &mut d_z);
                let d_scores: Vec<f64> = d_logits.iter().map(|d| d * beta).collect();
                let d_beta = d_logits.iter().zip(&scores).map(|(d, k)| d * k).sum();
                assert_gradient("beta", &[beta], &[d_beta], |x| loss(x[0], &scores, &z));
                assert_gradient("K", &scores, &d_scores, |k| loss(beta, k, &z));
                assert_gradient("z", &z, &d_z, |z| loss(beta, &scores, z));
                kl.backward(SIMD, 0.0, &mut d_logits, &mut d_z);
                assert!(d_logits.iter().chain(&d_z).all(|&d| d == 0.0));
            }
        }
    }

    /// ln q(S) − ln p(S) of one sample, both densities without −ln S where both have it.
    fn log_ratio(family: Family<f64>, psi: f64, m: f64, random: &mut Random) -> f64 {
        let [u, v] = [(); 2].map(|()| 1.0 - random.random::<f64>());
        match family {
            Family::Weibull { k, rate } => {
                let (gamma, alpha) = (ln_gamma_of(1.0 + 1.0 / k), rate * m);
                let lambda = (psi - gamma).exp();
                let s = lambda * (-u.ln()).powf(1.0 / k);
                let q = k.ln() - lambda.ln() + (k - 1.0) * (s / lambda).ln() - (s / lambda).powf(k);
                let p = alpha * rate.ln() - ln_gamma_of(alpha) + (alpha - 1.0) * s.ln() - rate * s;
                q - p
            }
            Family::Lognormal { sigma, sigma_p } => {
                let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
                let (mu, mu_p) = (psi - sigma * sigma / 2.0, m.ln() - sigma_p * sigma_p / 2.0);
                let x = mu + sigma * normal;
                let log = |mu: f64, sigma: f64| -sigma.ln() - ((x - mu) / sigma).powi(2) / 2.0;
                log(mu, sigma) - log(mu_p, sigma_p)
            }
        }
    }

    #[test]
    fn divergences_are_means_over_samples() {
        let families = [
            WEIBULL,
            Family::Weibull { k: 30.0, rate: 0.4 },
            Family::Weibull {
                k: 300.0,
                rate: 9.0,
            },
            LOGNORMAL,
            Family::Lognormal {
                sigma: 0.05,
                sigma_p: 0.3,
            },
        ];
        let samples = 100_000;
        for (index, family) in families.into_iter().enumerate() {
            for (j, (psi, m)) in [(-1.2, 1.4), (0.9, 0.05), (0.3, 2.6)]
                .into_iter()
                .enumerate()
            {
                let of = |x: f64| Pack::splat(SIMD, x);
                let kl = family.row(SIMD).kl(of(psi), of(m)).first();
                let random = &mut random(15, (3 * index + j) as u64);
                let values = (0..samples).map(|_| log_ratio(family, psi, m, random));
                let (mut sum, mut squares) = (0.0, 0.0);
                for value in values {
                    sum += value;
                    squares += value * value;
                }
                let mean = sum / samples as f64;
                let error = ((squares / samples as f64 - mean * mean) / samples as f64).sqrt();
                let what = format!("{family:?}, psi {psi}, m {m}: KL {kl}, mean {mean} ± {error}");
                assert!(
                    (mean - kl).abs() < 5.0 * error && error < 0.01 * kl,
                    "{what}"
                );
            }
        }
    }

    /// Both perturbations, the prior in both forms, divergence and gradients of both families.
    #[derive(Clone, Copy)]
    struct All<'a, R> {
        beta: R,
        scores: &'a [R],
        u: &'a [R],
        z: &'a [R],
    }

    impl<R: Real> Kernel for All<'_, R> {
        type Output = Vec<Vec<R>>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Self { beta, scores, u, z } = self;
            let [k, rate, sigma, sigma_p] = [10.0, 2.5, 0.4, 0.9].map(R::from_f64);
            let zeros = || vec![R::ZERO; scores.len()];
            let mut all = vec![zeros(), zeros()];
            perturb_weibull(simd, beta, scores, u, k, &mut all[0]);
            perturb_lognormal(simd, beta, scores, z, sigma, &mut all[1]);
            for form in [Text, Code] {
                let mut m = z.to_vec();
                form.prior(simd, &mut m);
                for family in [
                    Family::Weibull { k, rate },
                    Family::Lognormal { sigma, sigma_p },
                ] {
                    let kl = Divergence {
                        family,
                        form,
                        beta,
                        scores,
                        m: &m,
                    };
                    let (mut d_logits, mut d_z) = (zeros(), zeros());
                    kl.backward(simd, R::from_f64(0.3), &mut d_logits, &mut d_z);
                    all.extend([vec![kl.sum(simd)], d_logits, d_z]);
                }
                all.push(m);
            }
            all
        }
    }

    fn assert_same_everywhere<R: Real>(n: usize) {
        let real = |values: Vec<f64>| values.into_iter().map(R::from_f64).collect::<Vec<R>>();
        let u = random_vector(3, n).iter().map(|u| 0.5 + 0.49 * u).collect();
        let (scores, u, z) = (
            real(random_vector(1, n)),
            real(u),
            real(random_vector(2, n)),
        );
        let all = All {
            beta: R::from_f64(1.7),
            scores: &scores,
            u: &u,
            z: &z,
        };
        let everywhere = on_every_instruction_set(all);
        for other in &everywhere {
            assert!(*other == everywhere[0], "{n} rows");
        }
        let wanted = {
            let wide = |values: &[R]| values.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
            let (scores, u, z) = (wide(&scores), wide(&u), wide(&z));
            let beta = all.beta.to_f64();
            All {
                beta,
                scores: &scores,
                u: &u,
                z: &z,
            }
            .with_simd(SIMD)
        };
        for (index, (found, wanted)) in everywhere[0].iter().zip(&wanted).enumerate() {
            for (a, b) in found.iter().zip(wanted) {
                let close = (a.to_f64() - b).abs() <= 60.0 * R::EPSILON.to_f64() * (1.0 + b.abs());
                assert!(close, "result {index} of {n} rows: {a}, {b}");
            }
        }
    }

    #[test]
    fn every_instruction_set_agrees_and_f32_with_f64() {
        for n in 1..=130 {
            assert_same_everywhere::<f64>(n);
            assert_same_everywhere::<f32>(n);
        }
    }

    #[test]
    fn nothing_is_infinite_in_f32_however_far_scores_and_prior_are_apart() {
        // The smallest and the largest u there are.
        let u = [0.5_f32 / 8_388_608.0, 0.5, 1.0 - 0.5 / 8_388_608.0];
        for n in [1_usize, 3, 128] {
            for (high, low) in [
                (80.0_f32, -80.0),
                (-80.0, 80.0),
                (80.0, 80.0),
                (-80.0, -80.0),
            ] {
                for z in [0.0_f32, 1e4] {
                    let scores: Vec<f32> = (0..n)
                        .map(|i| if i % 7 == 0 { high } else { low })
                        .collect();
                    let z: Vec<f32> = (0..n).map(|i| if i % 5 == 0 { z } else { -z }).collect();
                    let u: Vec<f32> = (0..n).map(|i| u[i % 3]).collect();
                    let all = All {
                        beta: 1.0,
                        scores: &scores,
                        u: &u,
                        z: &z,
                    };
                    for results in on_every_instruction_set(all) {
                        for (index, values) in results.iter().enumerate() {
                            let what =
                                format!("result {index} of {n} rows at {high}, {low}, {z:?}");
                            assert!(values.iter().all(|x| x.is_finite()), "{what}: {values:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_softmax_of_what_is_perturbed_is_the_share_of_each_score() {
        let n = 37;
        let (scores, eps) = (random_vector(1, n), random_vector(2, n));
        let u: Vec<f64> = eps.iter().map(|x| 0.5 + 0.499 * x).collect();
        let (beta, k, sigma) = (2.1, 4.0, 0.7);
        let mut logits = [vec![0.0; n], vec![0.0; n]];
        perturb_weibull(SIMD, beta, &scores, &u, k, &mut logits[0]);
        perturb_lognormal(SIMD, beta, &scores, &eps, sigma, &mut logits[1]);
        let mean = ln_gamma_of(1.0 + 1.0 / k).exp();
        let weibull =
            |i: usize| (beta * scores[i]).exp() / mean * (-(1.0 - u[i]).ln()).powf(1.0 / k);
        let lognormal = |i: usize| (beta * scores[i] - sigma * sigma / 2.0 + sigma * eps[i]).exp();
        let s = [
            (0..n).map(weibull).collect::<Vec<f64>>(),
            (0..n).map(lognormal).collect(),
        ];
        for (logits, s) in logits.iter().zip(&s) {
            let (mut omega, sum) = (vec![0.0; n], s.iter().sum::<f64>());
            softmax(SIMD, 1.0, logits, &mut omega);
            for (omega, s) in omega.iter().zip(s) {
                assert!((omega - s / sum).abs() < 1e-14, "{omega}, {}", s / sum);
            }
        }
    }

    /// Scores S of a case as they are written.
    fn sampled(family: Family<f64>, psi: f64, noise: f64) -> f64 {
        match family {
            Family::Weibull { k, .. } => {
                (psi - ln_gamma_of(1.0 + 1.0 / k)).exp() * (-(1.0 - noise).ln()).powf(1.0 / k)
            }
            Family::Lognormal { sigma, .. } => (psi - sigma * sigma / 2.0 + sigma * noise).exp(),
        }
    }

    /// z_j = hᵀ act(W k_j + b), act being a ReLU in the form of the code; the gradients by K, W, b and h.
    struct ContextualPrior {
        z: Vec<f64>,
        keys: Vec<f64>,
        weight: Vec<f64>,
        bias: Vec<f64>,
        h: Vec<f64>,
    }

    impl ContextualPrior {
        /// The values and, given the gradient w.r.t. z, the gradients w.r.t. all inputs of z.
        fn of(case: &Case, form: PriorForm, d_z: &[f64]) -> Self {
            let keys = case.numbers("inputs", "K");
            let [w, b, h] =
                ["W", "b", "h"].map(|x| case.numbers("parameters", &format!("prior.{x}")));
            let [d_keys, weight, bias, d_h] = [&keys, &w, &b, &h].map(|x| vec![0.0; x.len()]);
            let mut all = Self {
                z: vec![],
                keys: d_keys,
                weight,
                bias,
                h: d_h,
            };
            let width = case.size("d_k");
            for (j, key) in keys.chunks(width).enumerate() {
                all.z.push(0.0);
                for (unit, w) in w.chunks(width).enumerate() {
                    let x = dot(SIMD, w, key) + b[unit];
                    let is_on = form == Text || x > 0.0;
                    let (y, slope) = if is_on { (x, 1.0) } else { (0.0, 0.0) };
                    all.z[j] += h[unit] * y;
                    let Some(d_z) = d_z.get(j) else { continue };
                    all.h[unit] += d_z * y;
                    let d_x = d_z * h[unit] * slope;
                    all.bias[unit] += d_x;
                    for i in 0..width {
                        all.weight[unit * width + i] += d_x * key[i];
                        all.keys[j * width + i] += d_x * w[i];
                    }
                }
            }
            all
        }
    }

    /// The values of a case for every row of every step.
    #[derive(Default)]
    struct Rows {
        psi: Vec<f64>,
        s: Vec<f64>,
        omega: Vec<f64>,
        kl: Vec<f64>,
    }

    impl Rows {
        fn push(&mut self, kl: &Divergence<'_, f64>, noise: &[f64]) {
            let (scores, mut logits) = (kl.scores, kl.scores.to_vec());
            match kl.family {
                Family::Weibull { k, .. } => {
                    perturb_weibull(SIMD, kl.beta, scores, noise, k, &mut logits);
                }
                Family::Lognormal { sigma, .. } => {
                    perturb_lognormal(SIMD, kl.beta, scores, noise, sigma, &mut logits);
                }
            }
            softmax_in_place(SIMD, 1.0, &mut logits);
            self.omega.extend(logits);
            let before = self.kl.len();
            for ((&score, &noise), &m) in scores.iter().zip(noise).zip(kl.m) {
                let [score, m] = [score, m].map(|x| Pack::splat(SIMD, x));
                let psi = kl.psi(SIMD).of(score);
                self.psi.push(psi.first());
                self.s.push(sampled(kl.family, psi.first(), noise));
                self.kl.push(kl.family.row(SIMD).kl(psi, m).first());
            }
            let sum: f64 = self.kl[before..].iter().sum();
            assert!((kl.sum(SIMD) - sum).abs() < 1e-12);
        }
    }

    fn form_of(case: &Case) -> PriorForm {
        if case.word("form") == "text" {
            Text
        } else {
            Code
        }
    }

    fn assert_golden(name: &str, family: Family<f64>, noise: &str) {
        let case = Case::load(name);
        let form = form_of(&case);
        let (rho, n, d_v) = (case.constant("rho"), case.size("n"), case.size("d_v"));
        let [scores, v] = ["energies", "V"].map(|array| case.numbers("inputs", array));
        let (noise, upstream) = (
            case.numbers("noise", noise),
            case.numbers("upstream", "context"),
        );
        let z = ContextualPrior::of(&case, form, &[]).z;
        let m = prior(form, &z);
        let (mut rows, mut d_scores, mut loss) = (Rows::default(), vec![], 0.0);
        let (mut d_z, mut d_values) = (vec![0.0; n], vec![0.0; v.len()]);
        for (t, scores) in scores.chunks(n).enumerate() {
            let kl = Divergence {
                family,
                form,
                beta: 1.0,
                scores,
                m: &m,
            };
            rows.push(&kl, &noise[t * n..][..n]);
            let (omega, upstream) = (&rows.omega[t * n..], &upstream[t * d_v..][..d_v]);
            let d_omega: Vec<f64> = v.chunks(d_v).map(|v| dot(SIMD, v, upstream)).collect();
            loss += dot(SIMD, omega, &d_omega) + rho * kl.sum(SIMD);
            let [mut d_weighting, mut d_divergence, mut d_z_t] = [(); 3].map(|()| vec![0.0; n]);
            softmax_backward(SIMD, omega, &d_omega, &mut d_weighting);
            kl.backward(SIMD, rho, &mut d_divergence, &mut d_z_t);
            for (i, d_values) in d_values.chunks_mut(d_v).enumerate() {
                d_scores.push(d_weighting[i] + d_divergence[i]);
                d_z[i] += d_z_t[i];
                d_values
                    .iter_mut()
                    .zip(upstream)
                    .for_each(|(d_values, u)| *d_values += omega[i] * u);
            }
        }
        let of_prior = [("z", z), ("m", m)];
        let of_rows = [
            ("psi", rows.psi),
            ("S", rows.s),
            ("omega", rows.omega),
            ("KL", rows.kl),
        ];
        for (array, found) in of_prior.into_iter().chain(of_rows) {
            case.assert_close("outputs", array, &found);
        }
        case.assert_close("outputs", "loss", &[loss]);
        let by = ContextualPrior::of(&case, form, &d_z);
        let of_inputs = [("energies", d_scores), ("K", by.keys), ("V", d_values)];
        let of_prior = [
            ("prior.W", by.weight),
            ("prior.b", by.bias),
            ("prior.h", by.h),
        ];
        for (array, found) in of_inputs.into_iter().chain(of_prior) {
            case.assert_close("gradients", array, &found);
        }
    }

    #[test]
    fn golden_values() {
        for name in ["weibull_text", "weibull_code"] {
            assert_golden(name, WEIBULL, "u");
        }
        for name in ["lognormal_text", "lognormal_code"] {
            assert_golden(name, LOGNORMAL, "eps");
        }
    }
}
