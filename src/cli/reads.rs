//! Every command reads each file once.
#![cfg(test)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::{Cli, Command};
use crate::io::faults::take_reads;
use crate::io::{Experiment, RunFolder};
use crate::train::Trainer;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
    "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
    "training": {"sequences": 20, "validation_every": 10, "validation_episodes": 2}}"#;

/// Runs a command and returns what it read: every path, and how often.
fn reads(words: &[&str]) -> BTreeMap<PathBuf, usize> {
    let cli = Cli::try_parse_from(["tapescope"].iter().chain(words)).unwrap();
    let mut out = Vec::new();
    take_reads();
    let done = match cli.command.unwrap() {
        Command::Train(train) => train.run(&mut out),
        Command::Sweep(sweep) => sweep.run(&mut out),
        Command::Eval(eval) => eval.run(&mut out),
        _ => panic!("{words:?}: not a command of this test"),
    };
    done.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let mut counts = BTreeMap::new();
    for path in take_reads() {
        *counts
            .entry(path.canonicalize().unwrap_or(path))
            .or_default() += 1;
    }
    counts
}

/// Writes a run that was stopped at its first validation, with training snapshots.
fn stopped(folder: &Path) {
    let tiny = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let mut run = RunFolder::create(folder, &tiny, "tapescope train tiny.json", false).unwrap();
    let mut trainer = Trainer::new(tiny.task, tiny.model, tiny.training, 1);
    let mut snapshots = crate::learn::Snapshots::new(1 << 20);
    snapshots.keep(&trainer, None, None);
    run.keep_snapshots(&snapshots).unwrap();
    while trainer.state.history.is_empty() {
        trainer.update().unwrap();
    }
    run.checkpoint(&trainer.state).unwrap();
    run.validated(&trainer.state).unwrap();
}

#[test]
fn every_command_reads_each_file_once() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (preset, run, again) = (at("tiny.json"), at("run"), at("again"));
    let (sweep, resumable) = (at("sweep"), at("sweep/seed=1"));
    std::fs::write(&preset, TINY).unwrap();
    for folder in [&run, &resumable] {
        stopped(Path::new(folder));
    }
    let commands: [(&[&str], &[&str]); 9] = [
        (
            &[
                "sweep",
                &preset,
                "--seeds",
                "1",
                "--out",
                &sweep,
                "--dry-run",
            ],
            &[
                "preset.json",
                "history.ntmlog.jsonl",
                "weights.safetensors",
                "checkpoint.safetensors",
            ],
        ),
        (
            &["train", "--resume", &run],
            &[
                "preset.json",
                "history.ntmlog.jsonl",
                "weights.safetensors",
                "checkpoint.safetensors",
                "snapshots.safetensors",
            ],
        ),
        // Finished now.
        (
            &["train", "--resume", &run],
            &["history.ntmlog.jsonl", "weights.safetensors"],
        ),
        (
            &["train", "--repeat", &run, "--out", &again],
            &["history.ntmlog.jsonl"],
        ),
        (
            &["train", "--repeat", &run, "--out", &again, "--force"],
            &["history.ntmlog.jsonl"],
        ),
        (
            &["train", &preset, "--from", &run, "--out", &run, "--force"],
            &["weights.safetensors"],
        ),
        (
            &["train", "--repeat", &run, "--out", &again, "--force"],
            &["start.safetensors"],
        ),
        (&["eval", &run, "--episodes", "2"], &["weights.safetensors"]),
        (
            &["sweep", "--collect", &run, &again, "--fresh", "2"],
            &["weights.safetensors"],
        ),
    ];
    for (words, some) in commands {
        let counts = reads(words);
        for name in some {
            assert!(
                counts.keys().any(|path| path.ends_with(name)),
                "{words:?}: {name} in {counts:?}"
            );
        }
        // The weights of `--from` are read before the lock of the folder that they are in, and a repeated run compares
        // the weights that it has written in the place of others.
        let changes = ["--from", "--repeat"]
            .iter()
            .any(|option| words.contains(option));
        let may_be_twice = |path: &Path| changes && path.ends_with("weights.safetensors");
        let twice = counts.iter().filter(|(_, count)| **count > 1);
        let twice: Vec<_> = twice.filter(|(path, _)| !may_be_twice(path)).collect();
        assert!(
            twice.is_empty(),
            "{words:?} reads these files more than once: {twice:?}"
        );
    }
}
