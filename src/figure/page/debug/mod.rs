//! The main layout: everything about an episode on one time axis and one address axis.
//!
//! [`DebugPage::centre`] paints the pictures, [`DebugPage::timeline`] the numbers over time below them. Both return
//! the parts that can be pointed at, each with its [`Slot`].

mod addressing;
mod generic;
pub mod geometry;
pub mod legends;
mod memory;
mod over_time;
pub mod table;
pub mod timeline;
mod units;

use std::borrow::Cow;
use std::ops::Range;

use geometry::{Bands, Columns, PHASES};

use crate::figure::facts::measure::Scalar;
use crate::figure::facts::rows::{Axis, Placing, Rows, Span};
use crate::figure::facts::source::picture;
use crate::figure::scene::annotations::sign;
use crate::figure::scene::axes;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::fonts::area_of;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Panel, PlacedPanel};
use crate::figure::{Area, HeadName, PanelId, Rgb, Slot, Style, head_label};
use crate::model::{HeadTrace, Trace};

/// The placement of rows in the window and here.
pub const ROWS: Placing = Placing {
    gap: 15.0,
    tallest: MAX_ROW_HEIGHT,
    upwards: false,
};

/// The placement of rows on a page without room for marks of rows left out.
pub const WITHOUT_GAPS: Placing = Placing {
    gap: 0.0,
    tallest: f32::INFINITY,
    upwards: false,
};

/// Rows never grow taller than this.
pub const MAX_ROW_HEIGHT: f32 = 28.0;

/// The smallest page.
pub(crate) const LEAST: (f32, f32) = (760.0, 560.0);
/// Size of small letters.
const SMALL: f32 = 10.5;
/// Size of names beside pictures.
const NAME: f32 = 11.0;

/// An episode in the main layout.
#[derive(Clone, Debug)]
pub struct DebugPage<'a> {
    /// The pictures, on the rows shown.
    pub seen: Catalogue<'a>,
    /// All rows that scrolling shows.
    pub whole: &'a Rows,
    /// The steps of the time axis.
    pub span: Range<usize>,
    /// The selected head.
    pub focus: usize,
    /// The head beside it.
    pub pinned: Option<usize>,
    /// True where only the final weighting of each head is shown, and of every head.
    pub all_heads: bool,
    /// True while the rows shown follow the selected head.
    pub follows: bool,
    /// The first small quantity of a machine file that is on screen, where they scroll.
    pub scrolled: Option<usize>,
}

/// A page that is being painted.
struct Painting<'p, 'a> {
    of: &'p DebugPage<'a>,
    on: Surface<'p>,
    columns: Columns,
    places: Vec<PlacedPanel<'a>>,
}

impl<'a> DebugPage<'a> {
    fn trace(&self) -> &'a Trace {
        self.seen.now.trace()
    }

    /// The numbers of a head over time: values or gradients.
    pub fn scalars(&self, head: usize) -> Cow<'a, [Scalar]> {
        match self.seen.layer {
            None => Cow::Borrowed(&self.seen.facts.heads[head].scalars),
            Some(by) => Cow::Owned(by.scalars(head, self.trace().steps())),
        }
    }

    /// Returns a picture over time, on the steps of the time axis.
    fn over_time(&self, id: PanelId) -> Option<Panel<'a>> {
        let panel = self.seen.panel(id)?;
        Some(panel.during(self.span.clone()))
    }

    fn head(&self) -> Option<&'a HeadTrace> {
        self.trace().heads.get(self.focus)
    }

    /// Begins to paint.
    fn painting<'p>(&'p self, on: &'p mut Surface<'_>, columns: Columns) -> Painting<'p, 'a> {
        Painting {
            of: self,
            on: Surface::new(on.paint, on.page),
            columns,
            places: Vec::new(),
        }
    }

    /// Paints the pictures between these heights.
    pub fn centre(&self, on: &mut Surface<'_>, columns: Columns, y: Span) -> Vec<PlacedPanel<'a>> {
        let bands = Bands::new(self.seen.now.recording, y);
        if bands.rows.span() < 8.0 || columns.time.span() < 8.0 {
            return Vec::new();
        }
        let mut painting = self.painting(on, columns);
        painting.centre(&bands);
        painting.places
    }
}

impl<'a> Painting<'_, 'a> {
    fn centre(&mut self, bands: &Bands) {
        self.ruler(bands.ruler);
        self.strips(bands);
        let mut all = Span::new(bands.ruler.min + 14.0, bands.reads.max + 10.0);
        if self.of.head().is_some() {
            let axis = self.of.seen.rows.place(bands.rows, ROWS);
            self.lanes(bands, &axis);
            self.vectors(bands);
            self.addressing(bands, &axis);
            self.memory(bands, &axis);
            self.minimap(bands.rows);
            let others = self.trace().heads.len() - 1;
            let has_picture = picture(self.of.seen.now.recording).is_some();
            if has_picture || bands.has_thumbnails(others) {
                // Thumbnails have a time axis of their own.
                let below = Span::new(bands.others.max + 4.0, all.max);
                self.play_head(below);
                all.max = bands.others.min - 4.0;
            }
        } else if self.trace().is_file() {
            self.quantities(bands);
        } else {
            self.units(bands);
        }
        self.play_head(all);
        let numbers = f32::midpoint(bands.ruler.min + PHASES, bands.ruler.max);
        self.step_pill(numbers);
    }

    fn trace(&self) -> &'a Trace {
        self.of.trace()
    }

    fn step(&self) -> usize {
        self.of.seen.now.step
    }

    /// The place of the step among those on the time axis; `None` where it is not one of them.
    fn step_shown(&self) -> Option<usize> {
        let (span, step) = (&self.of.span, self.step());
        span.contains(&step).then(|| step - span.start)
    }

    /// Number of steps on the time axis.
    fn steps(&self) -> usize {
        self.of.span.len()
    }

    /// The place of a step on the time axis; of steps before and after those shown, its ends.
    fn at(&self, step: usize) -> Span {
        let span = &self.of.span;
        let place = |step: usize| {
            let step = step.clamp(span.start, span.end) - span.start;
            self.columns.step(step, span.len()).min
        };
        Span::new(place(step), place(step + 1))
    }

    fn name(&self, head: usize) -> HeadName {
        HeadName::of(self.trace(), head)
    }

    fn label(&self, head: usize) -> String {
        head_label(self.trace(), head)
    }

    fn hue(&self, head: usize) -> Rgb {
        self.on.page.colours.head(self.name(head))
    }

    /// Names in the colour of what is quiet.
    fn quiet(&self, size: f32) -> Style {
        Style::new(size, self.on.page.colours.subdued)
    }

    /// Paints a text that is read aloud and can be pointed at; returns its area.
    fn text(&mut self, slot: Slot, text: &str, at: [f32; 2], style: Style) -> Area {
        self.on.text(text, at, style);
        let area = area_of(text, at, &style);
        self.part(slot, text.to_owned(), area);
        area
    }

    /// Adds a part that can be pointed at.
    fn part(&mut self, slot: Slot, name: String, area: Area) {
        self.described(slot, name, "", area);
    }

    /// Adds a part that can be pointed at, with a description for screen readers.
    fn described(&mut self, slot: Slot, name: String, alt: &str, area: Area) {
        let panel = Panel {
            alt: alt.to_owned(),
            ..Panel::sign(slot, name)
        };
        self.places.push(panel.at(area));
    }

    /// Paints a picture and adds it to the parts.
    fn picture(&mut self, place: PlacedPanel<'a>) {
        place.paint(&mut self.on);
        self.places.push(place);
    }

    /// Paints with everything clipped to the steps shown.
    fn in_time(&mut self, paint: impl FnOnce(&mut Self)) {
        let time = self.columns.time;
        let clip = self
            .columns
            .is_part()
            .then_some((time.min - 1.0, time.max + 1.0));
        self.on.paint.clip(clip);
        paint(self);
        self.on.paint.clip(None);
    }

    /// The sign of a head: filled and up where it writes, hollow and down where it reads.
    fn head_sign(&mut self, at: [f32; 2], size: f32, head: usize) {
        let (name, hue) = (self.name(head), self.hue(head));
        sign(&mut self.on, at, 0.32 * size, name.is_write, hue.into());
    }

    fn play_head(&mut self, y: Span) {
        let (steps, area) = (self.steps(), area(self.columns.whole, y));
        if let Some(step) = self.step_shown() {
            self.in_time(|this| axes::play_head(&mut this.on, &area, step, steps));
        }
    }

    /// The number of the step, on the play-head.
    fn step_pill(&mut self, y: f32) {
        let text = self.step().to_string();
        let at = [self.at(self.step()).center(), y];
        if self.step_shown().is_some() {
            self.in_time(|this| axes::pill(&mut this.on, &text, at));
        }
    }
}

fn area(x: Span, y: Span) -> Area {
    Area {
        left: x.min,
        top: y.min,
        right: x.max,
        bottom: y.max,
    }
}

/// The range from the first row or mark to the last.
fn ends(axis: &Axis) -> Span {
    axis.ends().unwrap_or_default()
}
