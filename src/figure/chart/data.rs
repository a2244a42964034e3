//! A chart: values of a run along an axis, as lines in bands, with reference levels. It is pure data: the window
//! lets it be zoomed and switched, and on a page charts are a figure ([`crate::figure::chart::page`]).

use crate::figure::facts::numbers::brief;
use crate::figure::{Colours, HUES, HeadName, Rgb};

/// Smallest value on a logarithmic axis.
pub const LEAST: f64 = 1e-3;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The name.
    pub name: String,
    /// The meaning, in a sentence.
    pub meaning: String,
    /// The horizontal axis.
    pub across: Across,
    /// The vertical axis.
    pub up: Up,
    /// Lines, in the order in which they are painted.
    pub lines: Vec<Line>,
    /// Reference levels, each with its name.
    pub levels: Vec<(f64, String)>,
    /// Places of events on the axis, each with its description.
    pub events: Vec<(f64, String)>,
}

/// The horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Across {
    /// Sequences trained on, logarithmic.
    Sequences,
    /// Whole numbers by this name, such as sizes of episodes, from the first to the last.
    Sizes(&'static str, [f64; 2]),
}

/// The vertical axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Up {
    /// A logarithmic axis over the range of the values.
    Logarithm,
    /// A logarithmic axis from here to there, whatever there is.
    Decades([f64; 2]),
    /// An axis from here to there, whatever there is.
    From([f64; 2]),
    /// A linear axis for shares, labelled in percent.
    Percent([f64; 2]),
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The name.
    pub name: String,
    /// The colour.
    pub hue: Hue,
    /// The form in which it is drawn.
    pub form: Form,
    /// The points, from left to right.
    pub points: Vec<[f64; 2]>,
    /// Minimum and maximum behind each point; empty where they are not shown.
    pub band: Vec<[f64; 2]>,
}

/// The colour of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hue {
    /// One line of several.
    Line(usize),
    /// A head.
    Head(HeadName),
    /// A line on its own.
    Accent,
    /// A part in the future.
    Faint,
}

/// Form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line.
    Whole,
    /// A thin line, secondary to the main one.
    Thin,
    /// A dashed line.
    Dashed,
    /// A dot at every point.
    Dots,
    /// A bar at every point.
    Bars,
}

impl Hue {
    /// Returns the colour in this theme.
    pub fn of(self, colours: &Colours) -> Rgb {
        match self {
            Self::Line(index) => colours.line(index),
            Self::Head(name) => colours.head(name),
            Self::Accent => colours.accent,
            Self::Faint => colours.line,
        }
    }

    /// Lengths of dashes and gaps, where there are more lines than hues.
    pub fn dashes(self) -> Vec<f32> {
        match self {
            Self::Line(index) if index >= 2 * HUES => {
                vec![10.0 / (index / (2 * HUES)).min(5) as f32, 4.0]
            }
            _ => Vec::new(),
        }
    }
}

impl Line {
    /// Lengths of its dashes and gaps: by its form, or where there are more lines than hues.
    pub fn dashes(&self) -> Vec<f32> {
        match (self.form, self.hue) {
            (Form::Dashed, _) => vec![5.0, 3.0],
            (Form::Dots, _) => vec![3.0, 4.0],
            _ => self.hue.dashes(),
        }
    }
}

/// Returns log₁₀ of a value, never less than that of the smallest.
pub fn log(value: f64) -> f64 {
    value.max(LEAST).log10()
}

impl Across {
    /// Returns the position of a value.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Sequences => value.max(1.0).log10(),
            Self::Sizes(..) => value,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequences => "sequences",
            Self::Sizes(name, _) => name,
        }
    }
}

impl Up {
    /// Returns the position of a value.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Logarithm => log(value),
            Self::Decades([low, _]) => value.max(low).log10(),
            Self::From(_) | Self::Percent(_) => value,
        }
    }

    /// The value at a place.
    pub fn value(self, place: f64) -> f64 {
        match self {
            Self::Logarithm | Self::Decades(_) => 10f64.powf(place),
            Self::From(_) | Self::Percent(_) => place,
        }
    }

    /// True of a logarithmic axis.
    pub fn is_log(self) -> bool {
        matches!(self, Self::Logarithm | Self::Decades(_))
    }

    /// A value in words.
    pub fn describe(self, value: f64) -> String {
        match self {
            Self::Percent(_) => format!("{} %", brief(100.0 * value)),
            _ => brief(value),
        }
    }
}

impl Chart {
    /// The places of the points of all lines and of the levels, from the lowest to the highest, with some room: a band
    /// may go beyond.
    pub fn range(&self) -> [f64; 2] {
        if let Up::From(ends) | Up::Percent(ends) | Up::Decades(ends) = self.up {
            return ends.map(|end| self.up.place(end));
        }
        let points = self.lines.iter().flat_map(|line| &line.points);
        let levels = self.levels.iter().map(|(level, _)| *level);
        let all = points.map(|point| point[1]).chain(levels);
        let places = all.filter(|value| value.is_finite()).map(log);
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        if low > high {
            return [-1.0, 1.0];
        }
        let room = 0.12 * (high - low).max(0.5);
        [low - room, high + room]
    }
}

/// Marks of a logarithmic axis between these places, each with how far it is from the next of its kind, in decades.
pub fn decades([low, high]: [f64; 2]) -> Vec<(f64, f64)> {
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
    marks
        .filter(|(mark, _)| (low..=high).contains(mark))
        .collect()
}
