//! What many runs say together: runs that differ in nothing but their seed are a setting.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::state::{self, State};
use super::{Failure, changes, plan};
use crate::io::measurement::Number;
use crate::io::run::LOG;
use crate::io::{Error, Experiment, file};
use crate::train::{HistoryPoint, Outcome, Spread, median_and_worst, spread};

/// How many folders below the one that is collected a run may lie.
const MOST_LEVELS: usize = 8;

/// One training run that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// What it learns.
    pub experiment: Experiment,
    /// The validations, as far as the weights bear them out.
    pub points: Vec<HistoryPoint>,
    /// How many validations of its log are left out: they speak of weights that are not there.
    pub unfounded: usize,
    /// What has become of it.
    pub state: State,
    /// Bits per sequence of its best weights on fresh episodes, where they were measured.
    pub fresh: Option<f64>,
}

/// What lies in a folder of runs.
#[derive(Debug, Default)]
pub struct Found {
    /// The runs that can be read, in the order of their folders.
    pub runs: Vec<Run>,
    /// What is wrong with the others, and with plans.
    pub damaged: Vec<Error>,
    /// The runs that the plans in these folders name.
    pub planned: BTreeSet<PathBuf>,
    /// Those of them that have not begun, with the reason where one is known.
    pub missing: Vec<(PathBuf, Option<Failure>)>,
}

/// Finds every run in these folders and those inside them.
///
/// # Errors
/// A folder cannot be read, or none of them holds a run or the plan of one.
pub fn find(folders: &[PathBuf]) -> Result<Found, Error> {
    let (mut found, mut places) = (Found::default(), BTreeSet::new());
    for folder in folders {
        if !collect_places(folder, MOST_LEVELS, &mut places, &mut found)? {
            let problem =
                format!("holds no training run: there is no {LOG} in it, or in a folder inside it");
            return Err(Error::content(&file::label(folder), "", problem));
        }
    }
    for folder in found.planned.difference(&places) {
        match Failure::read(folder) {
            Ok(failure) => found.missing.push((folder.clone(), failure)),
            Err(error) => found.damaged.push(error),
        }
    }
    for folder in places {
        match state::read(&folder) {
            Ok(standing) => found.runs.push(Run {
                folder,
                experiment: standing.log.experiment,
                points: standing.log.points,
                unfounded: standing.unfounded,
                state: standing.state,
                fresh: None,
            }),
            Err(error) => found.damaged.push(error),
        }
    }
    Ok(found)
}

/// True when there is a run or a plan in this folder, or in one inside it.
fn collect_places(
    folder: &Path,
    levels: usize,
    places: &mut BTreeSet<PathBuf>,
    found: &mut Found,
) -> Result<bool, Error> {
    if file::exists(&folder.join(LOG)) {
        places.insert(folder.to_owned());
        return Ok(true);
    }
    let unreadable = |source| Error::Read {
        file: file::label(folder),
        source,
    };
    let mut is_any = false;
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            is_any |= levels > 1 && collect_places(&path, levels - 1, places, found)?;
        } else if plan::is_plan(&path) {
            is_any = true;
            match plan::read(&path) {
                Ok(names) => found
                    .planned
                    .extend(names.iter().map(|name| folder.join(name))),
                Err(error) => found.damaged.push(error),
            }
        }
    }
    Ok(is_any)
}

/// The runs that differ in nothing but their seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// A short name that no other setting of the collection has.
    pub label: String,
    /// What is different between the settings of the collection, here: by the path in the preset.
    pub changes: BTreeMap<String, String>,
    /// The runs, in the order of their seeds.
    pub runs: Vec<Run>,
}

/// What the runs of a setting say together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many runs there are.
    pub runs: usize,
    /// How many have seen all their sequences.
    pub finished: usize,
    /// How many succeeded: their best validation is below the threshold, or their best weights are on
    /// fresh episodes, where they were measured.
    pub successes: usize,
    /// Sequences until the first validation below the threshold, over the runs with one.
    pub sequences: Option<Pair>,
    /// Seconds of training until then.
    pub seconds: Option<Pair>,
    /// Last validations.
    pub last: Option<Pair>,
    /// The worst validation of any run after its first one below the threshold.
    pub worst_after: Option<Number>,
    /// Best validations.
    pub best: Option<Pair>,
    /// The best weights on fresh episodes.
    pub fresh: Option<Pair>,
}

/// What several runs have: the middle one and the worst.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Half of the runs are at or below it.
    pub median: Number,
    /// The largest.
    pub worst: Number,
}

impl Pair {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let [median, worst] = median_and_worst(values)?.map(Number);
        Some(Self { median, worst })
    }
}

impl Run {
    /// True when the best weights are good enough: on fresh episodes where `is_fresh`, or else by validation.
    pub fn succeeded(&self, threshold: f64, is_fresh: bool) -> bool {
        let bits = if is_fresh {
            self.fresh
        } else {
            Outcome::of(&self.points, threshold).best
        };
        bits.is_some_and(|bits| bits < threshold)
    }
}

impl Setting {
    /// Judges the runs; `is_fresh` when their best weights were measured on fresh episodes.
    pub fn summary(&self, threshold: f64, is_fresh: bool) -> Summary {
        let outcome = |run: &Run| Outcome::of(&run.points, threshold);
        let outcomes: Vec<Outcome> = self.runs.iter().map(outcome).collect();
        let of = |value: fn(&Outcome) -> Option<f64>| Pair::of(outcomes.iter().filter_map(value));
        let count = |is: &dyn Fn(&Run) -> bool| self.runs.iter().filter(|run| is(run)).count();
        let after = outcomes.iter().filter_map(|outcome| outcome.worst_after);
        Summary {
            runs: self.runs.len(),
            finished: count(&|run| run.state == State::Finished),
            successes: count(&|run| run.succeeded(threshold, is_fresh)),
            sequences: of(|outcome| Some(outcome.first_below?.sequences as f64)),
            seconds: of(|outcome| Some(outcome.first_below?.seconds)),
            last: of(|outcome| outcome.last),
            worst_after: after.reduce(f64::max).map(Number),
            best: of(|outcome| outcome.best),
            fresh: Pair::of(self.runs.iter().filter_map(|run| run.fresh)),
        }
    }

    /// The learning curves of all runs as one.
    pub fn curve(&self) -> Vec<Spread> {
        let curves: Vec<&[HistoryPoint]> = self.runs.iter().map(|run| &*run.points).collect();
        spread(&curves)
    }
}

/// The runs by setting, and the folders of those left out: their setting and seed are there already.
pub fn by_setting(runs: Vec<Run>) -> (Vec<Setting>, Vec<PathBuf>) {
    let experiments: Vec<&Experiment> = runs.iter().map(|run| &run.experiment).collect();
    let all = changes(&experiments, &UNCOMPARED);
    let key = |index: usize| -> BTreeMap<String, String> {
        let values = all
            .iter()
            .filter_map(|(path, values)| Some((path, values[index].as_ref()?)));
        values
            .map(|(path, value)| (path.clone(), value.clone()))
            .collect()
    };
    let keys: Vec<_> = (0..runs.len()).map(key).collect();
    let mut settings: Vec<Setting> = Vec::new();
    let mut twice = Vec::new();
    for (run, changes) in runs.into_iter().zip(keys) {
        let known = settings
            .iter_mut()
            .find(|setting| setting.changes == changes);
        match known {
            Some(known) => {
                let seed = run.experiment.training.seed;
                let is_same = |other: &Run| other.experiment.training.seed == seed;
                if known.runs.iter().any(is_same) {
                    twice.push(run.folder);
                } else {
                    known.runs.push(run);
                }
            }
            None => settings.push(Setting {
                label: String::new(),
                changes,
                runs: vec![run],
            }),
        }
    }
    settings.sort_by(|a, b| {
        sort_key(&a.changes)
            .partial_cmp(&sort_key(&b.changes))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    for setting in &mut settings {
        setting.runs.sort_by_key(|run| run.experiment.training.seed);
    }
    for index in 0..settings.len() {
        settings[index].label = label(index, &settings);
    }
    (settings, twice)
}

/// Values in the order of their paths, numbers as numbers.
fn sort_key(changes: &BTreeMap<String, String>) -> Vec<(&str, f64, &str)> {
    changes
        .iter()
        .map(|(path, value)| {
            (
                path.as_str(),
                value.parse().unwrap_or(f64::MAX),
                value.as_str(),
            )
        })
        .collect()
}

/// The name of the experiment where there are several, then what is different among those of that name:
/// by the last part of the path, where that is clear.
fn label(index: usize, settings: &[Setting]) -> String {
    let name = |setting: &Setting| setting.runs[0].experiment.name.clone();
    let own = name(&settings[index]);
    let same: Vec<&Setting> = settings.iter().filter(|s| name(s) == own).collect();
    let differs = |path: &str| {
        let first = same[0].changes.get(path);
        same.iter()
            .any(|setting| setting.changes.get(path) != first)
    };
    let paths: Vec<&String> = settings[index]
        .changes
        .keys()
        .filter(|path| path.as_str() != "name" && differs(path))
        .collect();
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let short = |path: &str| {
        let alike = paths.iter().filter(|other| last(other) == last(path));
        if alike.count() == 1 {
            last(path)
        } else {
            path.to_owned()
        }
    };
    let mut parts: Vec<String> = paths
        .iter()
        .map(|path| format!("{}={}", short(path), settings[index].changes[*path]))
        .collect();
    if parts.is_empty() || same.len() < settings.len() {
        parts.insert(0, own);
    }
    parts.join(", ")
}

/// What does not make another setting: the seed as well.
const UNCOMPARED: [&str; 4] = ["title", "description", "training.seed", "evaluation"];

/// A collection as one JSON object. `found` says what was planned; its runs are in `settings`.
pub fn to_json(
    settings: &[Setting],
    found: &Found,
    threshold: f64,
    fresh: Option<usize>,
) -> String {
    #[derive(Serialize)]
    struct Collection<'a> {
        format: &'static str,
        version: &'static str,
        threshold: f64,
        fresh_episodes: Option<usize>,
        settings: Vec<SettingForm<'a>>,
        planned: usize,
        never_started: Vec<String>,
    }
    let form = |setting| SettingForm::new(setting, threshold, fresh.is_some());
    file::json(&Collection {
        format: "tapescope-sweep",
        version: "1.1",
        threshold,
        fresh_episodes: fresh,
        settings: settings.iter().map(form).collect(),
        planned: found.planned.len(),
        never_started: found
            .missing
            .iter()
            .map(|(folder, _)| file::label(folder))
            .collect(),
    })
}

#[derive(Serialize)]
struct SettingForm<'a> {
    setting: &'a str,
    changes: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    summary: Summary,
    curve: Vec<SpreadForm>,
    each: Vec<RunForm<'a>>,
}

#[derive(Serialize)]
struct SpreadForm {
    sequences: u64,
    runs: usize,
    median: Number,
    min: Number,
    max: Number,
}

#[derive(Serialize)]
struct RunForm<'a> {
    folder: String,
    seed: String,
    finished: bool,
    state: &'static str,
    failure: Option<&'a str>,
    success: bool,
    sequences: Option<u64>,
    seconds: Option<Number>,
    last: Option<Number>,
    worst_after: Option<Number>,
    best: Option<Number>,
    fresh: Option<Number>,
}

impl<'a> SettingForm<'a> {
    fn new(setting: &'a Setting, threshold: f64, is_fresh: bool) -> Self {
        let spread = |spread: Spread| SpreadForm {
            sequences: spread.sequences,
            runs: spread.runs,
            median: Number(spread.median),
            min: Number(spread.lowest),
            max: Number(spread.highest),
        };
        let form = |run| RunForm::new(run, threshold, is_fresh);
        Self {
            setting: &setting.label,
            changes: &setting.changes,
            summary: setting.summary(threshold, is_fresh),
            curve: setting.curve().into_iter().map(spread).collect(),
            each: setting.runs.iter().map(form).collect(),
        }
    }
}

impl<'a> RunForm<'a> {
    fn new(run: &'a Run, threshold: f64, is_fresh: bool) -> Self {
        let outcome = Outcome::of(&run.points, threshold);
        Self {
            folder: file::label(&run.folder),
            seed: run.experiment.training.seed.to_string(),
            finished: run.state == State::Finished,
            state: run.state.word(),
            failure: run.state.failure(),
            success: run.succeeded(threshold, is_fresh),
            sequences: outcome.first_below.map(|point| point.sequences),
            seconds: outcome.first_below.map(|point| Number(point.seconds)),
            last: outcome.last.map(Number),
            worst_after: outcome.worst_after.map(Number),
            best: outcome.best.map(Number),
            fresh: run.fresh.map(Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{experiment, points, write_run};
    use super::super::{run_name, write_plan};
    use super::*;
    use serde_json::Value;

    #[test]
    fn runs_are_found_and_damaged_ones_are_named() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        write_run(&at("a/seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(&at("a/seed=2"), &experiment(2, &[]), &[1.0]);
        let broke = Failure::Failed("it broke".into());
        broke.write(&at("a/seed=2")).unwrap();
        fs::create_dir_all(at("b/damaged")).unwrap();
        fs::write(at("b/damaged").join(LOG), "rubbish\n").unwrap();
        fs::create_dir_all(at("b/empty")).unwrap();
        fs::write(at("b/empty").join(LOG), "").unwrap();
        fs::create_dir_all(at("c")).unwrap();
        fs::write(at("c/notes.txt"), "no run").unwrap();

        let found = find(&[place.path().to_owned(), at("a")]).unwrap();
        let runs = found.runs.into_iter();
        let runs: Vec<_> = runs.map(|run| (run.points.len(), run.state)).collect();
        assert_eq!(runs, [(2, State::Finished), (1, State::Failed(broke))]);
        let damaged: Vec<String> = found.damaged.iter().map(ToString::to_string).collect();
        assert_eq!(damaged.len(), 2);
        assert!(damaged[0].contains("damaged/history.ntmlog.jsonl: `line 1`: "));
        assert!(damaged[1].ends_with("empty/history.ntmlog.jsonl: is empty"));
        let none = find(&[at("c")]).unwrap_err().to_string();
        assert!(none.contains("c: holds no training run"), "{none}");
        assert!(matches!(find(&[at("nowhere")]), Err(Error::Read { .. })));

        Failure::forget(&at("a/seed=2")).unwrap();
        let found = find(&[at("a")]).unwrap();
        assert_eq!(found.runs[1].state, State::Interrupted);
    }

    #[test]
    fn what_was_planned_and_has_not_begun_is_known() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sweep");
        let names = |seeds: std::ops::Range<u64>| seeds.map(|seed| run_name(&[], seed)).collect();
        write_plan(&folder, names(1..3)).unwrap();
        let found = find(std::slice::from_ref(&folder)).unwrap();
        assert_eq!(
            (found.runs.len(), found.planned.len(), found.missing.len()),
            (0, 2, 2)
        );
        // Another shard, or the same sweep with more seeds.
        write_plan(&folder, names(2..5)).unwrap();
        write_run(&folder.join("seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(&folder.join("seed=3"), &experiment(3, &[]), &[1.0]);
        let full = Failure::Failed("no space left".into());
        fs::create_dir(folder.join("seed=4")).unwrap();
        full.write(&folder.join("seed=4")).unwrap();
        let found = find(&[place.path().to_owned()]).unwrap();
        assert_eq!((found.runs.len(), found.planned.len()), (2, 4));
        let missing = [
            (folder.join("seed=2"), None),
            (folder.join("seed=4"), Some(full)),
        ];
        assert_eq!(found.missing, missing);
        assert!(found.damaged.is_empty());
        fs::write(
            folder.join("plan-00000000.json"),
            r#"{"format":"tapescope-plan","version":"2.0"}"#,
        )
        .unwrap();
        let found = find(&[folder]).unwrap();
        assert_eq!((found.planned.len(), found.damaged.len()), (4, 1));
    }

    fn run(seed: u64, changed: &[&str], bits: &[f64]) -> Run {
        let experiment = experiment(seed, changed);
        Run {
            folder: format!("{seed}").into(),
            points: points(bits),
            unfounded: 0,
            state: if bits.len() == 2 {
                State::Finished
            } else {
                State::Interrupted
            },
            fresh: None,
            experiment,
        }
    }

    #[test]
    fn settings_are_what_differs_but_the_seed() {
        let (small, large) = (["model.memory.rows=64"], ["model.memory.rows=1000"]);
        let runs = vec![
            run(2, &large, &[]),
            run(1, &small, &[]),
            run(1, &large, &[]),
            run(1, &large, &[]),
            run(1, &["model.memory.rows=64", "title=X"], &[]),
        ];
        let (settings, twice) = by_setting(runs);
        let labels: Vec<&str> = settings.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["rows=64", "rows=1000"]);
        assert_eq!(twice.len(), 2);
        let seeds: Vec<u64> = settings[1]
            .runs
            .iter()
            .map(|run| run.experiment.training.seed)
            .collect();
        assert_eq!(seeds, [1, 2]);
        assert_eq!(settings[0].changes["model.memory.rows"], "64");

        let (one, _) = by_setting(vec![run(1, &[], &[]), run(2, &[], &[])]);
        assert_eq!((one.len(), one[0].label.as_str()), (1, "copy"));
        let named = ["name=other", "model.memory.rows=5"];
        let (two, _) = by_setting(vec![
            run(1, &[], &[]),
            run(1, &small, &[]),
            run(1, &named, &[]),
        ]);
        let labels: Vec<&str> = two.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["other", "copy, rows=64", "copy, rows=128"]);
    }

    #[test]
    fn a_summary_counts_and_compares() {
        let runs = vec![
            run(1, &[], &[0.05, 3.0]),
            run(2, &[], &[1.0, 0.02]),
            run(3, &[], &[1.0, f64::NAN]),
            run(4, &[], &[1.0]),
        ];
        let (mut settings, _) = by_setting(runs);
        let summary = settings[0].summary(0.1, false);
        assert_eq!(
            (summary.runs, summary.finished, summary.successes),
            (4, 3, 2)
        );
        let pair = |median, worst| {
            let [median, worst] = [median, worst].map(Number);
            Some(Pair { median, worst })
        };
        assert_eq!(summary.sequences, pair(15.0, 20.0));
        assert_eq!(summary.seconds, pair(0.5, 1.0));
        assert_eq!(summary.worst_after, Some(Number(3.0)));
        assert_eq!(summary.last, pair(2.0, f64::INFINITY));
        assert_eq!(summary.fresh, None);
        settings[0].runs[1].fresh = Some(0.01);
        settings[0].runs[2].fresh = Some(0.3);
        let summary = settings[0].summary(0.1, true);
        assert_eq!((summary.successes, summary.fresh), (1, pair(0.155, 0.3)));

        let json: Value =
            serde_json::from_str(&to_json(&settings, &Found::default(), 0.1, Some(7))).unwrap();
        assert_eq!(json["fresh_episodes"], 7);
        let setting = &json["settings"][0];
        assert_eq!(setting["sequences"]["worst"], 20.0);
        assert_eq!(setting["last"]["worst"], "Infinity");
        assert_eq!(setting["curve"][0]["runs"], 4);
        assert_eq!(setting["each"][1]["success"], true);
    }
}
