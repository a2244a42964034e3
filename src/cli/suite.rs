//! `tapescope eval --suite`: every machine at every size its preset asks for, in one table beside the
//! paper; on the rows it was trained on, and below them, where its writes reach rows already written, on rows
//! enough.

use std::io::Write;

use super::eval::{half_width, size};
use super::machine;
use super::table::{Column, Format, Table};
use crate::io::measurement::comparison_json;
use crate::io::{Trained, paper, weights};
use crate::task::Task;
use crate::train::{Measurement, Part, chance, measure, optimum};

/// The most rows that a machine is measured on because those of its training were too few.
const MOST_ROWS: usize = 1 << 14;

/// What is asked of the suite.
pub(super) struct Suite<'a> {
    /// Machines by name or file; empty: all that are included.
    pub(super) names: &'a [String],
    /// Episodes per line instead of those of the preset.
    pub(super) episodes: Option<usize>,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) format: Format,
}

/// One line of the table to be.
struct Case<'a> {
    /// What the machine is called: by its file, where there is one.
    name: &'a str,
    trained: &'a Trained,
    task: Task,
}

impl Suite<'_> {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let machines = self.machines()?;
        let mut cases = Vec::new();
        for (name, trained) in &machines {
            let experiment = &trained.experiment;
            for task in experiment.evaluation.cases(&experiment.task) {
                self.check(trained, &task, name)?;
                cases.push(Case {
                    name,
                    trained,
                    task,
                });
            }
        }
        let table = self.table(&cases);
        if self.format != Format::Json {
            table.head(out)?;
        }
        for case in &cases {
            let measured = self.line(out, &table, case, case.trained)?;
            out.flush()?;
            self.on_rows_enough(out, &table, case, measured)?;
        }
        if self.format == Format::Text {
            writeln!(
                out,
                "\nBits (mean, half of its 95 % interval, median), wrong bits, chance and optimum are per sequence;\n\
                 the episodes are those of seed {}, which no machine was trained on. Overrun: in how many of them\n\
                 writes reach rows that are already written; the line below then has rows enough. Paper: what\n\
                 Graves, Wayne and Danihelka (2014) report.",
                self.seed
            )?;
        }
        Ok(())
    }

    /// The same case on more rows, until no episode has too few.
    fn on_rows_enough(
        &self,
        out: &mut impl Write,
        table: &Table,
        case: &Case,
        mut measured: Measurement,
    ) -> anyhow::Result<()> {
        let mut trained = case.trained.clone();
        while measured.overrun > 0 {
            let rows = measured.enough.next_power_of_two();
            // Where writes go on over all rows, the last number may not have been enough.
            let rows = rows.max(2 * trained.machine.config.rows());
            if rows > MOST_ROWS {
                break;
            }
            trained.machine = trained.machine.with_rows(rows)?;
            self.check(&trained, &case.task, case.name)?;
            measured = self.line(out, table, case, &trained)?;
            out.flush()?;
        }
        Ok(())
    }

    fn machines(&self) -> anyhow::Result<Vec<(String, Trained)>> {
        if self.names.is_empty() {
            let named = |machine: Trained| (machine.experiment.name.clone(), machine);
            return Ok(weights::shipped().into_iter().map(named).collect());
        }
        let find = |name: &String| Ok((name.clone(), machine::find(name, None)?));
        self.names.iter().map(find).collect()
    }

    fn episodes_of(&self, trained: &Trained) -> usize {
        let preset = &trained.experiment.evaluation;
        self.episodes.unwrap_or(preset.episodes)
    }

    /// Refuses to measure a machine for which there is not enough memory.
    fn check(&self, trained: &Trained, task: &Task, name: &str) -> anyhow::Result<()> {
        let at_a_time = self.threads.min(self.episodes_of(trained));
        let parts = [(Part::Threads, "--threads")];
        machine::check_measuring(trained, task, at_a_time, name, &parts)
    }

    fn table(&self, cases: &[Case]) -> Table {
        let sizes: Vec<String> = cases.iter().map(|case| size(&case.task)).collect();
        Table {
            columns: vec![
                Column::words("machine", cases.iter().map(|case| case.name)),
                Column::words("at", sizes.iter().map(String::as_str)),
                Column::numbers("rows", 5),
                Column::numbers("episodes", 0),
                Column::numbers("overrun", 0),
                Column::numbers("bits", 8),
                Column::numbers("±", 8),
                Column::numbers("median", 8),
                Column::numbers("wrong", 7),
                Column::numbers("perfect", 0),
                Column::numbers("chance", 0),
                Column::numbers("optimum", 0),
                Column::words("paper", []),
            ],
            is_markdown: self.format == Format::Markdown,
        }
    }

    /// Measures a case, with the machine of the case on some number of rows.
    fn line(
        &self,
        out: &mut impl Write,
        table: &Table,
        case: &Case,
        trained: &Trained,
    ) -> anyhow::Result<Measurement> {
        let (task, seed) = (&case.task, self.seed);
        let episodes = self.episodes_of(trained);
        let measured = measure(&trained.machine, task, seed, episodes, self.threads);
        let chance = chance(task, seed, episodes);
        let optimum = optimum(task, seed, episodes);
        if self.format == Format::Json {
            let line = comparison_json(case.name, trained, task, seed, &measured, optimum, chance);
            writeln!(out, "{line}")?;
            return Ok(measured);
        }
        let config = &trained.machine.config;
        let paper = paper::figure(config, task);
        let rows = match config.rows() {
            0 => "-".to_owned(),
            rows => rows.to_string(),
        };
        let cells = [
            case.name.to_owned(),
            size(task),
            rows,
            episodes.to_string(),
            measured.overrun.to_string(),
            format!("{:.3}", measured.mean.bits_per_sequence),
            half_width(&measured),
            format!("{:.3}", measured.median),
            format!("{:.2}", measured.mean.wrong_bits),
            format!("{:.1}%", 100.0 * measured.mean.perfect),
            format!("{chance:.0}"),
            optimum.map_or_else(|| "0".to_owned(), |bits| format!("{bits:.1}")),
            paper.unwrap_or("-").to_owned(),
        ];
        table.row(out, &cells)?;
        Ok(measured)
    }
}
