//! A machine that nothing here knows of is trained, measured, recorded, written, read and verified like any other: its
//! file is all of it.

use std::ffi::OsStr;

use tapescope::io::{Experiment, Trained, checkpoint, trace, weights};
use tapescope::model::{Draw, NoiseMode};
use tapescope::train::{HistoryPoint, Recording, Trainer};

/// A memory that is only appended to, and read by the dot product and by noise.
const FILE: &str = r#"machine "Appended"
input  x[steps, inputs]
target y[steps, outputs]
size   rows    = 5 in 1..4096 "the most rows"
size   columns = 8 in 1..64 "numbers in a row"
noise  u[steps, rows] = uniform "noise"
start  M[rows, columns] = 0

along steps
  q = linear[columns](x)                                       "read0.key"
  w = dot[columns](q, M[-1]) + u                               "read0.weighting"
  r = sum[rows](w * M[-1])                                     "read0.read"
  a = linear[columns](x)                                       "write0.add"
  M = M[-1] + where(index[rows] == index[steps], a, 0)         "memory"
  z = linear[outputs](r)                                       "logit"
"#;

fn trained() -> (Experiment, Trainer) {
    let preset = serde_json::json!({
        "name": "appended",
        "task": {"kind": "copy", "bits": 2, "length": [1, 3]},
        "model": {"kind": "equations", "file": "appended.machine", "text": FILE},
        "training": {"optimizer": {"kind": "adam", "learning_rate": 0.01}, "sequences": 4000, "batch": 8,
                     "validation_every": 500, "validation_episodes": 40}
    });
    let experiment = Experiment::from_json(&preset.to_string(), "appended.json", &[]).unwrap();
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
fn a_machine_of_a_file_learns_and_is_written_and_read() {
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
fn a_machine_of_a_file_is_recorded_and_verified() {
    let (experiment, trainer) = trained();
    let machine = &trainer.state.machines[0];
    let draw = Draw {
        sampling: NoiseMode::Sampled,
        ..Draw::of(7, 1)
    };
    let mean = Recording::new(machine, &experiment.task, 7, 1);
    let recording = Recording::of(machine, &experiment.task, mean.episode, Some(draw));
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
        ["logit", "write0.add", "read0.initial", "read0.key"].map(str::to_owned)
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
    let (place, array, _) = recording.trace.noise().next().unwrap();
    let series = tampered.trace.series_mut(place, array);
    series.unwrap().row_mut(2)[4] -= 0.01;
    let noise = ("noise".to_owned(), vec![2, 4]);
    assert_eq!(first_wrong(&tampered), Some(noise));
    let draw = Draw { sample: 3, ..draw };
    let (task, episode) = (&experiment.task, recording.episode.clone());
    let mut other = Recording::of(machine, task, episode, Some(draw));
    assert_ne!(noise_of(&other), noise_of(&recording));
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

fn noise_of(recording: &Recording) -> &[f32] {
    let (.., series) = recording.trace.noise().next().unwrap();
    series.as_slice()
}

/// Arrays have their axes in the order in which the file first names them: a memory lies on its side where the `start` of
/// its file has another one.
#[test]
fn files_declare_the_sizes_of_a_start_in_its_order() {
    for folder in ["examples", "src/core/machines"] {
        let files = std::fs::read_dir(folder).unwrap();
        for path in files.map(|file| file.unwrap().path()) {
            let is_file = |end: &OsStr| end == "machine" || end == "component";
            if !path.extension().is_some_and(is_file) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let line_of = |axis: &str| {
                let mut lines = text.lines().map(str::split_whitespace);
                lines.position(|mut words| {
                    words.next() == Some("size") && words.next() == Some(axis)
                })
            };
            for start in text.lines().filter(|line| line.starts_with("start ")) {
                let Some((axes, _)) = start
                    .split_once('[')
                    .and_then(|(_, own)| own.split_once(']'))
                else {
                    continue;
                };
                let declared = axes.split(", ").filter_map(line_of);
                assert!(declared.is_sorted(), "{}: {start}", path.display());
            }
        }
    }
}
