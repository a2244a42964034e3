//! The addressing of a head, stage by stage, on the address axis, with the flow from one stage to the
//! next. One head is expanded, a second one can be pinned next to it; the others are a column each.

use egui::text::LayoutJob;
use egui::{Align2, Pos2, Rangef, Rect, Sense, Ui, pos2, vec2};

use super::page::point_ui;
use super::parts::{Bands, pointer, quiet_text, rows_range};
use super::{Columns, View, interact};
use crate::figure::facts::spread::Spread;
use crate::figure::facts::stages::{Column, Stage, columns_of};
use crate::figure::scene::addressing::{Addressing, Bars, NAMES, as_bars};
use crate::figure::scene::panel::Content;
use crate::figure::{Area, PanelId, Picture, facts::links};
use crate::viewer::command::{Command, Look, Play};
use crate::viewer::narration;
use crate::viewer::row_zoom::Axis;
use crate::viewer::state::target::Target;
use crate::viewer::theme;
use crate::viewer::widget::button::focus_ring;
use crate::viewer::widget::canvas::{Canvas, area};
use crate::viewer::widget::icon::head_sign;
use crate::viewer::widget::readout::Readout;

/// Room under the rows for the largest value of each column, in points.
pub const FOOT: f32 = 12.0;
/// Height of a line of the sentence, in points.
const LINE: f32 = 15.5;
/// A head whose columns would be thinner than this is not expanded beside another, in points.
const THINNEST: f32 = 15.0;
/// Room between two expanded heads, in points.
const APART: f32 = 18.0;

/// The positions of the columns of the heads: those of one or two expanded heads, then the final weighting of
/// every other head.
pub struct ColumnSpans {
    /// Heads with all their stages.
    pub expanded: Vec<(usize, Rangef)>,
    /// Heads with their final weighting only.
    pub thin: Vec<(usize, Rangef)>,
}

impl ColumnSpans {
    /// The places for the heads of this view.
    pub fn of(columns: &Columns, view: &View<'_>) -> Self {
        let (x, count) = (columns.stages, view.trace().heads.len());
        if view.state.view.all_heads {
            let each = x.span() / count.max(1) as f32;
            let width = (each - 4.0).max(each * 0.7).min(44.0);
            let place = |head: usize| {
                let left = x.min + head as f32 * each;
                (head, Rangef::new(left, left + width))
            };
            let (expanded, thin) = (Vec::new(), (0..count).map(place).collect());
            return Self { expanded, thin };
        }
        let both = Self::around(x, view, &[Some(view.focus), view.state.view.pinned]);
        if both.fit(view) {
            return both;
        }
        Self::around(x, view, &[Some(view.focus)])
    }

    /// These heads expanded, and the others as thin columns right of them.
    fn around(x: Rangef, view: &View<'_>, expanded: &[Option<usize>]) -> Self {
        let shown: Vec<usize> = expanded.iter().copied().flatten().collect();
        let heads = &view.trace().heads;
        let others = (0..heads.len()).filter(|head| !shown.contains(head));
        let others: Vec<_> = others.collect();
        let pitch = (x.span() * 0.36 / others.len().max(1) as f32).min(20.0);
        // Their labels reach a little beyond them.
        let beyond = if pitch < 17.0 && !others.is_empty() {
            8.0
        } else {
            0.0
        };
        let room = x.span() - others.len() as f32 * pitch - beyond;
        let each = (room - (shown.len() - 1) as f32 * APART) / shown.len() as f32;
        let expanded = shown.iter().enumerate().map(|(index, &head)| {
            let left = x.min + index as f32 * (each + APART);
            (head, Rangef::new(left, left + each))
        });
        let thin = others.iter().enumerate().map(|(index, &head)| {
            let left = x.min + room + beyond + index as f32 * pitch + pitch * 0.25;
            (head, Rangef::new(left, left + pitch * 0.75))
        });
        Self {
            expanded: expanded.collect(),
            thin: thin.collect(),
        }
    }

    /// True while a second head can be read beside the first.
    fn fit(&self, view: &View<'_>) -> bool {
        self.expanded.iter().all(|(head, x)| {
            let area = Area::new(x.min, 0.0, x.span(), 0.0);
            let columns: Vec<_> = columns_of(&view.trace().heads[*head]).collect();
            let thin = |column: &Area| column.width() < THINNEST;
            !Addressing::areas(&area, &columns).iter().any(thin)
        })
    }
}

/// Shows the stages of the selected and the pinned head; returns the space for the others.
pub fn stages_ui(
    ui: &mut Ui,
    columns: &Columns,
    bands: &Bands,
    axis: &Axis,
    view: &mut View<'_>,
) -> ColumnSpans {
    let places = ColumnSpans::of(columns, view);
    for (head, x) in &places.expanded {
        expanded_ui(ui, *x, axis, *head, view);
    }
    let gradients = view.state.layer().gradients();
    if !view.state.view.all_heads && gradients.is_none() {
        let at = pos2(columns.stages.min - 6.0, rows_range(axis).max + 2.0);
        quiet_text(ui, at, Align2::RIGHT_TOP, "max", theme::text(9.5), view);
    }
    if let Some(words) = legend(axis, view) {
        let at = pos2(columns.stages.min, rows_range(axis).max + FOOT + 4.0);
        quiet_text(ui, at, Align2::LEFT_TOP, &words, theme::text(10.5), view);
    }
    heading(ui, columns, bands, &places, view);
    places
}

/// Returns the note below the rows: that bars are missing, or the meaning of the band.
pub fn legend(axis: &Axis, view: &View<'_>) -> Option<String> {
    let spread = view.open.spread.as_deref();
    match (as_bars(axis), spread) {
        (true, spread) => spread.map(Spread::describe),
        (false, None) => Some("colour strips: too many rows for bars".to_owned()),
        (false, Some(spread)) => Some(format!(
            "colour strips: too many rows for bars and {} samples",
            spread.samples
        )),
    }
}

/// All stages of one head, with the lines between them.
fn expanded_ui(ui: &mut Ui, x: Rangef, axis: &Axis, head: usize, view: &mut View<'_>) {
    let panel = view.catalogue().panel(PanelId::of(Picture::Stages, head));
    let Some(Content::Addressing(addressing)) = panel.map(|panel| panel.content) else {
        return;
    };
    let area = area(Rect::from_x_y_ranges(x, rows_range(axis)));
    let page = view.page(ui.pixels_per_point());
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    addressing.paint(&mut canvas, &area, axis, &page);
    let areas = Addressing::areas(&area, &addressing.kinds());
    let (mut before, mut gap) = (None, None);
    for ((id, bars), area) in addressing.columns.into_iter().zip(areas) {
        if bars.column.stage == Stage::Shift {
            gap = before.map(|(right, column)| (Rangef::new(right, area.left), column));
        }
        before = Some((area.right, bars.column));
        let place = view.catalogue().column(id, bars).along(area, axis.clone());
        point_ui(ui, &place, &[], view);
        if let Content::Bars(bars) = &place.panel.content {
            words_ui(ui, &place.area, bars, view);
        }
    }
    if let Some((x, moved)) = gap {
        moves_ui(ui, x, axis, (head, moved), view);
    }
}

/// Shows the movement by the shift as text, between its column and the one before.
fn moves_ui(ui: &Ui, x: Rangef, axis: &Axis, (head, moved): (usize, &Column), view: &mut View<'_>) {
    let rect = Rect::from_x_y_ranges(x, rows_range(axis));
    let label = narration::head_label(view.recording(), head);
    let (trace, step) = (&view.trace().heads[head], view.step());
    let moves = links::shifted(trace, step, moved.values(trace, step));
    let moves = links::describe(&moves, view.rows.total());
    let response = interact(
        ui,
        rect,
        &format!("{label} moves"),
        &moves.replace('\n', "; "),
    );
    if pointer(&response).is_some() {
        *view.readout = Some(Readout {
            place: format!("{label}  step {step}"),
            value: format!("{} → w\u{303}", moved.symbol),
            meaning: moves,
        });
    }
}

/// Shows `Addressing of W0 at step 12`, with its controls.
fn heading(ui: &Ui, columns: &Columns, bands: &Bands, places: &ColumnSpans, view: &mut View<'_>) {
    let top = bands.ruler.min + 8.0;
    let font = theme::heading(11.0);
    for (head, x) in &places.expanded {
        let label = narration::head_label(view.recording(), *head);
        let lost = view
            .state
            .view
            .pinned
            .filter(|_| places.expanded.len() == 1);
        let text = match lost.map(|head| narration::head_label(view.recording(), head)) {
            _ if places.expanded.len() > 1 => label,
            Some(other) => format!("{label}  NO ROOM FOR {other}"),
            None => format!("{label}  ADDRESSING"),
        };
        head_title(ui, pos2(x.min, top), *head, &text, view);
    }
    if view.state.view.all_heads {
        let text = format!("FINAL WEIGHTING OF ALL {} HEADS", places.thin.len());
        let at = pos2(columns.stages.min, top);
        quiet_text(ui, at, Align2::LEFT_CENTER, &text, font, view);
    }
    let room = Rangef::new(top + 10.0, bands.rows.min - NAMES);
    caption_ui(ui, columns.stages, room, view);
}

/// Shows the sign of a head and its text.
fn head_title(ui: &Ui, at: Pos2, head: usize, text: &str, view: &mut View<'_>) {
    let write = view.trace().heads[head].is_write();
    let color = view.head_color(head);
    head_sign(ui.painter(), at + vec2(6.0, 0.0), 13.0, write, color);
    let (font, at) = (theme::heading(11.0), at + vec2(18.0, 0.0));
    quiet_text(ui, at, Align2::LEFT_CENTER, text, font, view);
    let rect = Rect::from_min_size(at - vec2(18.0, 9.0), vec2(100.0, 18.0));
    let id = ui.scope_id().with(("title", head));
    let response = ui.interact(rect, id, Sense::click());
    let name = format!("Pin {}", narration::head_label(view.recording(), head));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands
            .push(Command::Look(Look::Select(Target::Head(head))));
    }
    focus_ring(ui, &response);
    response.on_hover_text(name);
}

/// The step or its current stage in words, in as many lines as there is room for; at least one.
pub fn caption_ui(ui: &Ui, x: Rangef, y: Rangef, view: &View<'_>) {
    let (step, stage_ref, painter) = (view.step(), view.stage_ref(), ui.painter());
    let (title, text) = if view.player.whole_steps() {
        (
            format!(
                "step {step}  {}",
                narration::phase_at(view.recording(), step)
            ),
            narration::narrate_step(view.open, step, view.focus),
        )
    } else {
        (
            format!(
                "{} of {}  {}",
                view.player.stage() + 1,
                view.player.stages(),
                stage_ref.name()
            ),
            narration::narrate_stage(view.open, step, stage_ref, view.focus),
        )
    };
    let (left, mut top) = (x.min, y.min);
    let mut lines = (y.span() / LINE) as usize;
    if lines >= 2 {
        let (font, ink) = (theme::heading(12.0), view.palette.accent);
        painter.text(pos2(left, top), Align2::LEFT_TOP, title, font, ink);
        top += LINE;
        lines -= 1;
    }
    let ink = view.palette.text;
    let width = x.span().max(120.0);
    // A number keeps its symbol and its unit.
    let keep =
        |text: String, symbol| text.replace(&format!("{symbol} "), &format!("{symbol}\u{a0}"));
    let shown = ["α", "β", "γ"]
        .into_iter()
        .fold(text.replace(" %", "\u{a0}%"), keep);
    let mut job = LayoutJob::simple(shown, theme::text(12.0), ink, width);
    job.wrap.max_rows = lines.clamp(1, 4);
    let galley = painter.layout_job(job);
    let rect = Rect::from_min_size(pos2(left, top), vec2(width, galley.size().y));
    let elided = galley.elided;
    painter.galley(rect.min, galley, ink);
    let response = ui.interact(rect, ui.scope_id().with("sentence"), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &text));
    if elided {
        response.on_hover_text(text);
    }
}

/// The words over and under a column: a click goes to its stage.
fn words_ui(ui: &Ui, column: &Area, bars: &Bars<'_>, view: &mut View<'_>) {
    let (x, word) = (Rangef::new(column.left, column.right), bars.column.word);
    let y = Rangef::new(column.top - NAMES, column.top - 8.0);
    let id = ui.scope_id().with(("stage", bars.head, bars.column.symbol));
    let response = ui.interact(Rect::from_x_y_ranges(x, y), id, Sense::click());
    let name = format!("Stage {word} {}", bars.column.symbol);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    if response.clicked() {
        view.commands
            .push(Command::Play(Play::SeekStage(bars.place)));
    }
    focus_ring(ui, &response);
    response.on_hover_text(bars.description.as_str());
    let Some(most) = &bars.most else { return };
    let y = Rangef::new(column.bottom + 2.0, column.bottom + FOOT + 2.0);
    let id = ui.scope_id().with(("foot", bars.head, word));
    let response = ui.interact(Rect::from_x_y_ranges(x, y), id, Sense::hover());
    let label = narration::head_label(view.recording(), bars.head);
    let words = format!("{label}, largest value of {word}: {most}");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    response.on_hover_text(words);
}
