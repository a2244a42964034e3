//! A chart: values of a run along an axis, as lines in bands, with reference levels. It is pure data, painted in the
//! window, on cards and in files by one program ([`Plot`](crate::figure::chart::plot::Plot)).

use crate::figure::facts::colour::LINES;
use crate::figure::facts::ticks::Axis;
use crate::figure::{Colours, HeadName, Rgb};
use crate::train::thin;

/// The most points of a line: more than that are finer than pixels.
pub const MOST_POINTS: usize = 600;

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The name.
    pub name: String,
    /// The meaning, in a sentence.
    pub meaning: String,
    /// The horizontal axis.
    pub across: Axis,
    /// The name of the horizontal axis.
    pub unit: &'static str,
    /// The vertical axis.
    pub up: Axis,
    /// Lines, in the order in which they are painted.
    pub lines: Vec<Line>,
    /// Reference levels, each with its name.
    pub levels: Vec<(f64, String)>,
    /// Places of events on the axis, each with its description.
    pub events: Vec<(f64, String)>,
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
    /// Its band alone, which has its name.
    Band,
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
}

impl Line {
    /// Creates a line without a band.
    pub fn new(name: impl Into<String>, hue: Hue, form: Form, points: Vec<[f64; 2]>) -> Self {
        Self {
            name: name.into(),
            hue,
            form,
            points,
            band: Vec::new(),
        }
    }

    /// Lengths of its dashes and gaps: by its form, or of one of many so that lines of similar colours differ.
    pub fn dashes(&self) -> &'static [f32] {
        match (self.form, self.hue) {
            (Form::Dashed, _) => &[5.0, 3.0],
            (Form::Dots, _) => &[3.0, 4.0],
            (_, Hue::Line(index)) => match index / (LINES / 2) % 4 {
                0 => &[],
                1 => &[7.0, 3.0],
                2 => &[2.0, 3.0],
                _ => &[9.0, 3.0, 2.0, 3.0],
            },
            _ => &[],
        }
    }
}

impl Chart {
    /// Creates a chart without levels and events.
    pub fn new(
        name: impl Into<String>,
        meaning: impl Into<String>,
        (unit, across): (&'static str, Axis),
        up: Axis,
        lines: Vec<Line>,
    ) -> Self {
        Self {
            name: name.into(),
            meaning: meaning.into(),
            across,
            unit,
            up,
            lines,
            levels: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The entries of the legend: of the lines of a head one, none where there is one line, and one for all bands.
    pub fn legend(&self) -> Vec<LegendEntry<'_>> {
        let mut legend: Vec<LegendEntry<'_>> = Vec::new();
        for line in self.lines.iter().filter(|_| self.lines.len() > 1) {
            let name = match line.hue {
                Hue::Head(_) if legend.iter().any(|entry| entry.line.hue == line.hue) => continue,
                Hue::Head(name) => name.to_string(),
                _ => line.name.clone(),
            };
            legend.push(LegendEntry {
                name,
                line,
                is_band: line.form == Form::Band,
            });
        }
        let is_named = legend.iter().any(|entry| entry.is_band);
        let banded = self.lines.iter().find(|line| line.band.len() > 1);
        let banded = banded.filter(|_| !is_named);
        legend.extend(banded.map(|line| LegendEntry {
            name: "lowest to highest".to_owned(),
            line,
            is_band: true,
        }));
        legend
    }
}

/// A line, or its band, in a legend.
pub struct LegendEntry<'a> {
    /// What it is.
    pub name: String,
    /// The line.
    pub line: &'a Line,
    /// True for its band.
    pub is_band: bool,
}

/// Thins the points of a line to the number of pixels.
pub fn thinned<T: Copy>(points: impl IntoIterator<Item = T>) -> Vec<T> {
    thin(&points.into_iter().collect::<Vec<_>>(), MOST_POINTS)
}
