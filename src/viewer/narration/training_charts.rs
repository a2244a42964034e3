//! Charts of training, for the window and for figures.

use std::sync::Arc;

use crate::figure::HeadName;
use crate::figure::chart::data::{Chart, Form, Hue, Line, MOST_POINTS, thinned};
use crate::figure::facts::numbers::brief;
use crate::figure::facts::ticks::{Axis, AxisKind};
use crate::io::paper;
use crate::learn::{Point, RunProgress};
use crate::math::Answer;
use crate::train::{self, Clip, HeadDiagnostics, HistoryPoint};
use crate::viewer::state::{LiveTraining, RunView};

/// A mean is over this share of the sequences before it, its band over this one.
const SMOOTH: f64 = 0.2;
const BAND: f64 = 0.03;
/// Number of observations of a head that are averaged: one episode is noisy.
const LOOKS: usize = 8;
/// Upper end of an axis of bits, in multiples of the chance level.
const BEYOND: f64 = 10.0;
/// The most points of a line on a card.
const ON_CARD: usize = 150;
/// The least loss on the card of a run, in bits per sequence.
const BEST: f64 = 0.01;
/// Ratio of chance level to optimum from which an axis of bits is logarithmic.
const FAR: f64 = 3.0;

/// All charts, the one of the loss first.
pub fn charts(learning: &LiveTraining) -> Vec<Chart> {
    let run = learning.run();
    let charts = std::iter::once(loss(learning));
    let charts = charts.chain(measured(learning, run));
    charts.chain(heads(run)).collect()
}

/// Bits per sequence of the run at this place: one line, and of the one on screen all that is known of them.
fn loss_lines(learning: &LiveTraining, index: usize) -> Vec<Line> {
    let run = &learning.runs[index];
    let several = learning.runs.len() > 1;
    let label = run.label();
    let name = if several { &label } else { "mean" };
    let hue = Hue::Line(index);
    let mut lines = lines_over_updates(run, "loss", |progress| {
        let mut mean = mean(progress, |point| (point.bits, point.ends));
        // A run from a file has only the means between validations.
        let first = progress.curve.points().first().map(|point| point.sequences);
        let earlier = progress.history.iter().filter(|point| {
            point.training_bits.is_finite() && first.is_none_or(|first| point.sequences < first)
        });
        let earlier = earlier.map(|point| [point.sequences as f64, point.training_bits]);
        mean.points.splice(0..0, thinned(earlier));
        let bits =
            |point: &HistoryPoint| [point.sequences as f64, point.validation.bits_per_sequence];
        let points = thinned(progress.history.iter().map(bits));
        vec![
            mean,
            Line::new("validation", Hue::Accent, Form::Dots, points),
        ]
    });
    if let Some(mean) = lines.first_mut() {
        (mean.name, mean.hue) = (name.to_owned(), hue);
    }
    if index == learning.chosen {
        lines.retain(|line| !line.points.is_empty());
        lines
    } else {
        lines.into_iter().take(1).map(thin).collect()
    }
}

/// Lines of a run, computed once while there is no news of it.
fn lines_over_updates(
    run: &RunView,
    what: &'static str,
    compute: impl FnOnce(&RunProgress) -> Vec<Line>,
) -> Vec<Line> {
    let Some(progress) = &run.progress else {
        return Vec::new();
    };
    let key = (what, Arc::as_ptr(progress) as usize, progress.sequences);
    run.lines.get(key, || compute(progress))
}

/// A line that is secondary to others.
fn thin(line: Line) -> Line {
    Line {
        form: Form::Thin,
        band: Vec::new(),
        ..line
    }
}

/// Returns the loss in bits per sequence of all runs.
pub fn loss(learning: &LiveTraining) -> Chart {
    let run = learning.run();
    let runs = 0..learning.runs.len();
    let lines: Vec<Line> = runs.flat_map(|index| loss_lines(learning, index)).collect();
    let answer = run.experiment.task.answer();
    let levels = run.landmarks.iter();
    let levels =
        levels.map(|(bits, words)| (*bits, format!("{words} ({})", answer.amount(&brief(*bits)))));
    let mut levels: Vec<_> = levels.collect();
    let mut meaning = match answer {
        Answer::Values(_) => "0: every value right.".to_owned(),
        _ => "0: every bit right and certain.".to_owned(),
    };
    if let Some(paper) = paper::figure(&run.experiment.model, &run.experiment.task) {
        match paper.bits.filter(|bits| *bits > 0.0) {
            Some(level) => levels.push((level, format!("paper: {}", paper.words))),
            None => meaning = format!("{meaning} Paper: {}.", paper.words),
        }
    }
    let across = sequences(&learning.runs);
    let up = scale(run, &lines, &levels, learning.runs.len() > 1);
    Chart {
        levels,
        events: changes(run),
        ..Chart::new(
            format!("Loss per sequence ({})", answer.measure()),
            meaning,
            across,
            up,
            lines,
        )
    }
}

/// Returns the loss on the card of a run: all cards have the same axes, from the first to the last sequence and from a
/// hundredth of a bit, or a thousandth of the error of guessing, to twice what guessing costs.
pub fn card(run: &RunView, line: Option<&Line>) -> Chart {
    let guessing = run.landmarks.first().map_or(1.0, |(bits, _)| *bits);
    let of = run.progress.as_ref().map_or(1, |progress| progress.of);
    // An error has the scale of its targets.
    let best = if run.experiment.task.answer().is_real() {
        guessing.max(f64::MIN_POSITIVE) / 1000.0
    } else {
        BEST
    };
    let top = (2.0 * guessing).max(10.0 * best);
    let across = ("sequences", Axis::sequences([1.0, of as f64]));
    let up = Axis::new(AxisKind::Logarithm, [best, top]);
    let coarse = |line: &Line| Line {
        points: train::thin(&line.points, ON_CARD),
        ..thin(line.clone())
    };
    let lines = line.map(coarse).into_iter().collect();
    Chart {
        levels: vec![(guessing, String::new())],
        ..Chart::new("", "", across, up, lines)
    }
}

/// A chart over the sequences of a run.
fn over_sequences(run: &RunView, name: &str, meaning: &str, up: Axis, lines: Vec<Line>) -> Chart {
    let across = sequences(std::slice::from_ref(run));
    Chart {
        events: changes(run),
        ..Chart::new(name, meaning, across, up, lines)
    }
}

/// The sequences of these runs, from the first point to now.
fn sequences(runs: &[RunView]) -> (&'static str, Axis) {
    let all = runs.iter().filter_map(|run| run.progress.as_deref());
    let firsts = all.clone().filter_map(|progress| {
        let points = progress.curve.points().first().map(|point| point.sequences);
        let history = progress.history.first().map(|point| point.sequences);
        points.into_iter().chain(history).min()
    });
    let last = all.map(|progress| progress.sequences).max().unwrap_or(1);
    let ends = [firsts.min().unwrap_or(1), last].map(|end| end as f64);
    ("sequences", Axis::sequences(ends))
}

/// Returns the vertical axis of the loss; one that stays near the optimum has its own.
fn scale(run: &RunView, lines: &[Line], levels: &[(f64, String)], several: bool) -> Axis {
    let [guessing, best] = [0, 1].map(|index| run.landmarks.get(index).map(|mark| mark.0));
    if let (Some(guessing), Some(best)) = (guessing, best)
        && guessing < FAR * best
    {
        return Axis::new(AxisKind::Linear, [0.9 * best, 1.1 * guessing]);
    }
    // One that diverges does not make all others a line at the bottom.
    let most = guessing.filter(|_| several).map(|bits| BEYOND * bits);
    over(lines, levels, most.unwrap_or(f64::INFINITY))
}

/// Returns the charts of the gradient norm and of wrong bits, symbols or values by size.
pub fn measured(learning: &LiveTraining, run: &RunView) -> Vec<Chart> {
    let progress = run.progress.as_deref();
    let hue = Hue::Line(learning.chosen);
    let of = |point: &Point| (point.norm, [point.norm; 2]);
    let levels = match run.experiment.training.clip {
        Clip::GlobalNorm(limit) => vec![(limit, format!("clipped above {}", brief(limit)))],
        Clip::None | Clip::Elementwise(_) => Vec::new(),
    };
    let mut lines = lines_over_updates(run, "gradient", |progress| vec![mean(progress, of)]);
    lines.iter_mut().for_each(|line| line.hue = hue);
    let up = over(&lines, &levels, f64::INFINITY);
    let meaning = "Norm over all weights, before clipping.";
    let gradient = Chart {
        levels,
        ..over_sequences(run, "Gradient", meaning, up, lines)
    };
    let (name, sizes) = (run.experiment.task.size_name(), run.experiment.task.size());
    let answers = progress.into_iter();
    let answers = answers.flat_map(|progress| progress.errors_by_size.each());
    let answers: Vec<_> = answers.map(|(size, wrong)| [size as f64, wrong]).collect();
    let ends = [*sizes.start() as f64 - 0.5, *sizes.end() as f64 + 0.5];
    let answer = run.experiment.task.answer();
    let (meaning, most) = match answer {
        Answer::Bits => ("Share in recent answers. Chance level: 50 %.", 0.55),
        _ => ("Share in recent answers.", 1.0),
    };
    let wrong = format!("wrong {}", answer.unit());
    let errors = Chart::new(
        wrong.replacen('w', "W", 1),
        meaning,
        (name, Axis::new(AxisKind::Whole, ends)),
        Axis::new(AxisKind::Percent, [0.0, most]),
        vec![Line::new(wrong, Hue::Accent, Form::Bars, answers)],
    );
    vec![gradient, errors]
}

/// A logarithmic axis over the points of lines up to `most`, and over levels.
fn over(lines: &[Line], levels: &[(f64, String)], most: f64) -> Axis {
    let points = lines.iter().flat_map(|line| &line.points);
    let points = points.map(|point| point[1]).filter(|value| *value <= most);
    Axis::log(points.chain(levels.iter().map(|level| level.0)))
}

/// Something of a head, in a phase.
type Of = fn(&HeadDiagnostics, usize) -> Option<f64>;

/// Returns the charts of the heads: entropy, rows, gate.
pub fn heads(run: &RunView) -> Vec<Chart> {
    let model = &run.experiment.model;
    if run.progress.is_none() || model.heads() == 0 {
        return Vec::new();
    }
    let rows = model.rows();
    let all = (rows as f64).log2();
    let chart = |name: &'static str, meaning: &str, most: Option<f64>, phases: &[&str], of: Of| {
        let lines = lines_over_updates(run, name, |progress| lines(run, progress, phases, of));
        let linear = |most| Axis::new(AxisKind::Linear, [0.0, most]);
        let up = most.map_or_else(|| over(&lines, &[], f64::INFINITY), linear);
        (!lines.is_empty()).then(|| over_sequences(run, name, meaning, up, lines))
    };
    let both = ["input", "answer"];
    let most = brief(all);
    let entropy = chart(
        "Entropy",
        &format!(
            "Of the weightings. 0 bits: one row. {most}: uniform over {rows}. Dashed: answer."
        ),
        Some(1.05 * all.max(0.1)),
        &both,
        |head, phase| head.entropy[phase].map(|nats| nats / std::f64::consts::LN_2),
    );
    let used = chart(
        "Rows used",
        "Distinct rows visited in an episode.",
        None,
        &[""],
        |head, _| Some(head.rows),
    );
    let gate = chart(
        "Gate",
        "1: content. 0: previous weighting. Dashed: answer.",
        Some(1.05),
        &both,
        |head, phase| head.gate[phase],
    );
    [entropy, used, gate].into_iter().flatten().collect()
}

/// A line per head and phase; those while it answers are dashed.
fn lines(
    run: &RunView,
    progress: &RunProgress,
    phases: &[&str],
    of: impl Fn(&HeadDiagnostics, usize) -> Option<f64>,
) -> Vec<Line> {
    let model = &run.experiment.model;
    let mut lines = Vec::new();
    for head in 0..model.heads() {
        let write = head.checked_sub(model.read_heads());
        let name = HeadName {
            is_write: write.is_some(),
            place: write.unwrap_or(head),
        };
        for (phase, words) in phases.iter().enumerate() {
            let diagnostics = &progress.diagnostics;
            let seen = diagnostics.of_head(head, |diagnostics| of(diagnostics, phase));
            let points = seen.into_iter().map(|(at, value)| [at as f64, value]);
            let points = thinned(smoothed(&points.collect::<Vec<_>>()));
            let form = [Form::Whole, Form::Dashed][phase];
            let name_and_phase = format!("{name} {words}");
            let line = Line::new(name_and_phase.trim_end(), Hue::Head(name), form, points);
            lines.extend(Some(line).filter(|line| !line.points.is_empty()));
        }
    }
    lines
}

/// Returns the moving mean of the last few points.
fn smoothed(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mean = |last: usize| {
        let few = &points[last.saturating_sub(LOOKS - 1)..=last];
        let sum: f64 = few.iter().map(|point| point[1]).sum();
        [points[last][0], sum / few.len() as f64]
    };
    (0..points.len()).map(mean).collect()
}

/// The mean of a quantity with the band of all updates.
fn mean(progress: &RunProgress, of: impl Fn(&Point) -> (f64, [f64; 2])) -> Line {
    let curve = &progress.curve;
    let points = curve.smoothed(SMOOTH, MOST_POINTS, |point| of(point).0);
    Line {
        band: curve.range(BAND, MOST_POINTS, |point| of(point).1),
        ..Line::new("mean", Hue::Accent, Form::Whole, points)
    }
}

/// Returns the changes made during training.
fn changes(run: &RunView) -> Vec<(f64, String)> {
    let progress = run.progress.as_deref();
    let changes = progress.into_iter().flat_map(|progress| &progress.changes);
    let told = changes.map(|change| (change.sequences as f64, change.set.join(", ")));
    told.collect()
}
