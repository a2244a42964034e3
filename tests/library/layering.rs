//! The invariants of the design, held against the source: who may import whom, and what must not occur.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file under `folder` that is not for tests, with its text without comments and tests.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut pending = vec![root];
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if path.ends_with("src/core/tests") {
            // Held to the rules of tests.
        } else if path.is_dir() {
            pending.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            if text.lines().any(|line| line == "#![cfg(test)]") {
                continue;
            }
            let code = text
                .split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap_or_default();
            // A line behind `#[cfg(test)]` is for tests.
            let mut is_tested = false;
            let lines = code.lines().filter(|line| {
                let before = std::mem::replace(&mut is_tested, line.trim() == "#[cfg(test)]");
                !before && !line.trim_start().starts_with("//")
            });
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
        "keys",
        "math",
        "equations",
        "model",
        "task",
        "train",
        "analysis",
        "platform",
        "learn",
        "figure",
        "io",
        "player",
        "pytorch",
        "cli",
        "viewer",
    ];
    for (path, code) in sources(folder) {
        for name in modules_named(&path, &code) {
            let is_right = allowed.contains(&name) || !modules.contains(&name);
            assert!(is_right, "{} must not name {name}", path.display());
        }
    }
}

/// Every whole path that begins with one of these words: of `super::{a::B, c}` `super::a::B` and `super::c`.
fn whole_paths(code: &str, first: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for first in first {
        for (at, _) in code.match_indices(first) {
            let before = code[..at].chars().next_back();
            let inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            // A visibility is no import.
            let inside = inside || code[..at].ends_with("pub(in ");
            if !inside && code[at + first.len()..].starts_with("::") {
                path(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads one path, or a group of them, behind what leads there; returns what is left.
fn path<'a>(code: &'a str, lead: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
            rest = path(rest, lead, found).trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        return rest.trim_start().strip_prefix('}').unwrap_or_default();
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    let (name, mut rest) = code.split_at(end.unwrap_or(code.len()));
    lead.push(name.to_owned());
    match rest.strip_prefix("::") {
        Some(behind) if !name.is_empty() => rest = path(behind, lead, found),
        _ => {
            let other_name = rest.strip_prefix(" as ");
            rest = other_name.map_or(rest, |rest| {
                rest.trim_start_matches(|c: char| c != ',' && c != '}')
            });
            found.push(lead.clone());
            // A name without an end would be read for ever.
            if name.is_empty() {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    lead.pop();
    rest
}

/// Which files of a folder of `src` name which others, by their paths without `mod` and `.rs`.
fn imports(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let module = |path: &Path| {
        let path = path.strip_prefix(&root).unwrap().with_extension("");
        let parts = path.iter().map(|part| part.to_str().unwrap().to_owned());
        parts.filter(|part| part != "mod").collect::<Vec<_>>()
    };
    let files: Vec<_> = sources(folder)
        .into_iter()
        .map(|(path, code)| (module(&path), code))
        .collect();
    let known: BTreeSet<_> = files.iter().map(|(module, _)| module.join("/")).collect();
    let handed_on: BTreeMap<_, _> = files
        .iter()
        .flat_map(|(module, code)| {
            let module = module.join("/");
            let uses = code.split("pub use ").skip(1);
            let mut paths = Vec::new();
            for one in uses {
                path(one, &mut Vec::new(), &mut paths);
            }
            let pairs = paths.into_iter().filter_map(move |path| {
                let (name, file) = path.split_last()?;
                let file = format!("{module}/{}", file.join("/"));
                Some(((module.clone(), name.clone()), file))
            });
            pairs.collect::<Vec<((String, String), String)>>()
        })
        .collect();
    let named = |module: &[String], code: &str| {
        let children: Vec<_> = known
            .iter()
            .filter_map(|file| file.strip_prefix(&format!("{}/", module.join("/"))))
            .filter(|rest| !rest.contains('/'))
            .collect();
        let first = [&["crate", "super", "self"], &children[..]].concat();
        let paths = whole_paths(code, &first).into_iter().filter_map(|path| {
            let up = path.iter().take_while(|part| *part == "super").count();
            let (lead, rest) = match path[0].as_str() {
                // The core is a crate of its own.
                "crate" => (&module[..usize::from(module[0] == "core")], &path[1..]),
                "self" => (module, &path[1..]),
                _ => (&module[..module.len().checked_sub(up)?], &path[up..]),
            };
            let whole = [lead, rest].concat();
            let ends = (1..=whole.len()).rev();
            let mut files = ends.map(|end| (whole[..end].join("/"), whole.get(end)));
            let (file, name) = files.find(|(file, _)| known.contains(file))?;
            // What a folder hands on is from the file that has it.
            let from = name.and_then(|name| handed_on.get(&(file.clone(), name.clone())));
            let from = from.filter(|from| known.contains(*from));
            Some(from.unwrap_or(&file).clone()).filter(|file| *file != module.join("/"))
        });
        paths.collect()
    };
    let files = files.iter();
    files
        .map(|(module, code)| (module.join("/"), named(module, code)))
        .collect()
}

/// The files that lead back to themselves.
fn in_circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<&str> {
    let reached = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut pending: Vec<_> = imports[start].iter().collect();
        while let Some(file) = pending.pop() {
            if reached.insert(file) {
                pending.extend(&imports[file]);
            }
        }
        reached
    };
    let files = imports.keys();
    let files = files.filter(|file| reached(file).contains(file));
    files.map(String::as_str).collect()
}

/// The floors of the window, from the ground up: what stands on one names what stands on it or below.
const FLOORS: [&[&str]; 11] = [
    &["glossary", "memo"],
    &["state", "fixture"],
    &["branch", "narration", "inspect", "precondition"],
    &["command"],
    &["link"],
    &[
        "apply", "worker", "disk", "embed", "options", "keys", "theme",
    ],
    &["choices"],
    &["widget"],
    &["panel"],
    &["app"],
    &["window", "page", ""],
];

#[test]
fn window_modules_have_no_cycles_and_no_upward_imports() {
    let imports = imports("src/viewer");
    assert_eq!(in_circles(&imports), [""; 0], "lead back to themselves");
    let floor = |file: &str| {
        let first = file.split('/').nth(1).unwrap_or_default();
        let floor = FLOORS.iter().position(|floor| floor.contains(&first));
        floor.unwrap_or_else(|| panic!("{file} stands on no floor"))
    };
    let arrows = imports
        .iter()
        .flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let up: Vec<_> = arrows
        .filter(|(from, to)| floor(from) < floor(to))
        .collect();
    assert!(up.is_empty(), "name what stands above them: {up:?}");
    assert!(
        imports.len() > 30 && imports["viewer/app"].len() > 10,
        "{imports:?}"
    );
}

#[test]
fn core_modules_have_no_cycles() {
    for folder in ["src/core", "src/io", "src/cli", "src/learn"] {
        let imports = imports(folder);
        assert_eq!(in_circles(&imports), [""; 0], "{folder}: {imports:#?}");
    }
}

/// The levels of the figures, from the lowest: each imports only itself and those before it.
const FIGURE_LEVELS: [&str; 6] = ["facts", "narrate", "scene", "chart", "page", "out"];

#[test]
fn figure_modules_have_no_cycles_and_no_upward_imports() {
    let imports = imports("src/figure");
    assert_eq!(
        in_circles(&imports),
        [""; 0],
        "lead back to themselves: {imports:#?}"
    );
    let level = |file: &str| {
        let folder = file.split('/').nth(1).unwrap_or_default();
        let level = FIGURE_LEVELS.iter().position(|level| *level == folder);
        level.unwrap_or_else(|| {
            let is_root = ["figure", "figure/fixture"].contains(&file);
            assert!(is_root, "{file} is in no level");
            FIGURE_LEVELS.len()
        })
    };
    for (from, to) in &imports {
        let mut above = to.iter().filter(|to| level(to) > level(from));
        assert_eq!(above.next(), None, "{from} imports from a higher level");
    }
    assert!(
        imports.len() > 40 && imports["figure/scene/panel"].len() > 5,
        "{imports:?}"
    );
}

/// The calls by which a panel of the window draws by itself: `painter` or `painter()`, then one of these methods.
const DRAWN: [&str; 10] = [
    "rect_filled",
    "rect_stroke",
    "line",
    "vline",
    "hline",
    "text",
    "add",
    "galley",
    "image",
    "circle_filled",
];

/// The calls of [`DRAWN`] in some code, on one line or on two.
fn painter_calls(code: &str) -> usize {
    let behind = code.match_indices("painter").map(|(at, name)| {
        let rest = &code[at + name.len()..];
        rest.strip_prefix("()").unwrap_or(rest).trim_start()
    });
    let calls = behind
        .filter_map(|rest| rest.strip_prefix('.')?.split_once('('))
        .filter(|(name, _)| DRAWN.contains(name));
    calls.count()
}

#[test]
fn panels_leave_drawing_to_the_figures() {
    let counts = sources("src/viewer/panel").into_iter();
    let counts = counts.map(|(path, code)| (path, painter_calls(&code)));
    let counts: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    // A third of those before the main layout was a page.
    assert!(all <= 40, "{all} calls: {counts:#?}");
    let code = "ui.painter().rect_filled(a);\nui.painter()\n    .text(b);\npainter.add(c); painter.layout(d)";
    assert_eq!(painter_calls(code), 3);
}

#[test]
fn cycles_are_detected() {
    let imports = |pairs: &[(&str, &[&str])]| {
        let file = |(from, to): &(&str, &[&str])| {
            (
                (*from).to_owned(),
                to.iter().map(|to| (*to).to_owned()).collect(),
            )
        };
        pairs.iter().map(file).collect::<BTreeMap<_, BTreeSet<_>>>()
    };
    let tree = imports(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert_eq!(in_circles(&tree), [""; 0]);
    let circle = imports(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]);
    assert_eq!(in_circles(&circle), ["b", "c"]);
    let code = "use super::{a::{B, c as d}, e};\nfn f() -> self::g::H { crate::i::j() }";
    let paths = whole_paths(code, &["crate", "super", "self"]);
    let paths: Vec<_> = paths.iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::i::j",
        "super::a::B",
        "super::a::c",
        "super::e",
        "self::g::H",
    ];
    assert_eq!(paths, expected);
}

/// What is shown and what is asked for are data: they can be had without a window.
#[test]
fn state_descriptions_and_commands_know_no_window() {
    for part in [
        "apply",
        "apply.rs",
        "worker.rs",
        "state",
        "narration",
        "narration.rs",
        "inspect",
        "inspect.rs",
        "command.rs",
        "branch.rs",
        "precondition.rs",
        "link.rs",
    ] {
        absent(&format!("src/viewer/{part}"), &["egui", "eframe"]);
    }
    // A command that nobody handles does not compile.
    for part in ["apply.rs", "apply"] {
        let path = format!("src/viewer/{part}");
        absent(&path, &["_ =>"]);
        for (file, code) in sources(&path) {
            let found: Vec<_> = code.lines().filter(|line| is_catch_all(line)).collect();
            assert!(found.is_empty(), "{}: {found:?}", file.display());
        }
    }
    assert!(is_catch_all("    other => {") && is_catch_all("other if ok => x,"));
    assert!(
        !is_catch_all("Move::Leave => {")
            && !is_catch_all("(a, b) => x,")
            && !is_catch_all("true => x,")
    );
}

/// True of an arm of a match that takes whatever is left, by a name.
fn is_catch_all(line: &str) -> bool {
    let Some((pattern, _)) = line.split_once("=>") else {
        return false;
    };
    let name = pattern.split(" if ").next().unwrap_or_default().trim();
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_bool = name == "true" || name == "false";
    is_name && !is_bool && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[test]
fn modules_import_only_what_lies_below_them() {
    imports_only("src/core/keys.rs", &["keys"]);
    imports_only("src/core/math", &["math"]);
    imports_only("src/core/equations", &["math", "equations"]);
    imports_only("src/core/model", &["keys", "math", "equations", "model"]);
    imports_only("src/core/task", &["keys", "math", "task"]);
    imports_only(
        "src/core/train",
        &["keys", "math", "model", "task", "train"],
    );
    imports_only(
        "src/core/analysis",
        &["keys", "math", "model", "task", "train", "analysis"],
    );
    imports_only(
        "src/figure",
        &["math", "model", "task", "train", "analysis", "figure"],
    );
    imports_only("src/platform", &["platform"]);
    imports_only(
        "src/learn",
        &["math", "model", "task", "train", "platform", "learn"],
    );
    imports_only(
        "src/io",
        &[
            "keys", "math", "model", "task", "train", "analysis", "platform", "learn", "io",
        ],
    );
    imports_only("src/pytorch", &["equations", "math", "model", "pytorch"]);
    imports_only("src/player.rs", &[]);
    let all_but_cli = [
        "math", "model", "task", "train", "analysis", "platform", "learn", "figure", "io",
        "player", "viewer",
    ];
    imports_only("src/viewer", &all_but_cli);
    for folder in ["src/figure", "src/io", "src/cli", "src/viewer"] {
        absent(folder, &["tapescope_core"]);
    }
}

/// What a browser has otherwise than a desktop stands in few places, each a function or a file of its own.
#[test]
fn only_listed_files_mention_browsers() {
    let files = sources("src").into_iter();
    let knowing = files.filter(|(_, code)| code.contains("wasm32"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut knowing: Vec<_> = knowing
        .map(|(path, _)| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    knowing.sort();
    assert_eq!(
        knowing,
        [
            "core/math/simd.rs",
            "core/pool.rs",
            "io/weights.rs",
            "lib.rs",
            "platform/mod.rs",
            "viewer/app.rs",
            "viewer/keys.rs",
            "viewer/mod.rs",
        ]
    );
}

#[test]
fn every_import_form_is_recognised() {
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
        "src/core/analysis",
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
        "src/core/analysis",
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
fn the_python_extension_is_unsafe_in_one_place() {
    let count = |(path, code): &(PathBuf, String)| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        (file, code.matches("unsafe ").count())
    };
    let all = sources("python/native/src");
    let mut unsafe_places: Vec<_> = all.iter().map(count).collect();
    unsafe_places.retain(|(_, places)| *places > 0);
    assert_eq!(unsafe_places, [("arrays.rs".to_owned(), 1)]);
    for word in [".unwrap()", "println!", "eprintln!", "dbg!", "todo!"] {
        absent("python/native/src", &[word]);
    }
}

#[test]
fn violations_are_detected() {
    let caught = std::panic::catch_unwind(|| absent("src/core/math", &["trait Real"]));
    assert!(caught.is_err(), "a word that is there must be found");
}
