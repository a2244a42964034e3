//! Traces: what is written and read back, what travels, what is verified and compared.

mod attention;
mod compare;
mod fields;
mod file;
mod interventions;
mod provenance;
mod sampled;
mod verify;
mod write_and_read;

use serde_json::Value;
use tapescope::io::trace::{self, Imported, Source};
use tapescope::io::{Experiment, Trained, weights};
use tapescope::model::Model;
use tapescope::train::Recording;

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

/// The included machines, and a Differentiable Neural Computer with random weights.
fn machines() -> Vec<Trained> {
    let mut all = weights::all_included().unwrap();
    let experiment = Experiment::find("recall_dnc", &[]).unwrap();
    all.push(Trained {
        machine: Model::new(experiment.model.clone(), 1),
        experiment,
        ..all[0].clone()
    });
    all
}

/// A machine with random weights, and its third episode of seed 7.
fn record(preset: &str) -> (Model<f32>, Recording) {
    let experiment = Experiment::from_json(preset, "tiny.json", &[]).unwrap();
    let machine = Model::new(experiment.model, 3);
    let recording = Recording::new(&machine, &experiment.task, 7, 2);
    (machine, recording)
}

fn source<'a>(machine: &'a Model<f32>, sha256: &'a str) -> Source<'a> {
    Source {
        config: &machine.config,
        sha256: Some(sha256),
        full_memory: false,
        gradient: None,
    }
}

fn json(machine: &Model<f32>, recording: &Recording) -> String {
    let (mut bytes, sha256) = (Vec::new(), weights::sha256(machine));
    trace::write_to(&mut bytes, recording, &source(machine, &sha256)).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn npz(machine: &Model<f32>, recording: &Recording) -> Vec<u8> {
    let (mut bytes, sha256) = (Vec::new(), weights::sha256(machine));
    trace::write_npz(&mut bytes, recording, &source(machine, &sha256)).unwrap();
    bytes
}

fn written(preset: &str) -> String {
    let (machine, recording) = record(preset);
    json(&machine, &recording)
}

fn tiny() -> String {
    written(TINY)
}

fn error(file: impl AsRef<[u8]>) -> String {
    let read = trace::from_bytes(file.as_ref().to_vec(), "t");
    read.unwrap_err().to_string()
}

fn opened(file: &str) -> Imported {
    trace::from_json(file, "t").unwrap()
}

/// What was read, written once more.
fn again(imported: &Imported) -> String {
    let source = Source {
        config: &imported.config,
        sha256: imported.sha256.as_deref(),
        full_memory: false,
        gradient: None,
    };
    let mut bytes = Vec::new();
    trace::write_to(&mut bytes, &imported.recording, &source).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn value(file: &str) -> Value {
    serde_json::from_str(file).unwrap()
}

/// A trace without some of its arrays.
fn without(mut trace: Value, arrays: &[&str]) -> Value {
    for array in arrays {
        let gone = trace["arrays"].as_object_mut().unwrap().remove(*array);
        assert!(gone.is_some(), "{array}");
    }
    trace
}
