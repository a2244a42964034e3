//! Statistics over many learning curves: how often, how soon and how reliably a setting converges.

use super::HistoryPoint;
use super::aux_losses::AuxLosses;
use super::config::TrainingConfig;
use crate::math::median;

/// Statistics of one run, with a threshold in bits per sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The first validation below the threshold.
    pub first_below: Option<HistoryPoint>,
    /// The largest validation after the first one below the threshold: how bad a relapse was.
    pub worst_after: Option<f64>,
    /// The best validation; infinite where none is finite.
    pub best: Option<f64>,
    /// The auxiliary losses there.
    pub aux: AuxLosses,
    /// The last validation.
    pub last: Option<f64>,
}

impl Outcome {
    /// Judges a learning curve.
    pub fn of(points: &[HistoryPoint], threshold: f64) -> Self {
        let below = points.iter().position(|point| cost(point) < threshold);
        let after = below.map_or(&[][..], |first| &points[first + 1..]);
        let best = best(points, 0).map(|index| &points[index]);
        Self {
            first_below: below.map(|first| points[first]),
            worst_after: after.iter().map(cost).reduce(f64::max),
            best: points.last().map(|_| best.map_or(f64::INFINITY, cost)),
            aux: best.map_or_else(AuxLosses::default, |point| point.validation.aux),
            last: points.last().map(cost),
        }
    }
}

/// The validations after `sequences` sequences.
pub fn after(points: &[HistoryPoint], sequences: u64) -> &[HistoryPoint] {
    &points[points.partition_point(|point| point.sequences <= sequences)..]
}

/// The index of the best validation after `sequences` sequences, the first of equals; `None` where none is finite.
pub fn best(points: &[HistoryPoint], sequences: u64) -> Option<usize> {
    let first = points.len() - after(points, sequences).len();
    (first..points.len()).fold(None, |best, index| {
        let of = |index: usize| &points[index].validation;
        let is_better = of(index).is_better_than(best.map(of));
        if is_better { Some(index) } else { best }
    })
}

impl TrainingConfig {
    /// True after all sequences, and once the patience with these validations has run out.
    pub fn is_over(&self, sequences: u64, history: &[HistoryPoint]) -> bool {
        let since = || history.len() - 1 - best(history, 0).unwrap_or(0);
        let is_out = self.patience > 0 && !history.is_empty() && since() >= self.patience;
        is_out || sequences >= self.sequences
    }
}

/// A quantity of several runs after the same number of sequences: bits per sequence of their validations, or an
/// auxiliary loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Sequences trained on.
    pub sequences: u64,
    /// The number of runs validated there.
    pub runs: usize,
    /// Half of the runs are at or below this.
    pub median: f64,
    /// The lowest value of a run.
    pub lowest: f64,
    /// The highest value of a run.
    pub highest: f64,
}

/// The spread at every number of sequences at which some run was validated, in their order.
pub fn spread(curves: &[&[HistoryPoint]]) -> Vec<Spread> {
    spread_of(curves, |point| Some(cost(point)))
}

/// Returns the spread of the auxiliary losses, each of [`AuxLosses::NAMES`]: of the validations, where they have it,
/// otherwise of the training since the last one. Empty for a loss that no run has.
pub fn spread_aux(curves: &[&[HistoryPoint]]) -> [Vec<Spread>; AuxLosses::NAMES.len()] {
    std::array::from_fn(|kind| {
        spread_of(curves, |point| {
            let [validation, training] =
                [&point.validation.aux, &point.training_aux].map(|aux| aux.each()[kind]);
            let value = validation.or(training)?;
            Some(if value.is_nan() { f64::INFINITY } else { value })
        })
    })
}

fn spread_of(
    curves: &[&[HistoryPoint]],
    value: impl Fn(&HistoryPoint) -> Option<f64>,
) -> Vec<Spread> {
    let mut points = std::collections::BTreeMap::<u64, Vec<f64>>::new();
    for point in curves.iter().flat_map(|curve| curve.iter()) {
        if let Some(value) = value(point) {
            points.entry(point.sequences).or_default().push(value);
        }
    }
    let of = |(sequences, values): (u64, Vec<f64>)| Spread {
        sequences,
        runs: values.len(),
        median: median(&values).unwrap_or(f64::INFINITY),
        lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
        highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    points.into_iter().map(of).collect()
}

/// At most `most` of the points, evenly spread, the last one always among them.
pub fn thin<T: Copy>(points: &[T], most: usize) -> Vec<T> {
    let (count, most) = (points.len(), most.max(1));
    if count <= most {
        return points.to_vec();
    }
    let nth = |index: usize| points[(index + 1) * count / most - 1];
    (0..most).map(nth).collect()
}

/// The middle value and the largest; `None` of nothing.
pub fn median_and_worst(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let values: Vec<f64> = values.collect();
    let worst = values.iter().copied().reduce(f64::max)?;
    Some([median(&values)?, worst])
}

fn cost(point: &HistoryPoint) -> f64 {
    point.validation.cost()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Evaluation;

    fn curve(points: &[(u64, f64)]) -> Vec<HistoryPoint> {
        let point = |&(sequences, bits_per_sequence): &(u64, f64)| HistoryPoint {
            sequences,
            seconds: sequences as f64 / 10.0,
            validation: Evaluation {
                bits_per_sequence,
                ..Evaluation::default()
            },
            ..HistoryPoint::default()
        };
        points.iter().map(point).collect()
    }

    #[test]
    fn auxiliary_losses_have_their_own_curves() {
        let mut points = curve(&[(10, 5.0), (20, 0.5)]);
        let other = curve(&[(10, 4.0), (20, 0.1)]);
        assert!(spread_aux(&[&points, &other]).iter().all(Vec::is_empty));
        for (point, value) in points.iter_mut().zip([0.25, 0.125]) {
            point.validation.aux.redundancy = Some(value);
            point.training_aux.redundancy = Some(9.0);
            point.training_aux.reward = Some(-value);
        }
        let [redundancy, _, divergence, reward, ..] = spread_aux(&[&points, &other]);
        let medians = |curve: &[Spread]| curve.iter().map(|of| of.median).collect::<Vec<_>>();
        assert_eq!(medians(&redundancy), [0.25, 0.125]);
        assert!(divergence.is_empty());
        assert_eq!(medians(&reward), [-0.25, -0.125]);
        assert_eq!((reward[0].runs, reward[0].highest), (1, -0.25));
    }

    #[test]
    fn redundancy_is_taken_at_the_best_validation() {
        let mut points = curve(&[(10, 5.0), (20, 0.5), (30, f64::NAN), (40, 2.0)]);
        for (point, redundancy) in points.iter_mut().zip([0.1, 0.2, 0.3, 0.4]) {
            point.validation.aux.redundancy = Some(redundancy);
        }
        assert_eq!(Outcome::of(&points, 1.0).aux.redundancy, Some(0.2));
        assert_eq!(Outcome::of(&curve(&[(10, 5.0)]), 1.0).aux.redundancy, None);
    }

    #[test]
    fn best_is_the_first_smallest_finite_validation() {
        let points = curve(&[
            (10, f64::NAN),
            (20, 3.0),
            (30, 1.0),
            (40, f64::INFINITY),
            (50, 1.0),
            (60, 2.0),
        ]);
        for (sequences, expected) in [
            (0, Some(2)),
            (29, Some(2)),
            (30, Some(4)),
            (50, Some(5)),
            (60, None),
        ] {
            assert_eq!(best(&points, sequences), expected, "after {sequences}");
        }
        assert_eq!(best(&points[..1], 0), None);
        assert_eq!(after(&points, 40).len(), 2);
    }

    #[test]
    fn a_run_converges_relapses_and_ends() {
        let points = curve(&[(10, 5.0), (20, 0.05), (30, 2.0), (40, 0.01), (50, 0.02)]);
        let outcome = Outcome::of(&points, 0.1);
        assert_eq!(outcome.first_below.unwrap().sequences, 20);
        assert_eq!(outcome.worst_after, Some(2.0));
        assert_eq!(outcome.best, Some(0.01));
        assert_eq!(outcome.last, Some(0.02));
    }

    #[test]
    fn a_run_that_never_converges_has_no_worst_after() {
        let outcome = Outcome::of(&curve(&[(10, 5.0), (20, f64::NAN)]), 0.1);
        assert_eq!((outcome.first_below, outcome.worst_after), (None, None));
        assert_eq!(outcome.best, Some(5.0));
        assert_eq!(outcome.last, Some(f64::INFINITY));
        let nothing = Outcome::of(&[], 0.1);
        assert_eq!((nothing.best, nothing.last), (None, None));
        let broken = Outcome::of(&curve(&[(10, f64::NAN), (20, f64::INFINITY)]), 0.1);
        assert_eq!(broken.best, Some(f64::INFINITY));
    }

    #[test]
    fn runs_are_compared_where_they_were_validated() {
        let curves = [
            curve(&[(10, 4.0), (20, 1.0)]),
            curve(&[(10, 2.0), (20, 3.0)]),
            curve(&[(10, f64::NAN)]),
        ];
        let curves: Vec<&[HistoryPoint]> = curves.iter().map(Vec::as_slice).collect();
        let spread = spread(&curves);
        let at = |index: usize| {
            let s: Spread = spread[index];
            (s.sequences, s.runs, s.median, s.lowest, s.highest)
        };
        assert_eq!(spread.len(), 2);
        assert_eq!(at(0), (10, 3, 4.0, 2.0, f64::INFINITY));
        assert_eq!(at(1), (20, 2, 2.0, 1.0, 3.0));
    }

    #[test]
    fn thinned_curve_is_evenly_spaced_and_keeps_its_end() {
        let points: Vec<(u64, f64)> = (1..=10).map(|at| (at, 0.0)).collect();
        let curve = spread(&[&curve(&points)]);
        let thinned = |most| -> Vec<u64> {
            let points = thin(&curve, most);
            points.iter().map(|point| point.sequences).collect()
        };
        assert_eq!(thinned(5), [2, 4, 6, 8, 10]);
        assert_eq!(thinned(3), [3, 6, 10]);
        assert_eq!(thinned(20).len(), 10);
        assert!(thin::<u8>(&[], 5).is_empty());
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, f64::INFINITY]), Some(3.0));
    }
}
