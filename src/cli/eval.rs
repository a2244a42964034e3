//! `tapescope eval`: how well a machine does, size by size.

use std::io::Write;
use std::ops::RangeInclusive;

use clap::Args;

use super::suite::Suite;
use super::table::Format;
use super::{
    Usage, from_zero, items, length, machine, repeats, rows, thread_count, threads, whole_number,
};
use crate::io::history::measurement_json;
use crate::io::{EvaluationConfig, Trained};
use crate::task::{Measure, Task};
use crate::train::{Evaluation, UNSEEN_SEED, evaluate, optimum};

const EXAMPLES: &str = "\
Examples:
  tapescope eval copy
  tapescope eval runs/copy-1/weights.safetensors --lengths 20,87,120 --episodes 500
  tapescope eval repeat_copy --lengths 10 --repeats 10,20
  tapescope eval copy --lengths 120 --rows 256 --json
  tapescope eval runs/associative_recall-1 --items 6,12
  tapescope eval --suite                     all included machines, beside the paper
  tapescope eval --suite copy runs/copy-7 --format markdown

`bits` is the summed cross-entropy of the answer in bits per sequence, the measure of the paper; `wrong` \
is the number of answer bits on the wrong side of one half, per sequence; `perfect` is the share of \
episodes without a wrong bit; `optimum`, for N-grams, is what the best predictor needs on the same \
episodes. The episodes come from a seed of their own (1000000 unless given), so the \
machine has not been trained on them.";

/// Measure a machine on episodes it was not trained on.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Eval {
    /// A preset whose weights are included, a weights file, or the folder of a run.
    #[arg(value_name = "PRESET|FILE", required_unless_present = "suite")]
    machine: Option<String>,
    /// Measure these machines, or all that are included, in one table beside the paper.
    #[arg(long, value_name = "PRESET|FILE", num_args = 0..,
          conflicts_with_all = ["machine", "lengths", "items", "repeats", "rows", "json"])]
    suite: Option<Vec<String>>,
    /// With --suite: how to write the table.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, conflicts_with = "machine")]
    format: Format,
    /// Lengths of the sequences, in vectors [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "L,L,…", value_parser = length, allow_negative_numbers = true)]
    lengths: Vec<usize>,
    /// Numbers of items, for tasks that have them [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "N,N,…", value_parser = items, allow_negative_numbers = true)]
    items: Vec<usize>,
    /// Numbers of repeats [default: those of the preset].
    #[arg(long, value_delimiter = ',', value_name = "R,R,…", value_parser = repeats, allow_negative_numbers = true)]
    repeats: Vec<usize>,
    /// Episodes per line of the table [default: that of the preset].
    #[arg(long, value_name = "E", value_parser = episode_count, allow_negative_numbers = true)]
    episodes: Option<usize>,
    /// Seed of the episodes.
    #[arg(long, value_name = "S", default_value_t = UNSEEN_SEED, value_parser = from_zero, allow_negative_numbers = true)]
    seed: u64,
    /// Run on this many memory rows instead of those of the training.
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    rows: Option<usize>,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Print one JSON object per line instead of a table.
    #[arg(long)]
    json: bool,
}

fn episode_count(text: &str) -> Result<usize, String> {
    whole_number(text, 10_000_000)
}

impl Eval {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Some(name) = &self.machine else {
            return self.suite().run(out);
        };
        let trained = machine::find(name, self.rows)?;
        let cases = self.cases(&trained)?;
        let episodes = self
            .episodes
            .unwrap_or(trained.experiment.evaluation.episodes);
        let at_a_time = threads(self.threads).min(episodes);
        for task in &cases {
            let smaller = match task.measure() {
                Measure::Length => "--threads, --lengths, --repeats or --rows",
                Measure::Items => "--threads, --items or --rows",
            };
            machine::check_measuring(&trained, task, at_a_time, name, smaller)?;
        }
        if !self.json {
            self.head(out, &trained, episodes)?;
        }
        for task in cases {
            let result = evaluate(
                &trained.machine,
                &task,
                self.seed,
                episodes,
                threads(self.threads),
            );
            let optimum = optimum(&task, self.seed, episodes);
            if self.json {
                let line = measurement_json(&trained, &task, self.seed, &result, optimum);
                writeln!(out, "{line}")?;
            } else {
                line(out, &task, &result, optimum)?;
            }
            out.flush()?;
        }
        Ok(())
    }

    fn suite(&self) -> Suite<'_> {
        Suite {
            names: self.suite.as_deref().unwrap_or_default(),
            episodes: self.episodes,
            seed: self.seed,
            threads: threads(self.threads),
            format: self.format,
        }
    }

    /// One task for every line of the table.
    fn cases(&self, trained: &Trained) -> anyhow::Result<Vec<Task>> {
        let given = |asked: &[usize], preset: &[usize]| {
            if asked.is_empty() {
                preset.to_vec()
            } else {
                asked.to_vec()
            }
        };
        let (task, preset) = (&trained.experiment.task, &trained.experiment.evaluation);
        if task.repeats().is_none() && !self.repeats.is_empty() {
            let problem = format!("--repeats: the task `{}` has no repeats", task.name());
            return Err(Usage(problem).into());
        }
        let repeats = given(&self.repeats, &preset.repeats);
        let lengths = ("--lengths", &*self.lengths);
        let sizes = machine::sizes(task, lengths, ("--items", &self.items))?;
        let asked = EvaluationConfig {
            sizes: given(sizes, &preset.sizes),
            repeats,
            episodes: preset.episodes,
        };
        Ok(asked.cases(task))
    }

    fn head(
        &self,
        out: &mut impl Write,
        trained: &Trained,
        episodes: usize,
    ) -> std::io::Result<()> {
        let config = &trained.machine.config;
        writeln!(
            out,
            "{} on a memory of {} × {}; seed {}, episodes per line: {episodes}",
            trained.experiment.title, config.rows, config.columns, self.seed
        )?;
        let task = &trained.experiment.task;
        let repeats = task.repeats().map_or("", |_| " repeats");
        let optimum = task
            .optimum(&task.episode(self.seed, 0))
            .map_or("", |_| "   optimum");
        writeln!(
            out,
            "{:>6}{repeats}      bits     wrong   of bits  perfect{optimum}",
            task.measure().name()
        )
    }
}

fn line(
    out: &mut impl Write,
    task: &Task,
    result: &Evaluation,
    optimum: Option<f64>,
) -> std::io::Result<()> {
    write!(out, "{:>6}", task.size().end())?;
    if let Some(repeats) = task.repeats() {
        write!(out, " {:>7}", span(&repeats))?;
    }
    let Evaluation {
        bits_per_sequence,
        wrong_bits,
        scored_bits,
        perfect,
        ..
    } = result;
    write!(
        out,
        " {bits_per_sequence:>9.3} {wrong_bits:>9.2} {scored_bits:>9.0} {:>7.1}%",
        100.0 * perfect
    )?;
    if let Some(optimum) = optimum {
        write!(out, " {optimum:>9.3}")?;
    }
    writeln!(out)
}

/// A range in few characters.
pub(super) fn span(range: &RangeInclusive<usize>) -> String {
    if range.start() == range.end() {
        range.start().to_string()
    } else {
        format!("{}-{}", range.start(), range.end())
    }
}
