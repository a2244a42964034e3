//! `tapescope train`: from random weights to a machine that answers.

use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{
    INTERRUPTED, Stopped, command_line, from_zero, machine, note, thread_count, threads,
    whole_number,
};
use crate::io::{Experiment, RunFolder, Trained, label, preset};
use crate::model::Ntm;
use crate::train::{
    Demand, Diverged, Evaluation, HistoryPoint, Part, Trainer, TrainingConfig, Update, Work,
};

const EXAMPLES: &str = "\
Examples:
  tapescope train copy
  tapescope train copy --seed 7 --sequences 20000
  tapescope train copy --set model.memory.rows=64 --set training.optimizer.rate=3e-4
  tapescope train mine.json --out runs/mine

The folder receives, as soon as they are known: weights.safetensors (the best by validation), \
history.ntmlog.jsonl (the learning curve) and preset.json (the experiment with every default). A run \
that is stopped with Ctrl-C keeps them. The same seed gives the same weights, on any number of threads.";

/// Train a machine; the best weights are on disk as soon as they are known.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Train {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    preset: String,
    /// Seed of the initial weights and of every episode [default: that of the preset].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Episodes in the whole run [default: that of the preset].
    #[arg(long, value_name = "K", value_parser = sequences, allow_negative_numbers = true)]
    sequences: Option<u64>,
    /// Where to put the results [default: runs/NAME-SEED].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results of an earlier run.
    #[arg(long)]
    force: bool,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Change a value of the preset, by its path in the JSON; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<preset::Override>,
}

fn sequences(text: &str) -> Result<u64, String> {
    whole_number(text, TrainingConfig::MAX_SEQUENCES)
}

impl Train {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let experiment = self.experiment()?;
        check_size(&experiment, &self.preset, threads(self.threads))?;
        let folder = self.out.clone().unwrap_or_else(|| {
            PathBuf::from(format!(
                "runs/{}-{}",
                experiment.name, experiment.training.seed
            ))
        });
        // From here on Ctrl-C is answered: whoever sees the folder may rely on it.
        let stop = interrupted();
        let command = command_line();
        let mut run = Run {
            folder: RunFolder::create(&folder, &experiment, &command, self.force)?,
            experiment,
            command,
            saved: None,
        };
        let mut trainer = Trainer::new(
            run.experiment.task.clone(),
            run.experiment.model.clone(),
            run.experiment.training.clone(),
            threads(self.threads),
        );
        let progress = Progress::new(run.experiment.training.sequences);
        let result = run.train(&mut trainer, &progress, &stop);
        progress.bar.finish_and_clear();
        if result.as_ref().is_err_and(anyhow::Error::is::<Stopped>) {
            return result;
        }
        let diverged = result.as_ref().err();
        let diverged = diverged.and_then(|error| error.downcast_ref::<Diverged>());
        if !diverged.is_some_and(|diverged| diverged.weights) {
            run.save_last_when_none(&trainer)?;
        }
        if let Some(diverged) = diverged {
            return Err(run.diverged(diverged));
        }
        result?;
        run.report(out, &trainer)
    }

    fn experiment(&self) -> anyhow::Result<Experiment> {
        let mut experiment = Experiment::find(&self.preset, &self.overrides)?;
        let training = &mut experiment.training;
        training.seed = self.seed.unwrap_or(training.seed);
        training.sequences = self.sequences.unwrap_or(training.sequences);
        Ok(experiment)
    }
}

/// Refuses a training run for which there is not enough memory.
pub(super) fn check_size(
    experiment: &Experiment,
    preset: &str,
    threads: usize,
) -> anyhow::Result<()> {
    let task = &experiment.task;
    let batch = experiment.training.batch;
    let demand = Demand {
        config: experiment.model.clone(),
        steps: task.longest(),
        work: Work::Training { batch, threads },
    };
    let steps = format!("task.{}", task.measure().name());
    let parts = [
        (Part::Rows, "model.memory.rows"),
        (Part::Columns, "model.memory.columns"),
        (Part::Steps, &steps),
        (Part::Units, "model.controller.size"),
        (Part::Layers, "model.controller.layers"),
        (Part::Batch, "training.batch"),
        (Part::Threads, "--threads"),
    ];
    machine::check_size(&demand, preset, &parts)
}

/// Becomes true with the first Ctrl-C; the second ends the program at once.
pub(super) fn interrupted() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Where no handler can be set Ctrl-C ends the program as it always does; nothing is lost but the message.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    flag
}

/// A run on its way to the disk.
struct Run {
    folder: RunFolder,
    experiment: Experiment,
    command: String,
    /// The measure of the weights that are on disk.
    saved: Option<Evaluation>,
}

impl Run {
    fn train(
        &mut self,
        trainer: &mut Trainer,
        progress: &Progress,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<()> {
        while !trainer.finished() {
            if interrupted.load(Ordering::Relaxed) {
                return Err(self.stopped(trainer.sequences).into());
            }
            let update = trainer.update()?;
            progress.advance(trainer.sequences, &update);
            if let Some(point) = update.validated {
                self.folder.point(&point)?;
                self.save_best(trainer)?;
                progress.validated(&point);
            }
        }
        Ok(())
    }

    fn stopped(&self, sequences: u64) -> Stopped {
        let path = self.folder.weights_path();
        Stopped(if self.saved.is_some() {
            format!(
                "stopped after {sequences} sequences; the best weights so far are in {}",
                label(&path)
            )
        } else {
            format!(
                "stopped after {sequences} sequences, before the first validation: no weights are kept"
            )
        })
    }

    /// What is left of a run that went wrong; to be asked once that is on the disk.
    fn diverged(&self, diverged: &Diverged) -> anyhow::Error {
        let path = self.folder.weights_path();
        let path = label(&path);
        let left = if self.saved.is_some() {
            format!("the best weights before it are in {path}")
        } else if diverged.weights {
            "no weights are kept: there was no validation before it".to_owned()
        } else {
            format!("the weights before it are in {path}")
        };
        anyhow::anyhow!("{diverged}; {left}; a smaller training.optimizer.rate may help")
    }

    fn save_best(&mut self, trainer: &Trainer) -> anyhow::Result<()> {
        if let Some((machine, evaluation)) = &trainer.best
            && self.saved != Some(*evaluation)
        {
            self.save(trainer, machine, Some(*evaluation))?;
        }
        Ok(())
    }

    /// A run without a validation has no best weights: its last ones are better than none.
    fn save_last_when_none(&mut self, trainer: &Trainer) -> anyhow::Result<()> {
        if self.saved.is_none() {
            self.save(trainer, &trainer.machine, None)?;
        }
        Ok(())
    }

    fn save(
        &mut self,
        trainer: &Trainer,
        machine: &Ntm<f32>,
        evaluation: Option<Evaluation>,
    ) -> anyhow::Result<()> {
        self.saved = evaluation;
        Ok(self.folder.weights(&Trained {
            experiment: self.experiment.clone(),
            machine: machine.clone(),
            history: trainer.history.clone(),
            evaluation,
            command: self.command.clone(),
        })?)
    }

    fn report(&self, out: &mut impl Write, trainer: &Trainer) -> anyhow::Result<()> {
        let path = self.folder.weights_path();
        if let Some(best) = &self.saved {
            writeln!(
                out,
                "best validation of {}: {:.3} bits and {:.2} wrong bits per sequence, {:.1}% perfect",
                trainer.history.len(),
                best.bits_per_sequence,
                best.wrong_bits,
                100.0 * best.perfect
            )?;
        }
        let path = label(&path);
        writeln!(out, "{path}")?;
        Ok(writeln!(
            out,
            "next: tapescope eval {path}, or: tapescope view {path}"
        )?)
    }
}

/// A bar on a terminal; elsewhere a line per validation.
struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    start: Instant,
    sequences: u64,
}

impl Progress {
    fn new(sequences: u64) -> Self {
        let is_terminal = stderr().is_terminal();
        let bar = if is_terminal {
            ProgressBar::new(sequences)
        } else {
            ProgressBar::hidden()
        };
        let template = "{bar:24} {pos}/{len} sequences  {rate}/s  {eta} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate));
        }
        Self {
            bar,
            is_terminal,
            start: Instant::now(),
            sequences,
        }
    }

    fn advance(&self, done: u64, update: &Update) {
        self.bar.set_position(done);
        if self.bar.message().is_empty() {
            let (bits, wrong) = (update.bits, update.wrong);
            self.bar
                .set_message(format!("{bits:.1} bits, {wrong:.1} wrong"));
        }
    }

    fn validated(&self, point: &HistoryPoint) {
        let measured = &point.validation;
        let result = format!(
            "{:.3} bits, {:.2} wrong per sequence",
            measured.bits_per_sequence, measured.wrong_bits
        );
        if self.is_terminal {
            self.bar.set_message(result);
            return;
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = point.sequences as f64 / seconds.max(1e-9);
        let left = self.sequences.saturating_sub(point.sequences) as f64 / rate;
        note(&format!(
            "{}/{} sequences: {result}; {rate:.0} sequences/s, {} left",
            point.sequences,
            self.sequences,
            indicatif::HumanDuration(Duration::from_secs_f64(left))
        ));
    }
}
