//! Learning curves as a picture: bits per sequence over sequences, a line per setting (the median of its
//! runs) in a band (from the best run to the worst).
//!
//! Plain SVG 1.1 with a light background of its own, so that it reads on a dark page too.

use std::fmt::Write;
use std::path::Path;

use super::error::short;
use super::{Error, file};
use crate::train::{Spread, thin};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 384.0;
/// Height of a line of the legend.
const LINE: f64 = 20.0;
/// The most points of a line: more than that are finer than pixels.
const MOST_POINTS: usize = 600;
/// From this ratio between the largest and the smallest value on the axis is logarithmic.
const LOG_FROM: f64 = 30.0;
/// The most decades of a logarithmic axis.
const MOST_DECADES: i32 = 6;

const PAPER: &str = "#fcfcfa";
const INK: &str = "#202326";
const GRID: &str = "#dddfdc";
/// Okabe and Ito's colours, which people with any colour vision can tell apart; after them come dashes.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b5f63",
];

/// The learning curve of a setting, with the name it has in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name.
    pub label: String,
    /// The points, by sequences.
    pub points: Vec<Spread>,
}

/// Writes the picture; the threshold in bits per sequence is a dashed line, where it is in the picture.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, curves: &[Curve], threshold: f64) -> Result<(), Error> {
    let picture = picture(curves, threshold);
    file::write_atomically(path, |to| to.write_all(picture.as_bytes()))
}

/// The picture as text.
pub fn picture(curves: &[Curve], threshold: f64) -> String {
    let plot = Plot::around(curves);
    let height = BOTTOM + 64.0 + LINE * curves.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
         <title>Learning curves: bits per sequence over sequences</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"{PAPER}\"/>\n"
    );
    plot.axes(&mut svg);
    for (index, curve) in curves.iter().enumerate() {
        plot.band(&mut svg, index, curve);
    }
    plot.threshold(&mut svg, threshold);
    for (index, curve) in curves.iter().enumerate() {
        plot.line(&mut svg, index, curve);
        legend(&mut svg, index, &curve.label);
    }
    svg + "</svg>\n"
}

/// Where numbers lie in the picture.
struct Plot {
    sequences: f64,
    lowest: f64,
    highest: f64,
    is_log: bool,
    ticks: Vec<f64>,
}

impl Plot {
    fn around(curves: &[Curve]) -> Self {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let sequences = points().map(|point| point.sequences).max().unwrap_or(0);
        let values = points().flat_map(|point| [point.lowest, point.median, point.highest]);
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let above_zero = values.iter().copied().filter(|value| *value > 0.0);
        let lowest = above_zero.fold(highest, f64::min);
        let is_log = highest / lowest > LOG_FROM;
        let ticks = if is_log {
            let last = highest.log10().ceil() as i32;
            let first = (lowest.log10().floor() as i32).max(last - MOST_DECADES);
            (first..=last).map(|power| 10f64.powi(power)).collect()
        } else {
            // A curve that stays far above zero, as that of a task with an optimum, gets the whole height.
            let from = if lowest > highest / 2.0 { lowest } else { 0.0 };
            even_ticks(from, highest)
        };
        Self {
            sequences: sequences.max(1) as f64,
            lowest: ticks[0],
            highest: ticks[ticks.len() - 1],
            is_log,
            ticks,
        }
    }

    fn x(&self, sequences: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * sequences / self.sequences
    }

    /// Values beyond the axis lie on its end.
    fn y(&self, bits: f64) -> f64 {
        let bits = bits.clamp(self.lowest, self.highest);
        let share = if self.is_log {
            (bits / self.lowest).ln() / (self.highest / self.lowest).ln()
        } else {
            (bits - self.lowest) / (self.highest - self.lowest)
        };
        BOTTOM - (BOTTOM - TOP) * share
    }

    fn axes(&self, svg: &mut String) {
        for &tick in &self.ticks {
            let y = self.y(tick);
            let (label, text) = (number(tick), y + 4.5);
            push(
                svg,
                &format!(
                    "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>\
                     <text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"end\">{label}</text>",
                    LEFT - 8.0
                ),
            );
        }
        let ticks = even_ticks(0.0, self.sequences);
        for tick in ticks.into_iter().filter(|tick| *tick <= self.sequences) {
            let x = self.x(tick);
            let (label, end) = (number(tick), BOTTOM + 5.0);
            push(
                svg,
                &format!(
                    "<path d=\"M{x:.1} {BOTTOM}V{end}\" stroke=\"{INK}\"/>\
                     <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    BOTTOM + 20.0
                ),
            );
        }
        let scale = if self.is_log { ", logarithmic" } else { "" };
        let middle = f64::midpoint(TOP, BOTTOM);
        push(
            svg,
            &format!(
                "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"{INK}\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">sequences</text>\n\
                 <text transform=\"translate(18 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">bits per sequence{scale}</text>",
                f64::midpoint(LEFT, RIGHT),
                BOTTOM + 42.0
            ),
        );
    }

    fn band(&self, svg: &mut String, index: usize, curve: &Curve) {
        let points = thin(&curve.points, MOST_POINTS);
        if points.len() < 2 {
            return;
        }
        let at = |point: &Spread, bits: f64| {
            format!("{:.1} {:.1}", self.x(point.sequences as f64), self.y(bits))
        };
        let upper = points.iter().map(|point| at(point, point.highest));
        let lower = points.iter().rev().map(|point| at(point, point.lowest));
        let path: Vec<String> = upper.chain(lower).collect();
        let colour = COLOURS[index % COLOURS.len()];
        push(
            svg,
            &format!(
                "<path d=\"M{}Z\" fill=\"{colour}\" fill-opacity=\"0.16\" stroke=\"none\"/>",
                path.join("L")
            ),
        );
    }

    fn line(&self, svg: &mut String, index: usize, curve: &Curve) {
        let mut path = String::new();
        let mut is_on = false;
        for point in thin(&curve.points, MOST_POINTS) {
            // Where the median is not finite the line has a gap.
            if point.median.is_finite() {
                let (x, y) = (self.x(point.sequences as f64), self.y(point.median));
                let _ = write!(path, "{}{x:.1} {y:.1}", if is_on { 'L' } else { 'M' });
            }
            is_on = point.median.is_finite();
        }
        if !path.is_empty() {
            push(svg, &format!("<path d=\"{path}\" {}/>", stroke(index)));
        }
    }

    fn threshold(&self, svg: &mut String, threshold: f64) {
        if threshold < self.lowest || threshold > self.highest {
            return;
        }
        let y = self.y(threshold);
        push(
            svg,
            &format!(
                "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{INK}\" stroke-dasharray=\"2 4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">threshold {threshold}</text>",
                RIGHT - 4.0,
                y - 4.0
            ),
        );
    }
}

fn push(svg: &mut String, line: &str) {
    svg.push_str(line);
    svg.push('\n');
}

fn stroke(index: usize) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    let dashes = match index / COLOURS.len() {
        0 => String::new(),
        round => format!(" stroke-dasharray=\"{} 4\"", 10 / round.min(5)),
    };
    format!(
        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dashes}"
    )
}

fn legend(svg: &mut String, index: usize, label: &str) {
    let y = BOTTOM + 66.0 + LINE * index as f64;
    let (end, text) = (LEFT + 28.0, LEFT + 36.0);
    push(
        svg,
        &format!(
            "<path d=\"M{LEFT} {y:.1}H{end}\" {}/><text x=\"{text}\" y=\"{:.1}\">{}</text>",
            stroke(index),
            y + 4.5,
            escape(&short(label))
        ),
    );
}

/// Round numbers from at most `from` to at least `to`, about six of them.
fn even_ticks(from: f64, to: f64) -> Vec<f64> {
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
fn number(value: f64) -> String {
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

/// Text that is safe between tags.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no place for control characters.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
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
        }
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
        let svg = picture(&curves, 0.1);
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
        let svg = picture(
            &[curve(
                "n",
                &[(10, [150.0, 160.0, 199.0]), (20, [134.0, 135.0, 136.0])],
            )],
            0.1,
        );
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
            let svg = picture(&curves, 0.1);
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
