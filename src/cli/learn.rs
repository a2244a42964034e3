//! `tapescope learn`: the window, on a machine that learns.

use clap::Args;

use super::plan::Seeds;
use super::{from_zero, up_to};
#[cfg(feature = "gui")]
use crate::io::Experiment;
use crate::io::preset;
use crate::train::TrainingConfig;

const EXAMPLES: &str = "\
Examples:
  tapescope learn                             watch the copy machine learn, from nothing
  tapescope learn copy --seed 7
  tapescope learn copy --seeds 1..10          ten side by side: which of them learn it?
  tapescope learn repeat_copy --set training.optimizer.rate=3e-4
  tapescope learn mine.json                   a preset of your own
  tapescope learn copy --ablate               beside it the same machine without a gate, a shift …

In the window T trains and waits, Shift+T does one update, and the lane below the pictures leads back to what the \
machine was at every moment. `tapescope train` does the same without a window, to the same bits.";

/// The most runs side by side in the window.
#[cfg(feature = "gui")]
const MOST_RUNS: usize = 24;

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
    /// Learn whole, and without each of the stages of its heads, side by side.
    #[arg(long, conflicts_with = "seeds")]
    ablate: bool,
    /// Learn from these seeds side by side: a range with both its ends, or a list.
    #[arg(long, value_name = "LIST", conflicts_with = "seed")]
    seeds: Option<Seeds>,
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
        use crate::viewer::{self, First};
        let mut experiment = Experiment::find(&self.preset, &self.overrides)?;
        let training = &mut experiment.training;
        training.seed = self.seed.unwrap_or(training.seed);
        training.sequences = self.sequences.unwrap_or(training.sequences);
        super::train::check_size(&experiment, &self.preset, super::threads(None))?;
        if self.ablate {
            let all = viewer::ablated(&experiment);
            if all.is_empty() {
                let preset = self.preset;
                return super::refuse(format!(
                    "--ablate: the heads of {preset} have no stages to leave out"
                ));
            }
            return show(First::Learning(all));
        }
        let seeds = match self.seeds {
            Some(Seeds(seeds)) if seeds.len() > MOST_RUNS => {
                let count = seeds.len();
                return super::refuse(format!(
                    "--seeds: {count} runs do not fit in the window, at most {MOST_RUNS} do; `tapescope sweep {} --seeds …` trains as many as there are",
                    self.preset
                ));
            }
            Some(Seeds(seeds)) => seeds,
            None => vec![experiment.training.seed],
        };
        let runs = seeds.into_iter().map(|seed| {
            let mut experiment = experiment.clone();
            experiment.training.seed = seed;
            (format!("seed {seed}"), experiment)
        });
        show(First::Learning(runs.collect()))
    }

    #[cfg(not(feature = "gui"))]
    pub(super) fn run(self) -> anyhow::Result<()> {
        let preset = self.preset;
        super::refuse(format!(
            "this build has no window to watch {preset} in; `tapescope train {preset}` trains it, or build one with: cargo build --release --features gui"
        ))
    }
}

#[cfg(feature = "gui")]
fn show(first: crate::viewer::First) -> anyhow::Result<()> {
    let (begin, stop) = (
        crate::viewer::Beginning::default(),
        super::signal::interrupted(),
    );
    let shown = crate::viewer::run(Some(first), None, begin, stop);
    shown.or_else(|error| super::refuse(error.to_string()))
}
