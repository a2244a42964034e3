//! Many training runs in one folder: their names, how far they are, and what they say together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::history::Number;
use super::preset::Override;
use super::run::{LOG, PRESET};
use super::{Error, Experiment, RunFolder, file, log};
use crate::train::{Diverged, HistoryPoint, Outcome, Spread, median, spread};

/// Where the words of a run that failed are.
pub(super) const FAILURE: &str = "error.txt";
/// How many folders below the one that is collected a run may lie.
const MOST_LEVELS: usize = 8;
/// The longest name of a run's folder; file systems allow 255 bytes.
const MOST_NAME: usize = 160;

/// The name of the folder of a run: what is changed in the preset, and the seed.
///
/// Characters that a file system or a shell could take for something else become `_`; a name that is not
/// the whole truth any more ends with the beginning of its hash.
pub fn run_name(setting: &[Override], seed: u64) -> String {
    let parts: Vec<String> = setting.iter().map(ToString::to_string).collect();
    let full = parts.join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,=+".contains(c);
    let mut name: String = full
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(MOST_NAME)
        .collect();
    if name != full {
        let hash = Sha256::digest(full.as_bytes());
        name.extend(hash.iter().take(4).map(|byte| format!("{byte:02x}")));
    }
    let comma = if name.is_empty() { "" } else { "," };
    format!("{name}{comma}seed={seed}")
}

/// How far the run in a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It has seen all its sequences, and its weights are there; or it diverged, as it would again.
    Finished,
    /// It has not begun, was stopped, or failed.
    ToDo,
    /// The folder is taken by another experiment: what is different, in words.
    Other(String),
}

/// How far the run of an experiment in this folder is. What cannot be read is to be done again.
pub fn progress(folder: &Path, experiment: &Experiment) -> Progress {
    let Ok(there) = Experiment::read(&folder.join(PRESET), &[]) else {
        return Progress::ToDo;
    };
    let difference = changes(&[&there, experiment], &IMMATERIAL)
        .into_iter()
        .next()
        .map(|(path, values)| {
            let [there, here] = [&values[0], &values[1]].map(|v| v.as_deref().unwrap_or("absent"));
            format!("`{path}` is {there} there, and {here} here")
        });
    if let Some(difference) = difference {
        return Progress::Other(difference);
    }
    if failure(folder).is_ok_and(|words| words.is_some_and(|words| is_divergence(&words))) {
        return Progress::Finished;
    }
    match log::read(&folder.join(LOG)) {
        Ok(log) if is_finished(&log.experiment, &log.points) && RunFolder::is_taken(folder) => {
            Progress::Finished
        }
        _ => Progress::ToDo,
    }
}

fn is_finished(experiment: &Experiment, points: &[HistoryPoint]) -> bool {
    let last = points.last().map_or(0, |point| point.sequences);
    last >= experiment.training.sequences
}

/// Writes down why a run failed, or that nothing is known to be wrong with it.
///
/// # Errors
/// The file cannot be written.
pub fn note_failure(folder: &Path, words: Option<&str>) -> Result<(), Error> {
    let path = folder.join(FAILURE);
    match words {
        None => file::remove(&path),
        Some(words) => {
            file::create_folder(folder)?;
            file::write_atomically(&path, |to| writeln!(to, "{words}"))
        }
    }
}

/// True for the words of a run that diverged: a result, which the same seed gives again.
pub fn is_divergence(words: &str) -> bool {
    words.contains(Diverged::WORDS)
}

/// What [`note_failure`] wrote down.
fn failure(folder: &Path) -> Result<Option<String>, Error> {
    let path = folder.join(FAILURE);
    if !file::exists(&path) {
        return Ok(None);
    }
    let words = file::read_text(&path, 1 << 20)?;
    Ok(Some(words.trim_end().to_owned()))
}

/// One training run that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Where it is.
    pub folder: PathBuf,
    /// What it learns.
    pub experiment: Experiment,
    /// The validations.
    pub points: Vec<HistoryPoint>,
    /// True when it has seen all its sequences.
    pub finished: bool,
    /// Why it ended before that, where that is known.
    pub failure: Option<String>,
    /// Bits per sequence of its best weights on fresh episodes, where they were measured.
    pub fresh: Option<f64>,
}

/// What lies in a folder of runs.
#[derive(Debug, Default)]
pub struct Found {
    /// The runs that can be read, in the order of their folders.
    pub runs: Vec<Run>,
    /// What is wrong with the others.
    pub damaged: Vec<Error>,
}

/// Finds every run in these folders and those inside them.
///
/// # Errors
/// A folder cannot be read, or none of them holds a run.
pub fn find(folders: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut places = Vec::new();
    for folder in folders {
        let before = places.len();
        collect_places(folder, MOST_LEVELS, &mut places)?;
        if places.len() == before {
            let problem =
                format!("holds no training run: there is no {LOG} in it, or in a folder inside it");
            return Err(Error::content(&file::label(folder), "", problem));
        }
    }
    places.sort();
    places.dedup();
    for folder in places {
        match read_run(&folder) {
            Ok(run) => found.runs.push(run),
            Err(error) => found.damaged.push(error),
        }
    }
    Ok(found)
}

fn collect_places(folder: &Path, levels: usize, places: &mut Vec<PathBuf>) -> Result<(), Error> {
    if file::exists(&folder.join(LOG)) {
        places.push(folder.to_owned());
        return Ok(());
    }
    let unreadable = |source| Error::Read {
        file: file::label(folder),
        source,
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() && levels > 1 {
            collect_places(&path, levels - 1, places)?;
        }
    }
    Ok(())
}

fn read_run(folder: &Path) -> Result<Run, Error> {
    let log = log::read(&folder.join(LOG))?;
    let failure = failure(folder)?;
    let finished = is_finished(&log.experiment, &log.points);
    Ok(Run {
        folder: folder.to_owned(),
        finished,
        failure: failure.filter(|_| !finished),
        experiment: log.experiment,
        points: log.points,
        fresh: None,
    })
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many runs there are.
    pub runs: usize,
    /// How many have seen all their sequences.
    pub finished: usize,
    /// How many succeeded: their best validation is below the threshold, or their best weights are on
    /// fresh episodes, where they were measured.
    pub successes: usize,
    /// Sequences until the first validation below the threshold: median and worst, over the runs with one.
    pub sequences: Option<[f64; 2]>,
    /// Seconds of training until then.
    pub seconds: Option<[f64; 2]>,
    /// Last validations: median and worst.
    pub last: Option<[f64; 2]>,
    /// The worst validation of any run after its first one below the threshold.
    pub worst_after: Option<f64>,
    /// Best validations: median and worst.
    pub best: Option<[f64; 2]>,
    /// The best weights on fresh episodes: median and worst.
    pub fresh: Option<[f64; 2]>,
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
        let of = |value: fn(&Outcome) -> Option<f64>| {
            median_and_worst(outcomes.iter().filter_map(value))
        };
        let count = |is: &dyn Fn(&Run) -> bool| self.runs.iter().filter(|run| is(run)).count();
        let after = outcomes.iter().filter_map(|outcome| outcome.worst_after);
        Summary {
            runs: self.runs.len(),
            finished: count(&|run| run.finished),
            successes: count(&|run| run.succeeded(threshold, is_fresh)),
            sequences: of(|outcome| Some(outcome.first_below?.sequences as f64)),
            seconds: of(|outcome| Some(outcome.first_below?.seconds)),
            last: of(|outcome| outcome.last),
            worst_after: after.reduce(f64::max),
            best: of(|outcome| outcome.best),
            fresh: median_and_worst(self.runs.iter().filter_map(|run| run.fresh)),
        }
    }

    /// The learning curves of all runs as one.
    pub fn curve(&self) -> Vec<Spread> {
        let curves: Vec<&[HistoryPoint]> = self.runs.iter().map(|run| &*run.points).collect();
        spread(&curves)
    }
}

fn median_and_worst(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let values: Vec<f64> = values.collect();
    let worst = values.iter().copied().reduce(f64::max)?;
    Some([median(&values)?, worst])
}

/// The runs by setting, and the folders of those left out: their setting and seed are there already.
pub fn by_setting(runs: Vec<Run>) -> (Vec<Setting>, Vec<PathBuf>) {
    let experiments: Vec<&Experiment> = runs.iter().map(|run| &run.experiment).collect();
    let all = changes(&experiments, &UNCOMPARED);
    let key = |index: usize| -> BTreeMap<String, String> {
        let values = all.iter();
        let values =
            values.filter_map(|(path, values)| Some((path.clone(), values[index].clone()?)));
        values.collect()
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

/// What does not change a run: words for people, and how the result is measured.
const IMMATERIAL: [&str; 3] = ["title", "description", "evaluation"];
/// What does not make another setting: the seed as well.
const UNCOMPARED: [&str; 4] = ["title", "description", "training.seed", "evaluation"];

/// The paths at which experiments are not all alike, with the value of each, as JSON or as bare text.
fn changes(experiments: &[&Experiment], but: &[&str]) -> BTreeMap<String, Vec<Option<String>>> {
    let mut all = BTreeMap::<String, Vec<Option<String>>>::new();
    for (index, experiment) in experiments.iter().enumerate() {
        // Our own JSON reads back.
        let value = serde_json::from_str(&experiment.to_json()).unwrap_or(Value::Null);
        let mut flat = Vec::new();
        flatten(&value, "", &mut flat);
        for (path, value) in flat {
            all.entry(path)
                .or_insert_with(|| vec![None; experiments.len()])[index] = Some(value);
        }
    }
    let is_under = |path: &str, other: &str| {
        let rest = path.strip_prefix(other);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_compared = |path: &str| !but.iter().any(|other| is_under(path, other));
    all.retain(|path, values| is_compared(path) && values.iter().any(|value| *value != values[0]));
    all
}

fn flatten(value: &Value, path: &str, to: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(value, &format!("{path}{dot}{key}"), to);
            }
        }
        Value::String(text) => to.push((path.to_owned(), text.clone())),
        other => to.push((path.to_owned(), other.to_string())),
    }
}

/// A collection as one JSON object.
pub fn to_json(settings: &[Setting], threshold: f64, fresh: Option<usize>) -> String {
    #[derive(Serialize)]
    struct Collection<'a> {
        format: &'static str,
        version: &'static str,
        threshold: f64,
        fresh_episodes: Option<usize>,
        settings: Vec<SettingForm<'a>>,
    }
    let form = |setting| SettingForm::new(setting, threshold, fresh.is_some());
    file::json(&Collection {
        format: "tapescope-sweep",
        version: "1.0",
        threshold,
        fresh_episodes: fresh,
        settings: settings.iter().map(form).collect(),
    })
}

#[derive(Serialize)]
struct SettingForm<'a> {
    setting: &'a str,
    changes: &'a BTreeMap<String, String>,
    runs: usize,
    finished: usize,
    successes: usize,
    sequences: Option<Pair>,
    seconds: Option<Pair>,
    last: Option<Pair>,
    worst_after: Option<Number>,
    best: Option<Pair>,
    fresh: Option<Pair>,
    curve: Vec<SpreadForm>,
    each: Vec<RunForm<'a>>,
}

#[derive(Serialize)]
struct Pair {
    median: Number,
    worst: Number,
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
        let summary = setting.summary(threshold, is_fresh);
        let pair = |values: Option<[f64; 2]>| {
            values.map(|values| {
                let [median, worst] = values.map(Number);
                Pair { median, worst }
            })
        };
        let spread = |spread: Spread| SpreadForm {
            sequences: spread.sequences,
            runs: spread.runs,
            median: Number(spread.median),
            min: Number(spread.lowest),
            max: Number(spread.highest),
        };
        Self {
            setting: &setting.label,
            changes: &setting.changes,
            runs: summary.runs,
            finished: summary.finished,
            successes: summary.successes,
            sequences: pair(summary.sequences),
            seconds: pair(summary.seconds),
            last: pair(summary.last),
            worst_after: summary.worst_after.map(Number),
            best: pair(summary.best),
            fresh: pair(summary.fresh),
            curve: setting.curve().into_iter().map(spread).collect(),
            each: setting
                .runs
                .iter()
                .map(|run| RunForm::new(run, threshold, is_fresh))
                .collect(),
        }
    }
}

impl<'a> RunForm<'a> {
    fn new(run: &'a Run, threshold: f64, is_fresh: bool) -> Self {
        let outcome = Outcome::of(&run.points, threshold);
        Self {
            folder: file::label(&run.folder),
            seed: run.experiment.training.seed.to_string(),
            finished: run.finished,
            failure: run.failure.as_deref(),
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
    use super::*;
    use crate::train::{Evaluation, State};

    fn overrides(texts: &[&str]) -> Vec<Override> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn experiment(seed: u64, changed: &[&str]) -> Experiment {
        let mut experiment = Experiment::find("copy", &overrides(changed)).unwrap();
        experiment.training.seed = seed;
        experiment.training.sequences = 20;
        experiment
    }

    fn points(bits: &[f64]) -> Vec<HistoryPoint> {
        let point = |(index, &bits_per_sequence): (usize, &f64)| HistoryPoint {
            sequences: 10 * (index as u64 + 1),
            seconds: index as f64,
            training_bits: 1.0,
            validation: Evaluation {
                bits_per_sequence,
                ..Evaluation::default()
            },
        };
        bits.iter().enumerate().map(point).collect()
    }

    /// Writes the folder of a run as `train` does, without weights.
    fn write_run(folder: &Path, experiment: &Experiment, bits: &[f64]) {
        let mut run = RunFolder::create(folder, experiment, "tapescope train", true).unwrap();
        let mut state = State::new(experiment.model.clone(), &experiment.training);
        for point in points(bits) {
            state.history.push(point);
            run.validated(&state).unwrap();
        }
    }

    #[test]
    fn names_of_folders_are_plain_and_different() {
        let name = |texts: &[&str]| run_name(&overrides(texts), 3);
        assert_eq!(name(&[]), "seed=3");
        assert_eq!(
            name(&["model.memory.rows=64", "training.optimizer.rate=3e-4"]),
            "model.memory.rows=64,training.optimizer.rate=0.0003,seed=3"
        );
        let odd = name(&["title=a/b c"]);
        assert!(odd.starts_with("title=a_b_c") && odd.ends_with(",seed=3"));
        assert_ne!(odd, name(&["title=a/b_c"]));
        let long = name(&[&format!("title={}", "x".repeat(500))]);
        assert!(long.len() < 200, "{}", long.len());
        assert_ne!(long, name(&[&format!("title={}", "x".repeat(501))]));
    }

    #[test]
    fn a_run_is_finished_when_its_log_and_its_weights_say_so() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("seed=1");
        let wanted = experiment(1, &[]);
        assert_eq!(progress(&folder, &wanted), Progress::ToDo);
        write_run(&folder, &wanted, &[1.0]);
        assert_eq!(progress(&folder, &wanted), Progress::ToDo);
        write_run(&folder, &wanted, &[1.0, 0.5]);
        assert_eq!(progress(&folder, &wanted), Progress::ToDo, "no weights");
        fs::write(folder.join("weights.safetensors"), "").unwrap();
        assert_eq!(progress(&folder, &wanted), Progress::Finished);
        assert_eq!(
            progress(&folder, &experiment(2, &[])),
            Progress::Other("`training.seed` is 1 there, and 2 here".into())
        );
        fs::write(folder.join(LOG), "rubbish").unwrap();
        assert_eq!(progress(&folder, &wanted), Progress::ToDo);
        note_failure(&folder, Some("error: no space left")).unwrap();
        assert_eq!(progress(&folder, &wanted), Progress::ToDo);
        let diverged = Diverged {
            tensor: "output".into(),
            step: None,
            sequences: 7,
            weights: false,
        };
        note_failure(&folder, Some(&diverged.to_string())).unwrap();
        assert_eq!(progress(&folder, &wanted), Progress::Finished);
    }

    #[test]
    fn runs_are_found_and_damaged_ones_are_named() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        write_run(&at("a/seed=1"), &experiment(1, &[]), &[1.0, 0.5]);
        write_run(&at("a/seed=2"), &experiment(2, &[]), &[1.0]);
        note_failure(&at("a/seed=2"), Some("it broke")).unwrap();
        fs::create_dir_all(at("b/damaged")).unwrap();
        fs::write(at("b/damaged").join(LOG), "rubbish\n").unwrap();
        fs::create_dir_all(at("b/empty")).unwrap();
        fs::write(at("b/empty").join(LOG), "").unwrap();
        fs::create_dir_all(at("c")).unwrap();
        fs::write(at("c/notes.txt"), "no run").unwrap();

        let found = find(&[place.path().to_owned(), at("a")]).unwrap();
        let runs: Vec<_> = found
            .runs
            .iter()
            .map(|run| (run.points.len(), run.finished, run.failure.as_deref()))
            .collect();
        assert_eq!(runs, [(2, true, None), (1, false, Some("it broke"))]);
        let damaged: Vec<String> = found.damaged.iter().map(ToString::to_string).collect();
        assert_eq!(damaged.len(), 2);
        assert!(damaged[0].contains("damaged/history.ntmlog.jsonl: `line 1`: "));
        assert!(damaged[1].ends_with("empty/history.ntmlog.jsonl: is empty"));
        let none = find(&[at("c")]).unwrap_err().to_string();
        assert!(none.contains("c: holds no training run"), "{none}");
        assert!(matches!(find(&[at("nowhere")]), Err(Error::Read { .. })));

        note_failure(&at("a/seed=2"), None).unwrap();
        assert_eq!(find(&[at("a")]).unwrap().runs[1].failure, None);
    }

    fn run(seed: u64, changed: &[&str], bits: &[f64]) -> Run {
        let experiment = experiment(seed, changed);
        Run {
            folder: format!("{seed}").into(),
            points: points(bits),
            finished: bits.len() == 2,
            failure: None,
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
        assert_eq!(summary.sequences, Some([15.0, 20.0]));
        assert_eq!(summary.seconds, Some([0.5, 1.0]));
        assert_eq!(summary.worst_after, Some(3.0));
        assert_eq!(summary.last, Some([2.0, f64::INFINITY]));
        assert_eq!(summary.fresh, None);
        settings[0].runs[1].fresh = Some(0.01);
        settings[0].runs[2].fresh = Some(0.3);
        let summary = settings[0].summary(0.1, true);
        assert_eq!((summary.successes, summary.fresh), (1, Some([0.155, 0.3])));

        let json: Value = serde_json::from_str(&to_json(&settings, 0.1, Some(7))).unwrap();
        assert_eq!(json["fresh_episodes"], 7);
        let setting = &json["settings"][0];
        assert_eq!(setting["sequences"]["worst"], 20.0);
        assert_eq!(setting["last"]["worst"], "Infinity");
        assert_eq!(setting["curve"][0]["runs"], 4);
        assert_eq!(setting["each"][1]["success"], true);
    }
}
