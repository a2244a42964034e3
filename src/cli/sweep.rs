//! `tapescope sweep`: many seeds and settings, trained side by side, and what they say together.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use clap::Args;

use super::collect::Collect;
use super::plan::{Grid, Seeds, Shard, settings};
use super::signal::interrupted;
use super::table::Format;
use super::train::check_size;
use super::{INTERRUPTED, Stopped, Usage, note, quoted, thread_count, threads, whole_number};
use crate::io::sweep::{Progress, is_divergence, note_failure, progress, run_name};
use crate::io::{Error, Experiment, RunFolder, label, preset, weights};

const EXAMPLES: &str = "\
Examples:
  tapescope sweep copy --seeds 1..10
  tapescope sweep copy --grid model.memory.rows=64,128 --grid training.optimizer.rate=1e-4,3e-4
  tapescope sweep copy --seeds 1..100 --shard 2/5       every fifth run, from the second on
  tapescope sweep --collect sweeps/copy --threshold 0.1 --svg curves.svg
  tapescope sweep --collect sweeps/copy --fresh --format markdown

Every run is a `tapescope train` of its own in a folder of its own, on one thread. A run that is finished \
is skipped when the sweep is repeated, also one that diverged, which is a result; one that was stopped or \
has failed starts again. Shards need nothing \
of each other, so a job array can give each machine one: see docs/sweeps.md. A run succeeds when its best \
validation is below the threshold, in bits per sequence; `sequences` and `seconds` are those until the first \
such validation, over the runs that have one; `after` is the worst validation that still came after it.";

/// How long a run may take to stop by itself after Ctrl-C.
const GRACE: Duration = Duration::from_secs(5);

/// Train many seeds and settings, or gather what they learned.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Sweep {
    /// The name of a preset (see `tapescope tasks`), or the path of a JSON file.
    #[arg(required_unless_present = "collect")]
    preset: Option<String>,
    /// The seeds: a range with both its ends, or a list.
    #[arg(
        long,
        value_name = "A..B",
        default_value = "1..10",
        allow_negative_numbers = true
    )]
    seeds: Seeds,
    /// Only every Nth run, beginning with the Ith.
    #[arg(long, value_name = "I/N", allow_negative_numbers = true)]
    shard: Option<Shard>,
    /// Change a value of the preset, by its path in the JSON; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<preset::Override>,
    /// Train with each of these values; may be repeated: every combination.
    #[arg(long = "grid", value_name = "PATH=V1,V2")]
    grids: Vec<Grid>,
    /// Where to put the folders of the runs [default: sweeps/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at the same time [default: one per processor].
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true)]
    jobs: Option<usize>,
    /// Print the commands of the runs that are to be done, and run none.
    #[arg(long)]
    dry_run: bool,
    /// Gather the runs in these folders, instead of training.
    #[arg(long, value_name = "DIR", num_args = 1..,
          conflicts_with_all = ["preset", "seeds", "shard", "overrides", "grids", "out", "jobs", "dry_run"])]
    collect: Vec<PathBuf>,
    /// With --collect: bits per sequence below which a run has succeeded; the default is for tasks that
    /// can be solved, N-grams need 134.
    #[arg(long, value_name = "BITS", default_value_t = 0.1, conflicts_with = "preset",
          value_parser = threshold, allow_negative_numbers = true)]
    threshold: f64,
    /// With --collect: judge by the best weights on this many fresh episodes [default when given: 500].
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "500", conflicts_with = "preset",
          value_parser = fresh, allow_negative_numbers = true)]
    fresh: Option<usize>,
    /// With --collect: how to write the tables.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, conflicts_with = "preset")]
    format: Format,
    /// With --collect: draw the learning curves into this file.
    #[arg(long, value_name = "FILE.SVG", conflicts_with = "preset")]
    svg: Option<PathBuf>,
}

fn threshold(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(bits) if bits > 0.0 && f64::is_finite(bits) => Ok(bits),
        _ => Err("expected bits per sequence, a number above 0".to_owned()),
    }
}

fn fresh(text: &str) -> Result<usize, String> {
    whole_number(text, 10_000_000)
}

fn runs(count: usize) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

/// A training run that is to be done.
struct Job {
    name: String,
    folder: PathBuf,
    /// What is typed behind `tapescope`.
    arguments: Vec<String>,
}

/// How a run ended: well, or in these words and with this exit code.
type End = Result<(), (String, Option<i32>)>;

impl Sweep {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Some(preset) = &self.preset else {
            let collect = Collect {
                folders: &self.collect,
                threshold: self.threshold,
                fresh: self.fresh,
                format: self.format,
                svg: self.svg.as_deref(),
            };
            return collect.run(out);
        };
        let Seeds(seeds) = &self.seeds;
        let settings = settings(&self.overrides, &self.grids, seeds.len())?;
        let mut experiments = Vec::new();
        for setting in &settings {
            let experiment = Experiment::find(preset, setting).map_err(|e| self.placed(e))?;
            check_size(&experiment, preset, 1)?;
            experiments.push((setting.as_slice(), experiment));
        }
        let name = experiments.first().map(|(_, experiment)| &experiment.name);
        let default = || PathBuf::from("sweeps").join(name.map_or("", String::as_str));
        let out_folder = self.out.clone().unwrap_or_else(default);
        let (jobs, all) = self.jobs(preset, &out_folder, experiments)?;
        if self.dry_run {
            if jobs.is_empty() {
                let folder = label(&out_folder);
                note(&format!(
                    "nothing to do: {}, all finished; next: tapescope sweep --collect {folder}",
                    runs(all)
                ));
            }
            for job in &jobs {
                writeln!(out, "{}", quoted(&job.arguments))?;
            }
            return Ok(());
        }
        let at_once = threads(self.jobs).min(jobs.len());
        let to_do = jobs.len();
        note(&format!(
            "{}, {} finished before; {to_do} to do, {at_once} at a time",
            runs(all),
            all - to_do,
        ));
        let failures = train_all(out, jobs, at_once)?;
        let folder = label(&out_folder);
        if failures.is_empty() {
            return Ok(writeln!(out, "next: tapescope sweep --collect {folder}")?);
        }
        let problem = format!(
            "{} of {} failed; the same command tries again",
            failures.len(),
            runs(to_do)
        );
        if failures.iter().all(|code| *code == Some(2)) {
            return Err(Usage(problem).into());
        }
        Err(anyhow::anyhow!(problem))
    }

    /// An error about what was typed, by the option that it was typed behind.
    fn placed(&self, error: Error) -> Error {
        match error {
            Error::Content {
                file,
                place,
                problem,
            } if file == "--set" && self.grids.iter().any(|grid| grid.path == place) => {
                let file = "--grid".to_owned();
                Error::Content {
                    file,
                    place,
                    problem,
                }
            }
            other => other,
        }
    }

    /// The runs of this shard that are to be done, and how many it has.
    fn jobs(
        &self,
        preset: &str,
        out: &Path,
        experiments: Vec<(&[preset::Override], Experiment)>,
    ) -> anyhow::Result<(Vec<Job>, usize)> {
        let Seeds(seeds) = &self.seeds;
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let (mut jobs, mut all, mut place) = (Vec::new(), 0, 0);
        for (setting, mut experiment) in experiments {
            for &seed in seeds {
                place += 1;
                if !shard.takes(place - 1) {
                    continue;
                }
                all += 1;
                experiment.training.seed = seed;
                let name = run_name(setting, seed);
                let folder = out.join(&name);
                match progress(&folder, &experiment) {
                    Progress::Finished => continue,
                    Progress::ToDo => {}
                    Progress::Other(difference) => {
                        let folder = label(&folder);
                        let problem = format!(
                            "{folder} holds a run of another experiment: {difference}; choose another --out"
                        );
                        return Err(Usage(problem).into());
                    }
                }
                jobs.push(Job {
                    arguments: arguments(preset, setting, seed, &folder),
                    name,
                    folder,
                });
            }
        }
        Ok((jobs, all))
    }
}

fn arguments(preset: &str, setting: &[preset::Override], seed: u64, folder: &Path) -> Vec<String> {
    let mut arguments = vec!["train".to_owned(), preset.to_owned()];
    for change in setting {
        arguments.extend(["--set".to_owned(), change.to_string()]);
    }
    let folder = folder.display().to_string();
    let seed = seed.to_string();
    let rest = [
        "--seed",
        &seed,
        "--threads",
        "1",
        "--force",
        "--out",
        &folder,
    ];
    arguments.extend(rest.map(str::to_owned));
    arguments
}

/// Runs every job, `at_once` at a time; returns the exit codes of those that failed.
fn train_all(
    out: &mut impl Write,
    jobs: Vec<Job>,
    at_once: usize,
) -> anyhow::Result<Vec<Option<i32>>> {
    let count = jobs.len();
    let stop = interrupted();
    let queue = Mutex::new(VecDeque::from(jobs));
    let next = || {
        queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let (send, ended) = mpsc::channel::<(Job, anyhow::Result<End>)>();
    let mut failures = Vec::new();
    let result = std::thread::scope(|scope| {
        for _ in 0..at_once {
            let (send, stop, next) = (send.clone(), &stop, &next);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(job) = next()
                {
                    let end = train(&job, stop);
                    // The other side leaves only when the sweep ends.
                    if send.send((job, end)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut done = 0;
        for (job, end) in ended {
            if stop.load(Ordering::Relaxed) {
                continue;
            }
            done += 1;
            let report = || -> anyhow::Result<()> {
                match end? {
                    Ok(()) => writeln!(out, "[{done}/{count}] {}: {}", job.name, best(&job))?,
                    Err((words, _)) if is_divergence(&words) => {
                        writeln!(out, "[{done}/{count}] {}: diverged: {words}", job.name)?;
                    }
                    Err((words, code)) => {
                        note(&format!("[{done}/{count}] {}: {words}", job.name));
                        failures.push(code);
                    }
                }
                Ok(out.flush()?)
            };
            if let Err(error) = report() {
                // Nobody reads what comes out, or nothing can be started: the runs on their way end too.
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    });
    result?;
    if stop.load(Ordering::Relaxed) {
        let words = "stopped; the same command goes on with the runs that are not finished";
        return Err(Stopped(words.to_owned()).into());
    }
    Ok(failures)
}

/// The best validation of a run that has ended well, in words.
fn best(job: &Job) -> String {
    let trained = RunFolder::weights_at(&job.folder).and_then(|path| weights::read(&path));
    match trained.ok().and_then(|trained| trained.evaluation) {
        Some(best) => format!(
            "best validation {:.3} bits per sequence",
            best.bits_per_sequence
        ),
        None => "no validation is a number".to_owned(),
    }
}

/// Trains in a process of its own, and keeps in the folder why that failed, if it did.
fn train(job: &Job, stop: &AtomicBool) -> anyhow::Result<End> {
    note_failure(&job.folder, None)?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(&job.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    // A pipe that nobody empties would stop the run.
    let pipe = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let lines = pipe.map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok));
        lines.and_then(|lines| lines.filter(|line| !line.is_empty()).last())
    });
    let status = wait(&mut child, stop)?;
    let last_line = reader.join().ok().flatten().unwrap_or_default();
    if status.success() {
        return Ok(Ok(()));
    }
    if stop.load(Ordering::Relaxed) || status.code() == Some(INTERRUPTED.into()) {
        return Ok(Err(("stopped".to_owned(), status.code())));
    }
    let words = match last_line.strip_prefix("error: ") {
        Some(words) => words.to_owned(),
        None => format!("the training ended with {status}"),
    };
    note_failure(&job.folder, Some(&words))?;
    Ok(Err((words, status.code())))
}

/// Waits for the end of a run. Ctrl-C reaches it as well; when it does not, it is ended after a while.
fn wait(child: &mut Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut stopped_at: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) {
            let since = stopped_at.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                // It may have ended by itself just now.
                let _ = child.kill();
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
