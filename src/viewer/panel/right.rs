//! The right panel: what is kept in view, and the head looked at, in the numbers of this step.

use egui::{Align, Align2, Layout, Rect, Response, RichText, Sense, Ui, pos2, vec2};

use super::View;
use crate::figure::stages::columns_of;
use crate::figure::{PanelId, Picture, numbers};
use crate::model::HeadTrace;
use crate::train::is_absent;
use crate::viewer::command::{Command, File, Look};
use crate::viewer::inspect::{self, Form};
use crate::viewer::keys;
use crate::viewer::state::target::Target;
use crate::viewer::story;
use crate::viewer::theme;
use crate::viewer::widget::button::{focus_ring, named_icon_button, text_button};
use crate::viewer::widget::icon::{Icon, head_sign};
use crate::viewer::widget::property::{note, number, section};

/// The numbers of the head looked at.
pub fn numbers_ui(ui: &mut Ui, view: &mut View<'_>) {
    kept_ui(ui, view);
    let Some(head) = view.head() else { return };
    title(ui, head, view);
    let t = view.step();
    ui.spacing_mut().item_spacing.y = 2.0;
    for column in columns_of(head) {
        let Some(scalar) = column.emits else { continue };
        let mut title = column.word.to_owned();
        title[..1].make_ascii_uppercase();
        section(ui, &title);
        match scalar.series(head) {
            Some(series) => {
                // The heading says it already.
                let words = Some(scalar.words).filter(|words| *words != column.word);
                let value = numbers::fixed(series[t]);
                number(ui, scalar.symbol, words.unwrap_or_default(), &value);
            }
            None => shift_ui(ui, view, head.shift.row(t)),
        }
        equation(ui, view, column.equation, column.number);
    }
    if head.weighting.width() > 0 {
        section(ui, "Weighting");
        weighting_ui(ui, view, head);
    }
}

fn title(ui: &mut Ui, head: &HeadTrace<f32>, view: &View<'_>) {
    let label = story::head_label(view.recording(), view.focus);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), theme::ROW), Sense::hover());
    let painter = ui.painter();
    let middle = rect.center().y;
    let color = view.head_color(view.focus);
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
fn shift_ui(ui: &mut Ui, view: &mut View<'_>, shift: &[f32]) {
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
            ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::click());
        if response.clicked() {
            let target = Target::Value {
                id: PanelId::of(Picture::Shifts, view.focus),
                column: index,
            };
            view.commands.push(Command::Look(Look::Select(target)));
        }
        focus_ring(ui, &response);
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
        painter.rect_filled(bar, 2.0, view.head_color(view.focus));
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

/// Rows listed in the table of the stages.
const ROWS: usize = 6;

/// Cells of equal width, right-aligned.
fn table_line(ui: &mut Ui, cells: &[String], kept: bool, view: &View<'_>) -> Response {
    let size = vec2(ui.available_width(), 18.0);
    // The titles are nothing to press.
    let titles = cells.first().is_some_and(|cell| cell == "row");
    let sense = if titles {
        Sense::hover()
    } else {
        Sense::click()
    };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let palette = view.palette;
    if kept || response.hovered() {
        let fill = if kept {
            palette.hovered
        } else {
            palette.raised
        };
        ui.painter().rect_filled(rect, 2.0, fill);
    }
    let each = rect.width() / cells.len() as f32;
    for (index, cell) in cells.iter().enumerate() {
        let at = pos2(
            rect.left() + (index + 1) as f32 * each - 3.0,
            rect.center().y,
        );
        let number = cell.chars().any(|c| c.is_ascii_digit());
        let (font, ink) = match (number, index) {
            (false, _) => (theme::text(11.0), palette.subdued),
            (true, 0) => (theme::mono(11.0), palette.subdued),
            (true, _) => (theme::mono(11.0), palette.strong),
        };
        ui.painter().text(at, Align2::RIGHT_CENTER, cell, font, ink);
    }
    focus_ring(ui, &response);
    response
}

/// What is kept in view, with its equations in the numbers of this step.
fn kept_ui(ui: &mut Ui, view: &mut View<'_>) {
    let Some(card) = view.state.card() else {
        note(
            ui,
            "Click a value in any picture to keep it here, with its equation.",
        );
        ui.add_space(8.0);
        return;
    };
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.horizontal(|ui| {
        let title = RichText::new(&card.title).font(theme::heading(14.0));
        ui.label(title.color(view.palette.strong));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = named_icon_button(ui, Icon::Close, "Let go", false, false);
            if close.clicked() {
                view.commands.push(Command::Look(Look::Deselect));
            }
            close.on_hover_text("Keep nothing in view  (Esc)");
            let step = format!("step {:>3}", view.step());
            ui.label(RichText::new(step).font(theme::mono(12.0)));
        });
    });
    for line in &card.lines {
        number(ui, &line.symbol, "", &line.value);
        for sum in line.sum.lines() {
            note(ui, sum);
        }
        ui.add_space(4.0);
    }
    copy_ui(ui, &card.table.columns[1..].join(", "), view);
    ui.add_space(theme::SECTION);
}

/// Copies what is kept in view, or the table of the head.
fn copy_ui(ui: &mut Ui, what: &str, view: &mut View<'_>) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        note(ui, "copy as");
        for form in Form::ALL {
            let command = Command::File(File::CopyTable(form));
            let response = text_button(ui, form.name(), &command, view.commands);
            let response = response.accessible_name(format!("Copy {}", form.name()));
            response.on_hover_text(format!("{what}: {}", keys::tooltip(&command)));
        }
    });
}

/// Where the weighting stands, and how sharp it is.
fn weighting_ui(ui: &mut Ui, view: &mut View<'_>, head: &HeadTrace<f32>) {
    let weighting = head.weighting.row(view.step());
    let columns: Vec<_> = columns_of(head).collect();
    let titles = std::iter::once("row").chain(columns.iter().map(|column| column.symbol));
    let titles: Vec<_> = titles.map(str::to_owned).collect();
    table_line(ui, &titles, false, view);
    let columns: Vec<_> = columns
        .iter()
        .map(|column| column.values(head, view.step()))
        .collect();
    for row in inspect::heaviest(head, view.step(), ROWS) {
        let weights = columns.iter().map(|weights| numbers::cell(weights[row]));
        let cells: Vec<_> = std::iter::once(row.to_string()).chain(weights).collect();
        let kept = view
            .state
            .sight
            .selected
            .and_then(Target::rows)
            .is_some_and(|rows| rows.contains(&row));
        let response = table_line(ui, &cells, kept, view);
        let name = format!("Row {row}: {}", cells[1..].join(" "));
        response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, kept, &name));
        if response.clicked() {
            view.commands
                .push(Command::Look(Look::Select(Target::Row(row))));
        }
        response.on_hover_text("A click keeps this row in view, with its equations");
    }
    if view.state.sight.selected.is_none() {
        copy_ui(ui, "all rows", view);
    }
    ui.add_space(4.0);
    if is_absent(weighting[0]) {
        number(ui, "H", "entropy, bits", "not recorded");
        return;
    }
    if weighting.iter().any(|weight| !weight.is_finite()) {
        number(ui, "H", "entropy, bits", "not finite");
        ui.add_space(4.0);
        let words = RichText::new("not finite: some weights of this step are no numbers");
        ui.label(words.size(11.5).color(view.palette.warning));
        return;
    }
    let entropy = story::entropy(weighting);
    number(ui, "H", "entropy, bits", &numbers::fixed(entropy));
    ui.add_space(4.0);
    let rows = weighting.len();
    let most = (100.0 * (rows as f32).log2()).round() / 100.0;
    let words = format!("0: one row alone · {most}: all {rows} rows alike");
    let words = RichText::new(words).size(11.5);
    ui.label(words.color(view.palette.subdued));
}
