//! `tapescope tasks`: the list of presets.

use std::io::Write;

use clap::Args;

use super::message::note_warnings;
use crate::io::{Experiment, preset, weights};

const EXAMPLES: &str = "\
Examples:
  tapescope tasks                list the presets
  tapescope tasks copy           print a preset in full, to save, change and train
  tapescope tasks copy --set model.memory.rows=64 > mine.json
  tapescope train mine.json
  tapescope tasks --keys         print every key with default, allowed values and meaning
  tapescope tasks mine.json --keys         those of this preset and of its machine file";

/// List the presets, or print one in full.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Tasks {
    /// Print this preset as JSON with all defaults: a preset name, or the path of a JSON file.
    preset: Option<String>,
    /// Print every key as a Markdown table, with default, allowed values and meaning; with a preset those that it has.
    #[arg(long)]
    keys: bool,
    /// Set a value by its path in the JSON; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "preset")]
    overrides: Vec<preset::Override>,
}

impl Tasks {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(preset) = &self.preset {
            let experiment = Experiment::find(preset, &self.overrides)?;
            note_warnings(&experiment.model);
            if self.keys {
                return Ok(out.write_all(preset::table_of(&experiment).as_bytes())?);
            }
            return Ok(out.write_all(experiment.to_json().as_bytes())?);
        }
        if self.keys {
            return Ok(out.write_all(preset::table().as_bytes())?);
        }
        let trained: Vec<&str> = weights::included_names().collect();
        for (index, (group, names)) in preset::groups().enumerate() {
            let line = if index > 0 { "\n" } else { "" };
            writeln!(out, "{line}{group}:")?;
            for name in names {
                let experiment = Experiment::find(name, &[])?;
                let state = if trained.contains(&name) {
                    "; trained weights included"
                } else {
                    ""
                };
                // There the titles differ in a word; what such an attention is for takes a sentence.
                let words = match group {
                    _ if preset::SECTIONS.contains(&group) => {
                        experiment.description.trim_end_matches('.')
                    }
                    _ => &experiment.title,
                };
                writeln!(out, "  {name:<38}{words}{state}")?;
            }
        }
        Ok(())
    }
}
