//! The close-up: one head, or two side by side, at a few rows of the memory, large enough to be read from afar.
//!
//! From left to right as it happens: what comes in, where the head looks and how it gets there, the memory on the same
//! rows with the vectors that touch it, what comes out. Above it one sentence says what happens now, below it runs the
//! whole episode. The rows follow the head by themselves. While a stage is on its way all of this moves as [`motion`]
//! says.
//!
//! [`motion`]: super::motion

mod columns;
mod ends;
mod head;
mod memory;
mod plan;
mod units;
mod view;
mod words;

use super::catalogue::Catalogue;
use super::motion::Instant;
use super::paint::{Draw, Page, Paint};
use super::panel::Place;
use super::stages::Moment;
use super::{Area, HeadName, Ink, Rgb, Style, mix};
use crate::model::{HeadTrace, Trace};
use plan::{Pane, Plan};

pub(super) use plan::LEAST;
pub use words::sentence;

/// How loud a signed picture is where nobody looks: weightings are what is looked at.
const QUIET: f32 = 0.42;
/// A close-up at a moment.
struct CloseUp<'a, 'p> {
    seen: Catalogue<'a>,
    now: Instant<'a>,
    page: &'p Page<'p>,
    plan: Plan,
}

/// The close-up of these heads, one or two, in a part of something else; what can be pointed at comes back.
pub(super) fn paint<'a>(
    on: &mut dyn Paint,
    seen: Catalogue<'a>,
    heads: &[usize],
    (area, page): (Area, &Page<'_>),
) -> Vec<Place<'a>> {
    let trace = &seen.recording.trace;
    if trace.steps() == 0 {
        return Vec::new();
    }
    let now = Instant::new(trace, seen.stages, seen.moment, seen.through);
    let close = CloseUp {
        plan: Plan::new(area, trace, heads),
        seen,
        now,
        page,
    };
    let mut places = Vec::new();
    close.episode(on, &mut places);
    close.ends(on, &mut places);
    if close.plan.panes.is_empty() {
        close.units(on, &mut places);
    }
    for pane in &close.plan.panes {
        close.pane(on, pane, &mut places);
    }
    close.top(on);
    places
}

/// A pane with the head that it is of.
struct Of<'a, 'c> {
    pane: &'c Pane,
    head: &'a HeadTrace,
    name: HeadName,
    hue: Rgb,
    view: view::View,
}

impl<'a> CloseUp<'a, '_> {
    fn trace(&self) -> &'a Trace {
        &self.seen.recording.trace
    }

    fn step(&self) -> usize {
        self.seen.moment.0
    }

    /// The stage that the step has come to; none where it is over.
    fn stage(&self) -> Option<Moment> {
        let place = self.seen.moment.1;
        (place < self.seen.stages.len()).then(|| self.seen.stages.at(place))
    }

    /// Pixels, as large as the page allows.
    fn size(&self, of: f32) -> f32 {
        of * self.plan.scale
    }

    /// Letters of this size on a page of the usual size, never too small to be read.
    fn letters(&self, size: f32, ink: impl Into<Ink>) -> Style {
        Style::new((size * self.plan.scale).max(9.0), ink)
    }

    /// The colour of a signed value where it is looked at so much.
    fn signed(&self, scale: super::Scale, value: f32, looked_at: f32) -> Rgb {
        let colours = self.page.colours;
        let loud = QUIET + (1.0 - QUIET) * looked_at.clamp(0.0, 1.0);
        mix(colours.well, colours.of(scale, value), loud)
    }

    fn pane(&self, on: &mut dyn Paint, pane: &Pane, places: &mut Vec<Place<'a>>) {
        let Some(head) = self.trace().heads.get(pane.head) else {
            return;
        };
        let name = HeadName::of(self.trace(), pane.head);
        let of = Of {
            pane,
            head,
            name,
            hue: self.page.colours.head(name),
            view: view::View::new(&self.seen, head, pane),
        };
        self.columns(on, &of, places);
        self.memory(on, &of, places);
        self.spine(on, &of);
        self.travelling(on, &of);
    }
}

/// A text, if it fits; of several the first that does.
fn fitting(on: &mut dyn Paint, texts: &[&str], (at, style, room): ([f32; 2], Style, f32)) {
    let mut texts = texts.iter();
    if let Some(text) = texts.find(|text| on.width_of(text, style.size) <= room) {
        on.text(*text, at, style);
    }
}
