//! `tapescope train`: from random weights to a machine that answers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::arguments::{MOST_THREADS, Resize, from_zero, threads, up_to};
use super::error::CliError;
use super::message::{decimals, note, note_warnings};
use super::process::command_line;
use super::repeat::{self, Repeat};
use super::signal::interrupted;
use super::{machine, parent_watch};
use crate::io::{
    Experiment, ResumedRun, RunFolder, Trained, label, machine_file, preset, shell, weights,
};
use crate::learn::{Curve, Snapshots, advance, is_lost};
use crate::math::Answer;
use crate::model::Model;
use crate::train::{
    AuxLosses, Diverged, HistoryPoint, Redundancy, State, Trainer, TrainingConfig, UNSEEN_SEED,
    Update, chance,
};

const EXAMPLES: &str = "\
Examples:
  tapescope train copy
  tapescope train copy --seed 7 --sequences 20000
  tapescope train copy --set model.memory.rows=64 --set training.optimizer.learning_rate=3e-4
  tapescope train associative_recall --set model.heads.read=2 --set training.redundancy.kind=read
  tapescope train copy --set 'model.heads.attention.weighting=[\"hard\",\"soft\"]' --out runs/hard
  tapescope train mine.json --out runs/mine
  tapescope train --resume runs/mine                  resume a stopped run
  tapescope train copy --snapshots                    keep training snapshots
  tapescope train --repeat runs/mine --out runs/again  repeat a run from its log
  tapescope train --repeat copy_hard                  train an included machine again and compare
  tapescope train copy --from runs/mine --seed 8      start from the weights of another run
  tapescope sweep --collect runs/copy-7 --svg c.svg   draw its learning curve

The run folder contains weights.safetensors (the best by validation), history.ntmlog.jsonl (the learning curve) and \
preset.json (the preset with all defaults), each written as soon as it is known. Until the run is finished it also contains \
checkpoint.safetensors, written at most every ten seconds. Resume a stopped run, however it was stopped, with --resume: the \
result is identical, bit for bit, to that of an uninterrupted run. The same seed gives the same weights, on any number of \
threads and on every processor with fused multiply-add. With training.redundancy the loss includes a penalty on heads that \
attend to the same rows, or to many rows. The progress lines then report the redundancy: the mean of ‖A·Aᵀ − I‖² over the \
steps, 0 if each head is on a separate row; with a weight of 0 it is only measured. For Bayesian heads they report the \
divergence of the weights from their prior, in nats per sequence, summed over heads, steps and rows. For hard heads they report the reward: by \
how many nats the answer was better than the moving baseline.";

/// Train a machine; the best weights are saved as soon as they are known.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Train {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    #[arg(required_unless_present_any = ["resume", "repeat"])]
    preset: Option<String>,
    /// Resume the run in this folder from its checkpoint.
    #[arg(long, value_name = "DIR",
          conflicts_with_all = ["preset", "seed", "sequences", "out", "force", "overrides", "from"])]
    resume: Option<PathBuf>,
    /// Repeat the run in this folder from its log, or the run that made this weights file or included machine up to these
    /// weights, bit for bit, with every change made during training, and compare the results.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["preset", "seed", "sequences", "overrides"])]
    repeat: Option<PathBuf>,
    /// Start from the weights of this file, run folder or included machine instead of random weights.
    #[arg(long, value_name = "WEIGHTS")]
    from: Option<String>,
    /// Seed of the initial weights and of every episode [default: as in the preset].
    #[arg(long, value_name = "S", value_parser = from_zero, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Training sequences in the whole run [default: as in the preset].
    #[arg(long, value_name = "K", value_parser = up_to(TrainingConfig::MAX_SEQUENCES), allow_negative_numbers = true)]
    sequences: Option<u64>,
    /// Run folder to write [default: runs/NAME-SEED; with --repeat, runs/NAME-SEED-again].
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Replace the results of an earlier run.
    #[arg(long)]
    pub(super) force: bool,
    /// Keep training snapshots in snapshots.safetensors: the weights at the start, at points evenly spaced on a
    /// logarithmic axis, and at every best validation; at most 128 MiB, or the first and the last snapshot
    /// if these two take more.
    #[arg(long)]
    snapshots: bool,
    /// Threads to use [default: one per processor]; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = up_to(MOST_THREADS), allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
    /// Set a value of the preset by its path in the JSON; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(super) overrides: Vec<preset::Override>,
}

/// Says that the machine file beside a preset is another one than that of the experiment; `words` contain the path of the
/// preset.
fn note_changed(experiment: &Experiment, words: &str) {
    let mut presets = words.split(' ').map(Path::new);
    let preset = presets.find(|word| word.extension().is_some_and(|end| end == "json"));
    let preset = preset.unwrap_or(Path::new("preset.json"));
    if let Some(file) = machine_file::changed(&experiment.model, preset) {
        note(&format!(
            "note: {file} has changed; the run has the text that its preset or its folder holds"
        ));
    }
}

impl Train {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        // From here on nothing is lost: what comes before the first update is heeded there.
        let stop = interrupted();
        parent_watch::stop_with_parent(&stop);
        let read = |run: &PathBuf| Repeat::read(run, threads(self.threads));
        let repeat = self.repeat.as_ref().map(read).transpose()?;
        let begun = match &self.resume {
            None => self.begin(repeat.as_ref())?,
            Some(folder) => {
                let (run, there) = RunFolder::open(folder, &command_line())?;
                let sequences = there.log.experiment.training.sequences;
                if repeat.is_none() && !there.is_finished {
                    repeat::check_alone(folder, &there.log.command)?;
                }
                note_changed(&there.log.experiment, &there.log.command);
                let Some(resumed) = run.resume_from(there)? else {
                    let name = label(folder);
                    writeln!(out, "{name}: finished after all {sequences} sequences")?;
                    return Ok(next(out, &RunFolder::weights_at(folder)?)?);
                };
                let threads = threads(self.threads);
                machine::check_training(&resumed.experiment, &label(folder), threads)?;
                resumed
            }
        };
        let ResumedRun {
            mut folder,
            experiment,
            state,
            snapshots,
        } = begun;
        if let Some(repeat) = &repeat {
            repeat.check_resumed(&state, &experiment)?;
        }
        if !folder.is_exclusive() {
            let path = label(folder.path());
            note(&format!(
                "warning: {path} is on a file system without locks; make sure that no other process writes into it"
            ));
        }
        let Experiment { task, training, .. } = experiment;
        machine::note_data(&task);
        let (before, all) = (state.sequences, training.sequences);
        if before > 0 {
            note(&format!("resumes after {before} of {all} sequences"));
        }
        let progress = Progress::new(before, all, task.answer());
        let mut trainer = Trainer::resume(task, training, state, threads(self.threads));
        let mut snapshots = snapshots.or_else(|| self.snapshots.then(Snapshots::default));
        if let Some(snapshots) = &mut snapshots {
            snapshots.keep(&trainer, None, None);
            // Who goes on finds them there, and goes on with them.
            folder.keep_snapshots(snapshots)?;
        }
        let watched = (&progress, &*stop);
        let end = train(
            &mut folder,
            &mut trainer,
            &mut snapshots,
            repeat.as_ref(),
            watched,
        );
        progress.bar.finish_and_clear();
        if let Some(snapshots) = &snapshots {
            folder.keep_snapshots(snapshots)?;
        }
        match end? {
            End::Finished => {}
            End::Stopped => return Err(self.stopped(&mut folder, &trainer.state)?.into()),
            End::Diverged(why) => return Err(diverged(&mut folder, &why, &trainer)?.into()),
        }
        let (seen, training) = (trainer.state.sequences, &trainer.config);
        if seen < training.sequences {
            writeln!(
                out,
                "ended after {seen} of {} sequences: no better validation in the last {} (training.patience)",
                training.sequences, training.patience
            )?;
        }
        let history = std::mem::take(&mut trainer.state.history);
        let (best, weights) = (folder.saved(), folder.weights_path());
        folder.finish()?;
        if let Some(best) = best {
            let answer = trainer.task.answer();
            let chance = answer.is_real().then(|| chance_level(&trainer));
            let chance = chance.map(|chance| answer.in_words(chance, 3));
            writeln!(
                out,
                "best validation of {}: {} and {:.2} wrong {} per sequence, {:.1}% perfect{}{}",
                history.len(),
                answer.in_words(best.bits_per_sequence, 3),
                best.wrong_bits,
                answer.unit(),
                100.0 * best.perfect,
                aux_text(&best.aux),
                chance.map_or_else(String::new, |chance| format!("; chance level: {chance}"))
            )?;
        }
        note_lost(&trainer, &history);
        next(out, &weights)?;
        repeat.map_or(Ok(()), |repeat| repeat.compare(&history, &weights, out))
    }

    /// Starts a run in a new folder.
    fn begin(&self, repeat: Option<&Repeat>) -> anyhow::Result<ResumedRun> {
        if let Some(repeat) = repeat {
            repeat.check_from(self.from.as_deref())?;
        }
        let preset = self.preset.as_deref();
        let preset = preset.or(repeat.map(|run| &*run.name)).unwrap_or_default();
        let experiment = match repeat {
            Some(repeat) => repeat.log.experiment.clone(),
            None => self.asked(Experiment::find(preset, &self.overrides)?),
        };
        note_changed(&experiment, preset);
        note_warnings(&experiment.model);
        let from = self.from()?;
        // A run that repeats another one begins with what that kept, and keeps it, too.
        let kept = match repeat.and_then(|run| run.start.as_deref()) {
            Some(path) if from.is_none() => Some((label(path), weights::read(path)?)),
            _ => None,
        };
        let start = from.as_ref().or(kept.as_ref());
        let state = self.first(&experiment, preset, start)?;
        let default = || {
            let seed = experiment.training.seed;
            let again = if repeat.is_some() { "-again" } else { "" };
            PathBuf::from(format!("runs/{}-{seed}{again}", experiment.name))
        };
        let folder = self.out.clone().unwrap_or_else(default);
        if let Some(repeated) = &self.repeat {
            repeat::check_apart(repeated, &folder)?;
        }
        let command = command_line();
        // The run replaces what is in its folder, but not the machine that it began with.
        let real = |path: &Path| path.canonicalize().ok();
        let is_own = |from: &String| {
            let both = real(from.as_ref()).zip(real(&folder));
            both.is_some_and(|(from, folder)| from.starts_with(folder))
        };
        let own = from.filter(|(from, _)| is_own(from)).or(kept);
        let start = own.as_ref().map(|(_, trained)| trained);
        let folder =
            RunFolder::create_from(&folder, &experiment, &command, &state, start, self.force)?;
        Ok(ResumedRun {
            folder,
            experiment,
            state,
            snapshots: None,
        })
    }

    /// Returns the machine of `--from` with its name as typed, if it is given.
    pub(super) fn from(&self) -> anyhow::Result<Option<(String, Trained)>> {
        let read = |from: &String| Ok((from.clone(), machine::alone(from, &Resize::default())?));
        self.from.as_ref().map(read).transpose()
    }

    /// Returns the state in which a run starts: with the weights of `start`, a machine with its name, or random weights.
    /// `preset` is the preset as typed.
    pub(super) fn first(
        &self,
        experiment: &Experiment,
        preset: &str,
        start: Option<&(String, Trained)>,
    ) -> anyhow::Result<State> {
        machine::check_training(experiment, preset, threads(self.threads))?;
        let mut state = State::new(experiment.model.clone(), &experiment.training);
        if let Some((name, Trained { machine, .. })) = start {
            check_tensors(experiment, machine, name, preset)?;
            state.machines[0].params = machine.params.clone();
        }
        Ok(state)
    }

    /// Saves a checkpoint and returns the message for a stopped run.
    fn stopped(&self, folder: &mut RunFolder, state: &State) -> anyhow::Result<CliError> {
        folder.checkpoint(state)?;
        let path = label(&folder.weights_path());
        let weights = match folder.saved() {
            Some(_) => format!("the best weights so far are in {path}"),
            None if RunFolder::is_taken(folder.path()) => {
                let path = label(folder.path());
                format!("{path} contains the weights of the earlier run")
            }
            None => "no weights are saved before the first validation".to_owned(),
        };
        let go_on = match &self.repeat {
            Some(run) => repeat::resume(run, folder.path()),
            None => shell::resume(folder.path()),
        };
        Ok(CliError::Stopped(format!(
            "stopped after {} sequences; {weights}; resume with: {go_on}",
            state.sequences
        )))
    }

    /// An experiment with the seed and the length that are asked for.
    pub(super) fn asked(&self, mut experiment: Experiment) -> Experiment {
        let training = &mut experiment.training;
        training.seed = self.seed.unwrap_or(training.seed);
        training.sequences = self.sequences.unwrap_or(training.sequences);
        experiment
    }
}

/// The chance level of a run.
fn chance_level(trainer: &Trainer) -> f64 {
    let (task, training) = (&trainer.task, &trainer.config);
    let episodes = task.at_most(training.validation_episodes.min(50));
    chance(task, UNSEEN_SEED, episodes)
}

/// Prints a note if the loss at the end of a run is far above the chance level.
fn note_lost(trainer: &Trainer, history: &[HistoryPoint]) {
    let (task, training) = (&trainer.task, &trainer.config);
    if task.answer().is_real() {
        // It may begin far above the chance level.
        return;
    }
    let chance = chance_level(trainer);
    let last = history.last().map(|point| point.validation.cost());
    if let Some(bits) = last.filter(|bits| is_lost(*bits, chance)) {
        note(&format!(
            "note: the run diverged: its last validation has {} per sequence, the chance level is {}; {}",
            task.answer().in_words(bits, 1),
            task.answer().in_words(chance, 1),
            divergence_hint(training)
        ));
    }
}

/// Checks that the weights of a machine fit an experiment.
fn check_tensors(
    experiment: &Experiment,
    machine: &Model<f32>,
    from: &str,
    preset: &str,
) -> anyhow::Result<()> {
    let [there, here] = [&machine.config, &experiment.model].map(weights::shapes);
    let differs = |tensor: &&_| !(there.contains(tensor) && here.contains(tensor));
    let Some((name, _)) = there.iter().chain(&here).find(differs) else {
        return Ok(());
    };
    let [there, here] = [&there, &here].map(|shapes| {
        let found = shapes.iter().find(|(known, _)| known == name);
        found.map_or("absent".to_owned(), |(_, shape)| format!("{shape:?}"))
    });
    bail!("--from {from}: shapes differ: `{name}` is {there} there, {here} in {preset}")
}

/// The way in which training ended.
enum End {
    Finished,
    Stopped,
    Diverged(Diverged),
}

/// Trains to the end, or to the weights of a machine that is repeated, and makes every change of a repeated run.
fn train(
    folder: &mut RunFolder,
    trainer: &mut Trainer,
    snapshots: &mut Option<Snapshots>,
    repeat: Option<&Repeat>,
    (progress, stop): (&Progress, &AtomicBool),
) -> anyhow::Result<End> {
    let mut curve = Curve::default();
    loop {
        if let Some(repeat) = repeat {
            while repeat.change(trainer)? {
                folder.changed(&trainer.state, snapshots.as_ref())?;
            }
        }
        if repeat.is_some_and(|repeat| repeat.is_reached(trainer)) {
            return Ok(End::Finished);
        }
        if !trainer.finished() && stop.load(Ordering::Relaxed) {
            return Ok(End::Stopped);
        }
        let history = snapshots.as_mut().map(|snapshots| (&mut curve, snapshots));
        let update = match advance(trainer, None, history) {
            Ok(Some(update)) => update,
            Ok(None) => return Ok(End::Finished),
            Err(diverged) => return Ok(End::Diverged(diverged)),
        };
        progress.advance(trainer.state.sequences, &update);
        folder.advanced(trainer, &update, snapshots.as_ref())?;
        if let Some(point) = update.validated {
            progress.validated(&point);
        }
    }
}

/// Saves the weights that remain of a diverged run, and returns the error.
fn diverged(
    folder: &mut RunFolder,
    diverged: &Diverged,
    trainer: &Trainer,
) -> anyhow::Result<CliError> {
    if !diverged.weights {
        folder.save_best_or_last(&trainer.state)?;
    }
    let path = label(&folder.weights_path());
    let left = match folder.saved() {
        Some(_) => format!("the best weights before that are in {path}"),
        None if diverged.weights => {
            "no weights are saved, because there was no validation before".to_owned()
        }
        None => format!("the weights before that are in {path}"),
    };
    let hint = hint_of(diverged, &trainer.config);
    Ok(CliError::Diverged(format!("{diverged}; {left}; {hint}")))
}

/// Returns what to try after a run has diverged.
pub(super) fn hint_of(diverged: &Diverged, config: &TrainingConfig) -> String {
    if diverged.is_before_training() {
        "look for a division by 0 or a logarithm of 0 in the machine file".to_owned()
    } else {
        divergence_hint(config)
    }
}

/// Returns what to try when a run diverges.
fn divergence_hint(config: &TrainingConfig) -> String {
    let or_weight = match (config.redundancy, config.head_divergence) {
        (Redundancy::Off, Redundancy::Off) => "",
        (_, Redundancy::Off) => " or training.redundancy.weight",
        (Redundancy::Off, _) => " or training.head_divergence.weight",
        _ => " or the weights of training.redundancy and training.head_divergence",
    };
    format!("try a smaller training.optimizer.learning_rate{or_weight}")
}

/// Formats the auxiliary losses.
fn aux_text(means: &AuxLosses) -> String {
    let means = AuxLosses::NAMES.into_iter().zip(means.each());
    let told = means.filter_map(|(name, mean)| {
        Some(format!(
            ", {} {}",
            name.replace('_', " "),
            decimals(mean?, 4)
        ))
    });
    told.collect()
}

/// Prints the path of the weights, and the next commands.
fn next(out: &mut impl Write, weights: &Path) -> std::io::Result<()> {
    let [eval, view] = ["eval", "view"].map(|command| shell::on(command, weights));
    writeln!(out, "{}", label(weights))?;
    writeln!(out, "next: {eval}, or: {view}")
}

/// A bar on a terminal; elsewhere a line per validation.
struct Progress {
    bar: ProgressBar,
    /// Sequences that were done before it.
    before: u64,
    sequences: u64,
    answer: Answer,
}

impl Progress {
    fn new(before: u64, sequences: u64, answer: Answer) -> Self {
        // Nothing of it is shown where standard error is no terminal.
        let bar = ProgressBar::new(sequences);
        let template = "{bar:24} {pos}/{len} sequences  {rate}/s  {eta} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            bar.set_style(style.with_key("rate", rate));
        }
        bar.set_position(before);
        bar.reset_eta();
        Self {
            bar,
            before,
            sequences,
            answer,
        }
    }

    fn advance(&self, done: u64, update: &Update) {
        self.bar.set_position(done);
        if self.bar.message().is_empty() {
            let (loss, wrong) = (self.answer.in_words(update.bits, 1), update.wrong);
            let aux = aux_text(&update.aux);
            self.bar
                .set_message(format!("{loss}, {wrong:.1} wrong{aux}"));
        }
    }

    fn validated(&self, point: &HistoryPoint) {
        let measured = &point.validation;
        // Nothing is drawn in a validation, so that the reward is that of the training since the last one.
        let told = AuxLosses {
            reward: point.training_aux.reward,
            ..measured.aux
        };
        let result = format!(
            "{}, {:.2} wrong per sequence{}",
            self.answer.in_words(measured.bits_per_sequence, 3),
            measured.wrong_bits,
            aux_text(&told)
        );
        if !self.bar.is_hidden() {
            self.bar.set_message(result);
            return;
        }
        let seconds = self.bar.elapsed().as_secs_f64();
        let done = point.sequences.saturating_sub(self.before);
        let rate = done as f64 / seconds.max(1e-9);
        let left = self.sequences.saturating_sub(point.sequences) as f64 / rate;
        note(&format!(
            "{}/{} sequences: {result}; {rate:.0} sequences/s, {} left",
            point.sequences,
            self.sequences,
            indicatif::HumanDuration(Duration::from_secs_f64(left))
        ));
    }
}
