//! The noise of sampling stages. It is recorded like everything else: an episode can be recomputed, verified and
//! differentiated from its trace alone.

use std::ops::Range as StepRange;

use rand::RngExt;

use super::spec::{Array, Place, Range};
use super::trace::{NoiseMode, Trace};
use crate::math::{Random, Real, Series, random};

/// Noise of an episode: its stream and mode. Each triple (seed, episode, sample) has its own random stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the episode in the run.
    pub episode: u64,
    /// Index of the sample of this episode, from 0.
    pub sample: u64,
    /// The noise mode.
    pub sampling: NoiseMode,
}

impl Draw {
    /// Returns the first sample of an episode, in the default noise mode.
    pub fn of(seed: u64, episode: u64) -> Self {
        Self {
            seed,
            episode,
            ..Self::default()
        }
    }
}

/// Source of the noise of an episode.
#[derive(Clone, Copy, Debug)]
pub enum Noise<'a, R = f32> {
    /// Noise from a stream.
    Drawn(Draw),
    /// Noise from the trace of an episode of the same length, of a machine of the same size.
    Recorded(&'a Trace<R>),
}

impl<R> From<Draw> for Noise<'_, R> {
    fn from(draw: Draw) -> Self {
        Self::Drawn(draw)
    }
}

impl Draw {
    /// The stream of the noise series with index `before` among those of a trace. A longer series begins with the same
    /// values.
    fn stream(self, before: u64) -> Random {
        // Sample, episode and series select the stream in turn. `!seed` separates it from (seed, episode), the stream of
        // the episode itself.
        let of_sample = random(!self.seed, self.sample).random();
        let of_episode = random(of_sample, self.episode).random();
        random(of_episode, before)
    }

    /// The streams of all noise series of a trace.
    pub(super) fn streams<R: Real>(self, trace: &Trace<R>) -> Vec<Random> {
        let all = (0..).zip(trace.noise());
        all.map(|(before, _)| self.stream(before)).collect()
    }
}

/// Fills these values with the next ones of a stream, or with their mean.
fn fill<R: Real>(stream: &mut Random, spec: Array, is_mean: bool, values: &mut [R]) {
    let is_normal = spec.range == Range::Normal;
    if is_mean {
        return values.fill(R::from_f64(if is_normal { 0.0 } else { 0.5 }));
    }
    let mut next = || uniform(stream.random());
    values.fill_with(|| {
        R::from_f64(if is_normal {
            normal(next(), next())
        } else {
            next()
        })
    });
}

impl<R: Real> Trace<R> {
    /// Returns the noise of an episode of this size, series by series: each has its own stream.
    pub fn drawn(&self, draw: Draw) -> impl Iterator<Item = Series<R>> {
        let is_mean = self.has_mean_noise(draw.sampling);
        (0..)
            .zip(self.noise())
            .map(move |(before, (_, spec, series))| {
                let mut drawn = series.clone();
                fill(
                    &mut draw.stream(before),
                    spec,
                    is_mean,
                    drawn.as_mut_slice(),
                );
                drawn
            })
    }

    /// True for a machine file in an episode that is not sampled: its noise is its mean.
    fn has_mean_noise(&self, sampling: NoiseMode) -> bool {
        self.tape.is_used && sampling == NoiseMode::Mean
    }

    /// Returns every noise series with its place and specification.
    pub fn noise(&self) -> impl Iterator<Item = (Place, Array, &Series<R>)> {
        let all = self.everything();
        all.filter(|(_, array, series)| is_noise(array, series))
    }

    fn noise_mut(&mut self) -> impl Iterator<Item = (Array, &mut Series<R>)> {
        let all = self.everything_mut();
        all.map(|(_, array, series)| (array, series))
            .filter(|(array, series)| is_noise(array, series))
    }

    /// Fills these steps of the noise series from their streams, from the first step on; all steps at once where the
    /// series holds all.
    pub(super) fn fill_noise(&mut self, streams: &mut [Random], steps: StepRange<usize>) {
        let is_mean = self.has_mean_noise(self.sampling);
        for (stream, (spec, series)) in streams.iter_mut().zip(self.noise_mut()) {
            if series.is_ring() {
                steps
                    .clone()
                    .for_each(|t| fill(stream, spec, is_mean, series.row_mut(t)));
            } else if steps.start == 0 {
                fill(stream, spec, is_mean, series.as_mut_slice());
            }
        }
    }
}

impl<R: Real> Noise<'_, R> {
    /// Fills every noise array of a trace, and sets the noise mode.
    pub(super) fn fill(self, trace: &mut Trace<R>) {
        match self {
            Self::Drawn(draw) => {
                trace.sampling = draw.sampling;
                let is_mean = trace.has_mean_noise(draw.sampling);
                for (before, (spec, series)) in (0..).zip(trace.noise_mut()) {
                    fill(
                        &mut draw.stream(before),
                        spec,
                        is_mean,
                        series.as_mut_slice(),
                    );
                }
            }
            Self::Recorded(from) => {
                trace.sampling = from.sampling;
                for ((_, series), (.., from)) in trace.noise_mut().zip(from.noise()) {
                    series.clone_from(from);
                }
            }
        }
    }
}

fn is_noise<R: Real>(spec: Array, series: &Series<R>) -> bool {
    matches!(spec.range, Range::Uniform | Range::Normal) && series.width() > 0
}

/// Returns a standard normal number from two uniform numbers between 0 and 1 (Box and Muller 1958).
fn normal(first: f64, second: f64) -> f64 {
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// Returns the middle of one of 2²³ equal parts of (0, 1), which an `f32` represents exactly. It is never 0 or 1, whose
/// logarithms are infinite or 0.
fn uniform(bits: u64) -> f64 {
    ((bits >> 41) as f64 + 0.5) / f64::from(1 << 23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Kind as _;
    use crate::model::{EquationsConfig, Model};
    use ndarray::Array2;

    /// A machine that draws 32 numbers in each step.
    fn machine() -> Model {
        let text = "machine \"Noise\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize rows = 32 in 1..64 \"numbers\"\n\
                    noise u[steps, rows] = uniform\nalong steps\n  z = linear[outputs](x, u) \"logit\"\n";
        let mut config = EquationsConfig::of_file("noise.machine", text).unwrap();
        config.set_channels(3, 2);
        Model::new(config, 1)
    }

    fn sampled(seed: u64, episode: u64, sample: u64) -> Draw {
        Draw {
            seed,
            episode,
            sample,
            sampling: NoiseMode::Sampled,
        }
    }

    fn noise(draw: Draw, steps: usize) -> Vec<f32> {
        let machine = machine();
        let mut trace = Trace::new(&machine.config);
        machine.run(&Array2::zeros((steps, 3)), draw, &mut trace);
        let (.., series) = trace.noise().next().unwrap();
        series.as_slice().to_vec()
    }

    #[test]
    fn every_seed_episode_and_sample_has_its_own_stream() {
        let (a, b) = (noise(sampled(1, 2, 3), 9), noise(sampled(1, 2, 3), 9));
        assert_eq!(a, b);
        // A longer episode begins with the same noise.
        assert!(noise(sampled(1, 2, 3), 12).starts_with(&a));
        for (seed, episode, sample) in [(2, 2, 3), (1, 3, 3), (1, 2, 4), (2, 1, 3)] {
            let other = noise(sampled(seed, episode, sample), 9);
            assert!(a.iter().zip(&other).filter(|(a, b)| a == b).count() < 3);
        }
    }

    #[test]
    fn noise_is_spread_evenly_between_0_and_1() {
        assert_eq!(uniform(0), 0.5 / 8_388_608.0);
        assert!((uniform(u64::MAX) as f32) < 1.0);
        assert_eq!(f64::from(uniform(u64::MAX) as f32), uniform(u64::MAX));
        let values = noise(sampled(0, 0, 0), 400);
        let mut counts = [0; 10];
        for &value in &values {
            counts[(10.0 * value) as usize] += 1;
        }
        // Of 12,800 values: 1,280 each, give or take five standard deviations.
        assert!(
            counts.iter().all(|count| (1110..1450).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn recorded_noise_is_run_again() {
        let machine = machine();
        let input = Array2::from_elem((6, 3), 1.0);
        let [mut first, mut again, mut other] = [0; 3].map(|_| Trace::new(&machine.config));
        machine.run(&input, sampled(5, 0, 0), &mut first);
        machine.run(&input, Noise::Recorded(&first), &mut again);
        machine.run(&input, sampled(0, 0, 0), &mut other);
        assert_eq!(first, again);
        assert_ne!(first.output, other.output);
    }
}
