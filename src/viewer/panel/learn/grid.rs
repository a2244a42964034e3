//! Several runs side by side: all their curves in one plot, and a card for each with its curve, its current answer to
//! the episode, and its status.

use egui::{
    Align2, Color32, EventFilter, Id, Key, Modifiers, Painter, Pos2, Rect, Response, Role,
    ScrollArea, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::curves;
use crate::figure::Style;
use crate::figure::chart::data::{Chart, Hue};
use crate::figure::chart::plot::Plot;
use crate::figure::facts::numbers::brief;
use crate::figure::scene::paint::Draw;
use crate::learn::{RunProgress, TrainingStatus};
use crate::math::Answer;
use crate::viewer::command::Learn;
use crate::viewer::keys::{ARROWS, leave_to_widget};
use crate::viewer::narration::training_charts;
use crate::viewer::panel::View;
use crate::viewer::panel::welcome::{ANSWER, ground_ui, picture_ui};
use crate::viewer::state::{LiveTraining, RunView};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{Canvas, area, focus_ring, send};

/// Share of the height that the plot of all curves has.
const PLOT: f32 = 0.36;
/// Between two cards.
const GAP: f32 = 8.0;
/// The least that a card shows something on.
const LEAST: Vec2 = vec2(118.0, 72.0);
/// The greatest height of a card, in multiples of its width.
const TALL: f32 = 1.15;
/// Inside of a card.
const INSIDE: f32 = 7.0;
/// Height of the words of a card.
const WORDS: f32 = 18.0;
/// Share of a card under its words that the curve has.
const CURVE: f32 = 0.42;
/// Height of the number under the curve of a card.
const NUMBER: f32 = 13.0;

/// All curves above, a card for each run below.
pub fn several_ui(ui: &mut Ui, learning: &LiveTraining, view: &mut View<'_>) {
    let size = ui.available_size() * vec2(1.0, PLOT);
    let (_, rect) = ui.allocate_space(size);
    let loss = curves::loss_ui(ui, rect, learning, view);
    ui.add_space(GAP);
    cards_ui(ui, learning, &loss, view);
}

/// Number of cards per row, and their size.
fn layout(count: usize, room: Vec2) -> (usize, Vec2) {
    let with = |across: usize| {
        let lines = count.div_ceil(across);
        let width = (room.x - GAP * (across - 1) as f32) / across as f32;
        let height = (room.y - GAP * (lines - 1) as f32) / lines as f32;
        vec2(width, height.min(TALL * width))
    };
    let fits = |size: Vec2| size.x >= LEAST.x && size.y >= LEAST.y;
    let all = (1..=count.max(1)).map(|across| (across, with(across)));
    let all = all.filter(|(_, size)| fits(*size));
    let best = all.max_by(|a, b| a.1.min_elem().total_cmp(&b.1.min_elem()));
    best.unwrap_or_else(|| {
        // The rest is scrolled to.
        let across = (((room.x + GAP) / (LEAST.x + GAP)) as usize).clamp(1, count.max(1));
        (across, vec2(with(across).x, LEAST.y))
    })
}

fn cards_ui(ui: &mut Ui, learning: &LiveTraining, loss: &Chart, view: &mut View<'_>) {
    let room = ui.available_size();
    let (across, size) = layout(learning.runs.len(), room);
    let lines = learning.runs.len().div_ceil(across) as f32;
    let is_scrolled = lines * (size.y + GAP) - GAP > room.y + 0.5;
    let bar = if is_scrolled { theme::SCROLL_BAR } else { 0.0 };
    let size = size - vec2(bar / across as f32, 0.0);
    let scrolled = ScrollArea::vertical().id_salt("runs");
    scrolled.auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, GAP);
        for line in 0..lines as usize {
            ui.horizontal_top(|ui| {
                let runs = (line * across)..((line + 1) * across).min(learning.runs.len());
                for run in runs {
                    card_ui(ui, (run, across), size, (learning, loss), view);
                }
            });
        }
    });
}

fn status(run: &RunView, progress: &RunProgress) -> TrainingStatus {
    // The error of real values may begin far above its chance level.
    let level = run.landmarks.first();
    let level = level.filter(|_| !run.experiment.task.answer().is_real());
    let chance = level.map_or(0.0, |(bits, _)| *bits);
    TrainingStatus::of(progress, chance)
}

/// Returns the name, state and progress of a run, as text.
fn describe(run: &RunView) -> String {
    let standing = run.progress.as_deref();
    let standing = standing.map_or("starting", |progress| status(run, progress).name());
    format!("Show {}: {standing}", run.label())
}

fn card_ui(
    ui: &mut Ui,
    (index, across): (usize, usize),
    size: Vec2,
    (learning, loss): (&LiveTraining, &Chart),
    view: &mut View<'_>,
) {
    let run = &learning.runs[index];
    let is_chosen = index == learning.chosen;
    let (_, rect) = ui.allocate_space(size);
    let response = ui.interact(rect, id_of(index), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, describe(run)));
    choose(ui, &response, (index, across), learning);
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    ground_ui(ui, &response, is_chosen);
    let inside = rect.shrink(INSIDE);
    let (words, pictures) = inside.split_top_bottom_at_y(inside.top() + WORDS);
    words_ui(ui, words, run, view.palette);
    let (curve, probe) = pictures.split_top_bottom_at_fraction(CURVE);
    let curve = curve.with_max_y(curve.bottom() - 6.0);
    let line = loss.lines.iter().find(|line| line.hue == Hue::Line(index));
    let answer = run.experiment.task.answer();
    curve_ui(ui, curve, (&training_charts::card(run, line), answer), view);
    probe_ui(ui, probe, index, learning, view);
    focus_ring(ui, &response);
}

/// A click chooses the run of a card, and so do the arrow keys from the card that has the keyboard.
fn choose(ui: &Ui, response: &Response, (index, across): (usize, usize), learning: &LiveTraining) {
    if response.clicked() {
        response.request_focus();
        send(ui.ctx(), Learn::Run(index));
    }
    let by = moved(ui, response, across);
    let next = index.checked_add_signed(by);
    let next = next.filter(|&next| by != 0 && next < learning.runs.len());
    if let Some(next) = next {
        send(ui.ctx(), Learn::Run(next));
        // The keyboard goes where the choice goes.
        ui.memory_mut(|memory| memory.request_focus(id_of(next)));
    }
}

/// Returns the episode of a run: for the selected run the one on screen.
fn probe_ui(ui: &Ui, rect: Rect, index: usize, learning: &LiveTraining, view: &mut View<'_>) {
    let open = if index == learning.chosen {
        Some(view.open).filter(|_| view.state.shows_learner())
    } else {
        learning.runs[index].probe.as_ref()
    };
    if let Some(open) = open {
        let key = format!("run {index}");
        picture_ui(ui, rect, &key, open, view.palette, view.textures, ANSWER);
    } else {
        ui.painter().rect_filled(rect, 2.0, view.palette.background);
    }
}

/// The name, and a mark and a word for how it stands.
fn words_ui(ui: &Ui, rect: Rect, run: &RunView, palette: &Palette) {
    let painter = ui.painter();
    let middle = rect.center().y - 2.0;
    let (at, font) = (pos2(rect.left(), middle), theme::heading(12.0));
    let name = painter.text(at, Align2::LEFT_CENTER, run.label(), font, palette.strong);
    let Some(progress) = run.progress.as_deref() else {
        return;
    };
    let standing = status(run, progress);
    let ink = match standing {
        TrainingStatus::Learned => palette.accent,
        TrainingStatus::Diverged | TrainingStatus::Broken => palette.warning,
        _ => palette.text,
    };
    let word = painter.layout_no_wrap(standing.name().to_owned(), theme::text(11.0), ink);
    let mut right = rect.right();
    // A long name has the line; the mark still tells.
    if name.right() + word.size().x + 20.0 <= right {
        let at = pos2(right - word.size().x, middle - word.size().y / 2.0);
        right = at.x - 4.0;
        painter.galley(at, word, ink);
    }
    mark(painter, pos2(right - 5.0, middle), standing, ink);
}

/// A mark of ten points for how a run stands: a tick, a level line, a cross, a line that comes down, a square.
fn mark(painter: &Painter, at: Pos2, standing: TrainingStatus, ink: Color32) {
    let stroke = Stroke::new(1.8, ink);
    let line = |points: &[[f32; 2]]| {
        let points = points.iter().map(|[x, y]| at + vec2(*x, *y)).collect();
        painter.add(Shape::line(points, stroke));
    };
    match standing {
        TrainingStatus::Learned => line(&[[-4.0, 0.5], [-1.0, 3.5], [4.0, -3.5]]),
        TrainingStatus::Plateau => line(&[[-4.5, 0.0], [4.5, 0.0]]),
        TrainingStatus::Diverged | TrainingStatus::Broken => {
            line(&[[-3.5, -3.5], [3.5, 3.5]]);
            line(&[[-3.5, 3.5], [3.5, -3.5]]);
        }
        TrainingStatus::Learning => line(&[[-4.5, -3.0], [-1.0, -2.0], [1.0, 2.0], [4.5, 3.0]]),
        TrainingStatus::Ended => {
            let square = Rect::from_center_size(at, Vec2::splat(7.0));
            painter.rect_stroke(square, 0.0, stroke, StrokeKind::Middle);
        }
    }
}

/// Shows the loss on a card.
fn curve_ui(ui: &Ui, rect: Rect, (chart, answer): (&Chart, Answer), view: &mut View<'_>) {
    ui.painter().rect_filled(rect, 2.0, view.palette.background);
    let colours = view.palette.data;
    let mut canvas = Canvas::new(ui.painter(), view.textures, 0);
    let curve = area(rect.with_max_y(rect.bottom() - NUMBER));
    Plot::new(chart, curve, colours).lines(&mut canvas);
    let last = chart.lines.first().and_then(|line| line.points.last());
    if let Some([_, bits]) = last {
        let style = Style::new(10.0, colours.subdued).mono();
        let at = [rect.left() + 4.0, rect.bottom() - NUMBER / 2.0];
        canvas.text(answer.amount(&brief(*bits)), at, style);
    }
}

fn id_of(run: usize) -> Id {
    Id::unique(("card of a run", run))
}

/// Number of cards by which the arrow keys move the focus from this one.
fn moved(ui: &Ui, response: &Response, across: usize) -> isize {
    if !response.has_focus() {
        return 0;
    }
    leave_to_widget(ui.ctx(), &ARROWS);
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let count = |key| pressed(key).cast_signed();
    let across = across.cast_signed();
    count(Key::ArrowRight) - count(Key::ArrowLeft)
        + across * (count(Key::ArrowDown) - count(Key::ArrowUp))
}
