//! `tapescope learn`: the window, on a machine that learns.

use clap::Args;

use super::arguments::{from_zero, up_to};
use super::plan::Seeds;
#[cfg(feature = "gui")]
use crate::io::Experiment;
use crate::io::preset;
use crate::train::TrainingConfig;

const EXAMPLES: &str = "\
Examples:
  tapescope learn                             watch the copy machine learn from scratch
  tapescope learn copy --seed 7
  tapescope learn copy --seeds 1..10          ten seeds side by side
  tapescope learn repeat_copy --set training.optimizer.learning_rate=3e-4
  tapescope learn mine.json                   your own preset
  tapescope learn copy --ablate               the machine, and the same without gate, shift, …

In the window, T starts and pauses training, and Shift+T runs one update. The training timeline below the pictures \
leads back to every training snapshot. `tapescope train` trains without a window and gives identical weights.";

/// The most runs side by side in the window.
#[cfg(feature = "gui")]
const MOST_RUNS: usize = 24;

/// Open the window and train a machine live, from scratch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Learn {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    #[arg(default_value = "copy")]
    preset: String,
    /// Seed of the initial weights and of every episode [default: as in the preset].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Run ablations: the whole machine and the machine without each stage of its heads, side by side.
    #[arg(long, conflicts_with = "seeds")]
    ablate: bool,
    /// Train these seeds side by side: an inclusive range or a list.
    #[arg(long, value_name = "LIST", conflicts_with = "seed")]
    seeds: Option<Seeds>,
    /// Training sequences in the whole run [default: as in the preset].
    #[arg(long, value_name = "K", value_parser = up_to(TrainingConfig::MAX_SEQUENCES), allow_negative_numbers = true)]
    sequences: Option<u64>,
    /// Set a value of the preset by its path in the JSON; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<preset::Override>,
}

impl Learn {
    #[cfg(feature = "gui")]
    pub(super) fn run(self) -> anyhow::Result<()> {
        use super::view::show;
        use crate::viewer::{self, First, StartOptions};
        let mut experiment = Experiment::find(&self.preset, &self.overrides)?;
        let training = &mut experiment.training;
        training.seed = self.seed.unwrap_or(training.seed);
        training.sequences = self.sequences.unwrap_or(training.sequences);
        super::machine::check_training(&experiment, &self.preset, super::arguments::threads(None))?;
        if self.ablate {
            let all = viewer::ablated(&experiment);
            anyhow::ensure!(
                !all.is_empty(),
                "--ablate: the heads of {} have no stage to remove",
                self.preset
            );
            return show(Some(First::Learning(all)), None, StartOptions::default());
        }
        let own = || vec![experiment.training.seed];
        let seeds = self.seeds.map_or_else(own, |Seeds(seeds)| seeds);
        let count = seeds.len();
        anyhow::ensure!(
            count <= MOST_RUNS,
            "--seeds: {count} runs are more than the window shows, {MOST_RUNS}; to train more, use `tapescope sweep {} --seeds …`",
            self.preset
        );
        let runs = seeds.into_iter().map(|seed| {
            let mut experiment = experiment.clone();
            experiment.training.seed = seed;
            (None, experiment)
        });
        let first = First::Learning(runs.collect());
        show(Some(first), None, StartOptions::default())
    }

    #[cfg(not(feature = "gui"))]
    pub(super) fn run(self) -> anyhow::Result<()> {
        let preset = self.preset;
        anyhow::bail!(
            "this build has no window; train without it: tapescope train {preset}; or build the window: cargo build --release --features gui"
        )
    }
}
