//! The training timeline: snapshots from the initial weights to now, on a logarithmic axis that can be dragged.

use egui::{
    Align2, Painter, Rect, RectAlign, Role, Sense, StrokeKind, Tooltip, Ui, WidgetInfo, pos2, vec2,
};

use super::finding::ink;
use crate::figure::facts::ticks::Axis;
use crate::learn::{Finding, Snapshot};
use crate::math::Answer;
use crate::viewer::command::Learn;
use crate::viewer::state::LiveTraining;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{focus_ring, mark, or_pointer, send};

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
struct Lane<'a> {
    learning: &'a LiveTraining,
    painter: &'a Painter,
    palette: &'static Palette,
    ground: Rect,
    axis: Axis,
}

/// The lane; dragging along it shows the episode by the machine of that moment.
pub fn timeline_ui(ui: &mut Ui, learning: &LiveTraining) {
    let height = or_pointer(ui.ctx(), HEIGHT_BY_FINGER, HEIGHT);
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let progress = learning.run().progress.as_deref();
    let now = progress.map_or(0, |progress| progress.sequences);
    let lane = Lane {
        learning,
        painter: ui.painter(),
        palette: Palette::of(ui),
        ground: rect.shrink2(vec2(WORDS, 4.0)),
        axis: Axis::sequences([1.0, now as f64 + 1.0]),
    };
    let answer = learning.run().experiment.task.answer();
    let words = learning
        .snapshot()
        .map(|snapshot| describe(snapshot, answer));
    let words = words.unwrap_or("now".to_owned());
    let words = format!("Training snapshots: {words}");
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &words));
    lane.marks();
    lane.findings();
    lane.label();
    focus_ring(ui, &response);
    let asked = response.interact_pointer_pos();
    if let Some(at) = asked.filter(|_| response.dragged() || response.clicked()) {
        let moment = lane.snapshot_at(at.x);
        if moment != learning.place() {
            send(ui.ctx(), Learn::Snapshot(moment));
        }
    }
    let finding = response.hover_pos().and_then(|at| lane.finding_at(at.x));
    // Above: below it stands the transport.
    let mut words = Tooltip::for_enabled(&response);
    let bar = rect.with_min_y(ui.max_rect().top());
    words.popup = words.popup.anchor(bar).align(RectAlign::TOP);
    words.show(|ui| ui.label(finding.map_or(MEANING, |finding| finding.words.as_str())));
}

impl<'a> Lane<'a> {
    /// The place of a number of sequences, from 0 on.
    fn place(&self, sequences: u64) -> f32 {
        let share = self.axis.share(sequences as f64 + 1.0) as f32;
        self.ground.left() + self.ground.width() * share.min(1.0)
    }

    /// Returns the one of these moments that is nearest to a place, and its distance.
    fn nearest(&self, sequences: impl Iterator<Item = u64>, x: f32) -> Option<(usize, f32)> {
        let far = sequences.map(|sequences| (self.place(sequences) - x).abs());
        far.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The snapshot that a press at this place asks for; `None` for the machine as it is.
    fn snapshot_at(&self, x: f32) -> Option<usize> {
        let snapshots = self.learning.snapshots().iter();
        let nearest = self.nearest(snapshots.map(|snapshot| snapshot.sequences), x);
        let before_now = nearest.filter(|_| x < self.ground.right() - 3.0);
        before_now.map(|(index, _)| index)
    }

    /// Returns the finding near this place.
    fn finding_at(&self, x: f32) -> Option<&'a Finding> {
        let findings = self.learning.findings();
        let (index, far) = self.nearest(findings.iter().map(|found| found.sequences), x)?;
        (far <= MARK[0]).then(|| &findings[index])
    }

    /// Draws the ground, a line for every snapshot, and the labels at both ends.
    fn marks(&self) {
        let (painter, ground, palette) = (self.painter, self.ground, self.palette);
        let middle = ground.center().y;
        painter.rect_filled(ground, 3.0, palette.background);
        painter.rect_stroke(ground, 3.0, palette.hairline(), StrokeKind::Outside);
        for snapshot in self.learning.snapshots() {
            let (ink, high) = if snapshot.is_best {
                (palette.accent, 8.0)
            } else {
                (palette.subdued, 4.0)
            };
            let y = middle - high..=middle + high;
            painter.vline(self.place(snapshot.sequences), y, (1.0, ink));
        }
        for (x, align, words) in [
            (ground.left() - 8.0, Align2::RIGHT_CENTER, "start"),
            (ground.right() + 8.0, Align2::LEFT_CENTER, "now"),
        ] {
            let font = theme::text(11.0);
            painter.text(pos2(x, middle), align, words, font, palette.subdued);
        }
    }

    /// Draws the snapshot on screen, with a label where it is not the latest.
    fn label(&self) {
        let (painter, ground, palette) = (self.painter, self.ground, self.palette);
        let seen = self.learning.snapshot();
        let x = seen.map_or(ground.right(), |snapshot| self.place(snapshot.sequences));
        let knob = pos2(x, ground.center().y);
        painter.circle_filled(knob, 6.0, palette.accent);
        let Some(seen) = seen else {
            return;
        };
        let answer = self.learning.run().experiment.task.answer();
        let (align, dx) = if knob.x > ground.center().x {
            (Align2::RIGHT_CENTER, -12.0)
        } else {
            (Align2::LEFT_CENTER, 12.0)
        };
        let galley =
            painter.layout_no_wrap(describe(seen, answer), theme::text(11.0), palette.strong);
        let label = align.anchor_size(knob + vec2(dx, 0.0), galley.size());
        painter.rect_filled(label.expand(3.0), 3.0, palette.panel);
        painter.galley(label.min, galley, palette.strong);
    }

    /// Paints findings as triangles at the upper edge.
    fn findings(&self) {
        let shown = self.learning.finding_shown();
        for (index, finding) in self.learning.findings().iter().enumerate() {
            let y = self.ground.top() - 2.0 + MARK[1];
            let tip = pos2(self.place(finding.sequences), y);
            let strength = if shown == Some(index) { 1.0 } else { 0.6 };
            let ink = ink(finding, self.palette).gamma_multiply(strength);
            mark(self.painter, tip, MARK, ink);
        }
    }
}

/// A moment in words.
fn describe(snapshot: &Snapshot, answer: Answer) -> String {
    let bits = snapshot
        .bits
        .map(|bits| format!(", {}", answer.in_words(bits, 2)));
    let bits = bits.unwrap_or_default();
    let best = [", the best so far", ""][usize::from(!snapshot.is_best)];
    let (sequences, seconds) = (snapshot.sequences, snapshot.seconds);
    format!("after {sequences} sequences, {seconds:.1} s{bits}{best}")
}
