//! Charts on a page, one below the other.

use crate::figure::chart::data::Chart;
use crate::figure::chart::plot::{self, Plot};
use crate::figure::scene::layout::Scene;
use crate::figure::scene::paint::Draw;
use crate::figure::{Area, Colours, Drawing, Pages, Style};

const WIDTH: f32 = 760.0;
const MARGIN: f32 = 24.0;
/// Heights of the first plot and of the others.
const HEIGHTS: [f32; 2] = [230.0, 96.0];

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
        let colours = Colours::for_theme(self.dark);
        let mut drawing = Drawing::new(WIDTH, 0.0, colours.panel, self.title.clone());
        let style = Style::new(15.0, colours.strong).bold();
        drawing.text(self.title.clone(), [MARGIN, 22.0], style);
        let (mut top, width) = (38.0, WIDTH - 2.0 * MARGIN);
        for (index, chart) in self.charts.iter().enumerate() {
            top = plot::heading(&mut drawing, chart, [MARGIN, top], width, colours);
            let height = HEIGHTS[usize::from(index > 0)];
            let [left, right] = [MARGIN + plot::LEFT, WIDTH - MARGIN - plot::RIGHT];
            let area = Area::new(left, top, right - left, height);
            Plot::new(chart, area, colours).draw(&mut drawing);
            top += height + plot::BELOW + MARGIN / 2.0;
        }
        drawing.height = top;
        (drawing, Vec::new())
    }

    fn least_size(&self) -> (f32, f32) {
        (WIDTH, self.draw().height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::chart::data::{Form, Hue, Line};
    use crate::figure::facts::ticks::{Axis, AxisKind};

    fn chart(points: &[[f64; 2]]) -> Chart {
        let line = Line {
            band: points.iter().map(|p| [p[1] / 2.0, p[1] * 2.0]).collect(),
            ..Line::new("mean", Hue::Line(0), Form::Whole, points.to_vec())
        };
        let across = ("sequences", Axis::sequences([1.0, 90_000.0]));
        let up = Axis::log(points.iter().map(|point| point[1]).chain([80.0]));
        Chart {
            levels: vec![(80.0, "guessing".into())],
            events: vec![(500.0, "rate = 0.1".into())],
            ..Chart::new("Bits", "what is left", across, up, vec![line])
        }
    }

    #[test]
    fn page_shows_its_text_in_both_themes() {
        let bars = Chart {
            across: Axis::new(AxisKind::Whole, [0.5, 20.5]),
            unit: "length",
            up: Axis::new(AxisKind::Percent, [0.0, 0.5]),
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
