//! Evaluation of a machine that samples: every episode several times, each time with other noise.

use std::sync::atomic::AtomicBool;

use super::evaluate::Evaluator;
use super::evaluate::KEPT_VALUES;
use super::loss::answers;
use super::uncertainty::{Areas, Bit, Uncertainty, areas, bits, calibration};
use crate::math::{Answer, Series};
use crate::model::{Draw, NoiseMode, Trace};
use crate::pool::Pool;
use crate::task::Episode;

/// Statistics over K samples of every episode. All in bits per sequence, except for the numbers and the areas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Episodes measured.
    pub episodes: usize,
    /// Samples of each, K.
    pub samples: u64,
    /// Cross-entropy of the answer, with the mean of the samples as the prediction.
    pub bits_of_mean: f64,
    /// The mean of the cross-entropy over the samples; never less than that of their mean.
    pub bits: f64,
    /// The mean over the episodes of the standard deviation of the cross-entropy over the samples. `None` of fewer than
    /// two samples.
    pub spread: Option<f64>,
    /// Output bits on the wrong side of one half in the mean of the samples, or wrong symbols.
    pub wrong_bits: f64,
    /// Output bits, or symbols, scored.
    pub scored_bits: f64,
    /// Summed over the scored bits.
    pub uncertainty: Uncertainty,
    /// The areas: whether wrong bits are more uncertain, over all episodes. Absent with fewer than two samples, which
    /// cannot disagree.
    pub areas: Areas,
    /// The expected calibration error of the mean of the samples, 0 to 1. `None` where no bit is scored.
    pub calibration_error: Option<f64>,
}

/// The statistics of the samples of one episode.
struct Found {
    bits_of_mean: f64,
    /// The loss of every sample.
    bits: Vec<f64>,
    scored: Vec<Bit>,
}

impl Evaluator<'_> {
    /// Draws every episode with the samples 0 .. `samples`; the result does not depend on `threads`.
    pub fn sample(&self, samples: u64, threads: usize) -> Sampled {
        let never = AtomicBool::new(false);
        let sampled = self.sample_until(samples, threads, &never);
        sampled.unwrap_or_default()
    }

    /// [`Evaluator::sample`]; `None` where `stop` is set before its last episode.
    pub fn sample_until(&self, samples: u64, threads: usize, stop: &AtomicBool) -> Option<Sampled> {
        let of = |trace: &mut Trace<f32>, index: usize| self.sampled(index as u64, samples, trace);
        let found = self.each(&Pool::new(threads.min(self.episodes)), stop, of)?;
        Some(Sampled::of(&found, samples))
    }

    fn sampled(&self, index: u64, samples: u64, trace: &mut Trace<f32>) -> Found {
        let episode = self.task.episode(self.seed, index);
        let (mut loss, mut bits_of) = (vec![0.0; episode.steps()], Vec::new());
        let (mut logits, mut outputs) = (Vec::new(), Vec::new());
        for sample in 0..samples {
            let draw = Draw {
                sample,
                sampling: NoiseMode::Sampled,
                ..Draw::of(self.seed, index)
            };
            let run = self.machine;
            run.run_to_answer(&episode, draw, KEPT_VALUES, trace, |_, _| ());
            bits_of.push(answers(&episode, trace, &mut loss).bits);
            logits.push(trace.logit.clone());
            outputs.push(trace.output.clone());
        }
        let outputs: Vec<_> = outputs.iter().collect();
        Found {
            bits_of_mean: bits_of_mean(&episode, &logits),
            bits: bits_of,
            scored: bits(&outputs, &episode),
        }
    }
}

impl Sampled {
    fn of(found: &[Found], samples: u64) -> Self {
        let count = found.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Found) -> f64| found.iter().map(of).sum::<f64>() / count;
        let scored: Vec<Bit> = found
            .iter()
            .flat_map(|found| &found.scored)
            .copied()
            .collect();
        let sum = |of: &dyn Fn(&Bit) -> f64| scored.iter().map(of).sum::<f64>() / count;
        Self {
            episodes: found.len(),
            samples,
            bits_of_mean: mean(&|found| found.bits_of_mean),
            bits: mean(&|found| mean_of(&found.bits)),
            spread: (samples > 1).then(|| mean(&|found| deviation(&found.bits))),
            wrong_bits: sum(&|bit| f64::from(u8::from(bit.is_wrong))),
            scored_bits: scored.len() as f64 / count,
            uncertainty: Uncertainty {
                total: sum(&|bit| bit.uncertainty.total),
                noise: sum(&|bit| bit.uncertainty.noise),
                model: sum(&|bit| bit.uncertainty.model),
            },
            areas: if samples > 1 {
                areas(&scored)
            } else {
                Areas::default()
            },
            calibration_error: calibration(&scored).error(),
        }
    }
}

/// −log₂ of the samples' mean probability of the right value, summed over the scored bits. From the logits, because
/// a confident sample is 0 or 1 only by rounding. Of real values the mean squared error of the samples' mean.
fn bits_of_mean(episode: &Episode, logits: &[Series<f32>]) -> f64 {
    let asked = (0..episode.steps()).filter(|&t| episode.mask[t] > 0.0);
    let weight = episode.answer.weight(episode.scored_bits());
    let of_step = |t: usize| {
        let targets = episode.target.row(t).into_iter().enumerate();
        let is_asked = |target: f32| episode.answer != Answer::Symbols || target > 0.5;
        let targets = targets.filter(move |(_, target)| is_asked(**target));
        targets.map(move |(channel, &target)| {
            if episode.answer.is_real() {
                let all = logits.iter().map(|logit| f64::from(logit.row(t)[channel]));
                let mean = all.sum::<f64>() / logits.len() as f64;
                return (mean - f64::from(target)).powi(2) * weight;
            }
            let against = logits.iter().map(move |logit| {
                let z = f64::from(logit.row(t)[channel]);
                // −ln of the probability of what was asked for.
                if episode.answer == Answer::Symbols {
                    log_sum(logit.row(t)) - z
                } else {
                    softplus(if target > 0.5 { -z } else { z })
                }
            });
            nats_of_mean(against) / std::f64::consts::LN_2
        })
    };
    asked.flat_map(of_step).sum()
}

/// −ln of the mean of exp(−x).
fn nats_of_mean(all: impl Iterator<Item = f64> + Clone) -> f64 {
    let least = all.clone().fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return least;
    }
    let shares = all.map(|x| (least - x).exp());
    let (count, sum) = shares.fold((0.0, 0.0), |(count, sum), share| (count + 1.0, sum + share));
    least - (sum / count).ln()
}

/// ln Σ exp x.
fn log_sum(values: &[f32]) -> f64 {
    let values = values.iter().map(|&x| f64::from(x));
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    most + values.map(|x| (x - most).exp()).sum::<f64>().ln()
}

/// ln(1 + exp x).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of a sample.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean_of(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len().saturating_sub(1).max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Weighting;
    use crate::model::{Model, NtmConfig};
    use crate::task::{Copy, Task};
    use crate::train::{Recording, Redundancy};

    fn task() -> Task {
        Task::Copy(Copy {
            bits: 3,
            length: 2..=6,
        })
    }

    fn machine(weighting: Weighting) -> Model<f32> {
        let task = task();
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns) = (9, 6);
        config.attention.weighting = weighting.into();
        config.attention.parameters.weibull_shape = 0.5;
        let mut machine = Model::new(config, 4);
        machine
            .params
            .slices_mut()
            .flatten()
            .for_each(|w| *w *= 3.0);
        machine
    }

    fn evaluator<'a>(machine: &'a Model<f32>, task: &'a Task) -> Evaluator<'a> {
        Evaluator {
            machine,
            task,
            redundancy: Redundancy::Off,
            head_divergence: Redundancy::Off,
            seed: 11,
            episodes: 7,
        }
    }

    #[test]
    fn samples_match_recordings_on_any_number_of_threads() {
        for weighting in [Weighting::Hard, Weighting::Weibull, Weighting::Lognormal] {
            let (machine, task) = (machine(weighting), task());
            let evaluator = evaluator(&machine, &task);
            let found = evaluator.sample(5, 2);
            assert_eq!(found, evaluator.sample(5, 1));
            assert_eq!((found.episodes, found.samples), (7, 5));
            let recorded = |index: u64, sample: u64| {
                let origin = Draw {
                    sample,
                    sampling: NoiseMode::Sampled,
                    ..Draw::of(11, index)
                };
                Recording::of(&machine, &task, task.episode(11, index), Some(origin))
            };
            let bits = (0..7).flat_map(|index| (0..5).map(move |sample| (index, sample)));
            let bits: f64 = bits
                .map(|(index, sample)| recorded(index, sample).score.bits)
                .sum();
            assert!((found.bits - bits / 35.0).abs() < 1e-4, "{found:?}");
            // Jensen: what all say together is never worse than what one says.
            assert!(found.bits_of_mean < found.bits);
            assert!(found.spread.unwrap() > 0.0 && found.uncertainty.model > 0.0);
            let of = found.uncertainty;
            assert!((of.noise + of.model - of.total).abs() < 1e-9);
            let one = evaluator.sample(1, 1);
            assert_eq!((one.spread, one.areas), (None, Areas::default()));
        }
    }

    #[test]
    fn a_deterministic_machine_gives_identical_samples() {
        let (machine, task) = (machine(Weighting::Soft), task());
        let (evaluator, threads) = (evaluator(&machine, &task), Pool::new(1));
        let (found, means) = (evaluator.sample(3, 1), evaluator.means(&threads));
        assert!((found.bits_of_mean - means.bits_per_sequence).abs() < 1e-3);
        assert!((found.bits - means.bits_per_sequence).abs() < 1e-9);
        assert!(found.spread.unwrap() < 1e-9);
        assert_eq!(found.uncertainty.model.to_bits(), 0.0_f64.to_bits());
        assert_eq!(found.wrong_bits, means.wrong_bits);
        assert_eq!(found.scored_bits, means.scored_bits);
        assert_eq!(found.areas.model, Some(0.5));
    }

    #[test]
    fn a_confident_wrong_sample_has_a_finite_loss() {
        let of = |all: &[f64]| nats_of_mean(all.iter().map(|&z| softplus(z)));
        // One of two is certain of the right value, the other of the wrong one: one bit.
        let one = of(&[-1e3, 1e3]);
        assert!((one - std::f64::consts::LN_2).abs() < 1e-12, "{one}");
        assert_eq!(of(&[1e3, 1e3]), 1e3);
        assert_eq!(of(&[-1e3]), 0.0);
        assert!(of(&[f64::INFINITY]).is_infinite());
    }
}
