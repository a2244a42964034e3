//! `tapescope lesion`: what each part of a trained machine contributes.

use std::io::Write;

use anyhow::{bail, ensure};
use clap::Args;

use super::arguments::{MOST_THREADS, threads, up_to};
use super::episode::{Chosen, EpisodeArgs};
use super::find::{check_memory, hide};
use super::message::note;
use super::table::{Cell, Column, Format, Table};
use crate::analysis::lesion::{Effect, Lesion, lesions};
use crate::analysis::population::Population;
use crate::analysis::repair::{Repair, attempts, best_first};
use crate::figure::narrate::failure::explain;
use crate::io::intervention;
use crate::math::Answer;
use crate::model::{Model, ModelConfig};
use crate::spelling::did_you_mean;

const EXAMPLES: &str = "\
Examples:
  tapescope lesion copy
  tapescope lesion repeat_copy --length 6 --repeats 8 --episodes 50
  tapescope lesion copy --part read0 --format markdown
  tapescope lesion repeat_copy --length 6 --repeats 13 --repairs

Removes each part of a trained machine in turn, in every step, without training it again (`ablate` trains without it): \
stages of the heads, whole heads, groups of memory rows; and adds noise to memory, keys, weightings and weights, in units of the \
root mean square of their values. The first line is the whole machine, the others follow by their bits per sequence. \
The last column is what `trace --intervene` and `render --intervene` take, to see one of them; some need two.";

/// The most episodes.
const MOST: u64 = 10_000;

/// Measure what each part of a machine contributes, by removing it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("input", hide), mut_arg("intervene", hide))]
pub(super) struct LesionArgs {
    /// A preset whose weights are included, a weights file, or the folder of a run; with
    /// --weights, any preset.
    #[arg(value_name = "PRESET|FILE")]
    machine: String,
    #[command(flatten)]
    episode: EpisodeArgs,
    /// Episodes to measure, from --episode on.
    #[arg(long, value_name = "E", default_value_t = 20, value_parser = up_to(MOST), allow_negative_numbers = true)]
    episodes: u64,
    /// Only this part: a head, `memory`, `keys`, `weightings`, `weights`, or `rows`.
    #[arg(long, value_name = "PART")]
    part: Option<String>,
    /// Of one episode: the wrong bits that are left without each part, and with each gate of the heads at its mean over the
    /// episode, the best repairs first.
    #[arg(long, conflicts_with_all = ["episodes", "part", "threads"])]
    repairs: bool,
    /// Format of the table.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    threads: Option<usize>,
}

/// A row of the table of parts.
struct Row {
    effect: Effect,
    answer: Answer,
    command: String,
}

impl LesionArgs {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        self.episode.check_of_seed()?;
        let trained = self.episode.trained(&self.machine)?;
        let (machine, chosen) = (
            &trained.machine,
            self.episode.choose(&self.machine, &trained)?,
        );
        if self.repairs {
            return self.repair(machine, &chosen, out);
        }
        let mut all = lesions(machine);
        if let Some(part) = &self.part {
            let is_it = |of: &str| of == part || of.starts_with(&format!("{part} "));
            if !all.iter().any(|lesion| is_it(&lesion.part)) {
                let mut parts: Vec<&str> = all
                    .iter()
                    .skip(1)
                    .map(|lesion| lesion.part.as_str())
                    .collect();
                parts.dedup();
                let meant = did_you_mean(part, parts.iter().copied());
                bail!(
                    "--part {part}: {meant}{} has the parts {}",
                    self.machine,
                    parts.join(", ")
                );
            }
            all.retain(|lesion| lesion.part == "whole" || is_it(&lesion.part));
        }
        let population = chosen.population(machine, self.episodes, threads(self.threads));
        // The episode as it is, and with a lesion.
        let twice = 2 * population.threads;
        check_memory(
            &self.machine,
            &Population {
                threads: twice,
                ..population
            },
        )?;
        let rows = population.lesions(all).into_iter().map(|effect| Row {
            command: command(&effect.lesion, &machine.config),
            answer: chosen.episode.answer,
            effect,
        });
        let rows: Vec<Row> = rows.collect();
        let table = table(&rows, self.format);
        table.head(out)?;
        rows.iter().try_for_each(|row| Ok(table.row(out, row)?))
    }

    /// What repairs the episode.
    fn repair(&self, machine: &Model, chosen: &Chosen, out: &mut impl Write) -> anyhow::Result<()> {
        // The episode as it is, and with a change.
        check_memory(&self.machine, &chosen.population(machine, 1, 2))?;
        let whole = chosen.record(machine)?;
        ensure!(
            whole.score.wrong > 0,
            "--repairs: no answer of this episode is wrong; choose a longer one, or another --episode"
        );
        let attempts = attempts(machine, &whole).into_iter();
        let attempts = attempts.map(|lesion| Repair::of(lesion, machine, &whole));
        let mut repairs: Vec<Repair> = attempts.collect();
        best_first(&mut repairs);
        note(&format!("{}.", whole.wrong_of_scored()));
        explain(&whole, &repairs).iter().for_each(|line| note(line));
        let rows = repairs.into_iter().map(|repair| RepairRow {
            before: whole.score.wrong,
            command: command(&repair.lesion, &machine.config),
            repair,
        });
        let rows: Vec<RepairRow> = rows.collect();
        let table = table_of_repairs(&rows, self.format);
        table.head(out)?;
        rows.iter().try_for_each(|row| Ok(table.row(out, row)?))
    }
}

/// A row of the table of repairs.
struct RepairRow {
    repair: Repair,
    before: usize,
    command: String,
}

fn table_of_repairs(rows: &[RepairRow], format: Format) -> Table<RepairRow> {
    let parts = rows.iter().map(|row| row.repair.lesion.part.as_str());
    let whats = rows.iter().map(|row| row.repair.lesion.what.as_str());
    let columns = vec![
        Column::words("part", parts, |row: &RepairRow| {
            row.repair.lesion.part.clone()
        }),
        Column::words("lesion", whats, |row: &RepairRow| {
            row.repair.lesion.what.clone()
        }),
        Column::numbers("before", 6, |row: &RepairRow| {
            Cell::Whole(row.before as u64)
        }),
        Column::numbers("wrong", 6, |row: &RepairRow| {
            Cell::Whole(row.repair.wrong as u64)
        }),
        Column::numbers("repaired", 8, |row: &RepairRow| {
            Cell::Percent(row.repair.share, 0)
        }),
        Column::words("intervene", [], |row: &RepairRow| row.command.clone()),
    ];
    Table { columns, format }
}

fn command(lesion: &Lesion, config: &ModelConfig) -> String {
    let changes = lesion.changes.iter();
    let texts = changes.map(|one| intervention::text(one, config));
    texts.collect::<Vec<_>>().join(" --intervene ")
}

fn table(rows: &[Row], format: Format) -> Table<Row> {
    let answer = rows.first().map_or(Answer::Bits, |row| row.answer);
    let parts = rows.iter().map(|row| row.effect.lesion.part.as_str());
    let whats = rows.iter().map(|row| row.effect.lesion.what.as_str());
    Table {
        columns: vec![
            Column::words("part", parts, |row: &Row| row.effect.lesion.part.clone()),
            Column::words("lesion", whats, |row: &Row| row.effect.lesion.what.clone()),
            Column::numbers(answer.heading(), 9, |row: &Row| {
                Cell::loss(Some(row.effect.mean.bits_per_sequence), row.answer)
            }),
            Column::numbers("wrong", 8, |row: &Row| {
                Cell::Decimals(Some(row.effect.mean.wrong_bits), 2)
            }),
            Column::numbers("perfect", 8, |row: &Row| {
                Cell::Percent(row.effect.mean.perfect, 0)
            }),
            Column::numbers("worst episode", 0, |row: &Row| {
                Cell::Whole(row.effect.worst)
            }),
            Column::words("intervene", [], |row: &Row| row.command.clone()),
        ],
        format,
    }
}
