//! Statistics over many samples of one episode, if heads sample: their weightings, and the uncertainty of the answer.

use crate::figure::Scalar;
use crate::figure::facts::column::Column;
use crate::figure::facts::family::columns_of;
use crate::figure::facts::measure::{Ends, Measure, derived};
use crate::math::Series;
use crate::model::HeadTrace;
use crate::train::uncertainty::Uncertainty;
use crate::train::{ABSENT, Recording};

/// The uncertainty over the samples of an episode, as a mean over the bits of a step.
#[rustfmt::skip] // A line for each.
static UNCERTAINTY: [Measure; 3] = [
    Measure { symbol: "H", words: "entropy of the mean, bits", array: &derived("entropy_of_mean"), from: None, ends: Ends::FromZero },
    Measure { symbol: "H", words: "mean entropy: noise, bits", array: &derived("mean_entropy"), from: None, ends: Ends::FromZero },
    Measure { symbol: "I", words: "mutual information, bits", array: &derived("mutual_information"), from: None, ends: Ends::FromZero },
];

/// The shares of the samples that lie below the two ends of a band.
const BAND: [f32; 2] = [0.05, 0.95];

/// The statistics over the samples of an episode.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Number of samples.
    pub samples: usize,
    /// The weightings of every head.
    heads: Vec<[Series<f32>; 3]>,
    /// Mean and uncertainty by step and output.
    bits: Vec<(f64, Uncertainty)>,
    outputs: usize,
    /// True in steps with a target, by step.
    asked: Vec<bool>,
}

/// Spread of the samples of a weighting over the rows of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadBand<'a> {
    /// Number of samples.
    pub samples: usize,
    /// The mean, [N].
    pub mean: &'a [f32],
    /// 5 % of the samples are below it, [N].
    pub low: &'a [f32],
    /// 5 % of the samples are above it, [N].
    pub high: &'a [f32],
}

/// Samples as they come.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Weightings by sample and head, [T, N].
    weightings: Vec<Vec<Series<f32>>>,
    /// Outputs by sample, [T, Y].
    outputs: Vec<Series<f32>>,
    /// True in steps with a target, by step.
    asked: Vec<bool>,
}

impl Samples {
    /// Returns the size of `count` samples of `steps` steps, in bytes.
    pub fn bytes(count: usize, steps: usize, heads: usize, rows: usize) -> u64 {
        let all = [count, steps, heads, rows].into_iter().map(|n| n as u64);
        all.fold(size_of::<f32>() as u64, u64::saturating_mul)
    }

    /// Adds a sample. All are of one episode and one machine; of runs that stop at different steps only common steps count.
    pub fn add(&mut self, recording: Recording) {
        let episode = &recording.episode;
        let before = self.outputs.iter().map(Series::steps).min();
        let steps = 0..before.unwrap_or(usize::MAX).min(episode.steps());
        self.asked = steps.map(|step| episode.is_scored(step)).collect();
        let heads = recording.trace.heads.into_iter();
        let weightings = heads.map(|head| head.weighting).collect();
        self.weightings.push(weightings);
        self.outputs.push(recording.trace.output);
    }

    /// All together; nothing of no samples.
    pub fn spread(&self) -> Option<Spread> {
        let (first, output) = (self.weightings.first()?, self.outputs.first()?);
        let heads = (0..first.len()).map(|head| self.band(head));
        let (steps, outputs) = (self.asked.len(), output.width());
        let places = (0..steps).flat_map(|t| (0..outputs).map(move |y| (t, y)));
        let samples = |t, y| self.outputs.iter().map(move |output| output.row(t)[y]);
        let bits = places.filter_map(|(t, y)| Uncertainty::of(samples(t, y)));
        Some(Spread {
            samples: self.outputs.len(),
            heads: heads.collect(),
            bits: bits.collect(),
            outputs,
            asked: self.asked.clone(),
        })
    }

    /// Mean, lower and upper end of the weightings of a head.
    fn band(&self, head: usize) -> [Series<f32>; 3] {
        let all: Vec<_> = self.weightings.iter().map(|heads| &heads[head]).collect();
        let mut first = all[0].clone();
        first.resize(self.asked.len());
        let mut band = [(); 3].map(|()| first.clone());
        let mut sorted = vec![0.0; all.len()];
        let end = |share: f32| ((all.len() - 1) as f32 * share).round() as usize;
        let [low, high] = BAND.map(end);
        for at in 0..band[0].as_slice().len() {
            for (value, weighting) in sorted.iter_mut().zip(&all) {
                *value = weighting.as_slice()[at];
            }
            sorted.sort_by(f32::total_cmp);
            // In 64 bits: the mean of equal values is that value.
            let sum: f64 = sorted.iter().map(|&value| f64::from(value)).sum();
            let mean = (sum / sorted.len() as f64) as f32;
            for (series, value) in band.iter_mut().zip([mean, sorted[low], sorted[high]]) {
                series.as_mut_slice()[at] = value;
            }
        }
        band
    }
}

impl Spread {
    /// Returns the spread of a head's weighting over the samples, in a step.
    pub fn band(&self, head: usize, step: usize) -> Option<SpreadBand<'_>> {
        let [mean, low, high] = self.heads.get(head)?;
        (step < mean.steps()).then(|| SpreadBand {
            samples: self.samples,
            mean: mean.row(step),
            low: low.row(step),
            high: high.row(step),
        })
    }

    /// Describes the band over the bars.
    pub fn describe(&self) -> String {
        let count = self.samples;
        format!("w over {count} samples: tick = mean, line = 5–95 %")
    }

    /// Returns the mean output of the samples in a step, and its uncertainty in bits.
    pub fn bit(&self, step: usize, output: usize) -> Option<(f64, Uncertainty)> {
        let place = step * self.outputs + output;
        (output < self.outputs).then(|| self.bits.get(place).copied())?
    }

    /// Mean uncertainty of an output bit of a step, in bits; `None` without a target.
    pub fn step(&self, step: usize) -> Option<Uncertainty> {
        self.asked.get(step).filter(|&&asked| asked)?;
        let bits = (0..self.outputs).filter_map(|output| self.bit(step, output));
        let bits: Vec<_> = bits.map(|(_, of)| of).collect();
        let mean =
            |of: fn(&Uncertainty) -> f64| bits.iter().map(of).sum::<f64>() / bits.len() as f64;
        (!bits.is_empty()).then(|| Uncertainty {
            total: mean(|of| of.total),
            noise: mean(|of| of.noise),
            model: mean(|of| of.model),
        })
    }

    /// [`Spread::step`] over `steps` steps on one scale: total, aleatoric and epistemic uncertainty.
    pub fn lines(&self, steps: usize) -> [Scalar; 3] {
        let steps: Vec<_> = (0..steps).map(|step| self.step(step)).collect();
        let values = |of: fn(&Uncertainty) -> f64| {
            let values = steps.iter().map(move |step| step.as_ref().map(of));
            values.map(|bits| bits.map_or(ABSENT, |bits| bits as f32))
        };
        let [all, noise, model] = &UNCERTAINTY;
        let all = Scalar::up(all, values(|of| of.total).collect());
        let scale = all.scale;
        let line = |of, values| Scalar { of, values, scale };
        let noise = line(noise, values(|of| of.noise).collect());
        let model = line(model, values(|of| of.model).collect());
        [all, noise, model]
    }
}

/// True for the column with the spread of the samples: the weighting that the head reads or writes with.
pub(crate) fn is_spread(head: &HeadTrace, column: &Column) -> bool {
    let last = columns_of(head).last();
    last.is_some_and(|last| std::ptr::eq(last, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;

    #[test]
    fn samples_make_a_mean_and_a_band() {
        let mut samples = Samples::default();
        assert!(samples.spread().is_none());
        for sample in 0..21 {
            let mut recording = recording();
            let share = sample as f32 / 20.0;
            recording.trace.heads[1].weighting.row_mut(2)[3] = share;
            recording.trace.output.row_mut(4)[1] = if sample == 0 { 0.0 } else { 1.0 };
            recording.trace.output.row_mut(4)[0] = 0.5;
            samples.add(recording);
        }
        // This one stopped before the others.
        let mut short = recording();
        let steps = short.episode.steps() - 1;
        short.trace.resize(steps);
        short.episode.mask.truncate(steps);
        let mut both = samples.clone();
        both.add(short);
        let band = both.spread().unwrap();
        assert!(band.band(1, steps - 1).is_some() && band.band(1, steps).is_none());
        assert_eq!(band.lines(steps + 1)[0].values.len(), steps + 1);
        let spread = samples.spread().unwrap();
        let band = spread.band(1, 2).unwrap();
        let [mean, low, high] = [band.mean[3], band.low[3], band.high[3]];
        assert!((mean - 0.5).abs() < 1e-6);
        assert_eq!((low, high, band.samples), (0.05, 0.95, 21));
        assert_eq!((band.low[5], band.high[5]), (band.mean[5], band.mean[5]));
        // A coin that all throw is noise; what one sample denies is not known.
        let (mean, coin) = spread.bit(4, 0).unwrap();
        assert_eq!(
            (mean, coin.total, coin.noise, coin.model),
            (0.5, 1.0, 1.0, 0.0)
        );
        let (_, denied) = spread.bit(4, 1).unwrap();
        assert!(denied.noise == 0.0 && denied.model > 0.2);
        assert!(spread.bit(4, 99).is_none() && spread.bit(99, 0).is_none());
        assert!(spread.band(99, 0).is_none() && spread.band(0, 99).is_none());
        assert!(spread.step(99).is_none());
    }

    #[test]
    fn uncertainty_lines_cover_answer_steps() {
        let mut samples = Samples::default();
        for answer in [0.0, 1.0] {
            let mut recording = recording();
            recording.episode.mask.fill(0.0);
            recording.episode.mask[3] = 1.0;
            for step in 0..recording.trace.steps() {
                recording.trace.output.row_mut(step).fill(answer);
            }
            samples.add(recording);
        }
        let spread = samples.spread().unwrap();
        assert!(spread.step(2).is_none());
        let [all, noise, model] = spread.lines(5);
        assert_eq!(
            [all.values[3], noise.values[3], model.values[3]],
            [1.0, 0.0, 1.0]
        );
        assert!(model.values[2].is_nan() && all.scale == model.scale);
    }
}
