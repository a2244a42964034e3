//! Charts of training, for the window and for figures.

use crate::figure::HeadName;
use crate::figure::chart::data::{Across, Chart, Form, Hue, LEAST, Line, Up};
use crate::figure::facts::numbers::brief;
use crate::io::paper;
use crate::learn::{Point, RunProgress};
use crate::train::{Clip, HeadDiagnostics};
use crate::viewer::state::learning::{LiveTraining, RunView};

/// A mean is over this share of the sequences before it, its band over this one.
const SMOOTH: f64 = 0.2;
const BAND: f64 = 0.03;
/// Number of observations of a head that are averaged: one episode is noisy.
const LOOKS: usize = 8;
/// The most points of a line: more than that are finer than pixels.
const MOST_POINTS: usize = 700;
/// Upper end of an axis of bits, in multiples of the chance level.
const BEYOND: f64 = 10.0;
/// Ratio of chance level to optimum from which an axis of bits is logarithmic.
const FAR: f64 = 3.0;

/// All charts, the one of the loss first.
pub fn charts(learning: &LiveTraining) -> Vec<Chart> {
    let run = learning.run();
    let (measured, heads) = (measured(learning, run), heads(run));
    std::iter::once(loss(learning))
        .chain(measured)
        .chain(heads)
        .collect()
}

/// Bits per sequence of every run, and of the one on screen all that is known of them.
pub fn loss(learning: &LiveTraining) -> Chart {
    loss_of(learning, |index| loss_lines(learning, index))
}

/// Bits per sequence of the run at this place: one line, and of the one on screen all that is known of them.
pub fn loss_lines(learning: &LiveTraining, index: usize) -> Vec<Line> {
    let run = &learning.runs[index];
    let Some(progress) = run.progress.as_deref() else {
        return Vec::new();
    };
    let several = learning.runs.len() > 1;
    let label = run.label();
    let name = if several { &label } else { "mean" };
    let hue = Hue::Line(index);
    if index != learning.chosen {
        return vec![Line {
            form: Form::Thin,
            band: Vec::new(),
            ..mean(progress, name, hue, |point| (point.bits, point.ends))
        }];
    }
    let mut lines = vec![mean(progress, name, hue, |point| (point.bits, point.ends))];
    if !progress.history.is_empty() {
        let points = progress.history.iter();
        let points = points.map(|point| {
            let bits = point.validation.bits_per_sequence;
            [point.sequences as f64, bits]
        });
        lines.push(Line {
            name: "validation".to_owned(),
            hue: Hue::Accent,
            form: Form::Dots,
            points: thinned(points.collect()),
            band: Vec::new(),
        });
    }
    lines
}

/// Returns the loss chart with these lines.
pub fn loss_of(learning: &LiveTraining, lines: impl FnMut(usize) -> Vec<Line>) -> Chart {
    let run = learning.run();
    let lines: Vec<Line> = (0..learning.runs.len()).flat_map(lines).collect();
    let mut levels: Vec<_> = run
        .landmarks
        .iter()
        .map(|(bits, words)| (*bits, format!("{words} ({} bits)", brief(*bits))))
        .collect();
    let reported = paper::figure(&run.experiment.model, &run.experiment.task);
    let paper = match reported.map(|paper| (paper.words, paper.bits.filter(|bits| *bits > 0.0))) {
        Some((words, Some(level))) => {
            levels.push((level, format!("paper: {words}")));
            String::new()
        }
        Some((words, None)) => format!(" Paper: {words}."),
        None => String::new(),
    };
    let chart = Chart {
        name: "Loss per sequence (bits)".to_owned(),
        meaning: format!("0: every bit right and certain.{paper}"),
        across: Across::Sequences,
        up: scale(run),
        lines,
        levels,
        events: changes(run),
    };
    // One that diverges does not make all others a line at the bottom.
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let values = || {
        points()
            .map(|point| point[1])
            .filter(|bits| bits.is_finite())
    };
    let guessing = run.landmarks.first().map_or(f64::INFINITY, |mark| mark.0);
    let (most, least) = (BEYOND * guessing, values().fold(guessing, f64::min));
    match chart.up {
        Up::Logarithm if learning.runs.len() > 1 && values().any(|bits| bits > most) => Chart {
            up: Up::Decades([least.max(LEAST) / 2.0, most]),
            ..chart
        },
        _ => chart,
    }
}

/// Returns the scale of the axis; a loss that stays near the optimum has its own.
fn scale(run: &RunView) -> Up {
    let [guessing, best] = [0, 1].map(|index| run.landmarks.get(index).map(|mark| mark.0));
    match (guessing, best) {
        (Some(guessing), Some(best)) if guessing < FAR * best => {
            Up::From([0.9 * best, 1.1 * guessing])
        }
        _ => Up::Logarithm,
    }
}

/// Returns the charts of the gradient norm and of wrong bits by size.
pub fn measured(learning: &LiveTraining, run: &RunView) -> Vec<Chart> {
    let progress = run.progress.as_deref();
    let hue = Hue::Line(learning.chosen);
    let norm = |progress| {
        mean(progress, "mean", hue, |point: &Point| {
            (point.norm, [point.norm; 2])
        })
    };
    let clip = run.experiment.training.clip;
    let levels = match clip {
        Clip::GlobalNorm(limit) => vec![(limit, format!("clipped above {}", brief(limit)))],
        Clip::None | Clip::Elementwise(_) => Vec::new(),
    };
    let gradient = Chart {
        name: "Gradient".to_owned(),
        meaning: "Norm over all weights, before clipping.".to_owned(),
        across: Across::Sequences,
        up: Up::Logarithm,
        lines: progress.map(norm).into_iter().collect(),
        levels,
        events: changes(run),
    };
    let (name, sizes) = (run.experiment.task.size_name(), run.experiment.task.size());
    let answers = progress
        .into_iter()
        .flat_map(|progress| progress.errors_by_size.each());
    let answers: Vec<_> = answers.map(|(size, wrong)| [size as f64, wrong]).collect();
    let errors = Chart {
        name: format!("Wrong bits by {name}"),
        meaning: "Share in recent answers. Chance level: 50 %.".to_owned(),
        across: Across::Sizes(name, [*sizes.start() as f64, *sizes.end() as f64]),
        up: Up::Percent([0.0, 0.55]),
        lines: vec![Line {
            name: "wrong bits".to_owned(),
            hue: Hue::Accent,
            form: Form::Bars,
            points: answers,
            band: Vec::new(),
        }],
        levels: Vec::new(),
        events: Vec::new(),
    };
    vec![gradient, errors]
}

/// Something of a head, in a phase.
type Of = fn(&HeadDiagnostics, usize) -> Option<f64>;

/// Returns the charts of the heads: entropy, rows, gate.
pub fn heads(run: &RunView) -> Vec<Chart> {
    let Some(progress) = run.progress.as_deref() else {
        return Vec::new();
    };
    let rows = run.experiment.model.rows();
    if run.experiment.model.heads() == 0 {
        return Vec::new();
    }
    let all = (rows as f64).log2();
    let chart = |name: &str, meaning: String, up: Up, phases: &[&str], of: Of| {
        let lines = lines(run, progress, phases, of);
        (!lines.is_empty()).then(|| Chart {
            name: name.to_owned(),
            meaning,
            across: Across::Sequences,
            up,
            lines,
            levels: Vec::new(),
            events: changes(run),
        })
    };
    let both = ["input", "answer"];
    let entropy = chart(
        "Entropy of weightings",
        format!(
            "0 bits: one row. {}: uniform over {rows}. Dashed: answer.",
            brief(all)
        ),
        Up::From([0.0, 1.05 * all.max(0.1)]),
        &both,
        |head, phase| head.entropy[phase].map(|nats| nats / std::f64::consts::LN_2),
    );
    let used = chart(
        "Rows used",
        "Distinct rows visited in an episode.".to_owned(),
        Up::Logarithm,
        &[""],
        |head, _| Some(head.rows),
    );
    let gate = chart(
        "Gate",
        "1: content. 0: previous weighting. Dashed: answer.".to_owned(),
        Up::From([0.0, 1.05]),
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
        let reads = model.read_heads();
        let is_write = head >= reads;
        let place = if is_write { head - reads } else { head };
        let name = HeadName { is_write, place };
        for (phase, words) in phases.iter().enumerate() {
            let seen = progress
                .diagnostics
                .of_head(head, |diagnostics| of(diagnostics, phase));
            let points = seen.into_iter().map(|(at, value)| [at as f64, value]);
            let points = thinned(smoothed(&points.collect::<Vec<_>>()));
            if !points.is_empty() {
                lines.push(Line {
                    name: format!("{name} {words}").trim_end().to_owned(),
                    hue: Hue::Head(name),
                    form: if phase == 0 {
                        Form::Whole
                    } else {
                        Form::Dashed
                    },
                    points,
                    band: Vec::new(),
                });
            }
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

/// Returns the mean of a quantity with the band of all updates.
fn mean(
    progress: &RunProgress,
    name: &str,
    hue: Hue,
    of: impl Fn(&Point) -> (f64, [f64; 2]),
) -> Line {
    let curve = &progress.curve;
    let means = curve.smoothed(SMOOTH, |point| of(point).0);
    let points = curve.points().iter().zip(means);
    let points = points.map(|(point, mean)| [point.sequences as f64, mean]);
    Line {
        name: name.to_owned(),
        hue,
        form: Form::Whole,
        points: thinned(points.collect()),
        band: thinned(curve.range(BAND, |point| of(point).1)),
    }
}

/// Thins points to the number of pixels; always keeps the last one.
fn thinned<T: Copy>(all: Vec<T>) -> Vec<T> {
    let every = all.len().div_ceil(MOST_POINTS).max(1);
    if every == 1 {
        return all;
    }
    let last = all.len() - 1;
    let kept = all.iter().enumerate();
    let kept = kept.filter(|(index, _)| index % every == 0 || *index == last);
    kept.map(|(_, one)| *one).collect()
}

/// Returns the changes made during training.
fn changes(run: &RunView) -> Vec<(f64, String)> {
    let progress = run.progress.as_deref();
    let changes = progress.into_iter().flat_map(|progress| &progress.changes);
    changes
        .map(|change| (change.sequences as f64, change.set.join(", ")))
        .collect()
}
