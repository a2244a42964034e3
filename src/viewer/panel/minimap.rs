//! All rows in little, while only some of them are on screen: where the weight is, and where the window
//! stands.

use egui::{Rangef, Rect, Stroke, StrokeKind, Ui};

use super::parts::{frame, pointer};
use super::pipeline::{columns_of, stages_menu};
use super::{Columns, View, interact};
use crate::viewer::command::{Command, Rows};
use crate::viewer::story;
use crate::viewer::widget::picture::{self, Grid};

/// The weighting of the head looked at over all rows, the peaks of all heads, and the rows on screen as a
/// frame that can be dragged.
pub fn minimap_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let (Some(x), Some(head)) = (columns.minimap, view.head()) else {
        return;
    };
    if head.weighting.width() == 0 {
        return;
    }
    let rect = Rect::from_x_y_ranges(x, y);
    let (rows, weighting) = (view.whole.numbers(), head.weighting.row(view.step()));
    let grid = Grid {
        columns: 1,
        rows: rows.len(),
        scale: view.weighting_scale,
        value: &|_, index| weighting[rows[index]],
    };
    let scale = view.weighting_scale.at(0.5).to_bits();
    let version = (
        (view.open.serial, view.step(), view.focus),
        view.whole.id(),
        scale,
    );
    let size = rect.size().into();
    let texture = view
        .textures
        .get(ui.ctx(), "minimap", version, size, view.palette, &grid);
    picture::paint(ui.painter(), rect, texture);
    frame(ui, rect, view);
    peaks(ui, rect, view);
    let shown = view.rows.numbers();
    let first = shown.first().and_then(|row| view.whole.index_of(*row));
    let first = first.unwrap_or(0);
    let place = |index: usize| y.min + index as f32 / rows.len().max(1) as f32 * y.span();
    let (top, bottom) = (place(first), place(first + shown.len()));
    let window = Rect::from_x_y_ranges(x, Rangef::new(top, bottom.max(top + 3.0)));
    let accent = Stroke::new(1.5, view.palette.accent);
    ui.painter()
        .rect_stroke(window.expand(1.0), 1.0, accent, StrokeKind::Outside);
    let response = interact(ui, rect, "all rows", "drag to move the rows on screen");
    let at = pointer(&response).map(|at| (at.y - y.min) / y.span().max(1.0));
    let row = at.and_then(|share| rows.get((share * rows.len() as f32) as usize));
    if let Some(shown) = columns_of(view.focus, view).pop() {
        stages_menu(&response, &shown, row.copied(), view);
    }
    let down = response.dragged() || response.clicked();
    if let (true, Some(at)) = (down, response.interact_pointer_pos()) {
        let share = ((at.y - y.min) / y.span().max(1.0)).clamp(0.0, 1.0);
        let index = (share * rows.len() as f32) as usize;
        view.commands.push(Command::Rows(Rows::Centre(index)));
    }
}

/// A mark for the peak of every head: at the right where it writes, at the left where it reads.
fn peaks(ui: &Ui, rect: Rect, view: &View<'_>) {
    let rows = view.whole.shown().max(1) as f32;
    for (index, head) in view.trace().heads.iter().enumerate() {
        let peak = story::peak(head.weighting.row(view.step()));
        let Some(at) = peak.and_then(|(row, _)| view.whole.index_of(row)) else {
            continue;
        };
        let mark = Stroke::new(2.0, view.head_color(index));
        let side = if head.is_write() {
            Rangef::new(rect.right() - 5.0, rect.right() + 2.0)
        } else {
            Rangef::new(rect.left() - 2.0, rect.left() + 5.0)
        };
        let place = rect.top() + (at as f32 + 0.5) / rows * rect.height();
        ui.painter().hline(side, place, mark);
    }
}
