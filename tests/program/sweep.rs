//! A sweep among other processes: it is ended, its reader leaves, its folders are taken or go away.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tapescope::io::lock::Lock;
use tapescope::io::{log, weights};

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
    "model": {"memory": {"rows": 4, "columns": 3}, "controller": {"size": 4}},
    "training": {"sequences": 20, "validation_every": 10, "validation_episodes": 1}}"#;
/// Longer than anything takes on a machine that is not broken.
const PATIENCE: Duration = Duration::from_mins(2);

fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.json"), TINY).unwrap();
    // No test waits for the end of this one.
    let endless = TINY.replace("\"sequences\": 20", "\"sequences\": 1000000000");
    fs::write(folder.path().join("endless.json"), endless).unwrap();
    folder
}

fn tapescope<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null());
    command
}

fn done<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Output {
    tapescope(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits for something that comes.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn send(signal: &str, process: u32) {
    let done = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(done.unwrap().success());
}

/// The processes that this one has started and that have not ended.
fn children(parent: u32) -> Vec<u32> {
    alive(|_, of| of == parent)
}

/// Every living process for which this is true of its number and its parent's.
fn alive(is: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let list = Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,stat="])
        .output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    let process = |line: &str| {
        let mut words = line.split_whitespace();
        let (own, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let has_ended = words.next()?.starts_with('Z');
        (!has_ended && is(own, parent)).then_some(own)
    };
    list.lines().filter_map(process).collect()
}

/// Starts two endless runs, and waits until both have weights.
fn two_endless_runs(folder: &Path) -> Child {
    let sweep = [
        "sweep",
        "endless.json",
        "--seeds",
        "1..2",
        "--jobs",
        "2",
        "--out",
        "runs",
    ];
    let sweep = tapescope(folder, sweep)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for run in ["runs/seed=1", "runs/seed=2"] {
        let weights = folder.join(run).join("weights.safetensors");
        until(run, || weights.exists());
    }
    sweep
}

#[test]
fn ending_a_sweep_ends_its_runs() {
    for (signal, code) in [
        ("-KILL", None),
        ("-TERM", Some(143)),
        ("-HUP", Some(129)),
        ("-INT", Some(130)),
    ] {
        // Under `nohup` this test and what it starts ignore it, as they should.
        if signal == "-HUP" && tapescope::io::process::ignores(1) != Some(false) {
            continue;
        }
        let folder = place();
        let mut sweep = two_endless_runs(folder.path());
        let runs = children(sweep.id());
        assert_eq!(runs.len(), 2, "{signal}");
        send(signal, sweep.id());
        let ended = sweep.wait().unwrap();
        let start = Instant::now();
        while !alive(|own, _| runs.contains(&own)).is_empty() {
            if start.elapsed() > Duration::from_secs(30) {
                runs.iter().for_each(|run| send("-KILL", *run));
                panic!("{signal}: the runs go on without their sweep");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(ended.code(), code, "{signal}");
        if code.is_some() {
            let said = BufReader::new(sweep.stderr.take().unwrap()).lines().last();
            let said = said.unwrap().unwrap();
            assert_eq!(
                said, "stopped; repeat the command to continue with the unfinished runs",
                "{signal}"
            );
        }
        // The folders are free again, and the runs go on where they were.
        for run in ["runs/seed=1", "runs/seed=2"] {
            let path = folder.path().join(run);
            weights::read(&path.join("weights.safetensors")).unwrap();
            assert_eq!(
                Lock::holder(&path.join("run.lock")).unwrap(),
                None,
                "{signal}"
            );
        }
        let sweep = [
            "sweep",
            "endless.json",
            "--seeds",
            "1..2",
            "--out",
            "runs",
            "--dry-run",
        ];
        let again = printed(&done(folder.path(), sweep));
        assert_eq!(
            again,
            "tapescope train --resume runs/seed=1 --threads 1\ntapescope train --resume runs/seed=2 --threads 1\n"
        );
    }
}

#[test]
fn a_reader_that_leaves_does_not_stop_a_sweep() {
    let folder = place();
    let arguments = [
        "sweep",
        "tiny.json",
        "--seeds",
        "1..6",
        "--jobs",
        "1",
        "--out",
        "runs",
    ];
    let mut sweep = tapescope(folder.path(), arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(sweep.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("[1/6] seed=1: best validation"), "{line}");
    let ended = sweep.wait_with_output().unwrap();
    for seed in 1..=6 {
        let run = folder.path().join(format!("runs/seed={seed}"));
        assert!(run.join("weights.safetensors").exists(), "seed {seed}");
    }
    assert!(ended.status.success(), "{}", said(&ended));
}

#[test]
fn a_failed_run_does_not_stop_the_others() {
    let folder = place();
    fs::create_dir(folder.path().join("runs")).unwrap();
    // No folder can be made there, which is not seen before somebody tries.
    std::os::unix::fs::symlink("no/such/folder", folder.path().join("runs/seed=2")).unwrap();
    let arguments = [
        "sweep",
        "tiny.json",
        "--seeds",
        "1..3",
        "--jobs",
        "1",
        "--out",
        "runs",
    ];
    let ended = done(folder.path(), arguments);
    let words = said(&ended);
    assert!(
        words.contains("[2/3] seed=2: runs/seed=2: is a symbolic link to no/such/folder, "),
        "{words}"
    );
    assert!(
        words.ends_with("error: 1 of 3 runs failed; repeat the command to try again\n"),
        "{words}"
    );
    assert_eq!(ended.status.code(), Some(2));
    for run in ["runs/seed=1", "runs/seed=3"] {
        assert!(
            folder.path().join(run).join("weights.safetensors").exists(),
            "{run}"
        );
    }
}

#[test]
fn a_run_whose_folder_disappears_fails_alone() {
    let folder = place();
    let mut sweep = two_endless_runs(folder.path());
    // As a whole: what is taken apart while somebody writes into it may not become empty.
    fs::rename(
        folder.path().join("runs/seed=1"),
        folder.path().join("gone"),
    )
    .unwrap();
    let mut lines = BufReader::new(sweep.stderr.take().unwrap()).lines();
    let told = lines.find(|line| line.as_ref().unwrap().starts_with("[1/2] "));
    let told = told.unwrap().unwrap();
    let expected = "[1/2] seed=1: runs/seed=1: cannot be written: it was moved or removed";
    // It may go before a file is begun, or while one is written.
    let is_told = told.starts_with(expected) || told.contains(".safetensors: cannot be written: ");
    assert!(is_told, "{told}");
    assert_eq!(children(sweep.id()).len(), 1, "the other one goes on");
    assert!(!folder.path().join("runs/seed=1").exists());
    send("-INT", sweep.id());
    assert_eq!(sweep.wait().unwrap().code(), Some(130));
}

#[test]
fn a_sweep_refuses_foreign_folders() {
    let folder = place();
    let run = folder.path().join("runs/seed=1");
    let sweep = ["sweep", "tiny.json", "--seeds", "1", "--out", "runs"];
    // Weights of somebody else, and nothing that says whose.
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("weights.safetensors"), "of somebody else").unwrap();
    let ended = done(folder.path(), sweep);
    assert_eq!(
        fs::read(run.join("weights.safetensors")).unwrap(),
        b"of somebody else"
    );
    assert_eq!(ended.status.code(), Some(2), "{}", said(&ended));
    assert!(
        said(&ended).starts_with("error: runs/seed=1"),
        "{}",
        said(&ended)
    );

    // A finished run whose preset says more than this program knows.
    fs::remove_dir_all(&run).unwrap();
    assert!(done(folder.path(), sweep).status.success());
    let preset = fs::read_to_string(run.join("preset.json")).unwrap();
    let newer = preset.replacen('{', "{\n  \"from_a_newer_version\": 1,", 1);
    fs::write(run.join("preset.json"), &newer).unwrap();
    let weights = fs::read(run.join("weights.safetensors")).unwrap();
    let ended = done(folder.path(), sweep);
    assert_eq!(ended.status.code(), Some(2), "{}", said(&ended));
    assert!(
        said(&ended).contains("from_a_newer_version"),
        "{}",
        said(&ended)
    );
    assert_eq!(fs::read_to_string(run.join("preset.json")).unwrap(), newer);
    assert_eq!(fs::read(run.join("weights.safetensors")).unwrap(), weights);
}

#[test]
fn non_unicode_names_work() {
    let folder = place();
    fs::remove_file(folder.path().join("endless.json")).unwrap();
    let name = |end: &[u8]| PathBuf::from(OsStr::from_bytes(&[b"caf\xe9", end].concat()));
    let with = |before: &[&str], path: &Path| {
        let before = before.iter().map(OsString::from);
        done(folder.path(), before.chain([path.into()]))
    };
    fs::rename(
        folder.path().join("tiny.json"),
        folder.path().join(name(b".json")),
    )
    .unwrap();
    let preset = name(b".json");
    let mut expected = vec![preset.clone()];
    for (command, out) in [
        (
            &[
                "train",
                "copy",
                "--sequences",
                "1",
                "--set",
                "task.length=[1,1]",
                "--out",
            ][..],
            name(b"-train"),
        ),
        (
            &[
                "sweep",
                "copy",
                "--seeds",
                "1",
                "--set",
                "training.sequences=1",
                "--out",
            ],
            name(b"-sweep"),
        ),
        (
            &["trace", "copy", "--length", "1", "--out"],
            name(b".ntmtrace.json"),
        ),
        (&["render", "copy", "--length", "1", "--out"], name(b".svg")),
    ] {
        let ended = with(command, &out);
        assert!(ended.status.success(), "{command:?}: {}", said(&ended));
        expected.push(out);
    }
    let there = fs::read_dir(folder.path()).unwrap();
    let mut there: Vec<PathBuf> = there
        .map(|entry| entry.unwrap().file_name().into())
        .collect();
    there.sort();
    expected.sort();
    assert_eq!(there, expected);
    // As an input it is read, or refused by its name; never another file.
    for command in [
        &["eval"][..],
        &["render", "--out", "x.svg"],
        &["trace", "--out", "x.npz"],
    ] {
        let ended = with(command, &name(b"-train"));
        let words = said(&ended);
        assert!(
            ended.status.success() || words.contains("UTF-8"),
            "{command:?}: {words}"
        );
    }
    let ended = with(&["sweep", "--collect"], &name(b"-sweep"));
    assert!(ended.status.success(), "{}", said(&ended));
    // What a dry run prints makes the same folders.
    let dry = with(
        &[
            "sweep",
            "copy",
            "--seeds",
            "2",
            "--set",
            "training.sequences=1",
            "--dry-run",
            "--out",
        ],
        &name(b"-sweep"),
    );
    let program = env!("CARGO_BIN_EXE_tapescope");
    let line = printed(&dry).replacen("tapescope", program, 1);
    let ran = Command::new("bash")
        .args(["-c", &line])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {}", said(&ran));
    let run = name(b"-sweep").join("training.sequences=1,seed=2");
    assert!(
        folder.path().join(run).join("weights.safetensors").exists(),
        "{line}"
    );
}

#[test]
fn divergence_has_its_own_exit_code() {
    let folder = place();
    let wild = ["--set", "training.optimizer.learning_rate=3e38"];
    let train = ["train", "tiny.json", "--out", "alone"];
    let ended = done(folder.path(), train.iter().chain(&wild));
    assert_eq!(ended.status.code(), Some(4), "{}", said(&ended));
    let sweep = ["sweep", "tiny.json", "--seeds", "1", "--out", "runs"];
    let ended = done(folder.path(), sweep.iter().chain(&wild));
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    let run = folder
        .path()
        .join("runs/training.optimizer.learning_rate=3e+38,seed=1");
    let record = fs::read_to_string(run.join("failure.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["kind"], "diverged");
}

#[test]
fn a_stopped_run_resumes_to_identical_files() {
    let folder = place();
    let long = TINY.replace("\"sequences\": 20", "\"sequences\": 4000");
    fs::write(folder.path().join("long.json"), long).unwrap();
    let sweep = |out: &'static str| ["sweep", "long.json", "--seeds", "1", "--out", out];
    assert!(done(folder.path(), sweep("whole")).status.success());
    let mut stopped = tapescope(folder.path(), sweep("runs"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = |out: &str| folder.path().join(out).join("seed=1/history.ntmlog.jsonl");
    until("the log", || log("runs").exists());
    send("-KILL", stopped.id());
    stopped.wait().unwrap();
    let run = folder.path().join("runs/seed=1");
    until("its run to end", || {
        Lock::holder(&run.join("run.lock")).unwrap().is_none()
    });
    let again = done(folder.path(), sweep("runs"));
    assert!(again.status.success(), "{}", said(&again));
    let end = |out: &str| {
        let weights = folder.path().join(out).join("seed=1/weights.safetensors");
        let points = log::read(&log(out)).unwrap().points;
        let points = points
            .into_iter()
            .map(|point| (point.sequences, point.validation));
        (
            points.collect::<Vec<_>>(),
            weights::read(&weights).unwrap().sha256(),
        )
    };
    assert_eq!(end("runs"), end("whole"));
}

#[test]
fn two_sweeps_share_a_folder() {
    let folder = place();
    let first = two_endless_runs(folder.path());
    let second = ["sweep", "endless.json", "--seeds", "1..2", "--out", "runs"];
    let second = done(folder.path(), second);
    let words = said(&second);
    assert_eq!(second.status.code(), Some(1), "{words}");
    for process in children(first.id()) {
        let holder = format!(
            ": skipped, is being trained by process {process}: tapescope train endless.json "
        );
        assert!(words.contains(&holder), "{words}");
    }
    let last =
        "error: 2 of 2 runs are being trained by other processes; repeat the command later\n";
    assert!(words.ends_with(last), "{words}");
    let collected = done(folder.path(), ["sweep", "--collect", "runs"]);
    let told = said(&collected);
    assert_eq!(
        told.matches(": is being trained by process ").count(),
        2,
        "{told}"
    );
    assert!(!folder.path().join("runs/seed=1/failure.json").exists());
    send("-INT", first.id());
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(130));
    // Both at once from the beginning: each run is trained by one of them.
    let both = [
        "sweep",
        "tiny.json",
        "--seeds",
        "1..6",
        "--jobs",
        "2",
        "--out",
        "both",
    ];
    let start = || {
        tapescope(folder.path(), both)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let ended = [start(), start()].map(|sweep| sweep.wait_with_output().unwrap());
    for ended in &ended {
        let words = said(ended);
        assert!(
            ended.status.success() || words.contains("being trained by other processes"),
            "{words}"
        );
    }
    let last = done(folder.path(), both);
    assert_eq!(
        said(&last),
        "6 runs, 6 finished before; 0 to do, 0 at a time\n"
    );
    for seed in 1..=6 {
        let run = folder.path().join(format!("both/seed={seed}"));
        let trained = weights::read(&run.join("weights.safetensors")).unwrap();
        assert_eq!(trained.experiment.training.seed, seed);
        let points = log::read(&run.join("history.ntmlog.jsonl")).unwrap().points;
        assert_eq!(points.len(), 2, "seed {seed}");
    }
}
