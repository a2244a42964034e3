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

/// The first names behind every `prefix` in some code: of `crate::io::Error` `io`, of `crate::{io::Error,
/// model}` both.
fn first_names<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let behind = code.match_indices(prefix).filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    });
    let names = behind.flat_map(|(at, _)| names_of(&code[at + prefix.len()..]));
    names.collect()
}

/// The first name of a path, or those of all paths in a group.
fn names_of(path: &str) -> Vec<&str> {
    let Some(group) = path.trim_start().strip_prefix('{') else {
        let path = path.trim_start();
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
        return vec![&path[..end.unwrap_or(path.len())]];
    };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.extend(names_of(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
        if c == '}' && depth == 0 && start == at + 1 {
            break;
        }
    }
    names
}

/// The modules of the crate that a file names, by `crate::` or by as many `super::` as lead there.
fn modules_named<'a>(path: &Path, code: &'a str) -> Vec<&'a str> {
    let path = path.with_extension("");
    let parts = path.iter().rev().take_while(|part| *part != "src");
    // The core is a crate of its own: its modules begin below its folder.
    let inside = parts.filter(|part| *part != "mod" && *part != "core");
    let depth = inside.count();
    let mut names = first_names(code, "crate::");
    names.extend(first_names(code, "$crate::"));
    names.extend(first_names(code, &"super::".repeat(depth)));
    names
}

/// Fails when a file under `folder` names a module of the crate that is not one of `allowed`.
#[track_caller]
fn imports_only(folder: &str, allowed: &[&str]) {
    let modules = [
        "keys", "math", "model", "task", "train", "figure", "io", "player", "cli", "viewer",
    ];
    for (path, code) in sources(folder) {
        for name in modules_named(&path, &code) {
            let is_right = allowed.contains(&name) || !modules.contains(&name);
            assert!(is_right, "{} must not name {name}", path.display());
        }
    }
}

#[test]
fn modules_import_only_what_lies_below_them() {
    imports_only("src/core/keys.rs", &["keys"]);
    imports_only("src/core/math", &["math"]);
    imports_only("src/core/model", &["keys", "math", "model"]);
    imports_only("src/core/task", &["keys", "math", "task"]);
    imports_only(
        "src/core/train",
        &["keys", "math", "model", "task", "train"],
    );
    imports_only("src/figure", &["math", "model", "task", "train", "figure"]);
    imports_only("src/io", &["keys", "math", "model", "task", "train", "io"]);
    imports_only("src/player.rs", &[]);
    let all_but_cli = [
        "math", "model", "task", "train", "figure", "io", "player", "viewer",
    ];
    imports_only("src/viewer", &all_but_cli);
    for folder in ["src/figure", "src/io", "src/cli", "src/viewer"] {
        absent(folder, &["tapescope_core"]);
    }
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    let named = |path: &str, code| modules_named(Path::new(path), code);
    for code in [
        "use crate::io::Error;",
        "use crate::{io::{Error, file}, model};",
        "use crate::{\n    model::{Model, Params},\n    io,\n};",
        "use super::super::io::Error;",
        "use super::super::{model, io};",
        "fn f() { crate::io::f(); }",
        "fn f() -> super::super::io::Error {}",
        "$crate::io::f()",
    ] {
        assert!(
            named("/x/src/core/model/ntm.rs", code).contains(&"io"),
            "{code}"
        );
    }
    for code in [
        "use super::io::Error;",
        "use crate::model::io;",
        "use mycrate::io;",
    ] {
        assert!(
            !named("/x/src/core/model/ntm.rs", code).contains(&"io"),
            "{code}"
        );
    }
    assert_eq!(named("/x/src/core/model/mod.rs", "use super::io;"), ["io"]);
    assert_eq!(named("/x/src/player.rs", "use super::io;"), ["io"]);
    let deep = "use super::super::super::io;";
    assert_eq!(named("/x/src/io/trace/read.rs", deep), ["io"]);
    assert_eq!(
        first_names("use std::{fmt, fs::File};", "std::"),
        ["fmt", "fs"]
    );
}

/// Fails when a file under `folder` names one of these modules of the standard library.
#[track_caller]
fn standard_library_without(folder: &str, modules: &[&str]) {
    for (path, code) in sources(folder) {
        for name in first_names(&code, "std::") {
            let path = path.display();
            assert!(!modules.contains(&name), "{path} must not name std::{name}");
        }
    }
}

#[test]
fn the_core_touches_no_files_and_prints_nothing() {
    for folder in [
        "src/core/keys.rs",
        "src/core/math",
        "src/core/model",
        "src/core/task",
        "src/core/train",
        "src/figure",
        "src/player.rs",
    ] {
        standard_library_without(folder, &["fs", "io", "net", "process"]);
        absent(
            folder,
            &["serde", "println!", "print!", "todo!", "unimplemented!"],
        );
    }
    for folder in ["src/viewer", "src/cli", "src/main.rs"] {
        standard_library_without(folder, &["fs", "net"]);
    }
}

#[test]
fn only_io_names_serde_and_only_the_viewer_names_egui() {
    for folder in ["src/cli", "src/viewer", "src/player.rs", "src/main.rs"] {
        absent(folder, &["serde::", "serde_json::", "safetensors::"]);
    }
    for folder in [
        "src/core/keys.rs",
        "src/core/math",
        "src/core/model",
        "src/core/task",
        "src/core/train",
        "src/figure",
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
    let caught = std::panic::catch_unwind(|| absent("src/core/math", &["trait Real"]));
    assert!(caught.is_err(), "a word that is there must be found");
}
