//! Training runs that are interrupted repeatedly, and the invariants of their folders.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tapescope::io::{ExistingRun, RunFolder, Trained, log, log::Log, weights};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tapescope");
/// How the temporary files of the program are called, those that have a name.
const TEMPORARY: &str = ".tapescope-";

/// An interruption of a run.
#[derive(Clone, Copy, Debug)]
pub struct Interruption {
    /// After so many lines of its progress,
    pub lines: usize,
    /// and so long,
    pub pause: Duration,
    /// by this signal, after which SIGKILL comes when it has waited for so long.
    pub signal: &'static str,
    /// None: SIGKILL does not come.
    pub killed_after: Option<Duration>,
}

/// What a run leaves in the end, but for the time it took.
type End = (Log, Trained, Vec<String>);

/// What became of a run that was broken off.
#[derive(Debug, Default)]
pub struct Counts {
    /// Breaks that met a run on its way.
    pub breaks: usize,
    /// Those after which a named temporary file was there.
    pub temporaries: usize,
    /// Those after which the run went on from the middle, not from its beginning.
    pub in_the_middle: usize,
}

/// A folder with a preset, and the files of its uninterrupted run.
pub struct TestRun {
    folder: tempfile::TempDir,
    whole: End,
}

impl TestRun {
    pub fn new(preset: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tiny.json"), preset).unwrap();
        let done = Command::new(PROGRAM)
            .args(["train", "tiny.json", "--out", "run"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        let run = folder.path().join("run");
        let whole = end(&run);
        std::fs::remove_dir_all(run).unwrap();
        Self { folder, whole }
    }

    /// Interrupts a run at each of these, resumes it each time, and compares the result with that of the
    /// uninterrupted run.
    pub fn interrupt_and_resume(&self, breaks: impl IntoIterator<Item = Interruption>) -> Counts {
        let run = self.folder.path().join("run");
        let mut counts = Counts::default();
        for at in breaks {
            if self.until(&run, &at) {
                counts.breaks += 1;
            }
            let is_temporary = |name: &String| name.starts_with(TEMPORARY);
            counts.temporaries += usize::from(names(&run).iter().any(is_temporary));
            counts.in_the_middle += usize::from(check(&run) > 0);
        }
        let done = self.command(&run).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(end(&run) == self.whole, "another end: {:?}", names(&run));
        std::fs::remove_dir_all(run).unwrap();
        counts
    }

    /// Begins the run, or goes on with it.
    fn command(&self, run: &Path) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path());
        match RunFolder::contents(run).unwrap() {
            None => command.args(["train", "tiny.json", "--out", "run"]),
            Some(_) => command.args(["train", "--resume", "run"]),
        };
        command
    }

    /// True when the run was on its way when it was broken off.
    fn until(&self, run: &Path, at: &Interruption) -> bool {
        let mut child = self
            .command(run)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        for _ in 0..at.lines {
            errors.read_line(&mut String::new()).unwrap();
        }
        std::thread::sleep(at.pause);
        let was_running = child.try_wait().unwrap().is_none();
        if was_running {
            let pid = child.id().to_string();
            // It may end just now.
            let _ = Command::new("kill").args(["-s", at.signal, &pid]).status();
            if let Some(pause) = at.killed_after {
                std::thread::sleep(pause);
                let _ = child.kill();
            }
        }
        errors.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        was_running
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

fn end(run: &Path) -> End {
    let mut log = log::read(&run.join("history.ntmlog.jsonl")).unwrap();
    let mut trained = weights::read(&run.join("weights.safetensors")).unwrap();
    for point in log.points.iter_mut().chain(&mut trained.history) {
        point.seconds = 0.0;
    }
    (log, trained, names(run))
}

/// Holds a folder to what must be so at any moment; returns how far the checkpoint is.
fn check(run: &Path) -> u64 {
    let known = [
        "checkpoint.safetensors",
        "history.ntmlog.jsonl",
        "preset.json",
        "run.lock",
        "weights.safetensors",
    ];
    for name in names(run) {
        let is_known = known.contains(&name.as_str()) || name.starts_with(TEMPORARY);
        assert!(is_known, "{name} is left");
    }
    let Some(ExistingRun { log, .. }) = RunFolder::contents(run).unwrap() else {
        return 0;
    };
    let at: PathBuf = run.join("weights.safetensors");
    if let Some(best) = log.best() {
        let there = weights::read(&at).unwrap().evaluation.unwrap();
        assert!(
            there.bits_per_sequence <= best.bits_per_sequence,
            "older than the log says"
        );
    }
    let checkpoint = run.join("checkpoint.safetensors");
    if !checkpoint.exists() {
        assert!(log.is_finished(), "nothing to go on from");
        return 0;
    }
    tapescope::io::checkpoint::read(&checkpoint)
        .unwrap()
        .1
        .sequences
}
