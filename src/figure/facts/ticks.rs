//! An axis of a chart: its scale, its ends and its round numbers.

use crate::figure::facts::numbers::brief;

/// The most decades of a logarithmic axis over values.
const MOST_DECADES: i32 = 6;
/// Margin of a logarithmic axis beyond its values, as a share of its length, and the least length in decades.
const BEYOND: f64 = 0.12;
const LEAST_LENGTH: f64 = 0.5;

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The scale.
    pub kind: AxisKind,
    /// The values at both ends.
    pub ends: [f64; 2],
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// A linear axis.
    Linear,
    /// A linear axis of whole numbers.
    Whole,
    /// A linear axis for shares, labelled in percent.
    Percent,
    /// A logarithmic axis.
    Logarithm,
}

impl Axis {
    /// Creates an axis.
    pub fn new(kind: AxisKind, ends: [f64; 2]) -> Self {
        Self { kind, ends }
    }

    /// A logarithmic axis over these values with a margin, not further down than `MOST_DECADES`.
    pub fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter();
        let values: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
        let most = values.iter().copied().reduce(f64::max).unwrap_or(1.0);
        let least = values.iter().copied().fold(most, f64::min);
        let high = most.log10();
        let low = least.log10().max(high - f64::from(MOST_DECADES));
        let margin = BEYOND * (high - low).max(LEAST_LENGTH);
        let ends = [low - margin, high + margin].map(|place| 10f64.powf(place));
        Self::new(AxisKind::Logarithm, ends)
    }

    /// The logarithmic axis of sequences trained on.
    pub fn sequences([first, last]: [f64; 2]) -> Self {
        let first = first.max(1.0);
        Self::new(AxisKind::Logarithm, [first, last.max(1.25 * first)])
    }

    /// True of a logarithmic axis.
    pub fn is_log(self) -> bool {
        self.kind == AxisKind::Logarithm
    }

    /// Returns the position of a value on an endless axis.
    fn place(self, value: f64) -> f64 {
        if self.is_log() {
            value.max(f64::MIN_POSITIVE).log10()
        } else {
            value
        }
    }

    fn places(self) -> [f64; 2] {
        self.ends.map(|end| self.place(end))
    }

    /// Returns the position of a value: 0 at the first end, 1 at the other.
    pub fn share(self, value: f64) -> f64 {
        self.shares()(value)
    }

    /// [`Axis::share`] of many values.
    pub fn shares(self) -> impl Fn(f64) -> f64 {
        let [low, high] = self.places();
        let length = (high - low).max(1e-9);
        move |value| (self.place(value) - low) / length
    }

    /// Returns the value at a position.
    pub fn value(self, share: f64) -> f64 {
        let [low, high] = self.places();
        let place = low + share * (high - low);
        if self.is_log() {
            10f64.powf(place)
        } else {
            place
        }
    }

    /// Returns round values between the ends, at most about `most`; two where one alone would not say the scale.
    pub fn ticks(self, most: f64) -> Vec<f64> {
        let finer = (0..5).map(|finer| self.with_room(most * f64::from(1 << finer)));
        let mut finer = finer.skip_while(|ticks| ticks.len() < 2);
        finer.next().unwrap_or_else(|| self.with_room(most))
    }

    fn with_room(self, most: f64) -> Vec<f64> {
        let [low, high] = self.places();
        let apart = (high - low).max(1e-9) / most.max(1.0);
        if !self.is_log() {
            return self.multiples(apart);
        }
        let marks = decades([low, high]).filter(|(_, room)| *room >= apart);
        let marks: Vec<f64> = marks.map(|(mark, _)| 10f64.powf(mark)).collect();
        if marks.len() > 1 {
            return marks;
        }
        // A narrow range has few round numbers: its marks are as far apart as the upper ones need.
        self.multiples(self.ends[1] * (1.0 - 10f64.powf(-apart)))
    }

    /// The multiples of a round number between the ends, at least so far apart.
    fn multiples(self, apart: f64) -> Vec<f64> {
        let power = 10f64.powf(apart.log10().floor());
        let steps = match self.kind {
            AxisKind::Percent => [1.0, 2.5, 5.0, 10.0],
            _ => [1.0, 2.0, 5.0, 10.0],
        };
        let step = steps.into_iter().find(|step| step * power >= apart * 0.999);
        let least = f64::from(u8::from(self.kind == AxisKind::Whole));
        let step = (step.unwrap_or(10.0) * power).max(least);
        let [low, high] = self.ends.map(|end| end / step);
        let indices = (low - 1e-9).ceil() as i64..=(high + 1e-9).floor() as i64;
        indices.map(|index| index as f64 * step).collect()
    }

    /// A value in words.
    pub fn describe(self, value: f64) -> String {
        match self.kind {
            AxisKind::Percent => format!("{} %", brief(100.0 * value)),
            _ => brief(value),
        }
    }
}

/// Marks of a logarithmic axis between these places, each with how far it is from the next of its kind, in decades.
fn decades([low, high]: [f64; 2]) -> impl Iterator<Item = (f64, f64)> {
    let powers = low.floor() as i32..=high.ceil() as i32;
    let marks = powers.flat_map(|power| {
        (1..10).map(move |digit| {
            let apart = match digit {
                // Where not every power of ten has room, every second or fourth one has.
                1 if power % 4 == 0 => 4.0,
                1 if power % 2 == 0 => 2.0,
                1 => 1.0,
                2 | 5 => 0.3,
                _ => 0.05,
            };
            (f64::from(power) + f64::from(digit).log10(), apart)
        })
    });
    let is_between = move |mark: f64| (low - 1e-9..=high + 1e-9).contains(&mark);
    marks.filter(move |(mark, _)| is_between(*mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_as_many_round_numbers_as_there_is_room_for() {
        let ticks = |kind, ends, most| Axis::new(kind, ends).ticks(most);
        let linear = AxisKind::Linear;
        assert_eq!(
            ticks(linear, [0.0, 100.0], 5.0),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(ticks(linear, [-0.5, 20.5], 4.0), [0.0, 10.0, 20.0]);
        assert_eq!(ticks(AxisKind::Whole, [0.5, 3.5], 20.0), [1.0, 2.0, 3.0]);
        assert_eq!(ticks(AxisKind::Percent, [0.0, 0.55], 3.6), [0.0, 0.25, 0.5]);
        let log = |ends, most| -> Vec<_> {
            let ticks = ticks(AxisKind::Logarithm, ends, most);
            ticks.iter().map(|value| value.round()).collect()
        };
        assert_eq!(log([1.0, 100.0], 3.0), [1.0, 10.0, 100.0]);
        assert_eq!(log([1.0, 10.0], 4.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(log([310.0, 390.0], 6.0), [320.0, 340.0, 360.0, 380.0]);
    }

    #[test]
    fn every_axis_has_two_numbers() {
        for value in [0.013, 1.0, 17.0, 19.7, 20.0, 126.0, 4096.0] {
            for most in [1.0, 1.7, 3.0, 8.0] {
                for (low, high) in [(1.0, 1.0), (0.93, 1.0), (0.4, 1.1)] {
                    let axis = Axis::log([low * value, high * value]);
                    let found = axis.ticks(most);
                    assert!(found.len() >= 2, "{axis:?} {most}: {found:?}");
                    let is_inside = |tick: &f64| (-1e-6..=1.0 + 1e-6).contains(&axis.share(*tick));
                    assert!(found.iter().all(is_inside));
                }
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_has_a_margin_and_an_end() {
        let axis = Axis::log([0.0, 1e-12, 100.0, f64::INFINITY]);
        let [low, high] = axis.ends;
        assert!(low > 1e-5 && low < 1e-4 && high > 100.0 && high < 1000.0);
        assert!((axis.share(axis.value(0.25)) - 0.25).abs() < 1e-9);
        assert_eq!(axis.share(high), 1.0);
    }
}
