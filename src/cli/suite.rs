//! `tapescope eval --suite`: every machine at every size its preset asks for, in one table beside the
//! paper; on the rows it was trained on, and below them, where its writes reach rows already written, on rows
//! enough.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::arguments::Resize;
use super::eval::{Eval, EvalRequest};
use super::machine;
use super::measured::{CaseResult, errors, measured_aux_losses, size};
use super::table::{Cell, Column, Format, Table};
use crate::io::{Experiment, Trained, weights};
use crate::math::Answer;
use crate::task::Task;
use crate::train::chance;

/// The most rows that a machine is measured on because those of its training were too few.
const MOST_ROWS: usize = 1 << 14;

impl Eval {
    /// Measures every machine of the suite at every size of its preset.
    pub(super) fn run_suite(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let machines = self.machines_of_suite()?.into_iter();
        let requests = machines.map(|(name, trained)| self.request_for(&name, trained));
        let requests: Vec<EvalRequest> = requests.collect::<anyhow::Result<_>>()?;
        let table = self.table_of_suite(&requests);
        table.head(out)?;
        for request in &requests {
            for task in &request.cases {
                self.measure_on_enough_rows(out, &table, request.clone(), task)?;
            }
        }
        if self.format == Format::Text {
            writeln!(
                out,
                "\nBits (mean, half the 95 % interval, median), wrong bits or symbols, chance level and optimum are per sequence.\n\
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
        let find = |name: &String| Ok((name.clone(), machine::find(name, &Resize::default())?));
        names.iter().map(find).collect()
    }

    fn table_of_suite(&self, requests: &[EvalRequest]) -> Table<CaseResult> {
        let names = requests.iter().map(|request| &*request.name);
        let cases = requests.iter().flat_map(|request| &request.cases);
        let sizes: Vec<String> = cases.map(size).collect();
        let sizes = sizes.iter().map(String::as_str);
        let mut columns: Vec<Column<CaseResult>> = vec![
            Column::words("machine", names, |case| case.name.clone()),
            Column::words("at", sizes, |case| size(&case.task)),
            Column::numbers("rows", 5, |case| match case.rows {
                0 => Cell::Decimals(None, 0),
                rows => rows.into(),
            }),
            Column::numbers("episodes", 0, |case| case.episodes.into()),
            Column::numbers("wrapped", 0, |case| case.measured.wrapped.into()),
        ];
        columns.extend(errors(Answer::Bits));
        columns.extend([
            Column::numbers("chance", 0, |case: &CaseResult| {
                Cell::Decimals(case.chance, 0)
            }),
            Column::numbers("optimum", 0, |case| {
                let optimum = |bits| Cell::Decimals(Some(bits), 1);
                case.optimum.map_or(Cell::Whole(0), optimum)
            }),
            Column::words("paper", [], |case| case.paper.unwrap_or("-").to_owned()),
        ]);
        let experiments = requests.iter().map(|request| request.trained.now());
        let experiments: Vec<Experiment> = experiments.collect();
        columns.extend(measured_aux_losses(&experiments));
        let format = self.format;
        Table { columns, format }
    }

    /// Measures a case, and again on more rows, until no episode has too few.
    fn measure_on_enough_rows(
        &self,
        out: &mut impl Write,
        table: &Table<CaseResult>,
        mut request: EvalRequest,
        task: &Task,
    ) -> anyhow::Result<()> {
        let chance = chance(task, self.seed, request.episodes);
        while let Some(mut result) = self.case_result(&request, task, &AtomicBool::new(false)) {
            result.chance = Some(chance);
            self.write(out, table, &request, &result)?;
            let (measured, config) = (&result.measured, &request.trained.machine.config);
            // Where writes go on over all rows, the last number may not have been enough.
            let rows = measured.rows_needed.next_power_of_two();
            let rows = rows.max(2 * config.rows());
            if measured.wrapped == 0 || rows > MOST_ROWS || !config.runs_on_any_rows() {
                break;
            }
            request.trained.machine = request.trained.machine.with_rows(rows)?;
            self.check(&request, task)?;
        }
        Ok(())
    }
}
