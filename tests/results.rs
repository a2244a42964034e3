//! What is said of the shipped machines holds: their skill, and what RESULTS.md, docs/research.md and the page of the
//! assets say of them, held against the weights themselves.

use std::collections::BTreeMap;
use std::fs;

use tapescope::io::{Trained, preset, weights};
use tapescope::model::Model;
use tapescope::task::{Measure, Task};
use tapescope::train::{Measurement, UNSEEN_SEED, optimum};

fn shipped(name: &str) -> Trained {
    let mut machines = weights::shipped().unwrap().into_iter();
    machines
        .find(|machine| machine.experiment.name == name)
        .unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

/// A text without its line breaks.
fn flowing(path: &str) -> String {
    let text = text(path);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 1,075,008
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

/// One measurement that a shipped machine must pass and no untrained one does.
struct Skill {
    name: &'static str,
    size: usize,
    repeats: Option<usize>,
    episodes: usize,
    /// More bits per sequence than this, above the optimum, is a lost skill.
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

    /// How much is wrong with what a machine does, in words; `None` where it can do it.
    fn lost(&self, trained: &Trained, task: &Task) -> Option<String> {
        let found = trained
            .exam(task, UNSEEN_SEED, self.episodes)
            .measure(1)
            .mean;
        let best = optimum(task, UNSEEN_SEED, self.episodes).unwrap_or(0.0);
        let is_kept =
            found.bits_per_sequence - best <= self.most_bits && found.perfect >= self.least_perfect;
        (!is_kept).then(|| format!("{} at {}: {found:?}, optimum {best}", self.name, self.size))
    }
}

/// Every shipped machine; the bounds are wide enough for the rounding of any processor, and far from what one
/// that has lost its skill does.
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
            ..Skill::of("priority_sort", 20, 25.0, 0.2)
        },
        Skill::of("copy_additive", 20, 0.1, 1.0),
        Skill::of("copy_location", 20, 0.1, 1.0),
        Skill::of("copy_location", 60, 0.3, 0.95),
        Skill::of("copy_hard", 8, 8.0, 0.9),
        Skill::of("recall_bayesian_weibull", 6, 0.3, 0.95),
        Skill::of("recall_bayesian_weibull", 15, 0.5, 0.95),
        Skill::of("recall_four_heads", 6, 0.5, 0.95),
    ]
}

#[test]
fn every_shipped_machine_has_its_skill() {
    let skills = skills();
    for name in weights::shipped_names() {
        assert!(skills.iter().any(|skill| skill.name == name), "{name}");
    }
    for skill in skills {
        let trained = shipped(skill.name);
        let task = skill.task(&trained);
        assert_eq!(skill.lost(&trained, &task), None);
        // A bound that an untrained machine keeps would hold nothing.
        let machine = Model::new(trained.machine.config.clone(), 1);
        let untrained = Trained { machine, ..trained };
        assert!(skill.lost(&untrained, &task).is_some(), "{}", skill.name);
    }
}

fn measured(name: &str, size: usize, rows: usize, episodes: usize) -> Measurement {
    let mut trained = shipped(name);
    trained.machine = trained.machine.with_rows(rows).unwrap();
    let task = trained.experiment.task.clone().with_size(size);
    trained.exam(&task, UNSEEN_SEED, episodes).measure(1)
}

#[test]
fn what_fails_for_want_of_rows_is_done_on_rows_enough() {
    for (name, size, enough) in [
        ("copy", 200, 512),
        ("copy_feedforward", 120, 512),
        ("associative_recall", 60, 512),
    ] {
        let few = measured(name, size, 128, 10);
        assert!(few.mean.perfect <= 0.2, "{name}: {few:?}");
        assert!(few.overrun >= 9, "{name}: {few:?}");
        assert!((129..=enough).contains(&few.enough), "{name}: {few:?}");
        let many = measured(name, size, enough, 10);
        assert!(many.mean.perfect >= 0.8, "{name}: {many:?}");
        assert_eq!((many.overrun, many.enough), (0, 0), "{name}: {many:?}");
    }
}

#[test]
fn no_machine_overruns_its_memory_in_what_it_was_trained_on() {
    for trained in weights::shipped().unwrap() {
        let task = &trained.experiment.task;
        let found = trained.exam(task, UNSEEN_SEED, 20).measure(1);
        let name = &trained.experiment.name;
        assert_eq!((found.overrun, found.enough), (0, 0), "{name}");
    }
}

/// The cells of every line of the tables of a page.
fn rows_of(page: &str) -> Vec<Vec<String>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = |line: &str| {
        let cells = line.trim_end().trim_end_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

#[test]
fn the_page_of_the_assets_says_what_the_files_say() {
    let rows = rows_of(&text("assets/README.md"));
    for trained in weights::shipped().unwrap() {
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
fn the_results_of_single_seeds_are_those_of_the_histories() {
    let page = flowing("RESULTS.md");
    let said = |words: &str| assert!(page.contains(words), "RESULTS.md does not say: {words}");
    for name in ["ngrams", "priority_sort", "copy_lstm"] {
        let trained = shipped(name);
        let last = trained.history.last().unwrap();
        let (sequences, seconds) = (thousands(last.sequences), last.seconds.round() as u64);
        let all = thousands(trained.experiment.training.sequences);
        said(&format!(
            "`{name}` after {sequences} of {all} sequences, {} s",
            thousands(seconds)
        ));
    }
    let history = shipped("priority_sort").history;
    let is_below = |index: &usize| history[*index].validation.bits_per_sequence < 18.0;
    let first = (0..history.len()).find(is_below).unwrap();
    let for_good = (0..history.len())
        .rev()
        .take_while(is_below)
        .last()
        .unwrap();
    said(&format!(
        "first below the 18 bits of the paper after {} sequences, and for good from {} on",
        thousands(history[first].sequences),
        thousands(history[for_good].sequences)
    ));
}

/// A line of the table of the suite: bits, wrong bits, perfect episodes, by machine, size and rows.
fn suite() -> BTreeMap<(String, String, String), [f64; 3]> {
    let rows = rows_of(&text("RESULTS.md"));
    let names: Vec<&str> = weights::shipped_names().collect();
    let of_a_machine = rows
        .into_iter()
        .filter(|row| row.len() == 15 && names.contains(&row[0].as_str()));
    let number = |cell: &str| cell.trim_end_matches('%').parse().unwrap();
    of_a_machine
        .map(|row| {
            let values = [5, 8, 9].map(|cell| number(&row[cell]));
            let [name, at, rows, ..] = <[String; 15]>::try_from(row).unwrap();
            ((name, at, rows), values)
        })
        .collect()
}

#[test]
fn the_table_of_the_suite_is_of_these_machines() {
    let table = suite();
    for trained in weights::shipped().unwrap() {
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
    // A line of every kind, measured again; processors round differently.
    for (name, at, size, rows) in [
        ("copy", "length 50", 50, "128"),
        ("copy_lstm", "length 20", 20, "-"),
        ("associative_recall", "6 items", 6, "128"),
    ] {
        let trained = shipped(name);
        let task = trained.experiment.task.clone().with_size(size);
        let found = trained.exam(&task, UNSEEN_SEED, 100).measure(2).mean;
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
fn the_page_of_research_says_what_the_table_of_the_suite_says() {
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

#[test]
fn the_layouts_of_the_tasks_stand_in_the_formats() {
    let formats = text("docs/formats.md");
    let others = |name: &&str| !name.starts_with("copy_") && !preset::is_other_way(name);
    for name in weights::shipped_names().filter(others) {
        let source = text(&format!("src/core/task/{name}.rs"));
        let lines = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        let picture = lines
            .skip_while(|line| *line != "```text")
            .skip(1)
            .take_while(|line| *line != "```");
        let picture = picture.collect::<Vec<_>>().join("\n");
        assert!(picture.lines().count() > 2, "{name}");
        assert!(
            formats.contains(&picture),
            "{name}: docs/formats.md has not\n{picture}"
        );
    }
}
