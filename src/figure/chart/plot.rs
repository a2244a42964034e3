//! A chart at its place on a page: axes with their numbers, lines in bands, levels and events.

use crate::figure::chart::data::{Across, Chart, Form, Line, Up, decades};
use crate::figure::scene::paint::Draw;
use crate::figure::{Area, Colours, Drawing, Ink, Style};

/// The least room that a number has on an upright axis, and along a level one, in sizes of its letters.
const ROOM: [f32; 2] = [1.5, 4.5];

/// A chart at its place on a page.
pub(crate) struct Plot<'a> {
    chart: &'a Chart,
    colours: &'a Colours,
    /// The area of the lines; numbers are at the left and below.
    area: Area,
    /// Places at the edges, from left to right and upwards.
    x: [f64; 2],
    y: [f64; 2],
    /// Height of letters.
    letters: f32,
}

impl<'a> Plot<'a> {
    pub(crate) fn new(chart: &'a Chart, area: Area, colours: &'a Colours) -> Self {
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
            area,
            x,
            y: chart.range(),
            letters: 11.0,
        }
    }

    /// Sets the height of the letters.
    pub(crate) fn with_letters(self, letters: f32) -> Self {
        Self { letters, ..self }
    }

    /// Returns the position of a point; points beyond an axis are moved to its end.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        let share = |place: f64, [low, high]: [f64; 2]| {
            ((place - low) / (high - low).max(1e-9)).clamp(0.0, 1.0) as f32
        };
        let x = share(self.chart.across.place(x), self.x);
        let y = share(self.chart.up.place(y), self.y);
        let Area {
            left,
            right,
            bottom,
            ..
        } = self.area;
        [left + (right - left) * x, bottom - self.area.height() * y]
    }

    /// All of it.
    pub(crate) fn draw(&self, drawing: &mut Drawing) {
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

    fn axes(&self, drawing: &mut Drawing) {
        let Area {
            left,
            top,
            right,
            bottom,
        } = self.area;
        let (colours, letters) = (self.colours, self.letters);
        let text = Style::new(letters, colours.text);
        let [upright, along] = ROOM.map(|room| f64::from(room * letters));
        let up = self.chart.up;
        for value in ticks(self.y, up, f64::from(bottom - top) / upright) {
            let y = self.at([1.0, value])[1];
            drawing.line(&[[left, y], [right, y]], colours.line, 1.0);
            drawing.text(up.describe(value), [left - 8.0, y], text.end());
        }
        let ends = [[left, top], [left, bottom], [right, bottom]];
        drawing.line(&ends, colours.subdued, 1.0);
        let across = match self.chart.across {
            Across::Sequences => Up::Logarithm,
            Across::Sizes(..) => Up::From(self.x),
        };
        for value in ticks(self.x, across, f64::from(right - left) / along) {
            let x = self.at([value, 1.0])[0];
            drawing.line(&[[x, bottom], [x, bottom + 4.0]], colours.subdued, 1.0);
            let at = [x, bottom + letters + 3.0];
            drawing.text(across.describe(value), at, text.middle());
        }
        let scale = if across.is_log() { ", logarithmic" } else { "" };
        let name = format!("{}{scale}", self.chart.across.name());
        let style = Style::new(letters, colours.subdued).end();
        drawing.text(name, [right, bottom + 2.4 * letters + 1.0], style);
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

    /// Draws a line, with gaps where it is not finite.
    fn line(&self, drawing: &mut Drawing, line: &Line) {
        let points = &line.points;
        for part in points.chunk_by(|a, b| a[1].is_finite() == b[1].is_finite()) {
            let finite = part.iter().filter(|point| point[1].is_finite());
            let points: Vec<_> = finite.map(|&point| self.at(point)).collect();
            if !points.is_empty() {
                self.stroke(drawing, line, points);
            }
        }
    }

    fn stroke(&self, drawing: &mut Drawing, line: &Line, points: Vec<[f32; 2]>) {
        let (ink, dashes) = (line.hue.of(self.colours), line.dashes());
        match line.form {
            Form::Whole => drawing.dashed(&points, ink, 2.0, &dashes),
            Form::Thin => drawing.dashed(&points, ink, 1.0, &dashes),
            Form::Dashed => drawing.dashed(&points, ink, 1.5, &dashes),
            Form::Dots => {
                for [x, y] in points {
                    let r = 2.0;
                    let corners = [[x - r, y], [x, y - r], [x + r, y], [x, y + r]];
                    drawing.shape(&corners, ink);
                }
            }
            Form::Bars => {
                let step = self.area.width() / (self.x[1] - self.x[0]).max(1.0) as f32;
                let half = 0.35 * step;
                for [x, y] in points {
                    let b = self.area.bottom;
                    let corners = [[x - half, b], [x - half, y], [x + half, y], [x + half, b]];
                    drawing.shape(&corners, ink);
                }
            }
        }
    }

    fn levels(&self, drawing: &mut Drawing) {
        let style = Style::new(self.letters, self.colours.text).end();
        for (level, name) in &self.chart.levels {
            let y = self.at([1.0, *level])[1];
            let line = [[self.area.left, y], [self.area.right, y]];
            drawing.dashed(&line, self.colours.subdued, 1.0, &[2.0, 4.0]);
            drawing.text(
                name.clone(),
                [self.area.right - 4.0, y - 0.75 * self.letters],
                style,
            );
        }
    }

    fn events(&self, drawing: &mut Drawing) {
        let style = Style::new(self.letters, self.colours.text);
        for (place, name) in &self.chart.events {
            let x = self.at([*place, 1.0])[0];
            let line = [[x, self.area.top], [x, self.area.bottom]];
            drawing.dashed(&line, self.colours.accent, 1.0, &[3.0, 3.0]);
            drawing.text(name.clone(), [x + 4.0, self.area.top + 8.0], style);
        }
    }
}

/// The values marked on an axis between these limits, at most `most`, or two.
fn ticks([low, high]: [f64; 2], up: Up, most: f64) -> Vec<f64> {
    let apart = (high - low).max(1e-9) / most.max(1.0);
    if up.is_log() {
        let marks = decades([low, high]).into_iter();
        let fits = marks.filter(|(_, room)| *room >= apart);
        return fits.map(|(place, _)| up.value(place)).collect();
    }
    let power = 10f64.powf(apart.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= apart * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = (
        (low / step - 1e-9).ceil() as i64,
        (high / step + 1e-9).floor() as i64,
    );
    (first..=last).map(|index| index as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_as_many_round_numbers_as_there_is_room_for() {
        let linear = Up::From([0.0, 100.0]);
        assert_eq!(
            ticks([0.0, 100.0], linear, 5.0),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(ticks([-0.5, 20.5], linear, 4.0), [0.0, 10.0, 20.0]);
        assert_eq!(ticks([0.0, 2.0], Up::Logarithm, 3.0), [1.0, 10.0, 100.0]);
        let fine: Vec<_> = ticks([0.0, 1.0], Up::Logarithm, 4.0);
        assert_eq!(
            fine.iter().map(|value| value.round()).collect::<Vec<_>>(),
            [1.0, 2.0, 5.0, 10.0]
        );
    }
}
