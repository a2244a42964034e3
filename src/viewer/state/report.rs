//! What many episodes of a machine have in common: wrong bits, a quantity in every step, and what its parts contribute.

use super::{EpisodeRequest, RecordingInputs};
use crate::analysis::lesion::{Effect, Lesion};
use crate::analysis::population::Summary;
use crate::analysis::repair::{Repair, best_first};
use crate::figure::chart::data::Chart;
use crate::figure::chart::page::Charts;
use crate::figure::chart::summary::{quantity, wrong};
use crate::figure::facts::numbers;
use crate::figure::narrate::failure::{explain, lesion_name};
use crate::figure::scene::layout::Scene;
use crate::figure::scene::paint::Draw;
use crate::figure::{Colours, Pages, Style};
use crate::io::intervention;
use crate::math::Answer;
use crate::model::{ModelConfig, Trace};
use crate::train::Recording;

/// The number of episodes that are measured.
pub const EPISODES: usize = 100;
/// The number of episodes in which parts are removed.
pub const REMOVALS: usize = 10;

/// The result, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The request of the first episode.
    of: EpisodeRequest,
    /// True where it is about this episode alone.
    is_of_one: bool,
    /// The machine, the length and the seeds.
    pub title: String,
    /// How many episodes are perfect, or what repairs the episode.
    pub summary: String,
    /// The quantity, if one was measured.
    pub quantity: String,
    /// The charts.
    pub charts: Vec<Chart>,
    /// The columns: the first has names, the others numbers.
    pub columns: Vec<Column>,
    /// Episodes, or removed parts after the whole machine.
    pub rows: Vec<ReportRow>,
    /// The column by which rows are sorted, and whether its lowest value comes first.
    pub sorted: (usize, bool),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The decimals of a number; `None` for a share in percent.
    decimals: Option<usize>,
}

/// An episode or a removed part.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportRow {
    /// What it is.
    pub name: String,
    /// A number for each column after the first.
    pub values: Vec<f64>,
    /// The seed of the episode.
    pub seed: Option<u64>,
    /// The interventions that remove the part.
    pub changes: Vec<String>,
}

impl ReportRow {
    /// A lesion; heads have the names that they have in the window.
    fn of(lesion: &Lesion, values: Vec<f64>, (config, trace): (&ModelConfig, &Trace)) -> Self {
        let changes = lesion.changes.iter();
        Self {
            name: lesion_name(lesion, trace),
            values,
            seed: None,
            changes: changes.map(|one| intervention::text(one, config)).collect(),
        }
    }

    /// True of the whole machine, which stays on top.
    pub fn is_whole(&self) -> bool {
        self.seed.is_none() && self.changes.is_empty() && self.name == "whole"
    }
}

fn columns(first: &str, others: &[(&str, Option<usize>)]) -> Vec<Column> {
    let all = [(first, None)].into_iter().chain(others.iter().copied());
    let column = |(name, decimals): (&str, _)| Column {
        name: name.to_owned(),
        decimals,
    };
    all.map(column).collect()
}

impl Report {
    /// True where it is about episodes like the requested one.
    pub fn is_of(&self, request: &EpisodeRequest) -> bool {
        let what = |of: &EpisodeRequest| (of.machine, of.size, of.repeats, of.rows);
        what(&self.of) == what(request) && (!self.is_of_one || self.of == request.plain())
    }

    fn new(
        inputs: &RecordingInputs,
        [perfect, count]: [usize; 2],
        columns: Vec<Column>,
        rows: Vec<ReportRow>,
    ) -> Self {
        let (title, request) = (&inputs.machine.title, &inputs.request);
        let (name, first) = (inputs.task().size_name(), request.seed);
        let last = first.wrapping_add(count as u64 - 1);
        let repeats = inputs.task().repeats().map(|_| request.repeats);
        let repeats = repeats.map_or_else(String::new, |of| format!(", {of} repeats"));
        let size = format!("{name} {}{repeats}", request.size);
        let mut report = Self {
            of: request.clone(),
            is_of_one: false,
            title: format!("{title}, {size}, seeds {first} to {last}"),
            summary: format!("{perfect} of {count} perfect"),
            quantity: String::new(),
            charts: Vec::new(),
            sorted: (0, true),
            columns,
            rows,
        };
        // The worst one first, by wrong bits: a machine that fails has a low loss without its heads.
        let wrong = report
            .columns
            .iter()
            .position(|it| it.name.starts_with("wrong"));
        report.sort(wrong.unwrap_or(0));
        report
    }

    /// The report on wrong bits, and on a quantity in every step if one is named.
    pub fn of_episodes(
        inputs: &RecordingInputs,
        text: &str,
        summary: &Summary,
        unit: &str,
    ) -> Self {
        let rows = summary.episodes.iter().map(|&(wrong, seed)| ReportRow {
            name: format!("seed {seed}"),
            values: vec![wrong as f64],
            seed: Some(seed),
            changes: Vec::new(),
        });
        let rows: Vec<ReportRow> = rows.collect();
        let perfect = rows.iter().filter(|row| row.values == [0.0]).count();
        let counts = [perfect, rows.len()];
        let bits = wrong(&format!("Wrong {unit}"), summary).into_iter();
        let bits = bits.filter(|_| perfect < counts[1]);
        let own = (!text.is_empty()).then(|| quantity(text, summary));
        let columns = columns("episode", &[(&format!("wrong {unit}"), Some(0))]);
        Self {
            quantity: text.to_owned(),
            charts: own.into_iter().chain(bits).collect(),
            ..Self::new(inputs, counts, columns, rows)
        }
    }

    /// The report on what is left of a machine without its parts.
    pub fn of_lesions(
        inputs: &RecordingInputs,
        effects: &[Effect],
        (config, trace): (&ModelConfig, &Trace),
        answer: Answer,
    ) -> Self {
        let rows = effects.iter().map(|effect| {
            let mean = &effect.mean;
            let values = vec![mean.perfect, mean.wrong_bits, mean.bits_per_sequence];
            ReportRow::of(&effect.lesion, values, (config, trace))
        });
        let whole = effects.first().map_or(0.0, |effect| effect.mean.perfect);
        let perfect = (whole * REMOVALS as f64).round() as usize;
        let wrong = format!("wrong {}", answer.unit());
        let others = [
            ("perfect", None),
            (&*wrong, Some(1)),
            (answer.loss_name(), Some(2)),
        ];
        let columns = columns("part", &others);
        Self::new(inputs, [perfect, REMOVALS], columns, rows.collect())
    }

    /// The report on what repairs an episode: the wrong bits that are left by each of these lesions.
    pub fn of_repairs(
        inputs: &RecordingInputs,
        mut repairs: Vec<Repair>,
        whole: &Recording,
        config: &ModelConfig,
    ) -> Self {
        best_first(&mut repairs);
        let unit = whole.episode.answer.unit();
        let rows = repairs.iter().map(|repair| {
            let values = vec![repair.share, repair.wrong as f64];
            ReportRow::of(&repair.lesion, values, (config, &whole.trace))
        });
        let rows = rows.collect();
        let others = [("repaired", None), (&*format!("wrong {unit}"), Some(0))];
        let mut report = Self::new(inputs, [0, 1], columns("part", &others), rows);
        report.sort(2);
        Self {
            is_of_one: true,
            title: format!("{}, with each part removed", whole.wrong_of_scored()),
            summary: explain(whole, &repairs).join("\n"),
            ..report
        }
    }

    /// Sorts by a column; once more, the other way round.
    pub fn sort(&mut self, by: usize) {
        let (before, rises) = self.sorted;
        self.sorted = (by, if before == by { !rises } else { by == 0 });
        let rises = self.sorted.1;
        let whole = usize::from(self.rows.first().is_some_and(ReportRow::is_whole));
        self.rows[whole..].sort_by(|a, b| {
            let order = match by.checked_sub(1) {
                Some(at) => a.values[at].total_cmp(&b.values[at]),
                None => (a.seed, &a.name).cmp(&(b.seed, &b.name)),
            };
            if rises { order } else { order.reverse() }
        });
    }

    /// The cells of a row behind its name.
    pub fn cells(&self, row: &ReportRow) -> Vec<String> {
        let cell = |(value, column): (&f64, &Column)| match column.decimals {
            Some(decimals) => format!("{value:.decimals$}"),
            None => numbers::percent(*value as f32),
        };
        row.values
            .iter()
            .zip(&self.columns[1..])
            .map(cell)
            .collect()
    }

    /// The share of a row in the largest number of the column that it is sorted by, 0 to 1.
    pub fn share(&self, row: &ReportRow) -> f64 {
        let at = self.sorted.0.saturating_sub(1);
        let most = self.rows.iter().map(|row| row.values[at]);
        (row.values[at] / most.fold(1e-9, f64::max)).max(0.0)
    }

    /// The table as CSV, with every digit.
    pub fn csv(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.clone());
        let mut lines = vec![names.collect::<Vec<_>>()];
        lines.extend(self.rows.iter().map(|row| {
            let values = row.values.iter().map(f64::to_string);
            std::iter::once(row.name.clone()).chain(values).collect()
        }));
        let lines = lines.iter().map(|cells| cells.join(",") + "\n");
        lines.collect()
    }
}

/// A report as a figure: its charts, and the table below them.
#[derive(Clone, Debug)]
pub struct ReportFigure {
    /// The report.
    pub report: Report,
    /// Light on dark.
    pub dark: bool,
}

/// Height of a row, and distance from the right edge of the page to that of the last column.
const ROW: f32 = 16.0;
const MARGIN: f32 = 24.0;
/// Width of a column.
const COLUMN: f32 = 100.0;

impl Pages for ReportFigure {
    fn scene(&self) -> Scene<'_> {
        let (report, dark) = (&self.report, self.dark);
        let (title, charts) = (report.title.clone(), report.charts.clone());
        let charts = Charts {
            title,
            charts,
            dark,
        };
        let (mut drawing, _) = charts.scene();
        let colours = Colours::for_theme(dark);
        let names = report.columns.iter().map(|column| column.name.clone());
        let rows = report.rows.iter().map(|row| {
            let cells = report.cells(row).into_iter();
            (
                colours.text,
                std::iter::once(row.name.clone()).chain(cells).collect(),
            )
        });
        let summary = (colours.strong, vec![report.summary.clone()]);
        let lines = [summary, (colours.subdued, names.collect())]
            .into_iter()
            .chain(rows);
        let right = drawing.width - MARGIN;
        for (ink, cells) in lines {
            let (y, last): (f32, usize) = (drawing.height + ROW / 2.0, report.columns.len() - 1);
            for (at, cell) in cells.into_iter().enumerate() {
                let style = Style::new(11.0, ink);
                let (x, style) = match at {
                    0 => (MARGIN, style),
                    at => (right - COLUMN * (last - at) as f32, style.end()),
                };
                drawing.text(cell, [x, y], style);
            }
            drawing.height += ROW;
        }
        drawing.height += MARGIN / 2.0;
        (drawing, Vec::new())
    }

    fn least_size(&self) -> (f32, f32) {
        let drawing = self.draw();
        (drawing.width, drawing.height)
    }
}
