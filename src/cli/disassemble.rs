//! `tapescope disassemble`: what heads do, as instructions, and the machine run again from them.

use std::io::Write;

use anyhow::ensure;
use clap::Args;

use super::arguments::{MOST_EPISODES, up_to};
use super::episode::{EpisodeArgs, note_wrap_around};
use super::table::{Cell, Column, Format, Table};
use crate::analysis::disassembly::{Count, Disassembly, Fold, Totals};
use crate::io::instructions;
use crate::model::ModelConfig;
use crate::model::array::WEIGHTING;
use crate::task::Phase;

const EXAMPLES: &str = "\
Examples:
  tapescope disassemble copy --length 20
  tapescope disassemble repeat_copy --episodes 100
  tapescope disassemble runs/copy-1 --format markdown

In each step the weighting of a head is compared with ideal ones. STAY is the weighting of the step before, at first the \
initial one; SHIFT k is the same moved by k rows; JUMP has all weight on the row of the largest content weighting, and names \
the step that last wrote this row. An instruction explains a step if the total variation is at most 0.1. Of several the first \
one counts, with small shifts first; but a head without a gate, which does not see the weighting before, jumps. A head of a \
Differentiable Neural Computer has ALLOCATE, all weight on the least used row; FORWARD and BACKWARD, on the row written after or \
before those it read; and IDLE, no weight. Every other step is SPREAD: not explained. Then comes the effect of a write head: REPLACE, ADD, ERASE or NOTHING; an erase or add vector \
counts if its mean magnitude is above 0.1.

The last line compares the machine with a second run, in which the ideal weighting replaces that of every explained step. There \
STAY and SHIFT start from the weighting before in that run, and JUMP looks up its row again.";

/// List what heads do as instructions, and run the machine again from them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Disassemble {
    /// A preset whose weights are included, a weights file, or the folder of a run; with
    /// --weights, any preset.
    #[arg(value_name = "PRESET|FILE")]
    machine: String,
    #[command(flatten)]
    episode: EpisodeArgs,
    /// Count the instructions of this many episodes, instead of listing those of one.
    #[arg(long, value_name = "E", default_value_t = 1, value_parser = up_to(MOST_EPISODES), allow_negative_numbers = true)]
    episodes: usize,
    /// Format of the tables.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
}

/// A line of the listing.
struct Line<'a> {
    head: &'a str,
    phase: &'a str,
    steps: String,
    instructions: Fold,
}

impl Disassemble {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let name = &self.machine;
        let trained = self.episode.trained(name)?;
        let (machine, config) = (&trained.machine, &trained.machine.config);
        ensure!(
            !config.lacks_parts(),
            "{name}: instructions are read from the stages of heads, which a machine file does not have; `tapescope diff` \
             compares an episode with one in which quantities were set"
        );
        ensure!(
            config.heads() > 0,
            "{name}: the machine has no heads, so there are no instructions"
        );
        ensure!(
            (machine.changeable().iter()).any(|(_, array)| *array == WEIGHTING),
            "{name}: instructions run again from set weightings, but those of this machine follow from the rows it chooses; \
             `tapescope provenance` shows which writes its reads come from"
        );
        if self.episodes > 1 {
            self.episode.check_of_seed()?;
        }
        let mut chosen = self.episode.choose(name, &trained)?;
        let (mut totals, mut listed) = (Totals::default(), None);
        for index in 0..chosen.task.at_most(self.episodes) {
            if index > 0 {
                chosen.advance();
            }
            let recording = chosen.record(machine)?;
            if self.episodes == 1 {
                note_wrap_around(name, &recording);
            }
            // The noise of an episode of this program is known.
            let found = totals.add(&recording, machine);
            let phases = recording.episode.phases;
            listed = found.filter(|_| self.episodes == 1).zip(Some(phases));
        }
        let heads = 0..config.heads();
        let names: Vec<String> = heads.map(|head| config.head_name(head)).collect();
        if self.format == Format::Json {
            let listed = listed.as_ref().map(|(found, _)| found);
            let json = instructions::to_json(config, &totals, listed);
            return Ok(writeln!(out, "{json}")?);
        }
        if let Some((found, phases)) = &listed {
            self.list(out, &names, found, phases)?;
            if !self.format.is_for_people() {
                return Ok(());
            }
            writeln!(out)?;
        }
        self.counts(out, config, &names, &totals)?;
        if !self.format.is_for_people() {
            return Ok(());
        }
        let [wrong, scored, replayed] = [totals.wrong, totals.scored, totals.replayed];
        let unit = chosen.episode.answer.unit();
        writeln!(
            out,
            "\nwrong {unit}: {wrong} of {scored}; with ideal weightings {replayed}"
        )?;
        Ok(())
    }

    /// Writes the instructions of an episode, head after head.
    fn list(
        &self,
        out: &mut impl Write,
        names: &[String],
        found: &Disassembly,
        phases: &[Phase],
    ) -> std::io::Result<()> {
        let mut lines = Vec::new();
        for (head, name) in names.iter().enumerate() {
            for phase in phases {
                let folds = found.fold(head, phase.start..phase.end);
                lines.extend(folds.into_iter().map(|instructions| Line {
                    head: name,
                    phase: &phase.name,
                    steps: match instructions.ends() {
                        [first, last] if first == last => first.to_string(),
                        [first, last] => format!("{first}..{last}"),
                    },
                    instructions,
                }));
            }
        }
        #[rustfmt::skip] // A row for each.
        let columns: Vec<Column<Line<'_>>> = vec![
            Column::words("head", names.iter().map(String::as_str), |line| line.head.to_owned()),
            Column::words("phase", lines.iter().map(|line| line.phase), |line| line.phase.to_owned()),
            Column::words("steps", lines.iter().map(|line| &*line.steps), |line| line.steps.clone()),
            Column::words("instructions", [], |line| line.instructions.to_string()),
        ];
        let format = self.format;
        let table = Table { columns, format };
        table.head(out)?;
        lines.iter().try_for_each(|line| table.row(out, line))
    }

    /// Writes the number of instructions of each head.
    fn counts(
        &self,
        out: &mut impl Write,
        config: &ModelConfig,
        names: &[String],
        totals: &Totals,
    ) -> std::io::Result<()> {
        type Row<'a> = (&'a str, Count);
        let heads = names.iter().map(String::as_str);
        let mut columns: Vec<Column<Row<'_>>> = vec![
            Column::words("head", heads.clone(), |row| row.0.to_owned()),
            Column::numbers("steps", 7, |row| row.1.steps().into()),
        ];
        macro_rules! counted {
            ($($word:literal $width:literal)*) => {
                [$(Column::numbers($word, $width, |row: &Row<'_>| row.1.number($word).into())),*]
            };
        }
        let counts = counted!("STAY" 7 "SHIFT" 7 "JUMP" 7 "ALLOCATE" 9 "FORWARD" 9 "BACKWARD" 9 "IDLE" 7 "SPREAD" 7);
        let has = |name: &str| totals.all.of(config).any(|(word, _)| word == name);
        columns.extend(counts.into_iter().filter(|column| has(column.name)));
        columns.push(Column::numbers("explained", 0, |row| match row.1.steps() {
            0 => Cell::Decimals(None, 0),
            _ => Cell::Percent(row.1.explained(), 1),
        }));
        let format = self.format;
        let table = Table { columns, format };
        table.head(out)?;
        let rows = heads.zip(totals.heads.iter().copied());
        let all = ("all", totals.all);
        rows.chain([all]).try_for_each(|row| table.row(out, &row))
    }
}
