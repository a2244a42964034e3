//! Pictures along the address axis: the memory with the signs of the heads, and below it the vectors of
//! the moment.

use egui::{Align2, Rangef, Rect, Sense, Ui, pos2, vec2};

use super::page::picture_ui;
use super::parts::{Bands, quiet_text, row_line, rows_range};
use super::{Columns, View};
use super::{heads, overlap, pipeline};
use crate::figure::facts::episode::MemoryAt;
use crate::figure::scene::panel::{Panel, shades};
use crate::figure::{HeadName, PanelId, Picture, facts::numbers};
use crate::model::array::{ADD, INPUT, MEMORY, WEIGHTING};
use crate::train::Quantity;
use crate::viewer::row_zoom::Axis;
use crate::viewer::theme::{self, Scale};
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::canvas::{Canvas, area};

/// The memory at the stage of the step that is on screen.
fn memory_now<'a>(view: &View<'a>) -> MemoryAt<'a> {
    let (trace, stages) = (view.trace(), &view.open.stages);
    MemoryAt::new(trace, stages, view.step(), view.player.stage())
}

/// Shows which memory is on screen, and its size.
fn memory_heading(ui: &Ui, columns: &Columns, bands: &Bands, view: &View<'_>) {
    let (painter, top) = (ui.painter(), bands.ruler.min + 8.0);
    let font = theme::heading(11.0);
    let (memory, words) = (memory_now(view).name(), memory_now(view).words());
    let left = columns.memory.min;
    let used = painter.text(
        pos2(left, top),
        Align2::LEFT_CENTER,
        "MEMORY",
        font,
        view.palette.subdued,
    );
    let galley = painter.layout_no_wrap(memory, theme::mono(11.0), view.palette.text);
    // Where both do not fit beside each other, which memory it is goes to the line below.
    let fits = used.right() + 8.0 + galley.size().x <= columns.marks.max;
    let corner = if fits {
        pos2(used.right() + 8.0, top - galley.size().y / 2.0)
    } else {
        pos2(left, top + 16.0 - galley.size().y / 2.0)
    };
    painter.galley(corner, galley, view.palette.text);
    let words = if fits { words } else { "" };
    let at = pos2(left, top + 16.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        words,
        theme::text(11.0),
        view.palette.subdued,
    );
    let [n, m] = view.trace().memory_size();
    let shown = view.rows.numbers();
    let size = match (shown.first(), shown.last()) {
        (Some(first), Some(last)) if columns.minimap.is_some() => {
            let follow = if view.state.view.row_zoom.follow {
                " (following)"
            } else {
                ""
            };
            format!("rows {first} to {last} of {n}{follow}")
        }
        _ => format!("{n} rows × {m} columns"),
    };
    let at = pos2(left, top + 32.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        size,
        theme::text(11.0),
        view.palette.subdued,
    );
}

/// Shows the memory matrix, with the signs of the heads next to it.
pub fn memory_ui(ui: &mut Ui, columns: &Columns, bands: &Bands, axis: &Axis, view: &mut View<'_>) {
    memory_heading(ui, columns, bands, view);
    let Some(memory) = view.catalogue().panel(PanelId::new(Picture::Memory)) else {
        return;
    };
    let rect = Rect::from_x_y_ranges(columns.memory, rows_range(axis));
    picture_ui(ui, &memory.along(area(rect), axis.clone()), view);
}

/// The vectors of the moment under the memory, column under column, and the legends.
pub fn vectors_at_step_ui(
    ui: &mut Ui,
    columns: &Columns,
    bands: &Bands,
    axis: &Axis,
    view: &mut View<'_>,
) {
    let Some(head) = view.head() else { return };
    let mut top = if bands.others.span() > 0.0 {
        bands.others.min
    } else {
        bands.adds.min
    };
    let start = top;
    let of_head = |picture| PanelId::of(picture, view.focus);
    let own = if head.is_write() {
        vec![Picture::Keys, Picture::Erases, Picture::Adds]
    } else {
        vec![Picture::Keys, Picture::Reads]
    };
    let of_all = [Picture::Input, Picture::Output, Picture::Target];
    let now = |id: PanelId| view.catalogue().panel(id.now());
    let lines: Vec<_> = own.into_iter().map(of_head).filter_map(now).collect();
    let of_the_step = of_all.into_iter().map(PanelId::new);
    let of_the_step: Vec<_> = of_the_step.filter_map(now).collect();
    let bottom = bands.reads.max;
    // In a low window the lines move together before they give way.
    let count = (lines.len() + of_the_step.len()) as f32;
    let pitch = ((bottom - top - 6.0) / count).clamp(11.0, 22.0);
    let (height, between) = (
        (pitch * 0.66).min(14.0),
        if pitch < 22.0 { 6.0 } else { 12.0 },
    );
    for group in [lines, of_the_step] {
        if top + group.len() as f32 * pitch > bottom + 8.0 {
            break;
        }
        for now in group {
            vector_now(ui, columns, Rangef::new(top, top + height), now, view);
            top += pitch;
        }
        top += between;
    }
    let words = if pipeline::legend(axis, view).is_some() {
        20.0
    } else {
        6.0
    };
    let room = Rangef::new(top + 4.0, bottom);
    below_stages(ui, columns, Rangef::new(start + words, bottom), room, view);
}

/// Shows the table of all heads, and the colour legends in the remaining room.
fn below_stages(
    ui: &mut Ui,
    columns: &Columns,
    y: Rangef,
    below_vectors: Rangef,
    view: &mut View<'_>,
) {
    // The names of the vectors stand left of them.
    let x = Rangef::new(columns.stages.min, columns.memory.min - 58.0);
    let table_left = x.min;
    // The headings of the stages say it of the head looked at.
    let height = if view.state.settings.panels.numbers {
        heads::table_height(view.trace().heads.len(), y.span())
    } else {
        0.0
    };
    let table = Rangef::new(y.min, (y.min + height).min(y.max));
    if height > 0.0 {
        heads::table_ui(ui, x, table, view);
    }
    let below = overlap::overlap_ui(ui, x, Rangef::new(table.max + 8.0, y.max + 4.0), view);
    let end = below.map_or(table.max, |below| below.max);
    let left = Rangef::new(end + 10.0, y.max);
    // Close to the table before not at all.
    let close = Rangef::new(end + 2.0, y.max + 4.0);
    for (x, y, across) in [
        (x, left, 2),
        (columns.memory, below_vectors, 1),
        (x, close, 2),
    ] {
        if legends(ui, x, y, across, view) {
            if below.is_none() {
                // Left of the titles of the table.
                overlap::on_demand_ui(ui, pos2(table_left, table.min + 14.0), view);
            }
            return;
        }
    }
    let corner = match below {
        _ if left.span() >= 18.0 => pos2(x.min, left.max),
        // At the end of its heading.
        Some(below) => pos2(x.max - 46.0, below.min + overlap::HEADING + 1.0),
        None => pos2(columns.memory.min, y.max),
    };
    legends_on_demand(ui, corner, view);
    if below.is_none() {
        overlap::on_demand_ui(ui, corner + vec2(76.0, 0.0), view);
    }
}

/// A quantity at the step, its name left of it.
fn vector_now(ui: &mut Ui, columns: &Columns, y: Rangef, now: Panel<'_>, view: &mut View<'_>) {
    let place = now.at(area(Rect::from_x_y_ranges(columns.memory, y)));
    let at = pos2(place.area.left - 8.0, y.center());
    let (font, ink) = (theme::text(11.0), view.palette.subdued);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, &place.panel.title, font, ink);
    picture_ui(ui, &place, view);
}

/// Shows legends side by side; returns false where they do not fit.
fn legends(ui: &Ui, x: Rangef, y: Rangef, across: usize, view: &mut View<'_>) -> bool {
    const FOOTNOTE: f32 = 14.0;
    let weighting = view.weighting_scale;
    let weighting = match view.trace().heads.get(view.focus) {
        Some(_) => weighting.of_head(HeadName::of(view.trace(), view.focus)),
        None => weighting,
    };
    let gradients = view.state.layer().gradients();
    let mut heads = view.trace().heads.iter();
    let bits = if heads.any(|head| head.erase.width() > 0) {
        "bit, erase"
    } else {
        "bit"
    };
    let entries = gradients.map_or(
        [
            ("weighting", weighting),
            (bits, Scale::Bits),
            ("memory, read", view.open.scales.memory),
            ("key, add", view.open.scales.vector),
        ],
        |by| [WEIGHTING, MEMORY, INPUT, ADD].map(|array| (array.name, by.scale(array))),
    );
    let lines = entries.len().div_ceil(across);
    let width = (x.span() + 16.0) / across as f32 - 16.0;
    let with_footnote = (y.span() - FOOTNOTE) / lines as f32;
    let each = if with_footnote >= 22.0 {
        with_footnote.min(32.0)
    } else {
        y.span() / lines as f32
    };
    if each < 22.0 || width < 60.0 {
        return false;
    }
    for (index, (name, scale)) in entries.into_iter().enumerate() {
        let left = x.min + (index % across) as f32 * (width + 16.0);
        let at = pos2(left, y.min + 12.0 + (index / across) as f32 * each);
        legend(ui, at, width, name, scale, view);
    }
    if with_footnote >= 22.0 {
        let at = pos2(x.min, y.min + 8.0 + lines as f32 * each);
        let words = match (gradients.map(|by| by.of), across > 1) {
            (Some(Quantity::Loss), true) => "∂ loss / ∂ value · blue: the loss grows with it",
            (Some(Quantity::Bit { .. }), true) => {
                "∂ logit / ∂ value · blue: favours a 1 in that bit"
            }
            (Some(Quantity::Loss), false) => "blue: the loss grows with it",
            (Some(Quantity::Bit { .. }), false) => "blue: favours a 1 in that bit",
            (None, true) => "± fixed for the episode · faint match: row not yet written",
            (None, false) => "± fixed for this episode",
        };
        quiet_text(ui, at, Align2::LEFT_CENTER, words, theme::text(10.0), view);
    }
    true
}

/// A word that shows the legends when it is pointed at or clicked, its lower left corner here.
pub fn legends_on_demand(ui: &mut Ui, at: egui::Pos2, view: &mut View<'_>) {
    let rect = Rect::from_min_max(at - vec2(0.0, 16.0), at + vec2(70.0, 0.0));
    let response = ui.interact(rect, ui.scope_id().with("legends"), Sense::click());
    let name = "Colour legend";
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
    let (font, ink) = (theme::text(10.5), view.palette.accent);
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        "colours …",
        font,
        ink,
    );
    focus_ring(ui, &response);
    let mut show = |ui: &mut Ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(300.0, 78.0), Sense::hover());
        legends(ui, rect.x_range(), rect.y_range(), 2, view);
    };
    egui::Popup::from_toggle_button_response(&response).show(&mut show);
    response.on_hover_ui(show);
}

/// Shows the legend of one scale.
pub fn legend(ui: &Ui, at: egui::Pos2, width: f32, name: &str, scale: Scale, view: &mut View<'_>) {
    let painter = ui.painter();
    let (low, high) = scale.ends();
    let font = theme::mono(10.0);
    let ink = view.palette.subdued;
    let text = |value: f32| {
        let rounded = (value * 1000.0).round() / 1000.0;
        if rounded == 0.0 {
            numbers::short(value, 2).replace("0.00", "0")
        } else {
            numbers::exact(rounded)
        }
    };
    painter.text(at, Align2::LEFT_BOTTOM, name, theme::text(10.5), ink);
    let ends = match scale {
        _ if scale.is_log() => "1e−6 … 1".to_owned(),
        Scale::Signed(_) => format!("±{}", text(high)),
        _ => format!("{} to {}", text(low), text(high)),
    };
    let right = pos2(at.x + width, at.y);
    painter.text(right, Align2::RIGHT_BOTTOM, ends, font, ink);
    let bar = Rect::from_min_size(at + vec2(0.0, 2.0), vec2(width, 8.0));
    let page = view.page(ui.pixels_per_point());
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    shades(&mut canvas, area(bar), scale, &page);
}

/// Draws a faint line through all pictures at the row under the pointer and at the pinned row: one address, one height.
pub fn row_cursor(ui: &Ui, columns: &Columns, axis: &Axis, view: &View<'_>) {
    let x = Rangef::new(columns.time.min, columns.memory.max);
    for (row, strength) in view.rows_lit() {
        if let Some(place) = axis.place_of(row) {
            row_line(ui, x, place, strength, view);
        }
    }
}
