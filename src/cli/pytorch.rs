//! `tapescope pytorch`: a machine file as a module for PyTorch.

use std::io::Write;
use std::path::Path;

use anyhow::{anyhow, bail, ensure};
use clap::Args;

use super::arguments::Resize;
use super::machine::{self, Named};
use crate::io::preset::{Experiment, Override};
use crate::io::{machine_file, preset};
use crate::model::ModelConfig;
use crate::pytorch::{self, OfTask};

const EXAMPLES: &str = "\
Examples:
  tapescope pytorch transduce > transduce.py
  tapescope pytorch mine.json --set model.sizes.units=64 > mine.py
  tapescope pytorch ntm.machine --set model.sizes.rows=32 > ntm.py";

/// Write a machine file as a module for PyTorch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Pytorch {
    /// A machine file or the name of an included one, which ends in .machine; a preset: its name, or a JSON file; or a
    /// weights file or run folder.
    #[arg(value_name = "FILE|PRESET")]
    file: String,
    /// Set a value of the preset by its path in the JSON; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<Override>,
}

impl Pytorch {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let name = &self.file;
        let is_file = machine_file::is_machine(Path::new(name));
        let mut others = self
            .overrides
            .iter()
            .filter(|set| !set.path.starts_with("model."));
        if let Some(set) = others.next().filter(|_| is_file) {
            bail!(
                "--set {set}: a machine file has no preset; allowed: values of `model`, such as model.sizes.rows=64"
            );
        }
        let (model, task) = if is_file {
            (
                preset::of_machine_file(Path::new(name), &self.overrides)?,
                None,
            )
        } else {
            let (model, task) = if Named::of(name) == Named::Weights {
                ensure!(
                    self.overrides.is_empty(),
                    "{name}: trained weights have their sizes; omit --set"
                );
                let trained = machine::read(Path::new(name), &Resize::default())?;
                (trained.machine.config.clone(), trained.now().task)
            } else {
                let found = Experiment::find(name, &self.overrides)?;
                (found.model, found.task)
            };
            let (widths, answer) = ([task.inputs(), task.outputs()], task.answer());
            (model, Some(OfTask { widths, answer }))
        };
        let ModelConfig::Equations(config) = &model else {
            bail!(
                "{name}: the machine is not a machine file; `ntm.machine`, `dnc.machine` and `sam.machine` are those of the other kinds"
            );
        };
        let text = pytorch::module(config, task).map_err(|problem| anyhow!("{name}: {problem}"))?;
        Ok(out.write_all(text.as_bytes())?)
    }
}
