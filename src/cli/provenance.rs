//! `tapescope provenance`: the writes that made a read or an output bit, and the reads that a write reached.

use std::io::Write;
use std::path::Path;

use anyhow::{anyhow, ensure};
use clap::{ArgGroup, Args};

use super::arguments::Resize;
use super::episode::{EpisodeArgs, as_it_is, note_wrap_around};
use super::machine;
use super::table::{Cell, Column, Format, Table};
use crate::analysis::provenance::{Origin, Part, Provenance as Parts, Target, Writes};
use crate::io::{self, measurement::parts_json, trace};
use crate::model::{Model, ModelConfig};
use crate::train::Recording;

const EXAMPLES: &str = "\
Examples:
  tapescope provenance copy --length 20 --of read0:30
  tapescope provenance copy --length 20 --of bit:30,2
  tapescope provenance copy --length 20 --from write0:5
  tapescope provenance transduce --of read0:12 --format markdown
  tapescope provenance copy.ntmtrace.json --of read0:30
  tapescope provenance copy.ntmtrace.json --weights copy.safetensors --of bit:30,2

A memory row is the sum of what is left of its initial values and of every write. So a read is a sum over \
writes, and so is a logit, with the weights of the output layer. amount is the part of the length of the read \
vector, or of the logit; share is the part of the total, negative where it is against it. row is the memory \
row through which most of it was read. initial is the memory before the first step, row:5 the row of step 5 \
in a memory with a row for each step, hidden the hidden state of the step, bias that of the output layer.";

/// Print the writes that made a read or an output bit, or the reads that a write reached.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("what").required(true).args(["of", "from"]))]
pub(super) struct Provenance {
    /// A recorded trace, or the machine that records the episode: an included machine, a weights file or a
    /// run folder.
    #[arg(value_name = "TRACE|PRESET|FILE")]
    source: String,
    /// Read vector as HEAD:STEP, or output bit as bit:STEP,CHANNEL.
    #[arg(long, value_name = "VALUE")]
    of: Option<String>,
    /// Write as HEAD:STEP; row:STEP in a memory with a row for each step; or initial.
    #[arg(long, value_name = "WRITE")]
    from: Option<String>,
    /// Longest table; the rest is summed. JSON has everything.
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,
    /// Format of the table.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    episode: EpisodeArgs,
}

/// Returns the value of this name as a sum over writes; `option` asked for it.
pub(super) fn made(
    [option, name]: [&str; 2],
    recording: &Recording,
    config: &ModelConfig,
    model: Option<&Model>,
) -> anyhow::Result<Parts> {
    let find =
        || Writes::of(recording, config)?.made(Target::named(name, &recording.trace)?, model);
    find().map_err(|problem| anyhow!("{option} {name}: {problem}"))
}

/// A share or an amount; nothing in a row that has none.
fn part(number: Option<f64>) -> Cell {
    let none = Cell::Words(String::new());
    number.map_or(none, |number| Cell::Decimals(Some(number), 4))
}

/// A part: its name, share, amount and row.
type Line = (String, Option<f64>, Option<f64>, Option<usize>);

impl Provenance {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (recording, config, model) = self.recording()?;
        let trace = &recording.trace;
        ensure!(
            !config.lacks_parts(),
            "{}: provenance follows the heads of `ntm`, `dnc` and `sam`; what a value of a machine file depends on is in its gradients: tapescope trace {} --gradient loss --out gradients.npz",
            self.source,
            self.source
        );
        if let Some(name) = &self.of {
            let found = made(["--of", name], &recording, &config, model.as_ref())?;
            let parts = found.largest().into_iter();
            let parts = parts.map(|part| (part.origin.name(trace), found.share(part), part));
            return self.print(out, "origin", &parts.collect::<Vec<_>>(), Some(found.total));
        }
        let name = self.from.as_deref().unwrap_or_default();
        let find = || Writes::of(&recording, &config)?.uses(Origin::named(name, trace)?);
        let uses = find().map_err(|problem| anyhow!("--from {name}: {problem}"))?;
        let parts = uses
            .iter()
            .flat_map(|read| read.parts.iter().map(move |part| (read, part)));
        let parts = parts.map(|(read, part)| (read.of.name(trace), read.share(part), part));
        let mut parts: Vec<_> = parts.collect();
        parts.sort_by(|(.., a), (.., b)| b.amount.abs().total_cmp(&a.amount.abs()));
        self.print(out, "read", &parts, None)
    }

    /// The episode, its machine, and the weights of that, where they are known.
    fn recording(&self) -> anyhow::Result<(Recording, ModelConfig, Option<Model>)> {
        let (source, weights, path) =
            (&self.source, &self.episode.weights, Path::new(&self.source));
        if !io::is_trace(path) {
            let trained = self.episode.trained(source)?;
            let recording = self.episode.record(source, &trained)?;
            let machine = trained.machine;
            return Ok((recording, machine.config.clone(), Some(machine)));
        }
        let mut others = self.episode.all_given();
        as_it_is(
            others.find(|option| *option != "--weights"),
            source,
            "traced",
        )?;
        let imported = trace::read(path)?;
        note_wrap_around(source, &imported.recording);
        let weights = weights.as_ref();
        let weights =
            weights.map(|path| machine::alone(&path.to_string_lossy(), &Resize::default()));
        let model = weights.transpose()?.map(|trained| trained.machine);
        Ok((imported.recording, imported.config, model))
    }

    /// Prints the first parts, each with its name and share, and the sums where they add up to a total.
    fn print(
        &self,
        out: &mut impl Write,
        name: &'static str,
        parts: &[(String, f64, &Part)],
        total: Option<f64>,
    ) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return Ok(writeln!(out, "{}", parts_json(name, parts, total))?);
        }
        let line = |name: &str, share: f64, amount: f64, row: Option<usize>| {
            (name.to_owned(), Some(share), Some(amount), row)
        };
        let sum = |name: &str, parts: &[(String, f64, &Part)]| {
            let shares = parts.iter().map(|(_, share, _)| share);
            let amounts = parts.iter().map(|(.., part)| part.amount);
            line(name, shares.sum(), amounts.sum(), None)
        };
        let (first, others) = parts.split_at(self.most.min(parts.len()));
        let lines = first.iter().map(|(name, share, part)| {
            line(name, *share, part.amount, part.number.map(|row| row.0))
        });
        let mut lines: Vec<_> = lines.collect();
        let rest = format!("{} others", others.len());
        match total {
            _ if others.is_empty() => {}
            Some(_) => lines.push(sum(&rest, others)),
            None => lines.push((rest, None, None, None)),
        }
        lines.extend(total.map(|_| sum("total", parts)));
        let names = lines.iter().map(|line| line.0.as_str());
        let columns = vec![
            Column::words(name, names, |line: &Line| line.0.clone()),
            Column::numbers("share", 8, |line| part(line.1)),
            Column::numbers("amount", 8, |line| part(line.2)),
            Column::numbers("row", 4, |line| {
                line.3.map_or(Cell::Words(String::new()), Cell::from)
            }),
        ];
        let table = Table {
            columns,
            format: self.format,
        };
        table.head(out)?;
        Ok(lines.iter().try_for_each(|line| table.row(out, line))?)
    }
}
