//! The folder of a run: one writer, nothing foreign overwritten, and what is in it belongs together.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use tapescope::io::{Experiment, RunFolder, log, weights};
use tapescope::learn::Snapshots;
use tapescope::model::Model;
use tapescope::train::Trainer;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
    "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
    "training": {"sequences": 40, "validation_every": 10, "validation_episodes": 2}}"#;
const LOG: &str = "history.ntmlog.jsonl";
const PRESET: &str = "preset.json";
const WEIGHTS: &str = "weights.safetensors";

fn tapescope(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_tapescope");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.output().unwrap()
}

fn said(done: &Output) -> String {
    String::from_utf8(done.stderr.clone()).unwrap()
}

/// Every file of a folder, by its name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(entry.path()).unwrap())
    };
    entries.map(file).collect()
}

/// A folder with `tiny.json`, and the run `done` of it.
fn with_a_run() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.json"), TINY).unwrap();
    let done = tapescope(place.path(), &["train", "tiny.json", "--out", "done"]);
    assert!(done.status.success(), "{done:?}");
    place
}

#[test]
fn foreign_folders_stay_unchanged() {
    let place = with_a_run();
    let run = files(&place.path().join("done"));
    let newer = String::from_utf8(run[PRESET].clone()).unwrap();
    let newer = newer.replacen('{', r#"{"from_the_future": 1,"#, 1);
    let other = TINY.replace("40", "50").into_bytes();
    let log = || (LOG, run[LOG].clone());
    let cases = [
        (
            "preset",
            vec![(PRESET, TINY.as_bytes().to_vec())],
            "it contains preset.json but no history.ntmlog.jsonl",
        ),
        (
            "weights",
            vec![(WEIGHTS, run[WEIGHTS].clone())],
            "it contains weights.safetensors but no ",
        ),
        (
            "notes",
            vec![("notes.txt", b"mine".to_vec())],
            "it contains notes.txt but no ",
        ),
        (
            "lock",
            vec![("run.lock", b"mine".to_vec())],
            "it contains run.lock but no ",
        ),
        (
            "log",
            vec![(LOG, b"mine\n".to_vec())],
            "log/history.ntmlog.jsonl: `line 1`: ",
        ),
        (
            "newer",
            vec![log(), (PRESET, newer.into_bytes())],
            "newer/preset.json: `from_the_future`: ",
        ),
        (
            "other",
            vec![log(), (PRESET, other)],
            "preset.json belongs to another preset than ",
        ),
        (
            "torn",
            vec![log(), (WEIGHTS, b"mine".to_vec())],
            "torn/weights.safetensors: ",
        ),
    ];
    for (name, contents, why) in cases {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        for (file, bytes) in contents {
            std::fs::write(folder.join(file), bytes).unwrap();
        }
        let before = files(&folder);
        for force in [&[][..], &["--force"]] {
            let arguments = ["train", "tiny.json", "--out", name];
            let done = tapescope(place.path(), &[&arguments, force].concat());
            assert_eq!(files(&folder), before, "{name}");
            let said = said(&done);
            assert_eq!(done.status.code(), Some(2), "{name}: {said}");
            assert!(
                said.contains("is not a run folder") && said.contains(why),
                "{said}"
            );
        }
    }
}

#[test]
fn a_preset_is_not_replaced_by_its_own_run() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join(PRESET), TINY).unwrap();
    let before = files(place.path());
    let done = tapescope(place.path(), &["train", PRESET, "--out", ".", "--force"]);
    assert_eq!(files(place.path()), before);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

#[test]
fn a_run_is_replaced_only_with_force_and_completely() {
    let place = with_a_run();
    let folder = place.path().join("done");
    std::fs::write(folder.join("notes.txt"), "beside a log").unwrap();
    // A run that came to no weights has its log.
    std::fs::remove_file(folder.join(WEIGHTS)).unwrap();
    let before = files(&folder);
    let again = ["train", "tiny.json", "--out", "done", "--seed", "2"];
    let done = tapescope(place.path(), &again);
    assert_eq!(files(&folder), before);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        said(&done).contains("done: contains a run of 40/40 sequences; choose another "),
        "{}",
        said(&done)
    );
    let done = tapescope(place.path(), &[&again[..], &["--force"]].concat());
    assert!(done.status.success(), "{done:?}");
    let after = files(&folder);
    assert_eq!(after["notes.txt"], b"beside a log");
    let names: Vec<&str> = after.keys().map(String::as_str).collect();
    assert_eq!(names, [LOG, "notes.txt", PRESET, WEIGHTS]);
    assert_eq!(
        log::read(&folder.join(LOG))
            .unwrap()
            .experiment
            .training
            .seed,
        2
    );
    assert_eq!(
        Experiment::read(&folder.join(PRESET), &[])
            .unwrap()
            .training
            .seed,
        2
    );
}

/// What is asked first may be answered by a file that is gone a moment later: what decides is asked again
/// when the folder is locked, also from inside one process.
#[test]
fn a_locked_folder_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let experiment = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let held = RunFolder::create(&folder, &experiment, "tapescope train one", false).unwrap();
    let before = files(&folder);
    for replace in [false, true] {
        let refused = RunFolder::create(&folder, &experiment, "two", replace).unwrap_err();
        assert!(
            refused.to_string().ends_with(&format!(
                "run: is being written by process {}: tapescope train one",
                std::process::id()
            )),
            "{refused}"
        );
        assert_eq!(files(&folder), before);
    }
    drop(held);
    assert!(RunFolder::create(&folder, &experiment, "two", true).is_ok());
}

#[test]
#[cfg(unix)]
fn two_runs_in_one_folder_do_not_mix() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.json"), TINY).unwrap();
    let arguments = ["train", "tiny.json", "--out", "run", "--force", "--seed"];
    let endless = ["1", "--sequences", "1000000000000"];
    let mut first = Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args([&arguments[..], &endless].concat())
        .current_dir(place.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(first.stderr.take().unwrap());
    errors.read_line(&mut String::new()).unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    let second = tapescope(place.path(), &[&arguments[..], &["2"]].concat());
    let seed = |file: &str| {
        let path = place.path().join("run").join(file);
        let experiment = match file {
            LOG => log::read(&path).unwrap().experiment,
            PRESET => Experiment::read(&path, &[]).unwrap(),
            _ => tapescope::io::weights::read(&path).unwrap().experiment,
        };
        experiment.training.seed
    };
    let seeds = [LOG, PRESET, WEIGHTS].map(seed);
    let pid = first.id();
    first.kill().unwrap();
    first.wait().unwrap();
    reader.join().unwrap().unwrap();
    assert_eq!(second.status.code(), Some(2), "{second:?}");
    let holder = format!(
        "error: run: is being written by process {pid}: tapescope train tiny.json --out run --force --seed 1 "
    );
    assert!(said(&second).starts_with(&holder), "{}", said(&second));
    assert_eq!(seeds, [1, 1, 1]);
    // The lock of the dead is free.
    let third = tapescope(place.path(), &[&arguments[..], &["2"]].concat());
    assert!(third.status.success(), "{third:?}");
    assert_eq!([LOG, PRESET, WEIGHTS].map(seed), [2, 2, 2]);
    assert!(!place.path().join("run/run.lock").exists());
}

#[test]
fn resuming_a_finished_or_missing_run_is_reported() {
    let place = with_a_run();
    let before = files(&place.path().join("done"));
    let done = tapescope(place.path(), &["train", "--resume", "done"]);
    assert!(done.status.success(), "{done:?}");
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(
        out.starts_with("done: finished after all 40 sequences\n"),
        "{out}"
    );
    assert_eq!(files(&place.path().join("done")), before);
    std::fs::create_dir(place.path().join("empty")).unwrap();
    for folder in ["nowhere", "empty"] {
        let done = tapescope(place.path(), &["train", "--resume", folder]);
        assert_eq!(done.status.code(), Some(2));
        assert_eq!(
            said(&done),
            format!("error: {folder}: contains no run that can be resumed\n")
        );
    }
    for arguments in [
        &["tiny.json"][..],
        &["--seed", "2"],
        &["--force"],
        &["--set", "a=1"],
        &["--from", "x"],
    ] {
        let done = tapescope(
            place.path(),
            &[&["train", "--resume", "done"], arguments].concat(),
        );
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(
            said(&done).contains("cannot be used with"),
            "{}",
            said(&done)
        );
    }
}

#[test]
fn a_path_through_a_file_is_no_folder() {
    let place = with_a_run();
    for (arguments, path) in [
        (
            &["train", "tiny.json", "--out", "tiny.json"][..],
            "tiny.json",
        ),
        (
            &["train", "tiny.json", "--out", "tiny.json/x"],
            "tiny.json/x",
        ),
        (&["train", "--resume", "tiny.json"], "tiny.json"),
        (&["train", "tiny.json", "--out", "/dev/null"], "/dev/null"),
    ] {
        if cfg!(windows) {
            return;
        }
        let done = tapescope(place.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert_eq!(
            said(&done),
            format!(
                "error: {path}: is a file, or inside one; expected a run folder or, for --out, a new folder\n"
            )
        );
    }
    let done = tapescope(place.path(), &["trace", "done", "--out", "none/x.json"]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

#[test]
fn a_run_starts_from_given_weights() {
    let place = with_a_run();
    let again = ["train", "tiny.json", "--seed", "2", "--from", "done"];
    let done = tapescope(place.path(), &[&again[..], &["--out", "a"]].concat());
    assert!(done.status.success(), "{done:?}");
    let done = tapescope(
        place.path(),
        &["train", "tiny.json", "--seed", "2", "--out", "b"],
    );
    assert!(done.status.success(), "{done:?}");
    let first = |run: &str| log::read(&place.path().join(run).join(LOG)).unwrap();
    let bits = |run: &str| first(run).points[0].training_bits;
    assert!(bits("a") < bits("b"), "{} {}", bits("a"), bits("b"));
    assert!(
        first("a").command.ends_with("--from done --out a"),
        "{}",
        first("a").command
    );
    // A run that replaces the weights that it began with keeps them, so that it can be repeated.
    let own = ["train", "tiny.json", "--seed", "2", "--force"];
    for (from, out) in [("a", "a"), ("b/weights.safetensors", "./b")] {
        let done = tapescope(
            place.path(),
            &[&own[..], &["--from", from, "--out", out]].concat(),
        );
        assert!(done.status.success(), "{done:?}");
        let again = format!("{out}-again");
        let done = tapescope(place.path(), &["train", "--repeat", out, "--out", &again]);
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(text.contains("bit for bit"), "{done:?}");
    }
    let larger = ["--set", "model.controller.size=7", "--out", "c"];
    let done = tapescope(place.path(), &[&again[..], &larger].concat());
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert_eq!(
        said(&done),
        "error: --from done: shapes differ: `controller0.weight` is [12, 20] there, [14, 28] in tiny.json\n"
    );
    assert!(!place.path().join("c").exists());
}

/// What is said, and done, where the run `killed` of this place has lost its snapshots; it ends as `kept` has.
fn goes_on_without_broken_snapshots(place: &Path) {
    for new in [false, true] {
        let broken = place.join(if new { "anew" } else { "without" });
        std::fs::create_dir(&broken).unwrap();
        for file in std::fs::read_dir(place.join("killed")).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), broken.join(file.file_name())).unwrap();
        }
        let name = broken.file_name().unwrap().to_str().unwrap();
        let [snapshots, checkpoint] =
            ["snapshots", "checkpoint"].map(|file| broken.join(file).with_extension("safetensors"));
        let whole = std::fs::read(&snapshots).unwrap();
        std::fs::write(&snapshots, &whole[..whole.len() - 4]).unwrap();
        let before = std::fs::read(&checkpoint).unwrap();
        let mut arguments = vec!["train", "--resume", name];
        arguments.extend(new.then_some("--snapshots"));
        let refused = tapescope(place, &arguments);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let expected = format!(
            "error: {name}: cannot be resumed with its training snapshots: {name}/snapshots.safetensors: is not a \
             complete safetensors file: incomplete metadata, file not fully covered; all other files are intact. Rename \
             snapshots.safetensors to resume without the earlier snapshots, or, with --snapshots, with new ones from here \
             on\n"
        );
        assert_eq!(said(&refused), expected);
        assert_eq!(std::fs::read(&checkpoint).unwrap(), before);
        assert_eq!(std::fs::read(&snapshots).unwrap().len(), whole.len() - 4);

        std::fs::rename(&snapshots, broken.join("broken")).unwrap();
        let done = tapescope(place, &arguments);
        assert!(done.status.success(), "{done:?}");
        let [here, kept] = [&broken, &place.join("kept")]
            .map(|run| weights::read(&run.join(WEIGHTS)).unwrap().machine);
        assert_eq!(here, kept);
        let found = RunFolder::snapshots_at(&broken).unwrap();
        let first = found.map(|(_, all)| all.all()[0].sequences);
        assert_eq!(first, new.then_some(17));
    }
}

#[test]
fn snapshots_change_nothing_and_survive_resume() {
    let place = with_a_run();
    let arguments = ["train", "tiny.json", "--out", "kept", "--snapshots"];
    let done = tapescope(place.path(), &arguments);
    assert!(done.status.success(), "{done:?}");
    let [plain, kept] = ["done", "kept"].map(|run| {
        let path = place.path().join(run).join(WEIGHTS);
        weights::read(&path).unwrap().machine
    });
    assert_eq!(plain, kept);
    let read = |run: &str| RunFolder::snapshots_at(&place.path().join(run)).unwrap();
    assert!(read("done").is_none());
    let (experiment, whole) = read("kept").unwrap();
    let first = Model::new(experiment.model.clone(), experiment.training.seed);
    assert_eq!(*whole.all()[0].machine, first);
    assert_eq!(whole.all().last().unwrap().sequences, 40);
    let best = whole.all().iter().rfind(|one| one.is_best).unwrap();
    assert_eq!(*best.machine, kept);

    // As a run is left that was killed after 25 sequences, and had its last checkpoint at 17.
    let path = place.path().join("killed");
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let mut folder = RunFolder::create(&path, &experiment, "begun", false).unwrap();
    let mut trainer = Trainer::new(task, experiment.model.clone(), training, 1);
    let mut snapshots = Snapshots::new(Snapshots::LIMIT);
    snapshots.keep(&trainer, None, None);
    while trainer.state.sequences < 25 {
        let update = trainer.update().unwrap();
        if update.validated.is_some() {
            folder.validated(&trainer.state).unwrap();
        }
        snapshots.keep(&trainer, update.validated, None);
        if trainer.state.sequences == 17 {
            folder.checkpoint(&trainer.state).unwrap();
        }
    }
    folder.keep_snapshots(&snapshots).unwrap();
    drop(folder);
    goes_on_without_broken_snapshots(place.path());
    let done = tapescope(place.path(), &["train", "--resume", "killed"]);
    assert!(done.status.success(), "{done:?}");
    let machines = |all: &Snapshots| {
        let all = all.all().iter();
        all.map(|one| (one.sequences, one.is_best, one.machine.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(machines(&read("killed").unwrap().1), machines(&whole));

    // They belong to their run, and go with it.
    let snapshots = place.path().join("kept/snapshots.safetensors");
    let other = [
        "train",
        "tiny.json",
        "--out",
        "kept",
        "--force",
        "--seed",
        "3",
    ];
    std::fs::write(&snapshots, "mine").unwrap();
    let refused = tapescope(place.path(), &other);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(said(&refused).contains("is not a run folder"));
    std::fs::copy(
        place.path().join("killed/snapshots.safetensors"),
        &snapshots,
    )
    .unwrap();
    assert!(tapescope(place.path(), &other).status.success());
    assert!(!snapshots.exists());
}

/// The disk is full when the run that replaces another one begins: what stands stays.
#[test]
#[cfg(unix)]
fn a_run_that_cannot_be_replaced_for_want_of_space_is_whole() {
    let place = with_a_run();
    let folder = place.path().join("done");
    let before = files(&folder);
    for from in ["", "--from done"] {
        let command = format!(
            "ulimit -f 8; trap '' XFSZ; exec \"$0\" train tiny.json --out done --seed 2 --force {from}"
        );
        let done = Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_tapescope")])
            .current_dir(place.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let said = said(&done);
        assert!(
            said.contains(".safetensors: cannot be written: File too large")
                && said.ends_with("; the earlier run in done is unchanged\n"),
            "{said}"
        );
        assert_eq!(files(&folder), before);
    }
}

#[test]
fn a_replacement_resumes_and_the_old_run_stays_until_it_has_weights() {
    let place = with_a_run();
    let folder = place.path().join("done");
    let old = weights::read(&folder.join(WEIGHTS)).unwrap();
    let mut experiment = old.experiment.clone();
    experiment.training.seed = 2;
    drop(RunFolder::create(&folder, &experiment, "begun", true).unwrap());
    let evaluated = tapescope(place.path(), &["eval", "done", "--episodes", "2"]);
    assert!(evaluated.status.success(), "{evaluated:?}");
    assert_eq!(weights::read(&folder.join(WEIGHTS)).unwrap(), old);
    let again = tapescope(place.path(), &["train", "tiny.json", "--out", "done"]);
    assert!(
        said(&again).contains(
            "contains a run of 40/40 sequences; its replacement has started: resume that with --resume, choose"
        ),
        "{}",
        said(&again)
    );
    let done = tapescope(place.path(), &["train", "--resume", "done"]);
    assert!(done.status.success(), "{done:?}");
    let names: Vec<String> = files(&folder).into_keys().collect();
    assert_eq!(names, [LOG, PRESET, WEIGHTS]);
    let plain = ["train", "tiny.json", "--out", "plain", "--seed", "2"];
    assert!(tapescope(place.path(), &plain).status.success());
    let [here, plain] = ["done", "plain"].map(|run| {
        let path = place.path().join(run).join(WEIGHTS);
        weights::read(&path).unwrap().machine
    });
    assert_eq!(here, plain);
}

#[test]
fn a_diverged_run_does_not_replace_a_finished_run() {
    let place = with_a_run();
    let folder = place.path().join("done");
    let all = || [LOG, PRESET, WEIGHTS].map(|name| std::fs::read(folder.join(name)).unwrap());
    let before = all();
    let set = "training.optimizer.learning_rate=1e30";
    let again = [
        "train",
        "tiny.json",
        "--out",
        "done",
        "--force",
        "--set",
        set,
    ];
    let done = tapescope(place.path(), &again);
    let said = said(&done);
    assert!(!done.status.success(), "{said}");
    assert!(said.contains("is no longer finite"), "{said}");
    assert!(all() == before, "{said}");
}

#[test]
fn an_unfinished_replacement_is_removed_with_force_alone() {
    let place = with_a_run();
    let folder = place.path().join("done");
    let mut experiment = weights::read(&folder.join(WEIGHTS)).unwrap().experiment;
    experiment.training.seed = 2;
    drop(RunFolder::create(&folder, &experiment, "begun", true).unwrap());
    for name in [LOG, PRESET, WEIGHTS] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let again = tapescope(place.path(), &["train", "tiny.json", "--out", "done"]);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    let words = "contains a run of 0/40 sequences; its replacement has started";
    assert!(said(&again).contains(words), "{}", said(&again));
    let done = tapescope(place.path(), &["train", "--resume", "done"]);
    assert!(done.status.success(), "{done:?}");
    let there = weights::read(&folder.join(WEIGHTS)).unwrap();
    assert_eq!(there.experiment, experiment);
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_no_folder() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.json"), TINY).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path().join("link")).unwrap();
    for out in ["link", "link/inside"] {
        let done = tapescope(place.path(), &["train", "tiny.json", "--out", out]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert_eq!(
            said(&done),
            "error: link: is a symbolic link to nowhere, which does not exist; create that folder, or choose another one\n"
        );
    }
    std::fs::create_dir(place.path().join("nowhere")).unwrap();
    let done = tapescope(place.path(), &["train", "tiny.json", "--out", "link"]);
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn flipped_bits_in_a_checkpoint_are_detected() {
    let place = tempfile::tempdir().unwrap();
    let experiment = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let folder = place.path().join("run");
    drop(RunFolder::create(&folder, &experiment, "begun", false).unwrap());
    let path = folder.join("checkpoint.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let offset = header["machine.controller0.weight"]["data_offsets"][0].as_u64();
    let start = 8 + length + offset.unwrap() as usize;
    bytes[start] ^= 1;
    bytes[start + 4] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let done = tapescope(place.path(), &["train", "--resume", "run"]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let said = said(&done);
    let sum = header["__metadata__"]["checksum"].as_str().unwrap();
    assert!(
        said.starts_with(&format!(
            "error: run: cannot be resumed: run/checkpoint.safetensors: `__metadata__.checksum`: is {sum}; the SHA-256 of the contents is "
        )),
        "{said}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
