//! `tapescope find`: the next episode in which something happens, and the steps.

use std::io::Write;

use anyhow::{anyhow, ensure};
use clap::Args;

use super::arguments::{MOST_EPISODES, MOST_THREADS, threads, up_to};
use super::episode::EpisodeArgs;
use super::error::CliError;
use super::machine;
use crate::analysis::expression::{Checked, Expression, ExpressionError, FUNCTIONS};
use crate::analysis::population::Population;
use crate::model::{Model, Trace};
use crate::task::Task;
use crate::train::Demand;

const EXAMPLES: &str = "\
Examples:
  tapescope find repeat_copy 'wrong' --repeats 13
  tapescope find copy 'read0.gate > 0.5 and changes(argmax(read0.weighting))' --length 20
  tapescope find repeat_copy 'answer and max(read0.weighting) < 0.5' --episode 10 --episodes 500

A condition compares numbers with <, <=, >, >=, = and !=, and joins comparisons with `and`, `or`, `not` and parentheses. \
Numbers are computed with +, -, * and /. An array has its name in traces, and its values in the step: read0.weighting[5], \
memory[5][0]; docs/formats/traces.md lists all. Functions, with `a` an array, `x` anything and `i` a row:
";

/// The help after the options: examples, and every function.
fn help() -> String {
    let lines = FUNCTIONS.iter().map(|function| {
        let (call, about) = (function.call(), function.about);
        format!("\n  {call:<15} {about}")
    });
    let end = "\n\nExit codes: 0 found, 1 not found, 2 invalid condition or usage.";
    EXAMPLES.to_owned() + &lines.collect::<String>() + end
}

/// Hides an option of an episode where only unchanged episodes of a seed are used.
pub(super) fn hide(option: clap::Arg) -> clap::Arg {
    option.hide(true)
}

/// Find the next episode in which a condition holds, and the steps.
#[derive(Debug, Args)]
#[command(after_help = help(), mut_arg("input", hide), mut_arg("intervene", hide))]
pub(super) struct Find {
    /// A preset whose weights are included, a weights file, or the folder of a run; with
    /// --weights, any preset.
    #[arg(value_name = "PRESET|FILE")]
    machine: String,
    /// The condition.
    #[arg(allow_hyphen_values = true)]
    condition: String,
    #[command(flatten)]
    episode: EpisodeArgs,
    /// Episodes to search, from --episode on.
    #[arg(long, value_name = "E", default_value_t = 100, value_parser = up_to(MOST_EPISODES as u64), allow_negative_numbers = true)]
    episodes: u64,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    threads: Option<usize>,
}

impl Find {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        ensure!(
            !self.condition.starts_with("--"),
            "there is no option `{}`; `tapescope find --help` lists all",
            self.condition
        );
        self.episode.check_of_seed()?;
        let trained = self.episode.trained(&self.machine)?;
        let (text, machine) = (&self.condition, &trained.machine);
        let chosen = self.episode.choose(&self.machine, &trained)?;
        let of = (machine, &chosen.task);
        let condition = checked("CONDITION", text, of, Expression::condition)?;
        let population = chosen.population(machine, self.episodes, threads(self.threads));
        check_memory(&self.machine, &population)?;
        let Some((episode, steps)) = population.first_match(&condition) else {
            let first = population.first;
            let (count, seed, first) = (self.episodes, first.seed, first.episode);
            let message = format!(
                "the condition holds in none of {count} episodes of seed {seed}, from episode {first} on"
            );
            return Err(CliError::Failed(message).into());
        };
        let ranges = steps.chunk_by(|step, next| step + 1 == *next);
        let ranges = ranges.map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range[0].to_string(),
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        writeln!(out, "--episode {episode}: steps {ranges}")?;
        Ok(())
    }
}

/// Parses an expression and checks it against a machine and its longest task; `option` is where it was typed.
pub(super) fn checked(
    option: &str,
    text: &str,
    (machine, task): (&Model, &Task),
    check: impl FnOnce(&Expression, &Trace) -> Result<Checked, ExpressionError>,
) -> anyhow::Result<Checked> {
    let parsed = Expression::parse(text);
    let [steps, source] = Demand::Recording.longest(&machine.config, task);
    let longest = Trace::of_recording(&machine.config, [steps, source], None);
    let checked = parsed.and_then(|parsed| check(&parsed, &longest));
    checked.map_err(|error| anyhow!("{option}: {}", error.in_text(text)))
}

/// Refuses to record more episodes at a time than there is memory for.
pub(super) fn check_memory(name: &str, population: &Population<'_>) -> anyhow::Result<()> {
    let (config, threads) = (&population.machine.config, population.threads);
    let bytes = Demand::Recording.of_task(config, population.task);
    let what = format!("{name}: recording {threads} episodes at a time (--threads)");
    machine::claim(bytes.saturating_mul(threads as u64), threads, &what)
}
