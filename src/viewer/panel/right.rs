//! The right panel: the head looked at, at this step, in numbers.

use egui::{Align2, Rect, RichText, Sense, Ui, pos2, vec2};

use super::View;
use crate::model::HeadTrace;
use crate::viewer::numbers;
use crate::viewer::story;
use crate::viewer::theme;
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::property::{note, number, section};

/// The numbers of the head looked at.
pub fn numbers_ui(ui: &mut Ui, view: &mut View<'_>) {
    let Some(head) = view.head() else {
        note(ui, "No episode is open.");
        return;
    };
    title(ui, head, view);
    let t = view.step();
    ui.spacing_mut().item_spacing.y = 2.0;
    section(ui, "Content");
    number(ui, "β", "key strength", &numbers::fixed(head.strength[t]));
    equation(ui, view, "wᶜ = softmax(β · cos(k, M))", "(5, 6)");
    section(ui, "Gate");
    number(
        ui,
        "g",
        "content against before",
        &numbers::fixed(head.gate[t]),
    );
    equation(ui, view, "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁", "(7)");
    section(ui, "Shift");
    shift_ui(ui, view, head.shift.row(t));
    equation(ui, view, "w\u{303}(i) = Σ wᵍ(j) · s(i − j)", "(8)");
    section(ui, "Sharpen");
    number(ui, "γ", "sharpening", &numbers::fixed(head.sharpening[t]));
    equation(ui, view, "w = w\u{303}^γ / Σ w\u{303}^γ", "(9)");
    section(ui, "Weighting");
    weighting_ui(ui, view, head);
}

fn title(ui: &mut Ui, head: &HeadTrace<f32>, view: &View<'_>) {
    let label = story::head_label(view.recording(), view.focus);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), theme::ROW), Sense::hover());
    let painter = ui.painter();
    let middle = rect.center().y;
    let color = view.palette.head(view.focus);
    head_sign(
        painter,
        pos2(rect.left() + 8.0, middle),
        16.0,
        head.is_write(),
        color,
    );
    let (left, ink) = (rect.left() + 24.0, view.palette.strong);
    painter.text(
        pos2(left, middle),
        Align2::LEFT_CENTER,
        &label,
        theme::heading(16.0),
        ink,
    );
    let kind = if head.is_write() {
        "write head"
    } else {
        "read head"
    };
    let (font, ink) = (theme::text(12.0), view.palette.subdued);
    painter.text(
        pos2(left + 32.0, middle + 1.0),
        Align2::LEFT_CENTER,
        kind,
        font,
        ink,
    );
    let step = format!("step {:>3}", view.step());
    let at = pos2(rect.right(), middle);
    painter.text(
        at,
        Align2::RIGHT_CENTER,
        step,
        theme::mono(12.0),
        view.palette.text,
    );
}

/// An equation of the paper with its number.
fn equation(ui: &mut Ui, view: &View<'_>, text: &str, reference: &str) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let (font, ink) = (theme::text(12.0), view.palette.subdued);
    let middle = rect.center().y;
    let left = pos2(rect.left(), middle);
    ui.painter()
        .text(left, Align2::LEFT_CENTER, text, font, ink);
    let right = pos2(rect.right(), middle);
    let font = theme::text(10.5);
    ui.painter()
        .text(right, Align2::RIGHT_CENTER, reference, font, ink);
    ui.add_space(8.0);
}

/// The shift weighting as bars, one for each offset, with its numbers.
fn shift_ui(ui: &mut Ui, view: &View<'_>, shift: &[f32]) {
    let range = shift.len() / 2;
    // A wide range has its heaviest offsets listed, in order.
    let mut offsets: Vec<usize> = (0..shift.len()).collect();
    if shift.len() > 7 {
        offsets.sort_by(|&a, &b| shift[b].total_cmp(&shift[a]));
        offsets.truncate(7);
        offsets.sort_unstable();
    }
    for index in offsets {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
        let by = story::signed(story::offset(index, range));
        let words = format!("shift by {by}: {}", numbers::exact(shift[index]));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
        let painter = ui.painter();
        let middle = rect.center().y;
        let text = format!("s({by})");
        let at = pos2(rect.left(), middle);
        painter.text(
            at,
            Align2::LEFT_CENTER,
            text,
            theme::text(13.0),
            view.palette.text,
        );
        let room = Rect::from_min_max(
            pos2(rect.left() + 48.0, middle - 4.0),
            pos2(rect.right() - 84.0, middle + 4.0),
        );
        painter.rect_filled(room, 2.0, view.palette.raised);
        let share = if shift[index].is_finite() {
            shift[index].clamp(0.0, 1.0)
        } else {
            0.0
        };
        let bar = Rect::from_min_size(room.min, vec2(room.width() * share, room.height()));
        painter.rect_filled(bar, 2.0, view.palette.head(view.focus));
        let value = numbers::fixed(shift[index]);
        let at = pos2(rect.right(), middle);
        painter.text(
            at,
            Align2::RIGHT_CENTER,
            value,
            theme::mono(12.5),
            view.palette.strong,
        );
    }
}

/// Where the weighting stands, and how sharp it is.
fn weighting_ui(ui: &mut Ui, view: &View<'_>, head: &HeadTrace<f32>) {
    let weighting = head.weighting.row(view.step());
    let mut heaviest: Vec<usize> = (0..weighting.len()).collect();
    let most = 4.min(heaviest.len());
    if most > 0 {
        heaviest.select_nth_unstable_by(most - 1, |&a, &b| weighting[b].total_cmp(&weighting[a]));
    }
    heaviest.truncate(most);
    heaviest.sort_by(|&a, &b| weighting[b].total_cmp(&weighting[a]));
    for row in heaviest {
        number(
            ui,
            "w",
            &format!("row {row:>4}"),
            &numbers::fixed(weighting[row]),
        );
    }
    if weighting.iter().any(|weight| !weight.is_finite()) {
        number(ui, "H", "entropy, bits", "not finite");
        ui.add_space(4.0);
        let words = RichText::new("not finite: some weights of this step are no numbers");
        ui.label(words.size(11.5).color(view.palette.warning));
        return;
    }
    let entropy: f32 = weighting
        .iter()
        .filter(|w| **w > 0.0)
        .map(|w| -w * w.log2())
        .sum();
    number(ui, "H", "entropy, bits", &numbers::fixed(entropy));
    ui.add_space(4.0);
    let words = RichText::new("0 bits: all weight on one row").size(11.5);
    ui.label(words.color(view.palette.subdued));
}
