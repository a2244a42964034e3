//! Collected runs: runs that differ only in their seed form a setting.

use std::cmp::Ordering;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::{Failure, Run, State, plan};
use crate::io::measurement::Number;
use crate::io::preset::written::Written;
use crate::io::preset::{changes, last};
use crate::io::run::LOG;
use crate::io::{Error, Experiment, file};
use crate::train::{
    AuxLosses, HistoryPoint, Outcome, Spread, median_and_worst, spread, spread_aux,
};

/// The depth to which run folders are searched.
const MOST_LEVELS: usize = 8;

/// The runs found in folders.
#[derive(Debug, Default)]
pub struct FoundRuns {
    /// The runs that can be read, in the order of their folders.
    pub runs: Vec<Run>,
    /// Errors in the other runs, and in plans.
    pub damaged: Vec<Error>,
    /// The runs that the plans in these folders name, by where they really are.
    pub planned: RunPaths,
    /// The planned runs that have not started, with the reason if it is known.
    pub missing: Vec<(PathBuf, Option<Failure>)>,
}

/// Folders or files by their canonical paths, each with its shown path: one reached by two paths is listed once.
type RunPaths = BTreeMap<PathBuf, PathBuf>;

impl FoundRuns {
    /// Returns the value that was read; stores the error otherwise.
    fn readable<T>(&mut self, read: Result<T, Error>) -> Option<T> {
        read.map_err(|error| self.damaged.push(error)).ok()
    }
}

/// Finds every run in these folders and those inside them. Their weights are kept only with `keeps_weights`: many runs
/// may take much memory.
///
/// # Errors
/// A folder cannot be read, or none of them holds a run or the plan of one.
pub fn find(folders: &[PathBuf], keeps_weights: bool) -> Result<FoundRuns, Error> {
    let (mut found, mut runs, mut plans) = (FoundRuns::default(), RunPaths::new(), RunPaths::new());
    for folder in folders {
        if !search(folder, MOST_LEVELS, &mut runs, &mut plans)? {
            let problem =
                format!("contains no training run: no {LOG} in it or in a folder inside it");
            return Err(Error::about(folder, problem));
        }
    }
    for (place, path) in &plans {
        for name in found.readable(plan::read(path)).unwrap_or_default() {
            let run = path.with_file_name(&name);
            let real = fs::canonicalize(&run).unwrap_or_else(|_| place.with_file_name(&name));
            found.planned.insert(real, run);
        }
    }
    let planned = found.planned.clone().into_iter();
    let missing = planned.filter(|(place, _)| !runs.contains_key(place));
    for (_, folder) in missing {
        if let Some(failure) = found.readable(Failure::read(&folder)) {
            found.missing.push((folder, failure));
        }
    }
    for folder in runs.into_values() {
        if let Some(mut run) = found.readable(Run::read(&folder)) {
            run.trained = run.trained.filter(|_| keeps_weights);
            found.runs.push(run);
        }
    }
    Ok(found)
}

/// Collects the runs and plans in this folder and those inside it; true where there are any.
fn search(
    folder: &Path,
    levels: usize,
    runs: &mut RunPaths,
    plans: &mut RunPaths,
) -> Result<bool, Error> {
    let unreadable = Error::unreadable(folder);
    if file::exists(&folder.join(LOG)) {
        let place = fs::canonicalize(folder).map_err(&unreadable)?;
        runs.entry(place).or_insert_with(|| folder.to_owned());
        return Ok(true);
    }
    let mut is_any = false;
    for entry in fs::read_dir(folder).map_err(&unreadable)? {
        let path = entry.map_err(&unreadable)?.path();
        if path.is_dir() {
            is_any |= levels > 1 && search(&path, levels - 1, runs, plans)?;
        } else if plan::is_plan(&path) {
            is_any = true;
            let place = fs::canonicalize(&path).map_err(&unreadable)?;
            plans.entry(place).or_insert(path);
        }
    }
    Ok(is_any)
}

/// The runs that differ in nothing but their seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// A short name that no other setting of the collection has.
    pub label: String,
    /// The values in which this setting differs from others of the collection, by path in the preset.
    pub changes: BTreeMap<String, String>,
    /// The runs, in the order of their seeds.
    pub runs: Vec<Run>,
}

/// A run, how it went, and whether it succeeded: its best validation, or its best weights on fresh episodes, are below
/// the threshold.
type RunOutcome<'a> = (&'a Run, Outcome, bool);

/// The statistics over the runs of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that have seen all their sequences.
    pub finished: usize,
    /// The number of successful runs: with a best validation below the threshold, or, if measured, with best weights
    /// below it on fresh episodes.
    pub successes: usize,
    /// Sequences until the first validation below the threshold, over the runs with one.
    pub sequences: Option<MedianAndWorst>,
    /// Seconds of training until then.
    pub seconds: Option<MedianAndWorst>,
    /// Last validations.
    pub last: Option<MedianAndWorst>,
    /// The worst validation of any run after its first one below the threshold.
    pub worst_after: Option<Number>,
    /// Best validations.
    pub best: Option<MedianAndWorst>,
    /// The redundancy of the heads at the best validation, where there is a penalty on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<MedianAndWorst>,
    /// The divergence of the heads at the best validation, where the loss subtracts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_divergence: Option<MedianAndWorst>,
    /// The divergence of Bayesian heads from their priors at the best validation, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<MedianAndWorst>,
    /// The best weights on fresh episodes.
    pub fresh: Option<MedianAndWorst>,
}

/// The median and the worst value over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MedianAndWorst {
    /// Half of the runs are at or below it.
    pub median: Number,
    /// The largest.
    pub worst: Number,
}

impl Setting {
    /// Judges the runs together; `is_fresh` when their best weights were measured on fresh episodes.
    pub fn summary(&self, threshold: f64, is_fresh: bool) -> Summary {
        let each: Vec<RunOutcome> = self.each(threshold, is_fresh).collect();
        let of = |value: fn(&Run, &Outcome) -> Option<f64>| {
            let values = each
                .iter()
                .filter_map(|(run, outcome, _)| value(run, outcome));
            let [median, worst] = median_and_worst(values)?.map(Number);
            Some(MedianAndWorst { median, worst })
        };
        let is_finished = |(run, ..): &&RunOutcome| run.state == State::Finished;
        Summary {
            runs: each.len(),
            finished: each.iter().filter(is_finished).count(),
            successes: each.iter().filter(|(.., success)| *success).count(),
            sequences: of(|_, outcome| Some(outcome.first_below?.sequences as f64)),
            seconds: of(|_, outcome| Some(outcome.first_below?.seconds)),
            last: of(|_, outcome| outcome.last),
            worst_after: of(|_, outcome| outcome.worst_after).map(|pair| pair.worst),
            best: of(|_, outcome| outcome.best),
            redundancy: of(|_, outcome| outcome.aux.redundancy),
            head_divergence: of(|_, outcome| outcome.aux.head_divergence),
            divergence: of(|_, outcome| outcome.aux.divergence),
            fresh: of(|run, _| run.fresh_bits()),
        }
    }

    /// Judges every run.
    fn each(&self, threshold: f64, is_fresh: bool) -> impl Iterator<Item = RunOutcome<'_>> {
        self.runs.iter().map(move |run| {
            let outcome = Outcome::of(run.validations(), threshold);
            let fresh = run.fresh_bits();
            let bits = if is_fresh { fresh } else { outcome.best };
            (run, outcome, bits.is_some_and(|bits| bits < threshold))
        })
    }

    /// The learning curves of all runs as one.
    pub fn curve(&self) -> Vec<Spread> {
        let curves: Vec<&[HistoryPoint]> = self.runs.iter().map(Run::validations).collect();
        spread(&curves)
    }

    /// Curves of the auxiliary losses, each of [`AuxLosses::NAMES`].
    pub fn aux_curves(&self) -> [Vec<Spread>; AuxLosses::NAMES.len()] {
        let curves: Vec<&[HistoryPoint]> = self.runs.iter().map(Run::validations).collect();
        spread_aux(&curves)
    }
}

/// The runs by setting, and the folders of those left out: their setting and seed are there already.
pub fn by_setting(runs: Vec<Run>) -> (Vec<Setting>, Vec<PathBuf>) {
    let experiments: Vec<&Experiment> = runs.iter().map(|run| &run.experiment).collect();
    let changes = changes(&experiments, &UNCOMPARED);
    let mut by_changes = BTreeMap::<_, BTreeMap<u64, Run>>::new();
    let mut twice = Vec::new();
    for (mut changes, run) in changes.into_iter().zip(runs) {
        if !run.changed.is_empty() {
            changes.insert("changed".to_owned(), run.changed.clone());
        }
        let by_seed = by_changes.entry(changes).or_default();
        match by_seed.entry(run.experiment.training.seed) {
            Entry::Occupied(_) => twice.push(run.folder),
            Entry::Vacant(free) => drop(free.insert(run)),
        }
    }
    let setting = |(changes, by_seed): (_, BTreeMap<u64, Run>)| Setting {
        label: String::new(),
        changes,
        runs: by_seed.into_values().collect(),
    };
    let mut settings: Vec<Setting> = by_changes.into_iter().map(setting).collect();
    settings.sort_by(|a, b| in_order(&a.changes, &b.changes));
    for index in 0..settings.len() {
        settings[index].label = label(&settings[index], &settings);
    }
    (settings, twice)
}

/// Values in the order of their paths, numbers as numbers.
fn in_order(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Ordering {
    let number = |value: &String| value.parse().unwrap_or(f64::MAX);
    let order = a.iter().zip(b).map(|((path, value), (other, there))| {
        let by_number = || number(value).total_cmp(&number(there));
        path.cmp(other).then_with(by_number).then(value.cmp(there))
    });
    order
        .fold(Ordering::Equal, Ordering::then)
        .then(a.len().cmp(&b.len()))
}

/// The name of the experiment where there are several, then the differing settings among those of that name:
/// by the last part of the path, where that is clear.
fn label(own: &Setting, settings: &[Setting]) -> String {
    let name = |setting: &Setting| setting.runs[0].experiment.name.clone();
    let same = || settings.iter().filter(|other| name(other) == name(own));
    let differs = |(path, value): &(&String, &String)| {
        *path != "name" && same().any(|other| other.changes.get(*path) != Some(*value))
    };
    let different: Vec<_> = own.changes.iter().filter(differs).collect();
    let part = |(path, value): &(&String, &String)| {
        let others = different.iter();
        let is_like = |(other, _): &&(&String, &String)| last(other) == last(path);
        match others.filter(is_like).count() {
            1 => format!("{}={value}", last(path)),
            _ => format!("{path}={value}"),
        }
    };
    let mut parts: Vec<String> = different.iter().map(part).collect();
    if parts.is_empty() || same().count() < settings.len() {
        parts.insert(0, name(own));
    }
    parts.join(", ")
}

/// The keys that do not make another setting, including the seed.
const UNCOMPARED: [&str; 4] = ["title", "description", "training.seed", "evaluation"];

/// A collection as one JSON object. `found` has the planned runs, with their results in `settings`.
pub fn to_json(
    settings: &[Setting],
    found: &FoundRuns,
    threshold: f64,
    fresh: Option<usize>,
) -> String {
    let spread = |spread: Spread| {
        Written::new(vec![
            ("sequences", json!(spread.sequences)),
            ("runs", json!(spread.runs)),
            ("median", json!(Number(spread.median))),
            ("min", json!(Number(spread.lowest))),
            ("max", json!(Number(spread.highest))),
        ])
    };
    let run_outcome = |(run, outcome, success): RunOutcome| {
        let first = outcome.first_below;
        let half_width = run.fresh.map(|fresh| fresh.half_width.map(Number));
        Written::new(vec![
            ("folder", json!(file::label(&run.folder))),
            ("seed", json!(run.experiment.training.seed.to_string())),
            ("finished", json!(run.state == State::Finished)),
            ("state", json!(run.state.word())),
            ("failure", json!(run.state.failure())),
            ("success", json!(success)),
            ("sequences", json!(first.map(|point| point.sequences))),
            ("seconds", json!(first.map(|point| Number(point.seconds)))),
            ("last", json!(outcome.last.map(Number))),
            ("worst_after", json!(outcome.worst_after.map(Number))),
            ("best", json!(outcome.best.map(Number))),
            ("fresh", json!(run.fresh_bits().map(Number))),
            ("fresh_half_width", json!(half_width)),
        ])
    };
    let setting = |setting: &Setting| SettingForm {
        setting: setting.label.clone(),
        changes: setting.changes.clone(),
        summary: setting.summary(threshold, fresh.is_some()),
        curve: setting.curve().into_iter().map(spread).collect(),
        each: setting
            .each(threshold, fresh.is_some())
            .map(run_outcome)
            .collect(),
    };
    let missing = found.missing.iter();
    file::json(&CollectionForm {
        format: "tapescope-sweep",
        version: "1.1",
        threshold,
        fresh_episodes: fresh,
        settings: settings.iter().map(setting).collect(),
        planned: found.planned.len(),
        never_started: missing.map(|(folder, _)| file::label(folder)).collect(),
    })
}

#[derive(Serialize)]
struct CollectionForm {
    format: &'static str,
    version: &'static str,
    threshold: f64,
    fresh_episodes: Option<usize>,
    settings: Vec<SettingForm>,
    planned: usize,
    never_started: Vec<String>,
}

#[derive(Serialize)]
struct SettingForm {
    setting: String,
    changes: BTreeMap<String, String>,
    #[serde(flatten)]
    summary: Summary,
    curve: Vec<Written>,
    each: Vec<Written>,
}

#[cfg(test)]
mod tests {
    use super::super::tests::{experiment, points, write_run};
    use super::super::{run_name, write_plan};
    use super::*;
    use crate::train::{Evaluation, Measurement};
    use serde_json::Value;

    #[test]
    fn runs_are_found_and_damaged_ones_are_named() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        write_run(&at("a/seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(&at("a/seed=2"), &experiment(2, &[]), &[1.0]);
        let broke = Failure::Failed("it broke".into());
        broke.write(&at("a/seed=2")).unwrap();
        for (folder, file, text) in [
            ("b/damaged", LOG, "rubbish\n"),
            ("b/empty", LOG, ""),
            ("c", "notes.txt", "no run"),
        ] {
            fs::create_dir_all(at(folder)).unwrap();
            fs::write(at(folder).join(file), text).unwrap();
        }

        let found = find(&[place.path().to_owned(), at("a")], false).unwrap();
        let runs = found.runs.into_iter();
        let runs: Vec<_> = runs.map(|run| (run.points.len(), run.state)).collect();
        assert_eq!(runs, [(2, State::Finished), (1, State::Failed(broke))]);
        let damaged: Vec<String> = found.damaged.iter().map(ToString::to_string).collect();
        assert_eq!(damaged.len(), 2);
        assert!(damaged[0].contains("damaged/history.ntmlog.jsonl: `line 1`: "));
        assert!(damaged[1].ends_with("empty/history.ntmlog.jsonl: is empty"));
        let none = find(&[at("c")], false).unwrap_err().to_string();
        assert!(none.contains("c: contains no training run"), "{none}");
        assert!(matches!(
            find(&[at("nowhere")], false),
            Err(Error::Read(..))
        ));

        Failure::forget(&at("a/seed=2")).unwrap();
        let found = find(&[at("a")], false).unwrap();
        assert_eq!(found.runs[1].state, State::Interrupted);
    }

    #[test]
    fn a_folder_that_was_too_deep_is_searched_when_it_is_given() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("1/2/3/4/5/6/7");
        write_run(&deep.join("seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(
            &place.path().join("seed=2"),
            &experiment(2, &[]),
            &[1.0, 0.5],
        );
        let found = find(&[place.path().to_owned(), deep], false).unwrap();
        assert_eq!(found.runs.len(), 2);
    }

    #[test]
    fn planned_runs_that_never_started_are_listed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sweep");
        let names = |seeds: std::ops::Range<u64>| seeds.map(|seed| run_name(&[], seed)).collect();
        write_plan(&folder, names(1..3)).unwrap();
        let found = find(std::slice::from_ref(&folder), false).unwrap();
        let counts = [found.runs.len(), found.planned.len(), found.missing.len()];
        assert_eq!(counts, [0, 2, 2]);
        // Another shard, or the same sweep with more seeds.
        write_plan(&folder, names(2..5)).unwrap();
        write_run(&folder.join("seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(&folder.join("seed=3"), &experiment(3, &[]), &[1.0]);
        let full = Failure::Failed("no space left".into());
        fs::create_dir(folder.join("seed=4")).unwrap();
        full.write(&folder.join("seed=4")).unwrap();
        let found = find(&[place.path().to_owned()], false).unwrap();
        assert_eq!((found.runs.len(), found.planned.len()), (2, 4));
        let missing = [("seed=2", None), ("seed=4", Some(full))];
        let missing = missing.map(|(name, why)| (folder.join(name), why));
        assert_eq!(found.missing, missing);
        assert!(found.damaged.is_empty());
        let newer = r#"{"format":"tapescope-plan","version":"2.0"}"#;
        fs::write(folder.join("plan-00000000.json"), newer).unwrap();
        let found = find(&[folder], false).unwrap();
        assert_eq!((found.planned.len(), found.damaged.len()), (4, 1));
    }

    fn run(seed: u64, changed: &[&str], bits: &[f64]) -> Run {
        Run {
            folder: format!("{seed}").into(),
            experiment: experiment(seed, changed),
            changed: String::new(),
            task_since: 0,
            points: points(bits),
            unbacked: 0,
            trained: None,
            state: match bits.len() {
                2 => State::Finished,
                _ => State::Interrupted,
            },
            fresh: None,
        }
    }

    fn labels_of(settings: &[Setting]) -> Vec<&str> {
        settings.iter().map(|s| s.label.as_str()).collect()
    }

    #[test]
    fn settings_differ_in_more_than_the_seed() {
        let [small, large] = [["model.memory.rows=64"], ["model.memory.rows=1000"]];
        let [titled, named] = [
            ["model.memory.rows=64", "title=X"],
            ["name=other", "model.memory.rows=5"],
        ];
        let settings = |runs: &[(u64, &[&str])]| {
            let run = |&(seed, changed): &(u64, &[&str])| run(seed, changed, &[]);
            by_setting(runs.iter().map(run).collect())
        };
        let (found, twice) = settings(&[
            (2, &large),
            (1, &small),
            (1, &large),
            (1, &large),
            (1, &titled),
        ]);
        assert_eq!(labels_of(&found), ["rows=64", "rows=1000"]);
        assert_eq!(twice.len(), 2);
        let seeds = found[1].runs.iter().map(|run| run.experiment.training.seed);
        assert_eq!(seeds.collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found[0].changes["model.memory.rows"], "64");

        let (one, _) = settings(&[(1, &[]), (2, &[])]);
        assert_eq!(labels_of(&one), ["copy"]);
        let (two, _) = settings(&[(1, &[]), (1, &small), (1, &named)]);
        let labels = ["other", "copy, rows=64", "copy, rows=128"];
        assert_eq!(labels_of(&two), labels);
    }

    #[test]
    fn a_changed_run_is_grouped_by_its_final_preset() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        write_run(
            &at("easy"),
            &experiment(1, &["task.length=[1,2]"]),
            &[0.01, 0.02],
        );
        write_run(&at("hard"), &experiment(1, &[]), &[7.0, 5.0]);
        let begun = experiment(2, &["task.length=[1,2]"]);
        write_run(&at("changed"), &begun, &[0.01]);
        let log = at("changed").join(LOG);
        let text = fs::read_to_string(&log).unwrap();
        let change = r#"{"change":{"sequences":10,"set":["task.length=[1,20]"]}}"#;
        fs::write(&log, text + change + "\n").unwrap();
        let runs = || find(&[place.path().to_owned()], false).unwrap().runs;
        let (settings, twice) = by_setting(runs());
        assert!(twice.is_empty());
        let labels = [
            "length=[1,20]",
            "length=[1,2]",
            "changed=task.length=[1,20], length=[1,20]",
        ];
        let mut found = labels_of(&settings);
        found.sort_unstable();
        let mut expected = labels.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let changed = settings.iter().find(|s| s.changes.contains_key("changed"));
        let changed = changed.unwrap();
        assert_eq!(changed.runs[0].experiment.task, experiment(1, &[]).task);
        // Results on the easier task do not count for this one.
        assert_eq!(changed.summary(0.1, false).successes, 0);
        assert!(changed.summary(0.1, false).best.is_none() && changed.curve().is_empty());
        let mut run = changed.runs[0].clone();
        run.points = points(&[0.01, 4.0, 6.0]);
        let setting = Setting {
            runs: vec![run],
            ..changed.clone()
        };
        let best = setting.summary(0.1, false).best.unwrap();
        assert_eq!((best.worst, setting.curve().len()), (Number(4.0), 2));
    }

    #[test]
    fn settings_are_sorted_with_values_that_are_not_numbers() {
        let names = ["-5", "+nan", "1", "+9", "x", "nan", "-nan"];
        let run = |(seed, name): (u64, &&str)| run(seed, &[&format!("name=\"{name}\"")], &[]);
        let (settings, _) = by_setting((1..).zip(&names).map(run).collect());
        let labels = ["-nan", "-5", "1", "+9", "x", "+nan", "nan"];
        assert_eq!(labels_of(&settings), labels);
    }

    #[test]
    fn runs_and_plans_are_counted_once() {
        let place = tempfile::tempdir().unwrap();
        let z = place.path().join("z");
        let names = (1..3).map(|seed| run_name(&[], seed)).collect();
        write_plan(&z, names).unwrap();
        write_run(&z.join("seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(&z, z.join("again")).unwrap();
        let dotted = z.join("..").join("z").join(".");
        let found = find(&[z.clone(), z.join(""), dotted, z.join("seed=1")], false).unwrap();
        let missing: Vec<_> = found.missing.iter().map(|(folder, _)| folder).collect();
        assert_eq!((found.runs.len(), found.planned.len()), (1, 2));
        assert_eq!(missing, [&z.join("seed=2")]);
    }

    #[test]
    fn a_summary_counts_and_compares() {
        let curves: [&[f64]; 4] = [&[0.05, 3.0], &[1.0, 0.02], &[1.0, f64::NAN], &[1.0]];
        let runs = (1..).zip(curves).map(|(seed, bits)| run(seed, &[], bits));
        let (mut settings, _) = by_setting(runs.collect());
        let summary = settings[0].summary(0.1, false);
        let counts = [summary.runs, summary.finished, summary.successes];
        assert_eq!(counts, [4, 3, 2]);
        let pair = |median, worst| {
            let [median, worst] = [median, worst].map(Number);
            Some(MedianAndWorst { median, worst })
        };
        assert_eq!(summary.sequences, pair(15.0, 20.0));
        assert_eq!(summary.seconds, pair(0.5, 1.0));
        assert_eq!(summary.worst_after, Some(Number(3.0)));
        assert_eq!(summary.last, pair(2.0, f64::INFINITY));
        assert_eq!(summary.fresh, None);
        let fresh = |bits_per_sequence, half_width| {
            let mean = Evaluation {
                bits_per_sequence,
                ..Evaluation::default()
            };
            Some(Measurement {
                mean,
                half_width,
                ..Measurement::default()
            })
        };
        settings[0].runs[1].fresh = fresh(0.01, Some(0.002));
        settings[0].runs[2].fresh = fresh(0.3, None);
        let summary = settings[0].summary(0.1, true);
        assert_eq!((summary.successes, summary.fresh), (1, pair(0.155, 0.3)));

        let json = to_json(&settings, &FoundRuns::default(), 0.1, Some(7));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["fresh_episodes"], 7);
        let setting = &json["settings"][0];
        assert_eq!(setting["sequences"]["worst"], 20.0);
        assert_eq!(setting["last"]["worst"], "Infinity");
        assert_eq!(setting["curve"][0]["runs"], 4);
        assert_eq!(setting["each"][1]["success"], true);
        assert_eq!(setting["each"][1]["fresh"], 0.01);
        assert_eq!(setting["each"][1]["fresh_half_width"], 0.002);
        assert_eq!(setting["each"][2]["fresh_half_width"], Value::Null);
    }
}
