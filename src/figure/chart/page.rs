//! Charts on a page, one below the other.

use crate::figure::chart::data::{Chart, Line};
use crate::figure::chart::plot::Plot;
use crate::figure::scene::drawing::width_of;
use crate::figure::scene::layout::Scene;
use crate::figure::scene::pages::{FrameTime, Walk};
use crate::figure::scene::paint::Draw;
use crate::figure::{Area, Colours, Drawing, Pages, Style};

const WIDTH: f32 = 760.0;
const LEFT: f32 = 64.0;
// Half of the last number of an axis is beyond it.
const RIGHT: f32 = WIDTH - 32.0;
/// Heights of the first chart and of the others, and the room for the words above each.
const HEIGHTS: [f32; 2] = [230.0, 96.0];
const WORDS: f32 = 44.0;
/// Room for an axis below a chart.
const AXIS: f32 = 36.0;
/// The width of the line sample in a legend above.
const SAMPLE: f32 = 34.0;
/// Height of a line of the legend below all charts.
const LINE: f32 = 20.0;
/// The most letters of a name in it.
const MOST_LETTERS: usize = 80;

/// Charts on a page, one below the other.
#[derive(Clone, Debug)]
pub struct Charts {
    /// The title above all charts.
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

    fn draw_at(&self, _: FrameTime) -> Drawing {
        self.page()
    }

    fn frame_times(&self, _: Walk) -> Vec<FrameTime> {
        vec![FrameTime::new(0, None)]
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
        // What does not fit above the first stands below all.
        let first = self.charts.first();
        let below = first.filter(|chart| !fits_above(chart));
        let below = below.map_or(&[][..], |chart| &chart.lines);
        let mut top = 34.0;
        for (index, chart) in self.charts.iter().enumerate() {
            let height = HEIGHTS[usize::from(index > 0)];
            let area = Area::new(LEFT, top + WORDS, RIGHT - LEFT, height);
            words(&mut drawing, chart, top, colours);
            if names(chart).ne(below.iter().map(|line| &line.name)) {
                legend(&mut drawing, &chart.lines, top, colours);
            }
            Plot::new(chart, area, colours).draw(&mut drawing);
            top += WORDS + height + AXIS;
        }
        for line in below {
            top += LINE;
            sample(&mut drawing, line, [LEFT, top], 28.0, colours);
            let style = Style::new(12.0, colours.text);
            drawing.text(shortened(&line.name), [LEFT + 36.0, top], style);
        }
        drawing.height = top + 20.0;
        drawing
    }
}

/// Draws the name and the meaning of a chart.
fn words(drawing: &mut Drawing, chart: &Chart, top: f32, colours: &Colours) {
    let bold = Style::new(13.0, colours.strong).bold();
    drawing.text(chart.name.clone(), [LEFT, top + 15.0], bold);
    let small = Style::new(11.0, colours.subdued);
    drawing.text(chart.meaning.clone(), [LEFT, top + 31.0], small);
}

fn names(chart: &Chart) -> impl Iterator<Item = &String> {
    chart.lines.iter().map(|line| &line.name)
}

/// True where the names of the lines fit next to that of the chart.
fn fits_above(chart: &Chart) -> bool {
    let width: f32 = names(chart).map(|name| width_of(name, 11.0) + SAMPLE).sum();
    width <= RIGHT - LEFT - width_of(&chart.name, 13.0) - 12.0
}

/// Draws the legend of the lines above a chart.
fn legend(drawing: &mut Drawing, lines: &[Line], top: f32, colours: &Colours) {
    let (mut right, y) = (RIGHT, top + 15.0);
    for line in lines.iter().rev().filter(|_| lines.len() > 1) {
        let width = width_of(&line.name, 11.0);
        let style = Style::new(11.0, colours.text);
        drawing.text(line.name.clone(), [right - width, y], style);
        sample(drawing, line, [right - width - 22.0, y], 16.0, colours);
        right -= width + SAMPLE;
    }
}

/// A piece of a line.
fn sample(drawing: &mut Drawing, line: &Line, [x, y]: [f32; 2], length: f32, colours: &Colours) {
    let ends = [[x, y], [x + length, y]];
    drawing.dashed(&ends, line.hue.of(colours), 2.0, &line.dashes());
}

/// A name that fits on a line.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let kept = name.chars().take(MOST_LETTERS - 1);
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::chart::data::{Across, Form, Hue, Up};

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
    fn page_shows_its_text_in_both_themes() {
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
                ">10,000<",
                ">0.1<",
                "20 %",
                "length",
            ] {
                assert!(svg.contains(words), "{words}: {svg}");
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn empty_and_non_finite_data_draw_without_panic() {
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
