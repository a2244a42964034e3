//! Learning curve of a run in a fixed amount of memory: every update counts, early ones one by one, later ones merged,
//! as fine everywhere as a logarithmic axis can show.

use crate::train::{Update, thin};

/// A point covers this share of the sequences before it.
const SHARE: f64 = 0.004;
/// The smallest number of updates in a mean: single early updates are noisy.
pub const LEAST: u64 = 12;

/// Updates next to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Sequences trained on after the last of them.
    pub sequences: u64,
    /// The number of updates.
    pub updates: u64,
    /// Bits per sequence: the mean over them.
    pub bits: f64,
    /// The losses of the best and the worst of them.
    pub ends: [f64; 2],
    /// Euclidean norm of the gradient before clipping: the mean over them.
    pub norm: f64,
}

/// The points of a run, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<Point>,
    /// The start of the last point, in sequences.
    began: u64,
}

impl Curve {
    /// All points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Adds an update, after which `sequences` sequences have been trained on.
    pub fn push(&mut self, sequences: u64, update: &Update) {
        let width = sequences as f64 * SHARE;
        let last = self.points.last().map_or(0.0, |last| last.norm);
        let norm = if update.norm.is_finite() {
            update.norm
        } else {
            last
        };
        match self.points.last_mut() {
            Some(last) if ((sequences - self.began) as f64) < width => {
                let count = last.updates as f64;
                let mean = |mean: f64, value: f64| (mean * count + value) / (count + 1.0);
                last.bits = mean(last.bits, update.bits);
                last.norm = mean(last.norm, norm);
                last.ends = [last.ends[0].min(update.bits), last.ends[1].max(update.bits)];
                last.updates += 1;
                last.sequences = sequences;
            }
            last => {
                self.began = last.map_or(0, |last| last.sequences);
                self.points.push(Point {
                    sequences,
                    updates: 1,
                    bits: update.bits,
                    ends: [update.bits; 2],
                    norm,
                });
            }
        }
    }

    /// Bits per sequence lately: the mean over the last fifth of the sequences. `None` before there was any.
    pub fn recent_mean(&self) -> Option<f64> {
        let from = 0.8 * self.points.last()?.sequences as f64;
        let last = self.points.iter().rev();
        let last = last.take_while(|point| point.sequences as f64 > from);
        mean(last, |point| point.bits)
    }

    /// A moving mean of something by sequences, at up to `most` points, by updates: over the last `share` of the
    /// sequences before each, and over at least [`LEAST`] updates where they exist.
    pub fn smoothed(&self, share: f64, most: usize, of: impl Fn(&Point) -> f64) -> Vec<[f64; 2]> {
        let windows = self.windows(share, most).into_iter();
        let mean = |points: &[Point]| Some([points.last()?.sequences as f64, mean(points, &of)?]);
        windows.filter_map(mean).collect()
    }

    /// The least and the largest of something over the same points as that mean.
    pub fn range(&self, share: f64, most: usize, of: impl Fn(&Point) -> [f64; 2]) -> Vec<[f64; 2]> {
        let range = |points: &[Point]| {
            let ends = points.iter().map(&of);
            let wider = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
            ends.reduce(wider).unwrap_or_default()
        };
        let windows = self.windows(share, most).into_iter();
        windows.map(range).collect()
    }

    /// Returns the windows of up to `most` points, each the last in its window.
    fn windows(&self, share: f64, most: usize) -> Vec<&[Point]> {
        let (mut first, mut inside) = (0, 0);
        let points = self.points.iter().enumerate();
        let windows = points.map(|(last, point)| {
            inside += point.updates;
            let from = point.sequences as f64 * (1.0 - share);
            while (self.points[first].sequences as f64) < from
                && inside - self.points[first].updates >= LEAST
            {
                inside -= self.points[first].updates;
                first += 1;
            }
            &self.points[first..=last]
        });
        thin(&windows.collect::<Vec<_>>(), most)
    }
}

/// Returns the mean of something over points, by updates; `None` without points.
pub(super) fn mean<'a>(
    points: impl IntoIterator<Item = &'a Point>,
    of: impl Fn(&Point) -> f64,
) -> Option<f64> {
    let add = |(sum, count): (f64, f64), point: &Point| {
        let updates = point.updates as f64;
        (sum + of(point) * updates, count + updates)
    };
    let (sum, count) = points.into_iter().fold((0.0, 0.0), add);
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::AuxLosses;

    fn update(bits: f64) -> Update {
        Update {
            bits,
            wrong: 0.0,
            aux: AuxLosses::default(),
            norm: 2.0 * bits,
            validated: None,
        }
    }

    #[test]
    fn early_updates_stand_alone_and_all_are_counted() {
        let mut curve = Curve::default();
        for done in 1..=100_000 {
            curve.push(done, &update(done as f64));
        }
        let points = curve.points();
        assert_eq!(points[99].sequences, 100);
        assert!(points.len() < 2500, "{}", points.len());
        assert_eq!(points.iter().map(|p| p.updates).sum::<u64>(), 100_000);
        assert!(
            points
                .iter()
                .all(|p| p.ends[0] <= p.bits && p.bits <= p.ends[1])
        );
        assert!(points.iter().all(|p| (p.norm - 2.0 * p.bits).abs() < 1e-6));
        let last = points[points.len() - 2];
        assert!((last.ends[1] - last.ends[0]) < 500.0);
    }

    #[test]
    fn recent_loss_is_a_mean() {
        let mut curve = Curve::default();
        assert_eq!(curve.recent_mean(), None);
        curve.push(1, &update(7.0));
        assert_eq!(curve.recent_mean(), Some(7.0));
        for done in 2..=1000 {
            curve.push(done, &update(if done > 700 { 1.0 } else { 9.0 }));
        }
        assert!((curve.recent_mean().unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn smoothed_curve_is_trailing_mean() {
        let mut curve = Curve::default();
        for done in 1..=1000 {
            curve.push(done, &update(if done % 2 == 0 { 1.0 } else { 3.0 }));
        }
        let smoothed = curve.smoothed(0.5, usize::MAX, |point| point.bits);
        assert_eq!(smoothed.len(), curve.points().len());
        assert!((smoothed[smoothed.len() - 1][1] - 2.0).abs() < 0.02);
        let range = curve.range(0.5, usize::MAX, |point| point.ends);
        assert_eq!(range[range.len() - 1], [1.0, 3.0]);
    }

    #[test]
    fn a_mean_does_not_jump_at_the_first_sequences() {
        let mut curve = Curve::default();
        for done in 1..=100 {
            curve.push(done, &update(if done % 2 == 0 { 10.0 } else { 30.0 }));
        }
        let smoothed = curve.smoothed(0.2, usize::MAX, |point| point.bits);
        let jumps = smoothed.windows(2).skip(10);
        assert!(
            jumps
                .map(|two| (two[1][1] - two[0][1]).abs())
                .all(|by| by < 2.0)
        );
    }
}
