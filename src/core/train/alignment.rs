//! Agreement of attention weights with a known alignment (Koehn and Knowles 2017, §3.5).
//!
//! An answer step with an alignment comes from one or several neighbouring source steps: offset 0. The steps beside them
//! have the offsets −1, −2, … before and 1, 2, … after.

use std::ops::Range;

use crate::model::attention::Sees;
use crate::model::{ModelConfig, peak};
use crate::task::{Link, Links};

/// The offsets that are reported, in order.
pub const OFFSETS: [isize; 5] = [-2, -1, 0, 1, 2];

/// Agreement of the weights of a read head with the true alignment, over answer steps that have one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AlignmentScore {
    /// Answer steps with an alignment.
    pub steps: usize,
    /// |A|, |S|, |A ∩ S| and |A ∩ P|: see [`AlignmentScore::error_rate`].
    links: [usize; 4],
    /// Sum of the weights at each of [`OFFSETS`].
    mass: [f64; 5],
    /// Steps whose largest weight is at each of [`OFFSETS`].
    peaks: [usize; 5],
}

impl AlignmentScore {
    /// Scores the weights of these steps, [T, S], by their rows; the alignment is that of
    /// [`Generate`](crate::task::Generate::alignment), and `links` those of [`Episode`](crate::task::Episode::links).
    pub fn add_steps<'a>(
        &mut self,
        weights: impl Fn(usize) -> &'a [f32],
        alignment: &[Option<Range<usize>>],
        links: &Links,
        steps: Range<usize>,
    ) {
        let best = |t: usize| peak(weights(t)).map(|(step, _)| step);
        let all = alignment.iter().enumerate().take(steps.end);
        for (t, right) in all.skip(steps.start) {
            let Some(right) = right else { continue };
            let (row, best) = (weights(t), best(t));
            self.steps += 1;
            let mut is_right = false;
            for (index, offset) in OFFSETS.into_iter().enumerate() {
                let is_there = |step: &usize| distance(*step, right) == offset;
                let there = (0..row.len()).filter(is_there);
                self.mass[index] += there.map(|step| f64::from(row[step])).sum::<f64>();
                let is_peak = best.is_some_and(|step| is_there(&step));
                self.peaks[index] += usize::from(is_peak);
                is_right |= is_peak && offset == 0;
            }
            if !links.are_known() {
                let hit = usize::from(is_right);
                self.count([1, 1, hit, hit]);
            }
        }
        let tokens = links.tokens.clone().filter(|t| steps.contains(t));
        let found = tokens.map(|t| named(weights(t)).count()).sum();
        self.count([found, 0, 0, 0]);
        for Link {
            ends: [from, t],
            is_sure,
        } in &links.all
        {
            if steps.contains(t) {
                let hit = usize::from(named(weights(*t)).any(|step| step == *from));
                let sure = usize::from(*is_sure);
                self.count([0, sure, hit * sure, hit]);
            }
        }
    }

    fn count(&mut self, more: [usize; 4]) {
        let all = self.links.iter_mut().zip(more);
        all.for_each(|(sum, more)| *sum += more);
    }

    /// The score over the steps of all of these.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, score| {
            sum.steps += score.steps;
            sum.count(score.links);
            for index in 0..OFFSETS.len() {
                sum.mass[index] += score.mass[index];
                sum.peaks[index] += score.peaks[index];
            }
            sum
        })
    }

    /// The alignment error rate 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003). A has the source step of the
    /// largest weight of each token of the answer, or all links of one whose weights are those of links: equal or 0. S has the
    /// sure links, P these and the possible ones. Where no links are known, but the source steps of each answer are, each of
    /// these counts as one link.
    pub fn error_rate(&self) -> f64 {
        let [found, sure, sure_hits, hits] = self.links;
        1.0 - (sure_hits + hits) as f64 / (found + sure).max(1) as f64
    }

    /// The mean weight at each of [`OFFSETS`].
    pub fn mass(&self) -> [f64; 5] {
        self.mass.map(|sum| sum / self.steps.max(1) as f64)
    }

    /// The share of the steps whose largest weight is at each of [`OFFSETS`].
    pub fn arg_max(&self) -> [f64; 5] {
        self.peaks
            .map(|count| count as f64 / self.steps.max(1) as f64)
    }

    /// The offset of the largest mean weight, if it is −1 or 1: the machine is off by one.
    pub fn off_by_one(&self) -> Option<isize> {
        let best = [2, 1, 3, 0, 4].into_iter().reduce(|best, other| {
            if self.mass[other] > self.mass[best] {
                other
            } else {
                best
            }
        });
        best.map(|index| OFFSETS[index])
            .filter(|offset| offset.abs() == 1)
    }
}

/// The source steps that weights name: that of the largest, or all of which the weights are equal where the others are 0.
fn named(weights: &[f32]) -> impl Iterator<Item = usize> {
    let (best, most) = peak(weights).filter(|(_, most)| *most > 0.0).unzip();
    let are_links = weights
        .iter()
        .all(|weight| *weight == 0.0 || Some(*weight) == most);
    let is_named =
        move |step: usize, weight: f32| Some(step) == best || are_links && Some(weight) == most;
    let all = weights.iter().enumerate();
    all.filter_map(move |(step, weight)| is_named(step, *weight).then_some(step))
}

/// Steps from the nearest right one: 0 inside, negative before.
fn distance(step: usize, right: &Range<usize>) -> isize {
    let last = right.end.saturating_sub(1);
    let nearest = step.clamp(right.start.min(last), last);
    step.cast_signed() - nearest.cast_signed()
}

/// True for a machine with one read head on a memory with a row per step, or of whose heads the first one attends to the source;
/// and for a machine file with such a weighting.
pub fn has_single_reader(config: &ModelConfig) -> bool {
    if config.reader().is_some() {
        return true;
    }
    let is_first = config.heads() > 0 && config.mechanism(0).sees == Some(Sees::Source);
    config.has_row_per_step() && (config.read_heads() == 1 || is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model, NtmConfig};
    use crate::task::{AssociativeRecall, Copy, Frames, HeldOut, Pair, Pairs, Task, Tokens};
    use crate::train::{Evaluator, Redundancy};
    use std::sync::Arc;

    fn score_of<'a>(
        weights: impl Fn(usize) -> &'a [f32],
        alignment: &[Option<Range<usize>>],
    ) -> AlignmentScore {
        let mut score = AlignmentScore::default();
        score.add_steps(weights, alignment, &Links::default(), 0..alignment.len());
        score
    }

    #[test]
    fn the_error_rate_is_that_of_och_and_ney() {
        // The source token of the largest weight of each target token, the links, and the rate by hand.
        let cases: [(&[usize], &str, f64); 8] = [
            (&[1], "0-0 3-0", 1.0),
            (&[0, 1, 2, 3], "0-0", 1.0 - 2.0 / 5.0),
            (&[1, 2], "0-0 2-0 2-1", 1.0 - 2.0 / 5.0),
            (&[1, 2], "0-0 3p0 2-1", 1.0 - 2.0 / 4.0),
            (&[0, 1, 2], "0-0 1-0 1-1 2-2", 1.0 - 6.0 / 7.0),
            (&[0, 1, 1, 2], "0-0 1p1 3-2 2p3", 1.0 - 4.0 / 6.0),
            (&[1, 1, 2], "0-0 1p0 1p1 2-2", 1.0 - 4.0 / 5.0),
            (&[2, 2, 0], "0-0 1p0 1p1 2-2", 1.0),
        ];
        let parse = |line: &str| Pair::parse(line, Tokens::Words).unwrap();
        for (best, links, wanted) in cases {
            let [source, target] =
                [("a", 4), ("x", best.len())].map(|(token, count)| vec![token; count].join(" "));
            let line = parse(&format!("{source}\t{target}\t{links}"));
            let mut task = Pairs::NONE;
            task.held_out = HeldOut::Last(1);
            let lines = vec![line.clone(), parse("a\tx")];
            let episode = task.with(Arc::new(lines)).unwrap().episode_of(&line);
            let weights = |best: &usize| [0, 1, 2, 3].map(|row| f32::from(u8::from(row == *best)));
            let rows: Vec<[f32; 4]> = best.iter().map(weights).collect();
            let mut score = AlignmentScore::default();
            let steps = 5..5 + best.len();
            assert_eq!(episode.links.tokens, steps);
            score.add_steps(|t| &rows[t - 5], &episode.alignment, &episode.links, steps);
            let rate = score.error_rate();
            assert!((rate - wanted).abs() < 1e-12, "{links}: {rate}");
        }
    }

    #[test]
    fn all_links_of_another_aligner_count() {
        // Links found and known of three tokens, and the rate by hand.
        for (found, known, wanted) in [
            ("0-0 2-0 1-1", "0-0 2-0 1-1", 0.0),
            ("0-0 1-1", "0-0 1-1", 0.0),
            ("0-0 1-0 2-2", "0-0 1-0 2-2 1-1", 1.0 - 6.0 / 7.0),
            ("0-0 1-0 2-0 1-1 2-2", "0-0 2-2 1-1", 1.0 - 6.0 / 8.0),
            ("", "0-0", 1.0),
        ] {
            let parse = |links: &str| Link::parse_all(links.split_whitespace(), [3, 3], 0).unwrap();
            let mut rows = [[0.0_f32; 3]; 3];
            for Link {
                ends: [from, to], ..
            } in parse(found)
            {
                rows[to][from] = 1.0;
            }
            for row in &mut rows {
                let count = row.iter().sum::<f32>().max(1.0);
                row.iter_mut().for_each(|weight| *weight /= count);
            }
            let links = Links::between_tokens(&parse(known), 0..3);
            let [alignment, _] = links.by_step(3);
            let mut score = AlignmentScore::default();
            score.add_steps(|t| &rows[t], &alignment, &links, 0..3);
            let rate = score.error_rate();
            assert!((rate - wanted).abs() < 1e-12, "{found}, {known}: {rate}");
        }
    }

    #[test]
    fn mass_and_arg_max_are_counted_by_offset() {
        let weights = [
            [0.1, 0.2, 0.4, 0.3, 0.0, 0.0],
            [0.0, 0.6, 0.1, 0.1, 0.1, 0.1],
            [0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
        ];
        // The second step comes from three source steps, the last from none.
        let score = score_of(|t| &weights[t], &[Some(2..3), Some(2..5), None]);
        assert_eq!(score.steps, 2);
        let close = |found: [f64; 5], wanted: [f64; 5]| {
            let mut pairs = found.into_iter().zip(wanted);
            assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        close(score.mass(), [0.05, 0.4, 0.35, 0.2, 0.0]);
        close(score.arg_max(), [0.0, 0.5, 0.5, 0.0, 0.0]);
        assert!((score.error_rate() - 0.5).abs() < 1e-12);
        assert_eq!(score.off_by_one(), Some(-1));
        let twice = AlignmentScore::sum([score, score]);
        assert_eq!((twice.steps, twice.error_rate()), (4, 0.5));
        assert_eq!(twice.mass(), score.mass());
    }

    #[test]
    fn a_shifted_alignment_is_off_by_one_and_a_right_or_distant_one_is_not() {
        let steps = 6;
        let identity: Vec<Vec<f32>> = (0..steps)
            .map(|t| {
                (0..steps)
                    .map(|row| f32::from(u8::from(row == t)))
                    .collect()
            })
            .collect();
        for (shift, off, error) in [(0, None, 0.0), (1, Some(1), 1.0), (2, None, 1.0)] {
            let alignment: Vec<_> = (0..steps)
                .map(|t: usize| t.checked_sub(shift).map(|row| row..row + 1))
                .collect();
            let score = score_of(|t| &identity[t], &alignment);
            assert_eq!((score.off_by_one(), score.error_rate()), (off, error));
        }
        // The first step before and the right one are equal.
        let score = score_of(|_| &[0.5, 0.5], &[Some(1..2)]);
        assert_eq!(score.off_by_one(), None);
        let none = AlignmentScore::default();
        assert_eq!((none.off_by_one(), none.mass()), (None, [0.0; 5]));
    }

    #[test]
    fn evaluations_score_machines_that_attend_to_the_source() {
        let measured = |machine: &Model<f32>, task: &Task| {
            let evaluator = Evaluator {
                machine,
                task,
                redundancy: Redundancy::Off,
                head_divergence: Redundancy::Off,
                seed: 1,
                episodes: 5,
            };
            assert_eq!(evaluator.measure(1), evaluator.measure(2));
            evaluator.measure(1).alignment
        };
        let attend = |task: &Task| {
            let channels = [task.inputs(), task.outputs()];
            Model::new(
                EquationsConfig::included("bahdanau", channels, &[]).unwrap(),
                1,
            )
        };
        let frames = Task::Frames(Frames::DEFAULT);
        let score = measured(&attend(&frames), &frames).unwrap();
        let named: usize = (0..5).map(|index| frames.episode(1, index).size).sum();
        assert_eq!(score.steps, named);
        assert!(score.mass()[2] > 0.0);
        let recall = Task::AssociativeRecall(AssociativeRecall::PAPER);
        assert_eq!(measured(&attend(&recall), &recall), None);
        let copy = Task::Copy(Copy::EXAMPLE);
        let ntm = Model::new(NtmConfig::new(copy.inputs(), copy.outputs()), 1);
        assert_eq!(measured(&ntm, &copy), None);
        assert!(measured(&attend(&copy), &copy).is_some());
    }
}
