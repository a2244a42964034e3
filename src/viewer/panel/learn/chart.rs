//! A chart in the window: moved by dragging, zoomed by the wheel, whole again by a double click, its values told under
//! the pointer, its lines switched in the legend.

use egui::{Align2, Id, RichText, Role, Ui, Vec2b, WidgetInfo, vec2};
use egui_plot::{
    Bar, BarChart, Corner, FilledArea, GridInput, GridMark, HLine, HoverPosition, Legend,
    Line as PlotLine, LineStyle, Plot, PlotUi, Points, VLine,
};

use crate::figure::chart::data::{Across, Chart, Form, Hue, Line, Up, decades};
use crate::figure::facts::numbers::brief;
use crate::viewer::theme::{self, Palette, color};

/// Height of the words above a chart, in points.
pub const WORDS: f32 = 36.0;
/// Room for the numbers at the left, in points.
const NUMBERS: f32 = 40.0;
/// Room at the right, where the last number of an axis ends.
const AFTER: f32 = 24.0;
/// Distance from which an event is shown in the tooltip, in decades.
const NEAR: f64 = 0.03;
/// The meaning of a band.
const EACH: &str = "range of updates";
/// Zoom factor of a turn of the mouse wheel.
const WHEEL: f32 = 240.0;
/// The most lines of a chart that has a legend.
const MOST_NAMES: usize = 3;
/// The most sizes of episodes with a number.
const MOST_SIZES: f64 = 8.0;
/// Opacity of the band behind a line.
const FAINT: f32 = 0.22;

/// A chart with its words, in this height; where the machine on screen stands is marked.
pub fn chart_ui(ui: &mut Ui, chart: &Chart, height: f32, moment: Option<f64>) {
    let words = words_ui(ui, chart);
    plot_ui(ui, chart, height - words, moment);
}

/// Shows the name and the meaning; returns the height.
fn words_ui(ui: &mut Ui, chart: &Chart) -> f32 {
    let palette = Palette::of(ui);
    let width = ui.available_width();
    let shown = ui.allocate_ui(vec2(width, WORDS), |ui| {
        ui.set_min_height(WORDS);
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.spacing_mut().interact_size.y = 16.0;
        ui.horizontal(|ui| {
            let name = RichText::new(&chart.name).font(theme::heading(13.0));
            ui.label(name.color(palette.strong));
            heads_ui(ui, chart, palette);
            // A legend would lie over the lines, too small for a finger.
            if has_legend(chart) && theme::is_by_finger(ui.ctx()) {
                names_ui(ui, chart, palette);
            }
        });
        let meaning = RichText::new(&chart.meaning).font(theme::text(11.0));
        ui.add(egui::Label::new(meaning.color(palette.subdued)).wrap());
    });
    shown.response.rect.height()
}

/// Returns the colour of a head.
fn heads_ui(ui: &mut Ui, chart: &Chart, palette: &Palette) {
    let of_heads = chart.lines.iter();
    let of_heads = of_heads.filter(|line| line.form == Form::Whole);
    let heads = of_heads.filter_map(|line| match line.hue {
        Hue::Head(name) => Some((name, line.hue)),
        _ => None,
    });
    ui.spacing_mut().item_spacing.x = 6.0;
    for (name, hue) in heads {
        let name = RichText::new(name.to_string()).font(theme::mono(11.0));
        ui.label(name.color(color(hue.of(palette.data))));
    }
}

/// Returns the colour of a line.
fn names_ui(ui: &mut Ui, chart: &Chart, palette: &Palette) {
    for line in &chart.lines {
        let name = RichText::new(&line.name).font(theme::text(12.0));
        ui.label(name.color(color(line.hue.of(palette.data))));
    }
}

/// The chart alone.
pub fn plot_ui(ui: &mut Ui, chart: &Chart, height: f32, moment: Option<f64>) {
    let palette = Palette::of(ui);
    let by_finger = theme::is_by_finger(ui.ctx());
    let plot = plot(chart, height, by_finger, palette);
    let [low, high] = chart.range();
    let plot = plot.width(ui.available_width() - AFTER);
    let shown = plot.show(ui, |ui| {
        wheel(ui, chart);
        ui.set_plot_bounds_y(low..=high);
        for line in &chart.lines {
            line_ui(ui, chart, line, palette);
        }
        for (level, words) in &chart.levels {
            let line = HLine::new(words.as_str(), chart.up.place(*level));
            let line = line.color(palette.subdued).style(LineStyle::dashed_dense());
            ui.hline(line.width(1.0).allow_hover(false));
        }
        for (at, words) in &chart.events {
            let line = VLine::new(words.as_str(), chart.across.place(*at));
            let line = line.color(palette.subdued).width(1.5);
            ui.vline(line.allow_hover(false));
        }
    });
    shown.response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Image,
            true,
            format!("{}: {}", chart.name, last(chart)),
        )
    });
    levels_ui(ui, chart, &shown.transform, palette);
    let mut bars = chart.lines.iter().filter(|line| line.form == Form::Bars);
    if bars.any(|line| line.points.iter().all(|point| point[1] == 0.0)) {
        let (at, font) = (shown.transform.frame().center(), theme::text(11.0));
        let text = format!("no {}", chart.lines[0].name);
        ui.painter()
            .text(at, Align2::CENTER_CENTER, text, font, palette.subdued);
    }
    if let (Some(at), Across::Sequences) = (moment, chart.across) {
        snapshot_ui(ui, chart.across.place(at), &shown.transform, palette);
    }
}

/// Draws the training snapshot on screen as a line across the chart, without changing its axes.
fn snapshot_ui(ui: &Ui, at: f64, transform: &egui_plot::PlotTransform, palette: &Palette) {
    let frame = transform.frame();
    let x = frame.x_range().clamp(transform.position_from_point_x(at));
    let painter = ui.painter().with_clip_rect(*frame);
    painter.vline(x, frame.y_range(), (1.5, palette.accent));
    let (at, font) = (egui::pos2(x + 4.0, frame.top() + 2.0), theme::text(10.5));
    painter.text(at, Align2::LEFT_TOP, "on screen", font, palette.accent);
}

/// The last value of every line, in words.
fn last(chart: &Chart) -> String {
    let description = chart.lines.iter().filter_map(|line| {
        let [_, value] = line.points.last()?;
        Some(format!("{} {}", line.name, chart.up.describe(*value)))
    });
    description.collect::<Vec<_>>().join(", ")
}

/// True where the lines are told apart by their names.
fn has_legend(chart: &Chart) -> bool {
    chart.lines.iter().any(|line| line.form == Form::Dots) && chart.lines.len() <= MOST_NAMES
}

fn plot<'a>(chart: &'a Chart, height: f32, by_finger: bool, palette: &Palette) -> Plot<'a> {
    let over = chart.across == Across::Sequences;
    let across = RichText::new(chart.across.name()).font(theme::text(11.0));
    let up = chart.up;
    let mut plot = Plot::new(chart.name.as_str())
        .height(height.max(40.0))
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_zoom(Vec2b::new(over, false))
        .allow_drag(Vec2b::new(over, false))
        .allow_axis_zoom_drag(false)
        .set_margin_fraction(vec2(0.01, 0.0))
        .grid_color(palette.line)
        .show_y(false)
        .cursor_color(palette.subdued)
        .y_axis_min_width(NUMBERS)
        .x_axis_label(across.color(palette.subdued))
        .y_axis_formatter(move |mark, _| up.describe(up.value(mark.value)))
        .label_formatter(move |at| under_pointer(chart, at));
    if up.is_log() {
        plot = plot.y_grid_spacer(|input: GridInput| logarithmic(&input));
    }
    if let Up::Percent(_) = up {
        plot = plot.y_grid_spacer(|input: GridInput| regular(input.bounds, 0.25));
    }
    // What stands side by side is named on the cards below.
    if has_legend(chart) && !by_finger {
        let legend = Legend::default()
            .position(Corner::LeftBottom)
            .text_style(egui::TextStyle::Small)
            .background_alpha(0.6);
        plot = plot.legend(legend);
    }
    match chart.across {
        Across::Sequences => {
            let all = Id::unique("by sequences");
            plot.x_grid_spacer(|input: GridInput| logarithmic(&input))
                .x_axis_formatter(|mark, _| brief(10f64.powf(mark.value)))
                .link_axis(all, Vec2b::new(true, false))
                .link_cursor(all, Vec2b::new(true, false))
        }
        Across::Sizes(_, [first, last]) => {
            let apart = ((last - first) / MOST_SIZES).ceil().max(1.0);
            plot.x_grid_spacer(move |input: GridInput| regular(input.bounds, apart))
                .include_x(first - 0.5)
                .include_x(last + 0.5)
        }
    }
}

/// Marks so far apart; each has its number.
fn regular((low, high): (f64, f64), apart: f64) -> Vec<GridMark> {
    let marks = (low / apart).ceil() as i64..=(high / apart).floor() as i64;
    let step_size = high - low;
    marks
        .map(|mark| GridMark {
            value: mark as f64 * apart,
            step_size,
        })
        .collect()
}

fn logarithmic(input: &GridInput) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let marks = decades([low, high]);
    // A narrow range has few round numbers: its marks are apart by 1, 2 or 5.
    if marks.iter().filter(|(_, apart)| *apart > 0.1).count() < 2 {
        let [from, to] = [low, high].map(|place| 10f64.powf(place));
        let power = 10f64.powf((to - from).log10().floor());
        let count = (to - from) / power;
        let apart = power * [0.5, 1.0, 2.0][usize::from(count >= 2.0) + usize::from(count >= 5.0)];
        let mut marks = regular((from, to), apart);
        for mark in &mut marks {
            (mark.value, mark.step_size) = (mark.value.log10(), high - low);
        }
        return marks;
    }
    marks
        .into_iter()
        .map(|(value, step_size)| GridMark { value, step_size })
        .collect()
}

/// The wheel makes sequences wider or narrower about the pointer; the values have the whole height all the time.
fn wheel(ui: &mut PlotUi<'_>, chart: &Chart) {
    if chart.across != Across::Sequences || !ui.response().contains_pointer() {
        return;
    }
    let turned = ui.ctx().input(|input| input.smooth_scroll_delta.y);
    if turned != 0.0 {
        ui.zoom_bounds_around_hovered(vec2((turned / WHEEL).exp(), 1.0));
        ui.set_auto_bounds(Vec2b::new(false, true));
    }
}

fn line_ui(ui: &mut PlotUi<'_>, chart: &Chart, line: &Line, palette: &Palette) {
    let ink = color(line.hue.of(palette.data));
    let place = |[x, y]: [f64; 2]| [chart.across.place(x), chart.up.place(y)];
    let finite = line.points.iter().filter(|point| point[1].is_finite());
    let points: Vec<_> = finite.map(|&point| place(point)).collect();
    if line.band.len() > 1 {
        let xs: Vec<_> = line
            .points
            .iter()
            .map(|point| chart.across.place(point[0]))
            .collect();
        let end = |end: usize| line.band.iter().map(move |band| chart.up.place(band[end]));
        let (low, high): (Vec<_>, Vec<_>) = (end(0).collect(), end(1).collect());
        let band = FilledArea::new(EACH, &xs, &low, &high);
        ui.add(
            band.fill_color(ink.gamma_multiply(FAINT))
                .allow_hover(false),
        );
    }
    let name = line.name.as_str();
    match line.form {
        Form::Bars => {
            let bars = points
                .iter()
                .map(|[x, y]| Bar::new(*x, *y).width(0.7))
                .collect();
            ui.bar_chart(BarChart::new(name, bars).color(ink).allow_hover(false));
        }
        Form::Dots => {
            let dots = Points::new(name, points).color(ink).radius(2.5);
            ui.points(dots.allow_hover(false));
        }
        Form::Whole | Form::Thin | Form::Dashed => {
            let width = if line.form == Form::Whole { 2.0 } else { 1.2 };
            let style = match line.dashes().first() {
                Some(&length) => LineStyle::Dashed { length },
                None => LineStyle::Solid,
            };
            let drawn = PlotLine::new(name, points).color(ink).width(width);
            ui.line(drawn.style(style).allow_hover(false));
        }
    }
}

/// All values at the place of the pointer.
fn under_pointer(chart: &Chart, at: &HoverPosition<'_>) -> Option<String> {
    let (HoverPosition::Elsewhere { position } | HoverPosition::NearDataPoint { position, .. }) =
        at;
    let mut description = Vec::new();
    let x = match chart.across {
        Across::Sequences => 10f64.powf(position.x).round(),
        Across::Sizes(..) => position.x.round(),
    };
    for line in &chart.lines {
        let index = line.points.partition_point(|point| point[0] <= x);
        let Some(index) = index.checked_sub(1) else {
            continue;
        };
        let [there, value] = line.points[index];
        if line.form == Form::Bars && there != x {
            continue;
        }
        let band = line.band.get(index).map_or(String::new(), |band| {
            let [low, high] = band.map(|end| chart.up.describe(end));
            format!(", recently {low} to {high}")
        });
        let words = format!("{}: {}{band}", line.name, chart.up.describe(value));
        description.push(words);
    }
    if description.is_empty() {
        return None;
    }
    let near = |at: f64| (chart.across.place(at) - position.x).abs() < NEAR;
    let events = chart.events.iter().filter(|(at, _)| near(*at));
    description.extend(events.map(|(_, words)| format!("changed here: {words}")));
    let place = match chart.across {
        Across::Sequences => format!("after {x} sequences"),
        Across::Sizes(name, _) => format!("{name} {x}"),
    };
    Some(format!("{place}\n{}", description.join("\n")))
}

/// Labels the levels at the right, without overlap.
fn levels_ui(ui: &Ui, chart: &Chart, transform: &egui_plot::PlotTransform, palette: &Palette) {
    const LINE: f32 = 13.0;
    let frame = *transform.frame();
    let painter = ui.painter().with_clip_rect(frame);
    let mut levels: Vec<_> = chart.levels.iter().collect();
    levels.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut free = frame.top();
    for (level, words) in levels {
        let point = egui_plot::PlotPoint::new(0.0, chart.up.place(*level));
        let y = transform.position_from_point(&point).y;
        if !frame.y_range().contains(y) {
            continue;
        }
        let font = theme::text(10.5);
        let galley = painter.layout_no_wrap(words.clone(), font, palette.subdued);
        let top = (y - LINE - 1.0).max(free);
        let corner = egui::pos2(frame.right() - 6.0, top);
        let rect = Align2::RIGHT_TOP.anchor_size(corner, galley.size());
        painter.rect_filled(
            rect.expand2(vec2(3.0, 0.0)),
            2.0,
            ui.visuals().extreme_bg_color.gamma_multiply(0.7),
        );
        painter.galley(rect.min, galley, palette.subdued);
        free = rect.bottom();
    }
}
