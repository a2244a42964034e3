//! Traces of machines whose heads attend in every way there is: written, read, recomputed, falsified.

use serde_json::{Value, json};
use tapescope::io::Experiment;
use tapescope::io::trace::{self, Imported, Outcome};
use tapescope::model::{Draw, Model, NoiseMode, Place};
use tapescope::train::Recording;

use super::{json as written, npz, opened, without};

/// Every score, every weighting, stages that are off, read heads first.
pub const EVERY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 6},
              "heads": {"read": 6, "write": 3,
                        "shift": {"form": ["softmax", "softmax", "scalar", "none", "softmax", "none", "softmax", "softmax", "none"]},
                        "attention": {
    "score": ["additive", "general", "location", "cosine", "dot", "scaled-dot", "additive", "cosine", "dot"],
    "weighting": ["hard", "local-predictive", "weibull", "lognormal", "local-monotonic", "soft", "hard", "weibull", "soft"],
    "strength": ["emitted", "one", "emitted", "one", "emitted", "one", "emitted", "emitted", "one"],
    "gate": ["on", "on", "off", "on", "on", "off", "on", "on", "off"],
    "sharpening": ["on", "off", "on", "on", "on", "off", "on", "on", "off"],
    "erase": ["on", "on", "on", "on", "on", "on", "on", "off", "on"],
    "units": 4, "window": 2, "position_units": 3, "prior_units": 2, "weibull_shape": 3, "lognormal_sigma": 0.4}}}}"#;
const SAMPLINGS: [NoiseMode; 3] = [NoiseMode::Mean, NoiseMode::Sampled, NoiseMode::Expected];

/// With weights so large that it matters what is attended to.
fn record(preset: &str, sampling: NoiseMode, sample: u64) -> (Model<f32>, Recording) {
    let experiment = Experiment::from_json(preset, "every.json", &[]).unwrap();
    let mut machine = Model::new(experiment.model, 3);
    let weights = machine.params.slices_mut().flatten();
    weights.for_each(|weight| *weight *= 2.0);
    let origin = Draw {
        sample,
        sampling,
        ..Draw::of(7, 2)
    };
    let task = experiment.task;
    let recording = Recording::of(&machine, &task, task.episode(7, 2), Some(origin));
    (machine, recording)
}

fn first(found: &trace::Comparison) -> &str {
    found.first.as_ref().map_or("", |first| &first.array)
}

fn read(value: &Value) -> Imported {
    opened(&value.to_string())
}

/// Every prior, and the order in which reads see what was written.
fn presets() -> Vec<String> {
    let code = EVERY.replace("\"units\": 4", "\"units\": 4, \"prior\": \"code\"");
    let first = "\"heads\": {\"order\": \"write-first\", ";
    let written_first = EVERY.replace("\"heads\": {", first);
    assert!(code != EVERY && written_first != EVERY);
    vec![EVERY.to_owned(), code, written_first]
}

#[test]
fn every_mechanism_is_recomputed_in_every_noise_mode() {
    for preset in presets() {
        for sampling in SAMPLINGS {
            let (machine, recording) = record(&preset, sampling, 4);
            let value = super::value(&written(&machine, &recording));
            let word = (sampling != NoiseMode::Mean).then_some(());
            assert_eq!(value["task"].get("sampling").map(|_| ()), word);
            assert_eq!(value["task"]["sample"], "4");
            let from_npz = trace::from_bytes(npz(&machine, &recording), "t.npz").unwrap();
            for read in [read(&value), from_npz] {
                assert_eq!(super::again(&read), written(&machine, &recording));
                let found = trace::verify(&read, 0.0);
                assert_eq!(found.outcome(), Outcome::Holds, "{sampling:?}: {found:?}");
                assert_eq!(found.following(), found.whole());
                let emitted = ["key", "strength", "gate", "shift", "sharpening", "initial"];
                let written = ["erase", "add"];
                for given in &found.given {
                    let array = given.rsplit('.').next().unwrap();
                    let learned = value["arrays"][given]["dims"][0] != "t";
                    let is_known = emitted.contains(&array) || written.contains(&array);
                    let of_machine = ["logit", "controller.hidden", "controller.cell"];
                    assert!(
                        learned || is_known || of_machine.contains(&given.as_str()),
                        "{given} was not looked at"
                    );
                }
                let again = trace::replay(&read, &machine, 0.0).unwrap();
                assert_eq!((again.differing, again.skipped.len()), (0, 0));
            }
        }
    }
}

#[test]
fn equal_noise_gives_identical_bytes() {
    let bytes = |sampling, sample| {
        let (machine, recording) = record(EVERY, sampling, sample);
        (written(&machine, &recording), npz(&machine, &recording))
    };
    for sampling in SAMPLINGS {
        assert_eq!(bytes(sampling, 1), bytes(sampling, 1));
    }
    let [mean, drawn, expected] = SAMPLINGS.map(|sampling| bytes(sampling, 1).0);
    let other = bytes(NoiseMode::Sampled, 2).0;
    assert!(mean != drawn && drawn != expected && drawn != other);
    // What differs is told by name.
    let said = |a: &str, b: &str| trace::diff(&opened(a), &opened(b), 0.0).unwrap();
    let found = said(&mean, &drawn);
    assert_eq!(found.declared, ["sampling: mean and drawn"]);
    // The noise is the same, but it was not used.
    let first_of = first(&found);
    assert!(
        first_of.ends_with("content") || first_of.ends_with("weighting"),
        "{first_of}"
    );
    let found = said(&drawn, &other);
    assert_eq!(found.declared, ["sample: 1 and 2"]);
    assert_eq!(first(&found), "read0.draw");
}

/// Every array that is not one of the heads of the paper, and some of those that are, with a wrong value in its third
/// step: what is said to differ first.
fn falsified() -> Vec<(&'static str, &'static str)> {
    vec![
        ("read0.draw", "read0.draw"),
        ("read2.noise", "read2.noise"),
        ("read3.normal", "read3.normal"),
        ("write0.draw", "write0.draw"),
        ("read0.distribution", "read0.distribution"),
        ("read0.similarity", "read0.similarity"),
        ("read0.additive_key", "read0.similarity"),
        ("read0.additive_row", "read0.similarity"),
        ("read0.additive_vector", "read0.similarity"),
        ("read1.bilinear", "read1.similarity"),
        ("read1.position_weight", "read1.centre"),
        ("read1.position_vector", "read1.centre"),
        ("read1.centre", "read1.centre"),
        ("read1.content", "read1.content"),
        ("read2.location", "read2.similarity"),
        ("read2.prior_weight", "read2.prior"),
        // Not `prior_bias`: in the form `text` it is the same for all rows and cancels.
        ("read2.prior_vector", "read2.prior"),
        ("read2.prior", "read2.prior"),
        ("read2.divergence", "read2.divergence"),
        ("read2.content", "read2.content"),
        ("read3.prior", "read3.prior"),
        ("read3.divergence", "read3.divergence"),
        ("read3.content", "read3.content"),
        ("read4.similarity", "read4.similarity"),
        ("read4.centre", "read4.centre"),
        ("read5.similarity", "read5.similarity"),
        ("read5.weighting", "read5.weighting"),
        ("write0.distribution", "write0.distribution"),
        ("write1.content", "write1.content"),
    ]
}

#[test]
fn a_wrong_value_of_any_array_is_noticed() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let honest = super::value(&written(&machine, &recording));
    for (array, expected) in falsified() {
        let mut value = honest.clone();
        let described = &mut value["arrays"][array];
        let (shape, is_of_steps) = (described["shape"].clone(), described["dims"][0] == "t");
        let of_step: usize = shape.as_array().unwrap()[1..]
            .iter()
            .map(|size| size.as_u64().unwrap() as usize)
            .product();
        let data = described["data"].as_array_mut().unwrap();
        let at = if is_of_steps { 3 * of_step } else { 1 };
        // Noise stays between 0 and 1.
        let was = data[at].as_f64().unwrap();
        let change = if was > 0.5 { -0.25 } else { 0.25 };
        data[at] = json!((was + change) as f32);
        let found = trace::verify(&read(&value), 1e-5);
        assert_eq!(found.outcome(), Outcome::Differs, "{array}");
        assert_eq!(first(&found.comparison), expected, "{array}");
        // Other noise may draw the same row: only its seed tells.
        let is_noise = array == expected
            && ["draw", "noise", "normal"]
                .iter()
                .any(|end| array.ends_with(end));
        let found = trace::replay(&read(&value), &machine, 1e-5).unwrap();
        assert!(found.differing > 0 || is_noise, "{array}, with the weights");
    }
}

#[test]
fn other_scores_ignore_the_cosine_convention() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let mut value = super::value(&written(&machine, &recording));
    value["conventions"]["similarity"] = json!("my own");
    let found = trace::verify(&read(&value), 1e-5);
    assert_eq!(found.comparison.differing, 0);
    let data = &mut value["arrays"]["read0.similarity"]["data"];
    data[6] = json!(data[6].as_f64().unwrap() as f32 + 0.25);
    let found = trace::verify(&read(&value), 1e-5);
    assert_eq!(found.outcome(), Outcome::Differs);
    assert_eq!(first(&found.comparison), "read0.similarity");
}

#[test]
fn a_hard_head_on_an_unsampled_row_is_detected() {
    for sampling in SAMPLINGS {
        let (machine, recording) = record(EVERY, sampling, 0);
        let honest = super::value(&written(&machine, &recording));
        for head in ["read0", "write0"] {
            let mut value = honest.clone();
            let name = format!("{head}.weighting");
            let data = value["arrays"][&name]["data"].as_array_mut().unwrap();
            data[2 * 5..3 * 5].rotate_right(1);
            let found = trace::verify(&read(&value), 1e-5);
            assert_eq!(found.outcome(), Outcome::Differs, "{head}, {sampling:?}");
            assert_eq!(first(&found.comparison), name);
        }
    }
}

#[test]
fn a_wrong_noise_mode_is_detected() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let honest = super::value(&written(&machine, &recording));
    for word in [json!("mean"), json!("expected"), Value::Null] {
        let mut value = honest.clone();
        value["task"]["sampling"] = word;
        let found = trace::verify(&read(&value), 1e-5);
        assert_eq!(found.outcome(), Outcome::Differs);
        let first = first(&found.comparison);
        assert!(
            first.ends_with("content") || first.ends_with("weighting"),
            "{first}"
        );
    }
    let mut value = honest;
    value["task"]["sampling"] = json!("often");
    let said = super::error(value.to_string());
    let expected = "t: `task.sampling`: is `often`; expected one of `mean`, `drawn`, `expected`";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn uncheckable_arrays_are_named_and_dependents_computed() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let honest = super::value(&written(&machine, &recording));
    for (lost, named) in [
        ("read0.additive_row", "read0.similarity"),
        ("read1.position_weight", "read1.centre"),
        ("read2.prior_vector", "read2.prior"),
        ("read2.location", "read2.similarity"),
    ] {
        let found = trace::verify(&read(&without(honest.clone(), &[lost])), 1e-5);
        assert_eq!(found.outcome(), Outcome::InPart, "{lost}");
        let why = (named.to_owned(), format!("{lost} is absent"));
        assert!(found.unchecked.contains(&why), "{found:?}");
    }
    // Noise that is not there cannot be used, though its seed is known: the draw is taken as it is.
    let found = trace::verify(&read(&without(honest.clone(), &["read0.draw"])), 1e-5);
    assert_eq!(found.outcome(), Outcome::InPart);
    let why = (
        "read0.weighting".to_owned(),
        "read0.draw is absent".to_owned(),
    );
    assert!(found.unchecked.contains(&why), "{found:?}");
    let lost = [
        "read0.distribution",
        "read0.similarity",
        "read1.centre",
        "read2.divergence",
        "read2.prior",
        "read3.content",
        "write0.distribution",
    ];
    let read = read(&without(honest, &lost));
    let mut computed = read.recording.computed.clone();
    computed.sort_unstable();
    assert_eq!(computed, lost);
    let arrays = |recording: &Recording| {
        let all = recording.trace.everything();
        let of_heads =
            all.filter(|(place, spec, _)| matches!(place, Place::Head(_)) && spec.is_in_files());
        of_heads
            .map(|(.., series)| series.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(arrays(&read.recording), arrays(&recording));
}

#[test]
fn noise_keys_must_be_integers() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 4);
    let honest = super::value(&written(&machine, &recording));
    let huge = "18446744073709551616";
    for key in ["seed", "episode", "sample"] {
        for wrong in [
            json!(7),
            json!(true),
            json!([1]),
            json!(""),
            json!("x"),
            json!("-1"),
            json!("+1"),
            json!("1.5"),
            json!(huge),
        ] {
            let mut value = honest.clone();
            value["task"][key] = wrong.clone();
            let said = super::error(value.to_string());
            let is_told = said.starts_with(&format!("t: `task.{key}`: "))
                && said.contains("expected a whole number as text, \"0\" to");
            assert!(is_told, "{wrong}: {said}");
        }
        let mut value = honest.clone();
        value["task"][key] = json!("18446744073709551615");
        assert_ne!(trace::verify(&read(&value), 1e-5).outcome(), Outcome::Holds);
    }
}

#[test]
fn unreproducible_noise_is_named_with_the_reason() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 4);
    let honest = super::value(&written(&machine, &recording));
    let undrawn = |change: &dyn Fn(&mut Value)| {
        let mut value = honest.clone();
        change(&mut value["task"]);
        let found = trace::verify(&read(&value), 0.0);
        assert_eq!(found.outcome(), Outcome::Holds, "{found:?}");
        found.undrawn
    };
    assert_eq!(undrawn(&|_| ()), None);
    let arrays = "input target mask read0.draw read2.noise read3.normal write0.draw write1.noise";
    let mut arrays: Vec<_> = arrays.split(' ').map(str::to_owned).collect();
    // Of the two write heads one is hard and one a Weibull head.
    arrays.sort();
    for (keys, why) in [
        (&["seed"][..], "the file has no task.seed"),
        (&["episode"], "the file has no task.episode"),
        (
            &["seed", "episode"],
            "the file has no task.seed and no task.episode",
        ),
    ] {
        let found = undrawn(&|task| {
            for key in keys {
                task[*key] = Value::Null;
            }
        });
        let (said, mut named) = found.unwrap();
        named.sort();
        assert_eq!((said.as_str(), &named), (why, &arrays));
    }
    // Without a sample it is the first, which this is not.
    let mut value = honest.clone();
    value["task"].as_object_mut().unwrap().remove("sample");
    let found = trace::verify(&read(&value), 0.0);
    assert_eq!(first(&found.comparison), "read0.draw");
    let (said, named) = undrawn(&|task| task["name"] = json!("theirs")).unwrap();
    assert_eq!(said, "the task `theirs` is unknown");
    assert_eq!(named.len(), arrays.len());
    let (said, _) = undrawn(&|task| task["params"] = json!({})).unwrap();
    assert_eq!(said, "the file lacks details of the task `copy`");
}

/// Heads of the paper, which draw nothing.
const SOFT: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
    "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;

#[test]
fn a_key_that_no_head_uses_is_refused_as_in_a_preset() {
    let (machine, recording) = record(SOFT, NoiseMode::Mean, 0);
    let honest = super::value(&written(&machine, &recording));
    for (key, of_preset) in [
        ("weibull_shape", json!(10)),
        ("lognormal_sigma", json!(0.1)),
        ("prior", json!("text")),
        ("window", json!(4)),
        ("units", json!(4)),
    ] {
        let mut value = honest.clone();
        value["model"]["heads"]["attention"][key] = of_preset.clone();
        let said = super::error(value.to_string());
        let place =
            format!("t: `model.heads.attention.{key}`: does not apply to this experiment (see");
        assert!(said.starts_with(&place), "{said}");
        // In the words of a preset, the same.
        let mut preset = super::value(SOFT);
        preset["model"]["heads"]["attention"][key] = of_preset;
        let refused = Experiment::from_json(&preset.to_string(), "t", &[]);
        let refused = refused.unwrap_err().to_string();
        assert_eq!(refused, said);
    }
    let mut value = honest;
    value["model"]["heads"]["attention"]["scores"] = json!("dot");
    let said = super::error(value.to_string());
    let expected =
        "t: `model.heads.attention.scores`: unknown key; did you mean `score`? allowed: ";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_wrong_model_is_refused_in_the_words_of_a_preset() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let honest = super::value(&written(&machine, &recording));
    for (at, wrong, place) in [
        ("attention", json!({"score": "dott"}), ".score"),
        ("attention", json!({"score": ["dot", "dot"]}), ".score"),
        (
            "attention",
            json!({"weighting": "weibull", "weibull_shape": 0}),
            ".weibull_shape",
        ),
        ("attention", json!("dot"), ""),
        ("shift", json!({"form": ["softmax"]}), ".form"),
        ("shift", json!({"range": 4}), ".range"),
        ("similarity_epsilon", json!(-1), ""),
        ("order", json!("backwards"), ""),
        ("read", json!(65), ""),
        ("write", json!(null), ""),
    ] {
        let mut value = honest.clone();
        value["model"]["heads"][at] = wrong.clone();
        let said = super::error(value.to_string());
        let place = format!("t: `model.heads.{at}{place}`: ");
        assert!(said.starts_with(&place), "{place}{said}");
        let mut preset = super::value(EVERY);
        preset["model"] = value["model"].clone();
        let refused = Experiment::from_json(&preset.to_string(), "t", &[]);
        let refused = refused.unwrap_err().to_string();
        // A word of JSON stands in another column.
        let words = |text: &str| text.split(" at line ").next().unwrap().to_owned();
        assert_eq!(words(&refused), words(&said));
    }
}

#[test]
fn an_error_in_a_model_has_its_line_and_column() {
    let (machine, recording) = record(SOFT, NoiseMode::Mean, 0);
    let honest = written(&machine, &recording);
    for (from, to) in [
        ("\"rows\":5", "\"rows\":true"),
        ("\"rows\":5", "\"rows\":5,\"rows\":5"),
    ] {
        let text = honest.replacen(from, to, 1);
        let said = super::error(&text);
        let (_, place) = said.split_once(" at line 5 column ").unwrap();
        let column: usize = place.parse().unwrap();
        let line = text.lines().nth(4).unwrap();
        assert!(line[..column].contains("\"rows\":"), "{said}");
        assert!(column < line.find("\"columns\"").unwrap(), "{said}");
    }
}

#[test]
fn wrong_conventions_are_refused() {
    let (machine, recording) = record(SOFT, NoiseMode::Mean, 0);
    let honest = super::value(&written(&machine, &recording));
    let order = "expected every head once: read0, write0";
    let shifts = "expected offsets from -1 to 1, no offset twice";
    for (key, wrong, expected) in [
        ("order", json!([]), order),
        ("order", json!(["write0", "read1"]), order),
        ("order", json!(["write0", "write0", "read0"]), order),
        ("order", json!(7), "expected a list of heads, or text"),
        ("shifts", json!([]), shifts),
        ("shifts", json!([1, 0, 1]), shifts),
        ("shifts", json!([0, 2]), shifts),
        ("shifts", json!([i64::MIN, i64::MAX]), shifts),
        ("similarity", json!(7), "expected text"),
        ("score", json!("cosine"), "unknown field `score`"),
    ] {
        let mut value = honest.clone();
        value["conventions"][key] = wrong;
        let said = super::error(value.to_string());
        let place = format!("t: `conventions.{key}`: ");
        assert!(
            said.starts_with(&place) && said.contains(expected),
            "{said}"
        );
    }
}

#[test]
fn an_array_of_a_stage_that_a_head_does_not_have_is_refused() {
    let (machine, recording) = record(EVERY, NoiseMode::Sampled, 0);
    let honest = super::value(&written(&machine, &recording));
    for (array, of) in [
        ("read2.gate", "read0.gate"),
        ("read2.gated", "read0.gated"),
        ("read1.strength", "read0.strength"),
        ("read5.noise", "read2.noise"),
        ("read0.bilinear", "read1.bilinear"),
        ("write1.distribution", "write0.distribution"),
        ("read0.erase", "write0.erase"),
    ] {
        let mut value = honest.clone();
        value["arrays"][array] = value["arrays"][of].clone();
        assert_eq!(
            super::error(value.to_string()),
            format!("t: `arrays.{array}`: is given, but the machine in `model` has no such array")
        );
    }
    // What nobody knows yet may be of a later version.
    let mut value = honest.clone();
    value["arrays"]["read0.surprise"] = honest["arrays"]["read0.gate"].clone();
    assert_eq!(trace::verify(&read(&value), 0.0).outcome(), Outcome::Holds);
}

#[test]
fn deterministic_heads_use_no_noise() {
    let (machine, recording) = record(SOFT, NoiseMode::Mean, 0);
    let honest = super::value(&written(&machine, &recording));
    for word in ["drawn", "expected", "mean"] {
        let mut value = honest.clone();
        value["task"]["sampling"] = json!(word);
        if word == "mean" {
            assert_eq!(trace::verify(&read(&value), 0.0).outcome(), Outcome::Holds);
            continue;
        }
        assert_eq!(
            super::error(value.to_string()),
            format!("t: `task.sampling`: is `{word}`, but no head samples; allowed: `mean`")
        );
    }
    // Nor does a file say so of its own machine.
    let (machine, recording) = record(SOFT, NoiseMode::Sampled, 0);
    let value = super::value(&written(&machine, &recording));
    assert_eq!(value["task"].get("sampling"), None);
}

#[test]
fn weights_of_different_heads_are_named_by_attention() {
    let preset = |attention: &str| {
        let more = format!("{{\"size\": 4}}, \"heads\": {{\"attention\": {{{attention}}}}}");
        SOFT.replace("{\"size\": 4}", &more)
    };
    let attention = |attention: &str| record(&preset(attention), NoiseMode::Mean, 0);
    let lines = |of_trace: &str, of_weights: &str| {
        let (machine, recording) = attention(of_trace);
        let read = opened(&written(&machine, &recording));
        let (other, other_recording) = attention(of_weights);
        let by_weights = trace::replay(&read, &other, 1e-5).unwrap_err();
        let other = opened(&written(&other, &other_recording));
        (by_weights, trace::diff(&read, &other, 1e-5).unwrap_err())
    };
    let weighting = "model.heads.attention.weighting: weibull and soft".to_owned();
    let found = lines("\"weighting\": \"weibull\"", "");
    assert_eq!(found, (vec![weighting.clone()], vec![weighting]));
    let score = "model.heads.attention.score: dot and scaled-dot".to_owned();
    let (machine, recording) = attention("\"score\": \"dot\"");
    let read = opened(&written(&machine, &recording));
    let (scaled, _) = attention("\"score\": \"scaled-dot\"");
    assert_eq!(trace::replay(&read, &scaled, 1e-5).unwrap_err(), [score]);
    let units = |units| attention(&format!("\"score\": \"additive\", \"units\": {units}"));
    let (machine, recording) = units(2);
    let read = opened(&written(&machine, &recording));
    let found = trace::replay(&read, &units(3).0, 1e-5).unwrap_err();
    assert_eq!(found, ["model.heads.attention.units: 2 and 3"]);
    // A word for all heads says what a list of the same word says.
    let (machine, recording) = attention("\"score\": \"dot\"");
    let mut value = super::value(&written(&machine, &recording));
    value["model"]["heads"]["attention"]["score"] = json!(["dot", "dot"]);
    let again = trace::replay(&self::read(&value), &machine, 0.0).unwrap();
    assert_eq!(again.differing, 0);
}
