//! Tasks of one's own: episodes in an npz, from the file to a run that goes on.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use crate::npz::{arrays, f32s, npz};
use tapescope::io::{Experiment, RunFolder, Trained, episodes, pairs, text, trace, weights};
use tapescope::task::{Episodes, HeldOut, Pair, Pairs, Task, Text, Tokens};
use tapescope::train::Recording;

const PRESET: &str = r#"{"task": {"kind": "episodes", "file": "mine.npz"},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 6}},
    "training": {"sequences": 60, "batch": 4, "validation_every": 20, "seed": 3}}"#;

/// A folder with 20 episodes and a preset of them.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("mine.npz"), npz(&arrays(20))).unwrap();
    fs::write(place.path().join("mine.json"), PRESET).unwrap();
    place
}

fn task(experiment: &Experiment) -> &Episodes {
    match &experiment.task {
        Task::Episodes(task) => task,
        other => panic!("{other:?}"),
    }
}

fn tapescope(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
    command.current_dir(place).args(arguments).output().unwrap()
}

#[track_caller]
fn refused(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
}

#[test]
fn both_layouts_and_all_dtypes_give_equal_episodes() {
    let bytes = |values: &[u8]| values.to_vec();
    let ragged = episodes::from_bytes(
        &npz(&[
            ("inputs", "<f4", vec![3, 1], f32s(&[1.0, 0.0, 1.0])),
            ("targets", "|b1", vec![3, 1], bytes(&[0, 1, 1])),
            ("mask", "|i1", vec![3], bytes(&[0, 1, 1])),
            ("lengths", "<u2", vec![2], bytes(&[2, 0, 1, 0])),
        ]),
        "r.npz",
    );
    let ragged = ragged.unwrap();
    let wide: Vec<u8> = [1.0_f64, 0.0, 1.0, 7.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let padded = episodes::from_bytes(
        &npz(&[
            ("inputs", "<f8", vec![2, 2, 1], wide),
            ("targets", "|u1", vec![2, 2, 1], bytes(&[9, 1, 1, 9])),
            ("mask", "|b1", vec![2, 2], bytes(&[0, 1, 1, 1])),
            ("lengths", "|u1", vec![2], bytes(&[2, 1])),
            (
                "input_names",
                "<U3",
                vec![1],
                "now"
                    .chars()
                    .flat_map(|c| (c as u32).to_le_bytes())
                    .collect(),
            ),
        ]),
        "p.npz",
    );
    let padded = padded.unwrap();
    assert_eq!(ragged.arrays(), padded.arrays());
    assert!(ragged.lengths().eq([2, 1]) && padded.lengths().eq([2, 1]));
    assert_eq!(episodes::sha256(&ragged), episodes::sha256(&padded));
    let mut every_other = Episodes::NONE;
    every_other.held_out = HeldOut::Every(2);
    let task = Task::Episodes(every_other.with(padded.into()).unwrap());
    assert_eq!(
        (task.input_name(0), task.output_name(0)),
        ("now".into(), "channel 0".into())
    );
    let held_out = task.episode(5, 0);
    assert_eq!(held_out.input.as_slice(), Some([1.0].as_slice()));
    let learned = task.training_episode(5, 0);
    assert_eq!(learned.target.as_slice(), Some([0.0, 1.0].as_slice()));
    let phases = learned.phases.iter().map(|p| (&*p.name, p.start, p.end));
    assert!(phases.eq([("input", 0, 1), ("answer", 1, 2)]));
}

#[test]
fn a_test_file_has_the_held_out_episodes() {
    let place = place();
    let path = place.path().join("mine.json");
    let preset = PRESET.replace(
        "\"file\": \"mine.npz\"",
        "\"file\": \"mine.npz\", \"test_file\": \"theirs.npz\"",
    );
    fs::write(&path, preset).unwrap();
    fs::write(place.path().join("theirs.npz"), npz(&arrays(3))).unwrap();
    let experiment = Experiment::read(&path, &[]).unwrap();
    assert_eq!(experiment.task.split(), Some((20, 3, HeldOut::Last(3))));
    let held_out = (0..3).map(|index| experiment.task.number(0, index));
    assert!(held_out.eq((20..23).map(Some)));
    let theirs = episodes::from_bytes(&npz(&arrays(3)), "e.npz").unwrap();
    let lengths = (0..3).map(|index| experiment.task.episode(0, index).steps());
    assert!(lengths.eq(theirs.lengths()));
    // What a run keeps of it finds the same episodes.
    let kept = place.path().join("kept.json");
    fs::write(&kept, experiment.to_json()).unwrap();
    assert_eq!(Experiment::read(&kept, &[]).unwrap().task, experiment.task);
    fs::write(place.path().join("theirs.npz"), npz(&arrays(2))).unwrap();
    let error = Experiment::read(&kept, &[]).unwrap_err().to_string();
    assert!(
        error.contains("`task.sha256`") && error.contains("theirs.npz"),
        "{error}"
    );
    fs::remove_file(place.path().join("theirs.npz")).unwrap();
    let error = Experiment::read(&path, &[]).unwrap_err().to_string();
    assert!(
        error.contains("`task.test_file`") && error.contains("does not exist"),
        "{error}"
    );
}

#[test]
fn held_out_episodes_are_never_trained_and_measured_once() {
    let place = place();
    let numbers = |experiment: &Experiment| {
        let task = &experiment.task;
        let number = |input: &ndarray::Array2<f32>| input[[0, 1]] as usize;
        let mut learned: Vec<_> = (0..1000)
            .map(|i| number(&task.training_episode(3, i).input))
            .collect();
        learned.sort_unstable();
        learned.dedup();
        let count = task.held_out().unwrap() as u64;
        let seen = (0..count).map(|i| number(&task.episode(0, i).input));
        (learned, seen.collect::<Vec<_>>())
    };
    let read = |set: &[&str]| {
        let set: Vec<_> = set.iter().map(|text| text.parse().unwrap()).collect();
        Experiment::read(&place.path().join("mine.json"), &set).unwrap()
    };
    let (learned, seen) = numbers(&read(&[]));
    assert_eq!(seen, [9, 19]);
    assert!(learned.iter().copied().eq((0..19).filter(|n| *n != 9)));
    let last = read(&["task.held_out.kind=last", "task.held_out.count=3"]);
    let (learned, seen) = numbers(&last);
    assert_eq!(seen, [17, 18, 19]);
    assert!(learned.into_iter().eq(0..17));
    assert_eq!(task(&last).counts(), (17, 3));
    // Those of some lengths.
    let (learned, seen) = numbers(&read(&["task.length=[2,3]"]));
    assert_eq!(seen, [9, 19]);
    assert!(
        learned
            .into_iter()
            .eq((0..19).filter(|n| n % 3 != 2 && *n != 9))
    );
    let short = last.task.with_size(2);
    assert_eq!(
        (short.held_out(), short.episode(0, 0).steps()),
        (Some(1), 2)
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of faults")]
fn every_fault_of_a_file_is_named_with_its_place() {
    let with = |name: &'static str, kind: &'static str, shape: &[usize], bytes: Vec<u8>| {
        let mut all = arrays(3);
        all.retain(|array| array.0 != name);
        all.push((name, kind, shape.to_vec(), bytes));
        npz(&all)
    };
    let without = |name: &str| {
        let mut all = arrays(3);
        all.retain(|array| array.0 != name);
        npz(&all)
    };
    let lengths = |all: &[i64]| {
        all.iter()
            .flat_map(|n| n.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let mut halved = f32s(&[0.5, 0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, f32::NAN]);
    let mut endless = f32s(&[0.0; 18]);
    endless[4 * 7..4 * 8].copy_from_slice(&f32::NAN.to_le_bytes());
    for (file, expected) in [
        (b"no zip".to_vec(), "e.npz: is not a complete npz file"),
        (
            without("mask"),
            "e.npz: `mask`: is missing; found: inputs, lengths, targets",
        ),
        (without("lengths"), "`lengths`: is missing"),
        // Headers are compared before any array is unpacked: the first one is broken.
        (
            npz(&[
                ("inputs", "<f4", vec![1 << 27, 4], vec![0; 70]),
                ("targets", "<f4", vec![1 << 27, 1], vec![0; 70]),
                ("mask", "|u1", vec![9], vec![0; 9]),
                ("lengths", "<i8", vec![1], lengths(&[9])),
            ]),
            "`mask`: has the shape [9]; expected [134217728], as `inputs`",
        ),
        (
            with("inputs", "<f4", &[9, 1 << 20], vec![0; 70]),
            "`inputs`: has 1048576 channels; expected 1 to 1024",
        ),
        // Missing arrays are named before any other is unpacked: the one that is there is broken.
        (
            npz(&[("inputs", "<f4", vec![9, 2], vec![0; 70])]),
            "`targets`: is missing; found: inputs",
        ),
        (
            with("inputs", "<f4", &[18], f32s(&[0.0; 18])),
            "`inputs`: has the shape [18]; expected [steps, channels]",
        ),
        (
            with("inputs", "<f4", &[1 << 60, 0, 3], Vec::new()),
            "`inputs`: has the shape [1152921504606846976, 0, 3]; expected at least one episode, step and channel",
        ),
        (
            with("inputs", "<f4", &[0, 6, 3], Vec::new()),
            "`inputs`: has the shape [0, 6, 3]; expected at least one episode",
        ),
        (
            with("inputs", "<c8", &[9, 2], vec![0; 144]),
            "`inputs`: has values of type `<c8`; allowed: <f2, <f4, <f8",
        ),
        (
            with("inputs", "<f4", &[9, 2], vec![0; 70]),
            "`inputs`: has 70 bytes of values; expected 72 for the shape [9, 2]",
        ),
        (
            with("inputs", "<f4", &[9, 2], endless),
            "`inputs`: episode 1, step 1, channel 1 is NaN; expected a finite number",
        ),
        (
            with("targets", "<f4", &[9], f32s(&[0.0; 9])),
            "`targets`: has the shape [9]; expected [9, channels], as `inputs`",
        ),
        (
            with("targets", "<f4", &[9, 1], std::mem::take(&mut halved)),
            "`targets`: episode 2, step 3, channel 0 is NaN; expected a finite number, because the step is scored",
        ),
        (
            with("mask", "|u1", &[9], vec![0, 1, 0, 0, 2, 0, 0, 0, 1]),
            "`mask`: episode 1, step 2 is 2; expected 1 where",
        ),
        (
            with("mask", "|u1", &[9], vec![0, 1, 0, 0, 0, 0, 0, 0, 1]),
            "`mask`: episode 1 is 0 in every step",
        ),
        (
            with("mask", "|u1", &[8], vec![1; 8]),
            "`mask`: has the shape [8]; expected [9], as `inputs`",
        ),
        (
            with("lengths", "<i8", &[3], lengths(&[2, 3, 5])),
            "`inputs`: has 9 steps; expected 10, the sum of `lengths`",
        ),
        (
            with("lengths", "<i8", &[3], lengths(&[2, 0, 7])),
            "`lengths`: episode 1 is 0; expected 1 to 100000 steps",
        ),
        (
            with("lengths", "<i8", &[3], lengths(&[2, -1, 8])),
            "`lengths`: episode 1 is -1; expected a whole number of steps",
        ),
        (
            with("target_names", "<U1", &[2], vec![65, 0, 0, 0, 66, 0, 0, 0]),
            "`target_names`: has 2 names; expected 1",
        ),
    ] {
        let error = episodes::from_bytes(&file, "e.npz")
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn a_number_that_32_bits_cannot_hold_is_named_as_such() {
    for (name, shape, expected) in [
        ("inputs", vec![9, 2], "; expected a finite number"),
        (
            "targets",
            vec![9, 1],
            "; expected a finite number, because the step is scored",
        ),
    ] {
        let values = vec![1e300_f64; shape.iter().product()];
        let values = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let mut all = arrays(3);
        all.retain(|array| array.0 != name);
        all.push((name, "<f8", shape, values));
        let error = episodes::from_bytes(&npz(&all), "e.npz")
            .unwrap_err()
            .to_string();
        let expected = format!("channel 0 is infinite or more than 32 bits can hold{expected}");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_mismatch_between_preset_and_episode_file_is_an_error() {
    let place = place();
    for (set, expected) in [
        (
            "task.file=",
            "`task.file`: is empty; expected the name of an npz file",
        ),
        (
            "task.file=yours.npz",
            "yours.npz does not exist; put the episode file there",
        ),
        (
            "task.held_out.step=21",
            "`task.held_out`: is one of every 21: none of 20 episodes is held out; {\"kind\": \"last\", \"count\": 1} holds out the last",
        ),
        (
            "task.length=[9,12]",
            "`task.length`: is [9, 12]: none of the 18 episodes that are used for training has such a length",
        ),
        (
            "evaluation.lengths=[3,4]",
            "`evaluation.lengths[1]`: is 4: none of the 2 held-out episodes with 2 to 4 steps has 4",
        ),
        (
            "task.bits=3",
            "`task.bits`: does not apply to this experiment",
        ),
        ("task.inputs=0", "`task.inputs`: is 0; allowed: 1 to 1024"),
    ] {
        refused(
            &tapescope(place.path(), &["train", "mine.json", "--set", set]),
            expected,
        );
    }
    fs::write(
        place.path().join("no.json"),
        r#"{"task": {"kind": "episodes"}}"#,
    )
    .unwrap();
    let missing = "`task.file`: is missing; expected a text for file, in quotes";
    refused(&tapescope(place.path(), &["tasks", "no.json"]), missing);
}

/// Trains into `run`, with `more` options.
fn train(place: &Path, run: &str, more: &[&str]) -> (Trained, String) {
    let output = tapescope(
        place,
        &[&["train", "mine.json", "--out", run], more].concat(),
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (
        weights::read(&place.join(run).join("weights.safetensors")).unwrap(),
        said,
    )
}

#[test]
fn a_run_resumes_repeats_evaluates_and_traces_from_any_folder() {
    let place = place();
    let (trained, said) = train(place.path(), "run", &[]);
    assert!(
        said.contains("mine.npz: 18 training episodes, 2 held out (one of every 10)"),
        "{said}"
    );
    let whole = task(&trained.experiment);
    let there = episodes::read(&place.path().join("mine.npz")).unwrap();
    assert_eq!(whole.sha256, episodes::sha256(&there));
    assert_eq!(
        (whole.inputs, whole.outputs, &whole.length),
        (2, 1, &(2..=4))
    );
    assert!(Path::new(&whole.file).is_absolute());
    // Once more from its log, and from the weights of the first.
    let again = tapescope(
        place.path(),
        &["train", "--repeat", "run", "--out", "again"],
    );
    assert!(again.status.success(), "{again:?}");
    let again = weights::read(&place.path().join("again/weights.safetensors")).unwrap();
    assert_eq!(again.sha256(), trained.sha256());
    assert_ne!(
        train(place.path(), "tuned", &["--from", "run"]).0.sha256(),
        trained.sha256()
    );
    // All that are held out, once each.
    let measured = tapescope(place.path(), &["eval", "run", "--json"]);
    let line: serde_json::Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert_eq!(
        (&line["episodes"], &line["length"]),
        (&2.into(), &serde_json::json!([2, 4]))
    );
    refused(
        &tapescope(place.path(), &["eval", "run", "--lengths", "4"]),
        "--lengths 4: none of the 2 held-out episodes",
    );
    let traced = tapescope(
        place.path(),
        &["trace", "run", "--episode", "1", "--out", "t.json"],
    );
    assert!(traced.status.success(), "{traced:?}");
    let trace: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path().join("t.json")).unwrap()).unwrap();
    assert_eq!(trace["task"]["params"]["number"], 19);
    assert_eq!(trace["task"]["params"]["file"], "mine.npz");
    let verified = tapescope(place.path(), &["verify", "t.json"]);
    assert!(verified.status.success(), "{verified:?}");
    let said = String::from_utf8_lossy(&verified.stdout);
    assert!(
        said.contains(
            "because the episodes of the task `episodes` come from a file: input, target, mask"
        ),
        "{said}"
    );
}

#[test]
fn a_moved_or_changed_episode_file_is_named_with_both_paths() {
    let place = place();
    train(place.path(), "run", &[]);
    let (first, second) = (
        place.path().join("mine.npz"),
        place.path().join("run/mine.npz"),
    );
    fs::write(&first, npz(&arrays(21))).unwrap();
    let eval = || tapescope(place.path(), &["eval", "run"]);
    refused(&eval(), "restore the original file");
    fs::remove_file(&first).unwrap();
    let output = eval();
    for path in [&first, &second] {
        refused(&output, &path.file_name().unwrap().to_string_lossy());
    }
    refused(
        &output,
        "does not exist, and run/mine.npz does not exist; put the episode file there",
    );
    // The folder is still that of a run, and weights alone are still good to begin with.
    assert!(
        RunFolder::contents(&place.path().join("run"))
            .unwrap()
            .unwrap()
            .is_finished
    );
    fs::write(&second, npz(&arrays(20))).unwrap();
    assert!(eval().status.success(), "{:?}", eval());
}

#[test]
fn a_stopped_run_on_an_episode_file_resumes_identically() {
    let place = place();
    let experiment = Experiment::read(&place.path().join("mine.json"), &[]).unwrap();
    let trainer = |experiment: &Experiment, state| {
        let (task, config) = (experiment.task.clone(), experiment.training.clone());
        tapescope::train::Trainer::resume(task, config, state, 1)
    };
    let fresh = || tapescope::train::State::new(experiment.model.clone(), &experiment.training);
    let mut whole = trainer(&experiment, fresh());
    while !whole.finished() {
        whole.update().unwrap();
    }
    let folder = place.path().join("run");
    let mut run = RunFolder::create(&folder, &experiment, "train mine.json", false).unwrap();
    let mut part = trainer(&experiment, fresh());
    part.update().unwrap();
    run.checkpoint(&part.state).unwrap();
    drop(run);
    let resumed = RunFolder::resume(&folder, "again").unwrap().unwrap();
    let mut part = trainer(&resumed.experiment, resumed.state);
    while !part.finished() {
        part.update().unwrap();
    }
    assert_eq!(whole.state.machines[0], part.state.machines[0]);
}

const PAIRS: &str = r#"{"task": {"kind": "pairs", "file": "mine.tsv", "tokens": "characters"},
    "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "units": 4, "attention": {"units": 3}}},
    "training": {"sequences": 60, "batch": 4, "validation_every": 20, "seed": 3}}"#;

/// 20 pairs: a word and the word backwards, aligned; the letter y is in a held-out line only.
fn lines() -> String {
    let word = |n: usize| match n {
        9 => "ay".to_owned(),
        _ => ["ab", "ba", "b a", "aab"][n % 4].repeat(1 + n % 2),
    };
    let line = |n: usize| {
        let word = word(n);
        let last = word.len() - 1;
        let links = (0..=last).map(|i| format!("{}-{i}", last - i));
        let links: Vec<String> = links.collect();
        format!(
            "{word}\t{}\t{}",
            word.chars().rev().collect::<String>(),
            links.join(" ")
        )
    };
    (0..20).map(line).collect::<Vec<_>>().join("\r\n") + "\r\n"
}

/// A machine whose score knows this number of source steps.
fn located(rows: usize) -> String {
    format!(
        r#"model={{"kind": "equations", "file": "bahdanau.machine", "sizes": {{"encoder": {{"units": 3}}, "units": 4, "attention": {{"places": {rows}}}}},
            "switches": {{"attention": {{"score": "location"}}}}}}"#
    )
}

fn place_of_pairs() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("mine.tsv"), lines()).unwrap();
    fs::write(place.path().join("mine.json"), PAIRS).unwrap();
    place
}

#[test]
fn a_file_of_pairs_may_come_from_windows() {
    let read = |text: &str| pairs::from_bytes(text.as_bytes(), "p.tsv", Tokens::Words).unwrap();
    let plain = read("a b\tc\nd\te");
    assert_eq!(plain.0.len(), 2);
    assert_eq!(plain, read("\u{feff}a b\tc\r\nd\te\r\n"));
    // As `sha256sum` says it of the file.
    let sha256 = "453adb5e4cb54b4fbae028f35ec7792ba8474882d9c86f3bbc5e5af6d13e3a91";
    assert_eq!(plain.1, sha256);
}

#[test]
fn every_fault_of_a_file_of_pairs_is_named_with_its_line() {
    for (file, expected) in [
        (
            &b""[..],
            "p.tsv: is empty; expected source, tab, target in every line",
        ),
        (
            b"a\tb\nc d\n",
            "p.tsv: `line 2`: has no tab; expected source, tab, target",
        ),
        (
            b"a\tb\n\nc\td\n",
            "p.tsv: `line 2`: is empty; expected source, tab, target",
        ),
        (
            b"\tb\n",
            "p.tsv: `line 1`: has a source of 0 tokens; expected 1 to 100000",
        ),
        (b"a\tb\nc\t\n", "p.tsv: `line 2`: has a target of 0 tokens"),
        (
            b"a\tb\n\xff\tb\n",
            "p.tsv: `line 2`: is not UTF-8 text; save the file as UTF-8",
        ),
        (
            b"a\tb\t0-0\nc\td\n",
            "p.tsv: `line 2`: has no alignment, unlike line 1; expected one in every line, or in none",
        ),
        (
            b"a\tb\nc\td\t0-0\n",
            "p.tsv: `line 2`: has an alignment, unlike line 1",
        ),
        (
            b"a\tb\t0-0\na\tb\t0-0 1-0",
            "p.tsv: `line 2`: has the link `1-0`; 1 is outside the source, which has the tokens 0 to 0",
        ),
    ] {
        let error = pairs::from_bytes(file, "p.tsv", Tokens::Words).unwrap_err();
        assert!(
            error.to_string().starts_with(expected),
            "{error}\n{expected}"
        );
    }
    let place = place_of_pairs();
    for (set, expected) in [
        (
            "task.file=",
            "`task.file`: is empty; expected the name of a text file",
        ),
        (
            "task.held_out.step=21",
            "`task.held_out`: is one of every 21: none of 20 episodes is held out",
        ),
        (
            "task.tokens=letters",
            "`task.tokens`: is `letters`; expected one of `words`, `characters`",
        ),
        (
            "evaluation.lengths=[1]",
            "`evaluation.lengths[0]`: is 1: none of the 2 held-out episodes with 2 to 6 source tokens has 1",
        ),
        (
            "task.source_symbols=aa",
            "`task.source_symbols`: has 2 symbols, 1 of them different; expected at most 1022, each once",
        ),
        (
            "task.inputs=3",
            "`task.inputs`: does not apply to this experiment",
        ),
        (
            &*located(6),
            "`model.sizes.attention.places`: is 6; allowed: 7 or more, because a source may have as many steps",
        ),
    ] {
        let output = tapescope(place.path(), &["train", "mine.json", "--set", set]);
        refused(&output, expected);
    }
    train(place.path(), "located", &["--set", &*located(7)]);
    for call in [
        &["trace", "located", "--out", "l.json"][..],
        &["verify", "l.json"],
    ] {
        let output = tapescope(place.path(), call);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_run_on_pairs_resumes_repeats_evaluates_and_traces_from_any_folder() {
    let place = place_of_pairs();
    let at = |name: &str| place.path().join(name);
    let (trained, said) = train(place.path(), "run", &[]);
    let expected = "mine.tsv: 18 training episodes, 2 held out (one of every 10); 3 source symbols, 3 target symbols";
    assert!(said.contains(expected), "{said}");
    let Task::Pairs(task) = &trained.experiment.task else {
        panic!("{:?}", trained.experiment.task)
    };
    assert_eq!(
        task.symbols.each_ref().map(|symbols| &**symbols),
        ["ab ", "ab "]
    );
    assert_eq!(trained.machine.config.inputs(), 5);
    let again = tapescope(
        place.path(),
        &["train", "--repeat", "run", "--out", "again"],
    );
    assert!(again.status.success(), "{again:?}");
    let again = weights::read(&at("again/weights.safetensors")).unwrap();
    assert_eq!(again.sha256(), trained.sha256());
    let ntm = [
        "--set",
        "model={\"kind\": \"ntm\", \"memory\": {\"rows\": 5, \"columns\": 3}, \"controller\": {\"size\": 6}}",
    ];
    train(place.path(), "ntm", &ntm);
    let measured = tapescope(place.path(), &["eval", "run", "--alignment", "--json"]);
    let line: serde_json::Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert_eq!(
        (&line["episodes"], &line["length"]),
        (&2.into(), &serde_json::json!([2, 6]))
    );
    assert!(line["alignment"]["error_rate"].is_number(), "{line}");
    // Of a held-out line, and of texts given by hand.
    let traced = |more: &[&str]| {
        let output = tapescope(
            place.path(),
            &[&["trace", "run", "--out", "t.json"], more].concat(),
        );
        assert!(output.status.success(), "{output:?}");
        let verified = tapescope(place.path(), &["verify", "t.json"]);
        assert!(verified.status.success(), "{verified:?}");
        let said = String::from_utf8_lossy(&verified.stdout).into_owned();
        (trace::read(&at("t.json")).unwrap().recording, said)
    };
    let (recording, said) = traced(&["--episode", "0"]);
    assert!(
        said.contains(
            "because the episodes of the task `pairs` come from a file: input, target, mask"
        ),
        "{said}"
    );
    let names = |recording: &Recording| {
        let episode = &recording.episode;
        let hot = |row: ndarray::ArrayView1<f32>| row.iter().position(|value| *value == 1.0);
        let shown = episode.input.rows().into_iter().filter_map(hot);
        let shown = shown.map(|channel| recording.task.input_name(channel));
        let asked = episode.target.rows().into_iter().filter_map(hot);
        let asked = asked.map(|channel| recording.task.output_name(channel));
        shown.chain(asked).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(&recording),
        "a unknown symbol delimiter unknown symbol a end symbol"
    );
    for (text, expected) in [
        (
            r#""b z""#,
            "b space unknown symbol delimiter unknown symbol unknown symbol unknown symbol unknown symbol unknown symbol unknown symbol end symbol",
        ),
        (r#""b\ta""#, "b delimiter a end symbol"),
        (r#""ab""#, "a b delimiter b a end symbol"),
    ] {
        fs::write(at("own.json"), text).unwrap();
        let (recording, _) = traced(&["--input", "own.json"]);
        assert_eq!(names(&recording), expected);
    }
    fs::write(at("own.json"), "[1, 2]").unwrap();
    let input = ["trace", "run", "--input", "own.json", "--out", "u.json"];
    refused(
        &tapescope(place.path(), &input),
        r#"own.json: is not a text in quotes; expected a source such as "the cat", or with its target"#,
    );
    let drawn = tapescope(
        place.path(),
        &["render", "run", "--episode", "1", "--out", "f.svg"],
    );
    assert!(drawn.status.success(), "{drawn:?}");
    // Other lines are not those it was trained on.
    fs::write(at("mine.tsv"), lines() + "a\ta\t0-0\n").unwrap();
    refused(
        &tapescope(place.path(), &["eval", "run"]),
        "restore the original file",
    );
    fs::rename(at("mine.tsv"), at("run/mine.tsv")).unwrap();
    fs::write(at("run/mine.tsv"), lines().replace('\r', "")).unwrap();
    let eval = tapescope(place.path(), &["eval", "run"]);
    assert!(eval.status.success(), "{eval:?}");
}

const TEXT: &str = r#"{"task": {"kind": "text", "file": "mine.txt"},
    "model": {"memory": {"rows": 8, "columns": 3}, "controller": {"size": 6}},
    "training": {"sequences": 60, "batch": 4, "validation_every": 20, "seed": 3}}"#;

fn place_of_text() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let sentences = "the cat sat\n\nthe dog sat\n".repeat(10);
    fs::write(place.path().join("mine.txt"), sentences).unwrap();
    fs::write(place.path().join("mine.json"), TEXT).unwrap();
    place
}

#[test]
fn every_fault_of_a_text_is_named_with_its_line() {
    let read = |file: &[u8]| text::from_bytes(file, "t.txt", Tokens::Words);
    let (lines, sha256) = read(b"a b\n\n  \nc\n").unwrap();
    assert_eq!(lines, ["a b", "c"]);
    assert_eq!(
        read("\u{feff}a b\r\n\r\n  \r\nc".as_bytes()).unwrap().1,
        sha256
    );
    for (file, expected) in [
        (
            &b""[..],
            "t.txt: no line has 1 to 100000 tokens; expected a sentence in each line",
        ),
        (b"\n \n", "t.txt: no line has 1 to 100000 tokens"),
        (
            b"a\n\xff\n",
            "t.txt: `line 2`: is not UTF-8 text; save the file as UTF-8",
        ),
    ] {
        let error = read(file).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let place = place_of_text();
    for (set, expected) in [
        (
            "task.file=",
            "`task.file`: is empty; expected the name of a text file",
        ),
        (
            "task.vocabulary=1023",
            "`task.vocabulary`: is 1023; allowed: 1 to 1022",
        ),
        (
            "task.text_symbols=a a",
            "`task.text_symbols`: has 2 symbols, 1 of them different",
        ),
        (
            "evaluation.lengths=[4]",
            "`evaluation.lengths[0]`: is 4: none of the 2 held-out episodes with 3 to 3 tokens has 4",
        ),
        (
            r#"model={"kind": "equations", "file": "bahdanau.machine"}"#,
            "`model.file`: is bahdanau.machine, which reads the whole input before it answers",
        ),
    ] {
        let output = tapescope(place.path(), &["train", "mine.json", "--set", set]);
        refused(&output, expected);
    }
}

#[test]
fn a_run_on_a_text_evaluates_and_traces_lines_of_the_file_and_by_hand() {
    let place = place_of_text();
    let (trained, said) = train(place.path(), "run", &["--set", "task.vocabulary=3"]);
    let expected = "mine.txt: 18 training episodes, 2 held out (one of every 10); 3 symbols";
    assert!(said.contains(expected), "{said}");
    let Task::Text(task) = &trained.experiment.task else {
        panic!("{:?}", trained.experiment.task)
    };
    assert_eq!(task.symbols, "the sat cat");
    fs::write(place.path().join("own.json"), "\"the bird sat\"").unwrap();
    for more in [["--episode", "1"], ["--input", "own.json"]] {
        let call = [&["trace", "run", "--out", "t.json"], &more[..]].concat();
        let output = tapescope(place.path(), &call);
        assert!(output.status.success(), "{output:?}");
        let verified = tapescope(place.path(), &["verify", "t.json"]);
        assert!(verified.status.success(), "{verified:?}");
        let recording = trace::read(&place.path().join("t.json")).unwrap().recording;
        let names = (0..4).map(|channel| recording.task.input_name(channel));
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["the", "sat", "cat", "unknown symbol"]
        );
        assert_eq!(recording.task.unknown_steps(&recording.episode), [2]);
    }
    let eval = tapescope(place.path(), &["eval", "run"]);
    assert!(eval.status.success(), "{eval:?}");
    let drawn = tapescope(place.path(), &["render", "run", "--out", "f.svg"]);
    assert!(drawn.status.success(), "{drawn:?}");
}

#[test]
fn every_text_may_begin_with_a_byte_order_mark() {
    let place = place();
    let marked = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::write(&path, format!("\u{feff}{text}")).unwrap();
        path
    };
    let preset = Experiment::read(&marked("p.json", PRESET), &[]).unwrap();
    assert_eq!(task(&preset).inputs, 2);
    assert!(Experiment::from_json(&format!("\u{feff}{PRESET}"), "p.json", &[]).is_ok());
    marked("bits.json", "[[1,0,1,0,1,0,1,0]]");
    let run = |arguments: &[&str]| tapescope(place.path(), arguments);
    let trace = [
        "trace",
        "copy",
        "--input",
        "bits.json",
        "--out",
        "t.ntmtrace.json",
    ];
    let output = run(&trace);
    assert!(output.status.success(), "{output:?}");
    let json = fs::read_to_string(place.path().join("t.ntmtrace.json")).unwrap();
    assert!(trace::read(&marked("b.ntmtrace.json", &json)).is_ok());
    assert!(trace::from_json(&format!("\u{feff}{json}"), "b").is_ok());
    // Of any name.
    marked("recorded", &json);
    let drawn = run(&["render", "recorded", "--out", "f.svg"]);
    assert!(drawn.status.success(), "{drawn:?}");
    // With its format at the end.
    let (start, rest) = json.split_once("\"format\": \"ntm-trace\",").unwrap();
    let rest = rest.trim_end().strip_suffix('}').unwrap();
    marked(
        "last",
        &format!("{start}{rest}, \"format\": \"ntm-trace\"}}"),
    );
    let drawn = run(&["render", "last", "--out", "f.svg"]);
    assert!(drawn.status.success(), "{drawn:?}");
    let utf16: Vec<u8> = "\u{feff}{}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(place.path().join("w.json"), utf16).unwrap();
    refused(
        &run(&["train", "w.json"]),
        "w.json: is UTF-16 text; save the file as UTF-8",
    );
}

#[test]
fn channels_of_a_preset_must_be_those_of_its_file() {
    let place = place();
    let read = |set: &str| {
        let set = [set.parse().unwrap()];
        Experiment::read(&place.path().join("mine.json"), &set)
    };
    for (set, expected) in [
        (
            "task.inputs=4",
            "`task.inputs`: is 4, but the file has 2 channels",
        ),
        (
            "task.inputs=1",
            "`task.inputs`: is 1, but the file has 2 channels",
        ),
        (
            "task.outputs=2",
            "`task.outputs`: is 2, but the file has 1 channels",
        ),
    ] {
        let message = read(set).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(task(&read("task.inputs=2").unwrap()).inputs, 2);
}

#[test]
fn sizes_are_compared_with_the_channels_of_the_file() {
    let place = place();
    let path = place.path().join("caption.json");
    let preset = |score: &str, rows: &str| {
        let sizes = format!(r#""sizes": {{"encoder": {{"units": 1}}, "units": 2{rows}}}"#);
        let switches = format!(r#""switches": {{"attention": {{"score": "{score}"}}}}"#);
        let file = r#""kind": "equations", "file": "bahdanau.machine""#;
        let model = format!("{{{file}, {sizes}, {switches}}}");
        let task = r#"{"kind": "episodes", "file": "mine.npz"}"#;
        fs::write(&path, format!(r#"{{"task": {task}, "model": {model}}}"#)).unwrap();
        Experiment::read(&path, &[])
    };
    for score in ["dot", "cosine", "scaled_dot"] {
        assert_eq!(preset(score, "").unwrap().model.inputs(), 2, "{score}");
    }
    // The longest episode has four steps; three of them come before its answer.
    assert!(preset("location", r#", "attention": {"places": 3}"#).is_ok());
    let message = preset("location", r#", "attention": {"places": 2}"#)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`model.sizes.attention.places`: is 2; allowed: 3 or more"),
        "{message}"
    );
}

#[test]
fn training_and_evaluation_summarise_the_file() {
    let place = place_of_pairs();
    let lines = "a b\tx\n".repeat(3) + "c c\tx\n" + "a b\tx\n" + "d\tz\n";
    fs::write(place.path().join("mine.tsv"), lines).unwrap();
    let run = |arguments: &[&str]| tapescope(place.path(), arguments);
    let set = [
        "task.tokens=words",
        "task.held_out.kind=last",
        "task.held_out.count=2",
    ];
    let set = set.map(|set| ["--set", set]).concat();
    let train = ["train", "mine.json", "--threads", "1", "--out", "run"];
    let expected = "mine.tsv: 4 training episodes, 2 held out (the last 2); 3 source symbols, 1 target symbols; \
                    1 of 2 held-out episodes are also training episodes; unknown symbols in 1 of 2 held-out sources; \
                    unknown symbols in 1 of 2 held-out targets";
    for output in [run(&[&train[..], &set[..]].concat()), run(&["eval", "run"])] {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
    let json = run(&["eval", "run", "--json"]);
    let json = String::from_utf8_lossy(&json.stdout).into_owned();
    let line: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(line["data"]["held_out_in_training"], 1);
    assert_eq!(line["data"]["vocabularies"][0]["held_out_unknown"], 1);
    let log = fs::read_to_string(place.path().join("run/history.ntmlog.jsonl")).unwrap();
    let header: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(header["data"], line["data"]);
}

#[test]
fn a_resumed_log_keeps_the_summary_of_the_file() {
    let place = place_of_pairs();
    let experiment = Experiment::read(&place.path().join("mine.json"), &[]).unwrap();
    let run = place.path().join("run");
    drop(RunFolder::create(&run, &experiment, "begun", false).unwrap());
    let log = || fs::read_to_string(run.join("history.ntmlog.jsonl")).unwrap();
    let begun = log();
    assert!(begun.contains(r#""training":18"#), "{begun}");
    assert!(RunFolder::resume(&run, "resumed").unwrap().is_some());
    assert_eq!(log(), begun);
}

fn task_of_pairs(lines: &[&str], symbols: [&str; 2]) -> Task {
    let lines = lines
        .iter()
        .map(|line| Pair::parse(line, Tokens::Words).unwrap());
    let mut none = Pairs::NONE;
    (none.held_out, none.symbols) = (HeldOut::Last(2), symbols.map(str::to_owned));
    Task::Pairs(none.with(Arc::new(lines.collect())).unwrap())
}

#[test]
fn summary_counts_repeated_lines_and_unknown_symbols() {
    // The same words, with other spaces between them.
    let lines = ["a b\tx", "c\ty", "a  b\tx", "d\tz"];
    let all = task_of_pairs(&lines, ["", ""]).summary().unwrap();
    assert_eq!(
        all.to_string(),
        "2 training episodes, 2 held out (the last 2); 3 source symbols, 2 target symbols; \
         1 of 2 held-out episodes are also training episodes; unknown symbols in 1 of 2 held-out sources; \
         unknown symbols in 1 of 2 held-out targets"
    );
    let cut = task_of_pairs(&lines, ["a", ""]).summary().unwrap();
    let source = &cut.vocabularies[0];
    assert_eq!((source.known, source.cut, source.unknown), (1, 2, 2));
    let mut text = Text::NONE;
    (text.held_out, text.vocabulary) = (HeldOut::Last(1), 1);
    let lines = ["a b a", "c", "c "].map(str::to_owned).to_vec();
    let text = Task::Text(text.with(Arc::new(lines)).unwrap());
    assert_eq!(
        text.summary().unwrap().to_string(),
        "2 training episodes, 1 held out (the last 1); 1 symbols (2 more in the training lines are unknown); \
         1 of 1 held-out episodes are also training episodes; unknown symbols in 1 of 1 held-out lines"
    );
    assert_eq!(Task::Text(Text::NONE).summary(), None);
}

#[test]
fn without_its_lines_a_task_shows_its_first_symbols() {
    let (mut text, mut pairs) = (Text::NONE, Pairs::NONE);
    (text.symbols, text.length) = ("a c".to_owned(), 1..=2);
    let expected = text.episode_of("a c").unwrap();
    assert_eq!(Task::Text(text).episode(0, 0), expected);
    assert_eq!(Task::Pairs(pairs.clone()).episode(0, 0).steps(), 1);
    pairs.symbols = ["b a c", "x"].map(str::to_owned);
    pairs.length = 1..=2;
    let expected = pairs.episode_of(&pairs.parse("b a").unwrap());
    assert_eq!(Task::Pairs(pairs).episode(0, 0), expected);
}

#[test]
fn a_text_of_ones_own_needs_no_training_file() {
    let place = place_of_pairs();
    let run = |arguments: &[&str]| tapescope(place.path(), arguments);
    let train = ["train", "mine.json", "--threads", "1", "--out", "run"];
    assert!(run(&train).status.success());
    fs::rename(
        place.path().join("mine.tsv"),
        place.path().join("other.tsv"),
    )
    .unwrap();
    fs::write(place.path().join("own.json"), r#""b a a b""#).unwrap();
    let trace = ["trace", "run", "--input", "own.json", "--out", "own.npz"];
    let output = run(&trace);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the right answer is not known"), "{said}");
    refused(
        &run(&["trace", "run", "--out", "o.npz"]),
        "mine.tsv does not exist",
    );
    refused(&run(&["eval", "run"]), "mine.tsv does not exist");
}

#[test]
fn a_run_that_ends_far_above_chance_is_said_to_diverge() {
    let place = place();
    let preset = PRESET.replace(
        "\"seed\": 3",
        "\"seed\": 3, \"optimizer\": {\"learning_rate\": 1000}",
    );
    fs::write(place.path().join("mine.json"), preset).unwrap();
    let output = tapescope(place.path(), &["train", "mine.json", "--threads", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("note: the run diverged: its last validation has "),
        "{said}"
    );
    assert!(said.contains("the chance level is 1.0"), "{said}");
}

/// A folder with 20 episodes whose targets are half the number that was seen first, of 3 steps each, and a preset.
fn place_of_values() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for number in 0..20 {
        inputs.extend([number as f32 / 10.0, 0.0, 0.0]);
        // Steps that are not scored may have any target.
        targets.extend([f32::NAN, 7.0, number as f32 / 20.0 - 0.5]);
    }
    let arrays = [
        ("inputs", "<f4", vec![20, 3, 1], f32s(&inputs)),
        ("targets", "<f4", vec![20, 3, 1], f32s(&targets)),
        ("mask", "|u1", vec![20, 3], [0, 0, 1].repeat(20)),
    ];
    fs::write(place.path().join("mine.npz"), npz(&arrays)).unwrap();
    let preset = PRESET.replace("\"mine.npz\"", "\"mine.npz\", \"answer\": \"values\"");
    fs::write(place.path().join("mine.json"), preset).unwrap();
    place
}

#[test]
fn real_values_are_trained_measured_traced_and_drawn() {
    let place = place_of_values();
    let run = |arguments: &[&str]| {
        let output = tapescope(place.path(), arguments);
        let said = [&output.stdout, &output.stderr].map(|of| String::from_utf8_lossy(of));
        assert!(output.status.success(), "{arguments:?}: {said:?}");
        said.join("")
    };
    let train = [
        "train",
        "mine.json",
        "--out",
        "run",
        "--set",
        "training.sequences=300",
    ];
    let said = run(&[&train[..], &["--set", "training.patience=1"]].concat());
    assert!(
        said.contains("best validation of") && said.contains(": error 0."),
        "{said}"
    );
    assert!(said.contains("wrong values per sequence"), "{said}");
    assert!(!said.contains(" bits"), "{said}");
    let table = run(&["eval", "run"]);
    assert!(
        table.contains(" error ") && table.contains("answer values"),
        "{table}"
    );
    let line: serde_json::Value = serde_json::from_str(&run(&["eval", "run", "--json"])).unwrap();
    assert_eq!(line["loss"], "mean squared error");
    assert_eq!(line["scored_bits"], 1.0);
    assert_eq!(line["calibration_error"], serde_json::Value::Null);
    let traced = run(&["trace", "run", "--out", "t.json", "--gradient", "loss"]);
    assert!(traced.contains("episodes, 3 steps, error 0."), "{traced}");
    let text = fs::read_to_string(place.path().join("t.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of_task = &trace["task"];
    assert_eq!(
        (&of_task["answer"], &of_task["tolerance"]),
        (&"values".into(), &0.04.into())
    );
    assert_eq!(trace["gradient"]["unit"], "mean squared error");
    assert_eq!(
        trace["arrays"]["output"]["data"],
        trace["arrays"]["logit"]["data"]
    );
    let verified = run(&["verify", "t.json"]);
    assert!(!verified.contains("loss"), "{verified}");
    // Without the logits, output and loss say the same.
    let mut bare = trace.clone();
    bare.as_object_mut().unwrap().remove("gradient");
    bare["arrays"].as_object_mut().unwrap().remove("logit");
    fs::write(place.path().join("bare.json"), bare.to_string()).unwrap();
    run(&["verify", "bare.json"]);
    run(&["render", "run", "--layout", "debug", "--out", "run.svg"]);
    let svg = fs::read_to_string(place.path().join("run.svg")).unwrap();
    assert!(
        svg.contains("target, output") && svg.contains("error 0."),
        "no scale"
    );
    run(&["render", "t.json", "--out", "t.png"]);
    let lesions = run(&["lesion", "run", "--episodes", "2"]);
    assert!(lesions.contains(" error "), "{lesions}");
    run(&["find", "run", "wrong", "--episodes", "2"]);
    run(&["eval", "run", "--by", "position"]);
    run(&["disassemble", "run"]);
    let task = ["--set", "task.tolerance=1"];
    let loose = run(&[&["train", "mine.json", "--out", "loose"][..], &task].concat());
    assert!(loose.contains(" 100.0% perfect"), "{loose}");
}

#[test]
fn real_targets_need_the_key_values_and_fit_in_both_files() {
    let place = place_of_values();
    let refuse = |set: &str, expected: &str| {
        refused(
            &tapescope(place.path(), &["train", "mine.json", "--set", set]),
            expected,
        );
    };
    refuse(
        "task.answer=bits",
        "`task.answer`: is bits, but the target of episode 0, step 2 has -0.5 in channel 0; expected 0 or 1 in every scored step; for real numbers set this key to values",
    );
    refuse(
        "task.answer=symbols",
        "`task.answer`: is symbols, but the target of episode 0, step 2 has -0.5 in channel 0; expected one 1 in every scored step",
    );
    refuse(
        "task.tolerance=0",
        "`task.tolerance`: is 0; allowed: a number above 0",
    );
    let wide = [
        ("inputs", "<f4", vec![2, 3, 1], f32s(&[0.0; 6])),
        ("targets", "<f4", vec![2, 3, 2], f32s(&[0.0; 12])),
        ("mask", "|u1", vec![2, 3], vec![1; 6]),
    ];
    fs::write(place.path().join("wide.npz"), npz(&wide)).unwrap();
    refuse(
        "task.test_file=wide.npz",
        "`task.test_file`: has 1 input and 2 target channels; expected 1 and 1, as in `file`",
    );
    // Bits to learn from, and values to be tested on.
    let halves = [
        ("inputs", "<f4", vec![2, 3, 2], f32s(&[0.0; 12])),
        (
            "targets",
            "<f4",
            vec![2, 3, 1],
            f32s(&[0.0, 0.0, 0.0, 1.0, 0.5, 0.0]),
        ),
        ("mask", "|u1", vec![2, 3], vec![1; 6]),
    ];
    fs::write(place.path().join("halves.npz"), npz(&halves)).unwrap();
    fs::write(place.path().join("mine.npz"), npz(&arrays(20))).unwrap();
    let set = [
        "--set",
        "task.answer=bits",
        "--set",
        "task.test_file=halves.npz",
    ];
    let output = tapescope(place.path(), &[&["train", "mine.json"][..], &set].concat());
    refused(
        &output,
        "`task.answer`: is bits, but the target of `test_file`, episode 1, step 1 has 0.5 in channel 0",
    );
}

#[test]
fn a_run_with_other_tokens_for_targets_reads_a_source_without_its_files() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let line = |number: usize| ["one two\tot\t0-0 1p1\n", "two\tt\t0-0\n"][number % 2];
    fs::write(path("p.tsv"), (0..12).map(line).collect::<String>()).unwrap();
    fs::write(path("test.tsv"), (0..2).map(line).collect::<String>()).unwrap();
    let preset = r#"{"task": {"kind": "pairs", "file": "p.tsv", "test_file": "test.tsv", "target_tokens": "characters"},
        "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"units": 4, "encoder.units": 3}},
        "training": {"sequences": 400, "validation_every": 4, "patience": 1, "optimizer": {"learning_rate": 0.9}}}"#;
    fs::write(path("mine.json"), preset).unwrap();
    train(place.path(), "run", &[]);
    let passes = |arguments: &[&str]| {
        let output = tapescope(place.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    passes(&["eval", "run", "--alignment"]);
    fs::remove_file(path("p.tsv")).unwrap();
    fs::remove_file(path("test.tsv")).unwrap();
    fs::write(path("own.json"), r#""two one""#).unwrap();
    passes(&[
        "trace",
        "run",
        "--input",
        "own.json",
        "--out",
        "own.ntmtrace.json",
    ]);
    passes(&["verify", "own.ntmtrace.json"]);
    passes(&["render", "run", "--input", "own.json", "--out", "own.svg"]);
    refused(
        &tapescope(place.path(), &["eval", "run"]),
        "p.tsv does not exist",
    );
}
