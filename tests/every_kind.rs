//! A kind of machine that nothing here knows of is trained, measured, recorded, written, read and verified like any
//! other: `model/appended.rs` is one file and one line of the registry.

use tapescope::io::{Experiment, checkpoint, trace, weights};
use tapescope::train::{HistoryPoint, Recording, Trainer, evaluate};

const PRESET: &str = r#"{
    "name": "appended",
    "task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"kind": "appended", "memory": {"rows": 5}},
    "training": {"optimizer": {"kind": "adam", "rate": 0.01}, "sequences": 4000, "batch": 8,
                 "validation_every": 500, "validation_episodes": 40}
}"#;

fn trained() -> (Experiment, Trainer) {
    let experiment = Experiment::from_json(PRESET, "appended.json", &[]).unwrap();
    let Experiment {
        task,
        model,
        training,
        ..
    } = experiment.clone();
    let mut trainer = Trainer::new(task, model, training, 2);
    while !trainer.finished() {
        trainer.update().unwrap();
    }
    (experiment, trainer)
}

#[test]
fn any_kind_of_machine_learns_and_is_written_and_read() {
    let (experiment, trainer) = trained();
    let bits = |point: &HistoryPoint| point.validation.bits_per_sequence;
    let history = &trainer.state.history;
    let (first, last) = (bits(&history[0]), bits(&history[history.len() - 1]));
    assert!(last < 0.95 * first, "{first} and {last} bits");
    let again = Experiment::from_json(&experiment.to_json(), "again.json", &[]);
    assert_eq!(again.unwrap(), experiment);

    let kept = checkpoint::to_bytes(&experiment, &trainer.state);
    let (_, state) = checkpoint::from_bytes(&kept, "appended").unwrap();
    assert_eq!(state.machine, trainer.state.machine);
    let whole = weights::Trained {
        machine: state.machine,
        experiment,
        history: Vec::new(),
        evaluation: None,
        command: String::new(),
    };
    let read = weights::from_bytes(&weights::to_bytes(&whole), "appended").unwrap();
    assert_eq!(read, whole);
    let measured = |threads| evaluate(&read.machine, &read.experiment.task, 7, 30, threads);
    assert_eq!(measured(1), measured(2));
}

#[test]
fn any_kind_of_machine_is_recorded_and_verified() {
    let (experiment, trainer) = trained();
    let machine = &trainer.state.machine;
    let recording = Recording::new(machine, &experiment.task, 7, 1);
    let source = trace::Source {
        config: &machine.config,
        sha256: None,
        full_memory: false,
    };
    let read = |recording: &Recording| {
        let (mut json, mut npz) = (Vec::new(), Vec::new());
        trace::write_to(&mut json, recording, &source).unwrap();
        trace::write_npz(&mut npz, recording, &source).unwrap();
        let [json, npz] = [json, npz].map(|file| trace::from_bytes(file, "appended").unwrap());
        assert_eq!(json.recording.trace.heads, npz.recording.trace.heads);
        json
    };
    let honest = read(&recording);
    assert_eq!(honest.config, machine.config);
    assert_eq!(
        honest.recording.trace.memory_columns,
        recording.trace.memory_columns
    );
    let found = trace::verify(&honest, 0.0);
    assert_eq!(found.outcome(), trace::Outcome::Holds);
    for array in ["read0.weighting", "read0.read", "memory", "output", "loss"] {
        assert!(
            found.checked.iter().any(|checked| checked == array),
            "{array}"
        );
    }
    assert_eq!(
        found.given,
        ["logit", "read0.key", "write0.add"].map(str::to_owned)
    );
    let mut tampered = recording.clone();
    tampered.trace.heads[0].weighting.row_mut(3)[1] += 0.25;
    let first = trace::verify(&read(&tampered), 1e-6)
        .comparison
        .first
        .unwrap();
    assert_eq!(
        (first.array.as_str(), first.index),
        ("read0.weighting", vec![3, 1])
    );
    assert!(
        trace::replay(&honest, machine, 0.0)
            .unwrap()
            .first
            .is_none()
    );
}
