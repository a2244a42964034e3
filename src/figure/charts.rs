//! Charts on a page, one below the other.

use super::animation::Walk;
use super::chart::{Across, Chart, Form, Line, Up, decades, number};
use super::layout::Scene;
use super::pages::Moment;
use super::paint::Draw;
use super::{Colours, Drawing, Ink, Pages, Style};

const WIDTH: f32 = 760.0;
const LEFT: f32 = 64.0;
const RIGHT: f32 = WIDTH - 20.0;
/// Heights of the first chart and of the others, and the room for the words above each.
const HEIGHTS: [f32; 2] = [230.0, 96.0];
const WORDS: f32 = 44.0;
/// Room for an axis below a chart.
const AXIS: f32 = 36.0;

/// Charts on a page, one below the other.
#[derive(Clone, Debug)]
pub struct Charts {
    /// What they are about, above all.
    pub title: String,
    /// The charts.
    pub charts: Vec<Chart>,
    /// Light on dark.
    pub dark: bool,
}

impl Pages for Charts {
    fn scene(&self) -> Scene<'_> {
        (self.page(), Vec::new())
    }

    fn draw_at(&self, _: Moment) -> Drawing {
        self.page()
    }

    fn moments(&self, _: Walk) -> Vec<Moment> {
        vec![Moment::new(0, None)]
    }

    fn least_size(&self) -> (f32, f32) {
        (WIDTH, self.page().height)
    }
}

impl Charts {
    fn page(&self) -> Drawing {
        let colours = Colours::for_theme(self.dark);
        let mut drawing = Drawing::new(WIDTH, 0.0, colours.panel, self.title.clone());
        let style = Style::new(15.0, colours.strong).bold();
        drawing.text(self.title.clone(), [LEFT, 22.0], style);
        let mut top = 34.0;
        for (index, chart) in self.charts.iter().enumerate() {
            let height = HEIGHTS[usize::from(index > 0)];
            let plot = Plot::new(chart, colours, [top + WORDS, top + WORDS + height]);
            plot.draw(&mut drawing);
            top += WORDS + height + AXIS;
        }
        drawing.height = top + 8.0;
        drawing
    }
}

/// A chart at its place on a page.
struct Plot<'a> {
    chart: &'a Chart,
    colours: &'a Colours,
    /// Places at the edges, from left to right and upwards.
    x: [f64; 2],
    y: [f64; 2],
    top: f32,
    bottom: f32,
}

impl<'a> Plot<'a> {
    fn new(chart: &'a Chart, colours: &'a Colours, [top, bottom]: [f32; 2]) -> Self {
        let x = match chart.across {
            Across::Sizes(_, [first, last]) => [first - 0.5, last + 0.5],
            Across::Sequences => {
                let all = chart.lines.iter().flat_map(|line| &line.points);
                let ends = all.fold([f64::INFINITY, 1.0], |[first, last]: [f64; 2], point| {
                    [first.min(point[0]), last.max(point[0])]
                });
                let [first, last] = [ends[0].min(ends[1]), ends[1]].map(|end| end.max(1.0).log10());
                [first, last.max(first + 0.1)]
            }
        };
        Self {
            chart,
            colours,
            x,
            y: chart.range(),
            top,
            bottom,
        }
    }

    fn at(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        let share = |place: f64, [low, high]: [f64; 2]| {
            ((place - low) / (high - low).max(1e-9)).clamp(0.0, 1.0) as f32
        };
        let x = share(self.chart.across.place(x), self.x);
        let y = share(self.chart.up.place(y), self.y);
        [
            LEFT + (RIGHT - LEFT) * x,
            self.bottom - (self.bottom - self.top) * y,
        ]
    }

    fn draw(&self, drawing: &mut Drawing) {
        self.words(drawing);
        self.axes(drawing);
        for line in &self.chart.lines {
            self.band(drawing, line);
        }
        for line in &self.chart.lines {
            self.line(drawing, line);
        }
        self.levels(drawing);
        self.events(drawing);
    }

    /// The name, what it means, and which line is what.
    fn words(&self, drawing: &mut Drawing) {
        let (chart, colours) = (self.chart, self.colours);
        let bold = Style::new(13.0, colours.strong).bold();
        drawing.text(chart.name.clone(), [LEFT, self.top - 29.0], bold);
        let small = Style::new(11.0, colours.subdued);
        drawing.text(chart.meaning.clone(), [LEFT, self.top - 13.0], small);
        let mut right = RIGHT;
        let several = chart.lines.len() > 1;
        for line in chart.lines.iter().rev().filter(|_| several) {
            let width = super::drawing::width_of(&line.name, 11.0);
            let text = Style::new(11.0, colours.text);
            let y = self.top - 29.0;
            drawing.text(line.name.clone(), [right - width, y], text);
            let ink = line.hue.of(colours);
            let sample = [[right - width - 22.0, y], [right - width - 6.0, y]];
            drawing.dashed(&sample, ink, 2.0, dashes(line.form));
            right -= width + 34.0;
        }
    }

    fn axes(&self, drawing: &mut Drawing) {
        let (colours, text) = (self.colours, Style::new(11.0, self.colours.text));
        for (place, label) in marks(self.y, self.chart.up, self.bottom - self.top) {
            let y = self.at([1.0, self.chart.up.value(place)])[1];
            drawing.line(&[[LEFT, y], [RIGHT, y]], colours.line, 1.0);
            drawing.text(label, [LEFT - 8.0, y], text.end());
        }
        let ends = [[LEFT, self.top], [LEFT, self.bottom], [RIGHT, self.bottom]];
        drawing.line(&ends, colours.subdued, 1.0);
        let up = match self.chart.across {
            Across::Sequences => Up::Logarithm,
            Across::Sizes(..) => Up::From(self.x),
        };
        for (place, label) in marks(self.x, up, (RIGHT - LEFT) / 3.0) {
            let x = LEFT + (RIGHT - LEFT) * ((place - self.x[0]) / (self.x[1] - self.x[0])) as f32;
            let y = self.bottom;
            drawing.line(&[[x, y], [x, y + 4.0]], colours.subdued, 1.0);
            drawing.text(label, [x, y + 13.0], text.middle());
        }
        let name = self.chart.across.name().to_owned();
        let style = Style::new(11.0, colours.subdued).end();
        drawing.text(name, [RIGHT, self.bottom + 27.0], style);
    }

    fn band(&self, drawing: &mut Drawing, line: &Line) {
        if line.band.len() < 2 {
            return;
        }
        let with = |end: usize| {
            let both = line.points.iter().zip(&line.band);
            both.map(move |(point, band)| self.at([point[0], band[end]]))
        };
        let lower: Vec<_> = with(0).collect();
        let points: Vec<_> = with(1).chain(lower.into_iter().rev()).collect();
        drawing.shape(&points, Ink::from(line.hue.of(self.colours)).faded(0.18));
    }

    fn line(&self, drawing: &mut Drawing, line: &Line) {
        let ink = line.hue.of(self.colours);
        let finite = |point: &&[f64; 2]| point[1].is_finite();
        let points = line
            .points
            .iter()
            .filter(finite)
            .map(|&point| self.at(point));
        let points: Vec<_> = points.collect();
        match line.form {
            Form::Whole => drawing.line(&points, ink, 2.0),
            Form::Thin => drawing.line(&points, ink, 1.0),
            Form::Dashed => drawing.dashed(&points, ink, 1.5, dashes(line.form)),
            Form::Dots => {
                for [x, y] in points {
                    let r = 2.0;
                    let corners = [[x - r, y], [x, y - r], [x + r, y], [x, y + r]];
                    drawing.shape(&corners, ink);
                }
            }
            Form::Bars => {
                let step = (RIGHT - LEFT) / (self.x[1] - self.x[0]).max(1.0) as f32;
                let half = 0.35 * step;
                for [x, y] in points {
                    let b = self.bottom;
                    let corners = [[x - half, b], [x - half, y], [x + half, y], [x + half, b]];
                    drawing.shape(&corners, ink);
                }
            }
        }
    }

    fn levels(&self, drawing: &mut Drawing) {
        let style = Style::new(11.0, self.colours.text).end();
        for (level, name) in &self.chart.levels {
            let y = self.at([1.0, *level])[1];
            let line = [[LEFT, y], [RIGHT, y]];
            drawing.dashed(&line, self.colours.subdued, 1.0, &[2.0, 4.0]);
            drawing.text(name.clone(), [RIGHT - 4.0, y - 8.0], style);
        }
    }

    fn events(&self, drawing: &mut Drawing) {
        let style = Style::new(11.0, self.colours.text);
        for (place, name) in &self.chart.events {
            let x = self.at([*place, 1.0])[0];
            let line = [[x, self.top], [x, self.bottom]];
            drawing.dashed(&line, self.colours.accent, 1.0, &[3.0, 3.0]);
            drawing.text(name.clone(), [x + 4.0, self.top + 8.0], style);
        }
    }
}

fn dashes(form: Form) -> &'static [f32] {
    match form {
        Form::Dashed => &[5.0, 3.0],
        Form::Dots => &[3.0, 4.0],
        Form::Whole | Form::Thin | Form::Bars => &[],
    }
}

/// Marks of an axis of this length with their labels, as many as there is room for.
fn marks([low, high]: [f64; 2], up: Up, length: f32) -> Vec<(f64, String)> {
    let per_unit = f64::from(length) / (high - low).max(1e-9);
    match up {
        Up::Logarithm => {
            let marks = decades([low, high]).into_iter();
            let fits = |(_, apart): &(f64, f64)| apart * per_unit >= 16.0;
            let told = |(place, _): (f64, f64)| (place, number(up.value(place)));
            marks.filter(fits).map(told).collect()
        }
        Up::From(_) | Up::Percent(_) => {
            let steps = [
                0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0,
            ];
            let step = steps.into_iter().find(|step| step * per_unit >= 20.0);
            let step = step.unwrap_or(1000.0);
            let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
            let places = (first..=last).map(|index| index as f64 * step);
            places.map(|place| (place, up.told(place))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::Hue;
    use super::*;

    fn chart(points: &[[f64; 2]]) -> Chart {
        Chart {
            name: "Bits".into(),
            meaning: "what is left".into(),
            across: Across::Sequences,
            up: Up::Logarithm,
            lines: vec![Line {
                name: "mean".into(),
                hue: Hue::Line(0),
                form: Form::Whole,
                points: points.to_vec(),
                band: points.iter().map(|p| [p[1] / 2.0, p[1] * 2.0]).collect(),
            }],
            levels: vec![(80.0, "guessing".into())],
            events: vec![(500.0, "rate = 0.1".into())],
        }
    }

    #[test]
    fn a_page_says_what_is_on_it_in_both_themes() {
        let bars = Chart {
            across: Across::Sizes("length", [1.0, 20.0]),
            up: Up::Percent([0.0, 0.5]),
            ..chart(&[[1.0, 0.25], [20.0, 0.5]])
        };
        for dark in [false, true] {
            let page = Charts {
                title: "Copy, seed 1".into(),
                charts: vec![
                    chart(&[[1.0, 84.0], [1000.0, 2.0], [90_000.0, 0.01]]),
                    bars.clone(),
                ],
                dark,
            };
            let svg = page.draw().to_svg();
            for words in [
                "Copy, seed 1",
                "guessing",
                "rate = 0.1",
                ">10 k<",
                ">0.1<",
                "25 %",
                "length",
            ] {
                assert!(svg.contains(words), "{words}: {svg}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn nothing_and_what_is_not_finite_are_drawn_without_a_panic() {
        for points in [
            &[][..],
            &[[1.0, 0.0]],
            &[[1.0, f64::NAN], [5.0, f64::INFINITY]],
        ] {
            let page = Charts {
                title: String::new(),
                charts: vec![chart(points)],
                dark: false,
            };
            let svg = page.draw().to_svg();
            assert!(svg.contains("sequences"));
        }
    }
}
