//! Learning curves as a figure: bits per sequence over sequences, a line per setting (the median of its runs) in a band
//! (from the best run to the worst); below, each on an axis of its own, what joins the loss.

use super::paint::Draw;
use super::{Colours, Drawing, HUES, Ink, Rgb, Style};
use crate::train::{Spread, thin};

const WIDTH: f32 = 760.0;
const LEFT: f32 = 76.0;
const RIGHT: f32 = WIDTH - 24.0;
const TOP: f32 = 24.0;
const BOTTOM: f32 = 384.0;
/// Height of a plot of what joins the loss, and the room above it.
const SMALL: f32 = 110.0;
const APART: f32 = 26.0;
/// What joins the loss, and its unit: as [`Beside::NAMES`](crate::train::Beside::NAMES).
const BESIDE: [&str; 3] = [
    "redundancy of heads",
    "divergence, nats",
    "reward in training, nats",
];
/// Height of a line of the legend.
const LINE: f32 = 20.0;
/// The most letters of a name in the legend.
const MOST_LETTERS: usize = 80;
/// The most points of a line: more than that are finer than pixels.
const MOST_POINTS: usize = 600;
/// From this ratio between the largest and the smallest value on the axis is logarithmic.
const LOG_FROM: f64 = 30.0;
/// The most decades of a logarithmic axis.
const MOST_DECADES: i32 = 6;

/// The learning curve of a setting, with the name it has in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name.
    pub label: String,
    /// Bits per sequence, by sequences.
    pub points: Vec<Spread>,
    /// What joins the loss, each of [`Beside::NAMES`](crate::train::Beside::NAMES); empty where there is nothing of the
    /// kind.
    pub beside: [Vec<Spread>; 3],
}

/// The figure; the threshold in bits per sequence is a dashed line, where it is in the picture.
pub fn learning_curves(curves: &[Curve], threshold: f64, dark: bool) -> Drawing {
    let colours = Colours::for_theme(dark);
    let kinds = 0..BESIDE.len();
    let kinds: Vec<usize> = kinds
        .filter(|&kind| curves.iter().any(|curve| !curve.beside[kind].is_empty()))
        .collect();
    let bottom = BOTTOM + (SMALL + APART) * kinds.len() as f32;
    let height = bottom + 64.0 + LINE * curves.len() as f32;
    let title = "Learning curves: bits per sequence over sequences".to_owned();
    let mut drawing = Drawing::new(WIDTH, height, colours.panel, title);
    let points = |of: fn(&Curve, usize) -> &[Spread], kind: usize| {
        let all = curves.iter().map(move |curve| of(curve, kind));
        all.collect::<Vec<_>>()
    };
    let bits = points(|curve, _| &curve.points, 0);
    let sequences = bits.iter().flat_map(|points| points.iter());
    let sequences = sequences.map(|point| point.sequences).max().unwrap_or(0);
    let plot = |points: &[&[Spread]], [top, bottom]: [f32; 2]| {
        Plot::around(points, sequences, [top, bottom], colours)
    };
    let main = plot(&bits, [TOP, BOTTOM]);
    main.draw(&mut drawing, &bits, "bits per sequence", Some(threshold));
    for (place, &kind) in kinds.iter().enumerate() {
        let points = points(|curve, kind| &curve.beside[kind], kind);
        let bottom = BOTTOM + (SMALL + APART) * (place + 1) as f32;
        let small = plot(&points, [bottom - SMALL, bottom]);
        small.draw(&mut drawing, &points, BESIDE[kind], None);
    }
    let last = Plot { bottom, ..main };
    last.sequences(&mut drawing);
    for (index, curve) in curves.iter().enumerate() {
        last.legend(&mut drawing, index, &curve.label);
    }
    drawing
}

/// Where numbers lie in the picture.
struct Plot<'a> {
    colours: &'a Colours,
    sequences: f64,
    lowest: f64,
    highest: f64,
    is_log: bool,
    ticks: Vec<f64>,
    top: f32,
    bottom: f32,
}

impl<'a> Plot<'a> {
    fn around(
        curves: &[&[Spread]],
        sequences: u64,
        [top, bottom]: [f32; 2],
        colours: &'a Colours,
    ) -> Self {
        let points = || curves.iter().flat_map(|points| points.iter());
        let values = points().flat_map(|point| [point.lowest, point.median, point.highest]);
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let least = values.iter().copied().fold(0.0, f64::min);
        let highest = values.iter().copied().fold(0.0, f64::max);
        let highest = if highest > 0.0 || least < 0.0 {
            highest
        } else {
            1.0
        };
        let above_zero = values.iter().copied().filter(|value| *value > 0.0);
        let lowest = above_zero.fold(highest, f64::min);
        let is_log = least >= 0.0 && highest / lowest > LOG_FROM;
        let ticks = if is_log {
            let last = highest.log10().ceil() as i32;
            let first = (lowest.log10().floor() as i32).max(last - MOST_DECADES);
            (first..=last).map(|power| 10f64.powi(power)).collect()
        } else {
            // A curve that stays far above zero, as that of a task with an optimum, gets the whole height.
            let from = if lowest > highest / 2.0 { lowest } else { 0.0 };
            even_ticks(if least < 0.0 { least } else { from }, highest)
        };
        Self {
            colours,
            sequences: sequences.max(1) as f64,
            lowest: ticks[0],
            highest: ticks[ticks.len() - 1],
            is_log,
            ticks,
            top,
            bottom,
        }
    }

    /// Axis, bands and lines.
    fn draw(
        &self,
        drawing: &mut Drawing,
        curves: &[&[Spread]],
        label: &str,
        threshold: Option<f64>,
    ) {
        self.values(drawing, label);
        for (index, points) in curves.iter().enumerate() {
            self.band(drawing, index, points);
        }
        if let Some(threshold) = threshold {
            self.threshold(drawing, threshold);
        }
        for (index, points) in curves.iter().enumerate() {
            self.line(drawing, index, points);
        }
    }

    fn x(&self, sequences: f64) -> f32 {
        LEFT + (RIGHT - LEFT) * (sequences / self.sequences) as f32
    }

    /// Values beyond the axis lie on its end.
    fn y(&self, value: f64) -> f32 {
        let value = value.clamp(self.lowest, self.highest);
        let share = if self.is_log {
            (value / self.lowest).ln() / (self.highest / self.lowest).ln()
        } else {
            (value - self.lowest) / (self.highest - self.lowest)
        };
        self.bottom - (self.bottom - self.top) * share as f32
    }

    /// The axis of the values.
    fn values(&self, drawing: &mut Drawing, label: &str) {
        let text = Style::new(12.0, self.colours.text);
        // As many numbers as there is room for.
        let every = (17.0 * self.ticks.len() as f32 / (self.bottom - self.top)).ceil();
        for (index, &tick) in self.ticks.iter().enumerate() {
            let y = self.y(tick);
            drawing.line(&[[LEFT, y], [RIGHT, y]], self.colours.line, 1.0);
            if index.is_multiple_of(every as usize) {
                drawing.text(number(tick), [LEFT - 8.0, y], text.end());
            }
        }
        let ends = [[LEFT, self.top], [LEFT, self.bottom], [RIGHT, self.bottom]];
        drawing.line(&ends, self.colours.subdued, 1.0);
        let scale = if self.is_log { ", logarithmic" } else { "" };
        let is_small = self.bottom - self.top < 2.0 * SMALL;
        let middle = 0.5 * (self.top + self.bottom);
        if is_small {
            // Upright it would be longer than its axis.
            let at = [LEFT, self.top - 10.0];
            drawing.text(format!("{label}{scale}"), at, text);
        } else {
            drawing.text(format!("{label}{scale}"), [14.0, middle], text.upwards());
        }
    }

    /// The axis of the sequences, below all plots.
    fn sequences(&self, drawing: &mut Drawing) {
        let text = Style::new(12.0, self.colours.text);
        let ticks = even_ticks(0.0, self.sequences);
        for tick in ticks.into_iter().filter(|tick| *tick <= self.sequences) {
            let (x, y) = (self.x(tick), self.bottom);
            drawing.line(&[[x, y], [x, y + 5.0]], self.colours.subdued, 1.0);
            drawing.text(number(tick), [x, y + 16.0], text.middle());
        }
        let at = [0.5 * (LEFT + RIGHT), self.bottom + 38.0];
        drawing.text("sequences", at, text.middle());
    }

    fn band(&self, drawing: &mut Drawing, index: usize, points: &[Spread]) {
        let points = thin(points, MOST_POINTS);
        if points.len() < 2 {
            return;
        }
        let at = |point: &Spread, bits: f64| [self.x(point.sequences as f64), self.y(bits)];
        let upper = points.iter().map(|point| at(point, point.highest));
        let lower = points.iter().rev().map(|point| at(point, point.lowest));
        let points: Vec<_> = upper.chain(lower).collect();
        drawing.shape(&points, Ink::from(self.ink(index)).faded(0.16));
    }

    fn line(&self, drawing: &mut Drawing, index: usize, points: &[Spread]) {
        let points = thin(points, MOST_POINTS);
        // Where the median is not finite the line has a gap.
        for run in points.chunk_by(|a, b| a.median.is_finite() == b.median.is_finite()) {
            let finite = run.iter().filter(|point| point.median.is_finite());
            let points: Vec<_> = finite
                .map(|point| [self.x(point.sequences as f64), self.y(point.median)])
                .collect();
            if !points.is_empty() {
                self.stroke(drawing, index, &points);
            }
        }
    }

    fn threshold(&self, drawing: &mut Drawing, threshold: f64) {
        if threshold < self.lowest || threshold > self.highest {
            return;
        }
        let y = self.y(threshold);
        let line = [[LEFT, y], [RIGHT, y]];
        drawing.dashed(&line, self.colours.text, 1.0, &[2.0, 4.0]);
        let text = format!("threshold {threshold}");
        let style = Style::new(11.0, self.colours.text).end();
        drawing.text(text, [RIGHT - 4.0, y - 8.0], style);
    }

    fn legend(&self, drawing: &mut Drawing, index: usize, label: &str) {
        let y = self.bottom + 66.0 + LINE * index as f32;
        self.stroke(drawing, index, &[[LEFT, y], [LEFT + 28.0, y]]);
        let style = Style::new(12.0, self.colours.text);
        drawing.text(shortened(label), [LEFT + 36.0, y], style);
    }

    /// A line of a setting: as many hues as heads have, then with dashes.
    fn stroke(&self, drawing: &mut Drawing, index: usize, points: &[[f32; 2]]) {
        let round = index / (2 * HUES);
        let dashes = match round {
            0 => Vec::new(),
            round => vec![10.0 / round.min(5) as f32, 4.0],
        };
        drawing.dashed(points, self.ink(index), 2.0, &dashes);
    }

    fn ink(&self, index: usize) -> Rgb {
        self.colours.line(index)
    }
}

/// A name that fits on a line.
fn shortened(label: &str) -> String {
    if label.chars().count() <= MOST_LETTERS {
        return label.to_owned();
    }
    let kept = label.chars().take(MOST_LETTERS - 1);
    kept.chain(['…']).collect()
}

/// Round numbers from at most `from` to at least `to`, about six of them.
pub(super) fn even_ticks(from: f64, to: f64) -> Vec<f64> {
    let span = (to - from).max(to.abs() * 1e-3).max(f64::MIN_POSITIVE);
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((from / step).floor() as i64, (to / step).ceil() as i64);
    (first..=last.max(first + 1))
        .map(|index| index as f64 * step)
        .collect()
}

/// A round number: with separators from 10,000 on, without digits that say nothing.
pub(super) fn number(value: f64) -> String {
    if value < 0.0 {
        return format!("−{}", number(-value));
    }
    if value.abs() < 10_000.0 {
        let digits = if value == 0.0 {
            0
        } else {
            (2 - value.abs().log10().floor() as i32).max(0)
        };
        let text = format!("{value:.*}", digits as usize);
        return match text.split_once('.') {
            Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            None => text,
        };
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, points: &[(u64, [f64; 3])]) -> Curve {
        let point = |&(sequences, [lowest, median, highest]): &(u64, [f64; 3])| Spread {
            sequences,
            runs: 3,
            median,
            lowest,
            highest,
        };
        Curve {
            label: label.into(),
            points: points.iter().map(point).collect(),
            beside: [const { Vec::new() }; 3],
        }
    }

    #[test]
    fn what_joins_the_loss_has_an_axis_of_its_own() {
        let mut one = curve("one", &[(10, [1.0, 2.0, 3.0]), (20, [0.5; 3])]);
        let without = learning_curves(std::slice::from_ref(&one), 0.1, false);
        let of = |values: [f64; 2]| {
            let points = [(10, [values[0]; 3]), (20, [values[1]; 3])];
            curve("", &points).points
        };
        (one.beside[1], one.beside[2]) = (of([900.0, 4.0]), of([-0.5, 0.25]));
        let curves = [one, curve("other", &[(10, [1.0; 3])])];
        let drawing = learning_curves(&curves, 0.1, false);
        assert!(drawing.height > without.height + 2.0 * SMALL);
        let svg = drawing.to_svg();
        assert!(
            svg.contains("divergence, nats, logarithmic")
                && svg.contains("reward in training, nats")
        );
        assert!(!svg.contains("redundancy") && !svg.contains("NaN"));
        assert!(svg.contains("−0.4"), "{svg}");
    }

    #[test]
    fn a_curve_that_falls_far_is_drawn_on_a_logarithmic_axis() {
        let curves = [
            curve(
                "a < b & c",
                &[
                    (1000, [50.0, 60.0, 80.0]),
                    (20_000, [0.0, 0.01, f64::INFINITY]),
                ],
            ),
            curve("other", &[(1000, [70.0, f64::INFINITY, f64::INFINITY])]),
        ];
        let svg = learning_curves(&curves, 0.1, false).to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("bits per sequence, logarithmic"));
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains(">100<") && svg.contains(">0.01<") && svg.contains(">20,000<"));
        assert!(svg.contains("threshold 0.1"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("fill-opacity").count(), 1, "one band");
    }

    #[test]
    fn a_curve_far_above_zero_gets_the_whole_height() {
        let curves = [curve(
            "n",
            &[(10, [150.0, 160.0, 199.0]), (20, [134.0, 135.0, 136.0])],
        )];
        let svg = learning_curves(&curves, 0.1, false).to_svg();
        assert!(!svg.contains("logarithmic") && !svg.contains("threshold"));
        assert!(svg.contains(">120<") && svg.contains(">200<"), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_drawn_without_a_panic() {
        for curves in [
            vec![],
            vec![curve("none", &[])],
            vec![curve("zero", &[(1, [0.0; 3])])],
        ] {
            let svg = learning_curves(&curves, 0.1, false).to_svg();
            assert!(svg.contains("sequences") && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.001, 0.25, 2.0, 250.0, 9000.0, 20_000.0, 1e6].map(number);
        let expected = [
            "0",
            "0.001",
            "0.25",
            "2",
            "250",
            "9000",
            "20,000",
            "1,000,000",
        ];
        assert_eq!(shown, expected);
        assert_eq!(even_ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    }
}
