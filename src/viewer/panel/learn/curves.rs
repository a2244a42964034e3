//! The curves of a training: the loss above, the other quantities below, side by side or, in little space, one at a
//! time.

use egui::{Rect, Ui, UiBuilder, pos2, vec2};

use super::chart::chart_ui;
use crate::figure::chart::data::Chart;
use crate::viewer::command::Learn;
use crate::viewer::narration::training_charts;
use crate::viewer::panel::View;
use crate::viewer::state::LiveTraining;
use crate::viewer::widget::choice;

/// From this size on everything is on screen.
const ROOMY: egui::Vec2 = vec2(480.0, 520.0);
/// Shares of the height that the loss has: among all, and above one other.
const LOSS: [f32; 2] = [0.42, 0.52];
/// Between two charts, in points.
const APART: f32 = 6.0;

/// All curves.
pub fn curves_ui(ui: &mut Ui, learning: &LiveTraining, view: &mut View<'_>) {
    let run = learning.run();
    let whole = ui.max_rect();
    let roomy = whole.width() >= ROOMY.x && whole.height() >= ROOMY.y;
    let share = LOSS[usize::from(!roomy)];
    let middle = (whole.top() + share * whole.height()).round();
    let (above, below) = whole.split_top_bottom_at_y(middle);
    if learning.read_only.is_some() {
        // Of a run that was not watched here nothing else is known.
        loss_ui(ui, whole, learning, view);
        return;
    }
    loss_ui(ui, above.with_max_y(middle - APART), learning, view);
    let measured = &training_charts::measured(learning, run);
    let heads = &training_charts::heads(run);
    if roomy && !heads.is_empty() {
        let (left, right) = below.split_left_right_at_fraction(0.5);
        column_ui(ui, left.with_max_x(left.right() - APART), measured, view);
        column_ui(ui, right.with_min_x(right.left() + APART), heads, view);
    } else if roomy {
        column_ui(ui, below, measured, view);
    } else {
        let all: Vec<_> = measured.iter().chain(heads).collect();
        one_ui(ui, below, &all, view);
    }
}

/// Shows the loss in bits per sequence; returns its chart.
pub fn loss_ui(ui: &Ui, rect: Rect, learning: &LiveTraining, view: &mut View<'_>) -> Chart {
    let loss = training_charts::loss(learning);
    column_ui(ui, rect, std::slice::from_ref(&loss), view);
    loss
}

/// Charts one below the other; the training snapshot on screen is marked.
fn column_ui(ui: &Ui, rect: Rect, charts: &[Chart], view: &mut View<'_>) {
    let learning = view.state.learning.as_ref();
    let moment = learning.and_then(LiveTraining::snapshot);
    let moment = moment.map(|snapshot| snapshot.sequences as f64);
    let height = rect.height() / charts.len().max(1) as f32;
    for (index, chart) in charts.iter().enumerate() {
        let corner = pos2(rect.left(), rect.top() + index as f32 * height);
        let part = Rect::from_min_size(corner, vec2(rect.width(), height - APART));
        let over_sequences = chart.across.is_log();
        chart_ui(ui, part, chart, moment.filter(|_| over_sequences), view);
    }
}

/// One of the charts, and names to choose another.
fn one_ui(ui: &mut Ui, rect: Rect, charts: &[&Chart], view: &mut View<'_>) {
    const TABS: f32 = 24.0;
    let below = view.state.learning.as_ref().map_or(0, |of| of.below);
    let below = below.min(charts.len().saturating_sub(1));
    let Some(chart) = charts.get(below) else {
        return;
    };
    let (tabs, rest) = rect.split_top_bottom_at_y(rect.top() + TABS);
    let mut child = ui.new_child(UiBuilder::new().max_rect(tabs));
    child.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 5.0;
        for (index, chart) in charts.iter().enumerate() {
            let (is_on, command) = (index == below, Learn::Below(index));
            choice(ui, is_on, &chart.name, command);
        }
    });
    let rest = rest.with_min_y(rest.top() + 2.0);
    column_ui(ui, rest, std::slice::from_ref(*chart), view);
}
