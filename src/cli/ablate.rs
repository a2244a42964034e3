//! `tapescope ablate`: the effect of each stage of the addressing: a preset without it, from the same seeds.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;

use super::collect::{Collect, picture_format, threshold};
use super::message::note;
use super::plan::{Runs, Seeds, Shard, settings};
use super::sweep::Order;
use super::table::Format;
use crate::io::preset::{self, Ablations, WHOLE, ablations};
use crate::io::{Experiment, label};

const EXAMPLES: &str = "\
Examples:
  tapescope ablate copy --seeds 1..5
  tapescope ablate copy --seeds 1..3 --sequences 20000 --svg ablations.svg
  tapescope ablate associative_recall --dry-run      print the commands of the runs

Trains the unchanged preset and the preset without each of these stages, in all heads:
";

const BELOW: &str = "
A stage that the preset does not have is skipped, with a note. The preset of a machine file is trained with each other \
choice of its switches. The runs form a sweep: repeat the command to train \
the missing runs and print the tables; docs/sweeps.md explains the columns. Progress goes to standard error. To compare two \
of the machines step by step, use `tapescope view RUN --compare RUN`.";

fn after_help() -> String {
    let line = |(name, about)| format!("  {name:<15} {about}\n");
    let lines: String = preset::stages().map(line).collect();
    format!("{EXAMPLES}{lines}{BELOW}")
}

/// Run ablations: train a preset, and the preset without each stage of its heads, and compare them.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct Ablate {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    preset: String,
    /// Seeds: an inclusive range or a list.
    #[arg(
        long,
        value_name = "A..B",
        default_value = "1..5",
        allow_negative_numbers = true
    )]
    seeds: Seeds,
    /// Folder of the run folders [default: ablations/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    runs: Runs,
    /// Bits per sequence below which a run succeeds; N-grams need 134.
    #[arg(long, value_name = "BITS", default_value_t = 0.1, value_parser = threshold, allow_negative_numbers = true)]
    threshold: f64,
    /// Format of the tables.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// Draw the learning curves into this file (.svg or .png).
    #[arg(long, value_name = "FILE.SVG")]
    svg: Option<PathBuf>,
}

impl Ablate {
    pub(super) fn run(self, out: &mut impl Write) -> anyhow::Result<()> {
        // Said before hours of training, not after them.
        self.svg
            .as_deref()
            .map(|path| picture_format("--svg", path))
            .transpose()?;
        let set = self.runs.overrides();
        let Seeds(seeds) = &self.seeds;
        settings(&set, &[], seeds.len())?;
        let whole = Experiment::find(&self.preset, &set)?;
        let Ablations { variants, left_out } = ablations(&whole);
        ensure!(!variants.is_empty(), left_out.join("; "));
        left_out.iter().for_each(|words| note(words));

        let default = || PathBuf::from("ablations").join(&whole.name);
        let folder = self.out.unwrap_or_else(default);
        let (mut names, mut experiments) = (vec![WHOLE.to_owned()], vec![(set.clone(), whole)]);
        for variant in variants {
            names.push(variant.name);
            let set = [&set[..], &[variant.set]].concat();
            experiments.push((set, variant.experiment));
        }
        let order = Order {
            preset: &self.preset,
            experiments: &experiments,
            seeds,
            shard: Shard::WHOLE,
            folder: &folder,
            runs: &self.runs,
        };
        if self.runs.dry_run {
            return order.train(out);
        }
        order.train(&mut io::stderr())?;
        note(&format!("the runs are in {}", label(&folder)));
        let experiments = experiments.into_iter().map(|(_, experiment)| experiment);
        let named = names.into_iter().zip(experiments).collect();
        let collect = Collect {
            folders: vec![folder],
            named,
            threshold: self.threshold,
            fresh: None,
            format: self.format,
            svg: self.svg,
        };
        collect.run(out)
    }
}
