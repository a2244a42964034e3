//! A killed program leaves complete files and runs that resume.
//!
//! Nothing here depends on what a moment meets: what must hold holds at every one. `tests/killed/many_interruptions.rs` breaks a
//! hundred runs off at random.
#![cfg(unix)]

#[path = "../killed/interrupted_run.rs"]
mod interrupted_run;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use interrupted_run::{Interruption, TestRun};
use tapescope::io::trace;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tapescope");

#[test]
fn killed_trace_writer_leaves_the_old_or_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["t.npz", "t.ntmtrace.json", "t.ntmtrace.json.gz"];
    for name in names {
        let path = folder.path().join(name);
        let command = |seed: &str| {
            let mut command = Command::new(PROGRAM);
            command.args(["trace", "copy", "--length", "60", "--rows", "256"]);
            command.args(["--seed", seed, "--out", name]);
            command.current_dir(folder.path());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let start = Instant::now();
        let written = ["1", "2"].map(|seed| {
            assert!(command(seed).status().unwrap().success());
            std::fs::read(&path).unwrap()
        });
        let takes = start.elapsed() / 2;
        for round in 0..8 {
            let mut child = command(["1", "2"][round % 2]).spawn().unwrap();
            std::thread::sleep(takes * (round as u32 + 1) / 8);
            child.kill().unwrap();
            child.wait().unwrap();
            let there = std::fs::read(&path).unwrap();
            assert!(written.contains(&there), "{name} has {} bytes", there.len());
        }
        assert!(trace::read(&path).is_ok());
    }
    // The temporary file of a writer that was killed goes with the next file that is written.
    std::fs::write(folder.path().join(".tapescope-dead"), "half").unwrap();
    let mut last = Command::new(PROGRAM);
    last.args(["trace", "copy", "--length", "1", "--out", names[0]]);
    assert!(
        last.current_dir(folder.path())
            .output()
            .unwrap()
            .status
            .success()
    );
    let left = std::fs::read_dir(folder.path()).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, names);
}

#[test]
fn repeatedly_killed_run_gives_identical_files() {
    let test_run = TestRun::new(
        r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
        "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 8}},
        "training": {"sequences": 3000, "validation_every": 100, "validation_episodes": 2, "batch": 2}}"#,
    );
    let at = |lines, signal, killed_after: Option<u64>| Interruption {
        lines,
        pause: Duration::ZERO,
        signal,
        killed_after: killed_after.map(Duration::from_micros),
    };
    test_run.interrupt_and_resume([
        at(0, "KILL", None),
        at(1, "TERM", None),
        at(2, "KILL", None),
        at(1, "HUP", None),
        at(3, "INT", Some(300)),
        at(1, "TERM", Some(1000)),
        at(1, "INT", None),
    ]);
}
