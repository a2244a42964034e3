//! `tapescope completions` and `tapescope man`: the command line described to shells, and in manual pages.

use std::io::Write;

use anyhow::bail;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::process::NAME;
use crate::spelling::did_you_mean;

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
    pub(super) fn run(&self, mut program: Command, out: &mut impl Write) -> anyhow::Result<()> {
        // Writing to memory does not fail.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut program, NAME, &mut text);
        Ok(out.write_all(&text)?)
    }
}

/// Print the manual page of the program, or of a command.
#[derive(Debug, Args)]
#[command(after_help = OF_MAN)]
pub(super) struct Manual {
    /// Print the page of this command [default: the page of the program].
    command: Option<String>,
}

impl Manual {
    pub(super) fn run(&self, program: Command, out: &mut impl Write) -> anyhow::Result<()> {
        let mut page = program.disable_help_subcommand(true);
        page.build();
        if let Some(name) = &self.command {
            let Some(found) = page.find_subcommand(name) else {
                let names: Vec<_> = page.get_subcommands().map(Command::get_name).collect();
                let meant = did_you_mean(name, names.iter().copied());
                let names = names.join(", ");
                bail!("there is no command `{name}`; {meant}expected one of {names}");
            };
            page = found.clone();
        }
        Ok(Man::new(page).render(out)?)
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_has_a_man_page_and_completions() {
        let mut told = Vec::new();
        for shell in Shell::value_variants() {
            let mut text = Vec::new();
            let completions = Completions { shell: *shell };
            completions.run(Cli::command(), &mut text).unwrap();
            told.push((shell, String::from_utf8(text).unwrap()));
        }
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let mut page = Vec::new();
            let manual = Manual {
                command: Some(name.to_owned()),
            };
            manual.run(Cli::command(), &mut page).unwrap();
            let page = String::from_utf8(page).unwrap();
            assert!(page.contains(&format!(".TH tapescope-{name} 1")), "{name}");
            for (shell, text) in &told {
                assert!(text.contains(name), "{shell}: {name}");
                for argument in command.get_arguments().filter_map(clap::Arg::get_long) {
                    assert!(text.contains(argument), "{shell}: {name} --{argument}");
                }
            }
            // An option that the command refuses is not shown.
            let shown = command.get_arguments().filter(|it| !it.is_hide_set());
            for argument in shown.filter_map(clap::Arg::get_long) {
                let shown = argument.replace('-', "\\-");
                assert!(page.contains(&shown), "{name} --{argument}");
            }
        }
    }
}
