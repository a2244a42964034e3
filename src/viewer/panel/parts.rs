//! Shared parts of the panels of pictures: positions from top to bottom, labels beside them, clicks on
//! heads.

use egui::{Align2, FontId, Pos2, Rangef, Rect, Sense, Stroke, Ui, pos2};

use super::{Columns, View};
use crate::figure::scene::annotations::dashes;
use crate::figure::{HUES, HeadName};
use crate::viewer::command::{Command, Look};
use crate::viewer::row_zoom::{Axis, Span};
use crate::viewer::widget::canvas::dashed;

/// The vertical positions of the pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bands {
    /// Phases and step numbers; the names of the stages.
    pub ruler: Rangef,
    /// Input strip.
    pub input: Rangef,
    /// Target strip.
    pub target: Rangef,
    /// Output strip.
    pub output: Rangef,
    /// The rows: weighting of the selected head, stages, memory.
    pub rows: Rangef,
    /// The weightings of the other heads, together.
    pub others: Rangef,
    /// Add vectors.
    pub adds: Rangef,
    /// Read vectors.
    pub reads: Rangef,
}

const RULER: f32 = 34.0;
const GAP: f32 = 5.0;
/// Smallest height of input, target and output together, however few channels they have: next to them are the
/// step, its sentence and the names of the stages.
const STRIPS: f32 = 48.0;
const SECTION: f32 = 14.0;

impl Bands {
    /// Divides the height `y` for these numbers of channels and further heads.
    pub fn new(y: Rangef, inputs: usize, outputs: usize, other_heads: usize) -> Self {
        let free = (y.span() - RULER - 4.0 * SECTION - 3.0 * GAP).max(0.0);
        let channels = (inputs + 2 * outputs).max(1) as f32;
        let room = (free * 0.20).min(channels * 8.0);
        let channel = room.max(STRIPS.min(free * 0.30)) / channels;
        let vector = (free * 0.07).min(84.0);
        let strips = channel * (inputs + 2 * outputs) as f32;
        let rest = (free - strips - 2.0 * vector).max(0.0);
        let others = match other_heads {
            0 => 0.0,
            1 => rest * 0.20,
            2 => rest * 0.34,
            _ => rest * 0.42,
        };
        let mut top = y.min;
        let mut band = |height: f32, after: f32| {
            let band = Rangef::new(top, top + height);
            top = band.max + after;
            band
        };
        Self {
            ruler: band(RULER, 2.0),
            input: band(channel * inputs as f32, GAP),
            target: band(channel * outputs as f32, GAP),
            output: band(channel * outputs as f32, SECTION),
            rows: band(rest - others, SECTION),
            others: band(others, if other_heads > 0 { SECTION } else { 0.0 }),
            adds: band(vector, GAP),
            reads: band(vector, 0.0),
        }
    }
}

/// The pointer, when it is over this picture and nothing is in between.
pub fn pointer(response: &egui::Response) -> Option<egui::Pos2> {
    if response.contains_pointer() || response.dragged() {
        response.ctx.pointer_latest_pos()
    } else {
        None
    }
}

/// Clips a drawing over time to the steps on screen.
pub fn clipped<T>(ui: &mut Ui, columns: &Columns, draw: impl FnOnce(&mut Ui) -> T) -> T {
    let before = ui.clip_rect();
    if columns.is_part() {
        let x = columns.time.expand(1.0);
        ui.set_clip_rect(before.intersect(Rect::from_x_y_ranges(x, before.y_range())));
    }
    let drawn = draw(ui);
    ui.set_clip_rect(before);
    drawn
}

/// Labels beside the pictures, also for screen readers.
pub fn quiet_text(ui: &Ui, at: Pos2, align: Align2, text: &str, font: FontId, view: &View<'_>) {
    let rect = ui
        .painter()
        .text(at, align, text, font, view.palette.subdued);
    let response = ui.interact(rect, ui.scope_id().with(text), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
}

/// Returns the range from the first row or mark to the last.
pub fn rows_range(axis: &Axis) -> Rangef {
    let (top, bottom) = axis.ends().unwrap_or_default();
    Rangef::new(top, bottom)
}

/// A click looks at a head, with Shift it is pinned.
pub fn choose(ui: &Ui, response: &egui::Response, head: usize, view: &mut View<'_>) {
    if response.clicked() {
        let pin = ui.input(|input| input.modifiers.shift);
        view.commands.push(if pin {
            Command::Look(Look::Pin(head))
        } else {
            Command::Look(Look::Focus(head))
        });
    }
}

/// Draws a short dashed line that distinguishes heads of the same hue.
pub fn dash_ui(ui: &Ui, x: Rangef, y: f32, head: usize, view: &View<'_>) {
    let name = |head| HeadName::of(view.trace(), head);
    if (0..view.trace().heads.len()).any(|head| name(head).place >= HUES) {
        let stroke = Stroke::new(1.5, view.head_color(head));
        let line = [pos2(x.min, y), pos2(x.max, y)];
        ui.painter()
            .extend(dashed(&line, stroke, dashes(name(head))));
    }
}

/// A faint line at a row; at least a point high.
pub fn row_line(ui: &Ui, x: Rangef, row: Span, strength: f32, view: &View<'_>) {
    let y = Rangef::new(row.min, row.max.max(row.min + 1.0));
    let ink = view.palette.strong.gamma_multiply(strength);
    let line = Rect::from_x_y_ranges(x, y);
    ui.painter().rect_filled(line, 0.0, ink);
}
