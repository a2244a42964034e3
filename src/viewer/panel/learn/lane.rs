//! The lane of the moments: what the machine was, from nothing to now, on a logarithmic axis; to be dragged along.

use egui::{Align2, Painter, Rangef, Rect, Role, Sense, Shape, Ui, WidgetInfo, pos2, vec2};

use crate::learn::{Kind, Snapshot};
use crate::viewer::command::{Command, Learn};
use crate::viewer::state::learning::Learning;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::focus_ring;

/// Height, in points.
const HEIGHT: f32 = 30.0;
/// Room for the words at both ends.
const WORDS: f32 = 64.0;
/// Width and height of the mark of something that was noticed.
const MARK: [f32; 2] = [8.0, 6.0];

/// The lane; dragging along it shows the episode by the machine of that moment.
pub fn lane_ui(ui: &mut Ui, learning: &Learning, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let account = learning.run().account.as_deref();
    let now = account.map_or(0, |account| account.sequences);
    let snapshots = learning.snapshots();
    let seen = learning.snapshot();
    let words = seen.map_or("now".to_owned(), told);
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Slider, true, format!("Moments of training: {words}"))
    });
    let x = Rangef::new(rect.left() + WORDS, rect.right() - WORDS);
    let place = |sequences: u64| {
        let share = log(sequences) / log(now).max(f32::MIN_POSITIVE);
        x.min + x.span() * share.min(1.0)
    };
    let painter = ui.painter();
    let middle = rect.center().y;
    let ground = Rect::from_x_y_ranges(x, rect.top() + 4.0..=rect.bottom() - 4.0);
    painter.rect_filled(ground, 3.0, palette.background);
    painter.rect_stroke(ground, 3.0, palette.hairline(), egui::StrokeKind::Outside);
    for snapshot in snapshots {
        let at = place(snapshot.sequences);
        let (ink, high) = if snapshot.is_best {
            (palette.accent, 8.0)
        } else {
            (palette.subdued, 4.0)
        };
        painter.vline(
            at,
            middle - high..=middle + high,
            egui::Stroke::new(1.0, ink),
        );
    }
    findings(painter, learning, ground, &place);
    let knob = pos2(
        seen.map_or(x.max, |snapshot| place(snapshot.sequences)),
        middle,
    );
    painter.circle_filled(knob, 6.0, palette.accent);
    let font = theme::text(11.0);
    let left = pos2(x.min - 8.0, middle);
    painter.text(
        left,
        Align2::RIGHT_CENTER,
        "nothing",
        font.clone(),
        palette.subdued,
    );
    painter.text(
        pos2(x.max + 8.0, middle),
        Align2::LEFT_CENTER,
        "now",
        font.clone(),
        palette.subdued,
    );
    if seen.is_some() {
        let (align, dx) = if knob.x > x.center() {
            (Align2::RIGHT_CENTER, -12.0)
        } else {
            (Align2::LEFT_CENTER, 12.0)
        };
        let galley = painter.layout_no_wrap(words, font, palette.strong);
        let label = align.anchor_size(knob + vec2(dx, 0.0), galley.size());
        painter.rect_filled(label.expand(3.0), 3.0, palette.panel);
        painter.galley(label.min, galley, palette.strong);
    }
    focus_ring(ui, &response);
    let asked = response.interact_pointer_pos();
    if let Some(at) = asked.filter(|_| response.dragged() || response.clicked()) {
        let far = |sequences: u64| (place(sequences) - at.x).abs();
        let nearest = (0..snapshots.len())
            .min_by(|&a, &b| far(snapshots[a].sequences).total_cmp(&far(snapshots[b].sequences)));
        let moment = nearest.filter(|_| at.x < x.max - 3.0);
        if moment != learning.place() {
            commands.push(Learn::Moment(moment).into());
        }
    }
    let near = |at: egui::Pos2| {
        let far = |index: &usize| (place(learning.findings()[*index].sequences) - at.x).abs();
        let nearest = (0..learning.findings().len()).min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest.filter(|index| far(index) <= MARK[0])
    };
    let found = response.hover_pos().and_then(near);
    let words = found.map_or(
        "What the machine was, from nothing to now: drag to look back. High marks are the best so far, triangles what was noticed.",
        |index| learning.findings()[index].words.as_str(),
    );
    response.on_hover_text(words);
}

/// What was noticed, as triangles at the upper edge.
fn findings(painter: &Painter, learning: &Learning, ground: Rect, place: &dyn Fn(u64) -> f32) {
    let palette = Palette::on(painter.ctx());
    let shown = learning.finding_shown();
    for (index, finding) in learning.findings().iter().enumerate() {
        let (x, y) = (place(finding.sequences), ground.top() - 2.0);
        let [width, height] = MARK;
        let corners = [
            pos2(x - width / 2.0, y),
            pos2(x + width / 2.0, y),
            pos2(x, y + height),
        ];
        let ink = if finding.kind == Kind::Learned {
            palette.accent
        } else {
            palette.warning
        };
        let strength = if shown == Some(index) { 1.0 } else { 0.6 };
        let shape = Shape::convex_polygon(
            corners.to_vec(),
            ink.gamma_multiply(strength),
            egui::Stroke::NONE,
        );
        painter.add(shape);
    }
}

/// ln of a number of sequences, from 0 on.
fn log(sequences: u64) -> f32 {
    (sequences as f32 + 1.0).ln()
}

/// A moment in words.
fn told(snapshot: &Snapshot) -> String {
    let bits = snapshot
        .bits
        .map_or(String::new(), |bits| format!(", {bits:.2} bits"));
    let best = if snapshot.is_best {
        ", the best so far"
    } else {
        ""
    };
    format!(
        "after {} sequences, {:.1} s{bits}{best}",
        snapshot.sequences, snapshot.seconds
    )
}
