//! The curves of what learns: loss, gradient, and how well each size is answered.

use egui::{Color32, RichText, Ui, Vec2b};
use egui_plot::{
    Bar, BarChart, Corner, GridInput, GridMark, HLine, HoverPosition, Legend, Line, LineStyle,
    Plot, PlotPoint, Points, VLine,
};

use crate::figure::numbers;
use crate::learn::{Account, Point};
use crate::viewer::state::learning::{Learning, Taught};
use crate::viewer::theme::{self, Palette, color};

/// A mean over this share of the sequences before it.
const SMOOTH: f64 = 0.2;
/// Nothing below is shown on a logarithmic axis.
const LEAST: f64 = 1e-4;
/// Shares of the height: loss, gradient, sizes.
const SHARES: [f32; 3] = [0.5, 0.24, 0.26];
/// Height of a heading, in points.
const HEADING: f32 = 20.0;

/// All curves, one below the other.
pub fn curves_ui(ui: &mut Ui, learning: &Learning) {
    let palette = Palette::of(ui);
    let room = ui.available_height() - 3.0 * HEADING - 16.0;
    let run = learning.run();
    ui.spacing_mut().item_spacing.y = 2.0;
    heading(
        ui,
        "Bits per sequence",
        "what an answer still costs: 0 is right and certain",
    );
    loss_ui(ui, learning, room * SHARES[0], palette);
    heading(ui, "Gradient", "Euclidean norm before clipping");
    let account = run.account.as_deref();
    norm_ui(ui, account, learning, room * SHARES[1], palette);
    let size = run.experiment.task.size_name();
    heading(
        ui,
        &format!("Wrong bits by {size}"),
        "share of the answer, lately",
    );
    sizes_ui(ui, run, room * SHARES[2], palette);
}

fn heading(ui: &mut Ui, words: &str, explained: &str) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.set_height(HEADING);
        ui.label(
            RichText::new(words)
                .font(theme::heading(13.0))
                .color(palette.strong),
        );
        let rest = RichText::new(explained)
            .font(theme::text(11.0))
            .color(palette.subdued);
        ui.add(egui::Label::new(rest).truncate());
    });
}

/// log₁₀ of what is shown, never less than the least.
fn log(value: f64) -> f64 {
    value.max(LEAST).log10()
}

/// Marks at every power of ten, and fainter ones between.
fn decades((low, high): (f64, f64)) -> Vec<GridMark> {
    let powers = low.floor() as i32..=high.ceil() as i32;
    let marks = powers.flat_map(|power| {
        (1..10).map(move |digit| GridMark {
            value: f64::from(power) + f64::from(digit).log10(),
            step_size: if digit == 1 { 1.0 } else { 0.1 },
        })
    });
    marks.collect()
}

/// A power of ten as people write it.
fn power(mark: GridMark) -> String {
    if mark.step_size < 1.0 {
        return String::new();
    }
    number(10f64.powf(mark.value))
}

/// A number on an axis or under the pointer.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        m if m >= 1e6 => format!("{} M", numbers::short((value / 1e6) as f32, 2)),
        m if m >= 1e4 => format!("{} k", numbers::short((value / 1e3) as f32, 1)),
        m if m >= 10.0 => format!("{value:.0}"),
        m if m >= 1.0 && value.fract() == 0.0 => format!("{value:.0}"),
        _ => numbers::short(value as f32, 4),
    }
}

/// A plot over sequences: moved and zoomed by dragging and by the wheel, whole again by a double click.
fn over_sequences<'a>(name: &str, height: f32, palette: &Palette) -> Plot<'a> {
    Plot::new(name.to_owned())
        .height(height.max(60.0))
        .allow_scroll(false)
        .allow_zoom(Vec2b::TRUE)
        .allow_drag(Vec2b::TRUE)
        .show_background(true)
        .grid_color(palette.line)
        .x_grid_spacer(|input: GridInput| decades(input.bounds))
        .x_axis_formatter(|mark, _| power(mark))
        .y_axis_min_width(44.0)
        .label_formatter(|at| match at {
            HoverPosition::NearDataPoint {
                plot_name,
                position,
                ..
            } => Some(format!(
                "{plot_name}\n{} after {} sequences",
                number(10f64.powf(position.y)),
                number(10f64.powf(position.x)),
            )),
            HoverPosition::Elsewhere { .. } => None,
        })
}

fn points(account: &Account, of: impl Fn(&Point) -> f64) -> Vec<PlotPoint> {
    let points = account.curve.points().iter();
    let at = |point: &Point| PlotPoint::new(log(point.sequences as f64), log(of(point)));
    points.map(at).collect()
}

fn smoothed(account: &Account, of: impl Fn(&Point) -> f64) -> Vec<PlotPoint> {
    let means = account.curve.smoothed(SMOOTH, of);
    let points = account.curve.points().iter().zip(means);
    let at = |(point, mean): (&Point, f64)| PlotPoint::new(log(point.sequences as f64), log(mean));
    points.map(at).collect()
}

fn loss_ui(ui: &mut Ui, learning: &Learning, height: f32, palette: &Palette) {
    let legend = Legend::default()
        .position(Corner::LeftBottom)
        .text_style(egui::TextStyle::Small)
        .background_alpha(0.6);
    let plot = over_sequences("bits per sequence", height, palette)
        .legend(legend)
        .y_grid_spacer(|input: GridInput| decades(input.bounds))
        .y_axis_formatter(|mark, _| power(mark));
    let several = learning.runs.len() > 1;
    plot.show(ui, |ui| {
        for (index, run) in learning.runs.iter().enumerate() {
            let Some(account) = run.account.as_deref() else {
                continue;
            };
            let hue = color(palette.data.line(index));
            let is_chosen = index == learning.chosen;
            if is_chosen {
                let raw = points(account, |point| point.bits);
                let faint = hue.gamma_multiply(0.35);
                ui.line(
                    Line::new("each update", raw_points(&raw))
                        .color(faint)
                        .width(1.0),
                );
                let validated: Vec<_> = account
                    .history
                    .iter()
                    .map(|point| {
                        [
                            log(point.sequences as f64),
                            log(point.validation.bits_per_sequence),
                        ]
                    })
                    .collect();
                ui.points(
                    Points::new("validation", validated)
                        .color(palette.accent)
                        .radius(2.5),
                );
            }
            let name = if several { run.label.as_str() } else { "mean" };
            let width = if is_chosen { 2.0 } else { 1.2 };
            let mean = smoothed(account, |point| point.bits);
            ui.line(Line::new(name, raw_points(&mean)).color(hue).width(width));
        }
        for (bits, words) in &learning.run().landmarks {
            let line = HLine::new(*words, log(*bits)).color(palette.subdued);
            ui.hline(line.style(LineStyle::dashed_dense()).width(1.0));
        }
        moment(learning, palette.accent, |line| ui.vline(line));
    });
}

fn raw_points(points: &[PlotPoint]) -> Vec<[f64; 2]> {
    points.iter().map(|point| [point.x, point.y]).collect()
}

/// Where the machine on screen stands, while that is not now.
fn moment(learning: &Learning, ink: Color32, draw: impl FnOnce(VLine)) {
    let snapshot = learning
        .moment
        .and_then(|moment| learning.snapshots().get(moment));
    if let Some(snapshot) = snapshot {
        draw(
            VLine::new("on screen", log(snapshot.sequences as f64))
                .color(ink)
                .width(1.5),
        );
    }
}

fn norm_ui(
    ui: &mut Ui,
    account: Option<&Account>,
    learning: &Learning,
    height: f32,
    palette: &Palette,
) {
    let plot = over_sequences("gradient", height, palette)
        .y_grid_spacer(|input: GridInput| decades(input.bounds))
        .y_axis_formatter(|mark, _| power(mark));
    plot.show(ui, |ui| {
        if let Some(account) = account {
            let hue = color(palette.data.line(learning.chosen));
            let raw = raw_points(&points(account, |point| point.norm));
            ui.line(
                Line::new("each update", raw)
                    .color(hue.gamma_multiply(0.35))
                    .width(1.0),
            );
            let mean = raw_points(&smoothed(account, |point| point.norm));
            ui.line(Line::new("mean", mean).color(hue).width(2.0));
        }
        moment(learning, palette.accent, |line| ui.vline(line));
    });
}

fn sizes_ui(ui: &mut Ui, run: &Taught, height: f32, palette: &Palette) {
    let size = run.experiment.task.size_name();
    let sizes = run.experiment.task.size();
    let plot = Plot::new("sizes")
        .height(height.max(60.0))
        .allow_scroll(false)
        .allow_zoom(Vec2b::FALSE)
        .allow_drag(Vec2b::FALSE)
        .grid_color(palette.line)
        .y_axis_min_width(44.0)
        .include_x(*sizes.start() as f64 - 0.5)
        .include_x(*sizes.end() as f64 + 0.5)
        .include_y(0.0)
        .include_y(0.5)
        .y_axis_formatter(|mark, _| format!("{:.0} %", 100.0 * mark.value))
        .label_formatter(move |at| match at {
            HoverPosition::NearDataPoint { position, .. } => Some(format!(
                "{size} {:.0}: {:.1} % of the bits are wrong",
                position.x,
                100.0 * position.y
            )),
            HoverPosition::Elsewhere { .. } => None,
        });
    plot.show(ui, |ui| {
        let answers = run
            .account
            .iter()
            .flat_map(|account| account.answers.each());
        let bars: Vec<Bar> = answers
            .map(|(size, _, wrong)| Bar::new(size as f64, wrong).width(0.7))
            .collect();
        ui.bar_chart(BarChart::new("wrong bits", bars).color(palette.accent));
    });
}
