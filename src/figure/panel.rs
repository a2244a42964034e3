//! One picture with its name, its axes and its legend.

use super::drawing::{Style, width_of};
use super::facts::HeadMark;
use super::head_marks;
use super::pool::{further, pooled};
use super::rows::{Axis, Placing, Rows, Span, numbered_every, untouched};
use super::{Area, Colours, Drawing, HeadName, Image, PanelId, Place, Rgb, Scalar, Scale, numbers};
use crate::train::{is_absent, is_unrecorded};

/// Height of the line with the name and the legend.
const HEAD: f32 = 22.0;
/// Height of the names of the stages below it.
const NAMES: f32 = 30.0;
/// Height of the mark that stands for rows left out.
const GAP: f32 = 14.0;
/// Rows at least this tall are drawn as bars.
const BAR_ROW: f32 = 3.0;
/// Length of a tick.
const TICK: f32 = 4.0;
/// Height of the caption of a lane.
const CAPTION: f32 = 19.0;
/// Between two of several small pictures side by side.
const BETWEEN: f32 = 12.0;
const SMALL: f32 = 10.0;
const TEXT: f32 = 11.0;

/// A picture before it has a place.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) id: PanelId,
    pub(super) name: String,
    pub(super) note: String,
    pub(super) content: Content,
    pub(super) across: Across,
    pub(super) down: Down,
    /// The height it likes to have.
    pub(super) natural: f32,
}

/// What runs from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Across {
    /// The steps of the episode.
    Steps(usize),
    /// The columns of the memory.
    Columns(usize),
    /// Values, with an axis of their own.
    Values,
}

/// What runs from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Down {
    pub(super) label: &'static str,
    /// What is shown.
    pub(super) rows: Rows,
    /// True when the first one is at the bottom.
    pub(super) upwards: bool,
}

impl Down {
    /// All of so many.
    pub(super) fn all(label: &'static str, total: usize) -> Self {
        Self {
            label,
            rows: Rows::all(total),
            upwards: false,
        }
    }

    fn place(&self, area: &Area) -> Axis {
        let placing = Placing {
            gap: GAP,
            tallest: f32::INFINITY,
            upwards: self.upwards,
        };
        self.rows.place(Span::new(area.top, area.bottom), placing)
    }
}

/// What a picture shows.
#[derive(Debug)]
pub(super) enum Content {
    /// A colour per value.
    Cells(Cells),
    /// A bar per row, several columns of them.
    Bars(Vec<Bars>, HeadName),
    /// A line per number, for the head of this index.
    Lanes(Vec<Scalar>, HeadName),
    /// A bar per step, by the logarithm of its value.
    Decades(Decades),
    /// Nothing: the place is kept free.
    Nothing,
}

/// A number per step that may be next to nothing or large.
#[derive(Debug)]
pub(super) struct Decades {
    pub(super) values: Cells,
    /// Where a line is drawn.
    pub(super) limit: f32,
    /// The step that has a mark.
    pub(super) marked: Option<usize>,
}

/// Values in columns and rows.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Row after row.
    pub(super) values: Vec<f32>,
    pub(super) scale: Scale,
    /// Columns in which nothing is shown.
    pub(super) skipped: Vec<bool>,
    /// The heads at the rows of a memory.
    pub(super) marks: Vec<HeadMark>,
    /// Columns and rows of the cells that are outlined: what is wrong.
    pub(super) outlined: Vec<(usize, usize)>,
}

impl Cells {
    /// From the value of (column, row).
    pub(super) fn new(
        columns: usize,
        rows: usize,
        scale: Scale,
        value: impl Fn(usize, usize) -> f32,
    ) -> Self {
        let value = &value;
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| value(column, row)));
        Self {
            columns,
            rows,
            values: values.collect(),
            scale,
            skipped: Vec::new(),
            marks: Vec::new(),
            outlined: Vec::new(),
        }
    }

    /// These rows, no finer than so many pixels.
    fn image(&self, rows: &[usize], most: [usize; 2], colours: &Colours) -> Image {
        let skipped = |c: usize| self.skipped.get(c) == Some(&true);
        let value = |column: usize, index: usize| {
            let value = self.values[rows[index] * self.columns + column];
            (!skipped(column)).then_some(value)
        };
        pooled(
            [self.columns, rows.len()],
            most,
            self.scale,
            value,
            |columns, value| {
                let nothing = if columns.clone().all(skipped) && !columns.is_empty() {
                    colours.raised
                } else {
                    colours.well
                };
                value.map_or(nothing, |value| colours.of(self.scale, value))
            },
        )
    }
}

/// A bar per row.
#[derive(Debug)]
pub(super) struct Bars {
    pub(super) symbol: &'static str,
    /// What it comes from, such as a gate and its value.
    pub(super) words: String,
    /// Of every row of the memory.
    pub(super) values: Vec<f32>,
    pub(super) scale: Scale,
    /// True for a stage that has not come yet: its place stays empty.
    pub(super) to_come: bool,
}

/// What all pictures of a page have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    pub(super) colours: &'a Colours,
    /// The first step of the time axis.
    pub(super) first: usize,
    /// The step to be marked.
    pub(super) step: Option<usize>,
    /// Pixels per unit that an image may use.
    pub(super) density: f32,
    /// True where axes are named as the paper does.
    pub(super) as_paper: bool,
}

impl Panel {
    /// Height of what stands above the data.
    pub(super) fn head(&self) -> f32 {
        match self.content {
            Content::Bars(..) => HEAD + NAMES,
            _ => HEAD,
        }
    }

    fn room_for_marks(&self) -> f32 {
        match &self.content {
            Content::Cells(cells) if !cells.marks.is_empty() => head_marks::ROOM,
            _ => 0.0,
        }
    }

    /// Draws everything; the data fills `area`.
    pub(super) fn draw(self, drawing: &mut Drawing, area: Area, axis: bool, page: &Page<'_>) {
        let steps = match self.across {
            Across::Steps(steps) => Some(steps),
            _ => None,
        };
        if matches!(self.content, Content::Nothing) {
            return;
        }
        let area = Area {
            right: area.right - self.room_for_marks(),
            ..area
        };
        let placed = self.down.place(&area);
        match &self.content {
            Content::Cells(cells) => draw_cells(drawing, cells, &area, &placed, page),
            Content::Bars(bars, head) => draw_all_bars(drawing, bars, *head, &area, &placed, page),
            Content::Lanes(lanes, head) => draw_lanes(drawing, lanes, *head, &area, page),
            Content::Decades(decades) => draw_decades(drawing, decades, &area, page),
            Content::Nothing => {}
        }
        if matches!(self.content, Content::Cells(_) | Content::Bars(..)) {
            self.rows_axis(drawing, &area, &placed, page);
        }
        if let (Some(step), Some(steps)) = (page.step, steps) {
            play_head(drawing, &area, step.saturating_sub(page.first), steps, page);
        }
        self.title(drawing, &area, page);
        if axis {
            self.columns_axis(drawing, &area, page);
        }
        drawing.places.push(Place {
            id: self.id,
            name: self.called(),
            what: self.name,
            note: self.note,
            area,
            steps,
            row_name: self.down.label,
            placed,
            cells: match self.content {
                Content::Cells(cells) | Content::Decades(Decades { values: cells, .. }) => {
                    Some(cells)
                }
                _ => None,
            },
        });
    }

    /// Its name, with its side.
    fn called(&self) -> String {
        let side = self.id.side.map(|side| super::compare::SIDES[side]);
        side.map_or_else(
            || self.name.clone(),
            |side| format!("{side}: {}", self.name),
        )
    }

    fn title(&self, drawing: &mut Drawing, area: &Area, page: &Page<'_>) {
        let called = self.called();
        let y = area.top - self.head() + 11.0;
        let style = Style::new(12.0, page.colours.text).bold();
        drawing.text(called.as_str(), [area.left, y], style);
        let mut right = area.right;
        if let Content::Cells(cells) = &self.content {
            let is_broken = |value: &f32| !value.is_finite() && !is_absent(*value);
            if cells.values.iter().any(is_broken) {
                let fill = page.colours.non_finite;
                right = no_value(drawing, [right, y], "not finite", fill, page);
            }
            if cells.values.iter().copied().any(is_absent) {
                let fill = page.colours.raised;
                right = no_value(drawing, [right, y], "not recorded", fill, page);
            }
            let scale = cells.scale;
            let name = area.left + width_of(&called, 12.5) + 8.0;
            let note = width_of(&self.note, TEXT);
            let ends: [f32; 2] = scale.ends().into();
            let ends: f32 = ends
                .iter()
                .map(|&end| width_of(&end_text(end), SMALL))
                .sum();
            let bar = (right - name - note - (ends + 26.0).max(66.0)).clamp(24.0, 88.0);
            right = legend(drawing, [right, y], bar, scale, page);
        }
        let left = area.left + width_of(&called, 12.5) + 8.0;
        if left + width_of(&self.note, TEXT) + 8.0 < right {
            let style = Style::new(TEXT, page.colours.subdued);
            drawing.text(self.note.as_str(), [left, y], style);
        }
    }

    fn rows_axis(&self, drawing: &mut Drawing, area: &Area, placed: &Axis, page: &Page<'_>) {
        let colours = page.colours;
        let style = Style::new(SMALL, colours.subdued).end();
        for (row, place) in placed.numbered() {
            let y = place.center();
            let tick = [[area.left - TICK, y], [area.left, y]];
            drawing.line(&tick, colours.subdued, 1.0);
            drawing.text(row.to_string(), [area.left - TICK - 3.0, y], style);
        }
        for (rows, place) in &placed.gaps {
            let band = Area {
                top: place.min,
                bottom: place.max,
                ..*area
            };
            drawing.rect(band, colours.raised);
            let text = untouched(*rows);
            if width_of(&text, SMALL) + 4.0 < area.width() {
                let style = Style::new(SMALL, colours.subdued).middle();
                drawing.text(text, [area.middle(), band.centre()], style);
            }
        }
        let label = match (page.as_paper || placed.upwards, self.down.label) {
            (true, "row") if placed.upwards => "location →",
            (true, "row") => "← location",
            (_, label) => label,
        };
        if width_of(label, TEXT) < area.height() {
            let style = Style::new(TEXT, colours.subdued).upwards();
            drawing.text(label, [area.left - 40.0, area.centre()], style);
        }
    }

    fn columns_axis(&self, drawing: &mut Drawing, area: &Area, page: &Page<'_>) {
        let (first, count, label) = match self.across {
            Across::Steps(steps) if page.as_paper => (page.first, steps, "time step →"),
            Across::Steps(steps) => (page.first, steps, "step"),
            Across::Columns(columns) => (0, columns, "column"),
            Across::Values => return,
        };
        let colours = page.colours;
        let width = area.width() / count.max(1) as f32;
        let every = numbered_every(width);
        let style = Style::new(SMALL, colours.subdued).middle();
        for number in (first..first + count).filter(|number| number % every == 0) {
            let x = area.left + ((number - first) as f32 + 0.5) * width;
            let y = area.bottom;
            drawing.line(&[[x, y], [x, y + TICK]], colours.subdued, 1.0);
            drawing.text(number.to_string(), [x, y + 11.0], style);
        }
        let style = Style::new(TEXT, colours.subdued).middle();
        drawing.text(label, [area.middle(), area.bottom + 24.0], style);
    }
}

fn draw_cells(drawing: &mut Drawing, cells: &Cells, area: &Area, placed: &Axis, page: &Page<'_>) {
    let pixels = |length: f32| (length * page.density).ceil().max(1.0) as usize;
    for run in 0..placed.runs.len() {
        let place = placed.runs[run].1;
        let part = Area {
            top: place.min,
            bottom: place.max,
            ..*area
        };
        let rows: Vec<usize> = placed.rows(run).map(|(row, _)| row).collect();
        let most = [pixels(part.width()), pixels(part.height())];
        let image = cells.image(&rows, most, page.colours);
        drawing.marks.push(super::Mark::Image { area: part, image });
    }
    drawing.frame(*area, page.colours.line);
    let width = area.width() / cells.columns.max(1) as f32;
    for &(column, row) in &cells.outlined {
        if let Some(place) = placed.place_of(row) {
            let left = area.left + column as f32 * width;
            let (top, bottom) = (place.min + 0.5, place.max - 0.5);
            let right = (left + width - 0.5).max(left + 0.5);
            let (from, to) = ([left + 0.5, top], [right, bottom]);
            let corners = [from, [to[0], from[1]], to, [from[0], to[1]], from];
            drawing.line(&corners, page.colours.warning, 1.0);
        }
    }
    head_marks::draw(drawing, &cells.marks, area, placed, page);
}

fn draw_all_bars(
    drawing: &mut Drawing,
    bars: &[Bars],
    head: HeadName,
    area: &Area,
    placed: &Axis,
    page: &Page<'_>,
) {
    let count = bars.len().max(1) as f32;
    let width = (area.width() - (count - 1.0) * BETWEEN) / count;
    for (index, column) in bars.iter().enumerate() {
        let left = area.left + index as f32 * (width + BETWEEN);
        let part = Area {
            left,
            right: left + width,
            ..*area
        };
        draw_bars(drawing, column, head, &part, placed, page);
        let style = Style::new(SMALL, page.colours.subdued);
        let (low, high) = column.scale.ends();
        let y = area.bottom + 11.0;
        drawing.text(numbers::exact(low), [part.left, y], style);
        drawing.text(numbers::exact(high), [part.right, y], style.end());
        let style = Style::new(13.0, page.colours.text).middle();
        drawing.text(
            column.symbol,
            [part.middle(), area.top - NAMES + 4.0],
            style,
        );
        let style = Style::new(SMALL, page.colours.subdued).middle();
        drawing.text(
            column.words.as_str(),
            [part.middle(), area.top - 10.0],
            style,
        );
    }
}

fn draw_bars(
    drawing: &mut Drawing,
    bars: &Bars,
    head: HeadName,
    area: &Area,
    placed: &Axis,
    page: &Page<'_>,
) {
    let colours = page.colours;
    drawing.rect(*area, colours.well);
    if bars.to_come {
        drawing.frame(*area, colours.line);
        return;
    }
    if is_unrecorded(&bars.values) {
        not_recorded(drawing, area, page);
        return;
    }
    if placed.height < BAR_ROW {
        let cells = Cells::new(1, bars.values.len(), bars.scale, |_, row| bars.values[row]);
        draw_cells(drawing, &cells, area, placed, page);
        return;
    }
    for run in 0..placed.runs.len() {
        for (row, place) in placed.rows(run) {
            let value = bars.values[row];
            if is_absent(value) {
                continue;
            }
            let (left, right, fill) = if value.is_finite() {
                let bar = bars.scale.bar(value, area.width());
                let [from, to] = bar.map(|x| area.left + x);
                (from, to, colours.head(head))
            } else {
                (area.left, area.right, colours.non_finite)
            };
            let bar = Area {
                left,
                right,
                top: place.min + 0.5,
                bottom: place.max - 0.5,
            };
            if bar.width() >= 0.05 {
                drawing.rect(bar, fill);
            }
        }
    }
    if let Scale::Signed(_) = bars.scale {
        let zero = area.middle();
        drawing.line(&[[zero, area.top], [zero, area.bottom]], colours.line, 1.0);
    }
    drawing.frame(*area, colours.line);
}

fn draw_lanes(
    drawing: &mut Drawing,
    lanes: &[Scalar],
    head: HeadName,
    area: &Area,
    page: &Page<'_>,
) {
    let colours = page.colours;
    let height = area.height() / lanes.len().max(1) as f32;
    for (index, lane) in lanes.iter().enumerate() {
        let top = area.top + index as f32 * height;
        let plot = Area {
            top: top + CAPTION,
            bottom: top + height,
            ..*area
        };
        drawing.rect(plot, colours.well);
        if is_unrecorded(&lane.values) {
            not_recorded(drawing, &plot, page);
        } else {
            draw_lane(drawing, lane, head, &plot, colours);
            drawing.frame(plot, colours.line);
        }
        let (low, high) = lane.scale;
        let style = Style::new(9.0, colours.subdued).end();
        let x = area.left - 5.0;
        drawing.text(end_text(high), [x, plot.top + 4.0], style);
        drawing.text(end_text(low), [x, plot.bottom - 4.0], style);
        let name = format!("{}  {}", lane.of.symbol, lane.of.words);
        let style = Style::new(TEXT, colours.text);
        drawing.text(name, [area.left, top + 10.0], style);
    }
}

fn draw_lane(drawing: &mut Drawing, lane: &Scalar, head: HeadName, plot: &Area, colours: &Colours) {
    let (low, high) = lane.scale;
    let width = plot.width() / lane.values.len().max(1) as f32;
    let y = |value: f32| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        plot.bottom - share * plot.height()
    };
    if low < 0.0 {
        let zero = y(0.0);
        drawing.line(&[[plot.left, zero], [plot.right, zero]], colours.line, 1.0);
    }
    let mut points = Vec::with_capacity(2 * lane.values.len());
    for (step, &value) in lane.values.iter().enumerate() {
        let left = plot.left + step as f32 * width;
        if value.is_finite() {
            points.extend([[left, y(value)], [left + width, y(value)]]);
        } else if !is_absent(value) {
            let gap = Area {
                left,
                right: left + width,
                ..*plot
            };
            drawing.rect(gap, colours.non_finite);
        }
    }
    if points.len() > 1 {
        drawing.line(&points, colours.head(head), 1.4);
    }
}

/// The least value that has a bar of any height.
const FAINTEST: f32 = 1e-8;

fn draw_decades(drawing: &mut Drawing, decades: &Decades, area: &Area, page: &Page<'_>) {
    let (colours, values) = (page.colours, &decades.values.values);
    drawing.rect(*area, colours.well);
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let high = finite.fold(1.0, f32::max).log10().ceil();
    let low = FAINTEST.log10();
    let height = |value: f32| {
        let share = (value.max(FAINTEST).log10() - low) / (high - low);
        (share * area.height()).clamp(1.0, area.height())
    };
    let width = area.width() / values.len().max(1) as f32;
    // Where several steps share a pixel, the one furthest from zero is shown.
    let together = (1.0 / width).ceil().max(1.0) as usize;
    for (index, steps) in values.chunks(together).enumerate() {
        let value = steps.iter().copied().reduce(further).unwrap_or(0.0);
        if value == 0.0 {
            continue;
        }
        let (height, fill) = if value.is_finite() {
            (height(value), colours.subdued)
        } else {
            (area.height(), colours.non_finite)
        };
        let left = area.left + (index * together) as f32 * width;
        // A little wider than its steps: no seams.
        let right = (left + steps.len() as f32 * width + 0.4).min(area.right);
        let bar = Area {
            left,
            right,
            top: area.bottom - height,
            bottom: area.bottom,
        };
        drawing.rect(bar, fill);
    }
    if decades.limit > 0.0 {
        let y = area.bottom - height(decades.limit);
        let line = [[area.left, y], [area.right, y]];
        drawing.line(&line, colours.warning, 1.0);
    }
    if let Some(step) = decades.marked {
        let x = area.left + (step as f32 + 0.5) * width;
        let base = area.bottom + 7.0;
        let corners = [[x - 4.0, base], [x + 4.0, base], [x, area.bottom]];
        drawing.marks.push(super::Mark::Shape {
            points: corners.to_vec(),
            fill: colours.warning,
            opacity: 1.0,
        });
    }
    drawing.frame(*area, colours.line);
    let style = Style::new(9.0, colours.subdued).end();
    let x = area.left - 5.0;
    let [low, high] = [FAINTEST, 10_f32.powf(high)].map(numbers::exact);
    if area.height() < 18.0 {
        drawing.text(format!("{low} … {high}"), [x, area.centre()], style);
    } else {
        drawing.text(high, [x, area.top + 4.0], style);
        drawing.text(low, [x, area.bottom - 4.0], style);
    }
}

/// In place of what nobody recorded; the words upwards where they are too long.
fn not_recorded(drawing: &mut Drawing, area: &Area, page: &Page<'_>) {
    drawing.rect(*area, page.colours.raised);
    let words = "not recorded";
    let style = Style::new(SMALL, page.colours.subdued);
    let style = if width_of(words, SMALL) + 4.0 < area.width() {
        style.middle()
    } else {
        style.upwards()
    };
    drawing.text(words, [area.middle(), area.centre()], style);
    drawing.frame(*area, page.colours.line);
}

/// The current step, its edges in the accent colour.
fn play_head(drawing: &mut Drawing, area: &Area, step: usize, steps: usize, page: &Page<'_>) {
    let width = area.width() / steps.max(1) as f32;
    let left = area.left + step as f32 * width;
    let edges = if width >= 4.0 {
        vec![left, left + width]
    } else {
        vec![left + width / 2.0]
    };
    for x in edges {
        let ends = [[x, area.top - 2.0], [x, area.bottom + 2.0]];
        drawing.line(&ends, page.colours.accent, 1.0);
    }
}

/// A bar of the colours of a scale with the values of its ends, before `right`; returns where it begins.
fn legend(
    drawing: &mut Drawing,
    [right, y]: [f32; 2],
    width: f32,
    scale: Scale,
    page: &Page<'_>,
) -> f32 {
    let colours = page.colours;
    let (low, high) = scale.ends();
    let style = Style::new(SMALL, colours.subdued);
    drawing.text(end_text(high), [right, y], style.end());
    let right = right - width_of(&end_text(high), SMALL) - 5.0;
    let area = Area::new(right - width, y - 4.0, width, 8.0);
    let count = (width * page.density) as usize;
    let share = |index: usize| index as f32 / (count.max(2) - 1) as f32;
    let pixels = (0..count.max(2)).map(|i| colours.of(scale, scale.at(share(i))));
    let pixels: Vec<_> = pixels.collect();
    let image = Image {
        columns: pixels.len(),
        rows: 1,
        pixels,
    };
    drawing.marks.push(super::Mark::Image { area, image });
    drawing.frame(area, colours.line);
    let left = area.left - 5.0;
    drawing.text(end_text(low), [left, y], style.end());
    left - width_of(&end_text(low), SMALL) - 4.0
}

/// What a colour outside the scale means, before `right`; returns where it begins.
fn no_value(
    drawing: &mut Drawing,
    [right, y]: [f32; 2],
    words: &str,
    fill: Rgb,
    page: &Page<'_>,
) -> f32 {
    let style = Style::new(SMALL, page.colours.subdued).end();
    drawing.text(words, [right, y], style);
    let left = right - width_of(words, SMALL) - 14.0;
    drawing.rect(Area::new(left, y - 4.0, 8.0, 8.0), fill);
    left - 10.0
}

/// A value at the end of a scale.
fn end_text(value: f32) -> String {
    let text = numbers::short(value, 2);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}
