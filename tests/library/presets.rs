//! Presets: the included ones are whole, and what is wrong with others is said in words that help.

use tapescope::io::preset::{self, Override};
use tapescope::io::{Error, Experiment, machine_file, weights};
use tapescope::keys::Words as _;
use tapescope::model::NtmConfig;
use tapescope::model::config::{ControllerKind, InitialMemory, InitialWeighting};
use tapescope::task::Task;
use tapescope::train::{Clip, OptimizerConfig};

use super::formats::held;

const TASK: &str = r#""task": {"kind": "copy", "bits": 8, "length": [1, 20]}"#;

fn read(source: &str) -> Result<Experiment, Error> {
    Experiment::from_json(source, "my.json", &[])
}

/// The error for the copy task with `rest` beside it.
fn error(rest: &str) -> String {
    read(&format!("{{{TASK}, {rest}}}"))
        .unwrap_err()
        .to_string()
}

fn with(overrides: &[&str]) -> Result<Experiment, Error> {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Experiment::find("copy", &overrides)
}

#[test]
fn every_preset_reads_and_writes_back() {
    let mut names: Vec<_> = preset::names().map(str::to_owned).collect();
    for name in &names {
        let experiment = Experiment::find(name, &[]).unwrap();
        assert_eq!(&experiment.name, name);
        let task = experiment.task.name();
        assert!(name.starts_with(task) || task.ends_with(&name[..name.find('_').unwrap()]));
        let full = experiment.to_json();
        let again = Experiment::from_json(&full, "other.json", &[]).unwrap();
        assert_eq!(again, experiment);
        assert_eq!(again.to_json(), full);
    }
    let files = std::fs::read_dir("tasks").unwrap();
    let mut files: Vec<_> = files
        .map(|file| {
            file.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    files.sort();
    assert_eq!(names, files, "every file of tasks/ is embedded");
}

#[test]
fn changing_the_weighting_replaces_its_keys() {
    let changed = |name: &str, overrides: &[&str]| {
        let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
        Experiment::find(name, &overrides)
    };
    let attention = "model.heads.attention";
    for (name, word) in [
        ("copy_hard", "weighting=soft"),
        ("copy_additive", "score=cosine"),
        ("copy_local_monotonic", "weighting=soft"),
        ("recall_bayesian_weibull", "weighting=lognormal"),
    ] {
        let found = changed(name, &[&format!("{attention}.{word}")]).unwrap();
        assert!(found.model != Experiment::find(name, &[]).unwrap().model);
    }
    let dnc = changed("copy_hard", &["model.kind=dnc"]).unwrap();
    assert!(!dnc.model.is_hard());
    // What is said together with the word is held to it.
    let soft = format!("{attention}.weighting=soft");
    let error = changed("copy_hard", &[&soft, "training.hard.reward=1"]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`training.hard.reward`: does not apply"),
        "{error}"
    );
}

#[test]
fn a_count_and_fewest_rows_are_written_only_if_they_are_not_the_defaults() {
    let with = |name: &str, overrides: &[&str]| {
        let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
        Experiment::find(name, &overrides)
    };
    let usual = with("repeat_copy", &[]).unwrap().to_json();
    let defaults = ["task.count=scalar", "training.fewest_rows=0"];
    assert_eq!(with("repeat_copy", &defaults).unwrap().to_json(), usual);
    assert!(!usual.contains("\"count\"") && !usual.contains("fewest_rows"));

    let own = ["task.count=unary", "training.fewest_rows=32"];
    let own = with("repeat_copy", &own).unwrap();
    let json = own.to_json();
    assert!(json.contains("\"count\": \"unary\"") && json.contains("\"fewest_rows\": 32"));
    assert_eq!(
        Experiment::from_json(&json, "repeat_copy.json", &[]).unwrap(),
        own
    );

    let error = |name: &str, set: &str| with(name, &[set]).unwrap_err().to_string();
    for (preset, least) in [("repeat_copy", 3), ("recall_sam", 4)] {
        let few = error(preset, "training.fewest_rows=1");
        let expected = format!("`training.fewest_rows`: is 1; allowed: {least} to ");
        assert!(few.contains(&expected), "{few}");
    }
    let many = error("repeat_copy", "training.fewest_rows=129");
    assert!(
        many.ends_with(
            "`training.fewest_rows`: is 129; allowed: 0 to 128, the rows of the machine"
        ),
        "{many}"
    );
    for name in ["ngrams", "copy_lstm", "transduce"] {
        let error = error(name, "training.fewest_rows=2");
        assert!(
            error.contains("`training.fewest_rows`: is 2; allowed: 0, because"),
            "{error}"
        );
    }
    let word = error("repeat_copy", "task.count=roman");
    assert!(
        word.contains("`task.count`") && word.contains("unary"),
        "{word}"
    );
}

#[test]
fn some_keys_are_written_only_where_they_differ() {
    let keys = ["estimator", "warmup", "samples"].map(|key| format!("\"{key}\":"));
    let written = |overrides: &[&str]| {
        let overrides = overrides.iter().map(|text| text.parse().unwrap());
        let experiment = Experiment::find("copy_hard", &overrides.collect::<Vec<_>>()).unwrap();
        let json = experiment.to_json();
        let again = Experiment::from_json(&json, "copy_hard.json", &[]).unwrap();
        assert_eq!(again, experiment);
        keys.each_ref().map(|key| json.contains(key.as_str()))
    };
    assert_eq!(written(&[]), [false; 3]);
    let others = [
        "training.hard.estimator=straight-through",
        "training.hard.warmup=9",
        "training.hard.samples=2",
        "training.batch=4",
    ];
    assert_eq!(written(&others), [true; 3]);
    let error = Experiment::find("copy_hard", &[others[2].parse().unwrap()]).unwrap_err();
    let expected = "`training.batch`: is 1; allowed: a multiple of `training.hard.samples`, 2";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn the_changelog_counts_what_is_included() {
    let trained = weights::included_names().count();
    let presets = preset::names().count();
    let files = machine_file::included_names().count();
    let words = include_str!("../../CHANGELOG.md").split_whitespace();
    let page = words.collect::<Vec<_>>().join(" ");
    for told in [
        format!("Included are {trained} trained machines and {presets} presets."),
        format!("{files} machines are included as such files"),
    ] {
        assert!(page.contains(&told), "CHANGELOG.md wants: {told}");
    }
}

#[test]
fn the_documentation_has_every_key() {
    let table = preset::table();
    let (head, rows) = table.trim_end().split_once('\n').unwrap();
    held("docs/formats/presets.md", head, "", rows);
    let docs = std::fs::read_to_string("docs/formats/presets.md").unwrap();
    let shortest = docs.split("```json\n").nth(1).unwrap();
    let shortest = shortest.split("```").next().unwrap();
    Experiment::from_json(shortest, "mine.json", &[]).unwrap();
    for word in [
        "task.repeats",
        "model.heads.order",
        "training.optimizer.beta2",
        "evaluation.items",
    ] {
        assert!(table.contains(&format!("| `{word}` |")), "{word}");
    }
}

#[test]
fn the_presets_of_the_paper_have_its_sizes_and_rates() {
    // Heads of each kind, layers, units and rate: tables 1 to 3 of the paper.
    for (name, wanted) in [
        (
            "copy",
            [(1, 1, 100, 1e-4), (1, 1, 100, 1e-4), (0, 3, 256, 3e-5)],
        ),
        (
            "repeat_copy",
            [(1, 1, 100, 1e-4), (1, 1, 100, 1e-4), (0, 3, 512, 3e-5)],
        ),
        (
            "associative_recall",
            [(1, 1, 100, 1e-4), (4, 1, 256, 1e-4), (0, 3, 256, 1e-4)],
        ),
        (
            "ngrams",
            [(1, 1, 100, 3e-5), (1, 1, 100, 3e-5), (0, 3, 128, 1e-4)],
        ),
        (
            "priority_sort",
            [(5, 2, 100, 3e-5), (8, 1, 512, 3e-5), (0, 3, 128, 3e-5)],
        ),
    ] {
        for (kind, wanted) in ["", "_feedforward", "_lstm"].into_iter().zip(wanted) {
            let found = Experiment::find(&format!("{name}{kind}_paper"), &[]).unwrap();
            let (model, training) = (found.model, found.training);
            let OptimizerConfig::RmsProp { learning_rate, .. } = training.optimizer else {
                panic!("{name}{kind}_paper is trained by RMSProp");
            };
            assert_eq!(model.read_heads(), model.write_heads());
            assert_eq!(
                (
                    model.read_heads(),
                    model.sizes().layers,
                    model.sizes().units,
                    learning_rate
                ),
                wanted,
                "{name}{kind}"
            );
            assert_eq!(
                (training.batch, training.clip),
                (1, Clip::Elementwise(10.0))
            );
            let of_ntm = model.ntm().map(|ntm| ntm.controller.kind);
            let is_feedforward = of_ntm == Some(ControllerKind::Feedforward);
            assert_eq!(is_feedforward, kind == "_feedforward");
            assert_eq!(model.ntm().is_none(), kind == "_lstm");
            assert!(
                model
                    .ntm()
                    .is_none_or(|ntm| (ntm.rows, ntm.columns) == (128, 20))
            );
        }
    }
}

/// The Neural Turing Machine of an experiment.
fn ntm(experiment: &Experiment) -> &NtmConfig {
    experiment.model.ntm().unwrap()
}

#[test]
fn everything_except_the_task_has_defaults() {
    let experiment = read(&format!("{{{TASK}}}")).unwrap();
    assert_eq!(experiment.name, "my");
    assert_eq!(experiment.title, "my");
    assert_eq!(experiment.model, NtmConfig::new(9, 8).into());
    assert_eq!(experiment.training.clip, Clip::Elementwise(10.0));
    assert_eq!(experiment.evaluation.sizes, [10, 20, 30, 50, 120]);
    let again = Experiment::from_json(&experiment.to_json(), "x.json", &[]).unwrap();
    assert_eq!(again, experiment);
}

#[test]
fn every_variant_can_be_typed() {
    let experiment = read(
        r#"{"task": {"kind": "repeat_copy", "bits": 6, "length": [1, 10], "repeats": [1, 10]},
            "model": {"memory": {"initial": "learned"},
                      "controller": {"kind": "feedforward", "layers": 2},
                      "heads": {"shift": {"form": "scalar"}, "initial_weighting": "learned",
                                "key_activation": "identity"}},
            "training": {"optimizer": {"kind": "adam"}, "clip": {"kind": "global_norm"}},
            "evaluation": {"repeats": [5]}}"#,
    )
    .unwrap();
    let model = ntm(&experiment);
    assert_eq!(model.initial_memory, InitialMemory::Learned);
    assert_eq!(model.initial_weighting, InitialWeighting::Learned);
    assert_eq!(experiment.training.clip, Clip::GlobalNorm(50.0));
    assert!(matches!(
        experiment.training.optimizer,
        OptimizerConfig::Adam { .. }
    ));
    let again = Experiment::from_json(&experiment.to_json(), "x.json", &[]).unwrap();
    assert_eq!(again, experiment);
}

#[test]
fn unknown_keys() {
    assert_eq!(
        error(r#""model": {"memory": {"rowz": 64}}"#),
        "my.json: `model.memory.rowz`: unknown key; did you mean `rows`? allowed: columns, index, initial, rows, seed"
    );
    assert_eq!(
        error(r#""modle": {}"#),
        "my.json: `modle`: unknown key; did you mean `model`? allowed: description, evaluation, model, name, task, title, training"
    );
    assert_eq!(
        error(r#""training": {"optimizer": {"kind": "adam", "warmth": 1}}"#),
        "my.json: `training.optimizer.warmth`: unknown key; allowed: beta1, beta2, decay, epsilon, kind, learning_rate, momentum"
    );
    let file = r#""kind": "equations", "file": "ntm.machine""#;
    assert_eq!(
        error(&format!(r#""model": {{{file}, "size": {{}}}}"#)),
        "my.json: `model.size`: unknown key; did you mean `sizes`? allowed: constants, controller, file, heads, kind, memory, sizes, switches, text"
    );
    assert_eq!(
        error(r#""model": {"sizes": {"rows": 9}}"#),
        r#"my.json: `model.sizes`: is a section of machine files; expected beside it `"kind": "equations"` and `file`"#
    );
}

#[test]
fn keys_of_another_kind() {
    assert_eq!(
        error(r#""training": {"optimizer": {"kind": "adam", "momentum": 0.9}}"#),
        "my.json: `training.optimizer.momentum`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, learning_rate, beta1, beta2, epsilon"
    );
    assert_eq!(
        error(r#""training": {"clip": {"kind": "none", "limit": 3}}"#),
        "my.json: `training.clip.limit`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind"
    );
    let source = r#"{"task": {"kind": "copy", "bits": 8, "length": [1, 20], "repeats": [1, 2]}}"#;
    assert_eq!(
        read(source).unwrap_err().to_string(),
        "my.json: `task.repeats`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, bits, length"
    );
    let source = r#"{"evaluation": {"items": [2]}, "task": {"kind": "ngrams", "bits": 1}}"#;
    assert_eq!(
        read(source).unwrap_err().to_string(),
        "my.json: `task.bits`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, context, length"
    );
    let source = r#"{"task": {"kind": "repeat_copy", "bits": 8, "length": [1, 20]}}"#;
    assert_eq!(
        read(source).unwrap_err().to_string(),
        "my.json: `task.repeats`: is missing; expected [lowest, highest], for example [1, 10]"
    );
}

#[test]
fn the_other_tasks_of_the_paper_are_the_defaults() {
    for (kind, sizes) in [
        ("associative_recall", 6),
        ("ngrams", 200),
        ("priority_sort", 20),
    ] {
        let experiment = read(&format!(r#"{{"task": {{"kind": "{kind}"}}}}"#)).unwrap();
        let included = Experiment::find(kind, &[]).unwrap();
        assert_eq!(experiment.task, included.task);
        assert_eq!(experiment.evaluation.sizes, [sizes]);
        let again = Experiment::from_json(&experiment.to_json(), "x.json", &[]).unwrap();
        assert_eq!(again, experiment);
    }
}

#[test]
fn invalid_tasks_are_refused() {
    let message = |task: &str| {
        read(&format!(r#"{{"task": {{{task}}}}}"#))
            .unwrap_err()
            .to_string()
    };
    for (task, problem) in [
        (
            r#""kind": "copy", "length": [1, 20]"#,
            "`task.bits`: is missing; expected a number of bits, for example 8",
        ),
        (
            r#""kind": "copy", "bits": 8"#,
            "`task.length`: is missing; expected [lowest, highest], for example [1, 20]",
        ),
        (
            r#""kind": "associative_recall", "length": [1, 20]"#,
            "`task.length`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, bits, item_length, distinct, items",
        ),
        (
            r#""kind": "associative_recall", "items": [1, 6]"#,
            "`task.items`: is [1, 6]; allowed: [lowest, highest] with 2 ≤ lowest ≤ highest ≤ 10000",
        ),
        (
            r#""kind": "associative_recall", "item_length": 0"#,
            "`task.item_length`: is 0; allowed: 1 to 1000",
        ),
        (
            r#""kind": "ngrams", "bits": 1"#,
            "`task.bits`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, context, length",
        ),
        (
            r#""kind": "ngrams", "context": 17"#,
            "`task.context`: is 17; allowed: 1 to 16",
        ),
        (
            r#""kind": "ngrams", "length": [0, 5]"#,
            "`task.length`: is [0, 5]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 100000",
        ),
        (
            r#""kind": "priority_sort", "sorted": 21"#,
            "`task.sorted`: is 21; allowed: 1 to 20",
        ),
        (
            r#""kind": "priority_sort", "repeats": [1, 2]"#,
            "`task.repeats`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: kind, bits, items, sorted",
        ),
    ] {
        assert_eq!(message(task), format!("my.json: {problem}"));
    }
    let words = Task::WORDS.iter().map(|(word, _)| format!("`{word}`"));
    let words = words.collect::<Vec<_>>().join(", ");
    let expected = format!("my.json: `task.kind`: is `sort`; expected one of {words} at ");
    assert!(message(r#""kind": "sort""#).starts_with(&expected));
}

#[test]
fn an_evaluation_of_another_kind_of_task() {
    let message = |kind: &str, rest: &str| {
        let source = format!(r#"{{"task": {{"kind": "{kind}"}}, "evaluation": {{{rest}}}}}"#);
        read(&source).unwrap_err().to_string()
    };
    assert_eq!(
        message("priority_sort", r#""lengths": [5]"#),
        "my.json: `evaluation.lengths`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: items, episodes"
    );
    assert_eq!(
        message("associative_recall", r#""items": [6, 1]"#),
        "my.json: `evaluation.items[1]`: is 1; allowed: 2 to 10000"
    );
    assert_eq!(
        message("associative_recall", r#""items": []"#),
        "my.json: `evaluation.items`: is empty; expected at least one number of items"
    );
    assert_eq!(
        message("ngrams", r#""repeats": [2]"#),
        "my.json: `evaluation.repeats`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: lengths, episodes"
    );
    assert_eq!(
        error(r#""evaluation": {"items": [2]}"#),
        "my.json: `evaluation.items`: does not apply to this experiment (see `tapescope tasks --keys`); allowed here: lengths, episodes"
    );
}

#[test]
fn wrong_types() {
    assert_eq!(
        error(r#""model": {"memory": {"rows": "many"}}"#),
        r#"my.json: `model.memory.rows`: invalid type: string "many", expected a whole number, 0 or more at line 1 column 92"#
    );
    assert_eq!(
        error(r#""model": {"memory": {"rows": 64.5}}"#),
        "my.json: `model.memory.rows`: invalid type: floating point `64.5`, expected a whole number, 0 or more at line 1 column 90"
    );
    assert_eq!(
        error(r#""model": {"memory": {"rows": -1}}"#),
        "my.json: `model.memory.rows`: invalid value: integer `-1`, expected a whole number, 0 or more at line 1 column 88"
    );
    assert_eq!(
        error(r#""model": {"memory": [128, 20]}"#),
        "my.json: `model.memory`: is [128,20]; expected an object with the keys columns, index, initial, rows, seed"
    );
    assert_eq!(
        error(r#""model": {"memory": {"initial": 1e-6}}"#),
        r#"my.json: `model.memory.initial`: expected "learned" or {"constant": number} at line 1 column 94"#
    );
    assert_eq!(
        error(r#""model": {"controller": {"kind": "lstn"}}"#),
        "my.json: `model.controller.kind`: is `lstn`; did you mean `lstm`? expected one of `lstm`, `feedforward` at line 1 column 96"
    );
    assert_eq!(
        error(r#""evaluation": {"lengths": [10, "x"]}"#),
        r#"my.json: `evaluation.lengths[1]`: invalid type: string "x", expected a whole number, 0 or more at line 1 column 91"#
    );
    assert_eq!(
        read("[]").unwrap_err().to_string(),
        "my.json: is []; expected an object with the keys description, evaluation, model, name, task, title, training"
    );
    assert_eq!(
        read("{}").unwrap_err().to_string(),
        r#"my.json: has no `task`; expected an object such as {"kind": "copy", "bits": 8, "length": [1, 20]} at line 1 column 2"#
    );
    assert_eq!(
        read(r#"{"task": {"kind": "copy", "bits": 8, "length": [1, 2, 3]}}"#)
            .unwrap_err()
            .to_string(),
        "my.json: `task.length`: has 3 values; expected [lowest, highest] at line 1 column 57"
    );
}

#[test]
fn the_channels_of_a_task_follow_from_its_keys() {
    let of = |task: &str| preset::channels(task, "task.json").map_err(|error| error.to_string());
    for (task, channels) in [
        (r#"{"kind": "copy", "bits": 8, "length": [1, 20]}"#, [9, 8]),
        (r#"{"kind": "copy", "bits": 3, "length": 5}"#, [4, 3]),
        (r#"{"kind": "copy", "bits": 3}"#, [4, 3]),
        (r#"{"kind": "repeat_copy", "bits": 3}"#, [5, 4]),
        (
            r#"{"kind": "graph", "nodes": 5, "labels": 3, "path": 3}"#,
            [14, 5],
        ),
        (
            r#"{"kind": "episodes", "file": "e.npz", "inputs": 3, "outputs": 2}"#,
            [3, 2],
        ),
    ] {
        assert_eq!(of(task), Ok(channels));
    }
    for (task, said) in [
        ("3", "task.json: `task`: is 3; expected an object"),
        (
            r#"{"bits": 3}"#,
            "task.json: `task`: has no `kind`; expected",
        ),
        (
            r#"{"kind": "copy"}"#,
            "task.json: `task.bits`: is missing; expected",
        ),
        (
            r#"{"kind": "copy", "bits": 0}"#,
            "task.json: `task.bits`: is 0; allowed: 1 to 1024",
        ),
        (
            r#"{"kind": "copy", "bits": 3, "items": 2}"#,
            "task.json: `task.items`: does not apply",
        ),
        (
            r#"{"kind": "episodes", "file": "e.npz", "inputs": 3}"#,
            "task.json: `task`: does not give the channels of its file; expected `inputs` and `outputs` too",
        ),
    ] {
        let found = of(task).unwrap_err();
        assert!(found.starts_with(said), "{found}");
    }
}

#[test]
fn the_model_of_a_trace_is_checked_without_its_task() {
    let of = |model: &str| preset::check_model(model, "m").map_err(|error| error.to_string());
    let soft = r#"{"heads": {"attention": {"weighting": ["soft", "hard", "soft"]}}}"#;
    assert_eq!(of(soft), Ok(()));
    let cell = r#"{"kind": "equations", "file": "luong.machine", "switches": {"encoder": {"cell": "gru"}}}"#;
    assert_eq!(of(cell), Ok(()));
    for (model, said) in [
        (
            soft.replace("hard", "herd"),
            "m: `model.heads.attention.weighting`: is `herd`; did you mean `hard`? expected one of",
        ),
        (
            cell.replace("gru", "rnn"),
            "m: `model.switches.encoder.cell`: is `rnn`; expected one of `lstm`, `gru`",
        ),
        (
            r#"{"kind": "dnc", "heads": {"link": "off"}}"#.to_owned(),
            "m: `model.heads.link`: unknown key; did you mean `links`?",
        ),
    ] {
        let found = of(&model).unwrap_err();
        assert!(found.starts_with(said), "{found}");
    }
}

#[test]
fn a_seed_that_is_too_large() {
    assert_eq!(
        error(r#""training": {"seed": 18446744073709551616}"#),
        "my.json: `training.seed`: invalid type: floating point `1.8446744073709552e+19`, expected a whole number, 0 or more and less than 2^64 at line 1 column 98"
    );
}

#[test]
fn quoted_file_content_is_shortened() {
    let long = "x".repeat(5000);
    for rest in [
        format!(r#""{long}": 1"#),
        format!(r#""model": {{"controller": {{"kind": "{long}"}}}}"#),
        format!(r#""model": {{"memory": {{"rows": "{long}"}}}}"#),
    ] {
        let message = error(&rest);
        assert!(message.chars().count() < 400, "{message}");
        assert!(message.contains("xx…"), "{message}");
    }
    let message = Experiment::find(&long, &[]).unwrap_err().to_string();
    assert!(message.chars().count() < 300, "{message}");
}

#[test]
fn unknown_presets_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| {
        let path = folder.path().join(name);
        let error = Experiment::find(&path.display().to_string(), &[]).unwrap_err();
        error
            .to_string()
            .replace(&format!("{}/", folder.path().display()), "")
    };
    std::fs::write(folder.path().join("empty.json"), "").unwrap();
    assert_eq!(message("empty.json"), "empty.json: is empty");
    std::fs::create_dir(folder.path().join("run")).unwrap();
    assert_eq!(
        message("run"),
        "run: is a folder; expected the JSON file of a preset"
    );
    std::fs::write(folder.path().join("run/preset.json"), "{}").unwrap();
    assert_eq!(
        message("run"),
        "run: is a folder; expected the JSON file of a preset; its preset is run/preset.json"
    );
    for (name, problem) in [
        (
            "t.ntmtrace.json",
            "is a trace, not a preset; open it with: tapescope view t.ntmtrace.json",
        ),
        (
            "w.safetensors",
            "is a weights file, not a preset; evaluate it with: tapescope eval w.safetensors",
        ),
    ] {
        std::fs::write(folder.path().join(name), "x").unwrap();
        assert_eq!(message(name), format!("{name}: {problem}"));
    }
}

#[test]
fn duplicate_keys_are_refused() {
    assert_eq!(
        error(r#""model": {"memory": {"rows": 64, "rows": 128}}"#),
        "my.json: `model.memory`: duplicate key `rows` at line 1 column 96"
    );
}

#[test]
fn out_of_range() {
    assert_eq!(
        error(r#""model": {"memory": {"rows": 0}}"#),
        "my.json: `model.memory.rows`: is 0; allowed: 1 to 1048576"
    );
    assert_eq!(
        error(r#""model": {"heads": {"shift": {"range": 64}}}"#),
        "my.json: `model.heads.shift.range`: is 64; allowed: 0 to 63"
    );
    assert_eq!(
        error(r#""training": {"lr_drop_below": -1}"#),
        "my.json: `training.lr_drop_below`: is -1; allowed: a loss per sequence, 0 or more"
    );
    assert_eq!(
        error(r#""training": {"final_lr_factor": 1.5}"#),
        "my.json: `training.final_lr_factor`: is 1.5; allowed: 0 to 1"
    );
    assert_eq!(
        error(r#""training": {"optimizer": {"kind": "rmsprop", "decay": -0.1}}"#),
        "my.json: `training.optimizer.decay`: is -0.1; allowed: from 0 to less than 1, in 32 bits"
    );
    assert_eq!(
        error(r#""training": {"clip": {"kind": "elementwise", "limit": 0}}"#),
        "my.json: `training.clip.limit`: is 0; allowed: a number above 0 that 32 bits can hold"
    );
    // A moment that keeps all of itself would divide zero by zero; the largest f64 below 1 is 1 in f32.
    for (kind, name) in [
        ("adam", "beta1"),
        ("adam", "beta2"),
        ("rmsprop", "decay"),
        ("rmsprop", "momentum"),
    ] {
        for value in ["1", "0.9999999999999999", "-0.5"] {
            let optimizer = format!(r#"{{"kind": "{kind}", "{name}": {value}}}"#);
            let message = error(&format!(r#""training": {{"optimizer": {optimizer}}}"#));
            let allowed = "allowed: from 0 to less than 1, in 32 bits";
            let expected = format!("my.json: `training.optimizer.{name}`: is {value}; {allowed}");
            assert_eq!(message, expected);
        }
    }
    for (name, value) in [
        ("learning_rate", "1e300"),
        ("epsilon", "1e-60"),
        ("learning_rate", "0"),
    ] {
        let optimizer = format!(r#"{{"kind": "adam", "{name}": {value}}}"#);
        let message = error(&format!(r#""training": {{"optimizer": {optimizer}}}"#));
        let allowed = "allowed: a number above 0 that 32 bits can hold";
        let expected = format!("my.json: `training.optimizer.{name}`: is {value}; {allowed}");
        assert_eq!(message, expected);
    }
    assert_eq!(
        error(r#""model": {"memory": {"initial": {"constant": 1e300}}}"#),
        "my.json: `model.memory.initial`: is 1e300; allowed: -1000000 to 1000000"
    );
    assert_eq!(
        error(r#""training": {"validation_episodes": 1000001}"#),
        "my.json: `training.validation_episodes`: is 1000001; allowed: 1 to 1000000"
    );
    assert_eq!(
        error(r#""evaluation": {"lengths": []}"#),
        "my.json: `evaluation.lengths`: is empty; expected at least one length"
    );
    assert_eq!(
        error(r#""evaluation": {"lengths": [10, 0]}"#),
        "my.json: `evaluation.lengths[1]`: is 0; allowed: 1 to 100000"
    );
    assert_eq!(
        error(r#""name": "../up""#),
        "my.json: `name`: must be a valid folder name: not empty, no slash, no leading dot"
    );
    let source = r#"{"task": {"kind": "copy", "bits": 8, "length": [20, 1]}}"#;
    assert_eq!(
        read(source).unwrap_err().to_string(),
        "my.json: `task.length`: is [20, 1]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 100000"
    );
}

#[test]
fn invalid_json_is_refused() {
    assert_eq!(
        read("{\"task\": ").unwrap_err().to_string(),
        "my.json: EOF while parsing a value at line 1 column 9"
    );
    assert_eq!(
        read(&"[".repeat(100_000)).unwrap_err().to_string(),
        "my.json: recursion limit exceeded at line 1 column 128"
    );
}

#[test]
fn overrides_change_one_value() {
    let plain = Experiment::find("copy", &[]).unwrap();
    let mut changed = with(&["model.memory.rows=64", "model.memory.initial=learned"]).unwrap();
    assert_eq!(ntm(&changed).rows, 64);
    assert_eq!(ntm(&changed).initial_memory, InitialMemory::Learned);
    changed.model = plain.model.clone();
    assert_eq!(changed, plain);
    // The order does not matter, though a range of 1 does not fit into 2 rows.
    let changed = with(&["model.memory.rows=2", "model.heads.shift.range=0"]).unwrap();
    assert_eq!((ntm(&changed).rows, ntm(&changed).shift_range), (2, 0));
    // Another optimizer brings its own defaults.
    let changed = with(&[
        "training.optimizer.kind=adam",
        "training.optimizer.beta1=0.8",
    ])
    .unwrap();
    let adam = OptimizerConfig::Adam {
        learning_rate: 1e-3,
        beta1: 0.8,
        beta2: 0.999,
        epsilon: 1e-8,
    };
    assert_eq!(changed.training.optimizer, adam);
    let changed = with(&["task.length=[2,3]", "training.clip.kind=none"]).unwrap();
    assert_eq!(
        (changed.task.size(), changed.training.clip),
        (2..=3, Clip::None)
    );
    // A whole object at once.
    let changed = with(&[r#"model.controller={"size":7}"#]).unwrap();
    assert_eq!(
        (changed.model.sizes().units, changed.model.sizes().layers),
        (7, 1)
    );
}

#[test]
fn overrides_are_as_strict_as_the_file() {
    let message = |change: &str| with(&[change]).unwrap_err().to_string();
    assert_eq!(
        message("model.memory.rowz=64"),
        "--set: `model.memory.rowz`: unknown key; did you mean `model.memory.rows`?"
    );
    assert_eq!(
        message("rows=64"),
        "--set: `rows`: unknown key; did you mean `model.heads.rows` or `model.memory.rows`?"
    );
    assert_eq!(
        message("training.learning_rate=1e-3"),
        "--set: `training.learning_rate`: unknown key; did you mean `training.optimizer.learning_rate`?"
    );
    assert_eq!(
        message("model.layers.size=7"),
        "--set: `model.layers.size`: unknown key; did you mean `model.controller.size`?"
    );
    assert_eq!(
        message("optimizer.kind=adam"),
        "--set: `optimizer.kind`: unknown key; did you mean `training.optimizer.kind`?"
    );
    assert_eq!(
        message("nonsense=64"),
        "--set: `nonsense`: unknown key; `tapescope tasks --keys` lists every key"
    );
    assert_eq!(
        message("model.memory.rows=many"),
        r#"--set: `model.memory.rows`: invalid type: string "many", expected a whole number, 0 or more"#
    );
    assert_eq!(
        message("model.memory.rows=0"),
        "tasks/copy.json with --set: `model.memory.rows`: is 0; allowed: 1 to 1048576"
    );
    assert_eq!(
        message("model.memory=7"),
        "--set: `model.memory`: is 7; expected an object with the keys columns, index, initial, rows, seed"
    );
    assert_eq!(
        message("model.memory.rows.deep=7"),
        "--set: `model.memory.rows.deep`: unknown key; did you mean `model.memory.rows`?"
    );
    assert_eq!(
        message(r#"model.controller={"sise":7}"#),
        "--set: `model.controller.sise`: unknown key; did you mean `size`? allowed: kind, layers, size"
    );
    assert_eq!(
        "rows".parse::<Override>().unwrap_err(),
        "expected path=value, for example model.memory.rows=64"
    );
}

#[test]
fn a_typo_in_the_name() {
    assert_eq!(
        Experiment::find("cpoy", &[]).unwrap_err().to_string(),
        "there is no preset `cpoy`; did you mean `copy`? known: copy, copy_feedforward, copy_lstm, repeat_copy, repeat_copy_feedforward, … (`tapescope tasks` lists all 69)"
    );
    assert_eq!(
        Experiment::find("frobnicate", &[]).unwrap_err().to_string(),
        "there is no preset `frobnicate`; known: copy, copy_feedforward, copy_lstm, repeat_copy, repeat_copy_feedforward, … (`tapescope tasks` lists all 69)"
    );
    let missing = Experiment::find("no/such.json", &[])
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("no/such.json: cannot be read: "),
        "{missing}"
    );
}

#[test]
fn sweeps_page_lists_every_ablation() {
    let page = std::fs::read_to_string("docs/sweeps.md").unwrap();
    let copy = preset::ablations(&Experiment::find("copy", &[]).unwrap());
    assert_eq!(copy.variants.len(), preset::stages().count());
    for variant in copy.variants {
        let path = variant.set.to_string();
        let row = format!("| {} | `{path}` | {} |", variant.name, variant.about);
        assert!(page.contains(&row), "docs/sweeps.md has not\n{row}");
    }
}
