//! The addressing of a head at a step: a column for each weighting, and lines for the flow between them.

use crate::figure::facts::column::Column;
use crate::figure::facts::episode::{FAINT, FirstWriteSteps};
use crate::figure::facts::links::{self, WeightFlow};
use crate::figure::facts::moment::Moment;
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::facts::spread::SpreadBand;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::annotations::{gaps, plate, text_on, unrecorded};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::text_width;
use crate::figure::scene::motion::{ease, lighter};
use crate::figure::scene::paint::{At, Draw, Page, Surface};
use crate::figure::{Area, HeadName, Ink, PanelId, Picture, Scale, Style, facts::numbers};
use crate::model::weighting::bayesian::PRIOR;
use crate::model::weighting::local::Window;
use crate::model::{HeadTrace, array};
use crate::train::is_absent;

/// Height of the names over the columns.
pub const NAMES: f32 = 58.0;
/// Least height of rows drawn as bars.
const BAR_ROW: f32 = 3.0;
/// Most rows drawn as bars.
const MOST_BARS: usize = 200;
/// Rows of at least this height are a little apart.
const APART: f32 = 6.0;
/// A row of at least this height, and a column of this width, have room for a number.
const PRINTED: [f32; 2] = [38.0, 13.0];
/// Width of a digit of the parameters, of their size.
const DIGIT: f32 = 0.6;
/// Parameters that are nearer than a digit are read as one.
const BETWEEN: f32 = 7.0;
/// Heights of parameter lines above the columns: the upper line of two, a single line, the lower one of two.
const LINES: [f32; 3] = [19.0, 14.5, 7.5];
/// Columns this wide have their words over them.
const LEGIBLE: f32 = 26.0;

/// A weighting: a bar per row of the memory.
#[derive(Debug)]
pub struct Bars<'a> {
    /// The column.
    pub column: &'static Column,
    /// The head, by its index among all heads.
    pub head: usize,
    /// The name of that head.
    pub name: HeadName,
    /// The stage after which it is computed, by its index among [`Stages`].
    pub place: usize,
    /// The head parameter for it, or the range of its values.
    pub parameter: String,
    /// The equation, and the meaning of the bars.
    pub description: String,
    /// A value for every row.
    pub cells: Cells<'a>,
    /// The largest value, in a few digits, where the column is among the others of its head: on a scale of 0 to 1
    /// small ones are hard to see.
    pub most: Option<String>,
    /// True when the column was not recorded, but computed from recorded ones.
    pub computed: bool,
    /// True for a column that is still to come.
    pub to_come: bool,
    /// True while it is on its way: no value of it is one that was recorded.
    pub moving: bool,
    /// The window of a local head, in the column that it cuts out.
    pub window: Option<Window<f32>>,
    /// Spread of the attention over many samples of the episode, in the column that a head reads or writes with.
    pub spread: Option<SpreadBand<'a>>,
    /// The row that a hard head drew, in the column that it drew from.
    pub drawn: Option<usize>,
    /// Rows drawn faint in a match: they were not written before this step, so that matching them means little.
    pub faint: Option<(&'a FirstWriteSteps, usize)>,
}

/// A head parameter over its column.
#[derive(Debug)]
struct Parameter<'a> {
    text: &'a str,
    size: f32,
    /// How far above the column it stands.
    above: f32,
    middle: f32,
}

impl Parameter<'_> {
    /// Left and right end.
    fn ends(&self) -> [f32; 2] {
        // Digits of one width are wider than the letters of a sentence.
        let digits = DIGIT * self.size * self.text.chars().count() as f32;
        let half = 0.5 * text_width(self.text, self.size).max(digits);
        [self.middle - half, self.middle + half]
    }

    /// True where some on the same line would be read as one.
    fn touch(all: &[Self]) -> bool {
        LINES.into_iter().any(|line| {
            let shown = all
                .iter()
                .filter(|own| own.above == line && !own.text.is_empty());
            let ends: Vec<_> = shown.map(Self::ends).collect();
            ends.windows(2)
                .any(|pair| pair[0][1] + BETWEEN > pair[1][0])
        })
    }
}

/// The largest of some values, in a few digits.
fn most(values: &[f32]) -> Option<String> {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let most = finite.reduce(f32::max)?;
    if most.abs() >= 0.0995 {
        return Some(numbers::in_bar(most));
    }
    // No zero has a sign.
    let text = format!("{:.3}", (most * 1e3).round() / 1e3 + 0.0);
    Some(text.replacen("0.", ".", 1).replace('-', "−"))
}

/// True while rows are tall enough to be bars, and few enough.
pub fn as_bars(axis: &Axis) -> bool {
    axis.height >= BAR_ROW && axis.count() <= MOST_BARS
}

impl Bars<'_> {
    /// The identity of its picture.
    pub fn id(&self) -> PanelId {
        PanelId::of(Picture::Stages, self.head).part(self.column.place())
    }

    /// True for a row whose match means little.
    pub fn is_unwritten(&self, row: usize) -> bool {
        let faint = self.faint.filter(|_| !self.to_come);
        faint.is_some_and(|(written, step)| written.lacks(row, step))
    }

    fn opacity(&self, page: &Page) -> f32 {
        match (self.to_come, self.moving) {
            (true, _) => page.to_come,
            (_, true) => lighter(page.through),
            _ => 1.0,
        }
    }

    pub(crate) fn paint(&self, on: &mut Surface<'_>, at: At<'_>) {
        let (area, colours) = (at.area, on.page.colours);
        on.rect(*area, colours.well);
        let first = self.cells.value(0, 0);
        let opacity = self.opacity(on.page);
        if first.is_some_and(is_absent) {
            return unrecorded(on, area);
        }
        if opacity > 0.0 && as_bars(at.axis) {
            self.bars(on, at);
        } else if opacity > 0.0 {
            on.paint.cells(&self.cells, at, on.page, opacity);
        }
        let faint = self.faint.iter();
        for place in faint.flat_map(|_| at.axis.spans(|row| self.is_unwritten(row))) {
            let veil = Ink::from(colours.well).faded(FAINT);
            on.rect(area.down(place.min, place.max), veil);
        }
        gaps(on, area, at.axis);
        on.frame(*area, colours.line);
        if opacity > 0.0 {
            self.window(on, at);
            if as_bars(at.axis) {
                self.spread(on, at);
            }
            if let Some(place) = self.drawn.and_then(|row| at.axis.place_of(row)) {
                on.frame(area.down(place.min, place.max), colours.strong);
            }
        }
        if self.computed {
            let at = [area.middle(), area.bottom - 8.0];
            plate(on, area, at, ("computed", 8.5));
        }
    }

    /// A line over each row from the 5 % to the 95 % quantile of the samples, and their mean.
    fn spread(&self, on: &mut Surface<'_>, At { area, axis, .. }: At<'_>) {
        let Some(band) = self.spread else { return };
        let x = |value: f32| area.left + self.cells.scale.bar(value, area.width())[1];
        let (ink, ground) = (on.page.colours.strong, on.page.colours.well);
        for (row, place) in axis.all() {
            let [mean, low, high] = [band.mean, band.low, band.high].map(|values| values[row]);
            if high.max(mean) < 0.005 {
                continue;
            }
            let (y, half) = (place.center(), (0.28 * place.span()).min(5.0));
            let ends = [[x(low), y], [x(high), y]];
            let tick = |x: f32, half: f32| [[x, y - half], [x, y + half]];
            for (ink, more) in [(ground, 2.0), (ink, 0.0)] {
                on.line(&ends, ink, 1.0 + more);
                on.line(&tick(x(mean), half), ink, 1.6 + more);
            }
            for end in [low, high] {
                on.line(&tick(x(end), 0.6 * half), ink, 1.0);
            }
        }
    }

    /// The rows that a local head sees: a line round them, one at their centre, and how much each of them counts.
    fn window(&self, on: &mut Surface<'_>, At { area, axis, .. }: At<'_>) {
        let Some(window) = self.window else { return };
        let ink = Ink::from(on.page.colours.strong).faded(0.8 * self.opacity(on.page));
        let rows = window.rows(self.cells.rows);
        for place in axis.spans(|row| rows.contains(&row)) {
            let corners = area.down(place.min, place.max).corners();
            on.dashed(&corners, ink, 1.0, &[3.0, 2.0]);
        }
        let share = |row: usize| {
            let away = (row as f32 - window.centre) / window.half;
            (-2.0 * away * away).exp()
        };
        let seen = axis.all().filter(|(row, _)| rows.contains(row));
        let x = |row| area.left + share(row) * area.width();
        let mut points: Vec<_> = seen.map(|(row, place)| [x(row), place.center()]).collect();
        points.sort_by(|a, b| a[1].total_cmp(&b[1]));
        if window.is_gaussian && points.len() > 1 {
            on.line(&points, ink, 1.2);
        }
        // The centre lies between rows, and of a window at the end perhaps behind the last.
        let last = (self.cells.rows - 1) as f32;
        let row = (window.centre + 0.5).floor().clamp(0.0, last);
        if let Some(place) = axis.place_of(row as usize) {
            let beyond = (window.centre - row).clamp(-0.5, 0.5) * place.span();
            let y = place.center() + if axis.upwards { -beyond } else { beyond };
            let ends = [[area.left - 3.0, y], [area.right + 3.0, y]];
            on.line(&ends, ink, 1.6);
        }
    }

    /// A bar per row: its length is the value.
    fn bars(&self, on: &mut Surface<'_>, At { area, axis, .. }: At<'_>) {
        let scale = self.cells.scale;
        let signed = matches!(scale, Scale::Signed(_));
        let fill = Ink::from(on.page.colours.head(self.name)).faded(self.opacity(on.page));
        if signed {
            let zero = area.middle();
            on.line(&area.upright(zero), on.page.colours.line, 1.0);
        }
        let half = if axis.height >= APART { 0.5 } else { 0.0 };
        let prints = !self.moving && area.width() >= PRINTED[0] && axis.height >= PRINTED[1];
        for (number, place) in axis.all() {
            let Some(value) = self
                .cells
                .value(0, number)
                .filter(|value| !is_absent(*value))
            else {
                continue;
            };
            let row = area.down(place.min + half, place.max - half);
            if !value.is_finite() {
                on.rect(row, on.page.colours.non_finite);
                continue;
            }
            let [left, right] = scale.bar(value, area.width()).map(|x| area.left + x);
            let bar = row.across(left, right);
            if bar.width() > 0.0 {
                on.rect(bar, fill);
            }
            if prints && value.abs() >= 0.005 && !self.is_unwritten(number) {
                self.number(on, value, [area, &bar]);
            }
        }
    }

    fn number(&self, on: &mut Surface<'_>, value: f32, [area, bar]: [&Area; 2]) {
        let signed = matches!(self.cells.scale, Scale::Signed(_));
        let text = self.column.in_bar(value);
        let (left, right) = (area.left + 2.0, area.right - 3.0);
        // On the bar where it would end below the number.
        let on_bar = !signed && bar.right > right - text_width(&text, 11.0);
        let style = |ink| Style::new(9.5, ink).mono();
        let plain = style(on.page.colours.subdued);
        let on_hue = text_on(on.page.colours.head(self.name));
        // A bar that can go both ways leaves the other side free.
        let (x, style) = match (signed && value > 0.0, on_bar) {
            (true, _) => (left, plain),
            (_, true) => (right.min(bar.right - 2.0), style(on_hue).end()),
            _ => (right, plain.end()),
        };
        on.text(text, [x, bar.centre()], style);
    }

    /// The head parameter: whole, or without its symbol, which is in the equation as well.
    fn parameter(&self, is_short: bool) -> &str {
        match self.parameter.split_once(' ') {
            Some((by, _)) if is_short && self.column.stage == Stage::Shift => by,
            Some((_, number)) if is_short => number,
            _ => &self.parameter,
        }
    }

    /// Word, symbol and parameter over the column, the largest value below it.
    fn words(&self, on: &mut Surface<'_>, area: &Area, parameter: &Parameter<'_>) {
        let (colours, width) = (on.page.colours, area.width());
        let legible = width >= LEGIBLE;
        let style = Style::new(parameter.size, colours.strong).mono().middle();
        let at = [area.middle(), area.top - parameter.above];
        on.text(parameter.text, at, style);
        let size = if legible { 14.0 } else { 11.5 };
        let style = Style::new(size, colours.text).middle();
        on.text(self.column.symbol, [area.middle(), area.top - 32.5], style);
        if legible {
            let is_now = on.page.stage == Some(self.place);
            let colour = [colours.subdued, colours.accent][usize::from(is_now)];
            let style = Style::new((width * 0.3).clamp(8.0, 11.0), colour).middle();
            on.text(self.column.word, [area.middle(), area.top - 49.5], style);
        }
        let shown = self.opacity(on.page) > 0.0 && !self.moving;
        if let (Some(most), true) = (&self.most, shown) {
            let style = Style::new(9.5, colours.subdued).mono().middle();
            let letters = (width + 2.0) / (DIGIT * 9.5);
            let at = [area.middle(), area.bottom + 8.0];
            on.text(numbers::shortened(most, letters as usize), at, style);
        }
    }
}

/// All columns of a head, and the lines from one to the next.
#[derive(Debug)]
pub struct Addressing<'a> {
    /// All of them, in order.
    pub columns: Vec<Bars<'a>>,
    /// The lines between a column and the next, and their progress.
    lines: Vec<(usize, f32, Vec<WeightFlow>)>,
    name: HeadName,
    rows: usize,
}

impl<'a> Addressing<'a> {
    /// Creates the addressing of this head at an instant of a step; without one it is of derivatives.
    pub(crate) fn new(
        mut columns: Vec<Bars<'a>>,
        (name, trace): (HeadName, &HeadTrace),
        now: Option<&Moment<'_>>,
    ) -> Self {
        let mut lines = Vec::new();
        if let Some(now) = now {
            for bars in &mut columns {
                bars.most = most(bars.column.values(trace, now.step));
            }
            let all: Vec<_> = columns.iter().map(|bars| bars.column).collect();
            let reached = |stage| ease(now.progress(stage, Some(trace)));
            let of_stages = Self::lines(trace, now.step, &all).into_iter();
            lines.extend(of_stages.map(|(gap, stage, lines)| (gap, reached(stage), lines)));
        }
        Self {
            columns,
            lines,
            name,
            rows: trace.weighting.width(),
        }
    }

    /// Returns the lines of the content, the previous weighting, the shift, the sharpening and the sampled row, by the
    /// column before them, and the stage that they belong to.
    fn lines(
        trace: &HeadTrace,
        step: usize,
        columns: &[&Column],
    ) -> Vec<(usize, Stage, Vec<WeightFlow>)> {
        let straight = |column: &Column| links::straight(column.values(trace, step), 1.0);
        let kept = |gate: f32| links::straight(trace.previous_weighting(step), 1.0 - gate);
        let gate = (trace.gate.width() > 0).then(|| trace.gate[step]);
        let pairs = columns.windows(2).enumerate();
        let lines = pairs.filter_map(|(gap, pair)| {
            let lines = match (pair[1].array, gate) {
                (array::SIMILARITY, Some(gate)) => return Some((gap, Stage::Gate, kept(gate))),
                (array::SIMILARITY | PRIOR, _) => return None,
                (array::GATED, Some(gate)) => {
                    let content = links::straight(trace.content.row(step), gate);
                    [kept(gate), content].concat()
                }
                (array::SHIFTED, _) => links::shifted(trace, step, pair[0].values(trace, step)),
                _ => straight(pair[1]),
            };
            Some((gap, pair[1].stage, lines))
        });
        lines.collect()
    }

    /// Room before a column: wide where lines lead across.
    fn gap_before(column: &Column) -> f32 {
        match column.array {
            array::SIMILARITY | PRIOR => 4.0,
            array::GATED => 10.0,
            array::SHIFTED => 16.0,
            _ => 8.0,
        }
    }

    /// Returns the areas of the columns.
    pub fn areas(area: &Area, columns: &[&Column]) -> Vec<Area> {
        let squeeze = (area.width() / 240.0).clamp(0.4, 1.0);
        let gap = |column: &Column| Self::gap_before(column) * squeeze;
        let gaps: f32 = columns.iter().skip(1).map(|column| gap(column)).sum();
        let count = columns.len().max(1) as f32;
        let each = ((area.width() - gaps) / count).max(1.0);
        let mut right = area.left;
        let areas = columns.iter().enumerate().map(|(index, column)| {
            let left = right + if index > 0 { gap(column) } else { 0.0 };
            right = left + each;
            area.across(left, right)
        });
        areas.collect()
    }

    /// The parameters over their columns: on one line or on two by turns, and without their symbols where that is not enough.
    fn parameters(&self, areas: &[Area]) -> Vec<Parameter<'_>> {
        let ways = [(false, 1), (false, 2), (true, 1)].into_iter();
        let mut all = ways.map(|(is_short, lines)| self.on_lines(areas, is_short, lines));
        let found = all.find(|all| !Parameter::touch(all));
        found.unwrap_or_else(|| self.on_lines(areas, true, 2))
    }

    fn on_lines(&self, areas: &[Area], is_short: bool, lines: usize) -> Vec<Parameter<'_>> {
        let count = self
            .columns
            .iter()
            .filter(|bars| !bars.parameter.is_empty());
        // The last one stands high: the names of other heads are beside it.
        let mut place = count.count() % 2;
        let columns = self.columns.iter().zip(areas).map(|(bars, area)| {
            let text = bars.parameter(is_short);
            place += usize::from(!text.is_empty());
            Parameter {
                text,
                size: if area.width() < 46.0 { 10.0 } else { 11.0 },
                above: if lines == 1 {
                    LINES[1]
                } else {
                    LINES[2 * (place % 2)]
                },
                middle: area.middle(),
            }
        });
        columns.collect()
    }

    /// Returns the kinds of the columns.
    pub fn kinds(&self) -> Vec<&'static Column> {
        self.columns.iter().map(|bars| bars.column).collect()
    }

    /// Paints all of it.
    pub fn paint(&self, on: &mut Surface<'_>, area: &Area, axis: &Axis) {
        let ends = axis.ends().unwrap_or(Span::new(area.top, area.bottom));
        let areas = Self::areas(&area.down(ends.min, ends.max), &self.kinds());
        let parameters = self.parameters(&areas);
        for ((bars, area), parameter) in self.columns.iter().zip(&areas).zip(&parameters) {
            let id = bars.id();
            bars.paint(on, At { id, area, axis });
            bars.words(on, area, parameter);
        }
        for (gap, done, links) in &self.lines {
            let between = areas.get(*gap).zip(areas.get(gap + 1));
            let Some((from, to)) = between else { continue };
            let fade = done.max(on.page.to_come);
            let between = from.across(from.right, to.left);
            for link in links.iter().filter(|_| fade > 0.0) {
                self.line(on, &between, axis, (link, fade));
            }
        }
    }

    /// Draws one line. A line around the end leaves at one edge and enters at the other.
    fn line(
        &self,
        on: &mut Surface<'_>,
        area: &Area,
        axis: &Axis,
        (link, fade): (&WeightFlow, f32),
    ) {
        let (Some(from), Some(to)) = (axis.place_of(link.from), axis.place_of(link.to)) else {
            return;
        };
        let (from, to) = ([area.left, from.center()], [area.right, to.center()]);
        let weight = link.weight.min(1.0);
        let ink = Ink::from(on.page.colours.head(self.name)).faded((0.25 + 0.6 * weight) * fade);
        let width = 0.8 + 1.2 * weight;
        let down = (link.shift > 0) != axis.upwards;
        let far = (to[1] > from[1]) != down;
        if !(link.wraps(self.rows) && far) {
            return on.line(&[from, to], ink, width);
        }
        let (mut ends, mut tip) = ([area.bottom, area.top], 4.0);
        if !down {
            (ends, tip) = ([area.top, area.bottom], -4.0);
        }
        let [out, back] = ends.map(|y| [area.middle(), y]);
        on.line(&[from, out], ink, width);
        on.line(&[back, to], ink, width);
        // It leaves downwards and comes in from above, or the other way round.
        for [x, y] in [out, back] {
            let corners = [[x - 3.0, y - tip], [x + 3.0, y - tip], [x, y + tip * 0.5]];
            on.shape(&corners, ink);
        }
    }
}
