//! An independent interpreter of machine files, in NumPy, recomputes every recorded array: `recompute.py`.

use std::path::Path;
use std::process::{Command, Output};

use crate::numpy;
use tapescope::io::Experiment;
use tapescope::io::trace::{self, Source};
use tapescope::io::weights;
use tapescope::model::attention::Switch;
use tapescope::model::config::{ControllerKind, Order, ShiftForm};
use tapescope::model::{Draw, Kind, Model, ModelConfig, NoiseMode, NtmConfig};
use tapescope::task::{Copy, Task};
use tapescope::train::Recording;

/// Machines other than the Neural Turing Machine: their task and `model`, which have every score, weighting and bias.
#[rustfmt::skip]
const OTHERS: [(&str, &str); 11] = [
    (BITS, r#"{"kind": "dnc", "memory": {"rows": 9, "columns": 5}, "heads": {"read": 2}}"#),
    (BITS, r#"{"kind": "dnc", "memory": {"rows": 9}, "heads": {"free_gates": "off"}, "controller": {"kind": "feedforward"}}"#),
    (BITS, r#"{"kind": "dnc", "memory": {"rows": 9}, "heads": {"links": "off", "allocation": "off"}}"#),
    (BITS, r#"{"kind": "sam", "memory": {"rows": 9, "columns": 5}, "heads": {"count": 2, "rows": 3}}"#),
    (BITS, r#"{"kind": "sam", "memory": {"rows": 5000, "index": "hashed"}, "controller": {"kind": "feedforward"}}"#),
    (BITS, r#"{"kind": "sam", "memory": {"rows": 30, "initial": "learned"}, "heads": {"threshold": 0.2}}"#),
    (PICTURE, r#"{"kind": "equations", "file": "caption.machine", "sizes": {"filters": 3}, "switches": {"rows": "convolution", "attention": {"weighting": "lognormal"}}}"#),
    (BITS, r#"{"kind": "equations", "file": "multi_head_layers.machine", "sizes": {"embedding": 10, "depth": 3}, "heads": {"read": 2}}"#),
    (SYMBOLS, r#"{"kind": "equations", "file": "multi_head_layers.machine", "sizes": {"embedding": 10}, "switches": {"mask": "full", "places": "sinusoidal"}}"#),
    (BITS, r#"{"kind": "equations", "file": "lstmn_fusion.machine", "sizes": {"units": 9}}"#),
    (SYMBOLS, r#"{"kind": "equations", "file": "lstmn_fusion.machine", "sizes": {"units": 7}, "switches": {"fusion": "deep"}}"#),
];
const SYMBOLS: &str = r#"{"kind": "transduce", "length": [6, 6]}"#;
const BITS: &str = r#"{"kind": "copy", "bits": 3, "length": [5, 5]}"#;
const PICTURE: &str = r#"{"kind": "caption"}"#;

/// Random weights, three times as large as usual: nothing saturates, and no weighting is flat.
fn random(config: impl Into<ModelConfig>) -> Model<f32> {
    let mut machine = Model::new(config, 9);
    let weights = machine.params.slices_mut().flatten();
    weights.for_each(|w| *w *= 3.0);
    machine
}

fn export(folder: &Path, name: &str, machine: &Model<f32>, recording: &Recording) -> String {
    let path = folder.join(format!("{name}.ntmtrace.json"));
    let sha256 = weights::sha256(machine);
    let source = Source {
        config: &machine.config,
        sha256: Some(&sha256),
        full_memory: true,
        gradient: None,
    };
    trace::write(&path, recording, &source).unwrap();
    path.to_string_lossy().into_owned()
}

/// `None` where there is no Python with NumPy.
fn recompute(paths: &[String]) -> Option<Output> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recompute.py");
    let ran = Command::new(numpy::python()?)
        .arg(script)
        .args(paths)
        .output();
    Some(ran.unwrap())
}

#[test]
fn every_stage_follows_from_what_the_heads_emitted() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for trained in weights::all_included().unwrap() {
        let recording = Recording::new(&trained.machine, &trained.experiment.task, 1, 0);
        paths.push(export(
            folder.path(),
            &trained.experiment.name,
            &trained.machine,
            &recording,
        ));
    }
    let task = Task::Copy(Copy {
        bits: 3,
        length: 5..=5,
    });
    for (kind, form, order) in [
        (ControllerKind::Lstm, ShiftForm::Scalar, Order::ReadFirst),
        (
            ControllerKind::Feedforward,
            ShiftForm::Softmax,
            Order::ReadFirst,
        ),
        (ControllerKind::Lstm, ShiftForm::Softmax, Order::WriteFirst),
    ] {
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (
            config.rows,
            config.columns,
            config.read_heads,
            config.write_heads,
        ) = (13, 7, 2, 3);
        (
            config.controller.kind,
            config.shift_form,
            config.shift_range,
        ) = (kind, form.into(), 2);
        config.order = order;
        // Of the three that write the last erases nothing.
        config.attention.erase = [vec![Switch::On; 4], vec![Switch::Off]].concat().into();
        let machine = random(config);
        let recording = Recording::new(&machine, &task, 1, 0);
        paths.push(export(
            folder.path(),
            &format!("{kind:?}{form:?}"),
            &machine,
            &recording,
        ));
    }
    for sampling in [NoiseMode::Mean, NoiseMode::Sampled, NoiseMode::Expected] {
        let mut config = NtmConfig::with_every_mechanism();
        config.set_channels(task.inputs(), task.outputs());
        let machine = Model::new(config, 9);
        let draw = Draw {
            sampling,
            ..Draw::of(1, 0)
        };
        let recording = Recording::of(&machine, &task, task.episode(1, 0), Some(draw));
        paths.push(export(
            folder.path(),
            &format!("every{sampling:?}"),
            &machine,
            &recording,
        ));
    }
    for (number, (task, model)) in OTHERS.into_iter().enumerate() {
        let text = format!(r#"{{"task": {task}, "model": {model}, "training": {{}}}}"#);
        let Experiment { task, model, .. } = Experiment::from_json(&text, "test", &[]).unwrap();
        let machine = random(model);
        for sampling in [NoiseMode::Mean, NoiseMode::Sampled] {
            let draw = Draw {
                sampling,
                ..Draw::of(1, 0)
            };
            let recording = Recording::of(&machine, &task, task.episode(1, 0), Some(draw));
            let name = format!("source{number}{sampling:?}");
            paths.push(export(folder.path(), &name, &machine, &recording));
        }
    }
    let Some(output) = recompute(&paths) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn a_tampered_trace_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let task = Task::Copy(Copy {
        bits: 3,
        length: 2..=2,
    });
    let machine = Model::new(NtmConfig::new(task.inputs(), task.outputs()), 1);
    let mut recording = Recording::new(&machine, &task, 1, 0);
    recording.trace.heads[1].gated.row_mut(3)[5] += 1e-3;
    let path = export(folder.path(), "tampered", &machine, &recording);
    let Some(output) = recompute(&[path]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
