//! Every command of the pages and of `--help` runs when it is copied, or a reason says why not.
//!
//! The commands of a page run one after another in a folder of their own, as a reader would type them, with less to train
//! and to measure.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that a reader writes, or that a script of the pages makes: a command with such a word is not run.
const OWN: &[&str] = &[
    "mine.json",
    "cross.npy",
    "reversal.json",
    "automaton.json",
    "load.json",
    "dates.json",
    "path.json",
    "a.json",
    "b.json",
    "bits.json",
    "ours.ntmtrace.json",
    "theirs.npz",
    "other.ntmtrace.json",
    "copy.safetensors",
    "weights.safetensors",
    "tape.json",
    "tape.npz",
    "runs/tape-1",
    "runs/mine",
    "runs/mine-1",
    "copy-rates",
    "runs/associative_recall-1",
    "runs/transduce-1",
    "runs/reversal-7",
    "runs/automaton-7",
    "runs/load-7",
    "runs/dates-1",
    "runs/sentences-1",
    "runs/frames_local_predictive-1",
    "runs/copy-1/weights.safetensors",
];
/// Commands that the pages show for their error.
const FAIL: &[&str] = &[
    "find copy 'read0.gate > and wrong'",
    "find copy 'entropy(read0.gate) > 1'",
    "find copy 'max(read0.weigting) < 0.5'",
];

/// Returns the reason why a command is not run.
fn why_not(text: &str, words: &[String]) -> Option<&'static str> {
    let is_placeholder = |word: &String| {
        let name = word.trim_end_matches("...");
        name.len() > 1
            && name.chars().all(|c| c.is_ascii_uppercase())
            && !["W0", "R0"].contains(&name)
    };
    let has = |word: &str| words.iter().any(|own| own == word);
    match words.first().map(String::as_str) {
        None | Some("view" | "learn") => Some("opens the window"),
        Some("train") if has("--resume") => Some("resumes a stopped run"),
        Some("train") if has("--repeat") => Some("trains a machine again in full"),
        Some("eval") if has("--suite") => Some("measures every machine"),
        Some("render") if has("--live") => Some("needs a built page"),
        Some(word) if word.contains('.') => Some("opens the window"),
        _ if text.contains(['|', '…', '$', '{']) || has("&&") || has(">") || has(":::") => {
            Some("needs a shell")
        }
        _ if words.iter().any(is_placeholder) => Some("has a placeholder"),
        _ if words.iter().any(|word| OWN.contains(&&**word)) => Some("names a file of the reader"),
        _ => None,
    }
}

/// The words of a command, without quotation marks.
fn words(text: &str) -> Vec<String> {
    let (mut all, mut word, mut quote, mut is_open) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '\'' || c == '"' => (quote, is_open) = (Some(c), true),
            None if c == ' ' => {
                if is_open || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            _ => word.push(c),
        }
    }
    if is_open || !word.is_empty() {
        all.push(word);
    }
    all
}

/// The same command with less to do.
fn shorter(mut words: Vec<String>) -> Vec<String> {
    let command = words[0].clone();
    let has = |words: &[String], option: &str| words.iter().any(|word| word == option);
    let trains = ["train", "sweep", "ablate"].contains(&&*command) && !has(&words, "--collect");
    let replaces = command == "train" && !has(&words, "--out");
    let has_items = has(&words, "--items");
    let is_of_one = has(&words, "--repairs");
    let mut set = |option: &str, value: &str, is_added: bool| match words
        .iter()
        .position(|word| word == option)
    {
        Some(at) => value.clone_into(&mut words[at + 1]),
        None if is_added => words.extend([option.to_owned(), value.to_owned()]),
        None => {}
    };
    set("--sequences", "20", trains);
    set("--seeds", "1..2", trains && command != "train");
    set(
        "--episodes",
        "2",
        ["eval", "lesion", "disassemble"].contains(&&*command) && !is_of_one,
    );
    set("--lengths", "5,10", false);
    if command == "eval" && has_items {
        set("--items", "3,4", false);
    }
    // Several commands train the same preset.
    words.extend(replaces.then(|| "--force".to_owned()));
    words
}

/// The commands in the blocks of a page, each once.
fn of_page(text: &str) -> Vec<String> {
    let (mut all, mut is_block, mut open) = (Vec::new(), false, String::new());
    for line in text.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        }
        let line = line.trim().trim_start_matches("$ ");
        let line = format!("{open}{line}");
        open.clear();
        if let Some(start) = line.strip_suffix('\\') {
            start.clone_into(&mut open);
        } else if let Some(command) = line.strip_prefix("tapescope ").filter(|_| is_block) {
            all.push(
                command
                    .split(" #")
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
            );
        }
    }
    all
}

/// The examples of a help text: a command ends before two spaces, or goes on in the next line.
fn of_help(text: &str) -> Vec<String> {
    let (mut all, mut is_open) = (Vec::<String>::new(), false);
    let examples = text.split("Examples:").nth(1).unwrap_or_default();
    for line in examples
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
    {
        let (command, about) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        if let Some(command) = command.strip_prefix("tapescope ") {
            all.push(command.to_owned());
        } else if is_open && !line.starts_with("     ") {
            let before = all.pop().unwrap();
            all.push(format!("{before} {command}"));
        }
        is_open = about.is_empty() && !line.starts_with("     ");
    }
    all
}

/// Runs commands one after another; returns those that fail, and the number of those that ran and of each reason.
fn run(commands: &[String], folder: &Path) -> (Vec<String>, BTreeMap<&'static str, usize>) {
    let (mut failed, mut counts) = (Vec::new(), BTreeMap::new());
    for text in commands {
        let words = words(text);
        let reason = why_not(text, &words);
        *counts.entry(reason.unwrap_or("ran")).or_default() += 1;
        if reason.is_some() {
            continue;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
        let done = command
            .args(shorter(words))
            .current_dir(folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        let is_as_shown = if FAIL.contains(&&**text) {
            done.status.code() == Some(2) && said.starts_with("error: ")
        } else {
            done.status.success()
        };
        if !is_as_shown {
            failed.push(format!("tapescope {text}\n  {}", said.trim()));
        }
    }
    (failed, counts)
}

#[test]
fn every_command_of_the_pages_and_of_help_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<_> = ["README.md", "CONTRIBUTING.md", "python/README.md"]
        .map(|page| root.join(page))
        .into();
    let folders = ["docs", "docs/formats"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let docs = folders.into_iter().flatten();
    let docs = docs.map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    pages.sort();
    let mut sources: Vec<Vec<String>> = pages
        .iter()
        .map(|page| of_page(&fs::read_to_string(page).unwrap()))
        .collect();
    let help = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_tapescope"))
            .args(words)
            .arg("--help")
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let all = help(&[]);
    let list = all
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let named = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let subcommands = named
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    sources.push(of_help(&all));
    sources.extend(subcommands.map(|name| of_help(&help(&[name]))));
    // What the examples of help suppose to be there.
    let before = [
        "train copy --snapshots",
        "train copy --seed 7",
        "train copy_hard",
        "trace copy --length 20 --out copy.ntmtrace.json",
        "trace copy --length 20 --out again.ntmtrace.json",
    ];
    let before = before.map(str::to_owned);
    for of_help in &mut sources[pages.len()..] {
        of_help.splice(0..0, before.clone());
    }
    let (mut failed, mut counts) = (Vec::new(), BTreeMap::<_, usize>::new());
    for commands in &sources {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("docs/attention")).unwrap();
        let (own, counted) = run(commands, folder.path());
        failed.extend(own);
        counted
            .into_iter()
            .for_each(|(reason, count)| *counts.entry(reason).or_default() += count);
    }
    println!("{counts:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let all = sources.concat();
    let words: Vec<String> = all.iter().flat_map(|text| words(text)).collect();
    let is_unnamed = |own: &&&str| !words.iter().any(|word| word == **own);
    let is_unshown = |shown: &&&str| !all.iter().any(|text| text == **shown);
    let stale = OWN.iter().filter(is_unnamed);
    let stale: Vec<_> = stale.chain(FAIL.iter().filter(is_unshown)).collect();
    assert!(stale.is_empty(), "on no page: {stale:?}");
    // So many are found that a change of the pages' form does not go unnoticed.
    assert!(counts["ran"] > 80, "{counts:?}");
}
