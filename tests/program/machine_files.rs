//! Machines in files of one's own: from ten lines to a trace that is verified, and every kind of bad input.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tapescope::cli::in_process;
use tapescope::io::{Experiment, machine_file, trace, weights};
use tapescope::model::ModelConfig;

const FILE: &str = "machine \"Tape\"
input  x[steps, inputs]
target y[steps, outputs]
size   units = 6 in 1..64 \"units\"
size   rows  = 4 in 1..4096 \"rows\"
switch reads = all | one
start  h, c[units] = 0
start  M[rows, units] = 0.1

along steps
  h[units], c = lstm[units](x; h[-1], c[-1])  \"controller.hidden, controller.cell\"
  w = softmax[rows](dot[units](h, M[-1]))     \"weighting\"
  M = M[-1] + w * h                           \"memory\"
  if reads is all r = sum[rows](w * M)        \"read\"
  if reads is one r = M[rows: 0]              \"read\"
  z = linear[outputs](h, r)                   \"logit\"
";

/// A folder with a machine file, and a preset that names it.
fn place(model: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("own.machine"), FILE).unwrap();
    let preset = format!(
        r#"{{"task": {{"kind": "copy", "bits": 2, "length": [1, 3]}}, "model": {{"kind": "equations", {model}}},
        "training": {{"sequences": 24, "batch": 4, "validation_every": 12, "validation_episodes": 4, "seed": 3}}}}"#
    );
    fs::write(place.path().join("own.json"), preset).unwrap();
    place
}

fn tapescope(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapescope"));
    command.current_dir(place).args(arguments).output().unwrap()
}

#[track_caller]
fn done(place: &Path, arguments: &[&str]) -> String {
    let output = tapescope(place, arguments);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    said + &error
}

#[track_caller]
fn refused(place: &Path, arguments: &[&str], expected: &str) {
    let output = tapescope(place, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
}

#[test]
fn from_a_file_to_a_trace_that_is_verified() {
    let place = place(r#""file": "own.machine", "sizes": {"units": 5}"#);
    let place = place.path();
    done(place, &["train", "own.json", "--out", "run"]);
    let trained = weights::read(&place.join("run/weights.safetensors")).unwrap();
    let ModelConfig::Equations(config) = &trained.machine.config else {
        panic!("{:?}", trained.machine.config);
    };
    assert_eq!(
        (config.file.as_str(), config.text.as_str()),
        ("own.machine", FILE)
    );
    // The weights are complete in themselves.
    fs::remove_file(place.join("own.machine")).unwrap();
    let record = ["trace", "run", "--length", "3", "--out"];
    done(place, &[&record[..], &["t.npz"]].concat());
    let holds = ["verify", "t.npz", "--tolerance", "0", "--weights", "run"];
    let said = done(place, &holds);
    assert!(
        said.contains("every stage holds") && said.contains("every array is reproduced"),
        "{said}"
    );
    done(
        place,
        &[
            &record[..],
            &["b.ntmtrace.json", "--intervene", "2:memory[1]=0"],
        ]
        .concat(),
    );
    done(place, &["verify", "b.ntmtrace.json", "--tolerance", "0"]);
    let differs = tapescope(place, &["diff", "t.npz", "b.ntmtrace.json"]);
    assert_eq!(differs.status.code(), Some(1));
    done(
        place,
        &["trace", "run", "--gradient", "loss", "--out", "g.npz"],
    );
    done(
        place,
        &["verify", "g.npz", "--tolerance", "0", "--weights", "run"],
    );
    let read = trace::read(&place.join("t.npz")).unwrap();
    assert_eq!(read.recording.trace.steps(), 7);
    // More rows, with the same weights.
    done(
        place,
        &["trace", "run", "--size", "rows=9", "--out", "r.npz"],
    );
    done(
        place,
        &["verify", "r.npz", "--tolerance", "0", "--weights", "run"],
    );
    refused(
        place,
        &["eval", "run", "--size", "units=9"],
        "allowed: rows; the tensors depend on all others",
    );
    for words in [
        &["eval", "run", "--lengths", "2", "--episodes", "4"][..],
        &["find", "run", "max(weighting) > 0.2", "--episodes", "4"],
        &["lesion", "run", "--episodes", "2"],
        &[
            "eval",
            "run",
            "--measure",
            "entropy(weighting)",
            "--lengths",
            "2",
            "--episodes",
            "2",
        ],
        &["train", "--repeat", "run", "--out", "again"],
    ] {
        done(place, words);
    }
    for (words, expected) in [
        (&["disassemble", "run"][..], "machine file"),
        (&["provenance", "run", "--of", "bit:4,0"], "machine file"),
        (&["eval", "run", "--samples", "2"], "no `noise`"),
        (&["eval", "run", "--alignment"], "weighting"),
    ] {
        refused(place, words, expected);
    }
}

#[test]
fn keys_are_those_of_the_file_under_the_choices_made() {
    let place = place(r#""file": "own.machine", "switches": {"reads": "one"}"#);
    let place = place.path();
    let said = done(
        place,
        &["tasks", "own.json", "--keys", "--set", "model.sizes.rows=8"],
    );
    for row in [
        "| `model.sizes.rows` | `8` | 1 to 4096 | rows |",
        "| `model.sizes.units` | `6` | 1 to 64 | units |",
        "| `model.switches.reads` | `\"one\"` | `all`, `one`",
    ] {
        assert!(said.contains(row), "{row}\n{said}");
    }
    let whole = done(place, &["tasks", "own.json"]);
    let other = Experiment::from_json(&whole, "whole.json", &[]).unwrap();
    assert_eq!(
        other.model,
        Experiment::read(&place.join("own.json"), &[])
            .unwrap()
            .model
    );
}

#[test]
fn a_changed_file_is_reported_and_the_run_goes_on_with_its_text() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    done(place, &["train", "own.json", "--out", "run"]);
    fs::write(
        place.join("own.machine"),
        FILE.replace("units = 6", "units = 7"),
    )
    .unwrap();
    let said = done(place, &["train", "--resume", "run"]);
    assert!(said.contains("own.machine has changed"), "{said}");
    let said = done(place, &["train", "own.json", "--out", "other"]);
    assert!(!said.contains("has changed"), "{said}");
}

#[test]
fn wrong_keys_and_values_name_their_path() {
    for (model, expected) in [
        (r#""sizes": {}"#, "`model.file`: is missing"),
        (r#""file": """#, "expected the name of a file"),
        (
            r#""file": "../own.machine""#,
            "expected the name of a file in the folder",
        ),
        (
            r#""file": "/etc/passwd""#,
            "expected the name of a file in the folder",
        ),
        (
            r#""file": "own.machin""#,
            "no such file in the folder of the preset",
        ),
        (r#""file": "ntm.machin""#, "did you mean `ntm.machine`?"),
        (
            r#""file": "own.machine", "sizes": {"units": 65}"#,
            "`model.sizes.units`: is 65; allowed: 1 to 64",
        ),
        (
            r#""file": "own.machine", "sizes": {"units": 0}"#,
            "`model.sizes.units`: is 0; allowed: 1 to 64",
        ),
        (
            r#""file": "own.machine", "sizes": {"units": "6"}"#,
            "`model.sizes.units`",
        ),
        (
            r#""file": "own.machine", "sizes": {"columns": 6}"#,
            "`model.sizes.columns`: does not apply",
        ),
        (
            r#""file": "own.machine", "sizes": [6]"#,
            "`model.sizes`: is [6]; expected an object",
        ),
        (
            r#""file": "own.machine", "switches": {"reads": "two"}"#,
            "expected one of `all`, `one`",
        ),
        (
            r#""file": "own.machine", "switches": {"reads": ["all", "one"]}"#,
            "give one",
        ),
        (
            r#""file": "own.machine", "controller": {"size": 4}"#,
            "`model.controller.size`: does not apply",
        ),
        (
            r#""file": "structured_self_attention.machine""#,
            "Tasks that fit: aspects",
        ),
        (r#""file": "coattention.machine""#, "Tasks that fit: span"),
        (r#""file": "x.machine", "text": "machine""#, "x.machine:1:1"),
    ] {
        let place = place(model);
        refused(place.path(), &["train", "own.json"], expected);
    }
}

#[test]
#[cfg(unix)]
fn what_is_no_file_of_the_folder_is_not_read() {
    use std::os::unix::fs::symlink;
    let own = place(r#""file": "other.machine""#);
    let (path, other) = (own.path(), own.path().join("other.machine"));
    let again = |expected: &str| {
        refused(path, &["train", "own.json"], expected);
        let _ = fs::remove_file(&other);
    };
    symlink("/dev/zero", &other).unwrap();
    again("leads out of the folder");
    symlink(path.join("own.machine"), &other).unwrap();
    done(path, &["tasks", "own.json"]);
    again_removed(&other);
    let made = Command::new("mkfifo").arg(&other).status().unwrap();
    assert!(made.success());
    again("no ordinary file");
    fs::create_dir(&other).unwrap();
    refused(path, &["train", "own.json"], "no ordinary file");
    fs::remove_dir(&other).unwrap();
    fs::write(&other, vec![b'#'; 300_000]).unwrap();
    again("larger than the limit of 256 kB");
    fs::write(&other, [0xff, 0xfe, 0]).unwrap();
    again("other.machine");
    fs::write(&other, "").unwrap();
    again("is empty");
    // A part that the file uses.
    fs::write(&other, format!("{FILE}  use own = own(h)\n")).unwrap();
    let part = path.join("own.component");
    assert!(
        Command::new("mkfifo")
            .arg(&part)
            .status()
            .unwrap()
            .success()
    );
    refused(path, &["train", "own.json"], "no ordinary file");
}

#[cfg(unix)]
fn again_removed(path: &Path) {
    fs::remove_file(path).unwrap();
}

#[test]
fn marks_and_ends_of_lines_of_other_systems_make_no_difference() {
    let place = place(r#""file": "own.machine""#);
    let path = place.path().join("own.machine");
    let read = || machine_file::read("own.machine", Some(place.path()), "p").unwrap();
    let plain = read();
    fs::write(&path, format!("\u{feff}{}", FILE.replace('\n', "\r\n"))).unwrap();
    assert_eq!(read(), plain);
    done(place.path(), &["train", "own.json"]);
}

#[test]
fn an_axis_without_entries_runs() {
    let place = place(r#""file": "own.machine", "sizes": {"rows": 1}"#);
    let text = FILE.replace("rows  = 4 in 1..4096", "rows  = 1 in 0..4096");
    fs::write(place.path().join("own.machine"), text).unwrap();
    let set = [
        "--set",
        "model.sizes.rows=0",
        "--set",
        "model.switches.reads=all",
    ];
    done(
        place.path(),
        &[&["train", "own.json", "--out", "run"], &set[..]].concat(),
    );
    done(place.path(), &["trace", "run", "--out", "t.npz"]);
    done(
        place.path(),
        &["verify", "t.npz", "--tolerance", "0", "--weights", "run"],
    );
}

#[test]
fn sizes_that_no_memory_has_are_refused_before_room_is_made() {
    for sizes in [
        r#"{"rows": 1048576, "columns": 4096}"#,
        r#"{"rows": 1048576, "columns": 1024}"#,
    ] {
        let place = place(&format!(r#""file": "ntm.machine", "sizes": {sizes}"#));
        let output = tapescope(place.path(), &["train", "own.json"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let is_said = ["choose smaller sizes", "that this computer has free"];
        let is_said = is_said.iter().any(|expected| said.contains(expected));
        assert!(!output.status.success() && is_said, "{said}");
    }
}

#[test]
fn a_mistake_in_a_file_has_its_place_in_that_file_alone() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    for (from, to, expected) in [
        (
            "softmax[rows]",
            "softmx[rows]",
            "12:7: unknown function softmx; ",
        ),
        (
            "start  M[rows, units]",
            "start  M[rows]",
            "8:8: start of M has [rows]; expected: [units, rows], as its equation in own.machine:13:3",
        ),
    ] {
        fs::write(place.join("own.machine"), FILE.replace(from, to)).unwrap();
        let expected = format!("error: own.machine:{expected}");
        refused(place, &["train", "own.json"], &expected);
        refused(place, &["pytorch", "own.machine"], &expected);
    }
}

#[test]
fn numbers_that_are_not_finite_before_training_are_blamed_on_the_file() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    let text = FILE.replace("linear[outputs](h, r)", "linear[outputs](h, r) + log(0)");
    fs::write(place.join("own.machine"), text).unwrap();
    let output = tapescope(place, &["train", "own.json", "--out", "run"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let expected = "error: `logit` is not finite at step 0 of an episode, before the first update; the weights before that \
        are in run/weights.safetensors; look for a division by 0 or a logarithm of 0 in the machine file";
    assert!(said.contains(expected), "{said}");
    // From Python, too.
    let preset = place.join("own.json");
    let run = in_process::Run::begin(preset.to_str().unwrap(), None, None, &[]);
    let said = run.unwrap().update().unwrap_err().to_string();
    assert!(said.contains("look for a division by 0"), "{said}");
}

#[test]
fn a_bit_of_a_file_with_a_linear_answer_is_a_sum_over_writes() {
    let model = r#""file": "ntm.machine", "sizes": {"rows": 5, "columns": 3, "units": 4}"#;
    let place = place(model);
    let place = place.path();
    done(place, &["train", "own.json", "--out", "run"]);
    done(
        place,
        &["trace", "run", "--length", "3", "--out", "t.ntmtrace.json"],
    );
    let trace: serde_json::Value =
        serde_json::from_slice(&fs::read(place.join("t.ntmtrace.json")).unwrap()).unwrap();
    let logit = trace["arrays"]["logit"]["data"][2 * 5 + 1]
        .as_f64()
        .unwrap();
    let bit = ["--of", "bit:5,1", "--format", "json"];
    for source in [
        &["provenance", "run", "--length", "3"][..],
        &[
            "provenance",
            "t.ntmtrace.json",
            "--weights",
            "run/weights.safetensors",
        ],
    ] {
        let said = done(place, &[source, &bit].concat());
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        let parts = found["parts"].as_array().unwrap();
        let sum: f64 = parts
            .iter()
            .map(|part| part["amount"].as_f64().unwrap())
            .sum();
        let has = |name: &str| parts.iter().any(|part| part["origin"] == name);
        assert!(
            (sum - logit).abs() < 1e-6 && has("write0:2") && has("bias"),
            "{said}"
        );
    }
}

#[test]
fn hostile_text_in_weights_and_traces_is_an_error_with_its_place() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    done(place, &["train", "own.json", "--out", "run"]);
    done(place, &["trace", "run", "--out", "t.ntmtrace.json"]);
    let text = fs::read_to_string(place.join("t.ntmtrace.json")).unwrap();
    for (from, to) in [
        ("softmax[rows]", "softmx[rows]"),
        ("along steps", "along nothing"),
        ("units = 6 in", "units = 99999999999999 in"),
        ("machine \\\"Tape\\\"", "\\u001b[31mmachine \\\"Tape\\\""),
        (
            "softmax[rows]",
            &format!("{}softmax[rows]", "(".repeat(100_000)),
        ),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(place.join("bad.ntmtrace.json"), text.replace(from, to)).unwrap();
        let output = tapescope(place, &["verify", "bad.ntmtrace.json"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{to:.40}: {said}");
        assert!(
            said.contains("error: bad.ntmtrace.json: own.machine:") && !said.contains('\u{1b}'),
            "{said}"
        );
        assert!(said.len() < 3000, "{said}");
    }
}

#[test]
fn an_ablation_makes_each_other_choice_and_a_file_without_switches_says_so() {
    let place = place(r#""file": "own.machine", "sizes": {"units": 5}"#);
    let place = place.path();
    let ablate = [
        "ablate",
        "own.json",
        "--seeds",
        "1",
        "--sequences",
        "8",
        "--jobs",
        "1",
        "--threshold",
        "100",
    ];
    let said = done(place, &ablate);
    assert!(
        said.contains("unchanged") && said.contains("reads = one"),
        "{said}"
    );
    let text = FILE
        .replace("switch reads = all | one\n", "")
        .replace("if reads is all ", "");
    let one = text
        .lines()
        .filter(|line| !line.contains("if reads"))
        .map(|line| line.to_owned() + "\n");
    fs::write(place.join("own.machine"), one.collect::<String>()).unwrap();
    refused(
        place,
        &["ablate", "own.json", "--dry-run"],
        "the machine file has no `switch`",
    );
}

#[test]
fn what_nothing_uses_is_noted() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    let text = FILE.replace("switch reads", "size   lost = 3 in 1..4\nswitch reads");
    fs::write(place.join("own.machine"), text).unwrap();
    for arguments in [
        &["train", "own.json", "--out", "run"][..],
        &["tasks", "own.json", "--keys"],
    ] {
        let said = done(place, arguments);
        assert!(
            said.contains("note: own.machine:6:8: nothing uses lost"),
            "{said}"
        );
    }
}

#[test]
fn a_size_that_the_file_cannot_have_says_why() {
    let place = place(r#""file": "own.machine", "switches": {"reads": "one"}"#);
    let place = place.path();
    let text = FILE.replace("M[rows: 0]", "M[rows: 3]");
    fs::write(place.join("own.machine"), text).unwrap();
    done(place, &["train", "own.json", "--out", "run"]);
    let larger = ["eval", "run", "--lengths", "2", "--size"];
    done(place, &[&larger[..], &["rows=9"]].concat());
    refused(
        place,
        &[&larger[..], &["rows=2"]].concat(),
        "own.machine:15:",
    );
}

#[test]
fn penalties_are_reported_and_noise_is_drawn_only_where_it_is_asked_for() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    let text = FILE
        .replace("start  h,", "noise n[steps, rows] = normal\nstart  h,")
        .replace(
            "M[-1]))     \"weighting\"",
            "M[-1]) + n)  \"weighting\"\n  penalty = 0.1 * sum[rows](w * w)",
        );
    fs::write(place.join("own.machine"), text).unwrap();
    done(place, &["train", "own.json", "--out", "run"]);
    let log = fs::read_to_string(place.join("run/history.ntmlog.jsonl")).unwrap();
    assert!(
        log.contains("\"training_penalty\":") && log.contains("\"penalty\":"),
        "{log}"
    );
    let record = |more: &[&str], name: &str| {
        let trace = [
            "trace", "run", "--length", "2", "--seed", "1", "--out", name,
        ];
        done(place, &[&trace[..], more].concat());
        done(
            place,
            &["verify", name, "--tolerance", "0", "--weights", "run"],
        );
        trace::read(&place.join(name)).unwrap().recording
    };
    let mean = record(&[], "mean.npz");
    let drawn = record(&["--sample", "1"], "drawn.npz");
    let noise = |of: &tapescope::train::Recording| {
        let (.., series) = of.trace.noise().next().unwrap();
        series.as_slice().to_vec()
    };
    assert!(noise(&mean).iter().all(|value| *value == 0.0));
    assert!(noise(&drawn).iter().any(|value| *value != 0.0));
    assert!(mean.trace.penalty().is_some_and(|penalty| penalty > 0.0));
}

#[test]
fn heads_of_a_file_are_not_chosen_by_name() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    done(place, &["train", "own.json", "--out", "run"]);
    refused(
        place,
        &[
            "render", "run", "--length", "2", "--head", "R0", "--out", "q.svg",
        ],
        "--layout quantities",
    );
}

#[test]
fn answers_that_point_need_a_task_that_asks_for_as_many_ends() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let preset = |file: &str, asked_for: &str| {
        let span = if asked_for == "ends" {
            r#", "span": [1, 2], "rounds": 2"#
        } else {
            ""
        };
        let text = format!(
            r#"{{"task": {{"kind": "span", "symbols": 6, "question": 2, "length": [5, 8], "asked_for": "{asked_for}"{span}}},
            "model": {{"kind": "equations", "file": "{file}.machine", "sizes": {{"units": 4}}}},
            "training": {{"sequences": 8, "batch": 4, "validation_every": 8, "validation_episodes": 2}}}}"#
        );
        fs::write(place.join(format!("{file}.json")), text).unwrap();
    };
    let train = |file: &str| {
        [
            "train".to_owned(),
            format!("{file}.json"),
            "--force".to_owned(),
        ]
    };
    for (file, asked_for, other, expected) in [
        ("coattention", "ends", "symbol", "`task.asked_for` ends"),
        (
            "attention_over_attention",
            "symbol",
            "ends",
            "`task.asked_for` symbol",
        ),
    ] {
        preset(file, asked_for);
        let arguments = train(file);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        done(place, &arguments);
        preset(file, other);
        refused(place, &arguments, expected);
    }
}

#[test]
fn what_is_computed_once_can_be_set_and_its_trace_is_read() {
    let place = place(r#""file": "own.machine""#);
    let place = place.path();
    let text = FILE.replace(
        "along steps\n",
        "once\n  e = index[rows] * 0.1 \"places\"\nalong steps\n",
    );
    fs::write(
        place.join("own.machine"),
        text.replace("M[-1]))  ", "M[-1]) + e)  "),
    )
    .unwrap();
    done(place, &["train", "own.json", "--out", "run"]);
    let set = [
        "trace",
        "run",
        "--length",
        "2",
        "--intervene",
        "0:places=0",
        "--out",
        "t.npz",
    ];
    done(place, &set);
    let said = done(
        place,
        &["verify", "t.npz", "--tolerance", "0", "--weights", "run"],
    );
    assert!(said.contains("every array is reproduced"), "{said}");
}

#[test]
fn noise_of_one_step_or_of_a_part_of_the_episode_is_verified() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let text = "machine \"Noisy\"\ninput x[source, symbols]\ntarget y[answer, words]\nsize k = 3 in 1..9\n\
        noise n[k] = normal\nnoise m[source] = uniform\nnoise u[answer] = uniform\n\
        once\n  i = draw[k](softmax[k](n))\n  s = sum[source](m)\n\
        along answer\n  z = linear[words](onehot[k](i), s, u, n)\n";
    fs::write(place.join("own.machine"), text).unwrap();
    let preset = r#"{"task": {"kind": "transduce", "symbols": 4, "length": [2, 3]},
        "model": {"kind": "equations", "file": "own.machine"},
        "training": {"sequences": 8, "batch": 4, "validation_every": 8, "validation_episodes": 2}}"#;
    fs::write(place.join("own.json"), preset).unwrap();
    done(place, &["train", "own.json", "--out", "run"]);
    for more in [&[][..], &["--sample", "1"]] {
        let record = [
            "trace", "run", "--length", "3", "--seed", "2", "--out", "t.npz",
        ];
        done(place, &[&record[..], more].concat());
        let verify = ["verify", "t.npz", "--tolerance", "0"];
        let said = done(place, &verify);
        assert!(said.contains("every stage holds"), "{said}");
        let said = done(place, &[&verify[..], &["--weights", "run"]].concat());
        assert!(said.contains("every array is reproduced"), "{said}");
    }
    fs::write(
        place.join("own.machine"),
        text.replace("  s = sum[source](m)", "  s = sum[source](m) \"input\""),
    )
    .unwrap();
    refused(
        place,
        &["train", "own.json", "--out", "again"],
        "own.machine:10:3: s would be input in traces, which every trace has of its own",
    );
}
