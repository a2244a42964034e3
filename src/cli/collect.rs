//! `tapescope sweep --collect`: what many runs say together, as tables, as JSON and as a picture.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::table::{Column, Format, Table};
use super::{Usage, note, threads};
use crate::figure::Format as Picture;
use crate::figure::curves::{Curve, learning_curves};
use crate::io::sweep::{
    Failure, Found, Pair, Run, Setting, State, Summary, by_setting, find, to_json,
};
use crate::io::{RunFolder, label, picture, weights};
use crate::train::{UNSEEN_SEED, evaluate, thin};

/// The most points of a learning curve in a table; JSON has them all.
const MOST_POINTS: usize = 12;
/// Pixels per unit of the page.
const PNG_SCALE: f32 = 2.0;

/// What is to be gathered, and how it is to be shown.
pub(super) struct Collect<'a> {
    pub(super) folders: &'a [PathBuf],
    /// Bits per sequence below which a run has succeeded.
    pub(super) threshold: f64,
    /// How many fresh episodes to measure the best weights on.
    pub(super) fresh: Option<usize>,
    pub(super) format: Format,
    pub(super) svg: Option<&'a Path>,
}

impl Collect<'_> {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let picture = self.svg.map(picture_format).transpose()?;
        let mut found = find(self.folders)?;
        let damaged = found.damaged.len();
        let all = damaged + found.runs.len();
        for error in &found.damaged {
            note(&error.to_string());
        }
        let (mut settings, twice) = by_setting(std::mem::take(&mut found.runs));
        for folder in twice {
            note(&format!(
                "{}: left out, this setting and seed are there already",
                label(&folder)
            ));
        }
        for run in settings.iter_mut().flat_map(|setting| &mut setting.runs) {
            unfinished(run);
            if let Some(episodes) = self.fresh {
                run.fresh = fresh(run, episodes);
            }
        }
        never_started(&found);
        if let (Some(path), Some(format)) = (self.svg, picture) {
            self.draw(path, format, &settings)?;
        }
        if self.format == Format::Json {
            writeln!(
                out,
                "{}",
                to_json(&settings, &found, self.threshold, self.fresh)
            )?;
        } else {
            self.summaries(out, &settings)?;
            self.curves(out, &settings)?;
        }
        if damaged > 0 {
            let problem =
                format!("{damaged} of {all} runs and plans cannot be read and are not counted");
            return Err(Usage(problem).into());
        }
        Ok(())
    }

    fn draw(&self, path: &Path, format: Picture, settings: &[Setting]) -> anyhow::Result<()> {
        let curve = |setting: &Setting| Curve {
            label: setting.label.clone(),
            points: setting.curve(),
        };
        let curves: Vec<Curve> = settings.iter().map(curve).collect();
        let drawing = learning_curves(&curves, self.threshold, false);
        let bytes = match format {
            Picture::Png => drawing.to_png(PNG_SCALE),
            _ => drawing.to_svg().into_bytes(),
        };
        picture::write(path, &bytes)?;
        note(&format!("{}: the learning curves", label(path)));
        Ok(())
    }

    fn summaries(&self, out: &mut impl Write, settings: &[Setting]) -> std::io::Result<()> {
        let is_fresh = self.fresh.is_some();
        let asked = |(heading, ..): &&Measured| is_fresh || !heading.starts_with("fresh");
        let measured: Vec<_> = MEASURED.iter().filter(asked).collect();
        let labels = settings.iter().map(|setting| setting.label.as_str());
        let numbers = measured
            .iter()
            .map(|(heading, width, _)| Column::numbers(heading, *width));
        let table = Table {
            columns: std::iter::once(Column::words("setting", labels))
                .chain(numbers)
                .collect(),
            is_markdown: self.format == Format::Markdown,
        };
        table.head(out)?;
        for setting in settings {
            let summary = setting.summary(self.threshold, is_fresh);
            let cells = measured.iter().map(|(.., cell)| cell(&summary));
            let cells: Vec<String> = std::iter::once(setting.label.clone())
                .chain(cells)
                .collect();
            table.row(out, &cells)?;
        }
        let criterion = match self.fresh {
            None => "best validation".to_owned(),
            Some(episodes) => format!("best weights on {episodes} fresh episodes"),
        };
        writeln!(
            out,
            "\nSuccess: {criterion} below {} bits per sequence.\n\
             Sequences (median, worst) and seconds (median) until the first validation below it, in the runs that\n\
             have one; bits of the best and the last validation (medians), and of the worst one after.",
            self.threshold
        )
    }

    fn curves(&self, out: &mut impl Write, settings: &[Setting]) -> std::io::Result<()> {
        let table = Table {
            columns: vec![
                Column::words(
                    "setting",
                    settings.iter().map(|setting| setting.label.as_str()),
                ),
                Column::numbers("sequences", 0),
                Column::numbers("runs", 0),
                Column::numbers("median", 8),
                Column::numbers("min", 8),
                Column::numbers("max", 8),
            ],
            is_markdown: self.format == Format::Markdown,
        };
        if settings.iter().all(|setting| setting.curve().is_empty()) {
            return Ok(());
        }
        writeln!(out, "\nLearning curves: validation in bits per sequence\n")?;
        table.head(out)?;
        for setting in settings {
            for point in thin(&setting.curve(), MOST_POINTS) {
                let cells = [
                    setting.label.clone(),
                    point.sequences.to_string(),
                    point.runs.to_string(),
                    bits(Some(point.median)),
                    bits(Some(point.lowest)),
                    bits(Some(point.highest)),
                ];
                table.row(out, &cells)?;
            }
        }
        Ok(())
    }
}

/// A column of the summaries: its heading, the width of its widest cell where that is known, and a cell.
type Measured = (&'static str, usize, fn(&Summary) -> String);

/// What is said of a setting. The last two stand there where the weights were measured on fresh episodes.
const MEASURED: [Measured; 10] = [
    ("runs", 0, |all| all.runs.to_string()),
    ("success", 0, |all| {
        let share = 100.0 * all.successes as f64 / all.runs.max(1) as f64;
        format!("{share:.0}%")
    }),
    ("sequences", 0, |all| decimals(median(all.sequences), 0)),
    ("worst", 9, |all| decimals(worst(all.sequences), 0)),
    ("seconds", 0, |all| decimals(median(all.seconds), 1)),
    ("best", 8, |all| bits(median(all.best))),
    ("last", 8, |all| bits(median(all.last))),
    ("after", 8, |all| bits(all.worst_after.map(|worst| worst.0))),
    ("fresh", 8, |all| bits(median(all.fresh))),
    ("fresh worst", 11, |all| bits(worst(all.fresh))),
];

fn median(pair: Option<Pair>) -> Option<f64> {
    pair.map(|pair| pair.median.0)
}

fn worst(pair: Option<Pair>) -> Option<f64> {
    pair.map(|pair| pair.worst.0)
}

fn decimals(value: Option<f64>, count: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.count$}"))
}

fn bits(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(bits) if bits.is_finite() => format!("{bits:.3}"),
        Some(_) => "no number".to_owned(),
    }
}

/// What to write, by the end of the name.
fn picture_format(path: &Path) -> Result<Picture, Usage> {
    match Picture::of(path) {
        Some(format @ (Picture::Svg | Picture::Png)) => Ok(format),
        _ => Err(Usage(format!(
            "--svg {}: expected a name that ends in .svg or .png",
            label(path)
        ))),
    }
}

/// Says what became of a run that is not finished, and what of its log is not counted.
fn unfinished(run: &Run) {
    let folder = label(&run.folder);
    if run.unfounded > 0 {
        let count = run.unfounded;
        note(&format!(
            "{folder}: the last {count} validations of its log are left out: they are of weights that are not there"
        ));
    }
    let state = match &run.state {
        State::Finished => return,
        State::Running(holder) => format!("is being trained by {holder}"),
        State::Failed(failure) => failure.words().to_owned(),
        State::Interrupted => "interrupted".to_owned(),
    };
    let done = run.points.last().map_or(0, |point| point.sequences);
    note(&format!(
        "{folder}: {state}; its last validation is after {done} of {} sequences",
        run.experiment.training.sequences
    ));
}

/// Says which runs were planned and have not begun.
fn never_started(found: &Found) {
    const MOST: usize = 5;
    let missing = &found.missing;
    for (folder, failure) in missing {
        if let Some(failure) = failure {
            note(&format!("{}: {}", label(folder), failure.words()));
        }
    }
    if missing.is_empty() {
        return;
    }
    let name = |(folder, _): &(PathBuf, Option<Failure>)| label(folder);
    let mut names: Vec<String> = missing.iter().take(MOST).map(name).collect();
    if missing.len() > MOST {
        names.push("…".to_owned());
    }
    note(&format!(
        "{} of {} runs never started: {}",
        missing.len(),
        found.planned.len(),
        names.join(", ")
    ));
}

/// Bits per sequence of the best weights of a run on fresh episodes; `None` where there are none to read.
fn fresh(run: &Run, episodes: usize) -> Option<f64> {
    let trained = RunFolder::weights_at(&run.folder).and_then(|path| weights::read(&path));
    match trained {
        Ok(trained) => {
            let task = &run.experiment.task;
            let result = evaluate(&trained.machine, task, UNSEEN_SEED, episodes, threads(None));
            Some(result.bits_per_sequence)
        }
        Err(error) => {
            note(&format!("{error}; not measured"));
            None
        }
    }
}
