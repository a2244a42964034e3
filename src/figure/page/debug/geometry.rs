//! The positions of the pictures of the main layout: one time axis, one address axis.

use crate::figure::facts::rows::Span;
use crate::figure::facts::source::picture;
use crate::math::Answer;
use crate::model::dnc::READ_MODES;
use crate::train::Recording;

/// Width of all rows in little.
const MINIMAP: f32 = 14.0;
const GUTTER: f32 = 68.0;
const MARKS: f32 = 46.0;
pub(super) const BETWEEN: f32 = 34.0;
const MARGIN: f32 = 12.0;

/// The horizontal positions: one time axis, then the columns that share the address axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    /// Names and row numbers.
    pub gutter: Span,
    /// Everything over time.
    pub time: Span,
    /// From the first step to the last: wider than the page while only a part of the steps is shown.
    pub whole: Span,
    /// The stages of the addressing.
    pub stages: Span,
    /// The memory.
    pub memory: Span,
    /// The signs of the heads beside the memory.
    pub marks: Span,
    /// All rows in little, right of them, while only some are shown.
    pub minimap: Option<Span>,
}

impl Columns {
    /// Divides this width; `heads` are those of the machine, two of them expanded when one is pinned. With a `minimap`
    /// all rows in little stand beside.
    pub fn new(x: Span, (heads, pinned): (usize, bool), minimap: bool) -> Self {
        let right = MARGIN + if minimap { MINIMAP + 4.0 } else { 0.0 };
        let left = x.min + MARGIN;
        let free = (x.max - right - left - GUTTER - MARKS - 2.0 * BETWEEN).max(30.0);
        let (time_share, stages_share) = if free < 640.0 {
            (0.35, 0.45)
        } else {
            (0.38, 0.39)
        };
        // Every further head is a column.
        let more = 0.012 * heads.saturating_sub(2).min(8) as f32;
        let wider = if pinned { 0.16 } else { more };
        let (time_share, stages_share) = (time_share - 0.7 * wider, stages_share + wider);
        let column = |start: f32, share: f32| Span::new(start, (start + free * share).round());
        let time = column(left + GUTTER, time_share);
        let stages = column(time.max + BETWEEN, stages_share);
        let memory = column(stages.max + BETWEEN, 1.0 - time_share - stages_share);
        let marks = Span::new(memory.max, memory.max + MARKS);
        Self {
            gutter: Span::new(left, time.min),
            time,
            whole: time,
            stages,
            memory,
            marks,
            minimap: minimap.then(|| Span::new(marks.max, marks.max + MINIMAP)),
        }
    }

    /// The place of a step on the time axis.
    pub fn step(&self, step: usize, steps: usize) -> Span {
        let width = self.whole.span() / steps.max(1) as f32;
        let start = self.whole.min + step as f32 * width;
        Span::new(start, start + width)
    }

    /// Returns the columns with some of `steps` steps shown: the first of them, and how many.
    pub fn during(self, (first, count): (f32, f32), steps: usize) -> Self {
        let width = self.time.span() / count.max(1.0);
        let start = self.time.min - first * width;
        let whole = Span::new(start, start + width * steps as f32);
        let is_part = first > 0.0 || count < steps as f32;
        Self {
            whole: if is_part { whole } else { self.time },
            ..self
        }
    }

    /// Returns the columns with all steps shown.
    pub fn of_all(self) -> Self {
        Self {
            whole: self.time,
            ..self
        }
    }

    /// True while only a part of the steps is shown.
    pub fn is_part(&self) -> bool {
        self.whole != self.time
    }

    /// The place of the steps from `first` to `last` on the time axis.
    pub fn span(&self, first: usize, last: usize, steps: usize) -> Span {
        Span::new(self.step(first, steps).min, self.step(last, steps).max)
    }

    /// The step at this place of the time axis, or the nearest one.
    pub fn step_at(&self, x: f32, steps: usize) -> usize {
        step_at(self.whole, x, steps)
    }
}

/// The step at this place of a time axis, or the nearest one.
pub fn step_at(time: Span, x: f32, steps: usize) -> usize {
    let share = (x - time.min) / time.span().max(1.0);
    ((share * steps as f32).max(0.0) as usize).min(steps.saturating_sub(1))
}

/// The vertical positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// Phases and step numbers; the names of the stages.
    pub ruler: Span,
    /// Input strip.
    pub input: Span,
    /// Target strip.
    pub target: Span,
    /// Output strip.
    pub output: Span,
    /// The rows: weighting of the selected head, stages, memory.
    pub rows: Span,
    /// The weightings of the other heads, together; or the picture that is described.
    pub others: Span,
    /// Add vectors.
    pub adds: Span,
    /// Read vectors.
    pub reads: Span,
}

/// Height of the phases over the numbers of the steps.
pub const PHASES: f32 = 17.0;
const RULER: f32 = 34.0;
const GAP: f32 = 5.0;
/// Smallest height of input, target and output together, however few channels they have: next to them are the
/// step, its sentence and the names of the stages.
const STRIPS: f32 = 48.0;
const SECTION: f32 = 14.0;
/// Distance from the band of read modes to what stands below it.
pub(super) const UNDER_MODES: f32 = 12.0;

impl Bands {
    /// Divides the height `y` for the channels and the heads of a machine.
    pub fn new(recording: &Recording, y: Span) -> Self {
        let trace = &recording.trace;
        let other_heads = trace.heads.len().saturating_sub(1);
        let (inputs, outputs) = (trace.input.width(), trace.output.width());
        let y = Span::new(y.min + 8.0, y.max - 10.0);
        // The symbols of the steps stand below the read modes of the head.
        let mixes = trace
            .heads
            .iter()
            .any(|head| head.series(READ_MODES).is_some());
        let has_both = mixes && recording.episode.answer == Answer::Symbols;
        let below = SECTION + if has_both { UNDER_MODES } else { 0.0 };
        let free = (y.span() - RULER - below - 3.0 * SECTION - 3.0 * GAP).max(0.0);
        let channels = (inputs + 2 * outputs).max(1) as f32;
        let room = (free * 0.20).min(channels * 8.0);
        let channel = room.max(STRIPS.min(free * 0.30)) / channels;
        let vector = (free * 0.07).min(84.0);
        let strips = channel * (inputs + 2 * outputs) as f32;
        let rest = (free - strips - 2.0 * vector).max(0.0);
        let others = match other_heads {
            _ if picture(recording).is_some() => rest * 0.30,
            0 => 0.0,
            1 => rest * 0.20,
            2 => rest * 0.34,
            _ => rest * 0.42,
        };
        let mut top = y.min;
        let mut band = |height: f32, after: f32| {
            let band = Span::new(top, top + height);
            top = band.max + after;
            band
        };
        Self {
            ruler: band(RULER, 2.0),
            input: band(channel * inputs as f32, GAP),
            target: band(channel * outputs as f32, GAP),
            output: band(channel * outputs as f32, SECTION),
            rows: band(rest - others, below),
            others: band(others, if others > 0.0 { SECTION } else { 0.0 }),
            adds: band(vector, GAP),
            reads: band(vector, 0.0),
        }
    }

    /// True when there are more further heads than lanes that can be read: then each is a thumbnail.
    pub fn has_thumbnails(&self, others: usize) -> bool {
        others as f32 * 30.0 > self.others.span() && others > 1
    }
}
