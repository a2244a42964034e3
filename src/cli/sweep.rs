//! `tapescope sweep`: many seeds and settings, trained side by side, and their joint results.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::bail;
use clap::Args;

use super::arguments::threads;
use super::collect::Collect;
use super::error::{CliError, DIVERGED, INVALID};
use super::machine;
use super::machine::check_training;
use super::message::note;
use super::parent_watch::ParentWatch;
use super::plan::{Grid, Runs, Seeds, Shard, settings};
use super::process::again;
use super::signal::interrupted;
use crate::io::sweep::{Failure, FolderState, folder_state, run_name, write_plan};
use crate::io::{Error, Experiment, RunFolder, label, preset, shell, weights};

/// The time after which a stopped sweep asks its runs to end, at most.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  tapescope sweep copy --seeds 1..10
  tapescope sweep copy --grid model.memory.rows=64,128 --grid training.optimizer.learning_rate=1e-4,3e-4
  tapescope sweep copy --seeds 1..100 --shard 2/5       every fifth run, starting with the second
  tapescope sweep --collect sweeps/copy --threshold 0.1 --svg curves.svg
  tapescope sweep --collect sweeps/copy --fresh --format markdown
  tapescope sweep --collect runs/copy-7 --svg curve.svg  the learning curve of one run

Each run is a separate `tapescope train` process on one thread, with its own folder; it ends when the sweep ends. \
Repeat the same command to continue: it skips finished runs, diverged runs (a result as well) and runs that another process \
is training, and resumes stopped and failed runs. Shards are independent, so a job array can give each computer one: see \
docs/sweeps.md. A run succeeds if its best validation is below the threshold, in bits per sequence. `sequences` and \
`seconds` are measured to the first such validation, over the runs that have one; `after` is the worst validation after it.";

/// Train many seeds and settings, or collect their results.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Sweep {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    #[arg(required_unless_present = "collect")]
    preset: Option<String>,
    /// Seeds: an inclusive range or a list.
    #[arg(
        long,
        value_name = "A..B",
        default_value = "1..10",
        allow_negative_numbers = true
    )]
    seeds: Seeds,
    /// Train only every Nth run, starting with run I.
    #[arg(long, value_name = "I/N", allow_negative_numbers = true)]
    shard: Option<Shard>,
    /// Train with each of these values; repeatable, for every combination.
    #[arg(long = "grid", value_name = "PATH=V1,V2")]
    grids: Vec<Grid>,
    /// Folder of the run folders [default: sweeps/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    runs: Runs,
    #[command(flatten)]
    collect: Collect,
}

fn runs(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// A training run that is to be done.
struct Job {
    name: String,
    folder: PathBuf,
    experiment: Experiment,
    /// The state of the folder when the sweep was planned.
    state: FolderState,
    /// The arguments of `tapescope` that start it.
    arguments: Vec<OsString>,
}

/// The end of a run.
enum End {
    Finished,
    Diverged(String),
    /// Another process trains it.
    Elsewhere(String),
    /// In these words, with this exit code.
    Failed(String, Option<i32>),
}

impl Sweep {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Some(preset) = &self.preset else {
            return self.collect.run(out);
        };
        let set = self.runs.overrides();
        let Seeds(seeds) = &self.seeds;
        let mut experiments = Vec::new();
        for setting in settings(&set, &self.grids, seeds.len())? {
            let experiment = Experiment::find(preset, &setting).map_err(|e| self.placed(e))?;
            experiments.push((setting, experiment));
        }
        let name = experiments.first().map(|(_, experiment)| &experiment.name);
        let default = || PathBuf::from("sweeps").join(name.map_or("", String::as_str));
        let folder = self.out.clone().unwrap_or_else(default);
        let order = Order {
            preset,
            experiments: &experiments,
            seeds,
            shard: self.shard.unwrap_or(Shard::WHOLE),
            folder: &folder,
            runs: &self.runs,
        };
        order.train(out)?;
        let next = order.collecting();
        if !self.runs.dry_run {
            writeln!(out, "next: {next}")?;
        }
        Ok(())
    }

    /// Adds to an error the option whose value caused it.
    fn placed(&self, mut error: Error) -> Error {
        if let Error::Content { file, place, .. } = &mut error
            && file == "--set"
            && self.grids.iter().any(|grid| grid.path == *place)
        {
            "--grid".clone_into(file);
        }
        error
    }
}

/// The runs to train: every experiment with every seed.
pub(super) struct Order<'a> {
    /// The name of the preset, or its path.
    pub(super) preset: &'a str,
    /// The experiments, each with its changes to the preset.
    pub(super) experiments: &'a [(Vec<preset::Override>, Experiment)],
    pub(super) seeds: &'a [u64],
    pub(super) shard: Shard,
    /// The folder of the run folders.
    pub(super) folder: &'a Path,
    /// Options for training them.
    pub(super) runs: &'a Runs,
}

impl Order<'_> {
    /// Trains the runs that are not trained yet, and reports the end of each to `out`.
    pub(super) fn train(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for (_, experiment) in self.experiments {
            check_training(experiment, self.preset, 1)?;
        }
        let (names, jobs) = self.plan()?;
        let own = (0..names.len()).filter(|&run| self.shard.takes(run));
        let (own, to_do) = (own.count(), jobs.len());
        let all = runs(own);
        if self.runs.dry_run {
            if jobs.is_empty() {
                let next = self.collecting();
                note(&format!("nothing to do: {all}, all finished; next: {next}"));
            }
            for job in &jobs {
                writeln!(out, "{}", shell::command(&job.command(&job.state)))?;
            }
            return Ok(());
        }
        let at_once = threads(self.runs.jobs).min(to_do);
        // Each run has a thread that reads its messages and waits for it.
        let what = format!("--jobs {at_once}: running {at_once} processes");
        machine::claim(u64::from(at_once > 0), at_once, &what)?;
        write_plan(self.folder, names)?;
        let before = own - to_do;
        note(&format!(
            "{all}, {before} finished before; {to_do} to do, {at_once} at a time"
        ));
        let mut report = Report {
            out,
            count: to_do,
            done: 0,
            elsewhere: 0,
            failures: Vec::new(),
            lost: Ok(()),
        };
        train_all(&mut report, jobs, at_once)?;
        report.close()
    }

    /// Returns the command that collects the results.
    fn collecting(&self) -> String {
        shell::command(&["sweep".as_ref(), "--collect".as_ref(), self.folder])
    }

    /// Returns the names of the runs in every shard, and the runs of this shard that are to be done.
    fn plan(&self) -> anyhow::Result<(BTreeSet<String>, Vec<Job>)> {
        let (mut names, mut jobs) = (BTreeSet::new(), Vec::new());
        for (setting, experiment) in self.experiments {
            let mut experiment = experiment.clone();
            for &seed in self.seeds {
                let name = run_name(setting, seed);
                let is_own = self.shard.takes(names.len());
                names.insert(name.clone());
                if !is_own {
                    continue;
                }
                experiment.training.seed = seed;
                let folder = self.folder.join(&name);
                let job = Job {
                    arguments: arguments(self.preset, setting, seed, &folder),
                    state: folder_state(&folder, &experiment)?,
                    experiment: experiment.clone(),
                    name,
                    folder,
                };
                match &job.state {
                    FolderState::Finished => {}
                    FolderState::OtherExperiment(difference) => return job.refused(difference),
                    _ => jobs.push(job),
                }
            }
        }
        Ok((names, jobs))
    }
}

fn arguments(
    preset: &str,
    setting: &[preset::Override],
    seed: u64,
    folder: &Path,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["train".into(), preset.into()];
    for change in setting {
        words.extend(["--set".into(), change.to_string().into()]);
    }
    words.extend(["--seed", &seed.to_string(), "--threads", "1", "--out"].map(Into::into));
    words.push(folder.into());
    words
}

impl Job {
    /// Returns the arguments of `tapescope` that start the run, or resume it.
    fn command(&self, folder_state: &FolderState) -> Vec<OsString> {
        match folder_state {
            FolderState::Resumable => {
                let folder = self.folder.clone().into();
                let [train, resume] = ["train", "--resume"].map(OsString::from);
                vec![train, resume, folder, "--threads".into(), "1".into()]
            }
            FolderState::Incomplete => [&self.arguments[..], &["--force".into()]].concat(),
            _ => self.arguments.clone(),
        }
    }

    fn refused<T>(&self, difference: &str) -> anyhow::Result<T> {
        let folder = label(&self.folder);
        bail!("{folder} contains a run of another preset: {difference}; choose another --out")
    }

    /// Trains or resumes the run in its own process; records a failure in its folder.
    fn train(&self, parent_watch: &ParentWatch, stop: &AtomicBool) -> anyhow::Result<End> {
        // Another sweep may have been here since the plan was made. The command that resumes a run finds out by itself.
        let state = match &self.state {
            FolderState::Resumable => FolderState::Resumable,
            _ => folder_state(&self.folder, &self.experiment)?,
        };
        let arguments = match state {
            FolderState::Finished => return Ok(End::Finished),
            FolderState::Running(holder) => return Ok(End::Elsewhere(holder)),
            FolderState::OtherExperiment(difference) => return self.refused(&difference),
            folder_state => self.command(&folder_state),
        };
        let mut command = again()?;
        command.args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        parent_watch.attach(&mut command)?;
        let mut child = command.spawn()?;
        // A full pipe without a reader would block the run. The end of the run closes it.
        let pipe = child.stderr.take();
        let lines = pipe.map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok));
        let last_line = lines.and_then(|lines| lines.filter(|line| !line.is_empty()).last());
        let last_line = last_line.unwrap_or_default();
        let status = child.wait()?;
        if status.success() {
            return Ok(End::Finished);
        }
        let words = match last_line.strip_prefix("error: ") {
            Some(words) => words.to_owned(),
            None => format!("training ended with {status}"),
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(End::Failed(words, status.code()));
        }
        if status.code() == Some(DIVERGED.into()) {
            Failure::Diverged(words.clone()).write(&self.folder)?;
            return Ok(End::Diverged(words));
        }
        // Another sweep may have been quicker.
        match folder_state(&self.folder, &self.experiment) {
            Ok(FolderState::Running(holder)) => return Ok(End::Elsewhere(holder)),
            Ok(FolderState::Finished) => return Ok(End::Finished),
            // A failure that cannot be stored, perhaps on a full disk, is still reported.
            Ok(_) => drop(Failure::Failed(words.clone()).write(&self.folder)),
            Err(_) => {}
        }
        Ok(End::Failed(words, status.code()))
    }

    /// The best validation of the run, when it has ended well, in words.
    fn best(&self) -> String {
        let trained = RunFolder::weights_at(&self.folder).and_then(|path| weights::read(&path));
        let best = trained.ok().and_then(|trained| trained.evaluation);
        best.map_or("no validation is finite".to_owned(), |best| {
            let answer = self.experiment.task.answer();
            let best = answer.in_words(best.bits_per_sequence, 3);
            format!("best validation {best} per sequence")
        })
    }
}

/// The report on runs as they end.
struct Report<'a, W> {
    out: &'a mut W,
    count: usize,
    done: usize,
    elsewhere: usize,
    /// The exit codes of those that failed.
    failures: Vec<Option<i32>>,
    /// The first line that could not be written. A sweep continues without a reader.
    lost: io::Result<()>,
}

impl<W: Write> Report<'_, W> {
    fn line(&mut self, line: &str) {
        if self.lost.is_ok() {
            self.lost = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        }
    }

    fn ended(&mut self, job: &Job, end: anyhow::Result<End>) {
        self.done += 1;
        let end = end.unwrap_or_else(|error| {
            let code = super::error::exit_code(&error);
            End::Failed(error.to_string(), Some(code.into()))
        });
        let run = format!("[{}/{}] {}", self.done, self.count, job.name);
        match end {
            End::Finished => self.line(&format!("{run}: {}", job.best())),
            End::Diverged(words) => self.line(&format!("{run}: diverged: {words}")),
            End::Elsewhere(holder) => {
                self.elsewhere += 1;
                note(&format!("{run}: skipped, is being trained by {holder}"));
            }
            End::Failed(words, code) => {
                note(&format!("{run}: {words}"));
                self.failures.push(code);
            }
        }
    }

    /// Returns the result of the sweep when all runs have ended.
    fn close(self) -> anyhow::Result<()> {
        let all = runs(self.count);
        if !self.failures.is_empty() {
            let failed = self.failures.len();
            let problem = format!("{failed} of {all} failed; repeat the command to try again");
            let invalid = Some(INVALID.into());
            if self.failures.iter().all(|code| *code == invalid) {
                bail!(problem);
            }
            return Err(CliError::Failed(problem).into());
        }
        if self.elsewhere > 0 {
            let left = self.elsewhere;
            let problem = format!(
                "{left} of {all} are being trained by other processes; repeat the command later"
            );
            return Err(CliError::Failed(problem).into());
        }
        Ok(self.lost?)
    }
}

/// Runs every job, `at_once` at a time. When the sweep stops, it asks the runs to end, and each ends itself a while later.
fn train_all(
    report: &mut Report<impl Write>,
    jobs: Vec<Job>,
    at_once: usize,
) -> anyhow::Result<()> {
    let stop = interrupted();
    let (parent_watch, held) = ParentWatch::new()?;
    let mut held = Some(held);
    let queue = Mutex::new(jobs.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (send, ended) = mpsc::channel::<(Job, anyhow::Result<End>)>();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let (send, stop, parent_watch, next) = (send.clone(), &stop, &parent_watch, &next);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(job) = next()
                {
                    let end = job.train(parent_watch, stop);
                    // The other side listens until all of them are gone.
                    let _ = send.send((job, end));
                }
            });
        }
        drop(send);
        loop {
            match ended.recv_timeout(BETWEEN_LOOKS) {
                Err(RecvTimeoutError::Disconnected) => break,
                _ if stop.load(Ordering::Relaxed) => drop(held.take()),
                Ok((job, end)) => report.ended(&job, end),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    });
    if stop.load(Ordering::Relaxed) {
        let words = "stopped; repeat the command to continue with the unfinished runs";
        return Err(CliError::Stopped(words.to_owned()).into());
    }
    Ok(())
}
