//! `tapescope eval --suite`: every machine at every size its preset asks for, in one table beside the
//! paper; on the rows it was trained on, and below them, where its writes reach rows already written, on rows
//! enough.

use std::io::Write;

use super::machine;
use super::measured::{aux_loss, half_width, size};
use super::table::{Column, Format, Table};
use crate::io::measurement::comparison_json;
use crate::io::{Trained, paper, weights};
use crate::task::Task;
use crate::train::{Demand, Measurement, Redundancy, chance, optimum};

/// The most rows that a machine is measured on because those of its training were too few.
const MOST_ROWS: usize = 1 << 14;

/// The options of the suite.
pub(super) struct Suite<'a> {
    /// Machines by name or file; empty: all that are included.
    pub(super) names: &'a [String],
    /// Episodes per line instead of those of the preset.
    pub(super) episodes: Option<usize>,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) format: Format,
}

/// A measurement to take.
struct Case {
    /// The name of the machine: that of its file, if there is one.
    name: String,
    trained: Trained,
    task: Task,
}

/// A line of the table.
struct Line {
    name: String,
    size: String,
    rows: usize,
    episodes: usize,
    measured: Measurement,
    chance: f64,
    optimum: Option<f64>,
    paper: Option<&'static str>,
}

impl Suite<'_> {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut cases = Vec::new();
        for (name, trained) in self.machines()? {
            let experiment = trained.now();
            for task in experiment.evaluation.cases(&experiment.task) {
                let case = Case {
                    name: name.clone(),
                    trained: trained.clone(),
                    task,
                };
                self.check(&case)?;
                cases.push(case);
            }
        }
        let table = self.table(&cases);
        if self.format != Format::Json {
            table.head(out)?;
        }
        for case in cases {
            self.measure(out, &table, case)?;
        }
        if self.format == Format::Text {
            writeln!(
                out,
                "\nBits (mean, half the 95 % interval, median), wrong bits, chance level and optimum are per sequence.\n\
                 The episodes are held out (seed {}). Wrapped: number of episodes in which memory wrapped around;\n\
                 the next line then uses enough rows to avoid it. Paper: results of Graves, Wayne and Danihelka\n\
                 (2014).",
                self.seed
            )?;
        }
        Ok(())
    }

    fn machines(&self) -> anyhow::Result<Vec<(String, Trained)>> {
        if self.names.is_empty() {
            let named = |machine: Trained| (machine.experiment.name.clone(), machine);
            return Ok(weights::all_included()?.into_iter().map(named).collect());
        }
        let find = |name: &String| Ok((name.clone(), machine::find(name, None)?));
        self.names.iter().map(find).collect()
    }

    fn episodes_of(&self, trained: &Trained) -> usize {
        self.episodes.unwrap_or(trained.now().evaluation.episodes)
    }

    /// Refuses to measure a machine for which there is not enough memory.
    fn check(&self, case: &Case) -> anyhow::Result<()> {
        let demand = Demand::Measuring {
            threads: self.threads.min(self.episodes_of(&case.trained)),
            samples: 0,
        };
        let config = &case.trained.machine.config;
        machine::check_size(config, &case.task, demand, &case.name)
    }

    fn table(&self, cases: &[Case]) -> Table<Line> {
        let names = cases.iter().map(|case| case.name.as_str());
        let sizes: Vec<String> = cases.iter().map(|case| size(&case.task)).collect();
        let sizes = sizes.iter().map(String::as_str);
        let mut columns: Vec<Column<Line>> = vec![
            Column::words("machine", names, |line| line.name.clone()),
            Column::words("at", sizes, |line| line.size.clone()),
            Column::numbers("rows", 5, |line| match line.rows {
                0 => "-".to_owned(),
                rows => rows.to_string(),
            }),
            Column::numbers("episodes", 0, |line| line.episodes.to_string()),
            Column::numbers("wrapped", 0, |line| line.measured.wrapped.to_string()),
            Column::numbers("bits", 8, |line| {
                format!("{:.3}", line.measured.mean.bits_per_sequence)
            }),
            Column::numbers("±", 8, |line| half_width(&line.measured)),
            Column::numbers("median", 8, |line| format!("{:.3}", line.measured.median)),
            Column::numbers("wrong", 7, |line| {
                format!("{:.2}", line.measured.mean.wrong_bits)
            }),
            Column::numbers("perfect", 0, |line| {
                format!("{:.1}%", 100.0 * line.measured.mean.perfect)
            }),
            Column::numbers("chance", 0, |line| format!("{:.0}", line.chance)),
            Column::numbers("optimum", 0, |line| {
                line.optimum
                    .map_or("0".to_owned(), |bits| format!("{bits:.1}"))
            }),
            Column::words("paper", [], |line| line.paper.unwrap_or("-").to_owned()),
        ];
        let of = |case: &Case| case.trained.now().training.redundancy != Redundancy::Off;
        if cases.iter().any(of) {
            columns.push(Column::numbers("redundancy", 0, |line| {
                aux_loss(line.measured.mean.aux.redundancy)
            }));
        }
        if cases
            .iter()
            .any(|case| case.trained.machine.config.is_bayesian())
        {
            columns.push(Column::numbers("divergence", 0, |line| {
                aux_loss(line.measured.mean.aux.divergence)
            }));
        }
        let format = self.format;
        Table { columns, format }
    }

    /// Measures a case, and again on more rows, until no episode has too few.
    fn measure(
        &self,
        out: &mut impl Write,
        table: &Table<Line>,
        mut case: Case,
    ) -> anyhow::Result<()> {
        let (seed, episodes) = (self.seed, self.episodes_of(&case.trained));
        let chance = chance(&case.task, seed, episodes);
        let optimum = optimum(&case.task, seed, episodes);
        loop {
            let Case {
                name,
                trained,
                task,
            } = &case;
            let measured = trained
                .evaluator(task, seed, episodes)
                .measure(self.threads);
            let config = &trained.machine.config;
            if self.format == Format::Json {
                let line = comparison_json(name, trained, task, seed, &measured, optimum, chance);
                writeln!(out, "{line}")?;
            } else {
                let line = Line {
                    name: name.clone(),
                    size: size(task),
                    rows: config.rows(),
                    episodes,
                    measured,
                    chance,
                    optimum,
                    paper: paper::figure(config, task).map(|paper| paper.words),
                };
                table.row(out, &line)?;
            }
            out.flush()?;
            // Where writes go on over all rows, the last number may not have been enough.
            let rows = measured
                .rows_needed
                .next_power_of_two()
                .max(2 * config.rows());
            let is_fixed = !config.runs_on_any_rows();
            if measured.wrapped == 0 || rows > MOST_ROWS || is_fixed {
                return Ok(());
            }
            case.trained.machine = trained.machine.with_rows(rows)?;
            self.check(&case)?;
        }
    }
}
