//! The invariants of the design, held against the source: who may import whom, and what must not occur.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file under `folder`, with its text without comments and tests.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut pending = vec![root];
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text
                .split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap_or_default();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            found.push((path, lines.collect::<Vec<_>>().join("\n")));
        }
    }
    found
}

/// Fails when any file under `folder` contains one of `words`.
#[track_caller]
fn absent(folder: &str, words: &[&str]) {
    let files = sources(folder);
    assert!(!files.is_empty(), "{folder} holds no source");
    for (path, code) in files {
        for word in words {
            if let Some(line) = code.lines().find(|line| line.contains(word)) {
                panic!("{} must not name `{word}`: {}", path.display(), line.trim());
            }
        }
    }
}

#[test]
fn modules_import_only_what_lies_below_them() {
    absent(
        "src/math",
        &[
            "crate::model",
            "crate::task",
            "crate::train",
            "crate::io",
            "crate::cli",
            "crate::viewer",
        ],
    );
    absent(
        "src/model",
        &[
            "crate::task",
            "crate::train",
            "crate::io",
            "crate::cli",
            "crate::viewer",
        ],
    );
    absent(
        "src/task",
        &[
            "crate::model",
            "crate::train",
            "crate::io",
            "crate::cli",
            "crate::viewer",
        ],
    );
    absent("src/train", &["crate::io", "crate::cli", "crate::viewer"]);
    absent("src/io", &["crate::cli", "crate::viewer"]);
    absent("src/viewer", &["crate::cli"]);
    absent("src/player.rs", &["crate::"]);
}

#[test]
fn the_core_touches_no_files_and_prints_nothing() {
    for folder in ["src/math", "src/model", "src/task", "src/train"] {
        absent(
            folder,
            &[
                "std::fs",
                "std::io",
                "serde",
                "println!",
                "print!",
                "todo!",
                "unimplemented!",
            ],
        );
    }
}

#[test]
fn only_io_names_serde_and_only_the_viewer_names_egui() {
    for folder in ["src/cli", "src/viewer", "src/player.rs", "src/main.rs"] {
        absent(folder, &["serde::", "serde_json::", "safetensors::"]);
    }
    for folder in [
        "src/math",
        "src/model",
        "src/task",
        "src/train",
        "src/io",
        "src/cli",
        "src/player.rs",
    ] {
        absent(folder, &["egui", "eframe"]);
    }
}

#[test]
fn no_unsafe_no_unseeded_randomness_no_unwrap() {
    absent(
        "src",
        &[
            "unsafe ",
            "rand::rng()",
            "thread_rng",
            "from_os_rng",
            ".unwrap()",
            "dbg!",
            "todo!",
        ],
    );
    for folder in ["src/io", "src/viewer"] {
        absent(folder, &["println!", "eprintln!"]);
    }
}

#[test]
fn the_list_of_offences_is_not_empty_by_mistake() {
    let caught = std::panic::catch_unwind(|| absent("src/math", &["trait Real"]));
    assert!(caught.is_err(), "a word that is there must be found");
}
