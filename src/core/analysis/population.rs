//! Many episodes of a machine, and what is common to them: a quantity in every step, wrong bits, the next episode in
//! which something happens. Nothing depends on the number of threads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::expression::Checked;
use crate::math::Answer;
use crate::model::{Draw, Model};
use crate::pool::Pool;
use crate::task::Task;
use crate::train::Recording;

/// Episodes of a machine, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    /// The machine.
    pub machine: &'a Model<f32>,
    /// The task.
    pub task: &'a Task,
    /// The first episode.
    pub first: Draw,
    /// The number of episodes.
    pub episodes: u64,
    /// Threads to use.
    pub threads: usize,
}

/// The shares of episodes at or below the five numbers of a [`Band`].
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A quantity in one step, over all episodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// The phase of the step.
    pub phase: Cow<'static, str>,
    /// The step, counted from the first of the phase.
    pub step: usize,
    /// The number of episodes that have this step and a value in it.
    pub episodes: usize,
    /// The mean.
    pub mean: f64,
    /// The [`QUANTILES`]: values of episodes, nearest in rank.
    pub quantiles: [f64; 5],
    /// The index of the episode with the highest value, the first of equals.
    pub highest: u64,
}

/// A step, by the place and the name of its phase, counted from the first step of the phase.
type InPhase = (usize, Cow<'static, str>, usize);

/// Episodes in sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The quantity in every step, aligned at the beginning of each phase, with the index of the episode.
    values: BTreeMap<InPhase, Vec<(f64, u64)>>,
    /// The scored bits and the wrong ones among them, by position in the answer and channel, or symbols by the right one:
    /// [P][Y][2].
    pub wrong: Vec<Vec<[u64; 2]>>,
    /// The wrong bits of each episode, with its index.
    pub episodes: Vec<(usize, u64)>,
}

impl Summary {
    /// A single episode, with index 0.
    pub fn of(recording: &Recording, quantity: Option<&Checked>) -> Self {
        let (mut sum, episode) = (Self::default(), &recording.episode);
        for (place, phase) in episode.phases.iter().enumerate() {
            for step in phase.start..phase.end {
                let value = quantity.and_then(|quantity| quantity.values(recording, step));
                let at = (place, phase.name.clone(), step - phase.start);
                let value = value.map(|value| (at, vec![(value[0], 0)]));
                sum.values.extend(value);
            }
        }
        for step in (0..episode.steps()).filter(|step| episode.is_scored(*step)) {
            let channels = episode.target.row(step);
            let channels = channels.iter().enumerate().map(|(channel, target)| {
                let (is_scored, is_wrong) = match episode.answer {
                    Answer::Bits | Answer::Values(_) => (true, recording.is_wrong(step, channel)),
                    Answer::Symbols => (*target > 0.5, recording.wrong_bits(step) > 0),
                };
                [is_scored, is_scored && is_wrong].map(u64::from)
            });
            sum.wrong.push(channels.collect());
        }
        sum.episodes.push((recording.score.wrong, 0));
        sum
    }

    /// Adds a single episode, under this index.
    pub fn add(&mut self, index: u64, one: Self) {
        for (at, values) in one.values {
            let values = values.into_iter().map(|(value, _)| (value, index));
            self.values.entry(at).or_default().extend(values);
        }
        let positions = self.wrong.len().max(one.wrong.len());
        self.wrong.resize(positions, Vec::new());
        for (sums, channels) in self.wrong.iter_mut().zip(one.wrong) {
            sums.resize(channels.len(), [0; 2]);
            for (sum, one) in sums.iter_mut().flatten().zip(channels.iter().flatten()) {
                *sum += one;
            }
        }
        let wrong = one.episodes.into_iter().map(|(wrong, _)| (wrong, index));
        self.episodes.extend(wrong);
    }

    /// The quantity in every step, over all episodes.
    pub fn bands(&self) -> Vec<Band> {
        let band = |((_, phase, step), all): (&InPhase, &Vec<(f64, u64)>)| {
            let mut all = all.clone();
            // The first of equals is the last of them in this order.
            all.sort_by(|(a, first), (b, second)| a.total_cmp(b).then(second.cmp(first)));
            let values: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
            let nearest = |share: f64| ((values.len() - 1) as f64 * share).round() as usize;
            Some(Band {
                phase: phase.clone(),
                step: *step,
                episodes: values.len(),
                mean: values.iter().sum::<f64>() / values.len() as f64,
                quantiles: QUANTILES.map(|share| values[nearest(share)]),
                highest: all.last()?.1,
            })
        };
        self.values.iter().filter_map(band).collect()
    }
}

impl Population<'_> {
    fn record(&self, index: u64) -> Recording {
        let episode = self.first.episode.wrapping_add(index);
        let draw = Draw {
            episode,
            ..self.first
        };
        let episode = self.task.episode(draw.seed, draw.episode);
        Recording::of(self.machine, self.task, episode, Some(draw))
    }

    /// Something of every episode, in their order; `None` where `stop` is set before the last one.
    pub(super) fn each<T: Send>(
        &self,
        stop: &AtomicBool,
        of: impl Fn(&Recording) -> T + Sync,
    ) -> Option<Vec<T>> {
        let one = |index| (!stop.load(Ordering::Relaxed)).then(|| of(&self.record(index)));
        let episodes = (0..self.episodes).into_par_iter();
        Pool::new(self.threads).install(|| episodes.map(one).collect())
    }

    /// The episodes in sum, with a quantity in every step if one is given; see
    /// [`super::expression::Expression::quantity`]. `None` where `stop` is set before the last episode.
    pub fn summary(&self, quantity: Option<&Checked>, stop: &AtomicBool) -> Option<Summary> {
        let of = |recording: &Recording| Summary::of(recording, quantity);
        let mut sum = Summary::default();
        for (index, one) in (0..).zip(self.each(stop, of)?) {
            sum.add(self.first.episode.wrapping_add(index), one);
        }
        Some(sum)
    }

    /// The index of the first episode in which a condition holds, and the steps; see
    /// [`super::expression::Expression::condition`].
    pub fn first_match(&self, condition: &Checked) -> Option<(u64, Vec<usize>)> {
        let of_episode = |index| {
            let steps: Vec<usize> = condition.matches(&self.record(index)).collect();
            let index = self.first.episode.wrapping_add(index);
            (!steps.is_empty()).then_some((index, steps))
        };
        let episodes = (0..self.episodes).into_par_iter();
        Pool::new(self.threads).install(|| episodes.find_map_first(of_episode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::expression::Expression;
    use crate::model::{EquationsConfig, ModelConfig, NtmConfig, Trace};
    use crate::task::{Copy, Transduce};

    /// A machine with bits and one with symbols, which knows nothing, and the lengths of whose episodes differ.
    fn machines() -> [(Model<f32>, Task); 2] {
        let copy = Task::Copy(Copy {
            bits: 3,
            length: 1..=6,
        });
        let mut ntm = NtmConfig::new(copy.inputs(), copy.outputs());
        (ntm.rows, ntm.columns) = (8, 5);
        let transduce = Task::Transduce(Transduce::DEFAULT);
        let channels = [transduce.inputs(), transduce.outputs()];
        let lstmn = EquationsConfig::included("lstmn_fusion", channels, &[]).unwrap();
        let configs = [
            (ModelConfig::from(ntm), copy),
            (ModelConfig::from(lstmn), transduce),
        ];
        configs.map(|(config, task)| (Model::new(config, 4), task))
    }

    fn checked(text: &str, machine: &Model<f32>) -> Checked {
        let expression = Expression::parse(text).unwrap();
        expression.quantity(&Trace::new(&machine.config)).unwrap()
    }

    #[test]
    fn populations_equal_their_episodes_on_any_number_of_threads() {
        let never = AtomicBool::new(false);
        for (machine, task) in &machines() {
            let population = |threads| Population {
                machine,
                task,
                first: Draw::of(9, 5),
                episodes: 12,
                threads,
            };
            let recordings: Vec<_> = (5..17)
                .map(|i| Recording::new(machine, task, 9, i))
                .collect();
            let entropy = checked("entropy(read0.weighting)", machine);
            let summary = population(1).summary(Some(&entropy), &never).unwrap();
            let (bands, wrong) = (summary.bands(), summary.wrong.clone());
            let late = checked("step > 12 and changes(argmax(output))", machine);
            let found = population(1).first_match(&late);
            for threads in [2, 3] {
                let other = population(threads);
                assert_eq!(other.summary(Some(&entropy), &never).unwrap(), summary);
                assert_eq!(other.first_match(&late), found);
            }

            let mut measured = 0;
            for band in &bands {
                let mut values = Vec::new();
                for (index, recording) in (5..).zip(&recordings) {
                    let mut phases = recording.episode.phases.iter();
                    let phase = phases.find(|phase| phase.name == band.phase);
                    if let Some(phase) = phase
                        && phase.start + band.step < phase.end
                    {
                        let value = entropy.values(recording, phase.start + band.step);
                        values.push((value.unwrap()[0], index));
                    }
                }
                assert_eq!(values.len(), band.episodes);
                measured += values.len();
                let highest = values.iter().map(|(value, _)| *value).fold(-1.0, f64::max);
                let mut indices = values.iter().filter(|(value, _)| *value == highest);
                assert_eq!(indices.next(), Some(&(highest, band.highest)));
                let values: Vec<f64> = values.into_iter().map(|(value, _)| value).collect();
                let half = values.len() / 2;
                let below = values.iter().filter(|value| **value < band.quantiles[2]);
                let above = values.iter().filter(|value| **value > band.quantiles[2]);
                assert!(below.count() <= half && above.count() <= half);
                assert!(band.quantiles.is_sorted() && band.quantiles[4] <= highest);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                assert!((band.mean - mean).abs() < 1e-12);
            }
            let steps = recordings.iter().map(|recording| recording.episode.steps());
            assert_eq!(measured, steps.sum::<usize>());

            let all = wrong.concat().into_iter();
            let [scored, wrong]: [u64; 2] =
                [0, 1].map(|kind: usize| all.clone().map(|sums| sums[kind]).sum());
            let score =
                |of: fn(&Recording) -> usize| recordings.iter().map(of).sum::<usize>() as u64;
            assert_eq!(scored, score(|of| of.score.scored));
            assert_eq!(wrong, score(|of| of.score.wrong));
            assert!(wrong > 0);
            let each = recordings.iter().map(|recording| recording.score.wrong);
            assert_eq!(summary.episodes, each.zip(5..).collect::<Vec<_>>());

            let first = (5..).zip(&recordings).find_map(|(episode, recording)| {
                let matches: Vec<_> = late.matches(recording).collect();
                (!matches.is_empty()).then_some((episode, matches))
            });
            assert_eq!(found, first);
        }
    }

    #[test]
    fn stopping_ends_a_population() {
        let (machine, task) = &machines()[0];
        let population = Population {
            machine,
            task,
            first: Draw::of(9, u64::MAX),
            episodes: 3,
            threads: 2,
        };
        let stop = AtomicBool::new(true);
        let loss = checked("loss", machine);
        assert_eq!(population.summary(Some(&loss), &stop), None);
        assert!(population.summary(None, &AtomicBool::new(false)).is_some());
    }
}
