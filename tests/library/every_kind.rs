//! A kind of machine that nothing here knows of is trained, measured, recorded, written, read and verified like any
//! other: `every_kind/appended.rs` is one file and one line of the registry.

use tapescope::io::{Experiment, Trained, checkpoint, trace, weights};
use tapescope::model::Draw;
use tapescope::model::attention::Score;
use tapescope::train::{HistoryPoint, Recording, Trainer};

const PRESET: &str = r#"{
    "name": "appended",
    "task": {"kind": "copy", "bits": 2, "length": [1, 3]},
    "model": {"kind": "appended", "memory": {"rows": 5}},
    "training": {"optimizer": {"kind": "adam", "learning_rate": 0.01}, "sequences": 4000, "batch": 8,
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
    assert_eq!(state.machines[0], trainer.state.machines[0]);
    let whole = Trained {
        machine: state.machines[0].clone(),
        experiment,
        history: Vec::new(),
        evaluation: None,
        changes: Vec::new(),
        command: String::new(),
    };
    let read = weights::from_bytes(&weights::to_bytes(&whole), "appended").unwrap();
    assert_eq!(read, whole);
    let measured = |threads| {
        read.evaluator(&read.experiment.task, 7, 30)
            .measure(threads)
    };
    assert_eq!(measured(1), measured(2));
}

#[test]
fn any_kind_of_machine_is_recorded_and_verified() {
    let (experiment, trainer) = trained();
    let machine = &trainer.state.machines[0];
    let recording = Recording::new(machine, &experiment.task, 7, 1);
    let source = trace::Source {
        config: &machine.config,
        sha256: None,
        full_memory: false,
        gradient: None,
    };
    let read = |recording: &Recording| {
        let (mut json, mut npz) = (Vec::new(), Vec::new());
        trace::write_to(&mut json, recording, &source).unwrap();
        trace::write_npz(&mut npz, recording, &source).unwrap();
        let [json, npz] = [json, npz].map(|file| trace::from_bytes(file, "appended").unwrap());
        assert_eq!(json.recording.trace.heads, npz.recording.trace.heads);
        json
    };
    let scores = recording
        .trace
        .heads
        .iter()
        .map(|head| head.mechanism.score);
    assert!(scores.eq([Score::Dot; 2]), "what the heads compute");
    let honest = read(&recording);
    assert_eq!(honest.config, machine.config);
    assert_eq!(
        honest.recording.trace.memory_columns,
        recording.trace.memory_columns
    );
    let found = trace::verify(&honest, 0.0);
    assert_eq!(found.outcome(), trace::Outcome::Holds);
    for array in [
        "noise",
        "read0.weighting",
        "read0.read",
        "memory",
        "output",
        "loss",
    ] {
        assert!(
            found.checked.iter().any(|checked| checked == array),
            "{array}"
        );
    }
    assert_eq!(
        found.given,
        ["logit", "read0.key", "write0.add"].map(str::to_owned)
    );
    let first_wrong = |tampered: &Recording| {
        let found = trace::verify(&read(tampered), 1e-6).comparison.first;
        found.map(|first| (first.array, first.index))
    };
    let mut tampered = recording.clone();
    tampered.trace.heads[0].weighting.row_mut(3)[1] += 0.25;
    let weighting = ("read0.weighting".to_owned(), vec![3, 1]);
    assert_eq!(first_wrong(&tampered), Some(weighting));
    // The noise is that of the seed, the episode and the sample.
    let mut tampered = recording.clone();
    let own = tampered.trace.kind_arrays.arrays_mut().next();
    own.unwrap().1.row_mut(2)[4] -= 0.01;
    let noise = ("noise".to_owned(), vec![2, 4]);
    assert_eq!(first_wrong(&tampered), Some(noise));
    let draw = Draw {
        sample: 3,
        ..Draw::of(7, 1)
    };
    let (task, episode) = (&experiment.task, recording.episode.clone());
    let mut other = Recording::of(machine, task, episode, Some(draw));
    assert_ne!(other.trace.kind_arrays, recording.trace.kind_arrays);
    assert_eq!(read(&other).recording.origin, Some(draw));
    assert_eq!(first_wrong(&other), None);
    other.origin = recording.origin;
    assert!(first_wrong(&other).is_some());
    // Weights run on the noise that was recorded, also where nothing says which it was.
    let replayed = |recording: &Recording| trace::replay(&read(recording), machine, 0.0).unwrap();
    assert!(replayed(&recording).first.is_none());
    other.origin = None;
    assert!(replayed(&other).first.is_none());
}
