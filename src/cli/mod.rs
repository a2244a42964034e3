//! The command line: one file per subcommand. The only module that prints.

mod ablate;
mod arguments;
mod collect;
mod compare;
mod disassemble;
mod episode;
mod error;
mod eval;
mod find;
mod gradient;
pub mod in_process;
mod learn;
mod lesion;
mod machine;
mod manual;
mod measured;
mod message;
mod parent_watch;
mod plan;
mod population;
mod process;
mod provenance;
mod pytorch;
mod reads;
mod render;
mod repeat;
mod signal;
mod suite;
mod sweep;
mod table;
mod tasks;
mod trace;
mod train;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use self::error::{CliError, INVALID, exit_code};
use self::message::{note, said};
use self::process::{NAME, STARTED, Started, started};
use crate::figure::scene::fonts;
use crate::io::Error;
use crate::io::fonts::with_letters;
use crate::io::preset;
use crate::spelling::nearest;

const EXAMPLES: &str = "\
Examples:
  tapescope                                  open the window on an included machine
  tapescope copy.ntmtrace.json               open a file or a preset in it (short for `view`)
  tapescope tasks                            list the presets
  tapescope learn copy                       watch a machine learn from scratch
  tapescope train copy --seed 7              train; the best weights go to runs/copy-7
  tapescope eval copy --lengths 10,20,120    evaluate it, also on longer sequences
  tapescope find repeat_copy 'wrong' --repeats 13
                                             the first episode with a wrong bit, and the steps
  tapescope trace copy --length 20 --out copy.ntmtrace.json
                                             record one episode as JSON, every stage of every step
  tapescope provenance copy --length 20 --of read0:30
                                             print the writes that a read contains
  tapescope render copy --length 20 --out figure6.svg
                                             draw the same episode as in the paper (Figure 6)
  tapescope sweep copy --seeds 1..10         train ten seeds, one per processor at a time
  tapescope ablate copy --seeds 1..5         train it without each stage of its heads in turn
  tapescope lesion copy                      remove each part of the trained machine in turn

Exit codes: 0 success, 1 runtime failure or difference found, 2 invalid input or usage,
            3 verified in part, 4 training diverged, 130 stopped with Ctrl-C, 143 by SIGTERM,
            129 by SIGHUP; a window that a signal closes ends with 0.";

/// A Neural Turing Machine you can watch think.
///
/// A controller network drives read and write heads over a memory matrix. Train one, measure it,
/// watch every stage of its addressing, step by step, forwards and backwards.
#[derive(Debug, Parser)]
#[command(name = NAME, version = env!("TAPESCOPE_VERSION"), after_help = EXAMPLES, max_term_width = 100)]
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
    Find(find::Find),
    Trace(trace::Trace),
    Disassemble(disassemble::Disassemble),
    Provenance(provenance::Provenance),
    Pytorch(pytorch::Pytorch),
    Render(Box<render::Render>),
    Sweep(sweep::Sweep),
    Ablate(ablate::Ablate),
    Lesion(lesion::LesionArgs),
    Verify(compare::Verify),
    Diff(compare::Diff),
    Completions(manual::Completions),
    #[command(name = "man")]
    Manual(manual::Manual),
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
    let word = word.to_string_lossy();
    let commands = Cli::command();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let known: Vec<String> = commands
        .map(str::to_owned)
        .chain(preset::names().map(str::to_owned))
        .collect();
    let near = nearest(&word, known.iter().map(String::as_str));
    if near.is_none_or(|near| preset::names().all(|name| name != near)) {
        return Err(error);
    }
    let other = Error::unknown("command, file or preset", &word, preset::names());
    Err(clap::Error::raw(error.kind(), format!("{other}\n")))
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    perform().into()
}

/// Runs a command line in the process of another program, such as Python: once in each. `again` starts that as this
/// program once more: a program, and the first of its arguments. Returns the exit code.
pub fn run_inside(again: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    // A second command line in this process is ignored.
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
        Err(help) => return end(help.print().map_err(anyhow::Error::from)),
    };
    fonts::look_in(with_letters);
    let mut out = io::stdout().lock();
    let result = match cli.command.unwrap_or(Command::View(view::View::default())) {
        Command::View(view) => view.run(),
        Command::Tasks(tasks) => tasks.run(&mut out),
        Command::Train(train) => train.run(&mut out),
        Command::Learn(learn) => learn.run(),
        Command::Eval(eval) => eval.run(&mut out),
        Command::Find(find) => find.run(&mut out),
        Command::Trace(trace) => trace.run(&mut out),
        Command::Disassemble(disassemble) => disassemble.run(&mut out),
        Command::Pytorch(pytorch) => pytorch.run(&mut out),
        Command::Provenance(provenance) => provenance.run(&mut out),
        Command::Render(render) => render.with_page().run(&mut out),
        Command::Sweep(sweep) => sweep.run(&mut out),
        Command::Ablate(ablate) => ablate.run(&mut out),
        Command::Lesion(lesion) => lesion.run(&mut out),
        Command::Verify(verify) => verify.run(&mut out),
        Command::Diff(diff) => diff.run(&mut out),
        Command::Completions(completions) => completions.run(Cli::command(), &mut out),
        Command::Manual(manual) => manual.run(Cli::command(), &mut out),
    };
    if let Some(letters) = fonts::warning() {
        note(&format!("warning: {letters}"));
    }
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
    INVALID
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

#[cfg(test)]
mod tests {
    use super::message::decimals;
    use super::*;

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
