//! Uncertainty in the answers of a machine that samples, and its aleatoric part.
//!
//! K samples of one episode say p_1 … p_K of an output bit, p̄ is their mean and H(p) = −p log₂ p − (1 − p) log₂(1 − p)
//! the entropy of a bit. Then
//!
//! H(p̄) = mean_k H(p_k) + I,  I = mean_k KL(p_k ‖ p̄)
//!
//! in bits: all that is uncertain; what is left of it in every single sample (*aleatoric*: noise in the data that no
//! knowledge takes away); and the mutual information of the bit and the sample, which is 0 where all samples agree
//! (*epistemic*: what the machine is unsure of). Names: Kendall and Gal 2017; decomposition: Depeweg, Hernández-Lobato,
//! Doshi-Velez and Udluft 2018, equation 2, with the samples of a machine in place of its weights.
//!
//! Whether a machine is less certain where it is wrong is measured by the area under the curve of the share of wrong
//! bits found against the share of right bits suspected, as the threshold on the uncertainty falls: the probability
//! that a wrong bit is more uncertain than a right one, equals counting one half. ½ is no better than chance.

use super::Calibration;
use crate::math::{Answer, Series};
use crate::task::Episode;

/// The uncertainty of one output bit, in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uncertainty {
    /// H of the mean of the samples: `noise` and `model` together, 0 to 1.
    pub total: f64,
    /// The mean of H over the samples, 0 to 1.
    pub noise: f64,
    /// The disagreement between samples: the mutual information, 0 to 1.
    pub model: f64,
}

/// A scored output bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bit {
    /// True where the mean of the samples is on the wrong side of one half.
    pub is_wrong: bool,
    /// The probability of what the mean of the samples decides for, 0 to 1; NaN for real values.
    pub confidence: f64,
    /// The uncertainty.
    pub uncertainty: Uncertainty,
}

/// The areas under the curve of "the bit is wrong" against each of the three, 0 to 1. `None` where all bits are right,
/// or all wrong, or an uncertainty is no number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Areas {
    /// Against [`Uncertainty::total`].
    pub total: Option<f64>,
    /// Against [`Uncertainty::noise`].
    pub noise: Option<f64>,
    /// Against [`Uncertainty::model`].
    pub model: Option<f64>,
}

/// −p log₂ p, 0 at 0.
fn surprise(p: f64) -> f64 {
    if p == 0.0 { 0.0 } else { -p * p.log2() }
}

/// The entropy of a bit that is 1 with probability p, in bits.
fn entropy(p: f64) -> f64 {
    surprise(p) + surprise(1.0 - p)
}

/// KL of a bit with probability p from one with probability q, in bits. Exactly 0 where they are equal.
fn divergence(p: f64, q: f64) -> f64 {
    gain(p, q) + gain(1.0 - p, 1.0 - q)
}

/// p log₂ (p / q), 0 at p = 0.
fn gain(p: f64, q: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * (p / q).log2() }
}

impl Uncertainty {
    /// The uncertainty of a real value, which has no probability.
    const UNKNOWN: Self = Self {
        total: f64::NAN,
        noise: f64::NAN,
        model: f64::NAN,
    };

    /// Returns the uncertainty of a bit with these probabilities of a 1 in its samples, each 0 to 1; and their mean.
    /// `None` without samples.
    pub fn of(samples: impl Iterator<Item = f32> + Clone) -> Option<(f64, Self)> {
        let count = samples.clone().count();
        let samples = samples.map(f64::from);
        let mean_of = |sum: f64| sum / count as f64;
        let mean = mean_of(samples.clone().sum());
        let uncertainty = Self {
            total: entropy(mean),
            noise: mean_of(samples.clone().map(entropy).sum()),
            // As a sum of divergences, not as a difference: samples that agree make 0 and no rounding, by which they
            // would be ranked. The last bits of a sum may be below it.
            model: mean_of(samples.map(|p| divergence(p, mean)).sum()).max(0.0),
        };
        (count > 0).then_some((mean, uncertainty))
    }

    /// [`Uncertainty::of`], of a symbol whose samples have these probabilities; up to log₂ Y bits.
    pub fn of_symbol(samples: &[&[f32]]) -> Option<(Vec<f64>, Self)> {
        let count = samples.len() as f64;
        let channel = |channel: usize| samples.iter().map(move |sample| f64::from(sample[channel]));
        let channels = 0..samples.first()?.len();
        let mean: Vec<f64> = channels
            .map(|at| channel(at).sum::<f64>() / count)
            .collect();
        let of = |at: usize, of: &dyn Fn(f64) -> f64| channel(at).map(of).sum::<f64>() / count;
        let over = |of: &dyn Fn((usize, &f64)) -> f64| mean.iter().enumerate().map(of).sum::<f64>();
        let uncertainty = Self {
            total: over(&|(_, &mean)| surprise(mean)),
            noise: over(&|(at, _)| of(at, &surprise)),
            model: over(&|(at, &mean)| of(at, &|p| gain(p, mean))).max(0.0),
        };
        Some((mean, uncertainty))
    }
}

/// The scored bits of an episode, or its symbols, step after step. `outputs`: those of each sample, [K] of [T, Y], 0 to
/// 1. None of no samples; steps that a sample lacks are left out.
pub fn bits(outputs: &[&Series<f32>], episode: &Episode) -> Vec<Bit> {
    let Episode {
        mask,
        target,
        answer,
        ..
    } = episode;
    let steps = outputs.iter().map(|output| output.steps());
    let steps = steps.chain([mask.len(), target.nrows()]).min();
    let asked = (0..steps.unwrap_or(0)).filter(|&t| mask[t] > 0.0);
    let all =
        asked.flat_map(|t| (0..answer.scored(target.ncols())).map(move |channel| (t, channel)));
    let bits = all.filter_map(|(step, channel)| match answer {
        Answer::Bits => {
            let samples = outputs.iter().map(|output| output.row(step)[channel]);
            let (mean, uncertainty) = Uncertainty::of(samples)?;
            Some(Bit {
                is_wrong: (mean > 0.5) != (target[[step, channel]] > 0.5),
                confidence: mean.max(1.0 - mean),
                uncertainty,
            })
        }
        // A value has no probability.
        Answer::Values(_) => {
            let samples = outputs.iter().map(|output| output.row(step)[channel]);
            let mean = samples.map(f64::from).sum::<f64>() / outputs.len() as f64;
            Some(Bit {
                is_wrong: answer.is_wrong(&[mean], 0, target[[step, channel]]),
                confidence: f64::NAN,
                uncertainty: Uncertainty::UNKNOWN,
            })
        }
        Answer::Symbols => {
            let samples: Vec<_> = outputs.iter().map(|output| output.row(step)).collect();
            let (mean, uncertainty) = Uncertainty::of_symbol(&samples)?;
            let mut wrong = target.row(step).into_iter().enumerate();
            Some(Bit {
                is_wrong: wrong.any(|(channel, &target)| answer.is_wrong(&mean, channel, target)),
                confidence: mean.iter().copied().fold(0.0, f64::max),
                uncertainty,
            })
        }
    });
    bits.collect()
}

/// Returns whether the bits are right as often as the mean of the samples is confident; of real values nothing.
pub fn calibration(bits: &[Bit]) -> Calibration {
    let known = bits.iter().filter(|bit| !bit.confidence.is_nan());
    Calibration::of(known.map(|bit| (bit.confidence, !bit.is_wrong)))
}

/// Returns the areas: whether the wrong ones among these bits, of one episode or many, are more uncertain.
pub fn areas(bits: &[Bit]) -> Areas {
    let against = |of: fn(&Uncertainty) -> f64| {
        area(bits.iter().map(|bit| (bit.is_wrong, of(&bit.uncertainty))))
    };
    Areas {
        total: against(|of| of.total),
        noise: against(|of| of.noise),
        model: against(|of| of.model),
    }
}

/// The area under the curve of a score that should be high where something is true: the share of pairs of a true and a
/// false one in which the true one has the higher score, equals counting one half. By the ranks of the scores (Mann and
/// Whitney 1947): O(n log n). `None` where all are true or none is, or a score is no number.
pub fn area(scored: impl Iterator<Item = (bool, f64)>) -> Option<f64> {
    let mut scored: Vec<_> = scored.collect();
    if scored.iter().any(|(_, score)| score.is_nan()) {
        return None;
    }
    // −0 equals 0.
    scored.sort_by(|(_, a), (_, b)| (a + 0.0).total_cmp(&(b + 0.0)));
    let (mut below, mut found, mut sum) = (0.0, 0.0, 0.0);
    for equals in scored.chunk_by(|(_, a), (_, b)| a == b) {
        let trues = equals.iter().filter(|(is_true, _)| *is_true).count() as f64;
        let falses = equals.len() as f64 - trues;
        sum += trues * (below + falses / 2.0);
        (below, found) = (below + falses, found + trues);
    }
    (below > 0.0 && found > 0.0).then(|| sum / (below * found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::random_vector;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    fn of(samples: &[f32]) -> (f64, Uncertainty) {
        Uncertainty::of(samples.iter().copied()).unwrap()
    }

    #[test]
    fn uncertainty_is_aleatoric_epistemic_or_zero() {
        // Each sample is sure of something else: all of it is the machine's.
        let (mean, found) = of(&[0.0, 1.0]);
        assert_eq!(
            (mean, found.total, found.noise, found.model),
            (0.5, 1.0, 0.0, 1.0)
        );
        // All throw a fair coin: all of it is noise.
        let (mean, found) = of(&[0.5; 3]);
        assert_eq!(
            (mean, found.total, found.noise, found.model),
            (0.5, 1.0, 1.0, 0.0)
        );
        let (mean, found) = of(&[1.0; 4]);
        assert_eq!((mean, found), (1.0, Uncertainty::default()));
        // H(1/4) = 2 − ¾ log₂ 3 in both samples, H(1/2) = 1 of their mean.
        let (_, found) = of(&[0.25, 0.75]);
        let noise = 2.0 - 0.75 * 3.0_f64.log2();
        close(found.noise, noise);
        close(found.total, 1.0);
        close(found.model, 1.0 - noise);
        assert_eq!(Uncertainty::of(std::iter::empty()), None);
    }

    #[test]
    fn aleatoric_and_epistemic_add_up_to_total() {
        for seed in 0..50 {
            let samples = random_vector(seed, 1 + seed as usize % 9);
            let samples: Vec<f32> = samples
                .iter()
                .map(|x| 1.0 / (1.0 + (9.0 * x).exp()) as f32)
                .collect();
            let (_, found) = of(&samples);
            close(found.noise + found.model, found.total);
            assert!(found.model >= 0.0 && (0.0..=1.0).contains(&found.total));
        }
        // Samples that agree disagree by nothing, not by the last bits of a sum.
        assert_eq!(of(&[0.123_456_7; 7]).1.model.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn only_scored_bits_count() {
        let series = |values: [f32; 4]| {
            let mut series = Series::new(2);
            series.resize(2);
            series.as_mut_slice().copy_from_slice(&values);
            series
        };
        let samples = [series([0.1, 0.9, 0.2, 0.9]), series([0.3, 0.9, 0.4, 0.5])];
        let samples = samples.each_ref();
        let target = ndarray::array![[0.0, 1.0], [1.0, 1.0]];
        let episode = |mask: [f32; 2], answer: Answer| Episode {
            input: ndarray::Array2::zeros((2, 1)),
            target: target.clone(),
            answer,
            mask: mask.into(),
            phases: Vec::new(),
            size: 2,
            repeats: 1,
            alignment: Vec::new(),
            links: crate::task::Links::default(),
        };
        let found = bits(&samples, &episode([0.0, 1.0], Answer::Bits));
        assert_eq!(found.len(), 2);
        // 0.3 on average where 1 is asked for, and 0.7.
        assert_eq!([found[0].is_wrong, found[1].is_wrong], [true, false]);
        assert_eq!(found[1].uncertainty, of(&[0.9, 0.5]).1);
        let both = episode([1.0, 1.0], Answer::Bits);
        assert_eq!(bits(&samples, &both).len(), 4);
        assert!(bits(&[], &both).is_empty());
        // A symbol is one thing: 0.2 and 0.8 on average, of which the second is right.
        let symbols = bits(&samples, &episode([1.0, 0.0], Answer::Symbols));
        assert_eq!((symbols.len(), symbols[0].is_wrong), (1, false));
        let of_bit = Uncertainty::of([0.25, 0.5].into_iter()).unwrap().1;
        let of_symbol = Uncertainty::of_symbol(&[&[0.25, 0.75], &[0.5, 0.5]])
            .unwrap()
            .1;
        close(of_symbol.total, of_bit.total);
        close(of_symbol.noise, of_bit.noise);
        close(of_symbol.model, of_bit.model);
        let areas = areas(&found);
        let less = |of: fn(&Uncertainty) -> f64| {
            let [wrong, right] = [0, 1].map(|bit: usize| of(&found[bit].uncertainty));
            Some(if wrong > right { 1.0 } else { 0.0 })
        };
        assert_eq!(areas.total, less(|of| of.total));
        assert_eq!(areas.noise, less(|of| of.noise));
        assert_eq!(areas.model, less(|of| of.model));
    }

    /// Computes it by its definition, pair by pair.
    fn counted(scored: &[(bool, f64)]) -> Option<f64> {
        let of = |wanted: bool| scored.iter().filter(move |(is_true, _)| *is_true == wanted);
        let (mut sum, mut pairs) = (0.0, 0.0);
        for ((_, high), (_, low)) in of(true).flat_map(|a| of(false).map(move |b| (a, b))) {
            pairs += 1.0;
            if high > low {
                sum += 1.0;
            } else if high >= low {
                sum += 0.5;
            }
        }
        (pairs > 0.0).then(|| sum / pairs)
    }

    #[test]
    fn area_is_the_fraction_of_ordered_pairs() {
        for seed in 0..200 {
            let count = 1 + seed as usize % 40;
            let values = random_vector(seed, 2 * count);
            let score = |x: f64| if seed % 2 == 0 { x } else { (2.0 * x).round() };
            let scored = (0..count).map(|i| (values[i] > 0.2, score(values[count + i])));
            let scored: Vec<_> = scored.collect();
            match (area(scored.iter().copied()), counted(&scored)) {
                (Some(found), Some(expected)) => close(found, expected),
                (found, expected) => assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn the_area_of_known_orders() {
        let area = |wrong: &[f64], right: &[f64]| {
            let wrong = wrong.iter().map(|&score| (true, score));
            area(wrong.chain(right.iter().map(|&score| (false, score))))
        };
        assert_eq!(area(&[0.8, 0.9], &[0.1, 0.2]), Some(1.0));
        assert_eq!(area(&[0.1], &[0.8, 0.9]), Some(0.0));
        assert_eq!(area(&[0.5, 0.5], &[0.5, 0.5, 0.5]), Some(0.5));
        assert_eq!(area(&[0.0], &[-0.0]), Some(0.5));
        // Above one, level with one, below two.
        assert_eq!(area(&[0.2], &[0.1, 0.2, 0.3, 0.4]), Some(0.375));
        assert_eq!((area(&[], &[0.1]), area(&[0.1], &[])), (None, None));
        assert_eq!(area(&[0.1], &[f64::NAN]), None);
    }
}
