//! Live training: the curves next to the current answer to the episode, the findings as text, and the bar with its
//! clock.

mod bar;
mod curves;
mod finding;
mod grid;
mod phone;
mod timeline;

pub use bar::{bar_ui, height};

use egui::{Ui, vec2};

use super::paper::paper_ui;
use super::{View, within};

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
    let (left, right) = whole.split_left_right_at_x(middle);
    let (right, below) = right.split_top_bottom_at_y(whole.bottom() - finding::HEIGHT);
    if let Some(learning) = &view.state.learning {
        let left = left.shrink2(vec2(APART, 0.0)).with_min_y(whole.top() + 6.0);
        within(ui, left, |ui| {
            if learning.runs.len() > 1 {
                grid::several_ui(ui, learning, view);
            } else {
                curves::curves_ui(ui, learning, view);
            }
        });
        let words = below.with_max_x(below.right() - APART);
        within(ui, words, |ui| {
            finding::finding_ui(ui, learning);
        });
    }
    let right = right.with_max_y(right.bottom() - 4.0);
    within(ui, right, |ui| paper_ui(ui, view));
}
