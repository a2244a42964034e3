//! `tapescope trace`: one episode with every stage of every step, as JSON.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Usage, from_zero, items, length, machine, note, repeats, rows};
use crate::io::trace::{Encoding, Source};
use crate::io::{Experiment, Trained, bits, trace};
use crate::model::ModelConfig;
use crate::task::Task;
use crate::train::{Recording, UNSEEN_SEED, recording_bytes};

/// The size from which an export is announced with a warning, in bytes.
const LARGE: u64 = 100_000_000;

const EXAMPLES: &str = r#"Examples:
  tapescope trace copy --length 20 --out copy.ntmtrace.json
  tapescope trace runs/copy-1/weights.safetensors --length 87 --episode 3 --out t.ntmtrace.json
  tapescope trace copy --input bits.json --out mine.ntmtrace.json
  tapescope trace mine.json --weights weights.safetensors --out t.ntmtrace.json
  tapescope trace copy --length 200 --out long.npz
  tapescope view copy.ntmtrace.json

bits.json holds rows of 0 and 1, such as [[0,1,1,0,1,0,0,1]], or an object with what else the task
needs: {"bits": [[…]], "repeats": 3}, or "query": 0, or "priorities": [0.5, …].
The file loads into Python with three lines; see docs/formats.md. The same command gives the same bytes."#;

/// Record one episode and write it as JSON: every array of every stage of every step.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Trace {
    /// A preset whose weights are included, a weights file, or the folder of a run; with
    /// --weights, any preset.
    #[arg(value_name = "PRESET|FILE")]
    machine: String,
    /// Take the task from PRESET, and the machine from this weights file.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Length of the sequence, in vectors [default: drawn as in training].
    #[arg(long, value_name = "L", value_parser = length, allow_negative_numbers = true, conflicts_with = "input")]
    length: Option<usize>,
    /// Number of items, for tasks that have them [default: drawn as in training].
    #[arg(long, value_name = "N", value_parser = items, allow_negative_numbers = true, conflicts_with = "input")]
    items: Option<usize>,
    /// Number of repeats [default: drawn as in training].
    #[arg(long, value_name = "R", value_parser = repeats, allow_negative_numbers = true)]
    repeats: Option<usize>,
    /// Seed of the episode.
    #[arg(long, value_name = "S", default_value_t = UNSEEN_SEED, value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    seed: u64,
    /// Which episode of that seed.
    #[arg(long, value_name = "I", default_value_t = 0, value_parser = from_zero, allow_negative_numbers = true, conflicts_with = "input")]
    episode: u64,
    /// Show these bits instead of random ones.
    #[arg(long, value_name = "BITS.JSON")]
    input: Option<PathBuf>,
    /// Run on this many memory rows instead of those of the training.
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    rows: Option<usize>,
    /// Write the whole memory of every step, also when it is large.
    #[arg(long)]
    full_memory: bool,
    /// The file to write: JSON, or by its end .json.gz or .npz; `-` is JSON on standard output.
    #[arg(long, value_name = "T.NTMTRACE.JSON")]
    out: PathBuf,
}

impl Trace {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let trained = self.trained()?;
        let recording = self.record(&trained)?;
        let config = &trained.machine.config;
        let steps = recording.episode.steps();
        let encoding = Encoding::of(&self.out);
        let bytes = trace::estimated_bytes(config, steps, self.full_memory, encoding);
        if bytes > LARGE {
            let help = if self.full_memory {
                "without --full-memory it is smaller".to_owned()
            } else {
                let size = recording.task.measure().name();
                format!("fewer --rows or a smaller --{size} make it smaller")
            };
            let npz = match encoding {
                Encoding::Json => "; as .npz it is smaller, and quicker to read",
                Encoding::Gzip => "; as .npz it is quicker to read",
                Encoding::Npz => "",
            };
            note(&format!(
                "warning: the file will have about {} MB; {help}{npz}",
                bytes / 1_000_000
            ));
        }
        let source = Source {
            config,
            sha256: Some(&trained.sha256()),
            full_memory: self.full_memory,
        };
        let is_piped = self.out == Path::new("-");
        if is_piped {
            trace::write_to(out, &recording, &source)?;
        } else {
            trace::write(&self.out, &recording, &source)?;
        }
        let score = recording.score;
        let summary = format!(
            "{}, {steps} steps, {:.3} bits, {} of {} bits wrong",
            recording.task.name(),
            score.bits,
            score.wrong,
            score.scored
        );
        if is_piped {
            note(&summary);
            return Ok(());
        }
        Ok(writeln!(out, "{}: {summary}", self.out.display())?)
    }

    /// The machine, with the task to give it.
    fn trained(&self) -> anyhow::Result<Trained> {
        let Some(path) = &self.weights else {
            return machine::find(&self.machine, self.rows);
        };
        let experiment = Experiment::find(&self.machine, &[])?;
        let mut trained = machine::read(path, self.rows)?;
        let (task, config) = (&experiment.task, &trained.machine.config);
        if (task.inputs(), task.outputs()) != (config.inputs, config.outputs) {
            let problem = format!(
                "{}: the machine has {} inputs and {} outputs; the task of {} has {} and {}",
                path.display(),
                config.inputs,
                config.outputs,
                experiment.name,
                task.inputs(),
                task.outputs()
            );
            return Err(Usage(problem).into());
        }
        trained.experiment = experiment;
        Ok(trained)
    }

    fn check_size(&self, config: &ModelConfig, task: &Task) -> anyhow::Result<()> {
        let steps = task.longest();
        let what = format!("recording {}", machine::size(config, steps));
        let bytes = recording_bytes(config, steps);
        let smaller = format!("--{} or --rows", task.measure().name());
        machine::check_size(bytes, &self.machine, &what, &smaller)
    }

    fn record(&self, trained: &Trained) -> anyhow::Result<Recording> {
        let mut task = trained.experiment.task.clone();
        if self.repeats.is_some() && task.repeats().is_none() {
            let problem = format!("--repeats: the task `{}` has no repeats", task.name());
            return Err(Usage(problem).into());
        }
        if let Some(path) = &self.input {
            let by_hand = bits::read(path, &task, self.repeats)?;
            self.check_size(&trained.machine.config, &by_hand.task)?;
            let episode = by_hand.episode();
            return Ok(Recording::of(&trained.machine, &by_hand.task, episode));
        }
        let lengths = ("--length", self.length.as_slice());
        let sizes = machine::sizes(&task, lengths, ("--items", self.items.as_slice()))?;
        if let Some(&size) = sizes.first() {
            task = task.with_size(size);
        }
        if let Some(repeats) = self.repeats {
            task = task.with_repeats(repeats);
        }
        self.check_size(&trained.machine.config, &task)?;
        Ok(Recording::new(
            &trained.machine,
            &task,
            self.seed,
            self.episode,
        ))
    }
}
