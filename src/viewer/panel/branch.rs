//! Setting values while an episode runs: in place, from a menu or as text; and the list of what is set.

use egui::containers::menu::MenuButton;
use egui::{
    Align2, Button, CursorIcon, Rect, RichText, Role, Sense, TextWrapMode, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};

use super::View;
use crate::figure::facts::numbers;
use crate::math::Series;
use crate::model::{Array, Place, Range, array};
use crate::viewer::command::{DialogCommand, Edit, Subject};
use crate::viewer::state::{Dialog, Open, Session, State, Target};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Icon, check_box, field_ui, from_right, hit_area, named_icon_button, note, number, on_click,
    paint_text, primary_button, scrolled_ui, section, send, text_button, words,
};

/// The interventions on the episode: those that are asked for, or those of a file.
pub fn branch_ui(ui: &mut Ui, session: &Session) {
    let Some(open) = &session.open else { return };
    let mono = |text: &str| RichText::new(text).font(theme::mono(11.0));
    if open.is_of_a_file() {
        let texts = open.interventions();
        if !texts.is_empty() {
            ui.add_space(theme::SECTION);
            section(ui, "Values set, as recorded");
            for text in texts {
                let label = egui::Label::new(mono(&text)).truncate();
                ui.add(label).on_hover_text(&text);
            }
        }
        return;
    }
    let changes = &session.request.changes;
    if changes.is_empty() {
        return;
    }
    ui.add_space(theme::SECTION);
    ui.horizontal(|ui| {
        section(ui, "Branch B");
        from_right(ui, |ui| {
            let end = text_button(ui, "End", Edit::EndBranch).accessible_name("End branch");
            end.on_hover_text("Remove all values that were set");
        });
    });
    for (at, change) in changes.iter().enumerate() {
        ui.horizontal(|ui| {
            from_right(ui, |ui| {
                let name = format!("Remove {}", change.text);
                let remove = named_icon_button(ui, Icon::Close, &name, false, false);
                on_click(&remove, Edit::EndIntervention(at));
                remove.on_hover_text("Remove");
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
                    ui.style_mut().override_font_id = Some(theme::mono(11.0));
                    let toggle = Edit::ToggleIntervention(at);
                    let tick = check_box(ui, change.is_on, &change.text, toggle);
                    tick.on_hover_text(&change.text);
                });
            });
        });
    }
}

/// A menu of what can be set of a target, or of the selected head, in this step; nothing of a trace from a file.
pub fn set_ui(ui: &mut Ui, name: &str, target: Option<Target>, view: &View<'_>) {
    let state = view.state;
    if view.open.is_of_a_file() {
        return;
    }
    let words = RichText::new("Set …").font(theme::text(12.0));
    let button = Button::new(words).small().wrap_mode(TextWrapMode::Extend);
    let (response, _) = MenuButton::from_button(button).ui(ui, |ui| {
        ui.set_min_width(180.0);
        let step = view.step();
        note(ui, &format!("in step {step}"));
        for choice in state.value_choices(target) {
            if ui.button(&choice.name).clicked() {
                let texts = choice.changes.iter().map(|of| format!("{step}:{of}"));
                for text in texts {
                    if choice.opens_dialog {
                        open_value_dialog(ui, text);
                    } else {
                        send(ui.ctx(), Edit::Intervene(text));
                    }
                }
            }
        }
    });
    response
        .accessible_name(name)
        .on_hover_text("Set a value while the episode runs, and see what follows");
}

/// Opens the dialog with this text.
fn open_value_dialog(ui: &Ui, text: String) {
    send(ui.ctx(), Subject::Value);
    send(ui.ctx(), DialogCommand::Typed(text));
}

/// The menu at the end of a drawn line, left of `right` points of room.
pub fn set_within(ui: &mut Ui, line: Rect, right: f32, name: &str, view: &View<'_>) {
    let size = vec2(48.0, 20.0);
    let at = pos2(
        line.right() - right - size.x,
        line.center().y - size.y / 2.0,
    );
    let place = UiBuilder::new().max_rect(Rect::from_min_size(at, size));
    set_ui(&mut ui.new_child(place), name, None, view);
}

/// Width of a number that is dragged.
const NUMBER: f32 = 84.0;

/// Room for a number behind the word that marks it as set.
const SET: f32 = 66.0;

/// A number of this step, which is dragged, or typed in the dialog; a dot and a word mark one that is set.
pub fn value_ui(
    ui: &mut Ui,
    (symbol, what): (&str, &str),
    (place, array): (Place, Array),
    value: f32,
    view: &View<'_>,
) {
    let line = number(ui, symbol, what, &numbers::fixed(value));
    let (step, palette) = (view.step(), view.palette);
    if view.open.is_set(place, array, step) {
        let at = pos2(line.right() - SET, line.center().y);
        let (font, ink) = (theme::text(11.0), palette.accent);
        let said = paint_text(ui.painter(), at, Align2::RIGHT_CENTER, "set", font, ink);
        let dot = pos2(said.left() - 7.0, at.y);
        ui.painter().circle_filled(dot, 3.0, ink);
    }
    if view.open.is_of_a_file() || !value.is_finite() {
        return;
    }
    let name = view.trace().array_name(place, array);
    let rect = line.with_min_x(line.right() - NUMBER);
    let info = WidgetInfo::labeled(Role::Button, true, format!("Set {name}"));
    let response = hit_area(ui, rect, &name, Sense::click_and_drag(), &info);
    let is_hot = response.hovered() || response.dragged() || response.has_focus();
    let ink = if is_hot { palette.accent } else { palette.line };
    let under = line.right() - 44.0..=line.right();
    ui.painter().hline(under, line.bottom() - 2.0, (1.0, ink));
    let left = format!("{step}:{name}");
    let now = view.state.session.request.value_set(&left).unwrap_or(value);
    if response.clicked() {
        open_value_dialog(ui, format!("{left}={now}"));
    }
    let by = response.drag_delta().x;
    if response.dragged() && by != 0.0 {
        let text = format!(
            "{left}={}",
            dragged(now, by, array.ends(view.trace().setting.answer))
        );
        send(ui.ctx(), Edit::Intervene(text));
    }
    let hint = "Drag to set it in this step; click to type a value";
    response
        .on_hover_cursor(CursorIcon::ResizeHorizontal)
        .on_hover_text(hint);
}

/// The value after a drag by this number of points, within its range, in thousandths.
fn dragged(now: f32, by: f32, (least, most): (f32, f32)) -> f32 {
    let speed = if (most - least).is_finite() {
        (most - least) / 200.0
    } else {
        0.01 * now.abs().max(1.0)
    };
    let value = (now + by * speed).clamp(least, most);
    (value * 1000.0).round() / 1000.0
}

/// The dialog in which a value is set.
pub fn value_dialog_ui(ui: &mut Ui, dialog: &Dialog, state: &State) {
    let Some(open) = &state.session.open else {
        return;
    };
    note(
        ui,
        "Steps, an array and its value, such as 12:read0.gate=1. The episode is run again with it, as B; the episode without it stays as A.",
    );
    ui.add_space(4.0);
    let (text, mut entered) = field_ui(ui, dialog, ("12:read0.gate=1", "Value to set"));
    if !dialog.problem.is_empty() {
        let problem = format!("{}: {}", dialog.text, dialog.problem);
        words(ui, problem, theme::text(13.0), Palette::of(ui).warning);
    }
    let (steps, rest) = text.split_once(':').unwrap_or((&text, ""));
    let (of, value) = rest.split_once('=').unwrap_or((rest, ""));
    let (step, range) = (state.player.step(), state.player.range());
    let first = steps.split('-').next().and_then(|first| first.parse().ok());
    let first: usize = first.unwrap_or(step);
    let part = range.map(|(from, to)| (format!("Loop {from}–{to}"), format!("{from}-{to}")));
    let spans = [
        (format!("Step {first}"), first.to_string()),
        (format!("From {first} on"), format!("{first}-")),
    ];
    choice_ui(ui, "Steps", spans.into_iter().chain(part), steps, |steps| {
        format!("{steps}:{rest}")
    });
    let settable = open.settable();
    let name = of.split('[').next().unwrap_or_default();
    let known = settable.iter().find(|(known, ..)| known == name);
    if let Some((_, place, array)) = known {
        let values = values(array, open, state, of.contains('['));
        let values = values.into_iter().map(|value| (value.clone(), value));
        choice_ui(ui, "Value", values, value, |value| {
            format!("{steps}:{of}={value}")
        });
        note(ui, &format!("{name}: {}", sizes(open, *place, array)));
    }
    let fits = |(known, ..): &&(String, Place, Array)| known.contains(name);
    let arrays = settable.iter().filter(fits).map(|(name, ..)| name.clone());
    let mut arrays: Vec<_> = arrays.collect();
    if known.is_some() || arrays.is_empty() {
        arrays = settable.iter().map(|(name, ..)| name.clone()).collect();
    }
    scrolled_ui(ui, 420.0, |ui| {
        let arrays = arrays.into_iter().map(|name| (name.clone(), name));
        choice_ui(ui, "Array", arrays, name, |name| format!("{steps}:{name}="));
    });
    ui.add_space(8.0);
    entered |= primary_button(ui, "Set").clicked();
    if entered {
        send(ui.ctx(), Edit::Intervene(text));
    }
}

/// Returns the number of values of an array in a step, and their range.
fn sizes(open: &Open, place: Place, array: Array) -> String {
    let trace = &open.shown.recording.trace;
    let count = match (array, trace.memory_size()) {
        (array::MEMORY, [rows, columns]) => format!("{rows} rows × {columns} columns"),
        _ => match trace.series(place, array).map_or(0, Series::width) {
            1 => "1 value".to_owned(),
            count => format!("{count} values"),
        },
    };
    match (array.range, array.ends(trace.setting.answer)) {
        (Range::Distribution, _) => format!("{count} with the sum 1"),
        (_, (f32::NEG_INFINITY, _)) => format!("{count}, any number"),
        (_, (least, f32::INFINITY)) => format!("{count}, {least} or more"),
        (_, (least, most)) => format!("{count}, {least} to {most}"),
    }
}

/// Values that an array may have: of a part of it, or of all of it.
fn values(array: Array, open: &Open, state: &State, is_part: bool) -> Vec<String> {
    let (least, most) = array.range.ends();
    let selected = state.view.selected.and_then(Target::rows);
    let row = selected.map_or(0, |rows| *rows.start());
    let rows = open.all.total().max(1);
    let (own, swap) = (
        format!("row({row})"),
        format!("swap({row},{})", (row + 1) % rows),
    );
    let is_share = array.range == Range::Distribution;
    let all = [
        (!is_share && least <= 0.0, "0"),
        (!is_share && least <= 1.0 && array != array::MEMORY, "1"),
        (is_share && !is_part, &own),
        (array == array::MEMORY && !is_part, &swap),
        (least < 0.0, "negate"),
    ];
    let all = all.into_iter().filter(|(fits, _)| *fits && most >= 1.0);
    all.map(|(_, value)| value.to_owned()).collect()
}

/// Parts of the text to choose from; the chosen one is marked.
fn choice_ui(
    ui: &mut Ui,
    label: &str,
    choices: impl IntoIterator<Item = (String, String)>,
    now: &str,
    text: impl Fn(&str) -> String,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(2.0, 2.0);
        ui.label(RichText::new(label).color(Palette::of(ui).subdued));
        ui.add_space(4.0);
        for (name, part) in choices {
            let is_now = part == now;
            let response = ui.selectable_label(is_now, name);
            if response.clicked() && !is_now {
                send(ui.ctx(), DialogCommand::Typed(text(&part)));
            }
        }
    });
}
