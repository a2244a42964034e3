//! What `verify` finds, what it names as beyond it, and what it does not blame on anyone.

use serde_json::{Value, json};
use tapescope::io::Experiment;
use tapescope::io::intervention;
use tapescope::io::trace::{self, Imported, Outcome, Source, Verified};
use tapescope::io::{Trained, weights};
use tapescope::model::Model;
use tapescope::train::{ABSENT, Quantity, Recording, is_absent, is_unrecorded};

use super::{fields, npz, record, without};

const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 8, "columns": 3}, "controller": {"size": 4}}}"#;
const WRITE_FIRST: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4, "layers": 2},
              "heads": {"order": "write-first", "read": 2, "write": 2, "shift": {"form": "scalar", "range": 2}}}}"#;

fn written(machine: &Model<f32>, recording: &Recording) -> Value {
    super::value(&super::json(machine, recording))
}

fn tiny() -> Value {
    let (machine, recording) = record(TINY);
    written(&machine, &recording)
}

/// The included copy machine on few rows: its weightings are sharp, its answers certain.
fn trained() -> Value {
    let copy = weights::all_included().unwrap().into_iter().next().unwrap();
    let machine = copy.machine.with_rows(8).unwrap();
    let task = copy.experiment.task.with_size(3);
    written(&machine, &Recording::new(&machine, &task, 7, 2))
}

fn read(value: &Value) -> Imported {
    super::opened(&value.to_string())
}

fn verified(value: &Value) -> Verified {
    trace::verify(&read(value), 1e-5)
}

fn again(imported: &Imported) -> Value {
    super::value(&super::again(imported))
}

fn data<'a>(trace: &'a mut Value, array: &str) -> &'a mut Vec<Value> {
    trace["arrays"][array]["data"].as_array_mut().unwrap()
}

fn numbers(trace: &Value, array: &str) -> Vec<f64> {
    let data = trace["arrays"][array]["data"].as_array().unwrap();
    data.iter().map(|value| value.as_f64().unwrap()).collect()
}

fn add(trace: &mut Value, array: &str, at: usize, change: f64) {
    let value = &mut data(trace, array)[at];
    *value = json!((value.as_f64().unwrap() + change) as f32);
}

fn first(found: &Verified) -> &str {
    found
        .comparison
        .first
        .as_ref()
        .map_or("", |first| &first.array)
}

fn unchecked(found: &Verified) -> Vec<&str> {
    found
        .unchecked
        .iter()
        .map(|(array, _)| array.as_str())
        .collect()
}

#[test]
fn own_traces_verify_completely_and_list_given_arrays() {
    for value in [tiny(), trained()] {
        let found = trace::verify(&read(&value), 0.0);
        assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
        assert_eq!((found.following(), found.whole()), (20, 20));
        let given: Vec<_> = found
            .given
            .iter()
            .filter(|array| !array.contains("write0"))
            .collect();
        let emitted = ["key", "strength", "gate", "shift", "sharpening"];
        let expected: Vec<_> = ["logit", "controller.hidden", "controller.cell"]
            .map(str::to_owned)
            .into_iter()
            .chain(emitted.map(|part| format!("read0.{part}")))
            .collect();
        assert_eq!(given, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_trace_of_nothing_but_nan_does_not_hold() {
    let mut value = trained();
    for (section, key) in [("memory", "initial"), ("heads", "initial_weighting")] {
        let section = value["model"][section].as_object_mut().unwrap();
        assert!(section.remove(key).is_some());
    }
    for (name, array) in value["arrays"].as_object_mut().unwrap() {
        if !["input", "target", "mask"].contains(&name.as_str()) {
            let data = array["data"].as_array_mut().unwrap();
            data.fill(json!("NaN"));
        }
    }
    // A loss of NaN is none where nothing is asked for; of everything else nothing can be said.
    let found = verified(&value);
    assert_eq!((found.outcome(), first(&found)), (Outcome::Differs, "loss"));
    let found = verified(&without(value, &["loss"]));
    assert_eq!(found.outcome(), Outcome::InPart);
    assert_eq!(found.checked, ["input", "target", "mask"]);
    assert_eq!(found.unchecked.len(), 14, "{found:?}");
    // One of them among numbers is a difference.
    let mut value = trained();
    data(&mut value, "write0.content")[9] = json!("NaN");
    let found = verified(&value);
    assert_eq!(first(&found), "write0.content");
}

#[test]
fn the_first_value_that_is_not_finite_is_named() {
    let honest = tiny();
    let mut unlearned = honest.clone();
    unlearned["model"]["memory"]["initial"] = json!("learned");
    unlearned["model"]["heads"]["initial_weighting"] = json!("learned");
    // Nothing follows from the memory, nor the memory from anything.
    let mut alone = without(unlearned.clone(), &["write0.erase", "read0.key"]);
    alone["task"]["seed"] = Value::Null;
    for trace in [honest.clone(), unlearned, alone] {
        let arrays: Vec<String> = trace["arrays"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for array in arrays {
            let shape: Vec<usize> =
                serde_json::from_value(trace["arrays"][&array]["shape"].clone()).unwrap();
            let count: usize = shape.iter().product();
            let numbers = ["NaN", "Infinity", "-Infinity"];
            // The logit of a probability of 0 is infinite.
            for number in numbers
                .into_iter()
                .take(if array == "logit" { 1 } else { 3 })
            {
                let mut value = trace.clone();
                let at = count - 1;
                data(&mut value, &array)[at] = json!(number);
                let found = verified(&value);
                let first = found.comparison.first;
                let first = first.unwrap_or_else(|| panic!("{array} of {number}"));
                let last: Vec<usize> = shape.iter().map(|size| size - 1).collect();
                assert_eq!((&first.array, &first.index), (&array, &last), "{number}");
                assert_eq!(
                    first.first.to_string().to_lowercase(),
                    number.replace("inity", "").to_lowercase()
                );
            }
        }
    }
    // An array without a single number among those that have some.
    let mut value = honest;
    data(&mut value, "write0.gate").fill(json!("NaN"));
    let found = verified(&value);
    assert_eq!(first(&found), "write0.gate");
}

#[test]
fn without_the_first_weighting_only_the_first_step_is_lost() {
    let lost = ["read0.initial", "write0.initial"];
    let honest = without(trained(), &lost);
    let found = verified(&honest);
    assert_eq!(found.outcome(), Outcome::InPart);
    let why = |head: &str| {
        let why = format!("step 0 needs {head}.initial, which is absent");
        (format!("{head}.gated"), why)
    };
    assert_eq!(found.unchecked, [why("read0"), why("write0")]);
    let mut backwards = honest.clone();
    for head in ["read0", "write0"] {
        let shift = data(&mut backwards, &format!("{head}.shift"));
        shift.chunks_mut(3).for_each(<[Value]>::reverse);
    }
    assert_eq!(first(&verified(&backwards)), "read0.shifted");
    // Where the stages behind it are lost too, nothing is made up for the first step.
    let stages = ["read0.gated", "read0.shifted"];
    let found = verified(&without(honest, &stages));
    assert_eq!(found.outcome(), Outcome::InPart, "{found:?}");
    assert_eq!(unchecked(&found), ["read0.weighting", "write0.gated"]);
}

#[test]
fn output_loss_and_first_memory_are_verified() {
    for array in [
        "output",
        "loss",
        "memory.initial",
        "input",
        "target",
        "mask",
    ] {
        let mut value = trained();
        let last = data(&mut value, array).len() - 1;
        add(&mut value, array, last, 0.25);
        let found = verified(&value);
        assert_eq!(first(&found), array);
        assert_eq!(found.comparison.differing, 1, "{array}");
    }
    // Without logits the loss follows from the outputs, as far as those go.
    let found = verified(&without(trained(), &["logit"]));
    assert_eq!(found.outcome(), Outcome::Holds);
    assert!(found.checked.contains(&"loss".to_owned()));
    assert!(found.given.contains(&"output".to_owned()));
    let mut value = without(trained(), &["logit"]);
    add(&mut value, "loss", 5, 0.01);
    assert_eq!(first(&verified(&value)), "loss");
    // An output of exactly 1 where a 0 was wanted says that the loss was large, and no more.
    let mut value = without(tiny(), &["logit"]);
    data(&mut value, "output")[12] = json!(1.0);
    data(&mut value, "target")[12] = json!(0.0);
    value["task"]["seed"] = Value::Null;
    data(&mut value, "loss")[6] = json!(27.5);
    let found = verified(&value);
    assert_eq!(found.outcome(), Outcome::InPart, "{found:?}");
    assert_eq!(unchecked(&found), ["loss"]);
    // What is not a bit has another loss than ours.
    data(&mut value, "target")[12] = json!(0.5);
    assert_eq!(unchecked(&verified(&value)), ["loss"]);
}

#[test]
fn an_uncheckable_loss_is_named() {
    let mut value = without(tiny(), &["logit"]);
    value["task"]["seed"] = Value::Null;
    data(&mut value, "mask").fill(json!(1.0));
    data(&mut value, "target").fill(json!(0.0));
    data(&mut value, "output").fill(json!(1.0));
    let found = verified(&value);
    assert_eq!(unchecked(&found), ["loss"]);
    assert_eq!(found.outcome(), Outcome::InPart);
}

#[test]
fn an_array_without_values_is_unrecorded() {
    assert!(is_unrecorded(&[ABSENT; 3]));
    assert!(!is_unrecorded(&[ABSENT, 1.0]) && !is_unrecorded(&[f32::NAN]) && !is_unrecorded(&[]));
}

#[test]
fn nan_in_a_file_counts_as_recorded() {
    let (machine, mut recording) = record(TINY);
    recording.trace.heads[0].gated.row_mut(0).fill(ABSENT);
    let read = trace::from_bytes(npz(&machine, &recording), "t.npz").unwrap();
    let gated = read.recording.trace.heads[0].gated.row(0);
    assert!(
        gated
            .iter()
            .all(|&value| value.is_nan() && !is_absent(value))
    );
    let found = trace::verify(&read, 1e-5);
    assert_eq!(first(&found), "read0.gated");
    assert_eq!(unchecked(&found), [""; 0]);
}

#[test]
fn a_seed_of_another_episode_contradicts_the_file() {
    let source = TINY.replace("[3, 3]", "[1, 20]");
    let (machine, recording) = record(&source);
    let honest = written(&machine, &recording);
    assert_eq!(verified(&honest).outcome(), Outcome::Holds);
    let mut of_another_length = 0;
    for seed in 8..28 {
        let mut value = honest.clone();
        value["task"]["seed"] = json!(seed.to_string());
        let found = verified(&value);
        assert_eq!(found.outcome(), Outcome::Differs, "{seed}");
        if found.contradictions[0].starts_with("task: episode 2 of seed") {
            assert_eq!(unchecked(&found), ["input", "target", "mask"]);
            of_another_length += 1;
        }
    }
    assert!(of_another_length > 0);
}

#[test]
fn a_false_parameter_of_the_task_contradicts_the_file() {
    let (machine, recording) = record(fields::POINTING);
    let honest = written(&machine, &recording);
    assert_eq!(verified(&honest).outcome(), Outcome::Holds);
    for (key, value, expected) in [
        ("rounds", 1, Some(Outcome::Differs)),
        ("question", 2, Some(Outcome::Differs)),
        // More rounds than the machine has and channels of another task are refused.
        ("rounds", 3, None),
        ("symbols", 5, None),
    ] {
        let mut false_one = honest.clone();
        false_one["task"]["params"][key] = json!(value);
        let file = trace::from_json(&false_one.to_string(), "t");
        let outcome = file.map(|file| trace::verify(&file, 1e-5).outcome());
        assert_eq!(outcome.ok(), expected, "{key}");
    }
}

#[test]
fn a_trace_without_its_text_is_of_the_included_file_of_this_name() {
    let (machine, recording) = record(fields::EARLIER);
    let mut read = written(&machine, &recording);
    read["model"].as_object_mut().unwrap().remove("text");
    assert_eq!(verified(&read).outcome(), Outcome::Holds);
    read["model"]["file"] = json!("own.machine");
    let error = trace::from_json(&read.to_string(), "t").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no included machine of this name")
    );
}

#[test]
fn a_changed_memory_value_differs_in_every_kind() {
    use fields::{
        BOTH, CLOZE, EARLIER, FIXED, KEYS_OF_TWO_LENGTHS, LAYERS, MANAGED, PICTURES, POINTING,
        SPARSE,
    };
    for preset in [
        TINY,
        BOTH,
        CLOZE,
        EARLIER,
        FIXED,
        KEYS_OF_TWO_LENGTHS,
        LAYERS,
        MANAGED,
        PICTURES,
        POINTING,
        SPARSE,
    ] {
        let (machine, recording) = record(preset);
        let honest = written(&machine, &recording);
        let found = verified(&honest);
        assert_eq!(found.outcome(), Outcome::Holds, "{preset}");
        assert!(!found.given.contains(&"memory".to_owned()), "{preset}");
        let frames = recording.trace.steps() + 1;
        let values = numbers(&honest, "memory").len() / frames;
        for t in 0..frames {
            let mut changed = honest.clone();
            add(&mut changed, "memory", t * values + 7 * t % values, 0.5);
            let outcome = verified(&changed).outcome();
            assert_eq!(outcome, Outcome::Differs, "{t} {preset}");
        }
    }
}

#[test]
fn rows_of_a_document_are_those_of_its_encoder() {
    let (machine, recording) = record(fields::POINTING);
    let mut changed = written(&machine, &recording);
    let frames = recording.trace.steps() + 1;
    let values = numbers(&changed, "memory").len() / frames;
    (1..frames).for_each(|t| add(&mut changed, "memory", t * values, 0.5));
    let found = verified(&changed);
    assert_eq!(first(&found), "memory");
}

#[test]
fn an_intervention_in_rows_that_do_not_change_holds() {
    let (machine, recording) = record(fields::POINTING);
    let last = recording.trace.setting.source - 1;
    for typed in [
        "0:rows=1",
        "3-5:rows=negate",
        &format!("{last}:rows=1"),
        "0-:rows=1",
    ] {
        let typed = typed.to_owned();
        let trace = &recording.trace;
        let changes =
            intervention::parse(std::slice::from_ref(&typed), "t", &machine, trace).unwrap();
        let changed = recording.with(&machine, &changes).unwrap();
        let found = verified(&written(&machine, &changed));
        assert_eq!(found.outcome(), Outcome::Holds, "{typed}");
    }
}

#[test]
fn a_document_of_another_program_needs_no_task() {
    let (machine, recording) = record(fields::POINTING);
    let mut value = written(&machine, &recording);
    value["task"] = json!({"name": "squad", "answer": "symbols"});
    let found = verified(&value);
    assert_eq!(found.outcome(), Outcome::Holds);
    assert!(found.undrawn.unwrap().0.contains("squad"));
}

#[test]
fn a_memory_with_a_row_for_each_step_begins_with_none() {
    for preset in [fields::PICTURES, fields::POINTING, fields::FIXED] {
        let (machine, recording) = record(preset);
        let value = written(&machine, &recording);
        let honest = verified(&value);
        let lacks = without(value, &["memory.initial", "memory"]);
        let read = read(&lacks);
        assert_eq!(
            read.recording.computed,
            ["memory.initial", "memory"],
            "{preset}"
        );
        let memory = &read.recording.trace.memory_columns;
        assert_eq!(memory.as_slice(), recording.trace.memory_columns.as_slice());
        let found = trace::verify(&read, 1e-5);
        assert_eq!(found.outcome(), Outcome::Holds, "{preset}");
        assert_eq!(found.unchecked, honest.unchecked);
    }
}

#[test]
fn an_uncheckable_last_memory_is_named() {
    let mut honest = tiny();
    let arrays = honest["arrays"].as_object_mut().unwrap();
    let all = arrays.remove("memory").unwrap();
    let all = all["data"].as_array().unwrap();
    let last = json!({"shape": [8, 3], "data": all[all.len() - 24..]});
    arrays.insert("memory.last".to_owned(), last);
    let found = verified(&honest);
    assert_eq!(found.outcome(), Outcome::Holds);
    assert!(found.checked.contains(&"memory".to_owned()));
    let mut unknown = honest.clone();
    unknown["conventions"]["order"] = json!("backwards");
    for (value, why) in [
        (unknown, "the file says `backwards`"),
        (
            without(honest.clone(), &["write0.erase"]),
            "write0.erase is absent",
        ),
        (
            without(honest, &["memory.initial"]),
            "memory.initial is absent",
        ),
    ] {
        let found = verified(&value);
        let memory = ("memory".to_owned(), why.to_owned());
        assert!(found.unchecked.contains(&memory), "{found:?}");
    }
}

#[test]
fn parameters_out_of_their_range_are_found() {
    for (array, value) in [
        ("read0.strength", -0.1),
        ("read0.gate", 1.1),
        ("write0.sharpening", 0.9),
        ("write0.shift", -0.01),
        ("write0.shift", 0.9),
    ] {
        let mut trace = tiny();
        data(&mut trace, array)[2] = json!(value);
        assert_eq!(first(&verified(&trace)), array);
    }
}

#[test]
fn small_numbers_are_compared_by_their_size() {
    // A tenth of a memory of 1e-6, which nobody writes to.
    let source = TINY.replace("{\"size\": 4}", "{\"size\": 4}, \"heads\": {\"write\": 0}");
    let (machine, recording) = record(&source);
    let mut value = written(&machine, &recording);
    assert_eq!(verified(&value).outcome(), Outcome::Holds);
    add(&mut value, "memory", 8 * 3 + 4, 1e-7);
    let found = verified(&without(value, &["read0.similarity"]));
    assert_eq!(first(&found), "memory");
    // A share of 1e-7 where all have some 1e-3.
    let source = TINY.replace("\"rows\": 8", "\"rows\": 1024");
    let (machine, mut recording) = record(&source);
    recording.trace.heads[0].content.row_mut(3)[700] += 1e-7;
    let found = verified(&written(&machine, &recording));
    assert_eq!(first(&found), "read0.content");
}

/// A cosine does not change with the length of a key.
#[test]
fn keys_that_no_tanh_can_give_are_out_of_range() {
    let mut value = tiny();
    for array in ["read0.key", "write0.key"] {
        for number in data(&mut value, array) {
            *number = json!((1000.0 * number.as_f64().unwrap()) as f32);
        }
    }
    let found = verified(&value);
    assert_eq!(found.outcome(), Outcome::Differs);
    assert!(
        first(&found).split('.').any(|part| part == "key"),
        "{}",
        first(&found)
    );
    // Without that word any key will do.
    value["model"]["heads"]["key_activation"] = json!("identity");
    assert!(
        !first(&verified(&value))
            .split('.')
            .any(|part| part == "key")
    );
}

/// Otherwise one large number that plays no part would excuse every other one.
#[test]
fn a_tolerance_is_a_share_of_the_terms_of_that_very_value() {
    let (n, m, steps) = (8, 3, 7);
    let mut value = tiny();
    // The read head stays on row 0, and nothing is written; row 5 is large, and row 3 in one cell.
    data(&mut value, "read0.weighting").fill(json!(0));
    for t in 0..steps {
        data(&mut value, "read0.weighting")[t * n] = json!(1);
    }
    data(&mut value, "write0.weighting").fill(json!(0));
    let mut memory = vec![json!(0.5); n * m];
    memory[5 * m..6 * m].fill(json!(1e8));
    memory[3 * m] = json!(1e8);
    *data(&mut value, "memory") = vec![memory; steps + 1].concat();
    data(&mut value, "read0.read").fill(json!(0.5));
    value["model"]["memory"]["initial"] = json!("learned");
    let lost = ["similarity", "content", "gated", "shifted", "key"];
    let lost = lost.map(|array| ["read0", "write0"].map(|head| format!("{head}.{array}")));
    let lost: Vec<_> = lost.iter().flatten().map(String::as_str).collect();
    let honest = without(value, &[&lost[..], &["memory.initial"]].concat());
    let found = verified(&honest);
    assert_eq!((found.comparison.differing, first(&found)), (0, ""));
    assert!(
        ["memory", "read0.read"]
            .iter()
            .all(|array| found.checked.contains(&(*array).to_owned()))
    );
    for (array, at) in [("read0.read", 4 * m + 1), ("memory", (4 * n + 3) * m + 1)] {
        let mut value = honest.clone();
        add(&mut value, array, at, 0.25);
        assert_eq!(first(&verified(&value)), array);
    }
}

#[test]
fn unknown_conventions_are_named_with_their_dependents() {
    let mut value = tiny();
    value["conventions"]["order"] = json!("backwards");
    let found = verified(&value);
    assert_eq!(found.outcome(), Outcome::InPart);
    let names = [
        "read0.similarity",
        "write0.similarity",
        "read0.read",
        "memory",
    ];
    assert_eq!(unchecked(&found), names);
    assert_eq!(found.unchecked[0].1, "the file says `backwards`");
    // What they say is kept, and no memory is rebuilt by guessing.
    assert_eq!(again(&read(&value))["conventions"]["order"], "backwards");
    let lost = without(value, &["memory"]);
    assert!(read(&lost).recording.absent.contains(&"memory".to_owned()));

    for words in ["euclid", "cos(k, m)^2", "cosine-clamped"] {
        let mut value = tiny();
        value["conventions"]["similarity"] = json!(words);
        let found = verified(&value);
        let why = format!("the file says `{words}`");
        let each = |head: &str| (format!("{head}.similarity"), why.clone());
        assert_eq!(found.unchecked, [each("read0"), each("write0")]);
        assert_eq!(found.outcome(), Outcome::InPart);
        assert_eq!(again(&read(&value))["conventions"], value["conventions"]);
        // The content follows from the similarity that is there.
        add(&mut value, "read0.content", 3, 1e-3);
        assert_eq!(first(&verified(&value)), "read0.content");
    }
}

/// An episode of another program: its own order, score and shifts, in f64, with the equations written out.
struct Foreign {
    heads: &'static [&'static str],
    shifts: &'static [isize],
    /// Word of `conventions.similarity` or, without one, of `heads.attention.score`.
    similarity: Result<&'static str, &'static str>,
    score: Score,
}

type Score = fn(&[f64], &[f64]) -> f64;

const N: usize = 6;
const M: usize = 3;
const T: usize = 5;
const EPSILON: f64 = 1e-8;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Numbers from 0 to 1, always the same.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 12_345_u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    }
}

impl Foreign {
    fn array(
        arrays: &mut serde_json::Map<String, Value>,
        name: &str,
        shape: &[usize],
        data: &[f64],
    ) {
        let data: Vec<f32> = data.iter().map(|&value| value as f32).collect();
        arrays.insert(name.to_owned(), json!({"shape": shape, "data": data}));
    }

    /// The episode, as its program would have recorded it; every head starts with a weighting of zeros.
    fn trace(&self) -> Value {
        let mut random = noise();
        let mut memory: Vec<Vec<f64>> = (0..N)
            .map(|_| (0..M).map(|_| random() - 0.5).collect())
            .collect();
        let mut recorded: Vec<(String, Vec<usize>, Vec<f64>)> = Vec::new();
        let mut keep = |name: String, shape: &[usize], data: &[f64]| match recorded
            .iter_mut()
            .find(|(known, ..)| *known == name)
        {
            Some((.., known)) => known.extend(data),
            None => recorded.push((name, shape.to_vec(), data.to_vec())),
        };
        let mut weightings = vec![vec![0.0; N]; self.heads.len()];
        for head in self.heads {
            keep(format!("{head}.initial"), &[N], &[0.0; N]);
        }
        keep("memory".to_owned(), &[T + 1, N, M], &memory.concat());
        for _ in 0..T {
            keep("input".to_owned(), &[T, 1], &[random()]);
            for (head, w_before) in self.heads.iter().zip(&mut weightings) {
                let mut part = |name: &str, width: usize, data: &[f64]| {
                    let shape = if width == 0 { vec![T] } else { vec![T, width] };
                    keep(format!("{head}.{name}"), &shape, data);
                };
                let key: Vec<f64> = (0..M).map(|_| 2.0 * random() - 1.0).collect();
                let (beta, g, gamma) = (3.0 * random(), random(), 1.0 + random());
                let mut s: Vec<f64> = self.shifts.iter().map(|_| random()).collect();
                let sum: f64 = s.iter().sum();
                s.iter_mut().for_each(|s| *s /= sum);
                let k: Vec<f64> = memory.iter().map(|row| (self.score)(&key, row)).collect();
                let e: Vec<f64> = k.iter().map(|k| (beta * k).exp()).collect();
                let w_c: Vec<f64> = e.iter().map(|x| x / e.iter().sum::<f64>()).collect();
                let w_g: Vec<f64> = (0..N)
                    .map(|i| g * w_c[i] + (1.0 - g) * w_before[i])
                    .collect();
                let from = |i: usize, by: isize| (i + N).checked_add_signed(-by).unwrap() % N;
                let w_s: Vec<f64> = (0..N)
                    .map(|i| {
                        self.shifts
                            .iter()
                            .zip(&s)
                            .map(|(&by, s)| s * w_g[from(i, by)])
                            .sum()
                    })
                    .collect();
                let sharp: Vec<f64> = w_s.iter().map(|w: &f64| w.powf(gamma)).collect();
                let total = sharp.iter().sum::<f64>() + 1e-16;
                let w: Vec<f64> = sharp.iter().map(|x| x / total).collect();
                part("key", M, &key);
                part("strength", 0, &[beta]);
                part("gate", 0, &[g]);
                part("shift", s.len(), &s);
                part("sharpening", 0, &[gamma]);
                part("similarity", N, &k);
                part("content", N, &w_c);
                part("gated", N, &w_g);
                part("shifted", N, &w_s);
                part("weighting", N, &w);
                if head.starts_with("read") {
                    let read: Vec<f64> = (0..M)
                        .map(|m| (0..N).map(|i| w[i] * memory[i][m]).sum())
                        .collect();
                    part("read", M, &read);
                } else {
                    let erase: Vec<f64> = (0..M).map(|_| random()).collect();
                    let add: Vec<f64> = (0..M).map(|_| 2.0 * random() - 1.0).collect();
                    for i in 0..N {
                        for m in 0..M {
                            memory[i][m] = memory[i][m] * (1.0 - w[i] * erase[m]) + w[i] * add[m];
                        }
                    }
                    part("erase", M, &erase);
                    part("add", M, &add);
                }
                *w_before = w;
            }
            keep("memory".to_owned(), &[], &memory.concat());
        }
        let mut arrays = serde_json::Map::new();
        for (name, shape, data) in recorded {
            Self::array(&mut arrays, &name, &shape, &data);
        }
        let mut model =
            json!({"controller": {"size": 2}, "heads": {"similarity_epsilon": EPSILON}});
        let mut conventions = json!({"order": self.heads, "shifts": self.shifts});
        match self.similarity {
            Ok(word) => conventions["similarity"] = json!(word),
            Err(score) => model["heads"]["attention"] = json!({"score": score}),
        }
        json!({
            "format": "ntm-trace", "version": "2.0", "task": {"name": "theirs"},
            "model": model, "conventions": conventions,
            "axes": {"t": {"size": T, "phases": [["episode", 0, T]]}},
            "arrays": arrays,
        })
    }
}

const PYTORCH_NTM: Foreign = Foreign {
    heads: &["read0", "write0", "read1", "write1"],
    shifts: &[1, 0, -1],
    similarity: Ok("cosine-clamped-product"),
    score: |k, m| dot(k, m) / (length(k) * length(m)).max(EPSILON),
};

#[test]
fn heads_in_turn_from_a_weighting_of_zeros_hold_as_they_are_declared() {
    let value = PYTORCH_NTM.trace();
    let found = verified(&value);
    assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
    assert_eq!((found.following(), found.whole()), (4 * 5 + 2 + 1, 23));
    // Under other conventions it does not hold, and says so.
    for (path, words, expected) in [
        ("/conventions/order", Value::Null, "read1.similarity"),
        (
            "/conventions/order",
            json!(["write0", "read0", "read1", "write1"]),
            "read0.similarity",
        ),
        ("/conventions/shifts", json!([-1, 0, 1]), "read0.shifted"),
        (
            "/model/heads/attention",
            json!({"score": "dot"}),
            "read0.similarity",
        ),
    ] {
        let mut wrong = value.clone();
        let (section, key) = path.rsplit_once('/').unwrap();
        wrong.pointer_mut(section).unwrap()[key] = words;
        assert_eq!(first(&verified(&wrong)), expected, "{path}");
    }
    // It is written again as it was declared, its shifts from -1 to 1, and rebuilt without its memories.
    let (mut value, mut written) = (value.clone(), again(&read(&value)));
    let conventions = json!({"order": PYTORCH_NTM.heads, "similarity": "cosine-clamped-product"});
    assert_eq!(written["conventions"], conventions);
    assert_eq!(verified(&written).outcome(), Outcome::Holds);
    let of_32_bits = |value: &Value| -> Vec<f32> {
        let numbers = numbers(value, "write1.shift");
        numbers.iter().map(|&value| value as f32).collect()
    };
    let (shift, mut columns) = (of_32_bits(&written), of_32_bits(&value));
    columns.chunks_mut(3).for_each(<[f32]>::reverse);
    assert_eq!(shift, columns);
    let all = data(&mut value, "memory").clone();
    let initial = json!({"shape": [N, M], "data": all[..N * M]});
    for value in [&mut value, &mut written] {
        let arrays = value["arrays"].as_object_mut().unwrap();
        arrays.remove("memory");
        arrays.insert("memory.initial".to_owned(), initial.clone());
        let found = verified(value);
        assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
        assert!(!found.checked.contains(&"memory".to_owned()));
    }
}

#[test]
fn every_score_that_is_known_is_recomputed() {
    let scores: [(Result<&str, &str>, Score); 5] = [
        (Ok("cosine"), |k, m| {
            dot(k, m) / ((dot(k, k) + EPSILON).sqrt() * (dot(m, m) + EPSILON).sqrt())
        }),
        (Ok("cosine-plus-epsilon"), |k, m| {
            dot(k, m) / (length(k) * length(m) + EPSILON)
        }),
        (Ok("cosine-clamped-product"), |k, m| {
            dot(k, m) / (length(k) * length(m)).max(EPSILON)
        }),
        (Ok("cosine-clamped-norms"), |k, m| {
            dot(k, m) / (length(k).max(EPSILON) * length(m).max(EPSILON))
        }),
        (Err("dot"), dot),
    ];
    let traces = scores.map(|(similarity, score)| {
        let foreign = Foreign {
            similarity,
            score,
            ..PYTORCH_NTM
        };
        foreign.trace()
    });
    for value in &traces {
        let found = verified(value);
        assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
        let mut value = value.clone();
        add(&mut value, "read1.similarity", 7, 1e-4);
        assert_eq!(first(&verified(&value)), "read1.similarity");
    }
    // Without a word it is the cosine of this program.
    let mut value = traces[0].clone();
    let conventions = value["conventions"].as_object_mut().unwrap();
    assert!(conventions.remove("similarity").is_some());
    assert_eq!(verified(&value).outcome(), Outcome::Holds);
}

#[test]
fn shifts_may_be_in_any_order_and_incomplete() {
    for shifts in [&[0, 1, -1][..], &[0, 1], &[2, -1], &[0], &[-2, 2, 0, 1, -1]] {
        let value = Foreign {
            shifts,
            ..PYTORCH_NTM
        };
        let found = verified(&value.trace());
        assert_eq!(found.outcome(), Outcome::Holds, "{shifts:?}: {found:?}");
        let mut value = value.trace();
        add(&mut value, "write0.shifted", 3, 1e-3);
        assert_eq!(first(&verified(&value)), "write0.shifted");
    }
    let mut twice = PYTORCH_NTM.trace();
    twice["conventions"]["shifts"] = json!([1, 0, 1]);
    let error = trace::from_json(&twice.to_string(), "t").unwrap_err();
    assert!(error.to_string().contains("no offset twice"), "{error}");
}

#[test]
fn dependent_arrays_are_computed_and_marked() {
    let honest = tiny();
    let lost = [
        "read0.similarity",
        "read0.content",
        "write0.gated",
        "write0.shifted",
        "read0.read",
        "output",
        "loss",
    ];
    let read = read(&without(honest.clone(), &lost));
    let mut computed = read.recording.computed.clone();
    computed.sort_unstable();
    let mut expected = lost;
    expected.sort_unstable();
    assert_eq!(computed, expected);
    let whole = self::read(&honest).recording;
    let recording = &read.recording;
    assert_eq!(recording.loss, whole.loss);
    assert_eq!(recording.score, whole.score);
    assert_eq!(recording.trace.output, whole.trace.output);
    for (made, was) in recording.trace.heads.iter().zip(&whole.trace.heads) {
        assert_eq!(made.similarity, was.similarity);
        assert_eq!((&made.content, &made.gated), (&was.content, &was.gated));
        assert_eq!(made.shifted, was.shifted);
    }
    // It stays what it is: not recorded, not written, and no proof of itself.
    for array in lost {
        assert!(recording.absent.contains(&array.to_owned()), "{array}");
        assert!(again(&read)["arrays"].get(array).is_none(), "{array}");
    }
    let found = trace::verify(&read, 1e-5);
    assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
    assert!(
        lost.iter()
            .all(|array| !found.checked.contains(&(*array).to_owned()))
    );
    // A key that is not there leaves the similarity unknown, and what is made of it.
    let read = self::read(&without(
        honest,
        &["read0.key", "read0.similarity", "read0.content"],
    ));
    assert_eq!(read.recording.computed, [""; 0]);
    assert!(read.recording.trace.heads[0].content.row(0)[0].is_nan());
}

#[test]
fn weights_verify_what_the_trace_cannot() {
    let (machine, recording) = record(WRITE_FIRST);
    let value = written(&machine, &recording);
    assert_eq!(trace::verify(&read(&value), 0.0).outcome(), Outcome::Holds);
    let same = trace::replay(&read(&value), &machine, 0.0).unwrap();
    assert_eq!((same.differing, same.skipped.len()), (0, 0));
    // Without the target nobody knows what the loss would be.
    let untold = trace::replay(&read(&without(value.clone(), &["target"])), &machine, 0.0).unwrap();
    assert_eq!(
        (untold.differing, untold.skipped),
        (0, ["loss", "target"].map(str::to_owned).to_vec())
    );
    for array in [
        "controller.hidden",
        "controller.cell",
        "read1.key",
        "logit",
        "write0.erase",
    ] {
        let mut value = value.clone();
        add(&mut value, array, 5, 1e-3);
        let found = trace::replay(&read(&value), &machine, 1e-5).unwrap();
        assert_eq!(found.first.unwrap().array, array);
    }
    let other = record(TINY).0;
    let lines = trace::replay(&read(&value), &other, 0.0).unwrap_err();
    assert_eq!(
        lines[0],
        "heads: read0 read1 write0 write1 and read0 write0"
    );
}

/// A trace with the gradients of the loss, and its machine.
fn with_gradients(preset: &str) -> (Model<f32>, Value) {
    let (machine, recording) = record(preset);
    let derivatives = recording.derivatives(&machine, Quantity::Loss).unwrap();
    let source = Source {
        gradient: Some((Quantity::Loss, &derivatives)),
        ..super::source(&machine, "")
    };
    let mut text = Vec::new();
    trace::write_to(&mut text, &recording, &source).unwrap();
    (machine, serde_json::from_slice(&text).unwrap())
}

#[test]
fn small_gradients_and_learned_constants_are_compared_by_their_size() {
    let (machine, honest) = with_gradients(&TINY.replace(
        r#""controller""#,
        r#""heads": {"attention": {"score": "general"}}, "controller""#,
    ));
    let replay = |value: &Value| trace::replay(&read(value), &machine, 1e-5).unwrap();
    assert_eq!(replay(&honest).differing, 0);
    let mut negated = honest.clone();
    let arrays = negated["arrays"].as_object_mut().unwrap();
    let gradients = arrays
        .iter_mut()
        .filter(|(name, _)| name.starts_with("gradient."));
    let values = gradients.flat_map(|(_, array)| array["data"].as_array_mut().unwrap());
    for value in values {
        let was = value.as_f64().unwrap();
        *value = json!(if was.abs() < 4e-6 { -was } else { was });
    }
    assert_ne!(negated, honest);
    let first = replay(&negated).first.unwrap();
    assert!(first.array.starts_with("gradient."), "{first:?}");
    // Without its large values an array counts as what is left.
    let mut small = honest.clone();
    let constant = numbers(&honest, "read0.bilinear");
    let largest = constant
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    assert!(largest < 0.9, "{largest}");
    add(&mut small, "read0.bilinear", 0, 1.05e-5 * largest);
    assert_eq!(replay(&small).first.unwrap().array, "read0.bilinear");
}

#[test]
fn arrays_that_were_not_compared_with_the_weights_are_named() {
    let (machine, honest) = with_gradients(TINY);
    let folder = tempfile::tempdir().unwrap();
    let [path, weights] = ["t.json", "w.safetensors"].map(|name| folder.path().join(name));
    let experiment = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
    let trained = Trained {
        experiment,
        machine,
        history: Vec::new(),
        evaluation: None,
        changes: Vec::new(),
        command: String::new(),
    };
    weights::write(&weights, &trained).unwrap();
    let mut honest = honest;
    honest["weights"]["sha256"] = json!(weights::sha256(&trained.machine));
    let mut unnamed = honest.clone();
    unnamed.as_object_mut().unwrap().remove("gradient");
    for (value, code, named) in [
        (honest.clone(), 0, ""),
        (unnamed, 3, "gradient.read0.key"),
        (
            without(honest.clone(), &["read0.content"]),
            3,
            "read0.content",
        ),
        (without(honest.clone(), &["read0.key"]), 3, "read0.key"),
        (
            without(honest, &["gradient.read0.key"]),
            3,
            "gradient.read0.key",
        ),
    ] {
        std::fs::write(&path, value.to_string()).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"));
        let done = command
            .arg("verify")
            .arg(&path)
            .arg("--weights")
            .arg(&weights);
        let done = done.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(code), "{named}: {text}");
        let mut lines = text.lines().filter(|line| line.contains(" not compared: "));
        let is_named = lines.any(|line| line.contains(named));
        assert_eq!(is_named, code == 3, "{named}: {text}");
        let claims = text.contains("every array is reproduced");
        assert_eq!(claims, code == 0, "{named}: {text}");
    }
}

#[test]
fn different_metadata_is_a_difference() {
    let honest = tiny();
    let lines = |change: &dyn Fn(&mut Value)| {
        let mut other = honest.clone();
        change(&mut other);
        let found = trace::diff(&read(&honest), &read(&other), 0.0).unwrap();
        let first = found.first.map(|first| first.array);
        (found.declared, first.unwrap_or_default())
    };
    assert_eq!(lines(&|_| ()), (vec![], String::new()));
    let of = |line: &str| (vec![line.to_owned()], String::new());
    let epsilon = lines(&|value| value["model"]["heads"]["similarity_epsilon"] = json!(1e-3));
    assert_eq!(
        epsilon,
        of("model.heads.similarity_epsilon: 1e-6 and 0.001")
    );
    let seed = lines(&|value| value["task"]["seed"] = json!("8"));
    assert_eq!(seed, of("seed: 7 and 8"));
    let phases = lines(&|value| value["axes"]["t"]["phases"] = json!([["all", 0, 7]]));
    assert_eq!(
        phases,
        of("phases: input 0 to 3, delimiter 3 to 4, answer 4 to 7 and all 0 to 7")
    );
    let unknown = lines(&|value| value["task"]["seed"] = Value::Null);
    assert_eq!(unknown, (vec![], String::new()));
    let memory = lines(&|value| add(value, "memory.initial", 4, 1.0));
    assert_eq!(memory, (vec![], "memory.initial".to_owned()));
    let task = lines(&|value| value["task"] = json!({"name": "theirs"}));
    assert_eq!(task, of("task: copy and theirs"));
    // However far on it stands.
    let long = |end: &'static str| {
        let words = format!("{} {end}", "words ".repeat(40));
        move |value: &mut Value| value["conventions"]["order"] = json!(words.clone())
    };
    let (mut one, mut other) = (honest.clone(), honest.clone());
    long("one")(&mut one);
    long("other")(&mut other);
    let found = trace::diff(&read(&one), &read(&other), 0.0).unwrap();
    assert_eq!(found.declared.len(), 1);
    assert!(found.declared[0].len() < 400 && found.declared[0].ends_with("other"));
    let kept = &again(&read(&one))["conventions"]["order"];
    assert_eq!(kept, &one["conventions"]["order"]);
    let (mut read_first, mut write_first) = (honest.clone(), honest.clone());
    for (value, heads) in [
        (&mut read_first, ["read0", "write0"]),
        (&mut write_first, ["write0", "read0"]),
    ] {
        value["conventions"]["order"] = json!(heads);
    }
    let found = trace::diff(&read(&read_first), &read(&write_first), 0.0).unwrap();
    assert_eq!(
        found.declared,
        [r#"conventions.order: ["read0","write0"] and ["write0","read0"]"#]
    );
    let found = trace::diff(&read(&honest), &read(&read_first), 0.0).unwrap();
    assert_eq!(
        found.declared,
        [r#"conventions.order: none and ["read0","write0"]"#]
    );
}

/// Every array, changed in 200 places by 1e-2, 1e-3 and 1e-4, one at a time: what is checked is noticed, every
/// time; what is not is named.
#[test]
fn a_change_anywhere_is_noticed_or_named_as_not_checkable() {
    let trace = tiny();
    let whole = verified(&trace);
    let mut random = noise();
    for array in trace["arrays"].as_object().unwrap().keys() {
        let is_given = whole.given.contains(array);
        assert!(is_given != whole.checked.contains(array), "{array}");
        if is_given {
            continue;
        }
        let values = numbers(&trace, array);
        let mut around = trace.clone();
        around["arrays"][array]["data"] = json!("HERE");
        let around = around.to_string();
        let (before, after) = around.split_once("\"HERE\"").unwrap();
        for size in [1e-2, 1e-3, 1e-4] {
            for _ in 0..200 {
                let at = (random() * values.len() as f64) as usize;
                let change = if random() < 0.5 { -size } else { size };
                let mut changed: Vec<_> = values.iter().map(|&value| value as f32).collect();
                changed[at] = (values[at] + change) as f32;
                let text = format!("{before}{changed:?}{after}");
                let found = trace::verify(&trace::from_json(&text, "t").unwrap(), 1e-5);
                let place = format!("{array}, value {at}, by {change}");
                assert_eq!(found.outcome(), Outcome::Differs, "{place}");
            }
        }
    }
}

#[test]
fn diff_lists_every_convention() {
    let honest = tiny();
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/ntm-trace-2.0.schema.json")).unwrap();
    let all = schema["properties"]["conventions"]["properties"]
        .as_object()
        .unwrap();
    for key in all.keys() {
        let mut other = honest.clone();
        let value = match key.as_str() {
            "order" => json!(["write0", "read0"]),
            "similarity" => json!("cosine-plus-epsilon"),
            "sharpening_epsilon" => json!(0.5),
            _ => json!([1, 0, -1]),
        };
        other["conventions"][key] = value.clone();
        // The same values in the order of the file.
        for head in ["read0.shift", "write0.shift"]
            .iter()
            .filter(|_| key == "shifts")
        {
            data(&mut other, head)
                .chunks_mut(3)
                .for_each(<[Value]>::reverse);
        }
        let found = trace::diff(&read(&honest), &read(&other), 0.0).unwrap();
        let value = value.as_str().map_or(value.to_string(), str::to_owned);
        assert_eq!(
            found.declared,
            [format!("conventions.{key}: none and {value}")]
        );
        assert_eq!(found.first, None, "{key}");
    }
    // As without the key.
    let mut same = honest.clone();
    same["conventions"]["shifts"] = json!([-1, 0, 1]);
    let found = trace::diff(&read(&honest), &read(&same), 0.0).unwrap();
    assert_eq!(found.declared, [""; 0]);
}

#[test]
fn bare_numbers_that_json_lacks_are_named() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        for before in ["[0.5, ", "[0.5,", "[", ""] {
            let after = if before.is_empty() { "" } else { "]" };
            let text = format!("{{\"format\": \"ntmtrace\",\n \"arrays\": {before}{word}{after}}}");
            let error = trace::from_bytes(text.into_bytes(), "own.json")
                .err()
                .unwrap();
            let expected = format!("{word} is no JSON; write it as text, \"{word}\"");
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}
