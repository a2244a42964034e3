//! The curves of a training: the loss above, the other quantities below, side by side or, in little space, one at a
//! time.

use egui::{
    Align2, Id, PopupAnchor, Rect, Response, Role, Sense, Tooltip, Ui, UiBuilder, WidgetInfo, pos2,
    vec2,
};

use crate::figure::chart::data::{Chart, Form};
use crate::figure::chart::plot::{self, Plot};
use crate::figure::facts::ticks::Axis;
use crate::viewer::command::Learn;
use crate::viewer::narration::training_charts;
use crate::viewer::panel::View;
use crate::viewer::state::LiveTraining;
use crate::viewer::theme;
use crate::viewer::widget::{Canvas, area, choice, label};

/// From this size on everything is on screen.
const ROOMY: egui::Vec2 = vec2(480.0, 520.0);
/// Shares of the height that the loss has: among all, and above one other.
const LOSS: [f32; 2] = [0.42, 0.52];
/// Between two charts, in points.
const APART: f32 = 6.0;

/// All curves.
pub fn curves_ui(ui: &mut Ui, learning: &LiveTraining, view: &mut View<'_>) {
    let run = learning.run();
    let whole = ui.max_rect();
    let roomy = whole.width() >= ROOMY.x && whole.height() >= ROOMY.y;
    let share = LOSS[usize::from(!roomy)];
    let middle = (whole.top() + share * whole.height()).round();
    let (above, below) = whole.split_top_bottom_at_y(middle);
    if learning.read_only.is_some() {
        loss_ui(ui, whole, learning, view);
        return;
    }
    loss_ui(ui, above.with_max_y(middle - APART), learning, view);
    let measured = &training_charts::measured(learning, run);
    let heads = &training_charts::heads(run);
    if roomy && !heads.is_empty() {
        let (left, right) = below.split_left_right_at_fraction(0.5);
        column_ui(ui, left.with_max_x(left.right() - APART), measured, view);
        column_ui(ui, right.with_min_x(right.left() + APART), heads, view);
    } else if roomy {
        column_ui(ui, below, measured, view);
    } else {
        let all: Vec<_> = measured.iter().chain(heads).collect();
        one_ui(ui, below, &all, view);
    }
}

/// Shows the loss in bits per sequence; returns its chart.
pub fn loss_ui(ui: &Ui, rect: Rect, learning: &LiveTraining, view: &mut View<'_>) -> Chart {
    let loss = training_charts::loss(learning);
    column_ui(ui, rect, std::slice::from_ref(&loss), view);
    loss
}

/// Charts one below the other; the training snapshot on screen is marked.
fn column_ui(ui: &Ui, rect: Rect, charts: &[Chart], view: &mut View<'_>) {
    let learning = view.state.learning.as_ref();
    let moment = learning.and_then(LiveTraining::snapshot);
    let moment = moment.map(|snapshot| snapshot.sequences as f64);
    let height = rect.height() / charts.len().max(1) as f32;
    for (index, chart) in charts.iter().enumerate() {
        let corner = pos2(rect.left(), rect.top() + index as f32 * height);
        let part = Rect::from_min_size(corner, vec2(rect.width(), height - APART));
        let over_sequences = chart.across.is_log();
        chart_ui(ui, part, chart, moment.filter(|_| over_sequences), view);
    }
}

/// One of the charts, and names to choose another.
fn one_ui(ui: &mut Ui, rect: Rect, charts: &[&Chart], view: &mut View<'_>) {
    const TABS: f32 = 24.0;
    let below = view.state.learning.as_ref().map_or(0, |of| of.below);
    let below = below.min(charts.len().saturating_sub(1));
    let Some(chart) = charts.get(below) else {
        return;
    };
    let (tabs, rest) = rect.split_top_bottom_at_y(rect.top() + TABS);
    let mut child = ui.new_child(UiBuilder::new().max_rect(tabs));
    child.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 5.0;
        for (index, chart) in charts.iter().enumerate() {
            let (is_on, command) = (index == below, Learn::Below(index));
            choice(ui, is_on, &chart.name, command);
        }
    });
    let rest = rest.with_min_y(rest.top() + 2.0);
    column_ui(ui, rest, std::slice::from_ref(*chart), view);
}

/// Distance from which an event is shown in the tooltip, as a share of the axis.
const NEAR: f64 = 0.01;
/// Zoom factor of a turn of the mouse wheel.
const WHEEL: f32 = 240.0;
/// The share of the sequences from which all of them are shown.
const ALL: f64 = 0.999;
/// The least height of a plot, in points.
const LEAST: f32 = 24.0;

/// A chart with its heading; where the machine on screen stands is marked.
pub fn chart_ui(ui: &Ui, rect: Rect, chart: &Chart, moment: Option<f64>, view: &mut View<'_>) {
    let colours = view.palette.data;
    let mut canvas = Canvas::new(ui.painter(), view.textures, 0);
    let corner = [rect.left(), rect.top()];
    let top = plot::heading(&mut canvas, chart, corner, rect.width(), colours);
    let name = rect.top() + plot::NAME;
    for (part, words, y) in [
        ("name", &chart.name, rect.top()..=name),
        ("meaning", &chart.meaning, name..=top),
    ] {
        let rect = Rect::from_x_y_ranges(rect.x_range(), y);
        label(ui, rect, (&chart.name, part), words);
    }
    let bottom = (rect.bottom() - plot::BELOW).max(top + LEAST);
    let x = rect.left() + plot::LEFT..=rect.right() - plot::RIGHT;
    let frame = Rect::from_x_y_ranges(x, top..=bottom);
    let id = ui.scope_id().with((&chart.name, "plot"));
    let response = ui.interact(frame, id, Sense::click_and_drag());
    let description = || format!("{}: {}", chart.name, last(chart));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, description()));
    let across = part(ui, chart.across, &response);
    let plot = Plot::new(chart, area(frame), colours).over(across);
    plot.axes(&mut canvas);
    let inside = ui.painter().with_clip_rect(frame.expand(1.0));
    plot.lines(&mut Canvas::new(&inside, view.textures, 0));
    if let Some(at) = moment {
        let x = frame.x_range().clamp(plot.x(at));
        inside.vline(x, frame.y_range(), (1.5, view.palette.accent));
        let (at, font) = (pos2(x + 4.0, frame.top() + 2.0), theme::text(10.5));
        inside.text(at, Align2::LEFT_TOP, "on screen", font, view.palette.accent);
    }
    if let Some(value) = pointed(ui, chart, across, &response) {
        let ink = view.palette.subdued;
        inside.vline(plot.x(value), frame.y_range(), (1.0, ink));
    }
}

/// The last value of every line, in words.
fn last(chart: &Chart) -> String {
    let description = chart.lines.iter().filter_map(|line| {
        let [_, value] = line.points.last()?;
        Some(format!("{} {}", line.name, chart.up.describe(*value)))
    });
    description.collect::<Vec<_>>().join(", ")
}

/// Returns the part of the sequences on screen, the same in all charts.
fn part(ui: &Ui, whole: Axis, response: &Response) -> Axis {
    if !whole.is_log() {
        return whole;
    }
    let id = Id::unique("part of the sequences");
    let shown = ui.data(|data| data.get_temp::<Axis>(id)).unwrap_or(whole);
    let frame = response.rect;
    let (mut zoom, drag) = (1.0, response.drag_delta().x / frame.width());
    if response.contains_pointer() {
        zoom = ui.input(|input| input.zoom_delta() * (input.smooth_scroll_delta.y / WHEEL).exp());
    }
    let pointer = response.hover_pos().unwrap_or(frame.center()).x;
    let about = f64::from((pointer - frame.left()) / frame.width());
    let zoomed = |share: f64| about + (share - about) / f64::from(zoom) - f64::from(drag);
    let [from, to] = [0.0, 1.0].map(|share| whole.share(shown.value(zoomed(share))));
    let length = to - from;
    if length > ALL || response.double_clicked() {
        ui.data_mut(|data| data.remove::<Axis>(id));
        return whole;
    }
    let from = from.clamp(0.0, 1.0 - length);
    let ends = [from, from + length].map(|share| whole.value(share));
    let shown = Axis { ends, ..whole };
    ui.data_mut(|data| data.insert_temp(id, shown));
    shown
}

/// Tells the values under the pointer; returns the value there, or that of another chart over sequences.
fn pointed(ui: &Ui, chart: &Chart, across: Axis, response: &Response) -> Option<f64> {
    let id = Id::unique("pointed sequences");
    let pass = ui.ctx().cumulative_pass_nr();
    let Some(at) = response.hover_pos() else {
        let seen = ui.data(|data| data.get_temp::<(f64, u64)>(id));
        let recent = seen.filter(|(_, last)| across.is_log() && last + 1 >= pass);
        return recent.map(|(value, _)| value);
    };
    let frame = response.rect;
    let value = across.value(f64::from((at.x - frame.left()) / frame.width()));
    if across.is_log() {
        ui.data_mut(|data| data.insert_temp(id, (value, pass)));
    }
    if let Some(words) = values_at(chart, across, value) {
        let (ctx, layer) = (ui.ctx().clone(), ui.layer_id());
        let tooltip = Tooltip::always_open(ctx, layer, response.id, PopupAnchor::Pointer);
        tooltip.gap(12.0).show(|ui| ui.label(words));
    }
    Some(value)
}

/// All values at a place of the horizontal axis, in words.
fn values_at(chart: &Chart, across: Axis, value: f64) -> Option<String> {
    let x = value.round();
    let values = chart.lines.iter().filter_map(|line| {
        let index = line.points.partition_point(|point| point[0] <= x);
        let index = index.checked_sub(1)?;
        let [there, value] = line.points[index];
        if line.form == Form::Bars && there != x {
            return None;
        }
        let band = line.band.get(index).map_or(String::new(), |band| {
            let [low, high] = band.map(|end| chart.up.describe(end));
            format!(", recently {low} to {high}")
        });
        Some(format!("{}: {}{band}", line.name, chart.up.describe(value)))
    });
    let values: Vec<_> = values.collect();
    if values.is_empty() {
        return None;
    }
    let near = |at: f64| (across.share(at) - across.share(value)).abs() < NEAR;
    let events = chart.events.iter().filter(|(at, _)| near(*at));
    let events = events.map(|(_, words)| format!("changed here: {words}"));
    let place = if chart.across.is_log() {
        format!("after {x} {}", chart.unit)
    } else {
        format!("{} {x}", chart.unit)
    };
    let lines = std::iter::once(place).chain(values).chain(events);
    Some(lines.collect::<Vec<_>>().join("\n"))
}
