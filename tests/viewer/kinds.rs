//! A kind of machine opens, plays, is inspected and exported through what it records, and nothing else.

use super::*;
use tapescope::io::Experiment;

/// Goes through every stage of two steps, points at everything, and exports all layouts.
fn walked_through(machine: Machine) -> Vec<String> {
    let shelf = Arc::<Shelf>::default();
    let options = Options {
        machines: vec![machine],
        ..options(shelf.clone())
    };
    let raster = Shared::default();
    let mut harness = window_drawn(LARGE, options, raster.clone());
    press(&mut harness, Key::Space);
    act(&mut harness, Play::Seek(2));
    let stages = harness.state().session.open.as_ref().unwrap().stages.len();
    let heads = harness.state().session.open.as_ref().unwrap();
    let heads = heads.shown.recording.trace.heads.len();
    let mut seen = Vec::new();
    act(&mut harness, Play::SeekStage(0));
    for _ in 0..2 * stages {
        seen.push(stage(&harness));
        for head in 0..heads {
            act(&mut harness, Look::Focus(head));
            for target in [
                Target::Head(head),
                Target::Row(1),
                Target::Cell { row: 1, column: 0 },
                Target::Step,
            ] {
                act(&mut harness, Look::Select(target));
            }
            whole::is_whole(&harness, &format!("head {head} at {}", stage(&harness)));
        }
        press(&mut harness, Key::Period);
    }
    for layout in 0..3 {
        let what = format!("layout {layout}");
        assert!(printed::is_printed_as_shown(&mut harness, &shelf, &raster, &what) >= 2);
        act(&mut harness, Look::NextLayout);
    }
    seen.truncate(stages);
    seen
}

/// An untrained machine of some kind, for copying.
fn of_kind(model: &str) -> Machine {
    let preset = format!(
        r#"{{"name": "any", "task": {{"kind": "copy", "bits": 4, "length": [1, 5]}}, "model": {model},
            "training": {{"optimizer": {{"kind": "adam", "rate": 0.01}}, "sequences": 8, "batch": 8}}}}"#
    );
    let experiment = Experiment::from_json(&preset, "any.json", &[]).unwrap();
    Machine {
        other_way: None,
        name: "any".to_owned(),
        title: "Copy, any kind".to_owned(),
        ntm: Model::new(experiment.model, 3),
        task: experiment.task,
    }
}

#[test]
fn a_network_without_memory_has_two_stages() {
    let machine = of_kind(r#"{"kind": "plain", "controller": {"size": 8}}"#);
    assert_eq!(walked_through(machine), ["controller", "output"]);
}

#[cfg(feature = "test-machine")]
#[test]
fn a_kind_that_nothing_here_knows_of_is_seen_as_well() {
    let machine = of_kind(r#"{"kind": "appended", "memory": {"rows": 16}}"#);
    let stages = ["controller", "weigh", "read", "add", "output"];
    assert_eq!(walked_through(machine), stages);
}
