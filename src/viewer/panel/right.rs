//! The right panel: the pinned value and the selected head, in the numbers of this step.

use std::iter;

use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::View;
use super::branch::{set_ui, set_within, value_ui};
use super::copy_menu::copy_name;
use super::instruction::instruction_ui;
use super::picture::{hover_ui, paint_ui};
use crate::figure::facts::family::score::score_text;
use crate::figure::facts::family::{columns_of, facts, measures};
use crate::figure::facts::links::MODES;
use crate::figure::narrate::mechanism;
use crate::figure::scene::panel::Content;
use crate::figure::{self, PanelId, Picture, facts::numbers, head_label};
use crate::model::dnc::READ_MODES;
use crate::model::sam::row_number;
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{HeadTrace, Place, array};
use crate::train::is_absent;
use crate::viewer::command::{DialogCommand, File, ViewCommand};
use crate::viewer::inspect::{self, Form};
use crate::viewer::state::Target;
use crate::viewer::widget::{
    Icon, Line, area, capitalised, from_right, head_sign, lay_out, named_icon_button, note, number,
    on_click, paint_text, section, text_button, warning, words,
};
use crate::viewer::{keys, theme};

/// Room between the title of a pinned value and the step beside it.
const BETWEEN: f32 = 8.0;

/// The numbers of the selected head.
pub fn numbers_ui(ui: &mut Ui, view: &mut View<'_>) {
    kept_ui(ui, view);
    let Some(head) = view.head() else {
        return quantities_ui(ui, view);
    };
    title(ui, head, view);
    instruction_ui(ui, view);
    let t = view.step();
    ui.spacing_mut().item_spacing.y = 2.0;
    for column in columns_of(head) {
        let scores = column.is_signed() && column.is_unbounded();
        let scalar = column.emits(head);
        let number = column.source;
        // The equation of content has the cosine.
        if number.is_empty() || (column.is_signed() && !scores) {
            continue;
        }
        section(ui, &capitalised(column.word));
        match scalar.map(|scalar| (scalar, head.series(scalar.array))) {
            Some((scalar, Some(series))) => {
                // The heading says it already.
                let words = Some(scalar.words).filter(|words| *words != column.word);
                let told = (scalar.symbol, words.unwrap_or_default());
                let of = (Place::Head(view.focus), scalar.array);
                value_ui(ui, told, of, series[t], view);
            }
            Some((_, None)) => shift_ui(ui, view, head.shift.row(t)),
            None => {}
        }
        equation(ui, view, &(column.equation)(head), number);
        if scores {
            ui.add_space(-6.0);
            note(ui, score_text(head.mechanism.score).about);
            ui.add_space(8.0);
        }
    }
    gates_ui(ui, head, view);
    facts_ui(ui, view);
    spread_ui(ui, view);
    if head.weighting.width() > 0 {
        section(ui, "Weighting");
        weighting_ui(ui, view, head);
    }
    learned_ui(ui, view);
}

/// Shows the numbers of a machine file in this step.
fn quantities_ui(ui: &mut Ui, view: &View<'_>) {
    let all = view.open.facts.quantities.iter();
    let numbers = all.filter(|own| own.is_number());
    let place = Place::Machine;
    let numbers = numbers.filter_map(|own| Some((own, view.trace().series(place, own.array)?)));
    let numbers: Vec<_> = numbers.collect();
    if numbers.is_empty() {
        return;
    }
    section(ui, &format!("Numbers of step {}", view.step()));
    ui.spacing_mut().item_spacing.y = 2.0;
    for (own, series) in numbers {
        let value = series.row(view.step())[0];
        // A longer one has no room before the name.
        let symbol = Some(own.array.symbol).filter(|symbol| symbol.chars().count() <= 2);
        value_ui(
            ui,
            (symbol.unwrap_or_default(), own.array.name),
            (place, own.array),
            value,
            view,
        );
    }
}

/// Shows the gates and the read modes of a head that manages its memory.
fn gates_ui(ui: &mut Ui, head: &HeadTrace<f32>, view: &View<'_>) {
    let gates = measures().filter(|it| it.words.ends_with(" gate"));
    let gates = gates.filter_map(|gate| Some((gate, head.series(gate.array)?[view.step()])));
    let gates: Vec<_> = gates.collect();
    let modes = head.series(READ_MODES).map(|modes| modes.row(view.step()));
    if gates.is_empty() && modes.is_none() {
        return;
    }
    section(ui, "Gates");
    for (gate, value) in gates {
        let of = (Place::Head(view.focus), gate.array);
        value_ui(ui, (gate.symbol, gate.words), of, value, view);
    }
    for (mode, share) in modes.into_iter().flatten().enumerate() {
        let symbol = format!("π{}", ["₁", "₂", "₃"][mode % 3]);
        let words = format!("share of {}", MODES[1][mode % 3]);
        number(ui, &symbol, &words, &numbers::fixed(*share));
    }
    ui.add_space(8.0);
}

/// Shows the values of the head's mechanism in this step, besides weightings.
fn facts_ui(ui: &mut Ui, view: &View<'_>) {
    let Some(at) = view.in_step(view.focus) else {
        return;
    };
    let facts = facts(&at);
    if facts.is_empty() {
        return;
    }
    section(ui, mechanism::mechanism(at.head));
    for (symbol, words, value) in facts {
        number(ui, symbol, "", &numbers::fixed(value));
        note(ui, &words);
    }
    note(ui, mechanism::about(at.head));
    ui.add_space(8.0);
}

/// Shows the learned parameters of the head's mechanism, each array as a small picture.
fn learned_ui(ui: &mut Ui, view: &mut View<'_>) {
    let catalogue = view.catalogue();
    let arrays = (0..).map(|part| PanelId::of(Picture::Learned, view.focus).part(part));
    let panels: Vec<_> = arrays.map_while(|id| catalogue.panel(id)).collect();
    if !panels.is_empty() {
        ui.add_space(8.0);
        section(ui, "Learned parameters");
    }
    for panel in panels {
        let Content::Cells(cells) = &panel.content else {
            continue;
        };
        let (rows, columns, scale) = (cells.rows, cells.columns, cells.scale.ends().1);
        let most = numbers::short(scale, 2);
        let said = format!("{rows} × {columns}, ±{most}");
        number(ui, &panel.title, "", &said);
        let height = (rows as f32 * 5.0).clamp(8.0, 60.0);
        let room = vec2(ui.available_width(), height);
        let (rect, _) = ui.allocate_exact_size(room, Sense::hover());
        if ui.is_rect_visible(rect) {
            let place = panel.at(area(rect));
            paint_ui(ui, &place, view);
            hover_ui(ui, &place, &[], view);
        }
        ui.add_space(6.0);
    }
}

/// Shows the uncertainty of many samples in this step.
fn spread_ui(ui: &mut Ui, view: &View<'_>) {
    let (Some(spread), step) = (&view.open.spread, view.step()) else {
        return;
    };
    section(ui, &format!("{} samples", spread.samples));
    match spread.step(step) {
        None => note(ui, "No output is scored in this step."),
        Some(of) => {
            for (symbol, words, bits) in [
                ("H", "total", of.total),
                ("", "aleatoric", of.noise),
                ("I", "epistemic", of.model),
            ] {
                number(ui, symbol, words, &numbers::fixed(bits as f32));
            }
            note(ui, mechanism::UNCERTAIN);
        }
    }
    ui.add_space(8.0);
}

fn title(ui: &mut Ui, head: &HeadTrace<f32>, view: &View<'_>) {
    let label = head_label(view.trace(), view.focus);
    let line = Line::new(ui, theme::ROW, Sense::hover());
    let (palette, write) = (view.palette, head.is_write());
    let sign = pos2(line.rect.left() + 8.0, line.rect.center().y);
    let (painter, hue) = (line.ui.painter(), view.head_color(view.focus));
    head_sign(painter, sign, 16.0, write, hue);
    line.left(24.0, &label, theme::heading(16.0), palette.strong);
    let kind = if write { "write head" } else { "read head" };
    // On the line that the label stands on.
    let at = pos2(line.rect.left() + 56.0, sign.y + 1.0);
    let (font, ink) = (theme::text(12.0), palette.subdued);
    paint_text(painter, at, Align2::LEFT_CENTER, kind, font, ink);
    let step = format!("step {:>3}", view.step());
    let before = line.right(0.0, step, theme::mono(12.0), palette.text);
    let line = line.rect;
    let name = format!("Set values of {label}");
    set_within(ui, line, line.right() - before.left() + 8.0, &name, view);
}

/// An equation of the paper with its number.
fn equation(ui: &mut Ui, view: &View<'_>, text: &str, reference: &str) {
    let (painter, ink) = (ui.painter(), view.palette.subdued);
    let [font, small] = [12.0, 10.5].map(theme::text);
    let width = [(text, &font), (reference, &small)]
        .map(|(words, font)| lay_out(painter, words, font.clone()).size().x);
    if width[0] + width[1] + 6.0 <= ui.available_width() {
        let line = Line::to_read(ui, 18.0, text);
        line.left(0.0, text, font, ink);
        line.right(0.0, reference, small, ink);
    } else {
        note(ui, &format!("{text}  {reference}"));
    }
    ui.add_space(8.0);
}

/// The shift weighting as bars, one for each offset, with its numbers.
fn shift_ui(ui: &mut Ui, view: &mut View<'_>, shift: &[f32]) {
    let (palette, range) = (view.palette, shift.len() / 2);
    // A wide range has its heaviest offsets listed, in order.
    let mut offsets: Vec<usize> = (0..shift.len()).collect();
    if shift.len() > 7 {
        offsets.sort_by(|&a, &b| shift[b].total_cmp(&shift[a]));
        offsets.truncate(7);
        offsets.sort_unstable();
    }
    for column in offsets {
        let by = figure::signed(figure::offset(column, range));
        let words = format!("shift by {by}: {}", numbers::exact(shift[column]));
        let line = Line::new(ui, 18.0, Sense::click());
        let info = || WidgetInfo::labeled(Role::Label, true, &words);
        line.response.widget_info(info);
        let id = PanelId::of(Picture::Shifts, view.focus);
        let select = ViewCommand::Select(Target::Value { id, column });
        on_click(&line.response, select);
        line.left(0.0, format!("s({by})"), theme::text(13.0), palette.text);
        let (rect, middle) = (line.rect, line.rect.center().y);
        let x = egui::Rangef::new(rect.left() + 48.0, rect.right() - 84.0);
        let room = Rect::from_x_y_ranges(x, middle - 4.0..=middle + 4.0);
        let known = Some(shift[column]).filter(|share| share.is_finite());
        let share = known.unwrap_or(0.0).clamp(0.0, 1.0);
        let bar = room.with_max_x(room.left() + room.width() * share);
        for (bar, fill) in [(room, palette.raised), (bar, view.head_color(view.focus))] {
            line.ui.painter().rect_filled(bar, 2.0, fill);
        }
        let value = numbers::fixed(shift[column]);
        line.right(0.0, value, theme::mono(12.5), palette.strong);
    }
}

/// Rows listed in the table of the stages.
const ROWS: usize = 6;
/// Width of a digit, of its size.
const LETTER: f32 = 0.61;

/// The letters that the widest number of each column of the table takes in this episode, with one between it and the
/// next: nothing moves while time does.
fn widths(head: &HeadTrace<f32>, view: &View<'_>) -> Vec<usize> {
    let scales = &view.open.facts.scales;
    let columns = columns_of(head).map(|column| match column.array {
        array::SIMILARITY => -scales.scores[view.focus].1,
        PRIOR => scales.priors[view.focus].ends().1,
        _ => 1.0,
    });
    let columns = columns.map(|widest| numbers::cell(widest).chars().count());
    let last = view.rows.total().saturating_sub(1);
    let rows = row_number(view.trace(), last).to_string().len().max(3);
    let all = iter::once(rows).chain(columns);
    all.map(|letters| letters + 1).collect()
}

/// Cells of these widths in letters, right-aligned.
fn cells(line: &Line<'_>, cells: &[String], widths: &[usize], view: &View<'_>) {
    let palette = view.palette;
    let letters: usize = widths.iter().sum();
    let letter = line.rect.width() / letters as f32;
    let size = (letter / LETTER).min(11.0);
    let mut right = line.rect.width();
    for (index, (cell, letters)) in cells.iter().zip(widths).enumerate() {
        let number = cell.chars().any(|c| c.is_ascii_digit());
        let (font, ink) = match (number, index) {
            (false, _) => (theme::text(size), palette.subdued),
            (true, 0) => (theme::mono(size), palette.subdued),
            (true, _) => (theme::mono(size), palette.strong),
        };
        right -= *letters as f32 * letter;
        line.right(right, cell, font, ink);
    }
}

/// Shows the pinned value, with its equations in the numbers of this step.
fn kept_ui(ui: &mut Ui, view: &mut View<'_>) {
    let Some(card) = view.card() else {
        let words = "Click a value in any picture to pin it.";
        note(ui, words);
        return ui.add_space(8.0);
    };
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.horizontal(|ui| {
        let (font, ink) = (theme::heading(14.0), view.palette.strong);
        words(ui, &card.title, font, ink);
        from_right(ui, |ui| {
            let close = named_icon_button(ui, Icon::Close, "Unpin", false, false);
            on_click(&close, ViewCommand::Deselect);
            let escape = DialogCommand::Escape.into();
            close.on_hover_text(keys::with_key("Unpin the value", &escape));
            set_ui(ui, "Set pinned value", view.state.view.selected, view);
            // A long title has the room of the step.
            let (step, font) = (format!("step {:>3}", view.step()), theme::mono(12.0));
            let width = lay_out(ui.painter(), &step, font.clone()).size().x;
            if width + BETWEEN <= ui.available_width() {
                words(ui, step, font, view.palette.text);
            }
        });
    });
    for line in &card.lines {
        number(ui, &line.symbol, "", &line.value);
        for sum in line.sum.lines() {
            note(ui, sum);
        }
        ui.add_space(4.0);
    }
    copy_ui(ui, &card.table.columns[1..].join(", "));
    if let Some(value) = view.state.pinned_value() {
        let (words, copy) = copy_name(view.trace(), value);
        let hint = "for expressions, interventions, links and programs";
        text_button(ui, &words, copy).on_hover_text(hint);
    }
    ui.add_space(theme::SECTION);
}

/// Copies the pinned value, or the table of the head.
fn copy_ui(ui: &mut Ui, what: &str) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        note(ui, "copy as");
        for form in Form::ALL {
            let copy = File::CopyTable(form);
            let tooltip = keys::tooltip(&copy.clone().into());
            let response = text_button(ui, form.name(), copy);
            let response = response.accessible_name(format!("Copy {}", form.name()));
            response.on_hover_text(format!("{what}: {tooltip}"));
        }
    });
}

/// Shows the heaviest rows of the weighting, and its entropy.
fn weighting_ui(ui: &mut Ui, view: &mut View<'_>, head: &HeadTrace<f32>) {
    let weighting = head.weighting.row(view.step());
    let columns: Vec<_> = columns_of(head).collect();
    let titles = columns.iter().map(|column| column.symbol);
    let titles: Vec<_> = iter::once("row").chain(titles).map(str::to_owned).collect();
    let widths = widths(head, view);
    let selected = view.state.view.selected.and_then(Target::rows);
    cells(&Line::new(ui, 18.0, Sense::hover()), &titles, &widths, view);
    let step = view.step();
    for row in inspect::heaviest(head, step, ROWS) {
        let weights = columns.iter().map(|column| column.values(head, step)[row]);
        let weights = weights.map(numbers::cell);
        let number = row_number(view.trace(), row);
        let values: Vec<_> = iter::once(number.to_string()).chain(weights).collect();
        let is_selected = selected.as_ref().is_some_and(|rows| rows.contains(&row));
        let name = format!("Row {number}: {}", values[1..].join(" "));
        let info = WidgetInfo::selected(Role::Button, true, is_selected, name);
        let line = Line::to_press(ui, 18.0, &info);
        cells(&line, &values, &widths, view);
        let select = ViewCommand::Select(Target::Row(row));
        on_click(&line.response, select);
        let hint = "Click to pin this row, with its equations";
        line.response.on_hover_text(hint);
    }
    if view.state.view.selected.is_none() {
        copy_ui(ui, "all rows");
    }
    ui.add_space(4.0);
    if is_absent(weighting[0]) {
        number(ui, "H", "entropy, bits", "not recorded");
        return;
    }
    if weighting.iter().any(|weight| !weight.is_finite()) {
        number(ui, "H", "entropy, bits", "not finite");
        ui.add_space(4.0);
        return warning(ui, "some weights of this step are not finite");
    }
    let entropy = figure::entropy(weighting);
    number(ui, "H", "entropy, bits", &numbers::fixed(entropy));
    ui.add_space(4.0);
    let rows = weighting.len();
    let most = (100.0 * (rows as f32).log2()).round() / 100.0;
    let scale = format!("0: a single row · {most}: even over all {rows} rows");
    note(ui, &scale);
}
