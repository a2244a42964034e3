//! Checks of the included machines: their skill, and the numbers in docs/results, docs/research.md and assets/README.md
//! against the weights.
//!
//! `UPDATE_TABLES=1 cargo test --test library` writes the tables of docs/results that are made from data.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tapescope::analysis::disassembly::Totals;
use tapescope::io::{Trained, weights};
use tapescope::model::Model;
use tapescope::task::{Measure, Task};
use tapescope::train::{Measurement, Recording, UNSEEN_SEED, optimum};

use super::formats::held;

fn included(name: &str) -> Trained {
    weights::included(name).unwrap().unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

/// Returns a page with every run of white space as one space.
fn flowing(path: &str) -> String {
    let text = text(path);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a number with commas, such as 1,075,008.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A measurement that an included machine must pass and an untrained one must fail.
struct Skill {
    name: &'static str,
    size: usize,
    repeats: Option<usize>,
    episodes: usize,
    /// Largest bits per sequence above the optimum that still pass.
    most_bits: f64,
    least_perfect: f64,
}

impl Skill {
    fn of(name: &'static str, size: usize, most_bits: f64, least_perfect: f64) -> Self {
        let (repeats, episodes) = (None, 20);
        Self {
            name,
            size,
            repeats,
            episodes,
            most_bits,
            least_perfect,
        }
    }

    fn task(&self, trained: &Trained) -> Task {
        let task = trained.experiment.task.clone().with_size(self.size);
        match self.repeats {
            Some(repeats) => task.with_repeats(repeats),
            None => task,
        }
    }

    /// Describes the failed measurement; `None` if the machine passes.
    fn lost(&self, trained: &Trained, task: &Task) -> Option<String> {
        let found = trained
            .evaluator(task, UNSEEN_SEED, self.episodes)
            .measure(1)
            .mean;
        let best = optimum(task, UNSEEN_SEED, self.episodes).unwrap_or(0.0);
        let is_kept =
            found.bits_per_sequence - best <= self.most_bits && found.perfect >= self.least_perfect;
        (!is_kept).then(|| format!("{} at {}: {found:?}, optimum {best}", self.name, self.size))
    }
}

/// Skills of every included machine; the bounds allow for the rounding of any processor and are far from the
/// results of a machine without the skill.
fn skills() -> Vec<Skill> {
    vec![
        Skill::of("copy", 20, 0.05, 1.0),
        Skill::of("copy", 60, 0.1, 1.0),
        Skill::of("copy_feedforward", 20, 0.05, 1.0),
        Skill::of("copy_feedforward", 50, 0.1, 1.0),
        Skill::of("copy_lstm", 10, 1.0, 0.9),
        Skill::of("copy_lstm", 20, 60.0, 0.0),
        Skill {
            repeats: Some(10),
            ..Skill::of("repeat_copy", 10, 1.0, 0.95)
        },
        Skill {
            repeats: Some(5),
            ..Skill::of("repeat_copy", 10, 0.1, 1.0)
        },
        Skill::of("associative_recall", 6, 0.1, 1.0),
        Skill::of("associative_recall", 15, 0.1, 1.0),
        Skill::of("ngrams", 200, 3.0, 0.0),
        Skill {
            episodes: 50,
            ..Skill::of("priority_sort", 20, 10.0, 0.8)
        },
        Skill::of("copy_additive", 20, 0.1, 1.0),
        Skill::of("copy_location", 20, 0.1, 1.0),
        Skill::of("copy_location", 60, 0.3, 0.95),
        Skill::of("ngrams_location", 200, 1.0, 0.0),
        Skill::of("copy_hard", 8, 8.0, 0.9),
        Skill::of("recall_bayesian_weibull", 6, 0.3, 0.95),
        Skill::of("recall_bayesian_weibull", 15, 0.5, 0.95),
        Skill::of("recall_four_heads", 6, 0.5, 0.95),
        Skill::of("transduce", 8, 2.0, 0.9),
        Skill::of("transduce_luong", 8, 4.0, 0.85),
        Skill::of("transduce_fixed_context", 5, 3.0, 0.9),
        Skill::of("caption", 4, 2.0, 0.9),
        Skill::of("frames_local_predictive", 4, 1.0, 0.95),
        Skill::of("copy_lstmn", 10, 1.0, 0.95),
        Skill::of("copy_multi_head", 10, 1.0, 0.95),
        Skill::of("copy_self_attention", 10, 1.0, 0.95),
        Skill::of("aspects_structured", 20, 1.0, 0.95),
        Skill::of("span_coattention", 20, 1.0, 0.95),
        Skill::of("span_attention_over_attention", 20, 1.0, 0.9),
        Skill::of("copy_dnc", 20, 0.1, 1.0),
        Skill::of("copy_dnc", 30, 1.0, 0.9),
        Skill::of("graph_dnc", 12, 0.1, 0.95),
        Skill::of("copy_sam", 20, 0.1, 1.0),
        Skill::of("recall_sam", 6, 0.1, 1.0),
        Skill::of("recall_sam", 20, 0.5, 0.95),
    ]
}

#[test]
fn included_machines_solve_their_tasks_and_untrained_ones_do_not() {
    let skills = skills();
    for name in weights::included_names() {
        assert!(skills.iter().any(|skill| skill.name == name), "{name}");
    }
    for skill in skills {
        let trained = included(skill.name);
        let task = skill.task(&trained);
        assert_eq!(skill.lost(&trained, &task), None);
        // A bound that an untrained machine passes would check nothing.
        let machine = Model::new(trained.machine.config.clone(), 1);
        let untrained = Trained { machine, ..trained };
        assert!(skill.lost(&untrained, &task).is_some(), "{}", skill.name);
    }
}

fn measured(name: &str, size: usize, rows: usize, episodes: usize) -> Measurement {
    let mut trained = included(name);
    trained.machine = trained.machine.with_rows(rows).unwrap();
    let task = trained.experiment.task.clone().with_size(size);
    trained.evaluator(&task, UNSEEN_SEED, episodes).measure(1)
}

#[test]
fn machines_that_fail_on_128_rows_succeed_when_memory_does_not_wrap() {
    for (name, size, rows_needed) in [
        ("copy", 200, 512),
        ("copy_feedforward", 120, 512),
        ("associative_recall", 60, 512),
    ] {
        let few = measured(name, size, 128, 10);
        assert!(few.mean.perfect <= 0.2, "{name}: {few:?}");
        assert!(few.wrapped >= 9, "{name}: {few:?}");
        assert!(
            (129..=rows_needed).contains(&few.rows_needed),
            "{name}: {few:?}"
        );
        let many = measured(name, size, rows_needed, 10);
        assert!(many.mean.perfect >= 0.8, "{name}: {many:?}");
        assert_eq!((many.wrapped, many.rows_needed), (0, 0), "{name}: {many:?}");
    }
}

#[test]
fn memory_does_not_wrap_in_twenty_episodes_of_the_training_task() {
    for trained in weights::all_included().unwrap() {
        let task = &trained.experiment.task;
        let found = trained.evaluator(task, UNSEEN_SEED, 20).measure(1);
        let name = &trained.experiment.name;
        assert_eq!((found.wrapped, found.rows_needed), (0, 0), "{name}");
    }
}

/// Returns the cells of every table row of a page.
fn rows_of(page: &str) -> Vec<Vec<String>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = |line: &str| {
        let cells = line.trim_end().trim_end_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

#[test]
fn instructions_of_the_included_machines_agree_with_the_page() {
    let rows = rows_of(&text("docs/results/instructions.md"));
    for trained in weights::all_included().unwrap() {
        let (name, machine) = (&trained.experiment.name, &trained.machine);
        let mut totals = Totals::default();
        for index in 0..100 {
            let recording = Recording::new(machine, &trained.experiment.task, UNSEEN_SEED, index);
            totals.add(&recording, machine).unwrap();
        }
        // Weightings that cannot be set, as those of sparse access memory, have no line.
        let changeable = machine.changeable();
        let is_listed = (changeable.iter()).any(|(_, array)| array.name == "weighting");
        let row = rows
            .iter()
            .find(|row| row.len() == 4 && row[0] == format!("`{name}`") && row[1].ends_with('%'));
        assert_eq!(row.is_some(), is_listed, "{name}");
        let Some(row) = row else { continue };
        let scored = totals.scored as f64;
        let explained = totals.all.explained();
        let [wrong, replayed] = [totals.wrong, totals.replayed].map(|wrong| wrong as f64 / scored);
        let found = [explained, wrong, replayed].map(|share| format!("{:.1} %", 100.0 * share));
        assert_eq!(row[1..], found, "{name}");
        if name.starts_with("copy") && machine.config.ntm().is_some() {
            assert!(explained > 0.94, "{name}: {explained}");
        }
        if ["copy", "repeat_copy", "associative_recall"].contains(&&**name) {
            assert!(replayed <= wrong + 0.01, "{name}: {replayed}");
        }
    }
}

#[test]
fn assets_page_agrees_with_the_weights_files() {
    let rows = rows_of(&text("assets/README.md"));
    for trained in weights::all_included().unwrap() {
        let name = &trained.experiment.name;
        let file = format!("`{name}.safetensors`");
        let row = rows.iter().find(|row| row[0] == file).unwrap();
        assert!(
            row[2].starts_with(&format!("`{}`", trained.command)),
            "{row:?}"
        );
        let last = trained.history.last().unwrap();
        let all = trained.experiment.training.sequences;
        let sequences = format!("{} of {}", thousands(last.sequences), thousands(all));
        assert_eq!(row[3], sequences, "{name}");
        assert_eq!(row[4], thousands(last.seconds.round() as u64), "{name}");
        let validation = trained.evaluation.unwrap().bits_per_sequence;
        assert_eq!(row[5], format!("{validation:.3}"), "{name}");
    }
}

#[test]
fn priority_sort_passes_the_paper_when_the_page_says() {
    let page = flowing("docs/results/learning.md");
    let history = included("priority_sort").history;
    let is_below = |index: &usize| history[*index].validation.bits_per_sequence < 18.0;
    let first = (0..history.len()).find(is_below).unwrap();
    let permanently = (0..history.len())
        .rev()
        .take_while(is_below)
        .last()
        .unwrap();
    let words = format!(
        "first below the 18 bits of the paper after {} sequences, permanently from {}",
        thousands(history[first].sequences),
        thousands(history[permanently].sequences)
    );
    assert!(page.contains(&words), "the page has not: {words}");
}

/// Returns the lines of a file of docs/results/data, as `tapescope eval --format json` writes them.
fn data(file: &str) -> Vec<Value> {
    let text = text(&format!("docs/results/data/{file}.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// Returns a table in Markdown; an alignment is `---` or `---:`.
fn table(columns: &[(&str, &str)], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let heads = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let rules = columns.iter().map(|(_, rule)| *rule).collect::<Vec<_>>();
    let mut lines = vec![
        format!("| {} |", heads.join(" | ")),
        format!("|{}|", rules.join("|")),
    ];
    let rows = rows.into_iter();
    lines.extend(rows.map(|row| format!("| {} |", row.join(" | "))));
    lines.join("\n")
}

/// Formats a number of a line of data; `-` if it has none.
fn decimals(line: &Value, key: &str, digits: usize) -> String {
    let number = line.get(key).and_then(Value::as_f64);
    number.map_or("-".to_owned(), |number| format!("{number:.digits$}"))
}

/// Formats the size of a line of data, such as "length 5, 10 repeats".
fn at(line: &Value) -> String {
    let size = |key: &str| line[key].get(1).and_then(Value::as_u64);
    let length = size("length").map(|length| format!("length {length}"));
    let items = size("items").map(|items| format!("{items} items"));
    let repeats = size("repeats").map(|repeats| format!("{repeats} repeats"));
    let parts = [length, items, repeats].into_iter().flatten();
    parts.collect::<Vec<_>>().join(", ")
}

/// The columns that every table of errors has.
const ERRORS: [(&str, &str); 10] = [
    ("machine", "---"),
    ("at", "---"),
    ("rows", "---:"),
    ("episodes", "---:"),
    ("wrapped", "---:"),
    ("bits", "---:"),
    ("±", "---:"),
    ("median", "---:"),
    ("wrong", "---:"),
    ("perfect", "---:"),
];

/// Returns the cells of `ERRORS` for a line of data.
fn errors(line: &Value) -> Vec<String> {
    let perfect = line["perfect"].as_f64().unwrap();
    vec![
        line["machine"].as_str().unwrap().to_owned(),
        at(line),
        decimals(line, "rows", 0),
        decimals(line, "episodes", 0),
        decimals(line, "wrapped_episodes", 0),
        decimals(line, "bits_per_sequence", 3),
        decimals(line, "bits_half_width", 3),
        decimals(line, "bits_median", 3),
        decimals(line, "wrong_bits", 2),
        format!("{:.1}%", 100.0 * perfect),
    ]
}

/// Returns the table that `tapescope eval --suite --format markdown` prints.
fn whole_suite() -> String {
    let others = [
        ("chance", "---:"),
        ("optimum", "---:"),
        ("paper", "---"),
        ("redundancy", "---:"),
        ("divergence", "---:"),
    ];
    let row = |line: &Value| {
        let optimum = line["optimum"].as_f64();
        let mut cells = errors(line);
        cells.extend([
            decimals(line, "chance", 0),
            optimum.map_or("0".to_owned(), |bits| format!("{bits:.1}")),
            line["paper"].as_str().unwrap_or("-").to_owned(),
            decimals(line, "redundancy", 4),
            decimals(line, "divergence", 4),
        ]);
        cells
    };
    let columns = [&ERRORS[..], &others[..]].concat();
    table(&columns, data("suite").iter().map(row))
}

/// Returns the errors of machines from the largest size, or number of repeats, of their training on.
fn beyond(machines: &[&str]) -> String {
    let size = |line: &Value| {
        let sizes = [&line["length"][1], &line["items"][1]];
        sizes.into_iter().find_map(Value::as_u64).unwrap()
    };
    let place = |line: &Value| {
        let [repeats, rows] = [&line["repeats"][1], &line["rows"]].map(Value::as_u64);
        (size(line), repeats, rows)
    };
    let lines = [data("suite"), data("beyond")].concat();
    let mut rows = Vec::new();
    for name in machines {
        let task = included(name).experiment.task;
        let longest = *task.size().end() as u64;
        let most_repeats = task.repeats().map(|repeats| *repeats.end() as u64);
        let is_shown = |line: &&Value| {
            let (size, repeats, _) = place(line);
            line["machine"] == *name && (size >= longest || repeats > most_repeats)
        };
        let mut found: Vec<&Value> = lines.iter().filter(is_shown).collect();
        found.sort_by_key(|line| place(line));
        rows.extend(found.into_iter().map(errors));
    }
    table(&ERRORS, rows)
}

/// Returns when the best weights of the presets with one seed were reached.
fn single_seeds() -> String {
    let columns = [
        ("preset", "---"),
        ("best weights after sequences", "---:"),
        ("seconds", "---:"),
    ];
    let row = |name: &str| {
        let trained = included(name);
        let last = trained.history.last().unwrap();
        let all = thousands(trained.experiment.training.sequences);
        vec![
            format!("`{name}`"),
            format!("{} of {all}", thousands(last.sequences)),
            thousands(last.seconds.round() as u64),
        ]
    };
    table(&columns, ["ngrams", "priority_sort", "copy_lstm"].map(row))
}

#[test]
fn generated_tables_agree_with_their_data() {
    let mut checked = 0;
    for entry in fs::read_dir("docs/results").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let path = path.to_str().unwrap();
        for line in text(path).lines() {
            let name = line.strip_prefix("<!-- generated: ");
            let Some(name) = name.and_then(|name| name.strip_suffix(" -->")) else {
                continue;
            };
            let table = match name.split(' ').collect::<Vec<_>>()[..] {
                ["suite"] => whole_suite(),
                ["single-seeds"] => single_seeds(),
                ["beyond", ref machines @ ..] => beyond(machines),
                _ => panic!("{path}: no table `{name}` is generated"),
            };
            held(path, line, "<!-- end -->", &format!("\n{table}\n"));
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}

/// Returns the rows of the suite table in docs/results/suite.md, 15 cells each.
fn suite_rows() -> Vec<Vec<String>> {
    let names: Vec<&str> = weights::included_names().collect();
    let mut rows = rows_of(&text("docs/results/suite.md"));
    rows.retain(|row| row.len() == 15 && names.contains(&row[0].as_str()));
    rows
}

/// Returns bits, wrong bits and perfect episodes (%) of the suite table, by machine, size and rows.
fn suite() -> BTreeMap<(String, String, String), [f64; 3]> {
    let number = |cell: &str| cell.trim_end_matches('%').parse().unwrap();
    suite_rows()
        .into_iter()
        .map(|row| {
            let values = [5, 8, 9].map(|cell| number(&row[cell]));
            let [name, at, rows, ..] = <[String; 15]>::try_from(row).unwrap();
            ((name, at, rows), values)
        })
        .collect()
}

#[test]
fn excerpts_of_the_suite_agree_with_the_whole_table() {
    let whole = suite_rows();
    let mut checked = 0;
    for row in rows_of(&text("docs/results/generalisation.md")) {
        let is_same = |line: &&Vec<String>| row.len() == 10 && line[..3] == row[..3];
        let Some(line) = whole.iter().find(is_same) else {
            continue;
        };
        assert_eq!(line[3..10], row[3..], "{row:?}");
        checked += 1;
    }
    assert!(checked >= 20, "{checked}");
}

#[test]
fn suite_table_is_of_the_included_machines() {
    let table = suite();
    for trained in weights::all_included().unwrap() {
        let experiment = &trained.experiment;
        for task in experiment.evaluation.cases(&experiment.task) {
            let size = task.size();
            let size = match task.measure() {
                Measure::Length => format!("length {}", size.end()),
                Measure::Items => format!("{} items", size.end()),
            };
            let repeats = task.repeats();
            let repeats = repeats.map(|repeats| format!(", {} repeats", repeats.end()));
            let words = size + &repeats.unwrap_or_default();
            let is_here =
                |(name, at, _): &(String, String, String)| *name == experiment.name && *at == words;
            assert!(table.keys().any(is_here), "{}: {words}", experiment.name);
        }
    }
    // Measures a row of every kind again; processors round differently.
    for (name, at, size, rows) in [
        ("copy", "length 50", 50, "128"),
        ("copy_lstm", "length 20", 20, "-"),
        ("associative_recall", "6 items", 6, "128"),
        ("transduce", "length 10", 10, "-"),
        ("frames_local_predictive", "length 12", 12, "-"),
        ("span_attention_over_attention", "length 20", 20, "-"),
        ("graph_dnc", "12 items", 12, "32"),
        ("copy_sam", "length 30", 30, "128"),
    ] {
        let trained = included(name);
        let task = trained.experiment.task.clone().with_size(size);
        let found = trained.evaluator(&task, UNSEEN_SEED, 100).measure(2).mean;
        let said = table[&(name.to_owned(), at.to_owned(), rows.to_owned())];
        let found = [
            found.bits_per_sequence,
            found.wrong_bits,
            100.0 * found.perfect,
        ];
        for (said, found) in said.iter().zip(found) {
            assert!(
                (said - found).abs() <= 0.02 * said.abs() + 0.01,
                "{name} {at}: {said} {found}"
            );
        }
    }
}

#[test]
fn research_page_agrees_with_the_suite_table() {
    let table = suite();
    let page = rows_of(&text("docs/research.md"));
    let heading = page
        .iter()
        .position(|row| row[0] == "machine" && row.len() == 6);
    let lines = page[heading.unwrap() + 1..].iter();
    let mut checked = 0;
    for row in lines.take_while(|row| row.len() == 6) {
        let [name, at, rows, bits, perfect, _] = &row[..] else {
            unreachable!()
        };
        let name = name.trim_matches('`').to_owned();
        let said = table[&(name, at.clone(), rows.replace(',', ""))];
        let decimals = bits.split('.').nth(1).map_or(0, str::len);
        assert_eq!(
            bits.replace(',', ""),
            format!("{:.decimals$}", said[0]),
            "{row:?}"
        );
        assert_eq!(*perfect, format!("{:.0} %", said[2]), "{row:?}");
        checked += 1;
    }
    assert!(checked >= 12, "{checked}");
}
