//! A chart at its place: heading with legend, axes with their numbers, lines in bands, levels and events.

use crate::figure::chart::data::{Chart, Form, Line};
use crate::figure::facts::ticks::Axis;
use crate::figure::scene::fonts::text_width;
use crate::figure::scene::paint::{Draw, Paint};
use crate::figure::{Area, Colours, Ink, Style};

/// Room for the numbers at the left of a plot.
pub const LEFT: f32 = 42.0;
/// Room for half a number at its right.
pub const RIGHT: f32 = 24.0;
/// Room for the axis below it.
pub const BELOW: f32 = 34.0;
/// The least room that a number has on an upright axis, and along a level one, in sizes of its letters.
const ROOM: [f32; 2] = [1.5, 4.5];
/// Size of the letters of the meaning and the legend, and the height of a line of them.
const SMALL: f32 = 11.0;
const LINE: f32 = 15.0;
/// Height of the name.
pub const NAME: f32 = 20.0;
/// The length of the sample in a legend, and the room around it.
const SAMPLE: f32 = 22.0;
const AROUND: f32 = 6.0;
/// The opacity of a band.
const BAND: f32 = 0.18;
/// The most letters of a name in a legend.
const MOST_LETTERS: usize = 80;

/// Paints name, meaning and legend of a chart in this width; returns the lower end.
pub fn heading(
    paint: &mut dyn Paint,
    chart: &Chart,
    [left, top]: [f32; 2],
    width: f32,
    colours: &Colours,
) -> f32 {
    let bold = Style::new(13.0, colours.strong).bold();
    let middle = top + NAME / 2.0;
    paint.text(chart.name.clone(), [left, middle], bold);
    let mut bottom = top + NAME;
    let style = Style::new(SMALL, colours.subdued);
    let words: Vec<_> = chart.meaning.split_inclusive(' ').collect();
    let widths = words.iter().map(|word| text_width(word, SMALL));
    let rows: Vec<_> = flow(widths, width).map(|(row, _)| row).collect();
    let words: Vec<_> = words.into_iter().zip(rows).collect();
    for row in words.chunk_by(|a, b| a.1 == b.1) {
        let row: String = row.iter().map(|(word, _)| *word).collect();
        paint.text(row.trim_end(), [left, bottom + LINE / 2.0], style);
        bottom += LINE;
    }
    // A legend that does not fit beside the name goes below the meaning.
    let legend = chart.legend();
    let name = |name: &str| text_width(name, SMALL) + SAMPLE + 2.0 * AROUND;
    let widths: Vec<f32> = legend.iter().map(|entry| name(&entry.name)).collect();
    let beside = left + text_width(&chart.name, 13.0) + 2.0 * AROUND;
    let is_beside = beside + widths.iter().sum::<f32>() <= left + width;
    let below = (left, bottom + LINE / 2.0);
    let (from, y) = if is_beside { (beside, middle) } else { below };
    for (entry, (row, x)) in legend.into_iter().zip(flow(widths, width)) {
        let [x, y] = [from + x, y + row as f32 * LINE];
        let hue = entry.line.hue.of(colours);
        if entry.is_band {
            let area = Area::new(x, y - 4.0, SAMPLE, 8.0);
            paint.rect(area, Ink::from(hue).faded(BAND));
        } else {
            let ends = [[x, y], [x + SAMPLE, y]];
            paint.dashed(&ends, hue, 2.0, entry.line.dashes());
        }
        let style = Style::new(SMALL, colours.text);
        paint.text(shortened(&entry.name), [x + SAMPLE + AROUND, y], style);
        bottom = bottom.max(y + LINE / 2.0);
    }
    bottom + AROUND
}

/// The row and the left end of things of these widths, as many in a row as there is room for.
fn flow(widths: impl IntoIterator<Item = f32>, room: f32) -> impl Iterator<Item = (usize, f32)> {
    let (mut row, mut right) = (0, 0.0);
    widths.into_iter().map(move |width| {
        if right > 0.0 && right + width > room + 0.5 {
            (row, right) = (row + 1, 0.0);
        }
        let left = right;
        right += width;
        (row, left)
    })
}

/// A name that fits on a line.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let kept = name.chars().take(MOST_LETTERS - 1);
    kept.chain(['…']).collect()
}

/// A chart at its place, without its heading.
pub struct Plot<'a> {
    chart: &'a Chart,
    colours: &'a Colours,
    /// The area of the lines; numbers are at the left and below.
    pub area: Area,
    /// The part of the horizontal axis that is shown.
    across: Axis,
    /// Height of letters.
    pub(crate) letters: f32,
}

impl<'a> Plot<'a> {
    /// Places a chart: the area is that of the lines.
    pub fn new(chart: &'a Chart, area: Area, colours: &'a Colours) -> Self {
        Self {
            chart,
            colours,
            area,
            across: chart.across,
            letters: SMALL,
        }
    }

    /// Shows this part of the horizontal axis.
    pub fn over(self, across: Axis) -> Self {
        Self { across, ..self }
    }

    /// Returns the place of a value on the horizontal axis, which may be beyond its ends.
    pub fn x(&self, value: f64) -> f32 {
        self.xs()(value)
    }

    /// Returns the height of a value; values beyond the axis are moved to its end.
    pub fn y(&self, value: f64) -> f32 {
        self.ys()(value)
    }

    fn xs(&self) -> impl Fn(f64) -> f32 {
        let (area, share) = (self.area, self.across.shares());
        move |value| area.left + area.width() * share(value) as f32
    }

    fn ys(&self) -> impl Fn(f64) -> f32 {
        let (area, share) = (self.area, self.chart.up.shares());
        move |value| area.bottom - area.height() * share(value).clamp(0.0, 1.0) as f32
    }

    /// All of it.
    pub fn draw(&self, paint: &mut dyn Paint) {
        self.axes(paint);
        self.lines(paint);
    }

    /// The axes with their numbers and names.
    pub fn axes(&self, paint: &mut dyn Paint) {
        let [[left, top], _, [right, bottom], ..] = self.area.corners();
        let (colours, letters) = (self.colours, self.letters);
        let text = Style::new(letters, colours.text);
        let [upright, along] = ROOM.map(|room| f64::from(room * letters));
        let up = self.chart.up;
        for value in up.ticks(f64::from(bottom - top) / upright) {
            let y = self.y(value);
            paint.line(&[[left, y], [right, y]], colours.line, 1.0);
            paint.text(up.describe(value), [left - 8.0, y], text.end());
        }
        let ends = [[left, top], [left, bottom], [right, bottom]];
        paint.line(&ends, colours.subdued, 1.0);
        for value in self.across.ticks(f64::from(right - left) / along) {
            let x = self.x(value);
            paint.line(&[[x, bottom], [x, bottom + 4.0]], colours.subdued, 1.0);
            let at = [x, bottom + letters + 3.0];
            paint.text(self.across.describe(value), at, text.middle());
        }
        let scale = ["", ", logarithmic"][usize::from(self.across.is_log())];
        let name = format!("{}{scale}", self.chart.unit);
        let style = Style::new(letters, colours.subdued).end();
        paint.text(name, [right, bottom + 2.4 * letters + 1.0], style);
    }

    /// Bands, lines, levels and events.
    pub fn lines(&self, paint: &mut dyn Paint) {
        for line in &self.chart.lines {
            self.band(paint, line);
        }
        for line in &self.chart.lines {
            self.line(paint, line);
        }
        self.levels(paint);
        let style = Style::new(self.letters, self.colours.text);
        for (index, (place, name)) in self.chart.events.iter().enumerate() {
            let x = self.x(*place);
            paint.dashed(&self.area.upright(x), self.colours.accent, 1.0, &[3.0, 3.0]);
            let y = self.area.top + self.letters * (0.75 + 1.2 * index as f32);
            paint.text(name.clone(), [x + 4.0, y], style);
        }
        let is_zero = |line: &&Line| line.points.iter().all(|point| point[1] == 0.0);
        let mut lines = self.chart.lines.iter();
        if let Some(line) = lines.find(|line| line.form == Form::Bars && is_zero(line)) {
            let style = Style::new(self.letters, self.colours.subdued).middle();
            let at = [self.area.middle(), self.area.centre()];
            paint.text(format!("no {}", line.name), at, style);
        }
    }

    fn band(&self, paint: &mut dyn Paint, line: &Line) {
        if line.band.len() < 2 {
            return;
        }
        let (x, y) = (self.xs(), self.ys());
        let both = line.points.iter().zip(&line.band);
        let both = both.map(|(point, band)| (x(point[0]), band.map(&y)));
        let (lower, mut points): (Vec<_>, Vec<_>) =
            both.map(|(x, [low, high])| ([x, low], [x, high])).unzip();
        points.extend(lower.into_iter().rev());
        paint.shape(&points, Ink::from(line.hue.of(self.colours)).faded(BAND));
    }

    /// Draws a line, with gaps where it is not finite.
    fn line(&self, paint: &mut dyn Paint, line: &Line) {
        let (points, x, y) = (&line.points, self.xs(), self.ys());
        for part in points.chunk_by(|a, b| a[1].is_finite() == b[1].is_finite()) {
            let finite = part.iter().filter(|point| point[1].is_finite());
            let points: Vec<_> = finite.map(|&[along, up]| [x(along), y(up)]).collect();
            if !points.is_empty() {
                self.stroke(paint, line, &points);
            }
        }
    }

    fn stroke(&self, paint: &mut dyn Paint, line: &Line, points: &[[f32; 2]]) {
        let (ink, dashes) = (line.hue.of(self.colours), line.dashes());
        match line.form {
            Form::Band => {}
            Form::Whole => paint.dashed(points, ink, 2.0, dashes),
            Form::Thin => paint.dashed(points, ink, 1.2, dashes),
            Form::Dashed => paint.dashed(points, ink, 1.5, dashes),
            Form::Dots => {
                for &[x, y] in points {
                    let r = 2.5;
                    let corners = [[x - r, y], [x, y - r], [x + r, y], [x, y + r]];
                    paint.shape(&corners, ink);
                }
            }
            Form::Bars => {
                let half = 0.35 * (self.x(1.0) - self.x(0.0));
                for &[x, y] in points {
                    let bar = self.area.across(x - half, x + half);
                    paint.rect(bar.down(y, self.area.bottom), ink);
                }
            }
        }
    }

    /// Draws the levels; their names stand below each other.
    fn levels(&self, paint: &mut dyn Paint) {
        let style = Style::new(self.letters, self.colours.text).end();
        let mut levels: Vec<_> = self.chart.levels.iter().collect();
        levels.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut free = self.area.top + 0.5 * self.letters;
        for (level, name) in levels {
            if !(0.0..=1.0).contains(&self.chart.up.share(*level)) {
                continue;
            }
            let y = self.y(*level);
            paint.dashed(&self.area.level(y), self.colours.subdued, 1.0, &[2.0, 4.0]);
            let y = (y - 0.75 * self.letters).max(free);
            paint.text(name.clone(), [self.area.right - 4.0, y], style);
            free = y + 1.2 * self.letters;
        }
    }
}
