//! All rows in little, while only some of them are on screen: where the weight is, and where the window
//! stands.

use egui::{Rangef, Rect, Stroke, StrokeKind, Ui};

use super::page::stages_menu;
use super::parts::pointer;
use super::{Columns, View, interact};
use crate::figure::facts::stages::columns_of;
use crate::figure::scene::panel::Content;
use crate::figure::{At, Paint, PanelId, Picture};
use crate::viewer::command::{Command, Rows};
use crate::viewer::narration;
use crate::viewer::row_zoom::WITHOUT_GAPS;
use crate::viewer::widget::canvas::{Canvas, area};

/// The weighting of the selected head over all rows, the peaks of all heads, and the rows on screen as a
/// frame that can be dragged.
pub fn minimap_ui(ui: &mut Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let (Some(x), Some(head)) = (columns.minimap, view.head()) else {
        return;
    };
    if head.weighting.width() == 0 {
        return;
    }
    let rect = Rect::from_x_y_ranges(x, y);
    let last = columns_of(head).last();
    let id = last.map(|last| PanelId::of(Picture::Stages, view.focus).part(last.place()));
    let panel = id.and_then(|id| view.catalogue().panel(id));
    let Some(Content::Bars(bars)) = panel.map(|panel| panel.content) else {
        return;
    };
    let (page, axis) = (
        view.page(ui.pixels_per_point()),
        view.whole.place(y.into(), WITHOUT_GAPS),
    );
    let at = At {
        id: PanelId::of(Picture::Weightings, view.focus).now(),
        area: &area(rect),
        axis: &axis,
    };
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    canvas.cells(&bars.cells, at, &page, 1.0);
    let edge = view.palette.hairline();
    ui.painter()
        .rect_stroke(rect, 0.0, edge, StrokeKind::Outside);
    peaks(ui, rect, view);
    let (rows, shown) = (view.whole.numbers(), view.rows.numbers());
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
    stages_menu(&response, &bars, row.copied(), view);
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
        let peak = narration::peak(head.weighting.row(view.step()));
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
