//! The panels of the window: their choice, positions and overlays.

use egui::{
    Align2, CentralPanel, Context, Frame, Margin, Panel, Pos2, Rect, RichText, ScrollArea, Ui,
    UiBuilder, pos2, vec2,
};

use super::branch::branch_ui;
use super::compare::compare_ui;
use super::family::family_ui;
use super::paper::{close_up_ui, paper_ui, parts_ui};
use super::top::{top_ui, under_way_ui};
use super::welcome::welcome_ui;
use super::{
    BUTTONS, Memos, Pointed, RIGHT, TOP, View, bottom, centre, fixed, gradients, learn, left,
    left_width, panel_frame, phone, present, right, shows_drawer, shows_numbers, tour,
};
use crate::figure::facts::rows::Span;
use crate::figure::page::compare::page_columns;
use crate::figure::page::debug::geometry::Columns;
use crate::figure::page::debug::timeline::{TIMELINE, scalars_height};
use crate::viewer::state::{LiveTraining, Parts, PendingJob, State, WindowLayout};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{Textures, readout_ui, toasts_ui};

/// State of the last frame: cached pictures, and the target of the pointer.
#[derive(Default)]
pub struct FrameCache {
    /// Pictures.
    pub textures: Textures,
    /// What the pointer is over.
    pub pointed: Pointed,
    /// The facts of the last frames.
    pub memos: Memos,
}

/// Height of the status line.
const STATUS: f32 = 26.0;
/// Width of the line between two panels.
const EDGE: f32 = 1.0;
/// Inside of a panel of a line.
const BAR: Margin = Margin::symmetric(12, 0);
/// Height of the timeline at the lower edge of the close-up.
const STRIP: f32 = 64.0;

/// Height of the rows in a window of this size.
pub fn room(state: &State, window: egui::Vec2) -> f32 {
    let around = if state.is_folded() {
        present::words_height(state)
    } else {
        let mark = state.layer().map_or(0.0, |_| gradients::HEIGHT);
        TOP + mark + below(state, window.y)
    };
    let open = state.session.open.as_ref();
    open.map_or(state.frame.room, |open| {
        centre::rows_room(window.y - around, &open.shown.recording)
    })
}

/// Height of status line, transport and training bar, in a window of this height.
fn below(state: &State, window: f32) -> f32 {
    let height = learn::height(state.is_on_phone());
    let learn = if state.shows_learner() { height } else { 0.0 };
    status(state) + learn + transport(state, window)
}

/// Height of transport and timeline in a window of this height.
fn transport(state: &State, window: f32) -> f32 {
    let panels = state.panels();
    if state.is_on_phone() {
        return phone::transport_height(state);
    }
    if !panels.timeline {
        return BUTTONS;
    }
    let buttons = if panels.left { 0.0 } else { BUTTONS };
    let scalars = scalars_height(state.lines(), window - TOP - STATUS);
    TIMELINE + buttons + scalars + EDGE
}

/// Height of the status line; on a phone there is no room for one.
fn status(state: &State) -> f32 {
    if state.is_on_phone() { 0.0 } else { STATUS }
}

fn columns_of(state: &State, width: f32) -> Columns {
    let pinned = state.view.pinned.is_some() && !state.view.all_heads;
    let (has_left, numbers) = (state.panels().left, shows_numbers(state));
    let left = if has_left { left_width(width) } else { 0.0 };
    let right = if numbers { RIGHT } else { 0.0 };
    let x = Span::new(left, width - right);
    if state.layout() == WindowLayout::Compare {
        return of_two(x);
    }
    let heads = (state.heads(), pinned);
    let columns = Columns::new(x, heads, state.part().is_some());
    if !state.view.step_zoom.is_part() {
        return columns;
    }
    let shown = state.view.step_zoom.of(state.player.steps());
    columns.during(shown, state.player.steps())
}

/// The columns of the figure of two episodes.
fn of_two(x: Span) -> Columns {
    let start = x.min + 2.0;
    let width = (x.max - start - 2.0).round().max(480.0);
    let [time, memory] = page_columns(width).map(|(from, to)| Span::new(start + from, start + to));
    Columns {
        gutter: Span::new(start + 10.0, time.min),
        time,
        whole: time,
        stages: memory,
        memory,
        marks: Span::new(memory.max, memory.max),
        minimap: None,
    }
}

/// Messages stand above the transport, never on the vectors of the step: in the panel of numbers, or on the
/// legends where there is none; in the close-up over the left panel. On a phone they come down from the bar above.
fn message_corner(state: &State, window: Rect) -> (Align2, Pos2) {
    if state.is_on_phone() {
        let at = pos2(window.center().x, window.top() + TOP + 8.0);
        return (Align2::CENTER_TOP, at);
    }
    let (on_start, width) = (state.welcome.shown, window.width());
    let is_alone = state.session.open.is_none() || on_start;
    let is_near = state.layout() == WindowLayout::CloseUp && !is_alone;
    let below = below(state, window.height());
    let below = if on_start { STATUS } else { below };
    let strip = if is_near { STRIP } else { 0.0 };
    let bottom = window.bottom() - below - strip - 12.0;
    if is_near && state.panels().left {
        return (Align2::LEFT_BOTTOM, pos2(window.left() + 4.0, bottom));
    }
    let right = if is_alone || shows_numbers(state) {
        window.right() - 12.0
    } else {
        columns_of(state, width).stages.max - 22.0
    };
    (Align2::RIGHT_BOTTOM, pos2(right, bottom))
}

/// All panels.
pub fn panels_ui(ui: &mut Ui, state: &State, job: Option<&PendingJob>, drawn: &mut FrameCache) {
    if !state.is_folded() {
        fixed(ui, Panel::top("top"), TOP, BAR).show(ui, |ui| {
            if state.is_on_phone() {
                phone::top_ui(ui, state, job);
            } else {
                top_ui(ui, state, job);
            }
        });
    }
    let palette = Palette::with_map(ui.visuals().dark_mode, state.settings.look.map);
    let before = std::mem::take(&mut drawn.pointed);
    let (Some(open), Some((whole, rows)), false) =
        (&state.session.open, state.rows(), state.welcome.shown)
    else {
        return start_ui(ui, state, &mut drawn.textures, job);
    };
    let mut view = View {
        state,
        open,
        player: &state.player,
        focus: state.view.focus,
        rows: &rows,
        whole: &whole,
        palette,
        textures: &mut drawn.textures,
        pointed: Pointed::default(),
        before,
        answer: None,
        memos: &drawn.memos,
    };
    episode_panels_ui(ui, &mut view);
    if shows_drawer(state) {
        drawer_ui(ui, &mut view);
    }
    drawn.pointed = view.pointed;
}

/// The start page; or nothing yet.
fn start_ui(ui: &mut Ui, state: &State, textures: &mut Textures, job: Option<&PendingJob>) {
    let palette = Palette::of(ui);
    let frame = Frame::new().fill(palette.background);
    CentralPanel::default().frame(frame).show(ui, |ui| {
        if state.welcome.shown && state.welcome.family {
            return family_ui(ui, state, textures);
        }
        if state.welcome.shown {
            return welcome_ui(ui, state, textures);
        }
        let Some(job) = job else { return };
        ui.vertical_centered(|ui| {
            ui.add_space(0.4 * ui.available_height());
            let text = RichText::new(format!("{} …", job.words)).size(14.0);
            ui.label(text.color(palette.subdued));
            ui.add_space(8.0);
            under_way_ui(ui, job, 240.0);
        });
    });
}

/// Shows the overlays: readout at the pointer, notifications, tour.
pub fn over_ui(ui: &Ui, state: &State, drawn: &FrameCache) {
    let ctx = ui.ctx();
    let covered = state.dialog.is_some() || egui::Popup::is_any_open(ctx) || rests(ctx, state);
    if let (Some(readout), false) = (&drawn.pointed.readout, covered) {
        readout_ui(ctx, readout);
    }
    let corner = message_corner(state, ctx.content_rect());
    toasts_ui(&state.toasts, ctx, corner);
    if state.session.open.is_none() || state.welcome.shown || state.dialog.is_some() {
        return;
    }
    present::floating_ui(ctx, state);
    if let Some(tour) = state.tour() {
        tour::tour_ui(ctx, state, tour);
    } else if state.failing().is_some() && !state.is_on_phone() {
        let columns = columns_of(state, ctx.content_rect().width());
        tour::failure_ui(ctx, state, &columns);
    }
}

/// Shows the tour or a failure on a phone: below the pictures, or beside them in landscape; there it covers
/// nothing.
fn failure_panel_ui(ui: &mut Ui, view: &mut View<'_>) {
    /// The width of the panel next to the pictures.
    const BESIDE: f32 = 350.0;
    let state = view.state;
    let failing = state.failing().and_then(|failing| failing.wrong);
    if state.tour().is_none() && failing.is_none() {
        return;
    }
    let window = ui.ctx().content_rect();
    let panel = if window.height() > window.width() {
        Panel::bottom("said").resizable(false)
    } else {
        Panel::right("said").exact_size(BESIDE).resizable(false)
    };
    let frame = panel_frame(ui, theme::PADDING);
    panel.frame(frame).show(ui, |ui| {
        let scrolled = ScrollArea::vertical().min_scrolled_height(0.6 * window.height());
        scrolled.show(ui, |ui| {
            if let Some(tour) = state.tour() {
                tour::stop_ui(ui, state, tour);
            } else {
                tour::failure_text_ui(ui, state);
            }
        });
    });
}

/// True while the picture moves under a resting pointer: the pointer selects nothing then.
fn rests(ctx: &Context, state: &State) -> bool {
    /// Time that a resting pointer keeps its target, in seconds.
    const POINTS: f32 = 3.0;
    let learning = state.learning.as_ref();
    let learns = learning.is_some_and(LiveTraining::expects_news);
    let moves = state.player.playing() || state.tour().is_some() || learns;
    moves && ctx.input(|input| input.pointer.time_since_last_movement()) > POINTS
}

/// Bottom, left, right, centre: everything that needs an episode.
fn episode_panels_ui(ui: &mut Ui, view: &mut View<'_>) {
    let (state, window) = (view.state, ui.ctx().content_rect().size());
    let columns = &columns_of(state, window.x);
    if state.is_folded() {
        present::words_ui(ui, view);
        if state.parts.as_ref().is_some_and(Parts::has_player) {
            let height = phone::transport_height(state);
            let panel = fixed(ui, Panel::bottom("player"), height, 0);
            panel.show(ui, |ui| phone::transport_ui(ui, view));
        }
        return centre_panel_ui(ui, columns, view);
    }
    if status(state) > 0.0 {
        let panel = fixed(ui, Panel::bottom("status"), STATUS, BAR);
        panel.show(ui, |ui| bottom::status_ui(ui, view));
    }
    let height = transport(state, window.y);
    fixed(ui, Panel::bottom("transport"), height, 0).show(ui, |ui| {
        if state.is_on_phone() {
            phone::transport_ui(ui, view);
        } else {
            bottom::transport_ui(ui, columns, view);
        }
    });
    if let Some(learning) = state.learning.as_ref().filter(|_| state.shows_learner()) {
        let height = learn::height(state.is_on_phone());
        let panel = fixed(ui, Panel::bottom("learn"), height, BAR);
        panel.show(ui, |ui| learn::bar_ui(ui, learning));
    }
    if state.is_on_phone() {
        failure_panel_ui(ui, view);
    }
    if let Some(by) = state.layer() {
        let panel = fixed(ui, Panel::top("mattered"), gradients::HEIGHT, BAR);
        panel.show(ui, |ui| gradients::gradients_ui(ui, by, view));
    }
    if state.panels().left {
        let width = left_width(window.x);
        let panel = fixed(ui, Panel::left("left"), width, theme::PADDING);
        panel.show(ui, |ui| left_ui(ui, view));
    }
    if shows_numbers(state) {
        let panel = fixed(ui, Panel::right("right"), RIGHT, theme::PADDING);
        panel.show(ui, |ui| numbers_ui(ui, view));
    }
    centre_panel_ui(ui, columns, view);
}

/// The pictures.
fn centre_panel_ui(ui: &mut Ui, columns: &Columns, view: &mut View<'_>) {
    let frame = Frame::new().fill(view.palette.background);
    let panel = CentralPanel::default().frame(frame);
    panel.show(ui, |ui| match view.state.layout() {
        WindowLayout::CloseUp => close_up_ui(ui, view),
        WindowLayout::Debug => centre::centre_ui(ui, columns, view),
        WindowLayout::Compare => compare_ui(ui, columns, view),
        WindowLayout::Paper | WindowLayout::PaperDown => paper_ui(ui, view),
        WindowLayout::Parts => parts_ui(ui, view),
        WindowLayout::Train => learn::train_ui(ui, view),
    });
}

/// The panel of numbers over the pictures: for windows too narrow to have it beside them.
fn drawer_ui(ui: &Ui, view: &mut View<'_>) {
    let (window, state) = (ui.ctx().content_rect(), view.state);
    let (above, below) = if state.is_folded() {
        (0.0, 0.0)
    } else {
        (TOP, below(state, window.height()))
    };
    let size = vec2(RIGHT, window.height() - above - below);
    let frame = panel_frame(ui, theme::PADDING).stroke(view.palette.hairline());
    egui::Area::new(egui::Id::unique("drawer"))
        .order(egui::Order::Middle)
        .fixed_pos(pos2(window.right() - size.x, above))
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                let inside = size - egui::Vec2::splat(2.0 * theme::PADDING + 2.0);
                ui.set_min_size(inside);
                ui.set_max_size(inside);
                numbers_ui(ui, view);
            });
        });
}

/// Scrolls a panel, with the scroll bar in its margin.
fn scrolled_panel_ui(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let inside = ui.available_rect_before_wrap();
    let whole = inside.with_max_x(inside.right() + theme::PADDING);
    let mut child = ui.new_child(UiBuilder::new().max_rect(whole));
    let area = ScrollArea::vertical().auto_shrink(false);
    area.show(&mut child, |ui| {
        ui.set_max_width(inside.width());
        add(ui);
    });
}

fn left_ui(ui: &mut Ui, view: &mut View<'_>) {
    scrolled_panel_ui(ui, |ui| {
        let session = &view.state.session;
        left::episode_ui(ui, session);
        branch_ui(ui, session);
        ui.add_space(theme::SECTION);
        left::heads_ui(ui, view);
        ui.add_space(theme::SECTION);
        // The result is not known yet.
        if !view.state.is_opening() && !view.player.playing() {
            left::result_ui(ui, view);
        }
        if view.has_heads() {
            ui.add_space(theme::SECTION);
            left::rows_shown_ui(ui, view);
        }
    });
}

/// Draws a veil that announces the effect of dropping a file.
pub fn drop_hint(ctx: &Context) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let (palette, rect) = (Palette::on(ctx), ctx.content_rect());
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop"));
    let painter = ctx.layer_painter(layer);
    painter.rect_filled(rect, 0.0, palette.veil);
    let card = Rect::from_center_size(rect.center(), vec2(320.0, 72.0));
    painter.rect_filled(card, theme::CARD_RADIUS, palette.panel);
    let words = "Drop a trace, weights or run folder";
    let (at, font, ink) = (card.center(), theme::heading(16.0), palette.strong);
    painter.text(at, Align2::CENTER_CENTER, words, font, ink);
}

/// The numbers, and beside them a bar where there are more than fit: it hides no last digit.
fn numbers_ui(ui: &mut Ui, view: &mut View<'_>) {
    scrolled_panel_ui(ui, |ui| right::numbers_ui(ui, view));
}
