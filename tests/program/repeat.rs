//! A run that was changed while it ran is repeated from its log, to the same bits.

use std::path::Path;
use std::process::{Command, Output};

use tapescope::io::{Experiment, RunFolder, Trained, checkpoint, log, weights};
use tapescope::learn;
use tapescope::train::{Change, State, Trainer};

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
    "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
    "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;
const LOG: &str = "history.ntmlog.jsonl";
const CHANGES: [(u64, &[&str]); 3] = [
    (0, &["training.batch=3"]),
    (
        12,
        &[
            "training.optimizer.learning_rate=0.01",
            "training.clip.kind=global_norm",
        ],
    ),
    (30, &["task.length=[2,3]", "training.batch=5"]),
];

fn tiny() -> Experiment {
    Experiment::from_json(TINY, "tiny.json", &[]).unwrap()
}

/// Trains in a folder from a state on until so many sequences are seen, and changes what is to be changed.
fn go_on(folder: &mut RunFolder, state: State, until: u64) -> State {
    let set = |set: &[&str]| set.iter().map(|&set| set.to_owned()).collect();
    let now = tiny().after(&state.changes).unwrap();
    let mut trainer = Trainer::resume(now.task, now.training, state, 1);
    loop {
        let state = &mut trainer.state;
        if let Some((sequences, what)) = CHANGES.get(state.changes.len())
            && *sequences <= state.sequences
        {
            let change = Change {
                sequences: state.sequences,
                set: set(what),
            };
            let before = tiny().after(&state.changes).unwrap();
            let now = before.changed_by(&change).unwrap();
            learn::change(&mut trainer, now.task, now.training, change.set);
            folder.changed(&trainer.state, None).unwrap();
        } else if trainer.state.sequences >= until {
            return trainer.state;
        } else if trainer.update().unwrap().validated.is_some() {
            folder.validated(&trainer.state).unwrap();
        }
    }
}

/// A run that was changed three times, in the folder `run`.
fn changed_run() -> (tempfile::TempDir, State) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let mut folder = RunFolder::create(&path, &tiny(), "begun", false).unwrap();
    let state = State::new(tiny().model, &tiny().training);
    let state = go_on(&mut folder, state, 60);
    folder.finish().unwrap();
    (place, state)
}

fn tapescope(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn said(done: &Output) -> String {
    let text = [&done.stdout[..], &done.stderr[..]].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_changed_run_repeats_identically_on_any_threads() {
    let (place, state) = changed_run();
    let there = log::read(&place.path().join("run").join(LOG)).unwrap();
    assert_eq!(there.changes, state.changes);
    assert_eq!(there.changes.len(), 3);
    assert_eq!(there.experiment, tiny());
    let best = weights::read(&place.path().join("run/weights.safetensors")).unwrap();
    for threads in ["1", "3"] {
        let out = format!("again{threads}");
        let arguments = [
            "train",
            "--repeat",
            "run",
            "--threads",
            threads,
            "--out",
            &out,
        ];
        let done = tapescope(place.path(), &arguments);
        assert!(done.status.success(), "{done:?}");
        let same = "identical to run, bit for bit, in all 6 validations of its log";
        assert!(said(&done).contains(same), "{}", said(&done));
        let folder = place.path().join(&out);
        let again = weights::read(&folder.join("weights.safetensors")).unwrap();
        assert_eq!(again.machine, best.machine);
        assert_eq!(again.evaluation, best.evaluation);
        assert_eq!(again.changes, there.changes);
        let here = log::read(&folder.join(LOG)).unwrap();
        assert_eq!(here.changes, there.changes);
        let bits = |log: &log::Log| {
            let points = log.points.iter();
            points
                .map(|point| (point.sequences, point.validation))
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&here), bits(&there));
    }
}

#[test]
fn a_list_of_the_same_word_is_that_word() {
    let heads = |weighting: &str| {
        let heads = format!(
            r#""controller": {{"size": 5}}, "heads": {{"attention": {{"weighting": {weighting}}}}}"#
        );
        let preset = TINY.replace(r#""controller": {"size": 5}"#, &heads);
        assert_ne!(preset, TINY);
        Experiment::from_json(&preset, "tiny.json", &[])
    };
    let read = |weighting: &str| heads(weighting).unwrap();
    for word in ["soft", "hard"] {
        let [one, all] = [format!("\"{word}\""), format!("[\"{word}\", \"{word}\"]")];
        assert_eq!(read(&all), read(&one));
        assert_eq!(read(&all).to_json(), read(&one).to_json());
    }
    assert_ne!(read(r#"["soft", "hard"]"#), read(r#""soft""#));
    let said = heads(r#"["soft", "soft", "soft"]"#)
        .unwrap_err()
        .to_string();
    assert!(said.contains("a list of 3"), "{said}");
}

#[test]
fn a_loaded_run_keeps_its_changes() {
    let (place, _) = changed_run();
    let run = place.path().join("run");
    let trained = tapescope::cli::in_process::machine(run.to_str().unwrap()).unwrap();
    assert_eq!(trained.experiment, tiny());
    assert!(!trained.changes.is_empty());
    let file = std::fs::read(run.join("weights.safetensors")).unwrap();
    assert!(weights::to_bytes(&trained) == file);
}

/// A copy of the run with its log changed, repeated; what is said.
fn repeated(place: &Path, log: &str, code: i32) -> String {
    std::fs::write(place.join("copy").join(LOG), log).unwrap();
    let arguments = ["train", "--repeat", "copy", "--out", "again", "--force"];
    let done = tapescope(place, &arguments);
    assert_eq!(done.status.code(), Some(code), "{done:?}");
    said(&done)
}

#[test]
fn every_number_of_the_log_and_the_weights_is_compared_and_named() {
    let (place, _) = changed_run();
    let (run, copy) = (place.path().join("run"), place.path().join("copy"));
    std::fs::create_dir(&copy).unwrap();
    let best = run.join("weights.safetensors");
    std::fs::copy(&best, copy.join("weights.safetensors")).unwrap();
    let log = std::fs::read_to_string(run.join(LOG)).unwrap();
    let same =
        "identical to copy, bit for bit, in all 6 validations of its log, and in its weights\n";
    assert!(repeated(place.path(), &log, 0).contains(same));
    // The second validation, each number of it.
    let second = log
        .lines()
        .filter(|line| line.contains("validation\":"))
        .nth(1)
        .unwrap();
    let point: serde_json::Value = serde_json::from_str(second).unwrap();
    let keys = |value: &serde_json::Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let inner = keys(&point["validation"])
        .into_iter()
        .map(|key| format!("validation/{key}"));
    let outer = keys(&point)
        .into_iter()
        .filter(|key| !["sequences", "validation"].contains(&key.as_str()));
    for key in outer.chain(inner) {
        let mut other = point.clone();
        let value = other.pointer_mut(&format!("/{key}")).unwrap();
        *value = match value.as_u64() {
            Some(whole) => (whole + 1).into(),
            None => (value.as_f64().unwrap() * 0.5 + 0.25).into(),
        };
        let log = log.replace(second, &other.to_string());
        let is_time = key == "seconds";
        let said = repeated(place.path(), &log, i32::from(!is_time));
        let name = key.replace('/', ".");
        let expected = format!("differs from copy: {name} is ");
        assert!(
            is_time && said.contains(same) || said.contains(&expected),
            "{key}: {said}"
        );
    }
    // Points that the run never had, and a log that ends early.
    let last = log
        .lines()
        .rfind(|line| line.contains("validation\":"))
        .unwrap();
    let more = format!(
        "{log}{}\n",
        last.replace("\"sequences\":60", "\"sequences\":61")
    );
    assert!(
        repeated(place.path(), &more, 1).contains("differs from copy: 6 validations here, 7 there")
    );
    let early = log.replace(&format!("{last}\n"), "");
    let said = repeated(place.path(), &early, 0);
    let part =
        "in all 5 validations of its log; this run has 6, and its weights were not compared\n";
    assert!(said.contains(part), "{said}");
}

#[test]
fn changed_weights_are_no_repetition() {
    let (place, _) = changed_run();
    let (run, copy) = (place.path().join("run"), place.path().join("copy"));
    std::fs::create_dir(&copy).unwrap();
    let log = std::fs::read_to_string(run.join(LOG)).unwrap();
    let path = copy.join("weights.safetensors");
    let trained = weights::read(&run.join("weights.safetensors")).unwrap();
    let changed = |change: &dyn Fn(&mut Trained)| {
        let mut other = trained.clone();
        change(&mut other);
        weights::write(&path, &other).unwrap();
        repeated(place.path(), &log, 1)
    };
    let said = changed(&|trained| {
        let value = trained
            .machine
            .params
            .slices_mut()
            .flatten()
            .next()
            .unwrap();
        *value = f32::from_bits(value.to_bits() ^ 1);
    });
    assert!(said.contains("differs from copy: tensor "), "{said}");
    assert!(said.contains(", value 0: "), "{said}");
    let said = changed(&|trained| trained.experiment.title = "another".to_owned());
    assert!(
        said.contains("differs from copy: experiment in weights.safetensors"),
        "{said}"
    );
    let said = changed(&|trained| drop(trained.changes.pop()));
    assert!(
        said.contains("differs from copy: changes in weights.safetensors"),
        "{said}"
    );
    let said = changed(&|trained| trained.evaluation.as_mut().unwrap().perfect += 0.5);
    assert!(
        said.contains("differs from copy: evaluation in weights.safetensors"),
        "{said}"
    );
    let said = changed(&|trained| trained.history.truncate(1));
    assert!(
        said.contains("differs from copy: number of validations in weights"),
        "{said}"
    );
    let said = changed(&|trained| trained.history[0].training_bits += 1.0);
    assert!(
        said.contains("differs from copy: in weights.safetensors, training_bits is"),
        "{said}"
    );
    std::fs::remove_file(&path).unwrap();
    assert!(
        repeated(place.path(), &log, 0)
            .contains("of its log; its weights are missing and were not compared\n")
    );
}

/// A task that became easier would else keep its first weights for ever, and one that became harder its last.
#[test]
fn a_task_change_restarts_the_best_weights() {
    let (place, state) = changed_run();
    let log = log::read(&place.path().join("run").join(LOG)).unwrap();
    let behind: Vec<_> = log
        .points
        .iter()
        .filter(|point| point.sequences > 30)
        .collect();
    let least = behind
        .iter()
        .map(|point| point.validation)
        .min_by(|a, b| a.bits_per_sequence.total_cmp(&b.bits_per_sequence));
    assert_eq!(log.best(), least);
    assert_eq!(state.best.map(|(_, best)| best), least);
    let trained = weights::read(&place.path().join("run/weights.safetensors")).unwrap();
    assert_eq!(trained.evaluation, least);
    assert_eq!(
        (&trained.experiment, &trained.changes),
        (&tiny(), &log.changes)
    );
    // It is measured on what it learned last.
    let done = tapescope(place.path(), &["eval", "run", "--episodes", "2"]);
    let said = said(&done);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[3],
        "changed after 30 sequences: task.length=[2,3] training.batch=5"
    );
}

#[test]
fn a_changed_run_resumes_from_any_checkpoint() {
    let (place, whole) = changed_run();
    for (index, stopped) in [0, 6, 12, 20, 30, 35, 60].into_iter().enumerate() {
        let path = place.path().join(index.to_string());
        let mut folder = RunFolder::create(&path, &tiny(), "begun", false).unwrap();
        let state = State::new(tiny().model, &tiny().training);
        let state = go_on(&mut folder, state, stopped);
        folder.checkpoint(&state).unwrap();
        let (_, read) = checkpoint::read(&path.join("checkpoint.safetensors")).unwrap();
        assert_eq!(read.changes, state.changes);
        let done = read.sequences;
        drop(folder);
        // What the log says of the last change may have been lost.
        let text = std::fs::read_to_string(path.join(LOG)).unwrap();
        let header = text.find('\n').unwrap() + 1;
        std::fs::write(path.join(LOG), &text[..header.max(text.len() - 5)]).unwrap();
        let Some(resumed) = RunFolder::resume(&path, "resumed").unwrap() else {
            assert_eq!(done, 60);
            continue;
        };
        assert_eq!(resumed.experiment, tiny().after(&state.changes).unwrap());
        assert_eq!(log::read(&path.join(LOG)).unwrap().changes, state.changes);
        let mut folder = resumed.folder;
        let end = go_on(&mut folder, resumed.state, 60);
        assert_eq!(end.machines, whole.machines, "{stopped}");
        assert_eq!(end.changes, whole.changes);
    }
}

#[test]
#[cfg(unix)]
fn a_repeat_that_was_stopped_goes_on_with_the_changes_that_are_to_come() {
    let (place, state) = changed_run();
    // As a repeat that was stopped has left it.
    let path = place.path().join("again");
    let mut folder = RunFolder::create(&path, &tiny(), "begun", false).unwrap();
    let begun = State::new(tiny().model, &tiny().training);
    let half = go_on(&mut folder, begun, 20);
    folder.checkpoint(&half).unwrap();
    drop(folder);
    let done = tapescope(
        place.path(),
        &["train", "--repeat", "run", "--resume", "again"],
    );
    assert!(done.status.success(), "{done:?}");
    assert!(
        said(&done).contains("identical to run, bit for bit"),
        "{}",
        said(&done)
    );
    assert_eq!(log::read(&path.join(LOG)).unwrap().changes, state.changes);
}

/// A weights file says nothing of the validations behind its own, and a later one may be better.
#[test]
fn weights_of_a_stopped_run_are_repeated_up_to_their_validation() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let mut folder = RunFolder::create(&path, &tiny(), "begun", false).unwrap();
    let begun = State::new(tiny().model, &tiny().training);
    let stopped = go_on(&mut folder, begun, 20);
    let early = place.path().join("early.safetensors");
    std::fs::copy(path.join("weights.safetensors"), &early).unwrap();
    let whole = go_on(&mut folder, stopped, 60);
    let best = weights::read(&early).unwrap().evaluation;
    assert_ne!(best, whole.best.map(|(_, best)| best));
    let arguments = ["train", "--repeat", "early.safetensors", "--out", "again"];
    let done = tapescope(place.path(), &arguments);
    let same = "identical to early.safetensors, bit for bit";
    assert!(said(&done).contains(same), "{}", said(&done));
}

#[test]
fn weights_of_a_repeated_run_are_repeated_from_the_weights_that_are_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.json"), TINY).unwrap();
    for arguments in [
        "train tiny.json --out first",
        "train tiny.json --seed 2 --from first --out second",
        "train --repeat second --from first --out third",
        "train --repeat third/weights.safetensors --from first --out fourth",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let done = tapescope(place.path(), &arguments);
        assert!(done.status.success(), "{}", said(&done));
        let repeats = arguments[1] == "--repeat";
        assert_eq!(said(&done).contains("identical to "), repeats);
    }
}

/// A run in `path` that was begun by this command and stopped.
fn stopped(path: &Path, experiment: &Experiment, command: &str) {
    let mut folder = RunFolder::create(path, experiment, command, false).unwrap();
    let state = State::new(experiment.model.clone(), &experiment.training);
    folder.checkpoint(&state).unwrap();
}

#[test]
fn a_repeat_resumes_only_with_its_own_run() {
    let (place, _) = changed_run();
    stopped(
        &place.path().join("alone"),
        &tiny(),
        "tapescope train --repeat run",
    );
    let mut other = tiny();
    other.training.seed += 1;
    stopped(&place.path().join("other"), &other, "begun");
    for (arguments, words) in [
        (
            &["train", "--resume", "alone"][..],
            "name that run too: tapescope train --repeat RUN --resume alone",
        ),
        (
            &["train", "--repeat", "run", "--resume", "other"],
            "the resumed run has another preset",
        ),
    ] {
        let done = tapescope(place.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(said(&done).contains(words), "{}", said(&done));
    }
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    let (place, _) = changed_run();
    let run = place.path().join("run");
    let text = std::fs::read_to_string(run.join(LOG)).unwrap();
    let refused = |text: &str, words: &str, code| {
        std::fs::write(place.path().join("log.ntmlog.jsonl"), text).unwrap();
        let arguments = [
            "train",
            "--repeat",
            "log.ntmlog.jsonl",
            "--out",
            "no",
            "--force",
        ];
        let done = tapescope(place.path(), &arguments);
        assert_eq!(done.status.code(), Some(code), "{done:?}");
        assert!(said(&done).contains(words), "{}", said(&done));
    };
    refused(
        &text.replace("training.batch=3", "training.seed=3"),
        "log.ntmlog.jsonl: `line 2.change.set.training.seed`: cannot change during training: all episodes depend on it",
        2,
    );
    refused(
        &text.replace("training.batch=5", "training.batch=0"),
        "`line 7.change.set.training.batch`: is 0; allowed: 1 to 4096",
        2,
    );
    refused(
        &text.replace(r#""sequences":30,"set""#, r#""sequences":29,"set""#),
        "`sequences` is 29; expected 30 or more, as in the lines before",
        2,
    );
    refused(
        &text.replace(r#""sequences":12,"set""#, r#""sequences":13,"set""#),
        "the log has a change after 13 sequences, but the batches of this run step over it to 15",
        2,
    );
    refused(
        &text.replace(
            r#""command":"begun""#,
            r#""command":"tapescope train x --from y""#,
        ),
        "the run started from the weights of another run (tapescope train x --from y); name them with --from",
        2,
    );
    refused(
        &text.replace(
            "training.optimizer.learning_rate=0.01",
            "training.optimizer.learning_rate=0.02",
        ),
        "differs from log.ntmlog.jsonl: ",
        1,
    );
    // The last change comes behind its end, which is seen before anything is touched.
    let late = r#"{"change":{"sequences":61,"set":["training.batch=4"]}}"#;
    refused(
        &format!("{text}{late}\n"),
        "the log has a change after 61 sequences, but the run has only 60",
        2,
    );
    let before = std::fs::read(run.join(LOG)).unwrap();
    let itself = ["train", "--repeat", "run", "--out", "./run", "--force"];
    let itself = tapescope(place.path(), &itself);
    assert_eq!(itself.status.code(), Some(2));
    assert!(
        said(&itself).contains("is the folder of the repeated run"),
        "{}",
        said(&itself)
    );
    assert!(std::fs::read(run.join(LOG)).unwrap() == before);
    let nothing = tapescope(place.path(), &["train", "--repeat", "."]);
    assert!(said(&nothing).contains("is a folder without history.ntmlog.jsonl"));
}

#[test]
fn a_finished_log_with_a_change_that_its_weights_do_not_have_is_not_finished() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let mut folder = RunFolder::create(&path, &tiny(), "begun", false).unwrap();
    let mut trainer = Trainer::new(tiny().task, tiny().model, tiny().training, 1);
    while !trainer.finished() {
        if trainer.update().unwrap().validated.is_some() {
            folder.validated(&trainer.state).unwrap();
        }
    }
    folder.finish().unwrap();
    let is_finished = || RunFolder::contents(&path).unwrap().unwrap().is_finished;
    assert!(is_finished());
    let log = std::fs::read_to_string(path.join(LOG)).unwrap();
    let (header, points) = log.split_once('\n').unwrap();
    let change = r#"{"change": {"sequences": 0, "set": ["training.batch=4"]}}"#;
    std::fs::write(path.join(LOG), format!("{header}\n{change}\n{points}")).unwrap();
    assert!(!is_finished());
    let done = tapescope(
        place.path(),
        &["sweep", "--collect", ".", "--format", "json"],
    );
    assert!(said(&done).contains(r#""finished":false"#), "{done:?}");
    assert!(
        RunFolder::contents(&changed_run().0.path().join("run"))
            .unwrap()
            .unwrap()
            .is_finished
    );
}

/// The fastest two; `benches/reproduce.py` has the others.
#[test]
fn the_stored_runs_of_included_machines_give_their_weights() {
    let place = tempfile::tempdir().unwrap();
    for name in ["frames_local_predictive", "aspects_structured"] {
        let arguments = ["train", "--repeat", name, "--out", name];
        let done = tapescope(place.path(), &arguments);
        let expected = format!("identical to {name}, bit for bit\n");
        assert!(said(&done).contains(&expected), "{}", said(&done));
        assert!(done.status.success());
    }
}

/// The command of a file trains what the file stores.
#[test]
fn stored_commands_train_the_stored_experiments() {
    for trained in weights::all_included().unwrap() {
        let words: Vec<&str> = trained.command.split(' ').collect();
        let ["tapescope", "train", preset, "--seed", seed] = words[..] else {
            panic!("{}", trained.command);
        };
        let mut experiment = Experiment::find(preset, &[]).unwrap();
        experiment.training.seed = seed.parse().unwrap();
        assert_eq!(experiment, trained.experiment, "{}", trained.command);
    }
}
