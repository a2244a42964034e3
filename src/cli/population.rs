//! `tapescope eval --measure` and `--by`: many episodes, step by step, or by the parts of their answers.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::arguments::threads;
use super::collect;
use super::eval::{By, Eval, EvalRequest};
use super::measured::size;
use super::table::{Cell, Column, Table};
use crate::analysis::population::{Population, Summary};
use crate::figure::chart::data::Chart;
use crate::figure::chart::page::Charts;
use crate::figure::chart::summary::{quantity, wrong};
use crate::model::Draw;
use crate::task::Task;

/// A machine, a task, a phase, and the numbers of the other columns.
type Row<'a> = (&'a str, &'a Task, String, Vec<f64>);

fn count<const INDEX: usize>((.., numbers): &Row<'_>) -> Cell {
    Cell::Whole(numbers[INDEX] as u64)
}

fn number<const INDEX: usize>((.., numbers): &Row<'_>) -> Cell {
    Cell::Decimals(Some(numbers[INDEX]), 4)
}

fn columns<'a>(by: Option<By>, request: &EvalRequest) -> Vec<Column<Row<'a>>> {
    let task = request.trained.now().task;
    let size = Column::numbers(task.measure().name(), 6, |row: &Row<'_>| {
        row.1.size().into()
    });
    let machine = Column::words("machine", [&*request.name], |row: &Row<'_>| {
        row.0.to_owned()
    });
    let mut columns = vec![machine, size];
    if task.repeats().is_some() {
        columns.push(Column::numbers("repeats", 7, |row| {
            row.1.repeats().map_or(Cell::Decimals(None, 0), Cell::from)
        }));
    }
    let name = match by {
        Some(By::Position) => "position",
        Some(By::Channel) => "channel",
        None => {
            columns.extend([
                Column::words("phase", ["prediction"], |row: &Row<'_>| row.2.clone()),
                Column::numbers("step", 5, count::<0>),
                Column::numbers("episodes", 0, count::<1>),
                Column::numbers("p5", 9, number::<2>),
                Column::numbers("p25", 9, number::<3>),
                Column::numbers("median", 9, number::<4>),
                Column::numbers("p75", 9, number::<5>),
                Column::numbers("p95", 9, number::<6>),
                Column::numbers("mean", 9, number::<7>),
                Column::numbers("highest in", 0, count::<8>),
            ]);
            return columns;
        }
    };
    columns.extend([
        Column::numbers(name, 0, count::<0>),
        Column::numbers("scored", 9, count::<1>),
        Column::numbers("wrong", 9, count::<2>),
        Column::numbers("share", 9, number::<3>),
    ]);
    columns
}

impl Eval {
    pub(super) fn population<'a>(&self, of: &'a EvalRequest, task: &'a Task) -> Population<'a> {
        Population {
            machine: &of.trained.machine,
            task,
            first: Draw::of(self.seed, 0),
            episodes: of.episodes as u64,
            threads: threads(self.threads).min(of.episodes),
        }
    }

    /// Writes the table of a quantity, or of wrong bits, until `stop` is set.
    pub(super) fn write_population(
        &self,
        out: &mut impl Write,
        request: &EvalRequest,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        let (format, columns) = (self.format(), columns(self.by, request));
        let table = Table { columns, format };
        table.head(out)?;
        let mut charts = Vec::new();
        for task in &request.cases {
            let population = self.population(request, task);
            let Some(summary) = population.summary(request.quantity.as_ref(), stop) else {
                break;
            };
            if self.figure.is_some() {
                charts.push(self.chart(&summary, task));
            }
            for (phase, numbers) in self.rows_of(&summary, task) {
                table.row(out, &(&*request.name, task, phase, numbers))?;
            }
            out.flush()?;
        }
        let Some(path) = &self.figure else {
            return Ok(());
        };
        let (title, to) = (
            request.name.clone(),
            (&**path, collect::picture_format("--figure", path)?),
        );
        let dark = false;
        let charts = Charts {
            title,
            charts,
            dark,
        };
        collect::draw(to, &charts, "many episodes")
    }

    /// The chart of a case.
    fn chart(&self, summary: &Summary, task: &Task) -> Chart {
        let at = size(task);
        if let Some(text) = &self.measure {
            return quantity(&format!("{text} at {at}"), summary);
        }
        let unit = task.episode(self.seed, 0).answer.unit();
        let [positions, channels] = wrong(&format!("wrong {unit} at {at}"), summary);
        match self.by {
            Some(By::Channel) => channels,
            Some(By::Position) | None => positions,
        }
    }

    /// The phases and numbers of the rows of a case.
    fn rows_of(&self, summary: &Summary, task: &Task) -> Vec<(String, Vec<f64>)> {
        if self.measure.is_some() {
            let rows = summary.bands().into_iter().map(|band| {
                let mut numbers = vec![band.step as f64, band.episodes as f64];
                numbers.extend(band.quantiles);
                numbers.extend([band.mean, band.highest as f64]);
                (band.phase.into_owned(), numbers)
            });
            return rows.collect();
        }
        let mut parts = summary.wrong.clone();
        if self.by == Some(By::Channel) {
            let channel = |channel| parts.iter().map(|row| row[channel]).collect();
            parts = (0..task.outputs()).map(channel).collect();
        }
        let rows = parts.into_iter().enumerate().map(|(index, part)| {
            let [scored, wrong] = [0, 1].map(|kind| part.iter().map(|sums| sums[kind]).sum());
            let [scored, wrong] = [scored, wrong].map(|sum: u64| sum as f64);
            let share = wrong / scored.max(1.0);
            (String::new(), vec![index as f64, scored, wrong, share])
        });
        rows.collect()
    }
}
