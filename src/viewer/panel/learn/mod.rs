//! A machine that learns: its curves beside the episode as it does it by now, and the bar with its clock.

mod bar;
mod curves;
mod lane;

pub use bar::{HEIGHT, bar_ui};

use egui::{Rangef, Rect, Ui, UiBuilder};

use super::paper::paper_ui;
use super::{Columns, View};

/// Share of the pictures that the curves have.
const CURVES: f32 = 0.46;
/// Between curves and episode, in points.
const APART: f32 = 10.0;

/// Curves at the left, the episode at the right.
pub fn train_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let whole = ui.max_rect();
    let middle = whole.left() + CURVES * whole.width();
    let part = |x: Rangef| Rect::from_x_y_ranges(x, whole.y_range());
    let mut within = |x: Rangef, add: &mut dyn FnMut(&mut Ui)| {
        let mut child = ui.new_child(UiBuilder::new().max_rect(part(x)));
        child.set_clip_rect(part(x));
        add(&mut child);
    };
    if let Some(learning) = &view.state.learning {
        let left = Rangef::new(whole.left() + 12.0, middle - APART);
        within(left, &mut |ui| curves::curves_ui(ui, learning));
    }
    let right = Rangef::new(middle, whole.right());
    within(right, &mut |ui| paper_ui(ui, columns, view));
}
