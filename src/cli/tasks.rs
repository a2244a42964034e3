//! `tapescope tasks`: what there is to learn.

use std::io::Write;

use clap::Args;

use crate::io::{Experiment, preset, weights};

const EXAMPLES: &str = "\
Examples:
  tapescope tasks                list the experiments
  tapescope tasks copy           print one in full: save it, change it, train it
  tapescope tasks copy --set model.memory.rows=64 > mine.json
  tapescope train mine.json
  tapescope tasks --keys         every key of a preset: its default, what is allowed, what it is";

/// List the experiments, or print one in full.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Tasks {
    /// Print this one as JSON with every default written out: a name, or the path of a JSON file.
    preset: Option<String>,
    /// Print every key that a preset may have, with its default and what is allowed, as a table in Markdown.
    #[arg(long, conflicts_with = "preset")]
    keys: bool,
    /// Change a value, by its path in the JSON; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "preset")]
    overrides: Vec<preset::Override>,
}

impl Tasks {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(preset) = &self.preset {
            let experiment = Experiment::find(preset, &self.overrides)?;
            return Ok(out.write_all(experiment.to_json().as_bytes())?);
        }
        if self.keys {
            return Ok(out.write_all(preset::table().as_bytes())?);
        }
        let trained: Vec<&str> = weights::shipped_names().collect();
        for name in preset::names() {
            let experiment = Experiment::find(name, &[])?;
            let state = if trained.contains(&name) {
                "; trained weights included"
            } else {
                ""
            };
            writeln!(out, "{name:<38}{}{state}", experiment.title)?;
        }
        Ok(())
    }
}
