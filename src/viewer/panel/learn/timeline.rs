//! The training timeline: snapshots from the initial weights to now, on a logarithmic axis that can be dragged.

use egui::{
    Align2, Painter, Rangef, Rect, RectAlign, Role, Sense, Shape, Stroke, StrokeKind, Tooltip, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::figure::facts::ticks::Axis;
use crate::learn::{Finding, Snapshot};
use crate::viewer::command::{Command, Learn};
use crate::viewer::state::learning::LiveTraining;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::focus_ring;

/// Height, in points, and where a finger drags along it.
pub const HEIGHT: f32 = 30.0;
pub const HEIGHT_BY_FINGER: f32 = theme::FINGER;
/// Room for the words at both ends.
const WORDS: f32 = 64.0;
/// Width and height of the mark of something that was noticed.
const MARK: [f32; 2] = [8.0, 6.0];
/// The tooltip of the training timeline.
const MEANING: &str = "Training timeline: drag to show an earlier snapshot. High marks are the best so far, triangles are findings.";

/// Positions of training snapshots on the timeline.
struct Lane {
    x: Rangef,
    axis: Axis,
}

impl Lane {
    /// The place of a number of sequences, from 0 on.
    fn place(&self, sequences: u64) -> f32 {
        let share = self.axis.share(sequences as f64 + 1.0) as f32;
        self.x.min + self.x.span() * share.min(1.0)
    }

    /// Returns the snapshot nearest to a place, and its distance.
    fn nearest(&self, sequences: impl Iterator<Item = u64>, x: f32) -> Option<(usize, f32)> {
        let far = sequences.map(|sequences| (self.place(sequences) - x).abs());
        far.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The lane; dragging along it shows the episode by the machine of that moment.
pub fn timeline_ui(ui: &mut Ui, learning: &LiveTraining, commands: &mut Vec<Command>) {
    let height = if theme::is_by_finger(ui.ctx()) {
        HEIGHT_BY_FINGER
    } else {
        HEIGHT
    };
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let progress = learning.run().progress.as_deref();
    let now = progress.map_or(0, |progress| progress.sequences);
    let lane = Lane {
        x: Rangef::new(rect.left() + WORDS, rect.right() - WORDS),
        axis: Axis::sequences([1.0, now as f64 + 1.0]),
    };
    let words = learning.snapshot().map_or("now".to_owned(), describe);
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Slider, true, format!("Training snapshots: {words}"))
    });
    let ground = Rect::from_x_y_ranges(lane.x, rect.top() + 4.0..=rect.bottom() - 4.0);
    marks(ui.painter(), learning, ground, &lane);
    findings(ui.painter(), learning, ground, &lane);
    label(ui.painter(), learning, ground, &lane);
    focus_ring(ui, &response);
    let asked = response.interact_pointer_pos();
    if let Some(at) = asked.filter(|_| response.dragged() || response.clicked()) {
        let moment = snapshot_at(learning, &lane, at.x);
        if moment != learning.place() {
            commands.push(Learn::Snapshot(moment).into());
        }
    }
    let hovered = response.hover_pos();
    let finding = hovered.and_then(|at| finding_at(learning, &lane, at.x));
    // Above: below it stands the transport.
    let mut words = Tooltip::for_enabled(&response);
    let bar = rect.with_min_y(ui.max_rect().top());
    words.popup = words.popup.anchor(bar).align(RectAlign::TOP);
    words.show(|ui| ui.label(finding.map_or(MEANING, |finding| finding.words.as_str())));
}

/// The snapshot that a press at this place asks for; `None` for the machine as it is.
fn snapshot_at(learning: &LiveTraining, lane: &Lane, x: f32) -> Option<usize> {
    let snapshots = learning.snapshots().iter();
    let nearest = lane.nearest(snapshots.map(|snapshot| snapshot.sequences), x);
    let before_now = nearest.filter(|_| x < lane.x.max - 3.0);
    before_now.map(|(index, _)| index)
}

/// Returns the finding near this place.
fn finding_at<'a>(learning: &'a LiveTraining, lane: &Lane, x: f32) -> Option<&'a Finding> {
    let findings = learning.findings().iter();
    let nearest = lane.nearest(findings.map(|finding| finding.sequences), x);
    let near = nearest.filter(|(_, far)| *far <= MARK[0]);
    near.map(|(index, _)| &learning.findings()[index])
}

/// Draws the ground, a line for every snapshot, and the labels at both ends.
fn marks(painter: &Painter, learning: &LiveTraining, ground: Rect, lane: &Lane) {
    let palette = Palette::on(painter.ctx());
    let middle = ground.center().y;
    painter.rect_filled(ground, 3.0, palette.background);
    painter.rect_stroke(ground, 3.0, palette.hairline(), StrokeKind::Outside);
    for snapshot in learning.snapshots() {
        let (ink, high) = if snapshot.is_best {
            (palette.accent, 8.0)
        } else {
            (palette.subdued, 4.0)
        };
        let at = lane.place(snapshot.sequences);
        let y = middle - high..=middle + high;
        painter.vline(at, y, Stroke::new(1.0, ink));
    }
    for (x, align, words) in [
        (lane.x.min - 8.0, Align2::RIGHT_CENTER, "start"),
        (lane.x.max + 8.0, Align2::LEFT_CENTER, "now"),
    ] {
        let font = theme::text(11.0);
        painter.text(pos2(x, middle), align, words, font, palette.subdued);
    }
}

/// Draws the snapshot on screen, with a label where it is not the latest.
fn label(painter: &Painter, learning: &LiveTraining, ground: Rect, lane: &Lane) {
    let palette = Palette::on(painter.ctx());
    let seen = learning.snapshot();
    let x = seen.map_or(lane.x.max, |snapshot| lane.place(snapshot.sequences));
    let knob = pos2(x, ground.center().y);
    painter.circle_filled(knob, 6.0, palette.accent);
    let Some(seen) = seen else {
        return;
    };
    let (align, dx) = if knob.x > lane.x.center() {
        (Align2::RIGHT_CENTER, -12.0)
    } else {
        (Align2::LEFT_CENTER, 12.0)
    };
    let galley = painter.layout_no_wrap(describe(seen), theme::text(11.0), palette.strong);
    let label = align.anchor_size(knob + vec2(dx, 0.0), galley.size());
    painter.rect_filled(label.expand(3.0), 3.0, palette.panel);
    painter.galley(label.min, galley, palette.strong);
}

/// Paints findings as triangles at the upper edge.
fn findings(painter: &Painter, learning: &LiveTraining, ground: Rect, lane: &Lane) {
    let palette = Palette::on(painter.ctx());
    let shown = learning.finding_shown();
    for (index, finding) in learning.findings().iter().enumerate() {
        let (x, y) = (lane.place(finding.sequences), ground.top() - 2.0);
        let [width, height] = MARK;
        let corners = [
            pos2(x - width / 2.0, y),
            pos2(x + width / 2.0, y),
            pos2(x, y + height),
        ];
        let ink = if finding.kind.is_good() {
            palette.accent
        } else {
            palette.warning
        };
        let strength = if shown == Some(index) { 1.0 } else { 0.6 };
        let shape =
            Shape::convex_polygon(corners.to_vec(), ink.gamma_multiply(strength), Stroke::NONE);
        painter.add(shape);
    }
}

/// A moment in words.
fn describe(snapshot: &Snapshot) -> String {
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
