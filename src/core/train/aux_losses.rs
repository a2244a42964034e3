//! Auxiliary losses, each reported separately from the bits, and the loss terms of sampling heads.

use std::ops::Range;

use super::config::{HardEstimator, TrainingConfig};
use crate::math::{Real, Series, random};
use crate::model::weighting::bayesian::DIVERGENCE;
use crate::model::{Draw, NoiseMode, Terms, Told, Trace};
use rand::RngExt;

/// The auxiliary losses of an episode, or their means over several; `None` if absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxLosses {
    /// The redundancy of the heads, the mean over the steps (Lin et al. 2017, equation 8).
    pub redundancy: Option<f64>,
    /// The divergence of the heads, which training subtracts, nats, the mean over the steps.
    pub head_divergence: Option<f64>,
    /// The divergence of Bayesian heads from their priors, nats, summed over heads, steps and rows (Fan et al. 2020).
    pub divergence: Option<f64>,
    /// The reward of hard heads minus the moving baseline: ln p(y|s) − b, nats (Xu et al. 2015). Absent in evaluations,
    /// which have no baseline.
    pub reward: Option<f64>,
    /// The agreement with the machine in the opposite direction, −min(I, J) to 0 (Cohn et al. 2016). Absent in evaluations.
    pub agreement: Option<f64>,
    /// The penalties of a machine file, summed; without reward, and with the weights that they have at the end of training.
    pub penalty: Option<f64>,
}

impl AuxLosses {
    /// The names of the auxiliary losses, in the order of reports.
    pub const NAMES: [&'static str; 6] = [
        "redundancy",
        "head_divergence",
        "divergence",
        "reward",
        "agreement",
        "penalty",
    ];

    /// Returns the losses in the order of [`AuxLosses::NAMES`].
    pub fn each(&self) -> [Option<f64>; 6] {
        let mut all = *self;
        all.each_mut().map(|loss| *loss)
    }

    /// [`AuxLosses::each`], mutable.
    pub fn each_mut(&mut self) -> [&mut Option<f64>; 6] {
        let Self {
            redundancy,
            head_divergence,
            divergence,
            reward,
            agreement,
            penalty,
        } = self;
        [
            redundancy,
            head_divergence,
            divergence,
            reward,
            agreement,
            penalty,
        ]
    }

    /// Sums each loss; a loss that one of them lacks is absent from the sum.
    pub fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.reduce(|mut sum, other| {
            for (sum, other) in sum.each_mut().into_iter().zip(other.each()) {
                *sum = sum.zip(other).map(|(a, b)| a + b);
            }
            sum
        })
        .unwrap_or_default()
    }

    /// Divides each loss by a number.
    pub fn over(mut self, count: f64) -> Self {
        for value in self.each_mut() {
            *value = value.map(|sum| sum / count);
        }
        self
    }
}

impl TrainingConfig {
    /// Returns the noise of a training episode: its stream and its mode. `is_random`: any head samples; `is_hard`: a head
    /// samples its row.
    pub(super) fn draw(&self, is_random: bool, is_hard: bool, index: u64) -> Draw {
        // A separate stream: the mode does not depend on the noise.
        let chance = || random(self.seed ^ EXPECTED, index).random::<f64>();
        let sampling = if !is_random {
            NoiseMode::Mean
        } else if is_hard && chance() < self.expected_share(index) {
            NoiseMode::Expected
        } else {
            NoiseMode::Sampled
        };
        Draw {
            sampling,
            ..Draw::of(self.seed, index)
        }
    }

    /// Returns the share of expected episodes at this sequence: it falls linearly over the first `hard.warmup`.
    fn expected_share(&self, index: u64) -> f64 {
        let last = self.hard.expected;
        last + (1.0 - last) * (1.0 - risen(index, self.hard.warmup))
    }

    /// Returns the weights of the loss terms of sampling heads, each multiplied by `scale`.
    ///
    /// The weight of the divergence rises linearly over the first `bayesian.warmup` sequences. The reward has a weight only
    /// where rows are sampled; it is ln p(y|s) with its baseline.
    pub(super) fn terms(
        &self,
        sampling: NoiseMode,
        reward: Option<[f64; 2]>,
        scale: f64,
        sequences: u64,
    ) -> Terms<f32> {
        let risen = risen(sequences, self.bayesian.warmup);
        let straight_through = self.hard.estimator == HardEstimator::StraightThrough;
        let [log_p, baseline] = reward.unwrap_or_default();
        let reward = match sampling {
            NoiseMode::Sampled if !straight_through => self.hard.reward * (log_p - baseline),
            _ => 0.0,
        };
        let scaled = |weight: f64| f32::from_f64(scale * weight);
        Terms {
            divergence: scaled(self.bayesian.weight * risen),
            reward: scaled(reward),
            straight_through,
            entropy: scaled(self.hard.entropy),
            penalty: scaled(1.0),
            told: Told {
                reward: log_p,
                baseline,
                warm_up: risen,
            },
        }
    }
}

/// Linear rise from 0 to 1 over a warm-up, both in sequences.
fn risen(sequences: u64, warmup: u64) -> f64 {
    if warmup == 0 {
        1.0
    } else {
        (sequences as f64 / warmup as f64).min(1.0)
    }
}

/// Stream that selects the episodes with expected weighting.
const EXPECTED: u64 = 0x0E59_EC7E_D000_0000;

/// The divergences of every Bayesian head.
fn divergences<R: Real>(trace: &Trace<R>) -> impl Iterator<Item = &Series<R>> {
    let heads = trace.heads.iter();
    heads.filter_map(|head| head.series(DIVERGENCE))
}

/// [`WeightLosses`] of a whole episode, without allocations for most machines.
pub(super) fn weight_losses<R: Real>(trace: &Trace<R>) -> AuxLosses {
    let steps = 0..trace.steps();
    let add = |sum: f64, value: &Series<R>, t: usize| sum + value[t].to_f64();
    let of_heads = divergences(trace);
    let of_heads = of_heads.map(|series| steps.clone().fold(0.0, |sum, t| add(sum, series, t)));
    AuxLosses {
        divergence: of_heads.reduce(|a, b| a + b),
        penalty: trace.penalty(),
        ..AuxLosses::default()
    }
}

/// The auxiliary losses of an episode that its weights add up to, step by step.
#[derive(Debug, Default)]
pub(super) struct WeightLosses {
    /// The divergence of every Bayesian head.
    divergences: Vec<f64>,
}

impl WeightLosses {
    /// Follows these steps, the next ones of the episode.
    pub(super) fn add_steps<R: Real>(&mut self, trace: &Trace<R>, steps: Range<usize>) {
        self.divergences.resize(divergences(trace).count(), 0.0);
        for (sum, series) in self.divergences.iter_mut().zip(divergences(trace)) {
            steps.clone().for_each(|t| *sum += series[t].to_f64());
        }
    }

    /// Returns these losses; those that the machine lacks are absent.
    pub(super) fn losses<R: Real>(&self, trace: &Trace<R>) -> AuxLosses {
        AuxLosses {
            divergence: self.divergences.iter().copied().reduce(|a, b| a + b),
            penalty: trace.penalty(),
            ..AuxLosses::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> TrainingConfig {
        let mut config = TrainingConfig::default();
        (config.hard.reward, config.hard.entropy) = (0.3, 0.02);
        (config.bayesian.weight, config.bayesian.warmup) = (4.0, 1000);
        config
    }

    #[test]
    fn divergence_weight_warms_up_to_its_configured_value() {
        let mut config = config();
        let of = |config: &TrainingConfig, sequences| {
            let terms = config.terms(NoiseMode::Sampled, None, 0.5, sequences);
            terms.divergence
        };
        let risen = [0, 500, 1000, 9000].map(|sequences| of(&config, sequences));
        assert_eq!(risen, [0.0, 1.0, 2.0, 2.0]);
        config.bayesian.warmup = 0;
        assert_eq!(of(&config, 0), 2.0);
    }

    #[test]
    fn reward_applies_only_to_sampled_rows() {
        let config = config();
        let of = |sampling, reward| config.terms(sampling, reward, 0.5, 0);
        let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-6;
        assert!(near(
            of(NoiseMode::Sampled, Some([-3.0, -1.0])).reward,
            0.5 * 0.3 * -2.0
        ));
        for (sampling, reward) in [
            (NoiseMode::Expected, Some([-3.0, -1.0])),
            (NoiseMode::Mean, Some([-3.0, -1.0])),
            (NoiseMode::Sampled, None),
        ] {
            assert_eq!(of(sampling, reward).reward, 0.0);
            assert!(!of(sampling, reward).straight_through);
            assert!(near(of(sampling, reward).entropy, 0.5 * 0.02));
        }
    }

    #[test]
    fn straight_through_has_no_reward() {
        let mut config = config();
        config.hard.estimator = HardEstimator::StraightThrough;
        let terms = config.terms(NoiseMode::Sampled, Some([-3.0, -1.0]), 0.5, 0);
        assert_eq!((terms.reward, terms.straight_through), (0.0, true));
        assert!((f64::from(terms.entropy) - 0.5 * 0.02).abs() < 1e-6);
    }

    #[test]
    fn fraction_of_expected_episodes_matches_the_configuration() {
        let of = |is_random, is_hard, share| {
            let mut config = config();
            config.hard.expected = share;
            let draw = |index| config.draw(is_random, is_hard, index);
            let all = (0..10_000).map(|index| draw(index).sampling);
            let mut counts = [0; 3];
            for sampling in all {
                counts[sampling as usize] += 1;
            }
            counts.map(|count| f64::from(count) / 1e4)
        };
        let [mean, drawn, expected] =
            [NoiseMode::Mean, NoiseMode::Sampled, NoiseMode::Expected].map(|one| one as usize);
        assert_eq!(of(false, false, 0.5)[mean], 1.0);
        assert_eq!(of(true, false, 0.5)[drawn], 1.0);
        assert_eq!(of(true, true, 0.0)[drawn], 1.0);
        assert_eq!(of(true, true, 1.0)[expected], 1.0);
        let mut config = config();
        (config.hard.expected, config.hard.warmup) = (0.2, 100);
        let shares = [0, 50, 100, 900].map(|index| config.expected_share(index));
        for (found, wanted) in shares.into_iter().zip([1.0, 0.6, 0.2, 0.2]) {
            assert!((found - wanted).abs() < 1e-12, "{found}");
        }
        let found = of(true, true, 0.2);
        // The seed is fixed: five standard errors are room enough for any other.
        assert!((found[expected] - 0.2).abs() < 5.0 * (0.2_f64 * 0.8 / 1e4).sqrt());
        assert_eq!(found[mean], 0.0);
    }
}
