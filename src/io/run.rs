//! The folder of a training run: the preset, the best weights so far, the learning curve, and a checkpoint until the run
//! is finished.
//!
//! A stopped run resumes from its checkpoint and ends with bit-identical weights; only the time since the checkpoint is
//! lost. A validation writes the weights first and the line of the log last, so that the log never lists missing weights.
//! The checkpoint may be ahead of the log or behind it. To resume makes the log and the weights agree with it.
//!
//! A folder has one writer at a time ([`lock`](super::lock)). [`RunFolder::contents`] decides which folders may be
//! written.
//!
//! A run that replaces another one is written into the inner folder `.tapescope-replacement` until its first validation,
//! which gives it weights. Until then the earlier run is unchanged. To replace it at the first checkpoint would be too
//! early: a full disk at the first validation would leave no weights at all. At the end of the run would be too late: for
//! days, [`RunFolder::weights_at`] would not find the best weights so far. A stop leaves:
//!
//! | stopped | the folder contains | the next writer |
//! |---|---|---|
//! | before the new run has a log | the earlier run | removes the files of the new run |
//! | before its preset, which is written last | the earlier run, and a new run that `--resume` continues | resumes or restarts the new run |
//! | while its files are moved, the log first, the preset last | the new run: [`part`] finds each file | moves the other files |

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use web_time::Instant;

use super::lock::Lock;
use super::log::{self, Log};
use super::measurement::{ChangeForm, ChangeLine, PointForm, data_json};
use super::preset::written::Written;
use super::sweep::Failure;
use super::weights;
use super::{Error, Experiment, Trained, checkpoint, file, snapshots};
use crate::learn::Snapshots;
use crate::train::{self, Change, Evaluation, State, Trainer, Update};

const WEIGHTS: &str = RunFolder::WEIGHTS;
pub(super) const LOG: &str = "history.ntmlog.jsonl";
pub(super) const PRESET: &str = RunFolder::PRESET;
const START: &str = RunFolder::START;
pub(super) const CHECKPOINT: &str = "checkpoint.safetensors";
pub(super) const SNAPSHOTS: &str = "snapshots.safetensors";
pub(super) const LOCK: &str = "run.lock";
/// The inner folder of a run that replaces the run of the outer folder.
const REPLACEMENT: &str = ".tapescope-replacement";
/// The files of a run, in the order in which a replacement is moved.
const FILES: [&str; 6] = [LOG, START, SNAPSHOTS, CHECKPOINT, WEIGHTS, PRESET];

/// The shortest time between two checkpoints.
pub(super) const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(10);
/// Checkpoints take at most 1/`CHECKPOINT_SHARE` of the time of a run.
pub(super) const CHECKPOINT_SHARE: u32 = 20;

/// A run folder, locked and open for writing.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    /// The folder of the files: the run folder, or the replacement inside it.
    place: PathBuf,
    experiment: Experiment,
    command: String,
    /// The evaluation of the weights on disk.
    saved: Option<Evaluation>,
    /// The time of the last checkpoint, and its duration.
    checkpoint: (Instant, Duration),
    /// The sequences of the last snapshot on disk.
    snapshot: Option<u64>,
    lock: Lock,
}

/// The run in a folder: the contents of its files, each read once.
#[derive(Debug)]
pub struct ExistingRun {
    /// The log.
    pub log: Log,
    /// The weights, if there are any.
    pub weights: Option<Trained>,
    /// The checkpoint, if there is one: the experiment at the start of the run, and the state of training.
    pub checkpoint: Option<(Experiment, State)>,
    /// True if all sequences are trained and the weights match the log; otherwise it can resume or restart.
    pub is_finished: bool,
}

/// The state from which a run starts or resumes.
#[derive(Clone, Debug)]
pub struct RunStart {
    /// The experiment at the start of the run.
    pub begun: Experiment,
    /// The current experiment: that of the folder with all changes.
    pub experiment: Experiment,
    /// The state of training.
    pub state: State,
    /// The training snapshots up to this state, if there are any.
    pub snapshots: Option<Snapshots>,
}

/// A resumed run.
#[derive(Debug)]
pub struct ResumedRun {
    /// The run folder.
    pub folder: RunFolder,
    /// The current experiment: that of the folder with all changes.
    pub experiment: Experiment,
    /// The state of training.
    pub state: State,
    /// The earlier training snapshots, if there are any.
    pub snapshots: Option<Snapshots>,
}

#[derive(Serialize)]
struct Header<'a> {
    format: &'static str,
    version: &'static str,
    generator: super::trace::Generator,
    command: &'a str,
    experiment: Written,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl RunFolder {
    /// The experiment with every default.
    pub const PRESET: &str = "preset.json";
    /// The best machine so far.
    pub const WEIGHTS: &str = "weights.safetensors";
    /// The initial machine of the run, if no other file contains it.
    pub const START: &str = "start.safetensors";

    /// True when a folder holds the weights of an earlier run.
    pub fn is_taken(folder: &Path) -> bool {
        file::exists(&Self::part(folder, WEIGHTS))
    }

    /// Returns the path of a file of the run in a folder: in the replacement, if it is complete and not fully moved.
    pub fn part(folder: &Path, name: &str) -> PathBuf {
        let new = folder.join(REPLACEMENT);
        let is_there = |name: &str| file::exists(&new.join(name));
        let is_new = is_there(PRESET) && (is_there(LOG) || is_there(name));
        if is_new { new } else { folder.to_owned() }.join(name)
    }

    /// Returns the folder in which [`RunFolder::resume`] continues: the run folder, or a started replacement.
    pub fn unfinished(folder: &Path) -> PathBuf {
        let new = folder.join(REPLACEMENT);
        let is_begun = file::exists(&new.join(LOG)) && !file::exists(&new.join(PRESET));
        if is_begun { new } else { folder.to_owned() }
    }

    /// Returns the folder of a run: the path itself, or the folder of a file in it.
    pub fn of(path: &Path) -> &Path {
        let of_file = path.parent().filter(|_| !path.is_dir());
        of_file.unwrap_or(path)
    }

    /// Returns the weights file of a path: the file itself, or that of the run folder.
    ///
    /// # Errors
    /// A folder that holds no weights.
    pub fn weights_at(path: &Path) -> Result<PathBuf, Error> {
        file_at(path, WEIGHTS, "weights file")
    }

    /// Returns the training snapshots of a run folder or file, and the experiment at its start. `None` for a run
    /// without snapshots.
    ///
    /// # Errors
    /// As for [`snapshots::read`].
    pub fn snapshots_at(path: &Path) -> Result<Option<(Experiment, Snapshots)>, Error> {
        if !path.is_dir() {
            return snapshots::read(path).map(Some);
        }
        let run = Self::log_and_snapshots(path)?;
        Ok(run.map(|(log, snapshots)| (log.experiment, snapshots)))
    }

    /// Returns the log and the training snapshots of a run folder. `None` for a run without snapshots.
    ///
    /// # Errors
    /// As for [`log::read`] and [`snapshots::read`]; or they belong to different presets.
    pub fn log_and_snapshots(folder: &Path) -> Result<Option<(Log, Snapshots)>, Error> {
        if !file::exists(&Self::part(folder, SNAPSHOTS)) {
            return Ok(None);
        }
        let log = log_at(folder)?;
        Ok(snapshots_of(folder, &log)?.map(|snapshots| (log, snapshots)))
    }

    /// Returns the name of a weights file: its run folder, or else its own name.
    pub fn name_of(weights: &Path) -> String {
        let folder = weights.parent().and_then(Path::file_name);
        let name = match (weights.file_name(), folder) {
            (Some(file), Some(folder)) if file == WEIGHTS => folder,
            (Some(file), _) => file,
            (None, _) => weights.as_os_str(),
        };
        name.to_string_lossy().into_owned()
    }

    /// Returns the run in a folder, if any, or the reason why nothing may be written into it. Changes no file.
    ///
    /// A folder may be written if it is new, empty, or a run folder. In a run folder the log can be read; preset, weights
    /// and checkpoint, if present, can be read and belong to the experiment of the log. Other files next to a log are not
    /// touched. Hidden files, and files of a run without a log, count as empty. Snapshots are large and not read here:
    /// replacing and resuming check that they belong to the run.
    ///
    /// # Errors
    /// The folder with the file that does not belong to a run; or the folder cannot be read.
    pub fn contents(folder: &Path) -> Result<Option<ExistingRun>, Error> {
        Self::read(folder, |why| not_ours(folder, why))
    }

    /// [`RunFolder::contents`]; `unfit` creates the error for a problem.
    fn read(folder: &Path, unfit: impl Fn(&str) -> Error) -> Result<Option<ExistingRun>, Error> {
        let damaged = |error: Error| unfit(&error.to_string());
        let there = |name: &str| file::if_exists(Self::part(folder, name));
        if !check_names(folder, is_left, &unfit)? {
            return Ok(None);
        }
        // Weights are written before their line of the log, so they are read after it.
        let log = log::read(&Self::part(folder, LOG)).map_err(damaged)?;
        let belongs = |name: &str, experiment: &Experiment| {
            if *experiment == log.experiment {
                return Ok(());
            }
            let why = format!("{name} belongs to another preset than {LOG}");
            Err(unfit(&why))
        };
        if let Some(preset) = there(PRESET) {
            let preset = Experiment::read_alone(&preset, &[]).map_err(damaged)?;
            belongs(PRESET, &preset)?;
        }
        let checkpoint = there(CHECKPOINT).map(|path| checkpoint::read(&path));
        let checkpoint = checkpoint.transpose().map_err(damaged)?;
        if let Some((experiment, _)) = &checkpoint {
            belongs(CHECKPOINT, experiment)?;
        }
        let weights = there(WEIGHTS).map(|path| weights::read(&path));
        let weights = weights.transpose().map_err(damaged)?;
        if let Some(weights) = &weights {
            belongs(WEIGHTS, &weights.experiment)?;
        }
        Ok(Some(ExistingRun {
            is_finished: is_finished(&log, weights.as_ref()),
            log,
            weights,
            checkpoint,
        }))
    }

    /// Starts a run from the initial weights of its seed: see [`RunFolder::create_from`].
    ///
    /// # Errors
    /// As for [`RunFolder::create_from`].
    pub fn create(
        folder: &Path,
        experiment: &Experiment,
        command: &str,
        replace: bool,
    ) -> Result<Self, Error> {
        let state = State::new(experiment.model.clone(), &experiment.training);
        Self::create_from(folder, experiment, command, &state, None, replace)
    }

    /// Starts a run from a state, in a locked folder, which is created if necessary.
    ///
    /// Writes a checkpoint, `history.ntmlog.jsonl` with its header, and `preset.json`. `command` is the command line of the
    /// run. `start` is its initial machine, if it is stored next to the log. With `replace`, an existing run stays until
    /// this one has weights and [takes its place](RunFolder::take_place).
    ///
    /// # Errors
    /// Another process writes into the folder, [`RunFolder::contents`] rejects it, or it contains a run and `replace` is
    /// false; then nothing was changed. Or a file cannot be written.
    pub fn create_from(
        folder: &Path,
        experiment: &Experiment,
        command: &str,
        state: &State,
        start: Option<&Trained>,
        replace: bool,
    ) -> Result<Self, Error> {
        // Without a lock: nothing is written into a folder that cannot be a run folder.
        check_names(folder, has_name_of_left, |why| not_ours(folder, why))?;
        file::create_folder(folder)?;
        let lock = Lock::take(&folder.join(LOCK), command)?;
        let before = Self::contents(folder)?;
        if !replace {
            let new = Self::unfinished(folder);
            let is_other = before.is_none() && new != folder;
            let unfinished = is_other.then(|| Self::contents(&new)).transpose()?;
            if let Some(there) = before.as_ref().or(unfinished.flatten().as_ref()) {
                return Err(taken(folder, &there.log));
            }
        }
        if let Some(before) = &before {
            let damaged = |error: Error| not_ours(folder, &error.to_string());
            snapshots_of(folder, &before.log).map_err(damaged)?;
        }
        complete(folder)?;
        abandon(folder)?;
        let mut run = Self::new(folder, experiment, command, lock);
        if before.is_some() {
            run.place = folder.join(REPLACEMENT);
        }
        let done = run.begin(state, start);
        if done.is_err() {
            let _ = abandon(folder);
        }
        done.map(|()| run)
    }

    /// Writes the first files of a run. The log is last: with it the run can resume.
    fn begin(&mut self, state: &State, start: Option<&Trained>) -> Result<(), Error> {
        self.put("", file::create_folder)?;
        self.put("", Failure::forget)?;
        self.put(START, |path| match start {
            Some(start) => weights::write(path, start),
            None => file::remove(path),
        })?;
        self.checkpoint(state)?;
        self.open_at(state)
    }

    /// Resumes an unfinished run: locks its folder, and makes the log and the weights agree with the checkpoint.
    ///
    /// Returns `None` for a finished run. `command` is the command line that resumes; the log and the weights keep the
    /// command that started the run.
    ///
    /// # Errors
    /// Another process writes into the folder, or it contains no run with a checkpoint; then nothing was changed. Or a file
    /// cannot be written.
    pub fn resume(folder: &Path, command: &str) -> Result<Option<ResumedRun>, Error> {
        let (run, there) = Self::open(folder, command)?;
        run.resume_from(there)
    }

    /// Locks the folder of a run and reads its files, to resume it. `command` names the holder of the lock.
    ///
    /// # Errors
    /// Another process writes into the folder, or it contains no run that can be read. Nothing was changed.
    pub fn open(folder: &Path, command: &str) -> Result<(Self, ExistingRun), Error> {
        let unfit = |why: &str| cannot_go_on(folder, why);
        let none = || Error::about(folder, "contains no run that can be resumed");
        let has_log = check_names(folder, has_name_of_left, unfit)?;
        if !has_log && Self::unfinished(folder) == folder {
            return Err(none());
        }
        let lock = Lock::take(&folder.join(LOCK), command)?;
        let place = Self::unfinished(folder);
        if place != folder {
            // The run to replace may be gone, but not damaged.
            Self::read(folder, unfit)?;
        }
        let there = Self::read(&place, unfit)?.ok_or_else(none)?;
        let mut run = Self::new(folder, &there.log.experiment, &there.log.command, lock);
        run.place = place;
        Ok((run, there))
    }

    /// Returns the state from which [`RunFolder::resume`] continues. Changes no file.
    ///
    /// # Errors
    /// The folder contains no unfinished run with a checkpoint.
    pub fn saved_state(folder: &Path) -> Result<RunStart, Error> {
        let place = Self::unfinished(folder);
        let none = || Error::about(folder, "contains no run that can be resumed");
        let there = Self::read(&place, |why| cannot_go_on(folder, why))?;
        Self::state_of(folder, &place, there.ok_or_else(none)?)
    }

    /// Returns the state of an unfinished run; `place` holds its files.
    fn state_of(folder: &Path, place: &Path, there: ExistingRun) -> Result<RunStart, Error> {
        let none = "contains a run without a checkpoint; start it again with --out and --force";
        let checkpoint = there.checkpoint;
        let (begun, state) = checkpoint.ok_or_else(|| Error::about(folder, none))?;
        let path = place.join(CHECKPOINT);
        let experiment = begun.after(&state.changes)?.with_episodes(&path)?;
        let snapshots = snapshots_of(place, &there.log);
        let mut snapshots = snapshots.map_err(|error| lost_snapshots(folder, &error))?;
        if let Some(snapshots) = &mut snapshots {
            // Training repeats the sequences after the checkpoint.
            snapshots.cut(state.sequences);
        }
        Ok(RunStart {
            begun,
            experiment,
            state,
            snapshots,
        })
    }

    /// Resumes the run that [`RunFolder::open`] has read: see [`RunFolder::resume`].
    ///
    /// # Errors
    /// As for [`RunFolder::resume`].
    pub fn resume_from(mut self, there: ExistingRun) -> Result<Option<ResumedRun>, Error> {
        let folder = self.folder.clone();
        if there.is_finished {
            complete(&folder)?;
            file::remove(&self.place.join(CHECKPOINT))?;
            Failure::forget(&folder)?;
            return Ok(None);
        }
        let saved = Self::state_of(&folder, &self.place, there)?;
        complete(&folder)?;
        Failure::forget(&self.place)?;
        let label = file::label(&self.place.join(LOG));
        self.experiment = self.experiment.with_those_of(&saved.experiment, &label)?;
        self.open_at(&saved.state)?;
        Ok(Some(ResumedRun {
            folder: self,
            experiment: saved.experiment,
            state: saved.state,
            snapshots: saved.snapshots,
        }))
    }

    fn new(folder: &Path, experiment: &Experiment, command: &str, lock: Lock) -> Self {
        Self {
            folder: folder.to_owned(),
            place: folder.to_owned(),
            experiment: experiment.clone(),
            command: command.to_owned(),
            saved: None,
            checkpoint: (Instant::now(), Duration::ZERO),
            snapshot: None,
            lock,
        }
    }

    /// Makes the log, the preset and the weights agree with a state. Weights of an earlier task, or of a validation after the
    /// state, stay until new ones replace them.
    fn open_at(&mut self, state: &State) -> Result<(), Error> {
        self.write_log(state)?;
        if !self.is_replacement() {
            self.put(PRESET, |path| self.experiment.write(path))?;
        }
        let is_other_task = self.experiment.task_since(&state.changes) > 0;
        let has_none = is_other_task && !file::exists(&self.weights_path());
        if state.best.is_some() || has_none || self.is_last(state) {
            self.write_weights(state)?;
        }
        Ok(())
    }

    /// True for the state at the end of the run.
    fn is_last(&self, state: &State) -> bool {
        let training = &self.experiment.training;
        training.is_over(state.sequences, &state.history)
    }

    /// True for a replacement that has not taken the place of the earlier run yet.
    fn is_replacement(&self) -> bool {
        self.place != self.folder
    }

    /// Writes a file of the run, if its lock is still valid. The error of a replacement adds that the earlier run is
    /// unchanged.
    fn put(&self, name: &str, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
        self.lock.check()?;
        match write(&self.place.join(name)) {
            Err(Error::Write(file, why)) if self.is_replacement() => {
                let (kind, folder) = (why.kind(), file::label(&self.folder));
                let why = format!("{why}; the earlier run in {folder} is unchanged");
                Err(Error::Write(file, std::io::Error::new(kind, why)))
            }
            done => done,
        }
    }

    /// Replaces the log.
    fn write_log(&self, state: &State) -> Result<(), Error> {
        let header = Header {
            format: log::FORMAT[0],
            version: log::FORMAT[1],
            generator: super::trace::Generator::default(),
            command: &self.command,
            experiment: Written::of(&self.experiment),
            data: data_json(&self.experiment.task),
        };
        let points = state.history.iter();
        let points = points.map(|point| (point.sequences, file::json(&PointForm(*point))));
        let changes = state.changes.iter();
        let changes = changes.map(|change| (change.sequences, file::json(&line_of(change))));
        let mut lines: Vec<_> = points.chain(changes).collect();
        // After equally many sequences, the validation comes first.
        lines.sort_by_key(|(sequences, _)| *sequences);
        let write = |to: &mut dyn Write| {
            writeln!(to, "{}", file::json(&header))?;
            let mut lines = lines.iter();
            lines.try_for_each(|(_, line)| writeln!(to, "{line}"))
        };
        self.put(LOG, |path| file::write_atomically(path, write))
    }

    /// Stores the result of a validation: first the weights, if they are the best so far or the last, then the line of the
    /// log.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn validated(&mut self, state: &State) -> Result<(), Error> {
        if state.best.is_some() || self.is_last(state) {
            self.save_best_or_last(state)?;
        }
        let last = state.history.last();
        last.map_or(Ok(()), |point| self.line(&PointForm(*point)))
    }

    /// Stores what follows an update: the result of its validation, if there is one; and new snapshots and a checkpoint, if
    /// they are due: at least ten seconds after the last checkpoint, and in at most 1/20 of the time of the run.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn advanced(
        &mut self,
        trainer: &Trainer,
        update: &Update,
        snapshots: Option<&Snapshots>,
    ) -> Result<(), Error> {
        let state = &trainer.state;
        if let Some(snapshots) = snapshots.filter(|_| trainer.finished()) {
            // Before the last line of the log: a log that ends with it is never resumed.
            self.keep_snapshots(snapshots)?;
        }
        if update.validated.is_some() {
            self.validated(state)?;
        }
        let (start, (at, cost)) = (Instant::now(), self.checkpoint);
        if at.elapsed() >= BETWEEN_CHECKPOINTS.max(cost * CHECKPOINT_SHARE) {
            snapshots.map_or(Ok(()), |snapshots| self.keep_snapshots(snapshots))?;
            self.checkpoint(state)?;
            self.checkpoint.1 = start.elapsed();
        }
        Ok(())
    }

    /// Stores the last change of the experiment: the snapshots, a checkpoint with the change, and then a line of the log.
    /// This order loses nothing. Training continues with the changed experiment.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn changed(&mut self, state: &State, snapshots: Option<&Snapshots>) -> Result<(), Error> {
        snapshots.map_or(Ok(()), |snapshots| self.keep_snapshots(snapshots))?;
        self.checkpoint(state)?;
        let last = state.changes.last();
        last.map_or(Ok(()), |change| self.line(&line_of(change)))
    }

    /// Writes the weights of the best validation, if they are not on disk, and takes the place of a replaced run.
    ///
    /// Without a finite validation there are no best weights: the last ones are written instead, and replace an earlier run
    /// only at the end.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save_best_or_last(&mut self, state: &State) -> Result<(), Error> {
        self.write_weights(state)?;
        if state.best.is_some() || self.is_last(state) {
            return self.take_place();
        }
        Ok(())
    }

    /// Takes the place of the replaced run, if it has not yet.
    ///
    /// # Errors
    /// The run has no weights, or a file cannot be written.
    pub fn take_place(&mut self) -> Result<(), Error> {
        if self.is_replacement() {
            Self::weights_at(&self.place)?;
            self.put(PRESET, |path| self.experiment.write(path))?;
            complete(&self.folder)?;
            self.place.clone_from(&self.folder);
        }
        Ok(())
    }

    fn write_weights(&mut self, state: &State) -> Result<(), Error> {
        let best = state.best.as_ref().map(|(_, best)| *best);
        if best.is_some() && best == self.saved {
            return Ok(());
        }
        let trained = best_or_last(&self.experiment, state, &self.command);
        self.put(WEIGHTS, |path| weights::write(path, &trained))?;
        self.saved = best;
        Ok(())
    }

    /// The evaluation of the weights on disk.
    pub fn saved(&self) -> Option<Evaluation> {
        self.saved
    }

    /// Writes the snapshots of the run, if they differ from those on disk. They may be ahead of the checkpoint: a resumed run
    /// repeats the later ones.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_snapshots(&mut self, snapshots: &Snapshots) -> Result<(), Error> {
        let last = snapshots.all().last().map(|last| last.sequences);
        if last.is_some() && last != self.snapshot {
            self.put(SNAPSHOTS, |path| {
                snapshots::write(path, &self.experiment, snapshots)
            })?;
            self.snapshot = last;
        }
        Ok(())
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn checkpoint(&mut self, state: &State) -> Result<(), Error> {
        let start = Instant::now();
        self.put(CHECKPOINT, |path| {
            checkpoint::write(path, &self.experiment, state)
        })?;
        self.checkpoint = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Ends a run after its last sequence: takes the place of a replaced run, and removes the checkpoint.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub fn finish(mut self) -> Result<(), Error> {
        self.take_place()?;
        self.put(CHECKPOINT, file::remove)?;
        Failure::forget(&self.folder)
    }

    /// False if the file system has no locks, so that other processes may write here too.
    pub fn is_exclusive(&self) -> bool {
        self.lock.is_exclusive
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the weights.
    pub fn weights_path(&self) -> PathBuf {
        self.place.join(WEIGHTS)
    }

    /// Appends an object as a line of the log, which is on disk when this returns.
    fn line(&self, value: &impl Serialize) -> Result<(), Error> {
        let line = file::json(value) + "\n";
        self.put(LOG, |path| file::append(path, &line))
    }
}

fn line_of(change: &Change) -> ChangeLine {
    let change = ChangeForm(change.clone());
    ChangeLine { change }
}

/// Returns the machine of the best validation of a run; without a finite validation, the current one. `command` is the
/// command that started the run.
pub fn best_or_last(experiment: &Experiment, state: &State, command: &str) -> Trained {
    let (machine, evaluation, points) = match &state.best {
        Some((machine, best)) => {
            let since = experiment.task_since(&state.changes);
            let points = train::best(&state.history, since).map_or(0, |index| index + 1);
            (machine, Some(*best), points)
        }
        None => (&state.machines[0], None, state.history.len()),
    };
    let history = state.history[..points].to_vec();
    let end = history.last().filter(|_| evaluation.is_some());
    let end = end.map_or(u64::MAX, |point| point.sequences);
    let changes = state.changes.iter().filter(|change| change.sequences < end);
    Trained {
        experiment: experiment.clone(),
        machine: machine.clone(),
        history,
        changes: changes.cloned().collect(),
        evaluation,
        command: command.to_owned(),
    }
}

/// Returns the log of a path: the file itself, or that of the run folder.
///
/// # Errors
/// A folder without a log, or as for [`log::read`].
pub fn log_at(path: &Path) -> Result<Log, Error> {
    log::read(&file_at(path, LOG, "log")?)
}

/// Returns a path that is no folder as it is, or the file of this name in a run folder. `what` is such a file.
fn file_at(path: &Path, name: &str, what: &str) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let inside = file::if_exists(RunFolder::part(path, name));
    inside.ok_or_else(|| {
        let problem = format!("is a folder without {name}; expected a {what} or a run folder");
        Error::about(path, problem)
    })
}

/// Returns the training snapshots of the run in a folder, which has this log.
fn snapshots_of(folder: &Path, log: &Log) -> Result<Option<Snapshots>, Error> {
    let Some(path) = file::if_exists(RunFolder::part(folder, SNAPSHOTS)) else {
        return Ok(None);
    };
    let (experiment, snapshots) = snapshots::read(&path)?;
    if experiment != log.experiment {
        let problem = format!("belongs to another preset than {LOG}");
        return Err(Error::about(&path, problem));
    }
    Ok(Some(snapshots))
}

/// Checks the names in a folder; true for one with a log. A folder without a log may contain only files that `is_left`
/// accepts; `unfit` creates the error for another file.
fn check_names(
    folder: &Path,
    is_left: impl Fn(&Path, &str) -> bool,
    unfit: impl Fn(&str) -> Error,
) -> Result<bool, Error> {
    if file::exists(&RunFolder::part(folder, LOG)) {
        let lock = folder.join(LOCK);
        if file::exists(&lock) && !Lock::is_ours(&lock) {
            return Err(unfit(&format!("its {LOCK} belongs to another program")));
        }
        return Ok(true);
    }
    let mut names = file::contents(folder)?.into_iter();
    match names.find(|name| !is_left(folder, name)) {
        None => Ok(false),
        Some(name) => Err(unfit(&format!("it contains {name} but no {LOG}"))),
    }
}

/// Moves the files of a complete replacement over those of the earlier run.
fn complete(folder: &Path) -> Result<(), Error> {
    let new = folder.join(REPLACEMENT);
    if file::exists(&new.join(PRESET)) {
        if file::exists(&new.join(LOG)) {
            Failure::forget(folder)?;
            let old = FILES.iter().filter(|name| !file::exists(&new.join(name)));
            old.map(|name| folder.join(name))
                .try_for_each(|path| file::remove(&path))?;
        }
        let mut files = FILES.iter();
        files.try_for_each(|name| file::rename(&new.join(name), &folder.join(name)))?;
    }
    if file::exists(&new.join(LOG)) {
        return Ok(());
    }
    abandon(folder)
}

/// Removes a replacement that is not complete.
fn abandon(folder: &Path) -> Result<(), Error> {
    let new = folder.join(REPLACEMENT);
    // The log first: without it the run cannot resume. No other process writes there, so all files may be removed.
    file::remove(&new.join(LOG))?;
    for name in file::contents(&new)? {
        file::remove(&new.join(name))?;
    }
    file::remove_folder(&new);
    Ok(())
}

/// True if all sequences of a run are trained, and its weights match the best validation of its log and the changes before
/// it.
pub(super) fn is_finished(log: &Log, weights: Option<&Trained>) -> bool {
    let bits = |measured: Option<Evaluation>| measured.map(|best| best.bits_per_sequence);
    let best = train::best(&log.points, log.experiment.task_since(&log.changes));
    let end = best.map_or(u64::MAX, |index| log.points[index].sequences);
    let changes = log.changes.partition_point(|change| change.sequences < end);
    let is_best = |weights: &Trained| {
        bits(weights.evaluation) == bits(log.best()) && weights.changes == log.changes[..changes]
    };
    log.is_finished() && weights.is_some_and(is_best)
}

/// True for a file that a folder without a run may contain: hidden, or left by a run that never wrote its log.
fn is_left(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    has_name_of_left(folder, name)
        && (name != CHECKPOINT || checkpoint::read(&path).is_ok())
        && (name != START || weights::read(&path).is_ok())
}

/// [`is_left`] by the name of the file, whatever a checkpoint or start contains.
fn has_name_of_left(folder: &Path, name: &str) -> bool {
    name.starts_with('.')
        || [Failure::FILE, CHECKPOINT, START].contains(&name)
        || name == LOCK && Lock::is_ours(&folder.join(name))
}

/// Returns the error for a damaged run that cannot resume.
fn cannot_go_on(folder: &Path, why: &str) -> Error {
    let problem = format!(
        "cannot be resumed: {why}; nothing was changed, and its other files can be read. Start again with --out, or with \
         --repeat if its log is complete"
    );
    Error::about(folder, problem)
}

fn not_ours(folder: &Path, why: &str) -> Error {
    let problem = format!("is not a run folder and stays unchanged: {why}; choose another folder");
    Error::about(folder, problem)
}

/// Returns the error for damaged snapshots, with the way to resume.
fn lost_snapshots(folder: &Path, why: &Error) -> Error {
    let problem = format!(
        "cannot be resumed with its training snapshots: {why}; all other files are intact. Rename {SNAPSHOTS} to resume \
         without the earlier snapshots, or, with --snapshots, with new ones from here on"
    );
    Error::about(folder, problem)
}

fn taken(folder: &Path, log: &Log) -> Error {
    let done = log.points.last().map_or(0, |point| point.sequences);
    let can_go_on = !log.is_finished() && file::exists(&RunFolder::part(folder, CHECKPOINT));
    let go_on = if RunFolder::unfinished(folder) != folder {
        "its replacement has started: resume that with --resume, "
    } else if can_go_on {
        "resume it with --resume, "
    } else {
        ""
    };
    let problem = format!(
        "contains a run of {done}/{} sequences; {go_on}choose another folder with --out, or replace it with --force",
        log.experiment.training.sequences
    );
    Error::about(folder, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Trainer;

    const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
        "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
        "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

    fn tiny() -> Experiment {
        Experiment::from_json(TINY, "tiny.json", &[]).unwrap()
    }

    /// Returns a trainer that continues from a state, or starts.
    fn trainer(state: Option<State>) -> Trainer {
        let tiny = tiny();
        let state = state.unwrap_or_else(|| State::new(tiny.model, &tiny.training));
        Trainer::resume(tiny.task, tiny.training, state, 1)
    }

    fn create(folder: &Path) -> RunFolder {
        RunFolder::create(folder, &tiny(), "begun", false).unwrap()
    }

    fn begun(folder: &Path) -> Option<ExistingRun> {
        RunFolder::contents(folder).unwrap()
    }

    /// Returns a path for a run, and the guard that removes it after the test.
    fn place() -> (PathBuf, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        (place.path().join("run"), place)
    }

    /// Trains until `until` sequences are seen, as `train` does, without checkpoints.
    fn train(folder: &mut RunFolder, trainer: &mut Trainer, until: u64) {
        while trainer.state.sequences < until {
            if trainer.update().unwrap().validated.is_some() {
                folder.validated(&trainer.state).unwrap();
            }
        }
    }

    /// Returns the final contents of a folder, without times.
    fn end(folder: &Path) -> (Log, Trained, Vec<String>) {
        let mut log = log::read(&folder.join(LOG)).unwrap();
        let mut trained = weights::read(&folder.join(WEIGHTS)).unwrap();
        for point in log.points.iter_mut().chain(&mut trained.history) {
            point.seconds = 0.0;
        }
        (log, trained, file::contents(folder).unwrap())
    }

    /// Returns the folder of an uninterrupted run.
    fn reference(folder: &Path) -> (Log, Trained, Vec<String>) {
        let mut run = create(folder);
        train(&mut run, &mut trainer(None), 60);
        run.finish().unwrap();
        end(folder)
    }

    #[test]
    fn resume_from_any_checkpoint_ignores_later_log_and_weights() {
        let (folder, place) = place();
        let whole = reference(&folder);
        assert_eq!(whole.2, [LOG, PRESET, WEIGHTS]);
        // Checkpoints at and between validations; the run stops there, or later.
        for [kept, broken] in [
            [0, 0],
            [0, 25],
            [7, 7],
            [10, 10],
            [10, 39],
            [33, 60],
            [60, 60],
        ] {
            for cut in [0, 1, 40] {
                let folder = place.path().join(format!("{kept},{broken},{cut}"));
                let (mut run, mut first) = (create(&folder), trainer(None));
                train(&mut run, &mut first, kept);
                run.checkpoint(&first.state).unwrap();
                train(&mut run, &mut first, broken);
                drop(run);
                // The last line of the log may have been lost, in part or as a whole.
                let log = folder.join(LOG);
                let text = std::fs::read(&log).unwrap();
                let header = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
                std::fs::write(&log, &text[..header.max(text.len() - cut)]).unwrap();

                let Some(resumed) = RunFolder::resume(&folder, "resumed").unwrap() else {
                    assert!(broken == 60 && cut == 0);
                    continue;
                };
                assert_eq!(resumed.state.sequences, kept);
                assert_eq!(resumed.experiment, tiny());
                let mut run = resumed.folder;
                // Now all files agree.
                let so_far = log::read(&log).unwrap().points;
                assert_eq!(so_far, resumed.state.history);
                assert_eq!(run.weights_path().exists(), broken >= 10);
                train(&mut run, &mut trainer(Some(resumed.state)), 60);
                run.finish().unwrap();
                assert!(end(&folder) == whole, "{kept}, {broken}, {cut}");
            }
        }
    }

    #[test]
    fn a_run_without_checkpoint_or_finished_does_not_resume() {
        let (folder, place) = place();
        reference(&folder);
        assert!(RunFolder::resume(&folder, "x").unwrap().is_none());
        let refused = |folder: &Path, words: &str| {
            let said = RunFolder::resume(folder, "x").unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        };
        // The weights of a validation that is not the best.
        let mut trained = weights::read(&folder.join(WEIGHTS)).unwrap();
        trained.evaluation.as_mut().unwrap().bits_per_sequence += 1.0;
        weights::write(&folder.join(WEIGHTS), &trained).unwrap();
        assert!(!begun(&folder).unwrap().is_finished);
        refused(
            &folder,
            "contains a run without a checkpoint; start it again with --out and --force",
        );
        // The message does not offer to resume a run that cannot.
        let started = place.path().join("started");
        drop(create(&started));
        let again = |words: &str| {
            let said = RunFolder::create(&started, &tiny(), "x", false).unwrap_err();
            assert!(said.to_string().contains(words), "{said}");
        };
        again("0/60 sequences; resume it with --resume, choose");
        std::fs::remove_file(started.join(CHECKPOINT)).unwrap();
        again("0/60 sequences; choose another");
        let none = place.path().join("none");
        refused(&none, "none: contains no run that can be resumed");
        let other = Experiment::from_json(&TINY.replace("60", "70"), "tiny.json", &[]).unwrap();
        let state = State::new(other.model.clone(), &other.training);
        checkpoint::write(&folder.join(CHECKPOINT), &other, &state).unwrap();
        refused(
            &folder,
            "cannot be resumed: checkpoint.safetensors belongs to another preset than history.ntmlog.jsonl; nothing was changed",
        );
        let forced = RunFolder::create(&folder, &tiny(), "x", true).unwrap_err();
        let forced = forced.to_string();
        assert!(forced.contains("is not a run folder"), "{forced}");
    }

    /// Tests that a kill between any two files of a new run leaves nothing foreign: the run can start again or resume.
    #[test]
    fn a_folder_without_log_or_preset_is_recognised() {
        let (folder, place) = place();
        let whole = reference(&place.path().join("whole"));
        let written = [CHECKPOINT, LOG, PRESET];
        for count in 0..=written.len() {
            drop(create(&folder));
            let (left, lost) = written.split_at(count);
            for name in lost {
                std::fs::remove_file(folder.join(name)).unwrap();
            }
            std::fs::write(folder.join(LOCK), "").unwrap();
            let (mut run, state) = if left.contains(&LOG) {
                let resumed = RunFolder::resume(&folder, "resumed").unwrap().unwrap();
                (resumed.folder, Some(resumed.state))
            } else {
                assert!(begun(&folder).is_none());
                (create(&folder), None)
            };
            train(&mut run, &mut trainer(state), 60);
            run.finish().unwrap();
            assert!(end(&folder) == whole, "{left:?}");
            std::fs::remove_dir_all(&folder).unwrap();
        }
        drop(create(&folder));
        std::fs::remove_file(folder.join(LOG)).unwrap();
        std::fs::remove_file(folder.join(PRESET)).unwrap();
        std::fs::write(folder.join(CHECKPOINT), "mine").unwrap();
        let refused = RunFolder::create(&folder, &tiny(), "x", true).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("is not a run folder"), "{refused}");
    }

    /// The log never lists weights that do not exist: after an interruption at most the line is missing.
    #[test]
    fn failing_to_write_weights_adds_no_log_line() {
        let (folder, _place) = place();
        let (mut run, mut trainer) = (create(&folder), trainer(None));
        // This folder cannot be written.
        std::fs::create_dir(run.weights_path()).unwrap();
        let point = loop {
            if let Some(point) = trainer.update().unwrap().validated {
                break point;
            }
        };
        assert!(run.validated(&trainer.state).is_err());
        let points = || log::read(&folder.join(LOG)).unwrap().points;
        assert_eq!(points(), []);
        std::fs::remove_dir(run.weights_path()).unwrap();
        run.validated(&trainer.state).unwrap();
        assert_eq!(points(), [point]);
        let kept = weights::read(&run.weights_path()).unwrap().evaluation;
        assert_eq!(kept, Some(point.validation));
    }

    #[test]
    fn weights_list_earlier_changes() {
        let (folder, _place) = place();
        let mut run = create(&folder);
        let mut trainer = trainer(None);
        let read = || weights::read(&folder.join(WEIGHTS)).unwrap();
        let change = |run: &mut RunFolder, trainer: &mut Trainer, set: &str| {
            let before = tiny().after(&trainer.state.changes).unwrap();
            let now = before.changed(&[set.parse().unwrap()]).unwrap();
            crate::learn::change(trainer, now.task, now.training, vec![set.to_owned()]);
            run.changed(&trainer.state, None).unwrap();
        };
        train(&mut run, &mut trainer, 10);
        assert_eq!(read().changes, []);
        change(&mut run, &mut trainer, "task.length=[2,3]");
        // The best weights of the earlier task stay until there are new ones, also after resuming.
        let before = read();
        assert_eq!(
            before.evaluation,
            log::read(&folder.join(LOG))
                .unwrap()
                .points
                .first()
                .map(|first| first.validation)
        );
        drop(run);
        let resumed = RunFolder::resume(&folder, "resumed").unwrap().unwrap();
        assert_eq!(read(), before);
        assert_eq!(read().now(), tiny());
        let mut run = resumed.folder;
        let now = resumed.experiment;
        let mut trainer = Trainer::resume(now.task, now.training, resumed.state, 1);
        change(&mut run, &mut trainer, "training.batch=5");
        train(&mut run, &mut trainer, 60);
        let after = read();
        assert_eq!(after.experiment, tiny());
        assert_eq!(after.changes, trainer.state.changes);
        assert_eq!(after.changes.len(), 2);
        let now = after.now();
        assert_eq!((now.task.size(), now.training.batch), (2..=3, 5));
        // Weights with other changes than their run are read, and reported.
        let bytes = weights::to_bytes(&Trained {
            changes: after.changes[..1].to_vec(),
            ..after
        });
        assert_eq!(weights::from_bytes(&bytes, "w").unwrap().changes.len(), 1);
    }

    #[test]
    fn a_moved_run_writes_nothing_into_the_new_folder() {
        if cfg!(windows) {
            return;
        }
        let (folder, place) = place();
        let (mut run, mut first) = (create(&folder), trainer(None));
        train(&mut run, &mut first, 15);
        let moved = place.path().join("moved");
        std::fs::rename(&folder, &moved).unwrap();
        let gone = |run: &mut RunFolder, state: &State| {
            for done in [run.checkpoint(state), run.validated(state)] {
                let said = done.unwrap_err().to_string();
                assert!(
                    said.contains("was moved or removed while this process was writing"),
                    "{said}"
                );
            }
        };
        gone(&mut run, &first.state);
        let next = create(&folder);
        gone(&mut run, &first.state);
        drop(run);
        assert_eq!(
            file::contents(&folder).unwrap(),
            [CHECKPOINT, LOG, PRESET, LOCK]
        );
        drop(next);
        let resumed = RunFolder::resume(&moved, "resumed").unwrap().unwrap();
        assert_eq!(resumed.state.sequences, 0);
    }

    #[test]
    fn success_removes_the_recorded_failure() {
        let (folder, _place) = place();
        std::fs::create_dir(&folder).unwrap();
        Failure::Failed("no space left".into())
            .write(&folder)
            .unwrap();
        let run = create(&folder);
        assert_eq!(
            file::contents(&folder).unwrap(),
            [CHECKPOINT, LOG, PRESET, LOCK]
        );
        Failure::Failed("no space left".into())
            .write(&folder)
            .unwrap();
        let mut run = run;
        train(&mut run, &mut trainer(None), 60);
        run.finish().unwrap();
        assert_eq!(file::contents(&folder).unwrap(), [LOG, PRESET, WEIGHTS]);
    }

    #[test]
    fn a_run_with_nan_validations_keeps_its_last_weights() {
        let (folder, _place) = place();
        let (mut run, mut trainer) = (create(&folder), trainer(None));
        while !trainer.finished() {
            if trainer.update().unwrap().validated.is_some() {
                trainer.state.best = None;
                for point in &mut trainer.state.history {
                    point.validation.bits_per_sequence = f64::NAN;
                }
                run.validated(&trainer.state).unwrap();
            }
        }
        run.checkpoint(&trainer.state).unwrap();
        drop(run);
        assert!(begun(&folder).unwrap().is_finished);
        std::fs::remove_file(folder.join(WEIGHTS)).unwrap();
        assert!(RunFolder::resume(&folder, "x").unwrap().is_some());
        let last = weights::read(&folder.join(WEIGHTS)).unwrap().machine;
        assert_eq!(last, trainer.state.machines[0]);
    }
}
