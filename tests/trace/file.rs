//! Trace files: deterministic, exact, read back byte for byte, and safe to open whoever wrote them.

use std::process::Command;

use tapescope::io::trace::{self, Source};
use tapescope::train::{Quantity, Recording};

use serde_json::{Value, json as form};

use super::{TINY, again, error, json, opened, record, source, tiny, value, written};

const WIDE: &str = r#"{"task": {"kind": "repeat_copy", "bits": 2, "length": [1, 4], "repeats": [1, 3]},
    "model": {"memory": {"rows": 7, "columns": 3, "initial": "learned"},
              "controller": {"size": 4, "layers": 2},
              "heads": {"read": 2, "write": 2, "shift": {"form": "scalar", "range": 2},
                        "add_activation": "identity", "initial_weighting": "learned"}}}"#;
const RECALL: &str = r#"{"task": {"kind": "associative_recall", "bits": 2, "item_length": 2, "items": [2, 4]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
const NGRAMS: &str = r#"{"task": {"kind": "ngrams", "context": 2, "length": [9, 9]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
const SORT: &str = r#"{"task": {"kind": "priority_sort", "bits": 2, "items": [3, 5], "sorted": 2},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
const FEEDFORWARD: &str = r#"{"task": {"kind": "copy", "bits": 1, "length": [1, 2]},
    "model": {"memory": {"rows": 4, "columns": 2}, "controller": {"kind": "feedforward", "size": 3}}}"#;

fn replaced(from: &str, to: &str) -> String {
    let source = tiny();
    assert!(source.contains(from), "{from}");
    error(source.replacen(from, to, 1))
}

#[test]
fn what_is_written_reads_back_byte_for_byte() {
    for source in [TINY, WIDE, FEEDFORWARD, RECALL, NGRAMS, SORT] {
        let (machine, recording) = record(source);
        let written = json(&machine, &recording);
        let read = trace::from_json(&written, "a/t.ntmtrace.json").unwrap();
        assert_eq!(read.config, machine.config);
        assert_eq!(read.recording.task, recording.task);
        assert_eq!(read.recording.episode, recording.episode);
        assert_eq!(
            read.recording.origin,
            Some(tapescope::model::Draw::of(7, 2))
        );
        assert_eq!(read.recording.loss, recording.loss);
        assert_eq!(read.recording.trace.heads, recording.trace.heads);
        assert_eq!(
            read.recording.trace.memory_columns,
            recording.trace.memory_columns
        );
        assert_eq!(read.recording.score.wrong, recording.score.wrong);
        assert!((read.recording.score.bits - recording.score.bits).abs() < 1e-5);
        for (read, made) in read
            .recording
            .trace
            .layers
            .iter()
            .zip(&recording.trace.layers)
        {
            assert_eq!((&read.hidden, &read.cell), (&made.hidden, &made.cell));
        }
        assert_eq!(again(&read), written);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    assert_eq!(tiny(), tiny());
}

#[test]
fn a_title_names_file_and_episode() {
    let read = trace::from_json(&tiny(), "a/t.ntmtrace.json").unwrap();
    assert_eq!(read.title, "t.ntmtrace.json: copy, 3 vectors");
}

#[test]
fn the_task_is_written_completely() {
    let told = |source: &str| {
        let written = written(source);
        let read = opened(&written);
        let line = written.lines().find(|line| line.starts_with("\"task\""));
        (line.unwrap_or_default().to_owned(), read.title)
    };
    assert_eq!(
        told(TINY).0,
        r#""task": {"name":"copy","params":{"bits":2,"length":3},"seed":"7","episode":"2","length":3,"repeats":1},"#
    );
    let (task, title) = told(WIDE);
    assert!(task.starts_with(r#""task": {"name":"repeat_copy","params":{"bits":2,"length":[1,4],"repeats":[1,3]},"seed":"7","episode":"2","length":"#), "{task}");
    assert!(title.contains(" × "), "{title}");
    let (task, title) = told(RECALL);
    assert!(task.starts_with(r#""task": {"name":"associative_recall","params":{"bits":2,"distinct":"off","item_length":2,"items":[2,4]},"seed":"7","episode":"2","items":"#), "{task}");
    assert!(
        !task.contains("length\":null") && !task.contains("repeats"),
        "{task}"
    );
    assert!(title.ends_with(" items"), "{title}");
    let (task, title) = told(NGRAMS);
    assert_eq!(
        task,
        r#""task": {"name":"ngrams","params":{"context":2,"length":9},"seed":"7","episode":"2","length":9},"#
    );
    assert_eq!(title, "t: ngrams, 9 bits");
    let (task, title) = told(SORT);
    assert!(task.starts_with(r#""task": {"name":"priority_sort","params":{"bits":2,"items":[3,5],"sorted":2},"seed":"7","episode":"2","items":"#), "{task}");
    assert!(title.ends_with(" vectors"), "{title}");
}

#[test]
fn a_large_memory_is_rebuilt_from_keyframes() {
    let long = r#"{"task": {"kind": "copy", "bits": 2, "length": [70, 70]},
        "model": {"memory": {"rows": 500, "columns": 20}, "controller": {"size": 4}, "heads": {"write": 2}}}"#;
    let (machine, recording) = record(long);
    let written = json(&machine, &recording);
    assert!(!written.contains("\"memory\": {\"dims\""));
    assert!(written.contains("\"memory.keyframes\": {\"dims\": [\"f\",\"n\",\"m\"], \"dtype\": \"float32\", \"shape\": [2,500,20]"));
    let read = opened(&written);
    assert_eq!(
        read.recording.trace.memory_columns,
        recording.trace.memory_columns
    );
    assert_eq!(again(&read), written);
    let mut full = Vec::new();
    let source = Source {
        full_memory: true,
        ..source(&machine, "")
    };
    trace::write_to(&mut full, &recording, &source).unwrap();
    let full = String::from_utf8(full).unwrap();
    assert!(full.contains("\"memory\": {\"dims\": [\"t+1\",\"n\",\"m\"]"));
    let read = opened(&full);
    assert_eq!(
        read.recording.trace.memory_columns,
        recording.trace.memory_columns
    );
}

#[test]
fn one_line_per_row_of_the_last_axis() {
    let source = tiny();
    let input = source
        .split("\"input\": {")
        .nth(1)
        .unwrap()
        .split("]}")
        .next()
        .unwrap();
    assert_eq!(input.lines().count(), 1 + 7);
    assert!(
        input
            .lines()
            .skip(1)
            .all(|line| line.trim_end_matches(',').split(',').count() == 3)
    );
}

#[test]
fn values_that_are_not_numbers_survive() {
    let (machine, mut recording) = record(TINY);
    recording.trace.heads[0].strength[0] = f32::NAN;
    recording.trace.heads[0].strength[1] = f32::INFINITY;
    recording.trace.heads[0].strength[2] = f32::NEG_INFINITY;
    recording.trace.heads[0].strength[3] = -0.0;
    let written = json(&machine, &recording);
    assert!(written.contains("\n\"NaN\",\"Infinity\",\"-Infinity\",-0.0,"));
    let read = opened(&written);
    assert!(read.recording.trace.heads[0].strength[0].is_nan());
    assert_eq!(again(&read), written);
}

#[test]
fn an_episode_by_hand_has_no_seed() {
    let (machine, recording) = record(TINY);
    let manual = Recording::of(&machine, &recording.task, recording.episode.clone(), None);
    let written = json(&machine, &manual);
    assert!(written.contains(r#""seed":null,"episode":null"#));
    let read = opened(&written);
    assert_eq!(read.recording.origin, None);
    assert_eq!(again(&read), written);
}

#[test]
fn other_versions_and_unknown_keys_are_refused() {
    let newer = tiny().replacen("\"numeric\":", "\"novelty\": [{}], \"numeric\":", 1);
    assert!(trace::from_json(&newer, "t").is_ok());
    for other in ["1.0", "1.1", "2.1", "3.0"] {
        assert_eq!(
            replaced("\"2.0\"", &format!("\"{other}\"")),
            format!("t: `version`: is `{other}`; expected `2.0`")
        );
    }
    assert_eq!(
        replaced("ntm-trace", "npy"),
        "t: `format`: is `npy`; expected `ntm-trace`"
    );
    assert!(error("what").starts_with("t: is not a trace: "));
    assert_eq!(
        error("[[0,1]]"),
        "t: is not a trace: is a list; expected an object"
    );
    assert_eq!(error("{}"), "t: `format`: is missing; expected `ntm-trace`");
    assert_eq!(
        error(TINY),
        "t: is a preset, not a trace; train it first: tapescope train t"
    );
    let message = replaced(
        "\"axes\": {\"t\":{\"size\":7",
        "\"axes\": {\"t\":7,\"old\":{\"size\":7",
    );
    let expected = "t: `axes.t`: invalid type: integer `7`, expected an object at line ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn errors_name_the_array() {
    assert_eq!(
        replaced("\"read0.weighting\"", "\"read0.waiting\""),
        "t: `arrays.read0.weighting`: is missing; expected the shape [7, 5]"
    );
    assert_eq!(
        replaced("\"write0.gate\"", "\"read0.gate\""),
        "t: `arrays`: duplicate array `read0.gate` at line 194 column 73"
    );
    assert_eq!(
        replaced("\"shape\": [7,5]", "\"shape\": [5,7]"),
        "t: `arrays.read0.similarity`: has the shape [5, 7]; expected [7, 5]"
    );
    assert_eq!(
        replaced(
            "\"shape\": [7,3], \"data\": [\n",
            "\"shape\": [7,3], \"data\": [\n1,"
        ),
        "t: `arrays.input`: has 22 values; expected 21 for the shape [7, 3]"
    );
    assert_eq!(
        replaced("\"data\": [\n", "\"data\": [\n[],"),
        r#"t: `arrays.input.data`: `[]` is not a 32-bit number; allowed: numbers, "NaN", "Infinity" and "-Infinity" at line 11 column 3"#
    );
    assert_eq!(
        replaced("\"data\": [\n", "\"data\": [\n1e99,"),
        r#"t: `arrays.input.data`: `1e99` is not a 32-bit number; allowed: numbers, "NaN", "Infinity" and "-Infinity" at line 11 column 5"#
    );
    assert_eq!(
        replaced("\"rows\":5", "\"rows\":0"),
        "t: `model.memory.rows`: is 0; allowed: 1 to 1048576"
    );
    let message = replaced("\"columns\":3", "\"columns\":null");
    let expected =
        "t: `model.memory.columns`: invalid type: null, expected a whole number, 0 or more";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(
        replaced(
            "\"weights\":",
            "\"conventions\":{\"shifts\":[0,1]},\"weights\":"
        ),
        "t: `arrays.read0.shift`: has the shape [7, 3]; expected [7, 2]"
    );
    assert_eq!(
        replaced("\"bits\":2", "\"bits\":3"),
        "t: `arrays.input`: has the shape [7, 3]; expected [7, 4]"
    );
    assert_eq!(
        replaced("[\"delimiter\",3,4]", "[\"delimiter\",2,4]"),
        "t: `axes.t.phases`: `delimiter` is [2, 4]; the phases must follow each other from 0 to 7"
    );
    let mut value = value(&tiny());
    value["axes"]["t"]["phases"] = form!([]);
    assert_eq!(
        error(value.to_string()),
        "t: `axes.t.phases`: is empty; expected [name, first step, one past the last] of every phase, from 0 to 7"
    );
}

#[test]
fn arrays_of_a_later_version_are_ignored() {
    for later in [
        r#"{"dims": ["t"], "dtype": "int64", "shape": [7], "data": [18446744073709551615]}"#,
        r#"{"dims": ["t"], "encoding": "base64", "data": "AAAA"}"#,
        r#"[{"shape": "what"}, null, "NaN"]"#,
    ] {
        let with = format!("\"arrays\": {{\n\"read0.salience\": {later},");
        let source = tiny().replacen("\"arrays\": {", &with, 1);
        let read = opened(&source);
        assert_eq!(again(&read), tiny());
    }
}

#[test]
fn phases_keep_the_names_they_have() {
    let source = tiny().replacen("[\"delimiter\",", "[\"priming, twice\",", 1);
    let read = opened(&source);
    assert_eq!(read.recording.episode.phases[1].name, "priming, twice");
    assert_eq!(again(&read), source);
}

#[test]
fn an_array_is_as_strict_as_its_shape() {
    let message = replaced("\"shape\": [7,3]", "\"shape\": [7.5,3]");
    let expected = "t: `arrays.input.shape[0]`: invalid type: floating point `7.5`, expected a whole number, 0 or more at line 10 column ";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(
        replaced(
            "\"shape\": [7,3], \"data\": [",
            "\"shape\": [7,3], \"data\": \"AAAA\", \"more\": ["
        ),
        "t: `arrays.input.data`: invalid type: string \"AAAA\", expected a flat list of numbers at line 10 column 79"
    );
    assert_eq!(
        replaced("\"shape\": [7,3],", ""),
        "t: `arrays.input`: missing field `shape` at line 17 column 7"
    );
}

#[test]
fn hostile_files_are_refused() {
    let good = tiny();
    for end in (0..good.len() - 1).step_by(37) {
        error(&good[..end]);
    }
    for (from, to) in [
        ("\"size\":7", "\"size\":18446744073709551615"),
        ("\"size\":7", "\"size\":0"),
        ("\"rows\":5", "\"rows\":1048576"),
        ("\"columns\":3", "\"columns\":4096"),
        ("\"shape\": [7,3]", "\"shape\": [7,18446744073709551615]"),
        (
            "\"shape\": [7,3]",
            "\"shape\": [18446744073709551615,18446744073709551615]",
        ),
        ("\"layers\":1", "\"layers\":16"),
        ("\"range\":1", "\"range\":18446744073709551615"),
        ("\"read\":1", "\"read\":0"),
        ("\"write\":1", "\"write\":18446744073709551615"),
        ("[\"answer\",4,7]", "[\"answer\",4,18446744073709551615]"),
    ] {
        replaced(from, to);
    }
    error("[".repeat(1_000_000));
    error(format!(
        "{{\"format\": \"ntm-trace\", \"version\": \"2.0\", \"x\": {}",
        "[".repeat(1_000_000)
    ));
}

#[test]
fn any_damage_is_an_error_or_another_trace_but_no_panic() {
    let good = tiny();
    for (index, byte) in (0..good.len())
        .step_by(7)
        .zip(b"9,0[]{}\"-e.".iter().cycle())
    {
        let mut damaged = good.clone().into_bytes();
        damaged[index] = *byte;
        if let Ok(damaged) = String::from_utf8(damaged) {
            let _ = trace::from_json(&damaged, "t");
        }
    }
}

#[test]
fn python_loads_it_with_three_lines() {
    let Some(python) = crate::numpy::python() else {
        return;
    };
    let page = include_str!("../../docs/formats/traces.md");
    let lines = page
        .split("```python\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    assert_eq!(lines.lines().count(), 3);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("copy.ntmtrace.json"), tiny()).unwrap();
    let script =
        format!("{lines}\nprint(A['read0.weighting'].shape, A['memory'].shape, A['input'].sum())");
    let ran = Command::new(python)
        .args(["-c", &script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(printed.starts_with("(7, 5) (8, 5, 3) "), "{printed}");
}

#[test]
fn gradients_are_written_next_to_their_arrays() {
    let (machine, recording) = record(TINY);
    let bit = Quantity::Bit {
        step: 4,
        channel: 1,
    };
    for of in [Quantity::Loss, bit] {
        let derivatives = recording.derivatives(&machine, of).unwrap();
        let source = Source {
            gradient: Some((of, &derivatives)),
            ..source(&machine, "")
        };
        let (mut text, mut npz) = (Vec::new(), Vec::new());
        trace::write_to(&mut text, &recording, &source).unwrap();
        trace::write_npz(&mut npz, &recording, &source).unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        let told = match of {
            Quantity::Loss => form!({"of": "loss", "unit": "bits"}),
            Quantity::Bit { .. } => form!({"of": "logit", "step": 4, "channel": 1, "unit": "nats"}),
        };
        assert_eq!(value["gradient"], told);
        let arrays = value["arrays"].as_object().unwrap();
        let lacking = ["target", "mask", "output", "loss"];
        for (name, array) in arrays
            .iter()
            .filter(|(name, _)| !name.starts_with("gradient."))
        {
            let by = arrays.get(&format!("gradient.{name}"));
            assert_eq!(by.is_none(), lacking.contains(&name.as_str()), "{name}");
            if let Some(by) = by {
                assert_eq!(
                    (&by["dims"], &by["shape"]),
                    (&array["dims"], &array["shape"])
                );
            }
        }
        let found = arrays["gradient.memory"]["data"].as_array().unwrap();
        let [rows, columns] = [5, 3];
        let of_step = |t: usize| derivatives.memory(t).iter().copied().collect::<Vec<_>>();
        let at = 3 * rows * columns;
        let found: Vec<_> = found[at..at + rows * columns]
            .iter()
            .map(|x| x.as_f64().unwrap() as f32)
            .collect();
        assert_eq!(found, of_step(3));
        // To readers it is the trace it is without them.
        let plain = json(&machine, &recording);
        let read = trace::from_bytes(text, "t").unwrap();
        assert_eq!(read.recording.trace, opened(&plain).recording.trace);
        let read = trace::from_bytes(npz, "t.npz").unwrap();
        assert_eq!(read.recording.trace, opened(&plain).recording.trace);
    }
}

#[test]
fn numbers_that_are_no_rows_of_a_sparse_memory_are_refused() {
    let honest = super::value(&super::written(
        r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
        "model": {"kind": "sam", "memory": {"rows": 9, "columns": 3}, "controller": {"size": 4}}}"#,
    ));
    assert!(trace::from_json(&honest.to_string(), "t").is_ok());
    let of_list = "allowed: whole numbers 0 to 8, in ascending order";
    for (array, place, value, said) in [
        (
            "read0.rows",
            3,
            9.0,
            format!("read0.rows[0]`: has 9; {of_list}"),
        ),
        (
            "read0.rows",
            4,
            1.5,
            format!("read0.rows[1]`: has 1.5; {of_list}"),
        ),
        (
            "read0.rows",
            7,
            0.0,
            format!("read0.rows[1]`: has 0; {of_list}"),
        ),
        (
            "write0.row",
            2,
            -1.0,
            "write0.row[2]`: has -1; allowed: whole numbers 0 to 8".into(),
        ),
        (
            "recorded_rows",
            1,
            0.0,
            format!("recorded_rows`: has 0; {of_list}"),
        ),
    ] {
        let mut changed = honest.clone();
        changed["arrays"][array]["data"][place] = value.into();
        let error = super::error(changed.to_string());
        assert!(error.contains(&said), "{error}");
    }
    // Before the first step the read head is on row 0, and no write is.
    for (array, place) in [("read0.initial", 1), ("write0.initial", 0)] {
        let mut changed = honest.clone();
        changed["arrays"][array]["data"][place] = 0.5.into();
        let found = trace::verify(&super::opened(&changed.to_string()), 0.0);
        assert_eq!(found.comparison.first.unwrap().array, array);
    }
    let lost = super::without(honest, &["read0.weighting"]);
    let found = trace::from_json(&lost.to_string(), "t");
    assert!(
        !matches!(&found, Err(error) if error.to_string().contains("memory")),
        "{found:?}"
    );
}
