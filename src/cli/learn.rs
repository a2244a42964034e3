//! `tapescope learn`: the window, on a machine that learns.

use clap::Args;

use super::{from_zero, up_to};
#[cfg(feature = "gui")]
use crate::io::Experiment;
use crate::io::preset;
use crate::train::TrainingConfig;

const EXAMPLES: &str = "\
Examples:
  tapescope learn                             watch the copy machine learn, from nothing
  tapescope learn copy --seed 7
  tapescope learn repeat_copy --set training.optimizer.rate=3e-4
  tapescope learn mine.json                   a preset of your own

In the window T trains and waits, Shift+T does one update, and the lane below the pictures leads back to what the \
machine was at every moment. `tapescope train` does the same without a window, to the same bits.";

/// Open the window on a machine that learns, from nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Learn {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    #[arg(default_value = "copy")]
    preset: String,
    /// Seed of the initial weights and of every episode [default: that of the preset].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Episodes in the whole run [default: that of the preset].
    #[arg(long, value_name = "K", value_parser = up_to(TrainingConfig::MAX_SEQUENCES), allow_negative_numbers = true)]
    sequences: Option<u64>,
    /// Change a value of the preset, by its path in the JSON; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<preset::Override>,
}

impl Learn {
    #[cfg(feature = "gui")]
    pub(super) fn run(self) -> anyhow::Result<()> {
        use crate::viewer::{self, Beginning, First};
        let mut experiment = Experiment::find(&self.preset, &self.overrides)?;
        let training = &mut experiment.training;
        training.seed = self.seed.unwrap_or(training.seed);
        training.sequences = self.sequences.unwrap_or(training.sequences);
        super::train::check_size(&experiment, &self.preset, super::threads(None))?;
        let first = First::Learning(Box::new(experiment));
        let shown = viewer::run(Some(first), None, Beginning::default());
        shown.or_else(|error| super::refuse(error.to_string()))
    }

    #[cfg(not(feature = "gui"))]
    pub(super) fn run(self) -> anyhow::Result<()> {
        let preset = self.preset;
        super::refuse(format!(
            "this build has no window to watch {preset} in; `tapescope train {preset}` trains it, or build one with: cargo build --release --features gui"
        ))
    }
}
