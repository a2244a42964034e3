//! Calibration: whether a machine is right as often as it is confident (Guo, Pleiss, Sun and Weinberger 2017, §2).

/// Equal intervals of the confidence, 0 to 1.
const BINS: usize = 10;

/// Confidence and correctness of answers, in ten intervals of the confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    bins: [Bin; BINS],
}

/// The answers in an interval: their number, the number of right ones, and the sum of their confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    count: f64,
    right: f64,
    confidence: f64,
}

impl Calibration {
    /// Counts answers, each with its confidence, 0 to 1, and true where it is right.
    pub fn of(answers: impl Iterator<Item = (f64, bool)>) -> Self {
        let mut all = Self::default();
        for (confidence, is_right) in answers {
            let bin = &mut all.bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
            bin.count += 1.0;
            bin.right += f64::from(u8::from(is_right));
            bin.confidence += confidence;
        }
        all
    }

    /// Adds up the answers of several.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, other| {
            for (bin, other) in sum.bins.iter_mut().zip(other.bins) {
                bin.count += other.count;
                bin.right += other.right;
                bin.confidence += other.confidence;
            }
            sum
        })
    }

    /// The expected calibration error Σ_b n_b/n·|right_b − confidence_b|, 0 to 1 (equation 3). `None` without answers.
    pub fn error(&self) -> Option<f64> {
        let bins = self.bins.iter();
        let count: f64 = bins.clone().map(|bin| bin.count).sum();
        let gaps = bins.map(|bin| (bin.right - bin.confidence).abs());
        (count > 0.0).then(|| gaps.sum::<f64>() / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_gap_of_the_intervals() {
        // Three answers at 0.9, of which two are right, and one at 0.55, which is.
        let answers = [(0.9, true), (0.9, true), (0.9, false), (0.55, true)];
        let found = Calibration::of(answers.into_iter());
        let wanted = ((2.0_f64 - 2.7).abs() + (1.0 - 0.55)) / 4.0;
        assert!((found.error().unwrap() - wanted).abs() < 1e-12);
        let halves = answers
            .chunks(2)
            .map(|half| Calibration::of(half.iter().copied()));
        assert_eq!(Calibration::sum(halves), found);
        assert_eq!(
            Calibration::of([(1.0, true)].into_iter()).error(),
            Some(0.0)
        );
        assert_eq!(Calibration::default().error(), None);
    }
}
