//! One source for each number: a measured number stands on one page. Another page that states it has a link to that
//! page beside it.
//!
//! A number counts as measured if it has a unit of time, size, share or loss, or counts words, files, lines or tests,
//! and if it has three significant digits (two for sizes in sentences). Shorter numbers agree by chance: of seconds and
//! shares on these pages, most do. Rows, lengths, repeats and numbers of sequences are settings, which any page may
//! choose. Code blocks are commands and their output, which other tests run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A unit: its name, the words that stand for it, and the least number of significant digits of a measurement.
const UNITS: [(&str, &[&str], usize); 18] = [
    ("µs", &["µs", "microseconds"], 3),
    ("ms", &["ms", "milliseconds"], 3),
    ("s", &["s", "second", "seconds"], 3),
    ("minutes", &["minute", "minutes"], 3),
    ("hours", &["hour", "hours"], 3),
    ("kB", &["kB", "KB"], 2),
    ("KiB", &["KiB"], 2),
    ("MB", &["MB"], 2),
    ("MiB", &["MiB"], 2),
    ("GB", &["GB", "GiB"], 2),
    ("bytes", &["byte", "bytes"], 3),
    ("%", &["%"], 3),
    ("bits", &["bit", "bits"], 3),
    ("nats", &["nat", "nats"], 3),
    ("words", &["word", "words"], 3),
    ("lines", &["line", "lines"], 3),
    ("files", &["file", "files"], 3),
    ("tests", &["test", "tests"], 3),
];

/// Digits that a number of a table needs whose unit stands in the heading of its column.
const DIGITS_IN_COLUMNS: usize = 3;

/// Numbers that may stand on several pages without a link, each with the reason.
const ALLOWED: [(&str, &str); 0] = [];

/// A measured number on a page.
struct Statement {
    page: String,
    line: usize,
    /// Pages linked in this paragraph or table, or in the one before or after it.
    links: BTreeSet<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the pages of the documentation, with `/` in every path.
fn pages() -> Vec<String> {
    let mut pending = vec![root().join("docs")];
    let single = ["README.md", "RESULTS.md", "CONTRIBUTING.md"].map(|page| root().join(page));
    let folders = ["assets", "benches", "examples", "python"];
    let folders = folders.map(|folder| root().join(folder).join("README.md"));
    pending.extend(single.into_iter().chain(folders));
    let mut found = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") && path.exists() {
            let path = path.strip_prefix(root()).unwrap();
            found.insert(path.to_str().unwrap().replace('\\', "/"));
        }
    }
    found.into_iter().collect()
}

/// Returns the lines of a page without blocks and pieces of code, and without what is generated of data that
/// another table shows, too.
fn prose(page: &str) -> Vec<String> {
    let (mut is_code, mut is_excerpt) = (false, false);
    let without_code = |line: &str| {
        is_excerpt |= line.starts_with("<!-- generated: beyond");
        is_excerpt &= line != "<!-- end -->";
        if is_excerpt {
            return String::new();
        }
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence {
            return "`".to_owned();
        }
        line.split('`').step_by(2).collect::<Vec<_>>().join("`")
    };
    page.lines().map(without_code).collect()
}

/// Returns the number of significant digits: 2 of 0.42, 1 of 100,000, 3 of 99.0, none of 0.0.
fn significant_digits(number: &str) -> usize {
    let digits = number.replace(['.', ','], "");
    let digits = digits.trim_start_matches('0');
    if number.contains('.') {
        digits.len()
    } else {
        digits.trim_end_matches('0').len()
    }
}

/// Returns the number of significant digits of a share in percent, or of what is missing to the whole if that has
/// fewer: 1 of 99.5.
fn digits_of_share(share: &str) -> usize {
    let decimals = share.split('.').nth(1).map_or(0, str::len);
    let rest = share
        .replace(',', "")
        .parse::<f64>()
        .map_or(0.0, |share| 100.0 - share);
    let rest = format!("{:.decimals$}", rest.abs());
    significant_digits(share).min(significant_digits(&rest))
}

/// Splits a number such as 1,176 or 0.42 from the beginning of a text.
fn number(text: &str) -> (&str, &str) {
    let is_part = |letter: char| letter.is_ascii_digit() || ",.".contains(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let end = text[..end].trim_end_matches([',', '.']).len();
    text.split_at(end)
}

/// Returns the unit that a word stands for, and its least number of significant digits.
fn unit(word: &str) -> Option<(&'static str, usize)> {
    let mut units = UNITS.iter();
    let found = units.find(|(_, words, _)| words.contains(&word))?;
    Some((found.0, found.2))
}

/// Returns the measured number at the beginning of a text, such as `169 s` or `97 of 100`, and what follows the number.
fn measured<'a>(text: &'a str, column: Option<&'static str>) -> (Option<String>, &'a str) {
    let (value, rest) = number(text);
    let after = rest.trim_start_matches([' ', '\u{a0}', '-']);
    if let Some((all, _)) = after
        .strip_prefix("of ")
        .map(number)
        .filter(|all| !all.0.is_empty())
    {
        let digits = significant_digits(value) + significant_digits(all);
        let is_measured = digits > 2 && value != "0";
        return (is_measured.then(|| format!("{value} of {all}")), rest);
    }
    let is_letter = |letter: char| letter.is_alphabetic() || letter == '%';
    let end = after
        .find(|letter| !is_letter(letter))
        .unwrap_or(after.len());
    let in_column = column
        .filter(|_| end == 0)
        .map(|name| (name, DIGITS_IN_COLUMNS));
    let claim = unit(&after[..end]).or(in_column);
    let claim = claim.filter(|(name, least)| match *name {
        "%" => digits_of_share(value) >= *least,
        _ => significant_digits(value) >= *least,
    });
    (claim.map(|(name, _)| format!("{value} {name}")), rest)
}

/// Returns every measured number of a text; `column` is the unit of its column in a table.
fn measured_in(text: &str, column: Option<&'static str>) -> Vec<String> {
    let (mut found, mut rest, mut before) = (Vec::new(), text, ' ');
    while let Some(letter) = rest.chars().next() {
        let is_start =
            letter.is_ascii_digit() && !(before.is_alphanumeric() || ".,/^…`×–-".contains(before));
        if is_start {
            let (claim, after) = measured(rest, column);
            found.extend(claim);
            (before, rest) = ('0', after);
        } else {
            (before, rest) = (letter, &rest[letter.len_utf8()..]);
        }
    }
    found
}

/// Returns the pages of this project to which the links of a line lead.
fn links_of(page: &str, line: &str) -> Vec<String> {
    let targets = line
        .split("](")
        .skip(1)
        .filter_map(|link| link.split([')', '#']).next());
    let folder = Path::new(page).parent().unwrap();
    let resolved = targets.filter(|target| !target.is_empty()).map(|target| {
        let mut path = PathBuf::new();
        for part in folder.join(target).components() {
            match part {
                Component::ParentDir => drop(path.pop()),
                part => path.push(part),
            }
        }
        path.to_string_lossy().replace('\\', "/")
    });
    resolved.collect()
}

/// Adds the measured numbers of a page.
fn add_statements(page: &str, text: &str, all: &mut BTreeMap<String, Vec<Statement>>) {
    let mut block = 1;
    let mut links = BTreeMap::<usize, BTreeSet<String>>::new();
    let mut found = Vec::new();
    let mut units = Vec::new();
    for (index, line) in prose(text).into_iter().enumerate() {
        block += usize::from(line.trim().is_empty());
        links
            .entry(block)
            .or_default()
            .extend(links_of(page, &line));
        let cells: Vec<&str> = line.split('|').collect();
        if cells.len() == 1 {
            units.clear();
        } else if units.is_empty() {
            let last_unit = |cell: &&str| {
                let words = cell.split(|letter: char| !letter.is_alphabetic() && letter != '%');
                words.rev().find_map(unit).map(|(name, _)| name)
            };
            units = cells.iter().map(last_unit).collect();
        }
        for (cell, text) in cells.into_iter().enumerate() {
            let claims = measured_in(text, units.get(cell).copied().flatten());
            found.extend(claims.into_iter().map(|claim| (claim, index + 1, block)));
        }
    }
    for (claim, line, block) in found {
        let near = (block - 1..=block + 1).filter_map(|block| links.get(&block));
        let links = near.flatten().cloned().collect();
        let page = page.to_owned();
        all.entry(claim)
            .or_default()
            .push(Statement { page, line, links });
    }
}

/// Returns whether one page is the source: every other page that states the number links to it.
fn has_source(statements: &[Statement]) -> bool {
    statements.iter().any(|source| {
        let mut others = statements.iter().filter(|other| other.page != source.page);
        others.all(|other| other.links.contains(&source.page))
    })
}

/// Describes every number that stands on several pages without a source.
fn without_source(all: &BTreeMap<String, Vec<Statement>>) -> Vec<String> {
    let found = all.iter().filter(|(_, statements)| !has_source(statements));
    let describe = |(claim, statements): (&String, &Vec<Statement>)| {
        let places = statements
            .iter()
            .map(|place| format!("{}:{}", place.page, place.line));
        format!("{claim}: {}", places.collect::<Vec<_>>().join(", "))
    };
    found.map(describe).collect()
}

#[test]
fn every_measured_number_has_one_source() {
    let mut all = BTreeMap::new();
    let pages = pages();
    assert!(pages.len() > 20, "{pages:?}");
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).unwrap();
        add_statements(page, &text, &mut all);
    }
    assert!(all.len() > 50, "{}", all.len());
    for (claim, reason) in ALLOWED {
        let is_needed = all
            .get(claim)
            .is_some_and(|statements| !has_source(statements));
        assert!(is_needed, "`{claim}` ({reason}) needs no exception");
        all.remove(claim);
    }
    let found = without_source(&all);
    assert!(
        found.is_empty(),
        "stated on several pages; keep one, or link to it beside the others:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_number_on_two_pages_needs_a_link() {
    let source =
        "It takes 169 s on 128 rows.\n\n| machine | seconds |\n|---|---|\n| `copy` | 1,176 |\n";
    let check = |second: &str| {
        let mut all = BTreeMap::new();
        add_statements("docs/speed.md", source, &mut all);
        add_statements("README.md", second, &mut all);
        without_source(&all)
    };
    assert_eq!(
        check("Training took 169 seconds.\n\nThe slowest took 1,176 s."),
        [
            "1,176 s: docs/speed.md:5, README.md:3",
            "169 s: docs/speed.md:1, README.md:1"
        ]
    );
    assert!(check("It takes 169 s ([measured](docs/speed.md#copy)).").is_empty());
    assert!(check("As [measured](docs/speed.md):\n\n| s |\n|---|\n| 169 |").is_empty());
    assert!(check("On 128 rows it takes 170 s. `169 s`\n```\n169 s\n```").is_empty());
    assert!(!check("[Elsewhere](docs/how.md) it takes 169 s.").is_empty());
}

#[test]
fn numbers_with_a_unit_are_measured() {
    let text = "0.42 MB, 97 of 100, 86.3 %, 99.9 %, 100.0 %, 45 s, 100,000 bits, 0 of 160, 25,258 words, 12.5-ms";
    let found = ["0.42 MB", "97 of 100", "86.3 %", "25,258 words", "12.5 ms"];
    assert_eq!(measured_in(text, None), found);
    assert!(measured_in("128 × 20, v1.25 s, 10–20 ms", None).is_empty());
    assert_eq!(measured_in("247 | 46", Some("s")), ["247 s"]);
}
