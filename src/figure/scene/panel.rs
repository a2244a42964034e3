//! A picture: its identity, axes and contents; on a page with its name, axis labels and legend.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::figure::facts::links::{MODES, TemporalLinks};
use crate::figure::facts::rows::{Axis, Placing, Rows, Span, numbered_every};
use crate::figure::facts::source::{StepSymbol, short};
use crate::figure::scene::addressing::{self, Addressing, Bars};
use crate::figure::scene::annotations::{PRINTED, ROOM_FOR_HEADS};
use crate::figure::scene::arrows::arrows;
use crate::figure::scene::axes::{self, play_head};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::{text_width, width_of};
use crate::figure::scene::lanes::{self, Decades};
use crate::figure::scene::overlap::{LABELS, Overlap};
use crate::figure::scene::paint::{At, Draw, Surface};
use crate::figure::scene::patches::Patches;
use crate::figure::scene::shares;
use crate::figure::{
    Area, HeadName, Image, Mark, PanelId, Picture, Rgb, Scalar, Scale, Slot, Style,
};

/// Height of the line with the name and the legend.
const HEAD: f32 = 22.0;
/// Height of the mark for omitted rows.
const GAP: f32 = 14.0;
/// Least distance of two numbers side by side.
const APART: f32 = 20.0;
/// Length of a tick.
const TICK: f32 = 4.0;
const SMALL: f32 = 10.0;
const TEXT: f32 = 11.0;

/// A picture before it has a place.
#[derive(Debug)]
pub struct Panel<'a> {
    /// The identity.
    pub id: PanelId,
    /// The title on a page.
    pub title: String,
    /// The name on screen, and in copied numbers.
    pub name: String,
    /// The owner, as it is named when values are read out.
    pub whose: String,
    /// The exact description of its contents.
    pub note: String,
    /// The text alternative for screen readers, after the name.
    pub alt: String,
    /// The value at the step, where there is one, for screen readers.
    pub value: String,
    /// The contents.
    pub content: Content<'a>,
    /// The horizontal axis.
    pub across: Across,
    /// The vertical axis.
    pub down: Down<'a>,
    /// The height it likes to have.
    pub natural: f32,
    /// Number of steps that have happened, of a picture over time.
    pub done: usize,
    /// The first step of a picture over time.
    pub first: usize,
    /// The symbol of every step of a picture over time; empty without symbols.
    pub symbols: &'a [StepSymbol],
}

/// The horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Across {
    /// The steps of the episode.
    Steps(usize),
    /// The columns of the memory.
    Columns(usize),
    /// The rows of the vertical axis.
    Rows,
    /// Values, with an axis of their own.
    Values,
}

/// The vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Down<'a> {
    /// The name of one row.
    pub label: &'static str,
    /// The rows shown.
    pub rows: Cow<'a, Rows>,
    /// True when the first one is at the bottom.
    pub upwards: bool,
    /// The names of the rows, where they have some.
    pub names: &'a [String],
}

impl Down<'_> {
    /// All `total` rows.
    pub fn all(label: &'static str, total: usize) -> Self {
        Self {
            label,
            rows: Cow::Owned(Rows::all(total)),
            upwards: false,
            names: &[],
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

/// The contents of a picture.
#[derive(Debug)]
pub enum Content<'a> {
    /// A colour per value.
    Cells(Cells<'a>),
    /// A bar per row.
    Bars(Bars<'a>),
    /// The columns of the addressing of a head, and the lines between them.
    Addressing(Addressing<'a>),
    /// A colour for every two heads.
    Overlap(Overlap<'a>),
    /// A line per number, each of a head, or of several.
    Lanes(Vec<(Scalar, Option<HeadName>)>),
    /// A line over time: a number per step.
    Line(Cells<'a>),
    /// A bar per step, by the logarithm of its value.
    Decades(Decades<'a>),
    /// Shares of a whole, one above the other for every step.
    Shares(Cells<'a>),
    /// Arrows from every row to the one written next.
    Arrows(Arc<TemporalLinks>),
    /// A small picture for every answer, its patches in the colours of their weights.
    Patches(Patches<'a>),
    /// Something to point at, without values.
    Sign(Slot),
}

/// A picture at its place, to be painted and to be pointed at.
#[derive(Debug)]
pub struct PlacedPanel<'a> {
    /// The picture.
    pub panel: Panel<'a>,
    /// The area of the data.
    pub area: Area,
    /// The axis of the rows.
    pub axis: Axis,
}

/// A value under the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The column.
    pub column: usize,
    /// The row, whether or not all rows are shown.
    pub row: usize,
    /// The value.
    pub value: f32,
}

impl<'a> PlacedPanel<'a> {
    /// Its identity on the page: no other part of the page has it.
    pub fn slot(&self) -> Slot {
        match self.panel.content {
            Content::Sign(slot) => slot,
            _ => Slot::Picture(self.panel.id),
        }
    }

    /// The steps that run through it from left to right, where they do.
    pub fn steps(&self) -> Option<usize> {
        match self.panel.across {
            Across::Steps(steps) => Some(steps),
            _ => None,
        }
    }

    /// The numbers behind it, where each has a cell or a bar.
    pub fn cells(&self) -> Option<&Cells<'a>> {
        match &self.panel.content {
            Content::Cells(cells)
            | Content::Shares(cells)
            | Content::Line(cells)
            | Content::Decades(Decades { values: cells, .. }) => Some(cells),
            Content::Bars(bars) => Some(&bars.cells),
            Content::Overlap(overlap) => Some(&overlap.cells),
            _ => None,
        }
    }

    /// Returns the value at a point of the page.
    pub fn hit(&self, x: f32, y: f32) -> Option<Hit> {
        if let Content::Patches(patches) = &self.panel.content {
            let (column, row) = patches.hit(&self.area, [x, y])?;
            let value = patches.cells.value(column, row)?;
            return Some(Hit { column, row, value });
        }
        if let Content::Arrows(links) = &self.panel.content {
            // The strongest of those at the row.
            let at = self.axis.row_at(y)?;
            let mut links = links.strongest.iter();
            let link = links.find(|link| [link.from, link.to].contains(&at))?;
            return Some(Hit {
                column: link.from,
                row: link.to,
                value: link.weight,
            });
        }
        let (cells, area) = (self.cells()?, &self.area);
        if !(area.left..area.right).contains(&x) {
            return None;
        }
        let share = (x - area.left) / area.width();
        let column = ((share * cells.columns as f32) as usize).min(cells.columns.checked_sub(1)?);
        let row = match self.panel.content {
            Content::Shares(_) => {
                shares::mode_at(cells, column, (area.bottom - y) / area.height())?
            }
            _ => self.axis.row_at(y)?,
        };
        let value = cells.value(column, row)?;
        let column = self.panel.first + column;
        Some(Hit { column, row, value })
    }

    /// Returns the position of the cells.
    pub(crate) fn place(&self) -> At<'_> {
        At {
            id: self.panel.id,
            area: &self.area,
            axis: &self.axis,
        }
    }

    /// Paints the contents.
    pub fn paint(&self, on: &mut Surface<'_>) {
        match &self.panel.content {
            Content::Cells(cells) => {
                cells.paint(on, self.place());
                if self.steps().is_none() {
                    cells.print(on, self.place(), PRINTED);
                }
            }
            Content::Bars(bars) => bars.paint(on, self.place()),
            Content::Shares(cells) => shares::paint(on, cells, &self.area),
            Content::Line(cells) => lanes::line_of(on, cells, &self.area),
            Content::Arrows(links) => {
                let y = |row| self.axis.place_of(row).map(Span::center);
                arrows(on, links, &self.area, y);
            }
            Content::Addressing(all) => all.paint(on, &self.area, &self.axis),
            Content::Overlap(overlap) => overlap.paint(on, self.place()),
            Content::Lanes(all) => lanes::all(on, all, &self.area),
            Content::Decades(decades) => decades.paint(on, &self.area),
            Content::Patches(patches) => patches.paint(on, &self.area, self.panel.done),
            Content::Sign(_) => {}
        }
        if let (Some(steps), true) = (self.steps(), on.page.hides_future) {
            let done = self.panel.done.saturating_sub(on.page.first);
            let share = (done as f32 / steps.max(1) as f32).min(1.0);
            let left = self.area.left + share * self.area.width();
            later(on, self.area.across(left, self.area.right));
        }
        // The truth is given, like a target: it is there before the answer.
        if let Content::Cells(cells) = &self.panel.content {
            cells.outline_aligned(on, self.place());
        }
    }
}

/// Hides the steps that have not happened, in this area.
pub(crate) fn later(on: &mut Surface<'_>, area: Area) {
    if area.width() > 0.0 {
        on.rect(area, on.page.colours.well);
        on.outline(area, on.page.colours.line);
    }
}

impl<'a> Panel<'a> {
    /// A picture without words and axes.
    pub(crate) fn new(id: PanelId, content: Content<'a>) -> Self {
        Self {
            id,
            title: String::new(),
            name: String::new(),
            whose: String::new(),
            note: String::new(),
            alt: String::new(),
            value: String::new(),
            content,
            across: Across::Values,
            down: Down::all("", 0),
            natural: 240.0,
            done: usize::MAX,
            first: 0,
            symbols: &[],
        }
    }

    /// Returns a picture over time with some of its steps.
    pub(crate) fn during(mut self, steps: Range<usize>) -> Self {
        (self.across, self.first) = (Across::Steps(steps.len()), steps.start);
        self.symbols = self.symbols.get(steps.clone()).unwrap_or_default();
        self.content = match self.content {
            Content::Cells(cells) => Content::Cells(cells.during(steps)),
            Content::Shares(cells) => Content::Shares(cells.during(steps)),
            Content::Line(cells) => Content::Line(cells.during(steps)),
            other => other,
        };
        self
    }

    /// A part of a page without values.
    pub(crate) fn sign(slot: Slot, name: String) -> Self {
        let id = PanelId::new(Picture::Differences);
        Self {
            name,
            ..Self::new(id, Content::Sign(slot))
        }
    }

    /// Height of the part above the data.
    pub(crate) fn head(&self) -> f32 {
        match self.content {
            Content::Addressing(_) => HEAD + addressing::NAMES,
            Content::Overlap(_) => HEAD + LABELS,
            _ => HEAD,
        }
    }

    /// Name, description and value for those who cannot see it; none where it says nothing.
    pub(crate) fn in_words(&self) -> Option<String> {
        let words = || format!("{}: {}  {}", self.name, self.alt, self.value);
        (!self.alt.is_empty()).then(|| words().trim_end().to_owned())
    }

    /// Places the picture on a page.
    pub fn at(mut self, area: Area) -> PlacedPanel<'a> {
        let area = match &mut self.content {
            Content::Cells(cells) if !cells.marks.is_empty() => {
                area.across(area.left, area.right - ROOM_FOR_HEADS)
            }
            Content::Overlap(overlap) => overlap.place(&area),
            _ => area,
        };
        let axis = self.down.place(&area);
        self.along(area, axis)
    }

    /// Places the picture on a page, with its rows on this axis.
    pub fn along(self, area: Area, axis: Axis) -> PlacedPanel<'a> {
        let ends = axis.ends().unwrap_or(Span::new(area.top, area.bottom));
        let (panel, area) = (self, area.down(ends.min, ends.max));
        PlacedPanel { panel, area, axis }
    }

    /// Draws everything; the data fills `area`.
    pub(crate) fn draw(mut self, on: &mut Surface<'_>, area: Area, axis: bool) -> PlacedPanel<'a> {
        // On a page it is called by its title.
        (self.name, self.alt) = (self.title.clone(), self.note.clone());
        let place = self.at(area);
        let (panel, area) = (&place.panel, &place.area);
        place.paint(on);
        match panel.content {
            Content::Line(ref cells) => lanes::ends(on, cells.scale.end_texts(), area),
            Content::Lanes(..)
            | Content::Decades(_)
            | Content::Shares(_)
            | Content::Overlap(_)
            | Content::Patches(_) => {}
            _ => panel.rows_axis(on, area, &place.axis),
        }
        let step = on
            .page
            .step
            .and_then(|step| step.checked_sub(on.page.first));
        if let (Some(step), Some(steps)) = (step, place.steps())
            && step < steps
        {
            play_head(on, &area.inset(0.0, -2.0), step, steps);
        }
        panel.title(on, area);
        if axis {
            panel.columns_axis(on, area);
        }
        place
    }

    fn title(&self, on: &mut Surface<'_>, area: &Area) {
        let y = area.top - self.head() + 11.0;
        let style = Style::new(12.0, on.page.colours.text).bold();
        on.text(self.title.as_str(), [area.left, y], style);
        let left = area.left + text_width(&self.title, 12.5) + 8.0;
        let mut right = area.right;
        if let Content::Overlap(Overlap {
            words: Some(words), ..
        }) = &self.content
        {
            right = words.right;
        }
        if let Content::Shares(_) = self.content {
            right = shares::key(on, [right, y], MODES[1]);
        }
        let cells = match &self.content {
            Content::Cells(cells)
            | Content::Overlap(Overlap { cells, .. })
            | Content::Patches(Patches { cells, .. }) => Some(cells),
            _ => None,
        };
        if let Some(cells) = cells.filter(|_| left + 60.0 < right) {
            let [broken, absent] = on.paint.has_unusual_values(cells, self.id);
            for (is_there, words, fill) in [
                (broken, "not finite", on.page.colours.non_finite),
                (absent, on.page.lacking, on.page.colours.raised),
            ] {
                if is_there {
                    right = no_value(on, [right, y], words, fill);
                }
            }
            let note = text_width(&self.note, TEXT);
            let ends = cells.scale.end_texts().map(|end| text_width(&end, SMALL));
            let ends = (ends[0] + ends[1] + 26.0).max(66.0);
            let bar = (right - left - note - ends).clamp(24.0, 88.0);
            right = legend(on, [right, y], bar, cells.scale);
        }
        let has_room = left + text_width(&self.note, TEXT) + 8.0 < right;
        if has_room && self.note != self.title {
            let style = Style::new(TEXT, on.page.colours.subdued);
            on.text(self.note.as_str(), [left, y], style);
        }
    }

    fn rows_axis(&self, on: &mut Surface<'_>, area: &Area, placed: &Axis) {
        let colours = on.page.colours;
        let style = Style::new(SMALL, colours.subdued).end();
        // Long names have the room of the name of the axis.
        let is_long = |name: &String| width_of(&short(name), &style) > axes::NAMES;
        let are_long = self.down.names.iter().any(is_long);
        let room = [axes::NAMES, axes::LEFT + axes::MARGIN - TICK - 7.0][usize::from(are_long)];
        for (row, place) in placed.numbered() {
            let y = place.center();
            let tick = [[area.left - TICK, y], [area.left, y]];
            on.line(&tick, colours.subdued, 1.0);
            let text = axes::row_name(self.down.names, row, &style, room);
            on.text(text, [area.left - TICK - 3.0, y], style);
        }
        let label = match self.down.label {
            "row"
                if self
                    .down
                    .names
                    .iter()
                    .any(|name| name.parse::<u32>().is_err()) =>
            {
                "source"
            }
            label => label,
        };
        let label = match (on.page.as_paper || placed.upwards, label) {
            (true, "row") if placed.upwards => "location →",
            (true, "row") => "← location",
            (true, "source") if placed.upwards => "source →",
            (true, "source") => "← source",
            (_, label) => label,
        };
        if !are_long && text_width(label, TEXT) < area.height() {
            let style = Style::new(TEXT, colours.subdued).upwards();
            on.text(label, [area.left - 40.0, area.centre()], style);
        }
    }

    fn columns_axis(&self, on: &mut Surface<'_>, area: &Area) {
        let counted = |first: usize, count: usize| (first..first + count).collect();
        let (numbers, label): (Vec<_>, _) = match self.across {
            Across::Steps(steps) => {
                let label = ["step", "time step →"][usize::from(on.page.as_paper)];
                (counted(on.page.first, steps), label)
            }
            Across::Columns(columns) => (counted(0, columns), "column"),
            Across::Rows => (self.down.rows.numbers().to_vec(), "column"),
            Across::Values => return,
        };
        let colours = on.page.colours;
        let width = area.width() / numbers.len().max(1) as f32;
        let every = numbered_every(width);
        let style = Style::new(SMALL, colours.subdued).middle();
        let mut free = area.left;
        for (place, number) in (0..).zip(numbers) {
            let x = area.left + (place as f32 + 0.5) * width;
            if number % every > 0 || x < free {
                continue;
            }
            free = x + APART;
            let y = area.bottom;
            on.line(&[[x, y], [x, y + TICK]], colours.subdued, 1.0);
            on.text(number.to_string(), [x, y + 11.0], style);
        }
        if matches!(self.across, Across::Steps(_)) && !self.symbols.is_empty() {
            let ends = [area.left, area.right];
            let done = if on.page.hides_future {
                self.done.saturating_sub(on.page.first)
            } else {
                usize::MAX
            };
            axes::symbols(on, self.symbols, (ends, area.bottom + 24.0), done);
            let style = Style::new(TEXT, colours.subdued).end();
            for (label, down) in [("step", 11.0), ("symbol", 24.0)] {
                on.text(label, [area.left - 8.0, area.bottom + down], style);
            }
            return;
        }
        let style = Style::new(TEXT, colours.subdued).middle();
        on.text(label, [area.middle(), area.bottom + 24.0], style);
    }
}

/// The colours of a scale from its one end to the other; of several, a line for each that differs.
pub fn shades(on: &mut Surface<'_>, area: Area, scales: &[Scale]) {
    const COUNT: usize = 256;
    let share = |index: usize| index as f32 / (COUNT - 1) as f32;
    let mut lines: Vec<Vec<_>> = Vec::new();
    for scale in scales {
        let colours = (0..COUNT).map(|i| on.page.colours.of(*scale, scale.at(share(i))));
        let line = colours.collect();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let image = Image {
        columns: COUNT,
        rows: lines.len(),
        pixels: lines.concat(),
    };
    on.put(Mark::Image { area, image });
    on.frame(area, on.page.colours.line);
}

/// A bar of the colours of a scale with the values of its ends, before `right`; returns where it begins.
pub(crate) fn legend(on: &mut Surface<'_>, [right, y]: [f32; 2], width: f32, scale: Scale) -> f32 {
    let [low, high] = scale.end_texts();
    let style = Style::new(SMALL, on.page.colours.subdued);
    on.text(high.as_str(), [right, y], style.end());
    let right = right - text_width(&high, SMALL) - 5.0;
    let area = Area::new(right - width, y - 4.0, width, 8.0);
    shades(on, area, &[scale]);
    let left = area.left - 5.0;
    on.text(low.as_str(), [left, y], style.end());
    left - text_width(&low, SMALL) - 4.0
}

/// Draws the legend of a colour outside the scale, before `right`; returns its left edge.
fn no_value(on: &mut Surface<'_>, [right, y]: [f32; 2], words: &str, fill: Rgb) -> f32 {
    let style = Style::new(SMALL, on.page.colours.subdued).end();
    on.text(words, [right, y], style);
    let left = right - text_width(words, SMALL) - 14.0;
    on.rect(Area::new(left, y - 4.0, 8.0, 8.0), fill);
    left - 10.0
}
