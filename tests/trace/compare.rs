//! `verify` and `diff` as a library: the first difference, with its place.

use tapescope::io::trace::{self, Comparison, Imported, Outcome, Side};
use tapescope::io::weights;
use tapescope::model::config::{ControllerKind, InitialMemory, InitialWeighting};
use tapescope::model::{Model, NtmConfig, Place};
use tapescope::task::{Copy, Task};
use tapescope::train::Recording;

const EXACT: f64 = 0.0;

fn machine(rows: usize, length: usize) -> (Model<f32>, Task) {
    let task = Task::Copy(Copy {
        bits: 3,
        length: length..=length,
    });
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns) = (rows, 4);
    (config.read_heads, config.write_heads) = (2, 2);
    config.controller.layers = 2;
    (Model::new(config, 3), task)
}

fn imported(machine: &Model<f32>, recording: &Recording) -> Imported {
    super::opened(&super::json(machine, recording))
}

fn changed(change: impl Fn(&mut Recording)) -> Imported {
    let (machine, task) = machine(5, 2);
    let mut recording = Recording::new(&machine, &task, 1, 0);
    change(&mut recording);
    imported(&machine, &recording)
}

fn first(trace: &Imported, tolerance: f64) -> (Option<usize>, String, Vec<usize>) {
    let found = trace::verify(trace, tolerance).comparison;
    let first = found.first.unwrap();
    assert!(found.differing > 0 && found.largest > tolerance);
    (first.step, first.array, first.index)
}

#[test]
fn own_traces_hold_to_the_bit() {
    for trained in weights::all_included().unwrap() {
        let recording = Recording::new(&trained.machine, &trained.experiment.task, 1, 0);
        let found = trace::verify(&imported(&trained.machine, &recording), EXACT);
        assert_eq!(found.outcome(), Outcome::Holds);
        let found = found.comparison;
        assert_eq!((found.largest, found.first), (0.0, None));
        let config = &trained.machine.config;
        if config.ntm().is_none() {
            assert!(found.values > 0);
            continue;
        }
        let [t, n, m, x, y] = [
            recording.episode.steps(),
            config.rows(),
            config.columns(),
            config.inputs(),
            config.outputs(),
        ]
        .map(|count| count as u64);
        let asked = x + y + 1;
        // What heads emit and learn is taken as it is.
        let given = [
            "key",
            "strength",
            "gate",
            "shift",
            "sharpening",
            "erase",
            "add",
        ];
        let all = recording.trace.of_steps().into_iter();
        let of_heads = all.filter(|(place, spec, _)| {
            matches!(place, Place::Head(_)) && !given.contains(&spec.name)
        });
        let of_heads: u64 = of_heads.map(|(.., series)| series.width() as u64).sum();
        let values = t * (asked + of_heads + n * m + y + 1);
        // M_0 is compared with `memory`, and it and the first weightings with what the file says.
        let is_constant = config
            .ntm()
            .is_some_and(|ntm| ntm.initial_memory != InitialMemory::Learned);
        let is_one_hot = config
            .ntm()
            .is_some_and(|ntm| ntm.initial_weighting == InitialWeighting::OneHot);
        let beginning =
            u64::from(is_constant) * n * m + u64::from(is_one_hot) * n * config.heads() as u64;
        assert_eq!(found.values, n * m + beginning + values);
    }
}

#[test]
fn only_memories_that_are_in_the_file_are_compared() {
    // 301 steps of 1024 x 4: keyframes.
    let (machine, task) = machine(1024, 150);
    let mut recording = Recording::new(&machine, &task, 1, 0);
    let (t, n, m) = (301, 1024, 4);
    let found = trace::verify(&imported(&machine, &recording), EXACT).comparison;
    assert_eq!((found.largest, found.differing), (0.0, 0));
    let (asked, answered) = (4 + 3 + 1, 3 + 1);
    assert_eq!(
        found.values,
        t * (asked + 4 * 5 * n + 2 * m + answered) + 6 * n * m + 4 * n
    );
    recording.trace.memory_columns.row_mut(128)[2 * 1024 + 7] += 0.5;
    let place = (Some(127), "memory".to_owned(), vec![128, 7, 2]);
    assert_eq!(first(&imported(&machine, &recording), 1e-3), place);
}

#[test]
fn the_first_difference_is_named() {
    let place = |step, array: &str, index: &[usize]| (Some(step), array.to_owned(), index.to_vec());
    let heads = |head: usize, change: fn(&mut tapescope::model::HeadTrace)| {
        first(&changed(|r| change(&mut r.trace.heads[head])), 1e-4)
    };
    for (found, expected) in [
        (
            heads(0, |head| head.similarity.row_mut(1)[4] += 0.01),
            place(1, "read0.similarity", &[1, 4]),
        ),
        (
            heads(1, |head| head.content.row_mut(0)[2] += 0.01),
            place(0, "read1.content", &[0, 2]),
        ),
        (
            heads(2, |head| head.gated.row_mut(4)[0] = f32::NAN),
            place(4, "write0.gated", &[4, 0]),
        ),
        (
            heads(3, |head| head.shifted.row_mut(3)[1] -= 0.01),
            place(3, "write1.shifted", &[3, 1]),
        ),
        (
            heads(3, |head| head.weighting.row_mut(2)[1] -= 0.01),
            place(2, "write1.weighting", &[2, 1]),
        ),
        // What was emitted is taken as it stands: what is made of it is the first that does not follow.
        (
            heads(0, |head| head.sharpening[2] = 40.0),
            place(2, "read0.weighting", &[2, 0]),
        ),
    ] {
        assert_eq!(found, expected);
    }
    let memory = changed(|r| r.trace.memory_columns.row_mut(3)[5 + 4] += 0.1);
    assert_eq!(first(&memory, 1e-4), place(2, "memory", &[3, 4, 1]));
    let small = changed(|r| r.trace.heads[0].content.row_mut(1)[0] += 1e-3);
    assert_eq!(trace::verify(&small, 1e-2).comparison.first, None);
}

#[test]
fn traces_are_compared_in_the_order_of_the_computation() {
    let (a, b) = (changed(|_| ()), changed(|_| ()));
    let same = trace::diff(&a, &b, EXACT).unwrap();
    assert_eq!((same.differing, same.largest), (0, 0.0));
    let b = changed(|r| {
        r.trace.layers[1].hidden.row_mut(2)[7] += 0.5;
        r.trace.heads[0].gate[2] = f32::NAN;
        r.loss[3] += 1.0;
    });
    let found = trace::diff(&a, &b, 1e-6).unwrap();
    let first = found.first.unwrap();
    assert_eq!((found.differing, found.largest), (3, f64::INFINITY));
    assert_eq!(first.array, "controller.hidden");
    assert_eq!((first.step, first.index), (Some(2), vec![2, 1, 7]));
    assert_eq!(first.second - first.first, 0.5);
    let b = changed(|r| r.trace.heads[3].initial.row_mut(0)[1] = 0.5);
    let first = trace::diff(&a, &b, EXACT).unwrap().first.unwrap();
    assert_eq!((first.step, first.array.as_str()), (None, "write1.initial"));
    assert_eq!(first.index, [1]);
}

#[test]
fn shapes_come_first() {
    let (machine, task) = machine(6, 3);
    let other = imported(&machine, &Recording::new(&machine, &task, 1, 0));
    let lines = trace::diff(&changed(|_| ()), &other, EXACT).unwrap_err();
    assert_eq!(lines, ["steps: 5 and 7", "memory rows: 5 and 6"]);
}

/// Of which a trace has only those that are read or written.
#[test]
fn another_number_of_rows_of_a_sparse_memory_is_named() {
    let [whole, other] = [128, 200].map(|rows| {
        let preset = format!(
            r#"{{"task": {{"kind": "copy", "bits": 2, "length": [3, 3]}},
            "model": {{"kind": "sam", "memory": {{"rows": {rows}, "columns": 3}}}}}}"#
        );
        let (machine, recording) = super::record(&preset);
        imported(&machine, &recording)
    });
    let found = trace::diff(&whole, &other, EXACT).unwrap();
    assert_eq!(found.declared, ["model.memory.rows: 128 and 200"]);
}

#[test]
fn arrays_in_only_one_file_are_not_equal() {
    let whole = changed(|_| ());
    let text = super::again(&whole);
    for (lost, said) in [
        ("/arrays", "loss"),
        ("/arrays", "controller.hidden"),
        ("/arrays", "read0.gated"),
        ("/task", "params"),
        ("/model/memory", "initial"),
    ] {
        let mut value = super::value(&text);
        let object = value.pointer_mut(lost).unwrap().as_object_mut().unwrap();
        assert!(object.remove(said).is_some());
        let other = super::opened(&value.to_string());
        let found = trace::diff(&whole, &other, EXACT).unwrap();
        let said = if said == "initial" {
            "model.memory.initial"
        } else {
            said
        };
        assert!(
            found.only[0].contains(&said.to_owned()),
            "{said}: {found:?}"
        );
        let found = trace::diff(&other, &whole, EXACT).unwrap();
        assert!(
            found.only[1].contains(&said.to_owned()),
            "{said}: {found:?}"
        );
        assert_eq!(
            trace::diff(&other, &other, EXACT).unwrap().only,
            [[""; 0]; 2]
        );
    }
    assert_eq!(
        trace::diff(&whole, &whole, EXACT).unwrap().only,
        [[""; 0]; 2]
    );
}

fn common(a: &Recording, b: &Recording, tolerance: f64) -> Comparison {
    trace::compare(Side::of(a, None), Side::of(b, None), tolerance).unwrap()
}

#[test]
fn every_step_has_its_largest_difference() {
    let (machine, task) = machine(5, 2);
    let a = Recording::new(&machine, &task, 1, 0);
    let mut b = a.clone();
    b.trace.heads[1].gated.row_mut(1)[3] += 0.25;
    b.trace.heads[0].key.row_mut(3)[0] -= 2.0;
    b.trace.memory_columns.row_mut(4)[0] = f32::NAN;
    let found = common(&a, &b, 1e-6);
    assert_eq!(found.steps, [0.0, 0.25, 0.0, f64::INFINITY, 0.0]);
    assert_eq!(found.first.unwrap().array, "read1.gated");
    let worst = found.worst.unwrap();
    assert_eq!((worst.array.as_str(), worst.step), ("memory", Some(3)));
    // Below the tolerance nothing is first, but the largest is as large as it is.
    b.trace.memory_columns = a.trace.memory_columns.clone();
    let found = common(&a, &b, 10.0);
    assert!((found.largest - 2.0).abs() < 1e-6);
    assert_eq!((found.differing, found.first), (0, None));
}

#[test]
fn what_two_machines_have_in_common_is_compared() {
    let (short, task) = machine(5, 2);
    let a = Recording::new(&short, &task, 1, 0);
    // The same weights on more rows, and more steps.
    let (long, longer) = machine(6, 3);
    let b = Recording::new(&long, &longer, 1, 0);
    let found = common(&a, &b, 10.0);
    assert_eq!(found.steps.len(), 5);
    assert_eq!(found.skipped, [""; 0]);
    assert_eq!(found.sizes, ["steps: 5 and 7", "memory rows: 5 and 6"]);
    let (t, n, m, heads) = (5, 5, 4, 4);
    let per_step = 4 + 3 + 1 + 2 * 2 * 100 + heads * (m + 3 + 3) + 2 * 2 * m;
    let per_step = per_step + heads * 5 * n + 2 * m + n * m + 2 * 3 + 1;
    assert_eq!(found.values, n * m + heads * n + t * per_step);
    // Another controller: everything but its state.
    let mut config = short.config.ntm().unwrap().clone();
    config.controller.kind = ControllerKind::Feedforward;
    config.controller.size = 7;
    config.write_heads = 1;
    let b = Recording::new(&Model::new(config, 3), &task, 1, 0);
    let found = common(&a, &b, 0.0);
    assert!(found.skipped.contains(&"controller.hidden".to_owned()));
    assert!(found.skipped.contains(&"write1.weighting".to_owned()));
    assert!(!found.skipped.contains(&"write0.weighting".to_owned()));
    assert!(
        found
            .sizes
            .contains(&"controller: lstm and feedforward".to_owned())
    );
    let copy = &weights::all_included().unwrap()[0];
    let other = Recording::new(&copy.machine, &copy.experiment.task, 1, 0);
    let lines = trace::obstacles(&a, &other);
    assert_eq!(
        lines,
        ["input channels: 4 and 9", "output channels: 3 and 8"]
    );
}
