//! The readers, what honest files look like, and what must hold whatever is read.

use std::io::Write;
use std::time::Duration;

use tapescope::io::trace::{self, Source};
use tapescope::io::{
    Error, Experiment, Trained, bits, checkpoint, episodes, log, pairs, text as sentences, weights,
};
use tapescope::math::Answer;
use tapescope::model::{Draw, Model, NoiseMode};
use tapescope::task::{Episodes, HeldOut, Pairs, Task, Text, Tokens};
use tapescope::train::{Recording, Trainer};

use super::container;
use super::mutate::Mutator;
use super::npz as arrays;

/// The name of every file in messages.
const LABEL: &str = "some/file";
/// Longer than this no message is.
const LONGEST_MESSAGE: usize = 1000;

const MACHINES: [&str; 13] = [
    r#"{"task": {"kind": "copy", "bits": 1, "length": [2, 2]},
        "model": {"memory": {"rows": 4, "columns": 2}, "controller": {"size": 3}}}"#,
    r#"{"task": {"kind": "associative_recall", "bits": 1, "item_length": 1, "items": [2, 3]},
        "model": {"memory": {"rows": 5, "columns": 2, "initial": "learned"}, "controller": {"size": 2, "layers": 2},
                  "heads": {"read": 2, "write": 2, "shift": {"form": "scalar", "range": 2}, "initial_weighting": "learned"}}}"#,
    r#"{"task": {"kind": "ngrams", "context": 1, "length": [66, 66]},
        "model": {"memory": {"rows": 3, "columns": 1}, "controller": {"kind": "feedforward", "size": 2}}}"#,
    r#"{"task": {"kind": "priority_sort", "bits": 1, "items": [2, 2]},
        "model": {"memory": {"rows": 3, "columns": 2}, "controller": {"size": 1}, "heads": {"read": 0, "write": 1}}}"#,
    r#"{"task": {"kind": "copy", "bits": 1, "length": [1, 1]},
        "model": {"memory": {"rows": 3, "columns": 2}, "controller": {"size": 2},
                  "heads": {"read": 4, "write": 1, "shift": {"form": ["softmax", "none", "scalar", "none", "softmax"]},
                            "attention": {"score": ["additive", "general", "location", "cosine", "scaled-dot"],
                                          "weighting": ["hard", "local-predictive", "weibull", "lognormal", "soft"],
                                          "gate": ["on", "off", "on", "on", "on"], "strength": "one",
                                          "units": 2, "position_units": 2, "prior_units": 2}}},
        "training": {"hard": {"expected": 0.5}, "bayesian": {"warmup": 0}}}"#,
    r#"{"task": {"kind": "transduce", "symbols": 2, "length": [2, 2], "ambiguous": 0.5},
        "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 1}, "units": 2, "attention": {"units": 2}}}}"#,
    r#"{"task": {"kind": "caption", "symbols": 2, "grid": 1, "glyphs": [1, 1], "patch": 2},
        "model": {"memory": {"rows": 3, "columns": 1}, "controller": {"size": 1}}}"#,
    r#"{"task": {"kind": "frames", "symbols": 2, "length": [1, 2], "duration": [1, 2], "channels": 1},
        "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 1}, "units": 1, "attention": {"units": 1}}}}"#,
    r#"{"task": {"kind": "aspects", "symbols": 3, "length": [2, 3], "aspects": [1, 2]},
        "model": {"memory": {"rows": 3, "columns": 1}, "controller": {"size": 1}}}"#,
    r#"{"task": {"kind": "span", "symbols": 2, "positions": 4, "length": [3, 4], "question": 1, "span": [1, 1]},
        "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 1}, "units": 1, "attention": {"units": 1}}}}"#,
    r#"{"task": {"kind": "reuse", "bits": 1, "together": 1, "items": [2, 2]},
        "model": {"kind": "dnc", "memory": {"rows": 3, "columns": 1}, "controller": {"size": 1}}}"#,
    r#"{"task": {"kind": "copy", "bits": 1, "length": [1, 2]},
        "model": {"kind": "sam", "memory": {"rows": 5, "columns": 1}, "controller": {"size": 1}, "heads": {"rows": 2}}}"#,
    r#"{"task": {"kind": "graph", "nodes": 2, "labels": 1, "edges": [2, 2], "path": [1, 1]},
        "model": {"memory": {"rows": 3, "columns": 1}, "controller": {"size": 1}}}"#,
];
const PRESETS: [&str; 4] = [
    include_str!("../../tasks/copy.json"),
    include_str!("../../tasks/repeat_copy_paper.json"),
    include_str!("../../tasks/associative_recall.json"),
    include_str!("../../tasks/priority_sort.json"),
];
const BITS: [&str; 9] = [
    "[[0,1,1],\n[1,0,1],\n[0,0,0]]",
    r#"{"bits": [[0,1,1],[1,1,1]], "repeats": 3}"#,
    r#"{"bits": [[0,1,1],[1,1,1],[0,0,1]], "query": 1}"#,
    r#"{"bits": [[0,1,1],[1,1,1],[0,0,1]], "priorities": [0.5, -1, 1e-3]}"#,
    "[1,0,2]",
    r#"{"symbols": [null, 1, 0, null]}"#,
    r#"{"symbols": [2, 1, 0], "marked": [1, 0]}"#,
    r#"{"symbols": [2, 1, null], "question": [2]}"#,
    r#"{"edges": [[0, 1, 1], [1, 0, 0]], "start": 0, "path": [1, 0]}"#,
];
const TASKS: [&str; 10] = [
    r#"{"task": {"kind": "copy", "bits": 3, "length": [1, 5]}}"#,
    r#"{"task": {"kind": "repeat_copy", "bits": 3, "length": [1, 5], "repeats": [1, 3]}}"#,
    r#"{"task": {"kind": "associative_recall", "bits": 3, "item_length": 1, "items": [2, 5]}}"#,
    r#"{"task": {"kind": "priority_sort", "bits": 3, "items": [1, 5]}}"#,
    r#"{"task": {"kind": "transduce", "symbols": 3}}"#,
    r#"{"task": {"kind": "caption", "symbols": 3, "grid": 2, "glyphs": [1, 2], "patch": 2}}"#,
    r#"{"task": {"kind": "aspects", "symbols": 3, "aspects": [1, 2]}}"#,
    r#"{"task": {"kind": "span", "symbols": 3, "question": 1, "span": [1, 1]}}"#,
    r#"{"task": {"kind": "reuse", "bits": 3, "together": 2, "items": [1, 5]}}"#,
    r#"{"task": {"kind": "graph", "nodes": 2, "labels": 2, "edges": [2, 4]}}"#,
];

/// A matrix, links, and two arrays of weights.
const ATTENTION: [&[u8]; 4] = [
    b"1 0 0\n0.5 0.5 0\n0.2,0.3;0.5\n",
    b"0-0 1p2 2-1\n\n0-0\n",
    b"\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), } \n\0\0\0\x3f\0\0\0\x3f",
    b"\x93NUMPY\x01\x00\x42\x00{'descr': '|V2', 'fortran_order': False, 'shape': (2, 1, 1, 2), }  \n\x80\x3f\0\0\0\x3f\0\x3f",
];

/// A reader under fire.
pub struct Target {
    pub name: &'static str,
    /// Files as they should be.
    pub corpus: Vec<Vec<u8>>,
    /// A file made of one and of another.
    pub damage: fn(&mut Mutator, &[u8], &[u8]) -> Vec<u8>,
    /// Reads it. `Err`: the message for the user.
    pub read: fn(&[u8]) -> Result<(), String>,
}

/// Every reader of the program.
pub fn all() -> Vec<Target> {
    let traces: Vec<Vec<u8>> = traces();
    vec![
        Target {
            name: "trace",
            corpus: traces.clone(),
            damage: text,
            read: read_trace,
        },
        Target {
            name: "gzip",
            corpus: traces,
            damage: container::gzip,
            read: read_trace,
        },
        Target {
            name: "npz",
            corpus: MACHINES.iter().map(|machine| npz(machine)).collect(),
            damage: container::zip,
            read: read_trace,
        },
        Target {
            name: "attention",
            corpus: ATTENTION.map(<[u8]>::to_vec).to_vec(),
            damage: text,
            read: read_trace,
        },
        Target {
            name: "safetensors",
            corpus: MACHINES
                .iter()
                .map(|machine| safetensors(machine))
                .collect(),
            damage: container::safetensors,
            read: read_weights,
        },
        Target {
            name: "checkpoint",
            corpus: MACHINES.iter().map(|machine| state_of(machine)).collect(),
            damage: container::safetensors,
            read: read_checkpoint,
        },
        Target {
            name: "preset",
            corpus: presets(),
            damage: text,
            read: read_preset,
        },
        Target {
            name: "log",
            corpus: logs(),
            damage: text,
            read: read_log,
        },
        Target {
            name: "bits",
            corpus: BITS.map(|bits| bits.as_bytes().to_vec()).into(),
            damage: text,
            read: read_bits,
        },
        Target {
            name: "episodes",
            corpus: [2, 3, 20].map(own_episodes).into(),
            damage: container::zip,
            read: read_episodes,
        },
        Target {
            name: "pairs",
            corpus: PAIRS.map(|lines| lines.as_bytes().to_vec()).into(),
            damage: text,
            read: read_pairs,
        },
        Target {
            name: "text",
            corpus: SENTENCES.map(|lines| lines.as_bytes().to_vec()).into(),
            damage: text,
            read: read_sentences,
        },
    ]
}

fn text(mutator: &mut Mutator, file: &[u8], other: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    mutator.text(&mut file, other);
    file
}

fn record(machine: &str) -> (Model<f32>, Recording) {
    let experiment = Experiment::from_json(machine, "tiny.json", &[]).unwrap();
    let (machine, task) = (Model::new(experiment.model, 3), experiment.task);
    let draw = Draw {
        sample: 1,
        sampling: NoiseMode::Sampled,
        ..Draw::of(7, 2)
    };
    let drawn = machine.config.is_random().then_some(draw);
    let origin = drawn.unwrap_or(Draw::of(7, 2));
    let recording = Recording::of(&machine, &task, task.episode(7, 2), Some(origin));
    (machine, recording)
}

fn source(machine: &Model<f32>) -> Source<'_> {
    Source {
        config: &machine.config,
        sha256: None,
        full_memory: false,
        gradient: None,
    }
}

/// Traces of ours, and such as other programs write: with little in them, or with the memory in parts.
fn traces() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for text in MACHINES {
        let (machine, recording) = record(text);
        let mut bytes = Vec::new();
        trace::write_to(&mut bytes, &recording, &source(&machine)).unwrap();
        files.push(bytes);
    }
    let mut turns: serde_json::Value = serde_json::from_slice(&files[0]).unwrap();
    turns["conventions"] = serde_json::json!({
        "order": ["write0", "read0"], "shifts": [1, -1, 0], "similarity": "cosine-clamped-product"
    });
    let arrays = turns["arrays"].as_object_mut().unwrap();
    arrays.retain(|name, _| !matches!(name.as_str(), "memory" | "loss" | "read0.gated"));
    files.push(turns.to_string().into_bytes());
    let mut bare: serde_json::Value = serde_json::from_slice(&files[0]).unwrap();
    let needed = ["input", "read0.weighting", "write0.weighting"];
    let arrays = bare["arrays"].as_object_mut().unwrap();
    arrays.retain(|name, _| needed.contains(&name.as_str()));
    bare["task"] = serde_json::json!({"name": "omniglot"});
    bare["model"] = serde_json::json!({"heads": {"similarity_epsilon": 0}});
    files.push(bare.to_string().into_bytes());
    let mut parts: serde_json::Value = serde_json::from_slice(&files[2]).unwrap();
    let arrays = parts["arrays"].as_object_mut().unwrap();
    let full = arrays.remove("memory").unwrap();
    let frame = |t: usize| full["data"].as_array().unwrap()[3 * t..3 * t + 3].to_vec();
    let last = serde_json::json!({"shape": [3, 1], "data": frame(66)});
    let frames = serde_json::json!({"shape": [1, 3, 1], "data": frame(64)});
    arrays.insert("memory.last".to_owned(), last);
    arrays.insert("memory.keyframes".to_owned(), frames);
    files.push(parts.to_string().into_bytes());
    for file in &files {
        trace::from_bytes(file.clone(), LABEL).unwrap();
    }
    files
}

fn npz(machine: &str) -> Vec<u8> {
    let (machine, recording) = record(machine);
    let mut bytes = Vec::new();
    trace::write_npz(&mut bytes, &recording, &source(&machine)).unwrap();
    bytes
}

fn safetensors(machine: &str) -> Vec<u8> {
    let experiment = Experiment::from_json(machine, "tiny.json", &[]).unwrap();
    unchecked(weights::to_bytes(&Trained {
        machine: Model::new(experiment.model.clone(), 3),
        experiment,
        history: Vec::new(),
        evaluation: None,
        changes: Vec::new(),
        command: "train".to_owned(),
    }))
}

/// A file whose damage the checksum does not show.
fn unchecked(mut file: Vec<u8>) -> Vec<u8> {
    let key = b"\"checksum\"";
    let place = file.windows(key.len()).position(|bytes| bytes == key);
    file[place.unwrap() + 1] = b'C';
    file
}

/// A checkpoint behind the first validation.
fn state_of(machine: &str) -> Vec<u8> {
    let mut experiment = Experiment::from_json(machine, "tiny.json", &[]).unwrap();
    let training = &mut experiment.training;
    (training.validation_every, training.validation_episodes) = (2, 1);
    let (task, training) = (experiment.task.clone(), training.clone());
    let mut trainer = Trainer::new(task, experiment.model.clone(), training, 1);
    for _ in 0..3 {
        trainer.update().unwrap();
    }
    // The time that training took differs from run to run, and the damaged files would too.
    trainer.state.time = Duration::ZERO;
    for point in &mut trainer.state.history {
        point.seconds = 0.0;
    }
    unchecked(checkpoint::to_bytes(&experiment, &trainer.state))
}

fn presets() -> Vec<Vec<u8>> {
    let whole = PRESETS.iter().map(|preset| {
        let experiment = Experiment::from_json(preset, "p.json", &[]).unwrap();
        experiment.to_json().into_bytes()
    });
    let typed = PRESETS.iter().chain(&MACHINES);
    whole
        .chain(typed.map(|preset| preset.as_bytes().to_vec()))
        .collect()
}

fn logs() -> Vec<Vec<u8>> {
    let log = |preset: &str| {
        let one_line = preset.replace('\n', " ");
        let header = format!(
            r#"{{"format":"ntm-log","version":"1.1","generator":{{}},"command":"x","experiment":{one_line}}}"#
        );
        let points = (1..4).map(|point| {
            format!(
                r#"{{"sequences":{point}000,"seconds":0.5,"training_bits":"NaN","training_reward":-0.5,"training_divergence":2.5,"validation":{{"episodes":2,"bits_per_sequence":3.0,"wrong_bits":1.5,"scored_bits":8,"perfect":0.25,"divergence":2.5}}}}"#
            )
        });
        let changes = [
            r#"{"change":{"sequences":3000,"set":["training.batch=4","training.optimizer.learning_rate=3e-4"]}}"#,
        ];
        let changes = changes.map(str::to_owned);
        let lines: Vec<String> = std::iter::once(header)
            .chain(points)
            .chain(changes)
            .collect();
        let log = lines.join("\n");
        (log + "\n").into_bytes()
    };
    [PRESETS[0], MACHINES[1], MACHINES[4]].map(log).into()
}

/// What a message must be, whatever was read.
fn said(error: &Error) -> Result<(), String> {
    let message = error.to_string();
    let shown: String = message.chars().take(300).collect();
    assert!(message.starts_with(LABEL), "names no file: {shown}");
    assert!(message.len() < LONGEST_MESSAGE, "is long: {shown}");
    assert!(
        !message.contains(char::is_control),
        "has control characters: {shown:?}"
    );
    Err(message)
}

fn read_trace(file: &[u8]) -> Result<(), String> {
    let read = match trace::from_bytes(file.to_vec(), LABEL) {
        Ok(read) => read,
        Err(error) => return said(&error),
    };
    // What was accepted can be worked with, and is written as it was read.
    let found = trace::diff(&read, &read, 0.0).expect("has the sizes that it has");
    assert_eq!(found.differing, 0, "is itself: {:?}", found.first);
    trace::verify(&read, 1e-4);
    let write = |read: &trace::Imported| {
        let source = Source {
            config: &read.config,
            sha256: read.sha256.as_deref(),
            full_memory: false,
            gradient: None,
        };
        let mut bytes = Vec::new();
        trace::write_to(&mut bytes, &read.recording, &source).unwrap();
        bytes
    };
    let written = write(&read);
    let again = trace::from_bytes(written.clone(), LABEL).expect("reads back");
    assert!(write(&again) == written, "reads back as the same trace");
    Ok(())
}

fn read_checkpoint(file: &[u8]) -> Result<(), String> {
    let (experiment, state) = match checkpoint::from_bytes(file, LABEL) {
        Ok(read) => read,
        Err(error) => return said(&error),
    };
    let written = checkpoint::to_bytes(&experiment, &state);
    let (experiment, state) = checkpoint::from_bytes(&written, LABEL).expect("reads back");
    let again = checkpoint::to_bytes(&experiment, &state);
    assert!(again == written, "reads back as the same state");
    Ok(())
}

fn read_weights(file: &[u8]) -> Result<(), String> {
    let read = match weights::from_bytes(file, LABEL) {
        Ok(read) => read,
        Err(error) => return said(&error),
    };
    let written = weights::to_bytes(&read);
    let again = weights::from_bytes(&written, LABEL).expect("reads back");
    assert!(
        weights::to_bytes(&again) == written,
        "reads back as the same machine"
    );
    Ok(())
}

fn read_preset(file: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(file) else {
        return Err("not text".to_owned());
    };
    let read = match Experiment::from_json(text, LABEL, &[]) {
        Ok(read) => read,
        Err(error) => return said(&error),
    };
    let again = Experiment::from_json(&read.to_json(), LABEL, &[]).expect("reads back");
    assert!(again == read, "reads back as the same preset");
    Ok(())
}

fn read_log(file: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(file) else {
        return Err("not text".to_owned());
    };
    log::from_text(text, LABEL).map_or_else(|error| said(&error), |_| Ok(()))
}

fn read_bits(file: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(file) else {
        return Err("not text".to_owned());
    };
    let mut last = Err(String::new());
    for task in TASKS {
        let task = Experiment::from_json(task, "t.json", &[]).unwrap().task;
        match bits::from_json(text, LABEL, &task, None) {
            Ok(read) => {
                check_episode(&read);
                last = Ok(());
            }
            Err(error) => last = last.or_else(|_| said(&error)),
        }
    }
    last
}

/// A file of a task of one's own; of three episodes in the padded form.
fn own_episodes(count: usize) -> Vec<u8> {
    let mut all = arrays::arrays(count);
    if count == 3 {
        let kinds = [
            ("inputs", "<f8", 12 * 8),
            ("targets", "|b1", 12),
            ("mask", "|i1", 12),
        ];
        for (array, (name, kind, bytes)) in all.iter_mut().zip(kinds) {
            let shape: &[usize] = if name == "mask" { &[3, 4] } else { &[3, 4, 1] };
            *array = (
                name,
                kind,
                shape.to_vec(),
                vec![u8::from(name != "inputs"); bytes],
            );
        }
        let name: Vec<u8> = "ab"
            .chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        all.push(("input_names", "<U2", vec![1], name));
    }
    arrays::npz(&all)
}

fn read_episodes(file: &[u8]) -> Result<(), String> {
    let read = match episodes::from_bytes(file, LABEL) {
        Ok(read) => read,
        Err(error) => return said(&error),
    };
    assert_eq!(read.lengths().count(), read.count());
    let mut values = Episodes::NONE;
    values.answer = Answer::VALUES;
    let Ok(task) = values.with(read.into()) else {
        return Err("no split".to_owned());
    };
    let task = Task::Episodes(task);
    for index in 0..3 {
        assert!(task.chance(&task.episode(1, index)) >= 0.0);
        for episode in [task.episode(1, index), task.training_episode(1, index)] {
            assert_eq!(episode.steps(), episode.input.nrows());
            assert!(episode.scored_bits() > 0);
        }
    }
    Ok(())
}

const PAIRS: [&str; 2] = [
    "the cat\tle chat\nle\tthe\n",
    "a b\tb a\t0-1 1-0\r\nb\tb\t0-0\r\n",
];

fn read_pairs(file: &[u8]) -> Result<(), String> {
    for tokens in [Tokens::Words, Tokens::Characters] {
        let read = match pairs::from_bytes(file, LABEL, tokens) {
            Ok((read, _)) => read,
            Err(error) => return said(&error),
        };
        let mut task = Pairs::NONE;
        (task.tokens, task.held_out) = (tokens, HeldOut::Last(1));
        let Ok(task) = task.with(read.into()) else {
            return Err("no split".to_owned());
        };
        let task = Task::Pairs(task);
        for episode in [task.episode(1, 0), task.training_episode(1, 0)] {
            assert_eq!(episode.input.ncols(), task.inputs());
            assert!(episode.scored_steps() > 1);
        }
    }
    Ok(())
}

const SENTENCES: [&str; 2] = ["the cat sat\na cat ran\n", "\u{feff}b a\r\n\r\nà  b\r\na"];

fn read_sentences(file: &[u8]) -> Result<(), String> {
    for tokens in [Tokens::Words, Tokens::Characters] {
        let read = match sentences::from_bytes(file, LABEL, tokens) {
            Ok((read, _)) => read,
            Err(error) => return said(&error),
        };
        let mut task = Text::NONE;
        (task.tokens, task.held_out) = (tokens, HeldOut::Last(1));
        let Ok(task) = task.with(read.into()) else {
            return Err("no split".to_owned());
        };
        let task = Task::Text(task);
        for episode in [task.episode(1, 0), task.training_episode(1, 0)] {
            assert_eq!(episode.input.ncols(), task.inputs());
            assert_eq!(episode.scored_steps(), episode.steps());
        }
    }
    Ok(())
}

fn check_episode(read: &bits::ManualEpisode) {
    // What is too long to be recorded is refused later, by its size.
    let repeats = read.task.repeats().map_or(1, |repeats| *repeats.end());
    if repeats > 100 {
        return;
    }
    let episode = read.episode();
    assert_eq!(episode.steps(), episode.mask.len());
    assert!(matches!(read.task, Task::External(_)) || episode.scored_bits() > 0);
    let _ = std::io::sink().write(&[u8::from(episode.input.is_empty())]);
}
