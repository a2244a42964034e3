//! What takes more memory than there is gets refused: with a message and exit code 2, never by an abort.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program with so many kilobytes of address space.
fn within(kilobytes: u64, folder: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\""))
        .arg(env!("CARGO_BIN_EXE_tapescope"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Exit code, and the line of the error.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("error: "));
    (output.status.code(), line.unwrap_or(&text).to_owned())
}

const TWO_GB: u64 = 2_000_000;

#[test]
fn what_does_not_fit_is_refused_before_it_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "model.memory.rows=262144";
    let cases: [(&[&str], &str, &str); 5] = [
        (
            &[
                "train",
                "copy",
                "--set",
                rows,
                "--set",
                "task.length=[1,300]",
            ],
            "copy: training on 601 steps of a memory of 262144 × 20 takes ",
            "most is due to the memory: use a smaller model.memory.rows",
        ),
        (
            &[
                "train",
                "copy",
                "--set",
                "model.controller.size=16384",
                "--set",
                "model.controller.layers=16",
            ],
            "copy: training on 41 steps of a memory of 128 × 20 takes ",
            "most is due to the controller, 16 layers of 16384 units: use a smaller model.controller.size",
        ),
        (
            &[
                "eval",
                "copy",
                "--rows",
                "262144",
                "--lengths",
                "100",
                "--threads",
                "4",
            ],
            "copy: measuring 4 episodes at a time, each of 201 steps of a memory of 262144 × 20, takes ",
            "most is due to the memory: use a smaller --rows",
        ),
        (
            &["trace", "copy", "--length", "100000", "--out", "t.npz"],
            "copy: recording 200001 steps of a memory of 128 × 20 takes ",
            "most is due to the length of the episodes: use a smaller --length",
        ),
        (
            &[
                "render", "copy", "--rows", "65536", "--length", "200", "--out", "t.svg",
            ],
            "copy: recording 401 steps of a memory of 65536 × 20 takes ",
            "most is due to the memory: use a smaller --rows",
        ),
    ];
    for (arguments, begins, ends) in cases {
        let (code, line) = said(&within(TWO_GB, folder.path(), arguments));
        assert_eq!(code, Some(2), "{line}");
        assert!(line.starts_with(&format!("error: {begins}")), "{line}");
        assert!(line.contains(" GB that `ulimit -v` leaves; "), "{line}");
        assert!(line.ends_with(ends), "{line}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "nothing was begun");
}

/// Between too little to begin and more than enough, nothing ends in an abort.
#[test]
fn at_no_limit_does_the_system_end_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let train = [
        "train",
        "copy",
        "--threads",
        "4",
        "--sequences",
        "16",
        "--force",
        "--set",
        "model.memory.rows=4096",
        "--set",
        "training.batch=16",
        "--set",
        "training.validation_every=16",
        "--set",
        "training.validation_episodes=4",
    ];
    let cases: [&[&str]; 4] = [
        &[
            "eval",
            "copy",
            "--rows",
            "8192",
            "--lengths",
            "60",
            "--episodes",
            "4",
            "--threads",
            "4",
        ],
        &[
            "trace", "copy", "--rows", "8192", "--length", "60", "--out", "t.npz",
        ],
        &["render", "copy", "--length", "5", "--out", "t.png"],
        &train,
    ];
    for arguments in cases {
        let mut codes = Vec::new();
        for kilobytes in [100_000, 140_000, 200_000, 300_000, 400_000, 1_000_000] {
            let (code, line) = said(&within(kilobytes, folder.path(), arguments));
            assert!(matches!(code, Some(0 | 2)), "{kilobytes}: {code:?}: {line}");
            codes.push(code);
        }
        assert_eq!(codes.first(), Some(&Some(2)), "{arguments:?}");
        assert_eq!(codes.last(), Some(&Some(0)), "{arguments:?}");
    }
}
