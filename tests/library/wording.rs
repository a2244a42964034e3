//! The wording rules that a program can check: phrases that readers of the field stumble over do not occur in
//! documentation, doc comments and texts on screen.

use std::fs;
use std::path::{Path, PathBuf};

/// A banned phrase, and what to write.
#[rustfmt::skip]
const BANNED: [(&str, &str); 25] = [
    ("so many", "say the number"),
    ("counts for nothing", "is ignored"),
    ("is said of", "describes, reports"),
    ("nobody", "no one, or name the user"),
    ("gradient by", "gradient with respect to"),
    ("derivative by", "derivative with respect to"),
    ("derivatives by", "derivatives with respect to"),
    ("let go of", "unpin, clear"),
    ("wished for", "requested"),
    ("kept in view", "pinned"),
    ("what mattered", "gradients"),
    ("all it can", "full speed"),
    ("moment of its life", "training snapshot"),
    ("moments of its life", "training snapshots"),
    ("moment of training", "training snapshot"),
    ("from nothing", "from scratch"),
    ("of one's own", "your own"),
    ("stands still", "is on a plateau, does not move"),
    ("says what it is", "describes itself"),
    ("wipes", "erases"),
    ("shipped machine", "included machine"),
    ("next to nothing", "almost nothing, negligible"),
    ("what is on screen", "the episode on screen"),
    ("comes to know", "learns"),
    ("go on with", "continue, resume"),
];

/// Places where a phrase is right: a path, and a part of the line.
const ALLOWED: [(&str, &str); 1] = [("tests/library/wording.rs", "")];

/// Every file below a folder with one of these extensions.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path
            .extension()
            .is_some_and(|found| extensions.iter().any(|known| found == *known))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the parts of a line of Rust that people read: a comment, or the contents of its string literals.
fn prose(line: &str) -> String {
    let line = line.trim_start();
    if line.starts_with("//") {
        return line.to_owned();
    }
    let parts = line.split('"').skip(1).step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

/// Returns every banned phrase in a text, with the number of its line.
fn banned(text: &str, is_rust: bool) -> Vec<(usize, String, &'static str, &'static str)> {
    let lines = text.lines().enumerate();
    let found = lines.flat_map(|(number, line)| {
        let read = if is_rust {
            prose(line)
        } else {
            line.to_owned()
        };
        let lower = read.to_lowercase();
        let phrases = BANNED
            .iter()
            .filter(move |(phrase, _)| lower.contains(phrase));
        phrases
            .map(move |(phrase, instead)| (number + 1, line.trim().to_owned(), *phrase, *instead))
    });
    found.collect()
}

#[test]
fn banned_phrases_do_not_occur() {
    let mut all = Vec::new();
    for folder in ["src", "python/native/src"] {
        all.extend(files(folder, &["rs"]));
    }
    for folder in ["docs", "python/tapescope", "tasks", "web"] {
        all.extend(files(folder, &["md", "py", "json", "html"]));
    }
    for page in [
        "README.md",
        "RESULTS.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "benches/README.md",
        "python/README.md",
        "assets/README.md",
    ] {
        all.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    }
    assert!(all.len() > 300);
    let mut found = Vec::new();
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
        for (number, line, phrase, instead) in banned(&text, is_rust) {
            let allowed = ALLOWED
                .iter()
                .any(|(file, part)| path == Path::new(file) && line.contains(part));
            if !allowed {
                let place = format!("{}:{number}", path.display());
                found.push(format!(
                    "{place}: \"{phrase}\"; write: {instead}\n    {line}"
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_banned_phrase_is_found_in_comments_and_texts_only() {
    let text = "/// The gradient by the key.\nlet nobody = 1;\nlabel(\"Let go of R0\");";
    let found: Vec<_> = banned(text, true)
        .into_iter()
        .map(|(number, _, phrase, _)| (number, phrase))
        .collect();
    assert_eq!(found, [(1, "gradient by"), (3, "let go of")]);
    assert_eq!(banned("Nobody knows.", false).len(), 1);
}
