//! Agreement of attention weights with a known alignment (Koehn and Knowles 2017, §3.5).
//!
//! An answer step with an alignment comes from one or several neighbouring source steps: offset 0. The steps beside them
//! have the offsets −1, −2, … before and 1, 2, … after.

use std::ops::Range;

use crate::model::attention::Sees;
use crate::model::{ModelConfig, peak};

/// The offsets that are reported, in order.
pub const OFFSETS: [isize; 5] = [-2, -1, 0, 1, 2];

/// Agreement of the weights of a read head with the true alignment, over answer steps that have one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AlignmentScore {
    /// Answer steps with an alignment.
    pub steps: usize,
    /// Those with a sure link, and those whose largest weight is at a sure link.
    sure: [usize; 2],
    /// Sum of the weights at each of [`OFFSETS`].
    mass: [f64; 5],
    /// Steps whose largest weight is at each of [`OFFSETS`].
    peaks: [usize; 5],
}

impl AlignmentScore {
    /// Scores the weights of these steps, [T, S], by their rows; the alignment is that of
    /// [`Generate`](crate::task::Generate::alignment), and `sure` that of [`Episode`](crate::task::Episode::sure).
    pub fn add_steps<'a>(
        &mut self,
        weights: impl Fn(usize) -> &'a [f32],
        [alignment, sure]: [&[Option<Range<usize>>]; 2],
        steps: Range<usize>,
    ) {
        let all = alignment.iter().enumerate().take(steps.end);
        for (t, right) in all.skip(steps.start) {
            let Some(right) = right else { continue };
            let row = weights(t);
            let best = peak(row).map(|(step, _)| step);
            self.steps += 1;
            let sure = if sure.is_empty() {
                Some(right)
            } else {
                sure[t].as_ref()
            };
            let hit = sure.filter(|sure| best.is_some_and(|step| sure.contains(&step)));
            self.sure[0] += usize::from(sure.is_some());
            self.sure[1] += usize::from(hit.is_some());
            for (index, offset) in OFFSETS.into_iter().enumerate() {
                let is_there = |step: &usize| distance(*step, right) == offset;
                let there = (0..row.len()).filter(is_there);
                self.mass[index] += there.map(|step| f64::from(row[step])).sum::<f64>();
                self.peaks[index] += usize::from(best.is_some_and(|step| is_there(&step)));
            }
        }
    }

    /// The score over the steps of all of these.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, score| {
            sum.steps += score.steps;
            for (sum, own) in sum.sure.iter_mut().zip(score.sure) {
                *sum += own;
            }
            for index in 0..OFFSETS.len() {
                sum.mass[index] += score.mass[index];
                sum.peaks[index] += score.peaks[index];
            }
            sum
        })
    }

    /// The alignment error rate 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003). A has the largest weight
    /// of each step, S the sure links and P also the possible ones, at most one pair for each step.
    pub fn error_rate(&self) -> f64 {
        let [sure, hits] = self.sure;
        1.0 - (hits + self.peaks[2]) as f64 / (self.steps + sure).max(1) as f64
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
    let is_first = config.heads() > 0 && matches!(config.mechanism(0).sees, Sees::Source(_));
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
        score.add_steps(weights, [alignment, &[]], 0..alignment.len());
        score
    }

    #[test]
    fn possible_links_cost_less_than_sure_ones() {
        let pairs = [
            // One sure link and a possible one beside it; then only possible ones; then only a sure one.
            "a b c\tx y z\t0-0 1p0 1p1 2-2",
            "a\tx",
        ];
        let lines = pairs.map(|line| Pair::parse(line, Tokens::Words).unwrap());
        let mut task = Pairs::NONE;
        task.held_out = HeldOut::Last(1);
        let task = task.with(Arc::new(lines.to_vec())).unwrap();
        let episode = task.episode_of(&lines[0]);
        let of = |best: [usize; 3]| {
            let mut score = AlignmentScore::default();
            let rows = best.map(|best| [0, 1, 2].map(|row| f32::from(u8::from(row == best))));
            let known = [&episode.alignment[..], &episode.sure[..]];
            score.add_steps(|t| &rows[t - 4], known, 4..episode.steps());
            score.error_rate()
        };
        assert_eq!(
            episode.alignment[4..],
            [Some(0..2), Some(1..2), Some(2..3), None]
        );
        assert_eq!(episode.sure[4..], [Some(0..1), None, Some(2..3), None]);
        // |A| = 3 and |S| = 2 (Och and Ney 2003).
        for (best, wanted) in [
            ([0, 1, 2], 1.0 - (2.0 + 3.0) / 5.0),
            ([1, 1, 2], 1.0 - (1.0 + 3.0) / 5.0),
            ([2, 1, 2], 1.0 - (1.0 + 2.0) / 5.0),
            ([0, 0, 2], 1.0 - (2.0 + 2.0) / 5.0),
            ([2, 2, 0], 1.0),
        ] {
            assert!((of(best) - wanted).abs() < 1e-12, "{best:?}: {}", of(best));
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
