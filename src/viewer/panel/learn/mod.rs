//! Live training: the curves next to the current answer to the episode, the findings as text, and the bar with its
//! clock.

mod bar;
mod chart;
mod curves;
mod finding;
mod grid;
mod hyperparameters;
mod phone;
mod timeline;

pub use bar::{bar_ui, height};

use egui::{Rangef, Rect, Ui, UiBuilder};

use super::View;
use super::paper::paper_ui;

/// Share of the pictures that the curves have.
const CURVES: f32 = 0.48;
/// Around curves, episode and words, in points.
const APART: f32 = 12.0;

/// Shows curves at the left, the episode at the right, and the findings below it.
pub fn train_ui(ui: &mut Ui, view: &mut View<'_>) {
    if view.state.is_on_phone() {
        return phone::train_ui(ui, view);
    }
    let whole = ui.max_rect();
    let middle = (whole.left() + CURVES * whole.width()).round();
    let mut within = |x: Rangef, y: Rangef, add: &mut dyn FnMut(&mut Ui)| {
        let part = Rect::from_x_y_ranges(x, y);
        let mut child = ui.new_child(UiBuilder::new().max_rect(part));
        child.set_clip_rect(part);
        add(&mut child);
    };
    let right = Rangef::new(middle, whole.right());
    let below = whole.bottom() - finding::HEIGHT;
    if let Some(learning) = &view.state.learning {
        let left = Rangef::new(whole.left() + APART, middle - APART);
        let y = Rangef::new(whole.top() + 6.0, whole.bottom());
        within(left, y, &mut |ui| {
            if learning.runs.len() > 1 {
                grid::several_ui(ui, learning, view);
            } else {
                curves::curves_ui(ui, learning, view);
            }
        });
        let words = Rangef::new(right.min, right.max - APART);
        let y = Rangef::new(below, whole.bottom());
        within(words, y, &mut |ui| {
            finding::finding_ui(ui, learning, view.commands);
        });
    }
    let y = Rangef::new(whole.top(), below - 4.0);
    within(right, y, &mut |ui| paper_ui(ui, view));
}
