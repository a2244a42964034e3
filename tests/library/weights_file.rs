//! Weights files: what is written reads back, what other programs write reads too, and what is broken is
//! refused with a message, never with a panic.

use std::process::Command;

use crate::numpy;
use tapescope::io::{Experiment, RunFolder, Trained, weights};
use tapescope::model::Model;
use tapescope::train::{AuxLosses, Change, Evaluation, HistoryPoint};

const TINY: &str = r#"{"name": "tiny", "task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

fn trained(source: &str) -> Trained {
    let experiment = Experiment::from_json(source, "tiny.json", &[]).unwrap();
    let evaluation = Evaluation {
        episodes: 20,
        bits_per_sequence: 1.25,
        wrong_bits: 0.5,
        scored_bits: 4.0,
        perfect: 0.75,
        aux: AuxLosses {
            redundancy: Some(0.5),
            ..AuxLosses::default()
        },
    };
    Trained {
        machine: Model::new(experiment.model.clone(), 3),
        experiment,
        history: vec![HistoryPoint {
            sequences: 100,
            seconds: 0.5,
            training_bits: 2.5,
            training_aux: AuxLosses {
                redundancy: Some(0.75),
                ..AuxLosses::default()
            },
            validation: evaluation,
        }],
        evaluation: Some(evaluation),
        changes: vec![Change {
            sequences: 50,
            set: vec!["training.batch=2".into()],
        }],
        command: "tapescope train tiny.json".into(),
    }
}

/// Machines without read heads, without write heads, and without any.
#[test]
fn weights_of_every_kind_of_machine_read_back() {
    for heads in [
        r#""read": 0, "write": 0"#,
        r#""read": 0"#,
        r#""read": 3, "write": 0"#,
    ] {
        let trained = trained(&format!(
            r#"{{"task": {{"kind": "copy", "bits": 2, "length": [1, 3]}},
                "model": {{"controller": {{"size": 4}}, "heads": {{{heads}}}}}}}"#
        ));
        let read = weights::from_bytes(&weights::to_bytes(&trained), "w").unwrap();
        assert_eq!(read, trained);
    }
}

fn error(bytes: &[u8]) -> String {
    weights::from_bytes(bytes, "w.safetensors")
        .unwrap_err()
        .to_string()
}

/// The file of a tiny machine with its header changed.
fn with_header(change: impl Fn(String) -> String) -> Vec<u8> {
    let bytes = weights::to_bytes(&trained(TINY));
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = change(String::from_utf8(bytes[8..8 + length].to_vec()).unwrap());
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend(header.as_bytes());
    changed.extend(&bytes[8 + length..]);
    changed
}

fn replaced(from: &str, to: &str) -> String {
    error(&with_header(|header| {
        assert!(header.contains(from), "{header}");
        header.replacen(from, to, 1)
    }))
}

#[test]
fn a_file_reads_back_as_it_was_written() {
    let learned = r#"{"name": "x", "task": {"kind": "repeat_copy", "bits": 2, "length": [1, 3], "repeats": [1, 2]},
        "model": {"memory": {"rows": 5, "columns": 3, "initial": "learned"},
                  "controller": {"kind": "feedforward", "size": 4, "layers": 2},
                  "heads": {"read": 2, "write": 2, "shift": {"form": "scalar"}, "initial_weighting": "learned"}}}"#;
    for source in [TINY, learned] {
        let trained = trained(source);
        let bytes = weights::to_bytes(&trained);
        assert_eq!(weights::from_bytes(&bytes, "w").unwrap(), trained);
        assert_eq!(
            weights::to_bytes(&trained),
            bytes,
            "the same bytes every time"
        );
        assert_eq!(
            weights::from_bytes(&bytes, "w").unwrap().sha256(),
            trained.sha256()
        );
    }
}

#[test]
fn a_file_on_disk_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let trained = trained(TINY);
    weights::write(&path, &trained).unwrap();
    weights::write(&path, &trained).unwrap();
    assert_eq!(weights::read(&path).unwrap(), trained);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "no temporary file is left");
}

#[test]
fn weights_of_a_run_are_named_after_its_folder() {
    let name = |path: &str| RunFolder::name_of(std::path::Path::new(path));
    assert_eq!(name("runs/copy-7/weights.safetensors"), "copy-7");
    assert_eq!(name("runs/copy-7/last.safetensors"), "last.safetensors");
    assert_eq!(name("weights.safetensors"), "weights.safetensors");
}

#[test]
fn a_replacement_with_weights_removes_the_old_run() {
    let folder = tempfile::tempdir().unwrap();
    let old = trained(TINY);
    let run = RunFolder::create(folder.path(), &old.experiment, "old", false).unwrap();
    weights::write(&run.weights_path(), &old).unwrap();
    drop(run);
    let start = folder.path().join(RunFolder::START);
    weights::write(&start, &old).unwrap();
    assert!(RunFolder::is_taken(folder.path()));
    let new = trained(&TINY.replace(r#""size": 4"#, r#""size": 5"#));
    let mut run = RunFolder::create(folder.path(), &new.experiment, "new", true).unwrap();
    // The new run may end here, before its first validation.
    assert_eq!(
        weights::read(&RunFolder::weights_at(folder.path()).unwrap()).unwrap(),
        old
    );
    assert!(start.exists());
    let refused = run.take_place().unwrap_err().to_string();
    assert!(
        refused.contains("is a folder without weights.safetensors"),
        "{refused}"
    );
    weights::write(&run.weights_path(), &new).unwrap();
    run.take_place().unwrap();
    assert_eq!(weights::read(&run.weights_path()).unwrap(), new);
    assert!(!start.exists());
    let preset = Experiment::read(&folder.path().join("preset.json"), &[]).unwrap();
    assert_eq!(preset, new.experiment);
    let log = std::fs::read_to_string(folder.path().join("history.ntmlog.jsonl")).unwrap();
    assert!(log.contains(r#""command":"new""#) && log.lines().count() == 1);
}

#[test]
fn rows_may_change_where_no_tensor_depends_on_them() {
    let mut any = trained(TINY);
    any.machine = any.machine.with_rows(64).unwrap();
    assert_eq!(any.machine.config.rows(), 64);
    assert_eq!(
        any.machine.with_rows(2).unwrap_err().to_string(),
        "memory.rows is 2; allowed: 3 to 1048576 with a shift range of 1"
    );
    let fixed = trained(&TINY.replace(r#""columns": 3"#, r#""columns": 3, "initial": "learned""#));
    assert_eq!(
        fixed.machine.with_rows(64).unwrap_err().to_string(),
        "memory.rows is 64; allowed: only 5, because the initial memory or weighting is learned"
    );
}

#[test]
fn only_the_experiment_is_needed_in_the_metadata() {
    let bytes = with_header(|header| {
        let mut header: serde_json::Value = serde_json::from_str(&header).unwrap();
        let metadata = header["__metadata__"].as_object_mut().unwrap();
        metadata.retain(|key, _| key == "experiment");
        header.to_string()
    });
    let read = weights::from_bytes(&bytes, "w").unwrap();
    assert_eq!(read.machine, trained(TINY).machine);
    assert!(read.history.is_empty() && read.evaluation.is_none() && read.command.is_empty());
    assert!(read.changes.is_empty());
}

#[test]
fn a_bias_may_have_two_axes() {
    let bytes = with_header(|header| header.replace(r#""shape":[16]"#, r#""shape":[1,16]"#));
    assert_eq!(weights::from_bytes(&bytes, "w").unwrap(), trained(TINY));
}

#[test]
fn errors_name_the_tensor() {
    assert_eq!(
        replaced(r#""output.bias""#, r#""output.bios""#),
        "w.safetensors: `output.bias`: is missing; expected F32 [2]"
    );
    assert_eq!(
        replaced(r#""shape":[7,2]"#, r#""shape":[2,7]"#),
        "w.safetensors: `output.weight`: is F32 [2, 7]; expected F32 [7, 2]"
    );
    assert_eq!(
        replaced(
            r#""output.bias":{"dtype":"F32""#,
            r#""output.bias":{"dtype":"I32""#
        ),
        "w.safetensors: `output.bias`: is I32 [2]; expected F32 [2]"
    );
    let extra = error(&with_header(|header| {
        let end = weights::to_bytes(&trained(TINY)).len() - 8 - header.len();
        let entry = format!(
            r#""reed0.bias":{{"dtype":"F32","shape":[0],"data_offsets":[{end},{end}]}},"output.bias""#
        );
        header.replacen(r#""output.bias""#, &entry, 1)
    }));
    assert!(
        extra.starts_with("w.safetensors: `reed0.bias`: does not belong to this machine; did you mean `read0.bias`? the preset in the file expects: controller0.weight, ")
            && extra.ends_with(", initial.hidden, initial.cell"),
        "{extra}"
    );
    let mut bytes = weights::to_bytes(&trained(TINY));
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(
        error(&bytes),
        "w.safetensors: `write0.weight`: value 59 is NaN; every value must be finite"
    );
}

#[test]
fn errors_name_the_metadata() {
    assert_eq!(
        replaced("tapescope-weights", "something-else"),
        "w.safetensors: `__metadata__.format`: is `something-else`; expected `tapescope-weights`"
    );
    assert_eq!(
        replaced(r#""version":"1.0""#, r#""version":"2.0""#),
        "w.safetensors: `__metadata__.version`: is `2.0`; expected `1.0`"
    );
    assert!(
        replaced(r#""experiment""#, r#""experience""#)
            .starts_with("w.safetensors: `__metadata__`: the entry `experiment` is missing")
    );
    assert_eq!(
        replaced(r#"\"rows\": 5"#, r#"\"rows\": 0"#),
        "w.safetensors: `__metadata__.experiment.model.memory.rows`: is 0; allowed: 1 to 1048576"
    );
    assert!(
        replaced(r#""history":"[{"#, r#""history":"[[{"#)
            .starts_with("w.safetensors: `__metadata__.history[0]`: ")
    );
    let history = |to: &str| replaced(r#"\"seconds\":0.5"#, to);
    assert_eq!(
        history(r#"\"seconds\":-0.5"#),
        "w.safetensors: `__metadata__.history[0].seconds`: is -0.5; expected 0 to 10000000000 seconds"
    );
    for to in [r#"\"seconds\":\"NaN\""#, r#"\"seconds\":1e99"#] {
        let place = "w.safetensors: `__metadata__.history[0].seconds`: is ";
        assert!(history(to).starts_with(place), "{to}: {}", history(to));
    }
    assert!(
        replaced(r#"\"training_bits\":2.5"#, r#"\"training_bits\":-2.5"#)
            .starts_with("w.safetensors: `__metadata__.history[0].training_bits`: is -2.5; expected 0 or more bits")
    );
    assert_eq!(
        replaced(r#"\"sequences\":50"#, r#"\"sequences\":-50"#),
        "w.safetensors: `__metadata__.changes[0].sequences`: invalid value: integer `-50`, expected a whole number, 0 or more and less than 2^64 at line 1 column 17"
    );
    for (from, to, place) in [
        (
            "training.batch=2",
            "training.seed=2",
            "changes.change 0.training.seed",
        ),
        (
            "tapescope train tiny.json",
            "tapescope train tiny.jsom",
            "checksum",
        ),
    ] {
        let error = replaced(from, to);
        assert!(
            error.starts_with(&format!("w.safetensors: `__metadata__.{place}`: ")),
            "{error}"
        );
    }
    assert_eq!(
        replaced(r#"\"perfect\":0.75"#, r#"\"perfect\":75"#),
        "w.safetensors: `__metadata__.evaluation.perfect`: is 75; expected 0 to 1"
    );
}

#[test]
fn hostile_files_are_refused() {
    let good = weights::to_bytes(&trained(TINY));
    for end in 0..good.len() {
        error(&good[..end]);
    }
    let mut longer = good.clone();
    longer.push(0);
    error(&longer);
    let mut length = good.clone();
    for claimed in [
        u64::MAX,
        u64::MAX - 8,
        1 << 62,
        1 << 26,
        good.len() as u64,
        0,
    ] {
        length[..8].copy_from_slice(&claimed.to_le_bytes());
        error(&length);
    }
    error(&[0xff; 4096]);
    for length in [100, good.len() - 1] {
        let said = error(&good[..length]);
        let expected = "w.safetensors: is not a complete safetensors file: ";
        assert!(said.starts_with(expected), "{said}");
    }
    // A machine of 16 TB, in a file of 3 kB.
    let huge = r#"\"rows\": 1048576, \"initial\": \"learned\""#;
    let message = error(&with_header(|header| {
        let memory = r#"\"rows\": 5,\n      \"columns\": 3,\n      \"initial\": {\n        \"constant\": 1e-6\n      }"#;
        assert!(header.contains(memory), "{header}");
        header.replacen(memory, &format!(r#"{huge}, \"columns\": 4096"#), 1)
    }));
    assert!(message.contains("expected F32 ["), "{message}");
    for (from, to) in [
        (r#""shape":[7,2]"#, r#""shape":[18446744073709551615,2]"#),
        (r#""shape":[7,2]"#, r#""shape":[]"#),
        (r#""data_offsets":[0,"#, r#""data_offsets":[4,"#),
        (r#""output.bias""#, r#""read0.bias""#),
        (r#""__metadata__":{"#, r#""__metadata__":["#),
    ] {
        replaced(from, to);
    }
}

#[test]
fn any_damage_is_an_error_or_another_machine_but_no_panic() {
    let good = weights::to_bytes(&trained(TINY));
    for (index, byte) in (0..good.len()).step_by(3).zip((1..=255_u8).cycle()) {
        let mut damaged = good.clone();
        damaged[index] ^= byte;
        let _ = weights::from_bytes(&damaged, "w");
    }
}

#[test]
fn every_included_machine_loads() {
    let included = weights::all_included().unwrap();
    let names: Vec<_> = included
        .iter()
        .map(|trained| trained.experiment.name.as_str())
        .collect();
    assert_eq!(names, weights::included_names().collect::<Vec<_>>());
    for trained in &included {
        let preset = Experiment::find(&trained.experiment.name, &[]).unwrap();
        assert_eq!(trained.experiment.task, preset.task);
        assert!(
            trained.command.starts_with("tapescope train"),
            "{}",
            trained.command
        );
        assert!(!trained.history.is_empty());
    }
}

#[test]
fn the_python_of_the_documentation_writes_a_file_that_loads() {
    let Some(python) = numpy::python() else {
        return;
    };
    let page = include_str!("../../docs/formats/weights.md");
    let script = page
        .split("```python\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    assert!(
        script.contains("struct.pack"),
        "the first Python block is the weights writer"
    );
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(python)
        .args(["-c", script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let read = weights::read(&folder.path().join("mine.safetensors")).unwrap();
    assert_eq!(read.experiment.name, "mine");
    assert_eq!(read.machine.config.sizes().units, 100);
}
