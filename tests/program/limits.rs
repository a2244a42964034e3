//! What takes more memory than there is gets refused: with a message and exit code 2, never by an abort.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program with an address space of `kilobytes`, for at most [`SECONDS`].
fn within(kilobytes: u64, folder: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -v {kilobytes} && exec timeout {SECONDS} \"$0\" \"$@\""
        ))
        .arg(env!("CARGO_BIN_EXE_tapescope"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap()
}

/// Exit code, and the line of the error.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("error: "));
    (output.status.code(), line.unwrap_or(&text).to_owned())
}

#[test]
fn a_file_beyond_the_size_limit_is_an_error_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new("sh")
        .args(["-c", "ulimit -f 8 && exec \"$0\" trace copy --out t.json"])
        .arg(env!("CARGO_BIN_EXE_tapescope"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (code, line) = said(&done);
    let expected = "error: t.json: cannot be written: File too large";
    assert_eq!(code, Some(1), "{done:?}");
    assert!(line.starts_with(expected), "{line}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

const TWO_GB: u64 = 2_000_000;
/// How long a command may take, and the exit code of one that takes longer.
const SECONDS: u64 = 600;
const TIMED_OUT: i32 = 124;

#[test]
fn work_that_exceeds_memory_is_refused_first() {
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
            "copy: training needs ",
            ": 601 steps, 262144 rows, 20 columns, 100 units; reduce one of them",
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
            "copy: training needs ",
            ": 41 steps, 128 rows, 20 columns, 16 layers, 16384 units; reduce one of them",
        ),
        (
            &[
                "eval",
                "copy",
                "--rows",
                "1048576",
                "--lengths",
                "100",
                "--threads",
                "8",
            ],
            "copy: measuring needs ",
            ": 201 steps, 1048576 rows, 20 columns, 100 units, 8 threads; reduce one of them",
        ),
        (
            &["trace", "copy", "--length", "100000", "--out", "t.npz"],
            "copy: recording needs ",
            ": 200001 steps, 128 rows, 20 columns, 100 units; reduce one of them",
        ),
        (
            &[
                "render", "copy", "--rows", "65536", "--length", "200", "--out", "t.svg",
            ],
            "copy: recording needs ",
            ": 401 steps, 65536 rows, 20 columns, 100 units; reduce one of them",
        ),
    ];
    for (arguments, begins, ends) in cases {
        let (code, line) = said(&within(TWO_GB, folder.path(), arguments));
        assert_eq!(code, Some(2), "{line}");
        assert!(line.starts_with(&format!("error: {begins}")), "{line}");
        assert!(line.contains(" GB that `ulimit -v` leaves: "), "{line}");
        assert!(line.ends_with(ends), "{line}");
    }
    let many = [
        "eval",
        "copy",
        "--lengths",
        "1",
        "--episodes",
        "10000000",
        "--threads",
        "1",
    ];
    let (code, line) = said(&within(TWO_GB, folder.path(), &many));
    assert_eq!(code, Some(2), "{line}");
    let expected = "error: copy: keeping the score of every episode (--episodes) needs ";
    assert!(line.starts_with(expected), "{line}");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "nothing was begun");
}

/// Between too little to begin and more than enough, nothing ends in an abort.
#[test]
fn no_memory_limit_crashes_the_program() {
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
            "131072",
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

/// A tiny experiment with a head that draws, so that every command has something to do.
const TINY: &str = r#"{"name": "tiny", "task": {"kind": "copy", "bits": 2, "length": [1, 2]},
    "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5},
              "heads": {"attention": {"weighting": "hard"}}},
    "training": {"sequences": 40, "batch": 4, "validation_every": 20, "validation_episodes": 2}}"#;

/// Every command on something small. `run` is there, as are traces.
const SMALL: [&str; 31] = [
    "tasks",
    "tasks --keys",
    "train tiny.json --out new --force --threads 2",
    "train tiny.json --out from --force --from run --threads 2",
    "train --repeat run --threads 2",
    "train --resume run --threads 2",
    "learn tiny.json",
    "view copy",
    "view small.npz",
    "eval run --samples 4 --episodes 2 --lengths 2 --threads 2",
    "eval --suite --episodes 1 --threads 2",
    "trace copy --length 3 --out t.npz",
    "disassemble copy --length 3",
    "trace copy --length 3 --gradient loss --out t.ntmtrace.json.gz",
    "render small.npz --out r.svg",
    "render copy --length 1 --layout debug --out r.svg",
    "render copy --length 1 --gradient loss --layout debug --out r.svg",
    "render copy --length 1 --compare copy_lstm --out r.png",
    "render run --samples 4 --layout debug --out r.png",
    "render copy --length 1 --layout weightings --out r.gif",
    "render run --over-training --length 2 --out r.gif",
    "verify small.npz",
    "verify small.ntmtrace.json.gz",
    "verify small.npz --weights copy",
    "diff small.npz small.ntmtrace.json.gz",
    "sweep tiny.json --seeds 1..2 --out sweep --dry-run",
    "sweep tiny.json --seeds 1..2 --out sweep --jobs 2",
    "sweep --collect sweep --fresh 2 --svg c.svg",
    "ablate tiny.json --seeds 1 --out ablations --sequences 4 --jobs 2",
    "completions bash",
    "man train",
];

/// The same on what is too large for the smallest limit, or for all of them.
const LARGE: [&str; 18] = [
    "train copy --set model.memory.rows=65536 --set task.length=[1,2000] --out large --threads 2",
    "train copy --set model.controller.size=16384 --out large --threads 2",
    "train copy --set training.batch=4096 --set model.memory.rows=262144 --out large --threads 2",
    "eval copy --rows 1048576 --lengths 2 --episodes 2 --threads 2",
    "eval copy_hard --samples 10000 --lengths 2000 --episodes 4 --threads 2",
    "trace copy --length 2000 --rows 65536 --out t.npz",
    "trace copy --length 60 --rows 6500 --gradient loss --out t.npz",
    "render copy --length 2000 --rows 65536 --out r.png",
    "render copy --length 60 --rows 6500 --gradient loss --layout debug --out r.svg",
    "render copy --length 3 --scale 4 --out r.png",
    "render recall_bayesian_weibull --samples 10000 --items 20 --rows 16384 --out r.svg",
    "render middle.npz --compare middle.npz --out r.png",
    "verify middle.npz",
    "verify middle.npz --weights copy",
    "verify gradient.npz --weights copy",
    "diff middle.npz middle.npz",
    "sweep copy --seeds 1 --set model.memory.rows=262144 --set task.length=[1,2000] --out large --jobs 2",
    "ablate copy --seeds 1 --set model.memory.rows=262144 --set task.length=[1,2000] --out large --jobs 2",
];

/// From 0.2 GB to 6.4 GB, in kilobytes.
const LIMITS: [u64; 6] = [200_000, 400_000, 800_000, 1_600_000, 3_200_000, 6_400_000];

/// Each in success or with a refusal; with more memory than was enough none is tried again.
#[test]
fn every_command_ends_well_within_any_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tiny.json"), TINY).unwrap();
    let run = |kilobytes: u64, line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        said(&within(kilobytes, folder.path(), &arguments))
    };
    for line in [
        "train tiny.json --out run --snapshots",
        "trace copy --length 3 --out small.npz",
        "trace copy --length 3 --out small.ntmtrace.json.gz",
        "trace copy --length 60 --rows 6500 --out middle.npz",
        "trace copy --length 60 --rows 6500 --gradient loss --out gradient.npz",
    ] {
        let (code, said) = run(6_400_000, line);
        assert_eq!(code, Some(0), "{line}: {said}");
    }
    let mut refused = 0;
    for line in SMALL.into_iter().chain(LARGE) {
        let mut is_done = false;
        for kilobytes in LIMITS {
            let (code, said) = run(kilobytes, line);
            let place = format!("{line} within {kilobytes}: {said}");
            match code {
                Some(0) => {
                    is_done = true;
                    break;
                }
                Some(TIMED_OUT) => panic!("more than {SECONDS} seconds: {place}"),
                Some(2) => assert!(said.starts_with("error: "), "{place}"),
                _ => panic!("{code:?}: {place}"),
            }
            refused += usize::from(said.contains(" that `ulimit -v` leaves"));
        }
        let opens_window = line.starts_with("view ") || line.starts_with("learn ");
        assert!(is_done || opens_window || LARGE.contains(&line), "{line}");
    }
    assert!(refused > 50, "{refused} refusals are few");
}
