//! The overlap of heads at the step, under their table: A·A′ and the penalty on it.

use egui::{Align2, Pos2, Rangef, Rect, Sense, Ui, pos2, vec2};

use super::View;
use super::page::picture_ui;
use super::parts::quiet_text;
use crate::figure::scene::overlap::{BESIDE, LABELS, Overlap, Redundant};
use crate::figure::scene::panel::{Content, Panel};
use crate::figure::{PanelId, Picture, facts::numbers};
use crate::model::Trace;
use crate::train::is_absent;
use crate::viewer::theme;
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::canvas::{area, rect};
use crate::viewer::widget::readout::Readout;

/// Height of the heading.
pub const HEADING: f32 = 14.0;
/// A row of the matrix is at least so high on screen.
const LEAST_ROW: f32 = 8.0;
/// A row is no higher than a line of the table above.
const ROW: f32 = 15.0;

fn panel<'a>(view: &View<'a>) -> Option<Panel<'a>> {
    view.catalogue().panel(PanelId::new(Picture::Overlap))
}

/// The picture in this room under a heading, as far as there is enough; returns from where
/// to where it goes.
pub fn overlap_ui(ui: &mut Ui, x: Rangef, y: Rangef, view: &mut View<'_>) -> Option<Rangef> {
    let panel = panel(view)?;
    let heads = view.trace().heads.len() as f32;
    let Content::Overlap(overlap) = &panel.content else {
        return None;
    };
    let above = HEADING + LABELS;
    if y.span() < above + (LEAST_ROW * heads).max(overlap.least()) || x.span() < 120.0 {
        return None;
    }
    let at = pos2(x.min, y.min + HEADING / 2.0);
    let words = "head overlap (0: disjoint, 1: same row)";
    quiet_text(ui, at, Align2::LEFT_CENTER, words, theme::text(10.5), view);
    let height = (ROW * heads).min(y.span() - above);
    let room = Rect::from_x_y_ranges(
        x.min + BESIDE..=x.max,
        y.min + above..=y.min + above + height,
    );
    let place = panel.at(area(room));
    picture_ui(ui, &place, view);
    let mut end = place.area.bottom;
    if let Content::Overlap(overlap) = &place.panel.content {
        penalties_ui(ui, overlap, view);
        end = overlap.words().map_or(end, |words| words.bottom.max(end));
    }
    Some(Rangef::new(y.min, end))
}

/// Whoever points at a penalty reads how it comes about.
fn penalties_ui(ui: &Ui, overlap: &Overlap<'_>, view: &mut View<'_>) {
    let all = &view.open.redundancies;
    for (of, line) in all.0.iter().zip(overlap.lines()) {
        let description = penalty(of, view.trace(), view.step());
        let id = ui.scope_id().with(("penalty", of.who));
        let response = ui.interact(rect(&line), id, Sense::hover());
        let name = format!("redundancy of heads, {}: {}", of.who, description.value);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &name));
        if response.hovered() {
            *view.readout = Some(description);
        }
    }
}

/// A penalty with its equation in the numbers of a step.
pub fn penalty(of: &Redundant, trace: &Trace, step: usize) -> Readout {
    let [spread, shared, total] = of.at(step);
    let meaning = if is_absent(total) {
        "weightings not recorded".to_owned()
    } else {
        let [own, pairs] = of.terms(trace, step);
        let short = |value: f32| numbers::short(value, 4);
        format!(
            "redundancy P = ‖A·A′ − I‖², 0 when each head is on a separate row\nspread {} = {own}\nshared {} = \
             {pairs}\ntraining adds the mean over the steps, {}",
            short(spread),
            short(shared),
            short(of.mean),
        )
    };
    Readout {
        place: format!("{}  step {step}  P", of.who),
        value: numbers::exact(total),
        meaning,
    }
}

/// A word that shows the picture when it is pointed at or clicked, its lower left corner here.
pub fn on_demand_ui(ui: &mut Ui, at: Pos2, view: &mut View<'_>) {
    let Some(Content::Overlap(overlap)) = panel(view).map(|panel| panel.content) else {
        return;
    };
    let rect = Rect::from_min_max(at - vec2(0.0, 16.0), at + vec2(62.0, 0.0));
    let response = ui.interact(rect, ui.scope_id().with("overlap"), Sense::click());
    let name = "Overlap of heads";
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    let (font, ink) = (theme::text(10.5), view.palette.accent);
    let corner = rect.left_center();
    ui.painter()
        .text(corner, Align2::LEFT_CENTER, "overlap …", font, ink);
    focus_ring(ui, &response);
    let heads = view.trace().heads.len() as f32;
    let size = vec2(
        (BESIDE + 28.0 * heads + 190.0).min(480.0),
        HEADING + LABELS + (ROW * heads).min(300.0).max(overlap.least()) + 6.0,
    );
    let mut show = |ui: &mut Ui| {
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        overlap_ui(ui, rect.x_range(), rect.y_range(), view);
    };
    egui::Popup::from_toggle_button_response(&response).show(&mut show);
    response.on_hover_ui(show);
}
