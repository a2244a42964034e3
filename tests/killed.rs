//! A program that is killed while it writes leaves the old file or the new one, whole.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tapescope::io::{Experiment, log, trace, weights};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tapescope");
const ROUNDS: usize = 12;
/// Some files are written within this time, and some are not.
const WHILE_WRITING: Duration = Duration::from_millis(15);
const TINY: &str = r#"{"task": {"kind": "copy", "bits": 4, "length": [1, 2]},
    "model": {"memory": {"rows": 64, "columns": 20}, "controller": {"size": 256}},
    "training": {"sequences": 100000, "validation_every": 1, "validation_episodes": 1}}"#;

fn is_temporary(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with(".tapescope-")
    })
}

/// Starts the program, lets it run for at most so long, and kills it (SIGKILL) at a moment after it began to
/// write. True when it was killed in the middle of it: a file beside the right one is left, and removed here.
fn killed(
    folder: &Path,
    arguments: &[&str],
    random: &mut Xoshiro256PlusPlus,
    most: Duration,
) -> bool {
    let mut pause = |most: Duration| {
        let most = most.as_micros() as u64 + 1;
        std::thread::sleep(Duration::from_micros(random.random_range(0..most)));
    };
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    pause(most);
    let start = Instant::now();
    while !is_temporary(folder)
        && child.try_wait().unwrap().is_none()
        && start.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_micros(200));
    }
    pause(WHILE_WRITING);
    let _ = child.kill();
    child.wait().unwrap();
    let was_writing = is_temporary(folder);
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(".tapescope-")
        {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    was_writing
}

#[test]
fn a_trace_is_the_old_one_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    for name in ["t.ntmtrace.json", "t.ntmtrace.json.gz", "t.npz"] {
        let path = folder.path().join(name);
        let arguments = |seed: &'static str| {
            [
                "trace", "copy", "--length", "60", "--rows", "256", "--seed", seed, "--out", name,
            ]
        };
        let written = ["1", "2"].map(|seed| {
            let done = Command::new(PROGRAM)
                .args(arguments(seed))
                .current_dir(folder.path())
                .output();
            assert!(done.unwrap().status.success());
            std::fs::read(&path).unwrap()
        });
        let mut in_the_middle = 0;
        for round in 0..ROUNDS {
            let arguments = arguments(["1", "2"][round % 2]);
            in_the_middle += usize::from(killed(folder.path(), &arguments, random, Duration::ZERO));
            let there = std::fs::read(&path).unwrap();
            assert!(written.contains(&there), "{name} has {} bytes", there.len());
        }
        assert!(in_the_middle > 0, "{name}: no round was of any use");
        assert!(trace::read(&path).is_ok());
    }
}

#[test]
fn a_run_folder_is_whole_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(2);
    std::fs::write(folder.path().join("tiny.json"), TINY).unwrap();
    let run = folder.path().join("r");
    std::fs::create_dir(&run).unwrap();
    let (mut in_the_middle, mut with_weights) = (0, 0);
    for round in 0..ROUNDS {
        let arguments = ["train", "../tiny.json", "--force", "--out", "."];
        in_the_middle += usize::from(killed(&run, &arguments, random, Duration::from_secs(1)));
        for entry in std::fs::read_dir(&run).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                "preset.json" => assert!(Experiment::read(&path, &[]).is_ok()),
                "weights.safetensors" => {
                    with_weights += 1;
                    weights::read(&path).unwrap();
                }
                // A last line without an end is left out; before its first line a log is no log yet.
                "history.ntmlog.jsonl" => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    assert!(!text.contains('\n') || log::read(&path).is_ok(), "{text}");
                }
                other => panic!("round {round} left {other}"),
            }
        }
    }
    assert!(in_the_middle > 0, "no round was of any use");
    assert!(with_weights > 0, "no round came as far as the weights");
}
