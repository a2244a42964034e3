//! `tapescope eval --suite`: every machine at every size its preset asks for, in one table beside the
//! paper; on the rows it was trained on, and below them, where its writes reach rows already written, on rows
//! enough.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::eval::{Eval, EvalRequest};
use super::machine;
use super::measured::{CaseResult, aux_losses, errors, size};
use super::table::{Column, Format, Table};
use crate::io::{Experiment, Trained, paper, weights};
use crate::task::Task;
use crate::train::chance;

/// The most rows that a machine is measured on because those of its training were too few.
const MOST_ROWS: usize = 1 << 14;

/// A line of the table.
struct Line {
    result: CaseResult,
    episodes: usize,
    chance: f64,
    paper: Option<&'static str>,
}

impl AsRef<CaseResult> for Line {
    fn as_ref(&self) -> &CaseResult {
        &self.result
    }
}

impl Eval {
    /// Measures every machine of the suite at every size of its preset.
    pub(super) fn run_suite(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let machines = self.machines_of_suite()?;
        let requests = machines.iter();
        let requests = requests.map(|(name, trained)| self.request_for(name, trained.clone()));
        let requests: Vec<EvalRequest> = requests.collect::<anyhow::Result<_>>()?;
        let table = self.table_of_suite(&requests);
        if self.format != Format::Json {
            table.head(out)?;
        }
        for mut request in requests {
            let trained = request.trained.clone();
            for task in std::mem::take(&mut request.cases) {
                request.trained = trained.clone();
                self.measure_on_enough_rows(out, &table, &mut request, &task)?;
            }
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

    fn machines_of_suite(&self) -> anyhow::Result<Vec<(String, Trained)>> {
        let names = self.suite.as_deref().unwrap_or_default();
        if names.is_empty() {
            let named = |machine: Trained| (machine.experiment.name.clone(), machine);
            return Ok(weights::all_included()?.into_iter().map(named).collect());
        }
        let find = |name: &String| Ok((name.clone(), machine::find(name, None)?));
        names.iter().map(find).collect()
    }

    fn table_of_suite(&self, requests: &[EvalRequest]) -> Table<Line> {
        let names = requests.iter().map(|request| request.name);
        let cases = requests.iter().flat_map(|request| &request.cases);
        let sizes: Vec<String> = cases.map(size).collect();
        let mut columns: Vec<Column<Line>> = vec![
            Column::words("machine", names, |line| line.result.name.clone()),
            Column::words("at", sizes.iter().map(String::as_str), |line| {
                size(&line.result.task)
            }),
            Column::numbers("rows", 5, |line| match line.result.rows {
                0 => "-".to_owned(),
                rows => rows.to_string(),
            }),
            Column::numbers("episodes", 0, |line| line.episodes.to_string()),
            Column::numbers("wrapped", 0, |line| {
                line.result.measured.wrapped.to_string()
            }),
        ];
        columns.extend(errors());
        columns.extend([
            Column::numbers("chance", 0, |line: &Line| format!("{:.0}", line.chance)),
            Column::numbers("optimum", 0, |line| {
                let optimum = line.result.optimum;
                optimum.map_or("0".to_owned(), |bits| format!("{bits:.1}"))
            }),
            Column::words("paper", [], |line| line.paper.unwrap_or("-").to_owned()),
        ]);
        let experiments: Vec<Experiment> = requests
            .iter()
            .map(|request| request.trained.now())
            .collect();
        columns.extend(aux_losses(&experiments));
        let format = self.format;
        Table { columns, format }
    }

    /// Measures a case, and again on more rows, until no episode has too few.
    fn measure_on_enough_rows(
        &self,
        out: &mut impl Write,
        table: &Table<Line>,
        request: &mut EvalRequest,
        task: &Task,
    ) -> anyhow::Result<()> {
        let (seed, episodes) = (self.seed, request.episodes);
        let chance = chance(task, seed, episodes);
        let never = AtomicBool::new(false);
        while let Some(result) = self.case_result(request, task, &never) {
            let (trained, measured) = (&request.trained, &result.measured);
            let config = &trained.machine.config;
            // Where writes go on over all rows, the last number may not have been enough.
            let rows = measured.rows_needed.next_power_of_two();
            let rows = rows.max(2 * config.rows());
            let is_enough = measured.wrapped == 0 || rows > MOST_ROWS;
            let is_last = is_enough || !config.runs_on_any_rows();
            let paper = paper::figure(config, task).map(|paper| paper.words);
            if self.format == Format::Json {
                let mut line = self.line(request, &result);
                line.add_references(chance, paper);
                writeln!(out, "{}", line.to_json())?;
            } else {
                let line = Line {
                    result,
                    episodes,
                    chance,
                    paper,
                };
                table.row(out, &line)?;
            }
            out.flush()?;
            if is_last {
                break;
            }
            request.trained.machine = request.trained.machine.with_rows(rows)?;
            self.check(request, task)?;
        }
        Ok(())
    }
}
