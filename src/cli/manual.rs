//! `tapescope completions` and `tapescope man`: the command line described to shells, and in manual pages.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::Cli;

const OF_COMPLETIONS: &str = "\
Examples:
  source <(tapescope completions bash)                                  for this shell
  tapescope completions bash > ~/.local/share/bash-completion/completions/tapescope
  tapescope completions zsh > ~/.zfunc/_tapescope                       a folder in $fpath
  tapescope completions fish > ~/.config/fish/completions/tapescope.fish";

const OF_MAN: &str = "\
Examples:
  tapescope man train | man -l -                                        read a page
  tapescope man > ~/.local/share/man/man1/tapescope.1                   install a page";

/// Print a shell script that completes commands and options.
#[derive(Debug, Args)]
#[command(after_help = OF_COMPLETIONS)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        // What writes it takes a failure for a bug; a text in memory does not fail.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "tapescope", &mut text);
        Ok(out.write_all(&text)?)
    }
}

/// Print the manual page of the program, or of a command.
#[derive(Debug, Args)]
#[command(after_help = OF_MAN)]
pub(super) struct Manual {
    /// Print the page of this command [default: the page of the program].
    #[arg(value_parser = command)]
    command: Option<String>,
}

impl Manual {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut page = Cli::command().disable_help_subcommand(true);
        page.build();
        if let Some(command) = &self.command {
            page = page.find_subcommand(command).cloned().unwrap_or(page);
        }
        Ok(Man::new(page).render(out)?)
    }
}

/// The name of a command, as it is typed.
fn command(text: &str) -> Result<String, String> {
    let program = Cli::command();
    let mut names = program.get_subcommands().map(clap::Command::get_name);
    if names.any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<_> = program
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    Err(format!("expected one of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_command_has_a_man_page_and_completions() {
        let mut told = Vec::new();
        for shell in Shell::value_variants() {
            let mut text = Vec::new();
            Completions { shell: *shell }.run(&mut text).unwrap();
            told.push((shell, String::from_utf8(text).unwrap()));
        }
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let mut page = Vec::new();
            let manual = Manual {
                command: Some(name.to_owned()),
            };
            manual.run(&mut page).unwrap();
            let page = String::from_utf8(page).unwrap();
            assert!(page.contains(&format!(".TH tapescope-{name} 1")), "{name}");
            for (shell, text) in &told {
                assert!(text.contains(name), "{shell}: {name}");
                for argument in command.get_arguments().filter_map(clap::Arg::get_long) {
                    assert!(text.contains(argument), "{shell}: {name} --{argument}");
                }
            }
            for argument in command.get_arguments().filter_map(clap::Arg::get_long) {
                let shown = argument.replace('-', "\\-");
                assert!(page.contains(&shown), "{name} --{argument}");
            }
        }
    }
}
