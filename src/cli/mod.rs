//! The command line: one file per subcommand. The only module that prints.

mod ablate;
mod collect;
mod compare;
mod episode;
mod eval;
mod gradient;
pub mod in_process;
mod learn;
mod machine;
mod manual;
mod parent_watch;
mod plan;
mod render;
mod repeat;
mod samples;
mod signal;
mod suite;
mod sweep;
mod table;
mod tasks;
mod trace;
mod train;
mod view;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command as Process, ExitCode};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, Subcommand};

use crate::io::preset;
use crate::io::{Error, bounded, shell};
use crate::model::NtmConfig;

const EXAMPLES: &str = "\
Examples:
  tapescope                                  open the window on an included machine
  tapescope copy.ntmtrace.json               open a file or a preset in it (short for `view`)
  tapescope tasks                            list the presets
  tapescope learn copy                       watch a machine learn from scratch
  tapescope train copy --seed 7              train; the best weights go to runs/copy-7
  tapescope eval copy --lengths 10,20,120    evaluate it, also on longer sequences
  tapescope trace copy --length 20 --out copy.ntmtrace.json
                                             record one episode as JSON, every stage of every step
  tapescope render copy --length 20 --out figure6.svg
                                             draw the same episode as in the paper (Figure 6)
  tapescope sweep copy --seeds 1..10         train ten seeds, one per processor at a time
  tapescope ablate copy --seeds 1..5         train it without each stage of its heads in turn

Exit codes: 0 success, 1 runtime failure or difference found, 2 invalid input or usage,
            3 verified in part, 4 training diverged, 130 stopped with Ctrl-C, 143 by SIGTERM,
            129 by SIGHUP.";

/// The name of the program.
const NAME: &str = "tapescope";
/// The most threads of a command.
const MOST_THREADS: usize = 1024;
/// The most episodes of a measurement.
const MOST_EPISODES: usize = 10_000_000;

/// The most samples of an episode.
const MOST_SAMPLES: u64 = 10_000;

/// The exit code after Ctrl-C, as shells have it: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// The exit code of a training that diverged: a result, which the same seed gives again.
const DIVERGED: u8 = 4;

/// A Neural Turing Machine you can watch think.
///
/// A controller network drives read and write heads over a memory matrix. Train one, measure it,
/// watch every stage of its addressing, step by step, forwards and backwards.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    /// Without one: view; `tapescope copy` is `tapescope view copy`.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    View(view::View),
    Tasks(tasks::Tasks),
    Train(train::Train),
    Learn(learn::Learn),
    Eval(eval::Eval),
    Trace(trace::Trace),
    Render(render::Render),
    Sweep(sweep::Sweep),
    Ablate(ablate::Ablate),
    Verify(compare::Verify),
    Diff(compare::Diff),
    Completions(manual::Completions),
    #[command(name = "man")]
    Manual(manual::Manual),
}

/// Errors of a command that are not about a file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
enum CliError {
    /// Invalid usage.
    Usage(String),
    /// The user stopped it.
    Stopped(String),
    /// The numbers of a training are no longer finite.
    Diverged(String),
    /// Something differs, and has been printed.
    #[error("something differs")]
    Differs,
    /// All checks that were possible passed; the others have been printed.
    #[error("holds in part")]
    Partial,
}

use CliError::Usage;

/// Refuses the arguments, with this message.
fn refuse<T>(problem: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(problem.into()).into())
}

/// Formats a number with `digits` decimals; in powers of ten if it would fill the line.
fn decimals(value: f64, digits: usize) -> String {
    if value.abs() < 1e7 {
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}

/// Parses the command line. A first word that is a file or a preset, not a command, is opened with `view`.
fn parse() -> Result<Cli, clap::Error> {
    let mut typed = vec![NAME.into()];
    typed.extend(started().arguments.iter().cloned());
    let error = match Cli::try_parse_from(&typed) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let word = typed.get(1);
    let Some(word) = word.filter(|_| error.kind() == ErrorKind::InvalidSubcommand) else {
        return Err(error);
    };
    if view::can_be_meant(word) {
        typed.insert(1, "view".into());
        return Cli::try_parse_from(typed);
    }
    let what = "command, file or preset";
    let other = Error::unknown(what, &word.to_string_lossy(), preset::names());
    if let Error::Unknown {
        suggestion: Some(_),
        ..
    } = other
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        return Err(clap::Error::raw(error.kind(), format!("{other}\n")));
    }
    Err(error)
}

/// The way in which this program was started.
#[derive(Debug)]
struct Started {
    /// The program and its first arguments that start it again. Empty if unknown.
    again: Vec<OsString>,
    /// The arguments that were typed after it.
    arguments: Vec<OsString>,
}

static STARTED: OnceLock<Started> = OnceLock::new();

fn started() -> &'static Started {
    STARTED.get_or_init(|| Started {
        again: std::env::current_exe().map_or_else(|_| Vec::new(), |path| vec![path.into()]),
        arguments: std::env::args_os().skip(1).collect(),
    })
}

/// This program once more, without arguments.
fn again() -> io::Result<Process> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let (program, first) = started().again.split_first().ok_or_else(missing)?;
    let mut process = Process::new(program);
    process.args(first);
    Ok(process)
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    perform().into()
}

/// Runs a command line in the process of another program, such as Python: once in each. `again` starts that as this
/// program once more: a program, and the first of its arguments. Returns the exit code.
pub fn run_inside(again: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    // Of a second command line the first would be told.
    drop(STARTED.set(Started { again, arguments }));
    perform()
}

fn perform() -> u8 {
    // Otherwise it ends the program where a file grows beyond `ulimit -f`; now the write fails with an error.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return misused(&error),
        // What was asked for: help, or the version.
        Err(help) => return end(help.print().map_err(anyhow::Error::from)),
    };
    let mut out = io::stdout().lock();
    let result = match cli.command.unwrap_or(Command::View(view::View::default())) {
        Command::View(view) => view.run(),
        Command::Tasks(tasks) => tasks.run(&mut out),
        Command::Train(train) => train.run(&mut out),
        Command::Learn(learn) => learn.run(),
        Command::Eval(eval) => eval.run(&mut out),
        Command::Trace(trace) => trace.run(&mut out),
        Command::Render(render) => render.run(&mut out),
        Command::Sweep(sweep) => sweep.run(&mut out),
        Command::Ablate(ablate) => ablate.run(&mut out),
        Command::Verify(verify) => verify.run(&mut out),
        Command::Diff(diff) => diff.run(&mut out),
        Command::Completions(completions) => completions.run(&mut out),
        Command::Manual(manual) => manual.run(&mut out),
    };
    end(result)
}

/// Prints a usage error as clap words it: in colour, unless it contains terminal control characters.
fn misused(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    if said(&text) == text {
        // An error while printing has no reader to report to.
        let _ = error.print();
    } else {
        note(text.trim_end());
    }
    2
}

/// Reports the result of a command and returns the exit code. Its output must have arrived.
fn end(result: anyhow::Result<()>) -> u8 {
    match result.and_then(|()| Ok(io::stdout().flush()?)) {
        Ok(()) => 0,
        Err(error) if reader_left(&error) => 0,
        Err(error) => {
            match error.downcast_ref() {
                Some(CliError::Differs | CliError::Partial) => {}
                Some(CliError::Stopped(words)) => note(words),
                // Every other file has its name in an error of its own.
                None if error.is::<io::Error>() => note(&format!(
                    "error: standard output: cannot be written: {error}"
                )),
                _ => note(&format!("error: {error}")),
            }
            exit_code(&error)
        }
    }
}

/// True when standard output was closed early, as by `| head`: not an error.
fn reader_left(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(CliError::Usage(_)) => 2,
        Some(CliError::Partial) => 3,
        Some(CliError::Diverged(_)) => DIVERGED,
        Some(CliError::Stopped(_)) => signal::exit_code(),
        Some(CliError::Differs) => 1,
        None => match error.downcast_ref() {
            // The folder of a file to write is not there.
            Some(Error::Write(_, why)) if why.kind() == io::ErrorKind::NotFound => 2,
            Some(Error::Write(..)) | None => 1,
            Some(_) => 2,
        },
    }
}

/// Writes a line for people to standard error; a failure to write is ignored.
fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", said(line));
}

/// A message whose characters do not act on the terminal, and that is no longer than a screen: whatever was
/// typed, or stands in a file, may be part of it.
fn said(message: &str) -> String {
    const MOST: usize = 4000;
    const OF_A_LINE: usize = 1500;
    let lines = message.split('\n').map(|line| bounded(line, OF_A_LINE));
    let lines: Vec<_> = lines.collect();
    let text = lines.join("\n");
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain(['…']).collect()
}

/// True for two names of one existing file or folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| path.canonicalize().ok();
    found(one).is_some_and(|one| Some(one) == found(other))
}

/// A seed, or the index of an episode, as it is typed.
fn from_zero(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number, 0 to {}", u64::MAX))
}

/// A number of memory rows, as it is typed.
fn rows(text: &str) -> Result<usize, String> {
    up_to(NtmConfig::MAX_ROWS)(text).map_err(|problem| match text {
        "all" | "touched" => {
            format!("{problem}; to choose the rows in a figure, use `render --show-rows {text}`")
        }
        _ => problem,
    })
}

/// A step of an episode, as it is typed.
fn step(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "expected a step number, 0 or more".to_owned())
}

/// Reads whole numbers from 1 to `most`: one, or a range with both ends.
fn range_up_to(most: usize) -> impl Fn(&str) -> Result<RangeInclusive<usize>, String> + Clone {
    move |text| {
        let expected = format!("expected a whole number, 1 to {most}, or a range such as 10..20");
        let [first, last] = plan::ends(text, &expected)?.map(usize::try_from);
        match (first, last) {
            (Ok(first @ 1..), Ok(last)) if last <= most => Ok(first..=last),
            _ => Err(expected),
        }
    }
}

/// Reads a whole number from 1 to `most`.
fn up_to<T>(most: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + From<u8> + Copy,
{
    move |text| match text.parse() {
        Ok(value) if value >= T::from(1) && value <= most => Ok(value),
        _ => Err(format!("expected a whole number, 1 to {most}")),
    }
}

/// Returns the number of threads: the requested number, or one per processor.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns the command line as typed, to be stored with its results.
fn command_line() -> String {
    shell::command(&started().arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_huge_number_does_not_fill_the_line() {
        assert_eq!(decimals(0.123_45, 4), "0.1235");
        assert_eq!(decimals(-1_234_567.0, 1), "-1234567.0");
        assert_eq!(decimals(3e38, 4), "3.00e38");
        let others = [f64::NAN, f64::INFINITY].map(|value| decimals(value, 4));
        assert_eq!(others, ["NaN", "inf"]);
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
