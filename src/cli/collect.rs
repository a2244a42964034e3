//! `tapescope sweep --collect`: the joint results of many runs, as tables, as JSON and as a picture.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;

use super::arguments::{MOST_EPISODES, threads, up_to};
use super::machine::check_size;
use super::measured::aux_losses;
use super::message::note;
use super::table::{Cell, Column, Format, Table};
use crate::figure::chart::curves::{Curve, learning_curves};
use crate::figure::chart::page::Charts;
use crate::figure::{Format as Picture, Pages};
use crate::io::measurement::Number;
use crate::io::sweep::{
    FoundRuns, MedianAndWorst, Run, Setting, State, Summary, by_setting, find, to_json,
};
use crate::io::{Experiment, label, picture};
use crate::math::Answer;
use crate::train::{Demand, Measurement, Spread, UNSEEN_SEED, thin};

/// The most points of a learning curve in a table; JSON has them all.
const MOST_POINTS: usize = 12;
/// Pixels per unit of the page.
const PNG_SCALE: f32 = 2.0;

/// Options of `sweep --collect`: which runs to collect and how to show them.
#[derive(Debug, Args)]
pub(super) struct Collect {
    /// Collect the runs in these folders instead of training.
    #[arg(long = "collect", value_name = "DIR", num_args = 1.., id = "collect",
          conflicts_with_all = ["preset", "seeds", "shard", "overrides", "sequences", "grids", "out", "jobs", "dry_run"])]
    pub(super) folders: Vec<PathBuf>,
    /// Names for some experiments, and only their runs; empty: all runs, called by what is different.
    #[arg(skip)]
    pub(super) named: Vec<(String, Experiment)>,
    /// With --collect: bits per sequence below which a run succeeds; the default suits tasks with optimum 0,
    /// N-grams need 134.
    #[arg(long, value_name = "BITS", default_value_t = 0.1, conflicts_with = "preset",
          value_parser = threshold, allow_negative_numbers = true)]
    pub(super) threshold: f64,
    /// With --collect: judge by the best weights on this many fresh episodes [default if given: 500].
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "500", conflicts_with = "preset",
          value_parser = up_to(MOST_EPISODES), allow_negative_numbers = true)]
    pub(super) fresh: Option<usize>,
    /// With --collect: format of the tables.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, conflicts_with = "preset")]
    pub(super) format: Format,
    /// With --collect: draw the learning curves into this file (.svg or .png), with redundancy, divergence and reward
    /// below, each on its own axis.
    #[arg(long, value_name = "FILE.SVG", conflicts_with = "preset")]
    pub(super) svg: Option<PathBuf>,
}

pub(super) fn threshold(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(bits) if bits > 0.0 && f64::is_finite(bits) => Ok(bits),
        _ => Err("expected a loss per sequence, a number above 0".to_owned()),
    }
}

/// Writes charts as a picture, and says what it shows.
pub(super) fn draw(
    (path, format): (&Path, Picture),
    charts: &Charts,
    what: &str,
) -> anyhow::Result<()> {
    let drawing = charts.draw();
    let bytes = match format {
        Picture::Png => drawing.to_png(PNG_SCALE),
        _ => drawing.to_svg().into_bytes(),
    };
    picture::write(path, &bytes)?;
    note(&format!("{}: {what}", label(path)));
    Ok(())
}

impl Collect {
    /// The settings that have a name, in the order of the names and called by them; all of them where there are none.
    fn named(&self, mut settings: Vec<Setting>) -> Vec<Setting> {
        if self.named.is_empty() {
            return settings;
        }
        let mut called = Vec::new();
        for (name, named) in &self.named {
            let is_of = |Run { experiment: of, .. }: &Run| {
                let mut training = named.training.clone();
                training.seed = of.training.seed;
                (&named.task, &named.model, &training) == (&of.task, &of.model, &of.training)
            };
            let own = |setting: &mut Setting| setting.runs.first().is_some_and(is_of);
            called.extend(settings.extract_if(.., own).map(|setting| Setting {
                label: name.clone(),
                ..setting
            }));
        }
        called
    }

    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let svg = self.svg.as_deref();
        let picture = svg.map(|path| picture_format("--svg", path)).transpose()?;
        let mut found = find(&self.folders, self.fresh.is_some())?;
        let damaged = found.damaged.len();
        let all = damaged + found.runs.len();
        for error in &found.damaged {
            note(&error.to_string());
        }
        let (mut settings, twice) = by_setting(std::mem::take(&mut found.runs));
        for folder in twice.iter().map(|folder| label(folder)) {
            note(&format!(
                "{folder}: skipped, duplicate of a run with the same setting and seed"
            ));
        }
        settings = self.named(settings);
        for run in settings.iter_mut().flat_map(|setting| &mut setting.runs) {
            unfinished(run);
            if let Some(episodes) = self.fresh {
                run.fresh = fresh(run, episodes)?;
            }
        }
        never_started(&found);
        if let (Some(path), Some(format)) = (svg, picture) {
            self.draw(path, format, &settings)?;
        }
        if self.format == Format::Json {
            let json = to_json(&settings, &found, self.threshold, self.fresh);
            writeln!(out, "{json}")?;
        } else {
            self.summaries(out, &settings)?;
            if self.format.is_for_people() {
                self.curves(out, &settings)?;
            }
        }
        ensure!(
            damaged == 0,
            "{damaged} of {all} runs and plans cannot be read and are not counted; see the messages above"
        );
        Ok(())
    }

    fn draw(&self, path: &Path, format: Picture, settings: &[Setting]) -> anyhow::Result<()> {
        let curve = |setting: &Setting| Curve {
            label: setting.label.clone(),
            points: setting.curve(),
            aux: setting.aux_curves(),
        };
        let curves: Vec<Curve> = settings.iter().map(curve).collect();
        let charts = learning_curves(&curves, answer(settings), self.threshold, false);
        draw((path, format), &charts, "learning curves")
    }

    fn summaries(&self, out: &mut impl Write, settings: &[Setting]) -> std::io::Result<()> {
        let mut columns: Vec<Column<(&str, Summary)>> = vec![
            Column::words("setting", labels(settings), |row| row.0.to_owned()),
            Column::numbers("runs", 0, |(_, all)| all.runs.into()),
            Column::numbers("success", 0, |(_, all)| {
                Cell::Percent(all.successes as f64 / all.runs.max(1) as f64, 0)
            }),
            Column::numbers("sequences", 0, |row| decimals(median(row.1.sequences), 0)),
            Column::numbers("worst", 9, |row| decimals(worst(row.1.sequences), 0)),
            Column::numbers("seconds", 0, |row| decimals(median(row.1.seconds), 1)),
            Column::numbers("best", 8, |row| bits(median(row.1.best))),
            Column::numbers("last", 8, |row| bits(median(row.1.last))),
            Column::numbers("after", 8, |row| bits(row.1.worst_after)),
        ];
        let runs = settings.iter().flat_map(|setting| &setting.runs);
        columns.extend(aux_losses(
            runs.map(|run| &run.experiment),
            |row: &(_, Summary)| decimals(median(row.1.redundancy), 4),
            |row| decimals(median(row.1.head_divergence), 4),
            |row| decimals(median(row.1.divergence), 4),
        ));
        if self.fresh.is_some() {
            let fresh_worst = |row: &(_, Summary)| bits(worst(row.1.fresh));
            columns.push(Column::numbers("fresh", 8, |row| bits(median(row.1.fresh))));
            columns.push(Column::numbers("fresh worst", 11, fresh_worst));
        }
        let format = self.format;
        let table = Table { columns, format };
        table.head(out)?;
        for setting in settings {
            let summary = setting.summary(self.threshold, self.fresh.is_some());
            table.row(out, &(&setting.label, summary))?;
        }
        if !self.format.is_for_people() {
            return Ok(());
        }
        let criterion = match self.fresh {
            None => "best validation".to_owned(),
            Some(episodes) => format!("best weights on {episodes} fresh episodes"),
        };
        let measure = answer(settings).measure();
        writeln!(
            out,
            "\nSuccess: {criterion} below {} {measure} per sequence.\n\
             Sequences (median, worst) and seconds (median) to the first validation below it, over the runs that\n\
             have one; {measure} of the best and the last validation (medians), and of the worst validation after it.",
            self.threshold
        )
    }

    fn curves(&self, out: &mut impl Write, settings: &[Setting]) -> std::io::Result<()> {
        let columns: Vec<Column<(&str, Spread)>> = vec![
            Column::words("setting", labels(settings), |row| row.0.to_owned()),
            Column::numbers("sequences", 0, |row| Cell::Whole(row.1.sequences)),
            Column::numbers("runs", 0, |row| row.1.runs.into()),
            Column::numbers("median", 8, |row| bits(Some(Number(row.1.median)))),
            Column::numbers("min", 8, |row| bits(Some(Number(row.1.lowest)))),
            Column::numbers("max", 8, |row| bits(Some(Number(row.1.highest)))),
        ];
        let format = self.format;
        let table = Table { columns, format };
        if settings.iter().all(|setting| setting.curve().is_empty()) {
            return Ok(());
        }
        let measure = answer(settings).measure();
        writeln!(
            out,
            "\nLearning curves: validation in {measure} per sequence\n"
        )?;
        table.head(out)?;
        for setting in settings {
            for point in thin(&setting.curve(), MOST_POINTS) {
                table.row(out, &(&setting.label, point))?;
            }
        }
        Ok(())
    }
}

/// The form of the answers.
fn answer(settings: &[Setting]) -> Answer {
    let mut runs = settings.iter().flat_map(|setting| &setting.runs);
    runs.next()
        .map_or(Answer::Bits, |run| run.experiment.task.answer())
}

fn labels(settings: &[Setting]) -> impl Iterator<Item = &str> {
    settings.iter().map(|setting| setting.label.as_str())
}

fn median(pair: Option<MedianAndWorst>) -> Option<Number> {
    pair.map(|pair| pair.median)
}

fn worst(pair: Option<MedianAndWorst>) -> Option<Number> {
    pair.map(|pair| pair.worst)
}

fn decimals(value: Option<Number>, count: usize) -> Cell {
    Cell::Decimals(value.map(|Number(value)| value), count)
}

fn bits(value: Option<Number>) -> Cell {
    // Errors of real values are small.
    let is_small = value.is_some_and(|Number(value)| value > 0.0 && value < 1e-3);
    decimals(value, if is_small { 7 } else { 3 })
}

/// Returns the format of a picture by the end of its file name.
pub(super) fn picture_format(option: &str, path: &Path) -> anyhow::Result<Picture> {
    match Picture::of(path) {
        Some(format @ (Picture::Svg | Picture::Png)) => Ok(format),
        _ => bail!(
            "{option} {}: expected a file name that ends in .svg or .png",
            label(path)
        ),
    }
}

/// Reports the state of an unfinished run, and the validations of its log that are ignored.
fn unfinished(run: &Run) {
    let folder = label(&run.folder);
    if run.unbacked > 0 {
        let count = run.unbacked;
        note(&format!(
            "{folder}: ignores the last {count} validations of the log, whose weights were not saved"
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
        "{folder}: {state}; last validation after {done} of {} sequences",
        run.experiment.training.sequences
    ));
}

/// Lists the planned runs that have not started.
fn never_started(found: &FoundRuns) {
    const MOST: usize = 5;
    let mut names = Vec::new();
    for (folder, failure) in &found.missing {
        names.push(label(folder));
        if let Some(failure) = failure {
            note(&format!("{}: {}", label(folder), failure.words()));
        }
    }
    let (missing, planned) = (names.len(), found.planned.len());
    if missing > MOST {
        names.splice(MOST.., ["…".to_owned()]);
    }
    if missing > 0 {
        let names = names.join(", ");
        note(&format!("{missing} of {planned} runs not started: {names}"));
    }
}

/// The best weights of a run on fresh episodes; `None` where there are none.
///
/// # Errors
/// There is not enough memory to measure.
fn fresh(run: &Run, episodes: usize) -> anyhow::Result<Option<Measurement>> {
    let folder = label(&run.folder);
    let Some(trained) = &run.trained else {
        note(&format!("{folder}: has no weights; not measured"));
        return Ok(None);
    };
    let experiment = run.experiment.clone();
    let experiment = experiment.with_episodes(&run.folder.join("log"));
    let experiment = experiment.inspect_err(|error| note(&format!("{error}; not measured")));
    let Ok(Experiment { task, .. }) = experiment else {
        return Ok(None);
    };
    let (threads, samples) = (threads(None).min(episodes), 0);
    let demand = Demand::Measuring { threads, samples };
    let config = &trained.machine.config;
    check_size(config, &task, demand, &folder)?;
    let evaluator = trained.evaluator(&task, UNSEEN_SEED, episodes);
    Ok(Some(evaluator.measure(threads)))
}
