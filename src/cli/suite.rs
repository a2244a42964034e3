//! `tapescope eval --suite`: every machine at every size its preset asks for, in one table beside the
//! paper.

use std::io::Write;

use super::eval::span;
use super::machine;
use super::table::{Column, Format, Table};
use crate::io::history::comparison_json;
use crate::io::{Trained, paper, weights};
use crate::task::{Measure, Task};
use crate::train::{chance, evaluate, optimum};

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
                let at_a_time = self.threads.min(self.episodes_of(trained));
                let smaller = "--threads";
                machine::check_measuring(trained, &task, at_a_time, name, smaller)?;
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
            self.line(out, &table, case)?;
            out.flush()?;
        }
        if self.format == Format::Text {
            writeln!(
                out,
                "\nBits, wrong bits, chance and optimum are per sequence; the episodes are those of seed {},\n\
                 which no machine was trained on. Paper: what Graves, Wayne and Danihelka (2014) report.",
                self.seed
            )?;
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

    fn table(&self, cases: &[Case]) -> Table {
        let sizes: Vec<String> = cases.iter().map(|case| size(&case.task)).collect();
        Table {
            columns: vec![
                Column::words("machine", cases.iter().map(|case| case.name)),
                Column::words("at", sizes.iter().map(String::as_str)),
                Column::numbers("episodes", 0),
                Column::numbers("bits", 8),
                Column::numbers("wrong", 7),
                Column::numbers("perfect", 0),
                Column::numbers("chance", 0),
                Column::numbers("optimum", 0),
                Column::words("paper", []),
            ],
            is_markdown: self.format == Format::Markdown,
        }
    }

    fn line(&self, out: &mut impl Write, table: &Table, case: &Case) -> anyhow::Result<()> {
        let (task, trained, seed) = (&case.task, case.trained, self.seed);
        let episodes = self.episodes_of(trained);
        let result = evaluate(&trained.machine, task, seed, episodes, self.threads);
        let chance = chance(task, seed, episodes);
        let optimum = optimum(task, seed, episodes);
        if self.format == Format::Json {
            let line = comparison_json(case.name, trained, task, seed, &result, optimum, chance);
            return Ok(writeln!(out, "{line}")?);
        }
        let paper = paper::figure(&trained.machine.config, task);
        let cells = [
            case.name.to_owned(),
            size(task),
            episodes.to_string(),
            format!("{:.3}", result.bits_per_sequence),
            format!("{:.2}", result.wrong_bits),
            format!("{:.1}%", 100.0 * result.perfect),
            format!("{chance:.0}"),
            optimum.map_or_else(|| "0".to_owned(), |bits| format!("{bits:.1}")),
            paper.unwrap_or("-").to_owned(),
        ];
        Ok(table.row(out, &cells)?)
    }
}

/// Where a machine is measured, in words.
fn size(task: &Task) -> String {
    let size = span(&task.size());
    let size = match task.measure() {
        Measure::Length => format!("length {size}"),
        Measure::Items => format!("{size} items"),
    };
    match task.repeats() {
        Some(repeats) => format!("{size}, {} repeats", span(&repeats)),
        None => size,
    }
}
